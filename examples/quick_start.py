"""Name, UUID, memory, load and temperature of every GPU, through the MTML functions."""

# flake8: noqa: F405

import sys

from pymtml import *  # noqa: F403

try:
    mtmlLibraryInit()
except MTMLError as error:
    sys.exit("%s: %s" % (sys.argv[0], error))
if not mtmlLibraryCountDevice():
    print("no GPU")
for index in range(mtmlLibraryCountDevice()):
    device = mtmlLibraryInitDeviceByIndex(index)
    print("GPU %d: %s" % (index, mtmlDeviceGetName(device)))
    print("  UUID:        %s" % mtmlDeviceGetUUID(device))
    memory = mtmlDeviceInitMemory(device)
    used, total = mtmlMemoryGetUsed(memory), mtmlMemoryGetTotal(memory)
    print("  Memory:      %d / %d MiB" % (used >> 20, total >> 20))
    mtmlDeviceFreeMemory(memory)
    print("  Utilization: %d %%" % mtmlGpuGetUtilization(device))
    try:
        print("  Temperature: %d C" % mtmlGpuGetTemperature(device))
    except MTMLError_NotSupported:
        print("  Temperature: not reported, as in a virtual machine")
mtmlLibraryShutDown()
