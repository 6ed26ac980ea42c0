"""The order of pymtml.py: the map in its docstring, its banners, and what every public function says about itself."""

import ast
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

sys.path.append(os.path.join(simulated.ROOT, "tools"))
import generated  # noqa: E402

with open(pymtml.__file__, encoding="utf-8") as _file:
    SOURCE = _file.read()
TREE = ast.parse(SOURCE)
PUBLIC = {name: value for name, value in vars(pymtml).items() if re.match(r"(mtml|nvml)[A-Z]\w*$", name)}
CALLABLES = {name: value for name, value in PUBLIC.items() if not isinstance(value, (type, int, str))}
DEFINED = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}


def test_map_and_banners_are_equal():
    banners = re.findall(r"^# ==== (?:(\d+\. )?(.+?)) =+$", SOURCE, re.M)
    text = pymtml.__doc__[pymtml.__doc__.index("Map of this file") :]
    lines = [line.strip() for line in text.splitlines() if re.match(r"Part |\s+\d+\. ", line)]
    assert lines == [number + title for number, title in banners]
    numbers = [int(number[:-2]) for number, _ in banners if number]
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_part_written_by_hand_stays_small_enough_to_read():
    """What is data has a table in facts/, from which a generator writes."""
    assert len(generated.by_hand(SOURCE).splitlines()) <= 7500


def test_banners_have_one_width():
    assert {len(line) for line in SOURCE.splitlines() if line.startswith("# ====")} == {120}


def test_sections_hold_what_they_say():
    starts = {int(number): SOURCE[:match].count("\n") + 1 for number, match in banner_positions()}
    for name, node in DEFINED.items():
        section = max(number for number, line in starts.items() if line < node.lineno)
        if name in FUNCTIONS:
            assert (name, section) == (name, 8 if name in pymtml._OPTIONAL_PROTOTYPES else 7)
        elif name in CALLABLES and name.startswith("nvml"):
            assert (name, section in (4, 13, 17)) == (name, True)


def test_groups_are_those_of_the_map():
    """Sections 13 and 17 have sub-banners of the same names, in the order in which the docstring lists them."""
    listed = re.search(r"have the same groups \(.*?\): (.*?)\.$", " ".join(pymtml.__doc__.split()))
    listed = re.split(", (?!which)", listed.group(1))
    starts = {number: position for number, position in banner_positions()}
    found = {}
    for section, following in (("13", "14"), ("17", "18")):
        groups = re.findall(r"^# ---- (.*) ----$", SOURCE[starts[section] : starts[following]], re.M)
        found[section] = [group for group in groups if group != "Names for calls from within"]
        assert found[section] == sorted(found[section], key=listed.index), section
    assert set(found["13"]) | set(found["17"]) == set(listed)


