"""The driver's own files in health, doctor, metrics and capture: what they say of cards, and what is not understood."""

import errno
import json
import os
import re
import threading
import time

import pytest
import simulated
from command import driver_tree, invoke, run_command, write
from inside import Machine, card_findings, doctor, driver, limits
from mtml_simulator import driver_files


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """The root of a proc file system in which everything can be seen."""
    (tmp_path / "1" / "fd").mkdir(parents=True)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    return tmp_path


def said(check, *arguments, **machine):
    """The lines of health about a check."""
    with simulated.machine(machine.pop("name", "s3000x2"), **machine):
        result = invoke("health", "--lock", os.path.join(os.environ["PYMTML_PROC_ROOT"], "lock"), *arguments)
    return [line for line in result.lines if line.split()[1] == check + ":"]


# What the driver says, and what health makes of it
STATES = [
    ({}, []),
    ({"firmware": "OK (Idling)"}, []),
    ({"driver": "BAD"}, ["CRITICAL Driver Status BAD"]),
    ({"driver": "UNDEFINED"}, ["WARNING Driver Status UNDEFINED"]),
    ({"driver": "UNKNOWN (7)"}, ["WARNING Driver Status UNKNOWN (7)"]),
    ({"firmware": "DEAD (Asserted)"}, ["CRITICAL Firmware Status DEAD (Asserted)"]),
    ({"firmware": "NOT RESPONDING (KCCB stalled)"}, ["CRITICAL Firmware Status NOT RESPONDING (KCCB stalled)"]),
    ({"firmware": "FAULT"}, ["CRITICAL Firmware Status FAULT"]),
    ({"firmware": "UNDEFINED"}, ["WARNING Firmware Status UNDEFINED"]),
    ({"firmware": "\x1b[2J"}, ["WARNING Firmware Status \\x1b[2J"]),
    (
        {"counts": {"HWR Event Count": 3, "TRP Error Count": 1, "APM Event Count": 2026}},
        ["NOTE since the driver was loaded: HWR Event Count 3, TRP Error Count 1"],
    ),
    ({"counts": {"Server Errors": 5}}, []),
    (
        {"counts": {"Server Errors": 5, "HWR Event Count": 1}, "older": True},
        ["NOTE since the driver was loaded: HWR Event Count 1, Sercer Errors 5"],
    ),
    (
        {"driver": "BAD", "firmware": "DEAD", "counts": {"SLR Event Count": 1}},
        [
            "CRITICAL Driver Status BAD",
            "CRITICAL Firmware Status DEAD",
            "NOTE since the driver was loaded: SLR Event Count 1",
        ],
    ),
]


@pytest.mark.parametrize("arguments, expected", STATES)
def test_what_the_driver_says_of_a_card(arguments, expected, proc):
    well = driver_files.status(counts={})
    driver_tree(proc, 2, status={0: well, 1: driver_files.status(**dict({"counts": {}}, **arguments))})
    with simulated.machine("s3000x2"), Machine() as machine:
        found = [list(card_findings(card, limits(), ["firmware"]))[0] for card in machine.cards]
    expected = expected or ["OK driver and firmware are OK"]
    assert [["%s %s" % (one.level, one.text) for one in each] for each in found] == [
        ["OK driver and firmware are OK"],
        expected,
    ]


@pytest.mark.parametrize(
    "status, text",
    [
        (None, "not there"),
        ("", "there, and not understood"),
        ("GPU Utilisation:7%\n", "there, and not understood"),
        ("\0\xff" * 100000, "there, and not understood"),
    ],
    ids="none empty part long".split(),  # pytest puts them into the environment, in which 128 KiB are too much
)
def test_a_state_that_is_not_known_is_not_called_well(status, text, proc):
    driver_tree(proc, 2, status=status)
    assert said("firmware") == ["N/A      firmware: GPU 0-1: status: " + text]


def test_a_driver_without_files_of_a_card(proc):
    assert said("firmware") == ["N/A      firmware: GPU 0-1: the driver has no files for this card"]


