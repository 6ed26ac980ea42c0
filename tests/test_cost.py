"""What pymtml costs, counted and never timed: native calls, imported modules, memory that stays behind."""

import contextlib
import gc
import inspect
import sys

import pytest
import simulated
from interpreter import not_on_pypy

import pymtml

DEVICES = 8
# Budget for a monitor that reads 12 queries from each of 8 devices.
TICK_LIMIT = 104

# Query, arguments after the handle, native calls after the first success. What cannot change while the library lives is
# asked once, everything else every time.
QUERIES = [("nvmlDeviceGet" + name, (), 0) for name in "Name UUID Serial Index MinorNumber PciInfo".split()]
QUERIES += [
    ("nvmlDeviceGet" + name, (), 1)
    for name in """MemoryInfo PowerUsage FanSpeed EncoderUtilization DecoderUtilization CurrPcieLinkWidth
    CurrPcieLinkGeneration""".split()
]
QUERIES += [("nvmlDeviceGetClockInfo", (clock,), 1) for clock in range(pymtml.NVML_CLOCK_COUNT)]
QUERIES += [("nvmlDeviceGetUtilizationRates", (), 2), ("nvmlDeviceGetTemperature", (pymtml.NVML_TEMPERATURE_GPU,), 1)]
QUERIES += [("nvmlDeviceGetMaxClockInfo", (pymtml.NVML_CLOCK_GRAPHICS,), 1)]
UNSHOWN = "Serial Index MinorNumber CurrPcieLinkWidth CurrPcieLinkGeneration MaxClockInfo".split()
SHOWN = [query for query in QUERIES if query[0][13:] not in UNSHOWN and query[1] not in [(1,), (3,)]]
assert len(SHOWN) == 12


@pytest.fixture
def nvml():
    with simulated.nvml("s5000x8") as module:
        yield module


@pytest.fixture
def card():
    """A card that has everything that QUERIES ask for, fans included."""
    with simulated.nvml("s80"):
        yield pymtml.nvmlDeviceGetHandleByIndex(0)


def native_calls(function, *args):
    simulated.reset_calls()
    function(*args)
    return simulated.calls()


def tick(nvml, handles):
    """What a monitor shows of each device."""
    for handle in handles:
        for name, arguments, _ in SHOWN:
            with contextlib.suppress(nvml.NVMLError_NotSupported):  # of a card without fans
                getattr(nvml, name)(handle, *arguments)


def tick_with_fresh_handles(nvml):
    tick(nvml, [nvml.nvmlDeviceGetHandleByIndex(i) for i in range(nvml.nvmlDeviceGetCount())])


def later_calls(questions, *devices):
    """{question: native calls of it when it has been answered before}; the answer is the same."""
    counted = {}
    for name, args, _ in questions:
        answer = getattr(pymtml, name)(*devices, *args)
        counted[name, args] = native_calls(getattr(pymtml, name), *devices, *args)
        again = getattr(pymtml, name)(*devices, *args)
        assert type(again) is type(answer) and (not isinstance(answer, (int, str, list)) or again == answer), name
    return counted


def expected_calls(questions):
    return {(name, args): calls for name, args, calls in questions}


def test_native_calls_of_a_query(card):
    assert later_calls(QUERIES, card) == expected_calls(QUERIES)


# Question, arguments after the devices, native calls between two cards that two links join. The wiring is read once.
PAIRS = [
    ("nvmlDeviceGetTopologyCommonAncestor", (), 1),
    ("nvmlDeviceGetP2PStatus", (pymtml.NVML_P2P_CAPS_INDEX_READ,), 1),
    ("nvmlDeviceGetP2PStatus", (pymtml.NVML_P2P_CAPS_INDEX_WRITE,), 1),
    ("nvmlDeviceGetP2PStatus", (pymtml.NVML_P2P_CAPS_INDEX_NVLINK,), 2),
    ("nvmlDeviceGetP2PStatus", (pymtml.NVML_P2P_CAPS_INDEX_ATOMICS,), 6),
    ("nvmlDeviceGetP2PStatus", (pymtml.NVML_P2P_CAPS_INDEX_PCI,), 2),
]


