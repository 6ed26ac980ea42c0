"""Drivers that lie, fail in ways of their own, or hang: what every function makes of it.

usual.py says what most functions of both layers come to for each lie, outcomes.csv what the others do; after a change
that is meant, write it anew: make record. The library is liar.c, apart from the simulator, which does not lie.
"""

import csv
import functools
import io
import os
import sys
import tempfile

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]

import liar  # noqa: E402
import pytest  # noqa: E402
import simulated  # noqa: E402
import usual  # noqa: E402
from interpreter import PYPY  # noqa: E402

import pymtml  # noqa: E402

TABLE = os.path.join(liar.HERE, "outcomes.csv")
SECONDS = 400 if PYPY else 100  # for all functions under one lie; PyPy makes arrays of structs slowly
# PyPy: NotSupported, whatever the driver says.
UNSETTABLE = () if hasattr(os, "sched_setaffinity") else ("nvmlDeviceSetCpuAffinity", "nvmlDeviceClearCpuAffinity")


@functools.lru_cache(maxsize=None)
def ask(path, lie):
    """What functions make of one lie: {name: outcome}, from a process of its own."""
    result = simulated.run([sys.executable, os.path.join(liar.HERE, "liar.py"), path, lie], timeout=SECONDS)
    assert (result.returncode, result.stderr) == (0, ""), (lie, result.returncode, result.stderr)
    rows = csv.reader(result.stdout.splitlines())
    return {function: outcome for function, _, outcome in rows if not function.startswith(UNSETTABLE)}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return liar.build(str(tmp_path_factory.mktemp("liar")))


@pytest.fixture(scope="module")
def table():
    """What is not as usual: (function, lie, outcome)."""
    with open(TABLE, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [(row["function"], lie, row[lie]) for row in rows for lie in liar.LIES if row[lie]]


@pytest.mark.parametrize("lie", liar.LIES)
def test_outcome_of_each_function(lie, library, table):
    unusual = {function: outcome for function, one, outcome in table if one == lie}
    found = ask(library, lie)
    assert len(found) > 500
    expected = {function: unusual.get(function, usual.outcome(function, lie)) for function in found}
    wrong = ["%s: %s, not %s" % (name, found[name], expected[name]) for name in found if found[name] != expected[name]]
    assert not wrong, "\n".join(wrong + ["make record writes tests/hostile/outcomes.csv, if that is meant"])


def test_table_is_what_is_recorded(library):
    """It holds what is not as usual, and nothing else."""
    with open(TABLE, encoding="utf-8", newline="") as file:
        assert recorded(library) == "".join(line for line in file if not line.startswith(UNSETTABLE)), "make record"


def test_table_names_every_outcome_exactly(table):
    """Values, or one class of error with its code: no Python error, no MTML class from the facade or the reverse."""
    assert len(table) > 500
    for function, lie, outcome in table:
        if "Error" in outcome.split(" ")[0] and not outcome.startswith(("'", '"')):
            layer, rest = outcome[:4], outcome.split(" ")
            assert layer == ("MTML" if function.startswith("mtml") else "NVML"), (function, lie, outcome)
            assert len(rest) == 4 and rest[2] == "mtml_code", (function, lie, outcome)


def test_codes_that_only_pymtml_may_use(table):
    """666, 667, 669 and 670 from C are codes like any other that no header names."""
    for function, lie, outcome in table:
        if lie.startswith("own ") and "mtml_code 6" in outcome:
            code = lie.split(" ")[1]
            expected = "MTMLError_Unknown " + code if function.startswith("mtml") else "NVMLError_Unknown 999"
            assert outcome == "%s mtml_code %s" % (expected, code), (function, lie, outcome)


def test_library_that_refuses_its_end_and_the_next_init(monkeypatch):
    """It is not lost: a later init finds it, and the end of that life ends it."""
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
    with simulated.machine("s5000x8"):
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
        simulated.set_faults(",".join("mtmlLibrary%s=TIMEOUT" % name for name in ("CountDevice", "ShutDown", "Init")))
        pytest.raises(pymtml.NVMLError_Timeout, pymtml.nvmlInit)
        assert simulated.references() == 1
        simulated.set_faults("")
        pymtml.mtmlLibraryInit()
        pymtml.mtmlLibraryShutDown()
        assert simulated.references() == 0


def test_devices_without_end(library):
    """2**31 - 1 devices: every list of them ends."""
    assert int(ask(library, "absurd")["nvmlDeviceGetCount"]) <= 1 << 12


def recorded(library=None):
    """The text of outcomes.csv from what is found now, a row a function; tools/record.py writes it."""
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        path = library or liar.build(folder)
        for lie in liar.LIES:
            for function, outcome in ask(path, lie).items():
                if usual.outcome(function, lie) != outcome:
                    rows.setdefault(function, {"function": function})[lie] = outcome
    text = io.StringIO()
    writer = csv.DictWriter(text, ["function"] + list(liar.LIES), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[function] for function in sorted(rows))
    return text.getvalue()
