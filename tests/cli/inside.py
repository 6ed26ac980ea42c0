"""What tests need from inside the command: its clocks, tables, and the functions that are tested by themselves.

Tests run the command (`command.py`) and look at what it prints. What they need beyond that they take from here and from
nowhere else, so that moving or splitting a file of pymtml_cli changes this file only.
"""

# flake8: noqa: F401
import importlib
import inspect
import sys

from pymtml_cli.checks import LIMITS, QUESTIONS
from pymtml_cli.compare import Comparison
from pymtml_cli.completion import Option
from pymtml_cli.devices import Machine, Moment, Unknown
from pymtml_cli.errors import OTHER, CommandError
from pymtml_cli.fields import BY_NAME, FIELDS
from pymtml_cli.gathered import DOCTOR, HEALTH, MACHINE
from pymtml_cli.hostfacts import Host
from pymtml_cli.json_document import machine_object
from pymtml_cli.language import ANSWERED_BY, BY_SPELLING, KINDS, SECTIONS
from pymtml_cli.lock import Lock, default_path
from pymtml_cli.main import main
from pymtml_cli.numeric import number
from pymtml_cli.processes import compute_processes
from pymtml_cli.query import QUERIES
from pymtml_cli.subcommands import SUBCOMMANDS
from pymtml_cli.terminal import OtherScreen
from pymtml_cli.text import safe, width


class Part:
    """Some files of the command as one: a name is looked for in each of them, and what is set is set in all that have it.

    Part("doctor", "containers") has what either file has, so tests go on where a file was split in two.
    """

    __slots__ = ("names",)  # and no __dict__, in which monkeypatch would look for what is set

    def __init__(self, *names):
        object.__setattr__(self, "names", ["pymtml_cli." + name for name in names])

    def _having(self, name):
        modules = [importlib.import_module(module) for module in self.names]
        return [module for module in modules if hasattr(module, name)] or modules

    def __getattr__(self, name):
        return getattr(self._having(name)[0], name)

    def __setattr__(self, name, value):
        for module in self._having(name):
            setattr(module, name, value)

    def __delattr__(self, name):
        for module in self._having(name):
            delattr(module, name)

    @property
    def source(self):
        """The text of the files."""
        return "\n".join(inspect.getsource(importlib.import_module(name)) for name in self.names)

    def forget(self, monkeypatch):
        """Have the files imported once more, when somebody asks for them."""
        for name in self.names:
            above, _, last = name.rpartition(".")
            monkeypatch.delitem(sys.modules, name, raising=False)
            monkeypatch.delattr(importlib.import_module(above), last, raising=False)


capture = Part("capture")
cells = Part("cells")
checks = Part("checks")
child = Part("child")
completion = Part("completion")
containers = Part("containers")
devices = Part("devices")
doctor = Part("doctor")
drop_in = Part("drop_in")
encodersessions = Part("encodersessions")
errors = Part("errors")
gathered = Part("gathered")
health = Part("health")
hints = Part("hints")
hostfacts = Part("hostfacts")
hostlist = Part("hostlist")
language = Part("language")
lock = Part("lock")
main_module = Part("main")
metrics = Part("metrics")
metrics_child = Part("metrics_child")
metrics_collector = Part("metrics_collector")
metrics_file = Part("metrics_file")
metrics_page = Part("metrics_page")
metrics_series = Part("metrics_series")
metrics_server = Part("metrics_server")
modify = Part("modify")
mtlink = Part("mtlink")
pmon = Part("pmon")
processes = Part("processes")
run = Part("run")
samples = Part("samples")
scroll = Part("scroll")
table = Part("table")
text = Part("text")
topo = Part("topo")


def file_of(name):
    """The file of the command that has the subcommand, or what answers an option (module)."""
    return importlib.import_module("pymtml_cli." + name)
