"""Which devices are near each other, and how they are joined: PCIe levels, peer access, MtLink, affinity."""

import ctypes
import os
import re
import sys
import threading

import pytest
import simulated
from native_calls import mask

import pymtml as nvml

READ, WRITE, NVLINK, ATOMICS, PCI = (
    nvml.NVML_P2P_CAPS_INDEX_READ,
    nvml.NVML_P2P_CAPS_INDEX_WRITE,
    nvml.NVML_P2P_CAPS_INDEX_NVLINK,
    nvml.NVML_P2P_CAPS_INDEX_ATOMICS,
    nvml.NVML_P2P_CAPS_INDEX_PCI,
)
OK, CHIPSET, GPU, ABSENT, UNKNOWN = 0, 1, 2, nvml.NVML_P2P_STATUS_NOT_SUPPORTED, nvml.NVML_P2P_STATUS_UNKNOWN
SAME, SINGLE, MULTIPLE, BRIDGE, NODE, SYSTEM = 0, 10, 20, 30, 40, 50
WORD = 8 * ctypes.sizeof(ctypes.c_ulong)


def handles():
    return [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]


def indices(devices):
    return [nvml.nvmlDeviceGetIndex(device) for device in devices]


def statuses(first, second):
    return [nvml.nvmlDeviceGetP2PStatus(first, second, index) for index in (READ, WRITE, NVLINK, ATOMICS, PCI)]


def peers(profile, card):
    """The profile's word on the links of a card: {other card: links}."""
    found = {}
    for link, peer in enumerate(re.findall(r"[^, ]+", simulated.device_keys(profile, card)["mtlink_peer"])):
        if peer != "-":
            found.setdefault(int(peer.split(".")[0]), []).append(link)
    return found


# ---- Peer access ----


@pytest.mark.parametrize("profile", ["s5000x8", "s4000x8"])
def test_link_status_of_every_pair(profile):
    with simulated.nvml(profile):
        for i, first in enumerate(handles()):
            linked = peers(profile, i)
            for j, second in enumerate(handles()):
                if i != j:
                    expected = OK if j in linked else ABSENT
                    assert nvml.nvmlDeviceGetP2PStatus(first, second, NVLINK) == expected, (i, j)


@pytest.mark.parametrize("missing", ["mtmlDeviceGetMtLinkSpec", "mtmlDeviceGetMtLinkRemoteDevice"])
def test_links_of_a_library_without_layouts_and_more(missing, device, monkeypatch):
    """A library that lacks both functions knows no links: the pair is not joined, the peer is reached over PCIe."""
    for name in ("mtmlDeviceCountMtLinkLayouts", missing):
        monkeypatch.delitem(nvml._functions, name)
    apart, whole = [OK, OK, ABSENT, ABSENT, OK], [OK, OK, OK, OK, ABSENT]
    assert statuses(device, handles()[1]) == apart
    own = whole if missing == "mtmlDeviceGetMtLinkRemoteDevice" else apart  # its own links lead to itself
    assert statuses(device, device) == own


def test_a_machine_without_links():
    with simulated.nvml("s3000x2"):
        first, second = handles()
        assert statuses(first, second) == [CHIPSET, CHIPSET, ABSENT, ABSENT, CHIPSET]
        assert statuses(first, first)[2:4] == [ABSENT, ABSENT]
        simulated.set_value(0, "p2p_read", "OK")
        assert statuses(first, second) == [OK, CHIPSET, ABSENT, ABSENT, OK]


def test_atomics_need_every_link_of_the_pair():
    with simulated.nvml("s5000x8"):
        first, second, third = handles()[:3]
        assert nvml.nvmlDeviceGetP2PStatus(first, second, ATOMICS) == OK
        one = peers("s5000x8", 0)[1][1]
        simulated.set_value(0, "mtlink_p2p_atomics.%d" % one, "NOT_SUPPORTED")
        assert nvml.nvmlDeviceGetP2PStatus(first, second, ATOMICS) == ABSENT
        assert nvml.nvmlDeviceGetP2PStatus(first, third, ATOMICS) == OK
        assert nvml.nvmlDeviceGetP2PStatus(first, second, NVLINK) == OK


