"""What an inference server asks before it starts, each question with a reference of its own to the library."""

import os

import pymtml as pynvml


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


def count():
    pynvml.nvmlInit()
    try:
        number = pynvml.nvmlDeviceGetCount()
        pynvml.nvmlShutdown()
        return number
    finally:
        # Once more, to be safe: this one is somebody else's.
        try:
            pynvml.nvmlShutdown()
        except pynvml.NVMLError:
            pass


def name(index):
    pynvml.nvmlInit()
    try:
        return pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(physical(index)))
    finally:
        pynvml.nvmlShutdown()


def total_memory(index):
    pynvml.nvmlInit()
    try:
        return pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(physical(index))).total
    finally:
        pynvml.nvmlShutdown()


def is_fully_connected(indices):
    """Whether links join every pair of these cards."""
    pynvml.nvmlInit()
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(physical(index)) for index in indices]
        pairs = [(a, b) for position, a in enumerate(handles) for b in handles[position + 1 :]]
        linked = pynvml.NVML_P2P_CAPS_INDEX_NVLINK
        return all(pynvml.nvmlDeviceGetP2PStatus(a, b, linked) == pynvml.NVML_P2P_STATUS_OK for a, b in pairs)
    finally:
        pynvml.nvmlShutdown()
