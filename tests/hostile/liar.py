"""The library that lies, and what every function makes of it: python liar.py LIBRARY LIE prints a table.

A line is FUNCTION,LIE,OUTCOME. The outcome is what the caller gets: the class of an error with its value and MTML code,
or the answer, with handles and structs by their class.
"""

import csv
import ctypes
import inspect
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIES = {  # number in liar.c, and the code that C returns
    "nothing": (1, 0),
    "brim": (2, 0),
    "absurd": (3, 0),
    "changing": (4, 0),
    "future": (5, 4242),
    "own 666": (5, 666),
    "own 667": (5, 667),
    "own 669": (5, 669),
    "own 670": (5, 670),
    "negative": (5, 0xFFFFFFFF),
    "null": (6, 0),
}
CAPACITIES = "count length pathCount pathLength linkCount entryLength entryCount nodeSetSize cpuSetSize".split()


def write_functions(file, missing):
    """Write the functions of functions.inc but those that are missing, from the description of the C API."""
    sys.path.insert(0, ROOT)
    import pymtml

    with open(os.path.join(ROOT, "facts", "mtml_api.json"), encoding="utf-8") as api:
        described = json.load(api)["functions"]
    prototypes = dict(pymtml._PROTOTYPES, **pymtml._OPTIONAL_PROTOTYPES)
    for name, ctypes_of in prototypes.items():
        if name in missing:
            continue
        if name == "mtmlErrorString":
            file.write('const char *mtmlErrorString(unsigned code) { (void)code; return "x\\377"; }\n')
            continue
        params = described[name]["params"]
        lines = []
        capacities = [i for i, one in enumerate(params) if one["name"] in CAPACITIES and one["dir"] == "in"]
        for i, ctype in enumerate(ctypes_of):
            if (
                params[i]["dir"] == "in"
                or "*" not in ctype
                or ctype.startswith("const")
                or name == "mtmlLibraryShutDown"
            ):
                continue
            target = pymtml._c_type(ctype)
            text = ctype == "char *"
            size = 1 if text else ctypes.sizeof(target._type_)
            kind = "TEXT" if text else "HANDLE" if "**" in ctype else "STRUCT"
            if not text and issubclass(target._type_, ctypes._SimpleCData):
                kind = "NUMBER"
            array = text or params[i]["dir"] == "out_array"
            if text and not capacities:
                capacities = [j for j, one in enumerate(ctypes_of) if one == "unsigned int"]
            count = " * ".join("(size_t)a%d" % j for j in capacities) if array and capacities else "1"
            lines.append('answer("%s", %s, (void *)a%d, %d, %s);' % (name, kind, i, size, count))
        arguments = ", ".join("uintptr_t a%d" % i for i in range(len(ctypes_of)))
        unused = " ".join("(void)a%d;" % i for i in range(len(ctypes_of)))
        file.write(
            'unsigned %s(%s) { %s %s return status("%s"); }\n' % (name, arguments, unused, " ".join(lines), name)
        )


def build(folder, missing=()):
    """Path of the library, compiled in a folder, without the functions that are to be missing."""
    with open(os.path.join(folder, "functions.inc"), "w", encoding="utf-8") as file:
        write_functions(file, missing)
    path = os.path.join(folder, "libmtml-liar.so")
    command = ["cc", "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Wno-missing-prototypes", "-g"]
    command += ["-fPIC", "-shared", "-I", folder, os.path.join(HERE, "liar.c"), "-o", path]
    command += os.environ.get("LIAR_CFLAGS", "").split()  # the sanitizers, where make sanitize runs this
    subprocess.run(command, check=True)
    return path


def shown(value):
    """A result in the words of the table."""
    if isinstance(value, (list, tuple, ctypes.Array)):
        items = [shown(item) for item in value]
        if len(items) > 4 and len(set(items)) == 1:
            return "%d times %s" % (len(items), items[0])
        return "%s of %s" % (type(value).__name__ if isinstance(value, (list, tuple)) else "array", " ".join(items))
    if isinstance(value, (str, bytes)):
        return repr(value) if len(value) < 40 else "%s of %d" % (type(value).__name__, len(value))
    if value is None or isinstance(value, (int, float)):
        return repr(value)
    return type(value).__name__


def outcome(function, arguments):
    """What a call comes to."""
    import pymtml

    try:
        return shown(function(*arguments))
    except pymtml.MTMLError as error:
        return "%s %s mtml_code %s" % (type(error).__name__, error.value, error.mtml_code)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)


def native_arguments(function, device):
    """What a caller passes: handles where they are due, 1 for numbers, and optional parameters left out."""
    import pymtml

    special = {
        "uuid": "x",
        "pciSbdf": "x",
        "configName": "x",
        "type": pymtml.c_mtmlVirtType_t(),
        "devices": [device],
        "mpcConfigIds": [1],
        "configuration": pymtml.c_mtmlLogConfiguration_t(),
    }
    handles = ("dev", "device", "dev1", "dev2", "localDevice", "remoteDevice", "parentDevice", "mpcInstance", "virtDev")
    arguments = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty:
            break
        if parameter.name in handles + ("gpu", "mem", "vpu"):
            arguments.append(device)
        else:
            arguments.append(special.get(parameter.name, 1))
    return arguments


def rows(path, lie):
    """(function, lie, outcome) of every function of both layers, when all of C lies in one way."""
    os.environ.update(PYMTML_LIBRARY=path, PYMTML_PROC_ROOT=HERE, PYMTML_SYS_ROOT=HERE, PYMTML_MUSA_LIBRARY=path)
    sys.path[:0] = [ROOT, os.path.join(ROOT, "tests")]
    import every_function

    import pymtml

    library = ctypes.CDLL(path)
    number, code = LIES[lie]
    native = [name for name in list(pymtml._PROTOTYPES) + list(pymtml._OPTIONAL_PROTOTYPES) if "Init" not in name[:15]]
    for name in sorted(dict.fromkeys(native + list(pymtml._PROTOTYPES) + every_function.FUNCTIONS)):
        if name in ("mtmlLibraryShutDown", "nvmlShutdown") or not hasattr(pymtml, name):
            continue
        function = getattr(pymtml, name)
        library.liarSet(b"", 0, 0)
        if name not in ("mtmlLibraryInit", "nvmlInit", "nvmlInitWithFlags"):
            pymtml.nvmlInit()
            device = pymtml.nvmlDeviceGetHandleByIndex(0)
        else:
            device = None
        if name.startswith("mtml"):
            arguments = native_arguments(function, device)
        else:
            arguments = next(every_function.ordinary(name, device, [device]))
        library.liarSet(b"*", number, code)
        yield name, lie, outcome(function, arguments)
        library.liarSet(b"", 0, 0)
        while pymtml._nvmlLib_refcount:
            pymtml.nvmlShutdown()


if __name__ == "__main__":
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows(sys.argv[1], sys.argv[2]))
