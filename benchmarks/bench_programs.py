"""Real programs on both stacks: pymtml over the simulator, nvidia-ml-py over a stand-in for NVML; ticks 50 ms apart.

A job holds each card, with 700 files and 400 threads.
"""

import importlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial

import common

REQUIREMENTS = ("nvitop==1.7.2", "nvitop-exporter==1.7.2", "gpustat==1.1.1", "codecarbon==3.3.2", "psutil")
PROFILE = "s5000x8"
# What a program does in a tick, and how much of it nvidia-ml-py's time it may take; None where there is no budget.
TICKS = {
    "nvitop, snapshots": 1.06,
    "nvitop, snapshots and processes": 3.0,
    "gpustat, query": None,
    "nvitop-exporter, scrape": None,
    "codecarbon, measure": None,
}

# Runs in the programs' own Python: "NAME" on a line of its input times a tick. It is the time on the CPU, the kernel's
# included: some programs sleep within a tick.
WORKER = """
import json, os, sys, time
import nvitop
from nvitop import Device, GpuProcess
devices = Device.all()
assert [len(device.processes()) for device in devices] == [1] * 8

def snapshots():
    return [device.as_snapshot() for device in devices]

def processes():
    snapshots()
    return GpuProcess.take_snapshots([p for device in devices for p in device.processes().values()], failsafe=True)

import gpustat

from nvitop_exporter.exporter import PrometheusExporter
from prometheus_client import CollectorRegistry, generate_latest
registry = CollectorRegistry()
exporter = PrometheusExporter(devices, hostname="bench", registry=registry, interval=60)

def scrape():
    for device in devices:
        exporter.update_device(device)
    return generate_latest(registry)

import codecarbon.core.gpu
from codecarbon.core.units import Time
cards = codecarbon.core.gpu.AllGPUDevices()

TICKS = {
    "nvitop, snapshots": snapshots,
    "nvitop, snapshots and processes": processes,
    "gpustat, query": gpustat.new_query,
    "nvitop-exporter, scrape": scrape,
    "codecarbon, measure": lambda: cards.get_delta(Time.from_seconds(1)),
}
for tick in TICKS.values():
    tick()
# Programs print as they like: what is said here goes to a file of its own.
answers = os.fdopen(int(sys.argv[1]), "w")
print("ready", file=answers, flush=True)
for line in sys.stdin:
    time.sleep(0.05)
    start = time.process_time_ns()
    TICKS[line.strip()]()
    print(json.dumps(time.process_time_ns() - start), file=answers, flush=True)
"""


# A job that holds a card, as one of training does: with many files and threads, which a monitor has to look through.
JOB = """
import os, sys, threading
threading.stack_size(1 << 16)
node, others = open(sys.argv[1]), [os.pipe() for _ in range(348)]
for _ in range(399):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("holds", flush=True)
sys.stdin.read()
"""


