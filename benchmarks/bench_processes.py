"""Process queries of a tick, over one plain walk of the same /proc: 8 GPUs, compute and graphics, with and without the
driver's table."""

import os
import shutil
import statistics
import sys
import tempfile
import time

import common

sys.path.append(os.path.join(common.ROOT, "simulator", "python"))
from mtml_simulator import driver_files  # noqa: E402

PROCESSES, FILES = int(os.environ.get("BENCH_PROCESSES", 3000)), 60  # a test makes do with fewer
JOB_FILES, JOB_THREADS, JOB_MAPS = 700, 400, 2700  # of one process on each GPU, as a training job has them
PER_GPU = 8
WALK, OPEN_NODES, ONE_QUERY, TABLE = "plain walk", "16 queries, open nodes", "1 query, open nodes", "16 queries, table"
LIMITS = {OPEN_NODES: 1.5, ONE_QUERY: 1.3, TABLE: 1.5}


def users_of(index):
    """Processes that have a GPU's node open (list of int)."""
    return [1000 + index * PER_GPU + number for number in range(PER_GPU)]


def build(root):
    """A proc file system of many processes with many files, of which each GPU has a few, one of them a large job."""
    nodes = {pid: "/dev/mtgpu.%d" % index for index in range(common.DEVICES) for pid in users_of(index)}
    jobs = {users_of(index)[0] for index in range(common.DEVICES)}
    for pid in range(1000, 1000 + PROCESSES):
        directory = os.path.join(root, str(pid), "fd")
        os.makedirs(directory)
        for number in range(JOB_FILES if pid in jobs else FILES):
            target = nodes.get(pid, "/dev/null") if number == 7 else "socket:[%d]" % (pid * JOB_FILES + number)
            os.symlink(target, os.path.join(directory, str(number)))
        stat = "%%d (worker) S 1 1 1 0 -1 4194560%s %d 0\n" % (" 0" * 12, pid)
        files = {"comm": "worker\n", "status": "Name:\tworker\nNSpid:\t%d\n" % pid, "stat": stat % pid}
        files.update(
            ("task/%d/stat" % (pid + thread), stat % pid) for thread in range(JOB_THREADS if pid in jobs else 1)
        )
        if pid in nodes:
            lines = [
                "7f%05x000-7f%05x000 r-xp 00000000 fd:00 1    /usr/lib/lib%d.so\n" % (n, n + 1, n)
                for n in range(JOB_MAPS)
            ]
            files["maps"] = "".join(lines)
        for name, text in files.items():
            path = os.path.join(root, str(pid), name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)


def write_tables(root):
    """The driver's tables of a tree of build()."""
    for index in range(common.DEVICES):
        rows = [driver_files.process_row(pid, pid, (5, 0, 0, 0, 5, 0), "worker") for pid in users_of(index)]
        driver_files.write_table(root, index, *rows)


def plain_walk(root):
    """What anybody would write who wants to know who has a node open."""
    found = set()
    for pid in os.listdir(root):
        if not pid.isdigit():
            continue
        directory = os.path.join(root, pid, "fd")
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        for name in names:
            try:
                target = os.readlink(os.path.join(directory, name))
            except OSError:
                continue
            if target.startswith("/dev/mtgpu."):
                found.add(int(pid))
    return found


class Subject:
    """pymtml's process queries; a new life of the library has no walk to fall back on."""

    def __init__(self, nvml):
        self.nvml = nvml
        nvml.nvmlShutdown()

    def tick(self, gpus=common.DEVICES):
        """(nanoseconds, pids by GPU) of the queries for compute and, for all GPUs, graphics processes."""
        nvml = self.nvml
        nvml.nvmlInit()
        handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(gpus)]
        start = time.perf_counter_ns()
        found = []
        for handle in handles:
            found.append(nvml.nvmlDeviceGetComputeRunningProcesses(handle))
            if gpus > 1:
                nvml.nvmlDeviceGetGraphicsRunningProcesses(handle)
        elapsed = time.perf_counter_ns() - start
        nvml.nvmlShutdown()
        return elapsed, [[process.pid for process in processes] for processes in found]


def timed_walk(root):
    start = time.perf_counter_ns()
    plain_walk(root)
    return time.perf_counter_ns() - start


def queries(subject, root, gpus=common.DEVICES, expected=None):
    """A sampler of a tick below a root, once its answer has proved right."""

    def sample():
        os.environ["PYMTML_PROC_ROOT"] = root
        elapsed, pids = subject.tick(gpus)
        if expected is not None and pids != expected[:gpus]:
            raise common.BenchmarkError("wrong processes below %s: %s" % (root, pids))
        return elapsed

    return sample


def measure(options, trees):
    (binding,) = [binding for binding in options.bindings if binding.key == "pymtml"]
    subject = Subject(binding.load())
    expected = [users_of(index) for index in range(common.DEVICES)]
    bare, table = trees
    roots = {"%d processes with %d files" % (PROCESSES, FILES): (bare, expected), "this machine": ("/proc", None)}
    jobs = {}
    for title, (root, right) in roots.items():
        jobs[title] = samplers = {
            WALK: lambda root=root: timed_walk(root),
            OPEN_NODES: queries(subject, root, expected=right),
            ONE_QUERY: queries(subject, root, gpus=1, expected=right),
        }
        if right:
            samplers[TABLE] = queries(subject, table, expected=right)
    summary = []
    for title, samples in common.sampled(jobs, options.rounds).items():
        summary.append(
            {
                "tree": title,
                "ns": {name: statistics.median(values) for name, values in samples.items()},
                "ratios": {
                    name: common.ratio(values, samples[WALK]) for name, values in samples.items() if name != WALK
                },
            }
        )
    return summary


def budgets_of(figures):
    return [
        common.budget("%s / plain walk" % name, spread["median"], LIMITS[name], figures[0]["tree"])
        for name, spread in figures[0]["ratios"].items()
    ]


def report(document):
    rows = []
    for tree in document["figures"]:
        for name, nanoseconds in tree["ns"].items():
            ratio = tree["ratios"].get(name, {}).get("median")
            rows.append(["%s: %s" % (tree["tree"], name), "%.2f" % (nanoseconds / 1e6), common.number(ratio, 2)])
    return "\n\n".join([common.table(["ms", "pymtml", "/plain walk"], rows), common.budget_table(document)])


def measure_trees(options):
    """The figures for a tree without and one with the driver's tables."""
    directory = tempfile.mkdtemp(prefix="pymtml-proc-")
    try:
        bare, table = os.path.join(directory, "bare"), os.path.join(directory, "table")
        build(bare)
        os.mkdir(table)
        for name in os.listdir(bare):
            os.symlink(os.path.join(bare, name), os.path.join(table, name))
        write_tables(table)
        return measure(options, (bare, table))
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    common.main("processes", __doc__, 7, measure_trees, budgets_of, report)
