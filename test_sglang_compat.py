"""The probing code paths of sglang and vLLM: what a serving framework asks before it loads a model.

The functions of the first part are those frameworks' own code in short: same calls, same order, same error handling.
Runs by itself, too: python test_sglang_compat.py
"""

import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))

try:
    import pytest
except ImportError:
    sys.exit("test_sglang_compat.py needs pytest: python3 -m pip install pytest")

import simulated  # noqa: E402

import pymtml as pynvml  # noqa: E402

GIB = 1 << 30
CARDS = {  # profile: (devices, name, total memory in bytes, capability)
    "s5000x8": (8, "MTT S5000", 80 * GIB, (3, 1)),
    "s4000x8": (8, "MTT S4000", 48 * GIB, (2, 2)),
    "s5000x8-container": (2, "MTT S5000", 80 * GIB, (3, 1)),
    "s3000x2": (2, "MTT S3000", 32 * GIB, (2, 1)),
    "s80": (1, "MTT S80", 16 * GIB, (2, 1)),
}


# ---- vLLM's NvmlCudaPlatform: each question in an init and shutdown of its own ----


def with_nvml_context(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        pynvml.nvmlInit()
        try:
            return function(*args, **kwargs)
        finally:
            pynvml.nvmlShutdown()

    return wrapper


def cuda_platform_plugin():
    """Whether there is a GPU; what is not an NVML error by its name is raised again."""
    try:
        pynvml.nvmlInit()
        try:
            return pynvml.nvmlDeviceGetCount() > 0
        finally:
            pynvml.nvmlShutdown()
    except Exception as error:
        if "nvml" not in error.__class__.__name__.lower():
            raise
        return False


@with_nvml_context
def get_device_capability(device_id=0):
    try:
        major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(pynvml.nvmlDeviceGetHandleByIndex(device_id))
        return major, minor
    except RuntimeError:
        return None


def has_device_capability(capability, device_id=0):
    try:
        return get_device_capability(device_id) >= capability
    except RuntimeError:
        return False


@with_nvml_context
def get_device_name(device_id=0):
    return pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(device_id))


@with_nvml_context
def get_device_uuid(device_id=0):
    return pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(device_id))


@with_nvml_context
def get_device_total_memory(device_id=0):
    return int(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(device_id)).total)


@with_nvml_context
def is_fully_connected(physical_device_ids):
    handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in physical_device_ids]
    for i, handle in enumerate(handles):
        for j, peer_handle in enumerate(handles):
            if i < j:
                try:
                    p2p_status = pynvml.nvmlDeviceGetP2PStatus(handle, peer_handle, pynvml.NVML_P2P_CAPS_INDEX_NVLINK)
                    if p2p_status != pynvml.NVML_P2P_STATUS_OK:
                        return False
                except pynvml.NVMLError:
                    return False
    return True


@with_nvml_context
def different_devices():
    """Names of the machine's GPUs, if they are not all the same: vLLM warns then."""
    names = [get_device_name(i) for i in range(pynvml.nvmlDeviceGetCount())]
    return names if len(set(names)) > 1 else []


# ---- sglang: links walked one by one, its MUSA branch, NUMA binding ----


@with_nvml_context
def links_by_walking(index):
    """Bus ids at the far ends of a GPU's links, to the maximum that NVML names."""
    device, found = pynvml.nvmlDeviceGetHandleByIndex(index), []
    for link in range(pynvml.NVML_NVLINK_MAX_LINKS):
        try:
            if pynvml.nvmlDeviceGetNvLinkState(device, link) == pynvml.NVML_FEATURE_ENABLED:
                found.append(pynvml.nvmlDeviceGetNvLinkRemotePciInfo(device, link).busId)
        except pynvml.NVMLError_NotSupported:
            break
        except pynvml.NVMLError_NotFound:
            continue
    return found