@pytest.mark.parametrize("faults", ["", "mtmlDeviceCountMtLinkLayouts=NOT_SUPPORTED"])
def test_a_link_is_up_where_both_its_ends_say_so(faults):
    """The two links of a pair: by layouts, and by the UUIDs at their ends."""
    with simulated.nvml("s5000x8"):
        here, there = peers("s5000x8", 0)[1], peers("s5000x8", 1)[0]
        for down, joined in (
            ([(1, there[0])], True),
            ([(1, there[0]), (1, there[1])], False),
            ([(0, here[0]), (1, there[0])], True),
            ([(0, here[0]), (1, there[1])], False),
            ([(0, here[1]), (1, there[0])], False),
        ):
            simulated.set_faults(faults)
            first, second = handles()[:2]
            for card, link in down:
                simulated.set_value(card, "mtlink_state.%d" % link, "DOWN")
            for pair in ((first, second), (second, first)):
                status = OK if joined else ABSENT
                # What was read before, and what is read anew.
                assert [nvml.nvmlDeviceGetP2PStatus(*pair, NVLINK) for _ in range(2)] == [status] * 2, down
                assert nvml.nvmlDeviceGetP2PStatus(*pair, ATOMICS) == status
                assert nvml.nvmlDeviceGetP2PStatus(*pair, PCI) == (ABSENT if joined else OK)
            for card, link in down:
                simulated.set_value(card, "mtlink_state.%d" % link, "DOWNGRADE")  # which carries data, too
            nvml.nvmlShutdown()
            nvml.nvmlInit()


@pytest.mark.parametrize("faults", ["", "mtmlDeviceCountMtLinkLayouts=NOT_SUPPORTED"])
def test_a_link_has_a_number_at_each_end(faults):
    """The links of the same numbers at the other ends are down, and join nothing."""
    with simulated.nvml("s5000x8"):
        for card, far, numbers in ((0, 1, "1.3, -, -, -"), (1, 0, "-, -, -, 0.0")):
            simulated.set_value(card, "mtlink_count", 4)
            simulated.set_value(card, "mtlink_peer", numbers)
            simulated.set_value(card, "mtlink_state.%d" % (3 * far), "DOWN")
        simulated.set_faults(faults)
        first, second = handles()[:2]
        for pair in ((first, second), (second, first)):
            assert nvml.nvmlDeviceGetP2PStatus(*pair, NVLINK) == OK
            assert nvml.nvmlDeviceGetP2PStatus(*pair, PCI) == ABSENT


def test_wiring_is_read_once_for_each_pair():
    with simulated.nvml("s5000x8"):
        simulated.set_faults("mtmlDeviceCountMtLinkLayouts=NOT_SUPPORTED")
        first, *others = handles()[:3]
        simulated.reset_calls()
        for other in others + others:
            assert nvml.nvmlDeviceGetP2PStatus(first, other, NVLINK) == OK
        assert simulated.calls("mtmlDeviceCountMtLinkLayouts") == 2
        assert simulated.calls("mtmlDeviceGetMtLinkSpec") == 3  # of each card


def test_the_far_end_of_a_card_that_does_not_answer():
    """Its silence is no word: the error is the caller's to see, whichever card comes first."""
    with simulated.nvml("s5000x8"):
        first, second, third = handles()[:3]
        assert nvml.nvmlDeviceGetP2PStatus(first, second, NVLINK) == OK
        simulated.set_faults("1.*=TIMEOUT")
        for pair in ((first, second), (second, first)):
            pytest.raises(nvml.NVMLError_Timeout, nvml.nvmlDeviceGetP2PStatus, *pair, NVLINK)
        assert nvml.nvmlDeviceGetP2PStatus(first, third, NVLINK) == OK


