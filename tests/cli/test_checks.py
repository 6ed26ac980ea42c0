"""The questions of health: each failure of each call on one card of eight is a finding of that card, never "OK"."""

import os
import re

import pytest
import simulated
from command import by_hand, driver_tree
from inside import QUESTIONS, Machine, card_findings, checks, limits
from mtml_simulator import driver_files
from test_plausible import MEASURED, impossible, machines

import pymtml

VICTIM, CARDS = 5, 8
QUIET = "*.pcie_replay_counter=0;*.retired_pages_pending=no;*.ecc_uncorrected_aggregate=0;*.retired_pages_dbe="
QUIET += ";*.retired_pages_sbe=;*.gpu_utilization=0"  # so that the questions of an idle card are asked, too
# Those that something else is made of than of most, and one that nobody knows; all others are one class's
CODES = ("NOT_SUPPORTED", "NOT_FOUND", "TIMEOUT", "DRIVER_FAILURE", "INSUFFICIENT_SIZE", "123")


@pytest.fixture(autouse=True)
def processes(tmp_path, monkeypatch):
    """A proc file system in which everything can be seen, and the driver's files of cards that are well."""
    (tmp_path / "1" / "fd").mkdir(parents=True)
    driver_tree(tmp_path, CARDS, status=driver_files.status(counts={}), event_report=b"")
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))


def test_limits_in_the_documents():
    pages = {}
    for name in ("docs/command.md", "docs/metrics.md"):
        with open(os.path.join(simulated.ROOT, *name.split("/")), encoding="utf-8") as file:
            pages[name] = file.read()
    told = dict(re.findall(r"`--(max-[\w-]+)` \((\d+)\)", pages["docs/command.md"]))
    assert told and told == {name: str(checks.LIMITS[name][0]) for name in told}
    assert "%d degrees" % checks.HOTTEST in pages["docs/command.md"]
    for alert, limit, words in (
        ("MthreadsGpuPagesRetired", checks.LIMITS["max-retired-pages"][0], "more than %d "),
        ("MthreadsGpuEccUncorrectedInItsLife", checks.LIMITS["max-aggregate-ecc-errors"][0], "more than %d "),
        ("MthreadsGpuHot", checks.HOTTEST, "%d degrees"),
        ("MthreadsGpuHot", checks.LIMITS["max-memory-temperature"][0], "memory at %d "),
    ):
        (row,) = re.findall(r"(?m)^\| `%s` .*" % alert, pages["docs/metrics.md"])
        assert words % limit in row, (alert, limit)


def asked(names=tuple(QUESTIONS), **replaced):
    """What all questions come to (list of Finding) on the machine that is set up."""
    with Machine() as machine:
        found = []
        for card in machine.cards:
            for some in card_findings(card, limits(**replaced), names):
                found += some
        return found


WITHOUT_READINGS = tuple(name for name in QUESTIONS if name != "readings")


def functions_that_are_asked():
    """C functions that the questions call on a card; what "readings" asks beside may fail."""
    with simulated.machine("s5000x8", set=QUIET):
        simulated.reset_calls()
        asked(WITHOUT_READINGS)
        return [name for name in pymtml._PROTOTYPES if simulated.calls(name)] + [
            name for name in pymtml._OPTIONAL_PROTOTYPES if simulated.calls(name)
        ]


# Of the library, or made of nothing that could fail on one card
OF_THE_LIBRARY = ("mtmlLibrary", "mtmlSystem", "mtmlDeviceInitGpu", "mtmlDeviceInitMemory", "mtmlDeviceInitVpu")
# A bound of what a power can be, which has another where this fails; and a node of a card, which has others
NOT_NEEDED = ("mtmlGpuGetPowerManagementDefaultLimit", "mtmlDeviceGetPrimaryPath")
FUNCTIONS = [name for name in functions_that_are_asked() if not name.startswith(OF_THE_LIBRARY[:2] + NOT_NEEDED)]


def test_the_questions_call_many_functions():
    assert len(FUNCTIONS) >= 20 and "mtmlDeviceGetMtLinkState" in FUNCTIONS and "mtmlMemoryGetTemperature" in FUNCTIONS


def test_a_sound_machine_is_ok():
    with simulated.machine("s5000x8", set=QUIET):
        found = asked(max_idle_memory=100)
    assert {one.level for one in found} == {"OK"} and checks.status(found) == "OK"
    assert len(found) == CARDS * sum(map(len, QUESTIONS.values()))


