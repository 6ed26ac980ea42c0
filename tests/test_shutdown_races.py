"""The last shutdown while other threads query: it waits for them, within bounds, and never frees what C still uses.

The simulator ends the process when a handle reaches it that a shutdown has freed.
"""

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref

import pytest
import simulated
from concurrency import held, in_child, in_thread, over_and_over
from interpreter import FREE_THREADED, KEPT, PYPY, forks_a_busy_process

import pymtml

waits = pytest.mark.skipif(FREE_THREADED, reason="without a GIL the library is kept, and no shutdown waits")
SECONDS = float(os.environ.get("RACE_SECONDS", "2"))  # of each race; docs/reliability.md says what was run


@pytest.fixture(autouse=True)
def _nothing_stays():
    """No library is left behind for the next test, by one that fails or by one whose threads were there to the last."""
    yield
    simulated.shut_down()


def questions(device):
    """One round of what monitors ask: single calls, several calls, lists, pairs."""
    pymtml.nvmlDeviceGetUtilizationRates(device)
    pymtml.nvmlDeviceGetMemoryInfo(device)
    pymtml.nvmlDeviceGetEncoderUtilization(device)
    pymtml.nvmlDeviceGetTopologyNearestGpus(device, pymtml.NVML_TOPOLOGY_SYSTEM)
    pymtml.nvmlDeviceGetNvLinkRemotePciInfo(device, 0)
    pymtml.nvmlDeviceGetP2PStatus(device, pymtml.nvmlDeviceGetHandleByIndex(7), pymtml.NVML_P2P_CAPS_INDEX_NVLINK)
    pymtml.nvmlDeviceGetFieldValues(device, [pymtml.NVML_FI_DEV_POWER_INSTANT, pymtml.NVML_FI_DEV_MEMORY_TEMP])
    pymtml.mtmlDeviceGetMtLinkShortestPaths(device, pymtml.mtmlLibraryInitDeviceByIndex(1))


def under_way(work):
    """in_thread(work), when that has come to a library that takes a tenth of a second and more for a call."""
    begun = threading.Event()

    def run():
        begun.set()
        return work()

    thread, ends = in_thread(run)
    assert begun.wait(30)
    time.sleep(0.05)
    return thread, ends


class Queries:
    """Threads that query all the time; what they saw besides answers and stale handles is kept."""

    def __init__(self, count=4):
        self.answered, self.unexpected, self.over = 0, [], False
        self.threads = [threading.Thread(target=self.work, args=(number,), daemon=True) for number in range(count)]

    def work(self, number):
        while not self.over:
            try:
                questions(pymtml.nvmlDeviceGetHandleByIndex(number))
                self.answered += 1
            except (pymtml.NVMLError_Uninitialized, pymtml.NVMLError_InvalidArgument):
                time.sleep(0.0002)  # between two lives, or with a handle of the last one
            except BaseException as error:
                self.unexpected.append(error)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *exception):
        self.over = True
        for thread in self.threads:
            thread.join(30)
        stuck = [sys._current_frames()[thread.ident] for thread in self.threads if thread.is_alive()]
        assert not stuck, "".join(line for frame in stuck for line in traceback.format_stack(frame))
        assert self.unexpected == []


@pytest.mark.parametrize("latency", [0, 20000, 200000])
def test_lives_under_querying_threads(latency):
    def child():
        lives, end = 0, time.monotonic() + SECONDS
        with Queries() as queries:
            while time.monotonic() < end:
                pymtml.nvmlInit()
                time.sleep(0.004 + 400 * latency * 1e-9)
                pymtml.nvmlShutdown()
                assert simulated.references() == KEPT
                assert KEPT or simulated.library.mtmlSimGetHandleCount() == 0
                lives += 1
        print("%d lives, %d rounds of questions" % (lives, queries.answered))
        assert lives > 3 and queries.answered > 3

    with simulated.machine("s5000x8", latency_ns=latency):
        assert in_child(child, SECONDS + 30) == 0


