"""Subcommands of nvidia-smi for what these cards do not have: they print what nvidia-smi does for a card without it."""

import sys

from pymtml_cli.common.errors import NOT_AVAILABLE, refuse, see_help
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import parse, rows, spelled
from pymtml_cli.helping import usage
from pymtml_cli.readings import devices
from pymtml_cli.readings.devices import Machine, Unknown
from pymtml_cli.readings.table import value_of
from pymtml_cli.smi import listing
from pymtml_cli.smi.modify import DONE

# Which do something else than print help if there is no option
WITHOUT_OPTION = ("base-clocks", "daemon", "encodersessions", "fbcsessions", "replay")
MOST = {"0|1": 1, "NUMBER": 1 << 31}  # greatest values, by the words that stand for them


def run(arguments, name):
    """Print what a subcommand shows for these cards (exit status)."""
    chosen, (options, answers) = parse(arguments, name), rows(name)
    if "-h" in chosen or not (set(chosen) - {"-i"} or name in WITHOUT_OPTION):
        sys.stdout.write(usage(name, ("-i",), "OPTION..."))
        return 0
    if name == "drain" and "-p" not in chosen and "-d" not in chosen:
        raise refuse("Must specify -p with this option.\n", ours="-p must name a card")
    words = {spellings[0]: word for spellings, word in spelled(options)}
    for option, value in chosen.items():
        if words[option] in MOST and number(value, 0, MOST[words[option]]) is None:
            text = "Option %s is invalid for %s.\n" % (value, option)
            raise refuse(text, hint=see_help(name), ours="%s is no value of %s" % (value, option))
    answer = next(row[1:] for row in answers if row[0] in ("any", *chosen))
    given = next((text for line, text in options.items() if line.split(",")[0] in chosen), "")
    with Machine() as machine:
        cards = machine.chosen(chosen.get("-p" if name == "drain" else "-i"))
        status, text = FUNCTIONS[answer[0]](cards) if len(answer) == 1 else _sentences(cards, given, *answer)
    text += DONE if name == "clocks" else ""
    if status and not devices.status(cards):
        raise refuse(text, status, ours=given if answer[-1] in ONLY_CARDS else None)
    if name == "replay":
        text += "\n" + usage(name, ("-i",), "OPTION...")
    sys.stdout.write(text)
    return status or devices.status(cards)


def _sentences(cards, given, status, sentence):
    """(exit status, text) of a sentence about all cards, or about each."""
    sentence = sentence.replace("{option}", given) + "\n"
    texts = [sentence]
    if "{" in sentence:
        rows = ((listing.address(card), card.index, listing.lines(card)[0]) for card in cards)
        texts = [sentence.format(**dict(zip(("gpu", "index", "title"), row))) for row in rows]
    return int(status), "".join(texts)


def _replays(cards):
    """(exit status, text) of the only counter of errors that MTML has."""
    lines, status = [], NOT_AVAILABLE
    for card in cards:
        lines.append(listing.lines(card)[0])
        replays = value_of(card, "pcie.replays")
        if not isinstance(replays, Unknown):
            lines.append("    REPLAY_COUNTER:          %d" % replays)
            status = 0
    return status, "".join(line + "\n" for line in lines)


FUNCTIONS = {"replays": _replays}
ONLY_CARDS = ("{title}", *FUNCTIONS)  # what prints nothing but the cards if it is refused
