"""Where the native library is looked for, and what is said when it is missing, foreign, or old."""

import inspect
import json
import os
import re
import shutil
import sys

import pytest
import simulated
from interpreter import PYPY, not_on_pypy
from native_calls import BEYOND
from simulated import run_python

import pymtml

S80 = os.path.join(simulated.PROFILES, "s80.ini")  # a copied simulator does not find its profiles by name
INIT = """
import pymtml
try:
    pymtml.mtmlLibraryInit()
except pymtml.MTMLError as error:
    print(type(error).__name__, error.value, error)
    raise SystemExit
print(pymtml.mtmlLibraryGetVersion(), pymtml.mtmlLibraryCountDevice())
"""


def run(code=INIT, unset=("LD_LIBRARY_PATH",), **environment):
    """stdout of a fresh process that is not told where the simulator is."""
    extra = dict({variable: "" for variable in unset}, **environment)
    result = run_python(code, name=S80, extra_environment=extra)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return result.stdout


def test_missing_library_for_every_function_that_needs_none_initialized():
    code = """
import pymtml
for call in (
    pymtml.mtmlLibraryInit,
    pymtml.mtmlLogGetConfiguration,
    lambda: pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t()),
    lambda: pymtml.mtmlErrorString(3),
    lambda: pymtml._mtmlGetFunctionPointer("mtmlLibraryInit"),
    pymtml.nvmlInit,
    lambda: pymtml.nvmlInitWithFlags(0),
):
    try:
        call()
    except pymtml.NVMLError_LibraryNotFound as error:
        print(error.value if "tried libmtml.so.2 (" in str(error) else error, end=" ")
for call in (pymtml.mtmlLibraryCountDevice, pymtml.mtmlLibraryShutDown, lambda: pymtml.mtmlDeviceGetName(None)):
    try:
        call()
    except pymtml.MTMLError_Uninitialized as error:
        print(error.value, end=" ")
"""
    assert run(code).split() == ["670"] * 5 + ["12"] * 2 + ["666"] * 3


@pytest.mark.parametrize("name", ["libmtml.so.2", "libmtml.so"])
def test_names_that_the_dynamic_loader_is_asked_for(tmp_path, name):
    shutil.copy(simulated.LIBRARY, str(tmp_path / name))
    assert run(LD_LIBRARY_PATH=str(tmp_path), unset=()) == "2.2.0-simulator 1\n"


def test_first_name_wins(tmp_path):
    shutil.copy(simulated.LIBRARY, str(tmp_path / "libmtml.so.2"))
    shutil.copy(simulated.MUSA_LIBRARY, str(tmp_path / "libmtml.so"))  # a library, but not the one
    assert run(LD_LIBRARY_PATH=str(tmp_path), unset=()) == "2.2.0-simulator 1\n"
    (tmp_path / "libmtml.so.2").write_text("not a library either")
    (tmp_path / "libmtml.so").unlink()
    shutil.copy(simulated.LIBRARY, str(tmp_path / "libmtml.so"))
    assert run(LD_LIBRARY_PATH=str(tmp_path), unset=()) == "2.2.0-simulator 1\n"
    shutil.copy(simulated.MUSA_LIBRARY, str(tmp_path / "libmtml.so.2"))  # a library, but again not the one
    assert run(LD_LIBRARY_PATH=str(tmp_path), unset=()) == "2.2.0-simulator 1\n"


def test_variable_names_a_file_of_any_name(tmp_path):
    path = tmp_path / "a library, caf\u00e9.bin"
    shutil.copy(simulated.LIBRARY, str(path))
    assert run(PYMTML_LIBRARY=str(path)) == "2.2.0-simulator 1\n"


def test_empty_variable_counts_as_unset():
    assert run(PYMTML_LIBRARY="", LD_LIBRARY_PATH=simulated.BUILD, unset=()) == "2.2.0-simulator 1\n"


