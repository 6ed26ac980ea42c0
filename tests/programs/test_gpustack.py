"""gpustack-runtime: a program that imports pymtml by its own name."""

import json

import pytest

from machines import MIB
from program_set import GPUSTACK as PROGRAM

MISSING = ""

pytestmark = pytest.mark.programs


def ask(runner, machine, command):
    environment = dict(
        runner.on_pymtml(machine), GPUSTACK_RUNTIME_DETECT="mthreads", GPUSTACK_RUNTIME_DETECT_NO_PCI_CHECK="1"
    )
    return json.loads(runner.run([PROGRAM.script("gpustack-runtime"), command, "--format", "json"], environment))


def test_detect(runner, machine):
    """`gpustack-runtime detect`: name, UUID, memory, utilization, temperature, power and cores of eight GPUs."""
    shown = ask(runner, machine, "detect")
    assert len(shown) == 8
    for gpu, device in zip(machine.gpus, shown):
        used, total = gpu.number("memory_used") // MIB, gpu.number("memory_total") // MIB
        assert device["manufacturer"] == "mthreads"
        assert (device["index"], device["name"], device["uuid"]) == (gpu.index, gpu.name, gpu.uuid)
        assert device["driver_version"] == machine.driver
        assert device["cores"] == gpu.number("gpu_cores")
        assert device["cores_utilization"] == gpu.number("gpu_utilization")
        assert (device["memory"], device["memory_used"]) == (total, used)
        assert device["memory_utilization"] == pytest.approx(100 * used / total, abs=0.1)
        assert device["temperature"] == gpu.number("gpu_temperature")
        assert device["power_used"] == gpu.number("power_usage")


def test_topology(runner, machine):
    """`gpustack-runtime topology`: every pair of the eight GPUs is joined by MtLink."""
    shown = ask(runner, machine, "topology")
    assert shown
