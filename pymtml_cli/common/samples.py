"""Where samples go, and when the next one is due."""

import os
import sys
import time

from pymtml_cli.common.errors import OTHER, CommandError, reason


class Output:
    """Stdout, or the file that -f names; each sample is flushed, as readers wait for whole ones.

    The file is opened, and emptied, when there is something to write: not for a request that is refused.
    """

    def __init__(self, filename=None):
        self.filename = filename
        self._file = sys.stdout if filename is None else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.filename is not None and self._file is not None:
            self._file.close()

    @property
    def is_terminal(self):
        """Whether somebody looks at it."""
        return self.filename is None and self._file.isatty()

    @property
    def paints(self):
        """Whether it is a terminal that is to have colors."""
        return self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def write(self, text):
        """Write a text and flush it.

        Raises: CommandError if the file cannot be opened.
        """
        if self._file is None:
            try:
                self._file = open(self.filename, "w", encoding="utf-8", errors="backslashreplace")
            except (OSError, ValueError) as error:
                raise CommandError("cannot write %s: %s" % (self.filename, reason(error)), OTHER)
        self._file.write(text)
        self._file.flush()


def repeat(machine, seconds, count=0):
    """The moments of ``count`` samples, one each ``seconds``: whether it is the first (iterator).

    0 is as many as there may be until somebody interrupts; without seconds it is one.
    """
    if seconds is not None:  # it may run for days: its shutdowns reach C, so that cards may come and go
        os.environ.setdefault("PYMTML_KEEP_LIBRARY", "0")
    due, taken = time.monotonic(), 1
    yield True
    while seconds is not None and taken != count:
        due = max(due + seconds, time.monotonic())
        machine.expect(False)
        time.sleep(max(0, due - time.monotonic()))
        machine.next_sample()
        yield False
        taken += 1
