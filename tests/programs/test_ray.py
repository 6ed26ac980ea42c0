"""Ray: a local cluster whose dashboard shows the node's GPUs, and whose tasks find their own by MUSA's variable."""

import glob
import json
import os
import sys
import tempfile

import pytest
from machines import Machine
from musa_stack import STANDIN
from program_set import RAY as PROGRAM
from program_set import TORCH, TORCHADA
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
        assert fields["utilization_gpu"] == gpu.gpu_utilization
        assert fields["memory_used"] == gpu.used_mib
        assert fields["memory_total"] == gpu.total_mib
        assert fields["power_mw"] == gpu.power_usage
        assert fields["temperature_c"] == gpu.gpu_temperature
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
    """`ray start --head`: eight GPUs as resources, and their metrics."""
    dashboard, metrics = cluster

    def node():
        nodes = json.loads(fetch(dashboard + "/nodes?view=summary", wait=120))["data"]["summary"]
        return nodes[0] if nodes and nodes[0].get("gpus") else None

    shown = until(node)
    assert shown["raylet"]["resourcesTotal"]["GPU"] == 8
    for gpu, fields in zip(machine.gpus, shown["gpus"]):
        assert (fields["index"], fields["name"], fields["uuid"]) == (gpu.index, gpu.name, gpu.uuid)
        assert fields["utilizationGpu"] == gpu.gpu_utilization
        assert fields["memoryUsed"] == gpu.used_mib
        assert fields["memoryTotal"] == gpu.total_mib
        assert fields["powerMw"] == gpu.power_usage
        assert fields["temperatureC"] == gpu.gpu_temperature
    assert len(shown["gpus"]) == 8

    def exported():
        found = by_label(samples(fetch(metrics + "/metrics", wait=120)), "GpuIndex")
        return found if ("ray_node_gpu_temperature_celsius", "7") in found else None

    page = until(exported)
    for gpu in machine.gpus:
        index = str(gpu.index)
        assert page["ray_node_gpus_utilization", index] == gpu.gpu_utilization
        assert page["ray_node_gram_used", index] == gpu.used_mib
        assert page["ray_node_gpu_power_milliwatts", index] == gpu.power_usage
        assert page["ray_node_gpu_temperature_celsius", index] == gpu.gpu_temperature


# ---- Which cards a task finds ----

CARDS = """
import json, os, sys, tempfile

import pymtml
import ray

VISIBLE, CUDA = "MUSA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"

def variable():
    return os.environ.get(VISIBLE)

class Early:
    # An argument that says, when it is unpickled, what the variable is then.
    def __reduce__(self):
        return variable, ()

def look(early):
    found = {"early": early, "musa": variable(), "cuda": os.environ.get(CUDA), "pid": os.getpid()}
    found["ids"] = sorted(str(entry) for entry in ray.get_gpu_ids())
    if os.environ.get("WITH_TORCHADA"):
        import torchada
        found["after"] = [os.environ.get(VISIBLE), os.environ.get(CUDA)]
    try:
        pymtml.nvmlInit()
    except pymtml.NVMLError:
        return found
    found["cards"] = [pymtml.nvmlDeviceGetIndex(card) for card in pymtml.musa_visible_devices()]
    pymtml.nvmlShutdown()
    return found

class Actor:
    def __init__(self, early):
        self.early = early

    def look(self):
        return look(self.early)

def actors(count, **options):
    made = [ray.remote(num_cpus=0, **options)(Actor).remote(Early()) for _ in range(count)]
    found = ray.get([actor.look.remote() for actor in made], timeout=120)
    for actor in made:
        ray.kill(actor)
    return found

ray.init(num_cpus=4, include_dashboard=False, object_store_memory=100_000_000, log_to_driver=False,
         _temp_dir=os.environ["RAY_FOLDER"], **json.loads(os.environ.get("RAY_OPTIONS", "{}")))
from ray._private.accelerators.nvidia_gpu import CUDA_VISIBLE_DEVICES_ENV_VAR, NvidiaGPUAcceleratorManager
shown = {"resources": ray.cluster_resources().get("GPU", 0), "manager": NvidiaGPUAcceleratorManager.__name__,
         "name": CUDA_VISIBLE_DEVICES_ENV_VAR}
%s
print(json.dumps(shown))
"""

EVERYTHING = """
shown["one each"] = actors(8, num_gpus=1)
shown["three"] = actors(2, num_gpus=3)
shown["half"] = actors(2, num_gpus=0.5)
group = ray.util.placement_group([{"GPU": 2}, {"GPU": 1}])
ray.get(group.ready(), timeout=60)
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy as Strategy
shown["group"] = [actors(1, num_gpus=count, scheduling_strategy=Strategy(group, placement_group_bundle_index=place))[0]
                  for place, count in enumerate((2, 1))]
ray.util.remove_placement_group(group)
task = ray.remote(num_gpus=1, num_cpus=1, max_calls=100)(look)  # Ray would start a worker for each
shown["tasks"] = [ray.get(task.remote(Early()), timeout=60) for _ in range(4)]
shown["none"] = ray.get([ray.remote(num_gpus=0)(look).remote(Early()) for _ in range(3)], timeout=60)
"""

PAIR = """
shown["pair"] = actors(2, num_gpus=1)
"""

NONE = """
shown["none"] = ray.get(ray.remote(num_gpus=0)(look).remote(Early()), timeout=60)
"""


