"""`mthreads-gmi topo` and `mthreads-gmi mtlink`: how the cards are joined."""

from . import forms

_CELL, _AFFINITY = 9, 15
# The tool's names for what two cards have in common on their way.
_LEVELS = {
    "INTERNAL": "PIX",
    "SINGLE": "SPB",
    "MULTIPLE": "MPB",
    "HOSTBRIDGE": "PHB",
    "NODE": "NODE",
    "SYSTEM": "SYS",
}
_LEGEND = (
    ("X", "Self"),
    ("SYS", "A path over PCIe and the interconnect between NUMA nodes"),
    ("NODE", "A path over PCIe and between host bridges within a NUMA node"),
    ("PHB", "A path over PCIe and a host bridge"),
    ("MPB", "A path over multiple PCIe bridges, without a host bridge"),
    ("SPB", "A path over a single PCIe bridge"),
    ("PIX", "A path within one board"),
    ("MTx", "A path bonded from x MTLinks"),
)
_P2P = {0: "OK", 1: "CNS", 2: "GNS"}
_P2P_LEGEND = (
    ("X", "Self"),
    ("OK", "Status OK"),
    ("CNS", "Chipset not supported"),
    ("GNS", "GPU not supported"),
    ("U", "Unknown"),
)


def _legend(entries):
    return ["", "Legend:", ""] + ["  %-4s = %s" % entry for entry in entries]


def _matrix(devices, cell, affinity):
    heads = ["GPU%d" % device.index for device in devices]
    columns = ["CPU Affinity", "NUMA Affinity"] if affinity else []

    def line(first, cells, last):
        # A cell that is full runs into the next one, as the tool's does.
        return "".join(
            ["%-*s" % (_CELL, text) for text in [first] + cells] + ["%-*s" % (_AFFINITY, text) for text in last]
        )

    yield line("", heads, columns)
    for head, device in zip(heads, devices):
        cells = ["X" if other is device else cell(device, other) for other in devices]
        last = [forms.ranges(device.cpus()), forms.ranges(device.nodes())] if affinity else []
        yield line(head, cells, last)


def _path(device, other):
    states = device.links() or []
    up = [link for link in device.links_to(other) if link < len(states) and states[link] not in (None, "DOWN")]
    if up:
        return "MT%d" % len(up)
    return _LEVELS.get(device.level(other), forms.UNKNOWN)


def matrix(devices, affinity):
    """`topo -m`, and without affinity `topo -mg` (str)."""
    return "\n".join(list(_matrix(devices, _path, affinity)) + _legend(_LEGEND)) + "\n"


def p2p(devices, capability):
    """`topo -p2p r` (capability 0) or `topo -p2p w` (1) (str)."""

    def status(device, other):
        return _P2P.get(device.p2p(other, capability), "U")

    return "\n".join(list(_matrix(devices, status, affinity=False)) + _legend(_P2P_LEGEND)) + "\n"


def link_states(devices):
    """`mtlink -s`: the state of each link; None where no card has MtLink (str)."""
    lines = []
    for device in devices:
        states = device.links()
        if states is None:
            continue
        lines += ["GPU%d %s" % (device.index, forms.known(device.bus_id))]
        lines += ["%-50s:  %s" % ("    LINK%d" % link, forms.known(state)) for link, state in enumerate(states)]
    return "\n".join(lines) + "\n" if lines else None
