"""Entry point of the command: chooses what was asked for, imports that alone, and turns failures into an exit status.

A subcommand is a module of this package with

    add_arguments(parser)   declares its arguments on an argparse.ArgumentParser
    run(options)            does the work; returns the exit status (None counts as 0)
    parse(arguments)        in place of add_arguments, where argparse must not look at the arguments; returns options

and a line in SUBCOMMANDS. Whatever is no subcommand is nvidia-smi's language: module `language`.
"""

import importlib
import os
import sys

from pymtml_cli.errors import CommandError, called

SUBCOMMANDS = {
    "capture": ("capture", "print a profile of this machine that the simulator loads"),
    "dmon": ("dmon", "a line for each card and second"),
    "pmon": ("pmon", "a line for each process and second"),
    "mtlink": ("mtlink", "state, speed and far end of each MtLink"),
    "nvlink": ("nvlink", "the same in nvidia-smi's form"),
    "health": ("health", "check the cards, for schedulers and cron"),
    "doctor": ("doctor", "say what works here, what does not, and what to do about it"),
    "drop-in": ("drop_in", "make programs take pymtml for pynvml"),
    "topo": ("topo", "how cards are joined with each other and with processors"),
    "run": ("run", "run a program with pymtml in the place of pynvml"),
}

INTERRUPTED = 130
BROKEN_PIPE = 141
FAILED = 255


def parse(module, name, arguments):
    """Options of a subcommand (argparse.Namespace, or what the module's own parse makes of the arguments)."""
    if hasattr(module, "parse"):
        return module.parse(arguments)
    import argparse

    parser = argparse.ArgumentParser(prog="%s %s" % (called(), name), description=SUBCOMMANDS[name][1])
    module.add_arguments(parser)
    return parser.parse_args(arguments)


def dispatch(arguments):
    """Run what the arguments ask for (exit status)."""
    if arguments and arguments[0] in SUBCOMMANDS:
        name = arguments[0]
        module = importlib.import_module("pymtml_cli." + SUBCOMMANDS[name][0])
        return module.run(parse(module, name, arguments[1:]))
    from pymtml_cli import language

    return language.run(arguments)


def main(arguments=None):
    """Run the command (exit status). Without arguments: those of the process."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that the locale cannot write is no reason to fail
    try:
        status = dispatch(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status or 0
    except CommandError as error:
        return _report(error)
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        return _nobody_reads()
    except OSError as error:  # a full disk, say
        return _report(CommandError(str(error), FAILED))


def _report(error):
    try:
        if error.stdout:
            sys.stdout.write(error.text)
            sys.stdout.flush()
        else:
            sys.stdout.flush()
            sys.stderr.write("%s: %s\n" % (called(), error.text))
    except BrokenPipeError:
        return _nobody_reads()
    except OSError:
        _discard(sys.stdout)
    return error.status


def _interrupted():
    """End by the signal itself, so that a shell script around the command ends too."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard(sys.stdout)
    try:
        from _signal import SIG_DFL, SIGINT, signal

        signal(SIGINT, SIG_DFL)
        os.kill(os.getpid(), SIGINT)
    except (ImportError, OSError, ValueError):
        pass
    return INTERRUPTED


def _nobody_reads():
    _discard(sys.stdout)
    return BROKEN_PIPE


def _discard(stream):
    """Let the interpreter's last flush of a stream that takes no more go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
