#!/usr/bin/env python3
"""Writes Part III of pymtml.py: the public names of nvidia-ml-py that Parts I and II do not define by hand.

    python tools/generate_catalogue.py            rewrite the block between the BEGIN and END markers
    python tools/generate_catalogue.py --check    exit status 1, with a diff, if the block is not current

The names, values and layouts come from facts/nvml_surface.json. A name that pymtml.py binds at module level
outside the markers stays out of the block, so that moving a definition into Part II is: write it there, run this,
commit both. Structs become one description each, out of which `_catalogue_struct` makes the class on first use.
"""

import argparse
import ast
import collections
import difflib
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODULE = os.path.join(ROOT, "pymtml.py")
SURFACE = os.path.join(ROOT, "facts", "nvml_surface.json")
BEGIN = "# BEGIN generated NVML catalogue"
END = "# END generated NVML catalogue"
WIDTH = 120
VERSIONS = "Versions of structs"
OTHERS = "Others"

# The facts were taken on 64-bit Linux, where ctypes calls its 64-bit types by these names; a long may have 32 bits.
FIXED_WIDTH = {"c_ulong": "c_ulonglong", "c_long": "c_longlong"}

# What a new object of nvidia-ml-py's class holds: the value of a constant, by struct and field. All other fields are 0.
INITIAL = {
    "c_nvmlComputeInstanceProfileInfo_v2_t": {"version": "nvmlComputeInstanceProfileInfo_v2"},
    "c_nvmlDeviceAddressingMode_t": {"version": "nvmlDeviceAddressingMode_v1"},
    "c_nvmlDeviceCapabilities_v1_t": {"version": "nvmlDeviceCapabilities_v1"},
    "c_nvmlDramEncryptionInfo_t": {"version": "nvmlDramEncryptionInfo_v1"},
    "c_nvmlEccSramErrorStatus_v1_t": {"version": "nvmlEccSramErrorStatus_v1"},
    "c_nvmlEccSramUniqueUncorrectedErrorCounts_v1_t": {"version": "nvmlEccSramUniqueUncorrectedErrorCounts_v1"},
    "c_nvmlGpuFabricInfo_v2_t": {"version": "nvmlGpuFabricInfo_v2"},
    "c_nvmlGpuFabricInfo_v3_t": {"version": "nvmlGpuFabricInfo_v3"},
    "c_nvmlGpuInstanceProfileInfo_v2_t": {"version": "nvmlGpuInstanceProfileInfo_v2"},
    "c_nvmlNvLinkInfo_v1_t": {"version": "nvmlNvLinkInfo_v1"},
    "c_nvmlNvLinkInfo_v2_t": {"version": "nvmlNvLinkInfo_v2"},
    "c_nvmlNvlinkGetBwMode_v1_t": {"version": "nvmlNvlinkGetBwMode_v1"},
    "c_nvmlNvlinkSetBwMode_v1_t": {"version": "nvmlNvlinkSetBwMode_v1"},
    "c_nvmlNvlinkSupportedBwModes_v1_t": {"version": "nvmlNvlinkSupportedBwModes_v1"},
    "c_nvmlPdi_t": {"version": "nvmlPdi_v1"},
    "c_nvmlPerfMetricsSamples_v1_t": {"version": "nvmlPerfMetricsSamples_v1"},
    "c_nvmlPlatformInfo_v1_t": {"version": "nvmlPlatformInfo_v1"},
    "c_nvmlPlatformInfo_v2_t": {"version": "nvmlPlatformInfo_v2"},
    "c_nvmlPowerSmoothingProfile_v1_t": {"version": "nvmlPowerSmoothingProfile_v1"},
    "c_nvmlPowerSmoothingState_v1_t": {"version": "nvmlPowerSmoothingState_v1"},
    "c_nvmlRepairStatus_t": {"version": "nvmlRepairStatus_v1"},
    "c_nvmlRusdSettings_v1_t": {"version": "nvmlRusdSettings_v1"},
    "c_nvmlSystemConfComputeSettings_v1_t": {"version": "nvmlSystemConfComputeSettings_v1"},
    "c_nvmlSystemEventSetCreateRequest_v1_t": {"version": "nvmlSystemEventSetCreateRequest_v1"},
    "c_nvmlSystemEventSetFreeRequest_v1_t": {"version": "nvmlSystemEventSetFreeRequest_v1"},
    "c_nvmlSystemEventSetWaitRequest_v1_t": {"version": "nvmlSystemEventSetWaitRequest_v1"},
    "c_nvmlSystemRegisterEventRequest_v1_t": {"version": "nvmlSystemRegisterEventRequest_v1"},
    "c_nvmlUUID_t": {"version": "nvmlUUID_v1"},
    "c_nvmlUnrepairableMemory_v1_t": {"version": "nvmlUnrepairableMemory_v1"},
    "c_nvmlWorkloadPowerProfileCurrentProfiles_v1_t": {"version": "nvmlWorkloadPowerProfileCurrentProfiles_v1"},
    "c_nvmlWorkloadPowerProfileInfo_v1_t": {"version": "nvmlWorkloadPowerProfileInfo_v1"},
    "c_nvmlWorkloadPowerProfileProfilesInfo_v1_t": {"version": "nvmlWorkloadPowerProfileProfilesInfo_v1"},
    "c_nvmlWorkloadPowerProfileRequestedProfiles_v1_t": {"version": "nvmlWorkloadPowerProfileRequestedProfiles_v1"},
}