class Jobs:
    """A job on each card: `node` of a folder that is a card's, and `processes` as (card, pid)."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(dir="/tmp")  # MTML has 64 bytes for the path of a node
        self.running, self.processes = [], []
        for index in range(common.DEVICES):
            with open(self.node(index), "w"):
                pass
            command = [sys.executable, "-c", JOB, self.node(index)]
            job = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.running.append(job)
            self.processes.append((index, job.pid))
            if job.stdout.readline() != b"holds\n":
                raise common.BenchmarkError("a job does not start")

    def node(self, index):
        return os.path.join(self.folder, "mtgpu.%d" % index)

    def end(self):
        for job in self.running:
            job.communicate()
        shutil.rmtree(self.folder)


def machine_files(folder, processes=()):
    """The machine as the simulator reads it, and as the stand-in for NVML does (two paths)."""
    sys.path[:0] = [os.path.join(common.ROOT, "tests", "programs"), os.path.join(common.ROOT, "tests")]
    machine = importlib.import_module("machines").Machine(folder, PROFILE)
    return machine.path, machine.standin_file(folder, processes)


def programs_python():
    """A Python that has the programs, with the nvidia-ml-py that they bring."""
    folder = os.path.join(common.VENVS, "programs")
    python, stamp = os.path.join(folder, "bin", "python"), os.path.join(folder, "installed")
    wanted = " ".join(REQUIREMENTS)
    if not os.path.exists(stamp) or open(stamp).read() != wanted:
        common.run([sys.executable, "-m", "venv", folder])
        common.run([python, "-m", "pip", "install", "--quiet"] + list(REQUIREMENTS))
        with open(stamp, "w") as file:
            file.write(wanted)
    return python


class Stack:
    """A process that has all programs loaded on one of the two stacks, and runs a tick when told."""

    def __init__(self, python, **variables):
        theirs, ours = os.pipe()
        environment = {key: value for key, value in common.user_environment().items() if not key.startswith("NVML")}
        environment.update(variables)
        self.process = subprocess.Popen(
            [python, "-c", WORKER, str(ours)],
            env=environment,
            cwd=common.BUILD,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            universal_newlines=True,
            pass_fds=[ours],
        )
        os.close(ours)
        self.answers = os.fdopen(theirs)
        if self.answers.readline() != "ready\n":
            raise common.BenchmarkError("the programs do not start with %s" % variables)

    def ask(self, question):
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        return json.loads(self.answers.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.answers.close()


def stacks(options, jobs):
    """{binding: Stack}"""
    folder = os.path.join(common.BUILD, "programs")
    os.makedirs(folder, exist_ok=True)
    common.run(["make", "-s", "-C", os.path.join(common.ROOT, "simulator")])
    library = os.path.join(folder, "libnvidia-ml.so.1")
    source = os.path.join(common.ROOT, "tests", "standin", "standin.c")
    command = [os.environ.get("CC", "cc"), "-O2", "-D_DEFAULT_SOURCE", "-fPIC", "-shared", "-fvisibility=hidden"]
    common.run(command + ["-o", library, source])
    profile, machine = machine_files(folder, jobs.processes)
    (site,) = [binding.site for binding in options.bindings if binding.key == "pymtml"]
    python = programs_python()
    return {
        "pymtml": Stack(
            python,
            LD_LIBRARY_PATH=os.path.join(common.ROOT, "simulator", "build"),
            MTML_SIM_PROFILE=profile,
            MTML_SIM_SET=";".join("%d.gpu_path=%s" % (index, jobs.node(index)) for index, _ in jobs.processes),
            PYTHONPATH=os.path.join(site, "pymtml_dropin", "path"),
        ),
        "nvidia": Stack(python, LD_LIBRARY_PATH=folder, NVML_STANDIN_MACHINE=machine),
    }


def measure(options):
    jobs = Jobs()
    running = stacks(options, jobs)
    questions = {name: {key: partial(stack.ask, name) for key, stack in running.items()} for name in TICKS}
    ticks = {}
    for name, taken in common.sampled(questions, options.rounds).items():
        ticks[name] = {
            "ns": {key: statistics.median(values) for key, values in taken.items()},
            "ratio": common.ratio(taken["pymtml"], taken["nvidia"]),
        }
    processes = sum(name.isdigit() for name in os.listdir("/proc"))
    for part in list(running.values()) + [jobs]:
        part.end()
    return {"ticks": ticks, "processes": processes}


def budgets_of(figures):
    note = "%d processes on this machine" % figures["processes"]
    return [
        common.budget("%s / nvidia" % name, figures["ticks"][name]["ratio"]["median"], limit, note)
        for name, limit in TICKS.items()
        if limit
    ]


def report(document):
    figures = document["figures"]
    rows = [
        [name]
        + ["%.2f" % (row["ns"][key] / 1e6) for key in ("pymtml", "nvidia")]
        + [common.number(row["ratio"][point], 2) for point in ("median", "low", "high")]
        for name, row in figures["ticks"].items()
    ]
    table = common.table(["ms of CPU per tick of 8 devices", "pymtml", "nvidia", "/nvidia", "5 %", "95 %"], rows)
    return "\n\n".join([table, common.budget_table(document)])


if __name__ == "__main__":
    common.main("programs", __doc__, 21, measure, budgets_of, report, pinned=False)
