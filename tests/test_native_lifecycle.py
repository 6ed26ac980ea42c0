"""Counted init and shutdown, identity and staleness of handles, threads, forks, signals, and the end of a process."""

import contextlib
import copy
import ctypes
import gc
import os
import pickle
import sys
import weakref

import pytest
import simulated
from concurrency import held, in_child, in_thread, in_threads, over_and_over
from interpreter import FREE_THREADED, forks_a_busy_process, not_on_pypy
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


def test_native_init_and_shutdown_are_paired():
    with simulated.machine("s80"):
        simulated.reset_calls()
        for _ in range(5):
            pymtml.mtmlLibraryInit()
        for _ in range(5):
            pymtml.mtmlLibraryShutDown()
        pymtml.mtmlLibraryInit()
        pymtml.mtmlLibraryShutDown()
        assert simulated.calls("mtmlLibraryInit") == simulated.calls("mtmlLibraryShutDown") == 2


def test_native_and_facade_inits_are_counted_together():
    with simulated.machine("s80"):
        pymtml.mtmlLibraryInit()
        pymtml.nvmlInit()
        pymtml.mtmlLibraryShutDown()
        device = pymtml.mtmlLibraryInitDeviceByIndex(0)
        assert pymtml.nvmlDeviceGetHandleByIndex(0) is device
        pymtml.nvmlShutdown()
        assert simulated.references() == 0
        with pytest.raises(pymtml.MTMLError_Uninitialized):
            pymtml.mtmlDeviceGetName(device)


def test_init_that_is_refused_after_a_shutdown():
    with simulated.machine("s80"):
        pymtml.mtmlLibraryInit()
        simulated.set_value(simulated.MACHINE, "reinit", "DRIVER_FAILURE")
        pymtml.mtmlLibraryShutDown()
        with pytest.raises(pymtml.MTMLError_DriverFailure):
            pymtml.mtmlLibraryInit()
        with pytest.raises(pymtml.MTMLError_Uninitialized):
            pymtml.mtmlLibraryCountDevice()
        assert simulated.references() == 0


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
        assert scene.system is scene.system
        for kind in ("gpu", "memory", "vpu"):
            assert getattr(pymtml, "mtmlDeviceInit" + kind.capitalize())(getattr(scene, kind)) is getattr(scene, kind)
        assert len({scene.at(i) for i in range(8)}) == 8
        assert native_handles() == 1 + 1 + 8 + 3


def test_equality_and_hash_are_those_of_the_address():
    with Scene("s5000x8") as scene:
        one, two = scene.at(0), scene.at(1)
        other_object = ctypes.cast(one, pymtml.c_mtmlDevice_t)
        assert other_object is not one
        assert one == other_object and not one != other_object and hash(one) == hash(other_object)
        assert one != two and not one == two
        assert {one: "x"}[other_object] == "x"
        assert {scene.gpu: 1, scene.memory: 2, scene.vpu: 3, one: 4}[scene.memory] == 2
        for foreign in (None, 0, "x", one._address, ctypes.c_void_p(one._address), scene.gpu, scene.library):
            assert one != foreign and not one == foreign
        assert pymtml.c_mtmlDevice_t() == pymtml.c_mtmlDevice_t()
        assert one and not pymtml.c_mtmlDevice_t()


def test_repr_names_class_and_address():
    with Scene("s80") as scene:
        for kind in KINDS + ("library",):
            handle = getattr(scene, kind)
            assert repr(handle) == "<c_mtml%s_t 0x%x>" % (kind.capitalize(), handle._address)
        device = scene.device
    assert repr(device).startswith("<c_mtmlDevice_t 0x")
    assert repr(pymtml.c_mtmlDevice_t()) == "<c_mtmlDevice_t 0x0>"


def test_handles_are_those_of_nvml():
    assert pymtml.c_nvmlDevice_t is pymtml.c_mtmlDevice_t
    with Scene("s80") as scene:
        assert isinstance(scene.device, ctypes.POINTER(pymtml.struct_c_nvmlDevice_t))


