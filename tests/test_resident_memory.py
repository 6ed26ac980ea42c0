"""What is done again and again takes no more memory: the resident memory of a process that does it, after a while.

test_cost.py counts Python's blocks; this also sees what C, ctypes and the standard library keep.
"""

import gc
import itertools
import json
import os
import resource
import sys

import pytest
import simulated
from interpreter import not_on_pypy

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cli"))
from command import process_tree  # noqa: E402

LIMIT = 32  # KiB in a round, where 0 to 24 were measured; one small struct that stays at each call makes 57 or more


def queries(nvml, walk):
    """A round of the functions that return a value or refuse, and have no effect."""
    import every_function

    card, other = nvml.nvmlDeviceGetHandleByIndex(0), nvml.nvmlDeviceGetHandleByIndex(1)
    calls = []
    for name in every_function.FUNCTIONS:
        if ("Process" in name) is walk and not any(
            word in name for word in ("Init", "Shutdown", "Event", "Set", "Clear", "Reset")
        ):
            calls.append((getattr(nvml, name), next(every_function.ordinary(name, card, [card, other]))))

    def ask():
        for function, arguments in calls:
            try:
                function(*arguments)
            except nvml.NVMLError:
                pass

    return ask


def look_ups(nvml):
    card = nvml.nvmlDeviceGetHandleByIndex(5)
    uuid, bus = nvml.nvmlDeviceGetUUID(card), nvml.nvmlDeviceGetPciInfo(card).busId

    def look():
        for number in range(8):
            nvml.nvmlDeviceGetHandleByIndex(number)
        assert nvml.nvmlDeviceGetHandleByUUID(uuid) is nvml.nvmlDeviceGetHandleByPciBusId(bus) is card

    return look


def events(nvml):
    from mtml_simulator.driver_files import event_record, event_report

    path = os.path.join(os.environ["PYMTML_PROC_ROOT"], "driver", "musa", "gpu00", "event_report")
    seconds = itertools.count(1)

    open(path, "wb").close()

    def wait():
        found = nvml.nvmlEventSetCreate()
        nvml.nvmlDeviceRegisterEvents(nvml.nvmlDeviceGetHandleByIndex(0), nvml.nvmlEventTypeXidCriticalError, found)
        with open(path, "wb") as file:
            file.write(event_report([event_record(0x06000001, seconds=next(seconds))]))
        assert nvml.nvmlEventSetWait_v2(found, 0).eventData == 0x06000001
        nvml.nvmlEventSetFree(found)

    return wait


def lives(nvml, keep):
    nvml.nvmlShutdown()
    os.environ["PYMTML_KEEP_LIBRARY"] = keep

    def live():
        nvml.nvmlInit()
        card = nvml.nvmlDeviceGetHandleByIndex(1)
        nvml.nvmlDeviceGetUtilizationRates(card), nvml.nvmlDeviceGetMemoryInfo(card)
        nvml.nvmlShutdown()

    return live


def collections(nvml):
    """The exporter, whose child answers in this process."""
    from inside import checks, metrics, metrics_collector
    from test_metrics import Here

    nvml.nvmlShutdown()
    metrics_collector.Child, metrics_collector.PROCESS_PAUSE = Here, 0
    settings = metrics_collector.Settings(2, 60, checks.default_limits(), list(checks.OF_CARD), "users")
    collector = metrics_collector.Collector(settings)

    def collect():
        assert b"\nmthreads_driver_up 1" in metrics.page(collector.collect(), 2)

    return collect


# What is done, how often, and how many handles each time takes that the simulator never gives out again, by design.
ACTIVITIES = {
    "queries": (lambda nvml: queries(nvml, False), 400, 0),
    "processes": (lambda nvml: queries(nvml, True), 300, 0),
    "look-ups": (look_ups, 1000, 0),
    "events": (events, 500, 0),
    "lives": (lambda nvml: lives(nvml, "0"), 1000, 5),
    "kept lives": (lambda nvml: lives(nvml, "1"), 1000, 0),
    "collections": (collections, 300, 0),
}
HANDLE = 32  # bytes


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 10


def ballast():
    """Objects that fill the free memory of this process, in which others would not be seen (list)."""
    found = []
    for size in [*range(48, 513, 16), 1024, 4096]:
        before = resident()
        while resident() < before + 64:
            found += [bytes(size - 33) for _ in range(100)]
    return found


def grown(name):
    """KiB more after each round of an activity, up to the first within the limit: a leak grows in all (list)."""
    import pymtml

    begin, times, handles = ACTIVITIES[name]
    pymtml.nvmlInit()
    act, found, before = begin(pymtml), [], None
    filled = ballast()
    while len(found) < 10 and not (found and found[-1] < LIMIT):
        for _ in range(times):
            act()
        gc.collect()
        now = resident()
        if before is not None:
            found.append(now - before - (handles * HANDLE * times >> 10))
        before = now
    del filled
    return found


@not_on_pypy.blocks
@pytest.mark.skipif("sanitize" in simulated.BUILD, reason="AddressSanitizer keeps what is freed, by design")
@pytest.mark.parametrize("name", ACTIVITIES)
def test_what_is_repeated_keeps_no_memory(name, tmp_path, monkeypatch):
    if name == "collections":
        pytest.importorskip("prometheus_client")
    process_tree(tmp_path, monkeypatch, *({pid: ("train", 40), pid + 1: ("serve", 2)} for pid in (300, 400)))
    environment = simulated.environment("s3000x2" if name == "collections" else "s5000x8")
    environment["PYMTML_PROC_ROOT"] = str(tmp_path)
    result = simulated.run([sys.executable, __file__, name], env=environment)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)[-1] < LIMIT, "KiB in each round"


if __name__ == "__main__":
    print(json.dumps(grown(sys.argv[1])))
