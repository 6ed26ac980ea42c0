"""Answers that rest on sysfs, on structs that the caller hands in, or on the instances of a divided card."""

import ctypes
import inspect

import pytest
import simulated

import pymtml as nvml


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A sys file system of the test's own: tree(path, content) writes a file of it."""
    monkeypatch.setenv("PYMTML_SYS_ROOT", str(tmp_path))

    def write(path, content):
        file = tmp_path.joinpath(*path.split("/"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    return write


PCI = "bus/pci/devices/0000:2a:00.0/"


def unsupported(function, *arguments):
    pytest.raises(nvml.NVMLError_NotSupported, function, *arguments)


# ---- The PCI device's folder ----


@pytest.mark.parametrize("text, answer", [("41\n", 41), ("1\n", 1), ("0\n", None), ("", None), ("none\n", None)])
def test_interrupt_number(tree, device, text, answer):
    tree(PCI + "class", "0x030000")
    unsupported(nvml.nvmlDeviceGetIrqNum, device)
    tree(PCI + "irq", text)
    if answer is None:
        unsupported(nvml.nvmlDeviceGetIrqNum, device)
    else:
        assert nvml.nvmlDeviceGetIrqNum(device) == answer


@pytest.mark.parametrize("text, base, sub", [("0x030000\n", 3, 0), ("0x120000\n", 0x12, 0), ("0x030200\n", 3, 2)])
def test_class_codes(tree, device, text, base, sub):
    tree(PCI + "class", text)
    simulated.set_value(0, "pci_subsystem_id", 0x0A3C1ED5)
    info = nvml.nvmlPciInfoExt_v1_t(version=nvml.nvmlPciInfoExt_v1)
    for given in (ctypes.byref(info), ctypes.pointer(info), info):
        ctypes.memset(ctypes.addressof(info) + 4, 0xFF, ctypes.sizeof(info) - 4)
        assert nvml.nvmlDeviceGetPciInfoExt(device, given) is None
        keys = simulated.device_keys("s5000x8", 0)
        assert (info.domain, info.bus, info.device, info.busId) == (0, 0x2A, 0, "00000000:2A:00.0")
        assert (info.pciDeviceId, info.pciSubSystemId) == (int(keys.get("pci_device_id"), 0), 0x0A3C1ED5)
        assert (info.baseClass, info.subClass, info.version) == (base, sub, nvml.nvmlPciInfoExt_v1)


def test_class_codes_need_version_struct_and_sysfs(tree, device):
    with pytest.raises(nvml.NVMLError_ArgumentVersionMismatch):
        nvml.nvmlDeviceGetPciInfoExt(device, nvml.nvmlPciInfoExt_v1_t())
    for given in (None, 7, ctypes.c_uint()):
        with pytest.raises((nvml.NVMLError_InvalidArgument, nvml.NVMLError_ArgumentVersionMismatch)):
            nvml.nvmlDeviceGetPciInfoExt(device, given)
    unsupported(nvml.nvmlDeviceGetPciInfoExt, device, nvml.nvmlPciInfoExt_v1_t(version=nvml.nvmlPciInfoExt_v1))


# ---- Displays ----


@pytest.mark.parametrize(
    "connectors, mode, active",
    [
        ({"card0-HDMI-A-1": ("connected", "enabled"), "card0-DP-1": ("disconnected", "disabled")}, 1, 1),
        ({"card0-HDMI-A-1": ("disconnected", "disabled"), "card0-DP-1": ("connected", "enabled")}, 1, 1),
        ({"card0-HDMI-A-1": ("connected", "disabled")}, 1, 0),
        ({"card0-DP-1": ("disconnected", "disabled"), "card0-DP-2": ("unknown", "disabled")}, 0, 0),
    ],
)
def test_displays_by_their_connectors(tree, connectors, mode, active):
    for connector, (status, enabled) in connectors.items():
        tree("class/drm/card0/%s/status" % connector, status + "\n")
        tree("class/drm/card0/%s/enabled" % connector, enabled + "\n")
    tree("class/drm/card0/dev", "226:0\n")
    tree("class/drm/card0/card1-DP-1/status", "connected\n")
    with simulated.nvml("s80"):
        handle = nvml.nvmlDeviceGetHandleByIndex(0)
        assert (nvml.nvmlDeviceGetDisplayMode(handle), nvml.nvmlDeviceGetDisplayActive(handle)) == (mode, active)


def test_displays_of_a_card_whose_connectors_are_not_shown(tree):
    with simulated.nvml("s80"):
        handle = nvml.nvmlDeviceGetHandleByIndex(0)
        for _ in range(2):
            unsupported(nvml.nvmlDeviceGetDisplayMode, handle)
            unsupported(nvml.nvmlDeviceGetDisplayActive, handle)
            tree("class/drm/card0/dev", "226:0\n")


def test_a_card_without_outputs_shows_nothing(tree, device):
    assert nvml.nvmlDeviceGetDisplayMode(device) == nvml.NVML_FEATURE_DISABLED
    assert nvml.nvmlDeviceGetDisplayActive(device) == nvml.NVML_FEATURE_DISABLED


# ---- Structs that the caller may hand in ----


def test_utilization_by_domain(device):
    simulated.set_value(0, "gpu_utilization", 71)
    simulated.set_value(0, "memory_utilization", 34)
    simulated.set_value(0, "vpu_utilization", 12)
    ours = nvml.nvmlDeviceGetDynamicPstatesInfo(device)
    given = nvml.c_nvmlGpuDynamicPstatesInfo_t()
    assert nvml.nvmlDeviceGetDynamicPstatesInfo(device, given) is given
    by_reference = nvml.c_nvmlGpuDynamicPstatesInfo_t()
    assert nvml.nvmlDeviceGetDynamicPstatesInfo(device, ctypes.byref(by_reference)) == nvml.NVML_SUCCESS
    for info in (ours, given, by_reference):
        shares = [(domain.bIsPresent, domain.percentage) for domain in info.utilization]
        assert shares == [(1, 71), (1, 34), (1, 12)] + [(0, 0)] * 5
    assert nvml.nvmlDeviceGetDynamicPstatesInfo(device) is not ours
    pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetDynamicPstatesInfo, device, nvml.c_nvmlMemory_t())


def test_the_sensor_of_the_gpu(device):
    simulated.set_value(0, "gpu_temperature", -7)
    given = nvml.c_nvmlGpuThermalSettings_t()
    for index in (0, nvml.NVML_THERMAL_TARGET_ALL):
        for sensors in (
            nvml.nvmlDeviceGetThermalSettings(device, index),
            nvml.nvmlDeviceGetThermalSettings(device, index, given),
        ):
            first = sensors[0]
            assert len(sensors) == 3
            assert (first.currentTemp, first.target, first.controller) == (-7, 1, 1)
            limit = nvml.nvmlDeviceGetTemperatureThreshold(device, nvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN)
            assert (first.defaultMinTemp, first.defaultMaxTemp) == (0, limit)
    assert given.count == 1
    assert nvml.nvmlDeviceGetThermalSettings(device, 0, ctypes.byref(given)) == nvml.NVML_SUCCESS
    for index in (1, 2, 14, 16, -1, 1 << 40):
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetThermalSettings, device, index)


