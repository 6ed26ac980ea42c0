/*
 * A plugin host as a client of MTML: it opens the library, asks, gives everything back and closes the library, twice. The
 * second life must know nothing of the first. One line for each life: devices, name and temperature of the last one.
 *
 * Usage: twice FIRST_PROFILE SECOND_PROFILE.
 */

#define MTML_NO_DEPRECATED

#include "mtml_2.2.0.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)
#define FIND(name)                                            \
    __typeof__(&name) call_##name;                            \
    *(void **)&call_##name = dlsym(handle, #name);            \
    CHECK(call_##name)
#define OK(call) CHECK((call) == MTML_SUCCESS)

static void live(const char *profile)
{
    void *handle;
    MtmlLibrary *library;
    MtmlSystem *system;
    MtmlDevice *device;
    MtmlGpu *gpu;
    MtmlMemory *memory;
    unsigned int count;
    int temperature;
    unsigned long long total;
    char name[MTML_DEVICE_NAME_BUFFER_SIZE];

    setenv("MTML_SIM_PROFILE", profile, 1);
    handle = dlopen("libmtml.so.2", RTLD_NOW | RTLD_LOCAL);
    CHECK(handle);
    FIND(mtmlLibraryInit);
    FIND(mtmlLibraryInitSystem);
    FIND(mtmlLibraryCountDevice);
    FIND(mtmlLibraryInitDeviceByIndex);
    FIND(mtmlDeviceInitGpu);
    FIND(mtmlDeviceInitMemory);
    FIND(mtmlDeviceGetName);
    FIND(mtmlGpuGetTemperature);
    FIND(mtmlMemoryGetTotal);
    FIND(mtmlDeviceFreeGpu);
    FIND(mtmlDeviceFreeMemory);
    FIND(mtmlLibraryFreeDevice);
    FIND(mtmlLibraryFreeSystem);
    FIND(mtmlLibraryShutDown);

    OK(call_mtmlLibraryInit(&library));
    OK(call_mtmlLibraryInitSystem(library, &system));
    OK(call_mtmlLibraryCountDevice(library, &count));
    CHECK(count > 0);
    OK(call_mtmlLibraryInitDeviceByIndex(library, count - 1, &device));
    OK(call_mtmlDeviceInitGpu(device, &gpu));
    OK(call_mtmlDeviceInitMemory(device, &memory));
    OK(call_mtmlGpuGetTemperature(gpu, &temperature));
    OK(call_mtmlMemoryGetTotal(memory, &total));
    CHECK(total > 0);
    OK(call_mtmlDeviceFreeGpu(gpu));
    OK(call_mtmlDeviceFreeMemory(memory));
    OK(call_mtmlLibraryFreeDevice(device));
    OK(call_mtmlLibraryFreeSystem(system));
    /* The library owns its objects: they are there until the shutdown, whoever frees them. */
    OK(call_mtmlDeviceGetName(device, name, sizeof name));
    OK(call_mtmlGpuGetTemperature(gpu, &temperature));
    OK(call_mtmlLibraryShutDown(library));
    CHECK(dlclose(handle) == 0);
    CHECK(!dlopen("libmtml.so.2", RTLD_NOW | RTLD_NOLOAD));
    printf("%u %s %d\n", count, name, temperature);
}

int main(int count, char **arguments)
{
    CHECK(count == 3);
    live(arguments[1]);
    live(arguments[2]);
    return 0;
}
