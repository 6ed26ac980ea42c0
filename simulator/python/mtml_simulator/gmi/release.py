"""Which mthreads-gmi goes with a driver: real ones come together, and their output differs in small ways."""

import re

SIMULATED = "simulated"


class Release:
    """One version of the tool.

    `padded`: cells of the table's last column have their full width, blanks at the end of the line included.
    `limits`: how many power limits a query has, of the current and the requested one.
    """

    def __init__(self, version, padded, limits):
        self.version = "%s-%s" % (version, SIMULATED)
        self.padded = padded
        self.limits = limits


# From which driver on, as captured. Older drivers came with tools of another layout, which nothing here imitates.
_RELEASES = (
    ((5,), Release("2.4.1", padded=False, limits=2)),
    ((3, 3, 8), Release("2.3.3", padded=False, limits=2)),
    ((3, 3, 5), Release("2.3.2", padded=True, limits=1)),
    ((), Release("2.2.0", padded=True, limits=0)),
)


def of_driver(driver):
    """The release that comes with a driver version such as "3.3.5-server"."""
    numbers = re.match(r"\d+(?:\.\d+)*", driver or "")
    version = tuple(int(part) for part in numbers.group().split(".")) if numbers else ()
    return next(release for first, release in _RELEASES if version >= first)
