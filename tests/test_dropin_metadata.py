"""What programs find that ask importlib.metadata for nvidia-ml-py, with the drop-in on."""

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import types

import pytest
import simulated
import wheels
from test_interpreters import interpreter

import pymtml_dropin
from pymtml_dropin import hook, metadata

pytestmark = pytest.mark.skipif(sys.version_info < (3, 8), reason="Python 3.7 has no importlib.metadata")

LIBRARY = os.listdir(sysconfig.get_path("stdlib"))
INSTALLED = sorted(["pymtml-nvml"] + [name.split(".")[0] for name in LIBRARY if name.endswith("-info")])  # on PyPy
ASK = """
import importlib.metadata as m
def of(name):
    try:
        found = m.metadata(name)
        return m.version(name), found["Name"], found["Summary"], bool(m.files(name)), m.requires(name)
    except m.PackageNotFoundError:
        return None
import json, sys
listed = [d.metadata["Name"] for d in m.distributions()]
by_path = [d.metadata["Name"] for d in m.distributions(name="nvidia-ml-py", path=sys.path)]
found = [d.version for d in m.distributions(name="nvidia-ml-py")]
print(json.dumps([of("nvidia-ml-py"), of("nvidia_ml_py"), of("NVIDIA.ML.PY"), of("pynvml"), of("no-such"), listed,
                  by_path, found]))
"""


class Other:
    """A finder of sys.meta_path that knows distributions."""

    def __init__(self, *known):
        self.find_distributions = lambda context: iter(known)


@pytest.mark.parametrize(
    "context, asked, driver, real, answers",
    [
        ({"name": "nvidia-ml-py"}, False, None, [], 1),
        ({"name": "NVIDIA_ml.py"}, False, None, [], 1),
        ({"name": "pynvml"}, False, None, [], 0),
        ({"name": None}, False, None, [], 0),
        ({"name": "nvidia-ml-py", "path": ["folder"]}, True, None, [], 0),
        ({"name": "nvidia-ml-py"}, False, "a driver", [], 0),
        ({"name": "nvidia-ml-py"}, True, "a driver", [], 1),
        ({"name": "nvidia-ml-py"}, False, None, ["a real one"], 0),
        ({"name": "nvidia-ml-py"}, True, "a driver", ["a real one"], 0),
    ],
)
def test_who_is_answered(context, asked, driver, real, answers, monkeypatch):
    finder = pymtml_dropin.Finder(pymtml_dropin.NAMES)
    finder.asked = asked
    with monkeypatch.context() as patched:
        patched.setattr(hook, "nvidia_driver", lambda: driver)
        patched.setattr(sys, "meta_path", [finder, object(), Other(*real)])
        found = list(finder.find_distributions(types.SimpleNamespace(**context)))
    said = [(one.version, one.read_text("RECORD"), str(one.locate_file("x"))) for one in found]
    assert said == [(metadata.VERSION, None, os.path.join(simulated.ROOT, "x"))] * answers


def test_fields_of_the_genuine_one():
    """Python 3.15 raises KeyError for a field that is missing, where earlier ones answered None."""
    from importlib.metadata import PathDistribution

    genuine = PathDistribution.from_name("nvidia-ml-py").metadata
    ours = metadata.StandIn().metadata
    assert "pymtml" in ours["Summary"] and ours["Version"] == metadata.VERSION
    assert set(genuine) - {"Classifier", "Dynamic", "Requires-Python", "License-File"} <= set(ours)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheels.ours(tmp_path_factory)


@pytest.fixture
def environment(wheel, tmp_path):
    uv = os.path.exists(os.path.join(os.path.dirname(sys.executable), "uv"))
    environment = wheels.Environment(tmp_path / "environment", "uv" if uv else "pip")
    environment.install(wheel)
    return environment


def forms(environment):
    """The ways to have the drop-in, each as a function that runs Python code in it."""
    command = os.path.join(environment.bin, "pymtml")
    quiet = {"PYMTML_PROC_ROOT": environment.folder}

    def run(code):
        return environment._call([command, "run", "-c", code], env=quiet)

    def folder(code):
        path = environment._call([command, "drop-in", "path"]).strip()
        return environment.run("-c", code, env=dict(quiet, PYTHONPATH=path))

    def enable(code):
        environment._call([command, "drop-in", "enable"], env=quiet)
        return environment.run("-c", code, env=quiet)

    return (run, folder, enable)


def test_the_version_is_the_one_whose_names_are_here():
    with open(os.path.join(simulated.ROOT, "facts", "nvml_surface.json")) as file:
        assert json.load(file)["source"] == "nvidia-ml-py " + metadata.VERSION


