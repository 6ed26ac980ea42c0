"""doctor: a finding for each thing that is wrong, nothing for what is right, and the exit status that follows."""

import contextlib
import ctypes
import io
import itertools
import json
import os
import sys
import time
import types

import pytest
import simulated
from command import driver_tree, invoke, run_command
from inside import QUESTIONS, Machine, capture, checks, containers, default_path, doctor, topology

import pymtml


def findings(*arguments, **machine):
    """(exit status, {check: [(level, text, next step)]}) of doctor on a machine."""
    with simulated.machine(machine.pop("profile", "s3000x2"), **machine):
        result = invoke("doctor", "--json")
    report = json.loads(result.stdout)
    assert (result.status, result.stderr) == (report["exit_status"], "")
    found = {}
    for finding in report["findings"]:
        text = "GPU %s: " % topology.ranges(finding["gpus"]) * bool(finding["gpus"]) + finding["text"]
        found.setdefault(finding["check"], []).append((finding["status"], text, finding["advice"]))
    return result.status, found


DOCTORS = {"ok": "OK", "note": "NOTE", "warn": "WARNING", "fail": "CRITICAL", "n/a": "N/A"}  # as 0.3 had them


class InThisProcess:
    """In the place of the child: what that asks is asked here, where a test can change it."""

    def __init__(self, _, wanted):
        self._wanted, self.hangs_in_a_look = wanted, False

    def messages(self, _):
        found = []
        doctor._ask(self._wanted, lambda *message: found.append(json.loads(json.dumps(message))))
        asked = [value for kind, value in found if kind == "asking"]
        assert asked[-1:] in ([], [None])  # what hangs after the checks of cards is no card's
        return found + [["end", None]]

    def stop(self):
        pass


@pytest.fixture(autouse=True)
def own_process(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(doctor, "Child", InThisProcess)
        yield patched


def levels(found, check):
    return [level for level, _, _ in found.get(check, [])]


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """A proc file system in which everything can be seen."""
    (tmp_path / "1" / "fd").mkdir(parents=True)
    driver_tree(tmp_path, 2)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))


LEAVES = "an init leaves no device node open"
IN_THE_CHILD = "initialize only in the child, or start it by spawn"


@pytest.mark.parametrize("fault", ["mtmlLibraryInit=DRIVER_FAILURE", "mtmlLibraryCountDevice=TIMEOUT"])
def test_an_init_that_fails_in_a_forked_child(fault):
    """And one after which not even the cards can be counted."""
    with simulated.machine("s80", faults=fault):
        found = doctor.fork_finding([])
    assert found == ("WARNING", "fork", "an init in a forked child fails; " + LEAVES, IN_THE_CHILD)


def test_an_init_that_hangs_in_a_forked_child(monkeypatch):
    """It is looked at again and again, until the time is over; nothing of it stays."""
    pauses, children = [], []

    def fork(real=os.fork):
        child = real()
        children.append(child)
        return child or time.sleep(60)

    clock = types.SimpleNamespace(monotonic=itertools.count().__next__, sleep=pauses.append)
    monkeypatch.setattr(doctor, "time", clock)
    monkeypatch.setattr(doctor, "FORK_SECONDS", 3)
    monkeypatch.setattr(os, "fork", fork)
    found = doctor.fork_finding([])
    assert found == ("WARNING", "fork", "an init in a forked child hangs; " + LEAVES, IN_THE_CHILD)
    assert len(pauses) > 1 and max(pauses) < 0.1
    with pytest.raises(ChildProcessError):
        os.waitpid(children[0], os.WNOHANG)
    monkeypatch.delattr(os, "fork")
    opens = "an init opens /dev/mtgpu.0; this system does not fork"
    assert doctor.fork_finding(["/dev/mtgpu.0"]) == ("N/A", "fork", opens, None)


def test_no_library(tmp_path):
    result = run_command("doctor", extra_environment={"PYMTML_LIBRARY": str(tmp_path / "none.so")})
    assert (result.returncode, result.stderr) == (2, "")
    assert "fail  init" in result.stdout and str(tmp_path) in result.stdout
    assert result.stdout.endswith("verdict: pymtml does not work: 1 failure\n")


