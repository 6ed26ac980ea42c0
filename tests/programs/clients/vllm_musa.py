"""vllm_musa's habits: pymtml imported as pynvml, initialized again and again without a shutdown, then after one."""

import json

import pymtml as pynvml


def platform_detected():
    try:
        pynvml.nvmlInit()
        return pynvml.nvmlDeviceGetCount() > 0
    except pynvml.NVMLError:
        return False


def memory(index):
    pynvml.nvmlInit()
    return pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(index)).total


def name(index):
    pynvml.nvmlInit()
    return pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(index))


if __name__ == "__main__":
    shown = [platform_detected(), [[name(i), memory(i)] for i in range(8)]]
    depth = 0
    while True:
        try:
            pynvml.nvmlShutdown()
            depth += 1
        except pynvml.NVMLError_Uninitialized:
            break
    try:
        pynvml.nvmlDeviceGetCount()
        shown.append("answered after the last shutdown")
    except pynvml.NVMLError_Uninitialized:
        shown.append(depth)
    shown.append([name(0), pynvml.nvmlDeviceGetCount()])
    pynvml.nvmlShutdown()
    print(json.dumps(shown))
