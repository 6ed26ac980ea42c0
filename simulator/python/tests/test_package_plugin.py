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
    done = run_tests(folder, *arguments, environ=environ, test_suite="from binding import *\n" + text, **files)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("%d passed" % count), done.stdout


def fails(folder, text, *arguments, environ=None, **files):
    """What pytest prints for a suite that does not pass."""
    done = run_tests(folder, *arguments, environ=environ, test_suite="from binding import *\n" + text, **files)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


# ==== What passes, in one run ====

SUITE = os.path.join(packaged.HERE, "suite.py")
with open(SUITE) as file:
    CASES = list(dict.fromkeys(re.findall(r"(?m)^ *def (test\w*)\(", file.read())))


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return run_tests(tmp_path_factory.mktemp("suite"), SUITE, "-rpfE").stdout


@pytest.mark.parametrize("case", CASES)
def test_suite(suite, case):
    outcomes = re.findall(r"(?m)^(PASSED|FAILED|ERROR) \S*::(?:\w+::)?%s\b" % case, suite)
    parts = [part for part in re.split(r"(?m)^(?=___)", suite) if re.match(r"_+ .*\b%s\b" % case, part)]
    assert outcomes and set(outcomes) == {"PASSED"}, "\n".join(parts) or suite


# ==== In force, and undone ====


def test_before_and_after(tmp_path):
    """Without the fixture there is no library, before a test with it and after it."""
    text = """
import pymtml

def missing():
    with pytest.raises(pymtml.NVMLError):
        pymtml.nvmlInit()
    return not [name for name in os.environ if name.startswith("MTML_SIM") or name.startswith("PYMTML")]

def test_before():
    assert missing()

def test_with(mtml_simulator):
    mtml_simulator.set("0.gpu_temperature", -7)
    mtml_simulator.fail("mtmlGpuGetClock", "TIMEOUT")
    assert temperature() == -7

def test_after():
    environment = dict(os.environ)
    assert not [name for name in environment if name.startswith(("MTML_", "PYMTML_", "CPATH"))]
    assert "mtml_simulator" not in environment["PATH"] and "LD_LIBRARY_PATH" not in environment
    assert subprocess.run([sys.executable, "-c", "import binding; binding.name()"]).returncode == 1

def test_with_again(mtml_simulator):
    assert temperature() == int(mtml_simulator.get("0.gpu_temperature")) != -7
    assert value(lambda pymtml, device: pymtml.nvmlDeviceGetClockInfo(device, 0)) > 0
"""
    passes(tmp_path, text, count=4)


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
    passes(tmp_path, text, environ=environment(**mine), count=2)


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


# ==== Profiles ====

TEXT = r'''
TEXT = """[machine]
library_version = 9.9.9-simulator
driver_version = 1.2.3
[device.0]
name = MTT X1
gpu_temperature = 33
"""
'''


def test_profile(tmp_path):
    (tmp_path / "mine.ini").write_text(
        "[machine]\nlibrary_version = 1-simulator\n[device.0]\nname = MTT X2\n", encoding="utf-8"
    )
    text = TEXT + """
def test(mtml_simulator, tmp_path, monkeypatch):
    mtml_simulator.profile("s4000x8")
    assert name() == "MTT S4000"
    mtml_simulator.profile(TEXT)
    assert (name(), temperature()) == ("MTT X1", 33)
    monkeypatch.chdir(tmp_path)
    assert child("name()") == "MTT X1"
    monkeypatch.undo()
    mtml_simulator.profile("mine.ini")
    assert name() == "MTT X2"
    monkeypatch.chdir(tmp_path)
    assert child("name()") == "MTT X2"
"""
    passes(tmp_path, text)


# ==== Values, faults, latency, counts ====


# ==== Scopes ====


# ==== Leaks ====


def test_leak(tmp_path):
    text = """
import pymtml

def nvmlInit():
    pymtml.nvmlInit()

def probe():
    nvmlInit()

def test_leak(mtml_simulator):
    probe()
    assert mtml_simulator.references() == 1

def test_next(mtml_simulator):
    assert mtml_simulator.references() == 0
    assert temperature() == int(mtml_simulator.get("0.gpu_temperature"))
"""
    said = fails(tmp_path, text)
    assert "2 passed, 1 error" in said
    assert "ERROR at teardown of test_leak" in said
    assert "1 native reference is open (mtmlLibraryInit without mtmlLibraryShutDown)" in said
    assert "test_suite.py:9, in probe" in said
    assert "Traceback" not in said and "plugin.py" not in said


