"""dmon: a line for each card and second, with nvidia-smi's columns."""

from pymtml_cli.common.errors import OTHER, refuse
from pymtml_cli.common.numeric import number
from pymtml_cli.readings.devices import Unknown, then, unreported
from pymtml_cli.readings.table import mebibytes, value_of
from pymtml_cli.smi import scroll

LONGEST_DELAY, DEFAULT = 600, "puc"
GPM_HELP = "numbers of performance metrics, which these cards do not have: a dash each"
OPTIONS = dict(
    scroll.OPTIONS,
    **{"--format WORDS": scroll.FORMAT, "--gpm-metrics NUMBERS": GPM_HELP, "--gpm-options d|m|dm|md": None},
)
# Number of a GPM metric: its head in nvidia-smi
GPM = dict(zip(range(1, 8), ("gract", "smutil", "smocc", "intutil", "mmaact", "dfmat", "hmmat")))
GPM.update(zip(range(9, 14), ("immat", "dram", "fp64", "fp32", "fp16")))
GPM.update({20: "pcitx", 21: "pcirx", 50: "nvofa0", 60: "nvlrx", 61: "nvltx"})
for _unit in range(8):
    GPM.update({30 + _unit: "nvdec%d" % _unit, 40 + _unit: "nvjpg%d" % _unit})
for _link in range(18):
    GPM.update({62 + 2 * _link: "nvl%drx" % _link, 63 + 2 * _link: "nvl%dtx" % _link})
del _unit, _link


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
    return scroll.run("dmon", arguments, OPTIONS, GROUPS, DEFAULT, LONGEST_DELAY, _views)


def _views(settings, columns, options):
    columns = columns + gpm_columns(options.get("--gpm-metrics", ""))
    widths = [11 if unit.startswith("GPM") else 7 for _, unit, *_ in columns]

    def form(mark, stamps, index, cells):
        if "csv" in settings.formats:
            return mark + ", ".join(stamps + [index] + cells)
        aligned = "".join("%*s" % (width, cell) for width, cell in zip(widths, cells))
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


def gpm_columns(text):
    """The columns of GPM metrics, by their numbers.

    Raises: CommandError in nvidia-smi's words.
    """
    wrong = next((character for character in text if character not in "0123456789,"), None)
    if wrong is not None:
        reason = "Found offending character: %s\nCould not parse GPM metrics\n" % wrong
        raise refuse(reason + scroll.FAILED, OTHER)
    columns = []
    for part in filter(None, text.split(",")):
        name = GPM.get(number(part, 0, max(GPM)), "id=" + part)
        columns.append((name, "GPM:MiB/s" if name.startswith(("pci", "nvl")) else "GPM:%"))
    return columns


def _cell(card, name=None, convert=str):
    value = unreported() if name is None else then(value_of(card, name), convert)
    return "-" if isinstance(value, Unknown) else str(value)
