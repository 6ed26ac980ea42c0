"""Processes on a device: open device nodes, the driver's table, codec sessions, namespaces, and no proc at all.

The proc trees are built below tmp_path; see PYMTML_PROC_ROOT. The driver's tables have the genuine form, and the rows
that of the driver 2.7.0: what newer drivers write for a process is not known.
"""

import contextlib
import errno
import functools
import gc
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref

import pytest
import simulated
from concurrency import in_child, in_threads
from interpreter import not_on_pypy
from mtml_simulator.driver_files import HEADS_OF_2_7, process_row, process_table

import pymtml as nvml

NODE = "/dev/mtgpu.0"
COMPUTE = """nvmlDeviceGetComputeRunningProcesses nvmlDeviceGetComputeRunningProcesses_v2
nvmlDeviceGetComputeRunningProcesses_v3""".split()
GRAPHICS = """nvmlDeviceGetGraphicsRunningProcesses nvmlDeviceGetGraphicsRunningProcesses_v2
nvmlDeviceGetGraphicsRunningProcesses_v3""".split()
UTILIZATION = ["nvmlDeviceGetProcessUtilization", "nvmlDeviceGetProcessesUtilizationInfo"]
UNKNOWN_ID = 0xFFFFFFFF


class Proc:
    """A proc file system in a temporary directory."""

    def __init__(self, root):
        self.root = root

    def write(self, path, text):
        file = self.root.joinpath(*path.split("/"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def process(self, pid, *links, **files):
        """A process with open files; NSpid="17 3" for its numbers in the namespaces from here down."""
        directory = self.root / str(pid)
        (directory / "fd").mkdir(parents=True)
        self.write("%d/status" % pid, "Name:\tx\nPid:\t%d\nNSpid:\t%s\n" % (pid, files.pop("NSpid", str(pid))))
        for number, target in enumerate(("/dev/null",) + links):
            (directory / "fd" / str(number)).symlink_to(target)
        for name, content in files.items():
            self.write("%d/%s" % (pid, name), content)

    def table(self, directory, devname, *rows, text=None, **form):
        self.write("driver/musa/%s/devname" % directory, devname + "\n")
        self.write("driver/musa/%s/proc_util" % directory, process_table(*rows, **form) if text is None else text)


@pytest.fixture(autouse=True)
def _without_a_word_of_warning():
    """Files are opened in a way that Python has no remark on, and closed."""
    with warnings.catch_warnings():
        for kind in (RuntimeWarning, ResourceWarning):
            warnings.simplefilter("error", kind)
        yield


@pytest.fixture
def proc(tmp_path, monkeypatch):
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    return Proc(tmp_path)


@pytest.fixture
def device():
    """The one card of a machine without codec sessions: /dev/mtgpu.0 and /dev/dri/renderD128."""
    with simulated.nvml("s80"):
        simulated.set_value(0, "encoder_sessions", "")
        simulated.set_value(0, "decoder_sessions", "")
        yield nvml.nvmlDeviceGetHandleByIndex(0)


def pids(function, handle):
    return [process.pid for process in getattr(nvml, function)(handle)]


def compute(handle):
    return pids("nvmlDeviceGetComputeRunningProcesses", handle)


def graphics(handle):
    return pids("nvmlDeviceGetGraphicsRunningProcesses", handle)


def shares(handle, since=0):
    return [(sample.pid, sample.smUtil) for sample in nvml.nvmlDeviceGetProcessUtilization(handle, since)]


def refused(handle, functions, error=nvml.NVMLError_NotSupported):
    """Each of the functions raises that."""
    for function in functions:
        pytest.raises(error, getattr(nvml, function), handle, *[0] * (function in UTILIZATION))


# ---- The driver's table, and namespaces ----


def row(pid, vpid=None, name="x", total=0, **busy):
    """A row of the driver's: ``vpid`` is ``pid`` on the host; ``busy``: percentages by engine, such as three_d=5."""
    shares = [busy.pop(engine, 0) for engine in ("two_d", "ta", "three_d", "compute", "transfer")]
    assert not busy
    return process_row(pid, pid if vpid is None else vpid, (total, *shares), name)


def computing(pid, total=9, vpid=None, name="x"):
    """A row of a process that computes."""
    return row(pid, vpid, name, total, compute=total)


LONG = "x\u6469\u5c14\u7ebf\u7a0b\u6469\u5c14".encode()  # the kernel keeps 15 bytes, which may end within a letter
CUT = "a  b 7 c"
HOLDS = {"node": True}
# What processes there are, with files of theirs and the card's node where they have it open; the driver's table of a
# card with a display; who computes; who draws; the shares, or the error for them.
TABLES = {
    "a first look, before which the driver's counters were not open": (
        {5: HOLDS, 6: {}},
        process_table(),
        [5],
        [],
        nvml.NVMLError_NotFound,
    ),
    "older heads": (
        {1: HOLDS, 2: HOLDS, 3: HOLDS, 4: HOLDS},
        process_table(
            *(
                row(1, total=40, compute=40),
                row(2, total=25, three_d=25),
                row(3, total=11, three_d=5, compute=6),
                row(4),
            ),
            heads=HEADS_OF_2_7,
        ),
        [1, 3, 4],  # an idle process has its context for computing
        [2, 3],
        [(1, 40), (2, 25), (3, 11), (4, 0)],
    ),
    "no device line, as in no driver that was seen": (
        {5: HOLDS},
        b"Pid VPid Total 2D TA 3D CMP TRANSFER PidName\n5 5 9 0 0 0 9 0 x\n",
        [5],
        [],
        [(5, 9)],
    ),
    "heads in another order, and a new one": (
        {1: HOLDS, 2: HOLDS},
        process_table(
            "x 40% 1 0% 0% 0% 0 40% 77", "y 0 2 5 0 0 0 5 77", heads="PidName CMP\tPid 3D TA 2D VPid Total New"
        ),
        [1],
        [2],
        [(1, 40), (2, 5)],
    ),
    "few heads": (
        {1: HOLDS, 2: HOLDS},
        process_table("1 0 40", "2 5 0", heads="Pid 3D CMP"),
        [1],
        [2],
        [(1, 0), (2, 0)],
    ),
    "engines that draw: 2D does not tell": (
        {1: HOLDS, 2: HOLDS, 3: HOLDS},
        process_table(row(1, total=100, two_d=100), row(2, total=1, ta=1), row(3, total=1, three_d=1, two_d=1)),
        [1],
        [2, 3],
        [(1, 100), (2, 1), (3, 1)],
    ),
    "a process in two rows": ({6: HOLDS}, process_table(computing(6, 5), computing(6, 7)), [6], [], [(6, 5)]),
    "rows that are cut short or garbled": (
        {5: HOLDS, 6: HOLDS},
        process_table("5 5", "x y z", "-3 -3 1", "6 6 12% 0 0 0 nan 0 z", "99999999999999999999 1 1"),
        [5, 6],
        [],
        [(5, 0), (6, 12)],
    ),
    "shares": (
        {pid: HOLDS for pid in range(1, 14)},
        process_table(
            *[
                "%d 0 %s 0 0 0 0 0 x" % pair
                for pair in enumerate("7% 12.9 \u00b2 nan inf -3 101 100.9e1 4294967297 1e400 -1 100% 0".split(), 1)
            ]
        ),
        list(range(1, 14)),
        [],
        list(zip(range(1, 14), (7, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 0))),
    ),
    "what can be no process": (
        {5: HOLDS},
        process_table(*["%d %d 9%% 0 0 0 9 0 x" % (pid, pid) for pid in (2**32 + 5, 2**64 + 5, -5, 0)]),
        [5],
        [],
        nvml.NVMLError_NotFound,
    ),
    "a process that ended": ({5: HOLDS}, process_table(computing(4), computing(5, 8)), [5], [], [(5, 8)]),
    # The driver found no number of the host's here, so it wrote the number for the reader, and that process's name.
    "in a container": (
        {3: HOLDS, 9: {}},
        process_table(computing(403, 55, vpid=3), computing(420, 1, vpid=20, name="y")),
        [3],
        [],
        [(3, 55)],
    ),
    # It found the number of the host's process in the reader's namespace, where another process has it.
    "a process of the host that has the number of one here": (
        {842: {"comm": "cron\n"}, 7: HOLDS},
        process_table(computing(842, 90, name="cron")),
        [7],
        [],
        nvml.NVMLError_NotFound,
    ),
    "on the host, in a container": (
        {403: dict(HOLDS, NSpid="403 3"), 3: {}},
        process_table(computing(403)),
        [403],
        [],
        [(403, 9)],
    ),
    "a driver that wrote the innermost number": (
        {403: dict(HOLDS, NSpid="403 3"), 60: dict(HOLDS, NSpid="60 7 2"), 3: {}, 2: {}},
        process_table(computing(403, 55, vpid=3), computing(9060, 5, vpid=2)),
        [60, 403],
        [],
        [(60, 5), (403, 55)],
    ),
    "an innermost number of two processes: the name decides": (
        {70: dict(HOLDS, NSpid="70 17", comm="the first\n"), 80: dict(HOLDS, NSpid="80 17", comm="the  last\n")},
        process_table(computing(9000, 30, vpid=17, name="the  last"), computing(9001, 20, vpid=17, name="the first")),
        [70, 80],
        [],
        [(70, 20), (80, 30)],
    ),
    "two containers alike": (
        {70: dict(HOLDS, NSpid="70 17", comm="python\n"), 80: dict(HOLDS, NSpid="80 17", comm="python\n")},
        process_table(computing(9000, 30, vpid=17, name="python"), computing(9001, 20, vpid=17, name="python")),
        [70, 80],
        [],
        nvml.NVMLError_NotFound,
    ),
    "rows with one number: that with the name of the process is its own": (
        {12: dict(HOLDS, comm="ours\n"), 13: dict(HOLDS, comm="renamed\n")},
        process_table(
            *(computing(900, 50, vpid=12, name="other"), computing(901, 20, vpid=12, name="ours")),
            *(computing(903, 7, vpid=13, name="first"), computing(904, 8, vpid=13, name="second")),
        ),
        [12, 13],
        [],
        [(12, 20)],
    ),
    "a process that was renamed": (
        {13: dict(HOLDS, comm="new\n")},
        process_table(computing(13, 7, name="old")),
        [13],
        [],
        [(13, 7)],
    ),
    "the driver could not read its counters": (
        {5: HOLDS},
        b"device:    (0, 128)\nmtgpu_proc_util_connect error, try again!\n",
        [5],
        [],
        nvml.NVMLError_NotFound,
    ),
    "a long name of wide letters": (
        {5: dict(HOLDS, NSpid="5 40", comm=LONG[:15] + b"\n"), 6: dict(HOLDS, NSpid="6 40", comm=LONG[:6] + b"\n")},
        process_table(computing(900, 7, vpid=40, name=LONG)),
        [5, 6],
        [],
        [(5, 7)],
    ),
    "nobody": ({5: {}}, process_table(computing(5)), [], [], nvml.NVMLError_NotFound),
}
for _text in (b"", b"\n", b"no heads of ours\n1 2 3\n", b"device:    (0, 128)\n", b"\xff" * 1000):
    TABLES["no table: %r" % _text[:20]] = {5: HOLDS}, _text, [5], [], nvml.NVMLError_NotSupported
for _status in (None, "", "Name:\tx\n", "NSpid:\n", "NSpid:\tx\n"):
    _where = {60: dict(HOLDS, status=_status)}
    TABLES["a kernel that does not tell namespaces: %r" % _status] = (
        _where,
        process_table(computing(60)),
        [60],
        [],
        [(60, 9)],
    )
for _heads in ("PidName Pid VPid Total CMP", "Pid PidName VPid Total CMP", "Pid VPid Total CMP PidName"):
    _cells = {"PidName": CUT, "Pid": "5", "VPid": "5", "Total": "9%", "CMP": "9%"}
    _row = " ".join(_cells[column] for column in _heads.split())
    TABLES["a name with blanks: " + _heads] = {5: HOLDS, 6: {}}, process_table(_row, heads=_heads), [5], [], [(5, 9)]
for _name in (
    *(b"a\x0cb", b"a\x0bb", b"a\rb", b"a\x1cb", "a\x85b".encode(), "a\u2028b".encode(), b"a\xa0b", b"x\x0c100 100 99"),
    *(b"x\x85100 100 99", b" \t x ", b"\x01\x02\x7f", b"a b c", b"", b"\xff\xfe\xc3"),
    *("\u6469".encode(), b"17 18 19 20"),
):
    for _comm in ({}, {"comm": _name + b"\n"}):  # names of any bytes make no rows and no columns
        _there, _told = {5: dict(HOLDS, **_comm), 6: HOLDS, 100: HOLDS}, [computing(5, name=_name), computing(6, 8)]
        TABLES["%r%s" % (_name, " known" * bool(_comm))] = (
            _there,
            process_table(*_told),
            [5, 6, 100],
            [],
            [(5, 9), (6, 8)],
        )


@pytest.mark.parametrize("what", TABLES)
def test_table(proc, device, what):
    processes, text, computes, draws, sampled = TABLES[what]
    for pid, options in processes.items():
        files = dict(options)
        status = files.pop("status", ...)
        proc.process(pid, *[NODE] * files.pop("node", False), **files)
        if status is None:
            (proc.root / str(pid) / "status").unlink()
        elif status is not ...:
            proc.write("%d/status" % pid, status)
    proc.table("gpu0", "mtgpu.0", text=text)
    simulated.set_faults("mtmlDeviceCountDisplayInterface=TIMEOUT@0x1")
    assert graphics(device) == []  # the next query asks again whether the card has a display
    assert (compute(device), graphics(device)) == (computes, draws)
    assert not set(vars(device)) - {"_buffer"}  # what is kept lies in slots (the buffer: PyPy's)
    if isinstance(sampled, list):
        assert shares(device) == sampled
    else:
        refused(device, UTILIZATION, sampled)


def test_shape_of_a_process(proc, device):
    proc.process(42, NODE)
    proc.table("gpu0", "mtgpu.0", computing(42, 3))
    (process,) = nvml.nvmlDeviceGetComputeRunningProcesses(device)
    assert type(process) is nvml.nvmlFriendlyObject
    unknown = {"gpuInstanceId": UNKNOWN_ID, "computeInstanceId": UNKNOWN_ID}
    assert process.__dict__ == dict(unknown, pid=42, usedGpuMemory=None)


def test_a_life_remembers_no_more_with_each_query(proc, device):
    """A monitor asks for weeks: what is kept on a handle is noted once, also where a file cannot be read."""
    proc.process(5, NODE)
    proc.table("gpu0", "mtgpu.0", computing(5))
    queries = [getattr(nvml, name) for name in sorted(vars(nvml)) if name.startswith("nvmlDeviceGet")]

    def tick():
        assert compute(device) == [5] and not nvml.nvmlDeviceIsMigDeviceHandle(device)
        for query in queries:
            try:
                query(device)
            except (nvml.NVMLError, TypeError):
                pass  # refused, or it takes more than a device
        return len(nvml._session.life.filled)

    remembered = tick()
    assert remembered > 10
    (proc.root / "driver/musa/gpu0/proc_util").unlink()
    assert [tick() for _ in range(3)] == [remembered] * 3


def test_the_device_name_ties_directory_and_device(proc):
    """Directories are named by hexadecimal numbers that are not the device's index; mtgpu.1 is not mtgpu.10."""
    with simulated.nvml("s5000x8"):
        names = ["gpu%02x" % (0x1A + 7 * number) for number in range(8)]
        for number, name in enumerate(reversed(names)):
            proc.process(100 + number, "/dev/mtgpu.%d" % number)
            proc.table(name, "mtgpu.%d" % number, computing(100 + number, number), device=(number, 128 + number))
        proc.process(110, "/dev/mtgpu.10")
        proc.table("gpu00", "mtgpu.11", computing(110, 98))
        proc.table("gpuff", "mtgpu.10", computing(110, 99))
        for number in range(8):
            handle = nvml.nvmlDeviceGetHandleByIndex(number)
            assert (shares(handle), compute(handle)) == ([(100 + number, number)], [100 + number])
    with simulated.nvml("s5000x8"):
        simulated.set_value(3, "gpu_path", "/dev/mtgpu.10")
        assert shares(nvml.nvmlDeviceGetHandleByIndex(3)) == [(110, 99)]


def test_instances_have_device_names_of_their_own(proc):
    """MTML's index 0 is the parent with mtgpu.0, 1 to 3 its instances with mtgpu.2 to mtgpu.4, 4 is mtgpu.1."""
    with simulated.nvml("s3000-mpc"):
        for number, where in enumerate(("gpu00", "gpu01", "gpu00/mpc/gi0", "gpu00/mpc/gi1", "gpu02")):
            proc.process(50 + number, "/dev/mtgpu.%d" % number)
            proc.table(where, "mtgpu.%d" % number, computing(50 + number, 1 + number))
        found = [shares(nvml.mtmlLibraryInitDeviceByIndex(index)) for index in range(5)]
        assert found == [[(50, 1)], [(52, 3)], [(53, 4)], [(54, 5)], [(51, 2)]]


def test_other_directories_are_passed_over(proc, device):
    proc.process(5, NODE)
    proc.write("driver/musa/version", "package version:5.1.0\n")
    proc.write("driver/musa/gpu_config", "a file, not a directory")
    (proc.root / "driver" / "musa" / "gpu00" / "devname").mkdir(parents=True)  # cannot be read as a file
    (proc.root / "driver" / "musa" / "gpu01").mkdir()
    proc.write("driver/musa/gpu02/devname", b"mtgpu.0" * 200000)
    proc.table("copy", "mtgpu.0", computing(5, 9))
    proc.table("gpu03", "mtgpu.0", computing(5, 3))
    assert shares(device) == [(5, 3)]


def character_device(folder, name, target):
    """A link of that name to a device that every machine has; tests that are not root's can make no other."""
    (folder / name).symlink_to(target)
    return str(folder / name), os.minor(os.stat(target).st_rdev)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="the system has no such device")
def test_a_directory_is_confirmed_by_the_render_node(proc, device, short_folder):
    """A container may have card 1 as mtgpu.0, while it sees the directories of all cards."""
    proc.process(5, NODE)
    path, minor = character_device(short_folder, "renderD128", "/dev/zero")
    simulated.set_value(0, "render_path", path)
    for number, sampled in ((minor, [(5, 9)]), (minor + 1, None)):
        proc.table("gpu0", "mtgpu.0", computing(5), device=(0, number))
        if sampled is None:
            refused(device, UTILIZATION)
        else:
            assert shares(device) == sampled
        assert compute(device) == [5]
    proc.table("gpu0", "mtgpu.0", text=process_table(computing(5)).partition(b"\n")[2])  # says nothing of the card
    assert shares(device) == [(5, 9)]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="the system has no such device")
