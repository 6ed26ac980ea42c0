"""Counted init and shutdown, identity and staleness of handles, threads, forks, signals, and the end of a process."""

import pytest
import simulated
from concurrency import in_child, in_threads, over_and_over
from interpreter import forks_a_busy_process, not_on_pypy
from native_calls import Scene
from simulated import run_python

import pymtml

CYCLES = 200
KINDS = ("system", "device", "gpu", "memory", "vpu")


def native_handles():
    return simulated.library.mtmlSimGetHandleCount()


def query_everything(device):
    """What a monitor asks of a device; a changed result would be a wrong read."""
    return (
        pymtml.mtmlDeviceGetName(device),
        pymtml.mtmlDeviceGetUUID(device),
        pymtml.mtmlGpuGetUtilization(device),
        pymtml.mtmlGpuGetTemperature(device),
        pymtml.mtmlMemoryGetUsed(device),
        pymtml.mtmlMemoryGetTotal(device),
        pymtml.mtmlVpuGetClock(device),
        pymtml.mtmlDeviceGetPowerUsage(device),
        pymtml.mtmlDeviceGetPciInfo(device).busId,
    )


# ---- Init and shutdown ----


@pytest.mark.parametrize("depth", [1, 3])
def test_cycles_leave_nothing_behind(depth):
    with simulated.machine("s5000x8"):
        for _ in range(CYCLES):
            for _ in range(depth):
                pymtml.mtmlLibraryInit()
            for index in range(pymtml.mtmlLibraryCountDevice()):
                query_everything(pymtml.mtmlLibraryInitDeviceByIndex(index))
            assert simulated.references() == 1
            for _ in range(depth):
                pymtml.mtmlLibraryShutDown()
            assert (simulated.references(), native_handles()) == (0, 0)
        assert pymtml._session.life is None


def test_no_driver_and_no_device():
    with simulated.machine("no-driver"):
        for _ in range(3):
            with pytest.raises(pymtml.MTMLError_DriverNotLoaded):
                pymtml.mtmlLibraryInit()
    with Scene("empty"):
        assert pymtml.mtmlLibraryCountDevice() == 0
        for index in (0, 1, -1, 2**32):
            with pytest.raises((pymtml.MTMLError_NotFound, pymtml.MTMLError_InvalidArgument)):
                pymtml.mtmlLibraryInitDeviceByIndex(index)


# ---- Handles ----


def test_one_object_per_native_object():
    with Scene("s5000x8", 2) as scene:
        device = scene.device
        assert pymtml.mtmlLibraryInitDeviceByUuid(scene.keys["uuid"]) is device
        assert pymtml.mtmlLibraryInitDeviceByPciSbdf(scene.keys["pci_sbdf"]) is device
        assert pymtml.mtmlDeviceGetMtLinkRemoteDevice(scene.at(0), 2) is device
        assert scene.gpu is scene.gpu and scene.memory is scene.memory and scene.vpu is scene.vpu
        system = scene.system
        simulated.reset_calls()
        assert scene.system is system and simulated.calls("mtmlLibraryInitSystem") == 0
        for kind in ("gpu", "memory", "vpu"):
            assert getattr(pymtml, "mtmlDeviceInit" + kind.capitalize())(getattr(scene, kind)) is getattr(scene, kind)
        assert len({scene.at(i) for i in range(8)}) == 8
        assert native_handles() == 1 + 1 + 8 + 3


# ---- What makes handles stale while the library lives ----


def test_mpc_changes():
    changes = (
        lambda scene: pymtml.mtmlDeviceSetMpcMode(scene.at(0), pymtml.MTML_DEVICE_MPC_DISABLE),
        lambda scene: pymtml.mtmlDeviceSetMpcConfiguration(scene.at(0), 3),
        lambda scene: pymtml.mtmlLibrarySetMpcConfigurationInBatch([scene.at(0)], [4]),
        lambda scene: pymtml.mtmlLibrarySetMpcConfigurationInBatch([scene.at(0), scene.at(4)], [1, 1]),
    )
    for change, count in zip(changes, (2, 6, 10, 6)):
        with Scene("s3000-mpc") as scene:
            handles = [scene.at(i) for i in range(5)]
            handles += [pymtml.mtmlDeviceInitGpu(handles[4]), pymtml.mtmlDeviceInitMemory(handles[1])]
            change(scene)
            for handle in handles:
                function = {
                    pymtml.c_mtmlGpu_t: pymtml.mtmlGpuGetClock,
                    pymtml.c_mtmlMemory_t: pymtml.mtmlMemoryGetUsed,
                }.get(type(handle), pymtml.mtmlDeviceGetUUID)
                with pytest.raises(pymtml.MTMLError_InvalidArgument):
                    function(handle)
            assert pymtml.mtmlLibraryGetVersion()
            pymtml.mtmlLibraryShutDown()
            assert simulated.references() == 0
            pymtml.mtmlLibraryInit()
            assert pymtml.mtmlLibraryCountDevice() == count
            for index in range(count):
                pymtml.mtmlDeviceGetUUID(scene.at(index))