BAD = "firmware: gpu01 (mtgpu.1): Firmware Status DEAD"


@pytest.mark.parametrize(
    "machine",
    [{"faults": "mtmlLibraryInit=DRIVER_FAILURE"}, {"faults": "", "latency_ns": 10**10}, {"name": "no-driver"}],
)
def test_the_driver_s_files_are_read_without_its_library(machine, proc):
    """Also if that hangs, or cannot be initialized: by directory then, as nobody tells which card is which."""
    driver_tree(proc, 2, status={0: driver_files.status(), 1: driver_files.status(firmware="DEAD")})
    limit = "--timeout", "3" if "latency_ns" in machine else "10"
    assert said("firmware", *limit, **machine) == ["CRITICAL " + BAD]
    assert said("firmware", *limit, "--skip", "firmware", **machine) == []


def test_a_card_that_mtml_lost_has_its_state(proc):
    """Of the files that belong to none of the cards, only those whose node is there are of this machine."""
    driver_tree(proc, 2, status={0: driver_files.status(), 1: driver_files.status(firmware="DEAD")})
    (line,) = said("firmware", "-i", "0")  # nothing of the card that -i leaves out
    assert line.startswith("OK ")
    driver_tree(proc, 3, status=driver_files.status(firmware="DEAD"))
    lines = said("firmware", set="1.lost=TIMEOUT")
    assert "CRITICAL firmware: GPU 0: Firmware Status DEAD" in lines and not any("gpu02" in line for line in lines)


def test_a_driver_that_holds_whoever_reads_its_files(proc, monkeypatch):
    """It takes nothing else away; the thread is not replaced by another one as long as it is held."""
    driver_tree(proc, 2)
    held, read = threading.Event(), driver.text

    def text(directory, name):
        if (directory, name) == ("gpu01", "status"):
            held.wait(60)
        return read(directory, name)

    monkeypatch.setattr(driver, "text", text)
    monkeypatch.setattr(driver, "PATIENCE", 0.2)
    before = set(threading.enumerate())  # some may still end
    try:
        with simulated.machine("s3000x2"), Machine() as machine:
            for _ in range(3):
                found = [list(card_findings(card, limits(), ["firmware"]))[0] for card in machine.cards]
                assert [one[0].level for one in found] == ["OK", "CRITICAL"]
                assert found[1][0].text == "status: no answer within 2 seconds"
                assert len(set(threading.enumerate()) - before) == 1
                machine.next_sample()
            held.set()
            driver._last._thread.join(60)
            assert list(card_findings(machine.cards[1], limits(), ["firmware"]))[0][0].level == "OK"
    finally:
        held.set()


def test_recoveries_are_series(proc):
    counts = {"HWR Event Count": 3, "FWF Event Count": 4, "Server Errors": 2, "APM Event Count": 9}
    status = {0: driver_files.status(counts={}), 1: driver_files.status(counts=counts)}
    driver_tree(proc, 3, status={**status, 2: driver_files.status(driver="BAD")})  # a card of another container
    pytest.importorskip("prometheus_client")
    with simulated.machine("s3000x2"):
        lines = invoke("metrics", "--lock", str(proc / "lock")).lines
    found = [re.sub(r',uuid="[^"]*"', "", line) for line in lines if line.startswith("mthreads_gpu_recoveries")]
    form = 'mthreads_gpu_recoveries_total{gpu="1",kind="%s"} %d.0'
    assert sorted(found) == sorted(form % pair for pair in (("hwr", 3), ("fwf", 4), ("server", 2)))
    assert 'mthreads_health_status{check="firmware"} 0.0' in lines
    with simulated.machine("no-driver"):
        driver_tree(proc, 2, status=driver_files.status(driver="BAD"))
        assert 'mthreads_health_status{check="firmware"} 2.0' in invoke("metrics", "--lock", str(proc / "lock")).lines


# ---- doctor ----


def files_found(may_lack=False):
    """What doctor says of the driver's files: [(level, text)]."""
    return [(one.level, one.text) for one in doctor.file_findings(may_lack)]