def test_library_that_appears_later(tmp_path):
    code = """
import os, pymtml, shutil, sys
for _ in range(2):
    try:
        pymtml.mtmlLibraryInit()
    except pymtml.MTMLError_LibraryNotFound as error:
        print("missing" if "No such file" in str(error) else "no library")
    open(os.environ["PYMTML_LIBRARY"], "w").close()
shutil.copy(sys.argv[1], os.environ["PYMTML_LIBRARY"])
pymtml.mtmlLibraryInit()
print(pymtml.mtmlLibraryCountDevice())
"""
    result = run_python(
        code,
        simulated.LIBRARY,
        name=S80,
        extra_environment={"PYMTML_LIBRARY": str(tmp_path / "libmtml.so"), "LD_LIBRARY_PATH": ""},
    )
    assert (result.stdout, result.stderr) == ("missing\nno library\n1\n", "")


def test_search_on_windows(tmp_path):
    """What is asked for, in this order, by a stand-in for ctypes: safe places, then what is absolute on PATH."""
    code = """
import os, sys
sys.path.insert(0, %r)
import pymtml
sys.platform = "win32"
def load(name):
    asked.append(name)
    raise OSError("not here")
pymtml.CDLL, asked = load, []
os.chdir(%r)
try:
    pymtml.mtmlLibraryInit()
except pymtml.MTMLError_LibraryNotFound as error:
    print(*asked, all(name in str(error) for name in asked), sep="|")
""" % (simulated.ROOT, str(tmp_path))
    for folder in ("first", "second", "relative"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mtml.dll").write_text("")
    (tmp_path / "third" / "mtml.dll").mkdir(parents=True)
    (tmp_path / "mtml.dll").write_text("")  # the current folder, which an empty entry would mean
    path = os.pathsep.join(["", "relative"] + [str(tmp_path / name) for name in ("none", "third", "second", "first")])
    windows = os.path.join(str(tmp_path), "System32", "mtml.dll")
    found = ["%s" % (tmp_path / name / "mtml.dll") for name in ("second", "first")]
    assert run(code, WINDIR=str(tmp_path), PATH=path).strip().split("|") == ["mtml.dll", windows] + found + ["True"]
    assert os.path.join("C:\\Windows", "System32", "mtml.dll") in run("import os; os.environ.pop('WINDIR', 0)" + code)


def test_library_on_windows(tmp_path):
    """The first file that is an MTML library; ctypes itself is Linux's here."""
    code = "import pymtml, sys; sys.platform = 'win32'\n" + INIT
    shutil.copy(simulated.LIBRARY, str(tmp_path / "mtml.dll"))
    assert run(code, PATH=str(tmp_path), WINDIR=str(tmp_path / "none")) == "2.2.0-simulator 1\n"
    (tmp_path / "System32").mkdir()
    (tmp_path / "mtml.dll").rename(tmp_path / "System32" / "mtml.dll")
    assert run(code, PATH="", WINDIR=str(tmp_path)) == "2.2.0-simulator 1\n"


def test_import_neither_loads_nor_fails():
    code = """
import pymtml
maps = open("/proc/self/maps").read()
print("libmtml" in maps, "libmusa" in maps, pymtml.nvmlLib)
"""
    assert run(code, unset=()) == "False False None\n"


# ---- Old libraries ----

MISSING = simulated.missing_functions("old-library")
OLD = """
import json, pymtml
pymtml.mtmlLibraryInit()
device = pymtml.mtmlLibraryInitDeviceByIndex(0)
answers = {}
for name, arguments in json.loads(%r).items():
    try:
        answers[name] = getattr(pymtml, name)(device, *arguments)
    except pymtml.MTMLError as error:
        answers[name] = [type(error).__name__, error.value, isinstance(error, pymtml.NVMLError_FunctionNotFound)]
    try:
        getattr(pymtml, name)(None, *arguments)
    except pymtml.MTMLError as error:
        answers[name + "(None)"] = type(error).__name__
    try:
        pymtml._mtmlGetFunctionPointer(name)
    except pymtml.MTMLError as error:
        answers[name + " pointer"] = type(error).__name__
answers["present"] = [pymtml.mtmlDeviceGetName(device), pymtml.mtmlLibraryGetVersion()]
pymtml.mtmlLibraryShutDown()
print(json.dumps(answers))
"""


def test_functions_that_an_old_library_lacks():
    assert len(MISSING) == 12 + len(BEYOND) and set(BEYOND) <= set(MISSING)
    arguments = {name: [0] * (len(inspect.signature(getattr(pymtml, name)).parameters) - 1) for name in MISSING}
    result = run_python(OLD % json.dumps(arguments), name="old-library")
    assert (result.returncode, result.stderr) == (0, "")
    answers = json.loads(result.stdout)
    for name in MISSING:
        assert (name, answers[name]) == (name, ["MTMLError_FunctionNotFound", 667, True])
        assert (name, answers[name + "(None)"]) == (name, "MTMLError_InvalidArgument")
        assert (name, answers[name + " pointer"]) == (name, "MTMLError_FunctionNotFound")
    assert answers["present"] == ["MTT S3000", simulated.profile("old-library")["machine"]["library_version"]]


FOUND = """
import pymtml
found = []
for name in list(pymtml._PROTOTYPES) + list(pymtml._OPTIONAL_PROTOTYPES):
    try:
        pymtml._mtmlGetFunctionPointer(name)
    except pymtml.MTMLError_FunctionNotFound:
        continue
    found.append(name)
print(" ".join(found))
"""


@pytest.mark.parametrize("table", ["_PROTOTYPES", "_OPTIONAL_PROTOTYPES"])
def test_function_that_is_missing_hides_no_other(table):
    """Each function that stands behind a missing one, here the first of its table that can be missed, is found."""
    everything = list(pymtml._PROTOTYPES) + list(pymtml._OPTIONAL_PROTOTYPES)
    missing = next(name for name in getattr(pymtml, table) if name not in ("mtmlLibraryInit", "mtmlLibraryShutDown"))
    result = run_python(FOUND, name="s80", set="machine.missing=" + missing)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.split() == [name for name in everything if name != missing]


TWO_THREADS = """
import threading, time, pymtml
load, loaded = pymtml.CDLL, []

def slowly(name):
    loaded.append(name)
    time.sleep(0.2)
    return load(name)

pymtml.CDLL = slowly
threads = [threading.Thread(target=pymtml._mtmlGetFunctionPointer, args=("mtmlLibraryInit",)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(loaded.count("libmtml.so.2"), pymtml._session.cdll is not None)
"""


def test_threads_that_want_the_library_at_once_load_it_once():
    result = run_python(TWO_THREADS, name="s80")
    assert (result.stdout, result.stderr) == ("1 True\n", "")


def s80(key):
    """Value of a key of the card, as the profile writes it."""
    return simulated.device_keys("s80", 0)[key]


def card():
    pymtml.nvmlInit()
    return pymtml.nvmlDeviceGetHandleByIndex(0)


NOT_FOUND = "MTMLError_FunctionNotFound"
ANSWERS = [  # (function that a library lacks, what it is asked, what is printed: the answer or the class of the error)
    # MTML's functions say so.
    ("mtmlErrorString", "mtmlErrorString(3)", NOT_FOUND),
    ("mtmlLogGetConfiguration", "mtmlLogGetConfiguration()", NOT_FOUND),
    ("mtmlDeviceInitGpu", "mtmlDeviceInitGpu(card())", NOT_FOUND),
    ("mtmlDeviceInitVpu", "mtmlVpuGetClock(card())", NOT_FOUND),
    ("mtmlLibraryInitSystem", "card(), mtmlSystemGetDriverVersion()", NOT_FOUND),
    ("mtmlLibraryCountDevice", "card(), mtmlLibraryCountDevice()", NOT_FOUND),
    ("mtmlLibraryShutDown", "card(), mtmlLibraryShutDown()", NOT_FOUND),
    ("mtmlDeviceGetTopologyLevel", "mtmlDeviceGetTopologyLevel(card(), card())", NOT_FOUND),
    ("mtmlDeviceSetMpcMode", "mtmlDeviceSetMpcMode(card(), 0)", NOT_FOUND),
    ("mtmlLibrarySetMpcConfigurationInBatch", "mtmlLibrarySetMpcConfigurationInBatch([card()], [0])", NOT_FOUND),
    # For NVML's it is a question that the library cannot answer,
    ("mtmlDeviceGetBrand", "nvmlDeviceGetBrand(card())", "NVMLError_NotSupported"),
    ("mtmlDeviceCountGpuCores", "nvmlDeviceGetNumGpuCores(card())", "NVMLError_NotSupported"),
    ("mtmlMemoryGetBusWidth", "nvmlDeviceGetMemoryBusWidth(card())", "NVMLError_NotSupported"),
    ("mtmlDeviceGetMtLinkSpec", "nvmlDeviceGetNvLinkState(card(), 0)", "NVMLError_NotSupported"),
    # unless another function answers it,
    ("mtmlDeviceGetMtBiosVersion", "nvmlDeviceGetVbiosVersion(card())", s80("mtbios_version")),
    ("mtmlDeviceGetProperty", "nvmlDeviceGetPowerUsage(card())", s80("power_usage")),
    ("mtmlDeviceGetMusaComputeCapability", "nvmlDeviceGetCudaComputeCapability(card())", "(2, 1)"),
    # or only part of an answer is left out, as where the card does not tell it.
    (
        "mtmlVpuGetUtilization",
        "[domain.bIsPresent for domain in nvmlDeviceGetDynamicPstatesInfo(card()).utilization]",
        "[1, 1, 0, 0, 0, 0, 0, 0]",
    ),
    (
        "mtmlGpuGetTemperatureThreshold",
        "[(s.target, s.currentTemp, s.defaultMaxTemp) for s in nvmlDeviceGetThermalSettings(card(), 0)[:1]]",
        "[(1, %s, 0)]" % s80("gpu_temperature"),
    ),
]


@pytest.mark.parametrize("lacking, asked, answer", ANSWERS, ids=[row[0] for row in ANSWERS])
def test_library_that_lacks_a_function(lacking, asked, answer, monkeypatch):
    pymtml._mtmlGetFunctionPointer("mtmlLibraryInit")  # loads the library
    monkeypatch.setattr(pymtml, "_mtmlGetFunctionPointer_cache", {})
    monkeypatch.delitem(pymtml._functions, lacking)
    with simulated.machine("s80"):
        try:
            found = str(eval(asked, dict(vars(pymtml), card=card)))
        except pymtml.MTMLError as error:
            found = type(error).__name__
        monkeypatch.undo()
        assert found == answer
        simulated.shut_down()


# Every variable that the module reads, with what no program would put there
JUNK = {
    "not UTF-8": b"/\xd3\xc3\xbb\xa7/x",
    "empty": b"",
    "huge": b"x" * 100000,
    "control characters": b"\x01\n\x1b[31m%s%n\xff",
    "no folder": b"/dev/zero",
}
READS = """
import pymtml
calls = [pymtml.nvmlInit, pymtml.nvmlDeviceGetCount, pymtml.nvmlSystemGetCudaDriverVersion, pymtml.musa_visible_ids]
calls += [pymtml.musa_visible_devices, lambda: pymtml.nvmlSystemGetProcessName(1)]
calls += [lambda name=name: getattr(pymtml, name)(pymtml.nvmlDeviceGetHandleByIndex(0)) for name in (
    "nvmlDeviceGetUUID nvmlDeviceGetNumaNodeId nvmlDeviceGetComputeRunningProcesses nvmlDeviceGetDisplayMode"
    " nvmlDeviceGetTotalEnergyConsumption nvmlDeviceGetSupportedEventTypes nvmlDeviceGetIrqNum").split()]
for call in calls + [pymtml.nvmlShutdown]:
    try:
        call()
    except pymtml.NVMLError as error:
        str(error).encode()
        print(type(error).__name__)
"""


@pytest.mark.parametrize("of_the_library", [True, False])
@pytest.mark.parametrize("junk", JUNK)
def test_what_junk_in_the_environment_comes_to(junk, of_the_library):
    """An NVMLError, whose text can be written, or nothing."""
    if PYPY and (junk == "no folder" or of_the_library and junk in ("not UTF-8", "control characters")):
        pytest.skip(not_on_pypy.path.kwargs["reason"])
    with open(pymtml.__file__, encoding="utf-8") as file:
        names = set(re.findall(r'"((?:PYMTML|MUSA)_[A-Z_]+)"', file.read()))
    assert len(names) >= 9
    environment = {os.fsencode(key): os.fsencode(value) for key, value in simulated.environment("s80").items()}
    environment.update((name.encode(), JUNK[junk]) for name in names if (name == "PYMTML_LIBRARY") == of_the_library)
    done = simulated.run([sys.executable, "-c", READS], env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    missing = of_the_library and junk != "empty"
    assert ("NVMLError_LibraryNotFound" in done.stdout) == missing
