"""The tests under every CPython that is found: make test-all."""

import shutil

import nox

VERSIONS = ["3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.14t", "pypy3"]
# What runs programs, documents or the command line needs the development environment, which has one version.
TESTS = ["test_pymtml.py", "test_pynvml.py", "test_sglang_compat.py", "tests"]
LEFT_OUT = ["tests/cli", "tests/programs", "tests/test_documents.py", "tests/test_examples.py", "tests/test_stub.py"]

nox.options.error_on_missing_interpreters = False
nox.options.default_venv_backend = "venv"


@nox.session(python=VERSIONS)
def tests(session):
    """Run the tests of the module under one interpreter."""
    session.install("--upgrade", "pip")  # what some interpreters bring cannot install into another environment
    session.install("--editable", ".[test]")
    ignored = ["--ignore=" + path for path in LEFT_OUT]
    session.run("python", "-m", "pytest", "-q", "-rfEs", *ignored, *(session.posargs or TESTS))


@nox.session(python=False)
def interpreters(session):
    """Say which interpreters are found."""
    for version in VERSIONS:
        name = version if version.startswith("pypy") else "python" + version
        session.log("%s: %s", name, shutil.which(name) or "not found")
