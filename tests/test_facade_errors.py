"""How failures of the C library come out of nvml* functions: class, code, text, and the order of checks."""

import copy
import ctypes
import pickle

import pytest
import simulated

import pymtml as nvml

# MTML status: (its name without the prefix, what the facade raises, NVML's code).
STATUSES = {
    1: ("DRIVER_NOT_LOADED", "NVMLError_DriverNotLoaded", 9),
    2: ("DRIVER_FAILURE", "NVMLError_Unknown", 999),
    3: ("INVALID_ARGUMENT", "NVMLError_InvalidArgument", 2),
    4: ("NOT_SUPPORTED", "NVMLError_NotSupported", 3),
    5: ("NO_PERMISSION", "NVMLError_NoPermission", 4),
    6: ("INSUFFICIENT_SIZE", "NVMLError_InsufficientSize", 7),
    7: ("NOT_FOUND", "NVMLError_NotFound", 6),
    8: ("INSUFFICIENT_MEMORY", "NVMLError_Memory", 20),
    9: ("DRIVER_TOO_OLD", "NVMLError_LibRmVersionMismatch", 18),
    10: ("DRIVER_TOO_NEW", "NVMLError_LibRmVersionMismatch", 18),
    11: ("TIMEOUT", "NVMLError_Timeout", 10),
    12: ("RESOURCE_IS_BUSY", "NVMLError_InUse", 19),
    999: ("UNKNOWN", "NVMLError_Unknown", 999),
}

