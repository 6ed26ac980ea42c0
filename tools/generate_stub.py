"""Writes the type stub of pymtml from the syntax tree of pymtml.py; the build of a wheel does it, nothing is committed.

    python tools/generate_stub.py pymtml.py facts/nvml_surface.json > pymtml.pyi

Every public name of the module is in the stub: functions, constants, error classes, structs with their fields, those
made on first use too. Of the private names those are that nvidia-ml-py has, because programs reach for them. A type is
taken from the source where it is annotated there, and otherwise from the tables below; where neither knows it is Any.
Runs on every Python that builds a wheel, and writes the same text on each.
"""

import ast
import json
import operator
import re
import sys

HEAD = """\
# Written by tools/generate_stub.py from pymtml.py.
import ctypes
import os as os
import string as string
import sys as sys
import threading as threading
import typing
from contextlib import contextmanager as contextmanager
from dataclasses import dataclass as dataclass
from functools import wraps as wraps
from typing import Any as _Any
from builtins import bytes as _bytes, float as _float, int as _int, str as _str
from ctypes import *
from typing import Any, Callable, Dict, Final, List, Optional, Sequence, Tuple, Type, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Struct = TypeVar("_Struct", bound=typing.Union[ctypes.Structure, ctypes.Union])
_Text = typing.Union[str, bytes]
_Gpu = typing.Union[c_mtmlGpu_t, c_mtmlDevice_t]
_Memory = typing.Union[c_mtmlMemory_t, c_mtmlDevice_t]
_Vpu = typing.Union[c_mtmlVpu_t, c_mtmlDevice_t]
"""

# ctypes' own stub lets a struct have any attribute; without that a misspelt field is a mistake.
STRICT = """\
    __getattr__: None  # type: ignore
    __setattr__: None  # type: ignore
"""

# ---- types of parameters, by name ----

PARAMETERS = {
    "dev dev1 dev2 device device1 device2 handle handle1 handle2 localDevice remoteDevice parentDevice migDevice "
    "mpcInstance virtDev": "c_mtmlDevice_t",
    "gpu": "_Gpu",
    "mem": "_Memory",
    "vpu": "_Vpu",
    "sys": "Optional[c_mtmlSystem_t]",
    "uuid serial pciBusId pciSbdf configName hostname": "_Text",
    "apiType capability cause clockType computeInstanceId count counter counterType cpuNumber cpuSetSize "
    "encoderQueryType encoder_capacity engProfile engine entryCount entryLength errorType eventTypes fan fanIndex "
    "flags gpuInstanceId id index infoRomObject intfIndex kind length level limit link linkCount linkId locationType "
    "maxGpuClockMHz maxGraphicsClockMHz maxMemClockMHz memoryClockMHz minGpuClockMHz minMemClockMHz mode newState "
    "nodeSetSize nvmlErrorCode offset p2pCap p2pIndex pathCount pathLength perfPolicyType pid powerLimit powerScope "
    "profile profileId pstate result sampling_type scope sensor sensorindex sessionId sourceFilter speed temp "
    "threshold timeStamp timeoutMs timeoutms type version vgpuInstance vgpuTypeId virtualization_mode": "int",
    "devices": "Sequence[c_mtmlDevice_t]",
    "mpcConfigIds": "Sequence[int]",
    "fieldIds": "Sequence[Any]",
}

# What a parameter is in one function only.
EXCEPTIONS = {
    ("mtmlDeviceCountAvailVirtDevices", "type"): "c_mtmlVirtType_t",
    ("mtmlDeviceCountMaxVirtDevices", "type"): "c_mtmlVirtType_t",
    ("nvmlDeviceGetHandleByUUIDV", "uuid"): "Any",
    ("nvmlDeviceGetClkMonStatus", "c_clkMonInfo"): "Any",
}

# Parameters that C fills in (byref(...), or a ctypes object of the default's type).
OUT = ("isEnabled", "defaultMode", "fanControlPolicy", "minSpeed", "maxSpeed", "moduleId", "minClockMHz", "maxClockMHz")

