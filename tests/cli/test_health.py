"""health: a line and an exit status for each thing that a scheduler must know, also of a driver that hangs."""

import calendar
import json
import os
import re
import signal
import subprocess
import sys
import time
import types

import pytest
import simulated
from command import COMMAND, command_environment, invoke
from inside import Lock, checks, child, default_path, health, limits, lock


@pytest.fixture(autouse=True)
def proc(tmp_path, monkeypatch):
    """A proc file system in which everything can be seen."""
    (tmp_path / "proc" / "1" / "fd").mkdir(parents=True)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "proc"))


@pytest.fixture
def check(tmp_path):
    """Runs health on a machine, apart from what else runs here (Result)."""

    def run(*arguments, profile="s3000x2", **machine):
        with simulated.machine(profile, **machine):
            return invoke("health", "--lock", str(tmp_path / "lock"), *arguments)

    return run


def not_well(result):
    """Lines that are neither well nor not told."""
    return [line for line in result.lines if not line.startswith(("OK", "N/A", "NOTE"))]


# ---- The child ----


def test_a_driver_that_hangs_before_it_counts_cards(check, monkeypatch):
    began, messages, limits_given = time.monotonic(), child.Child.messages, []

    def until(self, deadline):
        limits_given.append(deadline - time.monotonic())
        return messages(self, deadline)

    monkeypatch.setattr(child.Child, "messages", until)
    result = check("--timeout", "0.5", faults="", latency_ns=10**11)
    assert (result.status, result.lines) == (2, ["CRITICAL driver: no answer within 0.5 seconds"])
    assert limits_given[0] <= 0.5 and time.monotonic() - began < 60


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef int (*query)(void *, void *);
static int asked, cards;
int mtmlDeviceGetUUID(void *device, char *text, unsigned int length)
{
    typedef int (*query_text)(void *, char *, unsigned int);
    if (!strcmp(getenv("SHIM"), "hang at once") && cards++ == 2) /* the third card, before any check */
        sleep(600);
    return ((query_text)dlsym(RTLD_NEXT, "mtmlDeviceGetUUID"))(device, text, length);
}
int mtmlGpuGetTemperature(void *gpu, void *value)
{
    static void *before;
    const char *what = getenv("SHIM");
    asked += gpu != before;
    before = gpu;
    if (!strcmp(what, "noise")) {
        for (int line = 0; line < 2000; line++) /* more than a pipe holds that nobody reads */
            printf("a line on stdout\n{\"status\": \"OK\"}\n");
        fflush(stdout);
        (void)!write(2, "\xd6\xd0\xce\xc4\n", 5); /* GBK */
    } else if (asked == 3) { /* the third card */
        if (!strcmp(what, "hang"))
            sleep(600);
        if (!strcmp(what, "exit"))
            exit(0);
        if (!strcmp(what, "scribble")) /* into files that are not its own */
            for (int file = 3; file < 40; file++)
                (void)!write(file, "[\"end\", null]\n", 14);
        if (!strcmp(what, "abort")) {
            (void)!write(2, "driver: \x1b[31mbug\n", 17);
            abort();
        }
    }
    return ((query)dlsym(RTLD_NEXT, "mtmlGpuGetTemperature"))(gpu, value);
}
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """A library that does one thing of its own, by the variable SHIM, and is the simulator else."""
    return simulated.shim(tmp_path_factory.mktemp("shim"), SHIM)


@pytest.fixture
def shimmed(check, shim, monkeypatch):
    def run(what, *arguments):
        monkeypatch.setenv("PYMTML_LIBRARY", shim)
        monkeypatch.setenv("SHIM", what)
        return check(*arguments, profile="s5000x8")

    return run


def test_what_the_driver_prints_changes_nothing(shimmed):
    quiet, noisy = shimmed("nothing"), shimmed("noise")
    assert (noisy.status, noisy.stdout, noisy.stderr) == (quiet.status, quiet.stdout, "")
    assert json.loads(shimmed("noise", "--json").stdout)["status"] == "WARNING"


@pytest.mark.parametrize(
    "arguments", [["capture"], ["--query-gpu=index,temperature.gpu", "--format=csv"], ["dmon", "-c", "1"]], ids=" ".join
)
def test_what_the_driver_prints_is_in_no_answer(shim, arguments):
    """It is on stderr; stdout is the command's."""

    def said(what):
        extra = {"PYMTML_LIBRARY": shim, "SHIM": what}
        env = command_environment(name="s3000x2", extra_environment=extra)
        return simulated.run(COMMAND + arguments, env=env, errors="replace")

    quiet, noisy = said("nothing"), said("noise")
    times = re.compile(r"\d\d:\d\d:\d\d(\.\d+)?")
    assert times.sub("", noisy.stdout) == times.sub("", quiet.stdout)
    assert noisy.returncode == quiet.returncode == 0
    assert "a line on stdout" in noisy.stderr and quiet.stderr == ""


