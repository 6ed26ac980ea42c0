"""The C interface as the tests see it: read from the header and the recorded interface, called through plain ctypes."""

import ctypes
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SIMULATOR = os.path.dirname(HERE)
ROOT = os.path.dirname(SIMULATOR)
BUILD = os.path.join(SIMULATOR, os.environ.get("SIM_TEST_BUILD", "build"))
LIBRARY_PATH = os.path.join(BUILD, "libmtml.so.2")
MUSA_LIBRARY = os.path.join(BUILD, "libmusa.so.1")

sys.path.append(os.path.join(ROOT, "tests"))
import profiles  # noqa: E402

PROFILES = profiles.FOLDER

# Run by themselves, the tests must not pass on what an older source was built to; the Makefile has built by then.
if "SIM_TEST_BUILD" not in os.environ:
    subprocess.run(["make", "-s", "-C", SIMULATOR], check=True)

with open(os.path.join(ROOT, "facts", "mtml_api.json")) as file:
    API = json.load(file)

FUNCTIONS = {name: function for name, function in API["functions"].items() if function["since"] != "undocumented"}
# What libraries export beyond the 2.2.0 header, the functions of later versions among it.
BEYOND = {name: function for name, function in API["functions"].items() if function["since"] != "2.2.0"}
CODES = {name.replace("MTML_", "").replace("ERROR_", ""): value for name, value in API["enums"]["MtmlReturn"].items()}
CODE_NAMES = {value: name for name, value in CODES.items()}
SUCCESS = 0
ENUMS = {name: value for values in API["enums"].values() for name, value in values.items()}
HANDLES = {"MtmlLibrary", "MtmlSystem", "MtmlDevice", "MtmlGpu", "MtmlMemory", "MtmlVpu"}
MACHINE = 0xFFFFFFFF


def instance_number(card, instance):
    return card | (instance + 1) << 8


def virt_number(card, virt):
    return card | (virt + 1) << 16


def header_functions():
    """The functions that the header declares, read from its text."""
    with open(os.path.join(ROOT, "mtml_2.2.0.h")) as header:
        text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
    return re.findall(r"MTML_API[^;]*?\b(mtml\w+)\s*\(", text)


def _struct(name):
    scalars = {
        "char": ctypes.c_char,
        "int": ctypes.c_int,
        "unsigned int": ctypes.c_uint,
        "unsigned long long": ctypes.c_ulonglong,
        "float": ctypes.c_float,
    }

    def field(entry):
        if entry["ctype"].startswith("struct"):
            inner = type("Inner", (ctypes.Structure,), {"_fields_": [field(f) for f in entry["fields"]]})
            return entry["name"], inner
        if entry["ctype"].startswith("void (*)"):
            return entry["name"], LOG_CALLBACK
        kind = scalars.get(entry["ctype"], ctypes.c_uint)
        if "bit_width" in entry:
            return entry["name"], kind, entry["bit_width"]
        return entry["name"], kind * entry["count"] if "count" in entry else kind

    description = API["structs"][name]
    struct = type(name, (ctypes.Structure,), {"_fields_": [field(f) for f in description["fields"]]})
    size = ctypes.sizeof(struct)
    assert size == description["size"], "facts/mtml_api.json, %s: `size` is %d by its fields" % (name, size)
    return struct


LOG_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint)
STRUCTS = {name: _struct(name) for name in API["structs"]}


def load(path=LIBRARY_PATH):
    library = ctypes.CDLL(path)
    library.mtmlSimGetCallCount.restype = ctypes.c_longlong
    library.mtmlSimGet.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    library.mtmlSimSet.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_char_p]
    library.mtmlErrorString.restype = ctypes.c_char_p
    return library


LIBRARY = load()


class Failure(Exception):
    """A call that did not succeed."""

    def __init__(self, name, code):
        super().__init__("%s: %s" % (name, CODE_NAMES.get(code, code)))
        self.code = code
        self.reason = CODE_NAMES.get(code, code)


