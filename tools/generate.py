#!/usr/bin/env python3
"""Writes all that is generated. The files generate_*.py have what each generator writes, and from what.

    python tools/generate.py                      write it
    python tools/generate.py --check              write nothing; exit status 1, with a diff, if something is not current
    python tools/generate.py --only api cards     no other generators

A generator has FILES, {path: function that makes the new text from the old one}, or to_do(), lines that name what a
maintainer has to write, or both.
"""

import argparse
import difflib
import importlib
import os
import sys

import generated

# In this order: the module is complete before it is read or imported.
GENERATORS = ("api", "errors", "vocabulary", "cards", "xids", "catalogue", "refusals")
GENERATORS += ("coverage", "man_page", "dashboards", "reference")


def renew(files, check):
    """Write those files that are no longer current; with ``check`` show what differs. Whether there were some."""
    stale = False
    for path, function in files.items():
        old = generated.read(path) if os.path.exists(os.path.join(generated.ROOT, path)) else ""
        new = function(old)
        stale = stale or new != old
        if check:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), path, "generated"))
        elif new != old:
            with open(os.path.join(generated.ROOT, path), "w", encoding="utf-8") as stream:
                stream.write(new)
    return stale


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1, with what differs, if not current")
    parser.add_argument("--only", nargs="+", choices=GENERATORS, default=GENERATORS, help="leave out the others")
    options = parser.parse_args()
    stale, lines = [], []
    for name in options.only:
        generator = importlib.import_module("generate_" + name)
        if renew(getattr(generator, "FILES", {}), options.check):
            stale.append(name)
        if hasattr(generator, "to_do"):
            lines += generator.to_do()
    sys.stdout.writelines(line + "\n" for line in lines)
    if options.check and stale:
        sys.exit("not current, or edited by hand, is what these write: %s; make generate" % ", ".join(stale))
    sys.exit(bool(lines) and options.check)


if __name__ == "__main__":
    main()
