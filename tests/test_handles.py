"""Handles as objects: equality, hash, repr, copies through ctypes, pickling."""

import _thread
import contextlib
import copy
import ctypes
import gc
import os
import pickle
import sys
import threading
import time
import weakref

import pytest
import simulated
from concurrency import before_line, elsewhere, in_child, in_thread
from interpreter import FREE_THREADED
from native_calls import Scene
from test_signals import interrupted_before

import pymtml

KINDS = ("system", "device", "gpu", "memory", "vpu")


def test_equality_and_hash_are_those_of_the_address():
    with Scene("s5000x8") as scene:
        one, two = scene.at(0), scene.at(1)
        other_object = ctypes.cast(one, pymtml.c_mtmlDevice_t)
        assert other_object is not one
        assert one == other_object and not one != other_object and hash(one) == hash(other_object)
        assert one != two and not one == two
        assert {one: "x"}[other_object] == "x"
        assert {scene.gpu: 1, scene.memory: 2, scene.vpu: 3, one: 4}[scene.memory] == 2
        address = one._address, ctypes.c_void_p(one._address), ctypes.cast(one, pymtml.c_mtmlGpu_t)
        for foreign in (None, 0, "x", scene.gpu, scene.library) + address:
            assert one != foreign and not one == foreign and foreign != one
        assert pymtml.c_mtmlDevice_t() == pymtml.c_mtmlDevice_t()
        assert one and not pymtml.c_mtmlDevice_t()


def test_a_stale_handle_equals_only_itself():
    """C may give the next life the same addresses."""
    with Scene("s5000x8") as scene:
        old = [getattr(scene, kind) for kind in KINDS + ("library",)]
        copies = [ctypes.cast(handle, type(handle)) for handle in old]
        assert old == copies
    for handle, copied in zip(old, copies):
        assert handle == handle and not handle != handle
        assert handle != copied and copied != handle and not handle == copied and hash(handle) == hash(copied)


def test_a_stale_handle_does_not_name_the_device_that_has_its_address_now(monkeypatch):
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")  # C goes on, with the same addresses
    with simulated.nvml("s5000x8"):
        old = pymtml.nvmlDeviceGetHandleByIndex(0)
        pymtml.nvmlShutdown()
        pymtml.nvmlInit()
        new = pymtml.nvmlDeviceGetHandleByIndex(0)
        assert old._address == new._address and pymtml.nvmlDeviceGetTopologyCommonAncestor(new, new) is not None
        for pair in ((old, new), (new, old)):
            pytest.raises(pymtml.NVMLError_InvalidArgument, pymtml.nvmlDeviceGetTopologyCommonAncestor, *pair)


FIRST_USES = {
    "card": lambda: pymtml.nvmlDeviceGetHandleByIndex(0),
    "gpu": lambda: pymtml.mtmlDeviceInitGpu(pymtml.mtmlLibraryInitDeviceByIndex(0)),
    "system": pymtml.mtmlLibraryInitSystem,
}


@pytest.mark.parametrize("what", FIRST_USES)
def test_two_threads_that_come_first_get_the_same_handle(what):
    """Whichever line of its first use the one is at when the other does all of it."""
    step, begun, others = 0, True, []
    first_use = lambda: others.append(FIRST_USES[what]())  # noqa: E731
    while begun:
        step += 1
        with simulated.nvml("s80"):
            mine, begun = before_line(step, FIRST_USES[what], lambda: elsewhere(first_use))
            assert not begun or others.pop() is mine, step
            assert FIRST_USES[what]() is mine
    assert step > 5


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
    pytest.raises(pymtml.MTMLError_Uninitialized, pymtml.mtmlDeviceGetUUID, array[1])


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_handles_cannot_be_copied_or_pickled(duplicate):
    with Scene("s80") as scene:
        for kind in KINDS:
            with pytest.raises(ValueError) as caught:
                duplicate(getattr(scene, kind))
            assert "UUID" in str(caught.value)


