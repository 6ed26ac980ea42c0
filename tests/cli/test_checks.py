"""The questions of health: each failure of each call on one card of eight is a finding of that card, never "OK"."""

import pytest
import simulated

import pymtml
from pymtml_cli import checks
from pymtml_cli.devices import Machine
from pymtml_cli.processes import compute_processes

VICTIM, CARDS = 5, 8
QUIET = "*.pcie_replay_counter=0;*.retired_pages_pending=no;*.ecc_uncorrected_aggregate=0;*.retired_pages_dbe="
QUIET += ";*.retired_pages_sbe=;*.gpu_utilization=0"  # so that the questions of an idle card are asked, too
CODES = [
    (name[len("MTML_ERROR_") :], value)
    for name, value in sorted(vars(pymtml).items())
    if name.startswith("MTML_ERROR_") and value in pymtml._NVML_ERRORS and value not in (666, 667, 669, 670)
] + [("123", 123)]


@pytest.fixture(autouse=True)
def processes(tmp_path, monkeypatch):
    """A proc file system in which everything can be seen."""
    (tmp_path / "1" / "fd").mkdir(parents=True)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path))


def asked(**limits):
    """What all questions come to (list of Finding) on the machine that is set up."""
    with Machine() as machine:
        found = []
        for card in machine.cards:
            for some in checks.card_findings(card, checks.Limits(**limits)):
                found += some
        return found


def functions_that_are_asked():
    """C functions that the questions call on a card."""
    with simulated.machine("s5000x8", set=QUIET):
        simulated.reset_calls()
        asked()
        return [name for name in pymtml._PROTOTYPES if simulated.calls(name)] + [
            name for name in pymtml._OPTIONAL_PROTOTYPES if simulated.calls(name)
        ]


# Of the library, or made of nothing that could fail on one card
OF_THE_LIBRARY = ("mtmlLibrary", "mtmlSystem", "mtmlDeviceInitGpu", "mtmlDeviceInitMemory", "mtmlDeviceInitVpu")
FUNCTIONS = [name for name in functions_that_are_asked() if not name.startswith(OF_THE_LIBRARY[:2])]


def test_the_questions_call_many_functions():
    assert len(FUNCTIONS) >= 20 and "mtmlDeviceGetMtLinkState" in FUNCTIONS and "mtmlMemoryGetTemperature" in FUNCTIONS


def test_a_sound_machine_is_ok():
    with simulated.machine("s5000x8", set=QUIET):
        found = asked(max_idle_memory=100)
    assert {one.level for one in found} == {"OK"} and checks.status(found) == "OK"
    assert len(found) == CARDS * sum(map(len, checks.QUESTIONS.values()))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_failure_is_called_ok(function):
    with simulated.machine("s5000x8", set=QUIET):
        sound = asked()
    wrong = []
    for name, code in CODES:
        with simulated.machine("s5000x8", set=QUIET, faults="%d.%s=%s" % (VICTIM, function, name)):
            found = asked()
        others = [[one for one in each if one.gpu != VICTIM] for each in (found, sound)]
        mine = [one for one in found if one.gpu == VICTIM]
        failed = [one for one in mine if one.level == "CRITICAL"]
        if code == pymtml.MTML_ERROR_NOT_SUPPORTED or function.startswith(OF_THE_LIBRARY):
            well = not failed or function.startswith(OF_THE_LIBRARY)
        else:
            well = checks.status(found) == "CRITICAL" and all(one.text for one in failed)
        if others[0] != others[1] or not well:
            wrong.append((name, [one for one in mine if one.level != "OK"]))
    assert wrong == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_a_card_does_not_tell_is_not_called_ok(function):
    """But for what has another source: a limit, the nodes of a card; and what tells a busy card from an idle one."""
    with simulated.machine("s5000x8", set=QUIET):
        sound = asked()
    with simulated.machine("s5000x8", set=QUIET, faults="%d.%s=NOT_SUPPORTED" % (VICTIM, function)):
        found = asked()
    assert checks.status(found) != "CRITICAL" or function in ("mtmlDeviceGetProperty",)
    before, after = ([(one.check, one.text) for one in each if one.gpu == VICTIM] for each in (sound, found))
    lost = [text for check, text in before if (check, text) not in after]
    if function not in WITH_DEFAULT:
        assert lost, "%s is not told, and nothing says so" % function


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
    assert {one.level for one in found[1:]} == {"N/A"} and {one.check for one in found} == set(checks.QUESTIONS)


