"""What sets one interpreter apart from another, for the tests that see it."""

import ctypes
import sys

import pytest

PYPY = sys.implementation.name == "pypy"
FREE_THREADED = not getattr(sys, "_is_gil_enabled", lambda: True)()

not_on_pypy = {  # what PyPy cannot do: the mark that skips a test there
    name: pytest.mark.skipif(PYPY, reason="PyPy " + reason)
    for name, reason in {
        "end": "runs no __del__ when the interpreter ends",
        "interrupt": "runs signal handlers inside its ctypes, which is Python: what C returned may get lost there",
        "pickle": "cannot pickle ctypes objects",
        "reference": "has a pointer for byref, which does not lead back to the object",
        "blocks": "does not count its blocks of memory",
        "waitid": "has no os.waitid",
    }.items()
}


def content(struct):
    """The bytes of a ctypes object; those of one with bit fields, bytes() does not tell on PyPy."""
    return ctypes.string_at(ctypes.addressof(struct), ctypes.sizeof(struct))
