"""docs/programs.md speaks of the programs that the suite runs, at the versions it pins."""

import os

import program_set
import pytest
from machines import ROOT

PROGRAMS = [value for value in vars(program_set).values() if hasattr(value, "pin")]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.package)
def test_row(program):
    with open(os.path.join(ROOT, "docs", "programs.md")) as file:
        rows = [line.split(" | ") for line in file if line.startswith("| ")]
    versions = {row[0][2:]: (row[1], row[2]) for row in rows}
    assert versions.get(program.package) == (program.pin, "works")
