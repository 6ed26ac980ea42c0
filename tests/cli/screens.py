"""The screens in documents: found by their mark, made anew from the simulator.

    <!-- screen PROFILE: pymtml ARGUMENTS -->
    ```text
    what the command prints
    ```

`make record` writes them, the test compares them. What changes from run to run stands for itself: the
time, the costs, paths.
"""

import contextlib
import os
import re
import shlex
import sys
import tempfile

sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.path.dirname(os.path.abspath(__file__))]

import simulated  # noqa: E402
from command import invoke  # noqa: E402
from expected import masked  # noqa: E402

FILES = ("docs/command.md", "docs/command_CN.md")
SCREEN = re.compile(r"(<!-- screen (\S+): pymtml([^\n]*) -->\n```text\n)(.*?)(```\n)", re.S)
TIME = "Sat Nov 21 20:07:40 2026"


@contextlib.contextmanager
def proc_file_system():
    """A proc file system with one process, into which everybody may look."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "1", "fd"))
        os.environ["PYMTML_PROC_ROOT"] = folder
        try:
            yield
        finally:
            del os.environ["PYMTML_PROC_ROOT"]


def screen(profile, arguments):
    """What the command prints on a machine, with stand-ins for what changes."""
    environment = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("MUSA_")}
    try:
        with simulated.machine(profile), proc_file_system():
            text = invoke(*shlex.split(arguments)).stdout
    finally:
        os.environ.update(environment)
    return masked(re.sub(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} *", TIME, text))


def remade(text):
    """A document with its screens as they are now."""
    return SCREEN.sub(lambda match: match.group(1) + screen(match.group(2), match.group(3)) + match.group(5), text)


def documents():
    """(path, text) of the documents."""
    for name in FILES:
        path = os.path.join(simulated.ROOT, name)
        with open(path, encoding="utf-8") as file:
            yield path, file.read()
