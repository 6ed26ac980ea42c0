"""The sources: no file leans on one that leans on it, in calls or in headers."""

import glob
import os
import re
import subprocess

import interface

SOURCES = os.path.join(interface.SIMULATOR, "src")


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


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b", "c"}


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
