"""zeus: energy measurement for deep learning."""

import pytest
from program_set import ZEUS as PROGRAM

MISSING = (
    "Energy counters and memory power are refused, MTML has none: zeus measures energy from samples of power instead."
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
