"""The csv language: --query-gpu and its kin, and the --help-query-* that list their properties."""

import sys

import pymtml
from pymtml_cli.common import layout
from pymtml_cli.common.errors import refuse, worded
from pymtml_cli.common.samples import Output, repeat
from pymtml_cli.common.text import safe
from pymtml_cli.readings.devices import Machine, Unknown, unreported
from pymtml_cli.readings.processes import processes, say_to_people
from pymtml_cli.readings.table import BY_NAME, address, mebibytes
from pymtml_cli.smi.lost import Opened


def _properties():
    """Of each query, (names, of which the first heads the column, unit, what makes of a Device the text, help)."""
    queries, known = {}, {}
    for query, rows in layout.records("smi/fields.txt").items():
        for row in rows:
            names = tuple(row["names"].split())
            if row["kind"] == "same":
                found = known[names[0]]
            elif row["kind"] == "reading":
                reading = BY_NAME[names[0]]
                found = (reading.unit, reading.cell, row["help"])
            else:
                found = (row["unit"], unreported, row["help"])
            queries.setdefault(query, []).append((names,) + found)
            known.update((name, found) for name in names if query == "gpu")
    return queries


# ---- The lines of a card: of each the values by the first name of their property, but for those of the card ----


def _processes(card):
    """A line for each process that computes; none if they are unknown."""
    known = processes(card)
    return [
        {
            "pid": process.pid,
            "process_name": process.name,
            "used_gpu_memory": unreported() if process.memory is None else mebibytes(process.memory),
        }
        for process in ([] if isinstance(known, Unknown) else known)
        if "C" in process.kind
    ]


_CAUSES = (
    (pymtml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS, "Single Bit ECC"),
    (pymtml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR, "Double Bit ECC"),
)


def _retired_pages(card):
    """A line for each retired page, and one for each cause whose pages are unknown."""
    rows = []
    for cause, text in _CAUSES:
        pages = card.ask(pymtml.nvmlDeviceGetRetiredPages_v2, cause)
        unknown = isinstance(pages, Unknown)
        found = [(pages, pages)] if unknown else [(address(page["address"]), page["timestamp"]) for page in pages]
        names = ("retired_pages.address", "retired_pages.timestamp", "retired_pages.cause")
        rows += [dict(zip(names, (place, when, text))) for place, when in found]
    return rows


def _supported_clocks(card):
    """A line for each pair of memory and graphics clock, or one for unknown clocks."""
    rows, memory_clocks = [], card.ask(pymtml.nvmlDeviceGetSupportedMemoryClocks)
    for memory in [memory_clocks] if isinstance(memory_clocks, Unknown) else memory_clocks:
        clocks = card.ask(pymtml.nvmlDeviceGetSupportedGraphicsClocks, memory)
        clocks = [clocks] if isinstance(clocks, Unknown) else clocks
        rows += [{"memory": memory, "graphics": graphics} for graphics in clocks]
    return rows


_LINES = {
    "gpu": lambda card: [{}],
    "compute-apps": _processes,
    "retired-pages": _retired_pages,
    "remapped-rows": lambda card: [{}],
    "supported-clocks": _supported_clocks,
    "accounted-apps": lambda card: [],  # the driver keeps no accounts of processes
}
# Query: (properties, lines of a card)
QUERIES = {kind: (properties, _LINES[kind]) for kind, properties in _properties().items()}
FIELDS = QUERIES["gpu"][0]

FORMATS = ("csv", "noheader", "nounits")


def answer(options):
    """Print the lines of a query, or its properties (exit status)."""
    with Output(options.get("filename")) as output:
        if options.question.startswith("help-query-"):
            output.write(help_text(options.question[len("help-query-") :]))
            return 0
        return _repeat(options, options.question[len("query-") :], output)


def _repeat(options, kind, output):
    formats = options.get("format", "csv")
    with Machine() as machine:
        query = Query(kind, options.get("query-" + kind), "" if formats is True else formats)
        opened, said = Opened(machine.chosen(options.get("id"))), []
        for first in repeat(machine, options.seconds, count=options.count):
            lines = (query.header() if first else []) + query.lines(opened.cards)
            output.write("".join(line + "\n" for line in lines))
            sys.stderr.write(opened.sentences)
            if kind == "compute-apps":
                say_to_people(opened.cards, said)
    return opened.status


class Query:
    """A checked query.

    Raises: CommandError in nvidia-smi's words for a property or a format that is not known.
    """

    def __init__(self, kind, names, formats):
        properties, self._lines = QUERIES[kind]
        by_name = {name: line for line in properties for name in line[0]}
        self._columns = []
        for name in filter(None, names.split(",")):
            if name not in by_name:
                from pymtml_cli.common import hints

                hint = hints.meant(name, by_name, "--help-query-%s lists the fields" % kind)
                raise refuse('Field "%s" is not a valid field to query.\n\n' % name, hint=hint)
            self._columns.append(by_name[name])
        chosen = list(filter(None, formats.split(",")))
        if not set(chosen) <= set(FORMATS):
            from pymtml_cli.common import hints

            raise hints.no_value(chosen, FORMATS, "--format", "Format modifier is not recognized.\n")
        self._units, self._header = "nounits" not in chosen, "noheader" not in chosen

    def header(self):
        """The head line as a list of one line, or of none."""
        if not self._header:
            return []
        return [", ".join(names[0] + (" [%s]" % unit if unit else "") for names, unit, _, _ in self._columns)]

    def lines(self, cards):
        """The lines of a sample."""
        return [
            ", ".join(
                self._cell(found[names[0]] if names[0] in found else value(card), unit)
                for names, unit, value, _ in self._columns
            )
            for card in cards
            for found in self._lines(card)
        ]

    def _cell(self, value, unit):
        if isinstance(value, Unknown):
            return "[%s]" % value
        text = safe(value)
        return text + " " + unit if unit and self._units else text


def help_text(kind):
    """What --help-query-* prints: exporters read it, looking for a quoted name in column 0 after a blank line."""
    lines = ['List of valid properties to query for the switch "--query-%s":' % kind, ""]
    for names, _, _, text in QUERIES[kind][0]:
        lines += [" or ".join('"%s"' % name for name in names), worded(text), ""]
    return "\n".join(lines) + "\n"
