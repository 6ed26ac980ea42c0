"""The end of a life, changes of MPC and resets while other threads query: nobody waits at a shutdown, changes come
through, and nothing is freed that C still uses.

The simulator ends the process when a handle reaches it that a shutdown, a change or a reset has freed.
"""

import gc
import os
import sys
import threading
import time
import traceback
import weakref

import pytest
import simulated
from concurrency import Hang, before_line, elsewhere, in_child, in_thread, over_and_over, until
from interpreter import FREE_THREADED, forks_a_busy_process
from simulated import state
from test_processes import Proc, computing

import pymtml

pytestmark = pytest.mark.usefixtures("as_a_program")
changes = pytest.mark.skipif(FREE_THREADED, reason="without a GIL changes are refused while there are other threads")
SECONDS = float(os.environ.get("RACE_SECONDS", "0.15"))  # of each race; docs/reliability.md says what was run


def card(index):
    return pymtml.nvmlDeviceGetHandleByIndex(index)


def questions(number):
    """One round of what monitors ask: single calls, several calls, lists, pairs, of cards that are whole or divided."""
    device = card(number % pymtml.nvmlDeviceGetCount())
    pymtml.nvmlDeviceGetName(device), pymtml.nvmlDeviceGetIndex(device), pymtml.nvmlSystemGetDriverVersion()
    pymtml.mtmlGpuGetUtilization(pymtml.mtmlDeviceInitGpu(device))
    for query, arguments in (
        (pymtml.nvmlDeviceGetUtilizationRates, ()),
        (pymtml.nvmlDeviceGetMemoryInfo, ()),
        (pymtml.nvmlDeviceGetEncoderUtilization, ()),
        (pymtml.nvmlDeviceGetTopologyNearestGpus, (pymtml.NVML_TOPOLOGY_SYSTEM,)),
        (pymtml.nvmlDeviceGetNvLinkRemotePciInfo, (0,)),
        (pymtml.nvmlDeviceGetFieldValues, ([pymtml.NVML_FI_DEV_POWER_INSTANT, pymtml.NVML_FI_DEV_MEMORY_TEMP],)),
    ):
        try:
            query(device, *arguments)
        except pymtml.NVMLError_NotSupported:
            pass  # of a card without links, or a divided one


class Queries:
    """Threads that query all the time; what they saw besides answers, stale handles and changes under way is kept."""

    def __init__(self, count=4, also=()):
        self.also = also + (pymtml.NVMLError_Uninitialized, pymtml.NVMLError_InvalidArgument, pymtml.NVMLError_InUse)
        self.answered, self.unexpected, self.over = 0, [], False
        self.threads = [threading.Thread(target=self.work, args=(number,), daemon=True) for number in range(count)]

    def work(self, number):
        while not self.over:
            try:
                questions(number)
                self.answered += 1
            except self.also:
                time.sleep(0.0002)  # between two lives, with a handle of the last one, or while MPC is changed
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


def raced(turn, machine="s5000x8", least=4, latency=20000, also=(), **options):
    """Do turn() again and again in a child, under threads that query; it ends with nothing initialized."""

    def child():
        turns, end = 0, time.monotonic() + SECONDS
        with Queries(also=also) as queries:
            while time.monotonic() < end + 30 * (min(turns, queries.answered) < least):  # a busy machine needs longer
                turns += turn()
        print("%d turns, %d rounds of questions" % (turns, queries.answered))
        assert turns >= least and queries.answered >= least, (turns, queries.answered)
        simulated.set_faults("")
        simulated.shut_down()
        assert state() == (0, 0) and simulated.library.mtmlSimGetHandleCount() == 0

    with simulated.machine(machine, latency_ns=latency, **options):
        assert in_child(child, SECONDS + 60) == 0


INITS = {"nvml": pymtml.nvmlInit, "mtml": pymtml.mtmlLibraryInit}
SHUTDOWNS = {"nvml": pymtml.nvmlShutdown, "mtml": pymtml.mtmlLibraryShutDown}


