"""The table of cards and processes, in nvidia-smi's form: what people look at, and what programs cut up by columns.

On a terminal it takes the width that is there, for names of processes where there is more, by leaving columns out where
there is less, and marks what is hot or full; anywhere else it has its full 91 columns and no color.
"""

import os

import pymtml
from pymtml_cli.common.errors import NVIDIA_SMI, called
from pymtml_cli.common.samples import Output, repeat
from pymtml_cli.common.text import fit, left, tail
from pymtml_cli.common.text import width as text_width
from pymtml_cli.readings.devices import Machine, Unknown, ask, shown_driver, shown_musa
from pymtml_cli.readings.processes import NONE_RUNNING, listed, remarks
from pymtml_cli.readings.table import BY_NAME
from pymtml_cli.smi.cells import (
    Cell,
    division,
    fan,
    memory,
    power,
    short,
    switched,
    temperature,
    uncorrected,
    utilization,
)
from pymtml_cli.smi.listing import name, profile
from pymtml_cli.smi.lost import Opened, show

FULL_WIDTH = 91
COMPACT_WIDTH = 80  # terminals up to this width have a line for each card: module `compact`

# Widths of the blocks card, memory, load
WIDE_LOAD = 22
LAYOUTS = ((41, 24, WIDE_LOAD), (41, 24, 7))
NAME_WIDTH = 37  # of processes, where the table has its full width


