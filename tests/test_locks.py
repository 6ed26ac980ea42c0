"""What changes the library's state waits for whoever holds the lock, and keeps others out while it is at it."""

import os
import sys
import threading
import time

import pytest
import simulated
from concurrency import in_child

import pymtml

PATIENCE = 0.15  # seconds in which a call that waits for nothing would have returned many times


def in_thread(work):
    """A started thread that does work(), and the list that gets what it came to."""
    ends = []

    def run():
        try:
            ends.append(work())
        except BaseException as error:
            ends.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, ends


def unused_pointer(device):
    pymtml._mtmlGetFunctionPointer_cache.pop("mtmlDeviceGetName", None)
    return pymtml._mtmlGetFunctionPointer("mtmlDeviceGetName")


# What takes the lock: {name: call with a device that nothing was asked of yet}.
LOCKED = {
    "init": lambda device: pymtml.mtmlLibraryInit(),
    "nvmlInit": lambda device: pymtml.nvmlInit(),
    "shutdown": lambda device: pymtml.mtmlLibraryShutDown(),
    "nvmlShutdown": lambda device: pymtml.nvmlShutdown(),
    "function pointer": unused_pointer,
    "gpu": lambda device: pymtml.mtmlDeviceInitGpu(device),
    "memory": lambda device: pymtml.mtmlDeviceInitMemory(device),
    "vpu, on the way to a query": lambda device: pymtml.mtmlVpuGetClock(device),
    "system": lambda device: pymtml.mtmlLibraryInitSystem(),
    "reset": lambda device: pymtml.mtmlDeviceReset(device),
    "MPC": lambda device: pymtml.mtmlDeviceSetMpcMode(device, 1),
    "MIG": lambda device: pymtml.nvmlDeviceSetMigMode(device, 1),
    "log": lambda device: pymtml.mtmlLogGetConfiguration(),
    "log set": lambda device: pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t()),
}


@pytest.mark.parametrize("name", sorted(LOCKED))
def test_waits_for_the_lock(name):
    with simulated.nvml("s80"):
        device = pymtml.mtmlLibraryInitDeviceByIndex(0)
        with pymtml.libLoadLock:
            thread, ends = in_thread(lambda: LOCKED[name](device))
            thread.join(PATIENCE)
            assert not ends, "did not wait"
        thread.join(10)
        assert len(ends) == 1 and not isinstance(ends[0], BaseException), ends
        while simulated.references():
            pymtml.nvmlShutdown()


def test_vgpu_numbers_wait_for_the_lock():
    with simulated.nvml("s3000-vgpu-host"):
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        with pymtml.libLoadLock:
            thread, ends = in_thread(lambda: pymtml.nvmlDeviceGetActiveVgpus(device))
            thread.join(PATIENCE)
            assert not ends
        thread.join(10)
        assert ends[0] == pymtml.nvmlDeviceGetActiveVgpus(device) != []


def test_queries_do_not_wait():
    """Neither for the lock nor, therefore, for an initialization that takes its time."""
    with simulated.nvml("s80"):
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        ask = [
            lambda: pymtml.nvmlDeviceGetName(device),
            lambda: pymtml.nvmlDeviceGetMemoryInfo(device).total,
            lambda: pymtml.nvmlDeviceGetUtilizationRates(device).gpu,
            lambda: pymtml.mtmlGpuGetTemperature(device),
            lambda: pymtml.nvmlDeviceGetHandleByIndex(0),
        ]
        before = [question() for question in ask]
        with pymtml.libLoadLock:
            thread, ends = in_thread(lambda: [question() for question in ask])
            thread.join(10)
            assert ends == [before]


def lines_without_the_lock(work, since):
    """Lines of pymtml's code that work() runs without holding the lock between the first native call of `since`, with
    which it begins, and its end."""
    found = []

    def trace(frame, event, argument):
        if frame.f_code.co_filename != pymtml.__file__:
            return None
        if event == "line" and simulated.calls(since) and not pymtml.libLoadLock._is_owned():
            found.append((frame.f_code.co_name, frame.f_lineno))
        return trace

    simulated.reset_calls()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return found


@pytest.mark.parametrize("mode", [1, 0])
def test_change_of_mig_mode_is_one_step_for_others(mode):
    """From the change itself to the library's return nobody else gets in; then only the result is handed back."""
    with simulated.nvml("s80"):
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        if not mode:
            pymtml.nvmlDeviceSetMigMode(device, 1)
            device = pymtml.nvmlDeviceGetHandleByIndex(0)
        exposed = lines_without_the_lock(
            lambda: pymtml.nvmlDeviceSetMigMode(device, mode), since="mtmlDeviceSetMpcMode"
        )
        assert {name for name, _ in exposed} <= {"nvmlDeviceSetMigMode"} and len(exposed) == 1, exposed


def test_log_is_set_in_one_step_for_others():
    """C's callback and what keeps it alive change together."""
    configuration = pymtml.c_mtmlLogConfiguration_t()
    configuration.callbackConfig.callback = pymtml._mtmlLogCallback_t(lambda text, length: None)
    assert (
        lines_without_the_lock(lambda: pymtml.mtmlLogSetConfiguration(configuration), "mtmlLogSetConfiguration") == []
    )
    pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t())


def test_child_of_a_fork_during_another_threads_init():
    """The thread that was initializing does not exist in the child, so neither does its reference."""

    def child():
        assert pymtml._nvmlLib_refcount == 0
        for call in (pymtml.nvmlDeviceGetCount, pymtml.nvmlShutdown):
            with pytest.raises(pymtml.NVMLError_Uninitialized):
                call()
        pymtml.nvmlInit()
        assert (pymtml._nvmlLib_refcount, pymtml.nvmlDeviceGetCount()) == (1, 1)
        pymtml.nvmlShutdown()
        assert pymtml._nvmlLib_refcount == 0

    with simulated.machine("s80", latency_ns=1_500_000_000):
        thread, ends = in_thread(pymtml.nvmlInit)
        time.sleep(0.3)
        assert not ends, "the init was over before the fork"
        del os.environ["MTML_SIM_LATENCY_NS"]
        assert in_child(child) == 0
        thread.join(10)
        assert ends == [None] and pymtml._nvmlLib_refcount == 1
        pymtml.nvmlShutdown()
