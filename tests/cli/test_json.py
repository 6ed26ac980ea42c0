"""--json says what the C functions of the simulated library say, and why where they do not."""

import json

import pytest
import simulated
from command import WORKING_PROFILES, invoke
from inside import hostfacts

import pymtml

# Where in the object of a card: what it must be
EXPECTED = {
    ("name",): pymtml.mtmlDeviceGetName,
    ("uuid",): pymtml.mtmlDeviceGetUUID,
    ("serial_number",): pymtml.mtmlDeviceGetSerialNumber,
    ("firmware_version",): pymtml.mtmlDeviceGetMtBiosVersion,
    ("gpu_path",): pymtml.mtmlDeviceGetGpuPath,
    ("slot_name",): lambda device: pymtml.mtmlDeviceGetPcieSlotInfo(device).slotName,
    ("cores",): pymtml.mtmlDeviceCountGpuCores,
    ("pci", "bus"): lambda device: pymtml.mtmlDeviceGetPciInfo(device).bus,
    ("pci", "generation"): lambda device: pymtml.mtmlDeviceGetPciInfo(device).pciCurGen,
    ("memory", "total_bytes"): pymtml.mtmlMemoryGetTotal,
    ("memory", "used_bytes"): pymtml.mtmlMemoryGetUsed,
    ("memory", "system_used_bytes"): pymtml.mtmlMemoryGetUsedSystem,
    ("memory", "vendor"): pymtml.mtmlMemoryGetVendor,
    ("memory", "bandwidth_gigabytes_per_second"): pymtml.mtmlMemoryGetBandwidth,
    ("utilization", "gpu_percent"): pymtml.mtmlGpuGetUtilization,
    ("utilization", "memory_percent"): pymtml.mtmlMemoryGetUtilization,
    ("utilization", "encoder_percent"): lambda device: pymtml.mtmlVpuGetUtilization(device).encodeUtil,
    ("utilization", "engines", "compute_percent"): lambda device: pymtml.mtmlGpuGetEngineUtilization(
        device, pymtml.MTML_GPU_ENGINE_COMPUTE
    ),
    ("temperature", "gpu_celsius"): pymtml.mtmlGpuGetTemperature,
    ("temperature", "memory_celsius"): pymtml.mtmlMemoryGetTemperature,
    ("power", "draw_milliwatts"): pymtml.mtmlDeviceGetPowerUsage,
    ("power", "limit_milliwatts"): lambda device: pymtml.mtmlGpuGetEnforcedPowerLimit(device) or None,
    ("power", "gpu_millivolts"): pymtml.mtmlGpuGetVoltage,
    ("clocks", "graphics_megahertz"): pymtml.mtmlGpuGetClock,
    ("clocks", "max_memory_megahertz"): pymtml.mtmlMemoryGetMaxClock,
    ("codec", "max_decoder_sessions"): lambda device: pymtml.mtmlVpuGetCodecCapacity(device)[1],
    ("ecc", "enabled"): lambda device: bool(pymtml.mtmlMemoryGetEccMode(device)[0]),
    ("ecc", "uncorrected_aggregate"): lambda device: pymtml.mtmlMemoryGetEccErrorCounter(device, 1, 1, 1),
    ("retired_pages", "pending"): lambda device: bool(pymtml.mtmlMemoryGetRetiredPagesPendingStatus(device)),
    ("mtlink", "count"): lambda device: pymtml.mtmlDeviceGetMtLinkSpec(device).linkNum,
    ("fans", "count"): pymtml.mtmlDeviceCountFan,
}


def answer(function, device):
    try:
        return function(device)
    except (pymtml.NVMLError_NotSupported, pymtml.NVMLError_FunctionNotFound):
        return None


@pytest.mark.parametrize("profile", WORKING_PROFILES)
def test_values_are_the_simulated_ones(profile):
    with simulated.machine(profile):
        report = json.loads(invoke("--json").stdout)
        pymtml.nvmlInit()
        assert report["device_count"] == len(report["devices"]) == pymtml.nvmlDeviceGetCount()
        assert report["driver_version"] == pymtml.nvmlSystemGetDriverVersion()
        for index, card in enumerate(report["devices"]):
            device = pymtml.nvmlDeviceGetHandleByIndex(index)
            for path, function in EXPECTED.items():
                place = card
                for key in path[:-1]:
                    place = place[key]
                expected = answer(function, device)
                assert place[path[-1]] == expected, (index, path)
                assert (path[-1] in place.get("reasons", {})) == (expected is None), (index, path)
            check_links(card, device)
        pymtml.nvmlShutdown()


