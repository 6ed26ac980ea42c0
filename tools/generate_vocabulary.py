#!/usr/bin/env python3
"""Writes the constants of NVML that pymtml.py needs while it is imported.

    python tools/generate_vocabulary.py            rewrite the block between the BEGIN and END markers
    python tools/generate_vocabulary.py --check    exit status 1, with a diff, if the block is not current

They are those of facts/nvml_surface.json that statements outside functions name: structs, tables and defaults of
parameters, as they are written by hand. All others stand in Part III, where functions find them when they run.
"""

import ast

import generated
from generate_catalogue import literal

TITLE = "NVML vocabulary"


def needed(source):
    """Names that the statements of a module read while it is imported (set)."""
    names, pending = set(), [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            pending += [default for default in node.args.defaults + node.args.kw_defaults if default is not None]
        else:
            names.update([node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else [])
            pending += ast.iter_child_nodes(node)
    return names


def block(surface, taken, source):
    """The generated block, its markers included."""
    begin, end = generated.markers(TITLE)
    names = sorted(needed(generated.by_hand(source)) & set(surface["constants"]) - taken)
    lines = ["%s = %s" % (name, literal(name, surface["constants"][name])) for name in names]
    return "\n".join([begin, "# Written by tools/generate_vocabulary.py."] + lines + [end, ""])


if __name__ == "__main__":
    generated.run(__doc__.splitlines()[0], TITLE, block)
