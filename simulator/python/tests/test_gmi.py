"""The simulator's mthreads-gmi: the real tool's output byte for byte where it was recorded, and its options."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import packaged
import profiles
import pytest
from mtml_simulator import driver_files
from packaged import environment, run

pytestmark = packaged.needs_python_3_8
CAPTURES = os.path.join(packaged.HERE, "captures")
MIB = 1 << 20


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


def gmi(*arguments, profile="s5000x8+frozen", status=0, environ=None, **variables):
    """What mthreads-gmi prints on a machine; stderr stays empty, whatever happens."""
    environ = dict(environ or environment(), MTML_SIM_PROFILE=profile, **variables)
    environ["MTML_SIMULATOR_PYTHON"] = sys.executable
    done = run([os.path.join(packaged.BIN, "mthreads-gmi")] + list(arguments), environ)
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout


def capture(name):
    with open(os.path.join(CAPTURES, name)) as file:
        return file.read()


def machine(folder, driver, cards, generation="PINGHU", **common):
    """Write a profile; its path, frozen."""
    keys = dict(
        brand="MTT",
        generation=generation,
        pci_max_width=16,
        pci_cur_width=16,
        pci_max_gen=5,
        pci_cur_gen=5,
        mpc_capability="yes",
        **common,
    )
    lines = ["[machine]", "library_version = 2.2.0-simulator", "driver_version = " + driver, "[device]"]
    lines += ["%s = %s" % item for item in keys.items()]
    for number, card in enumerate(cards):
        lines += ["[device.%d]" % number, "uuid = %d" % number] + ["%s = %s" % item for item in card.items()]
    path = folder / "machine.ini"
    path.write_text("\n".join(lines) + "\n")
    return str(path) + "+frozen"


def as_captured(text):
    """Our output with what must differ from a capture taken away: the time, and that it says it is simulated."""
    first, _, rest = text.partition("\n")
    assert time.strptime(first, "%a %b %d %H:%M:%S %Y")
    pattern = r"mthreads-gmi:([\d.]+)-simulated *"
    return re.sub(pattern, lambda match: "mthreads-gmi:%-16s" % match.group(1), rest, count=1)


def test_power_limit_of_zero_is_one_that_is_not_told():
    shown = json.loads(gmi("-q", "--json", profile="zero-limits+frozen"))["GPU"]
    assert [card["Power Readings"]["Current Power Limit"] for card in shown] == ["N/A"] * len(shown)
    told = gmi("-q", "--json", profile="zero-limits+frozen", MTML_SIM_SET="0.enforced_power_limit=950000")
    assert json.loads(told)["GPU"][0]["Power Readings"]["Current Power Limit"] == "950.00W"


# ==== The table ====


def cards_at(buses, **keys):
    """Cards at these buses, each with its own of the values of a list (list of dict)."""
    return [
        dict({key: values[n] for key, values in keys.items()}, pci_sbdf="00000000:%s:00.0" % bus)
        for n, bus in enumerate(buses.split())
    ]


S5000 = dict(name="MTT S5000", memory_total=81920 * MIB, performance_state=0, pci_device_id="0x04001ed5")
S5000["ecc_mode"] = "ENABLE"
S80 = dict(name="MTT S80", memory_total=16384 * MIB, generation="CHUNXIAO")
PERF_AND_ECC = "mtmlDeviceGetPerformanceState, mtmlMemoryGetEccMode"
XORG = "1123 134 /usr/lib/xorg/Xorg, 1361 1 /usr/sbin/unity-greeter"
# Tool, driver, cards, and what these have in common.
TABLES = {
    "2.4.1": (
        "5.1.0-server",
        cards_at("18 3a 4b 5c 9a ba ca da", gpu_temperature=[48, 48, 49, 48, 48, 50, 48, 49]),
        S5000,
    ),
    "2.3.2": (
        "3.3.5-server",
        cards_at("2a 3a 4c", gpu_temperature=[52, 51, 52], memory_used=[66641 * MIB, 64889 * MIB, 10 * MIB]),
        S5000,
    ),
    "2.2.0": (
        "3.0.0",
        cards_at("08 09 0e"),
        dict(name="MTT S4000", memory_total=49152 * MIB, gpu_temperature=44, unsupported=PERF_AND_ECC),
    ),
    "2.0.0": (
        "3.0.0",
        cards_at("01", memory_used=[662 * MIB], processes=[XORG]),
        dict(S80, gpu_temperature=41),
    ),
    "1.14.0": (
        "2.7.0",
        cards_at("04", memory_used=[2 * MIB], pci_cur_width=[4]),
        dict(S80, gpu_temperature=49),
    ),
    "1.12.2": (
        "1.2.0",
        cards_at("08", memory_used=[44302 * MIB], gpu_utilization=[88]),
        dict(name="MTT S4000", memory_total=32768 * MIB, generation="QUYUAN", gpu_temperature=65),
    ),
}


@pytest.mark.parametrize("version", sorted(TABLES))
def test_table(tmp_path, version):
    driver, cards, common = TABLES[version]
    captured = capture("table-%s.txt" % version).partition("\n")[2]
    # Some were recorded without what stands below the cards.
    assert as_captured(gmi(profile=machine(tmp_path, driver, cards, **common))).startswith(captured)


def test_processes_of_narrow_tables():
    """As a document of 1.14.0 has them."""
    first = "120 2 /usr/share/third_party/bin/llama-box/llama-box"
    shown = gmi(profile="s80-narrow-slot+frozen", MTML_SIM_SET="0.processes=%s,2022 1333 x" % first)
    assert shown.splitlines()[-3:-1] == [
        "0    120       ...ird_party/bin/llama-box/llama-box       2MiB",
        "0    2022      x                                       1333MiB",
    ]


# Tool and driver as they were seen together: the version's line of each shipped profile.
TOGETHER = {
    "s80": ("2.0.0", 63),
    "s80-narrow-slot": ("1.14.0", 63),
    "s90": ("1.14.0", 63),
    "used-above-total": ("1.12.2", 63),
    "s2000": ("2.0.0", 63),
    "s3000-vgpu-host": ("2.3.4", 63),
    "s3000-vgpu-guest": ("2.3.4", 70),
    "s4000x8": ("2.2.0", 69),
    "s3000x2": ("2.3.2", 69),
    "busy-but-0-percent": ("2.3.2", 69),
    "x10000x8": ("2.3.3", 69),
    "s5000x8": ("2.4.1", 69),
    "empty": ("2.3.2", 69),
}


@pytest.mark.parametrize("profile", sorted(TOGETHER))
def test_layout_goes_with_the_driver(profile):
    version, width = TOGETHER[profile]
    lines = gmi(profile=profile + "+frozen").splitlines()
    assert lines[1] == "-" * width
    assert lines[2].startswith("    mthreads-gmi:%s-simulated " % version)
    assert ("Perf" in "".join(lines)) == (width == 69)


def test_memory_above_the_total_and_narrow_slot(tmp_path):
    """With the IOMMU off, more than all memory may be in use."""
    card = {"pci_sbdf": "00000000:08:00.0", "memory_used": 44302 * MIB, "gpu_utilization": 88}
    path = machine(tmp_path, "3.0.0", [card], name="MTT S4000", memory_total=32768 * MIB, gpu_temperature=65)
    assert "|00000000:08:00.0    |88%   44302MiB(32768MiB)\n" in gmi(profile=path)
    usage = json.loads(gmi("-q", "--json", profile=path))["GPU"][0]["FB Memory Usage"]
    assert usage == {"Total": "32768MiB", "Used": "44302MiB", "Free": "0MiB"}
    assert "|4x(16x)             |" in gmi(profile="s80+frozen", MTML_SIM_SET="0.pci_cur_width=4")


def test_guest_and_mpc():
    guest = gmi("-cf", profile="s3000-vgpu-guest+frozen").splitlines()
    assert guest[1] == "-" * 70
    assert re.match(r"0    MTT S3000 MtvGPU-\d{4} \|", guest[-3])
    assert guest[-2].startswith("     Virtual ") and guest[-2].endswith("|")
    kinds = re.findall(r"^     (\S.{13})(?=P\d|N/A)", gmi(profile="s3000-mpc+frozen"), re.M)
    assert [kind.strip() for kind in kinds] == ["MPC Parent"] + 3 * ["MPC Instance"] + ["Physical"]


def test_processes():
    first = "12345 111 /path/gpu_smoke"
    second = "120 1333 /usr/share/third_party/bin/llama-box/llama-box"
    shown = gmi(MTML_SIM_SET="0.processes=%s;3.processes=%s,130 - python worker.py" % (first, second))
    rows = shown.partition("Processes:\n")[2].splitlines()
    rule = "+-------------------------------------------------------------------+"
    assert rows == [
        "ID   PID           Process name                           GPU Memory",
        "                                                               Usage",
        rule,
        "0    12345         /path/gpu_smoke                        111MiB",
        "3    120           ...ird_party/bin/llama-box/llama-box   1333MiB",
        "3    130           python worker.py                       N/A",
        "-" * 69,
    ]


@pytest.mark.parametrize("device_line", [True, False])
def test_processes_of_a_proc_tree(tmp_path, device_line):
    """Process 18 has card 2 open, and of 44 the table alone knows."""
    root = str(tmp_path)
    native = driver_files.process_row(90017, 44, (35, 35, 0, 0, 0, 0), "a launcher")
    python = driver_files.process_row(18, 18, (7, 0, 0, 0, 7, 0), "python")
    # It can be looked into, and does not hold this card.
    stranger = driver_files.process_row(18, 18, (50, 0, 0, 0, 50, 0), "python")
    for number, rows in enumerate([(native, stranger), (), (python,)]):
        driver_files.write_table(root, number, *rows)
    driver_files.write_process(root, 18, ["python", "-m", "serve"], "/dev/mtgpu.2")
    for table in tmp_path.glob("driver/musa/*/proc_util") if not device_line else ():
        table.write_bytes(table.read_bytes().partition(b"\n")[2])
    shown = gmi(PYMTML_PROC_ROOT=root, MTML_SIM_SET="2.processes=18 9 other")
    assert "\n0    44            a launcher                             N/A\n" in shown
    assert "\n2    18            python -m serve                        9MiB\n" in shown
    rows = [line.split() for line in gmi("-pm", PYMTML_PROC_ROOT=root).splitlines()]
    assert rows == [
        ["ID", "PID", "%GPU", "GPU", "Memory", "Process", "name"],
        ["0", "44", "35%", "N/A", "a", "launcher"],
        ["2", "18", "7%", "N/A", "python", "-m", "serve"],
    ]


def test_processes_with_the_device_file_open(tmp_path):
    (tmp_path / "99" / "fd").mkdir(parents=True)
    (tmp_path / "99" / "comm").write_text("worker\n")
    (tmp_path / "99" / "fd" / "3").symlink_to("/dev/mtgpu.5")
    (tmp_path / "99" / "fd" / "4").symlink_to("/dev/null")
    assert "\n5    99            worker                                 N/A\n" in gmi(PYMTML_PROC_ROOT=str(tmp_path))
    assert "No running processes found" in gmi("-i", "4", PYMTML_PROC_ROOT=str(tmp_path))
    os.mkfifo(str(tmp_path / "99" / "cmdline"))  # nobody waits at it
    assert "\n5    99            worker " in gmi(PYMTML_PROC_ROOT=str(tmp_path))


# ==== Queries ====


def test_query_of_a_s90():
    """The profile was made from this recording."""
    assert gmi("-q", profile="s90+frozen") == capture("query-2.7.0.txt")


def lacking(lines, of):
    """Lines that are not among those, in that order and byte for byte; the comma depends on what follows (list)."""
    rest = iter([line.rstrip(",") for line in of])
    return [line for line in lines if line.rstrip(",") not in rest]


def test_json_of_a_s5000(tmp_path):
    card = dict(pci_sbdf="00000000:2a:00.0", pci_bus=0x2A, serial_number="MY10YL225BF06077", gpu_temperature=27)
    card.update(power_usage=96660, mtbios_version="4.3.41")
    path = machine(
        tmp_path,
        "3.3.5-server",
        [card] + 7 * [{}],
        name="MTT S5000",
        memory_total=81920 * MIB,
        pci_device_id="0x04001ed5",
        enforced_power_limit=950000,
    )
    text = (tmp_path / "machine.ini").read_text()
    (tmp_path / "machine.ini").write_text(text.replace("uuid = 0\n", "uuid = 399282a8-ba01-1475-893c-2eeca9e302f5\n"))
    mine = re.sub(r'("Timestamp": ").*"', r'\1Wed Jul 22 16:07:29 2026"', gmi("-q", "--json", profile=path))
    recorded = capture("query-3.3.5.json").splitlines()
    assert lacking(recorded, mine.splitlines()) == []
    first = json.loads(mine)["GPU"][0]
    assert list(first["Power Readings"]) == ["Power Draw ", "Current Power Limit"]


def test_json_of_newer_drivers(tmp_path):
    """The keys of an X10000 with driver 3.3.8-server."""
    card = dict(power_usage=367490, enforced_power_limit=950000)
    gpu = json.loads(gmi("-q", "-j", profile=machine(tmp_path, "3.3.8-server", [card], name="X10000")))["GPU"][0]
    power = [("Power Draw ", "367.49W"), ("Current Power Limit", "950.00W"), ("Requested Power Limit", "N/A")]
    assert list(gpu["Power Readings"].items()) == power


def test_json_of_eight_cards():
    parser = profiles.read("s5000x8")
    report = json.loads(gmi("-q", "--json"))
    assert report["Attached GPUs"] == "8" and report["Driver Version"] == parser["machine"]["driver_version"]
    for index, gpu in enumerate(report["GPU"]):
        keys = dict(parser["device"], **parser["device.%d" % index])
        assert (gpu["Index"], gpu["GPU UUID"]) == (str(index), keys["uuid"])
        assert gpu["PCI"]["Bus ID"] == keys["pci_sbdf"]
        assert gpu["FB Memory Usage"]["Used"] == "%dMiB" % (int(keys["memory_used"]) // MIB)
        assert gpu["Utilization"]["Gpu"] == keys["gpu_utilization"] + "%"
        assert gpu["Temperature"]["GPU Current Temp"] == keys["gpu_temperature"] + "C"
        assert gpu["Power Readings"]["Power Draw "] == "%.2fW" % (int(keys["power_usage"]) / 1000)


def test_json_of_a_card_without_two_numbers_alike():
    machine = os.path.join(packaged.ROOT, "tests", "distinct.ini+frozen")
    gpu = json.loads(gmi("-q", "--json", profile=machine, MTML_SIM_SET="0.memory_type=LPDDR4"))["GPU"][0]
    assert gpu["Utilization"] == {"Gpu": "61%", "Memory": "66%", "Encoder": "22%", "Decoder": "23%"}
    assert gpu["Clocks"] == {"Graphics": "1401MHz", "Memory": "2101MHz", "Video": "1101MHz"}
    assert gpu["Max Clocks"] == {"Graphics": "1751MHz", "Memory": "2501MHz", "Video": "1201MHz"}
    assert gpu["Encoder Stats"] == {"Active Sessions": "2", "Average FPS": "43"}
    assert gpu["Decoder Stats"] == {"Active Sessions": "1", "Average FPS": "25"}
    assert gpu["Ecc Mode"] == {"Current": "On-die, EDC", "Pending": "Disabled"}
    assert gpu["FB Memory Usage"] == {"Total": "16384MiB", "Used": "3072MiB", "Free": "13312MiB"}
    assert list(gpu["FB Memory Spec"].values()) == ["LPDDR4", "Micron", "20001Mbps", "768GBps", "512bits"]
    assert gpu["Fan"] == {"Channel": "3", "Speed": {"Fan0": "31%", "Fan1": "33%", "Fan2": "35%"}}
    assert list(gpu["Display Interface"].values()) == ["DP", "7680x4320@60.0Hz", "HDMI", "3840x2160@120.0Hz"]
    assert gpu["Retired Pages"] == {"Single Bit ECC": "2", "Double Bit ECC": "3", "Pending Page Blacklist": "Yes"}
    pci = gpu["PCI"]
    assert (pci["Subsystem Vendor ID"], pci["Subsystem Device ID"]) == ("0x1ED5", "0x0401")
    assert pci["GPU Link Info"] == {
        "PCIe Generation": {"Max": "5", "Current": "3"},
        "Link Width": {"Max": "16x", "Current": "4x"},
    }
    # What waits for a reboot, the other way around
    text = gmi("-q", profile="s5000x8+frozen", MTML_SIM_SET="*.ecc_mode=DISABLE")
    assert re.findall(r"(Current|Pending) +:  (Enabled|Disabled)", text)[:2] == [
        ("Current", "Disabled"),
        ("Pending", "Enabled"),
    ]


def test_display_in_the_order_asked_for():
    text = gmi("-q", "-d", "UTILIZATION,TEMPERATURE,MEMORY", "-i", "2")
    heads = [line.strip() for line in text.splitlines() if ":" not in line and line.startswith("    ")]
    assert heads == ["Utilization", "Temperature", "FB Memory Usage"]
    assert gmi("--query", "--display=utilization,temperature,memory", "--id=2") == text
    assert text.splitlines()[3] == "GPU2 " + profiles.read("s5000x8")["device.2"]["pci_sbdf"]
    report = json.loads(gmi("-q", "-d=CLOCK,ECC,FAN,POWER,PERFORMANCE,PCI", "--json"))
    sections = ["Index", "Clocks", "Max Clocks", "Ecc Mode", "Retired Pages", "Fan", "Power Readings"]
    assert [list(gpu) for gpu in report["GPU"]] == [sections + ["Performance State", "PCI"]] * 8


@pytest.mark.parametrize("key", ["number", "uuid", "pci_sbdf", "PCI_SBDF"])
def test_one_gpu(key):
    card = profiles.read("s5000x8")["device.5"]
    name = "5" if key == "number" else card["pci_sbdf"].upper() if key == "PCI_SBDF" else card[key]
    assert re.findall(r"^GPU(\d)", gmi("-q", "-i", name), re.M) == ["5"]
    assert re.findall(r"^(\d)    MTT", gmi("-i", name), re.M) == ["5"]


def test_one_gpu_in_any_case():
    assert re.findall(r"^(\d)    MTT", gmi("-i", "ab-5", MTML_SIM_SET="5.uuid=Ab-5"), re.M) == ["5"]


def test_list_and_version():
    lines = gmi("-L").splitlines()
    assert lines[0] == "GPU 0 : MTT S5000 (UUID : %s)" % profiles.read("s5000x8")["device.0"]["uuid"]
    assert len(lines) == 8
    assert gmi("-v") == gmi("--version") == "mthreads-gmi version : 2.4.1-simulated\n"
    assert gmi("-L", profile="empty") == ""


# ==== Topology and links ====


def test_matrix():
    lines = gmi("topo", "-m").splitlines()
    cards = "".join("GPU%-6d" % index for index in range(8))
    assert lines[0] == " " * 9 + cards + "CPU Affinity   NUMA Affinity  "
    assert lines[1].startswith("GPU0     X        MT2      MT2 ")
    assert lines[1].endswith("MT2      0-31,64-95     0              ")
    assert lines[8].endswith("X        32-63,96-127   1              ")
    assert gmi("topo", "--matrix").splitlines() == lines
    only = gmi("topo", "-mg").splitlines()
    assert [line.split() for line in only[:9]] == [line.split()[: 8 + bool(n)] for n, line in enumerate(lines[:9])]
    assert "  MTx  = A path bonded from x MTLinks" in only


def cells(text):
    return [line.split()[1:] for line in text.splitlines() if re.match(r"GPU\d", line)]


def test_matrix_without_some_links():
    down = ";".join("0.mtlink_state.%d=DOWN" % link for link in (0, 2, 3))
    rows = cells(gmi("topo", "-mg", MTML_SIM_SET=down + ";0.mtlink_state.1=DOWNGRADE"))
    assert (rows[0][1], rows[0][3]) == ("MT1", "MT2")
    assert rows[0][2] in ("SPB", "MPB", "PHB", "NODE")
    assert cells(gmi("topo", "-mg", "-i", "0,3")) == [["X", "MT2"], ["MT2", "X"]]


@pytest.mark.parametrize(
    "level, token",
    [("SINGLE", "SPB"), ("MULTIPLE", "MPB"), ("HOSTBRIDGE", "PHB"), ("NODE", "NODE"), ("SYSTEM", "SYS")],
)
def test_levels(level, token):
    rows = cells(gmi("topo", "-mg", profile="s3000x2", MTML_SIM_SET="0.topology=-, %s" % level))
    assert rows[0] == ["X", token]


def test_full_cells_run_into_each_other():
    """As the real tool's do, where the list of CPUs is long."""
    shown = gmi("topo", "-m", MTML_SIM_SET="0.cpu_affinity=64-127,192-238,240-255")
    assert shown.splitlines()[1].endswith("MT2      64-127,192-238,240-2550              ")


