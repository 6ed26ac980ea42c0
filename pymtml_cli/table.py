"""The table of cards and processes, in nvidia-smi's form: what people look at, and what programs cut up by columns.

On a terminal it takes the width that is there, by leaving columns out, and marks what is hot or full; anywhere else it
has its full 91 columns and no color.
"""

import os

import pymtml
from pymtml_cli import fields
from pymtml_cli.devices import Unknown, ask
from pymtml_cli.errors import NVIDIA_SMI, called
from pymtml_cli.listing import name, profile
from pymtml_cli.processes import processes
from pymtml_cli.usage import musa_version

FULL_WIDTH = 91
HOT_CELSIUS, FULL_PERCENT = 80, 90  # warn from here on, where the card does not tell its own limit
RED, YELLOW, PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"

# Widths of the blocks card, memory, load from wide to narrow. A block of 0 is left out.
WIDE_CARD, WIDE_LOAD = 41, 22
LAYOUTS = ((41, 24, 22), (41, 24, 7), (26, 24, 7), (26, 0, 7), (26, 0, 0))
INSTANCE_COLUMNS = 60  # from this width on, instances have names and utilization


class Cell:
    """A text in the table and how alarming it is."""

    def __init__(self, text, color=""):
        self.text, self.color = text, color

    def padded(self, width, paint):
        """The text to the right of ``width`` columns, colored if ``paint``."""
        text = fit(self.text, width)
        blanks = " " * (width - len(text))
        return blanks + (self.color + text + PLAIN if paint and self.color else text)


def fit(text, width):
    """A text cut to a width, with dots where something is missing."""
    return text if len(text) <= width else text[: max(0, width - 3)] + "..."[: min(3, width)]


def short(value, form="%s"):
    """A value in the table: N/A if nobody can tell it, ERR! if who could failed."""
    if isinstance(value, Unknown):
        return "N/A" if value.not_supported else "ERR!"
    return " ".join((form % value).splitlines())


