"""Writes what follows from the table of XIDs, facts/xids.csv.

pymtml.py           name and meaning by number, between markers
docs/behavior.md    the table of XIDs, between markers

The table has one row a number:

    number      hexadecimal without 0x, as in the kernel's log: the module (high byte), then the error
    name        what the driver calls it in the kernel's log, where somebody has seen that
    constant    what the driver's header calls it
    meaning     in our words; nothing is known beyond the constant or the document
    source      header: inc/mtgpu/mtgpu_event_report.h of the driver 3.0.0 (github.com/elysia-best/mtgpu);
                document: docs.mthreads.com; kernel: a line of a kernel's log (github.com/ccfos/huatuo,
                core/events/gpu_mthreads_xid_test.go)
"""

import csv
import json

import generated


def rows():
    """The table (list of dicts)."""
    table = csv.DictReader(generated.read("facts/xids.csv").splitlines())
    return sorted(table, key=lambda row: int(row["number"], 16))


def python_table(table):
    """The block of pymtml.py."""
    yield "_XIDS = {"
    for row in table:
        texts = [json.dumps(text) for text in (row["name"] or row["constant"], row["meaning"])]
        yield "    0x%08X: (%s)," % (int(row["number"], 16), ", ".join(texts))
    yield "}"


def document(table):
    """The table of docs/behavior.md, with the source where it is not the header alone."""
    yield from ("| number | name | meaning |", "|---|---|---|")
    for row in table:
        names = ["`%s`" % row[column] for column in ("name", "constant") if row[column]]
        meaning = row["meaning"] + ("" if row["source"] == "header" else " (%s)" % row["source"])
        yield "| %s | %s | %s |" % (row["number"], ", ".join(names) or "-", meaning)


FILES = generated.files(
    {
        "pymtml.py": [generated.markers("XIDs") + (python_table,)],
        "docs/behavior.md": [("<!-- BEGIN generated XIDs -->", "<!-- END generated XIDs -->", document)],
    },
    rows,
)
