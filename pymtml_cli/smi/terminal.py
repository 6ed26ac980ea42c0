"""The terminal's other screen, on which a table is drawn in place; it is given back however the command ends."""

import _thread
import contextlib
import os
import signal
import sys

ENTER = "\x1b[?1049h\x1b[?25l"  # the other screen, without a cursor
LEAVE = "\x1b[?25h\x1b[?1049l"
PATIENCE = 1.0  # seconds for what is being drawn, and again for giving the terminal back

ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP")


class OtherScreen:
    """Draws on the terminal's other screen, from the first drawing to the end (a context manager).

    Python's handlers run when C returns, and a driver may hang. So the signals that end the command, and Ctrl-Z, are
    blocked in this thread, and in those that the driver starts: another thread waits for them, gives the terminal back,
    and lets the signal do its work.

    ``wakeup`` is a file descriptor that can be read when it is to be drawn again, or None.
    """

    def __init__(self, output):
        self._output, self._taken = output, False
        self._lock = _thread.allocate_lock()
        self._signals, self._handler = set(), None
        self.wakeup = self._writing = None

    def __enter__(self):
        if not hasattr(signal, "pthread_sigmask"):
            return self
        self.wakeup, self._writing = os.pipe()
        for end in (self.wakeup, self._writing):
            os.set_blocking(end, False)
        for name in ("SIGWINCH", "SIGCONT"):
            signal.signal(getattr(signal, name), lambda *_: None)
        signal.set_wakeup_fd(self._writing)
        numbers = {getattr(signal, name) for name in ENDING}
        self._signals = {number for number in numbers if signal.getsignal(number) != signal.SIG_IGN}
        if signal.SIGINT in self._signals:
            self._handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_BLOCK, self._signals)
        _thread.start_new_thread(self._wait, ())
        return self

    def __exit__(self, *_):
        with self._lock:
            if self._taken:
                self._output.write(LEAVE)
            self._taken = False
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        if self._signals:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, self._signals)

    def draw(self, text):
        """Draw, on the other screen."""
        with self._lock:
            if not self._taken:
                self._taken = True
                text = ENTER + text
            self._output.write(text)

    def _wait(self):
        """Give the terminal back before a signal ends or stops the process (the thread)."""
        while True:
            number = signal.sigwait(self._signals)
            # Nobody waits for ever for a terminal that takes nothing, as after Ctrl-S.
            locked = self._lock.acquire(timeout=PATIENCE)
            if self._taken:
                self._tell(LEAVE)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
            os.kill(os.getpid(), number)  # the end, but for Ctrl-Z
            signal.pthread_sigmask(signal.SIG_BLOCK, {number})
            if self._taken:
                self._tell(ENTER)
            if locked:
                self._lock.release()
            os.write(self._writing, b"\0")

    def _tell(self, text):
        """Write from a thread of its own, which is left behind where the terminal takes nothing."""
        written = _thread.allocate_lock()

        def write():
            with contextlib.suppress(OSError, ValueError):  # it is gone
                os.write(sys.stdout.fileno(), text.encode("ascii"))
            written.release()

        written.acquire()
        with contextlib.suppress(RuntimeError):  # no thread can be started
            _thread.start_new_thread(write, ())
            written.acquire(timeout=PATIENCE)
