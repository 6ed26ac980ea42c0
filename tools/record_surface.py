#!/usr/bin/env python3
"""Writes facts/nvml_surface.json: every public name of a given nvidia-ml-py, with values, parameters and layouts.

    python tools/record_surface.py VERSION             gets that version of nvidia-ml-py by pip, beside the project
    python tools/record_surface.py path/to/pynvml.py   a module that is there already; --version is not needed where
                                                       its package is installed, or unpacked from its source archive

What ctypes itself defines is left out, so that the record does not depend on the interpreter that made it. Layouts are
those of 64-bit Linux.
"""

import argparse
import ctypes
import glob
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import types

import generated

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SURFACE = os.path.join(ROOT, "facts", "nvml_surface.json")
NAME = "recorded_pynvml"
REACHED = ("_nvmlCheckReturn", "_nvmlGetFunctionPointer")  # private functions that programs use all the same

_Simple = ctypes._SimpleCData
_Aggregate = (ctypes.Structure, ctypes.Union)


def load(path):
    """The module in that file, under a name that no other import takes for pynvml."""
    spec = importlib.util.spec_from_file_location(NAME, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module  # it looks itself up while it is imported
    spec.loader.exec_module(module)
    return module


def of_ctypes(name, value):
    """Whether a name came with ``from ctypes import *`` or another import of a function or class."""
    if name in vars(ctypes) and vars(ctypes)[name] == value:
        return True
    return isinstance(value, (type, types.FunctionType)) and value.__module__ != NAME and not is_type(value)


def is_type(value):
    """Whether a value is a simple C type or a pointer type: what typedefs name."""
    return isinstance(value, type) and issubclass(value, (_Simple, ctypes._Pointer))


def type_name(kind):
    """A C type as the record writes it: ``c_uint``, ``c_char * 80``, ``POINTER(c_uint)``."""
    if issubclass(kind, ctypes.Array):
        return "%s * %d" % (type_name(kind._type_), kind._length_)
    if issubclass(kind, ctypes._Pointer):
        return "POINTER(%s)" % type_name(kind._type_)
    return kind.__name__


def function(value):
    """The parameters of a function, with their defaults."""
    recorded = []
    for parameter in inspect.signature(value).parameters.values():
        entry = {"name": parameter.name}
        if parameter.default is not parameter.empty:
            default = parameter.default
            entry["default"] = (
                "%s()" % type(default).__name__ if isinstance(default, (_Simple,) + _Aggregate) else default
            )
        recorded.append(entry)
    return {"params": recorded}


def initial(struct):
    """What the fields of a new object hold besides zeros, by field; empty for a class that needs arguments."""
    try:
        made = struct()
    except Exception:  # some constructors have required parameters, one names a module that is not there
        return {}
    values = {}
    for name, kind in (field[:2] for field in struct._fields_):
        place = getattr(struct, name)
        if any(ctypes.string_at(ctypes.addressof(made) + place.offset, ctypes.sizeof(kind))):
            values[name] = getattr(made, name)
    return values


class Probe:
    """Stands for a constructor's argument, and says which one it was."""

    def __init__(self, parameter):
        self.parameter = parameter


def parameters(struct, printable):
    """Constructor parameters that are not called as the field they fill: parameter to field."""
    if "__init__" not in vars(struct):
        return {}
    names = list(inspect.signature(struct.__init__).parameters)[1:]
    filled = {}
    inherited = printable.__dict__.get("__init__")
    printable.__init__ = lambda self, **fields: filled.update(fields)
    try:
        struct.__init__(struct.__new__(struct), **{name: Probe(name) for name in names})
    except Exception:  # the constructor looks at its arguments: its names are taken for those of the fields
        return {}
    finally:
        if inherited is None:
            del printable.__init__
        else:
            printable.__init__ = inherited
    probes = {field: value.parameter for field, value in filled.items() if isinstance(value, Probe)}
    return {parameter: field for field, parameter in probes.items() if parameter != field}


def struct(value, printable):
    """Fields, size and printing of a struct or union."""
    entry = {
        "class": value.__name__,
        "fields": [[field[0], type_name(field[1])] + list(field[2:]) for field in getattr(value, "_fields_", [])],
        "kind": "union" if issubclass(value, ctypes.Union) else "struct",
        "printable": issubclass(value, printable),
        "size": ctypes.sizeof(value),
    }
    formats = getattr(value, "_fmt_", None)
    if formats:
        entry["format"] = formats
    if entry["fields"]:
        for key, found in (("initial", initial(value)), ("parameters", parameters(value, printable))):
            if found:
                entry[key] = found
    return entry


def constant(value):
    """A constant as JSON holds it."""
    if isinstance(value, _Simple):
        return {"ctype": type(value).__name__, "value": value.value}
    return {"tuple": [str(item) for item in value]} if isinstance(value, tuple) else value


def record(module, version):
    """The whole surface of a module."""
    surface = {kind: {} for kind in ("constants", "errors", "functions", "other", "structs", "types")}
    surface["source"] = "nvidia-ml-py %s" % version
    for name, value in vars(module).items():
        if name.startswith("__") or of_ctypes(name, value):
            continue
        if isinstance(value, types.FunctionType):
            if name.startswith("_") and name not in REACHED:
                continue
            kind, entry = "functions", function(value)
        elif isinstance(value, type) and issubclass(value, BaseException):
            kind, entry = "errors", {"bases": [base.__name__ for base in value.__bases__]}
        elif is_type(value):
            kind, entry = "types", type_name(value)
        elif isinstance(value, type) and issubclass(value, _Aggregate):
            kind, entry = "structs", struct(value, module._PrintableStructure)
        elif isinstance(value, (int, str, tuple, _Simple)) and not name.startswith("_"):
            kind, entry = "constants", constant(value)
        else:
            kind, entry = "other", type(value).__name__
        surface[kind][name] = entry
    return surface


def fetch(version, folder):
    """Path of that version's pynvml.py, got by pip into a folder."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    result = subprocess.run(command + ["--target", folder, "nvidia-ml-py==%s" % version])
    if result.returncode:
        sys.exit("record_surface: pip has no nvidia-ml-py %s" % version)
    return os.path.join(folder, "pynvml.py")


def installed_version(path):
    """Version of the nvidia-ml-py whose pynvml.py that is, as the metadata beside it have it, or None."""
    folder = os.path.dirname(os.path.abspath(path))
    versions = []
    for metadata in ("nvidia_ml_py-*.dist-info/METADATA", "PKG-INFO"):
        for name in glob.glob(os.path.join(folder, metadata)):
            with open(name, encoding="utf-8") as stream:
                versions += re.findall(r"(?m)^Version: (\S+)$", stream.read())
    return versions[0] if len(versions) == 1 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", help="a version of nvidia-ml-py, or the path of its pynvml.py")
    parser.add_argument("--version", help="the version, for a pynvml.py without its package's metadata beside it")
    parser.add_argument("--output", default=SURFACE, help="where to write (default: %(default)s)")
    options = parser.parse_args()
    if ctypes.sizeof(ctypes.c_long) != 8:
        sys.exit("record_surface: run this where a C long has 64 bits, as on 64-bit Linux")
    with tempfile.TemporaryDirectory() as folder:
        path = options.source if os.path.isfile(options.source) else fetch(options.source, folder)
        version = options.version or installed_version(path)
        if version is None:
            sys.exit("record_surface: which version is %s? Say it with --version, or VERSION= of make surface" % path)
        found = json.loads(json.dumps(record(load(path), version), sort_keys=True))
    with open(options.output, "w", encoding="utf-8") as stream:
        stream.write(generated.json_text(found, deep=2))


if __name__ == "__main__":
    main()
