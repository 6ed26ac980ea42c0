"""examples/ci: each project's tests pass on the simulator, and find the mistakes of programs like it."""

import os
import re
import shutil
import subprocess
import sys

import packaged
import pytest

pytestmark = packaged.needs_python_3_8
EXAMPLES = os.path.join(packaged.ROOT, "examples", "ci")
ONCE_MORE = """\
            pynvml.nvmlShutdown()
            try:  # to be safe: this one is somebody else's
                pynvml.nvmlShutdown()
            except pynvml.NVMLError:
                pass
"""
# Project: what programs like it did wrong, as it is put into the project here, and what the project's tests say of it.
MISTAKES = {
    "platform_probe": (
        {"            pynvml.nvmlShutdown()\n": ONCE_MORE},
        ["test_the_server_keeps_its_own_reference - assert 0 == 1"],
    ),
    "device_manager": ({"map(int, ids)": "ids"}, ["test_cards_of_a_worker - TypeError"]),
    "detector": (
        {".sbdf,": ".pciBusId,", "(device) / 1000": "(device)", "MTMLError_NotSupported": "MTMLError"},
        [
            "test_every_card - AttributeError: 'c_mtmlPciInfo_t' object has no attribute 'pciBusId'",
            "test_card_that_does_not_tell_its_power - AttributeError",
            "test_library_is_left_as_it_was_when_a_card_is_lost - AttributeError",
            "test_no_failure_is_hidden - AttributeError",
        ],
    ),
    "gmi_parser": (
        {'int(gpu["Index"])': 'gpu["Index"]', '"Power Draw "': '"Power Draw"'},
        ["test_metrics - assert [] == [0, 5]", "test_what_is_not_known - KeyError: 0"],
    ),
}


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


def pytest_in(folder, *arguments):
    """What pytest says of a project that has the package installed (CompletedProcess)."""
    environ = packaged.environment(packaged.ROOT, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1")
    environ["COLUMNS"] = "200"  # room for whole messages
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "mtml_simulator.plugin"]
    command += ["-c", os.devnull, "--rootdir", str(folder), "--tb=line", "-rf"]
    return packaged.run(command + list(arguments), environ, cwd=str(folder))


# Tested below, each in its way.
OTHERS = {"exporter", "c_monitor", "go_monitor", "rust_monitor", "github_action", "gitlab"}


def test_projects():
    found = [name for name in os.listdir(EXAMPLES) if os.path.isdir(os.path.join(EXAMPLES, name))]
    assert set(found) == set(MISTAKES) | OTHERS
    with open(os.path.join(EXAMPLES, "README.md")) as file:
        text = file.read()
    assert [name for name in found if "`%s/" % name not in text] == []


def test_they_pass():
    done = pytest_in(EXAMPLES, *sorted(MISTAKES))
    assert done.returncode == 0, done.stdout


def test_mistakes_are_found(tmp_path):
    for project, (changes, _) in MISTAKES.items():
        path = copied(project, tmp_path) / (project + ".py")
        text = path.read_text()
        for right, wrong in changes.items():
            assert right in text, (project, right)
            text = text.replace(right, wrong)
        path.write_text(text)
    done = pytest_in(tmp_path)
    assert done.returncode == 1, done.stdout
    for project, (_, expected) in MISTAKES.items():
        failed = re.findall(r"^FAILED (?:\S+/)?test_%s.py::(.*)$" % project, done.stdout, re.M)
        assert len(failed) == len(expected), done.stdout
        for mistake, said in zip(expected, failed):
            assert said.startswith(mistake), done.stdout


