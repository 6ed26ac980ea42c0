"""gpustack-runtime: a program that imports pymtml by its own name."""

import json

import pytest
from machines import Machine
from program_set import GPUSTACK as PROGRAM

pytestmark = pytest.mark.programs


# What gpustack calls MTML's topology levels.
LEVELS = {"SINGLE": "PIX", "MULTIPLE": "PXB", "HOSTBRIDGE": "PHB", "NODE": "NODE", "SYSTEM": "SYS"}


def ask(runner, machine, *arguments):
    environment = dict(
        runner.on_pymtml(machine), GPUSTACK_RUNTIME_DETECT="mthreads", GPUSTACK_RUNTIME_DETECT_NO_PCI_CHECK="1"
    )
    return runner.run([PROGRAM.script("gpustack-runtime")] + list(arguments), environment)


def detected(runner, machine):
    page = ask(runner, machine, "detect", "--format", "json")
    # A screen's worth of control codes comes first.
    return json.loads(page[page.index("[\n") :])


def test_detect(runner, machine):
    """`gpustack-runtime detect`: identity, memory, utilization, temperature, power and PCI id of eight GPUs."""
    shown = detected(runner, machine)
    assert len(shown) == 8
    for gpu, device in zip(machine.gpus, shown):
        used, total = gpu.used_mib, gpu.total_mib
        assert device["manufacturer"] == "mthreads"
        assert (device["index"], device["name"], device["uuid"]) == (gpu.index, gpu.name, gpu.text("uuid"))
        assert device["driver_version"] == machine.driver
        assert device["cores"] == gpu.gpu_cores
        assert device["cores_utilization"] == gpu.gpu_utilization
        assert (device["memory"], device["memory_used"]) == (total, used)
        assert device["memory_utilization"] == pytest.approx(100 * used / total, abs=0.1)
        assert device["temperature"] == gpu.gpu_temperature
        assert device["power_used"] == gpu.power_usage
        assert device["appendix"]["bdf"] == gpu.text("pci_sbdf")[len("0000") :]
        assert device["appendix"]["numa"] == gpu.text("memory_affinity")


@pytest.mark.parametrize("profile", ["x10000x8", "s90", "s2000", "used-above-total", "busy-but-0-percent"])
def test_detect_other_machines(runner, tmp_path, profile):
    """`gpustack-runtime detect` on other machines that were seen: names, memory (also above the total), load."""
    machine = Machine(tmp_path, profile)
    shown = detected(runner, machine)
    assert [(device["index"], device["name"], device["uuid"]) for device in shown] == [
        (gpu.index, gpu.name, gpu.text("uuid")) for gpu in machine.gpus
    ]
    for gpu, device in zip(machine.gpus, shown):
        assert device["memory"] == gpu.total_mib
        assert device["memory_used"] == gpu.used_mib
        assert device["cores_utilization"] == gpu.gpu_utilization
        assert device["temperature"] == gpu.gpu_temperature


def test_detect_a_divided_card(runner, tmp_path):
    """`gpustack-runtime detect` asks MTML itself: the divided card, its three instances, the other card."""
    shown = detected(runner, Machine(tmp_path, "s3000-mpc"))
    assert [(device["cores"], device["memory"]) for device in shown] == [
        (8, 32768),
        (4, 16384),
        (2, 8192),
        (2, 8192),
        (8, 32768),
    ]
    assert len({device["uuid"] for device in shown}) == 5


def distances(page):
    """The matrix of the table that `topology` prints."""
    rows = [line.split("|")[2:-3] for line in page.splitlines() if line.startswith("| Device")]
    return [[cell.strip() for cell in row] for row in rows]


def test_topology(runner, machine):
    """`gpustack-runtime topology`: LINK for every pair of the eight GPUs."""
    expected = [["X" if i == j else "LINK" for j in range(8)] for i in range(8)]
    assert distances(ask(runner, machine, "topology")) == expected


@pytest.mark.parametrize("profile", ["s5000x8", "s5000x8-cpu-hole"])
def test_topology_of_hosts_that_were_seen(runner, tmp_path, profile):
    """Without MtLink: NODE within each four, SYS across, memory of node 0 and 1, as users of this program reported."""
    machine = Machine(tmp_path, profile, changes={"mtlink_capability": lambda i: "no"})
    page = ask(runner, machine, "topology")
    assert distances(page) == [
        ["X" if i == j else "NODE" if i // 4 == j // 4 else "SYS" for j in range(8)] for i in range(8)
    ]
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| Device")]
    assert [row[-2].strip() for row in rows] == ["0"] * 4 + ["1"] * 4


def test_topology_of_a_divided_card(runner, tmp_path):
    """`gpustack-runtime topology`: a divided card and its instances are one place, the other card is another."""
    card = [0, 0, 0, 0, 1]
    assert distances(ask(runner, Machine(tmp_path, "s3000-mpc"), "topology")) == [
        ["X" if one == other else "NODE" for other in card] for one in card
    ]


def test_topology_without_links(runner, machine):
    """Without MtLink: MTML's topology level of each pair, by gpustack's names."""
    levels = ["INTERNAL", "SINGLE", "MULTIPLE", "HOSTBRIDGE", "NODE", "SYSTEM", "SYSTEM", "SYSTEM"]
    for i, section in enumerate(machine.sections):
        machine.parser[section]["mtlink_capability"] = "no"
        machine.parser[section]["topology"] = ", ".join(levels[abs(i - j)] for j in range(8))
    machine.write()
    expected = [["X" if i == j else LEVELS[levels[abs(i - j)]] for j in range(8)] for i in range(8)]
    assert distances(ask(runner, machine, "topology")) == expected
