"""Programs that parse mthreads-gmi: their commands, pipes and regular expressions, over every shipped machine.

Each parser is written anew here in the way of one that is in use; two programs from the package index run as they are.
"""

import glob
import json
import os
import re
import subprocess
import sys

import packaged
import profiles
import pytest
from packaged import environment, run

pytestmark = packaged.needs_python_3_8
MIB = 1 << 20
PROFILES = ["s5000x8", "s80"]  # the widths of the table


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


@pytest.fixture(params=PROFILES)
def profile(request):
    return request.param


def on(profile, **variables):
    """The environment inside `exec`."""
    environ = environment(MTML_SIM_PROFILE=profile + "+frozen", MTML_SIMULATOR_PYTHON=sys.executable, **variables)
    environ["PATH"] = packaged.BIN + os.pathsep + environ["PATH"]
    return environ


def shell(script, profile, **variables):
    done = run(["bash", "-c", script], on(profile, **variables))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def cards(profile):
    """The keys of each card of a profile (list of dict)."""
    parser = profiles.read(profile)
    common = dict(parser["device"]) if parser.has_section("device") else {}
    count = sum(re.fullmatch(r"device\.\d+", section) is not None for section in parser.sections())
    return [dict(common, **parser["device.%d" % index]) for index in range(count)]


def driver(profile):
    return profiles.read(profile)["machine"]["driver_version"]


def used(card):
    return int(card["memory_used"]) // MIB


def total(card):
    return int(card["memory_total"]) // MIB


# ==== Pipes of scripts ====

# Whose way it is, and the script.
PIPES = {
    "least total": r"mthreads-gmi | grep -E '[0-9]+MiB\([0-9]+MiB\)' | awk -F'[()]' '{print $2}' | sort -n | head -1",
    "driver by awk": "mthreads-gmi | grep 'Driver Version' | awk -F 'Driver Version:' '{print $2}'",
    "driver by sed": r"mthreads-gmi -cf | sed -n 's/.*Driver Version: *\([^ ]*\).*/\1/p' | head -n 1",
    "driver of the query": "mthreads-gmi -q | grep 'Driver Version' | cut -d : -f 2-",
    "rows": "mthreads-gmi | awk '/^[0-9][[:space:]]+MTT S/' | wc -l",
    "processes": r"mthreads-gmi | grep -E '^[0-9]+\s+[0-9]+\s+' | awk '{print $2}' | sort -u",
    "monitor": "mthreads-gmi -pm | awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ { print $2 }' | sort -u",
    "model": "mthreads-gmi -q -i 0 | grep 'Product Name' | awk -F: '{print $2}' | tr -d '[:space:]'",
    "firmware": "mthreads-gmi -q | grep 'MTBios' | awk -F ': ' '{print $2}' | tr -d ' '",
    "power": r"mthreads-gmi -q -d=POWER | sed -n 's/.*Power Draw *: *\([0-9.]*\) *W.*/\1/p'",
    "device ids": "mthreads-gmi -q | grep 'Device ID' | grep -v Subsystem | sed 's/.*: *0x//'",
    "names": r"mthreads-gmi -L | sed -n 's/^GPU [0-9][0-9]* : *\(.*\) *(UUID.*/\1/p' | sort -u",
    "memory of each": """
        count=$(mthreads-gmi -L 2>/dev/null | grep -c "GPU ")
        for ((i = 0; i < count; i++)); do
            out=$(mthreads-gmi -q -d MEMORY -i $i 2>/dev/null)
            for key in Total Used Free; do
                echo "$out" | grep -A 3 "FB Memory Usage" | grep "$key" | grep -oP '\\d+' | head -1
            done
        done
        """,
}
PROCESSES = "0.processes=4242 2048 python worker.py,17 300 /opt/server --port 8000"


@pytest.mark.parametrize("way", sorted(PIPES))
def test_pipe(profile, way):
    keys = cards(profile)
    words = {
        "least total": ["%dMiB" % min(map(total, keys))],
        "rows": [str(len(keys))],
        "model": [keys[0]["name"].replace(" ", "")],
        "firmware": [card["mtbios_version"] for card in keys],
        "power": ["%.2f" % (int(card["power_usage"]) / 1000) for card in keys],
        "device ids": ["%04X" % (int(card["pci_device_id"], 0) >> 16) for card in keys],
        "names": keys[0]["name"].split(),
        "memory of each": [str(n) for card in keys for n in (total(card), used(card), total(card) - used(card))],
    }
    words.update(dict.fromkeys(("driver by awk", "driver by sed", "driver of the query"), [driver(profile)]))
    words.update(dict.fromkeys(("processes", "monitor"), ["17", "4242"]))
    assert shell(PIPES[way], profile, MTML_SIM_SET=PROCESSES).split() == words[way]


