"""sglang's check for direct links between GPUs, and the other ways in which programs find them."""

import json
import os
import sys

import pytest
from machines import Machine
from musa_stack import BARE
from musa_stack import environment as musa
from program_set import SGLANG

PROGRAM = SGLANG
MISSING = (
    "sglang cannot run without a GPU stack: its files run unmodified on the CPU build of torch, parents that want more "
    "are empty, and clients/sglang_links.py repeats what its check of links asks."
)

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


# ---- Its own files ----

PLATFORM = BARE + """
bare("sglang", "sglang.multimodal_gen")
from sglang.multimodal_gen.runtime.platforms.musa import MusaPlatform as platform
print(json.dumps({
    "class": platform.__name__,
    "names": [platform.get_device_name(i) for i in range(%(count)d)],
    "uuids": [platform.get_device_uuid(i) for i in range(%(count)d)],
    "memory": [platform.get_device_total_memory(i) for i in range(%(count)d)],
    "capability": "%%d.%%d" %% tuple(platform.get_device_capability(0)),
    "full": platform.is_full_mtlink(list(range(8))),
}))
"""

FULL = BARE + """
bare("sglang", "sglang.srt", "sglang.srt.distributed", "sglang.srt.distributed.device_communicators")
stand_in("sglang.srt.distributed.device_communicators.cuda_wrapper", CudaRTLibrary=None)
stand_in("sglang.srt.distributed.parallel_state", in_the_same_node_as=None)
stand_in("sglang.srt.environ", envs=None)
stand_in("sglang.srt.utils", __path__=[], is_cuda=lambda: False, is_hip=lambda: False, is_musa=lambda: True)
stand_in("sglang.srt.utils.cuda_vmm_utils", _gpu_fabric_clique=None)
from sglang.srt.distributed.device_communicators.custom_all_reduce_utils import is_full_nvlink
print(json.dumps([is_full_nvlink(list(range(8)), 8), is_full_nvlink([0, 1, 2, 3], 4)]))
"""


def run_its_files(runner, machine, code, **variables):
    environment = dict(musa(runner, machine), **variables)
    environment["PYTHONPATH"] += os.pathsep + PROGRAM.folder
    return json.loads(runner.run([PROGRAM.python, "-c", code], environment).splitlines()[-1])


@pytest.mark.programs
@pytest.mark.parametrize("visible", [None, "6,1"])
def test_musa_platform(runner, machine, visible):
    """`MusaPlatform`, init and shutdown around each question: names, UUIDs, memory, capability, full connection."""
    gpus = [machine.gpus[int(index)] for index in visible.split(",")] if visible else machine.gpus
    variables = {"MUSA_VISIBLE_DEVICES": visible} if visible else {}
    shown = run_its_files(runner, machine, PLATFORM % {"count": len(gpus)}, **variables)
    assert (shown["class"], shown["full"]) == ("MtmlMusaPlatform", True)
    assert shown["names"] == [gpu.name for gpu in gpus]
    assert shown["uuids"] == [gpu.uuid for gpu in gpus]
    assert shown["memory"] == [gpu.number("memory_total") for gpu in gpus]
    assert shown["capability"] == gpus[0].text("musa_compute_capability")


@pytest.mark.programs
def test_musa_platform_of_a_library_that_refuses_a_second_init(runner, tmp_path):
    """The same over a library that cannot be initialized again: NVML's names keep it."""
    machine = Machine(tmp_path)
    machine.parser["machine"]["reinit"] = "DRIVER_FAILURE"
    machine.write()
    shown = run_its_files(runner, machine, PLATFORM % {"count": 8})
    assert shown["names"] == [gpu.name for gpu in machine.gpus]


@pytest.mark.programs
@pytest.mark.parametrize("down", [None, 7])
def test_full_connection(runner, tmp_path, down):
    """srt's `is_full_nvlink`: with the links of one GPU down at its own end alone, not all are joined."""
    machine = Machine(tmp_path)
    if down is not None:
        machine.parser[machine.sections[down]]["mtlink_state"] = "DOWN"
        machine.write()
    assert run_its_files(runner, machine, FULL) == [down is None, True]
