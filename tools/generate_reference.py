#!/usr/bin/env python3
"""Writes docs/reference, which is not kept: functions by task, structs and errors, from the docstrings of pymtml.py.

facts/mtml_api.json and facts/struct_fields.csv have the meaning of structs' fields, facts/card_support.csv, which make
record writes, the cards on which a function returns a value.
"""

import ast
import collections
import csv
import json
import os
import re
import sys

import generate_coverage as coverage
import generated

FOLDER = os.path.join(generated.ROOT, "docs", "reference")

# The functions that most of 50 Python programs call that were read for it, in the order of use.
FIRST = (
    "nvmlInit nvmlShutdown nvmlDeviceGetCount nvmlDeviceGetHandleByIndex nvmlDeviceGetHandleByUUID nvmlDeviceGetName"
    " nvmlDeviceGetUUID nvmlDeviceGetMemoryInfo nvmlDeviceGetUtilizationRates nvmlDeviceGetTemperature"
    " nvmlDeviceGetPowerUsage nvmlDeviceGetEnforcedPowerLimit nvmlDeviceGetClockInfo"
    " nvmlDeviceGetComputeRunningProcesses nvmlSystemGetDriverVersion"
).split()

Page = collections.namedtuple("Page", "name title intro groups")
# Tasks in the order of the index; the groups are those of the functions that return a value.
PAGES = [
    Page("start", "Start, stop, versions", "The first calls and the last ones.", ["Library and system"]),
    Page(
        "cards", "Find a card", "How many there are, and a handle of each.", ["Device handles", "musa_visible_devices"]
    ),
    Page("identity", "Which card it is", "Names, numbers, addresses, kinds.", ["Identity", "Display and modes"]),
    Page("memory", "Memory", "How much there is, and how much is in use.", ["Memory"]),
    Page("utilization", "Utilization and video", "How busy a card is.", ["Utilization and codecs"]),
    Page(
        "sensors",
        "Temperature, clocks, power, fans",
        "Readings of the sensors.",
        ["Temperature", "Clocks", "Power and performance state", "Fans"],
    ),
    Page("processes", "Processes", "Who uses a card.", ["Processes", "unseen_processes"]),
    Page(
        "links",
        "PCIe, MtLink, topology, affinity",
        "How cards are joined to each other and to CPUs.",
        ["PCIe link", "Topology and affinity", "NVLink (MtLink)"],
    ),
    Page("ecc", "Memory errors, reset", "ECC, retired pages, a reset.", ["ECC and retired pages"]),
    Page("mpc", "MPC", "Cards that are divided into instances; NVML calls it MIG.", ["MIG (MPC)"]),
    Page("vgpu", "Virtual devices", "Cards that are shared by virtual machines; NVML calls it vGPU.", ["vGPU"]),
    Page("other", "Field values and the rest", "Many values in one call, and helpers.", []),
]
# Where an mtml* function belongs: the first pattern that its name has decides.
NATIVE = [
    ("mpc", r"Mpc"),
    ("vgpu", r"Virt|PhyDevice"),
    ("links", r"MtLink|Topology|P2P|Affinity|PcieSlot|PcieReplay"),
    ("ecc", r"Ecc|RetiredPages|DeviceReset"),
    ("cards", r"LibraryCountDevice|LibraryInitDevice|LibraryFreeDevice|DeviceInit|DeviceFree|Context$"),
    ("start", r"^mtmlLibrary|^mtmlSystem|^mtmlLog|^mtmlErrorString"),
    ("sensors", r"Temperature|Fan|Clock|Power|Voltage|PerformanceState"),
    ("utilization", r"Utilization|^mtmlVpu"),
    ("memory", r"^mtmlMemory"),
    ("identity", r"^mtmlDevice"),
]
HOOKS = ("musa_visible_ids", "musa_visible_devices", "unseen_processes", "patch_torch_c_for_musa")
WAYS = {"divided": "divided by MPC", "virtual": "as a host of virtual devices"}

