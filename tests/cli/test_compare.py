"""compare: what differs between hosts is told with their names, and a host that said nothing is never the same."""

import copy
import io
import itertools
import json
import os
import random
import re
import sys

import pytest
import simulated
from command import command_environment, invoke, run_command
from inside import Comparison, gathered, hostfacts, hostlist


def said(profile="s5000x8", arguments=("--json",), **options):
    """What the command says on a machine (str)."""
    with simulated.machine(profile, **options):
        return invoke(*arguments).stdout


@pytest.fixture(scope="module", name="document")
def machine_document():
    """What `pymtml --json` says of eight cards (dict)."""
    return json.loads(said())


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What health --json says of them (dict)."""
    lock = str(tmp_path_factory.mktemp("lock") / "lock")
    return json.loads(said(arguments=("health", "--json", "--lock", lock)))


@pytest.fixture
def folder(tmp_path):
    """Writes what hosts say into files of their names; returns the folder."""

    def write(**hosts):
        for name, content in hosts.items():
            text = content if isinstance(content, str) else json.dumps(content, indent=2)
            (tmp_path / (name + ".json")).write_text(text)
        return str(tmp_path)

    return write


def piped(text, monkeypatch, *arguments):
    """compare, with a text for its stdin (Result)."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    return invoke("compare", *arguments)


def changed(document, path, value, host=None):
    """A copy of a document with another value at a path of keys."""
    result = copy.deepcopy(document)
    place = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    if host:
        result["host"] = host
    return result


# ---- What differs ----


def test_the_example_of_the_documentation(document):
    """docs/command.md shows what is printed of 500 hosts."""
    new = changed(document, ["driver_version"], "5.1.0")
    new["devices"][5]["retired_pages"]["pending"] = False
    usual, narrow = _documents(a=new, b=changed(new, ["devices", 3, "pci", "width"], 8))
    (old,) = _documents(a=changed(new, ["driver_version"], "4.9.9"))
    said = [copy.copy(old if number == 3 or 17 <= number < 26 else usual) for number in range(1, 501)]
    said[43] = narrow
    for number, one in enumerate(said, 1):
        one.host = "node%03d" % number
    with open(os.path.join(simulated.ROOT, "docs", "command.md"), encoding="utf-8") as file:
        text = file.read()
    *shown, _, summed = Comparison(said).lines()
    shown = "\n".join(shown)
    assert summed.endswith(": 2 differ") and "```text\n%s\n```" % shown in text, (
        "docs/command.md, compare: what is printed is now\n" + shown
    )


# Of a card: what is different on machines that are alike
ALIKE = {
    "uuid": "0",
    "serial_number": "0",
    "pci.replays": 7,
    "temperature.gpu_celsius": 12,
    "memory.used_bytes": 1,
    "utilization.engines.3d_percent": 1,
    "pci.generation": 1,
    "processes.unseen": 99,
    "ecc.corrected_volatile": 4,
}
# Of a card: what tells machines apart
APART = {
    "name": "MTT S4000",
    "firmware_version": "1",
    "pci.width": 8,
    "pci.max_width": 8,
    "ecc.enabled": False,
    "mpc.enabled": True,
    "affinity.cpus": "0-3",
    "ecc.uncorrected_volatile": 4,
    "retired_pages.pending": True,
}


def test_what_tells_machines_apart(document):
    for name, value in dict(ALIKE, **APART).items():
        other = put("devices.3." + name, value)(document)
        comparison = Comparison(_documents(a=document, b=document, c=other))
        found = {fact: [group.hosts for group in groups] for fact, groups in comparison.differences.items()}
        assert other != document and found == ({name: [["a", "b"], ["c"]]} if name in APART else {}), name


def test_each_key_of_the_schema_is_compared_or_left_out(document):
    """A key that --json learns is a reading's, or is compared by whether it is told."""
    leaves = {name for card in document["devices"] for name, _, _ in hostfacts._leaves(card)}
    missing = sorted(leaves - set(hostfacts.CARD_KEYS))
    assert not missing, "CARD_KEYS of pymtml_cli/hosts/facts.py lacks %s" % ", ".join(missing)
    lists = {name.split(".links.")[0].split(".")[0] for name in hostfacts.LISTS}
    everything = {name.split(".")[0] for name in hostfacts.CARD_KEYS} | lists
    assert everything == set(document["devices"][0]) - {"reasons"}, "--json has others: OBJECTS of documents.py"
    dropped = sorted(set(hostfacts.BY_KEY) - leaves)
    assert not dropped, "no object of --json has %s: documents.py" % ", ".join(dropped)
    assert set(document) == set(hostfacts.MACHINE_KEYS) | {"schema", "time", "timestamp", "host", "devices"}


def put(path, value, **more):
    """What changes a document: a value at a path of names and numbers, and keys of the machine."""
    keys = [int(key) if key.isdigit() else key for key in path.split(".")]
    return lambda document: dict(changed(document, keys, value), **more)


def without_a_card(document):
    fewer = copy.deepcopy(document)
    del fewer["devices"][7]
    for card in fewer["devices"]:
        card["topology"] = [pair for pair in card["topology"] if pair["device"] != 7]
    return dict(fewer, device_count=7)


def silent_about_a_temperature(document):
    temperature = {"gpu_celsius": None, "reasons": {"gpu_celsius": "Not Supported"}}
    return changed(document, ["devices", 1, "temperature"], dict(document["devices"][1]["temperature"], **temperature))


