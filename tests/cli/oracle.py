"""Compares the command with a genuine nvidia-smi, line by line, on a host with NVIDIA GPUs.

    PYMTML_LIBRARY=LIBMTML_OVER_NVML python tests/cli/oracle.py [NVIDIA_SMI]

The library must answer MTML's functions from NVML. Lines that differ are printed; numbers that move between two looks
are compared by form. What only one side can know (fields that MTML does not tell say [N/A] here) is counted apart.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)

from pymtml_cli.fields import FIELDS  # noqa: E402

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


def output(command, arguments, **variables):
    """(exit status, stdout) of a command."""
    env = dict(os.environ, PYTHONPATH=ROOT, **variables)
    result = subprocess.run(command + arguments, env=env, stdout=subprocess.PIPE, universal_newlines=True)
    return result.returncode, result.stdout


def form(line):
    """A line without its numbers."""
    return re.sub(r"[\dA-F]*\d[\dA-F]*(\.\d+)?", "N", line)


def compare(smi, arguments):
    """Print what differs in a command's answer; number of lines that do."""
    ours = output([sys.executable, "-m", "pymtml_cli"], arguments, PYMTML_COMMAND_NAME="nvidia-smi")
    theirs = output([smi], arguments)
    differing = []
    if ours[0] != theirs[0]:
        differing.append("exit status %s, nvidia-smi %s" % (ours[0], theirs[0]))
    for mine, other in zip(ours[1].splitlines(), theirs[1].splitlines()):
        if form(mine) != form(other):
            differing.append("- %s\n+ %s" % (other, mine))
    lengths = [len(text.splitlines()) for _, text in (ours, theirs)]
    if lengths[0] != lengths[1]:
        differing.append("%d lines, nvidia-smi %d" % tuple(lengths))
    print("%-70s %s" % (" ".join(arguments)[:70], "same" if not differing else ""))
    for text in differing:
        print(text)
    return len(differing)


def compare_fields(smi):
    """Print the fields whose head, unit or value differ; number of those."""
    known = re.findall(r'\n\s*\n^"([^"]+)"', output([smi], ["--help-query-gpu"])[1], re.M)
    names = [line[0][0] for line in FIELDS if line[0][0] in known]
    print("fields of nvidia-smi that are not known here: %s" % (", ".join(set(known) - set(names)) or "none"))
    arguments = ["--query-gpu=" + ",".join(names), "--format=csv", "-i", "0"]
    theirs = [line.split(", ") for line in output([smi], arguments)[1].splitlines()]
    ours = output([sys.executable, "-m", "pymtml_cli"], arguments, PYMTML_COMMAND_NAME="nvidia-smi")[1]
    columns = zip(names, zip(*theirs), zip(*[line.split(", ") for line in ours.splitlines()]))
    count, unknown = 0, []
    for name, other, mine in columns:
        if mine[0] == other[0] and mine[1] == "[N/A]" != other[1]:
            unknown.append(name)
        elif [form(cell) for cell in mine] != [form(cell) for cell in other]:
            print("%s\n- %s\n+ %s" % (name, " | ".join(other), " | ".join(mine)))
            count += 1
    print("%d fields differ; %d are not told here: %s" % (count, len(unknown), ", ".join(unknown)))
    return count


def main():
    smi = sys.argv[1] if len(sys.argv) > 1 else "nvidia-smi"
    differing = compare_fields(smi)
    for arguments in COMMANDS:
        differing += compare(smi, list(arguments))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