def test_copies_through_ctypes_name_the_same_device():
    with Scene("s5000x8") as scene:
        array = (pymtml.c_mtmlDevice_t * 2)(scene.at(0), scene.at(1))
        for copied in (array[1], ctypes.cast(scene.at(1), pymtml.c_mtmlDevice_t)):
            assert pymtml.mtmlDeviceGetUUID(copied) == simulated.device_keys("s5000x8", 1)["uuid"]
            assert pymtml.mtmlGpuGetTemperature(copied) == pymtml.mtmlGpuGetTemperature(scene.at(1))
            assert pymtml.mtmlDeviceInitGpu(copied) is pymtml.mtmlDeviceInitGpu(scene.at(1))
    with pytest.raises(pymtml.MTMLError_Uninitialized):
        pymtml.mtmlDeviceGetUUID(array[1])


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_handles_cannot_be_copied_or_pickled(duplicate):
    with Scene("s80") as scene:
        for kind in KINDS:
            with pytest.raises(ValueError) as caught:
                duplicate(getattr(scene, kind))
            assert "UUID" in str(caught.value)


@pytest.mark.parametrize(
    "function, kind",
    [
        (pymtml.mtmlDeviceGetName, "device"),
        (pymtml.mtmlGpuGetUtilization, "gpu"),
        (pymtml.mtmlMemoryGetTotal, "memory"),
        (pymtml.mtmlVpuGetClock, "vpu"),
        (pymtml.mtmlSystemGetDriverVersion, "system"),
    ],
)
def test_stale_handles(function, kind):
    with Scene("s80") as scene:
        handle = getattr(scene, kind)
        function(handle)
        pymtml.mtmlLibraryInit()
        pymtml.mtmlLibraryShutDown()
        function(handle)
        pymtml.mtmlLibraryShutDown()
        with pytest.raises(pymtml.MTMLError_Uninitialized):
            function(handle)
        pymtml.mtmlLibraryInit()
        for _ in range(2):
            with pytest.raises(pymtml.MTMLError_InvalidArgument):
                function(handle)
            function(getattr(scene, kind))  # may lie at the old address, and is another handle all the same


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


def test_query_keeps_nothing_on_a_handle_that_became_stale_meanwhile(monkeypatch):
    """The name comes from C when the handle is stale already: it must not answer for it later."""
    with simulated.nvml("s3000-mpc"):
        stale = pymtml.nvmlDeviceGetHandleByIndex(0)
        pymtml.nvmlDeviceGetUUID(stale)
        text = pymtml._text

        def late(buffer):
            monkeypatch.setattr(pymtml, "_text", text)
            thread, _ = in_thread(lambda: pymtml._retire_all(pymtml._session.life, []))
            thread.join()
            return text(buffer)

        monkeypatch.setattr(pymtml, "_text", late)
        assert pymtml.nvmlDeviceGetName(stale)
        for query in (pymtml.nvmlDeviceGetName, pymtml.nvmlDeviceGetUUID, pymtml.nvmlDeviceGetPowerUsage):
            with pytest.raises(pymtml.NVMLError_InvalidArgument):
                query(stale)


@pytest.mark.parametrize("comes_back", [True, False])
@pytest.mark.parametrize(
    "query, before, after", [("mtmlDeviceInitGpu", None, "_resolve"), ("mtmlGpuGetClock", "_make_child", None)]
)
def test_device_that_became_stale_on_the_way_to_its_gpu(query, before, after, comes_back, monkeypatch):
    """A signal handler changes MPC when the device was found good: nothing is made for it."""
    name = before or after
    inner = getattr(pymtml, name)

    def late(*arguments):
        found = inner(*arguments) if after else None
        monkeypatch.setattr(pymtml, name, inner)
        simulated.set_faults("" if comes_back else "mtmlLibraryInit=DRIVER_FAILURE@0x1")
        with contextlib.suppress(pymtml.NVMLError_Unknown):
            pymtml.nvmlDeviceSetMigMode(device, 0)
        simulated.set_faults("")
        return inner(*arguments) if before else found

    with simulated.machine("s3000-mpc"):
        pymtml.nvmlInit()
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        monkeypatch.setattr(pymtml, name, late)
        with pytest.raises(pymtml.MTMLError_InvalidArgument if comes_back else pymtml.MTMLError_Uninitialized):
            getattr(pymtml, query)(device)
        assert simulated.references() == pymtml._session.references == int(comes_back)
        if comes_back:
            fresh = pymtml.nvmlDeviceGetHandleByIndex(0)
            assert pymtml.mtmlGpuGetClock(pymtml.mtmlDeviceInitGpu(fresh)) == pymtml.mtmlGpuGetClock(fresh)
            pymtml.nvmlShutdown()


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


