"""Time of one call: 20 hot queries through pymtml, nvidia-ml-py, mthreads-ml-py and bare ctypes, in one process."""

import collections
import ctypes
import statistics

import common

# call and read are text, see common.loop_of: f is the function, x runs over the device handles (over the indices where
# the call makes handles), r is the result. check(module, r, index) is true of the right answer. floor is the least that
# MTML takes to tell what can change: C function, whose handle it wants, and the call, with a ready-made buffer b.
# sources is how many MTML functions tell what one NVML function does. A new query also needs a result in each of
# stubs/*.c that identifies the device.
Query = collections.namedtuple("Query", "name function call read check floor sources")


def query(name, call, check, floor, read=None, function=None, sources=1):
    return Query(name, "nvml" + (function or name), call, read, check, floor, sources)


QUERIES = (
    query(
        "DeviceGetCount", "f()", lambda m, r, i: r == common.DEVICES, ("mtmlLibraryCountDevice", "library", "f(x, b)")
    ),
    query(
        "DeviceGetHandleByIndex",
        "f(x)",
        lambda m, r, i: m.nvmlDeviceGetIndex(r) == i,
        ("mtmlLibraryInitDeviceByIndex", "library", "f(x, 0, b)"),
    ),
    query(
        "DeviceGetName", "f(x)", lambda m, r, i: r == "Stub GPU %d" % i, ("mtmlDeviceGetName", "device", "f(x, b, 32)")
    ),
    query(
        "DeviceGetUUID",
        "f(x)",
        lambda m, r, i: r == "00000000-0000-4000-8000-%012d" % i,
        ("mtmlDeviceGetUUID", "device", "f(x, b, 48)"),
    ),
    query("DeviceGetIndex", "f(x)", lambda m, r, i: r == i, ("mtmlDeviceGetIndex", "device", "f(x, b)")),
    query(
        "DeviceGetSerial",
        "f(x)",
        lambda m, r, i: r == "SERIAL-%06d" % i,
        ("mtmlDeviceGetSerialNumber", "device", "f(x, 64, b)"),
    ),
    query(
        "DeviceGetMinorNumber",
        "f(x)",
        # mthreads-ml-py tells the number of the render node, which begins at 128.
        lambda m, r, i: r in (i, 128 + i),
        ("mtmlDeviceGetGpuPath", "device", "f(x, b, 64)"),
    ),
    query(
        "DeviceGetMemoryInfo",
        "f(x)",
        lambda m, r, i: (r.total, r.used, r.free) == (80 << 30, (1 << 30) + i, (79 << 30) - i),
        ("mtmlMemoryGetUsed", "memory", "f(x, b)"),
        read="r.total; r.free; r.used",
        sources=2,
    ),
    query(
        "DeviceGetUtilizationRates",
        "f(x)",
        lambda m, r, i: (r.gpu, r.memory) == (10 + i, 20 + i),
        ("mtmlGpuGetUtilization", "gpu", "f(x, b); g(y, b)"),
        read="r.gpu; r.memory",
        sources=2,
    ),
    query("DeviceGetTemperature", "f(x, 0)", lambda m, r, i: r == 30 + i, ("mtmlGpuGetTemperature", "gpu", "f(x, b)")),
    query(
        "DeviceGetPowerUsage", "f(x)", lambda m, r, i: r == 100000 + i, ("mtmlDeviceGetPowerUsage", "device", "f(x, b)")
    ),
    query(
        "DeviceGetClockInfo(GRAPHICS)",
        "f(x, 0)",
        lambda m, r, i: r == 1000 + i,
        ("mtmlGpuGetClock", "gpu", "f(x, b)"),
        function="DeviceGetClockInfo",
    ),
    query(
        "DeviceGetClockInfo(MEM)",
        "f(x, 2)",
        lambda m, r, i: r == 2000 + i,
        ("mtmlMemoryGetClock", "memory", "f(x, b)"),
        function="DeviceGetClockInfo",
    ),
    query(
        "DeviceGetMaxClockInfo(GRAPHICS)",
        "f(x, 0)",
        lambda m, r, i: r == 4000 + i,
        ("mtmlGpuGetMaxClock", "gpu", "f(x, b)"),
        function="DeviceGetMaxClockInfo",
    ),
    query("DeviceGetFanSpeed", "f(x)", lambda m, r, i: r == 40 + i, ("mtmlDeviceGetFanSpeed", "device", "f(x, 0, b)")),
    query(
        "DeviceGetPciInfo",
        "f(x)",
        lambda m, r, i: r.bus == 16 + i and r.busId == "00000000:%02X:00.0" % (16 + i),
        ("mtmlDeviceGetPciInfo", "device", "f(x, b)"),
        read="r.busId; r.bus; r.device",
    ),
    query(
        "DeviceGetEncoderUtilization",
        "f(x)",
        lambda m, r, i: r[0] == 50 + i,
        ("mtmlVpuGetUtilization", "vpu", "f(x, b)"),
        read="r[0]; r[1]",
    ),
    query(
        "DeviceGetDecoderUtilization",
        "f(x)",
        lambda m, r, i: r[0] == 60 + i,
        ("mtmlVpuGetUtilization", "vpu", "f(x, b)"),
        read="r[0]; r[1]",
    ),
    query(
        "DeviceGetCurrPcieLinkWidth", "f(x)", lambda m, r, i: r == 8 + i, ("mtmlDeviceGetPciInfo", "device", "f(x, b)")
    ),
    query(
        "DeviceGetCurrPcieLinkGeneration",
        "f(x)",
        lambda m, r, i: r == 1 + i,
        ("mtmlDeviceGetPciInfo", "device", "f(x, b)"),
    ),
)

