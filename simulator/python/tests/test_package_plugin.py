"""The fixture `mtml_simulator`: each test here is a small test suite of a user's, run by pytest with the plugin."""

import os
import re
import subprocess
import sys

import packaged
import pytest
from packaged import environment, run_tests

pytestmark = packaged.needs_python_3_8


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


def passes(folder, text, *arguments, environ=None, count=1, **files):
    """Run a suite of which all tests are to pass."""
    done = run_tests(
        folder, *arguments, environ=environ, test_suite="import pytest; from binding import *\n" + text, **files
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("%d passed" % count), done.stdout


def fails(folder, text, *arguments, environ=None, **files):
    """What pytest prints for a suite that does not pass."""
    done = run_tests(
        folder, *arguments, environ=environ, test_suite="import pytest; from binding import *\n" + text, **files
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


# ==== What passes, in one run ====


def text_of(name):
    with open(os.path.join(packaged.HERE, name)) as file:
        return file.read()


CASES = list(dict.fromkeys(re.findall(r"(?m)^ *(?:async )?def (test\w*)\(", text_of("suite.py"))))


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")  # away from the conftest.py of this repository
    return run_tests(folder, "-rpfE", "--strict-markers", "-p", "coroutines", test_suite=text_of("suite.py")).stdout


@pytest.mark.parametrize("case", CASES)
def test_suite(suite, case):
    outcomes = re.findall(r"(?m)^(PASSED|FAILED|ERROR) \S*::(?:\w+::)?%s\b" % case, suite)
    parts = [part for part in re.split(r"(?m)^(?=___)", suite) if re.match(r"_+ .*\b%s\b" % case, part)]
    assert outcomes and set(outcomes) == {"PASSED"}, "\n".join(parts) or suite


# ==== In force, and undone ====


def test_there_is_no_library_before(tmp_path):
    text = """
def test_before():
    with pytest.raises(subprocess.CalledProcessError):
        child("name()")
    with pytest.raises(Exception, match="libmtml"):
        name()

def test_with(mtml_simulator):
    assert name() == "MTT S5000"
"""
    passes(tmp_path, text, count=2)


def test_variables_are_put_back(tmp_path):
    text = """
MINE = {"MTML_SIM_PROFILE": "s80", "PYMTML_KEEP_LIBRARY": "1", "LD_LIBRARY_PATH": "/nowhere"}
MINE["PYMTML_LIBRARY"] = "/nowhere/libmtml.so"

def test_with(mtml_simulator):
    assert os.environ["PYMTML_KEEP_LIBRARY"] == "0"
    assert os.environ["LD_LIBRARY_PATH"].endswith(":/nowhere")
    assert name() == child("name()") == "MTT S5000"
    assert mtml_simulator.references() == 0

def test_after():
    assert {name: os.environ.get(name) for name in MINE} == MINE
"""
    # The last of them would have pymtml load what is not there.
    mine = {"MTML_SIM_PROFILE": "s80", "PYMTML_KEEP_LIBRARY": "1", "LD_LIBRARY_PATH": "/nowhere"}
    mine["PYMTML_LIBRARY"] = "/nowhere/libmtml.so"
    passes(tmp_path, text, "--mtml-profile", "s5000x8", environ=environment(**mine), count=2)


def test_vendors_binding(tmp_path):
    """Imported at the top of the test module, long before the simulator is there."""
    if not os.path.exists(os.path.join(packaged.VENDOR, "pymtml.py")):
        pytest.skip("the vendor's binding is not in %s (make test installs it)" % packaged.VENDOR)
    text = """
import pymtml

def test(mtml_simulator):
    assert "vendor" in pymtml.__file__
    mtml_simulator.set("3.gpu_temperature", -12)
    pymtml.mtmlLibraryInit()
    device = pymtml.mtmlLibraryInitDeviceByIndex(3)
    assert pymtml.mtmlGpuGetTemperature(pymtml.mtmlDeviceInitGpu(device)) in (-12, 2 ** 32 - 12)
    assert mtml_simulator.references() == 1
    pymtml.mtmlLibraryShutDown()
"""
    passes(tmp_path, text, environ=environment(packaged.VENDOR))


def test_leak_of_the_vendors_binding(tmp_path):
    if not os.path.exists(os.path.join(packaged.VENDOR, "pymtml.py")):
        pytest.skip("the vendor's binding is not in %s (make test installs it)" % packaged.VENDOR)
    text = """
import pymtml

def test_leak(mtml_simulator):
    pymtml.nvmlInit()

def test_next(mtml_simulator):
    pymtml.nvmlInit()
    pymtml.nvmlShutdown()
"""
    said = fails(tmp_path, text, environ=environment(packaged.VENDOR))
    assert "2 passed, 1 error" in said
    assert "test_suite.py:6, in test_leak" in said


# ==== What a test leaves ====

# Each leak is told once, with the line that made it; the tests that follow do not notice.
LEAKS = {
    "test_leak": "leaks.py:%d, in probe",
    "test_fails": "leaks.py:%d, in __init__",
    "test_believes_it_is_initialized": "leaks.py:%d, in __init__",
    "test_thread": "leaks.py:%d, in __init__",
    "TestWider::test_ends": "in test_leaks",
    "test_marker_of_no_such_argument": "profil",
    "test_marker_of_no_fault": "FUNCTION=CODE",
}


def test_leaks(tmp_path):
    said = run_tests(tmp_path, "-rpfE", test_leaks=text_of("leaks.py")).stdout
    outcomes = re.findall(r"(?m)^(FAILED|ERROR) \S*?::(\S+)", said)
    assert sorted(outcomes) == sorted([("FAILED", "test_fails")] + [("ERROR", name) for name in LEAKS]), said
    assert len(re.findall(r"(?m)^PASSED .*::test_after_fails", said)) == 20
    reports = {
        part.split("\n")[0].split()[-2].replace(".", "::"): re.sub(r"leaks.py:\d+", "leaks.py:%d", part)
        for part in re.split(r"(?m)^(?=___)", said)
        if part.startswith("_") and " ERROR at " in part
    }
    for name, word in LEAKS.items():
        assert word in reports[name], reports[name]
        leaks = "1 native reference is open (mtmlLibraryInit without mtmlLibraryShutDown)" in reports[name]
        assert leaks == ("in " in word)
    assert "Traceback" not in said and "plugin.py" not in reports["test_leak"]


def test_folders_of_killed_workers_are_removed(tmp_path):
    text = """
def test(mtml_simulator):
    os.kill(os.getpid(), 9)
"""
    environ = environment(TMPDIR=str(tmp_path / "tmp"))
    run_tests(tmp_path, test_killed=text.replace("def test", "import os\n\ndef test"), environ=environ)
    (folder,) = (tmp_path / "tmp").iterdir()
    assert folder.name.startswith("mtml-simulator-")
    (tmp_path / "test_killed.py").unlink()
    # The processes of another container have numbers of their own, which say nothing here.
    elsewhere = tmp_path / "tmp" / re.sub(r"-\d+-", "-1-", folder.name, count=1)
    elsewhere.mkdir()
    passes(tmp_path, "def test(mtml_simulator):\n    pass\n", environ=environ)
    assert list((tmp_path / "tmp").iterdir()) == [elsewhere]


# ==== Another library ====


def test_another_library_is_loaded_already(tmp_path):
    other = tmp_path / "libmtml.so.2"
    source = tmp_path / "other.c"
    source.write_text("int mtmlLibraryInit(void **library) { (void)library; return 1; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(other), str(source)], check=True)
    text = """
import ctypes

ctypes.CDLL(%r)

def test(mtml_simulator):
    pass
""" % str(other)
    said = fails(tmp_path, text)
    assert "another MTML library is loaded in this process already: %s" % other in said
    assert "Traceback" not in said


def test_the_simulator_itself_is_no_other_library(tmp_path):
    text = """
import pymtml

pymtml.nvmlInit()
pymtml.nvmlShutdown()

def test(mtml_simulator):
    mtml_simulator.set("0.gpu_temperature", 3)
    assert temperature() == 3
"""
    passes(tmp_path, text, environ=environment(LD_LIBRARY_PATH=os.path.dirname(packaged.LIBRARY)))


# ==== Choosing the machine ====

CHOICE = """
def test(mtml_simulator):
    assert name() == "MTT %s"
"""


def test_ini_key(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmtml_profile = s3000x2\n")
    passes(tmp_path, CHOICE % "S3000")
    passes(tmp_path, CHOICE % "S80", "--mtml-profile", "s80")


def test_paths_are_as_seen_from_where_they_were_written(tmp_path):
    (tmp_path / "mine.ini").write_text("[machine]\nlibrary_version = 1-simulator\n[device.0]\nname = MTT S9\n")
    text = """
@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

def test(elsewhere, mtml_simulator):
    assert name() == "MTT S9"
"""
    passes(tmp_path, text, "--mtml-profile=mine.ini")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmtml_profile = mine.ini\n")
    (tmp_path / "below").mkdir()
    passes(tmp_path / "below", text)


@pytest.mark.parametrize("how", ["option", "ini", "text"])
def test_bad_option(tmp_path, how):
    """Said once, before any test."""
    (tmp_path / "bad.ini").write_text("[machine]\nlibrary_version = 1-simulator\n[device.0]\ncolor = blue\n")
    if how == "ini":
        (tmp_path / "pytest.ini").write_text("[pytest]\nmtml_profile = s81\n")
    arguments = {"option": ["--mtml-profile", "s81"], "ini": [], "text": ["--mtml-profile=bad.ini"]}[how]
    done = run_tests(tmp_path, *arguments, test_suite=CHOICE % "S80", environ=environment())
    assert done.returncode == 4 and done.stdout == ""
    said = "[device.0] color: unknown key" if how == "text" else 'there is no profile "s81"'
    assert ("mtml_profile: " if how == "ini" else "--mtml-profile: ") in done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr


def test_wider_scopes(tmp_path):
    """What one test changes the next have, each test of its own kind not."""
    text = """
import pymtml

@pytest.fixture(scope="module")
def library(mtml_simulator_module):
    mtml_simulator_module.set("0.gpu_temperature", 12)
    pymtml.nvmlInit()
    yield pymtml
    pymtml.nvmlShutdown()

def test_first(library, mtml_simulator_module):
    assert library.nvmlDeviceGetTemperature(library.nvmlDeviceGetHandleByIndex(0), 0) == 12
    mtml_simulator_module.set("0.gpu_temperature", 13)

@pytest.mark.mtml(faults="mtmlLibraryInit=UNKNOWN")
def test_second(library):
    assert library.nvmlDeviceGetTemperature(library.nvmlDeviceGetHandleByIndex(0), 0) == 13

@pytest.mark.mtml(profile="s80")
class TestClass:
    def test_one(self, mtml_simulator_class):
        mtml_simulator_class.set("0.gpu_temperature", 1)

    def test_two(self, mtml_simulator_class):
        assert mtml_simulator_class.get("0.gpu_temperature") == "1"
        assert mtml_simulator_class.get("0.name") == "MTT S80"

def test_session(mtml_simulator_session, mtml_simulator_package):
    assert name() == "MTT S5000"
"""
    # A class of its own machine lies within the module's, which must not be initialized then.
    parts = text.partition("@pytest.mark.mtml(profile=")
    other = (
        "from binding import *\n\ndef test_other(mtml_simulator_module):\n    assert temperature() not in (12, 13)\n"
    )
    passes(tmp_path, parts[0], count=3, test_then=other)
    (tmp_path / "test_then.py").unlink()
    passes(tmp_path, "import pymtml\n" + parts[1] + parts[2], count=3)


def test_xdist(tmp_path):
    """Each worker is a process with a machine of its own."""
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    text = """
@pytest.mark.parametrize("number", range(20))
def test(mtml_simulator, number):
    mtml_simulator.profile("s80" if number % 2 else "s5000x8")
    mtml_simulator.set("0.gpu_temperature", number)
    assert temperature() == number
    assert name() == ("MTT S80" if number % 2 else "MTT S5000")
"""
    passes(tmp_path, text, "-p", "xdist", "-n", "2", count=20)


# ==== Without pytest ====


def test_other_test_runners(tmp_path):
    program = """
import unittest
import binding
import mtml_simulator

class Test(unittest.TestCase):
    def test(self):
        with mtml_simulator.simulate("s80") as simulator:
            simulator.set("0.gpu_temperature", 12)
            self.assertEqual(binding.temperature(), 12)

    def test_leak(self):
        import pymtml
        with self.assertRaises(mtml_simulator.ReferenceLeak):
            with mtml_simulator.simulate():
                pymtml.nvmlInit()
        with self.assertRaises(ZeroDivisionError):
            with mtml_simulator.simulate():
                pymtml.nvmlInit()
                1 / 0

unittest.main()
"""
    environ = environment()
    environ["PYTHONPATH"] += os.pathsep + packaged.HERE
    done = packaged.run([sys.executable, "-c", program], environ, cwd=str(tmp_path))
    assert done.returncode == 0, done.stderr
