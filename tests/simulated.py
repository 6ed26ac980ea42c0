"""The simulated machine that tests run on: built if need be, chosen by profile, changed while it runs.

Importing this module points pymtml of this process at the simulator; `run_python` starts other processes on it.
"""

import contextlib
import ctypes
import functools
import json
import os
import subprocess
import sys
import time

import profiles

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "simulator", os.environ.get("SIM_TEST_BUILD", "build"))
PROFILES = profiles.FOLDER
LIBRARY = os.path.join(BUILD, "libmtml.so.2")
MUSA_LIBRARY = os.path.join(BUILD, "libmusa.so.1")
NODES_LIBRARY = os.path.join(BUILD, "libmtgpu_nodes.so")  # to be preloaded, see simulator/src/nodes.c
MACHINE = 0xFFFFFFFF
# For mtml_simulator.driver_files, also where pytest has not put it there.
sys.path.append(os.path.join(ROOT, "simulator", "python"))
# Two cards on which no two numbers are the same.
DISTINCT = os.path.join(ROOT, "tests", "distinct.ini")
ALL_PROFILES = sorted(name[:-4] for name in os.listdir(PROFILES) if name.endswith(".ini"))
VARIABLES = "PROFILE FAULTS FROZEN LATENCY_NS LENIENT MUSA_VERSION NODES SET TRACE".split()
VARIABLES = ["MTML_SIM_" + name for name in VARIABLES]


def run(command, **options):
    """A command's process after it ended, with what it wrote as text (CompletedProcess)."""
    options = dict({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 300}, **options)
    return subprocess.run(command, universal_newlines=True, **options)


def build():
    """Build the simulator.

    Raises: RuntimeError with the compiler's words.
    """
    result = run(["make", "-s", "-C", os.path.join(ROOT, "simulator")], stderr=subprocess.STDOUT, timeout=None)
    if result.returncode:
        raise RuntimeError("the simulator does not build: %s" % result.stdout.strip())


build()
os.environ["PYMTML_LIBRARY"] = LIBRARY
os.environ["PYMTML_KEEP_LIBRARY"] = "0"  # the machine changes from test to test; those of life set what they are about
os.environ["PYMTML_MUSA_LIBRARY"] = MUSA_LIBRARY

library = ctypes.CDLL(LIBRARY)
library.mtmlSimGetCallCount.restype = ctypes.c_longlong
library.mtmlSimGetCallCount.argtypes = [ctypes.c_char_p]
library.mtmlSimSet.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_char_p]
library.mtmlSimGet.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
library.mtmlSimSetFaults.argtypes = [ctypes.c_char_p]


def set_value(device, key, value):
    """Change a profile key of a device (or of MACHINE) while the simulator runs."""
    assert library.mtmlSimSet(device, key.encode(), str(value).encode()) == 0, (device, key, value)


def get_value(device, key):
    """Base value of a profile key, as the profile would write it."""
    buffer = ctypes.create_string_buffer(4096)
    assert library.mtmlSimGet(device, key.encode(), buffer, len(buffer)) == 0, (device, key)
    return buffer.value.decode()


def instance(card, index):
    """Number of an MPC instance for set_value and get_value."""
    return card | (index + 1) << 8


def set_faults(text):
    """Arm faults from now on, in the syntax of MTML_SIM_FAULTS; an empty text disarms them."""
    assert library.mtmlSimSetFaults(text.encode()) == 0, text


def references():
    """Inits of the native library that no shutdown has matched yet."""
    return library.mtmlSimGetLibraryReferences()


def calls(function=None):
    """Native calls of a function, or of all, since loading or reset_calls()."""
    return library.mtmlSimGetCallCount(None if function is None else function.encode())


def reset_calls():
    """Begin counting native calls anew."""
    library.mtmlSimResetCallCounts()


@functools.lru_cache(maxsize=None)
def profile(name):
    """A profile as its file has it ({section: {key: value}}, the same each time: not to be changed)."""
    parser = profiles.read(name)
    return {section: dict(parser[section]) for section in parser.sections()}


def device_keys(name, index):
    """All keys of one card of a profile: those of its own section on top of those that all cards share (dict)."""
    sections = profile(name)
    keys = dict(sections.get("device", {}))
    keys.update(sections["device.%d" % index])
    return keys


def _forget_machine(name):
    """Drop the machine in use: a simulator that is asked for the same one again keeps what set_value changed."""
    os.environ["MTML_SIM_PROFILE"] = "s80" if name == "empty" else "empty"
    pointer = ctypes.c_void_p()
    assert library.mtmlLibraryInit(ctypes.byref(pointer)) == 0
    assert library.mtmlLibraryShutDown(pointer) == 0


