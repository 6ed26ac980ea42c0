"""The pattern of the platform file of a vllm-musa that is in no package index."""

import json
import os
import sys

import pytest
from machines import Machine
from program_set import VLLM_MUSA_NEXT

PROGRAM = VLLM_MUSA_NEXT
MISSING = (
    "vllm-musa 0.1.28 is in no package index: clients/vllm_musa_platform.py repeats what its platform asks of pymtml. "
    "It maps MUSA_VISIBLE_DEVICES by hand and knows indices alone; `musa_visible_devices()` is that map."
)

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients", "vllm_musa_platform.py")


def ask(runner, machine, **variables):
    return json.loads(runner.run([sys.executable, CLIENT], dict(runner.on_pymtml(machine), **variables)))


def numbers(text):
    ranges = [part.split("-") for part in text.split(",")]
    return [number for part in ranges for number in range(int(part[0]), int(part[-1]) + 1)]


@pytest.mark.parametrize("visible", [None, "6,1"])
def test_platform(runner, machine, visible):
    """Names, UUIDs, memory, capability, NUMA node, CPUs and full connection; what it maps by hand, by its function."""
    shown = ask(runner, machine, **({"MUSA_VISIBLE_DEVICES": visible} if visible else {}))
    gpus = [machine.gpus[int(index)] for index in visible.split(",")] if visible else machine.gpus
    assert shown["names"] == [gpu.name for gpu in gpus]
    assert shown["uuids"] == shown["mapped"] == [gpu.uuid for gpu in gpus]
    assert shown["memory"] == [gpu.number("memory_total") for gpu in gpus]
    assert ".".join(map(str, shown["capability"])) == machine.gpus[0].text("musa_compute_capability")
    assert shown["numa"] == [gpu.number("numa_node") for gpu in gpus]
    assert shown["cpus"] == [numbers(gpu.text("cpu_affinity")) for gpu in gpus]
    assert shown["connected"] is True


def test_a_link_that_one_end_knows_to_be_down(runner, tmp_path):
    """Not fully connected, whichever end of a pair's links says so."""
    machine = Machine(tmp_path)
    machine.parser[machine.sections[7]]["mtlink_state"] = "DOWN"
    machine.write()
    assert ask(runner, machine)["connected"] is False


def test_a_library_that_refuses_a_second_init(runner, tmp_path):
    """Its reason for never shutting down does not arise."""
    machine = Machine(tmp_path)
    machine.parser["machine"]["reinit"] = "DRIVER_FAILURE"
    machine.write()
    assert ask(runner, machine)["names"] == [gpu.name for gpu in machine.gpus]
