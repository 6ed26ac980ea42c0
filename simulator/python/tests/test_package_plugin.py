"""The fixture `mtml_simulator`: each test here is a small test suite of a user's, run by pytest with the plugin."""

import os
import re
import subprocess
import sys

import packaged
import pytest
from packaged import environment, run_tests

pytestmark = packaged.needs_python_3_8
BINDING = """
import os
import subprocess
import sys

import pytest


def value(call):
    import pymtml

    pymtml.nvmlInit()
    try:
        return call(pymtml, pymtml.nvmlDeviceGetHandleByIndex(0))
    finally:
        pymtml.nvmlShutdown()


def temperature():
    return value(lambda pymtml, device: pymtml.nvmlDeviceGetTemperature(device, 0))


def name():
    return value(lambda pymtml, device: pymtml.nvmlDeviceGetName(device))


def child(expression):
    return subprocess.run(
        [sys.executable, "-c", "import binding; print(binding.%s)" % expression], stdout=subprocess.PIPE, check=True
    ).stdout.decode().strip()
"""


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


def passes(folder, text, *arguments, environ=None, count=1, **files):
    """Run a suite of which all tests are to pass."""
    files.setdefault("binding", BINDING)
    done = run_tests(folder, *arguments, environ=environ, test_suite="from binding import *\n" + text, **files)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("%d passed" % count), done.stdout


def fails(folder, text, *arguments, environ=None, **files):
    """What pytest prints for a suite that does not pass."""
    files.setdefault("binding", BINDING)
    done = run_tests(folder, *arguments, environ=environ, test_suite="from binding import *\n" + text, **files)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


# ==== In force, and undone ====


def test_eight_frozen_s5000(tmp_path):
    text = """
def test(mtml_simulator):
    assert name() == "MTT S5000"
    assert temperature() == int(mtml_simulator.get("0.gpu_temperature"))
    assert mtml_simulator.get("7.name") == "MTT S5000"
    with pytest.raises(ValueError):
        mtml_simulator.get("8.name")
"""
    passes(tmp_path, text)


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


@pytest.mark.parametrize("library", ["libmtml.so.2", "libmusa.so.1"])
def test_any_binding_finds_it_by_name(tmp_path, library):
    text = """
import ctypes

def test(mtml_simulator):
    ctypes.CDLL(%r)
""" % library
    passes(tmp_path, text)


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


def test_children(tmp_path):
    text = """
def test(mtml_simulator):
    mtml_simulator.set("0.gpu_temperature", -7)
    assert child("temperature()") == "-7"
    mtml_simulator.profile("s80")
    assert child("name()") == "MTT S80"
    environment = mtml_simulator.environment()
    assert environment == dict(os.environ) and environment is not os.environ
    mtml_simulator.fail("mtmlGpuGetTemperature", "TIMEOUT")
    done = subprocess.run([sys.executable, "-c", "import binding; binding.temperature()"], stderr=subprocess.PIPE)
    assert b"NVMLError" in done.stderr
"""
    passes(tmp_path, text)


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


def test_profile_is_a_new_machine(tmp_path):
    text = """
def test(mtml_simulator):
    before = temperature()
    mtml_simulator.set("0.gpu_temperature", -7)
    mtml_simulator.fail("mtmlDeviceGetName", "TIMEOUT")
    mtml_simulator.lose(7)
    mtml_simulator.latency(0.001)
    mtml_simulator.profile("s5000x8")
    assert temperature() == before and child("temperature()") == str(before)
    assert name() == "MTT S5000"
    assert mtml_simulator.get("7.lost") == "OK"
    assert mtml_simulator.get("machine.latency_ns") == "0"
"""
    passes(tmp_path, text)