# Facade function: (arguments behind the handle, the C function that fails, statuses it answers otherwise).
QUERIES = {
    "nvmlDeviceGetName": ((), "mtmlDeviceGetName", {}),
    "nvmlDeviceGetUUID": ((), "mtmlDeviceGetUUID", {}),
    "nvmlDeviceGetSerial": ((), "mtmlDeviceGetSerialNumber", {}),
    "nvmlDeviceGetIndex": ((), "mtmlDeviceGetIndex", {}),
    "nvmlDeviceGetBrand": ((), "mtmlDeviceGetBrand", {}),
    "nvmlDeviceGetVbiosVersion": ((), "mtmlDeviceGetMtBiosVersion", {}),
    "nvmlDeviceGetMinorNumber": ((), "mtmlDeviceGetGpuPath", {}),
    "nvmlDeviceGetPciInfo": ((), "mtmlDeviceGetPciInfo", {}),
    "nvmlDeviceGetBoardId": ((), "mtmlDeviceGetPciInfo", {}),
    "nvmlDeviceGetMultiGpuBoard": ((), "mtmlDeviceCountDeviceByTopologyLevel", {}),
    "nvmlDeviceGetNumGpuCores": ((), "mtmlDeviceCountGpuCores", {}),
    "nvmlDeviceGetCudaComputeCapability": ((), "mtmlDeviceGetMusaComputeCapability", {4: (3, 1)}),
    "nvmlDeviceGetMemoryInfo": ((), "mtmlMemoryGetUsed", {}),
    "nvmlDeviceGetMemoryBusWidth": ((), "mtmlMemoryGetBusWidth", {}),
    "nvmlDeviceGetUtilizationRates": ((), "mtmlGpuGetUtilization", {}),
    "nvmlDeviceGetEncoderUtilization": ((), "mtmlVpuGetUtilization", {}),
    "nvmlDeviceGetDecoderUtilization": ((), "mtmlVpuGetUtilization", {}),
    "nvmlDeviceGetEncoderCapacity": ((0,), "mtmlVpuGetCodecCapacity", {}),
    "nvmlDeviceGetEncoderStats": ((), "mtmlVpuGetEncoderSessionStates", {}),
    "nvmlDeviceGetTemperature": ((0,), "mtmlGpuGetTemperature", {}),
    "nvmlDeviceGetTemperatureV": ((0,), "mtmlGpuGetTemperature", {}),
    "nvmlDeviceGetTemperatureThreshold": ((0,), "mtmlGpuGetTemperatureThreshold", {}),
    "nvmlDeviceGetMarginTemperature": ((), "mtmlGpuGetTemperatureThreshold", {}),
    "nvmlDeviceGetClockInfo": ((0,), "mtmlGpuGetClock", {}),
    "nvmlDeviceGetMaxClockInfo": ((3,), "mtmlVpuGetMaxClock", {}),
    "nvmlDeviceGetClock": ((2, 0), "mtmlMemoryGetClock", {}),
    "nvmlDeviceGetPowerUsage": ((), "mtmlDeviceGetPowerUsage", {}),
    "nvmlDeviceGetEnforcedPowerLimit": ((), "mtmlGpuGetEnforcedPowerLimit", {}),
    "nvmlDeviceGetPowerManagementLimit": ((), "mtmlGpuGetEnforcedPowerLimit", {}),
    "nvmlDeviceGetPowerManagementDefaultLimit": ((), "mtmlGpuGetPowerManagementDefaultLimit", {}),
    "nvmlDeviceGetPerformanceState": ((), "mtmlDeviceGetPerformanceState", {}),
    "nvmlDeviceGetNumFans": ((), "mtmlDeviceCountFan", {}),
    "nvmlDeviceGetCurrPcieLinkWidth": ((), "mtmlDeviceGetPciInfo", {}),
    "nvmlDeviceGetPcieReplayCounter": ((), "mtmlDeviceGetPcieReplayCounter", {}),
    "nvmlDeviceGetEccMode": ((), "mtmlMemoryGetEccMode", {}),
    "nvmlDeviceSetEccMode": ((1,), "mtmlMemorySetEccMode", {}),
    "nvmlDeviceGetTotalEccErrors": ((0, 0), "mtmlMemoryGetEccErrorCounter", {}),
    "nvmlDeviceClearEccErrorCounts": ((0,), "mtmlMemoryClearEccErrorCounts", {}),
    "nvmlDeviceGetRetiredPages": ((0,), "mtmlMemoryGetRetiredPagesCount", {}),
    "nvmlDeviceGetRetiredPagesPendingStatus": ((), "mtmlMemoryGetRetiredPagesPendingStatus", {}),
    "nvmlDeviceGetTopologyNearestGpus": ((50,), "mtmlDeviceGetTopologyLevel", {}),
    "nvmlDeviceGetCpuAffinity": ((2,), "mtmlDeviceGetCpuAffinityWithinNode", {}),
    "nvmlDeviceGetMemoryAffinity": ((2, 0), "mtmlDeviceGetMemoryAffinityWithinNode", {}),
    "nvmlDeviceGetNvLinkState": ((0,), "mtmlDeviceGetMtLinkState", {}),
    "nvmlDeviceGetNvLinkVersion": ((0,), "mtmlDeviceGetMtLinkSpec", {4: nvml.NVMLError_NotSupported}),
    "nvmlDeviceGetNvLinkCapability": ((0, 0), "mtmlDeviceGetMtLinkCapStatus", {}),
    "nvmlDeviceGetNvLinkRemotePciInfo": ((0,), "mtmlDeviceGetMtLinkRemoteDevice", {}),
    "nvmlDeviceGetNvLinkRemoteDeviceType": (
        (0,),
        "mtmlDeviceGetMtLinkRemoteDevice",
        {7: nvml.NVML_NVLINK_DEVICE_TYPE_UNKNOWN},
    ),
    "nvmlDeviceGetMigMode": ((), "mtmlDeviceGetProperty", {}),
    "nvmlDeviceIsMigDeviceHandle": ((), "mtmlDeviceGetProperty", {}),
    "nvmlDeviceGetVirtualizationMode": ((), "mtmlDeviceGetProperty", {}),
    "nvmlDeviceGetSupportedVgpus": ((), "mtmlDeviceCountSupportedVirtTypes", {}),
    "nvmlDeviceGetCreatableVgpus": ((), "mtmlDeviceCountAvailVirtTypes", {}),
    "nvmlDeviceGetActiveVgpus": ((), "mtmlDeviceCountActiveVirtDevices", {}),
    "nvmlDeviceGetAttributes": ((), "mtmlDeviceGetMpcProfileInfo", {}),
}
# The same for functions without a handle.
SYSTEM = {
    "nvmlSystemGetDriverVersion": ((), "mtmlSystemGetDriverVersion", {}),
    "nvmlSystemGetNVMLVersion": ((), "mtmlLibraryGetVersion", {}),
    "nvmlDeviceGetCount": ((), "mtmlLibraryCountDevice", {}),
    "nvmlDeviceGetHandleByIndex": ((0,), "mtmlLibraryInitDeviceByIndex", {7: nvml.NVMLError_InvalidArgument}),
    "nvmlDeviceGetHandleByUUID": (("x",), "mtmlLibraryInitDeviceByUuid", {3: nvml.NVMLError_NotFound}),
    "nvmlDeviceGetHandleBySerial": (("x",), "mtmlDeviceGetSerialNumber", {4: nvml.NVMLError_NotFound}),
    "nvmlDeviceGetHandleByPciBusId": (("0000:00:00.0",), "mtmlLibraryInitDeviceByPciSbdf", {}),
    "nvmlSystemGetTopologyGpuSet": ((0,), "mtmlDeviceGetCpuAffinityWithinNode", {}),
}
FANS = {
    "nvmlDeviceGetFanSpeed": ((), "mtmlDeviceGetFanSpeed"),
    "nvmlDeviceGetFanSpeed_v2": ((0,), "mtmlDeviceGetFanSpeed"),
    "nvmlDeviceGetFanSpeedRPM": ((), "mtmlDeviceGetFanRpm"),
}
SUB_HANDLES = {
    "nvmlDeviceGetTemperature": ((0,), "mtmlDeviceInitGpu"),
    "nvmlDeviceGetMemoryInfo": ((), "mtmlDeviceInitMemory"),
    "nvmlDeviceGetEncoderUtilization": ((), "mtmlDeviceInitVpu"),
    "nvmlSystemGetDriverVersion": ((), "mtmlLibraryInitSystem"),
}


