"""The subcommands. A subcommand is a module of this package with

    run(arguments)   does what the arguments behind its name ask for; returns the exit status (None counts as 0)

and a line in SUBCOMMANDS. Whatever is no subcommand is nvidia-smi's language: module `language`.
"""

from pymtml_cli.common.errors import BAD_ARGUMENT, CommandError, called

# Name: (module, what --help says)
SUBCOMMANDS = {
    "capture": ("capture", "print a profile of this machine that the simulator loads"),
    "dmon": ("smi.dmon", "a line for each card and second"),
    "pmon": ("smi.pmon", "a line for each process and second"),
    "mtlink": ("smi.mtlink", "state, speed and far end of each MtLink"),
    "mig": ("smi.mig", "MPC instances: what there is, and how a card is divided"),
    "vgpu": ("smi.vgpu", "virtual devices, and what kinds of them a card offers"),
    "clocks": ("smi.refused", "nvidia-smi's clocks that these cards have not"),
    "encodersessions": ("smi.encodersessions", "a line for each encoder session and second"),
    "drain": ("smi.refused", "the drain state of a card"),
    "nvlink": ("smi.mtlink", "the same in nvidia-smi's form"),
    "health": ("health.health", "check the cards, for schedulers and cron"),
    "metrics": ("metrics.write", "values and health of the cards for Prometheus"),
    "doctor": ("health.doctor", "say what works here, what does not, and what to do about it"),
    "drop-in": ("dropin.drop_in", "make programs take pymtml for pynvml"),
    "topo": ("smi.topo", "how cards are joined with each other and with processors"),
    "compare": ("hosts.compare", "what differs between hosts, from what --json, health and doctor say on each"),
    "completion": ("completion", "print what makes a shell complete the command: bash, zsh or fish"),
    "run": ("dropin.run", "run a program with pymtml in the place of pynvml"),
}
# Those that share a file with another one: the function that stands for run
FUNCTIONS = {"nvlink": "nvlink", "clocks": "clocks", "drain": "drain"}


def argument_parser(name):
    """An argparse.ArgumentParser for the arguments of a subcommand. What it refuses is a CommandError."""
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message):
            raise CommandError("%s; `%s --help` says more" % (message, self.prog), BAD_ARGUMENT)

        def add_number(self, option, metavar, least, most, help, default=None, whole=True):
            """An option that takes a number."""
            read = argument_type(least, most, whole)
            self.add_argument(option, type=read, metavar=metavar, default=default, help=help)

        def add_file(self, option, help, to=None):
            """An option that names a file, for this parser or a group of it."""
            (to or self).add_argument(option, type=file_name, metavar="FILE", help=help)

    return Parser(prog="%s %s" % (called(), name), description=SUBCOMMANDS[name][1])


def argument_type(least, most, whole=True):
    """What argparse reads a number with."""
    import argparse

    from pymtml_cli.common.numeric import number

    def read(text):
        value = number(text, least, most, whole)
        if value is None:
            kind = "whole number" if whole else "number"
            raise argparse.ArgumentTypeError("%s is no %s from %s to %s" % (shortened(text), kind, least, most))
        return value

    return read


def file_name(text):
    """What argparse reads the name of a file with: an unset variable of a unit leaves it empty."""
    import argparse

    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def shortened(text):
    """An argument as a message shows it."""
    from pymtml_cli.common.text import fit, safe

    return "'%s'" % fit(safe(text), 40)
