#include "monitor.h"

int hottest(const MtmlLibrary *library, int limit)
{
    unsigned int count;
    int found = -1;

    if (mtmlLibraryCountDevice(library, &count) != MTML_SUCCESS)
        return -2;
    for (unsigned int index = 0; index < count; index++) {
        MtmlDevice *device;
        MtmlGpu *gpu;
        int temperature;

        if (mtmlLibraryInitDeviceByIndex(library, index, &device) != MTML_SUCCESS ||
            mtmlDeviceInitGpu(device, &gpu) != MTML_SUCCESS ||
            mtmlGpuGetTemperature(gpu, &temperature) != MTML_SUCCESS)
            return -2;
        if (temperature > limit) {
            limit = temperature;
            found = (int)index;
        }
    }
    return found;
}
