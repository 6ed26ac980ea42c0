"""pmon: a line for each process and second, with nvidia-smi's columns."""

import os

from pymtml_cli.common.text import head as head_of
from pymtml_cli.common.text import left
from pymtml_cli.readings.devices import Unknown
from pymtml_cli.readings.documents import of_cards, process_objects
from pymtml_cli.readings.processes import processes, say_to_people, shares
from pymtml_cli.readings.table import mebibytes
from pymtml_cli.smi import scroll

LONGEST_DELAY, DEFAULT = 10, "u"
NAME_WIDTH = 15


# Letter: (its help, columns: head and unit). The driver's table has only a process's share of the whole GPU.
GROUPS = {
    "u": ("utilization", tuple((head, "%") for head in ("sm", "mem", "enc", "dec", "jpg", "ofa"))),
    "m": ("memory", (("fb", "MB"), ("ccpm", "MB"))),
}


def run(arguments):
    """Scroll (exit status)."""
    return scroll.run("pmon", arguments, GROUPS, DEFAULT, LONGEST_DELAY, _views, _documents())


def _documents():
    """What makes the document of each sample; the first looks again for shares."""
    views = iter([True])

    def content(machine, cards):
        busy = shares(cards, next(views, False))

        def of_card(card):
            shown = busy.get(card, {})
            return [("processes", process_objects(card, lambda process: [("gpu_percent", shown.get(process.pid))]))]

        return of_cards(cards, of_card)

    return content


def _views(settings, columns, options):
    said = []
    views = iter([True])  # the first view, which is the only one with -c 1, looks again for shares

    def head():
        rows = (
            (settings.stamps("Date", "Time"), "gpu", "pid", "type", [head for head, _ in columns], "command"),
            (settings.stamps("YYYYMMDD", "HH:MM:SS"), "Idx", "#", "C/G", [unit for _, unit in columns], "name"),
        )
        return [
            settings.lead("#", stamps, index) + "%12s%7s%s    %s " % (pid, kind, _joined(cells), name)
            for stamps, index, pid, kind, cells, name in rows
        ]

    def lines(machine, cards):
        stamps = settings.stamps(machine.time.date, machine.time.clock)
        found = []
        busy = shares(cards, next(views, False)) if ("sm", "%") in columns else {}
        for card in cards:
            known = processes(card)
            for process in (None if isinstance(known, Unknown) else known) or [None]:
                pid, kind, name, values = "-", "-", "-", {}
                if process is not None:
                    pid, kind, name = process.pid, process.kind, command(process)
                    memory = None if process.memory is None else mebibytes(process.memory)
                    values = {"sm": busy.get(card, {}).get(process.pid), "fb": memory}
                cells = _joined("-" if values.get(head) is None else values[head] for head, _ in columns)
                text = "%11s%6s%s    %s" % (pid, kind, cells, left(name, NAME_WIDTH))
                found.append(settings.lead(" ", stamps, str(card.index)) + text)
        say_to_people(cards, said)
        return found

    return head, lines


def command(process):
    """Name of the program without its folders."""
    name = process.name
    return "-" if isinstance(name, Unknown) else head_of(os.path.basename(name), NAME_WIDTH) or "-"


def _joined(cells):
    return "".join("%7s" % cell for cell in cells)
