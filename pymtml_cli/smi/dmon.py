"""dmon: a line for each card and second, with nvidia-smi's columns."""

from pymtml_cli.common.errors import NOT_AVAILABLE, refuse
from pymtml_cli.readings.devices import Unknown, then, unreported
from pymtml_cli.readings.table import mebibytes, value_of
from pymtml_cli.smi import scroll

LONGEST_DELAY, DEFAULT = 600, "puc"
TITLES = {
    "p": "power and temperature",
    "u": "utilization",
    "c": "clocks of memory and GPU",
    "v": "time lost to power and heat",
    "m": "memory",
    "e": "ECC errors and PCIe replays",
    "t": "PCIe throughput",
}
# (letter, head, unit, of what these cards have a reading for: its name, what makes of that the number in the unit)
COLUMNS = (
    ("p", "pwr", "W", "power.draw", lambda milliwatts: milliwatts // 1000),
    ("p", "gtemp", "C", "temperature.gpu"),
    ("p", "mtemp", "C", "temperature.memory"),
    ("u", "sm", "%", "utilization.gpu"),
    ("u", "mem", "%", "utilization.memory"),
    ("u", "enc", "%", "utilization.encoder"),
    ("u", "dec", "%", "utilization.decoder"),
    ("u", "jpg", "%", "utilization.jpeg"),
    ("u", "ofa", "%", "utilization.ofa"),
    ("c", "mclk", "MHz", "clocks.current.memory"),
    ("c", "pclk", "MHz", "clocks.current.graphics"),
    ("v", "pviol", "%"),
    ("v", "tviol", "bool"),
    ("m", "fb", "MB", "memory.used", mebibytes),
    ("m", "bar1", "MB"),
    ("m", "ccpm", "MB"),
    ("e", "sbecc", "errs", "ecc.errors.corrected.volatile.total"),
    ("e", "dbecc", "errs", "ecc.errors.uncorrected.volatile.total"),
    ("e", "pci", "errs", "pcie.replays"),
    ("t", "rxpci", "MB/s", "pcie.rx", lambda kib: kib // 1024),
    ("t", "txpci", "MB/s", "pcie.tx", lambda kib: kib // 1024),
)
GROUPS = {letter: (title, [row[1:] for row in COLUMNS if row[0] == letter]) for letter, title in TITLES.items()}


def run(arguments):
    """Scroll (exit status)."""
    return scroll.run("dmon", arguments, GROUPS, DEFAULT, LONGEST_DELAY, _views)


def _views(settings, columns, options):
    if "--gpm-metrics" in options or "--gpm-options" in options:
        raise refuse("GPM metrics are not supported on this device.\n", NOT_AVAILABLE)

    def form(mark, stamps, index, cells):
        if "csv" in settings.formats:
            return mark + ", ".join(stamps + [index] + cells)
        aligned = "".join("%7s" % cell for cell in cells)
        return settings.lead(mark, stamps, index) + aligned + " "

    def head():
        lines = []
        if "noheader" not in settings.formats:
            lines.append(form("#", settings.stamps("Date", "Time"), "gpu", [column[0] for column in columns]))
        if "nounit" not in settings.formats:
            lines.append(form("#", settings.stamps("YYYYMMDD", "HH:MM:SS"), "Idx", [column[1] for column in columns]))
        return lines

    def lines(machine, cards):
        stamps = settings.stamps(machine.time.date, machine.time.clock)
        return [form(" ", stamps, str(card.index), [_cell(card, *row[2:]) for row in columns]) for card in cards]

    return head, lines


def _cell(card, name=None, convert=str):
    value = unreported() if name is None else then(value_of(card, name), convert)
    return "-" if isinstance(value, Unknown) else str(value)
