"""Whether cards are well: the questions of health, as data. Nothing is printed here.

Each question is asked of each card, and comes to one of three: a finding (NOTE, WARNING, CRITICAL), well (OK), or not
told (N/A). A question that fails is CRITICAL: nobody knows whether the card is well.
"""

from collections import namedtuple

import pymtml
from pymtml_cli.common.text import safe
from pymtml_cli.readings.devices import Implausible, Unknown, uuid_of
from pymtml_cli.readings.processes import compute_processes, unseen_text
from pymtml_cli.readings.table import READINGS
from pymtml_cli.readings.table import answer as reading
from pymtml_cli.readings.table import fan, mostly_implausible
from pymtml_cli.readings.topology import ranges

OK, NOTE, NOT_TOLD, WARNING, CRITICAL = "OK", "NOTE", "N/A", "WARNING", "CRITICAL"
SEVERITY = {OK: 0, NOTE: 0, NOT_TOLD: 0, WARNING: 1, CRITICAL: 2}  # as exit statuses, and as monitoring plugins count

# gpu, uuid and bus_id are None for what concerns no card, value and limit where there is none
Finding = namedtuple("Finding", "check level gpu uuid bus_id value limit text asked")

# What a question comes to: ``advice`` is what to do about it beyond the advice of its check; ``silent``: the card
# answers nothing at all; ``asked``: false for what nobody asked therefore. Health makes a Finding of it, doctor one of
# its own.
Outcome = namedtuple("Outcome", "level text value limit advice silent asked", defaults=(None, None, "", False, True))

# A check: its questions in the order in which they are asked (none: it is about the machine), each with the text for an
# outcome that is well; what doctor advises; ``noted``: whether a NOTE is one for doctor, too (the others are counters,
# and no sign that anything is wrong); ``among``: a question about all cards together, which makes findings of what they
# have answered; ``finds``: its line in docs/command.md, with the defaults of limits.
Check = namedtuple("Check", "name finds questions advice noted among", defaults=({}, None, False, None))

# Limit: (default, least, most, what it is). None: what the card tells.
LIMITS = {
    "max-temperature": (None, 1, 1000, "degrees Celsius of the GPU (default: its slowdown temperature, or 90)"),
    "max-memory-temperature": (95, 1, 1000, "degrees Celsius of the memory"),
    "max-ecc-errors": (0, 0, 10**15 - 1, "uncorrected memory errors since the driver was loaded"),
    "max-aggregate-ecc-errors": (10, 0, 10**15 - 1, "uncorrected memory errors of the card's life"),
    "max-retired-pages": (60, 0, 10**15 - 1, "retired memory pages"),
    "max-pcie-replays": (100, 0, 10**15 - 1, "repeated PCIe packets"),
    "min-pcie-generation": (None, 1, 100, "PCIe generation of a busy card (default: one below the card's)"),
    "max-idle-power": (50, 1, 1000, "percent of the power limit at a utilization of 0 percent"),
    "max-idle-memory": (50, 1, 100, "percent of the memory at a utilization of 0 percent"),
}
DRAIN = "drain the card and reboot"
HOTTEST = 90  # degrees Celsius, for a card that does not tell its limit
# Cards that do nothing were seen at up to 46 percent of their power limit, and at 28 percent of their clock.
BUSY_POWER, BUSY_CLOCK = 30, 50
BUSY_UTILIZATION = 50  # percent


def default_limits():
    """The limits where nobody says others ({name: number or None})."""
    return {name: default for name, (default, _, _, _) in LIMITS.items()}


class Failed(Exception):
    """Ends a question of which a part has no answer: what that is, and the Unknown."""


def told(what, answer, *default):
    """An answer, or the default for what the card does not tell; raises Failed for an error, or without a default."""
    if not isinstance(answer, Unknown):
        return answer
    if fails(answer) or not default:
        raise Failed(what, answer)
    return default[0]


def is_not_told(unknown):
    """Whether an Unknown stands for what hardware, driver or library never tell; else they could, and failed."""
    return unknown.not_supported or isinstance(unknown.error, pymtml.NVMLError_FunctionNotFound)


