"""capture: walks a machine through the MTML C API and prints a profile that the simulator loads.

It changes nothing. What identifies the machine is masked unless --unmasked; the comments at the head of the profile
list what is left in.
"""

import glob
import os
import re
import sys
import time
from functools import lru_cache

import pymtml
from pymtml_cli.arguments import argument_parser
from pymtml_cli.common import layout
from pymtml_cli.common.errors import CommandError
from pymtml_cli.common.people import saying
from pymtml_cli.readings.topology import CPU_WORDS, NODE_WORDS, members, ranges

UNREACHABLE = 12
MOST = 256  # cards, fans, displays or links that are queried, however many the driver reports

# BEGIN generated generations, from facts/cards.json: the high byte of the PCI id tells them
GENERATIONS = {1: "SUDI", 2: "CHUNXIAO", 3: "QUYUAN", 4: "PINGHU"}
# END generated generations
NEWEST = GENERATIONS[max(GENERATIONS)]
YES_NO = {0: "no", 1: "yes"}

# Keys that identify a machine; device nodes with the names of Linux are not masked
MASKED = ("uuid", "serial_number", "gpu_path", "primary_path", "render_path", "slot_name")
NODES = {"gpu_path": "/dev/mtgpu.", "primary_path": "/dev/dri/card", "render_path": "/dev/dri/renderD"}
SERIAL_LENGTH, SERIAL_KEPT = 12, 4
MASKED_TEXT = """\
# Masked: serial numbers, UUIDs, names of slots, paths of nodes that are not Linux's own.
# Left in: names, versions, PCI addresses and ids, numbers of slots, CPUs and NUMA nodes, and what was measured."""


@lru_cache(None)
def words(prefix):
    """{value of a C enum: its word in profiles}, the end of its name; the constant for the enum's size is left out."""
    names = [name for name in dir(pymtml) if name.startswith(prefix) and not name.endswith(("_COUNT", "_MAX"))]
    return {getattr(pymtml, name): name[len(prefix) :] for name in names}


def named(prefix, code, unknown=None):
    """The word for a value of the enum with this prefix, or the number if it has none; ``unknown`` for None."""
    return unknown if code is None else words(prefix).get(code, str(code))


def code_name(code):
    """The word of an MTML code; for pymtml's own codes, which have none in profiles, the number."""
    own = pymtml.MTML_ERROR_UNINITIALIZED <= code <= pymtml.MTML_ERROR_LIBRARY_NOT_FOUND
    return str(code) if own else named("MTML_ERROR_", code)


class Walk:
    """A walk through a machine: its queries, what failed, and what cards share."""

    def __init__(self, unmasked):
        self.unmasked = unmasked
        self.failures = []  # (function, device's label, code)
        self.excesses = []  # comments on what there are more than MOST of
        self.masks = {}
        self.definitions = {}  # section: keys, of types and configurations that cards share
        self.label = "machine"

    def ask(self, function, *arguments):
        """What a function returns, or None if it fails."""
        try:
            return getattr(pymtml, function)(*arguments)
        except pymtml.MTMLError as error:
            code = error.mtml_code if error.mtml_code is not None else error.value
            self.failures.append((function, self.label, code))
            return None

    def bounded(self, function, number, otherwise=0):
        """A number that a function returned, at most MOST; ``otherwise`` if it failed."""
        if number is None:
            return otherwise
        excess = "# %s: %d (%s); the first %d were queried" % (function, number, self.label, MOST)
        if number > MOST and excess not in self.excesses:
            self.excesses.append(excess)
        return min(number, MOST)

    def refused(self, since):
        """Functions that are not supported, among the failures from index ``since`` on (list)."""
        failed = self.failures[since:]
        return list(dict.fromkeys(name for name, _, code in failed if code == pymtml.MTML_ERROR_NOT_SUPPORTED))

    def masked(self, kind, text):
        """A text that identifies a machine, replaced by another of the same form unless --unmasked."""
        node = NODES.get(kind)
        if self.unmasked or not text or (node and re.match(re.escape(node) + r"[0-9]+\Z", text)):
            return text
        number = len([key for key in self.masks if key[0] == kind]) + 1
        number = self.masks.setdefault((kind, text), number)
        if kind == "uuid":
            return "00000000-0000-0000-0000-%012x" % number
        if kind == "slot_name":
            return "slot %d" % number
        if node:
            return "%s%d" % (node, number - 1)
        kept = SERIAL_KEPT if len(text) >= SERIAL_LENGTH else 0  # the product's digits, if more follow
        return text[:kept] + ("%d" % number).rjust(len(text) - kept, "0")


ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", " ": "\\s"}