@pytest.mark.parametrize("latency", [0, 200000])
@pytest.mark.parametrize("name, value", [("nvml", None), ("nvml", "0"), ("mtml", None)])
def test_lives_under_querying_threads(name, value, latency, monkeypatch):
    if value is not None:
        monkeypatch.setenv("PYMTML_KEEP_LIBRARY", value)

    def turn():
        INITS[name]()
        time.sleep(0.004 + 400 * latency * 1e-9)
        SHUTDOWNS[name]()
        assert pymtml._nvmlLib_refcount == 0 and simulated.references() <= 1
        return True

    raced(turn, latency=latency)


def test_threads_that_end_lives_under_querying_threads():
    """Several threads hold references of their own, by either name; each has what it needs between its two calls."""

    def turn(number):
        name = "nvml" if number else "mtml"
        INITS[name]()
        assert pymtml.nvmlDeviceGetCount() == 8
        SHUTDOWNS[name]()

    def child():
        with Queries(2), over_and_over(turn, 3):
            time.sleep(SECONDS)
        assert pymtml._nvmlLib_refcount == 0
        simulated.shut_down()
        assert state() == (0, 0)

    with simulated.machine("s5000x8", latency_ns=20000):
        assert in_child(child, SECONDS + 30) == 0


def initialized():
    if not pymtml._nvmlLib_refcount:
        pymtml.nvmlInit()


def change_mig():
    initialized()
    pymtml.nvmlDeviceSetMigMode(card(0), 1 - pymtml.nvmlDeviceGetMigMode(card(0))[0])
    return True


def change_mpc():
    """By MTML's name, which leaves the restart to its caller: until then C says Unknown."""
    initialized()
    device = pymtml.mtmlLibraryInitDeviceByIndex(0)
    pymtml.mtmlDeviceSetMpcMode(device, 1 - pymtml.mtmlDeviceGetMpcMode(device))
    pymtml.nvmlShutdown()
    while not pymtml._nvmlLib_refcount:
        try:
            pymtml.nvmlInit()
        except pymtml.NVMLError_InUse:
            time.sleep(0.001)  # a query of before is still under way
    return True


def reset():
    initialized()
    pymtml.mtmlDeviceReset(card(0))
    return True


def refused(change, function):
    def turn():
        initialized()
        other = card(1)
        simulated.set_faults(function + "=NO_PERMISSION")
        pytest.raises(pymtml.NVMLError_NoPermission, change)
        assert card(1) is other and pymtml.nvmlDeviceGetName(other)
        time.sleep(0.005)
        return True

    return turn


CHANGES = {
    "MIG": (change_mig, "s3000-mpc"),
    "MPC": (change_mpc, "s3000-mpc"),
    "reset": (reset, "s5000x8"),
    "reset of a divided card": (reset, "s3000-mpc"),
    "refused MIG": (refused(change_mig, "mtmlDeviceSetMpcMode"), "s3000-mpc"),
    "refused reset": (refused(reset, "mtmlDeviceReset"), "s5000x8"),
}


@changes
@pytest.mark.parametrize("change", CHANGES)
def test_changes_under_querying_threads(change):
    turn, machine = CHANGES[change]
    raced(turn, machine, also=(pymtml.NVMLError_Unknown,) if change == "MPC" else ())


@pytest.mark.parametrize("change", CHANGES)
def test_changes_without_a_gil(change, monkeypatch):
    """Refused while there are other threads, and MTML's shutdown keeps, as nobody can tell what they do; alone they are
    as ever."""
    turn, machine = CHANGES[change]
    monkeypatch.setattr(pymtml, "_FREE_THREADED", True)

    def child():  # in which there are no threads of the test runner
        pymtml.nvmlInit()
        device, over = card(0), threading.Event()
        thread, _ = in_thread(over.wait)
        for call in (pymtml.mtmlDeviceReset, lambda device: pymtml.nvmlDeviceSetMigMode(device, 0)):
            with pytest.raises(pymtml.NVMLError_InUse, match="other threads are alive"):
                call(device)
        assert pymtml.nvmlDeviceGetName(device) and card(0) is device
        pymtml.mtmlLibraryShutDown()
        assert state() == (0, 1)  # kept, as nobody can tell
        over.set()
        thread.join()
        assert turn()

    with simulated.machine(machine):
        assert in_child(child) == 0


