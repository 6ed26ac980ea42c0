"""dmon: a line for each card and second, with nvidia-smi's columns."""

from pymtml_cli.common.errors import OTHER, refuse
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import parse
from pymtml_cli.readings.devices import Unknown, nobody_tells, then
from pymtml_cli.readings.table import answer, mebibytes
from pymtml_cli.smi import scroll

LONGEST_DELAY, DEFAULT = 600, "puc"
GPM_HELP = "numbers of performance metrics, which these cards do not have: a dash each"
OPTIONS = dict(scroll.OPTIONS, **{"--format WORDS": scroll.FORMAT, "--gpm-metrics NUMBERS": GPM_HELP})
# Number of a GPM metric: its head in nvidia-smi
GPM = dict(zip(range(1, 8), ("gract", "smutil", "smocc", "intutil", "mmaact", "dfmat", "hmmat")))
GPM.update(zip(range(9, 14), ("immat", "dram", "fp64", "fp32", "fp16")))
GPM.update({20: "pcitx", 21: "pcirx", 50: "nvofa0", 60: "nvlrx", 61: "nvltx"})
for _unit in range(8):
    GPM.update({30 + _unit: "nvdec%d" % _unit, 40 + _unit: "nvjpg%d" % _unit})
for _link in range(18):
    GPM.update({62 + 2 * _link: "nvl%drx" % _link, 63 + 2 * _link: "nvl%dtx" % _link})
del _unit, _link


def _of(name, convert=None):
    """The answer of a reading, in the unit of the column."""

    def value(card):
        found = answer(card, name)
        return found if convert is None else then(found, convert)

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
        return scroll.help("dmon", OPTIONS, GROUPS, DEFAULT, LONGEST_DELAY)
    settings = scroll.Settings(options, GROUPS, DEFAULT, LONGEST_DELAY)
    columns = [column for letter in settings.letters for column in GROUPS[letter][1]]
    columns += gpm_columns(options.get("--gpm-metrics", ""))
    widths = [11 if unit.startswith("GPM") else 7 for _, unit, _ in columns]

    def form(mark, stamps, index, cells):
        if "csv" in settings.formats:
            return mark + ", ".join(stamps + [index] + cells)
        aligned = "".join("%*s" % (width, cell) for width, cell in zip(widths, cells))
        return settings.lead(mark, stamps, index) + aligned + " "

    def head():
        lines = []
        if "noheader" not in settings.formats:
            lines.append(form("#", settings.stamps("Date", "Time"), "gpu", [name for name, _, _ in columns]))
        if "nounit" not in settings.formats:
            units = [unit for _, unit, _ in columns]
            lines.append(form("#", settings.stamps("YYYYMMDD", "HH:MM:SS"), "Idx", units))
        return lines

    def lines(machine, cards):
        stamps = settings.stamps(machine.time.date, machine.time.clock)
        return [form(" ", stamps, str(card.index), [_cell(value(card)) for _, _, value in columns]) for card in cards]

    return scroll.scroll(settings, head, lines)


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
        columns.append((name, "GPM:MiB/s" if name.startswith(("pci", "nvl")) else "GPM:%", nobody_tells))
    return columns


def _cell(value):
    return "-" if isinstance(value, Unknown) else str(value)
