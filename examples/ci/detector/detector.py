"""A detector: what a scheduler wants to know of each card, through MTML's own functions."""

from pymtml import *  # noqa: F403


def detect():
    """Identity and load of every card (list of dict): memory in MiB, power in W, temperature in degrees Celsius."""
    cards = []
    mtmlLibraryInit()  # noqa: F405
    try:
        for index in range(mtmlLibraryCountDevice()):  # noqa: F405
            cards.append(describe(index, mtmlLibraryInitDeviceByIndex(index)))  # noqa: F405
    finally:
        mtmlLibraryShutDown()  # noqa: F405
    return cards


def describe(index, device):
    memory = mtmlDeviceInitMemory(device)  # noqa: F405
    gpu = mtmlDeviceInitGpu(device)  # noqa: F405
    card = {
        "index": index,
        "name": mtmlDeviceGetName(device),  # noqa: F405
        "uuid": mtmlDeviceGetUUID(device),  # noqa: F405
        "bus_id": mtmlDeviceGetPciInfo(device).sbdf,  # noqa: F405
        "memory": mtmlMemoryGetTotal(memory) >> 20,  # noqa: F405
        "memory_used": mtmlMemoryGetUsed(memory) >> 20,  # noqa: F405
        "utilization": mtmlGpuGetUtilization(gpu),  # noqa: F405
        "temperature": mtmlGpuGetTemperature(gpu),  # noqa: F405
    }
    try:
        card["power"] = mtmlDeviceGetPowerUsage(device) / 1000  # noqa: F405
    except MTMLError_NotSupported:  # noqa: F405
        card["power"] = None
    return card
