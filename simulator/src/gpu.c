/* The graphics cores of a device. */

#include "call.h"
#include "dynamics.h"

MtmlReturn mtmlGpuGetUtilization(const MtmlGpu *gpu, unsigned int *utilization)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetUtilization, gpu, utilization != NULL))
        *utilization = now_gpu_utilization(call.device);
    return call_leave(&call);
}

MtmlReturn mtmlGpuGetTemperature(const MtmlGpu *gpu, int *temp)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetTemperature, gpu, temp != NULL))
        *temp = now_gpu_temperature(call.device);
    return call_leave(&call);
}

MtmlReturn mtmlGpuGetClock(const MtmlGpu *gpu, unsigned int *clockMhz)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetClock, gpu, clockMhz != NULL))
        *clockMhz = now_gpu_clock(call.device);
    return call_leave(&call);
}

MtmlReturn mtmlGpuGetMaxClock(const MtmlGpu *gpu, unsigned int *clockMhz)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetMaxClock, gpu, clockMhz != NULL))
        *clockMhz = call.device->gpu_max_clock;
    return call_leave(&call);
}

MtmlReturn mtmlGpuGetEngineUtilization(const MtmlGpu *gpu, MtmlGpuEngine engine, unsigned int *utilization)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetEngineUtilization, gpu,
                       utilization && (unsigned int)engine < MTML_GPU_ENGINE_MAX))
        *utilization = now_engine_utilization(call.device, engine);
    return call_leave(&call);
}
