"""Where samples go, and when the next one is due."""

import sys
import time

from pymtml_cli.errors import OTHER, CommandError


class Output:
    """Stdout, or the file that -f names; each sample is flushed, as readers wait for whole ones.

    Raises: CommandError if the file cannot be opened.
    """

    def __init__(self, filename=None):
        self.filename = filename
        self._file = sys.stdout
        if filename is not None:
            try:
                self._file = open(filename, "w", encoding="utf-8", errors="backslashreplace")
            except OSError as error:
                raise CommandError("cannot write %s: %s" % (filename, error.strerror or error), OTHER)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.filename is not None:
            self._file.close()

    @property
    def is_terminal(self):
        """Whether somebody looks at it."""
        return self._file.isatty()

    def write(self, text):
        """Write a text and flush it."""
        self._file.write(text)
        self._file.flush()


def repeat(machine, seconds, sample, wakeup=None):
    """Take a sample, and one each ``seconds`` until somebody interrupts; ``sample`` gets whether it is the first.

    ``wakeup`` is a file descriptor that calls for a sample at once when it can be read.
    """
    due = time.monotonic()
    sample(True)
    while seconds is not None:
        due = max(due + seconds, time.monotonic())
        _wait(due, wakeup)
        machine.next_sample()
        sample(False)


def _wait(due, wakeup):
    seconds = max(0, due - time.monotonic())
    if wakeup is None:
        time.sleep(seconds)
        return
    import os
    import select

    if select.select([wakeup], [], [], seconds)[0]:
        os.read(wakeup, 1024)
