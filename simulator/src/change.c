/* Changes of the machine in use. */

#include "change.h"

#include "../mtml_sim.h"

#include "build.h"
#include "faults.h"
#include "handle.h"
#include "state.h"
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

static const char no_device[] = "the machine has no such card, instance or virtual device";

static const struct key *find_object(const struct machine *machine, unsigned int number, void **object)
{
    if (!machine)
        return NULL;
    if (number == MTML_SIM_MACHINE) {
        *object = (void *)(uintptr_t)machine;
        return machine_keys;
    }
    *object = machine_device(machine, number);
    return *object ? device_keys : NULL;
}

unsigned int change_number(const struct device *device)
{
    switch (device->role) {
    case ROLE_MPC_INSTANCE:
        return MTML_SIM_INSTANCE(device->card->number, device->number);
    case ROLE_VIRT_DEVICE:
        return MTML_SIM_VIRT(device->card->number, device->number);
    case ROLE_CARD:
        break;
    }
    return device->number;
}

const char *change_get(unsigned int number, const char *key, struct output *output)
{
    void *object;
    const struct key *keys = find_object(sim.machine, number, &object);

    return keys ? key_get(sim.machine, keys, object, key, output) : no_device;
}

static bool divides(const void *object, const char *key)
{
    return object != sim.machine && strncmp(key, "mpc_", 4) == 0 && ((const struct device *)object)->role == ROLE_CARD;
}

static const char no_instances[] = "the instances cannot be made";

/* On a copy of the machine's own values, or of the device's. */
static const char *check_copy(const struct key *keys, void *copy, const char *key, const char *text,
                              struct output *output)
{
    const char *problem = key_set(sim.machine, keys, copy, key, text);

    return problem ? problem : key_get(sim.machine, keys, copy, key, output);
}

static const char *check_device(struct device *copy, const char *key, const char *text, struct output *output)
{
    const char *problem = check_copy(device_keys, copy, key, text, output);

    if (!problem && divides(copy, key)) {
        memset(copy->instances, 0, sizeof copy->instances);
        copy->instance_count = 0;
        problem = machine_build_instances(sim.machine, copy) ? NULL : no_instances;
        machine_drop_instances(copy);
    }
    return problem;
}

const char *change_check(unsigned int number, const char *key, const char *text, struct output *output)
{
    void *object;
    const struct key *keys = find_object(sim.machine, number, &object);
    size_t size = keys == machine_keys ? sizeof(struct machine) : sizeof(struct device);
    void *copy = keys ? malloc(size) : NULL;
    const char *problem = NULL;

    if (!copy)
        return keys ? "out of memory" : no_device;
    memcpy(copy, object, size);
    if (keys == machine_keys && strcmp(key, "faults") == 0)
        problem = faults_check(text, sim.machine->device_count);
    if (!problem)
        problem = keys == machine_keys ? check_copy(keys, copy, key, text, output)
                                       : check_device(copy, key, text, output);
    free(copy);
    return problem;
}

/* What a change brings about beyond the value itself. */
static const char *follow_up(void *object, const char *key)
{
    if (object == sim.machine) {
        if (strcmp(key, "missing") == 0)
            symbols_hide(&sim.machine->missing);
        if (strcmp(key, "faults") == 0)
            return faults_set(sim.machine->faults.bytes, sim.machine->device_count);
        if (strcmp(key, "latency_ns") == 0)
            sim.latency_ns = sim.machine->latency_ns;
        return NULL;
    }
    if (divides(object, key)) {
        handle_kill_all("the handle is dangling: the simulated machine was changed below it", DEATH_FROM_OUTSIDE);
        sim.system = NULL;
        sim.stale = sim.references > 0;
        if (!machine_build_instances(sim.machine, object))
            return no_instances;
    }
    return NULL;
}

const char *change_set(unsigned int number, const char *key, const char *text)
{
    static char before[VALUE_SIZE];
    static char after[VALUE_SIZE];
    struct output old = {before, sizeof before, 0};
    struct output new = {after, sizeof after, 0};
    void *object;
    const struct key *keys = find_object(sim.machine, number, &object);
    const char *problem;

    if (!keys)
        return no_device;
    if (object == sim.machine && strcmp(key, "faults") == 0 &&
        (problem = faults_check(text, sim.machine->device_count)))
        return problem;
    problem = key_get(sim.machine, keys, object, key, &old);
    if (!problem)
        problem = key_set(sim.machine, keys, object, key, text);
    if (problem)
        return problem;
    /* Handles outlast what changes nothing. */
    key_get(sim.machine, keys, object, key, &new);
    if (object != sim.machine && strcmp(before, after) == 0)
        return NULL;
    problem = follow_up(object, key);
    if (problem) {
        key_set(sim.machine, keys, object, key, before);
        follow_up(object, key);
    }
    return problem;
}

const char *change_restore(unsigned int number, const char *key)
{
    static char value[VALUE_SIZE];
    struct output output = {value, sizeof value, 0};
    struct machine *pristine;
    const struct key *keys;
    const char *problem;
    void *object;

    if (!find_object(sim.machine, number, &object))
        return no_device;
    pristine = machine_build(sim.machine->path, sim.machine->text, sim.machine->settings);
    if (!pristine)
        return "the profile cannot be read again";
    keys = find_object(pristine, number, &object);
    /* An instance that the profile does not begin with is like its card. */
    if (!keys)
        keys = find_object(pristine, number & 0xff, &object);
    problem = key_get(pristine, keys, object, key, &output);
    machine_free(pristine);
    return problem ? problem : change_set(number, key, value);
}
