"""The loader's hints, by cause, and its variables in a process with raised privileges."""

import ctypes
import os
import shutil
import subprocess
import sys

import pytest
import simulated
from interpreter import PYPY, not_on_pypy

import pymtml

CODE = """
import pymtml
try:
    pymtml.nvmlInit()
    print("loaded", pymtml.nvmlSystemGetNVMLVersion())
except pymtml.NVMLError_LibraryNotFound as error:
    print(error.detail)
"""
MISSING = "import os; os.environ['PYMTML_LIBRARY'] = '/no/libmtml.so'"
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
GLIBC = "the library was found, but needs a newer glibc: use a newer system or container image"
OTHER = "the library was found, but is for another C library (glibc, musl): use a Python and a system with that one"
LACKS = "the library was found, but not all that it needs: install what the message names"
MISFITS = {  # what a library needs: (file, the version that its symbol has there); the start of the text, what is said
    "musl of Alpine": ("libc.musl-%s.so.1" % os.uname().machine, "", "libc.musl-", OTHER),
    "musl-gcc's": ("libc.so", "", "", OTHER),
    "a newer glibc": ("libc.so.6", "GLIBC_9.99", "", GLIBC),
    "a newer libstdc++": ("libc.so.6", "CXXABI_9.99", "", LACKS),
    "another file": ("libno-such.so.1", "", "libno-such.so.1: ", LACKS),
    "a symbol": ("", "", "%s: undefined symbol", LACKS),
}
if PYPY:
    del MISFITS["musl-gcc's"]  # its ctypes follows glibc's libc.so, a script of the linker
NEEDED_BY = "Error loading shared library %s: No such file or directory (needed by /x/libmtml.so.2)"
MUSLS = {  # what the loader of musl 1.2.3 says
    NEEDED_BY % "ld-linux-x86-64.so.2": OTHER,
    "Error relocating /x/libmtml.so.2: __snprintf_chk: symbol not found": OTHER,
    NEEDED_BY % "libdrm.so.2": LACKS,
    "Error loading shared library libmtml.so.2: No such file or directory": None,
    "Error loading shared library /x/libmtml.so.2: Exec format error": None,
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
        return "%s (%s)" % (name, str(error).replace("Cannot load library %s: " % name, ""))  # PyPy's own


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


@pytest.mark.parametrize("need", MISFITS)
def test_a_library_that_does_not_fit(need, tmp_path):
    """The loader's own text decides, whether the file is named or searched, and at each try anew."""
    needed, version, text, hint = MISFITS[need]
    stub, library = str(tmp_path / "stub.so"), str(tmp_path / "libmtml.so.2")
    compiler = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-nostdlib", "-x", "c", "-"]
    versions = tmp_path / "versions"
    versions.write_text("%s { mtml_needs; };" % version)
    script = ["-Wl,--version-script=%s" % versions] if version else []
    code = "int mtml_needs(void); int mtmlLibraryInit(void) { return mtml_needs(); }"
    simulated.run(compiler + ["-o", stub, "-Wl,-soname," + needed] + script, input="int mtml_needs(void) { return 0; }")
    others = ["-Wl,--no-as-needed", "-x", "none", stub] if needed else []
    assert simulated.run(compiler + ["-o", library] + others, input=code).returncode == 0
    for chosen, folder in ((library, ""), ("", str(tmp_path))):
        extra = {"PYMTML_LIBRARY": chosen, "LD_LIBRARY_PATH": folder}
        said, then = simulated.run_python(CODE + MISSING + CODE, extra_environment=extra).stdout.splitlines()
        assert said.endswith("; " + hint) and then.endswith("; " + NO_FILE)
        begins = text % library if "%" in text else text
        assert said.startswith("tried %s (%s" % (chosen or "libmtml.so.2", begins)), said


@pytest.mark.parametrize("text", MUSLS)
def test_texts_of_musl(text):
    assert [pymtml._misfit(name, text) for name in ("libmtml.so.2", "/x/libmtml.so.2")] == [MUSLS[text]] * 2


@not_on_pypy.path
def test_names_that_are_not_utf8(tmp_path):
    """CPython 3.11 and later decode dlopen's text, which has the name, and 3.10 has no text."""
    path = os.path.join(os.fsencode(str(tmp_path)), b"\xd3\xc3.so")
    with open(path, "wb"):
        pass
    said = simulated.run_python(CODE, extra_environment={"PYMTML_LIBRARY": os.fsdecode(path)}).stdout
    assert "\\udcd3\\udcc3.so (" in said and said.endswith("; %s\n" % WRONG)  # which everybody can print
    code = """
import pymtml
pymtml.nvmlInit()
try:
    pymtml.nvmlSystemGetCudaDriverVersion()
except pymtml.NVMLError_NotSupported:
    print("not supported")
"""
    said = simulated.run_python(code, name="s80", extra_environment={"PYMTML_MUSA_LIBRARY": os.fsdecode(path)}).stdout
    assert said == "not supported\n"


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
