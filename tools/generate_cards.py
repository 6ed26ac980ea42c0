"""Writes what follows from the table of cards, facts/cards.json.

pymtml.py               MUSA compute capability by PCI id and by name, between markers
pymtml_cli/capture.py   the generation by PCI id, between markers
docs/support.md         the tables of cards, between markers
"""

import configparser
import glob
import json
import os
import re
import sys

import generated

FACTS = "facts/cards.json"


def load():
    """The cards by name (dict)."""
    return json.loads(generated.read(FACTS))["cards"]


def capability(card):
    """A card's MUSA compute capability, as source; None if it is not known."""
    if "capability" not in card:
        return None
    return "(%s)" % ", ".join(card["capability"].split("."))


def generations():
    """The generations of cards, from the oldest on, by the high byte of their PCI ids (dict)."""
    found = {}
    for name, card in load().items():
        for number in card["pci_device"] if "generation" in card else ():
            byte = int(number, 16) >> 8
            if found.setdefault(byte, card["generation"]) != card["generation"]:
                sys.exit("%s: %s is of another generation than other cards with its high byte" % (FACTS, name))
    return dict(sorted(found.items()))


def capture_table(cards):
    """The block of pymtml_cli/capture.py."""
    return ["GENERATIONS = {%s}" % ", ".join('%d: "%s"' % pair for pair in generations().items())]


def python_tables(cards):
    """The block of pymtml.py: one capability for each high byte of a PCI id, one for each word of a name."""
    by_byte, by_word = {}, {}
    for name, card in cards.items():
        if capability(card) is None:
            continue
        # "Engineering Sample" may follow the card's word.
        by_word.setdefault(name.replace("MTT ", "").split()[0], capability(card))
        for number in card["pci_device"]:
            byte = int(number, 16) >> 8
            if by_byte.setdefault(byte, capability(card)) != capability(card):
                sys.exit("%s: %s has another capability than other cards with its high byte" % (FACTS, name))
    pairs = ", ".join("0x%02x: %s" % pair for pair in sorted(by_byte.items()))
    lines = ["_CAPABILITY_BY_PCI_ID = {%s}" % pairs, "_CAPABILITY_BY_NAME = {"]
    return lines + ['    "%s": %s,' % pair for pair in by_word.items()] + ["}"]


def knowledge(card):
    """How a card is known (str): what docs/support.md explains."""
    if "captured" in card:
        return "captured"
    if "drivers_reported" in card:
        return "reported"
    return "documented" if card.get("src") else "listed"


def machines():
    """The simulated machines by card: {name of the card: [(profile, its driver)]}."""
    found = {}
    for path in sorted(glob.glob(os.path.join(generated.ROOT, "simulator", "profiles", "*.ini"))):
        parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
        parser.read(path, encoding="utf-8")
        base = parser["machine"].get("base")
        if base:
            parser.read([os.path.join(os.path.dirname(path), base + ".ini"), path], encoding="utf-8")
        sections = [parser[name] for name in parser.sections() if re.match(r"device(\.\d+)?$", name)]
        for name in sorted({section["name"] for section in sections if "name" in section}):
            profile = os.path.splitext(os.path.basename(path))[0]
            found.setdefault(name.split(" MtvGPU")[0], []).append((profile, parser["machine"]["driver_version"]))
    return found


def table(head, rows):
    """Lines of a table in Markdown."""
    lines = ["| %s |" % " | ".join(head), "|%s" % ("---|" * len(head))]
    return lines + ["| %s |" % " | ".join(cell.replace("|", "/") for cell in row) for row in rows]


def support(cards):
    """The tables of docs/support.md."""
    what, how, listed, simulated = [], [], {}, machines()
    unknown = sorted(set(simulated) - set(cards))
    if unknown:
        sys.exit("%s has no card %s, which a profile of the simulator has" % (FACTS, unknown[0]))
    for name, card in cards.items():
        ids = ", ".join(card["pci_device"])
        if knowledge(card) == "listed":
            ids += "".join(", subsystem " + number for number in card.get("pci_subsystem", ()))
            kind = "%s, capability %s" % (
                card.get("generation", "unknown generation"),
                card.get("capability", "unknown"),
            )
            listed.setdefault(kind, []).append("%s (%s)" % (name, ids))
            continue
        memory = "%s MiB" % card["mem_mib"] if card.get("mem_mib") else "-"
        if card.get("mem_type"):
            memory += " %s" % card["mem_type"]
        if card.get("mem_bus_bits"):
            memory += ", %s bits" % card["mem_bus_bits"]
        cells = [name, ids, card["generation"], card["capability"]]
        what.append(cells + [str(card.get("gpu_cores") or "-"), memory])
        profiles = ", ".join("%s (%s)" % pair for pair in simulated.get(name, ())) or "-"
        drivers = ", ".join(card.get("drivers_reported", ())) or "-"
        how.append([name, knowledge(card), drivers, profiles, "; ".join(card.get("src", ["-"]))])
    head = ("card", "PCI device ids", "generation", "MUSA capability", "GPU cores", "memory")
    source = ("card", "known as", "drivers in reports", "simulated as (driver)", "known from")
    rest = ["- %s: %s." % (kind, ", ".join(names)) for kind, names in listed.items()]
    return table(head, what) + [""] + table(source, how) + ["", "Listed cards:", ""] + rest


FILES = generated.files(
    {
        "pymtml.py": [generated.markers("cards") + (python_tables,)],
        "pymtml_cli/capture.py": [
            (
                "# BEGIN generated generations, from facts/cards.json: the high byte of the PCI id tells them",
                "# END generated generations",
                capture_table,
            )
        ],
        "docs/support.md": [("<!-- BEGIN generated -->", "<!-- END generated -->", support)],
    },
    load,
)
