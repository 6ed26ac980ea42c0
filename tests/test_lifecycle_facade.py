"""Init and shutdown as NVML counts them, handles that outlive the library, threads, forks, signals and teardown."""

import ctypes
import signal
import subprocess
import sys

import pytest
import simulated
from concurrency import held, in_child, in_threads, over_and_over
from interpreter import forks_a_busy_process, not_on_pypy

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


def test_native_and_facade_share_the_count(shut):
    nvml.mtmlLibraryInit()
    nvml.nvmlInit()
    nvml.mtmlLibraryShutDown()
    assert nvml.nvmlDeviceGetCount() == 8
    nvml.nvmlShutdown()
    with pytest.raises(nvml.NVMLError_Uninitialized):
        nvml.nvmlDeviceGetCount()


def test_many_cycles_leave_nothing_behind(shut):
    live = simulated.library.mtmlSimGetHandleCount
    live.restype = ctypes.c_uint
    for _ in range(200):
        nvml.nvmlInit()
        for call in answers(nvml.nvmlDeviceGetHandleByIndex(7)).values():
            try:
                call()
            except nvml.NVMLError_NotSupported:
                pass
        nvml.nvmlShutdown()
        assert (simulated.references(), live(), nvml._nvmlLib_refcount) == (0, 0, 0)


@pytest.mark.parametrize("name", ["DRIVER_NOT_LOADED", "INSUFFICIENT_MEMORY", "UNKNOWN"])
def test_failed_init_counts_nothing(name):
    with simulated.machine("s5000x8", faults="mtmlLibraryInit=%s@0x2" % name):
        for _ in range(2):
            with pytest.raises(nvml.NVMLError):
                nvml.nvmlInit()
            assert nvml._nvmlLib_refcount == 0
            with pytest.raises(nvml.NVMLError_Uninitialized):
                nvml.nvmlShutdown()
        nvml.nvmlInit()
        assert nvml.nvmlDeviceGetCount() == 8
        nvml.nvmlShutdown()


def test_library_that_refuses_a_second_init(monkeypatch):
    """Seen in the field: init after the last shutdown fails. The program hears of it, and what to do."""
    monkeypatch.setattr(nvml._session, "was_shut_down", False)
    with simulated.machine("s5000x8", set="machine.reinit=DRIVER_FAILURE"):
        nvml.nvmlInit()
        nvml.nvmlInit()
        nvml.nvmlShutdown()
        assert nvml.nvmlDeviceGetCount() == 8
        nvml.nvmlShutdown()
        for _ in range(2):
            with pytest.raises(nvml.NVMLError_Unknown, match="PYMTML_KEEP_LIBRARY=1"):
                nvml.nvmlInit()
            with pytest.raises(nvml.NVMLError_Uninitialized):
                nvml.nvmlDeviceGetCount()


def test_failed_shutdown_may_be_tried_again(shut):
    nvml.nvmlInit()
    simulated.set_faults("mtmlLibraryShutDown=DRIVER_FAILURE@0x1")
    with pytest.raises(nvml.NVMLError_Unknown):
        nvml.nvmlShutdown()
    assert (nvml._nvmlLib_refcount, simulated.references()) == (1, 1)
    assert nvml.nvmlDeviceGetName(first()) == "MTT S5000"
    nvml.nvmlShutdown()
    assert (nvml._nvmlLib_refcount, simulated.references()) == (0, 0)


@pytest.mark.parametrize(
    "call",
    [
        nvml.nvmlDeviceGetCount,
        nvml.nvmlSystemGetDriverVersion,
        nvml.nvmlSystemGetNVMLVersion,
        nvml.nvmlSystemGetCudaDriverVersion,
        lambda: nvml.nvmlDeviceGetHandleByIndex(0),
        lambda: nvml.nvmlDeviceGetHandleByUUID("x"),
        lambda: nvml.nvmlDeviceGetHandleBySerial(None),
        lambda: nvml.nvmlDeviceGetHandleByPciBusId(None),
        lambda: nvml.nvmlSystemGetProcessName(1),
        lambda: nvml.nvmlSystemGetTopologyGpuSet(0),
        lambda: nvml.nvmlVgpuTypeGetName(1),
        lambda: nvml.nvmlUnitGetCount(),
        lambda: nvml.nvmlEventSetCreate(),
        lambda: nvml.nvmlDeviceGetFieldValues(None, []),
    ],
)
def test_uninitialized_comes_first(call, shut):
    with pytest.raises(nvml.NVMLError_Uninitialized):
        call()
    nvml.nvmlInit()
    nvml.nvmlShutdown()
    with pytest.raises(nvml.NVMLError_Uninitialized):
        call()


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


def test_handle_survives_a_counted_shutdown(shut):
    nvml.nvmlInit()
    device = first()
    for _ in range(3):
        nvml.nvmlInit()
        assert first() is device
        nvml.nvmlShutdown()
        assert nvml.nvmlDeviceGetName(device) == "MTT S5000"


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


