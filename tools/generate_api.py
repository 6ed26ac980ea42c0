"""Writes what follows from the C interface, facts/mtml_api.json.

    pymtml.py                  the constants, handles, structs, tables of prototypes and C types, and the functions
                               outside the 2.2.0 header, between markers; what is defined by hand stays out
    mtml_2.2.0.h               the declarations of versions after 2.2.0, between markers
    simulator/src/functions.h  all functions, the generations of cards, the keys of profiles that belong to functions
                               outside the header, the declarations of these, between markers

A function outside the 2.2.0 header has `since`, a later version or "undocumented", and `keys`: the keys of a profile,
with their types, that its answer comes from. A card that has none of them answers NOT_SUPPORTED. Nothing is written
while the facts themselves lack something: slips() names it.
"""

import functools
import json
import os
import re
import sys
import textwrap

import generate_cards
import generated
from generate_errors import class_name as error_class
from generated import ROOT, read

FACTS = "facts/mtml_api.json"
HEADER_VERSION = "2.2.0"
UNDOCUMENTED = "undocumented"
WIDTH = generated.WIDTH

# Types of a profile's key: the field that holds it. Their names are those of simulator/src/value.h.
KEY_FIELDS = {
    "bool": "bool ",
    "int": "int32_t ",
    "uint": "uint32_t ",
    "uint64": "uint64_t ",
    "float": "float ",
    "text": "struct text ",
    "capability": "struct capability ",
    "uint_list": "struct list ",
}
# C's own types, as they stand in pymtml.py
SCALARS = {
    "char": "c_char",
    "float": "c_float",
    "int": "c_int",
    "unsigned int": "c_uint",
    "unsigned long": "c_ulong",
    "unsigned long long": "c_ulonglong",
}
# The cells of pymtml.py for numbers
CELLS = {"c_uint": "_UInt", "c_int": "_Int", "c_ulonglong": "_ULongLong"}
# The banners of pymtml.py for the groups of the header's functions
GROUPS = {
    "device": "Device",
    "virtualization": "Virtualization",
    "topology_p2p": "Topology",
    "gpu": "GPU",
    "memory": "Memory",
    "vpu": "VPU",
    "mpc": "MPC",
    "mtlink": "MtLink",
    "ecc": "Affinity, reset, ECC",
}
# What another name of a field says
ALIAS_UNITS = ("pixels", "frames per second")
# Codes that no docstring lists: any function may report them.
SHARED = ("MTML_SUCCESS", "MTML_ERROR_INVALID_ARGUMENT", "MTML_ERROR_UNKNOWN")
# What entries of the facts have at least
FUNCTION = ("since", "group", "returns", "params", "errors", "notes")
PARAMETER = ("name", "ctype", "dir", "role")
STRUCT = ("size", "align", "fields")
FIELD = ("name", "ctype", "offset", "size")
ENUM_TYPE = ("size", "signed")
# What stands in them
DIRECTIONS = ("in", "out", "in_array", "out_array")
GENERATIONS = ["ANY"] + list(generate_cards.generations().values())
DEVICES = ("ALL", "PHYSICAL", "VIRTUAL", "REAL_VPU")
# Handles: the slots of pymtml.py that hold what C gets
SLOTS = {
    "MtmlDevice": ("_device", "_board"),
    "MtmlGpu": ("_gpu",),
    "MtmlMemory": ("_memory",),
    "MtmlVpu": ("_vpu",),
    "MtmlSystem": ("_system",),
}


def functions_since(api, wanted):
    """The functions whose `since` fits (dict)."""
    return {name: function for name, function in api["functions"].items() if wanted(function["since"])}


def bare(ctype):
    """A C type without const and stars."""
    return re.sub(r"const |\*", "", ctype).strip()


# ---- What the facts lack ----


