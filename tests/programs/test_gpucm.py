"""gpucm watches the GPUs of a cluster's nodes."""

import pytest
from program_set import GPUCM

pytestmark = pytest.mark.programs

PROGRAM = GPUCM
MISSING = "Clocks of applications and remapped rows: refused, as MTML knows neither; gpucm leaves them out."

CODE = """
import json
from gcm.monitoring.device_telemetry_nvml import NVMLDeviceTelemetryClient
client = NVMLDeviceTelemetryClient()
found = []
for index in range(client.get_device_count()):
    gpu = client.get_device_by_index(index)
    memory, rates = gpu.get_memory_info(), gpu.get_utilization_rates()
    found.append([memory.total, memory.used, rates.gpu, rates.memory, gpu.get_temperature(), gpu.get_power_usage()])
print(json.dumps(found))
"""


def test_telemetry(runner, machine):
    """Its telemetry client: memory, utilization, temperature and power of eight GPUs."""
    found = runner.evaluate(GPUCM, CODE, runner.on_pymtml(machine))
    keys = ("memory_total", "memory_used", "gpu_utilization", "memory_utilization", "gpu_temperature", "power_usage")
    assert found == [[gpu.number(key) for key in keys] for gpu in machine.gpus]
