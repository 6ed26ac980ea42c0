"""The simulator in force for a while, in this process and in those that it starts: what the fixture hands out."""

import contextlib
import ctypes
import gc
import hashlib
import os
import re
import shutil
import sys
import tempfile
import textwrap

from . import environment, native, profiles
from .native import SimulatorError

_PLACE = re.compile(
    r"(?:(?P<card>\d+)(?:\.(?P<part>instance|virt)\.(?P<number>\d+))?|(?P<other>\*|machine))\.(?P<key>.+)"
)
# Modules that bind the library, and functions by which they and others pass the call on: a reference is named by who
# called them.
_BINDINGS = ("pymtml", "pynvml")
_PASSING_ON = ("mtmlLibraryInit", "nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags")


class LibraryInUse(SimulatorError):
    """The machine cannot change, or a test cannot end, while the library is initialized."""


class ReferenceLeak(LibraryInUse):
    """An mtmlLibraryInit without its mtmlLibraryShutDown."""


# ==== Who initialized the library ====

_holders = {}


def _caller():
    """The place in Python code that made the native call which is being answered (str)."""
    frame = sys._getframe(2)
    innermost = frame
    while frame is not None and (
        frame.f_globals.get("__name__", "").split(".")[0] in _BINDINGS or frame.f_code.co_name in _PASSING_ON
    ):
        frame = frame.f_back
    frame = frame or innermost
    if frame is None:
        return "code outside Python"
    return "%s:%d, in %s" % (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def _watch(library, taken):
    if taken:
        _holders[library] = _caller()
    else:
        _holders.pop(library, None)


# ctypes needs it to live as long as the library may call it.
_watcher = native.Watcher(_watch)


def _describe(count):
    """The open references, in words (str)."""
    places = list(_holders.values())
    places += ["made before the simulator was asked for"] * (count - len(places))
    noun = "reference is" if count == 1 else "references are"
    return "%d native %s open (mtmlLibraryInit without mtmlLibraryShutDown): %s" % (count, noun, "; ".join(places))


def _release(library):
    """Shut down what was left initialized, through the bindings that hold it, so that they know."""
    for module in [sys.modules.get(name) for name in _BINDINGS]:
        shutdown = getattr(module, "nvmlShutdown", None)
        count = library.mtmlSimGetLibraryReferences()
        while shutdown and count:
            try:
                shutdown()
            except Exception:
                break
            before, count = count, library.mtmlSimGetLibraryReferences()
            if count >= before:
                break


# ==== Values ====


def _text(value):
    """A value as a profile writes it (str)."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(item) for item in value)
    return str(value)


class Simulator:
    """The simulated machine of a test, for this process and its children.

    Children get what was set, armed and lost by then; each of them counts its own calls.
    """

    def __init__(self, library, folder):
        self._library = library
        self._folder = folder
        self._settings = {}
        self._faults = []

    def profile(self, name_or_text, frozen=True):
        """Put another machine in force: the name of a profile, the path of a file, or a profile's text.

        It is a new machine: nothing is set, armed or lost on it. Its values do not move unless `frozen` is False.

        Raises: LibraryInUse while the library is initialized, ProfileError.
        """
        count = self.references()
        if count:
            raise LibraryInUse("the profile cannot change while the library is initialized: " + _describe(count))
        chosen = os.fspath(name_or_text)
        value = profiles.value(self._file(chosen) if "\n" in chosen else chosen)
        if frozen and not value.endswith(profiles.FROZEN):
            value += profiles.FROZEN
        before = {name: os.environ.pop(name, None) for name in list(os.environ) if name.startswith("MTML_SIM_")}
        os.environ["MTML_SIM_PROFILE"] = value
        if self._library.mtmlSimLoad():
            problem = native.message(self._library)
            os.environ.update({name: text for name, text in before.items() if text is not None})
            self._library.mtmlSimReload()
            raise profiles.ProfileError(problem)
        self._settings = {}
        self._faults = []

    def _file(self, text):
        # Indented as the test is that it stands in.
        text = textwrap.dedent(text)
        name = "profile-%s.ini" % hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        path = os.path.join(self._folder, name)
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(text)
        return path

    def set(self, key, value):
        """Change a value at once: `0.gpu_temperature` of card 0, `*.power_usage` of all, `machine.driver_version`.

        `0.instance.1.KEY` and `0.virt.2.KEY` are those of an MPC instance and of a virtual device. Keys and values are
        those of profiles; bool, numbers and lists are written as they have them.

        Raises: ValueError.
        """
        text = _text(value)
        for place, number, name in self._places(key):
            if self._library.mtmlSimSet(number, name.encode(), text.encode("utf-8", "surrogateescape")):
                raise ValueError(native.message(self._library))
            # The last one counts, as it did here. A semicolon would end the setting.
            self._settings.pop(place, None)
            self._settings[place] = text.replace(";", "\\x3b").replace("\n", "\\n")
        os.environ["MTML_SIM_SET"] = ";".join("%s=%s" % setting for setting in self._settings.items())
        self._library.mtmlSimKeep()

    def get(self, key):
        """A value as a profile would have it: that which does not move (str).

        Raises: ValueError.
        """
        place, number, name = self._places(key)[0]
        buffer = ctypes.create_string_buffer(65536)
        if self._library.mtmlSimGet(number, name.encode(), buffer, len(buffer)):
            raise ValueError("there is no %s" % place)
        return buffer.value.decode("utf-8", "surrogateescape")

    def _places(self, key):
        """What a key names: (its name in MTML_SIM_SET, the number of the object, the object's key) for each object."""
        match = _PLACE.fullmatch(key)
        if not match:
            raise ValueError(
                '"%s" names no value: write 0.KEY, *.KEY, machine.KEY, 0.instance.1.KEY or 0.virt.2.KEY' % key
            )
        name = match.group("key")
        if match.group("other") == "machine":
            return [(key, native.MACHINE, name)]
        if match.group("other"):
            return [("%d.%s" % (card, name), card, name) for card in range(self._cards())]
        card = int(match.group("card"))
        if match.group("part"):
            return [
                (key, card | (int(match.group("number")) + 1) << (8 if match.group("part") == "instance" else 16), name)
            ]
        return [(key, card, name)]

    def _cards(self):
        buffer = ctypes.create_string_buffer(65536)
        count = 0
        while self._library.mtmlSimGet(count, b"gpu_temperature", buffer, len(buffer)) == 0:
            count += 1
        return count

    def fail(self, function, code, after=0, times=None, device=None):
        """Let calls of a function (`*`: of all) return a code such as "TIMEOUT", from now on.

        `after` calls are good before that; `times` calls fail (None: all); `device` is the card's number (None: all).

        Raises: ValueError.
        """
        code = str(int(code) if isinstance(code, int) else code)
        code = code[len("MTML_ERROR_") :] if code.startswith("MTML_ERROR_") else code
        card = "" if device is None else "%d." % device
        self.arm("%s%s=%s@%d" % (card, function, code, after) + ("" if times is None else "x%d" % times))

    def arm(self, faults):
        """Arm faults in the form of MTML_SIM_FAULTS: `3.mtmlGpuGetTemperature=TIMEOUT@3x2,mtmlMemoryGetUsed=UNKNOWN`.

        Raises: ValueError.
        """
        if self._library.mtmlSimAddFaults(faults.encode()):
            raise ValueError(native.message(self._library))
        if not self._faults:
            # The variable takes the place of the profile's own faults.
            self._faults = [own for own in [self.get("machine.faults")] if own]
        self._faults.append(faults)
        os.environ["MTML_SIM_FAULTS"] = ",".join(self._faults)
        self._library.mtmlSimKeep()

    def lose(self, index, code="DRIVER_FAILURE"):
        """Let a card fall off the bus: every call on it, its parts and its instances returns a code.

        Raises: ValueError.
        """
        self.set("%d.lost" % index, code)

    def latency(self, seconds):
        """Let every call take that long; 0 ends it.

        Raises: ValueError.
        """
        nanoseconds = int(round(seconds * 1e9))
        if nanoseconds < 0:
            raise ValueError("a latency of %s seconds" % seconds)
        self.set("machine.latency_ns", nanoseconds)

    def calls(self, function=None):
        """Calls of a function, or of all, that this process made since the test began (int).

        Raises: ValueError for a name that the library does not have.
        """
        count = self._library.mtmlSimGetCallCount(None if function is None else function.encode())
        if count < 0:
            raise ValueError("MTML has no function %s" % function)
        return count

    def references(self):
        """Inits of the library in this process that no shutdown has matched yet (int)."""
        return self._library.mtmlSimGetLibraryReferences()

    def environment(self):
        """The environment for a child process that is to see this machine (dict)."""
        return dict(os.environ)


# ==== In force and undone ====

# One within the other, as a session's fixture and a test's are.
_active = []


def _end(library, before):
    """Undo what `simulate` did; what was left open, or None."""
    if library.mtmlSimGetLibraryReferences():
        # Handles in a cycle of dead objects give their reference back only then.
        gc.collect()
    count = library.mtmlSimGetLibraryReferences()
    leak = _describe(count) if count else None
    if count:
        _release(library)
    _active.pop()
    if not _active:
        library.mtmlSimWatchReferences(native.Watcher())
    for name in _ours(os.environ):
        del os.environ[name]
    os.environ.update({name: before[name] for name in _ours(before)})
    library.mtmlSimReload()
    return leak


def _ours(environ):
    """The variables that `simulate` changes, of those in an environment (list of str)."""
    changed = environment.variables(profiles.DEFAULT, environ).keys() | {"PYMTML_KEEP_LIBRARY"}
    return [name for name in environ if name in changed or name.startswith("MTML_SIM_")]


@contextlib.contextmanager
def simulate(profile=profiles.DEFAULT, faults="", frozen=True):
    """Put a simulated machine in force for the length of a with block, in this process and in those that it starts.

    `faults` is a text as MTML_SIM_FAULTS takes it. Yields a Simulator.

    Raises: SimulatorError where another MTML library is loaded, LibraryInUse where the library is initialized already,
    ProfileError, ValueError; ReferenceLeak at the end when the library is left initialized.
    """
    library = native.load()
    count = library.mtmlSimGetLibraryReferences()
    if count:
        raise LibraryInUse("the library is initialized already: " + _describe(count))
    before = dict(os.environ)
    folder = tempfile.mkdtemp(prefix="mtml-simulator-")
    leak = None
    try:
        for name in [name for name in os.environ if name.startswith("MTML_SIM_")] + ["PYMTML_KEEP_LIBRARY"]:
            os.environ.pop(name, None)
        os.environ.update(environment.variables(profiles.DEFAULT))
        simulator = Simulator(library, folder)
        _active.append(simulator)
        library.mtmlSimWatchReferences(_watcher)
        try:
            simulator.profile(profile, frozen)
            if faults:
                simulator.arm(faults)
            library.mtmlSimResetCallCounts()
            yield simulator
        finally:
            leak = _end(library, before)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    # Not where something else went wrong, which this would hide.
    if leak:
        raise ReferenceLeak(leak)
