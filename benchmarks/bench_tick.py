"""Time of one tick of a monitor: what it reads from eight devices, with native calls of 0, 1 and 5 microseconds."""

import statistics

import common

DELAYS_NS = (0, 1000, 5000)
TICKS_PER_SAMPLE = 5
FIRST, KEPT, FRESH = "first tick", "kept handles", "fresh handles"
LIMITS = {KEPT: 80, FRESH: 104}  # native calls of a tick


def read_devices(nvml, handles):
    """Everything that a monitor shows of each device, fields of the results included."""
    seen = []
    for handle in handles:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        utilization = nvml.nvmlDeviceGetUtilizationRates(handle)
        encoder = nvml.nvmlDeviceGetEncoderUtilization(handle)
        decoder = nvml.nvmlDeviceGetDecoderUtilization(handle)
        seen.append(
            (
                nvml.nvmlDeviceGetName(handle),
                nvml.nvmlDeviceGetUUID(handle),
                memory.total,
                memory.used,
                memory.free,
                utilization.gpu,
                utilization.memory,
                nvml.nvmlDeviceGetTemperature(handle, 0),
                nvml.nvmlDeviceGetPowerUsage(handle),
                nvml.nvmlDeviceGetClockInfo(handle, 0),
                nvml.nvmlDeviceGetClockInfo(handle, 2),
                nvml.nvmlDeviceGetFanSpeed(handle),
                nvml.nvmlDeviceGetPciInfo(handle).busId,
                encoder[0],
                decoder[0],
            )
        )
    return seen


def expected():
    return [
        (
            "Stub GPU %d" % i,
            "00000000-0000-4000-8000-%012d" % i,
            80 << 30,
            (1 << 30) + i,
            (79 << 30) - i,
            10 + i,
            20 + i,
            30 + i,
            100000 + i,
            1000 + i,
            2000 + i,
            40 + i,
            "00000000:%02X:00.0" % (16 + i),
            50 + i,
            60 + i,
        )
        for i in range(common.DEVICES)
    ]


def fresh_handles(nvml):
    return [nvml.nvmlDeviceGetHandleByIndex(i) for i in range(nvml.nvmlDeviceGetCount())]


class Subject:
    """One binding, in the two ways that monitors work: handles kept, and asked for in every tick."""

    def __init__(self, binding):
        module = binding.load()
        handles = fresh_handles(module)
        self.stub = binding.stub
        self.ways = {
            KEPT: lambda: read_devices(module, handles),
            FRESH: lambda: read_devices(module, fresh_handles(module)),
        }
        self.first_tick_calls = self.stub.count(self.ways[KEPT])
        for way, tick in self.ways.items():
            if tick() != expected():
                raise common.BenchmarkError("%s: wrong values with %s" % (binding.title, way))
        self.native_calls = {way: self.stub.count(tick) for way, tick in self.ways.items()}

    def sampler(self, way, delay_ns):
        loop = common.loop_of("f()")
        ticks = range(TICKS_PER_SAMPLE)

        def sample():
            self.stub.configure(active=bool(delay_ns), delay_ns=delay_ns)
            try:
                return loop(self.ways[way], ticks)
            finally:
                self.stub.configure()

        return sample


def measure(options):
    subjects = {binding.key: Subject(binding) for binding in options.bindings}
    jobs = {
        (way, delay_ns): {key: subject.sampler(way, delay_ns) for key, subject in subjects.items()}
        for way in (KEPT, FRESH)
        for delay_ns in DELAYS_NS
    }
    ticks = []
    for (way, delay_ns), samples in common.sampled(jobs, options.rounds).items():
        row = {"handles": way, "delay_ns": delay_ns, "ns": {k: statistics.median(v) for k, v in samples.items()}}
        if "pymtml" in samples:
            row["ratios"] = {
                key: common.ratio(samples["pymtml"], values) for key, values in samples.items() if key != "pymtml"
            }
        ticks.append(row)
    calls = {key: {FIRST: subject.first_tick_calls, **subject.native_calls} for key, subject in subjects.items()}
    return {"ticks": ticks, "native_calls": calls}


def budgets_of(figures):
    budgets = []
    limits = {("nvidia", 0): 0.58, ("nvidia", 5000): 1.0, ("mthreads", 0): 0.25}
    for row in figures["ticks"]:
        if row["handles"] == KEPT:
            for key, spread in row.get("ratios", {}).items():
                limit = limits.get((key, row["delay_ns"]))
                if limit:
                    note = "%g us per native call" % (row["delay_ns"] / 1000)
                    budgets.append(common.budget("tick / " + key, spread["median"], limit, note))
    if "pymtml" in figures["native_calls"]:
        for way in (KEPT, FRESH):
            count = figures["native_calls"]["pymtml"][way]
            budgets.append(common.budget("native calls per tick", count, LIMITS[way], way))
    return budgets


def report(document):
    figures = document["figures"]
    columns = [key for key in ("pymtml", "nvidia", "mthreads") if key in document["versions"]]
    others = [key for key in columns if key != "pymtml"] if "pymtml" in columns else []
    rows = [
        ["%s, %g us per native call" % (row["handles"], row["delay_ns"] / 1000)]
        + [common.number(row["ns"][key] / 1000, 1) for key in columns]
        + [common.number(row["ratios"][key]["median"], 2) for key in others]
        for row in figures["ticks"]
    ]
    times = common.table(["us per tick of 8 devices"] + columns + ["/" + key for key in others], rows)
    rows = [[way] + [str(figures["native_calls"][key][way]) for key in columns] for way in (FIRST, KEPT, FRESH)]
    return "\n\n".join([times, common.table(["native calls per tick"] + columns, rows), common.budget_table(document)])


if __name__ == "__main__":
    common.main("tick", __doc__, 40, measure, budgets_of, report)
