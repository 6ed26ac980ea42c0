"""Fixtures of the acceptance suite, and what its tests came to, of which docs/programs.md is made."""

import contextlib
import json
import os
import signal
import subprocess
import sys

import pytest
import simulated
import wheels
import write_table
from machines import CHANGES, ROOT, SIMULATOR, Machine
from mtml_simulator import driver_files

STANDIN = os.path.join(ROOT, "tests", "standin")
OURS = ("PYTHON", "LD_", "MTML_", "PYMTML_", "NVML_", "CUDA_", "MUSA_", "RAY_", "GPUSTACK_", "COLUMNS", "LINES")


def pytest_collection_modifyitems(config, items):
    if not config.pluginmanager.hasplugin("timeout"):
        return
    for item in items:
        # The first test of a program waits for its installation.
        if item.get_closest_marker("programs"):
            item.add_marker(pytest.mark.timeout(3600))


@pytest.fixture(scope="session")
def simulator():
    """The folder of the simulator's libraries, built."""
    subprocess.run(["make", "--silent", "-C", SIMULATOR], check=True)
    return os.path.join(SIMULATOR, "build")


@pytest.fixture(scope="session")
def standin(tmp_path_factory):
    """The folder of the stand-in for libnvidia-ml.so.1, built."""
    folder = str(tmp_path_factory.mktemp("standin"))
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-fPIC", "-shared"]
        + ["-fvisibility=hidden", "-o", os.path.join(folder, "libnvidia-ml.so.1"), os.path.join(STANDIN, "standin.c")],
        check=True,
    )
    return folder


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A folder that holds what the wheel installs, and nothing else of this repository."""

    def make(folder):
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--target", folder]
        subprocess.run(install + [wheels.ours(tmp_path_factory)], check=True)

    return wheels.once(tmp_path_factory, "site", make)


@pytest.fixture(params=["as shipped", "changed", "header only"])
def machine(request, tmp_path):
    """Eight MTT S5000 as shipped, then the same machine with every number changed, then without a power limit.

    A program that shows the first two got its numbers from the simulator.
    """
    changes = CHANGES if request.param == "changed" else None
    return Machine(tmp_path, changes=changes, header_only=request.param == "header only")


class Runner:
    """Runs programs with pynvml resolved to pymtml, the simulator underneath, and a home of their own."""

    def __init__(self, simulator, standin, site, folder):
        self.simulator, self.standin, self.site, self.folder = simulator, standin, site, str(folder)
        # A tree of its own, so that processes of the machine that runs the suite do not show up, but for this one:
        # where none is shown, the question is refused.
        self.proc = os.path.join(self.folder, "proc")
        os.mkdir(self.proc)
        for name in ("self", str(os.getpid())):
            os.symlink("/proc/" + name, os.path.join(self.proc, name))
        self.extra = {"PYMTML_PROC_ROOT": self.proc}

    def _environment(self, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        kept.update(HOME=self.folder, TMPDIR=self.folder, LC_ALL="C.UTF-8", DO_NOT_TRACK="1", TERM="dumb")
        kept.update(variables)
        kept.update(self.extra)
        return kept

    def on_pymtml(self, machine, program=None):
        """The environment of a user who has PYTHONPATH=$(pymtml drop-in path), and a package that is not installed."""
        folders = [os.path.join(self.site, "pymtml_dropin", "path")] + list(program.folders if program else ())
        return self._environment(
            LD_LIBRARY_PATH=self.simulator, PYTHONPATH=os.pathsep.join(folders), MTML_SIM_PROFILE=machine.path
        )

    def add_nvidia_smi(self, environment, python=sys.executable):
        """Lets programs of the environment find ours as nvidia-smi, as `pymtml run --nvidia-smi` does."""
        folders = [os.path.join(self.site, "pymtml_dropin", "bin"), os.path.dirname(python), environment["PATH"]]
        environment.update(PATH=os.pathsep.join(folders), PYMTML_PYTHON=python)

    def on_nvml(self, machine_file):
        """The environment of a user with nvidia-ml-py, over the stand-in library."""
        return self._environment(LD_LIBRARY_PATH=self.standin, NVML_STANDIN_MACHINE=machine_file)

    def run(self, command, environment, timeout=180, status=0):
        """What the command prints to stdout, or to stderr where it is to fail with a status of its own."""
        done = simulated.run(command, env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, timeout=timeout)
        words = str(command)[-3000:]  # the end of the code, not what all code begins with
        said = "%s: exit status %d\n%s\n%s" % (words, done.returncode, done.stdout, done.stderr)
        assert done.returncode == status, said
        return done.stderr if status else done.stdout

    @contextlib.contextmanager
    def serve(self, command, environment):
        """Runs a server, and all that it starts, as long as the block lasts; pytest shows its output on failure."""
        log = os.path.join(self.folder, os.path.basename(command[0]) + ".log")
        with open(log, "w") as output:
            server = subprocess.Popen(
                command,
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                yield
            finally:
                server.terminate()
                try:
                    server.wait(30)
                except subprocess.TimeoutExpired:
                    os.killpg(server.pid, signal.SIGKILL)
                    server.wait()
                with open(log) as said:
                    print(said.read())

    def evaluate(self, program, code, environment, timeout=180):
        """What the Python code prints as JSON on its last line, run by the program's own Python."""
        return json.loads(self.run([program.python, "-c", code], environment, timeout).splitlines()[-1])


