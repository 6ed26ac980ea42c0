"""Collects in two processes: a child queries the driver; the parent replaces a child that hangs, and keeps the counts.

The child goes on running: each line that it reads requests one collection. If the driver cannot be used, it sends
``driver`` with the reason, or ``worn`` if only a new process can use the driver, and ends; the next child tries again.
Otherwise it sends ``cards``, a ``card`` for each in the announced order, ``among`` with the level of each check that
found cards that differ, and ``done``. Before ``done``, if processes are wanted, it sends LOOKING and ``processes`` of
each card: that look may never end. Before all that it sends ``files`` with the levels of checks for which the driver's
files have findings: they are read without the library, as that may hang. If handles have died, it sends ``error`` with
the query that failed, and then all from ``cards`` on again.
"""

import contextlib
import json
import sys
import time
from collections import namedtuple

import pymtml
from pymtml_cli.common import cgroup
from pymtml_cli.common.errors import CommandError, reason
from pymtml_cli.common.text import safe
from pymtml_cli.health import checks
from pymtml_cli.health.child import LOOKING, Child
from pymtml_cli.metrics import series
from pymtml_cli.readings import aer, driver_files
from pymtml_cli.readings.devices import Machine, Unknown, ask, then, virtual_device
from pymtml_cli.readings.processes import processes, unseen

NO_PROCESSES, COUNTED, NAMED, OWNED = "none", "count", "names", "pods"
PROCESS_PAUSE = 30  # seconds between two walks of /proc
MOST_ERROR_SERIES = 8  # pairs of query and code of a card; all others count as OTHER
OTHER = ("other", "other")
NO_ANSWER = ("all", "NoAnswer")
NO_ADDRESS = "00000000:00:00.0"


# The result of one collection. ``failure`` is the reason why the driver is not up, or None; ``cards`` are dicts as the
# child sends them, those of silent cards with what was known before; ``count`` is None if the driver did not count the
# cards; ``status`` is the worst level of each check, ``errors`` {(gpu, uuid): {(query, code): number}}, ``xids`` such
# numbers by the labels of an XID.
Collection = namedtuple("Collection", "failure count cards status errors xids time duration")


def not_collected(failure):
    """The Collection of a round in which nothing was asked."""
    return Collection(failure, None, [], {"driver": checks.SEVERITY[checks.CRITICAL]}, {}, {}, time.time(), 0.0)


# Options: expected number of cards (or None), seconds, limits and names of checks, mode of processes
Settings = namedtuple("Settings", "expect timeout limits names processes")


