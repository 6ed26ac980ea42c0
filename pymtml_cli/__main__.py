"""``python -m pymtml_cli``: the same as the command ``pymtml``."""

import sys

from pymtml_cli.main import main

if __name__ == "__main__":
    sys.exit(main())
