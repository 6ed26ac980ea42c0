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
MOST = 256  # cards, fans, displays or links that are asked, whatever number of them the driver claims


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

# What tells one machine from another; the nodes as Linux names them do not
MASKED = ("uuid", "serial_number", "gpu_path", "primary_path", "render_path", "slot_name")
NODE_FORMS = {"gpu_path": "/dev/mtgpu.%d", "primary_path": "/dev/dri/card%d", "render_path": "/dev/dri/renderD%d"}
NODES = {kind: re.compile(re.escape(form).replace("%d", "[0-9]+") + r"\Z") for kind, form in NODE_FORMS.items()}
SERIAL_LENGTH, SERIAL_KEPT = 12, 4
MASKED_TEXT = "Masked: serial numbers, UUIDs, names of slots, paths of nodes that are not Linux's own."
LEFT_TEXT = (
    "Left in: names, versions, PCI addresses and ids, numbers of slots, CPUs and NUMA nodes, and what was measured."
)


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

    def items(self, function, *arguments):
        """The list that a function answers; none of them if it fails."""
        answer = self.ask(function, *arguments)
        return [] if isinstance(answer, Failed) else answer

    def count(self, function, *arguments, otherwise=0):
        """How many of something there are, at most MOST; ``otherwise`` if that fails."""
        answer = self.ask(function, *arguments)
        return otherwise if isinstance(answer, Failed) else self.bounded(function, answer)

    def bounded(self, function, number):
        """A number of things that a function told, at most MOST."""
        excess = "# %s: %d (%s); the first %d were queried" % (function, number, self.label, MOST)
        if number > MOST and excess not in self.excesses:
            self.excesses.append(excess)
        return min(number, MOST)

    def refused(self, since):
        """Functions that are not supported, of the failures from a number on."""
        return unique(name for name, _, code in self.failures[since:] if code == pymtml.MTML_ERROR_NOT_SUPPORTED)

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


def written(value):
    """A value as profiles have it."""
    return escaped(value) if isinstance(value, str) else "%g" % value if isinstance(value, float) else str(value)


def keys_of(walk, answer, keys):
    """Keys with their values in an answer: "key" of the answer itself, "key=member" or "key=member:form" (dict)."""
    found = {}
    for part in keys.split():
        key, _, member = part.partition("=")
        member, _, form = member.partition(":")
        value = getattr(answer, member) if member else answer
        value = walk.masked(key, value) if key in MASKED else value
        found[key] = form % value if form else written(value)
    return found


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


def unique(names):
    """Names without repetition, in order."""
    return list(dict.fromkeys(names))


def device_keys(walk, device):
    """(keys of a card, an instance or a virtual device, functions that it refuses)."""
    keys, before = {}, len(walk.failures)
    for question in QUESTIONS:
        keys.update(question(walk, device))
    return keys, walk.refused(before)


# ---- Questions: functions of walk and device that return keys with their values ----


def asked(keys, function, *arguments, made=None):
    """A question for the answer of a function, as `keys_of` reads it; ``made`` makes a text of one for a single key."""

    def question(walk, device):
        answer = walk.ask(function, device, *arguments)
        if isinstance(answer, Failed):
            return {}
        return keys_of(walk, answer, keys) if made is None else {keys: made(answer)}

    return question


def one_of(names):
    """What makes of an enumeration's value its name."""
    return lambda code: named(names, code)


def pair(first, second, function, made=str):
    """A question for two answers of one function."""

    def question(walk, device):
        answer = walk.ask(function, device)
        return {} if isinstance(answer, Failed) else dict(zip((first, second), map(made, answer)))

    return question


def each(key, count, function, made=str, otherwise=0):
    """A question for a list: the answers of a function for all that another counts, without those that fail."""

    def question(walk, device):
        numbers = range(walk.count(count, device, otherwise=otherwise))
        answers = [walk.ask(function, device, number) for number in numbers]
        return {key: ", ".join(made(answer) for answer in answers if not isinstance(answer, Failed))}

    return question


def display(spec):
    """A display interface as profiles write it."""
    return "%s %dx%d@%g" % (named(DISPLAYS, spec.type), spec.maxHoriRes, spec.maxVertRes, spec.maxRefreshRate)