def test_ended_handles_are_not_kept_alive():
    """Neither by the life that they were of, however many changes and resets it sees, nor by the library."""
    with simulated.nvml("s3000-mpc") as nvml:
        ended = []
        for _ in range(20):
            device = nvml.nvmlDeviceGetHandleByIndex(0)
            nvml.nvmlDeviceGetName(device), nvml.nvmlDeviceGetUUID(device)
            ended.append(weakref.ref(device))
            nvml.mtmlDeviceReset(device)
            device = nvml.nvmlDeviceGetHandleByIndex(0)
            ended.append(weakref.ref(device))
            nvml.nvmlDeviceSetMigMode(device, 1 - nvml.nvmlDeviceGetMigMode(device)[0])
            del device
        gc.collect()
        assert [handle for handle in ended if handle() is not None] == []


@pytest.mark.parametrize("other", [False, True])
def test_they_end_where_get_ident_tells_of_greenlets(other, monkeypatch):
    """As under gevent and eventlet: the own thread is known all the same, and others are still waited for."""
    monkeypatch.setattr(_thread, "get_ident", lambda: 0)
    with simulated.nvml("s3000-mpc"):
        device, over = pymtml.nvmlDeviceGetHandleByIndex(0), threading.Event()
        thread = threading.Thread(target=over.wait)
        if other and not FREE_THREADED:
            thread.start()
        pymtml.mtmlDeviceReset(device)
        assert pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), 0) == pymtml.NVML_SUCCESS
        pymtml.mtmlLibraryShutDown()
        assert simulated.references() == pymtml._nvmlLib_refcount == 0
        over.set()


def test_handles_that_an_interrupted_shutdown_left_end_with_the_next_init():
    step, place, left = 0, "start", 0
    while place:
        step += 1
        with simulated.nvml("s5000x8"):
            device = pymtml.nvmlDeviceGetHandleByIndex(0)
            place = interrupted_before(step, pymtml.nvmlShutdown)
            left += hasattr(device, "_device") and not pymtml._nvmlLib_refcount
            if not pymtml._nvmlLib_refcount:
                pymtml.nvmlInit()
                pytest.raises(pymtml.NVMLError_InvalidArgument, pymtml.nvmlDeviceGetName, device)
                assert pymtml.nvmlDeviceGetHandleByIndex(0) is not device
    assert step > 20 and left > 2


@pytest.mark.skipif(FREE_THREADED, reason="without a GIL C is kept while there are other threads, who could fill it")
def test_a_slot_that_is_filled_during_a_last_shutdown_is_looked_for_again(monkeypatch):
    """Whoever has filled it has a pointer of C: the library is not ended before nobody has."""
    looks, frames = [], sys._current_frames

    def look():
        looks.append(hasattr(device, "_gpu"))
        if len(looks) == 1:
            life.filled.append((device, "_gpu"))
            device._gpu = argument
        return frames()

    with simulated.machine("s5000x8"):
        pymtml.mtmlLibraryInit()
        device, life = pymtml.nvmlDeviceGetHandleByIndex(0), pymtml._session.life
        pymtml.nvmlDeviceGetUtilizationRates(device)
        argument = device._gpu
        monkeypatch.setattr(sys, "_current_frames", look)
        pymtml.mtmlLibraryShutDown()
        assert len(looks) > 1 and not looks[-1] and not hasattr(device, "_gpu") and simulated.references() == 0


@pytest.mark.skipif(FREE_THREADED, reason="without a GIL changes are refused while there are other threads")
@pytest.mark.parametrize("function", ["nvmlDeviceGetName", "nvmlDeviceGetBoardId"])
def test_a_query_that_a_refused_change_overtakes_raises_in_use(function, monkeypatch):
    """Its handle was not good when it looked, and is again: that is not the caller's fault."""
    ask = getattr(pymtml, function)
    find, ends = pymtml._live_device, []

    def overtaken(handle):
        monkeypatch.setattr(pymtml, "_live_device", find)
        thread, end = in_thread(lambda: pymtml.nvmlDeviceSetMigMode(card, 0))
        thread.join()
        ends.extend(end)

    monkeypatch.setattr(pymtml, "_DRAIN_SECONDS", 0.01)
    with simulated.nvml("s3000-mpc"):
        card, other = [pymtml.nvmlDeviceGetHandleByIndex(index) for index in (0, 1)]
        copy = ctypes.cast(other, pymtml.c_mtmlDevice_t)  # is looked for, as it has no slots
        monkeypatch.setattr(pymtml, "_live_device", overtaken)
        pytest.raises(pymtml.NVMLError_InUse, ask, copy)
        waited = "a query of another thread did not return within 0.01 seconds, and nothing was changed"
        assert [(type(end), end.detail) for end in ends] == [(pymtml.NVMLError_InUse, waited)]
        assert ask(copy) == ask(other)


