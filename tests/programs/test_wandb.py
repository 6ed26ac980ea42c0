"""wandb 0.15: the system metrics of a run. Later versions ask a program of their own, which loads NVML by itself."""

import pytest
from program_set import WANDB as PROGRAM

pytestmark = pytest.mark.programs

MISSING = (
    "From 0.16 on wandb reads GPUs in a compiled program of its own, which no Python module can serve; without a "
    "power limit there is no power percentage."
)

SAMPLE = """
import json, os
from wandb.sdk.internal.system.assets import gpu

class Settings:
    _stats_pid = os.getpid()
    _stats_sample_rate_seconds = 1
    _stats_samples_to_average = 1
    _stats_join_assets = False

assert gpu.GPU.is_available()
asset = gpu.GPU(None, Settings(), None)
found = {}
for metric in asset.metrics:
    try:
        metric.sample()
    except gpu.pynvml.NVMLError_NotSupported:
        continue
    found.update(metric.aggregate())
print(json.dumps([asset.probe(), found]))
"""


def test_asset(runner, machine):
    """The asset `GPU` of the system monitor: memory, utilization, temperature and power of eight GPUs."""
    probe, found = runner.evaluate(PROGRAM, SAMPLE, runner.on_pymtml(machine))
    assert (probe["gpu"], probe["gpu_count"]) == (machine.gpus[0].name, 8)
    assert probe["gpu_devices"] == [
        {"name": gpu.name, "memory_total": gpu.number("memory_total")} for gpu in machine.gpus
    ]
    for gpu in machine.gpus:
        used, total = gpu.number("memory_used"), gpu.number("memory_total")
        expected = {
            "gpu": gpu.number("gpu_utilization"),
            "memory": gpu.number("memory_utilization"),
            "memoryAllocated": pytest.approx(100 * used / total, abs=0.01),
            "memoryAllocatedBytes": used,
            "temp": gpu.number("gpu_temperature"),
            "powerWatts": pytest.approx(gpu.number("power_usage") / 1000),
        }
        if machine.power_limit(gpu) is not None:
            expected["powerPercent"] = pytest.approx(
                100 * gpu.number("power_usage") / machine.power_limit(gpu), abs=0.01
            )
        prefix = "gpu.%d." % gpu.index
        assert {name[len(prefix) :]: value for name, value in found.items() if name.startswith(prefix)} == expected
