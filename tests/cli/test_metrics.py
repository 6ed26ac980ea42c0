"""metrics: the series of each machine, as a Prometheus server would read them."""

import json
import math
import os
import re
import sys
import time

import pytest
import simulated
import yaml
from command import WORKING_PROFILES, driver_tree, invoke, process_tree, run_command
from inside import (
    CHECKS,
    QUESTIONS,
    SEVERITY,
    Machine,
    checks,
    devices,
    driver,
    health,
    limits,
    metrics,
    metrics_collector,
    metrics_series,
    most_series,
)
from mtml_simulator import driver_files
from test_plausible import MEASURED, impossible, machines

import pymtml

pytest.importorskip("prometheus_client")
from prometheus_client.parser import text_string_to_metric_families  # noqa: E402

CARD_SERIES, MACHINE_SERIES = metrics_series.CARD_SERIES, metrics_series.MACHINE_SERIES
PLACE = metrics_series.PLACE
OF_CARD, OF_MACHINE = metrics_series.OF_CARD, metrics_series.OF_MACHINE

MIB = 1 << 20


def read(text):
    """{name: [(labels, value)]} of a page."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


class Here:
    """A child whose work is done in this process; test_metrics_running.py has real ones."""

    ended = False

    def __init__(self, subcommand, wanted, *_, **options):
        self._asking = metrics_collector.Asking(wanted)

    def send(self, asked):
        """What it is asked is answered at once, as through a pipe."""
        self._said = []
        self._asking.collect(asked, lambda *message: self._said.append(json.dumps(message)))

    def messages(self, deadline):
        return map(json.loads, self._said)

    def stop(self):
        self.ended = True
        while pymtml._nvmlLib_refcount:
            pymtml.nvmlShutdown()


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Runs metrics on a machine, with a proc file system in which all can be seen ({name: [(labels, value)]})."""
    monkeypatch.setattr(metrics_collector, "Child", Here)
    (tmp_path / "proc" / "1" / "fd").mkdir(parents=True)
    driver_tree(tmp_path / "proc", 8, event_report=b"")
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "proc"))

    def run(*arguments, profile="s5000x8", **machine):
        with simulated.machine(profile, **machine):
            result = invoke("metrics", *arguments)
        assert (result.status, result.stderr) == (0, "")
        return read(result.stdout)

    return run


def one(found, name, **labels):
    """The value of a series of a page; None where it is absent."""
    values = [
        value for present, value in found.get(name, ()) if all(present.get(k, "") == v for k, v in labels.items())
    ]
    assert len(values) <= 1
    return values[0] if values else None


@pytest.mark.parametrize("profile", WORKING_PROFILES)
def test_series_are_those_of_the_table(page, profile):
    found = page(profile=profile)
    names = dict({OF_MACHINE + name: line for name, line in MACHINE_SERIES.items()})
    names.update({OF_CARD + name: line for name, line in CARD_SERIES.items()})
    series = set()
    for name, samples in found.items():
        own, _ = names[name]
        allowed = set(own) | (set(PLACE) if name.startswith(OF_CARD) else set())
        for labels, value in samples:
            assert not math.isnan(value) and set(labels) <= allowed and all(labels.values()), (name, labels)
            key = (name, tuple(sorted(labels.items())))
            assert key not in series
            series.add(key)
    for gpu in {dict(labels).get("gpu") for _, labels in series} - {None}:
        of_card = [
            name for name, labels in series if dict(labels).get("gpu") == gpu and "instance_id" not in dict(labels)
        ]
        assert len(of_card) <= most_series()["card_series"]
    assert one(found, "mthreads_driver_up") == 1


def test_the_worst_of_each_check(page, tmp_path):
    found = page("--expect", "3", profile=simulated.DISTINCT)
    levels = {labels["check"]: value for labels, value in found["mthreads_health_status"]}
    with simulated.machine(simulated.DISTINCT):
        told = json.loads(invoke("health", "--json", "--expect", "3", "--lock", str(tmp_path / "lock")).stdout)
    worst = {name: max(SEVERITY[one["level"]] for one in told["findings"] if one["check"] == name) for name in CHECKS}
    assert levels == worst and (levels["devices"], levels["pages"], levels["driver"]) == (2, 1, 0)
    assert list(levels) == list(CHECKS)
    found = page("--skip", "devices,ecc", "--processes", "none", profile=simulated.DISTINCT)
    left = set(levels) - {"devices", "ecc", "processes"}
    assert {labels["check"] for labels, _ in found["mthreads_health_status"]} == left


