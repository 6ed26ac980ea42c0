"""Provides the metadata of nvidia-ml-py by name: some programs look there before they import pynvml.

``importlib.metadata.version("nvidia-ml-py")`` is then the version whose names pymtml has. There is no metadata if a
real nvidia-ml-py is installed, or for tools that search folders, such as pip and uv: for them nothing is installed.
"""

import pathlib
import sys

from pymtml_dropin import DISTRIBUTION, hook

try:
    from importlib.metadata import Distribution
except ImportError:  # Python 3.7: the caller has the backport
    from importlib_metadata import Distribution

VERSION = "13.615.71"
# From Python 3.15 on, a missing field is a KeyError, so all fields of the genuine metadata that programs read are here.
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
    """The metadata of nvidia-ml-py: its name, a version, and a summary that names pymtml."""

    def read_text(self, filename):
        """The text of a metadata file, or None: there is no list of files, no requirement, no entry point."""
        return METADATA.format(name=DISTRIBUTION, version=VERSION) if filename == "METADATA" else None

    def locate_file(self, path):
        """Where a file of the distribution would be."""
        return pathlib.Path(hook.ROOT) / path


def find(context, asking, asked):
    """A StandIn for nvidia-ml-py, which the context names, or nothing (an iterator, as Python 3.8 requires)."""
    if hook.left_alone(asked):
        return  # pynvml is NVIDIA's there
    for finder in sys.meta_path:
        if finder is not asking and hasattr(finder, "find_distributions") and any(finder.find_distributions(context)):
            return
    yield StandIn()