class Collector:
    """Collects repeatedly, in one thread only: the child ends with the thread that started it."""

    def __init__(self, settings):
        self.settings = settings
        self._child = self._stuck = self._looking = None  # _looking: hangs in a look at processes
        self._last = []  # cards that hung: they are asked last
        self._looked_last = []  # cards where the look at processes hung
        self.known = {}  # gpu: [uuid, labels of info]
        self.errors, self.xids = {}, {}  # as a Collection has them
        self._seen = {}  # the XIDs of each card that were there before
        self._walked, self._processes = None, {}
        self.held = None  # the descriptor of a lock, which the child holds as well
        self.unstarted = None  # why no child could be started for the last collection, or None

    def stop(self):
        if self._child is not None:
            self._child.stop()
            self._child = None

    def collect(self):
        """Query the driver once (Collection); this takes little longer than the timeout."""
        began, found = time.monotonic(), Round()
        found.failure = self._ask(found, began + self.settings.timeout)
        if found.walks:
            self._walked, self._processes, self._looked_last = time.monotonic(), {}, found.unlooked[:1]
        order, silent = found.order, found.silent
        self._last = [silent] if silent is not None else [gpu for gpu in self._last if gpu not in found.cards]
        cards = [self._card(index, found) for index in sorted(self.known if order is None else order)]
        self.known = {card["gpu"]: [card["uuid"], card["info"]] for card in cards}
        self._count(found)
        self._count_xids(cards)
        count = None if order is None else len(order)
        status, seconds = self._status(found, cards, count), time.monotonic() - began
        return Collection(found.failure, count, cards, status, self.errors, self.xids, time.time(), seconds)

    # ---- Asking ----

    def _ask(self, found, deadline):
        """Have a child collect; returns the reason why the driver is not up, or None."""
        if self._stuck is not None:
            if not self._stuck.ended:
                return "process %d hangs in the driver and does not end" % self._stuck.pid
            self._stuck = None
        self.unstarted = None
        processes = NO_PROCESSES
        if self._walked is None or time.monotonic() - self._walked >= PROCESS_PAUSE:
            processes = self.settings.processes
        found.walks = processes != NO_PROCESSES
        if found.walks and self._looking is not None and not self._looking.ended:
            processes, found.hung = NO_PROCESSES, self._looked_last
        try:
            for _ in range(2):
                self._start({"last": self._last, "looked_last": self._looked_last, "processes": processes})
                for kind, value in self._child.messages(deadline):
                    if kind == "done":
                        return found.without_version
                    if kind == "driver":
                        self.stop()
                        return value
                    if kind == "worn":
                        found.begin_again()
                        break
                    found.add(kind, value)
                else:
                    break
                self.stop()
            return self._replace(found)
        except (OSError, ValueError) as error:
            self.stop()
            self.unstarted = "cannot start the collecting process: %s" % reason(error)
            return self.unstarted

    def _start(self, request):
        """Send a request to the child, or to a new one if it has ended."""
        if self._child is not None:
            with contextlib.suppress(OSError):
                if not self._child.ended:
                    self._child.send(request)
                    return
            self.stop()
        wanted = {"limits": self.settings.limits, "checks": self.settings.names}
        self._child = Child("metrics", wanted, [self.held], {"PYMTML_KEEP_LIBRARY": "0"}, listens=True)
        self._child.send(request)

    def _replace(self, found):
        """End a child that fell silent; returns the reason, or None if only its look at processes does not end.

        Until it has ended, no other is started, or none that looks at processes.
        """
        child, self._child = self._child, None
        if child is None:
            return "the driver cannot be used again"
        text, looks = child.failure(self.settings.timeout), child.hangs_in_a_look
        child.stop()
        if looks:
            self._looking = child
            return found.without_version
        if not child.ended:
            self._stuck = child
        return text

    # ---- Results ----

    def _card(self, index, found):
        """A card as it answered; without a UUID, with its identity from an earlier collection."""
        card = found.cards.get(index)
        if card is None:
            card = {"gpu": index, "uuid": "", "info": [], "up": False, "parts": [], "values": [], "status": {}}
        uuid, info = self.known.get(index, ["", []])
        if not card["uuid"] and (uuid or not card["up"]):
            is_elsewhere = card["info"][:1] not in ([], [""], info[:1])  # by its PCI address
            if not is_elsewhere and not any(uuid == other["uuid"] for other in found.cards.values()):
                card["uuid"], card["info"] = uuid, info
        if not card["up"] and card["info"]:
            card["values"] = card["values"] + series.kernel_errors(aer.errors(card["info"][0]))
        key = (card["gpu"], card["uuid"])  # of the result of a walk of /proc, kept until the next one
        if index in found.looked:
            self._processes[key] = found.looked[index]
        if card["up"] and key in self._processes:
            card["values"] = card["values"] + self._processes[key]["values"]
            card["status"].update(self._processes[key]["status"])
        return card

    def _count(self, found):
        """Count the errors of this collection, and drop the counts of cards that are gone."""
        uuids = {gpu: uuid for gpu, (uuid, _) in self.known.items()}
        answers = list(found.cards.items()) + list(found.looked.items())
        failed = found.errors + [(gpu, error) for gpu, answer in answers for error in answer["errors"]]
        failed += [(gpu, (checks.PROCESSES, NO_ANSWER[1])) for gpu in found.unlooked[:1]]
        for gpu, error in failed + [(found.silent, NO_ANSWER)]:
            error = tuple(error)
            if gpu in uuids:
                series.count(self.errors.setdefault((gpu, uuids[gpu]), {}), error, MOST_ERROR_SERIES, OTHER)
        self.errors = {card: counts for card, counts in self.errors.items() if card in uuids.items()}

    def _count_xids(self, cards):
        """Count the XIDs of cards that are new since an earlier collection; those of the first one are none."""
        for card in cards:
            key, xids = (card["gpu"], card["uuid"]), card.get("xids")
            if xids is None:
                continue
            is_first = key not in self._seen
            new = driver_files.new(self._seen.setdefault(key, {}), [digest for digest, _ in xids])
            for position in new if not is_first else ():
                labels, counts = tuple(xids[position][1]), self.xids.setdefault(key, {})
                series.count(counts, labels, series.MOST_XIDS, series.OTHER_XIDS)

    def _status(self, found, cards, count):
        """Worst level of each check that has one ({check: 0, 1 or 2})."""
        bad = checks.SEVERITY[checks.CRITICAL]
        status = {"driver": 0 if found.failure is None else bad}
        if "devices" in self.settings.names and count is not None:
            status["devices"] = checks.SEVERITY[checks.device_finding(count, self.settings.expect).level]
        others = [found.among] if found.failure is None else [found.among, found.files]
        for levels in [card["status"] for card in cards] + others:
            for check, level in levels.items():
                status[check] = max(status.get(check, 0), level)
        if found.silent is not None and "answers" in self.settings.names:
            status["answers"] = bad
        return {name: status[name] for name in ("driver",) + tuple(self.settings.names) if name in status}


