"""capture: walks a machine through the MTML C API and prints a profile that the simulator loads.

This file also runs by itself beside a lone pymtml.py: python capture.py > machine.ini. It asks, and changes nothing.
What tells one machine from another is masked unless --unmasked; the head of the profile says what is left in.
"""

import argparse
import re
import sys
import time

import pymtml

CPU_WORDS, NODE_WORDS = 64, 16
WORD_BITS = 8 * pymtml.sizeof(pymtml.c_ulong)
UNREACHABLE = 12
MOST = 256  # cards, fans or displays that are asked, whatever number of them the driver claims


def words(prefix):
    """The words that profiles have for the values of an enum of C: the ends of their names, without its size (dict)."""
    names = [name for name in dir(pymtml) if name.startswith(prefix) and not name.endswith(("_COUNT", "_MAX"))]
    return {getattr(pymtml, name): name[len(prefix) :] for name in names}


BRANDS = words("MTML_BRAND_")
MEMORY_TYPES = words("MTML_MEM_TYPE_")
LEVELS = words("MTML_TOPOLOGY_")
P2P = words("MTML_P2P_STATUS_")
LINK_STATES = words("MTML_MTLINK_STATE_")
LINK_STATUS = words("MTML_MTLINK_CAP_STATUS_")
DISPLAYS = words("MTML_DISP_INTF_TYPE_")
CODECS = words("MTML_CODEC_TYPE_")
SESSION_STATES = words("MTML_CODEC_SESSION_STATE_")
SWITCH = {0: "DISABLE", 1: "ENABLE"}
# The C API does not tell the generation; the high byte of the PCI device id does.
GENERATIONS = {1: "SUDI", 2: "CHUNXIAO", 3: "QUYUAN", 4: "PINGHU"}
NEWEST_GENERATION = "PINGHU"
# The codes of C, by the names that profiles have for them; the others are pymtml's own.
CODES = {
    code: name
    for code, name in words("MTML_ERROR_").items()
    if not pymtml.MTML_ERROR_UNINITIALIZED <= code <= pymtml.MTML_ERROR_LIBRARY_NOT_FOUND
}

