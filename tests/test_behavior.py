"""What nvidia-ml-py did on real GPUs (facts/nvml_behavior.json), replayed against pymtml on eight simulated MTT S5000.

Values are the machine's own; classes, codes, texts and shapes are compared. Where pymtml differs on purpose, the tables
below say why.
"""

import ast
import json
import os
import re

import pytest
import simulated
from offenders import each

import pymtml as nvml

with open(os.path.join(os.path.dirname(__file__), "facts", "nvml_behavior.json")) as file:
    FACTS = json.load(file)
with open(os.path.join(simulated.ROOT, "facts", "nvml_surface.json"), encoding="utf-8") as file:
    NAMES = json.load(file)["functions"]
# Another nvidia-ml-py than the one that was recorded may lack some.
QUERIES = {name: entry for name, entry in FACTS["queries"].items() if name in NAMES}

INVALID = "NVMLError_InvalidArgument"
UNSUPPORTED = "NVMLError_NotSupported"
LINKS = 14  # of an MTT S5000; the recorded GPU has 18

# Calls that end otherwise than recorded: (what they end in here, why).
ARGUMENT_DEVIATIONS = {
    "hash(handle)": ("int", "handles are hashable"),
    "P2PStatus(6)": (INVALID, "no such capability index"),
    "P2PStatusSelf(6)": (INVALID, "no such capability index"),
    "P2PStatusSelf(7)": (INVALID, "no such capability index"),
    "TopologyNearestGpus(0)": ("list", "an empty list where no GPU is that near"),
    "TopologyNearestGpus(10)": ("list", "an empty list where no GPU is that near"),
    "TopologyNearestGpus(20)": ("list", "an empty list where no GPU is that near"),
    "NvLinkState(18)": (UNSUPPORTED, "a link that the device lacks, below NVML_NVLINK_MAX_LINKS"),
    "NvLinkRemoteDeviceType(18)": (UNSUPPORTED, "a link that the device lacks"),
    "RetiredPages(0)": ("list", "the recorded GPU remaps rows instead"),
    "RetiredPages_v2(1)": ("list", "the recorded GPU remaps rows instead"),
}
ARGUMENT_DEVIATIONS.update(
    ("NvLinkCapability(18,%d)" % capability, (UNSUPPORTED, "a link that the device lacks"))
    for capability in (0, 1, 2, 5)
)
ARGUMENT_DEVIATIONS.update(
    ("NvLinkCapability(%d,%d)" % (link, capability), (UNSUPPORTED, "MtLink does not tell this capability"))
    for link, capability in ((0, 3), (0, 4), (1, 1), (1, 3), (1, 4), (17, 1), (17, 3), (17, 4))
)
ARGUMENT_DEVIATIONS.update(
    (case, (UNSUPPORTED, "MTML has no such clock, threshold, traffic counter or sample"))
    for case in """Clock(0,1) Clock(0,2) Clock(1,1) Clock(1,2) TemperatureThreshold(2) TemperatureThreshold(3)
    PcieThroughput(0) Samples(1) Samples(2) Samples(4) Samples(6) MemoryErrorCounter(0,0,7) MemoryErrorCounter(0,1,7)
    MemoryErrorCounter(1,0,7) MemoryErrorCounter(1,1,7)""".split()
)

# Queries that MTML answers otherwise than the recorded GPU.
QUERY_DEVIATIONS = {
    "nvmlDeviceGetIrqNum": (UNSUPPORTED, "the kernel that runs the test has no such card"),
    "nvmlDeviceGetSupportedEventTypes": (UNSUPPORTED, "nor has it a driver that records XIDs"),
    "nvmlDeviceGetMinMaxFanSpeed": (UNSUPPORTED, "an MTT S5000 has no fans at all"),
    "nvmlDeviceGetNumaNodeId": ("int", "the recorded driver does not tell it"),
    "nvmlDeviceGetRetiredPagesPendingStatus": ("int", "the recorded GPU remaps rows instead"),
    "nvmlDeviceGetBBXTimeData_v1": (UNSUPPORTED, "programs catch NotSupported, not FunctionNotFound"),
    "nvmlDeviceVgpuForceGspUnload": (UNSUPPORTED, "programs catch NotSupported, not FunctionNotFound"),
    "nvmlDeviceGetConfComputeGpuCertificate": (UNSUPPORTED, "the recorded driver fails in an unnamed way"),
}


@pytest.fixture
def pair():
    """Two handles of an initialized machine."""
    with simulated.nvml("s5000x8"):
        yield nvml.nvmlDeviceGetHandleByIndex(0), nvml.nvmlDeviceGetHandleByIndex(1)


