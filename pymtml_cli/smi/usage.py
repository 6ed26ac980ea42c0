"""--help: what the command can be asked for."""

from textwrap import wrap

import pymtml
from pymtml_cli.common.errors import NVIDIA_SMI, called, worded
from pymtml_cli.language import LOOP_SECONDS, SECTIONS, WATCH_SECONDS
from pymtml_cli.readings.devices import Unknown, ask, shown_driver
from pymtml_cli.subcommands import LISTED, SUBCOMMANDS

# The first line under NVIDIA's name, by which programs tell the version
_TITLE = """\
NVIDIA System Management Interface -- v{version}

This is pymtml: it takes nvidia-smi's options, for Moore Threads GPUs.

"""

_HELP = """\
usage: {name} [OPTION [VALUE]]...
       {name} SUBCOMMAND ...

Shows Moore Threads GPUs. Without arguments: a table of cards and processes.

What to show:
  -L, --list-gpus            a line for each card and each MPC instance
  -q, --query                everything, in sections
  --json                     everything, for programs
  --query-gpu=FIELDS         chosen properties of the cards; --help-query-gpu lists them
  --query-compute-apps=FIELDS, --query-retired-pages=FIELDS, --query-remapped-rows=FIELDS,
  --query-supported-clocks=FIELDS, --query-accounted-apps=FIELDS
                             of other things, each with its --help-query-...
  --version                  versions of command, library, driver and MUSA
  -h, --help                 this text

How:
  -i, --id=CARDS             only these cards: index, UUID or PCI address, separated by commas (default: all)
  -d, --display=SECTIONS     with -q: only these sections: {sections}
  -x, --xml-format           with -q: as XML
  --format=csv[,noheader][,nounits]
                             with --query-...: without the head line, without units (default: with both)
  -f, --filename=FILE        into a file (default: stdout)
  -l, --loop[=SECONDS]       repeat (default: every {loop} s); -lms, --loop-ms[=MILLISECONDS] likewise
  --watch[=SECONDS]          the table, in place, until Ctrl-C (default: every {watch} s)

What to change, of the cards that -i names (default: all):
  -e, --ecc-config=0|1       ECC, from the next reboot on
  -p, --reset-ecc-errors=0|1
                             clear the ECC counters: 0 since the driver was loaded, 1 of the card's life
  -mig, --multi-instance-gpu=0|1
                             MPC
  -r, --gpu-reset            reset the cards that -i names
  -eow, --error-on-warning   exit status 3 if a card cannot do it (default: a warning, and 0)
  nvidia-smi's other options that change something print that these cards do not support it:
    {others} ...

Subcommands (see {name} SUBCOMMAND --help):
{subcommands}
  nvidia-smi's for features that these cards do not have:
    {refused}
"""

OTHERS = ("-pm", "-c", "-pl", "-lgc", "-rgc", "-lmc", "-rmc", "-ac", "-rac", "-am", "-caa", "--gom")


def answer(_):
    """Print the help (exit status)."""
    form = "  %%-%ds  %%s" % max(map(len, LISTED))
    values = {
        "name": called(),
        "sections": ("\n" + " " * 29).join(wrap(", ".join(SECTIONS), 55)),
        "subcommands": "\n".join(form % (name, SUBCOMMANDS[name].help) for name in LISTED),
        "refused": "\n    ".join(wrap(", ".join(sorted(set(SUBCOMMANDS) - set(LISTED))), 80)),
        "loop": LOOP_SECONDS,
        "watch": WATCH_SECONDS,
        "others": ", ".join(OTHERS),
    }
    title = _TITLE.format(version=_version()) if called() == NVIDIA_SMI else ""
    print(title + worded(_HELP.format(**values)), end="")
    return 0


def _version():
    """Version of the driver, where there is one, as nvidia-smi has its driver's."""
    failed = ask(pymtml.nvmlInit)
    if isinstance(failed, Unknown):
        return pymtml.__version__
    version = shown_driver(ask(pymtml.nvmlSystemGetDriverVersion))
    ask(pymtml.nvmlShutdown)
    return pymtml.__version__ if isinstance(version, Unknown) else version