def assert_fails(function, arguments, c_function, status, otherwise):
    """The function answers a C status with the NVML error that stands for it."""
    name, expected_class, code = STATUSES[status]
    where = "%s with %s=%s" % (function, c_function, name)
    simulated.set_faults("%s=%s" % (c_function, name))
    try:
        result = getattr(nvml, function)(*arguments)
    except Exception as error:
        expected = otherwise.get(status)
        if expected is None:
            assert (type(error).__name__, error.value) == (expected_class, code), where
            assert error.mtml_code == status, where
            assert str(error) == str(nvml.NVMLError(code)), where
        else:
            assert type(error) is expected, where
    else:
        assert status in otherwise, "%s: answered %r" % (where, result)
        assert result == otherwise[status], where
    finally:
        simulated.set_faults("")


@pytest.mark.parametrize("function", sorted(QUERIES))
def test_status_of_a_query(function, device):
    arguments, c_function, otherwise = QUERIES[function]
    for status in STATUSES:
        assert_fails(function, (device,) + arguments, c_function, status, otherwise)


@pytest.mark.parametrize("function", sorted(FANS))
def test_status_of_a_query_of_a_fan(function):
    arguments, c_function = FANS[function]
    with simulated.nvml("s80"):
        card = nvml.nvmlDeviceGetHandleByIndex(0)
        for status in STATUSES:
            assert_fails(function, (card,) + arguments, c_function, status, {})


@pytest.mark.parametrize("status", sorted(STATUSES))
def test_a_card_without_fans_has_no_speed(status, device):
    simulated.set_faults("mtmlDeviceGetFanSpeed=" + STATUSES[status][0])
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceGetFanSpeed(device)


@pytest.mark.parametrize("status", [3, 4, 7])
def test_two_failures_of_a_fan_query(status, device):
    """Neither hides the other: what counts is why it is not known whether there is such a fan."""
    simulated.set_faults("mtmlDeviceGetFanSpeed=%s,mtmlDeviceCountFan=TIMEOUT" % STATUSES[status][0])
    with pytest.raises(nvml.NVMLError_Timeout):
        nvml.nvmlDeviceGetFanSpeed_v2(device, 0)


@pytest.mark.parametrize("status", [3, 4, 7])
def test_a_fan_that_is_not_there(status, device):
    """Drivers refuse its number with one code or another; NVML with one, and what the driver said is kept."""
    simulated.set_faults("mtmlDeviceGetFanSpeed=" + STATUSES[status][0])
    with pytest.raises(nvml.NVMLError_InvalidArgument) as caught:
        nvml.nvmlDeviceGetFanSpeed_v2(device, 0)
    assert caught.value.mtml_code == status


