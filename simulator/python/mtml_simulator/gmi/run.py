"""Starts mthreads-gmi from wherever the package lies, with nothing but the standard library around it."""

import os
import sys

# Behind the standard library, which other packages in that folder must not hide.
sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from mtml_simulator.gmi.command import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
