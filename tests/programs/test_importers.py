"""The ways in which programs that are in no package index import pymtml by its own name, on one table of machines.

Each row is a program's own order of calls, written anew, and what must come of it on a machine.
"""

import json
import sys

import pytest
from machines import Machine
from program_set import IMPORTERS

NO_DRIVER = "NVMLError_DriverNotLoaded"

# A machine: the profile, the card that is lost; how many cards NVML's names count, their name, what MTML's names count.
MACHINES = {
    "eight cards": ("s5000x8", None, 8, "MTT S5000", 8),
    "instances": ("s3000-mpc", None, 2, "MTT S3000", 5),
    "container": ("s5000x8-container", None, 2, "MTT S5000", 2),
    "a lost card": ("s5000x8", 5, 8, "MTT S5000", 8),
    "no driver": ("no-driver", None, 0, None, 0),
}


class Truth:
    def __init__(self, machine):
        self.profile, self.lost, self.count, self.name, self.devices = MACHINES[machine]

    def each(self, value, error="NVMLError_Unknown", devices=False):
        """A list of a value for each card (or device of MTML's), with the error of the lost one; or no driver's."""
        found = [value] * (self.devices if devices else self.count)
        if self.lost is not None:
            found[self.lost] = error
        return found or error.split("_")[0] + "_DriverNotLoaded"


# What the code of each row starts with: a call that fails is the name of its error.
PRELUDE = """
import json

def tried(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error).__name__

def show(value):
    print(json.dumps(value))
"""

