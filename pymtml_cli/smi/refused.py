"""clocks and drain: what nvidia-smi can change with them, and these cards cannot."""

import sys

from pymtml_cli.common.errors import NOT_AVAILABLE, called, refuse
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import CARDS, parse, usage
from pymtml_cli.readings.devices import Machine
from pymtml_cli.smi.modify import DONE, WARNING, address

CLOCKS = {
    "-h, --help": None,
    "-i, --id CARDS": CARDS,
    "--sync-boost-list": "groups of cards that boost together",
    "--sync-boost-add": "make one (not possible on these cards)",
    "--sync-boost-remove NUMBER": "take one away (likewise)",
    "-som, --sparse-operation-mode 0|1": "likewise",
}
DRAIN = {
    "-h, --help": None,
    "-p, --pciid ADDRESS": "the card, by its PCI address",
    "-q, --query": "its drain state",
    "-m, --modify 0|1": "change that (not possible on these cards)",
    "-r, --remove": "take the card away (likewise)",
    "-d, --discover": "find cards that were taken away (likewise)",
}

BOOST = "Synchronous boost is not supported for GPU {gpu}.\n"
# Subcommand: (option, greatest value if it takes one, sentence), in the order in which they are looked for
REFUSED = {
    "clocks": (
        ("-som", 1, "Setting sparse operation mode is not supported for GPU {gpu}.\n"),
        ("--sync-boost-remove", 1 << 31, BOOST),
        ("--sync-boost-add", None, BOOST),
        ("--sync-boost-list", None, BOOST),
    ),
    "drain": (
        ("-d", None, "Discovering GPUs is not supported.\n"),
        ("-m", 1, "Changing the drain state is not supported for GPU {gpu}.\n"),
        ("-r", None, "Removing is not supported for GPU {gpu}.\n"),
    ),
}


def refused(command, chosen):
    """The sentence for what was asked for, None for nothing of that kind.

    Raises: CommandError for a value that is none.
    """
    for option, most, _ in REFUSED[command]:
        if option in chosen and most is not None and number(chosen[option], 0, most) is None:
            raise refuse("Option %s is invalid for %s.\n" % (chosen[option], option))
    return next((sentence for option, _, sentence in REFUSED[command] if option in chosen), None)


def help(command, table):
    """Print the help (exit status)."""
    sys.stdout.write("usage: %s %s OPTION...\n\n%s" % (called(), command, usage(table, ("-i",))))
    return 0


def clocks(arguments):
    """Synchronous boost and sparse operation (exit status)."""
    chosen = parse(arguments, CLOCKS)
    if "-h" in chosen or not set(chosen) - {"-i"}:
        return help("clocks", CLOCKS)
    sentence = refused("clocks", chosen)
    with Machine() as machine:
        for card in machine.chosen(chosen.get("-i")):
            sys.stdout.write(sentence.format(gpu=address(card)) + WARNING)
    sys.stdout.write(DONE)
    return 0


def drain(arguments):
    """Whether a card is being drained of work, which MTML does to none (exit status)."""
    chosen = parse(arguments, DRAIN)
    if "-h" in chosen or not chosen:
        return help("drain", DRAIN)
    if "-p" not in chosen and "-d" not in chosen:
        raise refuse("Must specify -p with this option.\n")
    sentence = refused("drain", chosen)
    with Machine() as machine:
        place = None if "-d" in chosen else address(machine.chosen(chosen["-p"])[0])
        if sentence:
            # Nobody may take the card for drained: unlike a clock that stays as it is, this is a failure.
            raise refuse(sentence.format(gpu=place), NOT_AVAILABLE)
        sys.stdout.write("The current drain state of GPU %s is: not draining.\n" % place)
    return 0