def is_full_mtlink(indices):
    """The MUSA branch: pymtml by name, native calls, peers compared by UUID."""
    import pymtml

    pymtml.mtmlLibraryInit()
    try:
        devices = [pymtml.mtmlLibraryInitDeviceByIndex(index) for index in indices]
        for device in devices:
            peers = set()
            for link in range(pymtml.mtmlDeviceGetMtLinkSpec(device).linkNum):
                if pymtml.mtmlDeviceGetMtLinkState(device, link) != pymtml.MTML_MTLINK_STATE_UP:
                    continue
                try:
                    peers.add(pymtml.mtmlDeviceGetUUID(pymtml.mtmlDeviceGetMtLinkRemoteDevice(device, link)))
                except pymtml.MTMLError:
                    continue
            if not {pymtml.mtmlDeviceGetUUID(other) for other in devices if other != device} <= peers:
                return False
        return True
    except pymtml.MTMLError_NotSupported:
        return False
    finally:
        pymtml.mtmlLibraryShutDown()


@with_nvml_context
def numa_nodes(index):
    """NUMA nodes next to a GPU, from the mask that sglang reads."""
    words = pynvml.nvmlDeviceGetMemoryAffinity(
        pynvml.nvmlDeviceGetHandleByIndex(index), 2, pynvml.NVML_AFFINITY_SCOPE_NODE
    )
    return [64 * i + bit for i, word in enumerate(words) for bit in range(64) if word >> bit & 1]


def pairs(indices):
    return [(i, j) for i in indices for j in indices if i < j]


@pytest.fixture(params=sorted(CARDS))
def card(request):
    with simulated.machine(request.param):
        yield CARDS[request.param]
        assert simulated.references() == 0, "each question has to close what it opened"


# ---- Detection and identity ----


def test_detection(card):
    assert cuda_platform_plugin() is True


@pytest.mark.parametrize("profile, found", [("empty", False), ("no-driver", False)])
def test_detection_without_gpus(profile, found):
    with simulated.machine(profile):
        assert cuda_platform_plugin() is found


def test_detection_without_a_library():
    """The error's class has "nvml" in its name, so that the plugin takes it for an answer."""
    code = "import test_sglang_compat as compat\nprint(compat.cuda_platform_plugin())\n"
    result = simulated.run_python(
        "import os, sys\nsys.path.insert(0, os.path.join(%r, 'tests'))\n" % simulated.ROOT
        + "import simulated\nos.environ['PYMTML_LIBRARY'] = '/no/such/library'\n"
        + code
    )
    assert (result.stdout, result.stderr) == ("False\n", "")


def test_identity(card):
    count, name, memory, capability = card
    assert [get_device_name(i) for i in range(count)] == [name] * count
    assert [get_device_total_memory(i) for i in range(count)] == [memory] * count
    assert [get_device_capability(i) for i in range(count)] == [capability] * count
    uuids = [get_device_uuid(i) for i in range(count)]
    assert len(set(uuids)) == count and all(type(uuid) is str for uuid in uuids)
    assert different_devices() == []


def test_capability_is_compared(card):
    capability = card[3]
    assert has_device_capability(capability)
    assert has_device_capability((1, 0))
    assert not has_device_capability((capability[0], capability[1] + 1))


def test_device_that_is_not_there(card):
    for question in (get_device_name, get_device_uuid, get_device_total_memory, get_device_capability):
        with pytest.raises(pynvml.NVMLError_InvalidArgument):
            question(card[0])
        assert simulated.references() == 0


def test_old_library_knows_the_capability_by_the_card():
    code = (
        "import pymtml as pynvml\npynvml.nvmlInit()\n"
        "for i in range(pynvml.nvmlDeviceGetCount()):\n"
        "    print(*pynvml.nvmlDeviceGetCudaComputeCapability(pynvml.nvmlDeviceGetHandleByIndex(i)))\n"
    )
    for profile, lines in (("old-library", "2 1\n"), ("s5000x8", "3 1\n" * 8), ("s4000x8", "2 2\n" * 8)):
        result = simulated.run_python(code, name=profile, header_only=True)
        assert (result.stdout, result.stderr) == (lines, ""), profile


# ---- Links ----


