"""completion: a script that makes a shell complete the command. It is written from the tables that the command reads.

Nothing is asked when somebody presses Tab: the words stand in the script.
"""

import importlib
import sys
from collections import namedtuple

from pymtml_cli import language
from pymtml_cli.common import layout
from pymtml_cli.common.errors import NVIDIA_SMI, CommandError, called
from pymtml_cli.common.options import known, spelled
from pymtml_cli.smi.modify import reader
from pymtml_cli.smi.query import FORMATS, QUERIES
from pymtml_cli.subcommands import SUBCOMMANDS

SHELLS = ("bash", "zsh", "fish")
FILES = ("filename", "-f")  # options whose value is a file; argparse says so itself
# Values of options, by the words that stand for them: what they may be, and whether several with commas
VALUES = {"DT": (("D", "T", "DT"), False), "WORDS": (("csv", "nounit", "noheader"), True)}
BESIDE = {"run": "program", "compare": "files"}  # what else stands behind a subcommand

TEXTS = layout.blocks("completion.txt")
ABOUT = dict({name: row.help for name, row in SUBCOMMANDS.items()}, help="options of a subcommand")

# An option: its spellings, whether a value follows, and what that may be (words, whether with commas; a file; cards)
Option = namedtuple("Option", "spellings takes_value words commas file cards", defaults=(False,))


def _of_language():
    """Options of nvidia-smi's language."""
    found = []
    for name, (spellings, takes) in language.OPTIONS.items():
        words, commas = getattr(reader(name), "words", ()), False
        if name.startswith("query-"):
            kind = name[len("query-") :]
            words, commas = [spelling for line in QUERIES[kind][0] for spelling in line[0]], True
        elif name in ("display", "format"):
            words, commas = language.SECTIONS if name == "display" else FORMATS, True
        found.append(Option(spellings, bool(takes), words, commas, name in FILES, name == "id"))
    return found


def _of_subcommand(name):
    """(options, words) of a subcommand."""
    module, found = importlib.import_module("pymtml_cli." + SUBCOMMANDS[name].module), []
    if hasattr(module, "parser"):
        return _of_parser(module.parser())
    named = [line for line, text in known(name).items() if text is not None or "--help" in line]
    for spellings, value in spelled(named):
        words, commas = VALUES.get(value, (tuple(value.split("|")) if "|" in value else (), False))
        is_file = bool(value) and spellings[0] in FILES
        found.append(Option(spellings, bool(value), words, commas, is_file, value == "CARDS"))
    return found, list(SHELLS) if name == "completion" else []


def _of_parser(parser):
    """(options, words) of a subcommand that argparse reads."""
    found, alone = [], []
    for action in parser._actions:
        if action.option_strings:
            several, named = getattr(action, "words", ()), action.metavar
            kind = several or action.choices or (), bool(several), named == "FILE", named == "CARDS"
            found.append(Option(tuple(action.option_strings), action.nargs != 0, *kind))
        elif isinstance(action.choices, dict):  # subparsers
            alone += list(action.choices)
            for below in action.choices.values():
                options = _of_parser(below)[0]
                found += [option for option in options if "--help" not in option.spellings and option not in found]
    return found, alone


def tables():
    """What there is, as {subcommand, or "": (options, words)}."""
    found = {"": (_of_language(), [word for word in ABOUT if word != "help" or called() != NVIDIA_SMI])}
    found["help"] = [], list(SUBCOMMANDS)
    found.update((name, _of_subcommand(name)) for name in sorted(SUBCOMMANDS))
    return found


def run(arguments):
    """Print the script (exit status)."""
    name = called()
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(_filled(TEXTS["help"], name=name) + "\n")
        return 0
    if len(arguments) != 1 or arguments[0] not in SHELLS:
        raise CommandError("name one shell: %s or %s" % (", ".join(SHELLS[:-1]), SHELLS[-1]))
    shell = arguments[0]
    lines = []
    of_options = lines if shell == "fish" else []
    for command, (options, alone) in tables().items():
        places = _places(command, options, alone)
        for word in alone if shell == "fish" else ():  # that stands alone behind a subcommand, or is one
            text = ABOUT[word].replace("'", "\\'") if not command else ""
            lines.append("%s -a %s -d '%s'" % (places["begin"], word, text))
        lines += _written(shell, BESIDE.get(command, "subcommand"), places)
        for option in options:
            kind = "list" if option.commas else "choice" if option.words else "file" if option.file else "value"
            kind = "cards" if option.cards else kind
            places.update(spelled=_spelled(shell, command, option), words=" ".join(option.words))
            of_options += _written(shell, kind if option.takes_value else "flag", places)
    function = "_pymtml" if name != NVIDIA_SMI else "_pymtml_as_nvidia_smi"
    script = _filled(TEXTS[shell], lines="\n".join(lines), options="\n".join(of_options))  # which name the others
    script = _filled(script, subcommands=" ".join(ABOUT), name=name, function=function)
    sys.stdout.write(script + "\n")
    return 0


def _written(shell, kind, places):
    """What the script has for an option or a subcommand of a kind, if anything (list)."""
    form = TEXTS.get("%s %s" % (shell, kind))
    return [_filled(form, **places)] if form else []


def _filled(text, **places):
    for place, found in places.items():
        text = text.replace("@%s@" % place, found)
    return text


def _places(command, options, alone):
    """What fills the places of a subcommand's lines (dict)."""
    spellings = [spelling for option in options for spelling in option.spellings]
    if alone and not command:
        described = " ".join("'%s:%s'" % (sub, ABOUT[sub].replace("'", "'\\''")) for sub in alone)
        by_itself = "local -a subcommands=(%s); _describe subcommand subcommands" % described
    else:
        by_itself = "compadd -- " + " ".join(alone or spellings)
    seen = "__fish_seen_subcommand_from " + command if command else "not __fish_seen_subcommand_from @subcommands@"
    return {
        "command": command,
        "words": " ".join(alone or spellings),
        "spellings": " ".join(spellings),
        "alone": by_itself,
        "begin": "complete -c @name@ -n '%s'" % seen,
    }


def _spelled(shell, command, option):
    """The spellings of an option as its line has them."""
    if shell != "fish":  # with the subcommand before each
        return "|".join('"%s %s"' % (command, spelling) for spelling in option.spellings)
    # -o is, unlike -s, never joined with others
    kinds = ["-l" if spelling.startswith("--") else "-o" for spelling in option.spellings]
    return " ".join("%s %s" % (kind, spelling.lstrip("-")) for kind, spelling in zip(kinds, option.spellings))
