"""What belongs together: MtLink, topology, peer access, affinity, ECC, MPC, virtual devices, codec sessions."""

import ctypes

import interface
import profiles
import pytest
from interface import STRUCTS, Failure, Session, out, pointer, text, uint, uint64


def refusal(name, *arguments):
    with pytest.raises(Failure) as failure:
        uint(name, *arguments)
    return failure.value.reason


# ==== MtLink ====


def test_every_pair_of_s5000_has_two_links():
    with Session("s5000x8+frozen") as session:
        devices = [session.device(index) for index in range(8)]
        for one, first in enumerate(devices):
            spec = out("mtmlDeviceGetMtLinkSpec", STRUCTS["MtmlMtLinkSpec"], first)
            assert (spec.version, spec.bandWidth, spec.linkNum) == (20000, 56, 14)
            remotes = [pointer("mtmlDeviceGetMtLinkRemoteDevice", first, link).value for link in range(14)]
            for two, second in enumerate(devices):
                if one == two:
                    assert uint("mtmlDeviceCountMtLinkLayouts", first, second) == 0
                    continue
                assert remotes.count(second.value) == 2
                assert uint("mtmlDeviceCountMtLinkLayouts", first, second) == 2
                layouts = (STRUCTS["MtmlMtLinkLayout"] * 2)()
                interface.call("mtmlDeviceGetMtLinkLayouts", first, second, 2, layouts)
                for layout in layouts:
                    assert remotes[layout.localLinkId] == second.value
                    back = pointer("mtmlDeviceGetMtLinkRemoteDevice", second, layout.remoteLinkId)
                    assert back.value == first.value
                    assert interface.sim_get(two, "mtlink_peer").split(", ")[layout.remoteLinkId] == (
                        "%d.%d" % (one, layout.localLinkId)
                    )


def paths_between(first, second):
    count, length = ctypes.c_uint(), ctypes.c_uint()
    interface.call("mtmlDeviceCountMtLinkShortestPaths", first, second, ctypes.byref(count), ctypes.byref(length))
    matrix = (ctypes.c_void_p * max(count.value * length.value, 1))()
    interface.call("mtmlDeviceGetMtLinkShortestPaths", first, second, count.value, length.value, matrix)
    cells = list(matrix)
    return [cells[row * length.value : (row + 1) * length.value] for row in range(count.value)]


def test_shortest_paths():
    with Session("s5000x8+frozen") as session:
        devices = [session.device(index) for index in range(8)]
        assert paths_between(devices[0], devices[7]) == [[devices[0].value, devices[7].value]]
        assert paths_between(devices[2], devices[2]) == []
        # Without their direct links the two are joined through each of the others.
        for link in (12, 13):
            interface.sim_set(0, "mtlink_state.%d" % link, "DOWN")
        expected = sorted([devices[0].value, devices[middle].value, devices[7].value] for middle in range(1, 7))
        assert sorted(paths_between(devices[0], devices[7])) == expected
        interface.sim_set(0, "mtlink_state.12", "DOWNGRADE")
        assert len(paths_between(devices[0], devices[7])) == 1


def test_groups_of_s4000():
    with Session("s4000x8+frozen") as session:
        devices = [session.device(index) for index in range(8)]
        for one, first in enumerate(devices):
            for two, second in enumerate(devices):
                linked = one != two and one // 4 == two // 4
                assert uint("mtmlDeviceCountMtLinkLayouts", first, second) == (2 if linked else 0)
                assert len(paths_between(first, second)) == (1 if linked else 0)