@pytest.mark.parametrize("code", ["NOT_SUPPORTED", "NOT_FOUND"])
@pytest.mark.parametrize("function", ["mtmlDeviceCountMtLinkLayouts", "mtmlDeviceGetMtLinkLayouts"])
@pytest.mark.parametrize("profile", ["s5000x8", "s5000x8-container", "s4000x8", "s3000x2"])
def test_without_layouts_the_links_themselves_tell(profile, function, code):
    with simulated.nvml(profile):
        expected = [statuses(first, second) for first in handles() for second in handles()]
        nvml.nvmlShutdown()  # with which the wiring that was read ends
        nvml.nvmlInit()
        simulated.set_faults("%s=%s" % (function, code))
        assert [statuses(first, second) for first in handles() for second in handles()] == expected


@pytest.mark.parametrize("count", [nvml.NVML_NVLINK_MAX_LINKS, nvml.NVML_NVLINK_MAX_LINKS + 1])
def test_layouts_of_more_links_than_nvml_knows_are_not_read(count):
    """The links themselves tell then, of which NVML knows the first ones."""
    with simulated.nvml("s5000x8"):
        simulated.set_value(0, "mtlink_count", count)
        simulated.set_value(0, "mtlink_peer", ", ".join("1.%d" % link for link in range(count)))
        for fault in ("NOT_FOUND", "NOT_SUPPORTED"):
            nvml.nvmlShutdown()
            nvml.nvmlInit()
            first, second = handles()[:2]
            simulated.set_faults("mtmlDeviceGetMtLinkRemoteDevice=" + fault)
            by_layouts = count <= nvml.NVML_NVLINK_MAX_LINKS
            assert nvml.nvmlDeviceGetP2PStatus(first, second, NVLINK) == (OK if by_layouts else ABSENT)
        nvml.nvmlShutdown()
        nvml.nvmlInit()
        simulated.set_faults("")
        assert nvml.nvmlDeviceGetP2PStatus(*handles()[:2], NVLINK) == OK


def test_capabilities_are_whole_numbers_of_any_class():
    class Whole:
        def __init__(self, value):
            self.value = value

        def __index__(self):
            return self.value

    with simulated.nvml("s5000x8"):
        first, second = handles()[:2]
        for index, status in ((READ, OK), (NVLINK, OK), (PCI, ABSENT), (nvml.NVML_P2P_CAPS_INDEX_UNKNOWN, UNKNOWN)):
            assert nvml.nvmlDeviceGetP2PStatus(first, second, Whole(index)) == status
        for bad in (None, "0", 2.0, ctypes.c_uint(0)):
            pytest.raises(TypeError, nvml.nvmlDeviceGetP2PStatus, first, second, bad)


@pytest.mark.parametrize("index", [6, 7, 100, -1, 2**32])
def test_capabilities_out_of_range(index):
    with simulated.nvml("s5000x8"):
        first, second = handles()[:2]
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetP2PStatus, first, second, index)


# ---- Links ----


@pytest.mark.parametrize("profile", ["s5000x8", "s4000x8"])
def test_links_lead_where_the_profile_says(profile):
    with simulated.nvml(profile):
        devices = handles()
        for card, device in enumerate(devices):
            linked = {link: peer for peer, links in peers(profile, card).items() for link in links}
            for link, peer in linked.items():
                info = nvml.nvmlDeviceGetNvLinkRemotePciInfo(device, link)
                assert bytes(info) == bytes(nvml.nvmlDeviceGetPciInfo(devices[peer])), (card, link)
                kind = nvml.nvmlDeviceGetNvLinkRemoteDeviceType(device, link)
                assert kind == nvml.NVML_NVLINK_DEVICE_TYPE_GPU


LINK_QUERIES = [
    ("nvmlDeviceGetNvLinkState", ()),
    ("nvmlDeviceGetNvLinkVersion", ()),
    ("nvmlDeviceGetNvLinkCapability", (nvml.NVML_NVLINK_CAP_P2P_SUPPORTED,)),
    ("nvmlDeviceGetNvLinkRemotePciInfo", ()),
    ("nvmlDeviceGetNvLinkRemoteDeviceType", ()),
]


