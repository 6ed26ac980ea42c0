"""What ends the command before its work is done, and the names that it goes by."""

import os
import sys

NVIDIA_SMI = "nvidia-smi"
PYMTML = "pymtml"

# Exit status, as nvidia-smi's manual page has them
BAD_ARGUMENT = 2
NO_SUCH_DEVICE = 6
NO_DRIVER = 9
NO_LIBRARY = 12
OTHER = 255


def called():
    """Name that the command was called by: nvidia-smi, or pymtml for whatever else the file is named."""
    name = os.environ.get("PYMTML_COMMAND_NAME") or os.path.basename(sys.argv[0])
    return NVIDIA_SMI if name == NVIDIA_SMI else PYMTML


class CommandError(Exception):
    """Ends the command with an exit status and a text.

    ``text`` goes to stdout as it stands if ``stdout``, as nvidia-smi's own texts do, else to stderr as one line.
    """

    def __init__(self, text, status, stdout=False):
        Exception.__init__(self, text)
        self.text, self.status, self.stdout = text, status, stdout


def refuse(text, status=BAD_ARGUMENT):
    """The error for a mistake that nvidia-smi answers on stdout; the text ends with what nvidia-smi ends it with."""
    return CommandError(text, status, stdout=True)
