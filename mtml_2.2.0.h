/*
 * MTML 2.2.0: the C interface of the Moore Threads management library (libmtml.so.2).
 *
 * Objects
 *   A program gets a library handle from mtmlLibraryInit, system and device handles from the library, and gpu, memory
 *   and vpu handles from a device. Handles are opaque. Two handles of one resource have the same address, so they can
 *   be cached and compared. The library owns every handle below it; the Free functions are kept for old programs only.
 *
 * Lifetime
 *   mtmlLibraryInit is counted: each pointer that it hands out goes through mtmlLibraryShutDown once, in any order, and
 *   is dead after that. The last shutdown ends every handle. mtmlDeviceReset and destroying an MPC instance make the
 *   handles of that device stale; changing the MPC mode or configuration makes all handles but the library's stale.
 *   A slot that receives a handle should be empty: what it held before is lost.
 *
 * Results
 *   Every function but mtmlErrorString returns a MtmlReturn; its outputs mean something only with MTML_SUCCESS. All
 *   output memory is the caller's. Texts end in NUL; a buffer of the size named in section 1 is always large enough.
 *
 * Errors
 *   An "Errors" line lists, without the MTML_ERROR_ prefix, what a function reports beyond the two codes that all but
 *   mtmlLogGetConfiguration share: INVALID_ARGUMENT (a pointer is NULL, a handle or a number is not valid) and UNKNOWN.
 *   mtmlLogGetConfiguration shares UNKNOWN only. DRIVER_NOT_LOADED, NO_PERMISSION, TIMEOUT and RESOURCE_IS_BUSY are
 *   documented for no function in particular: be ready for them from any.
 *
 * Support
 *   "Linux only" and "from GENERATION on" say where a function works; elsewhere expect NOT_SUPPORTED. The generations
 *   of GPUs are, in this order, SUDI, CHUNXIAO, QUYUAN and PINGHU.
 *
 * Units
 *   Clocks are in MHz, power in mW, temperatures in degrees Celsius, utilization in percent; memory is in bytes, or in
 *   MB where a comment or a name says so; sample windows and latencies are in microseconds.
 *
 * Threads
 *   The interface promises no thread safety. Make no other call while an MPC configuration changes.
 *
 * Macros for the including program
 *   MTML_NO_DEPRECATED     silences the warnings about deprecated functions
 *   MTML_BUILDING_LIBRARY  is defined by an implementation of the library itself
 */

#ifndef MTML_2_2_0_H
#define MTML_2_2_0_H

#if defined(_WIN32)
#if defined(MTML_BUILDING_LIBRARY)
#define MTML_API __declspec(dllexport)
#else
#define MTML_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define MTML_API __attribute__((visibility("default")))
#else
#define MTML_API
#endif

#if defined(MTML_NO_DEPRECATED)
#define MTML_DEPRECATED
#elif defined(__GNUC__)
#define MTML_DEPRECATED __attribute__((deprecated))
#elif defined(_MSC_VER)
#define MTML_DEPRECATED __declspec(deprecated)
#else
#define MTML_DEPRECATED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ==== 1. Constants ==== */

/* Sizes of text buffers in bytes, the closing NUL included. */
#define MTML_LIBRARY_VERSION_BUFFER_SIZE       32
#define MTML_DRIVER_VERSION_BUFFER_SIZE        80
#define MTML_DEVICE_NAME_BUFFER_SIZE           32
#define MTML_DEVICE_UUID_BUFFER_SIZE           48
#define MTML_DEVICE_MTBIOS_VERSION_BUFFER_SIZE 64
#define MTML_DEVICE_VBIOS_VERSION_BUFFER_SIZE  64
#define MTML_DEVICE_PATH_BUFFER_SIZE           64
#define MTML_DEVICE_PCI_SBDF_BUFFER_SIZE       32
#define MTML_VIRT_TYPE_ID_BUFFER_SIZE          16
#define MTML_VIRT_TYPE_CLASS_BUFFER_SIZE       32
#define MTML_VIRT_TYPE_NAME_BUFFER_SIZE        32
#define MTML_VIRT_TYPE_API_BUFFER_SIZE         16

/*
 * printf format of a PCI address from MtmlPciInfo's segment, bus and device. Drivers write MtmlPciInfo's sbdf in lower
 * case: compare the two without regard to case.
 */
#define MTML_DEVICE_PCI_BUS_ID_FMT "%08X:%02X:%02X.0"

#define MTML_LOG_FILE_PATH_BUFFER_SIZE    200
#define MTML_MPC_PROFILE_NAME_BUFFER_SIZE 32
#define MTML_MPC_CONF_NAME_BUFFER_SIZE    32

/* Length of the list of profiles in a MtmlMpcConfiguration. */
#define MTML_MPC_CONF_MAX_PROF_NUM 16

#define MTML_DEVICE_SLOT_NAME_BUFFER_SIZE     32
#define MTML_MEMORY_VENDOR_BUFFER_SIZE        64
#define MTML_DEVICE_SERIAL_NUMBER_BUFFER_SIZE 64

/* ==== 2. Enums ==== */

/* Return codes. */
typedef enum {
    MTML_SUCCESS = 0,
    MTML_ERROR_DRIVER_NOT_LOADED = 1,   /* the kernel driver is absent */
    MTML_ERROR_DRIVER_FAILURE = 2,      /* the driver did not answer as it should */
    MTML_ERROR_INVALID_ARGUMENT = 3,    /* a NULL pointer, a wrong handle, a number out of range */
    MTML_ERROR_NOT_SUPPORTED = 4,       /* this device, mode or system cannot do it */
    MTML_ERROR_NO_PERMISSION = 5,       /* the calling user may not do it */
    MTML_ERROR_INSUFFICIENT_SIZE = 6,   /* the caller's buffer or array is too small */
    MTML_ERROR_NOT_FOUND = 7,           /* nothing matches what was asked for */
    MTML_ERROR_INSUFFICIENT_MEMORY = 8, /* out of host memory */
    MTML_ERROR_DRIVER_TOO_OLD = 9,      /* the library expects a newer driver */
    MTML_ERROR_DRIVER_TOO_NEW = 10,     /* the library expects an older driver */
    MTML_ERROR_TIMEOUT = 11,            /* the driver took too long */
    MTML_ERROR_RESOURCE_IS_BUSY = 12,   /* in use by somebody else */
    MTML_ERROR_UNKNOWN = 999            /* any other failure */
} MtmlReturn;

