"""-q -x: everything as the XML document that nvidia-smi of drivers 570 to 610 writes, for programs that read that.

Elements and their order are those of nvidia-smi's own DTD, under both names of the command.
"""

import pymtml
from pymtml_cli.common.errors import NVIDIA_SMI, called
from pymtml_cli.common.samples import Output
from pymtml_cli.common.text import xml
from pymtml_cli.readings.devices import Unknown, musa_version, shown_driver
from pymtml_cli.readings.processes import processes, unseen, unseen_text
from pymtml_cli.readings.table import address, value_of
from pymtml_cli.smi.lost import show
from pymtml_cli.smi.sections import OF_INSTANCE, OF_PROCESS, TREE, text_of

DOCTYPE = '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_%s_v13.dtd">'


def answer(options):
    """Print the answer to -q -x, a whole document for each sample (exit status)."""
    write = _units if options.get("unit") else _gpus
    with Output(options.get("filename")) as output:
        return show(options, output, lambda machine, opened: write(machine, opened.cards), aside=True)


# An element is (tag, text), or (tag, list of the elements in it); what stands between elements is (None, text).


def _lines(element, level):
    tag, content = element
    tab = "\t" * level
    if tag is None:
        return [tab + content]
    if isinstance(content, list):
        below = [line for child in content for line in _lines(child, level + 1)]
        return ["%s<%s>" % (tab, tag)] + below + ["%s</%s>" % (tab, tag.split()[0])]
    return ["%s<%s>%s</%s>" % (tab, tag, xml(content), tag)]


def _gpus(machine, cards):
    gpus = [("attached_gpus", len(machine.cards))]
    for card in cards:
        gpus += [('gpu id="%s"' % xml(text_of(card, "pci.bus_id")), _card(card)), ("", "")]
    return _document(machine, "device", gpus)


def _units(machine, _):
    return _document(machine, "unit", [("hic_info", []), ("attached_units", 0)])


def _document(machine, kind, elements):
    """The document of a kind, with the elements in it."""
    elements = [
        ("timestamp", machine.time.long),
        ("driver_version", shown_driver(machine.driver_version)),
        ("cuda_version", musa_version()),
    ] + elements
    lines = ['<?xml version="1.0" ?>' if called() == NVIDIA_SMI else '<?xml version="1.0" encoding="UTF-8" ?>']
    lines += [DOCTYPE % kind, "<nvidia_smi_log>"]
    for element in elements:
        lines += _lines(element, 1) if element[0] else [""]
    return "\n".join(lines + ["</nvidia_smi_log>"]) + "\n"


def _elements(device, branches):
    found = []
    for branch in branches:
        value = _elements(device, branch.below) if branch.below else text_of(device, branch.reading)
        if branch.tag and branch.tag.startswith("pci_") and value[:2] == "0x":
            value = value[2:]
        found += [(branch.tag, value)] if branch.tag else []
    return found


def _card(card):
    found = []
    for branch in TREE:
        if branch.tag in OF_CARD:
            found.append((branch.tag, OF_CARD[branch.tag](card)))
        elif branch.tag != "voltage" or not isinstance(value_of(card, "power.voltage"), Unknown):
            found += _elements(card, [branch])  # drivers that do not report the voltage leave it out
        if branch.tag == "mig_mode":
            instances = [("mig_device", _elements(instance, OF_INSTANCE)) for instance in card.instances]
            found.append(("mig_devices", instances or [(None, "None")]))
    return found


_CAUSES = (
    ("multiple_single_bit_retirement", pymtml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS),
    ("double_bit_retirement", pymtml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR),
)


def _retired_pages(card):
    """Counts, addresses, and the two names for whether pages wait for a reboot."""
    found = []
    for tag, cause in _CAUSES:
        pages = count = card.ask(pymtml.nvmlDeviceGetRetiredPages, cause)
        if not isinstance(pages, Unknown):
            count = len(pages)
            pages = [("retired_page", [("retired_page_address", address(page))]) for page in pages]
        found.append((tag, [("retired_count", count), ("retired_pagelist", pages)]))
    pending = text_of(card, "retired_pages.pending")
    return found + [("pending_blacklist", pending), ("pending_retirement", pending)]


def _processes(card):
    known, number = processes(card), unseen([card])
    if isinstance(known, Unknown):
        return known
    found = [(None, "<!-- there may be others: %s -->" % xml(unseen_text(number)))] if number else []
    return found + [("process_info", [(tag, value(one)) for _, _, tag, value in OF_PROCESS]) for one in known]


# What has more in it than its line in sections.txt
OF_CARD = {"retired_pages": _retired_pages, "processes": _processes, "accounted_processes": lambda card: []}
