"""trackio logs GPUs beside a training run; the package alone is installed, without the web interface it requires."""

import os

import pytest
from machines import MIB
from program_set import TRACKIO

pytestmark = pytest.mark.programs

PROGRAM = TRACKIO
MISSING = "Energy: MTML has no counter, and trackio leaves the value out."

CODE = """
import importlib.util, json
spec = importlib.util.spec_from_file_location("trackio_gpu", %r)
gpu = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gpu)
print(json.dumps([gpu.get_gpu_count(), gpu.collect_gpu_metrics()]))
"""


def test_metrics(runner, machine):
    """`collect_gpu_metrics()`: utilization, memory, power, temperature and clocks of eight GPUs."""
    code = CODE % os.path.join(TRACKIO.folder, "trackio", "gpu.py")
    (count, _), metrics = runner.evaluate(TRACKIO, code, runner.on_pymtml(machine))
    assert count == 8
    for gpu in machine.gpus:
        begin = "gpu/%d/" % gpu.index
        assert metrics[begin + "utilization"] == gpu.number("gpu_utilization")
        assert metrics[begin + "temp"] == gpu.number("gpu_temperature")
        assert metrics[begin + "power"] == pytest.approx(gpu.number("power_usage") / 1000)
        assert metrics[begin + "total_memory"] == pytest.approx(gpu.number("memory_total") / MIB / 1024)
        assert metrics[begin + "allocated_memory"] == pytest.approx(gpu.number("memory_used") / MIB / 1024)
