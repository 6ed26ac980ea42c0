"""What nvml* functions refuse, and in which order they look: initialized, handle, argument, support.

How failures of the C library come out is in hostile/test_faults.py, for every call of every function.
"""

import csv
import os
import re

import every_function
import pytest
import simulated

import pymtml as nvml


@pytest.mark.parametrize("name, error", [("TIMEOUT", "Unknown"), ("UNKNOWN", "Unknown"), ("NOT_FOUND", "NotFound")])
def test_status_of_cards_not_looked_at_before(name, error, device):
    """The fourth card is found behind ones that fail as it does, and its own failure is what counts."""
    simulated.set_faults("mtmlLibraryInitDeviceByIndex=" + name)
    raised = pytest.raises(getattr(nvml, "NVMLError_" + error), nvml.nvmlDeviceGetHandleByIndex, 3)
    assert raised.value.mtml_code == getattr(nvml, "MTML_ERROR_" + name)


@pytest.mark.parametrize("name", ["NOT_FOUND", "INVALID_ARGUMENT"])
def test_cards_end_where_the_library_says_so(name, device):
    """It is asked for one device that it does not have, not for each number up to the one that was wanted."""
    simulated.set_faults("mtmlLibraryInitDeviceByIndex=%s@7" % name)
    simulated.reset_calls()
    pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetHandleByIndex, 100000)
    assert simulated.calls("mtmlLibraryInitDeviceByIndex") == 8


@pytest.mark.parametrize("index", [1 << 31, 1 << 40, -1])
def test_no_card_has_a_number_of_that_size(index, device):
    """A driver that tells no end is not asked for billions of devices."""
    simulated.set_faults("mtmlLibraryInitDeviceByIndex=TIMEOUT")
    simulated.reset_calls()
    pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetHandleByIndex, index)
    assert simulated.calls("mtmlLibraryInitDeviceByIndex") < 2000


def test_an_index_is_an_integer(device):
    """Also where what is equal to the number has led to a card before."""
    for index in (0.0, 0j, "0", None):
        words = "^'%s' object cannot be interpreted as an integer$" % type(index).__name__
        with pytest.raises(TypeError, match=words):
            nvml.nvmlDeviceGetHandleByIndex(index)
    assert nvml.nvmlDeviceGetHandleByIndex(False) is device


def test_uuid_that_a_library_takes_in_lower_case_only(device):
    """Some say that the other spelling is not found, some that it is none; what else they say counts."""
    uuid = nvml.nvmlDeviceGetUUID(device)
    for name in ("NOT_FOUND", "INVALID_ARGUMENT"):
        simulated.set_faults("mtmlLibraryInitDeviceByUuid=%s@0x1" % name)
        assert nvml.nvmlDeviceGetHandleByUUID(uuid.upper()) is device
    simulated.set_faults("mtmlLibraryInitDeviceByUuid=TIMEOUT@0x1")
    error = pytest.raises(nvml.NVMLError_Unknown, nvml.nvmlDeviceGetHandleByUUID, uuid.upper())
    assert str(error.value) == "Unknown Error: the driver timed out"


def test_uuid_ends_where_its_text_does(device):
    """C would not look at what stands behind a NUL."""
    for text in (nvml.nvmlDeviceGetUUID(device) + "\0", nvml.nvmlDeviceGetUUID(device).encode() + b"\0x"):
        pytest.raises(nvml.NVMLError_NotFound, nvml.nvmlDeviceGetHandleByUUID, text)


def test_serial_number_behind_a_device_without_one(device):
    serial = nvml.nvmlDeviceGetSerial(nvml.nvmlDeviceGetHandleByIndex(2))
    simulated.set_faults("0.mtmlDeviceGetSerialNumber=NOT_SUPPORTED")
    assert nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleBySerial(serial)) == 2


# ---- Order of checks: initialized, then handle and arguments, then support ----

