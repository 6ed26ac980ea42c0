"""The machines that programs are shown: profiles of the simulator, read as data, and the same written anew."""

import os
import re

import profiles
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIMULATOR = os.path.join(ROOT, "simulator")
MIB = 1 << 20
MUSA_VERSION = 5020  # which the stand-in for NVML is told

# One value per GPU and key, none of which the shipped profile has: only a program that reads them can show these.
CHANGES = {
    "name": lambda i: "MTT S4000",
    "uuid": lambda i: "0badcafe-0000-4000-8000-%012x" % (i + 1),
    "serial_number": lambda i: "CHANGED%03d" % i,
    "memory_total": lambda i: 49152 * MIB,
    "memory_used": lambda i: (1234 + 777 * i) * MIB,
    "memory_utilization": lambda i: 71 + i,
    "gpu_utilization": lambda i: 91 - 3 * i,
    "gpu_temperature": lambda i: 71 + i,
    "power_usage": lambda i: 201000 + 11000 * i,
    "enforced_power_limit": lambda i: 450000 + 1000 * i,
    "gpu_clock": lambda i: 1201 + i,
    "memory_clock": lambda i: 1501 + i,
    "vpu_clock": lambda i: 901 + i,
    "encoder_utilization": lambda i: 21 + i,
    "decoder_utilization": lambda i: 41 + i,
    "ecc_uncorrected_volatile": lambda i: 5 + i,
    "musa_compute_capability": lambda i: "2.%d" % (7 + i),
}

# For tests to which it makes no difference which of the machines of the fixture they see: the one of changed numbers.
on_one_machine = pytest.mark.parametrize("machine", ["changed"], indirect=True)

# Keys of the profile, and what the stand-in calls the same values.
STANDIN_KEYS = {
    "name": "name",
    "uuid": "uuid",
    "serial_number": "serial",
    "mtbios_version": "vbios",
    "pci_sbdf": "bus_id",
    "pci_device_id": "pci_device_id",
    "pci_subsystem_id": "pci_subsystem_id",
    "memory_total": "memory_total",
    "memory_used": "memory_used",
    "gpu_utilization": "utilization_gpu",
    "memory_utilization": "utilization_memory",
    "encoder_utilization": "utilization_encoder",
    "decoder_utilization": "utilization_decoder",
    "gpu_temperature": "temperature",
    "power_usage": "power_usage",
    "gpu_clock": "clock_graphics",
    "memory_clock": "clock_memory",
    "vpu_clock": "clock_video",
    "gpu_max_clock": "clock_graphics_max",
    "memory_max_clock": "clock_memory_max",
    "vpu_max_clock": "clock_video_max",
    "mtlink_count": "field_91",  # NVML_FI_DEV_NVLINK_LINK_COUNT
    "ecc_uncorrected_volatile": "ecc_uncorrected_volatile",
}

# True of every GPU here: default compute mode, MIG (MPC) off, no display, a sampling period that nobody shows.
STANDIN_CONSTANTS = {
    "compute_mode": 0,
    "is_mig": 0,
    "mig_mode": 0,
    "display_active": 0,
    "display_mode": 0,
    "encoder_period_us": 0,
    "decoder_period_us": 0,
}


def numbers(text):
    """[0, 1, 2, 5] of "0-2,5"."""
    ranges = [part.split("-") for part in text.split(",")]
    return [number for part in ranges for number in range(int(part[0]), int(part[-1]) + 1)]


MADE = {
    "free": lambda gpu: gpu.memory_total - gpu.memory_used,
    "total_mib": lambda gpu: gpu.memory_total // MIB,
    "used_mib": lambda gpu: gpu.memory_used // MIB,
    "free_mib": lambda gpu: gpu.free // MIB,
    "used_mb": lambda gpu: gpu.memory_used / 1e6,
    "share": lambda gpu: 100 * gpu.memory_used / gpu.memory_total,
    "load": lambda gpu: gpu.gpu_utilization / 100,
    "watts": lambda gpu: gpu.power_usage / 1000,
    "whole_watts": lambda gpu: gpu.power_usage // 1000,
    "watts_if_limit": lambda gpu: gpu.limit and gpu.watts,
    "limit_watts": lambda gpu: gpu.limit and gpu.limit // 1000,
    "power_share": lambda gpu: gpu.limit and 100 * gpu.power_usage / gpu.limit,
    "cpus": lambda gpu: numbers(gpu.text("cpu_affinity")),
    "digit": lambda gpu: str(gpu.index),
    "bare_uuid": lambda gpu: gpu.text("uuid"),
    "none": lambda gpu: None,
}