/* Product brands. */
typedef enum {
    MTML_BRAND_MTT = 0,
    MTML_BRAND_UNKNOWN = 1,
    MTML_BRAND_COUNT = 2
} MtmlBrandType;

/* Kinds of graphics memory. Newer cards report numbers that have no name here. */
typedef enum {
    MTML_MEM_TYPE_LPDDR4 = 0,
    MTML_MEM_TYPE_GDDR6 = 1
} MtmlMemoryType;

/* Video formats of a codec session. */
typedef enum {
    MTML_CODEC_TYPE_AVC = 0,
    MTML_CODEC_TYPE_VC1 = 1,
    MTML_CODEC_TYPE_MPEG2 = 2,
    MTML_CODEC_TYPE_MPEG4 = 3,
    MTML_CODEC_TYPE_H263 = 4,
    MTML_CODEC_TYPE_DIV3 = 5,
    MTML_CODEC_TYPE_RV = 6,
    MTML_CODEC_TYPE_AVS = 7,
    MTML_CODEC_TYPE_RSVD1 = 8,
    MTML_CODEC_TYPE_THO = 9,
    MTML_CODEC_TYPE_VP3 = 10,
    MTML_CODEC_TYPE_VP8 = 11,
    MTML_CODEC_TYPE_HEVC = 12,
    MTML_CODEC_TYPE_VP9 = 13,
    MTML_CODEC_TYPE_AVS2 = 14,
    MTML_CODEC_TYPE_RSVD2 = 15,
    MTML_CODEC_TYPE_AV1 = 16,
    MTML_CODEC_TYPE_COUNT = 17
} MtmlCodecType;

/* Whether a codec session is in use. The only signed enum of this interface. */
typedef enum {
    MTML_CODEC_SESSION_STATE_UNKNOWN = -1,
    MTML_CODEC_SESSION_STATE_IDLE = 0,
    MTML_CODEC_SESSION_STATE_ACTIVE = 1,
    MTML_CODEC_SESSION_STATE_COUNT = 2
} MtmlCodecSessionState;

/* Values of MtmlDeviceProperty's virtCap. */
typedef enum {
    MTML_DEVICE_NOT_SUPPORT_VIRTUALIZATION = 0,
    MTML_DEVICE_SUPPORT_VIRTUALIZATION = 1
} MtmlVirtCapability;

/* Values of MtmlDeviceProperty's virtRole. */
typedef enum {
    MTML_VIRT_ROLE_NONE = 0,             /* a physical device */
    MTML_VIRT_ROLE_HOST_VIRTDEVICE = 1,  /* a virtual device, seen from its host */
    MTML_VIRT_ROLE_GUEST_VIRTDEVICE = 2, /* a virtual device, seen from inside its guest */
    MTML_VIRT_ROLE_COUNT = 3
} MtmlVirtRole;

/* What two devices have in common on the way between them, from near to far. */
typedef enum {
    MTML_TOPOLOGY_INTERNAL = 0,   /* one board */
    MTML_TOPOLOGY_SINGLE = 1,     /* one PCIe switch */
    MTML_TOPOLOGY_MULTIPLE = 2,   /* several PCIe switches, no host bridge */
    MTML_TOPOLOGY_HOSTBRIDGE = 3, /* one PCIe host bridge */
    MTML_TOPOLOGY_NODE = 4,       /* one NUMA node, several host bridges */
    MTML_TOPOLOGY_SYSTEM = 5      /* the machine only: different NUMA nodes */
} MtmlDeviceTopologyLevel;

/* How much is logged; each level includes those above it. There is no debug level. */
typedef enum {
    MTML_LOG_LEVEL_OFF = 0,
    MTML_LOG_LEVEL_FATAL = 1,
    MTML_LOG_LEVEL_ERROR = 2,
    MTML_LOG_LEVEL_WARNING = 3,
    MTML_LOG_LEVEL_INFO = 4
} MtmlLogLevel;

/* Whether a card is split into MPC instances. */
typedef enum {
    MTML_DEVICE_MPC_DISABLE = 0,
    MTML_DEVICE_MPC_ENABLE = 1
} MtmlMpcMode;

/* Values of MtmlDeviceProperty's mpcCap. */
typedef enum {
    MTML_DEVICE_NOT_SUPPORT_MPC = 0,
    MTML_DEVICE_SUPPORT_MPC = 1
} MtmlMpcCapability;

/* Values of MtmlDeviceProperty's mpcType. */
typedef enum {
    MTML_MPC_TYPE_NONE = 0,
    MTML_MPC_TYPE_PARENT = 1,
    MTML_MPC_TYPE_INSTANCE = 2
} MtmlMpcType;

/* Whether one device can reach the memory of another. */
typedef enum {
    MTML_P2P_STATUS_OK = 0,
    MTML_P2P_STATUS_CHIPSET_NOT_SUPPORTED = 1,
    MTML_P2P_STATUS_GPU_NOT_SUPPORTED = 2,
    MTML_P2P_STATUS_UNKNOWN = 3
} MtmlDeviceP2PStatus;

/* The direction that a peer-to-peer query asks about. */
typedef enum {
    MTML_P2P_CAPS_READ = 0,
    MTML_P2P_CAPS_WRITE = 1
} MtmlDeviceP2PCaps;

/* The state of one MtLink. */
typedef enum {
    MTML_MTLINK_STATE_DOWN = 0,
    MTML_MTLINK_STATE_UP = 1,
    MTML_MTLINK_STATE_DOWNGRADE = 2 /* up with less than its full bandwidth */
} MtmlMtLinkState;

/* What an MtLink may be able to carry. */
typedef enum {
    MTML_MTLINK_CAP_P2P_ACCESS = 0,
    MTML_MTLINK_CAP_P2P_ATOMICS = 1,
    MTML_MTLINK_CAP_COUNT = 2
} MtmlMtLinkCap;

/* Whether an MtLink has a capability. */
typedef enum {
    MTML_MTLINK_CAP_STATUS_NOT_SUPPORTED = 0,
    MTML_MTLINK_CAP_STATUS_OK = 1
} MtmlMtLinkCapStatus;