def outcome(call):
    """(name of what a call ended in, the result or error itself)."""
    try:
        result = call()
    except Exception as error:
        return type(error).__name__, error
    return type(result).__name__, result


def names(value):
    """Names of a value's class and its bases: a handle answers to the name that nvidia-ml-py's class has."""
    return [cls.__name__ for cls in type(value).__mro__]


def assert_shape(value, recorded, where):
    """The value has the recorded class, and so have its items and fields."""
    assert recorded["type"] in names(value) or re.sub(r"\d+$", "", recorded["type"]) == re.sub(
        r"\d+$", "", type(value).__name__
    ), "%s: %s instead of %s" % (where, type(value).__name__, recorded["type"])
    if recorded["type"] == "tuple":
        assert len(value) == recorded["len"], where
        for item, expected in zip(value, recorded["items"]):
            assert_shape(item, expected, where)
    elif recorded.get("items"):
        for item in value:
            assert_shape(item, recorded["items"][0], where)
    if "fields" in recorded:
        assert [field[0] for field in value._fields_] == list(recorded["fields"]), where
        for name, expected in recorded["fields"].items():
            assert_shape(getattr(value, name), expected, "%s.%s" % (where, name))
    if (recorded.get("str") or "").startswith(recorded["type"] + "("):
        labels = re.findall(r"[(, ](\w+): ", recorded["str"])
        assert re.findall(r"[(, ](\w+): ", str(value)) == labels, where


def assert_outcome(call, recorded, where, deviations):
    """A call ends as recorded, or as the table of deviations says."""
    got, value = outcome(call)
    shown = "%s: %s %s" % (where, got, value)
    if where in deviations:
        assert got == deviations[where][0], shown
    elif "error" in recorded:
        assert got == recorded["error"], shown
        if isinstance(value, nvml.NVMLError):
            assert (value.value, str(value)) == (recorded["value"], recorded["str"]), shown
    else:
        assert not isinstance(value, Exception), shown
        assert_shape(value, recorded["ok"], where)


# ---- Errors ----


@each(sorted(FACTS["errors"], key=int))
def test_error(code):
    """Its class, its texts before and after an init, and what names and describes it."""
    recorded = FACTS["errors"][code]
    assert nvml.nvmlErrorString(int(code)) == recorded["nvmlErrorString"]
    if "class" in recorded:
        error, name = nvml.NVMLError(int(code)), recorded["class"]
        assert (type(error).__name__, error.value) == (name, int(code)) and str(error) in recorded["str"]
        assert (repr(error), repr(error.args)) == ("%s(%s)" % (name, code), "(%s,)" % code)
    got, value = outcome(lambda: nvml.nvmlExceptionClass(int(code)))
    if "nvmlExceptionClass" in recorded:
        assert (got, str(value)) == ("ValueError", recorded["nvmlExceptionClass"])
    else:
        assert value is getattr(nvml, recorded["class"])


# ---- Lifecycle ----


def test_lifecycle():
    stale = []

    def take_handle():
        stale.append(nvml.nvmlDeviceGetHandleByIndex(0))

    def name_of_stale():
        return nvml.nvmlDeviceGetName(stale[0])

    steps = {
        "count_before_init": nvml.nvmlDeviceGetCount,
        "handle_before_init": lambda: nvml.nvmlDeviceGetHandleByIndex(0),
        "version_before_init": nvml.nvmlSystemGetDriverVersion,
        "shutdown_before_init": nvml.nvmlShutdown,
        "init": nvml.nvmlInit,
        "count_after_init": nvml.nvmlDeviceGetCount,
        "init_again": nvml.nvmlInit,
        "shutdown_1of2": nvml.nvmlShutdown,
        "count_after_1of2": nvml.nvmlDeviceGetCount,
        "shutdown_2of2": nvml.nvmlShutdown,
        "count_after_shutdown": nvml.nvmlDeviceGetCount,
        "name_of_stale_handle_after_shutdown": name_of_stale,
        "third_shutdown": nvml.nvmlShutdown,
        "reinit": nvml.nvmlInit,
        "stale_handle_after_reinit": name_of_stale,
        "init_with_flags_0": lambda: nvml.nvmlInitWithFlags(0),
        "init_with_flags_1": lambda: nvml.nvmlInitWithFlags(1),
        "init_with_flags_2": lambda: nvml.nvmlInitWithFlags(2),
        "init_with_flags_99": lambda: nvml.nvmlInitWithFlags(99),
    }
    with simulated.machine("s5000x8"):
        for step, recorded in FACTS["lifecycle"].items():
            assert_outcome(steps[step], recorded, step, {})
            if step == "count_after_init":
                take_handle()
        simulated.shut_down()


