/* The simulated machine: what it has, and its end. */

#include "machine.h"

#include "profile.h"

#include <stdlib.h>

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

void machine_drop_instances(struct device *card)
{
    for (unsigned int i = 0; i < card->instance_count; i++) {
        free(card->instances[i]);
        card->instances[i] = NULL;
    }
    card->instance_count = 0;
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
    profile_free(machine);
    free(machine->path);
    free(machine->text);
    free(machine->settings);
    free(machine->base);
    free(machine);
}
