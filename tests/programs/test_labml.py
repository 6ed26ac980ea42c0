"""labml: its monitor of computers."""

import pytest
from program_set import LABML as PROGRAM

pytestmark = pytest.mark.programs

SCAN = """
import json
from labml.internal.computer.monitor.scanner import Scanner

scanner = Scanner()
print(json.dumps([scanner.configs(), scanner.first(), scanner.track()]))
"""


def test_scanner(runner, machine):
    """`Scanner`, which imports py3nvml: name, memory, utilization, temperature and power of eight GPUs."""
    configs, first, track = runner.evaluate(PROGRAM, SCAN, runner.on_pymtml(machine))
    assert configs["gpus"] == 8
    for gpu in machine.gpus:
        assert configs["gpu.name.%d" % gpu.index] == gpu.name
        assert first["gpu.memory.total.%d" % gpu.index] == gpu.number("memory_total")
        assert first.get("gpu.power.limit.%d" % gpu.index) == machine.power_limit(gpu)
        assert track["gpu.memory.used.%d" % gpu.index] == gpu.number("memory_used")
        assert track["gpu.utilization.%d" % gpu.index] == gpu.number("gpu_utilization")
        assert track["gpu.temperature.%d" % gpu.index] == gpu.number("gpu_temperature")
        assert track["gpu.power.usage.%d" % gpu.index] == gpu.number("power_usage")
