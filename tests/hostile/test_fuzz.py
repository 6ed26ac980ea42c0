"""A short round of tests/fuzz.py, of the same seeds each time; `make fuzz` runs longer ones, of new seeds."""

import os
import subprocess
import sys

import simulated

FUZZ = os.path.join(simulated.ROOT, "tests", "fuzz.py")


def fuzz(*options, **environment):
    return simulated.run(
        [sys.executable, FUZZ] + list(options),
        env=dict(os.environ, **environment),
        stderr=subprocess.STDOUT,
        timeout=400,
    )


def test_short_round():
    result = fuzz("--seed", "1", "--children", "12")
    assert (result.returncode, result.stdout) == (0, "first seed 1\n24000 calls in 12 children, 0 went wrong\n")


def test_seed_is_repeated():
    """This one has a change of MPC that C answers by refusing its end, and then its init."""
    result = fuzz("--seed", "1587848790")
    assert (result.returncode, result.stdout) == (0, "first seed 1587848790\n2000 calls in 1 children, 0 went wrong\n")
