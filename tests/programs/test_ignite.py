"""pytorch-ignite: the metric GpuInfo, which asks pynvml.smi."""

import pytest
from machines import MIB
from program_set import IGNITE as PROGRAM

pytestmark = pytest.mark.programs

MISSING = (
    "GpuInfo wants `torch.cuda.is_available()` first, which needs a CUDA build of torch: the test says yes for it."
)

INFO = """
import json, torch
torch.cuda.is_available = lambda: True
from ignite.metrics import GpuInfo

print(json.dumps(GpuInfo().compute()))
"""


def test_gpu_info(runner, machine):
    """`GpuInfo`: memory and utilization of eight GPUs, through the `pynvml.smi` of pynvml 11."""
    shown = runner.evaluate(PROGRAM, INFO, runner.on_pymtml(machine))
    assert len(shown) == 8
    for entry, gpu in zip(shown, machine.gpus):
        assert entry["fb_memory_usage"]["used"] == pytest.approx(gpu.number("memory_used") / MIB)
        assert entry["fb_memory_usage"]["total"] == pytest.approx(gpu.number("memory_total") / MIB)
        assert entry["utilization"]["gpu_util"] == gpu.number("gpu_utilization")