@pytest.mark.parametrize("function", sorted(SYSTEM))
def test_status_of_a_system_query(function, device):
    arguments, c_function, otherwise = SYSTEM[function]
    for status in STATUSES:
        assert_fails(function, arguments, c_function, status, otherwise)


@pytest.mark.parametrize("status", sorted(STATUSES))
def test_status_of_cards_not_looked_at_before(status, device):
    """The third card is found behind two that fail as it does, and its own failure is what counts."""
    otherwise = {7: nvml.NVMLError_InvalidArgument}
    assert_fails("nvmlDeviceGetHandleByIndex", (3,), "mtmlLibraryInitDeviceByIndex", status, otherwise)


@pytest.mark.parametrize("name", ["NOT_FOUND", "INVALID_ARGUMENT"])
def test_cards_end_where_the_library_says_so(name, device):
    """It is asked for one device that it does not have, not for each number up to the one that was wanted."""
    simulated.set_faults("mtmlLibraryInitDeviceByIndex=%s@7" % name)
    simulated.reset_calls()
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetHandleByIndex(100000)
    assert simulated.calls("mtmlLibraryInitDeviceByIndex") == 8


@pytest.mark.parametrize("index", [1 << 31, 1 << 40, -1])
def test_no_card_has_a_number_of_that_size(index, device):
    """A driver that tells no end is not asked for billions of devices."""
    simulated.set_faults("mtmlLibraryInitDeviceByIndex=TIMEOUT")
    simulated.reset_calls()
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetHandleByIndex(index)
    assert simulated.calls("mtmlLibraryInitDeviceByIndex") < 2000


def test_an_index_is_an_integer(device):
    """Also where what is equal to the number has led to a card before."""
    for index in (0.0, 0j, "0", None):
        with pytest.raises(TypeError):
            nvml.nvmlDeviceGetHandleByIndex(index)
    assert nvml.nvmlDeviceGetHandleByIndex(False) is device


def test_uuid_that_a_library_takes_in_lower_case_only(device):
    """Some say that the other spelling is not found, some that it is none; what else they say counts."""
    uuid = nvml.nvmlDeviceGetUUID(device)
    for name in ("NOT_FOUND", "INVALID_ARGUMENT"):
        simulated.set_faults("mtmlLibraryInitDeviceByUuid=%s@0x1" % name)
        assert nvml.nvmlDeviceGetHandleByUUID(uuid.upper()) is device
    simulated.set_faults("mtmlLibraryInitDeviceByUuid=TIMEOUT@0x1")
    with pytest.raises(nvml.NVMLError_Timeout):
        nvml.nvmlDeviceGetHandleByUUID(uuid.upper())


def test_uuid_ends_where_its_text_does(device):
    """C would not look at what stands behind a NUL."""
    for text in (nvml.nvmlDeviceGetUUID(device) + "\0", nvml.nvmlDeviceGetUUID(device).encode() + b"\0x"):
        with pytest.raises(nvml.NVMLError_NotFound):
            nvml.nvmlDeviceGetHandleByUUID(text)


def test_serial_number_behind_a_device_without_one(device):
    serial = nvml.nvmlDeviceGetSerial(nvml.nvmlDeviceGetHandleByIndex(2))
    simulated.set_faults("0.mtmlDeviceGetSerialNumber=NOT_SUPPORTED")
    assert nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleBySerial(serial)) == 2


@pytest.mark.parametrize("function", sorted(SUB_HANDLES))
def test_status_of_a_sub_handle(function, device):
    """The first query of a kind makes a handle; that may fail too, and is tried again the next time."""
    arguments, c_function = SUB_HANDLES[function]
    arguments = arguments if function.startswith("nvmlSystem") else (device,) + arguments
    for status in STATUSES:
        assert_fails(function, arguments, c_function, status, {})
    getattr(nvml, function)(*arguments)


@pytest.mark.parametrize("status", sorted(STATUSES))
def test_status_of_init(status):
    name, expected_class, code = STATUSES[status]
    with simulated.machine("s5000x8", faults="mtmlLibraryInit=%s" % name):
        for initialize in (nvml.nvmlInit, lambda: nvml.nvmlInitWithFlags(0)):
            with pytest.raises(nvml.NVMLError) as caught:
                initialize()
            assert (type(caught.value).__name__, caught.value.value) == (expected_class, code)
            assert caught.value.mtml_code == status
            with pytest.raises(nvml.NVMLError_Uninitialized):
                nvml.nvmlDeviceGetCount()
        assert simulated.references() == 0


