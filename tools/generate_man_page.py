"""Writes the manual page docs/pymtml.1 from what --help prints and from the tables of docs/command.md."""

import contextlib
import io
import os
import re
import sys
import textwrap

from generated import ROOT, read

sys.path.insert(0, ROOT)

HEAD = """\
.\\" Written by tools/generate_man_page.py from --help and docs/command.md. Do not edit.
.Dd $Mdocdate$
.Dt PYMTML 1
.Os
.Sh NAME
.Nm pymtml
.Nd shows and manages Moore Threads GPUs, with the options of nvidia-smi
.Sh SYNOPSIS
.Nm
.Op Ar option ...
.Nm
.Ar subcommand
.Op Ar argument ...
.Sh DESCRIPTION
Without arguments
.Nm
prints a table of cards and processes.
It takes the options, query fields and subcommands of nvidia-smi and prints
what that prints; called by the name nvidia-smi it also uses NVIDIA's words.
An unknown value is N/A, in csv [N/A].
"""

ENVIRONMENT = (
    ("PYMTML_LIBRARY", "File of the MTML library, instead of libmtml.so.2."),
    ("PYMTML_MUSA_LIBRARY", "File of the MUSA driver library; only its version is queried."),
    ("PYMTML_COMMAND_NAME", "With nvidia-smi as its value the command goes by that name."),
    ("PYMTML_KEEP_LIBRARY", "Whether the C library stays initialized after the last shutdown."),
    ("PYMTML_PROC_ROOT, PYMTML_SYS_ROOT", "Roots of the proc and sys file systems."),
    ("NO_COLOR", "Without colors on a terminal."),
)


def roff(text):
    """A text for mdoc, in short lines: none begins a request, a hyphen of an option stays one."""
    lines = textwrap.wrap(text.strip(), 72, break_on_hyphens=False, break_long_words=False)
    lines = [line.replace("\\", "\\e").replace("-", "\\-") for line in lines]
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in lines)


def term(text):
    """What a list has at the left, in one line."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")


def plain(text):
    """Markdown in a table without its marks."""
    return text.replace("`", "").replace("\\|", "|")


def help_text():
    """What pymtml --help prints."""
    from pymtml_cli.main import main

    os.environ["PYMTML_COMMAND_NAME"] = "pymtml"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["--help"]) == 0
    return out.getvalue()


def blocks(text):
    """[(title, [(term, text)])] of the help; text that stands before the terms goes with an empty term."""
    found = []
    for line in text.splitlines():
        entry = re.match(r"  (-\S.*?|[a-z][-a-z]*)(?:  +(\S.*))?$", line)
        if line and not line.startswith(" ") and line.endswith(":"):
            found.append((line.rstrip(":").partition(" (")[0], []))
        elif not found or not line:
            continue
        elif entry and found[-1][1] and found[-1][1][-1][0].endswith(","):
            found[-1][1][-1][0] += " " + entry.group(1)
        elif entry:
            found[-1][1].append([entry.group(1), entry.group(2) or ""])
        elif line.startswith("  ") and not line.startswith("   "):
            found[-1][1].append(["", line.strip()])
        else:
            found[-1][1][-1][1] += " " + line.strip()
    return found


def listed(entries):
    """Lines of a list, and of the text below it."""
    lines = [".Bl -tag -width Ds"]
    for name, text in entries:
        if name:
            lines += [".It " + term(name), roff(text)]
    below = [line for name, text in entries if not name for line in (".Pp", roff(text))]
    return [line for line in lines + [".El"] + below if line]


def rows(markdown, head):
    """Cells of the rows of the table with that head."""
    lines = markdown[markdown.index(head) :].splitlines()[2:]
    found = []
    for line in lines:
        if not line.startswith("|"):
            break
        found.append([plain(cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found


def page():
    """The manual page."""
    markdown = read("docs/command.md")
    lines = []
    for title, entries in blocks(help_text()):
        lines += [".Ss " + term(title)] + listed(entries)
    lines += [".Sh ENVIRONMENT"] + listed(ENVIRONMENT)
    lines += [".Sh EXIT STATUS"] + listed(rows(markdown, "| exit status | meaning |"))
    lines += [
        ".Pp",
        "Three subcommands have their own: health 0 healthy, 1 degraded, 2 unhealthy;",
        "doctor 0 works, 1 works in part, 2 does not work;",
        "compare 0 equal, 1 different, 2 a host could not be compared.",
        ".Sh EXAMPLES",
        ".Dl pymtml \\-\\-query\\-gpu=index,name,memory.used,temperature.gpu \\-\\-format=csv,noheader,nounits",
        ".Dl pymtml \\-q \\-d MEMORY,TEMPERATURE \\-i 0",
        ".Dl pymtml \\-\\-watch",
        ".Dl pymtml health \\-\\-expect 8",
        ".Dl pymtml run \\-\\-nvidia\\-smi gpustat",
        ".Sh SEE ALSO",
        "docs/command.md and docs/metrics.md in the sources of pymtml",
    ]
    return HEAD + ".Sh OPTIONS\n" + "\n".join(lines) + "\n"


FILES = {"docs/pymtml.1": lambda old: page()}