# Names in the text of docstrings, with the star of a group or the parentheses of a call.
NAME = re.compile(
    r"(?<![\w`])_?(?:(?:c_)?(?:mtml|nvml)[A-Z]\w*|c_\w+_t|(?:MTML|NVML)(?:Error)?_?\w+|PYMTML_\w+(?:=\w+)?"
    r"|MUSA_VISIBLE_DEVICES|unseen_processes|musa_visible_(?:ids|devices))(?:\*\w*)?(?:\(\))?"
)

INDEX = """\
# Functions by task

Every `mtml*` function, and every `nvml*` function that returns a value. [Coverage](../coverage.md) lists the `nvml*`
functions that are not supported, each with the reason. `help(pymtml.nvmlDeviceGetPowerUsage)` prints the same text.

- `nvml*` functions have NVIDIA's names, units and errors, for programs that support both vendors. `mtml*` functions are
  those of the C library.
- **Unit** is that of the result. **Cards** are the simulated ones on which the function returns a value. Their profiles
  have what is publicly known of the real cards, and otherwise something possible: see [supported cards](../support.md).
- "Raises" lists what is particular to a function. Every function raises `Uninitialized` before the first init, and
  `InvalidArgument` for anything but a live handle.

## What most programs call

| function | returns | unit |
|---|---|---|
{first}

The [quick start](../../README.md#quick-start) shows them.

## By task

| page | about | nvml* | mtml* |
|---|---|---|---|
{pages}

## Data

- [Structs](structs.md): the fields of what functions return, with units
- [Errors](errors.md): classes and codes
- Constants are in `pymtml.py`, one per line
"""

STRUCTS = """\
# Structs

What functions return, field by field. Fields named `rsvd` are left out. Structs print with their fields, and text
fields are `str`. "Also" lists further names, from other bindings.
"""

ERRORS = """\
# Errors

`mtml*` functions raise `MTMLError_*`, with MTML's code as `value`. `nvml*` functions raise `NVMLError_*`, with NVML's.
Each MTML class derives from its NVML class, so `except NVMLError` and `except MTMLError` both catch every error.
`mtml_code` is MTML's code, `None` if pymtml itself found the error; `detail` is more about it.
[Reliability](../reliability.md#faults) lists which code of MTML becomes which class.

| class | code | constant | meaning |
|---|---|---|---|
{nvml}

| class | code | constant | meaning | is also |
|---|---|---|---|---|
{mtml}
"""

FIELDS = """\
## Fields that return a value

The fields for which `nvmlDeviceGetFieldValues` has a value. Others have `NVML_ERROR_NOT_SUPPORTED` in their
`nvmlReturn`. A field with a scope is queried as a pair, (field, scope).

| field | scope | unit | value |
|---|---|---|---|
"""


class Function:
    """A public function: its call, the parts of its docstring, the page that it is on."""

    def __init__(self, name, group, call, returns, text, alias_of=None):
        self.name, self.group, self.call, self.returns, self.alias_of = name, group, call, returns, alias_of
        paragraphs = [part.split("\n") for part in text.split("\n\n")]
        self.summary, self.prose, self.raises = "\n".join(paragraphs[0]), [], ""
        for lines in paragraphs[1:]:
            if not lines[0].startswith(("Raises:", "MTML:", "MUSA:")):
                self.prose.append("\n".join(lines))
                continue
            for line in lines:
                if line.startswith(("Raises:", "MTML:", "MUSA:")):
                    part = line.partition(":")[0]
                if part == "Raises":
                    self.raises += line.partition("Raises:")[2] if line.startswith("Raises:") else "\n  " + line.strip()
        self.raises = self.raises.strip()

        self.page = page_for(name, group)


def page_for(name, group):
    """Name of the page of a function's task."""
    if not name.startswith("mtml"):
        fitting = [page.name for page in PAGES if group in page.groups or name in page.groups]
        return fitting[0] if fitting else "other"
    return next((page for page, pattern in NATIVE if re.search(pattern, name)), "other")


