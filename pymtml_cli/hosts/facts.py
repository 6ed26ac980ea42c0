"""The facts of a host, which `compare` takes from documents of `pymtml --json`, `health --json`, `doctor --json`.

A fact is the answer of each card, or of the machine, to one question. Values that differ on every machine (serial
numbers, addresses, times, measurements) are no facts; whether a card reports them at all is one, and so are failed
queries.
"""

import collections
import re

import pymtml
from pymtml_cli.common.text import safe, some
from pymtml_cli.health.checks import CRITICAL, NOT_AVAILABLE, NOTE, OK, WARNING, are_measured
from pymtml_cli.readings.table import APART, BY_KEY, KNOWN, VALUE, ZERO
from pymtml_cli.readings.topology import ranges

MACHINE, HEALTH, DOCTOR = "json", "health", "doctor"  # kinds of documents
DEEPEST = 8  # objects within objects
NAMES_SHOWN = 4
NOT_REPORTED = "not reported"

MACHINE_KEYS = ("pymtml_version", "library_version", "driver_version", "musa_version", "device_count")

# Keys of a card: those of readings, and the processes. Lists are in LISTS; all other keys are compared as KNOWN.
CARD_KEYS = {key: reading.compare for key, reading in BY_KEY.items()}
CARD_KEYS.update({"processes.list": KNOWN, "processes.unseen": APART})
TROUBLES = {key for key, reading in BY_KEY.items() if reading.trouble}

# How the reasons begin, in small letters, for values that hardware, driver or library cannot report
UNSUPPORTED_REASONS = tuple(
    pymtml.nvmlErrorString(code).lower()
    for code in (pymtml.NVML_ERROR_NOT_SUPPORTED, pymtml.NVML_ERROR_FUNCTION_NOT_FOUND)
)
# The reason if the card at the other end of a link is not visible
HIDDEN = pymtml.nvmlErrorString(pymtml.NVML_ERROR_NOT_FOUND).lower()
NONE = "none"

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")  # a separate one; "#" replaces those that are measured
_ILL = (WARNING, CRITICAL)


class Fact:
    """A host's answer to a question: {card, or None for the machine: value}, and the same as it is shown.

    ``whole`` is whether all cards answered; ``ordered`` whether a value names other cards by their index; ``ill``
    whether it is a problem even if all hosts share it; ``absent`` the value of a host without it.
    """

    def __init__(self, kind, values, shown=None, whole=True, ordered=False, ill=False, absent=NOT_REPORTED):
        self.kind, self.values, self.shown = kind, values, shown or values
        self.whole, self.ordered, self.ill, self.absent = whole, ordered, ill, absent

    @property
    def uniform(self):
        """Whether all cards have the same value."""
        return len(set(self.values.values())) == 1

    def at(self, card):
        """The value of a card. If all have the same value, the card itself may be missing here."""
        return next(iter(self.values.values())) if self.uniform else self.values[card]

    @property
    def key(self):
        """A key that is equal for hosts with equal values."""
        return (None, self.at(None)) if self.uniform else frozenset(self.values.items())


def facts_of(kind, content):
    """(number of cards, {name: Fact}) of a document."""
    if kind == MACHINE:
        return len(content["devices"]), _of_machine(content)
    return _of_findings(kind, content)