LINK = "mtlink.links.5.state"
# What is different about one host of three: (how it is, the fact, what the others say, what it says)
DIFFERENT = [
    (put("devices.2." + LINK, "down"), "mtlink.links.state", "up: 0-13", "GPU 2: down: 5, up: 0-4,6-13"),
    (put("devices.2." + LINK, "downgrade"), "mtlink.links.state", "up: 0-13", "GPU 2: downgrade: 5, up: 0-4,6-13"),
    (without_a_card, "device_count", "8", "7"),
    (put("devices.0.memory.total_bytes", (1 << 34) + 1), "memory.total_bytes", "81920 MiB", "GPU 0: 17179869185"),
    (put("driver_version", "x" * 200), "driver_version", "5.1.0-server", "x" * 200),
    (put("driver_version", "x" * 201), "driver_version", "5.1.0-server", "x" * 197 + "..."),
    (silent_about_a_temperature, "not_told", "none", "GPU 1: temperature.gpu_celsius"),
    ("3.mtmlGpuGetTemperature=TIMEOUT", "failing", "none", "GPU 3: Timeout: temperature.gpu_celsius"),
    ("mtmlSystemGetDriverVersion=TIMEOUT", "failing", "none", "machine: Timeout: driver_version"),
]


@pytest.mark.parametrize("how, fact, usual, other", DIFFERENT)
def test_what_one_host_says_differently(how, fact, usual, other, document, folder):
    different = said(faults=how) if isinstance(how, str) else how(document)
    result = invoke("compare", folder(a=document, b=document, c=different))
    assert (result.status, result.lines[:3]) == (1, [fact, "  2 hosts: " + usual, "   1 host: %s: c" % other])
    assert result.lines[-1].endswith(" 1 differs")


@pytest.mark.parametrize("length, cut", [(60, False), (61, True)])
def test_long_cells_are_cut(length, cut, document, folder):
    text = "x" * length
    result = invoke(
        "compare", folder(a=document, b=document, c=put("driver_version", text, musa_version="1.0")(document))
    )
    assert result.lines[1] == "  driver_version  5.1.0-server | " + ("x" * 57 + "..." if cut else text)


@pytest.mark.parametrize("name", ["name", "displays", "mpc.instances", "topology.level", "mtlink.links.remote"])
def test_what_is_compared_of_a_host_with_fewer_cards(name, document, folder):
    """All but what names cards by their index, also where the driver counted them like that itself."""
    fewer = json.loads(said(set="7.visible=no"))
    first = fewer["devices"][0]
    ends = {
        "name": lambda: first.update(name="MTT S4000"),
        "displays": lambda: first.update(displays=[{"type": "DP", "max_width": 640, "max_height": 480}]),
        "mpc.instances": lambda: first["mpc"].update(instances=[{"profile": {"name": "4c+40gb"}}]),
        "topology.level": lambda: first["topology"][0].update(level="system"),
        "mtlink.links.remote": lambda: first["mtlink"]["links"][0].update(remote=6),
    }
    assert list(Comparison(_documents(a=document, b=document, c=fewer)).differences) == ["device_count"]
    most, few = put("devices.3.name", "MTT S80")(document), put("devices.3.name", "MTT S80")(fewer)
    most["devices"][7]["name"] = "MTT S4000"
    assert list(Comparison(_documents(a=few, b=most)).differences) == ["device_count"]
    ends[name]()
    found = list(Comparison(_documents(a=document, b=document, c=fewer)).differences)
    assert found == ["device_count"] + ([] if name in ("topology.level", "mtlink.links.remote") else [name])


def test_the_usual_number_of_cards_is_that_of_most_hosts(document):
    """Not the greatest: what differs between hosts of eight cards is not lost beside one of sixteen."""
    other = copy.deepcopy(document)
    for card, like in ((1, 5), (5, 1)):
        other["devices"][card]["retired_pages"] = document["devices"][like]["retired_pages"]
    more = copy.deepcopy(document)
    more["devices"] += [dict(card, index=card["index"] + 8) for card in copy.deepcopy(document["devices"])]
    more["device_count"] = 16
    found = Comparison(_documents(e=other, f=more, **dict.fromkeys("abcd", document))).differences
    assert found["retired_pages.pending"][1].hosts == ["e"]


def _documents(**hosts):
    return [gathered.Document(host, "json", content) for host, content in hosts.items()]


# ---- What failed, and what is not well ----


@pytest.mark.parametrize("profile", ["s5000x8", "s4000x8"])  # whose cards tell all, or not
def test_a_card_that_is_lost_is_one_difference(profile, folder):
    """What it does not answer is told once, not in the place of every answer."""
    well, lost = said(profile), said(profile, set="3.lost=DRIVER_FAILURE")
    result = invoke("compare", folder(a=well, b=well, c=lost))
    assert result.status == 1
    assert result.lines[0] == "2 hosts | 1 host: c"
    assert [line.split()[0] for line in result.lines[1:3]] == ["failing", "mtlink.links.remote"]
    assert "GPU 3: Unknown Error: name, brand, uuid" in result.lines[1]
    assert result.lines[-1].endswith("2 differ")


