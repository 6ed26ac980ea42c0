"""One native call of a query fails: which native calls each function makes, and what it comes to when one fails.

A scene is a machine and the arguments of a call that is answered there. The simulator counts the native calls, fails
the one that is named and answers all others. faults.csv is the table of what does not come out as the error that
stands for the code: "the rest of it" is a list without the parts that failed, an error "of its own" comes from a check
of pymtml and has no mtml_code, and what lasts "until nvmlInit" is not queried again before. docs/reliability.md shows
which error stands for which code.
"""

import collections
import csv
import ctypes
import fnmatch
import functools
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.dirname(os.path.dirname(HERE))]

import every_function  # noqa: E402
import native_calls  # noqa: E402
import simulated  # noqa: E402
from mtml_simulator import driver_files  # noqa: E402

import pymtml  # noqa: E402

TABLE = os.path.join(HERE, "faults.csv")
STRAIGHT = {  # what the failure of a call is raised as, with the number in NVIDIA's header
    "DRIVER_NOT_LOADED": ("NVMLError_DriverNotLoaded", 9),
    "DRIVER_FAILURE": ("NVMLError_Unknown", 999),
    "INVALID_ARGUMENT": ("NVMLError_InvalidArgument", 2),
    "NOT_SUPPORTED": ("NVMLError_NotSupported", 3),
    "NO_PERMISSION": ("NVMLError_NoPermission", 4),
    "INSUFFICIENT_SIZE": ("NVMLError_InsufficientSize", 7),
    "NOT_FOUND": ("NVMLError_NotFound", 6),
    "INSUFFICIENT_MEMORY": ("NVMLError_Memory", 20),
    "DRIVER_TOO_OLD": ("NVMLError_LibRmVersionMismatch", 18),
    "DRIVER_TOO_NEW": ("NVMLError_LibRmVersionMismatch", 18),
    "TIMEOUT": ("NVMLError_Timeout", 10),
    "RESOURCE_IS_BUSY": ("NVMLError_InUse", 19),
    "UNKNOWN": ("NVMLError_Unknown", 999),
    "4242": ("NVMLError_Unknown", 999),  # of a library newer than the header
}
CODES = {name: int(name) if name.isdigit() else native_calls.CODES["MTML_ERROR_" + name] for name in STRAIGHT}
NVML_VALUES = dict(STRAIGHT.values())
NATIVE = [name for name in list(pymtml._PROTOTYPES) + list(pymtml._OPTIONAL_PROTOTYPES) if name != "mtmlErrorString"]
MAKERS = ("mtmlLibraryInitSystem", "mtmlDeviceInitGpu", "mtmlDeviceInitMemory", "mtmlDeviceInitVpu")
CLOCKED = ("timestamp", "timeStamp", "latencyUsec")  # never the same twice
# After these the machine is another one.
CHANGES = native_calls.CHANGES + (
    "mtmlMemorySetEccMode",
    "mtmlMemoryClearEccErrorCounts",
    "nvmlDeviceSetEccMode",
    "nvmlDeviceClearEccErrorCounts",
    "nvmlDeviceSetMigMode",
)
# NVML documents no Timeout for these, and gpustat ends with all but Unknown and GpuIsLost.
IDENTITY = ("nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetIndex")
IDENTITY += tuple("nvmlDeviceGetHandleBy" + what for what in ("Index", "PciBusId", "UUID", "Uuid", "UUIDV"))
LIFECYCLE = ("mtmlLibraryInit", "mtmlLibraryShutDown", "nvmlInit", "nvmlInitWithFlags", "nvmlShutdown")

# ---- Scenes ----