def test_p2p():
    changed = dict(MTML_SIM_SET="0.p2p_read=OK, OK, CHIPSET_NOT_SUPPORTED, GPU_NOT_SUPPORTED, UNKNOWN, OK")
    assert cells(gmi("topo", "-p2p", "r", **changed))[0] == ["X", "OK", "CNS", "GNS", "U", "OK", "OK", "OK"]
    assert cells(gmi("topo", "-p2p", "w", **changed)) == [["OK"] * n + ["X"] + ["OK"] * (7 - n) for n in range(8)]


def test_links():
    text = gmi("mtlink", "-s", MTML_SIM_SET="1.mtlink_state.13=DOWN;2.mtlink_state.0=DOWNGRADE")
    assert [text.count(":  %s\n" % state) for state in ("UP", "DOWN", "DOWNGRADE")] == [110, 1, 1]
    assert text.splitlines()[:2] == ["GPU0 00000000:2a:00.0", "    LINK0                                         :  UP"]
    assert gmi("mtlink", "-s", "-i", "1").splitlines()[0].startswith("GPU1 ")


def test_links_without_mtlink():
    unavailable = "Error: the requested operation is not available on target device\n"
    assert gmi("mtlink", "-s", profile="s80", status=1) == unavailable
    for arguments in (["vgpu", "-q"], ["-r"], ["-e", "1"], ["-mm"], ["event", "-h"]):
        assert gmi(*arguments, status=1) == unavailable


