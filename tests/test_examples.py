"""The examples, run as a newcomer runs them: what they show is what the machine has, and they say what it lacks."""

import ast
import importlib.util
import json
import os
import re
import runpy
import subprocess
import sys
import unittest.mock

import pytest
import simulated

FOLDER = os.path.join(simulated.ROOT, "examples")
# Arguments with which an example ends by itself
ENDS = dict.fromkeys(("async_polling.py", "live_view.py", "nvml_monitor.py", "training_energy.py"), ["1"])
ENDS["memory_watcher.py"] = ["90", "1"]
EXAMPLES = {name: ENDS.get(name, []) for name in sorted(os.listdir(FOLDER)) if name.endswith(".py")}
LISTS = ("nvml_monitor.py", "quick_start.py", "topology.py")  # they show every GPU


def run(example, profile, arguments=None, **variables):
    """An example's process on a machine, after it ended (CompletedProcess)."""
    if example == "live_view.py":
        pytest.importorskip("rich")
    extra = variables.pop("extra", {})
    return simulated.run(
        [sys.executable, os.path.join(FOLDER, example)] + (EXAMPLES[example] if arguments is None else arguments),
        env=dict(simulated.environment(profile, **variables), COLUMNS="100", **extra),
        encoding="utf-8",
    )


# In one process, of which each example is a child.
TOGETHER = """
import json, os, runpy, sys
folder, examples = sys.argv[1], json.loads(sys.argv[2])
for path, arguments in examples.items():
    child = os.fork()
    if not child:
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(os.path.join(folder, os.path.basename(path) + name), os.O_CREAT | os.O_WRONLY), number)
        sys.argv, sys.path[0] = [path] + arguments, os.path.dirname(path)
        runpy.run_path(path, run_name="__main__")
        break
    print(os.WEXITSTATUS(os.waitpid(child, 0)[1]), flush=True)  # the next child has no copy of it
"""


def run_together(examples, profile, folder, **extra):
    """{example: (exit status, stdout, stderr)} of several examples on a machine."""
    rich = importlib.util.find_spec("rich")
    examples = [example for example in sorted(examples) if rich or example != "live_view.py"]
    told = json.dumps({os.path.join(FOLDER, example): EXAMPLES[example] for example in examples})
    done = subprocess.run(
        [sys.executable, "-c", TOGETHER, str(folder), told],
        env=dict(simulated.environment(profile), COLUMNS="100", **extra),
        stdout=subprocess.PIPE,
        check=True,
    )
    said = [[(folder / (example + name)).read_text("utf-8") for name in ("out", "err")] for example in examples]
    return {example: (int(status), *texts) for example, status, texts in zip(examples, done.stdout.split(), said)}


def inside(example, profile, capsys, **options):
    """What an example prints that is run in this process (list of lines)."""
    with simulated.machine(profile, **options), unittest.mock.patch("sys.argv", [example] + EXAMPLES[example]):
        sys.path.insert(0, FOLDER)
        runpy.run_path(os.path.join(FOLDER, example), run_name="__main__")
    return capsys.readouterr().out.splitlines()


def load(example):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(example[:-3], os.path.join(FOLDER, example))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_readme_lists_every_example():
    assert set(ENDS) < set(EXAMPLES)
    with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
        assert sorted(re.findall(r"(?m)^\| \[(\w+\.py)\]", file.read())) == sorted(EXAMPLES)


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_example_is_short_and_says_how_to_run_it(example):
    with open(os.path.join(FOLDER, example), encoding="utf-8") as file:
        source = file.read()
    assert source.count("\n") <= 70
    assert example in LISTS or "python examples/" + example in ast.get_docstring(ast.parse(source))


# Machines whose lists of GPUs differ in kind.
KINDS = "s80 s2000 s3000-mpc s3000-vgpu-host s3000-vgpu-guest s4000x8 s5000x8-container x10000x8 old-library".split()


