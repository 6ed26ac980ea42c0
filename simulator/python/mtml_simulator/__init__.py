"""A simulated MTML library (Moore Threads GPU management) for tests and for trying things out.

`python -m mtml_simulator` runs programs on it, the pytest plugin gives tests the fixture `mtml_simulator`, and
`simulate` is the same for other test runners.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for true; typing itself would be a tenth of the start of mthreads-gmi
if TYPE_CHECKING:
    from typing import Any

    from .environment import variables
    from .native import SimulatorError
    from .profiles import ProfileError
    from .session import LibraryInUse, ReferenceLeak, Simulator, simulate

__version__ = "0.3.0"
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
__all__ = [
    "LibraryInUse",
    "ProfileError",
    "ReferenceLeak",
    "Simulator",
    "SimulatorError",
    "simulate",
    "variables",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module("." + _HOMES[name], __name__), name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


def __dir__() -> list[str]:
    return sorted(list(globals()) + __all__)