def test_reset_makes_the_handles_of_its_card_stale():
    with Scene("s5000x8", 1) as scene:
        stale = {kind: getattr(scene, kind) for kind in KINDS[1:]}
        pymtml.mtmlDeviceReset(scene.device)
        for function, kind in (
            (pymtml.mtmlDeviceGetName, "device"),
            (pymtml.mtmlGpuGetUtilization, "gpu"),
            (pymtml.mtmlMemoryGetTotal, "memory"),
            (pymtml.mtmlVpuGetClock, "vpu"),
            (pymtml.mtmlGpuGetUtilization, "device"),
        ):
            with pytest.raises(pymtml.MTMLError_InvalidArgument):
                function(stale[kind])
        assert query_everything(scene.device)[1] == scene.keys["uuid"]
        assert query_everything(scene.at(0))[1] == simulated.device_keys("s5000x8", 0)["uuid"]


# ---- Log callback ----


@pytest.fixture
def log():
    messages = []
    configuration = pymtml.c_mtmlLogConfiguration_t()
    configuration.callbackConfig.level = pymtml.MTML_LOG_LEVEL_INFO
    configuration.callbackConfig.callback = pymtml._mtmlLogCallback_t(
        lambda text, length: messages.append(text[:length])
    )
    pymtml.mtmlLogSetConfiguration(configuration)
    del configuration
    yield messages
    pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t())


def fill_freed_memory():
    gc.collect()
    return [pymtml._mtmlLogCallback_t(lambda text, length: os._exit(99)) for _ in range(100)]


def test_log_callback_outlives_its_configuration(log):
    others = fill_freed_memory()
    with Scene("s80"):
        pass
    assert [message.split(b",")[0] for message in log[-2:]] == [b"library initialized", b"library shut down"]
    del others


def test_log_callback_outlives_a_changed_configuration(log):
    configuration = pymtml.mtmlLogGetConfiguration()
    configuration.fileConfig.level = pymtml.MTML_LOG_LEVEL_OFF
    pymtml.mtmlLogSetConfiguration(configuration)
    del configuration
    others = fill_freed_memory()
    with Scene("s80"):
        pass
    assert log
    del others


def test_log_callback_may_call_the_library(log):
    inner = []
    configuration = pymtml.mtmlLogGetConfiguration()
    configuration.callbackConfig.callback = pymtml._mtmlLogCallback_t(
        lambda text, length: inner.append(pymtml.mtmlErrorString(3))
    )
    pymtml.mtmlLogSetConfiguration(configuration)
    with Scene("s80"):
        pass
    assert set(inner) == {"Invalid argument"}
    assert log == []


def test_log_callback_that_was_removed_is_freed(log):
    class Sentinel:
        pass

    gone = []
    sentinel = Sentinel()
    configuration = pymtml.c_mtmlLogConfiguration_t()
    configuration.callbackConfig.level = pymtml.MTML_LOG_LEVEL_INFO
    configuration.callbackConfig.callback = pymtml._mtmlLogCallback_t(lambda text, length, kept=sentinel: None)
    pymtml.mtmlLogSetConfiguration(configuration)
    sentinel_reference = weakref.ref(sentinel, lambda _: gone.append(True))
    del configuration, sentinel
    gc.collect()
    assert sentinel_reference() is not None
    pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t())
    for _ in range(3):  # what PyPy finds with one, it drops with another
        gc.collect()
    assert gone == [True]


# ---- Threads, forks, signals ----


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


def test_threads_that_init_and_shut_down():
    with simulated.machine("s5000x8"):

        def work(number):
            for _ in range(50):
                pymtml.mtmlLibraryInit()
                assert pymtml.mtmlLibraryCountDevice() == 8
                assert pymtml.mtmlDeviceGetIndex(pymtml.mtmlLibraryInitDeviceByIndex(number)) == number
                pymtml.mtmlLibraryShutDown()

        in_threads(work)
        assert pymtml._session.references == 0
        if FREE_THREADED:  # what was kept goes back with a shutdown of one that is alone
            pymtml.mtmlLibraryInit()
            pymtml.mtmlLibraryShutDown()
        assert (simulated.references(), native_handles()) == (0, 0)


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


