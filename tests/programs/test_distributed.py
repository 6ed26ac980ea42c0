"""distributed: what a Dask worker reports of its GPU."""

import pytest
from program_set import DISTRIBUTED as PROGRAM

MISSING = ""

pytestmark = pytest.mark.programs

DIAGNOSTICS = """
import json
from distributed.diagnostics import nvml

print(json.dumps([nvml.device_get_count(), nvml.one_time(), nvml.real_time(), nvml.has_cuda_context().has_context,
                  list(nvml.get_device_index_and_uuid(6)), nvml.get_device_mig_mode(0)]))
"""

CLUSTER = """
import json, time
from distributed import Client, LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            for _ in range(100):
                metrics = next(iter(client.scheduler_info()["workers"].values()))["metrics"]
                if metrics.get("gpu_memory_used"):
                    break
                time.sleep(0.2)
    print(json.dumps(metrics))
"""


def test_diagnostics(runner, machine):
    """`distributed.diagnostics.nvml`: count, name, memory and utilization; `CUDA_VISIBLE_DEVICES` picks the GPU."""
    for chosen in (0, 3):
        environment = dict(runner.on_pymtml(machine), CUDA_VISIBLE_DEVICES=str(chosen))
        gpu, sixth = machine.gpus[chosen], machine.gpus[6]
        assert runner.evaluate(PROGRAM, DIAGNOSTICS, environment) == [
            8,
            {"memory-total": gpu.number("memory_total"), "name": gpu.name},
            {"utilization": gpu.number("gpu_utilization"), "memory-used": gpu.number("memory_used")},
            False,
            [sixth.uuid, 6, None],
            [0, 0],
        ]


def test_cluster(runner, machine):
    """A `LocalCluster`: its scheduler receives the GPU metrics of a worker in another process."""
    environment = dict(runner.on_pymtml(machine), CUDA_VISIBLE_DEVICES="2")
    metrics = runner.evaluate(PROGRAM, CLUSTER, environment)
    gpu = machine.gpus[2]
    assert metrics["gpu_utilization"] == gpu.number("gpu_utilization")
    assert metrics["gpu_memory_used"] == gpu.number("memory_used")
    assert metrics["gpu-memory-total"] == gpu.number("memory_total")
