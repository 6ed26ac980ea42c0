"""nvidia-smi's subcommands mig, vgpu, clocks, drain, encodersessions, and nvlink where there are no links."""

import re
import shlex

import pytest
import simulated
from command import invoke, process_tree

import pymtml


def smi(*arguments):
    return invoke(*arguments, name="nvidia-smi")


@pytest.fixture(autouse=True)
def all_is_visible(tmp_path, monkeypatch):
    process_tree(tmp_path / "proc", monkeypatch)


@pytest.fixture
def divided():
    with simulated.machine("s3000-mpc"):
        yield


# What nvidia-smi 580 answered on a card without MIG instances, NVLink and vGPUs
RECORDED = {
    "mig -cgi 0": (0, "No MIG-enabled devices found.\n"),
    "mig -lgi": (0, "No MIG-enabled devices found.\n"),
    "mig -lcip": (0, "No MIG-enabled devices found.\n"),
    "mig -dgi": (0, "No MIG-enabled devices found.\n"),
    "mig -lci": (0, "No MIG-enabled devices found.\n"),
    "mig --foo": (2, 'Option "--foo" is not recognized.\n'),
    "mig -lgip -i 9": (6, "No devices were found\n"),
    "drain -p 0000:3B:00.0 -q": (0, "The current drain state of GPU 00000000:3B:00.0 is: not draining.\n"),
    "drain -q": (2, "Must specify -p with this option.\n"),
    "drain --foo": (2, 'Option "--foo" is not recognized.\n'),
    "clocks -s": (2, 'Option "-s" is not recognized.\n'),
    "vgpu": (0, "No supported devices in vGPU mode\n"),
    "vgpu -q": (0, "No supported devices in vGPU mode\n"),
    "vgpu -s": (0, "No supported devices in vGPU mode\n"),
    "vgpu --foo": (2, 'Option "--foo" is not recognized.\n'),
    "vgpu -q -i 9": (6, "No devices were found\n"),
    "nvlink -s": (0, ""),
    "nvlink -e": (0, ""),
    "nvlink -c": (0, ""),
    "nvlink -s -i 9": (6, "No devices were found\n"),
    "encodersessions --foo": (2, 'Option "--foo" is not recognized.\n'),
    "stats": (255, "ERROR: Option stats is not recognized. Please run 'nvidia-smi -h'.\n\n"),
}


def test_a_card_without_the_feature_answers_as_was_recorded():
    found = {}
    with simulated.machine("s3000x2"):
        for command in RECORDED:
            result = smi(*shlex.split(command))
            found[command] = (result.status, result.stdout)
    assert found == RECORDED


HELP = ["mig", "mig -h", "mig -i 0", "vgpu -h", "clocks", "clocks -h", "clocks -i 0", "drain", "encodersessions -h"]
HELP += ["topo", "topo -h", "mtlink", "mtlink -h", "nvlink", "nvlink -h", "dmon -h", "pmon -h"]


def test_help_comes_without_arguments_too():
    """In the words of each name, which stand in expected/help.txt; where -i alone asks for nothing, too."""
    for command in HELP:
        for name in ("pymtml", "nvidia-smi"):
            result = invoke(*command.split(), name=name)
            assert (result.status, result.stderr) == (0, "")
            assert result.stdout == invoke(command.split()[0], "--help", name=name).stdout
            assert max(len(line) for line in result.lines) <= 120
            other = ("MPC", "MtLink") if name == "nvidia-smi" else ("MIG", "NVLink")
            assert not [word for word in other if word in result.stdout]


# ---- mig ----


def instances():
    """(profile of each instance, the simulator's configuration) of the first card."""
    names = [line.split()[1] for line in invoke("-L").lines if line.startswith("  MPC")]
    return names, simulated.get_value(0, "mpc_configuration")


@pytest.mark.parametrize(
    "wanted, names",
    [
        ("2,2,2,2", ["2c+8gb"] * 4),
        ("2c+8gb,4c+16gb,2", ["4c+16gb", "2c+8gb", "2c+8gb"]),
        ("MIG 4c+16gb,MPC 4c+16gb", ["4c+16gb"] * 2),
        ("8-11111111", ["1c+4gb"] * 8),
        ("0", ["8c+32gb"]),
    ],
)
def test_instances_are_made_by_configuration(wanted, names, divided):
    assert smi("mig", "-dgi").status == 0
    assert instances()[0] == ["8c+32gb"]
    result = smi("mig", "-cgi", wanted, "-C")
    assert (result.status, result.stderr) == (0, "")
    assert instances()[0] == names
    if len(names) > 1:
        form = r"Successfully created GPU instance ID +(\d) on GPU +0 using profile MIG (\S+) \(ID +\d\)"
        assert [re.fullmatch(form, line).groups() for line in result.lines] == [
            (str(index), name) for index, name in enumerate(names)
        ]


def test_what_is_in_force_already_is_left_alone(divided):
    before = instances()
    simulated.reset_calls()
    result = smi("mig", "-cgi", "1,2,2")
    assert result.status == 0 and "already" in result.stdout
    assert simulated.calls("mtmlDeviceSetMpcConfiguration") == 0 and instances() == before


def test_what_cannot_be_made_changes_nothing(divided):
    """What it says stands in expected/divided.txt."""
    before = instances()
    for wanted in ("3", "nope", "9"):
        assert smi("mig", "-cgi", wanted).status in (2, 23)
    assert instances() == before


def test_instances_go_together(divided):
    before = instances()
    result = smi("mig", "-dgi", "-gi", "1")
    assert (result.status, instances()) == (3, before)
    result = smi("mig", "-dgi")
    assert result.lines == ["Successfully destroyed GPU instance ID %2d from GPU  0" % number for number in range(3)]
    again = smi("mig", "-dgi")
    assert (again.status, again.stdout) == (6, "No GPU instances found: Not Found\n")


def test_two_instances_are_made_one(divided):
    assert smi("mig", "-cgi", "1,1").status == 0
    assert smi("mig", "-dgi").status == 0 and instances()[0] == ["8c+32gb"]


def test_a_change_that_fails():
    for fault, status in (("NO_PERMISSION", 4), ("NOT_SUPPORTED", 3), ("DRIVER_FAILURE", 255)):
        with simulated.machine("s3000-mpc", faults="mtmlDeviceSetMpcConfiguration=" + fault):
            result = smi("mig", "-cgi", "1,1")
        assert result.status == status and result.lines[-1].startswith("Failed to create GPU instances: ")
    fault = "1.mtmlDeviceGetSupportedMpcConfigurations=TIMEOUT"  # seen before the first card is changed
    with simulated.machine("s3000-mpc", set="1.mpc_mode=ENABLE", faults=fault):
        assert smi("mig", "-cgi", "1,1").status == 10 and instances()[0][:3] == ["4c+16gb", "2c+8gb", "2c+8gb"]


def test_a_change_that_does_not_stick(divided, monkeypatch):
    monkeypatch.setattr(pymtml, "mtmlDeviceSetMpcConfiguration", lambda *_: None)
    result = smi("mig", "-cgi", "1,1")
    words = "Unable to create GPU instances on GPU  0: the driver accepted it, but GPU 0 is divided in another way\n"
    assert (result.status, result.stdout) == (255, words)


def test_a_card_in_use_is_left_alone(divided, tmp_path, monkeypatch):
    process_tree(tmp_path, monkeypatch, {17: ("trainer", 12)})
    before = instances()
    result = smi("mig", "-cgi", "1,1")
    assert result.status == 19 and "In use by another client" in result.stdout and instances() == before