def test_there_are_no_units_and_no_host_interface_cards():
    for function in (nvml.nvmlUnitGetCount, nvml.nvmlSystemGetHicVersion):
        pytest.raises(nvml.NVMLError_Uninitialized, function)
        with simulated.nvml("s80"):
            assert function() in (0, [])


# ---- Instances of a divided card, by NVML's GPU instance queries ----


@pytest.fixture
def divided():
    with simulated.nvml("s3000-mpc"):
        yield nvml.nvmlDeviceGetHandleByIndex(0)


def test_the_number_of_a_virtual_type_is_what_its_id_ends_with(tmp_path):
    with simulated.nvml(simulated.rewritten("s3000-vgpu-host", "mtgpu-1104", "mtgpu-x1104", tmp_path)):
        assert nvml.nvmlVgpuTypeGetName(1104) == "MT vGPU S3000-1104"


def test_profiles_by_slices(divided):
    found = {}
    for profile in range(nvml.NVML_GPU_INSTANCE_PROFILE_COUNT):
        try:
            info = nvml.nvmlDeviceGetGpuInstanceProfileInfo(divided, profile)
        except nvml.NVMLError_NotSupported:
            continue
        found[profile] = (info.id, info.name, info.sliceCount, info.memorySizeMB, info.instanceCount)
        assert info.multiprocessorCount == info.sliceCount
        assert nvml.nvmlDeviceGetGpuInstanceProfileInfoV(divided, profile).name == info.name
        assert type(info) is nvml.c_nvmlGpuInstanceProfileInfo_v2_t
        older = nvml.nvmlDeviceGetGpuInstanceProfileInfo(divided, profile, 1)
        assert type(older) is nvml.c_nvmlGpuInstanceProfileInfo_t and not hasattr(older, "name")
        assert (older.id, older.memorySizeMB, older.instanceCount) == (info.id, info.memorySizeMB, info.instanceCount)
        for by_id in (nvml.nvmlDeviceGetGpuInstanceProfileInfoById, nvml.nvmlDeviceGetGpuInstanceProfileInfoByIdV):
            assert bytes(by_id(divided, info.id)) == bytes(info)
    assert found == {
        nvml.NVML_GPU_INSTANCE_PROFILE_8_SLICE: (0, "8c+32gb", 8, 32768, 1),
        nvml.NVML_GPU_INSTANCE_PROFILE_4_SLICE: (1, "4c+16gb", 4, 16384, 2),
        nvml.NVML_GPU_INSTANCE_PROFILE_2_SLICE: (2, "2c+8gb", 2, 8192, 4),
        nvml.NVML_GPU_INSTANCE_PROFILE_1_SLICE: (3, "1c+4gb", 1, 4096, 8),
    }


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 7, 8])
def test_a_profile_of_each_number_of_slices(tmp_path, count):
    """The profile's cards have none with 3, 6 or 7 cores, and others may."""
    numbers = "name = 8c+32gb\ncores = 8\n", "name = as many\ncores = %d\n" % count
    with simulated.nvml(simulated.rewritten("s3000x2", *numbers, tmp_path), set="0.mpc_mode=ENABLE"):
        profile = getattr(nvml, "NVML_GPU_INSTANCE_PROFILE_%d_SLICE" % count)
        info = nvml.nvmlDeviceGetGpuInstanceProfileInfo(nvml.nvmlDeviceGetHandleByIndex(0), profile)
        assert (info.sliceCount, info.multiprocessorCount, info.name) == (count, count, "as many")