# Keys that hold one number or text: (key, function, arguments, names of the answer's values or None)
PLAIN = (
    ("name", "mtmlDeviceGetName", (), None),
    ("uuid", "mtmlDeviceGetUUID", (), None),
    ("serial_number", "mtmlDeviceGetSerialNumber", (), None),
    ("mtbios_version", "mtmlDeviceGetMtBiosVersion", (), None),
    ("gpu_path", "mtmlDeviceGetGpuPath", (), None),
    ("primary_path", "mtmlDeviceGetPrimaryPath", (), None),
    ("render_path", "mtmlDeviceGetRenderPath", (), None),
    ("brand", "mtmlDeviceGetBrand", (), BRANDS),
    ("gpu_cores", "mtmlDeviceCountGpuCores", (), None),
    ("power_usage", "mtmlDeviceGetPowerUsage", (), None),
    ("gpu_utilization", "mtmlGpuGetUtilization", (), None),
    ("gpu_temperature", "mtmlGpuGetTemperature", (), None),
    ("gpu_clock", "mtmlGpuGetClock", (), None),
    ("gpu_max_clock", "mtmlGpuGetMaxClock", (), None),
    ("memory_total", "mtmlMemoryGetTotal", (), None),
    ("memory_used", "mtmlMemoryGetUsed", (), None),
    ("memory_used_system", "mtmlMemoryGetUsedSystem", (), None),
    ("memory_utilization", "mtmlMemoryGetUtilization", (), None),
    ("memory_clock", "mtmlMemoryGetClock", (), None),
    ("memory_max_clock", "mtmlMemoryGetMaxClock", (), None),
    ("memory_bus_width", "mtmlMemoryGetBusWidth", (), None),
    ("memory_bandwidth", "mtmlMemoryGetBandwidth", (), None),
    ("memory_speed", "mtmlMemoryGetSpeed", (), None),
    ("memory_vendor", "mtmlMemoryGetVendor", (), None),
    ("memory_type", "mtmlMemoryGetType", (), MEMORY_TYPES),
    ("vpu_clock", "mtmlVpuGetClock", (), None),
    ("vpu_max_clock", "mtmlVpuGetMaxClock", (), None),
    ("ecc_corrected_volatile", "mtmlMemoryGetEccErrorCounter", (0, 0, pymtml.MTML_MEMORY_LOCATION_DRAM), None),
    ("ecc_corrected_aggregate", "mtmlMemoryGetEccErrorCounter", (0, 1, pymtml.MTML_MEMORY_LOCATION_DRAM), None),
    ("ecc_uncorrected_volatile", "mtmlMemoryGetEccErrorCounter", (1, 0, pymtml.MTML_MEMORY_LOCATION_DRAM), None),
    ("ecc_uncorrected_aggregate", "mtmlMemoryGetEccErrorCounter", (1, 1, pymtml.MTML_MEMORY_LOCATION_DRAM), None),
    ("retired_pages_pending", "mtmlMemoryGetRetiredPagesPendingStatus", (), {0: "no", 1: "yes"}),
    ("pcie_replay_counter", "mtmlDeviceGetPcieReplayCounter", (), None),
    ("performance_state", "mtmlDeviceGetPerformanceState", (), None),
    ("enforced_power_limit", "mtmlGpuGetEnforcedPowerLimit", (), None),
    ("default_power_limit", "mtmlGpuGetPowerManagementDefaultLimit", (), None),
    ("shutdown_temperature", "mtmlGpuGetTemperatureThreshold", (0,), None),
    ("slowdown_temperature", "mtmlGpuGetTemperatureThreshold", (1,), None),
    ("gpu_voltage", "mtmlGpuGetVoltage", (), None),
    ("memory_temperature", "mtmlMemoryGetTemperature", (), None),
)
# What tells one machine from another; the nodes as Linux names them do not
MASKED = ("uuid", "serial_number", "gpu_path", "primary_path", "render_path")
NODE_FORMS = {"gpu_path": "/dev/mtgpu.%d", "primary_path": "/dev/dri/card%d", "render_path": "/dev/dri/renderD%d"}
NODES = {kind: re.compile(re.escape(form).replace("%d", "[0-9]+") + r"\Z") for kind, form in NODE_FORMS.items()}
SERIAL_LENGTH, SERIAL_KEPT = 12, 4
MASKED_TEXT = "Masked: serial numbers, UUIDs, names of slots, paths of nodes that are not Linux's own."
LEFT_TEXT = (
    "Left in: names, versions, PCI addresses and ids, numbers of slots, CPUs and NUMA nodes, and what was measured."
)

# Asked so that a refusal is known, though the answer stands elsewhere
ALSO_ASKED = ("mtmlDeviceGetVbiosVersion",)


class Failed:
    """In the place of an answer: the MTML code that a function gave."""

    def __init__(self, code):
        self.code = code


class Walk:
    """A machine while it is asked: its cards, and what failed."""

    def __init__(self, unmasked):
        self.unmasked = unmasked
        self.failures = []  # (function, device's label, code)
        self.excesses = []  # what there are more of than are asked, as comments
        self.masks = {}
        self.definitions = {}  # section: keys, of types and configurations that cards share
        self.label = "machine"

    def ask(self, function, *arguments):
        """What a function answers, or a Failed."""
        try:
            return getattr(pymtml, function)(*arguments)
        except pymtml.MTMLError as error:
            code = error.mtml_code if error.mtml_code is not None else error.value
            self.failures.append((function, self.label, code))
            return Failed(code)

    def count(self, function, *arguments):
        """How many of something there are, at most MOST; none where that fails."""
        answer = self.ask(function, *arguments)
        if isinstance(answer, Failed):
            return 0
        if answer > MOST:
            self.excesses.append("# %s: %d (%s); the first %d were asked" % (function, answer, self.label, MOST))
        return min(answer, MOST)

    def masked(self, kind, text):
        """A text that tells one machine from another, replaced by another of the same form unless --unmasked."""
        if self.unmasked or not text or (kind in NODES and NODES[kind].match(text)):
            return text
        number = len([key for key in self.masks if key[0] == kind]) + 1
        number = self.masks.setdefault((kind, text), number)
        if kind == "uuid":
            return "00000000-0000-0000-0000-%012x" % number
        if kind == "slot_name":
            return "slot %d" % number
        if kind in NODES:
            return NODE_FORMS[kind] % (number - 1)
        kept = SERIAL_KEPT if len(text) >= SERIAL_LENGTH else 0  # the product, of one that is long enough to tell more
        return text[:kept] + ("%d" % number).rjust(len(text) - kept, "0")


