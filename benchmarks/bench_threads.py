"""Queries per second with 1 to 8 threads, each on its own device, with native calls of 0 and 5 microseconds."""

import concurrent.futures
import random
import statistics
import threading
import time

import common

THREADS = range(1, common.DEVICES + 1)
DELAYS_NS = (0, 5000)
QUERIES_PER_PASS = 4
# Several times the interval at which CPython makes a thread give way.
SAMPLE_SECONDS = 0.03


def passes(nvml, handle, ready):
    """What a sampler thread polls: (how often, first and last moment)."""
    clock = time.perf_counter
    count = 0
    ready.wait()
    begin = clock()
    end = begin + SAMPLE_SECONDS
    while clock() < end:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        memory.used, memory.total
        rates = nvml.nvmlDeviceGetUtilizationRates(handle)
        rates.gpu, rates.memory
        nvml.nvmlDeviceGetTemperature(handle, 0)
        nvml.nvmlDeviceGetPowerUsage(handle)
        count += 1
    return count, begin, clock()


def sample(stub, module, handles, threads, delay_ns):
    """Queries per second of all threads together."""
    ready = threading.Barrier(threads)
    stub.configure(active=bool(delay_ns), delay_ns=delay_ns)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(lambda handle: passes(module, handle, ready), handles[:threads]))
    stub.configure()
    counts, begins, ends = zip(*results)
    return sum(counts) * QUERIES_PER_PASS / (max(ends) - min(begins))


def measure(options):
    subjects = {}
    for binding in options.bindings:
        module = binding.load()
        subjects[binding.key] = (
            binding.stub,
            module,
            [module.nvmlDeviceGetHandleByIndex(i) for i in range(common.DEVICES)],
        )
    jobs = [(delay_ns, threads) for delay_ns in DELAYS_NS for threads in THREADS]
    samples = {job: {key: [] for key in subjects} for job in jobs}
    keys = list(subjects)
    with common.quiet():
        for _ in range(options.rounds + 1):
            random.shuffle(jobs)
            for delay_ns, threads in jobs:
                random.shuffle(keys)
                for key in keys:
                    samples[delay_ns, threads][key].append(sample(*subjects[key], threads=threads, delay_ns=delay_ns))
    figures = []
    for (delay_ns, threads), taken in sorted(samples.items()):
        for values in taken.values():
            # The first round warms caches and the adaptive interpreter.
            del values[0]
        row = {
            "delay_ns": delay_ns,
            "threads": threads,
            "queries_per_second": {key: statistics.median(values) for key, values in taken.items()},
        }
        if "pymtml" in taken:
            row["ratios"] = {
                key: common.ratio(taken["pymtml"], values) for key, values in taken.items() if key != "pymtml"
            }
        figures.append(row)
    return figures


def budgets_of(figures):
    """Whether threads get at least as many answers as from nvidia-ml-py, where native calls take no time."""
    return [
        common.budget(
            "throughput of nvidia / pymtml's", 1 / row["ratios"]["nvidia"]["median"], 1.0, "%d threads" % row["threads"]
        )
        for row in figures
        if not row["delay_ns"] and "nvidia" in row.get("ratios", {})
    ]


def report(document):
    columns = [key for key in ("pymtml", "nvidia", "mthreads") if key in document["versions"]]
    others = [key for key in columns if key != "pymtml"] if "pymtml" in columns else []
    rows = [
        ["%d, %g us per native call" % (row["threads"], row["delay_ns"] / 1000)]
        + [common.number(row["queries_per_second"][key] / 1000) for key in columns]
        + [common.number(row["ratios"][key]["median"], 2) for key in others]
        for row in document["figures"]
    ]
    header = ["threads; thousand queries per second"] + columns + ["/" + key for key in others]
    return "\n\n".join([common.table(header, rows), common.budget_table(document)])


def main():
    options = common.arguments(__doc__, rounds=11)
    # Not pinned: the threads of a real monitor are not.
    figures = measure(options)
    common.finish(common.result("threads", options, None, figures, budgets_of(figures)), options, report)


if __name__ == "__main__":
    main()
