"""Whether cards are well: health's questions, as data. Nothing is printed here.

Each question is asked of each card, and has one of three outcomes: a finding (NOTE, WARNING, CRITICAL), well (OK), or
not reported (N/A). A question that fails is CRITICAL, because the state of the card is then unknown.
"""

import time
from collections import namedtuple

import pymtml
from pymtml_cli.common.text import fit, safe
from pymtml_cli.readings import aer, driver_files
from pymtml_cli.readings.devices import Implausible, Unknown, uuid_of
from pymtml_cli.readings.plausible import reads_zeros
from pymtml_cli.readings.processes import compute_processes, in_a_namespace_of_its_own, unseen_text
from pymtml_cli.readings.table import READINGS, fan, mostly_implausible, value_of
from pymtml_cli.readings.topology import ranges

OK, NOTE, NOT_AVAILABLE, WARNING, CRITICAL = "OK", "NOTE", "N/A", "WARNING", "CRITICAL"
SEVERITY = {OK: 0, NOTE: 0, NOT_AVAILABLE: 0, WARNING: 1, CRITICAL: 2}  # the exit statuses of monitoring plugins

# gpu, uuid and bus_id are None in a finding about the machine, value and limit in one without them; a limit without a
# value is the seconds that passed without an answer
Finding = namedtuple("Finding", "check level gpu uuid bus_id value limit text asked advice")

# The outcome of a question. ``advice`` takes the place of its check's advice; ``silent``: the card answers nothing at
# all; ``asked`` is false if the question was skipped because of that. Health and doctor each turn it into a Finding of
# their own.
Outcome = namedtuple("Outcome", "level text value limit advice silent asked", defaults=(None, None, "", False, True))

# A check: its questions in order (none if it is about the machine), each with its text for a good outcome; doctor's
# advice; ``noted``: whether doctor also reports a NOTE (other NOTEs are counters, and no sign that anything is wrong);
# ``among``: a question that compares all cards by what they have answered; ``measured``: whether its texts have
# measured numbers, which `compare` passes over; ``of_files``: whether its questions are asked of the driver's files
# instead of the card, and so also if that does not answer; ``finds``: its row in docs/command.md, with the default
# limits.
_DEFAULTS = ({}, None, False, None, True, False)
Check = namedtuple("Check", "name finds questions advice noted among measured of_files", defaults=_DEFAULTS)

# Limit: (default, least, most, help). A default of None is the card's own limit, or follows from the card.
LIMITS = {
    "max-temperature": (None, 1, 1000, "degrees Celsius of the GPU (default: its slowdown temperature, or 90)"),
    "max-memory-temperature": (95, 1, 1000, "degrees Celsius of the memory"),
    "max-ecc-errors": (0, 0, 10**15 - 1, "uncorrected memory errors since the driver was loaded"),
    "max-aggregate-ecc-errors": (10, 0, 10**15 - 1, "uncorrected memory errors in the card's lifetime"),
    "max-retired-pages": (60, 0, 10**15 - 1, "retired memory pages"),
    "max-pcie-replays": (100, 0, 10**15 - 1, "repeated PCIe packets"),
    "min-pcie-generation": (None, 1, 100, "PCIe generation of a busy card (default: one below the card's)"),
    "xid-hours": (24, 1, 8760, "hours for which an XID counts as fresh"),
    "max-idle-power": (50, 1, 1000, "percent of the power limit at a utilization of 0 percent"),
    "max-idle-memory": (50, 1, 100, "percent of the memory at a utilization of 0 percent"),
}
DRAIN = "drain the card and reboot"
PROCESSES = "processes"  # asked last: some files of other programs never answer
HOTTEST = 90  # degrees Celsius, for a card that does not report its limit
# Idle cards were seen at up to 46 percent of their power limit (S80, second-hand), and at 28 percent of their clock.
BUSY_POWER, BUSY_CLOCK = 30, 50
BUSY_UTILIZATION = 50  # percent
CORRECTED_PER_HOUR = 60  # PCIe errors


