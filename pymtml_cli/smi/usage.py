"""--help: what the command can be asked for."""

from textwrap import wrap

import pymtml
from pymtml_cli.common import layout
from pymtml_cli.common.errors import NVIDIA_SMI, called, worded
from pymtml_cli.language import LOOP_SECONDS, SECTIONS, WATCH_SECONDS
from pymtml_cli.readings.devices import Unknown, ask, shown_driver
from pymtml_cli.subcommands import LISTED, SUBCOMMANDS

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
    texts = layout.blocks("smi/texts.txt")
    if called() == NVIDIA_SMI:  # by whose first line programs tell the version
        print(texts["title"].format(version=_version()) + "\n")
    print(worded(texts["help"].format(**values)))
    return 0


def _version():
    """Version of the driver, where there is one, as nvidia-smi has its driver's."""
    failed = ask(pymtml.nvmlInit)
    if isinstance(failed, Unknown):
        return pymtml.__version__
    version = shown_driver(ask(pymtml.nvmlSystemGetDriverVersion))
    ask(pymtml.nvmlShutdown)
    return pymtml.__version__ if isinstance(version, Unknown) else version