def engines(walk, device):
    """Utilization by engine, if all of them are told."""
    answers = [walk.ask("mtmlGpuGetEngineUtilization", device, engine) for engine in range(pymtml.MTML_GPU_ENGINE_MAX)]
    failed = any(isinstance(answer, Failed) for answer in answers)
    return {} if failed else {"engine_utilization": ", ".join(map(str, answers))}


def sessions(key, kind):
    """A question for the sessions of the video engine that are in use."""

    def question(walk, device):
        texts = [
            session_text(walk.ask("mtmlVpuGet%sSessionMetrics" % kind, device, session.sessionId), session)
            for session in walk.items("mtmlVpuGet%sSessionStates" % kind, device)
            if session.state != pymtml.MTML_CODEC_SESSION_STATE_IDLE
        ]
        return {key: ", ".join(texts)}

    return question


def session_text(metrics, session):
    """A session as profiles write it."""
    text, state = "id=%d" % session.sessionId, named(SESSION_STATES, session.state)
    if not isinstance(metrics, Failed):
        form = " pid=%d width=%d height=%d fps=%d bitrate=%d latency=%d codec="
        sizes = (metrics.hResolution, metrics.vResolution, metrics.frameRate, metrics.bitRate, metrics.latency)
        text += form % ((metrics.pid,) + sizes) + named(CODECS, metrics.codecType)
    return "%s state=%s" % (text, state)


def retired_pages(walk, device):
    """Retired pages by cause."""
    keys = {}
    counts = walk.ask("mtmlMemoryGetRetiredPagesCount", device)
    for key, cause, count in (("retired_pages_sbe", 0, "singleBitEcc"), ("retired_pages_dbe", 1, "doubleBitEcc")):
        size = 1 if isinstance(counts, Failed) else max(getattr(counts, count), 1)
        pages = walk.ask("mtmlMemoryGetRetiredPages", device, cause, size)
        if not isinstance(pages, Failed):
            keys[key] = ", ".join("0x%x@%d" % (page.address, page.timestamp) for page in pages)
    return keys


def generation(info):
    """The generation of a card by its PCI id."""
    return GENERATIONS.get(info.pciDeviceId >> 24, NEWEST_GENERATION)


PCI = """
    pci_sbdf=sbdf pci_segment=segment pci_bus=bus pci_device=device pci_device_id=pciDeviceId:0x%08x
    pci_subsystem_id=pciSubsystemId:0x%08x pci_bus_width=busWidth pci_max_speed=pciMaxSpeed pci_cur_speed=pciCurSpeed
    pci_max_width=pciMaxWidth pci_cur_width=pciCurWidth pci_max_gen=pciMaxGen pci_cur_gen=pciCurGen
"""
VPU = "vpu_utilization=util codec_sample_period=period encoder_utilization=encUtil decoder_utilization=decUtil"
DRAM = pymtml.MTML_MEMORY_LOCATION_DRAM