def test_batch_that_fails_half_way():
    with Scene("s3000-mpc") as scene:
        handles = [scene.at(0), scene.at(1), scene.at(4)]
        with pytest.raises(pymtml.MTMLError_InvalidArgument):
            pymtml.mtmlLibrarySetMpcConfigurationInBatch([handles[0], handles[2]], [1, 77])
        for handle in handles:
            with pytest.raises(pymtml.MTMLError_InvalidArgument):
                pymtml.mtmlDeviceGetUUID(handle)
        pymtml.mtmlLibraryShutDown()
        pymtml.mtmlLibraryInit()
        assert pymtml.mtmlLibraryCountDevice() == 2


def test_batch_with_what_is_no_device_does_not_reach_the_library():
    name = "mtmlLibrarySetMpcConfigurationInBatch"
    with Scene("s3000-mpc") as scene:
        device = scene.at(0)
        before = simulated.calls(name)
        for junk in (None, pymtml.c_mtmlDevice_t(), pymtml.mtmlLibraryInitSystem(), 4096):
            with pytest.raises(pymtml.MTMLError_InvalidArgument):
                pymtml.mtmlLibrarySetMpcConfigurationInBatch([device, junk], [1, 1])
        assert simulated.calls(name) == before
        assert pymtml.mtmlDeviceGetUUID(device) == scene.keys["uuid"]


def test_change_that_was_refused_keeps_handles():
    with Scene("s3000-mpc") as scene:
        parent = scene.at(0)
        with pytest.raises(pymtml.MTMLError_InvalidArgument):
            pymtml.mtmlDeviceSetMpcConfiguration(parent, 77)
        with pytest.raises(pymtml.MTMLError_InvalidArgument):
            pymtml.mtmlDeviceSetMpcMode(parent, 7)
        assert pymtml.mtmlDeviceGetUUID(parent) == scene.keys["uuid"]


# ---- Threads and forks ----


def test_eight_threads_read_their_own_device():
    with Scene("s5000x8") as scene:
        expected = [query_everything(scene.at(i)) for i in range(8)]
        assert len(set(expected)) == 8

        def work(number):
            for _ in range(300):
                assert query_everything(scene.at(number)) == expected[number]

        in_threads(work)


def test_threads_that_come_first_get_the_same_handles():
    for _ in range(30):
        with Scene("s5000x8") as scene:
            seen = []

            def work(number):
                seen.append((scene.at(0), scene.gpu, scene.memory, scene.vpu, scene.system))

            in_threads(work)
            for first, *others in zip(*seen):
                assert all(other is first for other in others)
            assert native_handles() == 6


def test_fork_in_the_middle():
    with Scene("s5000x8") as scene:
        expected = query_everything(scene.device)

        def child():
            assert query_everything(scene.device) == expected
            pymtml.mtmlLibraryShutDown()
            assert simulated.references() == 0
            for _ in range(10):
                pymtml.mtmlLibraryInit()
                assert query_everything(scene.device) == expected
                pymtml.mtmlLibraryShutDown()

        assert in_child(child) == 0
        assert query_everything(scene.device) == expected
        assert simulated.references() == 1


@forks_a_busy_process
def test_forks_while_threads_query():
    with Scene("s5000x8") as scene:
        with over_and_over(lambda number: query_everything(scene.at(number)), 4):
            for _ in range(10):
                assert in_child(lambda: [query_everything(scene.at(i)) for i in range(8)]) == 0


# ---- The end of a process ----

AT_EXIT = """
import atexit, sys
import pymtml

class Monitor:
    def __init__(self):
        pymtml.mtmlLibraryInit()
        self.device = pymtml.mtmlLibraryInitDeviceByIndex(0)

    def __del__(self, out=sys.stdout):
        values = (pymtml.mtmlDeviceGetName(self.device), str(pymtml.mtmlGpuGetTemperature(self.device)))
        {shutdown}
        out.write(" ".join(values))
        out.flush()

{holder}
{more}
"""
HOLDERS = (
    "monitor = Monitor()",
    "cycle = [Monitor()]; cycle.append(cycle); del cycle",
    "atexit.register(lambda kept=Monitor(): None)",
)


@not_on_pypy.end
@pytest.mark.parametrize(
    "shutdown, holder, more",
    [("pymtml.mtmlLibraryShutDown()", holder, "") for holder in HOLDERS]
    + [("pass", HOLDERS[0], ""), ("pass", HOLDERS[0], "atexit.register(pymtml.mtmlLibraryInit)")],
)
def test_queries_while_the_interpreter_ends(shutdown, holder, more):
    result = run_python(AT_EXIT.format(shutdown=shutdown, holder=holder, more=more), name="s80")
    assert (result.returncode, result.stderr) == (0, "")
    keys = simulated.device_keys("s80", 0)
    assert result.stdout == "%s %s" % (keys["name"], keys["gpu_temperature"])


IN_A_THREAD = """
import threading, time
import pymtml

def forever():
    while True:
        device = pymtml.mtmlLibraryInitDeviceByIndex(0)
        pymtml.mtmlGpuGetClock(device), pymtml.mtmlDeviceGetPciInfo(device).busId

pymtml.mtmlLibraryInit()
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.05)
"""


@pytest.mark.parametrize(
    "code", [IN_A_THREAD, "from pymtml import *; mtmlLibraryInit(); mtmlLibraryInitDeviceByIndex(0)"]
)
def test_exit_without_shutdown_is_quiet(code):
    result = run_python(code, name="s80")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
