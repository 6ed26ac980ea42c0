"""Makes programs take pymtml for NVIDIA's pynvml, under every name by which they import it.

`install` puts a finder in front of Python's own. The finder knows a table of names; only when one of them is imported
does it load `pymtml_dropin.hook`, which does the work: this file runs at the start of every Python of an environment in
which ``pymtml drop-in enable`` was called, so it does next to nothing.
"""

import os
import sys

NAMES = frozenset(
    (
        "pynvml",
        "pynvml.nvml",  # pynvml before version 12 was a package
        "pynvml.smi",
        "pymtml.smi",  # what ``from pynvml import smi`` asks for, as pynvml is the module named pymtml
        "py3nvml.py3nvml",
        # copies that programs carry inside
        "aim.ext.pynvml",
        "clearml.utilities.gpu.pynvml",
        "clearml_agent.helper.gpu.pynvml",
        "comet_ml.vendor.nvidia_ml.pynvml",
        "neptune.vendor.pynvml",
        "ray._private.thirdparty.pynvml",
        "sglang.multimodal_gen.third_party.pynvml",
        "traceml.vendor.pynvml",
        "wandb.vendor.pynvml.pynvml",
    )
)

# What belongs to this very installation. A program that is asked to take pymtml may run on another Python, which has
# none of these, or the pymtml.py of another distribution.
OWN = frozenset(("pymtml", "pymtml_cli"))


class Finder:
    """Finds pymtml for the names of the table (a finder of sys.meta_path)."""

    def __init__(self, names):
        self.names = names
        self.asked = False

    def find_spec(self, name, path=None, target=None):
        if name not in self.names:
            return None
        from pymtml_dropin import hook

        return hook.find_spec(name, self.asked)


def install(asked):
    """Let the names of the table, and those in PYMTML_DROPIN_MODULES, be pymtml from now on.

    `asked` is for those who named pymtml for this process (pymtml run, PYTHONPATH): pymtml is then this installation's,
    and pynvml is pymtml even where an NVIDIA driver is present.
    """
    finder = next((finder for finder in sys.meta_path if isinstance(finder, Finder)), None)
    if finder is None:
        names = NAMES
        if os.environ.get("PYMTML_DROPIN_MODULES"):
            from pymtml_dropin import hook

            names |= hook.more_names()
        finder = Finder(names)
        sys.meta_path.insert(0, finder)
    if asked:
        finder.asked = True
        finder.names |= OWN
