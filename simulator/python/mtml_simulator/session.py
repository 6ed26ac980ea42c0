"""The simulator in force for a while, in this process and in those that it starts: what the fixture hands out."""

import contextlib
import ctypes
import gc
import os
import re
import shutil
import sys
import textwrap
from types import FrameType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import environment, folders, native, profiles, tree
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


# What a value may be: texts, numbers and flags, and lists of them.
Value = Union[str, bool, int, float, Sequence[Union[str, bool, int, float]]]


# ==== Who initialized the library ====

_holders: Dict[int, str] = {}


def _caller() -> str:
    """The place in Python code that made the native call which is being answered (str)."""
    frame: Optional[FrameType] = sys._getframe(2)
    innermost = frame
    while frame is not None and (
        frame.f_globals.get("__name__", "").split(".")[0] in _BINDINGS or frame.f_code.co_name in _PASSING_ON
    ):
        frame = frame.f_back
    frame = frame or innermost
    if frame is None:
        return "code outside Python"
    return "%s:%d, in %s" % (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def _watch(library: int, taken: int) -> None:
    if taken:
        _holders[library] = _caller()
    else:
        _holders.pop(library, None)


# ctypes needs it to live as long as the library may call it.
_watcher = native.Watcher(_watch)


def _describe(count: int) -> str:
    """The open references, in words (str)."""
    places = list(_holders.values())
    places += ["made before the simulator was in use"] * (count - len(places))
    noun = "reference is" if count == 1 else "references are"
    return "%d native %s open (mtmlLibraryInit without mtmlLibraryShutDown): %s" % (count, noun, "; ".join(places))


def _end_kept(library: ctypes.CDLL) -> None:
    """End what pymtml keeps after the last shutdown, which is nobody's mistake."""
    module: Any = sys.modules.get("pymtml")
    if library.mtmlSimGetLibraryReferences() and getattr(module, "_nvmlLib_refcount", None) == 0:
        before = os.environ.get("PYMTML_KEEP_LIBRARY")
        os.environ["PYMTML_KEEP_LIBRARY"] = "0"
        try:
            module.mtmlLibraryInit()
            module.mtmlLibraryShutDown()
        except Exception:
            pass
        del os.environ["PYMTML_KEEP_LIBRARY"]
        if before is not None:
            os.environ["PYMTML_KEEP_LIBRARY"] = before


def _release(library: ctypes.CDLL) -> None:
    """Shut down what was left initialized: through the bindings that hold it, so that they know; the rest natively."""
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
    # Bindings that nobody here knows, and threads that go on, get an error code for their handles from now on.
    library.mtmlSimEnd()
    _holders.clear()


# ==== Values ====


def _text(value: Value) -> str:
    """A value as a profile writes it (str)."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(item) for item in value)
    return str(value)


# Keys whose changes the driver writes a record about.
_REPORTED = ("xid", "lost", "mtlink_state")


class Machine:
    """A simulated machine that can be changed: by all processes that are on it, for all of them, while they run."""

    def __init__(self, library: ctypes.CDLL, root: str = "") -> None:
        self._library = library
        # Of its tree, once there is one.
        self._root = root

    def set(self, key: str, value: Optional[Value]) -> None:
        """Change a value at once: `0.gpu_temperature` of card 0, `*.power_usage` of all, `machine.driver_version`.

        `0.instance.1.KEY` and `0.virt.2.KEY` are those of an MPC instance and of a virtual device. Keys and values are
        those of profiles; bool, numbers and lists are written as in profiles. None undoes a change: the value is the
        profile's again.

        Raises: ValueError.
        """
        for _, number, name in self._places(key):
            reports = name.partition(".")[0] in _REPORTED and number < self.cards() and os.path.isdir(self._root)
            before = tree.troubles(self, number) if reports else []
            if value is None:
                status = self._library.mtmlSimUnset(number, name.encode())
            else:
                status = self._library.mtmlSimSet(
                    number, name.encode(), _text(value).encode("utf-8", "surrogateescape")
                )
            if status:
                raise ValueError(native.message(self._library))
            if reports:
                told = [_text(value)] if name == "xid" and value else []
                told += [text for text in tree.troubles(self, number) if text not in before]
                tree.report(self, self._root, number, told)

    def get(self, key: str) -> str:
        """A value as a profile writes it, around which it moves (str).

        Raises: ValueError.
        """
        place, number, name = self._places(key)[0]
        buffer = ctypes.create_string_buffer(65536)
        if self._library.mtmlSimGet(number, name.encode(), buffer, len(buffer)):
            raise ValueError("there is no %s" % place)
        return buffer.value.decode("utf-8", "surrogateescape")

    def _places(self, key: str) -> List[Tuple[str, int, str]]:
        """What a key names: (its name in a setting, the number of the object, the object's key) for each object."""
        match = _PLACE.fullmatch(key)
        if not match:
            raise ValueError(
                '"%s" names no value: write 0.KEY, *.KEY, machine.KEY, 0.instance.1.KEY or 0.virt.2.KEY' % key
            )
        name = match.group("key")
        if match.group("other") == "machine":
            return [(key, native.MACHINE, name)]
        if match.group("other"):
            return [("%d.%s" % (card, name), card, name) for card in range(self.cards())]
        card = int(match.group("card"))
        if match.group("part"):
            return [
                (key, card | (int(match.group("number")) + 1) << (8 if match.group("part") == "instance" else 16), name)
            ]
        return [(key, card, name)]

    def cards(self) -> int:
        """Number of cards, including those that are not visible (int)."""
        buffer = ctypes.create_string_buffer(65536)
        count = 0
        while self._library.mtmlSimGet(count, b"gpu_temperature", buffer, len(buffer)) == 0:
            count += 1
        return count

    def fail(
        self,
        function: str,
        code: Union[str, int],
        after: int = 0,
        times: Optional[int] = None,
        device: Optional[int] = None,
    ) -> None:
        """Let calls of a function (`*`: of all) return a code such as "TIMEOUT", from now on.

        `after` calls succeed first; `times` calls fail (None: all); `device` is the card's number (None: all).
        Each process counts its own calls.

        Raises: ValueError.
        """
        code = str(int(code) if isinstance(code, int) else code)
        code = code[len("MTML_ERROR_") :] if code.startswith("MTML_ERROR_") else code
        card = "" if device is None else "%d." % device
        self.arm("%s%s=%s@%d" % (card, function, code, after) + ("" if times is None else "x%d" % times))

    def arm(self, faults: str) -> None:
        """Arm faults in the form of MTML_SIM_FAULTS: `3.mtmlGpuGetTemperature=TIMEOUT@3x2,mtmlMemoryGetUsed=UNKNOWN`.

        Raises: ValueError.
        """
        if self._library.mtmlSimAddFaults(faults.encode()):
            raise ValueError(native.message(self._library))

    def lose(self, index: int, code: str = "DRIVER_FAILURE") -> None:
        """Let a card fall off the bus: every call on it, its parts and its instances returns a code.

        Raises: ValueError.
        """
        self.set("%d.lost" % index, code)

    def heal(self, index: Optional[int] = None) -> None:
        """End what makes calls fail: faults and loss of a card; for None all faults, all losses and the latency.

        Values that were set stay.

        Raises: ValueError.
        """
        if self._library.mtmlSimHeal(native.MACHINE if index is None else index):
            raise ValueError(native.message(self._library))

    def latency(self, seconds: float) -> None:
        """Let every call take that long; 0 ends it.

        Raises: ValueError.
        """
        nanoseconds = int(round(seconds * 1e9))
        if nanoseconds < 0:
            raise ValueError("a latency of %s seconds" % seconds)
        self.set("machine.latency_ns", nanoseconds)

    def reboot(self) -> None:
        """What a reboot of the machine does: pending ECC modes come into force, volatile counters and MPC go.

        Raises: LibraryInUse while the library is initialized in this process.
        """
        if self._library.mtmlSimReboot():
            count = self._library.mtmlSimGetLibraryReferences()
            raise LibraryInUse("the machine cannot reboot while the library is initialized: " + _describe(count))


class Simulator(Machine):
    """The simulated machine of a test, for this process and its children, including those already running.

    Each of them counts its own calls.
    """

    def __init__(self, library: ctypes.CDLL, folder: str) -> None:
        super().__init__(library, os.path.join(folder, "tree"))
        self._folder = folder
        self._machines = 0

    def profile(self, name_or_text: Union[str, "os.PathLike[str]"], frozen: bool = True) -> None:
        """Put another machine in force: the name of a profile, the path of a file, or a profile's text.

        It is a new machine: nothing is set, armed or lost on it. Its values do not move unless `frozen` is False.
        Processes that run already stay on the machine before it, which nothing changes any more.

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
        if not self._machines or os.path.exists(self._control()):
            self._machines += 1
        os.environ.update(MTML_SIM_PROFILE=value, MTML_SIM_CONTROL=self._control())
        if self._library.mtmlSimLoad():
            problem = native.message(self._library)
            os.environ.update({name: text for name, text in before.items() if text is not None})
            self._library.mtmlSimReload()
            raise profiles.ProfileError(problem)

    def _control(self) -> str:
        """The file that the processes of the machine share; it is there once something was changed."""
        return os.path.join(self._folder, "control-%d" % self._machines)

    def tree(self) -> str:
        """Write the machine, as it is now, as a tree of sysfs, /dev and /proc (path of its folder).

        pymtml and `mthreads-gmi` read it from then on, in this process and its children: PYMTML_SYS_ROOT and
        PYMTML_PROC_ROOT name it.
        """
        tree.render(self, self._root)
        os.environ.update(tree.variables(self._root))
        return self._root

    def nodes(self) -> str:
        """Let the device nodes answer programs that ask the driver for the memory of processes (path of a folder).

        They do so for children that are started from then on: LD_PRELOAD names a library that answers in the driver's
        place, from the cards' `processes` as they are now. The folder's file `calls` has a line for each question.

        Raises: OSError.
        """
        root = os.path.join(self._folder, "nodes")
        shutil.rmtree(root, ignore_errors=True)
        os.environ.update(tree.write_nodes(self, root))
        return root

    def _file(self, text: str) -> str:
        from hashlib import sha256  # loads OpenSSL

        # Indented as the test is that it stands in.
        text = textwrap.dedent(text)
        name = "profile-%s.ini" % sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        path = os.path.join(self._folder, name)
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(text)
        return path

    def calls(self, function: Optional[str] = None) -> int:
        """Calls of a function, or of all, that this process made since the test began (int).

        Raises: ValueError for a name that the library does not have.
        """
        count = self._library.mtmlSimGetCallCount(None if function is None else function.encode())
        if count < 0:
            raise ValueError("MTML has no function %s" % function)
        return int(count)

    def references(self) -> int:
        """Inits of the library in this process that no shutdown has matched yet (int)."""
        return int(self._library.mtmlSimGetLibraryReferences())

    def environment(self) -> Dict[str, str]:
        """The environment for a child process that is to see this machine (dict)."""
        return dict(os.environ)


def attach(control: str, profile: str) -> Machine:
    """The machine of processes that run already, by its control file and profile (Machine).

    It changes this process's environment.

    Raises: SimulatorError, ProfileError.
    """
    library = native.load()
    for name in [name for name in os.environ if name.startswith("MTML_SIM_")]:
        del os.environ[name]
    os.environ.update(MTML_SIM_PROFILE=profiles.value(profile), MTML_SIM_CONTROL=control)
    if library.mtmlSimLoad():
        raise profiles.ProfileError(native.message(library))
    proc = os.environ.get("PYMTML_PROC_ROOT")
    return Machine(library, os.path.dirname(proc) if proc else os.path.join(os.path.dirname(control), "tree"))


# ==== In force and undone ====

# One within the other, as a session's fixture and a test's are.
_active: List["Simulator"] = []


def _end(library: ctypes.CDLL, before: Mapping[str, str]) -> Optional[str]:
    """Undo what `simulate` did; what was left open, or None."""
    if library.mtmlSimGetLibraryReferences():
        # Handles in a cycle of dead objects give their reference back only then.
        gc.collect()
    _end_kept(library)
    count = library.mtmlSimGetLibraryReferences()
    leak = _describe(count) if count else None
    _release(library)
    _active.pop()
    if not _active:
        library.mtmlSimWatchReferences(native.Watcher())
    for name in _ours(os.environ):
        del os.environ[name]
    os.environ.update({name: before[name] for name in _ours(before)})
    (library.mtmlSimLoad if _active else library.mtmlSimReload)()
    return leak


def _ours(environ: Mapping[str, str]) -> List[str]:
    """The variables that `simulate` changes, of those in an environment (list of str)."""
    changed = set(environment.variables(profiles.DEFAULT, environ)) | set(tree.variables("")) | {"LD_PRELOAD"}
    return [name for name in environ if name in changed or name.startswith("MTML_SIM_")]


@contextlib.contextmanager
def simulate(
    profile: Union[str, "os.PathLike[str]"] = profiles.DEFAULT, faults: str = "", frozen: bool = True
) -> Iterator[Simulator]:
    """Put a simulated machine in force for the length of a with block, in this process and in those that it starts.

    `faults` is a text as MTML_SIM_FAULTS takes it. Yields a Simulator.

    Raises: SimulatorError where another MTML library is loaded, LibraryInUse where the library is initialized already,
    ProfileError, ValueError; ReferenceLeak at the end when the library is left initialized.
    """
    library = native.load()
    _end_kept(library)
    count = library.mtmlSimGetLibraryReferences()
    if count:
        raise LibraryInUse("the library is initialized already: " + _describe(count))
    before = dict(os.environ)
    folder = folders.make()
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