@pytest.mark.parametrize("profile", KINDS)
def test_examples_show_every_gpu(profile, tmp_path):
    with simulated.nvml(profile) as nvml:  # whole cards; all but the monitor show every device of MTML
        cards = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
        devices = [nvml.mtmlLibraryInitDeviceByIndex(index) for index in range(nvml.mtmlLibraryCountDevice())]
        cards, names = [[nvml.mtmlDeviceGetName(handle) for handle in handles] for handles in (cards, devices)]
    done = run_together(LISTS, profile, tmp_path)
    assert [(status, errors) for status, _, errors in done.values()] == [(0, "")] * 3
    lines = {example: text.split("\n") for example, (_, text, _) in done.items()}
    assert lines["quick_start.py"][::5] == ["GPU %d: %s" % named for named in enumerate(names)] + [""]
    shown = [line.split()[:2] for line in lines["nvml_monitor.py"] if line]
    assert shown == [[str(i), name.split()[0]] for i, name in enumerate(cards)]
    assert ("  ? C     ? W\n" in done["nvml_monitor.py"][1]) == (profile == "s3000-vgpu-guest")
    heads = ["GPU%d" % i for i in range(len(names))]
    assert [line.split()[0] for line in lines["topology.py"][1:-1]] == lines["topology.py"][0].split() == heads


# Machines that lack something: what the examples that need it say, and end with 1; the others go on.
SAID = {
    ("s3000-vgpu-guest", "mpc_partition.py"): "Not Supported",
    ("s3000-vgpu-guest", "training_energy.py"): "the card does not report its power: Not Supported",
    ("old-library", "mpc_partition.py"): "Not Supported",
}


@pytest.mark.parametrize("profile", ["s3000-vgpu-guest", "s3000-mpc", "old-library"])
def test_examples_go_on_where_a_machine_lacks_something(profile, tmp_path):
    for example, (status, text, errors) in run_together(set(EXAMPLES) - set(LISTS), profile, tmp_path).items():
        assert "Traceback" not in errors
        if (profile, example) in SAID:
            assert status == 1 and errors.endswith(": %s\n" % SAID[profile, example])
        else:
            assert (status, errors) == (0, "") and (text or example == "memory_watcher.py"), example


def test_examples_say_that_there_is_no_gpu(tmp_path):
    for example, done in run_together(EXAMPLES, "empty", tmp_path).items():
        if example == "idlest_card.py":  # a command was not run
            assert done == (1, "", "no GPU to choose\n")
        else:
            assert (done[0], done[1].strip(), done[2]) == (0, "no GPU", ""), example


@pytest.mark.parametrize("profile, library", [("no-driver", None), ("s80", "/nowhere/libmtml.so.2")])
def test_examples_say_that_there_is_no_driver_or_library(profile, library, tmp_path):
    extra = {"PYMTML_LIBRARY": library} if library else {}
    for example, (status, text, errors) in run_together(EXAMPLES, profile, tmp_path, **extra).items():
        assert (status, text) == (1, "") and "Traceback" not in errors, example
        assert (library or "driver not loaded") in errors.lower() and errors.count("\n") == 1, example


