"""The series of `pymtml metrics`: names, types, units and labels as a table, and what is asked for each of them.

A series without an answer is absent: none is NaN, and none repeats an old value. docs/metrics.md has them all.
"""

import pymtml
from pymtml_cli import checks
from pymtml_cli.devices import Unknown, ask, then
from pymtml_cli.text import safe

GAUGE, COUNTER = "gauge", "counter"
OF_MACHINE, OF_CARD = "mthreads_", "mthreads_gpu_"
PLACE = ("gpu", "uuid", "instance_id")  # labels of all that is a card's; those without a text are left out

# Series of the machine: (type, labels, help)
MACHINE_SERIES = {
    "driver_up": (GAUGE, (), "1 if the driver answered all questions of the last collection in time, else 0."),
    "gpus": (GAUGE, (), "Number of whole cards that the driver counts."),
    "gpus_expected": (GAUGE, (), "Number of cards that there must be, as the option --expect says."),
    "collect_timestamp_seconds": (GAUGE, (), "When the last collection ended, in seconds since 1970."),
    "collect_duration_seconds": (GAUGE, (), "Time that the last collection took."),
    "health_status": (
        GAUGE,
        ("check",),
        "Worst finding of a check of pymtml health: 0 as it should be, 1 warning, 2 critical.",
    ),
}

# Series of a card: (type, labels beside those of PLACE, help)
CARD_SERIES = {
    "info": (GAUGE, ("pci_bus_id", "name", "serial", "vbios", "driver"), "What the card is; the value is 1."),
    "up": (GAUGE, (), "1 if the card answered in the last collection, else 0."),
    "query_errors_total": (COUNTER, ("query", "code"), "Questions that the card or its driver failed to answer."),
    "utilization_ratio": (GAUGE, ("engine",), "Utilization of an engine, from 0 to 1."),
    "memory_used_bytes": (GAUGE, (), "Memory of the card in use."),
    "memory_total_bytes": (GAUGE, (), "Memory that the card has."),
    "temperature_celsius": (GAUGE, ("sensor",), "Temperature."),
    "temperature_limit_celsius": (GAUGE, ("limit",), "Temperature at which the card slows down, or shuts down."),
    "power_watts": (GAUGE, (), "Power that the card draws."),
    "power_limit_watts": (GAUGE, (), "Power limit in force."),
    "clock_hertz": (GAUGE, ("clock",), "Clock at present; the memory's as MTML counts it, an eighth of the data rate."),
    "clock_max_hertz": (GAUGE, ("clock",), "Greatest clock."),
    "fan_ratio": (GAUGE, ("fan",), "Speed that a fan is set to; 1 is the speed it is made for, and it may be passed."),
    "ecc_errors_total": (
        COUNTER,
        ("kind", "scope"),
        "Memory errors: volatile since the driver was loaded, aggregate in the life of the card.",
    ),
    "ecc_enabled": (GAUGE, (), "1 if memory errors are corrected and counted (ECC), else 0."),
    "retired_pages": (GAUGE, ("cause",), "Memory pages that are no longer used."),
    "retired_pages_pending": (GAUGE, (), "1 if memory pages wait for a reboot to be retired, else 0."),
    "pcie_width": (GAUGE, (), "PCIe lanes in use."),
    "pcie_width_max": (GAUGE, (), "PCIe lanes that the card has."),
    "pcie_generation": (GAUGE, (), "PCIe generation that the link runs at; it drops when the card is idle."),
    "pcie_generation_max": (GAUGE, (), "Greatest PCIe generation of the card."),
    "pcie_replays_total": (COUNTER, (), "PCIe packets that were sent again."),
    "mtlinks": (GAUGE, ("state",), "MtLinks of the card in a state."),
    "processes": (GAUGE, (), "Processes that use the card, counted at most every 30 seconds."),
    "process_info": (GAUGE, ("pid", "kind", "name"), "A process that uses the card; the value is 1."),
}

MEGA = 1000000
MOST_FANS = 8
MOST_PROCESSES = 64  # whose names are told, of a card

