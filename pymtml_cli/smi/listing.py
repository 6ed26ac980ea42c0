"""-L: a line for each card, and one for each MPC instance below it; -B, which leaves none out."""

import sys

import pymtml
from pymtml_cli.common.errors import NVIDIA_SMI, called
from pymtml_cli.common.text import safe
from pymtml_cli.readings.devices import Machine, Unknown, failed_instances, shown_uuid, then
from pymtml_cli.smi.lost import Opened


def answer(options):
    """Print the list (exit status)."""
    if options.question == "list-excluded-gpus":
        sys.stdout.write("No excluded devices found.\n")
        return 0
    with Machine() as machine:
        opened = Opened(machine.chosen(None))
        sys.stdout.write("".join(line + "\n" for card in opened.cards for line in lines(card)) + opened.sentences)
    return opened.status


def lines(card):
    """The lines of a card."""
    found = ["GPU %d: %s (UUID: %s)" % (card.index, card.ask(pymtml.nvmlDeviceGetName), shown_uuid(card))]
    kind = "MIG" if called() == NVIDIA_SMI else "MPC"
    form = "  %s %-12sDevice %2d: (UUID: %s)"
    found += [form % (kind, profile(one), one.index, shown_uuid(one)) for one in card.instances]
    failed = failed_instances(card)
    return found + (["  %s: not all instances are known: %s" % (kind, failed)] if failed is not None else [])


def address(card):
    """PCI address of a card, by which nvidia-smi names it in sentences; its index if that is not known."""
    info = card.ask(pymtml.nvmlDeviceGetPciInfo)
    return str(card.index) if isinstance(info, Unknown) else safe(info.busId)


def profile(instance):
    """Name of the share of the card that an instance has, such as 4c+16gb."""
    return then(instance.ask(pymtml.mtmlDeviceGetMpcProfileInfo), lambda info: safe(info.name))
