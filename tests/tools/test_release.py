"""make release-check holds the changelog against the code, and sees each thing that does not agree."""

import json
import os
import re
import sys
import unittest.mock

import pytest
import simulated

TODAY = "2999-12-31"
sys.path.insert(0, os.path.join(simulated.ROOT, "tools"))
import check_release as check  # noqa: E402


def found(monkeypatch, changes=(), today=TODAY):
    """Lines of the check, with texts of files changed: (path, old, new)."""
    read = check.read

    def changed(path):
        text = read(path)
        for name, old, new in changes:
            if name == path:
                assert old in text, "the test is about a text that is no longer there: %s" % old
                text = text.replace(old, new)
        return text

    monkeypatch.setattr(check, "read", changed)
    return list(check.problems(today))


def test_as_it_is(monkeypatch):
    assert found(monkeypatch) == []


def version():
    return check.version_of("pymtml.py")


def date():
    return next(entry[1] for entry in check.sections() if entry[0] == version())


RECORDED = json.loads(check.read(check.RECORD))
BEFORE = next(entry[0] for entry in check.sections() if entry[0] in RECORDED and entry[0] != version())
PATCH = "%s.99" % BEFORE.rpartition(".")[0]
HEAD = "\n## %s" % BEFORE

BROKEN = {
    "version of the code": (
        [("pymtml.py", '__version__ = "', '__version__ = "9')],
        "newest release in CHANGELOG.md is",
    ),
    "no date": ([("CHANGELOG.md", " (%s)" % date(), "")], "has no date for"),
    "nothing unreleased": ([("CHANGELOG.md", "## Unreleased", "## Later")], "does not begin with"),
    "a function that is not named": (
        [("CHANGELOG.md", "`musa_visible_ids()`", "a function")],
        "musa_visible_ids is new",
    ),
    "a subcommand that is not named": (
        [("pymtml_cli/subcommands.py", '    "compare":', '    "newcomer": (),\n    "compare":')],
        "newcomer is new",
    ),
    "a function that is gone": (
        [("pymtml.py", "def patch_torch_c_for_musa(", "def other(")],
        "patch_torch_c_for_musa of",
    ),
    "a release that is there twice": (
        [("CHANGELOG.md", HEAD, "\n## %s\n%s" % (BEFORE, HEAD))],
        "newest first, each once",
    ),
    "another Python": ([("pyproject.toml", '">=3.7"', '">=3.9"')], ">=3.7 of the release before is gone"),
    "breaks, and says it does not": (
        [("pymtml.py", '"%s"' % version(), '"%s"' % PATCH), ("CHANGELOG.md", "## %s (" % version(), "## %s (" % PATCH)],
        "its second number must be another",
    ),
    "the simulator's version": (
        [("simulator/python/mtml_simulator/__init__.py", '__version__ = "', '__version__ = "9')],
        "mtml-simulator says",
    ),
}


@pytest.mark.parametrize("what", sorted(BROKEN))
def test_what_does_not_agree(monkeypatch, what):
    changes, words = BROKEN[what]
    lines = found(monkeypatch, changes)
    assert lines and any(words in line for line in lines), lines


def test_what_is_uploaded_is_of_this_version(tmp_path):
    for name in ("pymtml_nvml-%s-py3-none-any.whl", "pymtml_nvml-%s.tar.gz"):
        assert len(list(check.unfit(str(tmp_path)))) == 1
        (tmp_path / (name % version())).write_text("")
    assert list(check.unfit(str(tmp_path))) == []
    (tmp_path / "pymtml_nvml-0.0.1-py3-none-any.whl").write_text("")
    assert len(list(check.unfit(str(tmp_path)))) == 1


def test_a_release_of_tomorrow(monkeypatch):
    assert any("and today is" in line for line in found(monkeypatch, today="2000-01-01"))


def test_a_run_of_an_interpreter_is_written_down(tmp_path, monkeypatch):
    noxfile = pytest.importorskip("noxfile")
    report, record = tmp_path / "report.xml", tmp_path / "record.md"
    report.write_text('<testsuites><testsuite errors="1" failures="1" skipped="20" tests="1234" /></testsuites>')
    assert noxfile.summary(str(report)) == (1212, 20, 2)
    session = unittest.mock.MagicMock(posargs=["one"], **{"create_tmp.return_value": str(tmp_path)})
    noxfile.tests(session)
    session.error.assert_called_once_with("2 tests failed")
    record.write_text("before\n| CPython 3.1 | x |\n%s\n" % noxfile.LAST_ROW)
    monkeypatch.setattr(noxfile, "RECORD", str(record))
    noxfile.note("CPython 3.1", 1212, 20, 2)
    noxfile.note("CPython 3.2", 7, 0, 0)
    lines = record.read_text().splitlines()
    assert lines[0] == "before" and lines[3] == noxfile.LAST_ROW
    assert re.match(r"\| CPython 3.1 \| \d{4}-\d\d-\d\d \| `[0-9a-f]+` \| 1,212 \| 20 \| 2 \|$", lines[1])
    assert lines[2].endswith("| 7 | 0 | 0 |")


def test_no_address_or_one_that_does_not_answer_keeps_a_release_back(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["check_release.py", "--source"])
    assert re.search(r"\npublish:(.*\n\t)+.* tools/check_release\.py --source\n.*twine upload", check.read("Makefile"))
    with pytest.raises(SystemExit, match="names no source address"):  # as it stands: there is no repository
        check.main()
    (tmp_path / "source").write_text("")
    text = '[project.urls]\nSource = "%s"\n'
    monkeypatch.setattr(check, "read", lambda path: text % (tmp_path / "gone").as_uri())
    with pytest.raises(SystemExit, match="gone does not answer"):
        check.main()
    monkeypatch.setattr(check, "read", lambda path: text % (tmp_path / "source").as_uri())
    assert check.main() is None
