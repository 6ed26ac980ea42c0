"""The table that mthreads-gmi prints without options."""

from . import forms
from .forms import known

# Widths of the columns that all releases have in common.
_ID, _PCIE, _USE = 5, 20, 6
_TYPE = 14
_VERSION = 16
NO_PROCESSES = "   No running processes found"


def _rule(width):
    return "-" * width


def _row_rule(width):
    return "+" + "-" * (width - 2) + "+"


class _Cards:
    """The upper table; `virtual`: a guest's, which has neither temperature nor MPC nor ECC."""

    def __init__(self, machine, devices, release):
        self.machine = machine
        self.devices = devices
        self.release = release
        self.layout = release.layout
        self.name = max([self.layout.name] + [len(device.name or "") + 1 for device in devices])
        self.width = self.layout.rule + self.name - self.layout.name
        self.virtual = bool(devices) and all(device.kind == "Virtual" for device in devices)

    def _last(self, text):
        return "%-*s" % (self.layout.last, text) if self.release.padded else text

    def _lines(self, first, second, third):
        """A card, or the heads: three lines of cells."""
        yield "%-*s%-*s|%-*s|%-*s%s" % (_ID, first[0], self.name, first[1], _PCIE, first[2], _USE, first[3], first[4])
        state = "%-*s" % (self.name - _TYPE, second[1]) if self.layout.perf else ""
        type_cell = "%-*s%s" % (_TYPE if self.layout.perf else self.name, second[0], state)
        begin = "%*s%s|%-*s|" % (_ID, "", type_cell, _PCIE, second[2])
        if self.virtual:
            yield begin
            return
        yield begin + "%-*s%s" % (_USE, second[3], self._last(second[4]))
        yield "%*s|%*s%s" % (_ID + self.name + 1 + _PCIE, "", _USE, "", self._last(third))

    def _card(self, device):
        pci = device.pci
        width = "%dx(%dx)" % (pci.cur_width, pci.max_width) if pci else forms.UNKNOWN
        memory = "%s(%s)" % (forms.mebibytes(device.memory_used), forms.mebibytes(device.memory_total))
        use = known(device.of_gpu("mtmlGpuGetUtilization"), "%d%%")
        first = (device.index, known(device.name), known(device.bus_id), use, memory)
        state = forms.performance_state(device)
        second = (known(device.kind), state, width, known(device.temperature, "%dC"), forms.mpc_capable(device))
        return self._lines(first, second, forms.ecc_mode(device))

    def lines(self):
        yield forms.now()
        yield _rule(self.width)
        version = max(self.release.version + " ", "%-*s" % (_VERSION, self.release.version), key=len)
        yield "    mthreads-gmi:%sDriver Version:%s" % (version, known(self.machine.driver))
        yield _rule(self.width)
        first = ("ID", "Name", "PCIe", "%GPU", self._last("Mem"))
        second = ("Device Type", "Perf", "Pcie Lane Width", "Temp", "MPC Capable")
        yield from self._lines(first, second, "ECC Mode")
        yield _row_rule(self.width)
        for position, device in enumerate(self.devices):
            if position:
                yield _row_rule(self.width)
            yield from self._card(device)
        yield _rule(self.width)


def _shortened(name, width):
    """A process name that fits its column: its end says more than its beginning."""
    return name if len(name) <= width else "..." + name[len(name) - width + 3 :]


def _processes(processes, width, layout):
    index, pid, name = layout.processes
    room = name - 1 if layout.right else name - 3
    yield _rule(width)
    yield "Processes:"
    yield "%-*s%-*s%-*sGPU Memory" % (index, "ID", pid, "PID", name, "Process name")
    yield "%*s" % (sum(layout.processes) + len("GPU Memory"), "Usage")
    yield _row_rule(width)
    for process in processes:
        memory = forms.mebibytes(process.memory)
        cells = (index, process.index, pid, process.pid, name, _shortened(process.name, room))
        yield "%-*s%-*s%-*s" % cells + ("%*s" % (len("GPU Memory"), memory) if layout.right else memory)
    if not processes:
        yield NO_PROCESSES
    yield _rule(width)


def render(machine, devices, release, processes):
    """The whole table (str). `processes` is None where only the cards are to be shown."""
    cards = _Cards(machine, devices, release)
    lines = list(cards.lines())
    if processes is not None:
        lines += [""] + list(_processes(processes, cards.width, release.layout))
    return "\n".join(lines) + "\n"


def process_monitor(processes):
    """What `-pm` shows: GPU, process, its share of the GPU, its name (str)."""
    lines = ["%-5s%-14s%-7s%-13s%s" % ("ID", "PID", "%GPU", "GPU Memory", "Process name")]
    for process in processes:
        cells = (
            process.index,
            process.pid,
            known(process.share, "%d%%"),
            forms.mebibytes(process.memory),
            process.name,
        )
        lines.append("%-5s%-14s%-7s%-13s%s" % cells)
    return "\n".join(lines if processes else lines + [NO_PROCESSES]) + "\n"
