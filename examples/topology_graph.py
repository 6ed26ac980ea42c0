"""Draw how the GPUs of a host are connected: python examples/topology_graph.py | dot -Tsvg > topology.svg

Each NUMA node is a box. A line has the number of MtLinks that are up at both ends, or, without any, the PCIe level at
which two cards meet.
"""

import itertools
import sys

import topology  # the example beside this one: topology.joint names what joins two cards

import pymtml


def node_of(device):
    """Number of the card's NUMA node, or a question mark if neither the system nor MTML reports it (str)."""
    try:
        return str(pymtml.nvmlDeviceGetNumaNodeId(device))
    except pymtml.NVMLError_NotSupported:
        return "?"


def graph(cards):
    """The graph in Graphviz' language (iterator of lines)."""
    nodes = {}
    for index, card in enumerate(cards):
        nodes.setdefault(node_of(card), []).append((index, pymtml.nvmlDeviceGetName(card)))
    yield "graph gpus {"
    yield "  node [shape=box];"
    for node, members in nodes.items():
        yield '  subgraph "cluster %s" {' % node
        yield '    label="NUMA node %s";' % node
        for index, name in members:
            yield '    gpu%d [label="GPU %d\\n%s"];' % (index, index, name)
        yield "  }"
    for (first, one), (second, other) in itertools.combinations(enumerate(cards), 2):
        joint = topology.joint(one, other)
        style = "bold" if joint.startswith("MT") else "dotted"
        yield '  gpu%d -- gpu%d [label="%s", style=%s];' % (first, second, joint, style)
    yield "}"


def main():
    """Print the graph."""
    pymtml.nvmlInit()
    try:
        cards = [pymtml.nvmlDeviceGetHandleByIndex(index) for index in range(pymtml.nvmlDeviceGetCount())]
        print("\n".join(graph(cards)) if cards else "no GPU")
    finally:
        pymtml.nvmlShutdown()


if __name__ == "__main__":
    try:
        main()
    except pymtml.NVMLError as error:
        sys.exit("%s: %s" % (sys.argv[0], error))
