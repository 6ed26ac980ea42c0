"""The rules of examples/fleet for pymtml metrics: promtool's own tests, and a real Prometheus server."""

import contextlib
import json
import os
import re
import subprocess
import sys
import urllib.parse

import pytest
from machines import ROOT
from program_set import PROMETHEUS
from scrape import fetch, free_port, until

sys.path.insert(0, os.path.join(ROOT, "tests"))
import simulated  # noqa: E402

PROGRAM = PROMETHEUS
FLEET = os.path.join(ROOT, "examples", "fleet")

pytestmark = pytest.mark.programs

# What the panels of NVIDIA's dashboard for dcgm-exporter ask (12239 at Grafana's), with variables as Grafana replaces
# them. It also asks for DCGM_FI_PROF_PIPE_TENSOR_ACTIVE, which MTML does not tell.
DCGM_QUERIES = (
    'max(DCGM_FI_DEV_GPU_TEMP{Hostname=~".*", gpu=~".*"}) by (Hostname, gpu, uuid)',
    'avg(DCGM_FI_DEV_GPU_TEMP{Hostname=~".*", gpu=~".*"})',
    'max(DCGM_FI_DEV_POWER_USAGE{Hostname=~".*", gpu=~".*"}) by (Hostname, gpu, uuid)',
    'sum(max(DCGM_FI_DEV_POWER_USAGE{Hostname=~".*", gpu=~".*"}) by (gpu))',
    'max(DCGM_FI_DEV_SM_CLOCK{Hostname=~".*", gpu=~".*"} * 1000000) by (Hostname, UUID, gpu)',
    'max(DCGM_FI_PROF_GR_ENGINE_ACTIVE{Hostname=~".*", gpu=~".*"}) by (Hostname, gpu, GPU_I_ID, GPU_I_PROFILE)',
    'DCGM_FI_DEV_GPU_UTIL{instance=~".*", gpu=~".*"}',
    'DCGM_FI_DEV_FB_USED{instance=~".*", gpu=~".*"}',
    'DCGM_FI_DEV_FB_USED{Hostname=~".*"} / (DCGM_FI_DEV_FB_USED{Hostname=~".*"} + DCGM_FI_DEV_FB_FREE{Hostname=~".*"})',
)
# dcgm-exporter's default counters, without those that MTML does not tell
DCGM_COUNTERS = {
    "DCGM_FI_DEV_SM_CLOCK": lambda keys: int(keys["gpu_clock"]),
    "DCGM_FI_DEV_MEM_CLOCK": lambda keys: int(keys["memory_clock"]),
    "DCGM_FI_DEV_MEMORY_TEMP": lambda keys: int(keys["memory_temperature"]),
    "DCGM_FI_DEV_GPU_TEMP": lambda keys: int(keys["gpu_temperature"]),
    "DCGM_FI_DEV_POWER_USAGE": lambda keys: int(keys["power_usage"]) / 1000,
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": lambda keys: int(keys["pcie_replay_counter"]),
    "DCGM_FI_DEV_GPU_UTIL": lambda keys: int(keys["gpu_utilization"]),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": lambda keys: int(keys["gpu_utilization"]) / 100,
    "DCGM_FI_DEV_MEM_COPY_UTIL": lambda keys: int(keys["memory_utilization"]),
    "DCGM_FI_DEV_ENC_UTIL": lambda keys: int(keys["encoder_utilization"]),
    "DCGM_FI_DEV_DEC_UTIL": lambda keys: int(keys["decoder_utilization"]),
    "DCGM_FI_DEV_FB_USED": lambda keys: int(keys["memory_used"]) / 2**20,
    "DCGM_FI_DEV_FB_FREE": lambda keys: (int(keys["memory_total"]) - int(keys["memory_used"])) / 2**20,
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": lambda keys: int(keys["ecc_corrected_volatile"]),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": lambda keys: int(keys["ecc_uncorrected_volatile"]),
    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL": lambda keys: int(keys["ecc_corrected_aggregate"]),
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL": lambda keys: int(keys["ecc_uncorrected_aggregate"]),
    "DCGM_FI_DEV_RETIRED_SBE": lambda keys: len(keys["retired_pages_sbe"].replace(",", " ").split()),
    "DCGM_FI_DEV_RETIRED_DBE": lambda keys: len(keys["retired_pages_dbe"].replace(",", " ").split()),
    "DCGM_FI_DEV_RETIRED_PENDING": lambda keys: int(keys["retired_pages_pending"] == "yes"),
}
# What rules.yml makes of that machine, for its host and for the fleet
RECORDED = {
    "instance:mthreads_gpu_up:count": 2,
    "instance:mthreads_health_status:max": 2,
    "instance:mthreads_gpu_utilization_ratio:avg": (0.61 + 0.71) / 2,
    "instance:mthreads_gpu_memory_used:ratio": (3072 + 6144) / (16384 + 24576),
    "instance:mthreads_gpu_temperature_celsius:max": 52,
    "instance:mthreads_gpu_power_watts:sum": 123 + 134,
    "mthreads_fleet:gpu_power_watts:sum": 123 + 134,
    "mthreads_fleet:gpu_utilization_ratio:avg": (0.61 + 0.71) / 2,
    "mthreads_fleet:gpus_up:count": 2,
    "mthreads_fleet:gpu_memory_used_bytes:sum": (3072 + 6144) * 2**20,
    "mthreads_fleet:gpu_memory_total_bytes:sum": (16384 + 24576) * 2**20,
}


