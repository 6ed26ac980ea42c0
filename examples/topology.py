"""How the GPUs of a host are connected: MtLinks per pair, or the PCIe level at which a pair meets."""

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


def is_up(device, link):
    """Whether one end of a link says that it carries data (bool)."""
    return pymtml.mtmlDeviceGetMtLinkState(device, link) != pymtml.MTML_MTLINK_STATE_DOWN


def joint(first, second):
    """Short name of what joins two devices, such as MT2 for two MtLinks that are up at both ends (str)."""
    if first == second:
        return "X"
    try:
        layouts = pymtml.mtmlDeviceGetMtLinkLayouts(first, second)
    except pymtml.MTMLError_NotSupported:
        layouts = []
    links = sum(is_up(first, layout.localLinkId) and is_up(second, layout.remoteLinkId) for layout in layouts)
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
