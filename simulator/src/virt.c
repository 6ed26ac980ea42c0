/* Virtual devices on the host that carries them. */

#include "call.h"

#include <string.h>

#define MEBIBYTE (1024ull * 1024ull)

static bool require_host(struct call *call)
{
    if (!call->device->virt_capability)
        call->result = MTML_ERROR_NOT_SUPPORTED;
    return call->result == MTML_SUCCESS;
}

static void fill_type(const struct virt_type *type, MtmlVirtType *result)
{
    memset(result, 0, sizeof *result);
    memcpy(result->id, type->id, strnlen(type->id, sizeof result->id - 1));
    fill_text(NULL, &type->name, "name", result->name, sizeof result->name);
    fill_text(NULL, &type->api, "api", result->api, sizeof result->api);
    result->horizontalResolution = type->horizontal_resolution;
    result->verticalResolution = type->vertical_resolution;
    result->frameBuffer = type->frame_buffer;
    result->maxEncodeNum = type->max_encode;
    result->maxDecodeNum = type->max_decode;
    result->maxInstances = type->max_instances;
    result->maxVirtualDisplay = type->max_displays;
}

static unsigned int smaller(uint64_t a, uint64_t b)
{
    return (unsigned int)(a < b ? a : b);
}

/* How many devices of the type the empty card carries. */
static unsigned int most(const struct device *card, const struct virt_type *type)
{
    uint64_t size = type->frame_buffer * MEBIBYTE;

    return size ? smaller(card->memory_total / size, type->max_instances) : type->max_instances;
}

/* How many more fit: the memory that is left decides, and the type's own limit. */
static unsigned int available(const struct device *card, const struct virt_type *type)
{
    uint64_t size = type->frame_buffer * MEBIBYTE;
    uint64_t left = card->memory_total;
    unsigned int same = 0;

    for (unsigned int i = 0; i < card->virt_device_count; i++) {
        const struct virt_type *taken = &sim.machine->virt_types[card->virt_devices[i]->virt_type];
        uint64_t need = taken->frame_buffer * MEBIBYTE;

        left -= need < left ? need : left;
        same += taken == type;
    }
    if (same >= type->max_instances)
        return 0;
    return size ? smaller(left / size, type->max_instances - same) : type->max_instances - same;
}

/* Writes the types of the card, only those still available if so asked; only counts them when TYPES is NULL. */
static void list_types(struct call *call, bool only_available, MtmlVirtType *types, unsigned int capacity,
                       unsigned int *count)
{
    const struct list *list = &call->device->virt_types;
    unsigned int found = 0;

    for (unsigned int i = 0; i < list->count; i++) {
        const struct virt_type *type = &sim.machine->virt_types[list->values[i]];

        if (only_available && available(call->device, type) == 0)
            continue;
        if (types && found < capacity)
            fill_type(type, &types[found]);
        found++;
    }
    if (types && found > capacity)
        call->result = MTML_ERROR_INSUFFICIENT_SIZE;
    if (types && found < capacity)
        memset(&types[found], 0, (capacity - found) * sizeof *types);
    *count = found;
}

MtmlReturn mtmlDeviceCountSupportedVirtTypes(const MtmlDevice *dev, unsigned int *count)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountSupportedVirtTypes, dev, count != NULL) && require_host(&call))
        list_types(&call, false, NULL, 0, count);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetSupportedVirtTypes(const MtmlDevice *dev, MtmlVirtType *types, unsigned int count)
{
    struct call call;
    unsigned int found;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetSupportedVirtTypes, dev, types != NULL) && require_host(&call))
        list_types(&call, false, types, count, &found);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceCountAvailVirtTypes(const MtmlDevice *dev, unsigned int *count)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountAvailVirtTypes, dev, count != NULL) && require_host(&call))
        list_types(&call, true, NULL, 0, count);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetAvailVirtTypes(const MtmlDevice *dev, MtmlVirtType *types, unsigned int count)
{
    struct call call;
    unsigned int found;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetAvailVirtTypes, dev, types != NULL) && require_host(&call))
        list_types(&call, true, types, count, &found);
    return call_leave(&call);
}

/* The card's type of that id; INVALID_ARGUMENT when it has none. */
static const struct virt_type *find_type(struct call *call, const MtmlVirtType *wanted)
{
    const struct list *list = &call->device->virt_types;

    for (unsigned int i = 0; i < list->count; i++) {
        const struct virt_type *type = &sim.machine->virt_types[list->values[i]];

        if (strncmp(type->id, wanted->id, sizeof wanted->id) == 0)
            return type;
    }
    call->result = MTML_ERROR_INVALID_ARGUMENT;
    return NULL;
}

MtmlReturn mtmlDeviceCountAvailVirtDevices(const MtmlDevice *dev, const MtmlVirtType *type, unsigned int *count)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountAvailVirtDevices, dev, type && count) && require_host(&call)) {
        const struct virt_type *found = find_type(&call, type);

        if (found)
            *count = available(call.device, found);
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceCountMaxVirtDevices(const MtmlDevice *dev, const MtmlVirtType *type,
                                         unsigned int *virtDevicesCount)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountMaxVirtDevices, dev, type && virtDevicesCount) &&
        require_host(&call)) {
        const struct virt_type *found = find_type(&call, type);

        if (found)
            *virtDevicesCount = most(call.device, found);
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceCountActiveVirtDevices(const MtmlDevice *dev, unsigned int *count)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountActiveVirtDevices, dev, count != NULL) && require_host(&call))
        *count = call.device->virt_device_count;
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetActiveVirtDeviceUuids(const MtmlDevice *dev, char *uuids, unsigned int entryLength,
                                              unsigned int entryCount)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetActiveVirtDeviceUuids, dev, uuids != NULL) &&
        require_host(&call)) {
        const struct device *card = call.device;
        bool fits = entryCount >= card->virt_device_count && entryLength > 0;

        for (unsigned int i = 0; i < card->virt_device_count; i++)
            fits = fits && entryLength > card->virt_devices[i]->uuid.length;
        if (fits) {
            memset(uuids, 0, (size_t)entryLength * entryCount);
            for (unsigned int i = 0; i < card->virt_device_count; i++)
                fill_text(card->virt_devices[i], &card->virt_devices[i]->uuid, "uuid", uuids + (size_t)i * entryLength,
                          entryLength);
        } else {
            call.result = MTML_ERROR_INSUFFICIENT_SIZE;
        }
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceInitVirtDevice(const MtmlDevice *dev, const char *uuid, MtmlDevice **virtDev)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceInitVirtDevice, dev, uuid && virtDev) && require_host(&call)) {
        struct device *found = NULL;

        for (unsigned int i = 0; i < call.device->virt_device_count && !found; i++)
            if (strcmp(call.device->virt_devices[i]->uuid.bytes, uuid) == 0)
                found = call.device->virt_devices[i];
        if (found)
            call_give_device(&call, found, virtDev);
        else
            call.result = MTML_ERROR_NOT_FOUND;
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceFreeVirtDevice(MtmlDevice *virtDev)
{ SIM_FREES(device, mtmlDeviceFreeVirtDevice, virtDev) }

MtmlReturn mtmlDeviceGetVirtType(const MtmlDevice *virtDev, MtmlVirtType *type)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetVirtType, virtDev, type != NULL))
        fill_type(&sim.machine->virt_types[call.device->virt_type], type);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetPhyDeviceUuid(const MtmlDevice *virtDev, char *uuid, unsigned int length)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetPhyDeviceUuid, virtDev, uuid != NULL))
        call_give_text(&call, &call.device->card->uuid, "uuid", uuid, length);
    return call_leave(&call);
}
