"""--json: everything that pymtml knows, for programs. docs/command.md has the schema.

A value that nobody knows is null, and ``reasons`` of the same object says why.
"""

import os

import pymtml
from pymtml_cli import topo
from pymtml_cli.devices import Machine, Unknown, ask, musa_version, nobody_tells, then, unlisted_instances
from pymtml_cli.errors import CommandError
from pymtml_cli.fields import compute_capability
from pymtml_cli.processes import processes, unseen, unseen_text
from pymtml_cli.samples import Output, repeat
from pymtml_cli.text import json

SCHEMA = 1

MEMORY_TYPES = {pymtml.MTML_MEM_TYPE_LPDDR4: "LPDDR4", pymtml.MTML_MEM_TYPE_GDDR6: "GDDR6"}
LINK_STATES = {
    pymtml.MTML_MTLINK_STATE_DOWN: "down",
    pymtml.MTML_MTLINK_STATE_UP: "up",
    pymtml.MTML_MTLINK_STATE_DOWNGRADE: "downgrade",
}
DISPLAY_TYPES = {
    pymtml.MTML_DISP_INTF_TYPE_DP: "DP",
    pymtml.MTML_DISP_INTF_TYPE_EDP: "eDP",
    pymtml.MTML_DISP_INTF_TYPE_VGA: "VGA",
    pymtml.MTML_DISP_INTF_TYPE_HDMI: "HDMI",
    pymtml.MTML_DISP_INTF_TYPE_LVDS: "LVDS",
}
ENGINES = (
    ("geometry", pymtml.MTML_GPU_ENGINE_GEOMETRY),
    ("2d", pymtml.MTML_GPU_ENGINE_2D),
    ("3d", pymtml.MTML_GPU_ENGINE_3D),
    ("compute", pymtml.MTML_GPU_ENGINE_COMPUTE),
)
ROLES = {
    pymtml.NVML_GPU_VIRTUALIZATION_MODE_NONE: "none",
    pymtml.NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH: "passthrough",
    pymtml.NVML_GPU_VIRTUALIZATION_MODE_VGPU: "guest",
    pymtml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU: "host",
}
LEVEL_NAMES = {
    pymtml.NVML_TOPOLOGY_INTERNAL: "internal",
    pymtml.NVML_TOPOLOGY_SINGLE: "single",
    pymtml.NVML_TOPOLOGY_MULTIPLE: "multiple",
    pymtml.NVML_TOPOLOGY_HOSTBRIDGE: "hostbridge",
    pymtml.NVML_TOPOLOGY_NODE: "node",
    pymtml.NVML_TOPOLOGY_SYSTEM: "system",
}
ERROR_KINDS = (
    ("corrected", pymtml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
    ("uncorrected", pymtml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
)
COUNTERS = (("volatile", pymtml.NVML_VOLATILE_ECC), ("aggregate", pymtml.NVML_AGGREGATE_ECC))
CAUSES = (
    ("single_bit", pymtml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS),
    ("double_bit", pymtml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR),
)


def known(*pairs):
    """An object of the answer: null for an Unknown, with its reason beside it."""
    values = dict(pairs)
    reasons = {key: value.reason for key, value in values.items() if isinstance(value, Unknown)}
    result = {key: None if key in reasons else value for key, value in values.items()}
    if reasons:
        result["reasons"] = reasons
    return result


def attribute(answer, name):
    """An attribute of an answer, or the Unknown itself."""
    return then(answer, lambda value: getattr(value, name))


def item(answer, index):
    """An item of an answer, or the Unknown itself."""
    return then(answer, lambda value: value[index])


def answer(options):
    """Print the answer to --json, which is an object where the library cannot be used, too (exit status)."""
    with Output(options.get("filename")) as output:
        try:
            with Machine() as machine:
                # No cards are an answer, unless some were asked for.
                cards = machine.cards if options.get("id") is None else machine.chosen(options.get("id"))

                def sample(first):
                    output.write(json(machine_object(machine, cards)))

                repeat(machine, options.seconds, sample)
        except CommandError as error:
            output.write(failure(error))
            return error.status
    return 0


def failure(error):
    """The answer to --json where the library cannot be used."""
    return json({"schema": SCHEMA, "host": host(), "error": " ".join(error.text.split()), "status": error.status})


def host():
    """The name of this host."""
    if hasattr(os, "uname"):
        return os.uname()[1]
    import platform

    return platform.node()


def machine_object(machine, cards):
    """The machine."""
    return known(
        ("schema", SCHEMA),
        ("host", host()),
        ("timestamp", machine.time.exact),
        ("pymtml_version", pymtml.__version__),
        ("library_version", ask(pymtml.nvmlSystemGetNVMLVersion)),
        ("driver_version", machine.driver_version),
        ("musa_version", musa_version()),
        ("device_count", len(machine.cards)),
        ("devices", [card_object(card) for card in cards]),
    )


def card_object(card):
    """A card: what an instance has too, and what only a card has."""
    result = device_object(card)
    mode = card.ask(pymtml.nvmlDeviceGetMigMode)
    result["mpc"] = known(
        ("enabled", then(mode, lambda modes: bool(modes[0]))),
        ("instances", unlisted_instances(card) or [instance_object(instance) for instance in card.instances]),
    )
    result["ecc"] = ecc_object(card)
    result["retired_pages"] = retired_object(card)
    result["fans"] = fans(card)
    result["mtlink"] = mtlink_object(card)
    result["topology"] = [pair_object(card, other) for other in card.machine.cards if other is not card]
    shown = displays(card)
    if isinstance(shown, Unknown):
        result.setdefault("reasons", {})["displays"] = shown.reason
    result["displays"] = None if isinstance(shown, Unknown) else shown
    result["processes"] = process_objects(card)
    return result


def instance_object(instance):
    """An MPC instance."""
    result = device_object(instance)
    profile = instance.ask(pymtml.mtmlDeviceGetMpcProfileInfo)
    result["profile"] = known(
        ("name", attribute(profile, "name")),
        ("cores", attribute(profile, "coreCount")),
        ("memory_bytes", then(profile, lambda info: info.memorySizeMB << 20)),
    )
    return result


def device_object(device):
    """What cards and instances have in common."""
    ask_it = device.ask
    brand = ask_it(pymtml.mtmlDeviceGetBrand)
    slot = ask_it(pymtml.mtmlDeviceGetPcieSlotInfo)
    result = known(
        ("index", device.index),
        ("name", ask_it(pymtml.nvmlDeviceGetName)),
        ("brand", then(brand, lambda code: "MTT" if code == pymtml.MTML_BRAND_MTT else "unknown")),
        ("uuid", ask_it(pymtml.nvmlDeviceGetUUID)),
        ("serial_number", ask_it(pymtml.nvmlDeviceGetSerial)),
        ("firmware_version", ask_it(pymtml.nvmlDeviceGetVbiosVersion)),
        ("minor_number", ask_it(pymtml.nvmlDeviceGetMinorNumber)),
        ("gpu_path", ask_it(pymtml.mtmlDeviceGetGpuPath)),
        ("primary_path", ask_it(pymtml.mtmlDeviceGetPrimaryPath)),
        ("render_path", ask_it(pymtml.mtmlDeviceGetRenderPath)),
        ("slot_id", attribute(slot, "slotId")),
        ("slot_name", attribute(slot, "slotName")),
        ("cores", ask_it(pymtml.nvmlDeviceGetNumGpuCores)),
        ("compute_capability", compute_capability(device)),
        ("performance_state", ask_it(pymtml.nvmlDeviceGetPerformanceState)),
        (
            "virtualization",
            then(ask_it(pymtml.nvmlDeviceGetVirtualizationMode), lambda code: ROLES.get(code, str(code))),
        ),
    )
    result["pci"] = pci_object(device)
    result["memory"] = memory_object(device)
    result["utilization"] = utilization_object(device)
    result["temperature"] = temperature_object(device)
    result["power"] = power_object(device)
    result["clocks"] = clocks_object(device)
    result["codec"] = codec_object(device)
    result["affinity"] = known(
        ("cpus", then(topo.cpus(device), topo.ranges)), ("nodes", then(topo.nodes(device), topo.ranges))
    )
    return result


def pci_object(device):
    """PCI address, ids and link."""
    info = device.ask(pymtml.nvmlDeviceGetPciInfo)
    return known(
        ("bus_id", attribute(info, "busId")),
        ("domain", attribute(info, "domain")),
        ("bus", attribute(info, "bus")),
        ("device", attribute(info, "device")),
        ("device_id", then(attribute(info, "pciDeviceId"), lambda number: "0x%08X" % number)),
        ("subsystem_id", then(attribute(info, "pciSubSystemId"), lambda number: "0x%08X" % number)),
        ("generation", device.ask(pymtml.nvmlDeviceGetCurrPcieLinkGeneration)),
        ("max_generation", device.ask(pymtml.nvmlDeviceGetMaxPcieLinkGeneration)),
        ("width", device.ask(pymtml.nvmlDeviceGetCurrPcieLinkWidth)),
        ("max_width", device.ask(pymtml.nvmlDeviceGetMaxPcieLinkWidth)),
        ("replays", device.ask(pymtml.nvmlDeviceGetPcieReplayCounter)),
    )


def memory_object(device):
    """Device memory."""
    info = device.ask(pymtml.nvmlDeviceGetMemoryInfo)
    kind = device.ask(pymtml.mtmlMemoryGetType)
    return known(
        ("total_bytes", attribute(info, "total")),
        ("used_bytes", attribute(info, "used")),
        ("free_bytes", attribute(info, "free")),
        ("system_used_bytes", device.ask(pymtml.mtmlMemoryGetUsedSystem)),
        ("type", then(kind, lambda code: MEMORY_TYPES.get(code, str(code)))),
        ("vendor", device.ask(pymtml.mtmlMemoryGetVendor)),
        ("bus_width_bits", device.ask(pymtml.mtmlMemoryGetBusWidth)),
        ("bandwidth_gigabytes_per_second", device.ask(pymtml.mtmlMemoryGetBandwidth)),
        ("speed_megabits_per_second", device.ask(pymtml.mtmlMemoryGetSpeed)),
    )


def utilization_object(device):
    """Utilization in percent."""
    rates = device.ask(pymtml.nvmlDeviceGetUtilizationRates)
    result = known(
        ("gpu_percent", attribute(rates, "gpu")),
        ("memory_percent", attribute(rates, "memory")),
        ("encoder_percent", item(device.ask(pymtml.nvmlDeviceGetEncoderUtilization), 0)),
        ("decoder_percent", item(device.ask(pymtml.nvmlDeviceGetDecoderUtilization), 0)),
    )
    engines = [(name + "_percent", device.ask(pymtml.mtmlGpuGetEngineUtilization, code)) for name, code in ENGINES]
    result["engines"] = known(*engines)
    return result


def temperature_object(device):
    """Temperatures in degrees Celsius."""
    limit = pymtml.nvmlDeviceGetTemperatureThreshold
    return known(
        ("gpu_celsius", device.ask(pymtml.nvmlDeviceGetTemperature, pymtml.NVML_TEMPERATURE_GPU)),
        ("memory_celsius", device.field(pymtml.NVML_FI_DEV_MEMORY_TEMP)),
        ("slowdown_celsius", device.ask(limit, pymtml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)),
        ("shutdown_celsius", device.ask(limit, pymtml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN)),
    )


def power_object(device):
    """Power in milliwatts, voltage in millivolts."""
    return known(
        ("draw_milliwatts", device.ask(pymtml.nvmlDeviceGetPowerUsage)),
        ("limit_milliwatts", device.ask(pymtml.nvmlDeviceGetEnforcedPowerLimit)),
        ("default_limit_milliwatts", device.ask(pymtml.nvmlDeviceGetPowerManagementDefaultLimit)),
        ("gpu_millivolts", device.ask(pymtml.mtmlGpuGetVoltage)),
    )


def clocks_object(device):
    """Clocks in MHz."""
    pairs = []
    for name, code in (
        ("graphics", pymtml.NVML_CLOCK_GRAPHICS),
        ("memory", pymtml.NVML_CLOCK_MEM),
        ("video", pymtml.NVML_CLOCK_VIDEO),
    ):
        pairs.append((name + "_megahertz", device.ask(pymtml.nvmlDeviceGetClockInfo, code)))
        pairs.append(("max_%s_megahertz" % name, device.ask(pymtml.nvmlDeviceGetMaxClockInfo, code)))
    return known(*pairs)


def codec_object(device):
    """Sessions of the video engine."""
    capacity = device.ask(pymtml.mtmlVpuGetCodecCapacity)
    stats = device.ask(pymtml.nvmlDeviceGetEncoderStats)
    return known(
        ("max_encoder_sessions", item(capacity, 0)),
        ("max_decoder_sessions", item(capacity, 1)),
        ("encoder_sessions", item(stats, 0)),
        ("encoder_frames_per_second", item(stats, 1)),
    )


def ecc_object(card):
    """ECC mode and error counters."""
    modes = card.ask(pymtml.nvmlDeviceGetEccMode)
    pairs = [
        ("enabled", then(modes, lambda pair: bool(pair[0]))),
        ("pending", then(modes, lambda pair: bool(pair[1]))),
    ]
    for kind_name, kind in ERROR_KINDS:
        for counter_name, counter in COUNTERS:
            count = card.ask(pymtml.nvmlDeviceGetTotalEccErrors, kind, counter)
            pairs.append(("%s_%s" % (kind_name, counter_name), count))
    return known(*pairs)


def retired_object(card):
    """Retired pages: addresses, and whether some wait for a reboot."""
    pairs = [
        (
            name,
            then(card.ask(pymtml.nvmlDeviceGetRetiredPages, cause), lambda pages: ["0x%016x" % page for page in pages]),
        )
        for name, cause in CAUSES
    ]
    pending = then(card.ask(pymtml.nvmlDeviceGetRetiredPagesPendingStatus), bool)
    return known(("pending", pending), *pairs)


def fans(card):
    """Fans: target in percent, revolutions per minute."""
    count = card.ask(pymtml.nvmlDeviceGetNumFans)
    if isinstance(count, Unknown):
        return known(("count", count))
    return {
        "count": count,
        "speeds": [
            known(
                ("target_percent", card.ask(pymtml.nvmlDeviceGetFanSpeed_v2, fan)),
                ("rpm", card.ask(pymtml.mtmlDeviceGetFanRpm, fan)),
            )
            for fan in range(count)
        ],
    }


def mtlink_object(card):
    """MtLinks."""
    spec = card.ask(pymtml.mtmlDeviceGetMtLinkSpec)
    result = known(
        ("version", attribute(spec, "version")),
        ("bandwidth_gigabytes_per_second", attribute(spec, "bandWidth")),
        ("count", attribute(spec, "linkNum")),
    )
    result["links"] = [] if isinstance(spec, Unknown) else [link_object(card, link) for link in range(spec.linkNum)]
    return result


def link_object(card, link):
    """An MtLink: its state, and the card at its other end."""
    state = card.ask(pymtml.mtmlDeviceGetMtLinkState, link)
    remote = then(card.ask(pymtml.mtmlDeviceGetMtLinkRemoteDevice, link), lambda handle: index_of(card, handle))
    return known(
        ("link", link), ("state", then(state, lambda code: LINK_STATES.get(code, str(code)))), ("remote", remote)
    )


def index_of(card, handle):
    """Index of the card with a handle, or an Unknown for a card that is not visible."""
    hidden = Unknown(pymtml.NVMLError(pymtml.NVML_ERROR_NOT_FOUND))
    return next((other.index for other in card.machine.cards if other.handle == handle), hidden)


def pair_object(card, other):
    """How a card is joined to another."""
    level = card.ask(pymtml.nvmlDeviceGetTopologyCommonAncestor, other.handle)
    pairs = [
        ("device", other.index),
        ("level", then(level, lambda code: LEVEL_NAMES.get(code, str(code)))),
        ("mtlinks", topo.link_count(card, other)),
    ]
    for name, letter in (("read", "r"), ("write", "w")):
        status = card.ask(pymtml.nvmlDeviceGetP2PStatus, other.handle, topo.P2P_INDEXES[letter])
        pairs.append((name, then(status, lambda code: code == pymtml.NVML_P2P_STATUS_OK)))
    return known(*pairs)


def displays(card):
    """Display interfaces, or the Unknown for which they cannot be counted."""
    count = card.ask(pymtml.mtmlDeviceCountDisplayInterface)
    if isinstance(count, Unknown):
        return count
    result = []
    for number in range(count):
        spec = card.ask(pymtml.mtmlDeviceGetDisplayInterfaceSpec, number)
        result.append(
            known(
                ("type", then(attribute(spec, "type"), lambda code: DISPLAY_TYPES.get(code, str(code)))),
                ("max_width", attribute(spec, "maxHoriRes")),
                ("max_height", attribute(spec, "maxVertRes")),
                ("max_refresh_hertz", attribute(spec, "maxRefreshRate")),
            )
        )
    return result


def process_objects(card):
    """Processes; null, with a reason, where nothing tells them; a reason beside the list where there may be others."""
    found = processes(card)
    if isinstance(found, Unknown):
        return known(("list", found), ("unseen", found))
    number = unseen([card])
    result = {
        "list": [
            known(
                ("pid", process.pid),
                ("type", process.kind),
                ("name", process.name),
                ("instance", None if process.instance is None else process.instance.index),
                ("memory_bytes", nobody_tells() if process.memory is None else process.memory),
            )
            for process in found
        ],
        "unseen": number,
    }
    if number:
        result["reasons"] = {"list": "there may be others: " + unseen_text(number)}
    return result
