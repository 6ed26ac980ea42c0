"""-q: everything in sections, with nvidia-smi's keys, columns and order; `xml_document` writes it as XML."""

import pymtml
from pymtml_cli.devices import Machine, Unknown, ask, musa_version, nobody_tells, then
from pymtml_cli.errors import NVIDIA_SMI, called, refuse
from pymtml_cli.fields import BY_NAME, mebibytes, yes_no
from pymtml_cli.language import SECTIONS
from pymtml_cli.listing import profile, uuid_of
from pymtml_cli.processes import NONE_RUNNING, processes, remarks
from pymtml_cli.samples import Output, repeat
from pymtml_cli.text import safe

KEY_WIDTH, PROCESS_KEY_WIDTH = 55, 42


def field(device, name):
    """A property of --query-gpu with its unit, or an Unknown."""
    _, unit, value, _ = BY_NAME[name]
    return then(value(device), lambda text: text + (" " + unit if unit else ""))


def brand(device):
    """Brand as MTML tells it."""
    return then(
        device.ask(pymtml.mtmlDeviceGetBrand), lambda code: "MTT" if code == pymtml.MTML_BRAND_MTT else "Unknown"
    )


def number(function, form="%s"):
    """What a function answers."""
    return lambda device: then(device.ask(function), lambda answer: form % answer)


def lanes(name):
    """A link width, such as 16x."""
    return lambda device: then(field(device, name), lambda text: text + "x")


def virtualization(device):
    """Whether the device is, or holds, virtual devices."""
    words = {
        pymtml.NVML_GPU_VIRTUALIZATION_MODE_NONE: "None",
        pymtml.NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH: "Pass-Through",
        pymtml.NVML_GPU_VIRTUALIZATION_MODE_VGPU: "VGPU",
        pymtml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU: "Host VGPU",
        pymtml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA: "Host VSGA",
    }
    return then(device.ask(pymtml.nvmlDeviceGetVirtualizationMode), lambda mode: words.get(mode, str(mode)))


def threshold(kind):
    """A temperature at which the card does something."""
    return lambda device: then(device.ask(pymtml.nvmlDeviceGetTemperatureThreshold, kind), lambda value: "%d C" % value)


def celsius(name):
    """A temperature with its unit, which --query-gpu leaves out."""
    return lambda device: then(field(device, name), lambda text: text + " C")


def voltage(device):
    """Voltage of the GPU."""
    return then(device.ask(pymtml.mtmlGpuGetVoltage), lambda value: "%.3f mV" % value)


def bytes_per_second(counter):
    """PCIe throughput."""
    return lambda device: then(device.ask(pymtml.nvmlDeviceGetPcieThroughput, counter), lambda value: "%d KB/s" % value)


def _samples(title):
    """Minimum and maximum of past samples, which MTML does not keep."""
    keys = ("Duration", "Number of Samples", "Max", "Min", "Avg")
    return (title, None, tuple((key, None, nobody_tells) for key in keys))


_N = nobody_tells