def read_functions(source):
    """All functions of the reference: mtml*, nvml* that answer, and the hooks (OrderedDict of Function)."""
    plain = coverage.read_functions(source, ("nvml", "mtml") + HOOKS)
    nodes = {node.name: node for node in coverage.tree(source).body if isinstance(node, ast.FunctionDef)}
    aliases, lines = {}, source.splitlines()
    for node in coverage.tree(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            aliases.update((target.id, node.value.id) for target in node.targets if isinstance(target, ast.Name))
    found = collections.OrderedDict()
    for name, function in plain.items():
        if not coverage.answers(function):
            continue
        alias_of = None if name in nodes else aliases[name]
        node = nodes[alias_of or name]
        call = "%s(%s)" % (name, arguments(node.args, lines))
        returns = ast.literal_eval(node.returns) if node.returns is not None else ""
        text = ast.get_docstring(node) if not alias_of else "Same as %s." % alias_of
        found[name] = Function(name, function.group, call, returns, text, alias_of)
    return found, plain


def arguments(args, lines):
    """The parameters of a function as text, with plain defaults; those that are objects of ours show as ``...``."""
    shown, defaults = [], [None] * (len(args.args) - len(args.defaults)) + list(args.defaults)
    for argument, default in zip(args.args, defaults):
        text = "" if default is None else lines[default.lineno - 1][default.col_offset : default.end_col_offset]
        shown.append(argument.arg + ("=" + ("..." if text.startswith("_") else text) if text else ""))
    return ", ".join(shown)


def read_structs(source):
    """The structs that stand in the module as classes, by name: ast.ClassDef (OrderedDict)."""
    structs = collections.OrderedDict()
    for node in coverage.tree(source).body:
        if isinstance(node, ast.ClassDef) and re.match(r"(c_)?(mtml|nvml)", node.name):
            targets = [one.targets[0].id for one in node.body if isinstance(one, ast.Assign)]
            if "_fields_" in targets:
                structs[node.name] = node
    return structs


def read_fields():
    """What the fields of structs mean: {struct: [{"field", "unit", "meaning"}]} (OrderedDict).

    MTML's are described in facts/mtml_api.json, NVML's and pymtml's own in facts/struct_fields.csv.
    """
    fields = collections.OrderedDict()
    with open(os.path.join(generated.ROOT, "facts", "mtml_api.json"), encoding="utf-8") as stream:
        structs = json.load(stream)["structs"]
    for name, struct in structs.items():
        described = [field for field in struct["fields"] if not field["name"].startswith("rsvd")]
        if all("meaning" in field for field in described):
            fields["c_m%s_t" % name[1:]] = [
                {"field": field["name"], "unit": field.get("unit", ""), "meaning": field["meaning"]}
                for field in described
            ]
    with open(os.path.join(generated.ROOT, "facts", "struct_fields.csv"), encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            fields.setdefault(row["struct"], []).append(row)
    return fields


def read_support():
    """facts/card_support.csv by function: {card: yes, no, a way, an error} (dict)."""
    with open(os.path.join(generated.ROOT, "facts", "card_support.csv"), encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {row.pop("function"): row for row in rows}


class Links:
    """Where names lead, from any page of the reference."""

    def __init__(self, functions, structs):
        self.targets = {name: "%s.md#%s" % (function.page, name.lower()) for name, function in functions.items()}
        self.targets.update((name, "structs.md#%s" % name.lower()) for name in structs)

    def text(self, text, own=None):
        """Text of a docstring as Markdown: names as code, with a link where there is a place to go."""
        pieces = re.split(r"(``.+?``)", text.replace("<", "&lt;"))
        for number, piece in enumerate(pieces):
            if number % 2:
                pieces[number] = "`%s`" % piece[2:-2]
            else:
                plain = piece.replace("[", "\\[")  # no link, and no definition of one
                pieces[number] = NAME.sub(lambda match: self.name(match.group(), own), plain)
        return "".join(pieces)

    def name(self, word, own=None):
        """A name as code, with a link."""
        bare = word.rstrip("()")
        target = self.targets.get(bare) if bare != own else None
        if target is None and "*" in bare:
            begin, _, end = bare.partition("*")
            fitting = [name for name in self.targets if name.startswith(begin) and name.endswith(end)]
            target = self.targets[fitting[0]] if fitting else None
        return "[`%s`](%s)" % (word, target) if target else "`%s`" % word


def cards(row):
    """What the reference says of a function's cards."""
    if row is None:
        return None
    plain = [card for card, word in row.items() if word == "yes"]
    said = ["all"] if len(plain) == len(row) else [", ".join(plain)] if plain else []
    for way, words in WAYS.items():
        such = [card for card, word in row.items() if way in word.split("/")]
        if such:
            said.append("%s: %s" % (words, ", ".join(such)))
    return "; ".join(said) or "none of the simulated ones"


def entry(function, links, plain, support):
    """A function's part of its page (list of lines)."""
    own = plain[function.name]
    returns = " returns `%s`" % function.returns if function.returns not in ("", "_Any") else ""
    lines = ["### %s" % function.name, "", "`%s`%s" % (function.call, returns), ""]
    lines += [links.text(function.summary, function.name), ""]
    for paragraph in function.prose:
        lines += [links.text(paragraph, function.name), ""]
    units = coverage.units(own, plain)
    if function.name == "nvmlDeviceGetFieldValues":
        lines.append("- Unit: [as the field](#fields-that-return-a-value)")
    elif units:
        lines.append("- Unit: %s" % ", ".join(units))
    if function.raises:
        lines.append("- Raises: %s" % links.text(function.raises))
    calls = [] if own.name.startswith("mtml") else coverage.calls(own, plain)
    sources = [links.name(call.split()[0]) + " (optional)" * call.endswith("(optional)") for call in calls]
    sources += [other if " " in other else "`%s`" % other for other in coverage.other_sources(own, plain)]
    if sources:
        lines.append("- From: %s" % ", ".join(sources))
    answered = cards(support.get(function.alias_of or function.name))
    if answered:
        lines.append("- Cards: %s" % answered)
    elif coverage.other_sources(own, plain):
        lines.append("- Cards: any, as the system reports it")
    return lines + [""] * (lines[-1] != "")


def page_of(page, functions, plain, links, support):
    """The text of a task's page."""
    lines = ["# %s" % page.title, "", page.intro, ""]
    for title, fits in (
        ("Under NVML's names", lambda name: not name.startswith("mtml")),
        ("Under MTML's names", lambda name: name.startswith("mtml")),
    ):
        members = [function for function in functions.values() if function.page == page.name and fits(function.name)]
        if not members:
            continue
        lines += ["## %s" % title, "", "| function | returns | unit |", "|---|---|---|"]
        for function in members:
            lines.append(row(function, plain, links))
        lines.append("")
        for function in members:
            lines += entry(function, links, plain, support)
    return "\n".join(lines).rstrip("\n") + "\n"


def row(function, plain, links):
    """A function's row in a table."""
    answer = re.sub(r"\[(`[^`]+`)\]\([^)]+\)", r"\1", links.text(" ".join(function.summary.split()).rstrip(".")))
    units = ", ".join(coverage.units(plain[function.name], plain)) or "-"
    return "| %s | %s | %s |" % (links.name(function.name), answer.replace("|", "\\|"), units)


def index(functions, plain, links):
    """docs/reference/README.md."""
    pages = []
    for page in PAGES:
        members = [name for name, function in functions.items() if function.page == page.name]
        of_mtml = sum(name.startswith("mtml") for name in members)
        about = page.intro.rstrip(".")
        pages.append("| [%s](%s.md) | %s | %d | %d |" % (page.title, page.name, about, len(members) - of_mtml, of_mtml))
    first = [row(functions[name], plain, links) for name in FIRST]
    return INDEX.format(first="\n".join(first), pages="\n".join(pages))


def fields_table(source, links):
    """The fields that nvmlDeviceGetFieldValues answers; what they are stands in facts/field_values.csv."""
    with open(os.path.join(generated.ROOT, "facts", "field_values.csv"), encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    told = {row["field"] for row in rows}
    answering = {"NVML_FI_DEV_MEMORY_TEMP", "NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON", "NVML_FI_DEV_NVLINK_SPEED_MBPS_L*"}
    for node in coverage.tree(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            if re.match(r"_(ULL|UINT|LINK|POWER|ECC)_FIELDS$", node.targets[0].id):
                answering.update(key.id for key in node.value.keys)
    if told != answering:
        sys.exit("facts/field_values.csv: missing or too many: %s" % ", ".join(sorted(told ^ answering)))
    lines = []
    for row in rows:
        cells = [links.name(row["field"]), links.text(row["scope"]), row["unit"], links.text(row["meaning"])]
        lines.append("| %s |" % " | ".join(cell.replace("|", "\\|") or "-" for cell in cells))
    return FIELDS + "\n".join(lines) + "\n"


def structs_page(structs, fields, links):
    """docs/reference/structs.md."""
    lines = [STRUCTS]
    for name in list(structs) + [name for name in fields if name not in structs]:
        node, rows = structs.get(name), fields[name]
        lines += ["## %s" % name, ""]
        if node is not None:
            documented = ast.get_docstring(node)
            lines += [links.text(documented, name), ""] if documented and documented != "NVML struct." else []
        lines += ["| field | unit | meaning |", "|---|---|---|"]
        for field in rows:
            meaning = links.text(field["meaning"], name).replace("|", "\\|")
            lines.append("| `%s` | %s | %s |" % (field["field"], field["unit"] or "-", meaning))
        lines.append("")
        also = other_names(node) if node is not None else []
        if also:
            lines += ["Also: %s." % "; ".join(also), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def other_names(node):
    """What a struct has beside its fields: aliases and properties, each with what it is (list of str)."""
    found = []
    for statement in node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            kind, given = statement.value.func.id, [ast.literal_eval(one) for one in statement.value.args]
            unit = ", %s" % given[1] if len(given) > 1 and kind == "_Alias" else ""
            what = "`%s`%s" % (given[0], unit) if kind == "_Alias" else given[1].rstrip(".").lower()
            found.append("`%s` (%s)" % (statement.targets[0].id, what))
        elif isinstance(statement, ast.FunctionDef) and statement.decorator_list:
            words = ast.get_docstring(statement).rstrip(".").replace("``", "`")
            found.append("`%s` (%s)" % (statement.name, words[0].lower() + words[1:] if words[1].islower() else words))
    return found


def errors_page(source):
    """docs/reference/errors.md."""
    codes = dict(re.findall(r"(?m)^((?:NVML|MTML)_ERROR\w+) = (\d+)", source))
    rows = {"NVMLError_": [], "MTMLError_": []}
    for node in coverage.tree(source).body:
        if not isinstance(node, ast.ClassDef) or not node.name.startswith(tuple(rows)):
            continue
        constant = next(statement.value.id for statement in node.body if isinstance(statement, ast.Assign))
        text = ast.get_docstring(node).replace("``", "`").replace("\n", " ").rstrip(".")
        cells = ["`%s`" % node.name, codes[constant], "`%s`" % constant, text]
        if node.name.startswith("MTML"):
            cells.append("`%s`" % node.bases[-1].id)
        rows[node.name[:10]].append("| %s |" % " | ".join(cells))
    return ERRORS.format(nvml="\n".join(rows["NVMLError_"]), mtml="\n".join(rows["MTMLError_"]))


def documents(source):
    """All pages: {name of the file: text}."""
    functions, plain = read_functions(source)
    structs, fields, support = read_structs(source), read_fields(), read_support()
    missing = [name for name in structs if name not in fields]
    if missing:
        sys.exit("facts/mtml_api.json or facts/struct_fields.csv: describe the fields of %s" % ", ".join(missing))
    silent = [name for name in structs if not ast.get_docstring(structs[name])]
    if silent:
        sys.exit("pymtml.py: write a docstring for %s" % ", ".join(silent))
    links = Links(functions, fields)
    texts = {"%s.md" % page.name: page_of(page, functions, plain, links, support) for page in PAGES}
    texts["other.md"] += "\n" + fields_table(source, links)
    texts = {name: text.replace("](%s#" % name, "](#") for name, text in texts.items()}
    texts["README.md"] = index(functions, plain, links)
    texts["structs.md"] = structs_page(structs, fields, links)
    texts["errors.md"] = errors_page(source)
    return texts


def to_do():
    """Nothing: pages that cannot be made end with what is lacking."""
    documents(generated.read("pymtml.py"))
    return []


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name, text in documents(generated.read("pymtml.py")).items():
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as stream:
            stream.write(text)


if __name__ == "__main__":
    main()