@pytest.mark.parametrize(
    "visible, words",
    [
        ("1", "only see these, as 0 and up: GPU 1"),
        ("1,0,9,1", "only see these, as 0 and up: GPU 1, GPU 0"),
        (" 1", "only see these, as 0 and up: GPU 1"),
        ("1,INSTANCE", "only see these, as 0 and up: GPU 1, an MPC instance"),
        ("all", "see all cards, numbered as here"),
        ("0,1", "see all cards, numbered as here"),
        ("NoDevFiles", "see no card"),
        ("", "see no card"),
    ],
)
def test_visible_devices_are_explained(monkeypatch, visible, words):
    """In the words of what `musa_visible_devices` answers."""
    visible = visible.replace("INSTANCE", simulated.profile("s3000-mpc")["device.0.instance.0"]["uuid"])
    monkeypatch.setenv("MUSA_VISIBLE_DEVICES", visible)
    with simulated.machine("s3000-mpc"), Machine() as machine:
        found = doctor.visible_finding(machine.cards)
    assert found[:3] == ("NOTE", "variable", "MUSA_VISIBLE_DEVICES=%s: MUSA programs %s" % (visible, words))
    assert bool(found.next_step) == ("see all" not in words)


def test_visible_devices_that_do_not_answer(monkeypatch):
    monkeypatch.setenv("MUSA_VISIBLE_DEVICES", simulated.device_keys("s5000x8", 1)["uuid"])
    _, found = findings(profile="s5000x8", faults="mtmlLibraryInitDeviceByUuid=TIMEOUT")
    text = "MUSA_VISIBLE_DEVICES=%s: the cards that it names do not answer: Unknown Error: the driver timed out"
    assert ("WARNING", text % os.environ["MUSA_VISIBLE_DEVICES"], None) in found["variable"]
    monkeypatch.setenv("MUSA_VISIBLE_DEVICES", "")  # names no card, which is not the same as a variable that is not set
    assert "see no card" in findings(profile="s80")[1]["variable"][-1][1]


def test_text_and_json_say_the_same(seen):
    with simulated.machine("s5000x8"):
        text = invoke("doctor")
        report = json.loads(invoke("doctor", "--json").stdout)
    assert text.status == report["exit_status"] == ("OK", "WARNING", "CRITICAL").index(report["status"])
    assert text.lines[-1] == "verdict: pymtml " + report["verdict"]
    for finding in report["findings"]:
        if finding["check"] != "cost":
            about = "GPU %s: " % topology.ranges(finding["gpus"]) if finding["gpus"] else ""
            assert "%-5s %-10s %s%s" % (finding["level"], finding["check"], about, finding["text"]) in text.lines
        assert DOCTORS[finding["level"]] == finding["status"] and finding["next_step"] == finding["advice"]


class Terminal(io.StringIO):
    """An output that knows what was there when it was flushed."""

    flushed = ()

    def flush(self):
        self.flushed += (self.getvalue(),)


def test_each_finding_is_there_before_the_next_is_looked_for(monkeypatch):
    found = [doctor.Finding("OK", "library", "is there"), doctor.Finding("WARNING", "nodes", "none\n", "look at dmesg")]
    first = "ok    library    is there\n"
    both = first + "warn  nodes      none\\x0a\n                 -> look at dmesg\n"

    def examine(*_):
        for said, one in zip(("", first), found):
            assert out.getvalue() == said and out.flushed == ((said,) if said else ())
            yield one

    monkeypatch.setattr(doctor, "examine", examine)
    with contextlib.redirect_stdout(Terminal()) as out:
        assert doctor.run([]) == 1
    assert out.flushed == (first, both)
    assert out.getvalue() == both + "\nverdict: pymtml works in part: 1 warning\n"


def test_another_pynvml_is_a_note():
    status, found = findings()
    assert status == 0
    assert all(level in ("NOTE", "N/A") for level in levels(found, "packages"))


