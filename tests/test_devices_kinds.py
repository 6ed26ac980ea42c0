"""Devices that are no plain card: MPC parents and instances, vGPU hosts and guests, and machines without devices."""

import pytest
import simulated

import pymtml as nvml


def handles():
    """Handles of all devices: the cards, each with its instances behind it."""
    found = []
    for index in range(nvml.nvmlDeviceGetCount()):
        found.append(nvml.nvmlDeviceGetHandleByIndex(index))
        instances = 0
        while True:
            instance = answer(nvml.nvmlDeviceGetMigDeviceHandleByIndex, found[-1 - instances], instances)
            if isinstance(instance, type):
                break
            found.append(instance)
            instances += 1
    return found


def answer(function, *arguments):
    """What a function answers, or the class of its error."""
    try:
        return function(*arguments)
    except nvml.NVMLError as error:
        return type(error)


def answers(function, *arguments):
    """What a function answers for each device."""
    return [answer(getattr(nvml, function), device, *arguments) for device in handles()]


UNSUPPORTED, INVALID, MISSING = nvml.NVMLError_NotSupported, nvml.NVMLError_InvalidArgument, nvml.NVMLError_NotFound

# ---- MPC: index 0 is the parent, 1 to 3 its instances, 4 a card that could be divided but is not ----

MPC = [
    ("nvmlDeviceGetIndex", (), [0, 0, 1, 2, 1]),
    ("nvmlDeviceIsMigDeviceHandle", (), [0, 1, 1, 1, 0]),
    ("nvmlDeviceGetMigMode", (), [[1, 1], UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, [0, 0]]),
    ("nvmlDeviceGetMaxMigDeviceCount", (), [8, 0, 0, 0, 0]),
    ("nvmlDeviceGetGpuInstanceId", (), [INVALID, 0, 1, 2, INVALID]),
    ("nvmlDeviceGetComputeInstanceId", (), [INVALID, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, INVALID]),
    ("nvmlDeviceGetNumGpuCores", (), [8, 4, 2, 2, 8]),
    ("nvmlDeviceGetMinorNumber", (), [0, 2, 3, 4, 1]),
    ("nvmlDeviceGetMultiGpuBoard", (), [0, 0, 0, 0, 0]),
    ("nvmlDeviceGetVirtualizationMode", (), [0, 0, 0, 0, 0]),
    ("nvmlDeviceSetMigMode", (2,), [INVALID] * 5),
    ("nvmlDeviceGetName", (), ["MTT S3000"] * 5),
    ("nvmlDeviceGetEncoderCapacity", (0,), [UNSUPPORTED, 87, 100, 100, 100]),
    # An instance has no power supply of its own:
    ("nvmlDeviceGetPowerUsage", (), [140200, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, 58200]),
    ("nvmlDeviceGetEnforcedPowerLimit", (), [250000, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, 250000]),
    ("nvmlDeviceGetPowerManagementLimit", (), [250000, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, 250000]),
    ("nvmlDeviceGetPowerManagementDefaultLimit", (), [250000, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, 250000]),
]


@pytest.mark.parametrize("function, arguments, expected", MPC)
def test_mpc(function, arguments, expected):
    with simulated.nvml("s3000-mpc"):
        found = answers(function, *arguments)
        assert [one.value if isinstance(one, nvml.c_uint) else one for one in found] == expected


def test_the_way_from_parent_to_instance_and_back():
    with simulated.nvml("s3000-mpc"):
        parent, first, second, third, other = handles()
        found = [nvml.nvmlDeviceGetMigDeviceHandleByIndex(parent, index) for index in range(3)]
        assert found == [first, second, third]
        assert found[0] is first
        for index in (3, 8, 100, 0xFFFFFFFF, -1):
            assert answer(nvml.nvmlDeviceGetMigDeviceHandleByIndex, parent, index) is MISSING
        for instance in found:
            assert nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(instance) is parent
            assert answer(nvml.nvmlDeviceGetMigDeviceHandleByIndex, instance, 0) is UNSUPPORTED
        for card in (parent, other):
            assert answer(nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, card) is INVALID
        assert answer(nvml.nvmlDeviceGetMigDeviceHandleByIndex, other, 0) is MISSING