@pytest.fixture
def runner(simulator, standin, site, tmp_path):
    return Runner(simulator, standin, site, tmp_path)


@pytest.fixture
def servers(tmp_path):
    """A Runner for what is no program of Python: it needs nothing that is built or installed."""
    return Runner(None, None, None, tmp_path)


@pytest.fixture
def child():
    """The pid of a living process, which programs can look up on this system."""
    process = subprocess.Popen(["sleep", "600"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture
def open_files(runner, machine, child):
    """Lets the child show up as a process that has the files of some GPUs open."""

    def on(indices):
        folder = os.path.join(runner.proc, str(child))
        os.makedirs(os.path.join(folder, "fd"))
        for name in ("comm", "cmdline", "status", "stat"):
            os.symlink("/proc/%d/%s" % (child, name), os.path.join(folder, name))
        for index in indices:
            os.symlink(machine.gpus[index].text("gpu_path"), os.path.join(folder, "fd", str(3 + index)))
        return child

    return on


@pytest.fixture
def processes(runner, machine, child, open_files):
    """The same, with its share of each of these GPUs in percent in the driver's tables.

    And with its memory in MiB, if the driver, whose nodes are then preloaded, is to tell it.
    """

    def on(percent, memory=None):
        for gpu in machine.gpus:
            share = percent.get(gpu.index)
            rows = [driver_files.process_row(child, child, (share, 0, 0, 0, share, 0), "sleep")] if share else []
            driver_files.write_table(runner.proc, gpu.index, *rows, node=os.path.basename(gpu.text("gpu_path")))
        for index, mebibytes in (memory or {}).items():
            node = os.path.basename(machine.gpus[index].text("gpu_path"))
            with open(os.path.join(runner.folder, node), "w") as file:
                file.write("process = %d lma=%d\n" % (child, mebibytes << 20))
            runner.extra.update(MTML_SIM_NODES=runner.folder, LD_PRELOAD=simulated.NODES_LIBRARY)
        return open_files(percent)

    return on


# ---- the record of a run ----

_programs = {}


def pytest_addoption(parser):
    parser.addoption("--record", action="store_true", help="write docs/programs.md: all programs have run")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    case = getattr(item, "callspec", None) and item.callspec.params.get("case")
    if case:  # a row of a table
        program, shown = case["program"], case["shows"]
    else:
        program = getattr(item.module, "PROGRAM", None) or getattr(item.module, "PROGRAMS", {}).get(item.originalname)
        shown = (item.function.__doc__ or "").strip().partition("\n")[0]
    if program and (call.when == "call" or report.outcome != "passed"):
        told = {"version": program.version, "missing": program.missing, "how": program.how, "tests": {}}
        entry = _programs.setdefault(program.package, told)
        entry["tests"][item.name] = {"outcome": report.outcome, "shows": shown}


def pytest_sessionfinish(session):
    if session.config.getoption("record", False):
        write_table.write(_programs)