def default_limits():
    """The default limits ({name: number or None})."""
    return {name: default for name, (default, _, _, _) in LIMITS.items()}


class Failed(Exception):
    """Ends a question because a part of it has no answer. Arguments: the name of that part, the Unknown."""


def required(what, answer, *default):
    """The answer, or the default if the card does not report it; raises Failed for an error, or without a default."""
    if not isinstance(answer, Unknown):
        return answer
    if fails(answer) or not default:
        raise Failed(what, answer)
    return default[0]


def fails(answer):
    """Whether an answer is an Unknown because a query failed that hardware, driver and library support."""
    return isinstance(answer, Unknown) and not answer.not_supported


def not_asked(who):
    """The outcome of a question that is skipped because a card does not answer."""
    return Outcome(NOT_AVAILABLE, "not queried, because %s does not answer" % who, silent=True, asked=False)


def well(value=None, limit=None):
    """The outcome of a question that finds nothing wrong; its check has the text."""
    return Outcome(OK, "", value, limit)


def well_or(level, text, value, limit, wrong, advice=""):
    """The outcome of a question that finds one thing wrong, or nothing (list)."""
    return [Outcome(level, text, value, limit, advice) if wrong else well(value, limit)]


# ---- Questions: functions of a card and the limits that return a list of Outcome ----


def answers(card, limits):
    """Whether the card answers at all, and says which card it is."""
    failed, answered, found = {}, [], []
    if reads_zeros(card):
        return [Outcome(CRITICAL, "no answer: it reports 0 C, 0 W and 0 MHz at once", silent=True)]
    names = "name", "uuid", "pci.bus_id", "memory.used", "utilization.gpu"
    for what, name in zip(("name", "UUID", "PCI address", "memory", "utilization"), names):
        answer = value_of(card, name)
        if name in ("name", "uuid") and not isinstance(answer, Unknown) and not answer.strip("0-"):
            found.append(Outcome(CRITICAL, "%s: %s, which no card has" % (what, answer or "empty")))
        elif not isinstance(answer, Unknown):
            answered.append(what)
        elif not answer.not_supported:
            failed[what] = answer.reason
            if isinstance(answer, Implausible) and mostly_implausible(card):
                text = "no answer: most of its numbers are impossible, such as %s: %s" % (what, answer.text)
                return [Outcome(CRITICAL, text, silent=True)]
    reasons = set(failed.values())
    if len(reasons) == 1 and not answered and not found:
        return [Outcome(CRITICAL, "no answer: " + reasons.pop(), silent=True)]
    if not answered and not failed and not found:
        return [Outcome(WARNING, "reports no name, UUID, memory or utilization")]
    found += [Outcome(CRITICAL, "%s: %s" % pair) for pair in failed.items()]
    return found or [Outcome(OK, "reports " + ", ".join(answered))]


def measured(card, limits):
    """Whether each number that the card reports is possible."""
    rows = [(row.name, row) for row in READINGS if row.plausible is not None]
    count = value_of(card, "fans.count")
    for number in range(0 if isinstance(count, Unknown) else count):
        rows += [("fan %d" % number, row) for row in fan(number)]
    answers = [(name, row.question(card)) for name, row in rows]
    wrong = ["%s: %s" % (name, one.reason) for name, one in answers if isinstance(one, Implausible)]
    return [Outcome(CRITICAL, text) for text in wrong] or [well()]


def memory(card, limits):
    """Whether the card uses no more memory than it has."""
    used, total = [required("memory", value_of(card, name)) for name in ("memory.used", "memory.total")]
    text = "%d MiB in use, more than the %d MiB of the card" % (used >> 20, total >> 20)
    return well_or(WARNING, text, used, total, used > total)


