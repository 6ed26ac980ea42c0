"""How the GPUs of a host are joined: MtLinks per pair, or the PCIe level at which a pair meets."""

import sys

import pymtml

LEVELS = {
    pymtml.MTML_TOPOLOGY_INTERNAL: "board",
    pymtml.MTML_TOPOLOGY_SINGLE: "PIX",
    pymtml.MTML_TOPOLOGY_MULTIPLE: "PXB",
    pymtml.MTML_TOPOLOGY_HOSTBRIDGE: "PHB",
    pymtml.MTML_TOPOLOGY_NODE: "NODE",
    pymtml.MTML_TOPOLOGY_SYSTEM: "SYS",
}


def joint(first, second):
    """Short name of what joins two devices, such as MT2 for two MtLinks (str)."""
    if first == second:
        return "X"
    try:
        links = pymtml.mtmlDeviceCountMtLinkLayouts(first, second)
    except pymtml.MTMLError_NotSupported:
        links = 0
    return "MT%d" % links if links else LEVELS[pymtml.mtmlDeviceGetTopologyLevel(first, second)]


def main():
    """Print the matrix."""
    pymtml.mtmlLibraryInit()
    try:
        count = pymtml.mtmlLibraryCountDevice()
        devices = [pymtml.mtmlLibraryInitDeviceByIndex(index) for index in range(count)]
        if not devices:
            print("no GPU")
            return
        print(("      " + "".join("GPU%-4d" % index for index in range(count))).rstrip())
        for index, device in enumerate(devices):
            print(("GPU%-3d" % index + "".join("%-7s" % joint(device, other) for other in devices)).rstrip())
    finally:
        pymtml.mtmlLibraryShutDown()


if __name__ == "__main__":
    try:
        main()
    except pymtml.MTMLError as error:
        sys.exit("%s: %s" % (sys.argv[0], error))
