"""The same machine twice: on nvidia-ml-py over a stand-in for NVML, and on pymtml over the simulator.

Whatever the two runs of a program show differently is either in the short list of this file, with its reason, or wrong.
"""

import json
import math

import pytest
from machines import MUSA_VERSION, on_one_machine
from program_set import GPUSTAT, NVITOP
from scrape import exporter_series


@pytest.fixture
def both(runner, machine, processes):
    """The environments of the two runs, with a process on one GPU."""
    pid = processes({4: 20})
    runner.extra["MTML_SIM_MUSA_VERSION"] = str(MUSA_VERSION)
    nvml = runner.on_nvml(machine.standin_file(runner.folder, [(4, pid)]))
    return nvml, runner.on_pymtml(machine)


@pytest.mark.parametrize("machine", ["changed", "header only"], indirect=True)
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


@pytest.mark.parametrize("machine", ["changed", "header only"], indirect=True)
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


@on_one_machine
def test_exporter(runner, both):
    """The exporter's series of GPUs agree, name by name and label by label."""

    def shown(environment):
        found = exporter_series(runner, environment)
        return {
            key: "NaN" if math.isnan(value) else value
            for key, value in found.items()
            if key[0].startswith(("gpu_", "nvitop_info"))
        }

    nvml, pymtml = map(shown, both)
    assert len(nvml) > 8 * 20
    assert pymtml == nvml
