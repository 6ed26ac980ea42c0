"""nvmlDeviceGetFieldValues: every field that has an answer follows the hardware, every other has its own code."""

import time

import pytest
import simulated

import pymtml as nvml

UNSIGNED_INT, UNSIGNED_LONG_LONG, SIGNED_INT = (
    nvml.NVML_VALUE_TYPE_UNSIGNED_INT,
    nvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
    nvml.NVML_VALUE_TYPE_SIGNED_INT,
)
MEMBERS = {UNSIGNED_INT: "uiVal", UNSIGNED_LONG_LONG: "ullVal", SIGNED_INT: "siVal"}
BIG = (0, 1 << 40, (1 << 64) - 2)
SMALL = (0, 7, 0xFFFFFFFE)

# Field, scope, key of the device, pairs of simulated value and answer, value type.
FIELDS = [
    (nvml.NVML_FI_DEV_ECC_CURRENT, 0, "ecc_mode", [("ENABLE", 1), ("DISABLE", 0)], UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_ECC_PENDING, 0, "ecc_pending_mode", [("DISABLE", 0), ("ENABLE", 1)], UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_ECC_SBE_VOL_TOTAL, 0, "ecc_corrected_volatile", BIG, UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_ECC_DBE_VOL_TOTAL, 0, "ecc_uncorrected_volatile", BIG, UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_ECC_SBE_AGG_TOTAL, 0, "ecc_corrected_aggregate", BIG, UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_ECC_DBE_AGG_TOTAL, 0, "ecc_uncorrected_aggregate", BIG, UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_ECC_SBE_VOL_DEV, 0, "ecc_corrected_volatile", BIG, UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_ECC_DBE_VOL_DEV, 0, "ecc_uncorrected_volatile", BIG, UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_ECC_SBE_AGG_DEV, 0, "ecc_corrected_aggregate", BIG, UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_ECC_DBE_AGG_DEV, 0, "ecc_uncorrected_aggregate", BIG, UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_RETIRED_SBE, 0, "retired_pages_sbe", [("", 0), ("1@1, 2@2, 3@3", 3)], UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_RETIRED_DBE, 0, "retired_pages_dbe", [("", 0), ("1@1, 2@2", 2)], UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_RETIRED_PENDING, 0, "retired_pages_pending", [("yes", 1), ("no", 0)], UNSIGNED_LONG_LONG),
    (nvml.NVML_FI_DEV_MEMORY_TEMP, 0, "memory_temperature", (0, 71), UNSIGNED_INT),
    (nvml.NVML_FI_DEV_MEMORY_TEMP, 0, "memory_temperature", (-1, -40), SIGNED_INT),
    (nvml.NVML_FI_DEV_NVLINK_LINK_COUNT, 0, "mtlink_count", (0, 14, 36), UNSIGNED_INT),
    (nvml.NVML_FI_DEV_PCIE_REPLAY_COUNTER, 0, "pcie_replay_counter", SMALL, UNSIGNED_INT),
    (nvml.NVML_FI_DEV_POWER_INSTANT, nvml.NVML_POWER_SCOPE_GPU, "power_usage", SMALL, UNSIGNED_INT),
    (nvml.NVML_FI_DEV_POWER_CURRENT_LIMIT, 0, "enforced_power_limit", (1, 950000), UNSIGNED_INT),
    (nvml.NVML_FI_DEV_POWER_DEFAULT_LIMIT, 0, "default_power_limit", (1, 700000), UNSIGNED_INT),
]
ANSWERED = {field for field, _, _, _, _ in FIELDS}
# Tested in test_system_answers.py.
LINK_FIELDS = {getattr(nvml, "NVML_FI_DEV_NVLINK_SPEED_MBPS_L%d" % link) for link in range(12)} | {
    nvml.NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON,
    nvml.NVML_FI_DEV_NVLINK_GET_SPEED,
    nvml.NVML_FI_DEV_NVLINK_GET_STATE,
    nvml.NVML_FI_DEV_NVLINK_GET_VERSION,
}


def one(device, field):
    (value,) = nvml.nvmlDeviceGetFieldValues(device, [field])
    return value


@pytest.mark.parametrize("field, scope, key, pairs, kind", FIELDS)
def test_field_follows_the_hardware(device, field, scope, key, pairs, kind):
    for setting, answer in (pair if isinstance(pair, tuple) else (pair, pair) for pair in pairs):
        simulated.set_value(0, key, setting)
        for given in (field, (field, scope), [field, scope]) if not scope else ((field, scope),):
            value = one(device, given)
            got = (value.fieldId, value.scopeId, value.nvmlReturn, value.valueType)
            assert got == (field, scope, nvml.NVML_SUCCESS, kind), (given, setting)
            assert getattr(value.value, MEMBERS[kind]) == answer, (given, setting)


def test_readers_of_another_width_see_the_same_number(device):
    """Programs read iVal and llVal too, and the wide members where a narrow one was filled in."""
    simulated.set_value(0, "ecc_corrected_volatile", 5 << 32)
    assert one(device, nvml.NVML_FI_DEV_ECC_SBE_VOL_TOTAL).value.llVal == 5 << 32
    simulated.set_value(0, "memory_temperature", 66)
    value = one(device, nvml.NVML_FI_DEV_MEMORY_TEMP).value
    assert (value.uiVal, value.siVal, value.iVal, value.ullVal, value.llVal, value.sllVal) == (66,) * 6
    simulated.set_value(0, "memory_temperature", -5)
    value = one(device, nvml.NVML_FI_DEV_MEMORY_TEMP).value
    assert (value.siVal, value.iVal) == (-5, -5)


