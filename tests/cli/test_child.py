"""child: what a process that asks the driver says comes through, and nothing of it stays behind."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import types

import pytest
import simulated
from command import invoke
from inside import child, health, metrics_collector

LONG = 20  # seconds, for what takes a moment
CODE = """
import atexit, json, os, signal, sys
sys.path.insert(0, %r)
from %s import answer_parent
def work(wanted, send):
    %%s
answer_parent(sys.argv[1:], work)
""" % (simulated.ROOT, child.answer_parent.__module__)


@pytest.fixture
def started(monkeypatch):
    """Starts children that do something of their own."""
    children = []

    def start(work, wanted=None, system="posix", **options):
        code = CODE % work.replace("\n", "\n    ")
        monkeypatch.setattr(
            child, "command", lambda _, request: [sys.executable, "-c", code, child.CHILD_OPTION, json.dumps(request)]
        )
        with monkeypatch.context() as patched:
            patched.setattr(os, "name", system)
            children.append(child.Child("module", wanted or {}, **options))
        return children[-1]

    yield start
    for one in children:
        one.stop()


def said(one):
    """All messages of a child (list)."""
    return list(one.messages(time.monotonic() + LONG))


# With pipes that can be waited for, and without
SYSTEMS = pytest.mark.parametrize("system", ["posix", "nt"])


def open_files():
    return set(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="only there a process sees which files it has open")
@SYSTEMS
def test_no_file_stays_open(system, started, monkeypatch):
    """Once the end was read, also where a file takes its time to close."""
    reading = child.Child._read

    class Slow:
        def __init__(self, stream):
            self.readline, self._stream = stream.readline, stream

        def close(self):
            time.sleep(0.2)
            self._stream.close()

    monkeypatch.setattr(child.Child, "_read", lambda one, stream: reading(one, Slow(stream)))
    before = open_files()
    one = started("send('one', 1)", system=system, listens=True)
    assert said(one) == [["one", 1], ["end", None]]
    one.stop()
    for listener in one._listeners:
        listener.join(LONG)
    assert open_files() <= before
    with pytest.raises(ValueError):
        started("\0", system=system)
    assert open_files() <= before


NOISE = """
os.write(1, b"[\\"noise\\", 1]\\n")
send("one", wanted["what"])
os.write(1, b"and more\\n")
send("two", sys.stdin.read())
"""


@SYSTEMS
def test_answers_come_through_and_what_the_driver_prints_does_not(system, started):
    """Answers are ASCII, whatever is in them; the child of a parent that tells nothing has nothing to read."""
    one = started(NOISE, {"what": ["中", None, 1.5]}, system)
    assert said(one) == [["one", ["中", None, 1.5]], ["two", ""], ["end", None]]
    assert one.failure(LONG) == "the check ended with status 0: and more"


@SYSTEMS
def test_a_child_that_listens(system, started):
    one = started("for line in sys.stdin: send('heard', json.loads(line))", system=system, listens=True)
    one.send({"a": "中"})
    messages = one.messages(time.monotonic() + LONG)
    assert next(messages) == ["heard", {"a": "中"}] and not one.ended
    one.send([1])
    assert next(messages) == ["heard", [1]]
    one.stop()
    assert one.ended


@pytest.mark.parametrize("variables, value", [(None, "before"), ({"PYMTML_TEST": "after"}, "after")])
def test_variables_of_a_child(variables, value, started, monkeypatch):
    monkeypatch.setenv("PYMTML_TEST", "before")
    one = started("send('has', [os.environ['PYMTML_TEST'], 'PATH' in os.environ])", environment=variables)
    assert said(one) == [["has", [value, True]], ["end", None]]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="only there a process sees which files another has open")
@pytest.mark.parametrize("part, subcommand", [(health, "health"), (metrics_collector, "metrics")])
def test_a_child_holds_the_lock(part, subcommand, tmp_path, monkeypatch):
    """As long as it hangs, whatever becomes of its parent."""
    held, path = [], str(tmp_path / "lock")

    def start(*arguments, **options):
        one = child.Child(*arguments, **options)
        held.extend(os.path.samefile("/proc/%d/fd/%d" % (one.pid, file), path) for file in arguments[2])
        return one

    monkeypatch.setattr(part, "Child", start)
    with simulated.machine("s80"):
        assert invoke(subcommand, "--lock", path).status == 0
    assert held == [True]


@pytest.mark.parametrize(
    "work, failure",
    [
        ("os._exit(3)", "with status 3: no output"),
        ("os.write(2, b'first\\n \\xd6\\x1b \\n\\n'); os._exit(0)", "with status 0: \ufffd\\x1b"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "by signal 9: no output"),
    ],
)
def test_why_a_child_has_ended(work, failure, started, monkeypatch):
    """Its last words are waited for, which a thread of their own may still be reading."""

    def in_background(function, *arguments, real=child._in_background):
        if function.__name__ == "_read":
            return real(function, *arguments)
        return types.SimpleNamespace(join=lambda timeout: function(*arguments))

    monkeypatch.setattr(child, "_in_background", in_background)
    one = started(work)
    assert said(one) == [] and one.failure(LONG) == "the check ended " + failure


def test_a_child_that_does_not_answer(started):
    one = started("send('first', 1)\nsys.stdin.read()", listens=True)
    messages = one.messages(time.monotonic() + LONG)
    assert next(messages) == ["first", 1]
    assert list(one.messages(time.monotonic())) == []
    assert one.failure(1.5) == "no answer within 1.5 seconds" and not one.ended
    one.stop()
    assert one.ended


def test_what_asks_in_the_background_does_not_keep_a_program():
    called = threading.Event()
    thread = child._in_background(called.set)
    thread.join(LONG)
    assert thread.daemon and called.is_set()


@pytest.mark.parametrize("now, seconds", [(5.0, 2.5), (7.5, 0), (9.0, 0)])
def test_how_long_an_answer_is_waited_for(now, seconds, monkeypatch, started):
    """Until the moment that is given, which may be over."""
    waited = []

    def get(timeout):
        waited.append(timeout)
        raise queue.Empty

    one = started("pass")
    monkeypatch.setattr(child, "time", types.SimpleNamespace(monotonic=lambda: now))
    one._answers = types.SimpleNamespace(get=get, put=lambda line: None)
    assert list(one.messages(7.5)) == [] and waited == [seconds]


WRITES = "send('one', 1)\nos.write(wanted['channel'], %r.replace(b'TOKEN', wanted['token'].encode()))\nsend('two', 2)"


@pytest.mark.parametrize(
    "text",
    [
        b'["two", 2]\n',
        b'token ["two", 2]\n',
        b"\xff\xfe\n",
        b"\n",
        b"no line end",
        b"TOKEN \n",
        b"TOKEN {\n",
        b"TOKEN " + b"[" * 20000 + b"\n",
    ],
)
def test_what_is_no_message_is_no_answer(text, started):
    """A driver may write where it should not; nobody knows which answer stood there."""
    one = started(WRITES % text)
    assert said(one) == [["one", 1]]
    assert one.failure(LONG) == "no readable answer: something else writes to the same stream"


def test_a_message_that_has_no_end(started, monkeypatch):
    monkeypatch.setattr(child, "LONGEST_MESSAGE", 1000)
    assert said(started("os.write(wanted['channel'], b'x' * 1000)\nsys.stdin.read()", listens=True)) == []
    one = started("send('one', 1)\nos.write(wanted['channel'], wanted['token'].encode() + b' [1')\nos._exit(3)")
    assert said(one) == [["one", 1]] and one.failure(LONG) == "the check ended with status 3: no output"


def test_a_child_without_threads_to_hear_it(started, monkeypatch):
    """Where no more can be started (RLIMIT_NPROC, pids.max), it cannot be started either, and none of it stays."""
    processes = []

    def fail(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(
        subprocess, "Popen", lambda *of, real=subprocess.Popen, **by: processes.append(real(*of, **by)) or processes[-1]
    )
    monkeypatch.setattr(threading.Thread, "start", fail)
    with pytest.raises(OSError, match="can't start new thread"):
        started("sys.stdin.read()", listens=True)
    assert processes[0].poll() is not None


def test_how_a_child_is_started():
    """By this Python, with nothing of the current folder or of variables."""
    assert child.command("health", {"a": 1}) == [
        sys.executable,
        "-I",
        "-c",
        child._BOOT % "dispatch(sys.argv[1:])",
        simulated.ROOT,
        "health",
        "--answer-to-the-parent",
        '{"a": 1}',
    ]


def run_child(work, **wanted):
    """A child that is started as any process may be (CompletedProcess)."""
    request = json.dumps(dict({"parent": os.getpid(), "channel": child.STANDARD_OUTPUT, "token": "t"}, **wanted))
    return simulated.run([sys.executable, "-c", CODE % work, child.CHILD_OPTION, request])


def test_a_child_ends_without_what_the_driver_does_at_the_end():
    result = run_child("atexit.register(os.write, 2, b'the end'); send('one', 'é')")
    assert (result.returncode, result.stdout, result.stderr) == (0, 't ["one", "\\u00e9"]\nt ["end", null]\n', "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel ends the child on Linux alone")
def test_a_child_whose_parent_is_gone_does_not_ask():
    result = run_child("send('one', 1)", parent=os.getpid() + 1)
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel ends the child on Linux alone")
def test_the_signal_that_a_child_gets_when_its_parent_ends(started):
    """The one that a driver which hangs cannot hold back."""
    asked = "import ctypes; told = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(told))"
    assert said(started(asked + "; send('signal', told.value)"))[0] == ["signal", int(signal.SIGKILL)]
