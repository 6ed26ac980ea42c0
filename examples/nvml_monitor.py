"""A line per GPU every second, written against NVIDIA's pynvml; the import is all that tells it apart."""

import time

import pymtml as pynvml


def line(handle):
    """What a monitor shows of one GPU (str)."""
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    load = pynvml.nvmlDeviceGetUtilizationRates(handle)
    return "%d  %-12s %3d %%  %6d / %6d MiB  %3d C  %4d W" % (
        pynvml.nvmlDeviceGetIndex(handle),
        pynvml.nvmlDeviceGetName(handle),
        load.gpu,
        memory.used >> 20,
        memory.total >> 20,
        pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
        pynvml.nvmlDeviceGetPowerUsage(handle) // 1000,
    )


def main(ticks=3):
    """Print the table a few times."""
    pynvml.nvmlInit()
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        for tick in range(ticks):
            if tick:
                time.sleep(1)
            print("\n".join(line(handle) for handle in handles) + "\n")
    finally:
        pynvml.nvmlShutdown()


if __name__ == "__main__":
    main()
