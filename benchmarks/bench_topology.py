"""Time of questions about pairs of devices, and of a whole matrix: pymtml's by pairs, nvidia-ml-py's link by link."""

import statistics

import common

LINKS = 18  # of a device, as programs that know no pair question walk them
CALLS_PER_SAMPLE = 256
READ, NVLINK = 0, 2
MATRIX = "8 x 8 matrix of links"
# Question: what is called, f being the function, h and k two handles, and the function.
QUESTIONS = {
    "TopologyCommonAncestor": ("f(h, k)", "nvmlDeviceGetTopologyCommonAncestor"),
    "P2PStatus(READ)": ("f(h, k, %d)" % READ, "nvmlDeviceGetP2PStatus"),
    "P2PStatus(NVLINK)": ("f(h, k, %d)" % NVLINK, "nvmlDeviceGetP2PStatus"),
}


def by_pairs(nvml, handles):
    """[[whether links join two devices]] by one question a pair."""
    status = nvml.nvmlDeviceGetP2PStatus
    return [[first is not second and status(first, second, NVLINK) == 0 for second in handles] for first in handles]


def by_links(nvml, handles):
    """[[whether links join two devices]] by the peers of all links."""
    places = {nvml.nvmlDeviceGetPciInfo(handle).busId: index for index, handle in enumerate(handles)}
    joined = [[False] * len(handles) for _ in handles]
    for index, handle in enumerate(handles):
        for link in range(LINKS):
            if nvml.nvmlDeviceGetNvLinkState(handle, link):
                peer = places[nvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, link).busId]
                joined[index][peer] = peer != index
    return joined


def samplers(modules):
    """{question: {binding: function that takes a sample}}"""
    found = {}
    for key, module in modules.items():
        handles = [module.nvmlDeviceGetHandleByIndex(index) for index in range(common.DEVICES)]
        for name, (call, function) in QUESTIONS.items():
            loop = common.loop_of(call, names={"h": handles[1], "k": handles[6]})
            found.setdefault(name, {})[key] = lambda loop=loop, function=getattr(module, function): loop(
                function, range(CALLS_PER_SAMPLE)
            )
        walk = by_pairs if key == "pymtml" else by_links
        if walk(module, handles) != [[i != j for j in range(common.DEVICES)] for i in range(common.DEVICES)]:
            raise common.BenchmarkError("%s: wrong matrix" % key)
        loop = common.loop_of("f(m, h)", names={"m": module, "h": handles})
        found.setdefault(MATRIX, {})[key] = lambda loop=loop, walk=walk: loop(walk, range(4))
    return found


def measure(options):
    modules = {binding.key: binding.load() for binding in options.bindings if binding.key != "mthreads"}
    figures = {}
    for name, taken in common.sampled(samplers(modules), options.rounds).items():
        figures[name] = {"ns": {key: statistics.median(values) for key, values in taken.items()}}
        if len(taken) == 2:
            figures[name]["ratio"] = common.ratio(taken["pymtml"], taken["nvidia"])
    return figures


def budgets_of(figures):
    return [
        common.budget(
            name + " / nvidia", row["ratio"]["median"], 0.5 if name == MATRIX else 2.2 if "NVLINK" in name else 1.5
        )
        for name, row in figures.items()
        if "ratio" in row
    ]


def report(document):
    rows = [
        [name]
        + [common.number(row["ns"].get(key)) for key in ("pymtml", "nvidia")]
        + [common.number(row.get("ratio", {}).get("median"), 2)]
        for name, row in document["figures"].items()
    ]
    return "\n\n".join([common.table(["ns", "pymtml", "nvidia", "/nvidia"], rows), common.budget_table(document)])


if __name__ == "__main__":
    common.main("topology", __doc__, 40, measure, budgets_of, report)
