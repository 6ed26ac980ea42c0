"""Init and shutdown as NVML counts them, handles that outlive the library, threads, forks, signals and teardown."""

import sys

import pytest
import simulated
from interpreter import not_on_pypy

import pymtml as nvml


@pytest.fixture
def shut():
    """A machine on which nothing is initialized; whatever a test leaves is shut down."""
    with simulated.machine("s5000x8"):
        try:
            yield
        finally:
            simulated.set_faults("")
            simulated.shut_down()


def first():
    return nvml.nvmlDeviceGetHandleByIndex(0)


def answers(handle):
    """Calls on a handle: cached, hot and cold ones, by name."""
    return {
        "name": lambda: nvml.nvmlDeviceGetName(handle),
        "uuid": lambda: nvml.nvmlDeviceGetUUID(handle),
        "index": lambda: nvml.nvmlDeviceGetIndex(handle),
        "pci": lambda: nvml.nvmlDeviceGetPciInfo(handle).bus,
        "memory": lambda: nvml.nvmlDeviceGetMemoryInfo(handle).total,
        "rates": lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu,
        "temperature": lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
        "power": lambda: nvml.nvmlDeviceGetPowerUsage(handle),
        "clock": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
        "encoder": lambda: nvml.nvmlDeviceGetEncoderUtilization(handle),
        "ecc": lambda: nvml.nvmlDeviceGetEccMode(handle),
        "link": lambda: nvml.nvmlDeviceGetNvLinkState(handle, 0),
        "refused": lambda: nvml.nvmlDeviceGetDisplayActive(handle),
    }


def assert_all_raise(handle, error):
    for what, call in answers(handle).items():
        with pytest.raises(nvml.NVMLError) as caught:
            call()
        assert type(caught.value) is error, what


# ---- Counting ----


def test_init_and_shutdown_are_counted(shut):
    for count in range(1, 19):
        nvml.nvmlInit() if count % 2 else nvml.nvmlInitWithFlags(count)
        assert (nvml._nvmlLib_refcount, simulated.references()) == (count, 1)
    for count in range(17, -1, -1):
        assert nvml.nvmlDeviceGetCount() == 8
        assert nvml.nvmlShutdown() is None
        assert (nvml._nvmlLib_refcount, simulated.references()) == (count, min(count, 1))
    for _ in range(2):
        with pytest.raises(nvml.NVMLError_Uninitialized):
            nvml.nvmlShutdown()
    assert nvml._nvmlLib_refcount == 0


# ---- Handles ----


def test_one_object_per_device(shut):
    nvml.nvmlInit()
    devices = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(8)]
    assert len(set(devices)) == 8
    for index, device in enumerate(devices):
        assert nvml.nvmlDeviceGetHandleByIndex(index) is device
        assert nvml.nvmlDeviceGetHandleByUUID(nvml.nvmlDeviceGetUUID(device)) is device
        assert nvml.nvmlDeviceGetHandleByPciBusId(nvml.nvmlDeviceGetPciInfo(device).busId) is device
        assert nvml.nvmlDeviceGetHandleBySerial(nvml.nvmlDeviceGetSerial(device)) is device
        assert isinstance(device, nvml.c_nvmlDevice_t)
    assert devices[0] != devices[1] and devices[0] != None and devices[0] != 0  # noqa: E711


def test_handle_from_before_the_shutdown(shut):
    nvml.nvmlInit()
    stale = first()
    expected = {}
    for what, call in answers(stale).items():
        try:
            expected[what] = call()
        except nvml.NVMLError_NotSupported:
            pass
    nvml.nvmlShutdown()
    assert_all_raise(stale, nvml.NVMLError_Uninitialized)
    for _ in range(3):  # an address may be used again: the old handle must not come to life
        nvml.nvmlInit()
        assert_all_raise(stale, nvml.NVMLError_InvalidArgument)
        fresh = first()
        assert_all_raise(stale, nvml.NVMLError_InvalidArgument)
        for what, value in expected.items():
            assert answers(fresh)[what]() == value, what
        nvml.nvmlShutdown()


