"""gpustat: its table, and its JSON field by field."""

import json
import re

import pytest
from machines import Machine, on_one_machine
from program_set import GPUSTAT as PROGRAM


def query(runner, machine):
    return json.loads(runner.run([PROGRAM.script("gpustat"), "--json"], runner.on_pymtml(machine)))


def test_json(runner, machine):
    """`gpustat --json`: every field of all eight GPUs."""
    shown = query(runner, machine)
    assert shown["driver_version"] == machine.driver
    assert len(shown["gpus"]) == 8
    for gpu, fields in zip(machine.gpus, shown["gpus"]):
        limit = gpu.limit
        assert fields == {
            "index": gpu.index,
            "uuid": gpu.uuid,
            "name": gpu.name,
            "temperature.gpu": gpu.gpu_temperature,
            "fan.speed": gpu.fan_speed,
            "utilization.gpu": gpu.gpu_utilization,
            "utilization.enc": gpu.encoder_utilization,
            "utilization.dec": gpu.decoder_utilization,
            "power.draw": gpu.whole_watts,
            "enforced.power.limit": None if limit is None else limit // 1000,
            "memory.used": gpu.used_mib,
            "memory.total": gpu.total_mib,
            "processes": [],
        }


@on_one_machine
def test_table(runner, machine):
    """`gpustat -a`: name, temperature, utilization, codecs, power and memory of each line."""
    lines = runner.run([PROGRAM.script("gpustat"), "--no-color", "-a"], runner.on_pymtml(machine)).splitlines()
    assert lines[0].endswith(machine.driver)
    assert len(lines) == 9
    for gpu, line in zip(machine.gpus, lines[1:]):
        limit = gpu.limit
        expected = [
            gpu.name,
            "%d°C" % gpu.gpu_temperature,
            "%d %%" % gpu.gpu_utilization,
            "E: %d %%" % gpu.encoder_utilization,
            "D: %d %%" % gpu.decoder_utilization,
            "%d / %s W" % (gpu.whole_watts, "??" if limit is None else limit // 1000),
            "%d / %d MB" % (gpu.used_mib, gpu.total_mib),
        ]
        flat = re.sub(r"\s+", " ", line)
        assert flat.startswith("[%d] " % gpu.index)
        assert [text for text in expected if text not in flat] == []


@on_one_machine
def test_processes(runner, machine, processes):
    """A process from the driver's table, with its user and command."""
    pid = processes({1: 30, 6: 12})
    listed = {gpu["index"]: [p["pid"] for p in gpu["processes"]] for gpu in query(runner, machine)["gpus"]}
    assert listed == {index: [pid] if index in (1, 6) else [] for index in range(8)}
    shown = query(runner, machine)["gpus"][6]["processes"][0]
    assert (shown["command"], shown["gpu_memory_usage"]) == ("sleep", None)


@on_one_machine
def test_processes_by_open_files(runner, machine, open_files):
    """A process that has a GPU's device file open, where the driver keeps no table."""
    pid = open_files([2, 3])
    listed = {gpu["index"]: [p["pid"] for p in gpu["processes"]] for gpu in query(runner, machine)["gpus"]}
    assert listed == {index: [pid] if index in (2, 3) else [] for index in range(8)}


def test_divided_card(runner, tmp_path):
    """A card with MPC on is one line, as a card with MIG on is under NVML."""
    machine = Machine(tmp_path, "s3000-mpc")
    shown = query(runner, machine)["gpus"]
    assert [gpu["uuid"] for gpu in shown] == [gpu.uuid for gpu in machine.gpus]
    assert [gpu["memory.total"] for gpu in shown] == [gpu.total_mib for gpu in machine.gpus]


@on_one_machine
def test_lost_gpu(runner, machine):
    """A GPU whose every query fails is marked, and leaves the other seven as they were."""
    machine.parser[machine.sections[3]]["lost"] = "DRIVER_FAILURE"
    machine.write()
    gpus = query(runner, machine)["gpus"]
    assert [gpu["name"] for gpu in gpus if gpu["index"] != 3] == [gpu.name for gpu in machine.gpus if gpu.index != 3]
    assert gpus[3]["name"] == "((Unknown Error))"


@pytest.mark.parametrize(
    "profile, status, said", [("empty", 0, "(No GPUs are available)"), ("no-driver", 1, "Driver Not Loaded")]
)
def test_no_gpu(runner, tmp_path, profile, status, said):
    """No GPU, or no driver: it says so."""
    environment = runner.on_pymtml(Machine(tmp_path, profile))
    shown = runner.run([PROGRAM.script("gpustat"), "--no-color"], environment, status=status)
    assert said in shown
