"""What stands in text files: the options, fields and lines of nvidia-smi, in its order, help, and scripts of shells."""

import os


def blocks(name):
    """The texts below the lines "== TITLE" of a file ({title: text}), which is named by its path below pymtml_cli.

    What stands before the first title is a remark, blank lines around a text are none of it.
    """
    folder = os.path.dirname(os.path.dirname(__file__))
    data = __loader__.get_data(os.path.join(folder, name))  # also where the package is in a zip file or frozen
    parts = "\n".join(data.decode("ascii").splitlines()).split("\n== ")[1:]
    return {title: text.strip("\n") for title, _, text in (part.partition("\n") for part in parts)}


def tables(name):
    """The same with each text as the list of its lines, and these as lists of their cells, which bars separate."""
    return {title: [line.split(" | ") for line in text.split("\n")] for title, text in blocks(name).items()}
