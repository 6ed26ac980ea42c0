"""NVML's C functions, as programs get them from _nvmlGetFunctionPointer and call them: C arguments in, a code out."""

import contextlib
import ctypes
import functools
import importlib.util
import os
import re
import sys
import types
from ctypes import byref, c_int, c_uint, c_ulong, c_ulonglong, create_string_buffer

import every_function
import genuine
import pytest
import simulated
from interpreter import not_on_pypy

import pymtml as nvml

DEVICE, PEER, INSTANCE, VGPU_TYPE, VGPU = "device", "peer", "instance", "vgpu type", "vgpu"
PROFILES = ("s5000x8", "s3000-mpc", "s3000-vgpu-host", "s80", simulated.DISTINCT)
MEMORY_V2 = nvml.nvmlMemory_v2


# Each way to ask says by which arguments C programs give no place for the answer: `null`.


def numbers(*types):
    """Outputs of one number each, by reference."""

    def ask(function, arguments, by=byref):
        outputs = [ctype() for ctype in types]
        code = function(*(list(arguments) + [by(output) for output in outputs]))
        return code, outputs[0].value if len(outputs) == 1 else [output.value for output in outputs]

    ask.null = [[None] * len(types), [ctypes.POINTER(ctype)() for ctype in types]]
    return ask


def text(function, arguments):
    """A buffer and its length."""
    buffer = create_string_buffer(256)
    return function(*(list(arguments) + [buffer, c_uint(256)])), buffer.value.decode()


def handle(function, arguments, by=byref):
    """A device handle, by reference."""
    device = nvml.c_nvmlDevice_t()
    code = function(*(list(arguments) + [by(device)]))
    return code, nvml.nvmlDeviceGetUUID(device) if code == 0 else None


text.null = [[None, 64], [ctypes.c_char_p(), 64]]
handle.null = [[None], [ctypes.POINTER(nvml.c_nvmlDevice_t)()]]


def struct(struct_class, **fields):
    """A struct, by reference, some of whose fields the caller sets."""

    def ask(function, arguments, by=byref):
        value = struct_class(**fields)
        return function(*(list(arguments) + [by(value)])), comparable(value)

    ask.null = [[None], [ctypes.POINTER(struct_class)()]]
    return ask


def sequence(ctype):
    """A count by reference and an array, asked twice as C programs do."""

    def ask(function, arguments):
        count = c_uint(0)
        code = function(*(list(arguments) + [byref(count), None]))
        if code not in (nvml.NVML_SUCCESS, nvml.NVML_ERROR_INSUFFICIENT_SIZE) or not count.value:
            return code, []
        values = (ctype * count.value)()
        code = function(*(list(arguments) + [byref(count), values]))
        return code, [comparable(value) for value in values[: count.value]]

    ask.null = [[None, None], [ctypes.POINTER(c_uint)(), None]]
    return ask


def mask(size, *behind):
    """An array of unsigned longs, and what stands behind it."""

    def ask(function, arguments):
        words = (c_ulong * size)()
        return function(*(list(arguments) + [words] + list(behind))), list(words)

    ask.null = [[None] + list(behind), [ctypes.POINTER(c_ulong)()] + list(behind)]
    return ask


def nothing(function, arguments):
    """No output."""
    return function(*arguments), None


def comparable(value):
    """A result in a form that compares by content."""
    if isinstance(value, nvml.c_nvmlDevice_t):
        return nvml.nvmlDeviceGetUUID(value)
    if isinstance(value, (ctypes.Structure, ctypes.Union)):
        return {name[0]: comparable(getattr(value, name[0])) for name in value._fields_}
    if isinstance(value, ctypes.Array) and not isinstance(value, (str, bytes)):
        return [comparable(item) for item in value]
    if isinstance(value, ctypes._SimpleCData):
        return value.value
    if isinstance(value, (list, tuple)):
        return [comparable(item) for item in value]
    if isinstance(value, ctypes._Pointer):
        return ctypes.cast(value, ctypes.c_void_p).value
    if isinstance(value, nvml.nvmlFriendlyObject):
        return {name: comparable(item) for name, item in vars(value).items()}
    return value


def get(short, ask, *inputs, **options):
    """A table entry for nvmlDeviceGet...: (name, how to ask, inputs, facade function, its inputs)."""
    name = short if short.startswith("nvml") else "nvmlDeviceGet" + short
    facade = options.get("facade", name)
    return name, ask, inputs, facade, options.get("facade_inputs", inputs)


