"""The real functions by which frameworks ask about GPUs, of their packages as the index has them, by `pymtml run`."""

import json
import os

import pytest
from machines import MIB, Machine
from musa_stack import BARE
from program_set import (
    ACCELERATE,
    AUTOCUDA,
    CODECARBON,
    DEEPSPEED,
    DLROVER,
    FLASHINFER,
    LIGHTNING,
    MEGATRON,
    NVRX,
    PYJOULES,
    TORCH,
    TRACKIO,
    ULTRALYTICS,
    XINFERENCE,
    ZEUS,
)

pytestmark = pytest.mark.programs

PROGRAMS = {
    "test_accelerate": ACCELERATE,
    "test_autocuda": AUTOCUDA,
    "test_deepspeed": DEEPSPEED,
    "test_dlrover": DLROVER,
    "test_flashinfer": FLASHINFER,
    "test_lightning": LIGHTNING,
    "test_megatron_affinity": MEGATRON,
    "test_megatron_energy": MEGATRON,
    "test_nvrx": NVRX,
    "test_ultralytics": ULTRALYTICS,
    "test_xinference": XINFERENCE,
    "test_pyjoules": PYJOULES,
    "test_trackio": TRACKIO,
    "test_zeus": ZEUS,
    "test_codecarbon": CODECARBON,
}
ALONE = "Its files run unmodified on the CPU build of torch, with parent packages that want more left empty. "
COUNTER = "The energy counter is pymtml's own sum: it wants PYMTML_ENERGY=sample."
MISSING = {
    "accelerate": ALONE + "It asks torch.cuda.is_available() first: the test says yes for it.",
    "autocuda": "Runs the command nvidia-smi: `pymtml run --nvidia-smi` gives it ours. It asks "
    "torch.cuda.is_available() first, and chooses among torch.cuda.device_count() cards: the test answers for torch.",
    "deepspeed": ALONE + "Without pynvml it would ask torch.cuda for the memory.",
    "dlrover": ALONE,
    "flashinfer-python": ALONE + "It reckons with twice the memory clock, which is an eighth of the data rate here: "
    "400 GB/s where MTML says 1600.",
    "lightning": ALONE + "Runs the command nvidia-smi: `pymtml run --nvidia-smi` gives it ours. What a card does not "
    "tell is 0 there.",
    "megatron-core": ALONE + "cuda-python is a stand-in in the test. " + COUNTER,
    "nvidia-resiliency-ext": ALONE + "Its health check wants driver 570 or newer by NVIDIA's count and turns itself "
    "off: the driver's version here is 5.",
    "xinference": ALONE + "Its `_has_cuda_device` counts by pynvml, so under the drop-in it says yes; it only lets "
    "engines be offered, which choose the platform themselves. The memory of a process: MTML does not tell it.",
    "pyJoules": COUNTER,
    "trackio": ALONE + COUNTER,
    "ultralytics": ALONE + "It is asked only where torch.cuda is available.",
    "zeus": "zeus takes every GPU of an unknown architecture for one with an energy counter, which MTML has not: with "
    "PYMTML_ENERGY=sample pymtml adds the power up for it; without, "
    "`zeus.device.gpu.nvidia.NVIDIAGPU.supports_get_total_energy_consumption = lambda gpu: False` before a "
    "`ZeusMonitor` is made lets zeus do so. Memory power and, with MTML 2.2.0, the power limit are refused.",
    "codecarbon": "codecarbon looks for a command nvidia-smi before it uses pynvml: `pymtml run --nvidia-smi` gives it "
    "ours. " + COUNTER,
}


def ask(runner, program, machine, code, options=(), python=TORCH, **variables):
    """What the code prints as JSON, by `pymtml run` of the program's Python."""
    environment = dict(runner.on_pymtml(machine), **variables)
    folders = [runner.site] + ([program.folder] if program is not python else [])
    environment["PYTHONPATH"] = os.pathsep.join(folders)
    command = [python.python, "-m", "pymtml", "run"] + list(options) + ["-c", BARE + code]
    return json.loads(runner.run(command, environment).splitlines()[-1])


def first_cpus(machine, text):
    machine.parser[machine.sections[0]]["cpu_affinity"] = text
    machine.write()