def slips(api):
    """A line for each thing that the facts lack, or that nothing here can read (list)."""
    lines, owners = [], {}
    declared = read("mtml_2.2.0.h").split(C_MARKERS[0])[0]
    of_simulator = set(re.findall(r"\bKEY\(device, (\w+),", read("simulator/src/keys.c")))
    for name, function in api["functions"].items():
        later = function.get("since") != HEADER_VERSION
        lines += lacking(name, function, FUNCTION + ("keys",) * later)
        if not re.match(r"%s$|\d+(\.\d+)+$" % UNDOCUMENTED, function.get("since", HEADER_VERSION)):
            lines.append("%s: `since` is a version such as 2.3, or %s" % (name, UNDOCUMENTED))
        if not later and "%s(" % name not in declared:
            lines.append("%s: mtml_2.2.0.h does not declare it, so `since` is a later version" % name)
        lines += unknown(name, "errors", function.get("errors", ()), api["enums"]["MtmlReturn"])
        lines += unknown(name, "devices", [function.get("devices", "ALL")], DEVICES)
        for word in ("min_generation", "simulated_from"):
            lines += unknown(name, word, [function[word]] if word in function else (), GENERATIONS)
        for parameter in function.get("params", ()):
            what = "%s, parameter %s" % (name, parameter.get("name", "?"))
            lines += lacking(what, parameter, PARAMETER)
            lines += unknown(what, "dir", [parameter.get("dir", "in")], DIRECTIONS)
            lines += strange_type(api, what, parameter)
        for key, kind in function.get("keys", {}).items():
            lines += unknown("%s, key %s" % (name, key), "type", [kind], KEY_FIELDS)
            if key in of_simulator or owners.setdefault(key, name) != name:
                lines.append("%s: the key %s is another function's, give it a name of its own" % (name, key))
    for name, struct in api["structs"].items():
        lines += lacking("struct " + name, struct, STRUCT + undated(name, declared, ("since", "notes")))
        for entry in struct.get("fields", ()):
            what = "struct %s, field %s" % (name, entry.get("name", "?"))
            lines += lacking(what, entry, FIELD)
            if "fields" not in entry:
                lines += strange_type(api, what, entry)
    for name in {**api["enums"], **api["enum_types"]}:
        lines += lacking("enums", api["enums"], (name,)) + lacking("enum_types", api["enum_types"], (name,))
        needed = ENUM_TYPE + undated(name, declared, ("since",))
        lines += lacking("enum_types, " + name, api["enum_types"].get(name, dict.fromkeys(needed)), needed)
    return lines


def lacking(what, entry, needed):
    """A line if an entry lacks something (list)."""
    missing = ["`%s`" % word for word in needed if word not in entry]
    return ["%s lacks %s" % (what, ", ".join(missing))] if missing else []


def unknown(what, word, values, known):
    """A line for each value that is none of those that are known (list)."""
    return [
        "%s: `%s` %s is none of %s" % (what, word, value, ", ".join(known)) for value in values if value not in known
    ]


def undated(name, declared, words):
    """What a type needs that is not declared by hand: since when it is (tuple)."""
    return () if "\n} %s;" % name in declared else words


def strange_type(api, what, entry):
    """A line if nothing is known of a parameter's or field's type (list)."""
    ctype = entry.get("ctype", "char")
    if bare(ctype) in (*SCALARS, *api["opaque"], *api["enums"], *api["structs"]):
        return []
    return ["%s: nothing is known of its type %s: describe it in enums or structs" % (what, ctype)]


# ---- pymtml.py ----


def prototype(name, function):
    """A row of a table of prototypes, as black writes it."""
    parameters = ['"%s"' % parameter["ctype"] for parameter in function["params"]]
    line = '    "%s": (%s%s),' % (name, ", ".join(parameters), "," * (len(parameters) == 1))
    if len(line) <= WIDTH:
        return line
    return "\n".join(['    "%s": (' % name] + ["        %s," % parameter for parameter in parameters] + ["    ),"])