def escaped(text):
    """A text as profiles write it, in ASCII whatever the locale."""
    result = ""
    for character in text:
        if character == "\\":
            result += "\\\\"
        elif character.isascii() and character.isprintable():
            result += character
        else:
            encoded = character.encode("utf-8")
            result += {"\n": "\\n", "\t": "\\t"}.get(character) or "".join("\\x%02x" % byte for byte in encoded)
    if result.startswith(" "):
        result = "\\s" + result[1:]
    return result[:-1] + "\\s" if result.endswith(" ") else result


def identifier(text):
    """A text as the name of a section, which has no escapes."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)


def named(names, code):
    """An enumeration's value by name, or the number that has none."""
    return names.get(code, str(code))


def mask_ranges(words):
    """Bits of words as 0-31,64-95."""
    numbers = [
        word * WORD_BITS + bit for word, value in enumerate(words) for bit in range(WORD_BITS) if value >> bit & 1
    ]
    parts = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join("%d" % first if first == last else "%d-%d" % (first, last) for first, last in parts)


def device_keys(walk, device):
    """Keys of a card, an instance or a virtual device."""
    keys = {}
    failed_before = len(walk.failures)
    for key, function, arguments, names in PLAIN:
        answer = walk.ask(function, device, *arguments)
        if isinstance(answer, Failed):
            continue
        if key in MASKED:
            answer = walk.masked(key, answer)
        if names is not None:
            keys[key] = named(names, answer)
        else:
            keys[key] = escaped(answer) if isinstance(answer, str) else str(answer)
    for function in ALSO_ASKED:
        walk.ask(function, device)
    for part in (pci_keys, slot_keys, fan_keys, display_keys, engine_keys, codec_keys, ecc_keys, affinity_keys):
        keys.update(part(walk, device))
    capability = walk.ask("mtmlDeviceGetMusaComputeCapability", device)
    if not isinstance(capability, Failed):
        keys["musa_compute_capability"] = "%d.%d" % tuple(capability)
    refused = [
        function for function, _, code in walk.failures[failed_before:] if code == pymtml.MTML_ERROR_NOT_SUPPORTED
    ]
    return keys, unique(refused)


def unique(names):
    """Names without repetition, in order."""
    return [name for index, name in enumerate(names) if name not in names[:index]]


def pci_keys(walk, device):
    """PCI address, ids and link."""
    info = walk.ask("mtmlDeviceGetPciInfo", device)
    if isinstance(info, Failed):
        return {}
    generation = GENERATIONS.get(info.pciDeviceId >> 24, NEWEST_GENERATION)
    return {
        "generation": generation,
        "pci_sbdf": escaped(info.sbdf),
        "pci_segment": str(info.segment),
        "pci_bus": str(info.bus),
        "pci_device": str(info.device),
        "pci_device_id": "0x%08x" % info.pciDeviceId,
        "pci_subsystem_id": "0x%08x" % info.pciSubsystemId,
        "pci_bus_width": str(info.busWidth),
        "pci_max_speed": "%g" % info.pciMaxSpeed,
        "pci_cur_speed": "%g" % info.pciCurSpeed,
        "pci_max_width": str(info.pciMaxWidth),
        "pci_cur_width": str(info.pciCurWidth),
        "pci_max_gen": str(info.pciMaxGen),
        "pci_cur_gen": str(info.pciCurGen),
    }


def slot_keys(walk, device):
    """The slot of the host."""
    slot = walk.ask("mtmlDeviceGetPcieSlotInfo", device)
    return (
        {}
        if isinstance(slot, Failed)
        else {"slot_id": str(slot.slotId), "slot_name": escaped(walk.masked("slot_name", slot.slotName))}
    )