def test_profiles_that_no_configuration_has(divided):
    nvml.nvmlShutdown()
    simulated.set_value(0, "mpc_configurations", "")
    nvml.nvmlInit()
    assert nvml.nvmlDeviceGetGpuInstanceProfileInfoById(nvml.nvmlDeviceGetHandleByIndex(0), 2).instanceCount == 0


def test_profiles_that_are_none(divided):
    for profile in (nvml.NVML_GPU_INSTANCE_PROFILE_COUNT, -1, 1 << 40):
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetGpuInstanceProfileInfo, divided, profile)
    pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetGpuInstanceProfileInfoById, divided, 77)
    pytest.raises(nvml.NVMLError_FunctionNotFound, nvml.nvmlDeviceGetGpuInstanceProfileInfo, divided, 0, 3)


def test_instances_of_a_profile(divided):
    array, count = (nvml.c_nvmlGpuInstance_t * 4)(), ctypes.c_uint()
    assert nvml.nvmlDeviceGetGpuInstances(divided, 2, array, ctypes.byref(count)) == nvml.NVML_SUCCESS
    assert count.value == 2
    seen = [nvml.nvmlGpuInstanceGetInfo(array[position]) for position in range(2)]
    assert [(info.id, info.profileId, info.placement.size) for info in seen] == [(1, 2, 2), (2, 2, 2)]
    for info in seen:
        assert nvml.nvmlDeviceGetUUID(info.device) == nvml.nvmlDeviceGetUUID(divided)
        by_id = nvml.nvmlDeviceGetGpuInstanceById(divided, info.id)
        assert nvml.nvmlGpuInstanceGetInfo(by_id).profileId == 2
    assert nvml.nvmlDeviceGetGpuInstances(divided, 1, array, count) == nvml.NVML_SUCCESS and count.value == 1
    half = nvml.nvmlGpuInstanceGetInfo(array[0])
    assert (half.id, half.profileId, half.placement.size) == (0, 1, 4)
    assert nvml.nvmlDeviceGetGpuInstances(divided, 3, array, count) == nvml.NVML_SUCCESS and count.value == 0
    with pytest.raises(nvml.NVMLError_InsufficientSize):
        nvml.nvmlDeviceGetGpuInstances(divided, 2, (nvml.c_nvmlGpuInstance_t * 1)(), count)
    assert count.value == 2
    fitting = (nvml.c_nvmlGpuInstance_t * 2)()
    assert nvml.nvmlDeviceGetGpuInstances(divided, 2, fitting, count) == nvml.NVML_SUCCESS
    assert [nvml.nvmlGpuInstanceGetInfo(instance).id for instance in fitting] == [1, 2]
    for bad in (None, 7, (ctypes.c_uint * 4)(), ctypes.byref(ctypes.c_uint())):
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetGpuInstances, divided, 2, bad, count)
    for bad in (None, 7, (ctypes.c_uint * 4)(), ctypes.c_float()):
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetGpuInstances, divided, 2, array, bad)
    pytest.raises(nvml.NVMLError_NotFound, nvml.nvmlDeviceGetGpuInstanceById, divided, 3)


