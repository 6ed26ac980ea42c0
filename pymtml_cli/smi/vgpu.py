"""vgpu: virtual devices of cards that share themselves out, and the kinds that they offer."""

import sys

import pymtml
from pymtml_cli.common.errors import NOT_AVAILABLE, refuse
from pymtml_cli.common.options import known, parse, spelled
from pymtml_cli.common.text import safe
from pymtml_cli.helping import usage
from pymtml_cli.readings.devices import Machine, Unknown, status, then, virtual_device
from pymtml_cli.readings.documents import object_of, of_cards, show
from pymtml_cli.readings.table import BY_KEY, pairs
from pymtml_cli.smi.listing import address
from pymtml_cli.smi.sections import row, text_of

# Options without a help that are not refused: they go with others, and change nothing here
PASSED = ("-h", "-gi", "-v", "-l", "-f", "-lms", "--format")
WORDS = ("topo", "set-scheduler-state")  # of nvidia-smi in place of an option; what follows is theirs

KEY_WIDTH = 42


def run(arguments):
    """Answer (exit status)."""
    word = arguments[0] if arguments and arguments[0] in WORDS else None
    options = parse(arguments if word is None else [], "vgpu")
    if "-h" in options:
        sys.stdout.write(usage("vgpu", ("-i",)))
        return 0
    if "--json" in options:
        return show(options.get("-i"), lambda machine, cards: of_cards(cards, _content))
    with Machine() as machine:
        chosen = machine.chosen(options.get("-i"))
        cards = [card for card in chosen if _may_be_host(card)]
        if not cards:
            sys.stdout.write("No supported devices in vGPU mode\n")
        hidden = [line for line, text in known("vgpu").items() if text is None]
        refused = [names for names, _ in spelled(hidden) if names[0] in options and names[0] not in PASSED]
        asked = word or next((names[-1] for names in refused), None)
        if cards and asked:
            raise refuse("Option %s is not supported for these devices.\n" % asked, NOT_AVAILABLE)
        for card in cards:
            lines = ["GPU %s" % address(card)]
            if "-s" in options or "-c" in options:
                what = pymtml.mtmlDeviceGetSupportedVirtTypes if "-s" in options else pymtml.mtmlDeviceGetAvailVirtTypes
                kinds = then(card.ask(what), lambda found: [kind.name for kind in found])
                lines += ["    " + safe(kind) for kind in ([kinds] if isinstance(kinds, Unknown) else kinds)]
            else:
                lines += _active(card)
            sys.stdout.write("".join(line + "\n" for line in lines))
    return status(chosen)


def _content(card):
    def kinds(function):
        return then(card.ask(function), lambda found: [kind.name for kind in found])

    active = card.ask(pymtml.mtmlDeviceGetActiveVirtDeviceUuids)
    return [
        ("virtualization", BY_KEY["virtualization"].json_value(card)),
        ("active", then(active, lambda uuids: [_object(card, *one) for one in enumerate(uuids)])),
        ("supported", kinds(pymtml.mtmlDeviceGetSupportedVirtTypes)),
        ("creatable", kinds(pymtml.mtmlDeviceGetAvailVirtTypes)),
    ]


def _object(card, number, uuid):
    """An active virtual device in the document."""
    device = virtual_device(card, uuid)
    kind = device.ask(pymtml.mtmlDeviceGetVirtType)
    names = ("name", then(kind, lambda info: info.name)), ("type", then(kind, lambda info: info.id))
    return object_of(("id", number), ("uuid", uuid), *names, ("memory", object_of(*pairs(device, "memory"))))


def _may_be_host(card):
    mode = card.ask(pymtml.nvmlDeviceGetVirtualizationMode)
    if isinstance(mode, Unknown):
        return not mode.not_supported
    return mode == pymtml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU


def _active(card):
    """Lines of the virtual devices that hold resources of a card."""
    uuids = card.ask(pymtml.mtmlDeviceGetActiveVirtDeviceUuids)
    if isinstance(uuids, Unknown):
        return [row("Active vGPUs", uuids, 1, KEY_WIDTH)]
    lines = [("Active vGPUs", len(uuids), 1)]
    for number, uuid in enumerate(uuids):
        device = virtual_device(card, uuid)
        kind = device.ask(pymtml.mtmlDeviceGetVirtType)
        lines += [
            ("vGPU ID", number, 1),
            ("vGPU Name", then(kind, lambda info: info.name), 2),
            ("vGPU Type", then(kind, lambda info: info.id), 2),
            ("vGPU UUID", uuid, 2),
            ("FB Memory Usage", None, 2),
        ]
        lines += [(name.title(), text_of(device, "memory." + name), 3) for name in ("total", "used", "free")]
    return [" " * 8 + key if value is None else row(key, value, level, KEY_WIDTH) for key, value, level in lines]
