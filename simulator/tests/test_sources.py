"""The sources: no file leans on one that leans on it, in calls or in headers."""

import ast
import glob
import os
import re
import subprocess

import interface

SOURCES = os.path.join(interface.SIMULATOR, "src")
PACKAGE = os.path.join(interface.SIMULATOR, "python", "mtml_simulator")


def circles(edges):
    """The names from which a walk along the edges comes back to where it began (set)."""

    def reached(start):
        found, waiting = set(), [start]
        while waiting:
            for name in edges[waiting.pop()] - found:
                found.add(name)
                waiting.append(name)
        return found

    return {name for name in edges if name in reached(name)}


def test_no_circle_of_calls():
    defined, wanted = {}, {}
    for path in glob.glob(os.path.join(interface.BUILD, "objects", "*.o")):
        name = os.path.basename(path)[:-2]
        if not os.path.exists(os.path.join(SOURCES, name + ".c")):
            continue
        wanted[name] = set()
        for line in subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
            kind, symbol = line.split()[-2:]
            if kind == "U":
                wanted[name].add(symbol)
            elif kind.isupper():
                defined[symbol] = name
    edges = {name: {defined[symbol] for symbol in wanted[name] if symbol in defined} - {name} for name in wanted}
    assert edges["control"] >= {"environment", "handle", "outside", "change"}
    assert circles(edges) == set()


def test_no_circle_of_headers():
    edges = {}
    for path in glob.glob(os.path.join(SOURCES, "*.[ch]")):
        with open(path) as file:
            included = re.findall(r'^#include "([\w.]+)"', file.read(), re.M)
        name = os.path.basename(path)
        edges[name] = set(included)
        assert name[-1] == "c" or "base.h" == name or included, name
    assert circles(edges) == set()
    # A source begins with its own header, which shows that the header needs nothing before it.
    for name in edges:
        if name.endswith(".c") and name[:-1] + "h" in edges:
            with open(os.path.join(SOURCES, name)) as file:
                assert re.findall(r'^#include "([\w.]+)"', file.read(), re.M)[0] == name[:-1] + "h"


def test_no_circle_of_modules():
    """In the Python package, whatever imports are for: those that only type checkers see are imports, too."""
    edges = {}
    for path in glob.glob(os.path.join(PACKAGE, "**", "*.py"), recursive=True):
        module = os.path.relpath(path, PACKAGE)[:-3].replace(os.sep, ".").replace("__init__", "").rstrip(".")
        above = path.endswith("__init__.py") and module or module.rpartition(".")[0]
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        edges[module] = set()
        for node in [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]:
            base = [above, above.rpartition(".")[0]][node.level - 1]
            inside = ".".join(filter(None, (base, node.module)))
            edges[module] |= {".".join(filter(None, (inside, name.name))) for name in node.names} | {inside}
    edges = {module: found & set(edges) - {""} for module, found in edges.items()}
    assert edges["session"] >= {"tree", "native", "folders"} and edges["gmi.command"] >= {"gmi.table"}
    assert circles(edges) == set()
