"""A line per GPU every second, N times with an argument N; only the import differs from a pynvml program."""

import sys
import time

import pymtml as pynvml


def told(query, *arguments, scale=1):
    """The result of a query, or a question mark if the driver does not report it, as in a virtual machine (str)."""
    try:
        return str(query(*arguments) // scale)
    except pynvml.NVMLError_NotSupported:
        return "?"


def line(handle):
    """What a monitor shows of one GPU (str)."""
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    load = pynvml.nvmlDeviceGetUtilizationRates(handle)
    return "%d  %-12s %3d %%  %6d / %6d MiB  %3s C  %4s W" % (
        pynvml.nvmlDeviceGetIndex(handle),
        pynvml.nvmlDeviceGetName(handle),
        load.gpu,
        memory.used >> 20,
        memory.total >> 20,
        told(pynvml.nvmlDeviceGetTemperature, handle, pynvml.NVML_TEMPERATURE_GPU),
        told(pynvml.nvmlDeviceGetPowerUsage, handle, scale=1000),
    )


def main(ticks):
    """Print the table a few times."""
    pynvml.nvmlInit()
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        for tick in range(ticks):
            if tick:
                time.sleep(1)
            print("\n".join(map(line, handles)) or "no GPU", end="\n\n")
    finally:
        pynvml.nvmlShutdown()


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    except pynvml.NVMLError as error:
        sys.exit("%s: %s" % (sys.argv[0], error))
