"""Makes programs use pymtml as NVIDIA's pynvml, under every name by which they import it.

`install` puts a finder in front of Python's own. The finder knows a table of names; only when one of them is imported
does it load `pymtml_dropin.hook`, which does the work: this file runs at the start of every Python of an environment in
which ``pymtml drop-in enable`` was called, so it does next to nothing.
"""

import os
import sys

# Beside each name: what its program does with a count above 0. A program that infers CUDA from it must not be here. So
# three copies are left out: vllm and sglang's diffusion runtime choose the platform by the count (their platforms for
# these cards query MTML by its own name), and clearml-agent chooses the build of torch to install by the CUDA version.
# Users who want them nevertheless name them in PYMTML_DROPIN_MODULES.
NAMES = frozenset(
    (
        "pynvml",  # monitors show cards; torch.cuda reports utilization, if it has a device; xinference offers engines
        "pynvml.nvml",  # pynvml before version 12 was a package
        "pynvml.smi",  # the tables of nvidia-smi; pytorch-ignite's GpuInfo asks torch.cuda.is_available() first
        "pymtml.smi",  # what ``from pynvml import smi`` imports, as pynvml is the module named pymtml
        "py3nvml.py3nvml",  # glances 3, labml, watermark: cards to show; its grab_gpus: CUDA_VISIBLE_DEVICES to set
        # copies that programs carry inside
        "aim.ext.pynvml",  # series to record
        "clearml.utilities.gpu.pynvml",  # series to record, and the driver's versions as facts about the machine
        "comet_ml.vendor.nvidia_ml.pynvml",  # series to record, for the cards of CUDA_VISIBLE_DEVICES
        "neptune.vendor.pynvml",  # series to record
        "ray._private.thirdparty.pynvml",  # resources "GPU" to hand out, and series; see MODULES for the variable
        "simvue.pynvml",  # series to record
        "traceml.vendor.pynvml",  # series to record
        "wandb.vendor.pynvml.pynvml",  # series to record, and names as facts about the machine
    )
)

# Programs and packages that find these cards by themselves, through the command beside them: with pynvml as well they
# count each card twice. Where the command is there, they keep their own pynvml and nvidia-smi.
KNOWING = {
    "ramalama": "mthreads-gmi",  # where nvidia-smi answers it takes an image for CUDA, and CUDA's variable
    "swanlab": "mthreads-gmi",  # a run has series of both vendors
    "xpustat": "mthreads-gmi",  # lists cuda:0-7 and musa:0-7, and chooses a free card by CUDA_VISIBLE_DEVICES
}

# Modules that run as they are, and are then changed: {name: module of this package that changes it}
MODULES = {"ray._private.accelerators.nvidia_gpu": "pymtml_dropin.ray"}

# Modules that must come from this installation. A program that is started with pymtml may run on another Python, which
# has none of these, or the pymtml.py of another distribution.
OWN = frozenset(("pymtml", "pymtml_cli"))

# The distribution whose metadata is provided, in the form for comparison: in lower case, with hyphens
DISTRIBUTION = "nvidia-ml-py"


class Finder:
    """Finds pymtml for the names of the table (a finder of sys.meta_path)."""

    def __init__(self, names):
        self.names = names
        self.asked = False

    def find_spec(self, name, path=None, target=None):
        if name not in self.names and name not in MODULES:
            return None
        from pymtml_dropin import hook

        return hook.find_changed(name, path) if name in MODULES else hook.find_spec(name, self.asked)

    def find_distributions(self, context):
        """Metadata of nvidia-ml-py, if asked for by name and not in a folder (importlib.metadata calls this)."""
        if context.name is None or "path" in vars(context):
            return iter(())
        # Queries for other names must not depend on the rest of this package, which may be uninstalled by then.
        if context.name.lower().replace("_", "-").replace(".", "-") != DISTRIBUTION:
            return iter(())
        from pymtml_dropin import metadata

        return metadata.find(context, self, self.asked)


def installed():
    """The Finder of this process, or None."""
    return next((finder for finder in sys.meta_path if isinstance(finder, Finder)), None)


def stands_in():
    """Whether `import pynvml` loads pymtml in this process, which then writes UUIDs as NVML does.

    pymtml calls this when it loads its library. A forked process keeps its parent's finder; a spawned one starts a
    Python of its own, which installs the finder as the parent's Python did.
    """
    finder = installed()
    if finder is None:
        return False
    from pymtml_dropin import hook

    return not hook.left_alone(finder.asked)


def install(asked):
    """Let the names of the table, and those in PYMTML_DROPIN_MODULES, be pymtml from now on.

    `asked`: the user chose pymtml for this process (pymtml run, PYTHONPATH). Then pymtml is that of this installation,
    and pynvml is pymtml even if an NVIDIA driver is present.
    """
    finder = installed()
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
