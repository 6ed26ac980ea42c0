"""What holds for all tests: none leaves its variables to the next, in whatever order they come."""

import os
import signal
import sys

import pytest

# Who starts the tests in the background may have them ignore signals, which what they start would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as nohup leaves it, it ends no program


def variables():
    return {name: value for name, value in os.environ.items() if name.startswith(("MTML_", "PYMTML_", "MUSA_"))}


@pytest.fixture(autouse=True)
def nothing_stays():
    """Takes back what a test leaves behind, as one that fails half-way does: variables, faults, an open library."""
    before, native = variables(), references()
    yield
    for name in set(variables()) - set(before):
        del os.environ[name]
    os.environ.update(before)
    if not native:  # else a fixture of several tests holds it
        simulated = sys.modules.get("simulated")
        if simulated:
            simulated.library.mtmlSimSetFaults(
                b""
            )  # refused where the control file's folder is gone, and its faults with it
            if references():
                simulated.shut_down()


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
