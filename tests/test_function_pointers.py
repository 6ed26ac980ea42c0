"""NVML's C functions, as programs get them from _nvmlGetFunctionPointer and call them: C arguments in, a code out."""

import ctypes
import functools
import importlib.util
import operator
import os
import re
import sys
import types
from ctypes import byref, c_int, c_uint, c_ulong, c_ulonglong, create_string_buffer

import every_function
import genuine
import pytest
import simulated
from interpreter import PYPY, not_on_pypy
from test_processes import Proc, row

import pymtml as nvml

PROFILES = ("s5000x8", "s3000-mpc", "s3000-vgpu-host", "s80", simulated.DISTINCT)
# These change what the others need.
LIFECYCLE = {"nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlShutdown", "nvmlDeviceSetMigMode"}


def pointer(name):
    return nvml._nvmlGetFunctionPointer(name)


def text(function, arguments):
    """A buffer and its length."""
    buffer = create_string_buffer(256)
    return function(*(list(arguments) + [buffer, c_uint(256)])), buffer.value.decode()


def comparable(value):
    """A result in a form that compares by content."""
    if isinstance(value, nvml.c_nvmlDevice_t):
        return nvml.nvmlDeviceGetUUID(value)
    if isinstance(value, (ctypes.Structure, ctypes.Union)):
        return {name[0]: comparable(getattr(value, name[0])) for name in value._fields_}
    if isinstance(value, (ctypes.Array, list, tuple)):
        return [comparable(item) for item in value]
    if isinstance(value, ctypes._SimpleCData):
        return value.value
    if isinstance(value, ctypes._Pointer):
        return ctypes.cast(value, ctypes.c_void_p).value
    if isinstance(value, nvml.nvmlFriendlyObject):
        return {name: comparable(item) for name, item in vars(value).items()}
    return value


# ---- As nvidia-ml-py calls them ----


