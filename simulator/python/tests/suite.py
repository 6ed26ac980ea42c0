"""Tests of a user's with the fixture `mtml_simulator`: test_package_plugin.py runs them all in one pytest."""

import asyncio
import ctypes
import os
import subprocess
import sys
import time
import unittest
import urllib.request

import mtml_simulator as package
import pytest
from binding import child, name, temperature, value
from mtml_simulator import environment

import pymtml

# ==== In force, and undone ====


def test_in_force(mtml_simulator):
    mtml_simulator.set("0.gpu_temperature", -7)
    mtml_simulator.fail("mtmlGpuGetClock", "TIMEOUT")
    assert temperature() == -7


def test_after():
    assert not [each for each in os.environ if each.startswith(("MTML_", "PYMTML_", "CPATH"))]
    assert "mtml_simulator" not in os.environ["PATH"] and "LD_LIBRARY_PATH" not in os.environ
    assert subprocess.run([sys.executable, "-c", "import binding; binding.name()"]).returncode == 1


def test_in_force_again(mtml_simulator):
    assert temperature() == int(mtml_simulator.get("0.gpu_temperature")) != -7
    assert value(lambda pymtml, device: pymtml.nvmlDeviceGetClockInfo(device, 0)) > 0


@pytest.mark.parametrize("keep", [None, "1"])
def test_kept_from_before_is_ended(monkeypatch, keep):
    for variable in ("PYMTML_LIBRARY", "MTML_SIM_PROFILE"):
        monkeypatch.setenv(variable, environment.variables("s80")[variable])
    if keep:
        monkeypatch.setenv("PYMTML_KEEP_LIBRARY", keep)
    pymtml.nvmlInit()
    pymtml.nvmlShutdown()
    with package.simulate() as machine:
        assert machine.references() == 0 and name() == "MTT S5000"
    assert os.environ.get("PYMTML_KEEP_LIBRARY") == keep


# ==== The machine of a test ====


def test_eight_frozen_s5000(mtml_simulator):
    assert name() == "MTT S5000"
    assert temperature() == int(mtml_simulator.get("0.gpu_temperature"))
    assert mtml_simulator.get("7.name") == "MTT S5000"
    with pytest.raises(ValueError):
        mtml_simulator.get("8.name")


@pytest.mark.parametrize("library", ["libmtml.so.2", "libmusa.so.1"])
def test_any_binding_finds_it_by_name(mtml_simulator, library):
    ctypes.CDLL(library)


def test_children(mtml_simulator):
    mtml_simulator.set("0.gpu_temperature", -7)
    assert child("temperature()") == "-7"
    mtml_simulator.profile("s80")
    assert child("name()") == "MTT S80"
    environment = mtml_simulator.environment()
    assert environment == dict(os.environ) and environment is not os.environ
    mtml_simulator.fail("mtmlGpuGetTemperature", "TIMEOUT")
    done = subprocess.run([sys.executable, "-c", "import binding; binding.temperature()"], stderr=subprocess.PIPE)
    assert b"NVMLError" in done.stderr


def test_profile_is_a_new_machine(mtml_simulator):
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


OWN = "[machine]\nlibrary_version = 1-simulator\nfaults = mtmlGpuGetTemperature=TIMEOUT\n"
OWN += "[device.0]\nname = MTT X1\n"


def broken():
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
    return ["%s:\n%s" % (path, open(path).read() if os.path.exists(path) else "not there") for path in paths]


def test_faults_of_a_profile_go_with_it(mtml_simulator):
    mtml_simulator.profile(OWN)
    assert broken() == ["NVMLError_Timeout"]
    mtml_simulator.fail("mtmlDeviceGetName", "DRIVER_FAILURE")
    assert broken() == ["NVMLError_Timeout", "NVMLError_Unknown"]
    done = subprocess.run([sys.executable, "-c", "import binding; binding.temperature()"], stderr=subprocess.PIPE)
    assert b"NVMLError_Timeout" in done.stderr, "\n".join(told() + [done.stderr.decode()])
    mtml_simulator.profile("s80")
    assert broken() == []
    mtml_simulator.fail("mtmlDeviceGetName", "DRIVER_FAILURE")
    assert broken() == ["NVMLError_Unknown"]
    mtml_simulator.profile(OWN)
    assert broken() == ["NVMLError_Timeout"]
    mtml_simulator.heal()
    assert broken() == [] and isinstance(temperature(), int) and isinstance(int(child("temperature()")), int)


