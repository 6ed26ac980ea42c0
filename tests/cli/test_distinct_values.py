"""Every value of the command on a machine on which no two numbers are the same: none is taken for another.

The expected values are those of tests/distinct.ini, written here by hand: a change of the command is no reason to
change them. A line that is not here has to be added, with the value that the profile says.
"""

import configparser
import io
import json
import os
import re
import sys
import xml.etree.ElementTree

import pytest
import simulated
from command import invoke
from inside import FIELDS, language, main, samples

import pymtml

# Field: what it says of either card, without its unit
CELLS = {
    "driver_version": ("3.3.9-server", "3.3.9-server"),
    "count": ("2", "2"),
    "name": ("MTT S5000", "X10000"),
    "serial": ("MYAAAA0000000001", "MYBBBB0000000002"),
    "uuid": ("10000000-0000-0000-0000-00000000000a", "20000000-0000-0000-0000-00000000000b"),
    "pci.bus_id": ("00000000:2A:00.0", "00000000:3C:00.0"),
    "pci.domain": ("0x0000", "0x0000"),
    "pci.bus": ("0x2A", "0x3C"),
    "pci.device": ("0x00", "0x00"),
    "pci.device_id": ("0x04001ED5", "0x04001ED5"),
    "pci.sub_device_id": ("0x04011ED5", "0x04021ED5"),
    "pcie.link.gen.current": ("3", "2"),
    "pcie.link.gen.gpucurrent": ("3", "2"),
    "pcie.link.gen.max": ("5", "4"),
    "pcie.link.gen.gpumax": ("5", "4"),
    "pcie.link.width.current": ("4", "2"),
    "pcie.link.width.max": ("16", "8"),
    "index": ("0", "1"),
    "accounting.mode": ("Disabled", "Disabled"),
    "vbios_version": ("4.3.1", "4.3.2"),
    "fan.speed": ("31", "37"),
    "pstate": ("P2", "P6"),
    "memory.total": ("16384", "24576"),
    "memory.used": ("3072", "6144"),
    "memory.free": ("13312", "18432"),
    "compute_mode": ("Default", "Default"),
    "compute_cap": ("3.1", "3.1"),
    "utilization.gpu": ("61", "71"),
    "utilization.memory": ("66", "77"),
    "utilization.encoder": ("22", "82"),
    "utilization.decoder": ("23", "83"),
    "encoder.stats.sessionCount": ("2", "0"),
    "encoder.stats.averageFps": ("43", "0"),
    "encoder.stats.averageLatency": ("2000", "0"),
    "ecc.mode.current": ("Enabled", "Enabled"),
    "ecc.mode.pending": ("Disabled", "Disabled"),
    "retired_pages.single_bit_ecc.count": ("2", "1"),
    "retired_pages.double_bit.count": ("3", "2"),
    "retired_pages.pending": ("Yes", "Yes"),
    "temperature.gpu": ("51", "52"),
    "temperature.gpu.tlimit": ("37", "39"),
    "temperature.memory": ("72", "78"),
    "power.draw": ("123.00", "134.00"),
    "power.draw.instant": ("123.00", "134.00"),
    "power.limit": ("240.00", "270.00"),
    "enforced.power.limit": ("240.00", "270.00"),
    "power.default_limit": ("260.00", "290.00"),
    "clocks.current.graphics": ("1401", "1402"),
    "clocks.current.sm": ("1401", "1402"),
    "clocks.current.memory": ("2101", "2102"),
    "clocks.current.video": ("1101", "1102"),
    "clocks.max.graphics": ("1751", "1752"),
    "clocks.max.sm": ("1751", "1752"),
    "clocks.max.memory": ("2501", "2502"),
}
for _kind, _since, _values in (
    ("corrected", "volatile", ("101", "509")),
    ("corrected", "aggregate", ("203", "611")),
    ("uncorrected", "volatile", ("305", "713")),
    ("uncorrected", "aggregate", ("407", "815")),
):
    for _place in ("device_memory", "dram", "total"):
        CELLS["ecc.errors.%s.%s.%s" % (_kind, _since, _place)] = _values