def test_a_node_of_another_name_has_the_directory_of_the_kernel_s(proc, device, short_folder, monkeypatch):
    """/sys/dev/char knows the node of the container as mtgpu.1."""
    path, _ = character_device(short_folder, "mtgpu.0", "/dev/zero")
    simulated.set_value(0, "gpu_path", path)
    links = short_folder / "sys" / "dev" / "char"
    links.mkdir(parents=True)
    number = os.stat(path).st_rdev
    (links / ("%d:%d" % (os.major(number), os.minor(number)))).symlink_to("../../devices/virtual/misc/mtgpu.1")
    monkeypatch.setenv("PYMTML_SYS_ROOT", str(short_folder / "sys"))
    proc.process(5, "/dev/zero")
    proc.table("gpu00", "mtgpu.0", computing(5, 1))
    proc.table("gpu01", "mtgpu.1", computing(5, 2), device=(1, 129))
    assert shares(device) == [(5, 2)]


def test_a_table_without_end_is_cut(proc, device):
    proc.process(5, NODE)
    proc.process(6, NODE)
    proc.table("gpu0", "mtgpu.0")
    file = proc.write("driver/musa/gpu0/proc_util", process_table(computing(5)) + computing(7) * 10000 + b"\n")
    with open(str(file), "ab") as table:
        table.truncate(4 << 30)  # NULs, of which the file system keeps none
    assert shares(device) == [(5, 9)]


