"""Exceptions that a signal handler raises in the middle of an init or a shutdown: before every line, and by timers.

Whatever is interrupted, the references, the life of the library and the references of the native library agree at once,
and shutting down until nothing is left leaves nothing in C.
"""

import os
import random
import signal
import sys
import threading

import pytest
import simulated
from concurrency import in_child
from interpreter import FREE_THREADED, not_on_pypy

import pymtml

ROUNDS = int(os.environ.get("SIGNAL_ROUNDS", "1000"))  # of each kind of timer; docs/reliability.md says what was run


@pytest.fixture(autouse=True)
def _nothing_stays():
    """A test that fails leaves no library behind for the next one."""
    yield
    simulated.shut_down()


class Interruption(BaseException):
    """What the handlers raise: like KeyboardInterrupt, no Exception."""


def interrupted_before(step, work):
    """Run work() and raise before its step-th line of pymtml.py; (function, line), None if it has fewer."""
    left, place = [step], []

    def trace(frame, event, argument):
        if frame.f_code.co_filename != pymtml.__file__:
            return None
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                place.append((frame.f_code.co_name, frame.f_lineno))
                raise Interruption
        return trace

    sys.settrace(trace)
    try:
        work()
    except (Interruption, pymtml.NVMLError):
        pass  # some of the work ends in an error anyway
    finally:
        sys.settrace(None)
    return place[0] if place else None


def state():
    """(references, whether there is a life, native references)."""
    return pymtml._nvmlLib_refcount, pymtml._session.life is not None, simulated.references()


def assert_agreement(where):
    references, alive, native = state()
    assert (references > 0) == alive == (native == 1) and native in (0, 1), (where, state())


def shut_down_all(where):
    """Shut down until there is nothing to shut down; no init comes in between."""
    while True:
        try:
            pymtml.nvmlShutdown()
        except pymtml.NVMLError_Uninitialized:
            break
    assert state() == (0, False, 0), where


def assert_other_threads_go_on(where):
    """The interrupted thread holds no lock: another one initializes, queries and shuts down."""
    names = []

    def work():
        pymtml.nvmlInit()
        names.append(pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(0)))
        pymtml.nvmlShutdown()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    assert len(names) == 1, where
    if FREE_THREADED and not pymtml._nvmlLib_refcount:
        simulated.shut_down()  # it is kept, as this thread was there


def init_and_query():
    pymtml.nvmlInit()
    device = pymtml.nvmlDeviceGetHandleByIndex(0)
    pymtml.nvmlDeviceGetUtilizationRates(device), pymtml.nvmlDeviceGetEncoderUtilization(device)


SCENES = {  # what came before, what is interrupted, the fewest lines that this runs
    "the first init": (lambda: None, pymtml.nvmlInit, 30),
    "the native first init": (lambda: None, pymtml.mtmlLibraryInit, 30),
    "a further init": (init_and_query, pymtml.nvmlInit, 10),
    "a counted shutdown": (lambda: (init_and_query(), pymtml.nvmlInit()), pymtml.nvmlShutdown, 10),
    "the last shutdown": (init_and_query, pymtml.nvmlShutdown, 60),
    "the last native shutdown": (init_and_query, pymtml.mtmlLibraryShutDown, 60),
    "a shutdown without an init": (lambda: None, pymtml.nvmlShutdown, 5),
    "an init after a shutdown": (lambda: (init_and_query(), pymtml.nvmlShutdown()), pymtml.nvmlInit, 30),
}


@pytest.mark.parametrize("kept", ["", "1"])
@pytest.mark.parametrize("scene", SCENES)
def test_interrupt_before_every_line(scene, kept, monkeypatch):
    before, work, lines = SCENES[scene]
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", kept)

    def child():  # of its own, as a kept library stays for the life of a process
        step, place = 0, "start"
        while place:
            step += 1
            before()
            place = interrupted_before(step, work)
            where = scene, step, place
            if kept:
                references, alive, native = state()
                assert (references > 0) == alive and native in (0, 1), (where, state())
                assert not alive or native, where
                while pymtml._nvmlLib_refcount:
                    pymtml.nvmlShutdown()
                assert simulated.references() <= 1, where
            else:
                assert_agreement(where)
                shut_down_all(where)
            assert_other_threads_go_on(where)
        assert step > lines

    with simulated.machine("s5000x8"):
        assert in_child(child) == 0


def test_interrupt_before_every_line_of_an_init_on_a_kept_library(monkeypatch):
    """What was kept is given back once, however many lives it had."""

    def child():
        step, place = 0, "start"
        while place:
            step += 1
            monkeypatch.setenv("PYMTML_KEEP_LIBRARY", "1")
            init_and_query()
            pymtml.nvmlShutdown()
            assert state() == (0, False, 1)
            monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
            place = interrupted_before(step, pymtml.nvmlInit)
            init_and_query()
            shut_down_all(place)
        assert step > 30

    with simulated.machine("s5000x8"):
        assert in_child(child) == 0


def test_interrupt_before_every_line_of_a_shutdown_that_fails():
    """C refuses the shutdown: the library stays initialized, with its reference."""
    with simulated.machine("s5000x8"):
        step, place = 0, "start"
        while place:
            step += 1
            init_and_query()
            simulated.set_faults("mtmlLibraryShutDown=DRIVER_FAILURE@0x1")
            place = interrupted_before(step, pymtml.nvmlShutdown)
            assert state() == (1, True, 1), (step, place)
            simulated.set_faults("")
            shut_down_all((step, place))
            assert_other_threads_go_on((step, place))


