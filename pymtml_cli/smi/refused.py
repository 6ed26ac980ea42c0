"""Subcommands of nvidia-smi for what these cards do not have: they print what nvidia-smi does for a card without it."""

import sys

from pymtml_cli.common import layout
from pymtml_cli.common.errors import NOT_AVAILABLE, refuse
from pymtml_cli.common.numeric import number
from pymtml_cli.common.options import CARDS, parse, spelled, usage
from pymtml_cli.readings.devices import Machine, Unknown
from pymtml_cli.readings.table import value_of
from pymtml_cli.smi import listing, lost
from pymtml_cli.smi.modify import DONE

OPTIONS, REFUSED = {}, {}  # by subcommand
for _name, _rows in layout.tables("smi/refused.txt").items():
    OPTIONS[_name] = dict(row for row in _rows if len(row) == 2)
    OPTIONS[_name].update({"-i, --id CARDS": CARDS, "-h, --help": None} if _name != "drain" else {"-h, --help": None})
    REFUSED[_name] = [(option[2:], int(status), text) for option, status, text in (r for r in _rows if len(r) == 3)]
MOST = {"0|1": 1, "NUMBER": 1 << 31}  # greatest values, by the words that stand for them


def run(arguments, name):
    """Print what a subcommand shows for these cards (exit status)."""
    chosen = parse(arguments, OPTIONS[name])
    if "-h" in chosen or not (set(chosen) - {"-i"} or name == "base-clocks"):
        sys.stdout.write(usage(name, OPTIONS[name], ("-i",), "OPTION..."))
        return 0
    if name == "drain" and "-p" not in chosen and "-d" not in chosen:
        raise refuse("Must specify -p with this option.\n")
    words = {spellings[0]: word for spellings, word in spelled(OPTIONS[name])}
    for option, value in chosen.items():
        if words[option] in MOST and number(value, 0, MOST[words[option]]) is None:
            raise refuse("Option %s is invalid for %s.\n" % (value, option))
    status, sentence = next(row[1:] for row in REFUSED[name] if row[0] in ("any", *chosen))
    given = next((text for line, text in OPTIONS[name].items() if line.split(",")[0] in chosen), "")
    sentence = sentence.replace("{option}", given).replace("\\n", "\n").replace("\\t", "\t") + "\n"
    with Machine() as machine:
        cards = machine.chosen(chosen.get("-p" if name == "drain" else "-i"))
        texts = [sentence.format(**_of_card(card)) for card in cards] if "{" in sentence else [sentence]
    if "{replays}" in sentence and not any("COUNTER" in text for text in texts):
        status = NOT_AVAILABLE
    status = status or lost.status(cards)
    text = "".join(texts) + (DONE if name == "clocks" else "")
    if status:
        raise refuse(text, status)
    sys.stdout.write(text)
    return 0


def _of_card(card):
    """What sentences may name of a card."""
    replays = value_of(card, "pcie.replays")
    counter = "" if isinstance(replays, Unknown) else "\n    REPLAY_COUNTER:          %d" % replays
    return {"gpu": listing.address(card), "index": card.index, "title": listing.lines(card)[0], "replays": counter}
