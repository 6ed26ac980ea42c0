"""metrics that serves, while what it serves breaks and recovers: the simulator's control file changes it."""

import contextlib
import http.server
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import urllib.request

import pytest
import simulated
from command import COMMAND, command_environment, invoke
from inside import (
    CommandError,
    Lock,
    child,
    files,
    health,
    metrics,
    metrics_collector,
    metrics_server,
)
from test_metrics import one, read

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the control file and /proc are Linux's")

UP = "mthreads_gpu_up"
TEMPERATURE = {"sensor": "gpu", "instance_id": ""}
NOWHERE = "No such file or directory"


def until(condition, seconds=60):
    """Wait until a condition holds, and return what it came to."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline
        time.sleep(0.05)


class Exporter:
    """`pymtml metrics --listen 0`, on a machine that `change` changes while it runs."""

    def __init__(self, folder, *changes, profile="s5000x8", library=None, arguments=()):
        self._control = str(folder / "control")
        self.change(*changes, profile=profile)
        self.hangs = folder / "hangs"  # while it is there, card 2 hangs
        (folder / "proc" / "1" / "fd").mkdir(parents=True, exist_ok=True)
        extra = {"MTML_SIM_CONTROL": self._control, "PYMTML_PROC_ROOT": str(folder / "proc")}
        extra.update({} if library is None else {"PYMTML_LIBRARY": library, "SHIM_HANGS": str(self.hangs)})
        command = ["metrics", "--listen", "0", "--interval", "0.1", "--expect", "8", *arguments]
        command += ["--timeout", "60" if library is None else "2"]  # one of the others may hang
        self.process = subprocess.Popen(
            COMMAND + command,
            env=command_environment(name=profile, extra_environment=extra),
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        self.said = self.process.stderr.readline()
        found = re.search(r"listening on (\S+)$", self.said)
        if found is None:  # it would run on
            self.end()
        assert found, self.said
        self.url = found.group(1)

    def change(self, *lines, profile="s5000x8"):
        """Let the machine be a profile with these changes, and no others."""
        with open(self._control + ".new", "w") as file:
            file.write("".join(line + "\n" for line in ("profile = %s+frozen" % profile,) + lines))
        os.rename(self._control + ".new", self._control)

    def text(self):
        """The page."""
        with urllib.request.urlopen(self.url, timeout=60) as answer:
            return answer.read().decode("utf-8")

    def until(self, condition):
        """Wait until a page is so, and return it, read."""

        def found():
            page = read(self.text())
            return page if condition(page) else None

        return until(found)

    def next(self, page):
        """The page of a later collection."""
        moment = one(page, "mthreads_collect_timestamp_seconds")
        return self.until(lambda page: one(page, "mthreads_collect_timestamp_seconds") > moment)

    def child(self):
        """Number of the collecting process, or None."""
        with open("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)) as file:
            numbers = [int(number) for number in file.read().split()]
        return numbers[0] if numbers else None

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
int mtmlDeviceGetIndex(void *device, unsigned *index);
int mtmlDeviceGetPowerUsage(void *device, unsigned *power)
{
    unsigned index;
    if (!mtmlDeviceGetIndex(device, &index) && index == 2)
        while (!access(getenv("SHIM_HANGS"), F_OK))
            pause();
    return ((int (*)(void *, unsigned *))dlsym(RTLD_NEXT, "mtmlDeviceGetPowerUsage"))(device, power);
}
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """A library in which a card can hang (path)."""
    return simulated.shim(tmp_path_factory.mktemp("shim"), SHIM)


@pytest.fixture(scope="module")
def shared(shim, tmp_path_factory):
    """Exporters that many tests share: the last one serves (list)."""
    found = []
    yield found
    for exporter in found:
        exporter.end()


@pytest.fixture
def running(shared, shim, tmp_path_factory):
    """An exporter that has seen eight sound cards; the next test gets it as well, if it is able to serve."""
    if not shared or shared[-1].process.poll() is not None:
        shared.append(Exporter(tmp_path_factory.mktemp("exporter"), library=shim))
    shared[-1].change()
    shared[-1].until(all_up)
    yield shared[-1]
    with contextlib.suppress(FileNotFoundError):
        shared[-1].hangs.unlink()


@pytest.fixture
def alone(tmp_path):
    """Starts an exporter for one test."""
    with contextlib.ExitStack() as stack:

        def start(*changes, **options):
            found = Exporter(tmp_path, *changes, **options)
            stack.callback(found.end)
            return found

        yield start


@pytest.fixture
def rounds(monkeypatch):
    """Runs the command in this process: a list of functions says what is done where it waits for the next collection,
    then it ends as by SIGTERM. Its servers are in ``rounds.servers``, the seconds that it waited in ``rounds.waited``.
    """
    before = signal.getsignal(signal.SIGTERM)

    def serve_forever(server):
        run.servers.append(server)
        http.server.HTTPServer.serve_forever(server, 0.01)

    def run(arguments, *steps):
        def sleep(seconds):
            run.waited.append(seconds)
            try:
                steps[len(run.waited) - 1]()
                if len(run.waited) == len(steps):
                    signal.getsignal(signal.SIGTERM)(signal.SIGTERM, None)
            except BaseException:
                for server in run.servers:  # its thread would go on in this process
                    server.shutdown()
                raise

        clock = types.SimpleNamespace(monotonic=lambda: time.monotonic() + sum(run.waited), sleep=sleep)
        monkeypatch.setattr(metrics, "time", clock)
        return invoke(*arguments)

    run.servers, run.waited = [], []
    monkeypatch.setattr(metrics_server.Server, "serve_forever", serve_forever)
    yield run
    signal.signal(signal.SIGTERM, before)


def up(page, **labels):
    """{gpu: up} of the whole cards."""
    return {found["gpu"]: value for found, value in page.get(UP, ()) if "instance_id" not in found}


def degrees(page, gpu):
    return one(page, "mthreads_gpu_temperature_celsius", gpu=str(gpu), **TEMPERATURE)


def all_up(page, count=8):
    return one(page, "mthreads_driver_up") == 1 and list(up(page).values()) == [1] * count


def ended(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


# ---- Cards ----


def test_a_card_that_is_lost_and_recovers(running):
    before = running.until(all_up)
    uuid = simulated.device_keys("s5000x8", 3)["uuid"]
    running.change("3.lost = DRIVER_FAILURE")
    lost = running.until(lambda page: up(page)["3"] == 0)
    assert up(lost) == {str(gpu): int(gpu != 3) for gpu in range(8)}
    assert [(labels, value) for labels, value in lost[UP] if labels["gpu"] == "3"] == [({"gpu": "3", "uuid": uuid}, 0)]
    of_card = {name for name, found in lost.items() if any(labels.get("gpu") == "3" for labels, _ in found)}
    assert of_card == {UP, "mthreads_gpu_info", "mthreads_gpu_query_errors_total"}
    assert degrees(lost, 2) == degrees(before, 2)
    assert one(lost, "mthreads_health_status", check="answers") == 2 and one(lost, "mthreads_gpus") == 8
    running.change("3.gpu_temperature = 41")
    back = running.until(all_up)
    assert degrees(back, 3) == 41 and one(back, "mthreads_health_status", check="answers") == 0


def test_cards_that_go_and_come(running):
    running.change("5.visible = no")
    page = running.until(lambda page: one(page, "mthreads_gpus") == 7)
    assert len(page[UP]) == 7 and one(page, "mthreads_gpus_expected") == 8
    assert one(page, "mthreads_health_status", check="devices") == 2
    running.change()
    page = running.until(lambda page: one(page, "mthreads_gpus") == 8)
    assert all_up(page) and one(page, "mthreads_health_status", check="devices") == 0


def test_a_change_of_mpc(alone):
    running = alone(profile="s3000-mpc")
    page = running.until(lambda page: all_up(page, 2))
    assert {labels.get("instance_id") for labels, _ in page[UP]} == {"0", "1", "2", None}
    running.change("0.mpc_mode = DISABLE", profile="s3000-mpc")
    page = running.until(lambda page: len(page[UP]) == 2)
    assert all_up(page, 2) and degrees(page, 0) is not None


def test_a_question_that_fails_is_counted(running):
    def errors(page):
        return one(page, "mthreads_gpu_query_errors_total", gpu="3", query="temperature", code="Timeout") or 0

    before = errors(running.until(all_up))
    running.change("fault.1 = 3.mtmlGpuGetTemperature=TIMEOUT")
    page = running.until(lambda page: errors(page) >= before + 3 and all_up(page))
    assert degrees(page, 3) is None and degrees(page, 4) is not None
    assert one(page, "mthreads_gpu_power_watts", gpu="3") is not None
    assert one(page, "mthreads_health_status", check="temperature") == 2
    running.change()
    page = running.until(lambda page: degrees(page, 3) is not None)
    assert errors(running.next(page)) == errors(page) >= before + 3
    assert one(page, "mthreads_health_status", check="temperature") == 0


def test_names_of_others(running):
    """They are asked anew where the number of cards changes."""
    running.change(r'0.name = a"b\\c\x1b[31m\n} 1', r"1.name = \xd6\xd0", "7.visible = no")
    page = running.until(lambda page: one(page, "mthreads_gpus") == 7)
    names = {labels["gpu"]: labels["name"] for labels, _ in page["mthreads_gpu_info"]}
    assert names["0"] == 'a"b\\c\\x1b[31m\\x0a} 1' and names["1"].isprintable()


# ---- The driver ----


def test_a_driver_that_hangs(running):
    first = until(running.child)
    running.change("machine.latency_ns = 100000000000")
    page = running.until(lambda page: "mthreads_gpus" not in page)  # in the collection of before it still may count
    assert one(page, "mthreads_driver_up") == 0 and list(up(page).values()) == [0] * 8
    assert all(labels["uuid"] for labels, _ in page[UP]) and "mthreads_gpu_temperature_celsius" not in page
    assert page["mthreads_health_status"][0] == ({"check": "driver"}, 2)
    until(lambda: "# The driver is not up: no answer within 2 seconds\n" in running.text())
    running.next(page)
    running.change()
    running.until(all_up)
    assert running.child() != first and until(lambda: ended(first))


def test_one_card_that_hangs(running):
    running.hangs.write_text("")
    page = running.until(lambda page: one(page, "mthreads_driver_up") == 0)
    assert up(page)["2"] == 0 and up(page)["0"] == up(page)["1"] == 1  # asked before
    assert degrees(page, 1) is not None and degrees(page, 2) is None
    # The card comes last from then on, so that all others are heard.
    page = running.until(lambda page: sum(up(page).values()) == 7)
    assert one(page, "mthreads_driver_up") == 0 and up(page)["2"] == 0 and degrees(page, 7) is not None
    assert one(page, "mthreads_gpu_query_errors_total", gpu="2", query="all", code="NoAnswer") >= 1
    assert one(page, "mthreads_health_status", check="answers") == 2
    running.hangs.unlink()
    running.until(all_up)


def test_a_driver_that_comes_late(alone, shim, tmp_path):
    """First its library, then what the kernel has of it."""
    library = tmp_path / "late.so"
    running = alone("machine.init = DRIVER_NOT_LOADED", library=str(library))
    text = running.text()
    assert "mthreads_driver_up 0.0\n" in text and "late.so" in text and UP not in text
    library.symlink_to(shim)
    until(lambda: "late.so" not in running.text())
    assert "mthreads_driver_up 0.0\n" in running.text()
    running.change()
    running.until(all_up)
    running.process.terminate()
    said = running.process.communicate(timeout=60)[1].splitlines()
    assert said[0].startswith("pymtml: the driver is not up: ") and said[-1] == "pymtml: the driver is up again"


def test_a_library_that_takes_no_second_init(running):
    """It needs a new process for each new life, and after an error each collection is one."""
    running.change("machine.reinit = DRIVER_FAILURE", "3.lost = DRIVER_FAILURE")
    pids = set()
    for _ in range(3):
        page = running.until(lambda page: one(page, "mthreads_driver_up") == 1 and sum(up(page).values()) == 7)
        pids.add(until(running.child))
        running.next(page)
    assert up(page)["3"] == 0 and len(pids) > 1
    running.change("machine.reinit = DRIVER_FAILURE")
    running.until(all_up)


# ---- Processes ----


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSTOP"])
def test_a_child_that_somebody_ends_or_stops(running, name):
    first = until(running.child)
    os.kill(first, getattr(signal, name))
    until(lambda: running.child() not in (None, first))
    running.until(all_up)
    assert ended(first)


@pytest.mark.parametrize("name, status", [("SIGTERM", 0), ("SIGINT", -signal.SIGINT), ("SIGKILL", -signal.SIGKILL)])
def test_no_child_stays_behind(alone, name, status):
    running = alone(profile="s80")
    pid = until(running.child)
    running.process.send_signal(getattr(signal, name))
    _, said = running.process.communicate(timeout=60)
    assert (running.process.returncode, said) == (status, "")
    until(lambda: ended(pid))


class Scripted:
    """A child that says what a test has written down: a list of messages for each time that it is asked."""

    script, started = [], []
    pid, hangs_in_a_look = 4711, False

    def __init__(self, *arguments, listens):
        self.ended, self.told, self.arguments = False, [], arguments + (listens,)
        Scripted.started.append(self)

    def send(self, value):
        if self.ended:
            raise BrokenPipeError(32, "Broken pipe")
        self.told.append(value)

    def messages(self, deadline):
        return iter(Scripted.script.pop(0))

    def failure(self, timeout):
        return "no answer within %g seconds" % timeout

    def stop(self):
        self.ended = True


def order(*gpus, failed=False):
    return "cards", {"order": list(gpus), "driver_failed": failed}


def card(gpu, status=None, errors=(), up=True, uuid=None, values=()):
    found = {"gpu": gpu, "uuid": "uuid %d" % gpu if uuid is None else uuid, "info": ["name %d" % gpu], "up": up}
    return "card", dict(found, parts=[], values=list(values), status=status or {}, errors=list(errors))


def processes(gpu, level, number):
    """What is said of the processes of the only card."""
    found = {"gpu": gpu, "values": [["processes", [], number]], "status": {"processes": level}, "errors": []}
    return [(child.LOOKING, [gpu]), ("processes", found)]


DONE = ("done", None)


@pytest.fixture
def collector(monkeypatch):
    """A collector whose children say what is given, and the children that it started."""

    def start(*script, names=("devices", "answers", "memory"), expect=None, processes="count"):
        Scripted.script, Scripted.started = list(script), []
        settings = metrics_collector.Settings(expect, 7, {}, list(names), processes)
        return metrics_collector.Collector(settings), Scripted.started

    monkeypatch.setattr(metrics_collector, "Child", Scripted)
    return start


def test_the_worst_of_all_cards(collector):
    cards = [card(1, {"memory": 0, "answers": 0}), card(0, {"memory": 2, "answers": 1}), card(2, {"memory": 1})]
    found, started = collector(*[[order(1, 0, 2)] + cards + [DONE]] * 3, expect=3)
    found.held = 9  # the lock, which a child that cannot be ended goes on to hold
    result = found.collect()
    assert (result.failure, result.count) == (None, 3) and [one["gpu"] for one in result.cards] == [0, 1, 2]
    assert result.status == {"driver": 0, "devices": 0, "answers": 1, "memory": 2}
    assert list(result.status) == ["driver", "devices", "answers", "memory"]
    found.settings = found.settings._replace(expect=4)
    assert found.collect().status["devices"] == 2 and len(started) == 1 and not started[0].ended
    found._walked -= metrics_collector.PROCESS_PAUSE
    found.collect()
    assert [told["processes"] for told in started[0].told] == ["count", "none", "count"]
    wanted = {"limits": {}, "checks": ["devices", "answers", "memory"]}
    assert started[0].arguments == ("metrics", wanted, [9], {"PYMTML_KEEP_LIBRARY": "0"}, True)
    found.stop()
    assert started[0].ended


def test_when_a_collection_was_and_how_long(collector, monkeypatch):
    """In seconds."""
    clock = types.SimpleNamespace(time=lambda: 1e9, monotonic=iter(range(100, 200)).__next__)
    monkeypatch.setattr(metrics_collector, "time", clock)
    result = collector([order(0), card(0), DONE])[0].collect()
    assert result.time == 1e9 and 1 <= result.duration < 10


@pytest.mark.parametrize("names, status", [(["answers"], {"driver": 2, "answers": 2}), (["memory"], {"driver": 2})])
def test_the_card_at_which_a_child_falls_silent(collector, names, status):
    found, started = collector(
        [order(0, 1, 2), card(0, {"answers": 0} if "answers" in names else {})],
        [order(0, 2, 1), card(0), card(2)],
        [("driver", "gone")],
        [order(0, 2, 1), card(0), card(2), card(1), DONE],
        names=names,
    )
    result = found.collect()
    assert (result.failure, result.count, result.status) == ("no answer within 7 seconds", 3, status)
    assert result.errors == {(1, ""): {("all", "NoAnswer"): 1}}
    assert [one["up"] for one in result.cards] == [True, False, False]
    for silent in result.cards[1:]:
        assert (silent["values"], silent["parts"], silent["status"], silent["uuid"]) == ([], [], {}, "")
    result = found.collect()  # by a new child, which asks that card last
    assert len(started) == 2 and started[0].ended and started[1].told[0]["last"] == [1]
    assert [one["up"] for one in result.cards] == [True, False, True] and result.errors[1, ""] == {
        ("all", "NoAnswer"): 2
    }
    assert found.collect().failure == "gone"  # it counts no cards
    result = found.collect()
    assert started[3].told[0]["last"] == [1] and result.failure is None
    assert [one["up"] for one in result.cards] == [True, True, True] and found._last == []


@pytest.mark.parametrize(
    "script, failure, count, children",
    [
        ([[("driver", "no library")]], "no library", None, 1),
        ([[order(0), card(0), ("worn", "no second init")], [order(1), card(1), DONE]], None, 1, 2),
        ([[("worn", "no")], [("worn", "no")]], "the driver cannot be used again", None, 2),
        ([[order(0), card(0), ("worn", "no")], [("worn", "no")]], "the driver cannot be used again", None, 2),
        ([[order(0, failed=True), card(0), DONE]], "it does not report its version", 1, 1),
        ([[]], "no answer within 7 seconds", None, 1),
    ],
)
def test_what_becomes_of_a_driver(script, failure, count, children, collector):
    found, started = collector(*script, names=["devices"])
    result = found.collect()
    assert (result.failure, result.count, len(started)) == (failure, count, children)
    assert result.status["driver"] == (0 if failure is None else 2) and ("devices" in result.status) == bool(count)
    assert [one["gpu"] for one in result.cards] == ([] if count is None else [1 if children == 2 else 0])
    assert result.errors == {} and all(child.ended for child in started[:-1])
    assert started[-1].ended == (count is None)


def test_what_was_said_before_all_is_asked_anew_counts_no_more(collector):
    found, _ = collector([order(0, 1), card(0), ("error", [1, ["ecc", "Timeout"]]), order(0, 1)])
    result = found.collect()
    assert [one["up"] for one in result.cards] == [False, False] and result.failure == "no answer within 7 seconds"
    assert result.errors == {(1, ""): {("ecc", "Timeout"): 1}, (0, ""): {("all", "NoAnswer"): 1}}


def test_a_child_whose_pipe_is_closed_is_replaced(collector, monkeypatch):
    found, started = collector([order(0), card(0), DONE], [order(0), card(0), DONE])

    def fail(*_):
        raise BrokenPipeError(32, "Broken pipe")

    assert found.collect().failure is None
    monkeypatch.setattr(started[0], "send", fail)
    assert found.collect().failure is None and [child.ended for child in started] == [True, False]
    monkeypatch.setattr(Scripted, "send", fail)
    assert found.collect().failure == "cannot start the collecting process: Broken pipe"
    assert [child.ended for child in started] == [True, True, True]


def test_errors_are_counted_by_card_and_kind(collector):
    many = [("query %d" % number, "Timeout") for number in range(9)]
    found, _ = collector(
        [order(0, 1), ("error", [0, ["ecc", "Unknown"]]), order(0, 1), card(0, errors=many[:2]), card(1), DONE],
        [order(0, 1), card(0, errors=many), card(1, errors=many[:1]), DONE],
        [order(0), card(0), DONE],
        [order(0), card(0, uuid="another card"), DONE],
    )
    first = {("ecc", "Unknown"): 1, many[0]: 1, many[1]: 1}
    assert found.collect().errors == {(0, "uuid 0"): first}
    second = dict(first)
    second.update({many[0]: 2, many[1]: 2})
    second.update({error: 1 for error in many[2:7]})
    second["other", "other"] = 2  # eight pairs at most, of which "ecc" is one
    assert found.collect().errors == {(0, "uuid 0"): second, (1, "uuid 1"): {many[0]: 1}}
    assert found.collect().errors == {(0, "uuid 0"): second}
    assert found.collect().errors == {}


def test_what_is_known_of_a_card_that_does_not_answer(collector):
    lost, other = card(1, up=False, uuid=""), card(1, up=False, uuid="uuid 0")
    found, _ = collector(
        [order(0, 1), card(0), card(1), DONE],
        [order(0, 1), card(0), lost, DONE],
        [order(0, 1), card(0), other, DONE],
        [],
    )
    found.collect()
    for known in ("uuid 1", "uuid 0"):
        result = found.collect()
        assert [one["uuid"] for one in result.cards] == ["uuid 0", known] and not result.cards[1]["up"]
    assert result.status["driver"] == 0
    assert result.cards[1]["info"] == ["name 1"]
    result = found.collect()  # nobody answers: the cards of before are there, and are not up
    assert [(one["gpu"], one["up"], one["info"]) for one in result.cards] == [
        (0, False, ["name 0"]),
        (1, False, ["name 1"]),
    ]


def test_a_card_at_another_address_is_another_one(collector):
    places, script = ("name 1", "elsewhere"), [[order(1), card(1), DONE]]
    for place in places:
        lost = dict(card(1, up=False, uuid="")[1], info=[place])
        script.append([order(1), ("card", lost), DONE])
    found, _ = collector(*script)
    assert [found.collect().cards[0]["uuid"] for _ in script] == ["uuid 1", "uuid 1", ""]


def test_a_card_has_no_uuid_of_another_one(collector):
    """Which was its own before: cards may change their places."""
    found, _ = collector([order(0, 1), card(0), card(1), DONE], [order(0, 1), card(0, uuid="uuid 1")])
    found.collect()
    result = found.collect()
    assert [(one["uuid"], one["info"], one["up"]) for one in result.cards] == [
        ("uuid 1", ["name 0"], True),
        ("", [], False),
    ]


def test_processes_of_before_go_on_while_a_child_hangs(collector, monkeypatch):
    script = [order(0), card(0), *processes(0, 1, 3), DONE], [order(0)], [order(0), card(0), DONE]
    script += [order(0), card(0), *processes(0, 0, 2), DONE], [order(0), card(0, up=False), DONE]
    script += ([order(0), card(0), DONE],)
    found, started = collector(*script, names=["processes"])
    assert found.collect().status == {"driver": 0, "processes": 1}
    monkeypatch.setattr(Scripted, "stop", lambda self: None)
    assert found.collect().failure == "no answer within 7 seconds"
    for _ in range(2):  # none is started beside it
        result = found.collect()
        assert result.failure == "process 4711 hangs in the driver and does not end"
        assert (result.status, len(started)) == ({"driver": 2}, 1)
    started[0].ended = True
    result = found.collect()
    assert (result.failure, result.status, len(started)) == (None, {"driver": 0, "processes": 1}, 2)
    assert result.cards[0]["values"] == [["processes", [], 3]] and started[1].told[0]["processes"] == "none"
    found._walked -= metrics_collector.PROCESS_PAUSE
    result = found.collect()
    assert (result.status["processes"], result.cards[0]["values"]) == (0, [["processes", [], 2]])
    found._walked -= metrics_collector.PROCESS_PAUSE  # a card that is lost when they are looked for has none
    assert [found.collect().cards[0]["values"] for _ in range(2)] == [[], []]


def test_a_collecting_process_that_cannot_start(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with simulated.machine("s3000x2"):
        result = invoke("metrics")
    assert (result.status, result.stdout) == (2, ""), "no page: nothing is known of the driver"
    said = "pymtml: cannot start the collecting process: %s(: '/nowhere/python')?\n" % NOWHERE
    assert re.fullmatch(said, result.stderr)  # Python 3.7 names the file


# ---- Serving ----


def test_scrapes_do_not_wait_for_each_other(running):
    host, port = re.search(r"//(.*):(\d+)/", running.url).groups()
    slow = [socket.create_connection((host, int(port))) for _ in range(10)]
    for connection in slow:
        connection.sendall(b"GET /metrics HT")
    pages = []
    threads = [threading.Thread(target=lambda: pages.append(running.text())) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(pages) == 10 and all(UP in page for page in pages)
    for connection in slow:
        connection.close()
    assert running.process.poll() is None


@pytest.mark.parametrize(
    "arguments, status, said",
    [
        ("--listen :9406", 2, "--listen :9406: no host before the colon: 0.0.0.0:PORT means all addresses"),
        ("--listen ::1:9406", 2, "--listen ::1:9406: an IPv6 address is written in brackets: [::1]:9406"),
        ("--listen 99999", 2, "--listen 99999: not a port from 0 to 65535"),
        ("--listen localhost:", 2, "--listen localhost:: not a port from 0 to 65535"),
        ("--listen 127.0.0.1:x", 2, "--listen 127.0.0.1:x: not a port from 0 to 65535"),
        ("--listen no.such.host.invalid:9406", 255, "cannot listen on no.such.host.invalid, port 9406: ..."),
        ("--listen ..:9406", 2, "cannot listen on .., port 9406: ..."),
        ("--listen 192.0.2.1:9406", 255, "cannot listen on 192.0.2.1, port 9406: Cannot assign requested address"),
        ("--listen 9406 --keyfile k", 2, "TLS needs --certfile"),
        ("--listen 9406 --client-cafile c", 2, "TLS needs --certfile"),
        ("--listen 9406 --certfile /nowhere", 255, "cannot use /nowhere for TLS: " + NOWHERE),
        ("--listen 9406 --textfile a.prom", 2, "argument --textfile: not allowed with argument --listen; ..."),
        ("--certfile c", 2, "--certfile is for --listen"),
        ("--keyfile c", 2, "--keyfile is for --listen"),
        ("--client-cafile c", 2, "--client-cafile is for --listen"),
        ("--state s", 2, "--state is for --listen"),
        ("--listen 0 --lock l", 2, "--lock is not for --listen"),
        ("--interval 5", 2, "--interval is for --listen and --textfile"),
        ("--interval nan --listen 1", 2, "argument --interval: 'nan' is not a number from 0.1 to 3600; ..."),
        ("--interval 3601 --listen 1", 2, "argument --interval: '3601' is not a number from 0.1 to 3600; ..."),
        ("--expect -1", 2, "argument --expect: '-1' is not a whole number from 0 to 10000; ..."),
        ("--skip nothing", 2, "nothing is no value of --skip; it takes " + ", ".join(health.CHECKS[1:])),
        ("--limits ''", 2, "argument --limits: the name is empty; ..."),
        ("--listen 0 --certfile c --client-cafile ''", 2, "argument --client-cafile: the name is empty; ..."),
        ("--limits /nowhere", 2, "cannot read /nowhere: " + NOWHERE),
        ("--textfile /nowhere/x.prom", 255, "cannot write /nowhere/x.prom: " + NOWHERE),
        ("--textfile /nowhere/x.prom --interval 1", 255, "cannot write /nowhere/x.prom: " + NOWHERE),
    ],
)
def test_what_is_refused_is_one_line(arguments, status, said, rounds):
    with simulated.machine("s3000x2"):
        result = rounds(["metrics"] + shlex.split(arguments))
    assert (result.status, result.stdout) == (status, "") and result.stderr.count("\n") == 1
    begin, dots, _ = said.replace("; ...", "; see `pymtml metrics --help`\n").partition("...")
    assert result.stderr.startswith("pymtml: " + begin)
    assert dots or result.stderr.strip() == "pymtml: " + begin.strip()


def test_it_serves_what_it_collects(rounds):
    pages = []

    def scrape():
        with urllib.request.urlopen(rounds.servers[0].url, timeout=60) as answer:
            assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            pages.append(read(answer.read().decode("utf-8")))

    with simulated.machine("s3000x2"):
        result = rounds(["metrics", "--listen", "0"], scrape, scrape)
    (server,) = rounds.servers
    said = "pymtml: listening on http://127.0.0.1:%d/metrics\n" % server.server_port
    assert (result.status, result.stdout, result.stderr) == (0, "", said)
    assert all(all_up(page, 2) for page in pages)
    moments = [one(page, "mthreads_collect_timestamp_seconds") for page in pages]
    assert moments[0] < moments[1] and all(0 < seconds <= 15 for seconds in rounds.waited)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.server_port), 20)


def test_when_the_next_collection_is_due(monkeypatch, capsys):
    """After the interval, or at once where collecting took longer; what changes of the driver is said."""
    moment, waited = [100.0], []
    clock = types.SimpleNamespace(monotonic=lambda: moment[0], sleep=waited.append)
    monkeypatch.setattr(metrics, "time", clock)
    took = iter([(1, None), (6, "it hangs"), (2, "it hangs"), (0, None), (3, None)])
    found = []

    class Slow:
        def collect(self):
            moment[0] += sum(waited[len(found) - 1 :])
            seconds, failure = next(took)
            moment[0] += seconds
            found.append(metrics_collector.not_collected(failure))
            return found[-1]

    collections = metrics._again_and_again(Slow(), 5)
    assert [next(collections) for _ in range(5)] == found
    assert waited == [4, 0, 3, 5]
    assert capsys.readouterr().err == "pymtml: the driver is not up: it hangs\npymtml: the driver is up again\n"


def test_a_port_in_use():
    with contextlib.closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        result = invoke("metrics", "--listen", "%d" % other.getsockname()[1])
    assert result.status == 255 and result.stderr.endswith(": Address already in use\n")
    assert result.stderr.count("\n") == 1


# ---- The file ----


def test_the_file(tmp_path, monkeypatch):
    path = str(tmp_path / "mthreads.prom")
    arguments = ["metrics", "--textfile", path, "--lock", str(tmp_path / "lock")]
    before, places = os.umask(0o077), set()
    try:
        for trouble in [{"faults": "1.mtmlGpuGetTemperature=TIMEOUT"}] * 2 + [{"set": "1.lost=DRIVER_FAILURE"}]:
            with simulated.machine("s3000x2", **trouble):
                result = invoke(*arguments)
            assert (result.status, result.stdout, result.stderr) == (0, "", "")
            assert os.stat(path).st_mode & 0o777 == 0o644  # node_exporter's user reads it
            places.add(os.stat(path).st_ino)
    finally:
        os.umask(before)
    with open(path) as file:
        page = read(file.read())
    assert len(places) > 1 and sorted(os.listdir(str(tmp_path))) == ["lock", "mthreads.prom"]
    # What the file of before counted goes on, so that the counter counts; and a card keeps its UUID.
    uuid = simulated.device_keys("s3000x2", 1)["uuid"]
    errors = {"gpu": "1", "uuid": uuid, "query": "temperature"}
    assert one(page, "mthreads_gpu_query_errors_total", code="Timeout", **errors) == 2
    assert one(page, UP, gpu="1", uuid=uuid) == 0
    # Over a reboot too, but then another card may be there, which was never identified.
    boot_into(tmp_path / "proc", monkeypatch)
    with simulated.machine("s3000x2", set="1.lost=DRIVER_FAILURE"):
        assert invoke(*arguments).status == 0
    page = read((tmp_path / "mthreads.prom").read_text())
    assert one(page, UP, gpu="1", uuid="") == 0


def boot_into(proc, monkeypatch):
    """Another boot of the machine, with an id of its own; it has these processes, and is the environment's."""
    folder = proc / "sys" / "kernel" / "random"
    folder.mkdir(parents=True, exist_ok=True)
    number = 1 + int((folder / "boot_id").read_text()) if (folder / "boot_id").exists() else 1
    (folder / "boot_id").write_text("%d\n" % number)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(proc))