@changes
def test_handles_of_others_stay_good_through_a_refused_change():
    """A thread that holds on to its handle sees InUse meanwhile, and nothing else."""
    seen, asked, over = set(), [0], threading.Event()

    def hold(device):
        while not over.is_set():
            try:
                asked[0] += bool(pymtml.nvmlDeviceGetMemoryInfo(device).total and pymtml.nvmlDeviceGetName(device))
            except pymtml.NVMLError as error:
                seen.add(type(error))

    with simulated.nvml("s3000-mpc", faults="mtmlDeviceSetMpcMode=NO_PERMISSION,mtmlDeviceReset=RESOURCE_IS_BUSY"):
        device = card(1)
        thread, ends = in_thread(lambda: hold(device))
        for number in range(60):
            with pytest.raises((pymtml.NVMLError_NoPermission, pymtml.NVMLError_InUse)):
                pymtml.mtmlDeviceReset(card(0)) if number % 2 else pymtml.nvmlDeviceSetMigMode(card(0), 0)
            before, end = asked[0], time.monotonic() + 20
            while asked[0] < before + 2 and not ends and time.monotonic() < end:
                time.sleep(0.001)
        over.set()
        thread.join()
        assert ends == [None] and seen <= {pymtml.NVMLError_InUse} and asked[0] > 60


def hanging(monkeypatch, device, query=pymtml.nvmlDeviceGetPowerUsage):
    """(Hang, thread, what it came to) of a query for the power that is in C, until `over` of the hang is set."""
    hang = Hang("mtmlDeviceGetPowerUsage", ())
    monkeypatch.setattr(pymtml._c, "mtmlDeviceGetPowerUsage", hang)
    thread, ends = in_thread(lambda: query(device))
    assert hang.inside.wait(60)
    return hang, thread, ends


@changes
@pytest.mark.parametrize("change", ["MIG", "reset"])
def test_a_change_waits_for_a_query_within_bounds(change, monkeypatch):
    """A query that hangs: InUse after a while, C was not called, and every handle is good again."""
    assert 1 <= pymtml._DRAIN_SECONDS <= 10
    monkeypatch.setattr(pymtml, "_DRAIN_SECONDS", 0.15)
    turn, machine = CHANGES[change]
    with simulated.nvml(machine):
        devices = [card(0), card(1)]
        gpu = pymtml.mtmlDeviceInitGpu(devices[1])
        hang, thread, powers = hanging(monkeypatch, devices[1])
        simulated.reset_calls()
        began, worked = time.monotonic(), time.thread_time()
        with pytest.raises(pymtml.NVMLError_InUse, match="did not return within 0.15 seconds"):
            turn()
        assert 0.1 < time.monotonic() - began and time.thread_time() - worked < 0.1, "did not sleep"
        assert simulated.calls("mtmlDeviceSetMpcMode") == simulated.calls("mtmlDeviceReset") == 0
        assert [card(0), card(1)] == devices and pymtml.mtmlGpuGetClock(gpu) and state() == (1, 1)
        hang.over.set()
        thread.join()
        assert isinstance(powers[0], int) and turn()


