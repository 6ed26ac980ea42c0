"""A card that cannot be opened: the others are shown, and it neither hides nor looks free."""

import os
import shutil

import pytest
import simulated
from command import invoke, write

LOST = {"set": "0.lost=DRIVER_FAILURE"}
# (arguments, whether nvidia-smi's sentence is on stderr, what shows a card)
OUTPUTS = [
    (["-L"], False, "GPU {0}: "),
    ([], False, "|   {0}  "),
    (["-q"], False, "GPU {1}"),
    (["--query-gpu=index,temperature.gpu", "--format=csv,noheader"], True, "{0}, "),
    (["-q", "-x"], True, '<gpu id="{1}">'),
]
OTHERS = ("mtlink -s", "nvlink -s", "mig -lgi", "vgpu", "pci -gErrCnt")
PLACES = ("Unknown Error", "00000000:AF:00.0")


@pytest.mark.parametrize("arguments, aside, form", OUTPUTS)
def test_the_others_are_shown(arguments, aside, form):
    with simulated.machine("s3000x2", **LOST):
        ours, theirs = invoke(*arguments), invoke(*arguments, name="nvidia-smi")
        others = invoke(*arguments + ["-i", "1"]) if arguments != ["-L"] else None
    marks = [form.format(card, PLACES[card]) for card in (0, 1)]

    def shown(result):
        return [any(line.strip().startswith(mark) for line in result.lines) for mark in marks]

    assert (shown(ours), ours.status, ours.stderr) == ([True, True], 15, "")
    assert (shown(theirs), theirs.status) == ([False, True], 15)
    sentence = "Unable to determine the device handle for GPU 0: Unknown Error\n"
    assert theirs.stderr == sentence * aside and theirs.stdout.endswith(sentence) is not aside
    assert others is None or (others.status, others.stderr) == (0, "")


@pytest.mark.parametrize("name", ["pymtml", "nvidia-smi"])
@pytest.mark.parametrize("line", ["dmon -c 1", "pmon -c 1", "topo -m", "topo -p2p r", *OTHERS])
def test_the_exit_status_of_what_shows_a_lost_card(line, name):
    with simulated.machine("s4000x8", **LOST):
        first, *rest = line.split()
        assert invoke(first, *rest, name=name).status == 15
        if first != "topo":
            assert invoke(first, *rest + ["-i", "1"], name=name).status == 0


def test_no_card_is_left():
    with simulated.machine("s3000x2", **LOST):
        result = invoke("-i", "0", name="nvidia-smi")
    assert result.stdout == "Unable to determine the device handle for GPU 0: Unknown Error\n"


@pytest.mark.parametrize("further, named", [((), "0000:3b:00.0"), (("0000:b0:00.0",), " 0")])
def test_the_address_of_a_lost_card_is_the_one_that_no_other_has(further, named, tmp_path, monkeypatch):
    monkeypatch.setenv("PYMTML_SYS_ROOT", str(tmp_path))
    cards = [(address, "0x1ed5", "0x030000") for address in ("0000:af:00.0",) + further]
    others = [("0000:3b:00.0", "0x1ed5", "0x120000"), ("0000:3b:00.1", "0x1ed5", "0x040300")]
    others += [("0000:01:00.0", "0x10de", "0x030000")]
    for address, vendor, kind in cards + others:
        folder = os.path.join(str(tmp_path), "bus", "pci", "devices", address)
        write(os.path.join(folder, "vendor"), vendor + "\n")
        write(os.path.join(folder, "class"), kind + "\n")
    with simulated.machine("s3000x2", **LOST):
        last = invoke("-L", name="nvidia-smi").lines[-1]
    assert last == "Unable to determine the device handle for GPU%s: Unknown Error" % named
    shutil.rmtree(os.path.join(str(tmp_path), "bus", "pci", "devices", "0000:3b:00.0"))
    with simulated.machine("s4000x8", set="0.lost=DRIVER_FAILURE;1.lost=DRIVER_FAILURE"):  # who has the one left?
        lines = invoke("-L", name="nvidia-smi").lines
    assert lines[-2:] == [last.replace(named, " %d" % card) for card in (0, 1)]