@pytest.mark.parametrize(
    "change, limits, check, level, value, limit",
    [
        ("gpu_temperature=95", {}, "temperature", "CRITICAL", 95, 95),
        ("gpu_temperature=70", {"max_temperature": 70}, "temperature", "CRITICAL", 70, 70),
        ("memory_temperature=95", {}, "temperature", "CRITICAL", 95, 95),
        ("memory_temperature=80", {"max_memory_temperature": 80}, "temperature", "CRITICAL", 80, 80),
        ("ecc_uncorrected_volatile=1", {}, "ecc", "CRITICAL", 1, 0),
        ("ecc_uncorrected_aggregate=3", {}, "ecc", "NOTE", 3, 10),
        ("ecc_uncorrected_aggregate=11", {}, "ecc", "WARNING", 11, 10),
        ("retired_pages_pending=yes", {}, "pages", "WARNING", 1, 0),
        ("retired_pages_sbe=0x1000@1, 0x2000@2", {}, "pages", "NOTE", 2, 60),
        ("retired_pages_dbe=0x1000@1, 0x2000@2", {"max_retired_pages": 1}, "pages", "WARNING", 2, 1),
        ("pci_cur_width=8", {}, "pcie", "WARNING", 8, 16),
        ("pci_cur_gen=1", {}, "pcie", "NOTE", 1, 5),
        ("pcie_replay_counter=7", {}, "pcie", "NOTE", 7, 100),
        ("pcie_replay_counter=101", {}, "pcie", "WARNING", 101, 100),
        ("memory_used=99999999999", {}, "memory", "WARNING", 99999999999, 85899345920),
        ("mtlink_state.3=DOWN", {}, "links", "CRITICAL", 13, 14),
        ("mtlink_state.3=DOWNGRADE", {}, "links", "CRITICAL", 13, 14),
        ("power_usage=480000", {}, "utilization", "WARNING", None, 50),
        ("memory_used=70000000000", {}, "utilization", "NOTE", 81.5, 50),
        ("ecc_mode=DISABLE", {}, "ecc", "N/A", None, None),
    ],
)
def test_what_is_not_well(change, limits, check, level, value, limit):
    idle = {"memory_used": "0", "power_usage": "97000", "gpu_clock": "300"}
    idle.update((one.partition(".")[2]).split("=") for one in QUIET.split(";"))
    links = {"mtlink_state.%d" % link: "UP" for link in range(14)}
    settings = []
    for card in range(CARDS):
        keys = dict(idle, **({} if change.startswith("mtlink") else links))
        if card == VICTIM:
            key, _, changed = change.partition("=")
            keys[key] = changed
            keys["gpu_clock"] = "1750" if key == "power_usage" else "300"
            keys["gpu_utilization"] = "1" if check == "memory" else "0"
        settings += ["%d.%s=%s" % (card, key, keys[key]) for key in keys]
    with simulated.machine("s5000x8", set=";".join(settings)):
        found = [one for one in asked(**limits) if one.level != "OK"]
    mine = [one for one in found if one.gpu == VICTIM]
    one = mine[0]
    assert {(other.check, other.level) for other in mine} - {("pages", "N/A")} == {(check, level)}
    assert one.limit == limit and (value is None or one.value == value)
    assert one.uuid and one.bus_id and {other.gpu for other in found} <= {VICTIM, *_far_ends(change)}


def _far_ends(change):
    return range(CARDS) if change.startswith("mtlink") else ()


def test_cards_that_work_at_0_percent():
    with simulated.machine("busy-but-0-percent"):
        found = [one for one in asked() if one.check == "utilization"]
    assert [one.level == "WARNING" for one in found] == [True, True, False, True, True, True, True, False]


def test_a_slot_with_fewer_lanes():
    with simulated.machine("s80-narrow-slot"):
        (one,) = [one for one in asked() if one.level == "WARNING"]
    assert (one.check, one.value, one.limit) == ("pcie", 4, 16)


def test_more_memory_used_than_there_is():
    with simulated.machine("used-above-total"):
        (one,) = [one for one in asked() if one.level == "WARNING"]
    assert one.check == "memory" and one.value > one.limit


@pytest.mark.parametrize("unseen", [0, 1, 3])
def test_processes_that_could_not_be_looked_into(monkeypatch, unseen):
    monkeypatch.setattr(pymtml, "unseen_processes", lambda: unseen)
    with simulated.machine("s80"):
        (one,) = [one for one in asked() if one.check == "processes"]
    assert (one.level, one.value) == ("NOTE" if unseen else "OK", unseen)


def test_what_is_asked_of_processes_is_kept_with_the_number_that_belongs_to_it():
    with simulated.machine("s80"), Machine() as machine:
        assert machine.cards[0].ask(compute_processes) == ([], 0)


def test_a_card_that_tells_nothing_is_a_warning():
    names = ("Name", "UUID", "PciInfo")
    faults = ["0.mtmlDeviceGet%s=NOT_SUPPORTED" % name for name in names]
    faults += ["0.mtmlMemoryGetTotal=NOT_SUPPORTED", "0.mtmlGpuGetUtilization=NOT_SUPPORTED"]
    with simulated.machine("s80", faults=",".join(faults)):
        assert asked()[0][:2] == ("answers", "WARNING")