def fan_keys(walk, device):
    """Fans; where their number is not told, the first is asked nevertheless, so that its refusal is known."""
    failed_before = len(walk.failures)
    count = walk.count("mtmlDeviceCountFan", device)
    speeds, turns = [], []
    for fan in range(1 if len(walk.failures) > failed_before else count):
        for function, found in (("mtmlDeviceGetFanSpeed", speeds), ("mtmlDeviceGetFanRpm", turns)):
            answer = walk.ask(function, device, fan)
            if not isinstance(answer, Failed):
                found.append(str(answer))
    return {"fan_speed": ", ".join(speeds), "fan_rpm": ", ".join(turns)}


def display_keys(walk, device):
    """Display interfaces."""
    found = []
    for number in range(walk.count("mtmlDeviceCountDisplayInterface", device)):
        spec = walk.ask("mtmlDeviceGetDisplayInterfaceSpec", device, number)
        if not isinstance(spec, Failed):
            form = "%s %dx%d@%g"
            found.append(form % (named(DISPLAYS, spec.type), spec.maxHoriRes, spec.maxVertRes, spec.maxRefreshRate))
    return {"displays": ", ".join(found)}


def engine_keys(walk, device):
    """Utilization by engine, and of the video engine."""
    engines = [walk.ask("mtmlGpuGetEngineUtilization", device, engine) for engine in range(pymtml.MTML_GPU_ENGINE_MAX)]
    keys = {}
    if not any(isinstance(answer, Failed) for answer in engines):
        keys["engine_utilization"] = ", ".join(map(str, engines))
    use = walk.ask("mtmlVpuGetUtilization", device)
    if not isinstance(use, Failed):
        keys.update(
            vpu_utilization=str(use.util),
            codec_sample_period=str(use.period),
            encoder_utilization=str(use.encUtil),
            decoder_utilization=str(use.decUtil),
        )
    return keys


def codec_keys(walk, device):
    """Sessions of the video engine."""
    keys = {}
    capacity = walk.ask("mtmlVpuGetCodecCapacity", device)
    if not isinstance(capacity, Failed):
        keys["encoder_capacity"], keys["decoder_capacity"] = map(str, capacity)
    for key, kind in (("encoder_sessions", "Encoder"), ("decoder_sessions", "Decoder")):
        states = walk.ask("mtmlVpuGet%sSessionStates" % kind, device)
        sessions = []
        for session in [] if isinstance(states, Failed) else states:
            if session.state == pymtml.MTML_CODEC_SESSION_STATE_IDLE:
                continue  # the state of what is not in use
            text = session_text(walk.ask("mtmlVpuGet%sSessionMetrics" % kind, device, session.sessionId), session)
            sessions.append(text)
        keys[key] = ", ".join(sessions)
    return keys


def session_text(metrics, session):
    """A session as profiles write it."""
    state = named(SESSION_STATES, session.state)
    if isinstance(metrics, Failed):
        return "id=%d state=%s" % (session.sessionId, state)
    form = "id=%d pid=%d width=%d height=%d fps=%d bitrate=%d latency=%d codec=%s state=%s"
    sizes = (metrics.hResolution, metrics.vResolution, metrics.frameRate, metrics.bitRate, metrics.latency)
    return form % ((session.sessionId, metrics.pid) + sizes + (named(CODECS, metrics.codecType), state))


def ecc_keys(walk, device):
    """ECC mode and retired pages."""
    keys = {}
    modes = walk.ask("mtmlMemoryGetEccMode", device)
    if not isinstance(modes, Failed):
        keys["ecc_mode"], keys["ecc_pending_mode"] = (named(SWITCH, mode) for mode in modes)
    counts = walk.ask("mtmlMemoryGetRetiredPagesCount", device)
    for key, cause, count in (("retired_pages_sbe", 0, "singleBitEcc"), ("retired_pages_dbe", 1, "doubleBitEcc")):
        size = 1 if isinstance(counts, Failed) else max(getattr(counts, count), 1)
        pages = walk.ask("mtmlMemoryGetRetiredPages", device, cause, size)
        if not isinstance(pages, Failed):
            keys[key] = ", ".join("0x%x@%d" % (page.address, page.timestamp) for page in pages)
    return keys


