"""The text files of the command: fields, lines and options of nvidia-smi, help, and the scripts of shells."""

import os


def blocks(name):
    """The texts below the lines "== TITLE" of a file ({title: text}), which is named by its path below pymtml_cli.

    What comes before the first title is a remark. Blank lines around a text do not belong to it.
    """
    folder = os.path.dirname(os.path.dirname(__file__))
    data = __loader__.get_data(os.path.join(folder, name))  # also where the package is in a zip file or frozen
    parts = "\n".join(data.decode("ascii").splitlines()).split("\n== ")[1:]
    return {title: text.strip("\n") for title, _, text in (part.partition("\n") for part in parts)}


def tables(name):
    """The same, with each text as a list of lines, and each line as a list of the cells between its bars."""
    return {title: [line.split(" | ") for line in text.split("\n")] for title, text in blocks(name).items()}


def records(name):
    """The same, with each line as {column: cell} by the first line of its table; cells that it lacks are empty."""
    found = {}
    for title, (columns, *rows) in tables(name).items():
        found[title] = [dict(zip(columns, cells + [""] * len(columns))) for cells in rows]
    return found
