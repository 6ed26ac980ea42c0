"""clearml-agent: the worker's own resource monitor and its choice of packages by CUDA version."""

import pytest
from program_set import CLEARML_AGENT as PROGRAM
from test_clearml import QUERY, check_query

pytestmark = pytest.mark.programs

MISSING = "The memory of a process: MTML does not tell it."


def test_query(runner, machine, processes):
    """`gpustat.new_query()`, from which the worker reports: every field of eight GPUs, and a process."""
    check_query(
        runner, machine, PROGRAM, QUERY.replace("clearml.utilities", "clearml_agent.helper"), processes({3: 20})
    )