@pytest.fixture
def ask_cluster(runner, tmp_path):
    """What CARDS prints in a cluster of its own on eight cards, with these variables."""

    def ask(what, before=(), **variables):
        environment = runner.on_pymtml(Machine(tmp_path))
        with tempfile.TemporaryDirectory(prefix="ray") as folder:
            environment.update(RAY_USAGE_STATS_ENABLED="0", RAY_FOLDER=folder, **variables)
            command = list(before) + [PROGRAM.python, "-c", CARDS % what]
            return json.loads(runner.run(command, environment).splitlines()[-1])

    return ask


def check(found, count, distinct=True):
    """Each one has its cards, before its arguments were unpickled, in the variable and by pymtml's word."""
    for entry in found:
        assert entry["early"] == entry["musa"] and len(entry["cards"]) == count
        assert sorted(entry["musa"].split(",")) == entry["ids"] == sorted(map(str, entry["cards"]))
        assert entry["cuda"] is None
    cards = [card for entry in found for card in entry["cards"]]
    assert len(set(cards)) == (len(cards) if distinct else count)
    return set(cards)


def test_cards(ask_cluster):
    """Tasks and actors find their cards in `MUSA_VISIBLE_DEVICES`."""
    shown = ask_cluster(EVERYTHING)
    assert (shown["resources"], shown["name"]) == (8, "MUSA_VISIBLE_DEVICES")
    assert check(shown["one each"], 1) == set(range(8))
    check(shown["three"], 3)
    check(shown["half"], 1, distinct=False)
    check(shown["group"][:1], 2)
    check(shown["group"][1:], 1)
    for task in shown["tasks"]:
        check([task], 1)
    assert len({task["pid"] for task in shown["tasks"]}) < len(shown["tasks"]), "no worker was used again"
    for entry in shown["none"]:  # as CUDA's variable: left alone
        assert (entry["early"], entry["musa"], entry["ids"], len(entry["cards"])) == (None, None, [], 8)


def test_cards_of_torchada(ask_cluster):
    """A task that imports torchada keeps its cards."""
    folders = [TORCHADA.folder, STANDIN] + glob.glob(
        os.path.join(os.path.dirname(TORCH.python), "../lib/*/site-packages")
    )
    torchada = {"WITH_TORCHADA": "1", "CXX": "false", "TORCHINDUCTOR_COMPILE_THREADS": "1", "STANDIN_MUSA_DEVICES": "1"}
    add = "import os, sys; os.environ['PYTHONPATH'] += os.pathsep + %r; os.execvp(sys.argv[1], sys.argv[1:])"
    shown = ask_cluster(PAIR, [sys.executable, "-S", "-c", add % os.pathsep.join(folders)], **torchada)
    check(shown["pair"], 1)
    for entry in shown["pair"]:
        assert entry["after"] == [entry["musa"]] * 2


def test_cards_that_the_driver_chose(ask_cluster):
    """If the user sets `MUSA_VISIBLE_DEVICES`, Ray assigns only these cards."""
    shown = ask_cluster(PAIR, MUSA_VISIBLE_DEVICES="4,5")
    assert shown["resources"] == 2
    assert check(shown["pair"], 1) == {4, 5}


def test_all_cards(ask_cluster):
    """`MUSA_VISIBLE_DEVICES=all` counts as unset."""
    shown = ask_cluster(PAIR, MUSA_VISIBLE_DEVICES="all")
    assert shown["resources"] == 8
    check(shown["pair"], 1)


@pytest.mark.parametrize("vendor", ["MUSA", "CUDA"])
def test_not_to_be_set(ask_cluster, vendor):
    """`RAY_EXPERIMENTAL_NOSET_MUSA_VISIBLE_DEVICES` is obeyed."""
    shown = ask_cluster(PAIR, **{"RAY_EXPERIMENTAL_NOSET_%s_VISIBLE_DEVICES" % vendor: "1"})
    for entry in shown["pair"]:
        assert (entry["musa"], len(entry["ids"]), len(entry["cards"])) == (None, 1, 8)


def test_none_where_ray_is_told_to_hide_them(ask_cluster):
    """With `RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO` a task without cards sees none."""
    shown = ask_cluster(NONE, RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="1")
    assert (shown["none"]["early"], shown["none"]["musa"], shown["none"]["cards"]) == ("", "", [])


def test_without_a_library(ask_cluster):
    """Without MTML, or with NVIDIA's driver: Ray's own manager."""
    shown = ask_cluster(
        PAIR, LD_LIBRARY_PATH="", PYMTML_LIBRARY="/nonexistent/libmtml.so", RAY_OPTIONS=json.dumps({"num_gpus": 2})
    )
    assert (shown["manager"], shown["name"]) == ("NvidiaGPUAcceleratorManager", "CUDA_VISIBLE_DEVICES")
    assert sorted(entry["cuda"] for entry in shown["pair"]) == ["0", "1"]
    assert [entry["musa"] for entry in shown["pair"]] == [None, None]


def test_beside_an_nvidia_driver(ask_cluster, runner):
    """Without MTML, or with NVIDIA's driver: Ray's own manager."""
    os.makedirs(os.path.join(runner.proc, "driver", "nvidia"))
    with open(os.path.join(runner.proc, "driver", "nvidia", "version"), "w") as file:
        file.write("NVRM version\n")
    shown = ask_cluster(PAIR)
    assert (shown["manager"], shown["name"]) == ("NvidiaGPUAcceleratorManager", "CUDA_VISIBLE_DEVICES")
    assert all(entry["cuda"] and entry["musa"] is None for entry in shown["pair"])
