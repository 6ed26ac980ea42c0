"""What belongs together: MtLink, topology, affinity, ECC, MPC, virtual devices, codec sessions.

What each function answers on the shipped machines is in tests/test_native_functions.py.
"""

import ctypes

import interface
import pytest
from interface import STRUCTS, Failure, Session, out, pointer, text, uint, uint64


def refusal(name, *arguments):
    """The code of a call that gives nothing, with a place for what it would give."""
    return interface.reason(name, *arguments, ctypes.create_string_buffer(256))


# ==== MtLink ====


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


def test_topology_levels_may_include_nearer_ones():
    with Session("s4000x8") as session:
        device = session.device(0)
        assert [uint("mtmlDeviceCountDeviceByTopologyLevel", device, level) for level in range(6)] == [0, 1, 0, 2, 0, 4]
        array = (ctypes.c_void_p * 3)(1, 2, 3)
        interface.call("mtmlDeviceGetDeviceByTopologyLevel", device, 3, 3, array)
        assert list(array) == [session.device(2).value, session.device(3).value, None]
        interface.sim_set(interface.MACHINE, "topology_includes_nearer", "yes")
        assert uint("mtmlDeviceCountDeviceByTopologyLevel", device, 3) == 3


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
        interface.sim_set(5, "retired_pages_sbe", "0x10@7")
        pages = (ctypes.c_ulonglong * 14)(*[9] * 14)  # room for two
        interface.call("mtmlMemoryGetRetiredPages", memory, 0, 2, pages)
        assert list(pages) == [7, 16] + [0] * 12


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


def test_what_parents_and_instances_refuse():
    with Session("s3000-mpc") as session:
        parent, instance, whole = session.device(0), session.device(1), session.device(4)
        for name, device, *numbers, reason in (
            ("mtmlDeviceGetMpcParentDevice", parent, "NOT_SUPPORTED"),
            ("mtmlDeviceGetMpcProfileInfo", parent, "NOT_SUPPORTED"),
            ("mtmlDeviceGetMpcInstanceIndex", parent, "NOT_SUPPORTED"),
            ("mtmlDeviceInitVpu", parent, "NOT_SUPPORTED"),
            ("mtmlDeviceCountMpcInstances", instance, "NOT_SUPPORTED"),
            ("mtmlDeviceCountMpcInstances", whole, "NOT_SUPPORTED"),
            ("mtmlDeviceSetMpcMode", instance, 0, "NOT_SUPPORTED"),
            ("mtmlDeviceSetMpcConfiguration", whole, 1, "NOT_SUPPORTED"),
            ("mtmlDeviceSetMpcConfiguration", parent, 9, "INVALID_ARGUMENT"),
            ("mtmlDeviceCountMpcInstancesByProfileId", parent, 9, "INVALID_ARGUMENT"),
            ("mtmlDeviceGetMpcInstanceByIndex", parent, 3, "INVALID_ARGUMENT"),
            ("mtmlDeviceGetMpcConfigurationByName", parent, b"9-9", "NOT_FOUND"),
        ):
            assert refusal(name, device, *numbers) == reason, name
        array = (ctypes.c_void_p * 3)()
        interface.call("mtmlDeviceGetMpcInstancesByProfileId", parent, 2, 3, array)
        assert list(array) == [session.device(2).value, session.device(3).value, None]


def test_vgpu_host_is_an_mpc_parent():
    with Session("s3000-vgpu-host+frozen") as session:
        host = session.device(0)
        properties = out("mtmlDeviceGetProperty", STRUCTS["MtmlDeviceProperty"], host)
        assert (properties.mpcType, properties.mpcCap, properties.virtCap) == (1, 1, 1)
        # Its one instance is not listed, here or there.
        assert session.count() == 2
        assert uint("mtmlDeviceCountMpcInstances", host) == 0
        assert refusal("mtmlDeviceGetMpcInstanceByIndex", host, 0) == "INVALID_ARGUMENT"


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


def test_uuids_fill_their_entries():
    with Session("s3000-vgpu-host") as session:
        host = session.device(0)
        expected = [interface.sim_get(interface.virt_number(0, number), "uuid") for number in range(3)]
        name = "mtmlDeviceGetActiveVirtDeviceUuids"
        for count, length, reason in (
            (3, 48, "SUCCESS"),
            (5, 48, "SUCCESS"),
            (3, 37, "SUCCESS"),
            (2, 48, "INSUFFICIENT_SIZE"),
            (3, 36, "INSUFFICIENT_SIZE"),
        ):
            block = ctypes.create_string_buffer(b"\xaa" * (count * length), count * length)
            assert interface.reason(name, host, block, length, count) == reason, (count, length)
            if reason == "SUCCESS":
                entries = [block.raw[i * length : (i + 1) * length].rstrip(b"\0").decode() for i in range(count)]
                assert entries == expected + [""] * (count - 3)


def test_unknown_types_of_virtual_devices():
    with Session("s3000-vgpu-host") as session:
        unknown = ctypes.byref(STRUCTS["MtmlVirtType"](id=b"mtgpu-9999"))
        for name in ("mtmlDeviceCountMaxVirtDevices", "mtmlDeviceCountAvailVirtDevices"):
            assert refusal(name, session.device(0), unknown) == "INVALID_ARGUMENT"


def test_no_more_devices_of_a_type_than_it_says(tmp_path):
    """The memory has room for more: for 32 on an empty card, for 4 beside those that are there."""
    path = tmp_path / "host.ini"
    path.write_text("[machine]\nbase = s3000-vgpu-host\n[virt_type.mtgpu-1101]\nmax_instances = 3\n")
    with Session(str(path)) as session:
        kind = ctypes.byref(STRUCTS["MtmlVirtType"](id=b"mtgpu-1101"))
        for word in ("Max", "Avail"):
            assert uint("mtmlDeviceCount%sVirtDevices" % word, session.device(0), kind) == 3


def test_virtual_device_as_a_device():
    with Session("s3000-vgpu-host+frozen") as session:
        host = session.device(0)
        uuid = interface.sim_get(interface.virt_number(0, 2), "uuid").encode()
        virtual = pointer("mtmlDeviceInitVirtDevice", host, uuid)
        assert pointer("mtmlDeviceInitVirtDevice", host, uuid).value == virtual.value
        assert text("mtmlDeviceGetUUID", virtual) == uuid
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
        assert refusal("mtmlDeviceInitVirtDevice", host, b"nobody") == "NOT_FOUND"
        assert refusal("mtmlDeviceInitVirtDevice", session.device(1), uuid) == "NOT_FOUND"


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
        metrics = interface.STRUCTS["MtmlCodecSessionMetrics"]()
        ask = ("mtmlVpuGetDecoderSessionMetrics", vpu)
        answers = [(interface.reason(*ask, id, ctypes.byref(metrics)), metrics.id, metrics.pid) for id in (1, 2, 3)]
        assert answers == [("SUCCESS", 1, 7), ("SUCCESS", 2, 0), ("INVALID_ARGUMENT", 2, 0)]
        interface.sim_set(4, "encoder_sessions", "id=2 pid=9 state=UNKNOWN, id=3 pid=8")
        assert states(4) == [0, 0, -1, 1]
        assert interface.sim_get(4, "encoder_sessions").count("state=") == 2
