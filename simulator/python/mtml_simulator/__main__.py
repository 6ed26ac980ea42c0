"""The command: python -m mtml_simulator list | show PROFILE | env PROFILE | exec PROFILE -- COMMAND ..."""

import argparse
import os
import shlex
import sys

from . import __version__, environment, profiles
from .native import SimulatorError, check_profile

DESCRIPTION = "Runs programs on a simulated MTML library (Moore Threads GPU management)."
EPILOG = """PROFILE is the name of a shipped profile (see list) or the path of a file, such as `pymtml capture` writes;
with +frozen after it (s5000x8+frozen) the values do not move."""


def _list(arguments):
    names = profiles.names()
    width = max(map(len, names))
    for name in names:
        print(("%-*s  %s" % (width, name, profiles.summary(name))).rstrip())
    return 0


def _show(arguments):
    sys.stdout.write(profiles.text(arguments.profile))
    return 0


def _env(arguments):
    variables = environment.variables(arguments.profile)
    if not check_profile(variables):
        return 2
    for name in sorted(variables):
        print("export %s=%s" % (name, shlex.quote(variables[name])))
    return 0


def _exec(arguments):
    variables = environment.variables(arguments.profile)
    if not check_profile(variables):
        return 2
    environ = dict(os.environ, **variables)
    command = arguments.command
    try:
        os.execvpe(command[0], command, environ)
    except OSError as error:
        print("mtml_simulator: %s: %s" % (command[0], error.strerror), file=sys.stderr)
        # What a shell answers.
        return 127 if isinstance(error, FileNotFoundError) else 126


def _parser():
    parser = argparse.ArgumentParser(prog="python -m mtml_simulator", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version="mtml-simulator " + __version__)
    commands = parser.add_subparsers(dest="subcommand", metavar="COMMAND")
    commands.required = True
    command = commands.add_parser("list", help="name the shipped profiles")
    command.set_defaults(run=_list)
    for name, run, text in (
        ("show", _show, "print a profile, as a beginning for one of your own"),
        ("env", _env, 'print lines to export: eval "$(python -m mtml_simulator env s80)"'),
        ("exec", _exec, "run a command on a simulated machine: exec s80 -- mthreads-gmi"),
    ):
        command = commands.add_parser(name, help=text, epilog=EPILOG)
        command.add_argument("profile", metavar="PROFILE")
        command.set_defaults(run=run)
    return parser


def main(arguments=None):
    """Run the command; exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    command = []
    # Whatever follows the profile of exec is the command's, options and a second `--` too.
    if arguments[:1] == ["exec"] and len(arguments) > 2:
        arguments, command = arguments[:2], arguments[2:]
        command = command[1:] if command[0] == "--" else command
    parsed = parser.parse_args(arguments)
    if parsed.subcommand == "exec" and not command:
        parser.error("exec needs a command: exec PROFILE -- COMMAND ...")
    parsed.command = command
    try:
        status = parsed.run(parsed)
        sys.stdout.flush()
        return status
    except (profiles.ProfileError, SimulatorError) as error:
        print("mtml_simulator: %s" % error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader went away, as in `list | head -1`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print("mtml_simulator: %s" % error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
