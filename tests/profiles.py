"""The files in simulator/profiles, read as data."""

import configparser
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "simulator", "profiles")


def _parse(name):
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    parser.optionxform = str
    with open(os.path.join(FOLDER, name if name.endswith(".ini") else name + ".ini"), encoding="utf-8") as file:
        parser.read_file(file)
    return parser


def _cards(parser):
    return [section for section in parser.sections() if re.fullmatch(r"device\.\d+", section)]


def read(name):
    """A shipped profile by its name, or another one by its path, as it comes out (configparser.ConfigParser).

    What its base says is in it, and each card has the keys that all cards share.
    """
    own = _parse(name)
    base = own["machine"].pop("base", None)
    parser = read(base) if base else configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str
    for card in _cards(parser):
        parser[card].update(own["device"] if own.has_section("device") else {})
    for section in own.sections():
        if not parser.has_section(section):
            parser.add_section(section)
            if section in _cards(own) and own.has_section("device"):
                parser[section].update(own["device"])
        parser[section].update(own[section])
    return parser
