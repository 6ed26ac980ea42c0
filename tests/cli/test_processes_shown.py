"""What each output says of processes: those that are there, and that there may be others."""

import errno
import fcntl
import json
import os
import pty
import pwd
import re
import subprocess
import sys
import time
import types
import xml.etree.ElementTree as ElementTree

import pytest
import simulated
from command import COMMAND, command_environment, invoke
from inside import Machine, cgroup, processes, ps, users
from mtml_simulator import driver_files
from test_process_memory import ask_nodes, short_folder  # noqa: F401 (a fixture)

import pymtml


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """A proc file system; its process 1 has nothing open."""
    root = tmp_path / "proc"
    (root / "1" / "fd").mkdir(parents=True)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(root))
    return root


def add(root, pid, *links, name="/opt/train"):
    (root / str(pid) / "fd").mkdir(parents=True)
    (root / str(pid) / "cmdline").write_bytes(os.fsencode(name) + b"\0")
    for number, target in enumerate(links):
        (root / str(pid) / "fd" / str(number)).symlink_to(target)


@pytest.fixture
def hidden(monkeypatch):
    """So many processes more that could not be inspected."""

    def hide(number):
        real = pymtml.unseen_processes
        monkeypatch.setattr(pymtml, "unseen_processes", lambda: real() + number)

    return hide


def rows(*arguments, name="pymtml"):
    """Lines of the table below the head of the processes."""
    with simulated.machine("s80"):
        lines = invoke(*arguments, name=name).lines
    assert len({len(line) for line in lines if line.startswith("|")}) == 1
    last = max(index for index, line in enumerate(lines) if line.startswith("|==="))
    return [line.strip("| ") for line in lines[last + 1 : -1]]


def step():
    """test_who_could_look_into_others has the words."""
    return processes._who_sees()


def test_nobody_there(proc):
    assert rows() == ["No running processes found"]
    with simulated.machine("s80"):
        assert any(line.split(" : ") == ["    Processes".ljust(54), "None"] for line in invoke("-q").lines)


@pytest.mark.parametrize("name, terminal", [("pymtml", False), ("nvidia-smi", False), ("nvidia-smi", True)])
def test_nobody_visible(proc, hidden, name, terminal, monkeypatch):
    hidden(214)
    monkeypatch.setenv("COLUMNS", "91")
    words = "No process visible to you; 214 could not be inspected (%s)" % step()
    with simulated.machine("s80"):
        lines = invoke(name=name, terminal=terminal).lines
    # Programs that cut up nvidia-smi's table take each line in its frame for a process.
    ours, frame = "|  %s|" % words.ljust(87), "+" + "-" * 89 + "+"
    assert lines[-2:] == ([ours, frame] if name == "pymtml" or terminal else [frame, "  " + words])
    with simulated.machine("s80"):
        assert any(line.endswith(": " + words) for line in invoke("-q", name=name).lines)


def test_others_than_those_that_are_visible(proc, hidden):
    add(proc, 5, "/dev/mtgpu.0")
    hidden(1)
    first, second = rows()
    assert first.split()[3:6] == ["5", "C", "/opt/train"]
    assert second == "There may be others: 1 process could not be inspected (%s)" % step()
    # Programs that cut up nvidia-smi's table take each line in its frame for a process.
    with simulated.machine("s80"):
        lines = invoke(name="nvidia-smi").lines
    assert lines[-1] == "  " + second and lines[-2].startswith("+--") and " 5 " in lines[-3]
    with simulated.machine("s80"):
        lines = [line.strip() for line in invoke("-q", "-d", "PIDS").lines]
    assert any(line.startswith("Note") and line.endswith(second) for line in lines)


@pytest.mark.parametrize("namespace, own", [("pid:[4026531836]", False), ("pid:[4026532198]", True)])
def test_containers(proc, namespace, own):
    (proc / "self" / "ns").mkdir(parents=True)
    (proc / "self" / "ns" / "pid").symlink_to(namespace)
    elsewhere = "of other containers exist elsewhere"
    assert rows() == ["No process in this container; those " + elsewhere if own else "No running processes found"]
    add(proc, 5, "/dev/mtgpu.0")
    assert rows()[1:] == ["Those " + elsewhere] * own
    with simulated.machine("s80"):
        said = [line for line in invoke("health").lines if line.startswith("OK       processes")]
    assert said and all(("of this container" in line and "exist elsewhere" in line) == own for line in said)