def test_no_failure_is_called_ok():
    """What a card does not tell is missed, but for what has another source; the others stay as they are."""
    few = QUIET + "".join(";%d.visible=no" % card for card in range(2, 8))
    with simulated.machine("s5000x8", set=few):
        sound = asked(WITHOUT_READINGS)
    wrong = []
    for function, name in ((function, name) for function in FUNCTIONS for name in CODES):
        with simulated.machine("s5000x8", set=few, faults="1.%s=%s" % (function, name)):
            found = asked(WITHOUT_READINGS)
        others = [[one for one in each if one.gpu != 1] for each in (found, sound)]
        mine = [one for one in found if one.gpu == 1]
        failed = [one for one in mine if one.level == "CRITICAL"]
        if function.startswith(OF_THE_LIBRARY):
            well = True
        elif name == "NOT_SUPPORTED":
            well = not failed and (function in WITH_DEFAULT or mine != [one for one in sound if one.gpu == 1])
        else:
            well = checks.status(found) == "CRITICAL" and all(one.text for one in failed)
        if others[0] != others[1] or not well:
            wrong.append((function, name, [one for one in mine if one.level != "OK"]))
    assert wrong == []


WITH_DEFAULT = """
mtmlGpuGetTemperatureThreshold mtmlGpuGetClock mtmlGpuGetMaxClock mtmlDeviceInitVpu mtmlDeviceGetGpuPath
mtmlDeviceGetRenderPath mtmlDeviceGetProperty mtmlVpuGetCodecCapacity mtmlVpuGetEncoderSessionStates
mtmlVpuGetDecoderSessionStates mtmlMemoryGetEccMode mtmlDeviceGetPowerUsage mtmlGpuGetEnforcedPowerLimit
""".split()


@pytest.mark.parametrize("code", ["DRIVER_FAILURE", "TIMEOUT", "NOT_FOUND"])
def test_a_lost_card_is_one_finding(code):
    with simulated.machine("s5000x8", set=QUIET + ";%d.lost=%s" % (VICTIM, code)):
        found = [one for one in asked() if one.gpu == VICTIM]
    assert found[0].level == "CRITICAL" and found[0].check == "answers" and found[0].text.startswith("no answer: ")
    assert {one.level for one in found[1:]} == {"N/A"} and {one.check for one in found} == set(QUESTIONS)


UNUSED, USED = "memory_used=0 power_usage=97000 gpu_clock=300 ", "memory_used=77309411328 gpu_clock=300 "  # 90 percent
HELD, WRONG = "held by an idle program, or the utilization is wrong", "the utilization cannot be right"


# Nothing that a card is asked for is answered
SILENT = "mtmlDeviceGetName=TIMEOUT mtmlDeviceGetUUID=TIMEOUT mtmlDeviceGetPciInfo=TIMEOUT mtmlMemoryGetTotal=TIMEOUT "
SILENT += "mtmlGpuGetUtilization=TIMEOUT"

WORDS = {
    "SILENT": SILENT,
    "UNTOLD": SILENT.replace("TIMEOUT", "NOT_SUPPORTED"),
    "MOSTLY_SILENT": SILENT.replace("TIMEOUT", "NOT_SUPPORTED", 4),
    "UNUSED": UNUSED,
    "USED": USED,
    "ZEROS": "gpu_temperature=0 power_usage=0 gpu_clock=0",
}

EDGES = by_hand("edges")


def finding_of(question, machine, monkeypatch):
    """What a question comes to on one card (Finding), which is as the texts of EDGES say."""
    keys = dict((one.partition(".")[2]).split("=") for one in QUIET.split(";"))
    keys.update({"mtlink_state.%d" % link: "UP" for link in range(14)})
    faults, replaced = [], {}
    for name, _, value in (one.partition("=") for one in machine.split()):
        if name.startswith("mtml"):
            faults.append("%d.%s=%s" % (VICTIM, name, value))
        elif "-" in name:
            replaced[name.replace("-", "_")] = int(value)
        else:
            keys[name] = value
    settings = ";".join("%d.%s=%s" % (VICTIM, key, value) for key, value in keys.items())
    check = next(name for name, questions in QUESTIONS.items() if getattr(checks, question) in questions)
    alone = checks.CHECKS[check]._replace(
        questions={getattr(checks, question): dict(checks.CHECKS[check].questions)[getattr(checks, question)]}
    )
    monkeypatch.setitem(checks.CHECKS, check, alone)
    with simulated.machine("s5000x8", set=settings, faults=",".join(faults)), Machine() as cards:
        ((one,),) = card_findings(cards.cards[VICTIM], limits(**replaced), [check])
    assert (one.check, one.gpu) == (check, VICTIM)
    return one


