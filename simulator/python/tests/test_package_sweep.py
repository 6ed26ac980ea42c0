"""The marker mtml_sweep: a test is run with each of its calls failing."""

import re

import packaged
import pytest
from packaged import environment, run_tests

pytestmark = packaged.needs_python_3_8
PROGRAM = """
import ctypes
import os
import time

import pytest

MTML = {}


class Failed(Exception):
    pass


def call(name, *arguments):
    if "library" not in MTML:
        MTML["library"] = ctypes.CDLL("libmtml.so.2")
    status = getattr(MTML["library"], name)(*arguments)
    if status:
        raise Failed(name, status)


def pointer(name, *arguments):
    value = ctypes.c_void_p()
    call(name, *(arguments + (ctypes.byref(value),)))
    return value


def temperatures(careful=True, cards=2):
    library = pointer("mtmlLibraryInit")
    found = []
    try:
        for index in range(cards):
            value = ctypes.c_int()
            gpu = pointer("mtmlDeviceInitGpu", pointer("mtmlLibraryInitDeviceByIndex", library, index))
            try:
                call("mtmlGpuGetTemperature", gpu, ctypes.byref(value))
            except Failed:
                if careful:
                    raise
            found.append(value.value)
    finally:
        call("mtmlLibraryShutDown", library)
    return found
"""


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


def sweep(folder, text, *arguments, **variables):
    files = {"program": PROGRAM, "test_sweep": "from program import *\n" + text}
    return run_tests(folder, *arguments, environ=environment(COLUMNS="200", **variables), **files)


def test_all_noticed(tmp_path):
    done = sweep(tmp_path, "@pytest.mark.mtml_sweep\ndef test():\n    temperatures()\n")
    assert done.returncode == 0, done.stdout
    # Init, three calls for each of two cards, shutdown; with two codes.
    assert "test_sweep.py::test: 8 calls, 16 runs: all noticed" in done.stdout


def test_unnoticed(tmp_path):
    """The failure is named, and so is each code; what the test itself looks at is noticed."""
    text = """
@pytest.mark.mtml_sweep
def test_swallows():
    temperatures(careful=False)

@pytest.mark.mtml_sweep
def test_looks(mtml_simulator):
    assert temperatures(careful=False) == [int(mtml_simulator.get("%d.gpu_temperature" % card)) for card in (0, 1)]
"""
    done = sweep(tmp_path, text)
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    said = "mtmlGpuGetTemperature (calls 4, 7) = DRIVER_FAILURE, NOT_SUPPORTED: the test passed all the same: nobody"
    assert said in done.stdout
    assert "Traceback" not in done.stdout and "plugin.py" not in done.stdout
    assert "8 calls, 16 runs: 4 findings" in done.stdout and "8 calls, 16 runs: all noticed" in done.stdout


@pytest.mark.parametrize(
    "arguments, passes",
    [
        ("allow='mtmlGpuGetTemperature'", True),
        ("allow=['mtmlGpuGetTemperature=NOT_SUPPORTED', 'mtmlGpuGetTemperature=DRIVER_FAILURE']", True),
        ("allow='mtmlGpuGetTemperature=NOT_SUPPORTED'", False),
        ("['NOT_SUPPORTED'], allow='mtmlGpuGetTemperature=NOT_SUPPORTED'", True),
        ("'TIMEOUT', allow='mtmlGpuGetTemperature=NOT_SUPPORTED'", False),
    ],
)
def test_what_may_be_swallowed(tmp_path, arguments, passes):
    done = sweep(tmp_path, "@pytest.mark.mtml_sweep(%s)\ndef test():\n    temperatures(careful=False)\n" % arguments)
    assert (done.returncode == 0) == passes, done.stdout


@pytest.mark.parametrize(
    "deed, what",
    [
        ("os.kill(os.getpid(), 11)", r"ended the program by SIGSEGV, at \S+test_sweep.py:\d+, in test"),
        ("os.abort()", r"ended the program by SIGABRT, at \S+test_sweep.py:\d+, in test"),
        (
            "call('mtmlDeviceFreeGpu', ctypes.c_void_p(1))",
            "ended the program by SIGABRT.*: mtml simulator: mtmlDeviceFreeGpu",
        ),
        ("os._exit(3)", "ended the program with exit status 3"),
        ("time.sleep(60)", "did not end within 1 seconds"),
        ("__import__('subprocess').call(['sleep', '60'])", "did not end within 1 seconds"),
    ],
)
def test_crashes(tmp_path, deed, what):
    """Each is told with its call, and none ends the run of the tests."""
    text = """
@pytest.mark.mtml_sweep("TIMEOUT", timeout=1)
def test():
    library = pointer("mtmlLibraryInit")
    device = pointer("mtmlLibraryInitDeviceByIndex", library, 0)
    try:
        call("mtmlDeviceGetIndex", device, ctypes.byref(ctypes.c_uint()))
    except Failed:
        %s
        raise
    call("mtmlLibraryShutDown", library)

def test_next():
    pass
""" % deed
    done = sweep(tmp_path, text)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert re.search(r"mtmlDeviceGetIndex \(call 3\) = TIMEOUT: " + what, done.stdout), done.stdout
    assert "4 calls, 4 runs: 1 findings" in done.stdout


