"""On which simulated cards a function answers: facts/card_support.csv, for docs/reference. make record writes it.

A function answers on a card if some call of it succeeds: with any of the card's devices (the card, an MPC instance, a
virtual device), divided by MPC or not, and with any of the usual arguments.
"""

import contextlib
import csv
import inspect
import io
import itertools
import os
import re

import simulated

import pymtml as nvml

PATH = os.path.join(simulated.ROOT, "facts", "card_support.csv")
# Card: how it can stand in a machine: plain, divided by MPC, with virtual devices
DIVIDED = {"set": "0.mpc_mode=ENABLE"}
CARDS = {
    "S2000": [("", "s2000", {})],
    "S80": [("", "s80", {}), ("divided", "s80", DIVIDED)],
    "S3000": [("", "s3000x2", {}), ("divided", "s3000-mpc", {}), ("virtual", "s3000-vgpu-host", {})],
    "S90": [("", "s90", {})],
    "S4000": [("", "s4000x8", {}), ("divided", "s4000x8", DIVIDED)],
    "S5000": [("", "s5000x8", {}), ("divided", "s5000x8", DIVIDED)],
    "X10000": [("", "x10000x8", {}), ("divided", "x10000x8", DIVIDED)],
}
# Parameters that take a device
DEVICE = re.compile(r"(?i)^(handle|dev|\w*device|virtDev|gpu|mem|vpu|mpcInstance)[12]?$")
# What these tell comes from files of the system and the driver, whatever the card, as do processes.
SYSTEM = {"nvmlDeviceGetIrqNum", "nvmlDeviceGetPciInfoExt", "nvmlDeviceGetDisplayActive", "nvmlDeviceGetDisplayMode"}
SYSTEM |= {"nvmlDeviceGetSupportedEventTypes", "nvmlDeviceRegisterEvents"}


def functions():
    """Names of the functions that may ask a card (list)."""
    public = [
        name
        for name, value in vars(nvml).items()
        if name.startswith(("mtml", "nvml")) and inspect.isfunction(value) and "ToFriendly" not in name
    ]
    return sorted(
        name
        for name in public
        if not (getattr(nvml, name).__doc__ or "").startswith(("Not available", "Only check", "Context manager"))
        and takes_a_card(name)
        and name not in SYSTEM
        and "Process" not in name
    )


def takes_a_card(name):
    """Whether a function has a device, or what leads to one, among its parameters."""
    parameters = inspect.signature(getattr(nvml, name)).parameters
    return any(parameter in SPECIAL or DEVICE.match(parameter) for parameter in parameters)


def devices():
    """Handles of the first card, of an instance of it and of a virtual device on it, and of the other cards (list)."""
    found = [nvml.mtmlLibraryInitDeviceByIndex(index) for index in range(nvml.mtmlLibraryCountDevice())][:5]
    with contextlib.suppress(nvml.MTMLError):
        uuid = nvml.mtmlDeviceGetActiveVirtDeviceUuids(found[0])[-1]
        found.append(nvml.mtmlDeviceInitVirtDevice(found[0], uuid))
    return found


def virt_uuids():
    return [uuid for device in devices()[:1] for uuid in nvml.mtmlDeviceGetActiveVirtDeviceUuids(device)]


def gpu_instances():
    return [nvml.nvmlDeviceGetGpuInstanceById(nvml.nvmlDeviceGetHandleByIndex(0), 0)]


SPECIAL = {  # values by parameter name that need the machine
    "devices": lambda: [devices()[:1]],
    "gpuInstance": gpu_instances,
    "gpuInstancesRef": lambda: [(nvml.c_nvmlGpuInstance_t * 8)()],
    "vgpuTypeId": lambda: nvml.nvmlDeviceGetSupportedVgpus(devices()[0])[:1],
    "vgpuInstance": lambda: nvml.nvmlDeviceGetActiveVgpus(devices()[0])[:1],
}
USUAL = {  # values by parameter name; for others 0 and 1
    "configName": ["8-8", "8-44"],
    "cause": [0],
    "countRef": [nvml.c_uint()],
    "cpuSetSize": [4],
    "fieldIds": [[nvml.NVML_FI_DEV_POWER_INSTANT]],
    "length": [4],
    "locationType": [1, nvml.NVML_MEMORY_LOCATION_DRAM],
    "level": [0, 3, 4, 5, 50],
    "mpcConfigIds": [[0]],
    "nodeSetSize": [1],
    "pathCount": [1],
    "pathLength": [2],
    "type": [0, 2],
    "uuid": [],
}


def values(name, parameter):
    """What to pass for a parameter."""
    if DEVICE.match(parameter.name):
        return devices()
    if parameter.name in SPECIAL:
        return SPECIAL[parameter.name]()
    if parameter.name == "uuid":
        return virt_uuids()
    if parameter.name == "type" and "Virt" in name:
        return nvml.mtmlDeviceGetSupportedVirtTypes(devices()[0])[:1]
    if parameter.name == "c_info":
        return [nvml.nvmlPciInfoExt_v1_t(version=nvml.nvmlPciInfoExt_v1)]
    if parameter.default is not parameter.empty:
        return [parameter.default]
    return USUAL.get(parameter.name, [0, 1])


def outcome(name):
    """Whether a function answers on the machine in force: "yes", "no", or the error that is not NotSupported."""
    function, errors, refused = getattr(nvml, name), [], False
    try:
        choices = [values(name, parameter) for parameter in inspect.signature(function).parameters.values()]
    except nvml.NVMLError:
        return "no"
    for arguments in itertools.islice(itertools.product(*choices), 200):
        try:
            function(*arguments)
            return "yes"
        except (nvml.NVMLError_NotSupported, nvml.NVMLError_FunctionNotFound):
            refused = True
        except nvml.NVMLError as error:
            errors.append(type(error).__name__)
    return "no" if refused or not errors else errors[0].partition("_")[2]


def changes(name):
    """Whether a function may change the machine for those that come after it."""
    return any(word in name for word in ("Set", "Reset", "Clear"))


def outcomes(profile, options):
    """Outcomes of all functions on a machine, each that changes it on a machine of its own (dict)."""
    found, affinity = {}, os.sched_getaffinity(0)
    with simulated.nvml(profile, **options):
        found.update((name, outcome(name)) for name in functions() if not changes(name))
    for name in functions():
        if changes(name):
            with simulated.nvml(profile, **options):
                found[name] = outcome(name)
    os.sched_setaffinity(0, affinity)
    return found


def recorded():
    """The text of facts/card_support.csv: for each function and card yes, no, or the only way in which it answers."""
    before = {key: os.environ.get(key) for key in ("PYMTML_ENERGY",)}
    os.environ["PYMTML_ENERGY"] = "sample"
    try:
        seen = {card: [(way, outcomes(*machine)) for way, *machine in ways] for card, ways in CARDS.items()}
    finally:
        for key, value in before.items():
            os.environ.pop(key) if value is None else os.environ.update({key: value})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["function"] + list(CARDS))
    for name in functions():
        writer.writerow([name] + [summary([(way, all_of[name]) for way, all_of in seen[card]]) for card in CARDS])
    return text.getvalue()


def summary(ways):
    """One word for a card: how it must stand to answer, "yes" where nothing is needed for it."""
    answering = [way or "yes" for way, result in ways if result == "yes"]
    if "yes" in answering:
        return "yes"
    return "/".join(answering) or next((result for _, result in ways if result != "no"), "no")


def ways():
    """The words for how a card must stand (set)."""
    return {way for machines in CARDS.values() for way, _, _ in machines if way}
