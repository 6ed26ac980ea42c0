/* MPC: a card that is divided into instances. */

#include "build.h"
#include "call.h"
#include "outside.h"

#include <string.h>

static const char after_change[] = "the handle is dangling: it is from before a change of the MPC configuration";

static void fill_profile(const struct mpc_profile *profile, MtmlMpcProfile *result)
{
    memset(result, 0, sizeof *result);
    result->id = profile->id;
    result->coreCount = profile->cores;
    result->memorySizeMB = profile->memory;
    fill_text(NULL, &profile->name, "name", result->name, sizeof result->name);
}

static void fill_configuration(const struct mpc_configuration *configuration, MtmlMpcConfiguration *result)
{
    memset(result, 0, sizeof *result);
    result->id = configuration->id;
    fill_text(NULL, &configuration->name, "name", result->name, sizeof result->name);
    for (unsigned int i = 0; i < MTML_MPC_CONF_MAX_PROF_NUM; i++)
        result->profileId[i] =
            i < configuration->profiles.count ? (int)configuration->profiles.values[i] : -1;
}

static bool require_parent(struct call *call)
{
    if (call->device->role != ROLE_CARD || call->device->mpc_mode != MTML_DEVICE_MPC_ENABLE)
        call->result = MTML_ERROR_NOT_SUPPORTED;
    return call->result == MTML_SUCCESS;
}

static bool require_instance(struct call *call)
{
    if (call->device->role != ROLE_MPC_INSTANCE)
        call->result = MTML_ERROR_NOT_SUPPORTED;
    return call->result == MTML_SUCCESS;
}

/* Whether the caller's array takes a list. */
static bool require_room(struct call *call, const struct list *list, unsigned int count)
{
    if (count < list->count)
        call->result = MTML_ERROR_INSUFFICIENT_SIZE;
    return call->result == MTML_SUCCESS;
}

static bool in_list(const struct list *list, uint32_t value)
{
    for (unsigned int i = 0; i < list->count; i++)
        if (list->values[i] == value)
            return true;
    return false;
}

/* ==== Changes ==== */

/* The configuration first: the mode needs one that the card has. */
static const char *const told_keys[] = {"mpc_configuration", "mpc_mode", NULL};

/* After this the numbering of devices may be another one, so that no handle can be trusted. */
static void invalidate(void)
{
    handle_kill_all(after_change, DEATH_BY_PROGRAM);
    sim.system = NULL;
    sim.stale = true;
}

static bool rebuild(struct call *call, struct device *card)
{
    if (!machine_build_instances(sim.machine, card))
        call->result = MTML_ERROR_DRIVER_FAILURE;
    return call->result == MTML_SUCCESS;
}

static bool set_mode(struct call *call, struct device *card, MtmlMpcMode mode)
{
    /* What a card starts with is one instance that owns it whole, if the profile lists such a configuration first. */
    if (mode == MTML_DEVICE_MPC_ENABLE && card->mpc_mode != mode)
        card->mpc_configuration = list_value(&card->mpc_configurations, 0, card->mpc_configuration);
    card->mpc_mode = mode;
    return rebuild(call, card);
}

static bool require_divisible(struct call *call, const struct device *card)
{
    if (!card->mpc_capability)
        call->result = MTML_ERROR_NOT_SUPPORTED;
    return call->result == MTML_SUCCESS;
}

MtmlReturn mtmlDeviceSetMpcMode(const MtmlDevice *device, MtmlMpcMode mode)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceSetMpcMode, device,
                          (unsigned int)mode <= MTML_DEVICE_MPC_ENABLE) &&
        require_divisible(&call, call.device)) {
        struct device *card = call.device;

        invalidate();
        if (set_mode(&call, card, mode)) {
            outside_tell(&card, 1, told_keys);
            call_event(&call, MTML_LOG_LEVEL_WARNING, "MPC of device %u is %s", card->number, mode ? "on" : "off");
        }
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceSetMpcConfiguration(const MtmlDevice *parentDevice, unsigned int id)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceSetMpcConfiguration, parentDevice, true) && require_parent(&call)) {
        struct device *card = call.device;

        if (in_list(&card->mpc_configurations, id)) {
            invalidate();
            card->mpc_configuration = id;
            if (rebuild(&call, card)) {
                outside_tell(&card, 1, told_keys);
                call_event(&call, MTML_LOG_LEVEL_WARNING, "MPC configuration of device %u is %u", card->number, id);
            }
        } else {
            call.result = MTML_ERROR_INVALID_ARGUMENT;
        }
    }
    return call_leave(&call);
}

