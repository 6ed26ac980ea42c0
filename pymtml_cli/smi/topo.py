"""topo: how cards are joined with each other and with the processors."""

import sys

import pymtml
from pymtml_cli.common import layout, numeric
from pymtml_cli.common.errors import NOT_AVAILABLE, NVIDIA_SMI, OTHER, CommandError, called, refuse, see_help, worded
from pymtml_cli.common.options import parse
from pymtml_cli.helping import usage
from pymtml_cli.readings.devices import Machine, Unknown, no_devices, status
from pymtml_cli.readings.documents import object_of, of_cards, pair_object, show
from pymtml_cli.readings.table import pairs
from pymtml_cli.readings.topology import cpus, link_count, nodes, ranges

TEXTS = layout.blocks("smi/texts.txt")
LAST_CPU = (1 << 31) - 1

# Topology level: (in the matrix, in sentences)
LEVELS = {
    pymtml.NVML_TOPOLOGY_INTERNAL: ("PIX", "an single on-board PCIe switch"),
    pymtml.NVML_TOPOLOGY_SINGLE: ("PIX", "a single PCIe switch"),
    pymtml.NVML_TOPOLOGY_MULTIPLE: ("PXB", "multiple PCIe switches"),
    pymtml.NVML_TOPOLOGY_HOSTBRIDGE: ("PHB", "a PCIe host bridge"),
    pymtml.NVML_TOPOLOGY_NODE: ("NODE", "an on-CPU interconnect link between PCIe host bridges"),
    pymtml.NVML_TOPOLOGY_SYSTEM: ("SYS", "an SMP interconnect link between NUMA nodes"),
}

P2P_INDEXES = {
    "r": pymtml.NVML_P2P_CAPS_INDEX_READ,
    "w": pymtml.NVML_P2P_CAPS_INDEX_WRITE,
    "n": pymtml.NVML_P2P_CAPS_INDEX_NVLINK,
    "a": pymtml.NVML_P2P_CAPS_INDEX_ATOMICS,
    "p": pymtml.NVML_P2P_CAPS_INDEX_PCI,
}
P2P_STATUS = {  # any other is U, for unknown
    pymtml.NVML_P2P_STATUS_OK: "OK",
    pymtml.NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED: "CNS",
    pymtml.NVML_P2P_STATUS_GPU_NOT_SUPPORTED: "GNS",
    pymtml.NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED: "TNS",
    pymtml.NVML_P2P_STATUS_NOT_SUPPORTED: "NS",
}


def run(arguments):
    """Answer (exit status)."""
    options = parse(arguments, "topo")
    if not options or "-h" in options:
        sys.stdout.write(usage("topo"))
        return 0
    if "--json" in options:
        beside = [option for option in options if option not in ("--json", "-m", "-mp", "-i")]
        if beside:
            raise CommandError("--json and %s cannot be combined" % beside[0], hint=see_help("topo"))
        return show(options.get("-i"), _content)
    if "-p2p" in options and options["-p2p"] not in P2P_INDEXES:
        from pymtml_cli.common import hints

        theirs = "Invalid p2p capability index specified at the command-line\n"
        raise hints.no_value([options["-p2p"]], P2P_INDEXES, "-p2p", theirs)
    if "-nvme" in options:
        raise refuse("Failed to display the topology of NVMe devices: Not Supported\n", NOT_AVAILABLE)
    with Machine() as machine:
        if not machine.cards:
            raise no_devices()
        chosen = machine.chosen(options["-i"]) if "-i" in options else []
        sys.stdout.write(_answer(options, machine.cards, chosen))
        return status(chosen or machine.cards)


def _content(machine, cards):
    def of_card(card):
        others = [pair_object(card, other) for other in machine.cards if other is not card]
        return [("affinity", object_of(*pairs(card, "affinity"))), ("topology", others)]

    return of_cards(cards, of_card)


def _answer(options, cards, chosen):
    if "-p" in options:
        if len(chosen) != 2:
            text = "Path command line flag must be used in conjection with the -i argument"
            raise refuse(text + " which must be two GPU identifiers.\n\n")
        return _path_sentence(*chosen)
    if "-c" in options:
        return _next_to(cards, options["-c"])
    for option, function in (
        ("-n", _nearest),
        ("-C", lambda card, *_: "NUMA IDs of closest CPU: %s\n" % card.ask(pymtml.nvmlDeviceGetNumaNodeId)),
        ("-M", lambda card, *_: "NUMA IDs of closest memory: %s\n" % _list(nodes(card))),
        ("-gnid", lambda *_: "GPU NUMA ID: N/A\n"),
    ):
        if option in options:
            if len(chosen) != 1 and option == "-gnid":
                text = "GPU NUMA ID command must be used in conjunction with the -i argument"
                raise refuse(text + " which must be a single identifier.\n\n")
            if len(chosen) != 1:
                raise refuse("Option %s must be used with -i, which must be a single device.\n" % option)
            return function(chosen[0], cards, options[option])
    if chosen:
        raise refuse("The -i command line argument must be used in conjunction with -n or -p.\n\n", OTHER)
    if "-p2p" in options:
        return _p2p_matrix(cards, P2P_INDEXES[options["-p2p"]])
    return _matrix(cards, "-m" in options)