def test_faults_of_a_profile_go_with_it(tmp_path):
    text = """
OWN = "[machine]\\nlibrary_version = 1-simulator\\nfaults = mtmlGpuGetTemperature=TIMEOUT\\n"
OWN += "[device.0]\\nname = MTT X1\\n"

def broken():
    import pymtml
    found = []
    for call in (temperature, name):
        try:
            call()
        except pymtml.NVMLError as error:
            found.append(type(error).__name__)
    return found

def told():
    # What a child that did not see the fault was given.
    paths = [os.environ["MTML_SIM_PROFILE"].partition("+")[0], os.environ["MTML_SIM_CONTROL"]]
    return ["%s:\\n%s" % (path, open(path).read() if os.path.exists(path) else "not there") for path in paths]

def test(mtml_simulator):
    mtml_simulator.profile(OWN)
    assert broken() == ["NVMLError_Timeout"]
    mtml_simulator.fail("mtmlDeviceGetName", "DRIVER_FAILURE")
    assert broken() == ["NVMLError_Timeout", "NVMLError_Unknown"]
    done = subprocess.run([sys.executable, "-c", "import binding; binding.temperature()"], stderr=subprocess.PIPE)
    assert b"NVMLError_Timeout" in done.stderr, "\\n".join(told() + [done.stderr.decode()])
    mtml_simulator.profile("s80")
    assert broken() == []
    mtml_simulator.fail("mtmlDeviceGetName", "DRIVER_FAILURE")
    assert broken() == ["NVMLError_Unknown"]
    mtml_simulator.profile(OWN)
    assert broken() == ["NVMLError_Timeout"]
    mtml_simulator.heal()
    assert broken() == [] and isinstance(temperature(), int) and isinstance(int(child("temperature()")), int)
"""
    passes(tmp_path, text)


def test_forms_of_a_profile(tmp_path):
    text = """
def test(mtml_simulator, tmp_path):
    mtml_simulator.profile(
        \'\'\'
        [machine]
        library_version = 1-simulator

        [device.0]
        name = MTT S9
        \'\'\'
    )
    assert name() == child("name()") == "MTT S9"
    (tmp_path / "other.ini").write_text("[machine]\\nlibrary_version = 1-simulator\\n[device.0]\\nname = MTT S8\\n")
    mtml_simulator.profile(tmp_path / "other.ini")
    assert name() == "MTT S8"
"""
    passes(tmp_path, text)


def test_values_stay_unless_they_are_to_move(tmp_path):
    text = """
def test(mtml_simulator):
    assert os.environ["MTML_SIM_PROFILE"] == "s5000x8+frozen"
    mtml_simulator.profile("s80", frozen=False)
    assert os.environ["MTML_SIM_PROFILE"] == "s80"
    mtml_simulator.profile("s80+frozen", frozen=False)
    assert os.environ["MTML_SIM_PROFILE"] == "s80+frozen"
"""
    passes(tmp_path, text)


def test_bad_profiles(tmp_path):
    text = """
import mtml_simulator as package

def test(mtml_simulator):
    mtml_simulator.set("0.gpu_temperature", -7)
    with pytest.raises(package.ProfileError, match="one of .*empty, .*s5000x8, .*s80"):
        mtml_simulator.profile("s9000")
    with pytest.raises(package.ProfileError, match=r":4: \\[device.0\\] color: unknown key"):
        mtml_simulator.profile("[machine]\\nlibrary_version = 1-simulator\\n[device.0]\\ncolor = blue\\n")
    assert temperature() == -7 and child("temperature()") == "-7"
"""
    passes(tmp_path, text)


def test_profile_while_initialized(tmp_path):
    text = """
import pymtml
import mtml_simulator as package

def open_library():
    pymtml.nvmlInit()

def test(mtml_simulator):
    open_library()
    with pytest.raises(package.LibraryInUse) as raised:
        mtml_simulator.profile("s80")
    assert "1 native reference is open" in str(raised.value)
    assert "test_suite.py:7, in open_library" in str(raised.value)
    assert pymtml.nvmlDeviceGetCount() == 8
    pymtml.nvmlShutdown()
    mtml_simulator.profile("s80")
"""
    passes(tmp_path, text)


def test_a_thousand_profiles_in_less_than_a_second(tmp_path):
    text = """
import time

import pymtml

def test(mtml_simulator):
    pymtml.nvmlInit()
    pymtml.nvmlShutdown()
    begin = time.process_time()
    for number in range(500):
        mtml_simulator.profile("s5000x8")
        mtml_simulator.profile("s4000x8")
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
    assert time.process_time() - begin < 1
"""
    passes(tmp_path, text)


