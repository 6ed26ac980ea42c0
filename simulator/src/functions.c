/* The table of all functions, and the way from a name to its place in it. */

#include "functions.h"

#include <string.h>

const struct function_entry functions[FUNCTION_COUNT] = {
#define X(name, generation, devices) {#name, GENERATION_##generation, DEVICES_##devices},
    SIM_FUNCTIONS(X)
#undef X
};

enum function function_find(const char *name, size_t length)
{
    for (unsigned int i = 0; i < FUNCTION_COUNT; i++)
        if (strncmp(functions[i].name, name, length) == 0 && functions[i].name[length] == '\0')
            return (enum function)i;
    return FUNCTION_COUNT;
}

bool function_is_beyond(enum function function)
{
#define X(name, generation, devices) +1
    return function >= 0 SIM_HEADER_FUNCTIONS(X);
#undef X
}

bool function_has_keys(enum function function)
{
    static const enum function keyed[] = {
#define X(key, type, name) FUNCTION_##name,
        SIM_KEYS_BEYOND(X)
#undef X
    };

    for (size_t i = 0; function_is_beyond(function) && i < sizeof keyed / sizeof keyed[0]; i++)
        if (keyed[i] == function)
            return true;
    return false;
}

bool function_gives_handle(enum function function)
{
    static const enum function givers[] = {
        FUNCTION_mtmlLibraryInit,
        FUNCTION_mtmlLibraryInitSystem,
        FUNCTION_mtmlLibraryInitDeviceByIndex,
        FUNCTION_mtmlLibraryInitDeviceByUuid,
        FUNCTION_mtmlLibraryInitDeviceByPciSbdf,
        FUNCTION_mtmlDeviceInitGpu,
        FUNCTION_mtmlDeviceInitMemory,
        FUNCTION_mtmlDeviceInitVpu,
        FUNCTION_mtmlDeviceInitVirtDevice,
        FUNCTION_mtmlDeviceGetDeviceByTopologyLevel,
        FUNCTION_mtmlDeviceGetMpcInstancesByProfileId,
        FUNCTION_mtmlDeviceGetMpcInstances,
        FUNCTION_mtmlDeviceGetMpcInstanceByIndex,
        FUNCTION_mtmlDeviceGetMpcParentDevice,
        FUNCTION_mtmlDeviceGetMtLinkRemoteDevice,
        FUNCTION_mtmlDeviceGetMtLinkShortestPaths,
    };

    for (size_t i = 0; i < sizeof givers / sizeof givers[0]; i++)
        if (givers[i] == function)
            return true;
    return false;
}