# Constructors of nvidia-ml-py whose parameters are not called as the fields they fill.
PARAMETERS = {
    "c_nvmlPRMCounterInput_v1_t": {"port": "localPort"},
    "c_nvmlPRMCounterList_v1_t": {"num": "numCounters", "ctrs": "counters"},
    "c_nvmlPRMCounter_v1_t": {"ctrId": "counterId", "inData": "inputValue"},
    "c_nvmlPRMTLV_v1_t": {"size": "dataSize"},
}


def split(source):
    """The text before the block, the block with its markers, and the text after it."""
    lines = source.splitlines(keepends=True)
    marks = [number for number, line in enumerate(lines) if line.rstrip("\n") in (BEGIN, END)]
    if [lines[number].rstrip("\n") for number in marks] != [BEGIN, END]:
        sys.exit("generate_catalogue: pymtml.py must hold one line '%s' and after it one line '%s'" % (BEGIN, END))
    first, end = marks[0], marks[1] + 1
    return "".join(lines[:first]), "".join(lines[first:end]), "".join(lines[end:])


def bound_names(source):
    """The names that the statements of a module bind, those under `if`, `try`, `for` and `with` included."""
    names = set()
    pending = list(ast.parse(source).body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                names.add(node.id)
        elif not isinstance(node, ast.AnnAssign) or node.value is not None:
            pending.extend(ast.iter_child_nodes(node))
    return names


def literal(name, value):
    if isinstance(value, dict) and "tuple" in value:
        # A stray comma made a one-element tuple of this constant in nvidia-ml-py; every caller means the number.
        value = int(value["tuple"][0])
    if isinstance(value, dict):
        return "%s(0x%X)" % (FIXED_WIDTH.get(value["ctype"], value["ctype"]), value["value"])
    if isinstance(value, str):
        return json.dumps(value)
    if value >= 0x10000 or not name.isupper():
        return "0x%X" % value
    return str(value)


def groups(names):
    """The names by the first words they share with at least two others: two words after NVML, else one."""
    words = {name: name.split("_") if "_" in name else re.findall("^[a-z]+|[A-Z][a-z0-9]*", name) for name in names}
    stems = {name: [tuple(words[name][:count]) for count in (3, 2)] for name in names}
    common = collections.Counter(stem for name in names for stem in stems[name])
    found = collections.defaultdict(list)
    for name in names:
        stem = next((stem for stem in stems[name] if common[stem] >= 3), None)
        if re.search(r"_v\d+$", name):
            found[VERSIONS].append(name)
        elif stem:
            found["_".join(stem) if "_" in name else "".join(stem)].append(name)
        else:
            found[OTHERS].append(name)
    return found


def constant_lines(constants):
    found = groups(constants)
    for group in sorted(found, key=lambda group: (group in (VERSIONS, OTHERS), group)):
        names = sorted(found[group])
        values = [constants[name] for name in names]
        if all(isinstance(value, int) for value in values) and len(set(values)) == len(values):
            names.sort(key=constants.get)
        yield ""
        yield "# " + (group if group in (VERSIONS, OTHERS) else group + "*")
        for name in names:
            yield "%s = %s" % (name, literal(name, constants[name]))


def type_text(text, aliases):
    """A field's type as the catalogue writes it; a pointer to an opaque struct under the name of its handle type."""
    if text in aliases:
        return aliases[text]
    return re.sub(r"\bc_u?long\b", lambda match: FIXED_WIDTH[match.group()], text)


def description(name, struct, aliases):
    if struct["class"] != name:
        return [struct["class"]]
    base = "Union" if struct["kind"] == "union" else "_PrintableStructure" if struct["printable"] else "Structure"
    initial = INITIAL.get(name, {})
    fields = []
    for field, kind, *bits in struct["fields"]:
        text = "%s: %s" % (field, type_text(kind, aliases))
        text += " : %d" % bits[0] if bits else ""
        text += " = %s" % initial[field] if field in initial else ""
        fields.append(text)
    return [base + "("] + [field + ", " for field in fields[:-1]] + fields[-1:] + [")"]


def entry_lines(name, pieces):
    whole = '    "%s": "%s",' % (name, "".join(pieces))
    if len(whole) <= WIDTH:
        return [whole]
    lines = ['    "%s": (' % name]
    text = ""
    for piece in pieces:
        if text and len('        "%s"' % (text + piece.rstrip())) > WIDTH - 1:
            lines.append('        "%s"' % text)
            text = ""
        text += piece
    return lines + ['        "%s"' % text, "    ),"]


def table_lines(name, table):
    yield "%s = {" % name
    for key in sorted(table):
        items = ['"%s": "%s"' % item for item in table[key].items()]
        whole = '    "%s": {%s},' % (key, ", ".join(items))
        if len(whole) <= WIDTH:
            yield whole
        else:
            yield '    "%s": {' % key
            yield from ("        %s," % item for item in items)
            yield "    },"
    yield "}"


def block(surface, taken):
    """The generated block, its markers included."""
    constants = {name: value for name, value in surface["constants"].items() if name not in taken}
    plain = {name: kind for name, kind in surface["types"].items() if not kind.startswith("POINTER(")}
    handles = {name: kind for name, kind in surface["types"].items() if kind.startswith("POINTER(")}
    aliases = {kind: name for name, kind in handles.items()}
    structs = {name: description(name, struct, aliases) for name, struct in surface["structs"].items()}
    structs.update((name, [kind]) for name, kind in handles.items())
    structs = {name: pieces for name, pieces in structs.items() if name not in taken}
    made = {name for name in structs if structs[name][0].endswith("(")}
    formats = {name: surface["structs"][name]["format"] for name in made if "format" in surface["structs"][name]}

    lines = [
        BEGIN,
        "# Written by tools/generate_catalogue.py, which also checks it; edit that, or define the name above.",
        "",
        "# ---- Types of enums ----",
        "",
    ]
    lines += ["%s = %s" % (name, plain[name]) for name in sorted(plain) if name not in taken]
    lines += ["", "# ---- Constants ----"]
    lines += constant_lines(constants)
    lines += ["", "# ---- Structs, unions and handle types, made on first use: declared here, described below ----", ""]
    for name in sorted(structs):
        base = structs.get(structs[name][0], structs[name])[0]
        lines.append('%s: "%s"' % (name, "type[%s]" % base[:-1] if base.endswith("(") else "type"))
    lines += [
        "",
        "# name: base(field: type[ : bits][ = initial value], ...), or another name for a type",
        "_CATALOGUE_STRUCTS = {",
    ]
    for name in sorted(structs):
        lines += entry_lines(name, structs[name])
    lines += ["}", "", "# What str() makes of the fields"]
    lines += table_lines("_CATALOGUE_FORMATS", formats)
    lines += ["", "# Constructor parameters that are not called as the field"]
    lines += table_lines("_CATALOGUE_PARAMETERS", {name: PARAMETERS[name] for name in PARAMETERS if name in made})
    lines += [END, ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 with a diff if not current")
    parser.add_argument("--module", default=MODULE, help="the module to work on (default: %(default)s)")
    parser.add_argument("--surface", default=SURFACE, help="the facts to read (default: %(default)s)")
    options = parser.parse_args()
    with open(options.surface, encoding="utf-8") as stream:
        surface = json.load(stream)
    with open(options.module, encoding="utf-8") as stream:
        source = stream.read()
    before, old, after = split(source)
    new = block(surface, bound_names(before + after))
    if options.check:
        difference = difflib.unified_diff(old.splitlines(True), new.splitlines(True), "pymtml.py", "generated")
        sys.stdout.writelines(difference)
        sys.exit(old != new)
    if old != new:
        with open(options.module, "w", encoding="utf-8") as stream:
            stream.write(before + new + after)


if __name__ == "__main__":
    main()
