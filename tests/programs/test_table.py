"""docs/programs.md is the table of the last run, of the programs that the suite runs at the versions it pins."""

import copy

import last_run
import program_set
import pytest
import write_table

RUN = last_run.read()
with open(write_table.TABLE, encoding="utf-8") as _file:
    DOCUMENT = _file.read()


def test_table_is_that_of_the_last_run():
    assert write_table.objections(RUN, DOCUMENT, program_set.ALL) == []


@pytest.mark.parametrize("program", program_set.ALL, ids=lambda program: program.package)
def test_altered_version_is_refused(program):
    package = "| %s | %s |" % (program.package, program.pin)
    altered = DOCUMENT.replace(package, "| %s | 0.0.1 |" % program.package)
    assert altered != DOCUMENT
    assert write_table.objections(RUN, altered, program_set.ALL)


def test_altered_date_is_refused():
    altered = DOCUMENT.replace(RUN["date"], "2031-02-03")
    assert altered != DOCUMENT
    assert write_table.objections(RUN, altered, program_set.ALL)


def test_missing_row_is_refused():
    altered = "\n".join(DOCUMENT.splitlines()[:-1])
    assert write_table.objections(RUN, altered, program_set.ALL)


def test_pin_that_was_not_run_is_refused():
    newer = copy.copy(program_set.GPUSTAT)
    newer.pin = "99.0"
    programs = [newer if program is program_set.GPUSTAT else program for program in program_set.ALL]
    assert write_table.objections(RUN, DOCUMENT, programs) == [
        "gpustat: the last run had version %s, the suite has 99.0" % program_set.GPUSTAT.pin
    ]


def test_program_that_was_not_run_is_refused():
    programs = program_set.ALL + (program_set.Pattern("newcomer"),)
    assert write_table.objections(RUN, DOCUMENT, programs) == ["newcomer: not in the last run"]
    assert write_table.objections(RUN, DOCUMENT, program_set.ALL[1:]) == [
        "%s: no longer in program_set.py" % program_set.ALL[0].package
    ]


@pytest.mark.parametrize("outcome, said", [("failed", "1 of"), ("skipped", "works, in part not run")])
def test_run_that_was_not_good_is_refused(outcome, said):
    run = copy.deepcopy(RUN)
    next(iter(run["programs"]["gpustat"]["tests"].values()))["outcome"] = outcome
    (objection,) = write_table.objections(run, write_table.table(run), program_set.ALL)
    assert objection.startswith("gpustat: " + said)