/* Values of MtmlDeviceProperty's mtLinkCap. */
typedef enum {
    MTML_DEVICE_NOT_SUPPORT_MTLINK = 0,
    MTML_DEVICE_SUPPORT_MTLINK = 1
} MtmlMtLinkCapability;

/* Kinds of display output. */
typedef enum {
    MTML_DISP_INTF_TYPE_DP = 0,
    MTML_DISP_INTF_TYPE_EDP = 1,
    MTML_DISP_INTF_TYPE_VGA = 2,
    MTML_DISP_INTF_TYPE_HDMI = 3,
    MTML_DISP_INTF_TYPE_LVDS = 4,
    MTML_DISP_INTF_TYPE_MAX = 5
} MtmlDispIntfType;

/* Engines of the graphics core. */
typedef enum {
    MTML_GPU_ENGINE_GEOMETRY = 0,
    MTML_GPU_ENGINE_2D = 1,
    MTML_GPU_ENGINE_3D = 2,
    MTML_GPU_ENGINE_COMPUTE = 3,
    MTML_GPU_ENGINE_MAX = 4
} MtmlGpuEngine;

/* Whether memory errors are corrected. */
typedef enum {
    MTML_MEMORY_ECC_DISABLE = 0,
    MTML_MEMORY_ECC_ENABLE = 1
} MtmlEccMode;

/* Why a memory page was retired. */
typedef enum {
    MTML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS = 0,
    MTML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR = 1,
    MTML_PAGE_RETIREMENT_CAUSE_MAX = 2
} MtmlPageRetirementCause;

/* Whether pages wait for the next reboot to be retired. */
typedef enum {
    MTML_RETIRED_PAGES_PENDING_STATE_FALSE = 0,
    MTML_RETIRED_PAGES_PENDING_STATE_TRUE = 1
} MtmlRetiredPagesPendingState;

/* Which counter of memory errors: a volatile one starts again from 0, an aggregate one stays over the card's life. */
typedef enum {
    MTML_VOLATILE_ECC = 0,
    MTML_AGGREGATE_ECC = 1,
    MTML_ECC_COUNTER_TYPE_COUNT = 2
} MtmlEccCounterType;

/* Kinds of memory error. */
typedef enum {
    MTML_MEMORY_ERROR_TYPE_CORRECTED = 0,
    MTML_MEMORY_ERROR_TYPE_UNCORRECTED = 1,
    MTML_MEMORY_ERROR_TYPE_COUNT = 2
} MtmlMemoryErrorType;

/* Where a memory error happened: bits that can be combined. */
typedef enum {
    MTML_MEMORY_LOCATION_DRAM = 1
} MtmlMemoryLocation;

/* ==== 3. Handles and structs ==== */

typedef struct MtmlGpu MtmlGpu;         /* the graphics core of a device */
typedef struct MtmlMemory MtmlMemory;   /* the memory of a device */
typedef struct MtmlVpu MtmlVpu;         /* the video unit of a device */
typedef struct MtmlDevice MtmlDevice;   /* a card, an MPC instance or a virtual device */
typedef struct MtmlSystem MtmlSystem;   /* the machine and its driver */
typedef struct MtmlLibrary MtmlLibrary; /* one reference to the initialized library */

/* Fields named rsvd keep the structs' size stable: ignore what is in them, and clear them in structs passed in. */

/* A device on the PCI bus. */
typedef struct {
    char sbdf[MTML_DEVICE_PCI_SBDF_BUFFER_SIZE]; /* address as text, like 00000000:3a:00.0; the function is always 0 */
    unsigned int segment;                        /* PCI domain; may need more than 16 bits */
    unsigned int bus;
    unsigned int device;
    unsigned int pciDeviceId; /* 16 bits of device id and 16 bits of vendor id in one word */
    unsigned int pciSubsystemId;
    unsigned int busWidth;    /* always 0 */
    float pciMaxSpeed;        /* GT/s per lane */
    float pciCurSpeed;        /* GT/s per lane */
    unsigned int pciMaxWidth; /* lanes */
    unsigned int pciCurWidth; /* lanes */
    unsigned int pciMaxGen;
    unsigned int pciCurGen;
    int rsvd[6];
} MtmlPciInfo;

/* The physical slot that holds a card. */
typedef struct {
    unsigned int slotId;
    char slotName[MTML_DEVICE_SLOT_NAME_BUFFER_SIZE];
    unsigned int rsvd[4];
} MtmlPciSlotInfo;

/* How busy the video unit is. */
typedef struct {
    unsigned int util;    /* percent, both directions together */
    unsigned int period;  /* sample window in microseconds */
    unsigned int encUtil; /* percent */
    unsigned int decUtil; /* percent */
    int rsvd[2];
} MtmlCodecUtil;

/* One encoder or decoder session. */
typedef struct {
    unsigned int id;          /* session number */
    unsigned int pid;         /* process that owns the session; 0 while idle, and always on a virtual device */
    unsigned int hResolution; /* width of the coded picture in pixels */
    unsigned int vResolution; /* height of the coded picture in pixels */
    unsigned int frameRate;   /* frames per second */
    unsigned int bitRate;     /* bits per second */
    unsigned int latency;     /* microseconds; drivers leave it 0 */
    MtmlCodecType codecType;
    int rsvd[4];
} MtmlCodecSessionMetrics;

/* A kind of virtual device that a card can be split into. */
typedef struct {
    char id[MTML_VIRT_TYPE_ID_BUFFER_SIZE];
    char name[MTML_VIRT_TYPE_NAME_BUFFER_SIZE];
    char api[MTML_VIRT_TYPE_API_BUFFER_SIZE]; /* the host interface that creates such devices */
    unsigned int horizontalResolution;        /* largest display in pixels */
    unsigned int verticalResolution;          /* largest display in pixels */
    unsigned int frameBuffer;                 /* MB */
    unsigned int maxEncodeNum;                /* encoder sessions */
    unsigned int maxDecodeNum;                /* decoder sessions */
    unsigned int maxInstances;                /* devices of this type per card */
    unsigned int maxVirtualDisplay;
    int rsvd[11];
} MtmlVirtType;

