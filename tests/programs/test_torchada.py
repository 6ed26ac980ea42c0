"""torchada, which lets torch.cuda stand for torch.musa, in one process with pymtml."""

import pytest
from machines import Machine
from musa_stack import environment
from program_set import TORCHADA as PROGRAM

pytestmark = pytest.mark.programs

# What projects tell platforms apart by, and what torchada puts in place.
STATE = """
import ctypes, json, sys

def state():
    import torch, torchada
    return {
        "available": torch.cuda.is_available(),
        "built": torch.backends.cuda.is_built(),
        "version": torch.version.cuda,
        "compiled": torchada._patch._original_torch_cuda._is_compiled(),
        "count": torch.cuda.device_count(),
        "platform": torchada.get_platform().value,
        "wrapped": type(torch.cuda).__name__,
        "imported": type(sys.modules["torch.cuda"]).__name__,
        "stream": torch._C._cuda_getCurrentRawStream.__module__,
        "device": str(torch.device("cuda", 1)),
        "cdll": ctypes.CDLL.__module__,
    }

def cards(nvml):
    nvml.nvmlInit()
    handles = [nvml.nvmlDeviceGetHandleByIndex(i) for i in range(nvml.nvmlDeviceGetCount())]
    asked = [
        [nvml.nvmlDeviceGetName(h), nvml.nvmlDeviceGetMemoryInfo(h).total, nvml.nvmlDeviceGetPowerUsage(h)]
        for h in handles
    ]
    nvml.nvmlShutdown()
    return asked
"""
ALONE = STATE + "print(json.dumps([state(), None, None]))"
BOTH = STATE + """
import %s
import pymtml

first = cards(pymtml)
added = pymtml.patch_torch_c_for_musa()
import torchada
print(json.dumps([state(), [first, cards(pymtml)], added]))
"""
FORCED = {"TORCHADA_FORCE_CUDA_AVAILABLE": "1"}


@pytest.mark.parametrize("forced", [{}, FORCED], ids=["", "forced"])
def test_beside_pymtml(runner, tmp_path, forced):
    """With `patch_torch_c_for_musa()`, in either order: torch.cuda as by torchada only."""
    machine = Machine(tmp_path)
    variables = dict(environment(runner, machine), **forced)
    alone, _, _ = runner.evaluate(PROGRAM, ALONE, variables)
    # torchada leaves the one question by which projects tell MUSA from CUDA, unless it is told not to.
    assert (alone["available"], alone["built"], alone["version"]) == (bool(forced), True, None)
    assert (alone["count"], alone["platform"], alone["compiled"]) == (8, "musa", False)
    cards = [[gpu.name, gpu.memory_total, gpu.power_usage] for gpu in machine.gpus]
    for first in ("torchada", "pymtml"):
        state, asked, added = runner.evaluate(PROGRAM, BOTH % first, variables)
        assert state == alone
        assert asked == [cards, cards]
        assert "_cuda_memoryStats" in added and "_cuda_getDeviceCount" not in added
