"""The properties of --query-gpu, as nvidia-smi has them: those that are readings, and those that nobody answers."""

from pymtml_cli.readings.devices import nobody_tells
from pymtml_cli.readings.table import BY_NAME
from pymtml_cli.smi import layout


def _field(line):
    names, *rest = (part.strip() for part in line.split("|"))
    if rest:
        unit, text = rest
        return tuple(names.split()), unit, nobody_tells, text
    reading = BY_NAME[names]
    return (names,) + reading.also, reading.unit, reading.cell, reading.help


# (names, of which the first heads the column, unit, what makes of a Device the text without it or an Unknown, help)
FIELDS = [_field(line) for line in layout.FIELDS.splitlines()]
