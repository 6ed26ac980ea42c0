"""The table on a terminal of 80 columns or fewer: a line for each card, so that eight cards and what runs on them fit.

Columns go as the terminal gets narrower; memory in use is the last.
"""

from textwrap import wrap

import pymtml
from pymtml_cli.common.errors import NVIDIA_SMI, called, worded
from pymtml_cli.common.text import fit, left, tail
from pymtml_cli.common.text import width as text_width
from pymtml_cli.readings.devices import ask, musa_version, shown_driver
from pymtml_cli.readings.processes import listed, remarks
from pymtml_cli.readings.table import BY_NAME
from pymtml_cli.smi import cells
from pymtml_cli.smi.listing import profile


def _name(device):
    return cells.short(device.ask(pymtml.nvmlDeviceGetName) if device.parent is None else profile(device))


def _of_card(cell):
    """A cell that instances leave empty."""
    return lambda device: cell(device) if device.parent is None else ""


# Title, least width, what it shows of a card or an instance; from left to right
COLUMNS = (
    ("GPU", 3, lambda device: ("%d" if device.parent is None else ".%d") % device.index),
    ("Name", 9, _name),
    ("Fan", 4, _of_card(cells.fan)),
    ("Temp", 5, _of_card(cells.temperature)),
    ("Perf", 4, _of_card(lambda card: cells.short(BY_NAME["pstate"].cell(card)))),
    ("Pwr:Usage/Cap", 13, _of_card(lambda card: cells.power(card, "%s / %s"))),
    ("Memory-Usage", 16, lambda device: cells.memory(device, "%s/%s", "")),
    ("Util", 5, cells.utilization),
    ("ECC", 6, _of_card(cells.uncorrected)),
)
# The order in which columns are added while there is room
IMPORTANCE = ("GPU", "Memory-Usage", "Util", "Temp", "Pwr:Usage/Cap", "Name", "ECC", "Fan", "Perf")
PROCESS_MEMORY_WIDTH = 60  # from this width on, processes have a column for their memory


def text(machine, cards, room, paint):
    """The table as it is printed."""
    columns = _chosen(room)
    width = _total(columns)
    rule = "+" + "-" * (width - 2) + "+"
    titles = [left(title, wide) if title == "Name" else title.rjust(wide) for title, wide, _ in columns]
    lines = [_head(machine, width), "| %s |" % " ".join(titles)]
    for card in cards:
        for device in [card] + card.instances:
            parts = [_cell(show(device), title, wide, paint and width <= room) for title, wide, show in columns]
            lines.append("| %s |" % " ".join(parts))
    lines += [rule] + _processes(cards, width) + [rule]
    return "".join((line if width <= room else line[:room]) + "\n" for line in lines)


def _total(columns):
    return 3 + sum(width + 1 for _, width, _ in columns)


def _chosen(room):
    """The columns that a terminal has room for, with the width that is left over for names."""
    columns = COLUMNS
    for title in IMPORTANCE[:1:-1]:
        if _total(columns) > room:
            columns = [column for column in columns if column[0] != title]
    left_over = max(0, room - _total(columns))
    return [(title, width + left_over if title == "Name" else width, show) for title, width, show in columns]


def _head(machine, width):
    """The upper edge: versions, as many as there is room for, and the time."""
    driver = cells.short(shown_driver(ask(pymtml.nvmlSystemGetDriverVersion)))
    musa = cells.short(musa_version())
    title = "NVIDIA-SMI " + driver if called() == NVIDIA_SMI else "pymtml " + pymtml.__version__
    parts = [title, worded("MUSA Version: ") + musa, "Driver Version: " + driver]
    clock = machine.time.long.split()[3]
    room = width - len("+- %s  -+" % clock)
    while len(parts) > 1 and len("  ".join(parts)) > room - 2:
        parts.pop()
    versions = fit("  ".join(parts), room - 2)
    return "+- %s %s %s -+" % (versions, "-" * (room - 1 - text_width(versions)), clock)


def _cell(cell, title, width, paint):
    if title == "Name":
        return left(fit(cell, width), width)
    return (cell if isinstance(cell, cells.Cell) else cells.Cell(cell)).padded(width, paint)


def _processes(cards, width):
    inner, with_memory = width - 4, width >= PROCESS_MEMORY_WIDTH
    found, failed = listed(cards)
    rows = ["GPU       PID Type %sProcess name" % ("GPU-Memory " * with_memory)]
    rows += ["%3d  processes: %s" % (card.index, reason) for card, reason in failed.items()]
    for process in found:
        number = "%d" % process.card.index + (".%d" % process.instance.index if process.instance else "")
        begin = "%3s %9d %-4s " % (number, process.pid, process.kind) + ("%10s " % process.used("%dMiB")) * with_memory
        rows.append(begin + tail(cells.short(process.name), inner - len(begin)))
    for remark in [] if failed else remarks(cards, found):
        rows += wrap(remark, inner)
    return ["| %s |" % left(fit(row, inner), inner) for row in rows]