@changes
def test_a_reset_ends_the_handles_of_its_card_alone():
    with simulated.nvml("s3000-mpc"):
        ended = [card(0)] + [pymtml.nvmlDeviceGetMigDeviceHandleByIndex(card(0), index) for index in range(3)]
        ended.append(pymtml.mtmlDeviceInitMemory(ended[1]))
        stays = [card(1), pymtml.mtmlDeviceInitGpu(card(1)), pymtml.mtmlLibraryInitSystem()]
        queries = {pymtml.c_mtmlMemory_t: pymtml.mtmlMemoryGetUsed, pymtml.c_mtmlGpu_t: pymtml.mtmlGpuGetClock}
        queries[pymtml.c_mtmlSystem_t] = pymtml.mtmlSystemGetDriverVersion
        pymtml.mtmlDeviceReset(ended[0])
        for handle in ended:
            pytest.raises(pymtml.NVMLError_InvalidArgument, queries.get(type(handle), pymtml.nvmlDeviceGetUUID), handle)
        for handle in stays:
            assert queries.get(type(handle), pymtml.nvmlDeviceGetUUID)(handle)
        assert card(1) is stays[0] and pymtml.mtmlDeviceInitGpu(card(1)) is stays[1]
        assert pymtml.nvmlDeviceGetUUID(card(0)) and card(0) != ended[0]


# ---- A shutdown at any moment of a query ----

LINKS = pymtml.NVML_P2P_CAPS_INDEX_NVLINK
QUERIES = {  # of several steps: the machine, what is asked, and what of the answer outlasts the library
    "count": ("s3000-mpc", pymtml.nvmlDeviceGetCount, int),
    "gpu": ("s3000x2", lambda: pymtml.mtmlDeviceInitGpu(card(1)), type),
    "name": ("s3000x2", lambda: pymtml.nvmlDeviceGetName(card(1)), str),
    "pci": ("s3000x2", lambda: pymtml.nvmlDeviceGetPciInfo(card(0)).busId, str),
    "index": ("s3000-mpc", lambda: pymtml.nvmlDeviceGetIndex(card(1)), int),
    "instance": ("s3000-mpc", lambda: pymtml.nvmlDeviceGetMigDeviceHandleByIndex(card(0), 1), type),
    "serial number": ("s3000-mpc", lambda: pymtml.nvmlDeviceGetHandleBySerial(SERIAL), type),
    "neighbors": ("s3000x2", lambda: pymtml.nvmlDeviceGetTopologyNearestGpus(card(0), 50), len),
    "pair": ("s5000x8", lambda: pymtml.nvmlDeviceGetP2PStatus(card(0), card(1), LINKS), int),
    "links": ("s5000x8", lambda: pymtml.nvmlDeviceGetFieldValues(card(0), [pymtml.NVML_FI_DEV_NVLINK_GET_STATE]), len),
    "processor": ("s3000x2", lambda: pymtml.nvmlSystemGetTopologyGpuSet(0), len),
    "processes": ("s3000x2", lambda: pymtml.nvmlDeviceGetComputeRunningProcesses(card(0)), len),
    "table": ("s3000x2", lambda: [len(pymtml.nvmlDeviceGetProcessUtilization(card(1), 0)) for _ in range(2)], list),
    "virtual devices": ("s3000-vgpu-host", lambda: pymtml.nvmlDeviceGetActiveVgpus(card(0)), list),
}
SERIAL = simulated.device_keys("s3000-mpc", 1)["serial_number"]


