"""Whatever is passed to a native function, it answers with an exception of its own and never ends the process."""

import ctypes
import decimal
import inspect
import os
import re
import resource
import signal
from unittest import mock

import pytest
import simulated
from concurrency import in_child
from interpreter import FREE_THREADED
from native_calls import CALLS, CHANGES, FUNCTIONS, Scene

import pymtml

CHILD_OF_INIT = {"mtmlDeviceInitGpu": "gpu", "mtmlDeviceInitMemory": "memory", "mtmlDeviceInitVpu": "vpu"}
HANDLES = {"MtmlSystem": "system", "MtmlDevice": "device", "MtmlGpu": "gpu", "MtmlMemory": "memory", "MtmlVpu": "vpu"}


class Answering:
    """Any attribute that it is asked for is there, as the same value."""

    def __init__(self, value):
        self._value = value

    def __getattr__(self, name):
        return self.__dict__["_value"]


class Raising:
    """Its attributes raise what attribute access seldom raises."""

    def __getattr__(self, name):
        raise ValueError(name)


def no_integers(scene):
    plain = ["", "0", b"0", 0.0, 1.5, float("nan"), decimal.Decimal(1), [], [0], (0,), {}, object(), int, lambda: 0]
    return plain + [ctypes.c_uint(0), ctypes.c_void_p(4711), scene.device, scene.library, Answering(0)]


INTEGERS = [-1, -(2**31), 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**64, -(2**64), 10**30, True]


def no_texts(scene):
    return [None, 0, 1.5, [], {}, object(), bytearray(b"x"), memoryview(b"x"), scene.device, Answering("x"), ord("x")]


TEXTS = ["", "x", b"x", b"\xff", "x" * 100000, "\0", "\u00e9", "\udcff", "\ud800", "%s%n", "../../etc/passwd"]


def no_handles(scene, kind, stale):
    """Everything but a handle of that kind, or of the device where that is as good."""
    last = scene.at(pymtml.mtmlLibraryCountDevice() - 1)  # a card of its own on every machine, with all its parts
    wrong = {
        "library": scene.library,
        "system": scene.system,
        "device": last,
        "gpu": pymtml.mtmlDeviceInitGpu(last),
        "memory": pymtml.mtmlDeviceInitMemory(last),
        "vpu": pymtml.mtmlDeviceInitVpu(last),
    }
    del wrong[kind]
    if kind in ("gpu", "memory", "vpu"):
        del wrong["device"]
    null = {name: type(value)() for name, value in wrong.items()}
    return (
        [None, 0, -1, 4711, 2**63, 2**64, 0.0, float("inf"), True, "", "device", b"", b"device", [], [scene.device], {}]
        + [object(), int, type, Ellipsis, NotImplemented, ValueError(), pymtml, len, lambda: 0, iter([]), range(3)]
        + [ctypes.c_int(0), ctypes.c_uint(4711), ctypes.c_void_p(), ctypes.c_void_p(4711), ctypes.c_char_p(b"device")]
        + [(ctypes.c_char * 64)(), (ctypes.c_void_p * 2)(), ctypes.create_string_buffer(8), ctypes.py_object(scene)]
        + [ctypes.byref(scene.device), ctypes.byref(ctypes.c_int()), ctypes.pointer(scene.device)]
        + [
            scene.device.contents,
            pymtml.c_mtmlPciInfo_t(),
            pymtml.c_mtmlVirtType_t(),
            type(scene.device),
            type(scene.device)(),
        ]
        + [mock.Mock(), mock.MagicMock(), mock.Mock(spec=scene.device), Raising()]
        + [Answering(value) for value in (None, 0, 4711, "device", b"device", 1.5, ctypes.c_void_p(4711), scene)]
        + list(wrong.values())
        + list(null.values())
        + list(stale)
    )


def text_of(value):
    try:
        return "%s %.60r" % (type(value).__name__, value)
    except Exception:
        return type(value).__name__


def give_up(signum, frame):
    raise TimeoutError


def outcome(function, arguments):
    """Class of the exception, or "value"; TimeoutError for a call that does not end by itself."""
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(2)
    try:
        repr(function(*arguments))
        return "value"
    except BaseException as error:
        return type(error).__name__
    finally:
        signal.alarm(0)


