"""python-smi asks pynvml for each figure by itself, and leaves errors to the caller."""

import pytest
from machines import MIB
from program_set import PYTHON_SMI

pytestmark = pytest.mark.programs

PROGRAM = PYTHON_SMI
MISSING = (
    "`info()` asks for the persistence mode, and `dmon()` for PCIe throughput, without catching what a card refuses: "
    "NotSupported ends them, on NVIDIA's cards without either, too."
)


def test_figures(runner, machine):
    """`mem`, `utilization` and `clocks` of eight GPUs."""
    code = "import json; from py_smi import NVML; n = NVML(); print(json.dumps([[n.mem(i).total, n.mem(i).used, "
    code += "n.utilization(i).gpu, n.clocks(i).graphics, n.clocks(i).mem] for i in range(8)]))"
    for gpu, found in zip(machine.gpus, runner.evaluate(PYTHON_SMI, code, runner.on_pymtml(machine))):
        keys = ("memory_total", "memory_used", "gpu_utilization", "gpu_clock", "memory_clock")
        expected = [gpu.number(key) for key in keys]
        assert found == pytest.approx([expected[0] / MIB, expected[1] / MIB] + expected[2:])


def test_refusals(runner, machine):
    """What it does not catch is an NVMLError_NotSupported."""
    code = "import json, pynvml; from py_smi import NVML\ntry:\n    NVML().info(0)\n"
    code += "except pynvml.NVMLError_NotSupported:\n    print(json.dumps('refused'))"
    assert runner.evaluate(PYTHON_SMI, code, runner.on_pymtml(machine)) == "refused"