SHOWN = {
    "async_polling.py": """\
GPU 0: 61 % busy, 3072 MiB used
GPU 1: 71 % busy, 6144 MiB used
""",
    "ecc_report.py": """\
GPU 0
  MTT S5000
  ECC is on, off after the next reboot
  corrected errors: 101 since the driver was loaded, 203 in the card's lifetime
  uncorrected errors: 305 since the driver was loaded, 407 in the card's lifetime
  pages retired for single-bit errors: 0x12000 0x34000
  pages retired for a double-bit error: 0x56000 0x78000 0x9a000
  more pages are retired at the next reboot
GPU 1
  X10000
  ECC is on, off after the next reboot
  corrected errors: 509 since the driver was loaded, 611 in the card's lifetime
  uncorrected errors: 713 since the driver was loaded, 815 in the card's lifetime
  pages retired for single-bit errors: 0xbc000
  pages retired for a double-bit error: 0xde000 0xef000
  more pages are retired at the next reboot
""",
    "idlest_card.py": "MUSA_VISIBLE_DEVICES=0\n",
    "live_view.py": """\
┏━━━━━┳━━━━━━━━━━━┳━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┳━━━━━━━━━┓
┃ GPU ┃ name      ┃ busy % ┃ memory MiB ┃ temperature C ┃ power W ┃
┡━━━━━╇━━━━━━━━━━━╇━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━╇━━━━━━━━━┩
│ 0   │ MTT S5000 │ 61     │ 3072       │ 51            │ 123     │
│ 1   │ X10000    │ 71     │ 6144       │ 52            │ 134     │
└─────┴───────────┴────────┴────────────┴───────────────┴─────────┘
""",
    "quick_start.py": """\
GPU 0: MTT S5000
  UUID:        10000000-0000-0000-0000-00000000000a
  Memory:      3072 / 16384 MiB
  Utilization: 61 %
  Temperature: 51 C
GPU 1: X10000
  UUID:        20000000-0000-0000-0000-00000000000b
  Memory:      6144 / 24576 MiB
  Utilization: 71 %
  Temperature: 52 C
""",
    "nvml_monitor.py": """\
0  MTT S5000     61 %    3072 /  16384 MiB   51 C   123 W
1  X10000        71 %    6144 /  24576 MiB   52 C   134 W
""",
    "topology.py": """\
      GPU0   GPU1
GPU0  X      MT2
GPU1  MT2    X
""",
    "topology_graph.py": """\
graph gpus {
  node [shape=box];
  subgraph "cluster 0" {
    label="NUMA node 0";
    gpu0 [label="GPU 0\\nMTT S5000"];
  }
  subgraph "cluster 1" {
    label="NUMA node 1";
    gpu1 [label="GPU 1\\nX10000"];
  }
  gpu0 -- gpu1 [label="MT2", style=bold];
}
""",
}


def test_examples_show_the_numbers(tmp_path):
    """Those of tests/distinct.ini, in which no two are the same."""
    for example, (_, text, _) in run_together(SHOWN, simulated.DISTINCT, tmp_path).items():
        assert [line.rstrip() for line in text.splitlines() if line.strip()] == SHOWN[example].splitlines()


LEVELS = {"INTERNAL": "board", "SINGLE": "PIX", "MULTIPLE": "PXB", "HOSTBRIDGE": "PHB", "NODE": "NODE", "SYSTEM": "SYS"}


def test_example_shows_the_level_of_the_path(capsys):
    for level, word in LEVELS.items():
        setting = "0.topology.1=%s;1.topology.0=%s" % (level, level)
        lines = inside("topology.py", "s3000x2", capsys, set=setting)
        assert [line.split() for line in lines[1:]] == [["GPU0", "X", word], ["GPU1", word, "X"]]


@pytest.mark.parametrize("down", ["0.mtlink_state.1=DOWN", "1.mtlink_state.1=DOWN"])
def test_link_that_is_down_at_either_end_is_none(down, capsys):
    lines = inside("topology.py", simulated.DISTINCT, capsys, set=down)
    assert [line.split() for line in lines[1:]] == [["GPU0", "X", "MT1"], ["GPU1", "MT1", "X"]]


