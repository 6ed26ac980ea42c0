/* A libmtml.so.2 that answers at once: only what the benchmarked queries need, and no checks beyond a text's length. */

#define MTML_BUILDING_LIBRARY
#define MTML_NO_DEPRECATED
#include "mtml_2.2.0.h"

#define STUB_TOO_SMALL MTML_ERROR_INSUFFICIENT_SIZE
#include "stub.h"

struct MtmlLibrary {
    int unused;
};
struct MtmlSystem {
    int unused;
};
struct MtmlDevice {
    unsigned int index;
};
struct MtmlGpu {
    unsigned int index;
};
struct MtmlMemory {
    unsigned int index;
};
struct MtmlVpu {
    unsigned int index;
};

static MtmlLibrary library;
static MtmlSystem machine;
static MtmlDevice devices[STUB_DEVICES];
static MtmlGpu gpus[STUB_DEVICES];
static MtmlMemory memories[STUB_DEVICES];
static MtmlVpu vpus[STUB_DEVICES];

__attribute__((constructor)) static void number_objects(void) {
    for (unsigned int i = 0; i < STUB_DEVICES; i++) {
        devices[i].index = gpus[i].index = memories[i].index = vpus[i].index = i;
    }
}

/* The library and the system. */

MtmlReturn mtmlLibraryInit(MtmlLibrary **lib) {
    stub_initialize();
    ANSWER(lib, &library);
}

MtmlReturn mtmlLibraryShutDown(MtmlLibrary *lib) {
    (void)lib;
    ANSWER_NOTHING();
}

MtmlReturn mtmlLibraryGetVersion(const MtmlLibrary *lib, char *version, unsigned int length) {
    (void)lib;
    ANSWER_TEXT(version, length, "2.2.0");
}

MtmlReturn mtmlLibraryInitSystem(const MtmlLibrary *lib, MtmlSystem **sys) {
    (void)lib;
    ANSWER(sys, &machine);
}

MtmlReturn mtmlLibraryFreeSystem(MtmlSystem *sys) {
    (void)sys;
    ANSWER_NOTHING();
}

MtmlReturn mtmlLibraryCountDevice(const MtmlLibrary *lib, unsigned int *count) {
    (void)lib;
    ANSWER(count, STUB_DEVICES);
}

MtmlReturn mtmlLibraryInitDeviceByIndex(const MtmlLibrary *lib, unsigned int index, MtmlDevice **dev) {
    (void)lib;
    stub_enter();
    if (index >= STUB_DEVICES) {
        return MTML_ERROR_INVALID_ARGUMENT;
    }
    *dev = &devices[index];
    return MTML_SUCCESS;
}

MtmlReturn mtmlLibraryFreeDevice(MtmlDevice *dev) {
    (void)dev;
    ANSWER_NOTHING();
}

MtmlReturn mtmlSystemGetDriverVersion(const MtmlSystem *sys, char *version, unsigned int length) {
    (void)sys;
    ANSWER_TEXT(version, length, "3.3.5-server");
}

const char *mtmlErrorString(MtmlReturn result) {
    stub_enter();
    return result == MTML_SUCCESS ? "success" : "error";
}

/* Objects below a device. */

MtmlReturn mtmlDeviceInitGpu(const MtmlDevice *dev, MtmlGpu **gpu) { ANSWER(gpu, &gpus[dev->index]); }

MtmlReturn mtmlDeviceFreeGpu(MtmlGpu *gpu) {
    (void)gpu;
    ANSWER_NOTHING();
}

MtmlReturn mtmlDeviceInitMemory(const MtmlDevice *dev, MtmlMemory **mem) { ANSWER(mem, &memories[dev->index]); }

MtmlReturn mtmlDeviceFreeMemory(MtmlMemory *mem) {
    (void)mem;
    ANSWER_NOTHING();
}

MtmlReturn mtmlDeviceInitVpu(const MtmlDevice *dev, MtmlVpu **vpu) { ANSWER(vpu, &vpus[dev->index]); }

