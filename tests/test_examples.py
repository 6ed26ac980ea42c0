"""The examples, run as a newcomer runs them: on every simulated machine, and where there is no GPU to show."""

import os
import subprocess
import sys

import pytest
import simulated

EXAMPLES = {"quick_start.py": [], "nvml_monitor.py": ["1"], "topology.py": []}
NO_GPU = ("empty", "no-driver")


def run(example, profile, **variables):
    """An example's process on a machine, after it ended (CompletedProcess)."""
    return subprocess.run(
        [sys.executable, os.path.join(simulated.ROOT, "examples", example)] + EXAMPLES[example],
        env=simulated.environment(profile, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )


def test_every_example_is_run():
    programs = [name for name in os.listdir(os.path.join(simulated.ROOT, "examples")) if name.endswith(".py")]
    assert sorted(programs) == sorted(EXAMPLES)


@pytest.mark.parametrize("profile", [name for name in simulated.ALL_PROFILES if name not in NO_GPU])
@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_example_shows_every_gpu(example, profile):
    with simulated.nvml(profile) as nvml:
        if example == "nvml_monitor.py":  # whole cards; the others show every device of MTML
            handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
        else:
            handles = [nvml.mtmlLibraryInitDeviceByIndex(index) for index in range(nvml.mtmlLibraryCountDevice())]
        names = [nvml.mtmlDeviceGetName(handle) for handle in handles]
    done = run(example, profile)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.split("\n")
    if example == "quick_start.py":
        assert lines[::5] == ["GPU %d: %s" % named for named in enumerate(names)] + [""]
    elif example == "nvml_monitor.py":
        assert [line.split()[:2] for line in lines if line] == [
            [str(i), name.split()[0]] for i, name in enumerate(names)
        ]
    else:
        assert [line.split()[0] for line in lines[1:-1]] == lines[0].split() == ["GPU%d" % i for i in range(len(names))]


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_example_says_that_there_is_no_gpu(example):
    done = run(example, "empty")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "no GPU", "")


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_example_says_that_there_is_no_driver(example):
    done = run(example, "no-driver")
    assert (done.returncode, done.stdout) == (1, "")
    assert "driver not loaded" in done.stderr.lower() and done.stderr.count("\n") == 1


SHOWN = {
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
}


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_example_shows_the_numbers(example):
    """Those of tests/distinct.ini, in which no two are the same."""
    shown = [line.rstrip() for line in run(example, simulated.DISTINCT).stdout.splitlines()]
    assert [line for line in shown if line] == SHOWN[example].splitlines()


LEVELS = {"INTERNAL": "board", "SINGLE": "PIX", "MULTIPLE": "PXB", "HOSTBRIDGE": "PHB", "NODE": "NODE", "SYSTEM": "SYS"}


@pytest.mark.parametrize("level", sorted(LEVELS))
def test_example_shows_the_level_of_the_path(level):
    done = run("topology.py", "s3000x2", set="0.topology.1=%s;1.topology.0=%s" % (level, level))
    assert [line.split() for line in done.stdout.splitlines()[1:]] == [
        ["GPU0", "X", LEVELS[level]],
        ["GPU1", LEVELS[level], "X"],
    ]
