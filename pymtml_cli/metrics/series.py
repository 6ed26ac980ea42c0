"""The series of `pymtml metrics`: names, types, units and labels as a table, and the query for each of them.

A series without an answer is absent: none is NaN, and none repeats an old value. docs/metrics.md has them all.
"""

import pymtml
from pymtml_cli.common.text import fit, safe
from pymtml_cli.readings import driver_files
from pymtml_cli.readings.devices import Implausible, Unknown, ask, cause, then, uuid_of
from pymtml_cli.readings.table import READINGS, SERIES, fan, mostly_implausible, ratio, value_of

OF_MACHINE, OF_CARD = "mthreads_", "mthreads_gpu_"
PLACE = ("gpu", "uuid", "instance_id", "hpc_job")  # labels of all series of a card; empty ones are left out

TOTAL = "_total"  # the suffix of counters; the others are gauges

# Series of the machine: (labels, help)
MACHINE_SERIES = {
    "driver_up": ((), "1 if the driver answered all queries of the last collection in time, else 0."),
    "gpus": ((), "Number of whole cards that the driver counts."),
    "gpus_expected": ((), "Number of cards that must be present, by the option --expect."),
    "collect_timestamp_seconds": ((), "When the last collection ended, in seconds since 1970."),
    "collect_duration_seconds": ((), "Time that the last collection took."),
    "health_status": (("check",), "Worst finding of a check of pymtml health: 0 in order, 1 warning, 2 critical."),
}

XID_LABELS = ("xid", "name", "severity", "scope")
PROCESS_LABELS = ("pid", "kind", "name")
JOB_LABELS = ("hpc_job", "hpc_user", "hpc_partition")
OWNER_LABELS = ("pod_uid", "container", "slurm_job")

# Series of a card: (labels beside those of PLACE, help)
CARD_SERIES = {
    "info": (("pci_bus_id", "name", "serial", "vbios", "driver"), "What the card is; the value is 1."),
    "up": ((), "1 if the card answered in the last collection, else 0."),
    "query_errors_total": (("query", "code"), "Queries of the card that failed."),
    "implausible_info": (("query", "value"), "What a query returned that no card can report; the value is 1."),
    "job_info": (JOB_LABELS, "A job on the card with its user and partition; the value is 1."),
    **{name: (labels, text) for name, (_, _, labels, text) in SERIES.items()},
    "mtlinks": (("state",), "MtLinks of the card in a state."),
    "mtlink_not_up": (("link", "peer", "state"), "An MtLink that is not up, and the card at its end; the value is 1."),
    "pcie_aer_errors_total": (("severity", "error"), "PCIe errors of the card that the kernel has counted (AER)."),
    "recoveries_total": (("kind",), "Faults that the driver has recovered from, and its errors, since it was loaded."),
    "xid_errors_total": (XID_LABELS, "XIDs that the driver has recorded since the second collection."),
    "xid_records": (XID_LABELS, "Fresh XIDs in the driver's record, by the limit xid-hours of health."),
    "last_xid": ((), "Number of the newest XID in the driver's record."),
    "last_xid_timestamp_seconds": ((), "When the driver recorded it, in seconds since 1970."),
    "processes": (OWNER_LABELS, "Processes that use the card, counted at most every 30 seconds."),
    "process_info": (PROCESS_LABELS, "A process that uses the card; the value is 1."),
    "process_memory_used_bytes": (PROCESS_LABELS, "The process's memory on the card, if the driver reports it."),
}

OF_NO_JOB = ("implausible_info", "mtlink_not_up", "pcie_aer_errors_total")  # which jobs share with the card

MOST_FANS = 8
MOST_XIDS = 16  # kinds of XIDs of a card that have series of their own
OTHER_XIDS = ("other",) * len(XID_LABELS)
MOST_PROCESSES = 64  # of a card whose names are published
MOST_OWNERS = 16  # pods, containers and jobs whose processes of a card are counted by themselves
OTHER_OWNERS = ("other",) * len(OWNER_LABELS)
LONGEST_VALUE = 40  # characters of an impossible value

LINK_STATES = {
    pymtml.MTML_MTLINK_STATE_UP: "up",
    pymtml.MTML_MTLINK_STATE_DOWN: "down",
    pymtml.MTML_MTLINK_STATE_DOWNGRADE: "downgraded",
}


# ---- Questions: (series, its own labels, answer) of a card or a part of it (iterators) ----


def of_query(query):
    """A question for all readings whose errors count as those of one query."""
    rows = [row for row in READINGS if row.series and SERIES[row.series[0]][0] == query]

    def question(device):
        for row in rows:
            series, *labels = row.series
            number = then(row.question(device), SERIES[series][1])
            if number is not None:
                yield series, tuple(labels), number
        if query in SEVERAL:
            yield from SEVERAL[query](device)

    return question


def fans(card):
    count = value_of(card, "fans.count")
    if isinstance(count, Unknown):
        yield "fan_ratio", (), count
        return
    for number in range(min(count, MOST_FANS)):
        speed, _ = fan(number)
        yield "fan_ratio", (str(number),), then(speed.question(card), ratio)


