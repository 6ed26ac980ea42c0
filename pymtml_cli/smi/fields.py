"""The properties of --query-gpu, as nvidia-smi has them: those that are readings, and those that nobody answers."""

from pymtml_cli.common import layout
from pymtml_cli.readings.devices import nobody_tells
from pymtml_cli.readings.table import BY_NAME


def _fields():
    for line in layout.blocks("smi/fields.txt")["gpu"].split("\n"):
        names, *unit, text = (part.strip() for part in line.split("|"))
        if unit:
            yield tuple(names.split()), unit[0], nobody_tells, text
        else:
            found = BY_NAME[names.split()[0]]
            yield tuple(names.split()), found.unit, found.cell, text


# (names, of which the first heads the column, unit, what makes of a Device the text without it or an Unknown, help)
FIELDS = list(_fields())