@contextlib.contextmanager
def machine(name="s5000x8", frozen=True, **variables):
    """Make this process's next initialization see a machine as its profile has it.

    Variables as in faults="..." for MTML_SIM_FAULTS.
    """
    assert references() == 0, "the library must be shut down before the machine changes"
    before = {variable: os.environ.pop(variable, None) for variable in VARIABLES}
    _forget_machine(name)
    os.environ["MTML_SIM_PROFILE"] = name + "+frozen" if frozen else name
    for key, value in variables.items():
        os.environ["MTML_SIM_" + key.upper()] = str(value)
    try:
        yield
    finally:
        set_faults("")
        for variable, value in before.items():
            os.environ.pop(variable, None)
            if value is not None:
                os.environ[variable] = value


def state():
    """(references of the module, native references)."""
    import pymtml

    return pymtml._nvmlLib_refcount, references()


def shut_down():
    """Give back all references to the library, also one that pymtml itself keeps."""
    import pymtml  # which may be the vendor's, that counts nothing

    before = os.environ.pop("PYMTML_KEEP_LIBRARY", None)
    end = time.monotonic() + 2
    try:
        while True:
            if references() and not getattr(pymtml, "_nvmlLib_refcount", 1):
                pymtml.mtmlLibraryInit()
            while getattr(pymtml, "_nvmlLib_refcount", references()):
                pymtml.mtmlLibraryShutDown()
            if not references() or time.monotonic() > end:
                break
            time.sleep(0.01)  # another thread was in the middle of a query, for which pymtml keeps the library
    finally:
        if before is not None:
            os.environ["PYMTML_KEEP_LIBRARY"] = before


@contextlib.contextmanager
def nvml(name="s5000x8", **options):
    """An initialized facade on a machine (module pymtml), shut down afterwards however often it was initialized."""
    import pymtml

    with machine(name, **options):
        pymtml.nvmlInit()
        try:
            yield pymtml
        finally:
            set_faults("")
            shut_down()


def rewritten(name, old, new, folder):
    """Path of a profile in a folder that is another one's, with a text replaced."""
    with open(os.path.join(PROFILES, name + ".ini"), encoding="utf-8") as file:
        text = file.read()
    assert old in text
    path = folder / "machine.ini"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return str(path)


def missing_functions(name):
    """Functions that a machine's library does not export (list)."""
    words = [word.strip() for word in profile(name)["machine"].get("missing", "").split(",") if word.strip()]
    if "beyond-header" in words:
        with open(os.path.join(ROOT, "facts", "mtml_api.json"), encoding="utf-8") as file:
            functions = json.load(file)["functions"]
        words += [function for function, facts in functions.items() if facts["since"] != "2.2.0"]
    return [word for word in words if word != "beyond-header"]


def header_only_setting(name):
    """Setting by which a machine's library lacks the functions that the 2.2.0 header does not declare (str)."""
    return "machine.missing=" + ", ".join(filter(None, [profile(name)["machine"].get("missing"), "beyond-header"]))


def shim(folder, source):
    """A library of a C text, which is the simulator in all that the text does not define (path)."""
    path = str(folder / "shim")
    (folder / "shim.c").write_text(source)
    run(
        ["cc", "-shared", "-fPIC", "-Wl,--no-as-needed", "-Wl,-rpath," + BUILD, "-o", path + ".so", path + ".c"]
        + ["-L" + BUILD, "-l:libmtml.so.2", "-ldl"],
        check=True,
    )
    return path + ".so"


def environment(name="s5000x8", frozen=True, header_only=False, **variables):
    """Environment for another process on a simulated machine (dict)."""
    if header_only:
        variables["set"] = ";".join(filter(None, [variables.get("set"), header_only_setting(name)]))
    env = {key: value for key, value in os.environ.items() if not key.startswith(("MTML_SIM_", "PYMTML_"))}
    env.update((key, value) for key, value in os.environ.items() if key == "PYMTML_KEEP_LIBRARY")
    env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [BUILD, env.get("LD_LIBRARY_PATH")]))
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [ROOT, env.get("PYTHONPATH")]))
    env["MTML_SIM_PROFILE"] = name + "+frozen" if frozen else name
    env.update(("MTML_SIM_" + key.upper(), str(value)) for key, value in variables.items())
    return env


def run_python(code, *arguments, **options):
    """Run a Python text in a fresh process on a simulated machine (CompletedProcess; options as for environment)."""
    extra = options.pop("extra_environment", {})
    env = environment(**options)
    env.update(extra)
    return run([sys.executable, "-c", code] + list(arguments), env=env)
