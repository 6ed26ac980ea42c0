"""The benchmarks are whole: each program starts and explains itself, and runs a round over the C libraries that answer.

Nothing is timed here; `make bench` does.
"""

import importlib
import os
import re
import sys

import pytest
import simulated

FOLDER = os.path.join(simulated.ROOT, "benchmarks")
PROGRAMS = sorted(name for name in os.listdir(FOLDER) if name.startswith("bench_"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_starts(name):
    """It imports what it needs, and its options are those that the README names."""
    done = simulated.run([sys.executable, os.path.join(FOLDER, name), "--help"])
    assert (done.returncode, done.stderr) == (0, "")
    assert all(option in done.stdout for option in ("--rounds", "--json", "--bindings"))


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "bench_programs.py"])
def test_runs(name):
    """One round of each: it ends well and prints a table. What it measures here says nothing.

    bench_programs.py needs minutes for one round: see the next test.
    """
    done = simulated.run(
        [sys.executable, os.path.join(FOLDER, name), "--rounds", "1"], env=dict(os.environ, BENCH_PROCESSES="70")
    )
    assert done.returncode == 0, done.stderr
    assert any(line.startswith("|") and "---" in line for line in done.stdout.splitlines()), done.stdout
    with open(os.path.join(FOLDER, "results.md"), encoding="utf-8") as file:
        recorded = file.read()
    assert set(budgets(done.stdout)) <= set(budgets(recorded))
    # Calls are counted, and the same on every machine.
    assert {verdict for (what, _), verdict in budgets(done.stdout).items() if "calls" in what} <= {"PASS"}


def budgets(text):
    """The rows of budgets in tables: {(what, its limit): whether it was kept}."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return {(row[0], row[2]): row[3] for row in rows if len(row) == 5 and row[3] in ("PASS", "FAIL")}


def test_machine_of_the_programs(tmp_path):
    """What bench_programs.py tells simulator and stand-in for NVML, in a process of its own as there."""
    code = "import sys; sys.path.insert(0, %r); import bench_programs; print(*bench_programs.machine_files(%r))"
    done = simulated.run([sys.executable, "-c", code % (FOLDER, str(tmp_path))])
    assert (done.returncode, done.stderr) == (0, "")
    profile, standin = done.stdout.split()
    with open(profile, encoding="utf-8") as one, open(standin, encoding="utf-8") as other:
        simulator, nvml = one.read(), other.read()
    assert len(re.findall(r"(?m)^\[device\.\d\]", simulator)) == 8 and "name = MTT S5000" in simulator
    assert nvml.count("[gpu]") == 8 and nvml.count("name = MTT S5000") == 8


def test_a_section_of_the_results(monkeypatch):
    """Against which versions, and how much of their time pymtml takes."""
    monkeypatch.syspath_prepend(FOLDER)
    common, run = importlib.import_module("common"), importlib.import_module("run")
    kept = [common.budget("half", common.ratio([1, 2], [2, 4])["median"], limit) for limit in (0.5, 0.49)]
    document = dict(benchmark="refusals", machine=common.machine(None), versions=dict(nvidia="13.1", mthreads="2.4"))
    text = run.section([dict(document, budgets=kept)])
    assert "Against nvidia-ml-py 13.1 and mthreads-ml-py 2.4." in text
    assert budgets(text) == {("half", "0.50"): "PASS", ("half", "0.49"): "FAIL"}


def test_speeds_of_the_readme_are_measured():
    """A time that README names stands in results.md."""
    with open(os.path.join(simulated.ROOT, "README.md"), encoding="utf-8") as file:
        named = re.findall(r"\b([\d.]+) (ms|us|ns)\b", re.sub(r"```.*?```", "", file.read(), flags=re.S))
    with open(os.path.join(FOLDER, "results.md"), encoding="utf-8") as file:
        measured = file.read()
    for number, unit in named:
        assert re.search(r"\b%s\b" % re.escape(number), measured), "%s %s of README is not in results.md" % (
            number,
            unit,
        )
