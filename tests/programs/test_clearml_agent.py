"""clearml-agent: the worker's own resource monitor and its choice of packages by CUDA version."""

import pytest
from program_set import CLEARML_AGENT as PROGRAM
from test_clearml import QUERY, check_query

pytestmark = pytest.mark.programs

MISSING = (
    "The memory of a process: MTML does not tell it. The drop-in leaves this copy alone: the agent would take MUSA's "
    "version for CUDA's and install a build of torch by it: "
    "`PYMTML_DROPIN_MODULES=clearml_agent.helper.gpu.pynvml`, with `agent.cuda_version: 0`, shows it the GPUs."
)

COPY = "clearml_agent.helper.gpu.pynvml"

VERSION = """
import json
from clearml_agent.helper.gpu.gpustat import get_driver_cuda_version

print(json.dumps(get_driver_cuda_version()))
"""


def test_query(runner, machine, processes):
    """`gpustat.new_query()`, from which the worker reports: every field of eight GPUs, and a process."""
    runner.extra["PYMTML_DROPIN_MODULES"] = COPY
    check_query(
        runner, machine, PROGRAM, QUERY.replace("clearml.utilities", "clearml_agent.helper"), processes({3: 20})
    )


def test_no_cuda(runner, machine):
    """The CUDA version by which it chooses builds of torch: none, as without pymtml."""
    assert runner.evaluate(PROGRAM, VERSION, runner.on_pymtml(machine)) is None
    assert runner.evaluate(PROGRAM, VERSION, dict(runner.on_pymtml(machine), PYTHONPATH="")) is None
