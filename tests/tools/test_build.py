"""`make build` and `pip install .` say what they need: without a network, and to an installer that is too old."""

import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
import simulated
import wheels


@pytest.fixture
def source(tmp_path):
    """A copy of the project that has no environment yet (path)."""
    folder = wheels.copy_of_source(tmp_path / "source")
    shutil.copy(os.path.join(simulated.ROOT, "Makefile"), folder)
    return folder


def make_build(source, python):
    """`make build` without a network, by some Python (CompletedProcess)."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "MAKE", "PYTHON"))}
    env.update(PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull)
    return simulated.run(["make", "--no-print-directory", "build", "PYTHON=" + python], cwd=source, env=env)


def test_a_python_with_the_backend_builds_without_a_network(source):
    """What git does not track stays out, such as a key beside the code."""
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git"] + command, cwd=source, check=True)
    key = os.path.join(source, "pymtml_cli", "id_rsa")
    with open(key, "w") as file:
        file.write("secret")
    done = make_build(source, sys.executable)
    assert done.returncode == 0, done.stderr
    wheel, archive = [glob.glob(os.path.join(source, "dist", "*" + end))[0] for end in (".whl", ".tar.gz")]
    names = zipfile.ZipFile(wheel).namelist() + tarfile.open(archive).getnames()
    assert [name for name in names if "id_rsa" in name] == [] and "pymtml_cli/main.py" in names
    names = sorted(re.sub(r"-\d+\.\d+\.\d+", "-N", name) for name in os.listdir(os.path.join(source, "dist")))
    assert names == ["pymtml_nvml-N-py3-none-any.whl", "pymtml_nvml-N.tar.gz"]
    assert not os.path.exists(os.path.join(source, ".venv-build"))


def test_without_backend_and_network_it_says_what_it_needs(monkeypatch, tmp_path, capfd):
    """The environment that it makes here has no pip, which is as good as a pip that fetches nothing, and quicker."""
    spec = importlib.util.spec_from_file_location("tool", os.path.join(simulated.ROOT, "tools", "build.py"))
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    own = tmp_path / "own"
    monkeypatch.setattr(build, "OWN", str(own))
    monkeypatch.setattr(build, "VENV", [sys.executable, "-m", "venv", "--without-pip"])
    monkeypatch.setattr(build, "BACKEND", "import no_such_backend")
    with pytest.raises(SystemExit) as raised:
        build.builder()
    for words in ("make build needs 'hatchling>=", "build where there is one", "make build PYTHON="):
        assert words in str(raised.value)
    said = capfd.readouterr()
    assert "make build: pip fetches hatchling>=" in said.out and "No module named pip" in said.err
    assert not own.exists()  # nothing half made, which the next run would take for whole
    monkeypatch.setattr(build, "ROOT", str(tmp_path / "unpacked"))
    os.mkdir(build.ROOT)
    subprocess.run(["git", "init", "--quiet"], cwd=str(tmp_path), check=True)
    assert build.tracked(str(tmp_path / "copy")) == build.ROOT  # another repository around it tracks none of its files


PARTS = """#!/bin/sh
case "$*" in
*--ignore=tests/cli\\ *) part=others ;;
*--numprocesses*) part=tools ;;
*" tests/cli") part=command ;;
*" tests/programs") part=simulated ;;
*" tests/test_documents.py "*) part=started ;;
*) part=waiting ;;
esac
echo "$@" > "$NOTES/$part"
test "$part" != "$FAILS"
"""


@pytest.mark.parametrize("fails", ["others", "waiting", "command", "simulated", "started", "nothing"])
def test_make_test_fails_with_each_of_its_parts(tmp_path, fails):
    """With a Python that runs nothing. No file is left out by all parts and make test-tools, or run by two."""
    shutil.copy(os.path.join(simulated.ROOT, "Makefile"), str(tmp_path))
    for folder in ("simulator", "venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "simulator" / "Makefile").write_text("all:\n")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "venv" / "bin" / "python").write_text(PARTS)
    (tmp_path / "venv" / "bin" / "python").chmod(0o755)
    for stamp in (".demo", ".tested", ".installed"):
        (tmp_path / "venv" / stamp).write_text("")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    environment.update(FAILS=fails, NOTES=str(tmp_path))
    command = ["make", "test", "VENV=venv"]
    done = simulated.run(command, cwd=str(tmp_path), env=environment)
    assert (done.returncode == 0) == (fails == "nothing")
    assert re.search(r"make test: (.*) failed,", done.stdout).group(1) == fails
    subprocess.run(["make", "test-tools", "VENV=venv"], cwd=str(tmp_path), env=environment, check=True)
    taken, ignored = {}, {}
    for part in ("others", "waiting", "command", "simulated", "started", "tools"):
        words = (tmp_path / part).read_text().split()
        taken[part] = [word for word in words if word.startswith(("tests", "simulator"))]
        ignored[part] = [word.partition("=")[2] for word in words if word.startswith("--ignore=")]
    assert "tests/tools" in taken["tools"] and taken["others"] == ignored["waiting"] == ignored["started"] == []
    assert sorted(ignored["others"]) == sorted(sum(taken.values(), []))
    assert sorted(ignored["command"]) == sorted(ignored["simulated"]) == sorted(taken["waiting"] + taken["tools"])
    assert [name for name in ignored["others"] if not os.path.exists(os.path.join(simulated.ROOT, name))] == []


def test_an_old_pip_reads_what_it_needs():
    """pip up to 18 does not know build-backend, and runs setup.py."""
    command = [sys.executable, "setup.py", "egg_info"]
    done = simulated.run(command, cwd=simulated.ROOT)
    assert done.returncode == 1 and done.stdout == ""
    assert "pip install --upgrade pip" in done.stderr and "pymtml_nvml-*.whl" in done.stderr