def test_forms_of_a_profile(mtml_simulator, tmp_path, monkeypatch):
    mtml_simulator.profile("s4000x8")
    assert name() == "MTT S4000"
    mtml_simulator.profile("""
        [machine]
        library_version = 1-simulator

        [device.0]
        name = MTT S9
        """)
    assert name() == child("name()") == "MTT S9"
    (tmp_path / "other.ini").write_text("[machine]\nlibrary_version = 1-simulator\n[device.0]\nname = MTT S8\n")
    mtml_simulator.profile(tmp_path / "other.ini")
    assert name() == "MTT S8"
    mtml_simulator.profile("s80")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    mtml_simulator.profile("../other.ini")
    monkeypatch.chdir(tmp_path)
    assert name() == child("name()") == "MTT S8"


def test_values_stay_unless_they_are_to_move(mtml_simulator):
    assert os.environ["MTML_SIM_PROFILE"] == "s5000x8+frozen"
    mtml_simulator.profile("s80", frozen=False)
    assert os.environ["MTML_SIM_PROFILE"] == "s80"
    mtml_simulator.profile("s80+frozen", frozen=False)
    assert os.environ["MTML_SIM_PROFILE"] == "s80+frozen"


def test_bad_profiles(mtml_simulator):
    mtml_simulator.set("0.gpu_temperature", -7)
    with pytest.raises(package.ProfileError, match="one of .*empty, .*s5000x8, .*s80"):
        mtml_simulator.profile("s9000")
    with pytest.raises(package.ProfileError, match=r":4: \[device.0\] color: unknown key"):
        mtml_simulator.profile("[machine]\nlibrary_version = 1-simulator\n[device.0]\ncolor = blue\n")
    assert temperature() == -7 and child("temperature()") == "-7"


def open_library():
    pymtml.nvmlInit()


def test_profile_while_initialized(mtml_simulator):
    open_library()
    with pytest.raises(package.LibraryInUse) as raised:
        mtml_simulator.profile("s80")
    assert "1 native reference is open" in str(raised.value)
    assert "suite.py:" in str(raised.value) and ", in open_library" in str(raised.value)
    assert pymtml.nvmlDeviceGetCount() == 8
    pymtml.nvmlShutdown()
    mtml_simulator.profile("s80")


def test_a_thousand_profiles_in_less_than_four_seconds(mtml_simulator):
    pymtml.nvmlInit()
    pymtml.nvmlShutdown()
    begin = time.process_time()
    for number in range(500):
        mtml_simulator.profile("s5000x8")
        mtml_simulator.profile("s4000x8")
        pymtml.nvmlInit()
        pymtml.nvmlShutdown()
    assert time.process_time() - begin < 4


def test_set_card_of_two_digits(mtml_simulator):
    cards = "".join("[device.%d]\nuuid = %d\n" % (card, card) for card in range(11))
    mtml_simulator.profile("[machine]\nlibrary_version = 1-simulator\n" + cards)
    mtml_simulator.set("*.gpu_temperature", 21)
    mtml_simulator.set("10.gpu_temperature", 22)
    assert [mtml_simulator.get("%d.gpu_temperature" % card) for card in range(11)] == ["21"] * 10 + ["22"]


def test_set(mtml_simulator):
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


def test_set_what_the_program_did_outlasts_a_setting(tmp_path, mtml_simulator):
    pymtml.nvmlInit()
    device = pymtml.nvmlDeviceGetHandleByIndex(0)
    pymtml.nvmlDeviceSetEccMode(device, 0)
    mtml_simulator.set("1.gpu_temperature", 5)
    pymtml.nvmlShutdown()
    pymtml.nvmlInit()
    assert pymtml.nvmlDeviceGetEccMode(pymtml.nvmlDeviceGetHandleByIndex(0)) == [1, 0]
    pymtml.nvmlShutdown()


def test_set_parts(mtml_simulator):
    mtml_simulator.profile("s3000-mpc")
    mtml_simulator.set("0.instance.1.memory_used", 12345)
    assert mtml_simulator.get("0.instance.1.memory_used") == "12345"
    assert mtml_simulator.get("0.instance.0.memory_used") != "12345"
    mtml_simulator.profile("s3000-vgpu-host+frozen")
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
def test_set_bad_values(mtml_simulator, key, value, problem):
    before = dict(os.environ)
    with pytest.raises(ValueError, match=problem):
        mtml_simulator.set(key, value)
    assert os.environ == before


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


