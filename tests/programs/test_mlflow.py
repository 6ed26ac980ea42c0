"""mlflow: system metrics of a run."""

import pytest
from program_set import MLFLOW as PROGRAM

MISSING = "The power percentage needs the power limit, which MTML 2.2.0 does not tell: mlflow then logs no power."

pytestmark = pytest.mark.programs

MONITOR = """
import json
from mlflow.system_metrics.metrics.gpu_monitor import GPUMonitor

monitor = GPUMonitor()
monitor.collect_metrics()
print(json.dumps(monitor.metrics))
"""

RUN = """
import json, time
import mlflow

mlflow.set_tracking_uri("sqlite:///runs.db")
mlflow.set_system_metrics_sampling_interval(1)
with mlflow.start_run(log_system_metrics=True) as run:
    time.sleep(3)
print(json.dumps(mlflow.get_run(run.info.run_id).data.metrics))
"""


def expected(machine):
    metrics = {}
    for gpu in machine.gpus:
        prefix, limit = "gpu_%d_" % gpu.index, machine.power_limit(gpu)
        used, total = gpu.number("memory_used"), gpu.number("memory_total")
        metrics[prefix + "memory_usage_percentage"] = pytest.approx(100 * used / total, abs=0.1)
        metrics[prefix + "memory_usage_megabytes"] = pytest.approx(used / 1e6, abs=0.1)
        metrics[prefix + "utilization_percentage"] = gpu.number("gpu_utilization")
        if limit is not None:
            metrics[prefix + "power_usage_watts"] = pytest.approx(gpu.number("power_usage") / 1000, abs=0.1)
            metrics[prefix + "power_usage_percentage"] = pytest.approx(100 * gpu.number("power_usage") / limit, abs=0.1)
    return metrics


def test_monitor(runner, machine):
    """`GPUMonitor`: memory, utilization and power of eight GPUs."""
    shown = runner.evaluate(PROGRAM, MONITOR, runner.on_pymtml(machine))
    assert {name: values[0] for name, values in shown.items()} == expected(machine)


def test_run(runner, machine):
    """`start_run(log_system_metrics=True)`: the same metrics in the run's record."""
    shown = runner.evaluate(PROGRAM, RUN, runner.on_pymtml(machine))
    gpus = {name: value for name, value in shown.items() if name.startswith("system/gpu_")}
    assert gpus == {"system/" + name: value for name, value in expected(machine).items()}
