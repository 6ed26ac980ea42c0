"""What the platform file of vllm-musa 0.1.28 asks: the library is opened once and kept, cards are mapped by hand."""

import json
import os

import pymtml

pymtml.nvmlInit()  # and no shutdown: the file has none


def physical(logical):
    """The index of a logical card by MUSA_VISIBLE_DEVICES, which the file reads itself."""
    visible = os.environ.get("MUSA_VISIBLE_DEVICES")
    return int(visible.split(",")[logical]) if visible else logical


def handle(logical):
    pymtml.nvmlInit()  # around each question, never given back
    return pymtml.nvmlDeviceGetHandleByIndex(physical(logical))


def cpus(device, count):
    words = pymtml.nvmlDeviceGetCpuAffinity(device, (count + 63) // 64)
    return [cpu for cpu in range(count) if words[cpu // 64] >> cpu % 64 & 1]


def connected(indices):
    devices = [pymtml.nvmlDeviceGetHandleByIndex(index) for index in indices]
    pairs = [(one, other) for i, one in enumerate(devices) for other in devices[i + 1 :]]
    links = [pymtml.nvmlDeviceGetP2PStatus(*pair, pymtml.NVML_P2P_CAPS_INDEX_NVLINK) for pair in pairs]
    return all(status == pymtml.NVML_P2P_STATUS_OK for status in links)


def show(count):
    devices = [handle(logical) for logical in range(count)]
    return {
        "names": [pymtml.nvmlDeviceGetName(device) for device in devices],
        "uuids": [pymtml.nvmlDeviceGetUUID(device) for device in devices],
        "memory": [int(pymtml.nvmlDeviceGetMemoryInfo(device).total) for device in devices],
        # By the logical index, unlike the rest.
        "capability": pymtml.nvmlDeviceGetCudaComputeCapability(pymtml.nvmlDeviceGetHandleByIndex(0)),
        "numa": [pymtml.nvmlDeviceGetNumaNodeId(device) for device in devices],
        "cpus": [cpus(device, 128) for device in devices],
        "connected": connected(range(pymtml.nvmlDeviceGetCount())),
        "mapped": [pymtml.nvmlDeviceGetUUID(device) for device in pymtml.musa_visible_devices()],
    }


if __name__ == "__main__":
    visible = os.environ.get("MUSA_VISIBLE_DEVICES")
    print(json.dumps(show(len(visible.split(",")) if visible else pymtml.nvmlDeviceGetCount())))