UINT, TWO_UINTS = numbers(c_uint), numbers(c_uint, c_uint)
CALLS = [
    get("nvmlSystemGetDriverVersion", text),
    get("nvmlSystemGetNVMLVersion", text),
    get("nvmlSystemGetCudaDriverVersion", numbers(c_int)),
    get("nvmlSystemGetCudaDriverVersion_v2", numbers(c_int)),
    get("Count", UINT),
    get("Count_v2", UINT, facade="nvmlDeviceGetCount"),
    get("HandleByIndex", handle, c_uint(1)),
    get("HandleByIndex_v2", handle, 1, facade="nvmlDeviceGetHandleByIndex"),
    get("HandleByIndex_v2", handle, 99, facade="nvmlDeviceGetHandleByIndex"),
    get("HandleByUUID", handle, b"none"),
    get("HandleBySerial", handle, b"none"),
    get("HandleByPciBusId", handle, b"bogus"),
    get("HandleByPciBusId_v2", handle, b"0000:00:00.0", facade="nvmlDeviceGetHandleByPciBusId"),
    get("Name", text, DEVICE),
    get("UUID", text, DEVICE),
    get("Serial", text, DEVICE),
    get("Index", UINT, DEVICE),
    get("Brand", UINT, DEVICE),
    get("VbiosVersion", text, DEVICE),
    get("MinorNumber", UINT, DEVICE),
    get("PciInfo", struct(nvml.nvmlPciInfo_t), DEVICE),
    get("PciInfo_v3", struct(nvml.nvmlPciInfo_t), DEVICE),
    get("BusType", UINT, DEVICE),
    get("BoardId", UINT, DEVICE),
    get("MultiGpuBoard", UINT, DEVICE),
    get("nvmlDeviceOnSameBoard", numbers(c_int), DEVICE, PEER),
    get("nvmlDeviceOnSameBoard", numbers(c_int), DEVICE, DEVICE),
    get("NumGpuCores", UINT, DEVICE),
    get("Architecture", UINT, DEVICE),
    get("ComputeMode", UINT, DEVICE),
    get("AccountingMode", UINT, DEVICE),
    get("CudaComputeCapability", numbers(c_int, c_int), DEVICE),
    get("MemoryInfo", struct(nvml.c_nvmlMemory_t), DEVICE),
    get(
        "MemoryInfo_v2",
        struct(nvml.c_nvmlMemory_v2_t, version=MEMORY_V2),
        DEVICE,
        facade="nvmlDeviceGetMemoryInfo",
        facade_inputs=(DEVICE, MEMORY_V2),
    ),
    get("MemoryBusWidth", UINT, DEVICE),
    get("UtilizationRates", struct(nvml.c_nvmlUtilization_t), DEVICE),
    get("EncoderUtilization", TWO_UINTS, DEVICE),
    get("DecoderUtilization", TWO_UINTS, DEVICE),
    get("EncoderCapacity", UINT, DEVICE, c_uint(0)),
    get("EncoderStats", numbers(c_uint, c_uint, c_uint), DEVICE),
    get("Temperature", UINT, DEVICE, c_uint(0)),
    get("Temperature", UINT, DEVICE, 9),
    get("TemperatureThreshold", UINT, DEVICE, 0),
    get("TemperatureThreshold", UINT, DEVICE, 99),
    get("ClockInfo", UINT, DEVICE, c_uint(2)),
    get("ClockInfo", UINT, DEVICE, 9),
    get("MaxClockInfo", UINT, DEVICE, 0),
    get("Clock", UINT, DEVICE, 0, 0),
    get("PowerUsage", UINT, DEVICE),
    get("EnforcedPowerLimit", UINT, DEVICE),
    get("PowerManagementDefaultLimit", UINT, DEVICE),
    get("PerformanceState", UINT, DEVICE),
    get("PowerState", UINT, DEVICE),
    get("FanSpeed", UINT, DEVICE),
    get("FanSpeed_v2", UINT, DEVICE, 0),
    get("FanSpeed_v2", UINT, DEVICE, 99),
    get("NumFans", UINT, DEVICE),
    get("CurrPcieLinkGeneration", UINT, DEVICE),
    get("MaxPcieLinkGeneration", UINT, DEVICE),
    get("GpuMaxPcieLinkGeneration", UINT, DEVICE),
    get("CurrPcieLinkWidth", UINT, DEVICE),
    get("MaxPcieLinkWidth", UINT, DEVICE),
    get("PcieSpeed", UINT, DEVICE),
    get("PcieLinkMaxSpeed", UINT, DEVICE),
    get("PcieReplayCounter", UINT, DEVICE),
    get("EccMode", TWO_UINTS, DEVICE),
    get("TotalEccErrors", numbers(c_ulonglong), DEVICE, 0, 0),
    get("MemoryErrorCounter", numbers(c_ulonglong), DEVICE, 0, 0, nvml.NVML_MEMORY_LOCATION_DRAM),
    get("RetiredPages", sequence(c_ulonglong), DEVICE, 0),
    get("RetiredPagesPendingStatus", UINT, DEVICE),
    get("TopologyCommonAncestor", UINT, DEVICE, PEER),
    get("TopologyNearestGpus", sequence(nvml.c_nvmlDevice_t), DEVICE, nvml.NVML_TOPOLOGY_SYSTEM),
    get("nvmlSystemGetTopologyGpuSet", sequence(nvml.c_nvmlDevice_t), 0),
    get("P2PStatus", UINT, DEVICE, PEER, nvml.NVML_P2P_CAPS_INDEX_NVLINK),
    get("P2PStatus", UINT, DEVICE, PEER, 99),
    get("CpuAffinity", mask(4), DEVICE, 4),
    get("CpuAffinityWithinScope", mask(4, 0), DEVICE, 4, facade_inputs=(DEVICE, 4, 0)),
    get("MemoryAffinity", mask(2, 0), DEVICE, 2, facade_inputs=(DEVICE, 2, 0)),
    get("MemoryAffinity", mask(2, 7), DEVICE, 2, facade_inputs=(DEVICE, 2, 7)),
    get("NumaNodeId", UINT, DEVICE),
    get("NvLinkState", UINT, DEVICE, 3),
    get("NvLinkState", UINT, DEVICE, 36),
    get("NvLinkVersion", UINT, DEVICE, 0),
    get("NvLinkCapability", UINT, DEVICE, 0, 0),
    get("NvLinkRemotePciInfo", struct(nvml.nvmlPciInfo_t), DEVICE, 5),
    get("NvLinkRemotePciInfo_v2", struct(nvml.nvmlPciInfo_t), DEVICE, 5, facade="nvmlDeviceGetNvLinkRemotePciInfo"),
    get("NvLinkRemoteDeviceType", UINT, DEVICE, 0),
    get("MigMode", TWO_UINTS, DEVICE),
    get("MaxMigDeviceCount", UINT, DEVICE),
    get("MigDeviceHandleByIndex", handle, DEVICE, 1),
    get("MigDeviceHandleByIndex", handle, DEVICE, 9),
    get("DeviceHandleFromMigDeviceHandle", handle, INSTANCE),
    get("nvmlDeviceIsMigDeviceHandle", UINT, INSTANCE),
    get("nvmlDeviceIsMigDeviceHandle", UINT, DEVICE),
    get("EncoderSessions", sequence(nvml.c_nvmlEncoderSession_t), DEVICE),
    get("GpuInstanceId", UINT, INSTANCE),
    get("Attributes", struct(nvml.c_nvmlDeviceAttributes), INSTANCE),
    get("Attributes_v2", struct(nvml.c_nvmlDeviceAttributes), INSTANCE),
    get("VirtualizationMode", UINT, DEVICE),
    get("SupportedVgpus", sequence(c_uint), DEVICE),
    get("CreatableVgpus", sequence(c_uint), DEVICE),
    get("ActiveVgpus", sequence(c_uint), DEVICE),
    get("nvmlVgpuTypeGetFramebufferSize", numbers(c_ulonglong), VGPU_TYPE),
    get("nvmlVgpuTypeGetNumDisplayHeads", UINT, VGPU_TYPE),
    get("nvmlVgpuTypeGetMaxInstances", UINT, DEVICE, VGPU_TYPE),
    get("nvmlVgpuInstanceGetUUID", text, VGPU),
    get("nvmlVgpuInstanceGetMdevUUID", text, VGPU),
    get("nvmlVgpuInstanceGetType", UINT, VGPU),
    get("nvmlGpmQueryDeviceSupport", struct(nvml.c_nvmlGpmSupport_t), DEVICE),
    get("TargetFanSpeed", UINT, DEVICE, 1),
    get("DriverModel", TWO_UINTS, DEVICE),
    get("DriverModel_v2", TWO_UINTS, DEVICE),
    get("BAR1MemoryInfo", struct(nvml.c_nvmlBAR1Memory_t), DEVICE),
    get("PersistenceMode", UINT, DEVICE),
    get("PowerManagementLimit", UINT, DEVICE),
    get("PowerManagementLimitConstraints", TWO_UINTS, DEVICE),
    get("PcieThroughput", UINT, DEVICE, 0),
    get("DisplayActive", UINT, DEVICE),
    get("DisplayMode", UINT, DEVICE),
    get("DynamicPstatesInfo", struct(nvml.c_nvmlGpuDynamicPstatesInfo_t), DEVICE),
    get("nvmlVgpuInstanceGetFbUsage", numbers(c_ulonglong), VGPU),
    get("nvmlUnitGetCount", UINT),
]
# Functions whose C form differs from the facade's in more than where the answer goes have tests of their own below.
APART = {
    "nvmlInit",
    "nvmlInit_v2",
    "nvmlInitWithFlags",
    "nvmlShutdown",
    "nvmlSystemGetProcessName",
    "nvmlDeviceGetTemperatureV",
    "nvmlDeviceGetMarginTemperature",
    "nvmlDeviceGetFanSpeedRPM",
    "nvmlDeviceGetFieldValues",
    "nvmlDeviceGetProcessUtilization",
    "nvmlDeviceGetRetiredPages_v2",
    "nvmlVgpuTypeGetName",
    "nvmlVgpuTypeGetResolution",
    "nvmlDeviceSetEccMode",
    "nvmlDeviceClearEccErrorCounts",
    "nvmlDeviceSetMigMode",
    "nvmlDeviceSetCpuAffinity",
    "nvmlDeviceClearCpuAffinity",
    "nvmlDeviceGetTotalEnergyConsumption",  # which answers on request alone
} | {
    "nvmlDeviceGet%sRunningProcesses%s" % (kind, version)
    for kind in ("Compute", "Graphics", "MPSCompute")
    for version in ("", "_v2", "_v3")
}


