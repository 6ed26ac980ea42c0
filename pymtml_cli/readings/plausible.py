"""What a card can have measured: conditions on a number, functions of the Device and the number.

The registers of a dead card read all ones, or anything; a number that cannot be is no answer, but an Implausible.
"""

import pymtml
from pymtml_cli.readings.devices import Unknown

COUNTER, WIDE_COUNTER = 1 << 31, 1 << 48  # counters of 32 and of 64 bits are below
MOST_MILLIWATTS = 3 * 10**6  # of a card whose default limit is not known
MOST_MEGAHERTZ = 10**5  # of a clock whose maximum is not known
MOST_PARTS = 256  # fans, links, displays of a card
DEAD = " of a card that reports 0 C, 0 W and 0 MHz at once"
ZEROS = (
    (pymtml.nvmlDeviceGetClockInfo, pymtml.NVML_CLOCK_GRAPHICS),
    (pymtml.nvmlDeviceGetPowerUsage,),
    (pymtml.nvmlDeviceGetTemperature, pymtml.NVML_TEMPERATURE_GPU),
)


def between(least, most):
    """A number from ``least`` to ``most``."""
    return lambda device, number: least <= number <= most


def reads_zeros(device):
    """Whether a card reports 0 C, 0 W and 0 MHz at once: each may be true, all of them are a dead card's.

    A guest is never such a card: what a host tells it is unknown.
    """
    if any(device.ask(*question) != 0 for question in ZEROS):
        return False
    return device.ask(pymtml.nvmlDeviceGetVirtualizationMode) != pymtml.NVML_GPU_VIRTUALIZATION_MODE_VGPU


def measured(condition):
    """A condition on what a card measures anew each time: beside zeros that cannot be, no 0 is an answer."""
    return lambda device, number: condition(device, number) and (number != 0 or not reads_zeros(device))


counter = between(0, COUNTER - 1)
wide_counter = between(0, WIDE_COUNTER - 1)
percent = measured(between(0, 100))
fan = measured(between(0, 200))
parts = between(0, MOST_PARTS)
millivolts = between(0, 20000)
degrees = measured(between(-50, 150))
greatest_clock = between(0, MOST_MEGAHERTZ)
default_power = between(0, MOST_MILLIWATTS)


def identifier(device, number):
    """A number of PCI's configuration space, which reads all ones if no card answers."""
    return number != 0xFFFFFFFF


def clock(kind):
    """A clock: at most twice the maximum of its kind, if that is known."""

    def condition(device, megahertz):
        greatest = device.ask(pymtml.nvmlDeviceGetMaxClockInfo, kind)
        return 0 <= megahertz <= _twice(greatest, MOST_MEGAHERTZ)

    return measured(condition)


@measured
def power(device, milliwatts):
    """A power: at most twice the default limit, if that is known."""
    limit = device.ask(pymtml.nvmlDeviceGetPowerManagementDefaultLimit)
    return 0 <= milliwatts <= _twice(limit, MOST_MILLIWATTS)


def _twice(limit, most):
    """Twice a limit that is known and can be, else ``most``."""
    return 2 * limit if not isinstance(limit, Unknown) and 0 < limit <= most else most


@measured
def memory(device, size):
    """A size of memory: at most twice the total, as drivers count more than there is on healthy cards.

    _nvmlDeviceGetMemoryInfo in pymtml.py has the source.
    """
    info = device.ask(pymtml.nvmlDeviceGetMemoryInfo)
    if isinstance(info, Unknown):
        return wide_counter(device, size)
    return max(size, info.used) <= 2 * info.total < 2 * WIDE_COUNTER
