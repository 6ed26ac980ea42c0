"""hostfacts: each fact that a document says, as a whole; what compare makes of them is in test_compare.py."""

import copy
import json

import pytest
import simulated
from command import invoke
from inside import CHECKS, DOCTOR, HEALTH, MACHINE, hostfacts


@pytest.fixture(scope="module")
def document():
    """What `pymtml --json` says of two cards, of which one is divided (dict)."""
    with simulated.machine("s3000-mpc"):
        return json.loads(invoke("--json").stdout)


def facts(kind, content):
    """({name: (values, what is shown, whether all cards answered)}, number of cards) of a document."""
    cards, found = hostfacts.facts_of(kind, content)
    assert {fact.kind for fact in found.values()} == {kind}
    return {name: (fact.values, fact.shown, fact.whole) for name, fact in found.items()}, cards


def alike(values):
    """A fact that is shown as it is, and that all cards tell."""
    return values, values, True


PAGES = "ecc.corrected_volatile, ecc.corrected_aggregate, retired_pages.single_bit, retired_pages.double_bit"


def test_facts_that_name_cards_by_their_index(document):
    """All values stand in expected/compare.txt."""
    _, found = hostfacts.facts_of(MACHINE, document)
    ordered = {name for name, fact in found.items() if fact.ordered}
    assert ordered == {"mtlink.links.remote"} | {"topology." + key for key in ("level", "mtlinks", "read", "write")}


@pytest.mark.parametrize(
    "key, name", [("retired_pages", "single_bit"), ("retired_pages", "double_bit"), ("processes", "list")]
)
def test_what_is_different_on_every_machine_does_not_fail(key, name, document):
    """Lists of pages and processes: whatever is in them, and whether all of it is known."""
    other = copy.deepcopy(document)
    other["devices"][1][key][name] = []
    empty = facts(MACHINE, other)
    other["devices"][1][key][name] = [{"memory_bytes": None, "reasons": {"memory_bytes": "Timeout"}}]
    assert facts(MACHINE, other) == empty


def test_queries_that_fail_by_their_reasons(document):
    """What hardware, driver or library never tell does not fail; of the queries that do four are named."""
    other = copy.deepcopy(document)
    reasons = {"fan": "Timeout", "a": "Unknown Error", "b": "Not Supported: x", "c": "Timeout"}
    reasons["d"] = "Function Not Found"
    other["devices"][1].update(dict.fromkeys(reasons), reasons=reasons)
    found, _ = facts(MACHINE, other)
    assert found["failing"] == alike({0: "none", 1: "Timeout: fan, c; Unknown Error: a", None: "none"})
    assert found["not_told"][0][1] == PAGES + ", b, d"
    for names, shown in (("efgh", "e, f, g, h"), ("efghi", "e, f, g, h and 1 more")):
        card = dict(document["devices"][1], reasons=dict.fromkeys(names, "Timeout"), **dict.fromkeys(names))
        found, _ = facts(MACHINE, dict(document, devices=[document["devices"][0], card]))
        assert found["failing"][0][1] == "Timeout: " + shown


@pytest.mark.parametrize(
    "card, silent",
    [
        ({"name": None, "reasons": {"name": "Timeout"}}, True),
        ({"name": None, "reasons": {"name": "Not Supported"}}, False),
        ({"name": None}, False),
        ({"name": "MTT S80", "reasons": {"name": "Timeout"}}, False),
    ],
)
def test_which_card_says_nothing(card, silent):
    assert hostfacts._is_silent(card) == silent


FINDINGS = [
    {"check": None, "status": "CRITICAL", "gpus": [0], "text": "7 of x16 at 1.5"},
    {"check": None, "status": "OK", "gpus": [1], "text": "7"},
    {"check": None, "status": "NOTE", "gpus": [1], "text": "8"},
    {"check": None, "status": "N/A", "gpus": [4], "text": "9 not reported"},
]


def findings(check, count=0):
    """What health or doctor say of a check (dict)."""
    return {"device_count": count, "findings": [dict(one, check=check) for one in FINDINGS]}


@pytest.mark.parametrize("check", list(CHECKS) + ["new"])
def test_numbers_in_what_health_says(check):
    """Those that name something stay; those that are measured are a "#"; what is well is OK, whatever it says."""
    shown = {0: "CRITICAL: 7 of x16 at 1.5", 1: "OK", 4: "N/A"}
    exact = check in ("driver", "devices", "answers", "links", "new")
    compared = shown if exact else {0: "CRITICAL: # of x16 at #", 1: "OK", 4: "N/A"}
    if check == "driver":
        shown = compared = {index: shown[index].replace("CRITICAL", "WARNING") for index in shown}
    said = json.loads(json.dumps(findings(check)).replace("CRITICAL", "WARNING" if check == "driver" else "CRITICAL"))
    assert facts(HEALTH, said) == ({"health." + check: (compared, shown, True)}, 3)


@pytest.mark.parametrize("check, exact", [("temperature", False), ("cost", False), ("links", True), ("module", True)])
def test_what_doctor_says(check, exact):
    """It lists only the cards about which there is something to say; a level is shown where something is wrong."""
    shown = {0: "CRITICAL: 7 of x16 at 1.5", 1: "8", 2: "OK", 4: "9 not reported"}
    compared = shown if exact else {0: "CRITICAL: # of x16 at #", 1: "#", 2: "OK", 4: "# not reported"}
    assert facts(DOCTOR, findings(check, 3)) == ({"doctor." + check: (compared, shown, True)}, 4)
