/*
 * Every function of the interface: X(name, first generation that has it, devices that it is meant for).
 *
 * Devices: ALL; PHYSICAL refuses a host's virtual devices; VIRTUAL refuses all others; REAL_VPU refuses virtual
 * devices on the host and in the guest.
 *
 * What stands between the marks is written by tools/generate_api.py from facts/mtml_api.json.
 */

#ifndef SIM_FUNCTIONS_H
#define SIM_FUNCTIONS_H

#include "base.h"

/* BEGIN generated */
#define SIM_HEADER_FUNCTIONS(X)                                      \
    X(mtmlLibraryInit, ANY, ALL)                                     \
    X(mtmlLibraryShutDown, ANY, ALL)                                 \
    X(mtmlLibraryGetVersion, ANY, ALL)                               \
    X(mtmlLibraryInitSystem, ANY, ALL)                               \
    X(mtmlLibraryFreeSystem, ANY, ALL)                               \
    X(mtmlLibraryCountDevice, ANY, ALL)                              \
    X(mtmlLibraryInitDeviceByIndex, ANY, ALL)                        \
    X(mtmlLibraryInitDeviceByUuid, ANY, ALL)                         \
    X(mtmlLibraryInitDeviceByPciSbdf, ANY, ALL)                      \
    X(mtmlLibrarySetMpcConfigurationInBatch, ANY, ALL)               \
    X(mtmlLibraryFreeDevice, ANY, PHYSICAL)                          \
    X(mtmlSystemGetDriverVersion, ANY, ALL)                          \
    X(mtmlDeviceInitGpu, ANY, ALL)                                   \
    X(mtmlDeviceFreeGpu, ANY, ALL)                                   \
    X(mtmlDeviceInitMemory, ANY, ALL)                                \
    X(mtmlDeviceFreeMemory, ANY, ALL)                                \
    X(mtmlDeviceInitVpu, ANY, ALL)                                   \
    X(mtmlDeviceFreeVpu, ANY, ALL)                                   \
    X(mtmlDeviceGetIndex, ANY, PHYSICAL)                             \
    X(mtmlDeviceGetUUID, ANY, ALL)                                   \
    X(mtmlDeviceGetBrand, ANY, ALL)                                  \
    X(mtmlDeviceGetName, ANY, PHYSICAL)                              \
    X(mtmlDeviceGetPciInfo, ANY, PHYSICAL)                           \
    X(mtmlDeviceGetPowerUsage, ANY, PHYSICAL)                        \
    X(mtmlDeviceGetGpuPath, ANY, PHYSICAL)                           \
    X(mtmlDeviceGetPrimaryPath, ANY, PHYSICAL)                       \
    X(mtmlDeviceGetRenderPath, ANY, PHYSICAL)                        \
    X(mtmlDeviceGetVbiosVersion, ANY, PHYSICAL)                      \
    X(mtmlDeviceGetMtBiosVersion, ANY, PHYSICAL)                     \
    X(mtmlDeviceGetProperty, ANY, ALL)                               \
    X(mtmlDeviceCountFan, ANY, PHYSICAL)                             \
    X(mtmlDeviceGetFanSpeed, ANY, PHYSICAL)                          \
    X(mtmlDeviceGetFanRpm, ANY, PHYSICAL)                            \
    X(mtmlDeviceGetPcieSlotInfo, ANY, PHYSICAL)                      \
    X(mtmlDeviceCountDisplayInterface, ANY, PHYSICAL)                \
    X(mtmlDeviceGetDisplayInterfaceSpec, ANY, PHYSICAL)              \
    X(mtmlDeviceGetSerialNumber, ANY, PHYSICAL)                      \
    X(mtmlDeviceCountGpuCores, ANY, PHYSICAL)                        \
    X(mtmlDeviceCountSupportedVirtTypes, ANY, PHYSICAL)              \
    X(mtmlDeviceGetSupportedVirtTypes, ANY, PHYSICAL)                \
    X(mtmlDeviceCountAvailVirtTypes, ANY, PHYSICAL)                  \
    X(mtmlDeviceGetAvailVirtTypes, ANY, PHYSICAL)                    \
    X(mtmlDeviceCountAvailVirtDevices, ANY, PHYSICAL)                \
    X(mtmlDeviceCountActiveVirtDevices, ANY, PHYSICAL)               \
    X(mtmlDeviceGetActiveVirtDeviceUuids, ANY, PHYSICAL)             \
    X(mtmlDeviceCountMaxVirtDevices, ANY, PHYSICAL)                  \
    X(mtmlDeviceInitVirtDevice, ANY, PHYSICAL)                       \
    X(mtmlDeviceFreeVirtDevice, ANY, VIRTUAL)                        \
    X(mtmlDeviceGetVirtType, ANY, VIRTUAL)                           \
    X(mtmlDeviceGetPhyDeviceUuid, ANY, VIRTUAL)                      \
    X(mtmlDeviceGetTopologyLevel, ANY, PHYSICAL)                     \
    X(mtmlDeviceCountDeviceByTopologyLevel, ANY, PHYSICAL)           \
    X(mtmlDeviceGetDeviceByTopologyLevel, ANY, PHYSICAL)             \
    X(mtmlDeviceGetP2PStatus, ANY, PHYSICAL)                         \
    X(mtmlGpuGetUtilization, ANY, ALL)                               \
    X(mtmlGpuGetTemperature, ANY, ALL)                               \
    X(mtmlGpuGetClock, ANY, ALL)                                     \
    X(mtmlGpuGetMaxClock, ANY, ALL)                                  \
    X(mtmlGpuGetEngineUtilization, ANY, ALL)                         \
    X(mtmlMemoryGetTotal, ANY, ALL)                                  \
    X(mtmlMemoryGetUsed, ANY, ALL)                                   \
    X(mtmlMemoryGetUsedSystem, ANY, ALL)                             \
    X(mtmlMemoryGetUtilization, ANY, ALL)                            \
    X(mtmlMemoryGetClock, ANY, ALL)                                  \
    X(mtmlMemoryGetMaxClock, ANY, ALL)                               \
    X(mtmlMemoryGetBusWidth, ANY, ALL)                               \
    X(mtmlMemoryGetBandwidth, ANY, ALL)                              \
    X(mtmlMemoryGetSpeed, ANY, ALL)                                  \
    X(mtmlMemoryGetVendor, ANY, ALL)                                 \
    X(mtmlMemoryGetType, ANY, ALL)                                   \
    X(mtmlVpuGetUtilization, ANY, REAL_VPU)                          \
    X(mtmlVpuGetClock, ANY, REAL_VPU)                                \
    X(mtmlVpuGetMaxClock, ANY, REAL_VPU)                             \
    X(mtmlVpuGetCodecCapacity, ANY, ALL)                             \
    X(mtmlVpuGetEncoderSessionStates, ANY, ALL)                      \
    X(mtmlVpuGetEncoderSessionMetrics, ANY, ALL)                     \
    X(mtmlVpuGetDecoderSessionStates, ANY, ALL)                      \
    X(mtmlVpuGetDecoderSessionMetrics, ANY, ALL)                     \
    X(mtmlLogSetConfiguration, ANY, ALL)                             \
    X(mtmlLogGetConfiguration, ANY, ALL)                             \
    X(mtmlErrorString, ANY, ALL)                                     \
    X(mtmlDeviceSetMpcMode, CHUNXIAO, PHYSICAL)                      \
    X(mtmlDeviceGetMpcMode, ANY, ALL)                                \
    X(mtmlDeviceCountSupportedMpcProfiles, CHUNXIAO, PHYSICAL)       \
    X(mtmlDeviceGetSupportedMpcProfiles, CHUNXIAO, PHYSICAL)         \
    X(mtmlDeviceCountSupportedMpcConfigurations, CHUNXIAO, PHYSICAL) \
    X(mtmlDeviceGetSupportedMpcConfigurations, CHUNXIAO, PHYSICAL)   \
    X(mtmlDeviceGetMpcConfiguration, CHUNXIAO, PHYSICAL)             \
    X(mtmlDeviceGetMpcConfigurationByName, CHUNXIAO, PHYSICAL)       \
    X(mtmlDeviceSetMpcConfiguration, CHUNXIAO, PHYSICAL)             \
    X(mtmlDeviceCountMpcInstancesByProfileId, CHUNXIAO, PHYSICAL)    \
    X(mtmlDeviceGetMpcInstancesByProfileId, CHUNXIAO, PHYSICAL)      \
    X(mtmlDeviceCountMpcInstances, CHUNXIAO, PHYSICAL)               \
    X(mtmlDeviceGetMpcInstances, CHUNXIAO, PHYSICAL)                 \
    X(mtmlDeviceGetMpcInstanceByIndex, CHUNXIAO, PHYSICAL)           \
    X(mtmlDeviceGetMpcParentDevice, CHUNXIAO, PHYSICAL)              \
    X(mtmlDeviceGetMpcProfileInfo, CHUNXIAO, PHYSICAL)               \
    X(mtmlDeviceGetMpcInstanceIndex, CHUNXIAO, PHYSICAL)             \
    X(mtmlDeviceGetMtLinkSpec, QUYUAN, PHYSICAL)                     \
    X(mtmlDeviceGetMtLinkState, QUYUAN, PHYSICAL)                    \
    X(mtmlDeviceGetMtLinkCapStatus, QUYUAN, PHYSICAL)                \
    X(mtmlDeviceGetMtLinkRemoteDevice, QUYUAN, PHYSICAL)             \
    X(mtmlDeviceCountMtLinkShortestPaths, QUYUAN, PHYSICAL)          \
    X(mtmlDeviceGetMtLinkShortestPaths, QUYUAN, PHYSICAL)            \
    X(mtmlDeviceCountMtLinkLayouts, QUYUAN, PHYSICAL)                \
    X(mtmlDeviceGetMtLinkLayouts, QUYUAN, PHYSICAL)                  \
    X(mtmlDeviceGetMemoryAffinityWithinNode, SUDI, PHYSICAL)         \
    X(mtmlDeviceGetCpuAffinityWithinNode, SUDI, PHYSICAL)            \
    X(mtmlDeviceReset, ANY, PHYSICAL)                                \
    X(mtmlMemorySetEccMode, PINGHU, PHYSICAL)                        \
    X(mtmlMemoryGetEccMode, PINGHU, PHYSICAL)                        \
    X(mtmlMemoryGetRetiredPagesCount, PINGHU, PHYSICAL)              \
    X(mtmlMemoryGetRetiredPages, PINGHU, PHYSICAL)                   \
    X(mtmlMemoryGetRetiredPagesPendingStatus, PINGHU, PHYSICAL)      \
    X(mtmlMemoryGetEccErrorCounter, PINGHU, PHYSICAL)                \
    X(mtmlMemoryClearEccErrorCounts, PINGHU, PHYSICAL)

