"""What torchada and vllm-musa run on here: the CPU build of torch, and stand-ins for torch_musa and vllm."""

import os

from program_set import TORCHADA, VLLM_MUSA

STANDIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "standin")

# Code by which a program's file runs without the parent packages that want a GPU stack.
BARE = """
import json, os, sys, types

def stand_in(name, **attributes):
    module = sys.modules[name] = types.ModuleType(name)
    vars(module).update(attributes)
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)

def bare(*names):
    # Packages whose own files are not run.
    for name in names:
        folders = [os.path.join(entry, *name.split(".")) for entry in sys.path]
        stand_in(name, __path__=[folder for folder in folders if os.path.isdir(folder)][:1])
"""


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