SET = {  # what the profile leaves out
    "s5000x8": "0.retired_pages_sbe=4096@11;0.retired_pages_dbe=8192@12;"
    "0.encoder_sessions=id=0 pid=17 fps=30 codec=AVC state=ACTIVE, id=5 pid=19 fps=60 codec=HEVC state=ACTIVE;"
    "0.decoder_sessions=id=3 pid=19 codec=AVC state=ACTIVE, id=4 pid=17 codec=AVC state=ACTIVE"
}
FILES = {  # of the first card
    "sys/bus/pci/devices/0000:2a:00.0/irq": "33\n",
    "sys/bus/pci/devices/0000:2a:00.0/class": "0x030200\n",
    "sys/bus/pci/devices/0000:2a:00.0/numa_node": "0\n",
    "sys/class/drm/card0/card0-DP-1/status": "connected\n",
    "sys/class/drm/card0/card0-DP-1/enabled": "enabled\n",
}
# Shares in the first card's table: Total, 2D, TA, 3D, CMP, TRANSFER
ROWS = (
    driver_files.process_row(17, 17, (40, 0, 0, 0, 40, 0), "cook"),
    driver_files.process_row(18, 18, (25, 0, 0, 25, 0, 0), "eat"),
)
PROCESSES = {  # what they have open; of the second card there is nothing else
    17: ("cook", "/dev/mtgpu.0"),
    18: ("eat", "/dev/mtgpu.0", "/dev/mtgpu.1"),
    19: ("drink", "/dev/null"),
}


def write_files(folder):
    """The proc and sys file systems of the scenes, below a folder."""
    for name, text in FILES.items():
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    proc = os.path.join(folder, "proc")
    driver_files.write_table(proc, 0, *ROWS)
    for pid, (name, *nodes) in PROCESSES.items():
        driver_files.write_process(proc, pid, [name], *nodes)


class Scene:
    """A call that is answered: its machine, and a function that makes its arguments, anew for each call."""

    def __init__(self, profile, arguments, begun=True):
        self.profile, self.arguments, self.begun = profile, arguments, begun


def scene(profile, *values):
    """A scene with arguments of which functions are called once the library is initialized."""
    return Scene(profile, lambda: tuple(value() if callable(value) else value for value in values))


def on_a_card(*rest):
    """Scenes on the first of eight cards, one for each tuple of further arguments."""
    return [scene("s5000x8", card, *more) for more in rest]


def card(number=0):
    """The device with the simulator's number, in a way that looks at no other device."""
    return pymtml.mtmlLibraryInitDeviceByUuid(simulated.get_value(number, "uuid"))


def second():
    return card(1)


def instance():
    """The second of three instances of the first of two cards."""
    return card(simulated.instance(0, 1))


def of_second(key):
    return lambda: simulated.get_value(1, key)


def vgpu():
    return pymtml.nvmlDeviceGetActiveVgpus(card())[0]


