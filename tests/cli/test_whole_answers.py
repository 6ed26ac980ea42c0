"""What answers come to in cases that expected/ does not show: terminals, loops, what only NVML tells, failed inits."""

import json
import os
import re
import shutil
from xml.etree import ElementTree

import pytest
import simulated
from command import invoke, process_tree
from expected import surroundings
from inside import Opened, answers, devices, doctor, language, samples, scroll, table

import pymtml

DISTINCT, DIVIDED, HOST = simulated.DISTINCT, "s3000-mpc", "s3000-vgpu-host"


@pytest.fixture(autouse=True)
def known():
    """The time of all samples, a version, and processes (the folder of all that)."""
    with surroundings() as folder:
        yield folder


def test_the_longest_delays(monkeypatch):
    """What is refused begins one second later."""
    monkeypatch.setattr(scroll, "repeat", lambda machine, seconds, count: delays.append(seconds) or ())
    delays = []
    with simulated.machine(DISTINCT):
        assert invoke("dmon", "-d", "600").status == invoke("pmon", "-d", "10").status == 0
    assert delays == [600, 10]


@pytest.mark.parametrize("command, lines", [("dmon", 2), ("pmon", 3)])
def test_samples_go_on_until_as_many_as_were_asked_for(command, lines, monkeypatch):
    """Below one head; without -c until somebody interrupts."""
    monkeypatch.setattr(scroll, "repeat", lambda machine, seconds, count: [True, False, False, False][: count or 4])
    with simulated.machine(DISTINCT):
        for options, samples_taken in (([], 4), (["-c", "1"], 1), (["-c", "3"], 3)):
            result = invoke(command, *options)
            assert (result.status, len(result.lines)) == (0, 2 + lines * samples_taken)
            assert [line[:5] for line in result.lines if line.startswith("#")] == ["# gpu", "# Idx"]


class Looked_at:
    """An output that is a terminal."""

    is_terminal, paints = True, True


@pytest.mark.parametrize("room", [1, 2, 8, 9, 10])
def test_a_table_in_place_ends_where_the_terminal_does(room, monkeypatch):
    """The last line stays empty, and one says how many are left out."""
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: os.terminal_size((80, room)))
    with simulated.machine(DISTINCT), devices.Machine() as here:
        text = table._in_place(table.Screen(Looked_at()).text(here, Opened(here.cards)))
    begin, lines, end = text[:3], text[3:-3].splitlines(), text[-3:]
    assert (begin, end) == ("\x1b[H", "\x1b[J")
    assert room == 10 or lines[-1].endswith(" more lines\x1b[K")
    assert [line[:7] for line in lines] == {
        1: ["... 9 m"],
        2: ["... 9 m"],
        8: ["+- pymt", "| GPU N", "|   0 M", "|   1 X", "+------", "| GPU  ", "... 3 m"],
        9: ["+- pymt", "| GPU N", "|   0 M", "|   1 X", "+------", "| GPU  ", "|   0  ", "... 2 m"],
        10: ["+- pymt", "| GPU N", "|   0 M", "|   1 X", "+------", "| GPU  ", "|   0  ", "|   0  ", "+------"],
    }.get(room)


def test_a_terminal_that_does_not_tell_its_size(monkeypatch):
    """It has 91 columns and 24 lines."""
    monkeypatch.setattr(shutil, "get_terminal_size", os.terminal_size)
    with simulated.machine("s5000x8"), devices.Machine() as here:
        text = table._in_place(table.Screen(Looked_at()).text(here, Opened(here.cards)))
    lines = text.replace("\x1b[K", "").splitlines()
    assert (len(lines), len(lines[1]), lines[-2:]) == (24, 91, ["... 28 more lines", "\x1b[J"])


def test_a_remark_on_processes_takes_the_lines_it_needs(tmp_path, monkeypatch):
    (tmp_path / "empty" / "1" / "fd").mkdir(parents=True)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "empty"))
    lines = screen(DISTINCT, 24, monkeypatch).splitlines()
    assert lines[-3:] == ["| No running processes |", "| found                |", "+----------------------+"]


class Missing(pymtml.NVMLError_LibraryNotFound):
    """What the loader raises, which names what was tried."""

    def __str__(self):
        return "Library Not Found: tried a: b"


NO_NVIDIA_LIBRARY = (
    "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display Driver "
    "is properly installed and present in your system.\nPlease also try adding directory that contains "
    "libnvidia-ml.so to your system PATH.\n"
)