def test_threads_that_end_lives_under_querying_threads():
    """Several threads hold references of their own; whoever gives the last one back waits for the questions."""

    def turn(number):
        pymtml.nvmlInit()
        assert pymtml.nvmlDeviceGetCount() == 8
        pymtml.nvmlShutdown()

    def child():
        with Queries(2), over_and_over(turn, 3):
            time.sleep(SECONDS)
        assert pymtml._nvmlLib_refcount == 0 and (KEPT or simulated.references() == 0)

    with simulated.machine("s5000x8", latency_ns=20000):
        assert in_child(child, SECONDS + 30) == 0


def card(index):
    return pymtml.nvmlDeviceGetHandleByIndex(index)


QUERIES = {  # of several steps: the machine, what is asked, and what of the answer outlasts the library
    "count": ("s3000-mpc", pymtml.nvmlDeviceGetCount, int),
    "index": ("s3000-mpc", lambda: card(1), type),
    "instance": ("s3000-mpc", lambda: pymtml.nvmlDeviceGetMigDeviceHandleByIndex(card(0), 1), type),
    "neighbors": ("s3000x2", lambda: pymtml.nvmlDeviceGetTopologyNearestGpus(card(0), 50), len),
    "pair": (
        "s5000x8",
        lambda: pymtml.nvmlDeviceGetP2PStatus(card(0), card(1), pymtml.NVML_P2P_CAPS_INDEX_NVLINK),
        int,
    ),
    "links": ("s5000x8", lambda: pymtml.nvmlDeviceGetFieldValues(card(0), [pymtml.NVML_FI_DEV_NVLINK_GET_STATE]), len),
    "processor": ("s3000x2", lambda: pymtml.nvmlSystemGetTopologyGpuSet(0), len),
    "link": ("s5000x8", lambda: pymtml.nvmlDeviceGetNvLinkRemotePciInfo(card(0), 0), bytes),
    "processes": ("s3000x2", lambda: pymtml.nvmlDeviceGetComputeRunningProcesses(card(0)), len),
    "table": ("s3000x2", lambda: [len(pymtml.nvmlDeviceGetProcessUtilization(card(1), 0)) for _ in range(2)], list),
    "virtual devices": ("s3000-vgpu-host", lambda: pymtml.nvmlDeviceGetActiveVgpus(card(0)), list),
    "virtual device": ("s3000-vgpu-host", lambda: pymtml.nvmlVgpuInstanceGetType(1), int),
}


def with_shutdown_before(step, ask, shut_down=pymtml.nvmlShutdown, is_over=lambda: pymtml._session.life is None):
    """(answer or class of the error of ask(), whether another thread began to shut down before its step-th line)."""
    left, begun = [step], []

    def trace(frame, event, argument):
        if frame.f_code.co_filename != pymtml.__file__:
            return None
        left[0] -= event == "line"
        if left[0] == 0 and not begun:
            begun.append(threading.Thread(target=shut_down))
            begun[0].start()
            # It has come as far as it can: it needs the lock, which the query may hold, and waits for the query.
            while not is_over() and begun[0].is_alive() and not pymtml.libLoadLock._is_owned():
                time.sleep(0.0001)
        return trace

    sys.settrace(trace)
    try:
        answer = ask()
    except pymtml.NVMLError as error:
        answer = type(error)
    finally:
        sys.settrace(None)
    for thread in begun:
        thread.join(30)
    return answer, bool(begun)


