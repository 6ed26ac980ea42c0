"""Tells an installer that does not know pyproject.toml what it takes; nothing else reads this file."""

import sys

sys.exit(
    "pymtml-nvml is built as pyproject.toml says, which pip does from version 19 on: "
    "python3 -m pip install --upgrade pip. "
    "An older pip installs the wheel that `make build` writes elsewhere: pip install dist/pymtml_nvml-*.whl"
)
