"""What the command prints, one expectation for each output: the files in expected/.

    # a remark
    @ distinct set=0.lost=TIMEOUT       the machine from here on, as simulated.machine takes it; columns=80: a terminal
    $ pymtml -q -i 0 > kept.json        runs, and keeps what is printed in a file that later lines may name
      what is printed
    ! what is said on stderr
    [3]                                 the exit status, where it is not 0

`make record` runs the lines that begin with # @ $ and writes the rest anew; whoever commits that has read the diff.
test_distinct_values.py holds, by hand, that each number stands under its right name.
"""

import contextlib
import glob
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
import types

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE, os.path.join(HERE, "..", "..", "simulator", "python")]

import simulated  # noqa: E402
from command import invoke, process_tree  # noqa: E402
from inside import devices, lock  # noqa: E402

import pymtml  # noqa: E402

FOLDER = os.path.join(HERE, "expected")
MOMENT = 1764942645.0625  # 2025-12-05, 13:50:45, Friday
PROCESSES = {17: ("/opt/trainer", 12), 18: ("game", 3)}  # on the first card; and one on the first instance of a card
OURS = ("MUSA_", "PYMTML_", "MTHREADS_", "MTML_", "NVIDIA_", "COLUMNS", "LINES", "NO_COLOR", "TERM")


@contextlib.contextmanager
def surroundings():
    """The time of all samples, a version, processes, and an empty folder to be in."""
    patch, before = pytest.MonkeyPatch(), os.getcwd()
    folder = os.path.realpath(tempfile.mkdtemp())
    kept = {"PYMTML_LIBRARY", "PYMTML_KEEP_LIBRARY", "PYMTML_MUSA_LIBRARY"}
    for name in [name for name in os.environ if name.startswith(OURS) and name not in kept]:
        patch.delenv(name)
    for name, value in {"TERM": "dumb", "PYMTML_SYS_ROOT": os.path.join(folder, "sys")}.items():
        patch.setenv(name, value)
    process_tree(os.path.join(folder, "proc"), patch, PROCESSES, {19: ("/opt/part", 40)})
    clock = types.SimpleNamespace(
        time=lambda: MOMENT, localtime=time.gmtime, gmtime=time.gmtime, strftime=time.strftime, asctime=time.asctime
    )
    patch.setattr(devices, "time", clock)
    patch.setattr(pymtml, "__version__", "9.8.7")
    # What other tests, or other copies of them, have check at the same moment is not waited for.
    patch.setattr(lock, "default_path", lambda name="health": os.path.join(folder, name + ".lock"))
    os.mkdir(os.path.join(folder, "here"))
    os.chdir(os.path.join(folder, "here"))
    try:
        yield folder
    finally:
        os.chdir(before)
        patch.undo()
        shutil.rmtree(folder)


def masked(text):
    """A text with stand-ins for what changes from run to run, or from one computer to another."""
    text = text.replace(simulated.ROOT, "/home")
    text = re.sub(r"/\S+/(libmtml\.so\.2)", r"/usr/lib/x86_64-linux-gnu/\1", text)
    text = re.sub(r"found through PYMTML_LIBRARY", "found as libmtml.so.2 by the usual search", text)
    text = re.sub(
        r"(pymtml \S+, )\S+, Python [\d.]+\S*", r"\1/usr/lib/python3/site-packages/pymtml/__init__.py, Python 3", text
    )
    text = re.sub(r"init [\d.]+ ms, a memory query [\d.]+ ms", "init 1.2 ms, a memory query 0.002 ms", text)
    text = re.sub(r'("host": )"[^"]*"', r'\1"HOST"', text)
    text = re.sub(r"(?m)^%s: " % re.escape(os.uname()[1]), "HOST: ", text)
    text = re.sub(r'("time": )"[^"]*"', r'\1"TIME"', text)
    text = re.sub(r"(?m)^(mthreads_collect_\w+) \d\S*$", r"\1 TIME", text)
    text = re.sub(r"(?m)e\+0(\d\d)$", r"e+\1", text)  # as older prometheus_client writes numbers
    return re.sub(r"(?m)^(note|n/a) +(packages|variable) .*\n( +-> .*\n)?", "", text)


def block(line, machine, folder):
    """What is below a line with a command (list of lines)."""
    name, *arguments = shlex.split(line[1:])
    target = arguments.pop() if ">" in arguments else None
    if target is not None:
        arguments.remove(">")
    options = dict(part.split("=", 1) for part in machine[1:])
    columns = options.pop("columns", None)
    with pytest.MonkeyPatch.context() as patch:
        if columns:
            patch.setenv("COLUMNS", columns)
            patch.setenv("NO_COLOR", "1")
        with simulated.machine(simulated.DISTINCT if machine[0] == "distinct" else machine[0], **options):
            result = invoke(*arguments, name=name, terminal=columns is not None)
    text = result.stdout
    if target is not None:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        text = ""
    text = masked(text.replace(folder, "/tmp"))
    lines = [("  " + part).rstrip(" ") if not part.strip() else "  " + part for part in text.split("\n")]
    lines = lines[:-1] if text.endswith("\n") or not text else lines[:-1] + [lines[-1], "\\ no end of the line"]
    lines += ["! " + part for part in masked(result.stderr.replace(folder, "/tmp")).splitlines()]
    return lines + (["[%d]" % result.status] if result.status else [])


def made(text):
    """A file of expected answers as it is now, with the same commands."""
    lines, machine = [], ["distinct"]
    with surroundings() as folder:
        for line in text.splitlines():
            if line.startswith("@"):
                machine = shlex.split(line[1:])
            if line.startswith(("#", "@")):
                lines += [""] * (lines != [] and not lines[-1].startswith("#")) + [line]
            elif line.startswith("$"):
                lines += [""] * (lines != [] and not lines[-1].startswith(("@", "#"))) + [line]
                lines += block(line, machine, folder)
    return "\n".join(lines) + "\n"


def files():
    """Paths of the files (list)."""
    return sorted(glob.glob(os.path.join(FOLDER, "*.txt")))


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()