def test_files_of_the_same_name_on_the_path(tmp_path, monkeypatch):
    (tmp_path / "pynvml.py").write_text("")
    (tmp_path / "pymtml.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    status, found = findings()
    texts = [text for _, text, _ in found["packages"]]
    assert status == 0
    assert "import pynvml finds %s, which belongs to no distribution" % (tmp_path / "pynvml.py") in texts
    assert "%s is also on the path and is not used" % (tmp_path / "pymtml.py") in texts


def test_what_is_well_was_asked_and_answered(seen, tmp_path):
    """A check is called well of the cards on which all its questions are; what is not told is called that."""
    _, found = findings()
    with simulated.machine("s3000x2"):
        told = json.loads(invoke("health", "--json", "--lock", str(tmp_path / "lock")).stdout)["findings"]
    silent = {one["check"] for one in told if one["level"] == "N/A"}
    assert {"ecc", "pages", "links"} <= silent and "temperature" not in silent
    assert found["processes"] == [("OK", "GPU 0-1: all processes could be inspected", None)]
    names = [check for check in checks.OF_CARD if check != checks.PROCESSES]
    well, silent = [[check for check in names if (check in silent) == is_in] for is_in in (False, True)]
    unreported = "GPU 0-1: %s: not or only partly reported" % ", ".join(silent)
    assert found["cards"] == [("OK", "GPU 0-1: %s: in order" % ", ".join(well), None)]
    assert found["unreported"] == [("N/A", unreported, None)]
    _, found = findings(faults="1.mtmlMemoryGetTemperature=NOT_SUPPORTED")
    assert sorted(text for check in ("cards", "unreported") for _, text, _ in found[check]) == [
        "GPU 0-1: %s: in order" % ", ".join(check for check in well if check != "temperature"),
        unreported,
        "GPU 0: temperature: in order",
        "GPU 1: temperature: not or only partly reported",
    ]
    status, found = findings(profile="s5000x8", set="*.retired_pages_pending=no;3.gpu_temperature=96")
    assert (status, levels(found, "temperature"), levels(found, "cards")) == (1, ["WARNING"], [])


@pytest.mark.parametrize(
    "count, text", [(1, "n0"), (2, "n0, n1"), (6, "n0, n1, n2, n3, n4, n5"), (8, "n0, n1, n2, n3, n4, n5 and 2 more")]
)
def test_long_lists_are_cut(count, text):
    assert doctor.some(["n%d" % number for number in range(count)], 6) == text


def test_a_library_that_is_no_simulator(monkeypatch):
    """Of it the kernel module and the nodes are looked at."""
    asked = []
    monkeypatch.setattr(
        doctor, "hasattr", lambda thing, name: name != "mtmlSimReload" and hasattr(thing, name), raising=False
    )
    monkeypatch.setattr(doctor, "system_findings", lambda *arguments: asked.append(arguments) or [])
    findings()
    monkeypatch.undo()
    assert asked == [(False, True)]


@pytest.mark.parametrize("setting", ["0", "1", None])
def test_the_environment_is_left_as_it_was(monkeypatch, setting):
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
    if setting is not None:
        monkeypatch.setenv("PYMTML_KEEP_LIBRARY", setting)
    before = dict(os.environ)
    status, found = findings()
    assert status == 0 and dict(os.environ) == before
    shown = ("NOTE", "PYMTML_KEEP_LIBRARY=%s" % setting, None)
    assert (shown in found["variable"]) == (setting is not None)


def test_who_owns_files_of_the_same_name(monkeypatch):
    here = pymtml.__file__
    owners = [("pymtml", "pymtml_NVML", here), ("pymtml", "pymtml", here), ("pymtml", "old", "/x/pymtml.py")]
    owners.append(("pynvml", "nvidia-ml-py", "/x/pynvml.py"))
    monkeypatch.setattr(doctor, "files_on_path", lambda: [("pynvml", "/x/pynvml.py", True), ("pymtml", here, False)])
    monkeypatch.setattr(doctor, "file_owners", lambda: owners)
    first, *rest = [tuple(one) for one in doctor.python_findings()]
    version = "%d.%d.%d" % sys.version_info[:3]
    assert first == ("OK", "module", "pymtml %s, %s, Python %s" % (pymtml.__version__, here, version), None)
    in_use = "pymtml owns the file in use: if you uninstall it, install pymtml's wheel again"
    instead = "`pymtml run PROGRAM` or `pymtml drop-in` put pymtml in its place"
    assert rest == [
        ("NOTE", "packages", "pymtml owns %s" % here, in_use),
        ("NOTE", "packages", "old owns /x/pymtml.py", "this module comes first; nothing to do"),
        ("NOTE", "packages", "nvidia-ml-py provides pynvml (/x/pynvml.py)", instead),
    ]
    monkeypatch.setattr(doctor, "file_owners", lambda: None)
    rest = [tuple(one) for one in doctor.python_findings()][1:]
    of_none = "import pynvml finds /x/pynvml.py, which belongs to no distribution"
    stands = "is also on the path and is not used"
    assert rest == [
        ("NOTE", "packages", of_none, "`pymtml run PROGRAM` puts pymtml in its place"),
        ("NOTE", "packages", "%s %s" % (here, stands), "remove it"),
        ("N/A", "packages", "Python %s cannot list distributions" % version, None),
    ]


@pytest.mark.skipif(sys.version_info < (3, 8), reason="distributions cannot be listed there")
def test_distributions_with_files_of_the_same_name(tmp_path, monkeypatch):
    """One of them does not tell its name, and setup.py wrote one."""
    texts = {"old-1.0.egg-info/PKG-INFO": "Metadata-Version: 1.0\nName: old\nVersion: 1.0\n"}
    texts.update(
        {"old-1.0.egg-info/SOURCES.txt": "pynvml.py\n", "old-1.0.egg-info/installed-files.txt": "../pynvml.py\n"}
    )
    listed = {
        "two": ["pymtml/__init__.py"],
        "three": ["deeper/pynvml.py"],
        "": ["pymtml.py", "pynvml/__init__.py", "x.py"],
    }
    for name, files in listed.items():
        folder = "%s-1.0.dist-info/" % (name or "x")
        texts[folder + "METADATA"] = "Metadata-Version: 2.1\n%sVersion: 1.0\n" % (name and "Name: %s\n" % name)
        texts[folder + "RECORD"] = "".join("%s,,\n" % file for file in files)
        texts.update(dict.fromkeys(files + ["pynvml.py"], ""))  # from Python 3.12 on others are not listed
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    found = doctor.file_owners()
    assert found == sorted(found, key=lambda one: one[0]) and len(found) == 4
    assert set(found) == {
        ("pymtml", "two", str(tmp_path / "pymtml" / "__init__.py")),
        ("pymtml", "?", str(tmp_path / "pymtml.py")),
        ("pynvml", "?", str(tmp_path / "pynvml" / "__init__.py")),
        ("pynvml", "old", str(tmp_path / "pynvml.py")),
    }


def test_a_file_on_the_path_is_told_once(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pynvml.py").write_text("")
    (tmp_path / "c").symlink_to(tmp_path / "a")
    (tmp_path / "b" / "pynvml").mkdir()
    (tmp_path / "b" / "pynvml" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path / name) for name in "abca"])
    found = [(path, used) for module, path, used in doctor.files_on_path() if module == "pynvml"]
    assert found == [
        (str(tmp_path / "a" / "pynvml.py"), True),
        (str(tmp_path / "b" / "pynvml" / "__init__.py"), False),
        (str(tmp_path / "b" / "pynvml.py"), False),
    ]