def test_accelerate(runner, tmp_path):
    """`override_numa_affinity`: the CPUs next to the card, also where nvidia-ml-py is not installed."""
    machine = Machine(tmp_path)
    first_cpus(machine, "0")
    code = """
import torch
torch.cuda.is_available = lambda: True
from accelerate.utils.environment import override_numa_affinity
override_numa_affinity(0)
print(json.dumps(sorted(os.sched_getaffinity(0))))
"""
    assert ask(runner, ACCELERATE, machine, code) == [0]


def busy_but(machine, idle):
    """Give all cards but one more memory in use and a load."""
    for gpu in machine.gpus:
        section = machine.parser[machine.sections[gpu.index]]
        section["memory_used"] = str((1 if gpu.index == idle else 40) * 1024 * MIB)
        section["gpu_utilization"] = "0" if gpu.index == idle else "87"
    machine.write()


def test_autocuda(runner, tmp_path):
    """`auto_cuda_info`: the card with most memory free, with the command's figures."""
    machine = Machine(tmp_path)
    busy_but(machine, 5)
    code = """
import torch
torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: 8
import autocuda
print(json.dumps([autocuda.auto_cuda(), autocuda.auto_cuda_info()]))
"""
    device, info = ask(runner, AUTOCUDA, machine, code, ["--nvidia-smi"])
    gpu = machine.gpus[5]
    assert (device, info["index"], info["gpu_name"]) == ("cuda:5", "5", gpu.name)
    assert info["memory.total"] == gpu.number("memory_total") // MIB


def test_deepspeed(runner, machine):
    """`CUDA_Accelerator.available_memory`, card by card."""
    code = """
bare("deepspeed")
from deepspeed.accelerator.cuda_accelerator import CUDA_Accelerator
accelerator = CUDA_Accelerator()
print(json.dumps([accelerator.available_memory(index) for index in range(8)]))
"""
    free = [gpu.number("memory_total") - gpu.number("memory_used") for gpu in machine.gpus]
    assert ask(runner, DEEPSPEED, machine, code) == free


def test_dlrover(runner, machine):
    """`get_gpu_stats`: memory and utilization of eight GPUs."""
    code = """
bare("dlrover", "dlrover.python", "dlrover.python.elastic_agent", "dlrover.python.elastic_agent.monitor")
from dlrover.python.elastic_agent.monitor.resource import get_gpu_stats
print(json.dumps([[g.index, g.total_memory_mb, g.used_memory_mb, g.gpu_utilization] for g in get_gpu_stats()]))
"""
    numbers = ("memory_total", "memory_used", "gpu_utilization")
    values = [[gpu.number(name) for name in numbers] for gpu in machine.gpus]
    expected = [[i, total / MIB, used / MIB, share] for i, (total, used, share) in enumerate(values)]
    assert ask(runner, DLROVER, machine, code) == expected


def test_flashinfer(runner, machine):
    """`get_gpu_memory_bandwidth`: twice MTML's memory clock times the bus width."""
    code = """
bare("flashinfer", "flashinfer.jit")
stand_in("flashinfer.jit.spdlog", gen_spdlog_module=None)
from flashinfer.utils import get_gpu_memory_bandwidth
print(json.dumps([get_gpu_memory_bandwidth("cuda:%d" % index) for index in range(8)]))
"""
    clocks = [gpu.number("memory_clock") for gpu in machine.gpus]
    assert ask(runner, FLASHINFER, machine, code) == [2 * clock * 640 / 8 / 1000 for clock in clocks]


def test_lightning(runner, machine):
    """`get_nvidia_gpu_stats`: utilization, memory and temperature of a GPU."""
    code = """
import torch
torch.cuda.device_count = lambda: 8
bare("lightning", "lightning.pytorch", "lightning.pytorch.accelerators", "lightning.pytorch.utilities")
bare("lightning.fabric", "lightning.fabric.accelerators", "lightning.fabric.utilities")
from lightning.pytorch.accelerators import cuda
cuda.num_cuda_devices = lambda: 8
print(json.dumps([cuda.get_nvidia_gpu_stats(torch.device("cuda", index)) for index in range(8)]))
"""
    for gpu, shown in zip(machine.gpus, ask(runner, LIGHTNING, machine, code, ["--nvidia-smi"])):
        assert shown["utilization.gpu (%)"] == gpu.number("gpu_utilization")
        assert shown["memory.used (MB)"] == pytest.approx(gpu.number("memory_used") / MIB, abs=1)
        assert shown["temperature.gpu (\N{DEGREE SIGN}C)"] == gpu.number("gpu_temperature")


