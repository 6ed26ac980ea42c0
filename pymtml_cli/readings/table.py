"""The readings: each query of a card once, with the form that it has in every output.

A row of READINGS holds all about a reading; --query-gpu and its help, -q and -x, --json, dmon, the table,
`compare`, `metrics` and the documents are views of these rows. What nvidia-smi has in its forms, and in which order, is
in fields.txt and sections.txt of `smi`. Rows that use one result of C share one call: a Device keeps its answers.
"""

import pymtml
from pymtml_cli.readings import plausible, topology
from pymtml_cli.readings.devices import Implausible, Unknown, prefixed, shown_driver, then, unreported, uuid_of

MIB = 1024 * 1024
MEGA = 1000000

# How `compare` compares a value: by itself; whether it is 0; whether it is known; not at all
VALUE, ZERO, KNOWN, APART = "value", "zero", "known", "apart"


class Reading:
    """A reading: its name, and its query, a function of a Device that returns an answer or an Unknown.

    ``plausible`` is a condition; an answer that does not meet it becomes an Implausible. ``text`` turns an answer into
    what --query-gpu prints, with ``unit`` behind it. ``form`` is how -q and -x write the text (default: with the unit).
    ``json`` is its path in --json, ``value`` turns an answer into what stands there, ``note`` is the remark beside it
    in docs/command.md; ``compare`` is how hosts are compared by it, ``trouble`` whether a value other than 0 is a
    problem even if all hosts share it. ``series`` is (name in SERIES, label ...) in `metrics`.
    """

    def __init__(
        self,
        name,
        question,
        unit="",
        *,
        plausible=None,
        text=str,
        form=None,
        json=None,
        value=None,
        note="",
        compare=KNOWN,
        trouble=False,
        series=None,
    ):
        self.name, self._ask, self.unit, self.plausible, self.text = name, question, unit, plausible, text
        self.form = form or ("%s " + unit.replace("%", "%%") if unit else "%s")
        self.json, self.value, self.note = json, value, note
        self.compare, self.trouble, self.series = compare, trouble, series

    def question(self, device):
        """The answer, or an Unknown."""
        answer = self._ask(device)
        if self.plausible is None or isinstance(answer, Unknown) or self.plausible(device, answer):
            return answer
        text = self.form % self.text(answer)
        return Implausible(text + plausible.DEAD if plausible.reads_zeros(device) else text)

    def cell(self, device):
        """What --query-gpu prints without its unit, or an Unknown."""
        return then(self.question(device), self.text)

    def line(self, device):
        """What -q and -x print."""
        return str(then(self.cell(device), lambda text: self.form % text))

    def json_value(self, device):
        """What --json has, or an Unknown."""
        answer = self.question(device)
        return answer if self.value is None else then(answer, self.value)


# ---- Questions ----


def asked(function, *arguments):
    """What a function answers, as it stands."""
    return lambda device: device.ask(function, *arguments)


def part(attribute, function, *arguments):
    """An attribute of what a function answers."""
    return lambda device: then(device.ask(function, *arguments), lambda answer: getattr(answer, attribute))


def item(index, function, *arguments):
    """An item of what a function answers."""
    return lambda device: then(device.ask(function, *arguments), lambda answer: answer[index])


def field(field_id):
    """A field of NVML's that is a number."""
    return lambda device: device.field(field_id)


def extended_pci_info(handle):
    """PCI info with class codes (nvmlPciInfoExt_v1_t).

    Raises: NVMLError.
    """
    info = pymtml.nvmlPciInfoExt_v1_t(version=pymtml.nvmlPciInfoExt_v1)
    pymtml.nvmlDeviceGetPciInfoExt(handle, pymtml.byref(info))
    return info


def temperature(device, degrees):
    """Whether a card can be so warm. A dead card also returns -1: of its numbers, this is the only signed one."""
    return plausible.degrees(device, degrees) and not (degrees == -1 and mostly_implausible(device))


def margin(device, degrees):
    """Whether a margin can be, which is the difference of two temperatures."""
    both = [value_of(device, name) for name in ("temperature.gpu", "temperature.slowdown")]
    return not any(isinstance(one, Implausible) for one in both)


