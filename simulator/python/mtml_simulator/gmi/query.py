"""The sections of `mthreads-gmi -q`, as text and as JSON."""

import json

from . import forms
from .forms import MEBIBYTE, UNKNOWN, known, mebibytes, watts
from .library import DISPLAY_TYPES

# Column of the colon, and how far each level is indented.
_COLON, _INDENT = 50, 4
# Sections by the names that `-d` takes.
DISPLAYS = {
    "PCI": ["PCI"],
    "MEMORY": ["FB Memory Usage"],
    "UTILIZATION": ["Utilization"],
    "TEMPERATURE": ["Temperature"],
    "POWER": ["Power Readings"],
    "FAN": ["Fan"],
    "CLOCK": ["Clocks", "Max Clocks"],
    "ECC": ["Ecc Mode", "Retired Pages"],
    "PERFORMANCE": ["Performance State"],
}
# What JSON tells and text does not: there it stands in the line above the card.
_ONLY_JSON = ("Index", "Bus ID")


def _pci(device):
    pci, slot = device.pci, device.slot
    name = slot.name.decode("utf-8", "replace") if slot else ""
    return {
        "Bus": known(pci and pci.bus, "0x%02X"),
        "Device": known(pci and pci.device, "0x%02X"),
        "Bus ID": known(device.bus_id),
        "Vendor ID": known(pci and pci.device_id & 0xFFFF, "0x%04X"),
        "Device ID": known(pci and pci.device_id >> 16, "0x%04X"),
        "Subsystem Vendor ID": known(pci and pci.subsystem_id & 0xFFFF, "0x%04X"),
        "Subsystem Device ID": known(pci and pci.subsystem_id >> 16, "0x%04X"),
        "Slot ID(Name)": "%d(%s)" % (slot.id, name) if slot else UNKNOWN,
        "GPU Link Info": {
            "PCIe Generation": {"Max": known(pci and pci.max_gen), "Current": known(pci and pci.cur_gen)},
            "Link Width": {"Max": known(pci and pci.max_width, "%dx"), "Current": known(pci and pci.cur_width, "%dx")},
        },
    }


def _memory_spec(device):
    return {
        "Type": known(device.memory_type),
        "Vendor": known(device.memory_vendor),
        "Speed": known(device.of_memory("mtmlMemoryGetSpeed"), "%dMbps"),
        "Bandwidth": known(device.of_memory("mtmlMemoryGetBandwidth"), "%dGBps"),
        "Bus Width": known(device.of_memory("mtmlMemoryGetBusWidth"), "%dbits"),
    }


