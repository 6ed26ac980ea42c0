"""Writes Part III of pymtml.py: the public names of nvidia-ml-py that Parts I and II do not define by hand.

The names, values and layouts come from facts/nvml_surface.json. A name that pymtml.py binds at module level
outside the markers stays out of the block, so that moving a definition into Part II is: write it there, run this,
commit both. Structs become one description each, out of which `_catalogue_struct` makes the class on first use.
"""

import collections
import json
import re

import generated
from generated import FIXED_WIDTH, WIDTH

TITLE = "NVML catalogue"
VERSIONS = "Versions of structs"
OTHERS = "Others"


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
    initial = struct.get("initial", {})
    fields = []
    for field, kind, *bits in struct["fields"]:
        text = "%s: %s" % (field, type_text(kind, aliases))
        text += " : %d" % bits[0] if bits else ""
        text += " = 0x%X" % initial[field] if field in initial else ""
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


def lines(source):
    """The generated block."""
    surface, taken = generated.surface(), generated.above(TITLE, source)
    constants = {name: value for name, value in surface["constants"].items() if name not in taken}
    plain = {name: kind for name, kind in surface["types"].items() if not kind.startswith("POINTER(")}
    handles = {name: kind for name, kind in surface["types"].items() if kind.startswith("POINTER(")}
    aliases = {kind: name for name, kind in handles.items()}
    structs = {name: description(name, struct, aliases) for name, struct in surface["structs"].items()}
    structs.update((name, [kind]) for name, kind in handles.items())
    structs = {name: pieces for name, pieces in structs.items() if name not in taken}
    made = {name for name in structs if structs[name][0].endswith("(")}
    formats = {name: surface["structs"][name]["format"] for name in made if "format" in surface["structs"][name]}

    parameters = {
        name: surface["structs"][name]["parameters"] for name in made if "parameters" in surface["structs"][name]
    }
    lines = [
        "# Written by tools/generate_catalogue.py; edit that file, or define a name above the markers.",
        "",
        "# ---- Types of enums ----",
        "",
    ]
    lines += ["%s = %s" % (name, plain[name]) for name in sorted(plain) if name not in taken]
    lines += ["", "# ---- Constants ----"]
    lines += constant_lines(constants)
    lines += ["", "# ---- Structs, unions and handle types: declared here, described below, made on first use ----"]
    lines += ["", "if TYPE_CHECKING:"]
    for name in sorted(structs):
        base = structs.get(structs[name][0], structs[name])[0]
        lines.append('    %s: "%s"' % (name, "type[%s]" % base[:-1] if base.endswith("(") else "type"))
    lines += [
        "",
        "# name: base(field: type[ : bits][ = initial value], ...), or name: another name for a type",
        "_CATALOGUE_STRUCTS = {",
    ]
    for name in sorted(structs):
        lines += entry_lines(name, structs[name])
    lines += ["}", "", "# Formats of fields for str()"]
    lines += table_lines("_CATALOGUE_FORMATS", formats)
    lines += ["", "# Constructor parameters with another name than their field: parameter, field"]
    lines += table_lines("_CATALOGUE_PARAMETERS", parameters)
    return lines


FILES = generated.block(TITLE, lines)
