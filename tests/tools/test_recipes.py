"""AGENTS.md's recipes for the command, followed in a copy: what they name is all that is needed."""

import re

import next_mtml
import pytest

TABLE, FIELDS, SECTIONS = "pymtml_cli/readings/table.py", "pymtml_cli/smi/fields.txt", "pymtml_cli/smi/sections.txt"
CHECKS, BY_HAND = "pymtml_cli/health/checks.py", "tests/cli/by_hand.txt"


def above(name, line, text):
    """What puts lines of text above one that a file has once."""
    return name, line, text + line


ROW = """\
    _count("pcie.link.gen.hostmax", asked(pymtml.nvmlDeviceGetMaxPcieLinkGeneration), json="pci.host_generation",
           compare=VALUE, series=("pcie_generation_host",)),
"""
HELP = """\
    "pcie_generation_host": ("pcie", as_it_is, (), "Greatest PCIe generation of the host's port."),
"""
VALUES = "pci_max_gen, number | pcie.link.gen.hostmax | PCI/GPU Link Info/PCIe Generation/Host Max"
VALUES += " | pci/pci_gpu_link_info/pcie_gen/max_host_link_gen | pci/host_generation | pcie_generation_host\n"
QUERY = '''\
def host_port(card, limits):
    """Whether the host's port is one of this century."""
    value = required("PCIe generation of the host", value_of(card, "pcie.link.gen.hostmax"))
    return well_or(WARNING, "generation %d" % value, value, 2, value < 2)


'''
ENTRY = """\
    Check("port", "WARNING: an old port", {host_port: "a port of this century"}, "buy another board"),
"""
EDGES = """\
host_port | pci_max_gen=2 | OK 2/2 | a port of this century
host_port | pci_max_gen=1 | WARNING 1/2 | generation 1
"""
# (file, what it has once, what stands there afterwards)
READING = [
    above(TABLE, '    _count("pcie.link.width.current"', ROW),
    above(TABLE, '    "pcie_replays_total": (', HELP),
    (FIELDS, "\npcie.link.gen.hostmax |  |", "\npcie.link.gen.hostmax |"),
    (SECTIONS, " Host Max | max_host_link_gen", " Host Max | max_host_link_gen | pcie.link.gen.hostmax"),
    above(BY_HAND, "pci_cur_width, lanes |", VALUES),
    above(CHECKS, "def pcie_replays(card, limits):", QUERY),
    above(CHECKS, '    Check("processes", "NOTE', ENTRY),
    above(BY_HAND, "seen_processes | | OK", EDGES),
]
HELLO = '''\
"""hello: says hello."""

import sys

from pymtml_cli.subcommands import argument_parser


def parser():
    parser = argument_parser("hello")
    parser.add_argument("--name", metavar="NAME", help="who")
    return parser


def run(arguments):
    sys.stdout.write("hello %s\\n" % parser().parse_args(arguments).name)
'''
SUBCOMMAND = [
    above(
        "pymtml_cli/subcommands.py", '    "health": Subcommand(', '    "hello": Subcommand("smi.hello", "say hello"),\n'
    ),
    above("docs/command.md", "## metrics\n", "## hello\n\nSays hello.\n\n"),
    above("tests/cli/expected/help.txt", "$ pymtml labels --help\n", "$ pymtml hello --help\n\n"),
]
FILES = "checks compare completion distinct_values doctor health hostfacts json metrics plausible query rooms".split()
LONG = "sick or hurt or odd_places or cut_off"  # in these files, and know no single reading


class Copy(next_mtml.Copy):
    """A copy of the project in which recipes are followed."""

    def follow(self, recipe):
        """Do what a recipe says; returns how many lines that takes."""
        typed = 0
        for name, old, new in recipe:
            text = self.read(name)
            assert text.count(old) == 1, (name, old)
            self.write(name, text.replace(old, new))
            typed += len([line for line in new.splitlines() if line and line not in old.splitlines()])
        return typed

    def make(self, *parts):
        """make generate record, of what the command changes."""
        for arguments in [("tools/generate.py", "--only", "man_page")] + [("tools/record.py", "--only", part) for part in parts]:
            status, output = self.python(*arguments)
            assert status == 0, output[-3000:]


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path / "project")


def test_a_reading_with_everything(copy):
    """A field, lines of -q and -x, a key of --json, a series and a check: five files, fifteen lines."""
    assert len({name for name, _, _ in READING}) <= 5 and copy.follow(READING) <= 15
    copy.make("counts", "checks", "keys", "series", "expected", "screens")
    assert re.search(r"\n +Host Max +: [45]\n", copy.read("tests/cli/expected/details.txt"))
    assert "| `mthreads_gpu_pcie_generation_host` | gauge | | Greatest" in copy.read("docs/metrics.md")
    written = copy.read("docs/command.md")
    assert "| `port` | WARNING: an old port |" in written and "`host_generation`" in written
    status, output = copy.test("-k", "not (%s)" % LONG, *("tests/cli/test_%s.py" % name for name in FILES))
    assert status == 0, output[-5000:]


def test_a_subcommand(copy):
    copy.follow(SUBCOMMAND)
    copy.write("pymtml_cli/smi/hello.py", HELLO)
    copy.make("expected")
    assert "--name NAME  who" in copy.read("tests/cli/expected/help.txt")
    status, output = copy.test("tests/cli/test_expected.py", "tests/cli/test_completion.py", "tests/cli/test_rooms.py")
    assert status == 0, output[-5000:]
