"""completion: a script that makes a shell complete the command. It is written from the tables that the command reads.

Nothing is asked when somebody presses Tab: the words stand in the script.
"""

import importlib
import sys

from pymtml_cli import language
from pymtml_cli.common.errors import NVIDIA_SMI, called, refuse
from pymtml_cli.common.options import spelled
from pymtml_cli.smi.modify import reader
from pymtml_cli.smi.query import QUERIES
from pymtml_cli.subcommands import SUBCOMMANDS

USAGE = """\
usage: {name} completion bash | zsh | fish

  bash: eval "$({name} completion bash)" in ~/.bashrc
  zsh:  eval "$({name} completion zsh)" in ~/.zshrc, below compinit
  fish: {name} completion fish | source, in ~/.config/fish/config.fish
"""

SHELLS = ("bash", "zsh", "fish")

# Where the value of an option is a file (argparse says so itself), or one of a few words that its table lacks as
# "a|b"; some are lists with commas
FILES = ("filename", "-f")
WORDS = {
    ("topo", "-p2p"): ("r", "w", "n", "a", "p"),
    ("topo", "-n"): tuple("012345"),
    ("dmon", "-o"): ("D", "T", "DT"),
    ("pmon", "-o"): ("D", "T", "DT"),
}
LISTS = {("dmon", "--format"): ("csv", "nounit", "noheader")}
OPTIONS = {"-h, --help": None}  # of this subcommand
# Words that stand by themselves behind a subcommand
ARGUMENTS = {"completion": SHELLS}
TAKE_FILES = ("compare",)  # and files


class Option:
    """An option: its spellings, whether a value follows, and what that may be (words, and whether with commas)."""

    def __init__(self, spellings, takes_value, words, commas, file):
        self.spellings, self.takes_value = spellings, takes_value
        self.words, self.commas, self.file = words, commas, file


def _of_language():
    """Options of nvidia-smi's language."""
    found = []
    for name, (spellings, takes) in language.OPTIONS.items():
        words, commas = getattr(reader(name), "words", ()), False
        if name.startswith("query-"):
            kind = name[len("query-") :]
            words, commas = [spelling for line in QUERIES[kind][0] for spelling in line[0]], True
        elif name == "display":
            words, commas = language.SECTIONS, True
        elif name == "format":
            words, commas = ("csv", "noheader", "nounits"), True
        found.append(Option(spellings, bool(takes), words, commas, name in FILES))
    return found


def _of_subcommand(name):
    """(options, words) of a subcommand."""
    table = getattr(importlib.import_module("pymtml_cli." + SUBCOMMANDS[name].module), SUBCOMMANDS[name].options)
    if SUBCOMMANDS[name].shared:
        table = table[name]
    if callable(table):
        return _of_parser(table(), name)
    found = []
    for line, (spellings, takes) in zip(table, spelled(table)):
        value = line.split()[-1]
        words = tuple(value.split("|")) if "|" in value else ()
        found.append(_option(name, spellings, takes, takes and spellings[0] in FILES, words))
    return found, list(ARGUMENTS.get(name, ()))


def _option(name, spellings, takes, file, words=()):
    key = (name, spellings[0])
    return Option(spellings, takes, LISTS.get(key, WORDS.get(key, words)), key in LISTS, file)


def _of_parser(parser, name):
    """(options, words) of a subcommand that argparse reads."""
    found, words = [], []
    for action in parser._actions:
        if action.option_strings:
            spellings = tuple(action.option_strings)
            found.append(_option(name, spellings, action.nargs != 0, action.metavar == "FILE"))
        elif isinstance(action.choices, dict):  # subparsers
            words += list(action.choices)
            for below in action.choices.values():
                found += [o for o in _of_parser(below, name)[0] if "--help" not in o.spellings]
    return found, words


def tables():
    """What there is, as {subcommand, or "": (options, words)}."""
    found = {"": (_of_language(), sorted(SUBCOMMANDS))}
    found.update((name, _of_subcommand(name)) for name in sorted(SUBCOMMANDS))
    return found


def run(arguments):
    """Print the script (exit status)."""
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(USAGE.format(name=called()))
        return 0
    if len(arguments) != 1 or arguments[0] not in SHELLS:
        raise refuse("Name one shell: bash, zsh or fish.\n")
    shell, name = arguments[0], called()
    frame, lines = {"bash": (_BASH, _bash), "zsh": (_ZSH, _zsh), "fish": (_FISH, _fish)}[shell]
    places = {place: "\n".join(found) for place, found in lines(tables()).items()}  # which name the others
    places["subcommands"], places["name"] = " ".join(sorted(SUBCOMMANDS)), name
    places["function"] = "_pymtml" if name != NVIDIA_SMI else "_pymtml_as_nvidia_smi"
    for place, text in places.items():
        frame = frame.replace("@%s@" % place, text)
    sys.stdout.write(frame)
    return 0


# ---- bash ----

_BASH = """\
# Completion of @name@ for bash: eval "$(@name@ completion bash)"
@function@() {
    local current=${COMP_WORDS[COMP_CWORD]} option="" command="" prefix
    if [[ $current == "=" ]]; then
        current="" option=${COMP_WORDS[COMP_CWORD-1]}
    elif (( COMP_CWORD > 1 )); then
        option=${COMP_WORDS[COMP_CWORD-1]}
        [[ $option == "=" ]] && option=${COMP_WORDS[COMP_CWORD-2]}
    fi
    if (( COMP_CWORD > 1 )) && [[ " @subcommands@ " == *" ${COMP_WORDS[1]} "* ]]; then
        command=${COMP_WORDS[1]}
    fi
    COMPREPLY=()
    case "$command $option" in
@values@
    esac
    case "$command" in
@words@
    esac
}
complete -F @function@ @name@
"""
_BASH_LIST = """\
            prefix=""
            [[ $current == *,* ]] && prefix=${current%%,*},
            COMPREPLY=($(compgen -P "$prefix" -W "%s" -- "${current##*,}"))
            compopt -o nospace
            return;;"""