@pytest.mark.parametrize("name, next_life", [("mtml", False), ("nvml", True)])
@pytest.mark.parametrize("query", QUERIES)
def test_shutdown_before_any_line_of_a_query(query, name, next_life, tmp_path, monkeypatch):
    """Another thread's, which does not wait, and may begin the next life: the query ends in its answer, or as without
    the library; its handles are stale, and C's shutdown is left out."""
    proc = Proc(tmp_path)
    proc.process(5, "/dev/mtgpu.0", "/dev/mtgpu.1")
    proc.table("gpu0", "mtgpu.1", computing(5))
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    machine, ask, read = QUERIES[query]
    gone = (pymtml.NVMLError_Uninitialized, pymtml.NVMLError_InvalidArgument)
    gone += (pymtml.MTMLError_Uninitialized, pymtml.MTMLError_InvalidArgument)
    step, begun, answers = 0, True, []

    def shut_down():
        SHUTDOWNS[name]()
        if next_life:
            INITS[name]()

    with simulated.machine(machine):
        while begun:
            step += 1
            pymtml.nvmlInit()
            device, gpu = card(0), pymtml.mtmlDeviceInitGpu(card(0))
            answer, begun = before_line(step, ask, lambda: elsewhere(shut_down))
            if begun and not next_life:
                pymtml.nvmlInit()
            assert pymtml._nvmlLib_refcount == 1 and simulated.references() == 1, step
            if begun:
                for stale, call in ((device, pymtml.nvmlDeviceGetName), (gpu, pymtml.mtmlGpuGetClock)):
                    pytest.raises(pymtml.NVMLError_InvalidArgument, call, stale)
            if answer not in gone:
                answers.append(read(answer))
            pymtml.mtmlLibraryShutDown()
            assert state() == (0, 0), step
    assert step > 20 and answers and all(answer == answers[-1] for answer in answers), answers


@pytest.mark.parametrize("name", SHUTDOWNS)
def test_shutdown_from_within_a_query(name):
    """From a signal handler or __del__ in the middle of a query: it succeeds, and leaves C to the query."""

    class Index:
        def __index__(self):  # foreign code that runs inside a query, as a handler's does
            SHUTDOWNS[name]()
            return 0

    with simulated.nvml("s5000x8"):
        device = card(0)
        with pytest.raises((pymtml.NVMLError_InvalidArgument, pymtml.NVMLError_Uninitialized)):
            pymtml.nvmlDeviceGetNvLinkState(device, Index())
        assert state() == (0, 1)
        pymtml.nvmlInit()
        for change in (pymtml.mtmlDeviceReset, lambda device: pymtml.nvmlDeviceSetMigMode(device, 1)):

            class Change:
                def __index__(self, change=change):
                    query = pymtml._query_on(sys._getframe())  # the outermost frame, which lasts as long as the query
                    assert query.f_code.co_name == "nvmlDeviceGetNvLinkState"
                    with pytest.raises(pymtml.NVMLError_InUse, match="in the middle of a query"):
                        change(card(0))
                    return 0

            assert pymtml.nvmlDeviceGetNvLinkState(card(0), Change()) == pymtml.NVML_FEATURE_ENABLED


def test_shutdown_through_what_calls_back():
    """A C-style pointer, a decorator of nvidia-ml-py and a module's code are on the stack, and no queries."""
    with simulated.machine("s80"):
        for shutdown in (pymtml._nvmlGetFunctionPointer("nvmlShutdown"), pymtml.mtmlLibraryShutDown):
            for decorate in (lambda call: call, pymtml.convertStrBytes, pymtml.throwOnVersionMismatch):
                pymtml.nvmlInit()
                assert not decorate(lambda: shutdown())()
        assert simulated.references() == 0
        pymtml.nvmlInit()
        assert pymtml._nvmlGetFunctionPointer("nvmlDeviceSetMigMode")(card(0), 1, pymtml.byref(pymtml.c_uint())) == 0


@changes
def test_fork_while_a_change_waits(monkeypatch):
    """The child has no life, as C may be shut down at that moment; the change goes on in the parent alone."""
    monkeypatch.setattr(pymtml, "_DRAIN_SECONDS", 60)
    with simulated.nvml("s3000-mpc"):
        device = card(1)
        hang, query, _ = hanging(monkeypatch, device)
        change, ends = in_thread(lambda: pymtml.mtmlDeviceSetMpcConfiguration(card(0), 77))
        until(lambda: pymtml._session.life.changing)

        def child():
            pytest.raises(pymtml.NVMLError_Uninitialized, pymtml.nvmlDeviceGetName, device)
            pymtml.nvmlInit()
            pytest.raises(pymtml.NVMLError_InvalidArgument, pymtml.nvmlDeviceGetName, device)
            assert pymtml.nvmlDeviceGetName(card(1))
            pymtml.mtmlLibraryShutDown()
            assert state() == (0, 1)  # never on the parent's behalf

        assert in_child(child) == 0 and change.is_alive()
        hang.over.set()
        change.join()
        assert isinstance(ends[0], pymtml.MTMLError_InvalidArgument) and pymtml.nvmlDeviceGetName(device)
        query.join()


