"""zeus: energy measurement for deep learning."""

import pytest
from program_set import ZEUS as PROGRAM

MISSING = (
    "`ZeusMonitor` fails: zeus takes every GPU of an unknown architecture for one with an energy counter, and MTML "
    "has none; `PowerMonitor` works. Memory power and, with MTML 2.2.0, the power limit are refused."
)

pytestmark = pytest.mark.programs

GPUS = """
import json
from zeus.device import get_gpus

def ask(function, index):
    try:
        return function(index)
    except Exception as error:
        return type(error).__name__

gpus = get_gpus()
questions = (
    gpus.get_name, gpus.get_instant_power_usage, gpus.get_gpu_temperature, gpus.get_power_management_limit,
    gpus.get_total_energy_consumption,
)
print(json.dumps([[ask(question, i) for question in questions] for i in range(len(gpus))]))
"""

POWER = """
import json, time
from zeus.monitor import PowerMonitor

monitor = PowerMonitor(update_period=0.1)
power = None
for _ in range(100):
    power = monitor.get_power()
    if power and len(power) == 8:
        break
    time.sleep(0.1)
print(json.dumps(power))
"""


def test_show_env(runner, machine):
    """`python -m zeus.show_env` names the eight GPUs."""
    shown = runner.run([PROGRAM.python, "-m", "zeus.show_env"], runner.on_pymtml(machine))
    for gpu in machine.gpus:
        assert "GPU %d -> GPU %d (%s)" % (gpu.index, gpu.index, gpu.name) in shown


def test_get_gpus(runner, machine):
    """`get_gpus()`: name, power, temperature and power limit of each GPU; NotSupported for the energy counter."""
    refused = "ZeusGPUNotSupportedError"
    shown = runner.evaluate(PROGRAM, GPUS, runner.on_pymtml(machine))
    assert shown == [
        [gpu.name, gpu.number("power_usage"), gpu.number("gpu_temperature")]
        + [machine.power_limit(gpu) or refused, refused]
        for gpu in machine.gpus
    ]


def test_power_monitor(runner, machine):
    """`PowerMonitor`: watts of each GPU, sampled in a process of its own."""
    shown = runner.evaluate(PROGRAM, POWER, runner.on_pymtml(machine))
    assert shown == {str(gpu.index): pytest.approx(gpu.number("power_usage") / 1000) for gpu in machine.gpus}
