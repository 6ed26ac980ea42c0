"""The order of pymtml.py: the map in its docstring, its banners, and what every public function says about itself."""

import ast
import glob
import inspect
import os
import re
import sys
import types
import typing

import pytest
import simulated
from native_calls import FUNCTIONS

import pymtml

with open(pymtml.__file__, encoding="utf-8") as _file:
    SOURCE = _file.read()
TREE = ast.parse(SOURCE)
DEFINED = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}
CALLABLES = {  # public functions, under all of their names
    name: value
    for name, value in vars(pymtml).items()
    if re.match(r"(mtml|nvml)[A-Z]\w*$", name) and not isinstance(value, (type, int, str))
}
# {title: (number of the section or "", its text)}, for sections and parts
SECTIONS = re.split(r"^# ==== (?:(\d+)\. )?(.+?) =+$", SOURCE, flags=re.M)
SECTIONS = {title: (number or "", text) for number, title, text in zip(*[iter(SECTIONS[1:])] * 3)}


def test_map_and_banners_are_equal():
    text = pymtml.__doc__[pymtml.__doc__.index("Map of this file") :]
    lines = [line.strip() for line in text.splitlines() if re.match(r"Part |\s+\d+\. ", line)]
    assert lines == ["%s. %s" % (number, title) if number else title for title, (number, _) in SECTIONS.items()]
    numbers = [int(number) for number, _ in SECTIONS.values() if number]
    assert numbers == list(range(1, len(numbers) + 1))


def test_sections_are_named_by_their_titles():
    """Their numbers, which a new section changes, stand in the map and the banners only."""
    recipes = os.path.join(simulated.ROOT, "AGENTS.md")
    for path in [recipes, pymtml.__file__] + glob.glob(os.path.join(simulated.ROOT, "tools", "*.py")):
        with open(path, encoding="utf-8") as stream:
            text = " ".join(stream.read().replace("to find section 7", "").split())
        assert not re.search(r"[Ss]ections? \d", text), path
        if path == recipes:
            assert set(re.findall(r'(?:under|in front of) "([^"]+)"', text)) <= set(SECTIONS)


def test_sections_hold_what_they_say():
    where = {name: title for title, (_, text) in SECTIONS.items() for name in re.findall(r"^def (\w+)\(", text, re.M)}
    native, beyond = "mtml* functions", "Functions outside the 2.2.0 header"
    wrong = {name for name in FUNCTIONS if where[name] != (beyond if name in pymtml._OPTIONAL_PROTOTYPES else native)}
    nvml = {"Structs", "nvml* functions that return a value", "nvml* functions without an MTML counterpart"}
    wrong |= {name for name in set(DEFINED) & set(CALLABLES) if name.startswith("nvml") and where[name] not in nvml}
    assert not wrong


def test_groups_are_those_of_the_map():
    """Both sections of nvml* functions have sub-banners of the same names, in the order that the docstring lists."""
    listed = re.search(r"have the same groups \(.*?\): (.*?)\.$", " ".join(pymtml.__doc__.split()))
    listed = re.split(", (?!which)", listed.group(1))
    found = set()
    for section in ("nvml* functions that return a value", "nvml* functions without an MTML counterpart"):
        groups = re.findall(r"^# ---- ([^:\n]*) ----$", SECTIONS[section][1], re.M)  # "Group: part" is within a group
        groups = [group for group in groups if group != "Names for calls from within"]
        assert groups == sorted(groups, key=listed.index), section
        found.update(groups)
    assert found == set(listed)


def test_public_functions_do_not_call_each_other_under_their_public_names():
    """Programs replace module functions by wrappers: a call from within must not run into those."""
    public = {name for name in DEFINED if not name.startswith("_")}
    found = []
    for node in TREE.body:
        for inner in ast.walk(node) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ():
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in public:
                found.append("%s uses %s, line %d" % (node.name, inner.id, inner.lineno))
    assert found == []


def test_functions_stand_in_header_order():
    names = [name for name in DEFINED if name in FUNCTIONS]
    lacking = sorted(set(FUNCTIONS) - set(names))
    assert not lacking, "pymtml.py does not define " + ", ".join(lacking)
    for title in ("mtml* functions", "Functions outside the 2.2.0 header"):
        for text in SECTIONS[title][1].split("# BEGIN generated"):  # by hand, then generated
            names = [name for name in re.findall(r"(?m)^def (\w+)", text) if name in FUNCTIONS]
            assert names == sorted(names, key=list(FUNCTIONS).index)


def test_every_mtml_function_has_a_prototype():
    """What is public and begins with mtml calls the C function of its name, but for these."""
    only_python = {"mtmlGpuContext", "mtmlMemoryContext", "mtmlVpuContext", "mtmlStructToFriendlyObject"}
    native = {name for name in CALLABLES if name.startswith("mtml")} - only_python
    assert native == set(pymtml._PROTOTYPES) | set(pymtml._OPTIONAL_PROTOTYPES)


