"""What an inference server asks before it starts, each question with a reference of its own to the library."""

import functools
import os

import pymtml as pynvml


def with_library(function):
    """Initialize for the length of one question, and give back this reference and no other."""

    @functools.wraps(function)
    def wrapper(*arguments):
        pynvml.nvmlInit()
        try:
            return function(*arguments)
        finally:
            pynvml.nvmlShutdown()

    return wrapper


def physical(index):
    """Number of the card that a process sees as its `index`th one."""
    visible = os.environ.get("MUSA_VISIBLE_DEVICES")
    return int(visible.split(",")[index]) if visible else index


def is_available():
    """Whether there is a card to run on; no driver and no library are no error."""
    try:
        return count() > 0
    except pynvml.NVMLError:
        return False


@with_library
def count():
    return pynvml.nvmlDeviceGetCount()


@with_library
def name(index):
    return pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(physical(index)))


@with_library
def total_memory(index):
    return pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(physical(index))).total


@with_library
def is_fully_connected(indices):
    """Whether links join every pair of these cards."""
    handles = [pynvml.nvmlDeviceGetHandleByIndex(physical(index)) for index in indices]
    pairs = [(a, b) for position, a in enumerate(handles) for b in handles[position + 1 :]]
    linked = pynvml.NVML_P2P_CAPS_INDEX_NVLINK
    return all(pynvml.nvmlDeviceGetP2PStatus(a, b, linked) == pynvml.NVML_P2P_STATUS_OK for a, b in pairs)
