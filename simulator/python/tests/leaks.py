"""Tests of a user's that leave something behind: test_package_plugin.py runs them all in one pytest."""

import ctypes
import subprocess
import sys
import threading
import time

import pytest
from binding import name, temperature

import pymtml


def probe():
    pymtml.nvmlInit()


def test_leak(mtml_simulator):
    probe()
    assert mtml_simulator.references() == 1


def test_after_leak(mtml_simulator):
    assert mtml_simulator.references() == 0
    assert temperature() == int(mtml_simulator.get("0.gpu_temperature"))


class Mtml:
    """A binding of one's own."""

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


left = []


def test_fails(mtml_simulator):
    mtml = Mtml()
    assert mtml.count() == 7
    mtml.close()


@pytest.mark.parametrize("number", range(20))
def test_after_fails(mtml_simulator, number):
    assert mtml_simulator.references() == 0
    mtml = Mtml()
    assert mtml.count() == 8
    mtml.close()


def test_believes_it_is_initialized(mtml_simulator):
    left.append(Mtml())


def test_after_believes(mtml_simulator):
    """What it holds is answered a code: it has done nothing wrong itself, and the process goes on."""
    held = left.pop()
    with pytest.raises(AssertionError, match="999"):
        held.count()
    with pytest.raises(AssertionError):
        held.close()
    Mtml().close()
    assert name() == "MTT S5000"


CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint)


def test_log(mtml_simulator):
    """It leaves a callback that is gone."""
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


def until(condition):
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.001)


def test_thread(mtml_simulator):
    """It leaves one that goes on asking."""
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
    until(lambda: answers)


def test_after_thread(mtml_simulator):
    thread, end, answers = left
    Mtml().close()
    until(lambda: answers[-1] == 999)
    end.set()
    thread.join()
    assert set(answers) == {0, 999}


def test_child(mtml_simulator):
    code = "import binding, time; binding.name(); time.sleep(60)"
    left.append(subprocess.Popen([sys.executable, "-c", code]))


def test_after_child(mtml_simulator):
    left[-1].kill()
    left[-1].wait()
    assert name() == "MTT S5000"


@pytest.mark.mtml(profil="s80")
def test_marker_of_no_such_argument():
    pass


@pytest.mark.mtml(faults="x")
def test_marker_of_no_fault():
    pass


class TestWider:
    """The leak of a scope is told at its end."""

    def test_leaks(self, mtml_simulator_class):
        pymtml.nvmlInit()

    def test_ends(self, mtml_simulator_class):
        pass
