"""docs/coverage.md is current, and what it says of each function is what the function does."""

import contextlib
import functools
import inspect
import json
import os
import re
import sys

import every_function
import native_calls
import pytest
import simulated
import test_values
from mtml_simulator import driver_files

import pymtml as nvml

ROOT = simulated.ROOT
sys.path.insert(0, os.path.join(ROOT, "tools"))
import generate_coverage as coverage  # noqa: E402

with open(os.path.join(ROOT, "pymtml.py"), encoding="utf-8") as stream:
    SOURCE = stream.read()
with open(os.path.join(ROOT, "facts", "nvml_surface.json"), encoding="utf-8") as stream:
    SURFACE = json.load(stream)
FUNCTIONS = coverage.read_functions(SOURCE)
ANSWERING = sorted(name for name, function in FUNCTIONS.items() if coverage.answers(function))
NATIVE = sorted(name for name in vars(nvml) if name.startswith("mtml") and simulated.calls(name) >= 0)

# What any function may need on its way: handles, walks over all devices. It is not what an answer rests on.
PLUMBING = {
    "mtmlDeviceInitGpu",
    "mtmlDeviceInitMemory",
    "mtmlDeviceInitVpu",
    "mtmlLibraryInitSystem",
    "mtmlLibraryInitDeviceByIndex",
    "mtmlDeviceGetProperty",
    "mtmlDeviceGetMpcParentDevice",
}
# Getters that only work together, so that a docstring names one of them.
TOGETHER = re.compile(r"mtmlVpuGet(EncoderSession|DecoderSession|Codec)(States|Metrics|Capacity)")


def test_every_public_function_has_its_line():
    with open(os.path.join(ROOT, "docs", "coverage.md"), encoding="utf-8") as document:
        listed = set(re.findall(r"^\| `(\w+)", document.read(), re.M))
    public = {
        name for name, value in vars(nvml).items() if inspect.isfunction(value) and name.startswith(("mtml", "nvml"))
    }
    public.discard("mtmlStructToFriendlyObject")  # another name of a function that is listed
    assert sorted(public - listed) == []


def test_every_refusal_has_its_reason():
    rows = coverage.generate_refusals.rows()
    assert [name for name, row in rows.items() if not (row["what"] and row["reason"] and row["group"])] == []
    refused = {name for name in FUNCTIONS if name not in ANSWERING} - {"nvmlDeviceGetComputeInstanceId"}
    answered = sorted(set(rows) & set(FUNCTIONS) - refused)
    assert not answered, "facts/refusals.csv has rows of functions that return a value: %s" % ", ".join(answered)
    assert refused <= set(rows)


def test_what_is_said_to_answer_does_and_nothing_else():
    answering = {"nvmlInit", "nvmlInitWithFlags", "nvmlShutdown"} | every_function.PURE
    for profile in set(simulated.ALL_PROFILES) - {"no-driver"}:
        with simulated.nvml(profile):
            for position in range(nvml.mtmlLibraryCountDevice()):
                rest = set(every_function.FUNCTIONS) & set(FUNCTIONS) - answering
                answering.update(name for name in rest if not test_values.refuses(name, position))
    answering = {name for name in answering if name.startswith("nvml")}
    answering.add("nvmlDeviceGetHandleByUuid")  # another name, which nvidia-ml-py lacks
    answering.add("nvmlDeviceGetMemoryErrorCounter")  # of one location alone
    answering.discard("nvmlDeviceGetComputeInstanceId")  # refuses each instance, after checking that it is one
    # These need a table of the driver, which test_processes.py gives them.
    answering.update(["nvmlDeviceGetProcessUtilization", "nvmlDeviceGetProcessesUtilizationInfo"])
    answering.add("nvmlDeviceGetSupportedEventTypes")  # records of the driver, which test_events.py gives it
    answering.add("nvmlDeviceGetIrqNum")  # a tree of sysfs, which test_system_answers.py gives it
    answering.add("nvmlDeviceGetTotalEnergyConsumption")  # a variable, which test_energy.py sets
    assert answering == {name for name in ANSWERING if name.startswith("nvml")}


def watched(function, seen):
    """A function that adds to ``seen`` what it calls of MTML."""

    @functools.wraps(function)
    def call(*arguments):
        simulated.reset_calls()
        try:
            return function(*arguments)
        finally:
            seen.update(name for name in NATIVE if simulated.calls(name))

    return call