QUESTIONS = (
    asked("name", "mtmlDeviceGetName"),
    asked("uuid", "mtmlDeviceGetUUID"),
    asked("serial_number", "mtmlDeviceGetSerialNumber"),
    asked("mtbios_version", "mtmlDeviceGetMtBiosVersion"),
    asked("gpu_path", "mtmlDeviceGetGpuPath"),
    asked("primary_path", "mtmlDeviceGetPrimaryPath"),
    asked("render_path", "mtmlDeviceGetRenderPath"),
    asked("brand", "mtmlDeviceGetBrand", made=one_of(BRANDS)),
    asked("gpu_cores", "mtmlDeviceCountGpuCores"),
    asked("power_usage", "mtmlDeviceGetPowerUsage"),
    asked("gpu_utilization", "mtmlGpuGetUtilization"),
    asked("gpu_temperature", "mtmlGpuGetTemperature"),
    asked("gpu_clock", "mtmlGpuGetClock"),
    asked("gpu_max_clock", "mtmlGpuGetMaxClock"),
    asked("memory_total", "mtmlMemoryGetTotal"),
    asked("memory_used", "mtmlMemoryGetUsed"),
    asked("memory_used_system", "mtmlMemoryGetUsedSystem"),
    asked("memory_utilization", "mtmlMemoryGetUtilization"),
    asked("memory_clock", "mtmlMemoryGetClock"),
    asked("memory_max_clock", "mtmlMemoryGetMaxClock"),
    asked("memory_bus_width", "mtmlMemoryGetBusWidth"),
    asked("memory_bandwidth", "mtmlMemoryGetBandwidth"),
    asked("memory_speed", "mtmlMemoryGetSpeed"),
    asked("memory_vendor", "mtmlMemoryGetVendor"),
    asked("memory_type", "mtmlMemoryGetType", made=one_of(MEMORY_TYPES)),
    asked("vpu_clock", "mtmlVpuGetClock"),
    asked("vpu_max_clock", "mtmlVpuGetMaxClock"),
    asked("ecc_corrected_volatile", "mtmlMemoryGetEccErrorCounter", 0, 0, DRAM),
    asked("ecc_corrected_aggregate", "mtmlMemoryGetEccErrorCounter", 0, 1, DRAM),
    asked("ecc_uncorrected_volatile", "mtmlMemoryGetEccErrorCounter", 1, 0, DRAM),
    asked("ecc_uncorrected_aggregate", "mtmlMemoryGetEccErrorCounter", 1, 1, DRAM),
    asked("retired_pages_pending", "mtmlMemoryGetRetiredPagesPendingStatus", made=one_of({0: "no", 1: "yes"})),
    asked("pcie_replay_counter", "mtmlDeviceGetPcieReplayCounter"),
    asked("performance_state", "mtmlDeviceGetPerformanceState"),
    asked("enforced_power_limit", "mtmlGpuGetEnforcedPowerLimit"),
    asked("default_power_limit", "mtmlGpuGetPowerManagementDefaultLimit"),
    asked("shutdown_temperature", "mtmlGpuGetTemperatureThreshold", 0),
    asked("slowdown_temperature", "mtmlGpuGetTemperatureThreshold", 1),
    asked("gpu_voltage", "mtmlGpuGetVoltage"),
    asked("memory_temperature", "mtmlMemoryGetTemperature"),
    asked("", "mtmlDeviceGetVbiosVersion"),  # so that a refusal is known; mtbios_version is the answer
    asked("generation", "mtmlDeviceGetPciInfo", made=generation),
    asked(PCI, "mtmlDeviceGetPciInfo"),
    asked("slot_id=slotId slot_name=slotName", "mtmlDeviceGetPcieSlotInfo"),
    # If the number of fans is not told, the first is asked nevertheless, so that its refusal is known.
    each("fan_speed", "mtmlDeviceCountFan", "mtmlDeviceGetFanSpeed", otherwise=1),
    each("fan_rpm", "mtmlDeviceCountFan", "mtmlDeviceGetFanRpm", otherwise=1),
    each("displays", "mtmlDeviceCountDisplayInterface", "mtmlDeviceGetDisplayInterfaceSpec", display),
    engines,
    asked(VPU, "mtmlVpuGetUtilization"),
    pair("encoder_capacity", "decoder_capacity", "mtmlVpuGetCodecCapacity"),
    sessions("encoder_sessions", "Encoder"),
    sessions("decoder_sessions", "Decoder"),
    pair("ecc_mode", "ecc_pending_mode", "mtmlMemoryGetEccMode", one_of(SWITCH)),
    retired_pages,
    asked("cpu_affinity", "mtmlDeviceGetCpuAffinityWithinNode", CPU_WORDS, made=mask_ranges),
    asked("memory_affinity", "mtmlDeviceGetMemoryAffinityWithinNode", NODE_WORDS, made=mask_ranges),
    asked(
        "musa_compute_capability", "mtmlDeviceGetMusaComputeCapability", made=lambda version: "%d.%d" % tuple(version)
    ),
)
MPC_PROFILE = "name=name cores=coreCount memory=memorySizeMB"
VIRT_TYPE = """
    name=name api=api horizontal_resolution=horizontalResolution vertical_resolution=verticalResolution
    frame_buffer=frameBuffer max_encode=maxEncodeNum max_decode=maxDecodeNum max_instances=maxInstances
    max_displays=maxVirtualDisplay
"""


