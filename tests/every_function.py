"""Calls every function in ways that a process must survive: python every_function.py MODE TRACE MACHINE...

Prints one line per call that ended in anything but what NVML may answer. TRACE is a file that names the call under way,
for the case that the process dies. The modes are the functions at the end. A machine is a profile; with "header only:"
before it, of a library without what the header does not declare.
"""

import ctypes
import itertools
import json
import os
import sys
import unittest.mock

import pymtml as nvml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with open(os.path.join(ROOT, "facts", "nvml_surface.json")) as file:
    SURFACE = json.load(file)["functions"]

DEVICES = ("handle", "device", "device1", "device2", "handle1", "handle2", "migDevice")
OBJECTS = ("unit", "eventSet", "gpuInstance", "computeInstance", "gpmSample", "setHandle", "vgpuInstance", "vgpuTypeId")
# These work without a library, and say so with their own exceptions.
PURE = {"nvmlErrorString", "nvmlExceptionClass", "nvmlFriendlyObjectToStruct", "nvmlStructToFriendlyObject"}
FUNCTIONS = sorted(name for name in SURFACE if name.startswith(("nvml", "c_nvml")) and name not in PURE)
ORDINARY = {  # values by parameter name; parameters that are not listed get 0 and 1
    "pid": [os.getpid(), 0xFFFFFFF0],
    "fieldIds": [[nvml.NVML_FI_DEV_MEMORY_TEMP, (nvml.NVML_FI_DEV_POWER_INSTANT, 0), 100000]],
    "cpuSetSize": [1, 16],
    "nodeSetSize": [1, 16],
    "type": [0, 1, 2, 3, 4],
    "clockType": [0, 2],
    "id": [0, 1, 3],
    "link": [0, 13, 35, 36],
    "level": [0, 10, 30, 50],
    "p2pIndex": [0, 1, 2, 3, 4],
    "threshold": [0, 1, 4],
    "locationType": [0, 2],
    "fan": [0, 7],
    "index": [0, 9],
    "serial": ["1", "x"],
    "uuid": ["x"],
    "pciBusId": ["0000:00:00.0"],
    "hostname": ["x"],
    "timeStamp": [0],
    "mode": [1, 0],
}
JUNK = [None, -1, 99, 1 << 31, 1 << 32, 1 << 70, 1.5, "x", b"x", "", "\0", "\ud800"]  # for what is no device
JUNK += [[], {}, object(), ctypes.c_uint(7)]
NATIVE_ERRORS = tuple(set(nvml.MTMLError._valClassMapping.values()))
# What nvidia-ml-py looks at in Python, before it asks the library.
CHECKED_BEFORE_C = {"nvmlDeviceGetTemperatureV": (nvml.NVMLError_ArgumentVersionMismatch,)}
trace, machine = None, ""
problems = []


class Everything:
    """Answers every attribute with an address that nothing lives at."""

    def __getattr__(self, name):
        return 4096


class Wrapper:
    """A program's own device class, whose attribute names are those that a binding might use inside."""

    def __init__(self, value):
        self._device = self._gpu = self._memory = self._vpu = self._handle = self.handle = self._address = value
        self._system = self._library = self.value = self._name = self._uuid = self._total = value


def start():
    """Initialize unless that is so; whether the machine let us."""
    try:
        if not nvml._nvmlLib_refcount:
            nvml.nvmlInit()
    except nvml.NVMLError:
        return False
    return True


def handles():
    """Fresh handles: first and last device, and an MPC instance and its parent where there are."""
    count = nvml.nvmlDeviceGetCount()
    return [nvml.nvmlDeviceGetHandleByIndex(index) for index in sorted({0, 1, count - 1}) if 0 <= index < count]


def parameters(name):
    """Names of a function's parameters."""
    return [parameter["name"] for parameter in SURFACE[name]["params"]]


def is_device(name, parameter):
    """Whether a parameter takes a device; some functions of a GPU instance call theirs so too."""
    return parameter in DEVICES and not name.startswith("nvmlGpuInstance")


def ordinary_values(name, parameter):
    """Values that a program might pass for a parameter that is no device: the default where there is one."""
    code, defaults = getattr(nvml, name).__code__, getattr(nvml, name).__defaults__ or ()
    index = code.co_varnames.index(parameter) - (code.co_argcount - len(defaults))
    return [defaults[index]] if index >= 0 else ORDINARY.get(parameter, [0, 1])


def fill(name, device):
    """One argument list that a program might pass."""
    return [device if is_device(name, one) else ordinary_values(name, one)[0] for one in parameters(name)]


def attempt(name, arguments, allowed, must_fail=False):
    """Call a function and note what may not happen."""
    shown = "%s: %s(%s)" % (machine, name, ", ".join(repr(argument)[:60] for argument in arguments))
    os.pwrite(trace, shown.encode("utf-8", "replace").ljust(300)[:300], 0)
    try:
        result = getattr(nvml, name)(*arguments)
    except Exception as error:
        if not isinstance(error, allowed) or isinstance(error, NATIVE_ERRORS):
            problems.append("%s: %s: %s" % (shown, type(error).__name__, error))
    else:
        if must_fail:
            problems.append("%s: answered %r" % (shown, result))


def ordinary(name, device, others):
    """Argument tuples that a program might pass; devices in every position, at most 64 tuples."""
    choices = []
    for parameter in parameters(name):
        if is_device(name, parameter):
            choices.append([device] if parameter[-1] != "2" else others)
        else:
            choices.append(ordinary_values(name, parameter))
    return itertools.islice(itertools.product(*choices), 64)


