"""The record of long runs, docs/measured.csv, and what writes its rows."""

import os
import sys

import pytest
import simulated

sys.path[:0] = [simulated.ROOT, os.path.join(simulated.ROOT, "tools")]
import measured  # noqa: E402

HEAD = "table,what,run,date,result\n"


@pytest.fixture
def record(tmp_path, monkeypatch):
    path = tmp_path / "measured.csv"
    path.write_text(HEAD + "a,one,x,2020-01-01,1\nb,one,y,2020-01-01,2\n", encoding="utf-8")
    monkeypatch.setattr(measured, "PATH", str(path))
    return path


def test_a_run_replaces_the_row_of_its_name_in_its_table(record):
    measured.note("b", "one", "z", "3, of 4")
    measured.note("a", "two", "z", "5")
    lines = record.read_text(encoding="utf-8").splitlines()
    today = measured.rows()[1]["date"]
    assert lines == [HEAD.strip(), "a,one,x,2020-01-01,1", 'b,one,z,%s,"3, of 4"' % today, "a,two,z,%s,5" % today]
    assert measured.markdown("a")[2:] == ["| one | x | 2020-01-01 | 1 |", "| two | z | %s | 5 |" % today]


def test_each_row_is_shown_and_says_what_was_run():
    rows = measured.rows()
    assert {row["table"] for row in rows} == {"figures", "interpreters", "mutations"}
    assert all(row[column].strip() for row in rows for column in measured.COLUMNS)
    assert len({(row["table"], row["what"]) for row in rows}) == len(rows)


class Session:
    """As much of nox's as noxfile.py needs: pytest writes its report, and ends with 1 where a test failed."""

    posargs = ()

    def __init__(self, folder, failures):
        self.folder, self.failures, self.errors = str(folder), failures, []

    def install(self, *arguments):
        pass

    def create_tmp(self):
        return self.folder

    def run(self, *command, **options):
        if "pytest" not in command:
            return "CPython 3.99\n"
        (report,) = [word.partition("=")[2] for word in command if word.startswith("--junitxml=")]
        with open(report, "w") as file:
            file.write('<testsuite errors="0" failures="%d" skipped="0" tests="7" />' % self.failures)
        assert int(self.failures > 0) in options["success_codes"]

    def error(self, text):
        self.errors.append(text)


@pytest.mark.parametrize("failures", [0, 2])
def test_an_interpreter_is_noted_whether_tests_failed_or_not(record, tmp_path, failures):
    pytest.importorskip("nox")
    import noxfile

    session = Session(tmp_path, failures)
    noxfile.tests.func(session)
    result = "%d passed, 0 skipped, %d failed" % (7 - failures, failures)
    (row,) = [row for row in measured.rows() if row["table"] == "interpreters"]
    assert (row["what"], row["result"]) == ("CPython 3.99", result)
    assert session.errors == ([result] if failures else [])


def test_the_report_of_an_interpreter(tmp_path):
    pytest.importorskip("nox")
    import noxfile

    report = tmp_path / "report.xml"
    text = '<testsuites><testsuite errors="%d" failures="0" skipped="20" tests="1234" /></testsuites>'
    report.write_text(text % 0)
    assert noxfile.summary(str(report)) == ("1,214 passed, 20 skipped, 0 failed", False)
    report.write_text(text % 1)
    assert noxfile.summary(str(report)) == ("1,213 passed, 20 skipped, 1 failed", True)
