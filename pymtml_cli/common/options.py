"""Options of subcommands that argparse does not read: it would take -p2p for three. smi/options.txt has them all."""

from pymtml_cli.common import layout
from pymtml_cli.common.errors import BAD_ARGUMENT, NVIDIA_SMI, called, refuse, see_help

OURS = ("--json", "--force")  # which nvidia-smi does not have
JSON = "one object, for programs (schema: docs/command.md)"
CARDS = "only these: index, UUID or PCI address, separated by commas"


def rows(command):
    """(options of a subcommand {line: its help, or None}, what is printed for some: [[option, ...]])."""
    tables = layout.tables("smi/options.txt")
    options, answers = {}, []
    for first, *rest in tables[command]:
        if first.startswith("<< "):
            options.update((line[0], line[1] if line[1:] else None) for line in tables[first[3:]])
        elif first.startswith(">> "):
            answers[-1][-1] += "\n" + first[3:]
        elif first.startswith("> "):
            answers.append([first[2:], *rest])
        else:
            options[first[2 * first.startswith("! ") :]] = rest[0] if rest else None
    return options, answers


def setters(command):
    """The lines of the options of a subcommand that change something (set)."""
    return {first[2:] for first, *_ in layout.tables("smi/options.txt")[command] if first.startswith("! ")}


def known(command):
    """The options of a subcommand that there are under the command's name {line: its help, or None}."""
    return {line: text for line, text in rows(command)[0].items() if line not in OURS or called() != NVIDIA_SMI}


def spelled(table):
    """[(spellings, the word that stands for a value, or "")] of the lines of a table."""
    found = []
    for line in table:
        words = [word.rstrip(",") for word in line.split()]
        value = "" if words[-1].startswith("-") else words.pop()
        found.append((tuple(words), value))
    return found


def parse(arguments, command):
    """Options of a subcommand by their first spelling (dict).

    Raises: CommandError in nvidia-smi's words.
    """
    by_spelling = {spelling: (names[0], takes) for names, takes in spelled(known(command)) for spelling in names}
    values, rest = {}, list(arguments)
    while rest:
        raw = rest.pop(0)
        spelling, equals, value = raw.partition("=")
        if spelling not in by_spelling:
            from pymtml_cli.common import hints

            changing = setters(command)
            harmless = spelled(line for line in known(command) if line not in changing)
            harmless = [one for names, _ in harmless for one in names]
            raise hints.unknown('Option "%s" is not recognized.\n' % raw, raw, harmless, command)
        name, takes_value = by_spelling[spelling]
        if not takes_value:
            values[name] = True
        elif equals:
            values[name] = value
        elif rest and (not rest[0].startswith("-") or rest[0][1:].isdigit()):
            values[name] = rest.pop(0)
        else:
            text = 'Option "%s" is missing its value.\n' % raw
            raise refuse(text, BAD_ARGUMENT, see_help(command), "option %s is missing its value" % raw)
    return values
