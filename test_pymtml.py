"""Scenarios through the native layer, written as users of MTML write them.

Runs by itself, too: python test_pymtml.py
"""

import gc
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))

try:
    import pytest
except ImportError:
    sys.exit("test_pymtml.py needs pytest: python3 -m pip install pytest")

import simulated  # noqa: E402

from pymtml import *  # noqa: E402, F403
from pymtml import _mtmlLogCallback_t  # noqa: E402

# The star import is what users write; what it brings is checked by running it.
# flake8: noqa: F405

GIB = 1 << 30


class Machine:
    """An initialized machine, shut down at the end of the `with` block."""

    def __init__(self, name):
        self.machine = simulated.machine(name)

    def __enter__(self):
        self.machine.__enter__()
        mtmlLibraryInit()
        return [mtmlLibraryInitDeviceByIndex(index) for index in range(mtmlLibraryCountDevice())]

    def __exit__(self, *exception):
        while simulated.references():
            mtmlLibraryShutDown()
        self.machine.__exit__(*exception)


# ---- Quick start and lifecycle ----


def test_quick_start(capsys):
    with simulated.machine("s3000x2"):
        mtmlLibraryInit()
        for index in range(mtmlLibraryCountDevice()):
            device = mtmlLibraryInitDeviceByIndex(index)
            print(mtmlDeviceGetName(device), mtmlDeviceGetUUID(device))
            memory = mtmlDeviceInitMemory(device)
            print(mtmlMemoryGetTotal(memory), mtmlMemoryGetUsed(memory))
            mtmlDeviceFreeMemory(memory)
            print(mtmlGpuGetUtilization(device), mtmlGpuGetTemperature(device))
        mtmlLibraryShutDown()
    lines = capsys.readouterr().out.splitlines()
    pairs = (("name", "uuid"), ("memory_total", "memory_used"), ("gpu_utilization", "gpu_temperature"))
    cards = [simulated.device_keys("s3000x2", index) for index in range(2)]
    assert lines == ["%s %s" % (keys[first], keys[second]) for keys in cards for first, second in pairs]


# ---- Devices ----


def test_ways_to_a_device():
    with Machine("s5000x8") as devices:
        assert len(set(devices)) == 8
        for index, device in enumerate(devices):
            assert mtmlDeviceGetIndex(device) == index
            assert mtmlLibraryInitDeviceByIndex(index) is device
            assert mtmlLibraryInitDeviceByUuid(mtmlDeviceGetUUID(device)) is device
            assert mtmlLibraryInitDeviceByUuid(mtmlDeviceGetUUID(device).encode()) is device
            assert mtmlLibraryInitDeviceByPciSbdf(mtmlDeviceGetPciInfo(device).sbdf) is device
        with pytest.raises(MTMLError_NotFound):
            mtmlLibraryInitDeviceByIndex(8)
        with pytest.raises(MTMLError_NotFound):
            mtmlLibraryInitDeviceByUuid("00000000-0000-0000-0000-000000000000")
        with pytest.raises(MTMLError_NotFound):
            mtmlLibraryInitDeviceByPciSbdf("00000000:ff:00.0")


def test_inventory():
    with Machine("s80") as (device,):
        keys = simulated.device_keys("s80", 0)
        assert mtmlDeviceGetBrand(device) == MTML_BRAND_MTT
        assert mtmlDeviceGetSerialNumber(device) == keys["serial_number"]
        assert mtmlDeviceGetMtBiosVersion(device) == mtmlDeviceGetVbiosVersion(device) == keys["mtbios_version"]
        assert mtmlDeviceGetGpuPath(device) == "/dev/mtgpu.0"
        assert mtmlDeviceGetPrimaryPath(device) == "/dev/dri/card0"
        assert mtmlDeviceGetRenderPath(device) == "/dev/dri/renderD128"
        assert mtmlDeviceCountGpuCores(device) == 8
        slot = mtmlDeviceGetPcieSlotInfo(device)
        assert (slot.slotId, slot.slotName) == (1, "PCIEX16_1")
        pci = mtmlDeviceGetPciInfo(device)
        assert pci.busId == pci.sbdf == "00000000:01:00.0"
        assert (pci.pciDeviceId, pci.pciCurGen, pci.pciMaxWidth) == (0x02011ED5, 4, 16)
        assert "pciDeviceId: 0x02011ED5" in str(pci)
        displays = [
            mtmlDeviceGetDisplayInterfaceSpec(device, i) for i in range(mtmlDeviceCountDisplayInterface(device))
        ]
        assert [display.type for display in displays] == [MTML_DISP_INTF_TYPE_DP] * 3 + [MTML_DISP_INTF_TYPE_HDMI]
        assert {(d.maxHoriRes, d.maxVertRes, d.maxRefreshRate) for d in displays} == {(7680, 4320, 60.0)}