# Line of -q, with the keys above it: what it says of the first card; and its XML tags
LINES = {
    "Product Name": ("MTT S5000", "product_name"),
    "Product Brand": ("MTT", "product_brand"),
    "Accounting Mode": ("Disabled", "accounting_mode"),
    "Minor Number": ("0", "minor_number"),
    "MultiGPU Board": ("Yes", "multigpu_board"),
    "Board ID": ("0x2a00", "board_id"),
    "GPU Virtualization Mode/Virtualization Mode": ("None", "gpu_virtualization_mode/virtualization_mode"),
    "PCI/Domain": ("0x0000", "pci/pci_domain"),
    "PCI/Device": ("0x00", "pci/pci_device"),
    "PCI/Bus Id": ("00000000:2A:00.0", "pci/pci_bus_id"),
    "Compute Mode": ("Default", "compute_mode"),
    "Retired Pages/Pending Page Blacklist": ("Yes", "retired_pages/pending_blacklist"),
    "Serial Number": ("MYAAAA0000000001", "serial"),
    "GPU UUID": ("10000000-0000-0000-0000-00000000000a", "uuid"),
    "VBIOS Version": ("4.3.1", "vbios_version"),
    "PCI/Bus": ("0x2A", "pci/pci_bus"),
    "PCI/Device Id": ("0x04001ED5", "pci/pci_device_id"),
    "PCI/Sub System Id": ("0x04011ED5", "pci/pci_sub_system_id"),
    "PCI/GPU Link Info/PCIe Generation/Max": ("5", "pci/pci_gpu_link_info/pcie_gen/max_link_gen"),
    "PCI/GPU Link Info/PCIe Generation/Current": ("3", "pci/pci_gpu_link_info/pcie_gen/current_link_gen"),
    "PCI/GPU Link Info/PCIe Generation/Device Current": ("3", None),
    "PCI/GPU Link Info/PCIe Generation/Device Max": ("5", None),
    "PCI/GPU Link Info/Link Width/Max": ("16x", "pci/pci_gpu_link_info/link_widths/max_link_width"),
    "PCI/GPU Link Info/Link Width/Current": ("4x", "pci/pci_gpu_link_info/link_widths/current_link_width"),
    "PCI/Replays Since Reset": ("17", "pci/replay_counter"),
    "Fan Speed": ("31 %", "fan_speed"),
    "Performance State": ("P2", "performance_state"),
    "FB Memory Usage/Total": ("16384 MiB", "fb_memory_usage/total"),
    "FB Memory Usage/Used": ("3072 MiB", "fb_memory_usage/used"),
    "FB Memory Usage/Free": ("13312 MiB", "fb_memory_usage/free"),
    "Utilization/GPU": ("61 %", "utilization/gpu_util"),
    "Utilization/Memory": ("66 %", "utilization/memory_util"),
    "Utilization/Encoder": ("22 %", "utilization/encoder_util"),
    "Utilization/Decoder": ("23 %", "utilization/decoder_util"),
    "Encoder Stats/Active Sessions": ("2", "encoder_stats/session_count"),
    "Encoder Stats/Average FPS": ("43", "encoder_stats/average_fps"),
    "Encoder Stats/Average Latency": ("2000", "encoder_stats/average_latency"),
    "ECC Mode/Current": ("Enabled", "ecc_mode/current_ecc"),
    "ECC Mode/Pending": ("Disabled", "ecc_mode/pending_ecc"),
    "ECC Errors/Volatile/DRAM Correctable": ("101", "ecc_errors/volatile/dram_correctable"),
    "ECC Errors/Volatile/DRAM Uncorrectable": ("305", "ecc_errors/volatile/dram_uncorrectable"),
    "ECC Errors/Aggregate/DRAM Correctable": ("203", "ecc_errors/aggregate/dram_correctable"),
    "ECC Errors/Aggregate/DRAM Uncorrectable": ("407", "ecc_errors/aggregate/dram_uncorrectable"),
    "Retired Pages/Single Bit ECC": ("2", "retired_pages/multiple_single_bit_retirement/retired_count"),
    "Retired Pages/Double Bit ECC": ("3", "retired_pages/double_bit_retirement/retired_count"),
    "Temperature/GPU Current Temp": ("51 C", "temperature/gpu_temp"),
    "Temperature/GPU T.Limit Temp": ("37 C", "temperature/gpu_temp_tlimit"),
    "Temperature/GPU Shutdown Temp": ("97 C", None),
    "Temperature/GPU Slowdown Temp": ("88 C", None),
    "Temperature/Memory Current Temp": ("72 C", "temperature/memory_temp"),
    "GPU Power Readings/Average Power Draw": ("123.00 W", None),
    "GPU Power Readings/Instantaneous Power Draw": ("123.00 W", None),
    "GPU Power Readings/Current Power Limit": ("240.00 W", None),
    "GPU Power Readings/Requested Power Limit": ("240.00 W", None),
    "GPU Power Readings/Default Power Limit": ("260.00 W", "gpu_power_readings/default_power_limit"),
    "Clocks/Graphics": ("1401 MHz", "clocks/graphics_clock"),
    "Clocks/SM": ("1401 MHz", "clocks/sm_clock"),
    "Clocks/Memory": ("2101 MHz", "clocks/mem_clock"),
    "Clocks/Video": ("1101 MHz", "clocks/video_clock"),
    "Max Clocks/Graphics": ("1751 MHz", "max_clocks/graphics_clock"),
    "Max Clocks/SM": ("1751 MHz", "max_clocks/sm_clock"),
    "Max Clocks/Memory": ("2501 MHz", "max_clocks/mem_clock"),
    "Max Clocks/Video": ("1201 MHz", "max_clocks/video_clock"),
}

