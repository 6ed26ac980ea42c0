"""comet: the GPU metrics of an experiment."""

import json
import os
import zipfile

import pytest
from program_set import COMET as PROGRAM

pytestmark = pytest.mark.programs

DETAILS = """
import json
from comet_ml.system.gpu import gpu_logging

print(json.dumps([gpu_logging.get_gpu_static_info(), gpu_logging.get_gpu_details()]))
"""

EXPERIMENT = """
import comet_ml, time

experiment = comet_ml.OfflineExperiment(
    offline_directory=".", project_name="p", workspace="w", log_code=False, log_git_metadata=False,
    auto_metric_logging=False, disabled=False,
)
time.sleep(3)
experiment.end()
"""


def test_details(runner, machine):
    """`gpu_logging`: identity, memory, temperature, power and utilization of eight GPUs."""
    static, details = runner.evaluate(PROGRAM, DETAILS, runner.on_pymtml(machine))
    assert len(static) == len(details) == 8
    for gpu, entry, values in zip(machine.gpus, static, details):
        limit = machine.power_limit(gpu)
        assert (entry["name"], entry["uuid"], entry["power_limit"]) == (gpu.name, gpu.uuid, limit)
        assert values["total_memory"] == gpu.number("memory_total")
        assert values["used_memory"] == gpu.number("memory_used")
        assert values["gpu_utilization"] == gpu.number("gpu_utilization")
        assert values["power_usage"] == gpu.number("power_usage")
        assert values["temperature"] == gpu.number("gpu_temperature")


def test_experiment(runner, machine):
    """An offline experiment's archive: `sys.gpu.N` metrics."""
    environment = dict(runner.on_pymtml(machine), COMET_API_KEY="none", COMET_LOGGING_CONSOLE="error")
    runner.run([PROGRAM.python, "-c", EXPERIMENT], environment)
    (archive,) = [name for name in os.listdir(runner.folder) if name.endswith(".zip")]
    metrics = {}
    with zipfile.ZipFile(os.path.join(runner.folder, archive)) as file:
        for line in file.read("messages.json").decode().splitlines():
            message = json.loads(line)
            payload = message.get("payload", {}).get("metric") or message.get("payload", {})
            if str(payload.get("metricName") or payload.get("name", "")).startswith("sys.gpu"):
                metrics[payload.get("metricName") or payload["name"]] = payload.get("metricValue", payload.get("value"))
    for gpu in machine.gpus:
        assert float(metrics["sys.gpu.%d.gpu_utilization" % gpu.index]) == gpu.number("gpu_utilization")
        assert float(metrics["sys.gpu.%d.used_memory" % gpu.index]) == gpu.number("memory_used")
