"""-q: everything in sections, with nvidia-smi's keys, columns and order; `xml_document` writes it as XML."""

import pymtml
from pymtml_cli.common import layout
from pymtml_cli.common.errors import NVIDIA_SMI, called, worded
from pymtml_cli.common.samples import Output
from pymtml_cli.common.text import safe
from pymtml_cli.language import SECTIONS
from pymtml_cli.readings.devices import Unknown, ask, musa_version, shown_driver, shown_uuid
from pymtml_cli.readings.processes import NONE_RUNNING, processes, remarks
from pymtml_cli.readings.table import BY_NAME, part
from pymtml_cli.smi.listing import profile
from pymtml_cli.smi.lost import show

KEY_WIDTH, PROCESS_KEY_WIDTH = 55, 42

# Of a process: key and level in -q, tag in -x, value
OF_PROCESS = (
    ("GPU instance ID", 2, "gpu_instance_id", lambda process: process.instance_id),
    ("Compute instance ID", 2, "compute_instance_id", lambda process: "N/A"),
    ("Process ID", 2, "pid", lambda process: process.pid),
    ("Type", 3, "type", lambda process: process.kind),
    ("Name", 3, "process_name", lambda process: process.name),
    ("Used GPU Memory", 3, "used_memory", lambda process: process.used()),
)


class Line:
    """A line of -q: key or None, XML tag or None, what the reading is called, and the lines below it.

    ``section`` is that of -d; ``only_chosen`` lines are shown only if -d asks for them.
    """

    def __init__(self, key, tag="", reading="", section="", shown=""):
        self.key, self.tag, self.reading, self.below = key.strip().replace("~", " "), tag or None, reading, []
        self.key = self.key if self.key != "-" else None
        self.section, self.only_chosen = section, shown == "chosen"
        if self.reading == "samples":
            self.below = [Line(title) for title in ("Duration", "Number of Samples", "Max", "Min", "Avg")]


def _tree(rows):
    """The lines of the first level, with those below them (list of Line)."""
    levels = [[]]
    for row in rows:
        del levels[(len(row["key"]) - len(row["key"].lstrip())) // 4 + 1 :]
        line = Line(**row)
        levels[-1].append(line)
        levels.append(line.below)
    return levels[0]


TREE, OF_INSTANCE = map(_tree, layout.records("smi/sections.txt").values())

# What newer drivers write for a state that they no longer report. Readers take that, or P0 to P15, and nothing else.
DEPRECATED = "Requested functionality has been deprecated"


def _power_state(card):
    """The performance state by its old name."""
    state = BY_NAME["pstate"].cell(card)
    return DEPRECATED if isinstance(state, Unknown) else state


# What lines have that is no reading
MORE = {
    "": lambda device: "N/A",
    "none": lambda device: "None",
    "power_state": _power_state,
    "profile": profile,
    "instance_uuid": shown_uuid,
    "cores_of_instance": part("multiprocessorCount", pymtml.nvmlDeviceGetAttributes_v2),
}


def text_of(device, name):
    """Text of a reading, with its unit, or of MORE."""
    return str(MORE[name](device)) if name in MORE else BY_NAME[name].line(device)


def answer(options):
    """Print the answer to -q (exit status)."""
    chosen = options.get("display")
    if chosen is not None:
        chosen = chosen.upper().split(",")
        if not set(chosen) <= set(SECTIONS):
            from pymtml_cli.common import hints

            raise hints.no_value(chosen, SECTIONS, "-d", "Failed to parse --display/-d flags\n")

    def text(machine, opened):
        lines = _head(machine)
        if options.get("unit"):
            lines += [row("HIC Info", "N/A"), row("Attached Units", "0"), ""]
        else:
            lines.append(row("Attached GPUs", str(len(machine.cards))))
            for card in opened.cards:
                lines += ["GPU %s" % safe(text_of(card, "pci.bus_id"))] + _card_lines(card, chosen) + [""]
        return "\n".join(lines) + "\n" + opened.sentences

    with Output(options.get("filename")) as output:
        return show(options, output, text)


def _head(machine):
    smi = called() == NVIDIA_SMI
    lines = ["", "=" * 14 + ("NVSMI" if smi else "PYMTML") + " LOG" + "=" * 14, ""]
    lines += [row("Timestamp", machine.time.long), row("Driver Version", shown_driver(machine.driver_version))]
    lines += [] if smi else [row("MTML Version", ask(pymtml.nvmlSystemGetNVMLVersion))]
    return lines + [row(worded("MUSA Version"), musa_version()), ""]


def _card_lines(card, chosen):
    lines = []
    for line in TREE:
        if line.only_chosen if chosen is None else line.section not in chosen:
            continue
        lines += _process_lines(card) if line.tag == "processes" else _branch(card, line, 1)
        for instance in card.instances if line.tag == "mig_mode" else ():
            lines.append("    MIG Device" if called() == NVIDIA_SMI else "    MPC Instance")
            lines += _branches(instance, OF_INSTANCE, 2)
    return lines


def row(key, value, level=0, width=KEY_WIDTH):
    """A line with a value."""
    return (" " * (4 * level) + key).ljust(width) + ": " + safe(value)


def _branch(device, line, level):
    if line.key is None:
        return []
    if not line.below:
        return [row(worded(line.key), text_of(device, line.reading), level)]
    return [" " * (4 * level) + worded(line.key)] + _branches(device, line.below, level + 1)


def _branches(device, lines, level):
    return [text for line in lines for text in _branch(device, line, level)]


def _process_lines(card):
    known = processes(card)
    if isinstance(known, Unknown):
        return [row("Processes", known, 1)]
    said = remarks([card], known)
    if not known:
        none = said[0] if said != [NONE_RUNNING] else "None"
        return [row("Processes", none, 1)] + [row("", text) for text in said[1:]]
    lines = ["    Processes"] + [row("Note", text, 2, PROCESS_KEY_WIDTH) for text in said]
    for process in known:
        lines += [row(key, value(process), level, PROCESS_KEY_WIDTH) for key, level, _, value in OF_PROCESS]
    return lines
