"""Both ends of what collects: the parent has a child ask, replaces it where it hangs, and knows what outlasts it.

The child lives on: each line that it reads asks for one collection. It sends ``driver`` with a text where the driver
cannot be used (and ends: the next one tries afresh), or ``worn`` where only a new process can use it; else ``cards``,
then a ``card`` for each, in the order that was announced, ``among`` with the level of each check that finds cards that
differ, and ``done``. ``cards`` may come again: handles had died, and all is asked anew. ``error`` is the question by
which that was noticed.
"""

import contextlib
import json
import sys
import time
from collections import namedtuple

import pymtml
from pymtml_cli.common.errors import CommandError, reason
from pymtml_cli.common.text import safe
from pymtml_cli.health import checks
from pymtml_cli.health.child import Child
from pymtml_cli.metrics import series
from pymtml_cli.readings.devices import Machine, Unknown, ask, then
from pymtml_cli.readings.processes import processes, unseen

NO_PROCESSES, COUNTED, NAMED = "none", "count", "names"
PROCESS_PAUSE = 30  # seconds between two walks of /proc
MOST_ERROR_SERIES = 8  # of a card: so many pairs of query and code, all others count as OTHER
OTHER = ("other", "other")
NO_ANSWER = ("all", "NoAnswer")


# What one collection came to. ``failure`` says why the driver is not up, None where it is; ``cards`` are dicts as the
# child sends them, with what was known before of those that did not answer; ``count`` is None where the driver did not
# count them; ``status`` is the worst level of each check, ``errors`` {(gpu, uuid): {(query, code): number}}.
Collection = namedtuple("Collection", "failure count cards status errors time duration")


def not_collected(failure):
    """What it comes to where nothing was asked (Collection)."""
    return Collection(failure, None, [], {"driver": checks.SEVERITY[checks.CRITICAL]}, {}, time.time(), 0.0)


# What users say: cards expected (None: nobody said), seconds, limits and names of checks, mode of processes
Settings = namedtuple("Settings", "expect timeout limits names processes")


