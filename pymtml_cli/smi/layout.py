"""The lines of fields.txt and sections.txt: what nvidia-smi has, and in which order, as data."""

import os


def lines(name):
    """The lines of a file beside this one, also where the package is in a zip file or frozen (list of str)."""
    data = __loader__.get_data(os.path.join(os.path.dirname(__file__), name))
    return [line for line in data.decode("ascii").splitlines() if not line.startswith("#")]
