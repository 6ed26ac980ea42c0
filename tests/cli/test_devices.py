"""The machine as the command sees it: which handles are cards, how long an answer is kept, why one is not known."""

import importlib.util
import sys
import time
import types

import pytest
import simulated
from command import invoke
from inside import OTHER, CommandError, Machine, Moment, Unknown, devices

import pymtml


@pytest.mark.parametrize("file, named", [("/x/pymtml.py", "/x/pymtml.py"), (None, "without a file")])
def test_another_module_named_pymtml(file, named, monkeypatch):
    """It is told which one, instead of a failure somewhere within."""
    other = types.ModuleType("pymtml")
    if file:
        other.__file__ = file
    monkeypatch.setitem(sys.modules, "pymtml", other)
    spec = importlib.util.spec_from_file_location("devices_again", devices.__file__)
    with pytest.raises(CommandError) as raised:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    text = "Python finds another module named pymtml, %s; install pymtml's wheel again, or remove that one" % named
    assert (raised.value.text, raised.value.status, raised.value.stdout) == (text, OTHER, False)


@pytest.mark.parametrize(
    "error, not_supported, shown, reason",
    [
        (pymtml.NVMLError(pymtml.NVML_ERROR_NOT_SUPPORTED), True, "N/A", "Not Supported"),
        (pymtml.MTMLError_FunctionNotFound(), True, "N/A", "Function not found in the loaded library"),
        (pymtml.NVMLError(pymtml.NVML_ERROR_TIMEOUT), False, "Timeout", "Timeout"),
        (pymtml.NVMLError(pymtml.NVML_ERROR_GPU_IS_LOST), False, "GPU is lost", "GPU is lost"),
    ],
)
def test_why_a_value_is_not_known(error, not_supported, shown, reason):
    one = Unknown(error)
    assert (one.error, one.not_supported, str(one), one.reason) == (error, not_supported, shown, reason)
    with pytest.raises(AttributeError):
        one.value = 0


@pytest.mark.parametrize(
    "kind, member, number",
    [
        (pymtml.NVML_VALUE_TYPE_DOUBLE, "dVal", 0.5),
        (pymtml.NVML_VALUE_TYPE_UNSIGNED_INT, "uiVal", 2**32 - 1),
        (pymtml.NVML_VALUE_TYPE_UNSIGNED_LONG, "ulVal", 7),
        (pymtml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, "ullVal", 2**64 - 1),
        (pymtml.NVML_VALUE_TYPE_SIGNED_LONG_LONG, "sllVal", -1),
        (pymtml.NVML_VALUE_TYPE_SIGNED_INT, "siVal", -1),
    ],
)
def test_the_number_that_a_field_holds(kind, member, number):
    value = pymtml.c_nvmlFieldValue_t(valueType=kind)
    setattr(value.value, member, number)
    assert devices.field_number(value) == number


def test_a_moment_in_all_its_forms(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1700000000.9996)
    monkeypatch.setattr(time, "localtime", time.gmtime)
    assert vars(Moment()) == {
        "exact": "2023/11/14 22:13:20.999",
        "long": "Tue Nov 14 22:13:20 2023",
        "utc": "2023-11-14T22:13:20Z",
        "date": "20231114",
        "clock": "22:13:20",
    }


# ---- Cards, and the instances below them ----


# The names of the devices of a divided machine, by their UUIDs
NAMES = {
    simulated.device_keys("s3000-mpc", 0)["uuid"]: "first",
    simulated.device_keys("s3000-mpc", 1)["uuid"]: "second",
}
for _place, _name in enumerate("abc"):
    NAMES[simulated.profile("s3000-mpc")["device.0.instance.%d" % _place]["uuid"]] = _name
UUIDS = {name: uuid for uuid, name in NAMES.items()}


def cards(text=None, **machine):
    """(number, name, instances) of the cards of a divided machine, or of those that a text names (list)."""
    with simulated.machine("s3000-mpc", **machine), Machine() as seen:
        return [
            (card.index, name_of(card), [(one.index, name_of(one), one.parent is card) for one in card.instances])
            for card in seen.chosen(text)
        ]


def name_of(device):
    uuid = str(device.ask(pymtml.nvmlDeviceGetUUID))
    return NAMES.get(uuid, uuid)


BELOW = [(0, "a", True), (1, "b", True), (2, "c", True)]


def test_instances_stand_below_their_card():
    assert cards() == [(0, "first", BELOW), (1, "second", [])]
    hidden = cards(faults="mtmlDeviceGetMpcParentDevice=NOT_FOUND")
    assert hidden == [(0, "first", BELOW), (1, "a", []), (2, "b", []), (3, "c", []), (4, "second", [])]