class Collector:
    """Collects, again and again. Only one thread may: the child ends with the thread that started it."""

    def __init__(self, settings):
        self.settings = settings
        self._child = self._stuck = None
        self._last = []  # cards that hung: they are asked last
        self.known = {}  # gpu: [uuid, labels of info]
        self.errors = {}  # as a Collection has them
        self._walked, self._processes = None, {}
        self.held = None  # a descriptor that the child holds, too: that of a lock
        self.unstarted = None  # why the last collection could not ask: nothing is known of the driver

    def stop(self):
        if self._child is not None:
            self._child.stop()
            self._child = None

    def collect(self):
        """Ask the driver once (Collection); this takes little more than the timeout at most."""
        began, found = time.monotonic(), Round()
        found.failure = self._ask(found, began + self.settings.timeout)
        if found.walks:
            self._walked, self._processes = time.monotonic(), {}
        order, silent = found.order, found.silent
        self._last = [silent] if silent is not None else [gpu for gpu in self._last if gpu not in found.cards]
        cards = [self._card(index, found) for index in sorted(self.known if order is None else order)]
        self.known = {card["gpu"]: [card["uuid"], card["info"]] for card in cards}
        self._count(found)
        count = None if order is None else len(order)
        status, seconds = self._status(found, cards, count), time.monotonic() - began
        return Collection(found.failure, count, cards, status, self.errors, time.time(), seconds)

    # ---- Asking ----

    def _ask(self, found, deadline):
        """Let a child collect (why the driver is not up, or None)."""
        if self._stuck is not None:
            if not self._stuck.ended:
                return "process %d hangs in the driver, and does not end" % self._stuck.pid
            self._stuck = None
        self.unstarted = None
        processes = NO_PROCESSES
        if self._walked is None or time.monotonic() - self._walked >= PROCESS_PAUSE:
            processes = self.settings.processes
        found.walks = processes != NO_PROCESSES
        try:
            for _ in range(2):
                self._start({"last": self._last, "processes": processes})
                for kind, value in self._child.messages(deadline):
                    if kind == "done":
                        return "it does not report its version" if found.driver_failed else None
                    if kind == "driver":
                        self.stop()
                        return value
                    if kind == "worn":
                        found.begin_again()
                        break
                    found.take(kind, value)
                else:
                    break
                self.stop()
            return self._replace()
        except (OSError, ValueError) as error:
            self.stop()
            self.unstarted = "cannot start the collecting process: %s" % reason(error)
            return self.unstarted

    def _start(self, request):
        """Have a child that was asked: the one of before if it lives."""
        if self._child is not None:
            with contextlib.suppress(OSError):
                if not self._child.ended:
                    self._child.tell(request)
                    return
            self.stop()
        wanted = {"limits": self.settings.limits, "checks": self.settings.names}
        self._child = Child("metrics", wanted, [self.held], {"PYMTML_KEEP_LIBRARY": "0"}, listens=True)
        self._child.tell(request)

    def _replace(self):
        """End a child that fell silent (why it did). While one does not end, none is started beside it."""
        if self._child is None:
            return "the driver cannot be used again"
        text = self._child.failure(self.settings.timeout)
        self._child.stop()
        if not self._child.ended:
            self._stuck = self._child
        self._child = None
        return text

    # ---- What it comes to ----

    def _card(self, index, found):
        """A card as it answered, with what is known of it from before where it does not tell it."""
        card = found.cards.get(index)
        if card is None:
            card = {"gpu": index, "uuid": "", "info": [], "up": False, "parts": [], "values": [], "status": {}}
        if not card["up"] and not card["uuid"]:
            uuid, info = self.known.get(index, ["", []])
            if not any(uuid == other["uuid"] for other in found.cards.values()):
                card["uuid"], card["info"] = uuid, info
        key = (card["gpu"], card["uuid"])  # of what a walk of /proc came to, which stays until the next one
        if card["up"] and found.walks:
            values = [line for line in card["values"] if line[0] in ("processes", "process_info")]
            self._processes[key] = values, card["status"].get("processes")
        elif card["up"] and key in self._processes:
            values, level = self._processes[key]
            card["values"] = card["values"] + values
            if level is not None:
                card["status"]["processes"] = level
        return card

    def _count(self, found):
        """Count the errors of this collection, and let go of those of cards that are not there any more."""
        uuids = {gpu: uuid for gpu, (uuid, _) in self.known.items()}
        failed = found.errors + [(gpu, error) for gpu, card in found.cards.items() for error in card["errors"]]
        for gpu, error in failed + [(found.silent, NO_ANSWER)]:
            error = tuple(error)
            if gpu in uuids:
                counts = self.errors.setdefault((gpu, uuids[gpu]), {})
                error = error if error in counts or len(counts) < MOST_ERROR_SERIES else OTHER
                counts[error] = counts.get(error, 0) + 1
        self.errors = {card: counts for card, counts in self.errors.items() if card in uuids.items()}

    def _status(self, found, cards, count):
        """Worst level of each check ({check: 0, 1 or 2}): of the cards that tell it."""
        bad = checks.SEVERITY[checks.CRITICAL]
        status = {"driver": 0 if found.failure is None else bad}
        if "devices" in self.settings.names and count is not None:
            status["devices"] = checks.SEVERITY[checks.device_finding(count, self.settings.expect).level]
        for levels in [card["status"] for card in cards] + [found.among]:
            for check, level in levels.items():
                status[check] = max(status.get(check, 0), level)
        if found.silent is not None and "answers" in self.settings.names:
            status["answers"] = bad
        return {name: status[name] for name in ("driver",) + tuple(self.settings.names) if name in status}


class Round:
    """What the child has said in one collection: ``order`` of the cards, and ``cards`` by index."""

    def __init__(self):
        self.errors, self.walks, self.failure = [], False, None
        self.begin_again()

    def begin_again(self):
        """Forget the answers: all is asked anew."""
        self.order = self.driver_failed = None  # whether the driver, which answered, does not tell its version
        self.cards, self.among = {}, {}

    def take(self, kind, value):
        if kind == "cards":
            self.begin_again()
            self.order, self.driver_failed = value["order"], value["driver_failed"]
        elif kind == "card":
            self.cards[value["gpu"]] = value
        elif kind == "among":
            self.among = value
        elif kind == "error":
            self.errors.append(value)

    @property
    def silent(self):
        """Index of the card that was being asked when the child fell silent, or None."""
        if self.failure is None or self.order is None:
            return None
        return next((gpu for gpu in self.order if gpu not in self.cards), None)


# ---- In the child ----


def answer(wanted, send):
    """Collect each time that the parent asks, until it asks no more."""
    asking = Asking(wanted)
    for line in sys.stdin:
        if not asking.collect(json.loads(line), send):
            return


