"""Options of nvidia-smi's subcommands, which argparse would read otherwise: -p2p is one option, not three."""

from pymtml_cli.errors import refuse


def parse(arguments, table):
    """Options by their first spelling (dict); ``table`` has spellings and whether a value follows.

    Raises: CommandError in nvidia-smi's words.
    """
    by_spelling = {spelling: (spellings[0], takes_value) for spellings, takes_value in table for spelling in spellings}
    values, rest = {}, list(arguments)
    while rest:
        raw = rest.pop(0)
        spelling, equals, value = raw.partition("=")
        if spelling not in by_spelling:
            from pymtml_cli import hints

            raise refuse('Option "%s" is not recognized.\n' % raw, hint=hints.meant(spelling, by_spelling))
        name, takes_value = by_spelling[spelling]
        if not takes_value:
            values[name] = True
        elif equals:
            values[name] = value
        elif rest and (not rest[0].startswith("-") or rest[0][1:].isdigit()):
            values[name] = rest.pop(0)
        else:
            raise refuse('Option "%s" is missing its value.\n' % raw)
    return values
