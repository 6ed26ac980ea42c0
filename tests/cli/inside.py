"""What tests need from inside the command: its clocks, tables, and the functions that are tested by themselves.

Tests run the command (`command.py`) and look at what it prints. What they need beyond that they take from here and from
nowhere else, so that moving or splitting a file of pymtml_cli changes this file only.
"""

# flake8: noqa: F401
import importlib

import pymtml
from pymtml_cli import capture, completion, language
from pymtml_cli import main as main_module
from pymtml_cli import ps
from pymtml_cli.common import cgroup, errors, files, hints, samples, text
from pymtml_cli.common.errors import OTHER, CommandError
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import parse
from pymtml_cli.common.options import rows as options_of
from pymtml_cli.common.options import setters
from pymtml_cli.common.options import spelled as spelled_options
from pymtml_cli.common.text import safe, width
from pymtml_cli.completion import Option
from pymtml_cli.dropin import drop_in, links, run
from pymtml_cli.health import checks, child, containers, doctor, health, lock, report, xid
from pymtml_cli.health.checks import CHECKS, LIMITS, OF_CARD, SEVERITY
from pymtml_cli.health.lock import Lock, default_path
from pymtml_cli.hosts import facts as hostfacts
from pymtml_cli.hosts import gathered, hostlist
from pymtml_cli.hosts.compare import Comparison
from pymtml_cli.hosts.facts import DOCTOR, HEALTH, MACHINE
from pymtml_cli.language import ANSWERED_BY, BY_SPELLING, KINDS, SECTIONS
from pymtml_cli.main import main
from pymtml_cli.metrics import collect as metrics_collector
from pymtml_cli.metrics import series as metrics_series
from pymtml_cli.metrics import serve as metrics_server
from pymtml_cli.metrics import write as metrics
from pymtml_cli.readings import devices
from pymtml_cli.readings import driver_files as driver
from pymtml_cli.readings import processes, topology, users
from pymtml_cli.readings.devices import Machine, Moment, Unknown
from pymtml_cli.readings.processes import compute_processes
from pymtml_cli.readings.table import READINGS, SERIES
from pymtml_cli.smi import cells, modify, scroll, table
from pymtml_cli.smi.lost import Opened
from pymtml_cli.smi.query import FIELDS, QUERIES
from pymtml_cli.subcommands import LISTED, SUBCOMMANDS, Subcommand

BY_NAME = {name: field for field in FIELDS for name in field[0]}
QUESTIONS = {name: CHECKS[name].questions for name in OF_CARD}


def limits(**replaced):
    """The limits of checks (dict): the defaults, with some replaced."""
    return dict(checks.default_limits(), **{name.replace("_", "-"): value for name, value in replaced.items()})


def most_series():
    """How many series of `metrics` a card and a part of it have at most, in order or with errors of queries (dict).

    Processes with owner or name, and what only exists for a fault (OF_NO_JOB), come on top.
    """
    of_readings = {row.series: SERIES[row.series[0]][0] for row in READINGS if row.series}
    whole, parts = metrics_series.CARD_SERIES, [query for query, _ in metrics_series.QUESTIONS_OF_PARTS]
    own = [name for name, (labels, _) in whole.items() if name not in SERIES and not labels] + ["info", "processes"]
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


def file_of(name):
    """The file of the command that has the subcommand, or what answers an option (module)."""
    return importlib.import_module("pymtml_cli." + name)
