/* Makes a machine from the entries of its profile. */

#include "build.h"

#include "complain.h"
#include "faults.h"
#include "keys.h"
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEBIBYTE (1024ull * 1024ull)

/* ==== Instances and virtual devices ==== */

static bool complain_about(const struct machine *machine, const struct device *card, const char *problem)
{
    complain("%s: [device.%u]: %s", machine->path, card->number, problem);
    return false;
}

/* A UUID that stays the same from run to run. */
static void derive_uuid(struct text *uuid, const struct text *seed, unsigned int first, unsigned int second)
{
    uint64_t halves[2];

    for (unsigned int half = 0; half < 2; half++) {
        uint64_t hash = 14695981039346656037ull + half;

        for (unsigned int i = 0; i < seed->length; i++)
            hash = (hash ^ (unsigned char)seed->bytes[i]) * 1099511628211ull;
        hash = (hash ^ first) * 1099511628211ull;
        halves[half] = (hash ^ second) * 1099511628211ull;
    }
    uuid->length = (unsigned int)snprintf(
        uuid->bytes, sizeof uuid->bytes, "%08x-%04x-%04x-%04x-%012llx", (unsigned int)(halves[0] >> 32),
        (unsigned int)(halves[0] >> 16 & 0xffff), (unsigned int)(halves[0] & 0xffff),
        (unsigned int)(halves[1] >> 48), (unsigned long long)(halves[1] & 0xffffffffffffull));
}

/* A device that has the card's values but none of what hangs on the card. */
static struct device *new_child(struct device *card, enum role role, unsigned int number)
{
    struct device *child = malloc(sizeof *child);

    if (!child)
        return NULL;
    *child = *card;
    child->role = role;
    child->number = number;
    child->card = card;
    child->calls = 0;
    child->resets = 0;
    child->visible = true;
    child->instance_count = 0;
    child->virt_device_count = 0;
    child->mpc_capability = false;
    child->mpc_mode = MTML_DEVICE_MPC_DISABLE;
    child->virt_capability = false;
    child->mtlink_capability = false;
    child->lost.result = MTML_SUCCESS;
    memset(child->handles, 0, sizeof child->handles);
    memset(child->instances, 0, sizeof child->instances);
    memset(child->virt_devices, 0, sizeof child->virt_devices);
    child->encoder_sessions.count = 0;
    child->decoder_sessions.count = 0;
    return child;
}

static void set_memory(struct device *child, const struct device *card, uint64_t total)
{
    child->memory_total = total;
    /* The same share of the memory as on the card. */
    child->memory_used = card->memory_total ? card->memory_used / 1024 * total / card->memory_total * 1024 : 0;
}

bool machine_build_instances(struct machine *machine, struct device *card)
{
    const struct mpc_configuration *configuration;

    machine_drop_instances(card);
    for (unsigned int i = 0; i < card->mpc_configurations.count; i++)
        if (!machine_mpc_configuration(machine, card->mpc_configurations.values[i]))
            return complain_about(machine, card, "mpc_configurations: one has no section [mpc_configuration.ID]");
    for (unsigned int i = 0; i < card->mpc_profiles.count; i++)
        if (!machine_mpc_profile(machine, card->mpc_profiles.values[i]))
            return complain_about(machine, card, "mpc_profiles: one has no section [mpc_profile.ID]");
    if (card->mpc_mode == MTML_DEVICE_MPC_DISABLE)
        return true;
    configuration = machine_mpc_configuration(machine, card->mpc_configuration);
    if (!configuration || configuration->profiles.count > SIM_MAX_INSTANCES)
        return complain_about(machine, card, "mpc_configuration: no usable section [mpc_configuration.ID] for it");
    for (unsigned int i = 0; i < configuration->profiles.count; i++) {
        const struct mpc_profile *profile = machine_mpc_profile(machine, configuration->profiles.values[i]);
        struct device *instance = new_child(card, ROLE_MPC_INSTANCE, i);
        char section[64];

        if (!profile || !instance) {
            free(instance);
            return complain_about(machine, card, profile ? "out of memory" : "mpc_configuration: unknown profile");
        }
        card->instances[card->instance_count++] = instance;
        instance->mpc_profile = profile->id;
        instance->gpu_cores = profile->cores;
        set_memory(instance, card, profile->memory * MEBIBYTE);
        derive_uuid(&instance->uuid, &card->uuid, configuration->id, i);
        snprintf(section, sizeof section, "device.%u.instance.%u", card->number, i);
        if (!profile_apply(machine, instance, section, LAYER_ALL))
            return false;
    }
    return true;
}

