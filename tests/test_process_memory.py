"""The memory of processes, which the driver reports by an ioctl of /dev/mtgpu.N: asked of simulator/src/nodes.c.

That library has the struct of the published driver and answers rightly, absurdly or not at all. How hardware answers is
not known.
"""

import ctypes
import errno
import fcntl
import json
import os
import stat
import subprocess
import sys
import threading

import pytest
import simulated
from concurrency import in_thread, until
from test_processes import Proc, short_folder  # noqa: F401 (a fixture)

import pymtml as nvml

NODES = ctypes.CDLL(simulated.NODES_LIBRARY, use_errno=True)
REAL_IOCTL = fcntl.ioctl
LIBMTML = "7f00-7f01 r-xp 00000000 fd:00 1    /usr/lib/libmtml.so.2.2.0\n"
ENTRY = "process = %d lma=%d\n"


def ask_nodes(node, request, answer):
    """fcntl.ioctl, by way of the library that is otherwise preloaded."""
    buffer = (ctypes.c_char * len(answer)).from_buffer(answer)
    if NODES.ioctl(node.fileno(), ctypes.c_ulong(request), buffer) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class Card:
    """An MTT S80 with 16 GiB, 4.5 of them in use, whose node is `mtgpu.0` in a folder; 5 and 6 use it, 7 monitors."""

    def __init__(self, folder):
        self.folder, self.path = folder, str(folder / "mtgpu.0")
        self.proc = Proc(folder / "proc")
        self.answers("")
        for pid in (5, 6):
            self.proc.process(pid, self.path)
        self.proc.process(7, self.path, maps=LIBMTML)
        self.proc.process(8)
        simulated.set_value(0, "gpu_path", self.path)
        self.handle = nvml.nvmlDeviceGetHandleByIndex(0)

    def answers(self, text):
        (self.folder / "mtgpu.0").write_text(text)

    def memory(self, anew=False):
        """usedGpuMemory by pid, of a new look if that is asked for."""
        if anew:
            nvml._session.life.cards.walk = None
        found = nvml.nvmlDeviceGetComputeRunningProcesses(self.handle)
        return {process.pid: process.usedGpuMemory for process in found}

    def calls(self):
        """What was asked of the node: (request, ostype, how it was open) for each ioctl."""
        path = self.folder / "calls"
        return [tuple(line.split()[2:]) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def card(short_folder, monkeypatch):  # noqa: F811
    monkeypatch.setattr(fcntl, "ioctl", ask_nodes)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(short_folder / "proc"))
    with simulated.nvml("s80", nodes=short_folder):
        for key in ("encoder_sessions", "decoder_sessions", "render_path", "primary_path"):
            simulated.set_value(0, key, "")
        yield Card(short_folder)


