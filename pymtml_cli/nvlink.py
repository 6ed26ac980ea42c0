"""nvlink: what mtlink says, in nvidia-smi's form."""

from pymtml_cli import mtlink

parse = mtlink.parse


def run(options):
    """Answer (exit status)."""
    return mtlink.run(options, "nvlink")
