"""The fixture `mtml_simulator`: each test here is a small test suite of a user's, run by pytest with the plugin."""

import os
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
    assert "PYMTML_KEEP_LIBRARY" not in os.environ
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
        ("8.gpu_temperature", 1, "no such device"),
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


def test_leak_that_nobody_can_take_back(tmp_path):
    """The machine cannot change below whoever holds the library, so the tests that follow say who does."""
    text = """
import ctypes

def test_leak(mtml_simulator):
    ctypes.CDLL("libmtml.so.2").mtmlLibraryInit(ctypes.byref(ctypes.c_void_p()))

def test_next(mtml_simulator):
    pass
"""
    said = fails(tmp_path, text)
    assert "1 passed, 2 errors" in said
    assert "the library is initialized already: 1 native reference is open" in said
    assert said.count("test_suite.py:6, in test_leak") == 2


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


def test_bad_option(tmp_path):
    assert 'there is no profile "s81"' in fails(tmp_path, CHOICE % "S80", "--mtml-profile", "s81")


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