def escaped(text):
    """A text as profiles write it, in ASCII whatever the locale; blanks are escaped at its ends only."""

    def escape(match):
        return ESCAPES.get(match.group()) or "".join("\\x%02x" % byte for byte in match.group().encode("utf-8"))

    return re.sub(r"\A | \Z|[^ -\[\]-~]", escape, text)


def keys_of(walk, answer, keys):
    """Keys with their values in an answer (dict): "key" of the answer itself, "key=member" of a struct, "key=0" of two.

    Behind a colon is the format of the value, or the prefix of its enum's names.
    """
    found = {}
    for part in keys.split():
        key, _, member = part.partition("=")
        member, _, form = member.partition(":")
        value = answer[int(member)] if member.isdigit() else getattr(answer, member) if member else answer
        if isinstance(value, str):
            value = escaped(walk.masked(key, value) if key in MASKED else value)
        form = form or ("%g" if isinstance(value, float) else "%s")
        found[key] = form % value if "%" in form else named(form, value)
    return found


def mask_ranges(words):
    """Bits of words as 0-31,64-95."""
    return ranges(members(words))


def device_keys(walk, device):
    """(keys of a card, an instance or a virtual device, functions that it refuses)."""
    keys, before = {}, len(walk.failures)
    for question in QUESTIONS:
        keys.update(question(walk, device))
    return keys, walk.refused(before)


# ---- Questions: functions of walk and device that return keys with their values ----


def asked(keys, function, *arguments, made=None):
    """A question for a function's answer, which `keys_of` reads, or ``made`` turns into the text of a single key."""

    def question(walk, device):
        answer = walk.ask(function, device, *arguments)
        if answer is None:
            return {}
        return keys_of(walk, answer, keys) if made is None else {keys: made(answer)}

    return question


def each(key, count, function, made=str, otherwise=0):
    """A question for a list: the answers of a function for all things that ``count`` counts, without failures."""

    def question(walk, device):
        numbers = range(walk.bounded(count, walk.ask(count, device), otherwise))
        answers = [walk.ask(function, device, number) for number in numbers]
        return {key: ", ".join(made(answer) for answer in answers if answer is not None)}

    return question


def display(spec):
    kind = named("MTML_DISP_INTF_TYPE_", spec.type)
    return "%s %dx%d@%g" % (kind, spec.maxHoriRes, spec.maxVertRes, spec.maxRefreshRate)


def engines(walk, device):
    """Utilization by engine, if all engines report it."""
    answers = [walk.ask("mtmlGpuGetEngineUtilization", device, engine) for engine in range(pymtml.MTML_GPU_ENGINE_MAX)]
    return {} if None in answers else {"engine_utilization": ", ".join(map(str, answers))}


def sessions(key, kind):
    """A question for the sessions of the video engine that are in use."""

    def question(walk, device):
        texts = []
        for session in walk.ask("mtmlVpuGet%sSessionStates" % kind, device) or ():
            if session.state != pymtml.MTML_CODEC_SESSION_STATE_IDLE:
                metrics = walk.ask("mtmlVpuGet%sSessionMetrics" % kind, device, session.sessionId)
                found = {} if metrics is None else keys_of(walk, metrics, TABLES["mtmlCodecSessionMetrics_t"])
                found = dict(found, state=named("MTML_CODEC_SESSION_STATE_", session.state))
                texts.append(" ".join("%s=%s" % pair for pair in [("id", session.sessionId), *found.items()]))
        return {key: ", ".join(texts)}

    return question


def retired_pages(walk, device):
    keys = {}
    counts = walk.ask("mtmlMemoryGetRetiredPagesCount", device)
    for key, cause, count in (("retired_pages_sbe", 0, "singleBitEcc"), ("retired_pages_dbe", 1, "doubleBitEcc")):
        size = 1 if counts is None else max(getattr(counts, count), 1)
        pages = walk.ask("mtmlMemoryGetRetiredPages", device, cause, size)
        if pages is not None:
            keys[key] = ", ".join("0x%x@%d" % (page.address, page.timestamp) for page in pages)
    return keys