@pytest.mark.parametrize("query", QUERIES)
def test_shutdown_before_any_line_of_a_query(query, tmp_path, monkeypatch):
    """Another thread's: the query ends in its answer, or as without the library; the shutdown when the query has."""
    (tmp_path / "5" / "fd").mkdir(parents=True)
    (tmp_path / "5" / "fd" / "0").symlink_to("/dev/mtgpu.0")
    (tmp_path / "driver" / "musa" / "gpu0").mkdir(parents=True)
    (tmp_path / "driver" / "musa" / "gpu0" / "devname").write_text("mtgpu.1\n")
    (tmp_path / "driver" / "musa" / "gpu0" / "proc_util").write_text("Pid Total\n5 1\n")
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    machine, ask, read = QUERIES[query]
    step, begun, answers = 0, True, []
    with simulated.machine(machine):
        while begun:
            step += 1
            pymtml.nvmlInit()
            if query == "virtual device":
                pymtml.nvmlDeviceGetActiveVgpus(card(0))
            answer, begun = with_shutdown_before(step, ask)
            if not begun:
                pymtml.nvmlShutdown()
            assert pymtml._nvmlLib_refcount == 0 and simulated.references() <= KEPT, step
            if answer not in (pymtml.NVMLError_Uninitialized, pymtml.NVMLError_InvalidArgument):
                answers.append(read(answer))
    assert step > 20 and len(answers) < step and all(answer == answers[-1] for answer in answers), answers


@waits
@pytest.mark.parametrize("query", [pymtml.nvmlDeviceGetName, pymtml.nvmlDeviceGetPciInfo])
def test_next_life_before_any_line_of_a_query(query):
    """Whatever the query was about to keep: its handle is stale afterwards."""
    step, begun = 0, True
    with simulated.machine("s80"):
        while begun:
            step += 1
            pymtml.nvmlInit()
            device, life = card(0), pymtml._session.life

            def restart():
                shutdown = threading.Thread(target=pymtml.nvmlShutdown)
                shutdown.start()
                while shutdown.is_alive() and hasattr(device, "_device"):
                    time.sleep(0.0001)
                pymtml.nvmlInit()
                shutdown.join(30)

            def is_over():
                return pymtml._session.life not in (None, life)

            _, begun = with_shutdown_before(step, lambda: query(device), restart, is_over)
            if not begun:
                restart()
            with pytest.raises(pymtml.NVMLError_InvalidArgument):
                query(device)
            pymtml.nvmlShutdown()
    assert step > 5


@waits
def test_waiting_is_bounded(monkeypatch):
    """A driver that hangs: InUse after a while, the library stays initialized with its handles, and ends later."""
    monkeypatch.setattr(pymtml, "_DRAIN_SECONDS", 0.15)
    with simulated.machine("s5000x8", latency_ns=500000000):
        pymtml.nvmlInit()
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        thread, powers = under_way(lambda: pymtml.nvmlDeviceGetPowerUsage(device))
        began, worked = time.monotonic(), time.thread_time()
        with pytest.raises(pymtml.NVMLError_InUse) as caught:
            pymtml.nvmlShutdown()
        assert 0.1 < time.monotonic() - began < 0.45
        assert time.thread_time() - worked < 0.02, "did not sleep"
        assert "another thread" in str(caught.value)
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (1, 1)
        thread.join()
        assert powers == [pymtml.nvmlDeviceGetPowerUsage(device)]  # handles are what they were
        assert pymtml.nvmlDeviceGetHandleByIndex(0) is device
        pymtml.nvmlShutdown()
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 0)


def test_bound_is_seconds():
    assert 1 <= pymtml._DRAIN_SECONDS <= 10


@pytest.mark.parametrize("shutdown", [pymtml.nvmlShutdown, pymtml.mtmlLibraryShutDown])
def test_shutdown_from_within_a_query(shutdown):
    """From a signal handler or __del__ in the middle of a query: InUse, and nothing changes."""
    seen = []

    class Index:
        def __index__(self):  # foreign code that runs inside a query, as a handler's does
            try:
                shutdown()
            except pymtml.MTMLError as error:
                seen.append(error)
            return 0

    with simulated.machine("s5000x8"):
        pymtml.nvmlInit()
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        assert pymtml.nvmlDeviceGetNvLinkState(device, Index()) == pymtml.NVML_FEATURE_ENABLED
        assert isinstance(seen[0], pymtml.NVMLError_InUse) and "this very thread" in str(seen[0])
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (1, 1)
        assert pymtml.nvmlDeviceGetHandleByIndex(0) is device
        pymtml.nvmlInit()
        pymtml.nvmlDeviceGetNvLinkState(device, Index())  # not the last reference
        assert len(seen) == 1 and pymtml._nvmlLib_refcount == 1
        shutdown()
        assert simulated.references() == 0