@pytest.mark.parametrize("profile", ["old-library", "header-only", "s3000-vgpu-guest", "s5000x8-container", "s2000"])
def test_what_is_not_told_does_not_fail(profile, folder):
    """The reasons of all kinds of functions are known, and so is a link's hidden end."""
    comparison = Comparison(gathered.parse(said(profile), "host"))
    assert set(comparison.facts["failing"][0].fact.values.values()) == {"none"}


def test_what_is_the_same_and_not_well_is_told(document, folder):
    for card in document["devices"]:
        assert card["temperature"]["gpu_celsius"] is not None
    failing = said(faults="mtmlGpuGetTemperature=TIMEOUT")
    result = invoke("compare", folder(a=failing, b=failing))
    assert result.status == 0
    assert "problems that all hosts share" in result.lines
    assert "  failing: GPU 0-7: Timeout: temperature.gpu_celsius; machine: none" in result.lines


@pytest.fixture(scope="module")
def well(document):
    """The same cards, none of which has anything that is not well (dict)."""
    found = copy.deepcopy(document)
    for card in found["devices"]:
        card["retired_pages"]["pending"] = False
    return found


@pytest.mark.parametrize(
    "path, value, line",
    [
        ("ecc.uncorrected_volatile", 4, "ecc.uncorrected_volatile: GPU 0-2,4-7: 0; GPU 3: more than 0"),
        ("retired_pages.pending", True, "retired_pages.pending: GPU 0-2,4-7: no; GPU 3: yes"),
        (LINK, "down", "mtlink.links.state: GPU 0-2,4-7: up: 0-13; GPU 3: down: 5, up: 0-4,6-13"),
        (LINK, "downgrade", "mtlink.links.state: GPU 0-2,4-7: up: 0-13; GPU 3: downgrade: 5, up: 0-4,6-13"),
        ("ecc.uncorrected_aggregate", 4, None),  # health says at how many it is time to act
        ("pci.replays", 4, None),
        ("ecc.enabled", False, None),
    ],
)
def test_what_is_not_well_on_all_hosts(path, value, line, well, folder):
    ill = put("devices.3." + path, value)(well)
    where = folder(a=ill, b=ill)
    result, answer = invoke("compare", where), json.loads(invoke("compare", "--json", where).stdout)
    head = "problems that all hosts share"
    assert result.lines[:-1] == ([head, "  " + line, ""] if line else [])
    assert [(one["fact"], one["text"]) for one in answer["not_well"]] == ([tuple(line.split(": ", 1))] if line else [])


@pytest.mark.parametrize("count, bad", [(0, True), (1, False), (8, False)])
def test_no_card_on_all_hosts(count, bad, well, folder):
    few = dict(well, device_count=count, devices=well["devices"][:count])
    for card in few["devices"]:
        few["devices"][card["index"]] = dict(card, topology=[])
    result = invoke("compare", folder(a=few, b=few))
    assert ("  device_count: 0" in result.lines) == bad == ("problems" in result.stdout)


@pytest.mark.parametrize(
    "level, text, line",
    [
        ("WARNING", "PCIe x8, not x16", "GPU 0-3,5-7: OK; GPU 4: OK, WARNING: PCIe x8, not x16"),
        ("CRITICAL", "PCIe width: Timeout", "GPU 0-3,5-7: OK; GPU 4: CRITICAL: PCIe width: Timeout, OK"),
        ("NOTE", "PCIe link is at gen 1; the card supports gen 5", None),
        ("N/A", "PCIe width not reported", None),
    ],
)
def test_what_health_says_of_all_hosts(level, text, line, checked, folder):
    """A note is well; what is not told is neither well nor ill."""
    same = health_with(checked, 4, "pcie", level, text)
    lines = [one for one in invoke("compare", folder(a=same, b=same)).lines if one.startswith("  health.pcie")]
    assert lines == (["  health.pcie: " + line] if line else [])


def test_each_host_is_in_one_group(document, folder):
    """Also one of which a card does not answer: it is alike where what its others answer is."""

    def named(*others, failing=None):
        found = copy.deepcopy(document)
        for card in found["devices"]:
            card["name"] = "MTT S4000" if card["index"] in others else "MTT S5000"
        if failing is not None:
            found["devices"][failing].update(name=None, reasons={"name": "Timeout"})
        return found

    hosts = {"a": named(3), "b": named(3), "c": named(3, failing=7), "d": named(5, failing=7)}
    answer = json.loads(invoke("compare", "--json", folder(**hosts)).stdout)
    groups = {one["fact"]: [group["hosts"] for group in one["groups"]] for one in answer["differences"]}
    assert groups["name"] == [["a", "b", "c"], ["d"]]
    for found in groups.values():
        assert sorted(host for hosts in found for host in hosts) == sorted(hosts)
    lines = invoke("compare", folder(**hosts)).lines
    assert lines[lines.index("name") + 1].startswith("  3 hosts: ")


