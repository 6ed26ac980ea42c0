"""clocks: synchronous boost and sparse operation, which these cards have not."""

import sys

from pymtml_cli import suboptions
from pymtml_cli.devices import Machine
from pymtml_cli.errors import called, refuse
from pymtml_cli.modify import DONE, WARNING, address
from pymtml_cli.numeric import number

OPTIONS = (
    (("-h", "--help"), False),
    (("-i", "--id"), True),
    (("--sync-boost-list",), False),
    (("--sync-boost-add",), False),
    (("--sync-boost-remove",), True),
    (("-som", "--sparse-operation-mode"), True),
)

USAGE = """\
usage: {name} clocks OPTION...

  --sync-boost-list                  groups of cards that boost together
  --sync-boost-add                   make one (not possible on these cards)
  --sync-boost-remove NUMBER         take one away (likewise)
  -som, --sparse-operation-mode 0|1  likewise
  -i, --id CARDS                     only these: index, UUID or PCI address, separated by commas
"""


def run(arguments):
    """Answer (exit status)."""
    options = suboptions.parse(arguments, OPTIONS)
    if "-h" in options or not set(options) - {"-i"}:
        sys.stdout.write(USAGE.format(name=called()))
        return 0
    for name in ("-som", "--sync-boost-remove"):
        if name in options and number(options[name], 0, 1 if name == "-som" else 1 << 31) is None:
            raise refuse("Option %s is invalid for %s.\n" % (options[name], name))
    what = "Setting sparse operation mode" if "-som" in options else "Synchronous boost"
    with Machine() as machine:
        for card in machine.chosen(options.get("-i")):
            sys.stdout.write("%s is not supported for GPU %s.\n%s" % (what, address(card), WARNING))
    sys.stdout.write(DONE)
    return 0
