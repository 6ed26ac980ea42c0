"""How values are written, the same in the table and in queries. What is not known is N/A."""

import time

UNKNOWN = "N/A"
MEBIBYTE = 1 << 20
# These boards have ECC in the memory dies and check the bus; others say whether ECC is on.
_ON_DIE = 0x0400


def now():
    return time.asctime()


def known(value, form="%s"):
    """A value in a form such as "%dMHz"; N/A for None."""
    return UNKNOWN if value is None else form % value


def mebibytes(count):
    return UNKNOWN if count is None else "%dMiB" % (count // MEBIBYTE)


def watts(milliwatts):
    """Watts with two decimals."""
    return UNKNOWN if milliwatts is None else "%.2fW" % (milliwatts / 1000)


def ecc_mode(device):
    """What the table shows for ECC (str)."""
    if device.ecc is None:
        return UNKNOWN
    if not device.ecc[0]:
        return "Disabled"
    return "On-die, EDC" if device.pci and device.pci.device_id >> 16 == _ON_DIE else "Enabled"


def performance_state(device):
    return known(device.performance_state, "P%d")


def mpc_capable(device):
    if device.property is None:
        return UNKNOWN
    return "YES" if device.property.mpc_capability else "NO"


def ranges(numbers):
    """Numbers as "0-31,64-95" (str)."""
    if not numbers:
        return UNKNOWN
    spans = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(first) if first == last else "%d-%d" % (first, last) for first, last in spans)
