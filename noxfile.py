"""The tests under every CPython that is found: make test-all."""

import os
import shutil
import sys
import xml.etree.ElementTree

import nox

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tools"))
import measured  # noqa: E402

VERSIONS = ["3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.14t", "pypy3"]
# What runs programs, documents or the command line needs the development environment, which has one version.
TESTS = ["test_pymtml.py", "test_pynvml.py", "test_sglang_compat.py", "tests"]
LEFT_OUT = ["tests/cli", "tests/programs"]
LEFT_OUT += [
    "tests/test_%s.py" % name for name in ("build", "documents", "examples", "install", "readme", "release", "stub")
]

nox.options.error_on_missing_interpreters = False
nox.options.default_venv_backend = "venv"


@nox.session(python=VERSIONS)
def tests(session):
    """Run the tests of the module under one interpreter."""
    session.install("--upgrade", "pip")  # what some interpreters bring cannot install into another environment
    session.install("--editable", ".[test]")
    ignored = ["--ignore=" + path for path in LEFT_OUT]
    report = os.path.join(session.create_tmp(), "report.xml")
    pytest = ["python", "-m", "pytest", "-q", "-rfEs", "--junitxml=" + report] + ignored
    session.run(*pytest, *(session.posargs or TESTS), success_codes=[0, 1])
    result, failed = summary(report)
    if not session.posargs:
        name = session.run("python", "-c", NAME, silent=True).strip()
        measured.note("interpreters", name, "`make test-all`", result)
    if failed:
        session.error(result)


# How docs/measured.csv names an interpreter.
NAME = """
import platform, sys
version = platform.python_version()
if hasattr(sys, "pypy_version_info"):
    version = "%d.%d.%d (Python %d.%d)" % (tuple(sys.pypy_version_info[:3]) + sys.version_info[:2])
free = hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled()
print(platform.python_implementation(), version + ", free-threaded" * free)
"""


def summary(report):
    """What a run of the tests came to, by its report (text, whether a test failed)."""
    suite = next(xml.etree.ElementTree.parse(report).getroot().iter("testsuite"))
    tests, failures, errors, skipped = [int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")]
    passed = tests - failures - errors - skipped
    return "{:,} passed, {:,} skipped, {:,} failed".format(passed, skipped, failures + errors), failures + errors > 0


@nox.session(python=False)
def interpreters(session):
    """Say which interpreters are found."""
    for version in VERSIONS:
        name = version if version.startswith("pypy") else "python" + version
        session.log("%s: %s", name, shutil.which(name) or "not found")
