"""What the code of rows.txt, importers.txt and of some tests begins with: it runs in the Python of a program.

Its folder is not on the path there, so the text of this file is put in front of the code.
"""

import importlib
import json
import os
import re  # noqa: F401
import sys
import time
import types


def show(value):
    """Let the test have a value."""
    print("\n" + json.dumps(value), flush=True)


def pick(entries, keys):
    """Show what each entry has under these keys, which may be paths: "a/b"."""

    def of(entry, key):
        return of(entry[key.split("/")[0]], key.split("/", 1)[1]) if "/" in key else entry.get(key)

    show([[of(entry, key) for key in keys.split()] for entry in entries])


def numbered(found, *forms):
    """Show the entries whose names have the number of a GPU."""
    show([[found.get(form % i) for form in forms] for i in range(8)])


def tried(function, *arguments):
    """The result, or the name of the error."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error).__name__


def script(name, *words):
    """What a command of the program's package prints."""
    import subprocess  # which most code does without, as logging

    name = os.path.join(os.path.dirname(sys.executable), name)
    return subprocess.run([name] + list(words), stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout


# ---- Files of a program without the parent packages that want a GPU stack ----


def stand_in(name, **attributes):
    """Put a module with these attributes in place."""
    module = sys.modules[name] = types.ModuleType(name)
    vars(module).update(attributes)
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)


def bare(*names):
    """Put packages in place whose own files are not run."""
    for name in names:
        folders = [os.path.join(entry, *name.split(".")) for entry in sys.path]
        stand_in(name, __path__=[folder for folder in folders if os.path.isdir(folder)][:1])


# ---- What several rows have in common ----


def clearml(gpustat):
    """Show what clearml's and its agent's gpustat finds."""
    found = gpustat.new_query(per_process_stats=True).jsonify()["gpus"]
    assert all(len(entry) == 10 + ("enforced.power.limit" in entry) for entry in found)
    keys = "index uuid name temperature.gpu fan.speed utilization.gpu power.draw enforced.power.limit "
    pick(found, keys + "memory.used memory.total processes")


def codecarbon(work):
    """What codecarbon has tracked while a function ran, and the function's result."""
    from codecarbon import OfflineEmissionsTracker

    options = dict(country_iso_code="FRA", save_to_file=False, measure_power_secs=1, log_level="error")
    tracker = OfflineEmissionsTracker(**options)
    tracker.start()
    result = work()
    tracker.stop()
    return tracker.final_emissions_data, result


def gpustack(*words):
    """What gpustack-runtime prints."""
    os.environ.update(GPUSTACK_RUNTIME_DETECT="mthreads", GPUSTACK_RUNTIME_DETECT_NO_PCI_CHECK="1")
    return script("gpustack-runtime", *words)


def gpustack_cards():
    """The devices that gpustack-runtime detects, behind a screen's worth of control codes."""
    said = gpustack("detect", "--format", "json")
    return json.loads(said[said.index("[\n") :])


def gpustack_table(columns):
    """Some columns of its table of distances, row by row."""
    rows = [line.split("|")[columns] for line in gpustack("topology").splitlines() if line.startswith("| Device")]
    return [[cell.strip() for cell in row] for row in rows]


def megatron(said):
    """Put the parents of megatron's files in place, which note in a list what they are told to log."""
    bare("megatron", "megatron.core", "megatron.core.pipeline_parallel")
    none = dict.fromkeys(("get_pg_rank", "get_pg_size", "make_viewless_tensor"))
    stand_in("megatron.core.utils", log_single_rank=lambda *words: said.append(words), **none)


def mlflow(found, prefix=""):
    """Show mlflow's metrics of eight GPUs."""
    names = ("memory_usage_percentage", "memory_usage_megabytes", "utilization_percentage", "power_usage_watts")
    numbered(found, *[prefix + "gpu_%d_" + name for name in names + ("power_usage_percentage",)])


def htop(*words):
    """Show the table, the processes, whether there are meters, and whether it says that there are no processes."""
    said = script("python", os.path.join(os.path.dirname(sys.executable), "nvidia-htop.py"), *words)
    cards = re.findall("[|] +([0-7]) +(MTT S.000) ", said)
    processes = re.findall(r"[|] +(\d) +(\d+) +(\S+) .* sleep 600", said)
    show([cards, processes, bool(re.search("[[][|]+ *]", said)), "| No running processes found " in said])


def warnings():
    """A list of what is warned of from now on."""
    import logging

    said, handler = [], logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger().addHandler(handler)
    return said


def vllm_musa():
    """The platform class that vllm-musa's plug-in names."""
    import vllm_musa_platform

    module, _, name = vllm_musa_platform.musa_platform_plugin().rpartition(".")
    return getattr(importlib.import_module(module), name)


def platform(p, fully_connected):
    """Show what a platform class of vllm or sglang says of the cards."""
    count = int(os.environ["STANDIN_MUSA_DEVICES"])
    cards = [[p.get_device_name(i), p.get_device_uuid(i), p.get_device_total_memory(i)] for i in range(count)]
    show([cards, "%d.%d" % tuple(p.get_device_capability(0)), fully_connected(list(range(8)))])


def change_power(watts):
    """Let all cards draw so much from now on."""
    file = os.environ["MTML_SIM_CONTROL"]
    with open(file + ".new", "w") as new:
        new.write("profile = %s\n*.power_usage = %d\n" % (os.environ["MTML_SIM_PROFILE"], watts * 1000))
    os.replace(file + ".new", file)


def load(began=None):
    """Ten seconds of a load that changes every second, on all cards; the joules that each used."""
    drawn = 0
    for second in range(10):
        power = (100, 400, 90, 350, 600)[second % 5]
        change_power(power)
        since = time.monotonic()
        began = began or since
        time.sleep(max(0, began + second + 1 - time.monotonic()))
        drawn += power * (time.monotonic() - since)
    change_power(1)
    return drawn


if "MTML_SIM_CONTROL" in os.environ:
    change_power(1)
