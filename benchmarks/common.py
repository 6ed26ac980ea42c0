"""What the benchmarks share: the stub libraries, the bindings under test, the timing loop, statistics and tables."""

import argparse
import ctypes
import filecmp
import gc
import importlib.util
import json
import math
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.path.join(HERE, "build")
DEVICES = 8
SCHEMA = 1
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
PYTHON_TAG = "%d.%d%s" % (sys.version_info[0], sys.version_info[1], "t" if FREE_THREADED else "")
VENVS = os.path.join(BUILD, "venv", PYTHON_TAG)


class BenchmarkError(Exception):
    """The run is broken: nothing that it would print could be trusted."""


def user_environment(**extra):
    """The environment of a user's program: PYTHON* of the calling shell (bytecode off, say) must not distort it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYMTML", "MTML"))}
    env.update(extra)
    return env


def run(command, **options):
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=user_environment(),
        universal_newlines=True,
        **options,
    )
    if done.returncode:
        raise BenchmarkError("%s failed:\n%s" % (" ".join(command), done.stdout))
    return done.stdout


class Stub:
    """One of the two C libraries that answer at once, with its counter of native calls."""

    def __init__(self, name):
        self.path = os.path.join(BUILD, name)
        self._library = None

    @property
    def library(self):
        if self._library is None:
            self._library = ctypes.CDLL(self.path)
            self._library.stubCalls.restype = ctypes.c_ulong
        return self._library

    def configure(self, active=False, delay_ns=0):
        self.library.stubConfigure(int(active), delay_ns)

    def set_init(self, delay_ns):
        """Let each initialization take that long."""
        self.library.stubSetInit(delay_ns)

    def count(self, function):
        """Native calls that one call of function makes."""
        self.configure(active=True)
        try:
            function()
            return self.library.stubCalls()
        finally:
            self.configure()


MTML = Stub("libmtml.so.2")
NVML = Stub("libnvidia-ml.so.1")


class Binding:
    """A Python binding, installed into a virtual environment of its own: two of them have the same module name."""

    def __init__(self, key, title, requirement, module, stub):
        self.key = key
        self.title = title
        self.requirement = requirement
        self.module = module
        self.stub = stub
        self.venv = os.path.join(VENVS, key)
        self.python = os.path.join(self.venv, "bin", "python")

    @property
    def site(self):
        tail = "python" + PYTHON_TAG
        return os.path.join(self.venv, "lib", tail, "site-packages")

    @property
    def source(self):
        package = os.path.join(self.site, self.module, "__init__.py")
        return package if os.path.exists(package) else os.path.join(self.site, self.module + ".py")

    @property
    def version(self):
        for name in sorted(os.listdir(self.site)):
            if name.endswith(".dist-info"):
                return name[: -len(".dist-info")].partition("-")[2]
        raise BenchmarkError("%s is not installed in %s" % (self.title, self.site))

    @property
    def installed(self):
        if not os.path.exists(self.source):
            return False
        if self.requirement == ROOT:
            return filecmp.cmp(self.source, os.path.join(ROOT, self.module + ".py"), shallow=False)
        return self.version == self.requirement.partition("==")[2]

    def install(self):
        if self.installed:
            return
        pip = os.path.join(VENVS, "pip", "bin", "python")
        if not os.path.exists(pip):
            run([sys.executable, "-m", "venv", os.path.join(VENVS, "pip")])
        shutil.rmtree(self.venv, ignore_errors=True)
        run([sys.executable, "-m", "venv", "--without-pip", self.venv])
        run([pip, "-m", "pip", "install", "--quiet", "--no-deps", "--target", self.site, self.requirement])
        if not self.installed:
            raise BenchmarkError("%s holds another version than %s" % (self.source, self.requirement))

    def load(self):
        """Import the module under a name of its own and initialize it over the stub."""
        # The stub is in the process already, and its SONAME answers when the module asks for the library by name.
        self.stub.configure()
        os.environ["PYMTML_LIBRARY"] = MTML.path
        name = self.module if self.key != "mthreads" else "mthreads_ml_py"
        spec = importlib.util.spec_from_file_location(name, self.source)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        if not self.stub.count(module.nvmlInit):
            raise BenchmarkError("%s did not load %s" % (self.title, self.stub.path))
        if module.nvmlDeviceGetCount() != DEVICES:
            raise BenchmarkError("%s does not see the stub's devices" % self.title)
        return module


BINDINGS = (
    Binding("pymtml", "pymtml", ROOT, "pymtml", MTML),
    Binding("nvidia", "nvidia-ml-py", "nvidia-ml-py==13.615.71", "pynvml", NVML),
    Binding("mthreads", "mthreads-ml-py", "mthreads-ml-py==2.4.3", "pymtml", MTML),
)


def build_stubs():
    run(["make", "--no-print-directory", "-C", HERE, "stubs"])


def arguments(description, rounds):
    """Parse the options that all benchmarks share, and make everything that they need."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help="rounds to take medians of (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="also write the results to FILE")
    parser.add_argument(
        "--bindings",
        default=",".join(binding.key for binding in BINDINGS),
        help="comma-separated subset of %(default)s",
    )
    options = parser.parse_args()
    wanted = options.bindings.split(",")
    unknown = set(wanted) - {binding.key for binding in BINDINGS}
    if unknown:
        parser.error("no such binding: %s" % ", ".join(sorted(unknown)))
    options.bindings = [binding for binding in BINDINGS if binding.key in wanted]
    try:
        build_stubs()
        for binding in options.bindings:
            binding.install()
    except BenchmarkError as error:
        sys.exit("benchmarks: %s" % error)
    return options