@pytest.mark.parametrize(
    "silent, named, lines",
    [
        # One card of c says something else, and one says nothing: those whose cards all say the same differ from it.
        ((), "MTT S5000", ["  2 hosts: MTT S5000", "   1 host: GPU 0-2,4-6: MTT S5000; GPU 3: MTT S4000: c"]),
        # The same where only one card of the others says anything
        (range(1, 8), "MTT S5000", ["  2 hosts: MTT S5000", "   1 host: GPU 0-2,4-6: MTT S5000; GPU 3: MTT S4000: c"]),
        (range(1, 8), "MTT S4000", ["  2 hosts: MTT S4000", "   1 host: GPU 0-2,4-6: MTT S5000; GPU 3: MTT S4000: c"]),
    ],
)
def test_a_host_with_two_values_is_not_like_those_with_one(silent, named, lines, document, folder):
    others, last = copy.deepcopy(document), copy.deepcopy(document)
    for card in others["devices"]:
        card.update(name=None, reasons={"name": "Timeout"}) if card["index"] in silent else card.update(name=named)
    last["devices"][3]["name"] = "MTT S4000"
    last["devices"][7].update(name=None, reasons={"name": "Timeout"})
    said = invoke("compare", "--skip", "failing,mtlink.links.remote", folder(a=others, b=others, c=last)).lines
    assert said[:3] == ["name"] + lines and said[-1].endswith(" 1 differs")


def test_three_groups_have_a_block_for_each_difference(well, folder):
    hosts = {name: dict(well, driver_version=name + "1", musa_version=name + "2") for name in "abc"}
    assert invoke("compare", folder(**hosts)).lines[:-1] == (
        ["driver_version"]
        + ["  1 host: %s1: %s" % (name, name) for name in "abc"]
        + ["", "musa_version"]
        + ["  1 host: %s2: %s" % (name, name) for name in "abc"]
        + [""]
    )


def health_with(checked, gpu, check, level, text):
    """A document of health with another finding for a card."""
    result = copy.deepcopy(checked)
    one = next(one for one in result["findings"] if one["check"] == check and one["gpu"] == gpu)
    one.update(status=level, text=text)
    return result


def test_health(checked, folder):
    """Levels are compared, and texts without their numbers: two hosts that are hot say the same, one shows which."""
    hot = [health_with(checked, 4, "temperature", "CRITICAL", "%d C; the limit is 95 C" % c) for c in (98, 99)]
    where = folder(a=checked, b=checked, c=hot[0], d=hot[1], e=checked, f=checked)
    for text in ("# C; the limit is # C", "98 C; the limit is 95 C"):
        result = invoke("compare", where)
        assert (result.status, result.lines[:2]) == (1, ["health.temperature", "  4 hosts: OK"])
        assert result.lines[2] == "  2 hosts: GPU 4: CRITICAL: %s, OK: c,d" % text
        folder(d=hot[0])


@pytest.mark.parametrize("trouble", [{"set": "3.lost=DRIVER_FAILURE"}, {"faults": "3.*=TIMEOUT"}])
def test_a_card_that_does_not_answer_health(trouble, checked, folder, tmp_path_factory):
    """It is one difference, not one for each check that was not asked."""
    lock = str(tmp_path_factory.mktemp("lock") / "lock")
    lost = said(arguments=("health", "--json", "--lock", lock), **trouble)
    result = invoke("compare", folder(a=checked, b=checked, c=lost))
    assert result.lines[0] == "health.answers" and "GPU 3: CRITICAL: no answer" in result.lines[2]
    assert result.lines[-1].endswith("1 differs")


def test_a_card_that_does_not_answer_beside_one_that_is_not_well(checked, folder):
    """What the others say of it is the same on all hosts."""
    narrow = health_with(checked, 4, "pcie", "WARNING", "PCIe link is x8; the card supports x16")
    lost = copy.deepcopy(narrow)
    for one in lost["findings"]:
        if one["gpu"] == 3:
            one.update(status="N/A", text="not queried, because the card does not answer", asked=False)
    first = next(one for one in lost["findings"] if one["gpu"] == 3)
    first.update(status="CRITICAL", text="no answer: Timeout", asked=True)
    result = invoke("compare", folder(a=narrow, b=narrow, c=lost))
    assert result.lines[0] == "health.answers" and result.lines[-1].endswith("1 differs")
    worse = health_with(narrow, 3, "pcie", "WARNING", "PCIe link is x8; the card supports x16")
    said = [one for name, text in zip("abc", (narrow, worse, lost)) for one in gathered.parse(json.dumps(text), name)]
    groups = Comparison(said).differences["health.pcie"]
    assert [group.hosts for group in groups] == [["a", "c"], ["b"]], "a host that says less makes others the same"


def test_a_check_that_was_left_out_is_a_difference(checked, folder):
    """health --skip ecc on one host: nobody knows whether it is the same there."""
    fewer = copy.deepcopy(checked)
    fewer["findings"] = [one for one in fewer["findings"] if one["check"] != "ecc"]
    result = invoke("compare", folder(a=checked, b=checked, c=fewer))
    assert result.status == 1
    assert result.lines[0] == "health.ecc" and result.lines[2] == "   1 host: not reported: c"


def doctor_said(check="cost", level="ok", text="init 1.2 ms", gpus="3"):
    """A document of doctor as pymtml 0.3.0 had it: one finding beside others (dict)."""
    found = [("module", "ok", "pymtml 0.1.0, /usr/lib/pymtml.py, Python 3"), ("devices", "ok", "8 cards")]
    found += [("links", "warn", "GPU %s: MtLink 5 down" % gpus), (check, level, text)]
    findings = [dict(zip(("check", "level", "text"), one), next_step=None) for one in found]
    return {"host": "node0", "verdict": "works in part: 1 warning", "status": 1, "findings": findings}