def test_interrupt_before_every_line_of_an_init_that_fails():
    with simulated.machine("s5000x8"):
        step, place = 0, "start"
        while place:
            step += 1
            simulated.set_faults("mtmlLibraryInit=DRIVER_FAILURE@0x1")
            place = interrupted_before(step, pymtml.nvmlInit)
            assert state() == (0, False, 0), (step, place)
            simulated.set_faults("")
            shut_down_all((step, place))
            assert_other_threads_go_on((step, place))


def test_interrupt_before_every_line_of_a_change_of_mig():
    with simulated.machine("s3000-mpc"):
        step, place = 0, "start"
        while place:
            step += 1
            pymtml.nvmlInit()
            pymtml.nvmlInit()
            device = pymtml.nvmlDeviceGetHandleByIndex(0)
            mode = 1 - pymtml.nvmlDeviceGetMigMode(device)[0]
            place = interrupted_before(step, lambda: pymtml.nvmlDeviceSetMigMode(device, mode))
            assert_agreement((step, place))
            assert pymtml._nvmlLib_refcount in (0, 2), (step, place)
            shut_down_all((step, place))
            assert_other_threads_go_on((step, place))
        assert step > 50


QUERIES = {  # what takes the lock: first uses, things that are kept
    "a sub-handle": lambda device: pymtml.nvmlDeviceGetUtilizationRates(device),
    "the system": lambda device: pymtml.nvmlSystemGetDriverVersion(),
    "a name": lambda device: pymtml.nvmlDeviceGetName(device),
    "a PCI address": lambda device: pymtml.nvmlDeviceGetPciInfo(device).busId,
    "a log": lambda device: pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t()),
    "a function": lambda device: pymtml._mtmlGetFunctionPointer("mtmlDeviceGetName"),
}


@pytest.mark.parametrize("query", QUERIES)
def test_interrupt_before_every_line_of_a_query(query):
    """The lock is free afterwards, and the query answers when it is asked again."""
    with simulated.machine("s5000x8"):
        step, place = 0, "start"
        while place:
            step += 1
            pymtml._mtmlGetFunctionPointer_cache.clear()
            pymtml.nvmlInit()
            device = pymtml.nvmlDeviceGetHandleByIndex(0)
            place = interrupted_before(step, lambda: QUERIES[query](device))
            assert state() == (1, True, 1), (step, place)
            assert_other_threads_go_on((step, place))
            QUERIES[query](device)
            shut_down_all((step, place))
        assert step > 5


@pytest.mark.parametrize("scene", ["the first init", "an init after a shutdown", "the last shutdown"])
def test_handlers_that_query_get_answers_while_the_library_counts_as_initialized(scene):
    before, work, lines = SCENES[scene]
    queries = {
        pymtml.nvmlDeviceGetCount: (),
        pymtml.nvmlDeviceGetHandleByUUID: (simulated.device_keys("s5000x8", 0)["uuid"],),
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

    def trace(frame, event, argument):
        if frame.f_code.co_filename != pymtml.__file__:
            return None
        if event == "line":
            ask()  # as a handler would: what it runs is not traced
        return trace

    with simulated.machine("s5000x8"):
        before()
        ask()
        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(None)
        ask()
    assert len(answers) > lines and answers[0] is not answers[-1]


@not_on_pypy.interrupt
@pytest.mark.parametrize("latency", [0, 300000])
def test_timers(latency):
    """Init and shutdown, broken off by a timer that may ring while C is running."""
    numbers = random.Random(latency)

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
                pymtml.nvmlInit()
                pymtml.nvmlInit()
                pymtml.nvmlShutdown()
                pymtml.nvmlShutdown()
                signal.setitimer(signal.ITIMER_REAL, 0)
                del armed[:]  # it may have rung at the last moment, and be heard only now
            except Interruption:
                interrupted += 1
            assert_agreement(number)
            if number % 2:
                shut_down_all(number)
        print("interrupted %d of %d" % (interrupted, ROUNDS))
        assert interrupted > ROUNDS // 10
        shut_down_all("the end")
        while sys.version_info < (3, 10) and pymtml.libLoadLock._is_owned():
            pymtml.libLoadLock.release()  # these CPythons may keep the lock of a `with`: docs/reliability.md, Limits
        assert_other_threads_go_on("the end")

    with simulated.machine("s5000x8", latency_ns=latency):
        assert in_child(child) == 0


@not_on_pypy.interrupt
def test_handlers_that_query_and_then_raise():
    """The handler initializes and queries itself before it raises: its reference stays, and the program's."""
    numbers = random.Random(7)

    def ring(number, frame):
        pymtml.nvmlInit()
        pymtml.nvmlDeviceGetTemperature(pymtml.nvmlDeviceGetHandleByIndex(1), 0)
        raise Interruption

    def child():
        interrupted = 0
        signal.signal(signal.SIGALRM, ring)
        for number in range(ROUNDS // 4):
            try:
                signal.setitimer(signal.ITIMER_REAL, numbers.uniform(0.00001, 0.0008))
                pymtml.nvmlInit()
                pymtml.nvmlShutdown()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interruption:
                interrupted += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            references, alive, native = state()
            assert (references > 0) == alive and (native > 0) == alive, (number, state())
            shut_down_all(number)
        assert interrupted > ROUNDS // 40

    with simulated.machine("s5000x8", latency_ns=100000):
        assert in_child(child) == 0