def python_types(api):
    """C types of parameters and the ctypes types that stand for them (list of pairs)."""
    used = {bare(parameter["ctype"]) for function in api["functions"].values() for parameter in function["params"]}
    pairs = [(name, ctype) for name, ctype in SCALARS.items() if name in used]
    for name in ("Library", "System", "Device", "Gpu", "Memory", "Vpu"):
        pairs.append(("Mtml" + name, "struct_c_nvmlDevice_t" if name == "Device" else "struct_c_mtml%s_t" % name))
    signed = [name for name, kind in api["enum_types"].items() if kind["signed"]]
    pairs += [(name, "c_int") for name in sorted(used & set(signed))]
    return pairs + [(name, class_name(name)) for name in sorted(used & set(api["structs"]))]


def class_name(struct):
    """The Python class of a struct."""
    return "c_m%s_t" % struct[1:]


def python_type(api, ctype):
    """The ctypes type of a number or character."""
    name = bare(ctype)
    return SCALARS[name] if name in SCALARS else "c_int" if api["enum_types"][name]["signed"] else "c_uint"


def bracketed(head, items, tail):
    """Items in brackets as black writes them: on one line if they fit, else on a line each (list of lines)."""
    line = head + ", ".join(items) + tail
    if len(line) <= WIDTH:
        return [line]
    margin = " " * (len(head) - len(head.lstrip()))
    return [head] + ["%s    %s," % (margin, item) for item in items] + [margin + tail]


def by_hand():
    """The names that pymtml.py defines by hand (set)."""
    return generated.bound_names(generated.by_hand(read("pymtml.py")))


def python_handles(api):
    """The block of handles in pymtml.py."""
    lines, taken = [], by_hand()
    for name, meaning in api["opaque"].items():
        opaque, slot = "struct_%s" % class_name(name), "_" + name[len("Mtml") :].lower()
        if class_name(name) not in taken:
            lines += ["class %s(Structure):" % opaque, '    """Opaque %s."""' % name, "", ""]
            lines += ["class %s(_Handle, POINTER(%s)):  # type: ignore[misc]" % (class_name(name), opaque)]
            lines += ['    """Handle of %s (%s *)."""' % (meaning, name), "", "    _type_ = " + opaque]
            lines += ['    __slots__ = ("_address", "_of", "%s")' % slot, '    _own = "%s"' % slot, "", ""]
    return lines


def python_structs(api):
    """The block of structs in pymtml.py: those that have no struct inside."""
    lines, taken = [], by_hand()
    for name, struct in api["structs"].items():
        entries = struct["fields"]
        if class_name(name) in taken or any("fields" in entry for entry in entries):
            continue
        lines += ["class %s(_PrintableStructure):" % class_name(name)]
        lines += ['    """%s: %s"""' % (name, struct["notes"][0].lower() + struct["notes"][1:]), ""]
        lines += bracketed("    _fields_ = [", [python_field(api, entry) for entry in entries], "]")
        formats = ['"%s": "%s"' % (entry["name"], entry["format"]) for entry in entries if "format" in entry]
        lines += ["    _fmt_ = {%s}" % ", ".join(formats)] * bool(formats)
        aliases = [python_alias(entry) for entry in entries if "alias" in entry]
        lines += [""] * bool(aliases) + aliases + ["", ""]
    return lines


def python_field(api, entry):
    """A row of _fields_."""
    row = '("%s", %s' % (entry["name"], python_type(api, entry["ctype"]))
    row += " * %d" % entry["count"] if "count" in entry else ""
    return row + (", %d)" % entry["bit_width"] if "bit_width" in entry else ")")


def python_alias(entry):
    """The other name of a field."""
    unit = ', "%s"' % entry["unit"] if entry.get("unit") in ALIAS_UNITS else ""
    return '    %s = _Alias("%s"%s)' % (entry["alias"], entry["name"], unit)


def python_functions(api, header):
    """A block of functions in pymtml.py, those of the header or the others, whose answer is a struct or numbers."""
    lines, taken, above = [], by_hand(), None
    for name, function in functions_since(api, lambda since: (since == HEADER_VERSION) == header).items():
        body = None if name in taken else python_body(api, name, function["params"])
        if body is None:
            continue
        if header and GROUPS[function["group"]] != above:
            above = GROUPS[function["group"]]
            lines += ["# ---- %s ----" % above, "", ""]
        result, mark, call = body
        names = [parameter["name"] for parameter in function["params"] if parameter["dir"] == "in"]
        lines += ['def %s(%s) -> "%s":' % (name, ", ".join(names), result)]
        lines += docstring(function, mark, [] if header else ["MTML_ERROR_FUNCTION_NOT_FOUND"])
        lines += ["    return " + call, "", ""]
    return lines


