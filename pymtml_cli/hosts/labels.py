"""labels: a node's cards as labels for Kubernetes, in the form of node-feature-discovery's local files.

docs/command.md has the labels. An unknown value has none.
"""

import re
import sys

from pymtml_cli.arguments import argument_parser
from pymtml_cli.common.files import replace_file
from pymtml_cli.health import checks
from pymtml_cli.readings.devices import Machine, Unknown
from pymtml_cli.readings.table import mebibytes, value_of

VENDOR = "mthreads.com/"
LONGEST_VALUE = 63  # characters, the limit of Kubernetes


def parser():
    parser = argument_parser("labels")
    parser.add_file("--output", "replace FILE instead of printing; without a driver it stays as it is")
    return parser


def run(arguments):
    options = parser().parse_args(arguments)
    with Machine() as machine:
        text = "".join("%s%s=%s\n" % (VENDOR, name, value) for name, value in labels(machine))
    if options.output is None:
        sys.stdout.write(text)
    else:
        replace_file(options.output, text.encode("ascii"))


def labels(machine):
    cards = machine.cards
    yield "gpu.count", sum(not checks.is_silent(checks.outcomes(card, "answers", {})) for card in cards)
    products = {label_value(name) for name in values(cards, "name")}
    if products - {""}:
        yield "gpu.product", products.pop() if len(products) == 1 else "mixed"
    sizes = values(cards, "memory.total")
    if sizes:
        yield "gpu.memory", mebibytes(min(sizes))
    version = machine.driver_version
    if not isinstance(version, Unknown) and label_value(version):
        yield "driver.version", label_value(version)
    modes = values(cards, "mig.mode.current")
    if modes:
        yield "mpc.enabled", "true" if any(modes) else "false"
        yield "mpc.instances", sum(len(card.instances) for card in cards)


def values(cards, name):
    """The values of a reading on cards, without unknown ones (list)."""
    found = [value_of(card, name) for card in cards]
    return [value for value in found if not isinstance(value, Unknown)]


def label_value(text):
    """A text as the value of a label: letters, digits and -_. between letters or digits."""
    return re.sub("[^A-Za-z0-9_.-]+", "-", text)[:LONGEST_VALUE].strip("-_.")
