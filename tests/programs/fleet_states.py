"""The states that hosts of a fleet get into: their series as promtool's virtual clock plays them, and the alerts."""

import collections
import itertools
import json
import os
import re
import subprocess

import yaml
from machines import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
FLEET = os.path.join(ROOT, "examples", "fleet")
STEP = 15  # seconds between scrapes
MINUTE, HOUR = 4, 240  # scrapes
SOUND = 20  # scrapes before a state begins
AFTER = 80  # and after it ended

# A host in a state: ``series`` {selector: [value before and after, value meanwhile]}, ``alerts`` {name: how many},
# ``page``: what the one page says, or None where no alert is to reach anybody; ``target``: labels of the target.
State = collections.namedtuple("State", "host alerts page series target")

ABSENT = "none"
CLOCK = "0+15"  # a clock that goes on
# What a sound host with two cards has
BASE = {"up": 1, "collected": "0+15 -> 300+15", "driver": 1}
BASE.update({"GPU %d %s" % (gpu, series): 1 for gpu in range(2) for series in ("up", "identity")})
NAMES = {"collected": "mthreads_collect_timestamp_seconds", "driver": "mthreads_driver_up"}
IDENTITY = 'pci_bus_id="00000000:%s0:00.0",name="MTT S5000",serial="SN%s"'
# Many hosts of a job with the same trouble at the same time: {state: hosts}
MANY = {name: tuple("%s%d" % (name, number) for number in range(6)) for name in ("hung", "hot")}


def selectors(key):
    """What promtool calls a series of fleet_states.yml; several where a label has several values."""
    card, gpu, text = re.match(r"(?:(GPU|unidentified) (\d) )?(.*)", key).groups()
    name, _, text = text.partition(" ")
    labels = re.findall(r"(\w+)=(\S+)", text)
    if card:
        labels[:0] = [("gpu", gpu)] + [("uuid", "u" + gpu)] * (card == "GPU")
    known = [IDENTITY % (gpu, gpu)] if name == "identity" else []
    name = ("mthreads_gpu_" + name).replace("identity", "info") if card else NAMES.get(name, name)
    for values in itertools.product(*(value.split("|") for _, value in labels)):
        pairs = ['%s="%s"' % (label, value) for (label, _), value in zip(labels, values)]
        yield "%s{%s}" % (name, ",".join(pairs + known))


def states():
    """All of fleet_states.yml, and MANY hosts (list)."""
    with open(os.path.join(HERE, "fleet_states.yml"), encoding="utf-8") as file:
        document = {host: state for host, state in yaml.safe_load(file).items() if not host.startswith(".")}
    for state, host in ((state, host) for state, hosts in MANY.items() for host in hosts):
        document[host] = dict(document[state], page=None, target={"job": "mthreads-many", "gpus": "2"})
    found = []
    for host, state in document.items():
        own = {key: value for key, value in state.items() if key not in State._fields}
        series = {}
        for key, value in dict(BASE, **own).items():
            before, _, meanwhile = str(value).partition(" -> ")
            series.update(dict.fromkeys(selectors(key), (before, meanwhile or before)))
        target = state.get("target") or {"job": "mthreads-" + host, "gpus": "2"}
        found.append(State(host, state.get("alerts", {}), state.get("page"), series, target))
    return found


STATES = states()


# ---- promtool ----


def values(before, meanwhile, steps):
    """A series as promtool writes it, for so many scrapes of the state."""
    parts = []
    for value, count in ((before, SOUND), (meanwhile, steps), (before, AFTER)):
        if value == ABSENT:
            parts.append("stale _x%d" % (count - 1))
        elif value == "_":
            parts.append("_x%d" % count)
        elif "x" in value:  # of the whole time
            parts.append(value)
        elif " " in value:
            parts.append(" ".join([value] * (count // len(value.split()))))
        elif value == CLOCK and parts:  # the clock goes on from where it would be
            parts.append("%d+%dx%d" % (STEP * (SOUND + steps), STEP, count - 1))
        else:
            parts.append("%sx%d" % (value, count - 1))
    return " ".join(parts)


def input_series(steps, states):
    """All series of hosts in these states, as promtool reads them (list)."""
    found = []
    for state in states:
        labels = ",".join('%s="%s"' % pair for pair in sorted(dict(state.target, instance=state.host).items()))
        for selector, pair in state.series.items():
            if pair != (ABSENT, ABSENT):
                name, _, own = selector.rstrip("}").partition("{")
                text = "%s{%s}" % (name, ",".join(filter(None, (labels, own))))
                found.append({"series": text, "values": values(*pair, steps)})
    return found


def promtool(folder, steps, evaluated, tests, states=None, rules="rules.yml"):
    """Let promtool play the states for so many scrapes, with these tests (CompletedProcess)."""
    group = dict(
        {"name": "states", "interval": "%ds" % STEP, "input_series": input_series(steps, states or STATES)}, **tests
    )
    document = {"rule_files": [os.path.join(FLEET, rules)], "evaluation_interval": evaluated, "tests": [group]}
    # Each looks at those before.
    document["group_eval_order"] = [
        "mthreads-gpus",
        "mthreads-gpu-power-memory",
        "mthreads-gpu-errors",
        "mthreads-hosts",
    ]
    path = os.path.join(str(folder), "states.yml")
    with open(path, "w") as file:
        json.dump(document, file)  # which is YAML as well
    command = ["promtool", "test", "rules", path]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


def fired(folder, steps, seconds):
    """The alerts that fire at a moment: [(labels, annotations)]. promtool prints those that it does not expect."""
    with open(os.path.join(FLEET, "rules.yml"), encoding="utf-8") as file:
        names = re.findall(r"- alert: (\w+)", file.read())
    tests = [{"eval_time": "%ds" % seconds, "alertname": name, "exp_alerts": []} for name in names]
    said = promtool(folder, steps, "%ds" % (2 * STEP), {"alert_rule_test": tests}).stdout
    found = []
    for labels, annotations in re.findall(r"Labels:\{(.*)\}\s+Annotations:\{(.*)\}", said):
        pairs = [re.findall(r'(\w+)=("(?:[^"\\]|\\.)*")', text) for text in (labels, annotations)]
        found.append(tuple({name: json.loads(value) for name, value in one} for one in pairs))
    assert found, said
    return found
