"""The files of examples/fleet by themselves: their formats, and that each speaks of what the others serve."""

import configparser
import json
import os
import re

import pytest
import yaml
from machines import ROOT
from program_set import EXPORTER
from scrape import free_port, settled

FLEET = os.path.join(ROOT, "examples", "fleet")
COLUMNS = 24  # of Grafana's grid


def read(name):
    with open(os.path.join(FLEET, name), encoding="utf-8") as file:
        return file.read()


def dashboard():
    return json.loads(read("dashboard.json"))


def queries():
    """All PromQL of the dashboard, its variables replaced as Grafana does."""
    board = dashboard()
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    found += [
        re.match(r"label_values\((.*), \w+\)$", variable["query"]).group(1)
        for variable in board["templating"]["list"]
        if variable["type"] == "query"
    ]
    return [query.replace("$hostname", ".*").replace("$gpu", ".*") for query in found]


def exporter_port():
    """The port that the unit lets the exporter listen on."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read_string(read("nvitop-exporter.service"))
    assert set(unit.sections()) == {"Unit", "Service", "Install"}
    return re.search(r"nvitop-exporter .*--port (\d+)", unit["Service"]["ExecStart"]).group(1)


def test_prometheus_scrapes_the_port_that_the_unit_opens():
    config = yaml.safe_load(read("prometheus.yml"))
    assert set(config) == {"global", "scrape_configs"}
    assert re.match(r"\d+[smh]$", config["global"]["scrape_interval"])
    targets = [
        target
        for job in config["scrape_configs"]
        for static in job["static_configs"]
        for target in static["targets"]
        if job["job_name"]
    ]
    assert targets and all(target.rpartition(":")[2] == exporter_port() for target in targets)


def test_datasource():
    config = yaml.safe_load(read("datasource.yml"))
    (source,) = config["datasources"]
    assert config["apiVersion"] == 1
    assert (source["type"], source["url"]) == ("prometheus", "http://localhost:9090")


def test_panels_are_placed_beside_each_other():
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) > 0
    taken = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(taken)) == len(taken)
    assert all(0 <= x < COLUMNS for x, y in taken)


def test_variables_are_defined():
    board = dashboard()
    defined = {variable["name"] for variable in board["templating"]["list"]}
    assert set(re.findall(r"\$\{?(\w+)", json.dumps(board))) - {"__all"} == defined


def test_queries_are_promql():
    promql_parser = pytest.importorskip("promql_parser", reason="comes with the extra dev on Python 3.11 and newer")
    for query in queries():
        promql_parser.parse(query)


@pytest.mark.parametrize("machine", ["as shipped"], indirect=True)
def test_queries_ask_for_what_the_exporter_serves(runner, machine):
    """Each series that the dashboard names, with the labels that it selects and shows by."""
    port = free_port()
    command = [EXPORTER.script("nvitop-exporter"), "--bind-address", "127.0.0.1", "--port", str(port)]
    with runner.serve(command + ["--interval", "0.5"], runner.on_pymtml(machine)):
        found = settled("http://127.0.0.1:%d/metrics" % port)
    labels = {}
    for metric, pairs in found:
        labels.setdefault(metric, set()).update(dict(pairs))
    asked = [selector for query in queries() for selector in re.findall(r"(\w+)(?:\{(.*?)\}|$)", query)]
    assert asked
    for metric, selection in asked:
        assert metric in labels, metric
        assert set(re.findall(r"(\w+)=~", selection)) <= labels[metric], metric
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            shown = set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")))
            metric = re.search(r"(\w+)\{", target["expr"]).group(1)
            assert shown <= labels[metric], panel["title"]