def test_status_that_no_header_names(device):
    simulated.set_faults("mtmlDeviceGetName=1234")
    with pytest.raises(nvml.NVMLError_Unknown) as caught:
        nvml.nvmlDeviceGetName(device)
    assert caught.value.mtml_code == 1234


@pytest.mark.parametrize(
    "function, arguments, c_function",
    [
        ("nvmlDeviceGetUtilizationRates", (), "mtmlMemoryGetUtilization"),
        ("nvmlDeviceGetMemoryInfo", (), "mtmlMemoryGetTotal"),
        ("nvmlDeviceGetRetiredPages", (0,), "mtmlMemoryGetRetiredPages"),
        ("nvmlDeviceGetRetiredPages", (1,), "mtmlMemoryGetRetiredPages"),
        ("nvmlDeviceGetRetiredPages_v2", (0,), "mtmlMemoryGetRetiredPages"),
    ],
)
def test_second_call_of_a_function_may_fail(function, arguments, c_function, device):
    """Each of these takes two calls of C: a failure of the second is not swallowed."""
    simulated.set_value(0, "retired_pages_sbe", "4096@11")
    simulated.set_value(0, "retired_pages_dbe", "8192@12")
    assert_fails(function, (device,) + arguments, c_function, 2, {})


def test_transient_failure_passes(device):
    simulated.set_faults("mtmlGpuGetTemperature=TIMEOUT@1x2")
    ends = []
    for _ in range(5):
        try:
            ends.append(nvml.nvmlDeviceGetTemperature(device, 0) > 0)
        except nvml.NVMLError_Timeout:
            ends.append("timeout")
    assert ends == [True, "timeout", "timeout", True, True]


def test_what_is_kept_is_only_what_was_read(device):
    """A name is read once and kept; a failure is not kept."""
    simulated.set_faults("mtmlDeviceGetName=TIMEOUT@0x1")
    with pytest.raises(nvml.NVMLError_Timeout):
        nvml.nvmlDeviceGetName(device)
    assert nvml.nvmlDeviceGetName(device) == "MTT S5000"


def test_fields_have_their_own_codes(device):
    fields = [nvml.NVML_FI_DEV_MEMORY_TEMP, nvml.NVML_FI_DEV_POWER_INSTANT, nvml.NVML_FI_DEV_NVLINK_LINK_COUNT]
    for c_function, position in (
        ("mtmlMemoryGetTemperature", 0),
        ("mtmlDeviceGetPowerUsage", 1),
        ("mtmlDeviceGetMtLinkSpec", 2),
    ):
        for status, (name, _, code) in STATUSES.items():
            simulated.set_faults("%s=%s" % (c_function, name))
            values = nvml.nvmlDeviceGetFieldValues(device, fields)
            assert [value.nvmlReturn for value in values] == [code if index == position else 0 for index in range(3)], (
                c_function,
                name,
            )


def test_older_library_lacks_functions():
    """A function that the loaded library does not export is a question that it cannot answer."""
    code = (
        "import pymtml as nvml\n"
        "nvml.nvmlInit()\n"
        "device = nvml.nvmlDeviceGetHandleByIndex(0)\n"
        "for name in ('FanSpeedRPM', 'NumGpuCores', 'EccMode', 'RetiredPagesPendingStatus', 'PcieReplayCounter'):\n"
        "    try:\n"
        "        print(name, getattr(nvml, 'nvmlDeviceGet' + name)(device))\n"
        "    except nvml.NVMLError_NotSupported as error:\n"
        "        print(name, type(error).__name__, error.mtml_code)\n"
    )
    result = simulated.run_python(code, name="old-library")
    assert result.stderr == ""
    for line in result.stdout.splitlines():
        assert line.split()[1:] == ["NVMLError_NotSupported", str(nvml.MTML_ERROR_FUNCTION_NOT_FOUND)], line
    assert len(result.stdout.splitlines()) == 5