def idle(card, limits):
    """Whether a card that reports itself idle is idle: busy cards were seen at a utilization of 0 percent.

    So mthreads-gmi 2.3.2 showed S5000 with 66 GiB in use, driver 3.3.5 (vllm-project/vllm-omni#2337). Not all do: under
    load the driver's file ``status`` of another one has 100 percent (MooreThreads/julia-musa, evidence-s7r4).
    """
    busy = required("utilization", value_of(card, "utilization.gpu"))
    if busy:
        return [well(busy)]
    held, size = [required("memory", value_of(card, name), None) for name in ("memory.used", "memory.total")]
    used = 100.0 * held / size if size and held is not None else None
    watts = required("power", value_of(card, "power.draw"), None)
    most = required("power limit", value_of(card, "enforced.power.limit"), None)
    drawn = 100.0 * watts / most if watts and most else None
    clock = required("clock", value_of(card, "clocks.current.graphics"), None)
    fastest = required("greatest clock", value_of(card, "clocks.max.graphics"), None)
    speed = 100.0 * clock / fastest if clock and fastest else None
    parts = ["%d %% of the memory in use" % used] if used is not None else []
    parts += ["%d W drawn" % (watts / 1000)] if watts else []
    text = "utilization 0 %%, with %s: " % " and ".join(parts)
    wrong, resting = "the utilization cannot be right", speed is not None and speed < BUSY_CLOCK
    if drawn is not None and drawn > limits["max-idle-power"] and not resting:
        return [Outcome(WARNING, text + wrong, round(drawn, 1), limits["max-idle-power"])]
    if used is None or used <= limits["max-idle-memory"]:
        return [well(0)]
    level, works = WARNING, speed is not None if drawn is None else drawn > BUSY_POWER
    if resting or not works:
        level, wrong = NOTE, "held by an idle program, or the utilization is wrong"
    return [Outcome(level, text + wrong, round(used, 1), limits["max-idle-memory"])]


def power_draw(card, limits):
    """Whether a busy card draws power. Its limit is queried to report a failure, which `lower_power_limits` ignores."""
    milliwatts = required("power", value_of(card, "power.draw"))
    busy = required("utilization", value_of(card, "utilization.gpu"), 0)
    required("power limit", value_of(card, "enforced.power.limit"), None)
    if milliwatts or not busy:
        return [well(milliwatts / 1000)]
    if value_of(card, "virtualization") == pymtml.NVML_GPU_VIRTUALIZATION_MODE_VGPU:
        return [Outcome(NOT_AVAILABLE, "power: not reported")]
    return [Outcome(WARNING, "0 W drawn at a utilization of %d %%" % busy, 0)]


def gpu_temperature(card, limits):
    value = required("temperature of the GPU", value_of(card, "temperature.gpu"))
    limit = limits["max-temperature"]
    if limit is None:
        limit = required("slowdown temperature", value_of(card, "temperature.slowdown"), 0)
        limit = limit if limit > 0 else HOTTEST
    return well_or(CRITICAL, "%d C; the limit is %d C" % (value, limit), value, limit, value >= limit)


def memory_temperature(card, limits):
    value = required("temperature of the memory", value_of(card, "temperature.memory"))
    limit = limits["max-memory-temperature"]
    return well_or(CRITICAL, "memory: %d C; the limit is %d C" % (value, limit), value, limit, value >= limit)


def ecc(card, limits):
    """Whether memory errors were left uncorrected since the driver was loaded."""
    if required("ECC mode", value_of(card, "ecc.mode.current"), True) == 0:
        return [Outcome(NOT_AVAILABLE, "ECC is off")]
    count = required("uncorrected memory errors", value_of(card, "ecc.errors.uncorrected.volatile.total"))
    limit, text = limits["max-ecc-errors"], "uncorrected memory errors since the driver was loaded: %d" % count
    return [Outcome(CRITICAL, text, count, limit) if count > limit else _counted(count, limit, text)]


def aggregate_ecc(card, limits):
    what = "lifetime uncorrected memory errors"
    count = required(what, value_of(card, "ecc.errors.uncorrected.aggregate.total"))
    return [_counted(count, limits["max-aggregate-ecc-errors"], "%s: %d" % (what, count))]


def _counted(count, limit, text):
    """The outcome for a counter: a note from one on, a warning above the limit."""
    if count > limit:
        return Outcome(WARNING, "%s; the limit is %d" % (text, limit), count, limit)
    return Outcome(NOTE, text, count, limit) if count else well(count, limit)


