"""The record of runs that take too long for `make test`: docs/measured.csv, one row a run.

    table      the table of docs/reliability.md that shows it; `make record` writes those from the rows
    what       what was tried; a new run replaces the row of that name
    run        the command, or the test and its settings
    date       of the run
    result     what came out

`make test-all` and `make mutants`, for whole sections, write their rows; whoever runs something else longer writes one.
"""

import csv
import datetime
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = os.path.join(ROOT, "docs", "measured.csv")
COLUMNS = ("table", "what", "run", "date", "result")


def rows():
    """All rows (list of dicts)."""
    with open(PATH, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def note(table, what, run, result):
    """Write the row of a run that has just ended, in place of an earlier one or as the last."""
    new = dict(zip(COLUMNS, (table, what, run, str(datetime.date.today()), result)))
    kept = rows()
    places = [number for number, row in enumerate(kept) if (row["table"], row["what"]) == (table, what)]
    if places:
        kept[places[0]] = new
    else:
        kept.append(new)
    with open(PATH, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)


def markdown(table):
    """The rows of a table, as a table of Markdown (list of lines)."""
    lines = ["| what | run | date | result |", "|---|---|---|---|"]
    for row in rows():
        if row["table"] == table:
            lines.append("| %s |" % " | ".join(row[column] for column in COLUMNS[1:]))
    return lines
