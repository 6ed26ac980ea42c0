"""--json: links and paths as MTML has them, lists that cannot be read, reasons; test_distinct_values has its values."""

import json
import re

import pytest
import simulated
from command import invoke, process_tree
from inside import hostfacts, samples

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


def documents(arguments, **machine):
    """What the command prints, line by line or as a whole, and the document with everything."""
    with simulated.machine(**machine):
        result, everything = invoke(*arguments.split()), json.loads(invoke("--json").stdout)
    assert (result.status, result.stderr) == (0, "")
    found = [
        json.loads(text) for text in (result.lines if result.lines[1:2] != ['  "schema": 2,'] else [result.stdout])
    ]
    for document in found:
        assert list(document) == HEAD + ["devices"]
        for card, whole in zip(document["devices"], everything["devices"]):
            assert [card[key] for key in ("index", "name", "uuid")] == [whole[key] for key in ("index", "name", "uuid")]
            assert card["bus_id"] == whole["pci"]["bus_id"]
    return [document["devices"] for document in found], everything["devices"]


def test_views_have_what_the_whole_has():
    (topo,), whole = documents("topo -m --json", name="s5000x8")
    assert [(card["affinity"], card["topology"]) for card in topo] == [
        (card["affinity"], card["topology"]) for card in whole
    ]
    (mtlink,), whole = documents("mtlink --json", name="s5000x8")
    for card, all_of_it in zip(mtlink, whole):
        for link, its in zip(card["mtlink"]["links"], all_of_it["mtlink"]["links"]):
            assert its.items() <= link.items() and (link["p2p"], link["p2p_atomics"]) == (True, True)
            assert link["remote_bus_id"] == whole[link["remote"]]["pci"]["bus_id"]
    assert mtlink[0]["mtlink"]["links"][1]["remote_link"] == 1
    (mig,), whole = documents("mig -lgi --json -i 0", name="s3000-mpc")
    assert mig[0]["mpc"]["instances"] == whole[0]["mpc"]["instances"] and mig[0]["mpc"]["enabled"]
    assert mig[0]["mpc"]["profiles"][1] == {"id": 1, "name": "4c+16gb", "cores": 4, "memory_bytes": 1 << 34}
    assert mig[0]["mpc"]["configurations"][1]["profiles"] == [1, 1]
    profiles = [tuple(instance["profile"].values()) for instance in whole[0]["mpc"]["instances"]]
    assert profiles == [("4c+16gb", 4, 1 << 34), ("2c+8gb", 2, 1 << 33), ("2c+8gb", 2, 1 << 33)]
    (vgpu,), whole = documents("vgpu --json -i 0", name="s3000-vgpu-host")
    assert vgpu[0]["virtualization"] == "host" and vgpu[0]["active"][0]["memory"]["total_bytes"] == 1 << 33
    assert set(vgpu[0]["creatable"]) <= set(vgpu[0]["supported"]) and vgpu[0]["supported"]


def test_processes_of_each_sample_are_a_line(tmp_path, monkeypatch):
    process_tree(tmp_path, monkeypatch, {17: ("trainer", 12)})
    monkeypatch.setattr(samples.time, "sleep", lambda seconds: None)
    found, whole = documents("pmon --json -c 2", name="s3000x2")
    assert len(found) == 2
    for devices in found:
        (process,) = devices[0]["processes"]["list"]
        assert process.pop("gpu_percent") == 12 and [process] == whole[0]["processes"]["list"]


@pytest.mark.parametrize("arguments", ["topo --json -n 1 -i 0", "mig --json -dgi", "mig --json -cgi 1,1"])
def test_what_does_not_go_with_json(arguments):
    with simulated.machine("s3000-mpc"):
        result = invoke(*arguments.split())
    assert (result.status, result.stdout) == (2, "") and "cannot be combined" in result.stderr


@pytest.mark.parametrize("name", ["topo", "nvlink", "mig", "vgpu", "pmon"])
def test_nvidia_smi_has_no_such_views(name):
    with simulated.machine("s3000-mpc"):
        result = invoke(name, "--json", name="nvidia-smi")
        assert "--json" not in invoke(name, "--help", name="nvidia-smi").stdout
    assert (result.status, result.stdout) == (2, 'Option "--json" is not recognized.\n')


def test_chosen_cards():
    with simulated.machine("s5000x8"):
        report = json.loads(invoke("--json", "-i", "6,1").stdout)
        assert [card["index"] for card in report["devices"]] == [1, 6] and report["device_count"] == 8
        assert json.loads(invoke("--json", "-i", "9").stdout)["status"] == 6
        assert len(invoke("--json", "-i", "9", "-l").lines) == 1


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
