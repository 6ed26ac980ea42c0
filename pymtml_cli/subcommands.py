"""The subcommands. A subcommand is a module of this package with

    run(arguments)   does what the arguments behind its name ask for; returns the exit status (None counts as 0)

and a line in SUBCOMMANDS. Whatever is no subcommand is nvidia-smi's language: module `language`.
"""


class Subcommand:
    """A subcommand: its module, and its line in --help.

    The module has a function `parser`, or its options are in smi/options.txt, which argparse would read otherwise. The
    run of one that several subcommands have in common, ``shared``, takes the name as well.
    """

    __slots__ = ("module", "help", "shared")

    def __init__(self, module, help, shared=False):
        self.module, self.help, self.shared = module, help, shared


def _refused(help):
    return Subcommand("smi.refused", help, True)


# In the order of --help: what people need first, then by task, nvidia-smi's last
SUBCOMMANDS = {
    "health": Subcommand("health.health", "check the cards, for schedulers and cron"),
    "doctor": Subcommand("health.doctor", "what works here, what does not, and what to do about it"),
    "ps": Subcommand("ps", "who uses which card: users, memory, command lines"),
    "run": Subcommand("dropin.run", "run a program with pymtml in place of pynvml"),
    "metrics": Subcommand("metrics.write", "values and health of the cards for Prometheus"),
    "topo": Subcommand("smi.topo", "how cards are connected to each other and to processors"),
    "mtlink": Subcommand("smi.mtlink", "state, speed and far end of each MtLink", True),
    "mig": Subcommand("smi.mig", "list MPC instances, and divide a card into them"),
    "vgpu": Subcommand("smi.vgpu", "virtual devices, and the types that a card offers"),
    "dmon": Subcommand("smi.dmon", "a line for each card and second"),
    "pmon": Subcommand("smi.pmon", "a line for each process and second"),
    "xid": Subcommand("health.xid", "errors that the driver has recorded, the oldest first"),
    "compare": Subcommand("hosts.compare", "differences between hosts, from the JSON output of each"),
    "labels": Subcommand("hosts.labels", "labels of a Kubernetes node, for node-feature-discovery"),
    "drop-in": Subcommand("dropin.drop_in", "make programs use pymtml as pynvml"),
    "completion": Subcommand("completion", "completion script for a shell: bash, zsh or fish"),
    "report": Subcommand("health.report", "one archive for a support request"),
    "capture": Subcommand("capture", "a profile of this machine that the simulator loads"),
    "nvlink": Subcommand("smi.mtlink", "the links of mtlink, in nvidia-smi's form", True),
    "pci": _refused("PCIe replays of a card"),
    "base-clocks": _refused("base clocks: N/A on these cards"),
    "boost-slider": _refused("boost sliders, which these cards do not have"),
    "c2c": _refused("links between chips, which these cards do not have"),
    "clocks": _refused("boost groups and sparse mode, which these cards do not have"),
    "compute-policy": _refused("compute policies, which these cards do not have"),
    "conf-compute": _refused("confidential computing, which these cards do not have"),
    "daemon": _refused("monitoring in the background, which is not available here"),
    "drain": _refused("the drain state of a card"),
    "encodersessions": _refused("encoder sessions one by one, which are not listed"),
    "fbcsessions": _refused("FBC sessions, which these cards do not have"),
    "gpm": _refused("the stream of performance metrics, which these cards do not have"),
    "power-hint": _refused("hints on power, which these cards do not have"),
    "power-profiles": _refused("power profiles, which these cards do not have"),
    "power-smoothing": _refused("power smoothing, which these cards do not have"),
    "prm": _refused("PRM registers, which these cards do not have"),
    "replay": _refused("logs of daemon, which is not available here"),
}

# What --help has a line for: not those that these cards have nothing for
LISTED = [name for name, row in SUBCOMMANDS.items() if row.module != "smi.refused" or name == "pci"]
FIRST = 5  # of these people need first