# ==== The table ====


def test_rows_of_the_table(profile):
    """A row starts with the number, cells end with a bar, the second row has the temperature."""
    lines = shell("mthreads-gmi", profile).splitlines()
    found = []
    for number, line in enumerate(lines):
        match = re.match(r"^(\d+)\s+(.+?)\s*\|([\da-f:.]+)\s*\|(\d+)%\s+(\d+)MiB\((\d+)MiB\)", line)
        if match:
            # Older releases have no column for the performance state.
            form = r"^\s+(\w[\w ]*?)(?:\s+(P\d+|N/A))?\s*\|(\d+)x\((\d+)x\)\s*\|(-?\d+)C\s+(YES|NO)"
            below = re.match(form, lines[number + 1])
            found.append(match.groups()[1:] + (below.group(5),))
    keys = ("name", "pci_sbdf", "gpu_utilization")
    assert found == [
        tuple(card[key] for key in keys) + (str(used(card)), str(total(card)), card["gpu_temperature"])
        for card in cards(profile)
    ]


def test_processes_in_the_table(profile):
    shown = shell("mthreads-gmi", profile, MTML_SIM_SET=PROCESSES)
    table = shown.partition("Processes:")[2]
    rows = re.findall(r"^(\d+)\s+(\d+)\s+(.+?)\s+(\d+)MiB\s*$", table, re.M)
    assert rows == [("0", "17", "/opt/server --port 8000", "300"), ("0", "4242", "python worker.py", "2048")]


# ==== The query ====


def test_temperature_and_utilization(profile):
    """LightLLM's way: keys and values split at the colon, section by section."""
    cards_found, section = [], None
    for line in shell("mthreads-gmi -q -d UTILIZATION,TEMPERATURE,MEMORY", profile).splitlines():
        if re.match(r"GPU\d+\s", line):
            cards_found.append({})
        elif cards_found and ":" not in line and line.strip():
            section = line.strip()
        elif cards_found and ":" in line:
            key, value = [part.strip() for part in line.split(":", 1)]
            cards_found[-1][section, key] = value
    for card, found in zip(cards(profile), cards_found):
        assert found["Utilization", "Gpu"] == card["gpu_utilization"] + "%"
        assert found["Temperature", "GPU Current Temp"] == card["gpu_temperature"] + "C"
        assert found["FB Memory Usage", "Used"] == "%dMiB" % used(card)
    assert len(cards_found) == len(cards(profile))


def test_block_of_one_card(profile):
    shown = shell("mthreads-gmi -q", profile)
    for index, card in enumerate(cards(profile)):
        block = re.search(r"^GPU%d\b(?P<body>.*?)(?=^GPU\d+\b|\Z)" % index, shown, re.M | re.S).group("body")
        assert re.search(r"GPU UUID\s*:\s*(\S+)", block).group(1) == card["uuid"]
        assert re.search(r"Product Name\s*:\s*(.+)", block).group(1).strip() == card["name"]


def test_idle_cards_of_a_ci(profile):
    report = json.loads(shell("mthreads-gmi -q --json", profile))
    assert int(report["Attached GPUs"]) == len(report["GPU"])
    idle = []
    for gpu in report["GPU"]:
        memory = re.fullmatch(r"(\d+)\s*MiB", gpu["FB Memory Usage"]["Used"])
        utilization = re.fullmatch(r"(\d+)\s*%", gpu["Utilization"]["Gpu"])
        if int(memory[1]) <= 1024 and int(utilization[1]) == 0:
            idle.append(int(gpu["Index"]))
    expected = [n for n, card in enumerate(cards(profile)) if used(card) <= 1024 and card["gpu_utilization"] == "0"]
    assert idle == expected


# ==== Other commands ====


def test_list(profile):
    shown = shell("mthreads-gmi -L", profile)
    assert re.sub(r"\s*\(UUID\s*:\s*.+?\)", "", shown) == "".join(
        "GPU %d : %s\n" % (index, card["name"]) for index, card in enumerate(cards(profile))
    )


