"""Every public name of nvidia-ml-py is in pymtml, with its value, signature or layout: facts/nvml_surface.json."""

import ast
import contextlib
import ctypes
import dataclasses
import functools
import inspect
import json
import os
import re
import string
import subprocess
import sys
import threading
import types

from interpreter import content
from offenders import each

import pymtml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

with open(os.path.join(ROOT, "facts", "nvml_surface.json"), encoding="utf-8") as stream:
    SURFACE = json.load(stream)

CONSTANTS, ERRORS, FUNCTIONS, STRUCTS, TYPES = (
    SURFACE[kind] for kind in ("constants", "errors", "functions", "structs", "types")
)
NAMES = sorted(set().union(CONSTANTS, ERRORS, FUNCTIONS, STRUCTS, TYPES, ["nvmlFriendlyObject"]))
PUBLIC = [name for name in NAMES if not name.startswith("_")]
HANDLES = {kind: name for name, kind in TYPES.items() if kind.startswith("POINTER(")}


# What defaults that C may fill in hold before a test calls anything: a call without the argument fills them in, as in
# nvidia-ml-py.
DEFAULTS = {
    (name, parameter.name): content(parameter.default)
    for name in FUNCTIONS
    if hasattr(pymtml, name)
    for parameter in inspect.signature(getattr(pymtml, name)).parameters.values()
    if isinstance(parameter.default, (ctypes.Structure, ctypes._SimpleCData))
}


def ctypes_names():
    namespace = {}
    exec("from ctypes import *", namespace)
    return sorted(name for name in namespace if name != "__builtins__" and not inspect.ismodule(namespace[name]))


def resolve(text):
    """The type in pymtml that the facts call `text`; they were taken where unsigned long has 64 bits."""
    if text in HANDLES:
        return getattr(pymtml, HANDLES[text])
    if text.startswith("POINTER("):
        return ctypes.POINTER(resolve(text[8:-1]))
    item, _, count = text.partition(" * ")
    if count:
        return resolve(item) * int(count)
    return {"c_ulong": ctypes.c_uint64, "c_long": ctypes.c_int64}.get(text) or getattr(pymtml, text)


def expected_constant(recorded):
    if isinstance(recorded, dict) and "tuple" in recorded:
        return int(recorded["tuple"][0])
    return recorded


def test_facts_are_complete():
    counts = {kind: len(SURFACE[kind]) for kind in ("functions", "constants", "structs", "types", "errors")}
    assert min(counts.values()) > 30 and counts["constants"] > 1000 and counts["functions"] > 400, counts


def test_no_name_is_missing():
    assert [name for name in NAMES if not hasattr(pymtml, name)] == []


def test_constants():
    wrong = []
    for name, recorded in CONSTANTS.items():
        expected, actual = expected_constant(recorded), getattr(pymtml, name, None)
        if isinstance(expected, dict):
            same = type(actual) is resolve(expected["ctype"]) and actual.value == expected["value"]
        else:
            same = type(actual) is type(expected) and actual == expected
        if not same:
            wrong.append("%s is %r, not %r" % (name, actual, expected))
    assert wrong == []


@each(sorted(FUNCTIONS))
def test_function(name):
    function = getattr(pymtml, name)
    assert type(function) is types.FunctionType
    assert function.__module__ == "pymtml"
    assert function.__doc__ or name.startswith("_")
    parameters = list(inspect.signature(function).parameters.values())
    found, wanted = [one.name for one in parameters], [recorded["name"] for recorded in FUNCTIONS[name]["params"]]
    assert found == wanted, "name the parameters of %s as nvidia-ml-py does" % name
    for parameter, recorded in zip(parameters, FUNCTIONS[name]["params"]):
        assert parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if "default" not in recorded:
            assert parameter.default is parameter.empty, parameter
        elif isinstance(recorded["default"], str):
            kind = getattr(pymtml, recorded["default"].replace("()", ""))
            assert type(parameter.default) is kind and DEFAULTS[name, parameter.name] == content(kind()), parameter
        else:
            assert type(parameter.default) is type(recorded["default"]), parameter
            assert parameter.default == recorded["default"], parameter


@each(sorted(set(STRUCTS) - {"_PrintableStructure"}))
def test_struct(name):
    recorded, struct = STRUCTS[name], getattr(pymtml, name)
    assert struct is getattr(pymtml, recorded["class"])
    assert (struct.__name__, struct.__qualname__) == (recorded["class"], recorded["class"])
    assert struct.__module__ == "pymtml"
    assert issubclass(struct, ctypes.Union if recorded["kind"] == "union" else ctypes.Structure)
    assert issubclass(struct, pymtml._PrintableStructure) is recorded["printable"]
    fields = [(field[0], resolve(field[1])) + tuple(field[2:]) for field in recorded["fields"]]
    assert [tuple(field) for field in getattr(struct, "_fields_", [])] == fields
    assert ctypes.sizeof(struct) == recorded["size"]
    assert getattr(struct, "_fmt_", {}) == recorded.get("format", {})


