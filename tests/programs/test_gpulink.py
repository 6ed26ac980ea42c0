"""gpulink: sensors on the screen, recordings; it asks the package that pynvml was before version 12."""

import re

import pytest
from machines import Machine
from program_set import GPULINK as PROGRAM

pytestmark = pytest.mark.programs

MISSING = "`gpulink sensors` ends in a traceback on a card without fans, as it does on NVIDIA's."

RECORD = """
import json
from gpulink import DeviceCtx
from gpulink.devices.nvml_defines import TemperatureSensorType

with DeviceCtx() as context:
    print(json.dumps([
        [[m.total, m.used, m.free] for m in context.get_memory_info(None)],
        [t.value for t in context.get_temperature(TemperatureSensorType.GPU)],
        [p.value for p in context.get_power_usage(None)],
        list(context.gpus.names),
    ]))
"""


def test_context(runner, machine):
    """`DeviceCtx`: name, memory, temperature and power of eight GPUs."""
    memory, temperature, power, names = runner.evaluate(PROGRAM, RECORD, runner.on_pymtml(machine))
    assert [row[:2] for row in memory] == [[g.number("memory_total"), g.number("memory_used")] for g in machine.gpus]
    assert temperature == [gpu.number("gpu_temperature") for gpu in machine.gpus]
    assert power == [gpu.number("power_usage") for gpu in machine.gpus]
    assert names == [gpu.name for gpu in machine.gpus]


def test_sensors(runner, tmp_path):
    """`gpulink sensors` on an S80: memory, fan, temperature, clocks and power."""
    machine = Machine(tmp_path, "s80")
    shown = runner.run([PROGRAM.script("gpulink"), "sensors"], runner.on_pymtml(machine))
    (gpu,) = machine.gpus
    numbers = set(re.findall(r"\d+", shown))
    assert gpu.name in shown
    assert {str(gpu.fan_speed), gpu.text("gpu_temperature"), gpu.text("gpu_clock")} <= numbers