def test_container_hides_peers():
    with Session("s5000x8-container+frozen") as session:
        assert session.count() == 2
        first, second = session.device(0), session.device(1)
        seen = {}
        for link in range(14):
            slot = ctypes.c_void_p()
            reason = interface.reason("mtmlDeviceGetMtLinkRemoteDevice", first, link, ctypes.byref(slot))
            assert uint("mtmlDeviceGetMtLinkState", first, link) == 1
            seen[link] = slot.value if reason == "SUCCESS" else reason
        assert sorted(link for link, peer in seen.items() if peer == second.value) == [8, 9]
        assert [peer for peer in seen.values() if peer != second.value] == ["NOT_FOUND"] * 12
        assert uint("mtmlDeviceCountMtLinkLayouts", first, second) == 2
        # Hidden devices are no way through either.
        interface.sim_set(2, "mtlink_state.8", "DOWN")
        interface.sim_set(2, "mtlink_state.9", "DOWN")
        assert paths_between(first, second) == []


def test_link_capabilities():
    with Session("s4000x8+frozen") as session:
        device = session.device(0)
        assert uint("mtmlDeviceGetMtLinkCapStatus", device, 2, 0) == 1
        assert uint("mtmlDeviceGetMtLinkCapStatus", device, 2, 1) == 0
        interface.sim_set(0, "mtlink_p2p_atomics.2", "OK")
        assert uint("mtmlDeviceGetMtLinkCapStatus", device, 2, 1) == 1
        assert uint("mtmlDeviceGetMtLinkCapStatus", device, 3, 1) == 0
        interface.sim_set(0, "mtlink_peer.1", "-")
        assert refusal("mtmlDeviceGetMtLinkRemoteDevice", device, 1) == "NOT_FOUND"


def test_no_links_before_quyuan():
    with Session("s3000x2") as session:
        assert refusal("mtmlDeviceGetMtLinkState", session.device(0), 0) == "NOT_SUPPORTED"
        assert refusal("mtmlDeviceCountMtLinkLayouts", session.device(0), session.device(1)) == "NOT_SUPPORTED"
    with Session("s4000x8") as session:
        interface.sim_set(1, "mtlink_capability", "no")
        assert refusal("mtmlDeviceGetMtLinkState", session.device(1), 0) == "NOT_SUPPORTED"
        assert refusal("mtmlDeviceCountMtLinkLayouts", session.device(0), session.device(1)) == "NOT_SUPPORTED"
        properties = out("mtmlDeviceGetProperty", STRUCTS["MtmlDeviceProperty"], session.device(1))
        assert properties.mtLinkCap == 0


# ==== Topology, peer access, affinity ====


def test_topology_levels():
    with Session("s4000x8") as session:
        devices = [session.device(index) for index in range(8)]
        levels = [uint("mtmlDeviceGetTopologyLevel", devices[0], device) for device in devices]
        assert levels == [0, 1, 3, 3, 5, 5, 5, 5]
        counts = [uint("mtmlDeviceCountDeviceByTopologyLevel", devices[0], level) for level in range(6)]
        assert counts == [0, 1, 0, 2, 0, 4]
        array = (ctypes.c_void_p * 3)()
        interface.call("mtmlDeviceGetDeviceByTopologyLevel", devices[0], 3, 3, array)
        assert list(array) == [devices[2].value, devices[3].value, None]
        interface.sim_set(interface.MACHINE, "topology_includes_nearer", "yes")
        assert uint("mtmlDeviceCountDeviceByTopologyLevel", devices[0], 3) == 3


def test_every_topology_level_can_be_had():
    with Session("s4000x8") as session:
        first, second = session.device(0), session.device(7)
        for key, level in (
            ("numa_node", 4),
            ("host_bridge", 3),
            ("switch_group", 2),
            ("pcie_switch", 1),
            ("board", 0),
        ):
            interface.sim_set(7, key, interface.sim_get(0, key))
            assert uint("mtmlDeviceGetTopologyLevel", first, second) == level


def test_p2p_status():
    with Session("s4000x8+frozen") as session:
        devices = [session.device(index) for index in range(8)]
        for capability in (0, 1):
            for other in range(1, 8):
                status = uint("mtmlDeviceGetP2PStatus", devices[0], devices[other], capability)
                assert status == (0 if other < 4 else 1)
        interface.sim_set(0, "p2p_write.2", "GPU_NOT_SUPPORTED")
        assert uint("mtmlDeviceGetP2PStatus", devices[0], devices[2], 1) == 2
        assert uint("mtmlDeviceGetP2PStatus", devices[0], devices[2], 0) == 0


