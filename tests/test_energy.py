"""Energy by adding up the power: when it is asked for alone, how near it comes, and the thread that samples."""

import _thread
import os
import sys
import threading
import time

import pytest
import simulated
from interpreter import FREE_THREADED, KEPT

import pymtml as nvml

ENERGY = nvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION
TASKS = "/proc/self/task"


@pytest.fixture(autouse=True)
def begun_anew():
    """No sums of another test, and no thread of one that is about to end."""
    nvml._meters.clear()
    assert not os.path.isdir(TASKS) or settles(lambda: threads() == threading.active_count())


@pytest.fixture
def sampling(monkeypatch):
    monkeypatch.setenv("PYMTML_ENERGY", "sample")


class Clock:
    """Seconds that pass when a test says so; `sample` is what a thread does, which is not started."""

    def __init__(self, monkeypatch):
        self.now, self.started, self.rests, self.start = 1000.0, [], [], _thread.start_new_thread
        nvml._mtmlGetFunctionPointer("mtmlLibraryInit")  # loads the library, which would set the clock to the true one
        monkeypatch.setattr(nvml._session, "monotonic", lambda: self.now)
        monkeypatch.setattr(_thread, "start_new_thread", lambda run, arguments: self.started.append((run, arguments)))

    def sample(self, step, times, seconds=None, thread=0):
        """Do what the thread does: step(n) in its n-th rest, of `times`, which takes as long as it wants or so long."""
        clock = self

        class Rest:
            taken = 0

            def acquire(self, wait, timeout):
                clock.rests.append((wait, timeout))
                clock.now += timeout if seconds is None else seconds
                self.taken += 1
                step(self.taken)
                return self.taken > times

            def release(self):
                raise RuntimeError("nobody waits")

        run, (meter,) = self.started[thread]
        meter.rest = Rest()
        run(meter)
        return meter


@pytest.fixture
def clock(monkeypatch, sampling):
    return Clock(monkeypatch)


def card(index=0):
    return nvml.nvmlDeviceGetHandleByIndex(index)


def energy(device):
    return nvml.nvmlDeviceGetTotalEnergyConsumption(device)


def threads():
    """Threads of this process by the system's word: the sampler's are not in the module threading."""
    return len(os.listdir(TASKS))


def settles(what, seconds=10):
    """Whether something comes true within a time."""
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.01)
    return what()


def test_nothing_is_sampled_unasked(monkeypatch):
    for value in (None, "", "0", "yes"):
        monkeypatch.delenv("PYMTML_ENERGY", raising=False)
        if value is not None:
            monkeypatch.setenv("PYMTML_ENERGY", value)
        with simulated.nvml("s5000x8"):
            device = card()
            monkeypatch.setattr(_thread, "start_new_thread", None)
            with pytest.raises(nvml.NVMLError_NotSupported) as error:
                energy(device)
            counted = "PYMTML_ENERGY=sample in the environment adds up the power"
            assert str(error.value) == "Not Supported: MTML has no counter of energy: " + counted
            assert nvml.nvmlDeviceGetFieldValues(device, [ENERGY])[0].nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED
            pytest.raises(nvml.NVMLError_InvalidArgument, energy, None)
        pytest.raises(nvml.NVMLError_Uninitialized, energy, device)