/* What libraries export beyond the 2.2.0 header. */
#define SIM_FUNCTIONS_BEYOND(X)                             \
    X(mtmlDeviceGetMusaComputeCapability, ANY, PHYSICAL)    \
    X(mtmlDeviceGetPcieReplayCounter, ANY, PHYSICAL)        \
    X(mtmlDeviceGetPerformanceState, ANY, PHYSICAL)         \
    X(mtmlGpuGetEnforcedPowerLimit, ANY, PHYSICAL)          \
    X(mtmlGpuGetPowerManagementDefaultLimit, ANY, PHYSICAL) \
    X(mtmlGpuGetTemperatureThreshold, ANY, PHYSICAL)        \
    X(mtmlGpuGetVoltage, ANY, PHYSICAL)                     \
    X(mtmlMemoryGetTemperature, ANY, PHYSICAL)

/* Their keys: X(key, type, function). */
#define SIM_KEYS_BEYOND(X)                                                     \
    X(musa_compute_capability, capability, mtmlDeviceGetMusaComputeCapability) \
    X(pcie_replay_counter, uint, mtmlDeviceGetPcieReplayCounter)               \
    X(performance_state, int, mtmlDeviceGetPerformanceState)                   \
    X(enforced_power_limit, int, mtmlGpuGetEnforcedPowerLimit)                 \
    X(default_power_limit, int, mtmlGpuGetPowerManagementDefaultLimit)         \
    X(shutdown_temperature, int, mtmlGpuGetTemperatureThreshold)               \
    X(slowdown_temperature, int, mtmlGpuGetTemperatureThreshold)               \
    X(gpu_voltage, int, mtmlGpuGetVoltage)                                     \
    X(memory_temperature, int, mtmlMemoryGetTemperature)

