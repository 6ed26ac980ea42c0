"""Reads rows.txt and importers.txt: what programs are asked, and what must come of it."""

import os
import re
import shlex

import program_set
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "asking.py"), encoding="utf-8") as file:
    ASKING = file.read()


def cases(name):
    """The runs of a file, in its order: [{"program", "shows", "options", "code", "expected"}]."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        _, *rows = re.split(r"\n\n(?=== )", file.read())
    known = {program.package: program for program in program_set.ALL}
    found = []
    for row in rows:
        heads, code, expected = re.fullmatch(r"((?:(?:==|--)[^\n]*\n)+)(.*\n)=> (.*)", row.strip(), re.DOTALL).groups()
        for head in re.findall(r"^== (.*\n(?:--.*\n)*)", heads, re.MULTILINE):
            title, *runs = head.splitlines()
            package, _, shows = title.partition(": ")
            for run in runs or ["--"]:
                options = dict(word.split("=", 1) for word in shlex.split(run)[1:])
                case = {"program": known[package], "shows": shows, "options": options}
                found.append(dict(case, code=ASKING + code, expected=" ".join(expected.split())))
    return found


class Holding(list):
    """Equal to every list that has these entries."""

    def __eq__(self, other):
        return all(entry in other for entry in self)


def about(value, within=0):
    """A number that may be so far away; anything else as it is."""
    return pytest.approx(value, abs=within) if isinstance(value, (int, float)) else value


def expectation(text, **names):
    """What an expression of a row comes to."""
    return eval(text, dict(names, about=about, approx=pytest.approx, Holding=Holding))
