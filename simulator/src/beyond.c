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
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetPcieReplayCounter, device, count != NULL))
        *count = call.device->pcie_replay_counter;
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetPerformanceState(const MtmlDevice *device, int *state)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetPerformanceState, device, state != NULL))
        *state = call.device->performance_state;
    return call_leave(&call);
}

MtmlReturn mtmlGpuGetEnforcedPowerLimit(const MtmlGpu *gpu, int *limit)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetEnforcedPowerLimit, gpu, limit != NULL))
        *limit = call.device->enforced_power_limit;
    return call_leave(&call);
}

MtmlReturn mtmlGpuGetPowerManagementDefaultLimit(const MtmlGpu *gpu, int *limit)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetPowerManagementDefaultLimit, gpu, limit != NULL))
        *limit = call.device->default_power_limit;
    return call_leave(&call);
}

MtmlReturn mtmlGpuGetTemperatureThreshold(const MtmlGpu *gpu, int kind, int *temp)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetTemperatureThreshold, gpu,
                       temp && kind >= 0 && kind < THRESHOLD_COUNT))
        *temp = kind == THRESHOLD_SHUTDOWN ? call.device->shutdown_temperature : call.device->slowdown_temperature;
    return call_leave(&call);
}

MtmlReturn mtmlGpuGetVoltage(const MtmlGpu *gpu, int *voltage)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetVoltage, gpu, voltage != NULL))
        *voltage = call.device->gpu_voltage;
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetTemperature(const MtmlMemory *mem, int *temp)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetTemperature, mem, temp != NULL))
        *temp = now_memory_temperature(call.device);
    return call_leave(&call);
}
