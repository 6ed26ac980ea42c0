#!/usr/bin/env python3
"""Writes anew what was recorded: it follows from the code, but nobody writes it by hand.

python tools/record.py              write it
python tools/record.py --check      change nothing; name what is stale, exit status 1
python tools/record.py --quick ...  leave out what has to run the simulator

facts/card_support.csv       on which simulated cards functions answer
tests/hostile/outcomes.csv   what functions make of drivers that lie, where that is not the usual
docs/reliability.md          the table of what a failing call of C is raised as
tests/cli/expected           what the command prints, output by output
tests/captured.ini           a machine of which capture says all keys
docs/command.md              the screens, the table of checks, the keys of --json
docs/metrics.md              the series of readings
facts/*.json ...             the form of JSON
README*.md, docs/*.md ...    numbers: <!--NAME-->241<!--/-->, by the names in counts() and figures()
pyproject.toml ...           the version of nvidia-ml-py, in the places of VERSION
"""

import argparse
import glob
import importlib
import json
import os
import re
import sys

import generated

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [ROOT] + [os.path.join(ROOT, *parts) for parts in (("tests",), ("tests", "cli"), ("tests", "hostile"))]

COUNT = re.compile(r"(<!--(\w+)-->)([\d.,]+)(<!--/-->)")
# Figure: (of which table of benchmarks/results.md the row begins so, which of the row's cells)
FIGURES = {
    "call_nvidia": (r"call / nvidia-ml-py, geometric mean", 1),
    "call_mthreads": (r"call / mthreads-ml-py, geometric mean", 1),
    "import_nvidia": (r"import time / nvidia-ml-py", 1),
    "refusal_nvidia": (r"refusal / nvidia-ml-py over the stub, geometric mean", 1),
}
# Where the version of nvidia-ml-py stands beside documents: the file, and what is in front of the version
VERSION = {
    "pyproject.toml": "nvidia-ml-py==",
    "pymtml_dropin/metadata.py": 'VERSION = "',
    "benchmarks/common.py": "nvidia-ml-py==",
    "tests/programs/programs.csv": "nvidia-ml-py==",
}
# JSON that a person reads or writes, with how deep inside its entries are; None: lines are filled.
FORMS = {
    "facts/mtml_api.json": None,
    "facts/cards.json": None,
    "facts/releases.json": None,
    "facts/nvml_surface.json": 2,
    "tests/facts/nvml_behavior.json": 2,
    "tests/cli/captures/fields.json": 2,
    "tests/cli/captures/modifications.json": 2,
    "tests/cli/captures/nvidia_smi_580.json": 2,
    "tests/cli/captures/xml_elements.json": None,
}
# A table of Markdown, from its head to its end
TABLE = r"(?m)^%s\n(?:\|.*\n)+"


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", newline="") as stream:
        return stream.read()


def version():
    """The version of nvidia-ml-py that it is recorded of (str)."""
    return generated.surface()["source"].split()[-1]


def with_version():
    """The files that name that version beside documents."""
    found = {}
    for path, before in VERSION.items():
        found[path], count = re.subn(r"(%s)\d[\d.]*\d" % before, r"\g<1>" + version(), read(path))
        if not count:
            sys.exit("%s does not name the version of nvidia-ml-py" % path)
    return found


def counts():
    """The numbers that documents name (dict)."""
    import liar
    import native_calls
    from inside import FIELDS, most_series

    nvml = {name for name in generated.surface()["functions"] if name.startswith("nvml")}
    ran, imitated = set(), set()
    for line in read("docs/programs.md").rpartition("|---|\n")[2].splitlines():
        # A program counts once, whatever of it, and whichever versions, have rows.
        name = re.sub(r",.*| \d+$", "", line[2:].partition(" | ")[0])
        (imitated if " | imitation | " in line else ran).add(name)
    return {
        "header_functions": len(native_calls.FUNCTIONS) - len(native_calls.BEYOND),
        "fields": len(FIELDS),
        "lies": len(liar.LIES),
        "programs": len(ran),
        "imitations": len(imitated - ran),
        "machines": len(glob.glob(os.path.join(ROOT, "simulator", "profiles", "*.ini"))),
        "nvidia_ml_py": version(),
        "nvml_functions": len(nvml),
        **most_series(),
        "vendor_functions": len(nvml & vendor_names()) or None,
        **figures(),
    }


def vendor_names():
    """The functions of mthreads-ml-py, where `make .venv/.installed` has brought it (set)."""
    path = os.path.join(sys.prefix, "vendor", "pymtml.py")
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as stream:
        return generated.bound_names(stream.read())


def figures():
    """Measured ratios that documents name, of the first interpreter in benchmarks/results.md (dict of texts)."""
    results = read("benchmarks/results.md")
    found = {}
    for name, (row, cell) in FIGURES.items():
        line = re.search(r"(?m)^\| %s +\|.*$" % row, results)
        if not line:
            sys.exit("benchmarks/results.md has no row %r" % row)
        found[name] = line.group().strip("| ").split("|")[cell].strip()
    return found