# ---- Memory, GPU, VPU ----


# ---- MtLink and topology ----


def test_mtlink_of_a_full_mesh():
    with Machine("s5000x8") as devices:
        spec = mtmlDeviceGetMtLinkSpec(devices[0])
        assert (spec.version, spec.bandWidth, spec.linkNum) == (20000, 56, 14)
        neighbors = [mtmlDeviceGetMtLinkRemoteDevice(devices[0], link) for link in range(14)]
        assert neighbors == [device for device in devices[1:] for _ in range(2)]
        for link in range(14):
            assert mtmlDeviceGetMtLinkState(devices[0], link) == MTML_MTLINK_STATE_UP
            assert mtmlDeviceGetMtLinkCapStatus(devices[0], link, MTML_MTLINK_CAP_P2P_ACCESS) == 1
        for one in devices:
            for other in devices:
                if one is not other:
                    assert mtmlDeviceCountMtLinkLayouts(one, other) == 2
                    assert mtmlDeviceGetMtLinkShortestPaths(one, other) == [[one, other]]
        layouts = mtmlDeviceGetMtLinkLayouts(devices[2], devices[7])
        assert [(layout.localLinkId, layout.remoteLinkId) for layout in layouts] == [(12, 4), (13, 5)]
        with pytest.raises(MTMLError_InvalidArgument):
            mtmlDeviceGetMtLinkState(devices[0], 14)


