"""The simulated library in this process: loading it so that every binding finds it, and its control functions."""

import ctypes
import os
import sys
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from . import places

MACHINE = 0xFFFFFFFF
Watcher = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)

_CONTROL: Dict[str, Tuple[Any, List[Any]]] = {
    "mtmlSimGetLibraryReferences": (ctypes.c_uint, []),
    "mtmlSimGetCallCount": (ctypes.c_longlong, [ctypes.c_char_p]),
    "mtmlSimResetCallCounts": (None, []),
    "mtmlSimSet": (ctypes.c_int, [ctypes.c_uint, ctypes.c_char_p, ctypes.c_char_p]),
    "mtmlSimGet": (ctypes.c_int, [ctypes.c_uint, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]),
    "mtmlSimUnset": (ctypes.c_int, [ctypes.c_uint, ctypes.c_char_p]),
    "mtmlSimAddFaults": (ctypes.c_int, [ctypes.c_char_p]),
    "mtmlSimFailCall": (ctypes.c_int, [ctypes.c_ulonglong, ctypes.c_char_p]),
    "mtmlSimGetFailedCall": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_size_t]),
    "mtmlSimHeal": (ctypes.c_int, [ctypes.c_uint]),
    "mtmlSimReboot": (ctypes.c_int, []),
    "mtmlSimEnd": (ctypes.c_uint, []),
    "mtmlSimReload": (ctypes.c_int, []),
    "mtmlSimLoad": (ctypes.c_int, []),
    "mtmlSimWatchReferences": (None, [Watcher]),
    "mtmlSimGetMessage": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_size_t]),
}


class SimulatorError(RuntimeError):
    """What keeps the simulator from doing what it is asked for."""


def _mapped(prefix: str) -> Set[str]:
    """Files that this process has mapped whose name begins so (set of paths)."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            files = {line.split(None, 5)[5].rstrip("\n") for line in maps if prefix in line}
    except OSError:
        return set()
    return {path for path in files if os.path.basename(path).startswith(prefix)}


def _same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def _refuse_others() -> None:
    ours = [places.MTML] + places.PLAIN
    for path in sorted(_mapped("libmtml.so")):
        if not any(_same(path, file) for file in ours):
            raise SimulatorError(
                "another MTML library is loaded in this process already: %s; whatever loads it (PYMTML_LIBRARY, "
                "LD_LIBRARY_PATH, an earlier test, a plugin) must not do so in a process that is to use the simulator"
                % path
            )


_MACHINES = {62: "x86_64", 183: "aarch64"}


def _other_machine(path: str) -> Optional[str]:
    """What is wrong with a library that is for another processor or C library than this Python's (str), or None."""
    import platform

    with open(path, "rb") as file:
        data = file.read()
    try:
        glibc = bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (OSError, ValueError):
        glibc = False
    number = int.from_bytes(data[18:20], "little")
    machine = _MACHINES.get(number, "another processor") if data[:4] == b"\x7fELF" else None
    theirs = (machine, "glibc" if b"libc.so.6\0" in data else "musl")
    ours = (platform.machine(), "glibc" if glibc else "musl")
    if machine is None or theirs == ours:
        return None
    return (
        "the installed mtml-simulator is for %s with %s, this Python is for %s with %s: install the wheel that goes "
        "with it (python -m pip install --force-reinstall mtml_simulator-*.whl)" % (theirs + ours)
    )


_library: Optional[ctypes.CDLL] = None


def load() -> ctypes.CDLL:
    """The library, loaded under the names by which bindings look for it (ctypes.CDLL).

    Loading it by its path is enough: the dynamic loader then answers CDLL("libmtml.so.2"), in whatever module, with the
    library that has that name already.

    Raises: SimulatorError where it cannot be had, or where another MTML library was loaded before.
    """
    global _library
    _refuse_others()
    if _library is None:
        if not os.path.isfile(places.MTML):
            raise SimulatorError(
                "there is no %s: %s"
                % (
                    places.MTML,
                    (
                        "in a checkout, make sim builds it"
                        if sys.platform.startswith("linux")
                        else "the simulator is for Linux on x86-64 and aarch64 only"
                    ),
                )
            )
        try:
            library = ctypes.CDLL(places.MTML)
            for path in [places.MUSA] + places.PLAIN:
                ctypes.CDLL(path)
        except OSError as error:
            raise SimulatorError(
                _other_machine(places.MTML) or "the simulated library cannot be loaded: %s" % error
            ) from None
        for name, (result, arguments) in _CONTROL.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
        _library = library
    return _library


def message(library: ctypes.CDLL) -> str:
    """What the library said last about a mistake (str)."""
    buffer = ctypes.create_string_buffer(1024)
    library.mtmlSimGetMessage(buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


def check_profile(variables: Mapping[str, str]) -> bool:
    """Whether the simulator takes profile and settings that these variables name; if not, it has said why on stderr.

    Raises: SimulatorError.
    """
    library = load()
    os.environ.update({name: value for name, value in variables.items() if name.startswith("MTML_SIM_")})
    return bool(library.mtmlSimLoad() == 0)
