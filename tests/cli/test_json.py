"""--json: links and paths as MTML has them, lists that cannot be read, reasons; test_distinct_values has its values."""

import json

import pytest
import simulated
from command import invoke
from inside import hostfacts

import pymtml


def asked(function, *arguments):
    try:
        return function(*arguments)
    except pymtml.MTMLError:
        return None


@pytest.mark.parametrize("profile", ["s5000x8", "s5000x8-container", "s4000x8", "s80"])
def test_links_and_paths_are_those_of_mtml(profile):
    words = {0: "down", 1: "up", 2: "downgrade"}
    with simulated.machine(profile):
        report = json.loads(invoke("--json").stdout)
        pymtml.nvmlInit()
        for card in report["devices"]:
            device = pymtml.nvmlDeviceGetHandleByIndex(card["index"])
            for entry in card["mtlink"]["links"]:
                assert entry["state"] == words[pymtml.mtmlDeviceGetMtLinkState(device, entry["link"])]
                remote = asked(pymtml.mtmlDeviceGetMtLinkRemoteDevice, device, entry["link"])
                assert entry["remote"] == (None if remote is None else pymtml.nvmlDeviceGetIndex(remote))
            for pair in card["topology"]:
                other = pymtml.nvmlDeviceGetHandleByIndex(pair["device"])
                assert pair["mtlinks"] == asked(pymtml.mtmlDeviceCountMtLinkLayouts, device, other)
                status = asked(pymtml.mtmlDeviceGetP2PStatus, device, other, pymtml.MTML_P2P_CAPS_READ)
                assert pair["read"] == (None if status is None else status == pymtml.MTML_P2P_STATUS_OK)
        pymtml.nvmlShutdown()
    assert len(report["devices"]) == report["device_count"] > 0


def test_a_reason_names_the_error():
    with simulated.machine("s3000x2", faults="mtmlGpuGetTemperature=TIMEOUT"):
        report = json.loads(invoke("--json").stdout)
    temperature = report["devices"][1]["temperature"]
    assert (temperature["gpu_celsius"], temperature["reasons"]["gpu_celsius"]) == (None, "Timeout")


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
    told, *_ = hostfacts.LISTS[".".join(path)]
    for card, reason in zip(report["devices"], ("Timeout", None)):
        place = card
        for key in path[:-1]:
            place = place[key]
        assert place.get("reasons", {}).get(path[-1]) == reason
        assert (place[path[-1]] is None) == (told(card) == hostfacts.NOT_AVAILABLE) == (reason is not None)
