"""nvitop-exporter: the page that it serves to Prometheus."""

import math
import os
import re

import pytest
from machines import MIB, Machine, on_one_machine
from program_set import EXPORTER as PROGRAM  # noqa: F401
from scrape import by_label, exporter, exporter_series, fetch, samples, settled, until
from test_fleet_files import FLEET, SERVING, allowed_calls, needs_strace, needs_systemd


def expected_series(machine, gpu):
    """The series of one GPU that do not depend on the machine that runs the test."""
    used, total = gpu.memory_used / MIB, gpu.memory_total / MIB
    series = {
        "gpu_utilization_Percentage": gpu.gpu_utilization,
        "gpu_memory_utilization_Percentage": gpu.memory_utilization,
        "gpu_encoder_utilization_Percentage": gpu.encoder_utilization,
        "gpu_decoder_utilization_Percentage": gpu.decoder_utilization,
        "gpu_memory_total_MiB": total,
        "gpu_memory_used_MiB": used,
        "gpu_memory_free_MiB": total - used,
        "gpu_memory_percent_Percentage": round(100 * used / total, 1),
        "gpu_clock_sm_MHz": gpu.gpu_clock,
        "gpu_clock_graphics_MHz": gpu.gpu_clock,
        "gpu_clock_memory_MHz": gpu.memory_clock,
        "gpu_clock_video_MHz": gpu.vpu_clock,
        "gpu_power_usage_W": gpu.watts,
        "gpu_power_limit_W": gpu.limit / 1000 if gpu.limit else math.nan,
        "gpu_temperature_C": gpu.gpu_temperature,
    }
    return {name: pytest.approx(value, nan_ok=True) for name, value in series.items()}


@pytest.mark.parametrize("machine", ["changed", "header only"], indirect=True)
def test_metrics(runner, machine):
    """`/metrics`: utilization, memory, clocks, power and temperature, with name and UUID."""
    found = exporter_series(runner, runner.on_pymtml(machine))
    for gpu in machine.gpus:
        wanted = {"index": str(gpu.index), "devicename": gpu.name, "uuid": gpu.uuid}.items()
        shown = {metric: value for (metric, labels), value in found.items() if wanted <= labels}
        expected = expected_series(machine, gpu)
        assert {metric: shown.get(metric) for metric in expected} == expected
    assert len({index for metric, index in by_label(found, "index") if metric == "gpu_temperature_C"}) == 8


def test_divided_card(runner, tmp_path):
    """A card with MPC on and its instances: no watt is counted twice."""
    machine = Machine(tmp_path, "s3000-mpc")
    found = exporter_series(runner, runner.on_pymtml(machine))
    power = {dict(labels)["uuid"]: value for (metric, labels), value in found.items() if metric == "gpu_power_usage_W"}
    told = {uuid: value for uuid, value in power.items() if not math.isnan(value)}
    assert told == {gpu.uuid: gpu.watts for gpu in machine.gpus}
    assert len(power) == 5  # and three instances, which have no power of their own


@on_one_machine
def test_processes(runner, machine, processes):
    """A process and its share."""
    pid = processes({2: 44, 5: 9})
    found = exporter_series(runner, runner.on_pymtml(machine))
    shares = {
        dict(labels)["index"]: value
        for (metric, labels), value in found.items()
        if metric.startswith("process_gpu_sm_utilization") and dict(labels)["pid"] == str(pid)
    }
    assert shares == {"2": 44, "5": 9}


@on_one_machine
def test_lost_gpu(runner, machine):
    """A lost GPU: only its values become NaN."""
    machine.parser[machine.sections[3]]["lost"] = "DRIVER_FAILURE@100"  # after some of the exporter's rounds
    machine.write()
    with exporter(runner, runner.on_pymtml(machine)) as url:

        def lost():
            values = by_label(samples(fetch(url)), "index")
            return {index for (name, index), value in values.items() if "temperature" in name and math.isnan(value)}

        assert until(lost) == {"3"}


@needs_systemd
@needs_strace
@on_one_machine
def test_the_unit_of_the_fleet_allows_its_calls(runner, machine):
    """The unit in examples/fleet allows its system calls."""
    with open(os.path.join(FLEET, "systemd", "optional", "nvitop-exporter.conf")) as file:
        assert "/pymtml run nvitop-exporter --hostname %H --bind-address 0.0.0.0 --port 8000" in file.read()
    trace = os.path.join(runner.folder, "trace")
    # With -o strace takes no signals by itself, and outlasts the patience of serve().
    under = "strace", "-I", "2", "-f", "-qq", "-o", trace
    with exporter(runner, runner.on_pymtml(machine), *under) as url:
        assert settled(url)
    with open(trace, encoding="utf-8", errors="replace") as file:
        made = set(re.findall(r"^\d+ +(\w+)\(", file.read(), re.MULTILINE))
    assert {"openat", "socket", "bind", "listen"} <= made <= allowed_calls(SERVING)
