"""Ray: a local cluster whose dashboard shows the node's GPUs."""

import json
import tempfile

import pytest
from machines import MIB
from program_set import RAY as PROGRAM
from scrape import by_label, fetch, free_port, samples, until

pytestmark = pytest.mark.programs

# Ray takes 127.0.0.1 for a mistake and goes on with the machine's outside address; it leaves this one alone.
HOST = "127.0.0.2"

PROVIDER = """
import json
from ray._private.accelerators.nvidia_gpu import NvidiaGPUAcceleratorManager as manager
from ray.dashboard.modules.reporter.gpu_providers import NvidiaGpuProvider

provider = NvidiaGpuProvider()
assert provider.is_available()
print(json.dumps({
    "gpus": provider.get_gpu_utilization(),
    "count": manager.get_current_node_num_accelerators(),
    "type": manager.get_current_node_accelerator_type(),
}))
"""


def test_provider(runner, machine, processes):
    """`NvidiaGpuProvider`, and the accelerator manager's count and type."""
    pid = processes({1: 17})
    shown = runner.evaluate(PROGRAM, PROVIDER, runner.on_pymtml(machine))
    assert shown["count"] == 8
    assert shown["type"] == machine.gpus[0].name.split()[-1]
    for gpu, fields in zip(machine.gpus, shown["gpus"]):
        assert (fields["index"], fields["name"], fields["uuid"]) == (gpu.index, gpu.name, gpu.uuid)
        assert fields["utilization_gpu"] == gpu.number("gpu_utilization")
        assert fields["memory_used"] == gpu.number("memory_used") // MIB
        assert fields["memory_total"] == gpu.number("memory_total") // MIB
        assert fields["power_mw"] == gpu.number("power_usage")
        assert fields["temperature_c"] == gpu.number("gpu_temperature")
        users = {int(pid): process["gpu_utilization"] for pid, process in fields["processes_pids"].items()}
        assert users == ({pid: 17} if gpu.index == 1 else {})


@pytest.fixture
def cluster(runner, machine):
    """The addresses of the dashboard and of the metrics page of a cluster of one node."""
    dashboard, metrics, agent, client = (free_port(HOST) for _ in range(4))
    environment = dict(runner.on_pymtml(machine), RAY_USAGE_STATS_ENABLED="0")
    command = [PROGRAM.script("ray"), "start", "--head", "--block", "--include-dashboard=true"]
    command += ["--node-ip-address=" + HOST, "--port=%d" % free_port(HOST)]
    command += ["--dashboard-host=" + HOST, "--dashboard-port=%d" % dashboard, "--metrics-export-port=%d" % metrics]
    command += ["--dashboard-agent-listen-port=%d" % agent, "--ray-client-server-port=%d" % client]
    command += ["--num-cpus=1", "--object-store-memory=100000000"]
    # Ray keeps sockets below this folder, whose path must not be longer than the 107 bytes of a socket's name.
    with tempfile.TemporaryDirectory(prefix="ray") as folder, runner.serve(
        command + ["--temp-dir=" + folder], environment
    ):
        yield "http://%s:%d" % (HOST, dashboard), "http://%s:%d" % (HOST, metrics)


def test_cluster(runner, machine, cluster):
    """`ray start --head`: eight GPUs as resources, and their metrics in the dashboard and its Prometheus page."""
    dashboard, metrics = cluster

    def node():
        nodes = json.loads(fetch(dashboard + "/nodes?view=summary", wait=120))["data"]["summary"]
        return nodes[0] if nodes and nodes[0].get("gpus") else None

    shown = until(node)
    assert shown["raylet"]["resourcesTotal"]["GPU"] == 8
    for gpu, fields in zip(machine.gpus, shown["gpus"]):
        assert (fields["index"], fields["name"], fields["uuid"]) == (gpu.index, gpu.name, gpu.uuid)
        assert fields["utilizationGpu"] == gpu.number("gpu_utilization")
        assert fields["memoryUsed"] == gpu.number("memory_used") // MIB
        assert fields["memoryTotal"] == gpu.number("memory_total") // MIB
        assert fields["powerMw"] == gpu.number("power_usage")
        assert fields["temperatureC"] == gpu.number("gpu_temperature")
    assert len(shown["gpus"]) == 8

    def exported():
        found = by_label(samples(fetch(metrics + "/metrics", wait=120)), "GpuIndex")
        return found if ("ray_node_gpu_temperature_celsius", "7") in found else None

    page = until(exported)
    for gpu in machine.gpus:
        index = str(gpu.index)
        assert page["ray_node_gpus_utilization", index] == gpu.number("gpu_utilization")
        assert page["ray_node_gram_used", index] == gpu.number("memory_used") // MIB
        assert page["ray_node_gpu_power_milliwatts", index] == gpu.number("power_usage")
        assert page["ray_node_gpu_temperature_celsius", index] == gpu.number("gpu_temperature")
