"""Which mthreads-gmi goes with a driver: real ones come together, and their output differs in small ways."""

import re

SIMULATED = "simulated"


class Layout:
    """How the table is laid out: widths of the columns of cards and of processes.

    The name's column grows with longer names, and the rules with it. `perf`: there is a column for the performance
    state. `right`: the memory of processes ends below its head.
    """

    def __init__(self, rule, name, last, perf, processes, right):
        self.rule = rule
        self.name = name
        self.last = last
        self.perf = perf
        self.processes = processes
        self.right = right


_NARROW = Layout(rule=63, name=15, last=15, perf=False, processes=(5, 10, 37), right=True)
_WIDE = Layout(rule=69, name=21, last=16, perf=True, processes=(5, 14, 39), right=False)


class Release:
    """One version of the tool.

    `padded`: cells of the table's last column have their full width, blanks at the end of the line included.
    `limits`: how many power limits a query has, of the current and the requested one.
    """

    def __init__(self, version, layout, padded, limits):
        self.version = "%s-%s" % (version, SIMULATED)
        self.layout = layout
        self.padded = padded
        self.limits = limits


# From which driver on, as captured; and for drivers with the same number the boards before the S4000, which came with
# another tool. A driver that does not tell its version is taken for one of those with the S4000's.
_RELEASES = (
    ((5,), False, Release("2.4.1", _WIDE, padded=False, limits=2)),
    ((3, 3, 8), False, Release("2.3.3", _WIDE, padded=False, limits=2)),
    ((3, 3, 5), False, Release("2.3.2", _WIDE, padded=True, limits=1)),
    ((3,), True, Release("2.0.0", _NARROW, padded=True, limits=0)),
    ((3,), False, Release("2.2.0", _WIDE, padded=True, limits=0)),
    ((2, 9), False, Release("2.3.4", _NARROW, padded=True, limits=0)),
    ((2,), False, Release("1.14.0", _NARROW, padded=True, limits=0)),
    ((1,), False, Release("1.12.2", _NARROW, padded=False, limits=0)),
    ((), False, Release("2.2.0", _WIDE, padded=True, limits=0)),
)


def of_machine(driver, generation):
    """The release that comes with a driver version such as "3.3.5-server" and a card's generation such as CHUNXIAO."""
    numbers = re.match(r"\d+(?:\.\d+)*", driver or "")
    version = tuple(int(part) for part in numbers.group().split(".")) if numbers else ()
    early = generation in ("SUDI", "CHUNXIAO")
    return next(release for first, only_early, release in _RELEASES if version >= first and (early or not only_early))
