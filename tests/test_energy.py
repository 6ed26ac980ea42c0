"""Energy by adding up the power: when it is asked for alone, how near it comes, and the thread that samples."""

import _thread
import os
import subprocess
import sys
import threading
import time

import pytest
import simulated
from test_interpreters import interpreter

import pymtml as nvml

ENERGY = nvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION
TASKS = "/proc/self/task"


@pytest.fixture(autouse=True)
def begun_anew():
    """No sums of another test, and no thread of one that is about to end."""
    if nvml._meters:
        nvml._meters.clear()
        time.sleep(0.3)


@pytest.fixture
def sampling(monkeypatch):
    monkeypatch.setenv("PYMTML_ENERGY", "sample")


def energy(device):
    return nvml.nvmlDeviceGetTotalEnergyConsumption(device)


def threads():
    """Threads of this process by the system's word: the sampler's are not in the module threading."""
    return len(os.listdir(TASKS))


def settles(what, seconds=3):
    """Whether something comes true within a time."""
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


@pytest.mark.parametrize("value", [None, "", "0", "yes"])
def test_nothing_is_sampled_unasked(monkeypatch, value):
    monkeypatch.delenv("PYMTML_ENERGY", raising=False)
    if value is not None:
        monkeypatch.setenv("PYMTML_ENERGY", value)
    with simulated.nvml("s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        before = threads() if os.path.isdir(TASKS) else None
        with pytest.raises(nvml.NVMLError_NotSupported) as error:
            energy(device)
        assert "PYMTML_ENERGY=sample" in str(error.value)
        assert nvml.nvmlDeviceGetFieldValues(device, [ENERGY])[0].nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED
        assert not nvml._meters and (before is None or threads() == before)
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            energy(None)
    with pytest.raises(nvml.NVMLError_Uninitialized):
        energy(device)


def test_the_sum_of_a_changing_load(sampling):
    """Within 2 % of what the simulated card drew over 10 s, at a load that changes every second; two cards apart."""
    with simulated.nvml("s5000x8"):
        first, second = [nvml.nvmlDeviceGetHandleByIndex(index) for index in (0, 1)]
        for card in (0, 1):
            simulated.set_value(card, "power_usage", 100000)
        began = time.monotonic()
        assert (energy(first), energy(second)) == (0, 0)
        drawn, since, power = 0, began, 100000
        for step in range(1, 11):
            time.sleep(max(0, began + step - time.monotonic()))
            now = time.monotonic()
            drawn += (now - since) * power
            since, power = now, (100000, 400000, 90000, 350000, 600000)[step % 5]
            if step < 10:
                simulated.set_value(0, "power_usage", power)
        assert energy(first) == pytest.approx(drawn, rel=0.02)
        assert energy(second) == pytest.approx((time.monotonic() - began) * 100000, rel=0.02)
        field = nvml.nvmlDeviceGetFieldValues(first, [ENERGY])[0]
        assert (field.nvmlReturn, field.valueType) == (nvml.NVML_SUCCESS, nvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG)
        assert energy(first) >= field.value.ullVal >= drawn * 0.98
        value = nvml.c_ulonglong()
        pointer = nvml._nvmlGetFunctionPointer("nvmlDeviceGetTotalEnergyConsumption")
        assert (pointer(first, nvml.byref(value)), value.value >= field.value.ullVal) == (0, True)


def test_the_sum_outlives_a_life_and_never_goes_backwards(sampling):
    with simulated.nvml("s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        seen = [energy(device)]
        for _ in range(20):
            time.sleep(0.01)
            seen.append(energy(device))
        nvml.nvmlShutdown()
        time.sleep(0.5)  # nobody counts then
        nvml.nvmlInit()
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        seen.append(energy(device))
        assert seen == sorted(seen) and seen[0] == 0 < seen[-2] == seen[-1]
        time.sleep(0.05)
        assert energy(device) > seen[-1]


def test_what_passes_between_two_lives_does_not_count(sampling, as_a_program, monkeypatch):
    """Also where the handle has the same address, and the thread of the first life has not seen its end."""
    now = [1000.0]
    with simulated.machine("s5000x8"):
        nvml.nvmlInit()
        monkeypatch.setattr(nvml._session, "monotonic", lambda: now[0])
        seen = [energy(nvml.nvmlDeviceGetHandleByIndex(0))]
        for passed, counts in ((1, True), (3600, False), (1, True)):
            if not counts:
                nvml.nvmlShutdown()
            now[0] += passed
            if not counts:
                nvml.nvmlInit()
            seen.append(energy(nvml.nvmlDeviceGetHandleByIndex(0)))
        second = simulated.device_keys("s5000x8", 0)["power_usage"]
        assert seen == [0, int(second), int(second), 2 * int(second)]
        simulated.shut_down()


def test_what_the_thread_adds(sampling, monkeypatch):
    """Half of the power at both ends for the time between; it rests for 100 ms before each sample, or until the end."""
    now, started, rests = [1000.0], [], []

    class Rest:
        """Of a thread: its time is over twice, then another meter takes its place."""

        def acquire(self, *arguments):
            rests.append(arguments)
            now[0] += 2
            return len(rests) == 3

    with simulated.nvml("s5000x8"):
        monkeypatch.setattr(nvml._session, "monotonic", lambda: now[0])
        monkeypatch.setattr(nvml._thread, "start_new_thread", lambda *arguments: started.append(arguments))
        device = nvml.nvmlDeviceGetHandleByIndex(1)
        simulated.set_value(1, "power_usage", 100000)
        assert energy(device) == 0
        ((run, (meter,)),) = started
        simulated.set_value(1, "power_usage", 300000)
        meter.rest = Rest()
        run(meter)
        assert (meter.state, meter.life) == ((1004.0, 300000, 2 * 200000 + 2 * 300000), None)
        assert rests == [(True, 0.1)] * 3


def test_where_no_thread_can_be_started(sampling, monkeypatch):
    def refuse(function, arguments):
        raise RuntimeError("can't start new thread")

    with simulated.nvml("s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        with monkeypatch.context() as patch:
            patch.setattr(nvml._thread, "start_new_thread", refuse)
            with pytest.raises(nvml.NVMLError_NotSupported) as error:
                energy(device)
            assert str(error.value).endswith("no thread can be started to sample the power: can't start new thread")
            assert not nvml._meters
        assert energy(device) == 0


@pytest.mark.skipif(not os.path.isdir(TASKS), reason="threads are counted below /proc")
def test_the_thread_of_a_card(sampling):
    """One for each card that was asked for, as long as the library lives; many short lives leave no more."""
    with simulated.nvml("s5000x8"):
        devices = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(3)]
        before = threads()
        for _ in range(5):
            for device in devices:
                energy(device)
        assert settles(lambda: threads() == before + 3)
        for _ in range(50):
            nvml.nvmlShutdown()
            nvml.nvmlInit()
            energy(nvml.nvmlDeviceGetHandleByIndex(0))
        assert settles(lambda: threads() == before + 1)
        nvml.nvmlShutdown()
        assert settles(lambda: threads() == before)
        nvml.nvmlInit()


def test_a_last_shutdown_does_not_wait(sampling):
    """A thread between two samples is inside of nothing: C is shut down at once."""
    with simulated.machine("s5000x8"):
        for init, shut_down in ((nvml.nvmlInit, nvml.nvmlShutdown), (nvml.mtmlLibraryInit, nvml.mtmlLibraryShutDown)):
            init()
            energy(nvml.nvmlDeviceGetHandleByIndex(0))
            time.sleep(0.15)
            began = time.monotonic()
            shut_down()
            assert time.monotonic() - began < 1
        assert simulated.references() == 0


def test_samples_that_fail(sampling):
    """The question's own raises; the thread goes on, and draws the line over the gap."""
    with simulated.nvml("s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        simulated.set_value(0, "power_usage", 200000)
        began = time.monotonic()
        energy(device)
        simulated.set_faults("mtmlDeviceGetPowerUsage=TIMEOUT")
        time.sleep(0.3)
        with pytest.raises(nvml.NVMLError_Timeout):
            energy(device)
        simulated.set_faults("")
        time.sleep(0.3)
        assert energy(device) == pytest.approx((time.monotonic() - began) * 200000, rel=0.05)


def test_a_thread_that_ends_with_an_exception_is_replaced(sampling, monkeypatch):
    """Without it the sum would be of the questions' own samples alone, far apart."""

    def clock():
        if _thread.get_ident() != asking:
            raise MemoryError
        return time.monotonic()

    asking = _thread.get_ident()
    with simulated.nvml("s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        energy(device)
        (meter,) = nvml._meters.values()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "unraisablehook", lambda unraisable: None, raising=False)  # Python 3.7 has none
            patch.setattr(nvml._session, "monotonic", clock)
            assert settles(lambda: meter.life is None)
        energy(device)
        assert [one is not meter and one.life is nvml._session.life for one in nvml._meters.values()] == [True]


def test_when_a_thread_goes_on(sampling):
    """It does while a change of MPC has taken the handle away, which may come back; only for its own life."""
    with simulated.nvml("s5000x8"):
        device, life = nvml.nvmlDeviceGetHandleByIndex(0), nvml._session.life
        energy(device)
        ((uuid, meter),) = nvml._meters.items()
        assert meter.sample() is True
        life.changing.append("one")
        del life.devices[device._address]
        assert meter.sample() is True
        del life.changing[:]
        assert meter.sample() is False
        life.devices[device._address] = device
        assert meter.sample() is True
        nvml._meters[uuid] = None
        assert meter.sample() is False
        nvml._meters[uuid] = meter
        nvml.nvmlShutdown()
        life.changing.append("one")
        assert meter.sample() is False
        nvml.nvmlInit()
        assert meter.sample() is False


def test_an_instance_of_a_divided_card(sampling):
    with simulated.nvml("s3000-mpc"):
        card = nvml.nvmlDeviceGetHandleByIndex(0)
        with pytest.raises(nvml.NVMLError_NotSupported):
            energy(nvml.nvmlDeviceGetMigDeviceHandleByIndex(card, 0))
        assert energy(card) == 0


def test_many_threads_ask(sampling):
    with simulated.nvml("s5000x8"):
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        wrong = []

        def ask():
            last = 0
            for _ in range(300):
                now = energy(device)
                if now < last:
                    wrong.append((last, now))
                last = now

        askers = [threading.Thread(target=ask) for _ in range(8)]
        began = time.monotonic()
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        power = simulated.get_value(0, "power_usage")
        assert wrong == []
        assert energy(device) <= (time.monotonic() - began) * int(power) * 1.05


def test_a_sample_in_the_midst_of_another_is_not_lost():
    """Of two threads: the second one waits, or its energy would be taken back."""
    meter = nvml._Meter(None, None, "uuid", (0, 100, 0))
    others = []

    class Moment(float):
        def __gt__(self, then):
            others.append(threading.Thread(target=meter.add, args=(2.0, 100)))
            others[-1].start()
            others[-1].join(0.15)
            return float(self) > then

    meter.add(Moment(1.0), 100)
    others[0].join()
    assert meter.state == (2.0, 100, 200)


FORK = """
import os, sys, time
import pymtml as nvml

nvml.nvmlInit()
device = nvml.nvmlDeviceGetHandleByIndex(0)
ask = nvml.nvmlDeviceGetTotalEnergyConsumption
ask(device)
time.sleep(0.3)
child = os.fork()
first = ask(device)
time.sleep(0.3)
second = ask(device)
threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 2
assert (first == 0) is (child == 0) and second > first and threads == 2, (child, first, second, threads)
if child:
    assert os.waitpid(child, 0)[1] == 0
"""

# Ways to end while the thread samples: in the middle of questions at exit too.
ENDS = {
    "falls off the end": "",
    "exit": "sys.exit(3)",
    "an error": "raise SystemExit(4)",
    "a last question": "import atexit; atexit.register(ask, device)",
    "an object that asks when it dies": "class Last:\n def __del__(self): ask(device)\nlast = Last()",
    "a thread": "import threading\ngo = lambda: [ask(device) for _ in range(500)]\nthreading.Thread(target=go).start()",
    "a shutdown at exit": "import atexit; atexit.register(nvml.nvmlShutdown)",
}
END = FORK.split("child =")[0] + "time.sleep(0.01)\n%s\n"
VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "pypy3")


def run(python, code):
    done = subprocess.run(
        [python, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", code],
        env=dict(simulated.environment("s5000x8"), PYMTML_ENERGY="sample", PYTHONPATH=simulated.ROOT),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(params=(None,) + VERSIONS)
def python(request):
    """A Python: this one, and each one of the versions that there is."""
    found = sys.executable if request.param is None else interpreter(request.param)
    if found is None:
        pytest.skip("there is no Python %s on this machine" % request.param)
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_a_forked_child_begins_anew(python):
    assert run(python, FORK) == (0, "")


@pytest.mark.parametrize("end", sorted(ENDS))
def test_the_end_of_the_interpreter(python, end):
    status, said = run(python, END % ENDS[end])
    assert (status, said) == ({"exit": 3, "an error": 4}.get(end, 0), "")


SIGNALS = """
import signal, sys, time
import pymtml as nvml

nvml.nvmlInit()
device = nvml.nvmlDeviceGetHandleByIndex(0)
ask, answers = nvml.nvmlDeviceGetTotalEnergyConsumption, [0]
ask(device)
signal.signal(signal.SIGALRM, lambda *_: answers.append(ask(device)))
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
end = time.monotonic() + 1.5
while time.monotonic() < end:
    answers.append(ask(device))
signal.setitimer(signal.ITIMER_REAL, 0)
assert answers[-1] > 0
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such timer there")
def test_a_signal_handler_asks(python):
    assert run(python, SIGNALS) == (0, "")