def test_a_library_that_is_not_there(monkeypatch):
    """expected/refusals.txt has libraries that are there, and cannot be used."""

    def init():
        raise Missing()

    monkeypatch.setattr(pymtml, "nvmlInit", init)
    result = invoke("-L", name="nvidia-smi")
    hint = "nvidia-smi: tried a: b; run `pymtml doctor` to find out more\n"
    assert (result.status, result.stdout, result.stderr) == (12, NO_NVIDIA_LIBRARY, hint)
    monkeypatch.delenv("PYMTML_LIBRARY", False)
    hint = "is the driver installed? `pymtml doctor` shows what was tried; PYMTML_LIBRARY may name the file\n"
    result = invoke("-L")
    assert (result.status, result.stdout, result.stderr) == (12, "", "pymtml: libmtml.so.2 was not found; " + hint)
    monkeypatch.setattr(pymtml._session, "misfit", "another libc")
    hint = "pymtml: libmtml.so.2 cannot be loaded; another libc; `pymtml doctor` shows what was tried\n"
    assert invoke("-L").stderr == hint
    assert doctor.init_failure(Missing()).next_step == "another libc"


def screen(machine, columns, monkeypatch):
    """The table on a terminal of so many columns."""
    monkeypatch.setenv("COLUMNS", str(columns))
    with simulated.machine(machine):
        return invoke(terminal=True).stdout


@pytest.mark.parametrize(
    "own, driver, line",
    [
        ("1", "1", "pymtml 1       MTML 2.2.1-simulator       Driver Version: 1       MUSA Version: 4.3"),
        (
            "9.8.7",
            "3.3.9-server.12345",
            "pymtml 9.8.7  MTML 2.2.1-simulator  Driver Version: 3.3.9-server.12345  MUSA Version...",
        ),
    ],
)
def test_blanks_between_versions(own, driver, line, monkeypatch):
    """Seven at most, two at least."""
    monkeypatch.setattr(pymtml, "__version__", own)
    with simulated.machine(DISTINCT, set="machine.driver_version=" + driver):
        assert invoke().lines[2] == "| %s |" % line.ljust(87)


def test_long_names_keep_their_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "profile", lambda instance: "a-name-of-16-ch.")
    with simulated.machine(DIVIDED):
        assert invoke("-i", "0").lines[17] == (
            "|   0   0  a-name-of-1...      7168MiB /  16384MiB      80%".ljust(90) + "|"
        )
    process_tree(tmp_path, monkeypatch, {17: ("/opt/" + "0123456789" * 6, 1), 18: ("game", 1)})
    row = screen(DISTINCT, 88, monkeypatch).splitlines()[-3]
    assert row.startswith("|   0        17 C ") and row.endswith("...%s |" % ("0123456789" * 6)[-51:])