def test_doctor(folder):
    """What asking costs is no difference, a version is one; its text is no document."""
    here = json.loads(said("s3000x2", ("doctor", "--json")))
    result = invoke("compare", folder(a=here, b=changed(here, ["findings", 0, "text"], "pymtml 0.0.9")))
    assert result.status == 1 and result.lines[0] == "doctor.module"
    result = invoke("compare", folder(a=doctor_said(), b=doctor_said(text="init 1.3 ms")))
    down = "WARNING: MtLink 5 down"
    assert result.status == 0 and "  doctor.links: GPU 0-2,4-7: OK; GPU 3: " + down in result.lines
    result = invoke("compare", folder(a=doctor_said(), b=doctor_said(), c=doctor_said(gpus="2-3,5")))
    assert result.lines[:2] == ["doctor.links", "  2 hosts: GPU 2,5: OK"]
    assert result.lines[2] == "   1 host: GPU 2,5: %s: c" % down
    (found,) = gathered.parse(said("s3000x2", ("doctor",)), "a")
    assert found.reason == "not a document, but: verdict: pymtml works"


SICK = ("gpu_temperature=99", "ecc_uncorrected_volatile=305", "pci_cur_width=4")
KINDS = ("--json", "health --json", "doctor --json")


@pytest.fixture(scope="module")
def sick(tmp_path_factory):
    """What the three print of hosts whose card 3 or 5 is sick: {(setting, card): {kind: text}}."""
    lock = ["--lock", str(tmp_path_factory.mktemp("lock") / "lock")]
    found = {}
    for setting in SICK:
        for card in (3, 5):
            with simulated.machine("s5000x8", set="%d.%s" % (card, setting)):
                texts = {kind: invoke(*kind.split() + lock * ("health" in kind)).stdout for kind in KINDS}
            found[setting, card] = texts
    return found


@pytest.mark.parametrize("setting", SICK)
@pytest.mark.parametrize("kinds", [kinds for n in (1, 2, 3) for kinds in itertools.combinations(KINDS, n)])
def test_hosts_whose_sick_cards_differ(kinds, setting, sick, folder):
    """Whichever documents there are of both; hosts with the same sick card are alike."""
    texts = {card: "".join(sick[setting, card][kind] for kind in kinds) for card in (3, 5)}
    result = invoke("compare", folder(a=texts[3], b=texts[3], c=texts[5]))
    if kinds == ("--json",) and "temperature" in setting:
        assert result.status == 0, "that is measured anew each time"
        return
    count = len([kind for kind in kinds if kind != "--json" or "temperature" not in setting])
    assert result.status == 1 and "GPU 3: " in result.stdout
    assert re.search(": %d differs?$" % count, result.lines[-1])
    assert invoke("compare", folder(c=texts[3])).status == 0


def test_documents_of_a_host_are_joined(document, checked, folder):
    """A host may say several; one that says fewer differs by that."""
    both = json.dumps(document) + "\n" + json.dumps(checked) + "\n"
    result = invoke("compare", folder(a=both, b=both, c=document))
    assert result.status == 1
    assert result.lines[:3] == ["documents", "  2 hosts: health, json", "   1 host: json: c"]


# ---- Hosts that said nothing ----


def test_a_host_that_said_nothing_is_named(document, folder):
    """What is no document, and why, is in test_gathered.py."""
    result = invoke("compare", folder(node1=document, node2=document, node7="\\x00\\xff\x1b[31m"))
    assert (result.status, result.stderr) == (2, "")
    assert result.lines[:2] == ["not compared", "  node7: not a document, but: \\x00\\xff\\x1b[31m"]
    assert re.fullmatch(r"3 hosts, 1 of them not compared; \d+ facts compared: no differences", result.lines[-1])