def test_both_sides_of_each_edge():
    wrong = []
    for question, machine, level, text in EDGES:
        with pytest.MonkeyPatch.context() as patch:
            one = finding_of(question, " ".join(WORDS.get(word, word) for word in machine.split()), patch)
        found = ["%s %s/%s" % (one.level, one.value, one.limit), one.text]
        if found != [level, text.replace("HELD", HELD).replace("WRONG", WRONG)]:
            wrong.append("%s %s: %s" % (question, machine, found))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "count, expected, level, text",
    [
        (0, None, "CRITICAL", "0"),
        (1, None, "OK", "1"),
        (0, 0, "OK", "0 of 0"),
        (1, 0, "CRITICAL", "1 of 0"),
        (7, 8, "CRITICAL", "7 of 8"),
        (8, 8, "OK", "8 of 8"),
        (9, 8, "CRITICAL", "9 of 8"),
    ],
)
def test_how_many_cards_there_must_be(count, expected, level, text):
    one = checks.device_finding(count, expected)
    assert one == ("devices", level, None, None, None, count, expected, text, True, None)


@pytest.mark.parametrize(
    "levels, worst",
    [
        ("", "OK"),
        ("OK NOTE N/A", "OK"),
        ("OK WARNING NOTE", "WARNING"),
        ("CRITICAL WARNING OK", "CRITICAL"),
        ("N/A CRITICAL", "CRITICAL"),
    ],
)
def test_the_worst_level_counts(levels, worst):
    outcomes = [checks.Outcome(level, "text", None, None) for level in levels.split()]
    assert checks.status([checks.finding("memory", outcome) for outcome in outcomes]) == worst


def test_each_question_has_an_edge():
    asked_here = {question for question, _, _, _ in EDGES}
    asked = {question.__name__ for name in QUESTIONS if name not in checks.OF_FILES for question in QUESTIONS[name]}
    assert asked_here == asked, "queries of checks that have no rows in by_hand.txt, or are gone: %s" % (
        asked_here ^ asked
    )


# What a question calls the answer of a function, and whether it has no answer without it
NAMED = [
    ("memory", "mtmlMemoryGetUsed", "memory", True),
    ("memory", "mtmlMemoryGetTotal", "memory", True),
    ("idle", "mtmlGpuGetUtilization", "utilization", True),
    ("idle", "mtmlMemoryGetUsed", "memory", False),
    ("idle", "mtmlDeviceGetPowerUsage", "power", False),
    ("idle", "mtmlGpuGetEnforcedPowerLimit", "power limit", False),
    ("idle", "mtmlGpuGetClock", "clock", False),
    ("idle", "mtmlGpuGetMaxClock", "greatest clock", False),
    ("power_draw", "mtmlDeviceGetPowerUsage", "power", True),
    ("power_draw", "mtmlGpuGetUtilization", "utilization", False),
    ("power_draw", "mtmlGpuGetEnforcedPowerLimit", "power limit", False),
    ("gpu_temperature", "mtmlGpuGetTemperature", "temperature of the GPU", True),
    ("gpu_temperature", "mtmlGpuGetTemperatureThreshold", "slowdown temperature", False),
    ("memory_temperature", "mtmlMemoryGetTemperature", "temperature of the memory", True),
    ("ecc", "mtmlMemoryGetEccMode", "ECC mode", False),
    ("ecc", "mtmlMemoryGetEccErrorCounter", "uncorrected memory errors", True),
    ("aggregate_ecc", "mtmlMemoryGetEccErrorCounter", "lifetime uncorrected memory errors", True),
    ("pending_pages", "mtmlMemoryGetRetiredPagesPendingStatus", "pending pages", True),
    ("retired_pages", "mtmlMemoryGetRetiredPagesCount", "retired pages", True),
    ("links", "mtmlDeviceGetMtLinkSpec", "MtLinks", True),
    ("pcie_width", "mtmlDeviceGetPciInfo", "PCIe width", True),
    ("pcie_generation", "mtmlDeviceGetPciInfo", "PCIe generation", True),
    ("pcie_generation", "mtmlGpuGetUtilization", "utilization", False),
    ("pcie_replays", "mtmlDeviceGetPcieReplayCounter", "PCIe replays", True),
]


