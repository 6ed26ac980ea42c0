"""Writes docs/coverage.md: every nvml* function of pymtml.py, whether it answers, in which unit and from what.

MTML's own functions stand at its end. And pymtml_cli/health/resting.txt, the functions that each of MTML's carries.

It is read from the module's source: the groups are its banners, what stands in the rows its docstrings. Why a function
is refused stands in facts/refusals.csv.
"""

import ast
import collections
import functools
import re
import sys

import generate_refusals
import generated

SURFACE = {name for name in generated.surface()["functions"] if name.startswith("nvml")}
REFUSAL = "Not available"
REFERENCE = re.compile(r"[Aa]s (nvml\w+)(?: and (nvml\w+))?")
SOURCE = re.compile(r"\b(MTML: |MUSA: )(.*?)(?:\.(?= [A-Z])|\.?$)")
UNITS = [
    ("mJ", r"\bmJ\b"),
    ("mW", r"\bmW\b"),
    ("mV", r"\bmV\b"),
    ("MHz", r"\bMHz\b"),
    ("Hz", r"\bHz\b"),
    ("Mbps", r"\bMbps\b"),
    ("GB/s", r"\bGB/s"),
    ("GT/s", r"\bGT/s"),
    ("bytes", r"\bin bytes\b"),
    ("MB", r"\bmemorySizeMB\b"),
    ("bits", r"\bin bits\b"),
    ("percent", r"\bpercent\b"),
    ("\u00b0C", r"\b[Dd]egrees Celsius\b"),
    ("\u00b5s", r"\bmicroseconds\b"),
    ("fps", r"\bframes per second\b"),
    ("lanes", r"\blanes\b"),
    ("rpm", r"\brevolutions per minute\b"),
    ("pixels", r"\bpixels\b"),
]

HEADER = """\
# Coverage of NVML

<!-- Written by tools/generate_coverage.py from the docstrings of pymtml.py. Do not edit. -->

Every `nvml*` function of nvidia-ml-py exists in pymtml, with its parameters. {answered} of these {total} functions
return a value, if the card and the library's version support it. The others check what NVML checks and raise
`NVMLError_NotSupported`, because neither MTML nor the system reports the value. MTML's own functions are at the end.
The [reference](reference.md) has the errors and the cards of each function.

"optional" marks a function that libraries export although the 2.2.0 header lacks it. Without it the query raises
`NVMLError_NotSupported`.

## Values that stand for unknown

Structs and tuples must hold something. Everywhere else, an unknown value is an error.

| value | where |
|---|---|
| 0 | `reserved` of memory version 2 |
| 0 | memory, encoder and decoder shares of processes and virtual devices |
| 0 | lowest temperature of a thermal sensor |
| 0 | engines and P2P of an instance profile, start of an instance's placement |
| (0, 0) | compute capability |
| "", 0 | `deviceClass` and `gpuCores` of `c_mtmlVirtType_t`, names from other bindings |

## Functions that return a value
"""

Function = collections.namedtuple("Function", "name group text parameters first")


@functools.lru_cache(maxsize=2)
def tree(source):
    """The module as a tree of syntax."""
    return ast.parse(source)


def read_functions(source, prefixes=("nvml", "c_nvml")):
    """All public functions with one of the prefixes, aliases by assignment included (OrderedDict of Function)."""
    banners = [
        (number, line) for number, line in enumerate(source.splitlines(), 1) if re.match(r"# (-{4}|={4}) ", line)
    ]
    functions = collections.OrderedDict()
    for node in tree(source).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith(prefixes):
            above = [line for number, line in banners if number < node.lineno]
            group = re.match(r"# [-=]{4} (?:\d+\. )?(.*?) [-=]{4}", above[-1]).group(1)
            parameters = [argument.arg for argument in node.args.args]
            if not ast.get_docstring(node):
                sys.exit("pymtml.py:%d: %s has no docstring: write one" % (node.lineno, node.name))
            text = ast.get_docstring(node)
            first = " ".join(text.split("\n\n")[0].split())
            functions[node.name] = Function(node.name, group, " ".join(text.split()), parameters, first)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in functions:
            of = functions[node.value.id]
            for target in node.targets:
                if target.id.startswith(prefixes):
                    same = "Same as %s." % of.name
                    functions[target.id] = of._replace(name=target.id, text=same, first=same)
    return functions


def summary(function):
    """The docstring without its lists of errors and sources."""
    return re.split(r" ?(?:Raises: |MTML: |MUSA: )", function.text)[0]


def answers(function):
    """Whether a function does more than refuse."""
    return not function.text.startswith(REFUSAL)