@pytest.mark.parametrize("function", ["nvmlDeviceGetName", "nvmlDeviceGetBoardId"])
def test_a_handle_that_is_not_good_during_a_change_may_be_afterwards(function):
    ask = getattr(pymtml, function)
    with simulated.nvml("s3000-mpc"):
        card, life = pymtml.nvmlDeviceGetHandleByIndex(0), pymtml._session.life
        copy = ctypes.cast(card, pymtml.c_mtmlDevice_t)
        del life.devices[card._address]
        life.changing.append("one")
        pytest.raises(pymtml.NVMLError_InUse, ask, copy)
        life.changing.remove("one")
        pytest.raises(pymtml.NVMLError_InvalidArgument, ask, copy)


@pytest.mark.skipif(FREE_THREADED, reason="without a GIL changes are refused while there are other threads")
def test_changes_come_one_after_another_and_may_be_all_that_a_thread_does():
    with simulated.nvml("s3000-mpc"):
        card, life = pymtml.nvmlDeviceGetHandleByIndex(0), pymtml._session.life
        life.changing.append("another one")
        with pytest.raises(pymtml.NVMLError_InUse, match="another thread is in the middle of a change"):
            pymtml.nvmlDeviceSetMigMode(card, 0)
        life.changing.remove("another one")
        assert pymtml.nvmlDeviceGetMigMode(card) == [1, 1]
        _thread.start_new_thread(pymtml.nvmlDeviceSetMigMode, (card, 0))
        end = time.monotonic() + 10
        while (not life.changes or life.changing) and time.monotonic() < end:
            time.sleep(0.001)
        assert pymtml.nvmlDeviceGetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0)) == [0, 0]


@pytest.mark.skipif(FREE_THREADED, reason="without a GIL changes are refused while there are other threads")
@pytest.mark.parametrize("step", ["carry_out", "settle"])
def test_a_change_waits_for_whoever_has_the_lock(step, monkeypatch):
    """Both its call of C and its end: an init or a shutdown sees neither half done."""
    reached = threading.Event()
    before = {"carry_out": "drain", "settle": "carry_out"}[step]
    original = getattr(pymtml._Change, before)
    if step == "settle":
        original = lambda self, *arguments: (pymtml.MTML_ERROR_NO_PERMISSION, None)  # noqa: E731  C was not called

    def noted(self, *arguments):
        found = original(self, *arguments)
        reached.set()
        return found

    monkeypatch.setattr(pymtml._Change, before, noted)
    with simulated.nvml("s3000-mpc"):
        card, life = pymtml.nvmlDeviceGetHandleByIndex(0), pymtml._session.life
        simulated.reset_calls()
        with pymtml._locks.lifecycle:
            thread, _ = in_thread(lambda: pymtml.nvmlDeviceSetMigMode(card, 0))
            assert reached.wait(10)
            thread.join(0.1)
            assert life.changing and simulated.calls("mtmlDeviceSetMpcMode") == 0
        thread.join(10)
        assert not life.changing and simulated.calls("mtmlDeviceSetMpcMode") == (step == "carry_out")


def test_an_answer_that_comes_after_the_end_of_a_handle_is_not_kept(monkeypatch):
    def restart(buffer, text=pymtml._text):
        pymtml.nvmlShutdown()
        pymtml.nvmlInit()
        return text(buffer)

    with simulated.nvml("s80"):
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        monkeypatch.setattr(pymtml, "_text", restart)
        assert pymtml.nvmlDeviceGetName(device) == "MTT S80"
        monkeypatch.undo()
        pytest.raises(pymtml.NVMLError_InvalidArgument, pymtml.nvmlDeviceGetName, device)