# (key, XML tag or None, value): the value is a property of --query-gpu, a function of the device, or such lines.
# The sections of -d that a line of the first level belongs to follow.
TREE = (
    ("Product Name", "product_name", "name"),
    ("Product Brand", "product_brand", brand),
    ("Product Architecture", "product_architecture", _N),
    ("Display Mode", "display_mode", "display_mode"),
    ("Display Attached", "display_attached", "display_attached"),
    ("Display Active", "display_active", "display_active"),
    ("Persistence Mode", "persistence_mode", "persistence_mode"),
    ("Addressing Mode", "addressing_mode", "addressing_mode"),
    (
        "MIG Mode",
        "mig_mode",
        (("Current", "current_mig", "mig.mode.current"), ("Pending", "pending_mig", "mig.mode.pending")),
    ),
    ("Accounting Mode", "accounting_mode", "accounting.mode", "ACCOUNTING"),
    ("Accounting Mode Buffer Size", "accounting_mode_buffer_size", "accounting.buffer_size", "ACCOUNTING"),
    (
        "Driver Model",
        "driver_model",
        (("Current", "current_dm", "driver_model.current"), ("Pending", "pending_dm", "driver_model.pending")),
    ),
    ("Serial Number", "serial", "serial"),
    ("GPU UUID", "uuid", "uuid"),
    ("GPU PDI", "pdi", _N),
    ("Minor Number", "minor_number", number(pymtml.nvmlDeviceGetMinorNumber)),
    ("VBIOS Version", "vbios_version", "vbios_version"),
    (
        "MultiGPU Board",
        "multigpu_board",
        lambda device: then(device.ask(pymtml.nvmlDeviceGetMultiGpuBoard), yes_no),
    ),
    ("Board ID", "board_id", number(pymtml.nvmlDeviceGetBoardId, "0x%x")),
    ("Board Part Number", "board_part_number", _N),
    ("GPU Part Number", "gpu_part_number", _N),
    ("FRU Part Number", "gpu_fru_part_number", _N),
    (
        "Platform Info",
        "platformInfo",
        (
            ("Chassis Serial Number", "chassis_serial_number", "platform.chassis_serial_number"),
            ("Slot Number", "slot_number", "platform.slot_number"),
            ("Tray Index", "tray_index", "platform.tray_index"),
            ("Host ID", "host_id", "platform.host_id"),
            ("Peer Type", "peer_type", "platform.peer_type"),
            ("Module Id", "module_id", "platform.module_id"),
            ("GPU Fabric GUID", "gpu_fabric_guid", "platform.gpu_fabric_guid"),
        ),
    ),
    (
        "Inforom Version",
        "inforom_version",
        (
            ("Image Version", "img_version", "inforom.img"),
            ("OEM Object", "oem_object", "inforom.oem"),
            ("ECC Object", "ecc_object", "inforom.ecc"),
            ("Power Management Object", "pwr_object", "inforom.pwr"),
        ),
    ),
    (
        "Inforom BBX Object Flush",
        "inforom_bbx_flush",
        (("Latest Timestamp", "latest_timestamp", _N), ("Latest Duration", "latest_duration", _N)),
    ),
    (
        "GPU Operation Mode",
        "gpu_operation_mode",
        (("Current", "current_gom", "gom.current"), ("Pending", "pending_gom", "gom.pending")),
    ),
    ("GPU C2C Mode", "c2c_mode", "c2c.mode"),
    (
        "GPU Virtualization Mode",
        "gpu_virtualization_mode",
        (
            ("Virtualization Mode", "virtualization_mode", virtualization),
            ("Host VGPU Mode", "host_vgpu_mode", _N),
            ("vGPU Heterogeneous Mode", "vgpu_heterogeneous_mode", _N),
        ),
    ),
    ("GPU Recovery Action", "gpu_recovery_action", "gpu_recovery_action"),
    ("GSP Firmware Version", "gsp_firmware_version", _N, "GSP_FIRMWARE_VERSION"),
    ("IBMNPU", "ibmnpu", (("Relaxed Ordering Mode", "relaxed_ordering_mode", _N),)),
    (
        "PCI",
        "pci",
        (
            ("Bus", "pci_bus", "pci.bus"),
            ("Device", "pci_device", "pci.device"),
            ("Domain", "pci_domain", "pci.domain"),
            ("Base Classcode", "pci_base_class", "pci.baseClass"),
            ("Sub Classcode", "pci_sub_class", "pci.subClass"),
            ("Device Id", "pci_device_id", "pci.device_id"),
            ("Bus Id", "pci_bus_id", "pci.bus_id"),
            ("Sub System Id", "pci_sub_system_id", "pci.sub_device_id"),
            (
                "GPU Link Info",
                "pci_gpu_link_info",
                (
                    (
                        "PCIe Generation",
                        "pcie_gen",
                        (
                            ("Max", "max_link_gen", "pcie.link.gen.max"),
                            ("Current", "current_link_gen", "pcie.link.gen.current"),
                            ("Device Current", "device_current_link_gen", "pcie.link.gen.gpucurrent"),
                            ("Device Max", "max_device_link_gen", "pcie.link.gen.gpumax"),
                            ("Host Max", "max_host_link_gen", "pcie.link.gen.hostmax"),
                        ),
                    ),
                    (
                        "Link Width",
                        "link_widths",
                        (
                            ("Max", "max_link_width", lanes("pcie.link.width.max")),
                            ("Current", "current_link_width", lanes("pcie.link.width.current")),
                        ),
                    ),
                ),
            ),
            ("Bridge Chip", "pci_bridge_chip", (("Type", "bridge_chip_type", _N), ("Firmware", "bridge_chip_fw", _N))),
            ("Replays Since Reset", "replay_counter", number(pymtml.nvmlDeviceGetPcieReplayCounter)),
            ("Replay Number Rollovers", "replay_rollover_counter", _N),
            ("Tx Throughput", "tx_util", bytes_per_second(pymtml.NVML_PCIE_UTIL_TX_BYTES)),
            ("Rx Throughput", "rx_util", bytes_per_second(pymtml.NVML_PCIE_UTIL_RX_BYTES)),
            ("Atomic Caps Outbound", "atomic_caps_outbound", _N),
            ("Atomic Caps Inbound", "atomic_caps_inbound", _N),
        ),
    ),
    ("Fan Speed", "fan_speed", "fan.speed"),
    ("Performance State", "performance_state", "pstate", "PERFORMANCE"),
    (
        "Clocks Event Reasons",
        "clocks_event_reasons",
        (
            ("Idle", "clocks_event_reason_gpu_idle", "clocks_event_reasons.gpu_idle"),
            (
                "Applications Clocks Setting",
                "clocks_event_reason_applications_clocks_setting",
                "clocks_event_reasons.applications_clocks_setting",
            ),
            ("SW Power Cap", "clocks_event_reason_sw_power_cap", "clocks_event_reasons.sw_power_cap"),
            ("HW Slowdown", "clocks_event_reason_hw_slowdown", "clocks_event_reasons.hw_slowdown"),
            (
                "    HW Thermal Slowdown",
                "clocks_event_reason_hw_thermal_slowdown",
                "clocks_event_reasons.hw_thermal_slowdown",
            ),
            (
                "    HW Power Brake Slowdown",
                "clocks_event_reason_hw_power_brake_slowdown",
                "clocks_event_reasons.hw_power_brake_slowdown",
            ),
            ("Sync Boost", "clocks_event_reason_sync_boost", "clocks_event_reasons.sync_boost"),
            (
                "SW Thermal Slowdown",
                "clocks_event_reason_sw_thermal_slowdown",
                "clocks_event_reasons.sw_thermal_slowdown",
            ),
            ("Display Clock Setting", "clocks_event_reason_display_clocks_setting", _N),
        ),
        "PERFORMANCE",
    ),
    (
        "Clocks Event Reasons Counters",
        "clocks_event_reasons_counters",
        (
            (
                "SW Power Capping",
                "clocks_event_reasons_counters_sw_power_cap",
                "clocks_event_reasons_counters.sw_power_cap",
            ),
            ("Sync Boost", "clocks_event_reasons_counters_sync_boost", "clocks_event_reasons_counters.sync_boost"),
            (
                "SW Thermal Slowdown",
                "clocks_event_reasons_counters_sw_therm_slowdown",
                "clocks_event_reasons_counters.sw_thermal_slowdown",
            ),
            (
                "HW Thermal Slowdown",
                "clocks_event_reasons_counters_hw_therm_slowdown",
                "clocks_event_reasons_counters.hw_thermal_slowdown",
            ),
            (
                "HW Power Braking",
                "clocks_event_reasons_counters_hw_power_brake",
                "clocks_event_reasons_counters.hw_power_brake_slowdown",
            ),
        ),
        "PERFORMANCE",
    ),
    ("Sparse Operation Mode", "sparse_operation_mode", _N, "PERFORMANCE"),
    (
        "FB Memory Usage",
        "fb_memory_usage",
        (
            ("Total", "total", "memory.total"),
            ("Reserved", "reserved", "memory.reserved"),
            ("Used", "used", "memory.used"),
            ("Free", "free", "memory.free"),
        ),
        "MEMORY",
    ),
    (
        "BAR1 Memory Usage",
        "bar1_memory_usage",
        (("Total", "total", _N), ("Used", "used", _N), ("Free", "free", _N)),
        "MEMORY",
    ),
    (
        "Conf Compute Protected Memory Usage",
        "cc_protected_memory_usage",
        (
            ("Total", "total", "protected_memory.total"),
            ("Used", "used", "protected_memory.used"),
            ("Free", "free", "protected_memory.free"),
        ),
        "MEMORY",
    ),
    ("Compute Mode", "compute_mode", "compute_mode", "COMPUTE"),
    (
        "Utilization",
        "utilization",
        (
            ("GPU", "gpu_util", "utilization.gpu"),
            ("Memory", "memory_util", "utilization.memory"),
            ("Encoder", "encoder_util", "utilization.encoder"),
            ("Decoder", "decoder_util", "utilization.decoder"),
            ("JPEG", "jpeg_util", "utilization.jpeg"),
            ("OFA", "ofa_util", "utilization.ofa"),
        ),
        "UTILIZATION",
    ),
    _samples("GPU Utilization Samples") + ("UTILIZATION",),
    _samples("Memory Utilization Samples") + ("UTILIZATION",),
    _samples("ENC Utilization Samples") + ("UTILIZATION",),
    _samples("DEC Utilization Samples") + ("UTILIZATION",),
    _samples("JPG Utilization Samples") + ("UTILIZATION",),
    _samples("OFA Utilization Samples") + ("UTILIZATION",),
    (
        "Encoder Stats",
        "encoder_stats",
        (
            ("Active Sessions", "session_count", "encoder.stats.sessionCount"),
            ("Average FPS", "average_fps", "encoder.stats.averageFps"),
            ("Average Latency", "average_latency", "encoder.stats.averageLatency"),
        ),
        "ENCODER_STATS",
    ),
    (
        "FBC Stats",
        "fbc_stats",
        (
            ("Active Sessions", "session_count", _N),
            ("Average FPS", "average_fps", _N),
            ("Average Latency", "average_latency", _N),
        ),
        "FBC_STATS",
    ),
    (
        "DRAM Encryption Mode",
        "dram_encryption_mode",
        (
            ("Current", "current_dram_encryption", "dramEncryption.mode.current"),
            ("Pending", "pending_dram_encryption", "dramEncryption.mode.pending"),
        ),
    ),
    (
        "ECC Mode",
        "ecc_mode",
        (("Current", "current_ecc", "ecc.mode.current"), ("Pending", "pending_ecc", "ecc.mode.pending")),
        "ECC",
    ),
    (
        "ECC Errors",
        "ecc_errors",
        tuple(
            (
                counter.title(),
                counter,
                (
                    ("SRAM Correctable", "sram_correctable", "ecc.errors.corrected.%s.sram" % counter),
                    (
                        "SRAM Uncorrectable Parity",
                        "sram_uncorrectable_parity",
                        "ecc.errors.uncorrected.%s.sram.parity" % counter,
                    ),
                    (
                        "SRAM Uncorrectable SEC-DED",
                        "sram_uncorrectable_secded",
                        "ecc.errors.uncorrected.%s.sram.secded" % counter,
                    ),
                    ("DRAM Correctable", "dram_correctable", "ecc.errors.corrected.%s.dram" % counter),
                    ("DRAM Uncorrectable", "dram_uncorrectable", "ecc.errors.uncorrected.%s.dram" % counter),
                )
                + (
                    (
                        (
                            "SRAM Threshold Exceeded",
                            "sram_threshold_exceeded",
                            "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded",
                        ),
                    )
                    if counter == "aggregate"
                    else ()
                ),
            )
            for counter in ("volatile", "aggregate")
        )
        + (
            (
                "Aggregate Uncorrectable SRAM Sources",
                "aggregate_uncorrectable_sram_sources",
                (
                    ("SRAM L2", "sram_l2", "ecc.errors.uncorrected.aggregate.sram.l2"),
                    ("SRAM SM", "sram_sm", "ecc.errors.uncorrected.aggregate.sram.sm"),
                    ("SRAM Microcontroller", "sram_microcontroller", "ecc.errors.uncorrected.aggregate.sram.mcu"),
                    ("SRAM PCIE", "sram_pcie", "ecc.errors.uncorrected.aggregate.sram.pcie"),
                    ("SRAM Other", "sram_other", "ecc.errors.uncorrected.aggregate.sram.other"),
                ),
            ),
            ("Channel Repair Pending", "channel_repair_pending", _N),
            ("TPC Repair Pending", "tpc_repair_pending", _N),
            ("Unrepairable Memory", "unrepairable_memory", _N),
        ),
        "ECC",
    ),
    (
        "Retired Pages",
        "retired_pages",
        (  # `xml_document` lists the pages
            ("Single Bit ECC", None, "retired_pages.single_bit_ecc.count"),
            ("Double Bit ECC", None, "retired_pages.double_bit.count"),
            ("Pending Page Blacklist", None, "retired_pages.pending"),
        ),
        "PAGE_RETIREMENT",
    ),
    (
        "Remapped Rows",
        "remapped_rows",
        (
            ("Correctable Error", "remapped_row_corr", "remapped_rows.correctable"),
            ("Inactive Correctable Error", "remapped_row_corr_inactive", "remapped_rows.correctable_inactive"),
            ("Uncorrectable Error", "remapped_row_unc", "remapped_rows.uncorrectable"),
            ("Inactive Uncorrectable Error", "remapped_row_unc_inactive", "remapped_rows.uncorrectable_inactive"),
            ("Pending", "remapped_row_pending", "remapped_rows.pending"),
            ("Remapping Failure Occurred", "remapped_row_failure", "remapped_rows.failure"),
            (
                "Bank Remap Availability Histogram",
                "row_remapper_histogram",
                (
                    ("Max", "row_remapper_histogram_max", "remapped_rows.histogram.max"),
                    ("High", "row_remapper_histogram_high", "remapped_rows.histogram.high"),
                    ("Partial", "row_remapper_histogram_partial", "remapped_rows.histogram.partial"),
                    ("Low", "row_remapper_histogram_low", "remapped_rows.histogram.low"),
                    ("None", "row_remapper_histogram_none", "remapped_rows.histogram.none"),
                ),
            ),
        ),
        "ROW_REMAPPER",
    ),
    (
        "Temperature",
        "temperature",
        (
            ("GPU Current Temp", "gpu_temp", celsius("temperature.gpu")),
            ("GPU T.Limit Temp", "gpu_temp_tlimit", celsius("temperature.gpu.tlimit")),
            (
                "GPU Shutdown Temp",
                "gpu_temp_max_threshold",
                threshold(pymtml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN),
            ),
            (
                "GPU Slowdown Temp",
                "gpu_temp_slow_threshold",
                threshold(pymtml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN),
            ),
            (
                "GPU Max Operating Temp",
                "gpu_temp_max_gpu_threshold",
                threshold(pymtml.NVML_TEMPERATURE_THRESHOLD_GPU_MAX),
            ),
            ("GPU Target Temperature", "gpu_target_temperature", _N),
            ("Memory Current Temp", "memory_temp", celsius("temperature.memory")),
            (
                "Memory Max Operating Temp",
                "gpu_temp_max_mem_threshold",
                threshold(pymtml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX),
            ),
        ),
        "TEMPERATURE",
    ),
    (
        "Supported GPU_TARGET_TEMP",
        "supported_gpu_target_temp",
        (("Min", "gpu_target_temp_min", _N), ("Max", "gpu_target_temp_max", _N)),
        "SUPPORTED_GPU_TARGET_TEMP",
    ),
    (
        "GPU Power Readings",
        "gpu_power_readings",
        (
            ("Average Power Draw", "average_power_draw", "power.draw"),
            ("Instantaneous Power Draw", "instant_power_draw", "power.draw.instant"),
            ("Current Power Limit", "current_power_limit", "enforced.power.limit"),
            ("Requested Power Limit", "requested_power_limit", "power.limit"),
            ("Default Power Limit", "default_power_limit", "power.default_limit"),
            ("Min Power Limit", "min_power_limit", "power.min_limit"),
            ("Max Power Limit", "max_power_limit", "power.max_limit"),
        ),
        "POWER",
    ),
    _samples("Power Samples") + ("POWER",),
    (
        "GPU Memory Power Readings ",
        "gpu_memory_power_readings",
        (("Average Power Draw", "average_power_draw", _N), ("Instantaneous Power Draw", "instant_power_draw", _N)),
        "POWER",
    ),
    (
        "Module Power Readings",
        "module_power_readings",
        (
            ("Average Power Draw", "average_power_draw", "module.power.draw.average"),
            ("Instantaneous Power Draw", "instant_power_draw", "module.power.draw.instant"),
            ("Current Power Limit", "current_power_limit", "module.enforced.power.limit"),
            ("Requested Power Limit", "requested_power_limit", "module.power.limit"),
            ("Default Power Limit", "default_power_limit", "module.power.default_limit"),
            ("Min Power Limit", "min_power_limit", "module.power.min_limit"),
            ("Max Power Limit", "max_power_limit", "module.power.max_limit"),
        ),
        "POWER",
    ),
    ("Power Smoothing", "power_smoothing", _N, "POWER_SMOOTHING"),
    (
        "Workload Power Profiles",
        "power_profiles",
        (
            ("Requested Profiles", "power_profile_requested_profiles", _N),
            ("Enforced Profiles", "power_profile_enforced_profiles", _N),
        ),
        "POWER_PROFILES",
    ),
    ("EDPp Multiplier", "edpp_multiplier", "edpp_multiplier"),
    (
        "Clocks",
        "clocks",
        (
            ("Graphics", "graphics_clock", "clocks.current.graphics"),
            ("SM", "sm_clock", "clocks.current.sm"),
            ("Memory", "mem_clock", "clocks.current.memory"),
            ("Video", "video_clock", "clocks.current.video"),
        ),
        "CLOCK",
    ),
    (
        "Applications Clocks",
        "applications_clocks",
        (
            ("Graphics", "graphics_clock", "clocks.applications.graphics"),
            ("Memory", "mem_clock", "clocks.applications.memory"),
        ),
        "CLOCK",
    ),
    (
        "Default Applications Clocks",
        "default_applications_clocks",
        (
            ("Graphics", "graphics_clock", "clocks.default_applications.graphics"),
            ("Memory", "mem_clock", "clocks.default_applications.memory"),
        ),
        "CLOCK",
    ),
    ("Deferred Clocks", "deferred_clocks", (("Memory", "mem_clock", _N),), "CLOCK"),
    (
        "Max Clocks",
        "max_clocks",
        (
            ("Graphics", "graphics_clock", "clocks.max.graphics"),
            ("SM", "sm_clock", "clocks.max.sm"),
            ("Memory", "mem_clock", "clocks.max.memory"),
            (
                "Video",
                "video_clock",
                lambda device: then(
                    device.ask(pymtml.nvmlDeviceGetMaxClockInfo, pymtml.NVML_CLOCK_VIDEO), lambda mhz: "%d MHz" % mhz
                ),
            ),
        ),
        "CLOCK",
    ),
    ("Max Customer Boost Clocks", "max_customer_boost_clocks", (("Graphics", "graphics_clock", _N),), "CLOCK"),
    _samples("SM Clock Samples") + ("CLOCK",),
    _samples("Memory Clock Samples") + ("CLOCK",),
    (
        "Clock Policy",
        "clock_policy",
        (("Auto Boost", "auto_boost", _N), ("Auto Boost Default", "auto_boost_default", _N)),
        "CLOCK",
    ),
    ("Voltage", "voltage", (("Graphics", "graphics_volt", voltage),), "VOLTAGE"),
    (
        "Fabric",
        "fabric",
        (
            ("State", "state", "fabric.state"),
            ("Status", "status", "fabric.status"),
            ("CliqueId", "cliqueId", "fabric.cliqueId"),
            ("ClusterUUID", "clusterUuid", "fabric.clusterUuid"),
            (
                "Health",
                "health",
                (
                    ("Summary", "summary", "fabric.health.summary"),
                    ("Bandwidth", "bandwidth", "fabric.health.bandwidth"),
                    (
                        "Route Recovery in progress",
                        "route_recovery_in_progress",
                        "fabric.health.route_recovery_in_progress",
                    ),
                    ("Route Unhealthy", "route_unhealthy", "fabric.health.route_unhealthy"),
                    ("Access Timeout Recovery", "access_timeout_recovery", "fabric.health.access_timeout_recovery"),
                    ("Incorrect Configuration", "incorrect_configuration", "fabric.health.incorrect_configuration"),
                    ("Partition Assigned", "partition_assigned", "fabric.health.partition_assigned"),
                ),
            ),
        ),
    ),
    ("Supported Clocks", "supported_clocks", _N, "SUPPORTED_CLOCKS"),
    ("Processes", "processes", None, "PIDS"),
    ("Accounted Processes", "accounted_processes", lambda device: "None", "ACCOUNTING"),
    ("Capabilities", "capabilities", (("EGM", "egm", _N),)),
)