def test_what_is_no_instance(divided):
    instance = nvml.nvmlDeviceGetGpuInstanceById(divided, 0)
    card = ctypes.cast(divided, nvml.c_nvmlGpuInstance_t)
    device = nvml.nvmlDeviceGetMigDeviceHandleByIndex(divided, 0)
    other_types = device, ctypes.cast(device, ctypes.c_void_p), ctypes.cast(device, ctypes.c_void_p).value
    other_types += "x", object(), ctypes.c_void_p(4096)
    for bad in (None, 0, 4096, divided, card, nvml.c_nvmlGpuInstance_t()) + other_types:
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlGpuInstanceGetInfo, bad)
    nvml.nvmlShutdown()
    for handle in (instance, card, None):
        pytest.raises(nvml.NVMLError_Uninitialized, nvml.nvmlGpuInstanceGetInfo, handle)
    nvml.nvmlInit()
    pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlGpuInstanceGetInfo, instance)


def test_cards_without_mpc_have_no_instances():
    """That they have none is told by their property, which is read once: nothing else of MPC is asked of them."""
    with simulated.nvml("s3000-vgpu-guest"):
        card = nvml.nvmlDeviceGetHandleByIndex(0)
        array, count = (nvml.c_nvmlGpuInstance_t * 4)(), ctypes.c_uint()
        simulated.reset_calls()
        for function, arguments in (
            (nvml.nvmlDeviceGetGpuInstanceProfileInfo, (0,)),
            (nvml.nvmlDeviceGetGpuInstanceProfileInfoById, (0,)),
            (nvml.nvmlDeviceGetGpuInstances, (0, array, count)),
            (nvml.nvmlDeviceGetMigMode, ()),
        ):
            unsupported(function, card, *arguments)
            assert simulated.calls() == simulated.calls("mtmlDeviceGetProperty") == 1, function
        unsupported(nvml.nvmlDeviceGetGpuInstanceById, card, 0)  # divided or not: that is asked
        assert simulated.calls() == simulated.calls("mtmlDeviceGetProperty") == 2


# ---- NVLink fields ----