def fails(answer):
    """Whether an answer is an Unknown for what hardware, driver and library could tell."""
    return isinstance(answer, Unknown) and not is_not_told(answer)


def not_asked(who):
    """The outcome of a question that is not asked, as a card does not answer."""
    return Outcome(NOT_TOLD, "not queried, because %s does not answer" % who, silent=True, asked=False)


def well(value=None, limit=None):
    """The outcome of a question that finds nothing wrong; its check has the text."""
    return Outcome(OK, "", value, limit)


def well_or(level, text, value, limit, wrong, advice=""):
    """The outcome of a question that finds one thing wrong, or nothing (list)."""
    return [Outcome(level, text, value, limit, advice) if wrong else well(value, limit)]


# ---- Questions: what a card says (list of Outcome) ----


def answers(card, limits):
    """Whether the card answers at all."""
    failed, answered = {}, []
    names = "name", "uuid", "pci.bus_id", "memory.used", "utilization.gpu"
    for what, name in zip(("name", "UUID", "PCI address", "memory", "utilization"), names):
        answer = reading(card, name)
        if not isinstance(answer, Unknown):
            answered.append(what)
        elif not is_not_told(answer):
            failed[what] = answer.reason
            if isinstance(answer, Implausible) and mostly_implausible(card):
                text = "no answer: most of its numbers are impossible, such as %s: %s" % (what, answer.text)
                return [Outcome(CRITICAL, text, silent=True)]
    reasons = set(failed.values())
    if len(reasons) == 1 and not answered:
        return [Outcome(CRITICAL, "no answer: " + reasons.pop(), silent=True)]
    if not answered and not failed:
        return [Outcome(WARNING, "reports neither name nor UUID, memory or utilization")]
    found = [Outcome(CRITICAL, "%s: %s" % pair) for pair in failed.items()]
    return found or [Outcome(OK, "reports " + ", ".join(answered))]


def measured(card, limits):
    """Whether each number that the card reports can be."""
    rows = [(row.name, row) for row in READINGS if row.plausible is not None]
    count = reading(card, "fans.count")
    for number in range(0 if isinstance(count, Unknown) else count):
        rows += [("fan %d" % number, row) for row in fan(number)]
    answers = [(name, row.question(card)) for name, row in rows]
    wrong = ["%s: %s" % (name, one.reason) for name, one in answers if isinstance(one, Implausible)]
    return [Outcome(CRITICAL, text) for text in wrong] or [well()]


def memory(card, limits):
    """Whether the card uses no more memory than it has."""
    used, total = [told("memory", reading(card, name)) for name in ("memory.used", "memory.total")]
    text = "%d MiB of %d MiB in use, more than there is" % (used >> 20, total >> 20)
    return well_or(WARNING, text, used, total, used > total)


def idle(card, limits):
    """Whether a card that calls itself idle is: busy cards were seen at a utilization of 0 percent."""
    busy = told("utilization", reading(card, "utilization.gpu"))
    if busy:
        return [well(busy)]
    held, size = [told("memory", reading(card, name), None) for name in ("memory.used", "memory.total")]
    used = 100.0 * held / size if size and held is not None else None
    watts = told("power", reading(card, "power.draw"), None)
    most = told("power limit", reading(card, "enforced.power.limit"), None)
    drawn = 100.0 * watts / most if watts and most else None
    clock = told("clock", reading(card, "clocks.current.graphics"), None)
    fastest = told("greatest clock", reading(card, "clocks.max.graphics"), None)
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
    """Whether a card that works draws power. Its limit is asked, too, for `lower_power_limits`."""
    milliwatts = told("power", reading(card, "power.draw"))
    busy = told("utilization", reading(card, "utilization.gpu"), 0)
    told("power limit", reading(card, "enforced.power.limit"), None)
    if milliwatts or not busy:
        return [well(milliwatts / 1000)]
    if reading(card, "virtualization") == pymtml.NVML_GPU_VIRTUALIZATION_MODE_VGPU:
        return [Outcome(NOT_TOLD, "power not reported")]
    return [Outcome(WARNING, "0 W drawn at a utilization of %d %%" % busy, 0)]