MEGATRON_PARENTS = """
import torch
bare("megatron", "megatron.core", "megatron.core.pipeline_parallel")
said = []
stand_in("megatron.core.utils", get_pg_rank=None, get_pg_size=None, make_viewless_tensor=None,
         log_single_rank=lambda *words: said.append(words))
"""


def test_megatron_affinity(runner, tmp_path):
    """`set_ideal_affinity_for_current_gpu`, which its pipelines call: bound to the CPUs next to the card."""
    machine = Machine(tmp_path)
    first_cpus(machine, "0")
    code = MEGATRON_PARENTS + """
import types, uuid, pymtml
pymtml.nvmlInit()
card = uuid.UUID(pymtml.nvmlDeviceGetUUID(pymtml.nvmlDeviceGetHandleByIndex(0)).split("GPU-")[-1])
bare("cuda", "cuda.bindings")
stand_in("cuda.bindings.runtime", cudaGetDevice=lambda: (0, 0), cudaError_t=types.SimpleNamespace(cudaSuccess=0))
stand_in("cuda.bindings.driver", cuDeviceGetUuid=lambda device: (0, card),
         CUresult=types.SimpleNamespace(CUDA_SUCCESS=0))
from megatron.core.pipeline_parallel.utils import set_ideal_affinity_for_current_gpu
set_ideal_affinity_for_current_gpu()
print(json.dumps([sorted(os.sched_getaffinity(0)), len(said)]))
"""
    assert ask(runner, MEGATRON, machine, code) == [[0], 1]


def test_nvrx(runner, machine):
    """`get_gpu_pci_mapping`: the PCI address of each GPU; the health check itself is off."""
    code = """
bare("nvidia_resiliency_ext", "nvidia_resiliency_ext.shared_utils")
from nvidia_resiliency_ext.shared_utils.health_check import GPUHealthCheck
check = GPUHealthCheck()
print(json.dumps([check.enabled, check.get_gpu_pci_mapping()]))
"""
    enabled, addresses = ask(runner, NVRX, machine, code)
    assert enabled is False
    assert [address.upper() for address in addresses.values()] == [gpu.bus_id[4:] for gpu in machine.gpus]


def test_ultralytics(runner, tmp_path):
    """`GPUInfo`: figures of eight cards, and the idle one, which trainers take for `device=-1`."""
    machine = Machine(tmp_path)
    busy_but(machine, 6)
    code = """
import logging
bare("ultralytics", "ultralytics.utils")
sys.modules["ultralytics.utils"].LOGGER = logging.getLogger()
from ultralytics.utils.autodevice import GPUInfo
info = GPUInfo()
print(json.dumps([info.select_idle_gpu(min_memory_fraction=0.2, min_util_fraction=0.2), info.gpu_stats]))
"""
    chosen, cards = ask(runner, ULTRALYTICS, machine, code)
    assert chosen == [6] and len(cards) == 8
    for gpu, found in zip(machine.gpus, cards):
        assert (found["index"], found["name"], found["utilization"]) == (gpu.index, gpu.name, (87, 0)[gpu.index == 6])
        assert found["memory_total"] == gpu.number("memory_total") // MIB
        assert found["memory_used"] == gpu.number("memory_used") // MIB
        assert found["temperature"] == gpu.number("gpu_temperature")
        assert found["power_draw"] == gpu.number("power_usage") // 1000
        assert found["power_limit"] == gpu.number("enforced_power_limit") // 1000


def test_xinference(runner, machine, processes):
    """`_gpu_memory_snapshot`: total and free memory of eight GPUs, and a process."""
    pid = processes({1: 17})
    code = """
bare("xinference", "xinference.model", "xinference.model.llm")
from xinference.model.llm import weight_cache
print(json.dumps(weight_cache._gpu_memory_snapshot()))
"""
    shown = ask(runner, XINFERENCE, machine, code)
    numbers = [(gpu.number("memory_total"), gpu.number("memory_used")) for gpu in machine.gpus]
    assert [values[:2] for values in shown.values()] == [[total, total - used] for total, used in numbers]
    assert [values[2] for values in shown.values()] == [{}, {str(pid): None}] + [{}] * 6


