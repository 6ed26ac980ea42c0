"""What was seen on real machines, and the profiles that follow it: these numbers were read off cards in the field."""

import ctypes

import interface
import pytest
from interface import STRUCTS, Failure, Session, integer, out, text, uint, uint64

MIB = 1 << 20


def refused(name, *arguments):
    return interface.reason(name, *arguments, ctypes.byref(ctypes.c_uint())) == "NOT_SUPPORTED"


def link_width(device):
    pci = out("mtmlDeviceGetPciInfo", STRUCTS["MtmlPciInfo"], device)
    return pci.pciCurWidth, pci.pciMaxWidth


def cpus(device):
    words = (ctypes.c_ulong * 8)()
    interface.call("mtmlDeviceGetCpuAffinityWithinNode", device, 8, words)
    return {64 * i + bit for i, word in enumerate(words) for bit in range(64) if word >> bit & 1}


@pytest.mark.parametrize(
    "profile, name, identity, driver, count",
    [
        ("s5000x8", "MTT S5000", 0x04001ED5, "5.1.0-server", 8),
        ("x10000x8", "X10000", 0x04001ED5, "3.3.8-server", 8),
        ("s5000x8-cpu-hole", "MTT S5000", 0x04001ED5, "5.2.0-server", 8),
        ("busy-but-0-percent", "MTT S5000", 0x04001ED5, "3.3.5-server", 8),
        ("zero-limits", "MTT S5000", 0x04001ED5, "3.3.7-server", 2),
        ("s4000x8", "MTT S4000", 0x03231ED5, "3.0.0", 8),
        ("used-above-total", "MTT S4000", 0x03271ED5, "1.2.0", 1),
        ("s90", "MTT S90", 0x03011ED5, "2.7.0", 1),
        ("s80", "MTT S80", 0x02011ED5, "3.0.0", 1),
        ("s80-narrow-slot", "MTT S80", 0x02011ED5, "2.7.0", 1),
        ("s2000", "MTT S2000", 0x01231ED5, "3.0.0", 2),
        ("s3000-vgpu-guest", "MTT S3000 MtvGPU-1101", 0x02221ED5, "2.9.2", 1),
    ],
)
def test_identity(profile, name, identity, driver, count):
    with Session(profile + "+frozen") as session:
        assert session.count() == count
        assert text("mtmlSystemGetDriverVersion", session.system()).decode() == driver
        for index in range(count):
            assert text("mtmlDeviceGetName", session.device(index)).decode() == name
            pci = out("mtmlDeviceGetPciInfo", STRUCTS["MtmlPciInfo"], session.device(index))
            assert pci.pciDeviceId == identity


