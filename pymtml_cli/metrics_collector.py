"""The parent's side of `pymtml metrics`: has a child collect, replaces it, and knows what outlasts it."""

import time

from pymtml_cli import checks
from pymtml_cli.child import Child
from pymtml_cli.metrics_child import NO_PROCESSES

PROCESS_PAUSE = 30  # seconds between two walks of /proc
MOST_ERROR_SERIES = 8  # of a card: so many pairs of query and code, all others count as OTHER
OTHER = ("other", "other")
NO_ANSWER = ("all", "NoAnswer")


class Collection:
    """What one collection came to.

    ``failure`` says why the driver is not up, None where it is; ``cards`` are dicts as the child sends them, with what
    was known before of those that did not answer; ``count`` is None where the driver did not count them.
    """

    def __init__(self):
        self.failure, self.count, self.cards, self.status = None, None, [], {}
        self.errors = {}  # (gpu, uuid): {(query, code): number}
        self.time = self.duration = 0.0


def not_collected(reason):
    """What it comes to where nothing was asked (Collection)."""
    result = Collection()
    result.failure, result.time = reason, time.time()
    result.status = {"driver": checks.SEVERITY[checks.CRITICAL]}
    return result


class Settings:
    """What users say: cards expected (None: nobody said), seconds, limits and names of checks, mode of processes."""

    def __init__(self, expect, timeout, limits, names, processes):
        self.expect, self.timeout, self.limits, self.names, self.processes = expect, timeout, limits, names, processes


class Collector:
    """Collects, again and again. Only one thread may: the child ends with the thread that started it."""

    def __init__(self, settings):
        self.settings = settings
        self._child = self._stuck = None
        self._last = []  # cards that hung: they are asked last
        self._known = {}  # gpu: [uuid, labels of info]
        self._errors = {}
        self._walked, self._processes = None, {}
        self.held = None  # a descriptor that the child holds, too: that of a lock

    def remember(self, known, errors):
        """Go on from what an earlier process knew, as metrics_page.earlier has it."""
        self._known, self._errors = known, errors

    def stop(self):
        """End the child."""
        if self._child is not None:
            self._child.stop()
            self._child = None

    def collect(self):
        """Ask the driver once (Collection); this takes little more than the timeout at most."""
        began = time.monotonic()
        found = Round()
        found.failure = self._ask(found, began + self.settings.timeout)
        result = self._result(found)
        result.time, result.duration = time.time(), time.monotonic() - began
        return result

    # ---- Asking ----

    def _ask(self, found, deadline):
        """Let a child collect (why the driver is not up, or None)."""
        if self._stuck is not None:
            if not self._stuck.ended:
                return "process %d hangs in the driver, and does not end" % self._stuck.pid
            self._stuck = None
        processes = NO_PROCESSES
        if self._walked is None or time.monotonic() - self._walked >= PROCESS_PAUSE:
            processes = self.settings.processes
        found.walks = processes != NO_PROCESSES
        try:
            for _ in range(2):
                self._start({"last": self._last, "processes": processes})
                for kind, value in self._child.messages(deadline):
                    if kind == "done":
                        return found.driver_failure()
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
            return "cannot start the collecting process: %s" % (getattr(error, "strerror", None) or error)

    def _start(self, request):
        """Have a child that was asked: the one of before if it lives."""
        if self._child is not None:
            try:
                if not self._child.ended:
                    self._child.tell(request)
                    return
            except OSError:
                pass
            self.stop()
        wanted = {"limits": self.settings.limits, "checks": self.settings.names}
        inherited = [] if self.held is None else [self.held]
        self._child = Child("metrics", wanted, inherited, {"PYMTML_KEEP_LIBRARY": "0"}, listens=True)
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

    def _result(self, found):
        result = Collection()
        result.failure = found.failure
        if found.order is not None:
            result.count = len(found.order)
        if found.walks:
            self._walked, self._processes = time.monotonic(), {}
        silent = found.silent
        self._last = [silent] if silent is not None else [gpu for gpu in self._last if gpu not in found.cards]
        indices = sorted(self._known) if found.order is None else sorted(found.order)
        result.cards = [self._card(index, found) for index in indices]
        self._count(found, silent, result)
        self._known = {card["gpu"]: [card["uuid"], card["info"]] for card in result.cards}
        result.status = self._status(found, result)
        return result

    def _card(self, index, found):
        """A card as it answered, with what is known of it from before where it does not tell it."""
        card = found.cards.get(index)
        if card is None:
            card = {"gpu": index, "uuid": "", "info": [], "up": False, "parts": [], "values": [], "status": {}}
        if not card["up"] and not card["uuid"]:
            uuid, info = self._known.get(index, ["", []])
            if not any(uuid == other["uuid"] for other in found.cards.values()):
                card["uuid"], card["info"] = uuid, info
        if card["up"]:
            self._with_processes(card, found)
        return card

    def _with_processes(self, card, found):
        """Keep what a walk of /proc came to, and add it where there was none this time."""
        key = (card["gpu"], card["uuid"])
        if found.walks:
            values = [line for line in card["values"] if line[0] in ("processes", "process_info")]
            self._processes[key] = values, card["status"].get("processes")
        elif key in self._processes:
            values, level = self._processes[key]
            card["values"] = card["values"] + values
            if level is not None:
                card["status"]["processes"] = level

    def _count(self, found, silent, result):
        """Count the errors of this collection, and let go of those of cards that are not there any more."""
        uuids = {card["gpu"]: card["uuid"] for card in result.cards}
        failed = [(gpu, tuple(error)) for gpu, error in found.errors]
        failed += [(gpu, tuple(error)) for gpu, card in found.cards.items() for error in card["errors"]]
        if silent is not None:
            failed.append((silent, NO_ANSWER))
        for gpu, error in failed:
            if gpu in uuids:
                counts = self._errors.setdefault((gpu, uuids[gpu]), {})
                error = error if error in counts or len(counts) < MOST_ERROR_SERIES else OTHER
                counts[error] = counts.get(error, 0) + 1
        here = set(uuids.items())
        self._errors = {card: counts for card, counts in self._errors.items() if card in here}
        result.errors = self._errors

    def _status(self, found, result):
        """Worst level of each check ({check: 0, 1 or 2}): of the cards that tell it."""
        bad = checks.SEVERITY[checks.CRITICAL]
        status = {"driver": 0 if found.failure is None else bad}
        if "devices" in self.settings.names and result.count is not None:
            status["devices"] = checks.SEVERITY[checks.device_finding(result.count, self.settings.expect).level]
        for card in result.cards:
            for check, level in card["status"].items():
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
        self.order = self._driver_failed = None
        self.cards = {}

    def take(self, kind, value):
        """Note a message."""
        if kind == "cards":
            self.begin_again()
            self.order, self._driver_failed = value["order"], value["driver_failed"]
        elif kind == "card":
            self.cards[value["gpu"]] = value
        elif kind == "error":
            gpu, error = value
            self.errors.append((gpu, error))

    @property
    def silent(self):
        """Index of the card that was being asked when the child fell silent, or None."""
        if self.failure is None or self.order is None:
            return None
        return next((gpu for gpu in self.order if gpu not in self.cards), None)

    def driver_failure(self):
        """Why a driver that answered is not up all the same, or None."""
        return "it does not tell its version" if self._driver_failed else None