def test_64_devices(tmp_path):
    text = """
import pymtml

CARD = "[device.%d]\\nname = MTT S%d\\nuuid = %032d\\npci_sbdf = 0000%04x:01:00.0\\npci_segment = %d\\npci_bus = 1\\n"

def test(mtml_simulator):
    cards = "".join(CARD % (n, n, n, n, n) for n in range(64))
    mtml_simulator.profile("[machine]\\nlibrary_version = 1-simulator\\n" + cards)
    mtml_simulator.set("*.gpu_temperature", 21)
    mtml_simulator.set("63.gpu_temperature", 22)
    pymtml.nvmlInit()
    devices = [pymtml.nvmlDeviceGetHandleByIndex(index) for index in range(pymtml.nvmlDeviceGetCount())]
    assert [pymtml.nvmlDeviceGetName(device) for device in devices] == ["MTT S%d" % n for n in range(64)]
    assert [pymtml.nvmlDeviceGetTemperature(device, 0) for device in devices] == [21] * 63 + [22]
    pymtml.nvmlShutdown()
    assert child("temperature()") == "21"
"""
    passes(tmp_path, text)


# ==== Values, faults, latency, counts ====


def test_set(tmp_path):
    text = """
import pymtml

def test(mtml_simulator):
    pymtml.nvmlInit()
    device = pymtml.nvmlDeviceGetHandleByIndex(0)
    mtml_simulator.set("0.gpu_temperature", -7)
    assert pymtml.nvmlDeviceGetTemperature(device, 0) == -7
    mtml_simulator.set("*.power_usage", 91000)
    assert pymtml.nvmlDeviceGetPowerUsage(pymtml.nvmlDeviceGetHandleByIndex(5)) == 91000
    mtml_simulator.set("5.power_usage", 1)
    mtml_simulator.set("machine.driver_version", "9;8")
    assert pymtml.nvmlSystemGetDriverVersion() == "9;8"
    mtml_simulator.set("0.mtlink_state.3", "DOWN")
    assert pymtml.nvmlDeviceGetNvLinkState(device, 3) == 0
    mtml_simulator.set("0.retired_pages_pending", True)
    assert pymtml.nvmlDeviceGetRetiredPagesPendingStatus(device) == 1
    mtml_simulator.set("0.p2p_read", ["OK", "GPU_NOT_SUPPORTED"])
    assert mtml_simulator.get("0.p2p_read").replace(" ", "").startswith("OK,GPU_NOT_SUPPORTED")
    pymtml.nvmlShutdown()
    # The next life, and a child, see the same.
    assert temperature() == -7
    power = "[p.nvmlDeviceGetPowerUsage(p.nvmlDeviceGetHandleByIndex(i)) for i in (4, 5)]"
    code = "lambda p, d: (p.nvmlSystemGetDriverVersion(), %s)" % power
    assert child("value(%s)" % code) == "('9;8', [91000, 1])"


def test_what_the_program_did_outlasts_a_setting(tmp_path, mtml_simulator):
    pymtml.nvmlInit()
    device = pymtml.nvmlDeviceGetHandleByIndex(0)
    pymtml.nvmlDeviceSetEccMode(device, 0)
    mtml_simulator.set("1.gpu_temperature", 5)
    pymtml.nvmlShutdown()
    pymtml.nvmlInit()
    assert pymtml.nvmlDeviceGetEccMode(pymtml.nvmlDeviceGetHandleByIndex(0)) == [1, 0]
    pymtml.nvmlShutdown()


def test_parts(mtml_simulator):
    mtml_simulator.profile("s3000-mpc")
    mtml_simulator.set("0.instance.1.memory_used", 12345)
    assert mtml_simulator.get("0.instance.1.memory_used") == "12345"
    assert mtml_simulator.get("0.instance.0.memory_used") != "12345"
    mtml_simulator.profile("s3000-vgpu-host")
    mtml_simulator.set("0.virt.1.gpu_utilization", 12)
    assert mtml_simulator.get("0.virt.1.gpu_utilization") == "12"


@pytest.mark.parametrize(
    "key, value, problem",
    [
        ("0.color", "blue", "unknown key"),
        ("0.gpu_temperature", "warm", "gpu_temperature"),
        ("8.gpu_temperature", 1, "no such card"),
        ("gpu_temperature", 1, "names no value"),
        ("machine.library_version", "2.2.0", "simulator"),
    ],
)
def test_bad_values(mtml_simulator, key, value, problem):
    before = dict(os.environ)
    with pytest.raises(ValueError, match=problem):
        mtml_simulator.set(key, value)
    assert os.environ == before
"""
    passes(tmp_path, text, count=8)