def pin():
    """Stay on one CPU, the last one allowed, as the first takes most interrupts. Returns it, or None."""
    try:
        cpu = max(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cpu})
    except (AttributeError, OSError):
        return None
    return cpu


def loop_of(call, read=None, names=None):
    """A function (f, items) -> nanoseconds per item, for a call written as text, like "f(x)".

    Text, as timeit has it: a callable around the call would cost more than some of the calls. With read, the result is
    bound to r and these statements follow. names are what else the text may mention.
    """
    body = "r = %s; %s" % (call, read) if read else call
    source = (
        "def loop(f, items):\n    start = clock()\n    for x in items:\n        %s\n    return clock() - start\n" % body
    )
    namespace = dict(names or {}, clock=time.perf_counter_ns)
    exec(source, namespace)
    loop = namespace["loop"]
    return lambda f, items: loop(f, items) / len(items)


class quiet:
    """No garbage collection while timing."""

    def __enter__(self):
        gc.collect()
        gc.disable()

    def __exit__(self, *exc):
        gc.enable()


def geometric_mean(values):
    return math.exp(statistics.mean(math.log(value) for value in values))


def spread(values):
    """Median, 5th and 95th percentile."""
    values = sorted(values)
    last = len(values) - 1
    return {
        "median": statistics.median(values),
        "low": values[round(0.05 * last)],
        "high": values[round(0.95 * last)],
    }


def ratio(samples, others):
    """The spread of the ratio of two samples of the same round."""
    return spread([a / b for a, b in zip(samples, others)])


def budget(name, value, limit, note=""):
    return {"name": name, "value": value, "limit": limit, "met": value <= limit, "note": note}


def machine(cpu):
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("model name"):
                    model = line.partition(":")[2].strip()
                    break
    except OSError:
        pass
    return {
        "cpu": model,
        "cpus": os.cpu_count(),
        "pinned_to": cpu,
        "system": platform.platform(),
        "python": "%s %s" % (platform.python_implementation(), platform.python_version()),
        "free_threaded": FREE_THREADED,
        "compiler": platform.python_compiler(),
    }


def result(name, options, cpu, figures, budgets):
    """The JSON document of one benchmark; README.md describes it."""
    return {
        "schema": SCHEMA,
        "benchmark": name,
        "machine": machine(cpu),
        "versions": {binding.key: binding.version for binding in options.bindings},
        "rounds": options.rounds,
        "figures": figures,
        "budgets": budgets,
    }


def sampled(jobs, rounds):
    """What samplers return in rounds of shuffled order: {name: {key: [values]}}, as they stand in ``jobs``."""
    samples = {name: {key: [] for key in samplers} for name, samplers in jobs.items()}
    with quiet():
        for _ in range(rounds + 1):
            for name, samplers in random.sample(list(jobs.items()), len(jobs)):
                for key, sampler in random.sample(list(samplers.items()), len(samplers)):
                    samples[name][key].append(sampler())
    for of_name in samples.values():
        for values in of_name.values():
            del values[0]  # the first round warms caches and the adaptive interpreter
    return samples


def main(name, description, rounds, measure, budgets_of, report, pinned=True):
    """Run a benchmark by its command line: measure(options) gives the figures, report(document) the text."""
    options = arguments(description, rounds)
    cpu = pin() if pinned else None
    figures = measure(options)
    document = result(name, options, cpu, figures, budgets_of(figures))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
    print(report(document))


def table(header, rows):
    """Markdown that also reads well in a terminal: first column to the left, the others to the right."""
    cells = [header] + rows
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]

    def line(row):
        padded = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    return "\n".join([line(header), line(rule)] + [line(row) for row in rows])


def budget_table(document):
    rows = [
        [
            item["name"],
            "%.2f" % item["value"] if isinstance(item["value"], float) else str(item["value"]),
            "%.2f" % item["limit"] if isinstance(item["limit"], float) else str(item["limit"]),
            "PASS" if item["met"] else "FAIL",
            item["note"],
        ]
        for item in document["budgets"]
    ]
    return table(["budget", "measured", "limit", "", "note"], rows) if rows else ""


def number(value, digits=0):
    return "-" if value is None else "%.*f" % (digits, value)