def check_links(card, device):
    words = {0: "down", 1: "up", 2: "downgrade"}
    for entry in card["mtlink"]["links"]:
        assert entry["state"] == words[pymtml.mtmlDeviceGetMtLinkState(device, entry["link"])]
        remote = answer_any(pymtml.mtmlDeviceGetMtLinkRemoteDevice, device, entry["link"])
        assert entry["remote"] == (None if remote is None else pymtml.nvmlDeviceGetIndex(remote))
    for pair in card["topology"]:
        other = pymtml.nvmlDeviceGetHandleByIndex(pair["device"])
        assert pair["mtlinks"] == answer_any(pymtml.mtmlDeviceCountMtLinkLayouts, device, other)
        status = answer_any(pymtml.mtmlDeviceGetP2PStatus, device, other, pymtml.MTML_P2P_CAPS_READ)
        assert pair["read"] == (None if status is None else status == pymtml.MTML_P2P_STATUS_OK)


def answer_any(function, *arguments):
    try:
        return function(*arguments)
    except pymtml.MTMLError:
        return None


def test_instances_are_below_their_card():
    with simulated.machine("s3000-mpc"):
        report = json.loads(invoke("--json").stdout)
        pymtml.nvmlInit()
        parent = pymtml.nvmlDeviceGetHandleByIndex(0)
        uuids = [pymtml.mtmlDeviceGetUUID(instance) for instance in pymtml.mtmlDeviceGetMpcInstances(parent)]
        pymtml.nvmlShutdown()
    card, other = report["devices"]
    assert card["mpc"]["enabled"] and not other["mpc"]["enabled"]
    assert [instance["uuid"] for instance in card["mpc"]["instances"]] == uuids
    for instance in card["mpc"]["instances"]:
        assert instance["profile"]["memory_bytes"] == instance["memory"]["total_bytes"]


def test_a_reason_names_the_error():
    with simulated.machine("s3000x2", faults="mtmlGpuGetTemperature=TIMEOUT"):
        report = json.loads(invoke("--json").stdout)
    temperature = report["devices"][1]["temperature"]
    assert (temperature["gpu_celsius"], temperature["reasons"]["gpu_celsius"]) == (None, "Timeout")


@pytest.mark.parametrize("profile, status", [("no-driver", 9), ("empty", 0)])
def test_without_cards(profile, status):
    with simulated.machine(profile):
        result = invoke("--json")
    report = json.loads(result.stdout)
    assert result.status == status
    assert report.get("status", 0) == status and report.get("devices", []) == []


def test_chosen_cards():
    with simulated.machine("s5000x8"):
        report = json.loads(invoke("--json", "-i", "6,1").stdout)
        assert [card["index"] for card in report["devices"]] == [1, 6] and report["device_count"] == 8
        assert json.loads(invoke("--json", "-i", "9").stdout)["status"] == 6


@pytest.mark.parametrize(
    "fault, path",
    [
        ("0.mtmlDeviceCountDisplayInterface=TIMEOUT", ["displays"]),
        ("0.mtmlDeviceGetSupportedMpcConfigurations=TIMEOUT", ["mpc", "instances"]),
        ("0.mtmlDeviceCountMpcInstances=TIMEOUT", ["mpc", "instances"]),
        ("0.mtmlDeviceGetMpcInstanceByIndex=TIMEOUT@1", ["mpc", "instances"]),
    ],
)
def test_a_list_that_cannot_be_read_is_not_an_empty_one(fault, path):
    with simulated.machine("s3000-mpc", faults=fault):
        report = json.loads(invoke("--json").stdout)
    told, _ = hostfacts.LISTS[".".join(path)]
    for card, reason in zip(report["devices"], ("Timeout", None)):
        place = card
        for key in path[:-1]:
            place = place[key]
        assert place.get("reasons", {}).get(path[-1]) == reason
        assert (place[path[-1]] is None) == (told(card) == hostfacts.NOT_TOLD) == (reason is not None)