def mask(name, device, words):
    array = (ctypes.c_ulong * words)(*[0xAAAA] * words)
    interface.call(name, device, words, array)
    return list(array)


def test_affinity():
    with Session("s5000x8") as session:
        low, high = 0x00000000FFFFFFFF, 0xFFFFFFFF00000000
        assert mask("mtmlDeviceGetCpuAffinityWithinNode", session.device(0), 2) == [low, low]
        assert mask("mtmlDeviceGetCpuAffinityWithinNode", session.device(7), 2) == [high, high]
        assert mask("mtmlDeviceGetCpuAffinityWithinNode", session.device(7), 1) == [high]
        assert mask("mtmlDeviceGetCpuAffinityWithinNode", session.device(0), 4) == [low, low, 0, 0]
        assert mask("mtmlDeviceGetMemoryAffinityWithinNode", session.device(7), 1) == [2]
        interface.sim_set(0, "cpu_affinity", "3,130")
        assert mask("mtmlDeviceGetCpuAffinityWithinNode", session.device(0), 3) == [8, 0, 4]
        interface.sim_set(0, "cpu_affinity", "65535")  # the last one that a list can name
        assert mask("mtmlDeviceGetCpuAffinityWithinNode", session.device(0), 1025) == [0] * 1023 + [1 << 63, 0]
        array = (ctypes.c_ulong * 1)()
        assert interface.reason("mtmlDeviceGetCpuAffinityWithinNode", session.device(0), 0, array) == "INVALID_ARGUMENT"


# ==== ECC ====


def ecc_mode(memory):
    modes = ctypes.c_uint(), ctypes.c_uint()
    interface.call("mtmlMemoryGetEccMode", memory, *[ctypes.byref(mode) for mode in modes])
    return tuple(mode.value for mode in modes)


def test_ecc_mode_waits_for_a_reboot():
    with Session("s5000x8") as session:
        assert ecc_mode(session.memory(1)) == (1, 1)
        interface.call("mtmlMemorySetEccMode", session.memory(1), 0)
        assert ecc_mode(session.memory(1)) == (1, 0)
    with Session("s5000x8", keep=True) as session:
        assert ecc_mode(session.memory(1)) == (1, 0)
    assert interface.LIBRARY.mtmlSimReboot() == 0
    with Session("s5000x8", keep=True) as session:
        assert ecc_mode(session.memory(1)) == (0, 0)
        assert ecc_mode(session.memory(2)) == (1, 1)
        assert refusal("mtmlMemoryGetRetiredPagesPendingStatus", session.memory(1)) == "NOT_SUPPORTED"
        with pytest.raises(Failure):
            uint64("mtmlMemoryGetEccErrorCounter", session.memory(1), 0, 0, 1)


def test_ecc_counters():
    with Session("s5000x8+frozen") as session:
        memory = session.memory(5)

        def counters():
            return [uint64("mtmlMemoryGetEccErrorCounter", memory, e, c, 1) for e in (0, 1) for c in (0, 1)]

        assert counters() == [5, 55, 0, 1]
        interface.sim_set(5, "ecc_uncorrected_volatile", 3)
        interface.call("mtmlMemoryClearEccErrorCounts", memory, 0)
        assert counters() == [0, 55, 0, 1]
        interface.call("mtmlMemoryClearEccErrorCounts", memory, 1)
        assert counters() == [0, 0, 0, 0]


