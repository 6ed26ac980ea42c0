"""What to do about an error, for the line on stderr. Nothing here is imported unless there is an error."""

from pymtml_cli.common.errors import NVIDIA_SMI, called, refuse
from pymtml_cli.common.text import fit

MOST = 3


def near(word, known):
    """Those of the known words that somebody may have meant, the likeliest first (list).

    None is the word that was typed, nor an option of one letter.
    """
    from difflib import get_close_matches

    by_lower = {}
    for name in known:
        if name != word and (len(name) > 2 or name[0] != "-"):
            by_lower.setdefault(name.lower(), name)
    found = get_close_matches(word.lower(), list(by_lower), MOST, 0.72)
    found += [name for name in by_lower if sorted(name) == sorted(word.lower()) and name not in found]
    longer = [name for name in by_lower if len(word) > 2 and name.startswith(word.lower()) and name not in found]
    return [by_lower[name] for name in (found + longer)[:MOST]]


def unknown(text, raw, known, command):
    """The CommandError for an argument that a subcommand does not have; the text is nvidia-smi's."""
    rest = "" if called() == NVIDIA_SMI else "%s --help lists the options" % command
    kind = "option" if raw.startswith("-") else "argument"
    return refuse(text, hint=meant(raw.partition("=")[0], known, rest), ours="%s %s is not recognized" % (kind, raw))


def no_value(words, known, option, theirs=""):
    """The CommandError for the first of the words that an option does not take; the text is nvidia-smi's."""
    word = next(word for word in words if word not in known)
    hint = meant(word, known) or "it takes " + ", ".join(known)
    ours = "%s is no value of %s" % (fit(word, 40) or "the empty text", option)
    return refuse(theirs, hint="" if called() == NVIDIA_SMI else hint, ours=ours)


def meant(word, known, rest=""):
    """The line for a word that is not known; ``rest`` is an option of the command, and what that lists."""
    found = near(word.strip(), known)
    parts = ["did you mean %s?" % " or ".join(found)] if found else []
    return " ".join(parts + (["%s %s" % (called(), rest)] if rest else []))