def test_fail(tmp_path):
    text = """
import pymtml


@pytest.fixture
def devices(mtml_simulator):
    pymtml.nvmlInit()
    yield [pymtml.nvmlDeviceGetHandleByIndex(index) for index in range(8)]
    pymtml.nvmlShutdown()


def answers(device, count):
    def answer():
        try:
            pymtml.nvmlDeviceGetTemperature(device, 0)
            return "ok"
        except pymtml.NVMLError as error:
            return type(error).__name__
    return [answer() for _ in range(count)]


def test_always(mtml_simulator, devices):
    mtml_simulator.fail("mtmlGpuGetTemperature", "TIMEOUT")
    assert answers(devices[0], 3) == ["NVMLError_Timeout"] * 3


def test_after_and_times(mtml_simulator, devices):
    mtml_simulator.fail("mtmlGpuGetTemperature", "MTML_ERROR_TIMEOUT", after=2, times=1)
    assert answers(devices[0], 4) == ["ok", "ok", "NVMLError_Timeout", "ok"]


def test_device(mtml_simulator, devices):
    mtml_simulator.fail("mtmlGpuGetTemperature", 7, device=3)
    assert [answers(devices[index], 1)[0][:3] for index in (2, 3, 4)] == ["ok", "NVM", "ok"]


def test_one_fault_leaves_another_counting(mtml_simulator, devices):
    mtml_simulator.fail("mtmlGpuGetTemperature", "TIMEOUT", after=2)
    assert answers(devices[0], 1) == ["ok"]
    mtml_simulator.fail("mtmlDeviceGetName", "UNKNOWN")
    assert answers(devices[0], 2) == ["ok", "NVMLError_Timeout"]


def test_countdown_goes_on_in_the_next_life(mtml_simulator):
    mtml_simulator.fail("mtmlGpuGetTemperature", "TIMEOUT", after=1, times=1)
    temperature()
    with pytest.raises(pymtml.NVMLError):
        temperature()
    temperature()


def test_faults_of_the_profile_stay(mtml_simulator):
    machine = "[machine]\\nlibrary_version = 1-simulator\\nfaults = mtmlDeviceGetName=TIMEOUT\\n"
    mtml_simulator.profile(machine + "[device.0]\\n")
    mtml_simulator.fail("mtmlGpuGetTemperature", "UNKNOWN")
    for call in (name, temperature):
        with pytest.raises(pymtml.NVMLError):
            call()
    for expression in ("name()", "temperature()"):
        with pytest.raises(subprocess.CalledProcessError):
            child(expression)


@pytest.mark.parametrize("fault", [("mtmlGpuGetTemperatur", "TIMEOUT"), ("mtmlGpuGetTemperature", "TIMEOUTS")])
def test_mistakes(mtml_simulator, fault):
    with pytest.raises(ValueError, match="unknown"):
        mtml_simulator.fail(*fault)
    assert "MTML_SIM_FAULTS" not in os.environ
    # Not for ever.
    with pytest.raises(ValueError):
        mtml_simulator.fail("mtmlGpuGetTemperature", "TIMEOUT", times=0)
    temperature()


def test_lost(mtml_simulator, devices):
    mtml_simulator.lose(5)
    assert [answers(devices[index], 1) for index in (4, 5, 6)] == [["ok"], ["NVMLError_Unknown"], ["ok"]]
    code = "value(lambda p, d: p.nvmlDeviceGetHandleByIndex(5))"
    assert subprocess.run([sys.executable, "-c", "import binding; binding." + code]).returncode == 1


def test_latency(mtml_simulator, devices):
    import time

    mtml_simulator.latency(0.02)
    begin = time.perf_counter()
    answers(devices[0], 5)
    assert time.perf_counter() - begin >= 0.1
    mtml_simulator.latency(0)
    before = mtml_simulator.calls()
    begin = time.perf_counter()
    answers(devices[0], 5)
    assert time.perf_counter() - begin < 0.1
    with pytest.raises(ValueError):
        mtml_simulator.latency(-1)
"""
    passes(tmp_path, text, count=10)


