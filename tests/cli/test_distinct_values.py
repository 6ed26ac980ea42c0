"""Each number under its right name, by by_hand.txt, on a machine on which no two numbers are the same.

How whole outputs look is in expected/.
"""

import configparser
import io
import json
import os
import re
import sys
import types
import xml.etree.ElementTree

import pytest
import simulated
from command import WORKING_PROFILES, by_hand, invoke
from inside import FIELDS, main, metrics_series, samples

import pymtml

# Unit: the profile's text (str) as csv has it without its unit, what -q adds to that, as --json and metrics have it
UNITS = {
    "text": (str, "", str, str),
    "number": (str, "", int, int),
    "%": (str, " %", int, lambda text: int(text) / 100),
    "C": (str, " C", int, int),
    "MHz": (str, " MHz", int, lambda text: int(text) * 10**6),
    "W": (lambda text: "%.2f" % (int(text) / 1000), " W", int, lambda text: int(text) / 1000),
    "mV": (lambda text: text + ".000", " mV", int, int),
    "MiB": (lambda text: str(-(-int(text) >> 20)), " MiB", int, int),
    "lanes": (str, "x", int, int),
    "state": ("P%s".__mod__, "", int, int),
    "switch": (lambda text: text.capitalize() + "d", "", "ENABLE".__eq__, lambda text: int(text == "ENABLE")),
    "yes": (str.capitalize, "", "yes".__eq__, lambda text: int(text == "yes")),
    "hex": (lambda text: "0x%02X" % int(text), "", int, int),
    "id": (lambda text: "0x" + text[2:].upper(), "", lambda text: "0x" + text[2:].upper(), str),
    "address": (str.upper, "", str.upper, str.upper),
}
ROWS = by_hand("values")
for _kind in ("corrected", "uncorrected"):
    for _scope in ("volatile", "aggregate"):
        _fields = " ".join("ecc.errors.%s.%s.%s" % (_kind, _scope, at) for at in ("device_memory", "dram", "total"))
        _line = "ECC Errors/%s/DRAM %s" % (_scope.title(), {"c": "Correctable", "u": "Uncorrectable"}[_kind[0]])
        _column = {"corrected": "sbecc", "uncorrected": "dbecc"}[_kind] if _scope == "volatile" else ""
        _tag, _places = _line.lower().replace(" ", "_"), (_kind, _scope)
        _rest = ["ecc/%s_%s" % _places, "ecc_errors_total kind=%s,scope=%s" % _places, _column]
        ROWS.append(["ecc_%s_%s, number" % _places, _fields, _line, _tag] + _rest)
FIELD, LINE, TAG, JSON, SERIES, COLUMN = range(1, 7)
AS_CSV, SUFFIX, AS_JSON, AS_METRIC = range(4)


def of_key(key, card):
    """The profile's text for a key of the table."""
    if key.startswith("="):
        return key[1:].split(" ")[card]
    keys = simulated.device_keys(simulated.DISTINCT, card)
    first, _, second = key.partition(" - ")
    if second:
        return str(int(keys[first]) - int(keys[second]))
    name, _, item = key.partition(" ")
    return keys[name].split(", ")[int(item)] if item else keys[name]


def expected(place, form, card):
    """What the table says of a card at one kind of place: {name: value}."""
    found = {}
    for row in ROWS:
        key, _, unit = row[0].rpartition(", ")
        names = row[place] if len(row) > place else ""
        for name in [names] if place in (LINE, SERIES) else names.split(" "):
            value = UNITS[unit][form](of_key(key, card)) if name else None
            found[name] = value + UNITS[unit][SUFFIX] if name and place in (LINE, TAG) else value
    found.pop("")
    return found


def compared(found, wanted, lacking=()):
    """Fails with what differs of two dicts, and with what is found and not in the table, if there may be nothing."""
    wrong = {name: (found.get(name), value) for name, value in wanted.items() if found.get(name) != value}
    assert not wrong, "(shown, in the profile): %s" % wrong
    more = sorted(set(found) - set(wanted) - set(lacking))
    assert not more, "tests/cli/by_hand.txt lacks: %s" % {name: found[name] for name in more}


@pytest.fixture(autouse=True)
def distinct(monkeypatch, tmp_path):
    monkeypatch.setenv("PYMTML_SYS_ROOT", str(tmp_path))
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))
    (tmp_path / "1" / "fd").mkdir(parents=True)
    with simulated.machine(simulated.DISTINCT):
        yield


def cells(card):
    """Fields of csv that answer (dict)."""
    names = [names[0] for names, _, _, _ in FIELDS]
    (row,) = invoke("--query-gpu=" + ",".join(names), "--format=csv,noheader,nounits", "-i", str(card)).rows()
    return {name: cell for name, cell in zip(names, row) if cell != "[N/A]" and name != "timestamp"}


# Of a card whose displays sysfs tells, of instances
NOT_OF_THIS_MACHINE = {"display_mode", "display_attached", "display_active", "mig.mode.current", "mig.mode.pending"}