static bool configure(struct call *call, struct device *card, unsigned int id)
{
    if (card->role != ROLE_CARD || !require_divisible(call, card)) {
        call->result = MTML_ERROR_NOT_SUPPORTED;
        return false;
    }
    if (!in_list(&card->mpc_configurations, id)) {
        call->result = MTML_ERROR_INVALID_ARGUMENT;
        return false;
    }
    card->mpc_mode = MTML_DEVICE_MPC_ENABLE;
    card->mpc_configuration = id;
    return rebuild(call, card);
}

MtmlReturn mtmlLibrarySetMpcConfigurationInBatch(const MtmlLibrary *lib, unsigned int count, MtmlDevice **devices,
                                                 unsigned int *mpcConfigIds)
{
    struct call call;

    if (call_enter_library(&call, FUNCTION_mtmlLibrarySetMpcConfigurationInBatch, lib,
                           count > 0 && count <= SIM_MAX_DEVICES && devices && mpcConfigIds)) {
        struct device *cards[SIM_MAX_DEVICES];
        unsigned int done = 0;

        for (unsigned int i = 0; i < count && call.result == MTML_SUCCESS; i++) {
            cards[i] = call_device(&call, devices[i]);
            if (cards[i] && call_reach(&call, cards[i]) &&
                cards[i]->unsupported.member[FUNCTION_mtmlLibrarySetMpcConfigurationInBatch])
                call.result = MTML_ERROR_NOT_SUPPORTED;
        }
        while (done < count && call.result == MTML_SUCCESS && configure(&call, cards[done], mpcConfigIds[done]))
            done++;
        /* A batch that fails leaves the cards it has touched with MPC off. */
        for (unsigned int i = 0; done < count && i < done; i++) {
            cards[i]->mpc_mode = MTML_DEVICE_MPC_DISABLE;
            machine_drop_instances(cards[i]);
        }
        if (done > 0) {
            invalidate();
            outside_tell(cards, done, told_keys);
        }
    }
    return call_leave(&call);
}

/* ==== What a card can be divided into ==== */

MtmlReturn mtmlDeviceGetMpcMode(const MtmlDevice *device, MtmlMpcMode *currentMode)
{ SIM_GIVES(device, mtmlDeviceGetMpcMode, device, currentMode, (MtmlMpcMode)call.device->mpc_mode) }

MtmlReturn mtmlDeviceCountSupportedMpcProfiles(const MtmlDevice *parentDevice, unsigned int *count)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountSupportedMpcProfiles, parentDevice, count != NULL) &&
        require_parent(&call))
        *count = call.device->mpc_profiles.count;
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetSupportedMpcProfiles(const MtmlDevice *parentDevice, unsigned int count, MtmlMpcProfile *info)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetSupportedMpcProfiles, parentDevice, info != NULL) &&
        require_parent(&call) && require_room(&call, &call.device->mpc_profiles, count)) {
        const struct list *ids = &call.device->mpc_profiles;

        memset(info, 0, count * sizeof *info);
        for (unsigned int i = 0; i < ids->count; i++)
            fill_profile(machine_mpc_profile(sim.machine, ids->values[i]), &info[i]);
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceCountSupportedMpcConfigurations(const MtmlDevice *parentDevice, unsigned int *count)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountSupportedMpcConfigurations, parentDevice, count != NULL) &&
        require_parent(&call))
        *count = call.device->mpc_configurations.count;
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetSupportedMpcConfigurations(const MtmlDevice *parentDevice, unsigned int count,
                                                   MtmlMpcConfiguration *info)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetSupportedMpcConfigurations, parentDevice, info != NULL) &&
        require_parent(&call) && require_room(&call, &call.device->mpc_configurations, count)) {
        const struct list *ids = &call.device->mpc_configurations;

        memset(info, 0, count * sizeof *info);
        for (unsigned int i = 0; i < ids->count; i++)
            fill_configuration(machine_mpc_configuration(sim.machine, ids->values[i]), &info[i]);
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMpcConfiguration(const MtmlDevice *parentDevice, MtmlMpcConfiguration *config)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMpcConfiguration, parentDevice, config != NULL) &&
        require_parent(&call))
        fill_configuration(machine_mpc_configuration(sim.machine, call.device->mpc_configuration), config);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMpcConfigurationByName(const MtmlDevice *parentDevice, const char *configName,
                                               MtmlMpcConfiguration *config)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMpcConfigurationByName, parentDevice, configName && config) &&
        require_parent(&call)) {
        const struct list *ids = &call.device->mpc_configurations;
        const struct mpc_configuration *found = NULL;

        for (unsigned int i = 0; i < ids->count && !found; i++) {
            const struct mpc_configuration *candidate = machine_mpc_configuration(sim.machine, ids->values[i]);

            if (strcmp(candidate->name.bytes, configName) == 0)
                found = candidate;
        }
        if (found)
            fill_configuration(found, config);
        else
            call.result = MTML_ERROR_NOT_FOUND;
    }
    return call_leave(&call);
}

