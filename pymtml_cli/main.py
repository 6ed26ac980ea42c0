"""Entry point of the command: chooses the subcommand, imports it alone, and turns what goes wrong into an exit status.

A subcommand is a module of this package with

    add_arguments(parser)   declares its arguments on an argparse.ArgumentParser
    run(options)            does the work; returns the exit status (None counts as 0)
    parse(arguments)        in place of add_arguments, where argparse must not look at the arguments; returns options

and a line in SUBCOMMANDS.
"""

import importlib
import os
import sys

SUBCOMMANDS = {
    "drop-in": ("drop_in", "make programs take pymtml for pynvml"),
    "run": ("run", "run a program with pymtml in the place of pynvml"),
}

INTERRUPTED = 130
BROKEN_PIPE = 141


def parse(module, name, arguments):
    """Options of a subcommand (argparse.Namespace, or what the module's own parse makes of the arguments)."""
    if hasattr(module, "parse"):
        return module.parse(arguments)
    import argparse

    parser = argparse.ArgumentParser(prog="pymtml " + name, description=SUBCOMMANDS[name][1])
    module.add_arguments(parser)
    return parser.parse_args(arguments)


def dispatch(arguments):
    """Run what the arguments ask for (exit status)."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: pymtml SUBCOMMAND ...\n")
        for name, (_, summary) in sorted(SUBCOMMANDS.items()):
            print("  %-10s %s" % (name, summary))
        return 0
    if arguments[0] not in SUBCOMMANDS:
        print("pymtml: no subcommand %r; pymtml --help lists them" % arguments[0], file=sys.stderr)
        return 2
    name = arguments[0]
    module = importlib.import_module("pymtml_cli." + SUBCOMMANDS[name][0])
    return module.run(parse(module, name, arguments[1:]))


def main(arguments=None):
    """Run the command (exit status). Without arguments: those of the process."""
    try:
        status = dispatch(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status or 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes stdout once more at its end; nobody reads it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