OWN_BINDING = """
import ctypes


class Mtml:
    def __init__(self):
        self.library = ctypes.CDLL("libmtml.so.2")
        self.pointer = ctypes.c_void_p()
        status = self.library.mtmlLibraryInit(ctypes.byref(self.pointer))
        assert status == 0, status

    def count(self):
        count = ctypes.c_uint()
        status = self.library.mtmlLibraryCountDevice(self.pointer, ctypes.byref(count))
        assert status == 0, status
        return count.value

    def close(self):
        assert self.library.mtmlLibraryShutDown(self.pointer) == 0
"""


def test_leak_of_a_binding_of_ones_own(tmp_path):
    """One failed test, one report, and the tests that follow do not notice."""
    text = """
from own import Mtml

def test_fails(mtml_simulator):
    mtml = Mtml()
    assert mtml.count() == 7
    mtml.close()

@pytest.mark.parametrize("number", range(20))
def test_next(mtml_simulator, number):
    assert mtml_simulator.references() == 0
    mtml = Mtml()
    assert mtml.count() == 8
    mtml.close()
"""
    said = fails(tmp_path, text, own=OWN_BINDING)
    assert "1 failed, 20 passed, 1 error" in said
    assert said.count("1 native reference is open") == 1
    assert "own.py:9, in __init__" in said


def test_binding_that_believes_it_is_initialized_still(tmp_path):
    """What it holds is answered a code: it has done nothing wrong itself, and the process goes on."""
    text = """
from own import Mtml

held = []

def test_leaves_it(mtml_simulator):
    held.append(Mtml())

def test_uses_it(mtml_simulator):
    with pytest.raises(AssertionError, match="999"):
        held[0].count()
    with pytest.raises(AssertionError):
        held[0].close()
    Mtml().close()

def test_next(mtml_simulator):
    assert name() == "MTT S5000"
"""
    said = fails(tmp_path, text, own=OWN_BINDING)
    assert "3 passed, 1 error" in said


def test_what_else_a_test_may_leave(tmp_path):
    """A callback for the log that is gone, a thread that goes on asking, a child that runs on."""
    text = """
import ctypes
import threading
import time

from own import Mtml

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint)
left = []

def test_log(mtml_simulator):
    import pymtml
    heard = []
    configuration = pymtml.c_mtmlLogConfiguration_t()
    callback = CALLBACK(lambda message, length: heard.append(message))
    configuration.callbackConfig.level = 4
    configuration.callbackConfig.callback = ctypes.cast(callback, type(configuration.callbackConfig.callback))
    assert ctypes.CDLL("libmtml.so.2").mtmlLogSetConfiguration(ctypes.byref(configuration)) == 0
    name()
    assert heard

def test_after_log(mtml_simulator):
    assert name() == "MTT S5000"

def test_thread(mtml_simulator):
    mtml = Mtml()
    end = threading.Event()
    answers = []
    def ask():
        count = ctypes.c_uint()
        while not end.is_set():
            answers.append(mtml.library.mtmlLibraryCountDevice(mtml.pointer, ctypes.byref(count)))
    thread = threading.Thread(target=ask)
    thread.start()
    left.extend((thread, end, answers))
    time.sleep(0.01)

def test_after_thread(mtml_simulator):
    thread, end, answers = left
    Mtml().close()
    time.sleep(0.01)
    end.set()
    thread.join()
    assert set(answers) == {0, 999}

def test_child(mtml_simulator):
    left.append(subprocess.Popen([sys.executable, "-c", "import binding, time; binding.name(); time.sleep(60)"]))

def test_after_child(mtml_simulator):
    left[-1].kill()
    left[-1].wait()
    assert name() == "MTT S5000"
"""
    said = fails(tmp_path, text, own=OWN_BINDING)
    assert "6 passed, 1 error" in said, said