def test_no_name_is_defined_twice():
    names = [node.name for node in TREE.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    targets = [target for node in TREE.body if isinstance(node, ast.Assign) for target in node.targets]
    names += [target.id for target in targets if isinstance(target, ast.Name)]
    assert sorted(names) == sorted(set(names))


# These never raise an NVMLError or MTMLError of their own: they build or look at Python objects.
CANNOT_RAISE = {name for name in FUNCTIONS if "Free" in name} | set(
    """mtmlGpuContext mtmlMemoryContext mtmlVpuContext mtmlLibraryShutDown mtmlLibraryCountDevice mtmlDeviceGetMpcMode
    mtmlLogGetConfiguration mtmlErrorString nvmlErrorString nvmlExceptionClass nvmlStructToFriendlyObject""".split()
)


def lacks(name, function):
    """What is wrong with a public function, or None: its kind, its annotation, its docstring.

    The grammar of a docstring: one line says what is returned; then prose; then Raises:, then MTML:.
    """
    if (
        type(function) is not types.FunctionType
        or function.__module__ != "pymtml"
        or not {name, function.__name__} & set(DEFINED)
        or getattr(pymtml, function.__name__, None) is not function
    ):
        return "it is no plain function under its own name, or another name of one"
    text = inspect.getdoc(function)
    if not text:
        return "no docstring"
    if not text.startswith("Not available") and "return" not in function.__annotations__:
        return "no annotation of what it returns"  # what only refuses would return what nvidia-ml-py says
    lines = text.splitlines()
    marks = [line.split(":")[0] for line in lines if re.match("(Raises|MTML|MUSA):", line)]
    inside = [line for line in lines if re.search(r"\S +(Raises|MTML|MUSA): ", line)]
    ends = lines[0].endswith((".", ";", ","))
    if len(lines[0]) > 120 or len(lines) > 1 and not ends and (lines[1] or name.startswith("mtml")):
        return "a first line that does not end a sentence"
    if name.startswith("nvml") and (marks != sorted(set(marks), key=["Raises", "MTML", "MUSA"].index) or inside):
        return "Raises: and MTML: are not lines of their own, in this order"
    same = re.search(r"\b[Aa]s (nvml\w+)", text)
    raising = text + (inspect.getdoc(CALLABLES[same.group(1)]) or "" if same else "")
    # What is not available says so; its call says which errors it may raise.
    if not {name, function.__name__} & CANNOT_RAISE and not re.search("^Not available|Raises:", raising):
        return "no line Raises:"
    for error in re.findall(r"\b(?:MTML|NVML)Error_\w+\b", text):
        if not issubclass(getattr(pymtml, error, int), pymtml.MTMLError):
            return "no error is named " + error
    for other in re.findall(r"\b(?:mtml|nvml)[A-Z]\w+(?!\*)\b", text):
        if not hasattr(pymtml, other) and other != "nvmlReturn":  # a field of the field values
            return "no function is named " + other
    return None


def test_public_functions_say_what_they_do():
    assert len(CALLABLES) > 400
    lacking = ["%s: %s" % (name, lacks(name, function)) for name, function in sorted(CALLABLES.items())]
    lacking = [line for line in lacking if not line.endswith(": None")]
    assert not lacking, "; ".join(lacking)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="annotations are written as Python 3.10 reads them")
def test_annotations_can_be_read():
    assert typing.get_type_hints(pymtml)
    for value in vars(pymtml).values():
        if isinstance(value, (types.FunctionType, type)) and value.__module__ == "pymtml":
            typing.get_type_hints(value)
    assert typing.get_type_hints(pymtml.nvmlDeviceGetUtilizationRates)["return"] is pymtml.c_nvmlUtilization_t


def test_nothing_is_made_behind_the_readers_back():
    """No exec, nothing imported but this, and frames only where a last shutdown looks for queries on the stacks."""
    section, found = SECTIONS["The life"][1], set()
    for node in ast.walk(TREE):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("exec", "eval", "__import__"), node.lineno
        if isinstance(node, ast.Attribute) and node.attr in ("_getframe", "f_globals", "__globals__"):
            found.add(node.attr)
            assert SOURCE.splitlines()[node.lineno - 1] in section, node.lineno
    assert found and not re.search(r"globals\(\)(\[[^\]]*\] *=|\.update)", SOURCE)
    imported = {alias.name for node in TREE.body if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in TREE.body if isinstance(node, ast.ImportFrom)}
    assert imported == {"_thread", "ctypes", "os", "sys"}


def test_the_architecture_names_all_that_is_kept():
    """docs/architecture.md lists each slot in which a constant property of a device is stored, and no others."""
    with open(os.path.join(simulated.ROOT, "docs", "architecture.md"), encoding="utf-8") as file:
        page = file.read()
    table = page.partition("## What is kept")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(_[a-z_]+)`", table)) - {"_functions", "_c", "_meters"}
    made = {"_address", "_of", "_device", "_board", "_gpu", "_memory", "_vpu"}  # by which C is asked
    assert named == set(pymtml.c_mtmlDevice_t.__slots__) - made
    assert "20 ms to 1 s" in table and (pymtml._WALK_AGE_MIN, pymtml._WALK_AGE_MAX) == (0.02, 1.0)
    assert "five seconds" in page and pymtml._DRAIN_SECONDS == 5
