"""Writes the error codes and error classes of pymtml.py.

NVML's numbers come from facts/nvml_surface.json, the rest from facts/errors.csv, one row a class:

    code       the constant; it names the class: NVML_ERROR_NOT_FOUND is that of NVMLError_NotFound
    nvml       for a code of MTML: the NVML code from whose class it derives
    text       what str() says
    meaning    the docstring
"""

import csv
import json

import generated


def rows():
    """The table (list of dicts)."""
    return list(csv.DictReader(generated.read("facts/errors.csv").splitlines()))


def class_name(code):
    """The class for a code: NVMLError_NotFound for NVML_ERROR_NOT_FOUND."""
    api, _, words = code.split("_", 2)
    return "%sError_%s" % (api, "".join(word.capitalize() for word in words.split("_")))


def nvml_codes():
    """NVML's codes: numbers by name, in the order of the numbers (dict)."""
    constants = generated.surface()["constants"]
    codes = {name: value for name, value in constants.items() if name.startswith("NVML_ERROR_")}
    codes["NVML_SUCCESS"] = constants["NVML_SUCCESS"]
    return dict(sorted(codes.items(), key=lambda item: item[1]))


def class_lines(row):
    """One class."""
    bases = "_MTMLTexts, " + class_name(row["nvml"]) if row["nvml"] else "NVMLError"
    yield "class %s(%s):" % (class_name(row["code"]), bases)
    yield from ('    """%s"""' % row["meaning"], "", "    value = %s" % row["code"], "", "")


def text_lines(root, table):
    """What str() says of the classes below one of the two roots."""
    yield "%s._errcode_to_string.update(" % root
    yield "    {"
    for row in table:
        if class_name(row["code"]).startswith(root):
            yield "        %s: %s," % (row["code"], json.dumps(row["text"]))
    yield from ("    }", ")")


def lines(source):
    """The generated block."""
    table = rows()
    lines = ["# Written by tools/generate_errors.py from facts/errors.csv; edit that.", ""]
    lines += ["%s = %d" % item for item in nvml_codes().items()] + ["", ""]
    for row in table:
        lines += class_lines(row)
    lines += list(text_lines("NVMLError", table)) + list(text_lines("MTMLError", table))
    return lines


def to_do():
    """A line for each code without a row."""
    codes = list(nvml_codes()) + list(json.loads(generated.read("facts/mtml_api.json"))["enums"]["MtmlReturn"])
    known = {row["code"] for row in rows()}
    missing = [code for code in codes if "_ERROR_" in code and code not in known]
    return ["%s has no row in facts/errors.csv: write one" % code for code in missing]


FILES = generated.block("errors", lines)
