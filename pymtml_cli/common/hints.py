"""What to do about an error, for the line on stderr. Nothing here is imported unless there is an error."""

from pymtml_cli.common.errors import NVIDIA_SMI, called, refuse

MOST = 3


def near(word, known):
    """Those of the known words that somebody may have meant, the likeliest first (list)."""
    from difflib import get_close_matches

    by_lower = {}
    for name in known:
        by_lower.setdefault(name.lower(), name)
    found = get_close_matches(word.lower(), list(by_lower), MOST, 0.72)
    longer = [name for name in by_lower if len(word) > 2 and name.startswith(word.lower()) and name not in found]
    return [by_lower[name] for name in (found + longer)[:MOST]]


def unknown(text, raw, known, command):
    """The CommandError for an argument that a subcommand does not have; the text is nvidia-smi's."""
    rest = "" if called() == NVIDIA_SMI else "%s --help lists the options" % command
    return refuse(text, hint=meant(raw.partition("=")[0], known, rest), ours="option %s is not recognized" % raw)


def meant(word, known, rest=""):
    """The line for a word that is not known; ``rest`` is an option of the command, and what that lists."""
    found = near(word.strip(), known)
    parts = ["did you mean %s?" % " or ".join(found)] if found else []
    return " ".join(parts + (["%s %s" % (called(), rest)] if rest else []))