class Round:
    """The child's messages in one collection: ``order`` of the cards, and ``cards`` by index.

    ``looked`` are their processes by index, in the order in which they were looked for.
    """

    def __init__(self):
        self.errors, self.walks, self.failure, self.files = [], False, None, {}
        self.hung = []  # cards at whose processes an earlier child still looks
        self.begin_again()

    def begin_again(self):
        """Drop the answers: all questions are asked again."""
        self.order = self.driver_failed = None  # whether the query of the driver's version failed
        self.cards, self.among, self.looked, self._to_look = {}, {}, {}, []

    def add(self, kind, value):
        if kind == "cards":
            self.begin_again()
            self.order, self.driver_failed = value["order"], value["driver_failed"]
        elif kind == "card":
            self.cards[value["gpu"]] = value
        elif kind == LOOKING:
            self._to_look = value
        elif kind == "processes":
            self.looked[value["gpu"]] = value
        elif kind in ("among", "files"):
            setattr(self, kind, value)
        elif kind == "error":
            self.errors.append(value)

    @property
    def without_version(self):
        """Why a driver that has answered all else is not up, or None."""
        return "it does not report its version" if self.driver_failed else None

    @property
    def unlooked(self):
        """Indices of the cards whose processes are not known, first that where the look did not end (list)."""
        return self.hung + [gpu for gpu in self._to_look if gpu not in self.looked]

    @property
    def silent(self):
        """Index of the card that was being asked when the child fell silent, or None."""
        if self.failure is None or self.order is None:
            return None
        return next((gpu for gpu in self.order if gpu not in self.cards), None)


# ---- In the child ----


def answer(wanted, send):
    """Collect for each request of the parent, until no more come."""
    asking = Asking(wanted)
    for line in sys.stdin:
        if not asking.collect(json.loads(line), send):
            return