def test_the_share_of_an_instance():
    with simulated.nvml("s3000-mpc"):
        for function in ("nvmlDeviceGetAttributes", "nvmlDeviceGetAttributes_v2"):
            got = answers(function)
            assert (got[0], got[4]) == (UNSUPPORTED, UNSUPPORTED)
            shares = [(share.multiprocessorCount, share.memorySizeMB) for share in got[1:4]]
            assert shares == [(4, 16384), (2, 8192), (2, 8192)]
        totals = [memory.total >> 20 for memory in answers("nvmlDeviceGetMemoryInfo")]
        assert totals == [32768, 16384, 8192, 8192, 32768]
        used = [memory.used for memory in answers("nvmlDeviceGetMemoryInfo")]
        assert used == [13743894528, 7516192768, 2147483648, 0, 2061582336]
        assert [rates.gpu for rates in answers("nvmlDeviceGetUtilizationRates")] == [50, 80, 35, 0, 9]


UUID_FORMS = """
import sys
import pymtml as nvml

class DropIn:
    stands_in = staticmethod(lambda: %s)

if DropIn.stands_in() is not None:
    sys.modules["pymtml_dropin"] = DropIn
nvml.nvmlInit()
card = nvml.nvmlDeviceGetHandleByIndex(0)
for device in (card, nvml.nvmlDeviceGetMigDeviceHandleByIndex(card, 1)):
    uuid, own = nvml.nvmlDeviceGetUUID(device), nvml.mtmlDeviceGetUUID(device)
    assert uuid.endswith(own) and nvml.nvmlDeviceGetUUID(device) is uuid
    print(uuid[: -len(own)])
    for spelling in (own, uuid, "GPU-" + uuid, "MIG-" + uuid, ("gpu-GPU-" + uuid).encode(), uuid.upper()):
        assert nvml.nvmlDeviceGetHandleByUUID(spelling) is device
"""


@pytest.mark.parametrize(
    "drop_in, setting, prefixes",
    [
        (None, None, "\n\n"),
        (True, None, "GPU-\nMIG-\n"),
        (False, None, "\n\n"),
        (True, "mtml", "\n\n"),
        (None, "nvml", "GPU-\nMIG-\n"),
        (True, "other", "GPU-\nMIG-\n"),
    ],
)
def test_the_form_of_uuids(drop_in, setting, prefixes):
    """NVIDIA's where the drop-in stands in for pynvml, unless PYMTML_UUID chooses; look-ups take both."""
    variables = {} if setting is None else {"PYMTML_UUID": setting}
    done = simulated.run_python(UUID_FORMS % drop_in, name="s3000-mpc", extra_environment=variables)
    assert (done.stdout, done.stderr) == (prefixes, "")


def test_a_shared_address_and_serial_number_mean_the_card():
    with simulated.nvml("s3000-mpc"):
        parent, other = handles()[0], handles()[4]
        for card in (parent, other):
            assert nvml.nvmlDeviceGetHandleByPciBusId(nvml.nvmlDeviceGetPciInfo(card).busId) is card
            assert nvml.nvmlDeviceGetHandleBySerial(nvml.nvmlDeviceGetSerial(card)) is card


def test_instances_of_a_card_are_nowhere_else():
    with simulated.nvml("s3000-mpc"):
        parent, first, second, _, other = handles()
        for one, two, level in ((parent, first, 0), (first, second, 0), (first, other, 40)):
            assert nvml.nvmlDeviceGetTopologyCommonAncestor(one, two) == level
            assert nvml.nvmlDeviceOnSameBoard(one, two) is (level == 0)
        simulated.set_value(1, "board", 0)  # where they are not the only ones
        assert nvml.nvmlDeviceGetMultiGpuBoard(nvml.nvmlDeviceGetHandleByIndex(0)) == 1


def test_dividing_a_card_and_undoing_it():
    with simulated.nvml("s3000x2"):
        assert nvml.nvmlDeviceGetCount() == 2
        card = handles()[0]
        uuid = nvml.nvmlDeviceGetUUID(card)
        assert nvml.nvmlDeviceSetMigMode(card, nvml.NVML_DEVICE_MIG_ENABLE) == nvml.NVML_SUCCESS
        assert answer(nvml.nvmlDeviceGetUUID, card) is INVALID
        assert simulated.get_value(0, "mpc_mode") == "ENABLE"
        assert nvml.nvmlDeviceGetCount() == 2  # the instance has the other card's number in MTML now
        card = nvml.nvmlDeviceGetHandleByUUID(uuid)
        assert nvml.nvmlDeviceGetMigMode(card) == [1, 1]
        (whole,) = [device for device in handles() if nvml.nvmlDeviceIsMigDeviceHandle(device).value]
        assert nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(whole) is card
        assert nvml.nvmlDeviceGetMigDeviceHandleByIndex(card, 0) is whole
        assert nvml.nvmlDeviceSetMigMode(card, nvml.NVML_DEVICE_MIG_DISABLE) == nvml.NVML_SUCCESS
        assert answer(nvml.nvmlDeviceGetUUID, whole) is INVALID
        assert nvml.nvmlDeviceGetCount() == 2