def test_fields_of_a_link(device):
    keys = simulated.device_keys("s5000x8", 0)
    speed = int(keys["mtlink_bandwidth"]) * 1000
    simulated.set_value(0, "mtlink_state.3", "DOWN")
    fields = [nvml.NVML_FI_DEV_NVLINK_GET_SPEED, nvml.NVML_FI_DEV_NVLINK_GET_STATE]
    fields += [nvml.NVML_FI_DEV_NVLINK_GET_VERSION, nvml.NVML_FI_DEV_NVLINK_LINK_COUNT]
    for link in (0, 3, 13):
        values = nvml.nvmlDeviceGetFieldValues(device, [(field, link) for field in fields])
        version = nvml.nvmlDeviceGetNvLinkVersion(device, link)
        assert [value.nvmlReturn for value in values] == [0] * 4
        assert [value.value.uiVal for value in values] == [speed, int(link != 3), version, 14]
        assert {value.valueType for value in values} == {nvml.NVML_VALUE_TYPE_UNSIGNED_INT}
    for link in (14, 99, 0xFFFFFFFF):
        values = nvml.nvmlDeviceGetFieldValues(device, [(field, link) for field in fields])
        assert [value.nvmlReturn for value in values] == [3, 3, 3, 0]


@pytest.mark.parametrize("count", [None, 0, 1, 6, 7, 11, 14])
def test_speeds_by_the_number_of_the_link(count):
    """Those that the card has; of the last one, which has no number, where it has any."""
    names = ["NVML_FI_DEV_NVLINK_SPEED_MBPS_L%d" % link for link in range(12)]
    fields = [getattr(nvml, name) for name in names + ["NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON"]]
    with simulated.nvml("s80" if count is None else "s5000x8"):
        if count is not None:
            simulated.set_value(0, "mtlink_count", count)
        values = nvml.nvmlDeviceGetFieldValues(nvml.nvmlDeviceGetHandleByIndex(0), fields)
    count, speed = count or 0, int(simulated.device_keys("s5000x8", 0)["mtlink_bandwidth"]) * 1000
    expected = [(0, speed) if link < count else (nvml.NVML_ERROR_NOT_SUPPORTED, 0) for link in [*range(12), 0]]
    assert [(value.nvmlReturn, value.value.uiVal) for value in values] == expected
    assert {value.valueType for value in values} == {nvml.NVML_VALUE_TYPE_UNSIGNED_INT}


# ---- MUSA_VISIBLE_DEVICES ----

UUIDS = [simulated.device_keys("s5000x8", card)["uuid"] for card in range(8)]