def links(card):
    """MtLinks by state, and each that is not up. A card that has links has a series for every state, also at 0."""
    count = value_of(card, "mtlink.count")
    if isinstance(count, Unknown):
        yield "mtlinks", (), count
        return
    counts = dict.fromkeys(LINK_STATES.values(), 0)
    for link in range(count):
        state = card.ask(pymtml.mtmlDeviceGetMtLinkState, link)
        if isinstance(state, Unknown):
            yield "mtlinks", (), state
        else:
            name = LINK_STATES.get(state, "other")
            counts[name] = counts.get(name, 0) + 1
            peer = peer_of(card, link, name)
            if name != "up":
                yield "mtlink_not_up", (str(link), peer, name), 1
    if any(counts.values()):
        yield from (("mtlinks", (name,), number) for name, number in counts.items())


def peer_of(card, link, state):
    """Index of the card at the other end of a link (str), or "": as it was while the link was up."""
    if link not in card.peers or state != "up" and not card.peers[link]:
        index = ask(pymtml.nvmlDeviceGetIndex, ask(pymtml.mtmlDeviceGetMtLinkRemoteDevice, card.handle, link))
        card.peers[link] = text_or_empty(then(index, str))
    return card.peers[link]


def recoveries(card):
    """What the driver has counted of faults, by kind; a kind without any has no series."""
    files = driver_files.of(card)
    if files is not None and not isinstance(files.status, driver_files.Unread):
        for kind, _, number in driver_files.counts(files.status):
            yield "recoveries_total", (kind,), number


# (label `query` of query_errors_total, question)
QUERIES = "memory utilization temperature power clock fan ecc retired_pages pcie mtlink firmware".split()
SEVERAL = {"fan": fans, "mtlink": links, "firmware": recoveries}  # by query: what has several numbers in a row
QUESTIONS = [(query, of_query(query)) for query in QUERIES]
ENOUGH = 3  # a card is lost if so many questions get no answer
OF_PARTS = ("memory", "utilization")  # instances and virtual devices share the rest with their card
QUESTIONS_OF_PARTS = [(query, question) for query, question in QUESTIONS if query in OF_PARTS]


IMPLAUSIBLE = "implausible"  # the code of an impossible number


def code_name(error):
    """The label `code` of query_errors_total for an error (str): the name of its class, or its number."""
    return type(cause(error)).__name__.partition("_")[2] or str(error.value)


class Answers:
    """The answers of a card or a part of it: ``values`` {(series, its own labels): number}, ``errors`` [(query, code)].

    ``answered`` is whether any question got an answer; "not supported" counts as one. ``refused`` {query: impossible
    value, as text}.
    """

    def __init__(self):
        self.values, self.errors, self.refused, self.answered = {}, [], {}, False

    def add(self, query, series, labels, answer):
        """Add an answer, or the error in its place."""
        if not isinstance(answer, Unknown):
            self.values[series, labels] = answer
            self.answered = True
        elif answer.not_supported:
            self.answered = True
        else:
            error = (query, IMPLAUSIBLE if isinstance(answer, Implausible) else code_name(answer.error))
            if isinstance(answer, Implausible):
                self.refused.setdefault(query, fit(safe(answer.text), LONGEST_VALUE))
            if error not in self.errors:
                self.errors.append(error)

    def ask(self, device, questions=QUESTIONS):
        """Ask a device all questions, or only the first ENOUGH if it answers none of these (returns these Answers)."""
        for number, (query, question) in enumerate(questions, 1):
            for series, labels, answer in question(device):
                self.add(query, series, labels, answer)
            if number == ENOUGH and not self.answered:
                break
        if self.has_implausible and mostly_implausible(device):
            self.values, self.answered = {}, False
        return self

    def as_list(self):
        """The values as the child sends them: [series, its own labels, number] of each (list)."""
        return [[series, list(labels), value] for (series, labels), value in self.values.items()]

    @property
    def has_implausible(self):
        """Whether there was an impossible number."""
        return any(code == IMPLAUSIBLE for _, code in self.errors)


def xid_labels(xid):
    """The labels of an XID."""
    return (driver_files.number(xid), xid.name, xid.severity, xid.scope)


def count(counts, labels, most, other):
    """Count something by its labels, or as ``other`` if there are ``most`` already."""
    labels = labels if labels in counts or len(counts) < most else other
    counts[labels] = counts.get(labels, 0) + 1


def kernel_errors(counted):
    """The values of a card's PCIe errors as the kernel counts them (list)."""
    return [["pcie_aer_errors_total", list(labels), number] for labels, number in counted.items()]


def xid_values(past, fresh):
    """The values of a card's XIDs of the past, and of those that are fresh, as the child sends them (list)."""
    counts = {}
    for one in fresh:
        count(counts, xid_labels(one), MOST_XIDS, OTHER_XIDS)
    found = [["xid_records", list(labels), number] for labels, number in counts.items()]
    if past:
        found += [["last_xid", [], past[-1].number], ["last_xid_timestamp_seconds", [], past[-1].time]]
    return found


def text_or_empty(answer):
    """The text, or an empty one for an Unknown."""
    return "" if isinstance(answer, Unknown) else answer


def identity(device, driver):
    """[uuid, labels of info] of a card or an instance; unknown ones are empty."""
    labels = [text_or_empty(then(value_of(device, "pci.bus_id"), safe))]
    for function in (pymtml.nvmlDeviceGetName, pymtml.nvmlDeviceGetSerial, pymtml.nvmlDeviceGetVbiosVersion):
        labels.append(text_or_empty(device.ask(function)))
    return [text_or_empty(uuid_of(device)), labels + [driver]]
