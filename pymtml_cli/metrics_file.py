"""The file of `pymtml metrics --textfile`: readers see the old one or the new one, never a part."""

import contextlib
import errno
import os

MODE = 0o644  # another user reads it: node_exporter's


def write(path, text):
    """Put a text (bytes) into a file.

    Raises: OSError.
    """
    if os.path.lexists(path) and not os.path.isfile(path):
        raise OSError(errno.EEXIST, "it is there, and is no file")
    temporary = "%s.%d.tmp" % (path, os.getpid())
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(temporary, flags, MODE), "wb") as file:
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), MODE)
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def read(path, most):
    """The text of a file (str), or None where there is none that can be read, or that is longer than ``most`` bytes."""
    try:
        if not os.path.isfile(path):  # a pipe would be waited for
            return None
        with open(path, encoding="utf-8") as file:
            text = file.read(most + 1)
    except (OSError, ValueError):
        return None
    return text if len(text) <= most else None
