"""The arguments of subcommands that are not nvidia-smi's: argparse reads them."""

import argparse
import sys

from pymtml_cli.common import hints
from pymtml_cli.common.errors import NVIDIA_SMI, CommandError, called
from pymtml_cli.common.numeric import number
from pymtml_cli.common.text import fit, safe
from pymtml_cli.helping import page
from pymtml_cli.subcommands import SUBCOMMANDS


class Parser(argparse.ArgumentParser):
    """What it refuses is a CommandError."""

    def error(self, message):
        raise CommandError("%s; see `%s --help`" % (message, self.prog))

    def _check_value(self, action, value):
        if action.choices is not None and value not in action.choices:
            raise hints.no_value([value], action.choices, (action.option_strings or [self.prog])[0])

    def parse_args(self, args=None, namespace=None):
        options, rest = self.parse_known_args(args, namespace)
        if rest and called() == NVIDIA_SMI:
            self.error("unrecognized arguments: %s" % " ".join(rest))
        if rest:
            known = [spelling for action in self._actions for spelling in action.option_strings]
            name = self.prog.partition(" ")[2]
            raise hints.unknown("Option %s is not recognized.\n" % rest[0], rest[0], known, name)
        return options

    def format_help(self):
        forms, rows = [self.prog, "[OPTION]..."], []
        for action in self._actions:
            text = (action.help or "").replace("%%", "%")
            if isinstance(action.choices, dict):  # subparsers
                forms.append(action.metavar)
                rows += [(below.dest, below.help) for below in action._choices_actions]
            elif not action.option_strings:
                forms.append("[%s]%s" % (action.metavar, "..." * (action.nargs == "*")))
                rows.append((action.metavar, text))
            elif action.dest != "help":
                value = "" if action.nargs == 0 else action.metavar or "|".join(action.choices)
                value = "[%s]" % value if action.nargs == "?" else value
                rows.append((" ".join(filter(None, (", ".join(action.option_strings), value))), text))
        return page(" ".join(forms), self.description or "", rows, self.epilog or "")

    def exit(self, status=0, message=None):
        sys.stdout.flush()  # here a help that nobody reads, or a full disk, is an error of the command
        sys.exit(status)

    def add_number(self, option, metavar, least, most, help, default=None, whole=True):
        """An option that takes a number."""
        read = argument_type(least, most, whole)
        self.add_argument(option, type=read, metavar=metavar, default=default, help=help)

    def add_loop(self):
        """The options -l and -c."""
        self.add_argument(
            "-l",
            "--loop",
            nargs="?",
            type=argument_type(0.1, 10**6, False),
            const=5,
            metavar="SECONDS",
            help="repeat (default: every 5 s)",
        )
        self.add_number("-c", "N", 1, 2**31, "with -l: stop after N samples", 0)

    def add_list(self, option, words, metavar, help, default=""):
        """An option that takes some words, with commas."""
        self.add_argument(option, metavar=metavar, default=default, help=help).words = words

    def add_file(self, option, help, to=None):
        """An option that names a file, for this parser or a group of it."""
        (to or self).add_argument(option, type=file_name, metavar="FILE", help=help)


def argument_parser(name):
    """A Parser for the arguments of a subcommand."""
    return Parser(prog="%s %s" % (called(), name), description=SUBCOMMANDS[name].help)


def argument_type(least, most, whole=True):
    """What argparse reads a number with."""

    def read(text):
        value = number(text, least, most, whole)
        if value is None:
            kind = "whole number" if whole else "number"
            shown = fit(safe(text), 40)
            raise argparse.ArgumentTypeError("'%s' is not a %s from %s to %s" % (shown, kind, least, most))
        return value

    return read


def file_name(text):
    """What argparse reads the name of a file with: an unset variable of a unit leaves it empty."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text