def pending_pages(card, limits):
    pending = required("pending pages", value_of(card, "retired_pages.pending"))
    return well_or(WARNING, "memory pages are waiting to be retired", pending, 0, pending, DRAIN)


def retired_pages(card, limits):
    names = ("retired_pages.single_bit_ecc.count", "retired_pages.double_bit.count")
    pages = [required("retired pages", value_of(card, name)) for name in names]
    count = len(set().union(*pages))
    return [_counted(count, limits["max-retired-pages"], "retired memory pages: %d" % count)]


def links(card, limits):
    """Whether all MtLinks are up, at full width."""
    count = required("MtLinks", value_of(card, "mtlink.count"))
    found, states, refused = [], {}, None
    for link in range(count):
        state = card.ask(pymtml.mtmlDeviceGetMtLinkState, link)
        if fails(state):
            found.append(Outcome(CRITICAL, "state of MtLink %d: %s" % (link, state.reason)))
        elif isinstance(state, Unknown):
            refused = state
        else:
            states.setdefault(state, []).append(link)
    up = len(states.pop(pymtml.MTML_MTLINK_STATE_UP, ()))
    words = {pymtml.MTML_MTLINK_STATE_DOWN: "down", pymtml.MTML_MTLINK_STATE_DOWNGRADE: "at reduced width"}
    for state, numbers in sorted(states.items()):
        text = "MtLink %s %s" % (ranges(numbers), words.get(state, "in state %d" % state))
        found.append(Outcome(CRITICAL, text, up, count))
    if not found and refused:
        raise Failed("state of MtLinks", refused)
    return found or [well(up, count) if count else Outcome(NOT_AVAILABLE, "no MtLinks")]


def pcie_width(card, limits):
    """Whether the slot has the lanes that the card has."""
    value, most = _pcie(card, "width")
    return well_or(WARNING, "PCIe link is x%d; the card supports x%d" % (value, most), value, most, value < most)


def pcie_generation(card, limits):
    """The PCIe link's generation. A low one is a WARNING only on a busy card: it drops when the card is idle."""
    value, most = _pcie(card, "generation", "gen")
    busy = required("utilization", value_of(card, "utilization.gpu"), 0)
    least = limits["min-pcie-generation"] or most - 1  # many slots are one generation older than the card
    if value < least and busy > BUSY_UTILIZATION:
        text = "PCIe link is at gen %d at a utilization of %d %%; the card supports gen %d" % (value, busy, most)
        return [Outcome(WARNING, text, value, least)]
    return well_or(NOTE, "PCIe link is at gen %d; the card supports gen %d" % (value, most), value, most, value < most)


def _pcie(card, what, name=None):
    """The current and the greatest width or generation of a card's PCIe link (list)."""
    names = ["pcie.link.%s.%s" % (name or what, which) for which in ("current", "max")]
    return [required("PCIe " + what, value_of(card, one)) for one in names]


def pcie_replays(card, limits):
    """Whether many PCIe packets had to be sent again, and what errors the kernel has counted."""
    found = _kernel_errors(card)
    if found and isinstance(value_of(card, "pcie.replays"), Unknown):
        return found
    count = required("PCIe replays", value_of(card, "pcie.replays"))
    return [_counted(count, limits["max-pcie-replays"], "PCIe replays: %d" % count)] + found


def _kernel_errors(card):
    """Outcomes for what the kernel has counted of PCIe errors: corrected ones are a matter of rate (list)."""
    counted, found = aer.of(card, value_of(card, "pci.bus_id")), []
    fatal, corrected = (sum(n for (one, _), n in counted.items() if one == kind) for kind in ("fatal", "correctable"))
    hours = aer.hours() if corrected else None
    if fatal:
        found.append(Outcome(WARNING, "fatal PCIe errors (AER) since the host started: %d" % fatal, fatal, 0))
    if hours and corrected / hours > CORRECTED_PER_HOUR:
        text = "corrected PCIe errors (AER) per hour since the host started: %d" % (corrected / hours)
        found.append(Outcome(NOTE, text, int(corrected / hours), CORRECTED_PER_HOUR))
    return found


