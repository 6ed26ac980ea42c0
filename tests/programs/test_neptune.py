"""neptune: the GPU gauges of a run."""

import pytest
from program_set import NEPTUNE as PROGRAM

pytestmark = pytest.mark.programs

MISSING = "With a library that does not tell the power limit: the largest power rating is 0, neptune's own default."

MONITOR = """
import json
from neptune.common.hardware.gpu.gpu_monitor import GPUMonitor

monitor = GPUMonitor()
cards = [
    [monitor.get_card_usage_percent(i), monitor.get_card_used_memory_in_bytes(i), monitor.get_card_power_usage(i)]
    for i in range(monitor.get_card_count())
]
print(json.dumps([cards, monitor.get_card_max_power_rating(), monitor.get_top_card_memory_in_bytes()]))
"""


def test_monitor(runner, machine):
    """`GPUMonitor`: utilization, memory and power of eight GPUs, and the scales of their charts."""
    cards, rating, memory = runner.evaluate(PROGRAM, MONITOR, runner.on_pymtml(machine))
    keys = ("gpu_utilization", "memory_used", "power_usage")
    assert cards == [[gpu.number(key) for key in keys] for gpu in machine.gpus]
    assert rating == max((machine.power_limit(gpu) or 0) // 1000 for gpu in machine.gpus)
    assert memory == max(gpu.number("memory_total") for gpu in machine.gpus)
