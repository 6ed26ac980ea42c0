"""docs/reference, as make reference writes it: complete, units and cards those of code, header and simulator."""

import csv
import ctypes
import inspect
import json
import os
import re
import sys

import card_support
import pytest
import simulated

import pymtml

sys.path.insert(0, os.path.join(simulated.ROOT, "tools"))
import generate_coverage as coverage  # noqa: E402
import generate_reference as reference  # noqa: E402
import record  # noqa: E402

pytestmark = pytest.mark.skipif(sys.version_info < (3, 8), reason="the generator needs the ends of what ast finds")
with open(os.path.join(simulated.ROOT, "pymtml.py"), encoding="utf-8") as _file:
    SOURCE = _file.read()
with open(os.path.join(simulated.ROOT, "facts", "mtml_api.json"), encoding="utf-8") as _file:
    API = json.load(_file)["functions"]
PAGES = reference.documents(SOURCE)
FUNCTIONS = coverage.read_functions(SOURCE, ("nvml", "mtml") + reference.HOOKS)


def headings(level="###"):
    """Headings of the pages (list)."""
    return [
        line[len(level) + 1 :] for text in PAGES.values() for line in text.splitlines() if line.startswith(level + " ")
    ]


def test_every_function_has_one_entry():
    answering = [name for name, function in FUNCTIONS.items() if coverage.answers(function)]
    found = [heading for heading in headings() if re.match(r"\w+$", heading)]
    assert sorted(found) == sorted(answering)
    assert len([name for name in found if name.startswith("mtml")]) >= len(API)
    assert set(API) <= set(found)
    assert set(reference.FIRST) <= set(found) and len(set(reference.FIRST)) == len(reference.FIRST)


def test_no_function_of_the_library_is_among_the_rest():
    """A new one belongs to a task: a line of NATIVE or PAGES in the generator says which."""
    rest = [name for name in re.findall(r"(?m)^### (\w+)", PAGES["other.md"]) if name in API]
    assert rest == []


def test_calls_are_those_of_the_module():
    """The parameters that the reference shows are those that Python sees."""
    calls = re.findall(r"(?m)^`(\w+)\((.*?)\)`(?: returns `.+`)?$", "\n".join(PAGES.values()))
    assert len(calls) > 250
    for name, shown in calls:
        names = [parameter.partition("=")[0] for parameter in shown.split(", ") if parameter]
        assert names == list(inspect.signature(getattr(pymtml, name)).parameters), name


# Units that NVIDIA documents for the functions that have one.
NVIDIA = {
    "bytes": "nvmlDeviceGetMemoryInfo nvmlVgpuInstanceGetFbUsage nvmlVgpuTypeGetFramebufferSize",
    "mW": "nvmlDeviceGetPowerUsage nvmlDeviceGetEnforcedPowerLimit nvmlDeviceGetPowerManagementLimit"
    " nvmlDeviceGetPowerManagementDefaultLimit",
    "mJ": "nvmlDeviceGetTotalEnergyConsumption",
    "MHz": "nvmlDeviceGetClockInfo nvmlDeviceGetMaxClockInfo nvmlDeviceGetClock",
    "percent": "nvmlDeviceGetUtilizationRates nvmlDeviceGetFanSpeed nvmlDeviceGetFanSpeed_v2"
    " nvmlDeviceGetTargetFanSpeed nvmlDeviceGetEncoderCapacity nvmlDeviceGetDynamicPstatesInfo",
    "percent \u00b5s": "nvmlDeviceGetEncoderUtilization nvmlDeviceGetDecoderUtilization"
    " nvmlDeviceGetProcessUtilization",
    "fps \u00b5s": "nvmlDeviceGetEncoderStats",
    "\u00b0C": "nvmlDeviceGetTemperature nvmlDeviceGetTemperatureV nvmlDeviceGetTemperatureThreshold"
    " nvmlDeviceGetMarginTemperature nvmlDeviceGetThermalSettings",
    "rpm": "nvmlDeviceGetFanSpeedRPM",
    "bits": "nvmlDeviceGetMemoryBusWidth",
    "Mbps": "nvmlDeviceGetPcieSpeed",
    "lanes": "nvmlDeviceGetCurrPcieLinkWidth nvmlDeviceGetMaxPcieLinkWidth",
    "pixels": "nvmlVgpuTypeGetResolution",
}