def test_how_many_series_a_card_has(page, tmp_path):
    """As docs/metrics.md says, where it reports everything; queries that failed are counted beside."""
    counts = {name: 1 for names in driver.COUNTS.values() for name in names}
    xids = [driver_files.event_record(0x7F000000 + number, seconds=int(time.time())) for number in range(50)]
    status, report = driver_files.status(counts=counts), driver_files.event_report(xids)
    driver_tree(tmp_path / "proc", 8, status=status, event_report=report)
    most, errors = most_series(), metrics_collector.MOST_ERROR_SERIES + 1
    found = page(set="3.mtlink_state.1=7;3.unsupported=;3.fan_speed=" + ",".join(["9"] * 12))
    more = {OF_CARD + name for name in metrics_series.OF_NO_JOB}
    of_card = [one for name in set(found) - more for one, _ in found[name] if one.get("gpu") == "3"]
    assert len(of_card) == most["card_series"] - errors - metrics_series.MOST_XIDS - 1  # of XIDs none came since
    found = page(profile="s3000-mpc")
    of_parts = [labels["instance_id"] for series in found.values() for labels, _ in series if "instance_id" in labels]
    assert max(map(of_parts.count, of_parts)) == most["part_series"]


def test_what_failed_with_a_code_that_nobody_knows():
    errors = [pymtml.NVMLError(4711), pymtml.MTMLError(4712), pymtml.MTMLError(pymtml.MTML_ERROR_TIMEOUT)]
    assert [metrics_series.code_name(error) for error in errors] == ["4711", "4712", "Timeout"]


def test_links_in_a_state_that_nobody_knows(page):
    found = page(set="3.mtlink_state.1=7;3.mtlink_state.2=9;3.mtlink_state.4=DOWN")
    states = [(labels["state"], value) for labels, value in found["mthreads_gpu_mtlinks"] if labels["gpu"] == "3"]
    assert states == [("up", 11), ("down", 1), ("downgraded", 0), ("other", 2)]
    named = [tuple(labels[name] for name in ("gpu", "link", "peer", "state")) for labels, _ in found[OF_CARD + LINKS]]
    assert named == [("3", "1", "0", "other"), ("3", "2", "1", "other"), ("3", "4", "2", "down")]


LINKS = "mtlink_not_up"


def test_the_peer_of_a_link_is_kept_from_when_it_was_up(life):
    """For the driver may not know it any more; where it never did, the label is absent."""
    with simulated.machine("s5000x8", set="".join("%d.visible=no;" % card for card in range(2, 8))):
        life()
        for link in (0, 6):
            simulated.set_value(0, "mtlink_state.%d" % link, "DOWN")
        before = [labels for series, labels, _ in cards_of(life()[0])[0]["values"] if series == LINKS]
        simulated.set_faults("0.mtmlDeviceGetMtLinkRemoteDevice=NOT_FOUND")
        after = [labels for series, labels, _ in cards_of(life()[0])[0]["values"] if series == LINKS]
    assert before == after == [["0", "1", "down"], ["6", "", "down"]]


def test_an_impossible_value_is_shown_as_long_as_there_is_one(life):
    def shown():
        values = cards_of(life()[0])[0]["values"]
        return [labels for series, labels, _ in values if series == "implausible_info"]

    with simulated.machine("s80", set="0.power_usage=4294967290"):
        first = shown()
        simulated.set_value(0, "power_usage", "4294967200")
        assert first == shown() == [["power", "4294967.29 W"]]
        simulated.set_value(0, "power_usage", "97000")
        assert shown() == []


