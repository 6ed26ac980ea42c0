"""What bin/nvidia-smi runs: the command of the installation that this file belongs to, in any Python."""

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

sys.argv[0] = "nvidia-smi"  # the command then uses its words

if __name__ == "__main__":
    sys.exit(main())