def test_mig_change_makes_handles_stale():
    with simulated.machine("s3000-mpc"):
        try:
            nvml.nvmlInit()
            parent = first()
            assert nvml.nvmlDeviceGetMigMode(parent) == [nvml.NVML_DEVICE_MIG_ENABLE] * 2
            instance = nvml.nvmlDeviceGetMigDeviceHandleByIndex(parent, 0)
            assert nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(instance) is parent
            assert (nvml.nvmlDeviceGetCount(), nvml.mtmlLibraryCountDevice()) == (2, 5)
            nvml.nvmlInit()
            assert nvml.nvmlDeviceSetMigMode(parent, nvml.NVML_DEVICE_MIG_DISABLE) == nvml.NVML_SUCCESS
            for stale in (parent, instance):
                for call in (nvml.nvmlDeviceGetName, nvml.nvmlDeviceGetMemoryInfo, nvml.nvmlDeviceGetMigMode):
                    with pytest.raises(nvml.NVMLError_InvalidArgument):
                        call(stale)
            assert nvml._nvmlLib_refcount == 2 and simulated.references() == 1
            assert nvml.nvmlDeviceGetMigMode(first()) == [nvml.NVML_DEVICE_MIG_DISABLE] * 2
            assert nvml.nvmlDeviceGetCount() == 2
            nvml.nvmlShutdown()
            assert nvml.nvmlDeviceGetCount() == 2
        finally:
            simulated.shut_down()


def test_lost_device_does_not_take_the_others_along(shut):
    nvml.nvmlInit()
    lost, other = first(), nvml.nvmlDeviceGetHandleByIndex(1)
    assert nvml.nvmlDeviceGetTemperature(lost, 0) > 0
    simulated.set_value(0, "lost", "DRIVER_FAILURE")
    for _ in range(2):
        with pytest.raises(nvml.NVMLError_Unknown):
            nvml.nvmlDeviceGetTemperature(lost, 0)
        assert nvml.nvmlDeviceGetTemperature(other, 0) > 0
        assert nvml.nvmlDeviceGetCount() == 8


# ---- Threads ----


def test_threads_get_the_answers_of_their_own_device(shut):
    nvml.nvmlInit()
    for index in range(8):
        simulated.set_value(index, "power_usage", 100000 + index)
        simulated.set_value(index, "gpu_temperature", 30 + index)

    def work(index):
        for _ in range(300):
            device = nvml.nvmlDeviceGetHandleByIndex(index)
            assert nvml.nvmlDeviceGetPowerUsage(device) == 100000 + index
            assert nvml.nvmlDeviceGetTemperature(device, 0) == 30 + index
            assert nvml.nvmlDeviceGetIndex(device) == index
            assert nvml.nvmlDeviceGetMemoryInfo(device).total == 85899345920

    in_threads(work)


def test_threads_make_one_sub_handle(shut):
    """First queries at once: one gpu, one memory, one vpu handle, one object per device."""
    for _ in range(20):
        nvml.nvmlInit()
        simulated.reset_calls()
        seen = []

        def work(_):
            device = first()
            nvml.nvmlDeviceGetUtilizationRates(device)
            nvml.nvmlDeviceGetEncoderUtilization(device)
            seen.append(device)

        in_threads(work)
        assert len(set(map(id, seen))) == 1
        for constructor in ("mtmlDeviceInitGpu", "mtmlDeviceInitMemory", "mtmlDeviceInitVpu"):
            assert simulated.calls(constructor) == 1, constructor
        nvml.nvmlShutdown()


def test_threads_init_and_shut_down(shut):
    """Every call between a thread's own init and shutdown answers, whatever the others do."""

    def work(index):
        for _ in range(100):
            nvml.nvmlInit()
            try:
                assert nvml.nvmlDeviceGetCount() == 8
                assert nvml.nvmlDeviceGetName(nvml.nvmlDeviceGetHandleByIndex(index)) == "MTT S5000"
            finally:
                nvml.nvmlShutdown()

    in_threads(work)
    assert nvml._nvmlLib_refcount == 0
    simulated.shut_down()  # gives back what is kept without a GIL
    assert simulated.references() == 0


# ---- Signals, forks, teardown ----


def test_signal_handler_may_query(shut):
    nvml.nvmlInit()
    seen = []

    def sample(number, frame):
        nvml.nvmlInit()
        seen.append(nvml.nvmlDeviceGetTemperature(first(), 0))
        nvml.nvmlShutdown()

    before = signal.signal(signal.SIGALRM, sample)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        expected = nvml.nvmlDeviceGetTemperature(first(), 0)
        while len(seen) < 50:
            nvml.nvmlInit()
            assert nvml.nvmlDeviceGetTemperature(first(), 0) == expected
            nvml.nvmlShutdown()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert set(seen) == {expected}
    assert nvml._nvmlLib_refcount == 1