SPECIAL = {
    "retired_pages_pending": asked(
        "retired_pages_pending", "mtmlMemoryGetRetiredPagesPendingStatus", made=lambda code: YES_NO.get(code, code)
    ),
    # The C API does not report the generation; it is the high byte of the PCI device id.
    "generation": asked(
        "generation", "mtmlDeviceGetPciInfo", made=lambda info: GENERATIONS.get(info.pciDeviceId >> 24, NEWEST)
    ),
    # If the number of fans is unknown, the first is queried nevertheless, so that its refusal is recorded.
    "fan_speed": each("fan_speed", "mtmlDeviceCountFan", "mtmlDeviceGetFanSpeed", otherwise=1),
    "fan_rpm": each("fan_rpm", "mtmlDeviceCountFan", "mtmlDeviceGetFanRpm", otherwise=1),
    "displays": each("displays", "mtmlDeviceCountDisplayInterface", "mtmlDeviceGetDisplayInterfaceSpec", display),
    "engine_utilization": engines,
    "encoder_sessions": sessions("encoder_sessions", "Encoder"),
    "decoder_sessions": sessions("decoder_sessions", "Decoder"),
    "retired_pages": retired_pages,
    "cpu_affinity": asked("cpu_affinity", "mtmlDeviceGetCpuAffinityWithinNode", CPU_WORDS, made=mask_ranges),
    "memory_affinity": asked("memory_affinity", "mtmlDeviceGetMemoryAffinityWithinNode", NODE_WORDS, made=mask_ranges),
}


def _question(row):
    """The question of a row of capture.txt."""
    called, _, keys = row.partition(" |")
    function, *numbers = called.split()
    return SPECIAL[numbers[0]] if function == "=" else asked(keys.strip(), function, *map(int, numbers))


TABLES = layout.blocks("capture.txt")
QUESTIONS = [_question(row) for row in TABLES["card"].split("\n")]


# ---- The machine ----


class Card:
    """A card: its keys, and its instances and virtual devices, whose sections follow that of the card."""

    def __init__(self, device, number):
        self.device, self.number = device, number
        self.keys, self.refused = {}, []
        self.children = []  # (suffix of its section, keys, refused functions, or None if it was not queried)
        self.peers = []  # for each link [number of the other card, number of the link there], or None


def cards(walk):
    """All cards, in MTML's order; an instance whose parent is not visible counts as a card."""
    found = []
    count = "mtmlLibraryCountDevice"
    for index in range(walk.bounded(count, walk.ask(count))):
        device = walk.ask("mtmlLibraryInitDeviceByIndex", index)
        if device is None:
            continue
        properties = walk.ask("mtmlDeviceGetProperty", device)
        is_instance = properties is not None and properties.mpcType == pymtml.MTML_MPC_TYPE_INSTANCE
        if not is_instance or walk.ask("mtmlDeviceGetMpcParentDevice", device) is None:
            found.append(Card(device, len(found)))
    return found


def fill(walk, card):
    """Query everything about a card that does not involve another card."""
    walk.label = "device.%d" % card.number
    properties = walk.ask("mtmlDeviceGetProperty", card.device)
    card.keys, card.refused = device_keys(walk, card.device)
    if properties is None:
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
    """Add a child, with the keys that differ from its card's, and those that would follow from its profile or type."""
    walk.label = "device.%d%s" % (card.number, end)
    keys, refused = device_keys(walk, device)
    keys.pop("generation", None)
    differing = {key: value for key, value in keys.items() if key in CHILD_ALWAYS or card.keys.get(key) != value}
    card.children.append((end, differing, refused))


CHILD_ALWAYS = ("uuid", "memory_total", "memory_used", "gpu_cores", "encoder_capacity", "decoder_capacity")
CHILD_ALWAYS += ("encoder_sessions", "decoder_sessions")


def fill_kinds(walk, card, key, function, define):
    """Add a key for what a card can be divided into, and a section for each kind."""
    kinds = walk.ask(function, card.device)
    if kinds is not None:
        card.keys[key] = ", ".join(define(walk, kind) for kind in kinds)


def fill_mpc(walk, card):
    fill_kinds(walk, card, "mpc_profiles", "mtmlDeviceGetSupportedMpcProfiles", define_profile)
    fill_kinds(walk, card, "mpc_configurations", "mtmlDeviceGetSupportedMpcConfigurations", define_configuration)
    mode = walk.ask("mtmlDeviceGetMpcMode", card.device)
    if mode == pymtml.MTML_DEVICE_MPC_ENABLE:
        current = walk.ask("mtmlDeviceGetMpcConfiguration", card.device)
        if current is None:
            return  # a profile cannot describe an unknown division
        card.keys["mpc_configuration"] = define_configuration(walk, current)
        instances = walk.ask("mtmlDeviceGetMpcInstances", card.device) or ()
        for number, instance in enumerate(instances):
            add_child(walk, card, ".instance.%d" % number, instance)
        for number in range(len(instances), sum(profile >= 0 for profile in current.profileId)):
            card.children.append((".instance.%d" % number, {"visible": "no"}, None))  # not listed by MTML
        walk.label = "device.%d" % card.number
    if mode is not None:
        card.keys["mpc_mode"] = named("MTML_DEVICE_MPC_", mode)


