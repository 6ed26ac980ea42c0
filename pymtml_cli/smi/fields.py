"""The properties of --query-gpu, as nvidia-smi has them: those that are readings, and those that nobody answers."""

from collections import namedtuple

from pymtml_cli.readings.devices import nobody_tells
from pymtml_cli.readings.table import BY_NAME
from pymtml_cli.smi import layout

# names: the first heads the column; value: what makes of a Device the text without the unit, or an Unknown
Field = namedtuple("Field", "names unit value help")


def _field(line):
    names, *rest = (part.strip() for part in line.split("|"))
    if rest:
        unit, text = rest
        return Field(tuple(names.split()), unit, nobody_tells, text)
    reading = BY_NAME[names]
    return Field((names,) + reading.also, reading.unit, reading.cell, reading.help)


FIELDS = [_field(line) for line in layout.FIELDS.splitlines()]
