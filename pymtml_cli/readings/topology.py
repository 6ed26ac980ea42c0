"""What is near a card: processors, memory, and other cards by MtLinks."""

import pymtml
from pymtml_cli.readings.devices import Unknown, then

CPU_WORDS, NODE_WORDS = 64, 16
WORD_BITS = 8 * pymtml.sizeof(pymtml.c_ulong)


def link_count(card, other):
    """Number of MtLinks between two cards that carry data by the word of both ends, or an Unknown."""
    layouts = card.ask(pymtml.mtmlDeviceGetMtLinkLayouts, other.handle)
    if isinstance(layouts, Unknown):
        return layouts
    count = 0
    for layout in layouts:
        states = [
            card.ask(pymtml.mtmlDeviceGetMtLinkState, layout.localLinkId),
            other.ask(pymtml.mtmlDeviceGetMtLinkState, layout.remoteLinkId),
        ]
        failed = [state for state in states if isinstance(state, Unknown)]
        if failed:
            return failed[0]
        count += pymtml.MTML_MTLINK_STATE_DOWN not in states
    return count


def members(words):
    """Numbers of the bits that are set in an array of words."""
    return [word * WORD_BITS + bit for word, value in enumerate(words) for bit in range(WORD_BITS) if value >> bit & 1]


def ranges(numbers):
    """Numbers as 0-31,64-95."""
    parts = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join("%d" % first if first == last else "%d-%d" % (first, last) for first, last in parts)


def cpus(card):
    """Processors next to a card, or an Unknown."""
    return then(card.ask(pymtml.nvmlDeviceGetCpuAffinity, CPU_WORDS), members)


def nodes(card):
    """NUMA nodes of the memory next to a card, or an Unknown."""
    return then(card.ask(pymtml.nvmlDeviceGetMemoryAffinity, NODE_WORDS, pymtml.NVML_AFFINITY_SCOPE_NODE), members)
