"""The type stub of the wheel: it has every name, on every Python the same, and checkers accept and refuse by it."""

import ctypes
import json
import os
import shutil
import subprocess
import sys

import pytest
import simulated
from test_interpreters import VERSIONS, interpreter

GENERATOR = os.path.join(simulated.ROOT, "tools", "generate_stub.py")
SOURCES = [os.path.join(simulated.ROOT, "pymtml.py"), os.path.join(simulated.ROOT, "facts", "nvml_surface.json")]

RIGHT = '''
"""A program over both layers, with nothing that a strict checker could take amiss."""

import ctypes
from typing import List, Optional, Tuple

import pymtml
import pymtml as pynvml
from pymtml import NVMLError, mtmlLibraryInit, mtmlLibraryShutDown


def native() -> List[Tuple[str, int]]:
    mtmlLibraryInit()
    found: List[Tuple[str, int]] = []
    count: int = pymtml.mtmlLibraryCountDevice()
    for index in range(count):
        device = pymtml.mtmlLibraryInitDeviceByIndex(index)
        memory = pymtml.mtmlDeviceInitMemory(device)
        used: int = pymtml.mtmlMemoryGetUsed(memory)
        used = pymtml.mtmlMemoryGetUsed(device)
        name: str = pymtml.mtmlDeviceGetName(device)
        found.append((name, used))
    driver: str = pymtml.mtmlSystemGetDriverVersion()
    found.append((driver, pymtml.MTML_ERROR_UNKNOWN))
    mtmlLibraryShutDown()
    return found


def facade(uuid: str, raw: bytes) -> Optional[int]:
    pynvml.nvmlInit()
    handle: pynvml.c_nvmlDevice_t = pynvml.nvmlDeviceGetHandleByIndex(0)
    pynvml.nvmlDeviceGetHandleByUUID(uuid)
    pynvml.nvmlDeviceGetHandleByUUID(raw)
    memory: pynvml.c_nvmlMemory_t = pynvml.nvmlDeviceGetMemoryInfo(handle)
    newer: pynvml.c_nvmlMemory_v2_t = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    total: int = memory.total + newer.reserved
    try:
        total += int(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))
    except pynvml.NVMLError_NotSupported as error:
        code: int = error.value
        behind: Optional[int] = error.mtml_code
        total += code + (behind or 0)
    except NVMLError:
        raise
    rates: List[int] = pynvml.nvmlDeviceGetEncoderUtilization(handle)
    total += rates[0] + pynvml.nvmlDeviceGetPciInfo(handle).segment
    pci: pynvml.nvmlPciInfo_t = pynvml.nvmlDeviceGetPciInfo(handle)
    text: str = pci.busId
    friendly = pynvml.nvmlStructToFriendlyObject(pci)
    total += len(text) + friendly.bus
    late: int = pynvml.c_nvmlAccountingStats_t().gpuUtilization
    field = pynvml.c_nvmlFieldValue_t(fieldId=pynvml.NVML_FI_DEV_NVLINK_LINK_COUNT)
    value: float = field.value.dVal
    number = pynvml.c_uint(7)
    pointer = pynvml.byref(number)
    ctypes.memset(ctypes.addressof(number), 0, ctypes.sizeof(number))
    pynvml.nvmlShutdown()
    return total + late if pointer and value is not None else None
'''

PREAMBLE = """
import pymtml
import pymtml as pynvml

handle = pynvml.nvmlDeviceGetHandleByIndex(0)
device: pymtml.c_mtmlDevice_t = handle
memory = pynvml.c_nvmlMemory_t()
gpu: pymtml.c_mtmlGpu_t
"""

# Each is one mistake; by what a checker's message names it.
WRONG = {
    "pynvml.nvmlDeviceGetNaem(device)": "nvmlDeviceGetNaem",
    "pymtml.mtmlLibraryInnit()": "mtmlLibraryInnit",
    "pynvml.NVML_TEMPERATUR_GPU": "NVML_TEMPERATUR_GPU",
    "pynvml.NVMLError_NotSuported": "NVMLError_NotSuported",
    "from pymtml import mtmlDeviceGetNam": "mtmlDeviceGetNam",
    "memory.totl": "totl",
    "memory.usd = 5": "usd",
    "memory.used = 'much'": "",
    "pynvml.c_nvmlFieldValue_t().value.dval": "dval",
    "pynvml.c_nvmlAccountingStats_t().gpuUtilisation": "gpuUtilisation",
    "pynvml.nvmlStructToFriendlyObject(memory).totl": "totl",
    "memory.total.upper()": "upper",
    "pynvml.nvmlDeviceGetMemoryInfo(device).reserved": "reserved",
    "pynvml.nvmlDeviceGetUtilizationRates(device).gpus": "gpus",
    "pynvml.nvmlDeviceGetPciInfo(device).sbdf + 1": "",
    "pymtml.mtmlDeviceGetName(device) + 1": "",
    "pynvml.nvmlDeviceGetName('0')": "nvmlDeviceGetName",
    "pynvml.nvmlDeviceGetName(0)": "nvmlDeviceGetName",
    "pynvml.nvmlDeviceGetHandleByIndex('0')": "nvmlDeviceGetHandleByIndex",
    "pynvml.nvmlDeviceGetHandleByUUID(5)": "nvmlDeviceGetHandleByUUID",
    "pymtml.mtmlDeviceGetName(memory)": "mtmlDeviceGetName",
    "pymtml.mtmlMemoryGetTotal(5)": "mtmlMemoryGetTotal",
    "pynvml.nvmlDeviceGetTemperature(device, 'gpu')": "nvmlDeviceGetTemperature",
    "pynvml.nvmlDeviceGetName()": "",
    "pynvml.nvmlDeviceGetName(device, 1)": "",
    "pynvml.nvmlDeviceGetName(device=device)": "",
    "pynvml.nvmlInit(1, 2)": "",
}


