"""The table on a terminal of 80 columns or fewer: a line for each card, so that eight cards and what runs on them fit.

Columns go as the terminal gets narrower; memory in use is the last.
"""

from textwrap import wrap

import pymtml
from pymtml_cli.common.errors import NVIDIA_SMI, called, worded
from pymtml_cli.common.text import fit, left, tail
from pymtml_cli.common.text import width as text_width
from pymtml_cli.readings.devices import ask, shown_driver, shown_musa
from pymtml_cli.readings.processes import listed, remarks
from pymtml_cli.readings.table import BY_NAME
from pymtml_cli.smi import cells
from pymtml_cli.smi.listing import name, profile


def _index(device):
    """Index of a card; of an instance below its card a point and its own."""
    return "%d" % device.index if device.parent is None else ".%d" % device.index


def _name(device):
    return cells.short(name(device) if device.parent is None else profile(device))


def _of_card(cell):
    """A cell that instances leave empty."""
    return lambda device: cell(device) if device.parent is None else ""


# Title, least width, what it shows of a card or an instance; from left to right
COLUMNS = (
    ("GPU", 3, _index),
    ("Name", 9, _name),
    ("Fan", 4, _of_card(cells.fan)),
    ("Temp", 5, _of_card(cells.temperature)),
    ("Perf", 4, _of_card(lambda card: cells.short(BY_NAME["pstate"].cell(card)))),
    ("Pwr:Usage/Cap", 13, _of_card(lambda card: cells.power(card, "%s / %s"))),
    ("Memory-Usage", 16, lambda device: cells.memory(device, "%s/%s", "")),
    ("Util", 5, cells.utilization),
    ("ECC", 6, _of_card(cells.uncorrected)),
)
# The order in which they come where there is room for them
IMPORTANCE = ("GPU", "Memory-Usage", "Util", "Temp", "Pwr:Usage/Cap", "Name", "ECC", "Fan", "Perf")
PROCESS_MEMORY_WIDTH = 60  # from this width on, processes have a column for their memory


def text(machine, cards, room, paint):
    """The table as it is printed."""
    columns = _chosen(room)
    width = _total(columns)
    rule = "+" + "-" * (width - 2) + "+"
    lines = [_head(machine, width), _titles(columns)]
    for card in cards:
        for device in [card] + card.instances:
            lines.append(_row(device, columns, paint and width <= room))
    lines.append(rule)
    lines += _processes(cards, width) + [rule]
    return "".join((line if width <= room else line[:room]) + "\n" for line in lines)


def _total(columns):
    return 3 + sum(width + 1 for _, width, _ in columns)


def _chosen(room):
    """The columns that a terminal has room for, with the width that is left over for names."""
    titles = []
    for title in IMPORTANCE:
        columns = [column for column in COLUMNS if column[0] in titles + [title]]
        if len(titles) > 1 and _total(columns) > room:
            break
        titles.append(title)
    columns = [column for column in COLUMNS if column[0] in titles]
    left_over = max(0, room - _total(columns))
    return [(title, width + left_over if title == "Name" else width, cell) for title, width, cell in columns]


def _head(machine, width):
    """The upper edge: versions, as many as there is room for, and the time."""
    driver = cells.short(shown_driver(ask(pymtml.nvmlSystemGetDriverVersion)))
    musa = cells.short(shown_musa())
    title = "NVIDIA-SMI " + driver if called() == NVIDIA_SMI else "pymtml " + pymtml.__version__
    parts = [title, worded("MUSA Version: ") + musa, "Driver Version: " + driver]
    clock = machine.time.long.split()[3]
    room = width - len("+- %s  -+" % clock)
    while len(parts) > 1 and len("  ".join(parts)) > room - 2:
        parts.pop()
    versions = fit("  ".join(parts), room - 2)
    return "+- %s %s %s -+" % (versions, "-" * (room - 1 - text_width(versions)), clock)


def _titles(columns):
    parts = [left(title, width) if title == "Name" else title.rjust(width) for title, width, _ in columns]
    return "| %s |" % " ".join(parts)


def _row(device, columns, paint):
    parts = []
    for title, width, show in columns:
        cell = show(device)
        if title == "Name":
            parts.append(left(fit(cell, width), width))
        else:
            cell = cell if isinstance(cell, cells.Cell) else cells.Cell(cell)
            parts.append(cell.padded(width, paint))
    return "| %s |" % " ".join(parts)


def _processes(cards, width):
    inner = width - 4
    with_memory = width >= PROCESS_MEMORY_WIDTH
    lines = ["| %s |" % left(fit("GPU       PID Type %sProcess name" % ("GPU-Memory " * with_memory), inner), inner)]
    found, failed = listed(cards)
    rows = ["%3d  not known: %s" % (card.index, reason) for card, reason in failed.items()]
    for process in found:
        number = "%d" % process.card.index
        if process.instance is not None:
            number += ".%d" % process.instance.index
        begin = "%3s %9d %-4s " % (number, process.pid, process.kind) + ("%10s " % process.used("%dMiB")) * with_memory
        rows.append(begin + tail(cells.short(process.name), inner - len(begin)))
    if not failed:
        for remark in remarks(cards, found):
            rows += wrap(remark, inner)
    return lines + ["| %s |" % left(fit(row, inner), inner) for row in rows]