# ==== Errors ====


@pytest.mark.parametrize(
    "arguments, problem",
    [
        (
            ["--query-gpu=name", "--format=csv"],
            "Error: invalid argument --query-gpu, please run 'mthreads-gmi -h' for help",
        ),
        (["-i"], "Error: -i needs a value"),
        (["-i", "8"], "Error: there is no GPU 8"),
        (["-i", "0,1"], "Error: -i takes one GPU here"),
        (["-q", "-d", "MEMORIES"], "Error: unknown display MEMORIES, use some of PCI, MEMORY"),
        (["-d", "MEMORY"], "Error: -d goes with -q only"),
        (["-q", "-q"], "Error: -q is given twice"),
        (["-q=1"], "Error: -q takes no value"),
        (["-q", "-L"], "Error: more than one of"),
        (["-l", "0"], "Error: -l needs a number of seconds"),
        (["-l", "86401"], "Error: -l needs a number of seconds"),
        (["-l", "86400", "-i", "8"], "Error: there is no GPU 8"),
        (["topo"], "Error: topo needs -m, -mg or -p2p"),
        (["topo", "-p2p", "x"], "Error: -p2p needs r or w"),
        (["topo", "-m", "-i", "0", "1"], "Error: invalid argument 1"),
        (["mtlink", "-r"], "Error: invalid argument -r"),
        (["mtlink"], "Error: mtlink needs -s"),
    ],
)
def test_mistakes(arguments, problem):
    """On stdout, as the tool has it, with status 1."""
    assert gmi(*arguments, status=1).startswith(problem)


