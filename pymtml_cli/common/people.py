"""What only somebody at a terminal gets: a verdict first, color, and a word about what takes long."""

import contextlib
import sys

from pymtml_cli.common.samples import Output
from pymtml_cli.common.text import DIM, GREEN, PLAIN, RED, YELLOW

# Levels of findings, the worst first, and how they are shown
COLORS = {"CRITICAL": RED, "WARNING": YELLOW, "NOTE": "", "OK": DIM, "N/A": DIM}
LONG = 2  # seconds after which somebody asks what is going on


def _painted(color, text):
    return color + text + PLAIN if color and Output().paints else text


def verdict(host, level, text, findings, quiet=False):
    """Print the verdict on a host, then findings as (level, text), the worst first; ``quiet``: only what is wrong."""
    sys.stdout.write("%s: %s\n" % (host, _painted(GREEN if level == "OK" else COLORS[level], text)))
    for one, color in COLORS.items():
        for text in [text for level, text in findings if level == one and (not quiet or color in (RED, YELLOW))]:
            word, blank, rest = text.partition(" ")
            text = _painted(DIM, text) if color == DIM else _painted(color, word) + blank + rest
            sys.stdout.write(text + "\n")


@contextlib.contextmanager
def saying(text, seconds=LONG):
    """Say on stderr, if that is a terminal, what is being done, should it take longer (a context manager)."""
    if not sys.stderr.isatty():
        yield
        return
    timer = later("%s ...\n" % text, seconds)
    try:
        yield
    finally:
        timer.cancel()


def later(text, seconds):
    """A Timer that writes a text on stderr, unless somebody cancels it."""
    from threading import Timer

    timer = Timer(seconds, sys.stderr.write, [text])
    timer.daemon = True
    timer.start()
    return timer