@pytest.mark.parametrize("fault", ["UNKNOWN", "NULL"])
def test_a_container_may_hide_the_parent(fault):
    """MTML answers UNKNOWN there, or nothing; the instance itself goes on working, and counts as a card."""
    with simulated.nvml("s3000-mpc", faults="mtmlDeviceGetMpcParentDevice=" + fault):
        assert nvml.nvmlDeviceGetCount() == 5
        instance = nvml.nvmlDeviceGetHandleByIndex(1)
        assert nvml.nvmlDeviceGetIndex(instance) == 1
        assert answer(nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, instance) is nvml.NVMLError_Unknown
        assert nvml.nvmlDeviceGetGpuInstanceId(instance) == 0
        assert nvml.nvmlDeviceGetMemoryInfo(instance).total == 16384 << 20


def test_a_container_with_nothing_but_instances():
    with simulated.nvml("s3000-mpc"):
        for card in (0, 1):
            simulated.set_value(card, "visible", "no")
        cards = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
        assert [nvml.nvmlDeviceGetNumGpuCores(card) for card in cards] == [4, 2, 2]
        assert [nvml.nvmlDeviceGetIndex(card) for card in cards] == [0, 1, 2]
        assert [nvml.nvmlDeviceIsMigDeviceHandle(card).value for card in cards] == [1, 1, 1]
        assert answer(nvml.nvmlDeviceGetHandleByIndex, 3) is INVALID


def native_calls(function, *arguments):
    """The MTML calls that a facade call makes, by name."""
    simulated.reset_calls()
    function(*arguments)
    return {name: simulated.calls(name) for name in NATIVE if simulated.calls(name)}


NATIVE = [name for name in dir(nvml) if name.startswith("mtml") and simulated.calls(name) >= 0]


def test_what_a_device_is_costs_calls_once():
    """ByIndex looks at the devices up to the card, Count at all of them; then neither asks more than its question."""
    look, parent = "mtmlDeviceGetProperty", "mtmlDeviceGetMpcParentDevice"
    by_index, count = "mtmlLibraryInitDeviceByIndex", "mtmlLibraryCountDevice"
    with simulated.nvml("s3000-mpc"):
        assert native_calls(nvml.nvmlDeviceGetHandleByIndex, 0) == {by_index: 1, look: 1}
        assert native_calls(nvml.nvmlDeviceGetHandleByIndex, 0) == {by_index: 1}
        assert native_calls(nvml.nvmlDeviceGetHandleByIndex, 1) == {by_index: 4, look: 4, parent: 3}
        assert native_calls(nvml.nvmlDeviceGetHandleByIndex, 1) == {by_index: 1}
        assert native_calls(nvml.nvmlDeviceGetCount) == {count: 1}
        card = nvml.nvmlDeviceGetHandleByIndex(1)
        assert native_calls(nvml.nvmlDeviceGetPowerUsage, card) == {"mtmlDeviceGetPowerUsage": 1}
        instance = nvml.nvmlDeviceGetMigDeviceHandleByIndex(nvml.nvmlDeviceGetHandleByIndex(0), 1)
        assert nvml.nvmlDeviceGetIndex(instance) == 1
        assert native_calls(nvml.nvmlDeviceGetIndex, instance) == {}
    with simulated.nvml("s3000-mpc"):
        card = nvml.nvmlDeviceGetHandleByUUID(simulated.device_keys("s3000-mpc", 1)["uuid"])
        assert native_calls(nvml.nvmlDeviceGetPowerUsage, card) == {"mtmlDeviceGetPowerUsage": 1, look: 1}
        assert native_calls(nvml.nvmlDeviceGetPowerUsage, card) == {"mtmlDeviceGetPowerUsage": 1}
    with simulated.nvml("s5000x8"):
        assert native_calls(nvml.nvmlDeviceGetCount) == {count: 1, by_index: 8, look: 8}
        assert native_calls(nvml.nvmlDeviceGetCount) == {count: 1}
        assert native_calls(nvml.nvmlDeviceGetHandleByIndex, 7) == {by_index: 1}
        assert native_calls(nvml.nvmlDeviceGetHandleByIndex, 7) == {by_index: 1}