def affinity_keys(walk, device):
    """Processors and memory next to the device."""
    keys = {}
    for key, function, size in (
        ("cpu_affinity", "mtmlDeviceGetCpuAffinityWithinNode", CPU_WORDS),
        ("memory_affinity", "mtmlDeviceGetMemoryAffinityWithinNode", NODE_WORDS),
    ):
        words = walk.ask(function, device, size)
        if not isinstance(words, Failed):
            keys[key] = mask_ranges(words)
    return keys


class Card:
    """A card, its keys, its instances and its virtual devices."""

    def __init__(self, device, number):
        self.device, self.number = device, number
        self.keys = {}
        self.refused = []
        self.children = []  # (section's end, keys, refused, None where nobody was asked)
        self.peers = []  # (number of the card, number of the link there) or None by link


def cards(walk):
    """All cards, in MTML's order; an instance whose parent cannot be seen counts as one."""
    found = []
    for index in range(walk.count("mtmlLibraryCountDevice")):
        device = walk.ask("mtmlLibraryInitDeviceByIndex", index)
        if isinstance(device, Failed):
            continue
        properties = walk.ask("mtmlDeviceGetProperty", device)
        if not isinstance(properties, Failed) and properties.mpcType == pymtml.MTML_MPC_TYPE_INSTANCE:
            if not isinstance(walk.ask("mtmlDeviceGetMpcParentDevice", device), Failed):
                continue
        found.append(Card(device, len(found)))
    return found


def fill(walk, card):
    """Ask everything about a card that does not concern another one."""
    walk.label = "device.%d" % card.number
    properties = walk.ask("mtmlDeviceGetProperty", card.device)
    card.keys, card.refused = device_keys(walk, card.device)
    if isinstance(properties, Failed):
        return
    roles = {pymtml.MTML_VIRT_ROLE_GUEST_VIRTDEVICE: "GUEST_VIRTDEVICE"}
    card.keys["virt_role"] = roles.get(properties.virtRole, "NONE")
    for key, value in (
        ("mtlink_capability", properties.mtLinkCap),
        ("mpc_capability", properties.mpcCap),
        ("virt_capability", properties.virtCap),
    ):
        card.keys[key] = "yes" if value else "no"
    if properties.mpcCap:
        fill_mpc(walk, card)
    if properties.virtCap:
        fill_virtual(walk, card)


def add_child(walk, card, end, device):
    """Keys of a child that are not its card's, and those that would follow from its profile or type."""
    walk.label = "device.%d.%s" % (card.number, end)
    keys, refused = device_keys(walk, device)
    keys.pop("generation", None)
    differing = {key: value for key, value in keys.items() if key in CHILD_ALWAYS or card.keys.get(key) != value}
    card.children.append((end, differing, refused))


CHILD_ALWAYS = ("uuid", "memory_total", "memory_used", "gpu_cores", "encoder_capacity", "decoder_capacity")
CHILD_ALWAYS += ("encoder_sessions", "decoder_sessions")


def fill_mpc(walk, card):
    """Profiles, configurations and instances."""
    profiles = walk.ask("mtmlDeviceGetSupportedMpcProfiles", card.device)
    configurations = walk.ask("mtmlDeviceGetSupportedMpcConfigurations", card.device)
    if not isinstance(profiles, Failed):
        card.keys["mpc_profiles"] = ", ".join(str(profile.id) for profile in profiles)
        for profile in profiles:
            walk.definitions["mpc_profile.%d" % profile.id] = {
                "name": escaped(profile.name),
                "cores": str(profile.coreCount),
                "memory": str(profile.memorySizeMB),
            }
    if not isinstance(configurations, Failed):
        card.keys["mpc_configurations"] = ", ".join(str(configuration.id) for configuration in configurations)
        for configuration in configurations:
            define_configuration(walk, configuration)
    mode = walk.ask("mtmlDeviceGetMpcMode", card.device)
    if isinstance(mode, Failed):
        return
    if mode == pymtml.MTML_DEVICE_MPC_ENABLE:
        current = walk.ask("mtmlDeviceGetMpcConfiguration", card.device)
        if isinstance(current, Failed):
            return  # no profile has a card that is divided nobody knows how
        define_configuration(walk, current)
        card.keys["mpc_configuration"] = str(current.id)
        fill_instances(walk, card, sum(profile >= 0 for profile in current.profileId))
    card.keys["mpc_mode"] = named(SWITCH, mode)