@pytest.mark.parametrize("profile", ["s5000x8", "x10000x8", "s5000x8-cpu-hole", "busy-but-0-percent"])
def test_s5000_hosts(profile):
    """Topology NODE within each four and SYS across, 112 of 112 links up, 950 W, an idle video unit."""
    with Session(profile + "+frozen") as session:
        devices = [session.device(index) for index in range(8)]
        for one, first in enumerate(devices):
            levels = [uint("mtmlDeviceGetTopologyLevel", first, second) for second in devices]
            assert levels == [0 if one == two else 4 if one // 4 == two // 4 else 5 for two in range(8)]
            assert [uint("mtmlDeviceGetMtLinkState", first, link) for link in range(14)] == [1] * 14
            assert [uint("mtmlDeviceCountMtLinkLayouts", first, second) for second in devices] == [
                0 if one == two else 2 for two in range(8)
            ]
            assert integer("mtmlGpuGetEnforcedPowerLimit", session.gpu(one)) == 950000
            assert uint("mtmlVpuGetClock", session.vpu(one)) == 0
            power = uint("mtmlDeviceGetPowerUsage", first)
            assert 96000 <= power <= 404200
            assert 26 <= integer("mtmlGpuGetTemperature", session.gpu(one)) <= 52


def test_cpu_hole():
    with Session("s5000x8-cpu-hole") as session:
        near = set(range(64)) | set(range(128, 192))
        far = set(range(64, 128)) | set(range(192, 256)) - {239}
        assert [cpus(session.device(index)) for index in range(8)] == [near] * 4 + [far] * 4


def test_busy_but_0_percent():
    with Session("busy-but-0-percent") as session:
        assert uint("mtmlGpuGetUtilization", session.gpu(0)) == 0
        assert uint64("mtmlMemoryGetUsed", session.memory(0)) > 60000 * MIB
        assert refused("mtmlGpuGetClock", session.gpu(0)) and refused("mtmlMemoryGetBandwidth", session.memory(0))
    with Session("busy-but-0-percent+frozen") as session:
        assert uint64("mtmlMemoryGetUsed", session.memory(0)) == 66641 * MIB


def test_limits_of_0():
    with Session("zero-limits") as session:
        for name in ("mtmlGpuGetEnforcedPowerLimit", "mtmlGpuGetPowerManagementDefaultLimit"):
            assert [integer(name, session.gpu(index)) for index in range(2)] == [0, 0]
        assert uint("mtmlDeviceGetPowerUsage", session.device(0)) > 0


def test_used_above_total():
    with Session("used-above-total") as session:
        assert uint64("mtmlMemoryGetUsed", session.memory()) == 44302 * MIB
        assert uint64("mtmlMemoryGetTotal", session.memory()) == 32768 * MIB


def test_s4000_has_mpc_but_no_performance_state():
    with Session("s4000x8+frozen") as session:
        for index in range(8):
            device = session.device(index)
            assert out("mtmlDeviceGetProperty", STRUCTS["MtmlDeviceProperty"], device).mpcCap == 1
            assert refused("mtmlDeviceGetPerformanceState", device)
            with pytest.raises(Failure):
                integer("mtmlMemoryGetEccMode", session.memory(index), ctypes.byref(ctypes.c_uint()))


def test_slots():
    for profile, width in (("s80-narrow-slot", (4, 16)), ("s80", (16, 16)), ("s2000", (8, 8)), ("s90", (16, 16))):
        with Session(profile) as session:
            assert link_width(session.device()) == width


def test_s2000_is_two_devices_of_one_board():
    with Session("s2000+frozen") as session:
        first, second = session.device(0), session.device(1)
        assert uint("mtmlDeviceGetTopologyLevel", first, second) == 0
        assert uint64("mtmlMemoryGetTotal", session.memory(0)) == 16384 * MIB
        assert out("mtmlDeviceGetProperty", STRUCTS["MtmlDeviceProperty"], first).mpcCap == 0
        assert [integer("mtmlGpuGetTemperature", session.gpu(index)) for index in range(2)] == [51, 50]


def test_s90():
    with Session("s90+frozen") as session:
        device, gpu, memory, vpu = session.device(), session.gpu(), session.memory(), session.vpu()
        assert text("mtmlDeviceGetUUID", device) == b"ba97d6e5-631c-3430-1866-3237832871e4"
        assert text("mtmlDeviceGetMtBiosVersion", device) == b"29358.1.59"
        assert [uint("mtmlDeviceGetFanSpeed", device, fan) for fan in range(3)] == [75, 75, 75]
        assert uint("mtmlDeviceGetPowerUsage", device) == 153590
        assert integer("mtmlGpuGetTemperature", gpu) == 61
        assert uint64("mtmlMemoryGetTotal", memory) == 24576 * MIB
        assert (uint("mtmlMemoryGetBusWidth", memory), uint("mtmlMemoryGetBandwidth", memory)) == (384, 768)
        clocks = [("mtmlGpuGet", gpu, 1600), ("mtmlMemoryGet", memory, 2003), ("mtmlVpuGet", vpu, 1200)]
        for prefix, handle, clock in clocks:
            assert uint(prefix + "Clock", handle) == uint(prefix + "MaxClock", handle) == clock
        displays = [
            out("mtmlDeviceGetDisplayInterfaceSpec", STRUCTS["MtmlDispIntfSpec"], device, number)
            for number in range(uint("mtmlDeviceCountDisplayInterface", device))
        ]
        assert [(display.type, display.maxHoriRes) for display in displays] == [
            (interface.ENUMS["MTML_DISP_INTF_TYPE_" + kind], width)
            for kind, width in (("DP", 7680), ("HDMI", 7680), ("DP", 3840), ("DP", 3840))
        ]
        assert refused("mtmlDeviceGetPerformanceState", device)


def test_vgpu_host_is_an_mpc_parent():
    with Session("s3000-vgpu-host+frozen") as session:
        host = session.device(0)
        properties = out("mtmlDeviceGetProperty", STRUCTS["MtmlDeviceProperty"], host)
        assert (properties.mpcType, properties.mpcCap, properties.virtCap) == (1, 1, 1)
        assert uint64("mtmlMemoryGetUsed", session.memory(0)) == 30094 * MIB
        assert uint("mtmlGpuGetUtilization", session.gpu(0)) == 58
        assert integer("mtmlGpuGetTemperature", session.gpu(0)) == 57
        # Its one instance is not listed, here or there.
        assert session.count() == 2
        assert uint("mtmlDeviceCountMpcInstances", host) == 0
        slot = ctypes.byref(ctypes.c_void_p())
        assert interface.reason("mtmlDeviceGetMpcInstanceByIndex", host, 0, slot) == "INVALID_ARGUMENT"


def test_vgpu_guest_tells_no_temperature_and_cannot_be_divided():
    with Session("s3000-vgpu-guest") as session:
        device = session.device()
        assert out("mtmlDeviceGetPciInfo", STRUCTS["MtmlPciInfo"], device).sbdf == b"00000000:00:0d.0"
        assert uint64("mtmlMemoryGetTotal", session.memory()) == 1024 * MIB
        assert refused("mtmlGpuGetTemperature", session.gpu())
        assert out("mtmlDeviceGetProperty", STRUCTS["MtmlDeviceProperty"], device).mpcCap == 0