def test_errors_that_the_kernel_counts(page, tmp_path, monkeypatch):
    """In the form of its aer.c; also of a card that does not answer, whose address is known, once for all jobs."""
    monkeypatch.setenv("PYMTML_SYS_ROOT", str(tmp_path))
    folder = tmp_path / "bus" / "pci" / "devices" / "0000:3a:00.0"
    folder.mkdir(parents=True)
    (folder / "aer_dev_correctable").write_text("RxErr 0\nBadTLP 90\nTOTAL_ERR_COR 90\n")
    (folder / "aer_dev_fatal").write_text("DLP 2\n<unknown>_bit[3] 1\nPoison \xff 3\nTOTAL_ERR_FATAL 2\n")
    (folder / "aer_dev_nonfatal").mkdir()
    (tmp_path / "1").write_text("7\n8\n")
    found = page("--hpc-job-dir", str(tmp_path))[OF_CARD + "pcie_aer_errors_total"]
    errors = [(labels["gpu"], labels["severity"], labels["error"], value) for labels, value in found]
    assert errors == [("1", "correctable", "BadTLP", 90), ("1", "fatal", "DLP", 2)]
    values = metrics_series.kernel_errors({("fatal", "DLP"): 2})
    lost = dict(gpu=1, uuid="u", info=[], up=False, parts=[], values=values)
    text = metrics.page(metrics_collector.Collection(None, 1, [lost], {}, {}, {}, 0, 0)).decode("ascii")
    assert '_errors_total{error="DLP",gpu="1",severity="fatal",uuid="u"} 2.0' in text
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    fatal = "WARNING", "fatal PCIe errors (AER) since the host started: 2"
    often = "NOTE", "corrected PCIe errors (AER) per hour since the host started: 90"
    for seconds, more in (("3600.00 9.9", [often]), ("5400.00 9.9", []), ("", [])):
        (tmp_path / "uptime").write_text(seconds)
        with simulated.machine("s5000x8"), Machine() as machine:
            said = [(one.level, one.text) for one in checks.pcie_replays(machine.cards[1], limits())]
        assert said[1:] == [fatal] + more


@pytest.mark.parametrize("how", [{"set": "3.lost=TIMEOUT"}, {"faults": "3.mtmlLibraryInitDeviceByIndex=TIMEOUT"}])
def test_a_card_that_does_not_answer_is_asked_three_questions(page, how):
    found = page(**how)
    failed = [
        (labels["gpu"], labels["query"], labels["code"]) for labels, _ in found["mthreads_gpu_query_errors_total"]
    ]
    assert failed == [("3", query, "Timeout") for query in ("memory", "utilization", "temperature")]
    assert one(found, "mthreads_gpu_up", gpu="3") == 0 and one(found, "mthreads_gpu_up", gpu="4") == 1


@pytest.mark.parametrize("key, series", [("enforced_power_limit", "power_limit_watts"), ("slowdown_temperature", "")])
def test_a_limit_of_0_is_absent(page, key, series):
    found = page(set="0.%s=0;0.shutdown_temperature=1" % key)
    if series:
        assert one(found, OF_CARD + series, gpu="0") is None
    else:
        assert one(found, OF_CARD + "temperature_limit_celsius", gpu="0", limit="slowdown") is None
        assert one(found, OF_CARD + "temperature_limit_celsius", gpu="0", limit="shutdown") == 1
    assert "mthreads_gpu_query_errors_total" not in found


def test_eight_fans_at_most(page):
    found = page(profile=simulated.DISTINCT, set="0.fan_speed=%s" % ", ".join(map(str, range(10, 19))))
    assert [labels["fan"] for labels, _ in found["mthreads_gpu_fan_ratio"] if labels["gpu"] == "0"] == list("01234567")