/* The virtual devices are those that the profile has sections for. */
static bool build_virt_devices(struct machine *machine, struct device *card)
{
    for (unsigned int i = 0; i < SIM_MAX_VIRT; i++) {
        struct device *child;
        char section[64];

        snprintf(section, sizeof section, "device.%u.virt.%u", card->number, i);
        if (!profile_has_section(machine, section))
            break;
        child = new_child(card, ROLE_VIRT_DEVICE, i);
        if (!child)
            return complain_about(machine, card, "out of memory");
        card->virt_devices[card->virt_device_count++] = child;
        child->virt_role = MTML_VIRT_ROLE_HOST_VIRTDEVICE;
        derive_uuid(&child->uuid, &card->uuid, UINT32_MAX, i);
        /* Twice: the type decides about values that the section may then replace. */
        if (!profile_apply(machine, child, section, LAYER_ALL))
            return false;
        if (child->virt_type >= machine->virt_type_count)
            return complain_about(machine, card, "a virtual device needs a virt_type");
        set_memory(child, card, machine->virt_types[child->virt_type].frame_buffer * MEBIBYTE);
        child->encoder_capacity = machine->virt_types[child->virt_type].max_encode;
        child->decoder_capacity = machine->virt_types[child->virt_type].max_decode;
        if (!profile_apply(machine, child, section, LAYER_ALL))
            return false;
    }
    return true;
}

/* ==== Definitions and cards ==== */

static struct virt_type *add_virt_type(struct machine *machine, const char *id)
{
    struct virt_type *type;

    for (unsigned int i = 0; i < machine->virt_type_count; i++)
        if (strcmp(machine->virt_types[i].id, id) == 0)
            return &machine->virt_types[i];
    if (machine->virt_type_count == SIM_MAX_DEFINITIONS)
        return NULL;
    type = &machine->virt_types[machine->virt_type_count++];
    snprintf(type->id, sizeof type->id, "%s", id);
    return type;
}

static struct mpc_profile *add_mpc_profile(struct machine *machine, unsigned int id)
{
    for (unsigned int i = 0; i < machine->mpc_profile_count; i++)
        if (machine->mpc_profiles[i].id == id)
            return &machine->mpc_profiles[i];
    if (machine->mpc_profile_count == SIM_MAX_DEFINITIONS)
        return NULL;
    machine->mpc_profiles[machine->mpc_profile_count].id = id;
    return &machine->mpc_profiles[machine->mpc_profile_count++];
}

static struct mpc_configuration *add_mpc_configuration(struct machine *machine, unsigned int id)
{
    for (unsigned int i = 0; i < machine->mpc_configuration_count; i++)
        if (machine->mpc_configurations[i].id == id)
            return &machine->mpc_configurations[i];
    if (machine->mpc_configuration_count == SIM_MAX_DEFINITIONS)
        return NULL;
    machine->mpc_configurations[machine->mpc_configuration_count].id = id;
    return &machine->mpc_configurations[machine->mpc_configuration_count++];
}

/* Everything that devices refer to, and the set of devices itself. */
static bool apply_definitions(struct machine *machine)
{
    bool given[SIM_MAX_DEVICES] = {false};
    unsigned int count = 0;

    for (unsigned int i = 0; i < machine->entry_count; i++) {
        const struct entry *entry = &machine->entries[i];
        struct place place;
        const struct key *keys = NULL;
        void *object = NULL;

        if (!profile_place(entry->section, &place))
            continue;
        if (place.kind == PLACE_MACHINE) {
            keys = machine_keys;
            object = machine;
        } else if (place.kind == PLACE_VIRT_TYPE) {
            keys = virt_type_keys;
            object = add_virt_type(machine, place.id);
        } else if (place.kind == PLACE_MPC_PROFILE) {
            keys = mpc_profile_keys;
            object = add_mpc_profile(machine, place.number);
        } else if (place.kind == PLACE_MPC_CONFIGURATION) {
            keys = mpc_configuration_keys;
            object = add_mpc_configuration(machine, place.number);
        } else if (place.kind == PLACE_DEVICE && entry->line) {
            given[place.number] = true;
        }
        if (keys && !object)
            return profile_complain(entry, "too many sections of this kind");
        if (keys && !profile_apply_entry(machine, entry, keys, object))
            return false;
    }
    for (unsigned int i = 0; i < SIM_MAX_DEVICES; i++) {
        if (given[i] && i != count) {
            complain("%s: [device.%u] is missing, but there is a [device.%u]", machine->path, count, i);
            return false;
        }
        count += given[i];
    }
    machine->device_count = count;
    return true;
}