# ---- what the syntax tree does not tell ----

SPECIAL = {
    "MTMLError": """\
class MTMLError(Exception):
    value: Any
    mtml_code: Optional[int]
    detail: Optional[str]
    _valClassMapping: Dict[int, Type[MTMLError]]
    _errcode_to_string: Dict[int, str]
    def __new__(cls, *args: Any) -> MTMLError: ...
    def __init__(self, *args: Any) -> None: ...
""",
    "_PrintableStructure": """\
class _PrintableStructure(ctypes.Structure):
    _fmt_: Dict[str, str]
"""
    + STRICT,
    "convertStrBytes": "def convertStrBytes(func: _Function) -> _Function: ...\n",
    "throwOnVersionMismatch": "def throwOnVersionMismatch(func: _Function) -> _Function: ...\n",
    "nvmlFriendlyObjectToStruct": (
        "def nvmlFriendlyObjectToStruct(obj: nvmlFriendlyObject, model: _Struct) -> _Struct: ...\n"
    ),
    "nvmlStructToFriendlyObject": (
        "def nvmlStructToFriendlyObject(struct: ctypes.Structure) -> nvmlFriendlyObject: ...\n"
    ),
    "nvmlExceptionClass": "def nvmlExceptionClass(nvmlErrorCode: int) -> Type[NVMLError]: ...\n",
    "_nvmlGetFunctionPointer": "def _nvmlGetFunctionPointer(name: str) -> Callable[..., int]: ...\n",
    "_mtmlGetFunctionPointer": "def _mtmlGetFunctionPointer(name: str) -> Callable[..., Any]: ...\n",
    "_nvmlCheckReturn": "def _nvmlCheckReturn(ret: int) -> int: ...\n",
    "nvmlDeviceGetMemoryInfo": """\
@typing.overload
def nvmlDeviceGetMemoryInfo(handle: c_mtmlDevice_t, version: None = ...) -> c_nvmlMemory_t: ...
@typing.overload
def nvmlDeviceGetMemoryInfo(handle: c_mtmlDevice_t, version: int) -> c_nvmlMemory_v2_t: ...
""",
    "libLoadLock": "libLoadLock: Any\n",
    "nvmlLib": "nvmlLib: Any\n",
    "_nvmlLib_refcount": "_nvmlLib_refcount: int\n",
    "_nvmlGetFunctionPointer_cache": "_nvmlGetFunctionPointer_cache: Dict[str, Any]\n",
    "_mtmlGetFunctionPointer_cache": "_mtmlGetFunctionPointer_cache: Dict[str, Any]\n",
    "c_mtmlLogCallback_t": "c_mtmlLogCallback_t: Any\n",
    "__version__": "__version__: str\n",
}

# What the attributes read that classes of the module's own make.
DESCRIPTORS = {"_LinkNumber": "_int"}

PROPERTY = "    @property\n    def %s(self) -> %s: ...\n"

MODULES = ("contextmanager", "dataclass", "os", "string", "sys", "threading", "wraps")
LEFT_OUT = ("TYPE_CHECKING",)

INTEGERS = (
    "c_byte c_ubyte c_short c_ushort c_int c_uint c_long c_ulong c_longlong c_ulonglong c_size_t c_bool "
    "c_int8 c_int16 c_int32 c_int64 c_uint8 c_uint16 c_uint32 c_uint64"
).split()
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.BitOr: operator.or_,
    ast.LShift: operator.lshift,
}


