"""Which files of the command may know which: by room, as its folders are."""

import ast
import glob
import os

import pytest
import simulated

# Room: those that its files may know beside their own, "" for the files at the top
ROOMS = {
    "common": set(),
    "readings": {"common"},
    "smi": {"common", "readings", ""},
    "health": {"common", "readings", ""},
    "hosts": {"common", "readings", "health", ""},
    "metrics": {"common", "readings", "health", ""},
    "dropin": {"common", ""},
    "": {"common", "readings", "smi"},
}


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_what_a_room_knows(room):
    files = glob.glob(os.path.join(simulated.ROOT, "pymtml_cli", room, "*.py"))
    imported = [
        node.module.split(".") + [node.names[0].name]
        for path in files
        for node in ast.walk(ast.parse(open(path).read()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pymtml_cli")
    ]
    assert {parts[1] if parts[1] in ROOMS else "" for parts in imported} <= ROOMS[room] | {room}
