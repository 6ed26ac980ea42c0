"""ps: who uses which card. What is not the card's is read from /proc."""

import sys
import time

from pymtml_cli.arguments import argument_parser
from pymtml_cli.common.options import CARDS, JSON
from pymtml_cli.common.samples import repeat
from pymtml_cli.common.text import fit, width
from pymtml_cli.readings import users
from pymtml_cli.readings.devices import Machine, Unknown, status
from pymtml_cli.readings.documents import of_cards, process_objects, show
from pymtml_cli.readings.processes import listed, remarks, shares
from pymtml_cli.readings.table import mebibytes

HEADS = ("GPU", "PID", "USER", "GPU-MEM", "GPU%", "HOST-MEM", "CPU%", "SINCE", "OWNER", "COMMAND")
TO_THE_LEFT = ("USER", "OWNER", "COMMAND")


def parser():
    parser = argument_parser("ps")
    parser.add_argument("-i", "--id", metavar="CARDS", help=CARDS)
    parser.add_loop()
    parser.add_argument("--json", action="store_true", help=JSON)
    return parser


def run(arguments):
    """Print the processes of each card, those that use the most of its memory first (exit status)."""
    options = parser().parse_args(arguments)
    looks = iter([True])  # the first one looks again for shares
    if options.json:
        return show(options.id, lambda _, cards: _content(cards, next(looks, False)), None, options.loop, options.c)
    with Machine() as machine:
        cards = machine.chosen(options.id)
        for first in repeat(machine, options.loop, count=options.c):
            sys.stdout.write("" if first else "\n")
            sys.stdout.write("".join(line + "\n" for line in _lines(cards, next(looks, False))))
            sys.stdout.flush()
        return status(cards)


def _content(cards, again):
    """What the document has of each card."""
    busy = shares(cards, again)

    def further(process):
        known = users.of(process)
        if known["started"] is not None:
            known["started"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(known["started"]))
        return [("gpu_percent", busy[process.card].get(process.pid)), *known.items()]

    return of_cards(cards, lambda card: [("processes", process_objects(card, further))])


def _lines(cards, again):
    busy = shares(cards, again)
    found, failed = listed(cards)
    found.sort(key=lambda process: (process.card.index, -(process.memory or 0), process.pid))
    rows = [_row(process, busy[process.card].get(process.pid)) for process in found]
    shown = [place for place, head in enumerate(HEADS) if head != "OWNER" or any(row[place] != "-" for row in rows)]
    table = [[row[place] for place in shown] for row in [HEADS] + rows]
    wide = [max(width(row[place]) for row in table) for place in range(len(shown) - 1)] + [0]
    room = sys.maxsize
    if sys.stdout.isatty():
        import shutil

        room = shutil.get_terminal_size().columns
    for row in table if rows else []:
        cells = zip([HEADS[place] for place in shown], row, wide)
        line = "  ".join(
            cell + _blanks(cell, most) if head in TO_THE_LEFT else _blanks(cell, most) + cell
            for head, cell, most in cells
        )
        yield fit(line, room)
    yield from ("GPU %d: processes: %s" % (card.index, reason) for card, reason in failed.items())
    yield from remarks(cards, found) if not failed else ()


def _blanks(text, columns):
    return " " * (columns - width(text))


def _row(process, share):
    """The cells of a process, a dash for what is not known."""
    known = users.of(process)
    owner = next((kind + " " + known[kind] for kind in ("pod", "job", "container") if known[kind]), None)
    number, name = known["host_memory_bytes"], process.name
    return [
        "%d" % process.card.index + ("" if process.instance is None else ".%d" % process.instance.index),
        "%d" % process.pid,
        known["user"] or "-",
        "-" if process.memory is None else "%dMiB" % mebibytes(process.memory),
        "-" if share is None else "%d" % share,
        "-" if number is None else "%dMiB" % mebibytes(number),
        "-" if known["cpu_percent"] is None else "%.0f" % known["cpu_percent"],
        "-" if known["started"] is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(known["started"])),
        owner or "-",
        known["command"] or ("-" if isinstance(name, Unknown) else name),
    ]
