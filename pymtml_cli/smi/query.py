"""The csv language: --query-gpu and its kin, and the --help-query-* that list their properties."""

import pymtml
from pymtml_cli.common.errors import refuse, worded
from pymtml_cli.common.samples import Output, repeat
from pymtml_cli.common.text import safe
from pymtml_cli.readings.devices import Machine, Unknown, nobody_tells
from pymtml_cli.readings.processes import processes, say_to_people
from pymtml_cli.readings.table import address, mebibytes
from pymtml_cli.smi.fields import FIELDS
from pymtml_cli.smi.lost import Opened


class Row:
    """A line of a query: the card and what else the line is about."""

    def __init__(self, card, subject=None):
        self.card, self.subject = card, subject


def of_card(value):
    """A value of the row's card."""
    return lambda row: value(row.card)


def _cards(card):
    """One line for the card."""
    return [Row(card)]


def _processes(card):
    """A line for each process that computes; none where nothing tells them."""
    known = processes(card)
    return [] if isinstance(known, Unknown) else [Row(card, process) for process in known if "C" in process.kind]


_CAUSES = (
    (pymtml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS, "Single Bit ECC"),
    (pymtml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR, "Double Bit ECC"),
)


def _retired_pages(card):
    """A line for each retired page, and one for each cause whose pages nothing tells."""
    rows = []
    for cause, text in _CAUSES:
        pages = card.ask(pymtml.nvmlDeviceGetRetiredPages_v2, cause)
        if isinstance(pages, Unknown):
            rows.append(Row(card, (pages, pages, text)))
        else:
            rows.extend(Row(card, (address(page["address"]), str(page["timestamp"]), text)) for page in pages)
    return rows


def _supported_clocks(card):
    """A line for each pair of memory and graphics clock, or one that nothing tells them."""
    memory_clocks = card.ask(pymtml.nvmlDeviceGetSupportedMemoryClocks)
    if isinstance(memory_clocks, Unknown):
        return [Row(card, (memory_clocks, memory_clocks))]
    rows = []
    for memory in memory_clocks:
        graphics_clocks = card.ask(pymtml.nvmlDeviceGetSupportedGraphicsClocks, memory)
        if isinstance(graphics_clocks, Unknown):
            graphics_clocks = [graphics_clocks]
        rows.extend(Row(card, (str(memory), str(graphics))) for graphics in graphics_clocks)
    return rows


def _no_rows(_):
    """The driver keeps no accounts of processes."""
    return []


def _subject(index):
    return lambda row: row.subject[index]


def _process_memory(row):
    memory = row.subject.memory
    return nobody_tells() if memory is None else str(mebibytes(memory))


def _unknown(_):
    return nobody_tells()


def _named(name, *canonical):
    """A property of --query-gpu under the names that another query has for it."""
    unit, value, text = next(row[1:] for row in FIELDS if name in row[0])
    return (canonical or (name,)), unit, of_card(value), text


_IDENTITY = [_named("timestamp")] + [_named(name) for name in ("gpu_name", "gpu_bus_id", "gpu_serial", "gpu_uuid")]

# Query: (properties, lines of a card)
QUERIES = {
    "gpu": ([(names, unit, of_card(value), text) for names, unit, value, text in FIELDS], _cards),
    "compute-apps": (
        _IDENTITY
        + [
            (("pid",), "", lambda row: str(row.subject.pid), "Process id."),
            (("process_name", "name"), "", lambda row: row.subject.name, "Program of the process."),
            (
                ("used_gpu_memory", "used_memory"),
                "MiB",
                _process_memory,
                "Device memory of the process; MTML does not report it.",
            ),
        ],
        _processes,
    ),
    "retired-pages": (
        _IDENTITY
        + [
            (("retired_pages.address",), "", _subject(0), "Address of the page."),
            (("retired_pages.timestamp",), "", _subject(1), "When the page was retired, as MTML reports it."),
            (("retired_pages.cause",), "", _subject(2), "Why: Single Bit ECC or Double Bit ECC."),
        ],
        _retired_pages,
    ),
    "remapped-rows": (
        _IDENTITY
        + [
            (names, unit, of_card(value), text)
            for names, unit, value, text in FIELDS
            if names[0].startswith("remapped_rows.")
        ],
        _cards,
    ),
    "supported-clocks": (
        _IDENTITY
        + [
            (("memory", "mem"), "MHz", _subject(0), "Clock of the device memory."),
            (("graphics", "gr"), "MHz", _subject(1), "Clock of the GPU that goes with it."),
        ],
        _supported_clocks,
    ),
    "accounted-apps": (
        _IDENTITY
        + [
            (("vgpu_instance",), "", _unknown, "Virtual device of the process."),
            (("pid",), "", _unknown, "Process id."),
            (("gpu_utilization", "gpu_util"), "%", _unknown, "Utilization of the GPU by the process."),
            (("mem_utilization", "mem_util"), "%", _unknown, "Utilization of the device memory by the process."),
            (("max_memory_usage",), "MiB", _unknown, "Greatest device memory of the process."),
            (("time",), "ms", _unknown, "Time in which the process computed."),
        ],
        _no_rows,
    ),
}

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

        def sample(first):
            lines = (query.header() if first else []) + query.lines(opened.cards)
            output.write("".join(line + "\n" for line in lines))
            opened.say_aside()
            if kind == "compute-apps":
                say_to_people(opened.cards, said)

        repeat(machine, options.seconds, sample)
    return opened.status


class Query:
    """A checked query.

    Raises: CommandError in nvidia-smi's words for a property or a format that is not known.
    """

    def __init__(self, kind, names, formats):
        properties, self._rows = QUERIES[kind]
        by_name = {name: line for line in properties for name in line[0]}
        self._columns = []
        for name in filter(None, names.split(",")):
            if name not in by_name:
                from pymtml_cli.common import hints

                raise refuse(
                    'Field "%s" is not a valid field to query.\n\n' % name, hint=hints.field(name, by_name, kind)
                )
            self._columns.append(by_name[name])
        chosen = list(filter(None, formats.split(",")))
        if not set(chosen) <= set(FORMATS):
            raise refuse("Format modifier is not recognized.\n")
        self._units, self._header = "nounits" not in chosen, "noheader" not in chosen

    def header(self):
        """The head line as a list of one line, or of none."""
        if not self._header:
            return []
        return [", ".join(names[0] + (" [%s]" % unit if unit else "") for names, unit, _, _ in self._columns)]

    def lines(self, cards):
        """The lines of a sample."""
        return [
            ", ".join(self._cell(value(row), unit) for _, unit, value, _ in self._columns)
            for card in cards
            for row in self._rows(card)
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