# Questions that look at one device after another, and what a divided machine answers: (call with a handle, its answer).
LOOKS = {
    "count": (lambda device: pymtml.nvmlDeviceGetCount(), 2),
    "card": (lambda device: pymtml.nvmlDeviceGetNumGpuCores(pymtml.nvmlDeviceGetHandleByIndex(1)), 8),
    "index": (pymtml.nvmlDeviceGetIndex, 1),
    "serial number": (
        lambda device: pymtml.nvmlDeviceGetIndex(
            pymtml.nvmlDeviceGetHandleBySerial(pymtml.nvmlDeviceGetSerial(device))
        ),
        1,
    ),
}


def ask_with_a_shutdown(call, step):
    """What call(device) comes to with a shutdown in another thread before its step-th line; and whether that came."""
    pymtml.nvmlInit()
    device = pymtml.nvmlDeviceGetHandleByUUID(simulated.device_keys("s3000-mpc", 1)["uuid"])
    thread = threading.Thread(target=pymtml.nvmlShutdown)
    lines = iter(range(1, step + 1))

    def trace(frame, event, argument):
        if frame.f_code.co_filename != pymtml.__file__ or thread.ident:
            return None
        if event == "line" and not pymtml.libLoadLock._is_owned() and next(lines) == step:
            thread.start()
            while pymtml._session.life is not None:
                time.sleep(0)
        return trace

    sys.settrace(trace)
    try:
        got = call(device)
    except (pymtml.NVMLError_Uninitialized, pymtml.NVMLError_InvalidArgument) as error:
        got = type(error)
    finally:
        sys.settrace(None)
    if not thread.ident:
        pymtml.nvmlShutdown()
        return got, False
    thread.join()
    return got, True


@pytest.mark.parametrize("question", sorted(LOOKS))
def test_shutdown_before_every_line_of_a_question(question):
    """The right answer, or that the library or the handle has gone; no other error, and no answer from half a list."""
    call, answer = LOOKS[question]
    with simulated.machine("s3000-mpc"):
        step, came = 0, True
        while came:
            step += 1
            got, came = ask_with_a_shutdown(call, step)
            gone = (pymtml.NVMLError_Uninitialized, pymtml.NVMLError_InvalidArgument) if came else ()
            assert got == answer or got in gone, (step, got)
    assert step > 20


def test_shutdown_through_what_calls_back():
    """A C-style pointer, a decorator of nvidia-ml-py and a module's code are on the stack, and no queries."""
    with simulated.machine("s80"):
        pymtml.nvmlInit()
        assert pymtml._nvmlGetFunctionPointer("nvmlShutdown")() == pymtml.NVML_SUCCESS
        for decorate in (pymtml.convertStrBytes, pymtml.throwOnVersionMismatch):
            pymtml.nvmlInit()
            decorate(lambda: pymtml.nvmlShutdown())()
        assert simulated.references() == 0


def test_shutdown_in_a_signal_handler_while_others_query():
    def child():
        rung = []

        def handler(number, frame):
            pymtml.nvmlShutdown()
            rung.append(True)

        signal.signal(signal.SIGALRM, handler)
        with Queries(3):
            for number in range(10):
                pymtml.nvmlInit()
                signal.setitimer(signal.ITIMER_REAL, 0.005)
                while len(rung) <= number:
                    time.sleep(0.001)
                assert simulated.references() == KEPT

    with simulated.machine("s5000x8", latency_ns=20000):
        assert in_child(child) == 0


