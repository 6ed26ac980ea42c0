"""A program as users write it, with their own annotations: type checkers find nothing in it, and it runs.

`make lint` has mypy read it next to pymtml.py; tests/test_typed_program.py runs it on the simulator.
"""

import sys
from typing import Dict, List, Tuple

import pymtml
import pymtml as pynvml
from pymtml import mtmlDeviceGetName, mtmlLibraryInit, mtmlLibraryInitDeviceByIndex, mtmlLibraryShutDown


def native(index: int) -> Tuple[str, int, int]:
    """Name, used memory in bytes and temperature in degrees Celsius of a device."""
    mtmlLibraryInit()
    try:
        device: pymtml.c_mtmlDevice_t = mtmlLibraryInitDeviceByIndex(index)
        memory: pymtml.c_mtmlMemory_t = pymtml.mtmlDeviceInitMemory(device)
        used: int = pymtml.mtmlMemoryGetUsed(memory)
        celsius: int = pymtml.mtmlGpuGetTemperature(device)
        return mtmlDeviceGetName(device), used, celsius
    finally:
        mtmlLibraryShutDown()


def bus_ids() -> List[str]:
    """PCI bus ids of all devices, and the fields of structs as attributes."""
    pynvml.nvmlInit()
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        infos: List[pynvml.nvmlPciInfo_t] = [pynvml.nvmlDeviceGetPciInfo(handle) for handle in handles]
        return [info.busId for info in infos]
    finally:
        pynvml.nvmlShutdown()


def limits() -> Dict[int, object]:
    """Power limit by device in mW, or the code of what is raised instead."""
    found: Dict[int, object] = {}
    pynvml.nvmlInit()
    for index in range(pynvml.nvmlDeviceGetCount()):
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        try:
            found[index] = pynvml.nvmlDeviceGetPowerManagementLimit(handle)
        except pynvml.NVMLError_NotSupported as error:
            found[index] = "code %d" % error.value
        except pymtml.MTMLError as error:
            found[index] = error.mtml_code
    pynvml.nvmlShutdown()
    return found


def main() -> int:
    print(*native(0), sep="\n")
    print(*bus_ids(), sep="\n")
    print(limits())
    return 0


if __name__ == "__main__":
    sys.exit(main())