# ---- Open device nodes ----


@pytest.mark.parametrize("node", [NODE, "/dev/dri/renderD128", "/dev/dri/card0"])
def test_open_nodes_tell(proc, device, node):
    """By the name of a node where it is not there for us, as in this tree: also of one that was removed."""
    proc.process(5, "socket:[77]", node, node)
    proc.process(6, node + " (deleted)")
    proc.process(12, "/dev/mtgpu.1", "/dev/mtgpu.00", node + "0", "/tmp" + node)
    proc.process(30)
    assert compute(device) == [5, 6]
    assert graphics(device) == []


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="the system has no such device")
def test_a_node_that_is_there_is_known_by_its_number(proc, device, short_folder):
    """Whatever its name where a process has it open, as in another container; its name alone proves nothing."""
    path, _ = character_device(short_folder, "mtgpu.0", "/dev/zero")
    for key in ("gpu_path", "render_path", "primary_path"):
        simulated.set_value(0, key, "")
    simulated.set_value(0, "gpu_path", path)
    proc.process(5, "/dev/zero")
    proc.process(6, "/dev/random")
    proc.process(7, character_device(short_folder, "card7", "/dev/zero")[0])
    proc.process(
        8, character_device(short_folder, "other", "/dev/zero")[0]
    )  # no name of a node, in no dev: not looked at
    proc.process(9, "/gone/mtgpu.0", path[len("/tmp") :])
    assert compute(device) == [5, 7]