@forks_a_busy_process
def test_shutdown_in_a_forked_child():
    """The threads that query in the parent are not there in the child: nothing to wait for."""
    with simulated.machine("s5000x8", latency_ns=200000):
        pymtml.nvmlInit()
        device = pymtml.nvmlDeviceGetHandleByIndex(5)

        def child():
            began = time.monotonic()
            assert pymtml.nvmlDeviceGetPowerUsage(device) > 0
            pymtml.nvmlShutdown()
            assert time.monotonic() - began < 1
            pymtml.nvmlInit()
            assert pymtml.nvmlDeviceGetCount() == 8
            pymtml.nvmlShutdown()
            assert simulated.references() == 0

        with Queries(3):
            for _ in range(5):
                assert in_child(child) == 0
        pymtml.nvmlShutdown()


@waits
def test_fork_while_a_shutdown_waits(monkeypatch):
    """The child has the library as it was before that shutdown, which goes on in the parent alone."""
    monkeypatch.setattr(pymtml, "_DRAIN_SECONDS", 20)
    with simulated.machine("s5000x8", latency_ns=300000000):
        pymtml.nvmlInit()
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        query, powers = under_way(lambda: pymtml.nvmlDeviceGetPowerUsage(device))
        shutdown, ends = under_way(pymtml.nvmlShutdown)
        assert pymtml._nvmlLib_refcount == 0  # nobody can ask any more

        def child():
            assert (pymtml._nvmlLib_refcount, simulated.references()) == (1, 1)
            pymtml.nvmlShutdown()
            assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 0)

        assert in_child(child) == 0
        shutdown.join()
        query.join()
        assert ends == [None] and isinstance(powers[0], int)
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 0)


@waits
def test_init_while_a_shutdown_waits(monkeypatch):
    """A new life begins at once; the shutdown gives back what was its own when the query has ended."""
    monkeypatch.setattr(pymtml, "_DRAIN_SECONDS", 20)
    with simulated.machine("s5000x8", latency_ns=300000000):
        pymtml.nvmlInit()
        stale = pymtml.nvmlDeviceGetHandleByIndex(0)
        query, powers = under_way(lambda: pymtml.nvmlDeviceGetPowerUsage(stale))
        shutdown, ends = under_way(pymtml.nvmlShutdown)
        pymtml.nvmlInit()
        shutdown.join(5)
        assert ends == [None]
        query.join()
        assert isinstance(powers[0], int)
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (1, 1)
        with pytest.raises(pymtml.NVMLError_InvalidArgument):
            pymtml.nvmlDeviceGetName(stale)
        assert pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(0)) == "MTT S5000"
        pymtml.nvmlShutdown()
        assert simulated.references() == 0


@waits
def test_argument_in_hand_while_a_new_life_begins():
    """The library stays initialized, but what C got for it in the old life ends with that."""

    def child():
        pymtml.nvmlInit()
        in_hand, go_on = threading.Event(), threading.Event()
        real = pymtml._c.mtmlLibraryCountDevice

        def count(*arguments):
            in_hand.set()
            go_on.wait(20)
            return real(*arguments)

        pymtml._c.mtmlLibraryCountDevice = count
        query, counts = in_thread(pymtml.nvmlDeviceGetCount)
        assert in_hand.wait(20)
        pymtml._c.mtmlLibraryCountDevice = real
        shutdown, ends = in_thread(pymtml.nvmlShutdown)
        while pymtml._nvmlLib_refcount:
            time.sleep(0.001)
        pymtml.nvmlInit()
        time.sleep(0.1)
        assert shutdown.is_alive() and simulated.references() == 2
        go_on.set()
        query.join()
        shutdown.join()
        assert (counts, ends) == ([8], [None]) and (pymtml._nvmlLib_refcount, simulated.references()) == (1, 1)
        pymtml.nvmlShutdown()
        assert simulated.references() == 0

    with simulated.machine("s5000x8"):
        assert in_child(child) == 0


