"""Divide a card by MPC: python examples/mpc_partition.py [CARD [CONFIGURATION]]

Without a configuration it shows the present one. With one, such as 8-44, it divides the card; "off" undoes that. Nobody
may use the card meanwhile. A change of MPC makes all handles stale, so the card is looked up again after each.
"""

import sys

import pymtml
from pymtml import nvmlDeviceGetHandleByIndex as card


def divide(index, name):
    """Put a configuration in force, or end the one that is."""
    if name == "off":
        pymtml.nvmlDeviceSetMigMode(card(index), pymtml.NVML_DEVICE_MIG_DISABLE)
        return
    before = pymtml.nvmlDeviceGetMigMode(card(index))[0]
    pymtml.nvmlDeviceSetMigMode(card(index), pymtml.NVML_DEVICE_MIG_ENABLE)  # only now does it tell configurations
    offered = {offer.name: offer.id for offer in pymtml.mtmlDeviceGetSupportedMpcConfigurations(card(index))}
    if name not in offered:
        pymtml.nvmlDeviceSetMigMode(card(index), before)
        sys.exit("GPU %d does not offer %s, but %s" % (index, name, ", ".join(offered)))
    pymtml.mtmlDeviceSetMpcConfiguration(card(index), offered[name])
    pymtml.mtmlLibraryShutDown()  # MTML wants a new start after this; nvmlDeviceSetMigMode makes it by itself
    pymtml.mtmlLibraryInit()


def show(index):
    """Print what a card is divided into."""
    if pymtml.nvmlDeviceGetMigMode(card(index))[0] == pymtml.NVML_DEVICE_MIG_DISABLE:
        print("GPU %d is not divided" % index)
        return
    print("GPU %d is divided as %s" % (index, pymtml.mtmlDeviceGetMpcConfiguration(card(index)).name))
    for device in pymtml.mtmlDeviceGetMpcInstances(card(index)):
        profile = pymtml.mtmlDeviceGetMpcProfileInfo(device)
        shown = profile.name, profile.coreCount, profile.memorySizeMB, pymtml.nvmlDeviceGetUUID(device)
        print("  %-8s %d cores, %d MiB, MUSA_VISIBLE_DEVICES=%s" % shown)


def main(index="0", configuration=None):
    """Divide if that is asked for, then show."""
    pymtml.mtmlLibraryInit()
    try:
        if not pymtml.nvmlDeviceGetCount():
            print("no GPU")
            return
        if configuration:
            divide(int(index), configuration)
        show(int(index))
    finally:
        pymtml.mtmlLibraryShutDown()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except pymtml.NVMLError as error:
        sys.exit("%s: %s" % (sys.argv[0], error))