/* What a device is and can do: the first word is filled from its lowest bit up. */
typedef struct {
    unsigned int virtCap : 1;   /* MtmlVirtCapability */
    unsigned int virtRole : 3;  /* MtmlVirtRole */
    unsigned int mpcCap : 1;    /* MtmlMpcCapability */
    unsigned int mpcType : 3;   /* MtmlMpcType */
    unsigned int mtLinkCap : 1; /* MtmlMtLinkCapability */
    unsigned int rsvd : 23;
    unsigned int rsvd2 : 32;
} MtmlDeviceProperty;

/* Where the library logs, with a level of its own for each destination. */
typedef struct {
    struct {
        MtmlLogLevel level;
        int rsvd[2];
    } consoleConfig;
    struct { /* syslog; Linux only */
        MtmlLogLevel level;
        int rsvd[2];
    } systemConfig;
    struct {
        MtmlLogLevel level;
        char file[MTML_LOG_FILE_PATH_BUFFER_SIZE]; /* path; an empty one closes the log file */
        unsigned int size;                         /* largest size of the file */
        int rsvd[2];
    } fileConfig;
    struct {
        MtmlLogLevel level;
        void (*callback)(const char *message, unsigned int length); /* must stay callable as long as it is set */
        int rsvd[2];
    } callbackConfig;
    int rsvd[8];
} MtmlLogConfiguration;

/* A size of MPC instance. */
typedef struct {
    unsigned int id;
    unsigned int coreCount;
    unsigned long long memorySizeMB;
    char name[MTML_MPC_PROFILE_NAME_BUFFER_SIZE];
    unsigned int rsvd[10];
} MtmlMpcProfile;

/* A way to split a card into MPC instances. */
typedef struct {
    unsigned int id;
    char name[MTML_MPC_CONF_NAME_BUFFER_SIZE];
    int profileId[MTML_MPC_CONF_MAX_PROF_NUM]; /* one per instance; -1 in the cells after the last */
    unsigned int rsvd[24];
} MtmlMpcConfiguration;

/* The MtLink equipment of a device. */
typedef struct {
    unsigned int version;   /* major * 10000 + minor * 100 + patch */
    unsigned int bandWidth; /* GB/s per link */
    unsigned int linkNum;   /* links are numbered from 0 to linkNum - 1 */
    unsigned int rsvd[4];
} MtmlMtLinkSpec;

/* One direct link between two devices. */
typedef struct {
    unsigned int localLinkId;
    unsigned int remoteLinkId;
    unsigned int rsvd[4];
} MtmlMtLinkLayout;

/* A display output. */
typedef struct {
    MtmlDispIntfType type;
    unsigned int maxHoriRes; /* pixels */
    unsigned int maxVertRes; /* pixels */
    float maxRefreshRate;    /* Hz */
    unsigned int rsvd[8];
} MtmlDispIntfSpec;

/* How many memory pages were retired. */
typedef struct {
    unsigned int sbeCount; /* for several single-bit errors */
    unsigned int dbeCount; /* for a double-bit error */
} MtmlPageRetirementCount;

/* A retired memory page. */
typedef struct {
    unsigned long long timestamps;
    unsigned long long address; /* hardware address */
    unsigned int rsvd[10];
} MtmlPageRetirement;

/* A memory page that waits to be retired. No function of this version uses it. */
typedef struct {
    MtmlPageRetirementCause cause;
    unsigned long long timestamps;
    unsigned long long address;
    unsigned int rsvd[10];
} MtmlPageRetirementPending;

/* ==== 4. Library ==== */

/*
 * Initializes the library, or adds a reference to it, and hands out a handle that has to go through
 * mtmlLibraryShutDown.
 * Errors: DRIVER_FAILURE, INSUFFICIENT_MEMORY.
 */
MTML_API MtmlReturn mtmlLibraryInit(MtmlLibrary **lib);

/* Gives one reference back. The handle is dead afterwards; the last one takes the whole library with it. */
MTML_API MtmlReturn mtmlLibraryShutDown(MtmlLibrary *lib);

/*
 * Writes the library's version, for example "2.2.0". See MTML_LIBRARY_VERSION_BUFFER_SIZE.
 * Errors: INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlLibraryGetVersion(const MtmlLibrary *lib, char *version, unsigned int length);

/*
 * Gets the handle of the system.
 * Errors: INSUFFICIENT_MEMORY.
 */
MTML_API MtmlReturn mtmlLibraryInitSystem(const MtmlLibrary *lib, MtmlSystem **sys);

/* Does nothing that the shutdown would not do. */
MTML_DEPRECATED MTML_API MtmlReturn mtmlLibraryFreeSystem(MtmlSystem *sys);

/* Counts the devices that have an index. A card in MPC mode counts as its parent and each of its instances. */
MTML_API MtmlReturn mtmlLibraryCountDevice(const MtmlLibrary *lib, unsigned int *count);

/*
 * Gets a device by its index, which is below the count. A change of the MPC setup renumbers the devices.
 * Errors: DRIVER_FAILURE, NOT_FOUND, INSUFFICIENT_MEMORY.
 */
MTML_API MtmlReturn mtmlLibraryInitDeviceByIndex(const MtmlLibrary *lib, unsigned int index, MtmlDevice **dev);

/*
 * Gets a device by the text that mtmlDeviceGetUUID writes.
 * Errors: DRIVER_FAILURE, NOT_FOUND, INSUFFICIENT_MEMORY.
 */
MTML_API MtmlReturn mtmlLibraryInitDeviceByUuid(const MtmlLibrary *library, const char *uuid, MtmlDevice **dev);

/*
 * Gets a device by its PCI address, written as MtmlPciInfo's sbdf with eight digits of segment. Text that is no such
 * address is INVALID_ARGUMENT, an address without a device NOT_FOUND.
 * Errors: NOT_FOUND, INSUFFICIENT_MEMORY.
 */
MTML_API MtmlReturn mtmlLibraryInitDeviceByPciSbdf(const MtmlLibrary *lib, const char *pciSbdf, MtmlDevice **dev);

