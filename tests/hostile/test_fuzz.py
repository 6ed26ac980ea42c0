"""A short round of tests/fuzz.py; `make fuzz` runs longer ones."""

import os
import subprocess
import sys

import pytest
import simulated

FUZZ = os.path.join(simulated.ROOT, "tests", "fuzz.py")


def fuzz(*options, **environment):
    return subprocess.run(
        [sys.executable, FUZZ] + list(options),
        env=dict(os.environ, **environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        timeout=400,
    )


def test_short_round():
    """New seeds each time; a bad one is printed."""
    result = fuzz("--minutes", "0.1")
    assert result.returncode == 0, result.stdout
    assert result.stdout.startswith("first seed ") and result.stdout.endswith(" 0 went wrong\n")


@pytest.mark.parametrize("seed", ["1", "20"])
def test_seed_is_repeated(seed):
    result = fuzz("--seed", seed)
    assert (result.returncode, result.stdout) == (0, "first seed %s\n2000 calls in 1 children, 0 went wrong\n" % seed)