FIELDS = [
    getattr(pymtml, "NVML_FI_DEV_" + name)
    for name in (
        "ECC_CURRENT ECC_PENDING RETIRED_SBE RETIRED_DBE RETIRED_PENDING ECC_SBE_VOL_TOTAL ECC_DBE_AGG_TOTAL "
        "NVLINK_LINK_COUNT PCIE_REPLAY_COUNTER NVLINK_GET_STATE NVLINK_GET_SPEED NVLINK_GET_VERSION "
        "NVLINK_SPEED_MBPS_L1 POWER_INSTANT POWER_CURRENT_LIMIT POWER_DEFAULT_LIMIT MEMORY_TEMP"
    ).split()
]
PLAIN = on_a_card(())
ON_PARENT, ON_INSTANCE = [scene("s3000-mpc", card)], [scene("s3000-mpc", instance)]
ON_HOST, OF_VGPU = [scene("s3000-vgpu-host", card)], [scene("s3000-vgpu-host", vgpu)]
OF_VGPU_TYPE = [scene("s3000-vgpu-host", 1104)]
ON_S80 = [scene("s80", card)]
SCENES = {
    "nvmlInit": [Scene("s5000x8", tuple, begun=False)],
    "nvmlInitWithFlags": [Scene("s5000x8", lambda: (0,), begun=False)],
    "nvmlShutdown": [scene("s5000x8")],
    "nvmlSystemGetDriverVersion": [scene("s5000x8")],
    "nvmlSystemGetNVMLVersion": [scene("s5000x8")],
    "nvmlDeviceGetCount": [scene("s5000x8"), scene("s3000-mpc"), scene("s80")],
    "nvmlDeviceGetHandleByIndex": [scene("s5000x8", 1), scene("s3000-mpc", 1), scene("s80", 0)],
    "nvmlDeviceGetHandleByUUID": [scene("s5000x8", lambda: "GPU-" + simulated.get_value(1, "uuid").upper())],
    "nvmlDeviceGetHandleByUUIDV": [scene("s5000x8", of_second("uuid"), pymtml.NVML_UUID_TYPE_ASCII)],
    "nvmlDeviceGetHandleBySerial": [
        scene("s5000x8", of_second("serial_number")),
        scene("s3000-mpc", of_second("serial_number")),
    ],
    "nvmlDeviceGetHandleByPciBusId": [scene("s5000x8", of_second("pci_sbdf"))],
    "nvmlDeviceGetIndex": [scene("s3000-mpc", second)] + ON_INSTANCE,
    "nvmlDeviceGetPciInfoExt": [
        scene("s5000x8", card, lambda: pymtml.nvmlPciInfoExt_v1_t(version=pymtml.nvmlPciInfoExt_v1))
    ],
    "nvmlDeviceGetMultiGpuBoard": [scene("s2000", card)],
    "nvmlDeviceOnSameBoard": [scene("s5000x8", card, second)],
    "nvmlDeviceGetDisplayMode": ON_S80,
    "nvmlDeviceGetDisplayActive": ON_S80,
    "nvmlDeviceGetMemoryInfo": on_a_card((), (pymtml.nvmlMemory_v2,)),
    "nvmlDeviceGetEncoderCapacity": on_a_card((pymtml.NVML_ENCODER_QUERY_H264,)),
    "nvmlDeviceGetTemperature": on_a_card((0,)),
    "nvmlDeviceGetTemperatureV": on_a_card((0,)),
    "nvmlDeviceGetTemperatureThreshold": on_a_card((0,), (1,)),
    "nvmlDeviceGetThermalSettings": on_a_card((0,)),
    "nvmlDeviceGetClockInfo": on_a_card((0,), (2,), (3,)),
    "nvmlDeviceGetMaxClockInfo": on_a_card((0,), (2,), (3,)),
    "nvmlDeviceGetClock": on_a_card((0, 0), (2, 3)),
    "nvmlDeviceGetPowerUsage": PLAIN + ON_PARENT + ON_INSTANCE,
    "nvmlDeviceGetEnforcedPowerLimit": PLAIN + ON_INSTANCE,
    "nvmlDeviceGetPowerManagementLimit": PLAIN + ON_INSTANCE,
    "nvmlDeviceGetPowerManagementDefaultLimit": PLAIN + ON_INSTANCE,
    "nvmlDeviceGetFanSpeed": ON_S80 + PLAIN,
    "nvmlDeviceGetFanSpeed_v2": [scene("s80", card, 2)] + on_a_card((0,)),
    "nvmlDeviceGetFanSpeedRPM": ON_S80 + PLAIN,
    "nvmlDeviceGetNumFans": ON_S80,
    "nvmlDeviceSetEccMode": on_a_card((0,)),
    "nvmlDeviceGetTotalEccErrors": on_a_card((0, 0)),
    "nvmlDeviceGetMemoryErrorCounter": on_a_card((0, 0, pymtml.NVML_MEMORY_LOCATION_DRAM)),
    "nvmlDeviceClearEccErrorCounts": on_a_card((0,)),
    "nvmlDeviceGetRetiredPages": on_a_card((0,), (1,)),
    "nvmlDeviceGetRetiredPages_v2": on_a_card((0,), (1,)),
    "nvmlDeviceGetTopologyCommonAncestor": [scene("s5000x8", card, second)],
    "nvmlDeviceGetTopologyNearestGpus": on_a_card((pymtml.NVML_TOPOLOGY_SYSTEM,)),
    "nvmlDeviceGetP2PStatus": [scene("s5000x8", card, second, index) for index in range(5)]
    + [scene("s5000x8", card, card, pymtml.NVML_P2P_CAPS_INDEX_NVLINK)],
    "nvmlDeviceGetCpuAffinity": on_a_card((2,)),
    "nvmlDeviceGetCpuAffinityWithinScope": on_a_card((2, 0)),
    "nvmlDeviceSetCpuAffinity": PLAIN,
    "nvmlDeviceGetMemoryAffinity": on_a_card((2, 0)),
    "nvmlDeviceGetNumaNodeId": PLAIN + [scene("s5000x8", second)],
    "nvmlSystemGetTopologyGpuSet": [scene("s5000x8", 0)],
    "nvmlDeviceGetNvLinkState": on_a_card((3,)),
    "nvmlDeviceGetNvLinkVersion": on_a_card((3,)),
    "nvmlDeviceGetNvLinkCapability": on_a_card((3, 0), (3, 4), (3, 5)),
    "nvmlDeviceGetNvLinkRemotePciInfo": on_a_card((3,)),
    "nvmlDeviceGetNvLinkRemoteDeviceType": on_a_card((3,)),
    "nvmlDeviceGetMigMode": ON_PARENT,
    "nvmlDeviceSetMigMode": [scene("s80", card, 1)],
    "nvmlDeviceGetMaxMigDeviceCount": ON_PARENT,
    "nvmlDeviceGetMigDeviceHandleByIndex": [scene("s3000-mpc", card, 1)],
    "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": ON_INSTANCE,
    "nvmlDeviceIsMigDeviceHandle": ON_INSTANCE,
    "nvmlDeviceGetGpuInstanceId": ON_INSTANCE,
    "nvmlDeviceGetComputeInstanceId": ON_INSTANCE,
    "nvmlDeviceGetAttributes_v2": ON_INSTANCE,
    "nvmlDeviceGetGpuInstanceProfileInfo": [scene("s3000-mpc", card, 1)],
    "nvmlDeviceGetGpuInstanceProfileInfoById": [scene("s3000-mpc", card, 2)],
    "nvmlDeviceGetGpuInstances": [
        scene("s3000-mpc", card, 2, lambda: (pymtml.c_nvmlGpuInstance_t * 4)(), lambda: ctypes.c_uint())
    ],
    "nvmlDeviceGetGpuInstanceById": [scene("s3000-mpc", card, 1)],
    "nvmlGpuInstanceGetInfo": [scene("s3000-mpc", lambda: pymtml.nvmlDeviceGetGpuInstanceById(card(), 1))],
    "nvmlDeviceGetVirtualizationMode": ON_HOST,
    "nvmlDeviceGetSupportedVgpus": ON_HOST,
    "nvmlDeviceGetCreatableVgpus": ON_HOST,
    "nvmlDeviceGetActiveVgpus": ON_HOST,
    "nvmlVgpuTypeGetName": OF_VGPU_TYPE,
    "nvmlVgpuTypeGetFramebufferSize": OF_VGPU_TYPE,
    "nvmlVgpuTypeGetNumDisplayHeads": OF_VGPU_TYPE,
    "nvmlVgpuTypeGetResolution": OF_VGPU_TYPE,
    "nvmlVgpuTypeGetMaxInstances": [scene("s3000-vgpu-host", card, 1104)],
    "nvmlVgpuInstanceGetType": OF_VGPU,
    "nvmlVgpuInstanceGetFbUsage": OF_VGPU,
    "nvmlDeviceGetVgpuUtilization": [scene("s3000-vgpu-host", card, 0)],
    "nvmlDeviceGetComputeRunningProcesses": PLAIN + [scene("s5000x8", second)],
    "nvmlDeviceGetGraphicsRunningProcesses": [scene("s80", card), scene("s5000x8", second)],
    "nvmlDeviceGetProcessUtilization": on_a_card((0,)),
    "nvmlDeviceGetProcessesUtilizationInfo": on_a_card((0,)),
    "nvmlDeviceGetFieldValues": on_a_card((FIELDS,)),
}


