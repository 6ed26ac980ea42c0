/*
 * A libmtml.so.2 that asks NVML: what lets oracle.py compare the command with a genuine nvidia-smi on NVIDIA GPUs.
 *
 *     cc -std=c11 -Wall -Wextra -fPIC -shared -I. -o libmtml.so.2 tests/cli/nvml_mtml.c -ldl
 *
 * It only reads. Whatever it does not ask NVML for, and whatever the NVML at hand does not export, is not supported.
 * It also is the libmusa of that comparison: PYMTML_MUSA_LIBRARY may name the same file.
 */

#define _DEFAULT_SOURCE
#define MTML_NO_DEPRECATED
#include "mtml_2.2.0.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEVICES = 64 };
enum { FIELD_MEMORY_TEMPERATURE = 82, FIELD_NVLINK_SPEED_MBPS = 90, FIELD_NVLINK_COUNT = 91 };
enum { CLOCK_GRAPHICS = 0, CLOCK_MEMORY = 2, CLOCK_VIDEO = 3 };
enum { NVML_LOCATION_DEVICE_MEMORY = 2, REMOTE_SWITCH = 2, SCOPE_NODE = 0, SENSOR_GPU = 0 };

/* ---- NVML, as far as it is needed here ---- */

typedef void *Nvml;