def test_a_slot_that_a_running_query_fills_is_emptied_again(monkeypatch):
    """A change looks at the stacks until no slot was filled since it emptied them."""
    others, carry_out, seen = pymtml._other_threads, pymtml._Change.carry_out, []

    def filling():
        if not seen:
            seen.append(pymtml._keep(card, "_name", "late"))
        return others()

    def looking(self, *arguments):
        seen.append(hasattr(card, "_name"))
        return carry_out(self, *arguments)

    with simulated.nvml("s3000-mpc"):
        card = pymtml.nvmlDeviceGetHandleByIndex(1)
        monkeypatch.setattr(pymtml, "_other_threads", filling)
        monkeypatch.setattr(pymtml._Change, "carry_out", looking)
        pymtml.mtmlDeviceReset(pymtml.nvmlDeviceGetHandleByIndex(0))
        assert seen == ["late", False]


def make(device):
    pymtml.mtmlDeviceSetMpcMode(device, 1)


def refused(device):
    simulated.set_faults("mtmlDeviceSetMpcMode=NO_PERMISSION@0x1")
    pytest.raises(pymtml.MTMLError_NoPermission, pymtml.mtmlDeviceSetMpcMode, device, 1)


@pytest.mark.parametrize("change, restarts", [(make, 1), (refused, 0), (pymtml.mtmlDeviceReset, 0)])
def test_a_kept_library_is_restarted_after_a_change_of_mpc_alone(change, restarts, monkeypatch):
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
    with simulated.nvml("s3000-mpc"):
        change(pymtml.mtmlLibraryInitDeviceByIndex(0))
        pymtml.nvmlShutdown()
        simulated.reset_calls()
        pymtml.nvmlInit()
        assert simulated.calls("mtmlLibraryInit") == simulated.calls("mtmlLibraryShutDown") == restarts
        assert simulated.calls("mtmlLibraryCountDevice") == 1 - restarts  # whether it answers, unless that is known


@pytest.mark.skipif(FREE_THREADED, reason="without a GIL changes are refused while there are other threads")
def test_a_change_whose_life_another_thread_has_ended(monkeypatch):
    drain = pymtml._Change.drain

    def late(self):
        found = drain(self)
        in_thread(pymtml.nvmlShutdown)[0].join()
        return found

    with simulated.nvml("s3000-mpc"):
        card = pymtml.nvmlDeviceGetHandleByIndex(0)
        monkeypatch.setattr(pymtml._Change, "drain", late)
        simulated.reset_calls()
        pytest.raises(pymtml.NVMLError_Uninitialized, pymtml.nvmlDeviceSetMigMode, card, 0)
        assert simulated.calls("mtmlDeviceSetMpcMode") == 0
        pytest.raises(pymtml.NVMLError_Uninitialized, pymtml.nvmlDeviceGetComputeMode, card)  # it stays ended


def test_an_init_and_a_shutdown_may_be_all_that_a_thread_does():
    """Below them there is no frame of the program."""
    with simulated.machine("s5000x8"):
        for work, references in ((pymtml.nvmlInit, 1), (pymtml.nvmlShutdown, 0)):
            _thread.start_new_thread(work, ())
            end = time.monotonic() + 10
            while pymtml._nvmlLib_refcount != references and time.monotonic() < end:
                time.sleep(0.001)
            assert pymtml._nvmlLib_refcount == references


def begin_and_end():
    pymtml.mtmlLibraryInit()
    pymtml.mtmlLibraryShutDown()


def change():
    pymtml.nvmlInit()
    pymtml.nvmlDeviceSetMigMode(pymtml.nvmlDeviceGetHandleByIndex(0), 0)
    pymtml.nvmlShutdown()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("work", [begin_and_end, change])
def test_a_fork_in_the_middle_leaves_parent_and_child_whole(work):
    """A signal handler that forks: what it came into goes on in both, and either can begin and end a life then."""

    def child(step):
        children = []
        _, forked = before_line(step, work, lambda: children.append(os.fork()))
        assert pymtml._nvmlLib_refcount == 0
        pymtml.nvmlInit()
        assert pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(1))
        pymtml.mtmlLibraryShutDown()
        assert simulated.references() == 0
        for child in filter(None, children):
            assert os.waitpid(child, 0)[1] == 0
        if not forked:
            os._exit(7)

    with simulated.machine("s3000-mpc"):
        for step in range(1, 2000, 31):
            status = in_child(lambda: child(step))
            if status == 7:
                break
            assert status == 0, step
        assert step > 100


