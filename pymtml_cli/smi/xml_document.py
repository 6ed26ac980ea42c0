"""-q -x: everything as the XML document that nvidia-smi of drivers 570 to 610 writes, for programs that read that.

Elements and their order are those of nvidia-smi's own DTD, under both names of the command.
"""

import pymtml
from pymtml_cli.common.errors import NVIDIA_SMI, called
from pymtml_cli.common.samples import Output, repeat
from pymtml_cli.common.text import xml
from pymtml_cli.readings.devices import Device, Machine, Moment, Unknown, nobody_tells, shown_driver, shown_musa
from pymtml_cli.readings.processes import processes, unseen, unseen_text
from pymtml_cli.readings.table import BY_NAME, address
from pymtml_cli.readings.table import answer as answer_to
from pymtml_cli.smi.dtd import declarations
from pymtml_cli.smi.lost import Opened
from pymtml_cli.smi.sections import OF_PROCESS, TREE, value_of

# What newer drivers write for a state that they no longer tell. Readers take that, or P0 to P15, and nothing else.
DEPRECATED = "Requested functionality has been deprecated"
DOCTYPE = '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_%s_v13.dtd">'


def answer(options):
    """Print the answer to -q -x, a whole document for each sample, or to --dtd (exit status)."""
    kind, write = ("unit", _units) if options.get("unit") else ("device", _gpus)
    if options.question == "dtd":
        with Output(options.get("filename")) as output:
            output.write(declarations(kind, [write(Nobody(), Nobody().cards)]))
        return 0

    def document(machine, cards):
        text = write(machine, cards)
        if not options.get("dtd"):
            return text
        declared = "<!DOCTYPE nvidia_smi_log [\n%s]>" % declarations(kind, [write(Nobody(), Nobody().cards), text])
        return text.replace(DOCTYPE % kind, declared, 1)

    with Output(options.get("filename")) as output, Machine() as machine:
        opened = Opened(machine.chosen(options.get("id")))

        def sample(first):
            output.write(document(machine, opened.cards))
            opened.say_aside()

        repeat(machine, options.seconds, sample)
    return opened.status


class Nobody:
    """A machine whose card and instance report nothing: what documents of all machines have."""

    def __init__(self):
        self.time, self.driver_version = Moment(), nobody_tells()
        card = Device(self, nobody_tells(), 0)
        card.instances = [Device(self, nobody_tells(), 0, card)]
        self.cards = [card]


def _gpus(machine, cards):
    lines = [_element("attached_gpus", len(machine.cards), 1)]
    for card in cards:
        lines.append('\t<gpu id="%s">' % xml(value_of(card, "pci.bus_id")))
        lines += [line for branch in TREE for line in _card_lines(card, branch)]
        lines += ["\t</gpu>", ""]
    return _document(machine, "device", lines)


def _units(machine, _):
    return _document(machine, "unit", _nested("hic_info", [], 1) + [_element("attached_units", 0, 1)])


def _document(machine, kind, lines):
    """The document of a kind, with the lines in it."""
    head = [
        '<?xml version="1.0" ?>' if called() == NVIDIA_SMI else '<?xml version="1.0" encoding="UTF-8" ?>',
        DOCTYPE % kind,
        "<nvidia_smi_log>",
        _element("timestamp", machine.time.long, 1),
        _element("driver_version", shown_driver(machine.driver_version), 1),
        _element("cuda_version", shown_musa(), 1),
    ]
    return "\n".join(head + lines + ["</nvidia_smi_log>"]) + "\n"


def _card_lines(card, branch):
    """What a line of the first level is in the document."""
    tag = branch.tag
    if tag in ("gpu_power_readings", "module_power_readings"):
        first, *rest = _lines(card, branch, 2)
        return [first, _element("power_state", _power_state(card), 3)] + rest
    if tag == "retired_pages":
        return _retired_pages(card)
    if tag == "voltage" and isinstance(answer_to(card, "power.voltage"), Unknown):
        return []  # drivers that do not tell it leave it out
    if tag == "processes":
        return _process_lines(card)
    if tag == "accounted_processes":
        return _nested(tag, [], 2)
    lines = _lines(card, branch, 2)
    return lines + _instances(card) if tag == "mig_mode" else lines


