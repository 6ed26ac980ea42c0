"""glances: its GPU plugin."""

import json
import os

import pytest
from program_set import GLANCES as PROGRAM

MISSING = (
    "glances 4 loads a library libnvidia-ml.so.1 before it imports pynvml, and so does no drop-in of Python modules "
    "reach it: the test gives it a stand-in that answers nothing. glances 3 needs none."
)

pytestmark = pytest.mark.programs


def test_gpu_plugin(runner, machine):
    """`glances --stdout-json gpu`: name, memory, utilization, temperature and fan of all eight GPUs."""
    environment = runner.on_pymtml(machine)
    # Only its presence counts: without a machine file the stand-in refuses to start.
    environment["LD_LIBRARY_PATH"] += os.pathsep + runner.standin
    shown = runner.run([PROGRAM.script("glances"), "--stdout-json", "gpu", "--stop-after", "1"], environment)
    gpus = json.loads(shown.strip().splitlines()[-1])["gpu"]
    assert gpus == [
        {
            "key": "gpu_id",
            "gpu_id": "nvidia%d" % gpu.index,
            "name": gpu.name,
            "mem": pytest.approx(100 * gpu.number("memory_used") / gpu.number("memory_total")),
            "proc": gpu.number("gpu_utilization"),
            "temperature": gpu.number("gpu_temperature"),
            "fan_speed": gpu.fan_speed,
        }
        for gpu in machine.gpus
    ]