def test_units_are_those_of_nvidia():
    told = {name: units.split() for units, names in NVIDIA.items() for name in names.split()}
    assert {name: coverage.units(FUNCTIONS[name], FUNCTIONS) for name in told} == told


def test_structs_are_described_field_by_field():
    for name, rows in reference.read_fields().items():
        fields = [field[0] for field in getattr(pymtml, name)._fields_ if not field[0].startswith("rsvd")]
        assert [row["field"] for row in rows] == fields, name
        assert all(row["meaning"] for row in rows), name


def test_errors_are_all_there():
    rows = re.findall(r"(?m)^\| `((?:MTML|NVML)Error_\w+)` \| (\d+) \| `(\w+)` \|", PAGES["errors.md"])
    classes = {one for base in (pymtml.NVMLError, pymtml.MTMLError) for one in base._valClassMapping.values()}
    assert {name for name, _, _ in rows} == {one.__name__ for one in classes}
    for name, code, constant in rows:
        assert getattr(pymtml, name).value == int(code) == getattr(pymtml, constant), name


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="functions that bind a thread are called")
def test_cards_are_those_that_answer():
    with open(card_support.PATH, encoding="utf-8") as file:
        assert file.read() == card_support.recorded(), "make record"


def test_each_function_answers_on_a_card():
    """What answers on none was called in a wrong way."""
    silent = [
        name
        for name, row in reference.read_support().items()
        if {"yes", *card_support.ways()}.isdisjoint(word for cell in row.values() for word in cell.split("/"))
    ]
    assert silent == []


def test_what_the_entries_say_of_cards():
    assert "- Cards: all\n" in entry("nvmlDeviceGetMemoryInfo")
    assert "- Cards: S5000, X10000\n" in entry("nvmlDeviceGetEccMode")
    assert "- Cards: divided by MPC: S80, S3000, S4000, S5000, X10000\n" in entry("nvmlDeviceGetGpuInstanceId")
    assert "- Cards: as a host of virtual devices: S3000\n" in entry("nvmlVgpuTypeGetName")
    assert "- Cards: S80, S90\n" in entry("mtmlDeviceGetFanRpm")


def entry(name):
    """The text of a function's entry."""
    (text,) = [part for page in PAGES.values() for part in page.split("\n### ") if part.startswith(name + "\n")]
    return text.partition("\n## ")[0]


def test_units_of_fields():
    """By a word in the name of the field."""

    def rows(name):
        return csv.DictReader(reference.generated.read("facts/%s.csv" % name).splitlines())

    units = {"TEMP": "degrees Celsius", "ENERGY": "mJ", "POWER": "mW", "SPEED": "MB/s"}
    for row in rows("field_values"):
        of_its_words = [unit for word, unit in units.items() if word in row["field"].split("_")]
        assert [row["unit"]] == (of_its_words or [""]), row
    units = {"Util$|Threshold$|percentage": "percent", "time[sS]tamp$|Latency|Usec": "microseconds", "MB$": "MiB"}
    units.update({"Temp$": "degrees Celsius", "^(total|free|used|reserved)$": "bytes"})
    for row in rows("struct_fields"):
        for words, unit in units.items():
            assert row["unit"] == unit or not re.search(words, row["field"]), row


def test_entry_says_what_the_docstring_says():
    text = entry("nvmlDeviceGetEnforcedPowerLimit")
    assert "`nvmlDeviceGetEnforcedPowerLimit(handle)` returns `int`" in text
    assert "Power limit in force, in mW." in text and "- Unit: mW\n" in text
    assert "- From: [`mtmlGpuGetEnforcedPowerLimit`](#mtmlgpugetenforcedpowerlimit) (optional)\n" in text
    assert ctypes.sizeof(pymtml.c_nvmlMemory_t) == 24 and "| `free` | bytes |" in PAGES["structs.md"]


def test_what_is_stale_ends_the_check(monkeypatch):
    monkeypatch.setattr(record, "QUICK", (lambda: {"README.md": "what it should be"},))
    monkeypatch.setattr(sys, "argv", ["record.py", "--check", "--quick"])
    with pytest.raises(SystemExit, match="stale: README.md"):
        record.main()