class Asking:
    """Asks the cards; initializes the library again after an error, or if the number of cards changes."""

    def __init__(self, wanted):
        self._limits = wanted["limits"]
        self._checks = [name for name in wanted["checks"] if name in checks.OF_CARD and name != checks.PROCESSES]
        self._judges_processes = checks.PROCESSES in wanted["checks"]
        self._of_files, self._look = [name for name in self._checks if name in checks.OF_FILES], None
        self._machine = None  # until the first init
        self._is_new = False
        self._failed = False
        self._has_lived = False
        self._identities = {}  # of the cards, once they are known: they do not change between init and shutdown
        self._refused = {}  # {card: {query: its first impossible value}}: one that changes is to make one series

    def collect(self, asked, send):
        """Answer one request; returns whether another can be answered."""
        self._look = driver_files.look()
        levels = checks.file_levels(self._look, self._limits, self._of_files)
        if levels:
            send("files", levels)
        try:
            self._go_on()
            while not self._cards(asked, send):
                self._begin()
        except CommandError as error:
            self._machine = None
            send("worn" if self._has_lived else "driver", error.line)
            return False
        send("done", None)
        return True

    def _go_on(self):
        """Make sure that the handles can be used: by a new init, if they may have died."""
        self._is_new = False
        if self._machine is None or self._failed or ask(pymtml.nvmlDeviceGetCount) != len(self._machine.cards):
            self._begin()
        else:
            self._machine.next_sample()

    def _begin(self):
        if self._machine is not None:
            ask(pymtml.nvmlShutdown)
        self._machine, self._identities = None, {}
        self._machine = Machine()
        self._is_new, self._failed, self._has_lived = True, False, True

    def _cards(self, asked, send):
        """Ask the cards; returns False if the handles have died, and all questions must be asked again."""
        version, self._machine.files = self._machine.driver_version, self._look
        # Cards that hung come last, so that the others are asked.
        cards = sorted(self._machine.cards, key=lambda card: card.index in asked["last"])
        send("cards", {"order": [card.index for card in cards], "driver_failed": checks.fails(version)})
        answering = []
        for card in cards:
            found, failure = self._card(card, series.text_or_empty(version))
            if failure is not None and not self._is_new:
                send("error", [card.index, failure])
                return False
            self._failed = self._failed or failure is not None
            send("card", found)
            if found["up"]:
                answering.append(card)
        found = [(name, outcome.level) for _, name, outcome in checks.among_outcomes(answering, self._checks)]
        send("among", {name: checks.SEVERITY[level] for name, level in found})
        if asked["processes"] != NO_PROCESSES:
            answering.sort(key=lambda card: card.index in asked["looked_last"])
            send(LOOKING, [card.index for card in answering])
            for card in answering:
                send("processes", self._processes(card, asked["processes"]))
        return True

    def _processes(self, card, wanted):
        """The processes of a card (dict)."""
        reading = series.Answers()
        _add_processes(card, reading, wanted)
        self._failed = self._failed or bool(reading.errors)
        status = self._levels(card, checks.PROCESSES) if self._judges_processes else {}
        return {"gpu": card.index, "values": reading.as_list(), "errors": reading.errors, "status": status}

    def _card(self, card, driver):
        """The answers of a card and its parts (dict), and the first error (query, code) or None."""
        reading = series.Answers().ask(card)
        uuid, info = self._identity(card, driver)
        found = {"gpu": card.index, "uuid": uuid, "info": info, "up": reading.answered}
        found["parts"] = list(self._parts(card, driver, reading.errors))
        found["status"] = self._status(card, reading)
        first = self._refused.get(card.index, {})
        self._refused[card.index] = {query: first.get(query, value) for query, value in reading.refused.items()}
        reading.values.update({("implausible_info", pair): 1 for pair in self._refused[card.index].items()})
        found.update(values=reading.as_list(), errors=reading.errors)
        if found["up"]:
            found["values"] += series.kernel_errors(aer.of(card, info[0]))
        self._take_xids(card, found)
        failed = [error for error in reading.errors if error[1] != series.IMPLAUSIBLE]  # not caused by a dead handle
        return found, failed[0] if failed else None

    def _take_xids(self, card, found):
        """Add what the driver has recorded of a card to what is sent of it: the parent tells which of it is new."""
        from hashlib import sha1

        files = driver_files.of(card)
        if files is not None and not isinstance(files.xids, driver_files.Unread):
            (records, _), now = files.xids, time.time()
            fresh = [one for one in records if checks.is_fresh(one, files, self._limits, now)]
            past = [one for one in records if one.time <= now + checks.CLOCKS_DIFFER]
            found["values"] += series.xid_values(past, fresh)
            found["xids"] = [[sha1(one.raw).hexdigest(), series.xid_labels(one)] for one in records]

    def _identity(self, device, driver):
        known = self._identities.get(device) or series.identity(device, driver)
        uuid, (bus_id, name, *_) = known
        if uuid and name and bus_id != NO_ADDRESS:  # a card that comes up may have none yet
            self._identities[device] = known
        return known

    def _parts(self, card, driver, errors):
        """MPC instances and virtual devices of a card (iterator of dicts)."""
        for instance in card.instances:
            reading = series.Answers().ask(instance, series.QUESTIONS_OF_PARTS)
            uuid, (bus_id, name, *rest) = self._identity(instance, driver)
            profile = instance.ask(pymtml.mtmlDeviceGetMpcProfileInfo)
            name = series.text_or_empty(then(profile, lambda known: safe(known.name))) or name
            yield _part(str(instance.index), uuid, [bus_id, name, *rest], reading, errors)
        if card.ask(pymtml.nvmlDeviceGetVirtualizationMode) != pymtml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU:
            return
        uuids = card.ask(pymtml.mtmlDeviceGetActiveVirtDeviceUuids)
        if isinstance(uuids, Unknown):
            if not uuids.not_supported:
                errors.append(("virtual_devices", series.code_name(uuids.error)))
            return
        for number, uuid in enumerate(uuids):
            device = virtual_device(card, uuid)
            reading = series.Answers().ask(device, series.QUESTIONS_OF_PARTS)
            name = series.text_or_empty(then(device.ask(pymtml.mtmlDeviceGetVirtType), lambda kind: safe(kind.name)))
            yield _part("v%d" % number, safe(uuid), ["", name, "", "", driver], reading, errors)

    def _status(self, card, reading):
        """Worst level of each check of a card that has a result ({check: 0, 1 or 2})."""
        status = {}
        for name in self._checks:
            if name not in ("answers", *self._of_files) and not reading.answered:
                continue
            if name == "readings":  # known from the answers
                status[name] = checks.SEVERITY[checks.CRITICAL if reading.has_implausible else checks.OK]
                continue
            status.update(self._levels(card, name))
        return status

    def _levels(self, card, name):
        """The worst level of a check of a card, if it has a result ({check: 0, 1 or 2})."""
        levels = {one.level for one in checks.outcomes(card, name, self._limits)} - {checks.NOT_AVAILABLE}
        return {name: max(checks.SEVERITY[level] for level in levels)} if levels else {}


def _part(number, uuid, info, reading, errors):
    """A part of a card (dict); its errors are added to those of the card."""
    errors += [error for error in reading.errors if error not in errors]
    return {"instance_id": number, "uuid": uuid, "info": info, "up": reading.answered, "values": reading.as_list()}


def _add_processes(card, reading, wanted):
    """Add the processes of a card to a reading; their number only if all could be inspected."""
    found = processes(card)
    if isinstance(found, Unknown):
        reading.add("processes", "processes", (), found)
        return
    owners = {} if wanted == OWNED and found else {(): len(found)}
    for process in found if wanted == OWNED else ():
        series.count(owners, tuple(cgroup.owner(process.pid)), series.MOST_OWNERS, series.OTHER_OWNERS)
    if not unseen([card]):
        reading.values.update({("processes", owner): number for owner, number in owners.items()})
    if wanted == NAMED:
        for process in found[: series.MOST_PROCESSES]:
            labels = (str(process.pid), process.kind, series.text_or_empty(process.name))
            reading.values["process_info", labels] = 1
            if process.memory is not None:
                reading.values["process_memory_used_bytes", labels] = process.memory
