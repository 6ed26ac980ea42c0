"""The XML document: the elements and the order of nvidia-smi's own, and what programs require that read it."""

import re
import signal
import subprocess
import sys
import time
from datetime import datetime
from xml.etree import ElementTree

import pytest
import simulated
from command import WORKING_PROFILES, capture_file, command_environment, invoke, process_tree
from mtml_simulator import driver_files

RECORDED = capture_file("xml_elements.json")
UNKNOWN = "N/A"


def pattern(model):
    """A content model of a document type definition as an expression over the names of children, each with a ;."""
    return re.compile(re.sub(r"\w+", r"(?:\g<0>;)", model).replace(",", ""))


PATTERNS = {name: pattern(model) for name, model in RECORDED["elements"].items()}


def faults(element, path=""):
    """What an element and those below it have that nvidia-smi's have not (list of str)."""
    path += "/" + element.tag
    children = "".join(child.tag + ";" for child in element)
    text = (element.text or "").strip() + "".join((child.tail or "").strip() for child in element)
    found = []
    if element.tag in PATTERNS:
        if not PATTERNS[element.tag].fullmatch(children):
            found.append("%s: %s" % (path, children))
        if text and (len(element) or element.tag not in RECORDED["mixed"]):
            found.append("%s: text %r" % (path, text))
        order = [tag for tag in RECORDED["order"].get(element.tag, ()) if tag + ";" in children]
        if order and "".join(tag + ";" for tag in order) != children:
            found.append("%s: the order of %s" % (path, children))
    elif len(element):
        found.append("%s: not known" % path)
    for child in element:
        found += faults(child, path)
    return found


def check_indentation(text):
    """Each line stands behind as many tabs as there are elements open."""
    level = 0
    for line in text.splitlines():
        if line and not line.startswith(("<?", "<!")):
            level -= line.strip().startswith("</")
            assert len(line) - len(line.lstrip("\t")) == level, line
            level += bool(re.fullmatch(r"<\w[^/]*>", line.strip()))
    assert level == 0


def document(result, status=0):
    """The root element of an answer, which is nothing but a well-formed document."""
    assert (result.status, result.stderr) == (status, "")
    check_indentation(result.stdout)
    return ElementTree.fromstring(result.stdout)


def test_the_check_finds_what_is_wrong():
    with simulated.machine("s3000x2"):
        good = invoke("-q", "-x").stdout
    for wrong in (
        good.replace("power_state", "power_status"),
        good.replace("<driver_version>", "<x>1</x><driver_version>"),
        re.sub("\t*<pending_retirement>.*\n", "", good),
        re.sub("(<gpu_util>.*)(\n.*)", r"\2\1", good, count=1),
        re.sub(r"(\s*<remapped_row_corr>.*)(\s*<remapped_row_corr_inactive>.*)", r"\2\1", good),
        good.replace("</mig_mode>", "text</mig_mode>"),
    ):
        assert wrong != good and faults(ElementTree.fromstring(wrong))


def test_elements_and_their_order():
    cases = [(profile, {}, name, 0) for profile in WORKING_PROFILES for name in ("pymtml", "nvidia-smi")]
    cases.append(("s3000x2", {"set": "0.lost=DRIVER_FAILURE"}, "pymtml", 15))
    cases.append(("s3000x2", {"faults": "mtmlGpuGetTemperature=4711"}, "pymtml", 0))
    wrong = []
    for profile, variables, name, status in cases:
        with simulated.machine(profile, **variables):
            result = invoke("-q", "-x", name=name)
        encoding = 'encoding="UTF-8" ' if name == "pymtml" else ""
        assert result.stdout.startswith(
            '<?xml version="1.0" %s?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">\n' % encoding
        )
        root = document(result, status)
        wrong += ["%s on %s: %s" % (name, profile, fault) for fault in faults(root)]
        checkmk(root)
    assert not wrong, "sections.txt and captures/xml_elements.json differ: " + wrong[0]


@pytest.mark.parametrize(
    "program, shown",
    [
        ("/opt/a<b>&\"'", "/opt/a<b>&\"'"),
        ("a\x01\x1b[31mb", "a\\x01\\x1b[31mb"),
        ("tab\tline\nend", "tab\\x09line\\x0aend"),
        ("\u202eabc\ufffe", "\\u202eabc\\ufffe"),
    ],
)
def test_processes_of_any_name(program, shown, tmp_path, monkeypatch):
    process_tree(tmp_path, monkeypatch, {17: (program, 12), 18: ("game", 1)})
    driver_files.write_table(str(tmp_path), 0, driver_files.process_row(18, 18, (5, 0, 0, 5, 0, 0), "game"))  # it draws
    with simulated.machine("s3000x2"):
        result = invoke("-q", "-x")
    root = document(result)
    assert [fault for element in root.iter("processes") for fault in faults(element)] == []
    processes = root.findall("gpu/processes/process_info")
    assert [process.findtext("pid") for process in processes] == ["17", "18"]
    assert processes[0].findtext("process_name") == shown
    assert [process.findtext("type") for process in processes] == ["C", "G"]
    assert [process.findtext("used_memory") for process in processes] == ["N/A", "N/A"]


