"""A process whose files never answer takes nothing of the driver's answers away.

Reading maps or cmdline of a process that waits in the kernel with its memory locked never ends; here they are FIFOs to
which nobody writes. Such a process is in state D, which the module looks for; here it may be in state S as well.
"""

import json
import os
import shutil
import time

import pytest
import simulated
from command import COMMAND, command_environment, invoke
from inside import child, health, limits, metrics_collector

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
STUCK, OTHER = 4242, 17


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """A proc file system: a process on each of two cards, of which that on the first never answers."""
    root = tmp_path / "proc"
    (root / "1" / "fd").mkdir(parents=True)
    for pid, node, state in ((STUCK, "mtgpu.0", "S"), (OTHER, "mtgpu.1", "S")):
        (root / str(pid) / "fd").mkdir(parents=True)
        (root / str(pid) / "fd" / "3").symlink_to("/dev/" + node)
        (root / str(pid) / "comm").write_text("python\n")
        (root / str(pid) / "cmdline").write_text("python\0")
        (root / str(pid) / "maps").write_text("")
        threads(root, pid, state)
    hang(root, "maps")
    hang(root, "cmdline")
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(root))
    monkeypatch.setattr(child.Child, "look_seconds", 1.0)
    return root


def threads(root, pid, *states):
    """Let a process have threads in these states."""
    for number, state in enumerate(states):
        folder = root / str(pid) / "task" / str(pid + number)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stat").write_text("%d (py) thon) %s 1 1 1\n" % (pid + number, state))


def hang(root, name):
    path = root / str(STUCK) / name
    path.unlink()
    os.mkfifo(str(path))


def test_health(proc, tmp_path):
    began = time.monotonic()
    with simulated.machine("s3000x2"):
        result = invoke("health", "--lock", str(tmp_path / "lock"))
        report = json.loads(invoke("health", "--json", "--lock", str(tmp_path / "lock")).stdout)
        left_out = invoke("health", "--skip", "processes", "--lock", str(tmp_path / "lock"))
    assert time.monotonic() - began < 30  # of the driver, which is not waited for
    text = "processes could not be inspected: looking at their files did not end within 1 seconds: `ps "
    assert [line.partition(text)[:2] for line in result.lines if "processes" in line] == [
        ("NOTE     processes: GPU 0-1: ", text)
    ]
    found = [(one["gpu"], one["level"], one["value"]) for one in report["findings"] if one["check"] == "processes"]
    assert found == [(0, "NOTE", 1), (1, "NOTE", 1)]  # at least one was not inspected
    others = [line for line in result.lines if " processes: " not in line]
    assert (result.status, others) == (left_out.status, left_out.lines) == (0, others)
    assert others[0] == "OK       driver: answers" and any("OK       readings: GPU 0-1" in line for line in others)


def test_doctor(proc):
    with simulated.machine("s3000x2"):
        result = invoke("doctor")
        shutil.rmtree(str(proc / str(STUCK)))
        usual = invoke("doctor")
    text = "note  processes  GPU 0-1: processes could not be inspected: looking at their files did not end "
    assert (result.status, result.lines[-4]) == (0, text + "within 1 seconds")
    well = "ok    processes  GPU 0-1: all processes could be inspected"
    assert usual.lines[-3] == well
    assert [line[:16] for line in result.lines[:-4]] == [line[:16] for line in usual.lines[:-3]]


def test_a_driver_that_hangs_under_doctor():
    with simulated.machine("s3000x2", faults="", latency_ns=10**10):
        result = invoke("doctor", "--timeout", "0.5")
    assert result.status == 2 and result.lines[0].startswith("ok    module")
    assert result.lines[-4].startswith("fail  driver     no answer within 0.5 seconds")


def test_metrics(proc, monkeypatch):
    """The next look asks the other cards first; a child that the kernel does not let end hinders nothing but looks."""
    monkeypatch.setattr(metrics_collector, "PROCESS_PAUSE", 0)
    settings = metrics_collector.Settings(None, 30, limits(), ["devices", "answers", "processes"], "names")
    collector = metrics_collector.Collector(settings)
    seen, errors = [], {}
    with simulated.machine("s3000x2"):
        for _ in range(2):
            found = collector.collect()
            assert found.failure is None and found.count == 2 and [card["up"] for card in found.cards] == [True, True]
            assert (found.status["driver"], found.status["answers"]) == (0, 0)
            seen.append([[line[1:] for line in card["values"] if line[0] == "process_info"] for card in found.cards])
            errors = {gpu: counted for (gpu, _), counted in found.errors.items()}
        collector.stop()
    assert seen == [[[], []], [[], [[[str(OTHER), "C", "python"], 1]]]]
    assert errors == {0: {("processes", "NoAnswer"): 2}} and collector._looking.ended


class Held:
    """A child that does not end, as one that waits in the kernel."""

    pid, ended = 7, False


def test_a_look_that_hangs_in_the_kernel(proc, monkeypatch):
    monkeypatch.setattr(metrics_collector, "PROCESS_PAUSE", 0)
    collector = metrics_collector.Collector(metrics_collector.Settings(None, 30, limits(), ["answers"], "count"))
    collector._looking, collector._looked_last = Held(), [0]
    with simulated.machine("s3000x2"):
        found = collector.collect()
        collector.stop()
    assert found.failure is None and [card["up"] for card in found.cards] == [True, True]
    assert [counted for (gpu, _), counted in found.errors.items()] == [{("processes", "NoAnswer"): 1}]


@pytest.mark.parametrize("arguments", [[], ["-q"], ["--json"], ["-q", "-x"], ["pmon", "-c", "1"]], ids=" ".join)
@pytest.mark.parametrize("states", ["D", "SD"])
def test_outputs_end_where_a_process_waits_in_the_kernel(arguments, states, proc):
    """It is a user of the card, by a name that needs none of its files that may hang."""
    threads(proc, STUCK, *states)
    environment = command_environment(name="s3000x2", extra_environment={"PYMTML_PROC_ROOT": str(proc)})
    done = simulated.run(COMMAND + arguments, env=environment, timeout=60)
    assert done.returncode == 0 and str(STUCK) in done.stdout and str(OTHER) in done.stdout


def test_a_driver_that_ends_the_child_in_a_look():
    """All other questions are answered, on each card."""
    cards = [(0, "u0", None), (1, "u1", None), (2, "u2", None)]
    found = health._unanswered([1, "processes"], cards, {"checks": list(health.CHECKS)}, "the check ended by signal 11")
    assert [one[:3] for one in found] == [("processes", "CRITICAL", 1), ("processes", "N/A", 2)]
