"""Show all cards, redrawn every second: python examples/live_view.py [TICKS]; it needs rich (pip install rich).

It runs until Ctrl-C, or for TICKS seconds. If a query fails, its error is shown instead of the value.
"""

import sys
import time

import pymtml as nvml

try:
    from rich.live import Live
    from rich.table import Table
except ImportError:
    sys.exit("%s: rich is missing: python -m pip install rich" % sys.argv[0])

COLUMNS = {  # what each column asks of a card
    "name": nvml.nvmlDeviceGetName,
    "busy %": lambda device: nvml.nvmlDeviceGetUtilizationRates(device).gpu,
    "memory MiB": lambda device: nvml.nvmlDeviceGetMemoryInfo(device).used >> 20,
    "temperature C": lambda device: nvml.nvmlDeviceGetTemperature(device, nvml.NVML_TEMPERATURE_GPU),
    "power W": lambda device: round(nvml.nvmlDeviceGetPowerUsage(device) / 1000),
}


def told(question, index):
    """What a card answers, or why not: N/A for what it does not tell, else the error (str)."""
    try:
        return str(question(nvml.nvmlDeviceGetHandleByIndex(index)))
    except nvml.NVMLError as error:
        return "N/A" if isinstance(error, nvml.NVMLError_NotSupported) else "[red]%s[/red]" % error


def table(count):
    """What all cards say now."""
    drawn = Table("GPU", *COLUMNS)
    for index in range(count):
        drawn.add_row(str(index), *[told(question, index) for question in COLUMNS.values()])
    return drawn


def main(ticks):
    """Draw until it is enough."""
    nvml.nvmlInit()
    count = nvml.nvmlDeviceGetCount()
    with Live(table(count) if count else "no GPU", auto_refresh=False) as live:
        while count and ticks != 1:
            time.sleep(1)
            live.update(table(count), refresh=True)
            ticks -= 1


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except nvml.NVMLError as error:
        sys.exit("%s: %s" % (sys.argv[0], error))
    except KeyboardInterrupt:
        pass