MtmlReturn mtmlDeviceFreeVpu(MtmlVpu *vpu) {
    (void)vpu;
    ANSWER_NOTHING();
}

/* Devices. */

MtmlReturn mtmlDeviceGetIndex(const MtmlDevice *dev, unsigned int *index) { ANSWER(index, dev->index); }

MtmlReturn mtmlDeviceGetUUID(const MtmlDevice *dev, char *uuid, unsigned int length) {
    ANSWER_TEXT(uuid, length, stub_texts[dev->index].uuid);
}

MtmlReturn mtmlDeviceGetName(const MtmlDevice *dev, char *name, unsigned int length) {
    ANSWER_TEXT(name, length, stub_texts[dev->index].name);
}

MtmlReturn mtmlDeviceGetSerialNumber(const MtmlDevice *device, unsigned int length, char *serialNumber) {
    ANSWER_TEXT(serialNumber, length, stub_texts[device->index].serial);
}

MtmlReturn mtmlDeviceGetPciInfo(const MtmlDevice *dev, MtmlPciInfo *pci) {
    stub_enter();
    memset(pci, 0, sizeof *pci);
    memcpy(pci->sbdf, stub_texts[dev->index].bus_id, sizeof pci->sbdf);
    pci->bus = STUB_BUS + dev->index;
    pci->pciDeviceId = STUB_PCI_ID;
    pci->pciSubsystemId = STUB_PCI_ID;
    pci->pciMaxSpeed = pci->pciCurSpeed = 32.0F;
    pci->pciMaxWidth = pci->pciCurWidth = STUB_LINK_WIDTH + dev->index;
    pci->pciMaxGen = pci->pciCurGen = STUB_LINK_GENERATION + dev->index;
    return MTML_SUCCESS;
}

MtmlReturn mtmlDeviceGetPowerUsage(const MtmlDevice *dev, unsigned int *power) {
    ANSWER(power, STUB_POWER + dev->index);
}

MtmlReturn mtmlDeviceGetGpuPath(const MtmlDevice *dev, char *path, unsigned int length) {
    ANSWER_TEXT(path, length, stub_texts[dev->index].gpu_path);
}

MtmlReturn mtmlDeviceGetPrimaryPath(const MtmlDevice *dev, char *path, unsigned int length) {
    ANSWER_TEXT(path, length, stub_texts[dev->index].primary_path);
}

MtmlReturn mtmlDeviceGetRenderPath(const MtmlDevice *dev, char *path, unsigned int length) {
    ANSWER_TEXT(path, length, stub_texts[dev->index].render_path);
}

MtmlReturn mtmlDeviceGetProperty(const MtmlDevice *dev, MtmlDeviceProperty *prop) {
    (void)dev;
    stub_enter();
    memset(prop, 0, sizeof *prop);
    return MTML_SUCCESS;
}

MtmlReturn mtmlDeviceCountFan(const MtmlDevice *dev, unsigned int *count) {
    (void)dev;
    ANSWER(count, 1);
}

MtmlReturn mtmlDeviceGetFanSpeed(const MtmlDevice *dev, unsigned int index, unsigned int *speed) {
    ANSWER(speed, STUB_FAN + dev->index + index);
}

MtmlReturn mtmlDeviceCountGpuCores(const MtmlDevice *device, unsigned int *numCores) {
    (void)device;
    ANSWER(numCores, 8);
}

/* Pairs of devices: a link joins each to each. */

MtmlReturn mtmlDeviceGetTopologyLevel(const MtmlDevice *dev1, const MtmlDevice *dev2, MtmlDeviceTopologyLevel *level) {
    (void)dev1;
    (void)dev2;
    ANSWER(level, MTML_TOPOLOGY_SYSTEM);
}

MtmlReturn mtmlDeviceGetP2PStatus(const MtmlDevice *dev1, const MtmlDevice *dev2, MtmlDeviceP2PCaps p2pCap,
                                  MtmlDeviceP2PStatus *p2pStatus) {
    (void)dev1;
    (void)dev2;
    (void)p2pCap;
    ANSWER(p2pStatus, MTML_P2P_STATUS_OK);
}