def test_fail_always(mtml_simulator, devices):
    mtml_simulator.fail("mtmlGpuGetTemperature", "TIMEOUT")
    assert answers(devices[0], 3) == ["NVMLError_Timeout"] * 3


def test_fail_after_and_times(mtml_simulator, devices):
    mtml_simulator.fail("mtmlGpuGetTemperature", "MTML_ERROR_TIMEOUT", after=2, times=1)
    assert answers(devices[0], 4) == ["ok", "ok", "NVMLError_Timeout", "ok"]


def test_fail_device(mtml_simulator, devices):
    mtml_simulator.fail("mtmlGpuGetTemperature", 7, device=3)
    assert [answers(devices[index], 1)[0][:3] for index in (2, 3, 4)] == ["ok", "NVM", "ok"]


def test_fail_faults_of_the_profile_stay(mtml_simulator):
    machine = "[machine]\nlibrary_version = 1-simulator\nfaults = mtmlDeviceGetName=TIMEOUT\n"
    mtml_simulator.profile(machine + "[device.0]\n")
    mtml_simulator.fail("mtmlGpuGetTemperature", "UNKNOWN")
    for call in (name, temperature):
        with pytest.raises(pymtml.NVMLError):
            call()
    for expression in ("name()", "temperature()"):
        with pytest.raises(subprocess.CalledProcessError):
            child(expression)


@pytest.mark.parametrize("fault", [("mtmlGpuGetTemperatur", "TIMEOUT"), ("mtmlGpuGetTemperature", "TIMEOUTS")])
def test_fail_mistakes(mtml_simulator, fault):
    with pytest.raises(ValueError, match="unknown"):
        mtml_simulator.fail(*fault)
    assert "MTML_SIM_FAULTS" not in os.environ
    # Not for ever.
    with pytest.raises(ValueError):
        mtml_simulator.fail("mtmlGpuGetTemperature", "TIMEOUT", times=0)
    temperature()


def test_fail_lost(mtml_simulator, devices):
    mtml_simulator.lose(5)
    assert [answers(devices[index], 1) for index in (4, 5, 6)] == [["ok"], ["NVMLError_Unknown"], ["ok"]]
    code = "value(lambda p, d: p.nvmlDeviceGetHandleByIndex(5))"
    assert subprocess.run([sys.executable, "-c", "import binding; binding." + code]).returncode == 1


def test_fail_latency(mtml_simulator, devices):
    def took():
        begin = time.perf_counter()
        answers(devices[0], 1)
        return time.perf_counter() - begin

    for seconds in (0.004, 0):
        mtml_simulator.latency(seconds)
        # On a busy machine some calls take long whatever is set.
        assert (min(took() for _ in range(50)) >= 0.004) is (seconds > 0)
    with pytest.raises(ValueError):
        mtml_simulator.latency(-1)


def test_calls_first(mtml_simulator):
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


def test_calls_second(mtml_simulator):
    assert mtml_simulator.calls("mtmlDeviceGetPowerUsage") == 0


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


def test_what_a_child_switches_is_seen(mtml_simulator):
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


def test_unset(mtml_simulator):
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


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.fail("mtmlGpuGetTemperature", "TIMEOUT", device=8),
        lambda s: s.arm("42.*=TIMEOUT"),
        lambda s: s.set("8.gpu_temperature", 1),
        lambda s: s.set("8.gpu_temperature", None),
        lambda s: s.set("0.instance.0.gpu_temperature", 1),
        lambda s: s.lose(8),
        lambda s: s.set("machine.faults", "8.*=TIMEOUT"),
    ],
)
def test_cards_that_are_not_there(mtml_simulator, change):
    with pytest.raises(ValueError, match="no such card"):
        change(mtml_simulator)


def test_cards_that_are_not_there_variable(mtml_simulator):
    os.environ["MTML_SIM_FAULTS"] = "42.*=TIMEOUT"
    done = subprocess.run([sys.executable, "-c", "import binding; binding.name()"], stderr=subprocess.PIPE)
    assert done.returncode and b'MTML_SIM_FAULTS: "42.*=TIMEOUT": the machine has no such card' in done.stderr


@pytest.mark.mtml(profile="empty")
def test_cards_that_are_not_there_none(mtml_simulator):
    with pytest.raises(ValueError, match="no such card"):
        mtml_simulator.heal(0)


