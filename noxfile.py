"""The tests under every CPython that is found: make test-all. It writes the table of docs/reliability.md."""

import datetime
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import nox

VERSIONS = "3.7 3.8 3.9 3.10 3.11 3.12 3.13 3.13t 3.14 3.14t 3.15 3.15t pypy3".split()
VERSIONS = os.environ.get("PYTHONS", "").split() or VERSIONS  # paths, too: PYTHONS=/opt/python/bin/python3
# What runs programs, documents or the command line needs the development environment, which has one version. Programs
# in C know no interpreter, and test_interpreters.py starts all of them by itself.
LEFT_OUT = ["cli", "programs", "tools", "test_documents.py", "test_examples.py", "test_readme.py"]
LEFT_OUT += ["test_c_clients.py", "test_interpreters.py"]
TESTS = ["test_pymtml.py", "test_pynvml.py", "test_sglang_compat.py", "tests"]
TESTS += ["--ignore=tests/" + name for name in LEFT_OUT]
ROOT = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(ROOT, "docs", "reliability.md")
LAST_ROW = "<!-- end of interpreters -->"

nox.options.error_on_missing_interpreters = False
nox.options.default_venv_backend = "venv"


@nox.session(python=VERSIONS)
def tests(session):
    """Run the tests of the module under one interpreter."""
    session.install("--upgrade", "pip")  # what some interpreters bring cannot install into another environment
    # The newest hypothesis has no wheel for a free-threaded CPython 3.13, and wants a compiler of Rust.
    session.install("--only-binary", "hypothesis", "--editable", ".[metrics,test]")
    report = os.path.join(session.create_tmp(), "report.xml")
    pytest = ["python", "-m", "pytest", "-q", "-rfEs", "--junitxml=" + report]
    session.run(*pytest, *(session.posargs or TESTS), success_codes=[0, 1])
    passed, skipped, failed = summary(report)
    if not session.posargs:
        note(session.run("python", "-c", NAME, silent=True).strip(), passed, skipped, failed)
    if failed:
        session.error("%d tests failed" % failed)


def installed(version):
    """Whether an interpreter is a CPython of the usual build that is found here."""
    return version[-1].isdigit() and bool(shutil.which(version if os.sep in version else "python" + version))


FOUND = [version for version in VERSIONS if installed(version)]


@nox.session(python=sorted({FOUND[0], FOUND[len(FOUND) // 2], FOUND[-1]}, key=FOUND.index) if FOUND else [])
def command(session):
    """Run the tests of the command under the oldest interpreter that is found, the newest, and one between."""
    session.install("--upgrade", "pip")
    session.install("--editable", ".[metrics,test]")
    session.run("python", "-m", "pytest", "-q", "-rfEs", *(session.posargs or ["tests/cli"]))


@nox.session(python=False, default=False)
def counted(session):
    """Refuse a table of runs that had 2 % more or fewer tests than there are now: make release-check."""
    collect = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q"]
    said = session.run(*collect, *TESTS, silent=True, external=True)
    now = int(re.findall(r"(\d+)(?:/\d+)? tests collected", said)[-1])
    with open(RECORD, encoding="utf-8") as stream:
        rows = re.findall(r"(?m)^\| ((?:C|Py)Py.*?) \|.*` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", stream.read())
    runs = {name: sum(int(count.replace(",", "")) for count in counts) for name, *counts in rows}
    moved = ["%s ran %d" % run for run in runs.items() if abs(run[1] - now) > 0.02 * now]
    if moved or not runs:
        session.error("docs/reliability.md: there are %d tests, and %s: make test-all" % (now, ", ".join(moved)))


# What the table calls an interpreter.
NAME = """
import platform, sys
version = platform.python_version()
if hasattr(sys, "pypy_version_info"):
    version = "%d.%d.%d (Python %d.%d)" % (tuple(sys.pypy_version_info[:3]) + sys.version_info[:2])
free = hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled()
print(platform.python_implementation(), version + ", free-threaded" * free)
"""


def summary(report):
    """How many tests passed, were skipped and failed, by the report of a run."""
    suite = next(xml.etree.ElementTree.parse(report).getroot().iter("testsuite"))
    tests, failures, errors, skipped = [int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")]
    return tests - failures - errors - skipped, skipped, failures + errors


def note(name, passed, skipped, failed):
    """Write the row of an interpreter, in place of an earlier one or as the last."""
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT)
    row = "| %s | %s | `%s` | {:,} | {:,} | {:,} |\n".format(passed, skipped, failed)
    row %= (name, datetime.date.today(), commit.decode().strip())
    with open(RECORD, encoding="utf-8") as stream:
        text = stream.read()
    earlier = re.compile(r"(?m)^\| %s \|.*\n" % re.escape(name))
    text = earlier.sub(row, text) if earlier.search(text) else text.replace(LAST_ROW, row + LAST_ROW)
    with open(RECORD, "w", encoding="utf-8") as stream:
        stream.write(text)
