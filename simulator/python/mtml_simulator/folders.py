"""Folders for what lives as long as a process does: named after it, so that those of the dead are found and removed."""

import os
import re
import shutil
import tempfile
from typing import Iterator, List, Tuple

_PREFIX = "mtml-simulator"
_NAME = re.compile(_PREFIX + r"-(\d+)-(\d+)-\w+")


def _namespace() -> int:
    """What tells process numbers of this container from those of others (int)."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _all() -> Iterator[Tuple[str, int]]:
    """This user's folders, for processes that are seen from here: (path, process) for each."""
    root = tempfile.gettempdir()
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    for name in names:
        match = _NAME.fullmatch(name)
        path = os.path.join(root, name)
        try:
            if match and int(match.group(1)) == _namespace() and os.lstat(path).st_uid == os.getuid():
                yield path, int(match.group(2))
        except OSError:
            pass


def live() -> List[Tuple[str, int]]:
    """Folders whose process lives ([(path, process), ...])."""
    return [(path, pid) for path, pid in _all() if _lives(pid)]


def make() -> str:
    """A new folder of this process, which goes on to be that of a program that it becomes by exec (path).

    What processes that were killed have left is removed.
    """
    for path, pid in _all():
        if not _lives(pid):
            shutil.rmtree(path, ignore_errors=True)
    return tempfile.mkdtemp(prefix="%s-%d-%d-" % (_PREFIX, _namespace(), os.getpid()))