# ---- Arguments ----


def argument_call(case, first, peer):
    """The call that a recorded case stands for, on this machine (function without parameters)."""
    own_uuid, own_bus_id = nvml.nvmlDeviceGetUUID(first), nvml.nvmlDeviceGetPciInfo(first).busId
    fields = [nvml.NVML_FI_DEV_MEMORY_TEMP, nvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION]
    fields += [nvml.NVML_FI_DEV_NVLINK_LINK_COUNT]
    special = {
        "HandleByIndex(2)": lambda: nvml.nvmlDeviceGetHandleByIndex(nvml.nvmlDeviceGetCount()),
        "HandleByUUID(own ')": lambda: nvml.nvmlDeviceGetHandleByUUID(own_uuid),
        "HandleByPciBusId('0000:00:06.0')": lambda: nvml.nvmlDeviceGetHandleByPciBusId(own_bus_id),
        "TopologyCommonAncestor(peer)": lambda: nvml.nvmlDeviceGetTopologyCommonAncestor(first, peer),
        "OnSameBoard(self)": lambda: nvml.nvmlDeviceOnSameBoard(first, first),
        "FieldValues": lambda: nvml.nvmlDeviceGetFieldValues(first, fields),
        "FieldValues([])": lambda: nvml.nvmlDeviceGetFieldValues(first, []),
        "ProcessName(self)": lambda: nvml.nvmlSystemGetProcessName(os.getpid()),
        "HandleFromMig": lambda: nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(first),
        "IsMig": lambda: nvml.nvmlDeviceIsMigDeviceHandle(first),
        "SystemGetTopologyGpuSet(0)": lambda: nvml.nvmlSystemGetTopologyGpuSet(0),
        "ProcessUtilization": lambda: nvml.nvmlDeviceGetProcessUtilization(first, 0),
        "hash(handle)": lambda: hash(first),
    }
    if case in special:
        return special[case]
    name, text = re.match(r"(\w+)\((.*)\)$", case).groups()
    text = text.replace("object()", "'an object'").replace("version=", "").replace("2**31", str(2**31))
    arguments = list(ast.literal_eval("(%s,)" % text)) if text else []
    if "object()" in case:
        arguments = [object()]
    if name.startswith("nvmlDeviceGet") or name.startswith("HandleBy"):
        function = getattr(nvml, name if name.startswith("nvml") else "nvmlDeviceGet" + name)
        return lambda: function(*arguments)
    if name.startswith("NvLink"):
        arguments[0] = {17: LINKS - 1, 18: LINKS}.get(arguments[0], arguments[0])
    if name == "Samples":
        arguments.append(0)
    devices = {"P2PStatus": [first, peer], "P2PStatusSelf": [first, first]}.get(name, [first])
    function = getattr(nvml, "nvmlDeviceGet" + name.replace("Self", ""))
    return lambda: function(*(devices + arguments))


@each(list(FACTS["arguments"]))
def test_argument(case, pair):
    recorded = FACTS["arguments"][case]
    call = argument_call(case, *pair)
    if "exit" in recorded:
        recorded = said(recorded)
    assert_outcome(call, recorded, case, ARGUMENT_DEVIATIONS)


def said(recorded):
    """What the recorded process said about its one call, in the form that the other records have."""
    if recorded["exit"] < 0:  # it died of a signal, where pymtml refuses
        return {"error": INVALID, "value": 2, "str": "Invalid Argument"}
    first, second, text = (recorded["said"] + " ").split(" ", 2)
    if first == "ok":
        return {"ok": {"type": second}}
    if first == "ArgumentError":  # ctypes refused it, which no program expects
        return {"error": INVALID, "value": 2, "str": "Invalid Argument"}
    return {"error": first, "value": None if second == "None" else int(second), "str": text.strip()}


# ---- Queries ----


@each(list(QUERIES))
def test_query(name, pair, monkeypatch):
    monkeypatch.setenv("PYMTML_ENERGY", "sample")  # without it there is no energy to tell
    recorded = QUERIES[name]["call"]
    function = getattr(nvml, name)
    required = function.__code__.co_argcount - len(function.__defaults__ or ())
    arguments = [pair[0], 0][:required]
    got, value = outcome(lambda: function(*arguments))
    if name not in QUERY_DEVIATIONS and "ok" in recorded and function.__doc__.startswith("Not available"):
        assert got == UNSUPPORTED, "%s: %s %s" % (name, got, value)
    else:
        assert_outcome(lambda: function(*arguments), recorded, name, QUERY_DEVIATIONS)