def test_folders_of_killed_workers_are_removed(tmp_path):
    text = """
def test(mtml_simulator):
    os.kill(os.getpid(), 9)
"""
    environ = environment(TMPDIR=str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    run_tests(tmp_path, test_killed=text.replace("def test", "import os\n\ndef test"), environ=environ)
    (folder,) = (tmp_path / "tmp").iterdir()
    assert folder.name.startswith("mtml-simulator-")
    (tmp_path / "test_killed.py").unlink()
    # The processes of another container have numbers of their own, which say nothing here.
    elsewhere = tmp_path / "tmp" / re.sub(r"-\d+-", "-1-", folder.name, count=1)
    elsewhere.mkdir()
    passes(tmp_path, "def test(mtml_simulator):\n    pass\n", environ=environ)
    assert list((tmp_path / "tmp").iterdir()) == [elsewhere]


# ==== Programs that run already ====

DAEMON = """
import http.server

import binding


class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        import pymtml
        try:
            text = str(binding.temperature())
        except pymtml.NVMLError as error:
            text = type(error).__name__
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Metrics)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
SCRAPE = """
import urllib.request

@pytest.fixture
def scrape(mtml_simulator):
    daemon = subprocess.Popen([sys.executable, "-c", "import daemon"], stdout=subprocess.PIPE)
    url = "http://127.0.0.1:%d/" % int(daemon.stdout.readline())
    yield lambda: urllib.request.urlopen(url).read().decode()
    daemon.kill()
    daemon.wait()
    daemon.stdout.close()
"""


def test_a_daemon_is_broken_while_it_runs(tmp_path):
    text = SCRAPE + """
def test(mtml_simulator, scrape):
    before = scrape()
    assert before == mtml_simulator.get("0.gpu_temperature")
    mtml_simulator.set("0.gpu_temperature", 99)
    assert scrape() == "99"
    mtml_simulator.fail("mtmlGpuGetTemperature", "TIMEOUT", times=1)
    assert [scrape(), scrape()] == ["NVMLError_Timeout", "99"]
    mtml_simulator.lose(0)
    assert scrape() == "NVMLError_Unknown"
    mtml_simulator.heal(0)
    assert scrape() == "99"
    mtml_simulator.set("0.gpu_temperature", None)
    assert scrape() == before
    done = subprocess.run([sys.executable, "-m", "mtml_simulator", "ctl", "set", "0.gpu_temperature", "7"])
    assert done.returncode == 0 and scrape() == "7" == mtml_simulator.get("0.gpu_temperature")

def test_next(mtml_simulator, scrape):
    assert scrape() == mtml_simulator.get("0.gpu_temperature") != "7"
"""
    passes(tmp_path, text, daemon=DAEMON, count=2)


def test_kept_from_before(tmp_path):
    """What a program kept without the fixture is ended as well, and the variables are what they were."""
    text = """
import pymtml
from mtml_simulator import environment

def test_without(monkeypatch):
    for name in ("PYMTML_LIBRARY", "MTML_SIM_PROFILE"):
        monkeypatch.setenv(name, environment.variables("s80")[name])
    pymtml.nvmlInit()
    pymtml.nvmlShutdown()

def test_with(mtml_simulator):
    assert mtml_simulator.references() == 0 and name() == "MTT S5000"

def test_after():
    assert "PYMTML_KEEP_LIBRARY" not in os.environ
"""
    passes(tmp_path, text, count=3)


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
    passes(tmp_path, text)
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
    """What one test changes the next have, each test of its own kind not; a leak is told at the end of the scope."""
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
    leak = "import pymtml\n\ndef test_a(mtml_simulator_module):\n    pymtml.nvmlInit()\n\n"
    leak += "def test_b(mtml_simulator_module):\n    pass\n"
    said = fails(tmp_path, leak)
    assert "2 passed, 1 error" in said and "ERROR at teardown of test_b" in said and "in test_a" in said


ASYNC = """
import asyncio
import inspect

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    # What pytest-asyncio and anyio come to.
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        names = pyfuncitem._fixtureinfo.argnames
        asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True
"""


def test_async(tmp_path):
    text = """
import asyncio

@pytest.mark.parametrize("degrees", range(5))
async def test(mtml_simulator, degrees):
    mtml_simulator.set("0.gpu_temperature", degrees)
    loop = asyncio.get_running_loop()
    assert await loop.run_in_executor(None, temperature) == degrees
    await asyncio.sleep(0)
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "import binding; print(binding.temperature())",
                                                 stdout=asyncio.subprocess.PIPE)
    assert int((await child.communicate())[0]) == degrees

@pytest.mark.mtml_sweep(allow="mtmlDeviceGetProperty")
async def test_sweep(mtml_simulator):
    await asyncio.sleep(0)
    temperature()
"""
    passes(tmp_path, text, count=6, conftest=ASYNC)


def test_marker(tmp_path):
    text = """
import pymtml

pytestmark = pytest.mark.mtml(profile="s4000x8")

def test_of_the_module(mtml_simulator):
    assert name() == "MTT S4000"

@pytest.mark.mtml(profile="s3000x2", faults="mtmlLibraryInit=DRIVER_NOT_LOADED@0x1,0.mtmlDeviceGetName=TIMEOUT")
def test_of_the_test_is_enough():
    with pytest.raises(pymtml.NVMLError_DriverNotLoaded):
        pymtml.nvmlInit()
    with pytest.raises(pymtml.NVMLError_Timeout):
        name()

@pytest.mark.mtml(frozen=False)
class TestClass:
    def test(self, mtml_simulator):
        assert os.environ["MTML_SIM_PROFILE"] == "s5000x8"
"""
    passes(tmp_path, text, "--strict-markers", count=3)


@pytest.mark.parametrize("arguments, problem", [("profil='s80'", "profil"), ("faults='x'", "FUNCTION=CODE")])
def test_bad_marker(tmp_path, arguments, problem):
    text = "@pytest.mark.mtml(%s)\ndef test():\n    pass\n" % arguments
    assert problem in fails(tmp_path, text)


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
