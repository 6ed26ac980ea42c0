#!/usr/bin/env python3
"""Builds the wheel and the source archive in dist/, with as little as that takes.

    python tools/build.py

The build backend of pyproject.toml does it: that of this Python, if it is installed there, else that of the development
environment (.venv), else that of an environment of its own (.venv-build), into which pip fetches it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OWN = os.path.join(ROOT, ".venv-build")
VENV = [sys.executable, "-m", "venv"]
BACKEND = "import hatchling.build, hatch_fancy_pypi_readme"

NEEDED = """\
make build needs {needed}, and pip could not fetch them (above).
Without a network, one of these:
  - build where there is one: the wheel in dist/ serves every machine, and installs without a network;
  - install them from a folder that `pip download {needed}` filled: pip install --no-index --find-links FOLDER {needed}
  - name a Python that has them: make build PYTHON=/usr/bin/python3"""


def needed():
    """What pyproject.toml wants for building (list of requirements)."""
    with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as file:
        return re.findall(r'"([^"]+)"', re.search(r"(?m)^requires = \[(.*)\]$", file.read()).group(1))


def has_backend(python):
    """True if an interpreter is there and has the backend."""
    command = [python, "-c", BACKEND]
    return bool(shutil.which(python)) and not subprocess.run(command, stderr=subprocess.DEVNULL).returncode


def python_of(folder):
    """The interpreter of a virtual environment (path)."""
    return os.path.join(folder, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))


def builder():
    """An interpreter that has the backend (path)."""
    for python in (sys.executable, python_of(os.environ.get("VENV", os.path.join(ROOT, ".venv"))), python_of(OWN)):
        if has_backend(python):
            return python
    if subprocess.run(VENV + [OWN]).returncode:
        shutil.rmtree(OWN, ignore_errors=True)
        sys.exit("cannot make a virtual environment with %s (Debian: apt-get install python3-venv)" % sys.executable)
    print("make build: pip fetches %s into %s" % (" and ".join(needed()), OWN), flush=True)
    command = [python_of(OWN), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"] + needed()
    if subprocess.run(command).returncode:
        shutil.rmtree(OWN, ignore_errors=True)
        sys.exit(NEEDED.format(needed=" ".join("'%s'" % name for name in needed())))
    return python_of(OWN)


def tracked(folder):
    """Copies of the files that git tracks, as they are: keys may lie beside them (path); without git, the checkout."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if listed.returncode or not os.path.exists(os.path.join(ROOT, ".git")):
        return ROOT
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if os.path.isfile(os.path.join(ROOT, name)):
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(folder, name))
    return folder


def main():
    if sys.version_info < (3, 7):
        sys.exit("pymtml needs Python 3.7 or later; make build PYTHON=... chooses one")
    python = builder()
    for name in ("build", "dist"):
        shutil.rmtree(os.path.join(ROOT, name), ignore_errors=True)
    command = [python, "-m", "hatchling", "build", "--target", "sdist", "--target", "wheel"]
    with tempfile.TemporaryDirectory() as folder:
        command += ["--directory", os.path.join(ROOT, "dist")]
        sys.exit(subprocess.run(command, cwd=tracked(folder)).returncode)


if __name__ == "__main__":
    main()
