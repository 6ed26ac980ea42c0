/*
 * A system information tool as a client of MTML: the library is opened at run time, the card is found by the PCI address
 * that Linux gives it, and what the library does not tell is left out. One line "key=value" for each answer.
 *
 * Usage: fetch DOMAIN BUS DEVICE FUNCTION (hexadecimal). Status 2 without a library, 3 where it does not initialize,
 * 4 without such a card.
 */

#define MTML_NO_DEPRECATED

#include "mtml_2.2.0.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* The prototypes are the header's: a function that is called otherwise does not compile. */
#define FUNCTIONS(X)                  \
    X(mtmlLibraryInit)                \
    X(mtmlLibraryShutDown)            \
    X(mtmlLibraryInitDeviceByPciSbdf) \
    X(mtmlDeviceGetName)              \
    X(mtmlDeviceGetUUID)              \
    X(mtmlDeviceGetIndex)             \
    X(mtmlDeviceGetPciInfo)           \
    X(mtmlDeviceGetProperty)          \
    X(mtmlDeviceCountGpuCores)        \
    X(mtmlDeviceInitGpu)              \
    X(mtmlDeviceInitMemory)           \
    X(mtmlGpuGetUtilization)          \
    X(mtmlGpuGetTemperature)          \
    X(mtmlGpuGetMaxClock)             \
    X(mtmlMemoryGetTotal)             \
    X(mtmlMemoryGetUsed)              \
    X(mtmlMemoryGetType)

static struct {
#define X(name) __typeof__(&name) name;
    FUNCTIONS(X)
#undef X
} mtml;

static int open_library(void)
{
    void *library = dlopen("libmtml.so", RTLD_LAZY);

    if (!library)
        return 0;
#define X(name) *(void **)&mtml.name = dlsym(library, #name);
    FUNCTIONS(X)
#undef X
    /* An older library may lack the number of cores; the rest is as old as the library. */
    return mtml.mtmlLibraryInit && mtml.mtmlLibraryShutDown && mtml.mtmlLibraryInitDeviceByPciSbdf;
}

static void show_identity(const MtmlDevice *device)
{
    char name[MTML_DEVICE_NAME_BUFFER_SIZE];
    char uuid[MTML_DEVICE_UUID_BUFFER_SIZE];
    unsigned int number;
    MtmlDeviceProperty property;
    MtmlPciInfo pci;

    if (mtml.mtmlDeviceGetName(device, name, sizeof name) == MTML_SUCCESS)
        printf("name=%s\n", name);
    if (mtml.mtmlDeviceGetUUID(device, uuid, sizeof uuid) == MTML_SUCCESS)
        printf("uuid=%s\n", uuid);
    if (mtml.mtmlDeviceGetIndex(device, &number) == MTML_SUCCESS)
        printf("index=%u\n", number);
    if (mtml.mtmlDeviceGetProperty(device, &property) == MTML_SUCCESS)
        printf("virtual=%d\n", property.virtRole == MTML_VIRT_ROLE_GUEST_VIRTDEVICE);
    if (mtml.mtmlDeviceCountGpuCores && mtml.mtmlDeviceCountGpuCores(device, &number) == MTML_SUCCESS)
        printf("cores=%u\n", number);
    if (mtml.mtmlDeviceGetPciInfo(device, &pci) == MTML_SUCCESS)
        printf("pcie=%ux%u of %ux%u\n", pci.pciCurGen, pci.pciCurWidth, pci.pciMaxGen, pci.pciMaxWidth);
}

static void show_parts(const MtmlDevice *device)
{
    MtmlGpu *gpu;
    MtmlMemory *memory;
    MtmlMemoryType type;
    unsigned int number;
    unsigned long long bytes;
    int temperature;

    if (mtml.mtmlDeviceInitGpu(device, &gpu) == MTML_SUCCESS) {
        if (mtml.mtmlGpuGetUtilization(gpu, &number) == MTML_SUCCESS)
            printf("utilization=%u\n", number);
        if (mtml.mtmlGpuGetTemperature(gpu, &temperature) == MTML_SUCCESS)
            printf("temperature=%d\n", temperature);
        if (mtml.mtmlGpuGetMaxClock(gpu, &number) == MTML_SUCCESS)
            printf("clock=%u\n", number);
    }
    if (mtml.mtmlDeviceInitMemory(device, &memory) == MTML_SUCCESS) {
        if (mtml.mtmlMemoryGetTotal(memory, &bytes) == MTML_SUCCESS)
            printf("total=%llu\n", bytes);
        if (mtml.mtmlMemoryGetUsed(memory, &bytes) == MTML_SUCCESS)
            printf("used=%llu\n", bytes);
        if (mtml.mtmlMemoryGetType(memory, &type) == MTML_SUCCESS)
            printf("type=%s\n", type == MTML_MEM_TYPE_GDDR6 ? "GDDR6" : type == MTML_MEM_TYPE_LPDDR4 ? "LPDDR4" : "?");
    }
}

int main(int count, char **arguments)
{
    unsigned long address[4];
    char text[64];
    MtmlLibrary *library;
    MtmlDevice *device;
    MtmlReturn found;

    if (count != 5)
        return 1;
    for (int i = 0; i < 4; i++)
        address[i] = strtoul(arguments[i + 1], NULL, 16);
    snprintf(text, sizeof text, "%04x:%02x:%02x.%d", (unsigned int)address[0], (unsigned int)address[1],
             (unsigned int)address[2], (int)address[3]);
    if (!open_library())
        return 2;
    if (mtml.mtmlLibraryInit(&library) != MTML_SUCCESS)
        return 3;
    found = mtml.mtmlLibraryInitDeviceByPciSbdf(library, text, &device);
    if (found == MTML_SUCCESS) {
        show_identity(device);
        show_parts(device);
    }
    /* Nothing is freed but the library: that releases the rest. */
    if (mtml.mtmlLibraryShutDown(library) != MTML_SUCCESS)
        return 5;
    return found == MTML_SUCCESS ? 0 : 4;
}