@pytest.mark.parametrize("ask", [pymtml.nvmlSystemGetDriverVersion, pymtml.mtmlLibraryInitSystem])
def test_a_life_that_begins_before_any_line_of_a_query(ask):
    """In another thread: the query ends in an answer, or as before it; its handle is of that life or stale."""
    step, begun = 0, True
    with simulated.machine("s80"):
        while begun:
            step += 1
            answer, begun = before_line(step, ask, lambda: elsewhere(pymtml.nvmlInit))
            assert answer or answer in (pymtml.NVMLError_Uninitialized, pymtml.NVMLError_InvalidArgument), step
            simulated.shut_down()
    assert step > 3


def test_a_life_that_ends_before_any_line_of_a_question_that_names_no_card(monkeypatch):
    """In another thread, of a library that lacks the function: that is said, or that no library is initialized."""
    pymtml._mtmlGetFunctionPointer("mtmlLibraryGetVersion")  # loads the library
    monkeypatch.delitem(pymtml._functions, "mtmlLibraryGetVersion")
    step, ended, answers = 0, True, []
    with simulated.machine("s80"):
        while ended:
            step += 1
            pymtml.nvmlInit()
            answer, ended = before_line(step, pymtml.mtmlLibraryGetVersion, lambda: elsewhere(pymtml.nvmlShutdown))
            answers.append(answer)
            simulated.shut_down()
    assert set(answers) == {pymtml.MTMLError_Uninitialized, pymtml.MTMLError_FunctionNotFound}


def test_what_a_handle_holds_lies_in_its_slots():
    """Which are read faster than a dict, and which the class lists."""
    with Scene("s5000x8") as scene:
        for name in dir(pymtml):
            if name.startswith("nvmlDeviceGet"):
                for further in ((), (0,)):
                    with contextlib.suppress(TypeError, pymtml.NVMLError):
                        getattr(pymtml, name)(scene.device, *further)
        filled = [slot for slot in pymtml.c_mtmlDevice_t.__slots__ if hasattr(scene.device, slot)]
        assert len(filled) > 15, filled
        for kind in KINDS + ("library",):
            handle = getattr(scene, kind)
            assert hasattr(handle, handle._own) and handle._address
            assert not set(vars(handle)) - {"_buffer"}  # where PyPy keeps a struct's memory


@pytest.mark.skipif(FREE_THREADED, reason="without a GIL changes are refused while there are other threads")
def test_no_question_reaches_c_during_a_change(monkeypatch):
    """Of the library either, whose pointer C may end."""
    carry_out, answers = pymtml._Change.carry_out, []
    questions = [pymtml.mtmlLibraryCountDevice, pymtml.mtmlSystemGetDriverVersion]
    questions += [lambda: pymtml.mtmlDeviceGetName(card)]

    def asked(self, *arguments):
        for question in questions:
            thread, ends = in_thread(question)
            thread.join(30)
            answers.extend(map(type, ends))
        assert simulated.calls() == 0
        return carry_out(self, *arguments)

    with simulated.nvml("s3000-mpc"):
        card = pymtml.mtmlLibraryInitDeviceByIndex(0)
        monkeypatch.setattr(pymtml._Change, "carry_out", asked)
        simulated.reset_calls()
        pymtml.mtmlDeviceReset(card)
    assert answers == [pymtml.MTMLError_ResourceIsBusy] * len(questions)


def test_a_query_of_a_signal_handler_in_the_middle_of_an_init_is_seen(monkeypatch):
    """Below it are the frames of the handler and of the init; a shutdown of another thread must not end C."""
    seen = []

    def looked(*arguments):
        thread, _ = in_thread(pymtml.mtmlLibraryShutDown)
        thread.join(10)
        seen.append(simulated.state())
        return real(*arguments)

    def handler(frame, event, argument):
        if frame.f_code.co_filename == pymtml.__file__ and frame.f_code.co_name != "nvmlInit":
            sys.settrace(None)
            pymtml.nvmlDeviceGetPowerUsage(card)

    with simulated.nvml("s80"):
        card, real = pymtml.nvmlDeviceGetHandleByIndex(0), pymtml._c.mtmlDeviceGetPowerUsage
        monkeypatch.setattr(pymtml._c, "mtmlDeviceGetPowerUsage", looked)
        sys.settrace(handler)
        pymtml.nvmlInit()
        assert seen == [(0, 1)] and simulated.state() == (1, 1)