def gpu_temperature(card, limits):
    value = told("temperature of the GPU", reading(card, "temperature.gpu"))
    limit = limits["max-temperature"]
    if limit is None:
        limit = told("slowdown temperature", reading(card, "temperature.slowdown"), 0)
        limit = limit if limit > 0 else HOTTEST
    return well_or(CRITICAL, "%d C; the limit is %d C" % (value, limit), value, limit, value >= limit)


def memory_temperature(card, limits):
    value = told("temperature of the memory", reading(card, "temperature.memory"))
    limit = limits["max-memory-temperature"]
    return well_or(CRITICAL, "memory: %d C; the limit is %d C" % (value, limit), value, limit, value >= limit)


def ecc(card, limits):
    """Whether memory errors were left uncorrected since the driver was loaded."""
    if told("ECC mode", reading(card, "ecc.mode.current"), True) == 0:
        return [Outcome(NOT_TOLD, "ECC is off")]
    count = told("uncorrected memory errors", reading(card, "ecc.errors.uncorrected.volatile.total"))
    limit, text = limits["max-ecc-errors"], "%d uncorrected memory error(s) since the driver was loaded" % count
    return [Outcome(CRITICAL, text, count, limit) if count > limit else _counted(count, limit, text)]


def aggregate_ecc(card, limits):
    count = told("uncorrected memory errors in its life", reading(card, "ecc.errors.uncorrected.aggregate.total"))
    return [_counted(count, limits["max-aggregate-ecc-errors"], "%d uncorrected memory error(s) in its life" % count)]


def _counted(count, limit, text):
    """The outcome for a counter: a note from one on, a warning above the limit."""
    if count > limit:
        return Outcome(WARNING, "%s; the limit is %d" % (text, limit), count, limit)
    return Outcome(NOTE, text, count, limit) if count else well(count, limit)


def pending_pages(card, limits):
    pending = told("pending pages", reading(card, "retired_pages.pending"))
    return well_or(WARNING, "memory pages wait to be retired", pending, 0, pending, DRAIN)


def retired_pages(card, limits):
    names = ("retired_pages.single_bit_ecc.count", "retired_pages.double_bit.count")
    pages = [told("retired pages", reading(card, name)) for name in names]
    count = len(set().union(*pages))
    return [_counted(count, limits["max-retired-pages"], "%d memory page(s) retired" % count)]


def links(card, limits):
    """Whether all MtLinks are up, at full width."""
    count = told("MtLinks", reading(card, "mtlink.count"))
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
    return found or [well(up, count) if count else Outcome(NOT_TOLD, "no MtLinks")]


def pcie_width(card, limits):
    """Whether the slot has the lanes that the card has."""
    value, most = _pcie(card, "width")
    return well_or(WARNING, "PCIe x%d, and the card has x%d" % (value, most), value, most, value < most)


def pcie_generation(card, limits):
    """The generation that the PCIe link runs at: it drops when the card is idle."""
    value, most = _pcie(card, "generation", "gen")
    busy = told("utilization", reading(card, "utilization.gpu"), 0)
    least = limits["min-pcie-generation"] or most - 1  # many slots are one generation older than the card
    if value < least and busy > BUSY_UTILIZATION:
        text = "PCIe generation %d at a utilization of %d %%, and the card has %d" % (value, busy, most)
        return [Outcome(WARNING, text, value, least)]
    return well_or(NOTE, "PCIe generation %d, and the card has %d" % (value, most), value, most, value < most)


def _pcie(card, what, name=None):
    """What the PCIe link of a card has now and at most (list)."""
    names = ["pcie.link.%s.%s" % (name or what, which) for which in ("current", "max")]
    return [told("PCIe " + what, reading(card, one)) for one in names]


def pcie_replays(card, limits):
    """Whether many PCIe packets had to be sent again."""
    count = told("PCIe replays", reading(card, "pcie.replays"))
    return [_counted(count, limits["max-pcie-replays"], "%d PCIe replay(s)" % count)]