# What accelerate asks before it uses pynvml; transformers and others have the same lines.
AVAILABLE = """
import importlib.metadata, importlib.util
def available(package, metadata_name=None):
    if importlib.util.find_spec(package) is None:
        return False
    try:
        importlib.metadata.metadata(metadata_name or package)
        return True
    except importlib.metadata.PackageNotFoundError:
        return False
print(available("pynvml") or available("pynvml", "nvidia-ml-py"))
"""


def test_all_forms_answer(environment):
    """And nobody without the drop-in; beside a driver of NVIDIA's only who was asked."""
    said = environment.run("-c", ASK + AVAILABLE).splitlines()
    assert json.loads(said[0])[:5] == [None] * 5 and said[1] == "False"
    for form in forms(environment):
        text, available = form(ASK + AVAILABLE).splitlines()
        *asked, pynvml, nobody, listed, by_path, found = json.loads(text)
        for answer in asked:
            version, name, summary, files, requires = answer
            assert (version, name, files, requires) == (metadata.VERSION, "nvidia-ml-py", False, None)
            assert "pymtml" in summary and "Not installed" in summary
        assert (pynvml, nobody) == (None, None)
        assert found == [metadata.VERSION] and available == "True"
        # Lists of what is installed, and those who look into folders, find what is there.
        assert sorted(listed) == INSTALLED and by_path == []
    mark = os.path.join(environment.folder, "driver", "nvidia", "version")
    os.makedirs(os.path.dirname(mark))
    open(mark, "w").close()
    run, folder, enabled = forms(environment)
    assert json.loads(run(ASK))[0][0] == json.loads(folder(ASK))[0][0] == metadata.VERSION
    assert json.loads(enabled(ASK))[0] is None


def test_what_installers_and_a_real_one_see(environment):
    """pip runs in the environment itself, with the drop-in on; nvidia-ml-py is no part of what it lists or checks. A
    real one answers for itself, in all forms."""
    *_, enable = forms(environment)
    assert json.loads(enable(ASK))[0][0] == metadata.VERSION
    needy = wheels.stand_in(environment.folder, "needy", "1.0", {"needy.py": ""}, "Requires-Dist: nvidia-ml-py\n")
    theirs = wheels.stand_in(environment.folder, "nvidia-ml-py", "12.1", {"pynvml.py": "NVIDIA = 1\n"})

    def pip(*arguments):
        # What `pip --python` starts after it has started itself.
        runner = os.path.join(os.path.dirname(importlib.util.find_spec("pip").origin), "__pip-runner__.py")
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
        env.update(PYMTML_PROC_ROOT=environment.folder, PIP_CONFIG_FILE=os.devnull, PIP_DISABLE_PIP_VERSION_CHECK="1")
        done = simulated.run([environment.python, runner] + list(arguments), env=env)
        return done.returncode, done.stdout + done.stderr

    status, said = pip("list", "--format=freeze")
    assert status == 0 and sorted(line.split("==")[0] for line in said.split()) == INSTALLED
    environment.install(needy)
    status, said = pip("check")
    assert status == 1 and "needy 1.0 requires nvidia-ml-py, which is not installed" in said
    environment.install(theirs)
    assert pip("check")[0] == 0
    for form in forms(environment):
        asked, *_, by_path, found = json.loads(form(ASK))
        assert asked[0] == "12.1" and found == ["12.1"] and by_path == ["nvidia-ml-py"]
    environment.uninstall("nvidia-ml-py")
    assert json.loads(enable(ASK))[0][0] == metadata.VERSION


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"])
def test_every_python(version, tmp_path):
    """What importlib.metadata asks a finder for has changed from one Python to the next."""
    python = interpreter(version)
    if python is None:
        pytest.skip("there is no Python %s on this machine" % version)
    env = {"PYTHONPATH": os.path.join(simulated.ROOT, "pymtml_dropin", "path"), "PATH": os.environ["PATH"]}
    env.update(PYTHONDONTWRITEBYTECODE="1", PYMTML_PROC_ROOT=str(tmp_path))
    done = subprocess.run(
        [python, "-S", "-c", "import sitecustomize\n" + ASK], env=env, stdout=subprocess.PIPE, check=True
    )
    *asked, pynvml, nobody, listed, by_path, found = json.loads(done.stdout.decode())
    assert [answer[0] for answer in asked] == [metadata.VERSION] * 3 and found == [metadata.VERSION]
    assert pynvml is nobody is None and by_path == []
