/* The memory of a device. */

#include "call.h"
#include "dynamics.h"

MtmlReturn mtmlMemoryGetTotal(const MtmlMemory *mem, unsigned long long *total)
{ SIM_GIVES(memory, mtmlMemoryGetTotal, mem, total, call.device->memory_total) }

MtmlReturn mtmlMemoryGetUsed(const MtmlMemory *mem, unsigned long long *used)
{ SIM_GIVES(memory, mtmlMemoryGetUsed, mem, used, now_memory_used(call.device)) }

MtmlReturn mtmlMemoryGetUsedSystem(const MtmlMemory *mem, unsigned long long *used)
{ SIM_GIVES(memory, mtmlMemoryGetUsedSystem, mem, used, call.device->memory_used_system) }

MtmlReturn mtmlMemoryGetUtilization(const MtmlMemory *mem, unsigned int *utilization)
{ SIM_GIVES(memory, mtmlMemoryGetUtilization, mem, utilization, now_memory_utilization(call.device)) }

MtmlReturn mtmlMemoryGetClock(const MtmlMemory *mem, unsigned int *clockMhz)
{ SIM_GIVES(memory, mtmlMemoryGetClock, mem, clockMhz, now_memory_clock(call.device)) }

MtmlReturn mtmlMemoryGetMaxClock(const MtmlMemory *mem, unsigned int *clockMhz)
{ SIM_GIVES(memory, mtmlMemoryGetMaxClock, mem, clockMhz, call.device->memory_max_clock) }

MtmlReturn mtmlMemoryGetBusWidth(const MtmlMemory *mem, unsigned int *busWidth)
{ SIM_GIVES(memory, mtmlMemoryGetBusWidth, mem, busWidth, call.device->memory_bus_width) }

MtmlReturn mtmlMemoryGetBandwidth(const MtmlMemory *mem, unsigned int *bandwidth)
{ SIM_GIVES(memory, mtmlMemoryGetBandwidth, mem, bandwidth, call.device->memory_bandwidth) }

MtmlReturn mtmlMemoryGetSpeed(const MtmlMemory *mem, unsigned int *speed)
{ SIM_GIVES(memory, mtmlMemoryGetSpeed, mem, speed, call.device->memory_speed) }

MtmlReturn mtmlMemoryGetVendor(const MtmlMemory *mem, unsigned int length, char *vendor)
{ SIM_GIVES_TEXT(memory, mtmlMemoryGetVendor, mem, memory_vendor, vendor, length) }

MtmlReturn mtmlMemoryGetType(const MtmlMemory *mem, MtmlMemoryType *type)
{ SIM_GIVES(memory, mtmlMemoryGetType, mem, type, (MtmlMemoryType)call.device->memory_type) }