def asks_of_a_device(name):
    """Whether a function needs a device's handle and nothing else, and says that it rests on functions of MTML."""
    function = getattr(pymtml, name)
    needed = len(every_function.parameters(name)) - len(function.__defaults__ or ())
    return (
        needed == 1
        and name.startswith("nvmlDeviceGet")
        and re.search(r"MTML: .*?(mtml|nvml)[A-Z]|as nvml[A-Z]", function.__doc__)
    )


ONLY_ON_REQUEST = ["nvmlDeviceGetTotalEnergyConsumption"]  # it calls C where PYMTML_ENERGY asks for that
for _name in every_function.FUNCTIONS:
    if (
        _name not in ONLY_ON_REQUEST
        and asks_of_a_device(_name)
        and getattr(pymtml, _name) not in [getattr(pymtml, other) for other in SCENES]
    ):
        SCENES[_name] = PLAIN


def native_scenes(name):
    """Scenes of an mtml* function: as native_calls has it, with a device for its part, and without counts."""
    call, function = native_calls.CALLS[name], getattr(pymtml, name)
    profile, index = call.machines[-1]
    there = native_calls.Scene(profile, index)
    found = [Scene(profile, lambda: call.arguments(there))]
    if name.startswith(("mtmlGpu", "mtmlMemory", "mtmlVpu")):
        found.append(Scene(profile, lambda: (there.device,) + tuple(call.arguments(there)[1:])))
    needed = function.__code__.co_argcount - len(function.__defaults__ or ())
    if function.__defaults__:
        found.append(Scene(profile, lambda: call.arguments(there)[:needed]))
    return found


