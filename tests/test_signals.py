"""Signal handlers in the middle of an init, a shutdown or a change: that raise, before every line and by timers, that
query, and that init and shut down themselves.

Whatever is interrupted, the references, the life and the references of the native library agree at once: with a life
there is a native one, without it there is none or the library is kept.
"""

import os
import random
import signal
import sys
import threading

import pytest
import simulated
from concurrency import before_line, in_child
from interpreter import FREE_THREADED, not_on_pypy

import pymtml

ROUNDS = int(os.environ.get("SIGNAL_ROUNDS", "200"))  # of each kind of timer; docs/reliability.md says what was run


class Interruption(BaseException):
    """What the handlers raise: like KeyboardInterrupt, no Exception."""


def raise_it():
    raise Interruption


def interrupted_before(step, work, handler=raise_it):
    """Run work() with handler() before its step-th line of pymtml.py; (function, line), None if it has fewer."""
    return before_line(step, work, handler, Interruption)[1]


def state():
    """(references, whether there is a life, native references)."""
    return pymtml._nvmlLib_refcount, pymtml._session.life is not None, simulated.references()


def assert_agreement(where):
    references, alive, native = state()
    assert (references > 0) == alive and native in (0, 1) and native >= alive, (where, state())
    assert alive or not pymtml._session.native.held or native, (where, state())


def shut_down_all(where):
    """Shut down until there is nothing to shut down; then a life by MTML's names leaves nothing in C."""
    while True:
        try:
            pymtml.nvmlShutdown()
        except pymtml.NVMLError_Uninitialized:
            break
    pymtml.mtmlLibraryInit()
    pymtml.mtmlLibraryShutDown()
    if threading.active_count() == 1:
        assert state() == (0, False, 0) and simulated.library.mtmlSimGetHandleCount() == 0, where


def assert_other_threads_go_on(step, where):
    """The interrupted thread holds no lock: another one, which every tenth step has, begins and ends a life."""
    assert not [name for name, lock in vars(pymtml._locks).items() if lock._is_owned()], where
    if step % 10 != 1:
        return
    names = []

    def work():
        pymtml.nvmlInit()
        names.append(pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(0)))
        pymtml.nvmlShutdown()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    kept = FREE_THREADED and pymtml._session.native.outdated  # and cannot be restarted while this thread is there
    assert len(names) == 1 or kept, where


def init_and_query():
    pymtml.nvmlInit()
    device = pymtml.nvmlDeviceGetHandleByIndex(1)
    pymtml.nvmlDeviceGetUtilizationRates(device), pymtml.nvmlDeviceGetMemoryInfo(device)


def change_mig():
    pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), 0)


def after(*steps):
    return lambda: [step() for step in steps]


SCENES = {  # what came before, what is interrupted, the fewest lines that this runs; faults of C
    "the first init": (after(), pymtml.nvmlInit, 30, ""),
    "the native first init": (after(), pymtml.mtmlLibraryInit, 30, ""),
    "an init that fails": (after(), pymtml.nvmlInit, 20, "mtmlLibraryInit=DRIVER_FAILURE@0x1"),
    "a further init": (init_and_query, pymtml.nvmlInit, 10, ""),
    "an init after a shutdown": (after(init_and_query, pymtml.nvmlShutdown), pymtml.nvmlInit, 30, ""),
    "an init on what answers no more": (
        after(init_and_query, pymtml.nvmlShutdown),
        pymtml.nvmlInit,
        40,
        "mtmlLibraryCountDevice=TIMEOUT@0x1",
    ),
    "a counted shutdown": (after(init_and_query, pymtml.nvmlInit), pymtml.nvmlShutdown, 10, ""),
    "the last shutdown": (init_and_query, pymtml.nvmlShutdown, 40, ""),
    "the last native shutdown": (init_and_query, pymtml.mtmlLibraryShutDown, 60, ""),
    "a shutdown that fails": (init_and_query, pymtml.mtmlLibraryShutDown, 60, "mtmlLibraryShutDown=DRIVER_FAILURE@0x1"),
    "a shutdown without an init": (after(), pymtml.nvmlShutdown, 5, ""),
    "a change of MIG": (after(pymtml.nvmlInit, init_and_query), change_mig, 60, ""),
    "a refused change": (init_and_query, change_mig, 50, "mtmlDeviceSetMpcMode=NO_PERMISSION"),
    "a reset": (init_and_query, lambda: pymtml.mtmlDeviceReset(pymtml.nvmlDeviceGetHandleByIndex(1)), 50, ""),
}


