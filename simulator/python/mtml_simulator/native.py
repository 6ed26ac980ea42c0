"""The simulated library in this process: loading it so that every binding finds it, and its control functions."""

import ctypes
import os
import sys

from . import places

MACHINE = 0xFFFFFFFF
Watcher = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)

_CONTROL = {
    "mtmlSimGetLibraryReferences": (ctypes.c_uint, []),
    "mtmlSimGetCallCount": (ctypes.c_longlong, [ctypes.c_char_p]),
    "mtmlSimResetCallCounts": (None, []),
    "mtmlSimSet": (ctypes.c_int, [ctypes.c_uint, ctypes.c_char_p, ctypes.c_char_p]),
    "mtmlSimGet": (ctypes.c_int, [ctypes.c_uint, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]),
    "mtmlSimAddFaults": (ctypes.c_int, [ctypes.c_char_p]),
    "mtmlSimReload": (ctypes.c_int, []),
    "mtmlSimLoad": (ctypes.c_int, []),
    "mtmlSimKeep": (None, []),
    "mtmlSimWatchReferences": (None, [Watcher]),
    "mtmlSimGetMessage": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_size_t]),
}


class SimulatorError(RuntimeError):
    """What keeps the simulator from doing what it is asked for."""


def _mapped(prefix):
    """Files that this process has mapped whose name begins so (set of paths)."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            files = {line.split(None, 5)[5].rstrip("\n") for line in maps if prefix in line}
    except OSError:
        return set()
    return {path for path in files if os.path.basename(path).startswith(prefix)}


def _same(path, other):
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def _refuse_others():
    ours = [places.MTML] + places.PLAIN
    for path in sorted(_mapped("libmtml.so")):
        if not any(_same(path, file) for file in ours):
            raise SimulatorError(
                "another MTML library is loaded in this process already: %s; whatever loads it (PYMTML_LIBRARY, "
                "LD_LIBRARY_PATH, an earlier test, a plugin) must not do so in a process that is to use the simulator"
                % path
            )


_library = None


def load():
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
            raise SimulatorError("the simulated library cannot be loaded: %s" % error) from None
        for name, (result, arguments) in _CONTROL.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
        _library = library
    return _library


def message(library):
    """What the library said last about a mistake (str)."""
    buffer = ctypes.create_string_buffer(1024)
    library.mtmlSimGetMessage(buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


def check_profile(variables):
    """Whether the simulator takes profile and settings that these variables name; if not, it has said why on stderr.

    Raises: SimulatorError.
    """
    library = load()
    os.environ.update({name: value for name, value in variables.items() if name.startswith("MTML_SIM_")})
    return library.mtmlSimLoad() == 0
