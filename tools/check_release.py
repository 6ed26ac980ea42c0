#!/usr/bin/env python3
"""Holds the changelog against the code: versions, dates, what came and went.

python tools/check_release.py             exit status 1, with a line for each thing that does not agree
python tools/check_release.py --record    write down what the version of now has, in facts/releases.json
python tools/check_release.py --source    exit status 1 if the project names no address of its own that answers

A release is recorded when it is made. The next one is compared with it: what is gone must stand under "Changed
behavior", what is new under any head of its section, each by its name.
"""

import argparse
import ast
import datetime
import glob
import json
import os
import re
import sys
import urllib.request

import generated

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORD = "facts/releases.json"
HEAD = re.compile(r"(?m)^## (?:(Unreleased)|(\d+\.\d+\.\d+)(?: \((\d{4}-\d\d-\d\d)\))?)$")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def sections():
    """The changelog by release: [(version or "Unreleased", date or None, text)], newest first."""
    text = read("CHANGELOG.md")
    heads = list(HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [(head.group(1) or head.group(2), head.group(3), text[head.end() : end]) for head, end in zip(heads, ends)]


def parts(text):
    """A release's text by its heads: {"Changed behavior": text ...}."""
    pieces = re.split(r"(?m)^### (.+)$", text)
    return dict(zip(pieces[1::2], pieces[2::2]))


def version_of(path):
    return re.search(r'(?m)^__version__ = "(.*?)"', read(path)).group(1)


def names_of_others():
    """The names that nvidia-ml-py and MTML's C API have (set)."""
    nvml, mtml = json.loads(read("facts/nvml_surface.json")), json.loads(read("facts/mtml_api.json"))
    names = {name for kind, found in nvml.items() if isinstance(found, dict) for name in found}
    names |= {struct["class"] for struct in nvml["structs"].values()}
    names |= {name for kind in ("constants", "functions") for name in mtml[kind]}
    names |= {"c_%s_t" % struct for struct in mtml["structs"]}
    return names | {value for enum in mtml["enums"].values() for value in enum}


def surface():
    """What users have names for, as the sources are now: {kind: sorted list}."""
    known, names = names_of_others(), set()
    for node in ast.parse(read("pymtml.py")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    table = re.search(r"(?ms)^SUBCOMMANDS = \{\n(.*?)^\}", read("pymtml_cli/subcommands.py")).group(1)
    sources = [
        path
        for folder in ("pymtml_cli", "pymtml_dropin")
        for path in glob.glob(os.path.join(ROOT, folder, "**"), recursive=True)
    ]
    sources = ["pymtml.py"] + [os.path.relpath(path, ROOT) for path in sources if path.endswith(".py")]
    variables = {name for path in sources for name in re.findall(r'"(PYMTML_[A-Z_]+)"', read(path))}
    return {
        "names": sorted(name for name in names - known if not name.startswith("_")),
        "subcommands": re.findall(r'(?m)^    "([\w-]+)":', table),
        "variables": sorted(variables),
        "python": [re.search(r'(?m)^requires-python = "(.*)"$', read("pyproject.toml")).group(1)],
    }


def named(name, text):
    """True if a text names something, as code."""
    return any(re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(name), code) for code in re.findall(r"`([^`]+)`", text))


def changes(before, text):
    """Lines for what came and went since a release and is not named in the changelog's text."""
    changed, now = parts(text).get("Changed behavior", ""), surface()
    for kind in sorted(now):
        for name in sorted(set(before.get(kind, ())) - set(now[kind])):
            if not named(name, changed):
                yield '%s of the release before is gone, and "Changed behavior" does not say so: %s' % (name, kind)
        for name in sorted(set(now[kind]) - set(before.get(kind, ()))):
            if not named(name, text):
                yield "%s is new, and CHANGELOG.md does not name it: %s" % (name, kind)


def problems(today):
    """Lines that say what does not agree."""
    found, recorded = sections(), json.loads(read(RECORD))
    version = version_of("pymtml.py")
    if not found or found[0][0] != "Unreleased":
        yield 'CHANGELOG.md does not begin with "## Unreleased"'
    releases = [entry for entry in found if entry[0] != "Unreleased"]
    if not releases or releases[0][0] != version:
        yield "pymtml.py says %s, and the newest release in CHANGELOG.md is %s" % (
            version,
            releases[0][0] if releases else "none",
        )
        return
    _, date, text = releases[0]
    if date is None:
        yield "CHANGELOG.md has no date for %s" % version
    elif date > today:
        yield "CHANGELOG.md: %s is released on %s, and today is %s" % (version, date, today)
    order = [tuple(map(int, entry[0].split("."))) for entry in releases]
    if order != sorted(set(order), reverse=True):
        yield "releases in CHANGELOG.md do not come newest first, each once"
    previous = [entry[0] for entry in releases[1:] if entry[0] in recorded]
    if not previous:
        yield "%s has no release before %s" % (RECORD, version)
        return
    unreleased = found[0][2] if found[0][0] == "Unreleased" else ""
    for line in changes(recorded[previous[0]], text + unreleased):
        yield line
    if previous[0].split(".")[:2] == version.split(".")[:2] and "Changed behavior" in parts(text):
        yield "%s breaks something, so its second number must be another than that of %s" % (version, previous[0])
    simulator = version_of("simulator/python/mtml_simulator/__init__.py")
    if not re.search(r"(?m)^## (\d\S*)", read("simulator/CHANGELOG.md")).group(1) == simulator:
        yield "mtml-simulator says %s, and simulator/CHANGELOG.md begins with another version" % simulator


def unfit(folder):
    """Lines for what `make publish` would upload of another version, or miss."""
    version = version_of("pymtml.py")
    wanted = {"pymtml_nvml-%s-py3-none-any.whl" % version, "pymtml_nvml-%s.tar.gz" % version}
    found = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    if found != wanted:
        yield "%s holds %s, not %s: make build" % (folder, sorted(found) or "nothing", sorted(wanted))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write down what the version of now has")
    parser.add_argument(
        "--source", action="store_true", help="check only that the project names an address of its own that answers"
    )
    options = parser.parse_args()
    if options.source:
        named = re.search(r'(?m)^Source = "(.*)"$', read("pyproject.toml"))
        if not named:
            sys.exit("pyproject.toml names no source address: add Source to [project.urls]")
        try:
            urllib.request.urlopen(named.group(1), timeout=30).close()
        except (OSError, ValueError):
            sys.exit("the source address %s does not answer: correct [project.urls] in pyproject.toml" % named.group(1))
        return
    if options.record:
        recorded = json.loads(read(RECORD))
        recorded[version_of("pymtml.py")] = surface()
        with open(os.path.join(ROOT, RECORD), "w", encoding="utf-8") as file:
            file.write(generated.json_text(dict(sorted(recorded.items()))))
        return
    found = list(problems(datetime.date.today().isoformat())) + list(unfit(os.path.join(ROOT, "dist")))
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
