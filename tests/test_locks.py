"""Who waits for whom: load, init, shutdown and changes of MPC for each other, queries for nobody, and none for a card
that hangs."""

import contextlib
import os

import native_calls
import pytest
import simulated
from concurrency import Hang, before_line, elsewhere, held, in_child, in_thread
from interpreter import FREE_THREADED

import pymtml

PATIENCE = 0.15  # seconds in which a call that waits for nothing would have returned many times
PROMPT = 10  # seconds within which it returns on a busy machine


# What takes the lock: {name: call with a device}.
LOCKED = {
    "init": lambda device: pymtml.mtmlLibraryInit(),
    "nvmlInit": lambda device: pymtml.nvmlInit(),
    "shutdown": lambda device: pymtml.mtmlLibraryShutDown(),
    "nvmlShutdown": lambda device: pymtml.nvmlShutdown(),
    "reset": lambda device: pymtml.mtmlDeviceReset(device),
    "MPC": lambda device: pymtml.mtmlDeviceSetMpcMode(device, 1),
    "MIG": lambda device: pymtml.nvmlDeviceSetMigMode(device, 1),
}
CHANGES = ("reset", "MPC", "MIG")


@pytest.mark.parametrize("name", sorted(LOCKED))
def test_waits_for_the_lock(name):
    if FREE_THREADED and name in CHANGES:
        pytest.skip("without a GIL it is refused while there are other threads")
    with simulated.nvml("s80"):
        device = pymtml.mtmlLibraryInitDeviceByIndex(0)
        with pymtml.libLoadLock:
            thread, ends = in_thread(lambda: LOCKED[name](device))
            thread.join(PATIENCE)
            assert not ends, "did not wait"
        thread.join(PROMPT)
        assert len(ends) == 1 and not isinstance(ends[0], BaseException), ends
        simulated.shut_down()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("name", ["lifecycle", "log", "walk"])
def test_a_child_does_not_wait_for_its_parents_locks(name):
    """Programs take nvidia-ml-py's name for the first."""

    def take():
        assert getattr(pymtml._locks, name).acquire(timeout=5)  # the parent's thread holds it, and is not here
        assert pymtml.libLoadLock is pymtml._locks.lifecycle

    with held(getattr(pymtml._locks, name)):
        assert in_child(take, seconds=10) == 0


FREE = {  # what does not, also when it is asked for the first time: {name: (machine, call with a device)}
    "name": ("s80", pymtml.nvmlDeviceGetName),
    "gpu": ("s80", pymtml.mtmlDeviceInitGpu),
    "memory": ("s80", lambda device: pymtml.nvmlDeviceGetMemoryInfo(device).total),
    "vpu": ("s80", pymtml.mtmlVpuGetClock),
    "system": ("s80", lambda device: pymtml.mtmlLibraryInitSystem()),
    "driver": ("s80", lambda device: pymtml.nvmlSystemGetDriverVersion()),
    "count": ("s3000-mpc", lambda device: pymtml.nvmlDeviceGetCount()),
    "index": ("s3000-mpc", pymtml.nvmlDeviceGetIndex),
    "handle": ("s80", lambda device: pymtml.nvmlDeviceGetHandleByIndex(0)),
    "vgpus": ("s3000-vgpu-host", pymtml.nvmlDeviceGetActiveVgpus),
    "log": ("s80", lambda device: pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t())),
    "function": ("s80", lambda device: pymtml._mtmlGetFunctionPointer("mtmlDeviceGetName") is None),
}


@pytest.mark.parametrize("name", sorted(FREE))
def test_queries_do_not_wait(name):
    """Neither for the lock nor, therefore, for an initialization that takes its time."""
    machine, ask = FREE[name]
    with simulated.nvml(machine):
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        with pymtml.libLoadLock:
            thread, ends = in_thread(lambda: ask(device))
            thread.join(PROMPT)
            assert ends == [ask(device)]


