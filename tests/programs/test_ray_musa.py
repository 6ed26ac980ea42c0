"""The pattern of a Ray accelerator manager for MUSA, which imports pymtml by its own name."""

import json
import os
import sys

import pytest
from machines import Machine
from program_set import RAY_MUSA

PROGRAM = RAY_MUSA
MISSING = "Ray has no such manager yet: clients/ray_musa.py is one, written the way of those it has."

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients", "ray_musa.py")


def test_manager(runner, machine):
    """Count and type of the GPUs, with init and shutdown around each of ten questions."""
    environment = dict(runner.on_pymtml(machine), MUSA_VISIBLE_DEVICES="0,3")
    expected = [8, machine.gpus[0].name.split()[1], ["0", "3"]]
    assert json.loads(runner.run([sys.executable, CLIENT], environment)) == [expected] * 5


@pytest.mark.parametrize("profile", ["empty", "no-driver"])
def test_no_gpu(runner, tmp_path, profile):
    """No GPU, or no driver: none counted, no type."""
    environment = runner.on_pymtml(Machine(tmp_path, profile))
    assert json.loads(runner.run([sys.executable, CLIENT], environment)) == [[0, None, None]] * 5