def test_a_card_that_is_lost_counts():
    with simulated.nvml("s5000x8", faults="2.mtmlDeviceGetProperty=TIMEOUT"):
        assert nvml.nvmlDeviceGetCount() == 8
        assert nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleByIndex(7)) == 7


def test_a_device_that_could_not_be_asked_is_asked_again():
    """However many devices behind it are known."""
    with simulated.nvml("s3000-mpc", set="1.mpc_mode=ENABLE;1.mpc_configuration=1"):
        second = nvml.nvmlDeviceGetHandleByUUID(simulated.device_keys("s3000-mpc", 1)["uuid"])
        assert nvml.mtmlLibraryCountDevice() > 6
        simulated.set_faults("mtmlDeviceGetProperty=TIMEOUT@1x1")
        assert answer(nvml.nvmlDeviceGetCount) is nvml.NVMLError_Timeout
        assert nvml.nvmlDeviceGetIndex(second) == 1
        assert nvml.nvmlDeviceGetCount() == 2


@pytest.mark.parametrize("first, lost", [(0, 2), (0, 3), (1, 1), (1, 2)])
def test_instances_tell_of_their_card_when_that_cannot_be_asked(first, lost):
    """The third device of NVML's is none, whatever is not known of those before; nor are instances counted."""
    with simulated.nvml("s3000-mpc", faults="mtmlDeviceGetProperty=TIMEOUT@%dx%d" % (first, lost)):
        assert answer(nvml.nvmlDeviceGetHandleByIndex, 2) is nvml.NVMLError_Unknown  # by its timeout
        simulated.set_faults("")
        assert nvml.nvmlDeviceGetNumGpuCores(nvml.nvmlDeviceGetHandleByIndex(1)) == 8
    with simulated.nvml("s3000-mpc", faults="mtmlDeviceGetProperty=TIMEOUT@%dx%d" % (first, lost)):
        assert answer(nvml.nvmlDeviceGetCount) is nvml.NVMLError_Timeout
        assert nvml.nvmlDeviceGetCount() == 2


def test_what_was_guessed_is_not_kept():
    """Without a word on the card and all its instances they count as lost cards, until they can be asked."""
    with simulated.nvml("s3000-mpc", faults="mtmlDeviceGetProperty=TIMEOUT@0x4"):
        assert [nvml.nvmlDeviceGetCount() for _ in range(2)] == [5, 2]
    with simulated.nvml("s3000-mpc", faults="mtmlDeviceGetProperty=TIMEOUT@0x4"):
        nvml.nvmlDeviceGetHandleByIndex(4)
        assert nvml.nvmlDeviceGetNumGpuCores(nvml.nvmlDeviceGetHandleByIndex(1)) == 8
        assert answer(nvml.nvmlDeviceGetHandleByIndex, 2) is INVALID


def test_no_device_can_be_asked():
    with simulated.nvml("s3000x2", faults="mtmlDeviceGetProperty=TIMEOUT"):  # the second may be an instance
        assert answer(nvml.nvmlDeviceGetCount) is nvml.NVMLError_Timeout
    with simulated.nvml("s3000-mpc", faults="mtmlDeviceGetProperty=TIMEOUT"):
        assert answer(nvml.nvmlDeviceGetCount) is nvml.NVMLError_Timeout
        assert answer(nvml.nvmlDeviceGetHandleByIndex, 1) is nvml.NVMLError_Unknown  # by its timeout
        instance = nvml.nvmlDeviceGetHandleByUUID(simulated.get_value(simulated.instance(0, 0), "uuid"))
        assert answer(nvml.nvmlDeviceGetPowerUsage, instance) is nvml.NVMLError_Timeout
        simulated.set_faults("")
        assert nvml.nvmlDeviceGetCount() == 2
        assert answer(nvml.nvmlDeviceGetPowerUsage, instance) is UNSUPPORTED


def test_the_only_device_is_a_card():
    """Also where the driver does not tell its kind; of the power that is not enough to know."""
    with simulated.nvml("s80", faults="mtmlDeviceGetProperty=DRIVER_FAILURE"):
        card = nvml.nvmlDeviceGetHandleByIndex(0)
        assert (nvml.nvmlDeviceGetCount(), nvml.nvmlDeviceGetIndex(card)) == (1, 0)
        assert nvml.nvmlDeviceGetName(card) == "MTT S80"
        assert answer(nvml.nvmlDeviceGetPowerUsage, card) is nvml.NVMLError_Unknown


