"""A simulated MTML library (Moore Threads GPU management) for tests and for trying things out.

`python -m mtml_simulator` runs programs on it, the pytest plugin gives tests the fixture `mtml_simulator`, and
`simulate` is the same for other test runners.
"""

from .environment import variables
from .native import SimulatorError
from .profiles import ProfileError
from .session import LibraryInUse, ReferenceLeak, Simulator, simulate

__version__ = "0.1.0"
__all__ = [
    "LibraryInUse",
    "ProfileError",
    "ReferenceLeak",
    "Simulator",
    "SimulatorError",
    "simulate",
    "variables",
]
