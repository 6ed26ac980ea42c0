"""The table that mthreads-gmi prints without options."""

from . import forms
from .forms import known

# Widths of the columns. The name's grows with longer names, and the rules with it.
_ID, _NAME, _PCIE, _USE, _LAST = 5, 21, 20, 6, 16
_TYPE = 14
_RULE = 69
_PROCESS = (5, 14, 39)
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
        self.name = max([_NAME] + [len(device.name or "") + 1 for device in devices])
        self.width = _RULE + self.name - _NAME
        self.virtual = bool(devices) and all(device.kind == "Virtual" for device in devices)

    def _last(self, text):
        return "%-*s" % (_LAST, text) if self.release.padded else text

    def _lines(self, first, second, third):
        """A card, or the heads: three lines of cells."""
        yield "%-*s%-*s|%-*s|%-*s%s" % (_ID, first[0], self.name, first[1], _PCIE, first[2], _USE, first[3], first[4])
        type_cell = "%-*s%-*s" % (_TYPE, second[0], self.name - _TYPE, second[1])
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
        yield "    mthreads-gmi:%-16sDriver Version:%s" % (self.release.version, known(self.machine.driver))
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


def _shortened(name):
    """A process name that fits its column: its end says more than its beginning."""
    room = _PROCESS[2] - 3
    return name if len(name) <= room else "..." + name[len(name) - room + 3 :]


def _processes(processes, width):
    heads = (_PROCESS[0], "ID", _PROCESS[1], "PID", _PROCESS[2], "Process name")
    yield _rule(width)
    yield "Processes:"
    yield "%-*s%-*s%-*sGPU Memory" % heads
    yield "%*s" % (sum(_PROCESS) + len("GPU Memory"), "Usage")
    yield _row_rule(width)
    for process in processes:
        cells = (_PROCESS[0], process.index, _PROCESS[1], process.pid, _PROCESS[2], _shortened(process.name))
        yield "%-*s%-*s%-*s%s" % (cells + (forms.mebibytes(process.memory),))
    if not processes:
        yield NO_PROCESSES
    yield _rule(width)


def render(machine, devices, release, processes):
    """The whole table (str). `processes` is None where only the cards are to be shown."""
    cards = _Cards(machine, devices, release)
    lines = list(cards.lines())
    if processes is not None:
        lines += [""] + list(_processes(processes, cards.width))
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