@pytest.mark.parametrize("profile", ["s2000", "s3000-vgpu-guest", "old-library"])
def test_cards_that_cannot_be_divided(profile):
    with simulated.nvml(profile):
        count = nvml.nvmlDeviceGetCount()
        assert answers("nvmlDeviceGetMigMode") == [UNSUPPORTED] * count
        assert answers("nvmlDeviceSetMigMode", 1) == [UNSUPPORTED] * count
        assert answers("nvmlDeviceGetMaxMigDeviceCount") == [0] * count
        assert [kind.value for kind in answers("nvmlDeviceIsMigDeviceHandle")] == [0] * count
        assert answers("nvmlDeviceGetMigDeviceHandleByIndex", 0) == [UNSUPPORTED] * count


@pytest.mark.parametrize(
    "change",
    [
        lambda card: nvml.nvmlDeviceSetMigMode(card, 1),
        lambda card: nvml.mtmlDeviceSetMpcMode(card, 1),
        lambda card: nvml.mtmlDeviceSetMpcConfiguration(card, 0),
        lambda card: nvml.mtmlLibrarySetMpcConfigurationInBatch([card], [0]),
    ],
    ids=["MigMode", "MpcMode", "MpcConfiguration", "InBatch"],
)
def test_a_card_that_cannot_be_divided_is_not_disturbed(change):
    """C is not told to, so no query has to wait for that, and no handle becomes stale meanwhile."""
    with simulated.nvml("s2000"):
        card = nvml.nvmlDeviceGetHandleByIndex(0)
        simulated.reset_calls()
        pytest.raises((nvml.NVMLError_NotSupported, nvml.MTMLError_NotSupported), change, card)
        asked = ["mtmlDeviceSetMpcMode", "mtmlDeviceSetMpcConfiguration", "mtmlLibrarySetMpcConfigurationInBatch"]
        assert [simulated.calls(name) for name in asked] == [0, 0, 0]
        assert nvml._session.life.changes == 0 and nvml.nvmlDeviceGetName(card) == "MTT S2000"


@pytest.mark.parametrize("part", ["instance", "virtual device"])
def test_a_reset_leaves_parts_of_other_cards_alone(part):
    with simulated.nvml("s3000-mpc" if part == "instance" else "s3000-vgpu-host"):
        cards = [nvml.nvmlDeviceGetHandleByIndex(index) for index in (0, 1)]
        if part == "instance":
            held = nvml.nvmlDeviceGetMigDeviceHandleByIndex(cards[0], 1)
        else:
            held = nvml.mtmlDeviceInitVirtDevice(cards[0], nvml.mtmlDeviceGetActiveVirtDeviceUuids(cards[0])[0])
        uuid = nvml.mtmlDeviceGetUUID(held)
        nvml.mtmlDeviceReset(cards[1])
        assert nvml.mtmlDeviceGetUUID(held) == uuid
        for stale in (cards[1], None):
            pytest.raises(nvml.MTMLError_InvalidArgument, nvml.mtmlDeviceReset, stale)
        assert nvml.mtmlDeviceGetUUID(held) == uuid
        nvml.mtmlDeviceReset(cards[0])
        pytest.raises(nvml.MTMLError_InvalidArgument, nvml.mtmlDeviceGetUUID, held)


# ---- vGPU ----


def test_a_host_of_virtual_devices():
    with simulated.nvml("s3000-vgpu-host"):
        first, second = handles()
        assert answers("nvmlDeviceGetVirtualizationMode") == [nvml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU] * 2
        types = [1101, 1102, 1104, 1108, 1116, 1132]
        assert answers("nvmlDeviceGetSupportedVgpus") == [types, types]
        # 28 GiB of the first card's 32 are given away: what needs more than 4 cannot be made there.
        assert answers("nvmlDeviceGetCreatableVgpus") == [types[:3], types]
        active = nvml.nvmlDeviceGetActiveVgpus(first)
        assert len(set(active)) == 3 and nvml.nvmlDeviceGetActiveVgpus(second) == []
        assert nvml.nvmlDeviceGetActiveVgpus(first) == active
        uuids = [simulated.get_value(number << 16, "uuid") for number in (1, 2, 3)]
        assert [nvml.nvmlVgpuInstanceGetUUID(number) for number in active] == uuids
        assert [nvml.nvmlVgpuInstanceGetMdevUUID(number) for number in active] == uuids
        assert [nvml.nvmlVgpuInstanceGetType(number) for number in active] == [1108, 1104, 1116]


