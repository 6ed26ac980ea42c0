/*
 * A libnvidia-ml.so.1 that answers at once: the C functions that nvidia-ml-py calls for the benchmarked queries, with
 * NVML's public signatures, and the same values as the other stub.
 */

#define STUB_TOO_SMALL NVML_ERROR_INSUFFICIENT_SIZE
#include "stub.h"

enum { NVML_SUCCESS = 0, NVML_ERROR_INVALID_ARGUMENT = 2, NVML_ERROR_INSUFFICIENT_SIZE = 7 };
enum { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_CLOCK_VIDEO = 3 };

typedef struct {
    unsigned int index;
} NvmlDevice;

typedef struct {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
} NvmlMemory;

typedef struct {
    unsigned int gpu;
    unsigned int memory;
} NvmlUtilization;

typedef struct {
    char busIdLegacy[16];
    unsigned int domain;
    unsigned int bus;
    unsigned int device;
    unsigned int pciDeviceId;
    unsigned int pciSubSystemId;
    char busId[32];
} NvmlPciInfo;

static NvmlDevice devices[STUB_DEVICES];

__attribute__((constructor)) static void number_devices(void) {
    for (unsigned int i = 0; i < STUB_DEVICES; i++) {
        devices[i].index = i;
    }
}

STUB_API int nvmlInitWithFlags(unsigned int flags);
STUB_API int nvmlShutdown(void);
STUB_API const char *nvmlErrorString(int result);
STUB_API int nvmlDeviceGetCount_v2(unsigned int *count);
STUB_API int nvmlDeviceGetHandleByIndex_v2(unsigned int index, NvmlDevice **device);
STUB_API int nvmlDeviceGetName(const NvmlDevice *device, char *name, unsigned int length);
STUB_API int nvmlDeviceGetUUID(const NvmlDevice *device, char *uuid, unsigned int length);
STUB_API int nvmlDeviceGetSerial(const NvmlDevice *device, char *serial, unsigned int length);
STUB_API int nvmlDeviceGetIndex(const NvmlDevice *device, unsigned int *index);
STUB_API int nvmlDeviceGetMinorNumber(const NvmlDevice *device, unsigned int *minor);
STUB_API int nvmlDeviceGetMemoryInfo(const NvmlDevice *device, NvmlMemory *memory);
STUB_API int nvmlDeviceGetUtilizationRates(const NvmlDevice *device, NvmlUtilization *utilization);
STUB_API int nvmlDeviceGetTemperature(const NvmlDevice *device, unsigned int sensor, unsigned int *temperature);
STUB_API int nvmlDeviceGetPowerUsage(const NvmlDevice *device, unsigned int *power);
STUB_API int nvmlDeviceGetClockInfo(const NvmlDevice *device, unsigned int type, unsigned int *clock);
STUB_API int nvmlDeviceGetMaxClockInfo(const NvmlDevice *device, unsigned int type, unsigned int *clock);
STUB_API int nvmlDeviceGetFanSpeed(const NvmlDevice *device, unsigned int *speed);
STUB_API int nvmlDeviceGetPciInfo_v3(const NvmlDevice *device, NvmlPciInfo *pci);
STUB_API int nvmlDeviceGetEncoderUtilization(const NvmlDevice *device, unsigned int *utilization, unsigned int *period);
STUB_API int nvmlDeviceGetDecoderUtilization(const NvmlDevice *device, unsigned int *utilization, unsigned int *period);
STUB_API int nvmlDeviceGetCurrPcieLinkWidth(const NvmlDevice *device, unsigned int *width);
STUB_API int nvmlDeviceGetCurrPcieLinkGeneration(const NvmlDevice *device, unsigned int *generation);

STUB_API int nvmlDeviceGetTopologyCommonAncestor(const NvmlDevice *first, const NvmlDevice *second, unsigned *level);
STUB_API int nvmlDeviceGetP2PStatus(const NvmlDevice *first, const NvmlDevice *second, int index, int *status);
STUB_API int nvmlDeviceGetNvLinkState(const NvmlDevice *device, unsigned int link, unsigned int *active);
STUB_API int nvmlDeviceGetNvLinkRemotePciInfo_v2(const NvmlDevice *device, unsigned int link, NvmlPciInfo *pci);

int nvmlInitWithFlags(unsigned int flags) {
    (void)flags;
    stub_initialize();
    stub_enter();
    return NVML_SUCCESS;
}

int nvmlShutdown(void) {
    stub_enter();
    return NVML_SUCCESS;
}

const char *nvmlErrorString(int result) {
    stub_enter();
    return result == NVML_SUCCESS ? "success" : "error";
}

int nvmlDeviceGetCount_v2(unsigned int *count) { ANSWER(count, STUB_DEVICES); }

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, NvmlDevice **device) {
    stub_enter();
    if (index >= STUB_DEVICES) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    *device = &devices[index];
    return NVML_SUCCESS;
}

int nvmlDeviceGetName(const NvmlDevice *device, char *name, unsigned int length) {
    ANSWER_TEXT(name, length, stub_texts[device->index].name);
}