def test_jobs_on_cards(page, tmp_path):
    """Values of a card are there once for each of its jobs; what it is, whether it answers, and its errors are not."""
    folder = tmp_path / "jobs"
    folder.mkdir()
    for name, text in {
        "0": "4711 ann  s5000\n\n 4712 \n4711\n",
        "0.1": "a\x1b b\n",
        "1": "",
        "2": "9\n",
        "9": "9\n",
    }.items():
        (folder / name).write_text(text)
    found = page("--hpc-job-dir", str(folder), profile="s3000-mpc", faults="0.mtmlGpuGetTemperature=TIMEOUT")
    own = {}
    for name, samples in found.items():
        for labels, _ in samples:
            place = labels.get("gpu", "") + labels.get("instance_id", "-")
            own.setdefault(place, {}).setdefault(name[len(OF_CARD) :], []).append(labels.get("hpc_job"))
    once = ("info", "up", "query_errors_total")
    ((who, _),) = found[OF_CARD + "job_info"]
    assert [who[label] for label in ("gpu", "hpc_job", "hpc_user", "hpc_partition")] == ["0", "4711", "ann", "s5000"]
    assert own["0-"].pop("job_info") and all(own["0-"][series] == [None] for series in once)
    assert all(set(jobs) == {"4711", "4712"} for series, jobs in own["0-"].items() if series not in once)
    assert own["0-"]["memory_used_bytes"] == ["4711", "4712"] and own["01"]["memory_used_bytes"] == ["a\\x1b b"]
    for place in ("00", "02", "1-"):
        assert {job for jobs in own[place].values() for job in jobs} == {None}


def test_files_of_jobs_that_are_something_else(page, tmp_path):
    os.mkfifo(str(tmp_path / "0"))
    (tmp_path / "1").write_bytes(b"\xff\n")
    (tmp_path / "2").write_text("x" * (1 << 16) + "\n")
    (tmp_path / "3").write_text("".join("%d\n" % job for job in range(17)))
    (tmp_path / "4").mkdir()
    (tmp_path / "5").symlink_to(tmp_path / "3")
    (tmp_path / "6").symlink_to("/dev/zero")
    found = page("--hpc-job-dir", str(tmp_path))
    jobs = {}
    for labels, _ in found["mthreads_gpu_power_watts"]:
        jobs.setdefault(labels["gpu"], []).append(labels.get("hpc_job"))
    assert jobs == dict({str(gpu): [None] for gpu in range(8)}, **{"3": [str(job) for job in range(16)]})
    result = invoke("metrics", "--hpc-job-dir", str(tmp_path / "none"))
    assert (result.status, result.stderr) == (2, "pymtml: --hpc-job-dir %s/none is not a folder\n" % tmp_path)


# ---- What the child says ----


@pytest.fixture
def life(tmp_path, monkeypatch):
    """Lets a child's work be done in this process: [(kind, value)] of collections, and whether there may be another."""
    (tmp_path / "1" / "fd").mkdir(parents=True)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    found = []

    def collect(last=(), processes="none", skipped=(), limits=limits()):
        if not found:
            names = [name for name in QUESTIONS if name not in skipped]
            found.append(metrics_collector.Asking({"limits": limits, "checks": ["devices"] + names}))
        said = []
        goes_on = found[0].collect(
            {"last": last, "looked_last": [], "processes": processes}, lambda *message: said.append(message)
        )
        return said, goes_on

    def end():
        found.clear()
        while pymtml._nvmlLib_refcount:
            pymtml.nvmlShutdown()

    collect.end = end
    yield collect
    end()


def cards_of(said):
    """The cards, each with what was said of its processes."""
    cards = [value for kind, value in said if kind == "card"]
    for value in (value for kind, value in said if kind == "processes"):
        card = [one for one in cards if one["gpu"] == value["gpu"]][-1]
        card["status"].update(value["status"])
        card.update({key: card[key] + value[key] for key in ("values", "errors")})
    return cards


def test_instances_are_parts_of_their_card(life):
    with simulated.machine("s3000-mpc"):
        said, goes_on = life()
        first, second = cards_of(said)
    assert (
        goes_on and [kind for kind, _ in said] == ["cards", "card", "card", "among", "done"] and second["parts"] == []
    )
    keys = simulated.device_keys("s3000-mpc", 0)
    assert first["info"][1] == keys["name"] and len(first["parts"]) == 3
    for number, (part, name) in enumerate(zip(first["parts"], ["4c+16gb", "2c+8gb", "2c+8gb"])):
        own = simulated.profile("s3000-mpc")["device.0.instance.%d" % number]
        info = [keys["pci_sbdf"].upper(), name, keys["serial_number"], keys["mtbios_version"], "3.3.5-server"]
        assert (part["instance_id"], part["uuid"], part["info"], part["up"]) == (str(number), own["uuid"], info, True)
        values = {(series, tuple(labels)): value for series, labels, value in part["values"]}
        assert values["memory_used_bytes", ()] == int(own["memory_used"])
        assert values["utilization_ratio", ("gpu",)] == int(own["gpu_utilization"]) / 100
        assert {series for series, _ in values} == {"memory_used_bytes", "memory_total_bytes", "utilization_ratio"}