def literal(node):
    """The value of a plain literal, or None (Python 3.7 has another node for each kind, which literal_eval knows)."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


class Stub:
    """The stub of a module, as it grows: `lines` in the order of the source, `names` that it has."""

    def __init__(self, tree, surface):
        self.tree = tree
        self.kept = set(surface["functions"]) | set(surface["types"]) | set(surface["structs"]) | set(surface["other"])
        self.kept.add("_mtmlGetFunctionPointer")
        self.lines = [HEAD]
        self.names = set(MODULES)
        self.values = {}
        self.fields = {}  # of structs: {name: {field: Python type}}
        self.lazy = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "_CATALOGUE_STRUCTS":
                self.lazy = ast.literal_eval(node.value)

    def wanted(self, name):
        public = not name.startswith("_") or name in self.kept or name == "__version__"
        return public and name not in self.names and name not in LEFT_OUT

    def add(self, name, text):
        self.names.add(name)
        self.lines.append(text)

    # ---- constants ----

    def value(self, node):
        """The value of a constant's expression, or None."""
        if isinstance(node, ast.Name):
            return self.values.get(node.id)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left, right = self.value(node.left), self.value(node.right)
            if isinstance(left, int) and isinstance(right, int):
                return OPERATORS[type(node.op)](left, right)
        return literal(node)

    def assignment(self, node):
        for target in node.targets:
            name = getattr(target, "id", None)
            if name is None:
                continue
            value = self.value(node.value)
            self.values[name] = value
            if not self.wanted(name):
                continue
            if name in SPECIAL:
                self.add(name, SPECIAL[name])
            elif isinstance(value, (int, str)):
                self.add(name, "%s: Final = %s\n" % (name, quoted(value)))
            elif isinstance(node.value, ast.Name):
                self.add(name, "%s = %s\n" % (name, node.value.id))
            elif isinstance(node.value, ast.Call) and getattr(node.value.func, "id", None) in INTEGERS:
                self.add(name, "%s: %s\n" % (name, node.value.func.id))
            else:
                type_ = self.type_text(node.value)
                self.add(name, "%s: Any\n" % name if type_ is None else "%s = %s\n" % (name, type_))

    def declaration(self, node):
        name = node.target.id
        if name not in self.lazy and self.wanted(name):
            self.add(name, SPECIAL.get(name) or "%s: %s\n" % (name, annotation(node.annotation)))

    # ---- types of C ----

    def type_text(self, node):
        """A ctypes type as a checker writes it ("ctypes.Array[c_uint]"), from its expression; None if it is not one."""
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute):
            return "ctypes." + node.attr
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            item = self.type_text(node.left)
            return item and "ctypes.Array[%s]" % item
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", None)) == "POINTER":
            item = self.type_text(node.args[0])
            return item and "ctypes._Pointer[%s]" % item
        return None

    def python_type(self, node, printable):
        """The type of a struct's field when a program reads it; `_int`, not int: there are fields named int or str."""
        if isinstance(node, ast.BinOp):
            item = self.type_text(node.left)
            if item == "c_char":
                return "_str" if printable else "_bytes"
            return self.type_text(node)
        name = self.type_text(node)
        seen = set()
        while name in self.aliases and name not in seen:
            seen.add(name)
            name = self.aliases[name]
        if name in INTEGERS:
            return "_int"
        if name in ("c_float", "c_double"):
            return "_float"
        if name == "c_char":
            return "_str" if printable else "_bytes"
        if name == "c_char_p":
            return "Optional[_str]" if printable else "Optional[_bytes]"
        if name == "c_void_p":
            return "Optional[_int]"
        if name in SPECIAL:
            return "Any"  # a variable there, which is no type
        return name or "Any"

    @property
    def aliases(self):
        found = {}
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                found[node.targets[0].id] = node.value.id
        return found

    # ---- structs made on first use ----

    def lazy_struct(self, name):
        """Add a struct of the catalogue, after those that it is made of."""
        if name in self.names or name not in self.lazy:
            return
        text = self.lazy[name]
        base, _, rest = text.partition("(")
        if base not in ("_PrintableStructure", "Structure", "Union"):
            node = ast.parse(text, mode="eval").body
            self.names.add(name)
            self.needed(node)
            self.lines.append("%s = %s\n" % (name, self.type_text(node)))
            return
        self.names.add(name)
        fields = {}
        for declaration in filter(None, rest[:-1].split(", ")):
            field, _, expression = declaration.partition(": ")
            expression = expression.partition(" = ")[0].partition(" : ")[0]
            node = ast.parse(expression, mode="eval").body
            self.needed(node)
            fields[field] = self.python_type(node, base == "_PrintableStructure")
        self.struct(name, base if base.startswith("_") else "ctypes." + base, fields, [])

    def needed(self, node):
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                self.lazy_struct(part.id)

    def struct(self, name, base, fields, rest):
        self.fields[name] = fields
        self.names.add(name)
        body = ["    %s: %s\n" % pair for pair in fields.items()] + rest
        if base.startswith("ctypes."):
            body.append(STRICT)
        self.lines.append("class %s(%s):\n%s" % (name, base, "".join(body) or "    ...\n"))

    # ---- classes ----

    def class_(self, node):
        name = node.name
        if name in SPECIAL:
            self.add(name, SPECIAL[name])
            return
        bases, printable = [], False
        for base in node.bases:
            text = self.type_text(base)
            if text in ("Structure", "Union"):
                text = "ctypes." + text
            printable |= text == "_PrintableStructure"
            # Private helpers of classes are no part of the interface.
            if text is not None and (not text.startswith("_") or text in self.names):
                bases.append(text)
        fields, rest = {}, []
        for item in node.body:
            if isinstance(item, ast.Assign) and item.targets[0].id == "_fields_":
                for field in item.value.elts:
                    fields[literal(field.elts[0])] = self.python_type(field.elts[1], printable)
            elif isinstance(item, ast.Assign) and not item.targets[0].id.startswith("_"):
                made_by = getattr(getattr(item.value, "func", None), "id", None)
                if made_by == "_Alias":
                    *structs, field = literal(item.value.args[0]).split(".")
                    owner = self.fields[fields[structs[0]]] if structs else fields
                    rest.append("    %s: %s\n" % (item.targets[0].id, owner[field]))
                    continue
                if made_by in DESCRIPTORS:
                    rest.append(PROPERTY % (item.targets[0].id, DESCRIPTORS[made_by]))
                    continue
                value = self.value(item.value)
                rest.append("    %s: %s\n" % (item.targets[0].id, type(value).__name__ if value is not None else "Any"))
            elif isinstance(item, ast.AnnAssign) and not item.target.id.startswith("_"):
                rest.append("    %s: %s\n" % (item.target.id, annotation(item.annotation)))
            elif isinstance(item, ast.FunctionDef):
                rest += self.method(item, fields)
        if fields or bases[:1] == ["ctypes.Structure"]:
            self.struct(name, ", ".join(bases), fields, rest)
        else:
            self.add(
                name,
                "class %s%s:\n%s" % (name, "(%s)" % ", ".join(bases) if bases else "", "".join(rest) or "    ...\n"),
            )

    def method(self, node, fields):
        """The lines of a method; properties keep their name, what object has by itself is left to it."""
        decorators = [getattr(one, "id", getattr(one, "attr", "")) for one in node.decorator_list]
        returned = annotation(node.returns)
        if "property" in decorators:
            return [PROPERTY % (node.name, property_type(node, fields) if node.returns is None else returned)]
        if "setter" in decorators:
            return ["    @%s.setter\n    def %s(self, value: Any) -> None: ...\n" % (node.name, node.name)]
        if node.name.startswith("_") and node.name not in ("__init__", "__enter__", "__exit__"):
            return []
        parameters = self.parameters(node)
        return [
            "    def %s(%s) -> %s: ...\n" % (node.name, parameters, "None" if node.name == "__init__" else returned)
        ]

    # ---- functions ----

    def parameters(self, node):
        """The parameters of a function with their types, as they stand between the parentheses."""
        found = []
        arguments = node.args
        first_default = len(arguments.args) - len(arguments.defaults)
        for i, argument in enumerate(arguments.args):
            if argument.arg == "self":
                found.append("self")
                continue
            type_ = annotation(argument.annotation)
            if argument.annotation is None:
                type_ = parameter_type(node.name, argument.arg)
            if i >= first_default:
                default = arguments.defaults[i - first_default]
                if is_none(default) and type_ != "Any" and not type_.startswith("Optional["):
                    type_ = "Optional[%s]" % type_
                found.append("%s: %s = ..." % (argument.arg, type_))
            else:
                found.append("%s: %s" % (argument.arg, type_))
        if arguments.vararg:
            found.append("*%s: Any" % arguments.vararg.arg)
        elif arguments.kwonlyargs:
            found.append("*")
        for argument in arguments.kwonlyargs:
            found.append("%s: %s = ..." % (argument.arg, annotation(argument.annotation)))
        if arguments.kwarg:
            found.append("**%s: Any" % arguments.kwarg.arg)
        return ", ".join(found)

    def function(self, node):
        text = SPECIAL.get(node.name)
        if text is None:
            text = "def %s(%s) -> %s: ...\n" % (node.name, self.parameters(node), annotation(node.returns))
        self.add(node.name, text)

    # ---- the whole ----

    def friendly_object(self):
        """nvmlFriendlyObject has the fields of whatever struct it was made from: here those of all structs."""
        types = {}
        for fields in self.fields.values():
            for field, type_ in fields.items():
                type_ = type_.replace("_bytes", "_str")
                types[field] = type_ if types.get(field, type_) == type_ else "Any"
        body = "".join("    %s: %s\n" % pair for pair in sorted(types.items()))
        self.lines.append(
            "class nvmlFriendlyObject:\n    def __init__(self, dictionary: Dict[str, Any]) -> None: ...\n" + body
        )

    def make(self):
        self.names.add("nvmlFriendlyObject")
        for node in self.tree.body:
            if isinstance(node, ast.Assign):
                self.assignment(node)
            elif isinstance(node, ast.AnnAssign):
                self.declaration(node)
            elif isinstance(node, ast.If):  # what only a checker is told
                for inner in node.body:
                    if isinstance(inner, ast.AnnAssign):
                        self.declaration(inner)
            elif isinstance(node, (ast.ClassDef, ast.FunctionDef)) and self.wanted(node.name):
                self.class_(node) if isinstance(node, ast.ClassDef) else self.function(node)
        for name in sorted(self.lazy):
            self.lazy_struct(name)
        for name in sorted(SPECIAL):
            if name not in self.names:
                self.add(name, SPECIAL[name])
        self.friendly_object()
        self.helpers()
        return "".join(self.lines)

    def helpers(self):
        """Classes of the module's own that its functions return."""
        returned = {word for line in self.lines for word in re.findall(r"-> (_\w+)", line)}
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and node.name in returned - self.names:
                self.class_(node)