/*
 * Applies configuration mpcConfigIds[i] to devices[i], for all i below count, and switches MPC on where it is off. If
 * one fails, those before it go back to MPC off as far as possible. Takes its time. All handles but the library's are
 * stale afterwards: shut down and start again. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlLibrarySetMpcConfigurationInBatch(const MtmlLibrary *lib, unsigned int count,
                                                          MtmlDevice **devices, unsigned int *mpcConfigIds);

/*
 * Not needed, and known to crash with some drivers. Virtual devices are refused with NOT_SUPPORTED.
 * Errors: NOT_SUPPORTED.
 */
MTML_DEPRECATED MTML_API MtmlReturn mtmlLibraryFreeDevice(MtmlDevice *dev);

/* ==== 5. System ==== */

/*
 * Writes the driver's version, for example "3.3.5-server". See MTML_DRIVER_VERSION_BUFFER_SIZE.
 * Errors: INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlSystemGetDriverVersion(const MtmlSystem *sys, char *version, unsigned int length);

/* ==== 6. Device ==== */

/*
 * Gets the graphics core of a device; there is one handle per device.
 * Errors: INSUFFICIENT_MEMORY.
 */
MTML_API MtmlReturn mtmlDeviceInitGpu(const MtmlDevice *dev, MtmlGpu **gpu);

/* Not needed. */
MTML_DEPRECATED MTML_API MtmlReturn mtmlDeviceFreeGpu(MtmlGpu *gpu);

/*
 * Gets the memory of a device; there is one handle per device.
 * Errors: INSUFFICIENT_MEMORY.
 */
MTML_API MtmlReturn mtmlDeviceInitMemory(const MtmlDevice *dev, MtmlMemory **mem);

/* Not needed. */
MTML_DEPRECATED MTML_API MtmlReturn mtmlDeviceFreeMemory(MtmlMemory *mem);

/*
 * Gets the video unit of a device; there is one handle per device. An MPC parent has none (NOT_SUPPORTED).
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_MEMORY.
 */
MTML_API MtmlReturn mtmlDeviceInitVpu(const MtmlDevice *dev, MtmlVpu **vpu);

/* Not needed. */
MTML_DEPRECATED MTML_API MtmlReturn mtmlDeviceFreeVpu(MtmlVpu *vpu);

/*
 * Gets the index that mtmlLibraryInitDeviceByIndex takes. A virtual device on its host has none (NOT_SUPPORTED).
 * Errors: NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetIndex(const MtmlDevice *dev, unsigned int *index);

/*
 * Writes the UUID as 36 characters of hexadecimal digits and hyphens, without a prefix, for virtual devices too. See
 * MTML_DEVICE_UUID_BUFFER_SIZE.
 * Errors: INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetUUID(const MtmlDevice *dev, char *uuid, unsigned int length);

/*
 * Gets the product brand.
 * Errors: DRIVER_FAILURE.
 */
MTML_API MtmlReturn mtmlDeviceGetBrand(const MtmlDevice *dev, MtmlBrandType *type);

/*
 * Writes the product name, for example "MTT S4000". Not for virtual devices. See MTML_DEVICE_NAME_BUFFER_SIZE.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlDeviceGetName(const MtmlDevice *dev, char *name, unsigned int length);

/*
 * Gets the PCI address, ids and link. Not for virtual devices.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetPciInfo(const MtmlDevice *dev, MtmlPciInfo *pci);

/*
 * Gets the power that the whole board draws, in mW.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlDeviceGetPowerUsage(const MtmlDevice *dev, unsigned int *power);

/*
 * Writes the path of the device node. Not for virtual devices. See MTML_DEVICE_PATH_BUFFER_SIZE.
 * Errors: NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetGpuPath(const MtmlDevice *dev, char *path, unsigned int length);

/*
 * Writes the path of the DRM primary node. Not for virtual devices. See MTML_DEVICE_PATH_BUFFER_SIZE.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetPrimaryPath(const MtmlDevice *dev, char *path, unsigned int length);

/*
 * Writes the path of the DRM render node. Not for virtual devices. See MTML_DEVICE_PATH_BUFFER_SIZE.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetRenderPath(const MtmlDevice *dev, char *path, unsigned int length);

/*
 * The former name of mtmlDeviceGetMtBiosVersion. See MTML_DEVICE_VBIOS_VERSION_BUFFER_SIZE.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_DEPRECATED MTML_API MtmlReturn mtmlDeviceGetVbiosVersion(const MtmlDevice *dev, char *version,
                                                              unsigned int length);

/*
 * Writes the version of the card's firmware, for example "4.3.41". Not for virtual devices. See
 * MTML_DEVICE_MTBIOS_VERSION_BUFFER_SIZE.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlDeviceGetMtBiosVersion(const MtmlDevice *dev, char *version, unsigned int length);

/*
 * Gets what the device is and can do.
 * Errors: DRIVER_FAILURE.
 */
MTML_API MtmlReturn mtmlDeviceGetProperty(const MtmlDevice *dev, MtmlDeviceProperty *prop);

/*
 * Counts the fans that the card controls: 0 or NOT_SUPPORTED for a card that has none of its own.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlDeviceCountFan(const MtmlDevice *dev, unsigned int *count);

/*
 * Gets the speed that a fan is asked to run at, in percent of its maximum under the noise limit. May pass 100.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlDeviceGetFanSpeed(const MtmlDevice *dev, unsigned int index, unsigned int *speed);

/*
 * Gets the speed of a fan in revolutions per minute.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetFanRpm(const MtmlDevice *dev, unsigned int fanIndex, unsigned int *fanRpm);

/*
 * Gets the number and the label of the slot that holds the card.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlDeviceGetPcieSlotInfo(const MtmlDevice *dev, MtmlPciSlotInfo *slotInfo);

/*
 * Counts the display outputs.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlDeviceCountDisplayInterface(const MtmlDevice *device, unsigned int *count);

/*
 * Gets one display output; intfIndex is below the count.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlDeviceGetDisplayInterfaceSpec(const MtmlDevice *device, unsigned int intfIndex,
                                                      MtmlDispIntfSpec *dispIntfSpec);

/*
 * Writes the serial number. The length comes before the buffer here. See MTML_DEVICE_SERIAL_NUMBER_BUFFER_SIZE.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlDeviceGetSerialNumber(const MtmlDevice *device, unsigned int length, char *serialNumber);

/*
 * Counts the physical cores of the GPU, 8 on an MTT S80; this is not the number of its arithmetic units.
 * Errors: NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountGpuCores(const MtmlDevice *device, unsigned int *numCores);

/* ==== 7. Virtualization ==== */