def test_fork_as_a_change_begins():
    """The slots of the child's handles are emptied, whether or not the change had come to that."""

    def child():
        pytest.raises(pymtml.NVMLError_Uninitialized, pymtml.nvmlDeviceGetPowerUsage, device)

    with simulated.nvml("s3000-mpc"):
        device, life = card(0), pymtml._session.life
        pymtml.nvmlDeviceGetPowerUsage(device)
        life.changing.append("another thread's")
        assert in_child(child) == 0
        life.changing.remove("another thread's")
        assert pymtml.nvmlDeviceGetPowerUsage(device)


FORKS = int(os.environ.get("CHANGE_FORKS", "12"))


@changes
@forks_a_busy_process
@pytest.mark.parametrize("keep", ["", "0", "1"])
def test_forks_while_another_thread_changes_mpc(keep, monkeypatch):
    """C may be shut down at that moment: the child asks nothing of what its parent had, and its own init works."""
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", keep)
    lives = []

    def child():
        if pymtml._session.life is None:
            pytest.raises(pymtml.NVMLError_Uninitialized, pymtml.nvmlDeviceGetCount)
            pymtml.nvmlInit()
        assert pymtml.nvmlDeviceGetCount() == 2 and pymtml.nvmlDeviceGetName(card(1)) == "MTT S3000"
        pymtml.nvmlShutdown()

    def change(over):
        while not over.is_set():
            pymtml.nvmlDeviceSetMigMode(card(0), len(lives) % 2)
            lives.append(True)

    with simulated.nvml("s3000-mpc"):
        card(0), card(1)
        pymtml.nvmlLib.mtmlSimSetFaults(b"")
        simulated.set_value(simulated.MACHINE, "latency_ns", 300000)
        over = threading.Event()
        thread, ends = in_thread(lambda: change(over))
        codes = [in_child(child, 20) for _ in range(FORKS)]
        over.set()
        thread.join(60)
        assert set(codes) == {0} and ends == [None] and len(lives) > FORKS / 20, (codes, ends, len(lives))


def test_frames_are_let_go(monkeypatch):
    """No frame of a thread, and nothing that it holds, is kept alive by the shutdown that looked at it."""

    class Held:
        pass

    references, gone = [], []

    def query(device):
        held = Held()
        references.append(weakref.ref(held, gone.append))
        pymtml.nvmlDeviceGetPowerUsage(device)

    with simulated.nvml("s5000x8"):
        device = card(0)
        hang, thread, ends = hanging(monkeypatch, device, query)
        pymtml.mtmlLibraryShutDown()
        assert not ends, "waited for the query"
        assert state() == (0, 1)
        hang.over.set()
        thread.join()
    assert ends == [None]
    del thread
    gc.collect()
    assert gone == references


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
            pymtml.{shutdown}()
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


@pytest.mark.parametrize("latency", [0, 3000000])
@pytest.mark.parametrize("shutdown, atexit", [("nvmlShutdown", False), ("mtmlLibraryShutDown", True)])
def test_end_of_the_interpreter_with_daemon_threads(shutdown, latency, atexit):
    allowed = {""}
    if FREE_THREADED and not atexit:  # __del__ comes after the globals of all modules have gone
        allowed |= {
            "AttributeError: 'NoneType' object has no attribute '%s'" % shutdown,
            "TypeError: 'NoneType' object is not callable",
        }
    code = AT_EXIT.format(atexit=atexit, shutdown=shutdown)
    result = simulated.run_python(code, name="s5000x8", latency_ns=latency)
    assert (result.returncode, result.stdout) == (0, "") and result.stderr in allowed, result
