"""Cards that cannot be opened: under NVIDIA's name they have a sentence of nvidia-smi's, and no place in an output."""

import os
import sys

import pymtml
from pymtml_cli.common.errors import NVIDIA_SMI, called
from pymtml_cli.common.files import read
from pymtml_cli.common.samples import repeat
from pymtml_cli.readings.devices import Machine, Unknown, pci_address, status

VENDOR, CLASSES = "0x1ed5", ("0x03", "0x12")  # PCI's numbers of Moore Threads, and of displays and accelerators


def show(options, output, sample, aside=False):
    """Write samples of the cards that -i names (exit status); ``sample`` makes the text of one.

    ``aside``: the sentences go to stderr, so that csv and XML on stdout stay what they are.
    """
    with Machine() as machine:
        opened = Opened(machine.chosen(options.get("id")))
        for _ in repeat(machine, options.seconds, count=options.count):
            output.write(sample(machine, opened))
            sys.stderr.write(opened.sentences if aside else "")
    return opened.status


class Opened:
    """Of the cards that were asked for, the ``cards`` to show, the ``sentences`` about others, and the exit status."""

    def __init__(self, cards):
        lost = [card for card in cards if isinstance(card.handle, Unknown)]
        by_nvidia = called() == NVIDIA_SMI
        self.cards = [card for card in cards if card not in lost] if by_nvidia else cards
        self.sentences = "".join(map(_sentence, lost)) if by_nvidia else ""
        self.status = status(cards)


def _sentence(card):
    return "Unable to determine the device handle for GPU%s: %s\n" % (_place(card), card.handle.reason)


def _place(card):
    """The PCI address of a lost card, if it is the only one that no other card has; else its index."""
    others = [other for other in card.machine.cards if other is not card]
    left = _addresses() - {pci_address(other) for other in others}
    if len(left) == 1 and not any(isinstance(other.handle, Unknown) for other in others):
        return "%04x:%02x:%02x.0" % left.pop()
    return " %d" % card.index


def _addresses():
    """(domain, bus, device) of the cards of Moore Threads that the kernel knows (set)."""
    root = os.path.join(pymtml._sys_root(), "bus", "pci", "devices")
    try:
        names = os.listdir(root)
    except OSError:
        return set()
    kinds = [[read(os.path.join(root, name, file)).strip() for file in ("vendor", "class")] for name in names]
    wanted = [name for name, (vendor, kind) in zip(names, kinds) if vendor == VENDOR and kind[:4] in CLASSES]
    return set(filter(None, map(pymtml._parse_bus_id, wanted)))