SCENES.update(
    (name, native_scenes(name))
    for name in native_calls.CALLS
    if name not in native_calls.FREES and name != "mtmlErrorString"
)
SCENES["mtmlLibraryInit"] = [Scene("s5000x8", tuple, begun=False)]
SCENES["mtmlLibraryShutDown"] = [scene("s5000x8")]

# ---- Calls ----

# A fault: where, which call of a function (from 0) and its code; the error that stands for it, what it came to, the
# next answer, and that of a machine in order; what else is wrong.
Case = collections.namedtuple("Case", "profile warm base native which code expected got then healthy problems")
Error = collections.namedtuple("Error", "name value mtml_code")


@functools.lru_cache(maxsize=None)
def device_names(profile):
    """{UUID: "card 1", "instance 0" or "virt 2"} of a machine."""
    parts = {name: name.split(".") for name in simulated.profile(profile) if name.startswith("device.")}
    return {
        simulated.profile(profile)[name]["uuid"]: " ".join(found[2:] if len(found) > 2 else ("card", found[1]))
        for name, found in parts.items()
    }


def plain(value, names):
    """An answer as Python data; handles by the names of their devices, without what a clock tells."""
    if isinstance(value, (str, bytes, int, float, type(None))):
        return value
    if isinstance(value, (list, tuple)) or hasattr(value, "_length_"):
        items = [plain(item, names) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, ctypes._Pointer):
        kind = type(value).__name__
        return None if not value else names[uuid(value)] if "Device" in kind or "Instance" in kind else kind
    if isinstance(value, ctypes.Union):
        return bytes(value)
    if isinstance(value, ctypes._CFuncPtr):
        return ctypes.cast(value, ctypes.c_void_p).value
    if isinstance(value, ctypes._SimpleCData):
        return value.value
    if isinstance(value, ctypes.Structure):
        value = {field[0]: getattr(value, field[0]) for field in value._fields_}
    elif not isinstance(value, dict):
        value = vars(value)
    return {key: plain(item, names) for key, item in value.items() if key not in CLOCKED}


def uuid(handle):
    """UUID of a device, in a way that leaves nothing on the handle."""
    text = ctypes.create_string_buffer(pymtml.MTML_DEVICE_UUID_BUFFER_SIZE)
    assert simulated.library.mtmlDeviceGetUUID(ctypes.cast(handle, ctypes.c_void_p), text, len(text)) == 0
    return text.value.decode()