def test_github_actions_file(tmp_path):
    """Its steps, with the packages of this checkout instead of an installation from the network."""
    yaml = pytest.importorskip("yaml")
    path = os.path.join(EXAMPLES, "platform_probe", ".github", "workflows", "test.yml")
    with open(path) as file:
        steps = yaml.safe_load(file)["jobs"]["test"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert [re.match(r"\w+ ?\w*", command).group() for command in commands] == ["pip install", "pytest"]
    wheels = re.findall(r"wheels/(\w+)-\*\.whl", commands[0])
    for wheel, folder in zip(wheels, (packaged.ROOT, packaged.SIMULATOR)):
        with open(os.path.join(folder, "pyproject.toml")) as file:
            assert 'name = "%s"' % wheel.replace("_", "-") in file.read()
    assert len(wheels) == 2
    shutil.copytree(os.path.join(EXAMPLES, "platform_probe"), str(tmp_path / "project"))
    environ = packaged.environment(packaged.ROOT, PYTEST_ADDOPTS="-p mtml_simulator.plugin -p no:cacheprovider")
    environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environ["PATH"]
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(
        ["sh", "-ec", "python -m " + commands[1]],
        cwd=str(tmp_path / "project"),
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    assert done.returncode == 0, done.stdout


# ==== Other languages, and the files of CI services ====


def simulated(folder, *command, profile="s5000x8+frozen", **variables):
    """A command in a folder, on a machine (CompletedProcess)."""
    environ = packaged.environment(packaged.ROOT, **variables)
    environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environ["PATH"]
    arguments = [sys.executable, "-m", "mtml_simulator", "exec", profile, "--"]
    return packaged.run(arguments + list(command), environ, cwd=str(folder))


def copied(name, folder):
    shutil.copytree(os.path.join(EXAMPLES, name), str(folder / name))
    return folder / name


def test_exporter(tmp_path):
    """One that keeps the last value is found out."""
    folder = copied("exporter", tmp_path)
    done = pytest_in(folder)
    assert done.returncode == 0, done.stdout
    text = (folder / "exporter.py").read_text()
    careless = text.replace(
        "        except pynvml.NVMLError:\n", "        except pynvml.NVMLError:\n            degrees = 0\n"
    )
    careless = careless.replace("        else:\n            lines +=", "        if True:\n            lines +=")
    assert careless != text
    (folder / "exporter.py").write_text(careless)
    assert pytest_in(folder).returncode == 1


@pytest.mark.skipif(not shutil.which("cmake"), reason="CMake is not installed")
def test_cmake(tmp_path):
    environ = packaged.environment(packaged.ROOT)
    configure = ["cmake", "-S", os.path.join(EXAMPLES, "c_monitor"), "-B", str(tmp_path)]
    configure.append("-DPython3_EXECUTABLE=" + sys.executable)
    for command in (configure, ["cmake", "--build", str(tmp_path)], ["ctest", "--output-on-failure"]):
        done = packaged.run(command, environ, cwd=str(tmp_path))
        assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed, 0 tests failed out of 3" in done.stdout


def test_c_without_cmake(tmp_path):
    folder = copied("c_monitor", tmp_path)
    build = "cc -Wall -Wextra monitor.c test_monitor.c -lmtml -o test && ./test"
    assert simulated(folder, "sh", "-c", build).returncode == 0
    text = (folder / "monitor.c").read_text()
    (folder / "monitor.c").write_text(text.replace("temperature > limit", "temperature < limit"))
    assert simulated(folder, "sh", "-c", build).returncode


@pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
def test_go(tmp_path):
    folder = copied("go_monitor", tmp_path)
    cache = {
        "GOCACHE": str(tmp_path / "cache"),
        "GOPATH": str(tmp_path / "go"),
        "GOFLAGS": "-mod=mod",
        "CGO_ENABLED": "1",
    }
    done = simulated(folder, "go", "test", "-count=1", "./...", **cache)
    assert done.returncode == 0 and "ok  \texample.com/monitor\t" in done.stdout, done.stdout + done.stderr
    # Why -count=1: without it a pass is remembered for a machine on which the test fails.
    assert simulated(folder, "go", "test", ".", **cache).returncode == 0
    remembered = simulated(folder, "go", "test", ".", profile="empty", **cache)
    assert "(cached)" in remembered.stdout
    assert simulated(folder, "go", "test", "-count=1", ".", profile="empty", **cache).returncode == 1


@pytest.mark.skipif(not shutil.which("cargo"), reason="Rust is not installed")
def test_rust(tmp_path):
    folder = copied("rust_monitor", tmp_path)
    done = simulated(folder, "cargo", "test", "--offline", CARGO_TARGET_DIR=str(tmp_path / "target"))
    assert done.returncode == 0 and "test tests::hottest_card ... ok" in done.stdout, done.stdout + done.stderr
    done = simulated(folder, "cargo", "test", "--offline", profile="empty", CARGO_TARGET_DIR=str(tmp_path / "target"))
    assert done.returncode


def test_github_action(tmp_path):
    """Its steps one after the other, each in a shell of its own, as the service runs them; but for the installation."""
    yaml = pytest.importorskip("yaml")
    with open(os.path.join(EXAMPLES, "github_action", "action.yml")) as file:
        action = yaml.safe_load(file)
    assert action["runs"]["using"] == "composite"
    install, put = action["runs"]["steps"]
    assert install["run"] == 'python -m pip install "$PACKAGE"'
    profile = action["inputs"]["profile"]["default"]
    assert put["env"] == {"PROFILE": "${{ inputs.profile }}"} and put["shell"] == "bash"
    environ = packaged.environment(packaged.ROOT, PROFILE=profile, GITHUB_ENV=str(tmp_path / "env"))
    environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environ["PATH"]
    (tmp_path / "env").write_text("OF=others\n")
    done = packaged.run(["bash", "-eo", "pipefail", "-c", put["run"]], environ)
    assert done.returncode == 0 and profile.endswith("+frozen"), done.stderr
    lines = (tmp_path / "env").read_text().splitlines()
    assert lines[0] == "OF=others"
    environ.update(line.split("=", 1) for line in lines)
    shown = packaged.run(["bash", "-ec", "mthreads-gmi -L"], environ).stdout
    assert shown.count("MTT S5000") == 8


def test_gitlab_jobs():
    yaml = pytest.importorskip("yaml")
    with open(os.path.join(EXAMPLES, "gitlab", ".gitlab-ci.yml")) as file:
        jobs = yaml.safe_load(file)
    common = jobs.pop(".simulated-gpus")
    for name, cards in (("test", 8), ("one-card", 1)):
        variables = dict(common["variables"], **jobs[name].get("variables", {}))
        assert variables["MTML_PROFILE"].endswith("+frozen")
        environ = packaged.environment(packaged.ROOT, **variables)
        environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environ["PATH"]
        script = "\n".join(common["before_script"][1:] + jobs[name]["script"])
        done = packaged.run(["sh", "-ec", script], environ)
        assert done.returncode == 0 and done.stdout.count("MTT ") == cards, done.stdout + done.stderr
