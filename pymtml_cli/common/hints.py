"""What to do about an error, for the line on stderr. Nothing here is imported unless there is an error."""

from pymtml_cli.common.errors import called

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


def meant(word, known, rest=""):
    """The line for a word that is not known; ``rest`` names the place that lists the known ones."""
    found = near(word.strip(), known)
    parts = ["did you mean %s?" % " or ".join(found)] if found else []
    return " ".join(parts + ([rest] if rest else []))


def field(word, known, kind):
    """The line for a property that a query has not."""
    return meant(word, known, "%s --help-query-%s lists them" % (called(), kind))


def option(raw, known):
    """The line for an argument that is neither an option nor a subcommand."""
    return meant(raw.partition("=")[0], known, "%s --help lists them" % called())
