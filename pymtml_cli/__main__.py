"""``python -m pymtml_cli``: the same as the command ``pymtml``."""

import os
import sys

try:
    # ``python -m`` puts the current folder first on the path: what others left there is not imported.
    if sys.path[:1] == [os.getcwd()] != [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]:
        del sys.path[0]
except OSError:  # the folder is gone
    pass

from pymtml_cli.main import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
