"""The command: python -m mtml_simulator list | show PROFILE | env PROFILE | exec PROFILE -- COMMAND | ctl ACTION ..."""

import argparse
import os
import re
import shlex
import shutil
import sys
from typing import Callable, Dict, List, Optional, Tuple

from . import __version__, ctl, environment, folders, profiles, session, tree
from .native import SimulatorError, check_profile, load

DESCRIPTION = "Runs programs on a simulated MTML library (Moore Threads GPU management)."
EPILOG = """PROFILE is the name of a shipped profile (see list) or the path of a file, such as `pymtml capture` writes;
with +frozen after it (s5000x8+frozen) the values do not move."""


def _list(arguments: argparse.Namespace) -> int:
    names = profiles.names()
    width = max(map(len, names))
    for name in names:
        print(("%-*s  %s" % (width, name, profiles.summary(name))).rstrip())
    return 0


def _show(arguments: argparse.Namespace) -> int:
    sys.stdout.write(profiles.text(arguments.profile))
    return 0


# How the steps of a CI service take variables: one a line.
FORMATS: Dict[str, Callable[[str, str], str]] = {
    "shell": lambda name, value: "export %s=%s" % (name, shlex.quote(value)),
    "github": lambda name, value: "%s=%s" % (name, value),
    "dotenv": lambda name, value: '%s="%s"' % (name, re.sub(r'(["\\\\$`])', r"\\\1", value)),
}


def _env(arguments: argparse.Namespace) -> int:
    variables = environment.variables(arguments.profile)
    variables.update(_options(arguments))
    if not check_profile(variables):
        return 2
    for name in sorted(variables):
        if "\n" in variables[name] and arguments.format != "shell":
            raise SimulatorError("%s cannot be written in one line" % name)
    for name in sorted(variables):
        print(FORMATS[arguments.format](name, variables[name]))
    return 0


def _options(arguments: argparse.Namespace) -> Dict[str, str]:
    """Variables of the options that `env` and `exec` have in common (dict)."""
    variables = {}
    if arguments.control:
        file = os.path.abspath(arguments.control)
        variables.update(environment.control(file, profiles.value(arguments.profile)))
    if arguments.strict:
        variables["MTML_SIM_STRICT"] = "1"
    return variables


def _tree(arguments: argparse.Namespace) -> int:
    if not check_profile({"MTML_SIM_PROFILE": profiles.value(arguments.profile)}):
        return 2
    os.makedirs(arguments.folder, exist_ok=True)
    tree.render(session.Machine(load()), arguments.folder)
    return 0


def _with_tree(command: List[str], folder: str, variables: Dict[str, str]) -> List[str]:
    """The command that shows a program the machine's PCI devices; variables are added to those that are given."""
    root = os.path.join(folder, "tree")
    tree.render(session.Machine(load()), root)
    variables.update(tree.variables(root))
    shown = tree.over_sysfs(root, os.path.join(folder, "pci"), command)
    if shown is None:
        print(
            "mtml_simulator: %s cannot be replaced here; programs that look there see this machine's devices"
            % tree.PCI_DEVICES,
            file=sys.stderr,
        )
    return shown or command


def _exec(arguments: argparse.Namespace) -> int:
    variables = environment.variables(arguments.profile)
    variables.update(_options(arguments))
    # The folder goes by this process's number, which the program keeps.
    folder = folders.make()
    try:
        if not arguments.control:
            file = os.path.join(folder, "control")
            variables.update(environment.control(file, variables["MTML_SIM_PROFILE"]))
        if not check_profile(variables):
            return 2
        command = arguments.command
        if arguments.nodes:
            variables.update(tree.write_nodes(session.Machine(load()), os.path.join(folder, "nodes")))
        if arguments.tree:
            command = _with_tree(command, folder, variables)
        os.execvpe(command[0], command, dict(os.environ, **variables))
    except OSError as error:
        print("mtml_simulator: %s: %s" % (arguments.command[0], error.strerror), file=sys.stderr)
        # What a shell answers.
        return 127 if isinstance(error, FileNotFoundError) else 126
    finally:
        # Not where the program has taken over.
        shutil.rmtree(folder, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mtml_simulator", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version="mtml-simulator " + __version__)
    commands = parser.add_subparsers(dest="subcommand", metavar="COMMAND")
    commands.required = True
    command = commands.add_parser("list", help="name the shipped profiles")
    command.set_defaults(run=_list)
    command = commands.add_parser("show", help="print a profile, as a beginning for one of your own", epilog=EPILOG)
    command.add_argument("profile", metavar="PROFILE")
    command.set_defaults(run=_show)
    command = commands.add_parser("tree", help="write the machine as files of sysfs, /dev and /proc", epilog=EPILOG)
    command.add_argument("profile", metavar="PROFILE")
    command.add_argument("folder", metavar="DIR")
    command.set_defaults(run=_tree)
    command = commands.add_parser("ctl", help="change the machine of programs that run already: ctl set 0.name X")
    ctl.add(command)
    command.set_defaults(run=ctl.run)
    for name, run, text in (
        ("env", _env, 'print variables: eval "$(python -m mtml_simulator env s80)"'),
        ("exec", _exec, "run a command on a simulated machine: exec s80 -- mthreads-gmi"),
    ):
        command = commands.add_parser(name, help=text, epilog=EPILOG)
        command.add_argument(
            "--control", metavar="FILE", help="share the machine with all programs that name this file"
        )
        command.add_argument("--strict", action="store_true", help="a handle used after its Free is an error")
        command.add_argument("profile", metavar="PROFILE")
        command.set_defaults(run=run)
        if name == "exec":
            text = "show the machine in /sys/bus/pci/devices, and to pymtml in /sys and /proc"
            command.add_argument("--tree", action="store_true", help=text)
            text = "let /dev/mtgpu.N answer who asks the driver for the memory of processes"
            command.add_argument("--nodes", action="store_true", help=text)
        if name == "env":
            command.add_argument(
                "--format",
                choices=sorted(FORMATS),
                default="shell",
                help="shell: for eval; github: for >> $GITHUB_ENV; dotenv: for GitLab's artifacts:reports:dotenv",
            )
    return parser


def _split(arguments: List[str]) -> Tuple[List[str], List[str]]:
    """What is exec's, and the command behind its profile, which may have options and a second `--` (two lists)."""
    place = 1
    while place < len(arguments) and arguments[place].startswith("-") and arguments[place] != "--":
        place += 2 if arguments[place] == "--control" else 1
    own, command = arguments[: place + 1], arguments[place + 1 :]
    return own, command[1:] if command[:1] == ["--"] else command


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the command; exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    command: List[str] = []
    if arguments[:1] == ["exec"]:
        arguments, command = _split(arguments)
    parsed = parser.parse_args(arguments)
    if parsed.subcommand == "exec" and not command:
        parser.error("exec needs a command: exec PROFILE -- COMMAND ...")
    parsed.command = command
    try:
        status: int = parsed.run(parsed)
        sys.stdout.flush()
        return status
    except (ValueError, SimulatorError) as error:
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
