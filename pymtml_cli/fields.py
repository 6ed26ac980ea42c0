"""The properties of --query-gpu: names, unit, where the value comes from, what help says about it.

A line of FIELDS is (names, unit, value, help): the first name heads the column, the others are aliases. ``value`` takes
a Device and returns the text without the unit, or an Unknown. All that nvidia-smi of drivers 580 to 610 know is here;
what has no counterpart on these cards is ``nobody_tells``.
"""

import pymtml
from pymtml_cli.devices import Unknown, nobody_tells, then

MIB = 1024 * 1024


def mebibytes(number):
    """Bytes in MiB, rounded up as nvidia-smi does."""
    return -(-number // MIB)


def watts(milliwatts):
    """Milliwatts as nvidia-smi writes watts."""
    return "%.2f" % (milliwatts / 1000.0)


def plain(function, *arguments):
    """What a function answers, as it stands."""
    return lambda device: then(device.ask(function, *arguments), str)


def part(attribute, function, *arguments):
    """An attribute of what a function answers."""
    return lambda device: then(device.ask(function, *arguments), lambda answer: str(getattr(answer, attribute)))


def item(index, function, *arguments):
    """An item of what a function answers."""
    return lambda device: then(device.ask(function, *arguments), lambda answer: str(answer[index]))


def size(attribute, function, *arguments):
    """An attribute in bytes of what a function answers, in MiB."""
    return lambda device: then(
        device.ask(function, *arguments), lambda answer: str(mebibytes(getattr(answer, attribute)))
    )


def power(function, *arguments):
    """Milliwatts that a function answers, in W."""
    return lambda device: then(device.ask(function, *arguments), watts)


def power_item(index, function):
    """An item in milliwatts of what a function answers, in W."""
    return lambda device: then(device.ask(function), lambda answer: watts(answer[index]))


def power_field(field_id):
    """A field in milliwatts, in W."""
    return lambda device: then(device.field(field_id), watts)


def number_field(field_id):
    """A field that is a number."""
    return lambda device: then(device.field(field_id), str)


def switch(function, *arguments):
    """Whether a feature is on."""
    return lambda device: then(device.ask(function, *arguments), enabled)


def switch_item(index, function):
    """Whether a feature is on: an item of what a function answers."""
    return lambda device: then(device.ask(function), lambda answer: enabled(answer[index]))


def enabled(value):
    """A feature's state in words."""
    return "Enabled" if value else "Disabled"


def yes_no(value):
    """An answer in words."""
    return "Yes" if value else "No"


def pci(form, attribute):
    """A number of the PCI info in hexadecimal."""
    return lambda device: then(
        device.ask(pymtml.nvmlDeviceGetPciInfo), lambda answer: form % getattr(answer, attribute)
    )


def extended_pci_info(handle):
    """PCI info with class codes (nvmlPciInfoExt_v1_t).

    Raises: NVMLError.
    """
    info = pymtml.nvmlPciInfoExt_v1_t(version=pymtml.nvmlPciInfoExt_v1)
    pymtml.nvmlDeviceGetPciInfoExt(handle, pymtml.byref(info))
    return info


def pci_class(attribute):
    """A class code of the extended PCI info in hexadecimal."""
    return lambda device: then(device.ask(extended_pci_info), lambda answer: "0x%X" % getattr(answer, attribute))


def compute_mode(device):
    """Compute mode in nvidia-smi's words."""
    words = {
        pymtml.NVML_COMPUTEMODE_DEFAULT: "Default",
        pymtml.NVML_COMPUTEMODE_EXCLUSIVE_THREAD: "Exclusive_Thread",
        pymtml.NVML_COMPUTEMODE_PROHIBITED: "Prohibited",
        pymtml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS: "Exclusive_Process",
    }
    return then(device.ask(pymtml.nvmlDeviceGetComputeMode), lambda mode: words.get(mode, str(mode)))


def compute_capability(device):
    """MUSA compute capability; (0, 0) stands for one that nothing tells."""
    version = device.ask(pymtml.nvmlDeviceGetCudaComputeCapability)
    if isinstance(version, Unknown):
        return version
    return "%d.%d" % tuple(version) if any(version) else nobody_tells()


def performance_state(device):
    """Performance state, such as P0."""
    state = device.ask(pymtml.nvmlDeviceGetPerformanceState)
    if isinstance(state, Unknown):
        return state
    return "P%d" % state if state != pymtml.NVML_PSTATE_UNKNOWN else nobody_tells()


def retired(cause):
    """Number of pages that were retired for a cause."""
    return lambda device: then(device.ask(pymtml.nvmlDeviceGetRetiredPages, cause), lambda pages: str(len(pages)))


def retired_pending(device):
    """Whether pages wait for a reboot to be retired."""
    return then(device.ask(pymtml.nvmlDeviceGetRetiredPagesPendingStatus), yes_no)


def ecc(kind, counter, location):
    """Number of memory errors at a place."""
    return plain(pymtml.nvmlDeviceGetMemoryErrorCounter, kind, counter, location)


def remapped(index, words=str):
    """An item of the remapped rows."""
    return lambda device: then(device.ask(pymtml.nvmlDeviceGetRemappedRows), lambda answer: words(answer[index]))


def sample_time(device):
    """When this sample was taken."""
    return device.machine.time.exact


def driver_version(device):
    """Version of the driver."""
    return device.machine.driver_version


def device_count(device):
    """Number of cards."""
    return str(len(device.machine.cards))


def device_index(device):
    """Index of the card."""
    return str(device.index)


_CORRECTED, _UNCORRECTED = pymtml.NVML_MEMORY_ERROR_TYPE_CORRECTED, pymtml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
_LOCATIONS = (  # (end of the field's name, location, where that is)
    ("device_memory", pymtml.NVML_MEMORY_LOCATION_DEVICE_MEMORY, "in the device memory"),
    ("dram", pymtml.NVML_MEMORY_LOCATION_DRAM, "in the device memory"),
    ("register_file", pymtml.NVML_MEMORY_LOCATION_REGISTER_FILE, "in the register file"),
    ("l1_cache", pymtml.NVML_MEMORY_LOCATION_L1_CACHE, "in the L1 cache"),
    ("l2_cache", pymtml.NVML_MEMORY_LOCATION_L2_CACHE, "in the L2 cache"),
    ("texture_memory", pymtml.NVML_MEMORY_LOCATION_TEXTURE_MEMORY, "in texture memory"),
    ("cbu", pymtml.NVML_MEMORY_LOCATION_CBU, "in the convergence barrier unit"),
    ("sram", pymtml.NVML_MEMORY_LOCATION_SRAM, "in SRAM"),
)


def _ecc_fields():
    """Lines for the error counters by kind, counter and place, in nvidia-smi's order."""
    lines = []
    for kind_name, kind in (("corrected", _CORRECTED), ("uncorrected", _UNCORRECTED)):
        for counter_name, counter, since in (
            ("volatile", pymtml.NVML_VOLATILE_ECC, "since the driver was loaded"),
            ("aggregate", pymtml.NVML_AGGREGATE_ECC, "in the card's life"),
        ):
            start = "ecc.errors.%s.%s." % (kind_name, counter_name)
            text = "Number of %s errors %%s, %s." % (kind_name, since)
            for end, location, place in _LOCATIONS:
                lines.append(((start + end,), "", ecc(kind, counter, location), text % place))
            total = plain(pymtml.nvmlDeviceGetTotalEccErrors, kind, counter)
            lines.append(((start + "total",), "", total, text % "anywhere on the card"))
    return lines


def _reason_fields():
    """Lines for the reasons why clocks are below their maximum."""
    start, older = "clocks_event_reasons.", "clocks_throttle_reasons."

    def mask(end, function, text):
        value = function if function is nobody_tells else _bit_mask(function)
        return (start + end, older + end), "", value, text

    def bit(end, reason, text):
        return (start + end, older + end), "", _active(reason), text

    return [
        mask("supported", pymtml.nvmlDeviceGetSupportedClocksEventReasons, "Bit mask of the reasons that are known."),
        mask("active", pymtml.nvmlDeviceGetCurrentClocksEventReasons, "Bit mask of the reasons that hold now."),
        bit("gpu_idle", pymtml.nvmlClocksEventReasonGpuIdle, "The GPU has nothing to do."),
        bit(
            "applications_clocks_setting",
            pymtml.nvmlClocksEventReasonApplicationsClocksSetting,
            "A setting for applications limits the clocks.",
        ),
        bit("sw_power_cap", pymtml.nvmlClocksEventReasonSwPowerCap, "The power limit lowers the clocks."),
        bit("hw_slowdown", pymtml.nvmlClocksThrottleReasonHwSlowdown, "The hardware lowers the clocks sharply."),
        bit(
            "hw_thermal_slowdown",
            pymtml.nvmlClocksThrottleReasonHwThermalSlowdown,
            "The hardware lowers the clocks, as it is too hot.",
        ),
        bit(
            "hw_power_brake_slowdown",
            pymtml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
            "The hardware lowers the clocks at a signal from outside, such as the power supply's.",
        ),
        bit(
            "sw_thermal_slowdown",
            pymtml.nvmlClocksEventReasonSwThermalSlowdown,
            "The driver lowers the clocks, as the card is hotter than it is meant to be.",
        ),
        bit(
            "sync_boost", pymtml.nvmlClocksEventReasonSyncBoost, "Another GPU of the same group holds the clocks down."
        ),
    ]


def _bit_mask(function):
    return lambda device: then(device.ask(function), lambda mask: "0x%016X" % mask)


def _active(reason):
    return lambda device: then(
        device.ask(pymtml.nvmlDeviceGetCurrentClocksEventReasons),
        lambda mask: "Active" if mask & reason else "Not Active",
    )


def _unanswered(unit, *lines):
    """Lines for fields without a counterpart on these cards: (name or names, help)."""
    return [((names,) if isinstance(names, str) else names, unit, nobody_tells, text) for names, text in lines]


FIELDS = (
    [
        (("timestamp",), "", sample_time, "Time of the query as YYYY/MM/DD HH:MM:SS.mmm."),
        (("driver_version",), "", driver_version, "Version of the kernel driver."),
    ]
    + _unanswered("", ("vgpu_driver_capability.heterogenous_multivGPU", "Whether virtual devices may differ in type."))
    + [
        (("count",), "", device_count, "Number of cards in the system."),
        (("name", "gpu_name"), "", plain(pymtml.nvmlDeviceGetName), "Product name."),
        (("serial", "gpu_serial"), "", plain(pymtml.nvmlDeviceGetSerial), "Serial number of the board."),
        (("uuid", "gpu_uuid"), "", plain(pymtml.nvmlDeviceGetUUID), "UUID, as MTML writes it."),
        (
            ("pci.bus_id", "gpu_bus_id"),
            "",
            part("busId", pymtml.nvmlDeviceGetPciInfo),
            "PCI address as domain:bus:device.function, in hexadecimal.",
        ),
        (("pci.domain",), "", pci("0x%04X", "domain"), "PCI domain, in hexadecimal."),
        (("pci.bus",), "", pci("0x%02X", "bus"), "PCI bus, in hexadecimal."),
        (("pci.device",), "", pci("0x%02X", "device"), "PCI device, in hexadecimal."),
        (("pci.baseClass",), "", pci_class("baseClass"), "PCI class code, in hexadecimal."),
        (("pci.subClass",), "", pci_class("subClass"), "PCI subclass code, in hexadecimal."),
        (("pci.device_id",), "", pci("0x%08X", "pciDeviceId"), "PCI device and vendor id, in hexadecimal."),
        (("pci.sub_device_id",), "", pci("0x%08X", "pciSubSystemId"), "PCI subsystem id, in hexadecimal."),
    ]
    + _unanswered(
        "",
        ("vgpu_device_capability.fractional_multiVgpu", "Whether virtual devices may be fractions of the card."),
        ("vgpu_device_capability.heterogeneous_timeSlice_profile", "Whether time slices may differ in profile."),
        ("vgpu_device_capability.heterogeneous_timeSlice_sizes", "Whether time slices may differ in frame buffer."),
        ("vgpu_device_capability.homogeneous_placements", "Whether placements of equal virtual devices are told."),
        ("vgpu_device_capability.mig_timeSlicing", "Whether instances may be shared by time."),
        ("vgpu_device_capability.mig_timeSlicing_mode", "Whether instances are shared by time."),
    )
    + [
        (
            ("pcie.link.gen.current",),
            "",
            plain(pymtml.nvmlDeviceGetCurrPcieLinkGeneration),
            "PCIe generation that the link runs at.",
        ),
        (
            ("pcie.link.gen.gpucurrent",),
            "",
            plain(pymtml.nvmlDeviceGetCurrPcieLinkGeneration),
            "PCIe generation that the link runs at.",
        ),
        (
            ("pcie.link.gen.max",),
            "",
            plain(pymtml.nvmlDeviceGetMaxPcieLinkGeneration),
            "Greatest PCIe generation that card and slot allow.",
        ),
        (
            ("pcie.link.gen.gpumax",),
            "",
            plain(pymtml.nvmlDeviceGetGpuMaxPcieLinkGeneration),
            "Greatest PCIe generation of the card.",
        ),
    ]
    + _unanswered("", ("pcie.link.gen.hostmax", "Greatest PCIe generation of the host's port."))
    + [
        (
            ("pcie.link.width.current",),
            "",
            plain(pymtml.nvmlDeviceGetCurrPcieLinkWidth),
            "Number of PCIe lanes in use.",
        ),
        (
            ("pcie.link.width.max",),
            "",
            plain(pymtml.nvmlDeviceGetMaxPcieLinkWidth),
            "Greatest number of PCIe lanes.",
        ),
        (("index",), "", device_index, "Index of the card, from 0."),
        (("display_mode",), "", switch(pymtml.nvmlDeviceGetDisplayMode), "Whether a display is connected."),
        (
            ("display_attached",),
            "",
            lambda device: then(device.ask(pymtml.nvmlDeviceGetDisplayMode), yes_no),
            "Whether a display is connected, as Yes or No.",
        ),
        (("display_active",), "", switch(pymtml.nvmlDeviceGetDisplayActive), "Whether a display is in use."),
        (
            ("persistence_mode",),
            "",
            switch(pymtml.nvmlDeviceGetPersistenceMode),
            "Whether the driver stays loaded without a client.",
        ),
    ]
    + _unanswered("", ("addressing_mode", "How the GPU reaches memory of the host: HMM, ATS or None."))
    + [
        (
            ("accounting.mode",),
            "",
            switch(pymtml.nvmlDeviceGetAccountingMode),
            "Whether the driver keeps accounts of processes.",
        ),
        (
            ("accounting.buffer_size",),
            "",
            plain(pymtml.nvmlDeviceGetAccountingBufferSize),
            "Number of processes that accounts can hold.",
        ),
    ]
    + _unanswered(
        "",
        ("driver_model.current", "Driver model of Windows, now."),
        ("driver_model.pending", "Driver model of Windows, from the next boot on."),
    )
    + [(("vbios_version",), "", plain(pymtml.nvmlDeviceGetVbiosVersion), "Version of the card's firmware (MTBios).")]
    + _unanswered(
        "",
        (("inforom.img", "inforom.image"), "Version of the information ROM."),
        ("inforom.oem", "Version of the configuration data in the information ROM."),
        ("inforom.ecc", "Version of the ECC records in the information ROM."),
        (("inforom.pwr", "inforom.power"), "Version of the power data in the information ROM."),
        ("inforom.checksum_validation", "Whether the checksum of the information ROM is right."),
        ("gpu_recovery_action", "What to do to recover the GPU."),
        (("gom.current", "gpu_operation_mode.current"), "GPU operation mode, now."),
        (("gom.pending", "gpu_operation_mode.pending"), "GPU operation mode, from the next boot on."),
    )
    + [
        (
            ("fan.speed",),
            "%",
            plain(pymtml.nvmlDeviceGetFanSpeed),
            "Target speed of the first fan in percent, which may pass 100.",
        ),
        (("pstate",), "", performance_state, "Performance state, P0 (greatest) to P15."),
    ]
    + _reason_fields()
    + _unanswered(
        "us",
        ("clocks_event_reasons_counters.sw_power_cap", "Time in which the power limit lowered the clocks."),
        ("clocks_event_reasons_counters.sync_boost", "Time in which another GPU held the clocks down."),
        ("clocks_event_reasons_counters.sw_thermal_slowdown", "Time in which the driver lowered the clocks for heat."),
        ("clocks_event_reasons_counters.hw_thermal_slowdown", "Time in which the hardware did so."),
        ("clocks_event_reasons_counters.hw_power_brake_slowdown", "Time in which a signal from outside did so."),
    )
    + [(("memory.total",), "MiB", size("total", pymtml.nvmlDeviceGetMemoryInfo), "Device memory.")]
    + _unanswered("MiB", ("memory.reserved", "Device memory that driver and firmware keep for themselves."))
    + [
        (("memory.used",), "MiB", size("used", pymtml.nvmlDeviceGetMemoryInfo), "Device memory in use."),
        (("memory.free",), "MiB", size("free", pymtml.nvmlDeviceGetMemoryInfo), "Device memory that is free."),
        (("compute_mode",), "", compute_mode, "Whether several processes may compute at once."),
        (("compute_cap",), "", compute_capability, "MUSA compute capability as MAJOR.MINOR."),
        (
            ("utilization.gpu",),
            "%",
            part("gpu", pymtml.nvmlDeviceGetUtilizationRates),
            "Share of the time in which the GPU was busy.",
        ),
        (
            ("utilization.memory",),
            "%",
            part("memory", pymtml.nvmlDeviceGetUtilizationRates),
            "Utilization of the device memory, as MTML tells it.",
        ),
        (
            ("utilization.encoder",),
            "%",
            item(0, pymtml.nvmlDeviceGetEncoderUtilization),
            "Utilization of the video encoder.",
        ),
        (
            ("utilization.decoder",),
            "%",
            item(0, pymtml.nvmlDeviceGetDecoderUtilization),
            "Utilization of the video decoder.",
        ),
        (
            ("utilization.jpeg",),
            "%",
            item(0, pymtml.nvmlDeviceGetJpgUtilization),
            "Utilization of the JPEG engine.",
        ),
        (
            ("utilization.ofa",),
            "%",
            item(0, pymtml.nvmlDeviceGetOfaUtilization),
            "Utilization of the optical flow engine.",
        ),
        (
            ("encoder.stats.sessionCount",),
            "",
            item(0, pymtml.nvmlDeviceGetEncoderStats),
            "Number of encoder sessions.",
        ),
        (
            ("encoder.stats.averageFps",),
            "",
            item(1, pymtml.nvmlDeviceGetEncoderStats),
            "Frames per second of the encoder sessions, on average.",
        ),
        (
            ("encoder.stats.averageLatency",),
            "",
            item(2, pymtml.nvmlDeviceGetEncoderStats),
            "Latency of the encoder sessions in microseconds, on average.",
        ),
    ]
    + _unanswered(
        "",
        ("dramEncryption.mode.current", "Whether the device memory is encrypted."),
        ("dramEncryption.mode.pending", "Whether the device memory will be encrypted from the next boot on."),
    )
    + [
        (("ecc.mode.current",), "", switch_item(0, pymtml.nvmlDeviceGetEccMode), "Whether ECC is on."),
        (
            ("ecc.mode.pending",),
            "",
            switch_item(1, pymtml.nvmlDeviceGetEccMode),
            "Whether ECC will be on from the next boot on.",
        ),
    ]
    + _ecc_fields()
    + _unanswered(
        "",
        ("ecc.errors.uncorrected.volatile.sram.parity", "Parity errors in SRAM since the driver was loaded."),
        ("ecc.errors.uncorrected.volatile.sram.secded", "SEC-DED errors in SRAM since the driver was loaded."),
        ("ecc.errors.uncorrected.aggregate.sram.parity", "Parity errors in SRAM in the card's life."),
        ("ecc.errors.uncorrected.aggregate.sram.secded", "SEC-DED errors in SRAM in the card's life."),
        ("ecc.errors.uncorrected.aggregate.sram.thresholdExceeded", "Whether SRAM errors passed their threshold."),
        ("ecc.errors.uncorrected.aggregate.sram.l2", "SRAM errors in the L2 cache."),
        ("ecc.errors.uncorrected.aggregate.sram.sm", "SRAM errors in the multiprocessors."),
        ("ecc.errors.uncorrected.aggregate.sram.mcu", "SRAM errors in microcontrollers."),
        ("ecc.errors.uncorrected.aggregate.sram.pcie", "SRAM errors in the PCIe unit."),
        ("ecc.errors.uncorrected.aggregate.sram.other", "SRAM errors elsewhere."),
    )
    + [
        (
            ("retired_pages.single_bit_ecc.count", "retired_pages.sbe"),
            "",
            retired(pymtml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS),
            "Number of memory pages retired for several single bit errors.",
        ),
        (
            ("retired_pages.double_bit.count", "retired_pages.dbe"),
            "",
            retired(pymtml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR),
            "Number of memory pages retired for a double bit error.",
        ),
        (("retired_pages.pending",), "", retired_pending, "Whether pages wait for a reboot to be retired."),
        (("remapped_rows.correctable", "remapped_rows.sbe"), "", remapped(0), "Rows remapped for single bit errors."),
    ]
    + _unanswered("", ("remapped_rows.correctable_inactive", "The same, of rows not in use."))
    + [(("remapped_rows.uncorrectable", "remapped_rows.dbe"), "", remapped(1), "Rows remapped for double bit errors.")]
    + _unanswered("", ("remapped_rows.uncorrectable_inactive", "The same, of rows not in use."))
    + [
        (("remapped_rows.pending",), "", remapped(2, yes_no), "Whether rows wait for a reset to be remapped."),
        (("remapped_rows.failure",), "", remapped(3, yes_no), "Whether remapping ever failed."),
    ]
    + _unanswered(
        "",
        ("remapped_rows.histogram.max", "Number of banks with all spare rows left."),
        ("remapped_rows.histogram.high", "Number of banks with many spare rows left."),
        ("remapped_rows.histogram.partial", "Number of banks with some spare rows left."),
        ("remapped_rows.histogram.low", "Number of banks with few spare rows left."),
        ("remapped_rows.histogram.none", "Number of banks without spare rows."),
    )
    + [
        (
            ("temperature.gpu",),
            "",
            plain(pymtml.nvmlDeviceGetTemperature, pymtml.NVML_TEMPERATURE_GPU),
            "Temperature of the GPU in degrees Celsius.",
        ),
        (
            ("temperature.gpu.tlimit",),
            "",
            plain(pymtml.nvmlDeviceGetMarginTemperature),
            "Degrees Celsius that are left to the temperature at which the card slows down.",
        ),
        (
            ("temperature.memory",),
            "",
            number_field(pymtml.NVML_FI_DEV_MEMORY_TEMP),
            "Temperature of the device memory in degrees Celsius.",
        ),
        (
            ("power.management",),
            "",
            switch(pymtml.nvmlDeviceGetPowerManagementMode),
            "Whether power is managed.",
        ),
        (("power.draw",), "W", power(pymtml.nvmlDeviceGetPowerUsage), "Power that the board draws."),
        (
            ("power.draw.average", "gpu.power.draw.average"),
            "W",
            power_field(pymtml.NVML_FI_DEV_POWER_AVERAGE),
            "Power that the board draws, on average.",
        ),
        (
            ("power.draw.instant", "gpu.power.draw.instant"),
            "W",
            power_field(pymtml.NVML_FI_DEV_POWER_INSTANT),
            "Power that the board draws at this moment.",
        ),
        (
            ("power.limit", "gpu.power.requested_limit"),
            "W",
            power(pymtml.nvmlDeviceGetPowerManagementLimit),
            "Power limit that was set.",
        ),
        (
            ("enforced.power.limit", "gpu.power.current_limit"),
            "W",
            power(pymtml.nvmlDeviceGetEnforcedPowerLimit),
            "Power limit in force.",
        ),
        (
            ("power.default_limit", "gpu.power.default_limit"),
            "W",
            power(pymtml.nvmlDeviceGetPowerManagementDefaultLimit),
            "Power limit by default.",
        ),
        (
            ("power.min_limit", "gpu.power.min_limit"),
            "W",
            power_item(0, pymtml.nvmlDeviceGetPowerManagementLimitConstraints),
            "Least power limit that can be set.",
        ),
        (
            ("power.max_limit", "gpu.power.max_limit"),
            "W",
            power_item(1, pymtml.nvmlDeviceGetPowerManagementLimitConstraints),
            "Greatest power limit that can be set.",
        ),
    ]
    + _unanswered(
        "W",
        ("module.power.draw.average", "Power that the module draws, on average."),
        ("module.power.draw.instant", "Power that the module draws at this moment."),
        (("module.power.limit", "module.power.requested_limit"), "Power limit that was set for the module."),
        (("module.enforced.power.limit", "module.power.current_limit"), "Power limit of the module in force."),
        ("module.power.default_limit", "Power limit of the module by default."),
        ("module.power.min_limit", "Least power limit that can be set for the module."),
        ("module.power.max_limit", "Greatest power limit that can be set for the module."),
    )
    + _unanswered(
        "",
        ("power_smoothing.tmp_floor", "Power smoothing: floor of the power."),
        ("power_smoothing.tmp_ceil", "Power smoothing: ceiling of the power."),
        ("power_smoothing.hw_lifetime_remaining_percent", "Power smoothing: life that is left to the hardware."),
        ("power_smoothing.enabled", "Power smoothing: whether it is on."),
        ("power_smoothing.delayed_power_smoothing_supported", "Power smoothing: whether it may be delayed."),
        ("power_smoothing.soc_power_smoothing_enabled", "Power smoothing: whether it is on for the SoC."),
        ("power_smoothing.priv_level", "Power smoothing: privilege level."),
        ("power_smoothing.imm_ramp_down", "Power smoothing: whether the power may fall at once."),
        ("power_smoothing.max_percent_tmp_floor", "Power smoothing: greatest floor in percent."),
        ("power_smoothing.min_percent_tmp_floor", "Power smoothing: least floor in percent."),
    )
    + _unanswered(
        "W",
        ("power_smoothing.primary_power_floor", "Power smoothing: first floor."),
        ("power_smoothing.secondary_power_floor", "Power smoothing: second floor."),
        ("power_smoothing.min_primary_floor_activation_offset", "Power smoothing: least offset of the first floor."),
        ("power_smoothing.min_primary_floor_activation_point", "Power smoothing: least power of the first floor."),
    )
    + _unanswered("ms", ("power_smoothing.window_multiplier", "Power smoothing: multiplier of the window."))
    + _unanswered(
        "",
        ("power_smoothing.num_preset_profiles", "Power smoothing: number of profiles."),
        ("power_smoothing.curr_profile.percent_tmp_floor", "Power smoothing profile: floor in percent."),
        ("power_smoothing.curr_profile.ramp_up_rate", "Power smoothing profile: how fast the power may rise."),
        ("power_smoothing.curr_profile.ramp_down_rate", "Power smoothing profile: how fast the power may fall."),
        ("power_smoothing.curr_profile.ramp_down_hysteresis", "Power smoothing profile: delay of the fall."),
    )
    + _unanswered("W", ("power_smoothing.curr_profile.secondary_power_floor", "Power smoothing profile: second floor."))
    + _unanswered(
        "",
        (
            "power_smoothing.curr_profile.primary_floor_act_window_multiplier",
            "Power smoothing profile: window of the first floor's start.",
        ),
        (
            "power_smoothing.curr_profile.primary_floor_tar_window_multiplier",
            "Power smoothing profile: window of the first floor's target.",
        ),
    )
    + _unanswered(
        "W",
        (
            "power_smoothing.curr_profile.primary_floor_act_offset",
            "Power smoothing profile: offset of the first floor.",
        ),
    )
    + _unanswered(
        "",
        ("power_smoothing.active_profile", "Power smoothing: number of the profile in force."),
        ("power_smoothing.admin_override.percent_tmp_floor", "Power smoothing override: floor in percent."),
        ("power_smoothing.admin_override.ramp_up_rate", "Power smoothing override: how fast the power may rise."),
        ("power_smoothing.admin_override.ramp_down_rate", "Power smoothing override: how fast the power may fall."),
        ("power_smoothing.admin_override.ramp_down_hysteresis", "Power smoothing override: delay of the fall."),
    )
    + _unanswered(
        "W", ("power_smoothing.admin_override.secondary_power_floor", "Power smoothing override: second floor.")
    )
    + _unanswered(
        "",
        (
            "power_smoothing.admin_override.primary_floor_act_window_multiplier",
            "Power smoothing override: window of the first floor's start.",
        ),
        (
            "power_smoothing.admin_override.primary_floor_tar_window_multiplier",
            "Power smoothing override: window of the first floor's target.",
        ),
    )
    + _unanswered(
        "W",
        (
            "power_smoothing.admin_override.primary_floor_act_offset",
            "Power smoothing override: offset of the first floor.",
        ),
    )
    + _unanswered("%", ("edpp_multiplier", "Multiplier of the peak power limit."))
    + [
        (
            ("clocks.current.graphics", "clocks.gr"),
            "MHz",
            plain(pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_GRAPHICS),
            "Clock of the GPU.",
        ),
        (
            ("clocks.current.sm", "clocks.sm"),
            "MHz",
            plain(pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_SM),
            "Clock of the multiprocessors, which is the GPU's.",
        ),
        (
            ("clocks.current.memory", "clocks.mem"),
            "MHz",
            plain(pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_MEM),
            "Clock of the device memory.",
        ),
        (
            ("clocks.current.video", "clocks.video"),
            "MHz",
            plain(pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_VIDEO),
            "Clock of the video engine.",
        ),
        (
            ("clocks.applications.graphics", "clocks.applications.gr"),
            "MHz",
            plain(pymtml.nvmlDeviceGetApplicationsClock, pymtml.NVML_CLOCK_GRAPHICS),
            "Clock of the GPU that was set for applications.",
        ),
        (
            ("clocks.applications.memory", "clocks.applications.mem"),
            "MHz",
            plain(pymtml.nvmlDeviceGetApplicationsClock, pymtml.NVML_CLOCK_MEM),
            "Clock of the device memory that was set for applications.",
        ),
        (
            ("clocks.default_applications.graphics", "clocks.default_applications.gr"),
            "MHz",
            plain(pymtml.nvmlDeviceGetDefaultApplicationsClock, pymtml.NVML_CLOCK_GRAPHICS),
            "Clock of the GPU for applications by default.",
        ),
        (
            ("clocks.default_applications.memory", "clocks.default_applications.mem"),
            "MHz",
            plain(pymtml.nvmlDeviceGetDefaultApplicationsClock, pymtml.NVML_CLOCK_MEM),
            "Clock of the device memory for applications by default.",
        ),
        (
            ("clocks.max.graphics", "clocks.max.gr"),
            "MHz",
            plain(pymtml.nvmlDeviceGetMaxClockInfo, pymtml.NVML_CLOCK_GRAPHICS),
            "Greatest clock of the GPU.",
        ),
        (
            ("clocks.max.sm",),
            "MHz",
            plain(pymtml.nvmlDeviceGetMaxClockInfo, pymtml.NVML_CLOCK_SM),
            "Greatest clock of the multiprocessors, which is the GPU's.",
        ),
        (
            ("clocks.max.memory", "clocks.max.mem"),
            "MHz",
            plain(pymtml.nvmlDeviceGetMaxClockInfo, pymtml.NVML_CLOCK_MEM),
            "Greatest clock of the device memory.",
        ),
        (
            ("mig.mode.current",),
            "",
            switch_item(0, pymtml.nvmlDeviceGetMigMode),
            "Whether the card is divided into instances (MPC).",
        ),
        (
            ("mig.mode.pending",),
            "",
            switch_item(1, pymtml.nvmlDeviceGetMigMode),
            "The same; MPC changes at once.",
        ),
    ]
    + _unanswered(
        "",
        ("gsp.mode.current", "Whether a system processor's firmware is in use."),
        ("gsp.mode.default", "Whether it is in use by default."),
        ("c2c.mode", "Whether the chip is linked to a processor chip."),
    )
    + _unanswered(
        "MiB",
        ("protected_memory.total", "Protected device memory."),
        ("protected_memory.used", "Protected device memory in use."),
        ("protected_memory.free", "Protected device memory that is free."),
    )
    + _unanswered(
        "",
        ("fabric.state", "State of the registration with a fabric."),
        ("fabric.status", "Result of the registration with a fabric."),
        ("fabric.cliqueId", "Clique of the fabric that the GPU belongs to."),
        ("fabric.clusterUuid", "Cluster that the GPU belongs to."),
        ("fabric.health.summary", "Fabric: state as a whole."),
        ("fabric.health.bandwidth", "Fabric: whether the bandwidth is degraded."),
        ("fabric.health.route_recovery_in_progress", "Fabric: whether routes are being recovered."),
        ("fabric.health.route_unhealthy", "Fabric: whether a route is faulty."),
        ("fabric.health.access_timeout_recovery", "Fabric: whether time-outs are being recovered from."),
        ("fabric.health.incorrect_configuration", "Fabric: whether the configuration is wrong."),
        ("fabric.health.partition_assigned", "Fabric: whether a partition is assigned."),
        ("platform.chassis_serial_number", "Serial number of the chassis."),
        ("platform.slot_number", "Slot of the chassis."),
        ("platform.tray_index", "Tray of the chassis."),
        ("platform.host_id", "Host within the slot."),
        ("platform.peer_type", "How the GPUs of the platform are joined."),
        ("platform.module_id", "Number of the GPU within the host."),
        ("platform.gpu_fabric_guid", "Fabric id of the GPU."),
        ("hostname", "Host name that was set for the GPU."),
        ("kmd_version", "Version of the kernel mode driver of Windows."),
        ("gpu.base.current", "Base of the GPU, now."),
        ("gpu.base.requested", "Base of the GPU that was asked for."),
        ("gpu.base.default", "Base of the GPU by default."),
        ("gpu.base.min", "Least base of the GPU."),
        ("gpu.base.max", "Greatest base of the GPU."),
        ("bbx.time_run", "Time that the card has run, from its black box."),
    )
)

BY_NAME = {name: field for field in FIELDS for name in field[0]}