def test_graph_of_two_groups(capsys):
    """Each pair of cards is a line: two MtLinks within a group of four, the way between the NUMA nodes else."""
    graph = "\n".join(inside("topology_graph.py", "s4000x8", capsys))
    lines = re.findall(r'gpu(\d) -- gpu(\d) \[label="(\w+)"', graph)
    assert len(lines) == 28
    assert all(label == ("MT2" if int(one) // 4 == int(other) // 4 else "SYS") for one, other, label in lines)
    assert re.findall(r'label="NUMA node (\d)"', graph) == ["0", "1"]


# ---- The idlest card ----

TELL = [sys.executable, "-c", "import os; print(os.environ['MUSA_VISIBLE_DEVICES'])"]


@pytest.mark.parametrize(
    "setting, visible, chosen",
    [
        ("0.memory_used=3221225472", None, "0"),
        ("0.memory_used=6443499520", None, "1"),
        ("0.memory_used=6442450944;0.gpu_utilization=72", None, "1"),  # the same memory: the one that computes less
        ("0.memory_used=6442450944;0.gpu_utilization=70", None, "0"),
        ("0.memory_used=3221225472", "1", "1"),  # the choice was limited
    ],
)
def test_command_finds_the_idlest_card(setting, visible, chosen):
    extra = {"MUSA_VISIBLE_DEVICES": visible} if visible else {}
    done = run("idlest_card.py", simulated.DISTINCT, TELL, set=setting, extra=extra)
    assert (done.returncode, done.stdout, done.stderr) == (0, chosen + "\n", "")


def test_card_without_an_answer_is_not_idle():
    faults = "0.mtmlMemoryGetUsed=DRIVER_FAILURE"
    done = run("idlest_card.py", simulated.DISTINCT, TELL, faults=faults)
    assert (done.returncode, done.stdout) == (0, "1\n") and done.stderr.startswith("GPU 0 is left out: ")
    done = run("idlest_card.py", simulated.DISTINCT, TELL, faults="mtmlMemoryGetUsed=DRIVER_FAILURE")
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.endswith("no GPU to choose\n")


def test_dead_card_is_not_idle():
    zeros = ";".join("0.%s=0" % key for key in ("gpu_temperature", "power_usage", "gpu_clock", "memory_used"))
    done = run("idlest_card.py", simulated.DISTINCT, TELL, set=zeros)
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert done.stderr == "GPU 0 is left out: it reports 0 C, 0 W and 0 MHz\n"


def test_status_of_the_command_is_passed_on():
    assert run("idlest_card.py", "s80", [sys.executable, "-c", "raise SystemExit(7)"]).returncode == 7
    done = run("idlest_card.py", "s80", ["/nowhere/program"])
    assert done.returncode == 1 and "/nowhere/program" in done.stderr and "Traceback" not in done.stderr


def test_the_library_is_left_before_the_command_runs(tmp_path):
    trace = tmp_path / "trace"
    run("idlest_card.py", "s80", TELL, trace=str(trace))
    assert trace.read_text().splitlines()[-1] == "mtmlLibraryShutDown"


# ---- Those that look again ----


@pytest.fixture
def ticks(monkeypatch):
    """The seconds of each pause, which do not pass; the fifth ends by Ctrl-C."""

    def sleep(seconds):
        found.append(seconds)
        if len(found) == 5:
            raise KeyboardInterrupt

    found = []
    monkeypatch.setattr("time.sleep", sleep)
    return found


@pytest.mark.parametrize("words, pauses", [("live_view.py", 5), ("live_view.py 3", 2), ("nvml_monitor.py", 2)])
def test_a_second_from_one_look_to_the_next(words, pauses, ticks, monkeypatch):
    example, *_ = words.split()
    if example == "live_view.py":
        pytest.importorskip("rich")
    monkeypatch.setattr("sys.argv", words.split())
    with simulated.machine(simulated.DISTINCT):
        runpy.run_path(os.path.join(FOLDER, example), run_name="__main__")
    assert ticks == [1] * pauses


# ---- The memory watcher ----


def test_watcher_without_arguments(ticks, monkeypatch, capsys):
    """90 percent, until Ctrl-C."""
    monkeypatch.setattr("sys.argv", ["memory_watcher.py"])
    setting = "*.memory_total=1048576000;0.memory_used=943718400;1.memory_used=943718399"
    with simulated.machine(simulated.DISTINCT, set=setting):
        runpy.run_path(os.path.join(FOLDER, "memory_watcher.py"), run_name="__main__")
    assert capsys.readouterr().out[9:] == "GPU 0 full, 900 of 1000 MiB (90 %)\n"
    assert ticks == [1] * 5


def test_watcher_tells_of_changes(monkeypatch, capsys):
    watcher = load("memory_watcher.py")
    steps = [
        lambda: simulated.set_value(0, "memory_used", 17179869184),
        lambda: simulated.set_value(0, "memory_used", 16 * 2**20),
        lambda: simulated.set_faults("1.mtmlMemoryGetUsed=TIMEOUT"),
        lambda: None,
    ]
    monkeypatch.setattr(watcher.time, "sleep", lambda seconds: steps.pop(0)())
    monkeypatch.setattr(watcher.time, "strftime", lambda form: "12:00:00")
    with simulated.machine(simulated.DISTINCT):
        watcher.main(25, 5)
    assert capsys.readouterr().out.splitlines() == [
        "12:00:00 GPU 1 full, 6144 of 24576 MiB (25 %)",
        "12:00:00 GPU 0 full, 16384 of 16384 MiB (100 %)",
        "12:00:00 GPU 0 has room, 16 of 16384 MiB (0 %)",
        "12:00:00 GPU 1 does not answer: Timeout",
    ]
    assert steps == []


def test_watcher_takes_more_than_there_is(capsys):
    (line,) = inside("memory_watcher.py", "used-above-total", capsys)
    assert line.endswith(" GPU 0 full, 44302 of 32768 MiB (135 %)")


# ---- MPC ----


def test_mpc_partition():
    """Two halves of an MTT S80, then what it does not offer, then none."""
    lines = run("mpc_partition.py", "s80", ["0", "8-44"]).stdout.splitlines()
    assert lines[0] == "GPU 0 is divided as 8-44"
    assert len(lines) == 3 and len(set(lines)) == 3
    assert all(
        re.match(r"  4c\+8gb +4 cores, 8192 MiB, MUSA_VISIBLE_DEVICES=[0-9a-f-]{36}$", line) for line in lines[1:]
    )
    done = run("mpc_partition.py", "s80", ["0", "8-53"])
    offered = "8-8, 8-44, 8-422, 8-2222, 8-11111111"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "GPU 0 does not offer 8-53, but %s\n" % offered)
    assert run("mpc_partition.py", "s3000-mpc", ["0", "off"]).stdout == "GPU 0 is not divided\n"


def test_mpc_is_as_before_where_a_configuration_is_not_offered():
    partition = load("mpc_partition.py")
    with simulated.nvml("s80") as nvml:
        pytest.raises(SystemExit, partition.divide, 0, "8-53")
        assert nvml.nvmlDeviceGetMigMode(nvml.nvmlDeviceGetHandleByIndex(0)) == [0, 0]


# ---- Energy ----


def test_energy_is_power_times_time():
    """Of a card that draws 123 W all the time, in a step of at least 0.3 s."""
    (line,) = run("training_energy.py", simulated.DISTINCT).stdout.splitlines()
    joules, seconds, watts = map(float, re.match(r"step 0: ([\d.]+) J in ([\d.]+) s, (\d+) W$", line).groups())
    assert 0.3 * 123 - 0.06 <= joules <= (seconds + 0.005) * 123 + 0.06
    assert watts == pytest.approx(joules / seconds, abs=3)


# ---- Errors of one card ----


def test_live_view_names_what_fails():
    done = run("live_view.py", simulated.DISTINCT, faults="0.mtmlGpuGetTemperature=TIMEOUT")
    rows = [line.strip("│").split("│") for line in done.stdout.splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in row] for row in rows]
    assert cells == [["0", "MTT S5000", "61", "3072", "Timeout", "123"], ["1", "X10000", "71", "6144", "52", "134"]]