def c_parameter(name, parameter):
    (found,) = [entry for entry in FUNCTIONS[name]["params"] if entry["name"] == parameter]
    return found


def kind_of(name, parameter):
    """What a Python parameter takes: handle kind, "integer", "text", "struct" or "list"."""
    entry = c_parameter(name, parameter)
    base = entry["ctype"].replace("const ", "").replace("*", "").strip()
    if entry["dir"] == "in_array":
        return "list"
    if base in HANDLES:
        return HANDLES[base]
    if base == "char":
        return "text"
    return "struct" if "*" in entry["ctype"] else "integer"


def stale_handles():
    """Handles of each kind from before the last shutdown."""
    with Scene("s80") as scene:
        return [scene.library, scene.system, scene.device, scene.gpu, scene.memory, scene.vpu]


EXPECTED = {  # of what is not of the parameter's type; of handles and structs InvalidArgument
    "integer": ("TypeError",),
    "text": ("TypeError",),
    "list": ("TypeError", "MTMLError_InvalidArgument"),
}


def junk_for(name, parameter, scene, stale):
    """What is not of the parameter's type (list)."""
    kind = kind_of(name, parameter)
    if kind in HANDLES.values():
        return no_handles(scene, CHILD_OF_INIT.get(name, kind), stale)
    if kind == "integer":
        required = inspect.signature(getattr(pymtml, name)).parameters[parameter].default is inspect.Parameter.empty
        return no_integers(scene) + [None] * required
    return no_texts(scene) if kind == "text" else no_handles(scene, "device", stale)


def replaced(arguments, position, value):
    """The arguments, with another one at that place."""
    arguments = list(arguments) + [None] * (position + 1 - len(arguments))
    return arguments[:position] + [value] + arguments[position + 1 :]


# Functions of one kind are called in one child: a fork of the tests costs more than all the calls in it.
KINDS = {}
for _name in CALLS:
    if inspect.signature(getattr(pymtml, _name)).parameters:
        KINDS.setdefault(re.match("mtml[A-Z][a-z]+[A-Z][a-z]+", _name).group(), []).append(_name)


@pytest.mark.parametrize("kind", KINDS)
def test_odd_arguments(kind, tmp_path):
    """Of the wrong type, and of the right type but strange, in the place of each parameter, in a child."""
    note = os.open(str(tmp_path / "note"), os.O_RDWR | os.O_CREAT)

    def child():
        # An argument that is iterated without end must not take the machine's memory.
        # The allocator of a build without a GIL takes a gigabyte at a time, before anything is in it.
        limit = (4 if FREE_THREADED else 1) << 30
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
        for name in KINDS[kind]:
            call_with_odd_arguments(name, lambda text: os.pwrite(note, text.ljust(250), 0))

    assert in_child(child, 120) == 0, os.pread(note, 250, 0).decode()
    os.close(note)


def call_with_odd_arguments(name, tell):
    """Tell what comes next before each call of a function, which may end the process."""
    function, parameters = getattr(pymtml, name), list(inspect.signature(getattr(pymtml, name)).parameters)
    machine, index = CALLS[name].machines[-1]
    # What does not fit into 32 bits must not be cut to a number that does.
    cut = ["int %d" % number for number in (2**32, 2**32 + 1, 2**64, -(2**64))]

    def ask(scene, parameter, value, wrong):
        tell(("%s, %s: %s" % (name, parameter, text_of(value))).encode("utf-8", "replace"))
        arguments = replaced(CALLS[name].arguments(scene), parameters.index(parameter), value)
        ended, kind = outcome(function, arguments), kind_of(name, parameter)
        if wrong and name == "mtmlSystemGetDriverVersion" and value is None:
            return  # it stands for pymtml's own system handle
        if wrong:
            assert ended in EXPECTED.get(kind, ("MTMLError_InvalidArgument",))
        else:
            assert ended.startswith("MTMLError_") or ended == "value" and kind == "integer", ended
            assert ended != "value" or text_of(value) not in cut or name == "mtmlErrorString"

    stale = stale_handles()
    for parameter in parameters:
        with Scene(machine, index) as scene:
            for value in junk_for(name, parameter, scene, stale):
                ask(scene, parameter, value, True)
        strange = {"integer": INTEGERS, "text": TEXTS}.get(kind_of(name, parameter), ())
        for value in strange if "Affinity" not in name else ():
            with Scene(machine, index) as scene:
                ask(scene, parameter, value, False)