# Shown only where -d asks for them
ONLY_CHOSEN = ("Samples", "Supported GPU_TARGET_TEMP", "Supported Clocks", "Accounted Processes", "Voltage")


def value_of(device, source):
    """Text of a line: of a property of --query-gpu, or what a function of the device says."""
    return str(field(device, source) if isinstance(source, str) else source(device))


def answer(options):
    """Print the answer to -q (exit status)."""
    with Output(options.get("filename")) as output:
        screen = Screen(options)
        with Machine() as machine:
            cards = machine.chosen(options.get("id"))
            repeat(machine, options.seconds, lambda first: output.write(screen.text(machine, cards)))
    return 0


class Screen:
    """The answer to -q.

    Raises: CommandError for sections that are not known.
    """

    def __init__(self, options):
        self._smi = called() == NVIDIA_SMI
        self._units = options.get("unit")
        self._chosen = None
        if options.get("display") is not None:
            self._chosen = options.get("display").upper().split(",")
            if not set(self._chosen) <= set(SECTIONS):
                raise refuse("Failed to parse --display/-d flags\n")

    def text(self, machine, cards):
        """The answer as it is printed."""
        return "\n".join(self._lines(machine, cards)) + "\n"

    def _versions(self, machine):
        versions = [("Timestamp", machine.time.long), ("Driver Version", machine.driver_version)]
        if self._smi:
            return versions + [("CUDA Version", musa_version())]
        return versions + [("MTML Version", ask(pymtml.nvmlSystemGetNVMLVersion)), ("MUSA Version", musa_version())]

    def _lines(self, machine, cards):
        lines = ["", "=" * 14 + ("NVSMI" if self._smi else "PYMTML") + " LOG" + "=" * 14, ""]
        lines += [_line(key, value) for key, value in self._versions(machine)] + [""]
        if self._units:
            return lines + [_line("HIC Info", "N/A"), _line("Attached Units", "0"), ""]
        lines.append(_line("Attached GPUs", str(len(machine.cards))))
        for card in cards:
            lines.append("GPU %s" % safe(value_of(card, "pci.bus_id")))
            lines += self._card_lines(card) + [""]
        return lines

    def _shown(self, line):
        if self._chosen is None:
            return not line[0].endswith(ONLY_CHOSEN)
        return len(line) > 3 and line[3] in self._chosen

    def _card_lines(self, card):
        lines = []
        for line in TREE:
            if not self._shown(line):
                continue
            if line[2] is None:
                lines += _process_lines(card)
            else:
                lines += _branch(card, line, 1, self._smi)
            if line[0] == "MIG Mode":
                for instance in card.instances:
                    lines += _instance_lines(instance, self._smi)
        return lines