def seen_processes(card, limits):
    """Whether all processes could be inspected; otherwise it is unknown which of them use the card."""
    _, unseen = required("processes", card.ask(compute_processes))
    if not unseen and in_a_namespace_of_its_own():
        return [
            Outcome(OK, "all processes of this container could be inspected; those of others exist elsewhere", 0, 0)
        ]
    return well_or(NOTE, unseen_text(unseen), unseen, 0, unseen)


# ---- Questions of the driver's files: functions of Files and the limits that return a list of Outcome ----


def firmware(files, limits):
    """What the driver itself says of the card, and what it has counted."""
    if isinstance(files.status, driver_files.Unread):
        return [Outcome(CRITICAL if files.status.failed else NOT_AVAILABLE, "status: " + files.status.why)]
    found = []
    for name, word, why in driver_files.states(files.status):
        if word != driver_files.GOOD:
            text = fit("%s %s%s" % (name, word, " (%s)" % why if why else ""), 80)
            found.append(Outcome(CRITICAL if word in driver_files.BAD else WARNING, text))
    counts = driver_files.counts(files.status)
    if any(kind != "server" for kind, _, _ in counts):  # a card in order had Server Errors alone (evidence-s7r4)
        counted = ", ".join("%s %d" % (name, number) for _, name, number in counts)
        found.append(Outcome(NOTE, "since the driver was loaded: " + counted))
    return found or [well()]


# What to do about an XID, by its number (hexadecimal), else by its scope
ADVICE = {
    "2000005": DRAIN,
    "2000006": DRAIN,
    "5000001": "look at the fan",
    "5000003": "look at fans, air flow and the power limit",
    "6000001": "a card that fell off the bus needs a reset or a reboot; if that happens again, reseat it",
    "7000001": "`pymtml mtlink -s` shows all links; reseat the board or the bridge",
    "process": "look at the program",
    "gpu": "drain the card and reset it",
}
ADVICE.update(dict.fromkeys(("7000003", "7000004"), ADVICE["7000001"]))
CLOCKS_DIFFER = 60  # seconds that a record may lie in the future


def xid(files, limits):
    """Whether the driver has recorded errors that concern more than one program; a line for each number."""
    if isinstance(files.xids, driver_files.Unread):
        return [Outcome(CRITICAL if files.xids.failed else NOT_AVAILABLE, "event_report: " + files.xids.why)]
    records, strange = files.xids
    now, groups = time.time(), {}
    for one in records:
        level = NOTE
        if is_fresh(one, files, limits, now) and one.scope != driver_files.OF_A_PROCESS:
            level = {driver_files.FATAL: CRITICAL, driver_files.NOTED: NOTE}.get(one.severity, WARNING)
        groups.setdefault((level, one.number, one.severity, one.scope), []).append(one)
    found = []
    for (level, _, severity, scope), those in groups.items():
        last, number = those[-1], driver_files.number(those[-1])
        text = "XID %s %s(%s, %s)" % (number, last.name + " " if last.name else "", severity, scope)
        when = driver_files.when(last, "%Y-%m-%d %H:%M:%S") or "a time that cannot be"
        text += " %d times, last at %s" % (len(those), when) if len(those) > 1 else " at " + when
        advice = ADVICE.get(number, ADVICE.get(scope, "drain the host and reboot"))
        found.append(Outcome(level, text, len(those), None, "" if severity == driver_files.NOTED else advice))
    if strange:
        found.append(Outcome(NOTE, "records of the driver's events that are not understood: %d" % strange))
    return found or [well()]


def is_fresh(record, files, limits, now):
    """Whether an XID still counts: not after a reset by pymtml, nor after some hours. One of the future never ages."""
    return max(now - 3600 * limits["xid-hours"], files.reset) <= record.time <= now + CLOCKS_DIFFER


# ---- Questions that compare cards: (card, Outcome) of each that differs from others of its name (iterators) ----