MtmlReturn mtmlDeviceCountMtLinkLayouts(const MtmlDevice *localDevice, const MtmlDevice *remoteDevice,
                                        unsigned int *linkCount) {
    (void)localDevice;
    (void)remoteDevice;
    ANSWER(linkCount, 1);
}

MtmlReturn mtmlDeviceGetMtLinkLayouts(const MtmlDevice *localDevice, const MtmlDevice *remoteDevice,
                                      unsigned int linkCount, MtmlMtLinkLayout *layouts) {
    (void)linkCount;
    stub_enter();
    layouts[0].localLinkId = remoteDevice->index;
    layouts[0].remoteLinkId = localDevice->index;
    return MTML_SUCCESS;
}

MtmlReturn mtmlDeviceGetMtLinkState(const MtmlDevice *device, unsigned int linkId, MtmlMtLinkState *state) {
    (void)device;
    (void)linkId;
    ANSWER(state, MTML_MTLINK_STATE_UP);
}

/* Graphics, memory, video. */

MtmlReturn mtmlGpuGetUtilization(const MtmlGpu *gpu, unsigned int *utilization) {
    ANSWER(utilization, STUB_UTILIZATION + gpu->index);
}

MtmlReturn mtmlGpuGetTemperature(const MtmlGpu *gpu, int *temp) { ANSWER(temp, STUB_TEMPERATURE + (int)gpu->index); }

MtmlReturn mtmlGpuGetClock(const MtmlGpu *gpu, unsigned int *clockMhz) {
    ANSWER(clockMhz, STUB_GRAPHICS_CLOCK + gpu->index);
}

MtmlReturn mtmlGpuGetMaxClock(const MtmlGpu *gpu, unsigned int *clockMhz) {
    ANSWER(clockMhz, STUB_MAX_CLOCK + gpu->index);
}

MtmlReturn mtmlMemoryGetTotal(const MtmlMemory *mem, unsigned long long *total) {
    (void)mem;
    ANSWER(total, STUB_MEMORY_TOTAL);
}

MtmlReturn mtmlMemoryGetUsed(const MtmlMemory *mem, unsigned long long *used) {
    ANSWER(used, STUB_MEMORY_USED + mem->index);
}

MtmlReturn mtmlMemoryGetUtilization(const MtmlMemory *mem, unsigned int *utilization) {
    ANSWER(utilization, STUB_MEMORY_UTILIZATION + mem->index);
}

MtmlReturn mtmlMemoryGetClock(const MtmlMemory *mem, unsigned int *clockMhz) {
    ANSWER(clockMhz, STUB_MEMORY_CLOCK + mem->index);
}

MtmlReturn mtmlMemoryGetMaxClock(const MtmlMemory *mem, unsigned int *clockMhz) {
    ANSWER(clockMhz, STUB_MAX_CLOCK + mem->index);
}

MtmlReturn mtmlMemoryGetBusWidth(const MtmlMemory *mem, unsigned int *busWidth) {
    (void)mem;
    ANSWER(busWidth, 384);
}

MtmlReturn mtmlVpuGetUtilization(const MtmlVpu *vpu, MtmlCodecUtil *utilization) {
    stub_enter();
    memset(utilization, 0, sizeof *utilization);
    utilization->period = STUB_PERIOD;
    utilization->encUtil = STUB_ENCODER + vpu->index;
    utilization->decUtil = STUB_DECODER + vpu->index;
    return MTML_SUCCESS;
}

MtmlReturn mtmlVpuGetClock(const MtmlVpu *vpu, unsigned int *clockMhz) {
    ANSWER(clockMhz, STUB_VIDEO_CLOCK + vpu->index);
}

MtmlReturn mtmlVpuGetMaxClock(const MtmlVpu *vpu, unsigned int *clockMhz) {
    ANSWER(clockMhz, STUB_MAX_CLOCK + vpu->index);
}
