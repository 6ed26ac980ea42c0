"""nvitop: its one-shot screen; rows.txt has its Python API."""

import re

import pytest
from machines import MIB, Machine
from program_set import NVITOP as PROGRAM


def human(size):
    """A memory size as nvitop writes it."""
    mib = size / MIB
    if mib < 100:
        return "%.2fMiB" % mib
    if mib < 1000:
        return "%.1fMiB" % mib
    return "%.0fMiB" % mib if mib < 20 * 1024 else "%.2fGiB" % (mib / 1024)


def test_screen(runner, machine):
    """`nvitop -1`: the two lines of each GPU."""
    screen = runner.run([PROGRAM.script("nvitop"), "-1", "--ascii"], runner.on_pymtml(machine))
    assert "Driver Version: %s" % machine.driver in screen
    for gpu in machine.gpus:
        # "Off": these cards have no display interface.
        shown = gpu.index, gpu.name, gpu.bus_id, gpu.ecc_uncorrected_volatile
        first = r"\| +%d +%s .*%s Off \| Disabled +%d " % shown
        power = "%dW / %s" % (round(gpu.watts), "%dW" % gpu.limit_watts if gpu.limit else "N/A")
        memory = "%s / %s" % (human(gpu.memory_used), human(gpu.memory_total))
        second = r" %dC .*%s .*%s .* %d%%" % (gpu.gpu_temperature, power, memory, gpu.gpu_utilization)
        assert re.search(first + r".*\n.*" + second, screen), "GPU %d: %s\n%s" % (gpu.index, second, screen)


@pytest.mark.parametrize(
    "profile, status, said", [("empty", 0, "No visible devices found"), ("no-driver", 1, "Driver Not Loaded")]
)
def test_no_gpu(runner, tmp_path, profile, status, said):
    """No GPU or no driver: its message."""
    environment = runner.on_pymtml(Machine(tmp_path, profile))
    shown = runner.run([PROGRAM.script("nvitop"), "-1", "--ascii"], environment, status=status)
    assert said in shown
