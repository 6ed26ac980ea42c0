"""Finds modules for the finder, once a name of the table is imported."""

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder

from pymtml_dropin import KNOWING, MODULES, OWN

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "pymtml_dropin", "path")

AT_SECURE = 23


def raised_privileges(vector="/proc/self/auxv"):
    """Whether the process has privileges that its user lacks (set-user-ID, set-group-ID, capabilities of the file).

    pymtml asks getauxval instead. That takes ctypes, which programs that only have the drop-in at their start need not.
    """
    if not hasattr(os, "getuid"):
        return False
    if os.getuid() != os.geteuid() or os.getgid() != os.getegid():
        return True
    try:
        with open(vector, "rb") as file:
            words = memoryview(file.read()).cast("L")
    except PermissionError:
        # The kernel hides a process with raised privileges from its own user.
        return True
    except OSError:
        return False
    return any(words[i] == AT_SECURE and words[i + 1] for i in range(0, len(words) - 1, 2))


def setting(name):
    """The environment variable, or None if it must be ignored: python -E and -I, raised privileges."""
    value = os.environ.get(name)
    if not value or sys.flags.ignore_environment or raised_privileges():
        return None
    return value


def more_names(variable="PYMTML_DROPIN_MODULES"):
    """The names in an environment variable, which are separated by commas or blanks (frozenset of str)."""
    return frozenset((setting(variable) or "").replace(",", " ").split())


def program(file):
    """The name by which a program is excepted: that of its file, or of the package that is run."""
    name = os.path.splitext(os.path.basename(file))[0]
    return os.path.basename(os.path.dirname(file)) if name == "__main__" else name


def importer():
    """The module that imports, or asks for a module, which this one is called for; "" if there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name.split(".")[0] not in ("importlib", "importlib_metadata", "_frozen_importlib", "pymtml_dropin"):
            return name
        frame = frame.f_back
    return ""


def exception(*names):
    """Why a program or a module of one of these names, or of a package of it, keeps its own pynvml; None if not."""
    excepted = more_names("PYMTML_DROPIN_EXCEPT")
    for name in names:
        while name:
            if name in excepted:
                return "PYMTML_DROPIN_EXCEPT names it"
            if name in KNOWING:
                import shutil

                if shutil.which(KNOWING[name]):
                    return "it finds these cards by itself, through %s" % KNOWING[name]
            name = name.rpartition(".")[0]
    return None


def left_alone(asked):
    """Whether pynvml is not pymtml: beside an NVIDIA driver, unless the user chose it, and for an exception."""
    if not asked and nvidia_driver():
        return True
    return exception(program((getattr(sys, "argv", None) or [""])[0]), importer()) is not None


def nvidia_driver():
    """A file that is only there with an NVIDIA driver, or None."""
    if sys.platform == "win32":
        marks = [os.path.join(os.environ.get("SystemRoot", "C:\\Windows"), "System32", "nvml.dll")]
    else:
        marks = [
            os.path.join(setting("PYMTML_PROC_ROOT") or "/proc", "driver", "nvidia", "version"),
            "/usr/lib/wsl/lib/libnvidia-ml.so.1",
        ]
    return next((mark for mark in marks if os.path.exists(mark)), None)


class Nothing:
    """Finds nothing in a folder (a finder of sys.path_importer_cache)."""

    @staticmethod
    def find_spec(name, target=None):
        return None


class Alias:
    """Loads a module under another name (a loader)."""

    def __init__(self, real):
        self.real = real

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        __import__(self.real)
        real = sys.modules[self.real]
        if self.real == "pymtml" and not hasattr(real, "__path__"):
            # Without it Python asks no finder for pynvml.nvml or pynvml.smi. As a package pymtml has one.
            real.__path__ = []
        name = module.__spec__.name
        if name == "pynvml":
            # Before version 12, when pynvml was a package, importing it also imported this.
            sys.modules["pynvml.nvml"] = real.nvml = real
        # In create_module this would be too early: Python writes the spec of the alias into what that returns.
        sys.modules[name] = real


class Changed:
    """Loads a module by its own loader, then lets a module of this package change it (a loader)."""

    def __init__(self, loader, changer):
        self.loader, self.changer = loader, changer

    def __getattr__(self, name):
        # Source, data files, and whatever else a loader provides.
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        __import__(self.changer)
        sys.modules[self.changer].change(module)


def find_changed(name, path):
    """The spec of a module, with a loader that changes it (ModuleSpec or None).

    If an NVIDIA driver is present, the module stays as it is, even if the user chose pymtml.
    """
    spec = PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None and not nvidia_driver():
        spec.loader = Changed(spec.loader, MODULES[name])
    return spec


def elsewhere(name, path=None):
    """What Python finds without this drop-in, on sys.path or a package's own path (ModuleSpec or None)."""
    if path is None:
        path = [entry for entry in sys.path if os.path.abspath(entry) != FOLDER]
    return PathFinder.find_spec(name, path)


def find_smi():
    """The spec of pynvml.smi, or None: only pynvml before version 12 has it, and pynvml_utils (not nvidia-ml-py)."""
    package = elsewhere("pynvml")
    if package is not None and package.submodule_search_locations is not None:
        spec = elsewhere("pynvml.smi", package.submodule_search_locations)
        if spec is not None:
            return spec
    if elsewhere("pynvml_utils") is not None:
        return ModuleSpec("pynvml.smi", Alias("pynvml_utils.smi"))
    return None


def find_spec(name, asked):
    """The spec for a name of the table, or None for whatever Python finds without this drop-in."""
    if name in OWN:
        return PathFinder.find_spec(name, [ROOT])
    if left_alone(asked):
        for entry in sys.path:
            if os.path.abspath(entry) == FOLDER:  # whose pynvml.py is for Pythons that did not install the finder
                sys.path_importer_cache[entry] = Nothing
        return None
    if name == "pynvml.smi":
        return find_smi()
    if name == "pymtml.smi":
        return ModuleSpec(name, Alias("pynvml.smi"))
    return ModuleSpec(name, Alias("pymtml"), origin=os.path.join(FOLDER, "pynvml.py"))
