"""--json: everything that pymtml knows, for programs."""

from pymtml_cli.readings.documents import everything, show


def answer(options):
    """Print the answer to --json, which is an object even if the library cannot be used (exit status)."""
    return show(options.get("id"), everything, options.get("filename"), options.seconds, options.count)
