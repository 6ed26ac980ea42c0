"""Counted init and shutdown, identity and staleness of handles, threads, forks, signals, and the end of a process."""

import sys

import pytest
import simulated
from concurrency import in_child, over_and_over
from interpreter import forks_a_busy_process, not_on_pypy
from native_calls import Scene

import pymtml


def native_handles():
    return simulated.library.mtmlSimGetHandleCount()


def query_everything(device):
    """What a monitor asks of a device; a changed result would be a wrong read."""
    texts = pymtml.mtmlDeviceGetName(device), pymtml.mtmlDeviceGetUUID(device)
    texts += (pymtml.mtmlDeviceGetPciInfo(device).busId,)
    memory = pymtml.mtmlMemoryGetUsed(device), pymtml.mtmlMemoryGetTotal(device)
    gpu = pymtml.mtmlGpuGetUtilization(device), pymtml.mtmlGpuGetTemperature(device), pymtml.mtmlVpuGetClock(device)
    return texts + memory + gpu + (pymtml.mtmlDeviceGetPowerUsage(device),)


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
                pytest.raises(pymtml.MTMLError_InvalidArgument, function, handle)
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
            pytest.raises(pymtml.MTMLError_InvalidArgument, pymtml.mtmlDeviceGetUUID, handle)
        pymtml.mtmlLibraryShutDown()
        pymtml.mtmlLibraryInit()
        assert pymtml.mtmlLibraryCountDevice() == 2


# ---- Threads and forks ----


@forks_a_busy_process
def test_threads_and_forked_children_read_their_own_device():
    with Scene("s5000x8") as scene:
        expected = [query_everything(scene.at(i)) for i in range(8)]
        assert len(set(expected)) == 8

        def work(number):
            assert query_everything(scene.at(number)) == expected[number]

        with over_and_over(work, 8):
            for _ in range(10):
                assert in_child(lambda: [work(number) for number in range(8)]) == 0


# ---- The end of a process ----

TEARDOWN = """
import atexit, builtins, os, sys
import pymtml

class Late:
    def __init__(self):
        self.device = pymtml.nvmlDeviceGetHandleByIndex(0)
        self.calls = [
            (pymtml.nvmlDeviceGetName, ()),
            (pymtml.nvmlDeviceGetMemoryInfo, ()),
            (pymtml.nvmlDeviceGetFieldValues, ([pymtml.NVML_FI_DEV_POWER_INSTANT],)),
            (pymtml.nvmlDeviceGetNumaNodeId, ()),
            (pymtml.nvmlDeviceGetComputeRunningProcesses, ()),
            (pymtml.nvmlDeviceGetUtilizationRates, ()),
            (pymtml.mtmlDeviceGetName, ()),
            (pymtml.mtmlGpuGetTemperature, ()),
        ]
    def __del__(self, write=os.write, Error=pymtml.NVMLError):
        for function, arguments in self.calls:
            try:
                function(self.device, *arguments)
                write(1, b"answered ")
            except Error:
                write(1, b"refused ")

pymtml.nvmlInit()
late = Late()
if sys.argv[1] == "builtins, a cycle, atexit":
    builtins.keep = Late()
    cycle = [Late()]
    cycle.append(cycle)
    del cycle
    atexit.register(lambda kept=Late(): None)
if sys.argv[1] == "init":
    atexit.register(pymtml.mtmlLibraryInit)
if sys.argv[1] != "global":
    sys.modules["late"] = late
if sys.argv[1] == "shutdown":
    atexit.register(pymtml.nvmlShutdown)
if sys.argv[1] != "first":
    pymtml.nvmlDeviceGetMemoryInfo(late.device)
"""


@not_on_pypy.end
@pytest.mark.parametrize("how", ["first", "global", "builtins, a cycle, atexit", "init", "shutdown"])
def test_calls_at_interpreter_teardown(how):
    """From __del__ when modules and even builtins are gone, with and without a shutdown: answers, and a clean end."""
    result = simulated.run_python(TEARDOWN, how, name="s5000x8")
    answers = 8 * ("refused " if how == "shutdown" else "answered ") * (4 if how.startswith("builtins") else 1)
    assert (result.returncode, result.stderr, result.stdout) == (0, "", answers)


POOL = """
import multiprocessing
import sys

import pymtml


def work(index):
    pymtml.nvmlInit()
    try:
        name = pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(index))
        return name, pymtml._nvmlLib_refcount
    finally:
        pymtml.nvmlShutdown()


def fail(index):
    pymtml.nvmlDeviceGetName(None)


if __name__ == "__main__":
    pymtml.nvmlInit()
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(*sorted(set(pool.map(work, range(8)))))
        try:
            pool.map(fail, [0])
        except pymtml.NVMLError as error:
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