@pytest.mark.parametrize("function, arguments", LINK_QUERIES)
def test_links_that_the_card_lacks(function, arguments):
    """Programs count to NVML_NVLINK_MAX_LINKS and take NotSupported for the end."""
    for profile in ("s5000x8", "s4000x8", "s80", "s3000-mpc"):
        count = int(simulated.device_keys(profile, 0).get("mtlink_count", 0))
        with simulated.nvml(profile):
            device = nvml.nvmlDeviceGetHandleByIndex(0)
            for link in list(range(nvml.NVML_NVLINK_MAX_LINKS + 2)) + [1000, 0xFFFFFFFF, -1, 2**32]:
                expected = None if 0 <= link < count else nvml.NVMLError_NotSupported
                if not 0 <= link < nvml.NVML_NVLINK_MAX_LINKS:
                    expected = nvml.NVMLError_InvalidArgument
                raised = None
                try:
                    getattr(nvml, function)(device, link, *arguments)
                except nvml.NVMLError as error:
                    raised = type(error)
                assert raised is expected, (profile, link)


def test_capabilities_of_a_link():
    with simulated.nvml("s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        got = {}
        for capability in range(8):
            try:
                got[capability] = nvml.nvmlDeviceGetNvLinkCapability(device, 0, capability)
            except nvml.NVMLError as error:
                got[capability] = type(error)
    assert got == {
        nvml.NVML_NVLINK_CAP_P2P_SUPPORTED: 1,
        nvml.NVML_NVLINK_CAP_SYSMEM_ACCESS: nvml.NVMLError_NotSupported,
        nvml.NVML_NVLINK_CAP_P2P_ATOMICS: 1,
        nvml.NVML_NVLINK_CAP_SYSMEM_ATOMICS: nvml.NVMLError_NotSupported,
        nvml.NVML_NVLINK_CAP_SLI_BRIDGE: nvml.NVMLError_NotSupported,
        nvml.NVML_NVLINK_CAP_VALID: 1,
        6: nvml.NVMLError_InvalidArgument,
        7: nvml.NVMLError_InvalidArgument,
    }


def test_versions_that_nvml_has_no_number_for(device):
    simulated.set_value(0, "mtlink_version", 20005)
    assert nvml.nvmlDeviceGetNvLinkVersion(device, 0) == nvml.NVML_NVLINK_VERSION_2_0
    for version in (0, 10100, 11000, 90000):
        simulated.set_value(0, "mtlink_version", version)
        pytest.raises(nvml.NVMLError_NotSupported, nvml.nvmlDeviceGetNvLinkVersion, device, 0)


def test_a_count_of_links_beyond_nvml_is_cut():
    with simulated.nvml("s5000x8"):
        first, second = handles()[:2]
        simulated.set_value(0, "mtlink_count", 60)
        assert nvml.nvmlDeviceGetNvLinkState(first, 13) == 1
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetNvLinkState, first, 36)
        assert nvml.nvmlDeviceGetP2PStatus(first, second, NVLINK) == OK


def test_a_link_that_leads_nowhere(device):
    simulated.set_value(0, "mtlink_peer.3", "-")
    assert nvml.nvmlDeviceGetNvLinkRemoteDeviceType(device, 3) == nvml.NVML_NVLINK_DEVICE_TYPE_UNKNOWN
    pytest.raises(nvml.NVMLError_NotFound, nvml.nvmlDeviceGetNvLinkRemotePciInfo, device, 3)


# ---- A container that sees two of eight cards ----


def test_hidden_peers_are_no_obstacle():
    with simulated.nvml("s5000x8-container"):
        first, second = handles()
        assert statuses(first, second) == [OK, OK, OK, OK, ABSENT]
        kinds = [nvml.nvmlDeviceGetNvLinkRemoteDeviceType(first, link) for link in range(14)]
        visible = peers("s5000x8", 2)[5]
        assert [link for link, kind in enumerate(kinds) if kind == nvml.NVML_NVLINK_DEVICE_TYPE_GPU] == visible
        for link in range(14):
            assert nvml.nvmlDeviceGetNvLinkState(first, link) == 1
            if link in visible:
                info = nvml.nvmlDeviceGetNvLinkRemotePciInfo(first, link)
                assert info.busId == nvml.nvmlDeviceGetPciInfo(second).busId
            else:
                pytest.raises(nvml.NVMLError_NotFound, nvml.nvmlDeviceGetNvLinkRemotePciInfo, first, link)


