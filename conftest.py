"""What holds for all tests: none leaves its variables to the next, in whatever order they come."""

import os
import signal
import sys
import threading

import pytest

# Who starts the tests in the background may have them ignore signals, which what they start would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as nohup leaves it, it ends no program
if hasattr(signal, "SIGQUIT"):
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def variables():
    return {name: os.environ[name] for name in os.environ if name.startswith(("MTML_", "PYMTML_", "MUSA_"))}


HANDLERS = [getattr(signal, name) for name in ("SIGALRM", "SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@pytest.fixture(autouse=True)
def nothing_stays():
    """Takes back what a test leaves behind, as one that fails half-way does, so that it fails alone.

    Variables, faults, threads, signal handlers and timers, the current folder, what is imported as pynvml, and last the
    library, which is open as long as a thread is in the middle of a query.
    """
    before, native, folder, trace = variables(), references(), os.getcwd(), sys.gettrace()
    threads, handlers = set(threading.enumerate()), [signal.getsignal(number) for number in HANDLERS]
    path, finders, module = list(sys.path), list(sys.meta_path), sys.modules.get("pymtml")
    yield
    if sys.gettrace() is not trace:
        sys.settrace(trace)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in zip(HANDLERS, handlers):
        if handler is not None:  # else it was not installed by Python
            signal.signal(number, handler)
    os.chdir(folder)
    sys.path[:], sys.meta_path[:] = path, finders
    if module:
        for name in [name for name in sys.modules if name == "pymtml" or name.split(".")[0] == "pynvml"]:
            sys.modules.pop(name)
        sys.modules["pymtml"] = module
    for name in set(variables()) - set(before):
        del os.environ[name]
    os.environ.update(before)
    simulated = sys.modules.get("simulated")
    if not native and simulated:  # else a fixture of several tests holds it
        # Refused where the control file's folder is gone, and its faults with it.
        simulated.library.mtmlSimSetFaults(b"")
        if references():
            for thread in set(threading.enumerate()) - threads:
                thread.join(60)
            simulated.shut_down()


def pytest_collection_modifyitems(items):
    if not hasattr(os, "geteuid") or os.geteuid():
        for item in items:
            if item.get_closest_marker("root"):
                item.add_marker(pytest.mark.skip(reason="only root can; .ci/run runs it as root"))


def references():
    """Inits of the simulator in this process that are not shut down; 0 as long as no test has loaded it."""
    simulated = sys.modules.get("simulated")
    return simulated.references() if simulated else 0


@pytest.fixture
def device():
    """The first of eight MTT S5000, by its NVML handle."""
    import simulated

    with simulated.nvml("s5000x8") as nvml:
        yield nvml.nvmlDeviceGetHandleByIndex(0)


@pytest.fixture
def as_a_program(monkeypatch):
    """A last shutdown does what it does in programs, not what the tests set."""
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