def test_an_exporter_that_starts_while_a_card_is_lost(tmp_path, monkeypatch, alone):
    """It knows the card from the file of the one before, which systemd's variable or an option names, in this boot."""
    state, lost = tmp_path / "metrics.prom", "2.lost = DRIVER_FAILURE"
    monkeypatch.setenv("STATE_DIRECTORY", "%s:/nowhere" % tmp_path)
    keys = simulated.device_keys("s5000x8", 2)
    identity = {"uuid": keys["uuid"], "serial": keys["serial_number"], "name": keys["name"]}
    for arguments in (["--state", str(tmp_path / "other.prom")], []):
        boot_into(tmp_path / "proc", monkeypatch)
        alone(arguments=arguments).process.kill()
        for known in (identity, {}):
            page = read(alone(lost, arguments=arguments).text())
            assert one(page, UP, gpu="2", uuid=known.get("uuid", "")) == 0
            labels = next(labels for labels, _ in page["mthreads_gpu_info"] if labels["gpu"] == "2")
            assert {name: labels.get(name) for name in identity} == {**dict.fromkeys(identity), **known}
            assert bool(labels.get("pci_bus_id")) == bool(known)
            boot_into(tmp_path / "proc", monkeypatch)
        assert not state.exists() or not arguments


def test_a_card_that_comes_up_while_it_is_watched(alone):
    """Its identity and its memory were none at first, and are there as soon as the driver has them."""
    blank = ["uuid =", "name =", "memory_total = 0", "pci_sbdf ="]
    blank += ["pci_%s = 0" % key for key in ("segment", "bus", "device")]
    exporter = alone(*("2." + line for line in blank))
    keys = simulated.device_keys("s5000x8", 2)
    page = exporter.until(lambda page: one(page, UP, gpu="2") is not None)
    assert one(page, UP, gpu="2", uuid="") == 1 and one(page, "mthreads_health_status", check="answers") == 2
    exporter.change()
    page = exporter.until(lambda page: one(page, UP, gpu="2", uuid=keys["uuid"]) == 1)
    assert (
        one(page, "mthreads_gpu_info", gpu="2", serial=keys["serial_number"], pci_bus_id=keys["pci_sbdf"].upper()) == 1
    )
    assert one(page, "mthreads_gpu_memory_total_bytes", gpu="2") == int(keys["memory_total"])


