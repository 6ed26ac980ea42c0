"""A simulated MTML library (Moore Threads GPU management) for tests and for trying things out.

`python -m mtml_simulator` runs programs on it, the pytest plugin gives tests the fixture `mtml_simulator`, and
`simulate` is the same for other test runners.
"""

import importlib

__version__ = "0.1.0"
# What the package offers, by the module that has it: mthreads-gmi, which runs again and again, needs none of it.
_HOMES = {
    "LibraryInUse": "session",
    "ProfileError": "profiles",
    "ReferenceLeak": "session",
    "Simulator": "session",
    "SimulatorError": "native",
    "simulate": "session",
    "variables": "environment",
}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name in _HOMES:
        return getattr(importlib.import_module("." + _HOMES[name], __name__), name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


def __dir__():
    return sorted(list(globals()) + __all__)
