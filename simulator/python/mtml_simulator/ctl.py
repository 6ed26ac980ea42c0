"""python -m mtml_simulator ctl: changes the machine of programs that run already."""

import argparse
import glob
import os
from typing import Callable, List, Tuple

from . import folders, native, places, session
from .native import SimulatorError


def _found() -> List[Tuple[str, int]]:
    """Control files of this user's programs: [(path, process), ...]; of several in a folder the newest."""
    found = []
    for folder, process in folders.live():
        files = [path for path in glob.glob(os.path.join(folder, "control*")) if not path.endswith(".lock")]
        if files:
            found.append((max(files, key=os.path.getmtime), process))
    return found


def _control() -> str:
    """The control file that is meant when none is named.

    Raises: SimulatorError.
    """
    if os.environ.get("MTML_SIM_CONTROL"):
        return os.environ["MTML_SIM_CONTROL"]
    found = _found()
    if not found:
        raise SimulatorError(
            "no program runs on a simulated machine: start one with "
            "`python -m mtml_simulator exec PROFILE -- COMMAND`, or name its control file with --control"
        )
    if len(found) > 1:
        lines = ["  --control %s   (process %d)" % each for each in found]
        raise SimulatorError("several programs run on simulated machines; name one:\n" + "\n".join(lines))
    return found[0][0]


def _profile(control: str) -> str:
    try:
        for line in places.read(control).splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "profile":
                return value.strip()
    except FileNotFoundError:
        pass  # nothing was changed yet
    except OSError as error:
        raise SimulatorError("cannot read the control file: %s" % error) from None
    if os.environ.get("MTML_SIM_PROFILE"):
        return os.environ["MTML_SIM_PROFILE"]
    raise SimulatorError("which machine does %s belong to? Name it with --profile" % control)


def _set(machine: session.Machine, arguments: argparse.Namespace) -> None:
    machine.set(arguments.key, arguments.value)


def _unset(machine: session.Machine, arguments: argparse.Namespace) -> None:
    machine.set(arguments.key, None)


def _get(machine: session.Machine, arguments: argparse.Namespace) -> None:
    print(machine.get(arguments.key))


def _fail(machine: session.Machine, arguments: argparse.Namespace) -> None:
    machine.fail(arguments.function, arguments.code, arguments.after, arguments.times, arguments.device)


def _lose(machine: session.Machine, arguments: argparse.Namespace) -> None:
    machine.lose(arguments.card, arguments.code)


def _heal(machine: session.Machine, arguments: argparse.Namespace) -> None:
    machine.heal(arguments.card)


def _latency(machine: session.Machine, arguments: argparse.Namespace) -> None:
    machine.latency(arguments.seconds)


def _reboot(machine: session.Machine, arguments: argparse.Namespace) -> None:
    machine.reboot()


def _show(machine: session.Machine, arguments: argparse.Namespace) -> None:
    try:
        print(places.read(arguments.control), end="")
    except FileNotFoundError:
        pass  # nothing was changed yet


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand to an ArgumentParser."""
    parser.add_argument("--control", metavar="FILE", help="the control file (MTML_SIM_CONTROL, or the one in use)")
    parser.add_argument("--profile", help="the machine's profile, if the control file does not name it")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.required = True

    def action(
        name: str, run: Callable[[session.Machine, argparse.Namespace], None], text: str
    ) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=text)
        added.set_defaults(change=run)
        return added

    added = action("set", _set, "change a value: set 0.gpu_temperature 99")
    added.add_argument("key", metavar="KEY")
    added.add_argument("value", metavar="VALUE")
    action("unset", _unset, "undo a change: unset 0.gpu_temperature").add_argument("key", metavar="KEY")
    action("get", _get, "print a value").add_argument("key", metavar="KEY")
    added = action("fail", _fail, "let calls fail: fail mtmlGpuGetTemperature TIMEOUT --device 3")
    added.add_argument("function", metavar="FUNCTION", help="or * for all")
    added.add_argument("code", metavar="CODE")
    added.add_argument("--after", type=int, default=0, metavar="N", help="good calls before that")
    added.add_argument("--times", type=int, metavar="N", help="calls that fail (all)")
    added.add_argument("--device", type=int, metavar="N", help="one card only")
    added = action("lose", _lose, "let a card fall off the bus: lose 3")
    added.add_argument("card", type=int, metavar="CARD")
    added.add_argument("--code", default="DRIVER_FAILURE")
    added = action("heal", _heal, "end faults and losses: heal, or heal 3")
    added.add_argument("card", type=int, nargs="?", metavar="CARD")
    added = action("latency", _latency, "let each call take that long: latency 0.005")
    added.add_argument("seconds", type=float, metavar="SECONDS")
    action("reboot", _reboot, "let pending ECC modes come into force, as a reboot of the machine does")
    action("show", _show, "print what was changed")


def run(arguments: argparse.Namespace) -> int:
    """Do what the arguments say; exit status.

    Raises: SimulatorError, ValueError.
    """
    arguments.control = os.path.abspath(arguments.control or _control())
    machine = session.attach(arguments.control, arguments.profile or _profile(arguments.control))
    try:
        arguments.change(machine, arguments)
    except ValueError as error:
        # The library has said it already.
        if str(error) == native.message(native.load()):
            return 2
        raise
    return 0
