"""What changes the library's state waits for whoever holds the lock, and keeps others out while it is at it."""

import os
import sys
import time

import pytest
import simulated
from concurrency import in_child, in_thread

import pymtml

PATIENCE = 0.15  # seconds in which a call that waits for nothing would have returned many times


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
        simulated.shut_down()


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


def state():
    """What belongs to the library and its lives, and changes as a whole, to compare."""
    lives = [
        (id(life), len(life.tokens), life.kept, list(life.others), list(life.vgpus))
        + tuple(len(value) for value in vars(life.native).values() if isinstance(value, list))
        for life in pymtml._session.lives
    ]
    published = {name: id(getattr(pymtml._published, name, None)) for name in pymtml._published.__slots__}
    return lives, published


def changes_without_the_lock(work):
    """Lines of pymtml's code that change the state of the library while the lock is free, as work() runs them."""
    found, last = [], [state(), None, True]  # the state before a line, the line, whether it began with the lock

    def trace(frame, event, argument):
        if frame.f_code.co_filename != pymtml.__file__:
            return None
        now = state()
        if now != last[0] and not last[2]:
            found.append(last[1])
        last[:] = now, (frame.f_code.co_name, frame.f_lineno), pymtml.libLoadLock._is_owned()
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return found


def failing_shutdown():
    simulated.set_faults("mtmlLibraryShutDown=TIMEOUT")
    with pytest.raises(pymtml.MTMLError_Timeout):
        pymtml.mtmlLibraryShutDown()
    simulated.set_faults("")
    pymtml.mtmlLibraryShutDown()


CHANGING = {  # scenarios that begin in a life with a device, its gpu and memory
    "shutdown": lambda device: pymtml.mtmlLibraryShutDown(),
    "failing shutdown": lambda device: failing_shutdown(),
    "init and shutdown": lambda device: (pymtml.mtmlLibraryInit(), pymtml.mtmlLibraryShutDown()),
    "next life": lambda device: (pymtml.mtmlLibraryShutDown(), pymtml.mtmlLibraryInit()),
    "reset": pymtml.mtmlDeviceReset,
    "MIG": lambda device: pymtml.nvmlDeviceSetMigMode(device, 1),
    "vpu": pymtml.mtmlDeviceInitVpu,
    "system": lambda device: pymtml.mtmlSystemGetDriverVersion(),
}


@pytest.mark.parametrize("name", CHANGING)
def test_state_changes_under_the_lock_alone(name):
    with simulated.nvml("s80"):
        device = pymtml.mtmlLibraryInitDeviceByIndex(0)
        pymtml.mtmlDeviceInitGpu(device)
        before = state()
        assert changes_without_the_lock(lambda: CHANGING[name](device)) == []
        assert state() != before or name == "init and shutdown"
        simulated.shut_down()


@pytest.mark.parametrize("function", [pymtml.mtmlDeviceReset, lambda device: pymtml.mtmlDeviceSetMpcMode(device, 1)])
def test_handles_are_stale_before_others_learn_that_C_is_done(function):
    name = function.__name__ if function is pymtml.mtmlDeviceReset else "mtmlDeviceSetMpcMode"
    with simulated.nvml("s80"):
        device = pymtml.mtmlLibraryInitDeviceByIndex(0)
        exposed = lines_without_the_lock(lambda: function(device), since=name)
        assert not exposed or not hasattr(device, "_device") and {caller for caller, _ in exposed} <= {"_check"}


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
