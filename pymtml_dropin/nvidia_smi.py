"""What bin/nvidia-smi runs: the command, of the installation that this file belongs to, in whatever Python."""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
# Python puts the folder of a script on the path; root may hold the packages of another Python.
sys.path[:] = [root] + [entry for entry in sys.path if entry != here]
import pymtml_dropin  # noqa: E402

sys.path.remove(root)
pymtml_dropin.install(asked=True)

from pymtml_cli.main import main  # noqa: E402

sys.argv[0] = "nvidia-smi"  # whose words the command uses then

if __name__ == "__main__":
    sys.exit(main())
