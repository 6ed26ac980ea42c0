"""Name, UUID, memory, load and temperature of every GPU, through the MTML functions."""

from pymtml import *  # noqa: F403

mtmlLibraryInit()  # noqa: F405
for index in range(mtmlLibraryCountDevice()):  # noqa: F405
    device = mtmlLibraryInitDeviceByIndex(index)  # noqa: F405
    print("GPU %d: %s" % (index, mtmlDeviceGetName(device)))  # noqa: F405
    print("  UUID:        %s" % mtmlDeviceGetUUID(device))  # noqa: F405
    memory = mtmlDeviceInitMemory(device)  # noqa: F405
    used, total = mtmlMemoryGetUsed(memory), mtmlMemoryGetTotal(memory)  # noqa: F405
    print("  Memory:      %d / %d MiB" % (used >> 20, total >> 20))
    mtmlDeviceFreeMemory(memory)  # noqa: F405
    print("  Utilization: %d %%" % mtmlGpuGetUtilization(device))  # noqa: F405
    print("  Temperature: %d C" % mtmlGpuGetTemperature(device))  # noqa: F405
mtmlLibraryShutDown()  # noqa: F405