def test_vgpus_get_one_number_each_from_threads_at_once():
    step, begun = 0, True
    while begun:
        step += 1
        with simulated.nvml("s3000-vgpu-host"):
            device, others = pymtml.nvmlDeviceGetHandleByIndex(0), []
            numbers, begun = before_line(
                step,
                lambda: pymtml.nvmlDeviceGetActiveVgpus(device),
                lambda: elsewhere(lambda: others.append(pymtml._vgpu_number(device, "another"))),
            )
            others.append(pymtml._vgpu_number(device, "another"))
            assert len(set(numbers)) == len(numbers) > 1 and len(set(others)) == 1 and others[0] not in numbers, step
            assert pymtml.nvmlDeviceGetActiveVgpus(device) == numbers, step
    assert step > 20


# ---- A card that hangs ----

# What may hold up others: what is called under the lock, and the questions of the library itself.
EXCEPTED = native_calls.LIFECYCLE + native_calls.CHANGES + ("mtmlLibraryCountDevice", "mtmlLibraryGetVersion")
HANGING = sorted(
    name
    for name in native_calls.CALLS
    if name not in EXCEPTED + native_calls.FREES
    and "System" not in name
    and not name.startswith(("mtmlLog", "mtmlErr"))
)


def others_go_on(card):
    """What does not concern the card that hangs: the other ones, in this life and the next, by either name."""
    for index in () if card is None else (card,):
        device = pymtml.nvmlDeviceGetHandleByIndex(index)
        uuid = pymtml.nvmlDeviceGetUUID(device)
        pymtml.nvmlDeviceGetName(device), pymtml.nvmlDeviceGetTemperature(device, 0), pymtml.nvmlDeviceGetCount()
        for query in (pymtml.nvmlDeviceGetMemoryInfo, pymtml.nvmlDeviceGetUtilizationRates, pymtml.mtmlVpuGetClock):
            with contextlib.suppress(pymtml.NVMLError_NotSupported):  # of a host that gives its cards away
                query(device)
    for init, shutdown in (
        (pymtml.nvmlInit, pymtml.nvmlShutdown),
        (pymtml.mtmlLibraryInit, pymtml.mtmlLibraryShutDown),
    ):
        init(), shutdown(), shutdown()
        pytest.raises(pymtml.NVMLError_Uninitialized, shutdown)
        init()
        if card is not None:
            assert pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByUUID(uuid))


@pytest.mark.parametrize("name", HANGING)
def test_card_that_hangs_holds_up_nobody_else(name, monkeypatch):
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
    call = native_calls.CALLS[name]
    machine, index = call.machines[-1]
    with native_calls.Scene(machine, index) as scene:
        other = next((card for card in range(pymtml.nvmlDeviceGetCount()) if card != scene.card), None)
        hang = Hang(name, call.arguments(scene))
        monkeypatch.setattr(pymtml._c, name, hang)
        stuck, _ = in_thread(hang.call)
        try:
            assert hang.inside.wait(PROMPT)
            thread, ends = in_thread(lambda: others_go_on(other))
            thread.join(PROMPT)
            assert ends == [None] and not hang.again, (ends, hang.again)
        finally:
            hang.over.set()
            stuck.join(PROMPT)


def test_child_of_a_fork_during_another_threads_init(monkeypatch):
    """The thread that was initializing does not exist in the child, so neither does its reference."""

    def child():
        assert pymtml._nvmlLib_refcount == 0
        for call in (pymtml.nvmlDeviceGetCount, pymtml.nvmlShutdown):
            pytest.raises(pymtml.NVMLError_Uninitialized, call)
        pymtml.nvmlInit()
        assert (pymtml._nvmlLib_refcount, pymtml.nvmlDeviceGetCount()) == (1, 1)
        pymtml.nvmlShutdown()
        assert pymtml._nvmlLib_refcount == 0

    with simulated.machine("s80"):
        pymtml._load()
        hang = Hang("mtmlLibraryInit", ())
        monkeypatch.setattr(pymtml._c, "mtmlLibraryInit", hang)
        thread, ends = in_thread(pymtml.nvmlInit)
        assert hang.inside.wait(60)
        assert in_child(child) == 0
        hang.over.set()
        thread.join(60)
        assert ends == [None] and pymtml._nvmlLib_refcount == 1
        pymtml.nvmlShutdown()