def test_utilization_by_virtual_device(monkeypatch):
    """At times in microseconds; what is not younger than the caller's has been seen."""
    with simulated.nvml("s3000-vgpu-host"):
        monkeypatch.setattr(nvml._session, "clock", lambda: 1700000000.25)
        now = 1700000000250000
        first, second = handles()
        active = nvml.nvmlDeviceGetActiveVgpus(first)
        simulated.set_value(2 << 16, "gpu_utilization", 77)
        simulated.set_value(2 << 16, "memory_utilization", 33)
        samples = nvml.nvmlDeviceGetVgpuUtilization(first, now - 1)
        assert [(sample.vgpuInstance, sample.timeStamp) for sample in samples] == [(number, now) for number in active]
        assert (samples[1].smUtil.uiVal, samples[1].memUtil.uiVal) == (77, 33)
        assert nvml.nvmlDeviceGetVgpuUtilization(first, now) == []
        assert nvml.nvmlDeviceGetVgpuUtilization(second, 0) == []
        virtual = nvml.mtmlDeviceInitVirtDevice(first, nvml.nvmlVgpuInstanceGetUUID(active[0]))
        assert answer(nvml.nvmlDeviceGetVgpuUtilization, virtual, 0) is UNSUPPORTED


def test_a_type_that_nvml_has_no_number_for(tmp_path):
    with simulated.nvml(simulated.rewritten("s3000-vgpu-host", "mtgpu-1104", "mtgpu-1104-next", tmp_path)):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        assert nvml.nvmlDeviceGetSupportedVgpus(device) == [1101, 1102, 1108, 1116, 1132]
        assert nvml.nvmlDeviceGetCreatableVgpus(device) == [1101, 1102]
        assert nvml.nvmlVgpuTypeGetMaxInstances(device, 1116) == 2 and nvml.nvmlVgpuTypeGetName(1132)
        assert answer(nvml.nvmlVgpuTypeGetName, 1104) is INVALID
        types = [answer(nvml.nvmlVgpuInstanceGetType, vgpu) for vgpu in nvml.nvmlDeviceGetActiveVgpus(device)]
        assert types == [1108, UNSUPPORTED, 1116]


def test_virtual_device_types():
    section = simulated.profile("s3000-vgpu-host")
    with simulated.nvml("s3000-vgpu-host"):
        card = nvml.nvmlDeviceGetHandleByIndex(1)
        for number in nvml.nvmlDeviceGetSupportedVgpus(card):
            keys = section["virt_type.mtgpu-%d" % number]
            assert nvml.nvmlVgpuTypeGetName(number) == keys["name"]
            assert nvml.nvmlVgpuTypeGetFramebufferSize(number) == int(keys["frame_buffer"]) << 20
            assert nvml.nvmlVgpuTypeGetNumDisplayHeads(number) == int(keys["max_displays"])
            resolution = (int(keys["horizontal_resolution"]), int(keys["vertical_resolution"]))
            assert nvml.nvmlVgpuTypeGetResolution(number) == resolution
            assert nvml.nvmlVgpuTypeGetMaxInstances(card, number) == int(keys["max_instances"])
        for number in (0, 1, 1100, 0xFFFFFFFF, -1):
            for function in ("Name", "FramebufferSize", "NumDisplayHeads", "Resolution"):
                assert answer(getattr(nvml, "nvmlVgpuTypeGet" + function), number) is INVALID
            assert answer(nvml.nvmlVgpuTypeGetMaxInstances, card, number) is INVALID


def test_virtual_devices_that_nobody_gave_out():
    with simulated.nvml("s3000-vgpu-host"):
        for number in (0, 1, 4, 0xFFFFFFFF, -1):
            for function in ("GetUUID", "GetMdevUUID", "GetType"):
                assert answer(getattr(nvml, "nvmlVgpuInstance" + function), number) is MISSING