class Session:
    def __init__(self):
        self.me = self
        pymtml.nvmlInit()

    def __del__(self):
        pymtml.nvmlShutdown()


def test_reference_that_dies_with_its_owner_is_no_leak(mtml_simulator):
    Session()


@pytest.fixture
def keeps(mtml_simulator, monkeypatch):
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", "1")
    yield


def test_kept_is_no_leak_keeps(keeps, mtml_simulator):
    """What pymtml keeps after the last shutdown is ended without a word, before the test and after it."""
    pymtml.nvmlInit()
    pymtml.nvmlShutdown()
    assert mtml_simulator.references() == 1


def test_kept_is_no_leak_next(keeps, mtml_simulator):
    assert mtml_simulator.references() == 0 and name() == "MTT S5000"


@pytest.fixture
def library():
    pymtml.nvmlInit()
    yield pymtml
    pymtml.nvmlShutdown()


@pytest.mark.mtml(profile="s80")
def test_marker_before_other_fixtures(library):
    """The machine is there when the test's own fixtures are set up, and goes after them."""
    assert library.nvmlDeviceGetCount() == 1


# ==== Other kinds of tests ====


@pytest.mark.parametrize("degrees", range(2))
async def test_async(mtml_simulator, degrees):
    mtml_simulator.set("0.gpu_temperature", degrees)
    loop = asyncio.get_running_loop()
    assert await loop.run_in_executor(None, temperature) == degrees
    await asyncio.sleep(0)
    command = [sys.executable, "-c", "import binding; print(binding.temperature())"]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert int((await process.communicate())[0]) == degrees


@pytest.mark.mtml_sweep(allow="mtmlDeviceGetProperty")
async def test_async_sweep(mtml_simulator):
    await asyncio.sleep(0)
    temperature()


@pytest.mark.mtml(profile="s3000x2", faults="mtmlLibraryInit=DRIVER_NOT_LOADED@0x1,0.mtmlDeviceGetName=TIMEOUT")
def test_marker_without_the_fixture():
    with pytest.raises(pymtml.NVMLError_DriverNotLoaded):
        pymtml.nvmlInit()
    with pytest.raises(pymtml.NVMLError_Unknown, match="timed out"):
        name()


@pytest.mark.mtml(profile="s4000x8")
class TestNearerMarkers:
    def test_marker_of_the_class(self, mtml_simulator):
        assert name() == "MTT S4000"

    @pytest.mark.mtml(frozen=False)
    def test_marker_of_the_test(self, mtml_simulator):
        assert os.environ["MTML_SIM_PROFILE"] == "s5000x8"


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


@pytest.fixture
def scrape(mtml_simulator):
    daemon = subprocess.Popen([sys.executable, "-c", DAEMON], stdout=subprocess.PIPE)
    url = "http://127.0.0.1:%d/" % int(daemon.stdout.readline())
    yield lambda: urllib.request.urlopen(url).read().decode()
    daemon.kill()
    daemon.wait()
    daemon.stdout.close()


def test_daemon(mtml_simulator, scrape):
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


def test_daemon_next(mtml_simulator, scrape):
    assert scrape() == mtml_simulator.get("0.gpu_temperature") != "7"


# ==== Below the machine of a session, which stays to the end ====


@pytest.fixture(scope="session")
def session_machine():
    with package.simulate() as simulator:
        simulator.set("0.gpu_temperature", 12)
        yield simulator


def ecc():
    return value(lambda pymtml, device: pymtml.nvmlDeviceGetEccMode(device))


def test_session_of_the_session(session_machine):
    assert (ecc(), temperature(), child("temperature()")) == ([1, 1], 12, "12")


def test_session_of_its_own(session_machine, mtml_simulator):
    assert temperature() != 12
    mtml_simulator.set("0.gpu_temperature", 12)
    value(lambda pymtml, device: pymtml.nvmlDeviceSetEccMode(device, 0))
    assert ecc() == [1, 0]


def test_session_of_the_session_again(session_machine):
    assert session_machine.get("0.gpu_temperature") == "12"
    assert (ecc(), temperature(), child("temperature()")) == ([1, 1], 12, "12")
    session_machine.set("0.gpu_temperature", 13)
    assert temperature() == 13


def test_session_who_holds_it(session_machine):
    pymtml.nvmlInit()
    with pytest.raises(package.LibraryInUse, match="in test_session_who_holds_it"):
        session_machine.profile("s80")
    pymtml.nvmlShutdown()
