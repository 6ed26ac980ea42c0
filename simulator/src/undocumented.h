/* What libraries export beyond the 2.2.0 header. Units: mW, degrees Celsius, mV. */

#ifndef SIM_UNDOCUMENTED_H
#define SIM_UNDOCUMENTED_H

#include "base.h"

MTML_API MtmlReturn mtmlDeviceGetMusaComputeCapability(const MtmlDevice *device, int *major, int *minor);
MTML_API MtmlReturn mtmlDeviceGetPcieReplayCounter(const MtmlDevice *device, unsigned int *count);
MTML_API MtmlReturn mtmlDeviceGetPerformanceState(const MtmlDevice *device, int *state);
MTML_API MtmlReturn mtmlGpuGetEnforcedPowerLimit(const MtmlGpu *gpu, int *limit);
MTML_API MtmlReturn mtmlGpuGetPowerManagementDefaultLimit(const MtmlGpu *gpu, int *limit);
MTML_API MtmlReturn mtmlGpuGetTemperatureThreshold(const MtmlGpu *gpu, int kind, int *temp);
MTML_API MtmlReturn mtmlGpuGetVoltage(const MtmlGpu *gpu, int *voltage);
MTML_API MtmlReturn mtmlMemoryGetTemperature(const MtmlMemory *mem, int *temp);

#endif
