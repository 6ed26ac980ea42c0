"""What the generators share: the blocks between markers, the form of JSON, and the command line."""

import argparse
import ast
import difflib
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODULE = os.path.join(ROOT, "pymtml.py")
SURFACE = os.path.join(ROOT, "facts", "nvml_surface.json")
# In the order in which they stand in pymtml.py: names of one block stay out of those after it.
BLOCKS = ("MTML constants", "errors", "MTML handles", "MTML structs", "MTML prototypes", "MTML functions")
BLOCKS += ("NVML vocabulary", "cards", "XIDs", "NVML catalogue", "NVML refusals")
WIDTH = 120

# The facts were taken on 64-bit Linux, where ctypes calls its 64-bit types by these names; a long may have 32 bits.
FIXED_WIDTH = {"c_ulong": "c_ulonglong", "c_long": "c_longlong"}


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


def split(source, title):
    """The text before a block, the block with its markers, and the text after it."""
    lines = source.splitlines(keepends=True)
    first, last = markers(title)
    marks = [number for number, line in enumerate(lines) if line.rstrip("\n") in (first, last)]
    if [lines[number].rstrip("\n") for number in marks] != [first, last]:
        sys.exit("pymtml.py must hold one line '%s' and after it one line '%s'" % (first, last))
    begin, end = marks[0], marks[1] + 1
    return "".join(lines[:begin]), "".join(lines[begin:end]), "".join(lines[end:])


def between(path, source, first, last, lines):
    """The text of a file with other lines between two that mark the place."""
    found = source.split("\n")
    if found.count(first) != 1 or found.count(last) != 1:
        sys.exit("%s must hold one line '%s' and after it one line '%s'" % (path, first, last))
    return "\n".join(found[: found.index(first) + 1] + lines + found[found.index(last) :])


def checks(document):
    """Whether a generator, with that docstring, was asked to check its files rather than to write them."""
    parser = argparse.ArgumentParser(description=document.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1, with what differs, if not current")
    return parser.parse_args().check


def renew(renewed, check):
    """Write the files that are no longer current, {path: function of the old text}; with ``check`` show what differs.

    Whether some were not current.
    """
    stale = False
    for path, function in renewed.items():
        with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
            old = stream.read()
        new = function(old)
        stale = stale or new != old
        if check:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), path, "generated"))
        elif new != old:
            with open(os.path.join(ROOT, path), "w", encoding="utf-8") as stream:
                stream.write(new)
    return stale


def by_hand(source, but=()):
    """The part of the module that no generator writes, with the blocks that ``but`` names."""
    for title in BLOCKS:
        if title not in but and markers(title)[0] in source:
            before, _, after = split(source, title)
            source = before + after
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


def run(description, title, block, to_do=None):
    """The command line of a generator: rewrite its block, or check it.

    ``block(surface, taken, source)`` is the block's text; names in ``taken`` are defined by hand, or in a block above,
    and stay out; ``source`` is the module. ``to_do(surface, taken)`` is a list of what a maintainer has left to do,
    which is said whether the block is written or checked.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 with a diff if not current")
    parser.add_argument("--module", default=MODULE, help="the module to work on (default: %(default)s)")
    parser.add_argument("--surface", default=SURFACE, help="the facts to read (default: %(default)s)")
    options = parser.parse_args()
    with open(options.surface, encoding="utf-8") as stream:
        surface = json.load(stream)
    with open(options.module, encoding="utf-8") as stream:
        source = stream.read()
    before, old, after = split(source, title)
    taken = bound_names(by_hand(source, but=BLOCKS[: BLOCKS.index(title)]))
    new = block(surface, taken, source)
    missing = to_do(surface, taken) if to_do else []
    sys.stdout.writelines(line + "\n" for line in missing)
    if options.check:
        difference = difflib.unified_diff(old.splitlines(True), new.splitlines(True), "pymtml.py", "generated")
        sys.stdout.writelines(difference)
        if old != new:
            sys.exit("pymtml.py is not current, generated %s: make generate" % title)
        sys.exit(bool(missing))
    if old != new:
        with open(options.module, "w", encoding="utf-8") as stream:
            stream.write(before + new + after)
