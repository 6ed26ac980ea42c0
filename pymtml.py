"""Management of Moore Threads GPUs: the MTML C API, and NVIDIA's pynvml API on top of it.

Quick start::

    from pymtml import *
    mtmlLibraryInit()
    for index in range(mtmlLibraryCountDevice()):
        device = mtmlLibraryInitDeviceByIndex(index)
        memory = mtmlDeviceInitMemory(device)
        print(mtmlDeviceGetName(device), mtmlMemoryGetUsed(memory), "of", mtmlMemoryGetTotal(memory), "bytes")
    mtmlLibraryShutDown()

Programs written for NVIDIA's module run unmodified with ``import pymtml as pynvml``.

Units: memory in bytes, clocks in MHz, power in mW, temperatures in degrees Celsius (signed), utilization in percent,
sample periods and time stamps in microseconds, PCIe speeds in Mbps (nvmlDeviceGetPcieSpeed) or in GT/s per lane.

Unknown values: a function raises an error if the hardware or the driver does not provide its value. Some structs and
tuples must hold something in the place of an unknown value. That is 0 for ``reserved`` of memory version 2, for the
memory, encoder and decoder shares of processes and virtual devices, for the lowest temperature of a thermal sensor, for
engines and P2P of an instance profile, and for the start of the placement of an instance; (0, 0) for an unknown compute
capability; "" for ``deviceClass`` and 0 for ``gpuCores`` of c_mtmlVirtType_t, two fields of other bindings.
``usedGpuMemory`` of a process is None, NVML's value for unknown, if the driver does not report it. Lists of processes
hold only the processes that are visible; ``unseen_processes()`` returns the number of processes that could not be
inspected.

Errors: ``mtml*`` functions raise ``MTMLError_*``, ``nvml*`` functions ``NVMLError_*``. Either is caught by
``except MTMLError`` and by ``except NVMLError``.

Environment: PYMTML_LIBRARY (file of the MTML library to load, instead of libmtml.so.2 or libmtml.so),
PYMTML_MUSA_LIBRARY (file of the MUSA driver library, instead of libmusa.so.1 or libmusa.so; only its version is read),
PYMTML_PROC_ROOT and PYMTML_SYS_ROOT (roots of the proc and sys file systems, instead of /proc and /sys),
PYMTML_KEEP_LIBRARY (what the last shutdown does with the C library; unset: nvmlShutdown keeps it initialized for the
next init, mtmlLibraryShutDown shuts it down; 0: both shut it down; 1: both keep it), PYMTML_ENERGY (``sample``:
nvmlDeviceGetTotalEnergyConsumption adds up samples of the power), PYMTML_PROCESS_MEMORY (0: the driver is never asked
for the memory of processes), PYMTML_UUID (``nvml``: nvmlDeviceGetUUID puts GPU- or MIG- before MTML's text; ``mtml``:
it does not; unset: it does if the drop-in makes pymtml the module pynvml).

Map of this file (search for ``==== 7.`` to find section 7):

Part I: native
    1. MTML constants
    2. Errors
    3. Handles
    4. Structs
    5. Loader, prototypes, function pointers
    6. The life
    7. Calls
    8. mtml* functions
    9. Functions outside the 2.2.0 header
Part II: NVML facade
    10. NVML vocabulary of the facade
    11. Facade structs
    12. Translation tables
    13. Facade plumbing
    14. nvml* functions that return a value
    15. C-style function pointers
    16. Framework hooks
Part III: generated
    17. The rest of nvidia-ml-py's public names
    18. nvml* functions without an MTML counterpart
    19. Module attributes

Both sections of nvml* functions have the same groups (search for ``---- Clocks ----``): Library and system, Events,
Confidential computing, Device handles, Identity, Display and modes, Memory, Utilization and codecs, Temperature,
Clocks, Power and performance state, Fans, PCIe link, ECC and retired pages, Topology and affinity, NVLink (MtLink),
MIG (MPC), vGPU, Processes, Field values and GPM, Units.
"""

import os
import sys

_current_folder = None
if __name__ == "__main__" or getattr(sys, "argv", [])[:1] == ["-m"]:
    try:
        # ``python -m`` puts the current folder first on the path: do not import files that other users left there.
        if sys.path[:1] == [os.getcwd()] != [os.path.dirname(os.path.abspath(__file__))]:
            _current_folder = sys.path.pop(0)
    except OSError:  # the folder is gone
        pass

import _thread  # noqa: E402
import ctypes  # noqa: E402

# nvidia-ml-py re-exports the names of ctypes, and programs use them: pynvml.byref, pynvml.c_uint ...
from ctypes import *  # noqa: E402, F401, F403
from ctypes import (  # noqa: E402, F401
    CDLL,
    POINTER,
    Structure,
    Union,
    byref,
    c_char,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_longlong,
    c_ubyte,
    c_uint,
    c_ulong,
    c_ulonglong,
    c_ushort,
    c_void_p,
)

if _current_folder is not None and __name__ != "__main__":
    # Another program that ``python -m`` runs may need it; for pymtml itself, pymtml/__main__.py removes it again.
    sys.path.insert(0, _current_folder)

__version__ = "0.3.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ctypes import _PyCStructType as _StructureType  # a type of ctypes without a public name
    from typing import Any as _Any
else:
    _Any = object  # typing.get_type_hints works with it, and typing need not be imported
    _StructureType = type(Structure)

# ======================================================================================================================
# ==== Part I: native ==================================================================================================
# ======================================================================================================================

# ==== 1. MTML constants ===============================================================================================

# BEGIN generated MTML constants
# Buffer sizes and formats
MTML_LIBRARY_VERSION_BUFFER_SIZE = 32
MTML_DRIVER_VERSION_BUFFER_SIZE = 80
MTML_DEVICE_NAME_BUFFER_SIZE = 32
MTML_DEVICE_UUID_BUFFER_SIZE = 48
MTML_DEVICE_MTBIOS_VERSION_BUFFER_SIZE = 64
MTML_DEVICE_VBIOS_VERSION_BUFFER_SIZE = 64
MTML_DEVICE_PATH_BUFFER_SIZE = 64
MTML_DEVICE_PCI_SBDF_BUFFER_SIZE = 32
MTML_VIRT_TYPE_ID_BUFFER_SIZE = 16
MTML_VIRT_TYPE_CLASS_BUFFER_SIZE = 32
MTML_VIRT_TYPE_NAME_BUFFER_SIZE = 32
MTML_VIRT_TYPE_API_BUFFER_SIZE = 16
MTML_DEVICE_PCI_BUS_ID_FMT = "%08X:%02X:%02X.0"
MTML_LOG_FILE_PATH_BUFFER_SIZE = 200
MTML_MPC_PROFILE_NAME_BUFFER_SIZE = 32
MTML_MPC_CONF_NAME_BUFFER_SIZE = 32
MTML_MPC_CONF_MAX_PROF_NUM = 16
MTML_DEVICE_SLOT_NAME_BUFFER_SIZE = 32
MTML_MEMORY_VENDOR_BUFFER_SIZE = 64
MTML_DEVICE_SERIAL_NUMBER_BUFFER_SIZE = 64

# MtmlReturn
MTML_SUCCESS = 0
MTML_ERROR_DRIVER_NOT_LOADED = 1
MTML_ERROR_DRIVER_FAILURE = 2
MTML_ERROR_INVALID_ARGUMENT = 3
MTML_ERROR_NOT_SUPPORTED = 4
MTML_ERROR_NO_PERMISSION = 5
MTML_ERROR_INSUFFICIENT_SIZE = 6
MTML_ERROR_NOT_FOUND = 7
MTML_ERROR_INSUFFICIENT_MEMORY = 8
MTML_ERROR_DRIVER_TOO_OLD = 9
MTML_ERROR_DRIVER_TOO_NEW = 10
MTML_ERROR_TIMEOUT = 11
MTML_ERROR_RESOURCE_IS_BUSY = 12
MTML_ERROR_UNKNOWN = 999

# MtmlBrandType
MTML_BRAND_MTT = 0
MTML_BRAND_UNKNOWN = 1
MTML_BRAND_COUNT = 2

# MtmlMemoryType
MTML_MEM_TYPE_LPDDR4 = 0
MTML_MEM_TYPE_GDDR6 = 1

# MtmlCodecType
MTML_CODEC_TYPE_AVC = 0
MTML_CODEC_TYPE_VC1 = 1
MTML_CODEC_TYPE_MPEG2 = 2
MTML_CODEC_TYPE_MPEG4 = 3
MTML_CODEC_TYPE_H263 = 4
MTML_CODEC_TYPE_DIV3 = 5
MTML_CODEC_TYPE_RV = 6
MTML_CODEC_TYPE_AVS = 7
MTML_CODEC_TYPE_RSVD1 = 8
MTML_CODEC_TYPE_THO = 9
MTML_CODEC_TYPE_VP3 = 10
MTML_CODEC_TYPE_VP8 = 11
MTML_CODEC_TYPE_HEVC = 12
MTML_CODEC_TYPE_VP9 = 13
MTML_CODEC_TYPE_AVS2 = 14
MTML_CODEC_TYPE_RSVD2 = 15
MTML_CODEC_TYPE_AV1 = 16
MTML_CODEC_TYPE_COUNT = 17

# MtmlCodecSessionState
MTML_CODEC_SESSION_STATE_UNKNOWN = -1
MTML_CODEC_SESSION_STATE_IDLE = 0
MTML_CODEC_SESSION_STATE_ACTIVE = 1
MTML_CODEC_SESSION_STATE_COUNT = 2

# MtmlVirtCapability
MTML_DEVICE_NOT_SUPPORT_VIRTUALIZATION = 0
MTML_DEVICE_SUPPORT_VIRTUALIZATION = 1

# MtmlVirtRole
MTML_VIRT_ROLE_NONE = 0
MTML_VIRT_ROLE_HOST_VIRTDEVICE = 1
MTML_VIRT_ROLE_GUEST_VIRTDEVICE = 2
MTML_VIRT_ROLE_COUNT = 3

# MtmlDeviceTopologyLevel
MTML_TOPOLOGY_INTERNAL = 0
MTML_TOPOLOGY_SINGLE = 1
MTML_TOPOLOGY_MULTIPLE = 2
MTML_TOPOLOGY_HOSTBRIDGE = 3
MTML_TOPOLOGY_NODE = 4
MTML_TOPOLOGY_SYSTEM = 5

# MtmlLogLevel
MTML_LOG_LEVEL_OFF = 0
MTML_LOG_LEVEL_FATAL = 1
MTML_LOG_LEVEL_ERROR = 2
MTML_LOG_LEVEL_WARNING = 3
MTML_LOG_LEVEL_INFO = 4

# MtmlMpcMode
MTML_DEVICE_MPC_DISABLE = 0
MTML_DEVICE_MPC_ENABLE = 1

# MtmlMpcCapability
MTML_DEVICE_NOT_SUPPORT_MPC = 0
MTML_DEVICE_SUPPORT_MPC = 1

# MtmlMpcType
MTML_MPC_TYPE_NONE = 0
MTML_MPC_TYPE_PARENT = 1
MTML_MPC_TYPE_INSTANCE = 2

# MtmlDeviceP2PStatus
MTML_P2P_STATUS_OK = 0
MTML_P2P_STATUS_CHIPSET_NOT_SUPPORTED = 1
MTML_P2P_STATUS_GPU_NOT_SUPPORTED = 2
MTML_P2P_STATUS_UNKNOWN = 3

# MtmlDeviceP2PCaps
MTML_P2P_CAPS_READ = 0
MTML_P2P_CAPS_WRITE = 1

# MtmlMtLinkState
MTML_MTLINK_STATE_DOWN = 0
MTML_MTLINK_STATE_UP = 1
MTML_MTLINK_STATE_DOWNGRADE = 2

# MtmlMtLinkCap
MTML_MTLINK_CAP_P2P_ACCESS = 0
MTML_MTLINK_CAP_P2P_ATOMICS = 1
MTML_MTLINK_CAP_COUNT = 2

# MtmlMtLinkCapStatus
MTML_MTLINK_CAP_STATUS_NOT_SUPPORTED = 0
MTML_MTLINK_CAP_STATUS_OK = 1

# MtmlMtLinkCapability
MTML_DEVICE_NOT_SUPPORT_MTLINK = 0
MTML_DEVICE_SUPPORT_MTLINK = 1

# MtmlDispIntfType
MTML_DISP_INTF_TYPE_DP = 0
MTML_DISP_INTF_TYPE_EDP = 1
MTML_DISP_INTF_TYPE_VGA = 2
MTML_DISP_INTF_TYPE_HDMI = 3
MTML_DISP_INTF_TYPE_LVDS = 4
MTML_DISP_INTF_TYPE_MAX = 5

# MtmlGpuEngine
MTML_GPU_ENGINE_GEOMETRY = 0
MTML_GPU_ENGINE_2D = 1
MTML_GPU_ENGINE_3D = 2
MTML_GPU_ENGINE_COMPUTE = 3
MTML_GPU_ENGINE_MAX = 4

# MtmlEccMode
MTML_MEMORY_ECC_DISABLE = 0
MTML_MEMORY_ECC_ENABLE = 1

# MtmlPageRetirementCause
MTML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS = 0
MTML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR = 1
MTML_PAGE_RETIREMENT_CAUSE_MAX = 2

# MtmlRetiredPagesPendingState
MTML_RETIRED_PAGES_PENDING_STATE_FALSE = 0
MTML_RETIRED_PAGES_PENDING_STATE_TRUE = 1

# MtmlEccCounterType
MTML_VOLATILE_ECC = 0
MTML_AGGREGATE_ECC = 1
MTML_ECC_COUNTER_TYPE_COUNT = 2

# MtmlMemoryErrorType
MTML_MEMORY_ERROR_TYPE_CORRECTED = 0
MTML_MEMORY_ERROR_TYPE_UNCORRECTED = 1
MTML_MEMORY_ERROR_TYPE_COUNT = 2

# MtmlMemoryLocation
MTML_MEMORY_LOCATION_DRAM = 1
# END generated MTML constants

# Codes that pymtml adds; the C library never returns them
MTML_ERROR_UNINITIALIZED = 666
MTML_ERROR_FUNCTION_NOT_FOUND = 667
MTML_ERROR_GPU_IS_LOST = 669
MTML_ERROR_LIBRARY_NOT_FOUND = 670

# Names of buffer sizes in other MTML bindings
MTML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE = MTML_DRIVER_VERSION_BUFFER_SIZE
MTML_DEVICE_PCI_BUS_ID_BUFFER_SIZE = MTML_DEVICE_PCI_SBDF_BUFFER_SIZE

# ==== 2. Errors =======================================================================================================
# NVML's codes and classes are here too: each MTML class derives from its NVML counterpart, so programs written for
# either API catch every error.


class MTMLError(Exception):
    """Base class of all errors of pymtml; ``MTMLError(code)`` makes an error of that MTML code's class.

    Attributes: ``value`` (MTML's code in MTML classes, NVML's in NVML classes), ``mtml_code`` (the MTML status behind
    the error, None if pymtml itself found it), ``detail`` (more about the error, or None).
    """

    value: "_Any" = None
    mtml_code: "int | None" = None
    detail: "str | None" = None
    _errcode_to_string: "dict[int, str]" = {}
    _valClassMapping: "dict[int, _Any]" = {}
    _unknown_text = "MTML Error with code %s"

    def __new__(cls, *args):
        if args and "_valClassMapping" in cls.__dict__:
            cls = cls._valClassMapping.get(args[0], cls)
        error = Exception.__new__(cls, *args)
        if args and cls.value is None:
            error.value = args[0]
        return error

    def __init__(self, *args):
        Exception.__init__(self, *(args if self.value is None else (self.value,)))

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.args = () if self.value is None else (self.value,)

    def __str__(self):
        text = self._errcode_to_string.get(self.value, self._unknown_text % self.value)
        return text if self.detail is None else "%s: %s" % (text, self.detail)

    def __eq__(self, other):
        return type(self) is type(other) and self.value == other.value

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self), self.value))


class NVMLError(MTMLError):
    """Base class of the errors of ``nvml*`` functions; ``NVMLError(code)`` makes an error of that code's class."""

    _unknown_text = "NVML Error with code %s"
    _errcode_to_string = {}
    _valClassMapping = {}


class _MTMLTexts:
    """Mixin of the MTML classes: finds error texts by MTML's codes instead of NVML's."""

    value: "_Any"
    _errcode_to_string = MTMLError._errcode_to_string
    _unknown_text = MTMLError._unknown_text


class NVMLLibraryMismatchError(Exception):
    """Raised by functions that throwOnVersionMismatch decorates: the loaded library lacks a function."""


# BEGIN generated errors
# Written by tools/generate_errors.py from facts/errors.csv; edit that.

NVML_SUCCESS = 0
NVML_ERROR_UNINITIALIZED = 1
NVML_ERROR_INVALID_ARGUMENT = 2
NVML_ERROR_NOT_SUPPORTED = 3
NVML_ERROR_NO_PERMISSION = 4
NVML_ERROR_ALREADY_INITIALIZED = 5
NVML_ERROR_NOT_FOUND = 6
NVML_ERROR_INSUFFICIENT_SIZE = 7
NVML_ERROR_INSUFFICIENT_POWER = 8
NVML_ERROR_DRIVER_NOT_LOADED = 9
NVML_ERROR_TIMEOUT = 10
NVML_ERROR_IRQ_ISSUE = 11
NVML_ERROR_LIBRARY_NOT_FOUND = 12
NVML_ERROR_FUNCTION_NOT_FOUND = 13
NVML_ERROR_CORRUPTED_INFOROM = 14
NVML_ERROR_GPU_IS_LOST = 15
NVML_ERROR_RESET_REQUIRED = 16
NVML_ERROR_OPERATING_SYSTEM = 17
NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18
NVML_ERROR_IN_USE = 19
NVML_ERROR_MEMORY = 20
NVML_ERROR_NO_DATA = 21
NVML_ERROR_VGPU_ECC_NOT_SUPPORTED = 22
NVML_ERROR_INSUFFICIENT_RESOURCES = 23
NVML_ERROR_FREQ_NOT_SUPPORTED = 24
NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25
NVML_ERROR_DEPRECATED = 26
NVML_ERROR_NOT_READY = 27
NVML_ERROR_GPU_NOT_FOUND = 28
NVML_ERROR_INVALID_STATE = 29
NVML_ERROR_RESET_TYPE_NOT_SUPPORTED = 30
NVML_ERROR_UNKNOWN = 999


class NVMLError_Uninitialized(NVMLError):
    """The library is not initialized."""

    value = NVML_ERROR_UNINITIALIZED


class NVMLError_InvalidArgument(NVMLError):
    """An argument, often a handle, is not valid."""

    value = NVML_ERROR_INVALID_ARGUMENT


class NVMLError_NotSupported(NVMLError):
    """The hardware, the driver or MTML does not support this."""

    value = NVML_ERROR_NOT_SUPPORTED


class NVMLError_NoPermission(NVMLError):
    """The user may not do this."""

    value = NVML_ERROR_NO_PERMISSION


class NVMLError_AlreadyInitialized(NVMLError):
    """The library is initialized already."""

    value = NVML_ERROR_ALREADY_INITIALIZED


class NVMLError_NotFound(NVMLError):
    """No such object exists."""

    value = NVML_ERROR_NOT_FOUND


class NVMLError_InsufficientSize(NVMLError):
    """A buffer is too small."""

    value = NVML_ERROR_INSUFFICIENT_SIZE


class NVMLError_InsufficientPower(NVMLError):
    """The card's power cables are not attached."""

    value = NVML_ERROR_INSUFFICIENT_POWER


class NVMLError_DriverNotLoaded(NVMLError):
    """The kernel driver is not loaded."""

    value = NVML_ERROR_DRIVER_NOT_LOADED


class NVMLError_Timeout(NVMLError):
    """The driver did not answer in time."""

    value = NVML_ERROR_TIMEOUT


class NVMLError_IrqIssue(NVMLError):
    """The kernel has an interrupt problem with the card."""

    value = NVML_ERROR_IRQ_ISSUE


class NVMLError_LibraryNotFound(NVMLError):
    """The shared library cannot be loaded."""

    value = NVML_ERROR_LIBRARY_NOT_FOUND


class NVMLError_FunctionNotFound(NVMLError):
    """The library has no such function."""

    value = NVML_ERROR_FUNCTION_NOT_FOUND


class NVMLError_CorruptedInforom(NVMLError):
    """The card's infoROM is corrupted."""

    value = NVML_ERROR_CORRUPTED_INFOROM


class NVMLError_GpuIsLost(NVMLError):
    """The card can no longer be reached."""

    value = NVML_ERROR_GPU_IS_LOST


class NVMLError_ResetRequired(NVMLError):
    """The card must be reset."""

    value = NVML_ERROR_RESET_REQUIRED


class NVMLError_OperatingSystem(NVMLError):
    """The operating system blocks the card."""

    value = NVML_ERROR_OPERATING_SYSTEM


class NVMLError_LibRmVersionMismatch(NVMLError):
    """The versions of library and driver do not match."""

    value = NVML_ERROR_LIB_RM_VERSION_MISMATCH


class NVMLError_InUse(NVMLError):
    """Another client uses the resource."""

    value = NVML_ERROR_IN_USE


class NVMLError_Memory(NVMLError):
    """There is not enough memory."""

    value = NVML_ERROR_MEMORY


class NVMLError_NoData(NVMLError):
    """There is no data."""

    value = NVML_ERROR_NO_DATA


class NVMLError_VgpuEccNotSupported(NVMLError):
    """vGPU does not support ECC here."""

    value = NVML_ERROR_VGPU_ECC_NOT_SUPPORTED


class NVMLError_InsufficientResources(NVMLError):
    """There are not enough resources (other than memory)."""

    value = NVML_ERROR_INSUFFICIENT_RESOURCES


class NVMLError_FreqNotSupported(NVMLError):
    """The frequency is not supported."""

    value = NVML_ERROR_FREQ_NOT_SUPPORTED


class NVMLError_ArgumentVersionMismatch(NVMLError):
    """The version of a struct is not supported."""

    value = NVML_ERROR_ARGUMENT_VERSION_MISMATCH


class NVMLError_Deprecated(NVMLError):
    """The function is deprecated."""

    value = NVML_ERROR_DEPRECATED


class NVMLError_NotReady(NVMLError):
    """The system is not ready."""

    value = NVML_ERROR_NOT_READY


class NVMLError_GpuNotFound(NVMLError):
    """There is no GPU."""

    value = NVML_ERROR_GPU_NOT_FOUND


class NVMLError_InvalidState(NVMLError):
    """The resource is in the wrong state."""

    value = NVML_ERROR_INVALID_STATE


class NVMLError_ResetTypeNotSupported(NVMLError):
    """The reset type is not supported."""

    value = NVML_ERROR_RESET_TYPE_NOT_SUPPORTED


class NVMLError_Unknown(NVMLError):
    """The driver failed for a reason that it does not name."""

    value = NVML_ERROR_UNKNOWN


class MTMLError_DriverNotLoaded(_MTMLTexts, NVMLError_DriverNotLoaded):
    """The kernel driver is not loaded."""

    value = MTML_ERROR_DRIVER_NOT_LOADED


class MTMLError_DriverFailure(_MTMLTexts, NVMLError_Unknown):
    """The driver failed."""

    value = MTML_ERROR_DRIVER_FAILURE


class MTMLError_InvalidArgument(_MTMLTexts, NVMLError_InvalidArgument):
    """An argument, often a handle, is not valid."""

    value = MTML_ERROR_INVALID_ARGUMENT


class MTMLError_NotSupported(_MTMLTexts, NVMLError_NotSupported):
    """The device, the driver or the library cannot do this."""

    value = MTML_ERROR_NOT_SUPPORTED


class MTMLError_NoPermission(_MTMLTexts, NVMLError_NoPermission):
    """The user may not do this."""

    value = MTML_ERROR_NO_PERMISSION


class MTMLError_InsufficientSize(_MTMLTexts, NVMLError_InsufficientSize):
    """A buffer is too small."""

    value = MTML_ERROR_INSUFFICIENT_SIZE


class MTMLError_NotFound(_MTMLTexts, NVMLError_NotFound):
    """No such object exists."""

    value = MTML_ERROR_NOT_FOUND


class MTMLError_InsufficientMemory(_MTMLTexts, NVMLError_Memory):
    """There is not enough memory."""

    value = MTML_ERROR_INSUFFICIENT_MEMORY


class MTMLError_DriverTooOld(_MTMLTexts, NVMLError_LibRmVersionMismatch):
    """The driver is too old for the library."""

    value = MTML_ERROR_DRIVER_TOO_OLD


class MTMLError_DriverTooNew(_MTMLTexts, NVMLError_LibRmVersionMismatch):
    """The driver is too new for the library."""

    value = MTML_ERROR_DRIVER_TOO_NEW


class MTMLError_Timeout(_MTMLTexts, NVMLError_Timeout):
    """The driver did not answer in time."""

    value = MTML_ERROR_TIMEOUT


class MTMLError_ResourceIsBusy(_MTMLTexts, NVMLError_InUse):
    """The resource is in use."""

    value = MTML_ERROR_RESOURCE_IS_BUSY


class MTMLError_Unknown(_MTMLTexts, NVMLError_Unknown):
    """The library failed for a reason that it does not name."""

    value = MTML_ERROR_UNKNOWN


class MTMLError_Uninitialized(_MTMLTexts, NVMLError_Uninitialized):
    """The library is not initialized."""

    value = MTML_ERROR_UNINITIALIZED


class MTMLError_FunctionNotFound(_MTMLTexts, NVMLError_FunctionNotFound):
    """The loaded library has no such function."""

    value = MTML_ERROR_FUNCTION_NOT_FOUND


class MTMLError_GpuIsLost(_MTMLTexts, NVMLError_GpuIsLost):
    """The card can no longer be reached."""

    value = MTML_ERROR_GPU_IS_LOST


class MTMLError_LibraryNotFound(_MTMLTexts, NVMLError_LibraryNotFound):
    """The shared library cannot be loaded."""

    value = MTML_ERROR_LIBRARY_NOT_FOUND


NVMLError._errcode_to_string.update(
    {
        NVML_ERROR_UNINITIALIZED: "Uninitialized",
        NVML_ERROR_INVALID_ARGUMENT: "Invalid Argument",
        NVML_ERROR_NOT_SUPPORTED: "Not Supported",
        NVML_ERROR_NO_PERMISSION: "Insufficient Permissions",
        NVML_ERROR_ALREADY_INITIALIZED: "Already Initialized",
        NVML_ERROR_NOT_FOUND: "Not Found",
        NVML_ERROR_INSUFFICIENT_SIZE: "Insufficient Size",
        NVML_ERROR_INSUFFICIENT_POWER: "Insufficient External Power",
        NVML_ERROR_DRIVER_NOT_LOADED: "Driver Not Loaded",
        NVML_ERROR_TIMEOUT: "Timeout",
        NVML_ERROR_IRQ_ISSUE: "Interrupt Request Issue",
        NVML_ERROR_LIBRARY_NOT_FOUND: "NVML Shared Library Not Found",
        NVML_ERROR_FUNCTION_NOT_FOUND: "Function Not Found",
        NVML_ERROR_CORRUPTED_INFOROM: "Corrupted infoROM",
        NVML_ERROR_GPU_IS_LOST: "GPU is lost",
        NVML_ERROR_RESET_REQUIRED: "GPU requires restart",
        NVML_ERROR_OPERATING_SYSTEM: "The operating system has blocked the request.",
        NVML_ERROR_LIB_RM_VERSION_MISMATCH: "RM has detected an NVML/RM version mismatch.",
        NVML_ERROR_IN_USE: "In use by another client",
        NVML_ERROR_MEMORY: "Insufficient Memory",
        NVML_ERROR_NO_DATA: "No data",
        NVML_ERROR_VGPU_ECC_NOT_SUPPORTED: "vGPU ECC not supported",
        NVML_ERROR_INSUFFICIENT_RESOURCES: "Insufficient Resources",
        NVML_ERROR_FREQ_NOT_SUPPORTED: "Invalid Frequency",
        NVML_ERROR_ARGUMENT_VERSION_MISMATCH: "Argument version mismatch",
        NVML_ERROR_DEPRECATED: "Requested functionality has been deprecated",
        NVML_ERROR_NOT_READY: "System is not in ready state",
        NVML_ERROR_GPU_NOT_FOUND: "No supported GPUs were found",
        NVML_ERROR_INVALID_STATE: "Resource not in correct state to perform requested operation",
        NVML_ERROR_RESET_TYPE_NOT_SUPPORTED: "Reset type is not supported for given device",
        NVML_ERROR_UNKNOWN: "Unknown Error",
    }
)
MTMLError._errcode_to_string.update(
    {
        MTML_ERROR_DRIVER_NOT_LOADED: "Driver not loaded",
        MTML_ERROR_DRIVER_FAILURE: "Driver failure",
        MTML_ERROR_INVALID_ARGUMENT: "Invalid argument",
        MTML_ERROR_NOT_SUPPORTED: "Not supported",
        MTML_ERROR_NO_PERMISSION: "Insufficient permissions",
        MTML_ERROR_INSUFFICIENT_SIZE: "Insufficient size",
        MTML_ERROR_NOT_FOUND: "Not found",
        MTML_ERROR_INSUFFICIENT_MEMORY: "Insufficient memory",
        MTML_ERROR_DRIVER_TOO_OLD: "Driver too old for this library",
        MTML_ERROR_DRIVER_TOO_NEW: "Driver too new for this library",
        MTML_ERROR_TIMEOUT: "Timeout",
        MTML_ERROR_RESOURCE_IS_BUSY: "Resource is busy",
        MTML_ERROR_UNKNOWN: "Unknown error",
        MTML_ERROR_UNINITIALIZED: "Uninitialized",
        MTML_ERROR_FUNCTION_NOT_FOUND: "Function not found in the loaded library",
        MTML_ERROR_GPU_IS_LOST: "GPU is lost",
        MTML_ERROR_LIBRARY_NOT_FOUND: "MTML shared library not found",
    }
)
# END generated errors

NVMLError._valClassMapping.update((error.value, error) for error in NVMLError.__subclasses__())
MTMLError._valClassMapping.update((error.value, error) for error in _MTMLTexts.__subclasses__())

# ==== 3. Handles ======================================================================================================
# A handle is a ctypes pointer; each native object has one Python handle while the library is initialized. The argument
# for C is made once and stored in a slot of the handle: in one of the attributes _device, _gpu, _memory, _vpu, _system.
# So passing it costs nothing. Only objects of a handle class reach C, and only if the slot is filled. A shutdown
# empties all slots: the handles are then stale.


class struct_c_nvmlDevice_t(Structure):
    """Opaque MtmlDevice; nvidia-ml-py has this name for it."""


class struct_c_mtmlFieldValue_t(Structure):
    """Opaque; mthreads-ml-py has this name, but MTML has no such struct."""


struct_c_mtmlDevice_t = struct_c_nvmlDevice_t
c_mtmlFieldValue_t = POINTER(struct_c_mtmlFieldValue_t)


class _Handle:
    """Base of the handle classes: equality and hash by address; a stale handle equals only itself."""

    __slots__ = ()
    _own = "_device"  # the slot that is empty when the handle is stale

    def __eq__(self, other):
        if self is other:
            return True
        same = isinstance(other, type(self)) and _address(self) == _address(other)
        return same and not (_is_stale(self) or _is_stale(other))

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(_address(self))

    def __reduce__(self):
        raise ValueError("a handle cannot be copied or pickled, as it ends with the library: pass on the UUID")

    def __repr__(self):
        return "<%s 0x%x>" % (type(self).__name__, _address(self))


# BEGIN generated MTML handles
class struct_c_mtmlGpu_t(Structure):
    """Opaque MtmlGpu."""


class c_mtmlGpu_t(_Handle, POINTER(struct_c_mtmlGpu_t)):  # type: ignore[misc]
    """Handle of a device's graphics and compute unit (MtmlGpu *)."""

    _type_ = struct_c_mtmlGpu_t
    __slots__ = ("_address", "_of", "_gpu")
    _own = "_gpu"


class struct_c_mtmlMemory_t(Structure):
    """Opaque MtmlMemory."""


class c_mtmlMemory_t(_Handle, POINTER(struct_c_mtmlMemory_t)):  # type: ignore[misc]
    """Handle of a device's memory (MtmlMemory *)."""

    _type_ = struct_c_mtmlMemory_t
    __slots__ = ("_address", "_of", "_memory")
    _own = "_memory"


class struct_c_mtmlVpu_t(Structure):
    """Opaque MtmlVpu."""


class c_mtmlVpu_t(_Handle, POINTER(struct_c_mtmlVpu_t)):  # type: ignore[misc]
    """Handle of a device's video unit (MtmlVpu *)."""

    _type_ = struct_c_mtmlVpu_t
    __slots__ = ("_address", "_of", "_vpu")
    _own = "_vpu"


class struct_c_mtmlSystem_t(Structure):
    """Opaque MtmlSystem."""


class c_mtmlSystem_t(_Handle, POINTER(struct_c_mtmlSystem_t)):  # type: ignore[misc]
    """Handle of the host system (MtmlSystem *)."""

    _type_ = struct_c_mtmlSystem_t
    __slots__ = ("_address", "_of", "_system")
    _own = "_system"


class struct_c_mtmlLibrary_t(Structure):
    """Opaque MtmlLibrary."""


class c_mtmlLibrary_t(_Handle, POINTER(struct_c_mtmlLibrary_t)):  # type: ignore[misc]
    """Handle of the initialized library (MtmlLibrary *)."""

    _type_ = struct_c_mtmlLibrary_t
    __slots__ = ("_address", "_of", "_library")
    _own = "_library"


# END generated MTML handles


class c_mtmlDevice_t(_Handle, POINTER(struct_c_nvmlDevice_t)):  # type: ignore[misc]
    """Handle of a device (MtmlDevice *): a card, a virtual device, an MPC parent or an MPC instance.

    It stores the arguments for C that stand for the device, its gpu, memory and vpu (each made on first use), and
    constant properties after they were read.
    """

    _type_ = struct_c_nvmlDevice_t
    __slots__ = tuple(
        "_address _of _device _board _gpu _memory _vpu _name _uuid _serial _index _total"
        " _cores _bus_width _pci _minor _driver _wires _links _sysfs _divisible _has_display _memory_errno".split()
    )

    _device: "_Any"  # argument for C: the device
    _board: "_Any"  # the same argument, for properties of the whole board; an MPC instance has none
    _gpu: "_Any"  # argument for C: its gpu
    _memory: "_Any"  # argument for C: its memory
    _vpu: "_Any"  # argument for C: its video unit
    _name: "str"
    _uuid: "str"
    _serial: "str"
    _index: "int"
    _total: "int"  # bytes of memory
    _cores: "int"
    _bus_width: "int"  # bits
    _pci: "bytes"  # an nvmlPciInfo_t
    _minor: "int"
    _links: "int"  # number of its MtLinks
    _divisible: "bool"  # whether MPC can divide it
    _sysfs: "str"  # its directory in sysfs, with a slash at the end; empty if sysfs does not have it
    _wires: "dict[int, list[tuple[int, int | None]]]"  # by a peer's address: (link number here, there)
    _driver: "str"  # its directory below /proc/driver/musa
    _has_display: "bool"  # whether it has display outputs
    _memory_errno: "int"  # why the driver does not report the memory of processes


c_nvmlDevice_t = c_mtmlDevice_t


def _address(handle):
    """Address that a handle points to, 0 for a NULL pointer."""
    try:
        return handle._address
    except AttributeError:
        return ctypes.cast(handle, c_void_p).value or 0


# Makes the C argument for an address: as fast to pass as byref(), and eight times as fast to make.
_pointer_to: "_Any" = c_void_p.from_param


def _new_handle(handle_class, address, of):
    """Handle object for a native address. ``of``: address of the device it belongs to, 0 (system) or None (library)."""
    handle = handle_class.from_buffer_copy(_Pointer(address))
    handle._address, handle._of = address, of
    return handle


def _is_stale(handle):
    """Whether a handle is stale. A copy that ctypes made is never stale: it counts as the handle at its address."""
    return hasattr(handle, "_address") and not hasattr(handle, handle._own)


# ==== 4. Structs ======================================================================================================


class _TextField:
    """Wrapper of a char field of a struct: reading returns str, writing accepts str or bytes."""

    def __init__(self, field):
        self._field = field

    def __get__(self, struct, owner=None):
        if struct is None:
            return self
        value = self._field.__get__(struct)
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.decode("utf-8", "replace")
        except AttributeError:
            return None  # a NULL pointer to char

    def __set__(self, struct, value):
        self._field.__set__(struct, value.encode() if isinstance(value, str) else value)

    def __getattr__(self, name):
        return getattr(self._field, name)

    def __repr__(self):
        return repr(self._field)


class _PrintableStructureType(_StructureType):
    # ctypes assigns _fields_ through this method, when a class is made and when _fields_ is set later. Only the few
    # char fields are wrapped then. nvidia-ml-py has a __getattribute__ in Python instead, which slows down all fields.
    def __setattr__(cls, name, value):
        super().__setattr__(name, value)
        if name == "_fields_":
            for field in value:
                if field[1] in (c_char, c_char_p) or getattr(field[1], "_type_", None) is c_char:
                    super().__setattr__(field[0], _TextField(cls.__dict__[field[0]]))

    if sys.implementation.name == "pypy":

        def __new__(mcs, name, bases, namespace):  # PyPy reads _fields_ from a class body without __setattr__
            fields = namespace.pop("_fields_", None)
            cls = super().__new__(mcs, name, bases, namespace)
            if fields is not None:
                cls._fields_ = fields
            return cls


class _PrintableStructure(Structure, metaclass=_PrintableStructureType):
    """A ctypes struct that prints as `name(field: value, ...)`; its char fields are str.

    `_fmt_` maps a field name to its format, and "<default>" to the format of all other fields.
    """

    _fmt_: "dict[str, str]" = {}

    def __str__(self):
        formats, default = self._fmt_, self._fmt_.get("<default>", "%s")
        values = [(field[0], formats.get(field[0], default) % getattr(self, field[0])) for field in self._fields_]
        return "%s(%s)" % (type(self).__name__, ", ".join("%s: %s" % value for value in values))


class _Alias:
    """Another name of a field or nested field, which other MTML bindings use."""

    def __init__(self, field, unit=None):
        self._field = field
        self.__doc__ = "Alias of ``%s``%s." % (field, ", " + unit if unit else "")

    def _place(self, struct):
        inside, _, name = self._field.rpartition(".")
        return (getattr(struct, inside) if inside else struct), name

    def __get__(self, struct, owner=None):
        return self if struct is None else getattr(*self._place(struct))

    def __set__(self, struct, value):
        holder, name = self._place(struct)
        setattr(holder, name, value)


class nvmlFriendlyObject:
    """An object whose attributes are the entries of `dictionary`: the fields of an NVML struct as Python values."""

    def __init__(self, dictionary):
        self.__dict__.update(dictionary)

    def __str__(self):
        return str(self.__dict__)


def nvmlStructToFriendlyObject(struct) -> "nvmlFriendlyObject":
    """The fields of an NVML struct as an nvmlFriendlyObject; bytes become str."""
    values = {}
    for field in struct._fields_:
        value = getattr(struct, field[0])
        values[field[0]] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return nvmlFriendlyObject(values)


def nvmlFriendlyObjectToStruct(obj, model) -> "_Any":
    """Fills the struct `model` from the attributes of `obj` and returns it; text is stored as UTF-8.

    Raises: KeyError if `obj` lacks a field of `model`.
    """
    for field in model._fields_:
        value = obj.__dict__[field[0]]
        setattr(model, field[0], value.encode("utf-8") if isinstance(value, str) else value)
    return model


class c_mtmlPciInfo_t(_PrintableStructure):
    """MtmlPciInfo: PCI address, ids and link of a device; speeds are GT/s per lane."""

    _fields_ = [
        ("sbdf", c_char * MTML_DEVICE_PCI_SBDF_BUFFER_SIZE),
        ("segment", c_uint),
        ("bus", c_uint),
        ("device", c_uint),
        ("pciDeviceId", c_uint),
        ("pciSubsystemId", c_uint),
        ("busWidth", c_uint),
        ("pciMaxSpeed", c_float),
        ("pciCurSpeed", c_float),
        ("pciMaxWidth", c_uint),
        ("pciCurWidth", c_uint),
        ("pciMaxGen", c_uint),
        ("pciCurGen", c_uint),
        ("rsvd", c_int * 6),
    ]
    _fmt_ = {
        "segment": "0x%08X",
        "bus": "0x%02X",
        "device": "0x%02X",
        "pciDeviceId": "0x%08X",
        "pciSubsystemId": "0x%08X",
    }

    @property
    def busId(self):
        """PCI address as text: ``sbdf``, or made from the numbers if the driver leaves ``sbdf`` empty."""
        return self.sbdf or (MTML_DEVICE_PCI_BUS_ID_FMT % (self.segment, self.bus, self.device)).lower()


class c_mtmlCodecSessionState_t(_PrintableStructure):
    """MtmlCodecSessionState; made from a MTML_CODEC_SESSION_STATE_* value or, in lists, from (session id, state)."""

    _fields_ = [("state", c_int)]
    sessionId = 0  # not in C, where it is the entry's place in the list

    def __init__(self, *values, **fields):
        if len(values) == 2:
            self.sessionId, values = values[0], values[1:]
        super().__init__(*values, **fields)

    def __str__(self):
        return "%s(sessionId: %s, state: %s)" % (type(self).__name__, self.sessionId, self.state)

    value = _Alias("state")


_mtmlCodecSessionState_t = c_mtmlCodecSessionState_t  # the name that other MTML bindings have for it


class c_mtmlVirtType_t(_PrintableStructure):
    """MtmlVirtType: a type of virtual device; frame buffer in MB."""

    _fields_ = [
        ("id", c_char * MTML_VIRT_TYPE_ID_BUFFER_SIZE),
        ("name", c_char * MTML_VIRT_TYPE_NAME_BUFFER_SIZE),
        ("api", c_char * MTML_VIRT_TYPE_API_BUFFER_SIZE),
        ("horizontalResolution", c_uint),
        ("verticalResolution", c_uint),
        ("frameBuffer", c_uint),
        ("maxEncodeNum", c_uint),
        ("maxDecodeNum", c_uint),
        ("maxInstances", c_uint),
        ("maxVirtualDisplay", c_uint),
        ("rsvd", c_int * 11),
    ]

    deviceClass = ""  # other bindings have these two fields; MTML provides neither value
    gpuCores = 0

    apiType = _Alias("api")
    maxResWidth = _Alias("horizontalResolution", "pixels")
    maxResHeight = _Alias("verticalResolution", "pixels")

    @property
    def memSize(self):
        """Frame buffer in bytes."""
        return self.frameBuffer * 1024 * 1024

    encoderNum = _Alias("maxEncodeNum")
    decoderNum = _Alias("maxDecodeNum")


c_mtmlLogCallback_t = ctypes.CFUNCTYPE(None, c_char_p, c_uint)
_mtmlLogCallback_t = c_mtmlLogCallback_t


class c_mtmlLogConsoleConfiguration_t(_PrintableStructure):
    """Log level of the console."""

    _fields_ = [("level", c_uint), ("rsvd", c_int * 2)]


class c_mtmlLogSystemConfiguration_t(_PrintableStructure):
    """Log level of the system log."""

    _fields_ = [("level", c_uint), ("rsvd", c_int * 2)]


class c_mtmlLogFileConfiguration_t(_PrintableStructure):
    """Log level, path and maximum size of the log file; MTML does not document the unit of the size."""

    _fields_ = [
        ("level", c_uint),
        ("file", c_char * MTML_LOG_FILE_PATH_BUFFER_SIZE),
        ("size", c_uint),
        ("rsvd", c_int * 2),
    ]


class c_mtmlLogCallbackConfiguration_t(_PrintableStructure):
    """Log level of a callback, and the callback: a ``c_mtmlLogCallback_t`` made from ``function(message, length)``."""

    _fields_ = [("level", c_uint), ("callback", _mtmlLogCallback_t), ("rsvd", c_int * 2)]


class c_mtmlLogConfiguration_t(_PrintableStructure):
    """MtmlLogConfiguration: where the library logs, with a log level for each place."""

    _fields_ = [
        ("consoleConfig", c_mtmlLogConsoleConfiguration_t),
        ("systemConfig", c_mtmlLogSystemConfiguration_t),
        ("fileConfig", c_mtmlLogFileConfiguration_t),
        ("callbackConfig", c_mtmlLogCallbackConfiguration_t),
        ("rsvd", c_int * 8),
    ]

    filePath = _Alias("fileConfig.file")
    maxSize = _Alias("fileConfig.size")
    logLevel = _Alias("fileConfig.level")


class c_mtmlMpcProfile_t(_PrintableStructure):
    """MtmlMpcProfile: the share of a card that one MPC instance gets."""

    _fields_ = [
        ("id", c_uint),
        ("coreCount", c_uint),
        ("memorySizeMB", c_ulonglong),
        ("name", c_char * MTML_MPC_PROFILE_NAME_BUFFER_SIZE),
        ("rsvd", c_uint * 10),
    ]

    profileId = _Alias("id")
    gpuCores = _Alias("coreCount")

    @property
    def memSize(self):
        """Memory in bytes."""
        return self.memorySizeMB * 1024 * 1024


class c_mtmlMpcConfiguration_t(_PrintableStructure):
    """MtmlMpcConfiguration: a way to divide a card; ``profileId`` is a list of ids that ends before the first -1."""

    _fields_ = [
        ("id", c_uint),
        ("name", c_char * MTML_MPC_CONF_NAME_BUFFER_SIZE),
        ("profileId", c_int * MTML_MPC_CONF_MAX_PROF_NUM),
        ("rsvd", c_uint * 24),
    ]

    profileIds = _Alias("profileId")

    @property
    def profileNum(self):
        """Number of instances that this configuration makes."""
        ids = list(self.profileId)
        return ids.index(-1) if -1 in ids else len(ids)


# BEGIN generated MTML structs
class c_mtmlPciSlotInfo_t(_PrintableStructure):
    """MtmlPciSlotInfo: number and label of the physical slot."""

    _fields_ = [("slotId", c_uint), ("slotName", c_char * 32), ("rsvd", c_uint * 4)]

    slotType = _Alias("slotId")


class c_mtmlCodecUtil_t(_PrintableStructure):
    """MtmlCodecUtil: utilization of the video unit in percent, over a sample period in microseconds."""

    _fields_ = [("util", c_uint), ("period", c_uint), ("encUtil", c_uint), ("decUtil", c_uint), ("rsvd", c_int * 2)]

    encodeUtil = _Alias("encUtil")
    decodeUtil = _Alias("decUtil")


class c_mtmlCodecSessionMetrics_t(_PrintableStructure):
    """MtmlCodecSessionMetrics: one encoder or decoder session; bit rate in bits per second, latency in microseconds."""

    _fields_ = [
        ("id", c_uint),
        ("pid", c_uint),
        ("hResolution", c_uint),
        ("vResolution", c_uint),
        ("frameRate", c_uint),
        ("bitRate", c_uint),
        ("latency", c_uint),
        ("codecType", c_uint),
        ("rsvd", c_int * 4),
    ]

    sessionId = _Alias("id")
    width = _Alias("hResolution", "pixels")
    height = _Alias("vResolution", "pixels")
    fps = _Alias("frameRate", "frames per second")


class c_mtmlDeviceProperty_t(_PrintableStructure):
    """MtmlDeviceProperty: virtualization, MPC and MtLink flags of a device, as bit fields."""

    _fields_ = [
        ("virtCap", c_uint, 1),
        ("virtRole", c_uint, 3),
        ("mpcCap", c_uint, 1),
        ("mpcType", c_uint, 3),
        ("mtLinkCap", c_uint, 1),
        ("rsvd", c_uint, 23),
        ("rsvd2", c_uint, 32),
    ]

    virtCapability = _Alias("virtCap")
    mpcCapability = _Alias("mpcCap")
    mtLinkCapability = _Alias("mtLinkCap")


class c_mtmlMtLinkSpec_t(_PrintableStructure):
    """MtmlMtLinkSpec: packed version (major * 10000 + minor * 100 + patch), GB/s per link, number of links."""

    _fields_ = [("version", c_uint), ("bandWidth", c_uint), ("linkNum", c_uint), ("rsvd", c_uint * 4)]


class c_mtmlMtLinkLayout_t(_PrintableStructure):
    """MtmlMtLinkLayout: one direct link between two devices, with its number on each device."""

    _fields_ = [("localLinkId", c_uint), ("remoteLinkId", c_uint), ("rsvd", c_uint * 4)]


class c_mtmlDispIntfSpec_t(_PrintableStructure):
    """MtmlDispIntfSpec: a display output, its maximum resolution in pixels and refresh rate in Hz."""

    _fields_ = [
        ("type", c_uint),
        ("maxHoriRes", c_uint),
        ("maxVertRes", c_uint),
        ("maxRefreshRate", c_float),
        ("rsvd", c_uint * 8),
    ]

    maxResWidth = _Alias("maxHoriRes", "pixels")
    maxResHeight = _Alias("maxVertRes", "pixels")


class c_mtmlPageRetirementCount_t(_PrintableStructure):
    """MtmlPageRetirementCount: pages retired after single-bit and after double-bit errors."""

    _fields_ = [("sbeCount", c_uint), ("dbeCount", c_uint)]

    singleBitEcc = _Alias("sbeCount")
    doubleBitEcc = _Alias("dbeCount")


class c_mtmlPageRetirement_t(_PrintableStructure):
    """MtmlPageRetirement: a retired page, by hardware address and time of retirement."""

    _fields_ = [("timestamps", c_ulonglong), ("address", c_ulonglong), ("rsvd", c_uint * 10)]
    _fmt_ = {"address": "0x%x"}

    timestamp = _Alias("timestamps")


class c_mtmlPageRetirementPending_t(_PrintableStructure):
    """MtmlPageRetirementPending: the header declares it, but no function of MTML 2.2.0 uses it."""

    _fields_ = [("cause", c_uint), ("timestamps", c_ulonglong), ("address", c_ulonglong), ("rsvd", c_uint * 10)]
    _fmt_ = {"address": "0x%x"}

    timestamp = _Alias("timestamps")


# END generated MTML structs

# ==== 5. Loader, prototypes, function pointers ========================================================================

# The C parameters of each function, in header order. This module passes ready-made arguments to C and needs no
# argtypes. Functions that _mtmlGetFunctionPointer returns get their argtypes and restype from these tables.
# BEGIN generated MTML prototypes
_PROTOTYPES: "dict[str, tuple[str, ...]]" = {
    "mtmlLibraryInit": ("MtmlLibrary **",),
    "mtmlLibraryShutDown": ("MtmlLibrary *",),
    "mtmlLibraryGetVersion": ("const MtmlLibrary *", "char *", "unsigned int"),
    "mtmlLibraryInitSystem": ("const MtmlLibrary *", "MtmlSystem **"),
    "mtmlLibraryFreeSystem": ("MtmlSystem *",),
    "mtmlLibraryCountDevice": ("const MtmlLibrary *", "unsigned int *"),
    "mtmlLibraryInitDeviceByIndex": ("const MtmlLibrary *", "unsigned int", "MtmlDevice **"),
    "mtmlLibraryInitDeviceByUuid": ("const MtmlLibrary *", "const char *", "MtmlDevice **"),
    "mtmlLibraryInitDeviceByPciSbdf": ("const MtmlLibrary *", "const char *", "MtmlDevice **"),
    "mtmlLibrarySetMpcConfigurationInBatch": ("const MtmlLibrary *", "unsigned int", "MtmlDevice **", "unsigned int *"),
    "mtmlLibraryFreeDevice": ("MtmlDevice *",),
    "mtmlSystemGetDriverVersion": ("const MtmlSystem *", "char *", "unsigned int"),
    "mtmlDeviceInitGpu": ("const MtmlDevice *", "MtmlGpu **"),
    "mtmlDeviceFreeGpu": ("MtmlGpu *",),
    "mtmlDeviceInitMemory": ("const MtmlDevice *", "MtmlMemory **"),
    "mtmlDeviceFreeMemory": ("MtmlMemory *",),
    "mtmlDeviceInitVpu": ("const MtmlDevice *", "MtmlVpu **"),
    "mtmlDeviceFreeVpu": ("MtmlVpu *",),
    "mtmlDeviceGetIndex": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetUUID": ("const MtmlDevice *", "char *", "unsigned int"),
    "mtmlDeviceGetBrand": ("const MtmlDevice *", "MtmlBrandType *"),
    "mtmlDeviceGetName": ("const MtmlDevice *", "char *", "unsigned int"),
    "mtmlDeviceGetPciInfo": ("const MtmlDevice *", "MtmlPciInfo *"),
    "mtmlDeviceGetPowerUsage": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetGpuPath": ("const MtmlDevice *", "char *", "unsigned int"),
    "mtmlDeviceGetPrimaryPath": ("const MtmlDevice *", "char *", "unsigned int"),
    "mtmlDeviceGetRenderPath": ("const MtmlDevice *", "char *", "unsigned int"),
    "mtmlDeviceGetVbiosVersion": ("const MtmlDevice *", "char *", "unsigned int"),
    "mtmlDeviceGetMtBiosVersion": ("const MtmlDevice *", "char *", "unsigned int"),
    "mtmlDeviceGetProperty": ("const MtmlDevice *", "MtmlDeviceProperty *"),
    "mtmlDeviceCountFan": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetFanSpeed": ("const MtmlDevice *", "unsigned int", "unsigned int *"),
    "mtmlDeviceGetFanRpm": ("const MtmlDevice *", "unsigned int", "unsigned int *"),
    "mtmlDeviceGetPcieSlotInfo": ("const MtmlDevice *", "MtmlPciSlotInfo *"),
    "mtmlDeviceCountDisplayInterface": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetDisplayInterfaceSpec": ("const MtmlDevice *", "unsigned int", "MtmlDispIntfSpec *"),
    "mtmlDeviceGetSerialNumber": ("const MtmlDevice *", "unsigned int", "char *"),
    "mtmlDeviceCountGpuCores": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceCountSupportedVirtTypes": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetSupportedVirtTypes": ("const MtmlDevice *", "MtmlVirtType *", "unsigned int"),
    "mtmlDeviceCountAvailVirtTypes": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetAvailVirtTypes": ("const MtmlDevice *", "MtmlVirtType *", "unsigned int"),
    "mtmlDeviceCountAvailVirtDevices": ("const MtmlDevice *", "const MtmlVirtType *", "unsigned int *"),
    "mtmlDeviceCountActiveVirtDevices": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetActiveVirtDeviceUuids": ("const MtmlDevice *", "char *", "unsigned int", "unsigned int"),
    "mtmlDeviceCountMaxVirtDevices": ("const MtmlDevice *", "const MtmlVirtType *", "unsigned int *"),
    "mtmlDeviceInitVirtDevice": ("const MtmlDevice *", "const char *", "MtmlDevice **"),
    "mtmlDeviceFreeVirtDevice": ("MtmlDevice *",),
    "mtmlDeviceGetVirtType": ("const MtmlDevice *", "MtmlVirtType *"),
    "mtmlDeviceGetPhyDeviceUuid": ("const MtmlDevice *", "char *", "unsigned int"),
    "mtmlDeviceGetTopologyLevel": ("const MtmlDevice *", "const MtmlDevice *", "MtmlDeviceTopologyLevel *"),
    "mtmlDeviceCountDeviceByTopologyLevel": ("const MtmlDevice *", "MtmlDeviceTopologyLevel", "unsigned int *"),
    "mtmlDeviceGetDeviceByTopologyLevel": (
        "const MtmlDevice *",
        "MtmlDeviceTopologyLevel",
        "unsigned int",
        "MtmlDevice **",
    ),
    "mtmlDeviceGetP2PStatus": (
        "const MtmlDevice *",
        "const MtmlDevice *",
        "MtmlDeviceP2PCaps",
        "MtmlDeviceP2PStatus *",
    ),
    "mtmlGpuGetUtilization": ("const MtmlGpu *", "unsigned int *"),
    "mtmlGpuGetTemperature": ("const MtmlGpu *", "int *"),
    "mtmlGpuGetClock": ("const MtmlGpu *", "unsigned int *"),
    "mtmlGpuGetMaxClock": ("const MtmlGpu *", "unsigned int *"),
    "mtmlGpuGetEngineUtilization": ("const MtmlGpu *", "MtmlGpuEngine", "unsigned int *"),
    "mtmlMemoryGetTotal": ("const MtmlMemory *", "unsigned long long *"),
    "mtmlMemoryGetUsed": ("const MtmlMemory *", "unsigned long long *"),
    "mtmlMemoryGetUsedSystem": ("const MtmlMemory *", "unsigned long long *"),
    "mtmlMemoryGetUtilization": ("const MtmlMemory *", "unsigned int *"),
    "mtmlMemoryGetClock": ("const MtmlMemory *", "unsigned int *"),
    "mtmlMemoryGetMaxClock": ("const MtmlMemory *", "unsigned int *"),
    "mtmlMemoryGetBusWidth": ("const MtmlMemory *", "unsigned int *"),
    "mtmlMemoryGetBandwidth": ("const MtmlMemory *", "unsigned int *"),
    "mtmlMemoryGetSpeed": ("const MtmlMemory *", "unsigned int *"),
    "mtmlMemoryGetVendor": ("const MtmlMemory *", "unsigned int", "char *"),
    "mtmlMemoryGetType": ("const MtmlMemory *", "MtmlMemoryType *"),
    "mtmlVpuGetUtilization": ("const MtmlVpu *", "MtmlCodecUtil *"),
    "mtmlVpuGetClock": ("const MtmlVpu *", "unsigned int *"),
    "mtmlVpuGetMaxClock": ("const MtmlVpu *", "unsigned int *"),
    "mtmlVpuGetCodecCapacity": ("const MtmlVpu *", "unsigned int *", "unsigned int *"),
    "mtmlVpuGetEncoderSessionStates": ("const MtmlVpu *", "MtmlCodecSessionState *", "unsigned int"),
    "mtmlVpuGetEncoderSessionMetrics": ("const MtmlVpu *", "unsigned int", "MtmlCodecSessionMetrics *"),
    "mtmlVpuGetDecoderSessionStates": ("const MtmlVpu *", "MtmlCodecSessionState *", "unsigned int"),
    "mtmlVpuGetDecoderSessionMetrics": ("const MtmlVpu *", "unsigned int", "MtmlCodecSessionMetrics *"),
    "mtmlLogSetConfiguration": ("const MtmlLogConfiguration *",),
    "mtmlLogGetConfiguration": ("MtmlLogConfiguration *",),
    "mtmlErrorString": ("MtmlReturn",),
    "mtmlDeviceSetMpcMode": ("const MtmlDevice *", "MtmlMpcMode"),
    "mtmlDeviceGetMpcMode": ("const MtmlDevice *", "MtmlMpcMode *"),
    "mtmlDeviceCountSupportedMpcProfiles": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetSupportedMpcProfiles": ("const MtmlDevice *", "unsigned int", "MtmlMpcProfile *"),
    "mtmlDeviceCountSupportedMpcConfigurations": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetSupportedMpcConfigurations": ("const MtmlDevice *", "unsigned int", "MtmlMpcConfiguration *"),
    "mtmlDeviceGetMpcConfiguration": ("const MtmlDevice *", "MtmlMpcConfiguration *"),
    "mtmlDeviceGetMpcConfigurationByName": ("const MtmlDevice *", "const char *", "MtmlMpcConfiguration *"),
    "mtmlDeviceSetMpcConfiguration": ("const MtmlDevice *", "unsigned int"),
    "mtmlDeviceCountMpcInstancesByProfileId": ("const MtmlDevice *", "unsigned int", "unsigned int *"),
    "mtmlDeviceGetMpcInstancesByProfileId": ("const MtmlDevice *", "unsigned int", "unsigned int", "MtmlDevice **"),
    "mtmlDeviceCountMpcInstances": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetMpcInstances": ("const MtmlDevice *", "unsigned int", "MtmlDevice **"),
    "mtmlDeviceGetMpcInstanceByIndex": ("const MtmlDevice *", "unsigned int", "MtmlDevice **"),
    "mtmlDeviceGetMpcParentDevice": ("const MtmlDevice *", "MtmlDevice **"),
    "mtmlDeviceGetMpcProfileInfo": ("const MtmlDevice *", "MtmlMpcProfile *"),
    "mtmlDeviceGetMpcInstanceIndex": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetMtLinkSpec": ("const MtmlDevice *", "MtmlMtLinkSpec *"),
    "mtmlDeviceGetMtLinkState": ("const MtmlDevice *", "unsigned int", "MtmlMtLinkState *"),
    "mtmlDeviceGetMtLinkCapStatus": ("const MtmlDevice *", "unsigned int", "MtmlMtLinkCap", "MtmlMtLinkCapStatus *"),
    "mtmlDeviceGetMtLinkRemoteDevice": ("const MtmlDevice *", "unsigned int", "MtmlDevice **"),
    "mtmlDeviceCountMtLinkShortestPaths": (
        "const MtmlDevice *",
        "const MtmlDevice *",
        "unsigned int *",
        "unsigned int *",
    ),
    "mtmlDeviceGetMtLinkShortestPaths": (
        "const MtmlDevice *",
        "const MtmlDevice *",
        "unsigned int",
        "unsigned int",
        "MtmlDevice **",
    ),
    "mtmlDeviceCountMtLinkLayouts": ("const MtmlDevice *", "const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetMtLinkLayouts": ("const MtmlDevice *", "const MtmlDevice *", "unsigned int", "MtmlMtLinkLayout *"),
    "mtmlDeviceGetMemoryAffinityWithinNode": ("const MtmlDevice *", "unsigned int", "unsigned long *"),
    "mtmlDeviceGetCpuAffinityWithinNode": ("const MtmlDevice *", "unsigned int", "unsigned long *"),
    "mtmlDeviceReset": ("const MtmlDevice *",),
    "mtmlMemorySetEccMode": ("const MtmlMemory *", "MtmlEccMode"),
    "mtmlMemoryGetEccMode": ("const MtmlMemory *", "MtmlEccMode *", "MtmlEccMode *"),
    "mtmlMemoryGetRetiredPagesCount": ("const MtmlMemory *", "MtmlPageRetirementCount *"),
    "mtmlMemoryGetRetiredPages": (
        "const MtmlMemory *",
        "MtmlPageRetirementCause",
        "unsigned int",
        "MtmlPageRetirement *",
    ),
    "mtmlMemoryGetRetiredPagesPendingStatus": ("const MtmlMemory *", "MtmlRetiredPagesPendingState *"),
    "mtmlMemoryGetEccErrorCounter": (
        "const MtmlMemory *",
        "MtmlMemoryErrorType",
        "MtmlEccCounterType",
        "MtmlMemoryLocation",
        "unsigned long long *",
    ),
    "mtmlMemoryClearEccErrorCounts": ("const MtmlMemory *", "MtmlEccCounterType"),
}

# What libraries export beyond the 2.2.0 header; asked for, never required.
_OPTIONAL_PROTOTYPES: "dict[str, tuple[str, ...]]" = {
    "mtmlDeviceGetMusaComputeCapability": ("const MtmlDevice *", "int *", "int *"),
    "mtmlDeviceGetPcieReplayCounter": ("const MtmlDevice *", "unsigned int *"),
    "mtmlDeviceGetPerformanceState": ("const MtmlDevice *", "int *"),
    "mtmlGpuGetEnforcedPowerLimit": ("const MtmlGpu *", "int *"),
    "mtmlGpuGetPowerManagementDefaultLimit": ("const MtmlGpu *", "int *"),
    "mtmlGpuGetTemperatureThreshold": ("const MtmlGpu *", "int", "int *"),
    "mtmlGpuGetVoltage": ("const MtmlGpu *", "int *"),
    "mtmlMemoryGetTemperature": ("const MtmlMemory *", "int *"),
}

_C_TYPES = {
    "char": c_char,
    "int": c_int,
    "unsigned int": c_uint,
    "unsigned long": c_ulong,
    "unsigned long long": c_ulonglong,
    "MtmlLibrary": struct_c_mtmlLibrary_t,
    "MtmlSystem": struct_c_mtmlSystem_t,
    "MtmlDevice": struct_c_nvmlDevice_t,
    "MtmlGpu": struct_c_mtmlGpu_t,
    "MtmlMemory": struct_c_mtmlMemory_t,
    "MtmlVpu": struct_c_mtmlVpu_t,
    "MtmlCodecSessionState": c_int,
    "MtmlCodecSessionMetrics": c_mtmlCodecSessionMetrics_t,
    "MtmlCodecUtil": c_mtmlCodecUtil_t,
    "MtmlDeviceProperty": c_mtmlDeviceProperty_t,
    "MtmlDispIntfSpec": c_mtmlDispIntfSpec_t,
    "MtmlLogConfiguration": c_mtmlLogConfiguration_t,
    "MtmlMpcConfiguration": c_mtmlMpcConfiguration_t,
    "MtmlMpcProfile": c_mtmlMpcProfile_t,
    "MtmlMtLinkLayout": c_mtmlMtLinkLayout_t,
    "MtmlMtLinkSpec": c_mtmlMtLinkSpec_t,
    "MtmlPageRetirement": c_mtmlPageRetirement_t,
    "MtmlPageRetirementCount": c_mtmlPageRetirementCount_t,
    "MtmlPciInfo": c_mtmlPciInfo_t,
    "MtmlPciSlotInfo": c_mtmlPciSlotInfo_t,
    "MtmlVirtType": c_mtmlVirtType_t,
}
# END generated MTML prototypes

# Marks a status that pymtml itself sets. C cannot return one of these: a status of C has 32 bits.
_OWN = 1 << 32
_OWN_CODES = range(MTML_ERROR_UNINITIALIZED, MTML_ERROR_LIBRARY_NOT_FOUND + 1)  # unknown ones, if C returns them
_AT_SECURE = 23  # argument of getauxval
_UNINITIALIZED = _OWN | MTML_ERROR_UNINITIALIZED
_FUNCTION_NOT_FOUND = _OWN | MTML_ERROR_FUNCTION_NOT_FOUND
_LIBRARY_NOT_FOUND = _OWN | MTML_ERROR_LIBRARY_NOT_FOUND


if hasattr(ctypes, "pythonapi"):
    _last_interpreter = ctypes.pythonapi["PyInterpreterState_Head"]
    _main_interpreter = ctypes.pythonapi["PyInterpreterState_Main"]
    _last_interpreter.restype = _main_interpreter.restype = c_void_p

    def _is_alone():
        """Whether the process has one interpreter: the one that was begun last is the main one."""
        return _last_interpreter() == _main_interpreter()

else:

    def _is_alone():
        """PyPy has one interpreter."""
        return True


_FREE_THREADED = hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled()  # stacks change while they are read


class _Locks:
    """All locks of the module but those of meters; a forked child makes them anew. They are re-entrant: a signal
    handler may call any function while its thread holds one.
    """

    def __init__(self):
        self.lifecycle = _thread.RLock()  # held for load, init, shutdown and changes of MPC
        self.log = _thread.RLock()
        self.walk = _thread.RLock()


_locks = _Locks()
libLoadLock = _locks.lifecycle  # nvidia-ml-py's name for its lock; programs use it


def _hold(lock, function, *arguments):
    """Call ``function`` while the lock is held.

    If a signal handler raises in the middle of ``with``, some versions of CPython (to 3.9, and 3.14) never release the
    lock. So it is released here until this thread holds it as often as before.
    """
    # Without a count it is known only whether the thread holds the lock: then the outermost call releases it.
    count = getattr(lock, "_recursion_count", lock._is_owned)
    before = count()
    try:
        with lock:
            return function(*arguments)
    except BaseException:  # a signal handler may raise anything; it is raised again
        while count() > before:
            lock.release()
        raise


def _under_lock(function):
    """Decorator: hold the lock of the lifecycle while ``function`` runs."""

    def locked(*arguments):
        return _hold(_locks.lifecycle, function, *arguments)

    locked.__wrapped__ = function  # type: ignore[attr-defined]
    return locked


# Cells for results of C. Each call makes new ones, as threads and signal handlers cannot share them.
_Int = c_int * 1
_UInt = c_uint * 1
_ULongLong = c_ulonglong * 1
_Pointer = c_void_p * 1


# The C functions that the library exports, as attributes of a module object: CPython 3.11 finds those ten times as fast
# as attributes of other objects. _functions holds the same as a dict, for names that are known at run time only.
_c: "_Any" = type(sys)("libmtml")
_functions: "dict[str, _Any]" = vars(_c)
_mtmlGetFunctionPointer_cache: "dict[str, _Any]" = {}


class _Native:
    """One initialization of the C library. The caller of start and stop holds the lock, and no query runs.

    The step that calls C stores its status, too: no signal handler can raise between the two.
    """

    outdated = False  # whether the next life must restart C: a change of MPC was made or is in progress

    def __init__(self, inherited=None):
        self.inherited = inherited  # that of a process which this one was forked from: C may hold it, too
        self.cell = _Pointer()  # where C writes the pointer to the library
        self.answers: "list[int]" = []  # statuses: that of mtmlLibraryInit, then one for each mtmlLibraryShutDown
        self.files: "list[_Any]" = [] if inherited is None else inherited.files  # as _devices_opened has them
        self.turn = 0

    @property
    def held(self):
        """Whether the library is initialized."""
        return self.answers.count(MTML_SUCCESS) == 1 and self.cell[0] is not None

    def start(self):
        """Initialize C; return an MTML status."""
        before = _descriptors()
        _record(self.answers, _c.mtmlLibraryInit, self.cell)
        self.files = self.files + _devices_opened(before)
        # After success with a NULL library there is no pointer with which C could be shut down.
        return self.answers[0] or (MTML_SUCCESS if self.cell[0] else MTML_ERROR_UNKNOWN)

    def stop(self):
        """Shut C down; return an MTML status."""
        if "mtmlLibraryShutDown" not in _functions:
            return _FUNCTION_NOT_FOUND
        _record(self.answers, _c.mtmlLibraryShutDown, _pointer_to(self.cell[0]))
        _session.was_shut_down = _session.was_shut_down or not self.held
        if not self.held:
            self.files = [] if self.inherited is None else self.inherited.files
        return self.answers[-1]

    def lost(self):
        """Why the library can be neither used nor shut down (str): a file of its own is not what it was; or None."""
        return next(filter(None, map(_lost_file, self.files)), None)

    def lost_in_turn(self):
        """The same for an init, which must be quick: it looks at one file, the next init at the next one."""
        files = self.files
        if not files:
            return None
        lost = _lost_file(files[self.turn % len(files)])
        if lost is None:
            self.turn += 1
        return lost

    def answer(self):
        """MTML status of the cheapest C call: whether the library works as it is."""
        if self.outdated or not self.held:
            return MTML_ERROR_RESOURCE_IS_BUSY
        status = _plain_status("mtmlLibraryCountDevice", _pointer_to(self.cell[0]), _UInt())
        return MTML_SUCCESS if status == _FUNCTION_NOT_FOUND else status


_LOST_FILE = (
    "descriptor %d, which the driver's library opened, was closed or is another file now, so that the library can"
    " neither be used nor shut down in this process: a program that daemonizes, or closes files that it has not opened,"
    " must initialize after that only, or set PYMTML_KEEP_LIBRARY=0 and shut down before"
)


def _lost_file(file):
    """Why the library that opened a file cannot be used (str), if its descriptor is closed or another file; or None."""
    number, identity = file
    try:
        return None if os.fstat(number)[1:3] == identity else _LOST_FILE % number
    except OSError:
        return _LOST_FILE % number


_NO_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts/")


def _descriptors():
    """Numbers of the files that this process has open (set of str); empty if /proc does not show them."""
    try:
        with _open(os.devnull, "rb", 0) as file:
            own = str(file.fileno())  # which the look itself takes next, and leaves again
        return set(os.listdir("/proc/self/fd")) - {own}
    except OSError:
        return set()


def _devices_opened(before):
    """(descriptor, (inode, device)) of the device files that were opened since a look at ``_descriptors`` (list).

    What another thread has opened meanwhile is none of the library's: where there are threads, only GPUs' nodes count.
    """
    found = []
    for number in sorted(_descriptors() - before, key=int):
        try:
            path = os.readlink("/proc/self/fd/" + number)
            is_node = os.path.basename(path).startswith(_NODE_STEMS)
            if path.startswith("/dev/") and (is_node or not (_thread._count() or path.startswith(_NO_DEVICES))):
                found.append((int(number), os.fstat(int(number))[1:3]))
        except OSError:
            continue  # closed meanwhile, as that of the look itself
    return found


def _record(answers, function, *arguments):
    """Call C with one argument or more and append its status to ``answers``.

    The call and the append are one step: a signal handler may raise before or after it only.
    """
    answers.extend(map(function, *([argument] for argument in arguments)))


def _initialize_c_again():
    """End the last initialization of C, if there is one, and begin another; return (status, detail)."""
    kept = _session.native
    if kept.held:
        kept.stop()  # if it fails, the init may still work
    _session.native = _Native(kept.inherited)
    status = _session.native.start()
    if not status and kept.inherited and kept.inherited.outdated and _session.native.answer():
        # The fork came in the middle of a change of MPC: C is as it was then, until its last reference is given back.
        status = _session.native.stop() or kept.inherited.stop()
        _session.native = _Native()
        status = status or _session.native.start()
    if status and kept.held:
        _session.native = kept  # C refused the shutdown and the init: the kept library must still be shut down later
    detail = (
        "it was shut down before, and not every library can be initialized again in the same process: NVML's names keep"
        " it initialized unless PYMTML_KEEP_LIBRARY=0 is in the environment; with PYMTML_KEEP_LIBRARY=1 MTML's names do"
        " too"
    )
    return status, detail if status and _session.was_shut_down else None


def _restart_c():
    """Shut C down and initialize it again; return (status, detail)."""
    status, detail = _session.native.stop(), None
    if not status:
        status, detail = _initialize_c_again()
    status = status or _session.native.answer()
    if status and _session.native.held:
        detail = "it could not be restarted: whatever else uses it in this process must also shut it down"
    return status, detail


class _Session:
    """State of the library in this process."""

    def __init__(self):
        self.life: "_Any" = None  # None: the library counts as not initialized, but C may still be initialized
        self.native = _Native()  # the last initialization of C
        self.last_life: "_Any" = None  # the one that began last; if it has ended, its handles may not be stale yet
        self.was_shut_down = False
        self.cdll: "_Any" = None
        self.prefixes_uuids = False  # whether nvmlDeviceGetUUID has NVIDIA's form, when the library is loaded
        self.secure: "bool | None" = None  # whether the process has raised privileges; None: not checked yet
        self.load_report: "str | None" = None
        self.misfit: "str | None" = None  # advice for a library that was found and cannot be loaded
        self.clock: "_Any" = None  # time.time, when the library is loaded
        self.monotonic: "_Any" = None  # time.monotonic, when the library is loaded
        self.sleep: "_Any" = None  # time.sleep, when the library is loaded
        self.unseen = 0  # number of processes that the last query could not inspect
        self.log_callback: "int | None" = None  # address of the installed callback
        self.log_callback_owners: "list[_Any]" = []  # keeps the installed callback alive; during a change, both


_session: "_Any" = _Session()


def _setting(name):
    """Value of an environment variable that names code or a folder; None in a process with raised privileges.

    Such processes (set-user-ID and set-group-ID programs, file capabilities) have AT_SECURE set, as in libc's search.
    """
    value = os.environ.get(name)
    if value and _session.secure is None:
        process = getattr(ctypes, "pythonapi", None) or CDLL(None)  # PyPy has no pythonapi
        getauxval = getattr(process, "getauxval", None)  # only Linux has it
        _session.secure = bool(getauxval and getauxval(_AT_SECURE))
    return None if _session.secure else value


def _library_files():
    """Files to try for the MTML library, in this order (list)."""
    chosen = _setting("PYMTML_LIBRARY")
    if chosen:
        return [chosen]
    if sys.platform == "win32":
        # Python searches the folders of programs and of the system, not PATH; nothing is taken from the current folder.
        path = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
        system = os.path.join(os.environ.get("WINDIR", "C:\\Windows"), "System32", "mtml.dll")
        on_path = [os.path.join(folder, "mtml.dll") for folder in path]
        return ["mtml.dll", system] + [file for file in on_path if os.path.isfile(file)]
    return ["libmtml.so.2", "libmtml.so"]


def _load():
    """Load the library if it is not loaded yet; return an MTML status."""
    return _find_library() if _session.cdll is None else MTML_SUCCESS


@_under_lock
def _find_library():
    """Load the library; return an MTML status."""
    if _session.cdll is not None:  # another thread was faster
        return MTML_SUCCESS
    tried, foreign, _session.misfit = [], False, None
    for name in _library_files():
        try:
            cdll = CDLL(name)
        except (OSError, UnicodeDecodeError) as error:  # CPython 3.11 decodes dlopen's text, which has the file's name
            reason = getattr(error, "object", None)
            reason = str(error) if reason is None else os.fsdecode(reason)
            reason = reason.replace("Cannot load library %s: " % name, "", 1)  # by PyPy, in front of dlopen's text
            tried.append("%s (%s)" % (name, reason))
            _session.misfit = _session.misfit or _misfit(name, reason)
            continue
        if not hasattr(cdll, "mtmlLibraryInit"):
            foreign = True
            tried.append("%s (no MTML library: it lacks mtmlLibraryInit)" % name)
            continue
        for table in (_PROTOTYPES, _OPTIONAL_PROTOTYPES):
            for function in table:
                try:
                    _functions[function] = cdll[function]
                except AttributeError:
                    continue  # an older library: calls of this function get _FUNCTION_NOT_FOUND
        import time  # here, not in a query: a query may run while the interpreter ends, and then imports fail

        _session.clock, _session.monotonic, _session.sleep = time.time, time.monotonic, time.sleep
        _session.prefixes_uuids = _prefixes_uuids()
        _session.cdll = cdll
        return MTML_SUCCESS
    report = "tried %s; %s" % (", ".join(tried), _session.misfit or _load_hint(foreign))
    _session.load_report = report.encode("utf-8", "backslashreplace").decode()  # so that everybody can print it
    return _LIBRARY_NOT_FOUND


def _prefixes_uuids():
    """Whether UUIDs have NVIDIA's form in this process: as PYMTML_UUID says, else where the drop-in is pynvml."""
    chosen = os.environ.get("PYMTML_UUID")
    if chosen in ("nvml", "mtml"):
        return chosen == "nvml"
    stands_in = getattr(sys.modules.get("pymtml_dropin"), "stands_in", None)
    return stands_in is not None and stands_in()


def _misfit(name, reason):
    """Advice (str) for a library that was found and does not fit this system, by dlopen's text; None for any other."""
    musl = "Error loading shared library ", "Error relocating "  # how its loader begins; glibc's may be translated
    said = reason[len(musl[0]) :] if reason.startswith(musl[0]) else reason
    file = os.path.basename(name if said.startswith(name) else said.partition(": ")[0])  # that cannot be loaded
    if "GLIBC_" in said:
        return "the library was found, but needs a newer glibc: use a newer system or container image"
    if file.startswith(("libc.musl-", "ld-linux")) or file == "libc.so" or said.startswith(musl[1]):
        return (
            "the library was found, but is for another C library (glibc, musl): use a Python and a system with that one"
        )
    if file not in ("", os.path.basename(name)) or "undefined symbol" in said:
        return "the library was found, but not all that it needs: install what the message names"
    return None


def _load_hint(foreign):
    """Advice (str) for a library that cannot be loaded, by the likely cause. ``foreign``: one lacks mtmlLibraryInit."""
    chosen = _setting("PYMTML_LIBRARY")
    if chosen and (foreign or os.path.isfile(chosen)):
        return "PYMTML_LIBRARY names this file: it must be an MTML library for %s" % (
            os.uname().machine if hasattr(os, "uname") else "Windows"
        )
    if chosen:
        return "PYMTML_LIBRARY names no file that can be found: correct it, or unset it for the usual search"
    if os.environ.get("PYMTML_LIBRARY"):
        return "PYMTML_LIBRARY is not followed in a process with raised privileges: install the Moore Threads driver"
    if os.path.exists("/dev/mtgpu.0"):
        return "the card is there: start the container with the Moore Threads runtime, or set PYMTML_LIBRARY"
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        return "start the container with the Moore Threads runtime on a host with its driver, or set PYMTML_LIBRARY"
    return "install the Moore Threads driver or set PYMTML_LIBRARY"


def _c_type(text):
    """The ctypes type for the text of a C parameter in a prototype table."""
    base = text.replace("const ", "").replace("*", "").strip()
    stars = text.count("*")
    if base == "char" and stars == 1:
        return c_char_p
    ctype: "_Any" = _C_TYPES.get(base, c_uint)  # a type that is not in the table is an enum
    for _ in range(stars):
        ctype = POINTER(ctype)
    return ctype


def _mtmlGetFunctionPointer(name):
    """The C function of that name, with argument and result types; loads the library if necessary.

    pymtml does not guard calls of it: C gets all that is passed, and a shutdown does not wait for such a call.

    Raises: MTMLError_LibraryNotFound, MTMLError_FunctionNotFound (unknown name, or an older library).
    """
    function = _mtmlGetFunctionPointer_cache.get(name)
    if function is None:
        _check(_load(), _session.load_report)
        prototype = _PROTOTYPES.get(name) or _OPTIONAL_PROTOTYPES.get(name)
        if prototype is None or name not in _functions:
            raise _mtml_error(_FUNCTION_NOT_FOUND)
        function = _session.cdll[name]
        function.argtypes = [_c_type(parameter) for parameter in prototype]
        function.restype = c_char_p if name == "mtmlErrorString" else c_uint
        function = _mtmlGetFunctionPointer_cache.setdefault(name, function)
    return function


# ==== 6. The life =====================================================================================================
# A life is the time from a first init to the last shutdown. Inits are counted under MTML's and NVML's names together.
#
#   no life, C not initialized --init--------------------------> life 1, C initialized
#   life n     --init / shutdown, not the last one-------------> life n + 1 / n - 1
#   life 1     --nvmlShutdown, or a query may be running-------> no life, C kept
#   no life, C kept --init, a file of C's is closed------------> error, C kept: it would act on another file
#   no life, C kept --init, and C answers one question---------> life 1, with new handles
#   no life, C kept --init, C does not answer, no query--------> C shut down, C initialized, life 1
#   life 1     --mtmlLibraryShutDown, no query-----------------> no life, C not initialized
#   life n     --change of MPC: handles stale, queries return--> life n; under NVML's name C is restarted
#
# Queries take C's pointers only from the slots of live handles and from life.library. So the end of a life first sets
# _session.life to None, then empties the slots, then looks at the stacks of all threads: only a query that is on one of
# them can still hold a pointer, and no other query can get one. Then C is kept.
#
# A signal handler may run between any two lines below, and it may raise an exception or query. An init, a shutdown or a
# change of MPC that it begins in the middle of another one is refused (_is_nested). Three rules make the rest safe: one
# attribute says whether there is a life (_session.life); the state of the C library follows from the statuses that C
# returned (_Native); each step is a single operation that no signal interrupts (append, an assignment).

# ---- State ----


class _Life:
    """The state of the module from a first init to the last shutdown."""

    _of = None  # as in the library's handle, because a change of MPC treats both alike
    changes = 0  # number of changes of MPC and resets that were begun

    def __init__(self):
        self.references = 1  # inits that no shutdown has matched yet
        self.changing: "list[object]" = []  # changes of MPC and resets: the one in progress, then those to be refused
        self.devices: "dict[int, c_mtmlDevice_t]" = {}  # by address
        self.others: "dict[_Any, _Any]" = {}  # the system by "system", sub-handles by (device's address, slot)
        self.filled: "list[tuple[_Any, str]]" = []  # (handle, slot): the slots to empty at the end
        self.cards = _Cards({})  # what the facade knows of them

    def connect(self, native):
        """Take the pointer to the C library: for callers a handle, for queries ``library``, emptied like a slot."""
        self.handle = _new_handle(c_mtmlLibrary_t, native.cell[0], None)
        self.filled += [(self, "library"), (self.handle, "_library")]
        self.library = self.handle._library = _pointer_to(native.cell[0])


# ---- Start ----


@_under_lock
def _start(check):
    """Add a reference to the life and return the life; the first reference begins a new one."""
    caller, life = _outside(check), _session.life
    if life is not None:
        life.references += 1
        return life
    check(_load(), _session.load_report)
    _retire_last_life()
    lost = _session.native.lost_in_turn()
    if lost:
        check(MTML_ERROR_UNKNOWN, lost)
    status = _session.native.answer()
    if status and _session.native.held and not _is_quiet(caller):
        check(status, "it has to be restarted, but an earlier query is still running: try again when that has returned")
    if status:
        check(*_initialize_c_again())
    _session.last_life = life = _Life()
    life.connect(_session.native)
    _session.life = life
    return life


# ---- Stop ----


@_under_lock
def _stop(check, ends):
    """Remove a reference from the life. The last one ends it and, if ``ends`` is true, shuts the C library down."""
    caller, life = _outside(check), _session.life
    ends = {"0": True, "1": False}.get(os.environ.get("PYMTML_KEEP_LIBRARY", ""), ends)
    check(_UNINITIALIZED if life is None else MTML_SUCCESS)
    if life.references > 1:
        life.references -= 1
        return
    check(_FUNCTION_NOT_FOUND if ends and "mtmlLibraryShutDown" not in _functions else MTML_SUCCESS)
    _session.life = None
    _retire_last_life()
    status = _session.native.stop() if ends and _is_quiet(caller) and not _session.native.lost() else MTML_SUCCESS
    if status:  # C refused: the last reference stays, so that the shutdown can be tried again
        life.connect(_session.native)
        _session.life = life
    check(status)
    _wake(life.cards)


def _wake(cards):
    """End the waits for events of a life or of a time before a change of MPC, or let them look around."""
    for events in list(cards.event_sets.values()):
        events.wake()


# ---- Retire ----


def _retire_last_life():
    """Make the handles of a life that has ended stale; return whether any was not stale yet. Needs the lock."""
    retired: "list[_Any]" = []
    if _session.last_life is not _session.life:
        _retire(_session.last_life, retired)
    return bool(retired)


def _retire(life, retired):
    """Make every handle of a life stale; append what was removed to ``retired``: (handle, target, key, value)."""
    life.cards.walk = None
    for registry in (life.others, life.devices):
        for key, handle in list(registry.items()):
            retired.append((handle, registry, key, handle))  # before it is removed, so that it can always be restored
            registry.pop(key, None)
    for handle, slot in life.filled:  # the list grows while other threads fill slots
        if hasattr(handle, slot):
            try:
                retired.append((handle, handle, slot, getattr(handle, slot)))
                delattr(handle, slot)
            except AttributeError:
                pass  # another thread has emptied the slot meanwhile


# ---- Stacks ----


# The code of inits and shutdowns; that of their steps and of changes of MPC; that of functions that hold no argument of
# C while they call foreign or public functions, or wait for events. They are filled at the end of the module.
_LIFECYCLE: "frozenset[_Any]" = frozenset()
_STEPS: "frozenset[_Any]" = frozenset()
_BYSTANDERS: "frozenset[_Any]" = frozenset()


def _outside(check):
    """The frame from which to look for what _start, _stop or _Change.run, the caller of this function, interrupts.

    For a change that is its caller's frame. For an init or a shutdown it is one inside, as _query_on passes over these.

    Raises: ResourceIsBusy if an init, a shutdown or a change of MPC is interrupted.
    """
    caller = sys._getframe(2).f_back
    if _is_nested(caller):
        check(MTML_ERROR_RESOURCE_IS_BUSY, "this thread is in the middle of an init, a shutdown or a change of MPC")
    return caller


def _is_nested(frame):
    """Whether the stack that ends in ``frame`` is in the middle of an init, a shutdown or a change of MPC."""
    while frame is not None:
        if frame.f_globals is _is_nested.__globals__ and frame.f_code in _STEPS:
            return True
        frame = frame.f_back
    return False


def _is_quiet(caller):
    """Whether surely no query runs, neither in another thread nor in this one on the stack that ends in ``caller``.

    A query may fill a slot during the look at the stacks. So this is repeated until no slot was filled.
    """
    while not (_unreadable() or _query_on(caller) or any(map(_query_of, _other_threads()))):
        if not _retire_last_life():
            return True
    return False


def _unreadable():
    """Why the stacks of other threads do not show whether they run queries (str), None if they do."""
    if not _is_alone():  # CPython 3.13 crashes if it reads their stacks while they run
        return "other interpreters are alive in this process: end them first"
    if (_FREE_THREADED or sys.is_finalizing()) and _other_threads():  # daemon threads stop anywhere at the end
        return "other threads are alive, and this Python cannot tell whether they run queries: end them first"
    return None


def _other_threads():
    """Numbers of all other threads (list). This thread is known by its frame: gevent replaces _thread.get_ident."""
    frame = sys._getframe()
    return [thread for thread, top in sys._current_frames().items() if top is not frame]


def _query_of(thread):
    """The outermost frame of a query in a thread, None if there is none."""
    # The frame is not stored in a variable: CPython 3.11 crashes on a frame that has ended.
    return _query_on(sys._current_frames().get(thread))


def _query_on(frame):
    """The outermost frame of a query on the stack that ends in ``frame``, None if there is none."""
    runs: "list[list[_Any]]" = [[]]  # frames without a foreign one between them, from the innermost on
    while frame is not None:
        if frame.f_globals is not _query_on.__globals__:
            runs.append([])
        elif frame.f_code in _LIFECYCLE:
            runs[-1].clear()  # these belong to this init or shutdown
        elif frame.f_code not in _BYSTANDERS and frame.f_code.co_name != "<module>":
            runs[-1].append(frame)
        frame = frame.f_back
    return next((run[-1] for run in reversed(runs) if run), None)


# ---- Change ----

_DRAIN_SECONDS = 5.0  # how long a change of MPC waits for the queries that are running


class _Change:
    """A change of MPC, or a reset.

    First all handles become stale and new queries are refused. C is called when all running queries have returned. If
    its status is one of ``untouched``, C has changed nothing, and all handles are restored. Otherwise only handles that
    belong to one of ``survivors`` are restored: the address of a device, 0 for the system, None for the library.
    ``restarts_library``: whether C has to be shut down and initialized again: by the next life, or ``at_once``.
    """

    def __init__(self, untouched, survivors=(None,), restarts_library=True, at_once=False):
        self.untouched, self.survivors = untouched, survivors
        self.restarts_library, self.at_once = restarts_library, at_once
        self.life = _session.life  # before the argument for C is taken from it
        self.cards: "_Any" = None  # what the facade knew of the cards before the change, after it is made
        self.retired: "list[_Any]" = []
        self.answers: "list[int]" = []  # the status of C, then 0 after a complete restart

    def run(self, check, name, slot, target, *arguments):
        """Carry out the change: call the C function of that name, which makes handles stale."""
        status, function, argument = _prepare_call(name, slot, target)
        check(status)
        try:
            status, detail = MTML_ERROR_RESOURCE_IS_BUSY, self.begin(_outside(check)) or self.drain()
            if not detail:
                status, detail = self.carry_out(function, argument, *arguments)
            self.settle()
        finally:
            self.settle()  # in case a signal handler raised before the first call had ended
        check(status, detail)

    def is_made(self):
        """Whether C may have changed something."""
        return bool(self.answers) and self.answers[0] not in self.untouched

    def is_good(self, handle):
        """Whether a handle is valid after the change."""
        return not self.is_made() or (not self.at_once and handle._of in self.survivors)

    def begin(self, caller):
        """Refuse new queries; return None, or why the change cannot be made (str)."""
        self.life.changing.append(self)
        if self.life.changing[0] is not self:
            return "another thread is in the middle of a change of MPC or a reset"
        if _query_on(caller):
            return "this thread is in the middle of a query"
        if _session.native.inherited and self.restarts_library:
            return (
                "the process that forked this one also holds the library, which could not be restarted here: make the"
                " change in a process that was not forked, or set PYMTML_KEEP_LIBRARY=0 before the fork"
            )
        return _unreadable()

    def drain(self):
        """Make the handles stale and wait for the running queries; return None, or that one does not return (str).

        A running query may fill a slot again, and another query may take a pointer from it. So this is repeated until
        no slot was filled.
        """
        life, filled, deadline = self.life, -1, _session.monotonic() + _DRAIN_SECONDS
        life.changes += 1
        while filled != len(life.filled):
            filled = len(life.filled)
            _retire(life, self.retired)
            queries = {thread: _query_of(thread) for thread in _other_threads()}
            while any(query and _query_of(thread) is query for thread, query in queries.items()):
                if _session.monotonic() > deadline:
                    detail = "a query of another thread did not return within %g seconds, and nothing was changed"
                    return detail % _DRAIN_SECONDS
                _session.sleep(0.0005)
        return None

    @_under_lock
    def carry_out(self, function, *arguments):
        """Call C, and restart it if that is asked for; return (status, detail)."""
        life, native = self.life, _session.native
        if life is not _session.life:
            return _UNINITIALIZED, None  # another thread has shut down meanwhile
        before, native.outdated = native.outdated, native.outdated or self.restarts_library
        _record(self.answers, function, *arguments)
        if not self.is_made():
            native.outdated = before
            return self.answers[0], None
        self.cards, life.cards = life.cards, _Cards(life.cards.vgpus)
        life.filled[:] = [(one, key) for one, target, key, _ in self.retired if target is one and self.is_good(one)]
        if not self.at_once:
            return self.answers[0], None
        again, detail = _restart_c()
        if not again:
            life.connect(_session.native)
            self.answers.append(again)
        return self.answers[0] or again, detail

    @_under_lock
    def settle(self):
        """Restore the handles that are still valid, and let queries run again. Calling it again is idempotent."""
        if self in self.life.changing:
            if self.is_made() and self.at_once and len(self.answers) < 2 and _session.life is self.life:
                _session.life = None  # C could not be initialized again
                _retire_last_life()
            for handle, target, key, value in self.retired:
                if _session.life is self.life and self.is_good(handle):
                    target.setdefault(key, value) if type(target) is dict else setattr(target, key, value)
            self.life.changing.remove(self)
            if self.cards is not None:
                _wake(self.cards)  # not earlier: until now new queries are refused


# ---- Fork ----


def _after_fork():
    """In a forked child: make new locks, as the parent's may be held, and continue the parent's life.

    If the parent had no life, or was changing MPC in another thread (C may be shut down then), the child has no life.
    It neither uses what the parent holds of the library nor gives it back: it initializes the library for itself.
    """
    global _locks, libLoadLock
    _meters.clear()  # their threads exist only in the parent
    _locks = _Locks()
    libLoadLock, life = _locks.lifecycle, _session.life
    if life is not None:
        life.cards.event_sets.clear()  # the parent goes on with them
    if _is_nested(sys._getframe()):
        return  # a signal handler forked in the middle of an init, shutdown or change, which continues in the child
    if life is not None and _session.native.held and not life.changing:
        life.cards.walk = None  # the parent's walk has not seen the child
        return
    inherited = _session.native if _session.native.held else _session.native.inherited
    _session.life, _session.native = None, _Native(inherited)
    _retire_last_life()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

# ==== 7. Calls ========================================================================================================

_UINT_MAX = 0xFFFFFFFF
_ARRAY_BYTES_MAX = 1 << 26  # far more than any getter fills
_PATHS_MAX = 1 << 12  # of paths between two devices, and of devices on a path
_BATCH_MAX = 1 << 12  # of devices, or fields, in one call


def _mtml_error(status, detail=None):
    """The MTMLError for a status; for a status that no header names, an MTMLError_Unknown with that value."""
    code = status & _UINT_MAX
    error = MTMLError(code)
    if type(error) is MTMLError or status in _OWN_CODES:
        error = MTMLError_Unknown()
        error.value, error.args = code, (code,)
    error.mtml_code = code
    error.detail = detail
    return error


def _check(status, detail=None):
    """Raise the MTMLError for a status other than success."""
    if status:
        raise _mtml_error(status, detail)


_mtmlCheckReturn = _check  # the name that other MTML bindings have for it


_HANDLE_CLASSES = frozenset(  # ids, not classes: the metaclass of a foreign class may have a __hash__ and __eq__
    map(id, (c_mtmlDevice_t, c_mtmlGpu_t, c_mtmlMemory_t, c_mtmlVpu_t, c_mtmlSystem_t, _Life))
)


def _fill(life, handle, slot, value):
    """Store a value in an empty slot of a handle; it is deleted when the handle becomes stale."""
    life.filled.append((handle, slot))  # before the slot is filled, so that it is always emptied
    setattr(handle, slot, value)
    if life is not _session.life or not hasattr(handle, handle._own):  # the handle went stale meanwhile
        try:
            delattr(handle, slot)
        except AttributeError:
            pass  # another thread has emptied it


def _keep(device, slot, value):
    """Store a constant property on the handle and return it."""
    life = _session.life
    if life is not None:
        _fill(life, device, slot, value)
    return value


def _identifies(text):
    """Whether a text tells a device from others; a card that comes up may have an empty one, or zeros."""
    return bool(text.strip("0-"))


def _keep_identity(device, slot, text):
    """As _keep, for a text that is asked again while it is none yet."""
    return _keep(device, slot, text) if _identifies(text) else text


def _device_at(address):
    """The device handle for a native address: the same object each time in one life."""
    life = _session.life
    device = None if life is None else life.devices.get(address)
    if device is None:
        device = _new_handle(c_mtmlDevice_t, address, address)
        if life is not None:  # None: another thread has shut down meanwhile
            _fill(life, device, "_device", _pointer_to(address))
            device = life.devices.setdefault(address, device)
    return device


_CHILDREN = {  # by the slot of the argument: C constructor, handle class
    "_gpu": ("mtmlDeviceInitGpu", c_mtmlGpu_t),
    "_memory": ("mtmlDeviceInitMemory", c_mtmlMemory_t),
    "_vpu": ("mtmlDeviceInitVpu", c_mtmlVpu_t),
}


def _make_child(life, device, slot):
    """(status, argument for C) of a device's gpu, memory or vpu. Two threads may ask C at the same time."""
    constructor, parent, cell = _CHILDREN[slot][0], getattr(device, "_device", None), _Pointer()
    if parent is None:
        return MTML_ERROR_INVALID_ARGUMENT, None
    if constructor not in _functions:
        return _FUNCTION_NOT_FOUND, None
    status = _functions[constructor](parent, cell)
    if status or not cell[0]:
        return status or MTML_ERROR_UNKNOWN, None
    argument = _pointer_to(cell[0])
    if not hasattr(device, slot):
        _fill(life, device, slot, argument)
    return MTML_SUCCESS, argument


def _make_system():
    """(status, handle of the host system): the same handle each time in one life."""
    life, cell = _session.life, _Pointer()
    if life is None:
        return _UNINITIALIZED, None
    system = life.others.get("system")
    if system is None:
        status = _library_status("mtmlLibraryInitSystem", cell)
        if status or not cell[0]:
            return status or MTML_ERROR_UNKNOWN, None
        mine = _new_handle(c_mtmlSystem_t, cell[0], 0)
        _fill(life, mine, "_system", _pointer_to(cell[0]))
        system = life.others.setdefault("system", mine)
    return MTML_SUCCESS, system


def _live_device(handle) -> "_Any":
    """The live device handle that ``handle`` stands for, or None.

    A pointer from a copy, a cast or a struct field stands for the live handle with the same address.
    """
    if type(handle) is c_mtmlDevice_t and hasattr(handle, "_address"):
        return handle if hasattr(handle, "_device") else None
    if issubclass(type(handle), POINTER(struct_c_nvmlDevice_t)):
        life = _session.life
        return None if life is None else life.devices.get(ctypes.cast(handle, c_void_p).value)
    return None


def _make_board(life, device, slot):
    """(status, argument for C) of the board of a device; an MPC instance has none."""
    status, mpc_type = _mpc_type(device)
    if status or mpc_type == MTML_MPC_TYPE_INSTANCE:
        return status or MTML_ERROR_NOT_SUPPORTED, None
    argument = getattr(device, slot, None)
    return MTML_ERROR_INVALID_ARGUMENT if argument is None else MTML_SUCCESS, argument


# What makes the arguments that are made at first use, by their slot.
_MAKERS = {"_gpu": _make_child, "_memory": _make_child, "_vpu": _make_child, "_board": _make_board}


def _argument(slot, handle):
    """(status, argument for C) of a caller's handle: what its ``slot`` holds. The slot "library" needs no handle."""
    life = _session.life
    if life is None:
        return _UNINITIALIZED, None
    changes = None if life.changing else life.changes
    status, argument = _argument_now(life, slot, handle)
    if status == MTML_ERROR_INVALID_ARGUMENT and _is_changed(life, changes):
        status = MTML_ERROR_RESOURCE_IS_BUSY  # a change of MPC made the handle stale, and may restore it
    elif status == MTML_ERROR_INVALID_ARGUMENT and slot == "library":
        status = _UNINITIALIZED  # another thread has shut down meanwhile
    return status, argument


def _is_changed(life, changes):
    """Whether MPC is being changed, or was since there had been that many changes (None if one was in progress)."""
    return bool(life.changing) or life.changes != changes


def _argument_now(life, slot, handle):
    """(status, argument for C), as _argument; the status is InvalidArgument if ``handle`` is not live."""
    if slot == "library":
        handle = life
    elif type(handle) is c_mtmlDevice_t or id(type(handle)) not in _HANDLE_CLASSES:
        handle = _live_device(handle)
    argument = getattr(handle, slot, None)
    if argument is None and slot in _MAKERS and hasattr(handle, "_device"):
        return _MAKERS[slot](life, handle, slot)
    return MTML_ERROR_INVALID_ARGUMENT if argument is None else MTML_SUCCESS, argument


def _mpc_type(device):
    """(MTML status, MTML_MPC_TYPE_* of a device).

    An instance whose card is not visible has the type NONE here: it counts as a card. C may answer MTML_ERROR_UNKNOWN
    when it is asked for a card that a container hides.
    """
    properties = c_mtmlDeviceProperty_t()
    status = _status("mtmlDeviceGetProperty", "_device", device, byref(properties))
    if not status and properties.mpcType == MTML_MPC_TYPE_INSTANCE:
        cell = _Pointer()
        status = _status("mtmlDeviceGetMpcParentDevice", "_device", device, cell)
        if status == MTML_SUCCESS and cell[0]:
            return status, MTML_MPC_TYPE_INSTANCE
        properties.mpcType = MTML_MPC_TYPE_NONE
        status = MTML_SUCCESS if status in (MTML_ERROR_UNKNOWN, MTML_ERROR_NOT_FOUND) else status
    if status in (MTML_SUCCESS, MTML_ERROR_NOT_SUPPORTED, _FUNCTION_NOT_FOUND):
        argument = getattr(device, "_device", None)
        if argument is not None:
            _keep(device, "_board", argument)
        return MTML_SUCCESS, properties.mpcType
    return status, None


def _status(name, slot, handle, *arguments):
    """MTML status of a C call whose first parameter is a handle.

    ``slot``: the attribute of the handle with the argument for C (``_device``, ``_gpu`` ...), or ``library`` of a life.
    """
    if type(handle) is c_mtmlDevice_t or id(type(handle)) in _HANDLE_CLASSES:
        try:
            return _functions[name](getattr(handle, slot), *arguments)
        except (AttributeError, KeyError):
            pass  # one of the two is missing
    return _slow_status(name, slot, handle, *arguments)


def _slow_status(name, slot, handle, *arguments):
    """As _status, for a call whose slot is empty or whose function is missing: finds out why, makes a sub-handle."""
    status, function, argument = _prepare_call(name, slot, handle)
    return status or function(argument, *arguments)


def _prepare_call(name, slot, handle):
    """(status, C function, its first argument) for a call whose first parameter is a handle."""
    status, argument = _argument(slot, handle)
    function = _functions.get(name)
    return status if status or function else _FUNCTION_NOT_FOUND, function, argument


def _pair_status(name, device1, device2, *arguments):
    """MTML status of a C call whose first two parameters are devices."""
    status, second = _argument("_device", device2)
    return status or _status(name, "_device", device1, second, *arguments)


def _library_status(name, *arguments):
    """MTML status of a C call whose first parameter is the library."""
    return _status(name, "library", _session.life, *arguments)


def _uint(value):
    """An integer argument for C.

    A number that does not fit an unsigned int becomes the maximum, which C refuses. ctypes would cut it to 32 bits, and
    it would mean something else.

    Raises: TypeError if the value is not an integer.
    """
    if type(value) is not int:
        value = _plain_int(value)
    return value if 0 <= value <= _UINT_MAX else _UINT_MAX


def _type_error(text):
    """The TypeError for an argument of the caller; it is marked, because C-style functions return a code instead."""
    error = TypeError(text)
    error.argument = True  # type: ignore[attr-defined]
    return error


def _plain_int(value):
    """An integer as a plain int, as a class of the caller may have its own arithmetic and comparisons."""
    try:
        if not issubclass(type(value), int):
            value = type(value).__index__(value)
        return int.__index__(value)
    except (AttributeError, TypeError):
        raise _type_error("'%s' object cannot be interpreted as an integer" % type(value).__name__)


def _bytes(text):
    """A string argument for C, as bytes.

    Raises: TypeError if it is neither str nor bytes, MTMLError_InvalidArgument if it contains a NUL.
    """
    plain = _plain_bytes(text)
    if plain is None:
        raise _type_error("a str or bytes is required, not '%s'" % type(text).__name__)
    if b"\0" in plain:  # C would read only up to the NUL
        raise _mtml_error(MTML_ERROR_INVALID_ARGUMENT)
    return plain


def _plain_bytes(text):
    """A str or bytes as plain bytes, None for anything else. type() decides, as ``__class__`` may be wrong."""
    if issubclass(type(text), str):
        return str.encode(text, "utf-8", "replace")
    return bytes.__getitem__(text, slice(None)) if issubclass(type(text), bytes) else None


def _text(buffer):
    """A C string as str; replacement characters stand for bytes that are not UTF-8."""
    return buffer.value.decode("utf-8", "replace")


# Calls of getters, by the type of the result. Helpers that nvml* functions use too have a parameter ``check``: it is
# _check or _nvml_check.


def _string(name, slot, handle, size, check=_check):
    """The text that a (buffer, length) getter fills in."""
    buffer = (c_char * size)()
    check(_status(name, slot, handle, buffer, size))
    return _text(buffer)


def _number(name, slot, handle, *arguments, cell=_UInt):
    """The number that a getter returns: an unsigned int or enum, or the type of ``cell``."""
    value = cell()
    _check(_status(name, slot, handle, *arguments, value))
    return value[0]


def _two_numbers(name, slot, handle, cell=_UInt):
    """The two numbers that a getter returns: unsigned ints or enums, or of the type of ``cell``."""
    first, second = cell(), cell()
    _check(_status(name, slot, handle, first, second))
    return first[0], second[0]


def _pair_number(name, device1, device2, *arguments):
    """The unsigned int or enum that a getter returns for two devices."""
    value = _UInt()
    _check(_pair_status(name, device1, device2, *arguments, value))
    return value[0]


def _struct(struct, name, slot, handle, *arguments):
    """Call a getter that fills in ``struct``; return ``struct``."""
    _check(_status(name, slot, handle, *arguments, byref(struct)))
    return struct


def _device_from(check, address):
    """The handle for a native device pointer from C; a NULL pointer is an Unknown error."""
    check(MTML_SUCCESS if address else MTML_ERROR_UNKNOWN)
    return _device_at(address)


def _devices(cells):
    """Handles for an array of native device pointers (list); NULL pointers are left out."""
    return [_device_at(address) for address in cells if address]


def _child(slot, handle):
    """The gpu, memory or vpu handle of a device: the same one each time. Such a handle itself is returned as it is."""
    status, argument = _argument(slot, handle)
    _check(status)
    handle_class = _CHILDREN[slot][1]
    if isinstance(handle, handle_class):
        return handle
    device, life = _live_device(handle), _session.life
    if device is None or life is None:  # the handle went stale meanwhile
        raise _mtml_error(_UNINITIALIZED if life is None else MTML_ERROR_INVALID_ARGUMENT)
    child = life.others.get((device._address, slot))
    if child is None:
        mine = _new_handle(handle_class, ctypes.cast(argument, c_void_p).value, device._address)
        _fill(life, mine, slot, argument)
        child = life.others.setdefault((device._address, slot), mine)
    return child


def _items(check, sequence):
    """The items of a sequence as a plain list; too many items for one call are an InvalidArgument error."""
    items = [item for _, item in zip(range(_BATCH_MAX + 1), sequence)]
    check(MTML_ERROR_INVALID_ARGUMENT if len(items) > _BATCH_MAX else MTML_SUCCESS)
    return items


def _array(item, count):
    """A zeroed C array for a getter to fill.

    Raises: MTMLError_InvalidArgument if the count is larger than any real one; that much memory is not allocated.
    """
    count = _uint(count)
    if count * ctypes.sizeof(item) > _ARRAY_BYTES_MAX:
        raise _mtml_error(MTML_ERROR_INVALID_ARGUMENT)
    return (item * count)()


def _pointer(struct, struct_class):
    """A struct argument by reference; the caller gave the struct or a pointer to it."""
    if issubclass(type(struct), POINTER(struct_class)) and ctypes.cast(struct, c_void_p).value:
        struct = POINTER(struct_class).contents.__get__(struct)
    if not issubclass(type(struct), struct_class):
        raise _mtml_error(MTML_ERROR_INVALID_ARGUMENT)
    return byref(struct)


def _plain_status(name, *arguments):
    """MTML status of a C call that needs no handle."""
    function = _functions.get(name)
    return _FUNCTION_NOT_FOUND if function is None else function(*arguments)


# ==== 8. mtml* functions ==============================================================================================
# All functions of the header, in its order: those by hand, then in the same groups those that tools/generate_api.py
# writes from facts/mtml_api.json. Each of them may raise MTMLError_Uninitialized, MTMLError_InvalidArgument (also for a
# stale handle), MTMLError_Unknown, and MTMLError_FunctionNotFound if the loaded library lacks the function. Functions
# of a gpu, memory or vpu take that handle or the handle of the device.

# ---- Library ----


def mtmlLibraryInit() -> "c_mtmlLibrary_t":
    """Handle of the library; the first call initializes the library.

    Calls are counted: each needs its own mtmlLibraryShutDown.

    Raises: MTMLError_LibraryNotFound, MTMLError_InsufficientMemory, MTMLError_DriverFailure; MTMLError_ResourceIsBusy
    from a signal handler in the middle of an init, a shutdown or a change of MPC.
    """
    return _start(_check).handle


def mtmlLibraryShutDown() -> "None":
    """Undo one mtmlLibraryInit; the last call makes all handles stale and shuts the library down.

    The last call keeps the library for the next init instead, if a query runs, if other interpreters are alive (other
    threads, on a free-threaded Python or while the interpreter ends), or if PYMTML_KEEP_LIBRARY=1 is in the
    environment. To shut down a library that nvmlShutdown keeps, call mtmlLibraryInit and then this function.

    Raises: MTMLError_FunctionNotFound if the library has no shutdown function, and then nothing changes;
    MTMLError_ResourceIsBusy from a signal handler in the middle of an init, a shutdown or a change of MPC. If C's
    shutdown fails, its error is raised and the call does not count.
    """
    _stop(_check, True)


def mtmlLibraryGetVersion() -> "str":
    """Version of the MTML library as text.

    Raises: MTMLError_InsufficientSize.
    """
    return _string("mtmlLibraryGetVersion", "library", _session.life, MTML_LIBRARY_VERSION_BUFFER_SIZE)


def mtmlLibraryInitSystem() -> "c_mtmlSystem_t":
    """Handle of the host system, the same one each time.

    Raises: MTMLError_InsufficientMemory.
    """
    status, system = _make_system()
    _check(status)
    return system


def mtmlLibraryFreeSystem(sys) -> "None":
    """Only check the handle: the system stays usable. C's function is deprecated and not called."""
    _check(_argument("_system", sys)[0])


def mtmlLibraryCountDevice() -> "int":
    """Number of devices that have an index; with MPC enabled, these are both parents and instances."""
    return _number("mtmlLibraryCountDevice", "library", _session.life)


def mtmlLibraryInitDeviceByIndex(index) -> "c_mtmlDevice_t":
    """Handle of the device with that index, 0 to mtmlLibraryCountDevice() - 1.

    Raises: MTMLError_NotFound, MTMLError_InsufficientMemory, MTMLError_DriverFailure.
    """
    cell = _Pointer()
    _check(_library_status("mtmlLibraryInitDeviceByIndex", _uint(index), cell))
    return _device_from(_check, cell[0])


def mtmlLibraryInitDeviceByUuid(uuid) -> "c_mtmlDevice_t":
    """Handle of the device with that UUID (str or bytes, in the format of mtmlDeviceGetUUID).

    Raises: MTMLError_NotFound, MTMLError_InsufficientMemory, MTMLError_DriverFailure.
    """
    cell = _Pointer()
    _check(_library_status("mtmlLibraryInitDeviceByUuid", _bytes(uuid), cell))
    return _device_from(_check, cell[0])


def mtmlLibraryInitDeviceByPciSbdf(pciSbdf) -> "c_mtmlDevice_t":
    """Handle of the device at that PCI address (str or bytes, in the format of ``sbdf`` of mtmlDeviceGetPciInfo).

    Upper and lower case and a domain of four or eight digits work, even if the library accepts only one of them.

    Raises: MTMLError_InsufficientMemory, MTMLError_NotFound.
    """
    # fastfetch asks with four digits of a real S80 (its PRs 1142 and 1259), the MTML 2.2.0 header writes eight.
    text, cell = _bytes(pciSbdf), _Pointer()
    status = _library_status("mtmlLibraryInitDeviceByPciSbdf", text, cell)
    if status in (MTML_ERROR_NOT_FOUND, MTML_ERROR_INVALID_ARGUMENT):
        address = _parse_bus_id(text.decode("utf-8", "replace"))
        for spelling in () if address is None else (b"%08x:%02x:%02x.0", b"%04x:%02x:%02x.0"):
            if status in (MTML_ERROR_NOT_FOUND, MTML_ERROR_INVALID_ARGUMENT):
                status = _library_status("mtmlLibraryInitDeviceByPciSbdf", spelling % address, cell)
    _check(status)
    return _device_from(_check, cell[0])


def mtmlLibrarySetMpcConfigurationInBatch(devices, mpcConfigIds) -> "None":
    """Set the MPC configurations of several devices, an id for each; Linux only, since the Chunxiao generation.

    The call is slow. It has the same effect on handles, queries and other threads as mtmlDeviceSetMpcMode.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure; MTMLError_ResourceIsBusy as mtmlDeviceSetMpcMode does.
    """
    different = len(devices) != len(mpcConfigIds)
    devices = _items(_check, devices)
    ids = [_uint(configuration) for configuration in _items(_check, mpcConfigIds)]
    if different or len(devices) != len(ids):
        raise _mtml_error(MTML_ERROR_INVALID_ARGUMENT)
    cells = (c_void_p * len(devices))()
    for i, device in enumerate(devices):  # no code of the caller runs from here on
        _check(_divisible(device))
        status, argument = _argument("_device", device)
        _check(status)
        cells[i] = ctypes.cast(argument, c_void_p).value
    arguments = len(ids), cells, (c_uint * len(ids))(*ids)
    _Change(_UNREACHED).run(_check, "mtmlLibrarySetMpcConfigurationInBatch", "library", None, *arguments)


def mtmlLibraryFreeDevice(dev) -> "None":
    """Only check the handle: the device stays usable. C's function crashes some drivers and is not called."""
    # Tests of MooreThreads/mthreads-ml-py leave it out for that reason, and gpustack-runtime goes on using the device.
    _check(_argument("_device", dev)[0])


# ---- System ----


def mtmlSystemGetDriverVersion(sys=None) -> "str":
    """Version of the kernel driver as text.

    Without an argument, pymtml uses its own system handle.

    Raises: MTMLError_InsufficientSize.
    """
    if sys is None:
        status, sys = _make_system()
        _check(status)
    return _string("mtmlSystemGetDriverVersion", "_system", sys, MTML_DRIVER_VERSION_BUFFER_SIZE)


# ---- Device ----


def mtmlDeviceInitGpu(dev) -> "c_mtmlGpu_t":
    """Handle of the device's graphics and compute unit, the same each time; mtmlGpu* functions also accept the device.

    Raises: MTMLError_InsufficientMemory.
    """
    return _child("_gpu", dev)


def mtmlDeviceFreeGpu(gpu) -> "None":
    """Only check the handle: the handle stays usable. C's function is deprecated and not called."""
    _check(_argument("_gpu", gpu)[0])


def mtmlDeviceInitMemory(dev) -> "c_mtmlMemory_t":
    """Handle of the device's memory, the same one each time; mtmlMemory* functions also accept the device.

    Raises: MTMLError_InsufficientMemory.
    """
    return _child("_memory", dev)


def mtmlDeviceFreeMemory(mem) -> "None":
    """Only check the handle: the handle stays usable. C's function is deprecated and not called."""
    _check(_argument("_memory", mem)[0])


def mtmlDeviceInitVpu(dev) -> "c_mtmlVpu_t":
    """Handle of the device's video unit, the same one each time; mtmlVpu* functions also accept the device.

    Raises: MTMLError_DriverFailure, MTMLError_InsufficientMemory, MTMLError_NotSupported.
    """
    return _child("_vpu", dev)


def mtmlDeviceFreeVpu(vpu) -> "None":
    """Only check the handle: the handle stays usable. C's function is deprecated and not called."""
    _check(_argument("_vpu", vpu)[0])


def mtmlDeviceGetUUID(dev) -> "str":
    """UUID of the device as text, 8-4-4-4-12 hexadecimal digits without a prefix.

    Raises: MTMLError_InsufficientSize.
    """
    return _string("mtmlDeviceGetUUID", "_device", dev, MTML_DEVICE_UUID_BUFFER_SIZE)


def mtmlDeviceGetName(dev) -> "str":
    """Product name of the device as text.

    Raises: MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld,
    MTMLError_DriverTooNew.
    """
    return _string("mtmlDeviceGetName", "_device", dev, MTML_DEVICE_NAME_BUFFER_SIZE)


def mtmlDeviceGetGpuPath(dev) -> "str":
    """Path of the device node, such as /dev/mtgpu.0.

    Raises: MTMLError_NotSupported, MTMLError_InsufficientSize.
    """
    return _string("mtmlDeviceGetGpuPath", "_device", dev, MTML_DEVICE_PATH_BUFFER_SIZE)


def mtmlDeviceGetPrimaryPath(dev) -> "str":
    """Path of the DRM primary node, such as /dev/dri/card0.

    Raises: MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _string("mtmlDeviceGetPrimaryPath", "_device", dev, MTML_DEVICE_PATH_BUFFER_SIZE)


def mtmlDeviceGetRenderPath(dev) -> "str":
    """Path of the DRM render node, such as /dev/dri/renderD128.

    Raises: MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _string("mtmlDeviceGetRenderPath", "_device", dev, MTML_DEVICE_PATH_BUFFER_SIZE)


def mtmlDeviceGetVbiosVersion(dev) -> "str":
    """Version of the device's firmware as text.

    mtmlDeviceGetMtBiosVersion replaces this function, which is deprecated in C.

    Raises: MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _string("mtmlDeviceGetVbiosVersion", "_device", dev, MTML_DEVICE_VBIOS_VERSION_BUFFER_SIZE)


def mtmlDeviceGetMtBiosVersion(dev) -> "str":
    """Version of the device's firmware as text.

    Raises: MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld,
    MTMLError_DriverTooNew.
    """
    return _string("mtmlDeviceGetMtBiosVersion", "_device", dev, MTML_DEVICE_MTBIOS_VERSION_BUFFER_SIZE)


def mtmlDeviceGetSerialNumber(device) -> "str":
    """Serial number of the board as text.

    Raises: MTMLError_NotSupported, MTMLError_InsufficientSize, MTMLError_DriverFailure, MTMLError_DriverTooOld,
    MTMLError_DriverTooNew.
    """
    serial = (c_char * MTML_DEVICE_SERIAL_NUMBER_BUFFER_SIZE)()
    _check(_status("mtmlDeviceGetSerialNumber", "_device", device, MTML_DEVICE_SERIAL_NUMBER_BUFFER_SIZE, serial))
    return _text(serial)


# ---- Virtualization ----


def mtmlDeviceGetSupportedVirtTypes(dev, count=None) -> "list[c_mtmlVirtType_t]":
    """Virtual device types that the card supports (list of c_mtmlVirtType_t).

    ``count``: size of the array for C, by default what mtmlDeviceCountSupportedVirtTypes returns.

    Raises: MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    available = _number("mtmlDeviceCountSupportedVirtTypes", "_device", dev)
    types = _array(c_mtmlVirtType_t, available if count is None else count)
    _check(_status("mtmlDeviceGetSupportedVirtTypes", "_device", dev, types, len(types)))
    return types[:available]


def mtmlDeviceGetAvailVirtTypes(dev, count=None) -> "list[c_mtmlVirtType_t]":
    """Virtual device types that can be created now (list of c_mtmlVirtType_t).

    ``count``: size of the array for C, by default what mtmlDeviceCountAvailVirtTypes returns.

    Raises: MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    available = _number("mtmlDeviceCountAvailVirtTypes", "_device", dev)
    types = _array(c_mtmlVirtType_t, available if count is None else count)
    _check(_status("mtmlDeviceGetAvailVirtTypes", "_device", dev, types, len(types)))
    return types[:available]


def mtmlDeviceCountAvailVirtDevices(dev, type) -> "int":
    """Number of virtual devices of a type (c_mtmlVirtType_t) that can still be created.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceCountAvailVirtDevices", "_device", dev, _pointer(type, c_mtmlVirtType_t))


def mtmlDeviceGetActiveVirtDeviceUuids(dev, entryLength=MTML_DEVICE_UUID_BUFFER_SIZE, entryCount=None) -> "list[str]":
    """UUIDs of the virtual devices that hold resources of the card (list of str).

    ``entryCount``: number of entries for C, by default what mtmlDeviceCountActiveVirtDevices returns.
    ``entryLength``: bytes per entry.

    Raises: MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    available = _number("mtmlDeviceCountActiveVirtDevices", "_device", dev)
    entryLength, entryCount = _uint(entryLength), available if entryCount is None else _uint(entryCount)
    if entryLength * entryCount > _ARRAY_BYTES_MAX:
        raise _mtml_error(MTML_ERROR_INVALID_ARGUMENT)
    uuids = (c_char * (entryLength * entryCount))()
    _check(_status("mtmlDeviceGetActiveVirtDeviceUuids", "_device", dev, uuids, entryLength, entryCount))
    used = entryLength * min(entryCount, available)
    raw = uuids.raw[:used]
    entries = [raw[start : start + entryLength] for start in range(0, used, entryLength or 1)]
    texts = [entry.partition(b"\0")[0].decode("utf-8", "replace") for entry in entries]
    return [text for text in texts if text]


def mtmlDeviceCountMaxVirtDevices(dev, type) -> "int":
    """Number of virtual devices of a type (c_mtmlVirtType_t) that an empty card can hold.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceCountMaxVirtDevices", "_device", dev, _pointer(type, c_mtmlVirtType_t))


def mtmlDeviceInitVirtDevice(dev, uuid) -> "c_mtmlDevice_t":
    """Handle of an active virtual device of the card, by its UUID (str or bytes).

    Raises: MTMLError_NotSupported, MTMLError_InsufficientMemory, MTMLError_NotFound, MTMLError_DriverFailure.
    """
    return _device_from(_check, _number("mtmlDeviceInitVirtDevice", "_device", dev, _bytes(uuid), cell=_Pointer))


def mtmlDeviceFreeVirtDevice(virtDev) -> "None":
    """Only check the handle: the virtual device stays usable. C's function is deprecated and not called."""
    _check(_argument("_device", virtDev)[0])


def mtmlDeviceGetPhyDeviceUuid(virtDev) -> "str":
    """UUID of the card to which a virtual device belongs, as text.

    Raises: MTMLError_NotSupported, MTMLError_InsufficientSize, MTMLError_DriverFailure.
    """
    return _string("mtmlDeviceGetPhyDeviceUuid", "_device", virtDev, MTML_DEVICE_UUID_BUFFER_SIZE)


# ---- Topology ----


def mtmlDeviceGetTopologyLevel(dev1, dev2) -> "int":
    """Distance between two devices (MTML_TOPOLOGY_*); Linux only.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _pair_number("mtmlDeviceGetTopologyLevel", dev1, dev2)


def mtmlDeviceGetDeviceByTopologyLevel(dev, level, count=None) -> "list[c_mtmlDevice_t]":
    """Other devices at a distance (MTML_TOPOLOGY_*), as a list of handles; Linux only.

    ``count``: size of the array for C, by default what mtmlDeviceCountDeviceByTopologyLevel returns.

    Raises: MTMLError_InsufficientSize, MTMLError_DriverFailure, MTMLError_NotSupported.
    """
    if count is None:
        count = _number("mtmlDeviceCountDeviceByTopologyLevel", "_device", dev, _uint(level))
    cells = _array(c_void_p, count)
    _check(_status("mtmlDeviceGetDeviceByTopologyLevel", "_device", dev, _uint(level), len(cells), cells))
    return _devices(cells)


def mtmlDeviceGetP2PStatus(dev1, dev2, p2pCap) -> "int":
    """Whether two devices have a capability MTML_P2P_CAPS_* with each other (MTML_P2P_STATUS_*).

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _pair_number("mtmlDeviceGetP2PStatus", dev1, dev2, _uint(p2pCap))


# ---- Memory ----


def mtmlMemoryGetVendor(mem) -> "str":
    """Maker of the memory chips as text.

    Raises: MTMLError_DriverFailure, MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverTooOld,
    MTMLError_DriverTooNew.
    """
    vendor = (c_char * MTML_MEMORY_VENDOR_BUFFER_SIZE)()
    _check(_status("mtmlMemoryGetVendor", "_memory", mem, MTML_MEMORY_VENDOR_BUFFER_SIZE, vendor))
    return _text(vendor)


# ---- VPU ----


def mtmlVpuGetEncoderSessionStates(vpu, length=None) -> "list[c_mtmlCodecSessionState_t]":
    """States of the encoder sessions (list of c_mtmlCodecSessionState_t: .sessionId, .state).

    ``length``: number of sessions to report; by default the number from mtmlVpuGetCodecCapacity.

    Raises: MTMLError_InsufficientSize, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    if length is None:
        length = _two_numbers("mtmlVpuGetCodecCapacity", "_vpu", vpu)[0]
    return _session_states("mtmlVpuGetEncoderSessionStates", vpu, length)


def mtmlVpuGetDecoderSessionStates(vpu, length=None) -> "list[c_mtmlCodecSessionState_t]":
    """States of the decoder sessions (list of c_mtmlCodecSessionState_t: .sessionId, .state).

    ``length``: number of sessions to report; by default the number from mtmlVpuGetCodecCapacity.

    Raises: MTMLError_InsufficientSize, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    if length is None:
        length = _two_numbers("mtmlVpuGetCodecCapacity", "_vpu", vpu)[1]
    return _session_states("mtmlVpuGetDecoderSessionStates", vpu, length)


def _session_states(name, vpu, length):
    """What a getter of session states fills in (list of c_mtmlCodecSessionState_t)."""
    states = _array(c_int, length)
    _check(_status(name, "_vpu", vpu, states, len(states)))
    return [c_mtmlCodecSessionState_t(session, state) for session, state in enumerate(states)]


# ---- Log ----


def mtmlLogSetConfiguration(configuration) -> "None":
    """Set where the library logs, for the whole process (c_mtmlLogConfiguration_t).

    If ``configuration`` has a Python callback, pymtml keeps it alive while it is installed. mtmlLibraryInit is not
    needed.

    Raises: MTMLError_NotSupported, MTMLError_LibraryNotFound.
    """
    if not issubclass(type(configuration), c_mtmlLogConfiguration_t):
        raise _mtml_error(MTML_ERROR_INVALID_ARGUMENT)
    _hold(_locks.log, _set_log, configuration, ctypes.cast(configuration.callbackConfig.callback, c_void_p).value)


def _set_log(configuration, callback):
    """Pass a log configuration to C.

    C stores the address of the callback. So the callback must live longer than the caller's struct, and the previous
    callback must live until C has the new one. A struct that C filled in holds only the address of the installed
    callback: then that callback is kept.
    """
    _check(_load(), _session.load_report)
    changed = callback != _session.log_callback
    if changed:
        _session.log_callback_owners.append(dict(configuration._objects or {}))
    _check(_plain_status("mtmlLogSetConfiguration", byref(configuration)))
    if changed:
        _session.log_callback = callback
        del _session.log_callback_owners[:-1]


def mtmlLogGetConfiguration() -> "c_mtmlLogConfiguration_t":
    """Where the library logs (c_mtmlLogConfiguration_t).

    mtmlLibraryInit is not needed.
    """
    configuration = c_mtmlLogConfiguration_t()
    _check(_load(), _session.load_report)
    _check(_plain_status("mtmlLogGetConfiguration", byref(configuration)))
    return configuration


# ---- Error ----


def mtmlErrorString(result) -> "str":
    """The C library's text for an MTML status.

    mtmlLibraryInit is not needed.
    """
    text = _mtmlGetFunctionPointer("mtmlErrorString")(_uint(result))
    return "" if text is None else text.decode("utf-8", "replace")


# ---- MPC ----

# Statuses with which C refuses a change before it begins; after another failure it may have changed something.
_UNREACHED = (_UNINITIALIZED, _FUNCTION_NOT_FOUND)
_REFUSED = _UNREACHED + (
    MTML_ERROR_INVALID_ARGUMENT,
    MTML_ERROR_NOT_SUPPORTED,
    MTML_ERROR_NO_PERMISSION,
    MTML_ERROR_RESOURCE_IS_BUSY,
)


def mtmlDeviceSetMpcMode(device, mode) -> "None":
    """Turn MPC on or off (MTML_DEVICE_MPC_*); Linux only, since the Chunxiao generation.

    All handles except that of the library become stale. Shut down and initialize the library before the next query:
    until then C returns errors for queries (Unknown). The call waits at most five seconds until the queries of other
    threads have returned; new queries raise MTMLError_ResourceIsBusy until it ends.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure; MTMLError_ResourceIsBusy in the middle of another call of
    pymtml, or if a query of another thread does not return in time.
    """
    mode = _uint(mode)
    _check(_divisible(device))
    _Change(_REFUSED).run(_check, "mtmlDeviceSetMpcMode", "_device", device, mode)


def _divisible(device):
    """MTML status: NotSupported if MPC cannot divide the device. Asked first, so that no thread waits in vain."""
    properties = c_mtmlDeviceProperty_t()
    status = _status("mtmlDeviceGetProperty", "_device", device, byref(properties))
    if status == _FUNCTION_NOT_FOUND:
        return MTML_SUCCESS  # not known: C decides
    return status or (MTML_SUCCESS if properties.mpcCap else MTML_ERROR_NOT_SUPPORTED)


def mtmlDeviceGetSupportedMpcProfiles(parentDevice, count=None) -> "list[c_mtmlMpcProfile_t]":
    """MPC profiles of the parent device (list of c_mtmlMpcProfile_t); Linux only, since the Chunxiao generation.

    ``count``: size of the array for C, by default what mtmlDeviceCountSupportedMpcProfiles returns.

    Raises: MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    available = _number("mtmlDeviceCountSupportedMpcProfiles", "_device", parentDevice)
    info = _array(c_mtmlMpcProfile_t, available if count is None else count)
    _check(_status("mtmlDeviceGetSupportedMpcProfiles", "_device", parentDevice, len(info), info))
    return info[:available]


def mtmlDeviceGetSupportedMpcConfigurations(parentDevice, count=None) -> "list[c_mtmlMpcConfiguration_t]":
    """MPC configurations of the parent device (list of c_mtmlMpcConfiguration_t); Linux, since the Chunxiao generation.

    ``count``: size of the array for C, by default what mtmlDeviceCountSupportedMpcConfigurations returns.

    Raises: MTMLError_NotSupported, MTMLError_InsufficientSize, MTMLError_DriverFailure.
    """
    available = _number("mtmlDeviceCountSupportedMpcConfigurations", "_device", parentDevice)
    info = _array(c_mtmlMpcConfiguration_t, available if count is None else count)
    _check(_status("mtmlDeviceGetSupportedMpcConfigurations", "_device", parentDevice, len(info), info))
    return info[:available]


def mtmlDeviceGetMpcConfigurationByName(parentDevice, configName) -> "c_mtmlMpcConfiguration_t":
    """MPC configuration with that name (str or bytes) that the parent device offers (c_mtmlMpcConfiguration_t).

    Linux only. Since the Chunxiao generation.

    Raises: MTMLError_NotFound, MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    name, configuration = _bytes(configName), c_mtmlMpcConfiguration_t()
    return _struct(configuration, "mtmlDeviceGetMpcConfigurationByName", "_device", parentDevice, name)


def mtmlDeviceSetMpcConfiguration(parentDevice, id) -> "None":
    """Set the MPC configuration of the parent device, by configuration id; Linux only, since the Chunxiao generation.

    It has the same effect on handles, queries and other threads as mtmlDeviceSetMpcMode.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure; MTMLError_ResourceIsBusy as mtmlDeviceSetMpcMode does.
    """
    id = _uint(id)
    _check(_divisible(parentDevice))
    _Change(_REFUSED).run(_check, "mtmlDeviceSetMpcConfiguration", "_device", parentDevice, id)


def mtmlDeviceGetMpcInstancesByProfileId(parentDevice, profileId, count=None) -> "list[c_mtmlDevice_t]":
    """Existing MPC instances of a profile (list of handles); Linux only, since the Chunxiao generation.

    ``count``: size of the array for C, by default what mtmlDeviceCountMpcInstancesByProfileId returns.

    Raises: MTMLError_NotSupported, MTMLError_InsufficientSize, MTMLError_DriverFailure.
    """
    profile = _uint(profileId)
    if count is None:
        count = _number("mtmlDeviceCountMpcInstancesByProfileId", "_device", parentDevice, profile)
    cells = _array(c_void_p, count)
    _check(_status("mtmlDeviceGetMpcInstancesByProfileId", "_device", parentDevice, profile, len(cells), cells))
    return _devices(cells)


def mtmlDeviceGetMpcInstances(parentDevice, count=None) -> "list[c_mtmlDevice_t]":
    """Existing MPC instances of the parent device (list of handles); Linux only, since the Chunxiao generation.

    ``count``: size of the array for C, by default what mtmlDeviceCountMpcInstances returns.

    Raises: MTMLError_NotSupported, MTMLError_InsufficientSize, MTMLError_DriverFailure.
    """
    if count is None:
        count = _number("mtmlDeviceCountMpcInstances", "_device", parentDevice)
    cells = _array(c_void_p, count)
    _check(_status("mtmlDeviceGetMpcInstances", "_device", parentDevice, len(cells), cells))
    return _devices(cells)


def mtmlDeviceGetMpcInstanceByIndex(parentDevice, index) -> "c_mtmlDevice_t":
    """Handle of an MPC instance, by its index below the parent device; Linux only, since the Chunxiao generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _device_from(
        _check, _number("mtmlDeviceGetMpcInstanceByIndex", "_device", parentDevice, _uint(index), cell=_Pointer)
    )


def mtmlDeviceGetMpcParentDevice(mpcInstance) -> "c_mtmlDevice_t":
    """Handle of the parent device of an MPC instance; Linux only, since the Chunxiao generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _device_from(_check, _number("mtmlDeviceGetMpcParentDevice", "_device", mpcInstance, cell=_Pointer))


# ---- MtLink ----


def mtmlDeviceGetMtLinkRemoteDevice(device, linkId) -> "c_mtmlDevice_t":
    """Handle of the device at the other end of a link; since the Quyuan generation.

    Raises: MTMLError_NotSupported, MTMLError_NotFound (the link is not connected, or that device is hidden),
    MTMLError_DriverFailure.
    """
    return _device_from(
        _check, _number("mtmlDeviceGetMtLinkRemoteDevice", "_device", device, _uint(linkId), cell=_Pointer)
    )


def mtmlDeviceCountMtLinkShortestPaths(localDevice, remoteDevice) -> "tuple[int, int]":
    """(pathCount, pathLength): number of shortest MtLink paths between two devices, and devices on each path.

    The devices on a path include both ends: the length is 2 for neighbors.

    Since the Quyuan generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _count_paths(localDevice, remoteDevice)


def _count_paths(localDevice, remoteDevice):
    """(number, length) of the shortest MtLink paths between two devices."""
    count, length = _UInt(), _UInt()
    _check(_pair_status("mtmlDeviceCountMtLinkShortestPaths", localDevice, remoteDevice, count, length))
    return count[0], length[0]


def mtmlDeviceGetMtLinkShortestPaths(
    localDevice, remoteDevice, pathCount=None, pathLength=None
) -> "list[list[c_mtmlDevice_t]]":
    """Shortest MtLink paths between two devices (list of lists of handles, from the local to the remote device).

    ``pathCount``, ``pathLength``: sizes of the array for C, by default what mtmlDeviceCountMtLinkShortestPaths returns.
    Since the Quyuan generation.

    Raises: MTMLError_InsufficientSize, MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    if pathCount is None or pathLength is None:
        pathCount, pathLength = _count_paths(localDevice, remoteDevice)
    pathCount, pathLength = _uint(pathCount), _uint(pathLength)
    if max(pathCount, pathLength) > _PATHS_MAX:
        raise _mtml_error(MTML_ERROR_INVALID_ARGUMENT)
    cells = _array(c_void_p, pathCount * pathLength)
    _check(_pair_status("mtmlDeviceGetMtLinkShortestPaths", localDevice, remoteDevice, pathCount, pathLength, cells))
    rows = [_devices(cells[path * pathLength : (path + 1) * pathLength]) for path in range(pathCount)]
    return [row for row in rows if row]


def mtmlDeviceCountMtLinkLayouts(localDevice, remoteDevice) -> "int":
    """Number of direct MtLinks between two devices; since the Quyuan generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _pair_number("mtmlDeviceCountMtLinkLayouts", localDevice, remoteDevice)


def mtmlDeviceGetMtLinkLayouts(localDevice, remoteDevice, linkCount=None) -> "list[c_mtmlMtLinkLayout_t]":
    """Direct MtLinks between two devices (list of c_mtmlMtLinkLayout_t); since the Quyuan generation.

    ``linkCount``: size of the array for C, by default what mtmlDeviceCountMtLinkLayouts returns.

    Raises: MTMLError_NotSupported, MTMLError_InsufficientSize, MTMLError_DriverFailure.
    """
    available = _pair_number("mtmlDeviceCountMtLinkLayouts", localDevice, remoteDevice)
    layouts = _array(c_mtmlMtLinkLayout_t, available if linkCount is None else linkCount)
    _check(_pair_status("mtmlDeviceGetMtLinkLayouts", localDevice, remoteDevice, len(layouts), layouts))
    return layouts[:available]


# ---- Affinity, reset, ECC ----


def mtmlDeviceGetMemoryAffinityWithinNode(device, nodeSetSize) -> "list[int]":
    """Bit mask of the NUMA nodes nearest to the device (list of ints, one per C unsigned long).

    ``nodeSetSize``: length of the list. Linux only. Since the Sudi generation.

    Raises: MTMLError_NotSupported.
    """
    words = _array(c_ulong, nodeSetSize)
    _check(_status("mtmlDeviceGetMemoryAffinityWithinNode", "_device", device, len(words), words))
    return list(words)


def mtmlDeviceGetCpuAffinityWithinNode(device, cpuSetSize) -> "list[int]":
    """Bit mask of the CPUs nearest to the device (list of ints, one per C unsigned long).

    ``cpuSetSize``: length of the list. Linux only. Since the Sudi generation.

    Raises: MTMLError_NotSupported.
    """
    words = _array(c_ulong, cpuSetSize)
    _check(_status("mtmlDeviceGetCpuAffinityWithinNode", "_device", device, len(words), words))
    return list(words)


def _survivors_of_reset(card):
    """Owners of the handles that remain valid when ``card`` is reset (set).

    None stands for the library, 0 for the system, an address for a device that surely does not belong to the card. The
    card's instances and virtual devices belong to it.
    """
    owners, life = {None, 0}, _session.life
    for device in list(life.devices.values()) if life and card is not None else ():
        properties, parent = c_mtmlDeviceProperty_t(), _Pointer()
        uuid = (c_char * MTML_DEVICE_UUID_BUFFER_SIZE)()
        if device is card or _status("mtmlDeviceGetProperty", "_device", device, byref(properties)):
            continue
        if properties.mpcType == MTML_MPC_TYPE_INSTANCE:
            status = _status("mtmlDeviceGetMpcParentDevice", "_device", device, parent)
            other = not status and parent[0] != card._address
        elif properties.virtRole == MTML_VIRT_ROLE_HOST_VIRTDEVICE:
            status = _status("mtmlDeviceGetPhyDeviceUuid", "_device", device, uuid, len(uuid))
            other = not status and _text(uuid) != _string("mtmlDeviceGetUUID", "_device", card, len(uuid))
        else:
            other = True
        if other:
            owners.add(device._address)
    return owners


def mtmlDeviceReset(device) -> "None":
    """Reset the whole device, which must be idle; Linux only.

    The handles of the device, its instances and its virtual devices become stale. The call waits at most five seconds
    until the queries of other threads have returned; new queries raise MTMLError_ResourceIsBusy until it ends.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew;
    MTMLError_ResourceIsBusy in the middle of another call of pymtml, or if a query of another thread does not return in
    time.
    """
    change = _Change(_REFUSED, _survivors_of_reset(_live_device(device)), restarts_library=False)
    change.run(_check, "mtmlDeviceReset", "_device", device)


def mtmlMemorySetEccMode(mem, mode) -> "None":
    """Set the MTML_MEMORY_ECC_* mode that takes effect at the next reboot; since the Pinghu generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    _check(_status("mtmlMemorySetEccMode", "_memory", mem, _uint(mode)))


def mtmlMemoryGetRetiredPages(mem, cause, count=None) -> "list[c_mtmlPageRetirement_t]":
    """Pages retired for a cause MTML_PAGE_RETIREMENT_CAUSE_* (list of c_mtmlPageRetirement_t).

    ``count``: size of the array for C, by default the number that mtmlMemoryGetRetiredPagesCount returns for the cause.
    Since the Pinghu generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    counts = _struct(c_mtmlPageRetirementCount_t(), "mtmlMemoryGetRetiredPagesCount", "_memory", mem)
    available = counts.dbeCount if cause == MTML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR else counts.sbeCount
    pages = _array(c_mtmlPageRetirement_t, available if count is None else count)
    _check(_status("mtmlMemoryGetRetiredPages", "_memory", mem, _uint(cause), len(pages), pages))
    return pages[:available]


def mtmlMemoryGetEccErrorCounter(mem, errorType, counterType, locationType) -> "int":
    """Number of ECC errors; since the Pinghu generation.

    ``errorType``: MTML_MEMORY_ERROR_TYPE_*. ``counterType``: MTML_VOLATILE_ECC or MTML_AGGREGATE_ECC. ``locationType``:
    a mask of MTML_MEMORY_LOCATION_*.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    kinds = _uint(errorType), _uint(counterType), _uint(locationType)
    return _number("mtmlMemoryGetEccErrorCounter", "_memory", mem, *kinds, cell=_ULongLong)


def mtmlMemoryClearEccErrorCounts(mem, counterType) -> "None":
    """Set all ECC error counters of a type (MTML_VOLATILE_ECC or MTML_AGGREGATE_ECC) to 0; since the Pinghu generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    _check(_status("mtmlMemoryClearEccErrorCounts", "_memory", mem, _uint(counterType)))


# BEGIN generated MTML header functions
# ---- Device ----


def mtmlDeviceGetIndex(dev) -> "int":
    """Index of the device, for mtmlLibraryInitDeviceByIndex.

    A virtual device of a host has none.

    Raises: MTMLError_NotSupported.
    """
    return _number("mtmlDeviceGetIndex", "_device", dev)


def mtmlDeviceGetBrand(dev) -> "int":
    """MTML_BRAND_* of the device.

    Raises: MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceGetBrand", "_device", dev)


def mtmlDeviceGetPciInfo(dev) -> "c_mtmlPciInfo_t":
    """PCI address, ids and link of the device (c_mtmlPciInfo_t); speeds in GT/s per lane.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _struct(c_mtmlPciInfo_t(), "mtmlDeviceGetPciInfo", "_device", dev)


def mtmlDeviceGetPowerUsage(dev) -> "int":
    """Power drawn by the whole board, in mW.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlDeviceGetPowerUsage", "_device", dev)


def mtmlDeviceGetProperty(dev) -> "c_mtmlDeviceProperty_t":
    """Virtualization, MPC and MtLink flags of the device (c_mtmlDeviceProperty_t).

    Raises: MTMLError_DriverFailure.
    """
    return _struct(c_mtmlDeviceProperty_t(), "mtmlDeviceGetProperty", "_device", dev)


def mtmlDeviceCountFan(dev) -> "int":
    """Number of fan channels; 0 or an error for cards without fans.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlDeviceCountFan", "_device", dev)


def mtmlDeviceGetFanSpeed(dev, index) -> "int":
    """Target speed of a fan in percent of its noise-limited maximum; can exceed 100.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlDeviceGetFanSpeed", "_device", dev, _uint(index))


def mtmlDeviceGetFanRpm(dev, fanIndex) -> "int":
    """Speed of a fan in revolutions per minute.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceGetFanRpm", "_device", dev, _uint(fanIndex))


def mtmlDeviceGetPcieSlotInfo(dev) -> "c_mtmlPciSlotInfo_t":
    """Number and label of the card's PCIe slot (c_mtmlPciSlotInfo_t).

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _struct(c_mtmlPciSlotInfo_t(), "mtmlDeviceGetPcieSlotInfo", "_device", dev)


def mtmlDeviceCountDisplayInterface(device) -> "int":
    """Number of display outputs.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlDeviceCountDisplayInterface", "_device", device)


def mtmlDeviceGetDisplayInterfaceSpec(device, intfIndex) -> "c_mtmlDispIntfSpec_t":
    """Type and maximum mode of a display output (c_mtmlDispIntfSpec_t); pixels, Hz.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _struct(c_mtmlDispIntfSpec_t(), "mtmlDeviceGetDisplayInterfaceSpec", "_device", device, _uint(intfIndex))


def mtmlDeviceCountGpuCores(device) -> "int":
    """Number of GPU cores (8 on an MTT S80), not of arithmetic units.

    Raises: MTMLError_NotSupported.
    """
    return _number("mtmlDeviceCountGpuCores", "_device", device)


# ---- Virtualization ----


def mtmlDeviceCountSupportedVirtTypes(dev) -> "int":
    """Number of virtual device types that the card supports.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceCountSupportedVirtTypes", "_device", dev)


def mtmlDeviceCountAvailVirtTypes(dev) -> "int":
    """Number of virtual device types that can be created now.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceCountAvailVirtTypes", "_device", dev)


def mtmlDeviceCountActiveVirtDevices(dev) -> "int":
    """Number of virtual devices that hold resources of the card.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceCountActiveVirtDevices", "_device", dev)


def mtmlDeviceGetVirtType(virtDev) -> "c_mtmlVirtType_t":
    """Type of a virtual device (c_mtmlVirtType_t).

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _struct(c_mtmlVirtType_t(), "mtmlDeviceGetVirtType", "_device", virtDev)


# ---- Topology ----


def mtmlDeviceCountDeviceByTopologyLevel(dev, level) -> "int":
    """Number of other devices at a distance (MTML_TOPOLOGY_*); Linux only.

    Raises: MTMLError_DriverFailure, MTMLError_NotSupported.
    """
    return _number("mtmlDeviceCountDeviceByTopologyLevel", "_device", dev, _uint(level))


# ---- GPU ----


def mtmlGpuGetUtilization(gpu) -> "int":
    """Utilization of the GPU in percent.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlGpuGetUtilization", "_gpu", gpu)


def mtmlGpuGetTemperature(gpu) -> "int":
    """Temperature of the GPU in degrees Celsius, negative below zero.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlGpuGetTemperature", "_gpu", gpu, cell=_Int)


def mtmlGpuGetClock(gpu) -> "int":
    """Current clock of the GPU in MHz.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlGpuGetClock", "_gpu", gpu)


def mtmlGpuGetMaxClock(gpu) -> "int":
    """Maximum clock of the GPU in MHz.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlGpuGetMaxClock", "_gpu", gpu)


def mtmlGpuGetEngineUtilization(gpu, engine) -> "int":
    """Utilization of one engine (MTML_GPU_ENGINE_*) of the GPU in percent; Linux only.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlGpuGetEngineUtilization", "_gpu", gpu, _uint(engine))


# ---- Memory ----


def mtmlMemoryGetTotal(mem) -> "int":
    """Size of the device memory in bytes.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetTotal", "_memory", mem, cell=_ULongLong)


def mtmlMemoryGetUsed(mem) -> "int":
    """Device memory in use, in bytes.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetUsed", "_memory", mem, cell=_ULongLong)


def mtmlMemoryGetUsedSystem(mem) -> "int":
    """Host memory in use by the device, in bytes.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetUsedSystem", "_memory", mem, cell=_ULongLong)


def mtmlMemoryGetUtilization(mem) -> "int":
    """Utilization of the device memory in percent.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetUtilization", "_memory", mem)


def mtmlMemoryGetClock(mem) -> "int":
    """Current clock of the memory in MHz.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetClock", "_memory", mem)


def mtmlMemoryGetMaxClock(mem) -> "int":
    """Maximum clock of the memory in MHz.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetMaxClock", "_memory", mem)


def mtmlMemoryGetBusWidth(mem) -> "int":
    """Width of the memory bus in bits.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetBusWidth", "_memory", mem)


def mtmlMemoryGetBandwidth(mem) -> "int":
    """Bandwidth of the memory in GB/s.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetBandwidth", "_memory", mem)


def mtmlMemoryGetSpeed(mem) -> "int":
    """Data rate of the memory in Mbps per pin.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetSpeed", "_memory", mem)


def mtmlMemoryGetType(mem) -> "int":
    """MTML_MEM_TYPE_* of the memory; other numbers are types that the 2.2.0 header does not name.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetType", "_memory", mem)


# ---- VPU ----


def mtmlVpuGetUtilization(vpu) -> "c_mtmlCodecUtil_t":
    """Utilization of the video unit in percent, with the sample period in microseconds (c_mtmlCodecUtil_t).

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _struct(c_mtmlCodecUtil_t(), "mtmlVpuGetUtilization", "_vpu", vpu)


def mtmlVpuGetClock(vpu) -> "int":
    """Current clock of the video unit in MHz.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlVpuGetClock", "_vpu", vpu)


def mtmlVpuGetMaxClock(vpu) -> "int":
    """Maximum clock of the video unit in MHz.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlVpuGetMaxClock", "_vpu", vpu)


def mtmlVpuGetCodecCapacity(vpu) -> "tuple[int, int]":
    """(encodeCapacity, decodeCapacity): Encoder and decoder sessions that can run at once; they are numbered from 0.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _two_numbers("mtmlVpuGetCodecCapacity", "_vpu", vpu)


def mtmlVpuGetEncoderSessionMetrics(vpu, sessionId) -> "c_mtmlCodecSessionMetrics_t":
    """Metrics of one encoder session (c_mtmlCodecSessionMetrics_t); pid 0 means idle.

    Virtual devices report no other pid.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _struct(c_mtmlCodecSessionMetrics_t(), "mtmlVpuGetEncoderSessionMetrics", "_vpu", vpu, _uint(sessionId))


def mtmlVpuGetDecoderSessionMetrics(vpu, sessionId) -> "c_mtmlCodecSessionMetrics_t":
    """Metrics of one decoder session (c_mtmlCodecSessionMetrics_t); pid 0 means idle.

    Virtual devices report no other pid.

    Raises: MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _struct(c_mtmlCodecSessionMetrics_t(), "mtmlVpuGetDecoderSessionMetrics", "_vpu", vpu, _uint(sessionId))


# ---- MPC ----


def mtmlDeviceGetMpcMode(device) -> "int":
    """Whether MPC is on or off (MTML_DEVICE_MPC_*); since the Chunxiao generation."""
    return _number("mtmlDeviceGetMpcMode", "_device", device)


def mtmlDeviceCountSupportedMpcProfiles(parentDevice) -> "int":
    """Number of MPC profiles that the parent device offers; Linux only, since the Chunxiao generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceCountSupportedMpcProfiles", "_device", parentDevice)


def mtmlDeviceCountSupportedMpcConfigurations(parentDevice) -> "int":
    """Number of MPC configurations that the parent device offers; Linux only, since the Chunxiao generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceCountSupportedMpcConfigurations", "_device", parentDevice)


def mtmlDeviceGetMpcConfiguration(parentDevice) -> "c_mtmlMpcConfiguration_t":
    """Current MPC configuration of the parent device (c_mtmlMpcConfiguration_t).

    Linux only, since the Chunxiao generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _struct(c_mtmlMpcConfiguration_t(), "mtmlDeviceGetMpcConfiguration", "_device", parentDevice)


def mtmlDeviceCountMpcInstancesByProfileId(parentDevice, profileId) -> "int":
    """Number of existing MPC instances of a profile; Linux only, since the Chunxiao generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceCountMpcInstancesByProfileId", "_device", parentDevice, _uint(profileId))


def mtmlDeviceCountMpcInstances(parentDevice) -> "int":
    """Number of existing MPC instances of the parent device; Linux only, since the Chunxiao generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceCountMpcInstances", "_device", parentDevice)


def mtmlDeviceGetMpcProfileInfo(mpcInstance) -> "c_mtmlMpcProfile_t":
    """MPC profile of an instance (c_mtmlMpcProfile_t); Linux only, since the Chunxiao generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _struct(c_mtmlMpcProfile_t(), "mtmlDeviceGetMpcProfileInfo", "_device", mpcInstance)


def mtmlDeviceGetMpcInstanceIndex(mpcInstance) -> "int":
    """Index of an MPC instance among the instances of its parent device; Linux only, since the Chunxiao generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceGetMpcInstanceIndex", "_device", mpcInstance)


# ---- MtLink ----


def mtmlDeviceGetMtLinkSpec(device) -> "c_mtmlMtLinkSpec_t":
    """Version, bandwidth and number of the device's MtLinks (c_mtmlMtLinkSpec_t); bandwidth in GB/s per link.

    Since the Quyuan generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _struct(c_mtmlMtLinkSpec_t(), "mtmlDeviceGetMtLinkSpec", "_device", device)


def mtmlDeviceGetMtLinkState(device, linkId) -> "int":
    """State of a link (MTML_MTLINK_STATE_*); since the Quyuan generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceGetMtLinkState", "_device", device, _uint(linkId))


def mtmlDeviceGetMtLinkCapStatus(device, linkId, capability) -> "int":
    """Whether a link has the capability MTML_MTLINK_CAP_* (MTML_MTLINK_CAP_STATUS_*); since the Quyuan generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure.
    """
    return _number("mtmlDeviceGetMtLinkCapStatus", "_device", device, _uint(linkId), _uint(capability))


# ---- Affinity, reset, ECC ----


def mtmlMemoryGetEccMode(mem) -> "tuple[int, int]":
    """(currentMode, pendingMode): MTML_MEMORY_ECC_* now and after the next reboot; since the Pinghu generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _two_numbers("mtmlMemoryGetEccMode", "_memory", mem)


def mtmlMemoryGetRetiredPagesCount(mem) -> "c_mtmlPageRetirementCount_t":
    """Numbers of retired pages by cause (c_mtmlPageRetirementCount_t); since the Pinghu generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _struct(c_mtmlPageRetirementCount_t(), "mtmlMemoryGetRetiredPagesCount", "_memory", mem)


def mtmlMemoryGetRetiredPagesPendingStatus(mem) -> "int":
    """Whether pages will be retired at the next reboot (MTML_RETIRED_PAGES_PENDING_STATE_*).

    Since the Pinghu generation.

    Raises: MTMLError_NotSupported, MTMLError_DriverFailure, MTMLError_DriverTooOld, MTMLError_DriverTooNew.
    """
    return _number("mtmlMemoryGetRetiredPagesPendingStatus", "_memory", mem)


# END generated MTML header functions

# ==== 9. Functions outside the 2.2.0 header ===========================================================================
# MTML libraries export these functions, but no header of version 2.2.0 declares them (their parameters are those of
# ccfos/huatuo, core/metrics/mthreads/mtml/types.go). A function that the loaded library lacks raises
# MTMLError_FunctionNotFound.


# BEGIN generated MTML functions
def mtmlDeviceGetMusaComputeCapability(dev) -> "tuple[int, int]":
    """(major, minor): MUSA compute capability of the device.

    Raises: MTMLError_FunctionNotFound, MTMLError_DriverFailure, MTMLError_NotSupported.
    """
    return _two_numbers("mtmlDeviceGetMusaComputeCapability", "_device", dev, cell=_Int)


def mtmlDeviceGetPcieReplayCounter(dev) -> "int":
    """Number of PCIe replays.

    Raises: MTMLError_FunctionNotFound, MTMLError_DriverFailure, MTMLError_NotSupported.
    """
    return _number("mtmlDeviceGetPcieReplayCounter", "_device", dev)


def mtmlDeviceGetPerformanceState(dev) -> "int":
    """Performance state of the device, 0 for P0.

    Raises: MTMLError_FunctionNotFound, MTMLError_DriverFailure, MTMLError_NotSupported.
    """
    return _number("mtmlDeviceGetPerformanceState", "_device", dev, cell=_Int)


def mtmlGpuGetEnforcedPowerLimit(gpu) -> "int":
    """Current power limit in mW; some drivers return 0 for "unknown".

    Raises: MTMLError_FunctionNotFound, MTMLError_DriverFailure, MTMLError_NotSupported.
    """
    return _number("mtmlGpuGetEnforcedPowerLimit", "_gpu", gpu, cell=_Int)


def mtmlGpuGetPowerManagementDefaultLimit(gpu) -> "int":
    """Default power limit in mW; some drivers return 0 for "unknown".

    Raises: MTMLError_FunctionNotFound, MTMLError_DriverFailure, MTMLError_NotSupported.
    """
    return _number("mtmlGpuGetPowerManagementDefaultLimit", "_gpu", gpu, cell=_Int)


def mtmlGpuGetTemperatureThreshold(gpu, kind) -> "int":
    """Temperature in degrees Celsius at which the card shuts down (``kind`` 0) or slows down (``kind`` 1).

    Raises: MTMLError_FunctionNotFound, MTMLError_DriverFailure, MTMLError_NotSupported.
    """
    return _number("mtmlGpuGetTemperatureThreshold", "_gpu", gpu, _uint(kind), cell=_Int)


def mtmlGpuGetVoltage(gpu) -> "int":
    """Voltage of the GPU in mV.

    Raises: MTMLError_FunctionNotFound, MTMLError_DriverFailure, MTMLError_NotSupported.
    """
    return _number("mtmlGpuGetVoltage", "_gpu", gpu, cell=_Int)


def mtmlMemoryGetTemperature(mem) -> "int":
    """Temperature of the device memory in degrees Celsius, negative below zero.

    Raises: MTMLError_FunctionNotFound, MTMLError_DriverFailure, MTMLError_NotSupported.
    """
    return _number("mtmlMemoryGetTemperature", "_memory", mem, cell=_Int)


# END generated MTML functions

# ---- Context managers ----


class _ChildContext:
    """Context manager of a gpu, memory or vpu handle; the library owns the handle."""

    def __init__(self, slot, device):
        self._slot = slot
        self._owner = device

    def __enter__(self):
        return _child(self._slot, self._owner)

    def __exit__(self, *exception):
        return False


def mtmlGpuContext(device) -> "_ChildContext":
    """Context manager that returns the device's gpu handle."""
    return _ChildContext("_gpu", device)


def mtmlMemoryContext(device) -> "_ChildContext":
    """Context manager that returns the device's memory handle."""
    return _ChildContext("_memory", device)


def mtmlVpuContext(device) -> "_ChildContext":
    """Context manager that returns the device's vpu handle."""
    return _ChildContext("_vpu", device)


# ======================================================================================================================
# ==== Part II: NVML facade ============================================================================================
# ======================================================================================================================

# ==== 10. NVML vocabulary of the facade ===============================================================================
# The constants and structs that the statements below need during the import. All others of NVML are in Part III:
# functions look them up when they run.

# BEGIN generated NVML vocabulary
# Written by tools/generate_vocabulary.py.
NVML_AGGREGATE_ECC = 1
NVML_CLOCK_GRAPHICS = 0
NVML_CLOCK_MEM = 2
NVML_CLOCK_SM = 1
NVML_CLOCK_VIDEO = 3
NVML_ENCODER_QUERY_AV1 = 2
NVML_ENCODER_QUERY_H264 = 0
NVML_ENCODER_QUERY_HEVC = 1
NVML_FI_DEV_ECC_CURRENT = 1
NVML_FI_DEV_ECC_DBE_AGG_DEV = 23
NVML_FI_DEV_ECC_DBE_AGG_TOTAL = 6
NVML_FI_DEV_ECC_DBE_VOL_DEV = 12
NVML_FI_DEV_ECC_DBE_VOL_TOTAL = 4
NVML_FI_DEV_ECC_PENDING = 2
NVML_FI_DEV_ECC_SBE_AGG_DEV = 22
NVML_FI_DEV_ECC_SBE_AGG_TOTAL = 5
NVML_FI_DEV_ECC_SBE_VOL_DEV = 11
NVML_FI_DEV_ECC_SBE_VOL_TOTAL = 3
NVML_FI_DEV_NVLINK_GET_SPEED = 164
NVML_FI_DEV_NVLINK_GET_STATE = 165
NVML_FI_DEV_NVLINK_GET_VERSION = 166
NVML_FI_DEV_NVLINK_LINK_COUNT = 91
NVML_FI_DEV_PCIE_REPLAY_COUNTER = 94
NVML_FI_DEV_POWER_CURRENT_LIMIT = 190
NVML_FI_DEV_POWER_DEFAULT_LIMIT = 189
NVML_FI_DEV_POWER_INSTANT = 186
NVML_FI_DEV_RETIRED_DBE = 30
NVML_FI_DEV_RETIRED_PENDING = 31
NVML_FI_DEV_RETIRED_SBE = 29
NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION = 83
NVML_MEMORY_ERROR_TYPE_CORRECTED = 0
NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1
NVML_NVLINK_VERSION_1_0 = 1
NVML_NVLINK_VERSION_2_0 = 2
NVML_NVLINK_VERSION_2_2 = 3
NVML_NVLINK_VERSION_3_0 = 4
NVML_NVLINK_VERSION_3_1 = 5
NVML_NVLINK_VERSION_4_0 = 6
NVML_NVLINK_VERSION_5_0 = 7
NVML_P2P_STATUS_CHIPSET_NOT_SUPPORED = 1
NVML_P2P_STATUS_GPU_NOT_SUPPORTED = 2
NVML_P2P_STATUS_OK = 0
NVML_P2P_STATUS_UNKNOWN = 6
NVML_PCIE_LINK_MAX_SPEED_16000MBPS = 4
NVML_PCIE_LINK_MAX_SPEED_2500MBPS = 1
NVML_PCIE_LINK_MAX_SPEED_32000MBPS = 5
NVML_PCIE_LINK_MAX_SPEED_5000MBPS = 2
NVML_PCIE_LINK_MAX_SPEED_64000MBPS = 6
NVML_PCIE_LINK_MAX_SPEED_8000MBPS = 3
NVML_TOPOLOGY_HOSTBRIDGE = 30
NVML_TOPOLOGY_INTERNAL = 0
NVML_TOPOLOGY_MULTIPLE = 20
NVML_TOPOLOGY_NODE = 40
NVML_TOPOLOGY_SINGLE = 10
NVML_TOPOLOGY_SYSTEM = 50
NVML_VOLATILE_ECC = 0
nvmlTemperature_v1 = 0x100000C


class c_nvmlDeviceAttributes(Structure):
    """A MIG device's share of a card; memory in MB."""

    _fields_ = [
        ("multiprocessorCount", c_uint),
        ("sharedCopyEngineCount", c_uint),
        ("sharedDecoderCount", c_uint),
        ("sharedEncoderCount", c_uint),
        ("sharedJpegCount", c_uint),
        ("sharedOfaCount", c_uint),
        ("gpuInstanceSliceCount", c_uint),
        ("computeInstanceSliceCount", c_uint),
        ("memorySizeMB", c_ulonglong),
    ]


class c_nvmlEncoderSession_t(_PrintableStructure):
    """One encoder session; latency in microseconds."""

    _fields_ = [
        ("sessionId", c_uint),
        ("pid", c_uint),
        ("vgpuInstance", c_uint),
        ("codecType", c_uint),
        ("hResolution", c_uint),
        ("vResolution", c_uint),
        ("averageFps", c_uint),
        ("encodeLatency", c_uint),
    ]


class c_nvmlGpmSupport_t(_PrintableStructure):
    """Whether a device supports GPM."""

    _fields_ = [
        ("version", c_uint),
        ("isSupportedDevice", c_uint),
    ]


class c_nvmlGpuDynamicPstatesUtilization_t(Structure):
    """Utilization of the GPU, its memory or its video unit in percent."""

    _fields_ = [
        ("bIsPresent", c_uint, 1),
        ("percentage", c_uint),
        ("incThreshold", c_uint),
        ("decThreshold", c_uint),
    ]


class c_nvmlGpuDynamicPstatesInfo_t(Structure):
    """Utilization of all domains of a device."""

    _fields_ = [
        ("flags", c_uint),
        ("utilization", c_nvmlGpuDynamicPstatesUtilization_t * 8),
    ]


class c_nvmlGpuThermalSensor_t(Structure):
    """One thermal sensor; temperatures in degrees Celsius."""

    _fields_ = [
        ("controller", c_int),
        ("defaultMinTemp", c_int),
        ("defaultMaxTemp", c_int),
        ("currentTemp", c_int),
        ("target", c_int),
    ]


class c_nvmlGpuThermalSettings_t(Structure):
    """The thermal sensors of a device."""

    _fields_ = [
        ("count", c_uint),
        ("sensor", c_nvmlGpuThermalSensor_t * 3),
    ]


class c_nvmlMemory_t(_PrintableStructure):
    """Device memory in bytes."""

    _fields_ = [
        ("total", c_ulonglong),
        ("free", c_ulonglong),
        ("used", c_ulonglong),
    ]
    _fmt_ = {"<default>": "%d B"}


class c_nvmlMemory_v2_t(_PrintableStructure):
    """Device memory in bytes, second version."""

    _fields_ = [
        ("version", c_uint),
        ("total", c_ulonglong),
        ("reserved", c_ulonglong),
        ("free", c_ulonglong),
        ("used", c_ulonglong),
    ]
    _fmt_ = {"<default>": "%d B"}


class c_nvmlProcessUtilizationInfo_v1_t(_PrintableStructure):
    """Utilization by one process in percent; time stamp in microseconds."""

    _fields_ = [
        ("timeStamp", c_ulonglong),
        ("pid", c_uint),
        ("smUtil", c_uint),
        ("memUtil", c_uint),
        ("encUtil", c_uint),
        ("decUtil", c_uint),
        ("jpgUtil", c_uint),
        ("ofaUtil", c_uint),
    ]


class c_nvmlProcessUtilizationSample_t(_PrintableStructure):
    """Utilization by one process in percent; time stamp in microseconds."""

    _fields_ = [
        ("pid", c_uint),
        ("timeStamp", c_ulonglong),
        ("smUtil", c_uint),
        ("memUtil", c_uint),
        ("encUtil", c_uint),
        ("decUtil", c_uint),
    ]


class c_nvmlUtilization_t(_PrintableStructure):
    """Utilization in percent."""

    _fields_ = [
        ("gpu", c_uint),
        ("memory", c_uint),
    ]
    _fmt_ = {"<default>": "%d %%"}


# END generated NVML vocabulary

# ==== 11. Facade structs ==============================================================================================


class c_nvmlValue_t(Union):
    """Value of a field: one member for each type."""

    _fields_ = [
        ("dVal", c_double),
        ("uiVal", c_uint),
        ("ulVal", c_ulonglong),
        ("ullVal", c_ulonglong),
        ("sllVal", c_longlong),
        ("siVal", c_int),
        ("usVal", c_ushort),
    ]

    iVal = _Alias("siVal")
    llVal = _Alias("sllVal")


class c_nvmlFieldValue_t(_PrintableStructure):
    """Value of one field; time and latency in microseconds."""

    _fields_ = [
        ("fieldId", c_uint),
        ("scopeId", c_uint),
        ("timestamp", c_longlong),
        ("latencyUsec", c_longlong),
        ("valueType", c_uint),
        ("nvmlReturn", c_uint),
        ("value", c_nvmlValue_t),
    ]


class _LinkNumber(property):
    """A number of the PCIe link that MTML bindings have on nvmlPciInfo_t. Each access asks C, as it may change."""

    def __init__(self, name, text):
        super().__init__(lambda info: getattr(_pci_at(info), name))
        self.__doc__ = text


class nvmlPciInfo_t(_PrintableStructure):
    """PCI address and ids of a device; MTML's names for the fields also work."""

    _fields_ = [
        ("busIdLegacy", c_char * 16),
        ("domain", c_uint),
        ("bus", c_uint),
        ("device", c_uint),
        ("pciDeviceId", c_uint),
        ("pciSubSystemId", c_uint),
        ("busId", c_char * 32),
    ]
    _fmt_ = {
        "bus": "0x%02X",
        "device": "0x%02X",
        "domain": "0x%08X",
        "pciDeviceId": "0x%08X",
        "pciSubSystemId": "0x%08X",
    }

    @property
    def sbdf(self):
        """PCI address in MTML's format, as mtmlLibraryInitDeviceByPciSbdf accepts it (str)."""
        return "%08x:%02x:%02x.0" % (self.domain, self.bus, self.device)

    segment = _Alias("domain")
    pciSubsystemId = _Alias("pciSubSystemId")

    busWidth = _LinkNumber("busWidth", "The field of c_mtmlPciInfo_t.")
    pciMaxSpeed = _LinkNumber("pciMaxSpeed", "Maximum speed of a lane in GT/s.")
    pciCurSpeed = _LinkNumber("pciCurSpeed", "Speed of a lane in GT/s.")
    pciMaxWidth = _LinkNumber("pciMaxWidth", "Maximum number of lanes.")
    pciCurWidth = _LinkNumber("pciCurWidth", "Number of lanes in use.")
    pciMaxGen = _LinkNumber("pciMaxGen", "Maximum PCIe generation.")
    pciCurGen = _LinkNumber("pciCurGen", "PCIe generation in use.")


# Other MTML bindings have these names for classes and functions of the facade.
NVMLMemoryInfo = c_nvmlMemory_t
NVMLUtilization = c_nvmlUtilization_t
mtmlFriendlyObject = nvmlFriendlyObject
mtmlStructToFriendlyObject = nvmlStructToFriendlyObject

# ==== 12. Translation tables ==========================================================================================

# (class, NVML code, mtml_code) by MTML status: the class is the NVML counterpart that an MTML class derives from.
_NVML_ERRORS: "dict[int, tuple[_Any, int, int]]" = {
    _OWN | error.value if error.value in _OWN_CODES else error.value: (
        error.__bases__[1],
        error.__bases__[1].value,
        error.value,
    )
    for error in MTMLError._valClassMapping.values()
}
# If the loaded MTML library lacks a function, it does not support the query.
_NVML_ERRORS[_FUNCTION_NOT_FOUND] = NVMLError_NotSupported, NVML_ERROR_NOT_SUPPORTED, MTML_ERROR_FUNCTION_NOT_FOUND

# Texts of nvmlErrorString for codes for which str(NVMLError(code)) has another text.
_ERROR_STRINGS = {
    NVML_SUCCESS: "Success",
    NVML_ERROR_RESET_REQUIRED: "GPU requires reset",
    NVML_ERROR_OPERATING_SYSTEM: "GPU access blocked by the operating system",
    NVML_ERROR_LIB_RM_VERSION_MISMATCH: "Driver/library version mismatch",
}

_TOPOLOGY_FROM_MTML = {
    MTML_TOPOLOGY_INTERNAL: NVML_TOPOLOGY_INTERNAL,
    MTML_TOPOLOGY_SINGLE: NVML_TOPOLOGY_SINGLE,
    MTML_TOPOLOGY_MULTIPLE: NVML_TOPOLOGY_MULTIPLE,
    MTML_TOPOLOGY_HOSTBRIDGE: NVML_TOPOLOGY_HOSTBRIDGE,
    MTML_TOPOLOGY_NODE: NVML_TOPOLOGY_NODE,
    MTML_TOPOLOGY_SYSTEM: NVML_TOPOLOGY_SYSTEM,
}

_P2P_FROM_MTML = {
    MTML_P2P_STATUS_OK: NVML_P2P_STATUS_OK,
    MTML_P2P_STATUS_CHIPSET_NOT_SUPPORTED: NVML_P2P_STATUS_CHIPSET_NOT_SUPPORED,
    MTML_P2P_STATUS_GPU_NOT_SUPPORTED: NVML_P2P_STATUS_GPU_NOT_SUPPORTED,
    MTML_P2P_STATUS_UNKNOWN: NVML_P2P_STATUS_UNKNOWN,
}

# NVML's constant for an NVLink version, by the MtLink version (major, minor) with the same numbers.
_NVLINK_VERSIONS = {
    (1, 0): NVML_NVLINK_VERSION_1_0,
    (2, 0): NVML_NVLINK_VERSION_2_0,
    (2, 2): NVML_NVLINK_VERSION_2_2,
    (3, 0): NVML_NVLINK_VERSION_3_0,
    (3, 1): NVML_NVLINK_VERSION_3_1,
    (4, 0): NVML_NVLINK_VERSION_4_0,
    (5, 0): NVML_NVLINK_VERSION_5_0,
}

_PCIE_SPEEDS = {  # by GT/s per lane
    2.5: NVML_PCIE_LINK_MAX_SPEED_2500MBPS,
    5.0: NVML_PCIE_LINK_MAX_SPEED_5000MBPS,
    8.0: NVML_PCIE_LINK_MAX_SPEED_8000MBPS,
    16.0: NVML_PCIE_LINK_MAX_SPEED_16000MBPS,
    32.0: NVML_PCIE_LINK_MAX_SPEED_32000MBPS,
    64.0: NVML_PCIE_LINK_MAX_SPEED_64000MBPS,
}

_PCIE_GENERATIONS = dict(enumerate(_PCIE_SPEEDS.values(), 1))  # the speed of a generation is the same

_ENCODER_CODECS = {
    MTML_CODEC_TYPE_AVC: NVML_ENCODER_QUERY_H264,
    MTML_CODEC_TYPE_HEVC: NVML_ENCODER_QUERY_HEVC,
    MTML_CODEC_TYPE_AV1: NVML_ENCODER_QUERY_AV1,
}

_CLOCKS = {  # the part of a device that has the clock, in a slot and in the names of C's functions
    NVML_CLOCK_GRAPHICS: ("_gpu", "Gpu"),
    NVML_CLOCK_SM: ("_gpu", "Gpu"),
    NVML_CLOCK_MEM: ("_memory", "Memory"),
    NVML_CLOCK_VIDEO: ("_vpu", "Vpu"),
}

# (memory error type, counter type) by field id. All errors that MTML counts are errors of the device memory.
_ECC_FIELDS = {
    NVML_FI_DEV_ECC_SBE_VOL_TOTAL: (NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC),
    NVML_FI_DEV_ECC_DBE_VOL_TOTAL: (NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC),
    NVML_FI_DEV_ECC_SBE_AGG_TOTAL: (NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_AGGREGATE_ECC),
    NVML_FI_DEV_ECC_DBE_AGG_TOTAL: (NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_AGGREGATE_ECC),
    NVML_FI_DEV_ECC_SBE_VOL_DEV: (NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC),
    NVML_FI_DEV_ECC_DBE_VOL_DEV: (NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC),
    NVML_FI_DEV_ECC_SBE_AGG_DEV: (NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_AGGREGATE_ECC),
    NVML_FI_DEV_ECC_DBE_AGG_DEV: (NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_AGGREGATE_ECC),
}

# Number of slices by NVML_GPU_INSTANCE_PROFILE_*: only the profiles with no other property (such as GFX or ALL_ME).
_SLICES = {0: 1, 1: 2, 2: 3, 3: 4, 6: 6, 4: 7, 5: 8}

# MUSA compute capability by the high byte of the PCI device id, and by product name if the id is hidden. Sources are in
# facts/cards.json.
# BEGIN generated cards
_CAPABILITY_BY_PCI_ID = {0x01: (1, 0), 0x02: (2, 1), 0x03: (2, 2), 0x04: (3, 1)}
_CAPABILITY_BY_NAME = {
    "S10": (1, 0),
    "S30": (1, 0),
    "S50": (1, 0),
    "S60": (1, 0),
    "X100": (1, 0),
    "S100": (1, 0),
    "S1000M": (1, 0),
    "S1000": (1, 0),
    "S2000": (1, 0),
    "S80": (2, 1),
    "S70": (2, 1),
    "X300": (2, 1),
    "S3000": (2, 1),
    "S3000E": (2, 1),
    "S90": (2, 2),
    "G3D80": (2, 2),
    "X500": (2, 2),
    "G3S90": (2, 2),
    "S4000": (2, 2),
    "S4000B": (2, 2),
    "S4000C": (2, 2),
    "S5000": (3, 1),
    "X10000": (3, 1),
    "S5000A": (3, 1),
    "S5000B": (3, 1),
    "S5000C": (3, 1),
    "S5000D": (3, 1),
    "S5000F": (3, 1),
    "S5000Z": (3, 1),
    "X8": (3, 1),
}
# END generated cards

# Name and meaning of an XID by its number: the module (high byte), then the error. A driver may know more of them.
# BEGIN generated XIDs
_XIDS = {
    0x00000001: ("DRIVER_XID_GPU_INIT_FAILED", "the driver could not initialize the GPU"),
    0x01000001: ("GPU_XID_OVERRUN", "overrun in the GPU"),
    0x01000002: ("GPU_XID_LOCKUP", "the GPU locked up"),
    0x01000003: ("GPU_XID_PAGE_FAULT", "page fault in the GPU"),
    0x01000004: ("GPU_XID_FW_IPC_TIMEOUT", "the firmware did not answer in time"),
    0x01000005: ("GPU_XID_MP_EXCEPTION", "exception in a multiprocessor"),
    0x01000006: ("GPU_XID_HW_FAILED", "the hardware of the GPU failed"),
    0x02000001: ("MSS_XID_SBE_ECC_ERROR", "single-bit memory error"),
    0x02000002: ("MSS_XID_UNCONTAINED_ECC_ERROR", "uncontained memory error"),
    0x02000003: ("MSS_XID_CONTAINED_ECC_ERROR", "contained memory error"),
    0x02000004: ("MSS_XID_ECC_COUNTER_OVERFLOW", "a counter of memory errors overflowed"),
    0x02000005: ("MSS_XID_NEW_PAGE_RETIRED", "a memory page was retired"),
    0x02000006: ("MSS_XID_PAGE_RETIRED_FAILED", "a memory page could not be retired"),
    0x02000007: ("", "error on the AXI bus"),
    0x05000001: ("MTBIOS_XID_GPU_FAN_ABNORMAL", "a fan is abnormal"),
    0x05000002: ("gpu_bios_trap", "trap in the firmware"),
    0x05000003: ("MTBIOS_XID_GPU_TEMP_TOO_HIGH", "the GPU is too hot"),
    0x05000004: ("MTBIOS_XID_GPU_SHUTDOWN", "the GPU was shut down"),
    0x06000001: ("PCIE_XID_GPU_FALLEN_OF_BUS", "the GPU has fallen off the bus"),
    0x07000001: ("MTLINK_XID_LINK_DOWN", "an MtLink is down"),
    0x07000002: ("MTLINK_XID_LINK_UP", "an MtLink is up"),
    0x07000003: ("MTLINK_XID_RECOVERY_FAILED", "an MtLink could not recover"),
    0x07000004: ("", "an MtLink was downgraded"),
    0x0A000001: ("DMA_XID_DMA_ERROR", "DMA error"),
}
# END generated XIDs
_XID_SCOPES = ("process", "gpu", "host", "system")  # what the error concerns, by its number
_XID_SEVERITIES = ("notify", "warn", "fatal")

# ==== 13. Facade plumbing =============================================================================================

_VENDOR_ID = 0x1ED5

_type = type  # for functions that have a parameter ``type`` in NVML
_open = open  # for queries while the interpreter ends: it clears the builtins first

_pci_info = nvmlPciInfo_t.from_buffer_copy  # a third faster than with the look-up of the attribute

# Offsets of fields in NVML structs that C fills in place.
_MEMORY_USED = c_nvmlMemory_t.used.offset
_UTILIZATION_MEMORY = c_nvmlUtilization_t.memory.offset

# Reading an array of words takes a third of the time of reading a struct. Queries need few numbers of these structs.
_WORD = ctypes.sizeof(c_uint)
_Words = c_uint * (ctypes.sizeof(c_mtmlPciInfo_t) // _WORD)  # c_mtmlCodecUtil_t is smaller
_CODEC_TOTAL = c_mtmlCodecUtil_t.util.offset // _WORD
_CODEC_PERIOD = c_mtmlCodecUtil_t.period.offset // _WORD
_CODEC_ENCODER = c_mtmlCodecUtil_t.encUtil.offset // _WORD
_CODEC_DECODER = c_mtmlCodecUtil_t.decUtil.offset // _WORD
_PCI_MAX_WIDTH = c_mtmlPciInfo_t.pciMaxWidth.offset // _WORD
_PCI_CUR_WIDTH = c_mtmlPciInfo_t.pciCurWidth.offset // _WORD
_PCI_MAX_GEN = c_mtmlPciInfo_t.pciMaxGen.offset // _WORD
_PCI_CUR_GEN = c_mtmlPciInfo_t.pciCurGen.offset // _WORD

# Parameter defaults: the function then returns a struct that it makes itself.
_NO_PSTATES_INFO = c_nvmlGpuDynamicPstatesInfo_t()
_NO_THERMAL_SETTINGS = c_nvmlGpuThermalSettings_t()

# No real count is larger than these. They limit the memory and time that a wrong count of a driver can cost.
_CODEC_SESSIONS_MAX = 1 << 16
_RETIRED_PAGES_MAX = 1 << 16
_MPC_CONFIGURATIONS_MAX = 1 << 12
_VIRT_TYPES_MAX = 1 << 8
_VIRT_DEVICES_MAX = 1 << 12
_AFFINITY_WORDS_MAX = 1 << 16
_BOUND_CPUS_MAX = 1 << 12  # of CPUs; few Linux kernels are built for more
_ULONGLONG_MAX = (1 << 64) - 1
_LONG_BITS = 8 * ctypes.sizeof(c_ulong)
_PCIE_GTPS_MAX = 1 << 20
_BOARD_DEVICES_MAX = 1 << 12
_DEVICES_MAX = 1 << 10
_DIGITS_MAX = 20  # of an index in MUSA_VISIBLE_DEVICES

_COMM_LENGTH = 15  # bytes of a process's name that the kernel keeps
_EINTR, _ENFILE, _EMFILE, _ENOTTY, _ENOSYS = 4, 23, 24, 25, 38  # of the module errno, which is not imported

_MTML_THRESHOLD_SHUTDOWN = 0
_MTML_THRESHOLD_SLOWDOWN = 1


class _Cards:
    """What the facade knows of the cards in a life; a change of MPC replaces it, except for the numbers of vGPUs."""

    musa: "list[_Any]"  # muDriverGetVersion of each MUSA driver library; set by the first search
    walk: "_Walk | None" = None  # the last walk of /proc

    def __init__(self, vgpus):
        self.working: "dict[_Any, _Any]" = {}  # (pid, start time) of the users of a device that are no monitors
        self.vgpus: "dict[int, tuple[c_mtmlDevice_t, str]]" = vgpus  # (card, UUID) by the number of a vGPU in NVML
        self.types: "dict[int, int]" = {}  # MTML_MPC_TYPE_* by MTML's index; NVML does not count instances
        self.order: "dict[int, int]" = {}  # MTML's index by NVML's index, for the cards found so far
        self.counts: "dict[int, int]" = {}  # number of cards, by MTML's number of devices (cards and instances)
        self.compared: "set[str]" = set()  # "UUID", "PCI address": what of all devices was read for a look-up by it
        self.event_sets: "dict[int, _EventSet]" = {}  # by their number, which stands for them in NVML


# Monitors repeat queries that a device does not support, so errors must be fast: NVMLError(code) takes twice as long.
_new_error = Exception.__new__


def _nvml_error(status, detail=None):
    """The NVMLError for an MTML status; its ``mtml_code`` is that status."""
    try:
        error_class, code, mtml_code = _NVML_ERRORS[status]
    except KeyError:  # a status that MTML's header does not name
        error_class, code, mtml_code = NVMLError_Unknown, NVML_ERROR_UNKNOWN, status & _UINT_MAX
    error = _new_error(error_class, code)
    error.mtml_code = mtml_code
    if detail is not None:
        error.detail = detail
    return error


def _nvml_error_as(meaning, status):
    """The NVMLError for the MTML status ``meaning``; its ``mtml_code`` is ``status``, which C answered instead."""
    error = _nvml_error(meaning)
    error.mtml_code = status & _UINT_MAX
    return error


def _identity_check(status):
    """`_nvml_check` for what identifies a device: its look-ups, name, UUID and index.

    NVML documents no Timeout for these, and gpustat shows the other cards only if it is Unknown or GpuIsLost.
    """
    if status == MTML_ERROR_TIMEOUT:
        error = _nvml_error_as(MTML_ERROR_UNKNOWN, status)
        error.detail = "the driver timed out"
        raise error
    _nvml_check(status)


def _nvml_check(status, detail=None):
    """Raise the NVMLError for an MTML status other than success."""
    if status:
        raise _nvml_error(status, detail)


def _nvmlCheckReturn(ret):
    """Return ``ret``, an NVML code, if it is NVML_SUCCESS.

    Raises: the NVMLError for any other code.
    """
    if ret != NVML_SUCCESS:
        raise NVMLError(ret)
    return ret


def _nvml_string(name, slot, handle, size):
    """The text that a (buffer, length) getter fills in, or its NVMLError."""
    return _string(name, slot, handle, size, _nvml_check)


def _invalid():
    """The error for an invalid argument."""
    return _new_error(NVMLError_InvalidArgument, NVML_ERROR_INVALID_ARGUMENT)


def _unsupported(detail=None):
    """The error for a query that hardware or MTML cannot answer."""
    error = _new_error(NVMLError_NotSupported, NVML_ERROR_NOT_SUPPORTED)
    if detail is not None:
        error.detail = detail
    return error


_ALL_ONES = "all bits are ones, as from a card that is gone"


def _measured(number, ones=_UINT_MAX):
    """``number``, which the card measures; ``ones`` is all ones in its C type.

    The registers of a dead card read so: that is no answer, and raises NVMLError_Unknown.
    """
    # Linux, include/linux/pci.h: PCI_ERROR_RESPONSE. That MTML passes it on is inferred.
    if number == ones:
        error = _new_error(NVMLError_Unknown, NVML_ERROR_UNKNOWN)
        error.detail = _ALL_ONES
        raise error
    return number


def _require(handle) -> "c_mtmlDevice_t":
    """The live device handle that the caller's argument stands for (_live_device).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument (no such handle), NVMLError_InUse (MPC is changed).
    """
    if type(handle) is c_mtmlDevice_t and hasattr(handle, "_device"):
        return handle
    life = _require_initialized()
    changes = None if life.changing else life.changes
    device = _live_device(handle)
    if device is None:
        raise _nvml_error(MTML_ERROR_RESOURCE_IS_BUSY) if _is_changed(life, changes) else _invalid()
    return device


def _require_initialized():
    """The life; raises NVMLError_Uninitialized if there is none."""
    life = _session.life
    if life is None:
        raise NVMLError(NVML_ERROR_UNINITIALIZED)
    return life


def _refuse_device(handle):
    """The error of an unsupported device query: NotSupported. If the handle is not valid, its error is raised."""
    if type(handle) is not c_mtmlDevice_t or not hasattr(handle, "_device"):
        _require(handle)
    return _new_error(NVMLError_NotSupported, NVML_ERROR_NOT_SUPPORTED)


def _refuse_values(handle, *checks):
    """The error of an unsupported device query: NotSupported, or InvalidArgument if an enum argument is not valid.

    If the handle is not valid, its error is raised.
    ``checks`` are pairs of an enum argument and the number of values that NVML defines for it.
    """
    _require(handle)
    for value, count in checks:
        if _uint(value) >= count:
            return _invalid()
    return _unsupported()


def _refuse():
    """The error of an unsupported query that takes no device: NotSupported if the library is initialized."""
    _require_initialized()
    return _unsupported()


def _query(answer, name, slot, handle, *arguments):
    """Call the getter; return ``answer`` (a cell, an array, or byref of a struct) filled in, or raise its NVMLError.

    ``arguments`` stand between the handle and the answer, which is C's last argument; other outputs are among them.
    Monitors repeat queries that a device does not support, so errors must be as fast as answers.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    try:
        function, argument = _functions[name], getattr(device, slot)
        status = function(argument, *arguments, answer) if arguments else function(argument, answer)
    except (AttributeError, KeyError):
        status = _slow_status(name, slot, device, *arguments, answer)
    if status:
        raise _nvml_error(status)
    return answer


def _require_board(device):
    """Raise the error of a device that is no whole board: an instance of a divided card."""
    _nvml_check(_argument("_board", device)[0])


def _struct_of(struct, name, slot, handle, *arguments):
    """``struct``, which a getter fills in, or the getter's NVMLError."""
    _query(byref(struct), name, slot, handle, *arguments)
    return struct


def _number_of(name, slot, handle, *arguments, cell=_UInt):
    """The measured number that a getter returns: an unsigned int, or the type of ``cell``."""
    number = _query(cell(), name, slot, handle, *arguments)[0]
    return _measured(number, _UINT_MAX if cell is _UInt else _ULONGLONG_MAX)


def _all_cards():
    """Handles of all cards in index order (iterator), without cards that disappear meanwhile."""
    cell = _Pointer()
    for position in _whole_cards(_device_count()):
        status = _library_status("mtmlLibraryInitDeviceByIndex", position, cell)
        if status not in (MTML_ERROR_NOT_FOUND, MTML_ERROR_INVALID_ARGUMENT):
            _nvml_check(status)
            yield _device_from(_nvml_check, cell[0])


def _pci(device):
    """c_mtmlPciInfo_t of a device; if the driver fills in the address only as text, the numbers are read from it."""
    pci = _struct_of(c_mtmlPciInfo_t(), "mtmlDeviceGetPciInfo", "_device", device)
    if not (pci.segment or pci.bus or pci.device) and pci.sbdf:  # second-hand
        address = _parse_bus_id(pci.sbdf)
        if address is not None:
            pci.segment, pci.bus, pci.device = address
    for number in (pci.segment, pci.bus, pci.device, pci.pciDeviceId, pci.pciSubsystemId):
        _measured(number)
    return pci


def _address_of(device):
    """(domain, bus, device) of a device's PCI address; None while it has none."""
    pci = _pci(device)
    address = pci.segment, pci.bus, pci.device
    return address if any(address) else None


def _pci_at(info):
    """c_mtmlPciInfo_t of the device at the address of an nvmlPciInfo_t."""
    _require_initialized()
    return _pci(_device_by_address(_required_address(info.busId)))


def _sys_root():
    """Root of the sys file system."""
    return _setting("PYMTML_SYS_ROOT") or "/sys"


def _sysfs_number(device, name):
    """The number in a file of a device's directory in sysfs; None if there is no such file or number."""
    try:
        directory = device._sysfs
    except AttributeError:
        directory = _sysfs_directory(device)
    try:
        return int(_file_text(directory + name), 0) if directory else None
    except (OSError, ValueError):
        return None


def _sysfs_directory(device):
    """Directory of a device in sysfs, with a slash at the end; empty if sysfs does not have the device."""
    pci = _nvmlDeviceGetPciInfo(device)
    address = pci.domain, pci.bus, pci.device
    directory = os.path.join(_sys_root(), "bus", "pci", "devices", "%04x:%02x:%02x.0" % address, "")
    return _keep(device, "_sysfs", directory) if any(address) and os.path.isdir(directory) else ""


def _parse_bus_id(text):
    """(domain, bus, device) from the text of a PCI address; domain 0 if it has none; None if it is not an address."""
    try:
        head, function = text.rsplit(".", 1) if "." in text else (text, "0")
        parts = [int(part, 16) for part in head.split(":")]
        if function != "0" or head.strip("0123456789abcdefABCDEF:"):
            return None
    except ValueError:
        return None
    if len(parts) == 2:
        parts.insert(0, 0)
    if len(parts) != 3 or parts[0] > _UINT_MAX or parts[1] > 0xFF or parts[2] > 0x1F:
        return None
    return tuple(parts)


def _argument_text(value):
    """A text argument as str; None if it is neither str nor bytes, or contains a NUL."""
    plain = _plain_bytes(value)
    return None if plain is None or b"\0" in plain else plain.decode("utf-8", "replace")


def convertStrBytes(func) -> "_Any":
    """Decorator: passes str arguments to ``func`` as bytes, and returns its bytes as str."""
    from functools import wraps

    @wraps(func)
    def wrapper(*args, **kwargs):
        result = func(*[arg.encode() if isinstance(arg, str) else arg for arg in args], **kwargs)
        return result.decode() if isinstance(result, bytes) else result

    return wrapper


def throwOnVersionMismatch(func) -> "_Any":
    """Decorator: the decorated function raises NVMLLibraryMismatchError if the library lacks a function.

    Raises: NVMLLibraryMismatchError, when the decorated function is called.
    """
    from functools import wraps

    @wraps(func)
    def wrapper(*args, **kwargs):
        try:
            return func(*args, **kwargs)
        except NVMLError_FunctionNotFound:
            raise NVMLLibraryMismatchError("the loaded library lacks what %s needs" % func.__name__)

    return wrapper


# ==== 14. nvml* functions that return a value =========================================================================
# How a query is written. ``handle`` is the caller's argument. ``device`` is a handle of the device class; nothing else
# may reach C. _require returns the live handle for a copy or a cast, and raises the error for any other argument.
#
# Plain: ``return _query(_UInt(), "mtmlDeviceCountFan", "_device", handle)[0]``, with a fresh cell, array or struct for
# the answer. The name of the slot selects the argument for C: the device, or its _gpu, _memory or _vpu.
#
# Fast, for the queries that monitors repeat: make a fresh cell for the answer, read the C function and its argument as
# attributes, and check the status in place. After an AttributeError _slow_status finds out which of them is missing
# (stale handle, sub-handle not made yet, older library), makes a sub-handle, and calls C. nvmlDeviceGetPowerUsage is
# the pattern.
#
# Stored: a constant property is read once and stored in a slot of the handle (_keep). The shutdown empties the slot.
# nvmlDeviceGetName is the pattern.
#
# A measured number (utilization, power, clocks, fans, memory, counters, PCI and links; not the temperature, which is
# signed) goes through _measured. Fast queries call it only for numbers beyond 0x3FFFFFFF, the greatest that CPython
# compares in one step.

# ---- Library and system ----


def nvmlInit() -> "None":
    """Initialize the library, or count one more initialization.

    Raises: NVMLError_LibraryNotFound (its text lists what was tried), NVMLError_DriverNotLoaded, NVMLError_Unknown;
    NVMLError_InUse from a signal handler in the middle of an init, a shutdown or a change of MPC.
    MTML: mtmlLibraryInit.
    """
    _start(_nvml_check)


def nvmlInitWithFlags(flags) -> "None":
    """Initialize the library like nvmlInit; MTML has no flags, so any value is accepted.

    Raises: NVMLError_LibraryNotFound, NVMLError_DriverNotLoaded, NVMLError_Unknown, NVMLError_InUse.
    MTML: mtmlLibraryInit.
    """
    _start(_nvml_check)


def nvmlShutdown() -> "None":
    """Undo one nvmlInit. The last nvmlShutdown makes all handles stale and keeps the C library for the next nvmlInit.

    So a later nvmlInit does not initialize the driver again, and libraries that can be initialized only once work
    (vllm-musa 0.1.28 never shuts down, because of one). The process keeps the driver's files open until it ends; a
    forked child inherits them. With PYMTML_KEEP_LIBRARY=0 in the environment, the last nvmlShutdown shuts the C library
    down, as mtmlLibraryShutDown does. Cards that are added or removed are seen only after that.

    Raises: NVMLError_Uninitialized if the library is not initialized; NVMLError_InUse from a signal handler in the
    middle of an init, a shutdown or a change of MPC; with PYMTML_KEEP_LIBRARY=0 NVMLError_FunctionNotFound if the
    library has no shutdown, and the errors of C's shutdown.
    MTML: none; with PYMTML_KEEP_LIBRARY=0 mtmlLibraryShutDown.
    """
    _stop(_check_shutdown, False)


def _check_shutdown(status, detail=None):
    """Raise the NVMLError for the status of a shutdown; a missing function is FunctionNotFound, unlike in queries."""
    if status == _FUNCTION_NOT_FOUND:
        error = NVMLError(NVML_ERROR_FUNCTION_NOT_FOUND)
        error.mtml_code = MTML_ERROR_FUNCTION_NOT_FOUND
        raise error
    _nvml_check(status, detail)


def nvmlErrorString(result) -> "str":
    """Text for an NVML code; for any other value the text of NVML_ERROR_UNKNOWN."""
    text = _ERROR_STRINGS.get(result) or NVMLError._errcode_to_string.get(result)
    return NVMLError._errcode_to_string[NVML_ERROR_UNKNOWN] if text is None else text


def nvmlExceptionClass(nvmlErrorCode) -> "type[NVMLError]":
    """The NVMLError class for an NVML code.

    Raises: ValueError for a code that has none.
    """
    if nvmlErrorCode not in NVMLError._valClassMapping:
        raise ValueError("nvmlErrorCode %s is not valid" % nvmlErrorCode)
    return NVMLError._valClassMapping[nvmlErrorCode]


def nvmlSystemGetDriverVersion() -> "str":
    """Version of the kernel driver as text.

    Raises: NVMLError_Uninitialized.
    MTML: mtmlSystemGetDriverVersion.
    """
    version = (c_char * MTML_DRIVER_VERSION_BUFFER_SIZE)()
    try:
        system = _session.life.others["system"]._system
        status = _c.mtmlSystemGetDriverVersion(system, version, MTML_DRIVER_VERSION_BUFFER_SIZE)
    except (AttributeError, KeyError):
        status, system = _make_system()
        _nvml_check(status)
        status = _status("mtmlSystemGetDriverVersion", "_system", system, version, MTML_DRIVER_VERSION_BUFFER_SIZE)
    if status:
        raise _nvml_error(status)
    return _text(version)


def nvmlSystemGetNVMLVersion() -> "str":
    """Version of the MTML library as text.

    Raises: NVMLError_Uninitialized.
    MTML: mtmlLibraryGetVersion.
    """
    return _nvml_string("mtmlLibraryGetVersion", "library", _session.life, MTML_LIBRARY_VERSION_BUFFER_SIZE)


def nvmlSystemGetHicVersion() -> "list[object]":
    """Empty list: only NVIDIA's S-class racks have host interface cards.

    Raises: NVMLError_Uninitialized.
    """
    _require_initialized()
    return []


def nvmlSystemGetCudaDriverVersion() -> "int":
    """Version of the MUSA driver API as a number, 1000 * major + 10 * minor as CUDA counts.

    Raises: NVMLError_Uninitialized, NVMLError_NotSupported without a MUSA driver library.
    MUSA: muDriverGetVersion of libmusa.so; this call does not initialize MUSA.
    """
    try:
        getters = _session.life.cards.musa
    except AttributeError:
        getters = _musa_getters()
    for get_version in getters:
        version = _Int()
        if get_version(version) == 0:
            return version[0]
    raise _unsupported()


def _musa_getters():
    """muDriverGetVersion of each MUSA driver library that can be loaded (list); they are searched once in a life."""
    life = _require_initialized()
    chosen, getters = _setting("PYMTML_MUSA_LIBRARY"), []
    for name in (chosen,) if chosen else ("libmusa.so.1", "libmusa.so"):
        try:
            getters.append(CDLL(name).muDriverGetVersion)
        except (OSError, UnicodeDecodeError, AttributeError):
            continue  # not there, or not a MUSA library
    life.cards.musa = getters
    return getters


nvmlSystemGetCudaDriverVersion_v2 = nvmlSystemGetCudaDriverVersion


# ---- Events ----
# The driver writes errors, XIDs, to /proc/driver/musa/gpuXX/event_report: a ring of 50 records. Layout of the driver
# 3.0.0: inc/mtgpu/mtgpu_event_report.h (github.com/elysia-best/mtgpu), and the bytes of a genuine record in
# core/events/gpu_mthreads_xid_test.go (github.com/ccfos/huatuo). The driver 2.7.0 has records of 128 bytes with other
# contents. Second-hand, from gpu_mthreads_xid.go there: each read returns the whole ring, old records too, wherever the
# file stands, and fails with EAGAIN while there are none; NULs may stand before a text.


def nvmlDeviceGetSupportedEventTypes(handle) -> "int":
    """nvmlEventTypeXidCriticalError, the only type of events here (nvmlEventType* bits).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if the driver's records of XIDs
    cannot be read or are not understood, and for an instance of a divided card.
    MTML: mtmlDeviceGetGpuPath; /proc/driver/musa/gpuXX/event_report.
    """
    _watched(_require(handle))
    return nvmlEventTypeXidCriticalError


def nvmlEventSetCreate() -> "_Any":
    """A new set of events to wait for (c_nvmlEventSet_t).

    It is valid until nvmlEventSetFree, the last shutdown, or a change of MPC or a reset that this process makes, and
    not in a forked child.

    Raises: NVMLError_Uninitialized.
    """
    life, events = _require_initialized(), _EventSet()
    while life.cards.event_sets.setdefault(events.number, events) is not events:
        events = _EventSet()  # without the GIL two threads may have got the same number
    return ctypes.cast(c_void_p(events.number), _catalogue_struct("c_nvmlEventSet_t"))


def nvmlEventSetFree(eventSet) -> "None":
    """None; frees a set of events. A thread that waits for it gets NVMLError_InvalidArgument.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    """
    life, events = _event_set(eventSet)
    if life.cards.event_sets.pop(events.number, None) is None:
        raise _invalid()  # another thread was faster
    events.wake()


def nvmlDeviceRegisterEvents(handle, eventTypes, eventSet) -> "None":
    """None; adds a device to a set: its XIDs from now on.

    ``eventTypes``: nvmlEventTypeXidCriticalError, or 0 for nothing.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for any other type, and as
    nvmlDeviceGetSupportedEventTypes does.
    MTML: mtmlDeviceGetGpuPath; /proc/driver/musa/gpuXX/event_report.
    """
    device, types, (_, events) = _require(handle), _plain_int(eventTypes), _event_set(eventSet)
    if types & _ULONGLONG_MAX & ~nvmlEventTypeXidCriticalError:
        raise _unsupported()
    watched = _watched(device)
    if types:
        events.watched.setdefault(watched.path, watched)


def nvmlEventSetWait_v2(eventSet, timeoutms) -> "_Any":
    """Waits for an event of a set's devices, up to a timeout in milliseconds, and returns it (c_nvmlEventData_t).

    ``eventData`` is the number of an XID: the module (high byte), then the error. Only fatal XIDs of the GPU, the host
    or the system are events: a fault of a job or a warning leaves the card usable. The driver's records are read at the
    beginning, each second and at the end. An exception that a signal handler raises can cost one event.

    Raises: NVMLError_Uninitialized, also at a last shutdown, NVMLError_InvalidArgument, also when the set is freed or a
    change of MPC ends, NVMLError_Timeout, NVMLError_GpuIsLost if a card's file is gone, NVMLError_NotSupported if a
    file cannot be read at the end of the time.
    MTML: /proc/driver/musa/gpuXX/event_report.
    """
    life, events = _event_set(eventSet)
    return _wait_for_event(life, events, _uint(timeoutms) / 1000)


nvmlEventSetWait = nvmlEventSetWait_v2

_event_set_numbers = iter(range(1, _ULONGLONG_MAX >> 1))  # never used again
_EVENTS_KNOWN = 256  # of a card: more than a ring has, since a record that it has lost remains known
_LOOK_SECONDS = 1.0


class _EventSet:
    """A set of events. There is no lock: each step that matters is a single operation of a dict or a list."""

    def __init__(self):
        self.number = next(_event_set_numbers)
        self.watched: "dict[str, _Watched]" = {}  # cards by the path of their records
        self.waiting: "list[_Any]" = []  # a lock for each thread that waits; releasing it ends its sleep
        self.make_event = _catalogue_struct("c_nvmlEventData_t")

    def wake(self):
        """End the sleep of all threads that wait for an event."""
        for lock in list(self.waiting):
            try:
                lock.release()
            except RuntimeError:
                pass  # another thread has released it


class _Watched:
    """A card whose XIDs are events, and those of them that are known."""

    data = b""  # the records at the last look

    def __init__(self, device, path):
        self.device, self.path = device, path
        # [XID] by (record, its number among equal ones); [] after it was returned. Two equal records may come within a
        # second. A record that a look lacks remains known, as a later one may have it again.
        self.known: "dict[_Any, list[_Xid]]" = {}


def _event_set(argument) -> "_Any":
    """(life, set) for a caller's c_nvmlEventSet_t."""
    life = _require_initialized()
    if not issubclass(type(argument), _catalogue_struct("c_nvmlEventSet_t")):
        raise _invalid()
    events = life.cards.event_sets.get(ctypes.cast(argument, c_void_p).value)
    if events is None:
        raise _invalid()
    return life, events


def _watched(device):
    """A card to watch: what its records have now is no news.

    Raises: NVMLError_NotSupported, without a detail, as programs compare the text of the error.
    """
    _require_board(device)
    directory = _driver_directory(device)
    if directory is None:
        raise _unsupported()
    watched = _Watched(device, os.path.join(directory, "event_report"))
    if _look_at_card(watched):
        raise _unsupported()
    for news in watched.known.values():
        news.clear()
    return watched


def _look_at_card(watched):
    """Note the events that a card's records have and that are not known yet; return NVML's code."""
    try:
        data = _event_bytes(watched.path)
    except (FileNotFoundError, NotADirectoryError):
        return NVML_ERROR_GPU_IS_LOST
    except OSError:
        return NVML_ERROR_NOT_SUPPORTED
    if data == watched.data:
        return NVML_SUCCESS
    found, strange = _xid_records(data)
    if strange and not found:
        return NVML_ERROR_NOT_SUPPORTED
    counts: "dict[bytes, int]" = {}
    for xid in found:
        if xid.severity == "fatal" and xid.scope in ("gpu", "host", "system"):
            counts[xid.raw] = counts.get(xid.raw, 0) + 1
            watched.known.setdefault((xid.raw, counts[xid.raw]), [xid])
    for key in list(watched.known)[:-_EVENTS_KNOWN]:
        watched.known.pop(key, None)
    watched.data = data
    return NVML_SUCCESS


def _wait_for_event(life, events, seconds):
    """The next event of a set (c_nvmlEventData_t).

    Nothing is called here but what _BYSTANDERS has: a shutdown that wakes the thread would take it for a query.
    """
    end, lock = _session.monotonic() + seconds, _thread.allocate_lock()
    lock.acquire()
    try:
        events.waiting.append(lock)
        while True:
            if _session.life is not life:
                raise _new_error(NVMLError_Uninitialized, NVML_ERROR_UNINITIALIZED)
            if life.cards.event_sets.get(events.number) is not events and not life.changing:
                raise _new_error(NVMLError_InvalidArgument, NVML_ERROR_INVALID_ARGUMENT)
            rest, codes = end - _session.monotonic(), set()
            for watched in list(events.watched.values()):
                codes.add(_look_at_card(watched))
            for watched in list(events.watched.values()):
                for news in list(watched.known.values()):
                    try:
                        xid = news.pop()
                    except IndexError:
                        continue  # known, or another thread has taken it
                    none = _UINT_MAX  # of an instance nothing is known
                    return events.make_event(watched.device, nvmlEventTypeXidCriticalError, xid.number, none, none)
            if NVML_ERROR_GPU_IS_LOST in codes:
                raise _new_error(NVMLError_GpuIsLost, NVML_ERROR_GPU_IS_LOST)
            if rest <= 0 and NVML_ERROR_NOT_SUPPORTED in codes:
                raise _new_error(NVMLError_NotSupported, NVML_ERROR_NOT_SUPPORTED)
            if rest <= 0:
                raise _new_error(NVMLError_Timeout, NVML_ERROR_TIMEOUT)
            lock.acquire(True, min(rest, _LOOK_SECONDS))
    finally:
        if lock in events.waiting:
            events.waiting.remove(lock)


_EVENT_BYTES = 256  # of a record, the driver's struct mtgpu_event
_EVENTS_BYTES = 64 * _EVENT_BYTES  # more than a ring
_XID_LENGTH = 184  # bytes of an XID in a record


class _Xid:
    """An XID that the driver has recorded."""

    __slots__ = ("raw", "number", "name", "meaning", "scope", "severity", "time", "pid", "text", "uuid", "address")

    raw: "bytes"  # the record
    number: "int"  # the module (high byte), then the error
    name: "str"  # the driver's for the number, "" for an unknown number
    meaning: "str"
    scope: "str"  # one of _XID_SCOPES, or the number of another one
    severity: "str"  # one of _XID_SEVERITIES, or the number of another one
    time: "int"  # seconds since 1970
    pid: "int"  # on the host; 0: no process
    text: "str"
    uuid: "str"  # the card's, but drivers write 0 as its last byte
    address: "str"  # on the PCI bus; drivers write only the bus


def _xid_records(data):
    """(XIDs in the content of an event_report, the oldest first; number of records that are not understood)."""
    found, strange = [], 0
    for start in range(0, len(data), _EVENT_BYTES):
        record = data[start : start + _EVENT_BYTES]
        if len(record) < _EVENT_BYTES or record[3] != 1:  # the version of all records
            strange += 1
        elif record[0] & 1:  # an XID, not another kind of event
            xid = _xid_record(record)
            if xid is None:
                strange += 1
            else:
                found.append(xid)
    found.sort(key=_xid_time)
    return found, strange


def _xid_record(raw):
    """The XID in a record, None if the record has another length or version."""
    if _word_at(raw, 4) != _XID_LENGTH or _word_at(raw, 24, 2) != 1:
        return None
    xid, uuid, impact, address = _Xid(), raw[8:24].hex(), _word_at(raw, 32), _word_at(raw, 40 + 8, 8)
    xid.raw, xid.number = raw, _word_at(raw, 28)
    xid.name, xid.meaning = _XIDS.get(xid.number, ("", ""))
    xid.scope, xid.severity = _name_at(_XID_SCOPES, impact & 7), _name_at(_XID_SEVERITIES, impact >> 3 & 7)
    xid.time, xid.pid = _word_at(raw, 40, 8), _word_at(raw, 56, 8)
    xid.text = raw[64:192].strip(b"\0").decode("utf-8", "replace").strip()
    xid.uuid = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
    xid.address = "%04x:%02x:%02x.%x" % (address >> 32, address >> 16 & 0xFF, address >> 8 & 0xFF, address & 0xFF)
    return xid


def _xid_time(xid):
    """When the driver recorded an XID, for sorting."""
    return xid.time


def _word_at(raw, start, size=4):
    """The unsigned number in some bytes that the driver wrote."""
    return int.from_bytes(raw[start : start + size], sys.byteorder)


def _name_at(names, number):
    """The name of a number, the number itself as str if it has none."""
    return names[number] if number < len(names) else str(number)


def _event_bytes(path):
    """Content of an event_report, b"" if there are no records; raises OSError.

    One read: a reader to the end of the file would never end, and one without O_NONBLOCK may wait for the first record.
    """
    with _open(path, "rb", 0, opener=_open_nonblocking) as file:
        return file.read(_EVENTS_BYTES) or b""


def _open_nonblocking(path, flags):
    """An opener for open(): a read does not wait."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


# ---- Device handles ----


def nvmlDeviceGetCount() -> "int":
    """Number of cards; MPC instances count only if their card is not visible.

    Raises: NVMLError_Uninitialized.
    MTML: mtmlLibraryCountDevice, mtmlDeviceGetProperty, mtmlDeviceGetMpcParentDevice.
    """
    count = _UInt()
    try:
        status = _c.mtmlLibraryCountDevice(_session.life.library, count)
        cards = _session.life.cards.counts.get(count[0])
    except (AttributeError, KeyError):
        status, cards = _library_status("mtmlLibraryCountDevice", count), None
    if status:
        raise _nvml_error(status)
    return len(_whole_cards(min(count[0], _DEVICES_MAX))) if cards is None else cards


def nvmlDeviceGetHandleByIndex(index) -> "c_mtmlDevice_t":
    """Handle of the card with that index, the same object each time.

    Cards are numbered in MTML's order. An instance of a divided card has no index of its own: get its handle by
    nvmlDeviceGetMigDeviceHandleByIndex or by UUID.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for an index that no card has, TypeError for
    anything but an integer; the error of C for a card that cannot be opened, NVMLError_Unknown for its timeout.
    MTML: mtmlLibraryInitDeviceByIndex, mtmlDeviceGetProperty, mtmlDeviceGetMpcParentDevice.
    """
    if type(index) is not int:
        index = _uint(index)
    cell, life = _Pointer(), _session.life
    try:
        status = _c.mtmlLibraryInitDeviceByIndex(life.library, life.cards.order[index], cell)
        device = life.devices.get(cell[0])
    except (AttributeError, KeyError):
        status, device = _card_by_index(_uint(index), cell), None
    if status:  # monitors ask for each card in each tick: no call without need
        _identity_check(status)
    return device or _device_from(_nvml_check, cell[0])


def _card_by_index(index, cell):
    """Write C's pointer to the card with that NVML index to ``cell``; MTML status. Inspects unseen devices up to it."""
    life = _session.life
    if life is None:
        return _UNINITIALIZED
    cards = life.cards
    order = list(cards.order.values())  # a copy: other threads add to the original
    if index < len(order):
        return _library_status("mtmlLibraryInitDeviceByIndex", order[index], cell)
    number, failed, count = len(order), MTML_SUCCESS, _UInt()
    for position, status, mpc_type, address in _types(cards, range(order[-1] + 1 if order else 0, _DEVICES_MAX)):
        if status in (MTML_ERROR_NOT_FOUND, MTML_ERROR_INVALID_ARGUMENT) and not address:
            uncounted = _library_status("mtmlLibraryCountDevice", count)
            if uncounted or position >= count[0]:  # else the device is lost
                return uncounted or MTML_ERROR_INVALID_ARGUMENT
        failed = status or failed
        is_first = position == 0 and address  # which is never an instance
        if status and number == index and not is_first:
            return status
        if failed and (any(cards.types.values()) or life is not _session.life):
            return failed  # where a card is divided, a device of unknown type may be an instance
        if mpc_type == MTML_MPC_TYPE_INSTANCE:
            continue
        if not status and number == len(cards.order):
            cards.order[number] = position
        if number == index:
            cell[0] = address
            return MTML_SUCCESS if address else _library_status("mtmlLibraryInitDeviceByIndex", position, cell)
        number += 1
    return MTML_ERROR_INVALID_ARGUMENT


def _device_count():
    """Number of devices that have an index in MTML: cards and instances."""
    count = _UInt()
    _nvml_check(_library_status("mtmlLibraryCountDevice", count))
    return min(count[0], _DEVICES_MAX)


def _whole_cards(count, check=_nvml_check):
    """MTML's indices of the cards among its first ``count`` devices (list). A device of unknown type counts as a card.

    Raises: the error of that device if a card is divided, because the device may be an instance, and if no device of
    several reports its type.
    """
    life = _require_initialized()
    cards = life.cards
    whole, failed = _likely_cards(cards, count)
    divided = any(cards.types.get(position) for position in range(count))
    if failed and (divided or (count > 1 and not cards.types) or life is not _session.life):
        check(failed)
    return whole


def _likely_cards(cards, count):
    """(MTML's indices of the cards among its first ``count`` devices, the last error's status or success).

    A device of unknown type counts as a card.
    """
    whole, failed = [], MTML_SUCCESS
    for position, status, mpc_type, _ in _types(cards, range(count)):
        failed = status or failed
        if mpc_type != MTML_MPC_TYPE_INSTANCE:
            whole.append(position)
    if not failed:
        cards.counts[count] = len(whole)
    return whole, failed


def _types(cards, positions):
    """The MPC types of the devices with these indices of MTML: iterator of (index, MTML status, type, address).

    C is asked once in a life. The type is None if C reports none; the address, if it was known or there is no device.
    """
    for position in positions:
        status, mpc_type, cell = MTML_SUCCESS, cards.types.get(position), _Pointer()
        if mpc_type is None:
            status = _library_status("mtmlLibraryInitDeviceByIndex", position, cell)
            if status:
                cell[0] = None
            else:
                status, mpc_type = _mpc_type(_device_at(cell[0])) if cell[0] else (MTML_ERROR_UNKNOWN, None)
            if not status:
                cards.types[position] = mpc_type
        yield position, status, mpc_type, cell[0]


def nvmlDeviceGetHandleByUUID(uuid) -> "c_mtmlDevice_t":
    """Handle of the device with that UUID, str or bytes, as MTML writes it or with GPU- or MIG- before it.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for anything but text, NVMLError_NotFound (also if
    another card reports that UUID).
    MTML: mtmlLibraryInitDeviceByUuid, mtmlDeviceGetUUID, mtmlLibraryInitDeviceByIndex.
    """
    _require_initialized()
    plain = _plain_bytes(uuid)
    if plain is None:
        raise _invalid()
    text = plain.decode("utf-8", "replace")
    while text[:4].upper() in ("GPU-", "MIG-"):  # programs may put one before that of nvmlDeviceGetUUID
        text = text[4:]
    if "\0" in text:  # C would read only the part before the NUL
        raise NVMLError(NVML_ERROR_NOT_FOUND)
    cell = _Pointer()
    for spelling in (text, text.lower()):
        status = _library_status("mtmlLibraryInitDeviceByUuid", _bytes(spelling), cell)
        if status not in (MTML_ERROR_NOT_FOUND, MTML_ERROR_INVALID_ARGUMENT):
            break
    if status == MTML_ERROR_INVALID_ARGUMENT:
        raise _nvml_error_as(MTML_ERROR_NOT_FOUND, status)
    _identity_check(status)
    uuid = text.lower() if _identifies(text) else None
    return _sole_owner(_device_from(_nvml_check, cell[0]), "UUID", _uuid_of, _uuid_read, uuid)


nvmlDeviceGetHandleByUuid = nvmlDeviceGetHandleByUUID


def _uuid_of(device):
    """MTML's UUID of a device in lower case, asked anew; None while it has none."""
    uuid = _nvml_string("mtmlDeviceGetUUID", "_device", device, MTML_DEVICE_UUID_BUFFER_SIZE)
    return uuid.lower() if _identifies(uuid) else None


def _uuid_read(device):
    """MTML's UUID of a device in lower case, as it was read in this life; None if it was not."""
    uuid = getattr(device, "_uuid", "")
    return (uuid[4:] if uuid[:4] in ("GPU-", "MIG-") else uuid).lower() or None


def _address_read(device):
    """(domain, bus, device) of a device's PCI address, as it was read in this life; None if it was not."""
    pci = getattr(device, "_pci", None)
    info = None if pci is None else _pci_info(pci)
    return None if info is None else (info.domain, info.bus, info.device)


def _sole_owner(device, what, tell, read, identity):
    """The device that C found by its UUID or address, if ``tell`` says so of it, and of no other whole card.

    The other cards are read once in a life, but not while another thread runs a query: one that hangs must not hold up
    a look-up of another card. What was read of them counts then.

    Raises: NVMLError_NotFound with the reason, because one card answers for another, or two cannot be told apart.
    """
    own = _told(tell, device)
    if identity is None:
        raise _nvml_error(MTML_ERROR_NOT_FOUND, "a device that has no %s yet cannot be found by it" % what)
    if own is None:  # it cannot be queried now, and may be the right one
        return device
    if own != identity:
        raise _nvml_error(MTML_ERROR_NOT_FOUND, "the driver returned a device that has another %s" % what)
    life = _require_initialized()
    if what not in life.cards.compared and not (_unreadable() or any(map(_query_of, _other_threads()))):
        cell, count = _Pointer(), _UInt()
        if not _library_status("mtmlLibraryCountDevice", count):
            life.cards.compared.add(what)
        for position in range(min(count[0], _DEVICES_MAX)):
            if not _library_status("mtmlLibraryInitDeviceByIndex", position, cell) and cell[0]:
                _told(_nvmlDeviceGetUUID if what == "UUID" else _nvmlDeviceGetPciInfo, _device_at(cell[0]))
    owners = [one for one in list(life.devices.values()) if read(one) == identity]
    others = [one for one in owners if one is not device and _told(tell, one) == identity and not _is_instance(one)]
    if others and not _is_instance(device):
        raise _nvml_error(MTML_ERROR_NOT_FOUND, "another card reports this %s as well" % what)
    return device


def _told(tell, device):
    """The UUID or the address of a device; None if it has none, or cannot be queried."""
    try:
        return tell(device)
    except NVMLError:
        return None


def _is_instance(device):
    """Whether a device is an MPC instance, also one whose card is not visible."""
    try:
        return _property(device).mpcType == MTML_MPC_TYPE_INSTANCE
    except NVMLError:
        return False


def nvmlDeviceGetHandleByUUIDV(uuid, type) -> "c_mtmlDevice_t":
    """Handle of the device with that UUID: text (NVML_UUID_TYPE_ASCII) or 16 bytes (NVML_UUID_TYPE_BINARY).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotFound.
    MTML: mtmlLibraryInitDeviceByUuid, mtmlDeviceGetUUID.
    """
    _require_initialized()
    if type == NVML_UUID_TYPE_BINARY:
        if _type(uuid) is bytearray:
            uuid = bytes(uuid)
        plain = _plain_bytes(uuid) if issubclass(_type(uuid), bytes) else b""
        if len(plain) != NVML_DEVICE_UUID_BINARY_LEN:
            raise _invalid()
        digits = "".join("%02x" % byte for byte in plain)
        uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    elif type != NVML_UUID_TYPE_ASCII:
        raise _invalid()
    return _nvmlDeviceGetHandleByUUID(uuid)


def nvmlDeviceGetHandleBySerial(serial) -> "c_mtmlDevice_t":
    """Handle of the device whose board has that serial number, str or bytes.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for anything but text, NVMLError_NotFound.
    MTML: mtmlDeviceGetSerialNumber of each device.
    """
    _require_initialized()
    text = _argument_text(serial)
    if text is None:
        raise _invalid()
    for device in _all_cards():
        try:
            if _nvmlDeviceGetSerial(device) == text and _identifies(text):
                return device
        except NVMLError_NotSupported as error:  # a virtual device or an MPC instance has no board of its own
            if error.mtml_code == MTML_ERROR_FUNCTION_NOT_FOUND:
                raise
    raise NVMLError(NVML_ERROR_NOT_FOUND)


def nvmlDeviceGetHandleByPciBusId(pciBusId) -> "c_mtmlDevice_t":
    """Handle of the device at that PCI address (str or bytes, in upper or lower case, with or without domain).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for anything but a PCI address, NVMLError_NotFound
    (also if another card reports that address).
    MTML: mtmlLibraryInitDeviceByPciSbdf, mtmlDeviceGetPciInfo, mtmlLibraryInitDeviceByIndex.
    """
    _require_initialized()
    address = _required_address(pciBusId)
    device = _device_by_address(address)
    return _sole_owner(device, "PCI address", _address_of, _address_read, address if any(address) else None)


def _required_address(text):
    """(domain, bus, device) of a caller's text; raises InvalidArgument for another argument."""
    text = _argument_text(text)
    address = None if text is None else _parse_bus_id(text.strip())
    if address is None:
        raise _invalid()
    return address


def _device_by_address(address):
    """Handle of the device that C finds at a PCI address."""
    cell = _Pointer()
    _identity_check(_library_status("mtmlLibraryInitDeviceByPciSbdf", b"%08x:%02x:%02x.0" % address, cell))
    return _device_from(_nvml_check, cell[0])


# ---- Identity ----


def nvmlDeviceGetName(handle) -> "str":
    """Product name of the device as text.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for virtual devices,
    NVMLError_Unknown for a timeout.
    MTML: mtmlDeviceGetName.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    try:
        return device._name
    except AttributeError:
        pass  # not read yet, or the handle is not live
    name = _string("mtmlDeviceGetName", "_device", device, MTML_DEVICE_NAME_BUFFER_SIZE, _identity_check)
    return _keep_identity(device, "_name", name)


def nvmlDeviceGetUUID(handle) -> "str":
    """UUID of the device as MTML writes it; under the drop-in with GPU- before it, or MIG- for an MPC instance.

    PYMTML_UUID=nvml or mtml in the environment chooses the form. mtmlDeviceGetUUID always returns MTML's text, which
    MUSA_VISIBLE_DEVICES takes.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_Unknown for a timeout.
    MTML: mtmlDeviceGetUUID.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    try:
        return device._uuid
    except AttributeError:
        pass  # not read yet, or the handle is not live
    uuid = _string("mtmlDeviceGetUUID", "_device", device, MTML_DEVICE_UUID_BUFFER_SIZE, _identity_check)
    if _identifies(uuid) and _session.prefixes_uuids:
        status, mpc_type = _mpc_type(device)
        _identity_check(status)
        uuid = ("MIG-" if mpc_type == MTML_MPC_TYPE_INSTANCE else "GPU-") + uuid
    return _keep_identity(device, "_uuid", uuid)


def nvmlDeviceGetSerial(handle) -> "str":
    """Serial number of the board as text.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetSerialNumber.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    try:
        return device._serial
    except AttributeError:
        pass  # not read yet, or the handle is not live
    serial = (c_char * MTML_DEVICE_SERIAL_NUMBER_BUFFER_SIZE)()
    _nvml_check(_status("mtmlDeviceGetSerialNumber", "_device", device, MTML_DEVICE_SERIAL_NUMBER_BUFFER_SIZE, serial))
    return _keep_identity(device, "_serial", _text(serial))


def nvmlDeviceGetIndex(handle) -> "int":
    """Index of a card for nvmlDeviceGetHandleByIndex; for an instance, its index within its card.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for a host's virtual devices,
    NVMLError_Unknown for a timeout.
    MTML: mtmlDeviceGetIndex, mtmlDeviceGetProperty, mtmlDeviceGetMpcParentDevice, mtmlDeviceGetMpcInstanceIndex.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    try:
        return device._index
    except AttributeError:
        pass  # not read yet, or the handle is not live
    position = _UInt()
    _identity_check(_status("mtmlDeviceGetIndex", "_device", device, position))
    cards = _whole_cards(min(position[0], _DEVICES_MAX) + 1, _identity_check)
    if cards and cards[-1] == position[0]:
        return _keep(device, "_index", len(cards) - 1)
    _identity_check(_status("mtmlDeviceGetMpcInstanceIndex", "_device", device, position))
    return _keep(device, "_index", position[0])


def nvmlDeviceGetBrand(handle) -> "int":
    """NVML_BRAND_UNKNOWN: NVML has no number for Moore Threads' brand.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    MTML: mtmlDeviceGetBrand.
    """
    _query(_UInt(), "mtmlDeviceGetBrand", "_device", handle)
    return NVML_BRAND_UNKNOWN


def nvmlDeviceGetVbiosVersion(handle) -> "str":
    """Version of the device's firmware as text.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetMtBiosVersion.
    """
    device = _require(handle)
    version = (c_char * MTML_DEVICE_MTBIOS_VERSION_BUFFER_SIZE)()
    status = _status("mtmlDeviceGetMtBiosVersion", "_device", device, version, len(version))
    if status == _FUNCTION_NOT_FOUND:  # renamed before the MTML 2.2.0 header, which has both
        return _nvml_string("mtmlDeviceGetVbiosVersion", "_device", device, MTML_DEVICE_VBIOS_VERSION_BUFFER_SIZE)
    _nvml_check(status)
    return _text(version)


def nvmlDeviceGetMinorNumber(handle) -> "int":
    """Number N of the device node /dev/mtgpu.N.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if there is no such node.
    MTML: mtmlDeviceGetGpuPath.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    try:
        return device._minor
    except AttributeError:
        pass  # not read yet, or the handle is not live
    path = _nvml_string("mtmlDeviceGetGpuPath", "_device", device, MTML_DEVICE_PATH_BUFFER_SIZE)
    digits = path[len(path.rstrip("0123456789")) :]
    if not digits:
        raise _unsupported()
    return _keep(device, "_minor", int(digits))


def nvmlDeviceGetPciInfo(handle) -> "nvmlPciInfo_t":
    """PCI address and ids of the device (nvmlPciInfo_t).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for virtual devices.
    MTML: mtmlDeviceGetPciInfo.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    try:
        return _pci_info(device._pci)
    except AttributeError:
        pass  # not read yet, or the handle is not live
    pci = _pci(device)
    address = (pci.segment, pci.bus, pci.device)
    info = nvmlPciInfo_t(
        (NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT % address)[: NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE - 1],
        pci.segment,
        pci.bus,
        pci.device,
        pci.pciDeviceId,
        pci.pciSubsystemId,
        NVML_DEVICE_PCI_BUS_ID_FMT % address,
    )
    if any(address):  # a card that comes up may have none yet
        _keep(device, "_pci", bytes(info))
    return info


nvmlDeviceGetPciInfo_v3 = nvmlDeviceGetPciInfo


def nvmlDeviceGetPciInfoExt(handle, c_info) -> "None":
    """None; fills ``c_info`` (nvmlPciInfoExt_v1_t or byref of one) with PCI address, ids and class codes.

    The field ``version`` of the struct must be set.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_ArgumentVersionMismatch,
    NVMLError_NotSupported if sysfs does not show the device.
    MTML: mtmlDeviceGetPciInfo; the file ``class`` of the PCI device in sysfs.
    """
    device, target = _require(handle), _target(c_info)
    if getattr(target, "version", None) != nvmlPciInfoExt_v1:
        raise NVMLError(NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
    pci = _pci(device)
    codes = _sysfs_number(device, "class")
    if codes is None:
        raise _unsupported()
    target.domain, target.bus, target.device = pci.segment, pci.bus, pci.device
    target.pciDeviceId, target.pciSubSystemId = pci.pciDeviceId, pci.pciSubsystemId
    target.baseClass, target.subClass = codes >> 16 & 0xFF, codes >> 8 & 0xFF
    target.busId = NVML_DEVICE_PCI_BUS_ID_FMT % (pci.segment, pci.bus, pci.device)


def nvmlDeviceGetIrqNum(device) -> "int":
    """Number of the device's interrupt.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if sysfs shows none.
    MTML: mtmlDeviceGetPciInfo; the file ``irq`` of the PCI device in sysfs.
    """
    return _known(_sysfs_number(_require(device), "irq"))


def nvmlDeviceGetBusType(device) -> "int":
    """NVML_BUS_TYPE_PCIE.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for virtual devices.
    MTML: mtmlDeviceGetPciInfo.
    """
    _pci(_require(device))
    return NVML_BUS_TYPE_PCIE


def nvmlDeviceGetBoardId(handle) -> "int":
    """Number of the board: (bus << 8) | device of the PCI address.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetPciInfo.
    """
    pci = _pci(_require(handle))
    return pci.bus << 8 | pci.device


def nvmlDeviceGetMultiGpuBoard(handle) -> "int":
    """1 if another GPU is on the same board, else 0; MPC instances do not count.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceCountDeviceByTopologyLevel, mtmlDeviceGetDeviceByTopologyLevel, mtmlDeviceGetPciInfo.
    """
    device = _require(handle)
    count = _query(_UInt(), "mtmlDeviceCountDeviceByTopologyLevel", "_device", device, MTML_TOPOLOGY_INTERNAL)[0]
    if not count:
        return 0
    cells = (c_void_p * min(count, _BOARD_DEVICES_MAX))()
    _query(cells, "mtmlDeviceGetDeviceByTopologyLevel", "_device", device, MTML_TOPOLOGY_INTERNAL, len(cells))
    here = _nvmlDeviceGetPciInfo(device).busId
    return 1 if any(_nvmlDeviceGetPciInfo(other).busId != here for other in _devices(cells)) else 0


def nvmlDeviceOnSameBoard(handle1, handle2) -> "bool":
    """Whether two devices are on the same board (bool).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetTopologyLevel.
    """
    if _require(handle1) is _require(handle2):
        return True
    level = _UInt()
    _nvml_check(_pair_status("mtmlDeviceGetTopologyLevel", handle1, handle2, level))
    return level[0] == MTML_TOPOLOGY_INTERNAL


def nvmlDeviceGetNumGpuCores(device) -> "int":
    """Number of GPU cores as MTML counts them (8 on an MTT S80), not of arithmetic units.

    NVML returns the number of arithmetic units (CUDA cores) here, and dashboards show it. Some frameworks use it as the
    number of multiprocessors, to size kernels. MTML's number is neither. The number of multiprocessors is in the device
    properties of torch_musa.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceCountGpuCores.
    """
    device = _require(device)
    known = getattr(device, "_cores", None)
    return known or _keep(device, "_cores", _number_of("mtmlDeviceCountGpuCores", "_device", device))


def nvmlDeviceGetArchitecture(device) -> "int":
    """NVML_DEVICE_ARCH_UNKNOWN: NVML has numbers for NVIDIA's architectures only.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    """
    _require(device)
    return NVML_DEVICE_ARCH_UNKNOWN


def nvmlDeviceGetComputeMode(handle) -> "int":
    """NVML_COMPUTEMODE_DEFAULT: any number of processes may compute on the device.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    """
    _require(handle)
    return NVML_COMPUTEMODE_DEFAULT


def nvmlDeviceGetAccountingMode(handle) -> "int":
    """NVML_FEATURE_DISABLED: the driver does not record what processes use.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    """
    _require(handle)
    return NVML_FEATURE_DISABLED


def nvmlDeviceGetCudaComputeCapability(handle) -> "tuple[int, int]":
    """(major, minor): MUSA compute capability, (0, 0) only if it is unknown.

    It comes from the first of these that has it: the library, the card's PCI id, its name, torch_musa. torch_musa is
    used only if the program has imported it, by the card's position in musa_visible_devices.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    MTML: mtmlDeviceGetMusaComputeCapability (optional), mtmlDeviceGetPciInfo, mtmlDeviceGetName.
    """
    device = _require(handle)
    major, minor = _Int(), _Int()
    status = _status("mtmlDeviceGetMusaComputeCapability", "_device", device, major, minor)
    if status not in (MTML_SUCCESS, _FUNCTION_NOT_FOUND, MTML_ERROR_NOT_SUPPORTED):
        raise _nvml_error(status)
    if status == MTML_SUCCESS and major[0] > 0:  # it may be 0.0, says vllm-musa 0.1.28
        return major[0], minor[0]
    return _card_capability(device) or _torch_capability(device) or (0, 0)


def _card_capability(device):
    """MUSA compute capability by the PCI id or the name of the card, None if both are unknown."""
    try:
        ids = _nvmlDeviceGetPciInfo(device).pciDeviceId
        if ids & 0xFFFF == _VENDOR_ID and ids >> 24 in _CAPABILITY_BY_PCI_ID:
            return _CAPABILITY_BY_PCI_ID[ids >> 24]
    except NVMLError_NotSupported:
        pass  # a virtual device has no PCI address of its own: try its name
    try:
        words = _nvmlDeviceGetName(device).replace("-", " ").split()
    except NVMLError_NotSupported:
        return None
    return next((_CAPABILITY_BY_NAME[word] for word in words if word in _CAPABILITY_BY_NAME), None)


# ---- Display and modes ----


def nvmlDeviceGetDisplayMode(handle) -> "int":
    """NVML_FEATURE_ENABLED if a display is connected to the card, else NVML_FEATURE_DISABLED.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if sysfs does not show the
    connectors of a card that has some.
    MTML: mtmlDeviceCountDisplayInterface, mtmlDeviceGetPrimaryPath; files ``status`` of the DRM connectors in sysfs.
    """
    return _display(_require(handle), "status", "connected")


def nvmlDeviceGetDisplayActive(handle) -> "int":
    """NVML_FEATURE_ENABLED if the card shows a picture on a display, else NVML_FEATURE_DISABLED.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if sysfs does not show the
    connectors of a card that has some.
    MTML: mtmlDeviceCountDisplayInterface, mtmlDeviceGetPrimaryPath; files ``enabled`` of the DRM connectors in sysfs.
    """
    return _display(_require(handle), "enabled", "enabled")


def _display(device, name, wanted):
    """NVML_FEATURE_ENABLED if the file ``name`` of one of the card's DRM connectors holds ``wanted``, else DISABLED."""
    if not _query(_UInt(), "mtmlDeviceCountDisplayInterface", "_device", device)[0]:
        return NVML_FEATURE_DISABLED
    path = _nvml_string("mtmlDeviceGetPrimaryPath", "_device", device, MTML_DEVICE_PATH_BUFFER_SIZE)
    card = os.path.basename(path)
    folder = os.path.join(_sys_root(), "class", "drm", card)
    try:
        connectors = [entry for entry in os.listdir(folder) if card and entry.startswith(card + "-")]
        found = [_file_text(os.path.join(folder, connector, name)).strip() for connector in connectors]
    except OSError:
        raise _unsupported()
    if not found:
        raise _unsupported()
    return NVML_FEATURE_ENABLED if wanted in found else NVML_FEATURE_DISABLED


# ---- Memory ----


def nvmlDeviceGetMemoryInfo(handle, version=None) -> "_Any":
    """Device memory in bytes: c_nvmlMemory_t (total, free, used), or c_nvmlMemory_v2_t for version=nvmlMemory_v2.

    ``reserved`` of c_nvmlMemory_v2_t is 0: MTML does not provide it.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_FunctionNotFound for another version.
    MTML: mtmlMemoryGetTotal, mtmlMemoryGetUsed.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    if version:
        return _memory_info_v2(device, version)
    info = c_nvmlMemory_t()
    try:
        total = device._total
        status = _c.mtmlMemoryGetUsed(device._memory, byref(info, _MEMORY_USED))
    except AttributeError:
        total = None
        status = _slow_status("mtmlMemoryGetUsed", "_memory", device, byref(info, _MEMORY_USED))
    if status:
        raise _nvml_error(status)
    if total is None:
        total = _number_of("mtmlMemoryGetTotal", "_memory", device, cell=_ULongLong)
        if total:  # a card that comes up may have none yet
            _keep(device, "_total", total)
    used = info.used
    info.total = total
    if used < total:
        info.free = total - used
    else:  # used may exceed total: 44302 of 32768 MiB, S4000, driver 1.2.0, IOMMU off (mthreads-gmi, second-hand)
        _measured(used, _ULONGLONG_MAX)
    return info


def _memory_info_v2(device, version):
    """nvmlDeviceGetMemoryInfo for a version other than the first."""
    info = _nvmlDeviceGetMemoryInfo(device)
    if version != nvmlMemory_v2:
        raise NVMLError(NVML_ERROR_FUNCTION_NOT_FOUND)
    return c_nvmlMemory_v2_t(version, info.total, 0, info.free, info.used)


def nvmlDeviceGetMemoryBusWidth(device) -> "int":
    """Width of the memory bus in bits.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlMemoryGetBusWidth.
    """
    device = _require(device)
    known = getattr(device, "_bus_width", None)
    return known or _keep(device, "_bus_width", _number_of("mtmlMemoryGetBusWidth", "_memory", device))


# ---- Utilization and codecs ----


def nvmlDeviceGetUtilizationRates(handle) -> "c_nvmlUtilization_t":
    """Utilization of GPU and memory in percent (c_nvmlUtilization_t: gpu, memory).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    MTML: mtmlGpuGetUtilization, mtmlMemoryGetUtilization.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    rates = c_nvmlUtilization_t()
    try:
        status = _c.mtmlGpuGetUtilization(device._gpu, byref(rates))
        if not status:
            status = _c.mtmlMemoryGetUtilization(device._memory, byref(rates, _UTILIZATION_MEMORY))
    except AttributeError:
        status = _slow_status("mtmlGpuGetUtilization", "_gpu", device, byref(rates)) or _slow_status(
            "mtmlMemoryGetUtilization", "_memory", device, byref(rates, _UTILIZATION_MEMORY)
        )
    if status:
        raise _nvml_error(status)
    if rates.gpu > 0x3FFFFFFF or rates.memory > 0x3FFFFFFF:
        _measured(rates.gpu)
        _measured(rates.memory)
    return rates


def nvmlDeviceGetEncoderUtilization(handle) -> "list[int]":
    """[utilization of the encoder in percent, sample period in microseconds].

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlVpuGetUtilization.
    """
    return _codec_share(handle, _CODEC_ENCODER)


def nvmlDeviceGetDecoderUtilization(handle) -> "list[int]":
    """[utilization of the decoder in percent, sample period in microseconds].

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlVpuGetUtilization.
    """
    return _codec_share(handle, _CODEC_DECODER)


def _codec_share(handle, word):
    """[one word of the device's MtmlCodecUtil, sample period in microseconds]."""
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    words = _Words()
    try:
        status = _c.mtmlVpuGetUtilization(device._vpu, words)
    except AttributeError:
        status = _slow_status("mtmlVpuGetUtilization", "_vpu", device, words)
    if status:
        raise _nvml_error(status)
    share, period = words[word], words[_CODEC_PERIOD]
    if share > 0x3FFFFFFF or period > 0x3FFFFFFF:
        _measured(share)
        _measured(period)
    return [share, period]


def nvmlDeviceGetEncoderCapacity(handle, encoderQueryType) -> "int":
    """Encoder capacity that is left, in percent of the sessions that can run at once.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for an unknown query type, NVMLError_NotSupported.
    MTML: mtmlVpuGetCodecCapacity, mtmlVpuGetEncoderSessionStates.
    """
    device = _require(handle)
    if encoderQueryType not in (NVML_ENCODER_QUERY_H264, NVML_ENCODER_QUERY_HEVC, NVML_ENCODER_QUERY_AV1):
        raise _invalid()
    capacity = _codec_capacity(device)[0]
    if not capacity:
        raise _unsupported()
    return (capacity - len(_codec_sessions(device, "Encoder", capacity))) * 100 // capacity


def nvmlDeviceGetEncoderStats(handle) -> "tuple[int, int, int]":
    """(active encoder sessions, their average frames per second, their average latency in microseconds).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlVpuGetEncoderSessionStates, mtmlVpuGetEncoderSessionMetrics.
    """
    sessions = _codec_sessions(handle, "Encoder", _codec_capacity(handle)[0])
    if not sessions:
        return 0, 0, 0
    count = len(sessions)
    return count, sum(s.frameRate for s in sessions) // count, sum(s.latency for s in sessions) // count


def nvmlDeviceGetEncoderSessions(handle) -> "list[c_nvmlEncoderSession_t]":
    """Active encoder sessions (list of c_nvmlEncoderSession_t).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlVpuGetEncoderSessionStates, mtmlVpuGetEncoderSessionMetrics.
    """
    return [
        c_nvmlEncoderSession_t(
            sessionId=session.id,
            pid=session.pid,
            codecType=_ENCODER_CODECS.get(session.codecType, NVML_ENCODER_QUERY_UNKNOWN),
            hResolution=session.hResolution,
            vResolution=session.vResolution,
            averageFps=session.frameRate,
            encodeLatency=session.latency,
        )
        for session in _codec_sessions(handle, "Encoder", _codec_capacity(handle)[0])
    ]


def _codec_capacity(device):
    """(encoder sessions, decoder sessions) that can run at once."""
    encoders, decoders = _UInt(), _UInt()
    _query(decoders, "mtmlVpuGetCodecCapacity", "_vpu", device, encoders)
    return encoders[0], decoders[0]


def _codec_sessions(device, coder, capacity):
    """Metrics of the active sessions of the "Encoder" or the "Decoder" (list of c_mtmlCodecSessionMetrics_t)."""
    if not capacity:
        return []
    states = (c_int * min(capacity, _CODEC_SESSIONS_MAX))()
    _nvml_check(_status("mtmlVpuGet%sSessionStates" % coder, "_vpu", device, states, len(states)))
    active = [session for session, state in enumerate(states) if state == MTML_CODEC_SESSION_STATE_ACTIVE]
    metrics = [c_mtmlCodecSessionMetrics_t() for _ in active]
    for session, struct in zip(active, metrics):
        _query(byref(struct), "mtmlVpuGet%sSessionMetrics" % coder, "_vpu", device, session)
    return metrics


def nvmlDeviceGetDynamicPstatesInfo(device, c_dynamicpstatesinfo=_NO_PSTATES_INFO) -> "_Any":
    """Utilization of the GPU, its memory and its video unit in percent (c_nvmlGpuDynamicPstatesInfo_t).

    If the caller passes a struct, it is filled and returned. If the caller passes byref of a struct, the struct is
    filled and NVML_SUCCESS is returned.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    MTML: mtmlGpuGetUtilization, mtmlMemoryGetUtilization, mtmlVpuGetUtilization.
    """
    device = _require(device)
    rates, codecs = _nvmlDeviceGetUtilizationRates(device), _Words()
    status = _status("mtmlVpuGetUtilization", "_vpu", device, codecs)
    if status not in (MTML_ERROR_NOT_SUPPORTED, _FUNCTION_NOT_FOUND):
        _nvml_check(status)
    info = c_nvmlGpuDynamicPstatesInfo_t()
    shares = (rates.gpu, rates.memory) + (() if status else (_measured(codecs[_CODEC_TOTAL]),))
    for domain, share in enumerate(shares):
        info.utilization[domain].bIsPresent, info.utilization[domain].percentage = 1, share
    return _filled(c_dynamicpstatesinfo, _NO_PSTATES_INFO, info, lambda filled: filled)


def _filled(given, default, struct, answer):
    """The answer of a function that a struct may be passed to: ``answer`` of ``struct``, or of the caller's struct with
    its content; NVML_SUCCESS if the caller passed that by reference.
    """
    if given is default:
        return answer(struct)
    target = _target(given)
    if type(target) is not type(struct):
        raise _invalid()
    ctypes.memmove(byref(target), byref(struct), ctypes.sizeof(struct))
    return answer(given) if target is given else NVML_SUCCESS


# ---- Temperature ----


def nvmlDeviceGetTemperature(handle, sensor) -> "int":
    """Temperature of the GPU in degrees Celsius, negative below zero; the sensor is NVML_TEMPERATURE_GPU.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, also for another sensor.
    MTML: mtmlGpuGetTemperature.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    if sensor != NVML_TEMPERATURE_GPU:
        _require(device)
        raise _invalid()
    temperature = _Int()
    try:
        status = _c.mtmlGpuGetTemperature(device._gpu, temperature)
    except AttributeError:
        status = _slow_status("mtmlGpuGetTemperature", "_gpu", device, temperature)
    if status:
        raise _nvml_error(status)
    return temperature[0]


nvmlDeviceGetTemperatureV1 = nvmlDeviceGetTemperature


def nvmlDeviceGetTemperatureV(handle, sensor, version=nvmlTemperature_v1) -> "int":
    """Temperature of the GPU in degrees Celsius, as nvmlDeviceGetTemperature.

    Raises: NVMLError_ArgumentVersionMismatch for a version other than nvmlTemperature_v1, and the errors of
    nvmlDeviceGetTemperature.
    """
    if version != nvmlTemperature_v1:
        raise NVMLError(NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
    return _nvmlDeviceGetTemperature(handle, sensor)


def nvmlDeviceGetTemperatureThreshold(handle, threshold) -> "int":
    """Temperature in degrees Celsius at which the card shuts down or slows down.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for an unknown threshold, NVMLError_NotSupported for
    other thresholds, and if the library lacks the function.
    MTML: mtmlGpuGetTemperatureThreshold (optional).
    """
    device = _require(handle)
    if threshold == NVML_TEMPERATURE_THRESHOLD_SHUTDOWN:
        return _query(_Int(), "mtmlGpuGetTemperatureThreshold", "_gpu", device, _MTML_THRESHOLD_SHUTDOWN)[0]
    if threshold == NVML_TEMPERATURE_THRESHOLD_SLOWDOWN:
        return _query(_Int(), "mtmlGpuGetTemperatureThreshold", "_gpu", device, _MTML_THRESHOLD_SLOWDOWN)[0]
    if _uint(threshold) >= NVML_TEMPERATURE_THRESHOLD_COUNT:
        raise _invalid()
    raise _unsupported()


def nvmlDeviceGetMarginTemperature(handle) -> "int":
    """Degrees Celsius between the temperature of the GPU and the one at which the card slows down.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if the library lacks the
    function for the threshold.
    MTML: mtmlGpuGetTemperatureThreshold (optional), mtmlGpuGetTemperature.
    """
    slowdown = _nvmlDeviceGetTemperatureThreshold(handle, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
    return slowdown - _nvmlDeviceGetTemperature(handle, NVML_TEMPERATURE_GPU)


def nvmlDeviceGetThermalSettings(device, sensorindex, c_thermalsettings=_NO_THERMAL_SETTINGS) -> "_Any":
    """Thermal sensors in degrees Celsius (list of three c_nvmlGpuThermalSensor_t): only the first is in use, the GPU's.

    Its ``defaultMaxTemp`` is the temperature at which the card shuts down, 0 if unknown. Its ``defaultMinTemp`` is 0.
    If the caller passes a struct, it is filled. If the caller passes byref of a struct, NVML_SUCCESS is returned
    instead of the list.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, also for a sensor other than 0 and
    NVML_THERMAL_TARGET_ALL.
    MTML: mtmlGpuGetTemperature, mtmlGpuGetTemperatureThreshold (optional).
    """
    device = _require(device)
    if _uint(sensorindex) not in (0, NVML_THERMAL_TARGET_ALL):
        raise _invalid()
    temperature, limit = _nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU), _Int()
    status = _status("mtmlGpuGetTemperatureThreshold", "_gpu", device, _MTML_THRESHOLD_SHUTDOWN, limit)
    if status not in (MTML_ERROR_NOT_SUPPORTED, _FUNCTION_NOT_FOUND):
        _nvml_check(status)
    settings = c_nvmlGpuThermalSettings_t(count=1)
    sensor = settings.sensor[0]
    sensor.controller, sensor.target = NVML_THERMAL_CONTROLLER_GPU_INTERNAL, NVML_THERMAL_TARGET_GPU
    sensor.currentTemp, sensor.defaultMaxTemp = temperature, limit[0]
    return _filled(c_thermalsettings, _NO_THERMAL_SETTINGS, settings, lambda filled: filled.sensor[:])


# ---- Clocks ----


def nvmlDeviceGetClockInfo(handle, type) -> "int":
    """Current clock in MHz by type: NVML_CLOCK_GRAPHICS or NVML_CLOCK_SM (the GPU), NVML_CLOCK_MEM, NVML_CLOCK_VIDEO.

    The memory clock is MTML's number, an eighth of the data rate (2500 MHz for 20 Gbps); NVML's is half the data rate.
    Programs that calculate the bandwidth as twice the clock times the bus width get a quarter of the true bandwidth.
    mtmlMemoryGetBandwidth returns the true one.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported, also for an unknown type, as in
    NVML.
    MTML: mtmlGpuGetClock, mtmlMemoryGetClock, mtmlVpuGetClock.
    """
    device = handle if _type(handle) is c_mtmlDevice_t else _require(handle)
    clock = _UInt()
    try:
        if type == NVML_CLOCK_GRAPHICS or type == NVML_CLOCK_SM:
            status = _c.mtmlGpuGetClock(device._gpu, clock)
        elif type == NVML_CLOCK_MEM:
            status = _c.mtmlMemoryGetClock(device._memory, clock)
        elif type == NVML_CLOCK_VIDEO:
            status = _c.mtmlVpuGetClock(device._vpu, clock)
        else:
            status = _argument("_device", device)[0] or MTML_ERROR_NOT_SUPPORTED
    except AttributeError:
        status = _clock_status("mtml%sGetClock", type, device, clock)
    if status:
        raise _nvml_error(status)
    number = clock[0]
    return number if number <= 0x3FFFFFFF else _measured(number)


def nvmlDeviceGetMaxClockInfo(handle, type) -> "int":
    """Maximum clock in MHz by type: NVML_CLOCK_GRAPHICS or NVML_CLOCK_SM (the GPU), NVML_CLOCK_MEM, NVML_CLOCK_VIDEO.

    The memory clock is an eighth of the data rate, as in nvmlDeviceGetClockInfo. Frameworks that calculate a bandwidth
    from it get a quarter of the true one (flashinfer: 400 instead of 1600 GB/s for an MTT S5000).
    mtmlMemoryGetBandwidth returns the true one.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, also for an unknown type, NVMLError_NotSupported.
    MTML: mtmlGpuGetMaxClock, mtmlMemoryGetMaxClock, mtmlVpuGetMaxClock.
    """
    device = handle if _type(handle) is c_mtmlDevice_t else _require(handle)
    clock = _UInt()
    try:
        if type == NVML_CLOCK_GRAPHICS or type == NVML_CLOCK_SM:
            status = _c.mtmlGpuGetMaxClock(device._gpu, clock)
        elif type == NVML_CLOCK_MEM:
            status = _c.mtmlMemoryGetMaxClock(device._memory, clock)
        elif type == NVML_CLOCK_VIDEO:
            status = _c.mtmlVpuGetMaxClock(device._vpu, clock)
        else:
            status = _argument("_device", device)[0] or MTML_ERROR_INVALID_ARGUMENT
    except AttributeError:
        status = _clock_status("mtml%sGetMaxClock", type, device, clock)
    if status:
        raise _nvml_error(status)
    number = clock[0]
    return number if number <= 0x3FFFFFFF else _measured(number)


def _clock_status(name, kind, device, clock):
    """MTML status of a clock query. It compares with ==: what equals a clock type need not be hashable."""
    for known, (slot, part) in _CLOCKS.items():
        if kind == known:
            return _status(name % part, slot, device, clock)
    return MTML_ERROR_INVALID_ARGUMENT


def nvmlDeviceGetClock(handle, type, id) -> "int":
    """Clock in MHz: current (NVML_CLOCK_ID_CURRENT) or maximum (NVML_CLOCK_ID_CUSTOMER_BOOST_MAX).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for an unknown id or type, NVMLError_NotSupported for the
    application clocks, which MTML does not have, and for the current clock of an unknown type.
    MTML: as nvmlDeviceGetClockInfo and nvmlDeviceGetMaxClockInfo.
    """
    device = _require(handle)
    type, id = _uint(type), _uint(id)
    if id == NVML_CLOCK_ID_CURRENT:
        return _nvmlDeviceGetClockInfo(device, type)
    if type >= NVML_CLOCK_COUNT or id >= NVML_CLOCK_ID_COUNT:
        raise _invalid()
    if id == NVML_CLOCK_ID_CUSTOMER_BOOST_MAX:
        return _nvmlDeviceGetMaxClockInfo(device, type)
    raise _unsupported()


# ---- Power and performance state ----


def nvmlDeviceGetPowerUsage(handle) -> "int":
    """Power drawn by the whole board, in mW.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported, also for an instance of a
    divided card: query the card.
    MTML: mtmlDeviceGetPowerUsage.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    power = _UInt()
    try:
        status = _c.mtmlDeviceGetPowerUsage(device._board, power)
    except AttributeError:
        status = _slow_status("mtmlDeviceGetPowerUsage", "_board", device, power)
    if status:
        raise _nvml_error(status)
    number = power[0]
    return number if number <= 0x3FFFFFFF else _measured(number)


def nvmlDeviceGetTotalEnergyConsumption(handle) -> "int":
    """Energy that the whole board has used since the first call in this process, in mJ, added up from samples.

    MTML has no such counter. With PYMTML_ENERGY=sample in the environment, the first call for a card returns 0 and
    starts a thread that reads the card's power every 100 ms. Each later call also takes a sample. The sum never
    decreases, grows only while the library is initialized, and starts at 0 in a forked child. The power is assumed to
    change linearly between two samples. With a load that changed every second, the error was at most 2 % in 10 s. The
    sum misses peaks shorter than 100 ms, and all changes while a C extension keeps all Python threads waiting.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported without the variable, for an
    instance of a divided card, or if no thread can be started.
    MTML: mtmlDeviceGetPowerUsage, mtmlDeviceGetUUID, mtmlDeviceGetPciInfo.
    """
    device = _require(handle)
    if os.environ.get("PYMTML_ENERGY") != "sample":
        raise _unsupported("MTML has no counter of energy: PYMTML_ENERGY=sample in the environment adds up the power")
    life, power, card = _session.life, _nvmlDeviceGetPowerUsage(device), _card_identity(device)
    now, meter = _session.monotonic(), _meters.get(card)
    if meter is None or meter.life is not life or meter.address != device._address:
        if meter and meter.life is life and meter.address in life.devices:
            raise _unsupported("another card has the same UUID and PCI address")
        meter = _start_meter(life, device._address, card, (now, power, meter.state[2] if meter else 0))
    meter.add(now, power)
    return int(meter.state[2])


def _card_identity(device):
    """What is the same of a card in all lives, and of no other card in this one: (UUID, PCI address if it has one)."""
    try:
        address = _nvmlDeviceGetPciInfo(device).busId
    except NVMLError:
        address = None
    return _nvmlDeviceGetUUID(device), address


_SAMPLE_SECONDS = 0.1
_meters: "dict[tuple[str, str | None], _Any]" = {}  # by _card_identity; kept after the end of a life, for the sum


class _Meter:
    """The energy of a card in one life. It has the card's address: each sample looks the current handle up."""

    def __init__(self, life, address, card, state):
        self.life, self.address, self.card = life, address, card
        self.state = state  # (time of the last sample in s, its power in mW, sum in mJ), replaced in one step
        self.lock, self.rest = _thread.RLock(), _thread.allocate_lock()
        self.rest.acquire()

    def add(self, now, power):
        """Add the energy since the last sample."""
        if self.lock._is_owned():  # type: ignore[attr-defined]
            return  # in a signal handler that interrupted this method
        _hold(self.lock, self._add, now, power)

    def _add(self, now, power):
        then, before, total = self.state
        if now > then:
            self.state = now, power, total + (now - then) * (before + power) / 2

    def sample(self):
        """Take a sample; return whether to go on sampling. A sample that fails is left out."""
        current = self.life is _session.life and _meters.get(self.card) is self
        device = self.life.devices.get(self.address) if current else None
        board, power = getattr(device, "_board", None), _UInt()
        if board is None:
            return current and bool(self.life.changing)  # a change of MPC that C refuses restores the handle
        if not _c.mtmlDeviceGetPowerUsage(board, power) and power[0] != _UINT_MAX:
            self.add(_session.monotonic(), power[0])
        return True


def _start_meter(life, address, card, state):
    """A new meter of a card in this life; starts the thread that samples for it."""
    earlier, meter = _meters.get(card), _Meter(life, address, card, state)
    try:
        _thread.start_new_thread(_sample_energy, (meter,))
    except RuntimeError as error:
        raise _unsupported("no thread can be started to sample the power: %s" % error)
    _meters[card] = meter  # last: a meter without a thread would count too little
    try:
        if earlier is not None:
            earlier.rest.release()
    except RuntimeError:
        pass  # another thread has released it
    return meter


def _sample_energy(meter):
    """Sample for a meter until it is replaced or its life ends. While it waits, the thread holds no pointer of C."""
    try:
        while not meter.rest.acquire(True, _SAMPLE_SECONDS):
            if not meter.sample():
                break
    finally:
        meter.life = None  # the next call starts another meter


def nvmlDeviceGetEnforcedPowerLimit(handle) -> "int":
    """Power limit in force, in mW.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if the library lacks the
    function or the driver returns 0 for "unknown".
    MTML: mtmlGpuGetEnforcedPowerLimit (optional).
    """
    return _power_limit("mtmlGpuGetEnforcedPowerLimit", _require(handle))


nvmlDeviceGetPowerManagementLimit = nvmlDeviceGetEnforcedPowerLimit  # MTML cannot change it


def nvmlDeviceGetPowerManagementDefaultLimit(handle) -> "int":
    """Default power limit in mW.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if the library lacks the
    function or the driver returns 0 for "unknown".
    MTML: mtmlGpuGetPowerManagementDefaultLimit (optional).
    """
    return _power_limit("mtmlGpuGetPowerManagementDefaultLimit", _require(handle))


def _power_limit(name, device):
    """A power limit of the board in mW; NotSupported for 0, which means that the driver does not know it."""
    _require_board(device)
    limit = _measured(_query(_Int(), name, "_gpu", device)[0], -1)
    if limit <= 0:  # driver 3.3.7 (chengminhua/musatop, docs/NA_DIAGNOSIS.md)
        raise _unsupported()
    return limit


def nvmlDeviceGetPerformanceState(handle) -> "int":
    """Performance state, NVML_PSTATE_0 to NVML_PSTATE_15, or NVML_PSTATE_UNKNOWN.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if the library lacks the
    function.
    MTML: mtmlDeviceGetPerformanceState (optional).
    """
    state = _query(_Int(), "mtmlDeviceGetPerformanceState", "_device", handle)[0]
    if not NVML_PSTATE_0 <= state <= NVML_PSTATE_15:
        return NVML_PSTATE_UNKNOWN
    return state


nvmlDeviceGetPowerState = nvmlDeviceGetPerformanceState


# ---- Fans ----


def nvmlDeviceGetFanSpeed(handle) -> "int":
    """Target speed of the first fan in percent; it may exceed 100.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for cards without fans.
    MTML: mtmlDeviceGetFanSpeed.
    """
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    speed = _UInt()
    try:
        status = _c.mtmlDeviceGetFanSpeed(device._device, 0, speed)
    except AttributeError:
        status = _slow_status("mtmlDeviceGetFanSpeed", "_device", device, 0, speed)
    if status:
        without = status != MTML_ERROR_NOT_SUPPORTED and not _fan_count(device)
        raise _nvml_error_as(MTML_ERROR_NOT_SUPPORTED, status) if without else _nvml_error(status)
    number = speed[0]
    return number if number <= 0x3FFFFFFF else _measured(number)


def nvmlDeviceGetFanSpeed_v2(handle, fan) -> "int":
    """Target speed of a fan in percent; it may exceed 100.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a fan that the card lacks, NVMLError_NotSupported.
    MTML: mtmlDeviceGetFanSpeed.
    """
    return _fan_number("mtmlDeviceGetFanSpeed", _require(handle), _uint(fan))


nvmlDeviceGetTargetFanSpeed = nvmlDeviceGetFanSpeed_v2  # MTML has the target speed only


def nvmlDeviceGetFanSpeedRPM(handle) -> "int":
    """Speed of the first fan in revolutions per minute.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a card without fans, NVMLError_NotSupported.
    MTML: mtmlDeviceGetFanRpm.
    """
    return _fan_number("mtmlDeviceGetFanRpm", _require(handle), 0)


def _fan_number(name, device, fan):
    """A getter's value for one fan; InvalidArgument, as in NVML, if the card has no such fan."""
    value = _UInt()
    status = _status(name, "_device", device, fan, value)
    if status in (MTML_ERROR_NOT_SUPPORTED, MTML_ERROR_INVALID_ARGUMENT, MTML_ERROR_NOT_FOUND):
        raise _nvml_error_as(MTML_ERROR_INVALID_ARGUMENT if fan >= _fan_count(device) else status, status)
    _nvml_check(status)
    return _measured(value[0])


def _fan_count(device):
    """Number of fans, 0 for a card without fans."""
    count = _UInt()
    status = _status("mtmlDeviceCountFan", "_device", device, count)
    if status != MTML_ERROR_NOT_SUPPORTED:
        _nvml_check(status)
    return count[0]


def nvmlDeviceGetNumFans(device) -> "int":
    """Number of fans.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceCountFan.
    """
    return _number_of("mtmlDeviceCountFan", "_device", device)


# ---- PCIe link ----


def nvmlDeviceGetCurrPcieLinkGeneration(handle) -> "int":
    """Current PCIe generation of the link.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetPciInfo.
    """
    return _pci_word(handle, _PCI_CUR_GEN)


def nvmlDeviceGetMaxPcieLinkGeneration(handle) -> "int":
    """Maximum PCIe generation that card and slot allow.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetPciInfo.
    """
    return _pci_word(handle, _PCI_MAX_GEN)


nvmlDeviceGetGpuMaxPcieLinkGeneration = nvmlDeviceGetMaxPcieLinkGeneration  # MTML has one number for card and slot


def nvmlDeviceGetCurrPcieLinkWidth(handle) -> "int":
    """Number of PCIe lanes in use.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetPciInfo.
    """
    return _pci_word(handle, _PCI_CUR_WIDTH)


def nvmlDeviceGetMaxPcieLinkWidth(handle) -> "int":
    """Maximum number of PCIe lanes.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetPciInfo.
    """
    return _pci_word(handle, _PCI_MAX_WIDTH)


def nvmlDeviceGetPcieSpeed(device) -> "int":
    """Speed of a PCIe lane in Mbps (32000 for generation 5).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetPciInfo.
    """
    pci = _pci(_require(device))
    _measured(c_uint.from_buffer(pci, c_mtmlPciInfo_t.pciCurSpeed.offset).value)  # its bits: it is a float
    speed = pci.pciCurSpeed
    if not 0 < speed < _PCIE_GTPS_MAX:
        raise _unsupported()
    return int(round(speed * 1000))


def nvmlDeviceGetPcieLinkMaxSpeed(device) -> "int":
    """NVML_PCIE_LINK_MAX_SPEED_* of the link: by its speed per lane, or by its generation if the speed is unknown.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetPciInfo.
    """
    pci = _pci(_require(device))
    return _known(_PCIE_SPEEDS.get(pci.pciMaxSpeed) or _PCIE_GENERATIONS.get(_measured(pci.pciMaxGen), 0))


def nvmlDeviceGetPcieReplayCounter(handle) -> "int":
    """Number of PCIe replays.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if the library lacks the
    function.
    MTML: mtmlDeviceGetPcieReplayCounter (optional).
    """
    return _number_of("mtmlDeviceGetPcieReplayCounter", "_device", handle)


def _pci_word(handle, word):
    """One unsigned int of the device's MtmlPciInfo, by its position in words; NotSupported for 0 (unknown)."""
    device = handle if type(handle) is c_mtmlDevice_t else _require(handle)
    words = _Words()
    try:
        status = _c.mtmlDeviceGetPciInfo(device._device, words)
    except AttributeError:
        status = _slow_status("mtmlDeviceGetPciInfo", "_device", device, words)
    if status:
        raise _nvml_error(status)
    number = words[word]
    return number if 0 < number <= 0x3FFFFFFF else _known(_measured(number))  # the calls alone: a seventh of the time


def _known(value):
    """``value``; NotSupported if it is None or 0, which stand for an unknown value."""
    if not value:
        raise _unsupported()
    return value


# ---- ECC and retired pages ----


def nvmlDeviceGetEccMode(handle) -> "list[int]":
    """[current mode, pending mode]: NVML_FEATURE_ENABLED or NVML_FEATURE_DISABLED.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlMemoryGetEccMode.
    """
    current, pending = _UInt(), _UInt()
    _query(pending, "mtmlMemoryGetEccMode", "_memory", handle, current)
    return [current[0], pending[0]]


def nvmlDeviceGetCurrentEccMode(handle) -> "int":
    """Current ECC mode, NVML_FEATURE_ENABLED or NVML_FEATURE_DISABLED.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlMemoryGetEccMode.
    """
    return _nvmlDeviceGetEccMode(handle)[0]


def nvmlDeviceGetPendingEccMode(handle) -> "int":
    """ECC mode after the next reboot, NVML_FEATURE_ENABLED or NVML_FEATURE_DISABLED.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlMemoryGetEccMode.
    """
    return _nvmlDeviceGetEccMode(handle)[1]


def nvmlDeviceSetEccMode(handle, mode) -> "None":
    """Set the ECC mode that applies after the next reboot.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported, NVMLError_NoPermission.
    MTML: mtmlMemorySetEccMode.
    """
    device = _require(handle)
    if mode not in (NVML_FEATURE_DISABLED, NVML_FEATURE_ENABLED):
        raise _invalid()
    _nvml_check(_status("mtmlMemorySetEccMode", "_memory", device, _uint(mode)))


def nvmlDeviceGetTotalEccErrors(handle, errorType, counterType) -> "int":
    """Number of memory errors by type (NVML_MEMORY_ERROR_TYPE_*) and counter (NVML_VOLATILE_ECC, NVML_AGGREGATE_ECC).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlMemoryGetEccErrorCounter.
    """
    return _nvmlDeviceGetMemoryErrorCounter(handle, errorType, counterType, NVML_MEMORY_LOCATION_DRAM)


def nvmlDeviceGetMemoryErrorCounter(handle, errorType, counterType, locationType) -> "int":
    """Number of memory errors by type, counter (both as nvmlDeviceGetTotalEccErrors) and location.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported, also for locations other than
    NVML_MEMORY_LOCATION_DRAM.
    MTML: mtmlMemoryGetEccErrorCounter.
    """
    device = _require(handle)
    errorType, counterType, locationType = _uint(errorType), _uint(counterType), _uint(locationType)
    if (
        errorType >= NVML_MEMORY_ERROR_TYPE_COUNT
        or counterType >= NVML_ECC_COUNTER_TYPE_COUNT
        or locationType >= NVML_MEMORY_LOCATION_COUNT
    ):
        raise _invalid()
    if locationType != NVML_MEMORY_LOCATION_DRAM:
        raise _unsupported()
    kinds = errorType, counterType, MTML_MEMORY_LOCATION_DRAM
    return _number_of("mtmlMemoryGetEccErrorCounter", "_memory", device, *kinds, cell=_ULongLong)


def nvmlDeviceClearEccErrorCounts(handle, counterType) -> "None":
    """Clear all error counters of one type, NVML_VOLATILE_ECC or NVML_AGGREGATE_ECC.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported, NVMLError_NoPermission.
    MTML: mtmlMemoryClearEccErrorCounts.
    """
    device = _require(handle)
    if counterType not in (NVML_VOLATILE_ECC, NVML_AGGREGATE_ECC):
        raise _invalid()
    _nvml_check(_status("mtmlMemoryClearEccErrorCounts", "_memory", device, _uint(counterType)))


def nvmlDeviceGetRetiredPages(device, sourceFilter) -> "list[int]":
    """Addresses of the pages that were retired for a cause, NVML_PAGE_RETIREMENT_CAUSE_* (list of int).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlMemoryGetRetiredPages.
    """
    return [page.address for page in _retired_pages(device, sourceFilter)]


def nvmlDeviceGetRetiredPages_v2(device, sourceFilter) -> "list[dict[str, int]]":
    """Pages that were retired for a cause, NVML_PAGE_RETIREMENT_CAUSE_* (list of dicts: address, timestamp).

    The timestamp is MTML's number. MTML does not document its unit.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlMemoryGetRetiredPages.
    """
    return [{"address": page.address, "timestamp": page.timestamps} for page in _retired_pages(device, sourceFilter)]


def nvmlDeviceGetRetiredPagesPendingStatus(device) -> "int":
    """1 if pages will be retired at the next reboot, else 0.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlMemoryGetRetiredPagesPendingStatus.
    """
    return _query(_UInt(), "mtmlMemoryGetRetiredPagesPendingStatus", "_memory", device)[0]


def _retired_count(device, cause):
    """Number of pages that were retired for a cause, by the name of the field of c_mtmlPageRetirementCount_t."""
    counts = _struct_of(c_mtmlPageRetirementCount_t(), "mtmlMemoryGetRetiredPagesCount", "_memory", device)
    return _measured(getattr(counts, cause))


def _retired_pages(device, cause):
    """Retired pages of a cause (array of c_mtmlPageRetirement_t)."""
    device = _require(device)
    if cause not in (
        NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
        NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR,
    ):
        raise _invalid()
    is_double = cause == NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR
    count = _retired_count(device, "dbeCount" if is_double else "sbeCount")
    pages = (c_mtmlPageRetirement_t * min(count, _RETIRED_PAGES_MAX))()
    if len(pages):
        _query(pages, "mtmlMemoryGetRetiredPages", "_memory", device, _uint(cause), len(pages))
    return pages


# ---- Topology and affinity ----


def nvmlDeviceGetTopologyCommonAncestor(device1, device2) -> "int":
    """NVML_TOPOLOGY_* level of the nearest common ancestor of two devices.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetTopologyLevel.
    """
    first, second = _require(device1), _require(device2)
    level = _UInt()
    try:
        status = _c.mtmlDeviceGetTopologyLevel(first._device, second._device, level)
    except AttributeError:
        status = _pair_status("mtmlDeviceGetTopologyLevel", first, second, level)
    if status or level[0] not in _TOPOLOGY_FROM_MTML:
        raise _nvml_error(status or MTML_ERROR_UNKNOWN)
    return _TOPOLOGY_FROM_MTML[level[0]]


def nvmlDeviceGetTopologyNearestGpus(device, level) -> "list[c_mtmlDevice_t]":
    """Other devices whose common ancestor with this one is at a NVML_TOPOLOGY_* level or nearer (list of handles).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for anything but a level, NVMLError_NotSupported.
    MTML: mtmlDeviceGetTopologyLevel.
    """
    this = _require(device)
    level = _uint(level)
    if level not in _TOPOLOGY_FROM_MTML.values() and level < NVML_TOPOLOGY_SYSTEM:
        raise _invalid()  # NVML treats any number beyond SYSTEM as SYSTEM
    others = (other for other in _all_cards() if other is not this)
    return [other for other in others if _nvmlDeviceGetTopologyCommonAncestor(this, other) <= level]


def nvmlDeviceGetP2PStatus(device1, device2, p2pIndex) -> "int":
    """NVML_P2P_STATUS_* of two devices for a capability, NVML_P2P_CAPS_INDEX_*.

    READ and WRITE: what MTML reports. NVLINK: OK if at least one MtLink of the pair is up at both ends. ATOMICS: OK if
    there are such links and all of them support atomics. PCI: as READ for a pair without such links.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, also for other numbers, NVMLError_NotSupported.
    MTML: mtmlDeviceGetP2PStatus, mtmlDeviceCountMtLinkLayouts, mtmlDeviceGetMtLinkCapStatus,
    mtmlDeviceGetMtLinkLayouts, mtmlDeviceGetMtLinkSpec, mtmlDeviceGetMtLinkState, mtmlDeviceGetUUID.
    """
    first, second = _require(device1), _require(device2)
    if _type(p2pIndex) is not int:
        p2pIndex = _uint(p2pIndex)
    if p2pIndex == NVML_P2P_CAPS_INDEX_READ:
        return _p2p_status(first, second, MTML_P2P_CAPS_READ)
    if p2pIndex == NVML_P2P_CAPS_INDEX_WRITE:
        return _p2p_status(first, second, MTML_P2P_CAPS_WRITE)
    if p2pIndex == NVML_P2P_CAPS_INDEX_NVLINK:
        return NVML_P2P_STATUS_OK if _is_linked(first, second) else NVML_P2P_STATUS_NOT_SUPPORTED
    if p2pIndex == NVML_P2P_CAPS_INDEX_ATOMICS:
        links = [link for link, far in _wired_links(first, second) if _wire_is_up(first, link, second, far)]
        atomics = links and all(_link_can(first, link, MTML_MTLINK_CAP_P2P_ATOMICS) for link in links)
        return NVML_P2P_STATUS_OK if atomics else NVML_P2P_STATUS_NOT_SUPPORTED
    if p2pIndex == NVML_P2P_CAPS_INDEX_PCI:
        if _is_linked(first, second):
            return NVML_P2P_STATUS_NOT_SUPPORTED
        return _p2p_status(first, second, MTML_P2P_CAPS_READ)
    if p2pIndex == NVML_P2P_CAPS_INDEX_UNKNOWN:
        return NVML_P2P_STATUS_UNKNOWN
    raise _invalid()


def _p2p_status(first, second, capability):
    """NVML_P2P_STATUS_* of two devices for one of MTML's capabilities."""
    value = _UInt()
    try:
        status = _c.mtmlDeviceGetP2PStatus(first._device, second._device, capability, value)
    except AttributeError:
        status = _pair_status("mtmlDeviceGetP2PStatus", first, second, capability, value)
    if status:
        raise _nvml_error(status)
    return _P2P_FROM_MTML.get(value[0], NVML_P2P_STATUS_UNKNOWN)


def _is_linked(first, second):
    """Whether a link that carries data connects ``first`` with ``second``."""
    state = _UInt()
    try:
        for link, far in first._wires[second._address]:
            status = _c.mtmlDeviceGetMtLinkState(first._device, link, state)
            if not status and state[0] != MTML_MTLINK_STATE_DOWN:
                if far is None:
                    return True
                status = _c.mtmlDeviceGetMtLinkState(second._device, far, state)
                if not status and state[0] != MTML_MTLINK_STATE_DOWN:
                    return True
            if status:
                raise _nvml_error(status)
        return False
    except (AttributeError, KeyError):
        return any(_wire_is_up(first, link, second, far) for link, far in _wired_links(first, second))


def _wired_links(first, second):
    """Links from ``first`` to ``second``: the link's number at each end (list of pairs); read once in a life.

    For a device and itself, these are all its links: what a device can do with another one, it can do with itself.
    """
    try:
        return first._wires[second._address]
    except (AttributeError, KeyError):
        pass  # not read yet, or the handle is not live
    if first is second:
        links = [(link, None) for link in range(_link_count(first))]
    else:
        links = _read_wires(first, second)
    if not hasattr(first, "_wires"):
        _keep(first, "_wires", {})
    getattr(first, "_wires", {})[second._address] = links
    return links


def _read_wires(first, second):
    """Links from one device to another: the link's number at each end, None if not known (list of pairs).

    MTML's layouts have both numbers. Where there are no layouts, the UUID at the far end shows where each link leads.
    Then the first link on one card is paired with the first on the other, and so on.
    """
    count = c_uint()
    status = _pair_status("mtmlDeviceCountMtLinkLayouts", first, second, byref(count))
    if status == MTML_SUCCESS and count.value <= NVML_NVLINK_MAX_LINKS:
        layouts = (c_mtmlMtLinkLayout_t * count.value)()
        if not count.value:
            return []
        status = _pair_status("mtmlDeviceGetMtLinkLayouts", first, second, count, layouts)
        if status == MTML_SUCCESS:
            return [(layout.localLinkId, layout.remoteLinkId) for layout in layouts]
    if status not in (MTML_SUCCESS, MTML_ERROR_NOT_SUPPORTED, MTML_ERROR_NOT_FOUND, _FUNCTION_NOT_FOUND):
        raise _nvml_error(status)
    here = _links_towards(first, second)
    there = _links_towards(second, first) if here else []
    return [(link, there[i] if i < len(there) else None) for i, link in enumerate(here)]


def _links_towards(device, peer):
    """Numbers of the links of ``device`` that lead to ``peer``, by its UUID (list)."""
    uuid = _nvmlDeviceGetUUID(peer)
    return [link for link in range(_link_count(device)) if _link_peer_uuid(device, link) == uuid]


def _link_count(device, needed=False):
    """Number of MtLinks of a device, read once in a life. Without MtLink it is 0, or NotSupported if ``needed``."""
    links = getattr(device, "_links", None)
    if links is not None:
        return links
    spec = c_mtmlMtLinkSpec_t()
    status = _status("mtmlDeviceGetMtLinkSpec", "_device", device, byref(spec))
    if status in (MTML_ERROR_NOT_SUPPORTED, _FUNCTION_NOT_FOUND) and not needed:
        return 0
    if status:
        raise _nvml_error(status)
    return _keep(device, "_links", min(_measured(spec.linkNum), NVML_NVLINK_MAX_LINKS))


def _link_is_up(device, link):
    """Whether a link of the device carries data."""
    state = _UInt()
    try:
        status = _c.mtmlDeviceGetMtLinkState(device._device, link, state)
    except AttributeError:
        status = _slow_status("mtmlDeviceGetMtLinkState", "_device", device, link, state)
    if status:
        raise _nvml_error(status)
    return state[0] != MTML_MTLINK_STATE_DOWN


def _wire_is_up(first, link, second, far):
    """Whether both ends of a link say that it carries data: sometimes only one end notices a broken link."""
    return _link_is_up(first, link) and (far is None or _link_is_up(second, far))


def _link_peer_uuid(device, link):
    """UUID of the device at the other end of a link, None if the link is not connected or the device is hidden."""
    cell = _Pointer()
    status = _status("mtmlDeviceGetMtLinkRemoteDevice", "_device", device, link, cell)
    if status in (MTML_ERROR_NOT_FOUND, MTML_ERROR_NOT_SUPPORTED, _FUNCTION_NOT_FOUND):
        return None
    _nvml_check(status)
    return _nvmlDeviceGetUUID(_device_from(_nvml_check, cell[0]))


def _link_can(device, link, capability):
    """Whether a link has one of MTML's capabilities."""
    status = _query(_UInt(), "mtmlDeviceGetMtLinkCapStatus", "_device", device, link, capability)[0]
    return status == MTML_MTLINK_CAP_STATUS_OK


def nvmlDeviceGetCpuAffinity(handle, cpuSetSize) -> "ctypes.Array[c_ulong]":
    """Bit mask of the CPUs next to the device (array of ``cpuSetSize`` unsigned longs).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetCpuAffinityWithinNode.
    """
    return _affinity("mtmlDeviceGetCpuAffinityWithinNode", _require(handle), cpuSetSize, NVML_AFFINITY_SCOPE_NODE)


def nvmlDeviceGetCpuAffinityWithinScope(handle, cpuSetSize, scope) -> "ctypes.Array[c_ulong]":
    """Bit mask of the CPUs next to the device (array of ``cpuSetSize`` unsigned longs), within node or socket.

    MTML has one mask, which serves both scopes.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetCpuAffinityWithinNode.
    """
    return _affinity("mtmlDeviceGetCpuAffinityWithinNode", _require(handle), cpuSetSize, scope)


def nvmlDeviceSetCpuAffinity(handle) -> "None":
    """Bind the calling thread to the CPUs next to the device, those of nvmlDeviceGetCpuAffinity.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if the thread may use none of
    these CPUs or the system does not bind threads, NVMLError_NoPermission.
    MTML: mtmlDeviceGetCpuAffinityWithinNode; the system call sched_setaffinity.
    """
    words = _nvmlDeviceGetCpuAffinity(handle, _BOUND_CPUS_MAX // _LONG_BITS)
    _bind([cpu for cpu in range(_BOUND_CPUS_MAX) if words[cpu // _LONG_BITS] >> cpu % _LONG_BITS & 1])


def nvmlDeviceClearCpuAffinity(handle) -> "None":
    """Let the calling thread run on all CPUs again.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if the system does not
    bind threads, NVMLError_NoPermission.
    MTML: none; the system call sched_setaffinity.
    """
    _require(handle)
    _bind(range(_BOUND_CPUS_MAX))


def _bind(cpus):
    """Bind the calling thread to those of the CPUs that it may use."""
    if not hasattr(os, "sched_setaffinity"):
        raise _unsupported("this system does not bind threads to CPUs")
    try:
        os.sched_setaffinity(0, cpus)
    except PermissionError as error:
        raise _nvml_error(MTML_ERROR_NO_PERMISSION, str(error))
    except OSError:  # the thread may use none of these CPUs
        raise _unsupported("this machine has none of the CPUs that the library names, or this thread may use none")


def nvmlDeviceGetMemoryAffinity(handle, nodeSetSize, scope) -> "ctypes.Array[c_ulong]":
    """Bit mask of the NUMA nodes next to the device (array of ``nodeSetSize`` unsigned longs), within node or socket.

    MTML has one mask, which serves both scopes.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetMemoryAffinityWithinNode.
    """
    return _affinity("mtmlDeviceGetMemoryAffinityWithinNode", _require(handle), nodeSetSize, scope)


def _affinity(name, device, size, scope):
    """An affinity mask as an array of unsigned longs."""
    size = _uint(size)
    if not 0 < size <= _AFFINITY_WORDS_MAX or scope not in (NVML_AFFINITY_SCOPE_NODE, NVML_AFFINITY_SCOPE_SOCKET):
        raise _invalid()
    return _query((c_ulong * size)(), name, "_device", device, size)


def nvmlDeviceGetNumaNodeId(handle) -> "int":
    """Number of the NUMA node of the device.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if sysfs names no node and
    MTML does not name exactly one.
    MTML: mtmlDeviceGetPciInfo; the file ``numa_node`` of the PCI device in sysfs, else
    mtmlDeviceGetMemoryAffinityWithinNode.
    """
    device = _require(handle)
    node = _sysfs_number(device, "numa_node")
    if node is not None and node >= 0:
        return node
    # sysfs does not show the device or its node, for example in a container. MTML may know the node.
    words = _affinity("mtmlDeviceGetMemoryAffinityWithinNode", device, 16, NVML_AFFINITY_SCOPE_NODE)
    nodes = [_LONG_BITS * i + bit for i, word in enumerate(words) for bit in range(_LONG_BITS) if word >> bit & 1]
    if len(nodes) != 1:
        raise _unsupported()
    return nodes[0]


def nvmlSystemGetTopologyGpuSet(cpuNumber) -> "list[c_mtmlDevice_t]":
    """Devices next to a CPU (list of handles).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a number that no CPU has, NVMLError_NotSupported.
    MTML: mtmlDeviceGetCpuAffinityWithinNode of each device.
    """
    _require_initialized()
    word, bit = divmod(_uint(cpuNumber), _LONG_BITS)
    if word >= _AFFINITY_WORDS_MAX:
        raise _invalid()
    return [device for device in _all_cards() if _nvmlDeviceGetCpuAffinity(device, word + 1)[word] >> bit & 1]


# ---- NVLink (MtLink) ----


def nvmlDeviceGetNvLinkState(device, link) -> "int":
    """NVML_FEATURE_ENABLED if the link carries data, at full or reduced width, else NVML_FEATURE_DISABLED.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a link number from NVML_NVLINK_MAX_LINKS on,
    NVMLError_NotSupported for a link that the device lacks.
    MTML: mtmlDeviceGetMtLinkState, mtmlDeviceGetMtLinkSpec.
    """
    device = _require(device)
    return NVML_FEATURE_ENABLED if _link_is_up(device, _checked_link(device, link)) else NVML_FEATURE_DISABLED


def nvmlDeviceGetNvLinkVersion(device, link) -> "int":
    """NVML_NVLINK_VERSION_* with the same version number as MtLink has.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a link number from NVML_NVLINK_MAX_LINKS on,
    NVMLError_NotSupported for a link that the device lacks, and for a version without a number in NVML.
    MTML: mtmlDeviceGetMtLinkSpec.
    """
    device = _require(device)
    _checked_link(device, link)
    version = _measured(_struct_of(c_mtmlMtLinkSpec_t(), "mtmlDeviceGetMtLinkSpec", "_device", device).version)
    return _known(_NVLINK_VERSIONS.get((version // 10000, version // 100 % 100), 0))


def nvmlDeviceGetNvLinkCapability(device, link, capability) -> "int":
    """1 if a link has the capability NVML_NVLINK_CAP_P2P_SUPPORTED, _P2P_ATOMICS or _VALID, else 0.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a link number from NVML_NVLINK_MAX_LINKS on or a
    capability from NVML_NVLINK_CAP_COUNT on, NVMLError_NotSupported for a link that the device lacks and for other
    capabilities.
    MTML: mtmlDeviceGetMtLinkCapStatus, mtmlDeviceGetMtLinkSpec.
    """
    device, capability = _require(device), _uint(capability)
    if capability >= NVML_NVLINK_CAP_COUNT:
        raise _invalid()
    link = _checked_link(device, link)
    if capability == NVML_NVLINK_CAP_P2P_SUPPORTED:
        return 1 if _link_can(device, link, MTML_MTLINK_CAP_P2P_ACCESS) else 0
    if capability == NVML_NVLINK_CAP_P2P_ATOMICS:
        return 1 if _link_can(device, link, MTML_MTLINK_CAP_P2P_ATOMICS) else 0
    if capability == NVML_NVLINK_CAP_VALID:
        return 1
    raise _unsupported()


def nvmlDeviceGetNvLinkRemotePciInfo(device, link) -> "nvmlPciInfo_t":
    """PCI address and ids of the device at the other end of a link (nvmlPciInfo_t).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a link number from NVML_NVLINK_MAX_LINKS on,
    NVMLError_NotSupported for a link that the device lacks, NVMLError_NotFound if the link is not connected or the
    device is hidden.
    MTML: mtmlDeviceGetMtLinkRemoteDevice, mtmlDeviceGetPciInfo, mtmlDeviceGetMtLinkSpec.
    """
    device = _require(device)
    link = _checked_link(device, link)
    cell = _query(_Pointer(), "mtmlDeviceGetMtLinkRemoteDevice", "_device", device, link)
    return _nvmlDeviceGetPciInfo(_device_from(_nvml_check, cell[0]))


def nvmlDeviceGetNvLinkRemoteDeviceType(handle, link) -> "int":
    """NVML_NVLINK_DEVICE_TYPE_GPU if the device at the other end is visible, else NVML_NVLINK_DEVICE_TYPE_UNKNOWN.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a link number from NVML_NVLINK_MAX_LINKS on,
    NVMLError_NotSupported for a link that the device lacks.
    MTML: mtmlDeviceGetMtLinkRemoteDevice, mtmlDeviceGetMtLinkSpec.
    """
    device = _require(handle)
    link = _checked_link(device, link)
    cell = _Pointer()
    status = _status("mtmlDeviceGetMtLinkRemoteDevice", "_device", device, link, cell)
    if status == MTML_ERROR_NOT_FOUND:
        return NVML_NVLINK_DEVICE_TYPE_UNKNOWN
    _nvml_check(status)
    return NVML_NVLINK_DEVICE_TYPE_GPU


def _checked_link(device, link):
    """``link`` as an int, after a check that the device has this link."""
    link = _uint(link)
    if link >= NVML_NVLINK_MAX_LINKS:
        raise _invalid()
    if link >= _link_count(device, needed=True):
        raise _unsupported()
    return link


# ---- MIG (MPC) ----


def nvmlDeviceGetMigMode(device) -> "list[int]":
    """[current mode, pending mode]: NVML_DEVICE_MIG_ENABLE or NVML_DEVICE_MIG_DISABLE.

    The modes are always equal, because MPC changes at once.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for cards without MPC.
    MTML: mtmlDeviceGetMpcMode, mtmlDeviceGetProperty.
    """
    device = _require_mpc(device)
    mode = _query(_UInt(), "mtmlDeviceGetMpcMode", "_device", device)[0]
    return [mode, mode]


def nvmlDeviceSetMigMode(device, mode) -> "int":
    """Turn MPC on or off; return NVML_SUCCESS, as the change takes effect at once. Every handle is stale afterwards.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for cards without MPC,
    NVMLError_InUse if a query of another thread does not return within five seconds, and in a signal handler in the
    middle of a query.
    MTML: mtmlDeviceGetProperty, mtmlDeviceSetMpcMode, mtmlLibraryShutDown, mtmlLibraryInit, mtmlLibraryCountDevice.
    """
    device = _require(device)
    if mode not in (NVML_DEVICE_MIG_DISABLE, NVML_DEVICE_MIG_ENABLE):
        raise _invalid()
    _nvml_check(_divisible(device))
    _Change(_REFUSED, at_once=True).run(_nvml_check, "mtmlDeviceSetMpcMode", "_device", device, _uint(mode))
    return NVML_SUCCESS


def nvmlDeviceGetMaxMigDeviceCount(device) -> "int":
    """Maximum number of instances of the card; 0 while MPC is off or not available.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    MTML: mtmlDeviceGetSupportedMpcConfigurations, mtmlDeviceGetProperty.
    """
    if _property(device).mpcType != MTML_MPC_TYPE_PARENT:
        return 0
    return max((configuration.profileNum for configuration in _mpc_configurations(device)), default=0)


def nvmlDeviceGetMigDeviceHandleByIndex(device, index) -> "c_mtmlDevice_t":
    """Handle of an instance by its index within its card.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for cards without MPC,
    NVMLError_NotFound if there is no such instance.
    MTML: mtmlDeviceGetProperty, mtmlDeviceGetMpcInstanceByIndex.
    """
    device = _require(device)
    properties = _property(device)
    index = _uint(index)
    if not properties.mpcCap:
        raise _unsupported()
    divided = properties.mpcType == MTML_MPC_TYPE_PARENT
    if not divided or index >= _query(_UInt(), "mtmlDeviceCountMpcInstances", "_device", device)[0]:
        raise NVMLError(NVML_ERROR_NOT_FOUND)
    return _device_from(_nvml_check, _query(_Pointer(), "mtmlDeviceGetMpcInstanceByIndex", "_device", device, index)[0])


def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(migDevice) -> "c_mtmlDevice_t":
    """Handle of the parent device of an instance.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for anything but an instance.
    MTML: mtmlDeviceGetProperty, mtmlDeviceGetMpcParentDevice.
    """
    _require_instance(migDevice)
    return _device_from(_nvml_check, _query(_Pointer(), "mtmlDeviceGetMpcParentDevice", "_device", migDevice)[0])


def nvmlDeviceIsMigDeviceHandle(device) -> "c_uint":
    """c_uint(1) for an instance, else c_uint(0).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    MTML: mtmlDeviceGetProperty.
    """
    return c_uint(1 if _property(device).mpcType == MTML_MPC_TYPE_INSTANCE else 0)


def nvmlDeviceGetGpuInstanceId(device) -> "int":
    """Index of an instance within its card.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for anything but an instance.
    MTML: mtmlDeviceGetMpcInstanceIndex, mtmlDeviceGetProperty.
    """
    _require_instance(device)
    return _query(_UInt(), "mtmlDeviceGetMpcInstanceIndex", "_device", device)[0]


def nvmlDeviceGetComputeInstanceId(device) -> "int":
    """Not available: MPC does not divide an instance further.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for anything but an instance, NVMLError_NotSupported.
    """
    _require_instance(device)
    raise _unsupported()


def nvmlDeviceGetAttributes_v2(device) -> "c_nvmlDeviceAttributes":
    """Share of the card that an instance has (c_nvmlDeviceAttributes: multiprocessorCount in GPU cores, memorySizeMB).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for anything but an instance.
    MTML: mtmlDeviceGetMpcProfileInfo.
    """
    profile = _struct_of(c_mtmlMpcProfile_t(), "mtmlDeviceGetMpcProfileInfo", "_device", device)
    return c_nvmlDeviceAttributes(
        multiprocessorCount=profile.coreCount,
        gpuInstanceSliceCount=profile.coreCount,
        memorySizeMB=profile.memorySizeMB,
    )


nvmlDeviceGetAttributes = nvmlDeviceGetAttributes_v2


def nvmlDeviceGetGpuInstanceProfileInfo(device, profile, version=2) -> "_Any":
    """MPC profile with the number of slices of a NVML_GPU_INSTANCE_PROFILE_* (c_nvmlGpuInstanceProfileInfo_v2_t).

    A slice is a GPU core. Counts of engines and P2P support are 0: MTML does not provide them. For version 1 the struct
    is c_nvmlGpuInstanceProfileInfo_t.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for a profile that the card does
    not offer, NVMLError_FunctionNotFound for another version.
    MTML: mtmlDeviceGetSupportedMpcProfiles, mtmlDeviceGetSupportedMpcConfigurations, mtmlDeviceGetProperty.
    """
    device, profile = _require(device), _uint(profile)
    if version not in (1, 2):
        raise NVMLError(NVML_ERROR_FUNCTION_NOT_FOUND)
    if profile >= NVML_GPU_INSTANCE_PROFILE_COUNT:
        raise _invalid()
    for offered in _mpc_profiles(device):
        if _SLICES.get(profile) == offered.coreCount:
            return _profile_info(device, offered, version)
    raise _unsupported()


nvmlDeviceGetGpuInstanceProfileInfoV = nvmlDeviceGetGpuInstanceProfileInfo


def nvmlDeviceGetGpuInstanceProfileInfoById(device, profileId) -> "_Any":
    """MPC profile by its id (c_nvmlGpuInstanceProfileInfo_v2_t).

    The fields are those of nvmlDeviceGetGpuInstanceProfileInfo.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for an id that the card does not offer,
    NVMLError_NotSupported for cards without MPC.
    MTML: mtmlDeviceGetSupportedMpcProfiles, mtmlDeviceGetSupportedMpcConfigurations, mtmlDeviceGetProperty.
    """
    device, profileId = _require(device), _uint(profileId)
    for offered in _mpc_profiles(device):
        if offered.id == profileId:
            return _profile_info(device, offered, 2)
    raise _invalid()


nvmlDeviceGetGpuInstanceProfileInfoByIdV = nvmlDeviceGetGpuInstanceProfileInfoById


def nvmlDeviceGetGpuInstances(device, profileId, gpuInstancesRef, countRef) -> "int":
    """NVML_SUCCESS; writes a profile's instances to an array of c_nvmlGpuInstance_t, their number to byref of a c_uint.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for cards without MPC,
    NVMLError_InsufficientSize for an array that is too short.
    MTML: mtmlDeviceGetMpcInstancesByProfileId, mtmlDeviceGetProperty.
    """
    device, profileId = _require(device), _uint(profileId)
    array, count = _target(gpuInstancesRef), _target(countRef)
    gpu_instance = _catalogue_struct("c_nvmlGpuInstance_t")
    if getattr(array, "_type_", None) is not gpu_instance or type(count) is not c_uint:
        raise _invalid()
    _require_mpc(device)
    found = _query(_UInt(), "mtmlDeviceCountMpcInstancesByProfileId", "_device", device, profileId)[0]
    count.value = found
    if found > len(array):
        raise NVMLError(NVML_ERROR_INSUFFICIENT_SIZE)
    cells = (c_void_p * found)()
    if found:
        _query(cells, "mtmlDeviceGetMpcInstancesByProfileId", "_device", device, profileId, found)
    for position, instance in enumerate(_devices(cells)):
        array[position] = ctypes.cast(instance, array._type_)
    return NVML_SUCCESS


def nvmlDeviceGetGpuInstanceById(device, gpuInstanceId) -> "_Any":
    """Instance by its id, which is its index within its card (c_nvmlGpuInstance_t).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for cards without MPC,
    NVMLError_NotFound if there is no such instance.
    MTML: mtmlDeviceGetMpcInstanceByIndex, mtmlDeviceGetProperty.
    """
    instance = _nvmlDeviceGetMigDeviceHandleByIndex(device, gpuInstanceId)
    return ctypes.cast(instance, _catalogue_struct("c_nvmlGpuInstance_t"))


def nvmlGpuInstanceGetInfo(gpuInstance) -> "_Any":
    """Card, id and profile of an instance (c_nvmlGpuInstanceInfo_t).

    ``placement.start`` is 0: MTML does not provide it.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for anything but an instance.
    MTML: mtmlDeviceGetMpcParentDevice, mtmlDeviceGetMpcInstanceIndex, mtmlDeviceGetMpcProfileInfo,
    mtmlDeviceGetProperty.
    """
    kind, life = _catalogue_struct("c_nvmlGpuInstance_t"), _session.life
    device = life.devices.get(_address(gpuInstance)) if life and issubclass(type(gpuInstance), kind) else None
    info = _catalogue_struct("c_nvmlGpuInstanceInfo_t")()
    info.device = _nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device)  # raises for None
    info.id = _query(_UInt(), "mtmlDeviceGetMpcInstanceIndex", "_device", device)[0]
    profile = _struct_of(c_mtmlMpcProfile_t(), "mtmlDeviceGetMpcProfileInfo", "_device", device)
    info.profileId, info.placement.size = profile.id, profile.coreCount
    return info


def _mpc_profiles(device):
    """MPC profiles that a card offers (list of c_mtmlMpcProfile_t)."""
    return _mpc_offers(_require_mpc(device), c_mtmlMpcProfile_t, "Profiles")


def _mpc_configurations(device):
    """MPC configurations that a card offers (list of c_mtmlMpcConfiguration_t)."""
    return _mpc_offers(device, c_mtmlMpcConfiguration_t, "Configurations")


def _mpc_offers(device, item, kind):
    """The MPC profiles or configurations that a card offers (list of ``item``)."""
    count = _query(_UInt(), "mtmlDeviceCountSupportedMpc" + kind, "_device", device)[0]
    offers = (item * min(count, _MPC_CONFIGURATIONS_MAX))()
    if len(offers):
        _query(offers, "mtmlDeviceGetSupportedMpc" + kind, "_device", device, len(offers))
    return list(offers)


def _profile_info(device, profile, version):
    """NVML's description of an MPC profile."""
    info = _catalogue_struct("c_nvmlGpuInstanceProfileInfo%s_t" % ("_v2" if version == 2 else ""))()
    info.id, info.sliceCount, info.multiprocessorCount = profile.id, profile.coreCount, profile.coreCount
    info.memorySizeMB = profile.memorySizeMB
    ways = [list(way.profileId[: way.profileNum]).count(profile.id) for way in _mpc_configurations(device)]
    info.instanceCount = max(ways, default=0)
    if version == 2:
        info.name = profile.name
    return info


def _property(device):
    """c_mtmlDeviceProperty_t of a device."""
    return _struct_of(c_mtmlDeviceProperty_t(), "mtmlDeviceGetProperty", "_device", device)


def _require_mpc(handle):
    """The device handle, if the card supports MPC; the property is read once.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported for other cards.
    """
    device = _require(handle)
    try:
        capable = device._divisible
    except AttributeError:
        capable = _keep(device, "_divisible", bool(_property(device).mpcCap))
    if not capable:
        raise _unsupported()
    return device


def _require_instance(device):
    """Raises: NVMLError_InvalidArgument unless the device is an MPC instance."""
    if _property(device).mpcType != MTML_MPC_TYPE_INSTANCE:
        raise _invalid()


# ---- vGPU ----
# NVML has numbers for vGPU types and instances. The number of a type is the digits of MTML's type id (1101 for
# mtgpu-1101). pymtml numbers the instances, in the order in which it first sees their UUIDs.


def nvmlDeviceGetVirtualizationMode(handle) -> "int":
    """NVML_GPU_VIRTUALIZATION_MODE_*: VGPU for a virtual device, HOST_VGPU for a card that can have some, else NONE.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    MTML: mtmlDeviceGetProperty.
    """
    properties = _property(handle)
    if properties.virtRole in (MTML_VIRT_ROLE_HOST_VIRTDEVICE, MTML_VIRT_ROLE_GUEST_VIRTDEVICE):
        return NVML_GPU_VIRTUALIZATION_MODE_VGPU
    if properties.virtCap == MTML_DEVICE_SUPPORT_VIRTUALIZATION:
        return NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU
    return NVML_GPU_VIRTUALIZATION_MODE_NONE


def nvmlDeviceGetSupportedVgpus(handle) -> "list[int]":
    """Numbers of the vGPU types that the card supports (list of int).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetSupportedVirtTypes.
    """
    count = _query(_UInt(), "mtmlDeviceCountSupportedVirtTypes", "_device", handle)[0]
    return _virt_type_numbers(_virt_types(handle, count))


def nvmlDeviceGetCreatableVgpus(handle) -> "list[int]":
    """Numbers of the vGPU types that can be created now (list of int).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetAvailVirtTypes.
    """
    count = _query(_UInt(), "mtmlDeviceCountAvailVirtTypes", "_device", handle)[0]
    return _virt_type_numbers(_virt_types(handle, count, "mtmlDeviceGetAvailVirtTypes"))


def nvmlDeviceGetActiveVgpus(handle) -> "list[int]":
    """Numbers of the vGPU instances that hold resources of the card (list of int).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetActiveVirtDeviceUuids.
    """
    return [_vgpu_number(_require(handle), uuid) for uuid in _active_virt_uuids(handle)]


def nvmlVgpuTypeGetName(vgpuTypeId) -> "str":
    """Name of a vGPU type as text.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a number that no card supports.
    MTML: mtmlDeviceGetSupportedVirtTypes.
    """
    return _virt_type(vgpuTypeId).name


def nvmlVgpuTypeGetFramebufferSize(vgpuTypeId) -> "int":
    """Frame buffer of a vGPU type in bytes.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a number that no card supports.
    MTML: mtmlDeviceGetSupportedVirtTypes.
    """
    return _virt_type(vgpuTypeId).memSize


def nvmlVgpuTypeGetNumDisplayHeads(vgpuTypeId) -> "int":
    """Maximum number of displays of a vGPU type.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a number that no card supports.
    MTML: mtmlDeviceGetSupportedVirtTypes.
    """
    return _virt_type(vgpuTypeId).maxVirtualDisplay


def nvmlVgpuTypeGetResolution(vgpuTypeId) -> "tuple[int, int]":
    """(width, height) of a vGPU type's displays in pixels.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a number that no card supports.
    MTML: mtmlDeviceGetSupportedVirtTypes.
    """
    virt_type = _virt_type(vgpuTypeId)
    return virt_type.horizontalResolution, virt_type.verticalResolution


def nvmlVgpuTypeGetMaxInstances(handle, vgpuTypeId) -> "int":
    """Maximum number of vGPUs of a type on a card without other vGPUs.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a number that the card does not support,
    NVMLError_NotSupported.
    MTML: mtmlDeviceCountMaxVirtDevices.
    """
    device = _require(handle)
    for virt_type in _virt_types(device, _query(_UInt(), "mtmlDeviceCountSupportedVirtTypes", "_device", device)[0]):
        if _virt_type_number(virt_type) == vgpuTypeId:
            return _query(_UInt(), "mtmlDeviceCountMaxVirtDevices", "_device", device, byref(virt_type))[0]
    raise _invalid()


def nvmlVgpuInstanceGetUUID(vgpuInstance) -> "str":
    """UUID of a vGPU instance as text.

    Raises: NVMLError_Uninitialized, NVMLError_NotFound for a number that nvmlDeviceGetActiveVgpus did not return.
    """
    return _vgpu_instance(vgpuInstance)[1]


nvmlVgpuInstanceGetMdevUUID = nvmlVgpuInstanceGetUUID  # MTML's UUID is that of the mediated device


def nvmlVgpuInstanceGetType(vgpuInstance) -> "int":
    """Number of the vGPU type of an instance.

    Raises: NVMLError_Uninitialized, NVMLError_NotFound for a number that nvmlDeviceGetActiveVgpus did not return.
    MTML: mtmlDeviceInitVirtDevice, mtmlDeviceGetVirtType.
    """
    virt_type = _struct_of(c_mtmlVirtType_t(), "mtmlDeviceGetVirtType", "_device", _virtual_device(vgpuInstance))
    return _known(_virt_type_number(virt_type))


def nvmlVgpuInstanceGetFbUsage(vgpuInstance) -> "int":
    """Frame buffer that a vGPU instance uses, in bytes.

    Raises: NVMLError_Uninitialized, NVMLError_NotFound for a number that nvmlDeviceGetActiveVgpus did not return.
    MTML: mtmlDeviceInitVirtDevice, mtmlMemoryGetUsed.
    """
    return _number_of("mtmlMemoryGetUsed", "_memory", _virtual_device(vgpuInstance), cell=_ULongLong)


def nvmlDeviceGetVgpuUtilization(handle, timeStamp) -> "list[_Any]":
    """Utilization of each active vGPU in percent (list of c_nvmlVgpuInstanceUtilizationSample_t; values in ``uiVal``).

    Encoder and decoder shares are 0: MTML does not provide them for virtual devices.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported.
    MTML: mtmlDeviceGetActiveVirtDeviceUuids, mtmlDeviceInitVirtDevice, mtmlGpuGetUtilization, mtmlMemoryGetUtilization.
    """
    device, since, samples = _require(handle), _plain_int(timeStamp) & _ULONGLONG_MAX, []
    for uuid in _active_virt_uuids(device):
        number = _vgpu_number(device, uuid)
        rates = _nvmlDeviceGetUtilizationRates(_open_virtual(device, uuid))
        sample = _catalogue_struct("c_nvmlVgpuInstanceUtilizationSample_t")()
        sample.vgpuInstance, sample.timeStamp = number, int(_session.clock() * 1000000)
        sample.smUtil.uiVal, sample.memUtil.uiVal = rates.gpu, rates.memory
        if sample.timeStamp > since:
            samples.append(sample)
    return samples


def _virtual_device(number):
    """The device handle of a vGPU instance number."""
    return _open_virtual(*_vgpu_instance(number))


def _open_virtual(device, uuid):
    """The device handle of a card's virtual device."""
    return _device_from(_nvml_check, _query(_Pointer(), "mtmlDeviceInitVirtDevice", "_device", device, _bytes(uuid))[0])


def _virt_types(device, count, name="mtmlDeviceGetSupportedVirtTypes"):
    """Virtual device types of a card from a C function (list); ``count`` is their number."""
    count = min(count, _VIRT_TYPES_MAX)
    types = (c_mtmlVirtType_t * count)()
    if count:
        _nvml_check(_status(name, "_device", device, types, count))
    return list(types)


def _virt_type_number(virt_type):
    """NVML's number for a virtual device type: the digits at the end of its id. None if there are none."""
    text = virt_type.id
    digits = text[len(text.rstrip("0123456789")) :]
    return int(digits) if digits else None


def _virt_type_numbers(types):
    """NVML's numbers for virtual device types (list); types without a number are left out."""
    return [number for number in map(_virt_type_number, types) if number is not None]


def _virt_type(number):
    """The virtual device type with that number, from any card that knows it (c_mtmlVirtType_t)."""
    for device in _all_cards():
        try:
            count = _query(_UInt(), "mtmlDeviceCountSupportedVirtTypes", "_device", device)[0]
        except NVMLError_NotSupported:
            continue  # a card without virtualization has no types
        for virt_type in _virt_types(device, count):
            if _virt_type_number(virt_type) == number:
                return virt_type
    raise _invalid()


def _active_virt_uuids(device):
    """UUIDs of a card's active virtual devices (list of str)."""
    active = _query(_UInt(), "mtmlDeviceCountActiveVirtDevices", "_device", device)[0]
    count, size = min(active, _VIRT_DEVICES_MAX), MTML_DEVICE_UUID_BUFFER_SIZE
    uuids = (c_char * size * count)()
    if count:
        _nvml_check(_status("mtmlDeviceGetActiveVirtDeviceUuids", "_device", device, uuids, size, count))
    return [text for text in map(_text, uuids) if text]


def _vgpu_number(device, uuid):
    """NVML's number for an active virtual device, constant while the library is initialized."""
    life = _require_initialized()
    _require(device)  # a handle of an earlier life has no number in this one
    while True:
        for number, known in list(life.cards.vgpus.items()):
            if known == (device, uuid):
                return number
        life.cards.vgpus.setdefault(len(life.cards.vgpus) + 1, (device, uuid))  # or another thread takes the number


def _vgpu_instance(number):
    """(card, UUID) of a vGPU instance number."""
    life = _require_initialized()
    known = life.cards.vgpus.get(_uint(number))
    if known is None or _is_stale(known[0]):
        raise NVMLError(NVML_ERROR_NOT_FOUND)
    return known


# ---- Processes ----
# Who uses a device: the processes that have one of its nodes open, by the device number of the file (/proc/PID/fd), and
# those that MTML names for codec sessions. The driver's table /proc/driver/musa/gpuXX/proc_util has shares of the
# processes that were active lately; it does not say who holds a card, and it may be empty while a job runs
# (evidence-s7r4 of MooreThreads/julia-musa, an S5000). The driver's ioctl tells the memory of processes.


def nvmlDeviceGetComputeRunningProcesses(handle) -> "list[nvmlFriendlyObject]":
    """Processes that use the device (list of objects: pid, usedGpuMemory, gpuInstanceId, computeInstanceId).

    These have a node of the device open. Those that only draw are in nvmlDeviceGetGraphicsRunningProcesses. Those that
    only monitor are left out: they have libmtml mapped, and none of the libraries of MUSA, OpenCL, graphics and video.
    The list has the processes that the user may inspect; unseen_processes() is the number of the others. One search of
    /proc serves all devices for as long as it took, but for at least 20 ms and at most 1 s.

    ``usedGpuMemory`` is the memory on the card in bytes, page tables included, as the driver reports it (no memory of
    the host, which mthreads-gmi adds). It is None if the driver does not report it, or reports what cannot be, and for
    MPC instances. The driver is asked by an ioctl that is known from its source only, and has not been tried on
    hardware; PYMTML_PROCESS_MEMORY=0 turns that off.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if /proc shows no
    processes or no file descriptor is free.
    MTML: mtmlDeviceGetGpuPath, mtmlDeviceGetRenderPath, mtmlDeviceGetPrimaryPath, mtmlDeviceCountDisplayInterface,
    mtmlVpuGetEncoderSessionMetrics, mtmlVpuGetDecoderSessionMetrics, mtmlMemoryGetTotal, mtmlMemoryGetUsed;
    /proc/PID/fd, /proc/driver/musa, ioctl of /dev/mtgpu.N.
    """
    device = _require(handle)
    found = _processes_of(device)
    _session.unseen = found.walk.unseen
    rows = found.rows(_listed_rows(device, found))
    drawing = {pid for pid, row in rows.items() if _draws(row) and not _computes(row)}
    users = sorted(pid for pid in found.users_with(rows) if pid not in drawing)
    return [_process(pid, found.memory_of(pid)) for pid in users + _coding(device, found, rows)]


nvmlDeviceGetComputeRunningProcesses_v2 = nvmlDeviceGetComputeRunningProcesses
nvmlDeviceGetComputeRunningProcesses_v3 = nvmlDeviceGetComputeRunningProcesses


def nvmlDeviceGetGraphicsRunningProcesses(handle) -> "list[nvmlFriendlyObject]":
    """Processes that use the device's graphics engines (list as nvmlDeviceGetComputeRunningProcesses).

    Only the driver's table shows which engines a process uses. It is read for cards with a display, and where there are
    processes that the user may not inspect; otherwise, and without a table, the list is empty.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if /proc shows no
    processes or no file descriptor is free.
    MTML: mtmlDeviceGetGpuPath, mtmlDeviceGetRenderPath, mtmlDeviceGetPrimaryPath, mtmlDeviceCountDisplayInterface,
    mtmlMemoryGetTotal, mtmlMemoryGetUsed; /proc/PID/fd, /proc/driver/musa, ioctl of /dev/mtgpu.N.
    """
    device = _require(handle)
    found = _processes_of(device)
    rows = found.rows(_listed_rows(device, found))
    drawing = sorted(pid for pid, row in rows.items() if _draws(row))
    return [_process(pid, found.memory_of(pid)) for pid in drawing]


nvmlDeviceGetGraphicsRunningProcesses_v2 = nvmlDeviceGetGraphicsRunningProcesses
nvmlDeviceGetGraphicsRunningProcesses_v3 = nvmlDeviceGetGraphicsRunningProcesses


def nvmlDeviceGetMPSComputeRunningProcesses(handle) -> "list[nvmlFriendlyObject]":
    """Empty list: MUSA has no multi-process service (MPS).

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    """
    _require(handle)
    return []


nvmlDeviceGetMPSComputeRunningProcesses_v2 = nvmlDeviceGetMPSComputeRunningProcesses
nvmlDeviceGetMPSComputeRunningProcesses_v3 = nvmlDeviceGetMPSComputeRunningProcesses


def nvmlDeviceGetProcessUtilization(handle, timeStamp) -> "list[c_nvmlProcessUtilizationSample_t]":
    """Utilization of the device by process (list of c_nvmlProcessUtilizationSample_t; percent, microseconds).

    ``smUtil`` is the total of the process, or 0 if the driver's number is not a percentage. The shares of memory,
    encoder and decoder are 0: the driver's table does not have them. The table has the processes that were active
    lately; the first look since the driver was loaded has none, since it starts the driver's counters.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument, NVMLError_NotSupported if there are processes but
    no table of the driver that is surely this card's, NVMLError_NotFound without a sample after ``timeStamp``.
    MTML: mtmlDeviceGetGpuPath, mtmlDeviceGetRenderPath, mtmlDeviceGetPrimaryPath; /proc/driver/musa, /proc/PID/fd.
    """
    now, shares = _process_shares(_require(handle), timeStamp)
    return [c_nvmlProcessUtilizationSample_t(pid=pid, timeStamp=now, smUtil=share) for pid, share in shares]


def nvmlDeviceGetProcessesUtilizationInfo(handle, timeStamp) -> "list[c_nvmlProcessUtilizationInfo_v1_t]":
    """Utilization of the device by process, in percent (list of c_nvmlProcessUtilizationInfo_v1_t).

    Values and errors: same as nvmlDeviceGetProcessUtilization.

    MTML: mtmlDeviceGetGpuPath, mtmlDeviceGetRenderPath, mtmlDeviceGetPrimaryPath; /proc/driver/musa, /proc/PID/fd.
    """
    now, shares = _process_shares(_require(handle), timeStamp)
    return [c_nvmlProcessUtilizationInfo_v1_t(pid=pid, timeStamp=now, smUtil=share) for pid, share in shares]


def nvmlSystemGetProcessName(pid) -> "str":
    """Program of a process: the first part of its command line, or its short name if it has no command line.

    The short name is also returned if a thread of the process waits in the kernel: its command line might block.

    Raises: NVMLError_Uninitialized, NVMLError_NotFound, NVMLError_NoPermission, NVMLError_NotSupported without a proc
    file system.
    MTML: /proc/PID/cmdline and comm.
    """
    _require_initialized()
    directory = os.path.join(_proc_root(), str(_uint(pid)))
    code = NVML_ERROR_NOT_FOUND if os.path.isdir(_proc_root()) else NVML_ERROR_NOT_SUPPORTED
    for name in ("comm",) if _waits_in_kernel(directory) else ("cmdline", "comm"):
        try:
            text = _file_text(os.path.join(directory, name)).rstrip("\n").split("\0")[0]
        except PermissionError:
            code = NVML_ERROR_NO_PERMISSION
            continue
        except OSError:
            continue
        if text:
            return text
    raise NVMLError(code)


def unseen_processes() -> "int":
    """Number of processes that the last nvmlDeviceGetComputeRunningProcesses could not inspect (int).

    They belong to other users, and may also use devices. If the proc file system hides them (hidepid), they count as
    one. Processes of other containers are not visible here, and do not count.

    MTML: /proc/PID/fd.
    """
    return _session.unseen


def _process(pid, memory):
    """A process as the queries for running processes return it."""
    return nvmlFriendlyObject(
        {
            "pid": pid,
            "usedGpuMemory": memory,
            "gpuInstanceId": NVML_VALUE_NOT_AVAILABLE_uint.value,
            "computeInstanceId": NVML_VALUE_NOT_AVAILABLE_uint.value,
        }
    )


def _coding(device, found, rows):
    """Pids of the codec sessions of a device that are not among its users (list)."""
    known = found.users_with(rows)
    coding = dict.fromkeys(pid for pid in _codec_pids(device) if pid not in known)
    return [pid for pid in coding if pid in found.walk.pids]


def _process_shares(device, timeStamp):
    """(now in microseconds, [(pid, percent)]) of the processes in the driver's table."""
    since = _plain_int(timeStamp) & _ULONGLONG_MAX
    found = _processes_of(device)
    table = _process_table(device, found.minor)
    if table is None:  # without the table the shares are not known; without a process there are none
        raise _unsupported() if found.users or _coding(device, found, {}) else NVMLError(NVML_ERROR_NOT_FOUND)
    now = int(_session.clock() * 1000000)
    shares = [(pid, _column(row, b"Total", 100)) for pid, row in sorted(found.rows(table).items())]
    if not shares or now <= since:
        raise NVMLError(NVML_ERROR_NOT_FOUND)
    return now, shares


def _codec_pids(device):
    """Processes that own a codec session of the device (list of int).

    Where the device has no video unit, or one of its two codecs lists no sessions, there are none of these.
    """
    try:
        capacities, sessions = _codec_capacity(device), []
    except NVMLError_NotSupported:
        return []
    for coder, capacity in zip(("Encoder", "Decoder"), capacities):
        try:
            sessions += _codec_sessions(device, coder, capacity)
        except NVMLError_NotSupported:
            continue
    return [session.pid for session in sessions if session.pid]


def _proc_root():
    """Root of the proc file system."""
    return _setting("PYMTML_PROC_ROOT") or "/proc"


def _file_text(path):
    """Content of a small file as str."""
    return _file_bytes(path).decode("utf-8", "replace")


_FILE_MAX = 64 << 20  # bytes; nothing that is read here is larger, but for files that are not what they should be


def _file_bytes(path, limit=_FILE_MAX):
    """Content of a file, at most about ``limit`` bytes of it.

    Raises: OSError, NVMLError_NotSupported without a free descriptor.
    """
    parts = []
    try:
        with _open(path, "rb", 0) as file:
            while limit > 0:
                part = file.read(min(limit, 0x10000))
                if not part:
                    break
                parts.append(part)
                limit -= len(part)
    except OSError as error:
        _require_descriptor(error)
        raise
    return b"".join(parts)


def _names_in(directory):
    """Names in a directory (list).

    Raises: OSError, NVMLError_NotSupported without a free descriptor.
    """
    try:
        return os.listdir(directory)
    except OSError as error:
        _require_descriptor(error)
        raise


def _require_descriptor(error):
    """Raises: NVMLError_NotSupported if an OSError says that no descriptor is free, and nothing about the file."""
    if error.errno in (_ENFILE, _EMFILE):
        raise _unsupported() from None


# The driver's table

_TABLE_MAX = 256 << 10  # bytes; the driver writes at most 80 rows (mtgpu 2.7.0)
_DEVNAME_MAX = 4096


def _listed_rows(device, found):
    """Rows of the driver's table (list) where a list of processes needs them.

    Reading the table starts the driver's counters, so it is left alone where it could tell nothing: on a card without a
    display, whose processes may all be inspected.
    """
    if found.walk.unseen or _has_display(device):
        return _process_table(device, found.minor) or []
    return []


def _has_display(device):
    """Whether a device has display outputs; if MTML does not answer, it has none."""
    known = getattr(device, "_has_display", None)
    if known is None:
        count = _UInt()
        status = _status("mtmlDeviceCountDisplayInterface", "_device", device, count)
        known = not status and count[0] > 0
        if status in (MTML_SUCCESS, MTML_ERROR_NOT_SUPPORTED, _FUNCTION_NOT_FOUND):
            _keep(device, "_has_display", known)
    return known


def _process_table(device, minor):
    """Rows of the driver's process table of a device (list of dicts by column), None without one that is its own.

    ``minor``: the minor number of the device's render node, or None. The table names that of its card; where the two
    differ, the folder belongs to another card: a container may have card 1 as mtgpu.0.
    """
    text = _driver_file(device, "proc_util", _TABLE_MAX)
    if text is None:
        return None
    owner, rows = _parse_process_table(text)
    return None if minor is not None and owner is not None and owner != minor else rows


def _driver_file(device, name, limit):
    """Content of a file in a device's directory below /proc/driver/musa (bytes), None without one that can be read."""
    for anew in (False, True):  # the driver may have been loaded anew, with other directories
        directory = _driver_directory(device, anew)
        if directory is None:
            return None
        try:
            return _file_bytes(os.path.join(directory, name), limit)
        except OSError:
            continue
    return None


def _parse_process_table(text):
    """(minor number of the card's render node or None, rows or None) of a process table of the driver.

    The line ``device:    (0, 128)`` has the number; drivers print it first (mtgpu 2.5.0 to 2.7.0 and an S5000 of August
    2026), and the heads follow. The name of a process may contain any byte except NUL. So only a line feed ends a line,
    and if a row has more columns than there are heads, the surplus belongs to the name. Where the driver failed there
    are no heads, but a line "... error, try again!" (mtgpu 2.7.0): that is a table without rows.
    """
    minor, columns, name = None, None, 0
    rows: "list[dict[bytes, bytes]]" = []
    for line in text.split(b"\n"):
        cells = line.split()
        if columns is not None:
            surplus = len(cells) - len(columns)
            if surplus > 0:
                cells[name : name + surplus + 1] = [b" ".join(cells[name : name + surplus + 1])]
            if cells:
                rows.append(dict(zip(columns, cells)))
        elif b"Pid" in cells:
            columns = cells
            name = columns.index(b"PidName") if b"PidName" in columns else len(columns)
        elif line.startswith(b"device:"):
            number = line[len(b"device:") :].strip(b" \t()").rpartition(b",")[2].strip()
            minor = int(number) if number.isdigit() and len(number) < 10 else None
    return minor, rows if columns is not None or b"try again!" in text else None


def _driver_directory(device, anew=False):
    """Directory of a device below /proc/driver/musa (str), None if none has its name. It is looked for once a life.

    The file ``devname`` has the name of the GPU's node, such as mtgpu.0. In a container the node may have another name:
    the kernel's, by the device number, is the right one.
    """
    tree = os.path.join(_proc_root(), "driver", "musa")
    known = getattr(device, "_driver", None)
    if known is not None and known.startswith(tree) and not anew:
        return known
    path = _node_path(device, "Gpu")
    name = path and _kernel_name(path).encode()
    for directory in _driver_directories(tree) if name else ():
        try:
            if _file_bytes(os.path.join(directory, "devname"), _DEVNAME_MAX).strip() == name:
                return directory if directory == known else _keep(device, "_driver", directory)
        except OSError:
            continue
    return None


def _driver_directories(tree):
    """Directories below /proc/driver/musa that may be a device's; those of MPC instances last (iterator of str)."""
    cards: "list[str]" = []
    try:
        cards += [os.path.join(tree, name) for name in sorted(_names_in(tree)) if name.startswith("gpu")]
    except OSError:
        pass
    yield from cards
    for instances in [os.path.join(card, "mpc") for card in cards]:
        try:
            yield from [os.path.join(instances, name) for name in sorted(_names_in(instances)) if name[:2] == "gi"]
        except OSError:
            continue


def _kernel_name(path):
    """Name of a node as the kernel has it, such as mtgpu.1, whatever its name is here; else that of its path."""
    name = os.path.basename(path)
    number = _device_number(path)
    if number is not None:
        try:
            link = os.readlink("%s/dev/char/%d:%d" % (_sys_root(), os.major(number), os.minor(number)))
        except OSError:
            return name
        own = os.path.basename(link)
        return own if own.startswith(_NODE_STEMS) else name
    return name


def _column(row, column, maximum=_UINT_MAX):
    """The number in a column of a table row, 0 if it is missing or out of range."""
    try:
        number = int(float(row[column].rstrip(b"%")))
    except (KeyError, ValueError, OverflowError):
        return 0
    return number if 0 <= number <= maximum else 0


def _draws(row):
    """Whether a table row shows a graphics engine busy. 2D is none: MUSA's kernels run there (evidence-s7r4)."""
    return any(_column(row, engine) for engine in (b"TA", b"3D"))


def _computes(row):
    """Whether a table row shows a compute engine busy."""
    return any(_column(row, engine) for engine in (b"CMP", b"CDM"))


def _is_named(root, pid, row):
    """Whether a process has the name in the driver's table; True if one of the two names is not known."""
    wanted = row.get(b"PidName")
    if not wanted:
        return True
    try:
        name = _file_bytes("%s/%d/comm" % (root, pid))
    except OSError:
        return True
    name = name[: -1 if name.endswith(b"\n") else None][:_COMM_LENGTH]
    shown = b" ".join(name.split())
    return shown == wanted or (len(name) == _COMM_LENGTH and wanted.startswith(shown))


def _innermost_pid(root, pid):
    """Number of a process in its own pid namespace, None if its status file does not have it."""
    try:
        for line in _file_bytes("%s/%d/status" % (root, pid)).split(b"\n"):
            if line.startswith(b"NSpid:"):
                return int(line.split()[-1])
    except (OSError, ValueError):
        return None
    return None


# Open device nodes


def _node_paths(device):
    """Paths of a device's nodes (dict of str): "Gpu", such as /dev/mtgpu.0, "Render" and "Primary", as far as known."""
    paths = {node: _node_path(device, node) for node in ("Gpu", "Render")}
    try:
        paths["Primary"] = _node_path(device, "Primary")
    except NVMLError:
        pass  # few processes have this one open, such as an X server: the list is not refused for its lack
    return {node: path for node, path in paths.items() if path}


def _node_path(device, node):
    """Path of one of a device's nodes (str), None if the library does not know it."""
    path = (c_char * MTML_DEVICE_PATH_BUFFER_SIZE)()
    status = _status("mtmlDeviceGet%sPath" % node, "_device", device, path, len(path))
    if status in (MTML_ERROR_NOT_SUPPORTED, _FUNCTION_NOT_FOUND):
        return None
    _nvml_check(status)
    return _text(path) or None


def _device_number(path):
    """Number of a character device (st_rdev), None if there is none at ``path``."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_rdev if status.st_mode & _S_IFMT == _S_IFCHR else None


_S_IFMT, _S_IFCHR, _S_IFIFO = 0o170000, 0o020000, 0o010000  # of the module stat
_NODE_STEMS = ("mtgpu.", "renderD", "card")  # how the names of the nodes begin, in any folder
_OTHER_NODES = ("/dev/null", "/dev/pts/", "/dev/tty", "/dev/shm/")  # what processes have open most


def _processes_of(device):
    """The processes that have the device's nodes open, from a recent walk or a new one (_DeviceProcesses).

    Raises: NVMLError_NotSupported if the device has no nodes, or no process is shown.
    """
    root, life = _proc_root(), _require_initialized()
    walk = life.cards.walk
    found = walk.devices.get(device) if walk is not None and walk.is_recent(root) else None
    if found is not None:
        return found
    paths = _node_paths(device)
    if not paths or not os.path.isdir(root):
        raise _unsupported()
    unusual = [path for path in paths.values() if not _may_be_node(path, _NODE_STEMS)]
    stems = {os.path.basename(path).rstrip("0123456789") for path in unusual}
    walk = _hold(_locks.walk, _recent_walk, life.cards, root, stems)
    # Outside the lock: some of these files are never read where a process hangs in the kernel.
    return walk.devices.setdefault(device, _DeviceProcesses(device, walk, paths, life.cards))


def _may_be_node(path, stems):
    """Whether a file may be the node of a card: it is in a folder dev, or its name begins with one of ``stems``."""
    return "/dev/" in path and not path.startswith(_OTHER_NODES) or path.rpartition("/")[2].startswith(stems)


def _recent_walk(cards, root, stems):
    """The last walk of the proc file system if it is recent and covers ``stems``, else a new one."""
    walk = cards.walk
    if walk is None or not walk.is_recent(root) or not stems <= walk.stems:
        walk = cards.walk = _Walk(root, stems if walk is None else stems | walk.stems)
    return walk


def _hides_processes(root):
    """Whether the proc file system hides processes of others (hidepid): process 1 always exists, but is not shown."""
    return os.path.lexists(os.path.join(root, "self")) and not os.path.lexists(os.path.join(root, "1"))


def _device_files(directory, stems, counted):
    """(what a process has open that may be a device node, whether all its files were seen), from /proc/PID/fd.

    Each is there by its path (str) and, if it is a character device, by its number (int): the path may be another
    container's, or of a node that was removed. The link is read first, and only what may be a node is looked at, since
    a look at a file on a server that is gone would not return. ``counted``: whether the size of the directory is the
    number of open files. An ended process has no open files.
    """
    try:
        names = _names_in(directory) if not counted or os.stat(directory).st_size else ()
    except PermissionError:
        return (), False
    except OSError:
        return (), True
    found: "set[_Any]" = set()
    all_seen = True
    for name in names:
        try:
            # An open directory would be faster than full paths, but a signal handler that raises could leave it open.
            path = os.readlink(directory + "/" + name)
            if _may_be_node(path, stems):
                found.add(path[: -len(" (deleted)")] if path.endswith(" (deleted)") else path)
                found.add(_device_number(directory + "/" + name))
        except PermissionError:
            all_seen = False
        except OSError:
            continue
    return found, all_seen


def _is_of_the_kernel(directory):
    """Whether a process is a kernel thread, by the flags in its stat file. A kernel thread has no open files."""
    try:
        return bool(int(_stat_fields(directory)[6]) & _PF_KTHREAD)
    except (OSError, ValueError, IndexError):
        return False


def _stat_fields(directory):
    """Fields of a stat file after the name of the process (list of bytes): the state, the parent ...

    Raises: OSError.
    """
    return _file_bytes(directory + "/stat").rpartition(b")")[2].split()


def _start_time(directory):
    """When a process began, in the kernel's ticks (bytes), None if its stat file does not tell."""
    try:
        return _stat_fields(directory)[19]
    except (OSError, IndexError):
        return None


def _waits_in_kernel(directory):
    """Whether a thread of a process waits in the kernel (state D).

    It may hold the lock of the process's memory, and then /proc/PID/maps, cmdline and environ are not read until it
    goes on, which may be never.
    """
    try:
        threads = ["%s/task/%s" % (directory, name) for name in _names_in(directory + "/task")]
    except OSError:
        threads = [directory]
    for thread in threads:
        try:
            if _stat_fields(thread)[:1] == [b"D"]:
                return True
        except OSError:
            continue
    return False


# How the names of libraries begin that compute or draw on a card: MUSA's, OpenCL's, those of graphics and of video.
_WORKING_LIBRARIES = (b"libmusa", b"libOpenCL", b"libvulkan", b"libGL", b"libva")


def _is_monitor(directory):
    """Whether a process only asks for the state of cards: it has libmtml mapped, and no library that works on them.

    None, which is neither, for one that may not be inspected, that has ended, or of which a thread waits in the kernel.
    """
    if _waits_in_kernel(directory):
        return None
    try:
        maps = _file_bytes(directory + "/maps")
    except OSError:
        return None
    if not _maps_library(maps, b"/libmtml.so"):
        return False
    works = any(_maps_library(maps, b"/" + library) for library in _WORKING_LIBRARIES)
    return not works and not _maps_library(maps, b"mtgpu")


def _maps_library(maps, part):
    """Whether a process has a library mapped whose name contains ``part``; after a slash, whose name begins so."""
    place = maps.find(part)
    while place >= 0:
        end = maps.find(b"\n", place)
        name = maps[maps.rfind(b"/", 0, place + 1) + 1 : end if end >= 0 else None]
        if name.startswith(b"lib") and b".so" in name and b"/" not in name and b"\n" not in name:
            return True
        place = maps.find(part, end) if end >= 0 else -1
    return False


# To find the processes that have a device node open, a walk of /proc looks at every open file of the host. So one walk
# serves all devices and all queries for as long as it took, within these bounds (seconds). Another walk would take as
# long, so its list would hardly be more recent.
_WALK_AGE_MIN = 0.02
_WALK_AGE_MAX = 1.0

_PF_KTHREAD = 0x00200000


class _Walk:
    """A walk of the proc file system: which processes have files open that may be device nodes.

    Raises: NVMLError_NotSupported if no process is shown.
    """

    def __init__(self, root, stems):
        begin = _session.monotonic()
        self.root, self.stems = root, stems
        self.devices: "dict[_Any, _DeviceProcesses]" = {}  # by handle
        self.holders: "dict[_Any, set[int]]" = {}  # pids by path and by number of the file
        self.uninspected: "set[int]" = set()  # pids whose open files could not all be seen
        self.pids: "set[int]" = set()
        try:
            self.pids.update(int(name) for name in _names_in(root) if name.isdecimal())
        except OSError:
            pass
        if not self.pids:  # not even this process: the folder is no proc file system, or is empty
            raise _unsupported()
        prefixes = tuple(stems.union(_NODE_STEMS))
        # From Linux 6.2 on the size of fd is the number of descriptors, which is 0 for kernel threads.
        counted = os.path.exists(root + "/self/fd") and os.path.getsize(root + "/self/fd") > 0
        for pid in self.pids:
            files, all_seen = _device_files("%s/%d/fd" % (root, pid), prefixes, counted)
            for file in files:
                self.holders.setdefault(file, set()).add(pid)
            if not all_seen and (counted or not _is_of_the_kernel("%s/%d" % (root, pid))):
                self.uninspected.add(pid)
        self.holders.pop(None, None)  # what is no character device
        # The number of processes that could not be inspected. Those that the system hides count as one.
        self.unseen = len(self.uninspected) + _hides_processes(root)
        end = _session.monotonic()
        self.expires = end + min(max(end - begin, _WALK_AGE_MIN), _WALK_AGE_MAX)

    def is_recent(self, root):
        """Whether the walk still serves, for that root of the proc file system."""
        return self.root == root and _session.monotonic() < self.expires


class _DeviceProcesses:
    """The processes of one device in a walk: ``holders`` have a node of it open, ``users`` are no monitors."""

    def __init__(self, device, walk, paths, cards):
        self.device, self.walk, self.path = device, walk, paths.get("Gpu")
        numbers = {node: _device_number(path) for node, path in paths.items()}
        # A node that is there for us is known by its number alone; one that is not, by its name.
        files = [paths[node] if number is None else number for node, number in numbers.items()]
        self.holders: "set[int]" = set().union(*[walk.holders.get(file, ()) for file in files])
        render = numbers.get("Render")
        self.minor = None if render is None else os.minor(render)
        self.users: "set[int]" = set()
        working = set()  # those that need not be looked into again as long as they hold the device
        for pid in self.holders:
            directory = "%s/%d" % (walk.root, pid)
            process = (pid, _start_time(directory))
            monitors = False if process in cards.working.get(device, ()) else _is_monitor(directory)
            if not monitors:
                self.users.add(pid)
            if monitors is False and process[1] is not None:
                working.add(process)
        cards.working[device] = working
        self._memory: "_ProcessMemory | None" = None
        self._inner: "dict[int, list[int]] | None" = None

    def users_with(self, rows):
        """Users, and others that the rows of the driver's table show: monitors that work, and the uninspected (set)."""
        return self.users.union(pid for pid, row in rows.items() if pid not in self.holders or _column(row, b"Total"))

    def rows(self, table):
        """Rows of the driver's table by pid (dict): those whose process is known for sure.

        ``VPid`` is the number in the reader's namespace, ``Pid`` that on the host (source of mtgpu 2.5.0 to 2.7.0,
        HostPid2ContainerPID); newer drivers are not known, so the innermost number counts as well. The name proves
        nothing: the driver looks it up by the number, which in a container may be another process's. So a row's process
        is one that has the device open, and the name decides only among several. Of processes that may not be inspected
        the name is all there is.
        """
        found: "dict[int, _Any]" = {}
        left = list(table)
        for by_name in (True, False):
            claims: "dict[int, list[_Any]]" = {}
            for row in left:
                claims.setdefault(self._process_of(row, found, by_name), []).append(row)
            left = claims.pop(0, [])
            for pid, rows in claims.items():
                if len({(row.get(b"Pid"), row.get(b"VPid")) for row in rows}) == 1:
                    found[pid] = rows[0]
        return found

    def _process_of(self, row, found, by_name):
        """The process that a row means (int), 0 if it is not known or in ``found``."""
        numbers = list(filter(None, dict.fromkeys((_column(row, b"VPid"), _column(row, b"Pid")))))
        sure = [number for number in numbers if number in self.holders]
        inner = self._by_inner_number().get(numbers[0], []) if numbers else []
        unsure = [number for number in numbers if number in self.walk.uninspected and number not in self.holders]
        root = self.walk.root
        fit = [pid for pid in sure + inner if pid not in found and (not by_name or _is_named(root, pid, row))]
        fit += [pid for pid in unsure if pid not in found and _is_named(root, pid, row)]
        return fit[0] if len(fit) == 1 or fit[:1] == sure[:1] != [] else 0

    def _by_inner_number(self):
        """Holders by their number in the innermost of their pid namespaces, if that is another one (dict of lists)."""
        if self._inner is None:
            inner: "dict[int, list[int]]" = {}
            for pid in sorted(self.holders):
                number = _innermost_pid(self.walk.root, pid)
                if number not in (None, pid):
                    inner.setdefault(number, []).append(pid)
            self._inner = inner
        return self._inner

    def memory_of(self, pid):
        """Bytes that a process has on the card (int), None if they are not known."""
        memory = self.memory()
        return memory.figures.get(pid, memory.others if pid in self.holders else None)

    def memory(self):
        """What the driver reports of the processes' memory (_ProcessMemory); it is asked once a walk."""
        if self._memory is None:
            self._memory = _process_memory(self)
        return self._memory


# Memory

# _IOR('M', 0xA7, 8976) reads the memory of processes and sets nothing: inc/pvr/include/uapi_common.h of
# dixyes/mtgpu-drv 2.7.0, and the same of elysia-best/mtgpu 3.0.0. The size is part of the number, so a driver with
# another layout refuses it. A reset takes the same struct under another number: no other number may ever be sent.
_MEMORY_IOCTL, _MEMORY_SIZE = 0xA3104DA7, 8976
_MEMORY_HEAD, _MEMORY_ENTRY, _MEMORY_ENTRIES_MAX = 16, 112, 80  # bytes, bytes, entries
_FOR_A_CONTAINER = 1  # the driver then converts each pid into the number in the asker's namespace, or 0
_ON_CARD = (0x20, 0x30)  # where an entry has page tables and memory of the card
_OF_HOST = (0x10, 0x40)  # and those in the host's memory, which a GPU without memory of its own has


class _ProcessMemory:
    """What the driver reports of the memory of a device's processes."""

    def __init__(self, reason=None, count=None):
        self.reason = reason  # why nothing is known (str)
        self.count = count  # number of entries of the driver's answer, None without an answer
        self.elsewhere = False  # a process of another pid namespace has an entry (inferred: its number is 0)
        self.figures: "dict[int, int]" = {}  # bytes by pid
        self.others: "int | None" = None  # bytes of a holder without an entry


def _process_memory(found):
    """_ProcessMemory of a device, from its processes in a walk."""
    if os.environ.get("PYMTML_PROCESS_MEMORY") == "0":
        return _ProcessMemory("PYMTML_PROCESS_MEMORY is 0")
    try:
        status, _ = _argument("_board", found.device)
        if status == MTML_ERROR_NOT_SUPPORTED:
            return _ProcessMemory("how the driver reports MPC instances is unknown")
        _nvml_check(status)
        used = _nvmlDeviceGetMemoryInfo(found.device).used
        return _judged_memory(found, used, _memory_answer(found.device, found.path))
    except (OSError, NVMLError) as error:
        return _ProcessMemory(str(error))


def _memory_answer(device, path):
    """The driver's answer about the memory of a device's processes (bytearray).

    Raises: OSError; in this life the same again, without asking, but for one that says nothing of the driver.
    """
    number = getattr(device, "_memory_errno", None)
    if number is None:
        answer = bytearray(_FOR_A_CONTAINER.to_bytes(4, sys.byteorder).ljust(_MEMORY_SIZE, b"\0"))
        try:
            if path is None or _is_fifo(path):  # the open of a FIFO would wait for a writer
                raise OSError(_ENOTTY, os.strerror(_ENOTTY))
            ioctl = _import_ioctl()
            with _open(path, "rb", 0) as node:
                ioctl(node, _MEMORY_IOCTL, answer)
            return answer
        except OSError as error:
            number = error.errno or 0
            if number not in (_EINTR, _ENFILE, _EMFILE):
                _keep(device, "_memory_errno", number)
    raise OSError(number, os.strerror(number))


def _is_fifo(path):
    """Whether there is a FIFO at ``path``."""
    try:
        return os.stat(path).st_mode & _S_IFMT == _S_IFIFO
    except (OSError, ValueError):
        return False


def _import_ioctl():
    """fcntl.ioctl. OSError where it cannot be imported, as on Windows and at the end of the interpreter."""
    if not sys.is_finalizing():
        try:
            from fcntl import ioctl

            return ioctl
        except ImportError:
            pass
    raise OSError(_ENOSYS, os.strerror(_ENOSYS))


def _judged_memory(found, used, answer):
    """_ProcessMemory from an answer of the driver, if it can be true; ``used``: bytes in use before the question.

    A process that began or ended between the walk and the question leaves the figures of the others as they are.
    """
    info = _nvmlDeviceGetMemoryInfo(found.device)
    count = _word_at(answer, 8)
    memory = _ProcessMemory(None, count)
    if count > _MEMORY_ENTRIES_MAX:
        memory.reason = "the driver's answer is impossible: %d entries" % count
        return memory
    places = range(_MEMORY_HEAD, _MEMORY_HEAD + count * _MEMORY_ENTRY, _MEMORY_ENTRY)
    pids = [_word_at(answer, place + 8) for place in places]
    sizes = [_sizes_at(answer, place, _ON_CARD) for place in places]
    if not any(map(sum, sizes)) and _is_integrated(found.device):
        sizes = [_sizes_at(answer, place, _OF_HOST) for place in places]
    limit = max(used, info.used) + info.total // 20
    known = found.holders | found.walk.uninspected | {os.getpid()}
    memory.elsewhere = 0 in pids
    if found.minor is not None and any(_word_at(answer, place) != found.minor for place in places):
        memory.reason = "the driver's answer is impossible: entries of another card"
    elif any(max(pair) > info.total for pair in sizes) or sum(map(sum, sizes)) > limit:
        memory.reason = "the driver's answer is impossible: more memory than is in use"
    elif (places or found.users) and not known.intersection(pids):
        memory.reason = "the driver's answer is impossible: no entry for a process that uses the card"
    else:
        for pid, pair in zip(pids, sizes):
            if pid in known:
                memory.figures[pid] = memory.figures.get(pid, 0) + sum(pair)
        memory.others = 0 if count < _MEMORY_ENTRIES_MAX else None
    return memory


def _sizes_at(answer, place, offsets):
    """Bytes in page tables and in memory, from the entry at that place of an answer (tuple)."""
    return tuple(_word_at(answer, place + offset, 8) for offset in offsets)


def _is_integrated(device):
    """Whether a GPU has no PCI address: it is part of the processor (inferred; the M1000 is no PCI device)."""
    try:
        return not _pci(device).pciDeviceId
    except NVMLError_NotSupported:
        return True


# ---- Field values and GPM ----


def nvmlDeviceGetFieldValues(handle, fieldIds) -> "ctypes.Array[c_nvmlFieldValue_t]":
    """Values of several fields (array of c_nvmlFieldValue_t), each with its own NVML code in ``nvmlReturn``.

    ``fieldIds``: field ids, or (field id, scope id) pairs. Time stamps and latencies are in microseconds.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument for a bad handle or an empty list.
    MTML: the functions of the fields.
    """
    device = _require(handle)
    if not len(fieldIds):
        raise _invalid()
    pairs = []
    for field in _items(_nvml_check, fieldIds):
        pair = issubclass(type(field), (tuple, list))
        if pair and len(field) < 2:
            raise _invalid()
        pairs.append((_uint(field[0]), _uint(field[1])) if pair else (_uint(field), 0))
    values = (c_nvmlFieldValue_t * len(pairs))()
    for value, (field, scope) in zip(values, pairs):
        value.fieldId, value.scopeId = field, scope
        began = _session.clock()
        try:
            _fill_field(value, device)
        except NVMLError as error:
            value.nvmlReturn = error.value
        ended = _session.clock()
        value.timestamp = int(ended * 1000000)
        value.latencyUsec = max(0, int((ended - began) * 1000000))
    return values


def _fill_field(value, device):
    """Answer one field of nvmlDeviceGetFieldValues or raise its error; set the value type in both cases."""
    field, scope = value.fieldId, value.scopeId
    if field in _ULL_FIELDS:
        value.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
        value.value.ullVal = _ULL_FIELDS[field](device)
    elif field in _ECC_FIELDS:
        value.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
        value.value.ullVal = _nvmlDeviceGetMemoryErrorCounter(device, *_ECC_FIELDS[field], NVML_MEMORY_LOCATION_DRAM)
    elif field in _UINT_FIELDS:
        value.valueType = NVML_VALUE_TYPE_UNSIGNED_INT
        value.value.uiVal = _UINT_FIELDS[field](device)
    elif field in _POWER_FIELDS:
        if scope > NVML_POWER_SCOPE_MEMORY:
            raise _invalid()
        value.valueType = NVML_VALUE_TYPE_UNSIGNED_INT
        if scope != NVML_POWER_SCOPE_GPU:
            raise _unsupported()
        value.value.uiVal = _POWER_FIELDS[field](device)
    elif field in _LINK_FIELDS:
        value.valueType = NVML_VALUE_TYPE_UNSIGNED_INT
        value.value.uiVal = _LINK_FIELDS[field](device, _existing_link(device, scope))
    elif _speed_link(field) is not None:
        value.valueType = NVML_VALUE_TYPE_UNSIGNED_INT
        value.value.uiVal = _link_speed(device, _existing_link(device, _speed_link(field)))
    elif field == NVML_FI_DEV_MEMORY_TEMP:
        value.valueType = NVML_VALUE_TYPE_UNSIGNED_INT
        temperature = _query(_Int(), "mtmlMemoryGetTemperature", "_memory", device)[0]
        value.value.siVal = temperature
        if temperature < 0:
            value.valueType = NVML_VALUE_TYPE_SIGNED_INT
    elif 0 < field < NVML_FI_MAX:
        raise _unsupported()
    else:
        raise _invalid()


def _field_link_count(device):
    """Number of MtLinks; NotSupported for a card without MtLink."""
    return _measured(_struct_of(c_mtmlMtLinkSpec_t(), "mtmlDeviceGetMtLinkSpec", "_device", device).linkNum)


def _existing_link(device, link):
    """``link`` if the device has it, else NotSupported: fields have one error for every bad link."""
    if link >= _link_count(device):
        raise _unsupported()
    return link


def _speed_link(field):
    """The number of the link whose speed is in a field, None for other fields."""
    for first, link in ((NVML_FI_DEV_NVLINK_SPEED_MBPS_L0, 0), (NVML_FI_DEV_NVLINK_SPEED_MBPS_L6, 6)):
        if first <= field < first + 6:
            return field - first + link
    return 0 if field == NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON else None


def _link_speed(device, link):
    """Bandwidth of a link in MB/s; MTML has one number for all links, in GB/s."""
    spec = _struct_of(c_mtmlMtLinkSpec_t(), "mtmlDeviceGetMtLinkSpec", "_device", device)
    return _known(_measured(spec.bandWidth)) * 1000


# Fields by the type of their values. The tables are here because the functions in them must be defined first.
_ULL_FIELDS = {
    NVML_FI_DEV_ECC_CURRENT: nvmlDeviceGetCurrentEccMode,
    NVML_FI_DEV_ECC_PENDING: nvmlDeviceGetPendingEccMode,
    NVML_FI_DEV_RETIRED_SBE: lambda device: _retired_count(device, "sbeCount"),
    NVML_FI_DEV_RETIRED_DBE: lambda device: _retired_count(device, "dbeCount"),
    NVML_FI_DEV_RETIRED_PENDING: nvmlDeviceGetRetiredPagesPendingStatus,
    NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION: nvmlDeviceGetTotalEnergyConsumption,
}
_UINT_FIELDS = {
    NVML_FI_DEV_NVLINK_LINK_COUNT: _field_link_count,
    NVML_FI_DEV_PCIE_REPLAY_COUNTER: nvmlDeviceGetPcieReplayCounter,
}
_LINK_FIELDS = {  # the scope id is the number of the link
    NVML_FI_DEV_NVLINK_GET_SPEED: _link_speed,
    NVML_FI_DEV_NVLINK_GET_STATE: nvmlDeviceGetNvLinkState,
    NVML_FI_DEV_NVLINK_GET_VERSION: nvmlDeviceGetNvLinkVersion,
}
_POWER_FIELDS = {  # in mW, of the whole board: other scopes are not supported
    NVML_FI_DEV_POWER_INSTANT: nvmlDeviceGetPowerUsage,
    NVML_FI_DEV_POWER_CURRENT_LIMIT: nvmlDeviceGetEnforcedPowerLimit,
    NVML_FI_DEV_POWER_DEFAULT_LIMIT: nvmlDeviceGetPowerManagementDefaultLimit,
}


def nvmlGpmQueryDeviceSupport(device) -> "c_nvmlGpmSupport_t":
    """c_nvmlGpmSupport_t with ``isSupportedDevice`` 0: the device does not support GPM.

    Raises: NVMLError_Uninitialized, NVMLError_InvalidArgument.
    """
    _require(device)
    return c_nvmlGpmSupport_t(NVML_GPM_SUPPORT_VERSION, 0)


# ---- Units ----


def nvmlUnitGetCount() -> "int":
    """0: only NVIDIA's S-class racks have units.

    Raises: NVMLError_Uninitialized.
    """
    _require_initialized()
    return 0


# ---- Names for calls from within ----
# Programs replace public functions of the module by wrappers (gpustat does). Calls from within must not reach wrappers.

_nvmlDeviceGetCount = nvmlDeviceGetCount
_nvmlDeviceGetHandleByIndex = nvmlDeviceGetHandleByIndex
_nvmlDeviceGetHandleByUUID = nvmlDeviceGetHandleByUUID
_nvmlDeviceGetName = nvmlDeviceGetName
_nvmlDeviceGetUUID = nvmlDeviceGetUUID
_nvmlDeviceGetPowerUsage = nvmlDeviceGetPowerUsage
_nvmlDeviceGetSerial = nvmlDeviceGetSerial
_nvmlDeviceGetIndex = nvmlDeviceGetIndex
_nvmlDeviceGetPciInfo = nvmlDeviceGetPciInfo
_nvmlDeviceGetMemoryInfo = nvmlDeviceGetMemoryInfo
_nvmlDeviceGetTemperature = nvmlDeviceGetTemperature
_nvmlDeviceGetUtilizationRates = nvmlDeviceGetUtilizationRates
_nvmlDeviceGetTemperatureThreshold = nvmlDeviceGetTemperatureThreshold
_nvmlDeviceGetClockInfo = nvmlDeviceGetClockInfo
_nvmlDeviceGetMaxClockInfo = nvmlDeviceGetMaxClockInfo
_nvmlDeviceGetEccMode = nvmlDeviceGetEccMode
_nvmlDeviceGetMemoryErrorCounter = nvmlDeviceGetMemoryErrorCounter
_nvmlDeviceGetTopologyCommonAncestor = nvmlDeviceGetTopologyCommonAncestor
_nvmlDeviceGetCpuAffinity = nvmlDeviceGetCpuAffinity
_nvmlDeviceGetMigDeviceHandleByIndex = nvmlDeviceGetMigDeviceHandleByIndex
_nvmlDeviceGetGpuInstanceId = nvmlDeviceGetGpuInstanceId
_nvmlDeviceGetDeviceHandleFromMigDeviceHandle = nvmlDeviceGetDeviceHandleFromMigDeviceHandle

# ==== 15. C-style function pointers ===================================================================================
# Some programs get NVML's C functions by name and call them with C arguments. Here each C function calls the Python
# function of the same name. Its first arguments (``inputs``) are the parameters of the Python function that have no
# default. The other arguments (``outputs``) say where to store the answer. Tables at the end of this section say how,
# and hold the exceptions. Wrong arguments are InvalidArgument; any other error of Python is a bug, and is not caught.

_nvmlGetFunctionPointer_cache: "dict[str, _Any]" = {}


def _nvmlGetFunctionPointer(name):
    """Callable that takes the C arguments of an NVML function, stores its answer in them and returns NVML's code.

    Raises: NVMLError_FunctionNotFound for a name that is not a C function of NVML.
    """
    function = _nvmlGetFunctionPointer_cache.get(name)
    if function is None:
        function = _nvmlGetFunctionPointer_cache.setdefault(name, _CFunction(name, *_c_form(name)))
    return function


def _c_form(name):
    """(Python function, number of inputs, function that stores its answer, numbers of outputs) of a C function.

    Raises: NVMLError_FunctionNotFound.
    """
    function = None if name in _PYTHON_ONLY else _defined.get(_C_NAMES.get(name, name))
    if type(function) is not type(_c_form) or not name.startswith("nvml"):
        raise NVMLError(NVML_ERROR_FUNCTION_NOT_FOUND)
    inputs = function.__code__.co_argcount - len(function.__defaults__ or ())
    otherwise = (_store_value if function.__name__ in _ANSWERING else _store_refusal), _ANY
    store, outputs = _STORES.get(name) or _STORES.get(function.__name__) or otherwise
    return function, _C_INPUTS.get(name, inputs), store, outputs


class _CFunction:
    """A callable in place of NVML's C function ``name``, answered by the Python function ``facade``."""

    def __init__(self, name, facade, inputs, store, outputs):
        self.__name__ = name
        self._facade, self._inputs, self._store, self._outputs = facade, inputs, store, outputs
        self.argtypes = None
        self.restype = c_int

    def __call__(self, *arguments):
        inputs, outputs = [_by_value(argument) for argument in arguments[: self._inputs]], arguments[self._inputs :]
        try:
            as_in_c = len(inputs) == self._inputs and len(outputs) in self._outputs
            if not as_in_c and self._store is not _store_refusal:
                raise _invalid()
            return self._store(self._facade, inputs, *outputs)
        except NVMLError as error:
            return error.value
        except TypeError as error:
            if not hasattr(error, "argument"):  # not by _type_error: a bug of this module
                raise
            return NVML_ERROR_INVALID_ARGUMENT

    def __repr__(self):
        return "<C-style %s>" % self.__name__


_CArgument: "_Any" = type(byref(c_int()))


# The address that a byref holds. PyPy has no pythonapi, so it uses a cast, which takes six times as long.
_byref_address: "_Any" = lambda argument: ctypes.cast(argument, c_void_p).value  # noqa: E731
if hasattr(ctypes, "pythonapi"):
    _byref_address = ctypes.pythonapi["PyLong_FromVoidPtr"]
    _byref_address.argtypes, _byref_address.restype = [c_void_p], ctypes.py_object
_C_OBJECTS = (ctypes._SimpleCData, Structure, Union, ctypes.Array)


def _by_value(argument):
    """A C argument that is passed by value: the value of a simple ctypes object; anything else unchanged."""
    return argument.value if isinstance(argument, ctypes._SimpleCData) else argument


def _target(argument) -> "_Any":
    """The ctypes object ``x``, for the argument byref(x), pointer(x) or x.

    Raises: NVMLError_InvalidArgument for NULL, for a handle, and for byref with an offset, as the type of the data at
    that address is not known.
    """
    if type(argument) is _CArgument:
        if _byref_address(argument) != ctypes.addressof(argument._obj):
            raise _invalid()
        argument = argument._obj
    elif isinstance(argument, ctypes._Pointer) and not isinstance(argument, POINTER(struct_c_nvmlDevice_t)):
        argument = argument.contents if argument else None
    if isinstance(argument, _C_OBJECTS):
        return argument
    raise _invalid()


def _number_at(argument) -> "_Any":
    """The ctypes number that an argument refers to; it is no smaller than an unsigned int."""
    target = _target(argument)
    if not isinstance(target, ctypes._SimpleCData) or ctypes.sizeof(target) < _WORD:
        raise _invalid()
    if getattr(target, "_type_") not in "iIlLqQfdP":
        raise _invalid()
    return target


def _struct_at(argument, *fields) -> "_Any":
    """The struct with these fields that an argument refers to."""
    target = _target(argument)
    if not all(hasattr(target, field) for field in fields):
        raise _invalid()
    return target


def _versioned(handle, argument, version, *fields):
    """The struct with these fields that an argument refers to; it must say that it has that version."""
    _require(handle)
    target = _struct_at(argument, "version", *fields)
    if target.version != version:
        raise NVMLError(NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
    return target


def _cells(argument, *fields) -> "_Any":
    """The array that an argument refers to, of structs with these fields, or a pointer to its first element.

    It is None for NULL.
    """
    if argument is None or (isinstance(argument, ctypes._Pointer) and not argument):
        return None
    if not isinstance(argument, ctypes._Pointer) or issubclass(argument._type_, ctypes.Array):
        argument = _target(argument)
    if not isinstance(argument, (ctypes._Pointer, ctypes.Array)):
        raise _invalid()
    if not all(hasattr(argument._type_, field) for field in fields):
        raise _invalid()
    return argument


def _has_room(items, count, *arrays):
    """Write the number of items to ``count``, which was the size of the caller's arrays; whether the items fit."""
    cell = _number_at(count)
    room, cell.value = cell.value, len(items)
    if len(items) > (room or 0) or any(array is None for array in arrays):
        return False
    if any(isinstance(array, ctypes.Array) and len(array) < len(items) for array in arrays):
        raise _invalid()  # it is smaller than the caller says
    return True


def _put(items, array):
    """Store items in the caller's array, which must be of their type; return NVML's code."""
    try:
        for i, item in enumerate(items):
            array[i] = item
    except (TypeError, IndexError):
        raise _invalid()
    return NVML_SUCCESS


# Each function below asks the Python function with ``inputs``, stores the answer through the arguments that follow, and
# returns NVML's code.


def _store_nothing(ask, inputs):
    """Store nothing: the function has no answer besides the code."""
    ask(*inputs)
    return NVML_SUCCESS


def _store_refusal(ask, inputs, *outputs):
    """Store nothing: the function always raises. Missing arguments become 0, as C may take several in one struct."""
    return ask(*(inputs + [0] * (ask.__code__.co_argcount - len(inputs))))


def _store_value(ask, inputs, *outputs):
    """Store one or more numbers, each through its own reference."""
    answer = ask(*inputs)
    values = answer if isinstance(answer, (list, tuple)) else [answer]
    targets = [_number_at(output) for output in outputs]
    if len(values) != len(targets):
        raise _invalid()
    for target, value in zip(targets, values):
        target.value = getattr(value, "value", value)
    return NVML_SUCCESS


def _store_pointer(ask, inputs, output):
    """Store a handle (device, GPU instance, event set) through a reference to one of the same kind, or to a void *."""
    answer = ask(*inputs)
    target = output._obj if type(output) is _CArgument else output
    if isinstance(target, ctypes._Pointer) and issubclass(target._type_, ctypes._Pointer):
        target = target.contents if target else None  # pointer(handle)
    if not isinstance(target, c_void_p):
        if not isinstance(target, ctypes._Pointer) or target._type_ is not answer._type_:
            raise _invalid()
        if hasattr(target, "_address"):
            raise _invalid()  # a handle that pymtml made must not change
    ctypes.memmove(byref(target), byref(answer), ctypes.sizeof(answer))
    return NVML_SUCCESS


def _store_text(ask, inputs, buffer, length):
    """Store a text in a buffer of the given length."""
    text = ask(*inputs).encode("utf-8") + b"\0"
    buffer, length = _target(buffer), _uint(_by_value(length))
    if not isinstance(buffer, ctypes.Array) or length > ctypes.sizeof(buffer):
        raise _invalid()
    if length < len(text):
        return NVML_ERROR_INSUFFICIENT_SIZE
    ctypes.memmove(buffer, text, len(text))
    return NVML_SUCCESS


def _store_struct(ask, inputs, output):
    """Store a struct through a reference to a struct of the same layout."""
    answer = ask(*inputs)
    target = _target(output)
    if ctypes.sizeof(target) < ctypes.sizeof(answer):
        raise _invalid()
    ctypes.memmove(byref(target), byref(answer), ctypes.sizeof(answer))
    return NVML_SUCCESS


def _store_event(ask, inputs, output, timeout):
    """Wait for an event, and store it in a struct; C takes the timeout after it."""
    life, events = _event_set(inputs[0])
    target = _target(output)
    if ctypes.sizeof(target) < ctypes.sizeof(events.make_event):
        raise _invalid()  # before the wait, so that no event is lost
    answer = ask(inputs[0], _by_value(timeout))
    ctypes.memmove(byref(target), byref(answer), ctypes.sizeof(answer))
    return NVML_SUCCESS


def _store_memory_v2(ask, inputs, output):
    """Store memory information in a struct whose field ``version`` must be set."""
    _versioned(inputs[0], output, nvmlMemory_v2)
    return _store_struct(ask, inputs + [nvmlMemory_v2], output)


def _store_temperature(ask, inputs, output):
    """Store a temperature in a struct whose fields ``version`` and ``sensorType`` must be set."""
    target = _versioned(inputs[0], output, nvmlTemperature_v1, "sensorType", "temperature")
    target.temperature = ask(inputs[0], target.sensorType)
    return NVML_SUCCESS


def _store_margin(ask, inputs, output):
    """Store a temperature margin in a struct whose field ``version`` must be set."""
    target = _versioned(inputs[0], output, nvmlMarginTemperature_v1, "marginTemperature")
    target.marginTemperature = ask(*inputs)
    return NVML_SUCCESS


def _store_fan(ask, inputs, output):
    """Store the speed of a fan in a struct whose fields ``version`` and ``fan`` must be set."""
    target = _versioned(inputs[0], output, nvmlFanSpeedInfo_v1, "fan", "speed")
    target.speed = ask("mtmlDeviceGetFanRpm", _require(inputs[0]), target.fan)
    return NVML_SUCCESS


def _store_processes(ask, inputs, count, array):
    """Store processes in an array; ``count`` is the array's size before the call, the number of processes after it."""
    processes, array = ask(*inputs), _cells(array, "pid", "usedGpuMemory")
    if not _has_room(processes, count, array) and processes:
        return NVML_ERROR_INSUFFICIENT_SIZE
    for i, process in enumerate(processes):
        entry = array[i]
        entry.pid = process.pid
        memory = process.usedGpuMemory
        entry.usedGpuMemory = NVML_VALUE_NOT_AVAILABLE_ulonglong.value if memory is None else memory
        for field in ("gpuInstanceId", "computeInstanceId"):
            if hasattr(entry, field):
                setattr(entry, field, getattr(process, field))
    return NVML_SUCCESS


def _store_list(ask, inputs, count, array):
    """Store numbers, handles or structs in an array. Without an array, handles and structs are only counted."""
    items, array = ask(*inputs), _cells(array)
    if _has_room(items, count, array) or not items:
        return _put(items, array)
    counted = array is None and isinstance(items[0], (c_mtmlDevice_t, Structure))
    return NVML_SUCCESS if counted else NVML_ERROR_INSUFFICIENT_SIZE


def _store_pages(ask, inputs, count, addresses, stamps=None):  # nvidia-ml-py may pass no stamps
    """Store retired pages in an array of addresses and an array of time stamps."""
    pages, addresses, stamps = ask(*inputs), _cells(addresses), _cells(stamps)
    if not _has_room(pages, count, addresses, stamps) and pages:
        return NVML_ERROR_INSUFFICIENT_SIZE
    _put([page["address"] for page in pages], addresses)
    return _put([page["timestamp"] for page in pages], stamps)


def _store_samples(ask, inputs, array, count, since):
    """Store utilization samples in an array; the outputs are array, count, and the time after which to begin."""
    samples, array = ask(inputs[0], _by_value(since)), _cells(array)
    return _put(samples, array) if _has_room(samples, count, array) else NVML_ERROR_INSUFFICIENT_SIZE


def _store_sized_text(ask, inputs, buffer, length):
    """Store a text in a buffer whose length is passed by reference."""
    _require_initialized()
    return _store_text(ask, inputs, buffer, _number_at(length))


def _store_resolution(ask, inputs, *outputs):
    """Store width and height; the second argument, the display index, makes no difference."""
    return _store_value(ask, inputs[:1], *outputs)


def _store_affinity(ask, inputs, output):
    """Store an affinity mask in an array of the given size."""
    words, array = ask(*inputs), _cells(output)
    if array is None:
        raise _invalid()
    return _put(words, array)


def _store_affinity_in_scope(ask, inputs, array, scope):
    """Store an affinity mask; C takes the scope after the array."""
    return _store_affinity(ask, inputs + [_by_value(scope)], array)


def _store_fields(ask, inputs, output):
    """Store field values in an array of structs; their fields ``fieldId`` and ``scopeId`` say which are wanted."""
    handle, count = _require(inputs[0]), _uint(inputs[1])
    array = _cells(output, "fieldId", "scopeId")
    if array is None or not 0 < count <= min(NVML_FI_MAX, len(array) if isinstance(array, ctypes.Array) else count):
        raise _invalid()
    return _put(ask(handle, [(array[i].fieldId, array[i].scopeId) for i in range(count)]), array)


def _store_handle_by_uuid(ask, inputs, output):
    """Store the handle of the device whose UUID a struct holds."""
    _require_initialized()
    uuid = _struct_at(inputs[0], "type", "value")
    text = bytes(uuid.value.bytes) if uuid.type == NVML_UUID_TYPE_BINARY else uuid.value.str
    return _store_pointer(ask, [text, uuid.type], output)


def _store_profile_info(ask, inputs, output):
    """Store an MPC profile in a struct whose field ``version`` must be set."""
    _require(inputs[0])
    _struct_at(output, "version")
    answer = ask(*inputs)
    _versioned(inputs[0], output, answer.version)
    return _store_struct(lambda: answer, [], output)


def _store_profile_info_v1(ask, inputs, output):
    """Store an MPC profile in a struct without a version."""
    return _store_struct(ask, inputs + [1], output)


def _store_shares(ask, inputs, output):
    """Store utilization samples in a struct with an array, its count, and the time after which to begin."""
    device = _require(inputs[0])
    target = _struct_at(output, "lastSeenTimeStamp", "processSamplesCount", "procUtilArray")
    samples = ask(device, target.lastSeenTimeStamp)
    room, array = target.processSamplesCount, target.procUtilArray
    target.processSamplesCount = len(samples)
    return _put(samples, array) if len(samples) <= room and array else NVML_ERROR_INSUFFICIENT_SIZE


def _store_vgpu_shares(ask, inputs, kind, count, array):
    """Store utilization samples of vGPUs in an array; the outputs are the type of the values, count and array."""
    code = _store_samples(ask, inputs[:1], array, count, inputs[1])
    _number_at(kind).value = NVML_VALUE_TYPE_UNSIGNED_INT
    return code


def _return_text(ask, inputs, *outputs):
    """Return the text itself, not a code: the C function has no outputs."""
    return ask(*inputs).encode("utf-8")


# All functions up to here answer, those of Part III refuse. An answer is a number or several numbers, but for these:
# the function that stores it, and how many outputs that function takes.
_ANSWERING = frozenset(globals())
_ANY = range(1 << 8)
_STORES: "_Any" = (
    (
        _store_nothing,
        (0,),
        "nvmlInit nvmlInitWithFlags nvmlShutdown nvmlDeviceGetPciInfoExt nvmlDeviceGetThermalSettings"
        " nvmlDeviceSetEccMode nvmlDeviceClearEccErrorCounts nvmlDeviceSetCpuAffinity nvmlDeviceClearCpuAffinity"
        " nvmlDeviceGetGpuInstances nvmlEventSetFree nvmlDeviceRegisterEvents",
    ),
    (
        _store_struct,
        (1,),
        "nvmlDeviceGetPciInfo nvmlDeviceGetMemoryInfo nvmlDeviceGetUtilizationRates nvmlDeviceGetDynamicPstatesInfo"
        " nvmlDeviceGetNvLinkRemotePciInfo nvmlDeviceGetAttributes_v2 nvmlGpuInstanceGetInfo nvmlGpmQueryDeviceSupport",
    ),
    (
        _store_text,
        (2,),
        "nvmlSystemGetDriverVersion nvmlSystemGetNVMLVersion nvmlDeviceGetName nvmlDeviceGetUUID nvmlDeviceGetSerial"
        " nvmlDeviceGetVbiosVersion nvmlVgpuInstanceGetUUID nvmlSystemGetProcessName",
    ),
    (
        _store_processes,
        (2,),
        "nvmlDeviceGetComputeRunningProcesses nvmlDeviceGetGraphicsRunningProcesses"
        " nvmlDeviceGetMPSComputeRunningProcesses",
    ),
    (
        _store_list,
        (2,),
        "nvmlSystemGetHicVersion nvmlDeviceGetEncoderSessions nvmlDeviceGetRetiredPages"
        " nvmlDeviceGetTopologyNearestGpus nvmlSystemGetTopologyGpuSet nvmlDeviceGetSupportedVgpus"
        " nvmlDeviceGetCreatableVgpus nvmlDeviceGetActiveVgpus",
    ),
    (
        _store_pointer,
        (1,),
        "nvmlDeviceGetHandleByIndex nvmlDeviceGetHandleByUUID nvmlDeviceGetHandleBySerial nvmlDeviceGetHandleByPciBusId"
        " nvmlDeviceGetMigDeviceHandleByIndex nvmlDeviceGetDeviceHandleFromMigDeviceHandle"
        " nvmlDeviceGetGpuInstanceById nvmlEventSetCreate",
    ),
    (_store_affinity_in_scope, (2,), "nvmlDeviceGetCpuAffinityWithinScope nvmlDeviceGetMemoryAffinity"),
    (_store_profile_info, (1,), "nvmlDeviceGetGpuInstanceProfileInfoV nvmlDeviceGetGpuInstanceProfileInfoByIdV"),
    (_store_profile_info_v1, (1,), "nvmlDeviceGetGpuInstanceProfileInfo"),
    (_return_text, _ANY, "nvmlErrorString"),
    (_store_handle_by_uuid, (1,), "nvmlDeviceGetHandleByUUIDV"),
    (_store_event, (2,), "nvmlEventSetWait_v2"),
    (_store_memory_v2, (1,), "nvmlDeviceGetMemoryInfo_v2"),
    (_store_temperature, (1,), "nvmlDeviceGetTemperatureV"),
    (_store_margin, (1,), "nvmlDeviceGetMarginTemperature"),
    (_store_fan, (1,), "nvmlDeviceGetFanSpeedRPM"),
    (_store_pages, (2, 3), "nvmlDeviceGetRetiredPages_v2"),
    (_store_affinity, (1,), "nvmlDeviceGetCpuAffinity"),
    (_store_sized_text, (2,), "nvmlVgpuTypeGetName"),
    (_store_resolution, _ANY, "nvmlVgpuTypeGetResolution"),
    (_store_vgpu_shares, (3,), "nvmlDeviceGetVgpuUtilization"),
    (_store_samples, (3,), "nvmlDeviceGetProcessUtilization"),
    (_store_shares, (1,), "nvmlDeviceGetProcessesUtilizationInfo"),
    (_store_fields, (1,), "nvmlDeviceGetFieldValues"),
)
_STORES = {name: (store, outputs) for store, outputs, names in _STORES for name in names.split()}

# C functions whose Python function has another name.
_C_NAMES = {
    "nvmlInit_v2": "nvmlInit",
    "nvmlDeviceGetMemoryInfo_v2": "nvmlDeviceGetMemoryInfo",
    "nvmlDeviceGetFanSpeedRPM": "_fan_number",
    "nvmlDeviceGetCount_v2": "nvmlDeviceGetCount",
    "nvmlDeviceGetHandleByIndex_v2": "nvmlDeviceGetHandleByIndex",
    "nvmlDeviceGetHandleByPciBusId_v2": "nvmlDeviceGetHandleByPciBusId",
    "nvmlDeviceGetNvLinkRemotePciInfo_v2": "nvmlDeviceGetNvLinkRemotePciInfo",
    "nvmlDeviceGetGpuInstancePossiblePlacements_v2": "nvmlDeviceGetGpuInstancePossiblePlacements",
}

# Python functions without a C function of the same name.
_PYTHON_ONLY = frozenset("""
    nvmlDeviceGetC2cModeInfoV1 nvmlDeviceGetCurrentDramEncryptionMode nvmlDeviceGetCurrentDriverModel
    nvmlDeviceGetCurrentEccMode nvmlDeviceGetCurrentGpuOperationMode nvmlDeviceGetDriverModel_v1
    nvmlDeviceGetGpuInstanceProfileInfoById nvmlDeviceGetHandleByUuid nvmlDeviceGetPendingDramEncryptionMode
    nvmlDeviceGetPendingDriverModel nvmlDeviceGetPendingEccMode nvmlDeviceGetPendingGpuOperationMode
    nvmlDeviceGetTemperatureV1 nvmlExceptionClass nvmlFriendlyObjectToStruct nvmlStructToFriendlyObject
    nvmlUnitGetDeviceCount
    """.split())

# C functions whose number of inputs is not that of the parameters without a default.
_C_INPUTS = {
    "nvmlDeviceGetHandleByUUIDV": 1,
    "nvmlDeviceGetTemperatureV": 1,
    "nvmlDeviceGetThermalSettings": 3,
    "nvmlDeviceGetFanSpeedRPM": 1,
    "nvmlDeviceGetCpuAffinityWithinScope": 2,
    "nvmlDeviceGetMemoryAffinity": 2,
    "nvmlVgpuTypeGetResolution": 2,
    "nvmlDeviceGetProcessUtilization": 1,
    "nvmlDeviceGetProcessesUtilizationInfo": 1,
    "nvmlEventSetWait": 1,
    "nvmlEventSetWait_v2": 1,
}

# ==== 16. Framework hooks =============================================================================================


# torch detects a build with CUDA by these names. They are never added, so torch.cuda.is_available() does not change.
_CUDA_BUILD_MARKS = frozenset(("_cuda_getDeviceCount", "_has_cuda"))


def patch_torch_c_for_musa() -> "list[str]":
    """Add to torch._C the attributes that only torch_musa._MUSAC has; return the names that were added (list of str).

    Each attribute is added under its own name. An attribute ``_musa_*`` is also added as ``_cuda_*``. Names by which
    torch detects a build with CUDA are not added. No attribute is replaced, and torch.cuda is not changed. Without
    torch_musa nothing happens.
    """
    source = getattr(_import_torch_musa(), "_MUSAC", None)
    target = getattr(sys.modules.get("torch"), "_C", None)
    if source is None or target is None:
        return []
    added = []
    for name in dir(source):
        if name.startswith("__"):
            continue
        for alias in (name, name.replace("_musa_", "_cuda_", 1)) if name.startswith("_musa_") else (name,):
            if not hasattr(target, alias) and alias not in _CUDA_BUILD_MARKS:
                setattr(target, alias, getattr(source, name))
                added.append(alias)
    return added


def _import_torch_musa():
    """The torch_musa package, None if it is not installed or its import fails."""
    try:
        import torch_musa  # type: ignore[import]
    except Exception:  # the import of a native package may raise anything
        return None
    return torch_musa


def musa_visible_ids() -> "list[int | tuple[int, int]]":
    """What MUSA_VISIBLE_DEVICES selects, in the order of the MUSA runtime and torch_musa: indices of cards (list).

    The index of a card is an int, as in nvmlDeviceGetHandleByIndex, even if MPC divides cards. An MPC instance is
    (index of its card, its index within the card), as in nvmlDeviceGetMigDeviceHandleByIndex. The variable holds
    indices of cards, and UUIDs of cards or instances, separated by commas. A UUID may have a prefix. If the variable is
    not set, or is "all", all cards are selected; if it is empty or "NoDevFiles", none is. An entry that names no
    device, or a device named before, ends the list. A lost card keeps its place.

    Cards are opened only to find a UUID. So if MPC divides cards, call nvmlDeviceGetCount first, which looks at all
    of them once: until then each instance also counts as a card.

    Raises: NVMLError_Uninitialized; the error of a card that cannot be queried if an entry is a UUID that no other
    device has.
    MTML: mtmlLibraryCountDevice; for UUIDs mtmlLibraryInitDeviceByUuid, mtmlDeviceGetIndex, mtmlDeviceGetProperty,
    mtmlLibraryInitDeviceByIndex, mtmlDeviceGetMpcParentDevice, mtmlDeviceGetMpcInstanceIndex.
    """
    cards, devices = _require_initialized().cards, _device_count()
    count, chosen = cards.counts.get(devices, devices), os.environ.get("MUSA_VISIBLE_DEVICES")
    if chosen is None or chosen.strip().lower() == "all":
        return list(range(count))
    ids: "list[_Any]" = []
    for entry in map(str.strip, chosen.split(",")):
        if entry.isdecimal() and len(entry) <= _DIGITS_MAX:
            selected: "_Any" = int(entry) if int(entry) < count else None
        else:
            selected = None if entry in ("", "NoDevFiles") else _id_by_uuid(entry, devices)
        if selected is None or selected in ids:
            break
        ids.append(selected)
    return ids


_musa_visible_ids = musa_visible_ids


def _id_by_uuid(uuid, devices):
    """What a UUID in MUSA_VISIBLE_DEVICES selects: as _visible_id; None for no device.

    Raises: if one of MTML's ``devices`` does not answer and may be the one that is sought, its error.
    """
    try:
        return _visible_id(_nvmlDeviceGetHandleByUUID(uuid))
    except NVMLError_NotFound:
        cell = _Pointer()
        for position in range(devices):
            _nvml_check(_library_status("mtmlLibraryInitDeviceByIndex", position, cell))
            _nvmlDeviceGetUUID(_device_from(_nvml_check, cell[0]))
        return None


def _visible_id(device):
    """The index of a card, or for an instance (index of its card, its index within the card).

    A device before it that cannot be queried counts as a card.
    """
    status, mpc_type = _mpc_type(device)
    _nvml_check(status)
    if mpc_type == MTML_MPC_TYPE_INSTANCE:
        return _visible_id(_nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device)), _nvmlDeviceGetGpuInstanceId(device)
    position = _query(_UInt(), "mtmlDeviceGetIndex", "_device", device)[0]
    return len(_likely_cards(_require_initialized().cards, min(position, _DEVICES_MAX))[0])


def musa_visible_devices() -> "list[c_mtmlDevice_t]":
    """Handles of the devices of musa_visible_ids, in the same order (list).

    So the position in the list is the index in the MUSA runtime and torch_musa. All other functions number the cards as
    MTML does.

    Raises: NVMLError_Uninitialized; the error of a selected card that is lost.
    MTML: as musa_visible_ids; mtmlLibraryInitDeviceByIndex, mtmlDeviceGetMpcInstanceByIndex.
    """
    devices = []
    for selected in _musa_visible_ids():
        if isinstance(selected, tuple):
            card, index = selected
            devices.append(_nvmlDeviceGetMigDeviceHandleByIndex(_nvmlDeviceGetHandleByIndex(card), index))
            continue
        try:
            devices.append(_nvmlDeviceGetHandleByIndex(selected))
        except NVMLError_InvalidArgument:
            cards, _ = _likely_cards(_require_initialized().cards, _device_count())
            if selected < len(cards):
                raise
            break  # an instance that musa_visible_ids took for a card: the list ends, as with any other wrong index
    return devices


def _torch_capability(device):
    """(major, minor) of a device from torch_musa; None if torch_musa is not imported, hides the device or fails."""
    get_capability = getattr(sys.modules.get("torch_musa"), "get_device_capability", None)
    if get_capability is None:
        return None
    visible, this = _musa_visible_ids(), _visible_id(device)
    if this not in visible:
        return None
    try:
        major, minor = get_capability(visible.index(this))
        return (int(major), int(minor)) if int(major) > 0 else None
    except Exception:  # foreign code, which may initialize hardware and raise anything
        return None


# ======================================================================================================================
# ==== Part III: generated =============================================================================================
# ======================================================================================================================

# ==== 17. The rest of nvidia-ml-py's public names =====================================================================
# tools/generate_catalogue.py writes what is between the markers; do not edit that by hand. The module's __getattr__
# makes a struct class from the table when a program first uses it.


def _catalogue_type(expression):
    """The ctypes type for `T`, `T * n` or `POINTER(T)` in a description of the catalog."""
    if expression.startswith("POINTER("):
        return POINTER(_catalogue_type(expression[8:-1]))
    item, _, count = expression.partition(" * ")
    if count:
        return _catalogue_type(item) * int(count)
    return globals()[item] if item in globals() else _catalogue_struct(item)


def _catalogue_struct(name) -> "_Any":
    """Make the type that `_CATALOGUE_STRUCTS[name]` describes and bind it here; all callers get the same one.

    There is no lock: two threads may make the same type at once. `setdefault` keeps one of them, also if it is nested.
    """
    base, _, rest = _CATALOGUE_STRUCTS[name].partition("(")
    if base not in ("_PrintableStructure", "Structure", "Union"):
        return globals().setdefault(name, _catalogue_type(_CATALOGUE_STRUCTS[name]))
    base = globals()[base]
    fields, initial = [], {}
    for declaration in filter(None, rest[:-1].split(", ")):
        field, _, expression = declaration.partition(": ")
        expression, _, value = expression.partition(" = ")
        expression, _, bits = expression.partition(" : ")
        fields.append((field, _catalogue_type(expression)) + ((int(bits),) if bits else ()))
        if value:
            initial[field] = int(value, 0)
    namespace: "dict[str, object]" = {"__module__": __name__}  # PyPy would take that of its own ctypes
    if fields:
        namespace["_fields_"] = fields
    if name in _CATALOGUE_FORMATS:
        namespace["_fmt_"] = _CATALOGUE_FORMATS[name]
    if initial or name in _CATALOGUE_PARAMETERS:
        namespace["__init__"] = _catalogue_init(base, initial, _CATALOGUE_PARAMETERS.get(name, {}))
    return globals().setdefault(name, type(base)(name, (base,), namespace))


def _catalogue_init(base, initial, parameters):
    """An `__init__` that first sets the `initial` fields and also takes nvidia-ml-py's parameter names."""

    def __init__(self, *args, **kwargs):
        base.__init__(self, **initial)
        base.__init__(self, *args, **{parameters.get(name, name): value for name, value in kwargs.items()})

    return __init__


# BEGIN generated NVML catalogue
# Written by tools/generate_catalogue.py; edit that file, or define a name above the markers.

# ---- Types of enums ----

_nvmlAdaptiveClockInfoStatus_t = c_uint
_nvmlAffinityScope_t = c_uint
_nvmlBrandType_t = c_uint
_nvmlBridgeChipType_t = c_uint
_nvmlBusType_t = c_uint
_nvmlClockId_t = c_uint
_nvmlClockLimitId_t = c_uint
_nvmlClockType_t = c_uint
_nvmlComputeMode_t = c_uint
_nvmlConfComputeCcFeature_t = c_uint
_nvmlConfComputeCcKeyRotationThreshAttackerAdv_t = c_uint
_nvmlConfComputeCpuCaps_t = c_uint
_nvmlConfComputeDevToolsMode_t = c_uint
_nvmlConfComputeGpuCaps_t = c_uint
_nvmlConfComputeGpusReadyState_t = c_uint
_nvmlCoolerControl_t = c_uint
_nvmlCoolerTarget_t = c_uint
_nvmlDetachGpuState_t = c_uint
_nvmlDeviceArchitecture_t = c_uint
_nvmlDeviceGpuRecoveryAction_t = c_uint
_nvmlDeviceVgpuCapability_t = c_uint
_nvmlDriverModel_t = c_uint
_nvmlEccBitType_t = c_uint
_nvmlEccCounterType_t = c_uint
_nvmlEnableState_t = c_uint
_nvmlEncoderQueryType_t = c_uint
_nvmlEventDataType_t = c_uint
_nvmlFBCSessionType_t = c_uint
_nvmlFanControlPolicy_t = c_uint
_nvmlFanState_t = c_uint
_nvmlGpuFabricState_t = c_uint
_nvmlGpuOperationMode_t = c_uint
_nvmlGpuOperationalEventContextType_t = c_uint
_nvmlGpuOperationalEventLogLevel_t = c_uint
_nvmlGpuP2PCapsIndex_t = c_uint
_nvmlGpuP2PStatus_t = c_uint
_nvmlGpuTopologyLevel_t = c_uint
_nvmlGridLicenseExpiryStatus_t = c_ubyte
_nvmlGridLicenseFeatureCode_t = c_uint
_nvmlHostVgpuMode_t = c_uint
_nvmlInforomObject_t = c_uint
_nvmlLedColor_t = c_uint
_nvmlMemoryErrorType_t = c_uint
_nvmlMemoryLocation_t = c_uint
_nvmlNvLinkCapability_t = c_uint
_nvmlNvLinkDeviceType_t = c_uint
_nvmlNvLinkEccLaneErrorCounter_t = c_uint
_nvmlNvLinkErrorCounter_t = c_uint
_nvmlNvLinkUtilizationCountPktTypes_t = c_uint
_nvmlNvLinkUtilizationCountUnits_t = c_uint
_nvmlNvlinkVersion_t = c_uint
_nvmlOperationalEventSeverity_t = c_uint
_nvmlPageRetirementCause_t = c_uint
_nvmlPcieAtomicsCapability_t = c_uint
_nvmlPcieLinkMaxSpeed_t = c_uint
_nvmlPcieLinkState_t = c_uint
_nvmlPcieUtilCounter_t = c_uint
_nvmlPerfPolicyType_t = c_uint
_nvmlPowerMizerMode_t = c_uint
_nvmlPowerScopeType_t = c_uint
_nvmlPowerSource_t = c_uint
_nvmlProcessMode_t = c_uint
_nvmlPstates_t = c_uint
_nvmlRestrictedAPI_t = c_uint
_nvmlReturn_t = c_uint
_nvmlSamplingType_t = c_uint
_nvmlTemperatureSensors_t = c_uint
_nvmlTemperatureThresholds_t = c_uint
_nvmlValueType_t = c_uint
_nvmlVgpuCapability_t = c_uint
_nvmlVgpuDriverCapability_t = c_uint
_nvmlVgpuGuestInfoState_t = c_uint
_nvmlVgpuInstance_t = c_uint
_nvmlVgpuPgpuCompatibilityLimitCode_t = c_uint
_nvmlVgpuTypeId_t = c_uint
_nvmlVgpuVmCompatibility_t = c_uint
_nvmlVgpuVmIdType_t = c_uint

# ---- Constants ----

# NVML_BRAND*
NVML_BRAND_UNKNOWN = 0
NVML_BRAND_QUADRO = 1
NVML_BRAND_TESLA = 2
NVML_BRAND_NVS = 3
NVML_BRAND_GRID = 4
NVML_BRAND_GEFORCE = 5
NVML_BRAND_TITAN = 6
NVML_BRAND_QUADRO_RTX = 12
NVML_BRAND_GEFORCE_RTX = 15
NVML_BRAND_TITAN_RTX = 16
NVML_BRAND_COUNT = 20

# NVML_BRAND_NVIDIA*
NVML_BRAND_NVIDIA = 14
NVML_BRAND_NVIDIA_CLOUD_GAMING = 11
NVML_BRAND_NVIDIA_DLA = 17
NVML_BRAND_NVIDIA_NPU = 19
NVML_BRAND_NVIDIA_RTX = 13
NVML_BRAND_NVIDIA_VAPPS = 7
NVML_BRAND_NVIDIA_VCS = 9
NVML_BRAND_NVIDIA_VGAMEDEV = 18
NVML_BRAND_NVIDIA_VGAMING = 11
NVML_BRAND_NVIDIA_VPC = 8
NVML_BRAND_NVIDIA_VWS = 10

# NVML_BUS_TYPE*
NVML_BUS_TYPE_UNKNOWN = 0
NVML_BUS_TYPE_PCI = 1
NVML_BUS_TYPE_PCIE = 2
NVML_BUS_TYPE_FPCI = 3
NVML_BUS_TYPE_AGP = 4

# NVML_CC*
NVML_CC_ACCEPTING_CLIENT_REQUESTS_FALSE = 0
NVML_CC_ACCEPTING_CLIENT_REQUESTS_TRUE = 1
NVML_CC_CEC_ATTESTATION_REPORT_NOT_PRESENT = 0
NVML_CC_CEC_ATTESTATION_REPORT_PRESENT = 1
NVML_CC_KEY_ROTATION_THRESH_ATTACKER_ADVANTAGE_MAX = 65
NVML_CC_KEY_ROTATION_THRESH_ATTACKER_ADVANTAGE_MIN = 50

# NVML_CC_GPU*
NVML_CC_GPU_CEC_NONCE_SIZE = 32
NVML_CC_GPU_CEC_ATTESTATION_REPORT_SIZE = 4096
NVML_CC_GPU_ATTESTATION_REPORT_SIZE = 8192

# NVML_CC_SYSTEM*
NVML_CC_SYSTEM_CPU_CAPS_AMD_SEV = 1
NVML_CC_SYSTEM_CPU_CAPS_AMD_SEV_SNP = 3
NVML_CC_SYSTEM_CPU_CAPS_AMD_SNP_VTOM = 4
NVML_CC_SYSTEM_CPU_CAPS_INTEL_TDX = 2
NVML_CC_SYSTEM_CPU_CAPS_NONE = 0
NVML_CC_SYSTEM_DEVTOOLS_MODE_OFF = 0
NVML_CC_SYSTEM_DEVTOOLS_MODE_ON = 1
NVML_CC_SYSTEM_ENVIRONMENT_PROD = 2
NVML_CC_SYSTEM_ENVIRONMENT_SIM = 1
NVML_CC_SYSTEM_ENVIRONMENT_UNAVAILABLE = 0
NVML_CC_SYSTEM_FEATURE_DISABLED = 0
NVML_CC_SYSTEM_FEATURE_ENABLED = 1
NVML_CC_SYSTEM_GPUS_CC_CAPABLE = 1
NVML_CC_SYSTEM_GPUS_CC_NOT_CAPABLE = 0
NVML_CC_SYSTEM_MULTIGPU_NONE = 0
NVML_CC_SYSTEM_MULTIGPU_NVLE = 2
NVML_CC_SYSTEM_MULTIGPU_PROTECTED_PCIE = 1

# NVML_CLOCK*
NVML_CLOCK_COUNT = 4

# NVML_CLOCK_ID*
NVML_CLOCK_ID_CURRENT = 0
NVML_CLOCK_ID_APP_CLOCK_TARGET = 1
NVML_CLOCK_ID_APP_CLOCK_DEFAULT = 2
NVML_CLOCK_ID_CUSTOMER_BOOST_MAX = 3
NVML_CLOCK_ID_COUNT = 4

# NVML_CLOCK_LIMIT*
NVML_CLOCK_LIMIT_ID_RANGE_START = 0xFFFFFF00
NVML_CLOCK_LIMIT_ID_TDP = 0xFFFFFF01
NVML_CLOCK_LIMIT_ID_UNLIMITED = 0xFFFFFF02

# NVML_COMPUTEMODE*
NVML_COMPUTEMODE_DEFAULT = 0
NVML_COMPUTEMODE_EXCLUSIVE_THREAD = 1
NVML_COMPUTEMODE_PROHIBITED = 2
NVML_COMPUTEMODE_EXCLUSIVE_PROCESS = 3
NVML_COMPUTEMODE_COUNT = 4

# NVML_COMPUTE_INSTANCE*
NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT = 1
NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED = 0
NVML_COMPUTE_INSTANCE_ID_ANY = 0xFFFFFFFF
NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE = 0
NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1 = 7
NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE = 1
NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE = 2
NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE = 3
NVML_COMPUTE_INSTANCE_PROFILE_6_SLICE = 6
NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE = 4
NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE_NVL = 8
NVML_COMPUTE_INSTANCE_PROFILE_8_SLICE = 5
NVML_COMPUTE_INSTANCE_PROFILE_COUNT = 9

# NVML_DEVICE*
NVML_DEVICE_GPU_FRU_PART_NUMBER_BUFFER_SIZE = 20
NVML_DEVICE_GPU_PART_NUMBER_BUFFER_SIZE = 80
NVML_DEVICE_HOSTNAME_BUFFER_SIZE = 64
NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE = 16
NVML_DEVICE_MEMORY_LIMIT_MAX = 0xFFFFFFFFFFFFFFFF
NVML_DEVICE_MIG_DISABLE = 0
NVML_DEVICE_MIG_ENABLE = 1
NVML_DEVICE_NAME_BUFFER_SIZE = 64
NVML_DEVICE_NAME_V2_BUFFER_SIZE = 96
NVML_DEVICE_PART_NUMBER_BUFFER_SIZE = 80
NVML_DEVICE_SERIAL_BUFFER_SIZE = 30
NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE = 32

# NVML_DEVICE_ADDRESSING*
NVML_DEVICE_ADDRESSING_MODE_NONE = 0
NVML_DEVICE_ADDRESSING_MODE_HMM = 1
NVML_DEVICE_ADDRESSING_MODE_ATS = 2

# NVML_DEVICE_ARCH*
NVML_DEVICE_ARCH_KEPLER = 2
NVML_DEVICE_ARCH_MAXWELL = 3
NVML_DEVICE_ARCH_PASCAL = 4
NVML_DEVICE_ARCH_VOLTA = 5
NVML_DEVICE_ARCH_TURING = 6
NVML_DEVICE_ARCH_AMPERE = 7
NVML_DEVICE_ARCH_ADA = 8
NVML_DEVICE_ARCH_HOPPER = 9
NVML_DEVICE_ARCH_BLACKWELL = 10
NVML_DEVICE_ARCH_DLA = 11
NVML_DEVICE_ARCH_DLA2 = 12
NVML_DEVICE_ARCH_RUBIN = 13
NVML_DEVICE_ARCH_NPU3 = 15
NVML_DEVICE_ARCH_UNKNOWN = 0xFFFFFFFF

# NVML_DEVICE_PCI*
NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE = 32
NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE = 16
NVML_DEVICE_PCI_BUS_ID_FMT = "%08X:%02X:%02X.0"
NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT = "%04X:%02X:%02X.0"

# NVML_DEVICE_UUID*
NVML_DEVICE_UUID_BINARY_LEN = 16
NVML_DEVICE_UUID_ASCII_LEN = 41
NVML_DEVICE_UUID_BUFFER_SIZE = 80
NVML_DEVICE_UUID_V2_BUFFER_SIZE = 96

# NVML_DEVICE_VGPU*
NVML_DEVICE_VGPU_CAP_FRACTIONAL_MULTI_VGPU = 0
NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_PROFILES = 1
NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_SIZES = 2
NVML_DEVICE_VGPU_CAP_READ_DEVICE_BUFFER_BW = 3
NVML_DEVICE_VGPU_CAP_WRITE_DEVICE_BUFFER_BW = 4
NVML_DEVICE_VGPU_CAP_DEVICE_STREAMING = 5
NVML_DEVICE_VGPU_CAP_MINI_QUARTER_GPU = 6
NVML_DEVICE_VGPU_CAP_COMPUTE_MEDIA_ENGINE_GPU = 7
NVML_DEVICE_VGPU_CAP_WARM_UPDATE = 8
NVML_DEVICE_VGPU_CAP_HOMOGENEOUS_PLACEMENTS = 9
NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_SUPPORTED = 10
NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_ENABLED = 11
NVML_DEVICE_VGPU_CAP_COUNT = 12

# NVML_DRIVER*
NVML_DRIVER_WDDM = 0
NVML_DRIVER_WDM = 1
NVML_DRIVER_MCDM = 2

# NVML_FAN*
NVML_FAN_FAILED = 1
NVML_FAN_NORMAL = 0
NVML_FAN_POLICY_MANUAL = 1
NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW = 0

# NVML_FBC_SESSION*
NVML_FBC_SESSION_TYPE_UNKNOWN = 0
NVML_FBC_SESSION_TYPE_TOSYS = 1
NVML_FBC_SESSION_TYPE_CUDA = 2
NVML_FBC_SESSION_TYPE_VID = 3
NVML_FBC_SESSION_TYPE_HWENC = 4

# NVML_FI*
NVML_FI_MAX = 308

# NVML_FI_DEV*
NVML_FI_DEV_ACTIVE_BANK_REMAPPINGS = 303
NVML_FI_DEV_BANK_REMAPPER_HISTOGRAM_MAX = 305
NVML_FI_DEV_BANK_REMAPPER_HISTOGRAM_NONE = 306
NVML_FI_DEV_C2C_LINK_COUNT = 170
NVML_FI_DEV_C2C_LINK_ERROR_INTR = 231
NVML_FI_DEV_C2C_LINK_ERROR_REPLAY = 232
NVML_FI_DEV_C2C_LINK_ERROR_REPLAY_B2B = 233
NVML_FI_DEV_C2C_LINK_GET_MAX_BW = 172
NVML_FI_DEV_C2C_LINK_GET_STATUS = 171
NVML_FI_DEV_C2C_LINK_POWER_STATE = 234
NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN = 271
NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN = 270
NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP = 74
NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN = 269
NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST = 76
NVML_FI_DEV_DRAIN_AND_RESET_STATUS = 227
NVML_FI_DEV_ECC_DBE_AGG_CBU = 28
NVML_FI_DEV_ECC_DBE_AGG_L1 = 19
NVML_FI_DEV_ECC_DBE_AGG_L2 = 21
NVML_FI_DEV_ECC_DBE_AGG_REG = 25
NVML_FI_DEV_ECC_DBE_AGG_TEX = 27
NVML_FI_DEV_ECC_DBE_VOL_CBU = 17
NVML_FI_DEV_ECC_DBE_VOL_L1 = 8
NVML_FI_DEV_ECC_DBE_VOL_L2 = 10
NVML_FI_DEV_ECC_DBE_VOL_REG = 14
NVML_FI_DEV_ECC_DBE_VOL_TEX = 16
NVML_FI_DEV_ECC_SBE_AGG_L1 = 18
NVML_FI_DEV_ECC_SBE_AGG_L2 = 20
NVML_FI_DEV_ECC_SBE_AGG_REG = 24
NVML_FI_DEV_ECC_SBE_AGG_TEX = 26
NVML_FI_DEV_ECC_SBE_VOL_L1 = 7
NVML_FI_DEV_ECC_SBE_VOL_L2 = 9
NVML_FI_DEV_ECC_SBE_VOL_REG = 13
NVML_FI_DEV_ECC_SBE_VOL_TEX = 15
NVML_FI_DEV_EDPP_MULTIPLIER = 274
NVML_FI_DEV_ENERGY = 191
NVML_FI_DEV_GET_GPU_RECOVERY_ACTION = 230
NVML_FI_DEV_INACTIVE_BANK_REMAPPINGS = 304
NVML_FI_DEV_IS_MIG_MODE_INDEPENDENT_MIG_QUERY_CAPABLE = 199
NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED = 184
NVML_FI_DEV_MCLK_MIN_SWITCH_INTERVAL_MILLISECONDS = 299
NVML_FI_DEV_MCLK_SWITCH_TYPE = 298
NVML_FI_DEV_MEMORY_TEMP = 82
NVML_FI_DEV_MMA_STALL_PERCENT = 297
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L0 = 60
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L1 = 61
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L10 = 124
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L11 = 125
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L2 = 62
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L3 = 63
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L4 = 64
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L5 = 65
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L6 = 120
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L7 = 121
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L8 = 122
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L9 = 123
NVML_FI_DEV_NVLINK_BANDWIDTH_C0_TOTAL = 66
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L0 = 67
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L1 = 68
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L10 = 130
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L11 = 131
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L2 = 69
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L3 = 70
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L4 = 71
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L5 = 72
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L6 = 126
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L7 = 127
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L8 = 128
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L9 = 129
NVML_FI_DEV_NVLINK_BANDWIDTH_C1_TOTAL = 73
NVML_FI_DEV_NVLINK_COUNT_BUFFER_OVERRUN_ERRORS = 207
NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER = 220
NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS = 219
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_0 = 235
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_1 = 236
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_10 = 245
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_11 = 246
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_12 = 247
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_13 = 248
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_14 = 249
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_15 = 250
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_2 = 237
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_3 = 238
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_4 = 239
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_5 = 240
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_6 = 241
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_7 = 242
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_8 = 243
NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_9 = 244
NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS = 215
NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS = 214
NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS = 213
NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS = 211
NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS = 206
NVML_FI_DEV_NVLINK_COUNT_RAW_BER = 218
NVML_FI_DEV_NVLINK_COUNT_RAW_BER_LANE0 = 216
NVML_FI_DEV_NVLINK_COUNT_RAW_BER_LANE0_V2 = 291
NVML_FI_DEV_NVLINK_COUNT_RAW_BER_LANE1 = 217
NVML_FI_DEV_NVLINK_COUNT_RAW_BER_LANE1_V2 = 292
NVML_FI_DEV_NVLINK_COUNT_RAW_BER_V2 = 293
NVML_FI_DEV_NVLINK_COUNT_RAW_ERRORS_LANE0 = 289
NVML_FI_DEV_NVLINK_COUNT_RAW_ERRORS_LANE1 = 290
NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES = 204
NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS = 208
NVML_FI_DEV_NVLINK_COUNT_RCV_GENERAL_ERRORS = 210
NVML_FI_DEV_NVLINK_COUNT_RCV_PACKETS = 203
NVML_FI_DEV_NVLINK_COUNT_RCV_REMOTE_ERRORS = 209
NVML_FI_DEV_NVLINK_COUNT_SYMBOL_BER = 222
NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS = 221
NVML_FI_DEV_NVLINK_COUNT_VL15_DROPPED = 205
NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES = 202
NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS = 212
NVML_FI_DEV_NVLINK_COUNT_XMIT_PACKETS = 201
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L0 = 39
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L1 = 40
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L10 = 106
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L11 = 107
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L2 = 41
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L3 = 42
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L4 = 43
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L5 = 44
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L6 = 102
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L7 = 103
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L8 = 104
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L9 = 105
NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL = 45
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L0 = 32
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L1 = 33
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L10 = 100
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L11 = 101
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L2 = 34
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L3 = 35
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L4 = 36
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L5 = 37
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L6 = 96
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L7 = 97
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L8 = 98
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L9 = 99
NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL = 38
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L0 = 148
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L1 = 149
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L10 = 158
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L11 = 159
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L2 = 150
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L3 = 151
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L4 = 152
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L5 = 153
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L6 = 154
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L7 = 155
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L8 = 156
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L9 = 157
NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL = 160
NVML_FI_DEV_NVLINK_ERROR_DL_CRC = 163
NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY = 162
NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY = 161
NVML_FI_DEV_NVLINK_GET_DATA_RATE = 296
NVML_FI_DEV_NVLINK_GET_POWER_STATE = 167
NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD = 168
NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD_MAX = 200
NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD_MIN = 223
NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD_SUPPORTED = 225
NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD_UNITS = 224
NVML_FI_DEV_NVLINK_PLR_XMIT_BLOCKS = 294
NVML_FI_DEV_NVLINK_PLR_XMIT_RETRY_BLOCKS = 295
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L0 = 53
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L1 = 54
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L10 = 118
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L11 = 119
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L2 = 55
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L3 = 56
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L4 = 57
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L5 = 58
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L6 = 114
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L7 = 115
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L8 = 116
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L9 = 117
NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL = 59
NVML_FI_DEV_NVLINK_REMOTE_NVLINK_ID = 146
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L0 = 46
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L1 = 47
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L10 = 112
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L11 = 113
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L2 = 48
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L3 = 49
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L4 = 50
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L5 = 51
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L6 = 108
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L7 = 109
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L8 = 110
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L9 = 111
NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL = 52
NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON = 90
NVML_FI_DEV_NVLINK_SPEED_MBPS_L0 = 84
NVML_FI_DEV_NVLINK_SPEED_MBPS_L1 = 85
NVML_FI_DEV_NVLINK_SPEED_MBPS_L10 = 136
NVML_FI_DEV_NVLINK_SPEED_MBPS_L11 = 137
NVML_FI_DEV_NVLINK_SPEED_MBPS_L2 = 86
NVML_FI_DEV_NVLINK_SPEED_MBPS_L3 = 87
NVML_FI_DEV_NVLINK_SPEED_MBPS_L4 = 88
NVML_FI_DEV_NVLINK_SPEED_MBPS_L5 = 89
NVML_FI_DEV_NVLINK_SPEED_MBPS_L6 = 132
NVML_FI_DEV_NVLINK_SPEED_MBPS_L7 = 133
NVML_FI_DEV_NVLINK_SPEED_MBPS_L8 = 134
NVML_FI_DEV_NVLINK_SPEED_MBPS_L9 = 135
NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX = 139
NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX = 138
NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX = 141
NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX = 140
NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT = 147
NVML_FI_DEV_PCIE_COUNT_BAD_DLLP = 178
NVML_FI_DEV_PCIE_COUNT_BAD_TLP = 176
NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS = 173
NVML_FI_DEV_PCIE_COUNT_FATAL_ERROR = 180
NVML_FI_DEV_PCIE_COUNT_LANE_ERROR = 183
NVML_FI_DEV_PCIE_COUNT_LCRC_ERROR = 182
NVML_FI_DEV_PCIE_COUNT_NAKS_RECEIVED = 174
NVML_FI_DEV_PCIE_COUNT_NAKS_SENT = 177
NVML_FI_DEV_PCIE_COUNT_NON_FATAL_ERROR = 179
NVML_FI_DEV_PCIE_COUNT_RECEIVER_ERROR = 175
NVML_FI_DEV_PCIE_COUNT_RX_BYTES = 198
NVML_FI_DEV_PCIE_COUNT_TX_BYTES = 197
NVML_FI_DEV_PCIE_COUNT_UNSUPPORTED_REQ = 181
NVML_FI_DEV_PCIE_INBOUND_ATOMICS_MASK = 229
NVML_FI_DEV_PCIE_L0_TO_RECOVERY_COUNTER = 169
NVML_FI_DEV_PCIE_OUTBOUND_ATOMICS_MASK = 228
NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER = 95
NVML_FI_DEV_PENDING_BANK_REMAPPING = 307
NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT = 77
NVML_FI_DEV_PERF_POLICY_LOW_UTILIZATION = 78
NVML_FI_DEV_PERF_POLICY_POWER = 74
NVML_FI_DEV_PERF_POLICY_RELIABILITY = 79
NVML_FI_DEV_PERF_POLICY_SYNC_BOOST = 76
NVML_FI_DEV_PERF_POLICY_THERMAL = 75
NVML_FI_DEV_PERF_POLICY_TOTAL_APP_CLOCKS = 80
NVML_FI_DEV_PERF_POLICY_TOTAL_BASE_CLOCKS = 81
NVML_FI_DEV_POWER_AVERAGE = 185
NVML_FI_DEV_POWER_MAX_LIMIT = 188
NVML_FI_DEV_POWER_MIN_LIMIT = 187
NVML_FI_DEV_POWER_REQUESTED_LIMIT = 192
NVML_FI_DEV_POWER_SYNC_BALANCING_AF = 273
NVML_FI_DEV_POWER_SYNC_BALANCING_FREQ = 272
NVML_FI_DEV_REMAPPED_COR = 142
NVML_FI_DEV_REMAPPED_FAILURE = 145
NVML_FI_DEV_REMAPPED_PENDING = 144
NVML_FI_DEV_REMAPPED_ROWS_COR_INACTIVE = 301
NVML_FI_DEV_REMAPPED_ROWS_UNC_INACTIVE = 302
NVML_FI_DEV_REMAPPED_UNC = 143
NVML_FI_DEV_RESET_STATUS = 226
NVML_FI_DEV_RETIRED_PENDING_DBE = 93
NVML_FI_DEV_RETIRED_PENDING_SBE = 92
NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT = 196
NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT = 195
NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT = 193
NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT = 194

# NVML_FI_PWR*
NVML_FI_PWR_SMOOTHING_ENABLED = 251
NVML_FI_PWR_SMOOTHING_PRIV_LVL = 252
NVML_FI_PWR_SMOOTHING_IMM_RAMP_DOWN_ENABLED = 253
NVML_FI_PWR_SMOOTHING_APPLIED_TMP_CEIL = 254
NVML_FI_PWR_SMOOTHING_APPLIED_TMP_FLOOR = 255
NVML_FI_PWR_SMOOTHING_MAX_PERCENT_TMP_FLOOR_SETTING = 256
NVML_FI_PWR_SMOOTHING_MIN_PERCENT_TMP_FLOOR_SETTING = 257
NVML_FI_PWR_SMOOTHING_HW_CIRCUITRY_PERCENT_LIFETIME_REMAINING = 258
NVML_FI_PWR_SMOOTHING_MAX_NUM_PRESET_PROFILES = 259
NVML_FI_PWR_SMOOTHING_PROFILE_PERCENT_TMP_FLOOR = 260
NVML_FI_PWR_SMOOTHING_PROFILE_RAMP_UP_RATE = 261
NVML_FI_PWR_SMOOTHING_PROFILE_RAMP_DOWN_RATE = 262
NVML_FI_PWR_SMOOTHING_PROFILE_RAMP_DOWN_HYST_VAL = 263
NVML_FI_PWR_SMOOTHING_ACTIVE_PRESET_PROFILE = 264
NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_PERCENT_TMP_FLOOR = 265
NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_RAMP_UP_RATE = 266
NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_RAMP_DOWN_RATE = 267
NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_RAMP_DOWN_HYST_VAL = 268
NVML_FI_PWR_SMOOTHING_PRIMARY_POWER_FLOOR = 275
NVML_FI_PWR_SMOOTHING_SECONDARY_POWER_FLOOR = 276
NVML_FI_PWR_SMOOTHING_MIN_PRIMARY_FLOOR_ACT_OFFSET = 277
NVML_FI_PWR_SMOOTHING_MIN_PRIMARY_FLOOR_ACT_POINT = 278
NVML_FI_PWR_SMOOTHING_WINDOW_MULTIPLIER = 279
NVML_FI_PWR_SMOOTHING_DELAYED_PWR_SMOOTHING_SUPPORTED = 280
NVML_FI_PWR_SMOOTHING_PROFILE_SECONDARY_POWER_FLOOR = 281
NVML_FI_PWR_SMOOTHING_PROFILE_PRIMARY_FLOOR_ACT_WIN_MULT = 282
NVML_FI_PWR_SMOOTHING_PROFILE_PRIMARY_FLOOR_TAR_WIN_MULT = 283
NVML_FI_PWR_SMOOTHING_PROFILE_PRIMARY_FLOOR_ACT_OFFSET = 284
NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_SECONDARY_POWER_FLOOR = 285
NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_PRIMARY_FLOOR_ACT_WIN_MULT = 286
NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_PRIMARY_FLOOR_TAR_WIN_MULT = 287
NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_PRIMARY_FLOOR_ACT_OFFSET = 288
NVML_FI_PWR_SMOOTHING_SOC_POWER_SMOOTHING_ENABLED = 300

# NVML_GOM*
NVML_GOM_ALL_ON = 0
NVML_GOM_COMPUTE = 1
NVML_GOM_LOW_DP = 2

# NVML_GPM*
NVML_GPM_METRICS_GET_VERSION = 1
NVML_GPM_SUPPORT_VERSION = 1

# NVML_GPM_METRIC*
NVML_GPM_METRIC_GRAPHICS_UTIL = 1
NVML_GPM_METRIC_SM_UTIL = 2
NVML_GPM_METRIC_SM_OCCUPANCY = 3
NVML_GPM_METRIC_INTEGER_UTIL = 4
NVML_GPM_METRIC_ANY_TENSOR_UTIL = 5
NVML_GPM_METRIC_DFMA_TENSOR_UTIL = 6
NVML_GPM_METRIC_HMMA_TENSOR_UTIL = 7
NVML_GPM_METRIC_DMMA_TENSOR_UTIL = 8
NVML_GPM_METRIC_IMMA_TENSOR_UTIL = 9
NVML_GPM_METRIC_DRAM_BW_UTIL = 10
NVML_GPM_METRIC_FP64_UTIL = 11
NVML_GPM_METRIC_FP32_UTIL = 12
NVML_GPM_METRIC_FP16_UTIL = 13
NVML_GPM_METRIC_PCIE_TX_PER_SEC = 20
NVML_GPM_METRIC_PCIE_RX_PER_SEC = 21
NVML_GPM_METRIC_NVDEC_0_UTIL = 30
NVML_GPM_METRIC_NVDEC_1_UTIL = 31
NVML_GPM_METRIC_NVDEC_2_UTIL = 32
NVML_GPM_METRIC_NVDEC_3_UTIL = 33
NVML_GPM_METRIC_NVDEC_4_UTIL = 34
NVML_GPM_METRIC_NVDEC_5_UTIL = 35
NVML_GPM_METRIC_NVDEC_6_UTIL = 36
NVML_GPM_METRIC_NVDEC_7_UTIL = 37
NVML_GPM_METRIC_NVJPG_0_UTIL = 40
NVML_GPM_METRIC_NVJPG_1_UTIL = 41
NVML_GPM_METRIC_NVJPG_2_UTIL = 42
NVML_GPM_METRIC_NVJPG_3_UTIL = 43
NVML_GPM_METRIC_NVJPG_4_UTIL = 44
NVML_GPM_METRIC_NVJPG_5_UTIL = 45
NVML_GPM_METRIC_NVJPG_6_UTIL = 46
NVML_GPM_METRIC_NVJPG_7_UTIL = 47
NVML_GPM_METRIC_NVOFA_0_UTIL = 50
NVML_GPM_METRIC_NVOFA_1_UTIL = 51
NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC = 60
NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC = 61
NVML_GPM_METRIC_NVLINK_L0_RX_PER_SEC = 62
NVML_GPM_METRIC_NVLINK_L0_TX_PER_SEC = 63
NVML_GPM_METRIC_NVLINK_L1_RX_PER_SEC = 64
NVML_GPM_METRIC_NVLINK_L1_TX_PER_SEC = 65
NVML_GPM_METRIC_NVLINK_L2_RX_PER_SEC = 66
NVML_GPM_METRIC_NVLINK_L2_TX_PER_SEC = 67
NVML_GPM_METRIC_NVLINK_L3_RX_PER_SEC = 68
NVML_GPM_METRIC_NVLINK_L3_TX_PER_SEC = 69
NVML_GPM_METRIC_NVLINK_L4_RX_PER_SEC = 70
NVML_GPM_METRIC_NVLINK_L4_TX_PER_SEC = 71
NVML_GPM_METRIC_NVLINK_L5_RX_PER_SEC = 72
NVML_GPM_METRIC_NVLINK_L5_TX_PER_SEC = 73
NVML_GPM_METRIC_NVLINK_L6_RX_PER_SEC = 74
NVML_GPM_METRIC_NVLINK_L6_TX_PER_SEC = 75
NVML_GPM_METRIC_NVLINK_L7_RX_PER_SEC = 76
NVML_GPM_METRIC_NVLINK_L7_TX_PER_SEC = 77
NVML_GPM_METRIC_NVLINK_L8_RX_PER_SEC = 78
NVML_GPM_METRIC_NVLINK_L8_TX_PER_SEC = 79
NVML_GPM_METRIC_NVLINK_L9_RX_PER_SEC = 80
NVML_GPM_METRIC_NVLINK_L9_TX_PER_SEC = 81
NVML_GPM_METRIC_NVLINK_L10_RX_PER_SEC = 82
NVML_GPM_METRIC_NVLINK_L10_TX_PER_SEC = 83
NVML_GPM_METRIC_NVLINK_L11_RX_PER_SEC = 84
NVML_GPM_METRIC_NVLINK_L11_TX_PER_SEC = 85
NVML_GPM_METRIC_NVLINK_L12_RX_PER_SEC = 86
NVML_GPM_METRIC_NVLINK_L12_TX_PER_SEC = 87
NVML_GPM_METRIC_NVLINK_L13_RX_PER_SEC = 88
NVML_GPM_METRIC_NVLINK_L13_TX_PER_SEC = 89
NVML_GPM_METRIC_NVLINK_L14_RX_PER_SEC = 90
NVML_GPM_METRIC_NVLINK_L14_TX_PER_SEC = 91
NVML_GPM_METRIC_NVLINK_L15_RX_PER_SEC = 92
NVML_GPM_METRIC_NVLINK_L15_TX_PER_SEC = 93
NVML_GPM_METRIC_NVLINK_L16_RX_PER_SEC = 94
NVML_GPM_METRIC_NVLINK_L16_TX_PER_SEC = 95
NVML_GPM_METRIC_NVLINK_L17_RX_PER_SEC = 96
NVML_GPM_METRIC_NVLINK_L17_TX_PER_SEC = 97
NVML_GPM_METRIC_C2C_TOTAL_TX_PER_SEC = 100
NVML_GPM_METRIC_C2C_TOTAL_RX_PER_SEC = 101
NVML_GPM_METRIC_C2C_DATA_TX_PER_SEC = 102
NVML_GPM_METRIC_C2C_DATA_RX_PER_SEC = 103
NVML_GPM_METRIC_C2C_LINK0_TOTAL_TX_PER_SEC = 104
NVML_GPM_METRIC_C2C_LINK0_TOTAL_RX_PER_SEC = 105
NVML_GPM_METRIC_C2C_LINK0_DATA_TX_PER_SEC = 106
NVML_GPM_METRIC_C2C_LINK0_DATA_RX_PER_SEC = 107
NVML_GPM_METRIC_C2C_LINK1_TOTAL_TX_PER_SEC = 108
NVML_GPM_METRIC_C2C_LINK1_TOTAL_RX_PER_SEC = 109
NVML_GPM_METRIC_C2C_LINK1_DATA_TX_PER_SEC = 110
NVML_GPM_METRIC_C2C_LINK1_DATA_RX_PER_SEC = 111
NVML_GPM_METRIC_C2C_LINK2_TOTAL_TX_PER_SEC = 112
NVML_GPM_METRIC_C2C_LINK2_TOTAL_RX_PER_SEC = 113
NVML_GPM_METRIC_C2C_LINK2_DATA_TX_PER_SEC = 114
NVML_GPM_METRIC_C2C_LINK2_DATA_RX_PER_SEC = 115
NVML_GPM_METRIC_C2C_LINK3_TOTAL_TX_PER_SEC = 116
NVML_GPM_METRIC_C2C_LINK3_TOTAL_RX_PER_SEC = 117
NVML_GPM_METRIC_C2C_LINK3_DATA_TX_PER_SEC = 118
NVML_GPM_METRIC_C2C_LINK3_DATA_RX_PER_SEC = 119
NVML_GPM_METRIC_C2C_LINK4_TOTAL_TX_PER_SEC = 120
NVML_GPM_METRIC_C2C_LINK4_TOTAL_RX_PER_SEC = 121
NVML_GPM_METRIC_C2C_LINK4_DATA_TX_PER_SEC = 122
NVML_GPM_METRIC_C2C_LINK4_DATA_RX_PER_SEC = 123
NVML_GPM_METRIC_C2C_LINK5_TOTAL_TX_PER_SEC = 124
NVML_GPM_METRIC_C2C_LINK5_TOTAL_RX_PER_SEC = 125
NVML_GPM_METRIC_C2C_LINK5_DATA_TX_PER_SEC = 126
NVML_GPM_METRIC_C2C_LINK5_DATA_RX_PER_SEC = 127
NVML_GPM_METRIC_C2C_LINK6_TOTAL_TX_PER_SEC = 128
NVML_GPM_METRIC_C2C_LINK6_TOTAL_RX_PER_SEC = 129
NVML_GPM_METRIC_C2C_LINK6_DATA_TX_PER_SEC = 130
NVML_GPM_METRIC_C2C_LINK6_DATA_RX_PER_SEC = 131
NVML_GPM_METRIC_C2C_LINK7_TOTAL_TX_PER_SEC = 132
NVML_GPM_METRIC_C2C_LINK7_TOTAL_RX_PER_SEC = 133
NVML_GPM_METRIC_C2C_LINK7_DATA_TX_PER_SEC = 134
NVML_GPM_METRIC_C2C_LINK7_DATA_RX_PER_SEC = 135
NVML_GPM_METRIC_C2C_LINK8_TOTAL_TX_PER_SEC = 136
NVML_GPM_METRIC_C2C_LINK8_TOTAL_RX_PER_SEC = 137
NVML_GPM_METRIC_C2C_LINK8_DATA_TX_PER_SEC = 138
NVML_GPM_METRIC_C2C_LINK8_DATA_RX_PER_SEC = 139
NVML_GPM_METRIC_C2C_LINK9_TOTAL_TX_PER_SEC = 140
NVML_GPM_METRIC_C2C_LINK9_TOTAL_RX_PER_SEC = 141
NVML_GPM_METRIC_C2C_LINK9_DATA_TX_PER_SEC = 142
NVML_GPM_METRIC_C2C_LINK9_DATA_RX_PER_SEC = 143
NVML_GPM_METRIC_C2C_LINK10_TOTAL_TX_PER_SEC = 144
NVML_GPM_METRIC_C2C_LINK10_TOTAL_RX_PER_SEC = 145
NVML_GPM_METRIC_C2C_LINK10_DATA_TX_PER_SEC = 146
NVML_GPM_METRIC_C2C_LINK10_DATA_RX_PER_SEC = 147
NVML_GPM_METRIC_C2C_LINK11_TOTAL_TX_PER_SEC = 148
NVML_GPM_METRIC_C2C_LINK11_TOTAL_RX_PER_SEC = 149
NVML_GPM_METRIC_C2C_LINK11_DATA_TX_PER_SEC = 150
NVML_GPM_METRIC_C2C_LINK11_DATA_RX_PER_SEC = 151
NVML_GPM_METRIC_C2C_LINK12_TOTAL_TX_PER_SEC = 152
NVML_GPM_METRIC_C2C_LINK12_TOTAL_RX_PER_SEC = 153
NVML_GPM_METRIC_C2C_LINK12_DATA_TX_PER_SEC = 154
NVML_GPM_METRIC_C2C_LINK12_DATA_RX_PER_SEC = 155
NVML_GPM_METRIC_C2C_LINK13_TOTAL_TX_PER_SEC = 156
NVML_GPM_METRIC_C2C_LINK13_TOTAL_RX_PER_SEC = 157
NVML_GPM_METRIC_C2C_LINK13_DATA_TX_PER_SEC = 158
NVML_GPM_METRIC_C2C_LINK13_DATA_RX_PER_SEC = 159
NVML_GPM_METRIC_HOSTMEM_CACHE_HIT = 160
NVML_GPM_METRIC_HOSTMEM_CACHE_MISS = 161
NVML_GPM_METRIC_PEERMEM_CACHE_HIT = 162
NVML_GPM_METRIC_PEERMEM_CACHE_MISS = 163
NVML_GPM_METRIC_DRAM_CACHE_HIT = 164
NVML_GPM_METRIC_DRAM_CACHE_MISS = 165
NVML_GPM_METRIC_NVENC_0_UTIL = 166
NVML_GPM_METRIC_NVENC_1_UTIL = 167
NVML_GPM_METRIC_NVENC_2_UTIL = 168
NVML_GPM_METRIC_NVENC_3_UTIL = 169
NVML_GPM_METRIC_GR0_CTXSW_CYCLES_ELAPSED = 170
NVML_GPM_METRIC_GR0_CTXSW_CYCLES_ACTIVE = 171
NVML_GPM_METRIC_GR0_CTXSW_REQUESTS = 172
NVML_GPM_METRIC_GR0_CTXSW_CYCLES_PER_REQ = 173
NVML_GPM_METRIC_GR0_CTXSW_ACTIVE_PCT = 174
NVML_GPM_METRIC_GR1_CTXSW_CYCLES_ELAPSED = 175
NVML_GPM_METRIC_GR1_CTXSW_CYCLES_ACTIVE = 176
NVML_GPM_METRIC_GR1_CTXSW_REQUESTS = 177
NVML_GPM_METRIC_GR1_CTXSW_CYCLES_PER_REQ = 178
NVML_GPM_METRIC_GR1_CTXSW_ACTIVE_PCT = 179
NVML_GPM_METRIC_GR2_CTXSW_CYCLES_ELAPSED = 180
NVML_GPM_METRIC_GR2_CTXSW_CYCLES_ACTIVE = 181
NVML_GPM_METRIC_GR2_CTXSW_REQUESTS = 182
NVML_GPM_METRIC_GR2_CTXSW_CYCLES_PER_REQ = 183
NVML_GPM_METRIC_GR2_CTXSW_ACTIVE_PCT = 184
NVML_GPM_METRIC_GR3_CTXSW_CYCLES_ELAPSED = 185
NVML_GPM_METRIC_GR3_CTXSW_CYCLES_ACTIVE = 186
NVML_GPM_METRIC_GR3_CTXSW_REQUESTS = 187
NVML_GPM_METRIC_GR3_CTXSW_CYCLES_PER_REQ = 188
NVML_GPM_METRIC_GR3_CTXSW_ACTIVE_PCT = 189
NVML_GPM_METRIC_GR4_CTXSW_CYCLES_ELAPSED = 190
NVML_GPM_METRIC_GR4_CTXSW_CYCLES_ACTIVE = 191
NVML_GPM_METRIC_GR4_CTXSW_REQUESTS = 192
NVML_GPM_METRIC_GR4_CTXSW_CYCLES_PER_REQ = 193
NVML_GPM_METRIC_GR4_CTXSW_ACTIVE_PCT = 194
NVML_GPM_METRIC_GR5_CTXSW_CYCLES_ELAPSED = 195
NVML_GPM_METRIC_GR5_CTXSW_CYCLES_ACTIVE = 196
NVML_GPM_METRIC_GR5_CTXSW_REQUESTS = 197
NVML_GPM_METRIC_GR5_CTXSW_CYCLES_PER_REQ = 198
NVML_GPM_METRIC_GR5_CTXSW_ACTIVE_PCT = 199
NVML_GPM_METRIC_GR6_CTXSW_CYCLES_ELAPSED = 200
NVML_GPM_METRIC_GR6_CTXSW_CYCLES_ACTIVE = 201
NVML_GPM_METRIC_GR6_CTXSW_REQUESTS = 202
NVML_GPM_METRIC_GR6_CTXSW_CYCLES_PER_REQ = 203
NVML_GPM_METRIC_GR6_CTXSW_ACTIVE_PCT = 204
NVML_GPM_METRIC_GR7_CTXSW_CYCLES_ELAPSED = 205
NVML_GPM_METRIC_GR7_CTXSW_CYCLES_ACTIVE = 206
NVML_GPM_METRIC_GR7_CTXSW_REQUESTS = 207
NVML_GPM_METRIC_GR7_CTXSW_CYCLES_PER_REQ = 208
NVML_GPM_METRIC_GR7_CTXSW_ACTIVE_PCT = 209
NVML_GPM_METRIC_NVLINK_L18_RX_PER_SEC = 212
NVML_GPM_METRIC_NVLINK_L18_TX_PER_SEC = 213
NVML_GPM_METRIC_NVLINK_L19_RX_PER_SEC = 214
NVML_GPM_METRIC_NVLINK_L19_TX_PER_SEC = 215
NVML_GPM_METRIC_NVLINK_L20_RX_PER_SEC = 216
NVML_GPM_METRIC_NVLINK_L20_TX_PER_SEC = 217
NVML_GPM_METRIC_NVLINK_L21_RX_PER_SEC = 218
NVML_GPM_METRIC_NVLINK_L21_TX_PER_SEC = 219
NVML_GPM_METRIC_NVLINK_L22_RX_PER_SEC = 220
NVML_GPM_METRIC_NVLINK_L22_TX_PER_SEC = 221
NVML_GPM_METRIC_NVLINK_L23_RX_PER_SEC = 222
NVML_GPM_METRIC_NVLINK_L23_TX_PER_SEC = 223
NVML_GPM_METRIC_NVLINK_L24_RX_PER_SEC = 224
NVML_GPM_METRIC_NVLINK_L24_TX_PER_SEC = 225
NVML_GPM_METRIC_NVLINK_L25_RX_PER_SEC = 226
NVML_GPM_METRIC_NVLINK_L25_TX_PER_SEC = 227
NVML_GPM_METRIC_NVLINK_L26_RX_PER_SEC = 228
NVML_GPM_METRIC_NVLINK_L26_TX_PER_SEC = 229
NVML_GPM_METRIC_NVLINK_L27_RX_PER_SEC = 230
NVML_GPM_METRIC_NVLINK_L27_TX_PER_SEC = 231
NVML_GPM_METRIC_NVLINK_L28_RX_PER_SEC = 232
NVML_GPM_METRIC_NVLINK_L28_TX_PER_SEC = 233
NVML_GPM_METRIC_NVLINK_L29_RX_PER_SEC = 234
NVML_GPM_METRIC_NVLINK_L29_TX_PER_SEC = 235
NVML_GPM_METRIC_NVLINK_L30_RX_PER_SEC = 236
NVML_GPM_METRIC_NVLINK_L30_TX_PER_SEC = 237
NVML_GPM_METRIC_NVLINK_L31_RX_PER_SEC = 238
NVML_GPM_METRIC_NVLINK_L31_TX_PER_SEC = 239
NVML_GPM_METRIC_NVLINK_L32_RX_PER_SEC = 240
NVML_GPM_METRIC_NVLINK_L32_TX_PER_SEC = 241
NVML_GPM_METRIC_NVLINK_L33_RX_PER_SEC = 242
NVML_GPM_METRIC_NVLINK_L33_TX_PER_SEC = 243
NVML_GPM_METRIC_NVLINK_L34_RX_PER_SEC = 244
NVML_GPM_METRIC_NVLINK_L34_TX_PER_SEC = 245
NVML_GPM_METRIC_NVLINK_L35_RX_PER_SEC = 246
NVML_GPM_METRIC_NVLINK_L35_TX_PER_SEC = 247
NVML_GPM_METRIC_SM_CYCLES_ELAPSED = 248
NVML_GPM_METRIC_SM_CYCLES_ACTIVE = 249
NVML_GPM_METRIC_MMA_CYCLES_ACTIVE = 250
NVML_GPM_METRIC_DMMA_CYCLES_ACTIVE = 251
NVML_GPM_METRIC_HMMA_CYCLES_ACTIVE = 252
NVML_GPM_METRIC_IMMA_CYCLES_ACTIVE = 253
NVML_GPM_METRIC_DFMA_CYCLES_ACTIVE = 254
NVML_GPM_METRIC_PCIE_TX = 255
NVML_GPM_METRIC_PCIE_RX = 256
NVML_GPM_METRIC_INTEGER_CYCLES_ACTIVE = 257
NVML_GPM_METRIC_FP64_CYCLES_ACTIVE = 258
NVML_GPM_METRIC_FP32_CYCLES_ACTIVE = 259
NVML_GPM_METRIC_FP16_CYCLES_ACTIVE = 260
NVML_GPM_METRIC_NVLINK_L0_RX = 261
NVML_GPM_METRIC_NVLINK_L0_TX = 262
NVML_GPM_METRIC_NVLINK_L1_RX = 263
NVML_GPM_METRIC_NVLINK_L1_TX = 264
NVML_GPM_METRIC_NVLINK_L2_RX = 265
NVML_GPM_METRIC_NVLINK_L2_TX = 266
NVML_GPM_METRIC_NVLINK_L3_RX = 267
NVML_GPM_METRIC_NVLINK_L3_TX = 268
NVML_GPM_METRIC_NVLINK_L4_RX = 269
NVML_GPM_METRIC_NVLINK_L4_TX = 270
NVML_GPM_METRIC_NVLINK_L5_RX = 271
NVML_GPM_METRIC_NVLINK_L5_TX = 272
NVML_GPM_METRIC_NVLINK_L6_RX = 273
NVML_GPM_METRIC_NVLINK_L6_TX = 274
NVML_GPM_METRIC_NVLINK_L7_RX = 275
NVML_GPM_METRIC_NVLINK_L7_TX = 276
NVML_GPM_METRIC_NVLINK_L8_RX = 277
NVML_GPM_METRIC_NVLINK_L8_TX = 278
NVML_GPM_METRIC_NVLINK_L9_RX = 279
NVML_GPM_METRIC_NVLINK_L9_TX = 280
NVML_GPM_METRIC_NVLINK_L10_RX = 281
NVML_GPM_METRIC_NVLINK_L10_TX = 282
NVML_GPM_METRIC_NVLINK_L11_RX = 283
NVML_GPM_METRIC_NVLINK_L11_TX = 284
NVML_GPM_METRIC_NVLINK_L12_RX = 285
NVML_GPM_METRIC_NVLINK_L12_TX = 286
NVML_GPM_METRIC_NVLINK_L13_RX = 287
NVML_GPM_METRIC_NVLINK_L13_TX = 288
NVML_GPM_METRIC_NVLINK_L14_RX = 289
NVML_GPM_METRIC_NVLINK_L14_TX = 290
NVML_GPM_METRIC_NVLINK_L15_RX = 291
NVML_GPM_METRIC_NVLINK_L15_TX = 292
NVML_GPM_METRIC_NVLINK_L16_RX = 293
NVML_GPM_METRIC_NVLINK_L16_TX = 294
NVML_GPM_METRIC_NVLINK_L17_RX = 295
NVML_GPM_METRIC_NVLINK_L17_TX = 296
NVML_GPM_METRIC_NVLINK_L18_RX = 297
NVML_GPM_METRIC_NVLINK_L18_TX = 298
NVML_GPM_METRIC_NVLINK_L19_RX = 299
NVML_GPM_METRIC_NVLINK_L19_TX = 300
NVML_GPM_METRIC_NVLINK_L20_RX = 301
NVML_GPM_METRIC_NVLINK_L20_TX = 302
NVML_GPM_METRIC_NVLINK_L21_RX = 303
NVML_GPM_METRIC_NVLINK_L21_TX = 304
NVML_GPM_METRIC_NVLINK_L22_RX = 305
NVML_GPM_METRIC_NVLINK_L22_TX = 306
NVML_GPM_METRIC_NVLINK_L23_RX = 307
NVML_GPM_METRIC_NVLINK_L23_TX = 308
NVML_GPM_METRIC_NVLINK_L24_RX = 309
NVML_GPM_METRIC_NVLINK_L24_TX = 310
NVML_GPM_METRIC_NVLINK_L25_RX = 311
NVML_GPM_METRIC_NVLINK_L25_TX = 312
NVML_GPM_METRIC_NVLINK_L26_RX = 313
NVML_GPM_METRIC_NVLINK_L26_TX = 314
NVML_GPM_METRIC_NVLINK_L27_RX = 315
NVML_GPM_METRIC_NVLINK_L27_TX = 316
NVML_GPM_METRIC_NVLINK_L28_RX = 317
NVML_GPM_METRIC_NVLINK_L28_TX = 318
NVML_GPM_METRIC_NVLINK_L29_RX = 319
NVML_GPM_METRIC_NVLINK_L29_TX = 320
NVML_GPM_METRIC_NVLINK_L30_RX = 321
NVML_GPM_METRIC_NVLINK_L30_TX = 322
NVML_GPM_METRIC_NVLINK_L31_RX = 323
NVML_GPM_METRIC_NVLINK_L31_TX = 324
NVML_GPM_METRIC_NVLINK_L32_RX = 325
NVML_GPM_METRIC_NVLINK_L32_TX = 326
NVML_GPM_METRIC_NVLINK_L33_RX = 327
NVML_GPM_METRIC_NVLINK_L33_TX = 328
NVML_GPM_METRIC_NVLINK_L34_RX = 329
NVML_GPM_METRIC_NVLINK_L34_TX = 330
NVML_GPM_METRIC_NVLINK_L35_RX = 331
NVML_GPM_METRIC_NVLINK_L35_TX = 332
NVML_GPM_METRIC_NVLINK_L36_RX = 333
NVML_GPM_METRIC_NVLINK_L36_TX = 334
NVML_GPM_METRIC_NVLINK_L37_RX = 335
NVML_GPM_METRIC_NVLINK_L37_TX = 336
NVML_GPM_METRIC_NVLINK_L38_RX = 337
NVML_GPM_METRIC_NVLINK_L38_TX = 338
NVML_GPM_METRIC_NVLINK_L39_RX = 339
NVML_GPM_METRIC_NVLINK_L39_TX = 340
NVML_GPM_METRIC_NVLINK_L40_RX = 341
NVML_GPM_METRIC_NVLINK_L40_TX = 342
NVML_GPM_METRIC_NVLINK_L41_RX = 343
NVML_GPM_METRIC_NVLINK_L41_TX = 344
NVML_GPM_METRIC_NVLINK_L42_RX = 345
NVML_GPM_METRIC_NVLINK_L42_TX = 346
NVML_GPM_METRIC_NVLINK_L43_RX = 347
NVML_GPM_METRIC_NVLINK_L43_TX = 348
NVML_GPM_METRIC_NVLINK_L44_RX = 349
NVML_GPM_METRIC_NVLINK_L44_TX = 350
NVML_GPM_METRIC_NVLINK_L45_RX = 351
NVML_GPM_METRIC_NVLINK_L45_TX = 352
NVML_GPM_METRIC_NVLINK_L46_RX = 353
NVML_GPM_METRIC_NVLINK_L46_TX = 354
NVML_GPM_METRIC_NVLINK_L47_RX = 355
NVML_GPM_METRIC_NVLINK_L47_TX = 356
NVML_GPM_METRIC_NVLINK_L48_RX = 357
NVML_GPM_METRIC_NVLINK_L48_TX = 358
NVML_GPM_METRIC_NVLINK_L49_RX = 359
NVML_GPM_METRIC_NVLINK_L49_TX = 360
NVML_GPM_METRIC_NVLINK_L50_RX = 361
NVML_GPM_METRIC_NVLINK_L50_TX = 362
NVML_GPM_METRIC_NVLINK_L51_RX = 363
NVML_GPM_METRIC_NVLINK_L51_TX = 364
NVML_GPM_METRIC_NVLINK_L52_RX = 365
NVML_GPM_METRIC_NVLINK_L52_TX = 366
NVML_GPM_METRIC_NVLINK_L53_RX = 367
NVML_GPM_METRIC_NVLINK_L53_TX = 368
NVML_GPM_METRIC_NVLINK_L54_RX = 369
NVML_GPM_METRIC_NVLINK_L54_TX = 370
NVML_GPM_METRIC_NVLINK_L55_RX = 371
NVML_GPM_METRIC_NVLINK_L55_TX = 372
NVML_GPM_METRIC_NVLINK_L56_RX = 373
NVML_GPM_METRIC_NVLINK_L56_TX = 374
NVML_GPM_METRIC_NVLINK_L57_RX = 375
NVML_GPM_METRIC_NVLINK_L57_TX = 376
NVML_GPM_METRIC_NVLINK_L58_RX = 377
NVML_GPM_METRIC_NVLINK_L58_TX = 378
NVML_GPM_METRIC_NVLINK_L59_RX = 379
NVML_GPM_METRIC_NVLINK_L59_TX = 380
NVML_GPM_METRIC_NVLINK_L60_RX = 381
NVML_GPM_METRIC_NVLINK_L60_TX = 382
NVML_GPM_METRIC_NVLINK_L61_RX = 383
NVML_GPM_METRIC_NVLINK_L61_TX = 384
NVML_GPM_METRIC_NVLINK_L62_RX = 385
NVML_GPM_METRIC_NVLINK_L62_TX = 386
NVML_GPM_METRIC_NVLINK_L63_RX = 387
NVML_GPM_METRIC_NVLINK_L63_TX = 388
NVML_GPM_METRIC_NVLINK_L64_RX = 389
NVML_GPM_METRIC_NVLINK_L64_TX = 390
NVML_GPM_METRIC_NVLINK_L65_RX = 391
NVML_GPM_METRIC_NVLINK_L65_TX = 392
NVML_GPM_METRIC_NVLINK_L66_RX = 393
NVML_GPM_METRIC_NVLINK_L66_TX = 394
NVML_GPM_METRIC_NVLINK_L67_RX = 395
NVML_GPM_METRIC_NVLINK_L67_TX = 396
NVML_GPM_METRIC_NVLINK_L68_RX = 397
NVML_GPM_METRIC_NVLINK_L68_TX = 398
NVML_GPM_METRIC_NVLINK_L69_RX = 399
NVML_GPM_METRIC_NVLINK_L69_TX = 400
NVML_GPM_METRIC_NVLINK_L70_RX = 401
NVML_GPM_METRIC_NVLINK_L70_TX = 402
NVML_GPM_METRIC_NVLINK_L71_RX = 403
NVML_GPM_METRIC_NVLINK_L71_TX = 404
NVML_GPM_METRIC_NVLINK_L36_RX_PER_SEC = 405
NVML_GPM_METRIC_NVLINK_L36_TX_PER_SEC = 406
NVML_GPM_METRIC_NVLINK_L37_RX_PER_SEC = 407
NVML_GPM_METRIC_NVLINK_L37_TX_PER_SEC = 408
NVML_GPM_METRIC_NVLINK_L38_RX_PER_SEC = 409
NVML_GPM_METRIC_NVLINK_L38_TX_PER_SEC = 410
NVML_GPM_METRIC_NVLINK_L39_RX_PER_SEC = 411
NVML_GPM_METRIC_NVLINK_L39_TX_PER_SEC = 412
NVML_GPM_METRIC_NVLINK_L40_RX_PER_SEC = 413
NVML_GPM_METRIC_NVLINK_L40_TX_PER_SEC = 414
NVML_GPM_METRIC_NVLINK_L41_RX_PER_SEC = 415
NVML_GPM_METRIC_NVLINK_L41_TX_PER_SEC = 416
NVML_GPM_METRIC_NVLINK_L42_RX_PER_SEC = 417
NVML_GPM_METRIC_NVLINK_L42_TX_PER_SEC = 418
NVML_GPM_METRIC_NVLINK_L43_RX_PER_SEC = 419
NVML_GPM_METRIC_NVLINK_L43_TX_PER_SEC = 420
NVML_GPM_METRIC_NVLINK_L44_RX_PER_SEC = 421
NVML_GPM_METRIC_NVLINK_L44_TX_PER_SEC = 422
NVML_GPM_METRIC_NVLINK_L45_RX_PER_SEC = 423
NVML_GPM_METRIC_NVLINK_L45_TX_PER_SEC = 424
NVML_GPM_METRIC_NVLINK_L46_RX_PER_SEC = 425
NVML_GPM_METRIC_NVLINK_L46_TX_PER_SEC = 426
NVML_GPM_METRIC_NVLINK_L47_RX_PER_SEC = 427
NVML_GPM_METRIC_NVLINK_L47_TX_PER_SEC = 428
NVML_GPM_METRIC_NVLINK_L48_RX_PER_SEC = 429
NVML_GPM_METRIC_NVLINK_L48_TX_PER_SEC = 430
NVML_GPM_METRIC_NVLINK_L49_RX_PER_SEC = 431
NVML_GPM_METRIC_NVLINK_L49_TX_PER_SEC = 432
NVML_GPM_METRIC_NVLINK_L50_RX_PER_SEC = 433
NVML_GPM_METRIC_NVLINK_L50_TX_PER_SEC = 434
NVML_GPM_METRIC_NVLINK_L51_RX_PER_SEC = 435
NVML_GPM_METRIC_NVLINK_L51_TX_PER_SEC = 436
NVML_GPM_METRIC_NVLINK_L52_RX_PER_SEC = 437
NVML_GPM_METRIC_NVLINK_L52_TX_PER_SEC = 438
NVML_GPM_METRIC_NVLINK_L53_RX_PER_SEC = 439
NVML_GPM_METRIC_NVLINK_L53_TX_PER_SEC = 440
NVML_GPM_METRIC_NVLINK_L54_RX_PER_SEC = 441
NVML_GPM_METRIC_NVLINK_L54_TX_PER_SEC = 442
NVML_GPM_METRIC_NVLINK_L55_RX_PER_SEC = 443
NVML_GPM_METRIC_NVLINK_L55_TX_PER_SEC = 444
NVML_GPM_METRIC_NVLINK_L56_RX_PER_SEC = 445
NVML_GPM_METRIC_NVLINK_L56_TX_PER_SEC = 446
NVML_GPM_METRIC_NVLINK_L57_RX_PER_SEC = 447
NVML_GPM_METRIC_NVLINK_L57_TX_PER_SEC = 448
NVML_GPM_METRIC_NVLINK_L58_RX_PER_SEC = 449
NVML_GPM_METRIC_NVLINK_L58_TX_PER_SEC = 450
NVML_GPM_METRIC_NVLINK_L59_RX_PER_SEC = 451
NVML_GPM_METRIC_NVLINK_L59_TX_PER_SEC = 452
NVML_GPM_METRIC_NVLINK_L60_RX_PER_SEC = 453
NVML_GPM_METRIC_NVLINK_L60_TX_PER_SEC = 454
NVML_GPM_METRIC_NVLINK_L61_RX_PER_SEC = 455
NVML_GPM_METRIC_NVLINK_L61_TX_PER_SEC = 456
NVML_GPM_METRIC_NVLINK_L62_RX_PER_SEC = 457
NVML_GPM_METRIC_NVLINK_L62_TX_PER_SEC = 458
NVML_GPM_METRIC_NVLINK_L63_RX_PER_SEC = 459
NVML_GPM_METRIC_NVLINK_L63_TX_PER_SEC = 460
NVML_GPM_METRIC_NVLINK_L64_RX_PER_SEC = 461
NVML_GPM_METRIC_NVLINK_L64_TX_PER_SEC = 462
NVML_GPM_METRIC_NVLINK_L65_RX_PER_SEC = 463
NVML_GPM_METRIC_NVLINK_L65_TX_PER_SEC = 464
NVML_GPM_METRIC_NVLINK_L66_RX_PER_SEC = 465
NVML_GPM_METRIC_NVLINK_L66_TX_PER_SEC = 466
NVML_GPM_METRIC_NVLINK_L67_RX_PER_SEC = 467
NVML_GPM_METRIC_NVLINK_L67_TX_PER_SEC = 468
NVML_GPM_METRIC_NVLINK_L68_RX_PER_SEC = 469
NVML_GPM_METRIC_NVLINK_L68_TX_PER_SEC = 470
NVML_GPM_METRIC_NVLINK_L69_RX_PER_SEC = 471
NVML_GPM_METRIC_NVLINK_L69_TX_PER_SEC = 472
NVML_GPM_METRIC_NVLINK_L70_RX_PER_SEC = 473
NVML_GPM_METRIC_NVLINK_L70_TX_PER_SEC = 474
NVML_GPM_METRIC_NVLINK_L71_RX_PER_SEC = 475
NVML_GPM_METRIC_NVLINK_L71_TX_PER_SEC = 476
NVML_GPM_METRIC_MAX = 477

# NVML_GPU*
NVML_GPU_CERT_CHAIN_SIZE = 4096
NVML_GPU_ATTESTATION_CERT_CHAIN_SIZE = 5120

# NVML_GPU_FABRIC*
NVML_GPU_FABRIC_CLIQUE_MAX = 64
NVML_GPU_FABRIC_CLIQUE_TYPE_MULTICAST_LOGICAL_ENDPOINT = 3
NVML_GPU_FABRIC_CLIQUE_TYPE_MULTICAST_POINTER = 1
NVML_GPU_FABRIC_CLIQUE_TYPE_UNICAST_LOGICAL_ENDPOINT = 2
NVML_GPU_FABRIC_CLIQUE_TYPE_UNICAST_POINTER = 0
NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_FALSE = 2
NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_NOT_SUPPORTED = 0
NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_TRUE = 1
NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_FALSE = 2
NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_NOT_SUPPORTED = 0
NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_TRUE = 1
NVML_GPU_FABRIC_HEALTH_MASK_GFM_STATE_CONNECTED = 1
NVML_GPU_FABRIC_HEALTH_MASK_GFM_STATE_DISCONNECTED = 2
NVML_GPU_FABRIC_HEALTH_MASK_GFM_STATE_NOT_SUPPORTED = 0
NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_GPU_STATE_INVALID = 8
NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCOMPATIBLE_GPU_FW = 6
NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_CHASSIS_SN = 3
NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_SYSGUID = 2
NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INSUFFICIENT_NVLINKS = 5
NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INVALID_LOCATION = 7
NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NONE = 1
NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NOT_SUPPORTED = 0
NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NO_PARTITION = 4
NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIURATION_INVALID_LOCATION = 7
NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_FALSE = 2
NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_NOT_SUPPORTED = 0
NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_TRUE = 1
NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_FALSE = 2
NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_NOT_SUPPORTED = 0
NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_TRUE = 1
NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_FALSE = 2
NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_NOT_SUPPORTED = 0
NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_TRUE = 1
NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ACCESS_TIMEOUT_RECOVERY = 6
NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW = 0
NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_GFM_STATE = 14
NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_INCORRECT_CONFIGURATION = 8
NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_PARTITION_ASSIGNED = 12
NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_RECOVERY = 2
NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_UNHEALTHY = 4
NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ACCESS_TIMEOUT_RECOVERY = 3
NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_DEGRADED_BW = 3
NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_GFM_STATE = 3
NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_INCORRECT_CONFIGURATION = 15
NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_PARTITION_ASSIGNED = 3
NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_RECOVERY = 3
NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_UNHEALTHY = 3
NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY = 1
NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY = 3
NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED = 0
NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY = 2
NVML_GPU_FABRIC_STATE_COMPLETED = 3
NVML_GPU_FABRIC_STATE_IN_PROGRESS = 2
NVML_GPU_FABRIC_STATE_NOT_STARTED = 1
NVML_GPU_FABRIC_STATE_NOT_SUPPORTED = 0
NVML_GPU_FABRIC_UUID_LEN = 16

# NVML_GPU_INSTANCE*
NVML_GPU_INSTANCE_PROFILE_1_SLICE = 0
NVML_GPU_INSTANCE_PROFILE_2_SLICE = 1
NVML_GPU_INSTANCE_PROFILE_3_SLICE = 2
NVML_GPU_INSTANCE_PROFILE_4_SLICE = 3
NVML_GPU_INSTANCE_PROFILE_7_SLICE = 4
NVML_GPU_INSTANCE_PROFILE_8_SLICE = 5
NVML_GPU_INSTANCE_PROFILE_6_SLICE = 6
NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1 = 7
NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1 = 8
NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV2 = 9
NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX = 10
NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX = 11
NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX = 12
NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME = 13
NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME = 14
NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME = 15
NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME = 16
NVML_GPU_INSTANCE_PROFILE_3_SLICE_GFX = 17
NVML_GPU_INSTANCE_PROFILE_COUNT = 18
NVML_GPU_INSTANCE_ID_ANY = 0xFFFFFFFF

# NVML_GPU_NVLINK*
NVML_GPU_NVLINK_BW_MODE_FULL = 0
NVML_GPU_NVLINK_BW_MODE_OFF = 1
NVML_GPU_NVLINK_BW_MODE_MIN = 2
NVML_GPU_NVLINK_BW_MODE_HALF = 3
NVML_GPU_NVLINK_BW_MODE_3QUARTER = 4
NVML_GPU_NVLINK_BW_MODE_COUNT = 5

# NVML_GPU_OPERATIONAL*
NVML_GPU_OPERATIONAL_EVENT_CONTEXT_TYPE_LEGACY_XID = 1
NVML_GPU_OPERATIONAL_EVENT_CONTEXT_TYPE_UNKNOWN = 0
NVML_GPU_OPERATIONAL_EVENT_LOG_LEVEL_ALL = 0
NVML_GPU_OPERATIONAL_EVENT_LOG_LEVEL_DIAG = 20
NVML_GPU_OPERATIONAL_EVENT_LOG_LEVEL_ERROR = 50
NVML_GPU_OPERATIONAL_EVENT_LOG_LEVEL_NOTICE = 30
NVML_GPU_OPERATIONAL_EVENT_LOG_LEVEL_TELEMETRY = 10
NVML_GPU_OPERATIONAL_EVENT_LOG_LEVEL_WARNING = 40

# NVML_GPU_RECOVERY*
NVML_GPU_RECOVERY_ACTION_NONE = 0
NVML_GPU_RECOVERY_ACTION_GPU_RESET = 1
NVML_GPU_RECOVERY_ACTION_NODE_REBOOT = 2
NVML_GPU_RECOVERY_ACTION_DRAIN_P2P = 3
NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET = 4
NVML_GPU_RECOVERY_ACTION_RECOVER_IMEX_DOMAIN = 5
NVML_GPU_RECOVERY_ACTION_BUS_RESET = 6
NVML_GPU_RECOVERY_ACTION_SYSTEM_REBOOT = 7

# NVML_GPU_UTILIZATION*
NVML_GPU_UTILIZATION_DOMAIN_BUS = 3
NVML_GPU_UTILIZATION_DOMAIN_FB = 1
NVML_GPU_UTILIZATION_DOMAIN_GPU = 0
NVML_GPU_UTILIZATION_DOMAIN_VID = 2
NVML_GPU_UTILIZATION_SAMPLES = 1

# NVML_GPU_VIRTUALIZATION*
NVML_GPU_VIRTUALIZATION_MODE_NONE = 0
NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH = 1
NVML_GPU_VIRTUALIZATION_MODE_VGPU = 2
NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU = 3
NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA = 4

# NVML_GRID_LICENSE*
NVML_GRID_LICENSE_BUFFER_SIZE = 128
NVML_GRID_LICENSE_EXPIRY_INVALID = 1
NVML_GRID_LICENSE_EXPIRY_NOT_APPLICABLE = 3
NVML_GRID_LICENSE_EXPIRY_NOT_AVAILABLE = 0
NVML_GRID_LICENSE_EXPIRY_PERMANENT = 4
NVML_GRID_LICENSE_EXPIRY_VALID = 2
NVML_GRID_LICENSE_FEATURE_CODE_COMPUTE = 4
NVML_GRID_LICENSE_FEATURE_CODE_GAMING = 3
NVML_GRID_LICENSE_FEATURE_CODE_NVIDIA_RTX = 2
NVML_GRID_LICENSE_FEATURE_CODE_UNKNOWN = 0
NVML_GRID_LICENSE_FEATURE_CODE_VGAMEDEV = 5
NVML_GRID_LICENSE_FEATURE_CODE_VGPU = 1
NVML_GRID_LICENSE_FEATURE_CODE_VWORKSTATION = 2
NVML_GRID_LICENSE_FEATURE_MAX_COUNT = 3
NVML_GRID_LICENSE_STATE_LICENSED = 5
NVML_GRID_LICENSE_STATE_UNINITIALIZED = 1
NVML_GRID_LICENSE_STATE_UNKNOWN = 0
NVML_GRID_LICENSE_STATE_UNLICENSED = 4
NVML_GRID_LICENSE_STATE_UNLICENSED_RESTRICTED = 3
NVML_GRID_LICENSE_STATE_UNLICENSED_UNRESTRICTED = 2

# NVML_INFOROM*
NVML_INFOROM_OEM = 0
NVML_INFOROM_ECC = 1
NVML_INFOROM_POWER = 2
NVML_INFOROM_DEN = 3
NVML_INFOROM_COUNT = 4

# NVML_INIT_FLAG*
NVML_INIT_FLAG_NO_GPUS = 1
NVML_INIT_FLAG_NO_ATTACH = 2
NVML_INIT_FLAG_FORCE_INIT = 4

# NVML_MAX*
NVML_MAX_THERMAL_SENSORS_PER_GPU = 3
NVML_MAX_GPU_UTILIZATIONS = 8
NVML_MAX_GPU_PERF_PSTATES = 16
NVML_MAX_GPC_COUNT = 32
NVML_MAX_PHYSICAL_BRIDGE = 128

# NVML_MCLK_SWITCH*
NVML_MCLK_SWITCH_TYPE_NOT_SUPPORTED = 0
NVML_MCLK_SWITCH_TYPE_DEFERRED = 1
NVML_MCLK_SWITCH_TYPE_RUNTIME = 2

# NVML_MEMORY*
NVML_MEMORY_CLK_SAMPLES = 6
NVML_MEMORY_ERROR_TYPE_COUNT = 2
NVML_MEMORY_UTILIZATION_SAMPLES = 2

# NVML_MEMORY_LOCATION*
NVML_MEMORY_LOCATION_CBU = 6
NVML_MEMORY_LOCATION_COUNT = 8
NVML_MEMORY_LOCATION_DEVICE_MEMORY = 2
NVML_MEMORY_LOCATION_DRAM = 2
NVML_MEMORY_LOCATION_L1_CACHE = 0
NVML_MEMORY_LOCATION_L2_CACHE = 1
NVML_MEMORY_LOCATION_REGISTER_FILE = 3
NVML_MEMORY_LOCATION_SRAM = 7
NVML_MEMORY_LOCATION_TEXTURE_MEMORY = 4
NVML_MEMORY_LOCATION_TEXTURE_SHM = 5

# NVML_NVLINK*
NVML_NVLINK_MAX_LANES = 36
NVML_NVLINK_MAX_LINKS = 36
NVML_NVLINK_POWER_STATE_HIGH_SPEED = 0
NVML_NVLINK_POWER_STATE_LOW = 1
NVML_NVLINK_TOTAL_SUPPORTED_BW_MODES = 23
NVML_NVLINK_VERSION_6_0 = 8
NVML_NVLINK_VERSION_INVALID = 0

# NVML_NVLINK_CAP*
NVML_NVLINK_CAP_P2P_SUPPORTED = 0
NVML_NVLINK_CAP_SYSMEM_ACCESS = 1
NVML_NVLINK_CAP_P2P_ATOMICS = 2
NVML_NVLINK_CAP_SYSMEM_ATOMICS = 3
NVML_NVLINK_CAP_SLI_BRIDGE = 4
NVML_NVLINK_CAP_VALID = 5
NVML_NVLINK_CAP_COUNT = 6

# NVML_NVLINK_COUNTER*
NVML_NVLINK_COUNTER_PKTFILTER_ALL = 255
NVML_NVLINK_COUNTER_PKTFILTER_FLUSH = 32
NVML_NVLINK_COUNTER_PKTFILTER_NOP = 1
NVML_NVLINK_COUNTER_PKTFILTER_NRATOM = 16
NVML_NVLINK_COUNTER_PKTFILTER_RATOM = 8
NVML_NVLINK_COUNTER_PKTFILTER_READ = 2
NVML_NVLINK_COUNTER_PKTFILTER_RESPDATA = 64
NVML_NVLINK_COUNTER_PKTFILTER_RESPNODATA = 128
NVML_NVLINK_COUNTER_PKTFILTER_WRITE = 4
NVML_NVLINK_COUNTER_UNIT_BYTES = 2
NVML_NVLINK_COUNTER_UNIT_COUNT = 4
NVML_NVLINK_COUNTER_UNIT_CYCLES = 0
NVML_NVLINK_COUNTER_UNIT_PACKETS = 1
NVML_NVLINK_COUNTER_UNIT_RESERVED = 3

# NVML_NVLINK_DEVICE*
NVML_NVLINK_DEVICE_TYPE_GPU = 0
NVML_NVLINK_DEVICE_TYPE_IBMNPU = 1
NVML_NVLINK_DEVICE_TYPE_SWITCH = 2
NVML_NVLINK_DEVICE_TYPE_UNKNOWN = 255

# NVML_NVLINK_ERROR*
NVML_NVLINK_ERROR_COUNT = 5
NVML_NVLINK_ERROR_DL_CRC_DATA = 3
NVML_NVLINK_ERROR_DL_CRC_FLIT = 2
NVML_NVLINK_ERROR_DL_ECC_COUNT = 5
NVML_NVLINK_ERROR_DL_ECC_DATA = 4
NVML_NVLINK_ERROR_DL_ECC_LANE0 = 0
NVML_NVLINK_ERROR_DL_ECC_LANE1 = 1
NVML_NVLINK_ERROR_DL_ECC_LANE2 = 2
NVML_NVLINK_ERROR_DL_ECC_LANE3 = 3
NVML_NVLINK_ERROR_DL_RECOVERY = 1
NVML_NVLINK_ERROR_DL_REPLAY = 0

# NVML_NVLINK_FIRMWARE*
NVML_NVLINK_FIRMWARE_UCODE_TYPE_MSE = 1
NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR = 2
NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_UPHY = 3
NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_CLN = 4
NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_DLN = 5
NVML_NVLINK_FIRMWARE_VERSION_LENGTH = 100

# NVML_NVLINK_LOW*
NVML_NVLINK_LOW_POWER_THRESHOLD_DEFAULT = 0xFFFFFFFF
NVML_NVLINK_LOW_POWER_THRESHOLD_MAX = 8191
NVML_NVLINK_LOW_POWER_THRESHOLD_MIN = 1
NVML_NVLINK_LOW_POWER_THRESHOLD_RESET = 0xFFFFFFFF
NVML_NVLINK_LOW_POWER_THRESHOLD_UNIT_100US = 0
NVML_NVLINK_LOW_POWER_THRESHOLD_UNIT_50US = 1

# NVML_NVLINK_STATE*
NVML_NVLINK_STATE_INACTIVE = 0
NVML_NVLINK_STATE_ACTIVE = 1
NVML_NVLINK_STATE_SLEEP = 2
NVML_NVLINK_STATE_ACTIVE_TRAFFIC_DISABLED = 3

# NVML_NVLINK_TELEMETRY*
NVML_NVLINK_TELEMETRY_SAMPLE_TYPE_THROUGHPUT_RAW_TX = 0
NVML_NVLINK_TELEMETRY_SAMPLE_TYPE_THROUGHPUT_RAW_RX = 1
NVML_NVLINK_TELEMETRY_SAMPLE_TYPE_COUNT = 2

# NVML_OPERATIONAL_EVENT*
NVML_OPERATIONAL_EVENT_ATTR_COMPONENT_RESET = 8
NVML_OPERATIONAL_EVENT_ATTR_LATENT = 2
NVML_OPERATIONAL_EVENT_ATTR_OVERFLOW = 64
NVML_OPERATIONAL_EVENT_ATTR_PRIMARY = 32
NVML_OPERATIONAL_EVENT_ATTR_PROPAGATED = 4
NVML_OPERATIONAL_EVENT_ATTR_THRESHOLD_EXCEEDED = 16
NVML_OPERATIONAL_EVENT_ATTR_UNCONTAINED = 1
NVML_OPERATIONAL_EVENT_GROUP_ATTR_PREVERR = 2
NVML_OPERATIONAL_EVENT_GROUP_ATTR_RECOVERED = 1
NVML_OPERATIONAL_EVENT_GROUP_ATTR_SIMULATED = 4
NVML_OPERATIONAL_EVENT_SEVERITY_ALL = 0
NVML_OPERATIONAL_EVENT_SEVERITY_CORRECTED = 20
NVML_OPERATIONAL_EVENT_SEVERITY_FATAL = 40
NVML_OPERATIONAL_EVENT_SEVERITY_INFORMATIONAL = 10
NVML_OPERATIONAL_EVENT_SEVERITY_RECOVERABLE = 30

# NVML_P2P_CAPS*
NVML_P2P_CAPS_INDEX_ATOMICS = 3
NVML_P2P_CAPS_INDEX_NVLINK = 2
NVML_P2P_CAPS_INDEX_PCI = 4
NVML_P2P_CAPS_INDEX_PROP = 4
NVML_P2P_CAPS_INDEX_READ = 0
NVML_P2P_CAPS_INDEX_UNKNOWN = 5
NVML_P2P_CAPS_INDEX_WRITE = 1

# NVML_P2P_STATUS*
NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED = 1
NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED = 3
NVML_P2P_STATUS_DISABLED_BY_REGKEY = 4
NVML_P2P_STATUS_NOT_SUPPORTED = 5

# NVML_PAGE_RETIREMENT*
NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS = 0
NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR = 1
NVML_PAGE_RETIREMENT_CAUSE_COUNT = 2

# NVML_PCIE_ATOMICS*
NVML_PCIE_ATOMICS_CAP_FETCHADD32 = 1
NVML_PCIE_ATOMICS_CAP_FETCHADD64 = 2
NVML_PCIE_ATOMICS_CAP_SWAP32 = 4
NVML_PCIE_ATOMICS_OPS_MAX = 7
NVML_PCIE_ATOMICS_CAP_SWAP64 = 8
NVML_PCIE_ATOMICS_CAP_CAS32 = 16
NVML_PCIE_ATOMICS_CAP_CAS64 = 32
NVML_PCIE_ATOMICS_CAP_CAS128 = 64

# NVML_PCIE_LINK*
NVML_PCIE_LINK_KEEP = 0
NVML_PCIE_LINK_MAX_SPEED_INVALID = 0
NVML_PCIE_LINK_SHUT_DOWN = 1

# NVML_PCIE_UTIL*
NVML_PCIE_UTIL_TX_BYTES = 0
NVML_PCIE_UTIL_RX_BYTES = 1
NVML_PCIE_UTIL_COUNT = 2

# NVML_PERF*
NVML_PERF_CF_PM_SENSOR_MAX_SIGNALS = 1024
NVML_PERF_MODES_BUFFER_SIZE = 2048

# NVML_PERF_METRICS*
NVML_PERF_METRICS_CONTROLLER_DLPPC_2X_PWR_POLICY_RELATIONSHIP_SET_LIMITS_MAX = 4
NVML_PERF_METRICS_CONTROLLER_SAMPLE_CONTROLLER_MAX_NUM = 4
NVML_PERF_METRICS_CONTROLLER_STATUS_DLPPC_2X_DRAMCLK_NUM = 3
NVML_PERF_METRICS_CONTROLLER_TYPE_DLPPC_2X = 0
NVML_PERF_METRICS_CONTROLLER_TYPE_PFPP_1X = 1
NVML_PERF_METRICS_NNE_DESC_INFERENCE_LOOPS_MAX = 8
NVML_PERF_METRICS_PWR_MODEL_DLPPM_1X_MAX_CORE_RAILS = 2
NVML_PERF_METRICS_PWR_MODEL_METRICS_DLPPM_1X_OBESRVED_INTIAL_DRAMCLK_ESTIMATES_MAX = 3
NVML_PERF_METRICS_PWR_MODEL_SCALE_LOOPS_MAX_PFPP_1X = 32
NVML_PERF_METRICS_PWR_MODEL_SCALE_METRICS_INPUT_MAX = 16
NVML_PERF_METRICS_PWR_MODEL_SCALE_METRICS_PFPP_1X_GPCCLK_IDX = 0
NVML_PERF_METRICS_SAMPLE_COUNT = 13

# NVML_PERF_POLICY*
NVML_PERF_POLICY_POWER = 0
NVML_PERF_POLICY_THERMAL = 1
NVML_PERF_POLICY_SYNC_BOOST = 2
NVML_PERF_POLICY_BOARD_LIMIT = 3
NVML_PERF_POLICY_LOW_UTILIZATION = 4
NVML_PERF_POLICY_RELIABILITY = 5
NVML_PERF_POLICY_TOTAL_APP_CLOCKS = 10
NVML_PERF_POLICY_TOTAL_BASE_CLOCKS = 11
NVML_PERF_POLICY_COUNT = 12

# NVML_POWER_MIZER*
NVML_POWER_MIZER_MODE_ADAPTIVE = 0
NVML_POWER_MIZER_MODE_PREFER_MAXIMUM_PERFORMANCE = 1
NVML_POWER_MIZER_MODE_AUTO = 2
NVML_POWER_MIZER_MODE_PREFER_CONSISTENT_PERFORMANCE = 3

# NVML_POWER_PROFILE*
NVML_POWER_PROFILE_BALANCED = 5
NVML_POWER_PROFILE_COMPUTE = 2
NVML_POWER_PROFILE_DCPCIE = 9
NVML_POWER_PROFILE_HIGH_THROUGHPUT_INFERENCE = 17
NVML_POWER_PROFILE_HMMA_DENSE = 11
NVML_POWER_PROFILE_HMMA_SPARSE = 10
NVML_POWER_PROFILE_HPC = 13
NVML_POWER_PROFILE_INFERENCE = 21
NVML_POWER_PROFILE_LLM_INFERENCE = 6
NVML_POWER_PROFILE_LLM_TRAINING = 7
NVML_POWER_PROFILE_LOW_LATENCY_INFERENCE = 19
NVML_POWER_PROFILE_LOW_PRIORITY_BACKGROUND = 24
NVML_POWER_PROFILE_MAX = 25
NVML_POWER_PROFILE_MAX_P = 0
NVML_POWER_PROFILE_MAX_Q = 1
NVML_POWER_PROFILE_MAX_Q_1 = 15
NVML_POWER_PROFILE_MAX_Q_2 = 22
NVML_POWER_PROFILE_MAX_Q_3 = 23
NVML_POWER_PROFILE_MEDIUM_THROUGHPUT_INFERENCE = 18
NVML_POWER_PROFILE_MEMORY_BOUND = 3
NVML_POWER_PROFILE_MIG = 14
NVML_POWER_PROFILE_NETWORK = 4
NVML_POWER_PROFILE_NETWORK_BOUND = 16
NVML_POWER_PROFILE_OPERATION_CLEAR = 0
NVML_POWER_PROFILE_OPERATION_MAX = 3
NVML_POWER_PROFILE_OPERATION_SET = 1
NVML_POWER_PROFILE_OPERATION_SET_AND_OVERWRITE = 2
NVML_POWER_PROFILE_RBM = 8
NVML_POWER_PROFILE_SYNC_BALANCED = 12
NVML_POWER_PROFILE_TRAINING = 20

# NVML_POWER_SCOPE*
NVML_POWER_SCOPE_GPU = 0
NVML_POWER_SCOPE_MODULE = 1
NVML_POWER_SCOPE_MEMORY = 2
NVML_POWER_SCOPE_GPU_BASE = 3
NVML_POWER_SCOPE_COUNT = 4

# NVML_POWER_SMOOTHING*
NVML_POWER_SMOOTHING_ADMIN_OVERRIDE_NOT_SET = 0xFFFFFFFF
NVML_POWER_SMOOTHING_MAX_NUM_PROFILES = 5
NVML_POWER_SMOOTHING_NUM_PROFILE_PARAMS = 8
NVML_POWER_SMOOTHING_PROFILE_PARAM_PERCENT_TMP_FLOOR = 0
NVML_POWER_SMOOTHING_PROFILE_PARAM_PRIMARY_FLOOR_ACT_OFFSET = 7
NVML_POWER_SMOOTHING_PROFILE_PARAM_PRIMARY_FLOOR_ACT_WIN_MULT = 5
NVML_POWER_SMOOTHING_PROFILE_PARAM_PRIMARY_FLOOR_TAR_WIN_MULT = 6
NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_DOWN_HYSTERESIS = 3
NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_DOWN_RATE = 2
NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_UP_RATE = 1
NVML_POWER_SMOOTHING_PROFILE_PARAM_SECONDARY_POWER_FLOOR = 4

# NVML_POWER_SOURCE*
NVML_POWER_SOURCE_AC = 0
NVML_POWER_SOURCE_BATTERY = 1
NVML_POWER_SOURCE_UNDERSIZED = 2

# NVML_PRM*
NVML_PRM_DATA_MAX_SIZE = 496

# NVML_PRM_COUNTER*
NVML_PRM_COUNTER_ID_NONE = 0
NVML_PRM_COUNTER_ID_PPCNT_PHYSICAL_LAYER_CTRS_LINK_DOWN_EVENTS = 1
NVML_PRM_COUNTER_ID_PPCNT_PHYSICAL_LAYER_CTRS_SUCCESSFUL_RECOVERY_EVENTS = 2
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TOTAL_SUCCESSFUL_RECOVERY_EVENTS = 101
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TIME_SINCE_LAST_RECOVERY = 102
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TIME_BETWEEN_LAST_TWO_RECOVERIES = 103
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TIME_IN_LAST_HOST_SERDES_FEQ_RECOVERY = 104
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TOTAL_TIME_IN_HOST_SERDES_FEQ_RECOVERY = 105
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TOTAL_HOST_SERDES_FEQ_RECOVERY_COUNT = 106
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TOTAL_HOST_SERDES_FEQ_SUCCESSFUL_RECOVERY_COUNT = 107
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_LAST_HOST_SERDES_FEQ_ATTEMPTS_COUNT = 108
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_LAST_SUCCESSFUL_RECOVERY_STEP_ATTEMPTS = 109
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_LAST_SUCCESSFUL_RECOVERY_TIME = 110
NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TOTAL_SUCCESSFUL_RECOVERY_TIME = 111
NVML_PRM_COUNTER_ID_PPCNT_PORTCOUNTERS_PORT_XMIT_WAIT = 201
NVML_PRM_COUNTER_ID_PPCNT_PLR_RCV_CODES = 301
NVML_PRM_COUNTER_ID_PPCNT_PLR_RCV_CODE_ERR = 302
NVML_PRM_COUNTER_ID_PPCNT_PLR_RCV_UNCORRECTABLE_CODE = 303
NVML_PRM_COUNTER_ID_PPCNT_PLR_XMIT_CODES = 304
NVML_PRM_COUNTER_ID_PPCNT_PLR_XMIT_RETRY_CODES = 305
NVML_PRM_COUNTER_ID_PPCNT_PLR_XMIT_RETRY_EVENTS = 306
NVML_PRM_COUNTER_ID_PPCNT_PLR_SYNC_EVENTS = 307
NVML_PRM_COUNTER_ID_PPRM_OPER_RECOVERY = 1001

# NVML_PROCESS_MODE*
NVML_PROCESS_MODE_COMPUTE = 0
NVML_PROCESS_MODE_GRAPHICS = 1
NVML_PROCESS_MODE_MPS = 2
NVML_PROCESS_MODE_ALL = 3
NVML_PROCESS_MODE_MAX = 4

# NVML_PSTATE*
NVML_PSTATE_0 = 0
NVML_PSTATE_1 = 1
NVML_PSTATE_2 = 2
NVML_PSTATE_3 = 3
NVML_PSTATE_4 = 4
NVML_PSTATE_5 = 5
NVML_PSTATE_6 = 6
NVML_PSTATE_7 = 7
NVML_PSTATE_8 = 8
NVML_PSTATE_9 = 9
NVML_PSTATE_10 = 10
NVML_PSTATE_11 = 11
NVML_PSTATE_12 = 12
NVML_PSTATE_13 = 13
NVML_PSTATE_14 = 14
NVML_PSTATE_15 = 15
NVML_PSTATE_UNKNOWN = 32

# NVML_RESTRICTED_API*
NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS = 0
NVML_RESTRICTED_API_SET_AUTO_BOOSTED_CLOCKS = 1
NVML_RESTRICTED_API_COUNT = 2

# NVML_RUSD_POLL*
NVML_RUSD_POLL_NONE = 0
NVML_RUSD_POLL_CLOCK = 1
NVML_RUSD_POLL_PERF = 2
NVML_RUSD_POLL_MEMORY = 4
NVML_RUSD_POLL_POWER = 8
NVML_RUSD_POLL_THERMAL = 16
NVML_RUSD_POLL_PCI = 32
NVML_RUSD_POLL_FAN = 64
NVML_RUSD_POLL_PROC_UTIL = 128
NVML_RUSD_POLL_ALL = 0xFFFFFFFFFFFFFFFF

# NVML_TEMPERATURE*
NVML_TEMPERATURE_GPU = 0
NVML_TEMPERATURE_GPU_MAX = 1
NVML_TEMPERATURE_COUNT = 2

# NVML_TEMPERATURE_THRESHOLD*
NVML_TEMPERATURE_THRESHOLD_SHUTDOWN = 0
NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1
NVML_TEMPERATURE_THRESHOLD_MEM_MAX = 2
NVML_TEMPERATURE_THRESHOLD_GPU_MAX = 3
NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN = 4
NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR = 5
NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX = 6
NVML_TEMPERATURE_THRESHOLD_GPS_CURR = 7
NVML_TEMPERATURE_THRESHOLD_COUNT = 8

# NVML_THERMAL_CONTROLLER*
NVML_THERMAL_CONTROLLER_UNKNOWN = -1
NVML_THERMAL_CONTROLLER_NONE = 0
NVML_THERMAL_CONTROLLER_GPU_INTERNAL = 1
NVML_THERMAL_CONTROLLER_ADM1032 = 2
NVML_THERMAL_CONTROLLER_ADT7461 = 3
NVML_THERMAL_CONTROLLER_MAX6649 = 4
NVML_THERMAL_CONTROLLER_MAX1617 = 5
NVML_THERMAL_CONTROLLER_LM99 = 6
NVML_THERMAL_CONTROLLER_LM89 = 7
NVML_THERMAL_CONTROLLER_LM64 = 8
NVML_THERMAL_CONTROLLER_G781 = 9
NVML_THERMAL_CONTROLLER_ADT7473 = 10
NVML_THERMAL_CONTROLLER_SBMAX6649 = 11
NVML_THERMAL_CONTROLLER_VBIOSEVT = 12
NVML_THERMAL_CONTROLLER_OS = 13
NVML_THERMAL_CONTROLLER_NVSYSCON_CANOAS = 14
NVML_THERMAL_CONTROLLER_NVSYSCON_E551 = 15
NVML_THERMAL_CONTROLLER_MAX6649R = 16
NVML_THERMAL_CONTROLLER_ADT7473S = 17

# NVML_THERMAL_COOLER*
NVML_THERMAL_COOLER_SIGNAL_COUNT = 3
NVML_THERMAL_COOLER_SIGNAL_NONE = 0
NVML_THERMAL_COOLER_SIGNAL_TOGGLE = 1
NVML_THERMAL_COOLER_SIGNAL_VARIABLE = 2
NVML_THERMAL_COOLER_TARGET_GPU = 2
NVML_THERMAL_COOLER_TARGET_GPU_RELATED = 14
NVML_THERMAL_COOLER_TARGET_MEMORY = 4
NVML_THERMAL_COOLER_TARGET_NONE = 1
NVML_THERMAL_COOLER_TARGET_POWER_SUPPLY = 8

# NVML_THERMAL_TARGET*
NVML_THERMAL_TARGET_UNKNOWN = -1
NVML_THERMAL_TARGET_NONE = 0
NVML_THERMAL_TARGET_GPU = 1
NVML_THERMAL_TARGET_MEMORY = 2
NVML_THERMAL_TARGET_POWER_SUPPLY = 4
NVML_THERMAL_TARGET_BOARD = 8
NVML_THERMAL_TARGET_VCD_BOARD = 9
NVML_THERMAL_TARGET_VCD_INLET = 10
NVML_THERMAL_TARGET_VCD_OUTLET = 11
NVML_THERMAL_TARGET_ALL = 15

# NVML_UUID_TYPE*
NVML_UUID_TYPE_NONE = 0
NVML_UUID_TYPE_ASCII = 1
NVML_UUID_TYPE_BINARY = 2

# NVML_VALUE*
NVML_VALUE_NOT_AVAILABLE_uint = c_uint(0xFFFFFFFF)
NVML_VALUE_NOT_AVAILABLE_ulonglong = c_ulonglong(0xFFFFFFFFFFFFFFFF)

# NVML_VALUE_TYPE*
NVML_VALUE_TYPE_DOUBLE = 0
NVML_VALUE_TYPE_UNSIGNED_INT = 1
NVML_VALUE_TYPE_UNSIGNED_LONG = 2
NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3
NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4
NVML_VALUE_TYPE_SIGNED_INT = 5
NVML_VALUE_TYPE_UNSIGNED_SHORT = 6
NVML_VALUE_TYPE_COUNT = 7

# NVML_VGPU*
NVML_VGPU_INSTANCE_GUEST_INFO_STATE_UNINITIALIZED = 0
NVML_VGPU_INSTANCE_GUEST_INFO_STATE_INITIALIZED = 1
NVML_VGPU_NAME_BUFFER_SIZE = 64
NVML_VGPU_METADATA_OPAQUE_DATA_SIZE = 260

# NVML_VGPU_CAP*
NVML_VGPU_CAP_NVLINK_P2P = 0
NVML_VGPU_CAP_GPUDIRECT = 1
NVML_VGPU_CAP_MULTI_VGPU_EXCLUSIVE = 2
NVML_VGPU_CAP_EXCLUSIVE_TYPE = 3
NVML_VGPU_CAP_EXCLUSIVE_SIZE = 4
NVML_VGPU_CAP_COUNT = 5

# NVML_VGPU_COMPATIBILITY*
NVML_VGPU_COMPATIBILITY_LIMIT_NONE = 0
NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER = 1
NVML_VGPU_COMPATIBILITY_LIMIT_GUEST_DRIVER = 2
NVML_VGPU_COMPATIBILITY_LIMIT_GPU = 4
NVML_VGPU_COMPATIBILITY_LIMIT_OTHER = 0x80000000

# NVML_VGPU_DRIVER*
NVML_VGPU_DRIVER_CAP_HETEROGENEOUS_MULTI_VGPU = 0
NVML_VGPU_DRIVER_CAP_WARM_UPDATE = 1
NVML_VGPU_DRIVER_CAP_COUNT = 2

# NVML_VGPU_PGPU*
NVML_VGPU_PGPU_HETEROGENEOUS_MODE = 0
NVML_VGPU_PGPU_HOMOGENEOUS_MODE = 1
NVML_VGPU_PGPU_METADATA_OPAQUE_DATA_SIZE = 256

# NVML_VGPU_SCHEDULER*
NVML_VGPU_SCHEDULER_ARR_DEFAULT = 0
NVML_VGPU_SCHEDULER_ARR_DISABLE = 1
NVML_VGPU_SCHEDULER_ARR_ENABLE = 2
NVML_VGPU_SCHEDULER_ENGINE_TYPE_GRAPHICS = 1
NVML_VGPU_SCHEDULER_ENGINE_TYPE_NVENC0 = 3
NVML_VGPU_SCHEDULER_ENGINE_TYPE_NVENC1 = 2
NVML_VGPU_SCHEDULER_POLICY_BEST_EFFORT = 1
NVML_VGPU_SCHEDULER_POLICY_EQUAL_SHARE = 2
NVML_VGPU_SCHEDULER_POLICY_FIXED_SHARE = 3
NVML_VGPU_SCHEDULER_POLICY_UNKNOWN = 0

# NVML_VGPU_VM*
NVML_VGPU_VM_COMPATIBILITY_COLD = 1
NVML_VGPU_VM_COMPATIBILITY_HIBERNATE = 2
NVML_VGPU_VM_COMPATIBILITY_LIVE = 8
NVML_VGPU_VM_COMPATIBILITY_NONE = 0
NVML_VGPU_VM_COMPATIBILITY_SLEEP = 4
NVML_VGPU_VM_ID_DOMAIN_ID = 0
NVML_VGPU_VM_ID_UUID = 1

# nvmlClocksEvent*
nvmlClocksEventReasonAll = 0x1FF
nvmlClocksEventReasonApplicationsClocksSetting = 0x2
nvmlClocksEventReasonDisplayClockSetting = 0x100
nvmlClocksEventReasonGpuIdle = 0x1
nvmlClocksEventReasonHwPowerBrakeSlowdown = 0x80
nvmlClocksEventReasonHwSlowdown = 0x8
nvmlClocksEventReasonHwThermalSlowdown = 0x40
nvmlClocksEventReasonNone = 0x0
nvmlClocksEventReasonSwPowerCap = 0x4
nvmlClocksEventReasonSwThermalSlowdown = 0x20
nvmlClocksEventReasonSyncBoost = 0x10
nvmlClocksEventReasonUserDefinedClocks = 0x2

# nvmlClocksThrottle*
nvmlClocksThrottleReasonAll = 0x7FF
nvmlClocksThrottleReasonApplicationsClocksSetting = 0x2
nvmlClocksThrottleReasonBoardLimit = 0x200
nvmlClocksThrottleReasonDisplayClockSetting = 0x100
nvmlClocksThrottleReasonGpuIdle = 0x1
nvmlClocksThrottleReasonHwPowerBrakeSlowdown = 0x80
nvmlClocksThrottleReasonHwSlowdown = 0x8
nvmlClocksThrottleReasonHwThermalSlowdown = 0x40
nvmlClocksThrottleReasonNone = 0x0
nvmlClocksThrottleReasonReliability = 0x400
nvmlClocksThrottleReasonSwPowerCap = 0x4
nvmlClocksThrottleReasonSwThermalSlowdown = 0x20
nvmlClocksThrottleReasonSyncBoost = 0x10
nvmlClocksThrottleReasonUserDefinedClocks = 0x2

# nvmlEvent*
nvmlEventMigConfigChange = 0x100

# nvmlEventType*
nvmlEventTypeNone = 0x0
nvmlEventTypeSingleBitEccError = 0x1
nvmlEventTypeDoubleBitEccError = 0x2
nvmlEventTypePState = 0x4
nvmlEventTypeXidCriticalError = 0x8
nvmlEventTypeClock = 0x10
nvmlEventTypePowerSourceChange = 0x80
nvmlEventTypeSingleBitEccErrorStorm = 0x200
nvmlEventTypeDramRetirementEvent = 0x400
nvmlEventTypeDramRetirementFailure = 0x800
nvmlEventTypeNonFatalPoisonError = 0x1000
nvmlEventTypeFatalPoisonError = 0x2000
nvmlEventTypeGpuUnavailableError = 0x4000
nvmlEventTypeGpuRecoveryAction = 0x8000
nvmlEventTypeAll = 0xFF9F

# nvmlSystemEvent*
nvmlSystemEventTypeCount = 0x2
nvmlSystemEventTypeGpuDriverBind = 0x2
nvmlSystemEventTypeGpuDriverUnbind = 0x1

# Others
MAX_CLK_DOMAINS = 32
NVML_ADAPTIVE_CLOCKING_INFO_STATUS_DISABLED = 0
NVML_ADAPTIVE_CLOCKING_INFO_STATUS_ENABLED = 1
NVML_AFFINITY_SCOPE_NODE = 0
NVML_AFFINITY_SCOPE_SOCKET = 1
NVML_BRIDGE_CHIP_BRO4 = 1
NVML_BRIDGE_CHIP_PLX = 0
NVML_C2C_POWER_STATE_FULL_POWER = 0
NVML_C2C_POWER_STATE_LOW_POWER = 1
NVML_CPER_ACCESS_TYPE_GPU = 1
NVML_CPER_CURSOR_HANDLE_INIT = 0
NVML_DEC_UTILIZATION_SAMPLES = 4
NVML_DETACH_GPU_KEEP = 0
NVML_DETACH_GPU_REMOVE = 1
NVML_DEV_CAP_EGM = 1
NVML_DOUBLE_BIT_ECC = 1
NVML_ECC_COUNTER_TYPE_COUNT = 2
NVML_ECC_ERROR_TYPE_COUNT = 2
NVML_ENCODER_QUERY_UNKNOWN = 255
NVML_ENC_UTILIZATION_SAMPLES = 3
NVML_EVENT_DATA_TYPE_GPU_OPERATIONAL_EVENT = 1
NVML_EVENT_DATA_TYPE_NVML_EVENT = 0
NVML_FEATURE_DISABLED = 0
NVML_FEATURE_ENABLED = 1
NVML_GSP_FIRMWARE_VERSION_BUF_SIZE = 64
NVML_HOST_VGPU_MODE_NON_SRIOV = 0
NVML_HOST_VGPU_MODE_SRIOV = 1
NVML_JPG_UTILIZATION_SAMPLES = 8
NVML_LED_COLOR_AMBER = 1
NVML_LED_COLOR_GREEN = 0
NVML_MODULE_POWER_SAMPLES = 7
NVML_OFA_UTILIZATION_SAMPLES = 9
NVML_PROCESSOR_CLK_SAMPLES = 5
NVML_SAMPLINGTYPE_COUNT = 10
NVML_SCHEDULER_SW_MAX_LOG_ENTRIES = 200
NVML_SINGLE_BIT_ECC = 0
NVML_SUPPORTED_VGPU_SCHEDULER_POLICY_COUNT = 3
NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE = 80
NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE = 80
NVML_TOPOLOGY_CPU = 40
NVML_TOTAL_POWER_SAMPLES = 0
NVML_WORKLOAD_POWER_MAX_PROFILES = 255
nvmlFlagDefault = 0x0
nvmlFlagForce = 0x1

# Versions of structs
ConfComputeGetKeyRotationThresholdInfo_v1 = 0x1000010
ConfComputeSetKeyRotationThresholdInfo_v1 = 0x1000010
ProcessesUtilizationInfo_v1 = 0x1000018
SystemDriverBranchInfo_v1 = 0x1000054
VgpuHeterogeneousMode_v1 = 0x1000008
VgpuInstancesUtilizationInfo_v1 = 0x1000020
VgpuPlacementId_v1 = 0x1000008
VgpuPlacementList_v1 = 0x1000018
VgpuPlacementList_v2 = 0x2000020
VgpuProcessesUtilizationInfo_v1 = 0x1000018
VgpuRuntimeState_v1 = 0x1000010
VgpuTypeBar1Info_v1 = 0x1000010
nvmlActiveVgpuInstanceInfo_v1 = 0x1000010
nvmlC2cModeInfo_v1 = 0x1000008
nvmlClockOffset_v1 = 0x1000018
nvmlComputeInstanceProfileInfo_v2 = 0x2000088
nvmlCoolerInfo_v1 = 0x1000010
nvmlDeviceAddressingMode_v1 = 0x1000008
nvmlDeviceCapabilities_v1 = 0x1000008
nvmlDeviceCurrentClockFreqs_v1 = 0x1000804
nvmlDevicePerfModes_v1 = 0x1000804
nvmlDramEncryptionInfo_v1 = 0x1000008
nvmlEccSramErrorStatus_v1 = 0x1000068
nvmlEccSramUniqueUncorrectedErrorCounts_v1 = 0x1000010
nvmlFanSpeedInfo_v1 = 0x100000C
nvmlGpuFabricInfo_v2 = 0x2000024
nvmlGpuFabricInfo_v3 = 0x3000028
nvmlGpuInstanceProfileInfo_v2 = 0x2000098
nvmlMarginTemperature_v1 = 0x1000008
nvmlMemory_v2 = 0x2000028
nvmlNvLinkInfo_v1 = 0x1000008
nvmlNvLinkInfo_v2 = 0x200064C
nvmlNvlinkGetBwMode_v1 = 0x100000C
nvmlNvlinkSetBwMode_v1 = 0x100000C
nvmlNvlinkSupportedBwModes_v1 = 0x100001C
nvmlPciInfoExt_v1 = 0x1000040
nvmlPdi_v1 = 0x1000010
nvmlPerfMetricsSamples_v1 = 0x100A428
nvmlPlatformInfo_v1 = 0x100002C
nvmlPlatformInfo_v2 = 0x200002C
nvmlPowerSmoothingProfile_v1 = 0x1000018
nvmlPowerSmoothingState_v1 = 0x1000008
nvmlPowerValue_v2 = 0x200000C
nvmlProcessDetailList_v1 = 0x1000018
nvmlRepairStatus_v1 = 0x100000C
nvmlRusdSettings_v1 = 0x1000010
nvmlSystemConfComputeSettings_v1 = 0x1000014
nvmlSystemEventSetCreateRequest_v1 = 0x1000010
nvmlSystemEventSetFreeRequest_v1 = 0x1000010
nvmlSystemEventSetWaitRequest_v1 = 0x1000020
nvmlSystemRegisterEventRequest_v1 = 0x1000018
nvmlUUID_v1 = 0x1000034
nvmlUnrepairableMemory_v1 = 0x1000008
nvmlVgpuCreatablePlacementInfo_v1 = 0x1000020
nvmlVgpuSchedulerLogInfo_v1 = 0x10025A0
nvmlVgpuSchedulerStateInfo_v1 = 0x1000018
nvmlVgpuSchedulerState_v1 = 0x1000018
nvmlVgpuTypeIdInfo_v1 = 0x1000010
nvmlVgpuTypeMaxInstance_v1 = 0x100000C
nvmlWorkloadPowerProfileCurrentProfiles_v1 = 0x1000064
nvmlWorkloadPowerProfileInfo_v1 = 0x100002C
nvmlWorkloadPowerProfileProfilesInfo_v1 = 0x1002BF8
nvmlWorkloadPowerProfileRequestedProfiles_v1 = 0x1000024
nvmlWorkloadPowerProfileUpdateProfiles_v1 = 0x1000024

# ---- Structs, unions and handle types: declared here, described below, made on first use ----

if TYPE_CHECKING:
    c_metricInfo_t: "type[Structure]"
    c_nvmlAccountingStats_t: "type[_PrintableStructure]"
    c_nvmlAccountingStats_v2_t: "type[_PrintableStructure]"
    c_nvmlActiveVgpuInstanceInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlAdaptiveTgpModeInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlBAR1Memory_t: "type[_PrintableStructure]"
    c_nvmlBBXTimeData_v1_t: "type[_PrintableStructure]"
    c_nvmlBridgeChipHierarchy_t: "type[_PrintableStructure]"
    c_nvmlBridgeChipInfo_t: "type[_PrintableStructure]"
    c_nvmlC2cModeInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlCPERCursor_v1_t: "type[_PrintableStructure]"
    c_nvmlClockOffset_t: "type[_PrintableStructure]"
    c_nvmlComputeInstanceInfo_t: "type[Structure]"
    c_nvmlComputeInstancePlacement_t: "type[Structure]"
    c_nvmlComputeInstanceProfileInfo_t: "type[Structure]"
    c_nvmlComputeInstanceProfileInfo_v2_t: "type[_PrintableStructure]"
    c_nvmlComputeInstance_t: "type"
    c_nvmlConfComputeGetKeyRotationThresholdInfo_t: "type[Structure]"
    c_nvmlConfComputeGpuAttestationReport_t: "type[Structure]"
    c_nvmlConfComputeGpuCertificate_t: "type[Structure]"
    c_nvmlConfComputeMemSizeInfo_t: "type[Structure]"
    c_nvmlConfComputeSetKeyRotationThresholdInfo_t: "type[Structure]"
    c_nvmlConfComputeSystemCaps_t: "type[Structure]"
    c_nvmlConfComputeSystemState_t: "type[Structure]"
    c_nvmlCoolerInfo_t: "type[_PrintableStructure]"
    c_nvmlCoreRailMetrics_t: "type[_PrintableStructure]"
    c_nvmlDeviceAddressingMode_t: "type[_PrintableStructure]"
    c_nvmlDeviceCapabilities_v1_t: "type[_PrintableStructure]"
    c_nvmlDeviceCurrentClockFreqs_v1_t: "type[_PrintableStructure]"
    c_nvmlDevicePerfModes_v1_t: "type[_PrintableStructure]"
    c_nvmlDevicePowerMizerModes_v1_t: "type[_PrintableStructure]"
    c_nvmlDramEncryptionInfo_t: "type[_PrintableStructure]"
    c_nvmlEccBankRemapperHistogram_v1_t: "type[_PrintableStructure]"
    c_nvmlEccBankRemapperStatus_v1_t: "type[_PrintableStructure]"
    c_nvmlEccErrorCounts_t: "type[_PrintableStructure]"
    c_nvmlEccSramErrorStatus_v1_t: "type[_PrintableStructure]"
    c_nvmlEccSramUniqueUncorrectedErrorCounts_v1_t: "type[_PrintableStructure]"
    c_nvmlEccSramUniqueUncorrectedErrorEntry_v1_t: "type[_PrintableStructure]"
    c_nvmlEventData_t: "type[_PrintableStructure]"
    c_nvmlEventSetGetContextCount_v1_t: "type[_PrintableStructure]"
    c_nvmlEventSetGetContextData_v1_t: "type[_PrintableStructure]"
    c_nvmlEventSetGetContextInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1_t: "type[_PrintableStructure]"
    c_nvmlEventSetWait_v3_t: "type[_PrintableStructure]"
    c_nvmlEventSet_t: "type"
    c_nvmlExcludedDeviceInfo_t: "type[_PrintableStructure]"
    c_nvmlFBCSession_t: "type[_PrintableStructure]"
    c_nvmlFBCStats_t: "type[Structure]"
    c_nvmlFanSpeedInfo_t: "type[_PrintableStructure]"
    c_nvmlGetCPER_v1_t: "type[_PrintableStructure]"
    c_nvmlGetMemoryLimits_v1_t: "type[_PrintableStructure]"
    c_nvmlGpmMetric_t: "type[_PrintableStructure]"
    c_nvmlGpmMetricsGet_t: "type[_PrintableStructure]"
    c_nvmlGpmSample_t: "type"
    c_nvmlGpuFabricClique_v1_t: "type[_PrintableStructure]"
    c_nvmlGpuFabricInfoV_t: "type[_PrintableStructure]"
    c_nvmlGpuFabricInfo_t: "type[_PrintableStructure]"
    c_nvmlGpuFabricInfo_v2_t: "type[_PrintableStructure]"
    c_nvmlGpuFabricInfo_v3_t: "type[_PrintableStructure]"
    c_nvmlGpuFabricInfo_v4_t: "type[_PrintableStructure]"
    c_nvmlGpuInstanceInfo_t: "type[Structure]"
    c_nvmlGpuInstancePlacement_t: "type[Structure]"
    c_nvmlGpuInstanceProfileInfo_t: "type[Structure]"
    c_nvmlGpuInstanceProfileInfo_v2_t: "type[_PrintableStructure]"
    c_nvmlGpuInstance_t: "type"
    c_nvmlGpuOperationalEventConfig_v1_t: "type[_PrintableStructure]"
    c_nvmlGridLicensableFeature_t: "type[_PrintableStructure]"
    c_nvmlGridLicensableFeature_v2_t: "type[_PrintableStructure]"
    c_nvmlGridLicensableFeature_v3_t: "type[_PrintableStructure]"
    c_nvmlGridLicensableFeature_v4_t: "type[_PrintableStructure]"
    c_nvmlGridLicensableFeatures_t: "type[_PrintableStructure]"
    c_nvmlGridLicensableFeatures_v2_t: "type[_PrintableStructure]"
    c_nvmlGridLicensableFeatures_v3_t: "type[_PrintableStructure]"
    c_nvmlGridLicensableFeatures_v4_t: "type[_PrintableStructure]"
    c_nvmlGridLicenseExpiry_t: "type[_PrintableStructure]"
    c_nvmlHostname_v1_t: "type[_PrintableStructure]"
    c_nvmlHwbcEntry_t: "type[_PrintableStructure]"
    c_nvmlLedState_t: "type[_PrintableStructure]"
    c_nvmlMarginTemperature_v1_t: "type[_PrintableStructure]"
    c_nvmlMask255_t: "type[_PrintableStructure]"
    c_nvmlNvLinkInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlNvLinkInfo_v2_t: "type[_PrintableStructure]"
    c_nvmlNvLinkPowerThres_t: "type[Structure]"
    c_nvmlNvlinkFirmwareInfo_t: "type[_PrintableStructure]"
    c_nvmlNvlinkFirmwareVersion_t: "type[_PrintableStructure]"
    c_nvmlNvlinkGetBwMode_v1_t: "type[_PrintableStructure]"
    c_nvmlNvlinkSetBwModeAsync_v1_t: "type[_PrintableStructure]"
    c_nvmlNvlinkSetBwMode_v1_t: "type[_PrintableStructure]"
    c_nvmlNvlinkSupportedBwModes_v1_t: "type[_PrintableStructure]"
    c_nvmlNvlinkTelemetrySample_v1_t: "type[_PrintableStructure]"
    c_nvmlNvlinkTelemetrySamples_v1_t: "type[_PrintableStructure]"
    c_nvmlObservedMetrics_t: "type[_PrintableStructure]"
    c_nvmlPRMCounterInput_v1_t: "type[_PrintableStructure]"
    c_nvmlPRMCounterList_v1_t: "type[_PrintableStructure]"
    c_nvmlPRMCounterValue_v1_t: "type[_PrintableStructure]"
    c_nvmlPRMCounter_v1_t: "type[_PrintableStructure]"
    c_nvmlPRMTLV_v1_t: "type[_PrintableStructure]"
    c_nvmlPSUInfo_t: "type[_PrintableStructure]"
    c_nvmlPdi_t: "type[_PrintableStructure]"
    c_nvmlPerfMetricControllerSampleData_t: "type[Union]"
    c_nvmlPerfMetricControllerSample_t: "type[_PrintableStructure]"
    c_nvmlPerfMetricsDlppc2xSample_t: "type[_PrintableStructure]"
    c_nvmlPerfMetricsPfpp1xSample_t: "type[_PrintableStructure]"
    c_nvmlPerfMetricsSample_t: "type[_PrintableStructure]"
    c_nvmlPerfMetricsSamples_v1_t: "type[_PrintableStructure]"
    c_nvmlPlatformInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlPlatformInfo_v2_t: "type[_PrintableStructure]"
    c_nvmlPmgrPwrTuple_t: "type[_PrintableStructure]"
    c_nvmlPowerSmoothingProfile_v1_t: "type[_PrintableStructure]"
    c_nvmlPowerSmoothingState_v1_t: "type[_PrintableStructure]"
    c_nvmlPowerValue_v2_t: "type[_PrintableStructure]"
    c_nvmlProcessDetailList_t: "type[_PrintableStructure]"
    c_nvmlProcessDetailList_v1_t: "type[_PrintableStructure]"
    c_nvmlProcessDetail_v1_t: "type[Structure]"
    c_nvmlProcessInfo_t: "type[_PrintableStructure]"
    c_nvmlProcessInfo_v2_t: "type[_PrintableStructure]"
    c_nvmlProcessInfo_v3_t: "type[_PrintableStructure]"
    c_nvmlProcessesUtilizationInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlPwrModelMetricsDlppm1xDramclkEstimates_t: "type[_PrintableStructure]"
    c_nvmlPwrModelMetricsDlppm1xPerf_t: "type[_PrintableStructure]"
    c_nvmlPwrModelMetricsDlppm1x_t: "type[_PrintableStructure]"
    c_nvmlPwrModelMetricsPfpp1x_t: "type[_PrintableStructure]"
    c_nvmlPwrModelMetricsSamplePfpp1x_t: "type[_PrintableStructure]"
    c_nvmlPwrModelOperatingPointPfpp1x_t: "type[_PrintableStructure]"
    c_nvmlRailMetrics_t: "type[_PrintableStructure]"
    c_nvmlRemappedRowsInfo_v2_t: "type[_PrintableStructure]"
    c_nvmlRepairStatus_t: "type[_PrintableStructure]"
    c_nvmlRowRemapperHistogramValues: "type[Structure]"
    c_nvmlRusdSettings_v1_t: "type[_PrintableStructure]"
    c_nvmlSample_t: "type[_PrintableStructure]"
    c_nvmlSetMemoryLimits_v1_t: "type[_PrintableStructure]"
    c_nvmlSystemConfComputeSettings_v1_t: "type[Structure]"
    c_nvmlSystemDriverBranchInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlSystemEventData_v1_t: "type[_PrintableStructure]"
    c_nvmlSystemEventSetCreateRequest_v1_t: "type[_PrintableStructure]"
    c_nvmlSystemEventSetFreeRequest_v1_t: "type[_PrintableStructure]"
    c_nvmlSystemEventSetWaitRequest_v1_t: "type[_PrintableStructure]"
    c_nvmlSystemEventSet_t: "type"
    c_nvmlSystemRegisterEventRequest_v1_t: "type[_PrintableStructure]"
    c_nvmlTemperature_v1_t: "type[_PrintableStructure]"
    c_nvmlUUIDValue_t: "type[Union]"
    c_nvmlUUID_t: "type[_PrintableStructure]"
    c_nvmlUnitFanInfo_t: "type[_PrintableStructure]"
    c_nvmlUnitFanSpeeds_t: "type[_PrintableStructure]"
    c_nvmlUnitInfo_t: "type[_PrintableStructure]"
    c_nvmlUnit_t: "type"
    c_nvmlUnrepairableMemory_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuCreatablePlacementInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuHeterogeneousMode_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuInstanceUtilizationInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuInstanceUtilizationSample_t: "type[_PrintableStructure]"
    c_nvmlVgpuInstancesUtilizationInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuLicenseExpiry_t: "type[_PrintableStructure]"
    c_nvmlVgpuLicenseInfo_t: "type[_PrintableStructure]"
    c_nvmlVgpuMetadata_t: "type[_PrintableStructure]"
    c_nvmlVgpuPgpuCompatibility_t: "type[Structure]"
    c_nvmlVgpuPgpuMetadata_t: "type[_PrintableStructure]"
    c_nvmlVgpuPlacementId_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuPlacementList_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuPlacementList_v2_t: "type[_PrintableStructure]"
    c_nvmlVgpuProcessUtilizationInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuProcessUtilizationSample_t: "type[_PrintableStructure]"
    c_nvmlVgpuProcessesUtilizationInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedDataWithARR_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedData_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedSetDataWithARR_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedSetData_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerCapabilities_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerGetState_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerLogEntry_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerLogEntry_v2_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerLogInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerLogInfo_v2_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerLog_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerParams_t: "type[Union]"
    c_nvmlVgpuSchedulerSetParams_t: "type[Union]"
    c_nvmlVgpuSchedulerSetState_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerStateInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerStateInfo_v2_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerState_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuSchedulerState_v2_t: "type[_PrintableStructure]"
    c_nvmlVgpuTypeBar1Info_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuTypeIdInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuTypeMaxInstance_v1_t: "type[_PrintableStructure]"
    c_nvmlVgpuVersion_t: "type[Structure]"
    c_nvmlViolationTime_t: "type[_PrintableStructure]"
    c_nvmlWorkloadPowerProfileCurrentProfiles_v1_t: "type[_PrintableStructure]"
    c_nvmlWorkloadPowerProfileInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlWorkloadPowerProfileProfilesInfo_v1_t: "type[_PrintableStructure]"
    c_nvmlWorkloadPowerProfileRequestedProfiles_v1_t: "type[_PrintableStructure]"
    c_nvmlWorkloadPowerProfileUpdateProfiles_v1_t: "type[_PrintableStructure]"
    nvmlClkMonFaultInfo_t: "type[Structure]"
    nvmlClkMonStatus_t: "type[Structure]"
    nvmlNvLinkUtilizationControl_t: "type[_PrintableStructure]"
    nvmlPciInfoExt_v1_t: "type[_PrintableStructure]"
    nvmlPciInfo_v2_t: "type[_PrintableStructure]"
    nvmlVgpuRuntimeState_v1_t: "type[_PrintableStructure]"
    struct_c_nvmlComputeInstance_t: "type[Structure]"
    struct_c_nvmlEventSet_t: "type[Structure]"
    struct_c_nvmlGpmSample_t: "type[Structure]"
    struct_c_nvmlGpuInstance_t: "type[Structure]"
    struct_c_nvmlSystemEventSet_t: "type[Structure]"
    struct_c_nvmlUnit_t: "type[Structure]"

# name: base(field: type[ : bits][ = initial value], ...), or name: another name for a type
_CATALOGUE_STRUCTS = {
    "c_metricInfo_t": "Structure(shortName: c_char_p, longName: c_char_p, unit: c_char_p)",
    "c_nvmlAccountingStats_t": (
        "_PrintableStructure(gpuUtilization: c_uint, memoryUtilization: c_uint, maxMemoryUsage: c_ulonglong, "
        "time: c_ulonglong, startTime: c_ulonglong, isRunning: c_uint, reserved: c_uint * 5)"
    ),
    "c_nvmlAccountingStats_v2_t": (
        "_PrintableStructure(pid: c_uint, isRunning: c_uint, gpuUtilization: c_uint, memoryUtilization: c_uint, "
        "maxMemoryUsage: c_ulonglong, sampleCount: c_uint, sumGpuUtil: c_ulonglong, sumFbUtil: c_ulonglong, "
        "time: c_ulonglong, startTime: c_ulonglong)"
    ),
    "c_nvmlActiveVgpuInstanceInfo_v1_t": (
        "_PrintableStructure(version: c_uint, vgpuCount: c_uint, vgpuInstances: POINTER(c_uint))"
    ),
    "c_nvmlAdaptiveTgpModeInfo_v1_t": (
        "_PrintableStructure(inBandEnableRequest: c_uint, featureAllowedByAdmin: c_uint, adminOverrideEnabled: c_uint, "
        "enablementStatus: c_uint, adjustedLimitMw: c_uint)"
    ),
    "c_nvmlBAR1Memory_t": "_PrintableStructure(bar1Total: c_ulonglong, bar1Free: c_ulonglong, bar1Used: c_ulonglong)",
    "c_nvmlBBXTimeData_v1_t": "_PrintableStructure(timeRun: c_uint)",
    "c_nvmlBridgeChipHierarchy_t": (
        "_PrintableStructure(bridgeCount: c_uint, bridgeChipInfo: c_nvmlBridgeChipInfo_t * 128)"
    ),
    "c_nvmlBridgeChipInfo_t": "_PrintableStructure(type: c_uint, fwVersion: c_uint)",
    "c_nvmlC2cModeInfo_v1_t": "_PrintableStructure(isC2cEnabled: c_uint)",
    "c_nvmlCPERCursor_v1_t": "_PrintableStructure(cperTypeMask: c_uint, uuid: c_char * 80, handle: c_ulonglong)",
    "c_nvmlClockOffset_t": (
        "_PrintableStructure(version: c_uint, type: c_uint, pstate: c_uint, clockOffsetMHz: c_int, "
        "minClockOffsetMHz: c_int, maxClockOffsetMHz: c_int)"
    ),
    "c_nvmlComputeInstanceInfo_t": (
        "Structure(device: c_nvmlDevice_t, gpuInstance: c_nvmlGpuInstance_t, id: c_uint, profileId: c_uint, "
        "placement: c_nvmlComputeInstancePlacement_t)"
    ),
    "c_nvmlComputeInstancePlacement_t": "Structure(start: c_uint, size: c_uint)",
    "c_nvmlComputeInstanceProfileInfo_t": (
        "Structure(id: c_uint, sliceCount: c_uint, instanceCount: c_uint, multiprocessorCount: c_uint, "
        "sharedCopyEngineCount: c_uint, sharedDecoderCount: c_uint, sharedEncoderCount: c_uint, "
        "sharedJpegCount: c_uint, sharedOfaCount: c_uint)"
    ),
    "c_nvmlComputeInstanceProfileInfo_v2_t": (
        "_PrintableStructure(version: c_uint = 0x2000088, id: c_uint, sliceCount: c_uint, instanceCount: c_uint, "
        "multiprocessorCount: c_uint, sharedCopyEngineCount: c_uint, sharedDecoderCount: c_uint, "
        "sharedEncoderCount: c_uint, sharedJpegCount: c_uint, sharedOfaCount: c_uint, name: c_char * 96)"
    ),
    "c_nvmlComputeInstance_t": "POINTER(struct_c_nvmlComputeInstance_t)",
    "c_nvmlConfComputeGetKeyRotationThresholdInfo_t": "Structure(version: c_uint, attackerAdvantage: c_ulonglong)",
    "c_nvmlConfComputeGpuAttestationReport_t": (
        "Structure(isCecAttestationReportPresent: c_uint, attestationReportSize: c_uint, "
        "cecAttestationReportSize: c_uint, nonce: c_ubyte * 32, attestationReport: c_ubyte * 8192, "
        "cecAttestationReport: c_ubyte * 4096)"
    ),
    "c_nvmlConfComputeGpuCertificate_t": (
        "Structure(certChainSize: c_uint, attestationCertChainSize: c_uint, certChain: c_ubyte * 4096, "
        "attestationCertChain: c_ubyte * 5120)"
    ),
    "c_nvmlConfComputeMemSizeInfo_t": "Structure(protectedMemSizeKib: c_ulonglong, unprotectedMemSizeKib: c_ulonglong)",
    "c_nvmlConfComputeSetKeyRotationThresholdInfo_t": "Structure(version: c_uint, maxAttackerAdvantage: c_ulonglong)",
    "c_nvmlConfComputeSystemCaps_t": "Structure(cpuCaps: c_uint, gpusCaps: c_uint)",
    "c_nvmlConfComputeSystemState_t": "Structure(environment: c_uint, ccFeature: c_uint, devToolsMode: c_uint)",
    "c_nvmlCoolerInfo_t": (
        "_PrintableStructure(version: c_uint, index: c_uint, coolerControlType: c_uint, coolerTarget: c_uint)"
    ),
    "c_nvmlCoreRailMetrics_t": "_PrintableStructure(rails: c_nvmlRailMetrics_t * 2)",
    "c_nvmlDeviceAddressingMode_t": "_PrintableStructure(version: c_uint = 0x1000008, value: c_uint)",
    "c_nvmlDeviceCapabilities_v1_t": "_PrintableStructure(version: c_uint = 0x1000008, capMask: c_uint)",
    "c_nvmlDeviceCurrentClockFreqs_v1_t": "_PrintableStructure(version: c_uint, str: c_char * 2048)",
    "c_nvmlDevicePerfModes_v1_t": "_PrintableStructure(version: c_uint, str: c_char * 2048)",
    "c_nvmlDevicePowerMizerModes_v1_t": (
        "_PrintableStructure(currentMode: c_uint, mode: c_uint, supportedPowerMizerModes: c_uint)"
    ),
    "c_nvmlDramEncryptionInfo_t": "_PrintableStructure(version: c_uint = 0x1000008, encryptionState: c_uint)",
    "c_nvmlEccBankRemapperHistogram_v1_t": "_PrintableStructure(maxSpareGroupCount: c_uint, noSpareGroupCount: c_uint)",
    "c_nvmlEccBankRemapperStatus_v1_t": (
        "_PrintableStructure(activeRemappings: c_uint, inactiveRemappings: c_uint, bPending: c_uint, "
        "histogram: c_nvmlEccBankRemapperHistogram_v1_t)"
    ),
    "c_nvmlEccErrorCounts_t": (
        "_PrintableStructure(l1Cache: c_ulonglong, l2Cache: c_ulonglong, deviceMemory: c_ulonglong, "
        "registerFile: c_ulonglong)"
    ),
    "c_nvmlEccSramErrorStatus_v1_t": (
        "_PrintableStructure(version: c_uint = 0x1000068, aggregateUncParity: c_ulonglong, "
        "aggregateUncSecDed: c_ulonglong, aggregateCor: c_ulonglong, volatileUncParity: c_ulonglong, "
        "volatileUncSecDed: c_ulonglong, volatileCor: c_ulonglong, aggregateUncBucketL2: c_ulonglong, "
        "aggregateUncBucketSm: c_ulonglong, aggregateUncBucketPcie: c_ulonglong, aggregateUncBucketMcu: c_ulonglong, "
        "aggregateUncBucketOther: c_ulonglong, bThresholdExceeded: c_uint)"
    ),
    "c_nvmlEccSramUniqueUncorrectedErrorCounts_v1_t": (
        "_PrintableStructure(version: c_uint = 0x1000010, entryCount: c_uint, "
        "entries: POINTER(c_nvmlEccSramUniqueUncorrectedErrorEntry_v1_t))"
    ),
    "c_nvmlEccSramUniqueUncorrectedErrorEntry_v1_t": (
        "_PrintableStructure(unit: c_uint, location: c_uint, sublocation: c_uint, extlocation: c_uint, "
        "address: c_uint, isParity: c_uint, count: c_uint)"
    ),
    "c_nvmlEventData_t": (
        "_PrintableStructure(device: c_nvmlDevice_t, eventType: c_ulonglong, eventData: c_ulonglong, "
        "gpuInstanceId: c_uint, computeInstanceId: c_uint)"
    ),
    "c_nvmlEventSetGetContextCount_v1_t": "_PrintableStructure(count: c_uint)",
    "c_nvmlEventSetGetContextData_v1_t": "_PrintableStructure(data: c_void_p, index: c_uint, dataSize: c_uint)",
    "c_nvmlEventSetGetContextInfo_v1_t": (
        "_PrintableStructure(index: c_uint, nvmlGpuOperationalEventContextType: c_uint, "
        "sourceEventContextType: c_uint, dataSize: c_uint, dataFormatVersion: c_ushort)"
    ),
    "c_nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1_t": "_PrintableStructure(index: c_uint, xidCode: c_uint)",
    "c_nvmlEventSetWait_v3_t": (
        "_PrintableStructure(timeoutMs: c_uint, dataType: c_uint, uuid: c_char * 96, sourceModule: c_char * 16, "
        "eventType: c_ulonglong, eventData: c_ulonglong, groupCursor: c_ulonglong, instanceId: c_ulonglong, "
        "timestampUsec: c_ulonglong, traceId: c_ulonglong, gpuInstanceId: c_uint, computeInstanceId: c_uint, "
        "severity: c_uint, categoryId: c_uint, moduleEventCode: c_uint, scope: c_uint, originator: c_uint, "
        "moduleInstance: c_uint, chipletId: c_uint, logLevel: c_uint, attributes: c_uint, groupCperSize: c_uint, "
        "groupAttributes: c_uint, groupSize: c_ubyte, groupIndex: c_ubyte)"
    ),
    "c_nvmlEventSet_t": "POINTER(struct_c_nvmlEventSet_t)",
    "c_nvmlExcludedDeviceInfo_t": "_PrintableStructure(pci: nvmlPciInfo_t, uuid: c_char * 80)",
    "c_nvmlFBCSession_t": (
        "_PrintableStructure(sessionId: c_uint, pid: c_uint, vgpuInstance: c_uint, displayOrdinal: c_uint, "
        "sessionType: c_uint, sessionFlags: c_uint, hMaxResolution: c_uint, vMaxResolution: c_uint, "
        "hResolution: c_uint, vResolution: c_uint, averageFPS: c_uint, averageLatency: c_uint)"
    ),
    "c_nvmlFBCStats_t": "Structure(sessionsCount: c_uint, averageFPS: c_uint, averageLatency: c_uint)",
    "c_nvmlFanSpeedInfo_t": "_PrintableStructure(version: c_uint, fan: c_uint, speed: c_uint)",
    "c_nvmlGetCPER_v1_t": (
        "_PrintableStructure(cursor: c_nvmlCPERCursor_v1_t, buffer: POINTER(c_ubyte), bufferSize: c_uint)"
    ),
    "c_nvmlGetMemoryLimits_v1_t": (
        "_PrintableStructure(nameSpace: c_char_p, softLimit: c_ulonglong, hardLimit: c_ulonglong, "
        "currentUsed: c_ulonglong)"
    ),
    "c_nvmlGpmMetric_t": (
        "_PrintableStructure(metricId: c_uint, nvmlReturn: c_uint, value: c_double, metricInfo: c_metricInfo_t)"
    ),
    "c_nvmlGpmMetricsGet_t": (
        "_PrintableStructure(version: c_uint, numMetrics: c_uint, sample1: c_nvmlGpmSample_t, "
        "sample2: c_nvmlGpmSample_t, metrics: c_nvmlGpmMetric_t * 477)"
    ),
    "c_nvmlGpmSample_t": "POINTER(struct_c_nvmlGpmSample_t)",
    "c_nvmlGpuFabricClique_v1_t": "_PrintableStructure(type: c_ubyte, id: c_uint)",
    "c_nvmlGpuFabricInfoV_t": "c_nvmlGpuFabricInfo_v2_t",
    "c_nvmlGpuFabricInfo_t": (
        "_PrintableStructure(clusterUuid: c_ubyte * 16, status: c_uint, cliqueId: c_uint, state: c_uint)"
    ),
    "c_nvmlGpuFabricInfo_v2_t": (
        "_PrintableStructure(version: c_uint = 0x2000024, clusterUuid: c_ubyte * 16, status: c_uint, cliqueId: c_uint, "
        "state: c_uint, healthMask: c_uint)"
    ),
    "c_nvmlGpuFabricInfo_v3_t": (
        "_PrintableStructure(version: c_uint = 0x3000028, clusterUuid: c_ubyte * 16, status: c_uint, cliqueId: c_uint, "
        "state: c_uint, healthMask: c_uint, healthSummary: c_ubyte)"
    ),
    "c_nvmlGpuFabricInfo_v4_t": (
        "_PrintableStructure(clusterUuid: c_ubyte * 16, status: c_uint, cliques: c_nvmlGpuFabricClique_v1_t * 64, "
        "numCliques: c_uint, state: c_ubyte, healthMask: c_uint, healthSummary: c_ubyte)"
    ),
    "c_nvmlGpuInstanceInfo_t": (
        "Structure(device: c_nvmlDevice_t, id: c_uint, profileId: c_uint, placement: c_nvmlGpuInstancePlacement_t)"
    ),
    "c_nvmlGpuInstancePlacement_t": "Structure(start: c_uint, size: c_uint)",
    "c_nvmlGpuInstanceProfileInfo_t": (
        "Structure(id: c_uint, isP2pSupported: c_uint, sliceCount: c_uint, instanceCount: c_uint, "
        "multiprocessorCount: c_uint, copyEngineCount: c_uint, decoderCount: c_uint, encoderCount: c_uint, "
        "jpegCount: c_uint, ofaCount: c_uint, memorySizeMB: c_ulonglong)"
    ),
    "c_nvmlGpuInstanceProfileInfo_v2_t": (
        "_PrintableStructure(version: c_uint = 0x2000098, id: c_uint, isP2pSupported: c_uint, sliceCount: c_uint, "
        "instanceCount: c_uint, multiprocessorCount: c_uint, copyEngineCount: c_uint, decoderCount: c_uint, "
        "encoderCount: c_uint, jpegCount: c_uint, ofaCount: c_uint, memorySizeMB: c_ulonglong, name: c_char * 96)"
    ),
    "c_nvmlGpuInstance_t": "POINTER(struct_c_nvmlGpuInstance_t)",
    "c_nvmlGpuOperationalEventConfig_v1_t": (
        "_PrintableStructure(uuid: c_char * 96, minLogLevel: c_uint, minSeverity: c_uint)"
    ),
    "c_nvmlGridLicensableFeature_t": (
        "_PrintableStructure(featureCode: c_uint, featureState: c_uint, licenseInfo: c_char * 128)"
    ),
    "c_nvmlGridLicensableFeature_v2_t": (
        "_PrintableStructure(featureCode: c_uint, featureState: c_uint, licenseInfo: c_char * 128, "
        "productName: c_char * 128)"
    ),
    "c_nvmlGridLicensableFeature_v3_t": (
        "_PrintableStructure(featureCode: c_uint, featureState: c_uint, licenseInfo: c_char * 128, "
        "productName: c_char * 128, featureEnabled: c_uint)"
    ),
    "c_nvmlGridLicensableFeature_v4_t": (
        "_PrintableStructure(featureCode: c_uint, featureState: c_uint, licenseInfo: c_char * 128, "
        "productName: c_char * 128, featureEnabled: c_uint, licenseExpiry: c_nvmlGridLicenseExpiry_t)"
    ),
    "c_nvmlGridLicensableFeatures_t": (
        "_PrintableStructure(isGridLicenseSupported: c_int, licensableFeaturesCount: c_uint, "
        "gridLicensableFeatures: c_nvmlGridLicensableFeature_t * 3)"
    ),
    "c_nvmlGridLicensableFeatures_v2_t": (
        "_PrintableStructure(isGridLicenseSupported: c_int, licensableFeaturesCount: c_uint, "
        "gridLicensableFeatures: c_nvmlGridLicensableFeature_v2_t * 3)"
    ),
    "c_nvmlGridLicensableFeatures_v3_t": (
        "_PrintableStructure(isGridLicenseSupported: c_int, licensableFeaturesCount: c_uint, "
        "gridLicensableFeatures: c_nvmlGridLicensableFeature_v3_t * 3)"
    ),
    "c_nvmlGridLicensableFeatures_v4_t": (
        "_PrintableStructure(isGridLicenseSupported: c_int, licensableFeaturesCount: c_uint, "
        "gridLicensableFeatures: c_nvmlGridLicensableFeature_v4_t * 3)"
    ),
    "c_nvmlGridLicenseExpiry_t": (
        "_PrintableStructure(year: c_uint, month: c_ushort, day: c_ushort, hour: c_ushort, min: c_ushort, "
        "sec: c_ushort, status: c_ubyte)"
    ),
    "c_nvmlHostname_v1_t": "_PrintableStructure(value: c_char * 64)",
    "c_nvmlHwbcEntry_t": "_PrintableStructure(hwbcId: c_uint, firmwareVersion: c_char * 32)",
    "c_nvmlLedState_t": "_PrintableStructure(cause: c_char * 256, color: c_uint)",
    "c_nvmlMarginTemperature_v1_t": "_PrintableStructure(version: c_uint, marginTemperature: c_int)",
    "c_nvmlMask255_t": "_PrintableStructure(mask: c_uint * 8)",
    "c_nvmlNvLinkInfo_v1_t": "_PrintableStructure(version: c_uint = 0x1000008, isNvleEnabled: c_uint)",
    "c_nvmlNvLinkInfo_v2_t": (
        "_PrintableStructure(version: c_uint = 0x200064C, isNvleEnabled: c_uint, "
        "firmwareInfo: c_nvmlNvlinkFirmwareInfo_t)"
    ),
    "c_nvmlNvLinkPowerThres_t": "Structure(lowPwrThreshold: c_uint)",
    "c_nvmlNvlinkFirmwareInfo_t": (
        "_PrintableStructure(firmwareVersion: c_nvmlNvlinkFirmwareVersion_t * 100, numValidEntries: c_uint)"
    ),
    "c_nvmlNvlinkFirmwareVersion_t": (
        "_PrintableStructure(ucodeType: c_ubyte, major: c_uint, minor: c_uint, subMinor: c_uint)"
    ),
    "c_nvmlNvlinkGetBwMode_v1_t": "_PrintableStructure(version: c_uint = 0x100000C, bIsBest: c_uint, bwMode: c_ubyte)",
    "c_nvmlNvlinkSetBwModeAsync_v1_t": (
        "_PrintableStructure(bSetBest: c_uint, bwMode: c_uint, asyncPollTimeoutMs: c_uint)"
    ),
    "c_nvmlNvlinkSetBwMode_v1_t": "_PrintableStructure(version: c_uint = 0x100000C, bSetBest: c_uint, bwMode: c_ubyte)",
    "c_nvmlNvlinkSupportedBwModes_v1_t": (
        "_PrintableStructure(version: c_uint = 0x100001C, bwModes: c_ubyte * 23, totalBwModes: c_ubyte)"
    ),
    "c_nvmlNvlinkTelemetrySample_v1_t": (
        "_PrintableStructure(linkId: c_uint, sampleType: c_uint, sampleCount: c_uint, samples: POINTER(c_ulonglong), "
        "nvmlReturn: c_uint)"
    ),
    "c_nvmlNvlinkTelemetrySamples_v1_t": (
        "_PrintableStructure(telemetryCount: c_uint, telemetrySamples: POINTER(c_nvmlNvlinkTelemetrySample_v1_t))"
    ),
    "c_nvmlObservedMetrics_t": (
        "_PrintableStructure(initialDramclkEst: c_nvmlPwrModelMetricsDlppm1xDramclkEstimates_t * 3, bValid: c_ubyte, "
        "coreRail: c_nvmlCoreRailMetrics_t, fbRail: c_nvmlRailMetrics_t, tgpPwrTuple: c_nvmlPmgrPwrTuple_t, "
        "perfMetrics: c_nvmlPwrModelMetricsDlppm1xPerf_t)"
    ),
    "c_nvmlPRMCounterInput_v1_t": "_PrintableStructure(localPort: c_uint)",
    "c_nvmlPRMCounterList_v1_t": "_PrintableStructure(numCounters: c_uint, counters: POINTER(c_nvmlPRMCounter_v1_t))",
    "c_nvmlPRMCounterValue_v1_t": "_PrintableStructure(status: c_uint, outputType: c_uint, outputValue: c_nvmlValue_t)",
    "c_nvmlPRMCounter_v1_t": (
        "_PrintableStructure(counterId: c_uint, inputValue: c_nvmlPRMCounterInput_v1_t, "
        "outputValue: c_nvmlPRMCounterValue_v1_t)"
    ),
    "c_nvmlPRMTLV_v1_t": "_PrintableStructure(dataSize: c_uint, status: c_uint, data: c_ubyte * 496)",
    "c_nvmlPSUInfo_t": "_PrintableStructure(state: c_char * 256, current: c_uint, voltage: c_uint, power: c_uint)",
    "c_nvmlPdi_t": "_PrintableStructure(version: c_uint = 0x1000010, value: c_ulonglong)",
    "c_nvmlPerfMetricControllerSampleData_t": (
        "Union(dlppc2x: c_nvmlPerfMetricsDlppc2xSample_t, pfpp1x: c_nvmlPerfMetricsPfpp1xSample_t)"
    ),
    "c_nvmlPerfMetricControllerSample_t": (
        "_PrintableStructure(controllerType: c_uint, data: c_nvmlPerfMetricControllerSampleData_t)"
    ),
    "c_nvmlPerfMetricsDlppc2xSample_t": "_PrintableStructure(observedMetrics: c_nvmlObservedMetrics_t)",
    "c_nvmlPerfMetricsPfpp1xSample_t": "_PrintableStructure(estimatedMetrics: c_nvmlPwrModelMetricsPfpp1x_t)",
    "c_nvmlPerfMetricsSample_t": (
        "_PrintableStructure(numControllerData: c_ubyte, controllerData: c_nvmlPerfMetricControllerSample_t * 4)"
    ),
    "c_nvmlPerfMetricsSamples_v1_t": "_PrintableStructure(numSamples: c_uint, samples: c_nvmlPerfMetricsSample_t * 13)",
    "c_nvmlPlatformInfo_v1_t": (
        "_PrintableStructure(version: c_uint = 0x100002C, ibGuid: c_char * 16, rackGuid: c_char * 16, "
        "chassisPhysicalSlotNumber: c_char, computeSlotIndex: c_char, nodeIndex: c_char, peerType: c_char, "
        "moduleId: c_char)"
    ),
    "c_nvmlPlatformInfo_v2_t": (
        "_PrintableStructure(version: c_uint = 0x200002C, ibGuid: c_char * 16, chassisSerialNumber: c_char * 16, "
        "slotNumber: c_char, trayIndex: c_char, hostId: c_char, peerType: c_char, moduleId: c_char)"
    ),
    "c_nvmlPmgrPwrTuple_t": "_PrintableStructure(pwrmW: c_uint)",
    "c_nvmlPowerSmoothingProfile_v1_t": (
        "_PrintableStructure(version: c_uint = 0x1000018, profileId: c_uint, paramId: c_uint, value: c_double)"
    ),
    "c_nvmlPowerSmoothingState_v1_t": "_PrintableStructure(version: c_uint = 0x1000008, state: c_uint)",
    "c_nvmlPowerValue_v2_t": "_PrintableStructure(version: c_uint, powerScope: c_uint, powerValueMw: c_uint)",
    "c_nvmlProcessDetailList_t": "c_nvmlProcessDetailList_v1_t",
    "c_nvmlProcessDetailList_v1_t": (
        "_PrintableStructure(version: c_uint, mode: c_uint, numProcArrayEntries: c_uint, "
        "procArray: POINTER(c_nvmlProcessDetail_v1_t))"
    ),
    "c_nvmlProcessDetail_v1_t": (
        "Structure(pid: c_uint, usedGpuMemory: c_ulonglong, gpuInstanceId: c_uint, computeInstanceId: c_uint, "
        "usedGpuCcProtectedMemory: c_ulonglong)"
    ),
    "c_nvmlProcessInfo_t": "c_nvmlProcessInfo_v2_t",
    "c_nvmlProcessInfo_v2_t": (
        "_PrintableStructure(pid: c_uint, usedGpuMemory: c_ulonglong, gpuInstanceId: c_uint, computeInstanceId: c_uint"
        ")"
    ),
    "c_nvmlProcessInfo_v3_t": "c_nvmlProcessInfo_v2_t",
    "c_nvmlProcessesUtilizationInfo_v1_t": (
        "_PrintableStructure(version: c_uint, processSamplesCount: c_uint, lastSeenTimeStamp: c_ulonglong, "
        "procUtilArray: POINTER(c_nvmlProcessUtilizationInfo_v1_t))"
    ),
    "c_nvmlPwrModelMetricsDlppm1xDramclkEstimates_t": (
        "_PrintableStructure(estimatedMetrics: c_nvmlPwrModelMetricsDlppm1x_t * 8, numEstimatedMetrics: c_ubyte)"
    ),
    "c_nvmlPwrModelMetricsDlppm1xPerf_t": "_PrintableStructure(perfms: c_uint)",
    "c_nvmlPwrModelMetricsDlppm1x_t": (
        "_PrintableStructure(bValid: c_ubyte, coreRail: c_nvmlCoreRailMetrics_t, fbRail: c_nvmlRailMetrics_t, "
        "tgpPwrTuple: c_nvmlPmgrPwrTuple_t, perfMetrics: c_nvmlPwrModelMetricsDlppm1xPerf_t)"
    ),
    "c_nvmlPwrModelMetricsPfpp1x_t": (
        "_PrintableStructure(numVfPoints: c_ubyte, estimatedMetrics: c_nvmlPwrModelMetricsSamplePfpp1x_t * 32, "
        "bValid: c_ubyte, maxPerfPerWattPoint: c_nvmlPwrModelOperatingPointPfpp1x_t, "
        "fmaxAtVmaxPoint: c_nvmlPwrModelOperatingPointPfpp1x_t, tgpHeadroommW: c_uint)"
    ),
    "c_nvmlPwrModelMetricsSamplePfpp1x_t": "_PrintableStructure(freqkHz: c_uint * 16, estTgpPwrmW: c_uint)",
    "c_nvmlPwrModelOperatingPointPfpp1x_t": "_PrintableStructure(freqkHz: c_uint, pwrmW: c_uint)",
    "c_nvmlRailMetrics_t": "_PrintableStructure(freqkHz: c_uint, utilPct: c_ulonglong)",
    "c_nvmlRemappedRowsInfo_v2_t": (
        "_PrintableStructure(corrActiveRemaps: c_uint, corrInactiveRemaps: c_uint, uncActiveRemaps: c_uint, "
        "uncInactiveRemaps: c_uint, bPending: c_uint, bfailureOccurred: c_uint)"
    ),
    "c_nvmlRepairStatus_t": (
        "_PrintableStructure(version: c_uint = 0x100000C, bChannelRepairPending: c_uint, bTpcRepairPending: c_uint)"
    ),
    "c_nvmlRowRemapperHistogramValues": (
        "Structure(max: c_uint, high: c_uint, partial: c_uint, low: c_uint, none: c_uint)"
    ),
    "c_nvmlRusdSettings_v1_t": "_PrintableStructure(version: c_uint = 0x1000010, pollMask: c_ulonglong)",
    "c_nvmlSample_t": "_PrintableStructure(timeStamp: c_ulonglong, sampleValue: c_nvmlValue_t)",
    "c_nvmlSetMemoryLimits_v1_t": (
        "_PrintableStructure(nameSpace: c_char_p, softLimit: c_ulonglong, hardLimit: c_ulonglong)"
    ),
    "c_nvmlSystemConfComputeSettings_v1_t": (
        "Structure(version: c_uint = 0x1000014, environment: c_uint, ccFeature: c_uint, devToolsMode: c_uint, "
        "multiGpuMode: c_uint)"
    ),
    "c_nvmlSystemDriverBranchInfo_v1_t": "_PrintableStructure(version: c_uint, branch: c_char * 80)",
    "c_nvmlSystemEventData_v1_t": "_PrintableStructure(eventType: c_ulonglong, gpuId: c_uint)",
    "c_nvmlSystemEventSetCreateRequest_v1_t": (
        "_PrintableStructure(version: c_uint = 0x1000010, set: c_nvmlSystemEventSet_t)"
    ),
    "c_nvmlSystemEventSetFreeRequest_v1_t": (
        "_PrintableStructure(version: c_uint = 0x1000010, set: c_nvmlSystemEventSet_t)"
    ),
    "c_nvmlSystemEventSetWaitRequest_v1_t": (
        "_PrintableStructure(version: c_uint = 0x1000020, timeoutms: c_uint, set: c_nvmlSystemEventSet_t, "
        "data: POINTER(c_nvmlSystemEventData_v1_t), dataSize: c_uint, numEvent: c_uint)"
    ),
    "c_nvmlSystemEventSet_t": "POINTER(struct_c_nvmlSystemEventSet_t)",
    "c_nvmlSystemRegisterEventRequest_v1_t": (
        "_PrintableStructure(version: c_uint = 0x1000018, eventTypes: c_ulonglong, set: c_nvmlSystemEventSet_t)"
    ),
    "c_nvmlTemperature_v1_t": "_PrintableStructure(version: c_uint, sensorType: c_uint, temperature: c_int)",
    "c_nvmlUUIDValue_t": "Union(str: c_char * 41, bytes: c_ubyte * 16)",
    "c_nvmlUUID_t": "_PrintableStructure(version: c_uint = 0x1000034, type: c_uint, value: c_nvmlUUIDValue_t)",
    "c_nvmlUnitFanInfo_t": "_PrintableStructure(speed: c_uint, state: c_uint)",
    "c_nvmlUnitFanSpeeds_t": "_PrintableStructure(fans: c_nvmlUnitFanInfo_t * 24, count: c_uint)",
    "c_nvmlUnitInfo_t": (
        "_PrintableStructure(name: c_char * 96, id: c_char * 96, serial: c_char * 96, firmwareVersion: c_char * 96)"
    ),
    "c_nvmlUnit_t": "POINTER(struct_c_nvmlUnit_t)",
    "c_nvmlUnrepairableMemory_v1_t": "_PrintableStructure(version: c_uint = 0x1000008, unrepairableMemory: c_uint)",
    "c_nvmlVgpuCreatablePlacementInfo_v1_t": (
        "_PrintableStructure(version: c_uint, vgpuTypeId: c_uint, count: c_uint, placementIds: POINTER(c_uint), "
        "placementSize: c_uint)"
    ),
    "c_nvmlVgpuHeterogeneousMode_v1_t": "_PrintableStructure(version: c_uint, mode: c_uint)",
    "c_nvmlVgpuInstanceUtilizationInfo_v1_t": (
        "_PrintableStructure(timeStamp: c_ulonglong, vgpuInstance: c_uint, smUtil: c_nvmlValue_t, "
        "memUtil: c_nvmlValue_t, encUtil: c_nvmlValue_t, decUtil: c_nvmlValue_t, jpgUtil: c_nvmlValue_t, "
        "ofaUtil: c_nvmlValue_t)"
    ),
    "c_nvmlVgpuInstanceUtilizationSample_t": (
        "_PrintableStructure(vgpuInstance: c_uint, timeStamp: c_ulonglong, smUtil: c_nvmlValue_t, "
        "memUtil: c_nvmlValue_t, encUtil: c_nvmlValue_t, decUtil: c_nvmlValue_t)"
    ),
    "c_nvmlVgpuInstancesUtilizationInfo_v1_t": (
        "_PrintableStructure(version: c_uint, sampleValType: c_uint, vgpuInstanceCount: c_uint, "
        "lastSeenTimeStamp: c_ulonglong, vgpuUtilArray: POINTER(c_nvmlVgpuInstanceUtilizationInfo_v1_t))"
    ),
    "c_nvmlVgpuLicenseExpiry_t": (
        "_PrintableStructure(year: c_uint, month: c_ushort, day: c_ushort, hour: c_ushort, min: c_ushort, "
        "sec: c_ushort, status: c_ubyte)"
    ),
    "c_nvmlVgpuLicenseInfo_t": (
        "_PrintableStructure(isLicensed: c_ubyte, licenseExpiry: c_nvmlVgpuLicenseExpiry_t, currentState: c_uint)"
    ),
    "c_nvmlVgpuMetadata_t": (
        "_PrintableStructure(version: c_uint, revision: c_uint, guestInfoState: c_uint, "
        "guestDriverVersion: c_char * 80, hostDriverVersion: c_char * 80, reserved: c_uint * 6, "
        "vgpuVirtualizationCaps: c_uint, guestVgpuVersion: c_uint, opaqueDataSize: c_uint, opaqueData: c_char * 260)"
    ),
    "c_nvmlVgpuPgpuCompatibility_t": "Structure(vgpuVmCompatibility: c_uint, compatibilityLimitCode: c_uint)",
    "c_nvmlVgpuPgpuMetadata_t": (
        "_PrintableStructure(version: c_uint, revision: c_uint, hostDriverVersion: c_char * 80, "
        "pgpuVirtualizationCaps: c_uint, reserved: c_uint * 5, hostSupportedVgpuRange: c_nvmlVgpuVersion_t, "
        "opaqueDataSize: c_uint, opaqueData: c_char * 256)"
    ),
    "c_nvmlVgpuPlacementId_v1_t": "_PrintableStructure(version: c_uint, placementId: c_uint)",
    "c_nvmlVgpuPlacementList_v1_t": (
        "_PrintableStructure(version: c_uint, placementSize: c_uint, count: c_uint, placementIds: POINTER(c_uint))"
    ),
    "c_nvmlVgpuPlacementList_v2_t": (
        "_PrintableStructure(version: c_uint, placementSize: c_uint, count: c_uint, placementIds: POINTER(c_uint), "
        "mode: c_uint)"
    ),
    "c_nvmlVgpuProcessUtilizationInfo_v1_t": (
        "_PrintableStructure(processName: c_char * 64, timeStamp: c_ulonglong, vgpuInstance: c_uint, pid: c_uint, "
        "smUtil: c_uint, memUtil: c_uint, encUtil: c_uint, decUtil: c_uint, jpgUtil: c_uint, ofaUtil: c_uint)"
    ),
    "c_nvmlVgpuProcessUtilizationSample_t": (
        "_PrintableStructure(vgpuInstance: c_uint, pid: c_uint, processName: c_char * 64, timeStamp: c_ulonglong, "
        "smUtil: c_uint, memUtil: c_uint, encUtil: c_uint, decUtil: c_uint)"
    ),
    "c_nvmlVgpuProcessesUtilizationInfo_v1_t": (
        "_PrintableStructure(version: c_uint, vgpuProcessCount: c_uint, lastSeenTimeStamp: c_ulonglong, "
        "vgpuProcUtilArray: POINTER(c_nvmlVgpuProcessUtilizationInfo_v1_t))"
    ),
    "c_nvmlVgpuSchedDataWithARR_t": "_PrintableStructure(avgFactor: c_uint, timeslice: c_uint)",
    "c_nvmlVgpuSchedData_t": "_PrintableStructure(timeslice: c_uint)",
    "c_nvmlVgpuSchedSetDataWithARR_t": "_PrintableStructure(avgFactor: c_uint, frequency: c_uint)",
    "c_nvmlVgpuSchedSetData_t": "_PrintableStructure(timeslice: c_uint)",
    "c_nvmlVgpuSchedulerCapabilities_t": (
        "_PrintableStructure(supportedSchedulers: c_uint * 3, maxTimeslice: c_uint, minTimeslice: c_uint, "
        "isArrModeSupported: c_uint, maxFrequencyForARR: c_uint, minFrequencyForARR: c_uint, "
        "maxAvgFactorForARR: c_uint, minAvgFactorForARR: c_uint)"
    ),
    "c_nvmlVgpuSchedulerGetState_t": (
        "_PrintableStructure(schedulerPolicy: c_uint, arrMode: c_uint, schedulerParams: c_nvmlVgpuSchedulerParams_t)"
    ),
    "c_nvmlVgpuSchedulerLogEntry_t": (
        "_PrintableStructure(timestamp: c_ulonglong, timeRunTotal: c_ulonglong, timeRun: c_ulonglong, "
        "swRunlistId: c_uint, targetTimeSlice: c_ulonglong, cumulativePreemptionTime: c_ulonglong)"
    ),
    "c_nvmlVgpuSchedulerLogEntry_v2_t": (
        "_PrintableStructure(timestamp: c_ulonglong, timeRunTotal: c_ulonglong, timeRun: c_ulonglong, "
        "swRunlistId: c_uint, targetTimeSlice: c_ulonglong, cumulativePreemptionTime: c_ulonglong, weight: c_uint)"
    ),
    "c_nvmlVgpuSchedulerLogInfo_v1_t": (
        "_PrintableStructure(version: c_uint, engineId: c_uint, schedulerPolicy: c_uint, arrMode: c_uint, "
        "schedulerParams: c_nvmlVgpuSchedulerParams_t, entriesCount: c_uint, "
        "logEntries: c_nvmlVgpuSchedulerLogEntry_t * 200)"
    ),
    "c_nvmlVgpuSchedulerLogInfo_v2_t": (
        "_PrintableStructure(engineId: c_uint, schedulerPolicy: c_uint, avgFactor: c_uint, timeslice: c_uint, "
        "entriesCount: c_uint, logEntries: c_nvmlVgpuSchedulerLogEntry_v2_t * 200)"
    ),
    "c_nvmlVgpuSchedulerLog_t": (
        "_PrintableStructure(engineId: c_uint, schedulerPolicy: c_uint, arrMode: c_uint, "
        "schedulerParams: c_nvmlVgpuSchedulerParams_t, entriesCount: c_uint, "
        "logEntries: c_nvmlVgpuSchedulerLogEntry_t * 200)"
    ),
    "c_nvmlVgpuSchedulerParams_t": (
        "Union(vgpuSchedDataWithARR: c_nvmlVgpuSchedDataWithARR_t, vgpuSchedData: c_nvmlVgpuSchedData_t)"
    ),
    "c_nvmlVgpuSchedulerSetParams_t": (
        "Union(vgpuSchedDataWithARR: c_nvmlVgpuSchedSetDataWithARR_t, vgpuSchedData: c_nvmlVgpuSchedSetData_t)"
    ),
    "c_nvmlVgpuSchedulerSetState_t": (
        "_PrintableStructure(schedulerPolicy: c_uint, enableARRMode: c_uint, "
        "schedulerParams: c_nvmlVgpuSchedulerSetParams_t)"
    ),
    "c_nvmlVgpuSchedulerStateInfo_v1_t": (
        "_PrintableStructure(version: c_uint, engineId: c_uint, schedulerPolicy: c_uint, arrMode: c_uint, "
        "schedulerParams: c_nvmlVgpuSchedulerParams_t)"
    ),
    "c_nvmlVgpuSchedulerStateInfo_v2_t": (
        "_PrintableStructure(engineId: c_uint, schedulerPolicy: c_uint, avgFactor: c_uint, timeslice: c_uint)"
    ),
    "c_nvmlVgpuSchedulerState_v1_t": (
        "_PrintableStructure(version: c_uint, engineId: c_uint, schedulerPolicy: c_uint, enableARRMode: c_uint, "
        "schedulerParams: c_nvmlVgpuSchedulerSetParams_t)"
    ),
    "c_nvmlVgpuSchedulerState_v2_t": (
        "_PrintableStructure(engineId: c_uint, schedulerPolicy: c_uint, avgFactor: c_uint, frequency: c_uint)"
    ),
    "c_nvmlVgpuTypeBar1Info_v1_t": "_PrintableStructure(version: c_uint, bar1Size: c_ulonglong)",
    "c_nvmlVgpuTypeIdInfo_v1_t": (
        "_PrintableStructure(version: c_uint, vgpuCount: c_uint, vgpuTypeIds: POINTER(c_uint))"
    ),
    "c_nvmlVgpuTypeMaxInstance_v1_t": (
        "_PrintableStructure(version: c_uint, vgpuTypeId: c_uint, maxInstancePerGI: c_uint)"
    ),
    "c_nvmlVgpuVersion_t": "Structure(minVersion: c_uint, maxVersion: c_uint)",
    "c_nvmlViolationTime_t": "_PrintableStructure(referenceTime: c_ulonglong, violationTime: c_ulonglong)",
    "c_nvmlWorkloadPowerProfileCurrentProfiles_v1_t": (
        "_PrintableStructure(version: c_uint = 0x1000064, perfProfilesMask: c_nvmlMask255_t, "
        "requestedProfilesMask: c_nvmlMask255_t, enforcedProfilesMask: c_nvmlMask255_t)"
    ),
    "c_nvmlWorkloadPowerProfileInfo_v1_t": (
        "_PrintableStructure(version: c_uint = 0x100002C, profileId: c_uint, priority: c_uint, "
        "conflictingmask: c_nvmlMask255_t)"
    ),
    "c_nvmlWorkloadPowerProfileProfilesInfo_v1_t": (
        "_PrintableStructure(version: c_uint = 0x1002BF8, perfProfilesMask: c_nvmlMask255_t, "
        "perfProfile: c_nvmlWorkloadPowerProfileInfo_v1_t * 255)"
    ),
    "c_nvmlWorkloadPowerProfileRequestedProfiles_v1_t": (
        "_PrintableStructure(version: c_uint = 0x1000024, requestedProfilesMask: c_nvmlMask255_t)"
    ),
    "c_nvmlWorkloadPowerProfileUpdateProfiles_v1_t": (
        "_PrintableStructure(operation: c_uint, updateProfilesMask: c_nvmlMask255_t)"
    ),
    "nvmlClkMonFaultInfo_t": "Structure(clkApiDomain: c_uint, clkDomainFaultMask: c_uint)",
    "nvmlClkMonStatus_t": (
        "Structure(bGlobalStatus: c_uint, clkMonListSize: c_uint, clkMonList: nvmlClkMonFaultInfo_t * 32)"
    ),
    "nvmlNvLinkUtilizationControl_t": "_PrintableStructure(units: c_uint, pktfilter: c_uint)",
    "nvmlPciInfoExt_v1_t": (
        "_PrintableStructure(version: c_uint, domain: c_uint, bus: c_uint, device: c_uint, pciDeviceId: c_uint, "
        "pciSubSystemId: c_uint, baseClass: c_uint, subClass: c_uint, busId: c_char * 32)"
    ),
    "nvmlPciInfo_v2_t": (
        "_PrintableStructure(busId: c_char * 16, domain: c_uint, bus: c_uint, device: c_uint, pciDeviceId: c_uint, "
        "pciSubSystemId: c_uint, reserved0: c_uint, reserved1: c_uint, reserved2: c_uint, reserved3: c_uint)"
    ),
    "nvmlVgpuRuntimeState_v1_t": "_PrintableStructure(version: c_uint, size: c_ulonglong)",
    "struct_c_nvmlComputeInstance_t": "Structure()",
    "struct_c_nvmlEventSet_t": "Structure()",
    "struct_c_nvmlGpmSample_t": "Structure()",
    "struct_c_nvmlGpuInstance_t": "Structure()",
    "struct_c_nvmlSystemEventSet_t": "Structure()",
    "struct_c_nvmlUnit_t": "Structure()",
}

# Formats of fields for str()
_CATALOGUE_FORMATS = {
    "c_nvmlBAR1Memory_t": {"<default>": "%d B"},
    "c_nvmlBBXTimeData_v1_t": {"timeRun": "%d seconds"},
    "c_nvmlEventData_t": {"eventType": "0x%08X"},
    "c_nvmlEventSetWait_v3_t": {"eventType": "0x%08X"},
    "c_nvmlPowerValue_v2_t": {"<default>": "%d B"},
    "c_nvmlProcessDetailList_v1_t": {"numProcArrayEntries": "%d B"},
    "c_nvmlProcessInfo_v2_t": {"usedGpuMemory": "%d B"},
    "c_nvmlRusdSettings_v1_t": {"pollMask": "0x%016X"},
    "c_nvmlSystemEventData_v1_t": {"eventType": "0x%08X"},
    "nvmlPciInfoExt_v1_t": {
        "baseClass": "0x%01X",
        "bus": "0x%02X",
        "device": "0x%02X",
        "domain": "0x%04X",
        "pciDeviceId": "0x%08X",
        "pciSubSystemId": "0x%08X",
        "subClass": "0x%01X",
        "version": "0x%04X",
    },
    "nvmlPciInfo_v2_t": {
        "bus": "0x%02X",
        "device": "0x%02X",
        "domain": "0x%04X",
        "pciDeviceId": "0x%08X",
        "pciSubSystemId": "0x%08X",
    },
}

# Constructor parameters with another name than their field: parameter, field
_CATALOGUE_PARAMETERS = {
    "c_nvmlPRMCounterInput_v1_t": {"port": "localPort"},
    "c_nvmlPRMCounterList_v1_t": {"ctrs": "counters", "num": "numCounters"},
    "c_nvmlPRMCounter_v1_t": {"ctrId": "counterId", "inData": "inputValue"},
    "c_nvmlPRMTLV_v1_t": {"size": "dataSize"},
}
# END generated NVML catalogue

# ==== 18. nvml* functions without an MTML counterpart =================================================================
# tools/generate_refusals.py writes this section. Each function first checks what NVML checks (initialized, handle,
# enums), then raises NVMLError_NotSupported.

# BEGIN generated NVML refusals
# Written by tools/generate_refusals.py from facts/refusals.csv; edit that, or define a function above.

# ---- Library and system ----


def nvmlSystemGetDriverBranch():
    """Not available: the name of the driver's release branch, such as r580_00."""
    raise _refuse()


def nvmlSystemGetNvlinkBwMode():
    """Not available: the NVLink bandwidth mode of all GPUs."""
    raise _refuse()


def nvmlSystemSetNvlinkBwMode(mode):
    """Not available: sets the NVLink bandwidth mode of all GPUs."""
    raise _refuse()


def nvmlSystemGetCPER_v1(cper):
    """Not available: platform error records (CPER), as bytes."""
    raise _refuse()


def nvmlGetExcludedDeviceCount():
    """Not available: the number of GPUs the driver excludes."""
    raise _refuse()


def nvmlGetExcludedDeviceInfoByIndex(index):
    """Not available: PCI location and UUID of a GPU the driver excludes."""
    raise _refuse()


# ---- Events ----


def nvmlSystemEventSetCreate(version):
    """Not available: a set of system events, such as a driver binding to a GPU."""
    raise _refuse()


def c_nvmlSystemEventSetCreate(req):
    """Not available: a set of system events, from a request struct."""
    raise _refuse()


def nvmlSystemEventSetFree(version, setHandle):
    """Not available: frees a set of system events."""
    raise _refuse()


def c_nvmlSystemEventSetFree(req):
    """Not available: frees a set of system events, from a request struct."""
    raise _refuse()


def nvmlSystemRegisterEvents(version, eventTypes, setHandle):
    """Not available: adds system events to a set."""
    raise _refuse()


def c_nvmlSystemRegisterEvents(req):
    """Not available: adds system events to a set, from a request struct."""
    raise _refuse()


def nvmlSystemEventSetWait(version, setHandle, timeoutMs, eventData, eventDataSize):
    """Not available: waits for system events, up to a timeout in milliseconds."""
    raise _refuse()


def c_nvmlSystemEventSetWait(req):
    """Not available: waits for system events, from a request struct."""
    raise _refuse()


def nvmlEventSetWait_v3(eventSet, params):
    """Not available: waits for an event, with its context."""
    raise _refuse()


def nvmlEventSetRegisterGpuOperationalEvents_v1(eventSet, config):
    """Not available: adds operational events of a GPU to a set."""
    raise _refuse()


def nvmlEventSetGetContextCount_v1(eventSet, params):
    """Not available: the number of contexts of an event."""
    raise _refuse()


def nvmlEventSetGetContextInfo_v1(eventSet, params):
    """Not available: type and size of a context of an event."""
    raise _refuse()


def nvmlEventSetGetContextData_v1(eventSet, params):
    """Not available: the data of a context of an event, as bytes."""
    raise _refuse()


def nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1(eventSet, params):
    """Not available: the Xid error of an operational event."""
    raise _refuse()


# ---- Confidential computing ----


def nvmlSystemGetConfComputeCapabilities():
    """Not available: what CPU and GPUs support of confidential computing."""
    raise _refuse()


def nvmlSystemGetConfComputeGpusReadyState():
    """Not available: whether the GPUs accept confidential work."""
    raise _refuse()


def nvmlSystemSetConfComputeGpusReadyState(state):
    """Not available: sets whether the GPUs accept confidential work."""
    raise _refuse()


def nvmlSystemGetConfComputeKeyRotationThresholdInfo():
    """Not available: the attacker advantage at which session keys are rotated."""
    raise _refuse()


def nvmlSystemSetConfComputeKeyRotationThresholdInfo(max_atk_adv):
    """Not available: sets the attacker advantage at which keys are rotated."""
    raise _refuse()


def nvmlSystemGetConfComputeSettings(settings):
    """Not available: environment, feature and modes of confidential computing."""
    raise _refuse()


def nvmlSystemGetConfComputeState():
    """Not available: whether confidential computing is on, with its environment."""
    raise _refuse()


# ---- Device handles ----


def nvmlDeviceDiscoverGpus(pciInfo):
    """Not available: looks for new GPUs below a PCI bridge."""
    raise _refuse()


def nvmlDeviceModifyDrainState(pciInfo, newState):
    """Not available: sets whether a GPU accepts new clients."""
    raise _refuse()


def nvmlDeviceQueryDrainState(pciInfo):
    """Not available: whether a GPU refuses new clients."""
    raise _refuse()


def nvmlDeviceRemoveGpu(pciInfo):
    """Not available: removes a drained GPU from the driver."""
    raise _refuse()


# ---- Identity ----


def nvmlDeviceGetBoardPartNumber(handle):
    """Not available: the part number of the board, as text."""
    raise _refuse_device(handle)


def nvmlDeviceGetModuleId(handle, moduleId=c_uint()):
    """Not available: the number of the module in its baseboard."""
    raise _refuse_device(handle)


def nvmlDeviceGetPdi(device):
    """Not available: the per-device identifier, 64 bits."""
    raise _refuse_device(device)


def nvmlDeviceGetPlatformInfo(device, platformInfo):
    """Not available: chassis, slot, tray and peer type of the GPU."""
    raise _refuse_device(device)


def nvmlDeviceGetHostname_v1(device):
    """Not available: the host name stored on the device."""
    raise _refuse_device(device)


def nvmlDeviceSetHostname_v1(device, hostname):
    """Not available: stores a host name on the device."""
    raise _refuse_device(device)


def nvmlDeviceGetCapabilities(device, caps):
    """Not available: the capabilities of the device, as a bit mask."""
    raise _refuse_device(device)


def nvmlDeviceGetAddressingMode(device):
    """Not available: how the device addresses host memory: HMM, ATS or neither."""
    raise _refuse_device(device)


def nvmlDeviceGetBridgeChipInfo(handle):
    """Not available: type and firmware version of the board's bridge chips."""
    raise _refuse_device(handle)


def nvmlDeviceGetC2cModeInfoV(handle):
    """Not available: whether the chip-to-chip link is enabled."""
    raise _refuse_device(handle)


def nvmlDeviceGetC2cModeInfoV1(handle):
    """Not available: whether the chip-to-chip link is enabled."""
    raise _refuse_device(handle)


def nvmlDeviceGetInforomVersion(handle, infoRomObject):
    """Not available: the version of an infoROM object, as text."""
    raise _refuse_values(handle, (infoRomObject, NVML_INFOROM_COUNT))


def nvmlDeviceGetInforomImageVersion(handle):
    """Not available: the version of the infoROM image, as text."""
    raise _refuse_device(handle)


def nvmlDeviceGetInforomConfigurationChecksum(handle):
    """Not available: the checksum of the infoROM configuration."""
    raise _refuse_device(handle)


def nvmlDeviceValidateInforom(handle):
    """Not available: checks the infoROM against its checksums."""
    raise _refuse_device(handle)


def nvmlDeviceGetLastBBXFlushTime(handle):
    """Not available: last flush of the black box recorder, (microseconds, ms)."""
    raise _refuse_device(handle)


def nvmlDeviceGetBBXTimeData_v1(handle):
    """Not available: the time the GPU has run so far, in seconds."""
    raise _refuse_device(handle)


def nvmlDeviceGetGspFirmwareMode(handle, isEnabled=c_uint(), defaultMode=c_uint()):
    """Not available: whether GSP firmware is on, and whether it is by default."""
    raise _refuse_device(handle)


def nvmlDeviceGetGspFirmwareVersion(handle, version=None):
    """Not available: the version of the GSP firmware, as text."""
    raise _refuse_device(handle)


def nvmlDeviceVgpuForceGspUnload(handle):
    """Not available: unloads the GSP firmware of a vGPU host."""
    raise _refuse_device(handle)


# ---- Display and modes ----


def nvmlDeviceGetPersistenceMode(handle):
    """Not available: whether the driver stays loaded without clients."""
    raise _refuse_device(handle)


def nvmlDeviceSetPersistenceMode(handle, mode):
    """Not available: sets whether the driver stays loaded without clients."""
    raise _refuse_values(handle, (mode, 2))


def nvmlDeviceSetComputeMode(handle, mode):
    """Not available: sets how many processes may compute at once."""
    raise _refuse_values(handle, (mode, NVML_COMPUTEMODE_COUNT))


def nvmlDeviceGetDriverModel(handle):
    """Not available: the current Windows driver model, an NVML_DRIVER_* value."""
    raise _refuse_device(handle)


def nvmlDeviceGetDriverModel_v1(handle):
    """Not available: [current, pending] Windows driver model."""
    raise _refuse_device(handle)


def nvmlDeviceGetDriverModel_v2(handle):
    """Not available: [current, pending] Windows driver model."""
    raise _refuse_device(handle)


def nvmlDeviceGetCurrentDriverModel(handle):
    """Not available: the current Windows driver model, an NVML_DRIVER_* value."""
    raise _refuse_device(handle)


def nvmlDeviceGetPendingDriverModel(handle):
    """Not available: the Windows driver model after the next restart."""
    raise _refuse_device(handle)


def nvmlDeviceSetDriverModel(handle, model):
    """Not available: sets the Windows driver model for the next restart."""
    raise _refuse_device(handle)


def nvmlDeviceGetGpuOperationMode(handle):
    """Not available: [current, pending] operation mode, NVML_GOM_* values."""
    raise _refuse_device(handle)


def nvmlDeviceGetCurrentGpuOperationMode(handle):
    """Not available: the current operation mode, an NVML_GOM_* value."""
    raise _refuse_device(handle)


def nvmlDeviceGetPendingGpuOperationMode(handle):
    """Not available: the operation mode after the next restart."""
    raise _refuse_device(handle)


def nvmlDeviceSetGpuOperationMode(handle, mode):
    """Not available: sets the operation mode for the next restart."""
    raise _refuse_values(handle, (mode, NVML_GOM_LOW_DP + 1))


def nvmlDeviceGetAPIRestriction(device, apiType):
    """Not available: whether an API is for the administrator only."""
    raise _refuse_values(device, (apiType, NVML_RESTRICTED_API_COUNT))


def nvmlDeviceSetAPIRestriction(handle, apiType, isRestricted):
    """Not available: sets whether an API is for the administrator only."""
    raise _refuse_values(handle, (apiType, NVML_RESTRICTED_API_COUNT), (isRestricted, 2))


# ---- Memory ----


def nvmlDeviceGetBAR1MemoryInfo(handle):
    """Not available: total, free and used BAR1 memory, in bytes."""
    raise _refuse_device(handle)


def nvmlDeviceGetMemoryLimits_v1(device, limits):
    """Not available: memory limits and use of a namespace, in bytes."""
    raise _refuse_device(device)


def nvmlDeviceSetMemoryLimits_v1(device, limits):
    """Not available: sets the memory limits of a namespace, in bytes."""
    raise _refuse_device(device)


def nvmlDeviceGetConfComputeMemSizeInfo(device):
    """Not available: protected and unprotected memory, in KiB."""
    raise _refuse_device(device)


def nvmlDeviceSetConfComputeUnprotectedMemSize(device, c_ccMemSize):
    """Not available: sets the size of the unprotected memory, in KiB."""
    raise _refuse_device(device)


def nvmlDeviceGetConfComputeProtectedMemoryUsage(device):
    """Not available: total, free and used protected memory, in bytes."""
    raise _refuse_device(device)


def nvmlDeviceGetConfComputeGpuCertificate(device):
    """Not available: the certificate chains of the GPU, as bytes."""
    raise _refuse_device(device)


def nvmlDeviceGetConfComputeGpuAttestationReport(device, c_nonce):
    """Not available: a signed attestation report for a nonce of 32 bytes."""
    raise _refuse_device(device)


def nvmlDeviceGetDramEncryptionMode(handle):
    """Not available: (current, pending) DRAM encryption mode."""
    raise _refuse_device(handle)


def nvmlDeviceGetCurrentDramEncryptionMode(handle):
    """Not available: the current DRAM encryption mode."""
    raise _refuse_device(handle)


def nvmlDeviceGetPendingDramEncryptionMode(handle):
    """Not available: the DRAM encryption mode after the next restart."""
    raise _refuse_device(handle)


def nvmlDeviceSetDramEncryptionMode(handle, mode):
    """Not available: sets the DRAM encryption mode for the next restart."""
    raise _refuse_device(handle)


# ---- Utilization and codecs ----


def nvmlDeviceGetJpgUtilization(handle):
    """Not available: [JPEG utilization in percent, period in microseconds]."""
    raise _refuse_device(handle)


def nvmlDeviceGetOfaUtilization(handle):
    """Not available: [optical flow utilization in percent, microseconds]."""
    raise _refuse_device(handle)


def nvmlDeviceGetSamples(device, sampling_type, timeStamp):
    """Not available: recent samples of a power, utilization or clock value."""
    raise _refuse_values(device, (sampling_type, NVML_MODULE_POWER_SAMPLES))


def nvmlDeviceGetFBCStats(handle):
    """Not available: frame buffer capture: sessions, frames/s, latency in us."""
    raise _refuse_device(handle)


def nvmlDeviceGetFBCSessions(handle):
    """Not available: the frame buffer capture sessions."""
    raise _refuse_device(handle)


# ---- Temperature ----


def nvmlDeviceSetTemperatureThreshold(handle, threshold, temp):
    """Not available: sets a temperature threshold, in degrees Celsius."""
    raise _refuse_values(handle, (threshold, NVML_TEMPERATURE_THRESHOLD_COUNT))


def nvmlDeviceGetCoolerInfo(handle):
    """Not available: what a cooler cools, and how it is controlled."""
    raise _refuse_device(handle)


# ---- Clocks ----


def nvmlDeviceGetApplicationsClock(handle, type):
    """Not available: the clock that applications run at, in MHz."""
    raise _refuse_values(handle, (type, NVML_CLOCK_COUNT))


def nvmlDeviceGetDefaultApplicationsClock(handle, type):
    """Not available: the default clock of applications, in MHz."""
    raise _refuse_values(handle, (type, NVML_CLOCK_COUNT))


def nvmlDeviceSetApplicationsClocks(handle, maxMemClockMHz, maxGraphicsClockMHz):
    """Not available: sets the clocks that applications run at, in MHz."""
    raise _refuse_device(handle)


def nvmlDeviceResetApplicationsClocks(handle):
    """Not available: sets the clocks of applications back to their defaults."""
    raise _refuse_device(handle)


def nvmlDeviceGetMaxCustomerBoostClock(handle, type):
    """Not available: the highest boost clock a user may set, in MHz."""
    raise _refuse_values(handle, (type, NVML_CLOCK_COUNT))


def nvmlDeviceGetSupportedMemoryClocks(handle):
    """Not available: the memory clocks that a user may set, in MHz."""
    raise _refuse_device(handle)


def nvmlDeviceGetSupportedGraphicsClocks(handle, memoryClockMHz):
    """Not available: the graphics clocks that a user may set at a memory clock, in MHz."""
    raise _refuse_device(handle)


def nvmlDeviceGetCurrentClockFreqs(handle):
    """Not available: the current clocks of all domains, as text in MHz."""
    raise _refuse_device(handle)


def nvmlDeviceGetAutoBoostedClocksEnabled(handle):
    """Not available: [whether clocks are boosted now, whether by default]."""
    raise _refuse_device(handle)


def nvmlDeviceSetAutoBoostedClocksEnabled(handle, enabled):
    """Not available: turns the automatic boosting of clocks on or off."""
    raise _refuse_values(handle, (enabled, 2))


def nvmlDeviceSetDefaultAutoBoostedClocksEnabled(handle, enabled, flags):
    """Not available: sets whether clocks are boosted by default."""
    raise _refuse_values(handle, (enabled, 2))


def nvmlDeviceGetAdaptiveClockInfoStatus(device):
    """Not available: whether adaptive clocking is on."""
    raise _refuse_device(device)


def nvmlDeviceSetGpuLockedClocks(handle, minGpuClockMHz, maxGpuClockMHz):
    """Not available: locks the graphics clock to a range, in MHz."""
    raise _refuse_device(handle)


def nvmlDeviceResetGpuLockedClocks(handle):
    """Not available: lets the graphics clock vary again."""
    raise _refuse_device(handle)


def nvmlDeviceSetMemoryLockedClocks(handle, minMemClockMHz, maxMemClockMHz):
    """Not available: locks the memory clock to a range, in MHz."""
    raise _refuse_device(handle)


def nvmlDeviceResetMemoryLockedClocks(handle):
    """Not available: lets the memory clock vary again."""
    raise _refuse_device(handle)


def nvmlDeviceGetClockOffsets(device, info):
    """Not available: the offset of a clock in a P-state and its range, in MHz."""
    raise _refuse_device(device)


def nvmlDeviceSetClockOffsets(device, info):
    """Not available: sets the offset of a clock in a P-state, in MHz."""
    raise _refuse_device(device)


def nvmlDeviceGetGpcClkVfOffset(device):
    """Not available: the offset of the graphics clock, in MHz."""
    raise _refuse_device(device)


def nvmlDeviceSetGpcClkVfOffset(device, offset):
    """Not available: sets the offset of the graphics clock, in MHz."""
    raise _refuse_device(device)


def nvmlDeviceGetGpcClkMinMaxVfOffset(device, minOffset=c_int(), maxOffset=c_int()):
    """Not available: (lowest, highest) offset of the graphics clock, in MHz."""
    raise _refuse_device(device)


def nvmlDeviceGetMemClkVfOffset(device):
    """Not available: the offset of the memory clock, in MHz."""
    raise _refuse_device(device)


def nvmlDeviceSetMemClkVfOffset(device, offset):
    """Not available: sets the offset of the memory clock, in MHz."""
    raise _refuse_device(device)


def nvmlDeviceGetMemClkMinMaxVfOffset(device, minOffset=c_int(), maxOffset=c_int()):
    """Not available: (lowest, highest) offset of the memory clock, in MHz."""
    raise _refuse_device(device)


def nvmlDeviceGetMinMaxClockOfPState(device, clockType, pstate, minClockMHz=c_uint(), maxClockMHz=c_uint()):
    """Not available: (lowest, highest) clock of a domain in a P-state, in MHz."""
    raise _refuse_values(device, (clockType, NVML_CLOCK_COUNT), (pstate, NVML_PSTATE_15 + 1))


def nvmlDeviceGetCurrentClocksEventReasons(handle):
    """Not available: why clocks are reduced, nvmlClocksEventReason* bits."""
    raise _refuse_device(handle)


def nvmlDeviceGetCurrentClocksThrottleReasons(handle):
    """Not available: why clocks are reduced, nvmlClocksThrottleReason* bits."""
    raise _refuse_device(handle)


def nvmlDeviceGetSupportedClocksEventReasons(handle):
    """Not available: the reasons that the GPU supports, nvmlClocksEventReason* bits."""
    raise _refuse_device(handle)


def nvmlDeviceGetSupportedClocksThrottleReasons(handle):
    """Not available: the reasons that the GPU supports, nvmlClocksThrottleReason* bits."""
    raise _refuse_device(handle)


def nvmlDeviceGetClkMonStatus(handle, c_clkMonInfo=_catalogue_struct("nvmlClkMonStatus_t")()):
    """Not available: faults that the clock monitors see, by domain."""
    raise _refuse_device(handle)


# ---- Power and performance state ----


def nvmlDeviceGetPowerSource(device):
    """Not available: what powers the GPU, an NVML_POWER_SOURCE_* value."""
    raise _refuse_device(device)


def nvmlDeviceGetSupportedPerformanceStates(device):
    """Not available: the performance states the GPU has."""
    raise _refuse_device(device)


def nvmlDeviceGetPerformanceModes(handle):
    """Not available: the performance modes, as text."""
    raise _refuse_device(handle)


def nvmlDeviceGetPowerManagementMode(handle):
    """Not available: whether power management is on."""
    raise _refuse_device(handle)


def nvmlDeviceGetPowerManagementLimitConstraints(handle):
    """Not available: [lowest, highest] power limit, in mW."""
    raise _refuse_device(handle)


def nvmlDeviceSetPowerManagementLimit(handle, limit):
    """Not available: sets the power limit, in mW."""
    raise _refuse_device(handle)


def nvmlDeviceSetPowerManagementLimit_v2(device, powerScope, powerLimit, version=0x200000C):
    """Not available: sets the power limit of GPU, memory or module, in mW."""
    raise _refuse_device(device)


def nvmlDeviceGetViolationStatus(device, perfPolicyType):
    """Not available: how long clocks were reduced, in nanoseconds."""
    raise _refuse_values(device, (perfPolicyType, NVML_PERF_POLICY_COUNT))


def nvmlDeviceGetPowerMizerMode_v1(device, info):
    """Not available: the current and the supported PowerMizer modes."""
    raise _refuse_device(device)


def nvmlDeviceSetPowerMizerMode_v1(device, info):
    """Not available: sets the PowerMizer mode."""
    raise _refuse_device(device)


def nvmlDeviceGetAdaptiveTgpModeInfo_v1(device, info):
    """Not available: whether adaptive total graphics power is on; limit in mW."""
    raise _refuse_device(device)


def nvmlDeviceSetAdaptiveTgpMode_v1(device, mode):
    """Not available: turns adaptive total graphics power on or off."""
    raise _refuse_device(device)


def nvmlDevicePowerSmoothingActivatePresetProfile(device, profile):
    """Not available: activates a preset power smoothing profile."""
    raise _refuse_device(device)


def nvmlDevicePowerSmoothingUpdatePresetProfileParam(device, profile):
    """Not available: changes a parameter of a power smoothing profile."""
    raise _refuse_device(device)


def nvmlDevicePowerSmoothingSetState(device, state):
    """Not available: turns power smoothing on or off."""
    raise _refuse_device(device)


def nvmlDeviceWorkloadPowerProfileGetProfilesInfo(device, profilesInfo):
    """Not available: the workload power profiles and their priorities."""
    raise _refuse_device(device)


def nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(device, currentProfiles):
    """Not available: masks of supported, requested and enforced profiles."""
    raise _refuse_device(device)


def nvmlDeviceWorkloadPowerProfileSetRequestedProfiles(device, requestedProfiles):
    """Not available: requests workload power profiles."""
    raise _refuse_device(device)


def nvmlDeviceWorkloadPowerProfileClearRequestedProfiles(device, requestedProfiles):
    """Not available: clears requests for workload power profiles."""
    raise _refuse_device(device)


def nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1(device, updateProfiles):
    """Not available: sets, adds or removes workload power profile requests."""
    raise _refuse_device(device)


def nvmlDevicePerfMetricsGetSamples_v1(device, samples):
    """Not available: samples of performance and rail metrics."""
    raise _refuse_device(device)


def nvmlDeviceSetRusdSettings_v1(device, settings):
    """Not available: sets which data the driver polls into shared memory."""
    raise _refuse_device(device)


# ---- Fans ----


def nvmlDeviceGetMinMaxFanSpeed(handle, minSpeed=c_uint(), maxSpeed=c_uint()):
    """Not available: (lowest, highest) fan speed, in percent."""
    raise _refuse_device(handle)


def nvmlDeviceGetFanControlPolicy_v2(handle, fan, fanControlPolicy=c_uint()):
    """Not available: who controls a fan, an NVML_FAN_POLICY_* value."""
    raise _refuse_device(handle)


def nvmlDeviceSetFanControlPolicy(handle, fan, fanControlPolicy):
    """Not available: sets who controls a fan."""
    raise _refuse_device(handle)


def nvmlDeviceSetFanSpeed_v2(handle, index, speed):
    """Not available: sets the speed of a fan, in percent."""
    raise _refuse_device(handle)


def nvmlDeviceSetDefaultFanSpeed_v2(handle, index):
    """Not available: lets the driver control a fan again."""
    raise _refuse_device(handle)


# ---- PCIe link ----


def nvmlDeviceGetPcieThroughput(device, counter):
    """Not available: PCIe traffic over the last 20 ms, in KB/s."""
    raise _refuse_values(device, (counter, NVML_PCIE_UTIL_COUNT))


# ---- ECC and retired pages ----


def nvmlDeviceGetDefaultEccMode(handle):
    """Not available: the default ECC mode."""
    raise _refuse_device(handle)


def nvmlDeviceGetDetailedEccErrors(handle, errorType, counterType):
    """Not available: the number of ECC errors by cache, memory and registers."""
    raise _refuse_values(handle, (errorType, NVML_MEMORY_ERROR_TYPE_COUNT), (counterType, NVML_ECC_COUNTER_TYPE_COUNT))


def nvmlDeviceGetSramEccErrorStatus(device, status):
    """Not available: ECC errors of the SRAM by source, and its threshold flag."""
    raise _refuse_device(device)


def nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(device, counts):
    """Not available: uncorrected SRAM errors by unit, location and address."""
    raise _refuse_device(device)


def nvmlDeviceGetRemappedRows(device):
    """Not available: (corrected, uncorrected, pending, failed) remapped rows."""
    raise _refuse_device(device)


def nvmlDeviceGetRemappedRows_v2(device, info):
    """Not available: counts of remapped rows, pending and failed ones included."""
    raise _refuse_device(device)


def nvmlDeviceGetRowRemapperHistogram(device):
    """Not available: memory banks by how many spare rows they have left."""
    raise _refuse_device(device)


def nvmlDeviceGetBankRemapperStatus_v1(device, status):
    """Not available: remapped memory banks, pending and failed ones."""
    raise _refuse_device(device)


def nvmlDeviceGetRepairStatus(device):
    """Not available: whether channel and TPC repairs are pending."""
    raise _refuse_device(device)


def nvmlDeviceGetUnrepairableMemoryFlag_v1(device):
    """Not available: whether the memory has errors that cannot be repaired."""
    raise _refuse_device(device)


# ---- NVLink (MtLink) ----


def nvmlDeviceGetNvLinkInfo(device, info):
    """Not available: firmware and low-power support of the links."""
    raise _refuse_device(device)


def nvmlDeviceGetNvLinkErrorCounter(device, link, counter):
    """Not available: the number of errors on a link, by type."""
    raise _refuse_values(device, (link, NVML_NVLINK_MAX_LINKS), (counter, NVML_NVLINK_ERROR_COUNT))


def nvmlDeviceResetNvLinkErrorCounters(device, link):
    """Not available: clears the error counters of a link."""
    raise _refuse_values(device, (link, NVML_NVLINK_MAX_LINKS))


def nvmlDeviceGetNvLinkUtilizationControl(device, link, counter):
    """Not available: units and packet filter of a traffic counter."""
    raise _refuse_values(device, (link, NVML_NVLINK_MAX_LINKS), (counter, 2))


def nvmlDeviceSetNvLinkUtilizationControl(device, link, counter, control, reset):
    """Not available: sets units and packet filter of a traffic counter."""
    raise _refuse_device(device)


def nvmlDeviceGetNvLinkUtilizationCounter(device, link, counter):
    """Not available: (received, sent) data on a link, in the counter's units."""
    raise _refuse_values(device, (link, NVML_NVLINK_MAX_LINKS), (counter, 2))


def nvmlDeviceFreezeNvLinkUtilizationCounter(device, link, counter, freeze):
    """Not available: stops or restarts a traffic counter of a link."""
    raise _refuse_values(device, (link, NVML_NVLINK_MAX_LINKS), (counter, 2), (freeze, 2))


def nvmlDeviceResetNvLinkUtilizationCounter(device, link, counter):
    """Not available: clears a traffic counter of a link."""
    raise _refuse_values(device, (link, NVML_NVLINK_MAX_LINKS), (counter, 2))


def nvmlDeviceGetNvLinkTelemetrySamples_v1(device, samples):
    """Not available: samples of link telemetry."""
    raise _refuse_device(device)


def nvmlDeviceSetNvLinkDeviceLowPowerThreshold(device, l1threshold):
    """Not available: sets the idle time before links save power."""
    raise _refuse_device(device)


def nvmlDeviceGetNvlinkSupportedBwModes(device, supportedBwModes):
    """Not available: the bandwidth modes of the links."""
    raise _refuse_device(device)


def nvmlDeviceGetNvlinkBwMode(device, getBwMode):
    """Not available: the bandwidth mode of the links."""
    raise _refuse_device(device)


def nvmlDeviceSetNvlinkBwMode(device, setBwMode):
    """Not available: sets the bandwidth mode of the links."""
    raise _refuse_device(device)


def nvmlDeviceSetNvlinkBwModeAsync_v1(device, setBwModeAsync):
    """Not available: sets the bandwidth mode without waiting, timeout in ms."""
    raise _refuse_device(device)


def nvmlDeviceGetGpuFabricInfo(device, gpuFabricInfo):
    """Not available: cluster, clique and state of the GPU in its fabric."""
    raise _refuse_device(device)


def nvmlDeviceGetGpuFabricInfoV(device, gpuFabricInfo):
    """Not available: cluster, clique, state and health in the fabric."""
    raise _refuse_device(device)


def nvmlDeviceGetGpuFabricInfo_v4(device, gpuFabricInfo):
    """Not available: cluster, cliques, state and health in the fabric."""
    raise _refuse_device(device)


def nvmlDeviceReadWritePRM_v1(handle, c_info):
    """Not available: reads or writes a register of the link hardware."""
    raise _refuse_device(handle)


def nvmlDeviceReadPRMCounters_v1(handle, c_info):
    """Not available: counters of the link hardware, by port."""
    raise _refuse_device(handle)


# ---- MIG (MPC) ----


def nvmlDeviceGetGpuInstancePossiblePlacements(device, profileId, placementsRef, countRef):
    """Not available: where instances of a profile fit, in memory slices."""
    raise _refuse_device(device)


def nvmlDeviceGetGpuInstanceRemainingCapacity(device, profileId):
    """Not available: how many instances of a profile still fit."""
    raise _refuse_device(device)


def nvmlDeviceCreateGpuInstance(device, profileId):
    """Not available: creates a GPU instance of a profile."""
    raise _refuse_device(device)


def nvmlDeviceCreateGpuInstanceWithPlacement(device, profileId, placement):
    """Not available: creates a GPU instance at a placement."""
    raise _refuse_device(device)


def nvmlGpuInstanceDestroy(gpuInstance):
    """Not available: destroys a GPU instance."""
    raise _refuse()


def nvmlGpuInstanceGetComputeInstanceProfileInfo(device, profile, engProfile, version=2):
    """Not available: slices and engines of a compute instance profile."""
    raise _refuse()


def nvmlGpuInstanceGetComputeInstanceProfileInfoV(device, profile, engProfile, version=2):
    """Not available: slices and engines of a compute instance profile."""
    raise _refuse()


def nvmlGpuInstanceGetComputeInstanceRemainingCapacity(gpuInstance, profileId):
    """Not available: how many compute instances of a profile still fit."""
    raise _refuse()


def nvmlGpuInstanceGetComputeInstancePossiblePlacements(gpuInstance, profileId, placementsRef, countRef):
    """Not available: where compute instances of a profile fit, in slices."""
    raise _refuse()


def nvmlGpuInstanceCreateComputeInstance(gpuInstance, profileId):
    """Not available: creates a compute instance of a profile."""
    raise _refuse()


def nvmlGpuInstanceCreateComputeInstanceWithPlacement(gpuInstance, profileId, placement):
    """Not available: creates a compute instance at a placement."""
    raise _refuse()


def nvmlGpuInstanceGetComputeInstances(gpuInstance, profileId, computeInstancesRef, countRef):
    """Not available: the compute instances of a profile."""
    raise _refuse()


def nvmlGpuInstanceGetComputeInstanceById(gpuInstance, computeInstanceId):
    """Not available: the compute instance with an id."""
    raise _refuse()


def nvmlComputeInstanceGetInfo(computeInstance):
    """Not available: device, id, profile and placement of a compute instance."""
    raise _refuse()


def nvmlComputeInstanceGetInfo_v2(computeInstance):
    """Not available: device, id, profile and placement of a compute instance."""
    raise _refuse()


def nvmlComputeInstanceDestroy(computeInstance):
    """Not available: destroys a compute instance."""
    raise _refuse()


def nvmlGpuInstanceGetActiveVgpus(gpuInstance, c_vgpu_instance_info):
    """Not available: the vGPU instances that run in a GPU instance."""
    raise _refuse()


def nvmlGpuInstanceGetCreatableVgpus(gpuInstance, c_vgpus):
    """Not available: the vGPU types that fit into a GPU instance."""
    raise _refuse()


def nvmlGpuInstanceGetVgpuTypeCreatablePlacements(gpuInstance, c_vgpu_placements):
    """Not available: where vGPUs of a type fit into a GPU instance."""
    raise _refuse()


def nvmlGpuInstanceGetVgpuHeterogeneousMode(gpuInstance):
    """Not available: whether vGPUs of several sizes may mix."""
    raise _refuse()


def nvmlGpuInstanceSetVgpuHeterogeneousMode(gpuInstance, heterogeneous_mode):
    """Not available: sets whether vGPUs of several sizes may mix."""
    raise _refuse()


def nvmlGpuInstanceGetVgpuSchedulerState(gpuInstance, c_vgpu_sched_state_info):
    """Not available: policy and time slice (ns) of the vGPU scheduler."""
    raise _refuse()


def nvmlGpuInstanceGetVgpuSchedulerState_v2(gpuInstance, c_vgpu_sched_state_info_v2):
    """Not available: policy and time slice (ns) of the vGPU scheduler."""
    raise _refuse()


def nvmlGpuInstanceSetVgpuSchedulerState(gpuInstance, sched_state):
    """Not available: sets policy and time slice (ns) of the vGPU scheduler."""
    raise _refuse()


def nvmlGpuInstanceSetVgpuSchedulerState_v2(gpuInstance, sched_state_v2):
    """Not available: sets policy and time slice (ns) of the vGPU scheduler."""
    raise _refuse()


def nvmlGpuInstanceGetVgpuSchedulerLog(gpuInstance, c_vgpu_sched_log_info):
    """Not available: the log of the vGPU scheduler, times in ns."""
    raise _refuse()


def nvmlGpuInstanceGetVgpuSchedulerLog_v2(gpuInstance, c_vgpu_sched_log_info_v2):
    """Not available: the log of the vGPU scheduler, times in ns."""
    raise _refuse()


# ---- vGPU ----


def nvmlDeviceSetVirtualizationMode(handle, virtualization_mode):
    """Not available: sets the virtualization mode."""
    raise _refuse_device(handle)


def nvmlDeviceGetHostVgpuMode(handle):
    """Not available: whether vGPUs use SR-IOV, an NVML_HOST_VGPU_MODE_* value."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuCapabilities(handle, capability):
    """Not available: whether the GPU has a vGPU capability."""
    raise _refuse_device(handle)


def nvmlDeviceSetVgpuCapabilities(handle, capability, state):
    """Not available: turns a vGPU capability on or off."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuHeterogeneousMode(handle):
    """Not available: whether vGPUs of several sizes may mix."""
    raise _refuse_device(handle)


def nvmlDeviceSetVgpuHeterogeneousMode(handle, heterogeneous_mode):
    """Not available: sets whether vGPUs of several sizes may mix."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuTypeSupportedPlacements(handle, vgpuTypeId, mode=0, version=1):
    """Not available: where vGPUs of a type may be placed."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuTypeCreatablePlacements(handle, vgpuTypeId, version=1):
    """Not available: where vGPUs of a type fit now."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuInstancesUtilizationInfo(handle, timeStamp):
    """Not available: utilization by vGPU instance, JPEG and OFA included."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuProcessUtilization(handle, timeStamp):
    """Not available: utilization by process of a vGPU, in percent."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuProcessesUtilizationInfo(handle, timeStamp):
    """Not available: utilization by vGPU process, JPEG and OFA included."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuMetadata(handle):
    """Not available: what the host's vGPU manager supports for migration."""
    raise _refuse_device(handle)


def nvmlDeviceGetPgpuMetadataString(handle):
    """Not available: what the host's vGPU manager supports, as text."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuSchedulerCapabilities(handle):
    """Not available: the policies and time slices (ns) of the vGPU scheduler."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuSchedulerState(handle):
    """Not available: policy and time slice (ns) of the vGPU scheduler."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuSchedulerState_v2(handle, c_vgpu_sched_state_info_v2):
    """Not available: policy and time slice (ns) of the vGPU scheduler."""
    raise _refuse_device(handle)


def nvmlDeviceSetVgpuSchedulerState(handle, sched_state):
    """Not available: sets policy and time slice (ns) of the vGPU scheduler."""
    raise _refuse_device(handle)


def nvmlDeviceSetVgpuSchedulerState_v2(handle, sched_state_v2):
    """Not available: sets policy and time slice (ns) of the vGPU scheduler."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuSchedulerLog(handle):
    """Not available: the log of the vGPU scheduler, times in ns."""
    raise _refuse_device(handle)


def nvmlDeviceGetVgpuSchedulerLog_v2(handle, c_vgpu_sched_log_info_v2):
    """Not available: the log of the vGPU scheduler, times in ns."""
    raise _refuse_device(handle)


def nvmlDeviceGetGridLicensableFeatures(handle):
    """Not available: the licensable features, with license state and expiry."""
    raise _refuse_device(handle)


def nvmlDeviceGetGridLicensableFeatures_v4(handle):
    """Not available: the licensable features, with license state and expiry."""
    raise _refuse_device(handle)


def nvmlVgpuTypeGetClass(vgpuTypeId):
    """Not available: the class of a vGPU type, such as NVS or Quadro."""
    raise _refuse()


def nvmlVgpuTypeGetDeviceID(vgpuTypeId):
    """Not available: [device id, subsystem id] of a vGPU type."""
    raise _refuse()


def nvmlVgpuTypeGetFbReservation(vgpuTypeId):
    """Not available: the framebuffer reserved for a vGPU type, in bytes."""
    raise _refuse()


def nvmlVgpuTypeGetGspHeapSize(vgpuTypeId):
    """Not available: the GSP heap of a vGPU type, in bytes."""
    raise _refuse()


def nvmlVgpuTypeGetBAR1Info(vgpuTypeId):
    """Not available: the BAR1 size of a vGPU type, in bytes."""
    raise _refuse()


def nvmlVgpuTypeGetLicense(vgpuTypeId):
    """Not available: the license that a vGPU type needs."""
    raise _refuse()


def nvmlVgpuTypeGetFrameRateLimit(vgpuTypeId):
    """Not available: the frame rate limit of a vGPU type, in frames/s."""
    raise _refuse()


def nvmlVgpuTypeGetMaxInstancesPerVm(vgpuTypeId):
    """Not available: the maximum number of vGPUs of a type in a virtual machine."""
    raise _refuse()


def nvmlVgpuTypeGetMaxInstancesPerGpuInstance(vgpuTypeId):
    """Not available: the maximum number of vGPUs of a type in a GPU instance."""
    raise _refuse()


def nvmlVgpuTypeGetGpuInstanceProfileId(vgpuTypeId):
    """Not available: the GPU instance profile of a vGPU type."""
    raise _refuse()


def nvmlVgpuTypeGetCapabilities(vgpuTypeId, capability):
    """Not available: whether a vGPU type has a capability."""
    raise _refuse()


def nvmlVgpuInstanceGetVmID(vgpuInstance):
    """Not available: the virtual machine of a vGPU instance, as text."""
    raise _refuse()


def nvmlVgpuInstanceGetVmDriverVersion(vgpuInstance):
    """Not available: the driver version in the virtual machine."""
    raise _refuse()


def nvmlVgpuInstanceGetFrameRateLimit(vgpuInstance):
    """Not available: the frame rate limit of a vGPU instance, in frames/s."""
    raise _refuse()


def nvmlVgpuInstanceGetLicenseStatus(vgpuInstance):
    """Not available: whether a vGPU instance is licensed."""
    raise _refuse()


def nvmlVgpuInstanceGetLicenseInfo(vgpuInstance):
    """Not available: the license of a vGPU instance and its expiry."""
    raise _refuse()


def nvmlVgpuInstanceGetLicenseInfo_v2(vgpuInstance):
    """Not available: the license of a vGPU instance and its expiry."""
    raise _refuse()


def nvmlVgpuInstanceGetEccMode(vgpuInstance):
    """Not available: the ECC mode of a vGPU instance."""
    raise _refuse()


def nvmlVgpuInstanceGetEncoderCapacity(vgpuInstance):
    """Not available: the encoder capacity of a vGPU instance, in percent."""
    raise _refuse()


def nvmlVgpuInstanceSetEncoderCapacity(vgpuInstance, encoder_capacity):
    """Not available: sets the encoder capacity of a vGPU instance, in percent."""
    raise _refuse()


def nvmlVgpuInstanceGetEncoderStats(vgpuInstance):
    """Not available: sessions, frames/s and latency (us) of the encoder."""
    raise _refuse()


def nvmlVgpuInstanceGetEncoderSessions(vgpuInstance):
    """Not available: the encoder sessions of a vGPU instance."""
    raise _refuse()


def nvmlVgpuInstanceGetFBCStats(vgpuInstance):
    """Not available: frame buffer capture: sessions, frames/s, latency in us."""
    raise _refuse()


def nvmlVgpuInstanceGetFBCSessions(vgpuInstance):
    """Not available: the frame buffer capture sessions of a vGPU instance."""
    raise _refuse()


def nvmlVgpuInstanceGetGpuInstanceId(vgpuInstance):
    """Not available: the GPU instance that a vGPU instance runs in."""
    raise _refuse()


def nvmlVgpuInstanceGetGpuPciId(vgpuInstance):
    """Not available: the PCI bus id of a vGPU instance in its guest."""
    raise _refuse()


def nvmlVgpuInstanceGetPlacementId(vgpuInstance):
    """Not available: the placement of a vGPU instance in memory."""
    raise _refuse()


def nvmlVgpuInstanceGetRuntimeStateSize(vgpuInstance):
    """Not available: the size of a vGPU instance's state, in bytes."""
    raise _refuse()


def nvmlVgpuInstanceGetMetadata(vgpuInstance):
    """Not available: what a vGPU instance needs for migration."""
    raise _refuse()


def nvmlVgpuInstanceGetAccountingMode(vgpuInstance):
    """Not available: whether accounting is on for a vGPU instance."""
    raise _refuse()


def nvmlVgpuInstanceGetAccountingPids(vgpuInstance):
    """Not available: the processes that accounting lists in a vGPU instance."""
    raise _refuse()


def nvmlVgpuInstanceGetAccountingStats(vgpuInstance, pid):
    """Not available: utilization (%), memory (bytes), time (ms) of a process."""
    raise _refuse()


def nvmlVgpuInstanceClearAccountingPids(vgpuInstance):
    """Not available: clears the list of processes that accounting lists in a vGPU instance."""
    raise _refuse()


def nvmlGetVgpuCompatibility(vgpuMetadata, pgpuMetadata):
    """Not available: whether a vGPU can migrate to a GPU."""
    raise _refuse()


def nvmlGetVgpuDriverCapabilities(capability):
    """Not available: whether the driver has a vGPU capability."""
    raise _refuse()


def nvmlGetVgpuVersion(supported=None, current=None):
    """Not available: the vGPU versions that the host supports and uses."""
    raise _refuse()


def nvmlSetVgpuVersion(vgpuVersion):
    """Not available: limits the vGPU versions that the host accepts."""
    raise _refuse()


# ---- Processes ----


def nvmlDeviceGetRunningProcessDetailList(handle, version, mode):
    """Not available: the processes of a mode, memory in bytes."""
    raise _refuse_device(handle)


def nvmlDeviceSetAccountingMode(handle, mode):
    """Not available: turns accounting on or off."""
    raise _refuse_values(handle, (mode, 2))


def nvmlDeviceGetAccountingBufferSize(handle):
    """Not available: how many processes accounting remembers."""
    raise _refuse_device(handle)


def nvmlDeviceGetAccountingPids(handle):
    """Not available: the processes that accounting lists."""
    raise _refuse_device(handle)


def nvmlDeviceGetAccountingStats(handle, pid):
    """Not available: utilization (%), peak memory (bytes), time (ms) of a process."""
    raise _refuse_device(handle)


def nvmlDeviceGetAccountingStats_v2(handle, pid):
    """Not available: accounting of a process, with sums of its samples."""
    raise _refuse_device(handle)


def nvmlDeviceClearAccountingPids(handle):
    """Not available: clears the list of processes that accounting lists."""
    raise _refuse_device(handle)


# ---- Field values and GPM ----


def nvmlDeviceClearFieldValues(handle, fieldIds):
    """Not available: clears the values of fields."""
    raise _refuse_device(handle)


def nvmlGpmSampleAlloc():
    """Not available: a sample to be filled by nvmlGpmSampleGet."""
    raise _refuse()


def nvmlGpmSampleFree(gpmSample):
    """Not available: frees a sample."""
    raise _refuse()


def nvmlGpmSampleGet(device, gpmSample):
    """Not available: fills a sample of a device."""
    raise _refuse_device(device)


def nvmlGpmMigSampleGet(device, gpuInstanceId, gpmSample):
    """Not available: fills a sample of a GPU instance."""
    raise _refuse_device(device)


def nvmlGpmMetricsGet(metricsGet):
    """Not available: metrics between two samples, mostly in percent."""
    raise _refuse()


def nvmlGpmQueryIfStreamingEnabled(device):
    """Not available: whether GPM streaming is on."""
    raise _refuse_device(device)


def nvmlGpmSetStreamingEnabled(device, state):
    """Not available: turns GPM streaming on or off."""
    raise _refuse_device(device)


# ---- Units ----


def nvmlUnitGetHandleByIndex(index):
    """Not available: the handle of a rack unit."""
    raise _refuse()


def nvmlUnitGetUnitInfo(unit):
    """Not available: name, id, serial number and firmware of a rack unit."""
    raise _refuse()


def nvmlUnitGetLedState(unit):
    """Not available: color of a rack unit's LED, with the cause."""
    raise _refuse()


def nvmlUnitSetLedState(unit, color):
    """Not available: sets the color of a rack unit's LED."""
    raise _refuse()


def nvmlUnitGetPsuInfo(unit):
    """Not available: state, current (A), voltage (V), power (W) of the supply."""
    raise _refuse()


def nvmlUnitGetTemperature(unit, type):
    """Not available: intake, exhaust or board temperature, in degrees Celsius."""
    raise _refuse()


def nvmlUnitGetFanSpeedInfo(unit):
    """Not available: speed (RPM) and state of a rack unit's fans."""
    raise _refuse()


def nvmlUnitGetDeviceCount(unit):
    """Not available: the number of GPUs of a rack unit."""
    raise _refuse()


def nvmlUnitGetDevices(unit):
    """Not available: the handles of the GPUs of a rack unit."""
    raise _refuse()


# END generated NVML refusals

# ==== 19. Module attributes ===========================================================================================

# What this module defines. Programs may replace names of the module later, but not in this dict.
_defined = dict(globals())

# Names that programs take from other bindings: the module that has the name, or is of that name.
_BORROWED = {
    "contextmanager": "contextlib",
    "dataclass": "dataclasses",
    "string": "string",
    "threading": "threading",
    "wraps": "functools",
}
_INVENTED = {  # names that programs ask for, and that no version of MTML ever had: what there is instead
    "mtmlInit": "mtmlLibraryInit",
    "mtmlShutdown": "mtmlLibraryShutDown",
    "mtmlDeviceGetCount": "mtmlLibraryCountDevice",
    **dict.fromkeys(("mtmlDeviceGetByIndex", "mtmlDeviceGetHandleByIndex"), "mtmlLibraryInitDeviceByIndex"),
    "mtmlDeviceGetMemoryInfo": "mtmlMemoryGetTotal and mtmlMemoryGetUsed, or nvmlDeviceGetMemoryInfo",
}

if TYPE_CHECKING:
    import string  # noqa: F401
    import threading  # noqa: F401

    contextmanager: "_Any"
    dataclass: "_Any"
    wraps: "_Any"
    nvmlLib: "_Any"
    mtmlLib: "_Any"
    libHandle: "c_mtmlLibrary_t | None"
    libLifecycleLock: "_Any"
    _nvmlLib_refcount: "int"
else:  # not for type checkers: because of a __getattr__ they would accept any name

    def __getattr__(name):
        if name in _CATALOGUE_STRUCTS:
            return _catalogue_struct(name)
        if name in ("nvmlLib", "mtmlLib"):
            return _session.cdll
        if name == "libHandle":
            return None if _session.life is None else _session.life.handle
        if name == "libLifecycleLock":
            return libLoadLock
        if name == "_nvmlLib_refcount":
            return 0 if _session.life is None else _session.life.references
        if name in _BORROWED:
            import importlib

            module = importlib.import_module(_BORROWED[name])
            return getattr(module, name, module)
        if name == "__all__":
            return [public for public in __dir__() if not public.startswith("_") and public != "TYPE_CHECKING"]
        instead = "; MTML has %s" % _INVENTED[name] if name in _INVENTED else ""
        raise AttributeError("module %r has no attribute %r%s" % (__name__, name, instead))


def __dir__():
    made = ("_nvmlLib_refcount", "libHandle", "libLifecycleLock", "mtmlLib", "nvmlLib")
    return sorted(set(globals()).union(_CATALOGUE_STRUCTS, _BORROWED, made))


def _run_command_line():
    """Run the command line (package pymtml_cli) on this module; return its exit status."""
    sys.modules["pymtml"] = sys.modules["__main__"]
    try:
        from pymtml_cli.main import main
    except ModuleNotFoundError as error:
        if error.name != "pymtml_cli":
            raise
        sys.stderr.write("pymtml: the command line needs the package pymtml_cli beside %s\n" % __file__)
        return 2
    return main()


def _inner_code(decorator):
    """The code of the function that a decorator returns."""
    return next(constant for constant in decorator.__code__.co_consts if hasattr(constant, "co_code"))


_LIFECYCLE = frozenset(
    function.__code__ for function in (nvmlInit, nvmlInitWithFlags, nvmlShutdown, mtmlLibraryInit, mtmlLibraryShutDown)
)
_STEPS = frozenset(function.__code__ for function in (_start.__wrapped__, _stop.__wrapped__, _Change.run))
_BYSTANDERS = frozenset(
    [_CFunction.__call__.__code__, _store_nothing.__code__, _store_value.__code__, _run_command_line.__code__]
    + [patch_torch_c_for_musa.__code__, _import_torch_musa.__code__, _sample_energy.__code__]
    + [_inner_code(convertStrBytes), _inner_code(throwOnVersionMismatch)]
    # A wait for events only reads files.
    + [nvmlEventSetWait_v2.__code__, _wait_for_event.__code__, _store_event.__code__, _look_at_card.__code__]
    + [_event_bytes.__code__, _open_nonblocking.__code__, _xid_records.__code__, _xid_record.__code__]
    + [_xid_time.__code__, _word_at.__code__, _name_at.__code__]
)


if __name__ == "__main__":
    sys.exit(_run_command_line())
