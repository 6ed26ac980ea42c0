"""Run a command on the idlest card: python examples/idlest_card.py COMMAND ARGUMENT...

The command gets only that card in MUSA_VISIBLE_DEVICES. Without a command the setting is printed. If the variable is
set already, it limits the choice. Nothing is reserved: two commands that start at once may get the same card.
"""

import os
import sys

import pymtml


def visible():
    """Indices of the cards to choose from."""
    if "MUSA_VISIBLE_DEVICES" in os.environ:
        return [pymtml.nvmlDeviceGetIndex(device) for device in pymtml.musa_visible_devices()]
    return range(pymtml.nvmlDeviceGetCount())


def reads_zeros(device):
    """Whether a card reports 0 C, 0 W and 0 MHz at once, as a dead one may."""
    try:
        temperature = pymtml.nvmlDeviceGetTemperature(device, pymtml.NVML_TEMPERATURE_GPU)
        clock = pymtml.nvmlDeviceGetClockInfo(device, pymtml.NVML_CLOCK_GRAPHICS)
        return temperature == clock == pymtml.nvmlDeviceGetPowerUsage(device) == 0
    except pymtml.NVMLError_NotSupported:  # such as the power of a guest
        return False


def idlest():
    """Index of the card with the least memory in use; of two with the same, the one that computes less (int)."""
    cards = []
    for index in visible():
        try:
            device = pymtml.nvmlDeviceGetHandleByIndex(index)
            if reads_zeros(device):
                print("GPU %d is left out: it reports 0 C, 0 W and 0 MHz" % index, file=sys.stderr)
                continue
            used = pymtml.nvmlDeviceGetMemoryInfo(device).used >> 20
            busy = pymtml.nvmlDeviceGetUtilizationRates(device).gpu  # 0 is no proof: drivers say it of busy cards, too
        except pymtml.NVMLError as error:  # a card that does not answer is not idle
            print("GPU %d is left out: %s" % (index, error), file=sys.stderr)
            continue
        cards.append((used, busy, index))
    return min(cards)[2] if cards else None


def main(command):
    """Choose a card, then become the command."""
    pymtml.mtmlLibraryInit()
    try:
        index = idlest()
    finally:
        pymtml.mtmlLibraryShutDown()  # closes the driver's files, which the command would inherit
    if index is None:
        sys.exit("no GPU to choose")
    elif not command:
        print("MUSA_VISIBLE_DEVICES=%d" % index)
    else:
        os.environ["MUSA_VISIBLE_DEVICES"] = str(index)
        os.execvp(command[0], command)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except pymtml.NVMLError as error:
        sys.exit("%s: %s" % (sys.argv[0], error))
    except OSError as error:  # there is no such command
        sys.exit("%s: %s: %s" % (sys.argv[0], sys.argv[1], error.strerror))
