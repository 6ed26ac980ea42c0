"""Files that are run by themselves: the typed program, and each file of scenarios."""

import os
import subprocess
import sys

import pytest
import simulated

SCENARIOS = ("test_pymtml.py", "test_pynvml.py", "test_sglang_compat.py")


def run(file, *arguments):
    """A file's process, run from a folder that has nothing to do with the project (CompletedProcess)."""
    return subprocess.run(
        [sys.executable, os.path.join(simulated.ROOT, file)] + list(arguments),
        env={key: value for key, value in os.environ.items() if not key.startswith(("MTML_SIM_", "PYMTML_", "PYTEST"))},
        cwd=os.path.dirname(simulated.ROOT),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )


def test_typed_program():
    done = subprocess.run(
        [sys.executable, os.path.join(simulated.ROOT, "tests", "typed_program.py")],
        env=simulated.environment("s3000x2"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    keys = [simulated.device_keys("s3000x2", index) for index in range(2)]
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[:3] == [keys[0][key] for key in ("name", "memory_used", "gpu_temperature")]
    assert lines[3:5] == [key["pci_sbdf"].upper() for key in keys]
    assert lines[5:] == [str({index: int(key["enforced_power_limit"]) for index, key in enumerate(keys)})]


@pytest.mark.parametrize("file", SCENARIOS)
def test_scenarios_run_by_themselves(file):
    """One scenario of the file passes with status 0; that none was found is told by another status."""
    # Never a whole file: the suite runs each already.
    with open(os.path.join(simulated.ROOT, file)) as source:
        first = next(line.split("(")[0][4:] for line in source if line.startswith("def test_"))
    done = run(file, "-q", "-p", "no:cacheprovider", "-k", first)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
    done = run(file, "-q", "-p", "no:cacheprovider", "-k", "no_such_test")
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout


@pytest.mark.parametrize("file", SCENARIOS)
def test_failed_scenario_is_told_by_the_exit_status(file, tmp_path):
    """The file with one scenario more, which fails, in a folder that otherwise is the project's."""
    for name in ("pymtml.py", "tests", "simulator", "facts"):
        (tmp_path / name).symlink_to(os.path.join(simulated.ROOT, name))
    with open(os.path.join(simulated.ROOT, file)) as source:
        text = source.read()
    copy = tmp_path / file
    copy.write_text(text.replace("\nif __name__", "\ndef test_that_fails():\n    assert False\n\n\nif __name__"))
    done = run(str(copy), "-q", "-p", "no:cacheprovider", "-k", "that_fails")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "1 failed" in done.stdout
