"""The wheel in one environment with what really installs a pymtml.py: the vendor's binding, programs that want it."""

import glob
import json
import os
import subprocess
import sys

import pytest
import simulated
import wheels
from machines import Machine
from test_interpreters import VERSIONS, interpreter

pytestmark = pytest.mark.programs

THEIRS = ["mthreads-ml-py==2.4.2", "mthreads-ml-py==2.4.3"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheels.ours(tmp_path_factory)


@pytest.fixture(params=wheels.INSTALLERS)
def environment(request, tmp_path):
    return wheels.Environment(tmp_path / "environment", request.param)


class RealNeighbors(wheels.Neighbors):
    def install(self, who, version=0):
        if who == "ours":
            return super().install(who, version)
        self.environment.fetch(self.theirs[version])
        self.present.add(who)
        self.check()

    def works(self):
        """What is imported now runs, whosever it is (count of GPUs on an eight-GPU machine)."""
        return self.environment.run(
            "-c", "import pymtml as p; p.nvmlInit(); print(p.nvmlDeviceGetCount())", env=self.env
        )

    def check(self):
        package = os.path.join(self.environment.packages, "pymtml", "__init__.py")
        module = os.path.join(self.environment.packages, "pymtml.py")
        assert self.environment.imported() == (package if "ours" in self.present else module)
        assert self.works() == "8\n"


@pytest.mark.parametrize(
    "steps",
    [
        ["+ours", "+theirs", "^theirs", "-ours"],
        ["+theirs", "+ours", "^theirs", "-theirs"],
        ["+theirs", "+ours", "^ours", "-ours"],
    ],
    ids=" ".join,
)
def test_orders(environment, wheel, simulator, tmp_path, steps):
    newer = wheels.build("wheel", tmp_path / "newer", wheels.copy_of_source(tmp_path / "source", version="99.0"))
    neighbors = RealNeighbors(environment, [wheel, newer], THEIRS)
    neighbors.env = {"LD_LIBRARY_PATH": simulator, "MTML_SIM_PROFILE": "s5000x8"}
    for step in steps:
        if step[0] == "-":
            neighbors.uninstall(step[1:])
        else:
            neighbors.install(step[1:], version=1 if step[0] == "^" else 0)


@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize(
    "requirements, command",
    [
        (["gpustack-runtime==0.2.6"], ["gpustack-runtime", "detect", "--format", "json"]),
        (["nvitop-musa==1.6.1"], ["nvitop", "-1", "--ascii"]),
        # vllm and torch are too large, and no part of the question.
        (["--no-deps", "vllm-musa==0.1.1", "torchada==0.1.103", "mthreads-ml-py>=2.2.5"], None),
    ],
    ids=["gpustack-runtime", "nvitop-musa", "vllm-musa"],
)
def test_programs_that_require_theirs(environment, wheel, simulator, tmp_path, requirements, command, first):
    for who in ("ours", "theirs") if first == "ours" else ("theirs", "ours"):
        if who == "ours":
            environment.install(wheel)
        else:
            environment.fetch(*requirements)
    assert os.path.exists(os.path.join(environment.packages, "pymtml.py"))
    assert environment.imported() == os.path.join(environment.packages, "pymtml", "__init__.py")
    if command is None:
        return
    machine = Machine(tmp_path)
    env = dict(
        os.environ,
        LD_LIBRARY_PATH=simulator,
        MTML_SIM_PROFILE=machine.path,
        GPUSTACK_RUNTIME_DETECT="mthreads",
        GPUSTACK_RUNTIME_DETECT_NO_PCI_CHECK="1",
        HOME=str(tmp_path),
        TERM="dumb",
    )
    shown = subprocess.check_output(
        [os.path.join(environment.bin, command[0])] + command[1:], env=env, universal_newlines=True, cwd=str(tmp_path)
    )
    assert shown.count(machine.gpus[0].name) >= 8
    if command[0] == "gpustack-runtime":
        found = json.loads(shown[shown.index("[\n") :])
        assert [device["uuid"] for device in found] == [gpu.text("uuid") for gpu in machine.gpus]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_python_builds_and_installs_it(version, tmp_path):
    """From the source archive, in isolation, with the build backend that this Python gets from the index."""
    python = interpreter(version)
    if python is None:
        pytest.skip("there is no Python %s on this machine" % version)
    archive = wheels.build("sdist", tmp_path / "archive")
    home = str(tmp_path / "environment")
    subprocess.run([python, "-m", "venv", home], check=True)
    pip = [os.path.join(home, "bin", "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run(pip + ["wheel", "--no-deps", "--wheel-dir", str(tmp_path / "made"), archive], check=True)
    (made,) = glob.glob(str(tmp_path / "made" / "*.whl"))
    subprocess.run(pip + ["install", made], check=True)
    code = "import pymtml, pynvml, sys; print(pynvml is pymtml, sys.prefix)"
    said = simulated.run([os.path.join(home, "bin", "pymtml"), "run", "-c", code], cwd=str(tmp_path), check=True)
    assert said.stdout == "True %s\n" % home
    files = subprocess.check_output([sys.executable, "-m", "zipfile", "--list", made], universal_newlines=True)
    assert "pymtml/__init__.py" in files