def test_retired_pages():
    with Session("s5000x8+frozen") as session:
        expected = {3: (2, 0, 0), 5: (0, 1, 1), 0: (0, 0, 0)}
        for index, (single, double, pending) in expected.items():
            memory = session.memory(index)
            count = out("mtmlMemoryGetRetiredPagesCount", STRUCTS["MtmlPageRetirementCount"], memory)
            assert (count.sbeCount, count.dbeCount) == (single, double)
            assert uint("mtmlMemoryGetRetiredPagesPendingStatus", memory) == pending
        pages = (STRUCTS["MtmlPageRetirement"] * 2)()
        interface.call("mtmlMemoryGetRetiredPages", session.memory(3), 0, 2, pages)
        assert [(page.address, page.timestamps) for page in pages] == [
            (0x12345000, 1735689600),
            (0x98765000, 1738368000),
        ]
        assert interface.reason("mtmlMemoryGetRetiredPages", session.memory(3), 0, 1, pages) == "INVALID_ARGUMENT"


@pytest.mark.parametrize("profile", ["s80", "s3000x2", "s4000x8"])
def test_no_ecc_before_pinghu(profile):
    with Session(profile) as session:
        memory = session.memory()
        for name in interface.FUNCTIONS:
            if interface.FUNCTIONS[name]["group"] == "ecc":
                numbers = [1] * (len(interface.FUNCTIONS[name]["params"]) - 2)
                assert interface.reason(name, memory, *numbers, ctypes.create_string_buffer(64)) in (
                    "NOT_SUPPORTED",
                    "INVALID_ARGUMENT",
                )
        assert refusal("mtmlMemoryGetRetiredPagesPendingStatus", memory) == "NOT_SUPPORTED"


# ==== MPC ====


def test_mpc_parent_and_instances():
    with Session("s3000-mpc+frozen") as session:
        assert session.count() == 5
        parent = session.device(0)
        kinds = [
            out("mtmlDeviceGetProperty", STRUCTS["MtmlDeviceProperty"], session.device(index)).mpcType
            for index in range(5)
        ]
        assert kinds == [1, 2, 2, 2, 0]
        assert uint("mtmlDeviceGetMpcMode", parent) == 1
        assert uint("mtmlDeviceGetMpcMode", session.device(4)) == 0
        configuration = out("mtmlDeviceGetMpcConfiguration", STRUCTS["MtmlMpcConfiguration"], parent)
        assert (configuration.id, configuration.name) == (2, b"8-422")
        assert list(configuration.profileId) == [1, 2, 2] + [-1] * 13
        array = (ctypes.c_void_p * 3)()
        interface.call("mtmlDeviceGetMpcInstances", parent, 3, array)
        assert list(array) == [session.device(index).value for index in (1, 2, 3)]
        assert [uint("mtmlDeviceCountMpcInstancesByProfileId", parent, profile) for profile in range(4)] == [0, 1, 2, 0]
        assert refusal("mtmlDeviceCountMpcInstancesByProfileId", parent, 9) == "INVALID_ARGUMENT"
        interface.call("mtmlDeviceGetMpcInstancesByProfileId", parent, 2, 3, array)
        assert list(array) == [session.device(2).value, session.device(3).value, None]
        for index, (profile, cores, memory, name) in enumerate(
            [(1, 4, 16384, b"4c+16gb"), (2, 2, 8192, b"2c+8gb"), (2, 2, 8192, b"2c+8gb")]
        ):
            instance = session.device(index + 1)
            assert pointer("mtmlDeviceGetMpcParentDevice", instance).value == parent.value
            assert uint("mtmlDeviceGetMpcInstanceIndex", instance) == index
            assert pointer("mtmlDeviceGetMpcInstanceByIndex", parent, index).value == instance.value
            info = out("mtmlDeviceGetMpcProfileInfo", STRUCTS["MtmlMpcProfile"], instance)
            assert (info.id, info.coreCount, info.memorySizeMB, info.name) == (profile, cores, memory, name)
            assert uint64("mtmlMemoryGetTotal", session.memory(index + 1)) == memory << 20
            assert uint("mtmlDeviceCountGpuCores", instance) == cores
        for name in ("mtmlDeviceGetMpcParentDevice", "mtmlDeviceGetMpcProfileInfo", "mtmlDeviceGetMpcInstanceIndex"):
            assert interface.reason(name, parent, ctypes.create_string_buffer(256)) == "NOT_SUPPORTED"
        assert refusal("mtmlDeviceCountMpcInstances", session.device(1)) == "NOT_SUPPORTED"
        assert refusal("mtmlDeviceCountMpcInstances", session.device(4)) == "NOT_SUPPORTED"
        assert refusal("mtmlDeviceGetMpcInstanceByIndex", parent, 3) == "INVALID_ARGUMENT"
        assert refusal("mtmlDeviceInitVpu", parent) == "NOT_SUPPORTED"
        assert pointer("mtmlDeviceInitVpu", session.device(1)).value
        assert uint("mtmlDeviceGetTopologyLevel", parent, session.device(2)) == 0