class Stage:
    """The machine of a scene, and the lives of the library on it in which its call is made."""

    def __init__(self, name, scene):
        self.name, self.scene, self.function = name, scene, getattr(pymtml, name)
        self.names = device_names(scene.profile)
        self.base: "tuple[str, ...]" = ()  # what fails for good, as "FUNCTION=CODE"
        self.known: "list[str]" = []  # native functions that were called

    def __enter__(self):
        options = {"set": SET[self.scene.profile]} if self.scene.profile in SET else {}
        self.machine = simulated.machine(self.scene.profile, **options)
        self.machine.__enter__()
        return self

    def __exit__(self, *exception):
        self.end()
        self.machine.__exit__(*exception)

    def begin(self):
        """A new life, of a new machine where the call changes it."""
        self.end()
        if self.name in CHANGES:
            simulated.library.mtmlSimReload()
        if self.scene.begun:
            pymtml.nvmlInit()
        simulated.set_faults(",".join(self.base))

    def end(self):
        simulated.set_faults("")
        simulated.shut_down()

    def call(self, fault=""):
        """What the call comes to; with a fault that is over afterwards, and besides what fails in the whole scene."""
        try:
            arguments = self.scene.arguments()
            if pymtml._session.life is not None:
                pymtml._session.life.cards.walk = None  # it would serve for as long as it took
            self.given = [item for item in arguments if isinstance(item, pymtml.c_mtmlDevice_t)]
            self.handles = simulated.library.mtmlSimGetHandleCount()
            simulated.reset_calls()
            if fault:
                simulated.set_faults(",".join((fault,) + self.base))
            answer = self.function(*arguments)
        except pymtml.MTMLError as error:
            return Error(type(error).__name__, error.value, error.mtml_code)
        finally:
            self.counted = self.count()
            simulated.set_faults(",".join(self.base))
        filled = [item for item in arguments if isinstance(item, (ctypes.Structure, ctypes.Array))]
        return plain([answer] + filled if filled else answer, self.names)

    def count(self):
        """Native calls by function (dict); those that were called before are asked for first."""
        found, missing = {}, simulated.calls()
        for name in self.known + NATIVE:
            if not missing:
                break
            count = 0 if name in found else simulated.calls(name)
            if count:
                found[name] = count
                missing -= count
        self.known += [name for name in found if name not in self.known]
        return found

    def cases(self, warm=False):
        """Each native call of the call, the first four times and the last, with each code (list of Case).

        Each in a new life, or all in one that has made the call before (warm), which takes shorter ways then.
        ``detours`` are the failures of functions after which others were called than before.
        """
        found, self.detours = [], {}
        self.begin()
        if warm:
            self.call()
        healthy, calls = self.call(), self.counted
        failing = [fault.split("=")[0] for fault in self.base]
        times = {name: sorted({*range(min(calls[name], 4)), calls[name] - 1}) for name in calls if name not in failing}
        for native, which in [(name, i) for name in times for i in times[name]]:
            for code in CODES:
                if not warm:
                    self.begin()
                got = self.call("%s=%s@%dx1" % (native, code, which))
                made, handles, given = self.counted, self.handles, self.given
                problems = [] if made.get(native, 0) > which else ["it was not called"]
                if set(made) - set(calls) and (native not in self.detours or code == "NOT_SUPPORTED"):
                    self.detours[native] = code
                then = self.call()
                if then == healthy:
                    problems += self.leaks(native, made, handles)
                    if list(map(id, given)) != list(map(id, self.given)) and self.name not in CHANGES:
                        problems.append("the handle from before is stale")
                else:
                    self.begin()
                    if self.call() != healthy:
                        problems.append("another answer in the next life")
                where = self.scene.profile, warm, self.base, native, which, code
                found.append(Case(*where, expected(self.name, code), got, then, healthy, problems))
        self.end()
        if simulated.references() or simulated.library.mtmlSimGetHandleCount():
            raise AssertionError("%s: native references or handles are left over" % self.name)
        return found

    def leaks(self, native, made, handles):
        """What is wrong with the native handles after a fault and a second call, given their number before."""
        found = ["%s was called" % name for name in native_calls.FREES if name in made or name in self.counted]
        failing = [native] + [fault.split("=")[0] for fault in self.base]
        taken = sum(calls.get(maker, 0) for calls in (made, self.counted) for maker in MAKERS if maker not in failing)
        taken += native in MAKERS and made[native] + self.counted.get(native, 0) - 1
        if taken and taken > simulated.library.mtmlSimGetHandleCount() - handles:
            found.append("of one gpu, memory, video unit or system there are two handles")
        if simulated.references() != bool(pymtml._nvmlLib_refcount):
            found.append("%d native references" % simulated.references())
        return found