def test_no_driver():
    for arguments in ([], ["-q"], ["-L"], ["topo", "-m"]):
        said = gmi(*arguments, profile="no-driver", status=1)
        assert said == "Error: cannot initialize MTML: Driver not loaded\n"


def test_what_fails_is_not_known():
    faults = "mtmlGpuGetTemperature=TIMEOUT,mtmlDeviceGetName=UNKNOWN,mtmlMemoryGetUsed=DRIVER_FAILURE"
    shown = gmi("-i", "0", MTML_SIM_FAULTS=faults)
    assert "\n0    N/A                  |00000000:2a:00.0    |96%   N/A(81920MiB)\n" in shown
    assert "|16x(16x)            |N/A   YES\n" in shown
    gpu = json.loads(gmi("-q", "-j", "-i", "0", MTML_SIM_FAULTS="*=TIMEOUT@40"))["GPU"][0]
    assert gpu["Clocks"]["Video"] == "N/A"


def test_every_call_may_fail():
    """Wherever the machine breaks down, the tool says what it knows, or one line."""
    for after in range(1, 60, 7):
        environ = dict(environment(), MTML_SIM_PROFILE="s80+frozen", MTML_SIM_FAULTS="*=DRIVER_FAILURE@%d" % after)
        environ["MTML_SIMULATOR_PYTHON"] = sys.executable
        done = run([os.path.join(packaged.BIN, "mthreads-gmi"), "-q"], environ)
        assert done.stderr == ""
        assert done.stdout.startswith(("Driver Version", "Error: cannot initialize MTML"))