ENGINES = (
    ("encoder", pymtml.nvmlDeviceGetEncoderUtilization),
    ("decoder", pymtml.nvmlDeviceGetDecoderUtilization),
)
THRESHOLDS = (
    ("slowdown", pymtml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN),
    ("shutdown", pymtml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN),
)
CLOCKS = (
    ("graphics", pymtml.NVML_CLOCK_GRAPHICS),
    ("memory", pymtml.NVML_CLOCK_MEM),
    ("video", pymtml.NVML_CLOCK_VIDEO),
)
ERROR_KINDS = (
    ("corrected", pymtml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
    ("uncorrected", pymtml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
)
SCOPES = (("volatile", pymtml.NVML_VOLATILE_ECC), ("aggregate", pymtml.NVML_AGGREGATE_ECC))
CAUSES = (
    ("single_bit", pymtml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS),
    ("double_bit", pymtml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR),
)
LINK_STATES = {
    pymtml.MTML_MTLINK_STATE_UP: "up",
    pymtml.MTML_MTLINK_STATE_DOWN: "down",
    pymtml.MTML_MTLINK_STATE_DOWNGRADE: "downgraded",
}
OTHER_LINK_STATE = "other"


# ---- Questions: (series, its own labels, answer) of a card or a part of it (iterators) ----


def utilization(device):
    """How busy the engines are."""
    rates = device.ask(pymtml.nvmlDeviceGetUtilizationRates)
    yield "utilization_ratio", ("gpu",), then(rates, lambda answer: answer.gpu / 100)
    yield "utilization_ratio", ("memory",), then(rates, lambda answer: answer.memory / 100)
    for engine, function in ENGINES:
        yield "utilization_ratio", (engine,), then(device.ask(function), lambda answer: answer[0] / 100)


def memory(device):
    """Memory in use, and all of it."""
    info = device.ask(pymtml.nvmlDeviceGetMemoryInfo)
    yield "memory_used_bytes", (), then(info, lambda answer: answer.used)
    yield "memory_total_bytes", (), then(info, lambda answer: answer.total)


def temperature(card):
    """Temperatures and their limits."""
    gpu = card.ask(pymtml.nvmlDeviceGetTemperature, pymtml.NVML_TEMPERATURE_GPU)
    yield "temperature_celsius", ("gpu",), gpu
    yield "temperature_celsius", ("memory",), card.field(pymtml.NVML_FI_DEV_MEMORY_TEMP)
    for limit, threshold in THRESHOLDS:
        degrees = card.ask(pymtml.nvmlDeviceGetTemperatureThreshold, threshold)
        if isinstance(degrees, Unknown) or degrees > 0:  # drivers say 0 for what they do not know
            yield "temperature_limit_celsius", (limit,), degrees


def power(card):
    """Power and its limit."""
    yield "power_watts", (), then(card.ask(pymtml.nvmlDeviceGetPowerUsage), lambda number: number / 1000)
    yield "power_limit_watts", (), then(card.ask(pymtml.nvmlDeviceGetEnforcedPowerLimit), lambda number: number / 1000)


def clocks(card):
    """Clocks, and the greatest that there may be."""
    for clock, code in CLOCKS:
        yield "clock_hertz", (clock,), then(card.ask(pymtml.nvmlDeviceGetClockInfo, code), lambda number: number * MEGA)
        most = card.ask(pymtml.nvmlDeviceGetMaxClockInfo, code)
        yield "clock_max_hertz", (clock,), then(most, lambda number: number * MEGA)


def fans(card):
    """Fans."""
    count = card.ask(pymtml.nvmlDeviceGetNumFans)
    if isinstance(count, Unknown):
        yield "fan_ratio", (), count
        return
    for fan in range(min(count, MOST_FANS)):
        speed = card.ask(pymtml.nvmlDeviceGetFanSpeed_v2, fan)
        yield "fan_ratio", (str(fan),), then(speed, lambda number: number / 100)


def ecc(card):
    """Memory errors."""
    yield "ecc_enabled", (), then(card.ask(pymtml.nvmlDeviceGetEccMode), lambda modes: int(bool(modes[0])))
    for kind_name, kind in ERROR_KINDS:
        for scope_name, scope in SCOPES:
            yield "ecc_errors_total", (kind_name, scope_name), card.ask(pymtml.nvmlDeviceGetTotalEccErrors, kind, scope)


def pages(card):
    """Retired memory pages."""
    for cause_name, cause in CAUSES:
        yield "retired_pages", (cause_name,), then(card.ask(pymtml.nvmlDeviceGetRetiredPages, cause), len)
    pending = card.ask(pymtml.nvmlDeviceGetRetiredPagesPendingStatus)
    yield "retired_pages_pending", (), then(pending, lambda value: int(bool(value)))


def pcie(card):
    """The PCIe link."""
    yield "pcie_width", (), card.ask(pymtml.nvmlDeviceGetCurrPcieLinkWidth)
    yield "pcie_width_max", (), card.ask(pymtml.nvmlDeviceGetMaxPcieLinkWidth)
    yield "pcie_generation", (), card.ask(pymtml.nvmlDeviceGetCurrPcieLinkGeneration)
    yield "pcie_generation_max", (), card.ask(pymtml.nvmlDeviceGetMaxPcieLinkGeneration)
    yield "pcie_replays_total", (), card.ask(pymtml.nvmlDeviceGetPcieReplayCounter)


def links(card):
    """MtLinks by state: all states of a card that has links, so that none hides behind an absent series."""
    spec = card.ask(pymtml.mtmlDeviceGetMtLinkSpec)
    if isinstance(spec, Unknown):
        yield "mtlinks", (), spec
        return
    counts = {}
    for link in range(spec.linkNum):
        state = card.ask(pymtml.mtmlDeviceGetMtLinkState, link)
        if isinstance(state, Unknown):
            yield "mtlinks", (), state
        else:
            name = LINK_STATES.get(state, OTHER_LINK_STATE)
            counts[name] = counts.get(name, 0) + 1
    if counts:
        for name in LINK_STATES.values():
            yield "mtlinks", (name,), counts.get(name, 0)
        if OTHER_LINK_STATE in counts:
            yield "mtlinks", (OTHER_LINK_STATE,), counts[OTHER_LINK_STATE]


# What `query` of query_errors_total calls it: the questions
QUESTIONS = (
    ("memory", memory),
    ("utilization", utilization),
    ("temperature", temperature),
    ("power", power),
    ("clock", clocks),
    ("fan", fans),
    ("ecc", ecc),
    ("retired_pages", pages),
    ("pcie", pcie),
    ("mtlink", links),
)
ENOUGH = 3  # so many of them without any answer say that a card is lost
QUESTIONS_OF_PARTS = QUESTIONS[:2]  # the rest of an instance or a virtual device is its card's


def code_name(error):
    """What `code` of query_errors_total calls an error (str): the name of its class, or its number."""
    name = type(error).__name__.partition("_")[2]
    return name or str(error.value)


class Reading:
    """What a card or a part of it answered: ``values`` {(series, its own labels): number}, ``errors`` {(query, code)}.

    ``answered`` is whether any question got an answer, that something is not supported too.
    """

    def __init__(self):
        self.values, self.errors, self.answered = {}, [], False

    def take(self, query, series, labels, answer):
        """Note an answer, or that there is none."""
        if not isinstance(answer, Unknown):
            self.values[series, labels] = answer
            self.answered = True
        elif checks.is_not_told(answer):
            self.answered = True
        else:
            error = (query, code_name(answer.error))
            if error not in self.errors:
                self.errors.append(error)

    def ask(self, device, questions=QUESTIONS):
        """Ask a device all questions; one that answers none of the first is not asked the others (this Reading)."""
        for number, (query, question) in enumerate(questions, 1):
            for series, labels, answer in question(device):
                self.take(query, series, labels, answer)
            if number == ENOUGH and not self.answered:
                break
        return self


def text_or_empty(answer):
    """A text, or an empty one in the place of an Unknown."""
    return "" if isinstance(answer, Unknown) else answer


def identity(device, driver):
    """[uuid, labels of info] of a card or an instance; what it does not tell is an empty text."""
    pci = device.ask(pymtml.nvmlDeviceGetPciInfo)
    labels = [text_or_empty(then(pci, lambda info: safe(info.busId)))]
    for function in (pymtml.nvmlDeviceGetName, pymtml.nvmlDeviceGetSerial, pymtml.nvmlDeviceGetVbiosVersion):
        labels.append(text_or_empty(device.ask(function)))
    return [text_or_empty(device.ask(pymtml.nvmlDeviceGetUUID)), labels + [driver]]


class VirtualDevice:
    """A virtual device below its card, to be asked as a Device is."""

    def __init__(self, card, uuid):
        self.handle = ask(pymtml.mtmlDeviceInitVirtDevice, card.handle, uuid)

    def ask(self, function, *arguments):
        """What a pymtml function answers on this device, or an Unknown."""
        return then(self.handle, lambda handle: ask(function, handle, *arguments))