@pytest.mark.parametrize(
    "level, usual, noted",
    [("OK", "OK", "OK"), ("N/A", "N/A", "N/A"), ("NOTE", "OK", "NOTE")]
    + [("WARNING", "WARNING", "WARNING"), ("CRITICAL", "WARNING", "WARNING")],
)
def test_what_doctor_makes_of_each_level_of_health(level, usual, noted):
    """A counter that health notes is no sign of trouble here; who could not be seen, and a full idle card, is noted."""
    found = [(check, doctor.finding_of(check, checks.Outcome(level, "text of " + check, 1, 2))) for check in QUESTIONS]
    for check, one in found:
        assert one.level == (noted if check in ("utilization", "processes") else usual), check
        assert (one.check, one.text) == ("cards" if check == "answers" else check, "text of " + check)
    steps = [one.next_step for _, one in found]
    assert len(set(steps)) == len(steps) == len(QUESTIONS) and all(steps)


@pytest.mark.parametrize("init, queries, slow", [(5.0, 2.0, False), (5.1, 2.0, True), (5.0, 2.1, True), (0, 0, False)])
def test_what_asking_costs(init, queries, slow, monkeypatch):
    """Twenty queries are timed."""
    monkeypatch.setattr(doctor, "time", types.SimpleNamespace(perf_counter=iter([7.0, 7.0 + queries]).__next__))
    with simulated.machine("s80"), Machine() as machine:
        simulated.reset_calls()
        one = doctor.cost_finding(machine.cards[0], init)
        assert simulated.calls("mtmlMemoryGetUsed") == 20
    text = "init %.1f ms, a memory query %.3f ms" % (init * 1000, queries * 50)
    step = "a driver in trouble, or a loaded host: look at dmesg"
    assert one == (("WARNING", "cost", text + ": slow", step) if slow else ("OK", "cost", text, None))


@pytest.mark.parametrize(
    "lacks, level, header, others",
    [(("mtmlSystemGetDriverVersion",), "WARNING", 115, 0), (("mtmlDeviceGetPcieReplayCounter",), "NOTE", 116, 1)],
)
def test_functions_that_a_library_lacks(lacks, level, header, others, monkeypatch):
    further = len(pymtml._OPTIONAL_PROTOTYPES)
    with simulated.machine("s80"), Machine():
        whole = doctor.functions_finding()
        monkeypatch.setattr(capture, "missing", lambda: list(lacks))
        one = doctor.functions_finding()
    assert whole == ("OK", "functions", "116 of 116 functions of the header, and all that are known beyond it", None)
    text = "%d of 116 functions of the header, %d of %d others; missing: %s"
    assert one[:3] == (level, "functions", text % (header, further - others, further, lacks[0]))
    named = "nvmlDeviceGetPcieReplayCounter" if others else "nvmlSystemGetDriverVersion"
    assert one.next_step == "not or only partly reported: " + named
    beside = "mtmlMemoryGetBandwidth"  # which functions name that do not rest on it
    assert doctor.resting_on([beside] + list(lacks)) == [named]