@pytest.mark.parametrize(
    "changes, up",
    [
        (["4.uuid = " + simulated.device_keys("s5000x8", 2)["uuid"]], 1),
        (["2.%s = 0" % key for key in ("gpu_temperature", "power_usage", "gpu_clock")], 0),
    ],
    ids=["one answers for another", "zeros"],
)
def test_answers_that_cannot_be_together(changes, up, alone):
    """Each may be true by itself."""
    page = alone(*changes).until(lambda page: one(page, "mthreads_health_status", check="answers") == 2)
    assert one(page, UP, gpu="2") == up
    assert (one(page, "mthreads_gpu_power_watts", gpu="2") is None) == (not up)


def test_what_is_taken_from_the_file_of_before():
    """Of whole cards: an instance has a number of its own, and the same one."""
    page = (
        'mthreads_gpu_info{gpu="1",uuid="u",name="n",serial="s"} 1.0\n'
        'mthreads_gpu_info{gpu="1",uuid="i",instance_id="0",name="4c+16gb"} 1.0\n'
        'mthreads_gpu_info{gpu="x",uuid="u"} 1.0\n'
        'mthreads_gpu_up{gpu="1",uuid="u"} 1.0\n'
        'mthreads_gpu_query_errors_total{gpu="1",uuid="u",query="ecc",code="Timeout"} 3.0\n'
        'mthreads_gpu_query_errors_total{gpu="0",query="all",code="NoAnswer"} 2.0\n'
    )
    for before, boot, same in (("b", b"b", True), ("b", b"c", False), ("b", b"", False), ("", b"", False)):
        known, errors = metrics.earlier(page + "# boot %s\n" % before, boot)
        assert known == ({1: ["u", ["", "n", "s", "", ""]]} if same else {})
    assert errors == {(1, "u"): {("ecc", "Timeout"): 3}, (0, ""): {("all", "NoAnswer"): 2}}
    with pytest.raises(ValueError):
        metrics.earlier("mthreads_gpu_info{gpu=", b"")


