/* The memory of a device. */

#include "call.h"
#include "dynamics.h"

MtmlReturn mtmlMemoryGetTotal(const MtmlMemory *mem, unsigned long long *total)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetTotal, mem, total != NULL))
        *total = call.device->memory_total;
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetUsed(const MtmlMemory *mem, unsigned long long *used)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetUsed, mem, used != NULL))
        *used = now_memory_used(call.device);
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetUsedSystem(const MtmlMemory *mem, unsigned long long *used)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetUsedSystem, mem, used != NULL))
        *used = call.device->memory_used_system;
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetUtilization(const MtmlMemory *mem, unsigned int *utilization)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetUtilization, mem, utilization != NULL))
        *utilization = now_memory_utilization(call.device);
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetClock(const MtmlMemory *mem, unsigned int *clockMhz)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetClock, mem, clockMhz != NULL))
        *clockMhz = now_memory_clock(call.device);
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetMaxClock(const MtmlMemory *mem, unsigned int *clockMhz)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetMaxClock, mem, clockMhz != NULL))
        *clockMhz = call.device->memory_max_clock;
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetBusWidth(const MtmlMemory *mem, unsigned int *busWidth)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetBusWidth, mem, busWidth != NULL))
        *busWidth = call.device->memory_bus_width;
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetBandwidth(const MtmlMemory *mem, unsigned int *bandwidth)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetBandwidth, mem, bandwidth != NULL))
        *bandwidth = call.device->memory_bandwidth;
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetSpeed(const MtmlMemory *mem, unsigned int *speed)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetSpeed, mem, speed != NULL))
        *speed = call.device->memory_speed;
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetVendor(const MtmlMemory *mem, unsigned int length, char *vendor)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetVendor, mem, vendor != NULL))
        call_give_text(&call, &call.device->memory_vendor, "memory_vendor", vendor, length);
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetType(const MtmlMemory *mem, MtmlMemoryType *type)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetType, mem, type != NULL))
        *type = (MtmlMemoryType)call.device->memory_type;
    return call_leave(&call);
}