@each(sorted(TYPES))
def test_type(name):
    if TYPES[name].startswith("POINTER(") and name != "c_nvmlDevice_t":
        assert getattr(pymtml, name) is ctypes.POINTER(getattr(pymtml, TYPES[name][8:-1]))
    elif name == "c_nvmlDevice_t":
        # The class of pymtml's own device handles, so that a struct's device field takes them.
        assert ctypes.sizeof(pymtml.c_nvmlDevice_t) == ctypes.sizeof(ctypes.c_void_p)
    else:
        assert getattr(pymtml, name) is getattr(ctypes, TYPES[name])


@each(sorted(ERRORS))
def test_error_class(name):
    error = getattr(pymtml, name)
    for base in ERRORS[name]["bases"]:
        assert issubclass(error, Exception if base == "Exception" else getattr(pymtml, base))
    assert (error.__name__, error.__module__) == (name, "pymtml")


def test_error_codes():
    expected = {}
    for constant, value in CONSTANTS.items():
        if constant.startswith("NVML_ERROR_"):
            name = "NVMLError_" + "".join(word.title() for word in constant.split("_")[2:])
            expected[value] = getattr(pymtml, name)
    assert len(expected) == len(ERRORS) - len(["NVMLError", "NVMLLibraryMismatchError"])
    assert {value: type(pymtml.NVMLError(value)) for value in expected} == expected
    assert {value: pymtml.nvmlExceptionClass(value) for value in expected} == expected
    assert {value: pymtml.NVMLError._valClassMapping[value] for value in expected} == expected


def test_other_names():
    assert isinstance(pymtml._nvmlGetFunctionPointer_cache, dict)
    assert isinstance(pymtml.nvmlFriendlyObject, type)
    assert hasattr(pymtml, "nvmlLib") and hasattr(pymtml, "_nvmlLib_refcount")
    with pymtml.libLoadLock:
        pass
    modules = [name for name, kind in SURFACE["other"].items() if kind == "module"]
    assert [name for name in modules if not inspect.ismodule(getattr(pymtml, name, None))] == []
    borrowed = (pymtml.contextmanager, pymtml.dataclass, pymtml.string, pymtml.threading, pymtml.wraps)
    assert borrowed == (contextlib.contextmanager, dataclasses.dataclass, string, threading, functools.wraps)


def test_ctypes_names_are_re_exported():
    assert [name for name in ctypes_names() if getattr(pymtml, name, None) is not getattr(ctypes, name)] == []


def names_in_new_process(code):
    return json.loads(subprocess.check_output([sys.executable, "-c", "import json; " + code]).decode())


def test_dir_lists_everything():
    listed = names_in_new_process("import pymtml; print(json.dumps(dir(pymtml)))")
    assert len(listed) == len(set(listed))
    made = ["_nvmlLib_refcount", "libHandle", "libLifecycleLock", "mtmlLib", "nvmlLib"]
    assert [name for name in NAMES + ctypes_names() + made if name not in set(listed)] == []


def test_star_import_brings_everything():
    brought = set(names_in_new_process("from pymtml import *; print(json.dumps(sorted(globals())))"))
    assert [name for name in PUBLIC + ctypes_names() if name not in brought] == []
    assert [name for name in brought if name.startswith("_") and not name.startswith("__")] == []
    assert "TYPE_CHECKING" not in brought


def test_source_shows_every_name():
    """What grep, jedi and type checkers go by: definitions, assignments and annotations of the module and its `if`s."""
    with open(pymtml.__file__, encoding="utf-8") as source:
        text = source.read()
    shown = set()
    body = ast.parse(text).body
    for node in body + [inner for outer in body if isinstance(outer, ast.If) for inner in outer.body]:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            shown.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            shown.update(name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
    assert [name for name in NAMES if name not in shown] == []


def test_every_constant_has_a_line_of_its_own():
    with open(pymtml.__file__, encoding="utf-8") as source:
        counts = {}
        for name in re.findall(r"^(\w+) = ", source.read(), re.MULTILINE):
            counts[name] = counts.get(name, 0) + 1
    assert [name for name in CONSTANTS if counts.get(name) != 1] == []
