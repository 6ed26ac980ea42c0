"""What holds for all tests: none leaves its variables to the next, in whatever order they come."""

import os
import signal

import pytest

# Who starts the tests in the background may have them ignore signals, which what they start would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as nohup leaves it, it ends no program


def variables():
    return {name: value for name, value in os.environ.items() if name.startswith(("MTML_", "PYMTML_", "MUSA_"))}


@pytest.fixture(autouse=True)
def own_environment():
    """Takes the variables for simulator and module back that a test has set, and brings back those it took."""
    before = variables()
    yield
    for name in set(variables()) - set(before):
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture
def nothing_stays():
    """A test that fails leaves no library behind for the next one."""
    import simulated  # builds the simulator

    yield
    simulated.set_faults("")
    simulated.shut_down()


@pytest.fixture
def device():
    """The first of eight MTT S5000, by its NVML handle."""
    import simulated

    with simulated.nvml("s5000x8") as nvml:
        yield nvml.nvmlDeviceGetHandleByIndex(0)


@pytest.fixture
def as_a_program(nothing_stays, monkeypatch):
    """A last shutdown does what it does in programs, not what the tests set."""
    monkeypatch.delenv("PYMTML_KEEP_LIBRARY")