def test_what_a_run_has_started_ends_with_it(tmp_path):
    text = """
@pytest.mark.mtml_sweep("TIMEOUT", timeout=1)
def test():
    try:
        temperatures(cards=0)
    except Failed:
        with open("pids", "a") as file:
            file.write("%d\\n" % subprocess.Popen(["sleep", "60"]).pid)
        time.sleep(60)
"""
    sweep(tmp_path, "import subprocess\n" + text)
    for pid in (tmp_path / "pids").read_text().split():
        try:
            with open("/proc/%s/stat" % pid) as file:
                assert file.read().rpartition(") ")[2][0] == "Z"
        except FileNotFoundError:
            pass


def test_each_run_begins_as_the_first(tmp_path):
    """What a run leaves in the process, or initialized, is not there in the next."""
    text = """
seen = []

@pytest.mark.mtml_sweep
def test(mtml_simulator):
    assert not seen and mtml_simulator.references() == 0
    seen.append(1)
    mtml_simulator.calls()
    temperatures()

def test_after(mtml_simulator):
    assert seen == [1]
    assert mtml_simulator.calls() == 0
"""
    done = sweep(tmp_path, text)
    assert done.returncode == 0, done.stdout
    assert "8 calls, 16 runs: all noticed" in done.stdout


def test_bounded(tmp_path):
    text = "@pytest.mark.mtml_sweep(limit=10)\ndef test():\n    temperatures(cards=8)\n"
    done = sweep(tmp_path, text)
    assert done.returncode == 0, done.stdout
    assert "26 calls, 5 of them failing once, 10 runs: all noticed" in done.stdout


def test_bounds_reach_the_first_and_the_last_call(tmp_path):
    text = """
def swallowing(*arguments):
    try:
        call(*arguments)
    except Failed:
        pass

@pytest.mark.mtml_sweep("TIMEOUT", limit=3)
def test():
    library = ctypes.c_void_p()
    for _ in range(2):
        swallowing("mtmlLibraryInit", ctypes.byref(library))
    for _ in range(5):
        call("mtmlLibraryCountDevice", library, ctypes.byref(ctypes.c_uint()))
    for _ in range(2):
        swallowing("mtmlLibraryShutDown", library)
"""
    said = sweep(tmp_path, text).stdout
    assert "9 calls, 3 of them failing once, 3 runs: 2 findings" in said, said
    assert "mtmlLibraryInit (call 1)" in said and "mtmlLibraryShutDown (call 9)" in said


def test_test_that_fails_anyway(tmp_path):
    done = sweep(tmp_path, "@pytest.mark.mtml_sweep\ndef test():\n    temperatures()\n    assert 1 == 2\n")
    assert "assert 1 == 2" in done.stdout and "1 failed" in done.stdout and "mtml_sweep" not in done.stdout


def test_skipping_is_not_noticing(tmp_path):
    text = """
@pytest.mark.mtml_sweep("TIMEOUT")
def test():
    try:
        temperatures()
    except Failed:
        pytest.skip("no GPU")
"""
    done = sweep(tmp_path, text)
    assert "8 findings" in done.stdout and "1 failed" in done.stdout


@pytest.mark.parametrize("arguments", ["cods=1", "1, 2, 3, 4, 5"])
def test_mistake_in_the_marker(tmp_path, arguments):
    done = sweep(tmp_path, "@pytest.mark.mtml_sweep(%s)\ndef test():\n    pass\n" % arguments)
    assert done.returncode == 4 and "pytest.mark.mtml_sweep: the marker" in done.stdout + done.stderr


def test_code_that_is_none(tmp_path):
    done = sweep(tmp_path, "@pytest.mark.mtml_sweep('NO_SUCH')\ndef test():\n    temperatures()\n")
    assert done.returncode and "unknown return code" in done.stdout + done.stderr


def test_sharded(tmp_path):
    """Each worker of xdist takes a part; together they do what one does alone."""
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    text = "@pytest.mark.mtml_sweep\ndef test():\n    temperatures(careful=False, cards=8)\n"
    alone = sweep(tmp_path, text).stdout
    together = sweep(tmp_path, text, "-p", "xdist", "-n", "2").stdout
    found = re.findall(r"mtmlGpuGetTemperature \(calls ([\d, ]+)\)", together)
    assert len(found) == 2
    numbers = sorted(int(number) for part in found for number in part.split(", "))
    (whole,) = re.findall(r"mtmlGpuGetTemperature \(calls ([\d, ]+)\)", alone)
    assert numbers == [int(number) for number in whole.split(", ")]
    runs = re.findall(r"^test_sweep.py::\S+: 26 calls, (\d+) runs:", alone + together, re.M)
    assert sorted(map(int, runs)) == [26, 26, 52]
