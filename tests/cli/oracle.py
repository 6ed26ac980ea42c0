"""Compares the command with a genuine nvidia-smi on a host with NVIDIA GPUs.

    python tests/cli/oracle.py [NVIDIA_SMI]

Beneath the command lies a libmtml that asks NVML, tests/cli/nvml_mtml.c, which is compiled if there is a C compiler;
PYMTML_LIBRARY names one that was compiled elsewhere:

    python tests/cli/oracle.py --build libmtml.so.2
    PYMTML_LIBRARY=./libmtml.so.2 python tests/cli/oracle.py

Each difference is a line: where, what nvidia-smi says, what the command says. Values that move between two looks
(temperatures, power, clocks, utilization) are compared by form and unit, others by their text. What only nvidia-smi
knows (MTML does not tell it, the command says N/A) is counted apart; in the table it shows as a line that differs.
Exit status: 0 no difference, 1 some, 2 no oracle.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, ROOT)

from inside import FIELDS  # noqa: E402

COMMANDS = (
    ["-L"],
    [],
    ["-q"],
    ["-q", "-d", "MEMORY,UTILIZATION,ECC,TEMPERATURE,POWER,CLOCK,PERFORMANCE"],
    ["topo", "-m"],
    ["topo", "-mp"],
    ["topo", "-p2p", "r"],
    ["topo", "-p2p", "n"],
    ["topo", "-C", "-i", "0"],
    ["nvlink", "-s"],
    ["dmon", "-c", "1", "-s", "pucvmet"],
    ["pmon", "-c", "1", "-s", "um"],
    ["--query-compute-apps=pid,process_name,used_memory", "--format=csv"],
    ["--query-gpu=nope", "--format=csv"],
    ["-i", "99"],
    ["--foo"],
)


# Fields whose values change between two looks.
MOVING = re.compile(
    r"timestamp|temperature\.(gpu|memory)$|power\.draw|clocks\.current|utilization\.|memory\.(used|free)|fan\.speed"
    r"|pcie\.link\.(gen|width)\..*current|pstate|clocks_event|encoder\.stats|total_energy"
)
# Values of -q that do.
MOVING_VALUE = re.compile(r"( (W|C|MHz|%|MiB|mV|KB/s)|:\d\d \d{4}|P\d+)$")
# Screens in which any number may; of others each line is compared as it stands.
MOVING_SCREENS = ([], ["dmon"], ["pmon"], ["--query-compute-apps=pid,process_name,used_memory"])


def build(path):
    """Compile the libmtml over NVML."""
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-fPIC", "-shared", "-I", ROOT]
        + ["-o", path, os.path.join(HERE, "nvml_mtml.c"), "-ldl"],
        check=True,
    )


def output(command, arguments, **variables):
    """(exit status, stdout) of a command; what ours says beside it on stderr is for people."""
    env = dict(os.environ, PYTHONPATH=ROOT, **variables)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    result = subprocess.run(command + arguments, env=env, universal_newlines=True, **streams)
    return result.returncode, result.stdout


def ours(arguments):
    """(exit status, stdout) of the command under nvidia-smi's name."""
    return output([sys.executable, "-m", "pymtml_cli"], arguments, PYMTML_COMMAND_NAME="nvidia-smi")


def form(text):
    """A text without its numbers."""
    return re.sub(r"[\dA-F]*\d[\dA-F]*(\.\d+)?", "N", text)


def columns(line):
    """A line of a table without its numbers, which keep their columns."""
    return re.sub(r" *[\dA-F]*\d[\dA-F]*(\.\d+)?", lambda match: "N" * len(match.group()), line)


def report(where, theirs, mine):
    """Print a difference; 1."""
    print("  %s: nvidia-smi %r, here %r" % (where, theirs, mine))
    return 1


def same_value(theirs, mine, moves):
    """Whether two values agree."""
    return theirs == mine or bool(moves) and form(theirs) == form(mine)


def compare(smi, arguments):
    """Print what differs in a command's answer; (number of differences, number of values that only nvidia-smi has)."""
    print(" ".join(arguments) or "no arguments")
    (their_status, theirs), (my_status, mine) = output([smi], arguments), ours(arguments)
    count = unknown = 0
    if their_status != my_status:
        count += report("exit status", their_status, my_status)
    log = arguments[:1] == ["-q"]
    key = (lambda line: line.partition(" : ")[0]) if log else columns if arguments[:1] in MOVING_SCREENS else str
    lines = [text.splitlines() for text in (theirs, mine)]
    matcher = difflib.SequenceMatcher(None, *[[key(line) for line in side] for side in lines], autojunk=False)
    for kind, start, end, my_start, my_end in matcher.get_opcodes():
        left, right = lines[0][start:end], lines[1][my_start:my_end]
        if kind == "equal":
            for their_line, my_line in zip(left, right):
                values = [line.partition(" : ")[2] for line in (their_line, my_line)]
                if not log or same_value(values[0], values[1], MOVING_VALUE.search(values[0])):
                    continue
                if values[1] == "N/A":
                    unknown += 1
                else:
                    count += report(key(their_line).strip(), *values)
        else:
            left, right = left + [None] * (len(right) - len(left)), right + [None] * (len(left) - len(right))
            for number, (their_line, my_line) in enumerate(zip(left, right), start + 1):
                count += report("line %d" % number, their_line, my_line)
    return count, unknown


def compare_fields(smi):
    """Print the fields whose head, unit or value differ; as compare."""
    print("--query-gpu")
    known = re.findall(r'\n\s*\n^"([^"]+)"', output([smi], ["--help-query-gpu"])[1], re.M)
    names = [name for line in FIELDS for name in [name for name in line[0] if name in known][:1]]
    others = sorted(set(known) - {spelling for line in FIELDS for spelling in line[0]})
    print("  fields of nvidia-smi that are not known here: %s" % (", ".join(others) or "none"))
    arguments = ["--query-gpu=" + ",".join(names), "--format=csv", "-i", "0"]
    theirs, mine = [
        [line.split(", ") for line in text.splitlines()] for _, text in (output([smi], arguments), ours(arguments))
    ]
    shapes = [[len(row) for row in rows] for rows in (theirs, mine)]
    if not names or shapes != [[len(names)] * 2] * 2:
        return report("cells of %d fields" % len(names), *shapes), 0
    count, unknown = 0, []
    for name, (their_head, their_value), (my_head, my_value) in zip(names, zip(*theirs), zip(*mine)):
        if their_head != my_head:
            count += report("head of " + name, their_head, my_head)
        if same_value(their_value, my_value, MOVING.match(name)):
            continue
        if my_value == "[N/A]":
            unknown.append(name)
        else:
            count += report(name, their_value, my_value)
    print("  %d fields agree; not told here: %s" % (len(names) - count - len(unknown), ", ".join(unknown) or "none"))
    return count, len(unknown)


def main(arguments):
    if arguments[:1] == ["--build"]:
        build(arguments[1])
        return 0
    smi = shutil.which(arguments[0] if arguments else "nvidia-smi")
    if not smi:
        print("no nvidia-smi: give its path", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        if not os.environ.get("PYMTML_LIBRARY"):
            os.environ["PYMTML_LIBRARY"] = os.path.join(folder, "libmtml.so.2")
            build(os.environ["PYMTML_LIBRARY"])
        os.environ.setdefault("PYMTML_MUSA_LIBRARY", os.environ["PYMTML_LIBRARY"])
        results = [compare_fields(smi)] + [compare(smi, list(command)) for command in COMMANDS]
    differing, unknown = map(sum, zip(*results))
    print("%d differences; %d values that only nvidia-smi has" % (differing, unknown))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