def with_counts():
    """The documents that name numbers, with those of now: {path: text}."""
    found, now = {}, None
    folders = ("", "docs", "facts", "simulator", "benchmarks", os.path.join("examples", "*"))
    for path in sorted(path for folder in folders for path in glob.glob(os.path.join(ROOT, folder, "*.md"))):
        path = os.path.relpath(path, ROOT)
        text = read(path)
        if COUNT.search(text):
            now = now or counts()
            found[path] = COUNT.sub(lambda match: "%s%s%s" % (match.group(1), number(now, match), match.group(4)), text)
    return found


def number(now, match):
    """A count as documents write it."""
    if match.group(2) not in now:
        sys.exit("tools/record.py knows no count %s" % match.group(2))
    value = now[match.group(2)]
    if value is None:  # it cannot be counted here
        return match.group(3)
    return value if isinstance(value, str) else "{:,}".format(value)


def with_tables():
    """docs/reliability.md with the table of failing calls."""
    import faults

    table = faults.markdown()
    head = re.escape(table.split("\n")[0])
    return {"docs/reliability.md": re.sub(TABLE % head, lambda _: table, read("docs/reliability.md"))}


def with_keys():
    """docs/command.md with the keys of --json that are readings."""
    head, title, table = read("docs/command.md").partition("| object | keys |")
    for name, keys in importlib.import_module("pymtml_cli.readings.documents").documented().items():
        table, count = re.subn(r"(?m)^(\| %s[^|]*\| ).*( \|)$" % re.escape(name), r"\g<1>%s\g<2>" % keys, table)
        if count != 1:
            sys.exit("docs/command.md lacks a row of %s in its table of --json" % name)
    return {"docs/command.md": head + title + table}


def with_json():
    """The JSON files in their form, with the content that they have."""
    return {path: generated.json_text(json.loads(read(path)), deep) for path, deep in FORMS.items()}


def with_checks():
    """docs/command.md with the table of what health checks."""
    table = importlib.import_module("pymtml_cli.health.checks").markdown()
    head = re.escape(table.split("\n")[0])
    return {"docs/command.md": re.sub(TABLE % head, lambda _: table, read("docs/command.md"))}


def with_series():
    """docs/metrics.md with the series of readings."""
    table, text = importlib.import_module("pymtml_cli.readings.table"), read("docs/metrics.md")
    values = {name: [{} for _ in labels] for name, (_, _, labels, _) in table.SERIES.items()}
    for name, *own in (row.series for row in table.READINGS if row.series):
        for place, value in enumerate(own):
            values[name][place]["`%s`" % value] = None
    rows = []
    for name, (_, _, labels, help) in table.SERIES.items():
        each = ("`%s`%s" % (label, ": " * bool(its) + ", ".join(its)) for label, its in zip(labels, values[name]))
        rows.append("| `mthreads_gpu_%s` | %s| %s |\n" % (name, "; ".join(each) + " " * bool(labels), help))
    head, begun, rest = text.partition("| `mthreads_gpu_%s` " % next(iter(table.SERIES)))
    _, ended, rest = rest.partition("| `mthreads_gpu_mtlinks` ")
    if not ended:
        sys.exit(
            "docs/metrics.md lacks rows of the first series of readings, and of mthreads_gpu_mtlinks behind the last"
        )
    return {"docs/metrics.md": head + "".join(rows) + ended + rest}


def with_screens():
    """The documents that show screens, with those of now."""
    screens = importlib.import_module("screens")
    return {os.path.relpath(path, ROOT): screens.remade(text) for path, text in screens.documents()}


def with_expected():
    """What the command prints, as it is now."""
    expected = importlib.import_module("expected")
    return {os.path.relpath(path, ROOT): expected.made(expected.read(path)) for path in expected.files()}


def with_capture():
    """tests/captured.ini, which is a capture of itself."""
    return {"tests/captured.ini": importlib.import_module("test_capture").recorded()}


def with_lies():
    """tests/hostile/outcomes.csv as it is now."""
    drivers = importlib.import_module("test_drivers")
    return {"tests/hostile/outcomes.csv": drivers.recorded()}


def with_support():
    """facts/card_support.csv as it is now."""
    return {"facts/card_support.csv": importlib.import_module("card_support").recorded()}


QUICK = with_version, with_counts, with_tables, with_checks, with_keys, with_series, with_json
SLOW = with_expected, with_capture, with_screens, with_lies, with_support


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if something is stale")
    parser.add_argument("--quick", action="store_true", help="leave out screens and lies, which tests compare too")
    parser.add_argument("--only", help="one of %s" % ", ".join(part.__name__[5:] for part in QUICK + SLOW))
    options = parser.parse_args()
    stale = []
    for part in QUICK if options.quick else QUICK + SLOW:
        if options.only not in (None, part.__name__[5:]):
            continue
        for path, new in part().items():
            if new == read(path):
                continue
            stale.append(path)
            if not options.check:
                with open(os.path.join(ROOT, path), "w", encoding="utf-8", newline="") as stream:
                    stream.write(new)
    if options.check and stale:
        sys.exit("stale: %s; make record writes them" % ", ".join(dict.fromkeys(stale)))


if __name__ == "__main__":
    main()