def pointer(name):
    return nvml._nvmlGetFunctionPointer(name)


# ---- Agreement with the facade ----


def values_of(inputs, machine):
    return [machine.get(value, value) if isinstance(value, str) else value for value in inputs]


def facade_answer(name, inputs):
    """(code, result) of a facade function."""
    plain = [value.value if isinstance(value, ctypes._SimpleCData) else value for value in inputs]
    try:
        return 0, comparable(getattr(nvml, name)(*plain))
    except nvml.NVMLError as error:
        return error.value, None


@contextlib.contextmanager
def what_there_is(profile):
    """What the words in CALLS stand for on a machine, which is initialized meanwhile (dict)."""
    with simulated.nvml(profile):
        first = nvml.nvmlDeviceGetHandleByIndex(0)
        last = nvml.nvmlDeviceGetHandleByIndex(nvml.nvmlDeviceGetCount() - 1)
        machine = {DEVICE: first, PEER: last, INSTANCE: first, VGPU_TYPE: 1, VGPU: 1}
        if profile == "s3000-mpc":
            machine[INSTANCE] = nvml.nvmlDeviceGetMigDeviceHandleByIndex(first, 0)
        if profile == "s3000-vgpu-host":
            machine[VGPU_TYPE] = nvml.nvmlDeviceGetSupportedVgpus(first)[0]
            machine[VGPU] = nvml.nvmlDeviceGetActiveVgpus(first)[0]
        yield machine


def compare(profile):
    """Assert that all calls end as the facade's do on one machine; the names of those that answered (set)."""
    answered = set()
    with what_there_is(profile) as machine:
        for name, ask, inputs, facade, facade_inputs in CALLS:
            code, result = ask(pointer(name), values_of(inputs, machine))
            expected, value = facade_answer(facade, values_of(facade_inputs, machine))
            where = "%s%r on %s" % (name, inputs, profile)
            assert code == expected, where
            if code == 0:
                answered.add(name)
                assert normal(result) == normal(value), where
    return answered