/*
 * Except for the functions of a virtual device, these need a physical device whose property virtCap is set, and report
 * NOT_SUPPORTED for any other.
 */

/*
 * Counts the virtual device types that the card knows.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountSupportedVirtTypes(const MtmlDevice *dev, unsigned int *count);

/*
 * Gets the virtual device types that the card knows; the array comes before its length here.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetSupportedVirtTypes(const MtmlDevice *dev, MtmlVirtType *types, unsigned int count);

/*
 * Counts the virtual device types of which one more can be created now.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountAvailVirtTypes(const MtmlDevice *dev, unsigned int *count);

/*
 * Gets the virtual device types of which one more can be created now; the array comes before its length here.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetAvailVirtTypes(const MtmlDevice *dev, MtmlVirtType *types, unsigned int count);

/*
 * Counts the virtual devices of a type that can be created in addition to those that exist. A type that the card does
 * not know is INVALID_ARGUMENT.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountAvailVirtDevices(const MtmlDevice *dev, const MtmlVirtType *type,
                                                    unsigned int *count);

/*
 * Counts the virtual devices that hold resources of the card.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountActiveVirtDevices(const MtmlDevice *dev, unsigned int *count);

/*
 * Writes the UUIDs of the active virtual devices into one block of entryCount slots with entryLength bytes each. Slots
 * that are left over become empty texts.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetActiveVirtDeviceUuids(const MtmlDevice *dev, char *uuids, unsigned int entryLength,
                                                       unsigned int entryCount);

/*
 * Counts the virtual devices of a type that fit on the card while it is empty.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountMaxVirtDevices(const MtmlDevice *dev, const MtmlVirtType *type,
                                                  unsigned int *virtDevicesCount);

/*
 * Gets an active virtual device by its UUID. Its role is MTML_VIRT_ROLE_HOST_VIRTDEVICE.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, NOT_FOUND, INSUFFICIENT_MEMORY.
 */
MTML_API MtmlReturn mtmlDeviceInitVirtDevice(const MtmlDevice *dev, const char *uuid, MtmlDevice **virtDev);

/*
 * Not needed. Devices that are not virtual are refused with NOT_SUPPORTED.
 * Errors: NOT_SUPPORTED.
 */
MTML_DEPRECATED MTML_API MtmlReturn mtmlDeviceFreeVirtDevice(MtmlDevice *virtDev);

/*
 * Gets the type of a virtual device; NOT_SUPPORTED for any other.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetVirtType(const MtmlDevice *virtDev, MtmlVirtType *type);

/*
 * Writes the UUID of the card below a virtual device; NOT_SUPPORTED for any other. See MTML_DEVICE_UUID_BUFFER_SIZE.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetPhyDeviceUuid(const MtmlDevice *virtDev, char *uuid, unsigned int length);

/* ==== 8. Topology and peer-to-peer access ==== */

/*
 * Gets how far two devices are apart. Linux only.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetTopologyLevel(const MtmlDevice *dev1, const MtmlDevice *dev2,
                                               MtmlDeviceTopologyLevel *level);

/*
 * Counts the devices at a distance from this one. Whether nearer devices count too is not defined. Linux only.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountDeviceByTopologyLevel(const MtmlDevice *dev, MtmlDeviceTopologyLevel level,
                                                         unsigned int *count);

/*
 * Gets the devices at a distance from this one; count is the length of the array. Linux only.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetDeviceByTopologyLevel(const MtmlDevice *dev, MtmlDeviceTopologyLevel level,
                                                       unsigned int count, MtmlDevice **deviceArray);

/*
 * Gets whether dev1 can read, or write, the memory of dev2. Virtual devices report NOT_SUPPORTED.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetP2PStatus(const MtmlDevice *dev1, const MtmlDevice *dev2, MtmlDeviceP2PCaps p2pCap,
                                           MtmlDeviceP2PStatus *p2pStatus);

/* ==== 9. Graphics core ==== */

/*
 * Gets how busy the graphics core is, in percent.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlGpuGetUtilization(const MtmlGpu *gpu, unsigned int *utilization);

/*
 * Gets the temperature of the graphics core in degrees Celsius; it can be negative.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlGpuGetTemperature(const MtmlGpu *gpu, int *temp);

/*
 * Gets the clock of the graphics core in MHz.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlGpuGetClock(const MtmlGpu *gpu, unsigned int *clockMhz);

/*
 * Gets the highest clock of the graphics core in MHz. Not on an MTT S3000E.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlGpuGetMaxClock(const MtmlGpu *gpu, unsigned int *clockMhz);

/*
 * Gets how busy one engine of the graphics core is, in percent. Linux only.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlGpuGetEngineUtilization(const MtmlGpu *gpu, MtmlGpuEngine engine, unsigned int *utilization);

/* ==== 10. Memory ==== */

/*
 * Gets the size of the memory in bytes.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetTotal(const MtmlMemory *mem, unsigned long long *total);

/*
 * Gets how much of the memory is in use, in bytes.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetUsed(const MtmlMemory *mem, unsigned long long *used);

/*
 * Gets how much of the host's memory the card uses, in bytes.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetUsedSystem(const MtmlMemory *mem, unsigned long long *used);

/*
 * Gets the utilization of the memory in percent.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetUtilization(const MtmlMemory *mem, unsigned int *utilization);

/*
 * Gets the clock of the memory in MHz.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetClock(const MtmlMemory *mem, unsigned int *clockMhz);

/*
 * Gets the highest clock of the memory in MHz. Not on an MTT S3000E.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetMaxClock(const MtmlMemory *mem, unsigned int *clockMhz);

/*
 * Gets the width of the memory bus in bits.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetBusWidth(const MtmlMemory *mem, unsigned int *busWidth);

/*
 * Gets the bandwidth of the memory in GB/s.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetBandwidth(const MtmlMemory *mem, unsigned int *bandwidth);

/*
 * Gets the data rate of the memory in Mbit/s per pin.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetSpeed(const MtmlMemory *mem, unsigned int *speed);

/*
 * Writes the maker of the memory. The length comes before the buffer here. See MTML_MEMORY_VENDOR_BUFFER_SIZE.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetVendor(const MtmlMemory *mem, unsigned int length, char *vendor);

/*
 * Gets the kind of memory. Take a number that MtmlMemoryType does not name as a kind that is not known.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetType(const MtmlMemory *mem, MtmlMemoryType *type);

/* ==== 11. Video unit ==== */

