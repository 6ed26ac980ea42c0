"""Time of a life of the library, as programs that ask one question live it: init, handle, name, memory, shutdown."""

import random
import statistics

import common

LIVES_PER_SAMPLE = 50
STEPS = ("init", "handle", "name", "memory", "shutdown")


def life(nvml):
    nvml.nvmlInit()
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    nvml.nvmlDeviceGetName(handle)
    nvml.nvmlDeviceGetMemoryInfo(handle)
    nvml.nvmlShutdown()


def measure(options):
    subjects, native_calls = {}, {}
    for binding in options.bindings:
        module = binding.load()
        module.nvmlShutdown()
        native_calls[binding.key] = binding.stub.count(lambda: life(module))
        subjects[binding.key] = module
    loop = common.loop_of("f(x)")
    samples = {key: [] for key in subjects}
    with common.quiet():
        for _ in range(options.rounds + 1):
            order = list(subjects)
            random.shuffle(order)
            for key in order:
                samples[key].append(loop(life, [subjects[key]] * LIVES_PER_SAMPLE))
    for values in samples.values():
        # The first round warms caches and the adaptive interpreter.
        del values[0]
    figures = {"ns": {key: statistics.median(values) for key, values in samples.items()}, "native_calls": native_calls}
    if "pymtml" in samples:
        figures["ratios"] = {
            key: common.ratio(samples["pymtml"], values) for key, values in samples.items() if key != "pymtml"
        }
    return figures


def budgets_of(figures):
    ratios = figures.get("ratios", {})
    return [common.budget("life / nvidia", ratios["nvidia"]["median"], 3.0)] if "nvidia" in ratios else []


def report(document):
    figures = document["figures"]
    rows = [
        [
            key,
            common.number(nanoseconds / 1000, 1),
            str(figures["native_calls"][key]),
            common.number(figures.get("ratios", {}).get(key, {}).get("median"), 2),
        ]
        for key, nanoseconds in figures["ns"].items()
    ]
    header = ["a life: " + ", ".join(STEPS), "us", "native calls", "pymtml's time over it"]
    return "\n\n".join([common.table(header, rows), common.budget_table(document)])


def main():
    options = common.arguments(__doc__, rounds=40)
    cpu = common.pin()
    figures = measure(options)
    common.finish(common.result("life", options, cpu, figures, budgets_of(figures)), options, report)


if __name__ == "__main__":
    main()