def test_hidden_ones_and_containers_together(proc, hidden):
    """Each remark has a line of its own in -q, below the first or as a note."""
    (proc / "self" / "ns").mkdir(parents=True)
    (proc / "self" / "ns" / "pid").symlink_to("pid:[4026532198]")
    hidden(2)
    elsewhere = "Processes of other containers exist elsewhere"
    with simulated.machine("s80"):
        empty = invoke("-q", "-d", "PIDS").lines
        add(proc, 5, "/dev/mtgpu.0")
        full = invoke("-q", "-d", "PIDS").lines
    none = "No process visible to you; 2 could not be inspected (%s)" % step()
    assert empty[-3:-1] == ["    Processes".ljust(55) + ": " + none, "    ".ljust(55) + ": " + elsewhere]
    others = "There may be others: 2 processes could not be inspected (%s)" % step()
    start = full.index("    Processes") + 1
    assert full[start : start + 2] == ["        Note".ljust(42) + ": " + text for text in (others, elsewhere)]
    assert full[start + 2].strip().startswith("GPU instance ID")


@pytest.mark.root
@pytest.mark.skipif(not os.path.exists("/proc/self/ns/pid"), reason="no namespaces")
def test_the_host_s_namespace(monkeypatch):
    monkeypatch.delenv("PYMTML_PROC_ROOT", raising=False)
    unshare = ["unshare", "--pid", "--fork", "--mount-proc"]
    module = processes.in_a_namespace_of_its_own.__module__
    code = "from %s import in_a_namespace_of_its_own as own; print(own())" % module
    inside = simulated.run(unshare + COMMAND[:1] + ["-c", code], env=command_environment())
    if inside.returncode:
        pytest.skip("namespaces are not permitted here: %s" % inside.stderr.strip())
    assert inside.stdout == "True\n"


def test_what_is_not_known_is_not_called_empty(proc):
    (proc / "1" / "fd").rmdir()
    (proc / "1").rmdir()
    assert rows() == ["0   processes: Not Supported"]


@pytest.mark.parametrize("number", [0, 3])
def test_json(proc, hidden, number):
    add(proc, 5, "/dev/mtgpu.0")
    hidden(number)
    with simulated.machine("s80"):
        shown = json.loads(invoke("--json").stdout)["devices"][0]["processes"]
    (process,) = shown["list"]
    assert (process.pop("reasons"), shown["unseen"]) == ({"memory_bytes": "Not Supported"}, number)
    assert process == {"pid": 5, "type": "C", "name": "/opt/train", "instance": None, "memory_bytes": None}
    words = "there may be others: 3 processes could not be inspected (%s)" % step()
    assert shown.get("reasons") == ({"list": words} if number else None)


def test_xml(proc, hidden):
    add(proc, 5, "/dev/mtgpu.0")
    hidden(3)
    with simulated.machine("s80"):
        text = invoke("-q", "-x").stdout
    document = ElementTree.fromstring(text.encode())
    remark = "\t\t\t<!-- there may be others: 3 processes could not be inspected (%s) -->" % step()
    assert remark in text.splitlines()
    assert [element.text for element in document.iter("pid")] == ["5"]


QUERY = ["--query-compute-apps=pid,name", "--format=csv,noheader"]


OTHER = ["--query-gpu=pcie.link.gen.max"]  # 5; what shows no processes says nothing of them


@pytest.mark.parametrize("arguments", [QUERY, QUERY + ["-lms", "1"], ["pmon", "-c", "1"], OTHER], ids=" ".join)
@pytest.mark.parametrize("terminal", [False, True])
def test_programs_read_a_list_and_people_a_remark(proc, arguments, terminal, tmp_path):
    """On stderr, once, and only where that is a terminal: programs read both streams together."""
    add(proc, 5, "/dev/mtgpu.0")
    (proc / "self").symlink_to("5")
    (proc / "1" / "fd").rmdir()
    (proc / "1").rmdir()  # process 1 is hidden
    environment = command_environment(name="s80", extra_environment={"PYMTML_PROC_ROOT": str(proc)})
    leader, follower = pty.openpty()
    errors = follower if terminal else subprocess.PIPE
    process = subprocess.Popen(
        COMMAND + arguments, env=environment, stdout=subprocess.PIPE, stderr=errors, universal_newlines=True
    )
    lines = [process.stdout.readline() for _ in range(4 * ("-lms" in arguments))]
    if "-lms" in arguments:
        process.terminate()
    out, err = process.communicate(timeout=60)
    os.close(follower)
    said = b""
    try:
        while terminal:
            said += os.read(leader, 1000)
    except OSError:
        pass
    os.close(leader)
    assert "5" in "".join(lines) + out and "looked into" not in out
    words = "There may be other processes: 1 process could not be inspected (%s)\r\n" % step()
    assert said.decode() == (words if terminal and arguments != OTHER else "") and err in ("", None)