ENDINGS = [scene for scene in SCENES if "shutdown" in scene]


@pytest.mark.parametrize("scene, value", [(scene, "") for scene in SCENES] + [(scene, "0") for scene in ENDINGS])
def test_interrupt_before_every_line(scene, value, monkeypatch):
    before, work, lines, faults = SCENES[scene]

    def child():
        step, place = 0, "start"
        while place:
            step += 1
            simulated.library.mtmlSimReload()
            monkeypatch.setenv("PYMTML_KEEP_LIBRARY", value)
            before()
            simulated.set_faults(faults)
            place = interrupted_before(step, work)
            simulated.set_faults("")
            where = scene, step, place
            assert_agreement(where)
            life, card = pymtml._session.life, None
            if life is not None:  # it can be used: no change is under way for good
                assert not life.changing and pymtml.nvmlDeviceGetCount() == 2, where
                card = pymtml.nvmlDeviceGetHandleByIndex(1)
                assert pymtml.nvmlDeviceGetName(card) == "MTT S3000", where
            assert_other_threads_go_on(step, where)
            monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
            shut_down_all(where)
            assert card is None or pymtml._is_stale(card), where
        assert step > lines, step

    with simulated.machine("s3000-mpc"):
        assert in_child(child, 60) == 0


@pytest.mark.parametrize("scene", SCENES)
def test_handler_that_inits_and_shuts_down_before_every_line(scene, monkeypatch):
    """It succeeds, or is refused as it came into the middle of one (InUse); either way the counts are right."""
    before, work, lines, faults = SCENES[scene]
    outcomes = set()

    def handler():
        try:
            pymtml.nvmlInit()
        except pymtml.NVMLError_InUse:
            outcomes.add("InUse")
            pytest.raises((pymtml.NVMLError_InUse, pymtml.NVMLError_Uninitialized), pymtml.nvmlShutdown)
            return
        pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(1))
        pymtml.nvmlShutdown()
        outcomes.add("answered")

    def child():
        step, place, expected = 0, "start", None
        while place:
            step += 1
            simulated.library.mtmlSimReload()
            before()
            simulated.set_faults(faults)
            place = interrupted_before(step, work, lambda: simulated.set_faults("") or handler())
            simulated.set_faults("")
            assert_agreement((scene, step, place))
            assert not place or expected in (None, pymtml._nvmlLib_refcount) or faults, (scene, step, place)
            expected = pymtml._nvmlLib_refcount
            shut_down_all((scene, step, place))
        assert step > lines and "InUse" in outcomes, outcomes

    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
    with simulated.machine("s3000-mpc"):
        assert in_child(child, 60) == 0


QUERIES = {  # first uses, things that are kept
    "a sub-handle": lambda device: pymtml.nvmlDeviceGetUtilizationRates(device),
    "the system": lambda device: pymtml.nvmlSystemGetDriverVersion(),
    "a name": lambda device: pymtml.nvmlDeviceGetName(device),
    "a PCI address": lambda device: pymtml.nvmlDeviceGetPciInfo(device).busId,
    "a log": lambda device: pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t()),
    "a function": lambda device: pymtml._mtmlGetFunctionPointer("mtmlDeviceGetName"),
}


@pytest.mark.parametrize("query", QUERIES)
def test_interrupt_before_every_line_of_a_query(query):
    """No lock stays held, and the query answers when it is asked again."""
    with simulated.machine("s5000x8"):
        step, place = 0, "start"
        while place:
            step += 1
            pymtml._mtmlGetFunctionPointer_cache.clear()
            pymtml.nvmlInit()
            device = pymtml.nvmlDeviceGetHandleByIndex(0)
            place = interrupted_before(step, lambda: QUERIES[query](device))
            assert state() == (1, True, 1), (step, place)
            assert_other_threads_go_on(step, place)
            QUERIES[query](device)
            pymtml.mtmlLibraryShutDown()
            assert state() == (0, False, 0)
            left = [slot for slot in device.__slots__ if slot not in ("_address", "_of") and hasattr(device, slot)]
            assert not left, (left, step, place)
        assert step > 5


