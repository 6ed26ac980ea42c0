"""The dashboards of examples/fleet on a real Prometheus: 200 hosts with 1,600 GPUs, some of them in trouble."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.parse

import pytest
from machines import ROOT
from program_set import PROMETHEUS
from replay import Replay
from scrape import fetch, free_port, until
from test_fleet_files import DASHBOARDS, board

PROGRAM = PROMETHEUS
pytestmark = pytest.mark.programs

HOSTS, CARDS = 200, 8  # of 500, each scraped every five seconds, a busy small machine falls behind
MOST_SERIES, MOST_BYTES = 50, 300000
POINTS = 60
TROUBLE = {  # {host: (state, what the overview says of it, its alert)}
    "node003": ("down", "the host or its exporter is down", "HostDown"),
    "node004": ("stalled", "nothing is collected any more", "CollectionStalled"),
    "node005": ("driver down", "the driver does not answer", "DriverDown"),
    "node006": ("card silent", "cards do not answer", "GpuDown"),
    "node011": ("card missing", "fewer or more cards than the label gpus of the target", "GpusMissing"),
    "node007": ("hot", "other checks of health are CRITICAL", "GpuHot"),
    "node010": ("nothing", "it answers, and has no series of pymtml", "NothingCollected"),
    "node008": ("link down", "cards with links down or downgraded", "GpuLinkDown"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory, simulator):
    """The address of a Prometheus that has scraped all hosts some times, and where the alerts of all troubles fire."""
    folder = tmp_path_factory.mktemp("prometheus")
    environment = dict(os.environ, LD_LIBRARY_PATH=simulator, MTML_SIM_PROFILE="s5000x8")
    command = [sys.executable, "-m", "pymtml", "metrics"]
    text = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True).stdout.decode()
    fleet = Replay(text, ["node%03d" % number for number in range(1, HOSTS + 1)], CARDS)
    fleet.states = dict({host: trouble[0] for host, trouble in TROUBLE.items()}, node009="idle")
    (folder / "targets").mkdir()
    (folder / "targets" / "mthreads.yml").write_text(json.dumps(fleet.targets))
    with open(os.path.join(ROOT, "examples", "fleet", "prometheus.yml")) as file:
        config = file.read().replace("15s", "5s")
    # All hosts are one address here, and say by a label which one they are.
    config = config.replace("target_label: instance", "target_label: __tmp")
    (folder / "prometheus.yml").write_text(config)
    with open(os.path.join(ROOT, "examples", "fleet", "rules.yml")) as file:  # alerts come sooner
        (folder / "rules.yml").write_text(re.sub("for: (30s|45s|1m)\n", "for: 5s\n", file.read()))
    address = "127.0.0.1:%d" % free_port()
    command = [PROMETHEUS.find(), "--config.file", str(folder / "prometheus.yml"), "--web.listen-address", address]
    with open(str(folder / "log"), "w") as log:
        process = subprocess.Popen(command + ["--storage.tsdb.path", str(folder / "tsdb")], stdout=log, stderr=log)
        try:
            fetch("http://%s/-/ready" % address)
            assert until(lambda: {(host, trouble[2]) for host, trouble in TROUBLE.items()} <= pages(address), wait=300)
            scraped = "count_over_time(mthreads_collect_timestamp_seconds[1m]) > 3"  # for a rate
            assert until(lambda: ask(address, scraped)[0] == HOSTS - 2, wait=300)
            yield address
        finally:
            process.kill()  # it would write what nobody reads
            process.wait()
            fleet.close()


def answer(address, query, ranged=False):
    """What Prometheus answers to a query, now or with as many points as a panel has (str)."""
    now = time.time()
    values = {"query": query, "time": now}
    if ranged:
        values = {"query": query, "start": now - 60, "end": now, "step": 60.0 / POINTS}
    path = "query_range" if ranged else "query"
    return fetch("http://%s/api/v1/%s?%s" % (address, path, urllib.parse.urlencode(values)))


def ask(address, query, ranged=False):
    """(number of series, series, bytes) of an answer."""
    text = answer(address, query, ranged)
    result = json.loads(text)["data"]["result"]
    return len(result), result, len(text)


def pages(address):
    """(host, alert) of all critical alerts that fire (set)."""
    _, result, _ = ask(address, 'ALERTS{alertstate="firing",severity="critical",instance!=""}')
    return {(one["metric"]["instance"], one["metric"]["alertname"][len("Mthreads") :]) for one in result}


EMPTY = {  # panels that show nothing of this fleet, and why
    "Queries that failed in the last hour": "no query fails",
    "Utilization of instances": "no card is divided",
    "Processes": "processes of others are not seen here, or there are none",
    "XIDs": "no driver has recorded any",
    "Links that are not up": "all of node001 are up",
    "Firing alerts": "those of the host: it is well",
}


@pytest.mark.parametrize("name", DASHBOARDS)
def test_every_panel(server, name):
    """Each query of the dashboards returns values."""
    total = 0
    for panel in board(name)["panels"]:
        assert panel["maxDataPoints"] <= POINTS
        for target in panel["targets"]:
            count, _, size = ask(server, target["expr"].replace("$host", "node001"), target["range"])
            total += size
            assert count <= MOST_SERIES, panel["title"]
            assert count > 0 or panel["title"] in EMPTY, panel["title"]
    assert total < MOST_BYTES
    print("%s: %d bytes a refresh" % (name, total))


def shown(server, title):
    """What a panel of the overview with one value shows."""
    (panel,) = [panel for panel in board("overview.json")["panels"] if panel["title"] == title]
    _, result, _ = ask(server, panel["targets"][0]["expr"])
    return float(result[0]["value"][1])


def test_the_fleet_is_counted(server):
    """Counts of GPUs, hosts and drivers by state."""
    silent = 3 * CARDS + 2  # of hosts that are down, without a driver, with another page, and two
    assert shown(server, "GPUs expected") == HOSTS * CARDS
    assert shown(server, "GPUs reporting") == HOSTS * CARDS - silent
    assert (shown(server, "GPUs silent"), shown(server, "GPUs missing")) == (1, silent)
    assert (shown(server, "Hosts up"), shown(server, "Hosts down")) == (HOSTS - 1, 1)
    assert (shown(server, "Stalled"), shown(server, "Drivers down")) == (1, 1)


COUNTED = {  # GPUs reporting, silent, missing; whether the host is up
    "node001": (8, 0, 0, 1),
    "node003": (0, 0, 8, 0),
    "node005": (0, 0, 8, 1),
    "node006": (7, 1, 1, 1),
    "node010": (0, 0, 8, 1),
    "node011": (7, 0, 1, 1),
}


@pytest.mark.parametrize("host", sorted(COUNTED))
def test_the_page_of_a_host(server, host):
    """Counts are red if a card is not well."""
    numbers = {}
    for panel in board("host.json")["panels"]:
        if panel["type"] == "stat":
            count, result, _ = ask(server, panel["targets"][0]["expr"].replace("$host", host))
            assert count <= 1, panel["title"]
            numbers[panel["title"]] = float(result[0]["value"][1]) if result else None
    assert tuple(numbers[title] for title in ("GPUs reporting", "GPUs silent", "GPUs missing", "Host")) == COUNTED[host]


def test_alerts_of_others_are_not_counted(server):
    (panel,) = [panel for panel in board("overview.json")["panels"] if panel["title"] == "Firing alerts"]
    query = panel["targets"][0]["expr"]
    assert 'alertname=~"Mthreads.+"' in query
    _, result, _ = ask(server, query)
    rows = {(row["metric"]["alertname"], row["metric"].get("instance")) for row in result}
    assert ("MthreadsGpusMissing", "node011") in rows and ("MthreadsHostDown", "node003") in rows


def test_two_looks_lead_to_a_card(server):
    """Its alerts have its number on both pages; those of a host without a driver have none."""
    for name, more in (("overview.json", {"instance": "node006"}), ("host.json", {})):
        (panel,) = [panel for panel in board(name)["panels"] if panel["title"] == "Firing alerts"]
        _, result, _ = ask(server, panel["targets"][0]["expr"].replace("$host", "node006"))
        assert dict(more, alertname="MthreadsGpuDown", gpu="3", severity="critical") in [
            one["metric"] for one in result
        ]
        assert not [one for one in result if one["metric"].get("instance") == "node005" and "gpu" in one["metric"]]


def test_the_worst_hosts(server):
    """Each unhealthy host is listed with its problem."""
    (panel,) = [panel for panel in board("overview.json")["panels"] if panel["title"] == "Worst hosts"]
    _, result, _ = ask(server, panel["targets"][0]["expr"])
    rows = {(row["metric"]["instance"], row["metric"]["why"]) for row in result}
    assert {(host, why) for host, (_, why, _) in TROUBLE.items()} <= rows
    ranks = [float(row["value"][1]) for row in result]
    assert ranks == sorted(ranks, reverse=True)


def test_heat_maps_hold_every_card(server):
    """The buckets of the heat maps add up."""
    for panel in board("overview.json")["panels"]:
        if panel["type"] == "heatmap":
            _, result, _ = ask(server, panel["targets"][0]["expr"])
            assert sum(float(row["value"][1]) for row in result) == HOSTS * CARDS - 3 * CARDS - 2
            (label,) = set().union(*(row["metric"] for row in result)) - {"__name__"}
            assert panel["targets"][0]["legendFormat"] == "{{%s}}" % label


def test_promtool_takes_the_configuration():
    path = os.path.join(ROOT, "examples", "fleet", "prometheus.yml")
    subprocess.run([PROMETHEUS.find("promtool"), "check", "config", path], check=True)


def test_alerts_fire(server):
    """Critical alerts fire for the unhealthy hosts, and for no other."""
    assert {host for host, _ in pages(server)} == set(TROUBLE)