def test_missing_library():
    code = (
        "import pymtml as nvml\n"
        "for call in (nvml.nvmlInit, nvml.nvmlInit, nvml.mtmlLibraryInit):\n"
        "    try:\n"
        "        call()\n"
        "    except nvml.NVMLError_LibraryNotFound as error:\n"
        "        print(type(error).__name__, error.value, '/no/such/library' in str(error))\n"
    )
    result = simulated.run_python(code, extra_environment={"PYMTML_LIBRARY": "/no/such/library"})
    assert (result.stdout, result.stderr) == (
        "NVMLError_LibraryNotFound 12 True\n" * 2 + "MTMLError_LibraryNotFound 670 True\n",
        "",
    )


def test_file_that_is_no_mtml_library():
    code = "import pymtml as nvml\ntry:\n    nvml.nvmlInit()\nexcept nvml.NVMLError as error:\n    print(repr(error))\n"
    text = simulated.run_python(code, extra_environment={"PYMTML_LIBRARY": __file__})
    other = simulated.run_python(code, extra_environment={"PYMTML_LIBRARY": simulated.MUSA_LIBRARY})
    assert (text.stdout, text.stderr) == ("NVMLError_LibraryNotFound(12)\n", "")
    assert other.returncode == 0 and other.stdout.startswith("NVMLError_"), other.stderr


# ---- Order of checks: initialized, then handle and arguments, then support ----

ORDER = [
    ("nvmlDeviceGetName", ()),
    ("nvmlDeviceGetMemoryInfo", (99,)),
    ("nvmlDeviceGetTemperature", (99,)),
    ("nvmlDeviceGetClockInfo", (99,)),
    ("nvmlDeviceGetMaxClockInfo", (99,)),
    ("nvmlDeviceGetClock", (99, 99)),
    ("nvmlDeviceGetEccMode", ()),
    ("nvmlDeviceSetEccMode", (99,)),
    ("nvmlDeviceGetMemoryErrorCounter", (0, 0, 0)),
    ("nvmlDeviceGetRetiredPages", (99,)),
    ("nvmlDeviceGetFanSpeed_v2", (99,)),
    ("nvmlDeviceGetNvLinkState", (35,)),
    ("nvmlDeviceGetNvLinkCapability", (0, 4)),
    ("nvmlDeviceGetTemperatureThreshold", (4,)),
    ("nvmlDeviceGetEncoderCapacity", (99,)),
    ("nvmlDeviceGetTopologyNearestGpus", (7,)),
    ("nvmlDeviceGetCpuAffinity", (0,)),
    ("nvmlDeviceSetMigMode", (99,)),
    ("nvmlDeviceGetFieldValues", ([],)),
    ("nvmlDeviceGetBAR1MemoryInfo", ()),
    ("nvmlDeviceGetPcieThroughput", (0,)),
    ("nvmlDeviceSetPersistenceMode", (1,)),
    ("nvmlDeviceGetSamples", (0, 0)),
]


@pytest.mark.parametrize("function, arguments", ORDER, ids=[name for name, _ in ORDER])
def test_order_of_checks(function, arguments, device):
    """What is asked last would fail too; what counts is the first check that fails."""
    call = getattr(nvml, function)
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        call(None, *arguments)
    nvml.nvmlShutdown()
    for handle in (None, device):
        with pytest.raises(nvml.NVMLError_Uninitialized):
            call(handle, *arguments)
    nvml.nvmlInit()
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        call(device, *arguments)


@pytest.mark.parametrize("bad", [0, 1])
def test_either_device_of_a_pair_may_be_bad(bad, device):
    for function, arguments in (
        ("nvmlDeviceGetP2PStatus", (99,)),
        ("nvmlDeviceGetTopologyCommonAncestor", ()),
        ("nvmlDeviceOnSameBoard", ()),
    ):
        pair = [device, device]
        pair[bad] = ctypes.c_void_p(4096)
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            getattr(nvml, function)(*(tuple(pair) + arguments))


