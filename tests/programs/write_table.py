"""Writes docs/programs.md from the record of the last run of all programs, last_run.json.

python tests/programs/write_table.py            write docs/programs.md
python tests/programs/write_table.py --check    exit status 1, and why, if the table is not that of the last run
"""

import os
import sys

import last_run
import program_set

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

TABLE = os.path.join(ROOT, "docs", "programs.md")
HEAD = """# Programs that run on pymtml

Written by `tests/programs/write_table.py` from the last run of `make test-programs`; do not edit. Every program is the
unmodified package at the version given, on eight simulated MTT S5000, `pynvml` being pymtml. What it shows is compared
with the simulated values, on two machines whose numbers all differ. "Pattern" marks programs that cannot be installed
without a GPU stack: there the suite repeats the calls they make. Programs that run the command nvidia-smi get pymtml's.
gpustat, nvitop and its exporter also run on nvidia-ml-py, over a stand-in for NVML that describes the same machine; the
two displays must agree.

Any of `pymtml run PROGRAM`, `PYTHONPATH=$(pymtml drop-in path)` and `pymtml drop-in enable` gives a program pymtml as
its `pynvml`; the suite takes the second.

Last run on {date} with {python}, {system}.

| program | version | result | shown and checked | missing, and why |
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
    shown = list(dict.fromkeys(test["shows"].rstrip(".") for test in entry["tests"].values()))
    return "| %s | %s | %s | %s | %s |\n" % (
        package,
        entry["version"],
        result(entry),
        "; ".join(shown),
        entry["missing"],
    )


def table(run):
    """The document that a record stands for."""
    programs = run["programs"]
    return HEAD.format(**run) + "".join(row(package, programs[package]) for package in sorted(programs, key=str.lower))


def objections(run, document, programs):
    """Why a document is not the table of a run of these programs; empty if it is."""
    found = []
    pins = {program.package: program.pin for program in programs}
    for package in sorted(set(pins) | set(run["programs"])):
        entry = run["programs"].get(package)
        if entry is None:
            found.append("%s: not in the last run" % package)
        elif package not in pins:
            found.append("%s: no longer in program_set.py" % package)
        elif entry["version"] != pins[package]:
            versions = (package, entry["version"], pins[package])
            found.append("%s: the last run had version %s, the suite has %s" % versions)
        elif result(entry) != "works":
            found.append("%s: %s" % (package, result(entry)))
    lines, expected = document.splitlines(), table(run).splitlines()
    for line in lines:
        if line not in expected:
            found.append("not of the last run: %.70s" % line)
    if not found and lines != expected:
        found.append("lines of the last run's table are missing")
    return found


def main(arguments):
    run = last_run.read()
    if arguments == ["--check"]:
        with open(TABLE, encoding="utf-8") as file:
            found = objections(run, file.read(), program_set.ALL)
        for objection in found:
            print("docs/programs.md: " + objection, file=sys.stderr)
        if found:
            print("make test-programs runs all programs and writes the table anew", file=sys.stderr)
        return 1 if found else 0
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(table(run))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