def test_pointers_agree_with_the_facade():
    answered = set().union(*[compare(profile) for profile in PROFILES])
    named = {name for name, _, _, _, _ in CALLS}
    by_identity = {name for name in named if "HandleBy" in name and "Index" not in name}
    assert named - by_identity - {name for name in named if is_refused(name)} == answered


@pytest.mark.parametrize("profile", PROFILES, ids=os.path.basename)
def test_the_long_way_leads_to_the_same_answers(profile, monkeypatch):
    """As where a query finds nothing at hand, because a change of MPC has emptied a handle, and C then refuses it."""
    asked = [(facade, inputs) for _, _, _, facade, inputs in CALLS]
    asked += [("nvmlDeviceGetP2PStatus", (DEVICE, PEER, index)) for index in range(nvml.NVML_P2P_CAPS_INDEX_UNKNOWN)]
    with what_there_is(profile) as machine:
        asked = [(name, values_of(inputs, machine)) for name, inputs in asked]
        answers = [(name, facade_answer(name, inputs)) for name, inputs in asked]
        monkeypatch.setattr(nvml, "_c", None)
        assert [(name, facade_answer(name, inputs)) for name, inputs in asked] == answers
        monkeypatch.undo()


def is_refused(name):
    """Whether a function only refuses."""
    return (getattr(getattr(nvml, name, None), "__doc__", None) or "").startswith("Not available")


def normal(value):
    """A negative temperature is C's unsigned int, a bool its int, a handle its UUID."""
    if isinstance(value, list):
        return [normal(item) for item in value]
    if isinstance(value, bool):
        return int(value)
    return comparable(value)


def test_what_differs_is_tested():
    """Each exception, and each way to store an answer, is called here or compared with nvidia-ml-py's call below."""
    called = {name for name, _, _, _, _ in CALLS} | APART
    assert set(nvml._C_NAMES) - {"nvmlDeviceGetGpuInstancePossiblePlacements_v2"} <= called
    stores = {pointer(name)._store for name in called}
    assert {store for _, store in nvml._STORES} - stores == set()


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
        assert pointer(name).__name__ == name


def test_what_no_c_function_has_is_not_there():
    public = {name for name, value in vars(nvml).items() if name.startswith("nvml") and callable(value)}
    public = {name for name in public if isinstance(getattr(nvml, name), types.FunctionType)}
    # C functions that nvidia-ml-py does not ask for, older versions of those that it does
    older = {
        "nvmlComputeInstanceGetInfo",
        "nvmlDeviceGetAttributes",
        "nvmlDeviceGetComputeRunningProcesses",
        "nvmlDeviceGetCount",
        "nvmlDeviceGetGpuInstancePossiblePlacements",
        "nvmlDeviceGetGraphicsRunningProcesses",
        "nvmlDeviceGetGridLicensableFeatures",
        "nvmlDeviceGetHandleByIndex",
        "nvmlDeviceGetHandleByPciBusId",
        "nvmlDeviceGetMPSComputeRunningProcesses",
        "nvmlDeviceGetNvLinkRemotePciInfo",
        "nvmlDeviceGetPciInfo",
        "nvmlEventSetWait",
        "nvmlInit",
        "nvmlVgpuInstanceGetLicenseInfo",
    }
    assert public - genuine_names() - older == set(nvml._PYTHON_ONLY), "a name of _PYTHON_ONLY, or older"
    for name in nvml._PYTHON_ONLY:
        with pytest.raises(nvml.NVMLError_FunctionNotFound):
            pointer(name)


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
CODE_IS_THE_ANSWER = {
    "nvmlDeviceGetCapabilities",
    "nvmlDeviceGetPowerMizerMode_v1",
    "nvmlDeviceSetPowerMizerMode_v1",
    "nvmlDeviceSetVirtualizationMode",
    "nvmlSystemGetConfComputeSettings",
    "nvmlVgpuInstanceSetEncoderCapacity",
}
CODE_IS_LOST = {"nvmlDeviceGetClockOffsets", "nvmlDeviceSetClockOffsets", "nvmlDeviceSetPowerManagementLimit_v2"}
# It looks at its own arguments first, asks for another thing first, or the answer has the time in it.
OTHERWISE = {
    "nvmlSystemEventSetCreate",
    "nvmlSystemEventSetFree",
    "nvmlSystemEventSetWait",
    "nvmlSystemRegisterEvents",
    "nvmlDeviceGetVgpuTypeCreatablePlacements",
    "nvmlDeviceGetVgpuTypeSupportedPlacements",
    "nvmlDeviceGetFieldValues",
    "nvmlDeviceGetVgpuUtilization",
}


@pytest.mark.parametrize("profile", PROFILES, ids=os.path.basename)
def test_as_nvidia_ml_py_calls_them(profile, genuine_module):
    """nvidia-ml-py's own functions, on pymtml's C functions, end as pymtml's functions do."""
    compared = 0
    with simulated.nvml(profile):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        for name in every_function.FUNCTIONS:
            if name in LIFECYCLE | OTHERWISE or not hasattr(genuine_module, name):
                continue
            arguments = [every_function.fill(name, device) for _ in range(2)]
            theirs = outcome(genuine_module, name, arguments[0])
            ours = outcome(nvml, name, arguments[1])
            if name in CODE_IS_THE_ANSWER and theirs is not None:
                theirs = ("error", theirs[1])
            if theirs is None or name in CODE_IS_LOST:
                continue
            compared += 1
            assert theirs == ours, name
    assert compared > 330, compared


