"""vLLM's platform detection, and its habit of opening and closing the library around every question."""

import json
import os
import sys

import pytest
from machines import Machine, on_one_machine
from program_set import VLLM

PROGRAM = VLLM
MISSING = (
    "vLLM cannot run without a GPU stack: its detection runs unmodified on the CPU build of torch, parents that want "
    "more are empty, and clients/vllm_platform.py repeats what its platform asks."
)

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients", "vllm_platform.py")


def ask(runner, environment):
    return json.loads(runner.run([sys.executable, CLIENT], environment))


def test_platform(runner, machine):
    """Names, UUIDs, memory, capability and full connection of eight GPUs."""
    shown = ask(runner, runner.on_pymtml(machine))
    assert shown["names"] == [gpu.name for gpu in machine.gpus]
    assert shown["uuids"] == [gpu.uuid for gpu in machine.gpus]
    assert shown["memory"] == [gpu.number("memory_total") for gpu in machine.gpus]
    assert shown["pairs"] == machine.linked_pairs()
    assert shown["all"] is (len(machine.linked_pairs()) == 28)
    # MTML 2.2.0 does not tell the capability; there it follows from the card's architecture.
    assert ".".join(map(str, shown["capability"])) == machine.gpus[0].text("musa_compute_capability")


@on_one_machine
def test_visible_devices(runner, machine):
    """`CUDA_VISIBLE_DEVICES` picks and renumbers GPUs."""
    environment = dict(runner.on_pymtml(machine), CUDA_VISIBLE_DEVICES="6,1")
    assert ask(runner, environment)["uuids"] == [machine.gpus[index].uuid for index in (6, 1)]


@pytest.mark.parametrize("profile", ["empty", "no-driver"])
def test_not_detected(runner, tmp_path, profile):
    """No GPU, or no driver: the platform is not detected, and nothing else happens."""
    assert ask(runner, runner.on_pymtml(Machine(tmp_path, profile))) == {"detected": False}


@on_one_machine
def test_no_library(runner, machine):
    """No library: the platform is not detected, and nothing else happens."""
    environment = dict(runner.on_pymtml(machine), LD_LIBRARY_PATH="", PYMTML_LIBRARY="/nonexistent/libmtml.so")
    assert ask(runner, environment) == {"detected": False}
