"""torch: the functions of torch.cuda that ask pynvml."""

import pytest
from program_set import TORCH as PROGRAM

MISSING = (
    "`torch.cuda.memory_usage` and `device_count` need a CUDA build of torch before they reach pynvml; "
    "`list_gpu_processes` cannot print a process whose memory is unknown (None), on NVML neither."
)

pytestmark = pytest.mark.programs

ASK = """
import json, torch
names = ("utilization", "temperature", "power_draw", "clock_rate")
print(json.dumps([[getattr(torch.cuda, name)(i) for name in names] for i in range(8)]))
"""

PROCESSES = """
import json, torch
print(json.dumps([torch.cuda.list_gpu_processes(i) for i in range(8)]))
"""


def test_queries(runner, machine):
    """`torch.cuda.utilization`, `temperature`, `power_draw` and `clock_rate` of eight GPUs."""
    shown = runner.evaluate(PROGRAM, ASK, runner.on_pymtml(machine))
    keys = ("gpu_utilization", "gpu_temperature", "power_usage", "gpu_clock")
    assert shown == [[gpu.number(key) for key in keys] for gpu in machine.gpus]


def test_processes(runner, machine):
    """`torch.cuda.list_gpu_processes`: idle GPUs have none."""
    shown = runner.evaluate(PROGRAM, PROCESSES, runner.on_pymtml(machine))
    assert shown == ["GPU:%d\nno processes are running" % gpu.index for gpu in machine.gpus]


def test_visible_devices(runner, machine):
    """`CUDA_VISIBLE_DEVICES` renumbers: device 0 of the process is GPU 5."""
    environment = dict(runner.on_pymtml(machine), CUDA_VISIBLE_DEVICES="5,2")
    shown = runner.evaluate(
        PROGRAM, "import torch; print([torch.cuda.power_draw(0), torch.cuda.power_draw(1)])", environment
    )
    assert shown == [machine.gpus[index].number("power_usage") for index in (5, 2)]
