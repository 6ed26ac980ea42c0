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

import pymtml  # noqa: E402

TABLE = os.path.join(liar.HERE, "outcomes.csv")
SECONDS = 100  # for all functions under one lie


@functools.lru_cache(maxsize=None)
def ask(path, lie):
    """What functions make of one lie: {name: outcome}, from a process of its own."""
    result = simulated.run([sys.executable, os.path.join(liar.HERE, "liar.py"), path, lie], timeout=SECONDS)
    assert (result.returncode, result.stderr) == (0, ""), (lie, result.returncode, result.stderr)
    return {function: outcome for function, _, outcome in csv.reader(result.stdout.splitlines())}


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
        assert recorded(library) == file.read(), "make record"


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


def test_library_without_shutdown(tmp_path):
    """FunctionNotFound, and nothing changes: the library stays initialized and answers."""
    path = liar.build(str(tmp_path), missing=["mtmlLibraryShutDown"])
    code = """
import pymtml
pymtml.nvmlInit()
pymtml.nvmlInit()
pymtml.nvmlShutdown()
device = pymtml.nvmlDeviceGetHandleByIndex(0)
for shutdown in (pymtml.mtmlLibraryShutDown, pymtml.nvmlShutdown):
    try:
        shutdown()
    except pymtml.MTMLError as error:
        print(type(error).__name__, error.mtml_code, pymtml._nvmlLib_refcount, pymtml.nvmlDeviceGetName(device))
"""
    result = simulated.run_python(code, extra_environment={"PYMTML_LIBRARY": path})
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "MTMLError_FunctionNotFound 667 1 x\nNVMLError_FunctionNotFound 667 1 x\n"


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


def test_missing_functions(tmp_path):
    """Half of the functions are not there: each says so, and the others answer."""
    names = [name for name in pymtml._PROTOTYPES if name not in ("mtmlLibraryInit", "mtmlLibraryShutDown")]
    needed = ("mtmlLibraryCountDevice", "mtmlLibraryInitDeviceByIndex", "mtmlErrorString")
    missing = [name for name in names[::2] if name not in needed and "Free" not in name]
    rows = ask(liar.build(str(tmp_path), missing), "nothing")
    for name in names:
        if name in missing and name in rows:
            assert rows[name] == "MTMLError_FunctionNotFound 667 mtml_code 667", name
    answered = [name for name, outcome in rows.items() if name in names and "NotFound" not in outcome]
    assert len(answered) > 30


def test_driver_that_hangs(library):
    """A call that hangs holds up its thread alone: others are answered, and a shutdown leaves the library to it."""
    code = """
import ctypes, sys, threading, time
import pymtml
library = ctypes.CDLL(sys.argv[1])
pymtml.nvmlInit()
device = pymtml.nvmlDeviceGetHandleByIndex(0)
pymtml.nvmlDeviceGetUtilizationRates(device)
library.liarSet(b"mtmlDeviceGetPowerUsage", 7, 60)
threading.Thread(target=pymtml.nvmlDeviceGetPowerUsage, args=(device,), daemon=True).start()
time.sleep(0.2)
began = time.monotonic()
pymtml.nvmlDeviceGetUtilizationRates(device), pymtml.nvmlDeviceGetName(device)
pymtml.nvmlShutdown(), pymtml.mtmlLibraryInit(), pymtml.mtmlLibraryShutDown()
print(pymtml._nvmlLib_refcount, time.monotonic() - began < 3)
"""
    result = simulated.run(
        [sys.executable, "-c", code, library],
        env=dict(os.environ, PYMTML_LIBRARY=library, PYTHONPATH=simulated.ROOT),
        timeout=50,
    )
    assert (result.returncode, result.stderr, result.stdout) == (0, "", "0 True\n")


# ---- Cards that go away, on the simulator ----

LISTS = {  # of several cards: what is left of them when one is gone
    "gpu set": lambda device: pymtml.nvmlSystemGetTopologyGpuSet(0),
    "serial": lambda device: [pymtml.nvmlDeviceGetHandleBySerial("no such board")],
    "nearest": lambda device: pymtml.nvmlDeviceGetTopologyNearestGpus(device, pymtml.NVML_TOPOLOGY_SYSTEM),
    "vgpu type": lambda device: [pymtml.nvmlVgpuTypeGetName(7)],
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("after", [0, 1, 3])
def test_card_that_goes_between_count_and_list(name, after):
    """It is left out, or the error says that it is gone: the caller did nothing wrong."""
    with simulated.nvml("s5000x8", faults="mtmlLibraryInitDeviceByIndex=NOT_FOUND@%dx1" % (after + 9)) as nvml:
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        for _ in range(8):
            try:
                LISTS[name](device)
            except nvml.NVMLError as error:
                allowed = (nvml.NVMLError_NotFound, nvml.NVMLError_GpuIsLost)
                if name == "vgpu type":  # number 7 is of no type
                    allowed += (nvml.NVMLError_InvalidArgument, nvml.NVMLError_NotSupported)
                assert type(error) in allowed, error


def test_devices_without_end(library):
    """2**31 - 1 devices: every list of them ends."""
    assert int(ask(library, "absurd")["nvmlDeviceGetCount"]) <= 1 << 12


# ---- Which of two failures is told ----


def failure(nvml, call):
    with pytest.raises(nvml.NVMLError) as caught:
        call()
    return type(caught.value).__name__, caught.value.mtml_code


def test_link_queries_keep_the_code():
    with simulated.nvml("s80") as nvml:
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        for call in (
            lambda: nvml.nvmlDeviceGetNvLinkState(device, 0),
            lambda: nvml.nvmlDeviceGetNvLinkVersion(device, 0),
            lambda: nvml.nvmlDeviceGetNvLinkCapability(device, 0, 0),
            lambda: nvml.nvmlDeviceGetNvLinkRemotePciInfo(device, 0),
        ):
            assert failure(nvml, call) == ("NVMLError_NotSupported", nvml.MTML_ERROR_NOT_SUPPORTED)


def test_second_failure_of_a_fan_query_is_raised():
    faults = "mtmlDeviceGetFanSpeed=NOT_SUPPORTED,mtmlDeviceCountFan=TIMEOUT"
    with simulated.nvml("s80", faults=faults) as nvml:
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        for fan in (0, 1):
            assert failure(nvml, lambda: nvml.nvmlDeviceGetFanSpeed_v2(device, fan)) == (
                "NVMLError_Timeout",
                nvml.MTML_ERROR_TIMEOUT,
            )


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
