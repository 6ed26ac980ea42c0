"""The pattern of ray-musa's accelerator manager, which imports pymtml by its own name."""

import json
import os
import sys

import pytest
from machines import Machine
from program_set import RAY_MUSA

PROGRAM = RAY_MUSA
MISSING = (
    "ray-musa is in no package index: clients/ray_musa.py repeats what its `MTGPUAcceleratorManager` asks. Ray itself "
    "needs no such build under the drop-in: see ray."
)

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients", "ray_musa.py")


def ask(runner, machine, **variables):
    return json.loads(runner.run([sys.executable, CLIENT], dict(runner.on_pymtml(machine), **variables)))


def test_manager(runner, machine):
    """Count and type of the GPUs, with init and shutdown around each of ten questions; a task's card."""
    answers, card = ask(runner, machine, MUSA_VISIBLE_DEVICES="0,3")
    assert answers == [[8, machine.gpus[0].name.split()[1], ["0", "3"]]] * 5
    assert card == [machine.gpus[1].uuid]


@pytest.mark.parametrize(
    "profile, count, kind", [("s3000x2", 2, "S3000"), ("s80", 1, "S80"), ("s5000x8-container", 2, "S5000")]
)
def test_other_machines(runner, tmp_path, profile, count, kind):
    """The same on two MTT S3000, an S80, and in a container."""
    answers, _ = ask(runner, Machine(tmp_path, profile))
    assert answers == [[count, kind, None]] * 5


@pytest.mark.parametrize("profile", ["empty", "no-driver", None])
def test_no_gpu(runner, tmp_path, profile):
    """No GPU, no driver or no library: none counted, no type."""
    variables = {} if profile else {"LD_LIBRARY_PATH": "", "PYMTML_LIBRARY": "/nonexistent/libmtml.so"}
    answers, _ = ask(runner, Machine(tmp_path, profile or "s5000x8"), **variables)
    assert answers == [[0, None, None]] * 5