MAP = "7f00-7f01 r-xp 00000000 fd:00 %d                  %s\n"
LIBMTML = "/usr/lib/libmtml.so.2.2.0"


@pytest.mark.parametrize(
    "mapped, expected",
    [
        ([], [42]),
        (["/usr/bin/python3", "/usr/lib/libc.so.6", "[stack]"], [42]),
        ([LIBMTML], []),
        ([LIBMTML + " (deleted)", "/opt/libmusa/notes.txt", "/tmp/mtgpu.txt", "/lib/libva.txt", "/lib/libc.so.6"], []),
        ([LIBMTML, "/usr/local/musa/lib/libmusart.so.4.3.0"], [42]),
        ([LIBMTML, "/usr/lib/libmusa.so.1 (deleted)"], [42]),
        ([LIBMTML, "/usr/lib/libGLX_mtgpu.so.0"], [42]),
        ([LIBMTML, "/usr/lib/libvulkan.so.1"], [42]),
        ([LIBMTML, "/usr/lib/libOpenCL.so.1"], [42]),
        ([LIBMTML, "/usr/lib/libGL.so.1"], [42]),
        ([LIBMTML, "/usr/lib/libva-drm.so.2"], [42]),
        ([LIBMTML, "/usr/lib/libdrm_mtgpu.so.1"], [42]),
    ],
)
def test_a_monitor_is_no_workload(proc, device, mapped, expected):
    """Who has libmtml mapped and nothing that computes or draws is not listed, unless it has a share in the table."""
    proc.process(42, NODE, maps="".join(MAP % item for item in enumerate(mapped)))
    proc.process(43, NODE)  # its maps cannot be read
    assert compute(device) == expected + [43]
    proc.table("gpu0", "mtgpu.0", row(42))
    assert compute(device) == expected + [43]
    proc.table("gpu0", "mtgpu.0", computing(42, 1))
    assert compute(device) == [42, 43]
    assert shares(device) == [(42, 1)]


STAT = "%d (a) b) %s 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 2 0 %d 0\n"


def test_what_a_process_locks_in_the_kernel_is_not_read(proc, device):
    """Of a process with a thread in state D neither maps nor cmdline is read, which might not return: it is a user."""
    files = {"maps": MAP % (1, LIBMTML), "cmdline": "x\0", "comm": "short\n"}
    for pid, state in ((41, "S"), (42, "D")):
        proc.process(pid, NODE, stat=STAT % (pid, "S", 7), **files)
        for thread, its in ((pid, "S"), (pid + 100, state)):
            proc.write("%d/task/%d/stat" % (pid, thread), STAT % (thread, its, 7))
    assert compute(device) == [42]
    assert [nvml.nvmlSystemGetProcessName(pid) for pid in (41, 42)] == ["x", "short"]
    for name in ("maps", "cmdline"):
        (proc.root / "42" / name).unlink()
        os.mkfifo(str(proc.root / "42" / name))  # would block whoever reads it
    assert compute(device) == [42]
    assert nvml.nvmlSystemGetProcessName(42) == "short"


def test_who_works_is_looked_into_once(proc, looks, machine, clock):
    """As long as it holds the card: not again in the next walk, unless its number is another process's by then."""
    for pid, mapped in ((5, "/usr/lib/libmusa.so.1"), (6, LIBMTML)):
        proc.process(pid, NODE, maps=MAP % (1, LIBMTML) + MAP % (2, mapped), stat=STAT % (pid, "S", 7))

    def looked_into():
        clock[0] += 5
        assert compute(machine[0]) == [5]
        opened = [path for path in looks.paths["open"] if path.endswith("/maps")]
        looks.take()
        return opened

    assert sorted(looked_into()) == ["/5/maps", "/6/maps"]
    assert [looked_into() for _ in range(2)] == [["/6/maps"]] * 2
    proc.write("5/stat", STAT % (5, "S", 8))
    assert sorted(looked_into()) == ["/5/maps", "/6/maps"]


def test_what_cannot_be_read_is_passed_over(proc, device, monkeypatch):
    monkeypatch.setattr(os, "listdir", lambda path, real=os.listdir: sorted(real(path)))
    proc.process(5, "/dev/null", "/dev/mtgpu.0")
    (proc.root / "5" / "fd" / "0").unlink()
    (proc.root / "5" / "fd" / "0").mkdir()  # a descriptor that is no link, before that of the node
    (proc.root / "6").mkdir()  # ended between the two looks: no fd
    proc.write("7/fd", "a file where the directory should be")
    proc.write("9", "not a directory")
    (proc.root / "10x").mkdir()
    assert compute(device) == [5]


@pytest.mark.parametrize("names", [None, [], ["driver", "self"], ["driver/musa"]], ids=str)
def test_a_proc_file_system_that_shows_no_process_tells_nothing(proc, device, names):
    """There is none, or an empty mount point in a chroot: that nobody is there cannot be, as we are."""
    if names is None:
        proc.root.rmdir()
        pytest.raises(nvml.NVMLError_NotSupported, nvml.nvmlSystemGetProcessName, 1)
    for name in names or ():
        (proc.root / name).mkdir(parents=True)
    proc.table("gpu0", "mtgpu.0", computing(60))  # a copy of the driver's files
    refused(device, COMPUTE + GRAPHICS + UTILIZATION)


@pytest.mark.skipif(os.name != "posix", reason="only there a process can be held to few files")
@pytest.mark.parametrize("with_table", [False, True])
def test_without_a_free_descriptor_nothing_is_told(proc, device, with_table):
    import resource

    proc.process(5, "/dev/mtgpu.0")
    if with_table:
        proc.table("gpu0", "mtgpu.0", computing(5))

    def child():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        taken = []
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.dup(0))
        refused(device, COMPUTE + GRAPHICS + UTILIZATION)
        for descriptor in taken:
            os.close(descriptor)
        assert compute(device) == [5]

    assert in_child(child) == 0


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
@pytest.mark.parametrize(
    "what", ["fd", "driver/musa", "devname", "proc_util", "comm", "status", "maps", "stat", "task"]
)
def test_a_lack_of_descriptors_in_the_midst(proc, device, monkeypatch, what, number):
    """What could not be inspected for lack of a descriptor is not taken for nothing; for other reasons it is."""
    proc.process(5, "/dev/mtgpu.0", comm="x\n", NSpid="900 5")
    if what != "fd":
        proc.table("gpu0", "mtgpu.0", computing(900, vpid=5))
    lacking = [number]

    def refuse(path, *args, real, **kwargs):
        if str(path).endswith("/" + what):
            raise OSError(lacking[0], os.strerror(lacking[0]), path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "listdir", functools.partial(refuse, real=os.listdir))
    monkeypatch.setattr(nvml, "_open", functools.partial(refuse, real=nvml._open))
    pytest.raises(nvml.NVMLError_NotSupported, compute, device)
    lacking[0] = errno.EIO
    assert compute(device) == ([] if what == "fd" else [5])