# ---- PCIe levels ----


def level(first, second):
    """NVML's level of two cards, from their places in a profile."""
    for key, value in (("board", SAME), ("pcie_switch", SINGLE), ("switch_group", MULTIPLE), ("host_bridge", BRIDGE)):
        if first[key] == second[key]:
            return value
    return NODE if first["numa_node"] == second["numa_node"] else SYSTEM


@pytest.mark.parametrize("profile", ["s5000x8", "s4000x8", "s3000x2"])
def test_levels_of_every_pair(profile):
    with simulated.nvml(profile):
        devices = handles()
        keys = [simulated.device_keys(profile, card) for card in range(len(devices))]
        table = [[level(a, b) for b in keys] for a in keys]
        for i, first in enumerate(devices):
            for j, second in enumerate(devices):
                assert nvml.nvmlDeviceGetTopologyCommonAncestor(first, second) == table[i][j], (i, j)
                assert nvml.nvmlDeviceOnSameBoard(first, second) is (table[i][j] == SAME), (i, j)
            # C takes the level without a sign: what is beyond SYSTEM, -1 too, means SYSTEM.
            for limit in (SAME, SINGLE, MULTIPLE, BRIDGE, NODE, SYSTEM, SYSTEM + 1, 10000, -1):
                near = [j for j in range(len(devices)) if j != i and table[i][j] <= limit % 2**32]
                assert indices(nvml.nvmlDeviceGetTopologyNearestGpus(first, limit)) == near, (i, limit)


def test_a_level_that_nobody_knows():
    with simulated.nvml("s3000x2"):
        simulated.set_value(0, "topology.1", 9)
        pytest.raises(nvml.NVMLError_Unknown, nvml.nvmlDeviceGetTopologyCommonAncestor, *handles())


# ---- Processors and memory ----


def whole(words):
    return int.from_bytes(bytes(words), sys.byteorder)


@pytest.mark.parametrize("size", [1, 2, 3, 16, 1024, 1 << 16])
def test_affinity_is_an_array_of_longs(size):
    with simulated.nvml("s5000x8"):
        for card, device in enumerate(handles()):
            keys = simulated.device_keys("s5000x8", card)
            words = nvml.nvmlDeviceGetCpuAffinity(device, size)
            assert type(words) is ctypes.c_ulong * size
            fits = (1 << WORD * size) - 1
            assert whole(words) == mask(keys["cpu_affinity"]) & fits
            assert whole(nvml.nvmlDeviceGetMemoryAffinity(device, size, 0)) == mask(keys["memory_affinity"]) & fits


@pytest.mark.parametrize("size", [0, -1, (1 << 16) + 1, 1 << 31, 1 << 40])
def test_sizes_that_no_mask_has(size, device):
    simulated.reset_calls()
    pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetCpuAffinity, device, size)
    assert simulated.calls() == 0