def fill_virtual(walk, card):
    """Types of virtual devices, and those that are active."""
    fill_kinds(walk, card, "virt_types", "mtmlDeviceGetSupportedVirtTypes", define_type)
    number = 0
    for uuid in walk.ask("mtmlDeviceGetActiveVirtDeviceUuids", card.device) or ():
        walk.label = "device.%d" % card.number
        device = walk.ask("mtmlDeviceInitVirtDevice", card.device, uuid)
        if device is None:
            continue
        add_child(walk, card, ".virt.%d" % number, device)
        number += 1
        kind = walk.ask("mtmlDeviceGetVirtType", device)
        if kind is not None:
            card.children[-1][1]["virt_type"] = define_type(walk, kind)


# ---- Sections that cards share: functions that write one and return its name, or its number ----


def define_profile(walk, profile):
    keys = keys_of(walk, profile, "name=name cores=coreCount memory=memorySizeMB")
    walk.definitions["mpc_profile.%d" % profile.id] = keys
    return str(profile.id)


def define_configuration(walk, configuration):
    """A configuration, and its profiles, which stay empty until an answer describes them."""
    ids = [str(profile) for profile in configuration.profileId if profile >= 0]
    keys = {"name": escaped(configuration.name), "profiles": ", ".join(ids)}
    walk.definitions["mpc_configuration.%d" % configuration.id] = keys
    for profile in ids:
        walk.definitions.setdefault("mpc_profile." + profile, {})
    return str(configuration.id)


def define_type(walk, kind):
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", kind.id)  # names of sections have no escapes
    walk.definitions["virt_type." + name] = keys_of(walk, kind, TABLES["mtmlVirtType_t"])
    return name


# ---- Cards together ----


def fill_pairs(walk, found):
    """Query how cards are joined."""
    for card in found:
        walk.label = "device.%d" % card.number
        before = len(walk.failures)
        lists = {"topology": [], "p2p_read": [], "p2p_write": []}
        for other in found:
            pair = card.device, other.device
            level = None if other is card else walk.ask("mtmlDeviceGetTopologyLevel", *pair)
            lists["topology"].append(named("MTML_TOPOLOGY_", level, "-"))
            for key, capability in (("p2p_read", pymtml.MTML_P2P_CAPS_READ), ("p2p_write", pymtml.MTML_P2P_CAPS_WRITE)):
                status = walk.ask("mtmlDeviceGetP2PStatus", *pair, capability)
                lists[key].append(named("MTML_P2P_STATUS_", status, "UNKNOWN"))
        card.keys.update((key, ", ".join(values)) for key, values in lists.items())
        card.refused = list(dict.fromkeys(card.refused + walk.refused(before)))
        if card.keys.get("mtlink_capability") == "yes":
            fill_links(walk, card, found)


# Of each MtLink: (key, function, arguments, enum). A failure becomes 0: a link that is down, or not capable
STATUS = "mtmlDeviceGetMtLinkCapStatus"
OF_LINK = (
    ("mtlink_state", "mtmlDeviceGetMtLinkState", (), "MTML_MTLINK_STATE_"),
    ("mtlink_p2p_access", STATUS, (pymtml.MTML_MTLINK_CAP_P2P_ACCESS,), "MTML_MTLINK_CAP_STATUS_"),
    ("mtlink_p2p_atomics", STATUS, (pymtml.MTML_MTLINK_CAP_P2P_ATOMICS,), "MTML_MTLINK_CAP_STATUS_"),
)


