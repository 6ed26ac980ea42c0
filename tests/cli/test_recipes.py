"""AGENTS.md's recipes for the command, walked on a copy of its files: what they name is all that is needed."""

import ast
import glob
import importlib.util
import json
import os
import shutil
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
    value = known("hotspot", reading(card, "temperature.hotspot"))
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


SAID = [("subcommands.py", '    "health": Subcommand(', '    "hello": Subcommand("smi.hello", "say hello"),\n')]
# Runs the command of the copy with each of some arguments, in one process, and prints what each prints
RUN = """
import contextlib, io, json, sys
from pymtml_cli.main import main
texts = []
for arguments in json.loads(sys.argv[1]):
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):  # which argparse raises
        main(arguments)
    out.flush()
    texts.append(out.buffer.getvalue().decode("utf-8"))
from pymtml_cli.hosts.facts import CARD_KEYS
print(json.dumps([texts, CARD_KEYS["temperature.hotspot_celsius"]]))
"""


def test_the_recipes(tmp_path):
    """A reading with a field, a series and a check, and a subcommand."""
    recipe = READING + SERIES + CHECK
    # and a row of docs/metrics.md for the series
    assert len({name for name, _, _ in recipe}) == 4 and sum(max(1, text.count("\n")) for _, _, text in recipe) < 15
    package = tmp_path / "pymtml_cli"
    shutil.copytree(os.path.join(simulated.ROOT, "pymtml_cli"), str(package), ignore=wheels.UNCOMPILED)
    shutil.copy(os.path.join(simulated.ROOT, "pymtml.py"), str(tmp_path))
    (package / "smi" / "hello.py").write_text(SUBCOMMAND)
    for name, before, text in recipe + SAID:
        found = (package / name).read_text(encoding="utf-8")
        assert found.count(before) == 1, (name, before)
        (package / name).write_text(found.replace(before, text + before), encoding="utf-8")
    lines = [
        "--query-gpu=temperature.gpu --format=csv,noheader",
        "--query-gpu=temperature.hotspot --format=csv",
        "--help-query-gpu",
        "-q -d TEMPERATURE",
        "-q -x",
        "--json",
        "health",
        "doctor",
        "hello --name you",
        "hello --help",
        "--help",
        "completion bash",
    ]
    with_metrics = importlib.util.find_spec("prometheus_client") is not None
    lines += ["metrics --lock %s" % (tmp_path / "lock")] * with_metrics
    done = simulated.run(
        [sys.executable, "-c", RUN, json.dumps([line.split() for line in lines])],
        cwd=str(tmp_path),
        env=dict(simulated.environment("s80"), PYMTML_COMMAND_NAME="pymtml"),
    )
    assert not done.stderr, done.stderr
    texts, compared = json.loads(done.stdout)
    degrees, csv, fields, log, document, report, health, doctor, hello, hello_help, usage, bash, *page = texts
    degrees = degrees.strip()
    assert csv == "temperature.hotspot\n%s\n" % degrees and compared == "zero"
    assert '\n\n"temperature.hotspot"\nTemperature of the hottest spot.\n\n' in fields
    assert "        GPU Hotspot Temp".ljust(55) + ": %s C" % degrees in log.splitlines()
    assert "\t\t\t<gpu_temp_hotspot>%s C</gpu_temp_hotspot>\n" % degrees in document
    assert json.loads(report)["devices"][0]["temperature"]["hotspot_celsius"] == int(degrees)
    assert "WARNING  hotspot: GPU 0: %s C at the hottest spot\n" % degrees in health
    assert "%s C at the hottest spot\n%19s look at the fans\n" % (degrees, "->") in doctor
    assert hello == "hello you\n" and "--name NAME  who\n" in hello_help
    assert "\n  hello            say hello\n" in usage and '"hello --name")' in bash
    for text in page:
        help = "# HELP mthreads_gpu_hotspot_celsius The hottest spot.\n# TYPE mthreads_gpu_hotspot_celsius gauge\n"
        assert help in text and '\nmthreads_gpu_hotspot_celsius{gpu="0",spot="gpu",uuid=' in text
        assert '\nmthreads_health_status{check="hotspot"} 1.0\n' in text


# Room: those that its files may know beside their own, "" for the files at the top
ROOMS = {
    "common": set(),
    "readings": {"common"},
    "smi": {"common", "readings", ""},
    "health": {"common", "readings", ""},
    "hosts": {"common", "readings", "health", ""},
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