def test_what_rests_on_a_function_is_known_without_docstrings():
    code = "from pymtml_cli.health.doctor import resting_on; print(resting_on(['mtmlDeviceGetIndex']))"
    printed = simulated.run([sys.executable, "-OO", "-c", code], cwd=simulated.ROOT).stdout
    assert printed == "['nvmlDeviceGetIndex']\n"


def test_where_the_library_was_found(monkeypatch):
    with simulated.machine("s80"), Machine():
        path = os.path.realpath(simulated.LIBRARY)
        assert doctor.library_finding() == ("OK", "library", path + ", found through PYMTML_LIBRARY", None)
        monkeypatch.delenv("PYMTML_LIBRARY")
        usual = "%s, found as %s by the usual search" % (path, pymtml.nvmlLib._name)
        assert doctor.library_finding() == ("OK", "library", usual, None)


def test_the_file_that_holds_the_library(monkeypatch):
    """What lies where the function lies: not what ends there, and no memory without a file."""
    with simulated.machine("s80"), Machine():
        first = ctypes.cast(pymtml._mtmlGetFunctionPointer("mtmlLibraryInit"), ctypes.c_void_p).value
        maps = "%x-%x r--p 00000000 fe:01 17   /x/before.so\n" % (first - 4096, first)
        maps += "%x-%x r-xp 00001000 fe:01 18   /x/a folder/lib.so\n" % (first, first + 4096)
        maps += "%x-%x r--p 00002000 fe:01 18   /x/behind.so\n" % (first + 4096, first + 8192)
        nameless = "%x-%x r-xp 00000000 00:00 0 \n" % (first, first + 1)
        for text, file in ((maps, "/x/a folder/lib.so"), (nameless, None), ("", None)):
            monkeypatch.setattr(doctor, "read", {"/proc/self/maps": text}.__getitem__)
            assert doctor.loaded_file() == file


@pytest.mark.parametrize(
    "error, words",
    [
        (pymtml.NVMLError_LibraryNotFound, "install the Moore Threads driver, or name the file in PYMTML_LIBRARY"),
        (pymtml.NVMLError_DriverNotLoaded, "load the kernel module (modprobe mtgpu)"),
        (pymtml.NVMLError_NoPermission, "look at the permissions of /dev/mtgpu*"),
        (pymtml.NVMLError_Unknown, "look at dmesg for mtgpu"),
    ],
)
def test_what_to_do_about_an_init_that_fails(error, words):
    one = doctor.init_failure(error())
    assert (one.level, one.check, one.text) == ("CRITICAL", "init", str(error())) and one.next_step.startswith(words)


def test_whether_it_works_once_more(monkeypatch):
    nodes = ["/dev/dri/renderD128", "/dev/mtgpu.0"]
    with simulated.machine("s80"):
        assert doctor.fork_finding([])[:2] == ("OK", "fork")
        assert doctor.fork_finding(nodes).text.endswith("opens %s, which a child inherits" % ", ".join(nodes))
        assert doctor.second_life_finding()[:2] == ("OK", "reinit")
    with simulated.machine("s80", faults="mtmlLibraryShutDown=TIMEOUT@0x1"):
        assert doctor.second_life_finding() == ("WARNING", "reinit", "the shutdown failed: Timeout", "look at dmesg")
        pymtml.mtmlLibraryShutDown()


# ---- Device nodes ----


def test_which_open_files_are_nodes_of_cards(monkeypatch):
    files = {"3": "/dev/mtgpu.0", "4": "/dev/dri/renderD128", "5": "/dev/null", "6": "/tmp/mtgpu.1", "7": None}

    def target(path):
        if files[os.path.basename(path)] is None:
            raise OSError(path)
        return files[os.path.basename(path)]

    folder = "/proc/self/fd/"
    monkeypatch.setattr(doctor.glob, "glob", {folder + "*": [folder + name for name in files]}.__getitem__)
    monkeypatch.setattr(os, "readlink", target)
    assert doctor.open_nodes() == {"/dev/mtgpu.0", "/dev/dri/renderD128"}


@pytest.mark.parametrize(
    "files, found, rights",
    [
        ([], ("WARNING", "no /dev/mtgpu*"), ("N/A", "no nodes")),
        (["mtgpu.0", "mtgpu.1"], ("OK", "2 of /dev/mtgpu*"), ("OK", "all nodes readable and writable")),
        (["mtgpu.0", "gone"], ("OK", "2 of /dev/mtgpu*"), ("WARNING", "no permission to use %s/gone")),
    ],
)
def test_device_nodes_and_the_rights_to_them(files, found, rights, tmp_path, monkeypatch):
    paths = [str(tmp_path / name) for name in files]
    for path in paths:
        if not path.endswith("gone"):
            open(path, "w").close()
    monkeypatch.setattr(doctor.glob, "glob", lambda pattern: paths[::-1] if pattern == "/dev/mtgpu*" else [])
    monkeypatch.setattr(doctor, "container", lambda: None)
    modes, access = set(), os.access
    monkeypatch.setattr(os, "access", lambda path, mode: modes.add(mode) or access(path, mode))
    seen = [one for one in doctor.system_findings(False, True) if one.check in ("nodes", "rights")]
    expected = [(found[0], "nodes", found[1]), (rights[0], "rights", rights[1].replace("%s", str(tmp_path)))]
    assert [one[:3] for one in seen] == expected
    assert modes <= {os.R_OK | os.W_OK}
    assert [bool(one.next_step) for one in seen] == [found[0] == "WARNING", rights[0] == "WARNING"]