def _of_machine(content):
    columns, failing, unknown = [collections.defaultdict(of) for of in (dict, list, list)]
    facts, devices, troubled = {}, content["devices"], set()
    for name in MACHINE_KEYS:
        value, reason = content.get(name), _reasons(content).get(name)
        if value is None and _fails(reason):
            failing[None].append((name, reason))
        else:
            facts[name] = Fact(MACHINE, {None: _shown(name, value)}, ill=name == "device_count" and value == 0)
    silent = [index for index, card in enumerate(devices) if _is_silent(card)]
    for index, card in enumerate(devices):
        failed = set()  # names of failed values, and of lists with a failed item
        for name, value, reason in _leaves(card):
            if value is None and _fails(reason):
                failed.add(name.partition("[")[0])
                if not _is_of(name, card, silent):
                    failing[index].append((name, reason))
                continue
            how = CARD_KEYS.get(name, KNOWN)
            if how == VALUE:
                columns[name][index] = _shown(name, value)
            elif how == ZERO:
                columns[name][index] = NOT_AVAILABLE if value is None else "0" if value == 0 else "more than 0"
            elif how == KNOWN and value is None:
                unknown[index].append(name)
            if value and name in TROUBLES:
                troubled.add(name)
        if "mtlink.count" in failed:
            failed.add("mtlink.links")
        for name, (write, _, is_troubled) in LISTS.items():
            if not name.startswith(tuple(failed)):
                columns[name][index] = write(card)
                if is_troubled is not None and is_troubled(card):
                    troubled.add(name)
    indices = range(len(devices))
    for name, values in columns.items():
        _, ordered, _ = LISTS.get(name, (None, False, None))
        whole = len(values) == len(devices)
        facts[name] = Fact(MACHINE, values, whole=whole, ordered=ordered, ill=name in troubled)
    told = {index: _listed(unknown[index]) for index in indices if index not in silent}
    if told:
        facts["not_told"] = Fact(MACHINE, told, whole=not silent)
    failures = {index: _by_reason(failing[index]) for index in (*indices, None)}
    return {"failing": Fact(MACHINE, failures, ill=set(failures.values()) != {NONE}), **facts}


def _reasons(content):
    reasons = content.get("reasons") if isinstance(content, dict) else None
    return reasons if isinstance(reasons, dict) else {}


def _fails(reason):
    """Whether a reason is that of a failed query; otherwise hardware, driver or library cannot report the value."""
    return reason is not None and not str(reason).lower().startswith(UNSUPPORTED_REASONS)


def _leaves(value, path=""):
    """(name, value, reason) of each value in the object of a card, at any depth (iterator)."""
    reasons = _reasons(value)
    for key, item in value.items():
        name = path + str(key)
        if key == "reasons" or path.count(".") > DEEPEST:
            continue
        if isinstance(item, dict):
            yield from _leaves(item, name + ".")
        elif isinstance(item, list) and name not in CARD_KEYS:
            yield from _failures(item, name)
        else:
            yield name, item, reasons.get(key) if item is None else None


def _failures(items, name):
    """The failed leaves of a list (iterator); LISTS handles the others."""
    for number, item in enumerate(items):
        for leaf, value, reason in _leaves(item, "%s[%d]." % (name, number)) if isinstance(item, dict) else ():
            hidden = leaf.endswith("].remote") and str(reason).lower() == HIDDEN
            if value is None and _fails(reason) and not hidden:
                yield leaf, value, reason


def _is_silent(card):
    """Whether not even the name of a card could be queried."""
    return card.get("name") is None and _fails(_reasons(card).get("name"))


def _is_of(name, card, silent):
    """Whether a failed query is about another card that is silent, which has failures of its own."""
    number = re.match(r"topology\[(\d+)\]", name)
    return bool(number) and card["topology"][int(number.group(1))].get("device") in silent


def _shown(name, value):
    if value is None:
        return NOT_AVAILABLE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("_bytes") and isinstance(value, int) and value % (1 << 20) == 0:
        return "%d MiB" % (value >> 20)
    return safe(value)


def _listed(names):
    return ", ".join(safe(name) for name in names) or NONE


def _by_reason(failures):
    found = {}
    for name, reason in failures:
        found.setdefault(safe(reason), []).append(safe(name))
    return "; ".join("%s: %s" % (reason, some(names, NAMES_SHOWN)) for reason, names in sorted(found.items())) or NONE


def _items(card, *path):
    """The objects in a list of a card; None if the document has null in its place."""
    for key in path:
        card = card.get(key, ()) if isinstance(card, dict) else ()
    if card is None:
        return None
    return [item for item in card if isinstance(item, dict)] if isinstance(card, list) else []


