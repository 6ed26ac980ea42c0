"""gpustat: its table; rows.txt has its JSON, field by field."""

import json
import re

import pytest
from machines import Machine, on_one_machine
from program_set import GPUSTAT as PROGRAM


@on_one_machine
def test_table(runner, machine):
    """`gpustat -a`: name, temperature, utilization, codecs, power and memory of each line."""
    lines = runner.run([PROGRAM.script("gpustat"), "--no-color", "-a"], runner.on_pymtml(machine)).splitlines()
    assert lines[0].endswith(machine.driver)
    assert len(lines) == 9
    for gpu, line in zip(machine.gpus, lines[1:]):
        expected = [
            gpu.name,
            "%d°C" % gpu.gpu_temperature,
            "%d %%" % gpu.gpu_utilization,
            "E: %d %%" % gpu.encoder_utilization,
            "D: %d %%" % gpu.decoder_utilization,
            "%d / %s W" % (gpu.whole_watts, gpu.limit_watts or "??"),
            "%d / %d MB" % (gpu.used_mib, gpu.total_mib),
        ]
        flat = re.sub(r"\s+", " ", line)
        assert flat.startswith("[%d] " % gpu.index)
        assert [text for text in expected if text not in flat] == []


@on_one_machine
def test_processes_by_open_files(runner, machine, open_files):
    """A process with a GPU's device file open."""
    pid = open_files([2, 3])
    shown = json.loads(runner.run([PROGRAM.script("gpustat"), "--json"], runner.on_pymtml(machine)))
    listed = {gpu["index"]: [p["pid"] for p in gpu["processes"]] for gpu in shown["gpus"]}
    assert listed == {index: [pid] if index in (2, 3) else [] for index in range(8)}


@pytest.mark.parametrize(
    "profile, status, said", [("empty", 0, "(No GPUs are available)"), ("no-driver", 1, "Driver Not Loaded")]
)
def test_no_gpu(runner, tmp_path, profile, status, said):
    """No GPU or no driver: its message."""
    environment = runner.on_pymtml(Machine(tmp_path, profile))
    shown = runner.run([PROGRAM.script("gpustat"), "--no-color"], environment, status=status)
    assert said in shown
