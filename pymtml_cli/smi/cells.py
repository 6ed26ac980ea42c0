"""What the tables of cards show, cell by cell, and how alarming it is."""

from pymtml_cli.common.text import PLAIN, RED, YELLOW, fit, safe
from pymtml_cli.common.text import width as text_width
from pymtml_cli.readings.devices import Unknown, then
from pymtml_cli.readings.table import enabled, mebibytes, value_of

HOT_CELSIUS, FULL_PERCENT = 80, 90  # warn from here on, if the card does not report its own limit


class Cell:
    """A text in the table and how alarming it is."""

    def __init__(self, text, color=""):
        self.text, self.color = text, color

    def padded(self, width, paint):
        """The text to the right of ``width`` columns, colored if ``paint``."""
        text = fit(self.text, width)
        return " " * (width - text_width(text)) + (self.color + text + PLAIN if paint and self.color else text)


def short(value, form="%s"):
    """A value in the table: N/A if it is not supported, ERR! if the query failed."""
    if isinstance(value, Unknown):
        return "N/A" if value.not_supported else "ERR!"
    return safe(form % value)


def temperature(card):
    """Temperature, red from the temperature at which the card slows down, yellow ten degrees before."""
    value = value_of(card, "temperature.gpu")
    color = ""
    if not isinstance(value, Unknown):
        limit = value_of(card, "temperature.slowdown")
        limit = HOT_CELSIUS + 10 if isinstance(limit, Unknown) or limit <= 0 else limit
        color = RED if value >= limit else YELLOW if value >= limit - 10 else ""
    return Cell(short(value, "%dC"), color)


def _of_all(used, total, form, texts):
    """What is used of something, colored by its share."""
    color = ""
    if not isinstance(used, Unknown) and not isinstance(total, Unknown):
        share = 100.0 * used / total if total else 0
        color = RED if share > FULL_PERCENT + 5 else YELLOW if share > FULL_PERCENT else ""
    return Cell(form % texts, color)


def power(card, form="%6s / %5s"):
    """Power and its limit."""
    both = value_of(card, "power.draw"), value_of(card, "enforced.power.limit")
    return _of_all(*both, form, tuple(short(then(one, lambda milli: int(milli / 1000.0 + 0.5)), "%dW") for one in both))


def memory(device, form="%10s / %9s", unit="MiB"):
    """Memory in use and all of it; ``unit`` stands behind the first."""
    used, total = value_of(device, "memory.used"), value_of(device, "memory.total")
    texts = short(then(used, mebibytes), "%d" + unit), short(then(total, mebibytes), "%dMiB")
    return _of_all(used, total, form, texts)


def utilization(device):
    """Utilization of the GPU."""
    return Cell(short(value_of(device, "utilization.gpu"), "%s%%"))


def fan(card):
    """Speed of the fans."""
    return short(value_of(card, "fan.speed"), "%s%%")


def uncorrected(card):
    """Uncorrected memory errors since the driver was loaded, red if there are any."""
    count, mode = value_of(card, "ecc.errors.uncorrected.volatile.total"), value_of(card, "ecc.mode.current")
    if not isinstance(mode, Unknown) and not mode:
        return Cell("Off")
    return Cell(short(count), RED if not isinstance(count, Unknown) and count else "")


def switched(value):
    """A feature's state in the short words of the table."""
    return short(then(value, lambda on: "On" if on else "Off"))


def division(card):
    """Whether a card is divided into instances."""
    return short(then(value_of(card, "mig.mode.current"), enabled))