/* Session numbers run from 0 to the capacity of the encoder or the decoder, less one. */

/*
 * Gets how busy the video unit is, in percent, and over which sample window in microseconds. Not for virtual devices.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlVpuGetUtilization(const MtmlVpu *vpu, MtmlCodecUtil *utilization);

/*
 * Gets the clock of the video unit in MHz. Not for virtual devices.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlVpuGetClock(const MtmlVpu *vpu, unsigned int *clockMhz);

/*
 * Gets the highest clock of the video unit in MHz. Not for virtual devices, not on an MTT S3000E.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlVpuGetMaxClock(const MtmlVpu *vpu, unsigned int *clockMhz);

/*
 * Gets how many encoder and how many decoder sessions can run at once.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlVpuGetCodecCapacity(const MtmlVpu *vpu, unsigned int *encodeCapacity,
                                            unsigned int *decodeCapacity);

/*
 * Gets the state of each encoder session, with the session number as the index. An array shorter than the capacity
 * receives its first states; cells past the capacity become MTML_CODEC_SESSION_STATE_UNKNOWN; length 0 is
 * INSUFFICIENT_SIZE.
 * Errors: DRIVER_FAILURE, INSUFFICIENT_SIZE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlVpuGetEncoderSessionStates(const MtmlVpu *vpu, MtmlCodecSessionState *states,
                                                   unsigned int length);

/*
 * Gets one encoder session.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlVpuGetEncoderSessionMetrics(const MtmlVpu *vpu, unsigned int sessionId,
                                                    MtmlCodecSessionMetrics *metrics);

/*
 * Gets the state of each decoder session, with the session number as the index. An array shorter than the capacity
 * receives its first states; cells past the capacity become MTML_CODEC_SESSION_STATE_UNKNOWN; length 0 is
 * INSUFFICIENT_SIZE.
 * Errors: DRIVER_FAILURE, INSUFFICIENT_SIZE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlVpuGetDecoderSessionStates(const MtmlVpu *vpu, MtmlCodecSessionState *states,
                                                   unsigned int length);

/*
 * Gets one decoder session.
 * Errors: DRIVER_FAILURE, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlVpuGetDecoderSessionMetrics(const MtmlVpu *vpu, unsigned int sessionId,
                                                    MtmlCodecSessionMetrics *metrics);

/* ==== 12. Log ==== */

/* The configuration belongs to the process and needs no handle. */

/*
 * Sets where the library logs. A file that cannot be used is NOT_SUPPORTED.
 * Errors: NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlLogSetConfiguration(const MtmlLogConfiguration *configuration);

/* Gets where the library logs. */
MTML_API MtmlReturn mtmlLogGetConfiguration(MtmlLogConfiguration *configuration);

/* ==== 13. Errors ==== */

/* Returns a text for a return code, which the library owns. The only function that returns no MtmlReturn. */
MTML_API const char *mtmlErrorString(MtmlReturn result);

/* ==== 14. Multiple primary cores (MPC) ==== */

/*
 * MPC splits a card into instances, each a device of its own below the card's parent device. It is off after a boot or
 * a driver installation; switched on, it starts with one instance that owns the whole card. Profiles and configurations
 * are known while MPC is on.
 */

/*
 * Switches MPC on or off. All handles but the library's are stale afterwards: shut down and start again. Linux only,
 * from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceSetMpcMode(const MtmlDevice *device, MtmlMpcMode mode);

/* Gets whether MPC is on. From CHUNXIAO on. */
MTML_API MtmlReturn mtmlDeviceGetMpcMode(const MtmlDevice *device, MtmlMpcMode *currentMode);

/*
 * Counts the instance sizes that a parent device offers. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountSupportedMpcProfiles(const MtmlDevice *parentDevice, unsigned int *count);

/*
 * Gets the instance sizes that a parent device offers; count is the length of the array. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetSupportedMpcProfiles(const MtmlDevice *parentDevice, unsigned int count,
                                                      MtmlMpcProfile *info);

/*
 * Counts the ways to split a parent device. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountSupportedMpcConfigurations(const MtmlDevice *parentDevice, unsigned int *count);

/*
 * Gets the ways to split a parent device; count is the length of the array. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetSupportedMpcConfigurations(const MtmlDevice *parentDevice, unsigned int count,
                                                            MtmlMpcConfiguration *info);

/*
 * Gets the way in which a parent device is split. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetMpcConfiguration(const MtmlDevice *parentDevice, MtmlMpcConfiguration *config);

/*
 * Gets one of the ways to split this parent device by its name. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, NOT_FOUND.
 */
MTML_API MtmlReturn mtmlDeviceGetMpcConfigurationByName(const MtmlDevice *parentDevice, const char *configName,
                                                        MtmlMpcConfiguration *config);

/*
 * Splits a parent device in the way with this id. All handles but the library's are stale afterwards: shut down and
 * start again. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceSetMpcConfiguration(const MtmlDevice *parentDevice, unsigned int id);

/*
 * Counts the instances of one size below a parent device. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountMpcInstancesByProfileId(const MtmlDevice *parentDevice, unsigned int profileId,
                                                           unsigned int *count);

/*
 * Gets the instances of one size below a parent device; count is the length of the array. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetMpcInstancesByProfileId(const MtmlDevice *parentDevice, unsigned int profileId,
                                                         unsigned int count, MtmlDevice **mpcInstance);

/*
 * Counts the instances below a parent device. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountMpcInstances(const MtmlDevice *parentDevice, unsigned int *count);

/*
 * Gets the instances below a parent device; count is the length of the array. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetMpcInstances(const MtmlDevice *parentDevice, unsigned int count,
                                              MtmlDevice **mpcInstance);

/*
 * Gets an instance by its position below its parent. The address can later belong to another instance: ask again once
 * the instance or its parent was destroyed, reset or unbound. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetMpcInstanceByIndex(const MtmlDevice *parentDevice, unsigned int index,
                                                    MtmlDevice **mpcInstance);

/*
 * Gets the parent of an instance. A container that holds the instance alone may get UNKNOWN. Linux only, from CHUNXIAO
 * on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetMpcParentDevice(const MtmlDevice *mpcInstance, MtmlDevice **parentDevice);

/*
 * Gets the size of an instance; NOT_SUPPORTED for any other device. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetMpcProfileInfo(const MtmlDevice *mpcInstance, MtmlMpcProfile *profileInfo);

/*
 * Gets the position of an instance below its parent; NOT_SUPPORTED for any other device. Linux only, from CHUNXIAO on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetMpcInstanceIndex(const MtmlDevice *mpcInstance, unsigned int *index);

/* ==== 15. MtLink ==== */