def test_mpc_catalog():
    with Session("s3000-mpc") as session:
        parent = session.device(0)
        count = uint("mtmlDeviceCountSupportedMpcProfiles", parent)
        profiles = (STRUCTS["MtmlMpcProfile"] * count)()
        interface.call("mtmlDeviceGetSupportedMpcProfiles", parent, count, profiles)
        assert [profile.name for profile in profiles] == [b"8c+32gb", b"4c+16gb", b"2c+8gb", b"1c+4gb"]
        count = uint("mtmlDeviceCountSupportedMpcConfigurations", parent)
        configurations = (STRUCTS["MtmlMpcConfiguration"] * count)()
        interface.call("mtmlDeviceGetSupportedMpcConfigurations", parent, count, configurations)
        assert [c.name for c in configurations] == [b"8-8", b"8-44", b"8-422", b"8-2222", b"8-11111111"]
        found = STRUCTS["MtmlMpcConfiguration"]()
        interface.call("mtmlDeviceGetMpcConfigurationByName", parent, b"8-2222", ctypes.byref(found))
        assert found.id == 3
        name = "mtmlDeviceGetMpcConfigurationByName"
        assert interface.reason(name, parent, b"9-9", ctypes.byref(found)) == "NOT_FOUND"
        assert interface.reason("mtmlDeviceSetMpcConfiguration", parent, 9) == "INVALID_ARGUMENT"
        assert interface.reason("mtmlDeviceSetMpcConfiguration", session.device(4), 1) == "NOT_SUPPORTED"
        assert interface.reason("mtmlDeviceSetMpcMode", session.device(1), 0) == "NOT_SUPPORTED"


def test_mpc_parent_that_a_container_hides():
    with Session("s3000-mpc", MTML_SIM_SET="0.visible=no") as session:
        assert session.count() == 4
        assert refusal("mtmlDeviceGetMpcParentDevice", session.device(0)) == "UNKNOWN"
        assert uint("mtmlDeviceGetMpcInstanceIndex", session.device(0)) == 0


def test_mpc_is_off_after_a_reboot():
    with Session("s3000-mpc"):
        pass
    assert interface.LIBRARY.mtmlSimReboot() == 0
    with Session("s3000-mpc", keep=True) as session:
        assert session.count() == 2


# ==== Virtual devices ====


def uuids_of(device, count, length=48):
    block = ctypes.create_string_buffer(b"\xaa" * (count * length), count * length)
    interface.call("mtmlDeviceGetActiveVirtDeviceUuids", device, block, length, count)
    return [block.raw[i * length : (i + 1) * length].rstrip(b"\0").decode() for i in range(count)]


