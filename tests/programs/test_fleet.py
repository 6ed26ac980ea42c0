"""A fleet's monitoring: nvitop-exporter scraped by a real Prometheus server, with the files of examples/fleet."""

import contextlib
import json
import math
import os
import shutil
import urllib.parse

import pytest
from machines import MIB, ROOT
from program_set import EXPORTER, PROMETHEUS
from scrape import fetch, free_port, until

PROGRAM = PROMETHEUS
MISSING = (
    "Grafana is in no package registry that the suite uses: its dashboard's queries are run on Prometheus instead."
)

pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(not shutil.which("prometheus"), reason="needs a Prometheus server (Debian package prometheus)"),
]

FLEET = os.path.join(ROOT, "examples", "fleet")

METRICS = {
    "gpu_utilization_Percentage": lambda gpu: gpu.number("gpu_utilization"),
    "gpu_memory_used_MiB": lambda gpu: gpu.number("memory_used") / MIB,
    "gpu_memory_total_MiB": lambda gpu: gpu.number("memory_total") / MIB,
    "gpu_temperature_C": lambda gpu: gpu.number("gpu_temperature"),
    "gpu_power_usage_W": lambda gpu: gpu.number("power_usage") / 1000,
}


class Fleet:
    """The example's Prometheus server, and the exporter that it scrapes."""

    def __init__(self, runner, stack):
        self.runner, self.stack = runner, stack
        self.exporter, self.server = free_port(), free_port()
        with open(os.path.join(FLEET, "prometheus.yml")) as file:
            config = file.read()
        for written, here in (("localhost:8000", "127.0.0.1:%d" % self.exporter), ("interval: 15s", "interval: 1s")):
            assert written in config
            config = config.replace(written, here)
        path = os.path.join(runner.folder, "prometheus.yml")
        with open(path, "w") as file:
            file.write(config)
        command = [shutil.which("prometheus"), "--config.file", path]
        command += ["--storage.tsdb.path", os.path.join(runner.folder, "tsdb")]
        command += ["--web.listen-address", "127.0.0.1:%d" % self.server]
        stack.enter_context(runner.serve(command, dict(os.environ)))
        fetch("http://127.0.0.1:%d/-/ready" % self.server)

    def start_exporter(self, machine):
        command = [EXPORTER.script("nvitop-exporter"), "--bind-address", "127.0.0.1", "--port", str(self.exporter)]
        command += ["--interval", "0.5"]
        self.stack.enter_context(self.runner.serve(command, self.runner.on_pymtml(machine)))

    def query(self, expression):
        """[(labels, value)] that the server has now."""
        query = urllib.parse.urlencode({"query": expression})
        page = fetch("http://127.0.0.1:%d/api/v1/query?%s" % (self.server, query))
        return [(sample["metric"], float(sample["value"][1])) for sample in json.loads(page)["data"]["result"]]

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
    with open(os.path.join(FLEET, "dashboard.json")) as file:
        panels = json.load(file)["panels"]
    for panel in panels:
        for target in panel["targets"]:
            expression = target["expr"].replace("$hostname", ".*").replace("$gpu", ".*")
            answers = fleet.query(expression)
            per_gpu = "{{index}}" in target["legendFormat"]
            assert len(answers) == (8 if per_gpu else 1), panel["title"]
            assert not any(math.isnan(value) for _, value in answers), panel["title"]


def test_lost_gpu(fleet, machine):
    """A GPU lost in the middle: its series turn to NaN, those of the other seven stay, with the right values."""
    # Enough calls for a quarter of a minute of the exporter's rounds, after the server has begun to scrape.
    machine.parser[machine.sections[3]]["lost"] = "DRIVER_FAILURE@1000"
    machine.write()
    fleet.start_exporter(machine)
    temperature = 'gpu_temperature_C{index="3"}'
    until(lambda: any(math.isnan(value) for _, value in fleet.query(temperature)), wait=120)
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
    assert [value for _, value in fleet.query("up")] == [1]
    gone = [p for p in json.load(open(os.path.join(FLEET, "dashboard.json")))["panels"] if "stopped" in p["title"]]
    expression = gone[0]["targets"][0]["expr"].replace("$hostname", ".*").replace("$gpu", ".*")
    assert [value for _, value in fleet.query(expression)] == [1]
