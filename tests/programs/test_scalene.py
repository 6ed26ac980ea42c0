"""scalene: the profiler's GPU columns."""

import json
import os

import pytest
from program_set import SCALENE as PROGRAM

MISSING = "Memory by process stays 0: the driver does not tell it."

pytestmark = pytest.mark.programs

STATS = """
import json
from scalene.scalene_nvidia_gpu import ScaleneNVIDIAGPU

gpu = ScaleneNVIDIAGPU()
print(json.dumps([gpu.has_gpu(), gpu.get_num_cores(), gpu.get_stats()]))
"""

WORK = """
def work():
    total = 0
    for i in range(20_000_000):
        total += i * i
    return total


print(work())
"""


def mean_utilization(machine):
    return sum(gpu.number("gpu_utilization") for gpu in machine.gpus) / 8


def test_class(runner, machine):
    """`ScaleneNVIDIAGPU`: eight GPUs, their mean utilization."""
    shown = runner.evaluate(PROGRAM, STATS, runner.on_pymtml(machine))
    assert shown == [True, 8, [pytest.approx(mean_utilization(machine) / 100), 0]]


def test_profile(runner, machine):
    """`scalene run --gpu`: the utilization in a program's profile, sampled in signal handlers."""
    with open(os.path.join(runner.folder, "work.py"), "w") as file:
        file.write(WORK)
    runner.run(
        [PROGRAM.script("scalene"), "run", "--gpu", "--outfile", "profile.json", "work.py"], runner.on_pymtml(machine)
    )
    with open(os.path.join(runner.folder, "profile.json")) as file:
        profile = json.load(file)
    assert (profile["gpu"], profile["gpu_device"]) == (True, "GPU")
    lines = [line for name in profile["files"] for line in profile["files"][name]["lines"] if line["n_gpu_percent"]]
    assert lines
    assert [line["n_gpu_percent"] for line in lines] == [pytest.approx(mean_utilization(machine))] * len(lines)
