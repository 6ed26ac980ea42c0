"""aim: the system metrics of a run."""

import pytest
from program_set import AIM as PROGRAM

pytestmark = pytest.mark.programs

MISSING = "With a library that does not tell the power limit there is no power either: aim asks for both or none."

RUN = """
import json, time
from aim import Run

run = Run(repo=".", experiment="e", system_tracking_interval=1, log_system_params=False, capture_terminal_logs=False)
time.sleep(3)
found = {}
for metric in run.metrics():
    if "gpu" in metric.context.to_dict():
        values = list(metric.values.sparse_numpy()[1])
        found["%s %s" % (metric.name, metric.context["gpu"])] = values[-1]
run.close()
print(json.dumps(found))
"""

STAT = """
import json, psutil
from aim.ext.resource.stat import Stat

print(json.dumps(Stat(psutil.Process()).gpus))
"""


def expected(machine, gpu):
    values = {
        "gpu": gpu.number("gpu_utilization"),
        "gpu_memory_percent": pytest.approx(100 * gpu.number("memory_used") / gpu.number("memory_total"), abs=1e-4),
        "gpu_temp": gpu.number("gpu_temperature"),
    }
    if machine.power_limit(gpu) is not None:
        values["gpu_power_watts"] = pytest.approx(gpu.number("power_usage") / 1000)
    return values


def test_stat(runner, machine):
    """`Stat`: utilization, memory, temperature and power of eight GPUs."""
    shown = runner.evaluate(PROGRAM, STAT, runner.on_pymtml(machine))
    assert shown == [expected(machine, gpu) for gpu in machine.gpus]


def test_run(runner, machine):
    """`Run`: the same in a run's record."""
    runner.run([PROGRAM.script("aim"), "init", "--skip-if-exists"], runner.on_pymtml(machine))
    shown = runner.evaluate(PROGRAM, RUN, runner.on_pymtml(machine))
    for gpu in machine.gpus:
        assert shown["__system__gpu %d" % gpu.index] == gpu.number("gpu_utilization")
        assert shown["__system__gpu_temp %d" % gpu.index] == gpu.number("gpu_temperature")
