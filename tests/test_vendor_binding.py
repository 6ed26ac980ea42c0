"""The vendor's own binding on the simulator: a check of the simulator that does not go through pymtml's code.

Its module is named pymtml as well, so it lives in a folder of its own: `vendor` below the virtual environment, where
`make test` puts it, or else a folder that is filled here from the package index.
"""

import json
import os
import subprocess
import sys

import pytest
import simulated
from native_calls import CALLS

PACKAGE = "mthreads-ml-py==2.4.3"
QUICK_START = """
import sys
from pymtml import *

mtmlLibraryInit()
for index in range(mtmlLibraryCountDevice()):
    device = mtmlLibraryInitDeviceByIndex(index)
    memory = mtmlDeviceInitMemory(device)
    gpu = mtmlDeviceInitGpu(device)
    values = mtmlDeviceGetName(device), mtmlDeviceGetUUID(device), mtmlMemoryGetTotal(memory), mtmlMemoryGetUsed(memory)
    print(*(values + (mtmlGpuGetUtilization(gpu), mtmlGpuGetTemperature(gpu))))
mtmlLibraryShutDown()
print(sys.modules["pymtml"].__file__)
"""


@pytest.fixture(scope="module")
def vendor(tmp_path_factory):
    """Folder that holds the vendor's pymtml.py."""
    folder = os.path.join(sys.prefix, "vendor")
    if os.path.exists(os.path.join(folder, "pymtml.py")):
        return folder
    folder = str(tmp_path_factory.mktemp("vendor"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, PACKAGE]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if result.returncode:
        pytest.skip("%s cannot be installed: %s" % (PACKAGE, result.stdout.strip().splitlines()[-1:]))
    return folder


def run(arguments, vendor, **options):
    env = simulated.environment(**options)
    env["PYTHONPATH"] = os.pathsep.join([vendor, os.path.join(simulated.ROOT, "tests")])
    result = subprocess.run(
        [sys.executable] + arguments, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_quick_start(vendor, tmp_path):
    """On the plain simulator, found by the dynamic loader, with nothing of this project but that library."""
    script = tmp_path / "quick_start.py"
    script.write_text(QUICK_START)
    *lines, module = run([str(script)], vendor, name="s5000x8").splitlines()
    assert os.path.dirname(module) == vendor
    expected = []
    for index in range(8):
        keys = simulated.device_keys("s5000x8", index)
        names = ("name", "uuid", "memory_total", "memory_used", "gpu_utilization", "gpu_temperature")
        expected.append(" ".join(keys[name] for name in names))
    assert lines == expected


def test_every_function(vendor):
    walk = json.loads(run([os.path.join(simulated.ROOT, "tests", "vendor_walk.py")], vendor))
    assert os.path.dirname(walk["module"]) == vendor
    answers = walk["answers"]
    assert [name for name, answer in answers.items() if answer == "absent"] == ["mtmlMemorySetEccMode"]
    del answers["mtmlMemorySetEccMode"]
    assert {name: answer[1:] for name, answer in answers.items() if not answer[0]} == {}
    # All but the one that the vendor lacks, and those whose types are other ones there.
    called = {name.split()[0] for name in answers}
    assert set(CALLS) - called == {"mtmlMemorySetEccMode", "mtmlLogSetConfiguration", "mtmlLogGetConfiguration"}