def test_fork_while_another_thread_holds_the_lock():
    with Scene("s5000x8") as scene:
        device = scene.device

        def child():
            pymtml.mtmlGpuGetUtilization(device)
            pymtml.mtmlLibraryShutDown()
            pymtml.mtmlLibraryInit()

        with held(pymtml.libLoadLock):
            assert in_child(child) == 0
            assert pymtml.mtmlDeviceGetName(device)


@forks_a_busy_process
def test_forks_while_threads_query():
    with Scene("s5000x8") as scene:
        with over_and_over(lambda number: query_everything(scene.at(number)), 4):
            for _ in range(10):
                assert in_child(lambda: [query_everything(scene.at(i)) for i in range(8)]) == 0


def interrupted_at(step, handler, work):
    """Run work() with handler() coming in, as a signal handler does, before the step-th line of pymtml's code.

    Returns whether there was such a line.
    """
    left = [step]

    def trace(frame, event, argument):
        if frame.f_code.co_filename != pymtml.__file__:
            return None
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                handler()
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return left[0] <= 0


@pytest.mark.parametrize("kept", ["", "1"])
@pytest.mark.parametrize("stays", [False, True])
def test_signal_handler_that_calls_in_anywhere(stays, kept, monkeypatch):
    """A handler that initializes and queries, and shuts down unless it stays, comes before each line of an init, a
    query and a shutdown."""
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", kept)

    def child():
        reads, handler_reads = [], []

        def handler():
            pymtml.mtmlLibraryInit()
            handler_reads.append(query_everything(pymtml.mtmlLibraryInitDeviceByIndex(1)))
            if not stays:
                pymtml.mtmlLibraryShutDown()

        def work():
            library = pymtml.mtmlLibraryInit()
            assert pymtml.mtmlLibraryInit() is library
            pymtml.mtmlLibraryShutDown()
            reads.append(query_everything(pymtml.mtmlLibraryInitDeviceByIndex(0)))
            pymtml.mtmlLibraryShutDown()

        steps = 1
        while interrupted_at(steps, handler, work):
            if stays:
                assert simulated.references() == 1 or kept, steps
                assert query_everything(pymtml.mtmlLibraryInitDeviceByIndex(1)) == handler_reads[0]
                pymtml.mtmlLibraryShutDown()
            assert pymtml._session.references == 0, steps
            assert simulated.references() > 0 if kept else simulated.references() == native_handles() == 0, steps
            steps += 1
        assert steps > 100 and len(handler_reads) == steps - 1
        assert len(set(reads)) == len(set(handler_reads)) == 1 and reads[0] != handler_reads[0]

    with simulated.machine("s5000x8"):
        assert in_child(child) == 0


@pytest.mark.parametrize("function", [pymtml.mtmlLibraryCountDevice, pymtml.mtmlSystemGetDriverVersion])
def test_signal_handlers_init_holds_while_the_init_goes_on_that_it_came_into(function):
    """Before each line of that one another handler may query."""

    def child():
        step, came, answers = 0, True, set()

        def trace(frame, event, argument):
            if frame.f_code.co_filename != pymtml.__file__:
                return None
            if event == "line":
                lines.append(frame.f_lineno)
                if len(lines) == step:
                    pymtml.mtmlLibraryInit()
                if len(lines) >= step:
                    answers.add(function())
            return trace

        while came:
            step, lines = step + 1, []
            sys.settrace(trace)
            try:
                pymtml.mtmlLibraryInit()
            finally:
                sys.settrace(None)
            came = len(lines) >= step
            assert (pymtml._session.references, simulated.references()) == (1 + came, 1), step
            for _ in range(1 + came):
                pymtml.mtmlLibraryShutDown()
        assert step > 30 and len(answers) == 1

    with simulated.machine("s5000x8"):
        assert in_child(child) == 0