@pytest.fixture(scope="module")
def stub():
    return subprocess.check_output([sys.executable, GENERATOR] + SOURCES, universal_newlines=True)


@pytest.fixture(scope="module")
def package(stub, tmp_path_factory):
    """A folder with the package as the wheel installs it."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "pymtml").mkdir()
    (folder / "pymtml" / "__init__.pyi").write_text(stub)
    (folder / "pymtml" / "py.typed").write_text("")
    shutil.copy(SOURCES[0], str(folder / "pymtml" / "__init__.py"))
    return folder


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_every_python_writes_the_same(stub, version):
    python = interpreter(version)
    if python is None:
        pytest.skip("there is no Python %s on this machine" % version)
    command = [python, "-W", "error", GENERATOR] + SOURCES
    assert subprocess.check_output(command, universal_newlines=True) == stub


# ---- checkers ----


def mypy(package, *arguments):
    pytest.importorskip("mypy")
    return simulated.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-color-output"] + list(arguments),
        cwd=str(package.parent),
        env=dict(os.environ, MYPYPATH=str(package), MYPY_CACHE_DIR=str(package.parent / "cache")),
        stderr=subprocess.STDOUT,
    )


def pyright(package, *arguments):
    pytest.importorskip("basedpyright")
    configuration = package.parent / "pyrightconfig.json"
    configuration.write_text(json.dumps({"typeCheckingMode": "standard", "extraPaths": [str(package)]}))
    return simulated.run(
        [sys.executable, "-m", "basedpyright", "--project", str(configuration), "--level", "error"] + list(arguments),
        cwd=str(package.parent),
        stderr=subprocess.STDOUT,
    )


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_right_program(checker, package, tmp_path):
    program = tmp_path / "right.py"
    program.write_text(RIGHT)
    done = checker(package, str(program))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_wrong_programs(checker, package, tmp_path):
    """All mistakes in one file, each on a line of its own; every one is reported, and nothing else is."""
    program = tmp_path / "wrong.py"
    program.write_text(PREAMBLE + "".join(line + "\n" for line in WRONG))
    first = PREAMBLE.count("\n") + 1
    done = checker(package, str(program))
    assert done.returncode == 1
    reported = {}
    for line in done.stdout.splitlines():
        parts = line.strip().split(":")
        if len(parts) > 2 and parts[0].endswith("wrong.py") and parts[1].isdigit() and " error" in line:
            reported.setdefault(int(parts[1]), line)
    for number, (line, named) in enumerate(WRONG.items(), first):
        assert named in reported.pop(number, "not reported"), (line, done.stdout)
    assert reported == {}


def test_the_stub_against_the_module(package):
    """mypy's own comparison of stub and module: names, fields of structs, parameters and which may be left out."""
    pytest.importorskip("mypy")
    allowed = package.parent / "allowed.txt"
    # On this system c_ulonglong is another name of c_ulong; __all__ is made when somebody asks for it; the stub takes
    # from the structs what ctypes' own stub gives them; what ctypes has, and its stub says, differs between versions.
    lines = [r"pymtml\.__all__", r"pymtml\.NVML_VALUE_NOT_AVAILABLE_ulonglong", r"pymtml\..*\.__[gs]etattr__"]
    lines += [r"pymtml\.%s(\..*)?" % name for name in dir(ctypes) if not name.startswith("_")]
    allowed.write_text("".join(line + "\n" for line in lines))
    done = simulated.run(
        [sys.executable, "-m", "mypy.stubtest", "pymtml", "--concise", "--ignore-unused-allowlist"]
        + ["--allowlist", str(allowed)],
        cwd=str(package),
        env=dict(os.environ, MYPY_CACHE_DIR=str(package.parent / "cache")),
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "code, names",
    [
        ("import pymtml\npymtml.c_nvmlMemory_t().", {"total", "used", "free"}),
        ("import pymtml as pynvml\npynvml.c_nvmlAccountingStats_t().", {"gpuUtilization", "maxMemoryUsage", "time"}),
        ("import pymtml\npymtml.mtmlDeviceGetN", {"mtmlDeviceGetName"}),
        ("import pymtml\npymtml.NVML_TEMPERATURE_G", {"NVML_TEMPERATURE_GPU"}),
    ],
)
def test_completion(package, code, names, monkeypatch):
    """jedi, which completes in IPython and many editors."""
    jedi = pytest.importorskip("jedi")
    monkeypatch.setattr(jedi.settings, "cache_directory", str(package.parent / "jedi"))  # others may write their own
    project = jedi.Project(str(package), sys_path=[str(package)], smart_sys_path=False)
    found = {completion.name for completion in jedi.Script(code, project=project).complete()}
    assert names <= found
