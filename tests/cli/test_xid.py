"""XIDs, from the driver's record on: `pymtml xid`, the check of health, the series of metrics, and resets.

The records are written as in genuine bytes of driver 3.0.0; the file that it keeps, only as its headers suggest.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import types

import pytest
import simulated
from command import COMMAND, driver_tree, invoke
from inside import checks, driver, limits, metrics_collector, xid
from mtml_simulator import driver_files
from mtml_simulator.driver_files import event_record, event_report

import pymtml

NOW = 1794000000  # of the clock that the command sees
HOUR = 3600
TRAP = {"xid": 0x05000002, "text": "trap", "pid": 4242}
PAGE_FAULT = {"xid": 0x01000003, "scope": "process", "pid": 77}


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """The root of a proc file system in which everything can be seen; nothing was reset."""
    (tmp_path / "1" / "fd").mkdir(parents=True)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    monkeypatch.setattr(driver, "RESETS", str(tmp_path / "resets"))
    monkeypatch.setenv("TZ", "UTC-8")
    time.tzset()
    yield tmp_path
    monkeypatch.undo()
    time.tzset()


def recorded(proc, *records, card=1):
    """Let the driver have these records of a card of two."""
    content = {0: event_report(), 1: event_report()}
    content[card] = event_report([event_record(**one) if isinstance(one, dict) else one for one in records])
    driver_tree(proc, 2, status=driver_files.status(counts={}), event_report=content)


def run(*arguments, profile="s3000x2", **machine):
    with simulated.machine(profile, **machine):
        return invoke(*arguments)


# ---- The command ----


def test_the_records_of_all_cards_in_order(proc):
    link = {"xid": 0x07000001, "severity": "warn", "text": "\0\0port 3\x1b[2J down", "seconds": NOW + 60}
    unknown = {"xid": 0x7F00ABCD, "severity": 5, "scope": 6, "seconds": NOW + 120}
    recorded(proc, unknown, link)
    first = event_record(seconds=NOW + 90, **TRAP)
    (proc / "driver" / "musa" / "gpu00" / "event_report").write_bytes(first)
    result = run("xid")
    assert (result.status, result.stderr) == (0, "")
    head, *rows = [line.split() for line in result.lines]
    assert head == ["time", "gpu", "xid", "name", "severity", "scope", "pid", "text"]
    assert rows == [
        ["2026-11-07", "05:21:00", "1", "7000001", "MTLINK_XID_LINK_DOWN", "warn", "gpu", "-"]
        + ["port", "3\\x1b[2J", "down"],
        ["2026-11-07", "05:21:30", "0", "5000002", "gpu_bios_trap", "fatal", "gpu", "4242", "trap"],
        ["2026-11-07", "05:22:00", "1", "7f00abcd", "-", "5", "6", "-"],
    ]
    assert [line.split()[3] for line in run("xid", "-i", "1").lines[1:]] == ["7000001", "7f00abcd"]
    wrong = run("xid", "-i", "2")
    assert (wrong.status, wrong.stderr) == (6, "pymtml: there is no card 2; pymtml -L lists cards 0 to 1\n")


def test_the_document(proc):
    recorded(proc, dict(TRAP, seconds=NOW), b"\1" * 256)
    document = json.loads(run("xid", "--json").stdout)
    (one,) = document.pop("xids")
    keys = simulated.device_keys("s3000x2", 1)
    assert one == {
        "time": "2026-11-06T21:20:00Z",
        "gpu": 1,
        "uuid": keys["uuid"],
        "bus_id": keys["pci_sbdf"].upper(),
        "directory": "gpu01",
        "xid": "5000002",
        "name": "gpu_bios_trap",
        "meaning": "trap in the firmware",
        "severity": "fatal",
        "scope": "gpu",
        "pid": 4242,
        "text": "trap",
    }
    assert document.pop("not_understood") == 1 and document["schema"] == 2
    assert set(document) == {"schema", "pymtml_version", "library_version", "driver_version", "host", "time"}
    machine = simulated.profile("s3000x2")["machine"]
    assert {key: document[key] for key in machine if key in document} == machine


@pytest.mark.parametrize("machine", [{"profile": "no-driver"}, {"faults": "", "latency_ns": 10**11}])
def test_where_mtml_does_not_answer(machine, proc, monkeypatch):
    """Cards are named by their directories; nobody can say which is -i 1."""
    monkeypatch.setattr(xid, "ANSWER_SECONDS", 1)
    recorded(proc, dict(TRAP, seconds=NOW))
    result = run("xid", **machine)
    assert [line.split()[2:4] for line in result.lines[1:]] == [["gpu01", "5000002"]]
    assert result.stderr.startswith("pymtml: cards are named by their directories, as MTML does not report") == 1
    assert run("xid", "-i", "1", **machine).status == 255


def test_where_there_are_no_records(proc):
    recorded(proc)
    assert len(run("xid").lines) == 1 and json.loads(run("xid", "--json").stdout)["xids"] == []
    old = b"\2\0\0\0\1\0\0\0LINK" + b"\0" * 116  # as driver 2.7.0
    driver_tree(proc, 2, event_report={0: event_report(), 1: old})
    result = run("xid")
    assert (len(result.lines), result.status, result.stderr) == (1, 0, "pymtml: 1 record is not understood\n")
    text = "pymtml: the driver's XID records are unavailable: %s; `pymtml doctor` shows more\n"
    driver_tree(proc, 2, event_report=old)
    for arguments in ((), ("--json",), ("-f",)):
        result = run("xid", *arguments)
        assert (result.status, result.stdout, result.stderr) == (3, "", text % "no XID among them is understood")
    for number in range(2):
        os.unlink(str(proc / "driver" / "musa" / ("gpu%02x" % number) / "event_report"))
    result = run("xid")
    assert (result.status, result.stdout, result.stderr) == (3, "", text % "not there")


def test_following(proc):
    """Old ones first, then new ones, each once: of a ring that drops its oldest, and of two that are equal."""
    old = [dict(TRAP, seconds=NOW + number) for number in range(50)]
    recorded(proc, *old)
    environment = dict(simulated.environment("s3000x2"), PYMTML_PROC_ROOT=str(proc))
    child, table = [
        subprocess.Popen(
            COMMAND + ["xid", "-f"] + more, env=environment, stdout=subprocess.PIPE, universal_newlines=True
        )
        for more in (["--json"], [])
    ]
    try:
        assert len(json.loads(child.stdout.readline())["xids"]) == 50
        assert [table.stdout.readline().split()[-1] for _ in range(51)][0] == "text"
        new = [dict(PAGE_FAULT, seconds=NOW + 99)] * 2
        recorded(proc, *old[2:], *new)
        found = json.loads(child.stdout.readline())["xids"]
        assert [one["xid"] for one in found] == ["1000003"] * 2
        assert [table.stdout.readline().split()[3] for _ in range(2)] == ["1000003"] * 2  # without another head
        recorded(proc, *old[3:], *new, new[0])
        assert len(json.loads(child.stdout.readline())["xids"]) == 1
    finally:
        for one in (child, table):
            one.kill()
            one.wait()
            one.stdout.close()


def test_files_that_go_away_while_they_are_followed(proc, monkeypatch):
    """As the driver's do with its module."""
    steps = [
        lambda: shutil.rmtree(str(proc / "driver")),
        lambda: recorded(proc, dict(PAGE_FAULT, seconds=NOW)),
        sys.exit,
    ]
    recorded(proc, dict(TRAP, seconds=NOW))
    clock = dict(vars(time), sleep=lambda seconds: steps.pop(0)())
    monkeypatch.setattr(xid, "time", types.SimpleNamespace(**clock))
    assert [line.split()[3] for line in run("xid", "-f").lines[1:]] == ["5000002", "1000003"]


