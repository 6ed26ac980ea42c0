"""Tests of a user's with the marker mtml_sweep: test_package_sweep.py runs them in one pytest, and says what comes."""

import ctypes
import os
import subprocess
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


def swallowing(name, *arguments):
    try:
        call(name, *arguments)
    except Failed:
        pass


def pointer(name, *arguments):
    value = ctypes.c_void_p()
    call(name, *(arguments + (ctypes.byref(value),)))
    return value


def temperatures(ask=call, cards=2):
    """Init, three calls for each card, shutdown."""
    library = pointer("mtmlLibraryInit")
    found = []
    try:
        for index in range(cards):
            value = ctypes.c_int()
            gpu = pointer("mtmlDeviceInitGpu", pointer("mtmlLibraryInitDeviceByIndex", library, index))
            ask("mtmlGpuGetTemperature", gpu, ctypes.byref(value))
            found.append(value.value)
    finally:
        call("mtmlLibraryShutDown", library)
    return found


@pytest.mark.mtml_sweep
def test_all_noticed():
    temperatures()


@pytest.mark.mtml_sweep
def test_swallows():
    temperatures(swallowing)


@pytest.mark.mtml_sweep
def test_looks(mtml_simulator):
    """What the test itself looks at is noticed."""
    assert temperatures(swallowing) == [int(mtml_simulator.get("%d.gpu_temperature" % card)) for card in (0, 1)]


@pytest.mark.mtml_sweep(allow="mtmlGpuGetTemperature")
def test_allowed():
    temperatures(swallowing)


@pytest.mark.mtml_sweep(allow=["mtmlGpuGetTemperature=NOT_SUPPORTED", "mtmlGpuGetTemperature=DRIVER_FAILURE"])
def test_allowed_codes():
    temperatures(swallowing)


@pytest.mark.mtml_sweep(["NOT_SUPPORTED"], allow="mtmlGpuGetTemperature=NOT_SUPPORTED")
def test_allowed_only_code():
    temperatures(swallowing)


@pytest.mark.mtml_sweep(allow="mtmlGpuGetTemperature=NOT_SUPPORTED")
def test_one_code_allowed():
    temperatures(swallowing)


@pytest.mark.mtml_sweep("TIMEOUT", allow="mtmlGpuGetTemperature=NOT_SUPPORTED")
def test_other_code_allowed():
    temperatures(swallowing)


def fail_at_the_third(deed):
    library = pointer("mtmlLibraryInit")
    device = pointer("mtmlLibraryInitDeviceByIndex", library, 0)
    try:
        call("mtmlDeviceGetIndex", device, ctypes.byref(ctypes.c_uint()))
    except Failed:
        deed()
        raise
    call("mtmlLibraryShutDown", library)


def segv():
    os.kill(os.getpid(), 11)


def misuse():
    call("mtmlDeviceFreeGpu", ctypes.c_void_p(1))


def leave():
    os._exit(3)


@pytest.mark.parametrize("deed", [segv, os.abort, misuse, leave])
@pytest.mark.mtml_sweep("TIMEOUT")
def test_crash(deed):
    fail_at_the_third(deed)


def sleep():
    time.sleep(60)


def wait():
    # The run is ended with what it has started.
    child = subprocess.Popen(["sleep", "60"])
    with open("pid", "w") as file:
        file.write(str(child.pid))
    child.wait()


@pytest.mark.parametrize("deed", [sleep, wait])
@pytest.mark.mtml_sweep("TIMEOUT", timeout=1)
def test_hang(deed):
    fail_at_the_third(deed)


seen = []


@pytest.mark.mtml_sweep
def test_each_run_begins_as_the_first(mtml_simulator):
    """What a run leaves in the process, or initialized, is not there in the next."""
    assert not seen and mtml_simulator.references() == 0
    seen.append(1)
    mtml_simulator.calls()
    temperatures()


def test_after_them(mtml_simulator):
    assert seen == [1]
    assert mtml_simulator.calls() == 0


@pytest.mark.mtml_sweep(limit=10)
def test_bounded():
    temperatures(cards=8)


@pytest.mark.mtml_sweep("TIMEOUT", limit=3)
def test_bounds_reach_the_first_and_the_last_call():
    libraries = [ctypes.c_void_p(), ctypes.c_void_p()]
    for library in libraries:
        swallowing("mtmlLibraryInit", ctypes.byref(library))
    for _ in range(5):
        call("mtmlLibraryCountDevice", libraries[1], ctypes.byref(ctypes.c_uint()))
    for library in libraries:
        swallowing("mtmlLibraryShutDown", library)


@pytest.mark.mtml_sweep
def test_that_fails_anyway():
    temperatures()
    assert 1 == 2


@pytest.mark.mtml_sweep("TIMEOUT")
def test_skips():
    try:
        temperatures()
    except Failed:
        pytest.skip("no GPU")


@pytest.mark.mtml_sweep
def test_of_four_cards():
    temperatures(swallowing, cards=4)
