"""What sets one interpreter apart from another, for the tests that see it."""

import ctypes
import sys

import pytest

PYPY = sys.implementation.name == "pypy"
FREE_THREADED = not getattr(sys, "_is_gil_enabled", lambda: True)()
KEPT = int(FREE_THREADED)  # native references after a last shutdown that other threads are there to see


forks_a_busy_process = pytest.mark.skipif(
    FREE_THREADED, reason="without a GIL a fork copies dicts that other threads have locked, for good"
)


def _not_on_pypy(reason):
    return pytest.mark.skipif(PYPY, reason="PyPy " + reason)


class not_on_pypy:
    """Marks of tests that PyPy cannot pass, by what it lacks."""

    end = _not_on_pypy("runs no __del__ when the interpreter ends")
    interrupt = _not_on_pypy(
        "runs signal handlers inside its ctypes, which is Python: what C returned may get lost there"
    )
    pickle = _not_on_pypy("cannot pickle ctypes objects")
    reference = _not_on_pypy("has a pointer for byref, which does not lead back to the object")
    path = _not_on_pypy(
        "has an invalid str for dlopen's words of a name that is not UTF-8, and reads /dev/zero to its end"
    )
    blocks = _not_on_pypy("does not count its blocks of memory")
    waitid = _not_on_pypy("has no os.waitid")
    interpreters = _not_on_pypy("has one interpreter in a process")


def content(struct):
    """The bytes of a ctypes object; those of one with bit fields, bytes() does not tell on PyPy."""
    return ctypes.string_at(ctypes.addressof(struct), ctypes.sizeof(struct))
