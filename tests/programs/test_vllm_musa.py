"""The pattern of vllm_musa, which imports pymtml by its own name."""

import json
import os
import sys

from program_set import VLLM_MUSA

PROGRAM = VLLM_MUSA
MISSING = "vllm_musa needs MUSA to be installed: clients/vllm_musa.py repeats its use of pymtml."

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients", "vllm_musa.py")


def test_init_without_shutdown(runner, machine):
    """Init again and again without shutdown, as many shutdowns, then init once more."""
    shown = json.loads(runner.run([sys.executable, CLIENT], runner.on_pymtml(machine)))
    assert shown == [
        True,
        [[gpu.name, gpu.number("memory_total")] for gpu in machine.gpus],
        1 + 2 * 8,
        [machine.gpus[0].name, 8],
    ]
