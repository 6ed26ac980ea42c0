"""The simulated machine as mthreads-gmi sees it. What the library refuses is None."""

import ctypes
from ctypes import c_char, c_float, c_int, c_size_t, c_uint, c_ulong, c_ulonglong

from .. import places

SUCCESS = 0
LEVELS = ("INTERNAL", "SINGLE", "MULTIPLE", "HOSTBRIDGE", "NODE", "SYSTEM")
ROLE_NONE = 0
MPC_PARENT, MPC_INSTANCE = 1, 2
ECC_ENABLE = 1
LINK_STATES = {0: "DOWN", 1: "UP", 2: "DOWNGRADE"}
MEMORY_TYPES = {0: "LPDDR4", 1: "GDDR6"}
DISPLAY_TYPES = {0: "DP", 1: "EDP", 2: "VGA", 3: "HDMI", 4: "LVDS"}
BRANDS = {0: "MTT"}


class PciInfo(ctypes.Structure):
    _fields_ = [
        ("sbdf", c_char * 32),
        ("segment", c_uint),
        ("bus", c_uint),
        ("device", c_uint),
        ("device_id", c_uint),
        ("subsystem_id", c_uint),
        ("bus_width", c_uint),
        ("max_speed", c_float),
        ("cur_speed", c_float),
        ("max_width", c_uint),
        ("cur_width", c_uint),
        ("max_gen", c_uint),
        ("cur_gen", c_uint),
        ("reserved", c_int * 6),
    ]


class SlotInfo(ctypes.Structure):
    _fields_ = [("id", c_uint), ("name", c_char * 32), ("reserved", c_uint * 4)]


class CodecUtil(ctypes.Structure):
    _fields_ = [("util", c_uint), ("period", c_uint), ("encoder", c_uint), ("decoder", c_uint), ("reserved", c_int * 2)]


class SessionMetrics(ctypes.Structure):
    _fields_ = [
        ("id", c_uint),
        ("pid", c_uint),
        ("width", c_uint),
        ("height", c_uint),
        ("frame_rate", c_uint),
        ("bit_rate", c_uint),
        ("latency", c_uint),
        ("codec", c_uint),
        ("reserved", c_int * 4),
    ]


class DeviceProperty(ctypes.Structure):
    _fields_ = [
        ("virt_capability", c_uint, 1),
        ("virt_role", c_uint, 3),
        ("mpc_capability", c_uint, 1),
        ("mpc_type", c_uint, 3),
        ("mtlink_capability", c_uint, 1),
        ("reserved", c_uint, 23),
        ("reserved2", c_uint),
    ]


class LinkSpec(ctypes.Structure):
    _fields_ = [("version", c_uint), ("bandwidth", c_uint), ("links", c_uint), ("reserved", c_uint * 4)]


class LinkLayout(ctypes.Structure):
    _fields_ = [("local", c_uint), ("remote", c_uint), ("reserved", c_uint * 4)]


class DisplaySpec(ctypes.Structure):
    _fields_ = [
        ("type", c_uint),
        ("width", c_uint),
        ("height", c_uint),
        ("refresh_rate", c_float),
        ("reserved", c_uint * 8),
    ]


class PageCount(ctypes.Structure):
    _fields_ = [("single_bit", c_uint), ("double_bit", c_uint)]


class LibraryError(Exception):
    """The library cannot be initialized; says why."""


class _Native:
    """Calls into the library that answer with None where it refuses."""

    def __init__(self):
        self.functions = ctypes.CDLL(places.MTML)

    def call(self, name, *arguments):
        """Whether a function succeeded; a library may lack it."""
        function = getattr(self.functions, name, None)
        return function is not None and function(*arguments) == SUCCESS

    def value(self, name, kind, *arguments):
        """What a function writes to its last argument, of that ctypes type."""
        result = kind()
        return result if self.call(name, *(arguments + (ctypes.byref(result),))) else None

    def number(self, name, kind, *arguments):
        result = self.value(name, kind, *arguments)
        return None if result is None else result.value

    def handle(self, name, *arguments):
        return self.value(name, ctypes.c_void_p, *arguments)

    def text(self, name, handle, size, length_first=False):
        buffer = ctypes.create_string_buffer(size)
        arguments = (size, buffer) if length_first else (buffer, size)
        return buffer.value.decode("utf-8", "replace") if self.call(name, handle, *arguments) else None

    def mask(self, name, handle):
        """Numbers of the bits that a function sets in an array of unsigned long (list of int)."""
        words = (c_ulong * 128)()
        if not self.call(name, handle, len(words), words):
            return None
        width = 8 * ctypes.sizeof(c_ulong)
        return [width * index + bit for index, word in enumerate(words) for bit in range(width) if word >> bit & 1]


