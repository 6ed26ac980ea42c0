"""A collection as Prometheus' text, by prometheus_client; and what the next process takes from such a text."""

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from pymtml_cli.metrics_series import CARD_SERIES, COUNTER, MACHINE_SERIES, OF_CARD, OF_MACHINE
from pymtml_cli.text import safe

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LONGEST_FILE = 16 << 20  # bytes of a text that is read again
INFO_LABELS = CARD_SERIES["info"][1]


def page(collection, expected):
    """The text (bytes, UTF-8)."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families(collection, expected))
    text = generate_latest(registry)
    if collection.failure is not None:
        text += ("# The driver is not up: %s\n" % safe(collection.failure)).encode("utf-8")
    return text


class _Families:
    """What prometheus_client collects."""

    def __init__(self, collection, expected):
        self._collection, self._expected = collection, expected

    def collect(self):
        """The families, those without a sample left out (list of Metric)."""
        families = _empty(OF_MACHINE, MACHINE_SERIES)
        families.update(_empty(OF_CARD, CARD_SERIES))
        self._machine(families)
        for card in self._collection.cards:
            _card(families, card)
            for (gpu, uuid), counts in self._collection.errors.items():
                if gpu == card["gpu"]:
                    for (query, code), number in counts.items():
                        labels = dict(_place(card), query=query, code=code)
                        _add(families, OF_CARD + "query_errors_total", labels, number)
        return [family for family in families.values() if family.samples]

    def _machine(self, families):
        found = self._collection
        values = {
            "driver_up": int(found.failure is None),
            "gpus": found.count,
            "gpus_expected": self._expected,
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
    """What a text says that outlasts its process (identities by gpu, counts of errors by gpu and uuid).

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