class Gpu:
    """One GPU's values, as the profile writes them."""

    limit = None  # of power, in mW, where the library tells it

    def __init__(self, index, values):
        self.index = index
        self.values = values

    def text(self, key):
        return self.values[key].strip('"')

    def number(self, key):
        return int(self.values[key], 0)

    def __getattr__(self, key):
        """A number of the profile, by its key, or what programs make of numbers: an entry of MADE."""
        if key in MADE:
            return MADE[key](self)
        if key in self.values:
            return self.number(key)
        raise AttributeError(key)

    @property
    def name(self):
        return self.text("name")

    @property
    def uuid(self):
        """As the drop-in gives it, with which all programs here run."""
        return "GPU-" + self.text("uuid")

    @property
    def bus_id(self):
        return self.text("pci_sbdf").upper()

    @property
    def fan_speed(self):
        """Of the first fan in percent; None without fans."""
        speeds = self.values.get("fan_speed", "").split(",")
        return int(speeds[0]) if speeds[0] else None


class Machine:
    """A frozen machine: what the simulator is told, and what a program may be expected to show of it.

    A library may lack the functions that the header does not declare, the one that tells the power limit among them.
    """

    def __init__(self, folder, profile="s5000x8", changes=None, header_only=False):
        self.parser = profiles.read(profile)
        self.parser["machine"]["frozen"] = "yes"
        if header_only:
            self.parser["machine"]["missing"] = "beyond-header"
        self.sections = [name for name in self.parser.sections() if re.match(r"device\.\d+$", name)]
        for key, value in (changes or {}).items():
            for index, section in enumerate(self.sections):
                self.parser[section][key] = str(value(index))
        self.path = os.path.join(str(folder), "machine.ini")
        self.write()

    def write(self):
        with open(self.path, "w") as file:
            self.parser.write(file)

    @property
    def gpus(self):
        common = dict(self.parser["device"]) if self.parser.has_section("device") else {}
        devices = [dict(common, number=name.split(".")[1], **self.parser[name]) for name in self.sections]
        visible = [values for values in devices if values.get("visible") != "no"]
        told = "beyond-header" not in self.parser["machine"].get("missing", "")
        gpus = [Gpu(i, values) for i, values in enumerate(visible)]
        for gpu in gpus:
            gpu.limit = gpu.number("enforced_power_limit") if told and "enforced_power_limit" in gpu.values else None
        return gpus

    @property
    def watts(self):
        """The power of all GPUs together."""
        return sum(gpu.watts for gpu in self.gpus)

    def mean(self, key):
        return sum(gpu.number(key) for gpu in self.gpus) / len(self.gpus)

    def linked_pairs(self):
        """[[i, j]] of the visible GPUs that a link which is up joins."""
        numbers = {int(gpu.values["number"]): gpu.index for gpu in self.gpus}
        pairs = set()
        for gpu in self.gpus:
            peers = [peer.strip() for peer in gpu.values.get("mtlink_peer", "").split(",") if peer.strip()]
            states = [state.strip() for state in gpu.values.get("mtlink_state", "UP").split(",")]
            states += states[-1:] * len(peers)
            for peer, state in zip(peers, states):
                other = numbers.get(int(peer.split(".")[0])) if peer != "-" else None
                if other is not None and state != "DOWN":
                    pairs.add((min(gpu.index, other), max(gpu.index, other)))
        return [list(pair) for pair in sorted(pairs)]

    @property
    def driver(self):
        return self.parser["machine"]["driver_version"].strip('"')

    def standin_file(self, folder, processes=()):
        """Writes the machine as the stand-in for NVML reads it (path of the file)."""
        lines = ["[system]", "driver = %s" % self.driver, "cuda = %d" % MUSA_VERSION]
        for gpu in self.gpus:
            lines += ["[gpu]"] + [
                "%s = %s" % (name, gpu.uuid if key == "uuid" else gpu.text(key))
                for key, name in STANDIN_KEYS.items()
                if key in gpu.values
            ]
            lines += ["%s = %s" % pair for pair in STANDIN_CONSTANTS.items()]
            if gpu.fan_speed is not None:
                lines.append("fan_speed = %d" % gpu.fan_speed)
            if gpu.limit is not None:
                lines.append("power_limit = %d" % gpu.limit)
                lines.append("performance_state = %s" % gpu.text("performance_state"))
            pids = " ".join("%d:-" % pid for index, pid in processes if index == gpu.index)
            lines.append("compute_processes = %s" % pids)
        path = os.path.join(str(folder), "standin.ini")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        return path
