"""--help: what the command can be asked for; and --version."""

import re
import sys
from textwrap import wrap

import pymtml
from pymtml_cli.common import layout
from pymtml_cli.common.errors import NVIDIA_SMI, called, worded
from pymtml_cli.language import LOOP_SECONDS, SECTIONS, WATCH_SECONDS
from pymtml_cli.readings.devices import Unknown, ask, musa_version, shown_driver, unreported
from pymtml_cli.subcommands import FIRST, LISTED, SUBCOMMANDS

TEXTS = layout.blocks("smi/texts.txt")


def answer(options):
    """Print the help, or the versions of what there is (exit status)."""
    sys.stdout.write(_help() if options.question == "help" else _version())
    return 0


def _help():
    form = "  %%-%ds  %%s" % max(map(len, LISTED))
    rows = [form % (name, SUBCOMMANDS[name].help) for name in LISTED]
    refused = ", ".join(name for name in SUBCOMMANDS if name not in LISTED)
    values = {
        "name": called(),
        "sections": ("\n" + " " * 29).join(wrap(", ".join(SECTIONS), 50)),
        "first": "\n".join(rows[:FIRST]),
        "subcommands": "\n".join(rows[FIRST:]),
        "refused": "\n    ".join(wrap(refused, 76, break_on_hyphens=False)),
        "loop": LOOP_SECONDS,
        "watch": WATCH_SECONDS,
    }
    title = ""
    if called() == NVIDIA_SMI:  # programs read the version, which is that of its driver, from the first line
        version = _versions()[1]
        title = TEXTS["title"].format(version=pymtml.__version__ if isinstance(version, Unknown) else version) + "\n\n"
    text = worded(TEXTS["help"].format(**values)) + "\n"
    if called() == NVIDIA_SMI:
        text = re.sub("(?m)^  (--force.*\n +card|-c, --count|--compact).*\n", "", text).replace(
            "-V, -v, --version", "--version        "
        )
        text = text.replace("help SUBCOMMAND)", "SUBCOMMAND --help)")
    return title + text


def _version():
    library, driver, musa = _versions()
    ours = ("NVIDIA-SMI version", driver) if called() == NVIDIA_SMI else ("pymtml version", pymtml.__version__)
    rows = (ours, (worded("MTML version"), library), ("DRIVER version", driver), (worded("MUSA Version"), musa))
    return "".join("%-20s: %s\n" % row for row in rows)


def _versions():
    """Versions of library, driver and MUSA, each text or an Unknown."""
    if isinstance(ask(pymtml.nvmlInit), Unknown):
        return [unreported()] * 3
    versions = [
        ask(pymtml.nvmlSystemGetNVMLVersion),
        shown_driver(ask(pymtml.nvmlSystemGetDriverVersion)),
        musa_version(),
    ]
    ask(pymtml.nvmlShutdown)
    return versions