ARGUMENTS = {
    "nvmlDeviceGetVgpuUtilization": (0,),
    "nvmlDeviceGetPciInfoExt": (nvml.nvmlPciInfoExt_v1_t(version=nvml.nvmlPciInfoExt_v1),),
    "nvmlDeviceGetThermalSettings": (0,),
    "nvmlDeviceGetGpuInstanceById": (0,),
    "nvmlDeviceGetGpuInstanceProfileInfo": (0,),
    "nvmlDeviceGetGpuInstanceProfileInfoV": (0,),
    "nvmlDeviceGetGpuInstanceProfileInfoById": (0,),
    "nvmlDeviceGetGpuInstanceProfileInfoByIdV": (0,),
    "nvmlDeviceGetGpuInstances": (2, (nvml.c_nvmlGpuInstance_t * 4)(), nvml.c_uint()),
    "nvmlDeviceSetEccMode": (1,),
    "nvmlDeviceSetMigMode": (0,),
    "nvmlDeviceClearEccErrorCounts": (0,),
    "nvmlDeviceGetProcessUtilization": (0,),
    "nvmlDeviceGetProcessesUtilizationInfo": (0,),
    "nvmlDeviceGetFieldValues": ([nvml.NVML_FI_MAX],),
    "nvmlDeviceRegisterEvents": (nvml.nvmlEventTypeXidCriticalError, nvml.nvmlEventSetCreate),
}


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """A proc file system with a table for /dev/mtgpu.0; and the wish that energy be added up."""
    monkeypatch.setenv("PYMTML_ENERGY", "sample")
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    driver_files.write_table(str(tmp_path), 0, driver_files.process_row(7, 7, (1, 0, 0, 1, 1, 0), "x"))  # it draws, too
    driver_files.write_process(str(tmp_path), 7, ["x"], "/dev/mtgpu.0")


@pytest.mark.parametrize("function", [name for name in ANSWERING if name.startswith("nvmlDevice")])
def test_the_calls_that_are_named_are_those_that_are_made(function, proc, monkeypatch):
    """Both ways, over all rows of test_values. Functions that only count what others list need not be named."""
    named = {call.split()[0] for call in coverage.calls(FUNCTIONS[function], FUNCTIONS)}
    seen = set()
    monkeypatch.setattr(nvml, function, watched(getattr(nvml, function), seen))
    for changes, arguments, options in test_values.CASES.get(function, ()):
        with simulated.nvml(options.get("profile", "s80")):
            test_values.check(function, changes, arguments, options)
    if function not in test_values.CASES:
        profile = (
            "s3000-vgpu-host"
            if "Vgpu" in function
            else "s3000-mpc" if "Instance" in function else "s5000x8" if "Ecc" in function else "s80"
        )
        with simulated.nvml(profile), contextlib.suppress(nvml.NVMLError_NotSupported):
            arguments = [
                value() if value is nvml.nvmlEventSetCreate else value for value in ARGUMENTS.get(function, ())
            ]
            getattr(nvml, function)(nvml.nvmlDeviceGetHandleByIndex(0), *arguments)
    wanted = {TOGETHER.sub("codec sessions", name) for name in seen - PLUMBING if "Count" not in name}
    missing = wanted - {TOGETHER.sub("codec sessions", name) for name in named}
    assert not missing, "the docstring of %s, MTML: name %s" % (function, ", ".join(missing))
    assert not named - seen, "the docstring of %s, MTML: %s is not called" % (function, named - seen)


def test_what_is_optional_is_said_to_be():
    """In the lists of what an answer rests on, a function that the 2.2.0 header lacks is marked, and no other."""
    for function in ANSWERING:
        for call in coverage.calls(FUNCTIONS[function], FUNCTIONS):
            name, _, mark = call.partition(" ")
            wanted = "(optional)" if name in native_calls.BEYOND else ""
            assert mark == wanted, "the docstring of %s, MTML: write %s %s" % (function, name, wanted)


def test_refusals_of_the_page_for_newcomers():
    """docs/coming-from-pynvml.md gives the reasons of the table."""
    with open(os.path.join(ROOT, "docs", "coming-from-pynvml.md"), encoding="utf-8") as file:
        table = re.search(r"<!-- refusals -->\n\n\|.*\n\|-.*\n((?:\|.*\n)+)", file.read()).group(1)
    reasons = coverage.generate_refusals.rows()
    rows = [row.strip("|").split(" | ") for row in table.splitlines()]
    named = [(name, reason.strip()) for names, reason in rows for name in re.findall(r"`(\w+)`", names)]
    assert len(named) > 10
    wrong = [name for name, reason in named if name not in reasons or reasons[name]["reason"] != reason]
    assert not wrong, "docs/coming-from-pynvml.md: facts/refusals.csv has another reason, or none, for %s" % wrong
