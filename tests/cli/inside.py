"""What tests need from inside the command: its clocks, tables, and the functions that are tested by themselves.

Tests run the command (`command.py`) and look at what it prints. What they need beyond that they take from here and from
nowhere else, so that moving or splitting a file of pymtml_cli changes this file only.
"""

# flake8: noqa: F401
import importlib
import inspect
import sys

import pymtml
from pymtml_cli.common.errors import OTHER, CommandError
from pymtml_cli.common.numeric import number
from pymtml_cli.common.text import safe, width
from pymtml_cli.completion import Option
from pymtml_cli.health.checks import CHECKS, LIMITS, OF_CARD, SEVERITY
from pymtml_cli.health.lock import Lock, default_path
from pymtml_cli.hosts.compare import Comparison
from pymtml_cli.hosts.facts import DOCTOR, HEALTH, MACHINE
from pymtml_cli.language import ANSWERED_BY, BY_SPELLING, KINDS, SECTIONS
from pymtml_cli.main import main
from pymtml_cli.readings.devices import Machine, Moment, Unknown
from pymtml_cli.readings.processes import compute_processes
from pymtml_cli.readings.table import READINGS, SERIES
from pymtml_cli.smi.lost import Opened
from pymtml_cli.smi.query import FIELDS, QUERIES
from pymtml_cli.smi.terminal import OtherScreen
from pymtml_cli.subcommands import LISTED, SUBCOMMANDS, Subcommand

BY_NAME = {name: field for field in FIELDS for name in field[0]}
QUESTIONS = {name: CHECKS[name].questions for name in OF_CARD}


def limits(**replaced):
    """The limits of checks (dict): the defaults, with some replaced."""
    return dict(checks.default_limits(), **{name.replace("_", "-"): value for name, value in replaced.items()})


def most_series():
    """How many series of `metrics` a card and a part of it have at most, without those of named processes (dict)."""
    of_readings = {row.series: SERIES[row.series[0]][0] for row in READINGS if row.series}
    whole, parts = metrics_series.CARD_SERIES, [query for query, _ in metrics_series.QUESTIONS_OF_PARTS]
    own = [name for name, (labels, _) in whole.items() if name not in SERIES and not labels] + ["info"]
    several = metrics_series.MOST_FANS + len(metrics_series.LINK_STATES) + 1  # states that nobody knows
    several += len(driver.COUNTS) + 2 * (metrics_series.MOST_XIDS + 1)  # in the record, and since the beginning
    failed = metrics_collector.MOST_ERROR_SERIES + 1
    of_parts = sum(query in parts for query in of_readings.values()) + len(("info", "up"))
    return {"card_series": len(of_readings) + len(own) + several + failed, "part_series": of_parts}


def card_findings(card, limits, names=OF_CARD, **asking):
    """What the questions of each check come to on a card (iterator of lists of Finding)."""
    who = checks.identity(card)
    for check, found in checks.card_outcomes(card, limits, names, **asking):
        yield [checks.finding(check, one, who) for one in found]


def answers(monkeypatch, name, function):
    """Let a function of pymtml be another one, for the readings, too, which took it when they were imported."""
    genuine, ask = getattr(pymtml, name), devices.ask
    monkeypatch.setattr(pymtml, name, function)
    monkeypatch.setattr(devices, "ask", lambda one, *rest: ask(function if one is genuine else one, *rest))


class Part:
    """Some files of the command as one: a name is looked for in each of them, and what is set is set in all that have it.

    Part("health.doctor", "health.containers") has what either file has, so tests go on where a file was split in two.
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
cells = Part("smi.cells")
cgroup = Part("common.cgroup")
checks = Part("health.checks")
child = Part("health.child")
completion = Part("completion")
containers = Part("health.containers")
devices = Part("readings.devices")
doctor = Part("health.doctor")
driver = Part("readings.driver_files")
drop_in = Part("dropin.drop_in")
encodersessions = Part("smi.encodersessions")
errors = Part("common.errors")
gathered = Part("hosts.gathered")
health = Part("health.health")
hints = Part("common.hints")
hostfacts = Part("hosts.facts")
hostlist = Part("hosts.hostlist")
language = Part("language")
lock = Part("health.lock")
main_module = Part("main")
metrics = Part("metrics.write")
metrics_child = Part("metrics.collect")
metrics_collector = Part("metrics.collect")
metrics_file = Part("metrics.write")
metrics_page = Part("metrics.write")
metrics_series = Part("metrics.series")
metrics_server = Part("metrics.serve")
modify = Part("smi.modify")
processes = Part("readings.processes")
run = Part("dropin.run")
samples = Part("common.samples", "common.files")
scroll = Part("smi.scroll")
table = Part("smi.table")
text = Part("common.text")
topo = Part("smi.topo", "readings.topology")
xid = Part("health.xid")


def file_of(name):
    """The file of the command that has the subcommand, or what answers an option (module)."""
    return importlib.import_module("pymtml_cli." + name)