def test_a_card_without_a_handle_is_a_card():
    """It has its number, and the reason in the place of each answer."""
    with simulated.machine("s3000x2", faults="mtmlLibraryInitDeviceByIndex=TIMEOUT@2x9"), Machine() as machine:
        said = [(card.index, card.instances, card.ask(pymtml.nvmlDeviceGetName).reason) for card in machine.cards]
    assert said == [(0, [], "Timeout"), (1, [], "Timeout")]


def test_a_lost_card_beside_a_divided_one_is_a_card():
    """NVML's names count none then, as the lost device may be an instance."""
    with simulated.machine("s3000-mpc", set="1.lost=DRIVER_FAILURE"), Machine() as machine:
        said = [(card.index, name_of(card), len(card.instances)) for card in machine.cards]
    assert said == [(0, "first", 3), (1, "Unknown Error", 0)]
    for what in ("0.lost=TIMEOUT;1.lost=TIMEOUT", "*.lost=TIMEOUT"):
        with simulated.machine("s3000-mpc", set=what), pytest.raises(CommandError, match="cannot count the devices"):
            Machine()


@pytest.mark.parametrize(
    "faults, why", [("", None), ("mtmlDeviceGetMpcInstanceByIndex=TIMEOUT@1x1", "Timeout")], ids=["all", "one fails"]
)
def test_whether_all_instances_are_known(faults, why):
    """A place without an instance is none that fails."""
    with simulated.machine("s3000-mpc", faults=faults), Machine() as machine:
        card = machine.cards[0]
        assert (len(card.instances), card.ask(pymtml.nvmlDeviceGetMaxMigDeviceCount)) == (2 if why else 3, 8)
        unknown = devices.unlisted_instances(card)
        assert (unknown and unknown.reason) == why


def test_an_answer_is_kept_for_a_sample_also_of_instances():
    def answers():
        return [one.ask(pymtml.nvmlDeviceGetMemoryInfo).used for one in (card, card.instances[1])]

    with simulated.machine("s3000-mpc"), Machine() as machine:
        card = machine.cards[0]
        before = answers()
        simulated.set_value(0, "memory_used", 1)
        simulated.set_value(simulated.instance(0, 1), "memory_used", 2)
        assert answers() == before
        machine.next_sample()
        assert answers() == [1, 2]


# ---- What -i names ----


def test_a_card_without_a_uuid_has_no_name_by_it():
    assert cards(UUIDS["second"], faults="0.mtmlDeviceGetUUID=TIMEOUT") == [(1, "second", [])]


@pytest.mark.parametrize("name", ["pymtml", "nvidia-smi"])
def test_what_two_cards_report_names_neither(name):
    keys = simulated.device_keys("s3000x2", 0)
    with simulated.machine("s3000x2", set="1.uuid=" + keys["uuid"]):
        for wanted in (keys["uuid"], "GPU-" + keys["uuid"].upper()):
            result = invoke("--query-gpu=index", "--format=csv", "-i", wanted, name=name)
            assert result.status == 6 and "ards 0 and 1 report %s: name one by its index" % wanted in str(vars(result))
        assert invoke("--query-gpu=index", "--format=csv", "-i", "1", name=name).lines == ["index", "1"]


@pytest.mark.parametrize("terminal", [False, True])
def test_people_are_told_which_card_nvidia_smi_leaves_out(terminal, capsys, monkeypatch):
    monkeypatch.setenv("PYMTML_COMMAND_NAME", "nvidia-smi")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    assert cards("9,1") == [(1, "second", [])]
    words = "nvidia-smi: there is no card 9; nvidia-smi -L lists cards 0 to 1\n"
    assert capsys.readouterr().err == (words if terminal else "")


@pytest.mark.parametrize(
    "text, address",
    [
        ("00000001:aF:00.0", (1, 0xAF, 0)),
        ("af:10.0", (0, 0xAF, 16)),
        ("af:00.1", None),
        ("af:00", None),
        ("0g:00.0", None),
        ("0:0:0:0.0", None),
        ("0.0", None),
    ],
)
def test_what_an_address_is(text, address):
    assert devices._address(text) == address


@pytest.mark.parametrize("value, status", [(-1, 255), (0, 255), (1, 1), (3, 3), (254, 254), (255, 255), (999, 255)])
def test_the_exit_status_of_an_init_that_fails(value, status):
    """It is NVML's code, where that is an exit status and none of success."""
    assert devices.initialization_error(pymtml.NVMLError(value)).status == status