@pytest.mark.parametrize(
    "function, arguments",
    [
        ("nvmlDeviceGetTemperature", (1,)),
        ("nvmlDeviceGetTemperature", (-1,)),
        ("nvmlDeviceGetMaxClockInfo", (4,)),
        ("nvmlDeviceGetClock", (0, 4)),
        ("nvmlDeviceGetClock", (4, 1)),
        ("nvmlDeviceGetTemperatureThreshold", (8,)),
        ("nvmlDeviceGetTemperatureThreshold", (-1,)),
        ("nvmlDeviceSetEccMode", (2,)),
        ("nvmlDeviceClearEccErrorCounts", (2,)),
        ("nvmlDeviceGetTotalEccErrors", (2, 0)),
        ("nvmlDeviceGetTotalEccErrors", (0, -1)),
        ("nvmlDeviceGetMemoryErrorCounter", (0, 0, 99)),
        ("nvmlDeviceGetRetiredPages", (2,)),
        ("nvmlDeviceGetRetiredPages_v2", (-1,)),
        ("nvmlDeviceGetNvLinkState", (36,)),
        ("nvmlDeviceGetNvLinkState", (-1,)),
        ("nvmlDeviceGetNvLinkVersion", (1 << 40,)),
        ("nvmlDeviceGetNvLinkCapability", (0, 6)),
        ("nvmlDeviceGetTopologyNearestGpus", (7,)),
        ("nvmlDeviceGetCpuAffinity", (0,)),
        ("nvmlDeviceGetCpuAffinityWithinScope", (1, 2)),
        ("nvmlDeviceGetMemoryAffinity", (0, 0)),
        ("nvmlDeviceGetEncoderCapacity", (3,)),
        ("nvmlDeviceSetMigMode", (2,)),
        ("nvmlDeviceGetFieldValues", ([],)),
    ],
)
def test_argument_out_of_range(function, arguments, device):
    """Also where C would fail in another way: it is not asked."""
    for faults in ("", "*=TIMEOUT"):
        simulated.set_faults(faults)
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            getattr(nvml, function)(device, *arguments)


@pytest.mark.parametrize("counter", [2, -1, 1 << 40, "x", None])
def test_checks_before_ecc_counters_are_cleared(counter, device):
    """Initialized comes first, then the handle, then the counter's type, and only then whether the card has ECC."""
    function = nvml.nvmlDeviceClearEccErrorCounts
    simulated.set_faults("mtmlMemoryClearEccErrorCounts=NOT_SUPPORTED")
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        function(device, counter)
    with pytest.raises(nvml.NVMLError_NotSupported):
        function(device, nvml.NVML_VOLATILE_ECC)
    nvml.nvmlShutdown()
    with pytest.raises(nvml.NVMLError_Uninitialized):
        function(device, counter)


def test_uuid_in_binary(device):
    """16 bytes, and nothing else, stand for a UUID; a text of 16 characters does not."""
    raw = bytes.fromhex(nvml.nvmlDeviceGetUUID(device).replace("-", ""))
    for good in (raw, bytearray(raw), type("Raw", (bytes,), {})(raw)):
        assert nvml.nvmlDeviceGetHandleByUUIDV(good, nvml.NVML_UUID_TYPE_BINARY) is device
    for bad in (raw[:-1], raw + b"\0", b"", "x" * 16, list(raw), None, 16, memoryview(raw), object()):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            nvml.nvmlDeviceGetHandleByUUIDV(bad, nvml.NVML_UUID_TYPE_BINARY)
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetHandleByUUIDV(bytes(16), nvml.NVML_UUID_TYPE_BINARY)
    for kind in (nvml.NVML_UUID_TYPE_NONE, 3, -1, None, "2"):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            nvml.nvmlDeviceGetHandleByUUIDV(raw, kind)


def test_level_beyond_the_last_is_the_last(device):
    every = nvml.nvmlDeviceGetTopologyNearestGpus(device, nvml.NVML_TOPOLOGY_SYSTEM)
    assert len(every) == 7
    for level in (51, 99, -1, 1 << 40):
        assert nvml.nvmlDeviceGetTopologyNearestGpus(device, level) == every, level


def test_each_field_has_its_own_range(device):
    values = nvml.nvmlDeviceGetFieldValues(device, [0, nvml.NVML_FI_MAX, 1 << 31, nvml.NVML_FI_DEV_MEMORY_TEMP])
    assert [value.nvmlReturn for value in values] == [2, 2, 2, 0]


# ---- The exceptions themselves ----

ALL_CLASSES = sorted(
    set(nvml.NVMLError._valClassMapping.values()) | set(nvml.MTMLError._valClassMapping.values()),
    key=lambda cls: cls.__name__,
)