def test_virt_types():
    with Session("s3000-vgpu-host") as session:
        host = session.device(0)
        assert uint("mtmlDeviceCountSupportedVirtTypes", host) == 6
        types = (STRUCTS["MtmlVirtType"] * 6)()
        interface.call("mtmlDeviceGetSupportedVirtTypes", host, types, 6)
        assert [kind.id.decode() for kind in types] == interface.sim_get(0, "virt_types").split(", ")
        profile = profiles.read("s3000-vgpu-host")
        for kind in types:
            described = profile["virt_type." + kind.id.decode()]
            assert kind.name.decode() == described["name"]
            assert kind.api.decode() == described["api"]
            for field, key in {
                "horizontalResolution": "horizontal_resolution",
                "verticalResolution": "vertical_resolution",
                "frameBuffer": "frame_buffer",
                "maxEncodeNum": "max_encode",
                "maxDecodeNum": "max_decode",
                "maxInstances": "max_instances",
                "maxVirtualDisplay": "max_displays",
            }.items():
                assert getattr(kind, field) == int(described[key])

        def count(name, device):
            return [uint(name, device, ctypes.byref(kind)) for kind in types]

        # 28 of 32 GB are taken, by devices of 4, 8 and 16.
        assert count("mtmlDeviceCountMaxVirtDevices", host) == [32, 16, 8, 4, 2, 1]
        assert count("mtmlDeviceCountAvailVirtDevices", host) == [4, 2, 1, 0, 0, 0]
        assert count("mtmlDeviceCountAvailVirtDevices", session.device(1)) == [32, 16, 8, 4, 2, 1]
        assert uint("mtmlDeviceCountAvailVirtTypes", host) == 3
        available = (STRUCTS["MtmlVirtType"] * 3)()
        interface.call("mtmlDeviceGetAvailVirtTypes", host, available, 3)
        assert [kind.id for kind in available] == [kind.id for kind in types][:3]
        unknown = STRUCTS["MtmlVirtType"](id=b"mtgpu-9999")
        assert refusal("mtmlDeviceCountMaxVirtDevices", host, ctypes.byref(unknown)) == "INVALID_ARGUMENT"
        assert refusal("mtmlDeviceCountAvailVirtDevices", host, ctypes.byref(unknown)) == "INVALID_ARGUMENT"


def test_active_virtual_devices():
    with Session("s3000-vgpu-host") as session:
        host = session.device(0)
        expected = [interface.sim_get(interface.virt_number(0, number), "uuid") for number in range(3)]
        assert uint("mtmlDeviceCountActiveVirtDevices", host) == 3
        assert uint("mtmlDeviceCountActiveVirtDevices", session.device(1)) == 0
        assert uuids_of(host, 3) == expected
        assert uuids_of(host, 5) == expected + ["", ""]
        block = ctypes.create_string_buffer(4096)
        name = "mtmlDeviceGetActiveVirtDeviceUuids"
        assert interface.reason(name, host, block, 48, 2) == "INSUFFICIENT_SIZE"
        assert interface.reason(name, host, block, 36, 3) == "INSUFFICIENT_SIZE"
        assert uuids_of(host, 3, 37) == expected


