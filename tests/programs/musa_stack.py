"""What torchada and vllm-musa run on here: the CPU build of torch, and stand-ins for torch_musa and vllm."""

import os

from program_set import TORCHADA, VLLM_MUSA

STANDIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "standin")


def add(variables, program=VLLM_MUSA, devices=8):
    """Adds torchada, vllm-musa and a program to an environment; devices: how many the MUSA runtime sees."""
    folders = [variables["PYTHONPATH"], VLLM_MUSA.folder, TORCHADA.folder, STANDIN] + list(program.folders)
    variables.update(PYTHONPATH=os.pathsep.join(folders), STANDIN_MUSA_DEVICES=str(devices))
    # torchada compiles operators for MUSA on import, which needs the MUSA SDK; it warns and goes on without them.
    variables["CXX"] = "false"
    # No pool of processes that wait for something to compile.
    variables["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    return variables


def environment(runner, machine, devices=8):
    """A process's environment with pymtml, torchada and vllm-musa."""
    return add(runner.on_pymtml(machine), devices=devices)