def _by_kind(cards, name):
    """(card, its value of a reading, the values of all cards of its name) of each card that has one (iterator)."""
    kinds = {}
    for card in cards:
        kind, value = card.ask(pymtml.nvmlDeviceGetName), value_of(card, name)
        if not isinstance(value, Unknown) and not isinstance(kind, Unknown):
            kinds.setdefault(kind, []).append((card, value))
    for pairs in kinds.values():
        for card, value in pairs:
            yield card, value, [other for _, other in pairs]


def same_identities(cards):
    """Whole cards with the UUID or the PCI address of another one: then one of the two answers for the other."""
    for what, name in (("UUID", "uuid"), ("PCI address", "pci.bus_id")):
        owners = {}
        for card in cards:
            answer = value_of(card, name)
            if not isinstance(answer, Unknown) and answer.strip("0:.-"):
                owners.setdefault(answer.lower(), []).append(card)
        for answer, those in owners.items():
            those = those if len(those) < 2 else [card for card in those if not _is_instance(card)]
            for card in those if len(those) > 1 else ():
                others = ranges(other.index for other in those if other is not card)
                text = "%s %s, which GPU %s reports as well: one card answers for another" % (what, answer, others)
                yield card, Outcome(CRITICAL, text)


def _is_instance(card):
    """Whether a card is an MPC instance whose card is not visible; those of a card share its address."""
    known = card.ask(pymtml.mtmlDeviceGetProperty)
    return not isinstance(known, Unknown) and known.mpcType == pymtml.MTML_MPC_TYPE_INSTANCE


def lower_power_limits(cards):
    for card, value, values in _by_kind(cards, "enforced.power.limit"):
        if value < max(values):
            text = "power limit is %d W; other cards of this name have %d W" % (value / 1000, max(values) / 1000)
            yield card, Outcome(WARNING, text, value / 1000, max(values) / 1000)


def ecc_off(cards):
    """Cards with ECC off, if it is on for others of their name."""
    for card, value, values in _by_kind(cards, "ecc.mode.current"):
        if not value and any(values):
            step = "`pymtml -i GPU -e 1` turns it on"
            yield card, Outcome(WARNING, "ECC is off; other cards of this name have it on", advice=step)


