"""nvitop: its one-shot screen, and its Python API."""

import re

import pytest
from machines import MIB, Machine, on_one_machine
from program_set import NVITOP as PROGRAM

SNAPSHOT = """
import json
from nvitop import Device, take_snapshots

def plain(value):
    return value if isinstance(value, (int, float, str)) else str(value)

devices, processes = [], []
for device in Device.all():
    clocks, most = device.clock_infos(), device.max_clock_infos()
    devices.append({
        "index": device.index, "name": device.name(), "uuid": device.uuid(), "bus_id": device.bus_id(),
        "memory_total": device.memory_total(), "memory_used": device.memory_used(), "memory_free": device.memory_free(),
        "gpu_utilization": device.gpu_utilization(), "memory_utilization": device.memory_utilization(),
        "encoder_utilization": device.encoder_utilization(), "decoder_utilization": device.decoder_utilization(),
        "gpu_temperature": device.temperature(), "power_usage": device.power_usage(),
        "graphics": clocks.graphics, "sm": clocks.sm, "memory": clocks.memory, "video": clocks.video,
        "max_graphics": most.graphics, "max_memory": most.memory, "max_video": most.video,
        "fan": plain(device.fan_speed()), "mig": plain(device.mig_mode()), "mode": device.compute_mode(),
    })
    processes += [[device.index, process.pid, process.name()] for process in device.processes().values()]
snapshots = [[s.index, s.name, s.gpu_utilization, s.memory_used] for s in take_snapshots().devices]
print(json.dumps({
    "devices": devices, "processes": processes, "snapshots": snapshots,
    "driver": Device.driver_version(), "count": Device.count(),
}))
"""


def human(size):
    """A memory size as nvitop writes it."""
    mib = size / MIB
    if mib < 100:
        return "%.2fMiB" % mib
    if mib < 1000:
        return "%.1fMiB" % mib
    return "%.0fMiB" % mib if mib < 20 * 1024 else "%.2fGiB" % (mib / 1024)


def test_api(runner, machine):
    """`Device.all()` and `take_snapshots()`: identity, memory, utilization, clocks, temperature and power."""
    shown = runner.evaluate(PROGRAM, SNAPSHOT, runner.on_pymtml(machine))
    assert (shown["driver"], shown["count"]) == (machine.driver, 8)
    for gpu, device in zip(machine.gpus, shown["devices"]):
        numbers = ("memory_total", "memory_used", "gpu_utilization", "memory_utilization", "encoder_utilization")
        numbers += ("decoder_utilization", "gpu_temperature", "power_usage")
        assert {key: device[key] for key in numbers} == {key: gpu.number(key) for key in numbers}
        assert device["memory_free"] == gpu.free
        assert (device["index"], device["name"], device["uuid"]) == (gpu.index, gpu.name, gpu.uuid)
        assert device["bus_id"] == gpu.bus_id
        assert (device["graphics"], device["sm"]) == (gpu.gpu_clock, gpu.gpu_clock)
        assert (device["memory"], device["video"]) == (gpu.memory_clock, gpu.vpu_clock)
        assert device["max_graphics"] == gpu.gpu_max_clock
        assert device["max_memory"] == gpu.memory_max_clock
        assert device["max_video"] == gpu.vpu_max_clock
        assert device["mode"] == "Default"
    assert shown["snapshots"] == [[gpu.index, gpu.name, gpu.gpu_utilization, gpu.memory_used] for gpu in machine.gpus]


def test_screen(runner, machine):
    """`nvitop -1`: the two lines of each GPU."""
    screen = runner.run([PROGRAM.script("nvitop"), "-1", "--ascii"], runner.on_pymtml(machine))
    assert "Driver Version: %s" % machine.driver in screen
    for gpu in machine.gpus:
        # "Off": these cards have no display interface.
        first = r"\| +%d +%s .*%s Off \| Disabled +%d " % (
            gpu.index,
            gpu.name,
            gpu.bus_id,
            gpu.ecc_uncorrected_volatile,
        )
        limit = gpu.limit
        power = "%dW / %s" % (
            round(gpu.watts),
            "N/A" if limit is None else "%dW" % (limit // 1000),
        )
        memory = "%s / %s" % (human(gpu.memory_used), human(gpu.memory_total))
        second = r" %dC .*%s .*%s .* %d%%" % (
            gpu.gpu_temperature,
            power,
            memory,
            gpu.gpu_utilization,
        )
        assert re.search(first + r".*\n.*" + second, screen), "GPU %d: %s\n%s" % (gpu.index, second, screen)


@on_one_machine
def test_processes(runner, machine, processes):
    """A process from the driver's table, in the API and on the screen."""
    pid = processes({0: 55, 7: 3})
    shown = runner.evaluate(PROGRAM, SNAPSHOT, runner.on_pymtml(machine))
    assert shown["processes"] == [[0, pid, "sleep"], [7, pid, "sleep"]]
    screen = runner.run([PROGRAM.script("nvitop"), "-1", "--ascii"], runner.on_pymtml(machine))
    assert re.search(r"\| +0 +%d +C .*sleep" % pid, screen) and re.search(r"\| +7 +%d +C .*sleep" % pid, screen)


COLLECTOR = """
import json
from nvitop import Device, ResourceMetricCollector

collector = ResourceMetricCollector(Device.all(), interval=0.1)
with collector(tag="run"):
    metrics = collector.collect()
print(json.dumps({key: value for key, value in metrics.items() if "gpu:" in key}))
"""


@on_one_machine
def test_collector(runner, machine):
    """`ResourceMetricCollector`: the means that training loops log."""
    metrics = runner.evaluate(PROGRAM, COLLECTOR, runner.on_pymtml(machine))
    for gpu in machine.gpus:
        prefix = "run/gpu:%d/" % gpu.index
        assert metrics[prefix + "gpu_utilization (%)/mean"] == gpu.gpu_utilization
        assert metrics[prefix + "memory_used (MiB)/mean"] == pytest.approx(gpu.memory_used / MIB)
        assert metrics[prefix + "temperature (C)/mean"] == gpu.gpu_temperature
        assert metrics[prefix + "power_usage (W)/mean"] == pytest.approx(gpu.watts)


INSTANCES = """
import json
from nvitop import Device

print(json.dumps([
    [device.uuid(), device.memory_used(), device.gpu_utilization(), device.parent.uuid()]
    for device in Device(0).mig_devices()
]))
"""


def test_mpc_instances(runner, tmp_path):
    """`Device.mig_devices()`: the instances of a card with MPC on."""
    machine = Machine(tmp_path, "s3000-mpc")
    instances = [machine.parser[name] for name in machine.parser.sections() if name.startswith("device.0.instance.")]
    assert len(instances) == 3
    assert runner.evaluate(PROGRAM, INSTANCES, runner.on_pymtml(machine)) == [
        ["MIG-" + each["uuid"], int(each["memory_used"]), int(each["gpu_utilization"]), machine.gpus[0].uuid]
        for each in instances
    ]


@pytest.mark.parametrize(
    "profile, status, said", [("empty", 0, "No visible devices found"), ("no-driver", 1, "Driver Not Loaded")]
)
def test_no_gpu(runner, tmp_path, profile, status, said):
    """No GPU, or no driver: it says so."""
    environment = runner.on_pymtml(Machine(tmp_path, profile))
    shown = runner.run([PROGRAM.script("nvitop"), "-1", "--ascii"], environment, status=status)
    assert said in shown