@pytest.mark.parametrize(
    "chosen, expected",
    [
        (None, [0, 1, 2, 3, 4, 5, 6, 7]),
        ("", []),
        ("all", [0, 1, 2, 3, 4, 5, 6, 7]),
        (" All ", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("2,all", [2]),
        ("NoDevFiles", []),
        ("none", []),
        ("3", [3]),
        ("7, 0 ,2", [7, 0, 2]),
        (UUIDS[5], [5]),
        ("GPU-" + UUIDS[5] + "," + UUIDS[1], [5, 1]),
        ("1," + UUIDS[6] + ",0", [1, 6, 0]),
        ("2,8,3", [2]),
        ("2,-1,3", [2]),
        ("2,nothing,3", [2]),
        ("2,,3", [2]),
        ("2,3,2,4", [2, 3]),
        ("2," + UUIDS[2] + ",4", [2]),
        ("99999999999999999999", []),
        ("\u0662", [2]),
    ],
)
def test_the_order_of_the_musa_runtime(monkeypatch, device, chosen, expected):
    if chosen is None:
        monkeypatch.delenv("MUSA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("MUSA_VISIBLE_DEVICES", chosen)
    assert [nvml.nvmlDeviceGetIndex(visible) for visible in nvml.musa_visible_devices()] == expected
    assert nvml.nvmlDeviceGetCount() == 8 and nvml.nvmlDeviceGetIndex(device) == 0


def test_visible_devices_of_a_divided_card(monkeypatch):
    """Indices number whole cards, where MTML counts the instances of the first one in between."""
    with simulated.nvml("s3000-mpc"):
        parent, other = [nvml.nvmlDeviceGetHandleByIndex(index) for index in (0, 1)]
        instance = nvml.nvmlDeviceGetMigDeviceHandleByIndex(parent, 1)
        monkeypatch.setenv("MUSA_VISIBLE_DEVICES", "1,%s,0" % nvml.nvmlDeviceGetUUID(instance))
        assert nvml.musa_visible_ids() == [1, (0, 1), 0]
        assert nvml.musa_visible_devices() == [other, instance, parent]
        for chosen, expected in (("all", [parent, other]), ("0,4", [parent])):
            monkeypatch.setenv("MUSA_VISIBLE_DEVICES", chosen)
            assert nvml.musa_visible_devices() == expected
        nvml.nvmlDeviceGetCount()  # looks which devices are instances
        assert nvml.musa_visible_ids() == [0]


def opened(chosen, monkeypatch):
    """(what it selects, native calls by which devices were opened, other native calls)."""
    monkeypatch.setenv("MUSA_VISIBLE_DEVICES", chosen)
    simulated.reset_calls()
    selected = nvml.musa_visible_ids()
    opening = sum(simulated.calls("mtmlLibraryInitDeviceBy" + key) for key in ("Index", "Uuid", "PciSbdf"))
    return selected, opening, simulated.calls() - opening


def test_indices_open_no_card(monkeypatch):
    """One native call, the count; a UUID opens its device, those that stand before it, and once all."""
    with simulated.nvml("s5000x8"):
        assert opened("all", monkeypatch) == ([0, 1, 2, 3, 4, 5, 6, 7], 0, 1)
        assert opened("7,2,8", monkeypatch) == ([7, 2], 0, 1)
        assert opened("NoDevFiles", monkeypatch) == ([], 0, 1)
        assert opened(UUIDS[5], monkeypatch)[:2] == ([5], 14)
        assert opened("1," + UUIDS[4], monkeypatch)[:2] == ([1, 4], 1)
    with simulated.nvml("s3000-mpc"):
        assert opened("1,0", monkeypatch) == ([1, 0], 0, 1)


@pytest.mark.parametrize("code", ["DRIVER_FAILURE", "NOT_FOUND"])
def test_visible_ids_beside_a_divided_card(monkeypatch, code):
    """A lost card is passed over; only an entry that it may have gets its error."""
    uuids = {key: section.get("uuid") for key, section in simulated.profile("s3000-mpc").items()}
    instance, other = uuids["device.0.instance.1"], uuids["device.1"]
    with simulated.nvml("s3000-mpc"):
        simulated.set_value(1, "lost", code)
        assert opened("1,%s,0" % instance, monkeypatch)[0] == [1, (0, 1), 0]
        monkeypatch.setenv("MUSA_VISIBLE_DEVICES", "0," + other)
        error = pytest.raises(nvml.NVMLError, nvml.musa_visible_ids).value
        assert error.mtml_code == getattr(nvml, "MTML_ERROR_" + code)
    with simulated.nvml("s3000-mpc"):
        simulated.set_value(0, "lost", code)
        assert opened("0,1", monkeypatch) == ([0, 1], 0, 1)
        (number,), _, _ = opened(other, monkeypatch)
        assert nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByIndex(number)) == other


@pytest.mark.parametrize(
    "code, error",
    [
        ("DRIVER_FAILURE", nvml.NVMLError_Unknown),
        ("NOT_FOUND", nvml.NVMLError_NotFound),
        ("INVALID_ARGUMENT", nvml.NVMLError_InvalidArgument),
    ],
)
def test_visible_ids_beside_a_lost_card(monkeypatch, code, error):
    """A lost card keeps its number, and hides no other one; who asks for it gets its error."""
    with simulated.nvml("s5000x8"):
        simulated.set_value(1, "lost", code)
        ids = {None: list(range(8)), "": [], "NoDevFiles": [], "0,2": [0, 2], "2,1": [2, 1], "4," + UUIDS[3]: [4, 3]}
        for chosen, expected in ids.items():
            monkeypatch.setenv("MUSA_VISIBLE_DEVICES", "all" if chosen is None else chosen)
            assert nvml.musa_visible_ids() == expected
            if 1 in expected:
                with pytest.raises(error):
                    nvml.musa_visible_devices()
            else:
                assert [nvml.nvmlDeviceGetIndex(visible) for visible in nvml.musa_visible_devices()] == expected
        monkeypatch.setenv("MUSA_VISIBLE_DEVICES", "0," + UUIDS[1])
        for function in (nvml.musa_visible_ids, nvml.musa_visible_devices):
            with pytest.raises(error):  # not NotFound, where no other card has this UUID
                function()
        assert nvml.nvmlDeviceGetHandleByIndex(2) is nvml.nvmlDeviceGetHandleByUUID(UUIDS[2])
        with pytest.raises(error):
            nvml.nvmlDeviceGetHandleByIndex(1)
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            nvml.nvmlDeviceGetHandleByIndex(8)


def test_visible_devices_need_the_library():
    for function in (nvml.musa_visible_ids, nvml.musa_visible_devices):
        pytest.raises(nvml.NVMLError_Uninitialized, function)


# ---- What programs of other MTML bindings look for ----


def test_the_pci_object_has_the_names_of_mtml(device):
    info = nvml.nvmlDeviceGetPciInfo(device)
    for key, number in (("pci_cur_gen", 3), ("pci_cur_width", 4), ("pci_cur_speed", 8)):  # info asks C again
        simulated.set_value(0, key, number)
    native = nvml.mtmlDeviceGetPciInfo(device)
    names = ["busWidth", "pciMaxSpeed", "pciCurSpeed", "pciMaxWidth", "pciCurWidth", "pciMaxGen", "pciCurGen"]
    for name in ["sbdf", "segment", "pciSubsystemId"] + names:
        assert getattr(info, name) == getattr(native, name), name
    for name in ["sbdf"] + names:
        pytest.raises(AttributeError, setattr, info, name, 1)
    assert nvml.mtmlLibraryInitDeviceByPciSbdf(info.sbdf) is device
    assert all(inspect.getdoc(vars(nvml.nvmlPciInfo_t)[name]) for name in names)


def test_names_of_what_is_returned(device):
    assert isinstance(nvml.nvmlDeviceGetMemoryInfo(device), nvml.NVMLMemoryInfo)
    assert isinstance(nvml.nvmlDeviceGetUtilizationRates(device), nvml.NVMLUtilization)
    assert nvml.mtmlStructToFriendlyObject(nvml.nvmlDeviceGetMemoryInfo(device)).total > 0
    assert nvml.mtmlLib is nvml.nvmlLib
    assert nvml.libLifecycleLock is nvml.libLoadLock
    assert nvml.c_mtmlFieldValue_t._type_ is nvml.struct_c_mtmlFieldValue_t
    assert nvml.libHandle == nvml.mtmlLibraryInit()
    nvml.mtmlLibraryShutDown()
    assert (nvml.c_mtmlVirtType_t().deviceClass, nvml.c_mtmlVirtType_t().gpuCores) == ("", 0)


@pytest.mark.parametrize("spelling", ["00000000:2a:00.0", "0000:2a:00.0", "00000000:2A:00.0", b"0000:2A:00.0"])
@pytest.mark.parametrize("domain", ["00000000", "0000"])
def test_addresses_of_any_spelling_also_where_the_library_is_strict(device, spelling, domain):
    simulated.set_value(0, "pci_sbdf", domain + ":2a:00.0")
    assert nvml.mtmlLibraryInitDeviceByPciSbdf(spelling) is device
    assert nvml.nvmlDeviceGetHandleByPciBusId(spelling) is device


@pytest.mark.parametrize("code", ["NOT_FOUND", "INVALID_ARGUMENT"])
def test_address_is_spelled_anew_whichever_way_it_is_refused(device, code):
    for times in (1, 2):
        simulated.set_faults("mtmlLibraryInitDeviceByPciSbdf=%s@0x%d" % (code, times))
        assert nvml.mtmlLibraryInitDeviceByPciSbdf("00000000:2a:00.0") is device
    simulated.set_faults("mtmlLibraryInitDeviceByPciSbdf=TIMEOUT@0x1")
    pytest.raises(nvml.NVMLError_Timeout, nvml.mtmlLibraryInitDeviceByPciSbdf, "00000000:2a:00.0")