# Key of --json below the card: value
JSON = {
    "name": "MTT S5000",
    "serial_number": "MYAAAA0000000001",
    "firmware_version": "4.3.1",
    "gpu_path": "/dev/mtgpu.0",
    "primary_path": "/dev/dri/card1",
    "render_path": "/dev/dri/renderD129",
    "slot_id": 7,
    "slot_name": "SLOT7",
    "cores": 11,
    "performance_state": 2,
    "pci/bus": 42,
    "pci/device_id": "0x04001ED5",
    "pci/subsystem_id": "0x04011ED5",
    "pci/generation": 3,
    "pci/max_generation": 5,
    "pci/width": 4,
    "pci/max_width": 16,
    "pci/replays": 17,
    "memory/total_bytes": 17179869184,
    "memory/used_bytes": 3221225472,
    "memory/free_bytes": 13958643712,
    "memory/system_used_bytes": 536870912,
    "memory/vendor": "Micron",
    "memory/bus_width_bits": 512,
    "memory/bandwidth_gigabytes_per_second": 768,
    "memory/speed_megabits_per_second": 20001,
    "utilization/gpu_percent": 61,
    "utilization/memory_percent": 66,
    "utilization/encoder_percent": 22,
    "utilization/decoder_percent": 23,
    "utilization/engines/geometry_percent": 62,
    "utilization/engines/2d_percent": 63,
    "utilization/engines/3d_percent": 64,
    "utilization/engines/compute_percent": 65,
    "temperature/gpu_celsius": 51,
    "temperature/memory_celsius": 72,
    "temperature/slowdown_celsius": 88,
    "temperature/shutdown_celsius": 97,
    "power/draw_milliwatts": 123000,
    "power/limit_milliwatts": 240000,
    "power/default_limit_milliwatts": 260000,
    "power/gpu_millivolts": 805,
    "clocks/graphics_megahertz": 1401,
    "clocks/max_graphics_megahertz": 1751,
    "clocks/memory_megahertz": 2101,
    "clocks/max_memory_megahertz": 2501,
    "clocks/video_megahertz": 1101,
    "clocks/max_video_megahertz": 1201,
    "codec/max_encoder_sessions": 14,
    "codec/max_decoder_sessions": 29,
    "codec/encoder_sessions": 2,
    "codec/encoder_frames_per_second": 43,
    "affinity/cpus": "0-9",
    "ecc/enabled": True,
    "ecc/pending": False,
    "ecc/corrected_volatile": 101,
    "ecc/corrected_aggregate": 203,
    "ecc/uncorrected_volatile": 305,
    "ecc/uncorrected_aggregate": 407,
    "retired_pages/single_bit/0": "0x0000000000012000",
    "retired_pages/double_bit/2": "0x000000000009a000",
    "fans/count": 3,
    "fans/speeds/0/target_percent": 31,
    "fans/speeds/0/rpm": 1310,
    "fans/speeds/2/target_percent": 35,
    "fans/speeds/2/rpm": 1350,
    "mtlink/bandwidth_gigabytes_per_second": 56,
    "mtlink/version": 20000,
    "mtlink/count": 3,
    "mtlink/links/0/state": "up",
    "mtlink/links/1/state": "downgrade",
    "mtlink/links/2/state": "down",
    "topology/0/mtlinks": 2,
    "topology/0/read": True,
    "topology/0/write": False,
    "displays/0/max_width": 7680,
    "displays/0/max_height": 4320,
    "displays/1/type": "HDMI",
    "displays/1/max_refresh_hertz": 120.0,
}

