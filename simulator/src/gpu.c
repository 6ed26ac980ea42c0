/* The graphics cores of a device. */

#include "call.h"
#include "dynamics.h"

MtmlReturn mtmlGpuGetUtilization(const MtmlGpu *gpu, unsigned int *utilization)
{ SIM_GIVES(gpu, mtmlGpuGetUtilization, gpu, utilization, now_gpu_utilization(call.device)) }

MtmlReturn mtmlGpuGetTemperature(const MtmlGpu *gpu, int *temp)
{ SIM_GIVES(gpu, mtmlGpuGetTemperature, gpu, temp, now_gpu_temperature(call.device)) }

MtmlReturn mtmlGpuGetClock(const MtmlGpu *gpu, unsigned int *clockMhz)
{ SIM_GIVES(gpu, mtmlGpuGetClock, gpu, clockMhz, now_gpu_clock(call.device)) }

MtmlReturn mtmlGpuGetMaxClock(const MtmlGpu *gpu, unsigned int *clockMhz)
{ SIM_GIVES(gpu, mtmlGpuGetMaxClock, gpu, clockMhz, call.device->gpu_max_clock) }

MtmlReturn mtmlGpuGetEngineUtilization(const MtmlGpu *gpu, MtmlGpuEngine engine, unsigned int *utilization)
{
    struct call call;

    if (call_enter_gpu(&call, FUNCTION_mtmlGpuGetEngineUtilization, gpu,
                       utilization && (unsigned int)engine < MTML_GPU_ENGINE_MAX))
        *utilization = now_engine_utilization(call.device, engine);
    return call_leave(&call);
}