class Device:
    """One device: a card, or an MPC instance, in the library's order."""

    def __init__(self, native, handle, index):
        self._native = native
        self.handle = handle
        self.index = index
        self.gpu = native.handle("mtmlDeviceInitGpu", handle)
        self.memory = native.handle("mtmlDeviceInitMemory", handle)
        self.vpu = native.handle("mtmlDeviceInitVpu", handle)
        self.pci = native.value("mtmlDeviceGetPciInfo", PciInfo, handle)
        self.property = native.value("mtmlDeviceGetProperty", DeviceProperty, handle)

    # Texts.

    @property
    def name(self):
        return self._native.text("mtmlDeviceGetName", self.handle, 256)

    @property
    def uuid(self):
        return self._native.text("mtmlDeviceGetUUID", self.handle, 256)

    @property
    def serial(self):
        return self._native.text("mtmlDeviceGetSerialNumber", self.handle, 256, length_first=True)

    @property
    def bios(self):
        return self._native.text("mtmlDeviceGetMtBiosVersion", self.handle, 256)

    @property
    def path(self):
        return self._native.text("mtmlDeviceGetGpuPath", self.handle, 256)

    @property
    def brand(self):
        return BRANDS.get(self._native.number("mtmlDeviceGetBrand", c_uint, self.handle))

    @property
    def memory_vendor(self):
        return self._native.text("mtmlMemoryGetVendor", self.memory, 256, length_first=True)

    @property
    def memory_type(self):
        return MEMORY_TYPES.get(self._native.number("mtmlMemoryGetType", c_uint, self.memory))

    @property
    def bus_id(self):
        return self.pci.sbdf.decode("utf-8", "replace") if self.pci else None

    @property
    def kind(self):
        """Device type as the tool names it (str)."""
        if self.property is None:
            return None
        if self.property.virt_role != ROLE_NONE:
            return "Virtual"
        return {MPC_PARENT: "MPC Parent", MPC_INSTANCE: "MPC Instance"}.get(self.property.mpc_type, "Physical")

    @property
    def slot(self):
        return self._native.value("mtmlDeviceGetPcieSlotInfo", SlotInfo, self.handle)

    # Numbers.

    def of_gpu(self, name, kind=c_uint):
        return self._native.number(name, kind, self.gpu)

    def of_memory(self, name, kind=c_uint):
        return self._native.number(name, kind, self.memory)

    def of_vpu(self, name, kind=c_uint):
        return self._native.number(name, kind, self.vpu)

    @property
    def memory_total(self):
        return self.of_memory("mtmlMemoryGetTotal", c_ulonglong)

    @property
    def memory_used(self):
        return self.of_memory("mtmlMemoryGetUsed", c_ulonglong)

    @property
    def temperature(self):
        return self.of_gpu("mtmlGpuGetTemperature", c_int)

    @property
    def power(self):
        return self._native.number("mtmlDeviceGetPowerUsage", c_uint, self.handle)

    @property
    def power_limit(self):
        return self.of_gpu("mtmlGpuGetEnforcedPowerLimit", c_int)

    @property
    def performance_state(self):
        return self._native.number("mtmlDeviceGetPerformanceState", c_int, self.handle)

    @property
    def codec(self):
        return self._native.value("mtmlVpuGetUtilization", CodecUtil, self.vpu)

    @property
    def ecc(self):
        """Current and pending ECC mode, or None."""
        current, pending = c_uint(), c_uint()
        if not self._native.call("mtmlMemoryGetEccMode", self.memory, ctypes.byref(current), ctypes.byref(pending)):
            return None
        return current.value, pending.value

    @property
    def retired_pages(self):
        return self._native.value("mtmlMemoryGetRetiredPagesCount", PageCount, self.memory)

    @property
    def retirement_pending(self):
        return self.of_memory("mtmlMemoryGetRetiredPagesPendingStatus")

    def fans(self):
        """Speed of each fan in percent, or None."""
        count = self._native.number("mtmlDeviceCountFan", c_uint, self.handle)
        if count is None:
            return None
        return [self._native.number("mtmlDeviceGetFanSpeed", c_uint, self.handle, fan) for fan in range(count)]

    def displays(self):
        """Specification of each display interface, or None."""
        count = self._native.number("mtmlDeviceCountDisplayInterface", c_uint, self.handle)
        if count is None:
            return None
        name = "mtmlDeviceGetDisplayInterfaceSpec"
        return [self._native.value(name, DisplaySpec, self.handle, display) for display in range(count)]

    def sessions(self, direction):
        """Frame rates of the active "Encoder" or "Decoder" sessions, or None."""
        capacity = [c_uint(), c_uint()]
        if not self._native.call("mtmlVpuGetCodecCapacity", self.vpu, *map(ctypes.byref, capacity)):
            return None
        states = (c_int * (capacity[direction == "Decoder"].value or 1))()
        if not self._native.call("mtmlVpuGet%sSessionStates" % direction, self.vpu, states, len(states)):
            return None
        name = "mtmlVpuGet%sSessionMetrics" % direction
        metrics = [
            self._native.value(name, SessionMetrics, self.vpu, session)
            for session, state in enumerate(states)
            if state == 1
        ]
        return [session.frame_rate for session in metrics if session]

    # Place in the machine.

    def cpus(self):
        return self._native.mask("mtmlDeviceGetCpuAffinityWithinNode", self.handle)

    def nodes(self):
        return self._native.mask("mtmlDeviceGetMemoryAffinityWithinNode", self.handle)

    def level(self, other):
        """Name of what two devices have in common on their way, or None."""
        level = self._native.number("mtmlDeviceGetTopologyLevel", c_uint, self.handle, other.handle)
        return LEVELS[level] if level is not None and level < len(LEVELS) else None

    def p2p(self, other, capability):
        return self._native.number("mtmlDeviceGetP2PStatus", c_uint, self.handle, other.handle, capability)

    def links(self):
        """State of each MtLink, or None where the device has none."""
        if self.property is None or not self.property.mtlink_capability:
            return None
        spec = self._native.value("mtmlDeviceGetMtLinkSpec", LinkSpec, self.handle)
        if spec is None:
            return None
        states = [self._native.number("mtmlDeviceGetMtLinkState", c_uint, self.handle, i) for i in range(spec.links)]
        return [LINK_STATES.get(state) for state in states]

    def links_to(self, other):
        """Numbers of the links that join two devices (list, empty where none does)."""
        count = self._native.number("mtmlDeviceCountMtLinkLayouts", c_uint, self.handle, other.handle)
        layouts = (LinkLayout * (count or 0))()
        name = "mtmlDeviceGetMtLinkLayouts"
        if not count or not self._native.call(name, self.handle, other.handle, count, layouts):
            return []
        return [layout.local for layout in layouts]


