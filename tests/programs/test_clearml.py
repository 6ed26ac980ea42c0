"""clearml: the resource monitor of experiments, which carries a copy of pynvml."""

import pytest
from machines import MIB
from program_set import CLEARML as PROGRAM

pytestmark = pytest.mark.programs

MISSING = "The memory of a process: MTML does not tell it."

QUERY = """
import json
from clearml.utilities.gpu import gpustat

print(json.dumps(gpustat.new_query(per_process_stats=True).jsonify()["gpus"]))
"""

TASK = """
import json
from clearml import Task
from clearml.utilities.resource_monitor import ResourceMonitor

Task.set_offline(True)
task = Task.init("project", "task", auto_connect_frameworks=False, auto_connect_streams=False)
print()
print(json.dumps(ResourceMonitor(task)._machine_stats()), flush=True)
import os
os._exit(0)
"""


def shown(gpu, pid):
    return {
        "index": gpu.index,
        "uuid": gpu.uuid,
        "name": gpu.name,
        "temperature.gpu": gpu.number("gpu_temperature"),
        "fan.speed": gpu.fan_speed,
        "utilization.gpu": gpu.number("gpu_utilization"),
        "power.draw": gpu.number("power_usage") // 1000,
        "memory.used": gpu.number("memory_used") // MIB,
        "memory.total": gpu.number("memory_total") // MIB,
        "processes": [{"pid": pid}] if gpu.index == 3 else [],
    }


def check_query(runner, machine, program, code, pid):
    entries = runner.evaluate(program, code, runner.on_pymtml(machine))
    for entry, gpu in zip(entries, machine.gpus):
        limit = machine.power_limit(gpu)
        assert entry.pop("enforced.power.limit") == (None if limit is None else limit // 1000)
        assert entry == shown(gpu, pid)
    assert len(entries) == 8


def test_query(runner, machine, processes):
    """`gpustat.new_query()`, from which its monitor reports: every field of eight GPUs, and a process."""
    check_query(runner, machine, PROGRAM, QUERY, processes({3: 20}))


def test_task(runner, machine):
    """An offline task's resource monitor: utilization, temperature and memory of eight GPUs."""
    found = runner.evaluate(PROGRAM, TASK, runner.on_pymtml(machine))
    for gpu in machine.gpus:
        assert found["gpu_%d_utilization" % gpu.index] == gpu.number("gpu_utilization")
        assert found["gpu_%d_temperature" % gpu.index] == gpu.number("gpu_temperature")
        share = 100 * gpu.number("memory_used") / gpu.number("memory_total")
        assert found["gpu_%d_mem_usage" % gpu.index] == pytest.approx(share, abs=0.1)
