"""The properties of --query-gpu, as nvidia-smi has them: those that are readings, and those that nobody answers."""

from pymtml_cli.readings.devices import nobody_tells
from pymtml_cli.readings.table import BY_NAME
from pymtml_cli.smi import layout


def _fields():
    for line in layout.lines("fields.txt"):
        names, *rest = (part.strip() for part in line.split("|"))
        if rest:
            unit, text = rest
            yield tuple(names.split()), unit, nobody_tells, text
            continue
        for reading in (BY_NAME[name] for name in names.split()):
            yield (reading.name,) + reading.also, reading.unit, reading.cell, reading.help


# (names, of which the first heads the column, unit, what makes of a Device the text without it or an Unknown, help)
FIELDS = list(_fields())
