"""What a card cannot have measured is shown by no output: all ones, the sign bit, one more than can be."""

import collections
import contextlib
import json
import tempfile
import xml.etree.ElementTree

import pytest
import simulated
from command import invoke
from inside import FIELDS, answers

CARD = 3
# Type of C: what cannot be in it
UNSIGNED = {"ones": 0xFFFFFFFF, "sign": 1 << 31}
SIGNED = {"ones": -1, "sign": -1 << 31}
TEMPERATURE = {"sign": -1 << 31}  # -1 degrees may be
WIDE = {"ones": (1 << 64) - 1, "sign": 1 << 63}
COUNT, WIDE_COUNT, FULL = (1 << 31) - 1, (1 << 48) - 1, 2 * 80 << 30
# Type and the greatest number that can be, by key of the simulated card. It has 80 GiB, 950 W and 1750 MHz.
MEASURED = {
    "gpu_utilization": (UNSIGNED, 100),
    "memory_utilization": (UNSIGNED, 100),
    "encoder_utilization": (UNSIGNED, 100),
    "decoder_utilization": (UNSIGNED, 100),
    "engine_utilization": (UNSIGNED, 100),
    "gpu_temperature": (TEMPERATURE, 150),
    "memory_temperature": (TEMPERATURE, 150),
    "power_usage": (UNSIGNED, 1900000),
    "enforced_power_limit": (SIGNED, 1900000),
    "gpu_clock": (UNSIGNED, 3500),
    "memory_clock": (UNSIGNED, 5000),
    "vpu_clock": (UNSIGNED, 2400),
    "fan_speed": (UNSIGNED, 200),
    "fan_rpm": (UNSIGNED, COUNT),
    "pcie_replay_counter": (UNSIGNED, COUNT),
    "memory_used": (WIDE, FULL),
    "memory_used_system": (WIDE, FULL),
    "ecc_corrected_volatile": (WIDE, WIDE_COUNT),
    "ecc_corrected_aggregate": (WIDE, WIDE_COUNT),
    "ecc_uncorrected_volatile": (WIDE, WIDE_COUNT),
    "ecc_uncorrected_aggregate": (WIDE, WIDE_COUNT),
}
# What the card is, and what others are measured by
CONSTANT = {
    "slowdown_temperature": (TEMPERATURE, 150),
    "shutdown_temperature": (TEMPERATURE, 150),
    "default_power_limit": (SIGNED, 3000000),
    "gpu_max_clock": (UNSIGNED, 100000),
    "memory_max_clock": (UNSIGNED, 100000),
    "vpu_max_clock": (UNSIGNED, 100000),
    "gpu_voltage": (SIGNED, 20000),
    "gpu_cores": (UNSIGNED, COUNT),
    "slot_id": (UNSIGNED, COUNT),
    "pci_cur_width": (UNSIGNED, COUNT),
    "pci_max_width": (UNSIGNED, COUNT),
    "memory_total": (WIDE, WIDE_COUNT),
    "memory_bus_width": (UNSIGNED, COUNT),
    "memory_bandwidth": (UNSIGNED, COUNT),
    "memory_speed": (UNSIGNED, COUNT),
    "encoder_capacity": (UNSIGNED, COUNT),
    "decoder_capacity": (UNSIGNED, COUNT),
    "mtlink_count": ({}, 256),  # the simulator goes through four thousand million of them
    "mtlink_version": (UNSIGNED, COUNT),
    "mtlink_bandwidth": (UNSIGNED, COUNT),
}
USUAL = {"fan_speed": 30, "fan_rpm": 1500, "gpu_voltage": 800}


def impossible(keys, what):
    """{key: number that cannot be} of those that have one."""
    found = {key: most + 1 if what == "more" else numbers.get(what) for key, (numbers, most) in keys.items()}
    return {key: number for key, number in found.items() if number is not None}


def machines(what):
    """Machines of eight cards with numbers that cannot be, one on each card but the last ({card: (key, number)}, text).

    The card has no fans.
    """
    numbers = [pair for pair in impossible({**MEASURED, **CONSTANT}, what).items() if not pair[0].startswith("fan_")]
    for start in range(0, len(numbers), 7):
        wrong = dict(enumerate(numbers[start : start + 7]))
        yield wrong, ";".join("%d.%s=%d" % ((card,) + pair) for card, pair in wrong.items())