def test_vocabulary_is_what_the_import_needs():
    """Section 9 holds the constants that statements of the module use while it is imported, and no other."""
    starts = {number: position for number, position in banner_positions()}
    section = set(re.findall(r"^(\w+) = ", SOURCE[starts["9"] : starts["10"]], re.M))
    used, pending = set(), [ast.parse(generated.by_hand(SOURCE))]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            pending += node.args.defaults
        else:
            used.update([node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else [])
            pending += ast.iter_child_nodes(node)
    assert section - used == set()


def test_public_functions_do_not_call_each_other_under_their_public_names():
    """Programs replace module functions by wrappers: a call from within must not run into those."""
    public = {name for name in DEFINED if not name.startswith("_")}
    found = []
    for node in TREE.body:
        for inner in ast.walk(node) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ():
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in public:
                found.append("%s uses %s, line %d" % (node.name, inner.id, inner.lineno))
    assert found == []


def against_the_grammar(lines):
    """What is wrong with a docstring: one line says what is returned; then prose; then Raises: and MTML:, or None."""
    marks = [line.split(":")[0] for line in lines if re.match("(Raises|MTML|MUSA):", line)]
    if marks != sorted(set(marks), key=["Raises", "MTML", "MUSA"].index):
        return "the order of %s" % marks
    inside = [line for line in lines if re.search(r"\S +(Raises|MTML|MUSA): ", line)]
    if inside:
        return "a mark within a line: %s" % inside[0]
    if len(lines) > 1 and not lines[0].endswith((".", ";", ",")) and lines[1]:
        return "a first line that does not end: %s" % lines[0]
    return None


def test_docstrings_have_their_grammar():
    names = [name for name in DEFINED if name.startswith("nvml") and name in CALLABLES]
    wrong = {name: against_the_grammar(inspect.getdoc(CALLABLES[name]).splitlines()) for name in names}
    assert len(names) > 300 and not ["%s: %s" % item for item in wrong.items() if item[1]]
    assert against_the_grammar(["One.", "", "MTML: x.", "Raises: y."])
    assert against_the_grammar(["One.", "", "Prose. Raises: y."]) and against_the_grammar(["One", "two.", "Raises: y."])


def banner_positions():
    return [(match.group(1), match.start()) for match in re.finditer(r"^# ==== (\d+)\. ", SOURCE, re.M)]


def test_functions_stand_in_header_order():
    names = [node.name for node in TREE.body if isinstance(node, ast.FunctionDef) and node.name in FUNCTIONS]
    lacking = sorted(set(FUNCTIONS) - set(names))
    assert not lacking, "pymtml.py does not define %s (section 7, or 8 beyond the header)" % ", ".join(lacking)
    assert names == list(FUNCTIONS)


def test_every_mtml_function_has_a_prototype():
    """What is public and begins with mtml calls the C function of its name, but for these."""
    only_python = {"mtmlGpuContext", "mtmlMemoryContext", "mtmlVpuContext", "mtmlStructToFriendlyObject"}
    native = {name for name in CALLABLES if name.startswith("mtml")} - only_python
    assert native ^ (set(pymtml._PROTOTYPES) | set(pymtml._OPTIONAL_PROTOTYPES)) == set()


def test_no_name_is_defined_twice():
    names = [node.name for node in TREE.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    names += [
        target.id
        for node in TREE.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    assert sorted(names) == sorted(set(names))


def test_public_functions_are_plain():
    """Functions, not classes or partials, each under its own name or as another name of one that has its own."""
    odd = [
        name
        for name, function in CALLABLES.items()
        if type(function) is not types.FunctionType
        or function.__module__ != "pymtml"
        or not {name, function.__name__} & set(DEFINED)
        or getattr(pymtml, function.__name__, None) is not function
    ]
    assert odd == []


# These never raise an NVMLError or MTMLError of their own: they build or look at Python objects.
CANNOT_RAISE = {
    "mtmlGpuContext",
    "mtmlMemoryContext",
    "mtmlVpuContext",
    "mtmlLibraryShutDown",
    "mtmlLibraryCountDevice",
    "mtmlDeviceGetMpcMode",
    "mtmlLogGetConfiguration",
    "mtmlErrorString",
    "nvmlErrorString",
    "nvmlExceptionClass",
    "nvmlStructToFriendlyObject",
} | {name for name in FUNCTIONS if "Free" in name}


def undocumented(name):
    """What the docstring of a public function lacks, or None."""
    text = inspect.getdoc(CALLABLES[name])
    if not text:
        return "a docstring"
    first = text.splitlines()[0]
    if len(first) > 120 or "\n\n" in text and not first.endswith((".", ";", ",")):
        return "a first line that ends a sentence"
    same = re.search(r"\b[Aa]s (nvml\w+)", text)
    if same:
        text += inspect.getdoc(CALLABLES[same.group(1)]) or ""
    if not {name, CALLABLES[name].__name__} & CANNOT_RAISE and "Raises:" not in text:
        return "a line Raises:"
    return None


def test_public_functions_are_documented():
    lacking = ["%s lacks %s" % (name, undocumented(name)) for name in sorted(CALLABLES) if undocumented(name)]
    assert not lacking, "; ".join(lacking)


# These always raise: what they would return is nvidia-ml-py's to say.
ANSWERING = [name for name in sorted(CALLABLES) if not (CALLABLES[name].__doc__ or "").startswith("Not available")]


def test_functions_that_answer_say_of_what_type():
    silent = [name for name in ANSWERING if "return" not in CALLABLES[name].__annotations__]
    assert not silent, "annotate in pymtml.py what these return: %s" % ", ".join(silent)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="annotations are written as Python 3.10 reads them")
def test_annotations_can_be_read():
    assert typing.get_type_hints(pymtml)
    for name, value in vars(pymtml).items():
        if isinstance(value, (types.FunctionType, type)) and value.__module__ == "pymtml":
            typing.get_type_hints(value)
    assert typing.get_type_hints(pymtml.nvmlDeviceGetUtilizationRates)["return"] is pymtml.c_nvmlUtilization_t


def test_errors_named_in_docstrings_exist():
    for name, function in CALLABLES.items():
        for error in re.findall(r"\b(?:MTML|NVML)Error_\w+\b", function.__doc__ or ""):
            assert (name, issubclass(getattr(pymtml, error), pymtml.MTMLError)) == (name, True)


def test_functions_named_in_docstrings_exist():
    for name, function in CALLABLES.items():
        for other in re.findall(r"\b(?:mtml|nvml)[A-Z]\w+(?!\*)\b", function.__doc__ or ""):
            known = hasattr(pymtml, other) or other == "nvmlReturn"  # a field of the field values
            assert (name, other, bool(known)) == (name, other, True)


def test_import_loads_no_more_than_it_must():
    imported = set()
    for node in TREE.body:
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    assert imported == {"_thread", "ctypes", "os", "sys"}


def test_nothing_is_made_behind_the_readers_back():
    lookers = [
        node
        for node in TREE.body
        if getattr(node, "name", "")
        in ("_start", "_stop", "_change", "_is_nested", "_query_on", "_other_threads", "_after_fork")
    ]
    looks = {node for looker in lookers for node in ast.walk(looker)}  # a last shutdown looks for queries on the stacks
    for node in ast.walk(TREE):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("exec", "eval", "__import__"), node.lineno
        if isinstance(node, ast.Attribute) and node not in looks:
            assert node.attr not in ("_getframe", "f_globals", "__globals__"), node.lineno
    assert not re.search(r"globals\(\)(\[[^\]]*\] *=|\.update)", SOURCE)


def test_the_architecture_names_all_that_is_kept():
    """docs/architecture.md lists each slot in which a constant property of a device is stored, and no others."""
    with open(os.path.join(simulated.ROOT, "docs", "architecture.md"), encoding="utf-8") as file:
        page = file.read()
    table = page.partition("## What is kept")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(_[a-z_]+)`", table)) - {"_functions", "_c", "_meters"}
    kept = set(re.findall(r'_keep\(\s*\w+, "(_\w+)"', SOURCE))
    assert named == kept
    assert "20 ms to 1 s" in table and (pymtml._WALK_AGE_MIN, pymtml._WALK_AGE_MAX) == (0.02, 1.0)
    assert "five seconds at most" in page and pymtml._DRAIN_SECONDS == 5
