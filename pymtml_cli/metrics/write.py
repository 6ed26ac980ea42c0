"""A collection as Prometheus' text, by prometheus_client, and its file, from which the next process goes on."""

import contextlib
import errno
import os

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.utils import floatToGoString

from pymtml_cli.common.text import safe
from pymtml_cli.metrics.series import CARD_SERIES, COUNTER, MACHINE_SERIES, OF_CARD, OF_MACHINE

LONGEST_FILE = 16 << 20  # bytes of a text that is read again
MODE = 0o644  # of the file: another user reads it, node_exporter's
INFO_LABELS = CARD_SERIES["info"][1]


class Writer:
    """Writes pages. While the series stay the same only their values are put into the page that the library wrote."""

    CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self, expected):
        self._expected = expected
        self._series = self._pieces = None  # of the page before

    def page(self, collection):
        """The text (bytes, UTF-8)."""
        families = _families(collection, self._expected)
        samples = [sample for family in families for sample in family.samples]
        series = [(sample.name, sample.labels) for sample in samples]
        if series != self._series:
            self._series, self._pieces = series, _pieces(families)
        values = (floatToGoString(sample.value) for sample in samples)
        text = "".join(piece + value + "\n" for piece, value in zip(self._pieces, values))
        if collection.failure is not None:
            text += "# The driver is not up: %s\n" % safe(collection.failure)
        return text.encode("utf-8")


def _pieces(families):
    """The page of families without its values: a text for each sample, with what stands before it (list of str)."""
    registry = CollectorRegistry()
    registry.register(_Families(families))
    pieces, before = [], ""
    for line in generate_latest(registry).decode("utf-8").splitlines(True):
        if line.startswith("#"):
            before += line
        else:
            pieces.append(before + line[: line.rindex(" ") + 1])
            before = ""
    return pieces


class _Families:
    """What prometheus_client collects."""

    def __init__(self, families):
        self._families = families

    def collect(self):
        """The families."""
        return self._families


def _families(collection, expected):
    """The families of a collection, those without a sample left out (list of Metric)."""
    families = _empty(OF_MACHINE, MACHINE_SERIES)
    families.update(_empty(OF_CARD, CARD_SERIES))
    _machine(families, collection, expected)
    for card in collection.cards:
        _card(families, card)
        for (query, code), number in collection.errors.get((card["gpu"], card["uuid"]), {}).items():
            _add(families, OF_CARD + "query_errors_total", dict(_place(card), query=query, code=code), number)
    return [family for family in families.values() if family.samples]


def _machine(families, found, expected):
    values = {
        "driver_up": int(found.failure is None),
        "gpus": found.count,
        "gpus_expected": expected,
        "collect_timestamp_seconds": found.time,
        "collect_duration_seconds": found.duration,
    }
    for name, value in values.items():
        if value is not None:
            _add(families, OF_MACHINE + name, {}, value)
    for check, level in found.status.items():
        _add(families, OF_MACHINE + "health_status", {"check": check}, level)


def _empty(prefix, table):
    families = {}
    for name, (kind, _, text) in table.items():
        # A counter's family is named without the end that its samples have.
        family = name[: -len("_total")] if kind == COUNTER else name
        families[prefix + name] = Metric(prefix + family, text, kind)
    return families


def _add(families, name, labels, value):
    families[name].add_sample(name, labels, value)


def _place(device, card=None):
    """Labels of a card, or of a part of a card."""
    labels = {"gpu": str(device["gpu"] if card is None else card["gpu"])}
    if device["uuid"]:
        labels["uuid"] = device["uuid"]
    if card is not None:
        labels["instance_id"] = device["instance_id"]
    return labels


def _card(families, card):
    _device(families, card, _place(card))
    for part in card["parts"]:
        _device(families, part, _place(part, card))


def _device(families, device, place):
    known = {label: text for label, text in zip(INFO_LABELS, device["info"]) if text}
    if known:
        _add(families, OF_CARD + "info", dict(place, **known), 1)
    _add(families, OF_CARD + "up", place, int(device["up"]))
    for series, labels, value in device["values"]:
        names = CARD_SERIES[series][1]
        _add(families, OF_CARD + series, dict(place, **dict(zip(names, labels))) if labels else place, value)


def earlier(text):
    """What the text of the process before says that outlasts it (identities by gpu, counts of errors by gpu and uuid).

    Raises: ValueError for what is no such text.
    """
    known, errors = {}, {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = sample.labels
            if "instance_id" in labels or not labels.get("gpu", "").isdigit():
                continue
            gpu, uuid = int(labels["gpu"]), labels.get("uuid", "")
            if sample.name == OF_CARD + "info":
                known[gpu] = [uuid, [labels.get(name, "") for name in INFO_LABELS]]
            elif sample.name == OF_CARD + "query_errors_total":
                key = labels.get("query", ""), labels.get("code", "")
                errors.setdefault((gpu, uuid), {})[key] = int(sample.value)
    return known, errors


# ---- The file of --textfile: readers see the old one or the new one, never a part ----


def write(path, text):
    """Put a text (bytes) into a file.

    Raises: OSError.
    """
    if os.path.lexists(path) and not os.path.isfile(path):
        raise OSError(errno.EEXIST, "it is there, and is no file")
    temporary = "%s.%d.tmp" % (path, os.getpid())
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(temporary, flags, MODE), "wb") as file:
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), MODE)
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def read(path, most=LONGEST_FILE):
    """The text of a file (str), or None where there is none that can be read, or it is longer."""
    try:
        if not os.path.isfile(path):  # a pipe would be waited for
            return None
        with open(path, encoding="utf-8") as file:
            text = file.read(most + 1)
    except (OSError, ValueError):
        return None
    return text if len(text) <= most else None