def calls(function, functions):
    """The MTML functions that an answer rests on, those of the functions that it refers to included (list)."""
    found = []
    named = [words for kind, words in SOURCE.findall(function.text) if kind != "MUSA: "]
    for words in named:
        for name, optional in re.findall(r"\b(mtml[A-Z]\w+)( \(optional\))?", words):
            found.append(name + optional)
    for other in referred(function, functions):
        found += [call for call in calls(other, functions) if call not in found]
    return found


def other_sources(function, functions):
    """What an answer rests on besides MTML (list of texts)."""
    found = []
    for kind, words in SOURCE.findall(function.text):
        if kind == "MUSA: ":
            found.append("muDriverGetVersion")
        found += re.findall(r"/proc/[\w/]+|\bsysfs\b|the functions of the fields", words)
    for other in referred(function, functions):
        found += [source for source in other_sources(other, functions) if source not in found]
    return found


def referred(function, functions):
    """The functions whose answer a docstring passes on ("Same as ...", "MTML: as ...")."""
    texts = [words for _, words in SOURCE.findall(function.text)] or [summary(function)]
    names = [name for text in texts for match in REFERENCE.findall(text) for name in match]
    return [functions[name] for name in names if name in functions and name != function.name]


def units(function, functions):
    """The units of an answer, in the order in which the first paragraph of its docstring has them (list)."""
    matches = [(re.search(pattern, function.first), unit) for unit, pattern in UNITS]
    found = sorted((match.start(), unit) for match, unit in matches if match)
    if not found:
        return next((units(other, functions) for other in referred(function, functions)), [])
    return [unit for _, unit in found]


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def document(source):
    """docs/coverage.md for the source of the module."""
    functions, reasons = read_functions(source), generate_refusals.rows()
    answering = [function for function in functions.values() if answers(function)]
    refusing = [function for function in functions.values() if not answers(function)]
    of_nvml = [function.name for function in functions.values() if function.name in SURFACE]
    lines = [HEADER.format(total=len(of_nvml), answered=sum(function.name in of_nvml for function in answering))]
    for group, members in grouped(answering):
        lines += ["### %s" % group, "", "| function | returns | unit | from |", "|---|---|---|---|"]
        for function in members:
            sources = [
                "`%s`" % call.replace(" (optional)", "") + " (optional)" * call.endswith("(optional)")
                for call in calls(function, functions)
            ]
            sources += [source if " " in source else "`%s`" % source for source in other_sources(function, functions)]
            lines.append(
                "| `%s` | %s | %s | %s |"
                % (
                    "%s(%s)" % (function.name, ", ".join(function.parameters)),
                    cell(summary(function).rstrip(".")),
                    ", ".join(units(function, functions)) or "-",
                    ", ".join(sources) or "-",
                )
            )
        lines.append("")
    lines += ["## Functions that raise NVMLError_NotSupported", ""]
    for group, members in grouped(refusing):
        lines += ["### %s" % group, "", "| function | would be | why not |", "|---|---|---|"]
        for function in members:
            what = cell(summary(function)[len(REFUSAL) :].strip(": .")) or "-"
            reason = reasons[function.name]["reason"] if function.name in reasons else "-"
            lines.append("| `%s` | %s | %s |" % (function.name, what, cell(reason)))
        lines.append("")
    lines += ["## Functions of MTML", ""]
    native = read_functions(source, ("mtml",))
    for group, members in grouped(native.values()):
        lines += ["### MTML: %s" % group, "", "| function | returns | unit |", "|---|---|---|"]
        for function in members:
            call = "%s(%s)" % (function.name, ", ".join(function.parameters))
            answer = cell(summary(function).rstrip("."))
            lines.append("| `%s` | %s | %s |" % (call, answer, ", ".join(units(function, native)) or "-"))
        lines.append("")
    return "\n".join(lines)


def grouped(functions):
    """(group, its functions), in the order of the module."""
    groups = collections.OrderedDict()
    for function in functions:
        groups.setdefault(function.group, []).append(function)
    return list(groups.items())


def resting(source):
    """pymtml_cli/health/resting.txt for the source of the module."""
    functions, found = read_functions(source, ("nvml",)), {}
    for function in functions.values():
        for call in calls(function, functions):
            found.setdefault(call.split()[0], []).append(function.name)
    lines = ["Which functions rest on a function of MTML. Written by tools/generate_coverage.py from docstrings.", ""]
    lines += ["== functions"] + ["%s | %s" % (name, " ".join(found[name])) for name in sorted(found)]
    return "\n".join(lines + [""])


FILES = {
    "docs/coverage.md": lambda old: document(generated.read("pymtml.py")),
    "pymtml_cli/health/resting.txt": lambda old: resting(generated.read("pymtml.py")),
}
