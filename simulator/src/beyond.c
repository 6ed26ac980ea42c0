/* Functions outside the 2.2.0 header: of later versions, and those that libraries export and no header declares. */

#include "call.h"
#include "dynamics.h"

enum { THRESHOLD_SHUTDOWN, THRESHOLD_SLOWDOWN, THRESHOLD_COUNT };

MtmlReturn mtmlDeviceGetMusaComputeCapability(const MtmlDevice *device, int *major, int *minor)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMusaComputeCapability, device, major && minor)) {
        *major = call.device->musa_compute_capability.major;
        *minor = call.device->musa_compute_capability.minor;
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetPcieReplayCounter(const MtmlDevice *device, unsigned int *count)
{ SIM_GIVES(device, mtmlDeviceGetPcieReplayCounter, device, count, call.device->pcie_replay_counter) }

MtmlReturn mtmlDeviceGetPerformanceState(const MtmlDevice *device, int *state)
{ SIM_GIVES(device, mtmlDeviceGetPerformanceState, device, state, call.device->performance_state) }

MtmlReturn mtmlGpuGetEnforcedPowerLimit(const MtmlGpu *gpu, int *limit)
{ SIM_GIVES(gpu, mtmlGpuGetEnforcedPowerLimit, gpu, limit, call.device->enforced_power_limit) }

MtmlReturn mtmlGpuGetPowerManagementDefaultLimit(const MtmlGpu *gpu, int *limit)
{ SIM_GIVES(gpu, mtmlGpuGetPowerManagementDefaultLimit, gpu, limit, call.device->default_power_limit) }

MtmlReturn mtmlGpuGetTemperatureThreshold(const MtmlGpu *gpu, int kind, int *temp)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetTemperatureThreshold, gpu,
                       temp && kind >= 0 && kind < THRESHOLD_COUNT))
        *temp = kind == THRESHOLD_SHUTDOWN ? call.device->shutdown_temperature : call.device->slowdown_temperature;
    return call_leave(&call);
}

MtmlReturn mtmlGpuGetVoltage(const MtmlGpu *gpu, int *voltage)
{ SIM_GIVES(gpu, mtmlGpuGetVoltage, gpu, voltage, call.device->gpu_voltage) }

MtmlReturn mtmlMemoryGetTemperature(const MtmlMemory *mem, int *temp)
{ SIM_GIVES(memory, mtmlMemoryGetTemperature, mem, temp, now_memory_temperature(call.device)) }
