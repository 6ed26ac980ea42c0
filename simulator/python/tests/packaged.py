"""The package mtml-simulator as it is in this checkout: how the tests run it and programs on it."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON_FOLDER = os.path.dirname(HERE)
SIMULATOR = os.path.dirname(PYTHON_FOLDER)
ROOT = os.path.dirname(SIMULATOR)
LIBRARY = os.path.join(SIMULATOR, "build", "libmtml.so.2")
BIN = os.path.join(PYTHON_FOLDER, "mtml_simulator", "bin")
# The vendor's binding, where `make test` puts it: a module named pymtml as well.
VENDOR = os.path.join(sys.prefix, "vendor")
OURS = ("MTML_", "PYMTML_", "PYTEST", "LD_LIBRARY_PATH", "PYTHONPATH", "CPATH", "LIBRARY_PATH", "PKG_CONFIG_PATH")

# `ctl` finds the programs whose folders lie here: the tests', and none of anybody else.
FOLDER = tempfile.mkdtemp(prefix="mtml-package-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

needs_python_3_8 = pytest.mark.skipif(sys.version_info < (3, 8), reason="mtml-simulator needs Python 3.8")


def build():
    """Build the library, as `make sim` does."""
    subprocess.run(["make", "-s", "-C", SIMULATOR], check=True)


def environment(*folders, **variables):
    """An environment in which the package and pymtml, or what is in the folders, can be imported (dict)."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    environ.pop("CI", None)  # with which pytest prints each failure twice
    environ["PYTHONPATH"] = os.pathsep.join([PYTHON_FOLDER] + list(folders or [ROOT]))
    environ["TMPDIR"] = FOLDER
    environ.update(variables)
    os.makedirs(environ["TMPDIR"], exist_ok=True)  # without it, Python takes /tmp, where another's programs may be
    return environ


def run(command, environ=None, **options):
    """A command's CompletedProcess with text output."""
    return subprocess.run(
        command,
        env=environ or environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=120,
        **options,
    )


def command(*arguments, **options):
    """python -m mtml_simulator with these arguments (CompletedProcess)."""
    return run([sys.executable, "-m", "mtml_simulator"] + list(arguments), **options)


def run_tests(folder, *arguments, environ=None, **files):
    """Run pytest with the plugin over files given as name="text" (CompletedProcess)."""
    for name, text in files.items():
        (folder / (name + ".py")).write_text(text)
    environ = dict(environ or environment(), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    environ["PYTHONPATH"] += os.pathsep + os.pathsep.join([str(folder), HERE])
    options = ["-q", "-p", "no:cacheprovider", "-p", "mtml_simulator.plugin", "--rootdir", str(folder), "--tb=short"]
    return run([sys.executable, "-m", "pytest"] + options + list(arguments), environ, cwd=str(folder))
