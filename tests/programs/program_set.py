"""The programs that the acceptance suite runs: programs.csv has their versions, and what each cannot show, and why."""

import csv
import os
import re
import shutil
import subprocess
import sys

import pytest

try:
    from importlib.metadata import PackageNotFoundError, version
except ImportError:  # Python 3.7
    from importlib_metadata import PackageNotFoundError, version

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("PYMTML_PROGRAMS_CACHE") or os.path.join(HERE, "build")


class Listed:
    """A row of programs.csv. One without a kind cannot be installed here: its calls are written anew."""

    folders = ()  # of its package, for PYTHONPATH, where it is not installed in its Python
    python = sys.executable

    def __init__(self, package, pin="pattern", how="imitation", kind="", also="", missing=""):
        self.package = package  # its name in docs/programs.md, where the suite has two versions of it
        self.pin = self.version = pin
        self.how, self.kind, self.also, self.missing = how, kind, also.split(), missing


class Program(Listed):
    """A package at a pinned version, and the Python that has it installed, beside `also`.

    If the interpreter that runs the suite has just this version, it is used as it is; otherwise the program gets a
    virtual environment of its own, which is kept between runs.
    """

    oldest_python = (3, 10)

    @property
    def python(self):
        if sys.version_info < self.oldest_python:
            pytest.skip("%s %s needs Python %d.%d" % ((self.package, self.pin) + self.oldest_python))
        distribution = self.package.partition(" ")[0]
        try:
            if version(distribution) == self.pin:
                return sys.executable
        except PackageNotFoundError:
            pass
        home = os.path.join(CACHE, self.package)
        python = os.path.join(home, "bin", "python")
        stamp = os.path.join(home, "installed.txt")
        requirements = ["%s==%s" % (distribution, self.pin)] + self.also
        wanted = "\n".join(requirements + [sys.version])
        if not os.path.exists(stamp) or open(stamp).read() != wanted:
            subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet"] + requirements, check=True)
            with open(stamp, "w") as file:
                file.write(wanted)
        return python

    def script(self, name):
        """The path of a command that the package installs."""
        return os.path.join(os.path.dirname(self.python), name)


class Fetched(Listed):
    """A package at a pinned version in a folder of its own, which is kept between runs."""

    @property
    def folder(self):
        home = os.path.join(CACHE, "%s-%s" % (self.package, self.pin))
        if not os.path.exists(home):
            shutil.rmtree(home + ".part", ignore_errors=True)
            os.makedirs(home + ".part")
            self.fetch(home + ".part")
            os.rename(home + ".part", home)
        return home

    @property
    def folders(self):
        return [self.folder]


class PackageAlone(Fetched):
    """A package without what it requires (a GPU stack), beside the Python of another program; `also`: pip's options."""

    @property
    def python(self):
        return PROGRAMS[self.kind.partition(" ")[2]].python

    def fetch(self, folder):
        command = [self.python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder] + self.also
        subprocess.run(command + ["%s==%s" % (self.package, self.pin)], check=True)


class NodePackage(Fetched):
    """A package of the npm registry: node_modules in its folder."""

    def fetch(self, folder):
        if not shutil.which("npm"):
            pytest.skip("there is no npm on this machine")
        command = ["npm", "install", "--silent", "--no-audit", "--prefix", folder]
        subprocess.run(command + ["%s@%s" % (self.package, self.pin)], check=True)


class DebianPackage(Fetched):
    """A package of Debian, unpacked but not installed."""

    def fetch(self, folder):
        if not shutil.which("dpkg"):
            pytest.skip("this is no Debian")
        subprocess.run(["apt-get", "download", "-qq", self.package], cwd=folder, check=True)
        (file,) = os.listdir(folder)
        subprocess.run(["dpkg", "-x", file, "."], cwd=folder, check=True)


class Server(Listed):
    """A server of the system, which the suite finds on the path, under its name or those in `also`."""

    def find(self, *names):
        """The path of its program, or of another of its package. The test fails where it is missing."""
        names = names or [self.package] + self.also
        for name in names:
            if shutil.which(name):
                return shutil.which(name)
        return pytest.fail("%s is missing: apt-get install %s (Debian)" % (names[0], self.package))

    @property
    def version(self):
        """The version that runs, as far as the pinned one goes: "2.42" of 2.42.0; "none" where it is not installed."""
        if not shutil.which(self.package):
            return "none"
        said = subprocess.run([self.package, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
        return ".".join(re.search(r"\d+(\.\d+)+", said.stdout.decode()).group().split(".")[: self.pin.count(".") + 1])

    @version.setter
    def version(self, pin):
        pass


KINDS = {"venv": Program, "beside": PackageAlone, "npm": NodePackage, "Debian": DebianPackage, "server": Server}
with open(os.path.join(HERE, "programs.csv"), encoding="utf-8", newline="") as file:
    PROGRAMS = {row["package"]: KINDS.get(row["kind"].partition(" ")[0], Listed)(**row) for row in csv.DictReader(file)}
ALL = [program for program in PROGRAMS.values() if program.how]  # what docs/programs.md has a row for

GPUSTAT, NVITOP, EXPORTER = PROGRAMS["gpustat"], PROGRAMS["nvitop"], PROGRAMS["nvitop-exporter"]
GPUSTAT.oldest_python, NVITOP.oldest_python, EXPORTER.oldest_python = (3, 7), (3, 8), (3, 8)
TORCH, TORCHADA, RAY = PROGRAMS["torch"], PROGRAMS["torchada"], PROGRAMS["ray"]
VLLM, VLLM_MUSA, SGLANG = PROGRAMS["vllm"], PROGRAMS["vllm-musa"], PROGRAMS["sglang"]
SEMANTIC_CONVENTIONS = PROGRAMS["opentelemetry-semantic-conventions"]
PROMETHEUS, ALERTMANAGER = PROGRAMS["prometheus"], PROGRAMS["prometheus-alertmanager"]
