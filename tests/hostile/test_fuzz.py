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
    """These seeds have all machines with cards, and all faults."""
    result = fuzz("--seed", "2845", "--children", "6")
    assert (result.returncode, result.stdout) == (0, "first seed 2845\n12000 calls in 6 children, 0 went wrong\n")


def test_seed_is_repeated():
    """This one has a change of MPC that C answers by refusing its end, and then its init."""
    result = fuzz("--seed", "1587848790")
    assert (result.returncode, result.stdout) == (0, "first seed 1587848790\n2000 calls in 1 children, 0 went wrong\n")