def test_virtual_device_as_a_device():
    with Session("s3000-vgpu-host+frozen") as session:
        host = session.device(0)
        uuid = interface.sim_get(interface.virt_number(0, 2), "uuid").encode()
        virtual = pointer("mtmlDeviceInitVirtDevice", host, uuid)
        assert pointer("mtmlDeviceInitVirtDevice", host, uuid).value == virtual.value
        assert text("mtmlDeviceGetUUID", virtual) == uuid
        assert text("mtmlDeviceGetPhyDeviceUuid", virtual).decode() == interface.sim_get(0, "uuid")
        assert out("mtmlDeviceGetVirtType", STRUCTS["MtmlVirtType"], virtual).id == b"mtgpu-1116"
        properties = out("mtmlDeviceGetProperty", STRUCTS["MtmlDeviceProperty"], virtual)
        assert (properties.virtRole, properties.virtCap) == (1, 0)
        for name in ("mtmlDeviceGetName", "mtmlDeviceGetGpuPath", "mtmlDeviceGetMtBiosVersion"):
            assert interface.reason(name, virtual, ctypes.create_string_buffer(64), 64) == "NOT_SUPPORTED"
        for name in ("mtmlDeviceGetIndex", "mtmlDeviceGetPowerUsage", "mtmlDeviceCountSupportedVirtTypes"):
            assert refusal(name, virtual) == "NOT_SUPPORTED"
        assert refusal("mtmlDeviceGetP2PStatus", host, virtual, 0) == "NOT_SUPPORTED"
        assert interface.reason("mtmlLibraryFreeDevice", virtual) == "NOT_SUPPORTED"
        assert interface.reason("mtmlDeviceFreeVirtDevice", host) == "NOT_SUPPORTED"
        interface.call("mtmlDeviceFreeVirtDevice", virtual)
        assert uint64("mtmlMemoryGetTotal", pointer("mtmlDeviceInitMemory", virtual)) == 16 << 30
        assert uint("mtmlGpuGetUtilization", pointer("mtmlDeviceInitGpu", virtual)) == 16
        vpu = pointer("mtmlDeviceInitVpu", virtual)
        assert refusal("mtmlVpuGetClock", vpu) == "NOT_SUPPORTED"
        assert uint("mtmlDeviceGetTopologyLevel", host, session.device(1)) == 4
        assert interface.reason("mtmlDeviceGetPhyDeviceUuid", host, ctypes.create_string_buffer(64), 64) == (
            "NOT_SUPPORTED"
        )
        unknown = ctypes.byref(ctypes.c_void_p())
        assert interface.reason("mtmlDeviceInitVirtDevice", host, b"nobody", unknown) == "NOT_FOUND"
        assert interface.reason("mtmlDeviceInitVirtDevice", session.device(1), uuid, unknown) == "NOT_FOUND"


def test_guest():
    with Session("s3000-vgpu-guest+frozen") as session:
        device = session.device()
        assert out("mtmlDeviceGetProperty", STRUCTS["MtmlDeviceProperty"], device).virtRole == 2
        assert refusal("mtmlDeviceGetPowerUsage", device) == "NOT_SUPPORTED"
        assert refusal("mtmlVpuGetMaxClock", session.vpu()) == "NOT_SUPPORTED"
        assert refusal("mtmlDeviceCountActiveVirtDevices", device) == "NOT_SUPPORTED"
        assert refusal("mtmlGpuGetTemperature", session.gpu()) == "NOT_SUPPORTED"
        assert uint("mtmlDeviceGetIndex", device) == 0


# ==== Codec sessions ====


def test_session_states():
    with Session("s4000x8+frozen") as session:
        vpu = session.vpu(4)

        def states(length):
            array = (ctypes.c_int * length)(*[77] * length)
            interface.call("mtmlVpuGetEncoderSessionStates", vpu, array, length)
            return list(array)

        assert states(8) == [1, 1, 0, 0, 0, 1, 0, 0]
        assert states(1) == [1]
        assert states(50) == [1, 1, 0, 0, 0, 1] + [0] * 42 + [-1, -1]
        interface.sim_set(4, "decoder_capacity", 3)
        interface.sim_set(4, "decoder_sessions", "id=1 pid=7")
        decoding = (ctypes.c_int * 5)(*[77] * 5)
        interface.call("mtmlVpuGetDecoderSessionStates", vpu, decoding, 5)
        assert list(decoding) == [0, 1, 0, -1, -1]
        metrics = ctypes.byref(interface.STRUCTS["MtmlCodecSessionMetrics"]())
        answers = [interface.reason("mtmlVpuGetDecoderSessionMetrics", vpu, id, metrics) for id in (2, 3)]
        assert answers == ["SUCCESS", "INVALID_ARGUMENT"]
        interface.sim_set(4, "encoder_sessions", "id=2 pid=9 state=UNKNOWN, id=3 pid=8")
        assert states(4) == [0, 0, -1, 1]
        assert interface.sim_get(4, "encoder_sessions").count("state=") == 2