@pytest.mark.parametrize("columns, blanks", [(91, 18), (80, 4)])
def test_what_is_colored(columns, blanks, monkeypatch):
    """The number of uncorrected errors, and not the blanks before it."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    text = screen(DISTINCT, columns, monkeypatch)
    assert text.count("\x1b") == 4
    for number in ("305", "713"):
        assert " " * blanks + "\x1b[31m%s\x1b[0m |" % number in text


def test_processes_of_a_card_that_does_not_tell_them(tmp_path, monkeypatch):
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "none"))
    assert "|   0  processes: Not Supported    |" in screen(DISTINCT, 36, monkeypatch)
    with simulated.machine(DISTINCT):
        assert "\n    Processes                                          : N/A\n" in invoke("-q").stdout


def test_a_compute_mode_is_cut_to_its_column(monkeypatch):
    answers(monkeypatch, "nvmlDeviceGetComputeMode", lambda device: pymtml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS)
    with simulated.machine(DISTINCT):
        assert invoke().lines[9].endswith("|     61%Exclusive_... |")


@pytest.mark.parametrize("code, version", [(4030, "4.3"), (5000, "5.0"), (12040, "12.4"), (12990, "12.99")])
def test_versions_as_nvml_encodes_them(code, version, monkeypatch):
    monkeypatch.setattr(pymtml, "nvmlSystemGetCudaDriverVersion", lambda: code)
    with simulated.machine(DISTINCT):
        assert invoke("--version").lines[-1] == "MUSA Version        : " + version


@pytest.mark.parametrize("name, shown", [("/opt/trainer", "trainer"), ("/opt/", "-"), ("x" * 20, "x" * 15)])
def test_a_program_without_its_folders(name, shown, tmp_path, monkeypatch):
    process_tree(tmp_path, monkeypatch, {17: (name, 1)})
    with simulated.machine(DISTINCT):
        assert invoke("pmon", "-c", "1").lines[2].split()[-1] == shown


def test_throughput_and_supported_clocks(monkeypatch):
    """MTML tells neither so far."""
    through = {pymtml.NVML_PCIE_UTIL_TX_BYTES: 4095, pymtml.NVML_PCIE_UTIL_RX_BYTES: 99328}
    answers(monkeypatch, "nvmlDeviceGetPcieThroughput", lambda device, counter: through[counter])
    monkeypatch.setattr(pymtml, "nvmlDeviceGetSupportedMemoryClocks", lambda device: [2100, 1000])
    monkeypatch.setattr(pymtml, "nvmlDeviceGetSupportedGraphicsClocks", lambda device, memory: [memory - 1, 50])
    with simulated.machine(DISTINCT):
        assert invoke("dmon", "-c", "1", "-s", "t").lines[2].split() == ["0", "97", "3"]
        clocks = invoke("--query-supported-clocks=mem,gr", "--format=csv,noheader,nounits", "-i", "0").rows()
        text = invoke("-q", "-i", "0").stdout
    assert clocks == [["2100", "2099"], ["2100", "50"], ["1000", "999"], ["1000", "50"]]
    for key, value in (("Tx", "4095"), ("Rx", "99328")):
        assert "        %s Throughput                                  : %s KB/s\n" % (key, value) in text


REASONS = {"gpu_idle": 1, "applications_clocks_setting": 2, "sw_power_cap": 4, "hw_slowdown": 8, "sync_boost": 16}
REASONS.update(sw_thermal_slowdown=32, hw_thermal_slowdown=64, hw_power_brake_slowdown=128)


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_reasons_for_slow_clocks(reason, monkeypatch):
    """MTML tells none so far. The bits are those of NVML."""
    answers(monkeypatch, "nvmlDeviceGetCurrentClocksEventReasons", lambda device: REASONS[reason])
    names = sorted(REASONS)
    with simulated.machine(DISTINCT):
        query = "--query-gpu=" + ",".join("clocks_event_reasons." + name for name in names)
        (row,) = invoke(query, "--format=csv,noheader", "-i", "0").rows()
    assert dict(zip(names, row)) == {name: "Active" if name == reason else "Not Active" for name in names}


WRITES_FILES = [[], ["-q"], ["-q", "-x"], ["--json"], ["--query-gpu=index,uuid"], ["--query-compute-apps=pid"]]
WRITES_FILES += [["dmon", "-c", "2"], ["pmon", "-c", "1"]]


@pytest.mark.parametrize("arguments", WRITES_FILES, ids=" ".join)
def test_a_file_has_what_stdout_would_have(arguments, tmp_path, monkeypatch):
    monkeypatch.setattr(samples.time, "sleep", lambda seconds: None)
    file = tmp_path / "file"
    with simulated.machine(DISTINCT):
        shown = invoke(*arguments).stdout
        result = invoke(*(arguments + ["-f", str(file)]))
    assert (result.status, result.stdout, result.stderr) == (0, "", "")
    assert file.read_text() == shown != ""


def test_a_file_is_written_sample_by_sample(tmp_path):
    """Whoever reads it while it grows sees whole samples; it is there from the first one on, and closed at the end."""
    file = tmp_path / "file"
    with samples.Output(str(file)) as output:
        assert not file.exists() and not output.is_terminal
        for number in range(1, 3):
            output.write("\udcff中\n")
            assert file.read_bytes() == "\\udcff中\n".encode() * number
    assert output._file.closed


def test_a_file_that_cannot_be_written(tmp_path):
    nowhere, nonsense = str(tmp_path / "none" / "file"), str(tmp_path / "a\0b")
    with pytest.raises(ValueError) as error:
        open(nonsense)
    with simulated.machine(DISTINCT):
        for name, why in ((nowhere, "No such file or directory"), (nonsense, str(error.value))):
            result = invoke("-f", name)
            said = "pymtml: cannot write %s: %s\n" % (name.replace("\0", "\\x00"), why)
            assert (result.status, result.stdout, result.stderr) == (255, "", said)


def test_parts_of_a_divided_card():
    with simulated.machine(DIVIDED):
        document = ElementTree.fromstring(invoke("-q", "-x", "-i", "0").stdout)
        (card,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"]
        log = invoke("-q", "-i", "0").stdout.split("    MPC Instance\n")[2]
    words = (
        "Index : 1 GPU Instance ID : 1 Profile : 2c+8gb UUID : bdbb08bd-228b-1bf3-4390-602119a4ed9c FB Memory Usage "
    )
    words += "Total : 8192 MiB Used : 2048 MiB Free : 6144 MiB Utilization GPU : 35 % Memory : "
    assert " ".join(log.split()).startswith(words)
    part = document.findall("gpu/mig_devices/mig_device")[1]
    expected = ["index 1", "gpu_instance_id 1", "compute_instance_id N/A", "multiprocessor_count 2"]
    expected += [name + "_count N/A" for name in ("copy_engine", "encoder", "decoder", "ofa", "jpg")]
    expected += ["sram_uncorrectable N/A", "total 8192 MiB", "reserved N/A", "used 2048 MiB", "free 6144 MiB"]
    expected += ["total N/A", "used N/A", "free N/A"]  # of BAR1
    assert ["%s %s" % (element.tag, element.text) for element in part.iter() if not len(element)] == expected
    assert card["mpc"]["enabled"] is True and len(card["mpc"]["instances"]) == 3
    instance = card["mpc"]["instances"][1]
    assert instance["profile"] == {"name": "2c+8gb", "cores": 2, "memory_bytes": 8589934592}
    assert (instance["index"], instance["uuid"]) == (1, "bdbb08bd-228b-1bf3-4390-602119a4ed9c")
    assert instance["memory"]["used_bytes"] == 2147483648 and instance["utilization"]["gpu_percent"] == 35
    assert instance["codec"]["max_encoder_sessions"] == 4 and instance["gpu_path"] == "/dev/mtgpu.3"


def test_all_sections_at_once():
    """Each line that one of them shows."""
    with simulated.machine(DISTINCT):
        texts = [invoke("-q", "-d", names).lines for names in (",".join(language.SECTIONS),) + language.SECTIONS]
    assert set(texts[0]) == {line for lines in texts[1:] for line in lines} and len(texts[0]) > 200


@pytest.mark.parametrize("machine", [DISTINCT, DIVIDED, HOST], ids=os.path.basename)
def test_the_two_names_differ_in_these_words_only(machine):
    """Of -q: Moore Threads' words and NVIDIA's."""
    with simulated.machine(machine):
        ours, theirs = invoke("-q").stdout, invoke("-q", name="nvidia-smi").stdout
    ours = re.sub("MTML Version .*\n", "", ours)
    ours = re.sub("(Driver Version +: [0-9.]+).*", r"\1", ours)
    for own, other in (("PYMTML LOG", "NVSMI LOG"), ("MUSA Version", "CUDA Version"), ("MPC Mode", "MIG Mode")):
        assert own in ours and own not in theirs
        ours = ours.replace(own, other)
    ours = ours.replace("MPC Instance", "MIG Device")
    assert ours == re.sub(": (MIG|GPU)-", ": ", theirs)


APART = ["0.board=1", "0.pcie_switch=1", "0.switch_group=1", "0.host_bridge=1"]
# By how many of these numbers differ: (what the matrix says, what sentences say, how many differ and what -n takes,
# what --json says)
LEVELS = [
    ("PIX", "an single on-board PCIe switch", 0, "internal"),
    ("PIX", "a single PCIe switch", 1, "single"),
    ("PXB", "multiple PCIe switches", 2, "multiple"),
    ("PHB", "a PCIe host bridge", 3, "hostbridge"),
    ("NODE", "an on-CPU interconnect link between PCIe host bridges", 4, "node"),
    ("SYS", "an SMP interconnect link between NUMA nodes", 5, "system"),
]


@pytest.mark.parametrize("cell, words, number, name", LEVELS)
def test_a_topology_level_in_all_its_words(cell, words, number, name):
    nodes = "1.numa_node=1;0.numa_node=%d" % (number < 5)
    with simulated.machine(DISTINCT, set=";".join(APART[:number] + [nodes])):
        rows = [line.split("\t") for line in invoke("topo", "-mp").lines[1:3]]
        path = invoke("topo", "-p", "-i", "0,1").stdout
        near = invoke("topo", "-n", str(number), "-i", "0").stdout
        nearer = invoke("topo", "-n", str(number - 1), "-i", "1").stdout
        (pair,) = json.loads(invoke("--json", "-i", "1").stdout)["devices"][0]["topology"]
    assert [row[:3] for row in rows] == [["GPU0", " X ", cell], ["GPU1", cell, " X "]]
    assert path == "Device 0 is connected to device 1 by way of %s.\n\n" % words
    assert near == "Device 0 is connected by way of %s to device(s): 1\n\n" % words
    if number:
        before = LEVELS[number - 1][1]
        assert nearer == "Device 1 is not connected to other devices by way of %s.\n\n" % before
    assert (pair["device"], pair["level"]) == (0, name)


@pytest.mark.parametrize(
    "status, word", [("OK", "OK"), ("CHIPSET_NOT_SUPPORTED", "CNS"), ("GPU_NOT_SUPPORTED", "GNS"), ("UNKNOWN", "U")]
)
def test_whether_cards_reach_each_other(status, word):
    other = "GNS" if status == "OK" else "OK"
    machine = "*.p2p_read=%s;*.p2p_write=%s" % (status, "GPU_NOT_SUPPORTED" if status == "OK" else "OK")
    with simulated.machine(DISTINCT, set=machine):
        lines = {letter: invoke("topo", "-p2p", letter).lines for letter in "rwnap"}
        (pair,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"][0]["topology"]
    cells = {letter: [line.split("\t") for line in lines[letter][:3]] for letter in lines}
    for letter, cell in (("r", word), ("w", other), ("n", "OK"), ("a", "NS"), ("p", "NS")):
        head = ["", "GPU0", "GPU1", ""]
        wanted = [head, ["GPU0", "X", cell, ""], ["GPU1", cell, "X", ""]]
        assert [[part.strip() for part in row] for row in cells[letter]] == wanted, letter
    assert (pair["read"], pair["write"]) == (word == "OK", other == "OK")


def test_a_brand_of_somebody_else_s():
    with simulated.machine(DISTINCT, set="1.brand=UNKNOWN"):
        cards = json.loads(invoke("--json").stdout)["devices"]
        assert [card["brand"] for card in cards] == ["MTT", "unknown"]
        assert "    Product Brand                                      : Unknown\n" in invoke("-q", "-i", "1").stdout


def test_json_of_processes_that_nothing_tells(tmp_path, monkeypatch):
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "none"))
    with simulated.machine(DISTINCT):
        (card,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"]
    reasons = {"list": "Not Supported", "unseen": "Not Supported"}
    assert card["processes"] == {"list": None, "unseen": None, "reasons": reasons}


@pytest.mark.parametrize("status, word", [(3, "TNS"), (4, "U"), (5, "NS"), (6, "U"), (77, "U")])
def test_what_mtml_does_not_say_of_paths(status, word, monkeypatch):
    """As NVML numbers it, and what nobody has numbered."""
    monkeypatch.setattr(pymtml, "nvmlDeviceGetP2PStatus", lambda device, other, index: status)
    with simulated.machine(DISTINCT):
        assert invoke("topo", "-p2p", "p").lines[1] == " GPU0\tX\t%s\t" % word


def test_displays_that_nothing_counts_are_not_known():
    with simulated.machine(DISTINCT, faults="mtmlDeviceCountDisplayInterface=NOT_SUPPORTED"):
        (card,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"]
    assert (card["displays"], card["reasons"]["displays"]) == (None, "Not supported")


def test_mpc_as_it_is_and_as_it_will_be(monkeypatch):
    """NVML tells both, in this order."""
    answers(monkeypatch, "nvmlDeviceGetMigMode", lambda device: [1, 0])
    with simulated.machine(DIVIDED):
        (card,) = json.loads(invoke("--json", "-i", "1").stdout)["devices"]
        assert card["mpc"] == {"enabled": True, "instances": []}
        assert invoke("-i", "1").lines[10].endswith("Enabled |")
        assert invoke("mig", "-lgi", "-i", "1").stderr == "pymtml: no GPU instances found: Not Found\n"


def test_kinds_of_memory_and_displays():
    machine = "0.memory_type=LPDDR4;0.displays=VGA 1x2@3, EDP 4x5@6, LVDS 7x8@9, HDMI 10x11@12, DP 13x14@15"
    with simulated.machine(DISTINCT, set=machine):
        (card,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"]
    assert card["memory"]["type"] == "LPDDR4"
    assert [tuple(display.values()) for display in card["displays"]] == [
        ("VGA", 1, 2, 3.0),
        ("eDP", 4, 5, 6.0),
        ("LVDS", 7, 8, 9.0),
        ("HDMI", 10, 11, 12.0),
        ("DP", 13, 14, 15.0),
    ]


@pytest.mark.parametrize(
    "mode, words, role",
    [(0, "None", "none"), (1, "Pass-Through", "passthrough"), (2, "VGPU", "guest"), (3, "Host VGPU", "host")]
    + [(4, "Host VSGA", "4"), (9, "9", "9")],
)
def test_roles_of_virtualization(mode, words, role, monkeypatch):
    """As NVML numbers them."""
    answers(monkeypatch, "nvmlDeviceGetVirtualizationMode", lambda device: mode)
    with simulated.machine(DISTINCT):
        assert "        Virtualization Mode                            : %s\n" % words in invoke("-q", "-i", "0").stdout
        assert json.loads(invoke("--json", "-i", "0").stdout)["devices"][0]["virtualization"] == role