class Asking:
    """The library from init to shutdown, again and again: a new life after an error, or with other cards."""

    def __init__(self, wanted):
        self._limits = wanted["limits"]
        self._checks = [name for name in wanted["checks"] if name in checks.OF_CARD]
        self._machine = self._is_new = self._failed = self._has_lived = None  # until a life begins
        self._identities = {}  # of the cards in this life: they do not change while it lasts

    def collect(self, asked, send):
        """Answer one collection (whether there may be another)."""
        try:
            self._go_on()
            while not self._cards(asked, send):
                self._begin()
        except CommandError as error:
            self._machine = None
            send("worn" if self._has_lived else "driver", " ".join((error.text + " " + error.hint).split()))
            return False
        send("done", None)
        return True

    def _go_on(self):
        """Have a life in which the handles are worth something."""
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
        """Ask the cards (whether that is all; else the handles died, and all must be asked anew)."""
        version = self._machine.driver_version
        # Cards that hung come last, so that the others are heard.
        cards = sorted(self._machine.cards, key=lambda card: card.index in asked["last"])
        send("cards", {"order": [card.index for card in cards], "driver_failed": checks.fails(version)})
        answering = []
        for card in cards:
            found, failure = self._card(card, series.text_or_empty(version), asked["processes"])
            if failure is not None and not self._is_new:
                send("error", [card.index, failure])
                return False
            self._failed = self._failed or failure is not None
            send("card", found)
            if found["up"]:
                answering.append(card)
        found = [(name, outcome.level) for _, name, outcome in checks.among_outcomes(answering, self._checks)]
        send("among", {name: checks.SEVERITY[level] for name, level in found})
        return True

    def _card(self, card, driver, wanted):
        """What a card and its parts answer (dict), and the first error (query, code), or None."""
        reading = series.Answers().ask(card)
        uuid, info = self._identity(card, driver)
        found = {"gpu": card.index, "uuid": uuid, "info": info, "up": reading.answered}
        found["parts"] = list(self._parts(card, driver, reading.errors))
        if wanted != NO_PROCESSES and reading.answered:
            _take_processes(card, reading, wanted)
        found["status"] = self._status(card, wanted, reading)
        found.update(values=reading.as_list(), errors=reading.errors)
        failed = [error for error in reading.errors if error[1] != series.IMPLAUSIBLE]  # that is no handle's fault
        return found, failed[0] if failed else None

    def _identity(self, device, driver):
        if device not in self._identities:
            self._identities[device] = series.identity(device, driver)
        return self._identities[device]

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
            if not checks.is_not_told(uuids):
                errors.append(("virtual_devices", series.code_name(uuids.error)))
            return
        for number, uuid in enumerate(uuids):
            device = series.virtual_device(card, uuid)
            reading = series.Answers().ask(device, series.QUESTIONS_OF_PARTS)
            name = series.text_or_empty(then(device.ask(pymtml.mtmlDeviceGetVirtType), lambda kind: safe(kind.name)))
            yield _part("v%d" % number, safe(uuid), ["", name, "", "", driver], reading, errors)

    def _status(self, card, wanted, reading):
        """Worst level of each check of a card of which anything is told ({check: 0, 1 or 2})."""
        status = {}
        for name in self._checks:
            if name == "processes" and wanted == NO_PROCESSES or name != "answers" and not reading.answered:
                continue
            if name == "readings":  # of what was asked already
                status[name] = checks.SEVERITY[checks.CRITICAL if reading.has_implausible else checks.OK]
                continue
            told = [one.level for one in checks.outcomes(card, name, self._limits) if one.level != checks.NOT_TOLD]
            if told:
                status[name] = max(checks.SEVERITY[level] for level in told)
        return status


def _part(number, uuid, info, reading, errors):
    """A part of a card (dict); its errors are those of the card."""
    errors += [error for error in reading.errors if error not in errors]
    return {"instance_id": number, "uuid": uuid, "info": info, "up": reading.answered, "values": reading.as_list()}


def _take_processes(card, reading, wanted):
    """Note the processes of a card, where all could be looked into: else nobody knows how many there are."""
    found = processes(card)
    if isinstance(found, Unknown):
        reading.take("processes", "processes", (), found)
        return
    if not unseen([card]):
        reading.values["processes", ()] = len(found)
    if wanted == NAMED:
        for process in found[: series.MOST_PROCESSES]:
            labels = (str(process.pid), process.kind, series.text_or_empty(process.name))
            reading.values["process_info", labels] = 1
