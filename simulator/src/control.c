/* The control functions of mtml_sim.h. */

#include "../mtml_sim.h"

#include "build.h"
#include "complain.h"
#include "environment.h"
#include "faults.h"
#include "handle.h"
#include "keys.h"
#include "state.h"
#include "symbols.h"
#include "watch.h"

#include <string.h>

unsigned int mtmlSimGetLibraryReferences(void)
{
    unsigned int references;

    sim_lock();
    references = sim.references;
    sim_unlock();
    return references;
}

unsigned int mtmlSimGetHandleCount(void)
{
    unsigned int count;

    sim_lock();
    count = (unsigned int)handle_count();
    sim_unlock();
    return count;
}

long long mtmlSimGetCallCount(const char *name)
{
    enum function function = name ? function_find(name, strlen(name)) : FUNCTION_COUNT;
    long long count = -1;

    sim_lock();
    if (!name)
        count = (long long)sim.total;
    else if (function != FUNCTION_COUNT)
        count = (long long)sim.counts[function];
    sim_unlock();
    return count;
}

void mtmlSimResetCallCounts(void)
{
    sim_lock();
    memset(sim.counts, 0, sizeof sim.counts);
    sim.total = 0;
    sim_unlock();
}

static const struct key *find_object(unsigned int number, void **object)
{
    if (!sim.machine)
        return NULL;
    if (number == MTML_SIM_MACHINE) {
        *object = sim.machine;
        return machine_keys;
    }
    *object = machine_device(sim.machine, number);
    return *object ? device_keys : NULL;
}

/* What a change brings about beyond the value itself. */
static const char *follow_up(void *object, const char *key)
{
    if (object == sim.machine) {
        if (strcmp(key, "missing") == 0)
            symbols_hide(&sim.machine->missing);
        if (strcmp(key, "faults") == 0)
            return faults_set(sim.machine->faults.bytes);
        if (strcmp(key, "latency_ns") == 0)
            sim.latency_ns = sim.machine->latency_ns;
        return NULL;
    }
    if (strncmp(key, "mpc_", 4) == 0 && ((struct device *)object)->role == ROLE_CARD) {
        handle_kill_all("the handle is dangling: the simulated machine was changed below it");
        sim.system = NULL;
        sim.stale = sim.references > 0;
        if (!machine_build_instances(sim.machine, object))
            return "the instances cannot be made";
    }
    return NULL;
}

int mtmlSimSet(unsigned int device, const char *key, const char *value)
{
    const char *problem = "there is no such device";
    const struct key *keys;
    void *object;

    sim_lock();
    keys = find_object(device, &object);
    if (!key || !value)
        problem = "NULL was passed";
    else if (keys)
        problem = key_set(sim.machine, keys, object, key, value);
    if (!problem)
        problem = follow_up(object, key);
    sim_unlock();
    if (problem)
        complain("mtmlSimSet(0x%x, \"%s\", \"%s\"): %s", device, key ? key : "", value ? value : "", problem);
    return problem ? -1 : 0;
}

int mtmlSimGet(unsigned int device, const char *key, char *buffer, size_t size)
{
    struct output output = {buffer, size, 0};
    const char *problem = "there is no such device";
    const struct key *keys;
    void *object;

    if (!key || !buffer)
        return -1;
    sim_lock();
    keys = find_object(device, &object);
    if (keys)
        problem = key_get(sim.machine, keys, object, key, &output);
    sim_unlock();
    return problem || output.length >= size ? -1 : 0;
}

int mtmlSimSetFaults(const char *text)
{
    const char *problem;

    sim_lock();
    problem = faults_set(text ? text : "");
    sim_unlock();
    if (problem)
        complain("mtmlSimSetFaults(\"%s\"): %s", text, problem);
    return problem ? -1 : 0;
}

int mtmlSimAddFaults(const char *text)
{
    const char *problem;

    sim_lock();
    problem = text ? faults_add(text) : "NULL was passed";
    sim_unlock();
    if (problem)
        complain("mtmlSimAddFaults(\"%s\"): %s", text ? text : "", problem);
    return problem ? -1 : 0;
}

int mtmlSimLoad(void)
{
    bool good;

    sim_lock();
    good = sim.references == 0;
    if (good) {
        environment_forget();
        good = environment_load();
    } else {
        complain("mtmlSimLoad: the library is initialized");
    }
    sim_unlock();
    return good ? 0 : -1;
}

void mtmlSimKeep(void)
{
    sim_lock();
    environment_keep();
    sim_unlock();
}

void mtmlSimWatchReferences(void (*watcher)(const void *library, int taken))
{
    watch_set(watcher);
}

int mtmlSimGetMessage(char *buffer, size_t size)
{
    return buffer && complain_last(buffer, size) ? 0 : -1;
}

int mtmlSimReload(void)
{
    bool good;

    sim_lock();
    good = sim.references == 0;
    if (good)
        environment_forget();
    sim_unlock();
    return good ? 0 : -1;
}

int mtmlSimReboot(void)
{
    bool good;

    sim_lock();
    good = sim.machine && sim.references == 0 && machine_reboot(sim.machine);
    sim_unlock();
    return good ? 0 : -1;
}