static bool build_device(struct machine *machine, unsigned int number, const struct device *defaults)
{
    struct device *device = malloc(sizeof *device);
    char section[32];

    if (!device) {
        complain("%s: out of memory", machine->path);
        return false;
    }
    *device = *defaults;
    machine->devices[number] = device;
    device->number = number;
    device->card = device;
    snprintf(section, sizeof section, "device.%u", number);
    /* What the profile says of all cards is more than what its base says of one. */
    return profile_apply(machine, device, section, LAYER_BASE) &&
           (!machine->base || profile_apply(machine, device, "device", LAYER_OWN)) &&
           profile_apply(machine, device, section, LAYER_OWN | LAYER_SETTINGS) &&
           profile_apply(machine, device, "device.*", LAYER_SETTINGS);
}

/* What all cards have in common is read once. */
static bool build_devices(struct machine *machine)
{
    struct device *defaults = calloc(1, sizeof *defaults);
    bool good;

    if (!defaults) {
        complain("%s: out of memory", machine->path);
        return false;
    }
    defaults->role = ROLE_CARD;
    defaults->visible = true;
    good = profile_apply(machine, defaults, "device", machine->base ? LAYER_BASE : LAYER_OWN);
    for (unsigned int i = 0; good && i < machine->device_count; i++)
        good = build_device(machine, i, defaults);
    free(defaults);
    return good;
}

/* Sections and settings that name a card, instance or virtual device which the machine does not have. */
static bool check_places(struct machine *machine)
{
    for (unsigned int i = 0; i < machine->entry_count; i++) {
        const struct entry *entry = &machine->entries[i];
        struct place place;
        const struct device *card;

        if (!profile_place(entry->section, &place) || place.kind < PLACE_DEVICE || place.kind > PLACE_VIRT_DEVICE)
            continue;
        if (place.number >= machine->device_count)
            return profile_complain(entry, "the profile has no such device");
        card = machine->devices[place.number];
        if (place.kind == PLACE_VIRT_DEVICE && place.child >= card->virt_device_count)
            return profile_complain(entry, "the profile's virtual devices are not numbered from 0 without gaps");
        /* Instances come and go with the configuration, so their sections may wait for it: only keys are checked. */
        if (place.kind == PLACE_INSTANCE && *entry->key) {
            struct device *trial = malloc(sizeof *trial);
            const char *problem = "out of memory";

            if (trial) {
                *trial = *card;
                problem = key_set(machine, device_keys, trial, entry->key, entry->value);
                free(trial);
            }
            if (problem)
                return profile_complain(entry, problem);
        }
    }
    return true;
}

struct machine *machine_build(const char *path, const char *text, const char *settings)
{
    struct machine *machine = calloc(1, sizeof *machine);
    bool good;

    if (machine) {
        machine->path = strdup(path);
        machine->text = strdup(text);
        machine->settings = strdup(settings ? settings : "");
    }
    if (!machine || !machine->path || !machine->text || !machine->settings) {
        machine_free(machine);
        complain("%s: out of memory", path);
        return NULL;
    }
    good = profile_read(machine, text, settings) && apply_definitions(machine) && build_devices(machine);
    for (unsigned int i = 0; good && i < machine->device_count; i++)
        good = build_virt_devices(machine, machine->devices[i]) &&
               machine_build_instances(machine, machine->devices[i]);
    if (good && !machine->library_version.length) {
        complain("%s: [machine] library_version: missing", path);
        good = false;
    }
    if (good) {
        const char *problem = faults_check(machine->faults.bytes, machine->device_count);

        if (problem)
            complain("%s: [machine] faults: %s", path, problem);
        good = !problem;
    }
    if (!good || !check_places(machine)) {
        machine_free(machine);
        return NULL;
    }
    return machine;
}

/* ==== Later ==== */

bool machine_reboot(struct machine *machine)
{
    for (unsigned int i = 0; i < machine->device_count; i++) {
        struct device *card = machine->devices[i];

        card->ecc_mode = card->ecc_pending_mode;
        card->retired_pages_pending = false;
        for (unsigned int error = 0; error < MTML_MEMORY_ERROR_TYPE_COUNT; error++)
            card->ecc_errors[error][MTML_VOLATILE_ECC] = 0;
        card->mpc_mode = MTML_DEVICE_MPC_DISABLE;
        if (!machine_build_instances(machine, card))
            return false;
    }
    return true;
}
