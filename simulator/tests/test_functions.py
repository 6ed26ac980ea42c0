"""Every function, called with good and with bad arguments: the codes are those that the interface documents."""

import ctypes
import os
import signal

import interface
import pytest
from interface import FUNCTIONS, STRUCTS, Session
from offenders import each

GROUPS = {"MtmlGpu": "gpu", "MtmlMemory": "memory", "MtmlVpu": "vpu", "MtmlDevice": "device"}
NUMBERS = {
    "unsigned int": 0,
    "MtmlMemoryLocation": 1,
    "MtmlEccCounterType": 0,
}
# Calls that end handles or change the machine: tested by themselves.
LIFECYCLE = {"mtmlLibraryInit", "mtmlLibraryShutDown"}
CHANGES = {
    "mtmlDeviceReset",
    "mtmlDeviceSetMpcMode",
    "mtmlDeviceSetMpcConfiguration",
    "mtmlLibrarySetMpcConfigurationInBatch",
}
WITHOUT_HANDLE = {"mtmlLibraryInit", "mtmlErrorString", "mtmlLogSetConfiguration", "mtmlLogGetConfiguration"}


def base(ctype):
    return ctype.replace("const ", "").replace("*", "").strip()


def documented(name):
    return {code.replace("MTML_", "").replace("ERROR_", "") for code in FUNCTIONS[name]["errors"]}


def is_pointer(param):
    return "*" in param["ctype"]


class Arguments:
    """Good arguments for any function, on the session's device of that index."""

    def __init__(self, session, index=0, capacity=64):
        self.session = session
        self.index = index
        self.capacity = capacity

    def handle(self, kind):
        if kind == "MtmlLibrary":
            return self.session.library
        if kind == "MtmlSystem":
            return self.session.system()
        return getattr(self.session, GROUPS[kind])(self.index)

    def value(self, param):
        kind = base(param["ctype"])
        if is_pointer(param):
            if param["ctype"].count("*") == 2:
                return (ctypes.c_void_p * 65536)()
            if param["dir"] == "in" and kind in GROUPS or kind in ("MtmlLibrary", "MtmlSystem"):
                return self.handle(kind)
            if param["name"] == "uuid" and param["dir"] == "in":
                return interface.text("mtmlDeviceGetUUID", self.session.device(self.index))
            if param["name"] == "pciSbdf":
                return b"00000000:2a:00.0"
            if param["name"] == "configName":
                return b"8-44"
            if kind in STRUCTS:
                return (STRUCTS[kind] * 256)()
            return ctypes.create_string_buffer(65536)
        if param["role"].startswith(("buffer size", "array capacity", "number of", "handles per", "bytes per")):
            return self.capacity
        return NUMBERS.get(kind, 0)

    def of(self, name):
        return [self.value(param) for param in FUNCTIONS[name]["params"]]


@pytest.mark.parametrize("profile", [name for name in interface.profile_names() if name not in ("empty", "no-driver")])
def test_good_calls_answer_as_documented(profile):
    """On every device of every profile; what the profile itself refuses apart."""
    missing = interface.missing_functions(profile)
    succeeded = set()
    with Session(profile + "+frozen") as session:
        for index in range(session.count()):
            arguments = Arguments(session, index)
            properties = interface.out("mtmlDeviceGetProperty", STRUCTS["MtmlDeviceProperty"], session.device(index))
            for name in sorted(set(FUNCTIONS) - LIFECYCLE - CHANGES - missing - {"mtmlErrorString"}):
                if properties.mpcType == 1 and name.startswith("mtmlVpu") or name == "mtmlDeviceFreeVpu":
                    continue
                reason = interface.reason(name, *arguments.of(name))
                allowed = set(documented(name))
                refusals = interface.sim_get(0, "unsupported").split(", ")
                if name in refusals:
                    assert reason == "NOT_SUPPORTED"
                else:
                    assert reason in allowed, (name, reason)
                    assert reason in ("SUCCESS", "NOT_SUPPORTED", "NOT_FOUND", "INVALID_ARGUMENT"), (name, reason)
                if reason == "SUCCESS":
                    succeeded.add(name)
    assert len(succeeded) > 50