def _memory_usage(device):
    total, used = device.memory_total, device.memory_used
    # In whole MiB, so that the three add up. With the IOMMU off, more than all of it can be in use.
    free = None if total is None or used is None else max(total // MEBIBYTE - used // MEBIBYTE, 0) * MEBIBYTE
    return {"Total": mebibytes(total), "Used": mebibytes(used), "Free": mebibytes(free)}


def _displays(device):
    displays = device.displays()
    if not displays:
        return UNKNOWN
    section = {}
    for number, display in enumerate(displays):
        kind = DISPLAY_TYPES.get(display.type) if display else None
        section["Interface %d Type" % number] = known(kind)
        section["Interface %d Max Resolution" % number] = (
            "%dx%d@%.1fHz" % (display.width, display.height, display.refresh_rate) if display else UNKNOWN
        )
    return section


def _utilization(device):
    codec = device.codec
    return {
        "Gpu": known(device.of_gpu("mtmlGpuGetUtilization"), "%d%%"),
        "Memory": known(device.of_memory("mtmlMemoryGetUtilization"), "%d%%"),
        "Encoder": known(codec and codec.encoder, "%d%%"),
        "Decoder": known(codec and codec.decoder, "%d%%"),
    }


def _power(device, release):
    # The blank at the end is the tool's own.
    section = {"Power Draw ": watts(device.power)}
    # A limit of 0 is one that the driver does not tell; of the requested one MTML never does.
    limits = {"Current Power Limit": watts(device.power_limit or None), "Requested Power Limit": UNKNOWN}
    section.update(list(limits.items())[: release.limits])
    return section


def _fans(device):
    fans = device.fans()
    if not fans:
        return UNKNOWN
    speeds = {"Fan%d" % number: known(speed, "%d%%") for number, speed in enumerate(fans)}
    return {"Channel": str(len(fans)), "Speed": speeds}


def _clocks(device, maximum):
    infix = "Max" if maximum else ""
    return {
        "Graphics": known(device.of_gpu("mtmlGpuGet%sClock" % infix), "%dMHz"),
        "Memory": known(device.of_memory("mtmlMemoryGet%sClock" % infix), "%dMHz"),
        "Video": known(device.of_vpu("mtmlVpuGet%sClock" % infix), "%dMHz"),
    }


def _sessions(device, direction):
    rates = device.sessions(direction)
    if rates is None:
        return {"Active Sessions": UNKNOWN, "Average FPS": UNKNOWN}
    return {"Active Sessions": str(len(rates)), "Average FPS": str(sum(rates) // (len(rates) or 1))}


def _ecc(device):
    now = forms.ecc_mode(device)
    if device.ecc is None or device.ecc[0] == device.ecc[1]:
        return {"Current": now, "Pending": now}
    return {"Current": now, "Pending": "Enabled" if device.ecc[1] else "Disabled"}


def _retired_pages(device):
    count, pending = device.retired_pages, device.retirement_pending
    return {
        "Single Bit ECC": known(count and count.single_bit),
        "Double Bit ECC": known(count and count.double_bit),
        "Pending Page Blacklist": UNKNOWN if pending is None else "Yes" if pending else "No",
    }


def card(device, release):
    """All that a query tells of a device: section or key, in the tool's order, to its text or its own keys (dict)."""
    return {
        "Index": str(device.index),
        "Product Name": known(device.name),
        "Product Brand": known(device.brand),
        "GPU UUID": known(device.uuid),
        "Serial Number": known(device.serial),
        "DeviceType": known(device.kind),
        "MPC Capable": forms.mpc_capable(device),
        "MTBios Version": known(device.bios),
        "PCI": _pci(device),
        "FB Memory Spec": _memory_spec(device),
        "FB Memory Usage": _memory_usage(device),
        "Display Interface": _displays(device),
        "Utilization": _utilization(device),
        "Temperature": {"GPU Current Temp": known(device.temperature, "%dC")},
        "Power Readings": _power(device, release),
        "Fan": _fans(device),
        "Clocks": _clocks(device, maximum=False),
        "Max Clocks": _clocks(device, maximum=True),
        "Encoder Stats": _sessions(device, "Encoder"),
        "Decoder Stats": _sessions(device, "Decoder"),
        "Ecc Mode": _ecc(device),
        "Retired Pages": _retired_pages(device),
        "Performance State": forms.performance_state(device),
    }


def _chosen(sections, displays):
    """The card's number and the sections that `-d` asks for, in that order; all of them without it."""
    if not displays:
        return sections
    names = ["Index"] + [name for display in displays for name in DISPLAYS[display]]
    return {name: sections[name] for name in names}


def as_json(machine, devices, release, displays):
    """The query as JSON (str)."""
    report = {
        "Timestamp": forms.now(),
        "Driver Version": known(machine.driver),
        "Attached GPUs": str(len(machine.devices)),
        "GPU": [_chosen(card(device, release), displays) for device in devices],
    }
    return json.dumps(report, indent=4) + "\n"


def _lines(sections, level):
    for key, value in sections.items():
        if key in _ONLY_JSON:
            continue
        begin = " " * _INDENT * level + key
        if isinstance(value, dict):
            yield begin
            yield from _lines(value, level + 1)
        else:
            yield "%-*s:  %s" % (_COLON, begin, value)


def as_text(machine, devices, release, displays):
    """The query as text (str)."""
    report = {"Driver Version": known(machine.driver), "Attached GPUs": str(len(machine.devices))}
    lines = list(_lines(report, 0))
    for device in devices:
        lines += ["", "GPU%d %s" % (device.index, known(device.bus_id))]
        lines += _lines(_chosen(card(device, release), displays), 1)
    return "\n".join(lines) + "\n"