def test_mtlink_of_two_groups():
    with Machine("s4000x8") as devices:
        linked = [[mtmlDeviceCountMtLinkLayouts(a, b) for b in devices] for a in devices]
        assert linked == [[2 * (i != k and i // 4 == k // 4) for k in range(8)] for i in range(8)]
        simulated.set_value(0, "mtlink_state", "DOWN, DOWN, UP, UP, UP, DOWNGRADE")
        states = [mtmlDeviceGetMtLinkState(devices[0], link) for link in range(6)]
        assert states == [MTML_MTLINK_STATE_DOWN] * 2 + [MTML_MTLINK_STATE_UP] * 3 + [MTML_MTLINK_STATE_DOWNGRADE]


def test_topology():
    with Machine("s5000x8") as devices:
        levels = [mtmlDeviceGetTopologyLevel(devices[0], other) for other in devices]
        node, system = MTML_TOPOLOGY_NODE, MTML_TOPOLOGY_SYSTEM
        assert levels == [MTML_TOPOLOGY_INTERNAL, node, node, node, system, system, system, system]
        assert mtmlDeviceCountDeviceByTopologyLevel(devices[0], system) == 4
        assert mtmlDeviceGetDeviceByTopologyLevel(devices[0], system) == devices[4:]
        assert mtmlDeviceGetDeviceByTopologyLevel(devices[0], node, 3) == devices[1:4]
        assert mtmlDeviceGetDeviceByTopologyLevel(devices[0], MTML_TOPOLOGY_HOSTBRIDGE) == []
        assert mtmlDeviceGetP2PStatus(devices[0], devices[7], MTML_P2P_CAPS_READ) == MTML_P2P_STATUS_OK
        cpus = mtmlDeviceGetCpuAffinityWithinNode(devices[0], 2)
        assert cpus == [0xFFFFFFFF, 0xFFFFFFFF]
        assert mtmlDeviceGetMemoryAffinityWithinNode(devices[7], 1) == [2]


# ---- ECC ----


def test_ecc():
    with Machine("s5000x8") as devices:
        memory = mtmlDeviceInitMemory(devices[5])
        assert mtmlMemoryGetEccMode(memory) == (MTML_MEMORY_ECC_ENABLE, MTML_MEMORY_ECC_ENABLE)
        kinds = (MTML_MEMORY_ERROR_TYPE_CORRECTED, MTML_MEMORY_ERROR_TYPE_UNCORRECTED)

        def counters():
            return [
                mtmlMemoryGetEccErrorCounter(memory, kind, counter, MTML_MEMORY_LOCATION_DRAM)
                for kind in kinds
                for counter in (MTML_VOLATILE_ECC, MTML_AGGREGATE_ECC)
            ]

        assert counters() == [5, 55, 0, 1]
        mtmlMemoryClearEccErrorCounts(memory, MTML_VOLATILE_ECC)
        assert counters() == [0, 55, 0, 1]
        retired = mtmlMemoryGetRetiredPagesCount(memory)
        assert (retired.singleBitEcc, retired.doubleBitEcc) == (0, 1)
        (page,) = mtmlMemoryGetRetiredPages(memory, MTML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR)
        assert (page.address, page.timestamp) == (0x1F0000000, 1740787200)
        assert mtmlMemoryGetRetiredPagesPendingStatus(memory) == MTML_RETIRED_PAGES_PENDING_STATE_TRUE
        mtmlMemorySetEccMode(memory, MTML_MEMORY_ECC_DISABLE)
        assert mtmlMemoryGetEccMode(memory) == (MTML_MEMORY_ECC_ENABLE, MTML_MEMORY_ECC_DISABLE)


# ---- MPC ----


def test_mpc_as_found():
    with Machine("s3000-mpc") as (parent, first, second, third, other):
        types = [mtmlDeviceGetProperty(device).mpcType for device in (parent, first, second, third, other)]
        assert types == [MTML_MPC_TYPE_PARENT] + [MTML_MPC_TYPE_INSTANCE] * 3 + [MTML_MPC_TYPE_NONE]
        assert mtmlDeviceGetMpcMode(parent) == MTML_DEVICE_MPC_ENABLE
        assert mtmlDeviceGetMpcInstances(parent) == [first, second, third]
        assert mtmlDeviceGetMpcInstanceByIndex(parent, 2) is third
        assert mtmlDeviceGetMpcParentDevice(second) is parent
        assert mtmlDeviceGetMpcInstanceIndex(third) == 2
        share = mtmlDeviceGetMpcProfileInfo(first)
        assert (share.name, share.gpuCores, share.memSize) == ("4c+16gb", 4, 16 * GIB)
        assert mtmlDeviceGetMpcInstancesByProfileId(parent, 2) == [second, third]
        configuration = mtmlDeviceGetMpcConfiguration(parent)
        assert (configuration.name, configuration.profileNum) == ("8-422", 3)
        names = [entry.name for entry in mtmlDeviceGetSupportedMpcConfigurations(parent)]
        assert names == ["8-8", "8-44", "8-422", "8-2222", "8-11111111"]
        with pytest.raises(MTMLError_NotSupported):
            mtmlDeviceGetMpcInstances(other)


def test_mpc_reconfigured():
    with Machine("s3000-mpc") as devices:
        wanted = mtmlDeviceGetMpcConfigurationByName(devices[0], "8-2222")
        mtmlDeviceSetMpcConfiguration(devices[0], wanted.id)
        for device in devices:
            with pytest.raises(MTMLError_InvalidArgument):
                mtmlDeviceGetName(device)
        mtmlLibraryShutDown()
        mtmlLibraryInit()
        assert mtmlLibraryCountDevice() == 6
        parent = mtmlLibraryInitDeviceByIndex(0)
        assert [mtmlMemoryGetTotal(instance) for instance in mtmlDeviceGetMpcInstances(parent)] == [8 * GIB] * 4
        mtmlLibrarySetMpcConfigurationInBatch([parent, mtmlLibraryInitDeviceByIndex(5)], [1, 1])
        mtmlLibraryShutDown()
        mtmlLibraryInit()
        assert mtmlLibraryCountDevice() == 6
        mtmlDeviceSetMpcMode(mtmlLibraryInitDeviceByIndex(0), MTML_DEVICE_MPC_DISABLE)
        mtmlLibraryShutDown()
        mtmlLibraryInit()
        assert mtmlLibraryCountDevice() == 4


# ---- Virtualization ----


def test_virtualization_host():
    with Machine("s3000-vgpu-host") as (busy, idle):
        assert mtmlDeviceGetProperty(busy).virtCapability == MTML_DEVICE_SUPPORT_VIRTUALIZATION
        types = {entry.name: entry for entry in mtmlDeviceGetSupportedVirtTypes(busy)}
        assert len(types) == mtmlDeviceCountSupportedVirtTypes(busy) == 6
        kind = types["MT vGPU S3000-1108"]
        assert (kind.id, kind.memSize, kind.encoderNum, kind.maxResWidth) == ("mtgpu-1108", 8 * GIB, 8, 3840)
        assert mtmlDeviceCountMaxVirtDevices(busy, kind) == 4
        assert mtmlDeviceCountAvailVirtDevices(busy, kind) == 0
        assert mtmlDeviceCountAvailVirtDevices(idle, kind) == 4
        assert len(mtmlDeviceGetAvailVirtTypes(busy)) == 3
        uuids = mtmlDeviceGetActiveVirtDeviceUuids(busy)
        assert len(uuids) == mtmlDeviceCountActiveVirtDevices(busy) == 3
        assert mtmlDeviceGetActiveVirtDeviceUuids(idle) == []
        virtual = mtmlDeviceInitVirtDevice(busy, uuids[2])
        assert mtmlDeviceGetUUID(virtual) == uuids[2]
        assert mtmlDeviceGetProperty(virtual).virtRole == MTML_VIRT_ROLE_HOST_VIRTDEVICE
        assert mtmlDeviceGetVirtType(virtual).name == "MT vGPU S3000-1116"
        assert mtmlDeviceGetPhyDeviceUuid(virtual) == mtmlDeviceGetUUID(busy)
        assert mtmlMemoryGetTotal(virtual) == 16 * GIB
        assert mtmlGpuGetUtilization(virtual) == 16
        with pytest.raises(MTMLError_NotSupported):
            mtmlDeviceGetName(virtual)
        with pytest.raises(MTMLError_NotFound):
            mtmlDeviceInitVirtDevice(idle, uuids[0])
        with pytest.raises(MTMLError_NotSupported):
            mtmlDeviceGetVirtType(busy)


def test_virtualization_guest():
    with Machine("s3000-vgpu-guest") as (device,):
        assert mtmlDeviceGetProperty(device).virtRole == MTML_VIRT_ROLE_GUEST_VIRTDEVICE
        assert mtmlMemoryGetTotal(device) == GIB
        with pytest.raises(MTMLError_NotSupported):
            mtmlDeviceGetPowerUsage(device)
        with pytest.raises(MTMLError_NotSupported):
            mtmlDeviceGetSupportedVirtTypes(device)


# ---- Log ----


def test_log_callback():
    lines = []

    def install():
        configuration = c_mtmlLogConfiguration_t()
        configuration.callbackConfig.level = MTML_LOG_LEVEL_ERROR
        configuration.callbackConfig.callback = _mtmlLogCallback_t(lambda text, length: lines.append(text))
        mtmlLogSetConfiguration(configuration)

    install()
    gc.collect()
    try:
        with Machine("s80") as (device,):
            with pytest.raises(MTMLError_InvalidArgument):
                mtmlDeviceGetFanSpeed(device, 9)
            assert lines == [b"mtmlDeviceGetFanSpeed: INVALID_ARGUMENT"]
        assert mtmlLogGetConfiguration().callbackConfig.level == MTML_LOG_LEVEL_ERROR
    finally:
        mtmlLogSetConfiguration(c_mtmlLogConfiguration_t())


# ---- Errors ----


if __name__ == "__main__":
    sys.exit(pytest.main([os.path.abspath(__file__)] + sys.argv[1:]))