def _element(tag, value, level):
    return "%s<%s>%s</%s>" % ("\t" * level, tag, xml(value), tag)


def _nested(tag, lines, level):
    """An element that holds others."""
    tab = "\t" * level
    return ["%s<%s>" % (tab, tag)] + lines + ["%s</%s>" % (tab, tag)]


def _lines(device, branch, level):
    if branch.tag is None:
        return []
    if branch.below:
        lines = [line for child in branch.below for line in _lines(device, child, level + 1)]
        return _nested(branch.tag, lines, level)
    value = branch.value(device)
    if branch.tag.startswith("pci_") and value.startswith("0x"):
        value = value[2:]
    return [_element(branch.tag, value, level)]


def _power_state(card):
    """The performance state by its old name."""
    state = BY_NAME["pstate"].cell(card)
    return DEPRECATED if isinstance(state, Unknown) else state


_CAUSES = (
    ("multiple_single_bit_retirement", pymtml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS),
    ("double_bit_retirement", pymtml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR),
)


def _retired_pages(card):
    """Counts, addresses, and the two names for whether pages wait for a reboot."""
    lines = []
    for tag, cause in _CAUSES:
        pages = card.ask(pymtml.nvmlDeviceGetRetiredPages, cause)
        if isinstance(pages, Unknown):
            below = [_element("retired_count", pages, 4), _element("retired_pagelist", pages, 4)]
        else:
            addresses = [
                line
                for page in pages
                for line in _nested("retired_page", [_element("retired_page_address", address(page), 6)], 5)
            ]
            below = [_element("retired_count", len(pages), 4)] + _nested("retired_pagelist", addresses, 4)
        lines += _nested(tag, below, 3)
    pending = value_of(card, "retired_pages.pending")
    lines += [_element(tag, pending, 3) for tag in ("pending_blacklist", "pending_retirement")]
    return _nested("retired_pages", lines, 2)


_MEMORY = (("total", "memory.total"), ("reserved", ""), ("used", "memory.used"), ("free", "memory.free"))


def _instances(card):
    """MPC instances in the form of MIG devices."""
    if not card.instances:
        return _nested("mig_devices", ["\t\t\tNone"], 2)
    lines = []
    for instance in card.instances:
        attributes = instance.ask(pymtml.nvmlDeviceGetAttributes_v2)
        cores = attributes if isinstance(attributes, Unknown) else attributes.multiprocessorCount
        shared = [_element("multiprocessor_count", cores, 6)]
        for engine in ("copy_engine", "encoder", "decoder", "ofa", "jpg"):
            shared.append(_element(engine + "_count", "N/A", 6))
        errors = [_element("sram_uncorrectable", value_of(instance, "ecc.errors.uncorrected.volatile.sram"), 6)]
        below = [
            _element("index", instance.index, 4),
            _element("gpu_instance_id", instance.index, 4),
            _element("compute_instance_id", "N/A", 4),
        ]
        below += _nested("device_attributes", _nested("shared", shared, 5), 4)
        below += _nested("ecc_error_count", _nested("volatile_count", errors, 5), 4)
        below += _nested("fb_memory_usage", [_element(tag, value_of(instance, name), 5) for tag, name in _MEMORY], 4)
        bar1 = [_element(tag, "N/A", 5) for tag in ("total", "used", "free")]
        lines += _nested("mig_device", below + _nested("bar1_memory_usage", bar1, 4), 3)
    return _nested("mig_devices", lines, 2)


def _process_lines(card):
    known = processes(card)
    if isinstance(known, Unknown):
        return [_element("processes", known, 2)]
    number = unseen([card])
    lines = ["\t\t\t<!-- there may be others: %s -->" % xml(unseen_text(number))] if number else []
    for process in known:
        below = [_element(tag, value(process), 4) for _, _, tag, value in OF_PROCESS]
        lines += _nested("process_info", below, 3)
    return _nested("processes", lines, 2)
