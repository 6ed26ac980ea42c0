"""glances 3: its GPU plugin, which imports py3nvml."""

import json

import pytest
from program_set import GLANCES3 as PROGRAM

pytestmark = pytest.mark.programs


def test_gpu_plugin(runner, machine):
    """`glances --stdout-json gpu`: name, memory, utilization, temperature and fan of all eight GPUs."""
    command = [PROGRAM.script("glances"), "--stdout-json", "gpu", "--stop-after", "1"]
    shown = runner.run(command, runner.on_pymtml(machine))
    (line,) = [line for line in shown.splitlines() if line.startswith("gpu: ")]
    gpus = json.loads(line[len("gpu: ") :])
    assert len(gpus) == 8
    for entry, gpu in zip(gpus, machine.gpus):
        assert (entry["gpu_id"], entry["name"]) == (gpu.index, gpu.name)
        assert entry["mem"] == pytest.approx(100 * gpu.number("memory_used") / gpu.number("memory_total"))
        assert entry["proc"] == gpu.number("gpu_utilization")
        assert entry["temperature"] == gpu.number("gpu_temperature")
        assert entry["fan_speed"] == gpu.fan_speed