def promtool(*arguments, **options):
    """What promtool says (CompletedProcess)."""
    command = [PROMETHEUS.find("promtool")] + list(arguments)
    return simulated.run(command, cwd=FLEET, stderr=subprocess.STDOUT, **options)


@pytest.mark.parametrize("name", ["rules.yml", "dcgm.rules.yml"])
def test_rules_are_well_formed(name):
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", name)
    assert done.returncode == 0, done.stdout


def metrics(profile, *arguments):
    """The command and its environment for the exporter on a machine."""
    return [sys.executable, "-m", "pymtml", "metrics"] + list(arguments), simulated.environment(profile)


@pytest.mark.parametrize("profile", simulated.ALL_PROFILES)
def test_pages_follow_the_rules_for_names(profile):
    command, environment = metrics(profile)
    page = subprocess.run(command, env=environment, stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    done = promtool("check", "metrics", input=page)
    assert (done.returncode, done.stdout) == (0, "")


class Fleet:
    """A Prometheus server with the rules, and an exporter for each machine."""

    def __init__(self, servers, stack, machines):
        self._server = free_port()
        targets = []
        for name, (profile, count) in machines.items():
            port = free_port()
            command, environment = metrics(profile, "--listen", str(port), "--interval", "0.5")
            stack.enter_context(servers.serve(command, environment))
            targets.append({"targets": ["127.0.0.1:%d" % port], "labels": {"gpus": str(count), "instance": name}})
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [os.path.join(FLEET, name) for name in ("rules.yml", "dcgm.rules.yml")],
            "scrape_configs": [{"job_name": "mthreads", "static_configs": targets}],
        }
        path = os.path.join(servers.folder, "prometheus.yml")
        with open(path, "w") as file:
            json.dump(config, file)  # which is YAML as well
        command = [PROMETHEUS.find(), "--config.file", path]
        command += ["--storage.tsdb.path", os.path.join(servers.folder, "tsdb")]
        command += ["--web.listen-address", "127.0.0.1:%d" % self._server]
        stack.enter_context(servers.serve(command, dict(os.environ)))
        fetch("http://127.0.0.1:%d/-/ready" % self._server)

    def query(self, expression):
        """[(labels, value)] that the server has now."""
        query = urllib.parse.urlencode({"query": expression})
        page = fetch("http://127.0.0.1:%d/api/v1/query?%s" % (self._server, query))
        return [(sample["metric"], float(sample["value"][1])) for sample in json.loads(page)["data"]["result"]]