def seen_processes(card, limits):
    """Whether all processes could be looked into, so that it is known who uses the card."""
    _, unseen = told("processes", card.ask(compute_processes))
    return well_or(NOTE, unseen_text(unseen), unseen, 0, unseen)


# ---- Questions about cards together: (card, Outcome) of those that differ from others of their kind (iterators) ----


def _by_kind(cards, name):
    """(card, what it answered to a reading, what all cards of its name answered) of each card that did (iterator)."""
    kinds = {}
    for card in cards:
        kind, value = card.ask(pymtml.nvmlDeviceGetName), reading(card, name)
        if not isinstance(value, Unknown) and not isinstance(kind, Unknown):
            kinds.setdefault(kind, []).append((card, value))
    for pairs in kinds.values():
        for card, value in pairs:
            yield card, value, [other for _, other in pairs]


def lower_power_limits(cards):
    for card, value, values in _by_kind(cards, "enforced.power.limit"):
        if value < max(values):
            text = "power limit of %d W, and %d W on other cards" % (value / 1000, max(values) / 1000)
            yield card, Outcome(WARNING, text, value / 1000, max(values) / 1000)


def ecc_off(cards):
    """Cards without ECC beside others that have it."""
    for card, value, values in _by_kind(cards, "ecc.mode.current"):
        if not value and any(values):
            step = "`pymtml -i GPU -e 1` turns it on"
            yield card, Outcome(WARNING, "ECC is off, but on for other cards", advice=step)


# fmt: off
CHECKS = {check.name: check for check in (
    Check("driver", "CRITICAL: it does not answer, hangs, or crashes the process; another check is running"),
    Check("devices", "CRITICAL: no card, or not the number that `--expect` requires"),
    Check("answers", "CRITICAL: the card does not answer; WARNING: it reports nothing at all", {answers: None},
          "look at dmesg; a card that fell off the bus needs a reset or a reboot"),
    Check("memory", "WARNING: more in use than there is", {memory: "no more memory in use than there is"},
          "seen with the IOMMU off: turn it on, or do not trust memory numbers"),
    Check("utilization",
          "0 %% on a busy card, WARNING: it draws more than `--max-idle-power` percent of its power limit, or uses "
          "more than `--max-idle-memory` percent of its memory at more than an idle card's power or clock; NOTE: it "
          "only uses memory", {idle: "no sign of a wrong utilization"},
          "seen with driver 3.3: use power and memory, not utilization, to find idle cards", noted=True),
    Check("power",
          "WARNING: 0 W on a card that works; a lower power limit than on other cards of its name",
          {power_draw: "power reported"}, "look at dmesg; `pymtml -q -d POWER` shows the limits",
          among=lower_power_limits),
    Check("temperature",
          "CRITICAL: the GPU reaches the temperature at which it slows down (%(hottest)d degrees if it reports none), "
          "or `--max-temperature`; the memory reaches `--max-memory-temperature` (%(max-memory-temperature)d)",
          {gpu_temperature: "temperature below the limit", memory_temperature: "memory temperature below the limit"},
          "look at fans, air flow and the power limit"),
    Check("ecc",
          "uncorrected memory errors, CRITICAL: more than `--max-ecc-errors` (%(max-ecc-errors)d) since the driver was "
          "loaded; in the card's life a NOTE, and WARNING above `--max-aggregate-ecc-errors` "
          "(%(max-aggregate-ecc-errors)d); WARNING: ECC is off, but on for other cards of its name",
          {ecc: "no uncorrected memory errors", aggregate_ecc: "no uncorrected memory errors in its life"},
          "reset the card; if errors come back, have it replaced", among=ecc_off),
    Check("pages",
          "WARNING: pages wait to be retired; retired pages are a NOTE, and a WARNING above `--max-retired-pages` "
          "(%(max-retired-pages)d)",
          {pending_pages: "no memory pages wait to be retired", retired_pages: "no retired memory pages"}, DRAIN),
    Check("links", "CRITICAL: an MtLink is down, or at reduced width", {links: "all MtLinks up"},
          "`pymtml mtlink -s` shows all; reseat the board or the bridge"),
    Check("pcie",
          "WARNING: fewer lanes than the card has; replays are a NOTE, and a WARNING above `--max-pcie-replays` "
          "(%(max-pcie-replays)d); a lower generation is a NOTE, as it drops when the card is idle, and a WARNING at a "
          "utilization above %(busy)d %% if it is below `--min-pcie-generation` (default: one below the card's)",
          {pcie_width: "PCIe at full width", pcie_generation: "PCIe at its highest generation",
           pcie_replays: "no PCIe replays"},
          "reseat the card, or use a slot with more lanes; look at dmesg for AER"),
    Check("processes", "NOTE: some processes could not be inspected, so it is unknown which use the card",
          {seen_processes: "all processes could be inspected"},
          "run as root to see them; in a container with --pid=host and --cap-add=SYS_PTRACE", noted=True),
    Check("readings", "CRITICAL: a number that no card can report, such as the 4294967295 of a card that is gone",
          {measured: "all numbers are plausible"},
          "look at dmesg, and trust no number of the card; reset it, or reboot"),
)}
# fmt: on
OF_CARD = tuple(name for name, check in CHECKS.items() if check.questions)


