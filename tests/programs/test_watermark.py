"""watermark: the machine's GPUs in a notebook."""

import pytest
from program_set import WATERMARK as PROGRAM

pytestmark = pytest.mark.programs


def test_gpu(runner, machine):
    """`watermark(gpu=True)`, which imports py3nvml: the names of eight GPUs."""
    code = "from watermark import watermark; print(watermark(gpu=True))"
    shown = runner.run([PROGRAM.python, "-c", code], runner.on_pymtml(machine))
    assert ["GPU %d: %s" % (gpu.index, gpu.name) for gpu in machine.gpus] == [
        line.strip() for line in shown.splitlines() if line.strip().startswith("GPU ") and "Info" not in line
    ]