def _each(written, *path):
    """A function that writes the items of a card's list."""

    def write(card):
        items = _items(card, *path)
        return NOT_AVAILABLE if items is None else _listed(map(written, items))

    return write


def _instance(item):
    profile = item.get("profile")
    return _shown("name", profile.get("name") if isinstance(profile, dict) else None)


def _numbers_by(value, key, *path):
    """A function that writes `up: 0-5, down: 6`: the numbers of a list's items, by their values."""

    def write(card):
        found = {}
        for item in _items(card, *path) or ():
            if isinstance(item.get(key), int):
                found.setdefault(_shown(value, item.get(value)), []).append(item[key])
        return ", ".join("%s: %s" % (text, ranges(numbers)) for text, numbers in sorted(found.items())) or NONE

    return write


def _is_a_link_down(card):
    return any(item.get("state") in ("down", "downgrade") for item in _items(card, "mtlink", "links") or ())


DISPLAY = ("type", "max_width", "max_height")
PAIRS = ("level", "mtlinks", "read", "write")  # keys of a pair of cards
# Lists of a card: (function that writes one, whether it names other cards, function that finds a problem in it)
LISTS = {
    "mpc.instances": (_each(_instance, "mpc", "instances"), False, None),
    "mtlink.links.state": (_numbers_by("state", "link", "mtlink", "links"), False, _is_a_link_down),
    "mtlink.links.remote": (_numbers_by("remote", "link", "mtlink", "links"), True, None),
    **{"topology." + what: (_numbers_by(what, "device", "topology"), True, None) for what in PAIRS},
    "displays": (_each(lambda item: "%s %s x %s" % tuple(map(item.get, DISPLAY)), "displays"), False, None),
}


def _of_findings(kind, content):
    """(number of cards, facts) of a document of health or doctor."""
    found, facts, cards = {}, {}, set(range(content["device_count"]))
    for one in content["findings"]:
        if kind == DOCTOR and one["gpus"] and one["status"] == OK:
            continue  # lists checks that find nothing wrong
        by_card = found.setdefault(safe(one["check"]), {})
        for gpu in one["gpus"] or [None]:
            by_card.setdefault(gpu, []).append(one)
        cards.update(one["gpus"])
    for check, by_card in found.items():
        # Checks that were skipped because a card is silent are left out: the check that found it silent remains.
        asked = {index: ones for index, ones in by_card.items() if ones[0].get("asked", True)}
        texts = {index: _statement(kind, check, ones) for index, ones in asked.items()}
        of_cards = set(by_card) != {None}
        if kind == DOCTOR and of_cards:
            texts = {**dict.fromkeys(cards, (OK, OK)), **texts}  # it lists only the cards that are not
        values, shown = [{index: pair[place] for index, pair in texts.items()} for place in (0, 1)]
        if values:
            ill = any(one["status"] in _ILL for ones in asked.values() for one in ones)
            whole = len(asked) == len(by_card)
            absent = OK if kind == DOCTOR and of_cards else NOT_REPORTED
            facts["%s.%s" % (kind, check)] = Fact(kind, values, shown, whole, ill=ill, absent=absent)
    return len(cards), facts


def _statement(kind, check, findings):
    """(text to compare, text to show) of the findings of a check on a card."""
    compared, shown = [], []
    for one in findings:
        status, text = safe(one["status"]), safe(one["text"])
        if kind == HEALTH and status in (OK, NOTE):
            text = OK
        elif kind == HEALTH and status == NOT_AVAILABLE:
            text = NOT_AVAILABLE
        elif status not in (OK, NOTE, NOT_AVAILABLE):
            text = "%s: %s" % (status, text)
        compared.append(_NUMBER.sub("#", text) if are_measured(check) else text)
        shown.append(text)
    return ", ".join(sorted(set(compared))), ", ".join(sorted(set(shown)))
