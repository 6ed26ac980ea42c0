"""A measured number whose bits are all ones, as the registers of a dead card read, is no answer of nvml* functions; one
below is. mtml* functions pass on what C said, and the temperature, which is signed, may be -1.
"""

import contextlib
import ctypes
from ctypes import c_int, c_longlong, c_uint

import pytest
import simulated

import pymtml
import pymtml as nvml

CODEC, PCI, LINKS, PAGES = (
    pymtml.c_mtmlCodecUtil_t,
    pymtml.c_mtmlPciInfo_t,
    pymtml.c_mtmlMtLinkSpec_t,
    pymtml.c_mtmlPageRetirementCount_t,
)
ECC = nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, nvml.NVML_VOLATILE_ECC

# nvml* function, its arguments after the device, C function, and what it measures: a C type, or a field of its struct
READINGS = [
    ("nvmlDeviceGetUtilizationRates", (), "mtmlGpuGetUtilization", c_uint),
    ("nvmlDeviceGetUtilizationRates", (), "mtmlMemoryGetUtilization", c_uint),
    ("nvmlDeviceGetEncoderUtilization", (), "mtmlVpuGetUtilization", CODEC.encUtil),
    ("nvmlDeviceGetEncoderUtilization", (), "mtmlVpuGetUtilization", CODEC.period),
    ("nvmlDeviceGetDecoderUtilization", (), "mtmlVpuGetUtilization", CODEC.decUtil),
    ("nvmlDeviceGetDecoderUtilization", (), "mtmlVpuGetUtilization", CODEC.period),
    ("nvmlDeviceGetDynamicPstatesInfo", (), "mtmlVpuGetUtilization", CODEC.util),
    ("nvmlDeviceGetPowerUsage", (), "mtmlDeviceGetPowerUsage", c_uint),
    ("nvmlDeviceGetEnforcedPowerLimit", (), "mtmlGpuGetEnforcedPowerLimit", c_int),
    ("nvmlDeviceGetPowerManagementDefaultLimit", (), "mtmlGpuGetPowerManagementDefaultLimit", c_int),
    ("nvmlDeviceGetFanSpeed", (), "mtmlDeviceGetFanSpeed", c_uint),
    ("nvmlDeviceGetFanSpeed_v2", (0,), "mtmlDeviceGetFanSpeed", c_uint),
    ("nvmlDeviceGetFanSpeedRPM", (), "mtmlDeviceGetFanRpm", c_uint),
    ("nvmlDeviceGetNumFans", (), "mtmlDeviceCountFan", c_uint),
    ("nvmlDeviceGetMemoryInfo", (), "mtmlMemoryGetUsed", c_longlong),
    ("nvmlDeviceGetMemoryInfo", (), "mtmlMemoryGetTotal", c_longlong),
    ("nvmlDeviceGetMemoryInfo", (nvml.nvmlMemory_v2,), "mtmlMemoryGetUsed", c_longlong),
    ("nvmlDeviceGetMemoryBusWidth", (), "mtmlMemoryGetBusWidth", c_uint),
    ("nvmlDeviceGetNumGpuCores", (), "mtmlDeviceCountGpuCores", c_uint),
    ("nvmlDeviceGetPciInfo", (), "mtmlDeviceGetPciInfo", PCI.segment),
    ("nvmlDeviceGetPciInfo", (), "mtmlDeviceGetPciInfo", PCI.bus),
    ("nvmlDeviceGetPciInfo", (), "mtmlDeviceGetPciInfo", PCI.device),
    ("nvmlDeviceGetPciInfo", (), "mtmlDeviceGetPciInfo", PCI.pciDeviceId),
    ("nvmlDeviceGetPciInfo", (), "mtmlDeviceGetPciInfo", PCI.pciSubsystemId),
    ("nvmlDeviceGetCurrPcieLinkGeneration", (), "mtmlDeviceGetPciInfo", PCI.pciCurGen),
    ("nvmlDeviceGetMaxPcieLinkGeneration", (), "mtmlDeviceGetPciInfo", PCI.pciMaxGen),
    ("nvmlDeviceGetCurrPcieLinkWidth", (), "mtmlDeviceGetPciInfo", PCI.pciCurWidth),
    ("nvmlDeviceGetMaxPcieLinkWidth", (), "mtmlDeviceGetPciInfo", PCI.pciMaxWidth),
    ("nvmlDeviceGetPcieReplayCounter", (), "mtmlDeviceGetPcieReplayCounter", c_uint),
    ("nvmlDeviceGetTotalEccErrors", ECC, "mtmlMemoryGetEccErrorCounter", c_longlong),
    ("nvmlDeviceGetRetiredPages", (0,), "mtmlMemoryGetRetiredPagesCount", PAGES.sbeCount),
    ("nvmlDeviceGetRetiredPages", (1,), "mtmlMemoryGetRetiredPagesCount", PAGES.dbeCount),
    ("nvmlDeviceGetNvLinkState", (0,), "mtmlDeviceGetMtLinkSpec", LINKS.linkNum),
    ("nvmlDeviceGetNvLinkVersion", (0,), "mtmlDeviceGetMtLinkSpec", LINKS.version),
] + [
    (function, (kind,) + more, "mtml%sGet%s" % (part, name), c_uint)
    for kind, part in ((0, "Gpu"), (1, "Gpu"), (2, "Memory"), (3, "Vpu"))
    for function, name, more in (
        ("nvmlDeviceGetClockInfo", "Clock", ()),
        ("nvmlDeviceGetMaxClockInfo", "MaxClock", ()),
        ("nvmlDeviceGetClock", "MaxClock", (nvml.NVML_CLOCK_ID_CUSTOMER_BOOST_MAX,)),
    )
]
FIELDS = [
    (nvml.NVML_FI_DEV_ECC_SBE_VOL_TOTAL, "mtmlMemoryGetEccErrorCounter", c_longlong),
    (nvml.NVML_FI_DEV_RETIRED_SBE, "mtmlMemoryGetRetiredPagesCount", PAGES.sbeCount),
    (nvml.NVML_FI_DEV_RETIRED_DBE, "mtmlMemoryGetRetiredPagesCount", PAGES.dbeCount),
    (nvml.NVML_FI_DEV_PCIE_REPLAY_COUNTER, "mtmlDeviceGetPcieReplayCounter", c_uint),
    (nvml.NVML_FI_DEV_NVLINK_LINK_COUNT, "mtmlDeviceGetMtLinkSpec", LINKS.linkNum),
    (nvml.NVML_FI_DEV_NVLINK_SPEED_MBPS_L0, "mtmlDeviceGetMtLinkSpec", LINKS.bandWidth),
    (nvml.NVML_FI_DEV_POWER_INSTANT, "mtmlDeviceGetPowerUsage", c_uint),
    (nvml.NVML_FI_DEV_POWER_CURRENT_LIMIT, "mtmlGpuGetEnforcedPowerLimit", c_int),
]