# ---- Energy ----

# Ten seconds of a load that changes every second, on all cards; joules that each of them used.
LOAD = """
import time

def load(began=None):
    drawn = 0
    for second in range(10):
        power = (100, 400, 90, 350, 600)[second % 5]
        change(power)
        since = time.monotonic()
        began = began or since
        time.sleep(max(0, began + second + 1 - time.monotonic()))
        drawn += power * (time.monotonic() - since)
    change(1)
    return drawn

def change(watts):
    file = os.environ["MTML_SIM_CONTROL"]
    with open(file + ".new", "w") as new:
        new.write("profile = %s\\n*.power_usage = %d\\n" % (os.environ["MTML_SIM_PROFILE"], watts * 1000))
    os.replace(file + ".new", file)

change(1)
"""


@pytest.fixture
def measure(runner, tmp_path):
    """What a program says that a GPU used, as a part of what it did use."""

    def by(program, code, python=TORCH, options=()):
        shown, drawn = ask(
            runner,
            program,
            Machine(tmp_path),
            LOAD + code,
            options,
            python,
            PYMTML_ENERGY="sample",
            MTML_SIM_CONTROL=str(tmp_path / "control"),
        )
        return shown / drawn

    return by


def test_megatron_energy(measure):
    """`EnergyMonitor`: joules of a lap at a load that changes every second, within 2 %."""
    code = MEGATRON_PARENTS + """
from megatron.core.energy_monitor import EnergyMonitor
torch.cuda.current_device = lambda: 0
tensor, torch.distributed.all_reduce = torch.tensor, lambda *_, **__: None
torch.tensor = lambda values, dtype, device: tensor(values, dtype=dtype)
monitor = EnergyMonitor()
monitor.setup()
monitor.resume()
drawn = load()
print(json.dumps([monitor.lap(), drawn]))
monitor.shutdown()
"""
    assert measure(MEGATRON, code) == pytest.approx(1, abs=0.02)


def test_pyjoules(measure):
    """`NvidiaGPUDevice`: millijoules at a load that changes every second, within 2 %."""
    code = """
from pyJoules.device.nvidia_device import NvidiaGPUDevice, NvidiaGPUDomain
device = NvidiaGPUDevice()
device.available_domains()
device.configure([NvidiaGPUDomain(2)])
before = device.get_energy()[0]
drawn = load()
print(json.dumps([(device.get_energy()[0] - before) / 1000, drawn]))
"""
    assert measure(PYJOULES, code) == pytest.approx(1, abs=0.02)


def test_trackio(measure):
    """`collect_gpu_metrics`: the energy of a run at a load that changes every second, within 2 %."""
    code = """
bare("trackio")
from trackio import gpu
gpu.reset_energy_baseline()
gpu.collect_gpu_metrics(all_gpus=True)
drawn = load()
print(json.dumps([gpu.collect_gpu_metrics(all_gpus=True)["gpu/3/energy_consumed"], drawn]))
"""
    assert measure(TRACKIO, code) == pytest.approx(1, abs=0.02)


def test_zeus(measure):
    """`ZeusMonitor`, unchanged: joules of a window at a load that changes every second, within 2 %."""
    code = """
from zeus.monitor import ZeusMonitor
monitor = ZeusMonitor(cpu_indices=[])
monitor.begin_window("work", sync_execution=False)
drawn = load()
work = monitor.end_window("work", sync_execution=False)
print(json.dumps([work.gpu_energy[0], drawn]))
"""
    assert measure(ZEUS, code, ZEUS) == pytest.approx(1, abs=0.02)


def test_codecarbon(measure):
    """`OfflineEmissionsTracker` with a counter: the kilowatt-hours of eight GPUs at such a load, within 2 %."""
    code = """
from codecarbon import OfflineEmissionsTracker
tracker = OfflineEmissionsTracker(country_iso_code="FRA", measure_power_secs=1, save_to_file=False, log_level="error")
tracker.start()
drawn = load()
tracker.stop()
print(json.dumps([tracker.final_emissions_data.gpu_energy * 3600000 / 8, drawn]))
"""
    assert measure(CODECARBON, code, CODECARBON, ["--nvidia-smi"]) == pytest.approx(1, abs=0.02)