def test_what_must_not_be_looked_into_is_counted(proc, device, monkeypatch):
    """A directory that must not be listed, links that must not be read, and threads of the kernel, which have none."""
    simulated.set_value(0, "displays", "")
    for pid in (5, 6, 7, 8, 9):
        proc.process(pid, "/dev/mtgpu.0")
    proc.write("8/stat", "8 (a) R 1 (x)) S 2 0 0 0 -1 2129984 0 0\n")
    proc.write("9/stat", "9 (x) S 1 0 0 0 -1 4194305 0 0\n")

    def refuse(module, name, pids):
        real = getattr(module, name)

        def refusing(path, *args):
            if path.startswith(tuple("%s/%d/fd" % (proc.root, pid) for pid in pids)):
                raise PermissionError(13, "Permission denied", path)
            return real(path, *args)

        monkeypatch.setattr(module, name, refusing)

    assert nvml._Session().unseen == 0  # before the first query
    refuse(os, "listdir", (6, 8, 9))
    refuse(os, "readlink", (7,))
    assert compute(device) == [5]
    assert nvml.unseen_processes() == 3
    # A row shows one of them, if it has the name; it makes none of the others known, and hides nobody.
    proc.write("6/comm", "x\n")
    proc.write("9/comm", "y\n")
    proc.table("gpu0", "mtgpu.0", computing(6), computing(9))
    assert (compute(device), nvml.unseen_processes()) == ([5, 6], 3)
    assert shares(device) == [(6, 9)]


def test_processes_that_the_kernel_hides_count_as_one(proc, device):
    (proc.root / "self").symlink_to("5")
    proc.process(5, "/dev/mtgpu.0")
    proc.table("gpu0", "mtgpu.0", computing(5), computing(6))
    assert (compute(device), nvml.unseen_processes()) == ([5], 1)
    proc.process(1)
    nvml._session.life.cards.walk = None
    assert (compute(device), nvml.unseen_processes()) == ([5], 0)  # 6 ended


def test_a_table_whose_processes_vanish_while_it_is_read(proc, device, monkeypatch):
    for pid in (5, 6, 7):
        proc.process(pid, NODE, comm="x\n")

    def open_and_remove(path, *args, real=nvml._open, **kwargs):
        if path == str(proc.root / "6" / "comm") and os.path.exists(path):
            shutil.rmtree(str(proc.root / "6"))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(nvml, "_open", open_and_remove)
    proc.table("gpu0", "mtgpu.0", *[computing(pid) for pid in (5, 6, 7)])
    assert set(compute(device)) >= {5, 7}
    nvml._session.life.cards.walk = None
    assert compute(device) == [5, 7]


def test_processes_end_and_begin_while_the_real_proc_is_walked(monkeypatch, device):
    monkeypatch.delenv("PYMTML_PROC_ROOT", raising=False)
    monkeypatch.setattr(nvml, "_WALK_AGE_MIN", 0)
    monkeypatch.setattr(nvml, "_WALK_AGE_MAX", 0)
    children = [
        os.spawnlp(os.P_NOWAIT, "sh", "sh", "-c", "for i in $(seq 200); do true & done; wait") for _ in range(2)
    ]
    walks = 0
    assert "python" in nvml.nvmlSystemGetProcessName(os.getpid())
    while children:
        assert compute(device) == []
        walks += 1
        children = [child for child in children if os.waitpid(child, os.WNOHANG) == (0, 0)]
    assert walks > 1


def test_a_proc_that_must_not_be_listed(proc, device, monkeypatch):
    """Nothing is known of processes, whatever the driver's table has."""

    def refuse(path, real=os.listdir):
        if path == str(proc.root):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    proc.process(5, "/dev/mtgpu.0")
    monkeypatch.setattr(os, "listdir", refuse)
    proc.table("gpu0", "mtgpu.0", computing(5))
    refused(device, COMPUTE + GRAPHICS + UTILIZATION)


# ---- How often is looked ----


class Looks:
    """Counts the listings, readings of links and openings below a proc tree."""

    def __init__(self, monkeypatch, root):
        self.root = str(root)
        self.paths = {"list": [], "link": [], "open": []}
        self._wrap(monkeypatch, os, "listdir", "list")
        self._wrap(monkeypatch, os, "readlink", "link")
        self._wrap(monkeypatch, nvml, "_open", "open")

    def _wrap(self, monkeypatch, module, name, kind):
        real = getattr(module, name)

        def look(path, *args, **kwargs):
            if str(path).startswith(self.root):
                self.paths[kind].append(str(path)[len(self.root) :])
            return real(path, *args, **kwargs)

        monkeypatch.setattr(module, name, look)

    def take(self):
        """(processes looked into, listings of the root, links read, files opened) since the last time."""
        listed, links, opened = (self.paths[kind][:] for kind in ("list", "link", "open"))
        for paths in self.paths.values():
            del paths[:]
        return sum(path.endswith("/fd") for path in listed), listed.count(""), len(links), len(opened)