@pytest.mark.parametrize("terminal", [False, True])
def test_processes_that_are_not_known_are_no_empty_list_to_people(proc, terminal, capsys, monkeypatch):
    (proc / "1" / "fd").rmdir()
    (proc / "1").rmdir()
    with simulated.machine("s80"):
        assert invoke("pmon", "-c", "1").lines[2].split() == ["0"] + ["-"] * 9
        assert processes.NONE_RUNNING not in invoke("--compact").stdout
    with simulated.machine("s80"), Machine() as machine:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
        said = []
        for _ in range(2):
            processes.say_to_people(machine.cards, said)
    words = "The processes of GPU 0 are unavailable: Not Supported\n"
    assert capsys.readouterr().err == (words if terminal else "")


def test_a_card_that_fails_has_no_number_of_unseen():
    class Card:
        instances = []

        def ask(self, _):
            return processes.Unknown(pymtml.NVMLError_GpuIsLost())

    assert processes.unseen([Card()]) == 0


# Output: the place of a process's memory; what is there for 18 MiB and a byte, for 30 MiB, and where nobody knows
MEMORY = {
    "": (r" {} +C[+G]* +\S+ +(\S+) \|", "19MiB", "30MiB", "N/A"),
    "on a terminal": (r" {} C[+G]* +(\S+) ", "19MiB", "30MiB", "N/A"),
    "-q": (r"Process ID +: {}\n.*\n.*\n +Used GPU Memory +: (.*)", "19 MiB", "30 MiB", "N/A"),
    "-q -x": (r"<pid>{}</pid>\n.*\n.*\n\s*<used_memory>(.*)</used_memory>", "19 MiB", "30 MiB", "N/A"),
    "--query-compute-apps=pid,used_memory --format=csv": (r"^{}, (.*)", "19 MiB", "30 MiB", "[N/A]"),
    "--json": (r'"pid": {},[^}}]*"memory_bytes": (\w+)', "18874369", "31457280", "null"),
    "pmon -c 1 -s m": (r" {} +C[+G]* +(\S+) +-  ", "19", "30", "-"),
    "pmon -c 1 -s um": (r" {} +C[+G]*(?: +\S+){{6}} +(\S+) +-  ", "19", "30", "-"),
    "ps": (r"^ +0 +{} +\S+ +(\S+)", "19MiB", "30MiB", "-"),
    "metrics --processes names": (r'memory_used_bytes{{.*pid="{}",.*}} (.*)', "1.8874369e+07", "3.145728e+07", None),
}


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("output", MEMORY)
def test_memory_of_processes(output, is_known, proc, short_folder, monkeypatch):  # noqa: F811
    """Each output has the driver's figure of a process that computes, and of one that also draws."""
    monkeypatch.setattr(fcntl, "ioctl", ask_nodes)
    monkeypatch.setenv("LD_PRELOAD", simulated.NODES_LIBRARY)  # for the child of metrics
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    node = short_folder / "mtgpu.0"
    for pid in (5, 6):
        add(proc, pid, str(node))
    driver_files.write_table(str(proc), 0, driver_files.process_row(6, 6, (9, 1, 1, 0, 7, 0), "train"))
    answer = "process = 5 lma=%d pt_lma=1\nprocess = 6 lma=%d\n" % (18 << 20, 30 << 20)
    node.write_text(answer if is_known else "errno = %d\n" % errno.ENOTTY)
    arguments, terminal = ([], True) if output == "on a terminal" else (output.split(), False)
    arguments += ["--lock", str(short_folder / "lock")] * ("metrics" in arguments)
    with simulated.machine("s80", nodes=short_folder, set="0.gpu_path=%s" % node):
        text = invoke(*arguments, terminal=terminal).stdout
    place, *known, unknown = MEMORY[output]
    found = [re.findall(place.format(pid), text, re.M) for pid in (5, 6)]
    assert found == ([[shown] for shown in known] if is_known else [[unknown] * (unknown is not None)] * 2)
    if output == "ps":  # those that use the most come first
        assert re.findall(r"^ +0 +(\d)", text, re.M) == (["6", "5"] if is_known else ["5", "6"])


