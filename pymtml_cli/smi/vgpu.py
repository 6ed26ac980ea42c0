"""vgpu: virtual devices of cards that share themselves out, and the kinds that they offer."""

import sys

import pymtml
from pymtml_cli.common.options import CARDS, parse, usage
from pymtml_cli.common.text import safe
from pymtml_cli.readings.devices import Device, Machine, Unknown, ask, then
from pymtml_cli.readings.table import BY_NAME
from pymtml_cli.smi.modify import address

OPTIONS = {
    "-h, --help": None,
    "-i, --id CARDS": CARDS,
    "-q, --query": "virtual devices that hold resources of a card (also without an option)",
    "-s, --supported": "kinds that a card offers",
    "-c, --creatable": "kinds of which one more can be made now",
}

KEY_WIDTH = 42


def run(arguments):
    """Answer (exit status)."""
    options = parse(arguments, OPTIONS)
    if "-h" in options:
        sys.stdout.write(usage("vgpu", OPTIONS, ("-i",)))
        return 0
    with Machine() as machine:
        cards = [card for card in machine.chosen(options.get("-i")) if _is_host(card)]
        if not cards:
            sys.stdout.write("No supported devices in vGPU mode\n")
        for card in cards:
            lines = ["GPU %s" % address(card)]
            if "-s" in options or "-c" in options:
                what = pymtml.mtmlDeviceGetSupportedVirtTypes if "-s" in options else pymtml.mtmlDeviceGetAvailVirtTypes
                kinds = card.ask(what)
                lines += ["    " + safe(kind) for kind in _names(kinds)]
            else:
                lines += _active(card)
            sys.stdout.write("".join(line + "\n" for line in lines))
    return 0


def _is_host(card):
    mode = card.ask(pymtml.nvmlDeviceGetVirtualizationMode)
    return mode == pymtml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU


def _names(kinds):
    return [kinds] if isinstance(kinds, Unknown) else [kind.name for kind in kinds]


def _line(key, value, level):
    return (" " * (4 * level) + key).ljust(KEY_WIDTH) + ": " + safe(value)


def _active(card):
    """Lines of the virtual devices that hold resources of a card."""
    uuids = card.ask(pymtml.mtmlDeviceGetActiveVirtDeviceUuids)
    if isinstance(uuids, Unknown):
        return [_line("Active vGPUs", uuids, 1)]
    lines = [_line("Active vGPUs", len(uuids), 1)]
    for number, uuid in enumerate(uuids):
        device = Device(card.machine, ask(pymtml.mtmlDeviceInitVirtDevice, card.handle, uuid), None, card)
        kind = device.ask(pymtml.mtmlDeviceGetVirtType)
        lines += [
            _line("vGPU ID", number, 1),
            _line("vGPU Name", then(kind, lambda info: info.name), 2),
            _line("vGPU Type", then(kind, lambda info: info.id), 2),
            _line("vGPU UUID", uuid, 2),
            "        FB Memory Usage",
        ]
        for key, name in (("Total", "memory.total"), ("Used", "memory.used"), ("Free", "memory.free")):
            lines.append(_line(key, BY_NAME[name].line(device), 3))
    return lines