COLUMNS = {"pwr": "123", "gtemp": "51", "mtemp": "72", "sm": "61", "mem": "66", "enc": "22", "dec": "23"}
COLUMNS.update({"mclk": "2101", "pclk": "1401", "fb": "3072", "sbecc": "101", "dbecc": "305", "pci": "17"})


@pytest.fixture(autouse=True)
def distinct():
    with simulated.machine(simulated.DISTINCT):
        yield


def test_every_field():
    names = [names[0] for names, _, _, _ in FIELDS]
    rows = invoke("--query-gpu=" + ",".join(names), "--format=csv,noheader,nounits").rows()
    for card, row in enumerate(rows):
        found = {name: cell for name, cell in zip(names, row) if cell != "[N/A]" and name != "timestamp"}
        assert not set(found) - set(CELLS), "CELLS lacks %s" % sorted(set(found) - set(CELLS))
        assert found == {name: cells[card] for name, cells in CELLS.items()}
    assert len(rows) == 2


# Of the clock, of a card whose displays sysfs tells, of instances
NOT_OF_THIS_MACHINE = {"timestamp", "display_mode", "display_attached", "display_active"}
NOT_OF_THIS_MACHINE |= {"mig.mode.current", "mig.mode.pending"}


@pytest.mark.parametrize("profile", ["s80", "s5000x8", "s3000-mpc"])
def test_each_field_that_answers_elsewhere_answers_here(profile, monkeypatch, tmp_path):
    monkeypatch.setenv("PYMTML_SYS_ROOT", str(tmp_path))
    names = [names[0] for names, _, _, _ in FIELDS]
    with simulated.machine(profile):
        row = invoke("--query-gpu=" + ",".join(names), "--format=csv,noheader,nounits", "-i", "0").rows()[0]
    answered = {name for name, cell in zip(names, row) if cell != "[N/A]"}
    missing = sorted(answered - set(CELLS) - NOT_OF_THIS_MACHINE)
    assert not missing, "tests/distinct.ini lacks what these come from, or CELLS their values: %s" % missing


# What -q and --json do not show, or in other words: the head of both has the driver, -q has 4x, --json has numbers.
NOT_IN_SECTIONS = {"driver_version", "pcie.link.width.current", "pcie.link.width.max", "compute_cap"}
NOT_IN_JSON = {"driver_version", "pci.domain", "pci.bus", "pci.device", "accounting.mode", "pstate", "compute_mode"}
NOT_IN_JSON |= {"encoder.stats.averageLatency", "ecc.mode.current", "ecc.mode.pending", "retired_pages.pending"}
NOT_IN_JSON |= {"temperature.gpu.tlimit"}


def test_each_field_is_in_the_sections_and_in_json():
    """By its value: where a field is new, and -q or --json has it not, somebody decided so."""
    shown = {
        word for text in by_path(invoke("-q", "-i", "0").stdout).values() for word in (text or "").split() + [text]
    }
    missing = {name for name, (cell, _) in CELLS.items() if cell not in shown}
    form = "%s lacks these, or %s is wrong: %s"
    wrong = sorted(missing ^ NOT_IN_SECTIONS)
    assert not wrong, form % ("TREE of pymtml_cli/sections.py", "NOT_IN_SECTIONS", wrong)
    values = {value for _, value in below(json.loads(invoke("--json", "-i", "0").stdout)["devices"][0])}
    told = {str(value).lower() for value in values}
    told |= {str(value >> 20) for value in values if type(value) is int}  # MiB
    told |= {"%.2f" % (value / 1000) for value in values if type(value) is int}  # W
    wrong = sorted({name for name, (cell, _) in CELLS.items() if cell.lower() not in told} ^ NOT_IN_JSON)
    assert not wrong, form % ("pymtml_cli/json_document.py", "NOT_IN_JSON", wrong)