class Asked:
    """A card or an instance that answers what is given: who computes and draws ({pid: memory}), and how many hide."""

    def __init__(self, computing, drawing, hidden=0, instances=()):
        self.instances = list(instances)
        self._answers = [self._rows(computing), self._rows(drawing)]
        if not isinstance(self._answers[0], processes.Unknown):
            self._answers[0] = (self._answers[0], hidden)

    @staticmethod
    def _rows(found):
        if found is None:
            return processes.Unknown(pymtml.NVMLError_Timeout())
        return [types.SimpleNamespace(pid=pid, usedGpuMemory=memory) for pid, memory in found.items()]

    def ask(self, function):
        return self._answers[0 if function is processes.compute_processes else 1]


def test_each_process_stands_once():
    """By its number; one that computes and draws is both, one that is on an instance is the instance's."""
    instance = Asked({30: 3, 8: 4}, None, hidden=5)
    card = Asked({7: 100, 30: 2}, {7: 100, 9: 10}, hidden=2, instances=[Asked(None, {10: 6}), instance])
    found = [(one.pid, one.kind, one.memory, one.instance) for one in processes.processes(card)]
    assert found == [
        (7, "C+G", 100, None),
        (8, "C", 4, instance),
        (9, "G", 10, None),
        (10, "G", 6, card.instances[0]),
        (30, "C", 2, instance),
    ]
    assert all(one.card is card for one in processes.processes(card))
    assert processes.unseen([card]) == 5 and processes.unseen([Asked({}, {}, hidden=7), card]) == 7
    assert [one.pid for one in processes.processes(Asked({4: 1}, None))] == [4]


def test_what_nothing_tells_is_no_list():
    """Who draws does not say who computes."""
    assert isinstance(processes.processes(Asked(None, {9: 10})), processes.Unknown)
    assert processes.unseen([Asked(None, {9: 10})]) == 0


@pytest.mark.parametrize(
    "user, effective, who",
    [(0, "1fffff7ffff", "needs CAP_SYS_PTRACE"), (0, "80000", "not even by root"), (4711, "0", "root sees all")],
)
def test_who_could_look_into_others(user, effective, who, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "status").write_text("CapEff:\t%s\n" % effective)
    assert processes.unseen_text(1) == "1 process could not be inspected (%s)" % who
    assert processes.unseen_text(2) == "2 processes could not be inspected (%s)" % who


@pytest.mark.parametrize("table", ["first look", "has samples", "no table"])
def test_a_first_look_for_shares_is_followed_by_a_second(proc, monkeypatch, table):
    """The first one since the driver was loaded only starts its counters; one with samples, or in vain, is enough."""
    add(proc, 5, "/dev/mtgpu.1")
    looks = []

    def later(seconds):
        looks.append(seconds)
        driver_files.write_table(str(proc), 1, driver_files.process_row(5, 5, (42, 0, 0, 0, 42, 0), "train"))

    if table != "no table":
        driver_files.write_table(str(proc), 1)
    if table == "has samples":
        later(0)
    monkeypatch.setattr(processes.time, "sleep", later)
    with simulated.machine("s3000x2"):
        line = invoke("pmon", "-c", "1", "-s", "u").lines[-1].split()
        assert invoke("pmon", "-c", "1", "-s", "m").status == 0
        document = json.loads(invoke("pmon", "-c", "1", "--json").stdout)
    assert line[1:4] == ["5", "C", "42" if table != "no table" else "-"]
    shown = document["devices"][1]["processes"]["list"][0]["gpu_percent"]
    assert shown == (42 if table != "no table" else None)
    assert looks == {"first look": [0.25], "has samples": [0], "no table": []}[table]


POD, DIGITS = "1c9a5e9b-3f3f-4b3b-9c58-3f3d1b0a9b5c", "0123456789ab" + "cd" * 26
SLICE = "kubepods-burstable-pod" + POD.replace("-", "_") + ".slice"
# The forms of kubelet, of runtimes and of Slurm: what a process's cgroup file has, and to whom the process belongs
OWNERS = {
    "0::/kubepods.slice/kubepods-burstable.slice/%s/cri-containerd-%s.scope" % (SLICE, DIGITS): (POD, DIGITS[:12], ""),
    "0::/system.slice/containerd.service/%s:cri-containerd:%s" % (SLICE, DIGITS): (POD, DIGITS[:12], ""),
    "0::/../../%s/crio-%s.scope/container" % (SLICE, DIGITS): (POD, DIGITS[:12], ""),
    "7:pids:/kubepods/besteffort/pod%s/%s\n0::/" % (POD, DIGITS): (POD, DIGITS[:12], ""),
    "0::/kubepods/pod%s/%s" % ("5e" * 16, DIGITS): ("5e" * 16, DIGITS[:12], ""),
    "0::/docker/%s/kubelet/kubepods/pod%s/%s" % ("fe" * 32, POD, DIGITS): (POD, DIGITS[:12], ""),
    "0::/system.slice/docker-%s.scope" % DIGITS: ("", DIGITS[:12], ""),
    "0::/machine.slice/libpod-%s.scope/container" % DIGITS: ("", DIGITS[:12], ""),
    "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0": ("", "", "4711"),
    "12:memory:/slurm/uid_1000/job_4711/step_batch/task_0": ("", "", "4711"),
    "0::/user.slice/user-1000.slice/session-7.scope": ("", "", ""),
    "0::/build/job_4711/pod-tools/%s" % DIGITS[:40]: ("", "", ""),
    "\xff" * 70000: ("", "", ""),
}


