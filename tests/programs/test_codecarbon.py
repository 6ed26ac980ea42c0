"""codecarbon: the energy tracker of training runs."""

import os

import pytest
from machines import Machine
from program_set import CODECARBON as PROGRAM
from test_frameworks import MISSING as OF_EACH

MISSING = OF_EACH["codecarbon"]

pytestmark = pytest.mark.programs

TRACK = """
import json, time
from codecarbon import OfflineEmissionsTracker

tracker = OfflineEmissionsTracker(country_iso_code="FRA", save_to_file=False, measure_power_secs=1, log_level="error")
tracker.start()
time.sleep(2.5)
tracker.stop()
data = tracker.final_emissions_data
print(json.dumps({
    "count": data.gpu_count, "model": data.gpu_model, "power": data.gpu_power, "energy": data.gpu_energy,
    "utilization": data.gpu_utilization_percent, "seconds": data.duration,
}))
"""

DETAILS = """
import json
from codecarbon.core.gpu import AllGPUDevices

gpus = AllGPUDevices()
print(json.dumps({"static": gpus.get_gpu_static_info(), "details": gpus.get_gpu_details()}))
"""


@pytest.fixture
def environment(runner, machine):
    variables = runner.on_pymtml(machine)
    # What `pymtml run --nvidia-smi` does.
    variables["PATH"] = os.path.join(runner.site, "pymtml_dropin", "bin") + os.pathsep + variables["PATH"]
    variables["PYMTML_PYTHON"] = PROGRAM.python
    return variables


def test_tracker(runner, machine, environment):
    """`OfflineEmissionsTracker`: model, power, energy and utilization of a tracked run on eight GPUs."""
    shown = runner.evaluate(PROGRAM, TRACK, environment)
    watts = sum(gpu.number("power_usage") for gpu in machine.gpus) / 1000
    assert (shown["count"], shown["model"]) == (8, "8 x %s" % machine.gpus[0].name)
    assert shown["power"] == pytest.approx(watts, rel=0.01)
    assert shown["energy"] == pytest.approx(watts / 1000 * shown["seconds"] / 3600, rel=0.2)
    mean = sum(gpu.number("gpu_utilization") for gpu in machine.gpus) / 8
    assert shown["utilization"] == pytest.approx(mean, abs=0.1)


def test_divided_card(runner, tmp_path, environment):
    """A card with MPC on counts once: its power is not added up over its instances."""
    machine = Machine(tmp_path, "s3000-mpc")
    environment.update(runner.on_pymtml(machine), PATH=environment["PATH"])
    shown = runner.evaluate(PROGRAM, TRACK, environment)
    assert shown["count"] == 2
    assert shown["power"] == pytest.approx(sum(gpu.number("power_usage") for gpu in machine.gpus) / 1000, rel=0.01)


def test_details(runner, machine, environment):
    """`AllGPUDevices`: name, UUID, memory, temperature, power and utilization of each GPU."""
    shown = runner.evaluate(PROGRAM, DETAILS, environment)
    for gpu, static, details in zip(machine.gpus, shown["static"], shown["details"]):
        assert static["name"] == gpu.name
        limit = machine.power_limit(gpu)
        assert static["power_limit"] == (None if limit is None else pytest.approx(limit / 1000))
        assert static["uuid"] == details["uuid"] == gpu.uuid
        assert static["total_memory"] == details["total_memory"] == gpu.number("memory_total")
        assert details["used_memory"] == gpu.number("memory_used")
        assert details["free_memory"] == gpu.number("memory_total") - gpu.number("memory_used")
        assert details["temperature"] == gpu.number("gpu_temperature")
        assert details["power_usage"] == pytest.approx(gpu.number("power_usage") / 1000)
        assert details["gpu_utilization"] == gpu.number("gpu_utilization")
        assert details["compute_mode"] == 0
        assert details["compute_processes"] == details["graphics_processes"] == []
