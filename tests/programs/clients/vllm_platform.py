"""What vLLM's NVML platform asks before it starts, in its order and with its error handling.

Every question opens and closes the library by itself. Detection re-raises whatever is not an NVML error by its name.
"""

import functools
import json
import os
import sys

import pynvml


def with_nvml_context(function):
    @functools.wraps(function)
    def wrapper(*args):
        pynvml.nvmlInit()
        try:
            return function(*args)
        finally:
            pynvml.nvmlShutdown()

    return wrapper


def detect():
    """Whether the platform is there at all."""
    try:
        pynvml.nvmlInit()
        try:
            return pynvml.nvmlDeviceGetCount() > 0
        finally:
            pynvml.nvmlShutdown()
    except Exception as error:
        if "nvml" not in type(error).__name__.lower():
            raise
        return False


def physical(index):
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return int(visible.split(",")[index]) if visible else index


@with_nvml_context
def name(index):
    return pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(physical(index)))


@with_nvml_context
def uuid(index):
    return pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(physical(index)))


@with_nvml_context
def total_memory(index):
    return int(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(physical(index))).total)


@with_nvml_context
def capability(index):
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(physical(index))
        major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
        return [major, minor]
    except RuntimeError:
        return None


@with_nvml_context
def is_fully_connected(indices):
    handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in indices]
    for i, handle in enumerate(handles):
        for j, peer in enumerate(handles):
            if i >= j:
                continue
            try:
                status = pynvml.nvmlDeviceGetP2PStatus(handle, peer, pynvml.NVML_P2P_CAPS_INDEX_NVLINK)
            except pynvml.NVMLError:
                return False
            if status != pynvml.NVML_P2P_STATUS_OK:
                return False
    return True


if __name__ == "__main__":
    if not detect():
        print(json.dumps({"detected": False}))
        sys.exit()
    pynvml.nvmlInit()
    count = pynvml.nvmlDeviceGetCount()
    pynvml.nvmlShutdown()
    indices = range(len(os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(count)))).split(",")))
    print(
        json.dumps(
            {
                "detected": True,
                "names": [name(i) for i in indices],
                "uuids": [uuid(i) for i in indices],
                "memory": [total_memory(i) for i in indices],
                "capability": capability(0),
                "pairs": [[i, j] for i in indices for j in indices if i < j and is_fully_connected((i, j))],
                "all": is_fully_connected(tuple(indices)),
            }
        )
    )
