"""drain: whether a card is being drained of work, which MTML does to none."""

import sys

from pymtml_cli import suboptions
from pymtml_cli.devices import Machine
from pymtml_cli.errors import NOT_AVAILABLE, called, refuse
from pymtml_cli.modify import address
from pymtml_cli.numeric import number

OPTIONS = (
    (("-h", "--help"), False),
    (("-p", "--pciid"), True),
    (("-q", "--query"), False),
    (("-m", "--modify"), True),
    (("-r", "--remove"), False),
    (("-d", "--discover"), False),
)

USAGE = """\
usage: {name} drain OPTION...

  -p, --pciid ADDRESS  the card, by its PCI address
  -q, --query          its drain state
  -m, --modify 0|1     change that (not possible on these cards)
  -r, --remove         take the card away (likewise)
  -d, --discover       find cards that were taken away (likewise)
"""


def run(arguments):
    """Answer (exit status)."""
    options = suboptions.parse(arguments, OPTIONS)
    if "-h" in options or not options:
        sys.stdout.write(USAGE.format(name=called()))
        return 0
    if "-p" not in options and "-d" not in options:
        raise refuse("Must specify -p with this option.\n")
    if "-m" in options and number(options["-m"], 0, 1) is None:
        raise refuse("Option %s is invalid for -m.\n" % options["-m"])
    with Machine() as machine:
        if "-d" in options:
            raise refuse("Discovering GPUs is not supported.\n", NOT_AVAILABLE)
        card = machine.chosen(options["-p"])[0]
        if "-m" in options or "-r" in options:
            what = "Changing the drain state" if "-m" in options else "Removing"
            # Nobody may take the card for drained: unlike a clock that stays as it is, this is a failure.
            raise refuse("%s is not supported for GPU %s.\n" % (what, address(card)), NOT_AVAILABLE)
        sys.stdout.write("The current drain state of GPU %s is: not draining.\n" % address(card))
    return 0