@pytest.mark.parametrize("inside", [None, "a test"])
@pytest.mark.parametrize(
    "loaded, version, text",
    [
        (False, b"package version:3.3.9-server\n", "kernel module mtgpu, 3.3.9-server"),
        (True, None, "kernel module mtgpu, version not reported"),
        (True, b"3.3.9\n", "kernel module mtgpu, version not reported"),
        (False, None, None),
    ],
)
def test_the_kernel_module(inside, loaded, version, text, tmp_path, monkeypatch):
    for name in ("PYMTML_SYS_ROOT", "PYMTML_PROC_ROOT"):
        monkeypatch.setenv(name, str(tmp_path))
    if loaded:
        (tmp_path / "module" / "mtgpu").mkdir(parents=True)
    if version is not None:
        (tmp_path / "driver" / "musa").mkdir(parents=True)
        (tmp_path / "driver" / "musa" / "version").write_bytes(version)
    monkeypatch.setattr(doctor, "container", lambda: inside)
    monkeypatch.setattr(doctor.glob, "glob", lambda pattern: [])
    monkeypatch.setattr(doctor.containers, "findings", lambda library: [])
    found = list(doctor.system_findings(False, True))
    assert found[0] == (
        ("NOTE", "container", "inside a container (a test)", None) if inside else ("OK", "container", "none seen", None)
    )
    if text is not None:
        assert found[1] == ("OK", "module", text, None)
    elif inside:
        assert found[1] == ("NOTE", "module", "kernel module mtgpu not seen from inside the container", None)
    else:
        assert found[1] == (
            "WARNING",
            "module",
            "kernel module mtgpu is not loaded",
            "modprobe mtgpu, and look at dmesg",
        )
    assert [one[1] for one in found[2:]] == ([] if inside else ["nodes"]) + ["rights"]


def test_where_there_are_no_nodes_to_look_at(monkeypatch):
    simulator = "the library is a simulator: kernel module and device nodes not checked"
    assert list(doctor.system_findings(True, True)) == [("N/A", "driver", simulator, None)]
    monkeypatch.setattr(sys, "platform", "win32")
    elsewhere = "kernel module and device nodes are only checked on Linux"
    assert list(doctor.system_findings(False, True)) == [("N/A", "driver", elsewhere, None)]


# ---- Containers ----


