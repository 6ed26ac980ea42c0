"""The command as users run it: in this process, which is quick, or in another one."""

import contextlib
import io
import json
import os
import sys

import simulated
from inside import main
from mtml_simulator import driver_files

import pymtml

HERE = os.path.dirname(os.path.abspath(__file__))
COMMAND = [sys.executable, "-m", "pymtml"]
WORKING_PROFILES = [name for name in simulated.ALL_PROFILES if name not in ("empty", "no-driver")]


def capture_file(name):
    """A file of recorded output (dict)."""
    with open(os.path.join(HERE, "captures", name)) as file:
        return json.load(file)


def by_hand(title):
    """The rows of a table of by_hand.txt, each as a list of its cells."""
    with open(os.path.join(HERE, "by_hand.txt"), encoding="utf-8") as file:
        table = next(part for part in file.read().split("\n== ") if part.startswith(title))
    return [[cell.strip() for cell in line.split(" |")] for line in table.strip().split("\n")[2:]]


class Result:
    """What the command did: status, stdout, stderr."""

    def __init__(self, status, stdout, stderr):
        self.status, self.stdout, self.stderr = status, stdout, stderr
        self.lines = stdout.splitlines()

    def rows(self):
        """Lines of a csv answer, split into cells."""
        return [line.split(", ") for line in self.lines]


class Terminal(io.TextIOWrapper):
    """A stdout that somebody looks at."""

    def isatty(self):
        return True


def invoke(*arguments, **options):
    """Run the command in this process, on the machine that is set up (Result; ``name`` is what it is called by).

    ``terminal``: somebody looks at what it prints.
    """
    name, terminal = options.pop("name", "pymtml"), options.pop("terminal", False)
    assert not options
    out, err = (Terminal if terminal else io.TextIOWrapper)(io.BytesIO(), "utf-8"), io.StringIO()
    before = os.environ.get("PYMTML_COMMAND_NAME")
    os.environ["PYMTML_COMMAND_NAME"] = name
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = main(list(arguments))
            except SystemExit as error:  # argparse
                status = error.code or 0
    finally:
        os.environ.pop("PYMTML_COMMAND_NAME")
        if before is not None:
            os.environ["PYMTML_COMMAND_NAME"] = before
    out.flush()
    assert not pymtml._nvmlLib_refcount, "the command left the library initialized"
    return Result(status, out.buffer.getvalue().decode("utf-8"), err.getvalue())


def process_tree(folder, monkeypatch, *cards):
    """Let process queries see a proc file system with processes: {pid: (program, utilization)} for each card.

    A card is a device node, in the order of their numbers: the second one of a divided card is its first instance.
    The reader sees everything, as root on a host does, whoever runs the tests.
    """
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(folder))
    write(os.path.join(str(folder), "1", "cmdline"), "init\0")
    write(os.path.join(str(folder), "self", "status"), "CapEff:\t%016x\n" % (1 << 19))
    for number, processes in enumerate(cards):
        node = "mtgpu.%d" % (2 * number)
        rows = []
        for pid, (program, utilization) in processes.items():
            shares = (utilization, 0, 0, 0, utilization, 0)
            rows.append(driver_files.process_row(pid, pid, shares, driver_files.short_name(program)))
            driver_files.write_process(str(folder), pid, [program, "--x"], "/dev/" + node)
        driver_files.write_table(str(folder), number, *rows, node=node)


def driver_tree(folder, cards=1, **files):
    """The driver's files of some cards below the root of a proc file system, `status` and others that are given.

    A file is its content, or {number of a card: content}; None leaves it out.
    """
    for number in range(cards):
        for name, content in dict({"status": driver_files.status()}, devname="mtgpu.%d\n" % number, **files).items():
            content = content.get(number) if isinstance(content, dict) else content
            if content is not None:
                path = os.path.join(str(folder), "driver", "musa", "gpu%02x" % number, name)
                write(path, content)


def write(path, content):
    """A file, and the folders above it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode("utf-8"))


def run_command(*arguments, **options):
    """Run the command in another process (CompletedProcess with texts; options as for simulated.environment)."""
    return simulated.run(COMMAND + list(arguments), env=command_environment(**options))


def command_environment(**options):
    """Environment for the command in another process (options as for simulated.environment, extra_environment)."""
    extra = options.pop("extra_environment", {})
    env = simulated.environment(**options)
    env.update(extra)
    return env