@pytest.fixture(scope="module")
def genuine_module():
    """nvidia-ml-py, whose C functions are pymtml's, with pymtml's classes of handles and structs."""
    path = str(genuine.distribution().locate_file("pynvml.py"))
    spec = importlib.util.spec_from_file_location("pynvml_on_pymtml", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # it looks itself up while it is imported
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    for name, value in list(vars(module).items()):
        if isinstance(value, type) and issubclass(value, (ctypes.Structure, ctypes.Union, ctypes._Pointer)):
            setattr(module, name, getattr(nvml, name, value))
    module._nvmlGetFunctionPointer = nvml._nvmlGetFunctionPointer
    return module


@functools.lru_cache(maxsize=None)
def genuine_names():
    """The C functions that nvidia-ml-py asks for."""
    with open(str(genuine.distribution().locate_file("pynvml.py")), encoding="utf-8") as file:
        return frozenset(re.findall(r'_nvmlGetFunctionPointer\("(\w+)"\)', file.read()))


def test_every_function_that_nvidia_ml_py_asks_for_is_there():
    assert len(genuine_names()) > 380  # 408 of 13.615.71, 389 of 13.595.45
    for name in sorted(genuine_names()):
        assert pointer(name) is pointer(name) is nvml._nvmlGetFunctionPointer_cache[name]
        shown = pointer(name).__name__, pointer(name).argtypes, pointer(name).restype, repr(pointer(name))
        assert callable(pointer(name)) and shown == (name, None, c_int, "<C-style %s>" % name)


# C functions that nvidia-ml-py does not ask for, older versions of those that it does
OLDER_NAMES = """Init ComputeInstanceGetInfo EventSetWait VgpuInstanceGetLicenseInfo DeviceGetAttributes DeviceGetCount
DeviceGetComputeRunningProcesses DeviceGetGpuInstancePossiblePlacements DeviceGetGraphicsRunningProcesses
DeviceGetGridLicensableFeatures DeviceGetHandleByIndex DeviceGetHandleByPciBusId DeviceGetMPSComputeRunningProcesses
DeviceGetNvLinkRemotePciInfo DeviceGetPciInfo"""


def test_what_no_c_function_has_is_not_there():
    public = {name for name, value in vars(nvml).items() if name.startswith("nvml") and callable(value)}
    public = {name for name in public if isinstance(getattr(nvml, name), types.FunctionType)}
    older = ["nvml" + name for name in OLDER_NAMES.split()]
    assert public - genuine_names() - set(older) == set(nvml._PYTHON_ONLY), "a name of _PYTHON_ONLY, or older"
    for name in nvml._PYTHON_ONLY:
        pytest.raises(nvml.NVMLError_FunctionNotFound, pointer, name)


def outcome(module, name, arguments):
    """What a call came to: ("error", code), or ("answer", value); None for what nvidia-ml-py itself does not take."""
    try:
        answer = getattr(module, name)(*arguments)
    except (nvml.NVMLError, module.NVMLError) as error:
        return "error", error.value
    except (TypeError, AttributeError):
        return None
    return "answer", comparable(answer)


# What nvidia-ml-py makes of the code itself: it returns it, or takes no notice of it.
CODE_IS_THE_ANSWER = set("""nvmlDeviceGetCapabilities nvmlDeviceGetPowerMizerMode_v1 nvmlDeviceSetPowerMizerMode_v1
    nvmlDeviceSetVirtualizationMode nvmlSystemGetConfComputeSettings nvmlVgpuInstanceSetEncoderCapacity""".split())
CODE_IS_LOST = {"nvmlDeviceGetClockOffsets", "nvmlDeviceSetClockOffsets", "nvmlDeviceSetPowerManagementLimit_v2"}
# It looks at its own arguments first, asks for another thing first, or no two answers are equal.
OTHERWISE = set("""nvmlSystemEventSetCreate nvmlSystemEventSetFree nvmlSystemEventSetWait nvmlSystemRegisterEvents
    nvmlDeviceGetVgpuTypeCreatablePlacements nvmlDeviceGetVgpuTypeSupportedPlacements nvmlDeviceGetFieldValues
    nvmlDeviceGetHandleByUUIDV nvmlDeviceGetVgpuUtilization nvmlEventSetCreate""".split())


def arguments_of(name, device):
    """Argument lists that programs might pass (list), with a vGPU and its type that there are on a host."""
    numbers = {"vgpuTypeId": 1101, "vgpuInstance": 1}
    lists = [list(one) for one in every_function.ordinary(name, device, [device])]
    for position, parameter in enumerate(every_function.parameters(name)):
        for one in lists:
            one[position] = numbers.get(parameter, one[position])
    return lists


def compared(module):
    """The functions of nvidia-ml-py that come to pymtml's C functions at once."""
    return [name for name in every_function.FUNCTIONS if name not in LIFECYCLE | OTHERWISE and hasattr(module, name)]


@pytest.mark.parametrize("by", [byref, ctypes.pointer])
@pytest.mark.parametrize("profile", PROFILES, ids=os.path.basename)
def test_as_nvidia_ml_py_calls_them(profile, by, genuine_module, monkeypatch):
    """nvidia-ml-py's own functions, on pymtml's C functions, end as pymtml's functions do."""
    monkeypatch.setattr(genuine_module, "byref", by)
    count = 0
    with simulated.nvml(profile):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        for name in compared(genuine_module):
            for theirs, ours in zip(arguments_of(name, device), arguments_of(name, device)):
                theirs = outcome(genuine_module, name, theirs)
                ours = outcome(nvml, name, ours)
                if name in CODE_IS_THE_ANSWER and theirs is not None:
                    theirs = ("error", theirs[1])
                if theirs is None or name in CODE_IS_LOST:
                    continue
                count += 1
                assert theirs == ours, name
    assert count > 330, count


@pytest.mark.parametrize("error", ["Uninitialized", "InvalidArgument"])
def test_what_nvidia_ml_py_is_told_of_bad_handles(error, genuine_module):
    """InvalidArgument, but without the library Uninitialized, whatever else is wrong."""
    told, code = 0, getattr(nvml, "NVMLError_" + error).value
    odd = (None, 0, 4096, b"x", "x", object(), ctypes.c_void_p(4096), nvml.c_nvmlDevice_t(), c_int(1))
    with simulated.nvml("s5000x8"):
        if error == "Uninitialized":
            nvml.nvmlShutdown()
        for name in set(compared(genuine_module)) - CODE_IS_THE_ANSWER - CODE_IS_LOST:
            takes_device = any(every_function.is_device(name, one) for one in every_function.parameters(name))
            for bad in odd if takes_device or error == "Uninitialized" else ():
                said = outcome(genuine_module, name, arguments_of(name, bad)[0])
                assert said in (None, ("error", code)), (name, bad, said)
                told += said is not None
    assert told > 1500, told


# C's older names of functions whose newer ones nvidia-ml-py asks for.
OLDER = {
    "nvmlDeviceGetCount": "nvmlDeviceGetCount_v2",
    "nvmlDeviceGetHandleByIndex": "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetHandleByPciBusId": "nvmlDeviceGetHandleByPciBusId_v2",
    "nvmlDeviceGetPciInfo": "nvmlDeviceGetPciInfo_v3",
    "nvmlDeviceGetNvLinkRemotePciInfo": "nvmlDeviceGetNvLinkRemotePciInfo_v2",
    "nvmlInit": "nvmlInit_v2",
}


def test_older_names(device):
    for older, newer in OLDER.items():
        mine, theirs = pointer(older), pointer(newer)
        assert [mine._facade, mine._inputs, mine._store] == [theirs._facade, theirs._inputs, theirs._store]


@pytest.mark.parametrize("profile", PROFILES, ids=os.path.basename)
def test_the_long_way_leads_to_the_same_answers(profile, monkeypatch):
    """As where a query finds nothing at hand, because a change of MPC has emptied a handle, and C then refuses it."""
    names = [name for name in every_function.FUNCTIONS if name.startswith("nvmlDeviceGet") and name not in OTHERWISE]
    with simulated.nvml(profile):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        calls = [(name, one) for name in names for one in arguments_of(name, device)]
        answers = [(name, outcome(nvml, name, one)) for name, one in calls]
        monkeypatch.setattr(nvml, "_c", None)
        assert [(name, outcome(nvml, name, one)) for name, one in calls] == answers
        monkeypatch.undo()


@not_on_pypy.reference
def test_where_a_handle_goes(device):
    """byref(handle), pointer(handle), a void pointer: all take it; NULL, no pointer, a handle in use do not."""
    function = pointer("nvmlDeviceGetHandleByIndex_v2")
    uuid = nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByIndex(3))
    for by in (byref, ctypes.pointer, lambda target: target):
        target = nvml.c_nvmlDevice_t()
        assert function(3, by(target)) == nvml.NVML_SUCCESS
        assert nvml.nvmlDeviceGetUUID(target) == uuid
    address = ctypes.c_void_p()
    assert function(3, byref(address)) == nvml.NVML_SUCCESS
    assert nvml.nvmlDeviceGetUUID(ctypes.cast(address, nvml.c_nvmlDevice_t)) == uuid
    for bad in (None, ctypes.POINTER(nvml.c_nvmlDevice_t)(), c_uint(), byref(c_ulonglong()), device, byref(device)):
        assert function(3, bad) == nvml.NVML_ERROR_INVALID_ARGUMENT, bad
    assert nvml.nvmlDeviceGetIndex(device) == 0 and nvml.nvmlDeviceGetHandleByIndex(0) is device