@pytest.mark.parametrize("kind", ["document", "checked"])
def test_a_document_that_is_cut_off_anywhere(kind, request, folder):
    """Wherever a document ends too early, its host is not compared."""
    whole = request.getfixturevalue(kind)
    text = json.dumps(whole, indent=2)
    for end in [1, 2, 10, 50] + list(range(100, len(text) - 1, len(text) // 40)) + [len(text) - 1]:
        found = gathered.parse(text[:end], "node7")
        assert [type(one) for one in found] == [gathered.Unreadable] and found[0].host == "node7", end
    assert gathered.parse(text, "node7")[0].kind == {"document": "json", "checked": "health"}[kind]


def test_a_file_that_cannot_be_read(document, folder):
    where = folder(a=document)
    result = invoke("compare", where, os.path.join(where, "nowhere.json"))
    assert result.status == 2
    assert "  nowhere: cannot be read: No such file or directory" in result.lines


def test_hosts_that_must_be_there(document, folder):
    where = folder(node1=document, node2=document, node9=document)
    result = invoke("compare", "--hosts", "node[1-2]", where)
    assert result.status == 1
    assert result.lines[:3] == ["expected", "  2 hosts: named by --hosts", "   1 host: not named by --hosts: node9"]
    folder(node5="ssh: no route", node9=json.dumps(document) + "\n{")  # node9 is one host, of which a part is broken
    result = invoke("compare", "--hosts", "node[1-5,9]", where)
    broken = "  node5: not a document, but: ssh: no route"
    assert result.status == 2 and result.lines[1:3] == ["  node[3-4]: no output", broken]
    assert result.lines[-1].startswith("6 hosts, 3 of them not compared; ")
    result = invoke("compare", *[os.path.join(where, name + ".json") for name in ("node1", "node9")])
    assert result.lines[-1].startswith("2 hosts; ")
    found = json.loads(invoke("compare", "--json", "--hosts", "node[1-5,10,9]", where).stdout)["not_compared"]
    assert [one["host"] for one in found] == ["node3", "node4", "node5", "node9", "node10"]


def test_nothing_at_all(monkeypatch, tmp_path):
    result = piped("", monkeypatch)
    assert result.status == 2
    assert result.lines == ["not compared", "  standard input: empty", "", "the only host cannot be compared"]
    assert invoke("compare", str(tmp_path)).status == 2, "a folder without files"


# ---- Forms in which hosts are gathered ----


def mixed(texts):
    """Lines of hosts with the host in front, as they come from all of them at once."""
    waiting = {host: text.splitlines() for host, text in texts.items()}
    order = random.Random(1)
    lines = []
    while waiting:
        host = order.choice(sorted(waiting))
        lines.append("%s: %s\n" % (host, waiting[host].pop(0)))
        if not waiting[host]:
            del waiting[host]
    return "".join(lines)


def indented(document):
    return json.dumps(document, indent=2)


@pytest.fixture
def three(document):
    """Three hosts, of which one has another driver."""
    other = changed(document, ["driver_version"], "4.9.9")
    return {"node1": document, "node2": other, "node10.example.com": document}


def behind(three, write=indented):
    """`host` in each tells whose it is: srun, a loop over ssh, cat."""
    return "\n".join(write(dict(document, host=host)) for host, document in three.items())


def with_tasks(three):
    """srun --label: the host is the one that the document names."""
    texts = {number: indented(dict(three[host], host=host)) for number, host in enumerate(three)}
    return mixed({"%*d" % (number % 3, number): text for number, text in texts.items()})


@pytest.mark.parametrize(
    "write",
    [
        behind,
        lambda three: behind(three, json.dumps),
        lambda three: mixed({host: indented(document) for host, document in three.items()}),  # pdsh, clush
        with_tasks,
    ],
)
def test_forms_in_which_hosts_are_gathered(write, three, monkeypatch):
    result = piped(write(three), monkeypatch)
    found = ["driver_version", "  2 hosts: 5.1.0-server", "   1 host: 4.9.9: node2"]
    assert (result.status, result.lines[:3]) == (1, found) and result.lines[-1].startswith("3 hosts; ")


def test_a_file_of_many_hosts(three, document, folder):
    """It is read as stdin is; its own name counts only where it holds one host."""
    text = mixed({host: indented(document) for host, document in three.items()})
    result = invoke("compare", "--json", folder(all=text, single=document))
    assert json.loads(result.stdout)["hosts"] == ["node1", "node2", "node10.example.com", "single"]


@pytest.mark.parametrize(
    "named, write, hosts",
    [
        ([None], json.dumps, ["standard input"]),
        ([None, None], json.dumps, ["standard input, document 1", "standard input, document 2"]),
        (["n1", "n1"], json.dumps, ["n1", "n1#2"]),
        (["7" * 5000, "7" * 4999, "7"], json.dumps, ["7", "7" * 4999, "7" * 5000]),
        (["n1", "fe80::2"], lambda one: mixed({one.pop("host"): indented(one)}), ["fe80::2", "n1"]),
    ],
)
def test_what_hosts_are_called(named, write, hosts, monkeypatch):
    documents = [{key: value for key, value in dict(doctor_said(), host=name).items() if value} for name in named]
    found = json.loads(piped("".join(map(write, documents)), monkeypatch, "--json").stdout)
    assert (found["hosts"], found["not_compared"]) == (hosts, [])


def test_a_host_without_a_library_says_its_name(monkeypatch):
    """It is named also where its document comes through a pipe."""
    result = piped(said("no-driver") + said("no-driver"), monkeypatch, "--json")
    assert {one["host"] for one in json.loads(result.stdout)["not_compared"]} == {os.uname()[1]}


def test_bytes_that_are_no_text(document, folder, tmp_path):
    (tmp_path / "n1.json").write_bytes(json.dumps(document).encode().replace(b"MTT S5000", b"\xd6\xd0"))
    (tmp_path / "n2.json").write_bytes(b"\xd6\xd0\n")
    result = invoke("compare", folder(n3=document))
    assert result.status == 2 and result.lines[1].startswith("  n1: not JSON: ")
    assert result.lines[2] == "  n2: not a document, but: \\xd6\\xd0"


BANNER = "Warning: Permanently added 'node7' (ED25519) to the list of known hosts.\nnote that all is logged\n"


def test_what_does_not_count_around_a_document(document, folder):
    """What a shell says before it, and line ends of Windows."""
    text = indented(document)
    where = folder(a=document, b=BANNER + text, c="\ufeff" + text.replace("\n", "\r\n"))
    assert invoke("compare", where).status == 0


# ---- Text of others ----

HOSTILE = "\x1b]0;x\x07\u202enode\n1"


def test_names_and_values_are_made_safe(document, monkeypatch):
    documents = [
        changed(document, ["devices", 0, "name"], HOSTILE, host=HOSTILE),
        changed(document, ["devices", 0, "firmware_version"], HOSTILE, host="a"),
        changed(document, ["devices", 0, HOSTILE], {"reasons": {HOSTILE: HOSTILE}, HOSTILE: None}, host="b"),
    ]
    text = "\n".join(map(json.dumps, documents)) + '\n{"schema": 1, "error": "\\u001b[2J", "host": "\\u001b[2J"}'
    for option in ((), ("--json",)):
        result = piped(text, monkeypatch, *option)
        assert result.status == 2
        assert all(line.isprintable() for line in result.stdout.split("\n"))
        assert "\\x1b]0;x" in result.stdout.replace("\\\\", "\\")


def test_what_lies_in_a_folder(document, folder, tmp_path):
    """Whoever may write there: regular files up to a size are read; links are not followed, pipes not waited for."""
    where = folder(a=document, b=document)
    secret = tmp_path.parent / (tmp_path.name + ".secret")
    secret.write_text("root:secret")
    os.mkfifo(os.path.join(where, "fifo"))
    os.symlink(str(secret), os.path.join(where, "link"))
    os.symlink("/dev/zero", os.path.join(where, "zero"))
    os.symlink("nowhere", os.path.join(where, "gone"))
    with open(os.path.join(where, "huge"), "wb") as file:
        file.truncate(1 << 31)
    done = run_bounded("compare", where)
    assert done.returncode == 2 and "secret" not in done.stdout and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[1:3] == ["  fifo,gone,link,zero: not a regular file", "  huge: more than 64 MiB"]
    assert re.fullmatch(r"7 hosts, 5 of them not compared; \d+ facts compared: no differences", lines[-1])
    assert run_bounded("compare", "/dev/zero").stdout.startswith("not compared\n  zero: more than 64 MiB\n")


def run_bounded(*arguments):
    """The command, with bounds to its time and memory (CompletedProcess)."""
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (900 << 20,) * 2)"
    code += "; from pymtml_cli.main import main; sys.exit(main(sys.argv[1:]))"
    return simulated.run([sys.executable, "-c", code, *arguments], env=command_environment(), timeout=20)


SILENT = '{"device_count": 1, "devices": [{"name": null, "reasons": {"name": "Timeout"}, "topology": [%s]}]}'
# A text, and why it is not compared (None: it is, and differs)
BESIDE_OTHERS = {
    "peers": (SILENT % '{"device": [], "level": null, "reasons": {"level": "Timeout"}}', None),
    "nesting": ('{"a": ' * 100000, "JSON nested too deeply"),
    "beginnings": ('{"host": ' * 100000, "more than 20000 documents"),
    "lists": ('{"device_count": 0, "devices": [%s]}' % ("[]," * (1 << 20)), "a document of more than 2 MiB"),
    "lines": ("".join('n%d: {"x"\n' % number for number in range(20001)), "more than 20000 hosts"),
}


def test_documents_that_were_made_to_hurt(document, folder):
    """Each is one host that differs or is not compared; the others are compared, in bounded time and memory."""
    texts = {name: text for name, (text, _) in BESIDE_OTHERS.items()}
    done = run_bounded("compare", "--json", folder(a=document, b=document, **texts))
    assert done.returncode == 2 and done.stderr == "", done.stderr[-500:]
    answer = json.loads(done.stdout)
    assert answer["hosts"] == ["a", "b", "peers"]
    reasons = [(one["host"], one["reason"]) for one in answer["not_compared"]]
    assert {(name, reason) for name, (_, reason) in BESIDE_OTHERS.items() if reason} <= set(reasons)


def test_more_documents_than_are_read(monkeypatch):
    monkeypatch.setattr(gathered, "MOST_HOSTS", 20)
    text = '{"device_count": 0, "devices": [], "host": "x"}\n'
    found = gathered.parse(text * 30, None)
    assert [one.reason for one in found] == ["more than 20 documents"]


def paths(content):
    """The paths of keys and indices in a document, at most four long (iterator of lists)."""
    for key in content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ():
        yield [key]
        for path in paths(content[key]):
            if len(path) < 4:
                yield [key] + path


def test_objects_in_odd_places(document):
    """Whatever stands where something else is due ends in facts or in a reason."""
    card = copy.deepcopy(document["devices"][0])
    del card["topology"][1:], card["mtlink"]["links"][1:]
    small = dict(document, devices=[card], device_count=1)
    odd = [None, 5, "text", [], [None], [{}], {"reasons": 3}, {"a": {"device": []}}]
    for path in paths(small):
        texts = [json.dumps(changed(small, path, value)) for value in odd]
        read = [one for number, text in enumerate(texts) for one in gathered.parse(text, "host%d" % number)]
        assert list(Comparison(read + gathered.parse(json.dumps(small), "other")).lines()), path


def test_deep_objects(document):
    """As deep as a reader of JSON may go: the rest of the document still counts."""
    deep = 8
    for _ in range(5000):
        deep = {"a": deep}
    other = copy.deepcopy(document)
    other["devices"][2]["more"] = deep
    same, comparison = [
        Comparison([gathered.Document("a", "json", document), gathered.Document("b", "json", second)])
        for second in (document, other)
    ]
    assert not comparison.differences and list(comparison.facts) == list(same.facts)


def test_skip(document, folder):
    where = folder(a=document, b=dict(document, driver_version="4.9.9", musa_version="9.0"))
    assert invoke("compare", "--skip", "driver_version,musa_version", where).status == 0
    assert invoke("compare", "--skip", "driver_version", where).status == 1
    names = json.loads(invoke("compare", "--json", where).stdout)["facts"]
    for arguments, words in (
        (["--skip", "colour"], "--skip: no fact colour; the facts are " + ", ".join(names)),
        (["--hosts", "node[1"], "--hosts: unbalanced brackets in node[1"),
    ):
        result = invoke("compare", *(arguments + [where]))
        assert (result.status, result.stdout, result.stderr) == (2, "", "pymtml: %s\n" % words)


def test_the_list_of_hosts_that_differ(document, folder):
    """For pdsh -w: what differs from most others in anything; those that cannot be compared are in the status alone."""
    old, narrow = dict(document, driver_version="4.9.9"), changed(document, ["devices", 3, "pci", "width"], 8)
    where = folder(n1=document, n2=document, n3=document)
    assert invoke("compare", "--differing", where).stdout == ""
    where = folder(n04=old, n05=old, login=narrow, n9="")
    result = invoke("compare", "--differing", where)
    assert (result.status, result.stdout, result.stderr) == (2, "login,n[04-05]\n", "")
    assert invoke("compare", "--differing", "--skip", "pci.width", where).stdout == "n[04-05]\n"
    assert invoke("compare", "--differing", "--json", where).status == 2
    where = folder(n06=dict(document, driver_version="5.0.0"))
    assert invoke("compare", "--differing", where).stdout == "login,n[04-06]\n"


def test_a_terminal_is_not_waited_for(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    result = invoke("compare")
    said = "pymtml: name files, or pipe the output of hosts into it; see `pymtml compare --help`\n"
    assert (result.status, result.stderr) == (2, said)


def test_nothing_is_asked_of_a_driver(document, folder):
    """It works where there is no driver, as on the host of an administrator."""
    no_driver = {"PYMTML_LIBRARY": "/nonexistent", "LD_LIBRARY_PATH": ""}
    done = run_command("compare", folder(a=document, b=document), extra_environment=no_driver)
    assert done.returncode == 0 and "no differences" in done.stdout


# ---- Names of hosts ----

FOLDED = {
    "node[03,17-25]": ["node03"] + ["node%d" % number for number in range(17, 26)],
    "n[8-11]": ["n8", "n9", "n10", "n11"],
    "n[08-10,100]": ["n08", "n09", "n10", "n100"],
    "n[09-99,100]": ["n%02d" % number for number in range(9, 101)],
    "10.0.0.[9-10]": ["10.0.0.9", "10.0.0.10"],
    "gpu[0-1].dc1.example.com": ["gpu0.dc1.example.com", "gpu1.dc1.example.com"],
    "login,r1n[1-2],r2n1": ["r1n1", "r1n2", "r2n1", "login"],
    "node7": ["node7"],
    "n[0-10]": ["n%d" % number for number in range(11)],
    "10.0.0.9,login": ["login", "10.0.0.9"],
    "": [],
}


@pytest.mark.parametrize("text", sorted(FOLDED))
def test_folding(text):
    assert hostlist.fold(FOLDED[text]) == text
    assert sorted(hostlist.unfold(text)) == sorted(FOLDED[text])


def test_folding_loses_no_name():
    lot = random.Random(1)
    for _ in range(300):
        names = {"n" + "".join(lot.choice("0129") for _ in range(lot.randint(1, 3))) for _ in range(lot.randint(1, 30))}
        assert sorted(hostlist.unfold(hostlist.fold(names))) == sorted(names)


def test_names_that_cannot_be_folded_stand_alone():
    names = ["a,b", "x[1]", "n" + "9" * 40, "\u00b2", "n1", "n2", "\u0661"]
    text = hostlist.fold(names)
    assert all(name in text for name in names if name not in ("n1", "n2")) and "n[1-2]" in text


def test_how_long_a_number_may_be_and_how_many_hosts():
    for digits in (15, 16):
        names = ["n" + "1" * digits, "n" + "1" * (digits - 1) + "2"]
        folded = "n[%s-%s]" % (names[0][1:], names[1][1:])
        assert hostlist.fold(names) == (folded if digits == 15 else ",".join(names))
        if digits == 15:
            assert hostlist.unfold(folded) == names
    assert len(hostlist.unfold("n[1-100000]")) == 100000
    assert len(hostlist.unfold("n[1-10]m[1-10000]")) == 100000
    for text in ("n[1-100001]", "n[1-10]m[1-10000],x", "n[%s-%s]" % ("1" * 16, "1" * 16)):
        with pytest.raises(ValueError):
            hostlist.unfold(text)


@pytest.mark.parametrize(
    "text, words",
    [
        ("n[1", "unbalanced brackets in n[1"),
        ("n]1[", "unbalanced brackets in n]1["),
        ("n1]", "unbalanced brackets in n1]"),
        ("n[2-1]", "the range 2-1 goes down"),
        ("n[a-b]", "not a range of numbers: [a-b]"),
        ("n[]", "not a range of numbers: []"),
        ("n[1-999999]", "more than 100000 hosts"),
        ("n[0-999]m[0-999]", "more than 100000 hosts"),
    ],
)
def test_what_is_no_list_of_hosts(text, words):
    with pytest.raises(ValueError) as error:
        hostlist.unfold(text)
    assert str(error.value) == words


def test_unfolding():
    assert hostlist.unfold("r[1-2]n[08-09]x, login  b") == ["r1n08x", "r1n09x", "r2n08x", "r2n09x", "login", "b"]