def driver_version(device):
    """Version of the driver as it is printed."""
    return shown_driver(device.machine.driver_version)


def compute_capability(device):
    """MUSA compute capability; (0, 0) stands for an unknown one."""
    version = device.ask(pymtml.nvmlDeviceGetCudaComputeCapability)
    return then(version, lambda pair: "%d.%d" % tuple(pair) if any(pair) else unreported())


# ---- What answers are as text, and in --json ----


def mebibytes(number):
    """Bytes in MiB, rounded up as nvidia-smi does."""
    return -(-number // MIB)


def watts(milliwatts):
    """Milliwatts as nvidia-smi writes watts."""
    return "%.2f" % (milliwatts / 1000.0)


def enabled(value):
    """A feature's state in words."""
    return "Enabled" if value else "Disabled"


def yes_no(value):
    """An answer in words."""
    return "Yes" if value else "No"


def state(number):
    """A performance state, such as P0."""
    return "P%d" % number if number != pymtml.NVML_PSTATE_UNKNOWN else unreported()


def named(names):
    """The name of a code, or its number."""
    return lambda code: names.get(code, str(code))


def written(form):
    """A number in a form."""
    return lambda number: form % number


def address(number):
    """The address of a page."""
    return "0x%016x" % number


COMPUTE_MODES = {
    pymtml.NVML_COMPUTEMODE_DEFAULT: "Default",
    pymtml.NVML_COMPUTEMODE_EXCLUSIVE_THREAD: "Exclusive_Thread",
    pymtml.NVML_COMPUTEMODE_PROHIBITED: "Prohibited",
    pymtml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS: "Exclusive_Process",
}
# Virtualization: (in -q, in --json)
ROLES = {
    pymtml.NVML_GPU_VIRTUALIZATION_MODE_NONE: ("None", "none"),
    pymtml.NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH: ("Pass-Through", "passthrough"),
    pymtml.NVML_GPU_VIRTUALIZATION_MODE_VGPU: ("VGPU", "guest"),
    pymtml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU: ("Host VGPU", "host"),
    pymtml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA: ("Host VSGA", str(pymtml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA)),
}
MEMORY_TYPES = {pymtml.MTML_MEM_TYPE_LPDDR4: "LPDDR4", pymtml.MTML_MEM_TYPE_GDDR6: "GDDR6"}

# ---- Series of `metrics` ----


def ratio(percent):
    """Percent as a ratio."""
    return percent / 100


def flag(value):
    """A feature as a number."""
    return int(bool(value))


def as_it_is(number):
    """A number that has the unit of its series."""
    return number


USED_HELP = "Memory in use, as the driver reports it; it was seen above the total."
CLOCK_HELP = "Clock at present; the memory's as MTML counts it, an eighth of the data rate."
FAN_HELP = "Target speed of a fan; 1 is its rated speed, which it may exceed."
ECC_HELP = "Memory errors: volatile since the driver was loaded, aggregate over the card's lifetime."
GENERATION_HELP = "PCIe generation that the link runs at; it drops when the card is idle."
PENDING_HELP = "1 if memory pages wait for a reboot to be retired, else 0."
POWER_LIMIT_HELP = "Power limit in force; absent if the driver reports 0."
LIMIT_HELP = "Temperature at which the card slows down, or shuts down; absent if the driver reports 0."

# Series of readings: (`query` of query_errors_total, what makes a number of an answer, labels beside the card's, help,
# also in docs/metrics.md). Those whose names end in _total are counters.
SERIES = {
    "utilization_ratio": ("utilization", ratio, ("engine",), "Utilization of an engine, from 0 to 1."),
    "memory_used_bytes": ("memory", as_it_is, (), USED_HELP),
    "memory_total_bytes": ("memory", as_it_is, (), "Memory that the card has."),
    "temperature_celsius": ("temperature", as_it_is, ("sensor",), "Temperature."),
    # Drivers return 0 for a limit that they do not know.
    "temperature_limit_celsius": (
        "temperature",
        lambda degrees: degrees if degrees > 0 else None,
        ("limit",),
        LIMIT_HELP,
    ),
    "power_watts": ("power", lambda milliwatts: milliwatts / 1000, (), "Power that the card draws."),
    "power_limit_watts": ("power", lambda milliwatts: milliwatts / 1000, (), POWER_LIMIT_HELP),
    "clock_hertz": ("clock", lambda megahertz: megahertz * MEGA, ("clock",), CLOCK_HELP),
    "clock_max_hertz": ("clock", lambda megahertz: megahertz * MEGA, ("clock",), "Greatest clock."),
    "fan_ratio": ("fan", ratio, ("fan",), FAN_HELP),
    "ecc_errors_total": ("ecc", as_it_is, ("kind", "scope"), ECC_HELP),
    "ecc_enabled": ("ecc", flag, (), "1 if memory errors are corrected and counted (ECC), else 0."),
    "retired_pages": ("retired_pages", len, ("cause",), "Memory pages that were retired."),
    "retired_pages_pending": ("retired_pages", flag, (), PENDING_HELP),
    "pcie_width": ("pcie", as_it_is, (), "PCIe lanes in use."),
    "pcie_width_max": ("pcie", as_it_is, (), "PCIe lanes that the card has."),
    "pcie_generation": ("pcie", as_it_is, (), GENERATION_HELP),
    "pcie_generation_max": ("pcie", as_it_is, (), "Greatest PCIe generation of the card."),
    "pcie_replays_total": ("pcie", as_it_is, (), "PCIe packets that were sent again."),
}

# ---- The table ----


def _pci(name, attribute, form, condition, **views):
    question = part(attribute, pymtml.nvmlDeviceGetPciInfo)
    return Reading(name, question, text=written(form), plausible=condition, **views)


def _kind(**views):
    """What makes the rows of a kind."""
    return lambda name, question, **more: Reading(name, question, **dict(views, **more))


_count = _kind(plausible=plausible.counter)  # a number that has no narrower bounds than those of a counter
_percent = _kind(unit="%", plausible=plausible.percent)
_temperature = _kind(form="%s C", plausible=temperature)
_power = _kind(unit="W", text=watts, plausible=plausible.power)


def _engine(name, code):
    """A row for an engine that only --json shows."""
    key = "utilization.engines.%s_percent" % name
    return Reading(key, asked(pymtml.mtmlGpuGetEngineUtilization, code), json=key, plausible=plausible.percent)


def _threshold(name, kind, **views):
    return _temperature(name, asked(pymtml.nvmlDeviceGetTemperatureThreshold, kind), **views)


def _clock(name, function, kind, **views):
    greatest = function is pymtml.nvmlDeviceGetMaxClockInfo
    condition = plausible.greatest_clock if greatest else plausible.clock(kind)
    return Reading(name, asked(function, kind), unit="MHz", plausible=condition, **views)


def _memory(name, attribute, **views):
    question = part(attribute, pymtml.nvmlDeviceGetMemoryInfo)
    return Reading(name, question, unit="MiB", text=mebibytes, plausible=plausible.memory, **views)


REASONS = written("0x%016X")


def _reason(name, reason):
    question = asked(pymtml.nvmlDeviceGetCurrentClocksEventReasons)
    return Reading("clocks_event_reasons." + name, question, text=lambda m: "Active" if m & reason else "Not Active")


def _retired(name, kind, cause):
    views = {"json": "retired_pages." + kind, "note": "list of addresses", "series": ("retired_pages", kind)}
    views["value"] = lambda pages: [address(page) for page in pages]
    return Reading(name, asked(pymtml.nvmlDeviceGetRetiredPages, cause), text=len, **views)


# Ends of the names of fields, and in capitals of NVML's constants
LOCATIONS = "device_memory dram register_file l1_cache l2_cache texture_memory cbu sram".split()


def _errors(kind_name, kind, counter_name, counter):
    """Rows for the memory errors of a kind: in all, and by place."""
    start, uncorrected = "ecc.errors.%s.%s." % (kind_name, counter_name), kind == _UNCORRECTED
    total = Reading(
        start + "total",
        asked(pymtml.nvmlDeviceGetTotalEccErrors, kind, counter),
        json="ecc.%s_%s" % (kind_name, counter_name),
        compare=ZERO if uncorrected else KNOWN,
        trouble=uncorrected and counter == pymtml.NVML_VOLATILE_ECC,  # health has a limit for aggregate ones
        series=("ecc_errors_total", kind_name, counter_name),
        plausible=plausible.wide_counter,
    )
    rows = [total]
    for end in LOCATIONS:
        location = getattr(pymtml, "NVML_MEMORY_LOCATION_" + end.upper())
        question = asked(pymtml.nvmlDeviceGetMemoryErrorCounter, kind, counter, location)
        rows.append(Reading(start + end, question, plausible=plausible.wide_counter))
    return rows


_CORRECTED, _UNCORRECTED = pymtml.NVML_MEMORY_ERROR_TYPE_CORRECTED, pymtml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED

# By subject; the rows of an object of --json in its order there
# fmt: off
READINGS = [
    # The sample, the machine
    Reading("timestamp", lambda device: device.machine.time.exact),
    Reading("driver_version", driver_version),
    Reading("count", lambda device: len(device.machine.cards)),
    # The device
    Reading("index", lambda device: device.index, json="index", compare=APART),
    Reading("name", asked(pymtml.nvmlDeviceGetName), json="name", compare=VALUE),
    Reading("brand", asked(pymtml.mtmlDeviceGetBrand),
            text=lambda code: "MTT" if code == pymtml.MTML_BRAND_MTT else "Unknown", json="brand",
            value=lambda code: "MTT" if code == pymtml.MTML_BRAND_MTT else "unknown", compare=VALUE),
    Reading("uuid", uuid_of, text=prefixed, json="uuid"),
    Reading("serial", asked(pymtml.nvmlDeviceGetSerial), json="serial_number"),
    Reading("vbios_version", asked(pymtml.nvmlDeviceGetVbiosVersion), json="firmware_version", compare=VALUE),
    _count("minor_number", asked(pymtml.nvmlDeviceGetMinorNumber), json="minor_number"),
    Reading("gpu_path", asked(pymtml.mtmlDeviceGetGpuPath), json="gpu_path"),
    Reading("primary_path", asked(pymtml.mtmlDeviceGetPrimaryPath), json="primary_path"),
    Reading("render_path", asked(pymtml.mtmlDeviceGetRenderPath), json="render_path"),
    _count("slot_id", part("slotId", pymtml.mtmlDeviceGetPcieSlotInfo), json="slot_id"),
    Reading("slot_name", part("slotName", pymtml.mtmlDeviceGetPcieSlotInfo), json="slot_name"),
    _count("cores", asked(pymtml.nvmlDeviceGetNumGpuCores), json="cores", compare=VALUE),
    Reading("compute_cap", compute_capability, json="compute_capability", compare=VALUE),
    Reading("pstate", asked(pymtml.nvmlDeviceGetPerformanceState), text=state, json="performance_state"),
    Reading("virtualization", asked(pymtml.nvmlDeviceGetVirtualizationMode),
            text=lambda mode: ROLES[mode][0] if mode in ROLES else str(mode), json="virtualization",
            value=lambda mode: ROLES[mode][1] if mode in ROLES else str(mode), note="none, passthrough, guest, host",
            compare=VALUE),
    Reading("board.multi_gpu", asked(pymtml.nvmlDeviceGetMultiGpuBoard), text=yes_no),
    Reading("board.id", asked(pymtml.nvmlDeviceGetBoardId), text=hex),
    Reading("display_mode", asked(pymtml.nvmlDeviceGetDisplayMode), text=enabled),
    Reading("display_attached", asked(pymtml.nvmlDeviceGetDisplayMode), text=yes_no),
    Reading("display_active", asked(pymtml.nvmlDeviceGetDisplayActive), text=enabled),
    Reading("persistence_mode", asked(pymtml.nvmlDeviceGetPersistenceMode), text=enabled),
    Reading("accounting.mode", asked(pymtml.nvmlDeviceGetAccountingMode), text=enabled),
    Reading("accounting.buffer_size", asked(pymtml.nvmlDeviceGetAccountingBufferSize)),
    Reading("compute_mode", asked(pymtml.nvmlDeviceGetComputeMode), text=named(COMPUTE_MODES)),
    # PCI
    Reading("pci.bus_id", part("busId", pymtml.nvmlDeviceGetPciInfo), json="pci.bus_id"),
    _pci("pci.domain", "domain", "0x%04X", plausible.counter, json="pci.domain"),
    _pci("pci.bus", "bus", "0x%02X", plausible.between(0, 0xFF), json="pci.bus"),
    _pci("pci.device", "device", "0x%02X", plausible.between(0, 0x1F), json="pci.device"),
    _pci("pci.device_id", "pciDeviceId", "0x%08X", plausible.identifier, json="pci.device_id", value=written("0x%08X"),
         compare=VALUE),
    _pci("pci.sub_device_id", "pciSubSystemId", "0x%08X", plausible.identifier, json="pci.subsystem_id",
         value=written("0x%08X"), compare=VALUE),
    Reading("pci.baseClass", part("baseClass", extended_pci_info), text=written("0x%X")),
    Reading("pci.subClass", part("subClass", extended_pci_info), text=written("0x%X")),
    _count("pcie.link.gen.current", asked(pymtml.nvmlDeviceGetCurrPcieLinkGeneration), json="pci.generation",
           series=("pcie_generation",)),
    _count("pcie.link.gen.gpucurrent", asked(pymtml.nvmlDeviceGetCurrPcieLinkGeneration)),
    _count("pcie.link.gen.max", asked(pymtml.nvmlDeviceGetMaxPcieLinkGeneration), json="pci.max_generation",
           compare=VALUE, series=("pcie_generation_max",)),
    _count("pcie.link.gen.gpumax", asked(pymtml.nvmlDeviceGetGpuMaxPcieLinkGeneration)),
    _count("pcie.link.width.current", asked(pymtml.nvmlDeviceGetCurrPcieLinkWidth), form="%sx", json="pci.width",
           compare=VALUE, series=("pcie_width",)),
    _count("pcie.link.width.max", asked(pymtml.nvmlDeviceGetMaxPcieLinkWidth), form="%sx", json="pci.max_width",
           compare=VALUE, series=("pcie_width_max",)),
    _count("pcie.replays", asked(pymtml.nvmlDeviceGetPcieReplayCounter), json="pci.replays",
           series=("pcie_replays_total",)),
    _count("pcie.tx", asked(pymtml.nvmlDeviceGetPcieThroughput, pymtml.NVML_PCIE_UTIL_TX_BYTES), unit="KB/s"),
    _count("pcie.rx", asked(pymtml.nvmlDeviceGetPcieThroughput, pymtml.NVML_PCIE_UTIL_RX_BYTES), unit="KB/s"),
    # Memory
    _memory("memory.total", "total", json="memory.total_bytes", compare=VALUE, series=("memory_total_bytes",)),
    _memory("memory.used", "used", json="memory.used_bytes", series=("memory_used_bytes",)),
    _memory("memory.free", "free", json="memory.free_bytes"),
    Reading("memory.system_used", asked(pymtml.mtmlMemoryGetUsedSystem), json="memory.system_used_bytes",
            plausible=plausible.memory),
    Reading("memory.type", asked(pymtml.mtmlMemoryGetType), json="memory.type", value=named(MEMORY_TYPES),
            compare=VALUE),
    Reading("memory.vendor", asked(pymtml.mtmlMemoryGetVendor), json="memory.vendor", compare=VALUE),
    _count("memory.bus_width", asked(pymtml.mtmlMemoryGetBusWidth), json="memory.bus_width_bits", compare=VALUE),
    _count("memory.bandwidth", asked(pymtml.mtmlMemoryGetBandwidth), json="memory.bandwidth_gigabytes_per_second",
           compare=VALUE),
    _count("memory.speed", asked(pymtml.mtmlMemoryGetSpeed), json="memory.speed_megabits_per_second", compare=VALUE),
    # Utilization
    _percent("utilization.gpu", part("gpu", pymtml.nvmlDeviceGetUtilizationRates), json="utilization.gpu_percent",
             series=("utilization_ratio", "gpu")),
    _percent("utilization.memory", part("memory", pymtml.nvmlDeviceGetUtilizationRates),
             json="utilization.memory_percent", series=("utilization_ratio", "memory")),
    _percent("utilization.encoder", item(0, pymtml.nvmlDeviceGetEncoderUtilization), json="utilization.encoder_percent",
             series=("utilization_ratio", "encoder")),
    _percent("utilization.decoder", item(0, pymtml.nvmlDeviceGetDecoderUtilization), json="utilization.decoder_percent",
             series=("utilization_ratio", "decoder")),
    _engine("geometry", pymtml.MTML_GPU_ENGINE_GEOMETRY),
    _engine("2d", pymtml.MTML_GPU_ENGINE_2D),
    _engine("3d", pymtml.MTML_GPU_ENGINE_3D),
    _engine("compute", pymtml.MTML_GPU_ENGINE_COMPUTE),
    _percent("utilization.jpeg", item(0, pymtml.nvmlDeviceGetJpgUtilization)),
    _percent("utilization.ofa", item(0, pymtml.nvmlDeviceGetOfaUtilization)),
    # Temperature
    _temperature("temperature.gpu", asked(pymtml.nvmlDeviceGetTemperature, pymtml.NVML_TEMPERATURE_GPU),
                 json="temperature.gpu_celsius", series=("temperature_celsius", "gpu")),
    _temperature("temperature.memory", field(pymtml.NVML_FI_DEV_MEMORY_TEMP), json="temperature.memory_celsius",
                 series=("temperature_celsius", "memory")),
    _threshold("temperature.slowdown", pymtml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN, json="temperature.slowdown_celsius",
               compare=VALUE, series=("temperature_limit_celsius", "slowdown")),
    _threshold("temperature.shutdown", pymtml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN, json="temperature.shutdown_celsius",
               compare=VALUE, series=("temperature_limit_celsius", "shutdown")),
    _threshold("temperature.gpu_max", pymtml.NVML_TEMPERATURE_THRESHOLD_GPU_MAX),
    _threshold("temperature.memory_max", pymtml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX),
    Reading("temperature.gpu.tlimit", asked(pymtml.nvmlDeviceGetMarginTemperature), form="%s C", plausible=margin),
    Reading("fan.speed", asked(pymtml.nvmlDeviceGetFanSpeed), unit="%", plausible=plausible.fan),
    # Power
    _power("power.draw", asked(pymtml.nvmlDeviceGetPowerUsage), json="power.draw_milliwatts", series=("power_watts",)),
    _power("enforced.power.limit", asked(pymtml.nvmlDeviceGetEnforcedPowerLimit), json="power.limit_milliwatts",
           compare=VALUE, series=("power_limit_watts",)),
    _power("power.default_limit", asked(pymtml.nvmlDeviceGetPowerManagementDefaultLimit),
           json="power.default_limit_milliwatts", compare=VALUE, plausible=plausible.default_power),
    Reading("power.voltage", asked(pymtml.mtmlGpuGetVoltage), unit="mV", text=written("%.3f"),
            json="power.gpu_millivolts", plausible=plausible.millivolts),
    Reading("power.management", asked(pymtml.nvmlDeviceGetPowerManagementMode), text=enabled),
    _power("power.draw.average", field(pymtml.NVML_FI_DEV_POWER_AVERAGE)),
    _power("power.draw.instant", field(pymtml.NVML_FI_DEV_POWER_INSTANT)),
    _power("power.limit", asked(pymtml.nvmlDeviceGetPowerManagementLimit)),
    _power("power.min_limit", item(0, pymtml.nvmlDeviceGetPowerManagementLimitConstraints)),
    _power("power.max_limit", item(1, pymtml.nvmlDeviceGetPowerManagementLimitConstraints)),
    # Clocks
    _clock("clocks.current.graphics", pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_GRAPHICS,
           json="clocks.graphics_megahertz", series=("clock_hertz", "graphics")),
    _clock("clocks.max.graphics", pymtml.nvmlDeviceGetMaxClockInfo, pymtml.NVML_CLOCK_GRAPHICS,
           json="clocks.max_graphics_megahertz", compare=VALUE, series=("clock_max_hertz", "graphics")),
    _clock("clocks.current.memory", pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_MEM,
           json="clocks.memory_megahertz", series=("clock_hertz", "memory")),
    _clock("clocks.max.memory", pymtml.nvmlDeviceGetMaxClockInfo, pymtml.NVML_CLOCK_MEM,
           json="clocks.max_memory_megahertz", compare=VALUE, series=("clock_max_hertz", "memory")),
    _clock("clocks.current.video", pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_VIDEO,
           json="clocks.video_megahertz", series=("clock_hertz", "video")),
    _clock("clocks.max.video", pymtml.nvmlDeviceGetMaxClockInfo, pymtml.NVML_CLOCK_VIDEO,
           json="clocks.max_video_megahertz", compare=VALUE, series=("clock_max_hertz", "video")),
    _clock("clocks.current.sm", pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_SM),
    _clock("clocks.max.sm", pymtml.nvmlDeviceGetMaxClockInfo, pymtml.NVML_CLOCK_SM),
    _clock("clocks.applications.graphics", pymtml.nvmlDeviceGetApplicationsClock, pymtml.NVML_CLOCK_GRAPHICS),
    _clock("clocks.applications.memory", pymtml.nvmlDeviceGetApplicationsClock, pymtml.NVML_CLOCK_MEM),
    _clock("clocks.default_applications.graphics", pymtml.nvmlDeviceGetDefaultApplicationsClock,
           pymtml.NVML_CLOCK_GRAPHICS),
    _clock("clocks.default_applications.memory", pymtml.nvmlDeviceGetDefaultApplicationsClock, pymtml.NVML_CLOCK_MEM),
    Reading("clocks_event_reasons.supported", asked(pymtml.nvmlDeviceGetSupportedClocksEventReasons), text=REASONS),
    Reading("clocks_event_reasons.active", asked(pymtml.nvmlDeviceGetCurrentClocksEventReasons), text=REASONS),
    _reason("gpu_idle", pymtml.nvmlClocksEventReasonGpuIdle),
    _reason("applications_clocks_setting", pymtml.nvmlClocksEventReasonApplicationsClocksSetting),
    _reason("sw_power_cap", pymtml.nvmlClocksEventReasonSwPowerCap),
    _reason("hw_slowdown", pymtml.nvmlClocksThrottleReasonHwSlowdown),
    _reason("hw_thermal_slowdown", pymtml.nvmlClocksThrottleReasonHwThermalSlowdown),
    _reason("hw_power_brake_slowdown", pymtml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown),
    _reason("sw_thermal_slowdown", pymtml.nvmlClocksEventReasonSwThermalSlowdown),
    _reason("sync_boost", pymtml.nvmlClocksEventReasonSyncBoost),
    # Video engine
    _count("codec.max_encoder_sessions", item(0, pymtml.mtmlVpuGetCodecCapacity), json="codec.max_encoder_sessions",
           compare=VALUE),
    _count("codec.max_decoder_sessions", item(1, pymtml.mtmlVpuGetCodecCapacity), json="codec.max_decoder_sessions",
           compare=VALUE),
    _count("encoder.stats.sessionCount", item(0, pymtml.nvmlDeviceGetEncoderStats), json="codec.encoder_sessions"),
    _count("encoder.stats.averageFps", item(1, pymtml.nvmlDeviceGetEncoderStats),
           json="codec.encoder_frames_per_second"),
    _count("encoder.stats.averageLatency", item(2, pymtml.nvmlDeviceGetEncoderStats)),
    # What is near
    Reading("affinity.cpus", topology.cpus, json="affinity.cpus", note="as `0-31,64-95`", value=topology.ranges,
            compare=VALUE),
    Reading("affinity.nodes", topology.nodes, json="affinity.nodes", note="as `0-1`", value=topology.ranges,
            compare=VALUE),
    # MPC
    Reading("mig.mode.current", item(0, pymtml.nvmlDeviceGetMigMode), text=enabled, json="mpc.enabled", value=bool,
            compare=VALUE),
    Reading("mig.mode.pending", item(1, pymtml.nvmlDeviceGetMigMode), text=enabled),
    # Memory errors
    Reading("ecc.mode.current", item(0, pymtml.nvmlDeviceGetEccMode), text=enabled, json="ecc.enabled", value=bool,
            compare=VALUE, series=("ecc_enabled",)),
    Reading("ecc.mode.pending", item(1, pymtml.nvmlDeviceGetEccMode), text=enabled, json="ecc.pending", value=bool,
            compare=VALUE),
    *_errors("corrected", _CORRECTED, "volatile", pymtml.NVML_VOLATILE_ECC),
    *_errors("corrected", _CORRECTED, "aggregate", pymtml.NVML_AGGREGATE_ECC),
    *_errors("uncorrected", _UNCORRECTED, "volatile", pymtml.NVML_VOLATILE_ECC),
    *_errors("uncorrected", _UNCORRECTED, "aggregate", pymtml.NVML_AGGREGATE_ECC),
    Reading("retired_pages.pending", asked(pymtml.nvmlDeviceGetRetiredPagesPendingStatus), text=yes_no,
            json="retired_pages.pending", value=bool, compare=VALUE, trouble=True, series=("retired_pages_pending",)),
    _retired("retired_pages.single_bit_ecc.count", "single_bit",
             pymtml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS),
    _retired("retired_pages.double_bit.count", "double_bit", pymtml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR),
    Reading("remapped_rows.correctable", item(0, pymtml.nvmlDeviceGetRemappedRows)),
    Reading("remapped_rows.uncorrectable", item(1, pymtml.nvmlDeviceGetRemappedRows)),
    Reading("remapped_rows.pending", item(2, pymtml.nvmlDeviceGetRemappedRows), text=yes_no),
    Reading("remapped_rows.failure", item(3, pymtml.nvmlDeviceGetRemappedRows), text=yes_no),
    # MtLinks, fans
    _count("mtlink.version", part("version", pymtml.mtmlDeviceGetMtLinkSpec), json="mtlink.version", compare=VALUE),
    _count("mtlink.bandwidth", part("bandWidth", pymtml.mtmlDeviceGetMtLinkSpec),
           json="mtlink.bandwidth_gigabytes_per_second", compare=VALUE),
    Reading("mtlink.count", part("linkNum", pymtml.mtmlDeviceGetMtLinkSpec), json="mtlink.count", compare=VALUE,
            plausible=plausible.parts),
    Reading("displays.count", asked(pymtml.mtmlDeviceCountDisplayInterface), plausible=plausible.parts),
    Reading("fans.count", asked(pymtml.nvmlDeviceGetNumFans), json="fans.count", compare=VALUE,
            plausible=plausible.parts),
]
# fmt: on
BY_NAME = {reading.name: reading for reading in READINGS}
BY_KEY = {reading.json: reading for reading in READINGS if reading.json is not None}


def value_of(device, name):
    """What a device answers to the question of a reading, or an Unknown."""
    return BY_NAME[name].question(device)


# What a card measures anew each time, beside temperatures
REGISTERS = (
    "utilization.gpu",
    "utilization.memory",
    "power.draw",
    "clocks.current.graphics",
    "clocks.current.memory",
    "memory.used",
    "fan.speed",
)


def mostly_implausible(device):
    """Whether most of what a device measures cannot be, as on a card that is gone."""
    if plausible.reads_zeros(device):
        return True
    answers = [value_of(device, name) for name in REGISTERS]
    failed = sum(isinstance(one, Implausible) for one in answers)
    return failed > sum(not isinstance(one, Unknown) for one in answers)


def fan(number):
    """The readings of a fan: its target, and what it turns at (tuple of Reading)."""
    return (
        Reading("target_percent", asked(pymtml.nvmlDeviceGetFanSpeed_v2, number), unit="%", plausible=plausible.fan),
        _count("rpm", asked(pymtml.mtmlDeviceGetFanRpm, number)),
    )


def readings_of(place):
    """(key, Reading) of an object of --json, by its path (list)."""
    start = place + "." if place else ""
    found = [(key[len(start) :], reading) for key, reading in BY_KEY.items() if key.startswith(start)]
    return [(key, reading) for key, reading in found if "." not in key]


def pairs(device, place=""):
    """(key, value or Unknown) of what an object of --json has of readings (list)."""
    return [(key, reading.json_value(device)) for key, reading in readings_of(place)]