@pytest.fixture
def looks(proc, monkeypatch):
    (proc.root / "self").symlink_to("1")  # as in every proc file system
    return Looks(monkeypatch, proc.root)


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass for walks: they take no time unless the test says so."""
    now = [1000.0]
    nvml._mtmlGetFunctionPointer("mtmlLibraryInit")  # loads the library, which would set the clock to the true one
    monkeypatch.setattr(nvml._session, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def machine(clock):
    """Eight cards without codec sessions, and a clock that stands still: that of walks."""
    with simulated.nvml("s5000x8"):
        for card in range(8):
            for key in ("encoder_sessions", "decoder_sessions"):
                simulated.set_value(card, key, "")
        yield [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(8)]


def tick(handles):
    """What monitors ask of every device: pids that compute, pids that draw."""
    return [compute(handle) + graphics(handle) for handle in handles]


def test_one_walk_serves_all_devices_and_queries(proc, looks, machine):
    for pid in range(100, 140):
        proc.process(pid, "/dev/mtgpu.%d" % (pid % 8), "socket:[1]", "/dev/pts/0")
    proc.process(140, "/dev/mtgpu.0", "/dev/dri/renderD129")
    expected = [[pid for pid in range(100, 140) if pid % 8 == index] + [140] * (index < 2) for index in range(8)]
    assert tick(machine) == expected
    assert looks.take() == (41, 1, 163, 42 * 3)  # of each that holds a node, stat and its threads', then the maps
    for handle in machine:
        refused(handle, UTILIZATION)
    assert tick(machine) == expected
    assert looks.take() == (0, 0, 0, 0)
    # Of 41 processes with 163 files the nodes of the devices are kept, and nothing else.
    nodes = ["/dev/dri/renderD129"] + ["/dev/mtgpu.%d" % index for index in range(8)]
    assert sorted(nvml._session.life.cards.walk.holders) == nodes


@not_on_pypy.waitid
@pytest.mark.skipif(not os.stat("/proc/self/fd").st_size, reason="this kernel does not count descriptors (Linux 6.2)")
def test_what_has_nothing_open_is_not_looked_into(device, monkeypatch):
    """Kernel threads, of which no container has one to show, and processes that ended but are still listed."""
    monkeypatch.delenv("PYMTML_PROC_ROOT", raising=False)
    looks = Looks(monkeypatch, "/proc")
    ended = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
    try:
        assert compute(device) == []
    finally:
        os.waitpid(ended, 0)
    assert "/%d/fd" % os.getpid() in looks.paths["list"]
    assert "/%d/fd" % ended not in looks.paths["list"]


def test_kernels_that_do_not_count_descriptors(proc, device, monkeypatch):
    """Before Linux 6.2 the size of the folder is 0, whatever is open."""

    def stat(path, *args, real=os.stat, **kwargs):
        result = real(path, *args, **kwargs)
        return os.stat_result(result[:6] + (0,) + result[7:]) if str(path).endswith("/fd") else result

    monkeypatch.setattr(os, "stat", stat)
    proc.process(5, "/dev/mtgpu.0", comm="renamed\n")
    (proc.root / "self").symlink_to("5")
    assert compute(device) == [5]
    proc.table("gpu0", "mtgpu.0", computing(900, 20, vpid=5, name="worker"))
    assert shares(device) == [(5, 20)]


def test_the_table_is_read_where_it_can_tell_something(proc, looks, machine):
    """Reading it starts the driver's counters. On these cards, which have no display, no list needs it."""
    proc.process(1)
    for index in range(8):
        proc.process(100 + index, "/dev/mtgpu.%d" % index, comm="x\n")
        table = computing(100 + index), row(200, three_d=5)
        proc.table("gpu%02x" % (0x50 - index), "mtgpu.%d" % index, *table, device=(index, 128 + index))
    proc.process(200, *["/dev/mtgpu.%d" % index for index in range(8)])

    def tables():
        return sum(path.endswith("/proc_util") for path in looks.paths["open"])

    assert tick(machine) == [[100 + index, 200] for index in range(8)]
    assert tables() == 0
    assert [shares(handle) for handle in machine] == [[(100 + index, 9), (200, 0)] for index in range(8)]
    assert tables() == 8
    opened = [path for path in looks.paths["open"] if path.endswith("/devname")]
    looks.take()
    assert len(opened) == 8 * 9 // 2  # each device looks for its directory once
    assert [shares(handle) for handle in machine] == [[(100 + index, 9), (200, 0)] for index in range(8)]
    assert not [path for path in looks.paths["open"] if path.endswith("/devname")]


def test_a_directory_that_moves_is_found_again(proc, looks, machine):
    """As after the driver was loaded anew: its directories are looked for where the known one has no table."""
    for index in (0, 1):
        proc.process(100 + index, "/dev/mtgpu.%d" % index)
        proc.table("gpu%d" % index, "mtgpu.%d" % index, computing(100 + index))
    assert [shares(handle) for handle in machine[:2]] == [[(100, 9)], [(101, 9)]]
    (proc.root / "driver" / "musa" / "gpu0").rename(proc.root / "driver" / "musa" / "gpu7")
    assert [shares(handle) for handle in machine[:2]] == [[(100, 9)], [(101, 9)]]
    shutil.rmtree(str(proc.root / "driver"))
    refused(machine[0], UTILIZATION)


@pytest.mark.parametrize("took, age", [(0, 0.02), (0.005, 0.02), (0.375, 0.375), (1, 1), (7, 1)])
def test_a_walk_serves_for_as_long_as_it_took(proc, looks, machine, clock, monkeypatch, took, age):
    proc.process(5, "/dev/mtgpu.0")
    proc.process(6, "/dev/pts/0")

    def readlink(path, real=os.readlink):
        clock[0] += took / 4  # four links
        return real(path)

    monkeypatch.setattr(os, "readlink", readlink)
    assert compute(machine[0]) == [5]
    end = clock[0]
    proc.process(7, "/dev/mtgpu.0")
    took = 0
    clock[0] = end + 0.99 * age
    assert compute(machine[0]) == [5]
    assert looks.take()[0] == 2
    clock[0] = end + age
    assert compute(machine[0]) == [5, 7]
    assert looks.take()[0] == 3


def test_another_proc_file_system_is_walked_at_once(proc, machine, monkeypatch, tmp_path):
    proc.process(5, "/dev/mtgpu.0")
    assert compute(machine[0]) == [5]
    other = Proc(tmp_path / "other")
    other.process(6, "/dev/mtgpu.0")
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(other.root))
    assert compute(machine[0]) == [6]


def test_nodes_of_other_names_are_looked_for_in_the_next_walk(proc, looks, machine, clock):
    simulated.set_value(1, "gpu_path", "/opt/musa/node7")
    proc.process(5, "/dev/mtgpu.0")
    proc.process(6, "/opt/musa/node7")
    assert tick(machine[:2]) == [[5], [6]]
    assert looks.take()[0] == 4
    for _ in range(3):
        clock[0] += 5
        assert tick(machine[:2]) == [[5], [6]]
        assert looks.take()[0] == 2


def test_threads_share_a_walk(proc, looks, machine, monkeypatch):
    def readlink(path, real=os.readlink):
        time.sleep(0.001)  # lets the others in
        return real(path)

    monkeypatch.setattr(os, "readlink", readlink)
    for pid in range(100, 164):
        proc.process(pid, "/dev/mtgpu.%d" % (pid % 8))
    found = [None] * 8

    def ask(number):
        found[number] = compute(machine[number])

    in_threads(ask)
    assert found == [[pid for pid in range(100, 164) if pid % 8 == index] for index in range(8)]
    assert looks.take()[:2] == (64, 1)


def test_a_forked_child_walks_for_itself(proc, machine):
    proc.process(5, "/dev/mtgpu.0")
    assert compute(machine[0]) == [5]
    proc.process(6, "/dev/mtgpu.0")

    def child():
        assert compute(machine[0]) == [5, 6]

    assert in_child(child) == 0
    assert compute(machine[0]) == [5]


def test_a_fork_in_the_middle_of_a_walk_leaves_the_child_free(proc, machine, monkeypatch):
    proc.process(5, "/dev/mtgpu.0")
    walking, go_on = threading.Event(), threading.Event()

    def readlink(path, real=os.readlink):
        if threading.current_thread() is not threading.main_thread():
            walking.set()
            go_on.wait(30)
        return real(path)

    monkeypatch.setattr(os, "readlink", readlink)
    thread = threading.Thread(target=compute, args=(machine[0],))
    thread.start()
    assert walking.wait(30)

    def child():
        assert compute(machine[0]) == [5]

    try:
        assert in_child(child) == 0
    finally:
        go_on.set()
        thread.join()


