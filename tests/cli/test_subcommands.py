"""nvidia-smi's subcommands mig, vgpu, clocks, drain, encodersessions, and nvlink where there are no links."""

import re
import shlex
import signal
import subprocess
import sys

import pytest
import simulated
from command import command_environment, invoke, process_tree

import pymtml


def smi(*arguments):
    return invoke(*arguments, name="nvidia-smi")


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


def cells(lines):
    return [re.findall(r"\S+", line.strip("|")) for line in lines if re.match(r"\| {3}\d", line)]


def test_the_heads_of_lists_are_nvidias(divided):
    result = smi("mig", "-lgip")
    assert result.lines[:6] == [
        "+-------------------------------------------------------------------------------+",
        "| GPU instance profiles:                                                        |",
        "| GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC  |",
        "|                                Free/Total   GiB              CE    JPEG  OFA  |",
        "|===============================================================================|",
        "|   0  MIG 8c+32gb          0     N/A/1      32.00      N/A      8    N/A   N/A |",
    ]
    for option in ("-lgip", "-lgi", "-lcip", "-lci"):
        lines = smi("mig", option).lines
        assert len({len(line) for line in lines}) == 1 and "MPC" not in "".join(lines)


def test_lists_agree_with_the_library(divided):
    profiles, instance_rows = cells(smi("mig", "-lgip").lines), cells(smi("mig", "-lgi").lines)
    pymtml.nvmlInit()
    card = pymtml.nvmlDeviceGetHandleByIndex(0)
    offered = pymtml.mtmlDeviceGetSupportedMpcProfiles(card)
    made = [pymtml.mtmlDeviceGetMpcProfileInfo(i) for i in pymtml.mtmlDeviceGetMpcInstances(card)]
    most = [pymtml.nvmlDeviceGetGpuInstanceProfileInfoById(card, p.id).instanceCount for p in offered]
    pymtml.nvmlShutdown()
    assert [row[2:5] for row in profiles] == [[p.name, str(p.id), "N/A/%d" % count] for p, count in zip(offered, most)]
    assert [row[2:5] for row in instance_rows] == [[p.name, str(p.id), str(i)] for i, p in enumerate(made)]
    assert [row[1] for row in cells(smi("mig", "-lci").lines)] == ["0", "1", "2"]
    assert len(cells(smi("mig", "-lgi", "-gi", "1,2").lines)) == 2


def test_profiles_of_a_card_that_no_configuration_divides():
    with simulated.machine("s3000-mpc", set="0.mpc_configurations="):
        assert [row[4] for row in cells(smi("mig", "-lgip").lines)] == ["N/A/0"] * 4


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


PROFILES = "a profile is one of 8c+32gb (0), 4c+16gb (1), 2c+8gb (2), 1c+4gb (3)"
WAYS = "GPU 0 can be divided into 8c+32gb or 4c+16gb,4c+16gb or 4c+16gb,2c+8gb,2c+8gb or %s or %s" % (
    ",".join(["2c+8gb"] * 4),
    ",".join(["1c+4gb"] * 8),
)


@pytest.mark.parametrize("wanted, status, words", [("3", 23, WAYS), ("nope", 2, PROFILES), ("9", 2, PROFILES)])
def test_what_cannot_be_made_changes_nothing_and_says_what_can(wanted, status, words, divided):
    before = instances()
    result = smi("mig", "-cgi", wanted)
    assert result.status == status and result.lines[-1].startswith("Failed to create GPU instances: ")
    assert result.stderr.endswith(": %s\n" % words) and result.stderr.count("\n") == 1
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


@pytest.mark.parametrize("fault, status", [("NO_PERMISSION", 4), ("NOT_SUPPORTED", 3), ("DRIVER_FAILURE", 255)])
def test_a_change_that_fails(fault, status):
    with simulated.machine("s3000-mpc", faults="mtmlDeviceSetMpcConfiguration=" + fault):
        result = smi("mig", "-cgi", "1,1")
    assert result.status == status and result.lines[-1].startswith("Failed to create GPU instances: ")


def test_a_change_that_does_not_stick(divided, monkeypatch):
    monkeypatch.setattr(pymtml, "mtmlDeviceSetMpcConfiguration", lambda *_: None)
    result = smi("mig", "-cgi", "1,1")
    words = "Unable to create GPU instances on GPU  0: the driver accepted it, and GPU 0 is divided in another way\n"
    assert (result.status, result.stdout) == (255, words)


def test_a_card_in_use_is_left_alone(divided, tmp_path, monkeypatch):
    process_tree(tmp_path, monkeypatch, {17: ("trainer", 12)})
    before = instances()
    result = smi("mig", "-cgi", "1,1")
    assert result.status == 19 and "In use by another client" in result.stdout and instances() == before


# ---- the rest ----


def test_vgpus_of_a_host():
    with simulated.machine("s3000-vgpu-host"):
        offered, active = smi("vgpu", "-s").lines, smi("vgpu", "-q")
        pymtml.nvmlInit()
        card = pymtml.nvmlDeviceGetHandleByIndex(0)
        names = [kind.name for kind in pymtml.mtmlDeviceGetSupportedVirtTypes(card)]
        uuids = pymtml.mtmlDeviceGetActiveVirtDeviceUuids(card)
        pymtml.nvmlShutdown()
    assert offered[0].startswith("GPU 0000") and offered[1 : len(names) + 1] == ["    " + name for name in names]
    found = re.findall(r"vGPU UUID +: (\S+)", active.stdout)
    assert found[: len(uuids)] == uuids and uuids
    assert re.search(r"Active vGPUs +: %d$" % len(uuids), active.stdout, re.M)


def test_encoder_sessions():
    process = subprocess.Popen(
        [sys.executable, "-m", "pymtml", "encodersessions"],
        env=command_environment(name="s5000x8"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    lines = [process.stdout.readline() for _ in range(14)]
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[1] == ""
    head = [line for line in lines if line.startswith("#")]
    assert head[:2] == lines[:2] == lines[12:14]
    assert head[0] == "# GPU Session    Process   Codec       H       V Average     Average\n"
    rows = [line for line in lines if not line.startswith("#")]
    assert len(rows) == 10 and all(len(line) == len(head[1]) for line in rows)
    with simulated.machine("s5000x8"):
        pymtml.nvmlInit()
        expected = []
        for index in range(8):
            sessions = pymtml.nvmlDeviceGetEncoderSessions(pymtml.nvmlDeviceGetHandleByIndex(index))
            expected += [[str(index), str(s.sessionId), str(s.pid)] for s in sessions] or [[str(index), "-", "-"]]
        pymtml.nvmlShutdown()
    assert [row.split()[:3] for row in rows] == (expected * 10)[:10]


def test_nvlink_with_links_has_lines_for_errors():
    with simulated.machine("s4000x8"):
        lines = smi("nvlink", "-e", "-i", "0", "-l", "0").lines
    assert lines[1:] == ["\t Link 0: %s Errors: N/A" % kind for kind in ("Replay", "Recovery", "CRC")]


def test_a_link_that_is_down_in_both_languages():
    with simulated.machine("s5000x8", set="0.mtlink_state.0=DOWN"):
        lines = [invoke(command, "-s", "-i", "0").stdout.splitlines()[1:3] for command in ("nvlink", "mtlink")]
    assert lines == [
        ["\t Link 0: <inactive>", "\t Link 1: 56.000 GB/s"],
        ["\t Link 0: Down, 56 GB/s, GPU 1 (00000000:3A:00.0)", "\t Link 1: Up, 56 GB/s, GPU 1 (00000000:3A:00.0)"],
    ]