def test_a_file_that_cannot_be_written_for_a_while(tmp_path, rounds):
    """A full disk may have room again: it is said, and the next collection is tried."""
    folder, away = tmp_path / "folder", tmp_path / "away"
    folder.mkdir()
    path = folder / "mthreads.txt"
    texts = []

    def see(then=lambda: None):
        texts.append(path.read_text())
        then()

    with simulated.machine("s3000x2"):
        result = rounds(
            ["metrics", "--textfile", str(path), "--interval", "7"],
            lambda: see(lambda: folder.rename(away)),
            lambda: away.rename(folder),
            see,
        )
    said = "pymtml: node_exporter only reads files that end in .prom, but %s does not\n" % path
    said += "pymtml: cannot write %s: No such file or directory\n" % path
    assert (result.status, result.stdout, result.stderr) == (0, "", said)
    moments = [one(read(text), "mthreads_collect_timestamp_seconds") for text in texts]
    assert moments[0] < moments[1] and all_up(read(texts[1]), 2)
    assert len(rounds.waited) == 3 and all(0 < seconds <= 7 for seconds in rounds.waited)


def test_the_file_that_keeps_two_runs_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # so that it is not root's own folder
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with simulated.machine("no-driver"):
        assert invoke("metrics").status == 0
    assert os.listdir(str(tmp_path)) == ["pymtml-metrics-%d.lock" % os.geteuid()]


