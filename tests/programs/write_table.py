"""Writes docs/programs.md from the results that the last runs of the acceptance suite left behind."""

import json
import os
import platform

from machines import ROOT
from program_set import RESULTS

HEAD = """# Programs that run on pymtml

Written by `tests/programs/write_table.py` from the last run of `make test-programs`; do not edit. Every program is the
unmodified package at the version given, on eight simulated MTT S5000, `pynvml` being pymtml. What it shows is compared
with the simulated values, on two machines whose numbers all differ. "Pattern" marks programs that cannot be installed
without a GPU stack: there the suite repeats the calls they make. gpustat, nvitop and its exporter also run on
nvidia-ml-py, over a stand-in for NVML that describes the same machine; the two displays must agree.

Any of `pymtml run PROGRAM`, `PYTHONPATH=$(pymtml drop-in path)` and `pymtml drop-in enable` gives a program pymtml as
its `pynvml`; the suite takes the second.

Last run on %s %s, Linux %s.

| program | version | result | shown and checked | missing, and why |
|---|---|---|---|---|
"""


def row(package, entry):
    tests = entry["tests"]
    passed = [test for test in tests.values() if test["outcome"] == "passed"]
    skipped = [test for test in tests.values() if test["outcome"] == "skipped"]
    if len(passed) == len(tests):
        result = "works"
    elif len(passed) + len(skipped) == len(tests):
        result = "not run" if not passed else "works, in part not run"
    else:
        result = "%d of %d checks fail" % (len(tests) - len(passed) - len(skipped), len(tests) - len(skipped))
    shown = list(dict.fromkeys(test["shows"].rstrip(".") for test in tests.values()))
    return "| %s | %s | %s | %s | %s |\n" % (package, entry["version"], result, "; ".join(shown), entry["missing"])


def main():
    with open(RESULTS) as file:
        results = json.load(file)
    path = os.path.join(ROOT, "docs", "programs.md")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(HEAD % (platform.python_implementation(), platform.python_version(), platform.machine()))
        for package in sorted(results, key=str.lower):
            file.write(row(package, results[package]))


if __name__ == "__main__":
    main()
