"""AGENTS.md's recipes for the command, walked on a copy of its files: what they name is all that is needed."""

import ast
import glob
import json
import os
import shutil
import subprocess
import sys

import pytest
import simulated
import wheels

TABLE, FIELDS, SECTIONS, CHECKS = "readings/table.py", "smi/fields.txt", "smi/sections.txt", "health/checks.py"
ROW = """\
    Reading("temperature.hotspot", asked(pymtml.nvmlDeviceGetTemperature, pymtml.NVML_TEMPERATURE_GPU),
            form="%s C", json="temperature.hotspot_celsius", compare=ZERO, series=("hotspot_celsius", "gpu")),
"""
QUESTION = '''\
def hotspot(card, limits):
    """Whether the hottest spot is cool enough."""
    value = told("hotspot", reading(card, "temperature.hotspot"))
    if value > 40:
        return [Outcome(WARNING, "%d C at the hottest spot" % value, value, 40)]
    return [well(value, 40)]
'''
SUBCOMMAND = """\
from pymtml_cli.subcommands import argument_parser
def parser():
    parser = argument_parser("hello")
    parser.add_argument("--name", metavar="NAME", help="who")
    return parser
def run(arguments):
    print("hello %s" % parser().parse_args(arguments).name)
"""
# Recipe: (file, before which line, what is inserted)
READING = [
    (TABLE, "    # Power\n", ROW),
    (FIELDS, "power.management | ", "temperature.hotspot | Temperature of the hottest spot.\n"),
    (
        SECTIONS,
        "    GPU T.Limit Temp | gpu_temp_tlimit",
        "    GPU Hotspot Temp | gpu_temp_hotspot | temperature.hotspot\n",
    ),
]
SERIES = [
    (
        TABLE,
        '    "power_watts": (',
        '    "hotspot_celsius": ("temperature", as_it_is, ("spot",), "The hottest spot."),\n',
    )
]
CHECK = [
    (CHECKS, "def ecc(card, limits):", QUESTION),
    (
        CHECKS,
        '    Check("ecc",',
        '    Check("hotspot", "WARNING: hot", {hotspot: "it is cool"}, "look at the fans"),\n',
    ),
]


class Copy:
    """A copy of the command, which recipes change."""

    def __init__(self, folder):
        self.folder = str(folder)
        ours = os.path.join(simulated.ROOT, "pymtml_cli")
        shutil.copytree(ours, os.path.join(self.folder, "pymtml_cli"), ignore=wheels.UNCOMPILED)
        shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), self.folder)

    def walk(self, recipe):
        for name, before, text in recipe:
            path = os.path.join(self.folder, "pymtml_cli", name)
            with open(path) as file:
                found = file.read()
            assert found.count(before) == 1, (name, before)
            with open(path, "w") as file:
                file.write(found.replace(before, text + before))

    def run(self, *arguments):
        """What the command of the copy prints (str)."""
        done = subprocess.run(
            [sys.executable, "-m", "pymtml_cli"] + list(arguments),
            cwd=self.folder,
            env=simulated.environment("s80"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        assert not done.stderr, done.stderr
        return done.stdout


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


def test_a_reading_with_a_field_a_series_and_a_check(copy):
    recipe = READING + SERIES + CHECK
    # and a row of docs/metrics.md for the series
    assert len({name for name, _, _ in recipe}) == 4 and sum(max(1, text.count("\n")) for _, _, text in recipe) < 15
    copy.walk(recipe)
    degrees = copy.run("--query-gpu=temperature.gpu", "--format=csv,noheader").strip()
    assert copy.run("--query-gpu=temperature.hotspot", "--format=csv") == "temperature.hotspot\n%s\n" % degrees
    assert '\n\n"temperature.hotspot"\nTemperature of the hottest spot.\n\n' in copy.run("--help-query-gpu")
    shown = copy.run("-q", "-d", "TEMPERATURE").splitlines()
    assert "        GPU Hotspot Temp".ljust(55) + ": %s C" % degrees in shown
    assert "\t\t\t<gpu_temp_hotspot>%s C</gpu_temp_hotspot>\n" % degrees in copy.run("-q", "-x")
    text = copy.run("--json")
    assert json.loads(text)["devices"][0]["temperature"]["hotspot_celsius"] == int(degrees)
    for name, value in (("hot", "0"), ("same", degrees)):
        with open(os.path.join(copy.folder, name + ".json"), "w") as file:
            file.write(text.replace('"hotspot_celsius": ' + degrees, '"hotspot_celsius": ' + value))
    code = "from pymtml_cli.hosts.facts import CARD_KEYS; print(CARD_KEYS['temperature.hotspot_celsius'])"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=copy.folder) == b"zero\n"
    assert "WARNING  hotspot: GPU 0: %s C at the hottest spot\n" % degrees in copy.run("health")
    assert "%s C at the hottest spot\n%19s look at the fans\n" % (degrees, "->") in copy.run("doctor")


def test_a_series(copy):
    pytest.importorskip("prometheus_client")
    copy.walk(READING + SERIES + CHECK)
    page = copy.run("metrics", "--lock", os.path.join(copy.folder, "lock"))
    assert "# HELP mthreads_gpu_hotspot_celsius The hottest spot.\n# TYPE mthreads_gpu_hotspot_celsius gauge\n" in page
    assert '\nmthreads_gpu_hotspot_celsius{gpu="0",spot="gpu",uuid=' in page
    assert '\nmthreads_health_status{check="hotspot"} 1.0\n' in page


def test_a_subcommand(copy):
    with open(os.path.join(copy.folder, "pymtml_cli", "smi", "hello.py"), "w") as file:
        file.write(SUBCOMMAND)
    copy.walk([("subcommands.py", '    "health": Subcommand(', '    "hello": Subcommand("smi.hello", "say hello"),\n')])
    assert copy.run("hello", "--name", "you") == "hello you\n"
    assert "\n  hello            say hello\n" in copy.run("--help")
    assert "--name NAME  who\n" in copy.run("hello", "--help")
    assert '"hello --name")' in copy.run("completion", "bash")


# Room: those that its files may know beside their own, "" for the files at the top
ROOMS = {
    "common": set(),
    "readings": {"common"},
    "smi": {"common", "readings", ""},
    "health": {"common", "readings", ""},
    "hosts": {"common", "readings", ""},
    "metrics": {"common", "readings", "health", ""},
    "dropin": {"common", ""},
    "": {"common", "smi"},
}


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_what_a_room_knows(room):
    files = glob.glob(os.path.join(simulated.ROOT, "pymtml_cli", room, "*.py"))
    imported = [
        node.module.split(".") + [node.names[0].name]
        for path in files
        for node in ast.walk(ast.parse(open(path).read()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pymtml_cli")
    ]
    assert {parts[1] if parts[1] in ROOMS else "" for parts in imported} <= ROOMS[room] | {room}
