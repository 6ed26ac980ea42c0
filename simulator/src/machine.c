/* The simulated machine: its cards, and the instances and virtual devices below them. */

#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEBIBYTE (1024ull * 1024ull)

const struct mpc_profile *machine_mpc_profile(const struct machine *machine, unsigned int id)
{
    for (unsigned int i = 0; i < machine->mpc_profile_count; i++)
        if (machine->mpc_profiles[i].id == id)
            return &machine->mpc_profiles[i];
    return NULL;
}

const struct mpc_configuration *machine_mpc_configuration(const struct machine *machine, unsigned int id)
{
    for (unsigned int i = 0; i < machine->mpc_configuration_count; i++)
        if (machine->mpc_configurations[i].id == id)
            return &machine->mpc_configurations[i];
    return NULL;
}

static bool complain_about(const struct machine *machine, const struct device *card, const char *problem)
{
    sim_complain("%s: [device.%u]: %s", machine->path, card->number, problem);
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

void machine_drop_instances(struct device *card)
{
    for (unsigned int i = 0; i < card->instance_count; i++) {
        free(card->instances[i]);
        card->instances[i] = NULL;
    }
    card->instance_count = 0;
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
        if (!profile_apply(machine, instance, section))
            return false;
    }
    return true;
}

/* The virtual devices are those that the profile has sections for. */
static bool has_section(const struct machine *machine, const char *section)
{
    for (unsigned int i = 0; i < machine->entry_count; i++)
        if (machine->entries[i].line && strcmp(machine->entries[i].section, section) == 0)
            return true;
    return false;
}

bool machine_build_virt_devices(struct machine *machine, struct device *card)
{
    for (unsigned int i = 0; i < SIM_MAX_VIRT; i++) {
        struct device *child;
        char section[64];

        snprintf(section, sizeof section, "device.%u.virt.%u", card->number, i);
        if (!has_section(machine, section))
            break;
        child = new_child(card, ROLE_VIRT_DEVICE, i);
        if (!child)
            return complain_about(machine, card, "out of memory");
        card->virt_devices[card->virt_device_count++] = child;
        child->virt_role = MTML_VIRT_ROLE_HOST_VIRTDEVICE;
        derive_uuid(&child->uuid, &card->uuid, UINT32_MAX, i);
        /* Twice: the type decides about values that the section may then replace. */
        if (!profile_apply(machine, child, section))
            return false;
        if (child->virt_type >= machine->virt_type_count)
            return complain_about(machine, card, "a virtual device needs a virt_type");
        set_memory(child, card, machine->virt_types[child->virt_type].frame_buffer * MEBIBYTE);
        child->encoder_capacity = machine->virt_types[child->virt_type].max_encode;
        child->decoder_capacity = machine->virt_types[child->virt_type].max_decode;
        if (!profile_apply(machine, child, section))
            return false;
    }
    return true;
}

void machine_free(struct machine *machine)
{
    if (!machine)
        return;
    for (unsigned int i = 0; i < machine->device_count; i++) {
        struct device *card = machine->devices[i];

        if (!card)
            continue;
        machine_drop_instances(card);
        for (unsigned int k = 0; k < card->virt_device_count; k++)
            free(card->virt_devices[k]);
        free(card);
    }
    for (unsigned int i = 0; i < machine->entry_count; i++) {
        free(machine->entries[i].section);
        free(machine->entries[i].key);
        free(machine->entries[i].value);
    }
    free(machine->entries);
    free(machine->path);
    free(machine);
}

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

struct device *machine_visible(const struct machine *machine, unsigned int index)
{
    for (unsigned int i = 0; i < machine->device_count; i++) {
        struct device *card = machine->devices[i];

        if (card->visible && index-- == 0)
            return card;
        for (unsigned int k = 0; k < card->instance_count; k++)
            if (card->instances[k]->visible && index-- == 0)
                return card->instances[k];
    }
    return NULL;
}

unsigned int machine_count_visible(const struct machine *machine)
{
    unsigned int count = 0;

    while (machine_visible(machine, count))
        count++;
    return count;
}

struct device *machine_device(const struct machine *machine, unsigned int number)
{
    unsigned int card_number = number & 0xff;
    unsigned int instance = number >> 8 & 0xff;
    unsigned int virt = number >> 16 & 0xff;
    struct device *card;

    if (number >> 24 || card_number >= machine->device_count)
        return NULL;
    card = machine->devices[card_number];
    if (instance && virt)
        return NULL;
    if (instance)
        return instance <= card->instance_count ? card->instances[instance - 1] : NULL;
    if (virt)
        return virt <= card->virt_device_count ? card->virt_devices[virt - 1] : NULL;
    return card;
}