def test_affinity_by_the_topology(profile):
    lines = shell("mthreads-gmi topo -m", profile).splitlines()
    head = lines[0]
    column = head.index("CPU Affinity")
    for card, line in zip(cards(profile), [line for line in lines if re.match(r"GPU\d", line)]):
        assert line[column:].split()[0] == card["cpu_affinity"]
        assert line[column:].split()[1] == card["memory_affinity"]


# ==== Programs from the package index ====

CACHE = os.environ.get("PYMTML_PROGRAMS_CACHE") or os.path.join(packaged.ROOT, "tests", "programs", "build")


def installed(package, pin):
    """Python of a virtual environment that has a program; made on first use."""
    if sys.version_info < (3, 10):
        pytest.skip("%s needs Python 3.10" % package)
    home = os.path.join(CACHE, package)
    python = os.path.join(home, "bin", "python")
    if not glob.glob(os.path.join(home, "lib", "python*", "site-packages", "%s-%s.dist-info" % (package, pin))):
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "%s==%s" % (package, pin)], check=True)
    return python


@pytest.mark.programs
def test_musatop(profile):
    """musatop --json: every value of every card, and the processes."""
    python = installed("musatop", "0.2.1")
    environ = on(profile, MTML_SIM_SET="0.processes=%d 2048 python worker.py" % os.getpid())
    done = run([os.path.join(os.path.dirname(python), "musatop"), "--json"], environ)
    snapshot = json.loads(done.stdout)
    assert (done.returncode, snapshot["errors"]) == (0, [])
    assert snapshot["driver_version"] == driver(profile)
    assert snapshot["gmi_version"].endswith("-simulated")
    keys = cards(profile)
    assert len(snapshot["devices"]) == len(keys)
    for device, card in zip(snapshot["devices"], keys):
        assert (device["name"], device["uuid"], device["bus_id"]) == (card["name"], card["uuid"], card["pci_sbdf"])
        assert device["gpu_utilization_percent"] == int(card["gpu_utilization"])
        assert device["memory_utilization_percent"] == int(card["memory_utilization"])
        assert device["memory_total_bytes"] == total(card) * MIB
        assert device["memory_used_bytes"] == used(card) * MIB
        assert device["temperature_c"] == int(card["gpu_temperature"])
        assert device["power_draw_w"] == round(int(card["power_usage"]) / 1000, 2)
        assert device["graphics_clock_mhz"] == int(card["gpu_clock"])
        assert device["memory_clock_mhz"] == int(card["memory_clock"])
        # The tools of older drivers do not show it.
        newer = tuple(map(int, re.findall(r"\d+", driver(profile))[:3])) >= (3, 3, 5)
        limit = int(card.get("enforced_power_limit", 0)) if newer else 0
        assert device["power_limit_w"] == (limit / 1000 if limit else None)
    (process,) = snapshot["processes"]
    assert (process["device_index"], process["pid"]) == (0, os.getpid())
    assert process["gpu_memory_bytes"] == 2048 * MIB
    text = run([os.path.join(os.path.dirname(python), "musatop"), "--once"], environ)
    assert text.returncode == 0 and keys[0]["name"] in text.stdout


SWANLAB = """
import json
from swanlab.sdk.internal.probe_python.hardware_vendor.accelerator.moorethreads import MooreThreadsGPU

found = MooreThreadsGPU.get()
monitor = MooreThreadsGPU.__new__(MooreThreadsGPU)
# swanlab compares these with the texts that JSON has: a list of numbers, as it makes itself, would find no card.
monitor._indices = [str(device.index) for device in found.devices]
print(json.dumps([found.version, [[d.index, d.name, d.memory] for d in found.devices], monitor.collect()]))
"""


@pytest.mark.programs
def test_swanlab(profile):
    """swanlab's collector: driver, names, memory; utilization, memory, temperature and power of each card."""
    python = installed("swanlab", "0.10.3")
    done = run([python, "-c", SWANLAB], on(profile))
    assert done.returncode == 0, done.stderr
    version, devices, collected = json.loads(done.stdout.splitlines()[-1])
    keys = cards(profile)
    assert version == driver(profile)
    assert devices == [[index, card["name"], total(card) // 1024] for index, card in enumerate(keys)]
    values = dict(map(tuple, collected))
    for index, card in enumerate(keys):
        assert values["gpu.%d.pct" % index] == int(card["gpu_utilization"])
        assert values["gpu.%d.mem.value" % index] == used(card)
        assert values["gpu.%d.temp" % index] == int(card["gpu_temperature"])
        assert values["gpu.%d.power" % index] == round(int(card["power_usage"]) / 1000, 2)