@pytest.mark.parametrize(
    "what, check_name, words",
    [
        ("hang at once", "answers", "no answer within 6.5 seconds"),
        ("hang", "temperature", "no answer within 6.5 seconds"),
        ("exit", "temperature", "the check ended with status 0: no output"),
        ("scribble", "temperature", "no readable answer: something else writes to the same stream"),
        ("abort", "temperature", "the check ended by signal 6: driver: \\x1b[31mbug"),
    ],
)
def test_the_card_at_which_the_driver_falls_silent_has_a_name(what, check_name, words, shimmed):
    result = shimmed(what, "--timeout", "6.5" if "hang" in what else "30", "--skip", "pages,ecc")
    silent = "CRITICAL %s: GPU 2: %s" % (check_name, words)
    assert result.status == 2 and [line for line in result.lines if line.startswith("CRITICAL")] == [silent]
    assert "OK       temperature: GPU 0-1: temperature is below the limit" in result.lines
    assert "N/A      processes: GPU 2: not queried, because GPU 2 does not answer" in result.lines
    assert "N/A      answers: GPU 3-7: not queried, because GPU 2 does not answer" in result.lines
    assert not [line for line in result.lines if line.startswith("OK") and "GPU 3" in line or "pages" in line]
    if what == "exit":
        found = json.loads(shimmed(what, "--json").stdout)["findings"]
        (one,) = [one for one in found if one["level"] == "CRITICAL"]
        uuid = simulated.device_keys("s5000x8", 2)["uuid"]
        assert (one["gpu"], one["uuid"], one["check"], one["limit"]) == (2, uuid, "temperature", None)


def test_cards_that_differ_are_found_by_all_who_check(check, tmp_path):
    """A power limit of one card of eight, and its ECC."""
    machine = dict(profile="s5000x8", set="2.enforced_power_limit=200000;5.ecc_mode=DISABLE;*.retired_pages_pending=no")
    result = check(**machine)
    power, ecc = (
        "power limit is 200 W; other cards of this name have 950 W",
        "ECC is off; other cards of this name have it on",
    )
    assert result.status == 1 and "WARNING  power: GPU 2: " + power in result.lines
    assert "WARNING  ecc: GPU 5: %s: `pymtml -i GPU -e 1` turns it on" % ecc in result.lines
    (one,) = [one for one in json.loads(check("--json", **machine).stdout)["findings"] if one["text"] == power]
    assert (one["gpu"], one["value"], one["limit"]) == (2, 200, 950) and one["uuid"]
    with simulated.machine(**dict(machine, name=machine.pop("profile"))):
        said = invoke("doctor").lines
        page = invoke("metrics", "--lock", str(tmp_path / "lock")).lines
    assert "warn  power      GPU 2: " + power in said and "warn  ecc        GPU 5: " + ecc in said
    assert 'mthreads_health_status{check="power"} 1.0' in page and 'mthreads_health_status{check="ecc"} 1.0' in page


def test_a_card_that_hangs_where_its_first_check_is_left_out():
    cards = [(0, "uuid 0", "bus 0"), (1, "uuid 1", "bus 1"), (2, None, None)]
    found = health._unanswered((1, "answers"), cards, {"checks": ("driver", "pages")}, "no answer")
    assert [one[:5] for one in found] == [("answers", "CRITICAL", 1, "uuid 1", "bus 1"), ("answers", "N/A") + cards[2]]


@pytest.mark.parametrize(
    "code, line", [("TIMEOUT", "CRITICAL driver: version: Timeout"), ("NOT_SUPPORTED", "OK       driver: answers")]
)
def test_a_driver_that_does_not_tell_its_version(check, code, line):
    """One that fails to is not well; one that never does is."""
    result = check(faults="mtmlSystemGetDriverVersion=" + code)
    assert (result.lines[0], result.status) == (line, 2 if code == "TIMEOUT" else 0)
    report = json.loads(check("--json", faults="mtmlSystemGetDriverVersion=" + code).stdout)
    assert (report["driver"], report["library"]) == (None, "2.2.0-simulator")