def _line(key, value, level=0, width=KEY_WIDTH):
    return (" " * (4 * level) + key).ljust(width) + ": " + safe(value)


def _branch(device, line, level, smi):
    key, source = line[0], line[2]
    if not smi and key == "MIG Mode":
        key = "MPC Mode"
    if not isinstance(source, tuple):
        return [_line(key, value_of(device, source), level)]
    lines = [" " * (4 * level) + key]
    for child in source:
        lines += _branch(device, child, level + 1, smi)
    return lines


def _memory_of(process):
    return "N/A" if process.memory is None else "%d MiB" % mebibytes(process.memory)


def _instance_id(process):
    return "N/A" if process.instance is None else str(process.instance.index)


def _process_lines(card):
    known = processes(card)
    if isinstance(known, Unknown):
        return [_line("Processes", known, 1)]
    said = remarks([card], known)
    if not known:
        none = said[0] if said != [NONE_RUNNING] else "None"
        return [_line("Processes", none, 1)] + [_line("", text) for text in said[1:]]
    lines = ["    Processes"] + [_line("Note", text, 2, PROCESS_KEY_WIDTH) for text in said]
    for process in known:
        rows = (
            ("GPU instance ID", _instance_id(process), 2),
            ("Compute instance ID", "N/A", 2),
            ("Process ID", process.pid, 2),
            ("Type", process.kind, 3),
            ("Name", process.name, 3),
            ("Used GPU Memory", _memory_of(process), 3),
        )
        lines += [_line(key, value, level, PROCESS_KEY_WIDTH) for key, value, level in rows]
    return lines


def _instance_lines(instance, smi):
    lines = ["    MIG Device" if smi else "    MPC Instance"]
    rows = (("Index", instance.index), ("GPU Instance ID", instance.index), ("Profile", profile(instance)))
    lines += [_line(key, value, 2) for key, value in rows]
    lines.append(_line("UUID", uuid_of(instance), 2))
    for title, names in (
        ("FB Memory Usage", (("Total", "memory.total"), ("Used", "memory.used"), ("Free", "memory.free"))),
        ("Utilization", (("GPU", "utilization.gpu"), ("Memory", "utilization.memory"))),
    ):
        lines.append("        " + title)
        lines += [_line(key, value_of(instance, name), 3) for key, name in names]
    return lines
