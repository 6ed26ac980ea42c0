"""A fleet's monitoring: nvitop-exporter scraped by a real Prometheus server, with the files of
examples/fleet/nvitop-exporter."""

import contextlib
import json
import math
import os
import urllib.parse

import pytest
from machines import MIB, ROOT, Machine
from program_set import EXPORTER, PROMETHEUS
from scrape import fetch, free_port, until

PROGRAM = PROMETHEUS
MISSING = (
    "Grafana is in no package registry that the suite uses: its dashboard's queries are run on Prometheus instead."
)

pytestmark = pytest.mark.programs

FLEET = os.path.join(ROOT, "examples", "fleet", "nvitop-exporter")

METRICS = {
    "gpu_utilization_Percentage": lambda gpu: gpu.number("gpu_utilization"),
    "gpu_memory_used_MiB": lambda gpu: gpu.number("memory_used") / MIB,
    "gpu_memory_total_MiB": lambda gpu: gpu.number("memory_total") / MIB,
    "gpu_temperature_C": lambda gpu: gpu.number("gpu_temperature"),
    "gpu_power_usage_W": lambda gpu: gpu.number("power_usage") / 1000,
}


COUNTS = ("GPUs that report", "GPUs that stopped reporting", "Hosts that report", "Hosts that are down")


def panels():
    with open(os.path.join(FLEET, "dashboard.json"), encoding="utf-8") as file:
        return json.load(file)["panels"]


class Fleet:
    """The example's Prometheus server, and the hosts with an exporter that it scrapes."""

    HOSTS = 3

    def __init__(self, runner, stack):
        self.runner, self.stack = runner, stack
        self.server, self.exporters = free_port(), [free_port() for _ in range(self.HOSTS)]
        self.running = {}
        with open(os.path.join(FLEET, "prometheus.yml")) as file:
            config = file.read()
        target = "- localhost:8000\n"
        (indent,) = (line[: line.index("-")] for line in config.splitlines() if target.strip() in line)
        targets = indent.join("- 127.0.0.1:%d\n" % port for port in self.exporters)
        for written, here in ((target, targets), ("interval: 15s", "interval: 1s")):
            assert written in config
            config = config.replace(written, here)
        path = os.path.join(runner.folder, "prometheus.yml")
        with open(path, "w") as file:
            file.write(config)
        command = [PROMETHEUS.find(), "--config.file", path]
        command += ["--storage.tsdb.path", os.path.join(runner.folder, "tsdb")]
        command += ["--web.listen-address", "127.0.0.1:%d" % self.server]
        stack.enter_context(runner.serve(command, dict(os.environ)))
        fetch("http://127.0.0.1:%d/-/ready" % self.server)

    def start_exporter(self, machine, host=0):
        command = [EXPORTER.script("nvitop-exporter"), "--bind-address", "127.0.0.1"]
        command += ["--port", str(self.exporters[host]), "--interval", "0.5", "--hostname", "host-%d" % host]
        self.running[host] = contextlib.ExitStack()
        self.running[host].enter_context(self.runner.serve(command, self.runner.on_pymtml(machine)))
        self.stack.push(self.running[host])

    def stop_exporter(self, host):
        self.running.pop(host).close()

    def query(self, expression):
        """[(labels, value)] that the server has now."""
        query = urllib.parse.urlencode({"query": expression})
        page = fetch("http://127.0.0.1:%d/api/v1/query?%s" % (self.server, query))
        return [(sample["metric"], float(sample["value"][1])) for sample in json.loads(page)["data"]["result"]]

    def panel(self, title, host=".*"):
        """[value] that the dashboard's panel shows, for one host or all."""
        (expression,) = (target["expr"] for panel in panels() for target in panel["targets"] if panel["title"] == title)
        return [value for _, value in self.query(expression.replace("$hostname", host).replace("$gpu", ".*"))]

    def counts(self):
        """What the panels that count show."""
        return [value for title in COUNTS for value in self.panel(title)]

    def gpus(self):
        """{(metric, index, name, UUID): value}."""
        found = self.query('{__name__=~"%s"}' % "|".join(METRICS))
        names = ("__name__", "index", "devicename", "uuid")
        return {tuple(labels[name] for name in names): value for labels, value in found}


