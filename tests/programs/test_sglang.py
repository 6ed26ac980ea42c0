"""sglang's check for direct links between GPUs, and the other ways in which programs find them."""

import json
import os
import sys

import pytest
from machines import Machine
from program_set import SGLANG

PROGRAM = SGLANG
MISSING = "sglang itself cannot be installed without CUDA: clients/sglang_links.py repeats what its check asks."

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients", "sglang_links.py")


def ask(runner, machine, *arguments):
    return json.loads(runner.run([sys.executable, CLIENT] + list(arguments), runner.on_pymtml(machine)))


@pytest.mark.parametrize("profile", ["s5000x8", "s4000x8", "s5000x8-container"])
def test_links(runner, tmp_path, profile):
    """The pairs that the machine's links join, by status, by walking the links, and through MTML's own names."""
    machine = Machine(tmp_path, profile)
    pairs = machine.linked_pairs()
    assert pairs
    shown = ask(runner, machine, "--mtml")
    assert (shown["status"], shown["walked"], shown["mtml"]) == (pairs, pairs, pairs)


def test_hidden_peers(runner, tmp_path):
    """In a container the links to hidden GPUs are passed over, each with an NVMLError."""
    machine = Machine(tmp_path, "s5000x8-container")
    assert len(machine.gpus) == 2
    assert ask(runner, machine)["hidden"] == 2 * 12


def test_broken_links(runner, tmp_path):
    """With the links of one GPU down, its pairs are no longer joined."""
    machine = Machine(tmp_path)
    assert len(machine.linked_pairs()) == 28
    down = machine.sections.index("device.2")
    for section in machine.sections:
        peers = [peer.split(".")[0].strip() for peer in machine.parser[section]["mtlink_peer"].split(",")]
        states = ["DOWN" if "2" in (peer, section.split(".")[1]) else "UP" for peer in peers]
        machine.parser[section]["mtlink_state"] = ", ".join(states)
    machine.write()
    pairs = machine.linked_pairs()
    assert len(pairs) == 21 and not any(down in pair for pair in pairs)
    shown = ask(runner, machine, "--mtml")
    assert (shown["status"], shown["walked"], shown["mtml"]) == (pairs, pairs, pairs)