/*
 * Gets version, bandwidth and number of the device's links. From QUYUAN on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetMtLinkSpec(const MtmlDevice *device, MtmlMtLinkSpec *spec);

/*
 * Gets the state of a link. A link that the device does not have is INVALID_ARGUMENT. From QUYUAN on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetMtLinkState(const MtmlDevice *device, unsigned int linkId, MtmlMtLinkState *state);

/*
 * Gets whether a link has a capability. From QUYUAN on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetMtLinkCapStatus(const MtmlDevice *device, unsigned int linkId,
                                                 MtmlMtLinkCap capability, MtmlMtLinkCapStatus *status);

/*
 * Gets the device at the other end of a link; NOT_FOUND when there is none, or none that is visible here. From QUYUAN
 * on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, NOT_FOUND.
 */
MTML_API MtmlReturn mtmlDeviceGetMtLinkRemoteDevice(const MtmlDevice *device, unsigned int linkId,
                                                    MtmlDevice **remoteDevice);

/*
 * Counts the shortest ways between two devices, and the devices on each, both ends included: 2 for neighbors. From
 * QUYUAN on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountMtLinkShortestPaths(const MtmlDevice *localDevice, const MtmlDevice *remoteDevice,
                                                       unsigned int *pathCount, unsigned int *pathLength);

/*
 * Gets the shortest ways between two devices as rows of a matrix with pathCount rows and pathLength columns. Each row
 * starts at the local and ends at the remote device. From QUYUAN on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetMtLinkShortestPaths(const MtmlDevice *localDevice, const MtmlDevice *remoteDevice,
                                                     unsigned int pathCount, unsigned int pathLength,
                                                     MtmlDevice **paths);

/*
 * Counts the direct links between two devices. From QUYUAN on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceCountMtLinkLayouts(const MtmlDevice *localDevice, const MtmlDevice *remoteDevice,
                                                 unsigned int *linkCount);

/*
 * Gets the numbers of the direct links between two devices at both ends; linkCount is the length of the array. From
 * QUYUAN on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, INSUFFICIENT_SIZE.
 */
MTML_API MtmlReturn mtmlDeviceGetMtLinkLayouts(const MtmlDevice *localDevice, const MtmlDevice *remoteDevice,
                                               unsigned int linkCount, MtmlMtLinkLayout *layouts);

/* ==== 16. Affinity, reset and ECC ==== */

/*
 * Affinity masks are arrays of unsigned long, lowest bit first: bit n of word w stands for number w * (bits of an
 * unsigned long) + n. The ECC functions other than the two of the mode need ECC to be on.
 */

/*
 * Gets the NUMA nodes near a device as a mask of nodeSetSize words, at least one. Where the scope does not fit, the
 * nearest ancestor that is not an I/O object answers. Linux only, from SUDI on.
 * Errors: NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetMemoryAffinityWithinNode(const MtmlDevice *device, unsigned int nodeSetSize,
                                                          unsigned long *nodeSet);

/*
 * Gets the CPUs near a device as a mask of cpuSetSize words, at least one. Linux only, from SUDI on.
 * Errors: NOT_SUPPORTED.
 */
MTML_API MtmlReturn mtmlDeviceGetCpuAffinityWithinNode(const MtmlDevice *device, unsigned int cpuSetSize,
                                                       unsigned long *cpuSet);

/*
 * Resets a device, which must be idle. Its handles are stale afterwards. Linux only.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlDeviceReset(const MtmlDevice *device);

/*
 * Sets the ECC mode that the next reboot puts into force. From PINGHU on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemorySetEccMode(const MtmlMemory *mem, MtmlEccMode mode);

/*
 * Gets the ECC mode in force and the one after the next reboot; both pointers are needed. From PINGHU on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetEccMode(const MtmlMemory *mem, MtmlEccMode *currentMode, MtmlEccMode *pendingMode);

/*
 * Counts the retired pages, by cause. From PINGHU on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetRetiredPagesCount(const MtmlMemory *mem, MtmlPageRetirementCount *count);

/*
 * Gets the pages retired for one cause, those that still wait for it included; count is the length of the array, and
 * INVALID_ARGUMENT if that is wrong. From PINGHU on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetRetiredPages(const MtmlMemory *mem, MtmlPageRetirementCause cause, unsigned int count,
                                              MtmlPageRetirement *pageRetirements);

/*
 * Gets whether a reboot is needed to retire pages that wait for it. From PINGHU on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetRetiredPagesPendingStatus(const MtmlMemory *mem,
                                                           MtmlRetiredPagesPendingState *isPending);

/*
 * Gets the number of memory errors of one kind, by one counter, at the locations in a mask. From PINGHU on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryGetEccErrorCounter(const MtmlMemory *mem, MtmlMemoryErrorType errorType,
                                                 MtmlEccCounterType counterType, MtmlMemoryLocation locationType,
                                                 unsigned long long *eccCounts);

/*
 * Sets all error counts of one counter to 0 at once. From PINGHU on.
 * Errors: DRIVER_FAILURE, NOT_SUPPORTED, DRIVER_TOO_OLD, DRIVER_TOO_NEW.
 */
MTML_API MtmlReturn mtmlMemoryClearEccErrorCounts(const MtmlMemory *mem, MtmlEccCounterType counterType);

/* BEGIN generated */
/* ==== 17. What versions after 2.2.0 add ==== */

/* Nothing is known of any. */

/* END generated */

#ifdef __cplusplus
}
#endif

#endif /* MTML_2_2_0_H */