ORDER = {  # by arguments after the device
    (): "GetName GetEccMode GetBAR1MemoryInfo",
    (0,): "GetCpuAffinity GetPcieThroughput",
    (1,): "SetPersistenceMode",
    (4,): "GetTemperatureThreshold",
    (7,): "GetTopologyNearestGpus",
    (35,): "GetNvLinkState",
    (99,): "GetMemoryInfo GetTemperature GetClockInfo GetMaxClockInfo SetEccMode ClearEccErrorCounts GetRetiredPages "
    "GetFanSpeed_v2 GetEncoderCapacity SetMigMode",
    (0, 0): "GetSamples",
    ((),): "GetFieldValues",
    (0, 4): "GetNvLinkCapability",
    (99, 99): "GetClock",
    (0, 0, 0): "GetMemoryErrorCounter",
}
ORDER = [(getattr(nvml, "nvmlDevice" + name), given) for given, names in ORDER.items() for name in names.split()]


def test_order_of_checks(device):
    """What is asked last would fail too; what counts is the first check that fails."""
    for function, arguments in ORDER:
        pytest.raises(nvml.NVMLError_InvalidArgument, function, None, *arguments)
    nvml.nvmlShutdown()
    for function, arguments in ORDER:
        for handle in (None, device):
            pytest.raises(nvml.NVMLError_Uninitialized, function, handle, *arguments)
    nvml.nvmlInit()
    for function, arguments in ORDER:
        pytest.raises(nvml.NVMLError_InvalidArgument, function, device, *arguments)


OUT_OF_RANGE = {  # NVML's range, or that of what it has; arguments on both sides of it
    "nvmlDeviceGetTemperature": [(1,), (-1,)],
    "nvmlDeviceGetTemperatureThreshold": [(8,), (-1,)],
    "nvmlDeviceGetMaxClockInfo": [(4,)],
    "nvmlDeviceGetClock": [(0, 4), (4, 1), (4, 3)],
    "nvmlDeviceSetEccMode": [(2,), (-1,), (1 << 32,)],
    "nvmlDeviceClearEccErrorCounts": [(2,), (-1,), (1 << 32,), ("x",), (None,)],
    "nvmlDeviceGetTotalEccErrors": [(2, 0), (0, 2), (0, -1)],
    "nvmlDeviceGetMemoryErrorCounter": [(0, 0, 8), (0, 0, 99)],
    "nvmlDeviceGetRetiredPages": [(2,)],
    "nvmlDeviceGetRetiredPages_v2": [(-1,)],
    "nvmlDeviceGetNvLinkState": [(36,), (-1,)],
    "nvmlDeviceGetNvLinkVersion": [(36,), (1 << 40,)],
    "nvmlDeviceGetNvLinkCapability": [(0, 6), (20, 6)],
    "nvmlDeviceGetTopologyNearestGpus": [(1,), (5,), (7,), (45,), (49,)],
    "nvmlDeviceGetCpuAffinity": [(0,)],
    "nvmlDeviceGetCpuAffinityWithinScope": [(1, 2), (1, -1)],
    "nvmlDeviceGetMemoryAffinity": [(0, 0), (1, 2)],
    "nvmlDeviceGetEncoderCapacity": [(3,)],
    "nvmlDeviceSetMigMode": [(2,), (-1,), (1 << 32,)],
    "nvmlDeviceGetFieldValues": [([],)],
}


def test_argument_out_of_range(device):
    """The library is not asked, and the handle is not stale, as after a change."""
    nvml.nvmlDeviceGetNvLinkState(device, 0)  # the number of links is known then
    simulated.set_faults("*=TIMEOUT")
    simulated.reset_calls()
    for function, calls in OUT_OF_RANGE.items():
        for arguments in calls:
            pytest.raises(nvml.NVMLError_InvalidArgument, getattr(nvml, function), device, *arguments)
    assert simulated.calls() == 0
    simulated.set_faults("")
    assert nvml.nvmlDeviceGetName(device) == "MTT S5000"


def test_a_fan_beyond_the_last():
    with simulated.nvml("s80"):
        for function, fan in (("nvmlDeviceGetFanSpeed_v2", 3), ("nvmlDeviceGetTargetFanSpeed", -1)):
            with pytest.raises(nvml.NVMLError_InvalidArgument):
                getattr(nvml, function)(nvml.nvmlDeviceGetHandleByIndex(0), fan)