CALLS_PER_SAMPLE = 512
PLAIN, READ = "plain", "read"


class Floor:
    """ctypes alone: no argtypes, every argument made beforehand, status and result ignored."""

    def __init__(self):
        lib = common.MTML.library
        library = self._handle(lib.mtmlLibraryInit)
        devices = [self._handle(lib.mtmlLibraryInitDeviceByIndex, library, i) for i in range(common.DEVICES)]
        self.handles = {"library": [library] * common.DEVICES, "device": devices}
        for owner, init in (("gpu", "Gpu"), ("memory", "Memory"), ("vpu", "Vpu")):
            self.handles[owner] = [self._handle(lib["mtmlDeviceInit" + init], device) for device in devices]
        self.buffer = ctypes.create_string_buffer(256)

    @staticmethod
    def _handle(function, *args):
        handle = ctypes.c_void_p()
        if function(*(args + (ctypes.byref(handle),))):
            raise common.BenchmarkError("the stub refused to make a handle")
        return handle

    def sampler(self, query):
        function, owner, call = query.floor
        names = {
            "b": ctypes.byref(self.buffer),
            "g": common.MTML.library.mtmlMemoryGetUtilization,
            "y": self.handles["memory"][0],
        }
        loop = common.loop_of(call, names=names)
        items = self.handles[owner] * (CALLS_PER_SAMPLE // common.DEVICES)
        function = common.MTML.library[function]
        return lambda: loop(function, items)


class Subject:
    """One query through one binding."""

    def __init__(self, binding, module, query):
        self.function = getattr(module, query.function)
        devices = range(common.DEVICES)
        makes_handles = query.function == "nvmlDeviceGetHandleByIndex"
        self.items = list(devices) if makes_handles else [module.nvmlDeviceGetHandleByIndex(i) for i in devices]
        answers = []
        once = common.loop_of("out.append(%s)" % query.call, names={"out": answers})
        once(self.function, self.items)
        for index, answer in enumerate(answers):
            if not query.check(module, answer, index):
                raise common.BenchmarkError("%s: wrong answer from %s: %s" % (binding.title, query.name, answer))
        calls = binding.stub.count(lambda: once(self.function, self.items))
        self.native_calls = calls / common.DEVICES
        plain = common.loop_of(query.call)
        self.samplers = {PLAIN: self._sampler(plain)}
        if query.read:
            self.samplers[READ] = self._sampler(common.loop_of(query.call, read=query.read))

    def _sampler(self, loop):
        items = self.items * (CALLS_PER_SAMPLE // common.DEVICES)
        return lambda: loop(self.function, items)


def measure(options):
    """{query: {"native_calls": {binding: n}, "samples": {variant: {binding: [ns]}}}}"""
    modules = {binding: binding.load() for binding in options.bindings}
    floor = Floor()
    figures, jobs = {}, {}
    for item in QUERIES:
        native_calls = {}
        jobs[item.name] = {(PLAIN, "floor"): floor.sampler(item)}
        for binding, module in modules.items():
            if hasattr(module, item.function):
                subject = Subject(binding, module, item)
                native_calls[binding.key] = subject.native_calls
                of_binding = subject.samplers.items()
                jobs[item.name].update(((variant, binding.key), sampler) for variant, sampler in of_binding)
        figures[item.name] = {"sources": item.sources, "native_calls": native_calls, "samples": {}}
    for name, taken in common.sampled(jobs, options.rounds).items():
        for (variant, key), values in taken.items():
            figures[name]["samples"].setdefault(variant, {})[key] = values
    return figures


def samples_of(figure, variant, key):
    """Samples including the reading of fields are the plain ones where a result has no fields."""
    return figure["samples"].get(variant, figure["samples"][PLAIN]).get(key)


def geometric_means(figures, names, variant, key, other):
    """One figure a round: the geometric mean over the queries of the ratio within that round."""
    pairs = [(samples_of(figures[n], variant, key), samples_of(figures[n], variant, other)) for n in names]
    return [common.geometric_mean([mine[i] / theirs[i] for mine, theirs in pairs]) for i in range(len(pairs[0][0]))]


def summarize(figures, options):
    keys = [binding.key for binding in options.bindings]
    summary = {"queries": {}, "geometric_means": {}}
    for name, figure in figures.items():
        row = {"sources": figure["sources"], "native_calls": figure["native_calls"], "ns": {}, "ratios": {}}
        for variant, samples in figure["samples"].items():
            row["ns"][variant] = {key: statistics.median(values) for key, values in samples.items()}
            if "pymtml" in samples:
                row["ratios"][variant] = {
                    key: common.ratio(samples["pymtml"], values) for key, values in samples.items() if key != "pymtml"
                }
        summary["queries"][name] = row
    if "pymtml" not in keys:
        return summary
    asking = {name for name, figure in figures.items() if figure["native_calls"]["pymtml"]}
    for other in keys + ["floor"]:
        if other == "pymtml":
            continue
        names = [name for name, figure in figures.items() if other in figure["samples"][PLAIN]]
        sets = {"plain": (names, PLAIN), "asking": ([n for n in names if n in asking], PLAIN)}
        if other != "floor":
            sets["read"] = (names, READ)
        summary["geometric_means"][other] = {
            which: {
                "queries": len(chosen),
                **common.spread(geometric_means(figures, chosen, variant, "pymtml", other)),
            }
            for which, (chosen, variant) in sets.items()
        }
    return summary


def slower_queries(summary):
    """Queries slower than through nvidia-ml-py, and whether that is excused: MTML needs two calls for NVML's one."""
    slower = {}
    for name, row in summary["queries"].items():
        plain = row["ratios"][PLAIN]["nvidia"]["median"]
        if plain > 1:
            including = row["ratios"].get(READ, row["ratios"][PLAIN])["nvidia"]["median"]
            slower[name] = row["sources"] > 1 and including <= 1
    return slower


def budgets_of(summary):
    budgets = []
    for key, title, limit in (("nvidia", "nvidia-ml-py", 0.43), ("mthreads", "mthreads-ml-py", 0.30)):
        if key in summary["geometric_means"]:
            means = summary["geometric_means"][key]["plain"]
            note = "%d queries" % means["queries"]
            budgets.append(common.budget("call / " + title + ", geometric mean", means["median"], limit, note))
    if "nvidia" in summary["geometric_means"]:
        slower = slower_queries(summary)
        note = ", ".join("%s%s" % (name, " (excused)" if excused else "") for name, excused in sorted(slower.items()))
        count = sum(not excused for excused in slower.values())
        budgets.append(common.budget("queries slower than nvidia-ml-py", count, 0, note))
    return budgets


def report(document):
    figures = document["figures"]
    columns = [
        key for key in ("pymtml", "nvidia", "mthreads", "floor") if key in document["versions"] or key == "floor"
    ]
    others = columns[1:] if columns[0] == "pymtml" else []
    parts = []
    for variant, title in ((PLAIN, "ns per call"), (READ, "ns per call, fields of the result read")):
        header = [title] + columns + ["/" + key for key in others] + ["native calls"]
        rows = []
        for name, row in figures["queries"].items():
            if variant not in row["ns"]:
                continue
            ratios = row["ratios"].get(variant, {})
            rows.append(
                [name]
                + [common.number(row["ns"][variant].get(key)) for key in columns]
                + [common.number(ratios.get(key, {}).get("median"), 2) for key in others]
                + ["/".join(common.number(row["native_calls"].get(key)) for key in columns if key != "floor")]
            )
        parts.append(common.table(header, rows))
    rows = []
    for key, sets in figures["geometric_means"].items():
        for which, title in (
            ("plain", "calls"),
            ("read", "calls and reading of fields"),
            ("asking", "only calls that reach the library"),
        ):
            if which in sets:
                means = sets[which]
                rows.append(
                    ["pymtml / %s, %s" % (key, title), str(means["queries"])]
                    + [common.number(means[point], 3) for point in ("median", "low", "high")]
                )
    if rows:
        parts.append(common.table(["geometric mean", "queries", "median", "5 %", "95 %"], rows))
    parts.append(common.budget_table(document))
    return "\n\n".join(part for part in parts if part)


if __name__ == "__main__":
    common.main("call", __doc__, 60, lambda options: summarize(measure(options), options), budgets_of, report)