def _underlined(text):
    """A head line; nvidia-smi underlines it wherever it goes."""
    return "\x1b[4m%s\x1b[0m" % text if called() == NVIDIA_SMI or sys.stdout.isatty() else text


def _matrix(cards, links):
    prefix = "NV" if called() == NVIDIA_SMI else "MT"
    titles = ["GPU%d" % card.index for card in cards] + ["CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]
    lines = ["\t" + _underlined("\t".join(titles))]
    for card in cards:
        cells = ["GPU%d" % card.index]
        cells += [" X " if other is card else path(card, other, links, prefix) for other in cards]
        lines.append("\t".join(cells + [_list(cpus(card)), _list(nodes(card)), "", "N/A"]))
    lines += ["", TEXTS["topo -mp"]]
    if links:
        lines.append(worded(TEXTS["topo -m, also"]).replace("MT", prefix))
    return "\n".join(lines) + "\n"


def path(card, other, links, prefix):
    """How two cards are joined: MTn by n MtLinks, else the PCIe level, N/A if that is unknown."""
    count = link_count(card, other) if links else 0
    if isinstance(count, Unknown):
        if not count.not_supported:
            return "N/A"  # there may be links
    elif count:
        return "%s%d" % (prefix, count)
    level = card.ask(pymtml.nvmlDeviceGetTopologyCommonAncestor, other.handle)
    return "N/A" if isinstance(level, Unknown) else LEVELS[level][0]


def _p2p_matrix(cards, index):
    lines = [" \t" + _underlined("".join("GPU%d\t" % card.index for card in cards))]
    for card in cards:
        states = [card.ask(pymtml.nvmlDeviceGetP2PStatus, other.handle, index) for other in cards]
        cells = ["X" if other is card else P2P_STATUS.get(state, "U") for other, state in zip(cards, states)]
        lines.append(" GPU%d\t%s\t" % (card.index, "\t".join(cells)))
    return "\n".join(lines + ["", TEXTS["topo -p2p"], ""])


def _list(numbers):
    return "N/A" if isinstance(numbers, Unknown) else ranges(numbers) or "N/A"


def _path_sentence(card, other):
    level = card.ask(pymtml.nvmlDeviceGetTopologyCommonAncestor, other.handle)
    if isinstance(level, Unknown):
        return "The path between device %d and device %d is unknown: %s\n\n" % (card.index, other.index, level.reason)
    return "Device %d is connected to device %d by way of %s.\n\n" % (card.index, other.index, LEVELS[level][1])


def _nearest(card, cards, text):
    index, failed = numeric.number(text, 0, len(LEVELS) - 1), refuse("Failed to display the nearest GPUs\n\n", OTHER)
    if index is None:
        raise failed
    level = sorted(LEVELS)[index]
    found = card.ask(pymtml.nvmlDeviceGetTopologyNearestGpus, level)
    if isinstance(found, Unknown):
        raise failed
    near = [str(other.index) for other in cards if other is not card and other.handle in found]
    if not near:
        return "Device %d is not connected to other devices by way of %s.\n\n" % (card.index, LEVELS[level][1])
    return "Device %d is connected by way of %s to device(s): %s\n\n" % (card.index, LEVELS[level][1], ", ".join(near))


def _next_to(cards, text):
    cpu = numeric.number(text, 0, LAST_CPU)
    if cpu is None:
        raise refuse('"%s" is not the number of a processor.\n' % text)
    found = []
    for card in cards:
        numbers = cpus(card)
        if not isinstance(numbers, Unknown):
            found += [str(card.index)] * (cpu in numbers)
        elif not numbers.not_supported:
            return "The processors next to device %d are unknown: %s\n\n" % (card.index, numbers.reason)
    if not found:
        return "No GPUs were found to have an affinity with CPU %s.\n\n" % text
    return "The GPUs that have an affinity with CPU %s are:\n%s\n\n" % (text, ", ".join(found))