UNKNOWN_ANYWAY = {  # where the number before all ones is none that NVML has, or not positive
    "nvmlDeviceGetEnforcedPowerLimit",
    "nvmlDeviceGetPowerManagementDefaultLimit",
    "nvmlDeviceGetNvLinkVersion",
}


@contextlib.contextmanager
def reads(name, place, number):
    """Meanwhile a C function reads that number."""
    real, offset = pymtml._functions[name], getattr(place, "offset", 0)
    size = place.size if hasattr(place, "offset") else ctypes.sizeof(place)

    def lie(*arguments):
        status = real(*arguments)
        address = ctypes.cast(arguments[-1], ctypes.c_void_p).value + offset
        ctypes.memmove(address, number.to_bytes(size, "little", signed=True), size)
        return status

    pymtml._functions[name] = lie
    try:
        yield
    finally:
        pymtml._functions[name] = real


@contextlib.contextmanager
def asking(function, arguments):
    """The question, in a life of its own, on a machine that has such a thing."""
    with simulated.nvml("s80" if "Fan" in function else "s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        yield lambda: getattr(nvml, function)(device, *arguments)


def name_of(reading):
    return "-".join(str(part).split(" at ")[0] for part in reading)


@pytest.mark.parametrize("reading", READINGS, ids=name_of)
def test_all_ones_are_no_answer(reading):
    function, arguments, name, place = reading
    with asking(function, arguments) as ask:
        with reads(name, place, -1), pytest.raises(nvml.NVMLError_Unknown) as error:
            ask()
        assert "all bits are ones" in str(error.value) and error.value.mtml_code is None
        assert error.value.args == (nvml.NVML_ERROR_UNKNOWN,)
        ask()  # nothing of it was kept
    with asking(function, arguments) as ask, reads(name, place, -2):
        try:
            ask()
        except nvml.NVMLError_NotSupported:
            assert function in UNKNOWN_ANYWAY


@pytest.mark.parametrize("field, name, place", FIELDS)
def test_all_ones_are_the_error_of_a_field(field, name, place):
    with asking("nvmlDeviceGetFieldValues", ([field],)) as ask:
        with reads(name, place, -1):
            assert ask()[0].nvmlReturn == nvml.NVML_ERROR_UNKNOWN
        with reads(name, place, -2):
            code = nvml.NVML_ERROR_NOT_SUPPORTED if place is c_int else nvml.NVML_SUCCESS
            assert ask()[0].nvmlReturn == code


def test_a_lane_speed_that_is_no_number():
    with asking("nvmlDeviceGetPcieSpeed", ()) as ask:
        with reads("mtmlDeviceGetPciInfo", PCI.pciCurSpeed, -1), pytest.raises(nvml.NVMLError_Unknown):
            ask()


def test_a_greatest_lane_speed_by_generation():
    with asking("nvmlDeviceGetPcieLinkMaxSpeed", ()) as ask:
        simulated.set_value(0, "pci_max_speed", 0)
        with reads("mtmlDeviceGetPciInfo", PCI.pciMaxGen, -1), pytest.raises(nvml.NVMLError_Unknown):
            ask()


def test_a_sample_of_the_energy(monkeypatch):
    """It is left out, as one that fails is."""
    monkeypatch.setenv("PYMTML_ENERGY", "sample")
    monkeypatch.setattr(pymtml._thread, "start_new_thread", lambda *arguments: None)
    with asking("nvmlDeviceGetTotalEnergyConsumption", ()) as ask:
        ask()
        (meter,) = pymtml._meters.values()
        before = meter.state
        with reads("mtmlDeviceGetPowerUsage", c_uint, -1):
            assert meter.sample() and meter.state == before
        assert meter.sample() and meter.state != before
    pymtml._meters.clear()


def test_memory_of_a_vgpu():
    with simulated.nvml("s3000-vgpu-host"):
        number = nvml.nvmlDeviceGetActiveVgpus(nvml.nvmlDeviceGetHandleByIndex(0))[0]
        with reads("mtmlMemoryGetUsed", c_longlong, -1), pytest.raises(nvml.NVMLError_Unknown):
            nvml.nvmlVgpuInstanceGetFbUsage(number)


def test_the_temperature_is_signed():
    for function in ("nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureThreshold"):
        with asking(function, (0,)) as ask, reads(function.replace("nvmlDevice", "mtmlGpu"), c_int, -1):
            assert ask() == -1


def test_mtml_functions_pass_on_what_c_said():
    with simulated.nvml("s5000x8"):
        device = pymtml.mtmlLibraryInitDeviceByIndex(0)
        with reads("mtmlDeviceGetPowerUsage", c_uint, -1), reads("mtmlMemoryGetUsed", c_longlong, -1):
            assert pymtml.mtmlDeviceGetPowerUsage(device) == 0xFFFFFFFF
            assert pymtml.mtmlMemoryGetUsed(device) == 0xFFFFFFFFFFFFFFFF