def docstring(function, mark, errors):
    """A docstring: what is returned, and where; more of it; the errors that are particular to the function."""
    first, _, more = function["notes"].rstrip(".").partition(". ")
    conditions = ["Linux only"] if function.get("linux_only") else []
    if "min_generation" in function:
        conditions += ["since the %s generation" % function["min_generation"].capitalize()]
    said = ", ".join(conditions)
    first = mark(first)
    if conditions and len(first) + len(said) <= WIDTH - len('    """; .'):
        first, said = "%s; %s" % (first, said), ""
    paragraphs = [text.rstrip(".") + "." for text in (said and said[0].upper() + said[1:], more) if text]
    errors = errors + [error for error in function["errors"] if error not in SHARED]
    paragraphs = [" ".join(paragraphs)] * bool(paragraphs)
    paragraphs += ["Raises: %s." % ", ".join(map(error_class, errors))] * bool(errors)
    if not paragraphs:
        return ['    """%s."""' % first]
    lines = ['    """%s.' % first]
    for paragraph in paragraphs:
        lines += [""] + ["    " + line for line in textwrap.wrap(paragraph, WIDTH - 4)]
    return lines + ['    """']


def python_body(api, name, parameters):
    """(annotation, what makes the first line of the docstring of the notes, call); None for what is written by hand."""
    if not parameters or bare(parameters[0]["ctype"]) not in SLOTS:
        return None
    handle, inputs = parameters[0], [parameter for parameter in parameters[1:] if parameter["dir"] == "in"]
    outputs = [parameter for parameter in parameters if parameter["dir"] == "out"]
    kinds = {bare(parameter["ctype"]) for parameter in outputs}
    numbers = set(SCALARS).union(api["enums"]) - {"char"}
    if len(kinds) != 1 or any(parameter["ctype"] not in numbers for parameter in inputs):
        return None
    (kind,) = kinds
    arguments = ['"%s"' % name, '"%s"' % SLOTS[bare(handle["ctype"])][0], handle["name"]]
    arguments += ["_uint(%s)" % parameter["name"] for parameter in inputs]
    if len(outputs) == 1 and kind in api["structs"]:
        struct = class_name(kind)
        call = "_struct(%s(), %s)" % (struct, ", ".join(arguments))
        return struct, lambda text: re.sub(r"(;|$)", r" (%s)\1" % struct, text, count=1), call
    cell = CELLS.get(python_type(api, kind)) if kind in numbers else None
    if cell is None or len(outputs) > 2 or (len(outputs) == 2 and inputs):
        return None
    call = "(%s)" % ", ".join(arguments + ["cell=" + cell] * (cell != "_UInt"))
    if len(outputs) == 1:
        return "int", str, "_number" + call
    pair = ", ".join(parameter["name"] for parameter in outputs)
    return "tuple[int, int]", lambda text: "(%s): %s" % (pair, text), "_two_numbers" + call


def python_constants(api):
    """The block of constants in pymtml.py."""
    lines = ["# Buffer sizes and formats"]
    lines += ["%s = %s" % (name, json.dumps(value)) for name, value in api["constants"].items()]
    for enum, values in api["enums"].items():
        lines += ["", "# " + enum] + ["%s = %d" % item for item in values.items()]
    return lines


def python_tables(api):
    """The block of tables in pymtml.py."""
    lines = ['_PROTOTYPES: "dict[str, tuple[str, ...]]" = {']
    lines += [prototype(*item) for item in functions_since(api, lambda since: since == HEADER_VERSION).items()]
    lines += [
        "}",
        "",
        "# What libraries export beyond the %s header; asked for, never required." % HEADER_VERSION,
        '_OPTIONAL_PROTOTYPES: "dict[str, tuple[str, ...]]" = {',
    ]
    lines += [prototype(*item) for item in functions_since(api, lambda since: since != HEADER_VERSION).items()]
    lines += ["}", "", "_C_TYPES = {"]
    lines += ['    "%s": %s,' % pair for pair in python_types(api)]
    return lines + ["}"]


