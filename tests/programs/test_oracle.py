"""The same machine twice: on nvidia-ml-py over a stand-in for NVML, and on pymtml over the simulator.

Whatever the two runs of a program show differently is either in the short list of this file, with its reason, or wrong.
"""

import json
import math
import os

import pytest
from program_set import EXPORTER, GPUSTAT, NVITOP
from scrape import free_port, settled

MUSA_VERSION = 5020

# Keys of the profile, and what the stand-in calls the same values.
KEYS = {
    "name": "name",
    "uuid": "uuid",
    "serial_number": "serial",
    "mtbios_version": "vbios",
    "pci_sbdf": "bus_id",
    "pci_device_id": "pci_device_id",
    "pci_subsystem_id": "pci_subsystem_id",
    "memory_total": "memory_total",
    "memory_used": "memory_used",
    "gpu_utilization": "utilization_gpu",
    "memory_utilization": "utilization_memory",
    "encoder_utilization": "utilization_encoder",
    "decoder_utilization": "utilization_decoder",
    "gpu_temperature": "temperature",
    "power_usage": "power_usage",
    "gpu_clock": "clock_graphics",
    "memory_clock": "clock_memory",
    "vpu_clock": "clock_video",
    "gpu_max_clock": "clock_graphics_max",
    "memory_max_clock": "clock_memory_max",
    "vpu_max_clock": "clock_video_max",
    "mtlink_count": "field_91",  # NVML_FI_DEV_NVLINK_LINK_COUNT
    "ecc_uncorrected_volatile": "ecc_uncorrected_volatile",
}

# True of every GPU here: default compute mode, MIG (MPC) off, no display, a sampling period that nobody shows.
CONSTANTS = {
    "compute_mode": 0,
    "is_mig": 0,
    "mig_mode": 0,
    "display_active": 0,
    "display_mode": 0,
    "encoder_period_us": 0,
    "decoder_period_us": 0,
}


def standin_file(machine, folder, processes=()):
    """Writes the machine as the stand-in library reads it."""
    lines = ["[system]", "driver = %s" % machine.driver, "cuda = %d" % MUSA_VERSION]
    for gpu in machine.gpus:
        lines += ["[gpu]"] + ["%s = %s" % (name, gpu.text(key)) for key, name in KEYS.items()]
        lines += ["%s = %s" % pair for pair in CONSTANTS.items()]
        if gpu.fan_speed is not None:
            lines.append("fan_speed = %d" % gpu.fan_speed)
        if machine.power_limit(gpu) is not None:
            lines.append("power_limit = %d" % machine.power_limit(gpu))
            lines.append("performance_state = %s" % gpu.text("performance_state"))
        pids = " ".join("%d:-" % pid for index, pid in processes if index == gpu.index)
        lines.append("compute_processes = %s" % pids)
    path = os.path.join(str(folder), "standin.ini")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


@pytest.fixture
def both(runner, machine, processes):
    """The environments of the two runs, with a process on one GPU."""
    pid = processes({4: 20})
    runner.extra["MTML_SIM_MUSA_VERSION"] = str(MUSA_VERSION)
    nvml = runner.on_nvml(standin_file(machine, runner.folder, [(4, pid)]))
    return nvml, runner.on_pymtml(machine)


def test_gpustat(runner, both):
    """gpustat --json agrees field by field."""

    def shown(environment):
        page = json.loads(runner.run([GPUSTAT.script("gpustat"), "--json"], environment))
        del page["query_time"]
        for gpu in page["gpus"]:
            for process in gpu["processes"]:
                del process["cpu_percent"], process["cpu_memory_usage"]
        return page

    nvml, pymtml = map(shown, both)
    assert [p["command"] for p in nvml["gpus"][4]["processes"]] == ["sleep"]
    assert pymtml == nvml


def test_nvitop(runner, both):
    """nvitop -1 agrees line by line, but for the clock and the host's load."""

    def shown(environment):
        lines = runner.run([NVITOP.script("nvitop"), "-1", "--ascii"], environment).splitlines()
        return [line for line in lines[1:] if not line.startswith(("[ CPU", "[ MEM"))]

    nvml, pymtml = map(shown, both)
    assert sum("sleep" in line for line in nvml) == 1
    processes = [i for i, line in enumerate(nvml) if "sleep" in line]
    # The stand-in has no sampled process utilization, the driver's table has: %SM is a number only on pymtml.
    assert "  20 " in pymtml[processes[0]]
    for lines in (nvml, pymtml):
        del lines[processes[0]]
    assert pymtml == nvml


def test_exporter(runner, both):
    """The exporter's series of GPUs agree, name by name and label by label."""

    def shown(environment):
        port = free_port()
        command = [
            EXPORTER.script("nvitop-exporter"),
            "--bind-address",
            "127.0.0.1",
            "--port",
            str(port),
            "--interval",
            "0.5",
        ]
        with runner.serve(command, environment):
            found = settled("http://127.0.0.1:%d/metrics" % port)
        return {
            key: "NaN" if math.isnan(value) else value
            for key, value in found.items()
            if key[0].startswith(("gpu_", "nvitop_info"))
        }

    nvml, pymtml = map(shown, both)
    assert len(nvml) > 8 * 20
    assert pymtml == nvml