def test_every_field_has_its_own_code(device):
    fields = list(range(1, nvml.NVML_FI_MAX))
    values = nvml.nvmlDeviceGetFieldValues(device, fields)
    assert [value.fieldId for value in values] == fields
    answered = {value.fieldId for value in values if value.nvmlReturn == nvml.NVML_SUCCESS}
    assert answered == ANSWERED | LINK_FIELDS
    assert {value.nvmlReturn for value in values} == {nvml.NVML_SUCCESS, nvml.NVML_ERROR_NOT_SUPPORTED}


@pytest.mark.parametrize("field", [0, nvml.NVML_FI_MAX, nvml.NVML_FI_MAX + 1, 100000, 0xFFFFFFFF, -1])
def test_unknown_field(device, field):
    values = nvml.nvmlDeviceGetFieldValues(device, [nvml.NVML_FI_DEV_MEMORY_TEMP, field])
    assert [value.nvmlReturn for value in values] == [nvml.NVML_SUCCESS, nvml.NVML_ERROR_INVALID_ARGUMENT]


@pytest.mark.parametrize(
    "scope, code",
    [(nvml.NVML_POWER_SCOPE_GPU, 0), (nvml.NVML_POWER_SCOPE_MODULE, 3), (nvml.NVML_POWER_SCOPE_MEMORY, 3), (7, 2)],
)
def test_power_has_the_scope_of_the_gpu_only(device, scope, code):
    value = one(device, (nvml.NVML_FI_DEV_POWER_INSTANT, scope))
    assert (value.nvmlReturn, value.valueType == UNSIGNED_INT) == (code, scope <= nvml.NVML_POWER_SCOPE_MEMORY)


FAULTS = [
    ("NOT_SUPPORTED", nvml.NVML_ERROR_NOT_SUPPORTED),
    ("NO_PERMISSION", nvml.NVML_ERROR_NO_PERMISSION),
    ("TIMEOUT", nvml.NVML_ERROR_TIMEOUT),
    ("DRIVER_FAILURE", nvml.NVML_ERROR_UNKNOWN),
]


@pytest.mark.parametrize("fault, code", FAULTS)
def test_the_type_is_told_of_a_field_that_fails(device, fault, code):
    simulated.set_faults("*=" + fault)
    types = {field: kind for field, _, _, _, kind in FIELDS}
    types.update(dict.fromkeys(LINK_FIELDS, UNSIGNED_INT))
    types[nvml.NVML_FI_DEV_MEMORY_TEMP] = UNSIGNED_INT
    values = nvml.nvmlDeviceGetFieldValues(device, sorted(types))
    simulated.set_faults("")
    assert {value.fieldId: value.valueType for value in values} == types
    assert {value.nvmlReturn for value in values} == {code}


def test_times_are_microseconds(device):
    before = time.time() * 1000000
    values = nvml.nvmlDeviceGetFieldValues(device, sorted(ANSWERED) + [2, 1])
    after = time.time() * 1000000
    stamps = [value.timestamp for value in values]
    assert stamps == sorted(stamps) and before - 1 <= stamps[0] and stamps[-1] <= after + 1
    assert all(0 <= value.latencyUsec <= after - before + 1 for value in values)


@pytest.mark.parametrize("ticks, latency", [((1.0, 3.5), 2500000), ((1.0, 1.0), 0), ((2.0, 1.0), 0)])
def test_latency_is_what_the_answer_took(device, monkeypatch, ticks, latency):
    """Nothing where the clock was set back meanwhile; a field that is refused took its time as well."""
    clock = iter([1700000000 + tick for tick in ticks * 2])
    monkeypatch.setattr(nvml._session, "clock", lambda: next(clock))
    values = nvml.nvmlDeviceGetFieldValues(device, [nvml.NVML_FI_DEV_MEMORY_TEMP, 0])
    assert [value.nvmlReturn for value in values] == [nvml.NVML_SUCCESS, nvml.NVML_ERROR_INVALID_ARGUMENT]
    assert [value.latencyUsec for value in values] == [latency] * 2
    assert [value.timestamp for value in values] == [1700000000000000 + int(ticks[1] * 1000000)] * 2


def test_result_is_an_array_in_the_order_asked(device):
    fields = [nvml.NVML_FI_DEV_POWER_INSTANT, 1, (nvml.NVML_FI_DEV_MEMORY_TEMP, 0), 1, 3]
    values = nvml.nvmlDeviceGetFieldValues(device, tuple(fields))
    assert type(values) is nvml.c_nvmlFieldValue_t * 5
    assert [value.fieldId for value in values] == [186, 1, 82, 1, 3]


@pytest.mark.parametrize("profile", ["s80", "s3000-mpc", "s3000-vgpu-guest", "old-library"])
def test_cards_without_ecc_or_links(profile):
    with simulated.nvml(profile):
        values = nvml.nvmlDeviceGetFieldValues(nvml.nvmlDeviceGetHandleByIndex(0), [1, 3, 29, 91])
        assert [value.nvmlReturn for value in values] == [nvml.NVML_ERROR_NOT_SUPPORTED] * 4


def test_bad_calls(device):
    for handle, fields in ((None, [82]), ("0", [82]), (device, []), (device, ())):
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetFieldValues, handle, fields)
    for fields in ([()], [(82,)], [82, [82]]):
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceGetFieldValues, device, fields)
    for fields in (82, None, "82", ["82"], [None], [82.0], [(82, None)]):
        pytest.raises(TypeError, nvml.nvmlDeviceGetFieldValues, device, fields)
    pytest.raises(nvml.NVMLError_NotSupported, nvml.nvmlDeviceClearFieldValues, device, [82])