def good():
    """Every function with good handles: an answer or an NVMLError."""
    if not start():
        return uninitialized()
    for name in FUNCTIONS:
        takes_device = any(is_device(name, parameter) for parameter in parameters(name))
        for position in range(len(handles()) if takes_device else 1):
            index = 0
            while start():
                devices = handles() or [None]  # fresh each time: a call may have made them stale, or fewer
                calls = list(ordinary(name, devices[min(position, len(devices) - 1)], devices))
                if index >= len(calls):
                    break
                attempt(name, calls[index], (nvml.NVMLError,))
                index += 1
    while nvml._nvmlLib_refcount:
        nvml.nvmlShutdown()
    if nvml.nvmlLib.mtmlSimGetLibraryReferences():
        problems.append("the native library still has references after the last shutdown")


def uninitialized():
    """Every function without the library: Uninitialized, with a stale handle too."""
    stale = [None]
    if start():
        stale += handles()
        while nvml._nvmlLib_refcount:
            nvml.nvmlShutdown()
    for name in FUNCTIONS:
        if name in ("nvmlInit", "nvmlInitWithFlags"):
            continue
        for handle in stale:
            for arguments in ordinary(name, handle, [handle]):
                attempt(name, arguments, (nvml.NVMLError_Uninitialized,), must_fail=True)
        for position in range(len(parameters(name))):
            for thing in JUNK:
                values = fill(name, None)
                values[position] = thing
                allowed = (nvml.NVMLError_Uninitialized, TypeError) + CHECKED_BEFORE_C.get(name, ())
                attempt(name, values, allowed, must_fail=True)


def parts(device):
    """Handles of a device's gpu, memory and, where it has one, vpu."""
    found = [nvml.mtmlDeviceInitGpu(device), nvml.mtmlDeviceInitMemory(device)]
    try:
        return found + [nvml.mtmlDeviceInitVpu(device)]
    except nvml.MTMLError_NotSupported:
        return found


def odd_handles():
    """Things that are no device handle; the last ones were handles before the library was shut down."""
    device = handles()[0]
    before = list(handles())
    children = parts(device)
    while nvml._nvmlLib_refcount:
        nvml.nvmlShutdown()
    start()
    device = handles()[0]
    return (
        [None, 0, 1, 4096, -1, 1 << 70, 1.5, True, "x", b"x", "\ud800", [], [device], (device,), {}, set(), object()]
        + [nvml.c_nvmlDevice_t, nvml, nvml.nvmlInit, Ellipsis, complex(1, 2), float("nan"), bytearray(8), range(3)]
        + [ctypes.c_void_p(4096), ctypes.c_void_p(), ctypes.c_int(1), ctypes.c_char_p(b"x"), ctypes.c_double(1)]
        + [ctypes.create_string_buffer(64), ctypes.byref(device), ctypes.byref(ctypes.c_int()), ctypes.pointer(device)]
        + [nvml.c_nvmlDevice_t(), ctypes.pointer(ctypes.c_int()), nvml.nvmlPciInfo_t(), ctypes.CFUNCTYPE(None)()]
        + [ctypes.cast(ctypes.create_string_buffer(64), nvml.c_nvmlDevice_t), (nvml.c_nvmlDevice_t * 1)(device)]
        + parts(device)
        + children
        + before
    )


def junk():
    """Every function with every junk handle: InvalidArgument, or NotSupported for what cannot exist here."""
    start()
    odd = odd_handles()
    for name in FUNCTIONS:
        names = parameters(name)
        for position, parameter in enumerate(names):
            if parameter not in DEVICES + OBJECTS:
                continue
            for thing in odd:
                start()
                device = handles()[0]
                arguments = fill(name, device)
                arguments[position] = thing
                if is_device(name, parameter):
                    attempt(name, arguments, (nvml.NVMLError_InvalidArgument,), must_fail=True)
                else:
                    attempt(name, arguments, (nvml.NVMLError, TypeError), must_fail=parameter != "vgpuTypeId")


def arguments():
    """Every function with a good handle and junk in each other place: an answer, an NVMLError or a TypeError."""
    for name in FUNCTIONS:
        names = parameters(name)
        for position, parameter in enumerate(names):
            if is_device(name, parameter):
                continue
            for thing in JUNK:
                start()
                values = fill(name, handles()[0])
                values[position] = thing
                attempt(name, values, (nvml.NVMLError, TypeError))


def pretenders():
    """Every function with objects that answer to any attribute: InvalidArgument."""
    start()
    things = [Wrapper(value) for value in (0, 4096, nvml.nvmlDeviceGetHandleByIndex(0), None, "x")]
    for thing in things + [unittest.mock.Mock(), unittest.mock.MagicMock(), Everything()]:
        for name in FUNCTIONS:
            if any(is_device(name, parameter) for parameter in parameters(name)):
                attempt(name, fill(name, thing), (nvml.NVMLError_InvalidArgument,), must_fail=True)


MODES = {mode.__name__: mode for mode in (good, uninitialized, junk, arguments, pretenders)}

if __name__ == "__main__":
    import simulated

    trace = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)
    for machine in sys.argv[3:]:
        header_only, _, profile = machine.rpartition("header only:")
        with simulated.machine(profile, **{"set": simulated.header_only_setting(profile)} if header_only else {}):
            MODES[sys.argv[1]]()
            simulated.shut_down()
    print("\n".join(problems))
