"""One file and the standard library: pymtml.py alone in a folder, under every Python that this machine has."""

import functools
import glob
import os
import shutil
import sys

import pytest
import simulated

VERSIONS = ("3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15", "pypy3")
PROGRAM = """
import pymtml
import pymtml as pynvml
from pymtml import *

mtmlLibraryInit()
for index in range(mtmlLibraryCountDevice()):
    device = mtmlLibraryInitDeviceByIndex(index)
    memory = mtmlDeviceInitMemory(device)
    print(mtmlDeviceGetName(device), mtmlDeviceGetUUID(device), mtmlMemoryGetTotal(memory), mtmlMemoryGetUsed(memory))
    mtmlDeviceFreeMemory(memory)
    print(mtmlGpuGetUtilization(device), mtmlGpuGetTemperature(device), mtmlMemoryGetUtilization(device))
    print(mtmlVpuGetClock(device), mtmlDeviceGetPciInfo(device).busId, len(dir(pymtml)) > 2394)
mtmlLibraryShutDown()
pynvml.nvmlInit()
print(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0)))
pynvml.nvmlShutdown()
try:
    mtmlLibraryCountDevice()
except NVMLError as error:
    print(repr(error))
"""


@functools.lru_cache(maxsize=None)
def interpreter(version):
    """A Python of that version, or None; pyenv's own first, since the commands that it puts on PATH are slow."""
    pypy = version.startswith("pypy")
    if not pypy and sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    found = glob.glob(os.path.expanduser("~/.pyenv/versions/%s*/bin/python" % (version if pypy else version + ".")))
    for candidate in filter(None, sorted(found) + [shutil.which(version if pypy else "python" + version)]):
        says = "sys.implementation.name + str(sys.version_info[0])" if pypy else "'%d.%d' % sys.version_info[:2]"
        if simulated.run([candidate, "-c", "import sys, ctypes; print(%s)" % says]).stdout.strip() == version:
            return candidate
    return None


@pytest.mark.parametrize("version", VERSIONS)
def test_quick_start(version, tmp_path):
    python = interpreter(version)
    if python is None:
        pytest.skip("there is no Python %s on this machine" % version)
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path))
    (tmp_path / "program.py").write_text(PROGRAM)
    env = simulated.environment("s3000x2")
    del env["PYTHONPATH"]
    result = simulated.run([python, "-s", "-W", "error", "program.py"], cwd=str(tmp_path), env=env)
    assert (result.returncode, result.stderr) == (0, "")
    expected = []
    for index in range(2):
        keys = simulated.device_keys("s3000x2", index)
        names = ("name", "uuid", "memory_total", "memory_used")
        expected.append(" ".join(keys[name] for name in names))
        expected.append(" ".join(keys[name] for name in ("gpu_utilization", "gpu_temperature", "memory_utilization")))
        expected.append("%s %s True" % (keys["vpu_clock"], keys["pci_sbdf"]))
    total, used = [int(simulated.device_keys("s3000x2", 0)[key]) for key in ("memory_total", "memory_used")]
    expected.append("c_nvmlMemory_t(total: %d B, free: %d B, used: %d B)" % (total, total - used, used))
    expected.append("MTMLError_Uninitialized(666)")
    assert result.stdout.splitlines() == expected
