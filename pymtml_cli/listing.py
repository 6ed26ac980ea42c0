"""-L: a line for each card, and one for each MPC instance below it."""

import pymtml
from pymtml_cli.devices import Machine, no_devices, then
from pymtml_cli.errors import NVIDIA_SMI, called


def run(output):
    """Print the list (exit status)."""
    with Machine() as machine:
        if not machine.cards:
            raise no_devices()
        output.write("".join(line + "\n" for card in machine.cards for line in lines(card)))
    return 0


def lines(card):
    """The lines of a card."""
    found = ["GPU %d: %s (UUID: %s)" % (card.index, name(card), card.ask(pymtml.nvmlDeviceGetUUID))]
    kind = "MIG" if called() == NVIDIA_SMI else "MPC"
    for instance in card.instances:
        uuid = instance.ask(pymtml.nvmlDeviceGetUUID)
        found.append("  %s %-12sDevice %2d: (UUID: %s)" % (kind, profile(instance), instance.index, uuid))
    return found


def name(device):
    """Product name of a device."""
    return device.ask(pymtml.nvmlDeviceGetName)


def profile(instance):
    """Name of the share of the card that an instance has, such as 4c+16gb."""
    return then(instance.ask(pymtml.mtmlDeviceGetMpcProfileInfo), lambda info: info.name)