def test_an_instance_whose_profile_is_not_told_has_the_name_that_it_tells(life):
    with simulated.machine("s3000-mpc", faults="mtmlDeviceGetMpcProfileInfo=TIMEOUT"):
        first, _ = cards_of(life()[0])
    assert [part["info"][1] for part in first["parts"]] == [simulated.device_keys("s3000-mpc", 0)["name"]] * 3


def test_readings_of_one_answer_share_one_call():
    """Of a card, and of a virtual device below it."""
    with simulated.machine("s3000-vgpu-host"), Machine() as machine:
        card = machine.cards[0]
        uuid = card.ask(pymtml.mtmlDeviceGetActiveVirtDeviceUuids)[0]
        for device in (card, devices.virtual_device(card, uuid)):
            simulated.reset_calls()
            values = metrics_series.Answers().ask(device, metrics_series.QUESTIONS_OF_PARTS).values
            assert {"memory_used_bytes", "memory_total_bytes", "utilization_ratio"} == {name for name, _ in values}
            assert simulated.calls("mtmlMemoryGetTotal") == simulated.calls("mtmlGpuGetUtilization") == 1


def test_virtual_devices_are_parts_of_their_card(life):
    name = "s3000-vgpu-host"
    with simulated.machine(name):
        first, second = cards_of(life()[0])
    assert second["parts"] == [] and len(first["parts"]) == 3
    for number, part in enumerate(first["parts"]):
        own = simulated.profile(name)["device.0.virt.%d" % number]
        kind = simulated.profile(name)["virt_type." + own["virt_type"]]["name"]
        info = ["", kind, "", "", simulated.profile(name)["machine"]["driver_version"]]
        assert (part["instance_id"], part["uuid"]) == ("v%d" % number, own["uuid"])
        assert (part["info"], part["up"]) == (info, True)
        values = {series: value for series, labels, value in part["values"] if not labels}
        assert values["memory_used_bytes"] == int(own["memory_used"])


@pytest.mark.parametrize("code, errors", [("TIMEOUT", [("virtual_devices", "Timeout")]), ("NOT_SUPPORTED", [])])
def test_virtual_devices_that_are_not_told(life, code, errors):
    with simulated.machine("s3000-vgpu-host", faults="0.mtmlDeviceGetActiveVirtDeviceUuids=" + code):
        first, _ = cards_of(life()[0])
    assert (first["errors"], first["parts"], first["up"]) == (errors, [], True)


# What fails, and what its errors are counted as
FAILING = """
mtmlMemoryGetUsed memory, mtmlGpuGetUtilization utilization, mtmlVpuGetUtilization utilization,
mtmlGpuGetTemperature temperature, mtmlMemoryGetTemperature temperature, mtmlDeviceGetPowerUsage power,
mtmlMemoryGetClock clock, mtmlDeviceCountFan fan, mtmlMemoryGetEccErrorCounter ecc,
mtmlMemoryGetRetiredPagesPendingStatus retired_pages, mtmlDeviceGetPcieReplayCounter pcie,
mtmlDeviceGetMtLinkState mtlink, mtmlDeviceGetGpuPath processes
"""


def test_what_failed_has_a_name(life):
    """Counted with its card alone, which is up."""
    wrong = []
    for number, (function, query) in enumerate(pair.split() for pair in FAILING.split(",")):
        code, name = (("TIMEOUT", "Timeout"), ("NO_PERMISSION", "NoPermission"))[number % 2]
        with simulated.machine("s5000x8", faults="3.%s=%s" % (function, code)):
            cards = cards_of(life(processes="count")[0])
            life.end()
        errors = [[tuple(error) for error in card["errors"]] for card in cards]
        if errors != [[(query, name)] * (gpu == 3) for gpu in range(8)] or not cards[3]["up"]:
            wrong.append((function, code, errors))
    assert not wrong


