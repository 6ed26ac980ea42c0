"""zeus: energy measurement for deep learning."""

import pytest
from machines import Machine
from program_set import ZEUS as PROGRAM
from test_frameworks import MISSING as OF_EACH

MISSING = OF_EACH["zeus"]

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

ENERGY = """
import json, time
import zeus.device.gpu.nvidia
zeus.device.gpu.nvidia.NVIDIAGPU.supports_get_total_energy_consumption = lambda gpu: False
from zeus.monitor import ZeusMonitor

if __name__ == "__main__":
    monitor = ZeusMonitor(cpu_indices=[])
    time.sleep(4)  # the process that samples is starting
    monitor.begin_window("work", sync_execution=False)
    time.sleep(6)
    work = monitor.end_window("work", sync_execution=False)
    print(json.dumps([work.time, work.gpu_energy]))
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


def test_divided_card(runner, tmp_path):
    """`PowerMonitor` on a card with MPC on: the watts of whole cards, none of them counted again for an instance."""
    machine = Machine(tmp_path, "s3000-mpc")
    code = POWER.replace("== 8", "== 2")
    shown = runner.evaluate(PROGRAM, code, runner.on_pymtml(machine))
    assert shown == {str(gpu.index): pytest.approx(gpu.number("power_usage") / 1000) for gpu in machine.gpus}
    shown = runner.evaluate(PROGRAM, GPUS, runner.on_pymtml(machine))
    assert [asked[:2] for asked in shown] == [[gpu.name, gpu.number("power_usage")] for gpu in machine.gpus]


def test_zeus_monitor(runner, machine):
    """`ZeusMonitor`, by the line on the right: joules of each GPU over a window, from its power."""
    # zeus keeps a sample only if it differs from the one before, and asks as often as the driver lets it.
    machine.parser["machine"]["frozen"] = "no"
    machine.write()
    environment = dict(runner.on_pymtml(machine), MTML_SIM_LATENCY_NS="2000000")
    seconds, joules = runner.evaluate(PROGRAM, ENERGY, environment)
    assert joules == {
        str(gpu.index): pytest.approx(gpu.number("power_usage") / 1000 * seconds, rel=0.3) for gpu in machine.gpus
    }