@pytest.mark.parametrize("example", ["async_polling.py", "ecc_report.py", "live_view.py", "memory_watcher.py"])
def test_lost_card_hides_no_other(example):
    """One that not even a handle can be had of."""
    arguments = ["20", "1"] if example == "memory_watcher.py" else None
    done = run(example, simulated.DISTINCT, arguments, set="0.lost=DRIVER_FAILURE")
    whole = run(example, simulated.DISTINCT, arguments)
    assert (done.returncode, done.stderr) == (0, "") and "Unknown Error" in done.stdout
    rows = [re.sub(r"\s|^[\d:]{8}", "", line) for line in whole.stdout.splitlines()]
    second = {row for row in rows if re.search("X10000|GPU1|509|815", row)}
    assert second and second <= {re.sub(r"\s|^[\d:]{8}", "", line) for line in done.stdout.splitlines()}


HANG = """
import asyncio, threading, async_polling
ask, async_polling.PATIENCE = async_polling.ask, 1
async_polling.ask = lambda index: ask(index) if index else threading.Event().wait()
asyncio.run(async_polling.main(1))
"""


def test_card_that_hangs_holds_up_nobody():
    done = simulated.run_python(
        HANG, name=simulated.DISTINCT, extra_environment={"PYTHONPATH": simulated.ROOT + os.pathsep + FOLDER}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["GPU 0: no answer yet", "GPU 1: 71 % busy, 6144 MiB used"]