/* ==== Instances ==== */

/* Hands out the instances of a profile, or all, when ARRAY is not NULL; only counts them otherwise. */
static void list_instances(struct call *call, const unsigned int *profile, MtmlDevice **array, unsigned int capacity,
                           unsigned int *count)
{
    struct device *card = call->device;

    *count = 0;
    for (unsigned int i = 0; i < card->instance_count; i++) {
        if (!card->instances[i]->visible || (profile && card->instances[i]->mpc_profile != *profile))
            continue;
        if (array && *count < capacity)
            call_give_device(call, card->instances[i], &array[*count]);
        (*count)++;
    }
    if (array && *count > capacity)
        call->result = MTML_ERROR_INSUFFICIENT_SIZE;
    if (array && *count < capacity)
        memset(&array[*count], 0, (capacity - *count) * sizeof *array);
}

static bool require_profile(struct call *call, unsigned int id)
{
    if (!in_list(&call->device->mpc_profiles, id))
        call->result = MTML_ERROR_INVALID_ARGUMENT;
    return call->result == MTML_SUCCESS;
}

MtmlReturn mtmlDeviceCountMpcInstancesByProfileId(const MtmlDevice *parentDevice, unsigned int profileId,
                                                  unsigned int *count)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountMpcInstancesByProfileId, parentDevice, count != NULL) &&
        require_parent(&call) && require_profile(&call, profileId))
        list_instances(&call, &profileId, NULL, 0, count);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMpcInstancesByProfileId(const MtmlDevice *parentDevice, unsigned int profileId,
                                                unsigned int count, MtmlDevice **mpcInstance)
{
    struct call call;
    unsigned int found;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMpcInstancesByProfileId, parentDevice, mpcInstance != NULL) &&
        require_parent(&call) && require_profile(&call, profileId))
        list_instances(&call, &profileId, mpcInstance, count, &found);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceCountMpcInstances(const MtmlDevice *parentDevice, unsigned int *count)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountMpcInstances, parentDevice, count != NULL) &&
        require_parent(&call))
        list_instances(&call, NULL, NULL, 0, count);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMpcInstances(const MtmlDevice *parentDevice, unsigned int count, MtmlDevice **mpcInstance)
{
    struct call call;
    unsigned int found;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMpcInstances, parentDevice, mpcInstance != NULL) &&
        require_parent(&call))
        list_instances(&call, NULL, mpcInstance, count, &found);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMpcInstanceByIndex(const MtmlDevice *parentDevice, unsigned int index,
                                           MtmlDevice **mpcInstance)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMpcInstanceByIndex, parentDevice, mpcInstance != NULL) &&
        require_parent(&call)) {
        if (index < call.device->instance_count && call.device->instances[index]->visible)
            call_give_device(&call, call.device->instances[index], mpcInstance);
        else
            call.result = MTML_ERROR_INVALID_ARGUMENT;
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMpcParentDevice(const MtmlDevice *mpcInstance, MtmlDevice **parentDevice)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMpcParentDevice, mpcInstance, parentDevice != NULL) &&
        require_instance(&call)) {
        if (call.device->card->visible)
            call_give_device(&call, call.device->card, parentDevice);
        else
            call.result = MTML_ERROR_UNKNOWN;
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMpcProfileInfo(const MtmlDevice *mpcInstance, MtmlMpcProfile *profileInfo)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMpcProfileInfo, mpcInstance, profileInfo != NULL) &&
        require_instance(&call))
        fill_profile(machine_mpc_profile(sim.machine, call.device->mpc_profile), profileInfo);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMpcInstanceIndex(const MtmlDevice *mpcInstance, unsigned int *index)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMpcInstanceIndex, mpcInstance, index != NULL) &&
        require_instance(&call))
        *index = call.device->number;
    return call_leave(&call);
}