def test_signal_handler_may_come_while_the_lock_is_held(shut):
    with nvml.libLoadLock:
        nvml.nvmlInit()
        assert nvml.nvmlDeviceGetUtilizationRates(first()).gpu >= 0
        nvml.nvmlShutdown()


def test_child_goes_on_with_the_parents_handles(shut):
    nvml.nvmlInit()
    device = first()
    name = nvml.nvmlDeviceGetName(device)

    def work():
        assert nvml.nvmlDeviceGetName(device) == name
        assert nvml.nvmlDeviceGetTemperature(device, 0) > 0
        nvml.nvmlInit()
        assert first() is device
        nvml.nvmlShutdown()
        nvml.nvmlShutdown()
        nvml.nvmlInit()
        assert nvml.nvmlDeviceGetCount() == 8

    assert in_child(work) == 0
    assert nvml.nvmlDeviceGetTemperature(device, 0) > 0  # the child's shutdown was its own


def test_child_of_a_fork_while_a_thread_holds_the_lock(shut):
    nvml.nvmlInit()

    def work():
        nvml.nvmlInit()
        assert nvml.nvmlDeviceGetUtilizationRates(nvml.nvmlDeviceGetHandleByIndex(5)).gpu >= 0
        nvml.nvmlShutdown()

    with held(nvml.libLoadLock):
        assert in_child(work) == 0


@forks_a_busy_process
def test_children_of_a_busy_parent(shut):
    nvml.nvmlInit()

    def query(number):
        nvml.nvmlInit()
        nvml.nvmlDeviceGetMemoryInfo(first())
        nvml.nvmlShutdown()

    with over_and_over(query, 3):
        for _ in range(10):
            assert in_child(lambda: nvml.nvmlDeviceGetMemoryInfo(first())) == 0


TEARDOWN = """
import atexit, os, sys
import pymtml as nvml

class Late:
    def __init__(self):
        self.device = nvml.nvmlDeviceGetHandleByIndex(0)
    def __del__(self, nvml=nvml, write=os.write):
        try:
            text = "%s %s" % (nvml.nvmlDeviceGetName(self.device), nvml.nvmlDeviceGetMemoryInfo(self.device).total)
        except nvml.NVMLError as error:
            text = type(error).__name__
        write(1, text.encode())

nvml.nvmlInit()
late = sys.modules["late"] = Late()
if sys.argv[1] == "shutdown":
    atexit.register(nvml.nvmlShutdown)
if sys.argv[1] != "first":
    nvml.nvmlDeviceGetMemoryInfo(late.device)
"""


@not_on_pypy.end
@pytest.mark.parametrize("how", ["first", "leak", "shutdown"])
def test_calls_at_interpreter_teardown(how):
    """From __del__ when modules are gone, with and without a shutdown: an answer or an NVMLError, and a clean end."""
    result = simulated.run_python(TEARDOWN, how, name="s5000x8")
    assert (result.returncode, result.stderr) == (0, "")
    expected = "NVMLError_Uninitialized" if how == "shutdown" else "MTT S5000 85899345920"
    assert result.stdout == expected


LAST = """
import builtins, os, sys
import pymtml as nvml

class Last:
    def __init__(self):
        self.calls = [
            (nvml.nvmlDeviceGetFieldValues, ([nvml.NVML_FI_DEV_POWER_INSTANT],)),
            (nvml.nvmlDeviceGetNumaNodeId, ()),
            (nvml.nvmlDeviceGetComputeRunningProcesses, ()),
            (nvml.nvmlDeviceGetUtilizationRates, ()),
        ]
        self.device = nvml.nvmlDeviceGetHandleByIndex(0)
    def __del__(self, write=os.write, Error=nvml.NVMLError):
        for function, arguments in self.calls:
            try:
                function(self.device, *arguments)
                write(1, b"answered ")
            except Error:
                write(1, b"refused ")

nvml.nvmlInit()
builtins.keep = Last()
late = sys.modules["last"] = Last()
"""


@not_on_pypy.end
def test_calls_when_even_the_builtins_go():
    result = simulated.run_python(LAST, name="s5000x8")
    assert (result.returncode, result.stderr, result.stdout) == (0, "", "answered " * 8)


def test_daemon_thread_may_query_to_the_end():
    code = (
        "import threading, time\nimport pymtml as nvml\nnvml.nvmlInit()\n"
        "def run():\n"
        "    while True:\n"
        "        nvml.nvmlDeviceGetMemoryInfo(nvml.nvmlDeviceGetHandleByIndex(0))\n"
        "for _ in range(4):\n"
        "    threading.Thread(target=run, daemon=True).start()\n"
        "time.sleep(0.05)\n"
    )
    result = simulated.run_python(code)
    assert result.returncode == 0, result.stderr


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
    result = subprocess.run(
        [sys.executable, str(program), method],
        env=simulated.environment("s5000x8"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=120,
    )
    expected = "('MTT S5000', %d)\nNVMLError_%s\n" % (references, error)
    assert (result.stdout, result.returncode) == (expected, 0), result.stderr
