"""What holds for all tests of the simulator: none leaves its variables to the next, in whatever order they come."""

import os

import pytest


def variables():
    return {name: value for name, value in os.environ.items() if name.startswith("MTML_SIM_")}


@pytest.fixture(autouse=True)
def own_environment():
    """Takes the simulator's variables back that a test has set, and brings back those it took."""
    before = variables()
    yield
    for name in set(variables()) - set(before):
        del os.environ[name]
    os.environ.update(before)