def test_what_is_new():
    known = {}
    assert driver.new(known, ["a", "b", "a"]) == [0, 1, 2]
    assert driver.new(known, ["b", "a", "a", "c", "a"]) == [3, 4]
    assert driver.new(known, []) == driver.new(known, ["a", "a"]) == []  # an empty look forgets nothing
    driver.new(known, range(1000))
    assert len(known) == driver.NEWEST and driver.new(known, ["b"]) == [0]


def test_copies(tmp_path):
    records = [event_record(seconds=NOW + number, **TRAP) for number in range(1000)]
    for content in (b"".join(records), driver_files.persisted_records(records)):
        path = tmp_path / "copy"
        path.write_bytes(content)
        result = invoke("xid", "--file", str(path))
        assert (result.status, len(result.lines)) == (0, 1001)
        assert result.lines[1].split()[2:4] == ["-", "5000002"]
    refused = {
        b"": "1 to 16777216 bytes; without --file this machine's records are read",
        driver_files.persisted_records(records)[:-1]: "1 of its 1000 records do not have the inferred form",
        b"XID\0\x80" + bytes(100): "another byte order",
        b"\7" * 4095: "no copy of event_report or xid_records: no record in it is understood",
    }
    for content, words in refused.items():
        path.write_bytes(content)
        result = invoke("xid", "--file", str(path))
        assert result.status == 2 and words in result.stderr and result.stdout == ""
    os.mkfifo(str(tmp_path / "pipe"))
    for name, words in (("/dev/zero", "not a file of"), ("pipe", "not a file of"), ("none", "No such file")):
        result = invoke("xid", "--file", str(tmp_path / name))
        assert result.status == 2 and words in result.stderr
    assert invoke("xid", "--file", str(path), "-f").status == 2
    path.write_bytes(records[0] + b"\7" * 4095)
    result = invoke("xid", "--file", str(path))
    assert (result.status, len(result.lines)) == (0, 2) and "16 records" in result.stderr