def children(pid):
    """Numbers of the processes that a process started."""
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(number) for number in file.read().split()]


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel ends the child on Linux alone")
@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGKILL", "SIGINT"])
def test_no_child_stays_behind(tmp_path, signal_name):
    command = subprocess.Popen(
        COMMAND + ["health", "--timeout", "60", "--lock", str(tmp_path / "lock")],
        env=command_environment(profile="s3000x2", latency_ns=10**11),
    )
    wait_until(lambda: children(command.pid))
    (child,) = children(command.pid)
    wait_until(lambda: "libmtml" in _file(child, "maps"))  # it has begun to ask
    command.send_signal(getattr(signal, signal_name))
    command.wait(60)
    assert command.returncode == -getattr(signal, signal_name)
    wait_until(lambda: _file(child, "stat").rpartition(")")[2].split()[:1] in ([], ["Z"], ["X"]))


def _file(pid, name):
    """What the kernel says of a process, or nothing."""
    try:
        with open("/proc/%d/%s" % (pid, name)) as file:
            return file.read()
    except OSError:
        return ""


def test_without_a_lock_there_is_a_note(tmp_path):
    with simulated.machine("s3000x2"):
        result = invoke("health", "--lock", str(tmp_path / "nowhere" / "lock"))
    lock = str(tmp_path / "nowhere" / "lock")
    note = "NOTE     driver: cannot open %s: No such file or directory: two checks may run at once" % lock
    assert (result.status, result.lines[:2]) == (0, [note, "OK       driver: answers"])


