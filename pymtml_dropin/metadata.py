"""Answers who asks for the metadata of nvidia-ml-py by name: some programs look there before they import pynvml.

``importlib.metadata.version("nvidia-ml-py")`` is then the version whose names pymtml has. Nothing is answered where a
real nvidia-ml-py is installed, nor to those who look into folders, as pip and uv do: for them nothing is installed.
"""

import pathlib
import sys

from pymtml_dropin import DISTRIBUTION, hook

try:
    from importlib.metadata import Distribution
except ImportError:  # Python 3.7: whoever asks has the backport
    from importlib_metadata import Distribution

VERSION = "13.615.71"
# From Python 3.15 on a field that is not here is a KeyError: so all that programs may ask of the genuine one are.
METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Not installed: pymtml provides the names of this version, for Moore Threads GPUs
Home-page: UNKNOWN
Author: The pymtml authors
Author-email: UNKNOWN
License: MIT
Description-Content-Type: text/plain

pymtml answers under the names of nvidia-ml-py.
"""


class StandIn(Distribution):
    """nvidia-ml-py as far as it is here: a name, a version, and what it really is."""

    def read_text(self, filename):
        """The text of a metadata file, or None: there is no list of files, no requirement, no entry point."""
        return METADATA.format(name=DISTRIBUTION, version=VERSION) if filename == "METADATA" else None

    def locate_file(self, path):
        """Where a file of the distribution would be."""
        return pathlib.Path(hook.ROOT) / path


def find(context, asking, asked):
    """What stands in for nvidia-ml-py, which the context names: one, or none (an iterator, as Python 3.8 wants)."""
    if not asked and hook.nvidia_driver():
        return  # pynvml is NVIDIA's there
    for finder in sys.meta_path:
        if finder is not asking and hasattr(finder, "find_distributions") and any(finder.find_distributions(context)):
            return
    yield StandIn()