UNKNOWN = {5: None, 6: None}
BOTH = ENTRY % (5, 100) + ENTRY % (6, 200)
# How the node answers: what the two processes then have.
ANSWERS = {
    "page tables and memory of the card": ("process = 5 lma=1000 pt_lma=24\n" + ENTRY % (6, 1), {5: 1024, 6: 1}),
    # 200 GiB of the host's are neither shown nor more than the card can have
    "memory of the host": ("process = 5 lma=7 uma=3 pt_uma=9 system=%d user=%d\n" % (200 << 30, 1 << 62), {5: 7, 6: 0}),
    "a process listed twice": (ENTRY % (5, 30) + ENTRY % (5, 12), {5: 42, 6: 0}),
    "a process that has nothing": (ENTRY % (5, 30), {5: 30, 6: 0}),
    "a monitor alone": (ENTRY % (7, 30), {5: 0, 6: 0}),
    "this process alone": (ENTRY % (os.getpid(), 30), {5: 0, 6: 0}),
    "one that has no node open, one that began later, one of another container": (
        BOTH + ENTRY % (8, 1) + ENTRY % (9000, 2) + "process = 0 lma=3\n",
        {5: 100, 6: 200},
    ),
    "all that is in use": (ENTRY % (5, 4810362880), {5: 4810362880, 6: 0}),
    "a twentieth more than is in use": (ENTRY % (5, 4810362880 + (16 << 30) // 20), {5: 5669356339, 6: 0}),
    "more than is in use": (BOTH + ENTRY % (8, 4810362880 + (16 << 30) // 20), UNKNOWN),
    "more than the card has": (BOTH + ENTRY % (5, 17 << 30), UNKNOWN),
    "page tables above what the card has": (BOTH + "process = 5 pt_lma=%d\n" % (17 << 30), UNKNOWN),
    "nobody, while two use the card": ("", UNKNOWN),
    "strangers only": (ENTRY % (8, 1) + ENTRY % (9000, 2), UNKNOWN),
    "another container's only": ("process = 0 lma=3\n", UNKNOWN),
    "all zero": ("fill = 0\n", UNKNOWN),
    "all ones": ("fill = 0xff\n", UNKNOWN),
    "four thousand million entries": (BOTH + "count = 4000000000\n", UNKNOWN),
    "81 entries": (BOTH + "count = 81\n", UNKNOWN),
    "80 entries, which may not be all": ("".join(ENTRY % (pid, pid) for pid in range(6, 86)), {5: None, 6: 6}),
    "79 entries": ("".join(ENTRY % (pid, pid) for pid in range(6, 85)), {5: 0, 6: 6}),
    "not supported": (BOTH + "errno = %d\n" % errno.ENOTTY, UNKNOWN),
    "not allowed": (BOTH + "errno = %d\n" % errno.EACCES, UNKNOWN),
}


@pytest.mark.parametrize("what", ANSWERS)
def test_answer(card, what):
    text, expected = ANSWERS[what]
    card.answers(text)
    assert card.memory() == expected
    ask = nvml._nvmlGetFunctionPointer("nvmlDeviceGetComputeRunningProcesses_v3")  # as nvitop does
    array = (nvml.c_nvmlProcessInfo_v2_t * 2)()
    assert ask(card.handle, ctypes.byref(ctypes.c_uint(2)), array) == nvml.NVML_SUCCESS
    none = nvml.NVML_VALUE_NOT_AVAILABLE_ulonglong.value
    assert {each.pid: each.usedGpuMemory for each in array} == {
        pid: none if memory is None else memory for pid, memory in expected.items()
    }
    reason = nvml._processes_of(card.handle).memory().reason
    assert bool(reason) == (expected is UNKNOWN)


def test_one_read_only_question_for_all(card, monkeypatch):
    """Whatever is asked of the processes of a card, as long as the walk of /proc serves."""
    monkeypatch.setattr(nvml._session, "monotonic", lambda: 0.0)  # six queries may take longer than that
    card.answers(BOTH)
    asks = [getattr(nvml, "nvmlDeviceGet%sRunningProcesses" % kind) for kind in ("Compute", "Graphics")]
    assert [len(ask(card.handle)) for ask in asks * 3] == [2, 0] * 3
    question = ("0xa3104da7", "1", "O_RDONLY", "O_CLOEXEC")
    assert card.calls() == [question]
    assert card.memory(anew=True) == {5: 100, 6: 200}
    assert card.calls() == [question] * 2


def test_who_does_not_ask_for_processes_asks_nothing(card):
    for name in ("Name", "UtilizationRates", "MemoryInfo", "PowerUsage", "Temperature"):
        getattr(nvml, "nvmlDeviceGet" + name)(card.handle, *[0] * (name == "Temperature"))
    for pid in (5, 6):
        (card.proc.root / str(pid) / "fd" / "1").unlink()
    assert card.memory() == {}
    assert card.calls() == []


def test_memory_is_not_asked_for_where_the_user_says_so(card, monkeypatch):
    card.answers(BOTH)
    monkeypatch.setenv("PYMTML_PROCESS_MEMORY", "0")
    assert (card.memory(), card.calls()) == (UNKNOWN, [])
    monkeypatch.setenv("PYMTML_PROCESS_MEMORY", "")
    assert card.memory(anew=True) == {5: 100, 6: 200}


@pytest.mark.parametrize("number, questions", [(errno.ENOTTY, 1), (errno.ENODEV, 1), (errno.EINTR, 3)])
def test_a_card_that_does_not_answer_is_not_asked_again(card, number, questions):
    """In this life; a question that was interrupted is asked with the next walk."""
    card.answers(BOTH + "errno = %d\n" % number)
    assert [card.memory(anew=True) for _ in range(3)] == [UNKNOWN] * 3
    assert len(card.calls()) == questions
    card.answers(BOTH)
    assert card.memory(anew=True) == (UNKNOWN if questions == 1 else {5: 100, 6: 200})


@pytest.mark.parametrize("number, again", [(errno.EMFILE, True), (errno.ENOENT, False)])
def test_a_node_that_cannot_be_opened(card, monkeypatch, number, again):
    def refuse(path, *args, real=nvml._open, **kwargs):
        if path == card.path:
            raise OSError(number, os.strerror(number), path)
        return real(path, *args, **kwargs)

    card.answers(BOTH)
    with monkeypatch.context() as patched:
        patched.setattr(nvml, "_open", refuse)
        assert card.memory() == UNKNOWN
    assert card.memory(anew=True) == ({5: 100, 6: 200} if again else UNKNOWN)


def test_a_fifo_for_a_node_does_not_hold_the_question(card, monkeypatch):
    monkeypatch.setattr(fcntl, "ioctl", REAL_IOCTL)
    os.unlink(card.path)
    os.mkfifo(card.path)
    assert card.memory() == UNKNOWN


def test_entries_of_another_card(card):
    """The driver's number of a card is the minor number of its render node, where that is there."""
    (card.folder / "renderD128").symlink_to("/dev/zero")
    minor = os.minor(os.stat("/dev/zero").st_rdev)
    also = ENTRY.strip() % (8, 1) + " device=%d\n" % (minor + 1)  # one among the card's own
    for device, more, expected in ((minor, "", {5: 100, 6: 200}), (minor + 1, "", UNKNOWN), (minor, also, UNKNOWN)):
        card.answers("device = %d\n" % device + BOTH + more)
        simulated.set_value(0, "render_path", card.folder / "renderD128")
        assert card.memory(anew=True) == expected


def test_what_is_allocated_or_freed_meanwhile_spoils_nothing(card, monkeypatch):
    """Between the questions for the memory in use and for that of the processes a job may begin, or end."""
    total, asked = 16 << 30, []

    def ask(node, request, answer):
        asked.append(request)
        simulated.set_value(0, "memory_used", after)
        ask_nodes(node, request, answer)

    monkeypatch.setattr(fcntl, "ioctl", ask)
    for before, after, size in ((0, total // 2, total // 2), (total // 2, 0, total // 2), (0, 0, total // 2)):
        simulated.set_value(0, "memory_used", before)
        card.answers(ENTRY % (5, size))
        assert card.memory(anew=True)[5] == (size if before or after else None)
    assert asked == [0xA3104DA7] * 3


def test_a_gpu_without_memory_of_its_own(card):
    """It has no PCI address, and shares the host's memory (inferred): its processes have only that."""
    card.answers("process = 5 uma=1000 pt_uma=24 system=7\n")
    assert card.memory() == {5: 0, 6: 0}
    simulated.set_faults("mtmlDeviceGetPciInfo=NOT_SUPPORTED")
    assert card.memory(anew=True) == {5: 1024, 6: 0}
    card.answers(BOTH + "process = 5 uma=1000\n")
    assert card.memory(anew=True) == {5: 100, 6: 200}


def test_memory_in_use_that_is_not_known(card):
    card.answers(BOTH)
    simulated.set_faults("mtmlMemoryGetUsed=NOT_SUPPORTED")
    assert card.memory() == UNKNOWN


def test_an_instance_has_no_figures(short_folder, monkeypatch):  # noqa: F811
    """How the driver reports MPC instances is not known."""
    monkeypatch.setattr(fcntl, "ioctl", ask_nodes)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(short_folder / "proc"))
    (short_folder / "mtgpu.2").write_text(ENTRY % (5, 100))
    Proc(short_folder / "proc").process(5, str(short_folder / "mtgpu.2"))
    with simulated.nvml("s3000-mpc", nodes=short_folder):
        simulated.set_value(simulated.instance(0, 0), "gpu_path", short_folder / "mtgpu.2")
        (process,) = nvml.nvmlDeviceGetComputeRunningProcesses(nvml.mtmlLibraryInitDeviceByIndex(1))
        assert (process.pid, process.usedGpuMemory) == (5, None)
    assert not (short_folder / "calls").exists()


def test_a_process_elsewhere_is_noticed(card):
    """An entry without a number here: a process of another pid namespace holds the card (inferred)."""
    card.answers(BOTH)
    assert not nvml._processes_of(card.handle).memory().elsewhere
    card.answers(BOTH + "process = 0 lma=3\n")
    nvml._session.life.cards.walk = None
    assert nvml._processes_of(card.handle).memory().elsewhere


def test_a_driver_that_takes_its_time_holds_nobody_else(card, monkeypatch):
    """The question is asked outside every lock: others look at processes meanwhile."""
    inside, over = threading.Event(), threading.Event()
    monkeypatch.setattr(fcntl, "ioctl", lambda *question: inside.set() or over.wait(60) and ask_nodes(*question))
    card.answers(BOTH)
    thread, ends = in_thread(card.memory)
    assert inside.wait(60)
    nvml._session.life.cards.walk = None
    assert nvml._processes_of(card.handle).users == {5, 6} and not ends
    over.set()
    thread.join()
    assert ends == [{5: 100, 6: 200}]


@pytest.mark.root
def test_of_a_process_that_holds_a_real_device(card, monkeypatch):
    """A character device, of another name for the process, in the system's own /proc."""
    node, other = str(card.folder / "dev" / "mtgpu.0"), str(card.folder / "dev" / "mtgpu.7")
    os.mkdir(os.path.dirname(node))
    for path in (node, other):
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    monkeypatch.delenv("PYMTML_PROC_ROOT")
    simulated.set_value(0, "gpu_path", node)
    with open(other) as device, subprocess.Popen(["sleep", "60"], stdin=device) as holder:
        os.unlink(other)
        until(lambda: os.readlink("/proc/%d/exe" % holder.pid).endswith("sleep"))
        card.answers(ENTRY % (holder.pid, 42))
        try:
            found = card.memory(anew=True)
        finally:
            holder.kill()
    assert found[holder.pid] == 42
    assert card.calls() == [("0xa3104da7", "1", "O_RDONLY", "O_CLOEXEC")]


PRELOADED = """
import json, pymtml
pymtml.nvmlInit()
handle = pymtml.nvmlDeviceGetHandleByIndex(0)
print(json.dumps({p.pid: p.usedGpuMemory for p in pymtml.nvmlDeviceGetComputeRunningProcesses(handle)}))
"""


def test_of_a_node_in_dev_in_a_process_of_its_own(card):
    """/dev/mtgpu.0 itself, by fcntl and the preloaded library; nothing is imported for it before."""
    card.proc.process(90, "/dev/mtgpu.0")
    card.answers(ENTRY % (90, 42))
    environment = simulated.environment("s80", nodes=card.folder)
    environment.update(LD_PRELOAD=simulated.NODES_LIBRARY, PYMTML_PROC_ROOT=str(card.proc.root))
    result = simulated.run([sys.executable, "-c", PRELOADED], env=environment)
    assert (json.loads(result.stdout), result.stderr) == ({"90": 42}, "")
    assert card.calls() == [("0xa3104da7", "1", "O_RDONLY", "O_CLOEXEC")]
