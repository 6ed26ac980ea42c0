"""The loader's hints, by cause, and its variables in a process with raised privileges."""

import ctypes
import os
import shutil
import subprocess
import sys

import pytest
import simulated

CODE = """
import pymtml
try:
    pymtml.nvmlInit()
    print("loaded", pymtml.nvmlSystemGetNVMLVersion())
except pymtml.NVMLError_LibraryNotFound as error:
    print(error.detail)
"""
NO_FILE = "PYMTML_LIBRARY names no file that can be found: correct it, or unset it for the usual search"
WRONG = "PYMTML_LIBRARY names this file: it must be an MTML library for %s" % os.uname().machine
HINTS = {
    "a file that is not there": ("/nonexistent/libmtml.so", NO_FILE),
    "a name that is not there": ("libno-such-mtml.so", NO_FILE),
    "a folder": (os.path.dirname(os.path.abspath(__file__)), NO_FILE),
    "a file that is no library": (__file__, WRONG),
    "a file that is no MTML library": (simulated.MUSA_LIBRARY, WRONG),
    "a name that is no MTML library": ("libm.so.6", WRONG),
}
CONTAINER = "tart the container with the Moore Threads runtime"
PLACES = {  # of the files that tell where a process runs, those that are there; what is said then
    "no driver": ((), "install the Moore Threads driver or set PYMTML_LIBRARY"),
    "a card": (("/dev/mtgpu.0", "/.dockerenv"), "the card is there: s%s, or set PYMTML_LIBRARY" % CONTAINER),
    "docker": (("/.dockerenv",), "s%s on a host with its driver, or set PYMTML_LIBRARY" % CONTAINER),
    "podman": (("/run/.containerenv",), "s%s on a host with its driver, or set PYMTML_LIBRARY" % CONTAINER),
}


def tried(name):
    """What is said of a file that was looked for."""
    try:
        return "%s (no MTML library: it lacks mtmlLibraryInit)" % ctypes.CDLL(name)._name
    except OSError as error:
        return "%s (%s)" % (name, error)


@pytest.mark.parametrize("cause", HINTS)
def test_hints_fit_the_cause(cause):
    chosen, hint = HINTS[cause]
    extra = {"PYMTML_LIBRARY": chosen, "LD_LIBRARY_PATH": ""}
    result = simulated.run_python(CODE, extra_environment=extra)
    assert (result.returncode, result.stdout) == (0, "tried %s; %s\n" % (tried(chosen), hint))


def test_windows_is_named_where_the_system_names_no_machine():
    code = "import ctypes, os; del os.uname\n" + CODE
    result = simulated.run_python(code, extra_environment={"PYMTML_LIBRARY": __file__})
    assert result.stdout.endswith("; PYMTML_LIBRARY names this file: it must be an MTML library for Windows\n")


@pytest.mark.parametrize("place", PLACES)
def test_hints_fit_the_place(place):
    there, hint = PLACES[place]
    code = "import os; os.path.exists = lambda path: path in %r\n" % (there,) + CODE
    result = simulated.run_python(code, extra_environment={"PYMTML_LIBRARY": "", "LD_LIBRARY_PATH": ""})
    both = [tried("libno-such.so").replace("libno-such.so", name) for name in ("libmtml.so.2", "libmtml.so")]
    assert (result.returncode, result.stdout) == (0, "tried %s; %s\n" % (", ".join(both), hint))


def test_library_for_another_machine(tmp_path):
    """The linker says of such a file that it is not there, or of the wrong class."""
    path = tmp_path / "libmtml.so"
    data = bytearray(open(simulated.LIBRARY, "rb").read())
    data[18:20] = b"\xf3\x00"  # the machine: RISC-V
    path.write_bytes(bytes(data))
    result = simulated.run_python(CODE, extra_environment={"PYMTML_LIBRARY": str(path)})
    assert "it must be an MTML library for %s" % os.uname().machine in result.stdout


@pytest.mark.root
def test_raised_privileges_follow_no_variable(tmp_path):
    """AT_SECURE is set for a set-group-ID interpreter: the variable that names code is not followed."""
    interpreter = tmp_path / "python"
    shutil.copy(os.path.realpath(sys.executable), str(interpreter))
    os.chown(str(interpreter), 0, 65534)
    os.chmod(str(interpreter), 0o2755)
    os.chmod(str(tmp_path), 0o755)
    library = simulated.LIBRARY
    code = "import sys; sys.path.insert(0, %r)\n" % str(tmp_path) + CODE
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path))
    probe = "import ctypes; print(ctypes.CDLL(None).getauxval(23))"
    environment = dict(
        os.environ, PYMTML_LIBRARY=library, PYTHONHOME=sys.base_prefix, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=""
    )

    def run(text):
        return simulated.run(
            [str(interpreter), "-c", text], env=environment, stderr=subprocess.STDOUT, timeout=60, cwd="/"
        )

    raised = run(probe)
    if raised.stdout != "1\n":
        pytest.skip("this interpreter cannot be run with raised privileges here: %s" % raised.stdout.strip()[-200:])
    said = run(code).stdout
    assert "PYMTML_LIBRARY is not followed in a process with raised privileges" in said, said
    os.chmod(str(interpreter), 0o755)
    os.chown(str(interpreter), 0, 0)
    assert run(code).stdout.startswith("loaded ")