# fmt: off
CHECKS = {check.name: check for check in (
    Check("driver", "CRITICAL: it does not answer, hangs, or crashes the process; another check is running",
          measured=False),
    Check("devices", "CRITICAL: no card, or not the number that `--expect` requires", measured=False),
    Check("answers",
          "CRITICAL: the card does not answer, has no name or UUID, or the UUID or PCI address of another card; "
          "WARNING: it reports no name, UUID, memory or utilization", {answers: None},
          "look at dmesg; a card that fell off the bus needs a reset or a reboot", among=same_identities,
          measured=False),
    Check("firmware",
          "the driver's own status in `/proc/driver/musa`, CRITICAL: %(bad)s; WARNING: any other but OK; what it "
          "counted of recoveries and errors is a NOTE", {firmware: "driver and firmware are OK"},
          "look at dmesg; drain the card and reset it, or reboot", of_files=True),
    Check("xid",
          "errors that the driver has recorded (XIDs), CRITICAL: a fatal one that concerns more than one program; "
          "WARNING: a warning of that kind; NOTE: all others, and those older than `--xid-hours` (%(xid-hours)d) or "
          "than a reset by `pymtml -r`", {xid: "no XIDs"}, "`pymtml xid` lists them", of_files=True),
    Check("memory", "WARNING: more in use than the card has", {memory: "memory in use is within the total"},
          "seen with the IOMMU off: turn it on, or do not trust memory numbers"),
    Check("utilization",
          "0 %% on a busy card, WARNING: it draws more than `--max-idle-power` percent of its power limit, or uses "
          "more than `--max-idle-memory` percent of its memory at more than an idle card's power or clock; NOTE: it "
          "only uses memory", {idle: "utilization is plausible"},
          "seen with driver 3.3: use power and memory, not utilization, to find idle cards", noted=True),
    Check("power",
          "WARNING: 0 W on a card that works; a lower power limit than on other cards of its name",
          {power_draw: "power draw is plausible"}, "look at dmesg; `pymtml -q -d POWER` shows the limits",
          among=lower_power_limits),
    Check("temperature",
          "CRITICAL: the GPU reaches the temperature at which it slows down (%(hottest)d degrees if it reports none), "
          "or `--max-temperature`; the memory reaches `--max-memory-temperature` (%(max-memory-temperature)d)",
          {gpu_temperature: "temperature is below the limit",
           memory_temperature: "memory temperature is below the limit"},
          "look at fans, air flow and the power limit"),
    Check("ecc",
          "uncorrected memory errors, CRITICAL: more than `--max-ecc-errors` (%(max-ecc-errors)d) since the driver was "
          "loaded; in the card's lifetime a NOTE, and WARNING above `--max-aggregate-ecc-errors` "
          "(%(max-aggregate-ecc-errors)d); WARNING: ECC is off although other cards of its name have it on",
          {ecc: "no uncorrected memory errors since the driver was loaded",
           aggregate_ecc: "no uncorrected memory errors in the card's lifetime"},
          "reset the card; if errors come back, have it replaced", among=ecc_off),
    Check("pages",
          "WARNING: pages wait to be retired; retired pages are a NOTE, and a WARNING above `--max-retired-pages` "
          "(%(max-retired-pages)d)",
          {pending_pages: "no memory pages are waiting to be retired", retired_pages: "no memory pages are retired"},
          DRAIN),
    Check("links", "CRITICAL: an MtLink is down, or at reduced width", {links: "all MtLinks are up"},
          "`pymtml mtlink -s` shows all; reseat the board or the bridge", measured=False),
    Check("pcie",
          "WARNING: fewer lanes than the card has; replays are a NOTE, and a WARNING above `--max-pcie-replays` "
          "(%(max-pcie-replays)d); a lower generation is a NOTE, as it drops when the card is idle, and a WARNING at a "
          "utilization above %(busy)d %% if it is below `--min-pcie-generation` (default: one below the card's); "
          "more than 60 corrected errors per hour by the kernel's count (AER) are a NOTE, a fatal one is a WARNING",
          {pcie_width: "PCIe link is at full width", pcie_generation: "PCIe link is at its highest generation",
           pcie_replays: "no PCIe replays"},
          "reseat the card, or use a slot with more lanes; look at dmesg for AER"),
    Check("readings",
          "CRITICAL: a number that no card can report, such as the 4294967295 of a card that is gone, or 0 C, 0 W and "
          "0 MHz at once",
          {measured: "all numbers are plausible"},
          "look at dmesg, and trust no number of the card; reset it, or reboot"),
    Check(PROCESSES, "NOTE: some processes could not be inspected, so it is unknown which use the card",
          {seen_processes: "all processes could be inspected"},
          "run as root to see them; in a container with --pid=host and --cap-add=SYS_PTRACE", noted=True),
)}
# fmt: on
OF_CARD = tuple(name for name, check in CHECKS.items() if check.questions)
OF_FILES = tuple(name for name, check in CHECKS.items() if check.of_files)


def are_measured(check):
    """Whether the texts of a check have measured numbers. Of the checks that only doctor has, those of `cost` do."""
    return CHECKS[check].measured if check in CHECKS else check == "cost"


def markdown():
    """The table of checks in docs/command.md."""
    numbers = dict(default_limits(), hottest=HOTTEST, busy=BUSY_UTILIZATION, bad=", ".join(driver_files.BAD))
    rows = ["| `%s` | %s |\n" % (name, check.finds % numbers) for name, check in CHECKS.items()]
    return "| check | finding |\n|---|---|\n" + "".join(rows)


# ---- Findings ----


def identity(card):
    """(gpu, uuid, bus_id) of a card; None for what it does not report."""
    answers = uuid_of(card), value_of(card, "pci.bus_id")
    return (card.index, *(None if isinstance(answer, Unknown) else safe(answer) for answer in answers))


