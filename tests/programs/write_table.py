"""Writes docs/programs.md when all programs have run: make test-programs. The table is the record of that run.

python tests/programs/write_table.py --check    exit status 1, and why, if it is not of the programs that the suite has
"""

import datetime
import os
import platform
import sys

import program_set

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

TABLE = os.path.join(ROOT, "docs", "programs.md")
HEAD = """# Programs that run on pymtml

Programs as their users install them, run with pymtml as their `pynvml` (by `PYTHONPATH`, one of the [three
ways](drop-in.md)). What they show was compared with the simulated values: in most rows on eight MTT S5000, three times
(as shipped, with other numbers, and with only the functions of MTML's header), otherwise on a machine in the row's
situation. gpustat, nvitop and its exporter also ran on nvidia-ml-py over a stand-in for NVML: both displays must agree.

| run as | means |
|---|---|
| pynvml | the program, or a part of it that the table names, imports pynvml or pymtml |
| nvidia-smi | the program runs the command nvidia-smi: `pymtml run --nvidia-smi` provides pymtml's |
| files | it needs a GPU stack: its files that query GPUs ran on the CPU build of torch, with empty parent packages |
| imitation | it could not be installed: the suite repeats the calls that it makes |

| in the last column | means |
|---|---|
| Energy | it reads a counter that MTML lacks; `PYMTML_ENERGY=sample` provides one |
| Memory | it shows the memory of processes only if the kernel driver reports it |
| Limit | it shows a power limit only if the library reports one, for which the header of MTML 2.2.0 has no function |

Written by the last run of `make test-programs`, on {date} with {python}, {system}.
Rows that changed since then ran by themselves.

| program | version | run as | shown and checked | missing, and why |
|---|---|---|---|---|
"""


def result(entry):
    """What the tests of a program came to, in a word or two."""
    outcomes = [test["outcome"] for test in entry["tests"].values()]
    passed, skipped = outcomes.count("passed"), outcomes.count("skipped")
    if passed == len(outcomes):
        return "works"
    if passed + skipped == len(outcomes):
        return "works, in part not run" if passed else "not run"
    return "%d of %d checks fail" % (len(outcomes) - passed - skipped, len(outcomes) - skipped)


def row(package, entry):
    shown = list(dict.fromkeys(test["shows"].rstrip(".") for test in entry["tests"].values() if test["shows"]))
    return "| %s | %s | %s | %s | %s |\n" % (
        package,
        entry["version"],
        entry["how"],
        "; ".join(shown) if result(entry) == "works" else "**%s**" % result(entry),
        entry["missing"],
    )


def table(programs):
    """The document of a run that ends now; programs: {package: {"version", "missing", "tests"}}."""
    head = HEAD.format(
        date=datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        python="%s %s" % (platform.python_implementation(), platform.python_version()),
        system="%s %s" % (platform.system(), platform.machine()),
    )
    return head + "".join(row(package, programs[package]) for package in sorted(programs, key=str.lower))


def write(programs):
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(table(programs))


def read():
    with open(TABLE, encoding="utf-8") as file:
        return file.read()


def rows(document):
    """The programs of a table: {package: [version, how it was run, what was shown]}."""
    lines = document.rpartition("|---|\n")[2].splitlines()
    return {cells[0]: cells[1:4] for cells in (line[2:].split(" | ") for line in lines)}


def objections(document, programs):
    """Why a document is not the table of a good run of these programs; empty if it is."""
    found, shown = [], rows(document)
    pins = {program.package: program.pin for program in programs}
    for package in sorted(set(pins) | set(shown)):
        version, _, came_to = shown.get(package, (None, None, None))
        if version is None:
            found.append("%s: not in the last run" % package)
        elif package not in pins:
            found.append("%s: no longer in programs.csv" % package)
        elif version != pins[package]:
            found.append("%s: the last run had version %s, the suite has %s" % (package, version, pins[package]))
        elif came_to.startswith("**"):
            found.append("%s: %s" % (package, came_to.strip("*")))
    return found


def main():
    found = objections(read(), program_set.ALL)
    for objection in found:
        print("docs/programs.md: " + objection, file=sys.stderr)
    if found:
        sys.exit("make test-programs runs all programs and writes the table anew")


if __name__ == "__main__":
    main()