def fill_links(walk, card, found):
    """Query the MtLinks of a card, and the far end of each."""
    spec = walk.ask("mtmlDeviceGetMtLinkSpec", card.device)
    if spec is None:
        return
    card.keys.update(keys_of(walk, spec, "mtlink_version=version mtlink_bandwidth=bandWidth"))
    links = walk.bounded("mtmlDeviceGetMtLinkSpec", spec.linkNum)
    card.keys["mtlink_count"] = str(links)
    ends = {}  # (number of the other card, link here): link there
    for other in found:
        if other is not card:
            for pair in walk.ask("mtmlDeviceGetMtLinkLayouts", card.device, other.device) or ():
                ends[other.number, pair.localLinkId] = pair.remoteLinkId
    lists = {key: [] for key, _, _, _ in OF_LINK}
    for link in range(links):
        for key, function, arguments, names in OF_LINK:
            lists[key].append(named(names, walk.ask(function, card.device, link, *arguments) or 0))
        remote = walk.ask("mtmlDeviceGetMtLinkRemoteDevice", card.device, link)
        other = next((one.number for one in found if one.device == remote), None)
        card.peers.append(None if other is None else [other, ends.get((other, link))])
    card.keys.update((key, ", ".join(values)) for key, values in lists.items())


def join_ends(found):
    """Number the far ends of links that are in no layout (those that are down): the links of a pair in order."""
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
    """Whether a query by topology level also counts nearer devices."""
    for card in found:
        levels = [
            text for text in card.keys.get("topology", "").split(", ") if text in words("MTML_TOPOLOGY_").values()
        ]
        far = walk.ask("mtmlDeviceCountDeviceByTopologyLevel", card.device, pymtml.MTML_TOPOLOGY_SYSTEM)
        if far is None or not levels:
            continue
        # Instances also count as devices at a level: only a machine without them shows the difference.
        if any(one.children for one in found):
            return False
        return far == len(levels) != levels.count("SYSTEM")
    return False


def missing():
    """Functions that the library does not export."""
    found = []
    for name in (*pymtml._PROTOTYPES, *pymtml._OPTIONAL_PROTOTYPES):
        try:
            pymtml._mtmlGetFunctionPointer(name)
        except pymtml.MTMLError:
            found.append(name)
    return found


def section(name, keys):
    return ["", "[%s]" % name] + [("%s = %s" % (key, value)).rstrip() for key, value in keys.items()]


def profile(unmasked):
    """The profile as text; raises MTMLError_LibraryNotFound."""
    walk = Walk(unmasked)
    code = init_code()
    if code is not None:
        machine = {"library_version": "unknown-simulator", "driver_version": "unknown", "init": code}
        return "\n".join(heading("mtmlLibraryInit returns " + code, unmasked) + section("machine", machine)) + "\n"
    try:
        answers = walk.ask("mtmlLibraryGetVersion"), walk.ask("mtmlSystemGetDriverVersion")
        library, driver = ["unknown" if answer is None else answer for answer in answers]
        found = cards(walk)
        for card in found:
            fill(walk, card)
        fill_pairs(walk, found)
        join_ends(found)
        nearer = includes_nearer(walk, found)
    finally:
        pymtml.mtmlLibraryShutDown()
    absent = missing()
    machine = {
        # The simulator's version always contains this word.
        "library_version": escaped(library if "simulator" in library else library[:20] + "-simulator"),
        "driver_version": escaped(driver),
    }
    if absent:
        machine["missing"] = ", ".join(absent)
    if nearer:
        machine["topology_includes_nearer"] = "yes"
    again = init_code()
    if again is None:
        pymtml.mtmlLibraryShutDown()
    else:
        machine["reinit"] = again
    lines = heading("library %s, driver %s" % (library, driver), unmasked) + failure_lines(walk, absent)
    lines += driver_lines(walk)
    lines += section("machine", machine)
    for name in sorted(walk.definitions, key=natural):
        lines += section(name, walk.definitions[name])
    for card in found:
        of_card = [name for name in card.refused if name not in absent]
        for end, keys, refused in [("", card.keys, card.refused)] + card.children:
            names = of_card if refused is None else [name for name in refused if name not in absent]
            if names != (of_card if end else []):  # by default a child refuses what its card does
                keys = dict(keys, unsupported=", ".join(names))
            lines += section("device.%d%s" % (card.number, end), keys)
    return "\n".join(lines) + "\n"


def init_code():
    """The code with which an init fails, or None; raises MTMLError_LibraryNotFound."""
    try:
        pymtml.mtmlLibraryInit()
    except pymtml.NVMLError_LibraryNotFound:
        raise
    except pymtml.MTMLError as error:
        return code_name(error.value)
    return None


