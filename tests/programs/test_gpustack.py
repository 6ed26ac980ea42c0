"""gpustack-runtime: a program that imports pymtml by its own name."""

import json

import pytest
from machines import MIB
from program_set import GPUSTACK as PROGRAM

MISSING = ""

pytestmark = pytest.mark.programs


# What gpustack calls MTML's topology levels.
LEVELS = {"SINGLE": "PIX", "MULTIPLE": "PXB", "HOSTBRIDGE": "PHB", "NODE": "NODE", "SYSTEM": "SYS"}


def ask(runner, machine, *arguments):
    environment = dict(
        runner.on_pymtml(machine), GPUSTACK_RUNTIME_DETECT="mthreads", GPUSTACK_RUNTIME_DETECT_NO_PCI_CHECK="1"
    )
    return runner.run([PROGRAM.script("gpustack-runtime")] + list(arguments), environment)


def test_detect(runner, machine):
    """`gpustack-runtime detect`: identity, memory, utilization, temperature, power and PCI id of eight GPUs."""
    page = ask(runner, machine, "detect", "--format", "json")
    # A screen's worth of control codes comes first.
    shown = json.loads(page[page.index("[\n") :])
    assert len(shown) == 8
    for gpu, device in zip(machine.gpus, shown):
        used, total = gpu.number("memory_used") // MIB, gpu.number("memory_total") // MIB
        assert device["manufacturer"] == "mthreads"
        assert (device["index"], device["name"], device["uuid"]) == (gpu.index, gpu.name, gpu.uuid)
        assert device["driver_version"] == machine.driver
        assert device["cores"] == gpu.number("gpu_cores")
        assert device["cores_utilization"] == gpu.number("gpu_utilization")
        assert (device["memory"], device["memory_used"]) == (total, used)
        assert device["memory_utilization"] == pytest.approx(100 * used / total, abs=0.1)
        assert device["temperature"] == gpu.number("gpu_temperature")
        assert device["power_used"] == gpu.number("power_usage")
        assert device["appendix"]["bdf"] == gpu.text("pci_sbdf")[len("0000") :]
        assert device["appendix"]["numa"] == gpu.text("memory_affinity")


def distances(page):
    """The matrix of the table that `topology` prints."""
    rows = [line.split("|")[2:-3] for line in page.splitlines() if line.startswith("| Device")]
    return [[cell.strip() for cell in row] for row in rows]


def test_topology(runner, machine):
    """`gpustack-runtime topology`: LINK for every pair of the eight GPUs."""
    expected = [["X" if i == j else "LINK" for j in range(8)] for i in range(8)]
    assert distances(ask(runner, machine, "topology")) == expected


def test_topology_without_links(runner, machine):
    """Without MtLink: MTML's topology level of each pair, by gpustack's names."""
    levels = ["INTERNAL", "SINGLE", "MULTIPLE", "HOSTBRIDGE", "NODE", "SYSTEM", "SYSTEM", "SYSTEM"]
    for i, section in enumerate(machine.sections):
        machine.parser[section]["mtlink_capability"] = "no"
        machine.parser[section]["topology"] = ", ".join(levels[abs(i - j)] for j in range(8))
    machine.write()
    expected = [["X" if i == j else LEVELS[levels[abs(i - j)]] for j in range(8)] for i in range(8)]
    assert distances(ask(runner, machine, "topology")) == expected
