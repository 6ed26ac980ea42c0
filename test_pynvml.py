"""Scenarios through the NVML facade, written as users of pynvml write them.

Runs by itself, too: python test_pynvml.py
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))

try:
    import pytest
except ImportError:
    sys.exit("test_pynvml.py needs pytest: python3 -m pip install pytest")

import simulated  # noqa: E402

import pymtml as pynvml  # noqa: E402


@pytest.fixture
def s5000x8():
    with simulated.nvml("s5000x8"):
        yield


def handles():
    return [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]


# ---- Inventory ----


@pytest.mark.parametrize("profile", ["s80", "s3000x2", "s4000x8", "s5000x8"])
def test_inventory(profile):
    """What an asset database wants to know of each card."""
    with simulated.nvml(profile):
        count = len(
            [name for name in simulated.profile(profile) if name.startswith("device.") and name.count(".") == 1]
        )
        assert pynvml.nvmlDeviceGetCount() == count
        for index, handle in enumerate(handles()):
            keys = simulated.device_keys(profile, index)
            pci = pynvml.nvmlDeviceGetPciInfo(handle)
            assert pynvml.nvmlDeviceGetName(handle) == keys["name"]
            assert pynvml.nvmlDeviceGetUUID(handle) == keys["uuid"]
            assert pynvml.nvmlDeviceGetSerial(handle) == keys["serial_number"]
            assert pynvml.nvmlDeviceGetVbiosVersion(handle) == keys["mtbios_version"]
            assert pynvml.nvmlDeviceGetIndex(handle) == index
            assert "/dev/mtgpu.%d" % pynvml.nvmlDeviceGetMinorNumber(handle) == keys["gpu_path"]
            assert pci.busId == keys["pci_sbdf"].upper() and pci.busIdLegacy == pci.busId[4:]
            assert (pci.domain, pci.bus, pci.device) == (0, int(keys["pci_bus"]), int(keys["pci_device"]))
            assert pci.pciDeviceId == int(keys["pci_device_id"], 0)
            assert pynvml.nvmlDeviceGetBrand(handle) == pynvml.NVML_BRAND_UNKNOWN
            assert pynvml.nvmlDeviceGetArchitecture(handle) == pynvml.NVML_DEVICE_ARCH_UNKNOWN
            assert pynvml.nvmlDeviceGetMemoryInfo(handle).total == int(keys["memory_total"])


def test_finding_a_card_again(s5000x8):
    """By everything that an operator may have written down, as str and as bytes, however it was spelled."""
    handle = pynvml.nvmlDeviceGetHandleByIndex(3)
    uuid, bus_id = pynvml.nvmlDeviceGetUUID(handle), pynvml.nvmlDeviceGetPciInfo(handle).busId
    for spelling in (uuid, "GPU-" + uuid, "gpu-" + uuid.upper(), uuid.upper()):
        assert pynvml.nvmlDeviceGetHandleByUUID(spelling) is handle, spelling
        assert pynvml.nvmlDeviceGetHandleByUUID(spelling.encode()) is handle, spelling
        assert pynvml.nvmlDeviceGetHandleByUuid(uuid=spelling) is handle, spelling
    short = bus_id[4:], bus_id[4:].lower(), bus_id[9:], bus_id[:-2], bus_id[9:-2]
    for spelling in (bus_id, bus_id.lower(), bus_id.encode()) + short:
        assert pynvml.nvmlDeviceGetHandleByPciBusId(spelling) is handle, spelling
    serial = pynvml.nvmlDeviceGetSerial(handle)
    assert pynvml.nvmlDeviceGetHandleBySerial(serial) is pynvml.nvmlDeviceGetHandleBySerial(serial.encode()) is handle


@pytest.mark.parametrize(
    "function, text, error",
    [
        ("nvmlDeviceGetHandleByUUID", "GPU-none", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByUUID", "GPU-", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByUUID", "399282a8-ba01-1475-893c-2eeca9e302f", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByUUID", b"\xff", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByUUID", "\ud800", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByUUID", 5, pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleBySerial", "none", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleBySerial", "", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleBySerial", 5, pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:00:00.0", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByPciBusId", "0000:2a", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:zz:00.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:0x2a:00.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "ffffffff:ff:1f.0", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByPciBusId", "100000000:2a:00.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:100:00.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:2a:20.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:2a:00.1", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:2a:00.0.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0:0000:2a:00.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", 7, pynvml.NVMLError_InvalidArgument),
    ],
)
def test_a_card_that_is_not_there(function, text, error, s5000x8):
    simulated.reset_calls()
    with pytest.raises(error) as caught:
        getattr(pynvml, function)(text)
    assert type(caught.value) is error
    assert (simulated.calls() == 0) == (error is pynvml.NVMLError_InvalidArgument)  # that is found before C is asked


# ---- Monitoring ----


def test_dashboard(s5000x8):
    """One refresh of a dashboard, with keywords and without, in the units that NVML has."""
    for index, handle in enumerate(handles()):
        keys = simulated.device_keys("s5000x8", index)
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle=handle)
        rates = pynvml.nvmlDeviceGetUtilizationRates(handle)
        assert (memory.used, memory.free) == (
            int(keys["memory_used"]),
            int(keys["memory_total"]) - int(keys["memory_used"]),
        )
        assert (rates.gpu, rates.memory) == (int(keys["gpu_utilization"]), int(keys["memory_utilization"]))
        assert pynvml.nvmlDeviceGetTemperature(handle, sensor=0) == int(keys["gpu_temperature"])
        assert pynvml.nvmlDeviceGetPowerUsage(handle) == int(keys["power_usage"])
        for clock, key in (
            (pynvml.NVML_CLOCK_GRAPHICS, "gpu"),
            (pynvml.NVML_CLOCK_SM, "gpu"),
            (pynvml.NVML_CLOCK_MEM, "memory"),
            (pynvml.NVML_CLOCK_VIDEO, "vpu"),
        ):
            assert pynvml.nvmlDeviceGetClockInfo(handle, type=clock) == int(keys[key + "_clock"])
            assert pynvml.nvmlDeviceGetMaxClockInfo(handle, clock) == int(keys[key + "_max_clock"])
        assert pynvml.nvmlDeviceGetEncoderUtilization(handle) == [int(keys["encoder_utilization"]), 1000000]
        assert pynvml.nvmlDeviceGetDecoderUtilization(handle) == [int(keys["decoder_utilization"]), 1000000]
        assert pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) == int(keys["enforced_power_limit"])
        assert pynvml.nvmlDeviceGetPerformanceState(handle) == pynvml.NVML_PSTATE_0


def test_all_fails_but_one(s5000x8):
    """A program that shows what it can get, as all do: each query in its own try."""
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    simulated.set_faults("mtmlGpuGetTemperature=NOT_SUPPORTED,mtmlMemoryGetUsed=UNKNOWN")
    shown = {}
    for name, query in {
        "name": lambda: pynvml.nvmlDeviceGetName(handle),
        "fan": lambda: pynvml.nvmlDeviceGetFanSpeed(handle),
        "temperature": lambda: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
        "memory": lambda: pynvml.nvmlDeviceGetMemoryInfo(handle).used,
        "energy": lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(handle),
        "power": lambda: pynvml.nvmlDeviceGetPowerUsage(handle),
    }.items():
        try:
            shown[name] = query()
        except pynvml.NVMLError as error:
            shown[name] = "N/A" if error.value == pynvml.NVML_ERROR_NOT_SUPPORTED else str(error)
    assert shown == {
        "name": "MTT S5000",
        "fan": "N/A",
        "temperature": "N/A",
        "memory": "Unknown Error",
        "energy": "N/A",
        "power": 381300,
    }


# ---- Results as pynvml has them ----


def test_structs_print_and_convert(s5000x8):
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    assert str(memory) == "c_nvmlMemory_t(total: %d B, free: %d B, used: %d B)" % (
        memory.total,
        memory.free,
        memory.used,
    )
    assert str(pynvml.nvmlDeviceGetUtilizationRates(handle)) == "c_nvmlUtilization_t(gpu: 96 %, memory: 64 %)"
    assert str(pynvml.nvmlDeviceGetPciInfo(handle)) == (
        "nvmlPciInfo_t(busIdLegacy: 0000:2A:00.0, domain: 0x00000000, bus: 0x2A, device: 0x00, "
        "pciDeviceId: 0x04001ED5, pciSubSystemId: 0x04001ED5, busId: 00000000:2A:00.0)"
    )
    friendly = pynvml.nvmlStructToFriendlyObject(memory)
    assert (friendly.total, friendly.used) == (memory.total, memory.used)
    again = pynvml.nvmlFriendlyObjectToStruct(friendly, pynvml.c_nvmlMemory_t())
    assert (again.total, again.free, again.used) == (memory.total, memory.free, memory.used)
    assert pynvml.c_nvmlMemory_t(-1, -1, -1).total == (1 << 64) - 1


def test_each_answer_is_a_struct_of_its_own(s5000x8):
    first, second = handles()[:2]
    kept = pynvml.nvmlDeviceGetMemoryInfo(first)
    used = kept.used
    simulated.set_value(0, "memory_used", 12345678)
    pynvml.nvmlDeviceGetMemoryInfo(second)
    assert kept.used == used
    assert pynvml.nvmlDeviceGetMemoryInfo(first).used == 12345678
    pci = pynvml.nvmlDeviceGetPciInfo(first)
    pci.bus = 99
    assert pynvml.nvmlDeviceGetPciInfo(first).bus == 42


def test_affinity_as_pytorch_lightning_reads_it(s5000x8):
    words = pynvml.nvmlDeviceGetCpuAffinity(pynvml.nvmlDeviceGetHandleByIndex(0), 2)
    bits = "".join("{:064b}".format(word) for word in reversed(list(words)))
    assert [i for i, bit in enumerate(reversed(bits)) if bit == "1"] == list(range(32)) + list(range(64, 96))


def test_topology_matrix(s5000x8):
    devices = handles()
    for i, first in enumerate(devices):
        assert pynvml.nvmlDeviceGetTopologyCommonAncestor(first, first) == pynvml.NVML_TOPOLOGY_INTERNAL
        for second in devices[i + 1 :]:
            level = pynvml.nvmlDeviceGetTopologyCommonAncestor(first, second)
            assert level == pynvml.nvmlDeviceGetTopologyCommonAncestor(second, first) > pynvml.NVML_TOPOLOGY_INTERNAL
            assert second in pynvml.nvmlDeviceGetTopologyNearestGpus(first, level)
            assert pynvml.nvmlDeviceGetP2PStatus(first, second, pynvml.NVML_P2P_CAPS_INDEX_READ) == 0


def test_instances():
    """A scheduler that hands out MIG instances."""
    with simulated.nvml("s3000-mpc"):
        found = []
        for handle in handles():
            if pynvml.nvmlDeviceIsMigDeviceHandle(handle).value:
                continue
            for index in range(pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
                try:
                    instance = pynvml.nvmlDeviceGetMigDeviceHandleByIndex(device=handle, index=index)
                except pynvml.NVMLError_NotFound:
                    continue
                assert pynvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(instance) is handle
                attributes = pynvml.nvmlDeviceGetAttributes(instance)
                found.append((pynvml.nvmlDeviceGetGpuInstanceId(instance), attributes.memorySizeMB))
        assert found == [(0, 16384), (1, 8192), (2, 8192)]


def test_virtual_machines():
    with simulated.nvml("s3000-vgpu-host"):
        host = pynvml.nvmlDeviceGetHandleByIndex(0)
        assert pynvml.nvmlDeviceGetVirtualizationMode(host) == pynvml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU
        running = [
            (pynvml.nvmlVgpuInstanceGetUUID(vgpu), pynvml.nvmlVgpuTypeGetName(pynvml.nvmlVgpuInstanceGetType(vgpu)))
            for vgpu in pynvml.nvmlDeviceGetActiveVgpus(host)
        ]
        assert running == [
            ("1b64b790-af9f-c403-ec5b-9922fe84ac53", "MT vGPU S3000-1108"),
            ("2ef321fc-b2ad-9c4a-eef7-3aed24a85c2f", "MT vGPU S3000-1104"),
            ("82d57b37-64e4-e36e-5275-d029c3ceb56c", "MT vGPU S3000-1116"),
        ]
    with simulated.nvml("s3000-vgpu-guest"):
        guest = pynvml.nvmlDeviceGetHandleByIndex(0)
        assert pynvml.nvmlDeviceGetVirtualizationMode(guest) == pynvml.NVML_GPU_VIRTUALIZATION_MODE_VGPU


# ---- The module as programs handle it ----


def test_module_answers_to_the_name_pynvml():
    code = (
        "import sys, pymtml\nsys.modules['pynvml'] = pymtml\n"
        "import pynvml\nfrom pynvml import *\nfrom pynvml import nvmlDeviceGetMemoryInfo as memory\n"
        "nvmlInit()\n"
        "print(nvmlDeviceGetCount(), memory(nvmlDeviceGetHandleByIndex(0)).total >> 30, NVML_ERROR_NOT_SUPPORTED)\n"
        "print(byref(c_uint(1)) is not None, pynvml.c_nvmlDevice_t.__name__, NVMLError_NotSupported.__name__)\n"
        "nvmlShutdown()\n"
    )
    result = simulated.run_python(code)
    assert (result.stdout, result.stderr) == ("8 80 3\nTrue c_mtmlDevice_t NVMLError_NotSupported\n", "")


def test_strings_of_a_driver_are_always_text():
    """Bytes that are no UTF-8, a missing terminator: text with replacement characters, never an exception."""
    with simulated.nvml("s5000x8", set="0.name=MTT\\xff\\xfe;0.serial_number=ABC;0.unterminated=serial_number"):
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        assert pynvml.nvmlDeviceGetName(handle) == "MTT\ufffd\ufffd"
        assert pynvml.nvmlDeviceGetSerial(handle).startswith("ABC")


if __name__ == "__main__":
    sys.exit(pytest.main([os.path.abspath(__file__)] + sys.argv[1:]))