# ---- The machine ----


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
    guest = properties.virtRole == pymtml.MTML_VIRT_ROLE_GUEST_VIRTDEVICE
    card.keys["virt_role"] = "GUEST_VIRTDEVICE" if guest else "NONE"
    for kind, capable in (("mtlink", properties.mtLinkCap), ("mpc", properties.mpcCap), ("virt", properties.virtCap)):
        card.keys[kind + "_capability"] = "yes" if capable else "no"
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
            walk.definitions["mpc_profile.%d" % profile.id] = keys_of(walk, profile, MPC_PROFILE)
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
    instances = walk.items("mtmlDeviceGetMpcInstances", card.device)
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
    number = 0
    for uuid in walk.items("mtmlDeviceGetActiveVirtDeviceUuids", card.device):
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
    walk.definitions["virt_type." + name] = keys_of(walk, kind, VIRT_TYPE)
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
        card.refused = unique(card.refused + walk.refused(before))
        if card.keys.get("mtlink_capability") == "yes":
            fill_links(walk, card, found)


# Of each MtLink: (key, function, arguments, names)
OF_LINK = (
    ("mtlink_state", "mtmlDeviceGetMtLinkState", (), LINK_STATES),
    ("mtlink_p2p_access", "mtmlDeviceGetMtLinkCapStatus", (pymtml.MTML_MTLINK_CAP_P2P_ACCESS,), LINK_STATUS),
    ("mtlink_p2p_atomics", "mtmlDeviceGetMtLinkCapStatus", (pymtml.MTML_MTLINK_CAP_P2P_ATOMICS,), LINK_STATUS),
)


def fill_links(walk, card, found):
    """MtLinks of a card, and where each one ends."""
    spec = walk.ask("mtmlDeviceGetMtLinkSpec", card.device)
    if isinstance(spec, Failed):
        return
    card.keys.update(keys_of(walk, spec, "mtlink_version=version mtlink_bandwidth=bandWidth"))
    links = walk.bounded("mtmlDeviceGetMtLinkSpec", spec.linkNum)
    card.keys["mtlink_count"] = str(links)
    ends = {}  # (number of the other card, link here): link there
    for other in found:
        if other is not card:
            for layout in walk.items("mtmlDeviceGetMtLinkLayouts", card.device, other.device):
                ends[other.number, layout.localLinkId] = layout.remoteLinkId
    lists = {key: [] for key, _, _, _ in OF_LINK}
    for link in range(links):
        for key, function, arguments, names in OF_LINK:
            answer = walk.ask(function, card.device, link, *arguments)
            lists[key].append(names[0] if isinstance(answer, Failed) else named(names, answer))
        remote = walk.ask("mtmlDeviceGetMtLinkRemoteDevice", card.device, link)
        other = None if isinstance(remote, Failed) else next((one for one in found if one.device == remote), None)
        card.peers.append(None if other is None else [other.number, ends.get((other.number, link))])
    card.keys.update((key, ", ".join(values)) for key, values in lists.items())


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
        code = named(CODES, error.value)
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
    library, driver = ["unknown" if isinstance(answer, Failed) else answer for answer in (library, driver)]
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
        lines.append("# %s: %s (%s)" % (function, named(CODES, code), "; ".join(unique(labels))))
    return lines + walk.excesses


def second_life():
    """Code with which an init after the last shutdown fails, or None."""
    try:
        pymtml.mtmlLibraryInit()
    except pymtml.MTMLError as error:
        return named(CODES, error.value)
    pymtml.mtmlLibraryShutDown()
    return None


def parser():
    """What reads the arguments (argparse.ArgumentParser); shells complete from it, too."""
    if __name__ == "__main__":  # beside a lone pymtml.py
        parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    else:
        from pymtml_cli.subcommands import argument_parser

        parser = argument_parser("capture")
    text = "leave serial numbers, UUIDs, slots and paths as they are"
    parser.add_argument("--unmasked", action="store_true", help=text)
    return parser


def run(arguments):
    """Print the profile (exit status)."""
    options = parser().parse_args(arguments)
    try:
        text = profile(options.unmasked)
    except pymtml.MTMLError as error:
        sys.stderr.write("capture: %s\n" % " ".join(str(error).split()))
        return UNREACHABLE
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
