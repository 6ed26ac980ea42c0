"""The files in simulator/profiles, read as data."""

import configparser
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "simulator", "profiles")


def read(name):
    """A shipped profile by its name, or another one by the path of its file (configparser.ConfigParser)."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    parser.optionxform = str
    with open(os.path.join(FOLDER, name if name.endswith(".ini") else name + ".ini"), encoding="utf-8") as file:
        parser.read_file(file)
    return parser