def test_native_calls_of_a_question_about_a_pair(nvml):
    first, second = nvml.nvmlDeviceGetHandleByIndex(2), nvml.nvmlDeviceGetHandleByIndex(5)
    assert later_calls(PAIRS, first, second) == expected_calls(PAIRS)
    nvml.nvmlShutdown()
    nvml.nvmlInit()
    assert not hasattr(first, "_links") and not hasattr(first, "_wires")


def test_native_calls_of_a_question_about_a_link(nvml):
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    for question in (nvml.nvmlDeviceGetNvLinkState, nvml.nvmlDeviceGetNvLinkRemoteDeviceType):
        question(handle, 3)
        assert native_calls(question, handle, 4) == 1


def test_a_refusal_without_a_counterpart_makes_no_native_call(nvml):
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    asks = ["nvmlDeviceGetComputeInstanceId"]  # whether the device is an instance, which NVML looks at first
    refused = 0
    simulated.reset_calls()
    for name, function in inspect.getmembers(nvml, inspect.isfunction):
        missing = (function.__doc__ or "").startswith("Not available")
        if missing and name.startswith("nvmlDevice") and name not in asks:
            parameters = list(inspect.signature(function).parameters.values())
            pytest.raises(nvml.NVMLError, function, handle, *[0 for one in parameters[1:] if one.default is one.empty])
            refused += 1
    assert refused > 50
    assert simulated.calls() == 0


def test_native_calls_of_refusals(nvml):
    """What C refuses is asked of it once each time, and what cannot change while the library lives once."""
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    def refused(function, *arguments):
        def ask():
            pytest.raises(nvml.NVMLError_NotSupported, function, handle, *arguments)

        ask()
        return native_calls(ask)

    for function in (nvml.nvmlDeviceGetNumFans, nvml.nvmlDeviceGetFanSpeed, nvml.nvmlDeviceGetAttributes):
        assert refused(function) == 1, function
    for function in (nvml.nvmlDeviceGetSupportedVgpus, nvml.nvmlDeviceGetCreatableVgpus, nvml.nvmlDeviceGetActiveVgpus):
        assert refused(function) == 1, function
    assert refused(nvml.nvmlDeviceGetGpuInstanceProfileInfo, 0) == 1  # that MPC can divide the card is known


def test_where_sysfs_shows_a_device_is_found_out_once(nvml, monkeypatch, tmp_path):
    monkeypatch.setenv("PYMTML_SYS_ROOT", str(tmp_path))
    hidden, shown = nvml.nvmlDeviceGetHandleByIndex(0), nvml.nvmlDeviceGetHandleByIndex(1)
    pci = nvml.nvmlDeviceGetPciInfo(shown)
    folder = tmp_path / "bus" / "pci" / "devices" / ("%04x:%02x:%02x.0" % (pci.domain, pci.bus, pci.device))
    folder.mkdir(parents=True)
    folder.joinpath("irq").write_text("41")
    assert native_calls(nvml.nvmlDeviceGetIrqNum, shown) == 0  # by the address of before
    folder.joinpath("irq").write_text("42")
    simulated.reset_calls()
    assert nvml.nvmlDeviceGetIrqNum(shown) == 42  # the number itself is read each time
    for _ in range(2):
        pytest.raises(nvml.NVMLError_NotSupported, nvml.nvmlDeviceGetIrqNum, hidden)
    assert simulated.calls() == simulated.calls("mtmlDeviceGetPciInfo") == 1
    assert shown._sysfs == str(folder) + "/" and not hasattr(hidden, "_sysfs")  # it may come up yet
    nvml.nvmlShutdown()
    nvml.nvmlInit()
    assert not hasattr(shown, "_sysfs")


