"""dmon: a line for each card and second, with nvidia-smi's columns."""

from pymtml_cli.common.options import parse
from pymtml_cli.readings.devices import Unknown, nobody_tells, then
from pymtml_cli.readings.table import answer, mebibytes
from pymtml_cli.smi import scroll

LONGEST_DELAY, DEFAULT = 600, "puc"
OPTIONS = dict(scroll.OPTIONS, **{"--format WORDS": scroll.FORMAT})


def _of(name, number=None):
    """The answer of a reading, in the unit of the column."""

    def value(card):
        found = answer(card, name)
        return found if number is None else then(found, number)

    return value


TITLES = {
    "p": "power and temperature",
    "u": "utilization",
    "c": "clocks of memory and GPU",
    "v": "time lost to power and heat",
    "m": "memory",
    "e": "ECC errors and PCIe replays",
    "t": "PCIe throughput",
}
# (letter, head, unit, value)
COLUMNS = (
    ("p", "pwr", "W", _of("power.draw", lambda milliwatts: milliwatts // 1000)),
    ("p", "gtemp", "C", _of("temperature.gpu")),
    ("p", "mtemp", "C", _of("temperature.memory")),
    ("u", "sm", "%", _of("utilization.gpu")),
    ("u", "mem", "%", _of("utilization.memory")),
    ("u", "enc", "%", _of("utilization.encoder")),
    ("u", "dec", "%", _of("utilization.decoder")),
    ("u", "jpg", "%", _of("utilization.jpeg")),
    ("u", "ofa", "%", _of("utilization.ofa")),
    ("c", "mclk", "MHz", _of("clocks.current.memory")),
    ("c", "pclk", "MHz", _of("clocks.current.graphics")),
    ("v", "pviol", "%", nobody_tells),
    ("v", "tviol", "bool", nobody_tells),
    ("m", "fb", "MB", _of("memory.used", mebibytes)),
    ("m", "bar1", "MB", nobody_tells),
    ("m", "ccpm", "MB", nobody_tells),
    ("e", "sbecc", "errs", _of("ecc.errors.corrected.volatile.total")),
    ("e", "dbecc", "errs", _of("ecc.errors.uncorrected.volatile.total")),
    ("e", "pci", "errs", _of("pcie.replays")),
    ("t", "rxpci", "MB/s", _of("pcie.rx", lambda kib: kib // 1024)),
    ("t", "txpci", "MB/s", _of("pcie.tx", lambda kib: kib // 1024)),
)
GROUPS = {letter: (title, [row[1:] for row in COLUMNS if row[0] == letter]) for letter, title in TITLES.items()}


def run(arguments):
    """Scroll (exit status)."""
    options = parse(arguments, OPTIONS)
    if "-h" in options:
        return scroll.help("dmon", GROUPS, DEFAULT, LONGEST_DELAY, "      --format WORDS    %s\n" % scroll.FORMAT)
    settings = scroll.Settings(options, GROUPS, DEFAULT, LONGEST_DELAY)
    columns = [column for letter in settings.letters for column in GROUPS[letter][1]]
    form = _csv if "csv" in settings.formats else _columns

    def head():
        lines = []
        if "noheader" not in settings.formats:
            lines.append(form(settings, "#", settings.stamps("Date", "Time"), "gpu", [name for name, _, _ in columns]))
        if "nounit" not in settings.formats:
            units = [unit for _, unit, _ in columns]
            lines.append(form(settings, "#", settings.stamps("YYYYMMDD", "HH:MM:SS"), "Idx", units))
        return lines

    def lines(machine, cards):
        stamps = settings.stamps(machine.time.date, machine.time.clock)
        return [
            form(settings, " ", stamps, str(card.index), [_cell(value(card)) for _, _, value in columns])
            for card in cards
        ]

    return scroll.scroll(settings, head, lines)


def _cell(value):
    return "-" if isinstance(value, Unknown) else str(value)


def _csv(settings, mark, stamps, index, cells):
    return mark + ", ".join(stamps + [index] + cells)


def _columns(settings, mark, stamps, index, cells):
    return settings.lead(mark, stamps, index) + "".join("%7s" % cell for cell in cells) + " "