def test_virtual_devices_that_ended():
    with simulated.nvml("s3000-vgpu-host"):
        number, _, _ = nvml.nvmlDeviceGetActiveVgpus(nvml.nvmlDeviceGetHandleByIndex(0))
        simulated.set_value(1 << 16, "uuid", "00000000-0000-4000-8000-000000000001")
        assert answer(nvml.nvmlVgpuInstanceGetType, number) is MISSING
        again = nvml.nvmlDeviceGetActiveVgpus(nvml.nvmlDeviceGetHandleByIndex(0))
        assert number not in again and len(again) == 3


def test_numbers_of_virtual_devices_end_with_the_library():
    """And with a reset of their card, not of another one."""
    with simulated.nvml("s3000-vgpu-host"):
        number, _, _ = nvml.nvmlDeviceGetActiveVgpus(nvml.nvmlDeviceGetHandleByIndex(0))
        nvml.mtmlDeviceReset(nvml.nvmlDeviceGetHandleByIndex(1))
        assert nvml.nvmlVgpuInstanceGetUUID(number) == simulated.get_value(1 << 16, "uuid")
        nvml.nvmlShutdown()
        assert answer(nvml.nvmlVgpuInstanceGetUUID, number) is nvml.NVMLError_Uninitialized
        nvml.nvmlInit()
        assert answer(nvml.nvmlVgpuInstanceGetUUID, number) is MISSING
        number = active_one(nvml.nvmlDeviceGetHandleByIndex(0))
        nvml.mtmlDeviceReset(nvml.nvmlDeviceGetHandleByIndex(0))
        assert answer(nvml.nvmlVgpuInstanceGetUUID, number) is MISSING
        assert active_one(nvml.nvmlDeviceGetHandleByIndex(0)) > number


def test_a_virtual_device_on_its_host():
    with simulated.nvml("s3000-vgpu-host"):
        card = nvml.nvmlDeviceGetHandleByIndex(0)
        virtual = nvml.mtmlDeviceInitVirtDevice(card, nvml.nvmlVgpuInstanceGetUUID(active_one(card)))
        assert nvml.nvmlDeviceGetVirtualizationMode(virtual) == nvml.NVML_GPU_VIRTUALIZATION_MODE_VGPU
        assert nvml.nvmlDeviceGetMemoryInfo(virtual).total == 8 << 30
        assert nvml.nvmlDeviceGetUtilizationRates(virtual).gpu == 12
        for function in ("Name", "Index", "Serial", "PciInfo", "PowerUsage", "EncoderUtilization", "MinorNumber"):
            assert answer(getattr(nvml, "nvmlDeviceGet" + function), virtual) is UNSUPPORTED, function
        assert answer(nvml.nvmlDeviceGetActiveVgpus, virtual) is UNSUPPORTED


def active_one(card):
    return nvml.nvmlDeviceGetActiveVgpus(card)[0]


def test_a_guest():
    with simulated.nvml("s3000-vgpu-guest"):
        assert answers("nvmlDeviceGetName") == ["MTT S3000 MtvGPU-1101"]
        assert answers("nvmlDeviceGetVirtualizationMode") == [nvml.NVML_GPU_VIRTUALIZATION_MODE_VGPU]
        lacks = "PowerUsage VbiosVersion NumFans FanSpeed Serial EnforcedPowerLimit EncoderUtilization"
        lacks += " DecoderUtilization SupportedVgpus CreatableVgpus ActiveVgpus"
        for function in lacks.split():
            assert answers("nvmlDeviceGet" + function) == [UNSUPPORTED], function
        assert answers("nvmlDeviceGetTemperature", 0) == [UNSUPPORTED]
        assert answers("nvmlDeviceGetEncoderCapacity", 0) == [100]
        assert answers("nvmlDeviceGetCudaComputeCapability") == [(2, 1)]


@pytest.mark.parametrize("profile", ["s80", "s5000x8", "s3000-mpc"])
def test_cards_without_virtual_devices(profile):
    with simulated.nvml(profile):
        count = len(handles())
        for function in ("SupportedVgpus", "CreatableVgpus", "ActiveVgpus"):
            assert answers("nvmlDeviceGet" + function) == [UNSUPPORTED] * count
        assert answers("nvmlVgpuTypeGetMaxInstances", 1104) == [UNSUPPORTED] * count
        assert answer(nvml.nvmlVgpuTypeGetName, 1104) is INVALID


# ---- Containers, and machines without a device ----