@pytest.mark.parametrize(
    "scene", ["the first init", "an init after a shutdown", "the last shutdown", "a change of MIG"]
)
def test_handlers_that_query_get_answers_while_the_library_counts_as_initialized(scene):
    before, work, lines, _ = SCENES[scene]
    queries = {
        pymtml.nvmlDeviceGetCount: (),
        pymtml.nvmlDeviceGetHandleByUUID: (simulated.device_keys("s3000-mpc", 1)["uuid"],),
        pymtml.nvmlSystemGetDriverVersion: (),
        pymtml.nvmlUnitGetCount: (),
    }
    answers = []

    def ask():
        references = pymtml._nvmlLib_refcount
        for query, arguments in queries.items():
            try:
                query(*arguments)
                answers.append(True)
            except pymtml.NVMLError_Uninitialized:
                assert not references, query
                answers.append(False)
            except pymtml.NVMLError_InUse:
                assert scene == "a change of MIG"

    def trace(frame, event, argument):
        if frame.f_code.co_filename != pymtml.__file__:
            return None
        if event == "line":
            ask()  # as a handler would: what it runs is not traced
        return trace

    with simulated.machine("s3000-mpc"):
        before()
        ask()
        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(None)
        ask()
    assert len(answers) > lines and answers[0] is (scene.startswith(("the last", "a change")))
    assert answers[-1] is not (scene == "the last shutdown")


@not_on_pypy.interrupt
@pytest.mark.parametrize("names", ["nvml", "mtml"])
@pytest.mark.parametrize("latency", [0, 300000])
def test_timers(latency, names, monkeypatch):
    """Init and shutdown, broken off by a timer that may ring while C is running."""
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
    numbers = random.Random(latency)
    init, shutdown = (
        (pymtml.nvmlInit, pymtml.nvmlShutdown)
        if names == "nvml"
        else (pymtml.mtmlLibraryInit, pymtml.mtmlLibraryShutDown)
    )
    armed = []

    def ring(number, frame):
        if armed:
            raise Interruption

    def child():
        interrupted = 0
        signal.signal(signal.SIGALRM, ring)
        for number in range(ROUNDS):
            try:
                armed[:] = [True]
                signal.setitimer(signal.ITIMER_REAL, numbers.uniform(0.00001, 0.00003 + 4 * latency * 1e-9))
                init(), init(), shutdown(), shutdown()
                signal.setitimer(signal.ITIMER_REAL, 0)
                del armed[:]  # it may have rung at the last moment, and be heard only now
            except Interruption:
                interrupted += 1
            del armed[:]
            assert_agreement(number)
            if number % 2:
                shut_down_all(number)
        print("interrupted %d of %d" % (interrupted, ROUNDS))
        assert interrupted > ROUNDS // 20
        shut_down_all("the end")
        assert_other_threads_go_on(1, "the end")

    with simulated.machine("s5000x8", latency_ns=latency):
        assert in_child(child, 30 + ROUNDS // 100) == 0


class Losing:
    """A lock that `with` leaves held when a handler raises at its end, as CPython's to 3.9 and of 3.14 may."""

    def __init__(self, counts):
        self.lock, self.depth, self.loses = pymtml._thread.RLock(), 0, True
        self._is_owned = self.lock._is_owned
        if counts:
            self._recursion_count = lambda: self.depth

    def __enter__(self):
        self.lock.acquire()
        self.depth += 1

    def __exit__(self, *exception):
        if self.loses:
            self.loses = False
            raise Interruption
        self.release()

    def release(self):
        self.depth -= 1
        self.lock.release()


LOCKED = {  # what takes each lock
    "lifecycle": lambda device: pymtml.nvmlInit(),
    "log": lambda device: pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t()),
    "walk": pymtml.nvmlDeviceGetComputeRunningProcesses,
    "lock": pymtml.nvmlDeviceGetTotalEnergyConsumption,
}


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("name", LOCKED)
def test_a_lock_that_loses_a_release(name, counts, monkeypatch):
    """Whoever held it before still does, as often as before."""
    monkeypatch.setenv("PYMTML_ENERGY", "sample")
    monkeypatch.setattr(pymtml._thread, "start_new_thread", lambda *arguments: None)  # it would take the lock as well
    with simulated.nvml("s80"):
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        pymtml.nvmlDeviceGetTotalEnergyConsumption(device)
        lock, owner = Losing(counts), pymtml._locks
        if name == "lock":
            (owner,) = pymtml._meters.values()
        monkeypatch.setattr(owner, name, lock)
        pytest.raises(Interruption, LOCKED[name], device)
        assert not lock.loses and lock.depth == 0 and not lock._is_owned()
        if counts and name != "lock":  # a meter does nothing in a handler that interrupted it
            with lock.lock:
                lock.depth, lock.loses = 1, True
                pytest.raises(Interruption, LOCKED[name], device)
                assert lock.depth == 1 and lock._is_owned()
                lock.depth = 0
        simulated.shut_down()
    pymtml._meters.clear()