@pytest.fixture
def fleet(runner):
    with contextlib.ExitStack() as stack:
        yield Fleet(runner, stack)


def expected(machine):
    return {
        (metric, str(gpu.index), gpu.name, gpu.uuid): pytest.approx(value(gpu))
        for metric, value in METRICS.items()
        for gpu in machine.gpus
    }


def test_series_arrive(fleet, machine):
    """nvitop-exporter's series of eight GPUs in the Prometheus server, and data for every query of the dashboard."""
    fleet.start_exporter(machine)
    wanted = expected(machine)
    until(lambda: len(fleet.gpus()) >= len(wanted))
    assert fleet.gpus() == wanted
    all_asked = [8, 0, 1, 2]  # each host has its moment within the interval; two have never answered
    until(lambda: fleet.counts() == all_asked)
    assert fleet.counts() == all_asked
    for panel in panels():
        for target in panel["targets"]:
            expression = target["expr"].replace("$hostname", ".*").replace("$gpu", ".*")
            answers = fleet.query(expression)
            per_gpu, per_host = "{{index}}" in target["legendFormat"], "{{instance}}" in target["legendFormat"]
            assert len(answers) == (8 if per_gpu else fleet.HOSTS if per_host else 1), panel["title"]
            assert not any(math.isnan(value) for _, value in answers), panel["title"]


def test_killed_exporter(fleet, runner, tmp_path):
    """The exporter of one of three hosts dies: its GPUs count as stopped and its host as down until it is back."""
    # To the exporter the instances of a divided card are GPUs as well.
    profiles = ("s5000x8", "s3000x2", "s3000-mpc")
    machines = []
    for host, profile in enumerate(profiles):
        folder = tmp_path / profile
        folder.mkdir()
        machines.append(Machine(folder, profile))
        fleet.start_exporter(machines[host], host)
    all_well = [8 + 2 + 5, 0, 3, 0]
    until(lambda: fleet.counts() == all_well)
    assert fleet.counts() == all_well
    fleet.stop_exporter(1)
    one_down = [8 + 5, 2, 2, 1]
    until(lambda: fleet.counts() == one_down)
    assert fleet.counts() == one_down
    assert [fleet.panel("GPUs that stopped reporting", "host-%d" % host) for host in range(3)] == [[0], [2], [0]]
    assert sorted(fleet.panel("Hosts")) == [0, 1, 1]
    fleet.start_exporter(machines[1], 1)
    until(lambda: fleet.counts() == all_well)
    assert fleet.counts() == all_well


def test_lost_gpu(fleet, machine):
    """A GPU lost in the middle: its series turn to NaN, those of the other seven stay, with the right values."""
    # Enough calls for a quarter of a minute of the exporter's rounds, after the server has begun to scrape.
    machine.parser[machine.sections[3]]["lost"] = "DRIVER_FAILURE@1000"
    machine.write()
    fleet.start_exporter(machine)
    temperature = 'gpu_temperature_C{index="3"}'
    # The exporter writes one series after the other, and the server may come in between.
    until(lambda: sum(map(math.isnan, fleet.gpus().values())) == len(METRICS) - 1, wait=120)
    now = fleet.gpus()
    lost = {key: value for key, value in now.items() if key[1] == "3"}
    wanted = expected(machine)
    assert {key: value for key, value in now.items() if key[1] != "3"} == {
        key: value for key, value in wanted.items() if key[1] != "3"
    }
    # nvitop keeps the size of the memory, as it keeps the name.
    assert {key[0]: math.isnan(value) for key, value in lost.items()} == {
        metric: metric != "gpu_memory_total_MiB" for metric in METRICS
    }
    before = fleet.query("max_over_time(%s[10m])" % temperature)
    assert [value for _, value in before] == [machine.gpus[3].number("gpu_temperature")]
    assert fleet.counts() == [7, 1, 1, 2]