# ---- mtml_2.2.0.h ----


def comment(text):
    """A C comment of whole sentences."""
    line = "/* %s */" % text
    if len(line) <= WIDTH and "\n" not in text:
        return [line]
    lines = [piece for part in text.split("\n") for piece in textwrap.wrap(part, WIDTH - 3)]
    return ["/*"] + [" * " + line for line in lines] + [" */"]


def declaration(name, function):
    """A function's declaration, in lines of at most WIDTH."""
    head = "MTML_API %s %s(" % (function["returns"], name)
    parameters = [declare(parameter["ctype"], parameter["name"]) for parameter in function["params"]]
    text = head + ", ".join(parameters) + ");"
    if len(text) <= WIDTH:
        return [text]
    wrapped = textwrap.wrap(", ".join(parameters) + ");", WIDTH - len(head))
    return [head + wrapped[0]] + [" " * len(head) + line for line in wrapped[1:]]


def declare(ctype, name):
    """A type and a name, as in `unsigned int *count`."""
    return ctype + ("" if ctype.endswith("*") else " ") + name


def described(function):
    """A later function's comment: what it does, where it works, what it reports."""
    parts = [function["notes"], "Since MTML %s." % function["since"]]
    if function.get("linux_only"):
        parts.append("Linux only.")
    if function.get("min_generation"):
        parts.append("From %s on." % function["min_generation"])
    errors = [error[len("MTML_ERROR_") :] for error in function["errors"] if error not in SHARED]
    return " ".join(parts) + ("\nErrors: %s." % ", ".join(errors) if errors else "")


def field(entry):
    """A field of a struct."""
    name = entry["name"] + ("[%d]" % entry["count"] if "count" in entry else "")
    name += " : %d" % entry["bit_width"] if "bit_width" in entry else ""
    return "    %s;" % declare(entry["ctype"], name)


def later_declarations(api):
    """The block of mtml_2.2.0.h."""
    lines = ["/* ==== 17. What versions after %s add ==== */" % HEADER_VERSION, ""]
    later = functions_since(api, lambda since: since not in (HEADER_VERSION, UNDOCUMENTED))
    if not later:
        return lines + ["/* Nothing is known of any. */", ""]
    for name, values in api["enums"].items():
        if "since" in api["enum_types"][name]:
            lines += comment("Since MTML %s." % api["enum_types"][name]["since"])
            lines += ["typedef enum {"] + ["    %s = %d," % item for item in values.items()] + ["} %s;" % name, ""]
    for name, struct in api["structs"].items():
        if "since" in struct:
            lines += comment((struct.get("notes", "") + " Since MTML %s." % struct["since"]).strip())
            lines += ["typedef struct {"] + [field(entry) for entry in struct["fields"]] + ["} %s;" % name, ""]
    for name, function in later.items():
        lines += comment(described(function)) + declaration(name, function) + [""]
    return lines


# ---- simulator/src/functions.h ----


def x_macro(name, rows):
    """An X macro over rows of texts."""
    lines = ["#define %s(X)" % name] + ["    X(%s)" % ", ".join(row) for row in rows]
    width = max(map(len, lines))
    return [line.ljust(width) + " \\" for line in lines[:-1]] + [lines[-1], ""]


def simulated(name, function):
    """A function's row: name, first generation, devices."""
    generation = function.get("simulated_from") or function.get("min_generation") or "ANY"
    return name, generation, function.get("devices", "ALL")


