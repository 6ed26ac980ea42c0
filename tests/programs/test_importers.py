"""The ways in which programs that are in no package index import pymtml by its own name, on one table of machines."""

import json
import os
import sys

import pytest
from machines import Machine
from program_set import IMPORTERS

PROGRAMS = {"test_%s" % way: program for way, program in IMPORTERS.items()}
MISSING = {
    IMPORTERS[
        "benchmark_runner"
    ].package: "It calls names that no binding has, and takes the AttributeError for no GPU."
}
CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients", "importers.py")

# Machine: the profile, a card that is lost; what NVML's names count, the first name, what MTML's names enumerate.
MACHINES = {
    "eight cards": ("s5000x8", None, 8, "MTT S5000", 8),
    "instances": ("s3000-mpc", None, 2, "MTT S3000", 5),
    "container": ("s5000x8-container", None, 2, "MTT S5000", 2),
    "a lost card": ("s5000x8", 5, 8, "MTT S5000", 8),
    "no driver": ("no-driver", None, 0, None, 0),
}


@pytest.fixture(params=sorted(MACHINES))
def asked(request, runner, tmp_path):
    """A function that asks in a way, and what there is: count, first name, number of MTML's devices, the lost card."""
    profile, lost, count, name, enumerated = MACHINES[request.param]
    machine = Machine(tmp_path, profile)
    if lost is not None:
        machine.parser[machine.sections[lost]]["lost"] = "UNKNOWN"
        machine.write()
    environment = runner.on_pymtml(machine)

    def ask(way, status=0):
        shown = runner.run([sys.executable, CLIENT, way], environment, status=status)
        return shown if status else json.loads(shown)

    return ask, count, name, enumerated, lost


def test_ray(asked):
    """Count and first name, ten times, each with init and shutdown: of whole cards, the lost one counted."""
    ask, count, name, _, _ = asked
    assert ask("ray") == [count, name]


def test_vllm_musa(asked):
    """The names of all cards, with an init before each question and no shutdown; a lost card's error."""
    ask, count, name, _, lost = asked
    if count == 0:
        assert "NVMLError_DriverNotLoaded" in ask("vllm_musa", status=1)
    elif lost is not None:
        assert "NVMLError_Unknown" in ask("vllm_musa", status=1)
    else:
        assert ask("vllm_musa") == [name] * count


def test_vllm_omni(asked):
    """Whether there is a card, by MTML's names; without a driver an error of MTML's."""
    ask, count, _, _, _ = asked
    assert ask("vllm_omni") == (True if count else "MTMLError_DriverNotLoaded")


def test_xinference(asked):
    """Whether there is a card, with a shutdown also where init failed."""
    ask, count, _, _, _ = asked
    assert ask("xinference") is (count > 0)


def test_gpustack_runtime(asked):
    """Everything by a star, and one init for all: MTML's devices with their UUIDs; the first error again and again."""
    ask, count, _, enumerated, lost = asked
    found = ask("gpustack_runtime")
    if not count:
        assert found == "MTMLError_DriverNotLoaded"
        return
    assert len(found) == len(set(found)) == enumerated
    assert [index for index, uuid in enumerate(found) if uuid == "MTMLError_Unknown"] == [lost] * (lost is not None)


def test_rlinf(asked):
    """The count, and a second shutdown, which is refused and does no harm."""
    ask, count, _, _, _ = asked
    assert ask("rlinf") == [count, "NVMLError_Uninitialized"]


def test_benchmark_runner(asked):
    """The error says which name there is."""
    assert "mtmlLibraryInit" in asked[0]("benchmark_runner")