def define_configuration(walk, configuration):
    """A configuration, and its profiles, with nothing in them as long as no answer tells of them."""
    ids = [str(profile) for profile in configuration.profileId if profile >= 0]
    walk.definitions["mpc_configuration.%d" % configuration.id] = {
        "name": escaped(configuration.name),
        "profiles": ", ".join(ids),
    }
    for profile in ids:
        walk.definitions.setdefault("mpc_profile." + profile, {})


def fill_instances(walk, card, count):
    """Instances that can be seen, and as many others as there are."""
    instances = walk.ask("mtmlDeviceGetMpcInstances", card.device)
    instances = [] if isinstance(instances, Failed) else instances
    for number, instance in enumerate(instances):
        add_child(walk, card, "instance.%d" % number, instance)
    for number in range(len(instances), count):
        card.children.append(("instance.%d" % number, {"visible": "no"}, None))
    walk.label = "device.%d" % card.number


def fill_virtual(walk, card):
    """Types of virtual devices, and those that are active."""
    types = walk.ask("mtmlDeviceGetSupportedVirtTypes", card.device)
    if not isinstance(types, Failed):
        card.keys["virt_types"] = ", ".join(define_type(walk, kind) for kind in types)
    uuids = walk.ask("mtmlDeviceGetActiveVirtDeviceUuids", card.device)
    number = 0
    for uuid in [] if isinstance(uuids, Failed) else uuids:
        walk.label = "device.%d" % card.number
        device = walk.ask("mtmlDeviceInitVirtDevice", card.device, uuid)
        if isinstance(device, Failed):
            continue
        add_child(walk, card, "virt.%d" % number, device)
        number += 1
        kind = walk.ask("mtmlDeviceGetVirtType", device)
        if not isinstance(kind, Failed):
            card.children[-1][1]["virt_type"] = define_type(walk, kind)


def define_type(walk, kind):
    """A type of virtual devices; the name of its section."""
    name = identifier(kind.id)
    walk.definitions["virt_type." + name] = {
        "name": escaped(kind.name),
        "api": escaped(kind.api),
        "horizontal_resolution": str(kind.horizontalResolution),
        "vertical_resolution": str(kind.verticalResolution),
        "frame_buffer": str(kind.frameBuffer),
        "max_encode": str(kind.maxEncodeNum),
        "max_decode": str(kind.maxDecodeNum),
        "max_instances": str(kind.maxInstances),
        "max_displays": str(kind.maxVirtualDisplay),
    }
    return name


def fill_pairs(walk, found):
    """How cards are joined."""
    for card in found:
        walk.label = "device.%d" % card.number
        before = len(walk.failures)
        levels, reads, writes = [], [], []
        for other in found:
            if other is card:
                levels.append("-")
            else:
                level = walk.ask("mtmlDeviceGetTopologyLevel", card.device, other.device)
                levels.append("-" if isinstance(level, Failed) else named(LEVELS, level))
            for statuses, capability in ((reads, pymtml.MTML_P2P_CAPS_READ), (writes, pymtml.MTML_P2P_CAPS_WRITE)):
                status = walk.ask("mtmlDeviceGetP2PStatus", card.device, other.device, capability)
                statuses.append("UNKNOWN" if isinstance(status, Failed) else named(P2P, status))
        card.keys.update(topology=", ".join(levels), p2p_read=", ".join(reads), p2p_write=", ".join(writes))
        refused = [name for name, _, code in walk.failures[before:] if code == pymtml.MTML_ERROR_NOT_SUPPORTED]
        card.refused = unique(card.refused + refused)
        if card.keys.get("mtlink_capability") == "yes":
            fill_links(walk, card, found)