def test_s5000_all_pairs_are_linked():
    with simulated.machine("s5000x8"):
        assert is_fully_connected(range(8))
        assert all(is_fully_connected(pair) for pair in pairs(range(8)))
        assert is_full_mtlink(range(8))
        for index in range(8):
            found = links_by_walking(index)
            assert len(found) == 14 and len(set(found)) == 7, index


def test_s4000_groups_of_four_are_linked():
    groups = ((0, 1, 2, 3), (4, 5, 6, 7))
    with simulated.machine("s4000x8"):
        for pair in pairs(range(8)):
            together = any(set(pair) <= set(group) for group in groups)
            assert is_fully_connected(pair) is together, pair
            assert is_full_mtlink(pair) is together, pair
        assert is_fully_connected(groups[0]) and is_fully_connected(groups[1])
        assert not is_fully_connected(range(8)) and not is_full_mtlink(range(8))
        for index in range(8):
            assert len(set(links_by_walking(index))) == 3, index


def test_container_sees_its_two_as_linked():
    """Six peers of each are hidden; what the container sees is linked all the same."""
    with simulated.machine("s5000x8-container"):
        assert is_fully_connected((0, 1)) and is_full_mtlink((0, 1))
        for index in (0, 1):
            assert len(set(links_by_walking(index))) == 1, index


@pytest.mark.parametrize("profile", ["s3000x2", "s80"])
def test_cards_without_links(profile):
    with simulated.machine(profile):
        count = CARDS[profile][0]
        assert is_fully_connected(range(count)) is (count == 1)
        assert not is_full_mtlink(range(count))
        assert links_by_walking(0) == []


def test_one_pair_that_is_down_is_enough():
    ends = [
        "%d.mtlink_state.%d=DOWN" % (card, link)
        for card, other in ((2, 6), (6, 2))
        for link, peer in enumerate(simulated.device_keys("s5000x8", card)["mtlink_peer"].split(","))
        if peer.strip().startswith("%d." % other)
    ]
    assert len(ends) == 4
    with simulated.machine("s5000x8", set=";".join(ends)):
        assert is_fully_connected((0, 1, 2, 3)) and is_full_mtlink((0, 1, 2, 3))
        assert len(links_by_walking(2)) == 12
        assert not is_full_mtlink(range(8))
        assert not is_fully_connected(range(8))


def test_failure_while_probing_is_no_link():
    """A driver that fails gives False, as vLLM has it, and leaves nothing open."""
    with simulated.machine("s5000x8", faults="mtmlDeviceCountMtLinkLayouts=DRIVER_FAILURE"):
        assert not is_fully_connected((0, 1))
        assert simulated.references() == 0


# ---- NUMA, memory in use, environment ----


def test_numa_binding():
    with simulated.machine("s5000x8"):
        assert [numa_nodes(index) for index in range(8)] == [[0]] * 4 + [[1]] * 4


def test_free_memory_decides_on_the_cache():
    with simulated.machine("s5000x8"):
        pynvml.nvmlInit()
        device = pynvml.nvmlDeviceGetHandleByIndex(3)
        for used in (5 * GIB, 60 * GIB + 4096):
            simulated.set_value(3, "memory_used", used)
            info = pynvml.nvmlDeviceGetMemoryInfo(device)
            assert (info.used, info.free, info.total) == (used, 80 * GIB - used, 80 * GIB)
        pynvml.nvmlShutdown()


def test_hundred_questions_leave_nothing_open():
    with simulated.machine("s5000x8"):
        for _ in range(100):
            get_device_name(7)
            is_fully_connected((0, 7))
        assert simulated.references() == 0
        assert pynvml._nvmlLib_refcount == 0


def test_torch_is_left_alone():
    """Importing the module imports no torch, and without torch_musa there is nothing to patch."""
    code = (
        "import sys\nimport pymtml\n"
        "print('torch' in sys.modules, pymtml.patch_torch_c_for_musa(), 'torch' in sys.modules)\n"
    )
    result = simulated.run_python(code)
    assert (result.stdout, result.stderr) == ("False [] False\n", "")


if __name__ == "__main__":
    sys.exit(pytest.main([os.path.abspath(__file__)] + sys.argv[1:]))
