"""docs/programs.md is the table of a good run of the programs that the suite has, at the versions it pins."""

import copy
import re

import program_set
import pytest
import row_files
import write_table

DOCUMENT = write_table.read()
PACKAGE = program_set.GPUSTAT.package

# A quantity in the words of a row: what a row that has it compares, as its last lines name it.
QUANTITIES = {
    "names?|identity|model": "name",
    "UUIDs?|identity": "uuid",
    "utilization|load": "utilization|load",
    "memory": "memory|mib|_mb|free|share|held|total",
    "temperatures?": "temperature",
    "power|watts": "power|watts",
    "power limit": "limit",
    "clock": "clock",
    "clocks": "gpu_clock.*memory_clock",
    "fan": "fan_speed",
    "PCI (id|address)": "bus_id|pci_sbdf",
}
# Words that are no quantity: "MTML's names", "a load that changes", "names all of them", "by UUID".
OTHERWISE = r"`[^`]*`|'s names|load that changes|names all|by UUID"


def test_rows_compare_what_they_name():
    wrong = []
    for case in row_files.cases("rows.txt"):
        row, words = "%s, %s: " % (case["program"].package, case["shows"]), re.sub(OTHERWISE, "", case["shows"])
        named = [quantity for quantity in QUANTITIES if re.search(r"\b(%s)\b" % quantity, words)]
        missing = [quantity for quantity in named if not re.search(QUANTITIES[quantity], case["expected"])]
        wrong += [row + "compare it, or do not name it: " + quantity for quantity in missing]
        if re.search(r"field by field|the same (metrics|in)", words):
            wrong.append(row + "name the quantities")
        counted = re.search(r"len\(gpu\) ==|^clearml\(", case["code"][len(row_files.ASKING) :], re.MULTILINE)
        if "every field" in words and not counted:
            wrong.append(row + "see that there are no more fields")
    assert not wrong, "\n".join(wrong)


def test_table_is_that_of_the_programs():
    assert write_table.objections(DOCUMENT, program_set.ALL) == []


def test_a_program_that_was_not_run_as_it_is_now_is_named():
    newer = copy.copy(program_set.GPUSTAT)
    newer.pin = "99.0"
    others = [program for program in program_set.ALL if program is not program_set.GPUSTAT]
    for programs, said in (
        (others, "no longer in programs.csv"),
        (others + [newer], "the last run had version %s, the suite has 99.0" % program_set.GPUSTAT.pin),
    ):
        assert write_table.objections(DOCUMENT, programs) == ["%s: %s" % (PACKAGE, said)]
    newcomers = program_set.ALL + [program_set.Listed("newcomer")]
    assert write_table.objections(DOCUMENT, newcomers) == ["newcomer: not in the last run"]


@pytest.mark.parametrize(
    "outcomes, said",
    [
        (["passed", "passed"], None),
        (["passed", "failed", "skipped"], "1 of 2 checks fail"),
        (["passed", "skipped"], "works, in part not run"),
        (["skipped"], "not run"),
    ],
)
def test_a_run_makes_its_row(outcomes, said):
    tests = {str(number): {"outcome": outcome, "shows": "It."} for number, outcome in enumerate(outcomes)}
    document = write_table.table(
        {"newcomer": {"version": "pattern", "missing": "", "how": "imitation", "tests": tests}}
    )
    assert document.endswith("| newcomer | pattern | imitation | %s |  |\n" % ("**%s**" % said if said else "It"))
    objections = write_table.objections(document, [program_set.Listed("newcomer")])
    assert objections == (["newcomer: " + said] if said else [])
