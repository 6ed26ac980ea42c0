"""report: one archive for a support request. Each part is asked for in a process of its own, as the driver may hang."""

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time

from pymtml_cli.arguments import argument_parser
from pymtml_cli.common.errors import reason
from pymtml_cli.common.files import replace_file
from pymtml_cli.common.people import saying
from pymtml_cli.common.text import counted
from pymtml_cli.health.child import LONGEST_TIMEOUT, program
from pymtml_cli.readings.devices import host

# File in the archive: how it is made, what it is. The first one says whether the driver hangs.
PARTS = {
    "health.json": (["health", "--json", "--timeout", "{timeout}"], "the checks of each card"),
    "doctor.txt": (["doctor", "--timeout", "{timeout}"], "what works here, and what does not"),
    "machine.json": (["--json"], "everything that the cards report"),
    "xid.json": (["xid", "--json"], "errors that the driver has recorded"),
    "capture.ini": (["capture"], "a profile for the simulator, with the forms of the driver's files"),
}
KERNEL, KERNEL_LINES = ("kernel.txt", "what the kernel's log has of the driver"), 2000
LOGS = (["dmesg"], ["journalctl", "-k", "-q", "--no-pager"])
SPARE, AFTER_A_HANG = 10, 5  # seconds
NO_ANSWER = "no answer"
MODE = 0o600
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
MASKED = "Masked: host name, UUIDs, serial numbers, home folders, names of running programs."
LEFT = "Not masked: PCI addresses, process numbers, and what the driver wrote about errors, which may name programs."
UNMASKED = "Nothing is masked: host name, UUIDs, serial numbers, paths and programs are in it."


def parser():
    parser = argument_parser("report")
    parser.add_argument("file", nargs="?", metavar="FILE", help="the archive (default: pymtml-report-TIME.tar.gz)")
    parser.add_argument("--full", action="store_true", help="mask nothing")
    text = "seconds to wait for each part (default 30)"
    parser.add_number("--timeout", "SECONDS", 0.1, LONGEST_TIMEOUT, text, 30.0, whole=False)
    return parser


def run(arguments):
    """Write the archive, and say what is in it (exit status)."""
    options = parser().parse_args(arguments)
    path = options.file or time.strftime("pymtml-report-%Y%m%d-%H%M%S.tar.gz")
    replace_file(path, mode=MODE)  # as the parts take long
    texts, lines, timeout, spare = {}, [], options.timeout, SPARE
    for name, (asked, about) in PARTS.items():
        most = timeout + (SPARE if "--timeout" in asked else spare)
        asked = [word.format(timeout="%g" % timeout) for word in asked]
        asked += ["--unmasked"] * (options.full and name == "capture.ini")
        with saying("making %s" % name):
            texts[name], why = _output(program(asked), most)
        if why == NO_ANSWER or name == "health.json" and _is_late(texts[name]):
            timeout, spare = min(timeout, AFTER_A_HANG), 0
        lines.append("%-13s %s%s" % (name, about, " (%s)" % why if why else ""))
    texts[KERNEL[0]], why = _kernel_lines()
    lines.append("%-13s %s (%s)" % (*KERNEL, why))
    if not options.full:
        texts = _masked(texts)
    lines += ["", UNMASKED] if options.full else ["", MASKED, LEFT]
    content = "\n".join(lines) + "\n"
    replace_file(path, _archive(dict(texts, **{"CONTENTS": content})), MODE)
    sys.stdout.write("wrote %s:\n\n%s" % (path, content))
    return 0


def _output(command, timeout):
    """(what a command prints, why that is not all, or "")."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout
        )
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode("utf-8", "replace"), NO_ANSWER
    except OSError as error:
        return "", str(reason(error))
    said = done.stderr.decode("utf-8", "replace").strip()
    return done.stdout.decode("utf-8", "replace"), said.splitlines()[-1] if said else ""


def _is_late(health):
    """Whether a check of a document of health has no value because its limit of time has passed."""
    try:
        found = json.loads(health)["findings"]
    except ValueError:
        return False
    return any(one["value"] is None and one["limit"] is not None for one in found)


def _kernel_lines():
    for command in LOGS:
        text, why = _output(command, AFTER_A_HANG)
        if text:
            found = [line for line in text.splitlines(True) if re.search("mtgpu|musa|mtlink|1ed5", line, re.I)]
            return "".join(found[-KERNEL_LINES:]), counted(len(found[-KERNEL_LINES:]), "line")
    return "", why


def _masked(texts):
    """The texts with stand-ins, one and the same for one value, of what tells the host and its cards."""
    known = {host(): "HOST", host().partition(".")[0]: "HOST"}
    try:
        devices = json.loads(texts["machine.json"]).get("devices", ())
    except ValueError:
        devices = ()
    for card in devices:
        known[card["serial_number"]] = "SERIAL-%s" % card["index"]
        for process in card["processes"]["list"] or ():
            for name in (process["name"] or "", os.path.basename(process["name"] or "")):
                known[name] = known[json.dumps(name)[1:-1]] = "PROGRAM"
    names = sorted((name for name in known if name), key=len, reverse=True)
    pattern = re.compile(r"(?<![\w.])(?:%s)(?!\w)" % "|".join(map(re.escape, names)))
    uuids = {}

    def numbered(match):
        return "00000000-0000-0000-0000-%012d" % uuids.setdefault(match.group().lower(), len(uuids))

    def mask(text):
        text = pattern.sub(lambda match: known[match.group()], text)
        return re.sub(r"/(home|Users)/[^/\s\"]+", r"/\1/USER", UUID.sub(numbered, text))

    return {name: mask(text) for name, text in texts.items()}


def _archive(texts):
    """The texts as a compressed tar file (bytes)."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, text in texts.items():
            member, content = tarfile.TarInfo("pymtml-report/" + name), text.encode("utf-8")
            member.size, member.mtime = len(content), int(time.time())
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()