class Screen:
    """The table for an output."""

    def __init__(self, output):
        self._terminal = output.is_terminal
        self._colors = self._terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._paint = self._colors
        self._smi = called() == NVIDIA_SMI

    def text(self, machine, opened):
        """The table as it is printed; no table if none of the cards can be opened."""
        return (self._table(machine, opened.cards) if opened.cards else "") + opened.sentences

    def _table(self, machine, cards):
        room = self.width()
        if room <= COMPACT_WIDTH:
            from pymtml_cli.smi import compact

            return compact.text(machine, cards, room, self._colors)
        return machine.time.long + " " * 7 + "\n" + "\n".join(self._lines(cards, room)) + "\n"

    def width(self):
        """Columns that there are."""
        if not self._terminal:
            return FULL_WIDTH
        import shutil

        return shutil.get_terminal_size((FULL_WIDTH, 24)).columns

    def _lines(self, cards, room):
        """The lines below the time."""
        widths = LAYOUTS[0] if room >= FULL_WIDTH else LAYOUTS[1]
        width = _total(widths)
        lines = self._head(width, widths)
        for card in cards:
            lines += self._card(card, widths) + [_rule(widths, "-", "+")]
        instances = [instance for card in cards for instance in card.instances]
        if instances:
            lines += [""] + self._instances(instances, width)
        return lines + [""] + self._processes(cards, width, room)

    def _head(self, width, widths):
        inner = width - 4
        driver, musa = short(shown_driver(ask(pymtml.nvmlSystemGetDriverVersion))), short(shown_musa())
        if self._smi:
            line = "%-34s%-31s%s" % ("NVIDIA-SMI " + driver, "Driver Version: " + driver, "CUDA Version: " + musa)
        else:
            library = "MTML " + short(ask(pymtml.nvmlSystemGetNVMLVersion))
            parts = ["pymtml " + pymtml.__version__, library, "Driver Version: " + driver, "MUSA Version: " + musa]
            if width < FULL_WIDTH:
                parts.remove(library)
            blanks = max(2, (inner - sum(map(len, parts))) // (len(parts) - 1))
            line = (" " * min(blanks, 7)).join(parts)
        lines = ["+" + "-" * (width - 2) + "+", "| " + left(fit(line, inner), inner) + " |", _rule(widths, "-", "+")]
        for row in self._titles(widths)[: 3 if widths[2] == WIDE_LOAD else 2]:
            lines.append(_line(row, widths, False))
        lines.append(_rule(widths, "=", "+").replace("+", "|", 1)[:-1] + "|")
        return lines

    def _titles(self, widths):
        kind = "MIG M." if self._smi else "MPC M."
        card = (" GPU  Name                 Persistence-M ", " Fan  Temp   Perf          Pwr:Usage/Cap ", "")
        load = (
            (" Volatile Uncorr. ECC ", " GPU-Util  Compute M. ", "%21s " % kind)
            if widths[2] == WIDE_LOAD
            else ("   Util", "    ECC", "")
        )
        return list(zip(card, (" Bus-Id          Disp.A ", "           Memory-Usage ", ""), load))

    def _card(self, card, widths):
        pci = card.ask(pymtml.nvmlDeviceGetPciInfo)
        state = card.ask(pymtml.nvmlDeviceGetPersistenceMode)
        block = (
            [Cell(" %3d  %s %5s  " % (card.index, left(fit(short(name(card)), 27), 27), switched(state)))],
            [
                Cell("%4s" % fan(card)),
                (temperature(card), 6),
                Cell("    %-4s" % short(BY_NAME["pstate"].cell(card))),
                (power(card), 22),
                Cell(" "),
            ],
            [],
        )
        address = short(pci if isinstance(pci, Unknown) else pci.busId)
        display = switched(card.ask(pymtml.nvmlDeviceGetDisplayActive))
        place = ([Cell("   %-16s %3s " % (address, display))], [(memory(card), 23), Cell(" ")], [])
        load, errors = utilization(card), uncorrected(card)
        if widths[2] == WIDE_LOAD:
            mode = short(BY_NAME["compute_mode"].cell(card))
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
        head = " GPU %s  Name               Memory-Usage            Util" % kind
        lines += ["|" + head.ljust(width - 2) + "|", "|" + "=" * (width - 2) + "|"]
        for instance in instances:
            used, share = memory(instance).text.strip(), left(fit(short(profile(instance)), 14), 14)
            text = " %3d %3d  %s %24s %8s" % (
                instance.parent.index,
                instance.index,
                share,
                used,
                utilization(instance).text,
            )
            lines.append("|" + left(text, width - 2) + "|")
        return lines + ["+" + "-" * (width - 2) + "+"]

    def _processes(self, cards, width, room):
        full = width == FULL_WIDTH
        found, failed = listed(cards)
        rows = ["%5d   not known: %s" % (card.index, reason) for card, reason in failed.items()]
        names = [short(process.name) for process in found]
        if full:
            width += max([0] + [min(text_width(text), NAME_WIDTH + room - width) - NAME_WIDTH for text in names])
        inner = width - 2
        lines = ["+" + "-" * inner + "+", "|" + " Processes:".ljust(inner) + "|"]
        if full:
            more = " " * (width - FULL_WIDTH)
            lines += [
                "|  GPU   GI   CI              PID   Type   Process name%s                        GPU Memory |" % more,
                "|        ID   ID                                      %s                         Usage      |" % more,
            ]
        else:
            lines.append("|" + "  GPU      PID  Type  Process name".ljust(inner) + "|")
        lines.append("|" + "=" * inner + "|")
        rows += [_process(process, text, full, inner) for process, text in zip(found, names)]
        said = ["  " + text for text in remarks(cards, found)] if not failed else []
        # Programs that cut up nvidia-smi's table take each line in the frame for a process, but for these words.
        below = said if self._smi and not self._terminal and said != ["  " + NONE_RUNNING] else []
        for row in rows + (said if not below else []):
            lines.append("|" + left(fit(row, inner), inner) + "|")
        return lines + ["+" + "-" * inner + "+"] + below


def _process(process, program, full, inner):
    used, number = process.used("%dMiB"), process.instance_id
    if full:
        room = inner - FULL_WIDTH + 2 + NAME_WIDTH
        form = "%5d%6s%5s%16d%7s   %s%9s "
        program = left(tail(program, room), room)
        return form % (process.card.index, number, "N/A", process.pid, process.kind, program, used)
    return "%5d%9d%6s  %s" % (process.card.index, process.pid, process.kind, tail(program, inner - 23))


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
            blocks.append(left(fit(block, width), width))
            continue
        text, length = "", 0
        for part in block:
            cell, room = part if isinstance(part, tuple) else (part, text_width(part.text))
            text += cell.padded(room, paint)
            length += room
        blocks.append(text + " " * (width - length))
    return "|" + "|".join(blocks) + "|"


def answer(options):
    """Print the table (exit status).

    With --watch it is drawn in place until somebody interrupts; into a file or a pipe, one table after the other.
    """
    with Output(options.get("filename")) as output:
        if "watch" in options.values and output.is_terminal:
            return _watch(options, output)
        screen = Screen(output)
        return show(options, output, screen.text)


def _watch(options, output):
    """Draw the table in place; only a signal ends it."""
    from pymtml_cli.smi.terminal import OtherScreen

    screen = Screen(output)
    with OtherScreen(output) as other, Machine() as machine:
        opened = Opened(machine.chosen(options.get("id")))
        repeat(machine, options.seconds, lambda first: other.draw(_in_place(screen, machine, opened)), other.wakeup)
    return opened.status


def _in_place(screen, machine, opened):
    """What redraws the terminal: as many lines as it has, each cleared to its end."""
    import shutil

    rows = shutil.get_terminal_size((FULL_WIDTH, 24)).lines
    lines = screen.text(machine, opened).splitlines()
    if len(lines) >= rows:
        shown = max(0, rows - 2)
        lines = lines[:shown] + ["... %d more lines" % (len(lines) - shown)]
    return "\x1b[H" + "\x1b[K\r\n".join(lines) + "\x1b[J"