ALL = {
    "memory": driver_files.memory(4096),
    "proc_util": driver_files.process_table(driver_files.process_row(842, 17, (9, 0, 0, 0, 9, 0), "train")),
    "int_status": driver_files.int_status(1600),
    "vram_info": driver_files.vram_info(80 << 30),
    "event_report": driver_files.event_report(),
}


def test_doctor_tells_which_files_it_understood(proc):
    driver_tree(proc, 2, **ALL)
    table = "proc_util (Pid VPid Total 2D TA 3D CMP TRANSFER PidName)"
    assert files_found() == [
        (
            "OK",
            "gpu00, gpu01: understood: devname, status, memory, %s, int_status, vram_info, event_report (0 XIDs)"
            % table,
        )
    ]
    older = driver_files.process_table(heads=driver_files.HEADS_OF_2_7).split(b"\n", 1)[1]
    driver_tree(proc, 1, status=driver_files.status(older=True), proc_util=older)
    os.unlink(str(proc / "driver" / "musa" / "gpu00" / "vram_info"))
    assert files_found()[0] == (
        "OK",
        "gpu00: understood: devname, status, memory, proc_util (Pid VPid Total 2D TA 3D CDM TDM PidName, without a line"
        " `device:`), int_status, event_report (0 XIDs); not there: vram_info",
    )


GARBAGE = [
    ("proc_util", "Pid\nx y z\n", "begins with 'Pid\\nx y z\\n'"),
    ("proc_util", "no table\n", "begins with 'no table\\n'"),
    ("proc_util", ALL["proc_util"].decode() * 4000, "and is longer than 65536 bytes"),
    ("devname", "x" * 1000000, "begins with 'xxxxxxxx"),
    ("memory", "\x1b[2J", "begins with '\\x1b[2J'"),
    ("vram_info", "MemTotal : 80 GB", "begins with 'MemTotal : 80 GB'"),
    ("status", "", "begins with ''"),
]


@pytest.mark.parametrize("name, content, words", GARBAGE, ids=range(len(GARBAGE)))
def test_doctor_names_what_it_did_not_understand(name, content, words, proc):
    driver_tree(proc, 2, **ALL)
    write(str(proc / "driver" / "musa" / "gpu00" / name), content)
    found = [text for level, text in files_found() if level == "NOTE"]
    assert len(found) == 1 and found[0].startswith("gpu00: %s is present but not understood: " % name), found
    assert words in found[0] and len(found[0]) < 200
    with simulated.machine("s3000x2"):
        result = invoke("doctor", "--json")
    assert found[0] in [one["text"] for one in json.loads(result.stdout)["findings"]]


def test_files_that_cannot_be_read_and_pipes_in_their_place(proc):
    driver_tree(proc, 1)
    folder = proc / "driver" / "musa" / "gpu00"
    (folder / "status").unlink()
    (folder / "status").mkdir()  # cannot be read as a file
    os.mkfifo(str(folder / "memory"))
    (proc / "driver" / "musa" / "version").write_text("9\n")
    notes = [text for level, text in files_found() if level == "NOTE"]
    assert notes == [
        "gpu00: status is present but not understood: Is a directory",
        "gpu00: memory is present but not understood: begins with ''",
        "version: version is present but not understood",
    ]


def test_doctor_goes_on_where_the_driver_holds_whoever_reads(proc, monkeypatch):
    driver_tree(proc, 3, **ALL)
    held, read = threading.Event(), driver.text
    monkeypatch.setattr(driver, "text", lambda *path: (held.wait(60) and "") if path[0] == "gpu01" else read(*path))
    monkeypatch.setattr(driver, "PATIENCE", 0.2)
    try:
        assert [(level, text[:5]) for level, text in files_found()] == [("WARNING", "gpu01"), ("OK", "gpu00")]
    finally:
        held.set()


def test_where_the_driver_has_no_files(proc):
    text = "no files of the driver below %s: shares of processes, state and XIDs of cards are unavailable"
    assert files_found() == [("NOTE", text % (proc / "driver" / "musa"))] and files_found(may_lack=True) == []