def test_the_sum_of_a_changing_load(clock):
    """Within 2 % of what the card drew over 10 s, at a load that changes every second; each card has its own sum."""
    drawn = [0.0]

    def step(number):  # the load changes in the middle of a rest
        before = int(simulated.get_value(0, "power_usage"))
        after = (100000, 400000, 90000, 350000, 600000)[number // 10 % 5]
        drawn[0] += 0.05 * (before + after)
        simulated.set_value(0, "power_usage", after)

    with simulated.nvml("s5000x8"):
        for index in (0, 1):
            simulated.set_value(index, "power_usage", 100000)
        assert (energy(card()), energy(card(1))) == (0, 0)
        clock.sample(step, 99)
        assert energy(card()) == pytest.approx(drawn[0], rel=0.02) and drawn[0] > 2e6
        assert clock.rests == [(True, 0.1)] * 100  # it rests for 100 ms before each sample
        assert energy(card(1)) == pytest.approx((clock.now - 1000) * 100000)
        field = nvml.nvmlDeviceGetFieldValues(card(), [ENERGY])[0]
        assert (field.nvmlReturn, field.valueType) == (nvml.NVML_SUCCESS, nvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG)
        value = nvml.c_ulonglong()
        pointer = nvml._nvmlGetFunctionPointer("nvmlDeviceGetTotalEnergyConsumption")
        assert pointer(card(), nvml.byref(value)) == nvml.NVML_SUCCESS
        assert energy(card()) == field.value.ullVal == value.value


def test_power_between_two_samples(clock):
    """Half of the power at both ends for the time between, of the thread's samples and of the questions'."""
    with simulated.nvml("s5000x8"):
        simulated.set_value(1, "power_usage", 100000)
        assert energy(card(1)) == 0
        simulated.set_value(1, "power_usage", 300000)
        clock.sample(lambda number: None, 2, seconds=2)
        assert energy(card(1)) == 2 * 200000 + 2 * 300000
        simulated.set_value(1, "power_usage", 100000)
        clock.now += 3
        assert energy(card(1)) == 1000000 + 3 * 200000
        clock.now -= 5  # a clock that went back takes nothing away
        assert energy(card(1)) == 1600000


@pytest.mark.parametrize("keep", ["0", ""])
def test_what_passes_between_two_lives_does_not_count(clock, keep, monkeypatch):
    """The sum goes on; also where the handle has the same address, and the first life's thread has not seen its end."""
    monkeypatch.setenv("PYMTML_KEEP_LIBRARY", keep)
    with simulated.nvml("s5000x8"):
        simulated.set_value(0, "power_usage", 200000)
        seen = [energy(card())]
        for passed, counts in ((1, True), (3600, False), (1, True)):
            if not counts:
                nvml.nvmlShutdown()
            clock.now += passed
            if not counts:
                nvml.nvmlInit()
                simulated.set_value(0, "power_usage", 200000)
            seen.append(energy(card()))
        assert seen == [0, 200000, 200000, 400000]


def test_where_no_thread_can_be_started(sampling, monkeypatch):
    def refuse(function, arguments):
        raise RuntimeError("can't start new thread")

    with simulated.nvml("s5000x8"):
        with monkeypatch.context() as patch:
            patch.setattr(_thread, "start_new_thread", refuse)
            for _ in range(2):  # nothing is added up without a thread
                with pytest.raises(nvml.NVMLError_NotSupported) as error:
                    energy(card())
            assert str(error.value).endswith("no thread can be started to sample the power: can't start new thread")
        assert energy(card()) == 0


@pytest.mark.skipif(not os.path.isdir(TASKS), reason="threads are counted below /proc")
def test_the_thread_of_a_card(sampling):
    """One for each card that was asked for, as long as the library lives; many short lives leave no more. A last
    shutdown does not wait: between two samples a thread is inside of nothing, so that C is shut down at once."""
    before = threads()
    with simulated.machine("s5000x8"):
        nvml.nvmlInit()
        for index in (0, 1, 2) * 5:
            energy(card(index))
        assert settles(lambda: threads() == before + 3)
        for init, shut_down in ((nvml.nvmlInit, nvml.nvmlShutdown), (nvml.mtmlLibraryInit, nvml.mtmlLibraryShutDown)):
            for _ in range(25):
                nvml.nvmlShutdown()
                init()
                energy(card())
            assert settles(lambda: threads() == before + 1)
            shut_down()
            assert simulated.references() == KEPT
            nvml.nvmlInit()
        nvml.nvmlShutdown()
        assert settles(lambda: threads() == before)


def test_samples_that_fail(clock):
    """The question's own raises; the thread goes on, and draws the line over the gap."""

    def step(number):
        simulated.set_faults("mtmlDeviceGetPowerUsage=TIMEOUT" if number < 30 else "")
        if number == 20:
            pytest.raises(nvml.NVMLError_Timeout, energy, card())

    with simulated.nvml("s5000x8"):
        simulated.set_value(0, "power_usage", 200000)
        energy(card())
        meter = clock.sample(step, 40)
        assert len(clock.rests) == 41 and meter.life is None
        assert energy(card()) == pytest.approx(4 * 200000, abs=1)


def test_a_thread_that_ends_with_an_exception_is_replaced(clock):
    """Without it the sum would be of the questions' own samples alone, far apart."""

    def fail(number):
        raise MemoryError

    with simulated.nvml("s5000x8"):
        energy(card())
        pytest.raises(MemoryError, clock.sample, fail, 1)
        energy(card()), energy(card())
        assert len(clock.started) == 2


def test_when_a_thread_goes_on(clock):
    """It does while a change of MPC has taken the handle away, which may come back; only for its own life."""

    def rests(action, lasting):
        before = len(clock.rests)
        clock.sample(lambda number: action() if number == 1 else None, 3, thread=-1)
        assert (len(clock.rests) - before == 4) is lasting
        energy(card())  # starts another thread

    def shut_down():
        nvml.nvmlShutdown(), nvml.nvmlInit()

    with simulated.nvml("s3000-mpc"):
        life = nvml._session.life
        energy(card())
        rests(lambda: None, True)
        rests(lambda: life.changing.append("one") or life.devices.pop(card()._address), True)
        del life.changing[:]
        rests(lambda: life.devices.pop(card()._address), False)
        rests(shut_down, False)
        rests(lambda: nvml._session.life.changing.append("one") or shut_down(), False)
        with pytest.raises(nvml.NVMLError_NotSupported):
            energy(nvml.nvmlDeviceGetMigDeviceHandleByIndex(card(), 0))  # what an instance draws is not known


def test_many_threads_ask(sampling):
    with simulated.nvml("s5000x8"):
        device, wrong = card(), []

        def ask():
            last = 0
            for _ in range(100):
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


def test_a_sample_in_the_midst_of_another_waits(clock):
    """Of two threads: else the sum of the one that is answered later would be the smaller one."""
    meanwhile, done = [], []

    class Moment(float):
        def __gt__(self, then):
            if not meanwhile:
                clock.now = 1002.0
                clock.start(lambda: done.append(energy(card())), ())
                meanwhile.append(settles(lambda: done, 0.15))
            return float(self) > then

    with simulated.nvml("s5000x8"):
        simulated.set_value(0, "power_usage", 100000)
        energy(card())
        clock.now = Moment(1001.0)
        energy(card())
        assert meanwhile == [[]] and settles(lambda: done) and done == [energy(card())] == [200000]


# What a child counts, what a handler asks, and ends of a process whose thread samples; make test-all tries each Python.
PROGRAM = """
import os, signal, sys, threading, time
import pymtml as nvml

def begin():
    nvml.nvmlInit()
    device = nvml.nvmlDeviceGetHandleByIndex(0)
    nvml.nvmlDeviceGetTotalEnergyConsumption(device)
    return device

ask = nvml.nvmlDeviceGetTotalEnergyConsumption
for code in sys.argv[1:]:
    child = os.fork()
    if not child:
        device = begin()
        break
    print(os.WEXITSTATUS(os.waitpid(child, 0)[1]), flush=True)  # the next child has no copy of it
else:
    code = ""
exec(code)
"""
ENDS = {  # code, and the exit status: ways to end while the thread samples, in the middle of questions at exit too
    "": 0,
    "sys.exit(3)": 3,
    "raise SystemExit(4)": 4,
    "import atexit; atexit.register(ask, device)": 0,
    "class Last:\n def __del__(self): ask(device)\nlast = Last()": 0,
    "go = lambda: [ask(device) for _ in range(500)]\nthreading.Thread(target=go).start()": 0,
    "import atexit; atexit.register(nvml.nvmlShutdown)": 0,
}
if FREE_THREADED:  # there it may run after the globals of all modules are gone
    del ENDS["class Last:\n def __del__(self): ask(device)\nlast = Last()"]
FORK = """
time.sleep(0.15)
child = os.fork()
first = ask(device)
time.sleep(0.15)
second = ask(device)
threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 2
assert (first == 0) is (child == 0) and second > first and threads == 2, (child, first, second, threads)
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
SIGNALS = """
answers = [0]
signal.signal(signal.SIGALRM, lambda *_: answers.append(ask(device)))
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
end = time.monotonic() + 0.3
while time.monotonic() < end:
    answers.append(ask(device))
signal.setitimer(signal.ITIMER_REAL, 0)
assert answers[-1] > 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_children_handlers_and_the_end_of_the_interpreter():
    done = simulated.run(
        [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", PROGRAM, FORK, SIGNALS] + list(ENDS),
        env=dict(simulated.environment("s5000x8"), PYMTML_ENERGY="sample", PYTHONPATH=simulated.ROOT),
    )
    statuses = [int(word) for word in done.stdout.split()]
    assert (statuses, done.stderr) == ([0, 0] + list(ENDS.values()), "")