@pytest.mark.parametrize("code, failed", [("TIMEOUT", True), ("NOT_SUPPORTED", False)])
def test_a_driver_without_a_version(life, code, failed):
    with simulated.machine("s3000x2", faults="mtmlSystemGetDriverVersion=" + code):
        said, goes_on = life(last=[0])
    assert said[0] == ("cards", {"order": [1, 0], "driver_failed": failed}) and goes_on
    assert [card["gpu"] for card in cards_of(said)] == [1, 0] and cards_of(said)[0]["info"][4] == ""


def test_the_checks_of_a_card(life):
    with simulated.machine(simulated.DISTINCT):
        first, _ = cards_of(life(skipped=["pcie"], limits=limits(max_temperature=51))[0])
    levels = first["status"]
    well = dict.fromkeys(["answers", "memory", "utilization", "power", "readings"], 0)
    assert dict(levels, **well, temperature=2, ecc=2, pages=1, links=2) == levels
    assert list(levels) == [check for check in health.CHECKS if check in levels]
    assert not {"driver", "devices", "pcie", "processes"} & set(levels)


@pytest.mark.parametrize(
    "name, value, begins",
    [
        ("faults", "0.mtmlGpuGetTemperature=TIMEOUT@0x1", True),
        ("set", "0.gpu_temperature=900", False),
        ("set", "", False),
    ],
)
def test_an_error_ends_the_life(life, name, value, begins):
    """As its handles may be worth nothing. A number that cannot be is not their fault."""
    with simulated.machine("s3000x2", **{name: value}):
        first, second = cards_of(life()[0])
        assert bool(first["errors"]) == bool(value) and not second["errors"]
        simulated.reset_calls()
        life()
        assert bool(simulated.calls("mtmlLibraryInitDeviceByIndex")) == begins


def test_a_card_that_is_lost_is_asked_one_check(life):
    with simulated.machine("s3000x2", set="1.lost=TIMEOUT"):
        said, _ = life(processes="count")
        first, second = cards_of(said)
    assert (second["up"], second["status"], second["uuid"]) == (False, {"answers": 2}, "")
    assert second["values"] == [] and first["up"] and "processes" in first["status"]


@pytest.mark.parametrize("what", ["ones", "sign", "more"])
def test_a_number_that_cannot_be_is_no_value(life, what):
    """Each of those that a card reports, on one card of eight: it is counted, and no value is another than before."""
    with simulated.machine("s5000x8"):
        sound = [{repr(one) for one in card["values"]} for card in cards_of(life()[0])]
        life.end()
    counted = set()
    for wrong, text in machines(what):
        with simulated.machine("s5000x8", set=text):
            cards = cards_of(life()[0])
            life.end()
        for card, before in zip(cards, sound):
            told = [one for one in card["values"] if one[0] == "implausible_info"]
            values = {repr(one) for one in card["values"] if one not in told}
            assert values <= before and card["up"], wrong.get(card["gpu"])
            failed = {query for query, code in card["errors"] if code == "implausible"}
            assert len(failed) == len(card["errors"]) and (len(before) > len(values)) >= bool(failed)
            assert sorted(query for _, (query, _), _ in told) == sorted(failed)
            assert card["status"]["readings"] == (2 if failed else 0)
            counted |= failed
    queries = {"memory", "utilization", "temperature", "power", "clock", "ecc", "pcie", "mtlink"}
    assert counted == queries - {"ones": {"mtlink", "temperature"}, "sign": {"mtlink"}}.get(what, set())
    with simulated.machine("s80", set="0.fan_speed=200, 201, 42"):
        (card,) = cards_of(life()[0])
    fans = [(labels, value) for series, labels, value in card["values"] if series == "fan_ratio"]
    assert fans == [(["0"], 2.0), (["2"], 0.42)] and card["errors"] == [("fan", "implausible")]