def raw(name, *arguments):
    """The return code of a call."""
    return getattr(LIBRARY, name)(*arguments)


def call(name, *arguments):
    code = raw(name, *arguments)
    if code != SUCCESS:
        raise Failure(name, code)


def out(name, kind, *arguments):
    """The one value that a call gives through its last argument."""
    value = kind()
    call(name, *(arguments + (ctypes.byref(value),)))
    return value if isinstance(value, (ctypes.Structure, ctypes.Array)) else value.value


def uint(name, *arguments):
    return out(name, ctypes.c_uint, *arguments)


def integer(name, *arguments):
    return out(name, ctypes.c_int, *arguments)


def uint64(name, *arguments):
    return out(name, ctypes.c_ulonglong, *arguments)


def pointer(name, *arguments):
    return ctypes.c_void_p(out(name, ctypes.c_void_p, *arguments))


def text(name, handle, size=256, length_first=False):
    buffer = ctypes.create_string_buffer(b"\xaa" * size, size)
    if length_first:
        call(name, handle, size, buffer)
    else:
        call(name, handle, buffer, size)
    return buffer.value


def reason(name, *arguments):
    """The name of the code that a call returns."""
    code = raw(name, *arguments)
    return CODE_NAMES.get(code, code)


def sim_get(device, key):
    buffer = ctypes.create_string_buffer(16384)
    assert LIBRARY.mtmlSimGet(device, key.encode(), buffer, len(buffer)) == 0, (device, key)
    return buffer.value.decode()


def sim_set(device, key, value):
    assert LIBRARY.mtmlSimSet(device, key.encode(), str(value).encode()) == 0, (device, key, value)


def message():
    """What the library said last about a mistake."""
    buffer = ctypes.create_string_buffer(8192)
    assert LIBRARY.mtmlSimGetMessage(buffer, ctypes.c_size_t(len(buffer))) == 0
    return buffer.value.decode()


def missing_functions(name):
    """What a profile's library does not export (set)."""
    words = set(filter(None, profiles.read(name)["machine"].get("missing", "").split(", ")))
    return words - {"beyond-header"} | (set(BEYOND) if "beyond-header" in words else set())


def profile_names():
    return sorted(name[:-4] for name in os.listdir(PROFILES) if name.endswith(".ini"))


class Session:
    """The library, initialized on a profile for the length of a with block; the machine is new unless it is kept."""

    def __init__(self, profile="s5000x8+frozen", keep=False, **variables):
        self.variables = dict({"MTML_SIM_PROFILE": profile}, **variables)
        self.keep = keep

    def __enter__(self):
        for name in [name for name in os.environ if name.startswith("MTML_SIM_")]:
            del os.environ[name]
        os.environ.update(self.variables)
        if not self.keep:
            assert LIBRARY.mtmlSimReload() == 0
        self.library = pointer("mtmlLibraryInit")
        return self

    def __exit__(self, *unused):
        if self.library:
            call("mtmlLibraryShutDown", self.library)

    def system(self):
        return pointer("mtmlLibraryInitSystem", self.library)

    def count(self):
        return uint("mtmlLibraryCountDevice", self.library)

    def device(self, index=0):
        return pointer("mtmlLibraryInitDeviceByIndex", self.library, index)

    def gpu(self, index=0):
        return pointer("mtmlDeviceInitGpu", self.device(index))

    def memory(self, index=0):
        return pointer("mtmlDeviceInitMemory", self.device(index))

    def vpu(self, index=0):
        return pointer("mtmlDeviceInitVpu", self.device(index))


def run_python(code, library=LIBRARY_PATH, **variables):
    """A fresh interpreter in which L is the library; its CompletedProcess with text output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MTML_SIM_")}
    environment.update(variables)
    program = "import ctypes, os\nL = ctypes.CDLL(%r)\nP = ctypes.c_void_p\nR = ctypes.byref\n%s" % (library, code)
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