def natural(name):
    """A key that sorts numbers by size."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split("[.-]", name)]


def heading(text, unmasked):
    return [
        "# Captured by pymtml %s on %s: %s." % (pymtml.__version__, time.strftime("%Y-%m-%d"), escaped(text)),
        "# A profile of the MTML simulator. Values are those of one moment.",
        "# Nothing is masked." if unmasked else MASKED_TEXT,
    ]


def failure_lines(walk, absent):
    """The failures with their codes, as comments (list of str)."""
    lines = []
    if absent:
        lines.append("# Not exported: %s" % ", ".join(absent))
    by_failure = {}
    for function, label, code in walk.failures:
        if function not in absent:
            by_failure.setdefault((function, code), []).append(label)
    for (function, code), labels in by_failure.items():
        lines.append("# %s: %s (%s)" % (function, code_name(code), "; ".join(dict.fromkeys(labels))))
    return lines + walk.excesses


# ---- The driver's files, as comments: their forms, without numbers and names of processes, and UUIDs ----

DRIVER_FILES = "version gpu*/devname gpu*/status gpu*/memory gpu*/int_status gpu*/vram_info gpu*/proc_util"
DRIVER_FILES += " gpu*/event_report gpu*/mpc gpu*/mpc/* gpu*/mpc/gi*/*"
MOST_BYTES, MOST_LINES, MOST_FILES = 1 << 14, 40, 4096
SAMPLE_SECONDS = 0.3  # the driver counts shares of time from the first look at them on
UUID = re.compile(r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")
# Lines that name neither processes nor machines; of all others, letters and digits are replaced
KNOWN = re.compile(
    r"package version:|device:|mtgpu\.[0-9]+\Z|mtgpu_proc_util_|int status:|target [0-9]+ |MemoryUsage\w+\s|MemTotal\s"
    r"|(Driver|Firmware) Status:|\s*Pid\b[\s\w]*\Z|[\w\s]+: *[0-9x%:]+\s*\Z"
)


def driver_lines(walk):
    """What the driver's files look like (list of str); a file of the form of one before only refers to that."""
    root, lines, seen = os.path.join(pymtml._proc_root(), "driver", "musa"), [], {}
    for pattern in DRIVER_FILES.split():
        for path in sorted(glob.glob(os.path.join(root, pattern)))[:MOST_FILES]:
            name = os.path.relpath(path, root)
            try:
                text = driver_text(walk, path)
            except OSError as error:
                text = [str(error.strerror)]
            first = seen.setdefault((pattern, re.sub("[0-9]+", "0", "".join(text))), name)
            if first != name and not name.endswith("devname"):
                text = ["as " + first]
            lines += ["# %s: %s" % (escaped(name), escaped(line)) for line in text or ["empty"]]
    return ["# Files of the driver, in %s:" % escaped(root)] * bool(lines) + lines


def driver_text(walk, path):
    """The lines of a file of the driver, or what there is to say of it (list of str; raises OSError)."""
    if os.path.isdir(path):
        return ["folder with " + " ".join(sorted(os.listdir(path))[:MOST_LINES])]
    if os.path.basename(path) == "event_report":
        content = pymtml._event_bytes(path)
        return ["%d bytes" % len(content)] + [event(content[at : at + 256]) for at in range(0, len(content), 256)]
    if os.path.basename(path) == "proc_util" and read_bytes(path):
        time.sleep(SAMPLE_SECONDS)
    lines = [line for line in read_bytes(path).decode("latin-1").split("\n") if line]
    shown = lines if walk.unmasked else [masked_line(line) for line in lines[:MOST_LINES]]
    return shown[:MOST_LINES] + ["and %d more lines" % (len(lines) - MOST_LINES)] * (len(lines) > MOST_LINES)


def read_bytes(path):
    with open(path, "rb", opener=pymtml._open_nonblocking) as file:
        return file.read(MOST_BYTES) or b""


def event(record):
    """Type, length and version of a record of events; of an XID also number, scope and severity."""
    numbers = [record[at : at + 4][::-1].hex() for at in (0, 4, 24, 28, 32)]
    return "type %s length %s version %s xid %s scope and severity %s" % tuple(numbers)


def masked_line(line):
    return UUID.sub("UUID", line) if KNOWN.match(line) else re.sub("[A-Za-z]", "x", re.sub("[0-9]", "9", line))


def parser():
    parser = argument_parser("capture")
    text = "leave serial numbers, UUIDs, slots and paths as they are"
    parser.add_argument("--unmasked", action="store_true", help=text)
    return parser


def run(arguments):
    options = parser().parse_args(arguments)
    try:
        with saying("calling all functions of the library"):
            text = profile(options.unmasked)
    except pymtml.MTMLError as error:
        raise CommandError(" ".join(str(error).split()), UNREACHABLE)
    sys.stdout.write(text)
    return 0
