"""What ends the command before its work is done, and the names that it goes by."""

import os
import sys

NVIDIA_SMI = "nvidia-smi"
PYMTML = "pymtml"

# Exit status, as nvidia-smi's manual page has them
BAD_ARGUMENT = 2
NOT_AVAILABLE = 3
NO_PERMISSION = 4
NO_SUCH_DEVICE = 6
NO_DRIVER = 9
NO_LIBRARY = 12
CARD_IS_LOST = 15
OTHER = 255


def called():
    """Name that the command was called by: nvidia-smi, or pymtml for whatever else the file is named."""
    name = os.environ.get("PYMTML_COMMAND_NAME") or os.path.basename(sys.argv[0])
    return NVIDIA_SMI if name == NVIDIA_SMI else PYMTML


# Words of Moore Threads' and what NVIDIA calls the like
_WORDS = (("MPC instance", "MIG device"), ("MPC", "MIG"), ("MUSA", "CUDA"), ("MtLink", "NVLink"), ("MTML", "NVML"))


def worded(text):
    """A text of ours, in NVIDIA's words if the command was called nvidia-smi."""
    if called() == NVIDIA_SMI:
        for ours, theirs in _WORDS:
            text = text.replace(ours, theirs)
    return text


class CommandError(Exception):
    """Ends the command with an exit status, BAD_ARGUMENT if none is named, and a text.

    ``text`` is what is wrong, ``hint`` what to do about it: one line on stderr, with a semicolon between them. If
    ``stdout``, the text goes there as it stands, as nvidia-smi's own texts do, and only the hint to stderr.
    """

    def __init__(self, text, status=BAD_ARGUMENT, stdout=False, hint=""):
        Exception.__init__(self, text)
        self.text, self.status, self.stdout, self.hint = text, status, stdout, hint

    @property
    def line(self):
        """What is wrong, and what to do about it."""
        return "; ".join(filter(None, (" ".join(self.text.split()), self.hint)))


def reason(error):
    """Why a file, a process or a socket failed, without what Python puts around the system's words."""
    return getattr(error, "strerror", None) or error


def refuse(text, status=BAD_ARGUMENT, hint="", ours=None):
    """The error for what nvidia-smi refuses on stdout; the text ends with what nvidia-smi ends it with.

    Under our own name it is ``ours``, or else the first line of the text, and goes where all errors go.
    """
    if called() == NVIDIA_SMI:
        return CommandError(text, status, stdout=True, hint=hint)
    if not ours:
        ours = text.partition("\n")[0].rstrip(".")
        ours = ours if ours[:2].isupper() else ours[0].lower() + ours[1:]  # GPU is not lowered
    return CommandError(ours, status, hint=hint)


def see_help(*subcommand):
    """The hint of errors that have no other."""
    return "" if called() == NVIDIA_SMI else "see `%s --help`" % " ".join([called(), *subcommand])