def markdown():
    """The table of checks in docs/command.md."""
    numbers = dict(default_limits(), hottest=HOTTEST, busy=BUSY_UTILIZATION)
    rows = ["| `%s` | %s |\n" % (name, check.finds % numbers) for name, check in CHECKS.items()]
    return "| check | finding |\n|---|---|\n" + "".join(rows)


# ---- Findings ----


def identity(card):
    """(gpu, uuid, bus_id) of a card; None for what it does not tell."""
    answers = uuid_of(card), reading(card, "pci.bus_id")
    return (card.index, *(None if isinstance(answer, Unknown) else safe(answer) for answer in answers))


def outcomes(card, check, limits):
    """What the questions of a check come to on a card (list of Outcome)."""
    found = []
    for question, good in CHECKS[check].questions.items():
        try:
            found += [one if one.text else one._replace(text=good) for one in question(card, limits)]
        except Failed as failed:
            what, unknown = failed.args
            failure = Outcome(CRITICAL, "%s: %s" % (what, unknown.reason))
            found.append(failure if fails(unknown) else Outcome(NOT_TOLD, what + " not reported"))
    return found


def finding(check, outcome, who=(None, None, None)):
    """An outcome as the Finding of a check, of a card or of the machine."""
    text = outcome.text + (": " + outcome.advice if outcome.advice else "")
    return Finding(check, outcome.level, *who, outcome.value, outcome.limit, safe(text), outcome.asked)


def driver_finding(level, text, limit=None):
    """The Finding of the check that is about the driver as a whole."""
    return finding("driver", Outcome(level, text, None, limit))


def card_outcomes(card, limits, names=OF_CARD, asking=lambda check: None):
    """(check, what it comes to: list of Outcome) on a card (iterator); one that answers nothing is asked no more.

    ``asking`` is called with the name of each check before its questions are asked.
    """
    found = []
    for check in names:
        if is_silent(found):
            found = [not_asked("the card")]
        else:
            asking(check)
            found = outcomes(card, check, limits)
        yield check, found


def is_silent(found):
    """Whether the outcomes of a check are those of a card that answers nothing."""
    return any(one.silent for one in found)


def among_outcomes(cards, names=OF_CARD):
    """(card, check, Outcome) of what is wrong with cards beside others, all of which have been asked (iterator)."""
    for check in names:
        if CHECKS[check].among is not None:
            for card, outcome in CHECKS[check].among(cards):
                yield card, check, outcome


def device_finding(count, expected):
    """Whether as many cards are there as there must be; at least one, where nobody says (Finding)."""
    missing = count < 1 if expected is None else count != expected
    text = "%d" % count if expected is None else "%d of %d" % (count, expected)
    return finding("devices", Outcome(CRITICAL if missing else OK, text, count, expected))


def status(found):
    """The worst level of findings: OK, WARNING or CRITICAL."""
    return (OK, WARNING, CRITICAL)[max([SEVERITY[one.level] for one in found], default=0)]