# ---- health ----


RESET = "drain the card and reset it"
# A record, hours before now | level and text of its line
JUDGED = [
    (TRAP, 23, "CRITICAL XID 5000002 gpu_bios_trap (fatal, gpu) at WHEN: " + RESET),
    (TRAP, 25, "NOTE XID 5000002 gpu_bios_trap (fatal, gpu) at WHEN: " + RESET),
    (TRAP, -1, "NOTE XID 5000002 gpu_bios_trap (fatal, gpu) at WHEN: " + RESET),
    (
        dict(TRAP, scope="host"),
        1,
        "CRITICAL XID 5000002 gpu_bios_trap (fatal, host) at WHEN: drain the host and reboot",
    ),
    (
        dict(TRAP, scope="system"),
        1,
        "CRITICAL XID 5000002 gpu_bios_trap (fatal, system) at WHEN: drain the host and reboot",
    ),
    (dict(TRAP, severity="warn"), 1, "WARNING XID 5000002 gpu_bios_trap (warn, gpu) at WHEN: " + RESET),
    (dict(TRAP, severity="notify"), 1, "NOTE XID 5000002 gpu_bios_trap (notify, gpu) at WHEN"),
    (PAGE_FAULT, 1, "NOTE XID 1000003 GPU_XID_PAGE_FAULT (fatal, process) at WHEN: look at the program"),
    (
        {"xid": 0x02000005, "severity": "warn"},
        1,
        "WARNING XID 2000005 MSS_XID_NEW_PAGE_RETIRED (warn, gpu) at WHEN: drain the card and reboot",
    ),
    (
        {"xid": 0x06000001, "scope": "host"},
        1,
        "CRITICAL XID 6000001 PCIE_XID_GPU_FALLEN_OF_BUS (fatal, host) at WHEN: "
        "a card that fell off the bus needs a reset or a reboot; if that happens again, reseat it",
    ),
    (
        {"xid": 0x7F000001, "severity": 6, "scope": 7},
        1,
        "WARNING XID 7f000001 (6, 7) at WHEN: drain the host and reboot",
    ),
]
ADVICE = {
    "look at the fan": [0x05000001],
    "look at fans, air flow and the power limit": [0x05000003],
    "drain the card and reboot": [0x02000006],
    "`pymtml mtlink -s` shows all links; reseat the board or the bridge": [0x07000001, 0x07000003, 0x07000004],
}
for _advice, _numbers in ADVICE.items():
    for _xid in _numbers:
        _named = ("%x %s" % (_xid, pymtml._XIDS[_xid][0])).strip()
        _text = "WARNING XID %s (warn, gpu) at WHEN: %s" % (_named, _advice)
        JUDGED.append(({"xid": _xid, "severity": "warn"}, 1, _text))


def judged(proc, *arguments, card="GPU 1", **machine):
    """The lines of health about XIDs of a card (list of str), at the moment NOW."""
    result = run("health", "--lock", str(proc / "lock"), *arguments, **machine)
    begin = re.compile(r"(\w+) +xid: %s: (.*)" % re.escape(card))
    return [" ".join(match.groups()) for match in map(begin.match, result.lines) if match]


@pytest.mark.parametrize("record, hours, expected", JUDGED)
def test_what_health_makes_of_a_record(record, hours, expected, proc):
    now = int(time.time())
    seconds = now - hours * HOUR
    recorded(proc, dict(record, seconds=seconds))
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    assert judged(proc) == [expected.replace("WHEN", when)]


def test_one_line_for_each_number(proc):
    now = int(time.time())
    many = [dict(TRAP, seconds=now - 100 + number) for number in range(3)] + [dict(PAGE_FAULT, seconds=now)]
    recorded(proc, *many, dict(TRAP, seconds=2**63), b"\1" * 256)
    last = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now - 98))
    found = judged(proc)
    assert found[0] == "CRITICAL XID 5000002 gpu_bios_trap (fatal, gpu) 3 times, last at %s: %s" % (last, RESET)
    assert found[2:] == [
        "NOTE XID 5000002 gpu_bios_trap (fatal, gpu) at a time that cannot be: " + RESET,
        "NOTE records of the driver's events that are not understood: 1",
    ]
    assert judged(proc, card="GPU 0") == ["OK no XIDs"]
    recorded(proc, dict(TRAP, seconds=now - 3 * HOUR))
    assert [line.split()[0] for line in judged(proc, "--xid-hours", "2")] == ["NOTE"]