_BASH_WORDS = """\
            COMPREPLY=($(compgen -W "%s" -- "$current"))
            return;;"""
_BASH_FILE = """\
            compopt -o filenames
            COMPREPLY=($(compgen -f -- "$current"))
            return;;"""


_BASH_PROGRAM = """
            if [[ $current != -* ]]; then
                compopt -o filenames
                COMPREPLY+=($(compgen -c -- "$current") $(compgen -f -- "$current"))
            fi"""
_BASH_FILES = _BASH_PROGRAM.replace('$(compgen -c -- "$current") ', "")


def _cases(found):
    """(patterns of "command option", Option) of the options that take a value."""
    for command, (options, _) in found.items():
        for option in options:
            if option.takes_value:
                yield "|".join('"%s %s"' % (command, spelling) for spelling in option.spellings), option


def _bash(found):
    values, words = [], []
    for patterns, option in _cases(found):
        if option.commas:
            action = _BASH_LIST % " ".join(option.words)
        elif option.words:
            action = _BASH_WORDS % " ".join(option.words)
        else:
            action = _BASH_FILE if option.file else "            return;;"
        values.append("        %s)\n%s" % (patterns, action))
    for command, (options, alone) in found.items():
        known = list(alone) + [spelling for option in options for spelling in option.spellings]
        action = 'COMPREPLY=($(compgen -W "%s" -- "$current"))' % " ".join(known)
        action += _BASH_PROGRAM * (command == "run") + _BASH_FILES * (command in TAKE_FILES)
        words.append('        "%s")\n            %s;;' % (command, action))
    return {"values": values, "words": words}


# ---- zsh ----

_ZSH = """\
#compdef @name@
# Completion of @name@ for zsh: eval "$(@name@ completion zsh)", below compinit
@function@() {
    local option="" command=""
    if [[ $PREFIX == -*=* ]]; then
        option=${PREFIX%%=*}
        compset -P '*='
    elif (( CURRENT > 2 )); then
        option=$words[CURRENT-1]
    fi
    if (( CURRENT > 2 )) && [[ " @subcommands@ " == *" $words[2] "* ]]; then
        command=$words[2]
    fi
    case "$command $option" in
@values@
    esac
    case "$command" in
@words@
    esac
}
compdef @function@ @name@
"""


def _zsh(found):
    values, words = [], []
    for patterns, option in _cases(found):
        if option.commas:
            action = "compset -P '*,'; compadd -S '' -- %s; return" % " ".join(option.words)
        elif option.words:
            action = "compadd -- %s; return" % " ".join(option.words)
        else:
            action = "_files; return" if option.file else "return"
        values.append("        (%s) %s;;" % (patterns, action))
    for command, (options, alone) in found.items():
        lines = []
        if alone and not command:
            described = " ".join("'%s:%s'" % (sub, SUBCOMMANDS[sub].help.replace("'", "'\\''")) for sub in alone)
            lines = ["local -a subcommands=(%s)" % described, "_describe subcommand subcommands"]
        elif alone:
            lines = ["compadd -- %s" % " ".join(alone)]
        lines.append("compadd -- %s" % " ".join(spelling for option in options for spelling in option.spellings))
        if command == "run":
            lines.append("[[ $PREFIX == -* ]] || { _command_names; _files; }")
        if command in TAKE_FILES:
            lines.append("[[ $PREFIX == -* ]] || _files")
        words.append('        ("%s") %s;;' % (command, "; ".join(lines)))
    return {"values": values, "words": words}


# ---- fish ----

_FISH = """\
# Completion of @name@ for fish: @name@ completion fish | source
function __pymtml_list --description 'words behind what is there before the last comma'
    set -l before (commandline -ct | string replace -r '^-[^=]*=' '' | string match -r '^.*,')
    set -q before[1]; or set before ''
    printf '%s\\n' $before$argv
end
complete -c @name@ -f
@lines@
"""


def _fish(found):
    lines = []
    for command, (options, alone) in found.items():
        seen = "__fish_seen_subcommand_from " + command if command else "not __fish_seen_subcommand_from @subcommands@"
        begin = "complete -c @name@ -n '%s'" % seen
        for word in alone:
            summary = SUBCOMMANDS[word].help.replace("'", "\\'") if not command else ""
            lines.append("%s -a %s -d '%s'" % (begin, word, summary))
        if command == "run":
            lines.append(begin + " -F -a '(__fish_complete_command)'")
        if command in TAKE_FILES:
            lines.append(begin + " -F")
        for option in options:
            parts = [begin]
            for spelling in option.spellings:
                kind = "-l" if spelling.startswith("--") else "-o"  # which, unlike -s, is never joined with others
                parts.append("%s %s" % (kind, spelling.lstrip("-")))
            if option.file:
                parts.append("-r -F")
            elif option.takes_value:
                words = " ".join(option.words)
                parts.append(
                    "-x" + (" -a '%s'" % ("(__pymtml_list %s)" % words if option.commas else words)) * bool(words)
                )
            lines.append(" ".join(parts))
    return {"lines": lines}