def test_without_a_lock_it_is_said(tmp_path):
    with simulated.machine("s3000x2"):
        result = invoke("metrics", "--lock", str(tmp_path / "nowhere" / "lock"))
    words = "pymtml: cannot open %s/nowhere/lock: No such file or directory: two runs may overlap\n"
    assert (result.status, result.stderr) == (0, words % tmp_path) and "mthreads_driver_up 1.0\n" in result.stdout


@pytest.mark.parametrize(
    "text",
    ['mthreads_gpu_info{gpu="0" 1\n', 'mthreads_gpu_query_errors_total{gpu="0",query="q",code="c"} +Inf\n', "{ x"],
)
def test_a_file_of_something_else_is_replaced(tmp_path, text):
    path = tmp_path / "mthreads.prom"
    path.write_text(text)
    with simulated.machine("s3000x2"):
        result = invoke("metrics", "--textfile", str(path), "--lock", str(tmp_path / "lock"))
    said = "pymtml: %s was not a file of metrics: errors are counted from 0\n" % path
    assert (result.status, result.stdout, result.stderr) == (0, "", said)
    assert all_up(read(path.read_text()), 2)


def test_what_is_no_file_is_not_replaced(tmp_path):
    """Such as /dev/null, which root could replace: the pipe stands for it, so that a failure harms nothing."""
    folder = tmp_path / "folder"
    folder.mkdir()
    pipe = folder / "pipe.prom"
    os.mkfifo(str(pipe))
    (tmp_path / "link").symlink_to("nowhere")
    for place in (folder, tmp_path / "link"):
        with pytest.raises(CommandError, match="it exists and is not a regular file"):
            files.replace_file(str(place), b"")
    with simulated.machine("no-driver"):
        result = invoke("metrics", "--textfile", str(pipe), "--lock", str(tmp_path / "lock"))
    assert result.stderr == "pymtml: cannot write %s: it exists and is not a regular file\n" % pipe
    assert (result.status, result.stdout) == (255, "")
    assert os.listdir(str(folder)) == ["pipe.prom"] and pipe.is_fifo()


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    """By way of a file that node_exporter does not read, and whose name nobody can know before."""
    path, ways = tmp_path / "a.prom", []
    files.replace_file(str(path), b"one\n")

    def fail(way, to):
        assert to == str(path) and os.listdir(str(tmp_path)) == ["a.prom", os.path.basename(way)]
        with open(way) as file:
            assert file.read() == "two\n"
        ways.append(way)
        raise KeyboardInterrupt if len(ways) > 2 else OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(os, "listdir", lambda folder, real=os.listdir: sorted(real(folder)))
    for _ in range(2):
        with pytest.raises(CommandError, match="cannot write %s: No space left on device" % path):
            files.replace_file(str(path), b"two\n")
    with pytest.raises(KeyboardInterrupt):
        files.replace_file(str(path), b"two\n")
    assert path.read_bytes() == b"one\n" and os.listdir(str(tmp_path)) == ["a.prom"]
    assert len(set(ways)) == 3 and all(re.match(r".*/a\.prom\.[0-9a-f]{16}\.tmp$", way) for way in ways)