def test_counts_beyond_the_largest_do_not_reach_c():
    with Scene("s5000x8") as scene:
        pair, paths = (scene.at(0), scene.at(1)), pymtml.mtmlDeviceGetMtLinkShortestPaths
        assert paths(*pair, 4096, 2) == paths(*pair, 1, 4096) == paths(*pair) == [list(pair)]
        largest = 2**26 // ctypes.sizeof(pymtml.c_mtmlMtLinkLayout_t)
        simulated.reset_calls()
        for counts in ((4097, 2), (1, 4097)):
            pytest.raises(pymtml.MTMLError_InvalidArgument, paths, *pair, *counts)
        assert simulated.calls() == 0
        pytest.raises(pymtml.MTMLError_InvalidArgument, pymtml.mtmlDeviceGetMtLinkLayouts, *pair, largest + 1)
        assert simulated.calls("mtmlDeviceGetMtLinkLayouts") == 0


@pytest.mark.parametrize("value, name", [(None, "NoneType"), (7, "int"), (bytearray(b"GPU"), "bytearray")])
def test_what_is_no_text_is_named(value, name):
    with Scene("s80"):
        with pytest.raises(TypeError, match="^a str or bytes is required, not '%s'$" % name):
            pymtml.mtmlLibraryInitDeviceByUuid(value)


@pytest.mark.parametrize("name", ["mtmlLibraryInitDeviceByUuid", "mtmlLibraryInitDeviceByPciSbdf"])
@pytest.mark.parametrize("tail", ["\0", "\0x", " ", "0"])
def test_text_with_a_tail_names_no_device(name, tail):
    with Scene("s80") as scene:
        good = scene.keys["uuid" if "Uuid" in name else "pci_sbdf"]
        for text in (good, good.encode()):
            assert getattr(pymtml, name)(text) is scene.device
        for text in (good + tail, (good + tail).encode()):
            pytest.raises((pymtml.MTMLError_NotFound, pymtml.MTMLError_InvalidArgument), getattr(pymtml, name), text)


def given_handles(name):
    """Whether a function takes a handle from the caller; pymtml passes the library itself."""
    return any(
        kind_of(name, parameter) in HANDLES.values()
        for parameter in inspect.signature(getattr(pymtml, name)).parameters
    )


@pytest.mark.parametrize("name", [name for name in CALLS if not name.startswith(("mtmlLog", "mtmlError"))])
def test_without_the_library_and_with_handles_from_before_it(name):
    machine, index = CALLS[name].machines[-1]
    function = getattr(pymtml, name)
    with Scene(machine, index) as scene:
        arguments = CALLS[name].arguments(scene)
        pymtml.mtmlLibraryShutDown()
        for given in (arguments, tuple(None if hasattr(a, "_address") else a for a in arguments)):
            before = simulated.calls()
            pytest.raises(pymtml.MTMLError_Uninitialized, function, *given)
            assert simulated.calls() == before
        pymtml.mtmlLibraryInit()
        if name in CHANGES or not given_handles(name):
            return
        pytest.raises(pymtml.MTMLError_InvalidArgument, function, *arguments)
        fresh, stale = CALLS[name].arguments(scene), [p for p, a in enumerate(arguments) if hasattr(a, "_address")]
        assert stale
        for position in stale:
            given = replaced(fresh, position, arguments[position])
            pytest.raises(pymtml.MTMLError_InvalidArgument, function, *given)
        function(*fresh)


def test_batch_of_unequal_lists():
    with Scene("s3000-mpc") as scene:
        for devices, configurations in (([scene.at(0)], []), ([], [1]), ([], []), ([scene.at(0)], [1, 2])):
            with pytest.raises(pymtml.MTMLError_InvalidArgument):
                pymtml.mtmlLibrarySetMpcConfigurationInBatch(devices, configurations)
        for devices, configurations in (([None], [1]), ([scene.gpu], [1]), ([scene.at(0)], [77])):
            with pytest.raises(pymtml.MTMLError_InvalidArgument):
                pymtml.mtmlLibrarySetMpcConfigurationInBatch(devices, configurations)
        pytest.raises(TypeError, pymtml.mtmlLibrarySetMpcConfigurationInBatch, [scene.at(0)], ["1"])
