"""nvidia-ml-py as it is installed beside pymtml, for tests that compare the two."""

import json
import os
import sys

import pytest
import simulated

try:
    from importlib import metadata
except ImportError:
    import importlib_metadata as metadata  # pytest brings it to Python 3.7

SURFACE = os.path.join(simulated.ROOT, "facts", "nvml_surface.json")


def recorded():
    """The nvidia-ml-py whose names facts/nvml_surface.json has ("nvidia-ml-py 13.x")."""
    with open(SURFACE) as file:
        return json.load(file)["source"]


def distribution():
    """The nvidia-ml-py that is installed (importlib.metadata.Distribution).

    On Python 3.7 the test is skipped if that is another than the recorded one.
    """
    found = metadata.distribution("nvidia-ml-py")
    if sys.version_info < (3, 8) and recorded() != "nvidia-ml-py %s" % found.version:
        pytest.skip("programs for Python 3.7 brought nvidia-ml-py %s, not %s" % (found.version, recorded()))
    return found
