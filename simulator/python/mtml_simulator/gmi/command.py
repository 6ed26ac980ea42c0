"""The command line of mthreads-gmi.

Like the tool, it writes everything to stdout, complaints too, and ends with status 1 on any of them. What it cannot do,
settings above all, it refuses with the tool's own words.
"""

import os
import signal
import sys
import time

from . import processes, query, release, table, topology
from .library import LibraryError, Machine

UNAVAILABLE = "Error: the requested operation is not available on target device"
USAGE = """mthreads-gmi of mtml-simulator: shows the machine that MTML_SIM_PROFILE names.

Usage: mthreads-gmi [OPTION ...]
       mthreads-gmi topo -m | -mg | -p2p r|w [-i GPU,GPU]
       mthreads-gmi mtlink -s [-i GPU]

    -L,  --list-gpus          list the GPUs with their UUIDs
    -q,  --query              tell everything about the GPUs
    -d,  --display SECTIONS   with -q: some of %s
    -j,  --json               with -q: as JSON
    -i,  --id GPU             one GPU, by number, UUID or bus id
    -l,  --loop SECONDS       again and again
    -cf                       the table without processes
    -pm                       processes on the GPUs
    -v,  --version            version of this tool
    -h,  --help               this text
""" % ", ".join(query.DISPLAYS)
# Option: its other spellings, and whether it takes a value.
_OPTIONS = {
    "-L": (("--list-gpus",), False),
    "-q": (("--query",), False),
    "-d": (("--display",), True),
    "-j": (("--json",), False),
    "-i": (("--id",), True),
    "-l": (("--loop",), True),
    "-cf": ((), False),
    "-pm": ((), False),
    "-v": (("--version",), False),
    "-h": (("--help",), False),
}
_TOPOLOGY = {"-m": (("--matrix",), False), "-mg": ((), False), "-p2p": ((), True), "-i": (("--id",), True)}
_LINKS = {"-s": (("--status",), False), "-i": (("--id",), True)}


class Refused(Exception):
    """Ends the command with a line on stdout."""


def _parse(arguments, options):
    """Options by their short names, with their values or True (dict)."""
    spelling = {name: short for short, (others, _) in options.items() for name in (short,) + others}
    given = {}
    arguments = list(arguments)
    while arguments:
        name, equals, value = arguments.pop(0).partition("=")
        short = spelling.get(name)
        if short is None:
            raise Refused("Error: invalid argument %s, please run 'mthreads-gmi -h' for help" % name)
        if not options[short][1]:
            if equals:
                raise Refused("Error: %s takes no value" % name)
            value = True
        elif not equals:
            if not arguments:
                raise Refused("Error: %s needs a value" % name)
            value = arguments.pop(0)
        if short in given:
            raise Refused("Error: %s is given twice" % name)
        given[short] = value
    return given


def _find(machine, name):
    for device in machine.devices:
        texts = [str(device.index), device.uuid or "", device.bus_id or ""]
        if name.lower() in [text.lower() for text in texts if text]:
            return device
    raise Refused("Error: there is no GPU %s" % name)


def _selected(machine, given, several=False):
    """The devices that -i asks for; all of them without it."""
    if "-i" not in given:
        return machine.devices
    names = given["-i"].split(",")
    if len(names) > 1 and not several:
        raise Refused("Error: -i takes one GPU here")
    return [_find(machine, name.strip()) for name in names]


def _displays(text):
    names = [name.strip().upper() for name in text.split(",")]
    for name in names:
        if name not in query.DISPLAYS:
            raise Refused("Error: unknown display %s, use some of %s" % (name or '""', ", ".join(query.DISPLAYS)))
    return names


def _seconds(text):
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 86400:
        raise Refused("Error: -l needs a number of seconds")
    return seconds


def _release(machine):
    generation = machine.key(machine.devices[0], "generation") if machine.devices else ""
    return release.of_machine(machine.driver, generation)


def _list(machine):
    return "".join("GPU %d : %s (UUID : %s)\n" % (gpu.index, gpu.name, gpu.uuid) for gpu in machine.devices)


def _show(machine, given):
    """What the main command prints, once (str)."""
    devices = _selected(machine, given)
    version = _release(machine)
    if "-L" in given:
        return _list(machine)
    if "-q" in given:
        displays = _displays(given["-d"]) if "-d" in given else []
        form = query.as_json if "-j" in given else query.as_text
        return form(machine, devices, version, displays)
    if "-pm" in given:
        return table.process_monitor(processes.find(machine, devices))
    found = None if "-cf" in given else processes.find(machine, devices)
    return table.render(machine, devices, version, found)


def _main(arguments):
    given = _parse(arguments, _OPTIONS)
    if "-h" in given:
        return USAGE
    if "-v" in given:
        with Machine() as machine:
            return "mthreads-gmi version : %s\n" % _release(machine).version
    for name, needed in (("-d", "-q"), ("-j", "-q")):
        if name in given and needed not in given:
            raise Refused("Error: %s goes with %s only" % (name, needed))
    if sum(name in given for name in ("-L", "-q", "-pm", "-cf")) > 1:
        raise Refused("Error: more than one of -L, -q, -pm, -cf")
    pause = _seconds(given["-l"]) if "-l" in given else None
    while True:
        with Machine() as machine:
            text = _show(machine, given)
        if pause is None:
            return text
        sys.stdout.write(text)
        sys.stdout.flush()
        time.sleep(pause)


def _topology(arguments):
    given = _parse(arguments, _TOPOLOGY)
    if sum(name in given for name in ("-m", "-mg", "-p2p")) != 1:
        raise Refused("Error: topo needs -m, -mg or -p2p, please run 'mthreads-gmi -h' for help")
    with Machine() as machine:
        devices = _selected(machine, given, several=True)
        if "-p2p" not in given:
            return topology.matrix(devices, affinity="-m" in given)
        if given["-p2p"] not in ("r", "w"):
            raise Refused("Error: -p2p needs r or w")
        return topology.p2p(devices, capability="rw".index(given["-p2p"]))


def _links(arguments):
    given = _parse(arguments, _LINKS)
    if "-s" not in given:
        raise Refused("Error: mtlink needs -s, please run 'mthreads-gmi -h' for help")
    with Machine() as machine:
        text = topology.link_states(_selected(machine, given))
    if text is None:
        raise Refused(UNAVAILABLE)
    return text


def _run(arguments):
    subcommands = {"topo": _topology, "mtlink": _links}
    if arguments[:1] and arguments[0] in subcommands:
        return subcommands[arguments[0]](arguments[1:])
    if arguments[:1] in (["vgpu"], ["event"]) or set(arguments) & {"-e", "-r", "-mm"}:
        raise Refused(UNAVAILABLE)
    return _main(arguments)


def main(arguments):
    """Run the command; exit status."""
    # Ctrl-C ends a loop without a word, and so does a reader that goes away.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # Output of the simulated machine may have any byte in it.
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    try:
        sys.stdout.write(_run(arguments))
        status = 0
    except Refused as refused:
        print(refused)
        status = 1
    except LibraryError as error:
        print("Error: cannot initialize MTML: %s" % error)
        status = 1
    sys.stdout.flush()
    # The interpreter's own end has nothing left to do.
    os._exit(status)