def leaves(value, path=""):
    """The values of a JSON document by path (dict)."""
    if isinstance(value, (dict, list)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        found = {}
        for key, below in pairs:
            found.update(leaves(below, "%s.%s" % (path, key)))
        return found
    return {path: value}


def seen(changes):
    """What the outputs show of the card: [(output, place, what stands there)]."""
    text = ";".join("%d.%s=%d" % (CARD, key, number) for key, number in dict(USUAL, **changes).items())
    found = []
    with contextlib.ExitStack() as stack:
        # How many processes an ordinary user cannot inspect would change meanwhile.
        proc = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("PYMTML_PROC_ROOT", proc)
        stack.enter_context(simulated.machine("s5000x8", set=text))
        names = [names[0] for names, _, _, _ in FIELDS if names[0] != "timestamp"]
        cells = invoke("--query-gpu=" + ",".join(names), "--format=csv,noheader", "-i", str(CARD)).rows()[0]
        found += [("csv", name, cell) for name, cell in zip(names, cells)]
        lines = invoke("-q", "-i", str(CARD)).lines
        found += [
            ("-q", "%d %s" % (n, line[:55]), line[57:]) for n, line in enumerate(lines) if "Timestamp" not in line
        ]
        tree = xml.etree.ElementTree.fromstring(invoke("-q", "-x", "-i", str(CARD)).stdout)
        counts = collections.Counter()
        for element in (one for one in tree.iter() if one.tag != "timestamp"):
            counts[element.tag] += 1
            found.append(("-x", "%s %d" % (element.tag, counts[element.tag]), (element.text or "").strip()))
        document = leaves(json.loads(invoke("--json", "-i", str(CARD)).stdout))
        found += [("json", path, value) for path, value in document.items() if path not in (".timestamp", ".time")]
        table = invoke("-i", str(CARD)).lines[1:]
        found += [("table", str(number), line) for number, line in enumerate(table)]
        found += [("dmon", "", tuple(invoke("dmon", "-c", "1", "-s", "pucvmet", "-i", str(CARD)).lines[-1].split()))]
    return found


@pytest.fixture(scope="module")
def sound():
    return {(output, place): shown for output, place, shown in seen({})}


NO_ANSWER = {"csv": "[Unknown Error]", "-q": "Unknown Error", "-x": "Unknown Error", "json": None}


@pytest.mark.parametrize("keys", [MEASURED, CONSTANT], ids=["measured", "constant"])
@pytest.mark.parametrize("what", ["ones", "sign", "more"])
def test_no_output_has_a_number_that_cannot_be(keys, what, sound):
    bad = impossible(keys, what)
    changed = [one for one in seen(bad) if sound.get(one[:2]) != one[2]]
    told = [one for one in changed if one[0] in NO_ANSWER and one[2] != NO_ANSWER[one[0]]]
    # MTML's word for a power limit that nobody knows is 0 or less.
    told = [one for one in told if not (what == "sign" and "N/A" in str(one[2]) and "power" in one[1].lower())]
    assert [one for one in told if ".reasons." not in one[1]] == []
    assert sum(one[0] == "json" and one[2] is None for one in changed) >= len(bad)
    for output, place, shown in changed:
        if output == "table":
            assert "ERR!" in shown
        if output == "dmon":
            assert {cell for cell, before in zip(shown, sound[output, place]) if cell != before} == {"-"}


def test_the_greatest_number_that_can_be_is_an_answer(sound):
    found = seen({key: most for key, (_, most) in MEASURED.items()})
    lost = [one for one in found if one[2] == NO_ANSWER.get(one[0], "-") != sound.get(one[:2])]
    assert [one for one in lost if ".reasons." not in one[1]] == []
    with simulated.machine("s5000x8", set="%d.gpu_max_clock=0;%d.gpu_clock=99" % (CARD, CARD)):  # a limit that is none
        assert invoke("--query-gpu=clocks.gr", "--format=csv,noheader", "-i", str(CARD)).stdout == "99 MHz\n"


def test_a_degree_below_zero_is_one_of_a_card_that_lives():
    query = "--query-gpu=temperature.gpu", "--format=csv,noheader", "-i", str(CARD)
    with simulated.machine("s5000x8", set="%d.gpu_temperature=-1" % CARD):
        assert invoke(*query).stdout == "-1\n"
    dead = dict(impossible(MEASURED, "ones"), gpu_temperature=-1)
    with simulated.machine("s5000x8", set=";".join("%d.%s=%d" % (CARD, *one) for one in dead.items())):
        assert invoke(*query).stdout == "[Unknown Error]\n"


@pytest.mark.parametrize("arguments, stdout", [(["--json"], True), (["-L"], False)])
def test_more_devices_than_there_can_be(arguments, stdout, monkeypatch):
    answers(monkeypatch, "mtmlLibraryCountDevice", lambda *_: 4 * 10**9)
    with simulated.machine("s80"):
        result = invoke(*arguments)
    assert result.status == 255
    assert "the driver counts 4000000000 devices, more than the 4096 that are possible" in (
        result.stdout if stdout else result.stderr
    )


def test_more_displays_than_there_can_be(monkeypatch):
    answers(monkeypatch, "mtmlDeviceCountDisplayInterface", lambda *_: (1 << 32) - 1)
    with simulated.machine("s80"):
        (card,) = json.loads(invoke("--json").stdout)["devices"]
    assert (card["displays"], card["reasons"]["displays"]) == (None, "implausible: 4294967295")


@pytest.mark.parametrize("what", ["ones", "sign"])
def test_links_sessions_and_virtual_devices(what):
    with simulated.machine("s5000x8", set="%d.mtlink_bandwidth=%d" % (CARD, UNSIGNED[what])):
        for arguments in (["mtlink", "-s"], ["nvlink", "-s"]):
            shown = invoke(*arguments + ["-i", str(CARD), "-l", "0"]).lines[1]
            assert "Unknown Error" in shown and str(UNSIGNED[what]) not in shown
    session = "id=1 pid=7 width=1920 height=1080 fps=%d latency=%d codec=AVC state=ACTIVE" % (2 * (UNSIGNED[what],))
    with simulated.machine("s80", set="0.encoder_sessions=" + session):
        assert "Average FPS                                    : Unknown Error" in invoke("-q").stdout
    with simulated.machine("s3000-vgpu-host", set="0.virt.0.memory_used=%d" % WIDE[what]):
        lines = invoke("vgpu", "-q").lines
    first = [line.split(": ")[1] for line in lines if line.strip().startswith(("Used", "Free"))][:2]
    assert first == ["Unknown Error"] * 2
