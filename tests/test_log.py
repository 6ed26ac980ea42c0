"""The callback of a log: it lives as long as C has it, and no longer, and may call in."""

import ctypes
import gc
import os
import threading
import weakref

import pytest
from concurrency import held, in_child
from native_calls import Scene

import pymtml


@pytest.fixture
def log():
    messages = []
    configuration = pymtml.c_mtmlLogConfiguration_t()
    configuration.callbackConfig.level = pymtml.MTML_LOG_LEVEL_INFO
    configuration.callbackConfig.callback = pymtml._mtmlLogCallback_t(
        lambda text, length: messages.append(text[:length])
    )
    pymtml.mtmlLogSetConfiguration(configuration)
    del configuration
    yield messages
    pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t())


def fill_freed_memory():
    gc.collect()
    return [pymtml._mtmlLogCallback_t(lambda text, length: os._exit(99)) for _ in range(100)]


@pytest.mark.parametrize("changed", [False, True])
def test_log_callback_outlives_its_configuration(log, changed):
    """Also where another part of it is changed."""
    if changed:
        configuration = pymtml.mtmlLogGetConfiguration()
        configuration.fileConfig.level = pymtml.MTML_LOG_LEVEL_OFF
        pymtml.mtmlLogSetConfiguration(configuration)
        del configuration
    others = fill_freed_memory()
    with Scene("s80"):
        pass
    assert [message.split(b",")[0] for message in log[-2:]] == [b"library initialized", b"library shut down"]
    del others


def test_log_callback_may_call_the_library(log):
    inner = []
    configuration = pymtml.mtmlLogGetConfiguration()
    configuration.callbackConfig.callback = pymtml._mtmlLogCallback_t(
        lambda text, length: inner.append(pymtml.mtmlErrorString(3))
    )
    pymtml.mtmlLogSetConfiguration(configuration)
    with Scene("s80"):
        pass
    assert set(inner) == {"Invalid argument"}
    assert log == []


def test_two_threads_that_set_a_callback(log, monkeypatch):
    """The one that C has in the end is kept, though the other thread began in the midst."""
    kept, threads = {}, []

    def install():
        function = lambda text, length: None  # noqa: E731
        configuration = pymtml.c_mtmlLogConfiguration_t()
        configuration.callbackConfig.callback = pymtml._mtmlLogCallback_t(function)
        address = ctypes.cast(configuration.callbackConfig.callback, ctypes.c_void_p).value
        kept[address] = weakref.ref(function)
        pymtml.mtmlLogSetConfiguration(configuration)

    def interrupted(*arguments):
        monkeypatch.undo()
        threads.append(threading.Thread(target=install))
        threads[0].start()
        threads[0].join(0.15)
        return function(*arguments)

    function = pymtml._functions["mtmlLogSetConfiguration"]
    monkeypatch.setitem(pymtml._functions, "mtmlLogSetConfiguration", interrupted)
    install()
    threads[0].join()
    gc.collect()
    installed = ctypes.cast(pymtml.mtmlLogGetConfiguration().callbackConfig.callback, ctypes.c_void_p).value
    assert len(kept) == 2 and kept[installed]() is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_does_not_wait_for_a_thread_of_its_parent(log):
    """That was about to set the log when the process was forked, and is not in the child."""
    with held(pymtml._locks.log):
        assert in_child(lambda: pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t()), seconds=10) == 0


def test_log_callback_that_was_removed_is_freed(log):
    class Sentinel:
        pass

    gone = []
    sentinel = Sentinel()
    configuration = pymtml.c_mtmlLogConfiguration_t()
    configuration.callbackConfig.level = pymtml.MTML_LOG_LEVEL_INFO
    configuration.callbackConfig.callback = pymtml._mtmlLogCallback_t(lambda text, length, kept=sentinel: None)
    pymtml.mtmlLogSetConfiguration(configuration)
    sentinel_reference = weakref.ref(sentinel, lambda _: gone.append(True))
    del configuration, sentinel
    gc.collect()
    assert sentinel_reference() is not None
    pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t())
    for _ in range(3):  # what PyPy finds with one, it drops with another
        gc.collect()
    assert gone == [True]