def test_a_card_of_which_most_numbers_cannot_be_is_not_up(life):
    gone = ";".join("3.%s=%d" % pair for pair in impossible(MEASURED, "ones").items()) + ";3.gpu_temperature=-1"
    with simulated.machine("s5000x8", set=gone):
        cards = cards_of(life()[0])
        again, goes_on = life()
    assert [card["up"] for card in cards] == [gpu != 3 for gpu in range(8)] and cards[3]["uuid"]
    assert {series for series, _, _ in cards[3]["values"]} == {"implausible_info"}
    assert cards[3]["status"] == {"answers": 2} and ("temperature", "implausible") in cards[3]["errors"]
    assert goes_on and [kind for kind, _ in again].count("cards") == 1  # no handle has died


def test_an_error_in_a_later_life_begins_a_new_one(life):
    """Handles may have died: all is asked anew, once, and again in the next collection."""
    with simulated.machine("s3000x2"):
        life()
        simulated.set_faults("1.mtmlGpuGetTemperature=TIMEOUT")
        said, goes_on = life()
        assert " ".join(kind for kind, _ in said) == "cards card error cards card card among done" and goes_on
        assert said[2][1] == [1, ("temperature", "Timeout")] and cards_of(said)[2]["errors"] == [said[2][1][1]]
        simulated.set_faults("")
        assert [kind for kind, _ in life()[0]] == ["cards", "card", "card", "among", "done"]
        assert cards_of(life()[0])[1]["errors"] == []


def test_a_card_that_goes_begins_a_new_life(life):
    with simulated.machine("s5000x8"):
        assert life()[0][0][1]["order"] == list(range(8))
        simulated.set_value(5, "visible", "no")
        said, _ = life()
    uuids = [simulated.device_keys("s5000x8", card)["uuid"] for card in range(8) if card != 5]
    assert [card["uuid"] for card in cards_of(said)] == uuids and said[0][1]["order"] == list(range(7))


def test_a_library_that_cannot_be_used(life):
    with simulated.machine("no-driver"):
        ((kind, text),), goes_on = life()
    assert kind == "driver" and not goes_on and "`pymtml doctor` reports why" in text and "  " not in text
    with simulated.machine("s3000x2", set="machine.reinit=DRIVER_FAILURE"):
        assert life()[1]
        simulated.set_faults("1.mtmlGpuGetTemperature=TIMEOUT")
        said, goes_on = life()
        assert [kind for kind, _ in said] == ["cards", "card", "error", "worn"] and not goes_on
        ((kind, _),), goes_on = life()  # and not "driver": a new process can use it
        assert kind == "worn" and not goes_on


def test_processes_of_pods_and_jobs(tmp_path, monkeypatch, life):
    """Each pod, container and job by itself, up to sixteen on a card."""
    process_tree(tmp_path, monkeypatch, {100 + number: ("p", 1) for number in range(23)})
    for number in range(2, 23):
        (tmp_path / str(100 + number) / "cgroup").write_text("0::/slurm/uid_0/job_%d/step_0\n" % max(3, number))
    with simulated.machine("s80"):
        (card,) = cards_of(life(processes="pods")[0])
    found = {tuple(labels): value for series, labels, value in card["values"] if series == "processes"}
    wanted = {("", "", str(job)): 1 for job in range(4, 18)}
    wanted.update({("", "", ""): 2, ("", "", "3"): 2, ("other",) * 3: 5})
    assert found == wanted


@pytest.mark.parametrize("hidden", [0, 1])
@pytest.mark.parametrize("wanted", ["none", "count", "names", "pods"])
def test_processes_of_a_card(wanted, hidden, tmp_path, monkeypatch, life):
    process_tree(tmp_path, monkeypatch, {100 + number: ("p%d" % number, 1) for number in range(65)})
    monkeypatch.setattr(pymtml, "unseen_processes", lambda: hidden)
    with simulated.machine("s80"):
        (card,) = cards_of(life(processes=wanted)[0])
    values = [value for series, _, value in card["values"] if series == "processes"]
    names = [tuple(labels) for series, labels, value in card["values"] if series == "process_info" and value == 1]
    assert values == ([] if wanted == "none" or hidden else [65])  # unknown where some could not be inspected
    assert names == ([(str(100 + n), "C", "p%d" % n) for n in range(64)] if wanted == "names" else [])
    assert ("processes" in card["status"]) == (wanted != "none")