def test_calls(tmp_path):
    text = """
import pymtml

def test_first(mtml_simulator):
    assert mtml_simulator.calls() == 0
    pymtml.nvmlInit()
    device = pymtml.nvmlDeviceGetHandleByIndex(0)
    before = mtml_simulator.calls()
    for _ in range(3):
        pymtml.nvmlDeviceGetPowerUsage(device)
    assert mtml_simulator.calls("mtmlDeviceGetPowerUsage") == 3
    assert mtml_simulator.calls() == before + 3
    pymtml.nvmlShutdown()
    mtml_simulator.profile("s80")
    assert mtml_simulator.calls("mtmlDeviceGetPowerUsage") == 3
    with pytest.raises(ValueError, match="mtmlDeviceGetPower"):
        mtml_simulator.calls("mtmlDeviceGetPower")

def test_second(mtml_simulator):
    assert mtml_simulator.calls("mtmlDeviceGetPowerUsage") == 0
"""
    passes(tmp_path, text, count=2)


# ==== Scopes ====


def test_machine_of_a_session_below_that_of_a_test(tmp_path):
    text = """
import mtml_simulator as package

import pymtml

@pytest.fixture(scope="session")
def session_machine():
    with package.simulate() as simulator:
        simulator.set("0.gpu_temperature", 12)
        yield simulator

def ecc():
    return value(lambda pymtml, device: pymtml.nvmlDeviceGetEccMode(device))

def test_of_the_session(session_machine):
    assert (ecc(), temperature(), child("temperature()")) == ([1, 1], 12, "12")

def test_of_its_own(session_machine, mtml_simulator):
    assert temperature() != 12
    mtml_simulator.set("0.gpu_temperature", 12)
    value(lambda pymtml, device: pymtml.nvmlDeviceSetEccMode(device, 0))
    assert ecc() == [1, 0]

def test_of_the_session_again(session_machine):
    assert (ecc(), temperature(), child("temperature()")) == ([1, 1], 12, "12")
    session_machine.set("0.gpu_temperature", 13)
    assert temperature() == 13

def test_who_holds_it(session_machine):
    pymtml.nvmlInit()
    with pytest.raises(package.LibraryInUse, match="in test_who_holds_it"):
        session_machine.profile("s80")
    pymtml.nvmlShutdown()
"""
    passes(tmp_path, text, count=4)


def test_unittest(tmp_path):
    text = """
import unittest

@pytest.mark.mtml(profile="s80")
class TestMarked(unittest.TestCase):
    def setUp(self):
        self.name = name()

    def test(self):
        self.assertEqual(self.name, "MTT S80")

@pytest.mark.usefixtures("mtml_simulator")
class TestUsing(unittest.TestCase):
    def test(self):
        self.assertEqual(name(), "MTT S5000")
"""
    passes(tmp_path, text, count=2)


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


def test_what_a_child_switches_is_seen(tmp_path):
    text = """
def test(mtml_simulator):
    import pymtml
    ecc = "value(lambda p, d: p.nvmlDeviceSetEccMode(d, 0))"
    child(ecc)
    assert mtml_simulator.get("0.ecc_pending_mode") == "DISABLE"
    assert value(lambda p, d: p.nvmlDeviceGetEccMode(d)) == [1, 0]
    pymtml.nvmlInit()
    with pytest.raises(Exception, match="cannot reboot while the library is initialized"):
        mtml_simulator.reboot()
    pymtml.nvmlShutdown()
    mtml_simulator.reboot()
    assert child("value(lambda p, d: p.nvmlDeviceGetEccMode(d))") == "[0, 0]"
"""
    passes(tmp_path, text)


