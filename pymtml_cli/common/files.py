"""Files that others read or have written: one is replaced as a whole, and a text is read up to a size."""

import os
import stat

from pymtml_cli.common.errors import OTHER, CommandError, reason

LONGEST = 1 << 21  # characters; of more than 4 MiB at once Linux says nothing of /proc/sys
MODE = 0o644  # another user reads it, such as node_exporter's


def put(path, text, mode=MODE):
    """Put a text (bytes) into a file: readers see the old one or the new one, never a part.

    Raises: OSError, ValueError.
    """
    temporary, descriptor = _beside(path, mode)
    with os.fdopen(descriptor, "wb") as file:
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise


def _beside(path, mode):
    """(path, descriptor) of a new file in the same folder."""
    temporary = "%s.%s.tmp" % (path, os.urandom(8).hex())  # a name at which nobody has put anything
    return temporary, os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)


def replace_file(path, text=None, mode=MODE):
    """`put`, for a path that is a regular file or does not exist; without a text, only see whether that is possible.

    Raises: CommandError.
    """
    try:
        if os.path.lexists(path) and not os.path.isfile(path):
            raise ValueError("it exists and is not a regular file")
        if text is not None:
            put(path, text, mode)
        else:
            temporary, descriptor = _beside(path, mode)
            os.close(descriptor)
            os.unlink(temporary)
    except (OSError, ValueError) as error:
        raise CommandError("cannot write %s: %s" % (path, reason(error)), OTHER)


def open_regular(path, flags):
    """Open a regular file (an opener); raises ValueError for anything else, even a link to one."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise ValueError("not a regular file")
    # The folder's owner may put a link or a pipe there meanwhile: do not follow the one, nor wait for the other.
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def read_text(path, most, errors="strict", opener=None):
    """The text of a file (str), without a byte order mark; None if it is longer than ``most``.

    Raises: OSError, ValueError.
    """
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for
        raise ValueError("it is not a regular file")
    with open(path, encoding="utf-8-sig", errors=errors, opener=opener) as file:
        text = file.read(most + 1)
    return text if len(text) <= most else None


def read(path, most=LONGEST, opener=None):
    """The text of a file (str), whatever its bytes; empty if it cannot be read, or is longer than ``most``."""
    try:
        return read_text(path, most, "replace", opener) or ""
    except (OSError, ValueError):
        return ""