def temperature(card):
    """Temperature, red from the temperature at which the card slows down, yellow ten degrees before."""
    value = card.ask(pymtml.nvmlDeviceGetTemperature, pymtml.NVML_TEMPERATURE_GPU)
    color = ""
    if not isinstance(value, Unknown):
        limit = card.ask(pymtml.nvmlDeviceGetTemperatureThreshold, pymtml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
        limit = HOT_CELSIUS + 10 if isinstance(limit, Unknown) or limit <= 0 else limit
        color = RED if value >= limit else YELLOW if value >= limit - 10 else ""
    return Cell(short(value, "%dC"), color)


def _share_color(used, total):
    share = 100.0 * used / total if total else 0
    return RED if share > FULL_PERCENT + 5 else YELLOW if share > FULL_PERCENT else ""


def power(card):
    """Power and its limit."""
    usage, limit = card.ask(pymtml.nvmlDeviceGetPowerUsage), card.ask(pymtml.nvmlDeviceGetEnforcedPowerLimit)
    known = not isinstance(usage, Unknown) and not isinstance(limit, Unknown)
    texts = [
        short(value if isinstance(value, Unknown) else int(value / 1000.0 + 0.5), "%dW") for value in (usage, limit)
    ]
    return Cell("%6s / %5s" % tuple(texts), _share_color(usage, limit) if known else "")


def memory(device):
    """Memory in use and all of it."""
    info = device.ask(pymtml.nvmlDeviceGetMemoryInfo)
    if isinstance(info, Unknown):
        return Cell("%10s / %9s" % (short(info), short(info)))
    texts = tuple("%dMiB" % fields.mebibytes(number) for number in (info.used, info.total))
    return Cell("%10s / %9s" % texts, _share_color(info.used, info.total))


def _rate(device):
    rates = device.ask(pymtml.nvmlDeviceGetUtilizationRates)
    return short(rates if isinstance(rates, Unknown) else rates.gpu, "%s%%")


def uncorrected(card):
    """Uncorrected memory errors since the driver was loaded, red if there are any."""
    count = card.ask(
        pymtml.nvmlDeviceGetTotalEccErrors, pymtml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, pymtml.NVML_VOLATILE_ECC
    )
    mode = card.ask(pymtml.nvmlDeviceGetEccMode)
    if not isinstance(mode, Unknown) and not mode[0]:
        return Cell("Off")
    return Cell(short(count), RED if not isinstance(count, Unknown) and count else "")


def switched(value, on="On", off="Off"):
    """A feature's state in the short words of the table."""
    return short(value if isinstance(value, Unknown) else (on if value else off))


def division(card):
    """Whether a card is divided into instances."""
    modes = card.ask(pymtml.nvmlDeviceGetMigMode)
    return short(modes if isinstance(modes, Unknown) else fields.enabled(modes[0]))


class Screen:
    """The table for an output."""

    def __init__(self, output):
        self._terminal = output.is_terminal
        self._colors = self._terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._paint = self._colors
        self._smi = called() == NVIDIA_SMI

    def cards(self, machine, text):
        """The cards to show."""
        return machine.chosen(text)

    def text(self, machine, cards):
        """The table as it is printed."""
        return machine.time.long + " " * 7 + "\n" + "\n".join(self.lines(machine, cards)) + "\n"

    def width(self):
        """Columns that there are."""
        if not self._terminal:
            return FULL_WIDTH
        import shutil

        return shutil.get_terminal_size((FULL_WIDTH, 24)).columns

    def lines(self, machine, cards):
        """The lines of the table below the time."""
        room = self.width()
        widths = next((layout for layout in LAYOUTS if _total(layout) <= room), LAYOUTS[-1])
        width = _total(widths)
        self._paint = self._colors and width <= room
        lines = self._head(width, widths)
        for card in cards:
            lines += self._card(card, widths) + [_rule(widths, "-", "+")]
        instances = [instance for card in cards for instance in card.instances]
        if instances:
            lines += [""] + self._instances(instances, width)
        lines += [""] + self._processes(cards, width)
        return lines if width <= room else [line[:room] for line in lines]

    def _head(self, width, widths):
        inner = width - 4
        driver, musa = short(ask(pymtml.nvmlSystemGetDriverVersion)), short(musa_version())
        if self._smi:
            line = "%-34s%-31s%s" % ("NVIDIA-SMI " + driver, "Driver Version: " + driver, "CUDA Version: " + musa)
        else:
            library = "MTML " + short(ask(pymtml.nvmlSystemGetNVMLVersion))
            parts = ["pymtml " + pymtml.__version__, library, "Driver Version: " + driver, "MUSA Version: " + musa]
            if width < FULL_WIDTH:
                parts.remove(library)
            blanks = max(2, (inner - sum(map(len, parts))) // (len(parts) - 1))
            line = (" " * min(blanks, 7)).join(parts)
        lines = ["+" + "-" * (width - 2) + "+", "| " + fit(line, inner).ljust(inner) + " |", _rule(widths, "-", "+")]
        for row in self._titles(widths)[: 3 if widths[2] == WIDE_LOAD else 2]:
            lines.append(_line(row, widths, False))
        lines.append(_rule(widths, "=", "+").replace("+", "|", 1)[:-1] + "|")
        return lines

    def _titles(self, widths):
        wide_card, wide_load = widths[0] == WIDE_CARD, widths[2] == WIDE_LOAD
        kind = "MIG M." if self._smi else "MPC M."
        card = (
            (" GPU  Name                 Persistence-M ", " Fan  Temp   Perf          Pwr:Usage/Cap ", "")
            if wide_card
            else (" GPU  Name                ", " Temp       Pwr:Usage/Cap ", "")
        )
        load = (
            (" Volatile Uncorr. ECC ", " GPU-Util  Compute M. ", "%21s " % kind)
            if wide_load
            else ("   Util", "    ECC", "")
        )
        return list(zip(card, (" Bus-Id          Disp.A ", "           Memory-Usage ", ""), load))

    def _card(self, card, widths):
        pci = card.ask(pymtml.nvmlDeviceGetPciInfo)
        heat, draw, used = temperature(card), power(card), memory(card)
        if widths[0] == WIDE_CARD:
            state = card.ask(pymtml.nvmlDeviceGetPersistenceMode)
            fan = short(card.ask(pymtml.nvmlDeviceGetFanSpeed), "%s%%")
            block = (
                [Cell(" %3d  %-27s %5s  " % (card.index, fit(short(name(card)), 27), switched(state)))],
                [
                    Cell("%4s" % fan),
                    (heat, 6),
                    Cell("    %-4s" % short(fields.performance_state(card))),
                    (draw, 22),
                    Cell(" "),
                ],
                [],
            )
        else:
            block = (
                [Cell(" %3d  %-20s" % (card.index, fit(short(name(card)), 20)))],
                [(heat, 5), Cell("      "), (draw, 14), Cell(" ")],
                [],
            )
        address = short(pci if isinstance(pci, Unknown) else pci.busId)
        display = switched(card.ask(pymtml.nvmlDeviceGetDisplayActive))
        place = ([Cell("   %-16s %3s " % (address, display))], [(used, 23), Cell(" ")], [])
        load, errors = Cell(_rate(card)), uncorrected(card)
        if widths[2] == WIDE_LOAD:
            mode = short(fields.compute_mode(card))
            work = (
                [(errors, 21), Cell(" ")],
                [(load, 8), Cell("%13s " % fit(mode, 13))],
                [Cell("%21s " % division(card))],
            )
        else:
            work = ([(load, 6), Cell(" ")], [(errors, 6), Cell(" ")], [])
        rows = list(zip(block, place, work))
        return [_line(row, widths, self._paint) for row in (rows if widths[2] == WIDE_LOAD else rows[:2])]

    def _instances(self, instances, width):
        title = "MIG devices:" if self._smi else "MPC instances:"
        kind = "MIG" if self._smi else "MPC"
        lines = ["+" + "-" * (width - 2) + "+", "| " + title.ljust(width - 4) + " |"]
        if width < INSTANCE_COLUMNS:
            head, form = " GPU %s  Memory-Usage         " % kind, " %3d %3d %24s "
        else:
            head, form = " GPU %s  Name               Memory-Usage            Util" % kind, " %3d %3d  %-14s %24s %8s"
        lines += ["|" + fit(head, width - 2).ljust(width - 2) + "|", "|" + "=" * (width - 2) + "|"]
        for instance in instances:
            used = memory(instance).text.strip()
            values = (instance.parent.index, instance.index)
            if width < INSTANCE_COLUMNS:
                text = form % (values + (used,))
            else:
                text = form % (values + (short(profile(instance)), used, _rate(instance)))
            lines.append("|" + fit(text, width - 2).ljust(width - 2) + "|")
        return lines + ["+" + "-" * (width - 2) + "+"]

    def _processes(self, cards, width):
        inner = width - 2
        instances = width == FULL_WIDTH
        lines = ["+" + "-" * inner + "+", "|" + " Processes:".ljust(inner) + "|"]
        if instances:
            lines.append("|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |")
            lines.append("|        ID   ID                                                               Usage      |")
        else:
            lines.append("|" + fit("  GPU      PID  Type  Process name", inner).ljust(inner) + "|")
        lines.append("|" + "=" * inner + "|")
        rows = []
        for card in cards:
            known = processes(card)
            if isinstance(known, Unknown):
                rows.append("%5d   %s" % (card.index, "not known: " + known.reason))
                continue
            for process in known:
                rows.append(_process(process, instances, inner))
        for row in rows or ["  No running processes found"]:
            lines.append("|" + fit(row, inner).ljust(inner) + "|")
        return lines + ["+" + "-" * inner + "+"]


def _process(process, instances, inner):
    program = short(process.name)
    used = "N/A" if process.memory is None else "%dMiB" % fields.mebibytes(process.memory)
    number = "N/A" if process.instance is None else str(process.instance.index)
    if instances:
        form = "%5d%6s%5s%16d%7s   %-37s%9s "
        return form % (process.card.index, number, "N/A", process.pid, process.kind, _tail(program, 37), used)
    return "%5d%9d%6s  %s" % (process.card.index, process.pid, process.kind, _tail(program, inner - 23))


def _tail(text, width):
    """The end of a path, with dots where its beginning is missing."""
    return text if len(text) <= width else "..." + text[len(text) - width + 3 :]


def _total(widths):
    """Width of the table for widths of its blocks."""
    return sum(width + 1 for width in widths if width) + 1


def _rule(widths, fill, corner):
    return corner + corner.join(fill * width for width in widths if width) + corner


def _line(row, widths, paint):
    """A line of the blocks: texts, or lists of Cells and (Cell, width)."""
    blocks = []
    for block, width in zip(row, widths):
        if not width:
            continue
        if isinstance(block, str):
            blocks.append(fit(block, width).ljust(width))
            continue
        text, length = "", 0
        for part in block:
            cell, room = part if isinstance(part, tuple) else (part, len(part.text))
            text += cell.padded(room, paint)
            length += room
        blocks.append(text + " " * (width - length))
    return "|" + "|".join(blocks) + "|"


def watch(options, seconds, output):
    """Draw the table in place until somebody interrupts; into a file or a pipe, one table after the other."""
    from pymtml_cli import samples
    from pymtml_cli.devices import Machine

    screen = Screen(output)
    with Machine() as machine:
        cards = screen.cards(machine, options.get("id"))
        if not output.is_terminal:
            samples.repeat(machine, seconds, lambda first: output.write(screen.text(machine, cards)))
            return 0
        output.write("\x1b[?1049h\x1b[?25l")  # the terminal's other screen, without a cursor
        try:
            samples.repeat(machine, seconds, lambda first: output.write(_in_place(screen, machine, cards)), _resized())
        finally:
            output.write("\x1b[?25h\x1b[?1049l")
    return 0


def _in_place(screen, machine, cards):
    """What redraws the terminal: as many lines as it has, each cleared to its end."""
    import shutil

    rows = shutil.get_terminal_size((FULL_WIDTH, 24)).lines
    lines = screen.text(machine, cards).splitlines()
    if len(lines) >= rows:
        hidden = len(lines) - rows + 2
        lines = lines[: max(0, rows - 2)] + ["... %d more lines" % hidden]
    return "\x1b[H" + "\x1b[K\r\n".join(lines) + "\x1b[J"


def _resized():
    """A file descriptor that becomes readable when the terminal changes its size, or None."""
    try:
        from _signal import SIGWINCH, set_wakeup_fd, signal
    except ImportError:
        return None
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    os.set_blocking(reading, False)
    signal(SIGWINCH, lambda *_: None)
    set_wakeup_fd(writing)
    return reading