# ---- The pointers themselves ----


@pytest.mark.parametrize("name", ["nvmlNoSuchFunction", "", "mtmlLibraryInit", "nvmlDeviceGetMemoryInfo_v3", None, 7])
def test_unknown_name(name):
    for _ in range(2):
        with pytest.raises(nvml.NVMLError_FunctionNotFound) as caught:
            nvml._nvmlGetFunctionPointer(name)
        assert caught.value.value == nvml.NVML_ERROR_FUNCTION_NOT_FOUND
    assert name not in nvml._nvmlGetFunctionPointer_cache


def test_pointer_outlives_the_library(device):
    name = pointer("nvmlDeviceGetName")
    assert text(name, [device]) == (0, "MTT S5000")
    nvml.nvmlShutdown()
    assert text(name, [device])[0] == nvml.NVML_ERROR_UNINITIALIZED
    nvml.nvmlInit()
    assert text(name, [device])[0] == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert text(name, [nvml.nvmlDeviceGetHandleByIndex(0)]) == (0, "MTT S5000")


def test_lifecycle():
    with simulated.machine("s5000x8"):
        assert pointer("nvmlShutdown")() == nvml.NVML_ERROR_UNINITIALIZED
        assert [pointer("nvmlInit")(), pointer("nvmlInit_v2")(), pointer("nvmlInitWithFlags")(c_uint(1))] == [0, 0, 0]
        assert nvml._nvmlLib_refcount == 3
        assert [pointer("nvmlShutdown")() for _ in range(4)] == [0, 0, 0, nvml.NVML_ERROR_UNINITIALIZED]
    with simulated.machine("no-driver"):
        assert pointer("nvmlInit_v2")() == nvml.NVML_ERROR_DRIVER_NOT_LOADED


# ---- Bad calls ----


def test_any_number_and_kind_of_arguments(device):
    """No arguments at all, too many, NULL for every reference, wrong kinds: a code comes back, nothing is raised."""
    one = c_uint(7)
    odd = (None, 0, -1, 1 << 70, "x", b"x", 1.5, object(), one, byref(one), ctypes.pointer(one), device, [])
    codes = {nvml.NVML_SUCCESS} | set(nvml.NVMLError._valClassMapping)
    for name in sorted((genuine_names() | set(OLDER)) - LIFECYCLE - {"nvmlErrorString"}):
        for count in range(8):
            for argument in odd:
                for first in ([], [device]):
                    code = pointer(name)(*first + [argument] * count)
                    assert type(code) is int and code in codes, (name, argument)
    assert nvml.nvmlDeviceGetName(device) == "MTT S5000"