def test_a_missing_musa_library_is_looked_for_once_in_a_life(nvml, monkeypatch):
    looked = []

    def load(name, *args, **kwargs):
        looked.append(name)
        raise OSError("not there")

    monkeypatch.delenv("PYMTML_MUSA_LIBRARY")
    monkeypatch.setattr(nvml, "CDLL", load)

    def ask(times):
        for _ in range(times):
            pytest.raises(nvml.NVMLError_NotSupported, nvml.nvmlSystemGetCudaDriverVersion)

    ask(3)
    assert looked == ["libmusa.so.1", "libmusa.so"]
    nvml.nvmlShutdown()
    nvml.nvmlInit()
    ask(3)
    assert len(looked) == 4
    simulated.set_faults("mtmlLibraryShutDown=TIMEOUT")
    pytest.raises(nvml.NVMLError_Timeout, nvml.nvmlShutdown)
    simulated.set_faults("")
    ask(3)
    assert len(looked) == 4  # the life goes on


# What programs that ask one question make of a life, and why: nvidia-ml-py makes five calls, as NVML has no objects
# below a device, counts no instances and tells total and used memory at once.
LIFE = {
    "mtmlLibraryCountDevice": 1,  # whether the library that was kept still answers
    "mtmlLibraryInitDeviceByIndex": 1,
    "mtmlDeviceGetProperty": 1,  # whether it is a card, or the instance of one, which has no index in NVML
    "mtmlDeviceGetName": 1,
    "mtmlDeviceInitMemory": 1,
    "mtmlMemoryGetTotal": 1,
    "mtmlMemoryGetUsed": 1,
}


def test_native_calls_of_a_later_life(monkeypatch):
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")

    def life():
        pymtml.nvmlInit()
        handle = pymtml.nvmlDeviceGetHandleByIndex(0)
        pymtml.nvmlDeviceGetName(handle)
        pymtml.nvmlDeviceGetMemoryInfo(handle)
        pymtml.nvmlShutdown()

    with simulated.machine():
        life()
        assert native_calls(life) == sum(LIFE.values()) == 7
        assert {name: simulated.calls(name) for name in LIFE} == LIFE
        simulated.shut_down()


def test_native_calls_of_a_tick(nvml):
    handles = [nvml.nvmlDeviceGetHandleByIndex(i) for i in range(DEVICES)]
    tick(nvml, handles)
    assert native_calls(tick, nvml, handles) == 10 * DEVICES
    assert native_calls(tick_with_fresh_handles, nvml) <= TICK_LIMIT


def modules_after(statement):
    # Printed plainly: a module that formats the list would itself be in it.
    result = simulated.run_python(statement + "; import sys; print(' '.join(sys.modules))")
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


def test_import_loads_only_ctypes_and_what_the_interpreter_has():
    # From 3.14 on ctypes loads modules of its own with the first struct.
    ctypes = "import ctypes, os, sys, _thread; type('S', (ctypes.Structure,), {'_fields_': [('a', ctypes.c_int)]})"
    assert modules_after("import pymtml") - modules_after(ctypes) == {"pymtml"}


def test_queries_import_nothing(nvml):
    tick_with_fresh_handles(nvml)
    before = set(sys.modules)
    nvml.nvmlShutdown()
    nvml.nvmlInit()
    tick_with_fresh_handles(nvml)
    assert set(sys.modules) == before


def blocks_left_by(function, times):
    """Blocks of Python memory that are in use after the calls and were not before."""
    for _ in range(100):
        function()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(times):
        function()
    gc.collect()
    return sys.getallocatedblocks() - before


@not_on_pypy.blocks
def test_nothing_leaves_memory_behind(card):
    """Answers, refusals, lives: less than a block in every tenth call."""

    def refused():
        pytest.raises(pymtml.NVMLError_NotSupported, pymtml.nvmlDeviceGetBAR1MemoryInfo, card)

    def life():
        pymtml.nvmlInit()
        tick_with_fresh_handles(pymtml)
        pymtml.nvmlShutdown()

    gc.freeze()  # what is there already need not be looked at in each collection
    left = {name: blocks_left_by(lambda: getattr(pymtml, name)(card, *args), 600) for name, args, _ in QUERIES}
    left["refused"] = blocks_left_by(refused, 600)
    simulated.shut_down()
    left["life"] = blocks_left_by(life, 150) * 4
    gc.unfreeze()
    pymtml.nvmlInit()
    assert not {name: blocks for name, blocks in left.items() if blocks > 60}