def fill_links(walk, card, found):
    """MtLinks of a card, and where each one ends."""
    spec = walk.ask("mtmlDeviceGetMtLinkSpec", card.device)
    if isinstance(spec, Failed):
        return
    card.keys["mtlink_version"], card.keys["mtlink_bandwidth"] = str(spec.version), str(spec.bandWidth)
    card.keys["mtlink_count"] = str(spec.linkNum)
    states, access, atomics = [], [], []
    card.peers = []
    ends = {}  # (number of the other card, link here): link there
    for other in found:
        if other is not card:
            layouts = walk.ask("mtmlDeviceGetMtLinkLayouts", card.device, other.device)
            for layout in [] if isinstance(layouts, Failed) else layouts:
                ends[other.number, layout.localLinkId] = layout.remoteLinkId
    for link in range(spec.linkNum):
        for function, arguments, names, found_values in (
            ("mtmlDeviceGetMtLinkState", (), LINK_STATES, states),
            ("mtmlDeviceGetMtLinkCapStatus", (pymtml.MTML_MTLINK_CAP_P2P_ACCESS,), LINK_STATUS, access),
            ("mtmlDeviceGetMtLinkCapStatus", (pymtml.MTML_MTLINK_CAP_P2P_ATOMICS,), LINK_STATUS, atomics),
        ):
            answer = walk.ask(function, card.device, link, *arguments)
            found_values.append(names[0] if isinstance(answer, Failed) else named(names, answer))
        remote = walk.ask("mtmlDeviceGetMtLinkRemoteDevice", card.device, link)
        other = None if isinstance(remote, Failed) else next((one for one in found if one.device == remote), None)
        card.peers.append(None if other is None else [other.number, ends.get((other.number, link))])
    card.keys.update(
        mtlink_state=", ".join(states), mtlink_p2p_access=", ".join(access), mtlink_p2p_atomics=", ".join(atomics)
    )


def join_ends(found):
    """Number the far ends of links that no layout tells (those that are down): the links of a pair in order."""
    for card in found:
        for link, peer in enumerate(card.peers):
            if peer is None or peer[1] is not None:
                continue
            other = found[peer[0]]
            taken = {end for number, end in filter(None, card.peers) if number == peer[0]}
            back = [there for there, far in enumerate(other.peers) if far and far[0] == card.number]
            peer[1] = next((there for there in back if there not in taken), link)
    for card in found:
        if card.peers:
            card.keys["mtlink_peer"] = ", ".join("-" if peer is None else "%d.%d" % tuple(peer) for peer in card.peers)


def includes_nearer(walk, found):
    """Whether a query by topology level counts nearer devices, too."""
    for card in found:
        levels = [text for text in card.keys.get("topology", "").split(", ") if text in LEVELS.values()]
        far = walk.ask("mtmlDeviceCountDeviceByTopologyLevel", card.device, pymtml.MTML_TOPOLOGY_SYSTEM)
        if isinstance(far, Failed) or not levels:
            continue
        # Instances are devices at a level, too: only a machine without them tells.
        if any(one.children for one in found):
            return False
        return far == len(levels) != levels.count("SYSTEM")
    return False


def missing():
    """Functions that the library does not export."""
    names = list(pymtml._PROTOTYPES) + list(pymtml._OPTIONAL_PROTOTYPES)
    found = []
    for name in names:
        try:
            pymtml._mtmlGetFunctionPointer(name)
        except pymtml.MTMLError:
            found.append(name)
    return found


def section(name, keys):
    """A section of the profile."""
    return ["", "[%s]" % name] + [("%s = %s" % (key, value)).rstrip() for key, value in keys.items()]


