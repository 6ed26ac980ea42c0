"""The environment variables that put the simulator in force for a process started with them."""

import os
import sys
from typing import Dict, Mapping, Optional, Sequence

from . import places, profiles


def _before(folders: Sequence[str], name: str, base: Mapping[str, str]) -> str:
    """The value of a search path with some folders at its front."""
    rest = [entry for entry in base.get(name, "").split(os.pathsep) if entry and entry not in folders]
    return os.pathsep.join(list(folders) + rest)


def variables(profile: str, base: Optional[Mapping[str, str]] = None) -> Dict[str, str]:
    """Variables to add to an environment, os.environ unless another is given (dict of str).

    They make the simulated library the one that is found, choose its machine, and put `mthreads-gmi` on PATH.

    Raises: profiles.ProfileError.
    """
    base = os.environ if base is None else base
    added = {
        "MTML_SIM_PROFILE": profiles.value(profile),
        "LD_LIBRARY_PATH": _before([places.LIBRARIES], "LD_LIBRARY_PATH", base),
        "PATH": _before([places.BIN], "PATH", dict({"PATH": os.defpath}, **base)),
        # pymtml looks here first; a value left from before would win over LD_LIBRARY_PATH.
        "PYMTML_LIBRARY": places.MTML,
        "PYMTML_MUSA_LIBRARY": places.MUSA,
        # An init after a shutdown is a new one, as on a machine whose driver was restarted.
        "PYMTML_KEEP_LIBRARY": base.get("PYMTML_KEEP_LIBRARY", "0"),
        # For compilers and linkers.
        "CPATH": _before(places.HEADERS, "CPATH", base),
        "LIBRARY_PATH": _before([places.LINK, places.LIBRARIES], "LIBRARY_PATH", base),
        # The interpreter that runs mthreads-gmi, where `python3` may be missing or too old.
        "MTML_SIMULATOR_PYTHON": sys.executable,
    }
    if places.PKGCONFIG:
        added["PKG_CONFIG_PATH"] = _before([places.PKGCONFIG], "PKG_CONFIG_PATH", base)
    return added


def control(file: str, profile: str) -> Dict[str, str]:
    """The variable by which all processes that are started with it share a machine, also while they run (dict).

    A new file begins with its profile, for whoever finds it.

    Raises: OSError.
    """
    try:
        with open(file, "x", encoding="utf-8", errors="surrogateescape") as new:
            new.write("profile = %s\n" % profile)
    except FileExistsError:
        pass
    return {"MTML_SIM_CONTROL": file}