def test_what_an_answer_is_called_that_does_not_come():
    wrong = []
    for question, function, name, needed in NAMED:
        for code in ("TIMEOUT", "NOT_SUPPORTED"):
            with pytest.MonkeyPatch.context() as patch:
                one = finding_of(question, UNUSED + function + "=" + code, patch)
            told = ("N/A", name + ": not reported") if needed else ("OK", one.text)
            wanted = ("CRITICAL", name + ": Timeout") if code == "TIMEOUT" else told
            if (one.level, one.text) != wanted:
                wrong.append("%s %s: %s, %s" % (function, code, one.level, one.text))
    assert not wrong, "\n".join(wrong)


TWIN = "%s %s, which GPU %s reports as well: one card answers for another"
UUID, PLACE = "11111111-2222-3333-4444-aaaaaaaaaaaa", "00000000:77:00.0"
AT_PLACE = "%d.pci_sbdf=0000:77:00.0;%d.pci_segment=0;%d.pci_bus=0x77;%d.pci_device=0;"
LOWER, OFF = (
    "power limit is %d W; other cards of this name have 950 W",
    "ECC is off; other cards of this name have it on",
)


@pytest.mark.parametrize(
    "changes, found",
    [
        ("", []),
        ("2.enforced_power_limit=949000", [(2, "power", LOWER % 949)]),
        (
            ";".join("%d.enforced_power_limit=300000" % n for n in (0, 1, 3)),
            [(n, "power", LOWER % 300) for n in (0, 1, 3)],
        ),
        ("*.enforced_power_limit=300000", []),
        ("2.enforced_power_limit=0", []),
        ("2.enforced_power_limit=300000;2.name=another card", []),
        ("2.enforced_power_limit=300000;2.lost=TIMEOUT", []),
        ("1.uuid=%s;3.uuid=%s" % (UUID, UUID.upper()), [(n, "answers", TWIN % ("UUID", UUID, 4 - n)) for n in (1, 3)]),
        ("1.uuid=;3.uuid=", []),  # a finding of each
        (
            AT_PLACE % ((1,) * 4) + AT_PLACE % ((3,) * 4),
            [(n, "answers", TWIN % ("PCI address", PLACE, 4 - n)) for n in (1, 3)],
        ),
        ("*.serial_number=1", []),  # two GPUs of a board
        ("1.ecc_mode=DISABLE", [(1, "ecc", OFF)]),
        ("*.ecc_mode=DISABLE", []),
    ],
)
def test_cards_that_differ_from_others_of_their_name(changes, found):
    """Of what they have answered: nothing is asked once more, behind the last card."""
    hidden = ";".join("%d.visible=no" % card for card in range(4, 8))
    with simulated.machine("s5000x8", set=hidden + ";" + changes), Machine() as machine:
        asked = [one for one in machine.cards if list(card_findings(one, limits()))[-1][0].level != "N/A"]
        simulated.reset_calls()
        differ = [(card.index, check, one.text) for card, check, one in checks.among_outcomes(asked)]
        called = {name for name in pymtml._PROTOTYPES if simulated.calls(name)}
        assert called == ({"mtmlDeviceGetProperty"} if "as well" in str(found) else set())  # whether they are instances
    assert differ == found


def test_a_guest_is_not_dead():
    """Whatever its host tells it."""
    with simulated.machine("s3000-vgpu-guest", set="*.gpu_temperature=0;*.power_usage=0;*.gpu_clock=0"):
        found = {one.level for one in asked(("answers", "readings"))}
    assert found == {"OK"}


def test_a_guest_whose_power_nobody_measures():
    with simulated.machine("s3000-vgpu-guest", set="0.gpu_utilization=40"):
        assert [one.level for one in asked() if one.check == "power"] == ["N/A"]