struct nvml_memory {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct nvml_utilization {
    unsigned gpu, memory;
};

struct nvml_pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct nvml_field {
    unsigned id, scope;
    long long timestamp, latency;
    unsigned type, status;
    unsigned long long value;
};

#define NVML_FUNCTIONS(X)                                                                                              \
    X(nvmlInit_v2, (void))                                                                                             \
    X(nvmlShutdown, (void))                                                                                            \
    X(nvmlSystemGetDriverVersion, (char *, unsigned))                                                                  \
    X(nvmlSystemGetCudaDriverVersion_v2, (int *))                                                                      \
    X(nvmlDeviceGetCount_v2, (unsigned *))                                                                             \
    X(nvmlDeviceGetHandleByIndex_v2, (unsigned, Nvml *))                                                               \
    X(nvmlDeviceGetHandleByUUID, (const char *, Nvml *))                                                               \
    X(nvmlDeviceGetHandleByPciBusId_v2, (const char *, Nvml *))                                                        \
    X(nvmlDeviceGetName, (Nvml, char *, unsigned))                                                                     \
    X(nvmlDeviceGetUUID, (Nvml, char *, unsigned))                                                                     \
    X(nvmlDeviceGetSerial, (Nvml, char *, unsigned))                                                                   \
    X(nvmlDeviceGetVbiosVersion, (Nvml, char *, unsigned))                                                             \
    X(nvmlDeviceGetMinorNumber, (Nvml, unsigned *))                                                                    \
    X(nvmlDeviceGetNumGpuCores, (Nvml, unsigned *))                                                                    \
    X(nvmlDeviceGetPciInfo_v3, (Nvml, struct nvml_pci *))                                                              \
    X(nvmlDeviceGetCurrPcieLinkGeneration, (Nvml, unsigned *))                                                         \
    X(nvmlDeviceGetCurrPcieLinkWidth, (Nvml, unsigned *))                                                              \
    X(nvmlDeviceGetMaxPcieLinkGeneration, (Nvml, unsigned *))                                                          \
    X(nvmlDeviceGetMaxPcieLinkWidth, (Nvml, unsigned *))                                                               \
    X(nvmlDeviceGetPcieReplayCounter, (Nvml, unsigned *))                                                              \
    X(nvmlDeviceGetPowerUsage, (Nvml, unsigned *))                                                                     \
    X(nvmlDeviceGetEnforcedPowerLimit, (Nvml, unsigned *))                                                             \
    X(nvmlDeviceGetPowerManagementDefaultLimit, (Nvml, unsigned *))                                                    \
    X(nvmlDeviceGetPerformanceState, (Nvml, unsigned *))                                                               \
    X(nvmlDeviceGetNumFans, (Nvml, unsigned *))                                                                        \
    X(nvmlDeviceGetFanSpeed_v2, (Nvml, unsigned, unsigned *))                                                          \
    X(nvmlDeviceGetTemperature, (Nvml, unsigned, unsigned *))                                                          \
    X(nvmlDeviceGetTemperatureThreshold, (Nvml, unsigned, unsigned *))                                                 \
    X(nvmlDeviceGetUtilizationRates, (Nvml, struct nvml_utilization *))                                                \
    X(nvmlDeviceGetEncoderUtilization, (Nvml, unsigned *, unsigned *))                                                 \
    X(nvmlDeviceGetDecoderUtilization, (Nvml, unsigned *, unsigned *))                                                 \
    X(nvmlDeviceGetClockInfo, (Nvml, unsigned, unsigned *))                                                            \
    X(nvmlDeviceGetMaxClockInfo, (Nvml, unsigned, unsigned *))                                                         \
    X(nvmlDeviceGetMemoryInfo_v2, (Nvml, struct nvml_memory *))                                                        \
    X(nvmlDeviceGetMemoryBusWidth, (Nvml, unsigned *))                                                                 \
    X(nvmlDeviceGetEccMode, (Nvml, unsigned *, unsigned *))                                                            \
    X(nvmlDeviceGetMemoryErrorCounter, (Nvml, unsigned, unsigned, unsigned, unsigned long long *))                     \
    X(nvmlDeviceGetCudaComputeCapability, (Nvml, int *, int *))                                                        \
    X(nvmlDeviceGetTopologyCommonAncestor, (Nvml, Nvml, unsigned *))                                                   \
    X(nvmlDeviceGetP2PStatus, (Nvml, Nvml, unsigned, unsigned *))                                                      \
    X(nvmlDeviceGetMemoryAffinity, (Nvml, unsigned, unsigned long *, unsigned))                                        \
    X(nvmlDeviceGetCpuAffinityWithinScope, (Nvml, unsigned, unsigned long *, unsigned))                                \
    X(nvmlDeviceGetNvLinkState, (Nvml, unsigned, unsigned *))                                                          \
    X(nvmlDeviceGetNvLinkVersion, (Nvml, unsigned, unsigned *))                                                        \
    X(nvmlDeviceGetNvLinkRemoteDeviceType, (Nvml, unsigned, unsigned *))                                               \
    X(nvmlDeviceGetNvLinkRemotePciInfo_v2, (Nvml, unsigned, struct nvml_pci *))                                        \
    X(nvmlDeviceGetFieldValues, (Nvml, int, struct nvml_field *))

#define POINTER(name, parameters) int(*name) parameters;
static struct {
    NVML_FUNCTIONS(POINTER)
} nvml;

struct MtmlGpu { Nvml nvml; };
struct MtmlMemory { Nvml nvml; };
struct MtmlVpu { Nvml nvml; };
struct MtmlDevice {
    Nvml nvml;
    MtmlReturn status;
    MtmlGpu gpu;
    MtmlMemory memory;
    MtmlVpu vpu;
};
struct MtmlSystem { int unused; };
struct MtmlLibrary { int unused; };

static MtmlDevice devices[MAX_DEVICES];
static unsigned device_count;
static MtmlSystem system_handle;
static MtmlLibrary library_handle;

static MtmlReturn status_of(int nvml_status) {
    static const MtmlReturn statuses[] = {
        [0] = MTML_SUCCESS,
        [2] = MTML_ERROR_INVALID_ARGUMENT,
        [3] = MTML_ERROR_NOT_SUPPORTED,
        [4] = MTML_ERROR_NO_PERMISSION,
        [6] = MTML_ERROR_NOT_FOUND,
        [7] = MTML_ERROR_INSUFFICIENT_SIZE,
        [9] = MTML_ERROR_DRIVER_NOT_LOADED,
        [10] = MTML_ERROR_TIMEOUT,
        [13] = MTML_ERROR_NOT_SUPPORTED,
        [15] = MTML_ERROR_DRIVER_FAILURE,
        [19] = MTML_ERROR_RESOURCE_IS_BUSY,
        [20] = MTML_ERROR_INSUFFICIENT_MEMORY,
    };
    if (nvml_status < 0 || nvml_status >= (int)(sizeof statuses / sizeof *statuses))
        return MTML_ERROR_UNKNOWN;
    return nvml_status && !statuses[nvml_status] ? MTML_ERROR_UNKNOWN : statuses[nvml_status];
}

#define ASK(function, ...) (nvml.function ? status_of(nvml.function(__VA_ARGS__)) : MTML_ERROR_NOT_SUPPORTED)

static MtmlReturn ask_field(Nvml device, unsigned id, unsigned *out) {
    struct nvml_field field = {.id = id};
    MtmlReturn status = ASK(nvmlDeviceGetFieldValues, device, 1, &field);
    if (!status)
        status = status_of((int)field.status);
    if (!status)
        *out = (unsigned)field.value;
    return status;
}

/* NVML's int-sized answers are unsigned; MTML's undocumented functions and temperatures are signed. */
static MtmlReturn as_signed(MtmlReturn status, unsigned value, int *out) {
    if (!status)
        *out = (int)value;
    return status;
}

/* ---- library and system ---- */

MtmlReturn mtmlLibraryInit(MtmlLibrary **lib) {
    void *file = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!file)
        return MTML_ERROR_DRIVER_NOT_LOADED;
    void *symbol;
#define RESOLVE(name, parameters)                                                                                      \
    symbol = dlsym(file, #name);                                                                                       \
    memcpy(&nvml.name, &symbol, sizeof symbol);
    NVML_FUNCTIONS(RESOLVE)
    MtmlReturn status = ASK(nvmlInit_v2);
    if (status)
        return status;
    status = ASK(nvmlDeviceGetCount_v2, &device_count);
    if (status) {
        nvml.nvmlShutdown();
        return status;
    }
    if (device_count > MAX_DEVICES)
        device_count = MAX_DEVICES;
    for (unsigned i = 0; i < device_count; i++) {
        MtmlDevice *dev = &devices[i];
        dev->status = ASK(nvmlDeviceGetHandleByIndex_v2, i, &dev->nvml);
        dev->gpu.nvml = dev->memory.nvml = dev->vpu.nvml = dev->nvml;
    }
    *lib = &library_handle;
    return MTML_SUCCESS;
}

MtmlReturn mtmlLibraryShutDown(MtmlLibrary *lib) {
    (void)lib;
    return ASK(nvmlShutdown);
}

static MtmlReturn text(const char *value, char *out, unsigned length) {
    int written = snprintf(out, length, "%s", value);
    return written < (int)length ? MTML_SUCCESS : MTML_ERROR_INSUFFICIENT_SIZE;
}

MtmlReturn mtmlLibraryGetVersion(const MtmlLibrary *lib, char *version, unsigned length) {
    (void)lib;
    return text("2.2.0", version, length);
}

MtmlReturn mtmlLibraryInitSystem(const MtmlLibrary *lib, MtmlSystem **sys) {
    (void)lib;
    *sys = &system_handle;
    return MTML_SUCCESS;
}

MtmlReturn mtmlSystemGetDriverVersion(const MtmlSystem *sys, char *version, unsigned length) {
    (void)sys;
    return ASK(nvmlSystemGetDriverVersion, version, length);
}

/* MUSA's errors are other numbers, but any that is not 0 means that there is no version. */
int muDriverGetVersion(int *version) { return ASK(nvmlSystemGetCudaDriverVersion_v2, version); }

MtmlReturn mtmlLibraryCountDevice(const MtmlLibrary *lib, unsigned *count) {
    (void)lib;
    *count = device_count;
    return MTML_SUCCESS;
}

MtmlReturn mtmlLibraryInitDeviceByIndex(const MtmlLibrary *lib, unsigned index, MtmlDevice **dev) {
    (void)lib;
    if (index >= device_count)
        return MTML_ERROR_NOT_FOUND;
    if (!devices[index].status)
        *dev = &devices[index];
    return devices[index].status;
}

static MtmlReturn find(MtmlReturn status, Nvml handle, MtmlDevice **dev) {
    for (unsigned i = 0; !status && i < device_count; i++)
        if (!devices[i].status && devices[i].nvml == handle) {
            *dev = &devices[i];
            return MTML_SUCCESS;
        }
    return status ? status : MTML_ERROR_NOT_FOUND;
}

MtmlReturn mtmlLibraryInitDeviceByUuid(const MtmlLibrary *lib, const char *uuid, MtmlDevice **dev) {
    Nvml handle = NULL;
    (void)lib;
    MtmlReturn status = ASK(nvmlDeviceGetHandleByUUID, uuid, &handle);
    return find(status, handle, dev);
}

MtmlReturn mtmlLibraryInitDeviceByPciSbdf(const MtmlLibrary *lib, const char *sbdf, MtmlDevice **dev) {
    Nvml handle = NULL;
    (void)lib;
    MtmlReturn status = ASK(nvmlDeviceGetHandleByPciBusId_v2, sbdf, &handle);
    return find(status, handle, dev);
}

const char *mtmlErrorString(MtmlReturn result) {
    static const char *const texts[] = {
        "Success",           "Driver not loaded", "Driver failure",      "Invalid argument", "Not supported",
        "No permission",     "Insufficient size", "Not found",           "Out of memory",    "Driver too old",
        "Driver too new",    "Timeout",           "Resource is busy",
    };
    return result < sizeof texts / sizeof *texts ? texts[result] : "Unknown error";
}

/* ---- one value of one device ---- */

#define PART(function, Handle, member)                                                                                 \
    MtmlReturn function(const MtmlDevice *dev, Handle **out) {                                                         \
        *out = &devices[dev - devices].member;                                                                         \
        return MTML_SUCCESS;                                                                                           \
    }
PART(mtmlDeviceInitGpu, MtmlGpu, gpu)
PART(mtmlDeviceInitMemory, MtmlMemory, memory)
PART(mtmlDeviceInitVpu, MtmlVpu, vpu)

#define TEXT(function, query)                                                                                          \
    MtmlReturn function(const MtmlDevice *dev, char *out, unsigned length) {                                           \
        return ASK(query, dev->nvml, out, length);                                                                     \
    }
TEXT(mtmlDeviceGetName, nvmlDeviceGetName)
TEXT(mtmlDeviceGetUUID, nvmlDeviceGetUUID)
TEXT(mtmlDeviceGetVbiosVersion, nvmlDeviceGetVbiosVersion)
TEXT(mtmlDeviceGetMtBiosVersion, nvmlDeviceGetVbiosVersion)

#define NUMBER(function, Handle, ...)                                                                                  \
    MtmlReturn function(const Handle *handle, unsigned *out) { return ASK(__VA_ARGS__, out); }
NUMBER(mtmlDeviceGetPowerUsage, MtmlDevice, nvmlDeviceGetPowerUsage, handle->nvml)
NUMBER(mtmlDeviceCountFan, MtmlDevice, nvmlDeviceGetNumFans, handle->nvml)
NUMBER(mtmlDeviceCountGpuCores, MtmlDevice, nvmlDeviceGetNumGpuCores, handle->nvml)
NUMBER(mtmlDeviceGetPcieReplayCounter, MtmlDevice, nvmlDeviceGetPcieReplayCounter, handle->nvml)
NUMBER(mtmlGpuGetClock, MtmlGpu, nvmlDeviceGetClockInfo, handle->nvml, CLOCK_GRAPHICS)
NUMBER(mtmlGpuGetMaxClock, MtmlGpu, nvmlDeviceGetMaxClockInfo, handle->nvml, CLOCK_GRAPHICS)
NUMBER(mtmlMemoryGetClock, MtmlMemory, nvmlDeviceGetClockInfo, handle->nvml, CLOCK_MEMORY)
NUMBER(mtmlMemoryGetMaxClock, MtmlMemory, nvmlDeviceGetMaxClockInfo, handle->nvml, CLOCK_MEMORY)
NUMBER(mtmlMemoryGetBusWidth, MtmlMemory, nvmlDeviceGetMemoryBusWidth, handle->nvml)
NUMBER(mtmlVpuGetClock, MtmlVpu, nvmlDeviceGetClockInfo, handle->nvml, CLOCK_VIDEO)
NUMBER(mtmlVpuGetMaxClock, MtmlVpu, nvmlDeviceGetMaxClockInfo, handle->nvml, CLOCK_VIDEO)

#define SIGNED(function, Handle, ...)                                                                                  \
    MtmlReturn function(const Handle *handle, int *out) {                                                              \
        unsigned value = 0;                                                                                            \
        MtmlReturn status = ASK(__VA_ARGS__, &value);                                                                  \
        return as_signed(status, value, out);                                                                          \
    }
SIGNED(mtmlGpuGetTemperature, MtmlGpu, nvmlDeviceGetTemperature, handle->nvml, SENSOR_GPU)
SIGNED(mtmlGpuGetEnforcedPowerLimit, MtmlGpu, nvmlDeviceGetEnforcedPowerLimit, handle->nvml)
SIGNED(mtmlGpuGetPowerManagementDefaultLimit, MtmlGpu, nvmlDeviceGetPowerManagementDefaultLimit, handle->nvml)
SIGNED(mtmlDeviceGetPerformanceState, MtmlDevice, nvmlDeviceGetPerformanceState, handle->nvml)

/* Kinds are numbered as NVML's: 0 shutdown, 1 slowdown. */
MtmlReturn mtmlGpuGetTemperatureThreshold(const MtmlGpu *gpu, int kind, int *temp) {
    unsigned value = 0;
    MtmlReturn status = ASK(nvmlDeviceGetTemperatureThreshold, gpu->nvml, (unsigned)kind, &value);
    return as_signed(status, value, temp);
}

MtmlReturn mtmlMemoryGetTemperature(const MtmlMemory *mem, int *temp) {
    unsigned value = 0;
    MtmlReturn status = ask_field(mem->nvml, FIELD_MEMORY_TEMPERATURE, &value);
    return as_signed(status, value, temp);
}

MtmlReturn mtmlDeviceGetMusaComputeCapability(const MtmlDevice *dev, int *major, int *minor) {
    return ASK(nvmlDeviceGetCudaComputeCapability, dev->nvml, major, minor);
}

MtmlReturn mtmlDeviceGetSerialNumber(const MtmlDevice *dev, unsigned length, char *serial) {
    return ASK(nvmlDeviceGetSerial, dev->nvml, serial, length);
}

MtmlReturn mtmlDeviceGetIndex(const MtmlDevice *dev, unsigned *index) {
    *index = (unsigned)(dev - devices);
    return MTML_SUCCESS;
}

MtmlReturn mtmlDeviceGetBrand(const MtmlDevice *dev, MtmlBrandType *type) {
    (void)dev;
    *type = MTML_BRAND_UNKNOWN;
    return MTML_SUCCESS;
}

MtmlReturn mtmlDeviceGetGpuPath(const MtmlDevice *dev, char *path, unsigned length) {
    unsigned minor = 0;
    char value[MTML_DEVICE_PATH_BUFFER_SIZE];
    MtmlReturn status = ASK(nvmlDeviceGetMinorNumber, dev->nvml, &minor);
    snprintf(value, sizeof value, "/dev/nvidia%u", minor);
    return status ? status : text(value, path, length);
}

MtmlReturn mtmlDeviceGetFanSpeed(const MtmlDevice *dev, unsigned index, unsigned *speed) {
    return ASK(nvmlDeviceGetFanSpeed_v2, dev->nvml, index, speed);
}

MtmlReturn mtmlDeviceGetPciInfo(const MtmlDevice *dev, MtmlPciInfo *pci) {
    static const float speeds[] = {0, 2.5f, 5, 8, 16, 32, 64};
    struct nvml_pci from = {.domain = 0};
    MtmlPciInfo info = {.rsvd = {0}};
    MtmlReturn status = ASK(nvmlDeviceGetPciInfo_v3, dev->nvml, &from);
    if (status)
        return status;
    memcpy(info.sbdf, from.bus_id, sizeof info.sbdf);
    info.segment = from.domain, info.bus = from.bus, info.device = from.device;
    info.pciDeviceId = from.pci_device_id, info.pciSubsystemId = from.pci_subsystem_id;
    struct {
        MtmlReturn status;
        unsigned *value;
    } links[] = {
        {ASK(nvmlDeviceGetCurrPcieLinkGeneration, dev->nvml, &info.pciCurGen), &info.pciCurGen},
        {ASK(nvmlDeviceGetCurrPcieLinkWidth, dev->nvml, &info.pciCurWidth), &info.pciCurWidth},
        {ASK(nvmlDeviceGetMaxPcieLinkGeneration, dev->nvml, &info.pciMaxGen), &info.pciMaxGen},
        {ASK(nvmlDeviceGetMaxPcieLinkWidth, dev->nvml, &info.pciMaxWidth), &info.pciMaxWidth},
    };
    for (unsigned i = 0; i < 4; i++)
        if (links[i].status)
            *links[i].value = 0;
    info.pciCurSpeed = info.pciCurGen < 7 ? speeds[info.pciCurGen] : 0;
    info.pciMaxSpeed = info.pciMaxGen < 7 ? speeds[info.pciMaxGen] : 0;
    *pci = info;
    return MTML_SUCCESS;
}

MtmlReturn mtmlGpuGetUtilization(const MtmlGpu *gpu, unsigned *utilization) {
    struct nvml_utilization rates = {0, 0};
    MtmlReturn status = ASK(nvmlDeviceGetUtilizationRates, gpu->nvml, &rates);
    if (!status)
        *utilization = rates.gpu;
    return status;
}

MtmlReturn mtmlMemoryGetUtilization(const MtmlMemory *mem, unsigned *utilization) {
    struct nvml_utilization rates = {0, 0};
    MtmlReturn status = ASK(nvmlDeviceGetUtilizationRates, mem->nvml, &rates);
    if (!status)
        *utilization = rates.memory;
    return status;
}

#define MEMORY(function, member)                                                                                       \
    MtmlReturn function(const MtmlMemory *mem, unsigned long long *out) {                                              \
        struct nvml_memory memory = {.version = sizeof memory | 2u << 24};                                             \
        MtmlReturn status = ASK(nvmlDeviceGetMemoryInfo_v2, mem->nvml, &memory);                                       \
        if (!status)                                                                                                   \
            *out = memory.member;                                                                                      \
        return status;                                                                                                 \
    }
MEMORY(mtmlMemoryGetTotal, total)
MEMORY(mtmlMemoryGetUsed, used)

MtmlReturn mtmlVpuGetUtilization(const MtmlVpu *vpu, MtmlCodecUtil *out) {
    MtmlCodecUtil util = {.util = 0};
    MtmlReturn status = ASK(nvmlDeviceGetEncoderUtilization, vpu->nvml, &util.encUtil, &util.period);
    if (!status)
        status = ASK(nvmlDeviceGetDecoderUtilization, vpu->nvml, &util.decUtil, &util.period);
    util.util = util.encUtil > util.decUtil ? util.encUtil : util.decUtil;
    if (!status)
        *out = util;
    return status;
}

MtmlReturn mtmlMemoryGetEccMode(const MtmlMemory *mem, MtmlEccMode *current, MtmlEccMode *pending) {
    unsigned modes[2] = {0, 0};
    MtmlReturn status = ASK(nvmlDeviceGetEccMode, mem->nvml, &modes[0], &modes[1]);
    if (!status)
        *current = (MtmlEccMode)modes[0], *pending = (MtmlEccMode)modes[1];
    return status;
}

MtmlReturn mtmlMemoryGetEccErrorCounter(const MtmlMemory *mem, MtmlMemoryErrorType type, MtmlEccCounterType counter,
                                        MtmlMemoryLocation location, unsigned long long *count) {
    if (location != MTML_MEMORY_LOCATION_DRAM)
        return MTML_ERROR_INVALID_ARGUMENT;
    return ASK(nvmlDeviceGetMemoryErrorCounter, mem->nvml, type, counter, NVML_LOCATION_DEVICE_MEMORY, count);
}

/* ---- topology, affinity and links ---- */

MtmlReturn mtmlDeviceGetTopologyLevel(const MtmlDevice *dev1, const MtmlDevice *dev2, MtmlDeviceTopologyLevel *level) {
    unsigned nvml_level = 0;
    MtmlReturn status = ASK(nvmlDeviceGetTopologyCommonAncestor, dev1->nvml, dev2->nvml, &nvml_level);
    if (!status)
        *level = (MtmlDeviceTopologyLevel)(nvml_level / 10);
    return status;
}

MtmlReturn mtmlDeviceGetP2PStatus(const MtmlDevice *dev1, const MtmlDevice *dev2, MtmlDeviceP2PCaps caps,
                                  MtmlDeviceP2PStatus *p2p) {
    unsigned value = 0;
    MtmlReturn status = ASK(nvmlDeviceGetP2PStatus, dev1->nvml, dev2->nvml, caps, &value);
    if (!status)
        *p2p = value < MTML_P2P_STATUS_UNKNOWN ? (MtmlDeviceP2PStatus)value : MTML_P2P_STATUS_UNKNOWN;
    return status;
}

MtmlReturn mtmlDeviceGetMemoryAffinityWithinNode(const MtmlDevice *dev, unsigned size, unsigned long *set) {
    return ASK(nvmlDeviceGetMemoryAffinity, dev->nvml, size, set, SCOPE_NODE);
}

MtmlReturn mtmlDeviceGetCpuAffinityWithinNode(const MtmlDevice *dev, unsigned size, unsigned long *set) {
    return ASK(nvmlDeviceGetCpuAffinityWithinScope, dev->nvml, size, set, SCOPE_NODE);
}

static unsigned link_count(const MtmlDevice *dev) {
    unsigned count = 0;
    return ask_field(dev->nvml, FIELD_NVLINK_COUNT, &count) ? 0 : count;
}

MtmlReturn mtmlDeviceGetProperty(const MtmlDevice *dev, MtmlDeviceProperty *property) {
    *property = (MtmlDeviceProperty){.mtLinkCap = link_count(dev) > 0};
    return MTML_SUCCESS;
}

MtmlReturn mtmlDeviceGetMtLinkSpec(const MtmlDevice *dev, MtmlMtLinkSpec *spec) {
    static const unsigned versions[] = {0, 10000, 20000, 20200, 30000, 30100, 40000, 50000};
    unsigned links = link_count(dev), megabytes = 0, version = 0;
    if (!links)
        return MTML_ERROR_NOT_SUPPORTED;
    MtmlReturn status = ask_field(dev->nvml, FIELD_NVLINK_SPEED_MBPS, &megabytes);
    if (!status)
        status = ASK(nvmlDeviceGetNvLinkVersion, dev->nvml, 0, &version);
    if (!status)
        *spec = (MtmlMtLinkSpec){version < 8 ? versions[version] : 0, megabytes / 1000, links, {0}};
    return status;
}

MtmlReturn mtmlDeviceGetMtLinkState(const MtmlDevice *dev, unsigned link, MtmlMtLinkState *state) {
    unsigned active = 0;
    MtmlReturn status = ASK(nvmlDeviceGetNvLinkState, dev->nvml, link, &active);
    if (!status)
        *state = active ? MTML_MTLINK_STATE_UP : MTML_MTLINK_STATE_DOWN;
    return status;
}

MtmlReturn mtmlDeviceGetMtLinkRemoteDevice(const MtmlDevice *dev, unsigned link, MtmlDevice **remote) {
    struct nvml_pci pci = {.domain = 0};
    MtmlReturn status = ASK(nvmlDeviceGetNvLinkRemotePciInfo_v2, dev->nvml, link, &pci);
    return status ? status : mtmlLibraryInitDeviceByPciSbdf(&library_handle, pci.bus_id, remote);
}

static int reaches(const MtmlDevice *dev, unsigned link, const MtmlDevice *remote) {
    MtmlDevice *other = NULL;
    unsigned type = 0, active = 0;
    if (ASK(nvmlDeviceGetNvLinkState, dev->nvml, link, &active) || !active)
        return 0;
    /* A switch joins all GPUs behind it: nvidia-smi counts such links as links between each two of them. */
    if (!ASK(nvmlDeviceGetNvLinkRemoteDeviceType, dev->nvml, link, &type) && type == REMOTE_SWITCH)
        return 1;
    return !mtmlDeviceGetMtLinkRemoteDevice(dev, link, &other) && other == remote;
}

/* The layouts between two devices, filled in as far as there is room; which link is at the other end is not known. */
static unsigned layouts(const MtmlDevice *local, const MtmlDevice *remote, unsigned room, MtmlMtLinkLayout *out) {
    unsigned count = 0, links = local == remote ? 0 : link_count(local);
    for (unsigned link = 0; link < links; link++)
        if (reaches(local, link, remote)) {
            if (count < room)
                out[count] = (MtmlMtLinkLayout){link, link, {0}};
            count++;
        }
    return count;
}

MtmlReturn mtmlDeviceCountMtLinkLayouts(const MtmlDevice *local, const MtmlDevice *remote, unsigned *count) {
    *count = layouts(local, remote, 0, NULL);
    return MTML_SUCCESS;
}

MtmlReturn mtmlDeviceGetMtLinkLayouts(const MtmlDevice *local, const MtmlDevice *remote, unsigned count,
                                      MtmlMtLinkLayout *out) {
    return layouts(local, remote, count, out) > count ? MTML_ERROR_INSUFFICIENT_SIZE : MTML_SUCCESS;
}

/* ---- what is left of the interface ---- */

/* Functions of all shapes share two bodies, which look at no argument. */
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif
static MtmlReturn refused(void) { return MTML_ERROR_NOT_SUPPORTED; }
static MtmlReturn nothing_to_free(void) { return MTML_SUCCESS; }

#define FREE(name) __typeof__(name) name __attribute__((alias("nothing_to_free")));
FREE(mtmlLibraryFreeSystem) FREE(mtmlLibraryFreeDevice) FREE(mtmlDeviceFreeGpu) FREE(mtmlDeviceFreeMemory)
FREE(mtmlDeviceFreeVpu) FREE(mtmlDeviceFreeVirtDevice)

#define REFUSE(name) __typeof__(name) name __attribute__((alias("refused")));
REFUSE(mtmlLibrarySetMpcConfigurationInBatch) REFUSE(mtmlDeviceGetPrimaryPath) REFUSE(mtmlDeviceGetRenderPath)
REFUSE(mtmlDeviceGetFanRpm) REFUSE(mtmlDeviceGetPcieSlotInfo) REFUSE(mtmlDeviceCountDisplayInterface)
REFUSE(mtmlDeviceGetDisplayInterfaceSpec) REFUSE(mtmlDeviceCountSupportedVirtTypes)
REFUSE(mtmlDeviceGetSupportedVirtTypes) REFUSE(mtmlDeviceCountAvailVirtTypes) REFUSE(mtmlDeviceGetAvailVirtTypes)
REFUSE(mtmlDeviceCountAvailVirtDevices) REFUSE(mtmlDeviceCountActiveVirtDevices)
REFUSE(mtmlDeviceGetActiveVirtDeviceUuids) REFUSE(mtmlDeviceCountMaxVirtDevices) REFUSE(mtmlDeviceInitVirtDevice)
REFUSE(mtmlDeviceGetVirtType) REFUSE(mtmlDeviceGetPhyDeviceUuid) REFUSE(mtmlDeviceCountDeviceByTopologyLevel)
REFUSE(mtmlDeviceGetDeviceByTopologyLevel) REFUSE(mtmlGpuGetEngineUtilization) REFUSE(mtmlMemoryGetUsedSystem)
REFUSE(mtmlMemoryGetBandwidth) REFUSE(mtmlMemoryGetSpeed) REFUSE(mtmlMemoryGetVendor) REFUSE(mtmlMemoryGetType)
REFUSE(mtmlVpuGetCodecCapacity) REFUSE(mtmlVpuGetEncoderSessionStates) REFUSE(mtmlVpuGetEncoderSessionMetrics)
REFUSE(mtmlVpuGetDecoderSessionStates) REFUSE(mtmlVpuGetDecoderSessionMetrics) REFUSE(mtmlLogSetConfiguration)
REFUSE(mtmlLogGetConfiguration) REFUSE(mtmlDeviceSetMpcMode) REFUSE(mtmlDeviceGetMpcMode)
REFUSE(mtmlDeviceCountSupportedMpcProfiles) REFUSE(mtmlDeviceGetSupportedMpcProfiles)
REFUSE(mtmlDeviceCountSupportedMpcConfigurations) REFUSE(mtmlDeviceGetSupportedMpcConfigurations)
REFUSE(mtmlDeviceGetMpcConfiguration) REFUSE(mtmlDeviceGetMpcConfigurationByName) REFUSE(mtmlDeviceSetMpcConfiguration)
REFUSE(mtmlDeviceCountMpcInstancesByProfileId) REFUSE(mtmlDeviceGetMpcInstancesByProfileId)
REFUSE(mtmlDeviceCountMpcInstances) REFUSE(mtmlDeviceGetMpcInstances) REFUSE(mtmlDeviceGetMpcInstanceByIndex)
REFUSE(mtmlDeviceGetMpcParentDevice) REFUSE(mtmlDeviceGetMpcProfileInfo) REFUSE(mtmlDeviceGetMpcInstanceIndex)
REFUSE(mtmlDeviceGetMtLinkCapStatus) REFUSE(mtmlDeviceCountMtLinkShortestPaths) REFUSE(mtmlDeviceGetMtLinkShortestPaths)
REFUSE(mtmlDeviceReset) REFUSE(mtmlMemorySetEccMode) REFUSE(mtmlMemoryGetRetiredPagesCount)
REFUSE(mtmlMemoryGetRetiredPages) REFUSE(mtmlMemoryGetRetiredPagesPendingStatus) REFUSE(mtmlMemoryClearEccErrorCounts)