def test_null_output(genuine_module):
    """Whoever gives no place for an answer is not told of success; before init nothing is looked at."""
    nulls = (None, ctypes.POINTER(c_uint)(), ctypes.POINTER(nvml.c_nvmlDevice_t)())
    answered = 0
    with simulated.nvml("s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        for name in compared(genuine_module):
            if name not in genuine_names() - CODE_IS_THE_ANSWER - CODE_IS_LOST or "DeviceGet" not in name:
                continue
            inputs = arguments_of(name, device)[0]
            answers = outcome(genuine_module, name, inputs) or ("error", 0)
            for null in nulls:
                codes = {pointer(name)(*inputs[: pointer(name)._inputs] + [null] * count) for count in range(1, 5)}
                assert nvml.NVML_SUCCESS not in codes, (name, null)
                assert answers[0] == "error" or nvml.NVML_ERROR_INVALID_ARGUMENT in codes, (name, null)
            answered += answers[0] == "answer"
    assert answered > 60, answered
    for name, nulls in (("nvmlDeviceGetCount_v2", 1), ("nvmlDeviceGetHandleByIndex_v2", 1), ("nvmlDeviceGetName", 2)):
        arguments = [0] * pointer(name)._inputs + [None] * nulls
        assert pointer(name)(*arguments) == nvml.NVML_ERROR_UNINITIALIZED, name


def test_places_too_many_or_too_small(device):
    """Nothing is written, and nothing done, where the arguments do not fit the function."""
    first, second = c_uint(77), c_uint(78)
    assert pointer("nvmlDeviceGetIndex")(device, byref(first), byref(second)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert pointer("nvmlDeviceGetEccMode")(device, byref(first)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert pointer("nvmlDeviceGetPowerUsage")(device, byref(ctypes.c_ubyte())) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert (first.value, second.value) == (77, 78)
    assert pointer("nvmlDeviceSetEccMode")(device, 0, 0) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert pointer("nvmlShutdown")(0) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert nvml.nvmlDeviceGetEccMode(device) == [1, 1]
    buffer = create_string_buffer(4)
    assert pointer("nvmlDeviceGetName")(device, buffer, 64) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert pointer("nvmlDeviceGetName")(device, byref(first), 4) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert (buffer.raw, first.value) == (b"\0" * 4, 77)


@pytest.mark.parametrize("name", ["nvmlDeviceIsMigDeviceHandle", "nvmlDeviceGetIndex"])
def test_a_number_fills_a_wider_place(device, name):
    place = c_ulonglong((1 << 64) - 1)
    assert (pointer(name)(device, byref(place)), place.value) == (nvml.NVML_SUCCESS, 0)


def test_lists_too_long_for_their_place(device):
    devices, count = (nvml.c_nvmlDevice_t * 7)(), c_uint(1)
    nearest = pointer("nvmlDeviceGetTopologyNearestGpus")
    assert nearest(device, 50, byref(count), devices) == nvml.NVML_ERROR_INSUFFICIENT_SIZE
    assert (count.value, any(devices)) == (7, False)
    simulated.set_value(0, "retired_pages_dbe", "4096@7, 8192@9")
    pages = pointer("nvmlDeviceGetRetiredPages_v2")
    addresses, count = (c_ulonglong * 2)(), c_uint(2)
    for places in ((None, addresses), (addresses, None)):
        assert pages(device, 1, byref(count), *places) != nvml.NVML_SUCCESS
    assert list(addresses) == [0, 0]


@pytest.mark.parametrize("name", ["nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetSerial"])
def test_text_that_does_not_fit(name, device):
    expected = getattr(nvml, name)(device)
    for length in range(len(expected) + 3):
        buffer = create_string_buffer(b"?" * 63)
        code = pointer(name)(device, buffer, c_uint(length))
        if length <= len(expected):
            assert (code, buffer.raw) == (nvml.NVML_ERROR_INSUFFICIENT_SIZE, b"?" * 63 + b"\0"), length
        else:
            assert (code, buffer.value.decode()) == (0, expected), length


def test_output_of_the_wrong_size(device):
    """What byref points to is smaller than the answer: refused, and its neighbor stays as it is."""
    guarded = type("guarded", (ctypes.Structure,), {"_fields_": [("first", c_uint), ("guard", c_uint * 20)]})
    for name, arguments in (
        ("nvmlDeviceGetHandleByIndex_v2", [0]),
        ("nvmlDeviceGetMemoryInfo", [device]),
        ("nvmlDeviceGetPciInfo", [device]),
    ):
        value = guarded(0, (c_uint * 20)(*[0xDEAD] * 20))
        small = c_uint.from_buffer(value)
        assert pointer(name)(*(arguments + [byref(small)])) == nvml.NVML_ERROR_INVALID_ARGUMENT, name
        assert list(value.guard) == [0xDEAD] * 20, name


def test_reference_into_an_array(device):
    """byref with an offset, and a plain C pointer: the answer goes there or is refused, never elsewhere."""
    values = (c_uint * 3)(7, 7, 7)
    code = pointer("nvmlDeviceGetPowerUsage")(device, byref(values, 4))
    power = nvml.nvmlDeviceGetPowerUsage(device)
    assert (code, list(values)) in [(0, [7, power, 7]), (nvml.NVML_ERROR_INVALID_ARGUMENT, [7, 7, 7])]
    words = (c_ulong * 4)()
    code = pointer("nvmlDeviceGetCpuAffinity")(device, 4, ctypes.cast(words, ctypes.POINTER(c_ulong)))
    expected = list(nvml.nvmlDeviceGetCpuAffinity(device, 4))
    assert (code, list(words)) in [(0, expected), (nvml.NVML_ERROR_INVALID_ARGUMENT, [0] * 4)]


@not_on_pypy.reference
def test_reference_into_a_number_or_a_struct(device):
    """What lies at an offset is not known: the answer does not go to the beginning instead."""
    wide, memory = ctypes.c_ulonglong(7), nvml.c_nvmlMemory_t(7, 7, 7)
    assert pointer("nvmlDeviceGetPowerUsage")(device, byref(wide, 4)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert pointer("nvmlDeviceGetMemoryInfo")(device, byref(memory, 8)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert (wide.value, memory.total, memory.free, memory.used) == (7, 7, 7, 7)
    assert pointer("nvmlDeviceGetMemoryInfo")(device, byref(memory, 0)) == 0
    assert memory.total == nvml.nvmlDeviceGetMemoryInfo(device).total


# ---- C forms that differ from the facade's ----


def test_structs_whose_version_must_be_set(device):
    """It is looked at after the handle; the fields that say what is asked for are heeded."""
    simulated.set_value(0, "gpu_temperature", -7)
    info = nvml.nvmlDeviceGetMemoryInfo(device)
    margin = nvml.nvmlDeviceGetMarginTemperature(device)
    for name, struct, version, fields, answers in (
        ("MemoryInfo_v2", nvml.c_nvmlMemory_v2_t, nvml.nvmlMemory_v2, {}, [info.total, 0, info.free, info.used]),
        ("TemperatureV", nvml.c_nvmlTemperature_v1_t, nvml.nvmlTemperature_v1, {"sensorType": 0}, [0, -7]),
        ("MarginTemperature", nvml.c_nvmlMarginTemperature_v1_t, nvml.nvmlMarginTemperature_v1, {}, [margin]),
    ):
        ask, value = pointer("nvmlDeviceGet" + name), struct(version=version, **fields)
        assert ask(device, byref(value)) == nvml.NVML_SUCCESS
        assert [getattr(value, field[0]) for field in struct._fields_[1:]] == answers
        for wrong in (0, 1, 2, version + 1):
            value.version = wrong
            assert ask(device, byref(value)) == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH
            assert ask(None, byref(value)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    value = nvml.c_nvmlTemperature_v1_t(version=nvml.nvmlTemperature_v1, sensorType=1)
    assert pointer("nvmlDeviceGetTemperatureV")(device, byref(value)) == nvml.NVML_ERROR_INVALID_ARGUMENT


def test_revolutions_of_the_fan_that_the_struct_names():
    with simulated.nvml("s80"):
        card = nvml.nvmlDeviceGetHandleByIndex(0)
        ask = pointer("nvmlDeviceGetFanSpeedRPM")
        info = nvml.c_nvmlFanSpeedInfo_t(version=nvml.nvmlFanSpeedInfo_v1, fan=1)
        assert ask(card, byref(info)) == 0
        assert info.speed == int(simulated.get_value(0, "fan_rpm").split(",")[1]) > 0
        info.fan = 99
        assert ask(card, byref(info)) == nvml.NVML_ERROR_INVALID_ARGUMENT
        info.version = 0
        assert ask(card, byref(info)) == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH


def test_what_a_handle_points_to_is_never_written(device):
    for name in ("nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion"):
        for length in (8, 256, float("nan")):
            assert pointer(name)(device, length) == nvml.NVML_ERROR_INVALID_ARGUMENT
    for name in ("nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage"):
        for target in (device, byref(device), ctypes.pointer(device)):
            assert pointer(name)(device, target) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert nvml.nvmlDeviceGetPowerUsage(device)


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Lets the driver's table of the first card show processes of that kind, at 42 %."""

    def show(**pids):
        proc = Proc(tmp_path)
        rows = [row(pid, total=42, compute=42) for pid in pids.get("computing", ())]
        rows += [row(pid, total=42, three_d=42) for pid in pids.get("drawing", ())]
        for pid in sum(pids.values(), []):
            proc.process(pid, "/dev/mtgpu.0")
        proc.table("gpu0", "mtgpu.0", *rows)
        simulated.set_value(0, "displays", "DP 1920x1080@60")  # without one the lists do without the table
        monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))

    return show


def test_utilization_by_process(device, table):
    table(computing=[5])
    ask = pointer("nvmlDeviceGetProcessUtilization")
    count, samples = c_uint(), (nvml.c_nvmlProcessUtilizationSample_t * 1)()
    assert ask(device, None, byref(count), c_ulonglong(0)) == nvml.NVML_ERROR_INSUFFICIENT_SIZE
    assert (ask(device, samples, byref(count), c_ulonglong(0)), count.value) == (0, 1)
    assert ask(device, None, byref(count), c_ulonglong(0)) == nvml.NVML_ERROR_INSUFFICIENT_SIZE
    assert (samples[0].pid, samples[0].smUtil) == (5, 42)


def test_utilization_by_process_in_a_struct(device, table):
    table(computing=[5])
    ask, info = pointer("nvmlDeviceGetProcessesUtilizationInfo"), nvml.c_nvmlProcessesUtilizationInfo_v1_t()
    samples = (nvml.c_nvmlProcessUtilizationInfo_v1_t * 1)()
    for room, array in ((0, None), (1, None), (0, samples)):
        info.processSamplesCount, info.procUtilArray = room, array
        assert ask(device, byref(info)) == nvml.NVML_ERROR_INSUFFICIENT_SIZE
        assert (info.processSamplesCount, samples[0].pid) == (1, 0)
    info.procUtilArray = samples
    assert (ask(device, byref(info)), info.processSamplesCount) == (nvml.NVML_SUCCESS, 1)
    assert (samples[0].pid, samples[0].smUtil) == (5, 42)
    info.lastSeenTimeStamp = samples[0].timeStamp + 10**12
    assert ask(device, byref(info)) == nvml.NVML_ERROR_NOT_FOUND


def test_utilization_by_virtual_device():
    with simulated.nvml("s3000-vgpu-host"):
        card, kind, count = nvml.nvmlDeviceGetHandleByIndex(0), c_uint(99), c_uint()
        expected = nvml.nvmlDeviceGetVgpuUtilization(card, 0)
        samples = (nvml.c_nvmlVgpuInstanceUtilizationSample_t * len(expected))()
        ask = pointer("nvmlDeviceGetVgpuUtilization")
        code = ask(card, c_ulonglong(0), byref(kind), byref(count), None)
        assert (code, count.value) == (nvml.NVML_ERROR_INSUFFICIENT_SIZE, len(expected))
        code = ask(card, c_ulonglong(0), byref(kind), byref(count), samples)
        assert (code, count.value, kind.value) == (nvml.NVML_SUCCESS, 3, nvml.NVML_VALUE_TYPE_UNSIGNED_INT)
        told = [(sample.vgpuInstance, sample.smUtil.uiVal) for sample in samples]
        assert told == [(sample.vgpuInstance, sample.smUtil.uiVal) for sample in expected] and told[0] != told[1]


def test_a_handle_by_the_uuid_in_a_struct(device):
    ask, found, text = pointer("nvmlDeviceGetHandleByUUIDV"), nvml.c_nvmlDevice_t(), nvml.nvmlDeviceGetUUID(device)
    uuid = nvml.c_nvmlUUID_t(type=nvml.NVML_UUID_TYPE_ASCII)
    uuid.value.str = text.encode()
    assert (ask(byref(uuid), byref(found)), nvml.nvmlDeviceGetUUID(found)) == (nvml.NVML_SUCCESS, text)
    uuid, found = nvml.c_nvmlUUID_t(type=nvml.NVML_UUID_TYPE_BINARY), nvml.c_nvmlDevice_t()
    ctypes.memmove(byref(uuid.value), bytes.fromhex(text.replace("GPU-", "").replace("-", "")), 16)
    assert (ask(byref(uuid), byref(found)), nvml.nvmlDeviceGetUUID(found)) == (nvml.NVML_SUCCESS, text)
    assert ask(None, byref(found)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    nvml.nvmlShutdown()
    assert ask(None, byref(found)) == nvml.NVML_ERROR_UNINITIALIZED
    nvml.nvmlInit()


def test_profiles_of_instances():
    with simulated.nvml("s3000-mpc"):
        card, slices = nvml.nvmlDeviceGetHandleByIndex(0), nvml.NVML_GPU_INSTANCE_PROFILE_4_SLICE
        expected = nvml.nvmlDeviceGetGpuInstanceProfileInfoV(card, slices)
        older = nvml.c_nvmlGpuInstanceProfileInfo_t()
        assert pointer("nvmlDeviceGetGpuInstanceProfileInfo")(card, slices, byref(older)) == nvml.NVML_SUCCESS
        assert (older.id, older.memorySizeMB) == (expected.id, expected.memorySizeMB)
        for kind, number in (("V", slices), ("ByIdV", older.id)):
            ask = pointer("nvmlDeviceGetGpuInstanceProfileInfo" + kind)
            info = nvml.c_nvmlGpuInstanceProfileInfo_v2_t(version=1)
            assert ask(card, number, byref(info)) == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH
            assert (info.version, info.id, info.memorySizeMB) == (1, 0, 0)
            info.version = expected.version
            assert (ask(card, number, byref(info)), bytes(info)) == (nvml.NVML_SUCCESS, bytes(expected))


def test_instances_of_a_profile():
    with simulated.nvml("s3000-mpc"):
        card, ask = nvml.nvmlDeviceGetHandleByIndex(0), pointer("nvmlDeviceGetGpuInstances")
        found, count = (nvml.c_nvmlGpuInstance_t * 2)(), c_uint(2)
        assert (ask(card, c_uint(2), found, byref(count)), count.value) == (nvml.NVML_SUCCESS, 2)
        assert [nvml.nvmlGpuInstanceGetInfo(instance).id for instance in found] == [1, 2]
        assert ask(card, c_uint(2), found) == nvml.NVML_ERROR_INVALID_ARGUMENT
    with simulated.nvml("s3000-vgpu-host"):
        host, ask = nvml.nvmlDeviceGetHandleByIndex(0), pointer("nvmlDeviceGetActiveVgpus")
        assert ask(host, byref(c_uint(9)), (nvml.c_nvmlGpuInstance_t * 9)()) == nvml.NVML_ERROR_INVALID_ARGUMENT


def test_a_text_is_returned_itself():
    assert pointer("nvmlErrorString")(c_uint(nvml.NVML_ERROR_NOT_SUPPORTED)) == b"Not Supported"


def test_an_instance_goes_into_a_pointer_of_its_own_kind():
    with simulated.nvml("s3000-mpc"):
        card, ask = nvml.nvmlDeviceGetHandleByIndex(0), pointer("nvmlDeviceGetGpuInstanceById")
        found, device = ctypes.c_void_p(), nvml.c_nvmlDevice_t()
        expected = (nvml.NVML_ERROR_INVALID_ARGUMENT, False) if PYPY else (nvml.NVML_SUCCESS, True)
        assert (ask(card, 0, byref(found)), bool(found)) == expected  # PyPy's byref does not lead back to c_void_p
        assert (ask(card, 0, byref(device)), bool(device)) == (nvml.NVML_ERROR_INVALID_ARGUMENT, False)
        for bad in (byref(c_uint()), ctypes.POINTER(nvml.c_nvmlGpuInstance_t)()):
            assert ask(card, 0, bad) == nvml.NVML_ERROR_INVALID_ARGUMENT


@pytest.mark.parametrize("by", [byref, ctypes.pointer, lambda target: target])
def test_a_number_wants_no_array_or_struct(device, by):
    """An attribute `value` of either would say success and be nowhere in memory."""
    for target in ((c_uint * 3)(7, 7, 7), nvml.c_nvmlUtilization_t(7, 7)):
        before = bytes(target)
        assert pointer("nvmlDeviceGetPowerUsage")(device, by(target)) == nvml.NVML_ERROR_INVALID_ARGUMENT
        assert bytes(target) == before and not hasattr(target, "value")


@not_on_pypy.reference
def test_field_values(device):
    fields = [nvml.NVML_FI_DEV_MEMORY_TEMP, nvml.NVML_FI_DEV_POWER_INSTANT, 100000, nvml.NVML_FI_DEV_NVLINK_LINK_COUNT]
    expected = nvml.nvmlDeviceGetFieldValues(device, fields)
    ask = pointer("nvmlDeviceGetFieldValues")
    shown = operator.attrgetter("fieldId", "nvmlReturn", "valueType", "value.ullVal")
    for padding in (0, 3):
        values = (nvml.c_nvmlFieldValue_t * (len(fields) + padding))()
        for value, field in zip(values, fields):
            value.fieldId = field
        for reference in (byref(values), values):
            assert ask(device, c_int(len(fields)), reference) == 0
            assert [shown(value) for value in values[: len(fields)]] == [shown(value) for value in expected]
    for count in (0, -1, len(values) + 1, nvml.NVML_FI_MAX + 1):
        assert ask(device, count, byref(values)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert ask(device, 1, None) == nvml.NVML_ERROR_INVALID_ARGUMENT


@pytest.mark.parametrize("version", ["", "_v2", "_v3"])
@pytest.mark.parametrize("kind, pids", [("Compute", [101, 102, 103]), ("Graphics", [201, 202]), ("MPSCompute", [])])
def test_processes(kind, pids, version, table, device):
    """nvitop's way: ask how many, take twice as many and five, ask again."""
    table(computing=[101, 102, 103], drawing=[201, 202])
    name = "nvmlDeviceGet%sRunningProcesses%s" % (kind, version)
    assert [process.pid for process in getattr(nvml, name)(device)] == pids
    ask, count = pointer(name), c_uint(0)
    code = ask(device, byref(count), None)
    assert code == (nvml.NVML_ERROR_INSUFFICIENT_SIZE if pids else nvml.NVML_SUCCESS)
    assert count.value == len(pids)
    if not pids:
        return
    fields = [("pid", c_uint), ("usedGpuMemory", c_ulonglong)]
    fields += [("gpuInstanceId", c_uint), ("computeInstanceId", c_uint)] * bool(version)
    process_class = type("process", (nvml._PrintableStructure,), {"_fields_": fields})
    count.value = count.value * 2 + 5
    array = (process_class * count.value)()
    array[len(pids)].pid = 4711
    assert ask(device, byref(count), array) == 0
    assert [process.pid for process in array[: count.value]] == pids
    assert array[len(pids)].pid == 4711
    for process in array[: count.value]:
        assert process.usedGpuMemory == nvml.NVML_VALUE_NOT_AVAILABLE_ulonglong.value
        if version:
            assert process.gpuInstanceId == process.computeInstanceId == 0xFFFFFFFF
    count.value = len(pids) - 1
    assert ask(device, byref(count), array) == nvml.NVML_ERROR_INSUFFICIENT_SIZE
    assert count.value == len(pids)
    assert ask(device, None, array) == nvml.NVML_ERROR_INVALID_ARGUMENT


def test_set_mig_mode():
    with simulated.nvml("s3000-mpc"):
        parent, status = nvml.nvmlDeviceGetHandleByIndex(0), c_uint(7)
        assert pointer("nvmlDeviceSetMigMode")(parent, c_uint(0), byref(status)) == 0
        assert status.value == nvml.NVML_SUCCESS
        assert pointer("nvmlDeviceGetIndex")(parent, byref(status)) == nvml.NVML_ERROR_INVALID_ARGUMENT
        assert nvml.nvmlDeviceGetMigMode(nvml.nvmlDeviceGetHandleByIndex(0)) == [0, 0]


@pytest.mark.parametrize("mistake", [TypeError, ValueError, IndexError, AttributeError])
def test_a_mistake_of_this_module_is_not_the_callers(mistake):
    def broken(handle):
        raise mistake("ours")

    function = nvml._CFunction("nvmlDeviceGetName", broken, 1, nvml._store_text, (2,))
    with pytest.raises(mistake, match="ours"):
        function(None, ctypes.create_string_buffer(8), 8)


def test_each_answer_has_a_place():
    """By default an answer is stored as numbers; what is no number, and what only refuses, is named in a table."""
    for name in sorted(genuine_names() | set(OLDER)):
        function = pointer(name)
        returned = function._facade.__annotations__.get("return", "refused")
        if function._store not in (nvml._store_value, nvml._store_refusal):
            continue
        number = returned.startswith(("int", "bool", "c_uint", "tuple[", "list[int]"))
        assert (returned == "refused", number) == (function._store is nvml._store_refusal, returned != "refused"), name
