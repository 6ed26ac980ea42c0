"""examples/ci: each project's tests pass on the simulator, and find the mistake that its mock let through."""

import os
import re
import shutil
import subprocess
import sys

import packaged
import pytest

pytestmark = packaged.needs_python_3_8
EXAMPLES = os.path.join(packaged.ROOT, "examples", "ci")
# What the new tests say of the code as it was.
MISTAKES = {
    "platform_probe": ["test_the_server_keeps_its_own_reference - assert 0 == 1"],
    "device_manager": ["test_cards_of_a_worker - TypeError"],
    "detector": [
        "test_every_card - AttributeError: 'c_mtmlPciInfo_t' object has no attribute 'pciBusId'",
        "test_card_that_does_not_tell_its_power - AttributeError",
        "test_library_is_left_as_it_was_when_a_card_is_lost - AttributeError",
    ],
    "gmi_parser": ["test_metrics - assert [] == [0, 5]", "test_what_is_not_known - KeyError: 0"],
}


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


@pytest.fixture(params=sorted(MISTAKES))
def project(request):
    return request.param


def pytest_in(folder, *arguments):
    """What pytest says of a project that has the package installed (CompletedProcess)."""
    environ = packaged.environment(packaged.ROOT, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1")
    environ["COLUMNS"] = "200"  # room for whole messages
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "mtml_simulator.plugin"]
    command += ["-c", os.devnull, "--rootdir", str(folder), "--tb=line", "-rf"]
    return packaged.run(command + list(arguments), environ, cwd=str(folder))


def test_projects():
    found = [name for name in os.listdir(EXAMPLES) if os.path.isdir(os.path.join(EXAMPLES, name))]
    assert sorted(found) == sorted(MISTAKES)


def test_passes(project):
    done = pytest_in(os.path.join(EXAMPLES, project), "test_%s.py" % project)
    assert done.returncode == 0, done.stdout


def test_is_short(project):
    with open(os.path.join(EXAMPLES, project, "test_%s.py" % project)) as file:
        assert len(file.readlines()) < 30


def test_mock_hid_the_mistake(project):
    done = pytest_in(os.path.join(EXAMPLES, project, "as_it_was"), "with_a_mock.py")
    assert done.returncode == 0, done.stdout


def test_simulator_finds_the_mistake(project, tmp_path):
    shutil.copy(os.path.join(EXAMPLES, project, "as_it_was", project + ".py"), str(tmp_path))
    shutil.copy(os.path.join(EXAMPLES, project, "test_%s.py" % project), str(tmp_path))
    done = pytest_in(tmp_path)
    assert done.returncode == 1, done.stdout
    failed = re.findall(r"^FAILED \S+::(.*)$", done.stdout, re.M)
    assert len(failed) == len(MISTAKES[project]), done.stdout
    for mistake, said in zip(MISTAKES[project], failed):
        assert said.startswith(mistake), done.stdout


def test_github_actions_file(tmp_path):
    """Its steps, with the packages of this checkout instead of an installation from the network."""
    yaml = pytest.importorskip("yaml")
    path = os.path.join(EXAMPLES, "platform_probe", ".github", "workflows", "test.yml")
    with open(path) as file:
        steps = yaml.safe_load(file)["jobs"]["test"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert [re.match(r"\w+ ?\w*", command).group() for command in commands] == ["pip install", "pytest"]
    requirements = re.findall(r'"([^"]+)"', commands[0])
    with open(os.path.join(packaged.SIMULATOR, "pyproject.toml")) as file:
        assert requirements[1].partition(" ")[0] in file.read()
    with open(os.path.join(packaged.ROOT, "pyproject.toml")) as file:
        assert 'name = "%s"' % requirements[0].partition(" ")[0] in file.read()
    assert [requirement.partition("#")[2] for requirement in requirements] == ["", "subdirectory=simulator"]
    shutil.copytree(os.path.join(EXAMPLES, "platform_probe"), str(tmp_path / "project"))
    environ = packaged.environment(packaged.ROOT, PYTEST_ADDOPTS="-p mtml_simulator.plugin -p no:cacheprovider")
    environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environ["PATH"]
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    shutil.rmtree(str(tmp_path / "project" / "as_it_was"))
    done = subprocess.run(
        ["sh", "-ec", "python -m " + commands[1]],
        cwd=str(tmp_path / "project"),
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    assert done.returncode == 0, done.stdout
