"""The files of examples/fleet/nvitop-exporter: their formats, and that each speaks of what the others serve."""

import configparser
import json
import os
import re
import shutil
import subprocess

import pytest
import yaml
from machines import ROOT
from program_set import EXPORTER
from scrape import free_port, settled

FLEET = os.path.join(ROOT, "examples", "fleet", "nvitop-exporter")


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


def service():
    """What the unit says below [Service]: {name: value}, the last one where a name comes twice."""
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str
    unit.read_string(read("nvitop-exporter.service"))
    assert set(unit.sections()) == {"Unit", "Service", "Install"}
    return unit["Service"]


def exporter_port():
    """The port that the unit lets the exporter listen on."""
    return re.search(r"nvitop-exporter .*--port (\d+)", service()["ExecStart"]).group(1)


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


needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze (systemd)")


@needs_systemd
def test_unit_is_hardened():
    """systemd's rating of what the service may do: 10 is everything, and below 3 is called OK."""
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager"]
    command.append(os.path.join(FLEET, "nvitop-exporter.service"))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if "--offline" in done.stdout:
        pytest.skip("this systemd-analyze rates no files: " + done.stdout.strip())
    assert done.returncode == 0, done.stdout
    assert (
        float(re.search(r"exposure level for nvitop-exporter.service: ([\d.]+)", done.stdout).group(1)) <= 2
    ), done.stdout


def test_unit_leaves_the_exporter_what_it_reads():
    """The GPUs' device files, all of /proc, and the network: settings that close these to a service are not there."""
    closing = {"DeviceAllow", "DevicePolicy", "PrivateDevices", "ProtectClock"}
    closing |= {"ProtectProc", "ProcSubset", "PrivatePIDs", "PrivateUsers", "PrivateNetwork", "IPAddressDeny"}
    assert not closing & set(service())
    assert {"AF_INET", "AF_INET6"} <= set(service()["RestrictAddressFamilies"].split())


@needs_systemd
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize("machine", ["as shipped"], indirect=True)
def test_unit_allows_the_system_calls_that_the_exporter_makes(runner, machine):
    def calls(group):
        said = subprocess.run(
            ["systemd-analyze", "syscall-filter", "--no-pager", group], stdout=subprocess.PIPE, check=True
        )
        names = [line.strip() for line in said.stdout.decode().splitlines()[1:] if not line.strip().startswith("#")]
        return {name for group in names for name in (calls(group) if group.startswith("@") else [group])}

    port, trace = free_port(), os.path.join(runner.folder, "trace")
    command = [EXPORTER.script("nvitop-exporter"), "--bind-address", "127.0.0.1", "--port", str(port)]
    # With -o strace takes no signals by itself, and outlasts the patience of serve().
    watched = [shutil.which("strace"), "-I", "2", "-f", "-qq", "-o", trace] + command
    watched += ["--interval", "0.5", "--hostname", "here"]
    with runner.serve(watched, runner.on_pymtml(machine)):
        assert settled("http://127.0.0.1:%d/metrics" % port)
    with open(trace, encoding="utf-8", errors="replace") as file:
        made = set(re.findall(r"^\d+ +(\w+)\(", file.read(), re.MULTILINE))
    assert {"openat", "socket", "bind", "listen"} <= made
    allowed = calls("@system-service") - calls("@privileged") - calls("@resources")
    assert service()["SystemCallFilter"] == "~@privileged @resources"
    assert made <= allowed | calls("@default")


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
    # Prometheus itself makes this one, with the labels of its configuration.
    (job,) = yaml.safe_load(read("prometheus.yml"))["scrape_configs"]
    of_prometheus = ("up", 'job="%s"' % job["job_name"])
    assert of_prometheus in asked
    asked = [selector for selector in asked if selector != of_prometheus]
    assert asked
    for metric, selection in asked:
        assert metric in labels, metric
        assert set(re.findall(r"(\w+)=~", selection)) <= labels[metric], metric
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            shown = set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")))
            metric = re.search(r"(\w+)\{", target["expr"]).group(1)
            assert shown <= (labels[metric] if metric != "up" else {"instance", "job"}), panel["title"]