def test_what_is_kept_goes_with_the_library(shut):
    """Names are read once per initialization, not once per process."""
    nvml.nvmlInit()
    device = first()
    simulated.reset_calls()
    assert [nvml.nvmlDeviceGetName(device) for _ in range(3)] == ["MTT S5000"] * 3
    assert simulated.calls("mtmlDeviceGetName") == 1
    nvml.nvmlShutdown()
    with simulated.machine("s80"):
        nvml.nvmlInit()
        assert nvml.nvmlDeviceGetName(first()) == "MTT S80"
        assert nvml.nvmlDeviceGetCount() == 1
        nvml.nvmlShutdown()


# ---- Forks and the end ----


TEARDOWN = """
import atexit, builtins, os, sys
import pymtml as nvml

class Late:
    def __init__(self):
        self.device = nvml.nvmlDeviceGetHandleByIndex(0)
        self.calls = [
            (nvml.nvmlDeviceGetName, ()),
            (nvml.nvmlDeviceGetMemoryInfo, ()),
            (nvml.nvmlDeviceGetFieldValues, ([nvml.NVML_FI_DEV_POWER_INSTANT],)),
            (nvml.nvmlDeviceGetNumaNodeId, ()),
            (nvml.nvmlDeviceGetComputeRunningProcesses, ()),
            (nvml.nvmlDeviceGetUtilizationRates, ()),
        ]
    def __del__(self, write=os.write, Error=nvml.NVMLError):
        for function, arguments in self.calls:
            try:
                function(self.device, *arguments)
                write(1, b"answered ")
            except Error:
                write(1, b"refused ")

nvml.nvmlInit()
late = sys.modules["late"] = Late()
if sys.argv[1] == "builtins":
    builtins.keep = Late()
if sys.argv[1] == "shutdown":
    atexit.register(nvml.nvmlShutdown)
if sys.argv[1] != "first":
    nvml.nvmlDeviceGetMemoryInfo(late.device)
"""


@not_on_pypy.end
@pytest.mark.parametrize("how", ["first", "leak", "shutdown", "builtins"])
def test_calls_at_interpreter_teardown(how):
    """From __del__ when modules and even builtins are gone, with and without a shutdown: answers, and a clean end."""
    result = simulated.run_python(TEARDOWN, how, name="s5000x8")
    answers = 6 * ("refused " if how == "shutdown" else "answered ") * (2 if how == "builtins" else 1)
    assert (result.returncode, result.stderr, result.stdout) == (0, "", answers)


POOL = """
import multiprocessing
import sys

import pymtml as nvml


def work(index):
    nvml.nvmlInit()
    try:
        name = nvml.nvmlDeviceGetName(nvml.nvmlDeviceGetHandleByIndex(index))
        return name, nvml._nvmlLib_refcount
    finally:
        nvml.nvmlShutdown()


def fail(index):
    nvml.nvmlDeviceGetName(None)


if __name__ == "__main__":
    nvml.nvmlInit()
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(*sorted(set(pool.map(work, range(8)))))
        try:
            pool.map(fail, [0])
        except nvml.NVMLError as error:
            print(type(error).__name__, error.value)
"""


@pytest.mark.parametrize(
    "method, references, error", [("fork", 2, "InvalidArgument 2"), ("spawn", 1, "Uninitialized 1")]
)
def test_pool_of_processes(method, references, error, tmp_path):
    """A forked child goes on with its parent's init, a spawned one begins without; errors come back to the parent."""
    program = tmp_path / "program.py"  # a child that is spawned imports it
    program.write_text(POOL)
    result = simulated.run([sys.executable, str(program), method], env=simulated.environment("s5000x8"))
    expected = "('MTT S5000', %d)\nNVMLError_%s\n" % (references, error)
    assert (result.stdout, result.returncode) == (expected, 0), result.stderr
