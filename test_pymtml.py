"""Scenarios through the native layer, written as users of MTML write them: each takes several calls.

What each function returns is tested in tests/test_native_functions.py. Runs by itself, too: python test_pymtml.py
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))

try:
    import pytest
except ImportError:
    sys.exit("test_pymtml.py needs pytest: python3 -m pip install pytest")

import simulated  # noqa: E402

from pymtml import *  # noqa: E402, F403

# The star import is what users write; what it brings is checked by running it.
# flake8: noqa: F405

GIB = 1 << 30


class Machine:
    """An initialized machine, shut down at the end of the `with` block."""

    def __init__(self, name):
        self.machine = simulated.machine(name)

    def __enter__(self):
        self.machine.__enter__()
        mtmlLibraryInit()
        return [mtmlLibraryInitDeviceByIndex(index) for index in range(mtmlLibraryCountDevice())]

    def __exit__(self, *exception):
        while simulated.references():
            mtmlLibraryShutDown()
        self.machine.__exit__(*exception)


def test_quick_start(capsys):
    with simulated.machine("s3000x2"):
        mtmlLibraryInit()
        for index in range(mtmlLibraryCountDevice()):
            device = mtmlLibraryInitDeviceByIndex(index)
            print(mtmlDeviceGetName(device), mtmlDeviceGetUUID(device))
            memory = mtmlDeviceInitMemory(device)
            print(mtmlMemoryGetTotal(memory), mtmlMemoryGetUsed(memory))
            mtmlDeviceFreeMemory(memory)
            print(mtmlGpuGetUtilization(device), mtmlGpuGetTemperature(device))
        mtmlLibraryShutDown()
    lines = capsys.readouterr().out.splitlines()
    pairs = (("name", "uuid"), ("memory_total", "memory_used"), ("gpu_utilization", "gpu_temperature"))
    cards = [simulated.device_keys("s3000x2", index) for index in range(2)]
    assert lines == ["%s %s" % (keys[first], keys[second]) for keys in cards for first, second in pairs]


def test_ways_to_a_device():
    with Machine("s5000x8") as devices:
        assert len(set(devices)) == 8
        for index, device in enumerate(devices):
            assert mtmlDeviceGetIndex(device) == index
            assert mtmlLibraryInitDeviceByIndex(index) is device
            assert mtmlLibraryInitDeviceByUuid(mtmlDeviceGetUUID(device)) is device
            assert mtmlLibraryInitDeviceByUuid(mtmlDeviceGetUUID(device).encode()) is device
            assert mtmlLibraryInitDeviceByPciSbdf(mtmlDeviceGetPciInfo(device).sbdf) is device
        with pytest.raises(MTMLError_NotFound):
            mtmlLibraryInitDeviceByIndex(8)
        with pytest.raises(MTMLError_NotFound):
            mtmlLibraryInitDeviceByUuid("00000000-0000-0000-0000-000000000000")
        with pytest.raises(MTMLError_NotFound):
            mtmlLibraryInitDeviceByPciSbdf("00000000:ff:00.0")


def test_mpc_reconfigured():
    with Machine("s3000-mpc") as devices:
        wanted = mtmlDeviceGetMpcConfigurationByName(devices[0], "8-2222")
        mtmlDeviceSetMpcConfiguration(devices[0], wanted.id)
        for device in devices:
            with pytest.raises(MTMLError_InvalidArgument):
                mtmlDeviceGetName(device)
        mtmlLibraryShutDown()
        mtmlLibraryInit()
        assert mtmlLibraryCountDevice() == 6
        parent = mtmlLibraryInitDeviceByIndex(0)
        assert [mtmlMemoryGetTotal(instance) for instance in mtmlDeviceGetMpcInstances(parent)] == [8 * GIB] * 4
        mtmlLibrarySetMpcConfigurationInBatch([parent, mtmlLibraryInitDeviceByIndex(5)], [1, 1])
        mtmlLibraryShutDown()
        mtmlLibraryInit()
        assert mtmlLibraryCountDevice() == 6
        mtmlDeviceSetMpcMode(mtmlLibraryInitDeviceByIndex(0), MTML_DEVICE_MPC_DISABLE)
        mtmlLibraryShutDown()
        mtmlLibraryInit()
        assert mtmlLibraryCountDevice() == 4


if __name__ == "__main__":
    sys.exit(pytest.main([os.path.abspath(__file__)] + sys.argv[1:]))