@pytest.fixture
def fleet(servers):
    with contextlib.ExitStack() as stack:
        yield lambda machines: Fleet(servers, stack, machines)


def test_a_dashboard_of_dcgm_answers(fleet):
    running = fleet({"node01": ("s5000x8", 8), "node02:9406": ("s3000-mpc", 2)})
    for name in ("DEV_GPU_UTIL", "PROF_GR_ENGINE_ACTIVE", "DEV_FB_USED", "DEV_FB_FREE"):
        assert until(lambda: len(running.query('DCGM_FI_%s{Hostname="node02"}' % name)) == 4)  # three parts, a card
    until(lambda: len(running.query("DCGM_FI_DEV_RETIRED_PENDING")) == 8)
    for query in DCGM_QUERIES:
        answers = running.query(query)
        by_card = re.search(r"by \((Hostname|gpu)|^DCGM", query)
        assert len(answers) >= (8 if by_card and "sum(" not in query else 1), query
    parts = {labels.get("GPU_I_ID"): labels for labels, _ in running.query('DCGM_FI_DEV_FB_USED{Hostname="node02"}')}
    assert set(parts) == {"0", "1", "2", None} and parts[None]["gpu"] == "1"
    assert parts["1"]["GPU_I_PROFILE"] == "2c+8gb"


def test_names_of_dcgm_and_records_have_their_values(fleet):
    """Series by DCGM's names, and recorded ones, have the cards' values."""
    running = fleet({"node01": (simulated.DISTINCT, 2)})
    until(lambda: len(running.query("DCGM_FI_DEV_RETIRED_PENDING")) == 2)
    for gpu in range(2):
        keys = simulated.device_keys(simulated.DISTINCT, gpu)
        for name, value in DCGM_COUNTERS.items():
            ((labels, found),) = running.query('%s{gpu="%d"}' % (name, gpu))
            assert found == pytest.approx(value(keys)), name
            wanted = {"UUID": keys["uuid"], "modelName": keys["name"], "device": "mtgpu%d" % gpu, "job": "mthreads"}
            wanted.update(__name__=name, gpu=str(gpu), Hostname="node01", instance="node01", gpus="2")
            assert labels == dict(wanted, pci_bus_id=keys["pci_sbdf"].upper()), name
    for name, value in RECORDED.items():
        ((_, found),) = until(lambda: running.query(name))
        assert found == pytest.approx(value), name


def test_a_sound_fleet_is_not_red(fleet):
    """A healthy fleet raises no alert, and is counted."""
    machines = {"a": ("s5000x8-cpu-hole", 8), "b": ("s4000x8", 8), "c": ("s3000-mpc", 2), "d": ("s3000-vgpu-guest", 1)}
    running = fleet(machines)
    for name in ("mthreads_fleet:gpus_up:count", "mthreads_fleet:gpus_expected:sum"):  # in the order of their groups
        until(lambda: running.query(name) == [({"__name__": name}, 19)])
    wanted = {"hosts": 4, "hosts_up": 4, "gpus_expected": 19, "gpus_down": 0, "hosts_driver_up": 4}
    for name, value in wanted.items():
        record = "mthreads_fleet:%s:%s" % (name, "sum" if name == "gpus_expected" else "count")
        assert until(lambda: [one for _, one in running.query(record)] == [value]), name
    for name in ("gpu_utilization", "gpu_memory_used", "gpu_temperature"):
        counted = [value for _, value in running.query("mthreads_fleet:%s:count" % name)]
        assert 0 < len(counted) <= 13 and sum(counted) == (18 if name == "gpu_temperature" else 19), name
    # Pending ones end as soon as all have been scraped twice; those of hosts are of scrapes that a busy machine missed.
    assert until(lambda: not running.query('ALERTS{problem=~"Gpu.+|Driver.+|Health.+"}'))