def test_an_exception_from_a_signal_ends_a_walk_and_no_more(proc, machine, monkeypatch):
    proc.process(5, "/dev/mtgpu.0")
    proc.process(6, "/dev/mtgpu.0")
    real, answers = os.readlink, []

    def interrupted(path):
        raise KeyboardInterrupt

    def asks_again(path):
        monkeypatch.setattr(os, "readlink", real)
        answers.append(compute(machine[0]))  # a handler that asks while its own thread walks
        return real(path)

    monkeypatch.setattr(os, "readlink", interrupted)
    pytest.raises(KeyboardInterrupt, compute, machine[0])
    monkeypatch.setattr(os, "readlink", asks_again)

    def too_late(signum, frame):
        raise AssertionError("deadlock")

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(30)
    answers.append(compute(machine[0]))
    in_threads(lambda number: answers.append(compute(machine[0])), 4)
    assert answers == [[5, 6]] * 6


@pytest.mark.parametrize("end", [nvml.nvmlShutdown, lambda: nvml.mtmlDeviceReset(nvml.nvmlDeviceGetHandleByIndex(1))])
def test_nothing_of_a_walk_outlives_the_library_or_a_reset(proc, machine, end):
    proc.process(5, "/dev/mtgpu.0")
    assert compute(machine[0]) == [5]
    walk = weakref.ref(nvml._session.life.cards.walk)
    end()
    gc.collect()
    assert walk() is None
    nvml.nvmlInit()
    proc.process(6, "/dev/mtgpu.0")
    assert compute(nvml.nvmlDeviceGetHandleByIndex(0)) == [5, 6]


def test_two_thousand_processes(proc, looks, machine, clock):
    """One walk, whatever is asked; what stays of it is no more than the processes that have a device open."""
    for pid in range(1, 2001):
        os.makedirs(str(proc.root / str(pid) / "fd"))
    for pid in (1, 1000, 2000):
        (proc.root / str(pid) / "fd" / "3").symlink_to("/dev/mtgpu.0")
    assert tick(machine) == [[1, 1000, 2000]] + [[]] * 7
    assert looks.take() == (2000, 1, 3, 3 * 3)  # of the three, stat and its threads', then the maps


# ---- The kernel's own proc file system, with hidden processes and in a namespace ----

NAMESPACE = """
import json, os, subprocess, sys, time
import simulated
from mtml_simulator.driver_files import process_row, process_table
import pymtml as nvml

node, driver, as_nobody = sys.argv[1], sys.argv[2], sys.argv[3] == "nobody"
held = open(node)  # by process 1, which is root's
sleep = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sleep", "60"]
other = subprocess.Popen(sleep, stdin=held)
while open("/proc/%d/comm" % other.pid).read() != "sleep\\n":
    time.sleep(0.01)
shares = lambda total: (total, 0, 0, 0, total, 0)
rows = [process_row(4001, 1, shares(30), "python"), process_row(4002, other.pid, shares(20), "sleep")]
rows.append(process_row(5002, 77, shares(9), "elsewhere"))

def look(device):
    found = []
    for function in (nvml.nvmlDeviceGetComputeRunningProcesses, nvml.nvmlDeviceGetGraphicsRunningProcesses):
        found.append([process.pid for process in function(device)])
    for pid in (1, other.pid, os.getpid(), 4002):
        try:
            found.append(os.path.basename(nvml.nvmlSystemGetProcessName(pid))[:6])
        except nvml.NVMLError as error:
            found.append(type(error).__name__)
    return found

with simulated.nvml("s80"):
    for key, value in (("encoder_sessions", ""), ("decoder_sessions", ""), ("gpu_path", node)):
        simulated.set_value(0, key, value)
    child = os.fork()
    if not child:
        if as_nobody:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        found = look(device)
        unseen = [nvml.unseen_processes()]
        with open(driver, "wb") as table:
            table.write(process_table(*rows))
        shares = sorted((sample.pid, sample.smUtil) for sample in nvml.nvmlDeviceGetProcessUtilization(device, 0))
        by_table = look(device)[:2]
        unseen.append(nvml.unseen_processes())
        print(json.dumps([found, by_table, shares, other.pid, os.getpid(), unseen]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
other.kill()
"""


def in_namespace(folder_of_all, hidepid, user):
    """What NAMESPACE prints as process 1 of a pid namespace with a proc file system, or the test is skipped."""
    folder = folder_of_all / "driver" / "musa" / "gpu0"
    folder.mkdir(parents=True)
    os.chmod(str(folder_of_all), 0o755)
    (folder / "devname").write_text("mtgpu.0\n")
    (folder / "proc_util").write_text("")
    os.chmod(str(folder / "proc_util"), 0o666)
    (folder_of_all / "mtgpu.0").write_text("")
    mounts = "mount -t proc -o hidepid=%d proc /proc && mount --bind %s/driver /proc/driver" % (hidepid, folder_of_all)
    begin = ["unshare", "--pid", "--fork", "--mount", "sh", "-c", mounts + ' && exec "$@"', "sh"]
    tried = simulated.run(begin + ["true"], stderr=subprocess.STDOUT)
    if tried.returncode:
        pytest.skip("namespaces are not permitted here: %s" % tried.stdout.strip())
    environment = simulated.environment("s80")
    for folder in ("tests", "simulator/python"):
        environment["PYTHONPATH"] += os.pathsep + os.path.join(simulated.ROOT, folder)
    command = [sys.executable, "-c", NAMESPACE]
    command += [str(folder_of_all / "mtgpu.0"), "/proc/driver/musa/gpu0/proc_util", user]
    result = simulated.run(begin + command, env=environment, stderr=subprocess.STDOUT, timeout=60)
    assert result.returncode == 0, result.stdout
    return json.loads(result.stdout)