/* The fields of these keys. */
#define SIM_FIELDS_BEYOND \
    struct capability musa_compute_capability; \
    uint32_t pcie_replay_counter;              \
    int32_t performance_state;                 \
    int32_t enforced_power_limit;              \
    int32_t default_power_limit;               \
    int32_t shutdown_temperature;              \
    int32_t slowdown_temperature;              \
    int32_t gpu_voltage;                       \
    int32_t memory_temperature;

/* From the oldest on. */
#define SIM_GENERATIONS(X) \
    X(SUDI)                \
    X(CHUNXIAO)            \
    X(QUYUAN)              \
    X(PINGHU)

/* No header declares these. */
MTML_API MtmlReturn mtmlDeviceGetMusaComputeCapability(const MtmlDevice *dev, int *major, int *minor);
MTML_API MtmlReturn mtmlDeviceGetPcieReplayCounter(const MtmlDevice *dev, unsigned int *count);
MTML_API MtmlReturn mtmlDeviceGetPerformanceState(const MtmlDevice *dev, int *state);
MTML_API MtmlReturn mtmlGpuGetEnforcedPowerLimit(const MtmlGpu *gpu, int *limit);
MTML_API MtmlReturn mtmlGpuGetPowerManagementDefaultLimit(const MtmlGpu *gpu, int *limit);
MTML_API MtmlReturn mtmlGpuGetTemperatureThreshold(const MtmlGpu *gpu, int kind, int *temp);
MTML_API MtmlReturn mtmlGpuGetVoltage(const MtmlGpu *gpu, int *voltage);
MTML_API MtmlReturn mtmlMemoryGetTemperature(const MtmlMemory *mem, int *temp);
/* END generated */

#define SIM_FUNCTIONS(X)    \
    SIM_HEADER_FUNCTIONS(X) \
    SIM_FUNCTIONS_BEYOND(X)

enum function {
#define X(name, generation, devices) FUNCTION_##name,
    SIM_FUNCTIONS(X)
#undef X
    FUNCTION_COUNT
};

enum generation {
    GENERATION_ANY,
#define X(name) GENERATION_##name,
    SIM_GENERATIONS(X)
#undef X
};

enum audience { DEVICES_ALL, DEVICES_PHYSICAL, DEVICES_VIRTUAL, DEVICES_REAL_VPU };

struct function_entry {
    const char *name;
    enum generation generation;
    enum audience audience;
};

extern const struct function_entry functions[FUNCTION_COUNT];

/* FUNCTION_COUNT when no function has that name. */
enum function function_find(const char *name, size_t length);

/* Whether the header of 2.2.0 lacks it. */
bool function_is_beyond(enum function function);

/* Whether it answers from keys of its own, and only for cards whose profile has one of them. */
bool function_has_keys(enum function function);

/* Whether its last argument receives a handle, or several. */
bool function_gives_handle(enum function function);

struct function_set {
    bool member[FUNCTION_COUNT];
};

#endif
