"""What the generators share: reading the project, the blocks between markers, the form of JSON."""

import ast
import functools
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# In the order in which they stand in pymtml.py: names of one block stay out of those after it.
BLOCKS = ("MTML constants", "errors", "MTML handles", "MTML structs", "MTML prototypes", "MTML header functions")
BLOCKS += ("MTML functions", "NVML vocabulary", "cards", "XIDs", "NVML catalogue", "NVML refusals")
WIDTH = 120

# The facts were taken on 64-bit Linux, where ctypes calls its 64-bit types by these names; a long may have 32 bits.
FIXED_WIDTH = {"c_ulong": "c_ulonglong", "c_long": "c_longlong"}


def read(path):
    """The text of a file of the project."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


def json_text(value, deep=None):
    """The text of a JSON file. What fits into a line is on one, and lines of words and numbers are filled; a table, as
    the values of an enum are, has a line for each. With ``deep`` what is that deep inside is on one line, however long:
    an entry a line."""
    return "\n".join(_json_lines(value, deep, "")) + "\n"


def _json_lines(value, deep, head, within=None):
    line = head + json.dumps(value)
    whole = len(line) < WIDTH if deep is None else deep == 0
    if whole or not value or not isinstance(value, (dict, list)):
        return [line]
    margin = " " * (len(head) - len(head.lstrip()) + 1)
    first, last = "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, dict):
        entries = [(json.dumps(key) + ": ", entry) for key, entry in value.items()]
    else:
        entries = [("", entry) for entry in value]
    plain = not any(isinstance(entry, (dict, list)) for _, entry in entries)
    filled = deep is None and not (plain and isinstance(value, dict) and within is dict)
    found, joins = [head + first], filled and plain
    for name, entry in entries:
        lines = _json_lines(entry, deep and deep - 1, margin + name, type(value))
        text = " " * (found != [head + first]) + lines[0].lstrip() + ","
        alike = not isinstance(entry, (dict, list))
        if joins and alike and len(found[-1] + text) <= WIDTH:
            found[-1] += text
        else:
            found += lines[:-1] + [lines[-1] + ","]
        joins = filled and alike
    found[-1] = found[-1][:-1]
    if filled and plain:
        return found[:-1] + [found[-1] + last]
    return found + [margin[1:] + last]


def markers(title):
    """First and last line of a generated block."""
    return "# BEGIN generated %s" % title, "# END generated %s" % title


def between(path, source, first, last, lines):
    """The text of a file with other lines between two that mark the place."""
    found = source.split("\n")
    if found.count(first) != 1 or found.count(last) != 1:
        sys.exit("%s must hold one line '%s' and after it one line '%s'" % (path, first, last))
    return "\n".join(found[: found.index(first) + 1] + lines + found[found.index(last) :])


def by_hand(source, but=()):
    """The part of the module that no generator writes, with the blocks that ``but`` names."""
    for title in BLOCKS:
        if title not in but:
            source = between("pymtml.py", source, *markers(title), lines=[])
    return source


def bound_names(source):
    """The names that the statements of a module bind, those under `if`, `try`, `for` and `with` included."""
    names = set()
    pending = list(ast.parse(source).body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                names.add(node.id)
        elif not isinstance(node, ast.AnnAssign) or node.value is not None:
            pending.extend(ast.iter_child_nodes(node))
    return names


def surface():
    """What is recorded of nvidia-ml-py (dict)."""
    return json.loads(read("facts/nvml_surface.json"))


def above(title, source):
    """The names that the module defines by hand, or in a block above that one (set)."""
    return bound_names(by_hand(source, but=BLOCKS[: BLOCKS.index(title)]))


def files(blocks, facts=None):
    """The FILES of a generator with blocks, {path: [(first line, last line, write)]}.

    write(facts()), or without facts write(text of the file), gives the lines between.
    """

    def renewed(path, source):
        for first, last, write in blocks[path]:
            source = between(path, source, first, last, list(write(facts() if facts else source)))
        return source

    return {path: functools.partial(renewed, path) for path in blocks}


def block(title, write):
    """The FILES of a generator of one block of the module."""
    return files({"pymtml.py": [markers(title) + (write,)]})