def simulator_tables(api):
    """The block of functions.h."""
    header = functions_since(api, lambda since: since == HEADER_VERSION)
    beyond = functions_since(api, lambda since: since != HEADER_VERSION)
    lines = x_macro("SIM_HEADER_FUNCTIONS", [simulated(*item) for item in header.items()])
    lines += ["/* What libraries export beyond the %s header. */" % HEADER_VERSION]
    lines += x_macro("SIM_FUNCTIONS_BEYOND", [simulated(*item) for item in beyond.items()])
    keys = [(key, kind, name) for name, function in beyond.items() for key, kind in function.get("keys", {}).items()]
    lines += ["/* Their keys: X(key, type, function). */"]
    lines += x_macro("SIM_KEYS_BEYOND", keys)
    lines += ["/* The fields of these keys. */", "#define SIM_FIELDS_BEYOND \\"]
    fields = ["    %s%s;" % (KEY_FIELDS[kind], key) for key, kind, _ in keys]
    width = max(map(len, fields))
    lines += [line.ljust(width) + " \\" for line in fields[:-1]] + [fields[-1], ""]
    lines += ["/* From the oldest on. */"] + x_macro("SIM_GENERATIONS", [[name] for name in GENERATIONS[1:]])
    lines += ["/* No header declares these. */"]
    for name, function in functions_since(api, lambda since: since == UNDOCUMENTED).items():
        lines += declaration(name, function)
    return lines


# ---- Files ----

C_MARKERS = ("/* BEGIN generated */", "/* END generated */")


def facts():
    """What is recorded of the interface (dict)."""
    api = json.loads(read(FACTS))
    wrong = slips(api)
    if wrong:
        sys.exit("\n".join("%s: %s" % (FACTS, line) for line in wrong))
    return api


FILES = generated.files(
    {
        "pymtml.py": [
            generated.markers("MTML constants") + (python_constants,),
            generated.markers("MTML handles") + (python_handles,),
            generated.markers("MTML structs") + (python_structs,),
            generated.markers("MTML prototypes") + (python_tables,),
            generated.markers("MTML header functions") + (functools.partial(python_functions, header=True),),
            generated.markers("MTML functions") + (functools.partial(python_functions, header=False),),
        ],
        "mtml_2.2.0.h": [C_MARKERS + (later_declarations,)],
        "simulator/src/functions.h": [C_MARKERS + (simulator_tables,)],
    },
    facts,
)


def to_do():
    """A line for each thing that the facts have and that somebody has to write (list)."""
    api = facts()
    texts = {path: read(path) for path in ("pymtml.py", "simulator/README.md")}
    written = {}
    for folder in ("simulator/src", "simulator/profiles"):
        names = sorted(name for name in os.listdir(os.path.join(ROOT, folder)) if name.endswith((".c", ".ini")))
        written[folder] = "".join(read("%s/%s" % (folder, name)) for name in names)
    lines = []
    for name in map(class_name, api["structs"]):
        if "\nclass %s(" % name not in texts["pymtml.py"]:
            lines.append("pymtml.py has no class %s: write it under Structs, then make generate" % name)
    nameless = list(lines)
    for name, function in api["functions"].items():
        if "\ndef %s(" % name not in texts["pymtml.py"]:
            section = "mtml* functions" if function["since"] == HEADER_VERSION else "Functions outside the 2.2.0 header"
            lines.append("pymtml.py does not define %s: write it under %s" % (name, section))
        kind = bare(function["params"][0]["ctype"]) if function["params"] else ""
        for slot in re.findall(r'"%s", "(_\w+)"' % name, texts["pymtml.py"]):
            if slot not in SLOTS.get(kind, ()):
                lines.append("pymtml.py passes the slot %s to %s, which takes a %s" % (slot, name, kind))
        if not re.search(r"\n\w[^\n;]* \*?%s\(" % name, written["simulator/src"]):
            lines.append("the simulator lacks %s: write it in a file of simulator/src" % name)
        for key in function.get("keys", {}):
            if not re.search(r"(?m)^%s =" % key, written["simulator/profiles"]):
                lines.append("no file of simulator/profiles has the key %s: %s answers nowhere" % (key, name))
            if "`%s`" % key not in texts["simulator/README.md"]:
                lines.append("simulator/README.md does not say what the key %s is" % key)
    if nameless:
        # Other generators import pymtml.py, which names the classes.
        sys.exit("\n".join(lines))
    return lines
