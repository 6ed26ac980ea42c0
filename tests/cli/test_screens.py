"""Documents show what the command prints, and name what it has."""

import json
import os
import re

import simulated
from command import invoke
from inside import SUBCOMMANDS
from screens import SCREEN, documents, remade


def test_screens_are_current():
    for path, text in documents():
        assert remade(text) == text, "stale: %s; make record, if the change is meant" % path


def test_there_are_screens():
    counts = {os.path.basename(path): len(SCREEN.findall(text)) for path, text in documents()}
    assert counts["command.md"] >= 7


def test_the_page_names_every_subcommand():
    (text,) = [text for path, text in documents() if path.endswith("command.md")]
    missing = [name for name in SUBCOMMANDS if not re.search(r"\b%s\b" % re.escape(name), text)]
    assert not missing, "docs/command.md lacks: %s" % ", ".join(missing)


def test_the_schema_names_every_key():
    (text,) = [text for path, text in documents() if path.endswith("command.md")]
    schema = text[text.index("## JSON") : text.index("## Errors")]
    names = set(re.findall(r"`([a-z0-9_]+)`", schema))
    names |= {"max_" + name for name in names}
    for profile in ("s5000x8", "s80", "s3000-mpc"):
        with simulated.machine(profile):
            found = set(keys(json.loads(invoke("--json").stdout)))
        missing = sorted(found - names - {"reasons"})
        assert not missing, "docs/command.md, JSON: say what these keys are: %s" % ", ".join(missing)


def keys(value):
    """All keys in an object, below reasons none."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            if key != "reasons":
                for name in keys(below):
                    yield name
    elif isinstance(value, list):
        for below in value:
            for name in keys(below):
                yield name
