"""The child of `pymtml metrics`, which lives on: each line that it reads asks for one collection.

It sends ``driver`` with a text where the driver cannot be used (and ends: the next one tries afresh), or ``worn`` where
only a new process can use it; else ``cards``, then a ``card`` for each, in the order that was announced, and ``done``.
``cards`` may come again: handles had died, and all is asked anew. ``error`` is the question by which that was noticed.
"""

import json
import sys

import pymtml
from pymtml_cli import checks
from pymtml_cli.child import answering
from pymtml_cli.devices import Machine, Unknown, ask, then
from pymtml_cli.errors import CommandError
from pymtml_cli.metrics_series import (
    MOST_PROCESSES,
    QUESTIONS_OF_PARTS,
    Reading,
    VirtualDevice,
    code_name,
    identity,
    text_or_empty,
)
from pymtml_cli.processes import processes, unseen
from pymtml_cli.text import safe

NO_PROCESSES, COUNTED, NAMED = "none", "count", "names"


def answer(request):
    """Answer the parent, as the child process, and end."""
    answering(request, _collect)


def _collect(wanted, send):
    """Collect each time that the parent asks, until it asks no more."""
    life = Life(wanted)
    for line in sys.stdin:
        if not life.collect(json.loads(line), send):
            return


def _reason(error):
    """Why the library cannot be used, and what was tried (str)."""
    return " ".join((error.text + " " + error.hint).split())


class Life:
    """The library from init to shutdown, again and again: a new life after an error, or with other cards."""

    def __init__(self, wanted):
        self._limits = checks.Limits()
        self._limits.update(wanted["limits"])
        self._checks = [name for name in wanted["checks"] if name in checks.OF_CARD]
        self._machine = self._is_new = self._failed = None  # until a life begins
        self._has_lived = False
        self._identities = {}  # of the cards in this life: they do not change while it lasts

    def collect(self, asked, send):
        """Answer one collection (whether there may be another)."""
        try:
            self._go_on()
        except CommandError as error:
            self._machine = None
            send("worn" if self._has_lived else "driver", _reason(error))
            return False
        while not self._cards(asked, send):
            try:
                self._begin()
            except CommandError as error:
                send("worn", _reason(error))
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
            self._machine = None
        self._identities = {}
        self._machine = Machine()
        self._is_new, self._failed = True, False
        self._has_lived = True

    def _cards(self, asked, send):
        """Ask the cards (whether that is all; else the handles died, and all must be asked anew)."""
        machine = self._machine
        driver = text_or_empty(machine.driver_version)
        cards = machine.cards
        # Cards that hung come last, so that the others are heard.
        cards = sorted(cards, key=lambda card: card.index in asked["last"])
        failed = isinstance(machine.driver_version, Unknown) and not checks.is_not_told(machine.driver_version)
        send("cards", {"order": [card.index for card in cards], "driver_failed": failed})
        for card in cards:
            found, failure = self._card(card, driver, asked["processes"])
            if failure is not None and not self._is_new:
                send("error", [card.index, failure])
                return False
            self._failed = self._failed or failure is not None
            send("card", found)
        return True

    def _card(self, card, driver, wanted):
        """What a card and its parts answer (dict), and the first error (query, code), or None."""
        reading = Reading().ask(card)
        uuid, info = self._identity(card, driver)
        found = {"gpu": card.index, "uuid": uuid, "info": info, "up": reading.answered}
        found["parts"] = list(self._parts(card, driver, reading.errors))
        if wanted != NO_PROCESSES and reading.answered:
            _take_processes(card, reading, wanted)
        found["status"] = self._status(card, wanted, reading.answered)
        found["values"] = [[series, list(labels), value] for (series, labels), value in reading.values.items()]
        found["errors"] = reading.errors
        return found, reading.errors[0] if reading.errors else None

    def _identity(self, device, driver):
        if device not in self._identities:
            self._identities[device] = identity(device, driver)
        uuid, info = self._identities[device]
        return uuid, list(info)

    def _parts(self, card, driver, errors):
        """MPC instances and virtual devices of a card (iterator of dicts)."""
        for instance in card.instances:
            reading = Reading().ask(instance, QUESTIONS_OF_PARTS)
            uuid, info = self._identity(instance, driver)
            profile = instance.ask(pymtml.mtmlDeviceGetMpcProfileInfo)
            info[1] = text_or_empty(then(profile, lambda known: safe(known.name))) or info[1]
            yield _part(str(instance.index), uuid, info, reading)
            errors += [error for error in reading.errors if error not in errors]
        if card.ask(pymtml.nvmlDeviceGetVirtualizationMode) != pymtml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU:
            return
        uuids = card.ask(pymtml.mtmlDeviceGetActiveVirtDeviceUuids)
        if isinstance(uuids, Unknown):
            if not checks.is_not_told(uuids):
                errors.append(("virtual_devices", code_name(uuids.error)))
            return
        for number, uuid in enumerate(uuids):
            device = VirtualDevice(card, uuid)
            reading = Reading().ask(device, QUESTIONS_OF_PARTS)
            name = text_or_empty(then(device.ask(pymtml.mtmlDeviceGetVirtType), lambda kind: safe(kind.name)))
            yield _part("v%d" % number, safe(uuid), ["", name, "", "", driver], reading)
            errors += [error for error in reading.errors if error not in errors]

    def _status(self, card, wanted, answered):
        """Worst level of each check of a card of which anything is told ({check: 0, 1 or 2})."""
        names = self._checks
        if wanted == NO_PROCESSES:
            names = [name for name in names if name != "processes"]
        if not answered:
            names = [name for name in names if name == "answers"]
        status = {}
        for name in names:
            told = [one.level for one in checks.outcomes(card, name, self._limits) if one.level != checks.NOT_TOLD]
            if told:
                status[name] = max(checks.SEVERITY[level] for level in told)
        return status


def _part(number, uuid, info, reading):
    values = [[series, list(labels), value] for (series, labels), value in reading.values.items()]
    return {"instance_id": number, "uuid": uuid, "info": info, "up": reading.answered, "values": values}


def _take_processes(card, reading, wanted):
    """Note the processes of a card, where all could be looked into: else nobody knows how many there are."""
    found = processes(card)
    if isinstance(found, Unknown):
        reading.take("processes", "processes", (), found)
        return
    if not unseen([card]):
        reading.values["processes", ()] = len(found)
    if wanted == NAMED:
        for process in found[:MOST_PROCESSES]:
            labels = (str(process.pid), process.kind, text_or_empty(process.name))
            reading.values["process_info", labels] = 1
