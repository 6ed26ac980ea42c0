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
PROFILES = ["s5000x8", "s4000x8", "s80", "s3000x2"]


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


# ==== The table ====


def test_inference_server_memory_capacity(profile):
    """sglang's way: awk over the table for the totals, the least of which counts."""
    totals = "mthreads-gmi | grep -E '[0-9]+MiB\\([0-9]+MiB\\)' | awk -F'[()]' '{print $2}' | sed 's/MiB//'"
    assert int(shell(totals + " | sort -n | head -1", profile)) == min(map(total, cards(profile)))


def test_memory_by_regular_expression(profile):
    shown = shell("mthreads-gmi", profile)
    found = [tuple(map(int, pair)) for pair in re.findall(r"(\d+)MiB\((\d+)MiB\)", shown)]
    assert found == [(used(card), total(card)) for card in cards(profile)]


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
            found.append((match.group(2), match.group(3), int(match.group(4)), int(below.group(5))))
    keys = ("name", "pci_sbdf", "gpu_utilization", "gpu_temperature")
    expected = [tuple(card[key] for key in keys) for card in cards(profile)]
    assert found == [(name, bus, int(use), int(heat)) for name, bus, use, heat in expected]


def test_driver_version(profile):
    script = "mthreads-gmi | grep 'Driver Version' | awk -F 'Driver Version:' '{print $2}'"
    assert shell(script, profile).strip() == driver(profile)
    script = "mthreads-gmi -cf | sed -n 's/.*Driver Version: *\\([^ ]*\\).*/\\1/p' | head -n 1"
    assert shell(script, profile).strip() == driver(profile)


def test_count_and_name(profile):
    shown = shell("mthreads-gmi", profile)
    names = [card["name"] for card in cards(profile)]
    assert re.findall(r"MTT\s+S\d+", shown, re.I) == names
    assert shell("mthreads-gmi | awk '/^[0-9][[:space:]]+MTT S/' | wc -l", profile).strip() == str(len(names))
    match = re.search(r"^\d+\s+(\S+\s+\S+)\s+\|", shown, re.M)
    assert match.group(1) == names[0]


def test_free_cards_of_a_job_script(profile):
    script = """
count=$(mthreads-gmi -L 2>/dev/null | grep -c "GPU ")
for ((i = 0; i < count; i++)); do
    out=$(mthreads-gmi -q -d MEMORY -i $i 2>/dev/null)
    for key in Total Used Free; do
        echo "$out" | grep -A 3 "FB Memory Usage" | grep "$key" | grep -oP '\\d+' | head -1
    done
done
"""
    expected = [number for card in cards(profile) for number in (total(card), used(card), total(card) - used(card))]
    assert list(map(int, shell(script, profile).split())) == expected


PROCESSES = "0.processes=4242 2048 python worker.py,17 300 /opt/server --port 8000"


def test_processes_in_the_table(profile):
    shown = shell("mthreads-gmi", profile, MTML_SIM_SET=PROCESSES)
    table = shown.partition("Processes:")[2]
    rows = re.findall(r"^(\d+)\s+(\d+)\s+(.+?)\s+(\d+)MiB\s*$", table, re.M)
    assert rows == [("0", "17", "/opt/server --port 8000", "300"), ("0", "4242", "python worker.py", "2048")]
    pids = "mthreads-gmi | grep -E '^[0-9]+\\s+[0-9]+\\s+' | awk '{print $2}' | sort -u"
    assert shell(pids, profile, MTML_SIM_SET=PROCESSES).split() == ["17", "4242"]
    assert shell(pids, profile).split() == []


def test_process_monitor(profile):
    script = "mthreads-gmi -pm 2>/dev/null | awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ { print $2 }' | sort -u"
    assert shell(script, profile, MTML_SIM_SET=PROCESSES).split() == ["17", "4242"]


# ==== The query ====


def test_model_of_an_install_script(profile):
    script = "mthreads-gmi -q -i 0 | grep \"Product Name\" | awk -F: '{print $2}' | tr -d '[:space:]'"
    assert shell(script, profile) == cards(profile)[0]["name"].replace(" ", "")


def test_bios_of_a_report(profile):
    script = "mthreads-gmi -q | grep \"MTBios\" | awk -F ': ' '{print $2}' | tr -d ' '"
    assert shell(script, profile).split() == [card["mtbios_version"] for card in cards(profile)]


def test_driver_of_an_environment_report(profile):
    """vllm-musa's way: the first line with the key, whatever is behind the first colon."""
    lines = shell("mthreads-gmi -q", profile).splitlines()
    assert [line.split(":", 1)[1].strip() for line in lines if "Driver Version" in line] == [driver(profile)]


def test_power(profile):
    shown = shell("mthreads-gmi -q -d=POWER", profile)
    found = re.findall(r"Power Draw\s*:\s*([\d.]+)\s*W", shown, re.I)
    assert found == ["%.2f" % (int(card["power_usage"]) / 1000) for card in cards(profile)]


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


def test_architecture(profile):
    """musa_deploy's way: the device id, without 0x."""
    lines = shell("mthreads-gmi -q", profile).splitlines()
    ids = [line.split(":")[-1].strip()[2:] for line in lines if "Device ID" in line and "Subsystem" not in line]
    assert ids == ["%04X" % (int(card["pci_device_id"], 0) >> 16) for card in cards(profile)]


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
    script = "mthreads-gmi -L | sed -n 's/^GPU [0-9][0-9]* : *\\(.*\\) *(UUID.*/\\1/p' | sort -u"
    assert shell(script, profile).strip() == cards(profile)[0]["name"]


def test_version(profile):
    version = shell("mthreads-gmi -v | awk -F: '{print $2}' | tr -d ' '", profile).strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+-simulated", version)
    assert re.search(r"mthreads-gmi:([\d.]+)", shell("mthreads-gmi", profile)).group(1) == version.partition("-")[0]


def test_links(profile):
    done = run(["mthreads-gmi", "mtlink", "-s"], on(profile))
    if cards(profile)[0].get("mtlink_capability") == "yes":
        links = sum(int(card["mtlink_count"]) for card in cards(profile))
        assert (done.returncode, len(re.findall(r"\bUP\b", done.stdout))) == (0, links)
    else:
        assert (done.returncode, done.stdout.strip()) == (
            1,
            "Error: the requested operation is not available on target device",
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