def expected(name, code):
    """The error that stands for a code in a layer."""
    if name.startswith("nvml"):
        meaning = "UNKNOWN" if code == "TIMEOUT" and name in IDENTITY else code
        return Error(*STRAIGHT[meaning], CODES[code])
    words = "UNKNOWN" if code.isdigit() else code
    return Error("MTMLError_" + "".join(word.capitalize() for word in words.split("_")), CODES[code], CODES[code])


def cases(name):
    """All cases of a function (list of Case): in new lives, in a warm one, and on the detours that failures lead to."""
    found = []
    for scene in SCENES[name]:
        with Stage(name, scene) as stage:
            if name not in CHANGES + LIFECYCLE:
                found += stage.cases(warm=True)
            bases: "list[tuple[str, ...]]" = [()]
            for base in bases:
                stage.base = base
                found += stage.cases()
                bases += [base + ("%s=%s" % detour,) for detour in stage.detours.items()]
    return found


# ---- The table ----


class Row:
    """A line of the table: what failures of some calls with some codes come to, by function."""

    def __init__(self, functions, natives, codes, outcomes, why):
        self.cells = functions, natives, codes, outcomes, why
        self.names = [name for pattern in functions.split() for name in fnmatch.filter(SCENES, pattern)]
        self.natives = [name for pattern in natives.split() for name in fnmatch.filter(NATIVE, pattern)]
        self.codes = list(CODES) if codes == "*" else codes.split()
        self.outcomes = outcomes.split(" or ")

    def concerns(self, name, case):
        return case.code in self.codes and case.native in self.natives and name in self.names


def rows():
    """The table (list of Row)."""
    with open(TABLE, encoding="utf-8", newline="") as file:
        return [Row(*cells) for cells in list(csv.reader(file))[1:]]


def is_outcome(case, words):
    """Whether a case came to an outcome in the words of the table."""
    outcome, lasting, _ = words.partition(", until nvmlInit")
    if bool(lasting) != (case.then != case.healthy):
        return False
    if outcome == "the error":
        return case.got == case.expected
    if outcome == "the same answer":
        return case.got == case.healthy
    if outcome == "the rest of it":
        return case.got != case.healthy and [item for item in case.healthy if item in case.got] == case.got
    if outcome == "one card more":
        return case.got == case.healthy + 1 if isinstance(case.healthy, int) else case.got.startswith("instance")
    if outcome == "the card's":
        keys = simulated.device_keys(case.profile, 0)
        return str(case.got) in (keys["power_usage"], keys["enforced_power_limit"])
    if outcome == "the field's error":
        return field_errors(case) == [case.expected.value]
    if isinstance(case.got, Error):
        name = outcome.split(" ")[0]
        known = [CODES[case.code]] + [CODES[fault.split("=")[1]] for fault in case.base]
        codes = [None] if outcome.endswith(" of its own") else known
        return case.got in [Error(name, NVML_VALUES.get(name), code) for code in codes]
    return outcome in [str(case.got)] + ["%s %s" % change for change in changes(case.healthy, case.got)]


def field_errors(case):
    """The codes of field values that were answered before; other changes count as -1."""
    pairs = [(new, old) for new, old in zip(case.got, case.healthy) if new != old]
    return [new["nvmlReturn"] if new["nvmlReturn"] and not old["nvmlReturn"] else -1 for new, old in pairs]


def changes(healthy, got):
    """[(name of a field, its value)] of the one field that is not as it was; nothing where more have changed."""
    if isinstance(got, dict):
        pairs = [(name, healthy[name], got[name]) for name in got if healthy[name] != got[name]]
    elif isinstance(got, list) and len(got) == len(healthy):
        pairs = [(None, old, new) for old, new in zip(healthy, got) if old != new]
    else:
        pairs = []
    if len(pairs) != 1:
        return []
    name, old, new = pairs[0]
    return changes(old, new) if isinstance(new, (dict, list)) else [(name, new)]


def markdown():
    """The table as docs/reliability.md has it: what a code is raised as."""
    lines = ["| MTML code | raised as | its value |", "|---|---|---|"]
    lines += [
        "| %s %d | `%s` | %d |" % ("any other, as" if code.isdigit() else code, CODES[code], *STRAIGHT[code])
        for code in CODES
    ]
    return "\n".join(lines) + "\n"