def profile(unmasked):
    """The profile as text.

    Raises: MTMLError_LibraryNotFound.
    """
    walk = Walk(unmasked)
    try:
        pymtml.mtmlLibraryInit()
    except pymtml.MTMLError as error:
        if isinstance(error, pymtml.NVMLError_LibraryNotFound):
            raise
        code = CODES.get(error.value, str(error.value))
        machine = {"library_version": "unknown-simulator", "driver_version": "unknown", "init": code}
        return "\n".join(heading("mtmlLibraryInit returns " + code, unmasked) + section("machine", machine)) + "\n"
    try:
        library = walk.ask("mtmlLibraryGetVersion")
        driver = walk.ask("mtmlSystemGetDriverVersion")
        found = cards(walk)
        for card in found:
            fill(walk, card)
        fill_pairs(walk, found)
        join_ends(found)
        nearer = includes_nearer(walk, found)
    finally:
        pymtml.mtmlLibraryShutDown()
    absent = missing()
    library = "unknown" if isinstance(library, Failed) else library
    driver = "unknown" if isinstance(driver, Failed) else driver
    machine = {
        # The simulator never calls itself anything else.
        "library_version": escaped(library if "simulator" in library else library[:20] + "-simulator"),
        "driver_version": escaped(driver),
    }
    if absent:
        machine["missing"] = ", ".join(absent)
    if nearer:
        machine["topology_includes_nearer"] = "yes"
    again = second_life()
    if again:
        machine["reinit"] = again
    lines = (
        heading("library %s, driver %s" % (library, driver), unmasked)
        + failure_lines(walk, absent)
        + section("machine", machine)
    )
    for name in sorted(walk.definitions, key=natural):
        lines += section(name, walk.definitions[name])
    for card in found:
        lines += section("device.%d" % card.number, with_refused(card.keys, card.refused, absent))
        for end, keys, refused in card.children:
            keys = with_refused(keys, card.refused if refused is None else refused, absent, card.refused)
            lines += section("device.%d.%s" % (card.number, end), keys)
    return "\n".join(lines) + "\n"


def with_refused(keys, refused, absent, of_card=()):
    """Keys with the functions that a device refuses, where a child's are not those of its card."""
    names, inherited = ([name for name in one if name not in absent] for one in (refused, of_card))
    return keys if names == inherited else dict(keys, unsupported=", ".join(names))


def natural(name):
    """A key that sorts numbers by size."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.replace("-", ".").split(".")]


def heading(text, unmasked):
    """The comment at the top."""
    return [
        "# Captured by pymtml %s on %s: %s." % (pymtml.__version__, time.strftime("%Y-%m-%d"), escaped(text)),
        "# A profile of the MTML simulator. Values are those of one moment.",
        "# Nothing is masked." if unmasked else "# " + MASKED_TEXT,
    ] + ([] if unmasked else ["# " + LEFT_TEXT])


def failure_lines(walk, absent):
    """What failed, and with which code, as comments."""
    lines = []
    if absent:
        lines.append("# Not exported: %s" % ", ".join(absent))
    by_failure = {}
    for function, label, code in walk.failures:
        if function not in absent:
            by_failure.setdefault((function, code), []).append(label)
    for (function, code), labels in by_failure.items():
        text = CODES.get(code, str(code))
        lines.append("# %s: %s (%s)" % (function, text, "; ".join(unique(labels))))
    return lines + walk.excesses


def second_life():
    """Code with which an init after the last shutdown fails, or None."""
    try:
        pymtml.mtmlLibraryInit()
    except pymtml.MTMLError as error:
        return CODES.get(error.value, str(error.value))
    pymtml.mtmlLibraryShutDown()
    return None


def run(arguments):
    """Print the profile (exit status)."""
    return _run(parser().parse_args(arguments))


def parser():
    """What reads the arguments (argparse.ArgumentParser); shells complete from it, too."""
    from pymtml_cli.subcommands import argument_parser

    return _with_arguments(argument_parser("capture"))


def _with_arguments(parser):
    parser.add_argument(
        "--unmasked", action="store_true", help="leave serial numbers, UUIDs, slots and paths as they are"
    )
    return parser


def _run(options):
    try:
        text = profile(options.unmasked)
    except pymtml.MTMLError as error:
        sys.stderr.write("capture: %s\n" % " ".join(str(error).split()))
        return UNREACHABLE
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    alone = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    sys.exit(_run(_with_arguments(alone).parse_args(sys.argv[1:])))
