/* The variables that choose the machine and its behavior. */

#include "environment.h"

#include "build.h"
#include "complain.h"
#include "faults.h"
#include "files.h"
#include "outside.h"
#include "state.h"
#include "symbols.h"
#include "trace.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static const char default_profile[] = "s5000x8";
static const char frozen_suffix[] = "+frozen";

/* Unchanged, the machine is kept with all that happened to it, and faults go on counting. */
static char *followed_control;
static bool forgotten;

static const char *const variables[] = {
    "MTML_SIM_PROFILE", "MTML_SIM_FAULTS",  "MTML_SIM_LATENCY_NS", "MTML_SIM_TRACE",
    "MTML_SIM_LENIENT", "MTML_SIM_FROZEN",  "MTML_SIM_SET",        "MTML_SIM_MUSA_VERSION",
    "MTML_SIM_CONTROL", "MTML_SIM_STRICT",  "MTML_SIM_NODES",
};

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

static bool check_names(void)
{
    /* No environment at all is left by clearenv(). */
    for (char **entry = environ; entry && *entry; entry++) {
        size_t length = strcspn(*entry, "=");
        bool known = strncmp(*entry, "MTML_SIM_", strlen("MTML_SIM_")) != 0;

        for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
            known = known || (strlen(variables[i]) == length && strncmp(*entry, variables[i], length) == 0);
        if (!known) {
            complain("%.*s: unknown variable", (int)length, *entry);
            return false;
        }
    }
    return true;
}

static bool read_switch(const char *name, bool *value)
{
    const char *text = variable(name);

    if (*text && strcmp(text, "0") != 0 && strcmp(text, "1") != 0) {
        complain("%s: \"%s\" is neither 0 nor 1", name, text);
        return false;
    }
    *value = strcmp(text, "1") == 0;
    return true;
}

static bool read_number(const char *name, uint64_t *value)
{
    const char *text = variable(name);
    char *end;

    *value = 0;
    if (!*text)
        return true;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno) {
        complain("%s: \"%s\" is not a number", name, text);
        return false;
    }
    return true;
}

/* ==== The profile ==== */

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void replace(char **place, const char *text)
{
    free(*place);
    *place = strdup(text);
}

static const char *chosen_profile(void)
{
    return *variable("MTML_SIM_PROFILE") ? variable("MTML_SIM_PROFILE") : default_profile;
}

static bool load_machine(const char *path, const char *text, const char *settings)
{
    const char *control = variable("MTML_SIM_CONTROL");
    struct machine *machine;

    if (sim.machine && !forgotten && same(path, sim.machine->path) && same(text, sim.machine->text) &&
        same(settings, sim.machine->settings) && same(control, followed_control))
        return true;
    machine = machine_build(path, text, settings);
    if (!machine)
        return false;
    outside_close();
    machine_free(sim.machine);
    sim.machine = machine;
    forgotten = false;
    free(followed_control);
    followed_control = NULL;
    free(sim.faults);
    sim.faults = NULL;
    return true;
}

/* After the faults of the variables, which those of the file are added to. */
static bool read_control(void)
{
    const char *control = variable("MTML_SIM_CONTROL");

    if (same(control, followed_control)) {
        outside_look();
        return true;
    }
    replace(&followed_control, control);
    return outside_open(control, chosen_profile());
}

static bool read_profile(bool *frozen)
{
    const char *name = chosen_profile();
    size_t length = strlen(name);
    size_t suffix = strlen(frozen_suffix);
    char chosen[FILES_PATH_MAX];
    char path[FILES_PATH_MAX];
    char *text;
    bool good;

    if (length > suffix && strcmp(name + length - suffix, frozen_suffix) == 0) {
        length -= suffix;
        *frozen = true;
    }
    if (length >= sizeof chosen) {
        complain("MTML_SIM_PROFILE: too long");
        return false;
    }
    memcpy(chosen, name, length);
    chosen[length] = '\0';
    if (strchr(chosen, '/') || (length > 4 && strcmp(chosen + length - 4, ".ini") == 0)) {
        snprintf(path, sizeof path, "%s", chosen);
        text = files_read(path);
    } else {
        text = files_read_shipped(chosen, path, sizeof path);
        if (!text) {
            snprintf(path, sizeof path, "%s", chosen);
            text = files_read(path);
        }
    }
    if (!text) {
        complain(errno == EFBIG ? "MTML_SIM_PROFILE: the profile \"%s\" is larger than 1 MiB"
                                : "MTML_SIM_PROFILE: there is no profile \"%s\"",
                 chosen);
        return false;
    }
    good = load_machine(path, text, variable("MTML_SIM_SET"));
    free(text);
    return good;
}

static bool read_faults(void)
{
    const char *text = variable("MTML_SIM_FAULTS");
    const char *problem;

    /* Unchanged: the countdowns go on across shutdowns. */
    if (same(text, sim.faults))
        return true;
    problem = faults_set(*text ? text : sim.machine->faults.bytes, sim.machine->device_count);
    if (problem) {
        complain("MTML_SIM_FAULTS: \"%s\": %s", text, problem);
        return false;
    }
    replace(&sim.faults, text);
    return true;
}

void environment_forget(void)
{
    forgotten = true;
}

void environment_keep(void)
{
    if (!sim.machine)
        return;
    replace(&sim.machine->settings, variable("MTML_SIM_SET"));
    replace(&sim.faults, variable("MTML_SIM_FAULTS"));
}

bool environment_load(void)
{
    bool frozen = false;
    bool lenient = false;
    bool strict = false;
    uint64_t latency;
    uint64_t version;

    sim.ready = false;
    if (!trace_open(variable("MTML_SIM_TRACE"))) {
        complain("MTML_SIM_TRACE: cannot write \"%s\"", variable("MTML_SIM_TRACE"));
        return false;
    }
    if (!check_names() || !read_switch("MTML_SIM_FROZEN", &frozen) || !read_switch("MTML_SIM_LENIENT", &lenient) ||
        !read_switch("MTML_SIM_STRICT", &strict) ||
        !read_number("MTML_SIM_LATENCY_NS", &latency) || !read_number("MTML_SIM_MUSA_VERSION", &version) ||
        !read_profile(&frozen) || !read_faults())
        return false;
    sim.frozen = frozen;
    sim.lenient = lenient;
    sim.strict = strict;
    sim.latency_ns = latency ? latency : sim.machine->latency_ns;
    if (!read_control()) {
        environment_forget();
        return false;
    }
    symbols_hide(&sim.machine->missing);
    sim.ready = true;
    return true;
}

void environment_end(void)
{
    outside_close();
    machine_free(sim.machine);
    sim.machine = NULL;
    free(followed_control);
    free(sim.faults);
    followed_control = sim.faults = NULL;
}

/* A program may look symbols up right after loading, long before it initializes the library. */
__attribute__((constructor)) static void prepare(void)
{
    sim_lock();
    complain_quietly(true);
    environment_load();
    complain_quietly(false);
    sim_unlock();
}