def test_change_of_mpc_after_a_signal_handler_left_the_library_initialized(monkeypatch):
    """A handler that initializes and shuts down comes before each line of an init, and what it had is kept: the change
    starts the library anew all the same."""

    def handler():
        pymtml.mtmlLibraryInit()
        pymtml.mtmlLibraryShutDown()

    def child():
        step, came = 0, True
        while came:
            step += 1
            monkeypatch.setenv("PYMTML_KEEP_LIBRARY", "1")
            came = interrupted_at(step, handler, pymtml.mtmlLibraryInit)
            for mode in (0, 1):
                pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), mode)
                assert pymtml.nvmlDeviceGetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0)) == [mode, mode], step
            assert simulated.references() == 1, step
            monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
            pymtml.mtmlLibraryShutDown()
            assert simulated.references() == 0, step
        assert step > 30

    with simulated.machine("s3000-mpc"):
        assert in_child(child) == 0


def test_last_shutdown_gives_back_what_several_signal_handlers_left_initialized(monkeypatch):
    """One comes into an init, the next into the first one's init, and what they had is kept."""
    came = []

    def child():
        pymtml.mtmlLibraryInit()
        pymtml.mtmlLibraryShutDown()
        native = pymtml._c.mtmlLibraryInit

        def interrupted(*arguments):
            if len(came) < 3:
                came.append(simulated.references())
                pymtml.mtmlLibraryInit()
                pymtml.mtmlLibraryShutDown()
            return native(*arguments)

        monkeypatch.setattr(pymtml._c, "mtmlLibraryInit", interrupted)
        monkeypatch.setenv("PYMTML_KEEP_LIBRARY", "1")
        pymtml.mtmlLibraryInit()
        assert (came, simulated.references()) == ([0, 0, 0], 4)
        assert pymtml.mtmlDeviceGetName(pymtml.mtmlLibraryInitDeviceByIndex(0))
        monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
        pymtml.mtmlLibraryShutDown()
        assert (pymtml._session.references, simulated.references()) == (0, 0)

    with simulated.machine("s5000x8"):
        assert in_child(child) == 0


@pytest.mark.parametrize("kept", ["", "1"])
@pytest.mark.parametrize("again", [False, True])
def test_signal_handler_that_shuts_down_anywhere_in_an_init(again, kept, monkeypatch):
    """It takes the init's own reference, if that is there: the init returns, and the library is as after a shutdown, or
    has the reference of the handler that initializes again."""
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", kept)

    def child():
        ends = []

        def handler():
            try:
                pymtml.mtmlLibraryShutDown()
                ends.append(1)
            except pymtml.MTMLError_Uninitialized:
                ends.append(0)
            if again:
                pymtml.mtmlLibraryInit()

        pymtml.mtmlLibraryInit()
        pymtml.mtmlLibraryShutDown()
        step = 1
        while interrupted_at(step, handler, pymtml.mtmlLibraryInit):
            references = 1 + again - ends[-1]
            assert pymtml._session.references == references, step
            assert simulated.references() == (1 if kept else min(1, references)), step
            for _ in range(references):
                assert pymtml.mtmlLibraryCountDevice() == 8
                pymtml.mtmlLibraryShutDown()
            with pytest.raises(pymtml.MTMLError_Uninitialized):
                pymtml.mtmlLibraryCountDevice()
            step += 1
        pymtml.mtmlLibraryShutDown()
        assert step > 30 and 0 < sum(ends) < len(ends)
        assert (pymtml._session.references, simulated.references()) == (0, int(bool(kept)))

    with simulated.machine("s5000x8"):
        assert in_child(child) == 0


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


def test_two_copies_of_the_module_in_one_process():
    code = """
import importlib.util, pymtml
spec = importlib.util.spec_from_file_location("second", pymtml.__file__)
second = importlib.util.module_from_spec(spec); spec.loader.exec_module(second)
pymtml.mtmlLibraryInit(); second.mtmlLibraryInit()
pymtml.mtmlLibraryShutDown()
print(second.mtmlDeviceGetName(second.mtmlLibraryInitDeviceByIndex(0)))
second.mtmlLibraryShutDown()
"""
    result = run_python(code, name="s80")
    assert (result.returncode, result.stdout, result.stderr) == (0, "MTT S80\n", "")
