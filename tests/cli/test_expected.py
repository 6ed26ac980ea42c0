"""What the command prints is what was read and committed: expected/ says in its head how, `make record` writes it."""

import difflib
import os
import re

import pytest
from expected import FOLDER, files, made, read
from inside import LISTED, SUBCOMMANDS, file_of


@pytest.mark.parametrize("path", files(), ids=lambda path: os.path.basename(path)[:-4])
def test_expected(path):
    if os.path.basename(path) == "metrics.txt":
        pytest.importorskip("prometheus_client")
    text = read(path)
    now = made(text)
    if now != text:
        name = os.path.relpath(path)
        diff = difflib.unified_diff(text.splitlines(), now.splitlines(), name, "now", lineterm="")
        pytest.fail("%s\n\nIf this is meant: make record, and read its diff." % "\n".join(diff), pytrace=False)


def test_each_subcommand_s_help_is_expected():
    path = os.path.join(FOLDER, "help.txt")
    said = read(path)
    missing = sorted(name for name in LISTED if "\n$ pymtml %s --help\n" % name not in said)
    assert not missing, "%s lacks a line $ pymtml NAME --help: %s; then make record" % (path, ", ".join(missing))


def test_help_says_what_is_taken_by_default():
    """Help is written by hand: "(default 30)" is what the reader of the options takes."""
    wrong, found = [], 0
    for name, subcommand in SUBCOMMANDS.items():
        reader = getattr(file_of(subcommand.module), "parser", None)
        for action in reader()._actions if reader else ():
            said = re.search(r"\(default (\w+)\)", action.help or "")
            if said and action.default is not None:  # None: another place says what counts, such as LIMITS
                default = action.default if isinstance(action.default, str) else "%g" % action.default
                found += 1
                wrong += ["%s --%s: %s" % (name, action.dest, default)] * (said.group(1) != default)
    assert not wrong and found >= 3, wrong
