/* The control functions of mtml_sim.h. */

#include "../mtml_sim.h"

#include "build.h"
#include "change.h"
#include "complain.h"
#include "environment.h"
#include "faults.h"
#include "handle.h"
#include "log.h"
#include "outside.h"
#include "state.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

static unsigned int cards(void)
{
    return sim.machine ? sim.machine->device_count : 0;
}

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

int mtmlSimSet(unsigned int device, const char *key, const char *value)
{
    static char text[VALUE_SIZE];
    struct output output = {text, sizeof text, 0};
    const char *problem = "NULL was passed";
    bool told = false;

    sim_lock();
    outside_look();
    if (key && value)
        problem = change_check(device, key, value, &output);
    if (!problem) {
        outside_note(device, key, text);
        if (device == MTML_SIM_MACHINE && strcmp(key, "faults") == 0)
            outside_note_no_faults(NO_CARD);
        told = outside_write();
    }
    if (told)
        problem = change_set(device, key, value);
    sim_unlock();
    if (problem)
        complain("mtmlSimSet(0x%x, \"%s\", \"%s\"): %s", device, key ? key : "", value ? value : "", problem);
    return problem || !told ? -1 : 0;
}

int mtmlSimUnset(unsigned int device, const char *key)
{
    static char text[VALUE_SIZE];
    struct output output = {text, sizeof text, 0};
    const char *problem = "NULL was passed";
    bool told = false;

    sim_lock();
    outside_look();
    if (key)
        problem = change_get(device, key, &output);
    if (!problem) {
        outside_note(device, key, NULL);
        told = outside_write();
    }
    if (told)
        problem = change_restore(device, key);
    sim_unlock();
    if (problem)
        complain("mtmlSimUnset(0x%x, \"%s\"): %s", device, key ? key : "", problem);
    return problem || !told ? -1 : 0;
}

int mtmlSimGet(unsigned int device, const char *key, char *buffer, size_t size)
{
    struct output output = {buffer, size, 0};
    const char *problem;

    if (!key || !buffer)
        return -1;
    sim_lock();
    outside_look();
    problem = change_get(device, key, &output);
    sim_unlock();
    return problem || output.length >= size ? -1 : 0;
}

int mtmlSimSetFaults(const char *text)
{
    const char *faults = text ? text : "";
    const char *problem;
    bool told = false;

    sim_lock();
    outside_look();
    problem = faults_check(faults, cards());
    if (!problem) {
        outside_note_faults(faults);
        outside_note_no_faults(NO_CARD);
        told = outside_write();
    }
    if (told)
        faults_set(faults, cards());
    sim_unlock();
    if (problem)
        complain("mtmlSimSetFaults(\"%s\"): %s", faults, problem);
    return told ? 0 : -1;
}

int mtmlSimAddFaults(const char *text)
{
    const char *problem = "NULL was passed";
    bool told = false;

    sim_lock();
    outside_look();
    if (text)
        problem = faults_check_more(text, cards());
    if (!problem) {
        /* Written, they are read from there. */
        outside_note_more_faults(text);
        told = outside_follows() ? outside_write() : !faults_add(text, cards(), NO_ORIGIN);
    }
    sim_unlock();
    if (problem)
        complain("mtmlSimAddFaults(\"%s\"): %s", text ? text : "", problem);
    return told ? 0 : -1;
}

int mtmlSimFailCall(unsigned long long number, const char *code)
{
    const char *problem;

    sim_lock();
    problem = number && !code ? "NULL was passed" : faults_fail_call(number, code);
    sim_unlock();
    if (problem)
        complain("mtmlSimFailCall(%llu, \"%s\"): %s", number, code ? code : "", problem);
    return problem ? -1 : 0;
}

int mtmlSimGetFailedCall(char *buffer, size_t size)
{
    enum function function;

    sim_lock();
    function = faults_failed_call();
    sim_unlock();
    if (!buffer || function == FUNCTION_COUNT || strlen(functions[function].name) >= size)
        return -1;
    strcpy(buffer, functions[function].name);
    return 0;
}

/* A value that is to be good again: noted, and then set, unless it is that already. */
static void heal_value(unsigned int number, const char *key, const char *good, bool written)
{
    char now[256] = "";
    struct output output = {now, sizeof now, 0};

    if (change_get(number, key, &output) || strcmp(now, good) == 0)
        return;
    if (written)
        change_set(number, key, good);
    else
        outside_note(number, key, good);
}

static void heal_values(unsigned int device, bool written)
{
    for (unsigned int i = 0; i < cards(); i++)
        if (device == MTML_SIM_MACHINE || i == device)
            heal_value(i, "lost", "OK", written);
    if (device == MTML_SIM_MACHINE)
        heal_value(MTML_SIM_MACHINE, "latency_ns", "0", written);
}

/* Faults of variables, of the profile and of the control file: those of a card, or all for NO_CARD. */
static bool heal(unsigned int device, unsigned int card)
{
    char *faults = card == NO_CARD ? strdup("") : faults_text_without(card);
    bool told = false;

    if (faults) {
        outside_note_faults(faults);
        outside_note_no_faults(card);
        heal_values(device, false);
        told = outside_write();
    }
    free(faults);
    if (!told)
        return false;
    if (card == NO_CARD)
        faults_drop(NO_ORIGIN);
    else
        faults_drop_card(card);
    heal_values(device, true);
    return true;
}

int mtmlSimHeal(unsigned int device)
{
    bool there;
    bool good = false;

    sim_lock();
    outside_look();
    there = sim.machine && (device == MTML_SIM_MACHINE || device < cards());
    if (there)
        good = heal(device, device == MTML_SIM_MACHINE ? NO_CARD : device);
    sim_unlock();
    if (!there)
        complain("mtmlSimHeal(0x%x): there is no such card", device);
    return good ? 0 : -1;
}

unsigned int mtmlSimEnd(void)
{
    static const char why[] = "the handle is dangling: mtmlSimEnd has shut the library down";
    unsigned int count;

    sim_lock();
    count = sim.references;
    if (count) {
        handle_kill_all(why, DEATH_FROM_OUTSIDE);
        handle_kill_libraries(why);
        sim.references = 0;
        sim.system = NULL;
        sim.stale = false;
        sim.machine->shutdowns++;
    }
    sim_unlock();
    log_reset();
    return count;
}

int mtmlSimLoad(void)
{
    bool good;

    sim_lock();
    good = sim.references == 0 && !sim.ended;
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
    static const char *const keys[] = {"mpc_mode",
                                       "ecc_mode",
                                       "ecc_corrected_volatile",
                                       "ecc_uncorrected_volatile",
                                       "retired_pages_pending",
                                       NULL};
    bool good;

    sim_lock();
    outside_look();
    good = sim.machine && sim.references == 0 && machine_reboot(sim.machine) &&
           outside_tell(sim.machine->devices, sim.machine->device_count, keys);
    sim_unlock();
    return good ? 0 : -1;
}