def test_a_container():
    with simulated.nvml("s5000x8-container"):
        keys = [simulated.device_keys("s5000x8-container", card) for card in (2, 5)]
        assert answers("nvmlDeviceGetIndex") == [0, 1]
        assert answers("nvmlDeviceGetUUID") == [key["uuid"] for key in keys]
        assert answers("nvmlDeviceGetMinorNumber") == [2, 5]
        assert [info.bus for info in answers("nvmlDeviceGetPciInfo")] == [int(key["pci_bus"]) for key in keys]
        hidden = simulated.device_keys("s5000x8-container", 0)
        assert answer(nvml.nvmlDeviceGetHandleByUUID, hidden["uuid"]) is MISSING
        assert answer(nvml.nvmlDeviceGetHandleByPciBusId, hidden["pci_sbdf"]) is MISSING
        assert answer(nvml.nvmlDeviceGetHandleBySerial, hidden["serial_number"]) is MISSING
        assert answer(nvml.nvmlDeviceGetHandleByIndex, 2) is INVALID


def test_a_machine_without_devices():
    with simulated.nvml("empty"):
        assert nvml.nvmlDeviceGetCount() == 0
        assert nvml.nvmlSystemGetDriverVersion() == "3.3.5-server"
        assert answer(nvml.nvmlDeviceGetHandleByIndex, 0) is INVALID
        assert answer(nvml.nvmlDeviceGetHandleByUUID, "0") is MISSING
        assert answer(nvml.nvmlDeviceGetHandleBySerial, "0") is MISSING
        assert answer(nvml.nvmlDeviceGetHandleByPciBusId, "0000:00:00.0") is MISSING
        assert nvml.nvmlSystemGetTopologyGpuSet(0) == []
        assert answer(nvml.nvmlVgpuTypeGetName, 1101) is INVALID


# ---- Libraries that lack functions ----

ABSENT = {  # by arguments, what 2.2.0 brought, and what only later libraries have
    (): "FanSpeedRPM NumGpuCores EccMode CurrentEccMode PendingEccMode RetiredPagesPendingStatus EnforcedPowerLimit "
    "PowerManagementDefaultLimit MarginTemperature PerformanceState PowerState PcieReplayCounter",
    (0,): "RetiredPages TemperatureThreshold",
    (1,): "CpuAffinity RetiredPages_v2 TemperatureThreshold",
    (1, 0): "MemoryAffinity",
    (0, 0): "TotalEccErrors",
    (0, 0, 2): "MemoryErrorCounter",
}


def test_what_an_old_library_lacks_is_not_supported(monkeypatch):
    """What libraries before 2.2.0 lack; test_loader.py loads one."""
    for name in simulated.missing_functions("old-library"):
        monkeypatch.delitem(nvml._functions, name)
    with simulated.nvml("old-library"):
        old = nvml.nvmlDeviceGetHandleByIndex(0)
        for arguments, names in ABSENT.items():
            for name in names.split():
                assert answer(getattr(nvml, "nvmlDeviceGet" + name), old, *arguments) is UNSUPPORTED, name
        for function, argument in ((nvml.nvmlDeviceSetEccMode, 1), (nvml.nvmlDeviceClearEccErrorCounts, 0)):
            assert answer(function, old, argument) is UNSUPPORTED
        assert (nvml.nvmlDeviceGetName(old), nvml.nvmlDeviceGetTemperature(old, 0)) == ("MTT S3000", 51)
        assert (nvml.nvmlDeviceGetCudaComputeCapability(old), nvml.nvmlDeviceGetPcieSpeed(old)) == ((2, 1), 16000)


def test_handles_stay_with_their_cards_where_indices_move():
    """A card that goes within a life: an index is of MTML's list of the moment, a handle answers for its card."""
    uuids = [simulated.device_keys("s5000x8", index)["uuid"] for index in range(8)]
    with simulated.nvml("s5000x8"):
        third = nvml.nvmlDeviceGetHandleByIndex(3)
        assert nvml.nvmlDeviceGetIndex(third) == 3
        simulated.set_value(1, "visible", "no")
        assert nvml.nvmlDeviceGetCount() == 7
        assert nvml.nvmlDeviceGetUUID(third) == uuids[3] and nvml.nvmlDeviceGetTemperature(third, 0) == 35
        assert nvml.nvmlDeviceGetIndex(third) == 3
        assert nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByIndex(3)) == uuids[4]
        assert nvml.nvmlDeviceGetHandleByUUID(uuids[3]) == third
        nvml.nvmlShutdown()
        nvml.nvmlInit()
        assert nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleByUUID(uuids[3])) == 2
