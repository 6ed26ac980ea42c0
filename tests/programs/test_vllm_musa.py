"""vllm-musa's own platform file, which imports pymtml by its own name."""

import pytest
from machines import Machine
from musa_stack import environment
from program_set import VLLM_MUSA as PROGRAM

MISSING = (
    "vllm, torch_musa and the MUSA SDK cannot be installed here: the unmodified platform file runs on the CPU build of "
    "torch, with the few names that it takes from vllm and torch_musa written anew in standin/. The platform's "
    "`device_count` asks torch_musa, not pymtml."
)

pytestmark = pytest.mark.programs

# vLLM asks the plug-in for the name of a class, and imports it.
PLATFORM = """
import importlib, json, logging, sys

class Warnings(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())

said = []
logging.getLogger().addHandler(Warnings(logging.WARNING))

import vllm_musa_platform

module, _, name = vllm_musa_platform.musa_platform_plugin().rpartition(".")
platform = getattr(importlib.import_module(module), name)

def show(**answers):
    print(json.dumps(dict(answers, platform=platform.__name__, warnings=said)))
"""

DEVICES = PLATFORM + """
count = platform.device_count()
show(
    count=count,
    names=[platform.get_device_name(i) for i in range(count)],
    uuids=[platform.get_device_uuid(i) for i in range(count)],
    memory=[platform.get_device_total_memory(i) for i in range(count)],
    capability=["%d.%d" % platform.get_device_capability(i) for i in range(count)],
    bfloat16=[platform.has_device_capability(80, i) for i in range(count)],
    fp8=platform.supports_fp8(),
)
"""

LINKS = PLATFORM + """
pairs = [[i, j] for i in range(8) for j in range(i + 1, 8) if platform.is_fully_connected([i, j])]
show(pairs=pairs, all=platform.is_fully_connected(list(range(8))))
"""

LIFE = PLATFORM + """
import pymtml

names = [platform.get_device_name(i) for i in range(8)] * 2
depth = 0
while True:
    try:
        pymtml.nvmlShutdown()
    except pymtml.NVMLError_Uninitialized:
        break
    depth += 1
try:
    after = platform.get_device_name(0)
except pymtml.NVMLError as error:
    after = type(error).__name__
show(names=names, depth=depth, after=after)
"""


def ask(runner, machine, code, devices=8, **variables):
    return runner.evaluate(PROGRAM, code, dict(environment(runner, machine, devices), **variables))


def test_platform(runner, machine):
    """Names, UUIDs, memory and compute capability of eight GPUs, by the platform class that the plug-in names."""
    shown = ask(runner, machine, DEVICES)
    assert (shown["platform"], shown["count"]) == ("MtmlMUSAPlatform", 8)
    assert shown["names"] == [gpu.name for gpu in machine.gpus]
    assert shown["uuids"] == [gpu.uuid for gpu in machine.gpus]
    assert shown["memory"] == [gpu.number("memory_total") for gpu in machine.gpus]
    # MTML 2.2.0 does not tell the capability; there it follows from the card's architecture.
    assert shown["capability"] == [gpu.text("musa_compute_capability") for gpu in machine.gpus]
    assert shown["bfloat16"] == [True] * 8
    assert shown["fp8"] is (float(machine.gpus[0].text("musa_compute_capability")) >= 3.1)
    assert shown["warnings"] == []


def test_visible_devices(runner, machine):
    """`MUSA_VISIBLE_DEVICES` picks and renumbers GPUs."""
    shown = ask(runner, machine, DEVICES, devices=2, MUSA_VISIBLE_DEVICES="6,1")
    chosen = [machine.gpus[index] for index in (6, 1)]
    assert shown["uuids"] == [gpu.uuid for gpu in chosen]
    assert shown["memory"] == [gpu.number("memory_total") for gpu in chosen]
    assert shown["capability"] == [gpu.text("musa_compute_capability") for gpu in chosen]


@pytest.mark.parametrize("profile", ["s5000x8", "s4000x8"])
def test_fully_connected(runner, tmp_path, profile):
    """`is_fully_connected`: the pairs that MtLinks join."""
    machine = Machine(tmp_path, profile)
    shown = ask(runner, machine, LINKS)
    assert shown["pairs"] == machine.linked_pairs()
    assert shown["all"] is (len(machine.linked_pairs()) == 28)


def test_different_cards(runner, tmp_path):
    """Different cards in one machine: the platform's warning names all of them."""
    machine = Machine(tmp_path)
    machine.parser[machine.sections[3]]["name"] = "MTT S4000"
    machine.write()
    shown = ask(runner, machine, DEVICES)
    (warning,) = shown["warnings"]
    assert ", ".join(gpu.name for gpu in machine.gpus) in warning


def test_init_without_shutdown(runner, tmp_path):
    """A library that refuses a second init: it is kept through all questions, and past a last shutdown."""
    machine = Machine(tmp_path)
    machine.parser["machine"]["reinit"] = "DRIVER_FAILURE"
    machine.write()
    names = [gpu.name for gpu in machine.gpus]
    shown = ask(runner, machine, LIFE)
    assert (shown["names"], shown["depth"], shown["after"]) == (names * 2, 1, names[0])


def test_no_driver(runner, tmp_path):
    """No driver: the platform that does without MTML is chosen, and nothing else happens."""
    code = PLATFORM + "show(count=platform.device_count())"
    shown = ask(runner, Machine(tmp_path, "no-driver"), code, devices=0)
    assert shown == {"platform": "NonMtmlMUSAPlatform", "count": 0, "warnings": []}