def test_facade_never_raises_native_errors(device):
    """Programs look for "nvml" in the class name of what they catch."""
    for status, (name, _, _) in STATUSES.items():
        simulated.set_faults("*=%s" % name)
        for function in (
            "nvmlDeviceGetName",
            "nvmlDeviceGetMemoryInfo",
            "nvmlDeviceGetPowerUsage",
            "nvmlDeviceGetEccMode",
        ):
            with pytest.raises(nvml.NVMLError) as caught:
                getattr(nvml, function)(device)
            assert type(caught.value).__name__.startswith("NVMLError_")
    simulated.set_faults("")


@pytest.mark.parametrize("cls", ALL_CLASSES, ids=lambda cls: cls.__name__)
def test_exception_class(cls):
    root = nvml.NVMLError if cls.__name__.startswith("NVML") else nvml.MTMLError
    error = cls(cls.value)
    assert type(root(cls.value)) is cls
    assert issubclass(cls, nvml.NVMLError) and issubclass(cls, nvml.MTMLError) and issubclass(cls, Exception)
    assert error == root(cls.value) and not error != root(cls.value)
    assert error != root(123456) and error != None and error != cls.value  # noqa: E711
    assert hash(error) == hash(root(cls.value))
    assert {error: 1}[cls(cls.value)] == 1
    assert repr(error) == "%s(%d)" % (cls.__name__, cls.value) and error.args == (cls.value,)
    assert str(error) == root._errcode_to_string[cls.value]
    assert type(cls()) is cls and cls().value == cls.value


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_exceptions_cross_process_boundaries(protocol, device):
    simulated.set_faults("mtmlDeviceGetPowerUsage=DRIVER_TOO_OLD")
    with pytest.raises(nvml.NVMLError) as caught:
        nvml.nvmlDeviceGetPowerUsage(device)
    errors = [caught.value, nvml.NVMLError(12345), nvml.MTMLError(12345)] + [cls(cls.value) for cls in ALL_CLASSES]
    for error in errors:
        for twin in (pickle.loads(pickle.dumps(error, protocol)), copy.copy(error), copy.deepcopy(error)):
            assert type(twin) is type(error) and twin == error
            assert (twin.value, twin.args, str(twin)) == (error.value, error.args, str(error))
            assert (twin.mtml_code, twin.detail) == (error.mtml_code, error.detail)


def test_check_return():
    assert nvml._nvmlCheckReturn(nvml.NVML_SUCCESS) == nvml.NVML_SUCCESS
    for code, cls in nvml.NVMLError._valClassMapping.items():
        with pytest.raises(cls) as caught:
            nvml._nvmlCheckReturn(code)
        assert type(caught.value) is cls and caught.value.value == code


def test_codes_can_be_walked():
    """nvitop finds a name and a class for each code."""
    by_code = {value: name for name, value in vars(nvml).items() if name.startswith("NVML_ERROR_")}
    for code, text in nvml.NVMLError._errcode_to_string.items():
        cls = nvml.nvmlExceptionClass(code)
        assert issubclass(cls, nvml.NVMLError) and cls.value == code and text
        assert by_code[code]


@pytest.mark.parametrize(
    "function, arguments",
    [
        ("nvmlDeviceGetHandleByUUID", (None,)),
        ("nvmlDeviceGetHandleByUUID", ("GPU-\0",)),
        ("nvmlDeviceGetHandleByUUIDV", (b"short", nvml.NVML_UUID_TYPE_BINARY)),
        ("nvmlDeviceGetHandleByUUIDV", ("x", 99)),
        ("nvmlDeviceGetHandleBySerial", (None,)),
        ("nvmlDeviceGetHandleBySerial", (b"\xff",)),
        ("nvmlDeviceGetHandleByPciBusId", (b"\xff",)),
    ],
)
def test_uninitialized_comes_before_what_names_no_device(function, arguments):
    with pytest.raises(nvml.NVMLError_Uninitialized):
        getattr(nvml, function)(*arguments)
    with simulated.nvml("s80"), pytest.raises((nvml.NVMLError_InvalidArgument, nvml.NVMLError_NotFound)):
        getattr(nvml, function)(*arguments)