def annotation(node):
    """An annotation as text; the source writes them as strings, with the builtin generics of later Pythons."""
    if node is None:
        return "Any"
    if isinstance(node, ast.Name):
        return node.id
    text = literal(node)
    return "None" if text is None else text


def property_type(node, fields):
    """The type of a property that is another name of a field, or a text made from fields."""
    value = getattr(node.body[-1], "value", None)
    if isinstance(value, ast.Attribute) and value.attr in fields:
        return fields[value.attr]
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod) and isinstance(literal(value.left), str):
        return "_str"
    return "Any"


def is_none(node):
    try:
        return ast.literal_eval(node) is None
    except ValueError:
        return False


def quoted(value):
    """A literal as black writes it."""
    return json.dumps(value) if isinstance(value, str) else repr(value)


def parameter_type(function, name):
    if (function, name) in EXCEPTIONS:
        return EXCEPTIONS[function, name]
    if name in OUT:
        return "Any"
    for names, type_ in PARAMETERS.items():
        if name in names.split():
            return type_
    return "Any"


def generate(module, surface):
    """The stub of the module whose file is given, with the surface of nvidia-ml-py in another (str)."""
    with open(module, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    with open(surface, encoding="utf-8") as file:
        return Stub(tree, json.load(file)).make()


if __name__ == "__main__":
    sys.stdout.write(generate(*sys.argv[1:]))