@pytest.mark.parametrize("what", ["ones", "sign", "more"])
def test_a_number_that_cannot_be_is_never_ok(what):
    """Each of those that a card reports, on one card of eight; the others stay as they are."""
    quiet = ";".join(one for one in QUIET.split(";") if "=0" not in one)
    for wrong, text in machines(what):
        with simulated.machine("s5000x8", set=quiet + ";" + text):
            found = asked(max_idle_memory=100)
        texts = {
            card: [one.text for one in found if (one.gpu, one.level) == (card, "CRITICAL")] for card in range(CARDS)
        }
        passed = [(card, wrong[card]) for card in wrong if not texts[card]]
        # MTML's word for a power limit that nobody knows is 0 or less
        assert [one for one in passed if what != "sign" or "power_limit" not in one[1][0]] == []
        assert not texts[CARDS - 1]


def test_a_fan_that_turns_faster_than_fans_do():
    with simulated.machine("s80", set="0.fan_speed=200, 201, 42"):
        assert [one.text for one in asked() if one.level == "CRITICAL"] == ["fan 1: implausible: 201 %"]


def test_a_card_of_which_most_numbers_cannot_be_does_not_answer():
    """And its temperature of -1 degrees is none; one number alone is a finding of its check."""
    gone = "".join(";%d.%s=%d" % ((VICTIM,) + pair) for pair in impossible(MEASURED, "ones").items())
    with simulated.machine("s5000x8", set=QUIET + gone + ";%d.gpu_temperature=-1" % VICTIM):
        first, *others = [one for one in asked() if one.gpu == VICTIM]
    assert first[:2] == ("answers", "CRITICAL") and first.text.startswith(
        "no answer: most of its numbers are impossible"
    )
    assert {one.level for one in others if one.check not in checks.OF_FILES} == {"N/A"}
    with simulated.machine("s5000x8", set=QUIET + ";%d.power_usage=1900001;2.gpu_temperature=-1" % VICTIM):
        found = [(one.gpu, one.check, one.text) for one in asked() if one.level == "CRITICAL"]
    assert set(found) == {
        (VICTIM, "readings", "power.draw: implausible: 1900.00 W"),
        (VICTIM, "readings", "power.draw.instant: implausible: 1900.00 W"),
        (VICTIM, "power", "power: implausible: 1900.00 W"),
        (VICTIM, "utilization", "power: implausible: 1900.00 W"),
    }


def test_cards_that_work_at_0_percent():
    with simulated.machine("busy-but-0-percent"):
        found = [one for one in asked() if one.check == "utilization"]
    assert [one.level == "WARNING" for one in found] == [True, True, False, True, True, True, True, False]


@pytest.mark.parametrize("unseen", [0, 1, 3])
def test_processes_that_could_not_be_looked_into(monkeypatch, unseen):
    monkeypatch.setattr(pymtml, "unseen_processes", lambda: unseen)
    with simulated.machine("s80"):
        (one,) = [one for one in asked() if one.check == "processes"]
    assert (one.level, one.value, one.limit) == ("NOTE" if unseen else "OK", unseen, 0)


def test_a_card_that_fails_in_many_ways_says_each():
    faults = SILENT.replace("mtmlDeviceGetUUID=TIMEOUT", "mtmlDeviceGetUUID=DRIVER_FAILURE").split()
    with simulated.machine("s80", faults=",".join("0." + fault for fault in faults)):
        found = [(one.level, one.text, one.value, one.limit) for one in asked() if one.check == "answers"]
    said = ["name: Timeout", "UUID: Unknown Error", "PCI address: Timeout", "memory: Timeout", "utilization: Timeout"]
    assert found == [("CRITICAL", text, None, None) for text in said]


def test_processes_that_nobody_tells(monkeypatch):
    def failing(handle):
        raise pymtml.NVMLError(code)

    monkeypatch.setattr(pymtml, "nvmlDeviceGetComputeRunningProcesses", failing)
    found = []
    with simulated.machine("s80"):
        for code in (pymtml.NVML_ERROR_TIMEOUT, pymtml.NVML_ERROR_NOT_SUPPORTED):
            found += [(one.level, one.text) for one in asked() if one.check == "processes"]
    assert found == [("CRITICAL", "processes: Timeout"), ("N/A", "processes: not reported")]


def test_which_check_is_asked_is_told_before():
    """In the order of the checks; a card that does not answer is asked no more, but the driver's files are."""
    for changes, names in (("", list(QUESTIONS)), ("0.lost=TIMEOUT", ["answers", *checks.OF_FILES])):
        told = []
        with simulated.machine("s80", set=changes), Machine() as machine:
            for found in card_findings(machine.cards[0], limits(), asking=told.append):
                assert found[0].check == told[-1] or found[0].text == "not queried, because the card does not answer"
        assert told == names