@waits
def test_handle_made_while_a_shutdown_waits(monkeypatch):
    """By a query that was under way; the next one has C's argument in hand, and the shutdown waits for it as well."""
    making, asking, asked, answer = [threading.Event() for _ in range(4)]
    make, powers = pymtml._new_handle, []

    def late(*arguments):
        making.set()
        assert asking.wait(20)
        return make(*arguments)

    def sleep(seconds):  # of the shutdown, which sees the first query before, and the second one after it
        asking.set()
        assert asked.wait(20)
        time.sleep(seconds)

    def work():
        device = pymtml.nvmlDeviceGetHandleByUUID(simulated.device_keys("s5000x8", 5)["uuid"])
        powers.append(pymtml.mtmlDeviceGetPowerUsage(device))

    with simulated.machine("s5000x8"):
        pymtml.nvmlInit()
        ask = pymtml._c.mtmlDeviceGetPowerUsage

        def power(*arguments):
            asked.set()
            assert answer.wait(20)
            return ask(*arguments)

        monkeypatch.setattr(pymtml, "_new_handle", late)
        monkeypatch.setattr(pymtml._c, "mtmlDeviceGetPowerUsage", power)
        monkeypatch.setattr(pymtml._session, "sleep", sleep)
        threads = [threading.Thread(target=target, daemon=True) for target in (work, pymtml.nvmlShutdown)]
        threads[0].start()
        assert making.wait(20)
        threads[1].start()
        assert asked.wait(20)
        threads[1].join(0.2)
        assert threads[1].is_alive() and simulated.references() == 1 and not powers
        answer.set()
        for thread in threads:
            thread.join(20)
        assert len(powers) == 1 and simulated.references() == 0


def test_frames_are_let_go():
    """No frame of a thread, and nothing that it holds, is kept alive by the shutdown that looked at it."""

    class Held:
        pass

    references, gone = [], []

    def query(device):
        held = Held()
        references.append(weakref.ref(held, gone.append))
        pymtml.nvmlDeviceGetPowerUsage(device)

    with simulated.machine("s5000x8", latency_ns=200000000):
        pymtml.nvmlInit()
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        thread, ends = under_way(lambda: query(device))
        pymtml.nvmlShutdown()
        thread.join()
    assert ends == [None]
    del thread
    gc.collect()
    assert gone == references


def test_without_a_gil_the_library_stays_while_there_are_other_threads(monkeypatch):
    """They run on while their stacks are looked at: nothing is freed that one of them may use, and nothing waits."""
    monkeypatch.setattr(pymtml, "_FREE_THREADED", True)
    with simulated.machine("s5000x8", latency_ns=300000000):
        pymtml.nvmlInit()
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        thread, powers = under_way(lambda: pymtml.nvmlDeviceGetPowerUsage(device))
        pymtml.nvmlShutdown()
        assert not powers, "waited for the query"
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 1)
        with pytest.raises(pymtml.NVMLError_Uninitialized):
            pymtml.nvmlDeviceGetPowerUsage(device)
        thread.join()
        assert len(powers) == 1 and isinstance(powers[0], int)
        pymtml.nvmlInit()
        with pytest.raises(pymtml.NVMLError_InvalidArgument):
            pymtml.nvmlDeviceGetName(device)
        assert pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(0)) == "MTT S5000"
        pymtml.nvmlShutdown()  # alone now
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 0)


def test_without_a_gil_all_that_was_kept_goes_back_in_the_end(monkeypatch):
    """Also what a life kept that ended while another thread initialized: the library had two references then."""
    monkeypatch.setattr(pymtml, "_FREE_THREADED", True)

    def drain(life, retired, keep, real=pymtml._drain):
        monkeypatch.setattr(pymtml, "_drain", real)
        thread, ends = in_thread(pymtml.nvmlInit)
        thread.join()
        assert ends == [None]
        return real(life, retired, keep)

    with simulated.machine("s5000x8"):
        with held(threading.Lock()):
            pymtml.nvmlInit()
            monkeypatch.setattr(pymtml, "_drain", drain)
            pymtml.nvmlShutdown()
            assert (pymtml._nvmlLib_refcount, simulated.references()) == (1, 2)
            for _ in range(3):
                pymtml.nvmlShutdown()
                assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 2)
                pymtml.nvmlInit()
                assert pymtml.nvmlDeviceGetCount() == 8
        pymtml.nvmlShutdown()  # alone now
        assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 0)


