"""pynvml_utils: nvidia-smi's queries as Python dictionaries."""

import pytest
from machines import MIB
from program_set import PYNVML_UTILS as PROGRAM

MISSING = (
    "Temperature thresholds and power state read N/A or their error's text with MTML 2.2.0, which does not tell them."
)

pytestmark = pytest.mark.programs

QUERY = """
import json
from pynvml_utils import nvidia_smi

smi = nvidia_smi.getInstance()
print(json.dumps([
    smi.DeviceQuery("memory.total, utilization.gpu"),
    smi.DeviceQuery("gpu_name,uuid,pci.bus_id,memory.used,memory.free,temperature.gpu,power.draw,clocks.gr,clocks.mem"),
]))
"""


def test_queries(runner, machine):
    """`DeviceQuery`: name, UUID, PCI id, memory, utilization, temperature, power and clocks of eight GPUs."""
    short, long = runner.evaluate(PROGRAM, QUERY, runner.on_pymtml(machine))
    assert short["gpu"] == [
        {
            "fb_memory_usage": {"total": gpu.number("memory_total") / MIB, "unit": "MiB"},
            "utilization": {"gpu_util": gpu.number("gpu_utilization"), "unit": "%"},
        }
        for gpu in machine.gpus
    ]
    for gpu, fields in zip(machine.gpus, long["gpu"]):
        assert (fields["product_name"], fields["uuid"]) == (gpu.name, gpu.uuid)
        assert fields["pci"]["pci_bus_id"] == gpu.bus_id
        assert fields["fb_memory_usage"]["used"] == gpu.number("memory_used") / MIB
        assert fields["fb_memory_usage"]["free"] == (gpu.number("memory_total") - gpu.number("memory_used")) / MIB
        assert fields["temperature"]["gpu_temp"] == gpu.number("gpu_temperature")
        assert fields["power_readings"]["power_draw"] == gpu.number("power_usage") / 1000
        assert fields["clocks"]["graphics_clock"] == gpu.number("gpu_clock")
        assert fields["clocks"]["mem_clock"] == gpu.number("memory_clock")