def test_a_lost_card_has_its_records_and_those_of_a_driver_that_hangs(proc):
    recorded(proc, dict(TRAP, seconds=int(time.time())))
    (line,) = judged(proc, set="1.lost=TIMEOUT", card="gpu01 (mtgpu.1)")
    assert line.startswith("CRITICAL XID 5000002")
    assert [line.split()[2:4] for line in run("xid", set="1.lost=TIMEOUT").lines[1:]] == [["gpu01", "5000002"]]
    (line,) = judged(proc, "--timeout", "3", card="gpu01 (mtgpu.1)", faults="", latency_ns=10**11)
    assert line.startswith("CRITICAL XID 5000002")


def test_what_a_reset_settles(proc, monkeypatch):
    """The XIDs before it, of that card only; what comes after it counts."""
    now = int(time.time())
    recorded(proc, dict(TRAP, seconds=now - 100))
    (proc / "driver" / "musa" / "gpu00" / "event_report").write_bytes(event_record(seconds=now - 100, **TRAP))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (proc / "self").mkdir()
    (proc / "self" / "status").write_text("CapEff:\t%016x\n" % (1 << 19))
    done = run("-r", "-i", "1", "--force")
    assert (done.status, os.listdir(str(proc / "resets"))) == (
        0,
        ["reset-" + simulated.device_keys("s3000x2", 1)["uuid"]],
    ), done.stdout
    assert driver.resets() == {"gpu01": pytest.approx(time.time(), abs=60)}
    look = driver.Look()
    fresh = [checks.is_fresh(*look.found[one].xids[0], look.found[one], limits(), now) for one in ("gpu00", "gpu01")]
    assert fresh == [True, False]
    recorded(proc, dict(TRAP, seconds=now + 30))
    assert checks.is_fresh(*driver.xids("gpu01")[0], look.found["gpu01"], limits(), now + 40)


# ---- metrics ----


def test_what_metrics_count(proc, monkeypatch):
    """What came since the first collection, also across a child that was replaced; a lost card keeps its series."""
    pytest.importorskip("prometheus_client")
    settings = metrics_collector.Settings(None, 30, limits(), ["xid"], "none")
    now = int(time.time())
    recorded(proc, dict(TRAP, seconds=now))
    collector = metrics_collector.Collector(settings)
    with simulated.machine("s3000x2"):
        try:
            first = collector.collect()
            assert first.xids == {} and first.status["xid"] == 2
            (card,) = [card for card in first.cards if card["gpu"] == 1]
            labels = ["5000002", "gpu_bios_trap", "fatal", "gpu"]
            values = [value for value in card["values"] if "xid" in value[0]]
            assert values == [
                ["xid_records", labels, 1],
                ["last_xid", [], 0x05000002],
                ["last_xid_timestamp_seconds", [], now],
            ]
            collector.stop()
            recorded(proc, dict(TRAP, seconds=now), dict(TRAP, seconds=now), dict(PAGE_FAULT, seconds=now))
            uuid = simulated.device_keys("s3000x2", 1)["uuid"]
            expected = {tuple(labels): 1, ("1000003", "GPU_XID_PAGE_FAULT", "fatal", "process"): 1}
            assert collector.collect().xids == collector.collect().xids == {(1, uuid): expected}
            many = [dict(xid=0x7F000000 + number, seconds=now) for number in range(50)]
            recorded(proc, *many)
            (counts,) = collector.collect().xids.values()
            assert len(counts) == 17 and counts[("other",) * 4] == 50 - 14 and sum(counts.values()) == 52
        finally:
            collector.stop()


def test_one_look_has_no_counter(proc):
    pytest.importorskip("prometheus_client")
    now = int(time.time())
    recorded(proc, dict(TRAP, seconds=now), dict(PAGE_FAULT, seconds=now - 25 * HOUR), dict(TRAP, seconds=2**62))
    lines = [line for line in run("metrics", "--lock", str(proc / "lock")).lines if not line.startswith("#")]
    found = [re.sub(r',uuid="[^"]*"', "", line) for line in lines if "xid" in line]
    assert found[:-1] == [
        'mthreads_health_status{check="xid"} 2.0',
        'mthreads_gpu_xid_records{gpu="1",name="gpu_bios_trap",scope="gpu",severity="fatal",xid="5000002"} 1.0',
        'mthreads_gpu_last_xid{gpu="1"} 8.3886082e+07',
    ]
    assert found[-1].startswith("mthreads_gpu_last_xid_timestamp_seconds") and float(found[-1].split()[1]) == now