AT_EXIT = """
import atexit, sys, threading, time
import pymtml

def forever(number):
    while True:
        try:
            device = pymtml.nvmlDeviceGetHandleByIndex(number)
            pymtml.nvmlDeviceGetUtilizationRates(device)
            pymtml.nvmlDeviceGetTopologyNearestGpus(device, 50)
        except pymtml.NVMLError:
            time.sleep(0.001)

class Monitor:
    def __init__(self):
        pymtml.nvmlInit()

    def __del__(self, out=sys.stderr):
        try:
            pymtml.nvmlShutdown()
        except BaseException as error:
            out.write("%s: %s" % (type(error).__name__, error))

monitor = Monitor()
if {atexit}:
    atexit.register(monitor.__del__)
    del Monitor.__del__
for number in range(4):
    threading.Thread(target=forever, args=(number,), daemon=True).start()
time.sleep(0.05)
"""


@pytest.mark.parametrize("atexit", [False, True])
@pytest.mark.parametrize("latency", [0, 3000000])
def test_end_of_the_interpreter_with_daemon_threads(latency, atexit):
    allowed = {""}
    if FREE_THREADED and not atexit:  # __del__ comes after the globals of all modules have gone
        allowed |= {
            "AttributeError: 'NoneType' object has no attribute 'nvmlShutdown'",
            "TypeError: 'NoneType' object is not callable",
        }
    for _ in range(5):
        result = simulated.run_python(AT_EXIT.format(atexit=atexit), name="s5000x8", latency_ns=latency)
        assert (result.returncode, result.stdout) == (0, "") and result.stderr in allowed, result


@waits
def test_the_guard_is_needed():
    """Without it the simulator sees a freed handle: these races do come to what they are meant for."""
    code = """
import sys, time
sys.path.insert(0, sys.argv[1])
import simulated, test_shutdown_races as races
pymtml = races.pymtml
pymtml._drain = lambda life, retired, *others: (pymtml._retire_all(life, retired) and 0, None)
with simulated.machine("s5000x8", latency_ns=300000), races.Queries():
    for _ in range(200):
        pymtml.nvmlInit()
        time.sleep(0.01)
        pymtml.nvmlShutdown()
"""
    result = subprocess.run(
        [sys.executable, "-c", code, os.path.dirname(os.path.abspath(__file__))],
        env=dict(os.environ, PYTHONPATH=simulated.ROOT),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        timeout=120,
    )
    assert result.returncode == -signal.SIGABRT, result.stdout


def test_no_cost_on_the_query_path():
    """The guard lives in the shutdown alone: a query runs the lines that it runs without."""
    with simulated.machine("s5000x8"):
        pymtml.nvmlInit()
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        pymtml.nvmlDeviceGetPowerUsage(device)
        names = set()

        def trace(frame, event, argument):
            if event == "call" and (not PYPY or frame.f_code.co_filename == pymtml.__file__):  # its ctypes is Python
                names.add(frame.f_code.co_name)

        sys.setprofile(trace)
        try:
            pymtml.nvmlDeviceGetPowerUsage(device)
        finally:
            sys.setprofile(None)
        pymtml.nvmlShutdown()
    assert names == {"nvmlDeviceGetPowerUsage"}


def test_raw_functions_are_the_callers_to_guard():
    assert "guard" in pymtml._mtmlGetFunctionPointer.__doc__
    with simulated.machine("s80"):
        pymtml.nvmlInit()
        count = ctypes.c_uint()
        library = pymtml._session.life.library
        assert pymtml._mtmlGetFunctionPointer("mtmlLibraryCountDevice")(library, ctypes.byref(count)) == 0
        assert count.value == 1
        pymtml.nvmlShutdown()