def test_unset(tmp_path):
    text = """
def test(mtml_simulator):
    before = [mtml_simulator.get(key) for key in ("0.name", "5.power_usage", "machine.driver_version")]
    mtml_simulator.set("*.power_usage", 1)
    mtml_simulator.set("0.name", "None")
    mtml_simulator.set("machine.driver_version", "x")
    mtml_simulator.set("0.mtlink_state.3", "DOWN")
    assert name() == child("name()") == "None"
    for key in ("*.power_usage", "0.name", "machine.driver_version", "0.mtlink_state.3"):
        mtml_simulator.set(key, None)
    assert [mtml_simulator.get(key) for key in ("0.name", "5.power_usage", "machine.driver_version")] == before
    assert mtml_simulator.get("0.mtlink_state.3") == "UP"
    assert name() == child("name()") == "MTT S5000"
    with pytest.raises(ValueError):
        mtml_simulator.set("0.nam", None)
"""
    passes(tmp_path, text)


def test_cards_that_are_not_there(tmp_path):
    text = """
@pytest.mark.parametrize("change", [
    lambda s: s.fail("mtmlGpuGetTemperature", "TIMEOUT", device=8),
    lambda s: s.arm("42.*=TIMEOUT"),
    lambda s: s.set("8.gpu_temperature", 1),
    lambda s: s.set("8.gpu_temperature", None),
    lambda s: s.set("0.instance.0.gpu_temperature", 1),
    lambda s: s.lose(8),
    lambda s: s.set("machine.faults", "8.*=TIMEOUT"),
])
def test(mtml_simulator, change):
    with pytest.raises(ValueError, match="no such card"):
        change(mtml_simulator)

def test_variable(mtml_simulator):
    os.environ["MTML_SIM_FAULTS"] = "42.*=TIMEOUT"
    done = subprocess.run([sys.executable, "-c", "import binding; binding.name()"], stderr=subprocess.PIPE)
    assert done.returncode and b'MTML_SIM_FAULTS: "42.*=TIMEOUT": the machine has no such card' in done.stderr

@pytest.mark.mtml(profile="empty")
def test_none(mtml_simulator):
    with pytest.raises(ValueError, match="no such card"):
        mtml_simulator.heal(0)
"""
    passes(tmp_path, text, count=9)


def test_reference_that_dies_with_its_owner_is_no_leak(tmp_path):
    text = """
import pymtml

class Session:
    def __init__(self):
        self.me = self
        pymtml.nvmlInit()

    def __del__(self):
        pymtml.nvmlShutdown()

def test(mtml_simulator):
    Session()
"""
    passes(tmp_path, text)


def test_kept_is_no_leak(tmp_path):
    """What pymtml keeps after the last shutdown is ended without a word, before the test and after it."""
    text = """
import pymtml

@pytest.fixture(autouse=True)
def keeps(mtml_simulator, monkeypatch):
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", "1")
    yield

def test_keeps(mtml_simulator):
    pymtml.nvmlInit()
    pymtml.nvmlShutdown()
    assert mtml_simulator.references() == 1

def test_next(mtml_simulator):
    assert mtml_simulator.references() == 0 and name() == "MTT S5000"
"""
    passes(tmp_path, text, count=2)


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


def test_option(tmp_path):
    passes(tmp_path, CHOICE % "S80", "--mtml-profile", "s80")


def test_ini_key(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmtml_profile = s3000x2\n")
    passes(tmp_path, CHOICE % "S3000")
    passes(tmp_path, CHOICE % "S80", "--mtml-profile=s80")


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


def test_marker_before_other_fixtures(tmp_path):
    """The machine is there when the test's own fixtures are set up, and goes after them."""
    text = """
import pymtml

@pytest.fixture
def library():
    pymtml.nvmlInit()
    yield pymtml
    pymtml.nvmlShutdown()

@pytest.mark.mtml(profile="s80")
def test(library):
    assert library.nvmlDeviceGetCount() == 1
"""
    passes(tmp_path, text)


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
    (tmp_path / "binding.py").write_text(BINDING)
    done = packaged.run([sys.executable, "-c", program], cwd=str(tmp_path))
    assert done.returncode == 0, done.stderr