# ==== How it runs ====


def test_loop():
    environ = dict(environment(), MTML_SIM_PROFILE="s80", MTML_SIMULATOR_PYTHON=sys.executable)
    command = [os.path.join(packaged.BIN, "mthreads-gmi"), "-q", "-d", "TEMPERATURE", "-l", "0.05"]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seen = 0
    while seen < 3:
        seen += b"GPU Current Temp" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (-signal.SIGINT, b"")


def test_runs_from_anywhere(tmp_path):
    """Called by another name, in another folder, without the variables that point at the library."""
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "gmi").symlink_to(os.path.join(packaged.BIN, "mthreads-gmi"))
    environ = {"PATH": os.environ["PATH"], "MTML_SIM_PROFILE": "s80", "PYTHONPATH": str(tmp_path)}
    environ["MTML_SIMULATOR_PYTHON"] = sys.executable
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong module')")
    done = run([str(folder / "gmi"), "-q", "--json"], environ, cwd=str(tmp_path))
    assert json.loads(done.stdout)["GPU"][0]["Product Name"] == "MTT S80", done.stderr


def test_reader_that_goes_away():
    environ = dict(environment(PATH=packaged.BIN + os.pathsep + os.environ["PATH"]), MTML_SIM_PROFILE="s5000x8")
    environ["MTML_SIMULATOR_PYTHON"] = sys.executable
    done = run(["bash", "-c", "set -o pipefail; mthreads-gmi -q -l 0.01 | head -1"], environ)
    assert done.stdout.startswith("Driver Version")
    assert done.stderr == ""


def test_it_leaves_the_library_shut_down(tmp_path):
    trace = tmp_path / "trace"
    gmi(MTML_SIM_TRACE=str(trace))
    calls = trace.read_text().split()
    assert calls.count("mtmlLibraryInit") == calls.count("mtmlLibraryShutDown") == 1