@pytest.fixture
def short_folder():
    """A folder whose path fits the 64 bytes that MTML has for the path of a node."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield pathlib.Path(folder)


@pytest.mark.root
@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare")
@pytest.mark.parametrize("hidepid", [0, 1, 2])
@pytest.mark.parametrize("user", ["root", "nobody"])
def test_hidden_processes_in_a_pid_namespace(short_folder, hidepid, user):
    """What a user can see is told, by the numbers of the namespace; what is hidden is neither told nor an error."""
    (walked, drawing, *names), by_table, shares, other, own, unseen = in_namespace(short_folder, hidepid, user)
    assert (walked, drawing) == ([other], [])  # process 1 and its child have libmtml mapped: they are monitors
    hidden = user == "nobody" and hidepid == 2
    seen = [other] if hidden else [1, other]
    assert by_table == [seen, []]
    assert shares == [[pid, {1: 30, other: 20}[pid]] for pid in seen]
    assert unseen == [int(user == "nobody")] * 2  # process 1 is root's; its row does not make it known
    refused = {0: "python", 1: "NVMLError_NoPermission", 2: "NVMLError_NotFound"}[hidepid]
    assert names == ["python" if user == "root" else refused, "sleep", "python", "NVMLError_NotFound"]


# ---- Nodes that are not known ----


@pytest.mark.parametrize("lacks, left, found", [("Gpu", "renderD128", [6]), ("Render", "mtgpu.0", [5])])
def test_nodes_that_the_library_does_not_know_or_name(proc, device, lacks, left, found, monkeypatch):
    proc.process(5, "/dev/mtgpu.0")
    proc.process(6, "/dev/dri/renderD128")
    with monkeypatch.context() as patched:
        patched.delitem(nvml._functions, "mtmlDeviceGet%sPath" % lacks)
        assert compute(device) == found
    nvml._session.life.cards.walk = None
    simulated.set_value(0, lacks.lower() + "_path", "")
    assert compute(device) == found
    proc.table("gpu0", "mtgpu.0", computing(5))
    if lacks == "Gpu":
        refused(device, UTILIZATION)  # a directory is known by the name of the GPU's node
    else:
        assert shares(device) == [(5, 9)]
    for key in ("gpu_path", "render_path", "primary_path"):
        simulated.set_value(0, key, "")
    nvml._session.life.cards.walk = None
    refused(device, COMPUTE + GRAPHICS + UTILIZATION)


# ---- Codec sessions ----

SESSION = "id=%d pid=%d width=1 height=1 fps=1 bitrate=1 latency=0 codec=AVC state=%s"


def test_codec_sessions_add_their_processes(proc, device):
    for pid in (5, 6, 7, 8, 9):
        proc.process(pid)
    simulated.set_value(0, "encoder_sessions", SESSION % (0, 6, "ACTIVE") + ", " + SESSION % (2, 8, "IDLE"))
    simulated.set_value(0, "decoder_sessions", SESSION % (1, 7, "ACTIVE") + ", " + SESSION % (3, 6, "ACTIVE"))
    assert compute(device) == [6, 7]
    for coder, left in (("Encoder", [7, 6]), ("Decoder", [6])):  # a codec without a list does not hide the other
        simulated.set_faults("mtmlVpuGet%sSessionStates=NOT_SUPPORTED" % coder)
        assert compute(device) == left
    simulated.set_faults("")
    (proc.root / "7" / "fd" / "9").symlink_to(NODE)
    proc.table("gpu0", "mtgpu.0", computing(5, 1), row(7, name="draws", three_d=1))
    nvml._session.life.cards.walk = None
    assert compute(device) == [6]  # 5 has no node open, and 7 draws
    assert graphics(device) == [7]


def test_codec_processes_that_ended_or_are_nobody_here(proc, device):
    proc.process(5)
    simulated.set_value(0, "encoder_sessions", SESSION % (0, 99, "ACTIVE") + ", " + SESSION % (1, 0, "ACTIVE"))
    assert compute(device) == []


def test_sessions_beyond_what_the_other_codec_can_run(proc, device):
    proc.process(7)
    simulated.set_value(0, "encoder_capacity", 1)
    simulated.set_value(0, "decoder_sessions", SESSION % (5, 7, "ACTIVE"))
    assert compute(device) == [7]


def test_codec_sessions_of_an_instance(proc):
    with simulated.nvml("s3000-mpc"):
        proc.process(4711)
        found = [compute(nvml.mtmlLibraryInitDeviceByIndex(i)) for i in range(nvml.mtmlLibraryCountDevice())]
        assert found == [[], [4711], [], [], []]


# ---- Utilization ----


@pytest.mark.parametrize(
    "function, kind",
    [
        ("nvmlDeviceGetProcessUtilization", "c_nvmlProcessUtilizationSample_t"),
        ("nvmlDeviceGetProcessesUtilizationInfo", "c_nvmlProcessUtilizationInfo_v1_t"),
    ],
)
def test_utilization_samples(proc, device, function, kind, monkeypatch):
    """In microseconds since 1970; what is not younger than the caller's has been seen."""
    proc.process(5, NODE)
    proc.process(6, NODE)
    proc.table("gpu0", "mtgpu.0", computing(5, 31), computing(6, 100, name="y"))
    assert nvml._session.clock is time.time
    monkeypatch.setattr(nvml._session, "clock", lambda: 1700000000.25)
    ask, now = getattr(nvml, function), 1700000000250000
    samples = ask(device, now - 1)
    assert [type(sample) for sample in samples] == [getattr(nvml, kind)] * 2
    assert [(sample.pid, sample.smUtil) for sample in samples] == [(5, 31), (6, 100)]
    for sample in samples:
        assert (sample.timeStamp, sample.memUtil, sample.encUtil, sample.decUtil) == (now, 0, 0, 0)
    for since in (now, 100 * now):
        pytest.raises(nvml.NVMLError_NotFound, ask, device, since)
    pytest.raises((TypeError, nvml.NVMLError_InvalidArgument), ask, device, "now")


# ---- Names ----


@pytest.mark.parametrize("pid", [0, 6, 7, -1, 2**40])
def test_process_name_of_nobody(proc, device, pid):
    proc.process(5, cmdline="x\0", comm="x\n")
    (proc.root / "7" / "cmdline").mkdir(parents=True)  # a file that cannot be read, as of a process that ends
    pytest.raises(nvml.NVMLError_NotFound, nvml.nvmlSystemGetProcessName, pid)


@pytest.mark.parametrize(
    "refused, files, name",
    [
        ((), {"cmdline": "/usr/bin/python3\0train.py\0--x\0", "comm": "python3\n"}, "/usr/bin/python3"),
        ((), {"cmdline": "ollama serve", "comm": "ollama\n"}, "ollama serve"),
        ((), {"cmdline": "", "comm": "kworker/0:1\n"}, "kworker/0:1"),
        ((), {"comm": "kworker/0:1\n"}, "kworker/0:1"),
        ((), {"cmdline": b"\xff\xfe\0", "comm": "x\n"}, "\ufffd\ufffd"),
        ((), {"cmdline": "\u6469\u5c14\0", "comm": "x\n"}, "\u6469\u5c14"),
        (("cmdline",), {"cmdline": "x\0", "comm": "short\n"}, "short"),
        (("cmdline",), {}, nvml.NVMLError_NoPermission),
        (("cmdline", "comm"), {"cmdline": "x\0", "comm": "short\n"}, nvml.NVMLError_NoPermission),
        (("comm",), {"cmdline": ""}, nvml.NVMLError_NoPermission),
        (("comm",), {"cmdline": "x\0"}, "x"),
    ],
)
def test_process_name(proc, device, monkeypatch, refused, files, name):
    def open_unless_refused(path, *args, real=nvml._open):
        if os.path.basename(path) in refused:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *args)

    monkeypatch.setattr(nvml, "_open", open_unless_refused)
    proc.process(5, **files)
    if isinstance(name, str):
        assert nvml.nvmlSystemGetProcessName(5) == name
    else:
        pytest.raises(name, nvml.nvmlSystemGetProcessName, 5)