def by_path(text):
    """Lines of -q with a value: {keys of all levels: value}."""
    above, found = [], {}
    for line in text.splitlines():
        match = re.match(r"( *)(\S.*?)\s*(?:: (.*))?$", line)
        if match:
            above = above[: len(match.group(1)) // 4] + [match.group(2)]
            found["/".join(above[1:])] = match.group(3)
    return found


def test_sections():
    found = by_path(invoke("-q", "-i", "0").stdout)
    assert {path: found.get(path) for path in LINES} == {path: value for path, (value, _) in LINES.items()}


def test_every_value_of_the_sections_is_expected():
    found = by_path(invoke("-q", "-i", "0").stdout)
    values = {path for path, value in found.items() if path and value not in (None, "N/A")}
    unexpected = sorted(path for path in values - set(LINES) if not path.startswith("Processes"))
    assert not unexpected, "LINES lacks %s" % unexpected


def test_xml():
    card = xml.etree.ElementTree.fromstring(invoke("-q", "-x", "-i", "0").stdout).find("gpu")
    for path, (value, tags) in LINES.items():
        if tags is not None:
            shown = card.findtext(tags)
            assert (path, shown) == (path, value[2:] if tags.startswith("pci/pci_") and value[:2] == "0x" else value)


def below(value, path=""):
    """Leaves of an object: (keys of all levels, value)."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from below(item, "%s/%s" % (path, key) if path else str(key))
    if not items and not isinstance(value, (dict, list)):
        yield path, value


def test_json():
    found = dict(below(json.loads(invoke("--json", "-i", "0").stdout)["devices"][0]))
    assert {path: found.get(path) for path in JSON} == JSON
    named = {"index", "minor_number", "pci/domain", "pci/device", "processes/unseen"}
    numbers = {path for path, value in found.items() if type(value) in (int, float)} - named
    unexpected = sorted(path for path in numbers - set(JSON) if not re.search(r"/\d+(/|$)", path))
    assert not unexpected, "JSON lacks %s" % unexpected


def test_columns_of_dmon():
    head, _, first, second = invoke("dmon", "-c", "1", "-s", "pucmet").lines
    found = dict(zip(head.split()[2:], first.split()[1:]))
    assert {name: found[name] for name in COLUMNS} == COLUMNS
    assert dict(zip(head.split()[2:], second.split()[1:]))["pclk"] == "1402"


def test_capture():
    """What it writes down is the profile, key for key."""
    captured = configparser.RawConfigParser()
    captured.read_string(invoke("capture", "--unmasked").stdout)
    for card in (0, 1):
        expected = simulated.device_keys(simulated.DISTINCT, card)
        found = dict(captured["device"]) if captured.has_section("device") else {}
        found.update(captured["device.%d" % card])
        different = {key for key in expected if key in found and expected[key] != found[key]}
        # Written in another way, or not told by the library
        assert different <= {
            "topology",
            "displays",
            "encoder_sessions",
            "decoder_sessions",
            "p2p_read",
            "p2p_write",
        } | {
            "mtlink_p2p_access",
            "mtlink_p2p_atomics",
            "pci_max_speed",
            "pci_cur_speed",
            "retired_pages_sbe",
            "retired_pages_dbe",
        }, {
            key: (expected[key], found[key]) for key in different
        }
        assert len(set(expected) & set(found)) > 50


# ---- Loops ----


class Enough(Exception):
    """Ends a loop where the next sample would be waited for."""


def two_samples(monkeypatch, *arguments):
    """What the command prints in two samples, between which the GPU gets warmer; and the seconds between them."""
    waited = []

    def wait(due, _):
        waited.append(due - began)
        if len(waited) > 1:
            raise Enough
        simulated.set_value(0, "gpu_temperature", 77)

    monkeypatch.setattr(samples, "_wait", wait)
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    monkeypatch.setattr(sys, "stdout", out)
    began = samples.time.monotonic()
    with pytest.raises(Enough):
        main(list(arguments))
    out.flush()
    while pymtml._nvmlLib_refcount:
        pymtml.nvmlShutdown()
    return out.buffer.getvalue().decode("utf-8"), waited[0]


LOOPS = [
    (("--query-gpu=temperature.gpu", "--format=csv,noheader", "-l", "3", "-i", "0"), r"51\n", r"77\n", 3),
    (("--query-gpu=temperature.gpu", "--format=csv,noheader", "-lms", "500", "-i", "0"), r"51\n", r"77\n", 0.5),
    (("-q", "-d", "TEMPERATURE", "-i", "0", "-l"), "Current Temp +: 51 C", "Current Temp +: 77 C", 5),
    (("-q", "-x", "-i", "0", "-lms"), "<gpu_temp>51 C", "<gpu_temp>77 C", 5),
    (("--json", "-i", "0", "-l", "2"), '"gpu_celsius": 51', '"gpu_celsius": 77', 2),
    (("-i", "0", "-l", "4"), " 51C ", " 77C ", 4),
    (("-i", "0", "--watch=6"), " 51C ", " 77C ", 6),
    (("dmon", "-s", "p", "-i", "0"), "123 +51 ", "123 +77 ", 1),
    (("dmon", "-s", "p", "-d", "7", "-i", "0"), "123 +51 ", "123 +77 ", 7),
]


@pytest.mark.parametrize("arguments, first, second, seconds", LOOPS, ids=[" ".join(row[0]) for row in LOOPS])
def test_second_sample_is_a_new_one(arguments, first, second, seconds, monkeypatch):
    text, waited = two_samples(monkeypatch, *arguments)
    assert len(re.findall(first, text)) == 1 and len(re.findall(second, text)) == 1, text
    assert re.search(first, text).start() < re.search(second, text).start()
    assert abs(waited - seconds) < 0.4


@pytest.mark.parametrize("option", ["-l", "-lms", "--loop", "--loop-ms"])
def test_a_loop_without_a_number_waits_five_seconds(option):
    assert language.parse([option]).seconds == language.LOOP_SECONDS == 5


def test_a_loop_lets_go_of_the_library_at_its_end(monkeypatch):
    """Cards may come and go then."""
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", "")  # so that it is put back
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
    two_samples(monkeypatch, "pmon", "-i", "0")
    assert os.environ["PYMTML_KEEP_LIBRARY"] == "0"


def test_pmon_goes_on(monkeypatch):
    text, waited = two_samples(monkeypatch, "pmon", "-i", "0")
    assert len([line for line in text.splitlines() if line.split()[:1] == ["0"]]) == 2 and waited < 1.4


@pytest.mark.parametrize(
    "arguments, head",
    [
        (("--query-gpu=temperature.gpu", "--format=csv", "-l", "3"), "temperature.gpu\n"),
        (("dmon", "-s", "p"), "# gpu "),
        (("pmon",), "# gpu "),
    ],
    ids=["query", "dmon", "pmon"],
)
def test_the_head_comes_once(arguments, head, monkeypatch):
    text, _ = two_samples(monkeypatch, *arguments)
    assert text.count(head) == 1 and text.startswith(head)


def test_the_wait_for_a_sample(monkeypatch):
    """It sleeps until the sample is due; what calls for one at once is read, so that it does so once."""
    slept = []
    monkeypatch.setattr(samples.time, "sleep", slept.append)
    samples._wait(samples.time.monotonic() + 3, None)
    samples._wait(samples.time.monotonic() - 3, None)
    assert 2.9 < slept[0] <= 3 and slept[1:] == [0]
    reading, writing = os.pipe()
    os.write(writing, b"xx")
    began = samples.time.monotonic()
    samples._wait(began + 30, reading)
    assert samples.time.monotonic() - began < 20
    samples._wait(samples.time.monotonic() + 0.2, reading)
    assert samples.time.monotonic() - began >= 0.2
    os.close(reading)
    os.close(writing)