def test_doctor_tells_of_which_card_it_does_not_know_the_files(proc):
    driver_tree(proc, 1)
    with simulated.machine("s3000x2"):
        found = json.loads(invoke("doctor", "--json").stdout)["findings"]
    (one,) = [one for one in found if one["check"] == "files" and one["status"] == "NOTE"]
    assert one["gpus"] == [1] and "could be matched" in one["text"]


# ---- capture ----


def test_a_capture_has_the_forms_of_the_files_and_nobody_s_names(proc, monkeypatch):
    waited = []
    monkeypatch.setattr(time, "sleep", waited.append)
    table = driver_files.process_table(
        driver_files.process_row(842, 842, (37, 37, 0, 0, 0, 0), "secret_trainer"),
        driver_files.process_row(991, 17, (1, 0, 0, 0, 1, 0), "other"),
        "secret user alice of f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "/home/alice/secret: 12",  # ends as a line of the driver's
    )
    record = driver_files.event_record(0x07000001, "secret text", "warn", "gpu", pid=4711)
    driver_tree(proc, 2, proc_util={1: table}, event_report={0: record})
    (proc / "driver" / "musa" / "version").write_bytes(driver_files.version("3.3.9"))
    with simulated.machine("s3000x2"):
        text = invoke("capture").stdout
    assert waited == [0.3], "the first look at shares only starts the driver's counters"
    lines = [line for line in text.splitlines() if re.match(r"# (version|gpu)", line)]
    for word in ("secret", "alice", "842", "991", "4711", "f81d4fae", "6a1f0c52"):
        assert not any(word in line for line in lines), word
    assert lines[:4] == [
        "# version: package version:3.3.9",
        "# gpu00/devname: mtgpu.0",
        "# gpu01/devname: mtgpu.1",
        "# gpu00/status: Driver Status:   OK",
    ]
    assert "# gpu01/status: as gpu00/status" in lines
    rows = [line.partition(": ")[2] for line in lines if line.startswith("# gpu01/proc_util")]
    assert rows[:2] == [line.replace("\t", "\\t") for line in table.decode().split("\n")[:2]]
    assert rows[2].replace("\\t", "").split()[1:] == "999 999 99% 99% 9% 9% 9% 9% xxxxxx_xxxxxxx".split()
    assert rows[4].startswith("xxxxxx xxxx xxxxx xx x99x9xxx-")
    assert lines[-2:] == [
        "# gpu00/event_report: 256 bytes",
        "# gpu00/event_report: type 01000001 length 000000b8 version 00000001 xid 07000001 scope and severity 00000009",
    ]
    with simulated.machine("s3000x2"):
        assert "secret_trainer" in invoke("capture", "--unmasked").stdout


def test_whether_the_driver_tells_the_memory_of_processes(proc):
    """An answer that cannot be is a finding of doctor."""
    driver_files.write_process(str(proc), 4711, ["train"], "/dev/mtgpu.0")
    (proc / "mtgpu.0").write_text("process = 4711 lma=1048576\n")
    (proc / "mtgpu.1").write_text("count = 4000000000\n")
    preload = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), simulated.NODES_LIBRARY]))
    extra = {"LD_PRELOAD": preload, "MTML_SIM_NODES": str(proc), "PYMTML_PROC_ROOT": str(proc)}
    reason = "the driver's answer is impossible: 4000000000 entries"
    found = json.loads(run_command("doctor", "--json", name="s3000x2", extra_environment=extra).stdout)["findings"]
    texts = [one["text"] for one in found if one["check"] == "processes" and one["status"] == "NOTE"]
    assert texts == ["memory per process is unavailable: " + reason]


@pytest.mark.parametrize("code, failed", [(errno.EACCES, False), (errno.EPERM, False), (errno.EIO, True)])
def test_what_a_user_may_not_read_is_no_failure_of_the_driver(code, failed):
    assert driver._unread(OSError(code, "why")).failed == failed