def test_every_field():
    """And each that answers elsewhere answers here."""
    for card in (0, 1):
        compared(cells(card), expected(FIELD, AS_CSV, card))
    for profile in ("s80", "s5000x8", "s3000-mpc"):
        with simulated.machine(profile):
            missing = sorted(set(cells(0)) - set(expected(FIELD, AS_CSV, 0)) - NOT_OF_THIS_MACHINE)
        assert not missing, "tests/distinct.ini lacks what these come from, or by_hand.txt their values: %s" % missing


def by_path(text):
    """Lines of -q with a value: {keys of all levels: value}."""
    above, found = [], {}
    for line in text.splitlines():
        match = re.match(r"( *)(\S.*?)\s*(?:: (.*))?$", line)
        if match:
            above = above[: len(match.group(1)) // 4] + [match.group(2)]
            found["/".join(above[1:])] = match.group(3)
    return {path: value for path, value in found.items() if path and value not in (None, "N/A")}


def test_sections():
    for card in (0, 1):
        found = by_path(invoke("-q", "-i", str(card)).stdout)
        found.update(by_path(invoke("-q", "-d", "VOLTAGE", "-i", str(card)).stdout))
        compared(found, expected(LINE, AS_CSV, card), ["Processes"])


def test_xml():
    for card in (0, 1):
        document = xml.etree.ElementTree.fromstring(invoke("-q", "-x", "-i", str(card)).stdout).find("gpu")
        wanted = expected(TAG, AS_CSV, card)
        wanted.update(
            {tag: text[2:] for tag, text in wanted.items() if tag.startswith("pci/pci_") and text[:2] == "0x"}
        )
        compared({tag: document.findtext(tag) for tag in wanted}, wanted)


def below(value, path=""):
    """Leaves of an object: (keys of all levels, value)."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from below(item, "%s/%s" % (path, key) if path else str(key))
    if not items and not isinstance(value, (dict, list)):
        yield path, value


def test_json():
    for card in (0, 1):
        found = dict(below(json.loads(invoke("--json", "-i", str(card)).stdout)["devices"][0]))
        found = {path: value for path, value in found.items() if value is not None and "reasons/" not in path}
        further = [
            path for path in found if re.match(r"displays/1/|fans/speeds/2/|retired_pages/\w+/[12]|.*/link$", path)
        ]
        wanted = expected(JSON, AS_JSON, card)
        compared(found, wanted, further)


def test_metrics(tmp_path):
    pytest.importorskip("prometheus_client")
    from prometheus_client.parser import text_string_to_metric_families

    never_here = {"process_info", "query_errors_total", "recoveries_total", "xid_records", "xid_errors_total"}
    never_here |= {"last_xid", "last_xid_timestamp_seconds", "process_memory_used_bytes"}
    never_here |= {"implausible_info", "job_info", "pcie_aer_errors_total"}
    never_here |= {"mtlink_not_up"}  # of each link, which test_metrics.py has
    there = {row[SERIES].split(" ")[0] for row in ROWS if len(row) > SERIES and row[SERIES]}
    assert (
        there == set(metrics_series.CARD_SERIES) - never_here
    ), "by_hand.txt lacks a series, or has one that there is not"
    page = invoke("metrics", "--processes", "count", "--lock", str(tmp_path / "lock")).stdout
    for card in (0, 1):
        found = {}
        for sample in (one for family in text_string_to_metric_families(page) for one in family.samples):
            name, labels = sample.name.replace("mthreads_gpu_", ""), dict(sample.labels)
            if labels.pop("gpu", "") != str(card) or labels.pop("uuid") != of_key("uuid", card):
                continue
            if name == "info":
                found.update({"info " + label: value for label, value in labels.items()})
            else:
                name += " " + ",".join("%s=%s" % pair for pair in sorted(labels.items()))
                found[name.strip()] = sample.value
        further = [name for name in found if name == "fan_ratio fan=2" or name.startswith("mtlink_not_up ")]
        compared(found, expected(SERIES, AS_METRIC, card), further)


def test_columns_of_dmon():
    for card in (0, 1):
        head, _, line = invoke("dmon", "-c", "1", "-s", "pucmet", "-i", str(card)).lines
        found = dict(zip(head.split()[2:], line.split()[1:]))
        assert found.pop("pwr", head) == str(int(of_key("power_usage", card)) // 1000)
        compared({name: cell for name, cell in found.items() if cell != "-"}, expected(COLUMN, AS_CSV, card))


@pytest.mark.parametrize("profile", WORKING_PROFILES)
def test_other_machines(profile):
    """A card tells what its profile says, or nothing."""
    with simulated.machine(profile):
        report = json.loads(invoke("--json").stdout)["devices"]
        for card in range(len(report)):
            cards = [name for name in simulated.profile(profile) if re.match(r"device\.\d+$", name)]
            of_all = [simulated.device_keys(profile, int(name[7:])) for name in cards]
            (keys,) = [keys for keys in of_all if keys["uuid"] == report[card]["uuid"]]  # some are hidden
            shown = {FIELD: cells(card), JSON: dict(below(report[card]))}
            for key, _, unit in (row[0].rpartition(", ") for row in ROWS):
                if key not in keys or " " in key or unit == "address":
                    continue
                for place, form in ((FIELD, AS_CSV), (JSON, AS_JSON)):
                    for name in names_of(key, place):
                        told = shown[place].get(name)
                        assert told in (None, UNITS[unit][form](keys[key])), (card, name, told, keys[key])
    assert report


def names_of(key, place):
    """Where the table has a key, at one kind of place (list)."""
    rows = [row for row in ROWS if row[0].rpartition(", ")[0] == key and len(row) > place]
    return [name for row in rows for name in row[place].split(" ") if name]


def test_capture():
    """What it writes down is the profile, key for key."""
    captured = configparser.RawConfigParser()
    captured.read_string(invoke("capture", "--unmasked").stdout)
    for card in (0, 1):
        expected = simulated.device_keys(simulated.DISTINCT, card)
        found = dict(captured["device"]) if captured.has_section("device") else {}
        found.update(captured["device.%d" % card])
        different = {key for key in expected if key in found and expected[key] != found[key]}
        # Written in another way, or not told by the library
        others = "topology displays encoder_sessions decoder_sessions p2p_read p2p_write mtlink_p2p_access "
        others += "mtlink_p2p_atomics pci_max_speed pci_cur_speed retired_pages_sbe retired_pages_dbe"
        assert different <= set(others.split()), {key: (expected[key], found[key]) for key in different}
        assert len(set(expected) & set(found)) > 50


# ---- Loops ----


class Enough(Exception):
    """Ends a loop where the next sample would be waited for."""


def two_samples(monkeypatch, *arguments):
    """What the command prints in two samples, between which the GPU gets warmer; and the seconds between them."""
    waited = []

    def sleep(seconds):
        if waited:
            raise Enough
        waited.append(seconds)
        simulated.set_value(0, "gpu_temperature", 77)

    monkeypatch.setattr(samples, "time", types.SimpleNamespace(monotonic=lambda: 100.0, sleep=sleep))
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    monkeypatch.setattr(sys, "stdout", out)
    with pytest.raises(Enough):
        main(list(arguments))
    out.flush()
    while pymtml._nvmlLib_refcount:
        pymtml.nvmlShutdown()
    return out.buffer.getvalue().decode("utf-8"), waited[0]


LOOPS = [
    # The head comes once
    (("--query-gpu=temperature.gpu", "--format=csv", "-l", "3", "-i", "0"), r"temperature.gpu\n51\n", r"\n51\n77\n", 3),
    (("--query-gpu=temperature.gpu", "--format=csv,noheader", "-lms", "500", "-i", "0"), r"51\n", r"77\n", 0.5),
    (("-q", "-d", "TEMPERATURE", "-i", "0", "-l"), "Current Temp +: 51 C", "Current Temp +: 77 C", 5),
    (("-q", "-x", "-i", "0", "-lms"), "<gpu_temp>51 C", "<gpu_temp>77 C", 5),
    (("--json", "-i", "0", "-l", "2"), r'(?m)^{"schema": .*"gpu_celsius": 51.*}$', r'(?m)^{.*"gpu_celsius": 77.*}$', 2),
    (("-i", "0", "-l", "4"), " 51C ", " 77C ", 4),
    (("-i", "0", "--watch=6"), " 51C ", " 77C ", 6),
    (("dmon", "-s", "p", "-i", "0"), "123 +51 ", "123 +77 ", 1),
    (("dmon", "-s", "p", "-d", "7", "-i", "0"), "123 +51 ", "123 +77 ", 7),
]


@pytest.mark.parametrize("arguments, first, second, seconds", LOOPS, ids=[" ".join(row[0]) for row in LOOPS])
def test_second_sample_is_a_new_one(arguments, first, second, seconds, monkeypatch):
    text, waited = two_samples(monkeypatch, *arguments)
    assert len(re.findall(first, text)) == 1 and len(re.findall(second, text)) == 1, text
    assert re.search(first, text).start() < re.search(second, text).start()
    assert abs(waited - seconds) < 0.001


def test_samples_keep_their_schedule(monkeypatch):
    """What a sample takes does not delay the next one; one that takes too long is followed by the next at once."""
    now, taken, lengths = [100.0], [], [0.25, 0.25, 2.5, 0.25]

    def sleep(seconds):
        now[0] += seconds

    monkeypatch.setattr(samples, "time", types.SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    for first, length in zip(
        samples.repeat(types.SimpleNamespace(next_sample=lambda: None, expect=lambda _: None), 1), lengths + [0]
    ):
        taken.append((now[0], first))
        now[0] += length
    assert taken == [(100, True), (101, False), (102, False), (104.5, False), (105.5, False)]


def test_a_loop_lets_go_of_the_library_at_its_end(monkeypatch):
    """Cards may come and go then; unless somebody said otherwise."""
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", "1")
    two_samples(monkeypatch, "pmon", "-i", "0")
    assert os.environ["PYMTML_KEEP_LIBRARY"] == "1"
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
    two_samples(monkeypatch, "pmon", "-i", "0")
    assert os.environ["PYMTML_KEEP_LIBRARY"] == "0"