def test_handles_by_identity(device):
    for name, identity in (
        ("nvmlDeviceGetHandleByUUID", nvml.nvmlDeviceGetUUID(device)),
        ("nvmlDeviceGetHandleBySerial", nvml.nvmlDeviceGetSerial(device)),
        ("nvmlDeviceGetHandleByPciBusId", nvml.nvmlDeviceGetPciInfo(device).busId),
        ("nvmlDeviceGetHandleByPciBusId_v2", nvml.nvmlDeviceGetPciInfo(device).busIdLegacy),
    ):
        for argument in (identity.encode(), ctypes.c_char_p(identity.encode())):
            assert handle(pointer(name), [argument]) == (0, nvml.nvmlDeviceGetUUID(device)), name
        assert handle(pointer(name), [None])[0] == nvml.NVML_ERROR_INVALID_ARGUMENT


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
    assert nvml.nvmlDeviceGetIndex(device) == 0


# ---- The pointers themselves ----


@pytest.mark.parametrize("name", ["nvmlNoSuchFunction", "", "mtmlLibraryInit", "nvmlDeviceGetMemoryInfo_v3", None, 7])
def test_unknown_name(name):
    for _ in range(2):
        with pytest.raises(nvml.NVMLError_FunctionNotFound) as caught:
            nvml._nvmlGetFunctionPointer(name)
        assert caught.value.value == nvml.NVML_ERROR_FUNCTION_NOT_FOUND
    assert name not in nvml._nvmlGetFunctionPointer_cache


def test_pointer_is_kept():
    for name in genuine_names():
        assert pointer(name) is pointer(name) is nvml._nvmlGetFunctionPointer_cache[name]
        assert callable(pointer(name)) and pointer(name).__name__ == name


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

QUERIES = [(name, ask, inputs) for name, ask, inputs, _, _ in CALLS if inputs and inputs[0] in (DEVICE, INSTANCE)]
QUERIES = list({name: (name, ask, inputs) for name, ask, inputs in QUERIES}.values())


@pytest.mark.parametrize("name, ask, inputs", QUERIES, ids=[name for name, _, _ in QUERIES])
def test_bad_handle(name, ask, inputs, device):
    machine = {PEER: device}
    for bad in (None, 0, 4096, b"x", "x", object(), ctypes.c_void_p(4096), nvml.c_nvmlDevice_t(), c_int(1)):
        machine[DEVICE] = machine[INSTANCE] = bad
        assert ask(pointer(name), values_of(inputs, machine))[0] == nvml.NVML_ERROR_INVALID_ARGUMENT, bad


@pytest.mark.parametrize("name, ask, inputs", [entry[:3] for entry in CALLS])
def test_uninitialized_comes_first(name, ask, inputs):
    """Before init nothing is looked at: whatever the arguments, NULL outputs too, NVML says that first."""
    with simulated.machine("s5000x8"):
        assert ask(pointer(name), values_of(inputs, {}))[0] == nvml.NVML_ERROR_UNINITIALIZED
        for output in ask.null if ask in (UINT, handle) else []:
            assert pointer(name)(*(values_of(inputs, {}) + output)) == nvml.NVML_ERROR_UNINITIALIZED


@pytest.mark.parametrize("name", sorted(name for name in APART if not name.startswith("nvmlInit")))
def test_uninitialized_comes_first_in_functions_of_their_own_kind(name):
    inputs = pointer(name)._inputs
    with simulated.machine("s5000x8"):
        codes = [pointer(name)(*[None] * count) for count in range(inputs, inputs + 4)]
    # One of these is the number of arguments that the function has, for which nothing else is to be said.
    assert nvml.NVML_ERROR_UNINITIALIZED in codes
    assert set(codes) <= {nvml.NVML_ERROR_UNINITIALIZED, nvml.NVML_ERROR_INVALID_ARGUMENT}


# These change what the others need.
LIFECYCLE = {"nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlShutdown", "nvmlDeviceSetMigMode"}


@pytest.mark.parametrize(
    "name",
    sorted(({name for name, _, _, _, _ in CALLS} | APART | set(nvml._C_EXCEPTIONS)) - LIFECYCLE - {"nvmlErrorString"}),
)
def test_any_number_and_kind_of_arguments(name, device):
    """No arguments at all, too many, NULL for every reference, wrong kinds: a code comes back, nothing is raised."""
    one = c_uint(7)
    for count in range(8):
        for argument in (
            None,
            0,
            -1,
            1 << 70,
            "x",
            b"x",
            1.5,
            object(),
            one,
            byref(one),
            ctypes.pointer(one),
            device,
            [],
        ):
            code = pointer(name)(*[argument] * count)
            assert type(code) is int and (code == 0 or code in nvml.NVMLError._valClassMapping), (count, argument)
            code = pointer(name)(device, *[argument] * count)
            assert type(code) is int and (code == 0 or code in nvml.NVMLError._valClassMapping), (count, argument)
    assert nvml.nvmlDeviceGetName(device) == "MTT S5000"


@pytest.mark.parametrize("name, ask, inputs", QUERIES, ids=[name for name, _, _ in QUERIES])
def test_null_output(name, ask, inputs, device):
    machine = {DEVICE: device, PEER: device, INSTANCE: device}
    supported = ask(pointer(name), values_of(inputs, machine))[0] == 0
    for output in ask.null:
        code = pointer(name)(*(values_of(inputs, machine) + output))
        assert code == nvml.NVML_ERROR_INVALID_ARGUMENT if supported else code in (2, 3, 6), output


BY_POINTER = [query for query in QUERIES if query[1] in (UINT, TWO_UINTS) or len(query[1].null[0]) == 1]
BY_POINTER = [(name, ask, inputs) for name, ask, inputs in BY_POINTER if "by" in ask.__code__.co_varnames]