class Machine:
    """The initialized library, to be used in a with block.

    Raises: LibraryError.
    """

    def __init__(self):
        self._native = _Native()
        self._library = ctypes.c_void_p()

    def __enter__(self):
        functions = self._native.functions
        status = functions.mtmlLibraryInit(ctypes.byref(self._library))
        if status != SUCCESS:
            functions.mtmlErrorString.restype = ctypes.c_char_p
            raise LibraryError(functions.mtmlErrorString(status).decode("utf-8", "replace"))
        system = self._native.handle("mtmlLibraryInitSystem", self._library)
        self.driver = self._native.text("mtmlSystemGetDriverVersion", system, 256)
        count = self._native.number("mtmlLibraryCountDevice", c_uint, self._library) or 0
        name = "mtmlLibraryInitDeviceByIndex"
        handles = [self._native.handle(name, self._library, index) for index in range(count)]
        self.devices = [Device(self._native, handle, index) for index, handle in enumerate(handles) if handle]
        return self

    def key(self, device, name):
        """A key of the simulated card that a device is or belongs to; empty where there is none (str)."""
        get = self._native.functions.mtmlSimGet
        buffer = ctypes.create_string_buffer(65536)
        for card in range(64):
            if (
                get(card, b"uuid", buffer, c_size_t(len(buffer)))
                or buffer.value.decode("utf-8", "replace") == device.uuid
            ):
                break
        if get(card, name.encode(), buffer, c_size_t(len(buffer))):
            return ""
        return buffer.value.decode("utf-8", "replace")

    def __exit__(self, *unused):
        self._native.functions.mtmlLibraryShutDown(self._library)
