"""dmon: a line for each card and second, with nvidia-smi's columns."""

import pymtml
from pymtml_cli import scroll, suboptions
from pymtml_cli.devices import Unknown, nobody_tells, then
from pymtml_cli.fields import mebibytes

LONGEST_DELAY, DEFAULT = 600, "puc"


def _asked(function, *arguments):
    return lambda card: card.ask(function, *arguments)


def _watts(card):
    return then(card.ask(pymtml.nvmlDeviceGetPowerUsage), lambda milliwatts: milliwatts // 1000)


def _memory_temperature(card):
    return card.field(pymtml.NVML_FI_DEV_MEMORY_TEMP)


def _rate(name):
    return lambda card: then(card.ask(pymtml.nvmlDeviceGetUtilizationRates), lambda rates: getattr(rates, name))


def _share(function):
    return lambda card: then(card.ask(function), lambda pair: pair[0])


def _memory(card):
    return then(card.ask(pymtml.nvmlDeviceGetMemoryInfo), lambda info: mebibytes(info.used))


def _errors(kind):
    return _asked(pymtml.nvmlDeviceGetTotalEccErrors, kind, pymtml.NVML_VOLATILE_ECC)


def _throughput(counter):
    return lambda card: then(card.ask(pymtml.nvmlDeviceGetPcieThroughput, counter), lambda kib: kib // 1024)


# Letter: (what help says, columns: head, unit, value)
GROUPS = {
    "p": (
        "power and temperature",
        (
            ("pwr", "W", _watts),
            ("gtemp", "C", _asked(pymtml.nvmlDeviceGetTemperature, pymtml.NVML_TEMPERATURE_GPU)),
            ("mtemp", "C", _memory_temperature),
        ),
    ),
    "u": (
        "utilization",
        (
            ("sm", "%", _rate("gpu")),
            ("mem", "%", _rate("memory")),
            ("enc", "%", _share(pymtml.nvmlDeviceGetEncoderUtilization)),
            ("dec", "%", _share(pymtml.nvmlDeviceGetDecoderUtilization)),
            ("jpg", "%", _share(pymtml.nvmlDeviceGetJpgUtilization)),
            ("ofa", "%", _share(pymtml.nvmlDeviceGetOfaUtilization)),
        ),
    ),
    "c": (
        "clocks of memory and GPU",
        (
            ("mclk", "MHz", _asked(pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_MEM)),
            ("pclk", "MHz", _asked(pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_GRAPHICS)),
        ),
    ),
    "v": ("time lost to power and heat", (("pviol", "%", nobody_tells), ("tviol", "bool", nobody_tells))),
    "m": ("memory", (("fb", "MB", _memory), ("bar1", "MB", nobody_tells), ("ccpm", "MB", nobody_tells))),
    "e": (
        "ECC errors and PCIe replays",
        (
            ("sbecc", "errs", _errors(pymtml.NVML_MEMORY_ERROR_TYPE_CORRECTED)),
            ("dbecc", "errs", _errors(pymtml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED)),
            ("pci", "errs", _asked(pymtml.nvmlDeviceGetPcieReplayCounter)),
        ),
    ),
    "t": (
        "PCIe throughput",
        (
            ("rxpci", "MB/s", _throughput(pymtml.NVML_PCIE_UTIL_RX_BYTES)),
            ("txpci", "MB/s", _throughput(pymtml.NVML_PCIE_UTIL_TX_BYTES)),
        ),
    ),
}


def run(arguments):
    """Scroll (exit status)."""
    options = suboptions.parse(arguments, scroll.OPTIONS + scroll.FORMAT_OPTION)
    if "-h" in options:
        groups = [(key, text) for key, (text, _) in GROUPS.items()]
        return scroll.usage("dmon", groups, DEFAULT, LONGEST_DELAY, scroll.FORMAT_HELP)
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
