"""Keeps two checks of one user apart: a hung driver must not gather a process more with each round of cron."""

import os
import time

import pymtml
from pymtml_cli.common.text import safe

PAUSE = 0.05  # seconds between two tries


class Lock:
    """A lock on a file. Who inherits its ``descriptor`` holds it, too: so does a child that cannot be ended.

    ``failure`` says why there is no lock, where the file cannot be opened.
    """

    def __init__(self, path=None, name="health"):
        self.descriptor, self.failure = None, None
        try:
            import fcntl
        except ImportError:  # no Unix
            return
        self._flock = fcntl.flock
        self._wanted = fcntl.LOCK_EX | fcntl.LOCK_NB
        path = path or default_path(name)
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            self.descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            self.failure = "cannot open %s: %s" % (path, error.strerror)
            return
        if os.fstat(self.descriptor).st_uid != os.geteuid():
            self.failure = "%s belongs to another user" % path
            self.leave()

    def take(self, timeout):
        """Wait for the lock (None), or say who held it for all of some seconds (str)."""
        deadline = time.monotonic() + timeout
        while self.descriptor is not None:
            try:
                self._flock(self.descriptor, self._wanted)
            except OSError:
                if time.monotonic() >= deadline:
                    holder = safe(os.pread(self.descriptor, 20, 0).decode("ascii", "replace").strip())
                    return " (process %s)" % holder if holder else ""
                time.sleep(PAUSE)
                continue
            os.ftruncate(self.descriptor, 0)
            os.pwrite(self.descriptor, b"%d\n" % os.getpid(), 0)
            break
        return None

    def leave(self):
        """Give the lock back, if nobody inherited it."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


def default_path(name="health"):
    """A file for this user: in a folder of root's own for root, as somebody else may hold what lies in /tmp."""
    user = os.geteuid()
    if user == 0 and os.access("/run", os.W_OK):
        return "/run/pymtml-%s.lock" % name
    return os.path.join(pymtml._setting("TMPDIR") or "/tmp", "pymtml-%s-%d.lock" % (name, user))