def outcomes(card, check, limits):
    """The outcomes of a check's questions on a card (list of Outcome)."""
    files = driver_files.of(card) if CHECKS[check].of_files else None
    if CHECKS[check].of_files and files is None:
        return [Outcome(NOT_AVAILABLE, "the driver has no files for this card")]
    return _outcomes(files or card, check, limits)


def _outcomes(asked, check, limits):
    """The same of what the questions are asked of."""
    found = []
    for question, good in CHECKS[check].questions.items():
        try:
            found += [one if one.text else one._replace(text=good) for one in question(asked, limits)]
        except Failed as failed:
            what, unknown = failed.args
            failure = Outcome(CRITICAL, "%s: %s" % (what, unknown.reason))
            found.append(failure if fails(unknown) else Outcome(NOT_AVAILABLE, what + ": not reported"))
    return found


def finding(check, outcome, who=(None, None, None)):
    """An outcome of a check as a Finding, about a card or the machine."""
    text = outcome.text + (": " + outcome.advice if outcome.advice else "")
    advice = outcome.advice or CHECKS[check].advice if SEVERITY[outcome.level] else None
    return Finding(check, outcome.level, *who, outcome.value, outcome.limit, safe(text), outcome.asked, advice)


def driver_finding(level, text, limit=None):
    """A Finding of the check of the driver."""
    return finding("driver", Outcome(level, text, None, limit))


def file_findings(look, limits, names=OF_FILES):
    """What is wrong by the driver's files alone: {directory: list of Finding about the machine}."""
    found = {}
    for files in look.found.values():
        for check in names:
            wrong = [one for one in _outcomes(files, check, limits) if SEVERITY[one.level]]
            texts = [one._replace(text="%s: %s" % (driver_files.shown(files), one.text)) for one in wrong]
            found.setdefault(files.directory, []).extend(finding(check, one) for one in texts)
    return found


def file_levels(look, limits, names=OF_FILES):
    """The same in short ({check: 1 or 2})."""
    wrong = [one for found in file_findings(look, limits, names).values() for one in found]
    return {one.check: max(SEVERITY[other.level] for other in wrong if other.check == one.check) for one in wrong}


def card_outcomes(card, limits, names=OF_CARD, asking=lambda check: None):
    """(check, list of Outcome) of a card's checks (iterator); a card that answers nothing is not asked further.

    ``asking`` is called with the name of each check before its questions are asked.
    """
    silent = False
    for check in names:
        if silent and not CHECKS[check].of_files:
            yield check, [not_asked("the card")]
            continue
        asking(check)
        found = outcomes(card, check, limits)
        silent = silent or is_silent(found)
        yield check, found


def look_outcomes(card, limits, was_silent):
    """The outcomes of the question for processes (list of Outcome), which a card that answers nothing is not asked."""
    return [not_asked("the card")] if was_silent else outcomes(card, PROCESSES, limits)


def endless_look(seconds):
    """The outcome of that question if it does not end: at least one process could not be inspected."""
    text = "processes could not be inspected: looking at their files did not end within %g seconds" % seconds
    return Outcome(NOTE, text, 1, 0, "`ps -eo pid,stat,wchan:32,comm` shows what hangs in the kernel, in state D")


def is_silent(found):
    """Whether the outcomes of a check are those of a card that answers nothing."""
    return any(one.silent for one in found)


def among_outcomes(cards, names=OF_CARD):
    """(card, check, Outcome) of cards that differ from others (iterator); all ``cards`` must have been asked before."""
    for check in names:
        if CHECKS[check].among is not None:
            for card, outcome in CHECKS[check].among(cards):
                yield card, check, outcome


def device_finding(count, expected):
    """Whether the expected number of cards is present; if it is None, at least one (Finding)."""
    missing = count < 1 if expected is None else count != expected
    text = "%d" % count if expected is None else "%d of %d" % (count, expected)
    return finding("devices", Outcome(CRITICAL if missing else OK, text, count, expected))


def status(found):
    """The worst level of findings: OK, WARNING or CRITICAL."""
    return (OK, WARNING, CRITICAL)[max([SEVERITY[one.level] for one in found], default=0)]