class Tree:
    """A file system as a container sees it."""

    def __init__(self, root):
        self.root = root

    def write(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def findings(self, library=True):
        return {
            (level, check): (text, step) for level, check, text, step in containers.findings(library, str(self.root))
        }


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.delenv("MTHREADS_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("container", raising=False)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "proc"))
    tree = Tree(tmp_path)
    (tmp_path / "sys" / "bus" / "pci" / "devices").mkdir(parents=True)
    return tree


OVERLAY = "22 1 0:20 / / rw - overlay overlay rw\n30 22 0:5 /mtgpu.0 /dev/mtgpu.0 rw - devtmpfs devtmpfs rw\n"
ROOTS = "22 1 0:20 / / rw - %s x rw\n23 22 0:20 / / rw - %s x rw\n"


@pytest.mark.parametrize(
    "path, text, words",
    [
        (".dockerenv", "", "/.dockerenv"),
        ("run/.containerenv", "", "/run/.containerenv"),
        ("proc/1/cgroup", "0::/system.slice/docker-77.scope\n", "/proc/1/cgroup names docker"),
        ("proc/1/cgroup", "12:memory:/\xff\xd6/kubepods/besteffort/pod7\n", "/proc/1/cgroup names kubepods"),
        ("proc/1/cgroup", "0::/lxc/7\n", "/proc/1/cgroup names lxc"),
        ("proc/1/cgroup", "0::/init.scope\n", None),
        ("proc/self/mountinfo", OVERLAY, "its root is an overlay"),
        ("proc/self/mountinfo", ROOTS % ("rootfs", "overlay"), "its root is an overlay"),
        ("proc/self/mountinfo", ROOTS % ("overlay", "ext4"), None),
    ],
)
def test_containers_give_themselves_away(path, text, words, tree, monkeypatch):
    tree.write(path)
    (tree.root / path).write_bytes(text.encode("latin-1"))
    assert containers.container(str(tree.root)) == words
    monkeypatch.setenv("container", "podman")
    assert containers.container(str(tree.root)) == (words if path.endswith("env") else "container=podman")


def test_a_container_that_got_everything(tree, monkeypatch):
    monkeypatch.setenv("MTHREADS_VISIBLE_DEVICES", "all")
    for path in ("dev/mtgpu.0", "dev/mtgpu.1", "dev/mtgpuctl", "dev/dri/renderD128", "dev/dri/card0"):
        tree.write(path)
    tree.write("proc/driver/musa/version")
    tree.write("proc/self/mountinfo", OVERLAY)
    found = tree.findings()
    assert found == {
        ("OK", "variable"): ("MTHREADS_VISIBLE_DEVICES=all", None),
        ("OK", "mounts"): ("2 of /dev/mtgpu.N, 1 of /dev/dri/renderDN; mounted from the host: /dev/mtgpu.0", None),
    }


RUNTIME = "docker run --runtime=mthreads -e MTHREADS_VISIBLE_DEVICES=all"
NO_RUNTIME = "=all, and no nodes: the runtime of mthreads did not start this container"
DAEMON = "docker run --runtime=mthreads; /etc/docker/daemon.json must name that runtime"
BESIDE = "--privileged and --device add nodes to those of the runtime"


@pytest.mark.parametrize(
    "visible, nodes, level, text, step",
    [
        (None, 0, "WARNING", " is not set: no cards were requested", RUNTIME),
        (None, 2, "NOTE", " is not set: the nodes came by --device or --privileged", None),
        ("none", 0, "WARNING", "=none: no cards were requested", RUNTIME),
        ("", 0, "WARNING", "=: no cards were requested", RUNTIME),
        ("Void ", 1, "WARNING", "=Void : no cards were requested", RUNTIME),
        ("NoDevFiles", 1, "WARNING", "=NoDevFiles: no cards were requested", RUNTIME),
        ("all", 0, "WARNING", NO_RUNTIME, DAEMON),
        ("All", 1, "OK", "=All", None),
        ("0,1", 2, "OK", "=0,1", None),
        ("0, 1,,0", 2, "OK", "=0, 1,,0", None),
        ("0,1", 1, "NOTE", "=0,1: 2 cards requested; device nodes here: 1", BESIDE),
        ("0,1", 0, "WARNING", "=0,1: 2 cards requested; device nodes here: 0", "docker run --runtime=mthreads"),
    ],
)
def test_what_a_container_asked_for(tree, monkeypatch, visible, nodes, level, text, step):
    if visible is not None:
        monkeypatch.setenv("MTHREADS_VISIBLE_DEVICES", visible)
    for number in range(nodes):
        tree.write("dev/mtgpu.%d" % number)
    assert tree.findings()[level, "variable"] == ("MTHREADS_VISIBLE_DEVICES" + text, step)


def test_where_a_container_is_looked_at(tree, monkeypatch):
    """In the system itself, if nobody names another folder."""
    asked = []
    monkeypatch.setattr(containers, "read", lambda path: asked.append(path) or "")
    for name in ("exists", "isdir"):
        monkeypatch.setattr(os.path, name, asked.append)
    monkeypatch.setattr(os, "listdir", lambda path: asked.append(path) or [])
    found = containers.container(), containers.mounts(), len(list(containers.findings(True)))
    monkeypatch.undo()
    assert found == (None, [], 4) and len(asked) == 10 and all(path.startswith("/") for path in asked)


def test_what_is_mounted(tree):
    """Lines that are none of mounts are left out."""
    lines = ["22 1 0:20 / / - overlay", "23 22 0:5 /x - ext4 x", "24 22 0:5 /x /y rw - ", "25 22 0:5 /x /z rw shared:1"]
    tree.write("proc/self/mountinfo", "\n".join(lines + ["26 22 0:5 /x /dev rw shared:1 master:2 - devtmpfs x rw", ""]))
    assert containers.mounts(str(tree.root)) == [("/", "overlay"), ("/dev", "devtmpfs")]


def test_all_that_a_container_may_lack(tree):
    (tree.root / "sys" / "bus" / "pci" / "devices").rmdir()
    (tree.root / "proc" / "self" / "ns").mkdir(parents=True)
    (tree.root / "proc" / "self" / "ns" / "pid").symlink_to("pid:[4026532198]")
    nodes = "%s, or --device=/dev/mtgpu.N --device=/dev/dri for each card" % RUNTIME
    no_table = "no /proc/driver/musa: shares of processes are unavailable, and processes are found by open files"
    others = "a pid namespace of its own: processes of other containers and of the host are not visible"
    options = "docker run --pid=host shows them, with --cap-add=SYS_PTRACE what they have open"
    no_bus = "no /sys/bus/pci: NUMA nodes and display connectors are unavailable"
    assert list(containers.findings(False, str(tree.root))) == [
        ("WARNING", "variable", "MTHREADS_VISIBLE_DEVICES is not set: no cards were requested", RUNTIME),
        ("WARNING", "mounts", "0 of /dev/mtgpu.N, 0 of /dev/dri/renderDN", nodes),
        ("WARNING", "mounts", "no libmtml.so.2 in the container", "%s brings in the host's" % RUNTIME),
        ("NOTE", "mounts", no_table, "%s brings it" % RUNTIME),
        ("NOTE", "mounts", no_bus, "docker mounts /sys by default"),
        ("NOTE", "processes", others, options),
    ]


@pytest.mark.parametrize("count, more", [(6, ""), (7, " and 1 more")])
def test_what_is_mounted_from_the_host(tree, count, more):
    places = ["/dev/mtgpu.%d" % number for number in range(5)] + ["/usr/lib/libmtml.so.2", "/proc/driver/musa"]
    lines = ["22 1 0:20 / / rw - overlay overlay rw", "23 22 0:5 /x /home rw - ext4 x rw"]
    lines += ["30 22 0:5 /x %s rw - devtmpfs devtmpfs rw" % place for place in places[:count]]
    tree.write("proc/self/mountinfo", "\n".join(lines) + "\n")
    tree.write("dev/mtgpu.0")
    tree.write("proc/driver/musa/version")
    text = "1 of /dev/mtgpu.N, 0 of /dev/dri/renderDN; mounted from the host: %s%s" % (", ".join(places[:6]), more)
    step = "programs that draw, and some that compute, also need --device=/dev/dri"
    assert list(containers.findings(True, str(tree.root)))[1:] == [("NOTE", "mounts", text, step)]


def test_in_a_container_doctor_says_what_there_is(tree, monkeypatch):
    monkeypatch.setattr(doctor, "container", lambda: "a test")
    monkeypatch.setattr(
        doctor.containers, "findings", lambda library: iter([("WARNING", "mounts", "text %s" % library, "x")])
    )
    found = [(one.level, one.check, one.text) for one in doctor.system_findings(False, True)]
    assert found[:2] == [("NOTE", "container", "inside a container (a test)"), ("WARNING", "mounts", "text True")]
    assert "nodes" not in [check for _, check, _ in found]
    assert [one.level for one in doctor.system_findings(True, True)] == ["N/A"]


# ---- Raised privileges ----

FOLLOWED = ("PYMTML_LIBRARY", "PYMTML_MUSA_LIBRARY", "PYMTML_PROC_ROOT", "PYMTML_SYS_ROOT")  # unless root is lent


@pytest.mark.parametrize("name", FOLLOWED + ("PYMTML_KEEP_LIBRARY", "LD_LIBRARY_PATH", "PYMTML_COMMAND_NAME", "PATH"))
def test_variables_that_change_what_is_seen(name, monkeypatch):
    for other in FOLLOWED + ("PYMTML_KEEP_LIBRARY", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "/x")

    def said():
        return [tuple(one) for one in doctor.environment_findings()]

    text = name + "=/x"
    assert said() == ([] if name in ("PYMTML_COMMAND_NAME", "PATH") else [("NOTE", "variable", text, None)])
    monkeypatch.setattr(pymtml._session, "secure", True)
    if name in FOLLOWED:
        text += ": not followed, as this process has raised privileges"
        assert said() == [("NOTE", "variable", text, None)]


def test_no_variable_that_names_a_path_is_followed_under_raised_privileges(tmp_path, monkeypatch):
    driver_tree(tmp_path)
    (tmp_path / "module" / "mtgpu").mkdir(parents=True)
    (tmp_path / "driver" / "musa" / "version").write_text("package version:9.9.9\n")
    for name in ("PYMTML_PROC_ROOT", "PYMTML_SYS_ROOT", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))

    def said():
        found = list(doctor.environment_findings()) + list(doctor.system_findings(False, True))
        return "".join(map(doctor.as_text, found + list(doctor.file_findings(False))))

    assert "9.9.9" in said() and "gpu00: understood" in said() and "not followed" not in said()
    monkeypatch.setattr(pymtml._session, "secure", True)
    assert "9.9.9" not in said() and "gpu00" not in said()
    for name in ("PYMTML_PROC_ROOT", "PYMTML_SYS_ROOT"):
        assert "%s=%s: not followed, as this process has raised privileges" % (name, tmp_path) in said()
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    assert default_path() == "/tmp/pymtml-health-4711.lock"