def test_every_function_succeeds_somewhere():
    succeeded = {"mtmlErrorString"}
    for profile in ("s80", "s5000x8", "s3000-mpc", "s3000-vgpu-host"):
        with Session(profile + "+frozen") as session:
            for index in range(session.count()):
                arguments = Arguments(session, index)
                parent = profile == "s3000-mpc" and index == 0
                for name in sorted(set(FUNCTIONS) - LIFECYCLE - CHANGES - succeeded):
                    if not (parent and "Vpu" in name) and interface.raw(name, *arguments.of(name)) == 0:
                        succeeded.add(name)
            if profile == "s3000-vgpu-host":
                uuid = interface.sim_get(interface.virt_number(0, 1), "uuid").encode()
                virtual = interface.pointer("mtmlDeviceInitVirtDevice", session.device(0), uuid)
                kind = interface.out("mtmlDeviceGetVirtType", STRUCTS["MtmlVirtType"], virtual)
                succeeded.add("mtmlDeviceGetVirtType")
                assert interface.text("mtmlDeviceGetPhyDeviceUuid", virtual)
                interface.uint("mtmlDeviceCountAvailVirtDevices", session.device(0), ctypes.byref(kind))
                interface.uint("mtmlDeviceCountMaxVirtDevices", session.device(0), ctypes.byref(kind))
                interface.call("mtmlDeviceFreeVirtDevice", virtual)
                succeeded |= {
                    "mtmlDeviceInitVirtDevice",
                    "mtmlDeviceGetPhyDeviceUuid",
                    "mtmlDeviceCountAvailVirtDevices",
                    "mtmlDeviceCountMaxVirtDevices",
                    "mtmlDeviceFreeVirtDevice",
                }
    for profile, name, rest in (
        ("s80", "mtmlDeviceReset", ()),
        ("s80", "mtmlDeviceSetMpcMode", (1,)),
        ("s3000-mpc", "mtmlDeviceSetMpcConfiguration", (1,)),
    ):
        with Session(profile) as session:
            interface.call(name, session.device(0), *rest)
            succeeded.add(name)
    with Session("s3000x2") as session:
        devices = (ctypes.c_void_p * 1)(session.device(1).value)
        interface.call("mtmlLibrarySetMpcConfigurationInBatch", session.library, 1, devices, (ctypes.c_uint * 1)(2))
        succeeded.add("mtmlLibrarySetMpcConfigurationInBatch")
    assert set(FUNCTIONS) - succeeded == LIFECYCLE


@each(sorted(set(FUNCTIONS) - {"mtmlErrorString"}))
def test_null_is_an_invalid_argument(name):
    """NULL for any pointer, the handle too; on the profile where all functions answer most."""
    expected = "UNKNOWN" if name == "mtmlLogGetConfiguration" else "INVALID_ARGUMENT"
    with Session("s5000x8+frozen") as session:
        params = FUNCTIONS[name]["params"]
        for position, param in enumerate(params):
            if not is_pointer(param):
                continue
            values = Arguments(session).of(name)
            values[position] = None
            if name in CHANGES and position > 0:
                values[1] = 1
            assert interface.reason(name, *values) == expected, param["name"]


OUT_OF_RANGE = [
    ("mtmlDeviceGetFanSpeed", 1),
    ("mtmlDeviceGetFanRpm", 1),
    ("mtmlDeviceGetDisplayInterfaceSpec", 1),
    ("mtmlDeviceCountDeviceByTopologyLevel", 1),
    ("mtmlDeviceGetDeviceByTopologyLevel", 1),
    ("mtmlDeviceGetP2PStatus", 2),
    ("mtmlGpuGetEngineUtilization", 1),
    ("mtmlVpuGetEncoderSessionMetrics", 1),
    ("mtmlVpuGetDecoderSessionMetrics", 1),
    ("mtmlDeviceSetMpcMode", 1),
    ("mtmlDeviceGetMtLinkState", 1),
    ("mtmlDeviceGetMtLinkCapStatus", 1),
    ("mtmlDeviceGetMtLinkCapStatus", 2),
    ("mtmlDeviceGetMtLinkRemoteDevice", 1),
    ("mtmlMemorySetEccMode", 1),
    ("mtmlMemoryGetRetiredPages", 1),
    ("mtmlMemoryGetEccErrorCounter", 1),
    ("mtmlMemoryGetEccErrorCounter", 2),
    ("mtmlMemoryGetEccErrorCounter", 3),
    ("mtmlMemoryClearEccErrorCounts", 1),
]


@pytest.mark.parametrize("name, position", OUT_OF_RANGE)
def test_numbers_out_of_range(name, position):
    with Session("s5000x8+frozen") as session:
        interface.sim_set(0, "unsupported", "")
        for number in (1000, 0xFFFFFFFF):
            values = Arguments(session).of(name)
            values[position] = ctypes.c_uint(number)
            assert interface.reason(name, *values) == "INVALID_ARGUMENT"


SHORT = [
    name
    for name, function in FUNCTIONS.items()
    if "MTML_ERROR_INSUFFICIENT_SIZE" in function["errors"] and name != "mtmlDeviceGetActiveVirtDeviceUuids"
]


