#!/usr/bin/env python3
"""Writes the error codes and error classes of pymtml.py.

    python tools/generate_errors.py            rewrite the block between the BEGIN and END markers
    python tools/generate_errors.py --check    exit status 1 if the block is not current or a code has no row

NVML's numbers come from facts/nvml_surface.json, the rest from facts/errors.csv, one row a class:

    code       the constant; it names the class: NVML_ERROR_NOT_FOUND is that of NVMLError_NotFound
    nvml       for a code of MTML: the NVML code from whose class it derives
    text       what str() says
    meaning    the docstring
"""

import csv
import json
import os

import generated

TABLE = os.path.join(generated.ROOT, "facts", "errors.csv")
API = os.path.join(generated.ROOT, "facts", "mtml_api.json")
TITLE = "errors"


def rows():
    """The table (list of dicts)."""
    with open(TABLE, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def class_name(code):
    """The class for a code: NVMLError_NotFound for NVML_ERROR_NOT_FOUND."""
    api, _, words = code.split("_", 2)
    return "%sError_%s" % (api, "".join(word.capitalize() for word in words.split("_")))


def nvml_codes(surface):
    """NVML's codes: numbers by name, in the order of the numbers (dict)."""
    codes = {name: value for name, value in surface["constants"].items() if name.startswith("NVML_ERROR_")}
    codes["NVML_SUCCESS"] = surface["constants"]["NVML_SUCCESS"]
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


def block(surface, taken, source):
    """The generated block, its markers included."""
    begin, end = generated.markers(TITLE)
    table = rows()
    lines = [begin, "# Written by tools/generate_errors.py from facts/errors.csv; edit that.", ""]
    lines += ["%s = %d" % item for item in nvml_codes(surface).items()] + ["", ""]
    for row in table:
        lines += class_lines(row)
    lines += list(text_lines("NVMLError", table)) + list(text_lines("MTMLError", table))
    return "\n".join(lines + [end, ""])


def to_do(surface, taken):
    """A line for each code without a row."""
    with open(API, encoding="utf-8") as stream:
        codes = list(nvml_codes(surface)) + list(json.load(stream)["enums"]["MtmlReturn"])
    known = {row["code"] for row in rows()}
    missing = [code for code in codes if "_ERROR_" in code and code not in known]
    return ["%s has no row in facts/errors.csv: write one" % code for code in missing]


if __name__ == "__main__":
    generated.run(__doc__.splitlines()[0], TITLE, block, to_do)