def test_what_a_card_does_not_tell_is_left_out_or_empty():
    with simulated.machine(simulated.DISTINCT):
        told = document(invoke("-q", "-x"))
        (second,) = document(invoke("-q", "-x", "-i", "1")).iter("gpu")
    with simulated.machine(simulated.DISTINCT, faults="mtmlGpuGetVoltage=NOT_SUPPORTED"):
        untold = document(invoke("-q", "-x"))
    assert [gpu.findtext("voltage/graphics_volt") for gpu in told.iter("gpu")] == ["805.000 mV", "806.000 mV"]
    assert second.get("id") == "00000000:3C:00.0" and untold.find("gpu/voltage") is None
    for tag, text in (("accounted_processes", ""), ("mig_devices", "None")):
        assert [element.text.strip() for element in told.iter(tag)] == [text] * 2


def test_lists_and_what_surrounds_a_card():
    with simulated.machine(simulated.DISTINCT):
        result = invoke("-q", "-x", "-i", "0")
    root = document(result)
    assert root.findtext("attached_gpus") == "2" and "\t</gpu>\n\n</nvidia_smi_log>\n" in result.stdout
    addresses = {
        "multiple_single_bit": ["0x0000000000012000"],
        "double_bit": ["0x0000000000056000", "0x0000000000078000"],
    }
    for cause, expected in addresses.items():
        pages = root.find("gpu/retired_pages/%s_retirement/retired_pagelist" % cause)
        found = [page.text for page in pages.iter("retired_page_address")]
        assert found[: len(expected)] == expected
    assert root.findtext("gpu/retired_pages/pending_retirement") == "Yes"


# ---- readers ----


def netdata_sample(stream):
    """The next document of a process that writes one after the other, as netdata cuts it out."""
    lines, began = None, time.monotonic()
    while True:
        line = stream.readline().rstrip("\n")
        assert time.monotonic() - began < 60
        if line == "<nvidia_smi_log>":
            lines = []
        if lines is not None:
            lines.append(line)
        if line == "</nvidia_smi_log>":
            return "\n".join(lines)


def test_netdata_in_a_loop():
    """It holds a process with -l and takes a document from the line <nvidia_smi_log> to the line </nvidia_smi_log>."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pymtml", "-q", "-x", "-l", "1"],
        env=command_environment(name="s3000-mpc"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    samples = [netdata_sample(process.stdout) for _ in range(2)]
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == ""
    for sample in samples:
        root = ElementTree.fromstring(sample)
        uuids = [gpu.findtext("uuid") for gpu in root.findall("gpu")]
        assert len(set(uuids)) == 2 and not {"", UNKNOWN, "[N/A]"} & set(uuids)
        instances = [i.findtext("gpu_instance_id") for i in root.findall("gpu/mig_devices/mig_device")]
        assert len(set(instances)) == len(instances) == 3 and UNKNOWN not in instances


STATES = ["P%d" % number for number in range(16)] + ["Requested functionality has been deprecated"]
CHECKMK = {
    "W": ["gpu_power_readings/" + name for name in ("average_power_draw", "current_power_limit", "default_power_limit")]
    + ["gpu_power_readings/min_power_limit", "gpu_power_readings/max_power_limit"],
    "C": ["temperature/gpu_temp", "temperature/gpu_temp_max_threshold", "temperature/gpu_temp_slow_threshold"]
    + ["temperature/gpu_target_temperature", "temperature/memory_temp", "temperature/gpu_temp_max_mem_threshold"],
    "MiB": [
        "%s/%s" % pair for kind in ("fb", "bar1") for pair in ((kind + "_memory_usage", n) for n in ("total", "used"))
    ],
    "%": ["utilization/" + name for name in ("gpu_util", "encoder_util", "decoder_util")],
}


def checkmk(root):
    """Check what its plug-in requires, which loses all where one element is not as it wants it (list of dict)."""
    datetime.strptime(root.findtext("timestamp"), "%a %b %d %H:%M:%S %Y")
    assert int(root.findtext("attached_gpus")) >= len(root.findall("gpu"))
    found = []
    for gpu in root.findall("gpu"):
        assert gpu.get("id") and gpu.findtext("gpu_power_readings/power_state") in STATES
        values = {}
        for unit, paths in CHECKMK.items():
            for path in paths:
                text = gpu.findtext(path)
                assert text is not None, path
                if text.endswith(unit):
                    values[path] = float(text[: -len(unit)])
        found.append(values)
    assert len({gpu.get("id") for gpu in root.findall("gpu")}) == len(found)
    return found
