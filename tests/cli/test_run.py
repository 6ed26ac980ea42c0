"""run: what a program is started with. tests/test_dropin.py starts programs that way, and sees what they become."""

import errno
import io
import os
import shutil
import signal
import subprocess
import sys

import pytest
import simulated
from command import invoke
from inside import run

import pymtml_dropin

HOME = os.path.dirname(os.path.abspath(pymtml_dropin.__file__))
FOLDER, SHIM_FOLDER = os.path.join(HOME, "path"), os.path.join(HOME, "bin")
PYTHON = sys.executable
# Python ignores them, and what it becomes would ignore them as well.
IGNORED = [getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name)]


@pytest.fixture
def started(monkeypatch):
    """What this process would have become, in place of becoming it: (file, command, variables) each."""
    calls, before = [], {number: signal.signal(number, signal.SIG_IGN) for number in IGNORED}

    def execve(file, command, variables):
        assert [signal.getsignal(number) for number in IGNORED] == [signal.SIG_DFL] * len(IGNORED)
        if not os.path.getsize(file):
            raise OSError(errno.ENOEXEC, os.strerror(errno.ENOEXEC))
        calls.append((file, command, variables))

    monkeypatch.setattr(os, "execve", execve)
    yield calls
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with programs in it and in its folder bin, the only one on PATH."""
    for name in ("script.py", "archive.pyz", "program", "bin/only-here"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "isolated").write_text("#!%s -I\n" % PYTHON)
    (tmp_path / "empty").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


@pytest.mark.parametrize(
    "arguments, command, nvidia_smi, error",
    [
        ("train", "train", False, None),
        ("train -m --nvidia-smi -h --", "train -m --nvidia-smi -h --", False, None),
        ("--nvidia-smi train -x", "train -x", True, None),
        ("-m train -x", "-m train -x", False, None),
        ("-c pass", "-c pass", False, None),
        ("-- -x y", "-x y", False, None),
        ("--nvidia-smi -- train", "train", True, None),
        ("", "", False, "a program is missing"),
        ("--nvidia-smi", "", True, "a program is missing"),
        ("--", "", False, "a program is missing"),
        ("-m", "-m", False, "-m needs a module"),
        ("-c", "-c", False, "-c needs a text of Python code"),
        ("-x train", "-x train", False, "no option -x"),
        ("--nonsense", "--nonsense", False, "no option --nonsense"),
    ],
)
def test_what_the_arguments_mean(arguments, command, nvidia_smi, error):
    expected = {"help": False, "nvidia_smi": nvidia_smi, "command": command.split(), "error": error}
    assert vars(run.parse(arguments.split())) == expected
    if error:
        result = invoke("run", *arguments.split())
        said = "pymtml: %s; see `pymtml run --help`\n" % error
        assert (result.status, result.stdout, result.stderr) == (2, "", said)


HELP = invoke("help", "run").stdout


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["--nvidia-smi", "--help", "train"]])
def test_help(arguments, started):
    result = invoke("run", *arguments)
    assert (result.status, result.stdout, result.stderr, started) == (0, HELP, "", [])


def joined(*folders):
    return os.pathsep.join(folders)


@pytest.mark.parametrize(
    "before, nvidia_smi, after",
    [
        ({"A": "b"}, False, {"A": "b", "PYTHONPATH": FOLDER}),
        ({"PYTHONPATH": "", "PATH": "/p"}, False, {"PYTHONPATH": FOLDER, "PATH": "/p"}),
        ({"PYTHONPATH": joined("/a", FOLDER, "/b")}, False, {"PYTHONPATH": joined(FOLDER, "/a", "/b")}),
        ({"PATH": "/p"}, True, {"PYTHONPATH": FOLDER, "PATH": joined(SHIM_FOLDER, "/p"), "PYMTML_PYTHON": PYTHON}),
        ({}, True, {"PYTHONPATH": FOLDER, "PATH": joined(SHIM_FOLDER, os.defpath), "PYMTML_PYTHON": PYTHON}),
    ],
)
def test_the_variables_of_the_program(before, nvidia_smi, after, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "environ", before)
        variables = run.environment(nvidia_smi)
    assert variables == after


def test_the_shim_of_an_unpacked_wheel(tmp_path, monkeypatch, started):
    """Whose files have lost their modes: it would be passed over, and another nvidia-smi would run."""
    shim = tmp_path / "bin" / "nvidia-smi"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\n")
    monkeypatch.setattr(pymtml_dropin, "__file__", str(tmp_path / "__init__.py"))
    assert invoke("run", "--nvidia-smi", "-c", "pass").stderr == "" and len(started) == 1
    assert os.access(str(shim), os.X_OK)
    shim.write_text("#!/no/such/sh\n")  # as in an image without a shell
    said = "pymtml: --nvidia-smi needs /no/such/sh, which is not there; "
    for executable in ("/" + "x" * 130, "/a b/python"):  # which no first line of a script can name
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", executable)
            result = invoke("run", "--nvidia-smi", "-c", "pass")
        assert (result.status, len(started)) == (126, 1) and result.stderr.startswith(said)
    (tmp_path / "nvidia_smi.py").write_text("import sys\nprint(sys.argv[1:], sys.flags.isolated, __name__)\n")
    assert invoke("run", "--nvidia-smi", "-c", "pass").stderr == "" and len(started) == 2
    assert simulated.run([str(shim), "-L"]).stdout == "['-L'] 1 __main__\n"
    shim.chmod(0o644)
    monkeypatch.setattr(os, "chmod", lambda *_: open("/proc/no/such"))
    result = invoke("run", "--nvidia-smi", "-c", "pass")
    assert (result.status, len(started)) == (126, 2) and result.stderr.endswith("; as its owner: chmod +x\n")


def variables_of_the_program(nvidia_smi=False):
    return dict(run.environment(nvidia_smi), PYMTML_COMMAND_NAME="pymtml")  # as invoke sets it


@pytest.mark.parametrize("arguments", ["-m train x", "-c pass", "script.py x", "archive.pyz"])
@pytest.mark.parametrize("nvidia_smi", [False, True])
def test_what_this_python_runs(arguments, nvidia_smi, folder, started):
    result = invoke("run", *(["--nvidia-smi"] * nvidia_smi + arguments.split()))
    assert started == [(PYTHON, [PYTHON] + arguments.split(), variables_of_the_program(nvidia_smi))]
    assert (result.status, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("program, found", [("./program", "./program"), ("only-here", "{}/bin/only-here")])
def test_what_the_process_becomes(program, found, folder, started):
    result = invoke("run", program, "-m", "x")
    file = found.format(folder)
    assert started == [(file, [file, "-m", "x"], variables_of_the_program())]
    assert (result.status, result.stdout, result.stderr) == (0, "", "")


def test_a_program_is_looked_for_where_the_system_says_if_path_does_not(started, monkeypatch):
    monkeypatch.delenv("PATH")
    assert invoke("run", "sh").status == 0
    file = shutil.which("sh", path=os.defpath)
    assert started == [(file, [file], variables_of_the_program())]


def test_no_such_program(folder, started):
    for program in ("no-such-program", "./no-such.py"):
        result = invoke("run", program, "x")
        said = "pymtml: no program %s beside %s or on PATH\n" % (program, PYTHON)
        assert (result.status, result.stdout, result.stderr, started) == (127, "", said, [])


def test_a_program_that_the_system_does_not_start(folder, started):
    result = invoke("run", "./empty", "x")
    said = "pymtml: cannot run ./empty: %s\n" % os.strerror(errno.ENOEXEC)
    assert (result.status, result.stdout, result.stderr, started) == (126, "", said, [])


def test_a_program_that_may_not_see_pymtml_is_told_of(folder, started):
    result = invoke("run", "./isolated")
    said = "pymtml: ./isolated starts Python with -I, so it may not see pymtml; "
    said += "in its own environment, pymtml drop-in enable reaches it\n"
    assert (result.status, result.stderr, len(started)) == (0, said, 1)


@pytest.mark.parametrize(
    "line, option",
    [
        (b"#!/usr/bin/python3 -I", "-I"),
        (b"#!/usr/bin/python3 -sE", "-sE"),
        (b"#!/usr/bin/env -S python3 -u -I", "-I"),
        (b"#!/opt/\xff/bin/python -I", "-I"),
        (b"#!/usr/bin/python3 -x", None),
        (b"#!/usr/bin/python3 --E", None),
        (b"#!/usr/bin/python3 I", None),
        (b"#!/usr/bin/python3", None),
        (b"#!/opt/python/bin/perl -I", None),
        (b"#!/bin/sh -E", None),
        (b"/usr/bin/python3 -I", None),
        (b"", None),
    ],
)
def test_how_a_script_tells_its_python_to_ignore_variables(line, option, tmp_path):
    (tmp_path / "program").write_bytes(line + b"\n-I\n")
    assert run.ignores_environment(str(tmp_path / "program")) == option
    assert run.ignores_environment(str(tmp_path / "none")) is None


def test_what_was_said_before_comes_before_the_program(started, monkeypatch):
    """A process that becomes another loses what it has not written yet."""
    written, streams = [], [io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())]
    monkeypatch.setattr(os, "execve", lambda *_: written.extend(one.buffer.getvalue() for one in streams))
    with monkeypatch.context() as patch:
        for name, stream in zip(("stdout", "stderr"), streams):
            patch.setattr(sys, name, stream)
            stream.write(name)
        run.start("file", ["file"], {})
    assert written == [b"stdout", b"stderr"]


def test_where_a_process_cannot_become_another_it_waits(started, monkeypatch):
    """Windows: the program gets Ctrl-C itself, and its exit status is that of the command."""
    waits, wait = [], subprocess.Popen.wait

    def interrupted_once(self):
        waits.append(self)
        if not waits[1:]:
            raise KeyboardInterrupt
        return wait(self)

    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        patch.setattr(subprocess.Popen, "wait", interrupted_once)
        code = "import os, sys; sys.exit(os.environ['STATUS'] == '7' and 7)"
        status = run.start(PYTHON, ["python", "-Sc", code], dict(os.environ, STATUS="7"))
    assert (status, len(waits), started) == (7, 2, [])


@pytest.mark.parametrize(
    "arguments, name",
    [("./program", "program"), ("-m program.part x", "program"), ("script.py", "script"), ("-c pass", "")],
)
@pytest.mark.parametrize("terminal", [False, True])
def test_a_program_that_is_left_alone(arguments, name, terminal, folder, started, monkeypatch):
    """It gets no nvidia-smi either; a person is told."""
    monkeypatch.setenv("PYMTML_DROPIN_EXCEPT", "program script")
    monkeypatch.setattr(io, "StringIO", type("Stderr", (io.StringIO,), {"isatty": lambda self: terminal}))
    result = invoke("run", "--nvidia-smi", *arguments.split())
    said = "pymtml: %s keeps its own pynvml and nvidia-smi: PYMTML_DROPIN_EXCEPT names it\n" % name
    assert result.stderr == (said if name and terminal else "")
    (variables,) = (variables for _, _, variables in started)
    assert (SHIM_FOLDER in variables["PATH"]) == (not name)