int nvmlDeviceGetUUID(const NvmlDevice *device, char *uuid, unsigned int length) {
    ANSWER_TEXT(uuid, length, stub_texts[device->index].uuid);
}

int nvmlDeviceGetSerial(const NvmlDevice *device, char *serial, unsigned int length) {
    ANSWER_TEXT(serial, length, stub_texts[device->index].serial);
}

int nvmlDeviceGetIndex(const NvmlDevice *device, unsigned int *index) { ANSWER(index, device->index); }

int nvmlDeviceGetMinorNumber(const NvmlDevice *device, unsigned int *minor) { ANSWER(minor, device->index); }

int nvmlDeviceGetMemoryInfo(const NvmlDevice *device, NvmlMemory *memory) {
    stub_enter();
    memory->total = STUB_MEMORY_TOTAL;
    memory->used = STUB_MEMORY_USED + device->index;
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

int nvmlDeviceGetUtilizationRates(const NvmlDevice *device, NvmlUtilization *utilization) {
    stub_enter();
    utilization->gpu = STUB_UTILIZATION + device->index;
    utilization->memory = STUB_MEMORY_UTILIZATION + device->index;
    return NVML_SUCCESS;
}

int nvmlDeviceGetTemperature(const NvmlDevice *device, unsigned int sensor, unsigned int *temperature) {
    (void)sensor;
    ANSWER(temperature, STUB_TEMPERATURE + device->index);
}

int nvmlDeviceGetPowerUsage(const NvmlDevice *device, unsigned int *power) {
    ANSWER(power, STUB_POWER + device->index);
}

int nvmlDeviceGetClockInfo(const NvmlDevice *device, unsigned int type, unsigned int *clock) {
    stub_enter();
    switch (type) {
    case NVML_CLOCK_GRAPHICS:
    case NVML_CLOCK_SM:
        *clock = STUB_GRAPHICS_CLOCK + device->index;
        return NVML_SUCCESS;
    case NVML_CLOCK_MEM:
        *clock = STUB_MEMORY_CLOCK + device->index;
        return NVML_SUCCESS;
    case NVML_CLOCK_VIDEO:
        *clock = STUB_VIDEO_CLOCK + device->index;
        return NVML_SUCCESS;
    default:
        return NVML_ERROR_INVALID_ARGUMENT;
    }
}

int nvmlDeviceGetMaxClockInfo(const NvmlDevice *device, unsigned int type, unsigned int *clock) {
    stub_enter();
    if (type > NVML_CLOCK_VIDEO) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    *clock = STUB_MAX_CLOCK + device->index;
    return NVML_SUCCESS;
}

int nvmlDeviceGetFanSpeed(const NvmlDevice *device, unsigned int *speed) { ANSWER(speed, STUB_FAN + device->index); }

int nvmlDeviceGetPciInfo_v3(const NvmlDevice *device, NvmlPciInfo *pci) {
    const StubTexts *texts = &stub_texts[device->index];
    stub_enter();
    memset(pci, 0, sizeof *pci);
    memcpy(pci->busIdLegacy, texts->bus_id_legacy, sizeof pci->busIdLegacy);
    memcpy(pci->busId, texts->bus_id, sizeof pci->busId);
    pci->bus = STUB_BUS + device->index;
    pci->pciDeviceId = STUB_PCI_ID;
    pci->pciSubSystemId = STUB_PCI_ID;
    return NVML_SUCCESS;
}

int nvmlDeviceGetEncoderUtilization(const NvmlDevice *device, unsigned int *utilization, unsigned int *period) {
    stub_enter();
    *utilization = STUB_ENCODER + device->index;
    *period = STUB_PERIOD;
    return NVML_SUCCESS;
}

int nvmlDeviceGetDecoderUtilization(const NvmlDevice *device, unsigned int *utilization, unsigned int *period) {
    stub_enter();
    *utilization = STUB_DECODER + device->index;
    *period = STUB_PERIOD;
    return NVML_SUCCESS;
}

int nvmlDeviceGetCurrPcieLinkWidth(const NvmlDevice *device, unsigned int *width) {
    ANSWER(width, STUB_LINK_WIDTH + device->index);
}

int nvmlDeviceGetCurrPcieLinkGeneration(const NvmlDevice *device, unsigned int *generation) {
    ANSWER(generation, STUB_LINK_GENERATION + device->index);
}

int nvmlDeviceGetTopologyCommonAncestor(const NvmlDevice *first, const NvmlDevice *second, unsigned *level) {
    (void)first;
    (void)second;
    ANSWER(level, 50);
}

int nvmlDeviceGetP2PStatus(const NvmlDevice *first, const NvmlDevice *second, int index, int *status) {
    (void)first;
    (void)second;
    (void)index;
    ANSWER(status, 0);
}

int nvmlDeviceGetNvLinkState(const NvmlDevice *device, unsigned int link, unsigned int *active) {
    (void)device;
    (void)link;
    ANSWER(active, 1);
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(const NvmlDevice *device, unsigned int link, NvmlPciInfo *pci) {
    (void)device;
    return nvmlDeviceGetPciInfo_v3(&devices[link % STUB_DEVICES], pci);
}