@pytest.mark.parametrize("plant", [os.symlink, os.link, lambda _, place: os.mkfifo(place)])
def test_what_stands_in_the_place_of_the_new_file_is_left_alone(tmp_path, monkeypatch, plant):
    """Somebody else may have put it there, in a folder in which all may write, and have guessed the name."""
    path, other = tmp_path / "a.prom", tmp_path / "other"
    other.write_bytes(b"mine\n")
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    planted = "%s.%s.tmp" % (path, "00" * 8)
    plant(str(other), planted)
    with pytest.raises(CommandError, match="File exists"):
        files.replace_file(str(path), b"text\n")
    assert other.read_bytes() == b"mine\n" and os.path.lexists(planted) and not path.exists()


def test_how_long_a_file_may_be_that_is_read_again(tmp_path):
    path = tmp_path / "a.prom"
    path.write_bytes(b"12345")
    assert [files.read(str(path), most) for most in (4, 5, 6)] == ["", "12345", "12345"]
    path.write_bytes(b"\xff5")
    os.mkfifo(str(tmp_path / "fifo"))
    assert files.read(str(path), 5) == "\ufffd5"
    assert files.read(str(tmp_path / "none")) == files.read(str(tmp_path / "fifo")) == ""


def test_two_runs_do_not_collect_at_once(tmp_path):
    """A driver that hangs must not gather a process with each round of cron."""
    lock = Lock(str(tmp_path / "lock"))
    assert lock.take(0) is None
    with simulated.machine("s3000x2"):
        result = invoke("metrics", "--lock", str(tmp_path / "lock"), "--timeout", "0.1")
    lock.leave()
    assert result.status == 0 and "mthreads_driver_up 0.0\n" in result.stdout
    said = "# The driver is not up: another run (process %d) has not ended within 0.1 seconds\n" % os.getpid()
    assert result.stdout.endswith(said) and 'mthreads_health_status{check="driver"} 2.0\n' in result.stdout
