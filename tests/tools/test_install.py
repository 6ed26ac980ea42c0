"""What docs/install.md says: without a network, without an installation, twice the same version, and away again."""

import os
import subprocess
import sys

import pytest
import simulated
import wheels


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheels.ours(tmp_path_factory)


def answer(command, **options):
    """stdout and stderr of a command that succeeds, on a simulated machine (str)."""
    done = simulated.run(command, stderr=subprocess.STDOUT, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_an_unpacked_wheel_works_from_any_folder(wheel, tmp_path):
    folder, elsewhere = str(tmp_path / "pymtml"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    answer([sys.executable, "-m", "zipfile", "-e", wheel, folder])
    env = dict(simulated.environment("s80"), PYTHONPATH=folder)

    def python(*arguments):
        return answer([sys.executable] + list(arguments), env=env, cwd=str(elsewhere))

    assert python("-m", "pymtml", "-L").startswith("GPU 0: MTT S80 (UUID: ")
    imported = os.path.join(folder, "pymtml", "__init__.py") + "\n"
    assert python("-m", "pymtml", "run", "-c", "import pynvml; print(pynvml.__file__)") == imported
    env["PYTHONPATH"] = python("-m", "pymtml", "drop-in", "path").strip()
    assert python("-c", "import pynvml; print(pynvml.__file__)") == imported


def test_removed_with_the_drop_in_forgotten(wheel, tmp_path):
    """What is left behind removes itself at the next start, without a word."""
    environment = wheels.Environment(tmp_path / "environment")
    environment.install(wheel)
    subprocess.run(
        [os.path.join(environment.bin, "pymtml"), "drop-in", "enable"], check=True, stdout=subprocess.DEVNULL
    )
    left = os.path.join(environment.packages, "pymtml_dropin.pth")
    assert os.path.exists(left)
    environment.uninstall("pymtml-nvml")
    assert environment.run("-c", "print(1)") == "1\n"
    assert not os.path.exists(left)
    assert [name for name in os.listdir(environment.packages) if "pymtml" in name] == []


def test_cards_of_two_makers_in_one_process(tmp_path):
    """nvidia-ml-py asks its library, pymtml the other; neither changes the other's answers, whoever ends first."""
    pytest.importorskip("pynvml")
    source = os.path.join(simulated.ROOT, "tests", "standin", "standin.c")
    compiler = os.environ.get("CC", "cc")
    answer([compiler, "-shared", "-fPIC", "-o", str(tmp_path / "libnvidia-ml.so.1"), source])
    (tmp_path / "machine").write_text("[gpu]\nname = Other\ntemperature = 77\n")
    env = simulated.environment("s80")
    env["LD_LIBRARY_PATH"] += os.pathsep + str(tmp_path)
    env["NVML_STANDIN_MACHINE"] = str(tmp_path / "machine")
    program = tmp_path / "program.py"
    program.write_text("""
import pymtml, pynvml
assert pynvml is not pymtml
for one, other in ((pymtml, pynvml), (pynvml, pymtml)):
    one.nvmlInit()
    other.nvmlInit()
    for module in (one, other):
        device = module.nvmlDeviceGetHandleByIndex(0)
        print(module.nvmlDeviceGetName(device), module.nvmlDeviceGetTemperature(device, 0))
    one.nvmlShutdown()
    print(other.nvmlDeviceGetName(other.nvmlDeviceGetHandleByIndex(0)))
    other.nvmlShutdown()
""")
    ours = "MTT S80 %s" % simulated.device_keys("s80", 0)["gpu_temperature"]
    said = answer([sys.executable, str(program)], env=env).splitlines()
    assert said == [ours, "Other 77", "Other", "Other 77", ours, "MTT S80"]