@pytest.fixture
def own_cpus():
    """The CPUs that this thread may use, and again afterwards (set)."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system does not bind threads to CPUs")
    cpus = os.sched_getaffinity(0)
    yield cpus
    os.sched_setaffinity(0, cpus)


def test_a_thread_is_bound_to_the_cpus_next_to_the_device(own_cpus):
    """The calling thread alone, to those of the mask that exist; and set free again."""
    one = min(own_cpus)
    with simulated.nvml("s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        simulated.set_value(0, "cpu_affinity", "%d,4000" % one)
        found = []

        def bind():
            found.append(nvml.nvmlDeviceSetCpuAffinity(device))
            found.append(os.sched_getaffinity(0))
            found.append(nvml.nvmlDeviceClearCpuAffinity(device))
            found.append(os.sched_getaffinity(0))

        thread = threading.Thread(target=bind)
        thread.start()
        thread.join()
        assert found == [None, {one}, None, own_cpus]
        assert os.sched_getaffinity(0) == own_cpus
        assert nvml._nvmlGetFunctionPointer("nvmlDeviceSetCpuAffinity")(device) == nvml.NVML_SUCCESS
        assert os.sched_getaffinity(0) == {one}
        assert nvml._nvmlGetFunctionPointer("nvmlDeviceClearCpuAffinity")(device) == nvml.NVML_SUCCESS
        assert os.sched_getaffinity(0) == own_cpus


@pytest.mark.parametrize("mask", ["4000-4003", "4095"])
def test_a_mask_without_a_cpu_of_this_machine(own_cpus, mask, device):
    simulated.set_value(0, "cpu_affinity", mask)
    with pytest.raises(nvml.NVMLError_NotSupported) as error:
        nvml.nvmlDeviceSetCpuAffinity(device)
    assert "none of the CPUs" in str(error.value)
    assert os.sched_getaffinity(0) == own_cpus


def test_a_system_that_binds_no_threads(monkeypatch, device):
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    for function in (nvml.nvmlDeviceSetCpuAffinity, nvml.nvmlDeviceClearCpuAffinity):
        with pytest.raises(nvml.NVMLError_NotSupported) as error:
            function(device)
        assert "does not bind threads" in str(error.value)


def test_a_thread_that_may_not_be_bound(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "not permitted")

    with simulated.nvml("s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        monkeypatch.setattr(os, "sched_setaffinity", refuse, raising=False)
        pytest.raises(nvml.NVMLError_NoPermission, nvml.nvmlDeviceSetCpuAffinity, device)


def test_devices_of_a_processor():
    with simulated.nvml("s5000x8"):
        masks = [mask(simulated.device_keys("s5000x8", card)["cpu_affinity"]) for card in range(8)]
        for cpu in (0, 31, 32, 63, 64, 95, 96, 127, 128, 5000, (WORD << 16) - 1):
            near = [card for card, bits in enumerate(masks) if bits >> cpu & 1]
            assert indices(nvml.nvmlSystemGetTopologyGpuSet(cpu)) == near, cpu


@pytest.mark.parametrize("profile", ["s5000x8", "empty"])
@pytest.mark.parametrize("cpu", [-1, WORD << 16])
def test_devices_of_a_processor_that_cannot_be(profile, cpu):
    pytest.raises(nvml.NVMLError_Uninitialized, nvml.nvmlSystemGetTopologyGpuSet, cpu)
    with simulated.nvml(profile):
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlSystemGetTopologyGpuSet, cpu)


@pytest.mark.parametrize(
    "function, arguments, native",
    [
        ("mtmlDeviceGetTopologyLevel", (), None),
        ("mtmlDeviceGetP2PStatus", (READ,), None),
        ("mtmlDeviceCountMtLinkLayouts", (), None),
        ("mtmlDeviceGetMtLinkLayouts", (), None),
        ("mtmlDeviceCountMtLinkShortestPaths", (), None),
        ("mtmlDeviceGetMtLinkShortestPaths", (), None),
        ("nvmlDeviceGetTopologyCommonAncestor", (), "mtmlDeviceGetTopologyLevel"),
        ("nvmlDeviceOnSameBoard", (), "mtmlDeviceGetTopologyLevel"),
        ("nvmlDeviceGetP2PStatus", (READ,), "mtmlDeviceGetP2PStatus"),
        ("nvmlDeviceGetP2PStatus", (NVLINK,), "mtmlDeviceGetMtLinkLayouts"),
        ("nvmlDeviceGetP2PStatus", (ATOMICS,), "mtmlDeviceGetMtLinkLayouts"),
        ("nvmlDeviceGetP2PStatus", (PCI,), "mtmlDeviceGetMtLinkLayouts"),
    ],
)
def test_it_is_the_first_of_two_cards_that_is_asked(function, arguments, native):
    with simulated.nvml("s5000x8"):
        first, second = handles()[:2]
        simulated.set_faults("0.%s=TIMEOUT" % (native or function))
        pytest.raises(nvml.NVMLError_Timeout, getattr(nvml, function), first, second, *arguments)
        getattr(nvml, function)(second, first, *arguments)
