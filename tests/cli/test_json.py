"""--json: links and paths as MTML has them, lists that cannot be read, reasons; test_distinct_values has its values."""

import json
import re

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


def test_beside_a_card_that_cannot_be_opened():
    with simulated.machine("s5000x8", set="3.lost=DRIVER_FAILURE"):
        result = invoke("--json")
    assert result.status == 15 and json.loads(result.stdout)["devices"][3]["reasons"]["name"]


HEAD = ["schema", "pymtml_version", "library_version", "driver_version", "host", "time"]
OF_A_FINDING = {"check", "status", "gpus", "text", "advice"}
STATUSES = {"OK", "NOTE", "WARNING", "CRITICAL", "N/A"}


@pytest.mark.parametrize("profile", ["distinct", "no-driver"])
def test_all_documents_speak_one_dialect(profile, tmp_path):
    """They begin alike; a verdict is a word beside the exit status; findings have the same keys."""
    (tmp_path / "one.json").write_text("{}")
    lock = ["--lock", str(tmp_path / "lock")]
    for arguments in (
        ["--json"],
        ["health", "--json", *lock],
        ["doctor", "--json"],
        ["compare", "--json", str(tmp_path)],
    ):
        with simulated.machine(simulated.DISTINCT if profile == "distinct" else profile):
            result = invoke(*arguments)
        document = json.loads(result.stdout)
        assert list(document)[:6] == HEAD and document["schema"] == 2, arguments
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["time"])
        assert document.get("exit_status", 0) == result.status
        if "findings" in document:
            assert document["status"] == ("OK", "WARNING", "CRITICAL")[result.status]
            for finding in document["findings"]:
                assert OF_A_FINDING <= set(finding) and finding["status"] in STATUSES and type(finding["gpus"]) is list
                assert bool(finding["advice"]) >= (finding["status"] == "WARNING")


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
