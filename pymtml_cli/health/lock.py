"""Lets a user run one check at a time: with a hung driver, each round of cron would leave one more process."""

import os
import stat
import time

import pymtml
from pymtml_cli.common.text import safe

PAUSE = 0.05  # seconds between two tries


class Lock:
    """A lock on a file. A process that inherits its ``descriptor`` holds it too, such as a child that cannot be killed.

    ``failure`` is the reason why there is no lock, if its file cannot be used.
    """

    def __init__(self, path=None, name="health"):
        self.descriptor, self.failure = None, None
        try:
            import fcntl
        except ImportError:  # not a Unix
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
        found = os.fstat(self.descriptor)
        if found.st_uid != os.geteuid():
            self.failure = "%s belongs to another user" % path
        elif not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:  # its content is replaced
            self.failure = "%s is not a regular file, or has another name as well" % path
        if self.failure:
            self.leave()

    def take(self, timeout):
        """Wait for the lock; returns None, or after ``timeout`` seconds a text with the holder, if it is known."""
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
        """Release the lock, unless a child has inherited it."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


def default_path(name="health"):
    """The lock file of this user; root's is in a folder of its own, because others can lock a file in /tmp."""
    user = os.geteuid()
    if user == 0 and os.access("/run", os.W_OK):
        return "/run/pymtml-%s.lock" % name
    return os.path.join(pymtml._setting("TMPDIR") or "/tmp", "pymtml-%s-%d.lock" % (name, user))
