"""PCIe errors of a card as the kernel counts them since it found the card (AER): also of a driver that hangs.

The form is that of drivers/pci/pcie/aer.c: a line of name and number for each error, and their sum.
"""

import os
import re

import pymtml
from pymtml_cli.common.files import read
from pymtml_cli.readings.devices import Unknown

SEVERITIES = "correctable", "nonfatal", "fatal"
LONGEST = 1 << 12  # characters of a file
MOST_ERRORS = 18  # names in a file


def errors(address):
    """{(severity, error): number} of a card at a PCI address, without those that are 0."""
    known, found = pymtml._parse_bus_id(address), {}
    if known is None:
        return found
    directory = os.path.join(pymtml._sys_root(), "bus", "pci", "devices", "%04x:%02x:%02x.0" % known)
    for severity in SEVERITIES:
        try:
            text = pymtml._file_text(os.path.join(directory, "aer_dev_" + severity))[:LONGEST]
        except FileNotFoundError:  # the kernel has all three, or none
            break
        except OSError:
            continue
        rows = [row for row in re.findall(r"^(\w[\w[\]]*) (\d{1,18})$", text, re.M) if not row[0].startswith("TOTAL")]
        found.update({(severity, name): int(number) for name, number in rows[:MOST_ERRORS] if int(number)})
    return found


def of(card, address):
    """The same of a Device, read once in a sample; nothing for an address that is an Unknown."""
    found = card.ask(_of_handle, address)
    return {} if isinstance(found, Unknown) else found


def _of_handle(handle, address):
    return errors(address)


def hours():
    """For how long the host runs (float), or None."""
    try:
        return float(read(os.path.join(pymtml._proc_root(), "uptime"), LONGEST).split()[0]) / 3600
    except (ValueError, IndexError):
        return None
