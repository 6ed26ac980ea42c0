"""Time of a life of the library, as programs that ask one question live it: init, handle, name, memory, shutdown.

The initialization takes 1 ms in both C libraries; a driver takes 10 (an H200). A first life pays it, and so does each
that follows a shutdown in C; later lives find the library kept.
"""

import os
import statistics

import common

INIT_NS = 1000000
LIVES_PER_SAMPLE = 10
STEPS = ("init", "handle", "name", "memory", "shutdown")
FIRST, LATER = "first", "later"
KEEP = {FIRST: "0", LATER: "1"}  # what PYMTML_KEEP_LIBRARY says; nvidia-ml-py and mthreads-ml-py know no such thing
LIMITS = {FIRST: 1.1, LATER: 0.05}


def life(nvml):
    nvml.nvmlInit()
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    nvml.nvmlDeviceGetName(handle)
    nvml.nvmlDeviceGetMemoryInfo(handle)
    nvml.nvmlShutdown()


def sampler(which, module):
    """What takes a sample of the first or of later lives."""
    loop = common.loop_of("f(x)")

    def sample():
        os.environ["PYMTML_KEEP_LIBRARY"] = KEEP[which]
        life(module)
        return loop(life, [module] * LIVES_PER_SAMPLE)

    return sample


def measure(options):
    subjects, native_calls = {}, {FIRST: {}, LATER: {}}
    for binding in options.bindings:
        module = binding.load()
        module.nvmlShutdown()
        subjects[binding.key] = module
        for which, keep in KEEP.items():
            os.environ["PYMTML_KEEP_LIBRARY"] = keep
            life(module)  # so that what was kept goes, or is kept
            native_calls[which][binding.key] = binding.stub.count(lambda: life(module))
        binding.stub.set_init(INIT_NS)
    jobs = {which: {key: sampler(which, module) for key, module in subjects.items()} for which in KEEP}
    figures = {"init_ns": INIT_NS, "native_calls": native_calls, "ns": {}, "ratios": {}}
    for which, times in common.sampled(jobs, options.rounds).items():
        figures["ns"][which] = {key: statistics.median(values) for key, values in times.items()}
        figures["ratios"][which] = {
            key: common.ratio(times["pymtml"], values)
            for key, values in times.items()
            if "pymtml" in times and key != "pymtml"
        }
    return figures


def budgets_of(figures):
    return [
        common.budget("%s life / nvidia" % which, ratios["nvidia"]["median"], LIMITS[which])
        for which, ratios in figures["ratios"].items()
        if "nvidia" in ratios
    ]


def report(document):
    figures = document["figures"]
    parts = []
    for which, nanoseconds in figures["ns"].items():
        rows = [
            [
                key,
                common.number(value / 1000, 1),
                str(figures["native_calls"][which][key]),
                common.number(figures["ratios"][which].get(key, {}).get("median"), 3),
            ]
            for key, value in nanoseconds.items()
        ]
        header = ["a %s life: %s" % (which, ", ".join(STEPS)), "us", "native calls", "pymtml's time over it"]
        parts.append(common.table(header, rows))
    return "\n\n".join(parts + [common.budget_table(document)])


if __name__ == "__main__":
    common.main("life", __doc__, 40, measure, budgets_of, report)