# Key of IMPORTERS: (what it shows, its calls, what must come of them).
ROWS = {
    "ray": (
        "Count and first name, ten times, each with init and shutdown: of whole cards, the lost one counted",
        """
import pymtml

def count_and_name():
    try:
        pymtml.nvmlInit()
    except Exception:
        return [0, None]
    try:
        count = int(pymtml.nvmlDeviceGetCount())
        return [count, pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(0)) if count else None]
    finally:
        pymtml.nvmlShutdown()

found = [count_and_name() for _ in range(10)]
assert found == found[:1] * 10
show(found[0])
""",
        lambda truth: [truth.count, truth.name],
    ),
    "vllm_musa": (
        "The names of all cards, with an init before each question and no shutdown; a lost card's error",
        """
import pymtml as pynvml

def names():
    pynvml.nvmlInit()
    return [tried(name, index) for index in range(pynvml.nvmlDeviceGetCount())]

def name(index):
    pynvml.nvmlInit()
    return pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(index))

show(tried(names))
""",
        lambda truth: truth.each(truth.name),
    ),
    "vllm_musa_identity": (
        "Name, capability, driver and UUID of a card as a key of its tunings, by one init and no shutdown",
        """
import pymtml as pynvml

def identity(index):
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    name, uuid = pynvml.nvmlDeviceGetName(handle), pynvml.nvmlDeviceGetUUID(handle)
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    assert len(uuid.split("GPU-")[-1]) == 36 and pynvml.nvmlSystemGetDriverVersion() and (major, minor) > (1, 0)
    return name

show([tried(identity, index) for index in range(8)])
""",
        lambda truth: (
            [NO_DRIVER] * 8
            if not truth.count
            else truth.each(truth.name) + ["NVMLError_InvalidArgument"] * (8 - truth.count)
        ),
    ),
    "vllm_musa_mtml": (
        "The same by MTML's names in a module of its own, and the links of each device: those of the lost one fail",
        """
import pymtml

def links(index):
    device = pymtml.mtmlLibraryInitDeviceByIndex(index)
    assert pymtml.mtmlMemoryGetTotal(pymtml.mtmlDeviceInitMemory(device)) > 0
    try:
        count = pymtml.mtmlDeviceGetMtLinkSpec(device).linkNum
    except pymtml.MTMLError_NotSupported:
        count = 0
    states = [pymtml.mtmlDeviceGetMtLinkState(device, link) for link in range(count)]
    assert all(state == pymtml.MTML_MTLINK_STATE_UP for state in states)
    return pymtml.mtmlDeviceGetName(device)

def devices():
    pymtml.mtmlLibraryInit()
    found = [tried(links, index) for index in range(pymtml.mtmlLibraryCountDevice())]
    pymtml.mtmlLibraryShutDown()
    return found

show(tried(devices))
""",
        lambda truth: truth.each(truth.name, "MTMLError_Unknown", devices=True),
    ),
    "vllm_omni": (
        "Whether there is a card, by MTML's names, as sglang's diffusion runtime asks; without a driver MTML's error",
        """
import pymtml

def present():
    pymtml.mtmlLibraryInit()
    try:
        return pymtml.mtmlLibraryCountDevice() > 0
    finally:
        pymtml.mtmlLibraryShutDown()

show(tried(present))
""",
        lambda truth: True if truth.count else "MTMLError_DriverNotLoaded",
    ),
    "xinference": (
        "Whether there is a card, with a shutdown also where init failed",
        """
from pymtml import nvmlDeviceGetCount, nvmlInit, nvmlShutdown
count = 0
try:
    nvmlInit()
    count = nvmlDeviceGetCount()
except Exception:
    pass
finally:
    tried(nvmlShutdown)
show(count > 0)
""",
        lambda truth: truth.count > 0,
    ),
    "gpustack_runtime": (
        "Everything by a star, and one init for all: MTML's devices with their UUIDs; the first error again and again",
        """
from pymtml import *
original, problem = mtmlLibraryInit, []

def init():
    if not problem:
        problem.append(None)
        try:
            original()
        except Exception as error:
            problem[0] = error
            raise
    elif problem[0] is not None:
        raise problem[0]

(failure,) = {tried(init) for _ in range(3)}
if failure is None:
    uuid = lambda index: mtmlDeviceGetUUID(mtmlLibraryInitDeviceByIndex(index))
    found = [tried(uuid, index) for index in range(mtmlLibraryCountDevice())]
    assert len(set(found)) == len(found)
    show([uuid if "Error" in uuid else len(uuid) for uuid in found])
else:
    show(failure)
""",
        lambda truth: truth.each(36, "MTMLError_Unknown", devices=True),
    ),
    "rlinf": (
        "The count by MTML's names, and a second shutdown in the clean-up, which is refused and does no harm",
        """
import pymtml

def count():
    initialized = False
    try:
        pymtml.mtmlLibraryInit()
        initialized = True
        found = pymtml.mtmlLibraryCountDevice()
        pymtml.mtmlLibraryShutDown()
        return found
    except Exception:
        return 0
    finally:
        if initialized:
            said.append(tried(pymtml.mtmlLibraryShutDown))

said = []
show([count(), count(), said])
""",
        lambda truth: [truth.devices, truth.devices, ["MTMLError_Uninitialized"] * (2 if truth.count else 0)],
    ),
    "benchmark_runner": (
        "Each error says which name there is",
        """
import pymtml
told = {}
for name in ("mtmlInit", "mtmlDeviceGetCount", "mtmlDeviceGetByIndex", "mtmlDeviceGetHandleByIndex",
             "mtmlDeviceGetMemoryInfo", "mtmlShutdown"):
    try:
        getattr(pymtml, name)
    except AttributeError as error:
        told[name] = str(error).split("; MTML has ")[-1].split(" ")[0]
assert all(hasattr(pymtml, name) for name in told.values()), told
show(len(told))
""",
        lambda truth: 6,
    ),
}


@pytest.mark.parametrize("machine", sorted(MACHINES))
@pytest.mark.parametrize(
    "case, code, expected",
    [
        pytest.param({"program": IMPORTERS[way], "shows": shows}, code, expected, id=way)
        for way, (shows, code, expected) in ROWS.items()
    ],
)
def test_importer(case, code, expected, machine, runner, tmp_path):
    truth = Truth(machine)
    made = Machine(tmp_path, truth.profile)
    if truth.lost is not None:
        made.parser[made.sections[truth.lost]]["lost"] = "UNKNOWN"
        made.write()
    assert json.loads(runner.run([sys.executable, "-c", PRELUDE + code], runner.on_pymtml(made))) == expected(truth)