def refusals():
    """(function, parameter, how many values NVML has for it) of each enum that a refusal looks at first."""
    with open(os.path.join(simulated.ROOT, "facts", "refusals.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for name, up_to, most in re.findall(r"(\w+)<(=?)(\w+)", row["checks"]):
                yield row["name"], name, (int(most) if most.isdigit() else getattr(nvml, most)) + bool(up_to)


def test_enums_that_are_looked_at_before_a_refusal(device):
    checked = list(refusals())
    assert len(checked) > 20
    for function, parameter, count in checked:
        position = every_function.parameters(function).index(parameter)
        for value, error in ((count - 1, nvml.NVMLError_NotSupported), (count, nvml.NVMLError_InvalidArgument)):
            arguments = every_function.fill(function, device)
            arguments[position] = value
            pytest.raises(error, getattr(nvml, function), *arguments)


def test_a_bad_handle_comes_before_arguments_that_are_none():
    """Also before those that Python itself does not take."""
    with simulated.nvml("s80"):
        for function in every_function.FUNCTIONS:
            takes = [every_function.is_device(function, one) for one in every_function.parameters(function)]
            if takes and takes[0] and not any(takes[1:]) and function != "nvmlDeviceGetTemperatureV":
                pytest.raises(nvml.NVMLError_InvalidArgument, getattr(nvml, function), None, *["x"] * (len(takes) - 1))
        # nvidia-ml-py looks at this version before it calls C
        pytest.raises(nvml.NVMLError_ArgumentVersionMismatch, nvml.nvmlDeviceGetTemperatureV, None, 0, "x")


def test_uuid_in_binary(device):
    """16 bytes, and nothing else, stand for a UUID; a text of 16 characters does not."""
    raw = bytes.fromhex(nvml.nvmlDeviceGetUUID(device).replace("-", ""))
    for good in (raw, bytearray(raw), type("Raw", (bytes,), {})(raw)):
        assert nvml.nvmlDeviceGetHandleByUUIDV(good, nvml.NVML_UUID_TYPE_BINARY) is device
    for bad in (raw[:-1], raw + b"\0", b"", "x" * 16, list(raw), None, 16, memoryview(raw), object()):
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetHandleByUUIDV, bad, nvml.NVML_UUID_TYPE_BINARY)
    pytest.raises(nvml.NVMLError_NotFound, nvml.nvmlDeviceGetHandleByUUIDV, bytes(16), nvml.NVML_UUID_TYPE_BINARY)
    for kind in (nvml.NVML_UUID_TYPE_NONE, 3, -1, None, "2"):
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetHandleByUUIDV, raw, kind)


# ---- The exceptions themselves ----


def test_check_return():
    assert nvml._nvmlCheckReturn(nvml.NVML_SUCCESS) == nvml.NVML_SUCCESS
    for code, cls in nvml.NVMLError._valClassMapping.items():
        with pytest.raises(cls) as caught:
            nvml._nvmlCheckReturn(code)
        assert type(caught.value) is cls and caught.value.value == code


# ---- A NotSupported that was not meant ----


def test_a_library_without_serial_numbers_is_not_a_serial_number_that_nobody_has(monkeypatch):
    with simulated.nvml("s80"):
        monkeypatch.delitem(nvml._functions, "mtmlDeviceGetSerialNumber")
        pytest.raises(nvml.NVMLError_NotSupported, nvml.nvmlDeviceGetHandleBySerial, "0")


def test_types_that_a_card_counts_and_does_not_list_are_its_error():
    with simulated.nvml("s3000-vgpu-host"):
        number = nvml.nvmlDeviceGetSupportedVgpus(nvml.nvmlDeviceGetHandleByIndex(0))[0]
        simulated.set_faults("mtmlDeviceGetSupportedVirtTypes=NOT_SUPPORTED")
        pytest.raises(nvml.NVMLError_NotSupported, nvml.nvmlVgpuTypeGetName, number)