@pytest.mark.parametrize("name, ask, inputs", BY_POINTER, ids=[name for name, _, _ in BY_POINTER])
def test_output_by_pointer(name, ask, inputs, device):
    """pointer(x) is as good as byref(x)."""
    machine = {DEVICE: device, PEER: device, INSTANCE: device}
    expected = ask(pointer(name), values_of(inputs, machine))
    assert ask(pointer(name), values_of(inputs, machine), by=ctypes.pointer) == expected


def test_what_a_pointer_shows():
    nvml._nvmlGetFunctionPointer_cache.pop("nvmlDeviceGetName", None)
    function = pointer("nvmlDeviceGetName")
    assert (function.argtypes, function.restype, repr(function)) == (None, c_int, "<C-style nvmlDeviceGetName>")


def test_places_too_many_or_too_small(device):
    """Nothing is written, and nothing done, where the arguments do not fit the function."""
    first, second = c_uint(77), c_uint(78)
    assert pointer("nvmlDeviceGetIndex")(device, byref(first), byref(second)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert pointer("nvmlDeviceGetEccMode")(device, byref(first)) == nvml.NVML_ERROR_INVALID_ARGUMENT
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


def test_number_of_fields(device):
    """As many as there are fields, none more; a handle and a version are looked at in this order."""
    fields = (nvml.c_nvmlFieldValue_t * (nvml.NVML_FI_MAX + 1))()
    for field in fields:
        field.fieldId = nvml.NVML_FI_DEV_MEMORY_TEMP
    ask = pointer("nvmlDeviceGetFieldValues")
    assert ask(device, 1, fields) == ask(device, nvml.NVML_FI_MAX, fields) == nvml.NVML_SUCCESS
    assert ask(device, nvml.NVML_FI_MAX + 1, fields) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert ask(device, 1, None) == ask(device, 0, fields) == nvml.NVML_ERROR_INVALID_ARGUMENT
    info = nvml.c_nvmlMemory_v2_t(version=7)
    memory = pointer("nvmlDeviceGetMemoryInfo_v2")
    assert memory(device, byref(info)) == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH
    assert memory(None, byref(info)) == nvml.NVML_ERROR_INVALID_ARGUMENT


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


def test_failure_of_the_library_comes_back_as_a_code(device):
    for fault, code in (("TIMEOUT", 10), ("DRIVER_FAILURE", 999), ("RESOURCE_IS_BUSY", 19), ("NO_PERMISSION", 4)):
        simulated.set_faults("*=%s" % fault)
        assert UINT(pointer("nvmlDeviceGetPowerUsage"), [device])[0] == code
        assert struct(nvml.c_nvmlMemory_t)(pointer("nvmlDeviceGetMemoryInfo"), [device])[0] == code
        assert text(pointer("nvmlDeviceGetName"), [device])[0] == code


# ---- C forms that differ from the facade's ----


def test_memory_by_version(device):
    info = nvml.nvmlDeviceGetMemoryInfo(device)
    memory = nvml.c_nvmlMemory_v2_t()
    for version in (0, 1, 2, nvml.nvmlMemory_v2 + 1):
        memory.version = version
        assert pointer("nvmlDeviceGetMemoryInfo_v2")(device, byref(memory)) == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH
    memory.version = nvml.nvmlMemory_v2
    assert pointer("nvmlDeviceGetMemoryInfo_v2")(device, byref(memory)) == 0
    assert (memory.total, memory.used, memory.free, memory.reserved) == (info.total, info.used, info.free, 0)


@pytest.mark.parametrize("degrees", [61, -7])
def test_temperature_by_version(degrees, device):
    simulated.set_value(0, "gpu_temperature", degrees)
    value = nvml.c_nvmlTemperature_v1_t(version=nvml.nvmlTemperature_v1, sensorType=nvml.NVML_TEMPERATURE_GPU)
    assert pointer("nvmlDeviceGetTemperatureV")(device, byref(value)) == 0
    assert value.temperature == degrees
    plain = c_int()
    assert pointer("nvmlDeviceGetTemperature")(device, c_uint(0), byref(plain)) == 0
    assert plain.value == degrees
    value.sensorType = 1
    assert pointer("nvmlDeviceGetTemperatureV")(device, byref(value)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    value.sensorType, value.version = 0, 1
    assert pointer("nvmlDeviceGetTemperatureV")(device, byref(value)) == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH


def test_margin_by_version(device):
    margin = nvml.c_nvmlMarginTemperature_v1_t()
    ask = pointer("nvmlDeviceGetMarginTemperature")
    assert ask(device, byref(margin)) == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH
    margin.version = nvml.nvmlMarginTemperature_v1
    assert ask(device, byref(margin)) == 0
    assert margin.marginTemperature == nvml.nvmlDeviceGetMarginTemperature(device)


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


@not_on_pypy.reference
def test_a_handle_that_others_hold_is_no_place_for_another(device):
    other = nvml.nvmlDeviceGetHandleByIndex(1)
    assert pointer("nvmlDeviceGetHandleByIndex_v2")(1, byref(device)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert nvml.nvmlDeviceGetHandleByIndex(0) is device != other


def test_what_a_handle_points_to_is_never_written(device):
    for name in ("nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion"):
        for length in (8, 256, float("nan")):
            assert pointer(name)(device, length) == nvml.NVML_ERROR_INVALID_ARGUMENT
    for name in ("nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage"):
        for target in (device, byref(device), ctypes.pointer(device)):
            assert pointer(name)(device, target) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert nvml.nvmlDeviceGetPowerUsage(device)


def test_retired_pages_with_their_times(device):
    simulated.set_value(0, "retired_pages_dbe", "7@4096, 9@8192")
    ask = pointer("nvmlDeviceGetRetiredPages_v2")
    count, addresses, stamps = c_uint(1), (c_ulonglong * 2)(), (c_ulonglong * 2)()
    assert ask(device, 1, byref(count), None, None) == nvml.NVML_ERROR_INSUFFICIENT_SIZE
    assert ask(device, 1, byref(count), addresses, stamps) == 0
    expected = nvml.nvmlDeviceGetRetiredPages_v2(device, 1)
    assert [{"address": a, "timestamp": s} for a, s in zip(addresses, stamps)] == expected and len(expected) == 2


def test_name_and_resolution_of_a_vgpu_type():
    with simulated.nvml("s3000-vgpu-host"):
        kind = nvml.nvmlDeviceGetSupportedVgpus(nvml.nvmlDeviceGetHandleByIndex(0))[0]
        buffer, size = create_string_buffer(64), c_uint(64)
        assert pointer("nvmlVgpuTypeGetName")(kind, buffer, byref(size)) == 0
        assert buffer.value.decode() == nvml.nvmlVgpuTypeGetName(kind)
        width, height = c_uint(), c_uint()
        assert pointer("nvmlVgpuTypeGetResolution")(kind, 0, byref(width), byref(height)) == 0
        assert (width.value, height.value) == nvml.nvmlVgpuTypeGetResolution(kind)


@pytest.fixture
def process_at_42_percent(tmp_path, monkeypatch):
    """The driver's table shows one process, 5, on the first card."""
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    tree = tmp_path / "driver" / "musa" / "gpu0"
    tree.mkdir(parents=True)
    (tree / "devname").write_text("mtgpu.0\n")
    (tree / "proc_util").write_text("Pid VPid Total PidName\n5 5 42 x\n")


def test_utilization_by_process(device, process_at_42_percent):
    ask = pointer("nvmlDeviceGetProcessUtilization")
    count, samples = c_uint(), (nvml.c_nvmlProcessUtilizationSample_t * 1)()
    assert ask(device, None, byref(count), c_ulonglong(0)) == nvml.NVML_ERROR_INSUFFICIENT_SIZE
    assert (ask(device, samples, byref(count), c_ulonglong(0)), count.value) == (0, 1)
    assert ask(device, None, byref(count), c_ulonglong(0)) == nvml.NVML_ERROR_INSUFFICIENT_SIZE
    assert (samples[0].pid, samples[0].smUtil) == (5, 42)


def test_utilization_by_process_in_a_struct(device, process_at_42_percent):
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
        calls = (
            ("nvmlDeviceGetGpuInstanceProfileInfoV", slices),
            ("nvmlDeviceGetGpuInstanceProfileInfoByIdV", older.id),
        )
        for name, number in calls:
            info = nvml.c_nvmlGpuInstanceProfileInfo_v2_t(version=1)
            assert pointer(name)(card, number, byref(info)) == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH
            assert (info.version, info.id, info.memorySizeMB) == (1, 0, 0)
            info.version = expected.version
            assert (pointer(name)(card, number, byref(info)), bytes(info)) == (nvml.NVML_SUCCESS, bytes(expected))


def test_instances_of_a_profile():
    with simulated.nvml("s3000-mpc"):
        card, ask = nvml.nvmlDeviceGetHandleByIndex(0), pointer("nvmlDeviceGetGpuInstances")
        found, count = (nvml.c_nvmlGpuInstance_t * 2)(), c_uint(2)
        assert (ask(card, c_uint(2), found, byref(count)), count.value) == (nvml.NVML_SUCCESS, 2)
        assert [nvml.nvmlGpuInstanceGetInfo(instance).id for instance in found] == [1, 2]
        assert ask(card, c_uint(2), found) == nvml.NVML_ERROR_INVALID_ARGUMENT


def test_a_text_is_returned_itself():
    assert pointer("nvmlErrorString")(c_uint(nvml.NVML_ERROR_NOT_SUPPORTED)) == b"Not Supported"


def test_an_instance_goes_into_a_pointer_of_its_own_kind():
    with simulated.nvml("s3000-mpc"):
        card, ask = nvml.nvmlDeviceGetHandleByIndex(0), pointer("nvmlDeviceGetGpuInstanceById")
        found, device = ctypes.c_void_p(), nvml.c_nvmlDevice_t()
        assert (ask(card, 0, byref(found)), bool(found)) == (nvml.NVML_SUCCESS, True)
        assert (ask(card, 0, byref(device)), bool(device)) == (nvml.NVML_ERROR_INVALID_ARGUMENT, False)
        assert ask(card, 0, byref(c_uint())) == nvml.NVML_ERROR_INVALID_ARGUMENT


def test_a_number_wants_its_room(device):
    assert pointer("nvmlDeviceGetPowerUsage")(device, byref(ctypes.c_ubyte())) == nvml.NVML_ERROR_INVALID_ARGUMENT


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
    for padding in (0, 3):
        values = (nvml.c_nvmlFieldValue_t * (len(fields) + padding))()
        for value, field in zip(values, fields):
            value.fieldId = field
        for reference in (byref(values), values):
            assert ask(device, c_int(len(fields)), reference) == 0
            for value, other in zip(values, expected):
                assert (value.fieldId, value.nvmlReturn, value.valueType, value.value.ullVal) == (
                    other.fieldId,
                    other.nvmlReturn,
                    other.valueType,
                    other.value.ullVal,
                )
    for count in (0, -1, len(values) + 1):
        assert ask(device, count, byref(values)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert ask(device, 1, None) == nvml.NVML_ERROR_INVALID_ARGUMENT


PROCESS_QUERIES = sorted(name for name in APART if "RunningProcesses" in name)


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """A process table in which three processes compute on device 0 and two draw."""
    tree = tmp_path / "driver" / "musa" / "gpu00"
    tree.mkdir(parents=True)
    node = None
    with simulated.machine("s5000x8"):
        nvml.nvmlInit()
        node = "mtgpu.%d" % nvml.nvmlDeviceGetMinorNumber(nvml.nvmlDeviceGetHandleByIndex(0))
        nvml.nvmlShutdown()
    tree.joinpath("devname").write_text(node + "\n")
    rows = ["Pid VPid Total 2D TA 3D CMP CDM Name"]
    rows += ["%d %d 10 0 0 0 10 0 worker" % (pid, pid) for pid in (101, 102, 103)]
    rows += ["%d %d 10 0 0 10 0 0 game" % (pid, pid) for pid in (201, 202)]
    tree.joinpath("proc_util").write_text("\n".join(rows) + "\n")
    for pid in (101, 102, 103, 201, 202):
        (tmp_path / str(pid)).mkdir()
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))


@pytest.mark.parametrize("name", PROCESS_QUERIES)
def test_processes(name, proc, device):
    """nvitop's way: ask how many, take twice as many and five, ask again."""
    pids = {"Compute": [101, 102, 103], "Graphics": [201, 202], "MPSCompute": []}[
        name[len("nvmlDeviceGet") : name.index("RunningProcesses")]
    ]
    assert [process.pid for process in getattr(nvml, name)(device)] == pids
    ask = pointer(name)
    count = c_uint(0)
    code = ask(device, byref(count), None)
    assert code == (nvml.NVML_ERROR_INSUFFICIENT_SIZE if pids else nvml.NVML_SUCCESS)
    assert count.value == len(pids)
    if not pids:
        return
    first = name.endswith("Processes")
    fields = [("pid", c_uint), ("usedGpuMemory", c_ulonglong)]
    if not first:
        fields += [("gpuInstanceId", c_uint), ("computeInstanceId", c_uint)]
    process_class = type("process", (nvml._PrintableStructure,), {"_fields_": fields})
    count.value = count.value * 2 + 5
    array = (process_class * count.value)()
    array[len(pids)].pid = 4711
    assert ask(device, byref(count), array) == 0
    assert [process.pid for process in array[: count.value]] == pids
    assert array[len(pids)].pid == 4711
    for process in array[: count.value]:
        assert process.usedGpuMemory == nvml.NVML_VALUE_NOT_AVAILABLE_ulonglong.value
        if not first:
            assert process.gpuInstanceId == process.computeInstanceId == 0xFFFFFFFF
    count.value = len(pids) - 1
    assert ask(device, byref(count), array) == nvml.NVML_ERROR_INSUFFICIENT_SIZE
    assert count.value == len(pids)
    assert ask(device, None, array) == nvml.NVML_ERROR_INVALID_ARGUMENT


def test_process_name(device):
    assert text(pointer("nvmlSystemGetProcessName"), [c_uint(1 << 30)])[0] == nvml.NVML_ERROR_NOT_FOUND
    assert text(pointer("nvmlSystemGetProcessName"), [os.getpid()]) == (0, nvml.nvmlSystemGetProcessName(os.getpid()))


def test_setters(device):
    pending = nvml.nvmlDeviceGetPendingEccMode
    for mode in (nvml.NVML_FEATURE_DISABLED, nvml.NVML_FEATURE_ENABLED):
        assert pointer("nvmlDeviceSetEccMode")(device, c_uint(mode)) == 0
        assert pending(device) == mode
    assert pointer("nvmlDeviceSetEccMode")(device, c_uint(2)) == nvml.NVML_ERROR_INVALID_ARGUMENT
    simulated.set_value(0, "ecc_corrected_volatile", 5)
    assert nvml.nvmlDeviceGetTotalEccErrors(device, 0, 0) == 5
    assert pointer("nvmlDeviceClearEccErrorCounts")(device, c_uint(0)) == 0
    assert nvml.nvmlDeviceGetTotalEccErrors(device, 0, 0) == 0


def test_set_mig_mode():
    with simulated.machine("s3000-mpc"):
        nvml.nvmlInit()
        try:
            parent, status = nvml.nvmlDeviceGetHandleByIndex(0), c_uint(7)
            assert pointer("nvmlDeviceSetMigMode")(parent, c_uint(0), byref(status)) == 0
            assert status.value == nvml.NVML_SUCCESS
            assert UINT(pointer("nvmlDeviceGetIndex"), [parent])[0] == nvml.NVML_ERROR_INVALID_ARGUMENT
            assert nvml.nvmlDeviceGetMigMode(nvml.nvmlDeviceGetHandleByIndex(0)) == [0, 0]
        finally:
            nvml.nvmlShutdown()


def test_handle_from_a_pointer_is_a_handle(device):
    """nvmlDeviceGetHandleByIndex_v2 fills a plain pointer; every function takes it."""
    plain = nvml.c_nvmlDevice_t()
    assert pointer("nvmlDeviceGetHandleByIndex_v2")(c_uint(0), byref(plain)) == 0
    assert plain == device and hash(plain) == hash(device)
    assert nvml.nvmlDeviceGetName(plain) == "MTT S5000"
    assert nvml.nvmlDeviceGetMemoryInfo(plain).total == nvml.nvmlDeviceGetMemoryInfo(device).total
    assert nvml.nvmlDeviceGetTemperature(plain, 0) == nvml.nvmlDeviceGetTemperature(device, 0)
    assert nvml.nvmlDeviceGetTopologyCommonAncestor(plain, nvml.nvmlDeviceGetHandleByIndex(1)) > 0