@each(sorted(SHORT))
def test_short_buffers(name):
    """One element or byte too few is refused, and the exact size is enough. What more an array has is zero."""
    if "Virt" in name or "PhyDevice" in name:
        profile = "s3000-vgpu-host"
    elif "Mpc" in name:
        profile = "s3000-mpc"
    else:
        profile = "s5000x8"
    with Session(profile + "+frozen") as session:

        def attempt(size):
            values = Arguments(session, capacity=size).of(name)
            params = [param["name"] for param in FUNCTIONS[name]["params"]]
            if name == "mtmlDeviceGetPhyDeviceUuid":
                uuid = interface.sim_get(interface.virt_number(0, 0), "uuid").encode()
                values[0] = interface.pointer("mtmlDeviceInitVirtDevice", session.device(0), uuid)
            if name == "mtmlDeviceGetMpcInstancesByProfileId":
                values[1] = 2
            if "remoteDevice" in params:
                values[1] = session.device(3)
            if name == "mtmlDeviceGetDeviceByTopologyLevel":
                values[1] = 4
            array = next(value for value in values if isinstance(value, ctypes.Array))
            ctypes.memset(array, 0xFF, ctypes.sizeof(array))
            reason = interface.reason(name, *values)
            if size == 199 and array._type_ is not ctypes.c_char:
                room, element, whole = size, ctypes.sizeof(array._type_), bytes(array)
                room *= size if name == "mtmlDeviceGetMtLinkShortestPaths" else 1
                parts = [whole[place : place + element] for place in range(0, len(whole), element)]
                assert b"\xff" * element not in parts[:room] and set(parts[room:]) <= {b"\xff" * element}
            return reason

        sizes = [size for size in range(0, 200) if attempt(size) == "SUCCESS"]
        assert sizes and sizes[0] > 0
        assert sizes == list(range(sizes[0], 200))
        assert all(attempt(size) == "INSUFFICIENT_SIZE" for size in range(sizes[0]))


def test_error_strings():
    texts = [interface.LIBRARY.mtmlErrorString(code) for code in interface.CODES.values()]
    assert len(set(texts)) == len(interface.CODES) == 14
    assert interface.LIBRARY.mtmlErrorString(12345)


@each(sorted(set(FUNCTIONS) - {"mtmlErrorString"}))
def test_fault(name):
    """Each documented code can be had from each function, and then the function works again."""
    with Session("s5000x8+frozen") as session:
        values = Arguments(session).of(name)
        for code in sorted(documented(name) - {"SUCCESS"}) + ["TIMEOUT"]:
            assert interface.LIBRARY.mtmlSimSetFaults(("%s=%s@0x1" % (name, code)).encode()) == 0
            assert interface.reason(name, *values) == code
        if name not in LIFECYCLE | CHANGES:
            assert interface.reason(name, *values) in documented(name)


HANDLE_FUNCTIONS = sorted(set(FUNCTIONS) - WITHOUT_HANDLE)


def child_signal(action):
    """The signal that ends a forked child running the action, or 0."""
    child = os.fork()
    if child == 0:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 2)
        signal.signal(signal.SIGABRT, signal.SIG_DFL)
        try:
            action()
        finally:
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


# One for each kind of handle, and one that takes it in another place: that each function looks is tested below.
ABORTING = {FUNCTIONS[name]["params"][0]["ctype"]: name for name in HANDLE_FUNCTIONS}.values()


@pytest.mark.parametrize("name", ABORTING)
def test_misuse_aborts(name):
    """A handle from before the last shutdown, one of another kind, and one made up."""
    with Session("s5000x8+frozen") as session:
        dangling = Arguments(session).of(name)
    with Session("s5000x8+frozen") as session:
        for arguments in [dangling] + misused(name, session):
            assert child_signal(lambda: interface.raw(name, *arguments)) == signal.SIGABRT


def misused(name, session):
    """Arguments with a handle of another kind, and with one made up."""
    good = Arguments(session).of(name)
    other = session.device() if "Device" not in FUNCTIONS[name]["params"][0]["ctype"] else session.memory()
    return [[handle] + good[1:] for handle in (other, ctypes.c_void_p(0xDEADBEEF0))]


@each(HANDLE_FUNCTIONS)
def test_misuse_when_lenient(name):
    with Session("s5000x8+frozen") as session:
        dangling = Arguments(session).of(name)
    with Session("s5000x8+frozen", MTML_SIM_LENIENT="1") as session:
        for arguments in [dangling] + misused(name, session):
            assert interface.reason(name, *arguments) == "INVALID_ARGUMENT"


def test_lenient_no_longer_than_the_variable_says():
    with Session("s5000x8+frozen", MTML_SIM_LENIENT="1"):
        pass
    with Session("s5000x8+frozen"):
        assert child_signal(lambda: interface.raw("mtmlDeviceReset", ctypes.c_void_p(0xDEADBEEF0))) == signal.SIGABRT