@pytest.mark.parametrize("text", OWNERS)
def test_whose_a_process_is(proc, text):
    add(proc, 77)
    (proc / "77" / "cgroup").write_bytes((text + "\n").encode("latin-1"))
    assert cgroup.owner(77) == OWNERS[text]


def test_a_process_that_is_gone_belongs_to_nobody(proc):
    assert cgroup.owner(78) == ("", "", "")


def test_who_uses_which_card(proc, monkeypatch):
    """ps: from /proc; what is missing there is a dash, and null in JSON."""
    me, pod = pwd.getpwuid(os.geteuid()).pw_name, "0f1e2d3c-1234-1234-1234-123456789abc"
    for pid, node in ((1000, "mtgpu.0"), (1001, "mtgpu.0"), (1002, "mtgpu.2")):
        driver_files.write_process(str(proc), pid, ["/opt/train", "--name", "模型", "a\x1bb"], "/dev/" + node)
    (proc / "stat").write_text("cpu 1 2\nbtime 1764940000\n")
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    fields = [0] * 8 + [150 * ticks, 50 * ticks] + [0] * 6 + [2000 * ticks, 0, (3 << 20) // page]
    (proc / "1001" / "stat").write_text("1001 (a ) b) S 0 " + " ".join(map(str, [0] + fields)))
    group = "0::/kubepods/pod%s/%s\n" % (pod, "ab" * 32)
    (proc / "1001" / "cgroup").write_text(group)
    monkeypatch.setattr(users, "time", types.SimpleNamespace(time=lambda: 1764942400.0))
    hour_ahead = types.SimpleNamespace(
        localtime=lambda seconds: time.gmtime(seconds + 3600), gmtime=time.gmtime, strftime=time.strftime
    )
    monkeypatch.setattr(ps, "time", hour_ahead)
    with simulated.machine("s3000-mpc"):
        text, document = invoke("ps"), json.loads(invoke("ps", "--json", "-i", "0").stdout)
        looped = invoke("ps", "-i", "1", "-l", "0.1", "-c", "2", "--json").lines
    command = "/opt/train --name 模型 a\\x1bb"
    blank = " " * (len(me) - 4)
    assert text.lines == [
        "GPU   PID  USER%s  GPU-MEM  GPU%%  HOST-MEM  CPU%%             SINCE  OWNER%s  COMMAND" % (blank, " " * 35),
        "  0  1000  %s        -     -         -     -                 -  -%s  %s" % (me, " " * 39, command),
        "  0  1001  %s        -     -      3MiB    50  2025-12-05 14:40  pod %s  %s" % (me, pod, command),
        "0.0  1002  %s        -     -         -     -                 -  -%s  %s" % (me, " " * 39, command),
    ]
    first, second, third = document["devices"][0]["processes"]["list"]
    assert [process["instance"] for process in (first, second, third)] == [None, None, 0]
    known = dict(user=me, command=command, host_memory_bytes=3 << 20, cpu_percent=50.0, pod=pod, container="ab" * 6)
    known.update(job=None, started="2025-12-05T13:40:00Z", gpu_percent=None, pid=1001)
    assert {key: second[key] for key in known} == known
    assert {first[key] for key in set(known) - {"pid", "user", "command"}} == {None}
    assert [json.loads(line)["devices"][0]["index"] for line in looped] == [1, 1]


def test_ps_says_where_others_may_be(proc, hidden):
    hidden(3)
    with simulated.machine("s80"):
        assert invoke("ps").stdout == "No process visible to you; 3 could not be inspected (%s)\n" % step()
        add(proc, 20, "/dev/mtgpu.0")
        assert invoke("ps").lines[2:] == ["There may be others: 3 processes could not be inspected (%s)" % step()]
