"""Writes the functions of Part III of pymtml.py: those of nvidia-ml-py that MTML has no counterpart for.

Names and parameters come from facts/nvml_surface.json, the rest from facts/refusals.csv, one row a function:

    group    the sub-banner that it is under, named as those of the functions that return a value
    name     the function
    checks   what NVML looks at before it refuses, in order: `handle` for the device handle in that parameter,
             `mode<NVML_COMPUTEMODE_COUNT` or `mode<=NVML_GOM_LOW_DP` for an enum, nothing for no more than nvmlInit
    what     half a sentence: what the function would return or do
    reason   why it cannot, for docs/coverage.md

A function that pymtml.py defines by hand stays out, and so does a row whose function the surface lacks. One without a
row is refused as "Not available." until it gets one.
"""

import csv
import re
import textwrap

import generated

TITLE = "NVML refusals"
NO_ROW = "Not described yet"


def rows():
    """The table: each function's row by column (dict), in its order."""
    return {row["name"]: row for row in csv.DictReader(generated.read("facts/refusals.csv").splitlines())}


def wanted(surface, source):
    """The public functions of the surface that nobody wrote by hand: parameters by name."""
    taken = generated.above(TITLE, source)
    return {
        name: entry["params"]
        for name, entry in surface["functions"].items()
        if name not in taken and not name.startswith("_")
    }


def default(value, structs):
    """A parameter's default as source."""
    if isinstance(value, str) and value.endswith("()") and value[:-2] in structs:
        return '_catalogue_struct("%s")()' % value[:-2]
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0x10000:
        return "0x%X" % value
    return value if isinstance(value, str) else repr(value)


def guess(name, parameters):
    """The checks of a function without a row: a device's handle where it takes one first."""
    first = parameters[0]["name"] if parameters else ""
    return first if name.startswith("nvmlDevice") and first in ("handle", "device") else ""


def refusal(checks):
    """The call that makes the error, for the checks of a row."""
    handles, values = [], []
    for check in checks.split():
        parameter, comparison, limit = re.match(r"(\w+)(?:(<=?)(\w+))?$", check).groups()
        if comparison:
            values.append("(%s, %s)" % (parameter, limit + " + 1" if comparison == "<=" else limit))
        else:
            handles.append(parameter)
    if values:
        return "_refuse_values(%s)" % ", ".join(handles + values)
    return "_refuse_device(%s)" % ", ".join(handles) if handles else "_refuse()"


def function_lines(name, parameters, checks, what, structs):
    signature = ", ".join(
        one["name"] + ("=" + default(one["default"], structs) if "default" in one else "") for one in parameters
    )
    yield from ("", "")
    whole = "def %s(%s):" % (name, signature)
    if len(whole) <= generated.WIDTH:
        yield whole
    else:
        yield from ("def %s(" % name, "    %s" % signature, "):")
    summary = "Not available: %s." % what if what else "Not available."
    text = '    """%s"""' % summary
    if len(text) <= generated.WIDTH:
        yield text
    else:
        first, *rest = textwrap.wrap(summary, generated.WIDTH - 7)
        yield '    """' + first
        yield from ["    " + line for line in rest] + ['    """']
    call = "    raise %s" % refusal(checks)
    if len(call) <= generated.WIDTH:
        yield call
    else:
        opening, arguments = call[:-1].split("(", 1)
        yield from (opening + "(", "        " + arguments, "    )")


def lines(source):
    """The generated block."""
    surface = generated.surface()
    functions, table = wanted(surface, source), rows()
    structs = set(surface["structs"]) - generated.above(TITLE, source)
    lines = ["# Written by tools/generate_refusals.py from facts/refusals.csv; edit that, or define a function above."]
    described = [name for name in table if name in functions]
    above = None
    for name in described + sorted(set(functions) - set(table)):
        row = table.get(name) or {"group": NO_ROW, "checks": guess(name, functions[name]), "what": None}
        if row["group"] != above:
            lines += (["", ""] if above else [""]) + ["# ---- %s ----" % row["group"]]
            above = row["group"]
        lines += function_lines(name, functions[name], row["checks"], row["what"], structs)
    return lines + ["", ""]


def to_do():
    """A line for each function without a row."""
    missing = sorted(set(wanted(generated.surface(), generated.read("pymtml.py"))) - set(rows()))
    return [
        "%s has no row in facts/refusals.csv (group,name,checks,what,reason): write one, or the function by hand" % name
        for name in missing
    ]


FILES = generated.block(TITLE, lines)