# ---- The documents ----


def test_the_page_in_the_documents_has_every_series():
    with open(os.path.join(simulated.ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        documented = dict(re.findall(r"^\| `(mthreads_\w+)` \| (.*?)\|", file.read(), re.M))
    for prefix, table in ((OF_MACHINE, MACHINE_SERIES), (OF_CARD, CARD_SERIES)):
        for name, (labels, _) in table.items():
            assert prefix + name in documented, "docs/metrics.md, Series: a row for %s" % (prefix + name)
            text = documented.pop(prefix + name)
            assert all("`%s`" % label in text for label in labels), name
    assert not documented, "docs/metrics.md has rows of series that are none: %s" % sorted(documented)


FLEET = os.path.join(simulated.ROOT, "examples", "fleet")


def fleet_file(name):
    with open(os.path.join(FLEET, name), encoding="utf-8") as file:
        return file.read()


def test_what_a_rule_counts_on_is_what_the_command_does():
    """The rules say it in their head."""
    head = fleet_file("rules.yml").partition("groups:")[0]
    assert metrics.INTERVAL == 15 and "every 15 seconds" in head and "two minutes" in head


def test_what_the_options_take():
    limits = ["--expect", "0", "--interval", "3600", "--timeout", "86400"]
    found = vars(metrics.parser().parse_args(limits))
    unsaid = dict.fromkeys(
        ["textfile", "listen", "limits", "hpc_job_dir", "certfile", "keyfile", "client_cafile", "lock", "state"]
    )
    assert found == dict(unsaid, expect=0, interval=3600, timeout=86400, skip="", processes="count")
    found = vars(metrics.parser().parse_args([]))
    assert found == dict(unsaid, expect=None, interval=None, timeout=10, skip="", processes="count")
    for word in ("none", "count", "names", "pods"):
        assert metrics.parser().parse_args(["--processes", word]).processes == word


def test_the_page_in_the_documents_has_every_option_and_alert():
    with open(os.path.join(simulated.ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        text = file.read()
    options = {spelling for action in metrics.parser()._actions for spelling in action.option_strings} - {
        "-h",
        "--help",
    }
    rows = "\n".join(re.findall(r"^\| `.*", text, re.M))
    assert options == set(re.findall(r"`(?:pymtml metrics )?(--[\w-]+)", rows))
    assert "| `--interval SECONDS` | %d |" % metrics.INTERVAL in text
    assert "| `--timeout SECONDS` | %d |" % metrics.TIMEOUT in text
    assert "at most every %d seconds" % metrics_collector.PROCESS_PAUSE in text
    groups = yaml.safe_load(fleet_file("rules.yml"))["groups"]
    rules = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    alerts = [
        (rule["alert"], rule["labels"]["severity"].replace("{{ $labels.severity }}", "as its hosts")) for rule in rules
    ]
    assert re.findall(r"^\| `(Mthreads\w+)` \| ([\w ]+) \|", text, re.M) == alerts


@pytest.mark.parametrize("lacks", ["prometheus_client", "prometheus_client.core"])
def test_without_prometheus_client(monkeypatch, lacks):
    monkeypatch.setitem(sys.modules, lacks, None)
    result = invoke("metrics")
    words = "pymtml: metrics needs the Python package prometheus_client: `pip install prometheus_client` in pymtml's"
    assert (result.status, result.stdout) == (255, "") and result.stderr.startswith(words)
    assert result.stderr.endswith(" environment, or `pipx inject pymtml-nvml prometheus_client`\n")


def test_the_page_is_in_utf_8_whatever_the_locale():
    extra = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    result = run_command("metrics", name="s3000x2", set=r"0.name=MTT \xe6\x91\xa9", extra_environment=extra)
    assert 'name="MTT \u6469"' in result.stdout