def test_the_lock_of_who_names_none(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with simulated.machine("s80"):
        assert invoke("health").status == 0
    assert [path.name for path in tmp_path.iterdir() if path.name != "proc"] == ["pymtml-health-%d.lock" % os.geteuid()]


def test_another_check_that_goes_on(check, tmp_path):
    lock = Lock(str(tmp_path / "lock"))
    assert lock.take(0) is None
    result = check("--timeout", "0.1", "--json")
    lock.leave()
    (one,) = json.loads(result.stdout)["findings"]
    text = "another check (process %d) has not ended within 0.1 seconds" % os.getpid()
    none = dict.fromkeys(("gpu", "uuid", "bus_id", "value"))
    expected = dict(none, check="driver", level="CRITICAL", limit=0.1, text=text, asked=True, advice=None)
    expected.update(status="CRITICAL", gpus=[])
    assert (result.status, one) == (2, expected)


def test_a_lock_of_somebody_else_is_not_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "lock"
    path.write_text("")
    monkeypatch.setattr(os, "geteuid", lambda real=os.geteuid(): real + 1)
    lock = Lock(str(path))
    assert lock.failure == "%s belongs to another user" % path
    assert lock.descriptor is None and lock.take(0) is None
    (tmp_path / "link").symlink_to(path)
    assert Lock(str(tmp_path / "link")).failure.startswith("cannot open %s: " % (tmp_path / "link"))


def test_a_lock_that_is_a_file_of_somebody_is_left_alone(tmp_path):
    """Others may put a link to it into a folder that all may write."""
    path, other = tmp_path / "lock", tmp_path / "file"
    other.write_text("what somebody has written\n")
    os.link(str(other), str(path))
    os.mkfifo(str(tmp_path / "pipe"))
    for name in (path, tmp_path / "pipe"):
        lock = Lock(str(name))
        assert lock.failure == "%s is not a regular file, or has another name as well" % name
        assert lock.take(0) is None and other.read_text() == "what somebody has written\n"


def test_what_is_in_the_file_of_a_lock(tmp_path):
    path = tmp_path / "lock"
    path.write_text("12345678901234567890\n")
    path.chmod(0o600)
    first, second = Lock(str(path)), Lock(str(path))
    assert first.failure is None and first.take(0) is None
    assert path.read_text() == "%d\n" % os.getpid()
    assert second.take(0) == " (process %d)" % os.getpid()
    path.write_text("")
    assert second.take(0) == ""
    path.write_bytes(b"\x1b[31m\xff" + b"x" * 99)
    assert second.take(0) == " (process \\x1b[31m\ufffd%s)" % ("x" * 14)
    first.leave()
    assert first.descriptor is None and second.take(0) is None
    second.leave()
    before = os.umask(0)
    new = Lock(str(tmp_path / "new"))
    os.umask(before)
    assert os.stat(str(tmp_path / "new")).st_mode & 0o777 == 0o600
    assert not os.get_inheritable(new.descriptor)
    new.leave()


def test_how_a_lock_is_waited_for(tmp_path, monkeypatch):
    """It is tried again after each pause, until the time is over."""
    pauses, times = [], iter([1.0, 2.0, 2.0, 2.25, 2.5, 3.0, 3.0])
    monkeypatch.setattr(lock, "time", types.SimpleNamespace(monotonic=times.__next__, sleep=pauses.append))
    first, second = Lock(str(tmp_path / "lock")), Lock(str(tmp_path / "lock"))
    assert first.take(0.5) is None and pauses == []
    assert second.take(0.5) == " (process %d)" % os.getpid() and pauses == [lock.PAUSE] * 2
    monkeypatch.setattr(lock.time, "sleep", lambda seconds: first.leave())
    assert second.take(0.5) is None
    second.leave()


@pytest.mark.parametrize(
    "user, run, folder, path",
    [
        (0, True, None, "/run/pymtml-%s.lock"),
        (0, False, None, "/tmp/pymtml-%s-0.lock"),
        (4711, True, None, "/tmp/pymtml-%s-4711.lock"),
        (4711, True, "/var/tmp", "/var/tmp/pymtml-%s-4711.lock"),
    ],
)
def test_where_a_lock_is(user, run, folder, path, monkeypatch):
    """In a folder of root's own for root, as somebody else may hold what lies in /tmp."""
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(os, "access", lambda place, mode: (place, mode, run) == ("/run", os.W_OK, True))
    monkeypatch.delenv("TMPDIR", raising=False)
    if folder is not None:
        monkeypatch.setenv("TMPDIR", folder)
    assert (default_path(), default_path("metrics")) == (path % "health", path % "metrics")


@pytest.mark.parametrize(
    "executable, why",
    [
        ("", "(No such file or directory|Permission denied)"),
        ("/nowhere/python", "No such file or directory(: '/nowhere/python')?"),  # 3.7 names it
        ("nul\0", "embedded null byte"),
    ],
)
def test_a_check_that_cannot_start_is_critical(check, monkeypatch, executable, why):
    monkeypatch.setattr(sys, "executable", executable)
    result = check()
    assert (result.status, result.stderr) == (2, "")
    assert re.match("CRITICAL driver: cannot start the check: %s\n$" % why, result.stdout)


@pytest.mark.skipif(os.name != "posix", reason="only there a process can be held to few files")
def test_too_few_files_are_never_ok(tmp_path):
    command = COMMAND + ["health", "--lock", str(tmp_path / "lock")]
    for files in (5, 8, 13):  # with 5, Python 3.14 cannot even load the subcommand: 255
        result = simulated.run(
            ["sh", "-c", 'ulimit -n %d; exec "$@"' % files, "sh"] + command, env=command_environment(name="s3000x2")
        )
        assert "Traceback" not in result.stderr, files
        well = result.returncode == 0 and "OK       temperature" in result.stdout
        assert well or result.returncode in (2, 255), files


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a thread takes a stack of that size there")
@pytest.mark.parametrize(
    "arguments", [["health"], ["metrics"], ["metrics", "--listen", "0", "--interval", "0.1"]], ids=" ".join
)
def test_no_thread_can_be_started(arguments, tmp_path):
    """As under RLIMIT_NPROC and pids.max: it is said in a line, and never "degraded"."""
    result = simulated.run(
        ["sh", "-c", 'ulimit -s 4000000 && ulimit -v 1000000 || exit 77; exec "$@"', "sh"]
        + COMMAND
        + arguments
        + ["--state" if "--listen" in arguments else "--lock", str(tmp_path / "lock")],
        env=command_environment(name="s3000x2"),
    )
    if result.returncode == 77:
        pytest.skip("limits cannot be set here")
    said = "%s: can't start new thread\n"
    if arguments[0] == "health":
        assert (result.stdout, result.stderr) == ("CRITICAL driver: " + said % "cannot start the check", "")
    else:
        what = "cannot serve" if "--listen" in arguments else "cannot start the collecting process"
        assert (result.stdout, result.stderr) == ("", "pymtml: " + said % what)
    assert result.returncode == 2


def test_a_frozen_program_starts_itself(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    command = child.command("health", {"a": 1})
    assert command[:3] == [sys.executable, "health", child.CHILD_OPTION] and json.loads(command[3]) == {"a": 1}
    monkeypatch.setattr(
        child, "command", lambda _, request: [sys.executable, "-m", "pymtml"] + command[1:3] + [json.dumps(request)]
    )
    with simulated.machine("s3000x2"):
        report = health.examine({"expect": 2, "limits": limits(), "checks": ["devices", "memory"]}, 20)
    assert report.findings[1].level == "OK"


# ---- Options ----


def test_the_time_and_the_host_of_a_report(check):
    report = json.loads(check("--json").stdout)
    written = calendar.timegm(time.strptime(report["time"], "%Y-%m-%dT%H:%M:%SZ"))
    assert abs(written - time.time()) < 120 and report["host"] == os.uname()[1]


def test_checks_can_be_left_out(check):
    assert check("--expect", "3", "--skip", "devices,links").status == 0
    result = check("--skip", "temperature,pcie")
    assert not [line for line in result.lines if "temperature" in line or "pcie" in line]


@pytest.mark.parametrize("value", ["inf", "nan", "1e300", "1e10", "0", "-1", "0.0", "", "²", "9" * 5000, "10s"])
def test_times_that_cannot_be(check, value):
    refused(check("--timeout=" + value), "argument --timeout: ")


def refused(result, words):
    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("pymtml: " + words)


MOST = 10**15 - 1  # of what is counted
RANGES = {
    "max-temperature": (1, 1000),
    "max-memory-temperature": (1, 1000),
    "max-ecc-errors": (0, MOST),
    "max-aggregate-ecc-errors": (0, MOST),
    "max-retired-pages": (0, MOST),
    "max-pcie-replays": (0, MOST),
    "min-pcie-generation": (1, 100),
    "max-idle-power": (1, 1000),
    "max-idle-memory": (1, 100),
    "xid-hours": (1, 8760),
}


@pytest.mark.parametrize("name", sorted(checks.LIMITS))
def test_what_a_limit_may_be(name, tmp_path):
    """On the command line as in a file: degrees and percent from 1 on, counts from 0 on."""
    least, most = RANGES[name]
    file = tmp_path / "limits"
    for value in (least, most):
        options = health.parser().parse_args(["--%s=%d" % (name, value)])
        assert getattr(options, name.replace("-", "_")) == value
        file.write_text("%s = %d" % (name, value))
        assert health.read_limits(str(file))[name] == value
    words = "%s must be a whole number from %d to %d" % (name, least, most)
    for value in (least - 1, most + 1):
        refused(invoke("health", "--%s=%d" % (name, value)), "argument --%s: " % name)
        file.write_text("%s = %d" % (name, value))
        result = invoke("health", "--limits", str(file))
        assert (result.status, result.stdout, result.stderr) == (2, "", "pymtml: %s:1: %s\n" % (file, words))


def test_limits_of_a_file(check, tmp_path):
    file = tmp_path / "limits"
    file.write_text("# ours\nmax-temperature = 40  # degrees\n\nmax-pcie-replays=5\n")
    result = check("--limits", str(file), set="0.gpu_temperature=40;1.gpu_temperature=39;1.pcie_replay_counter=6")
    assert not_well(result) == [
        "CRITICAL temperature: GPU 0: 40 C; the limit is 40 C",
        "WARNING  pcie: GPU 1: PCIe replays: 6; the limit is 5",
    ]
    stricter = "--limits", str(file), "--max-temperature", "41", "--max-pcie-replays", "0"
    result = check(*stricter, set="*.gpu_temperature=40;1.pcie_replay_counter=1")
    assert not_well(result) == ["WARNING  pcie: GPU 1: PCIe replays: 1; the limit is 0"]


def test_a_file_of_limits_that_cannot_be(tmp_path):
    """A pipe would be waited for, and a device may have no end."""
    file = tmp_path / "limits"
    for line, words in (
        ("nix = 1", "%s:2: no limit 'nix'; the limits are max-temperature, "),
        ("= 1", "%s:2: no limit ''; the limits are "),
        ("max-temperature = hot", "%s:2: max-temperature must be a whole number from 1 to 1000\n"),
        ("max-temperature", "%s:2: max-temperature must be a whole number from 1 to 1000\n"),
        ("max-temperature = 40 #".ljust(65536, "x"), "%s is not a file of limits: it is longer than 65536 bytes\n"),
    ):
        file.write_text("\n" + line)
        refused(invoke("health", "--limits", str(file)), words % file)
    file.write_text("\n" + line[:-1])
    assert health.read_limits(str(file))["max-temperature"] == 40
    file.write_bytes(b"max-temperature = \xff\n")
    refused(invoke("health", "--limits", str(file)), "cannot read %s: 'utf-8' codec can't decode byte 0xff" % file)
    os.mkfifo(str(tmp_path / "pipe"))
    for path in (str(tmp_path / "pipe"), str(tmp_path), "/dev/zero"):
        refused(invoke("health", "--limits", path), "cannot read %s: it is not a regular file\n" % path)


@pytest.mark.parametrize(
    "option, wrong, right", [("--timeout", ["0.09", "86400.1"], ["0.1", "86400"]), ("--expect", ["10001"], ["10000"])]
)
def test_the_least_and_the_most(option, wrong, right):
    for value in wrong:
        refused(invoke("health", option, value), "argument %s: " % option)
    for value in right:
        assert float(value) in vars(health.parser().parse_args([option, value])).values()
