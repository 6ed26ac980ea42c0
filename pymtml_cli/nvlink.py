"""nvlink: what mtlink says, in nvidia-smi's form."""

from pymtml_cli import mtlink


def run(arguments):
    """Answer (exit status)."""
    return mtlink.run(arguments, "nvlink")
