/* Reads a profile: an INI file that describes one machine. */

#include "sim.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sim_complain(const char *format, ...)
{
    char message[1024];
    va_list arguments;

    if (sim.quiet)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "mtml simulator: %s\n", message);
}

static char *copy_of(const char *start, size_t length)
{
    char *copy = malloc(length + 1);

    if (copy) {
        memcpy(copy, start, length);
        copy[length] = '\0';
    }
    return copy;
}

static bool complain_at(const struct entry *entry, const char *problem)
{
    if (entry->line)
        sim_complain("%s:%u: [%s]%s%s: %s", entry->source, entry->line, entry->section, *entry->key ? " " : "",
                     entry->key, problem);
    else
        sim_complain("%s: %s.%s: %s", entry->source, entry->section, entry->key, problem);
    return false;
}

static bool add_entry(struct machine *machine, const char *source, unsigned int line, char *section, char *key,
                      char *value)
{
    struct entry *grown = realloc(machine->entries, (machine->entry_count + 1) * sizeof *grown);
    struct entry entry = {section, key, value, source, line};

    if (grown)
        machine->entries = grown;
    if (!grown || !section || !key || !value) {
        free(section);
        free(key);
        free(value);
        sim_complain("%s: out of memory", source);
        return false;
    }
    machine->entries[machine->entry_count++] = entry;
    return true;
}

/* ==== Sections ==== */

struct place {
    enum {
        PLACE_MACHINE,
        PLACE_DEFAULTS,
        PLACE_DEVICE,
        PLACE_INSTANCE,
        PLACE_VIRT_DEVICE,
        PLACE_VIRT_TYPE,
        PLACE_MPC_PROFILE,
        PLACE_MPC_CONFIGURATION
    } kind;
    unsigned int number;
    unsigned int child;
    const char *id;
};

static const char *read_number(const char *text, unsigned int limit, unsigned int *number)
{
    unsigned long value;
    char *end;

    if (!isdigit((unsigned char)*text))
        return NULL;
    value = strtoul(text, &end, 10);
    if (value >= limit)
        return NULL;
    *number = (unsigned int)value;
    return end;
}

static const char *after_prefix(const char *text, const char *prefix)
{
    return text && strncmp(text, prefix, strlen(prefix)) == 0 ? text + strlen(prefix) : NULL;
}

static bool read_place(const char *section, struct place *place)
{
    const char *rest;

    memset(place, 0, sizeof *place);
    if (strcmp(section, "machine") == 0) {
        place->kind = PLACE_MACHINE;
        return true;
    }
    if (strcmp(section, "device") == 0) {
        place->kind = PLACE_DEFAULTS;
        return true;
    }
    if ((rest = after_prefix(section, "virt_type."))) {
        place->kind = PLACE_VIRT_TYPE;
        place->id = rest;
        return *rest && strlen(rest) < SIM_TEXT_SIZE;
    }
    if ((rest = after_prefix(section, "mpc_profile."))) {
        place->kind = PLACE_MPC_PROFILE;
        rest = read_number(rest, UINT32_MAX, &place->number);
        return rest && !*rest;
    }
    if ((rest = after_prefix(section, "mpc_configuration."))) {
        place->kind = PLACE_MPC_CONFIGURATION;
        rest = read_number(rest, UINT32_MAX, &place->number);
        return rest && !*rest;
    }
    rest = after_prefix(section, "device.");
    rest = rest ? read_number(rest, SIM_MAX_DEVICES, &place->number) : NULL;
    if (!rest)
        return false;
    place->kind = PLACE_DEVICE;
    if (!*rest)
        return true;
    if (after_prefix(rest, ".instance.")) {
        place->kind = PLACE_INSTANCE;
        rest = read_number(after_prefix(rest, ".instance."), SIM_MAX_INSTANCES, &place->child);
    } else if (after_prefix(rest, ".virt.")) {
        place->kind = PLACE_VIRT_DEVICE;
        rest = read_number(after_prefix(rest, ".virt."), SIM_MAX_VIRT, &place->child);
    } else {
        return false;
    }
    return rest && !*rest;
}

/* ==== Lines ==== */

static const char *skip_blanks(const char *text, const char *end)
{
    while (text < end && isspace((unsigned char)*text))
        text++;
    return text;
}

static const char *trim_blanks(const char *text, const char *end)
{
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    return end;
}

static bool has_entry(const struct machine *machine, const char *section, const char *key, size_t length)
{
    for (unsigned int i = 0; i < machine->entry_count; i++) {
        const struct entry *entry = &machine->entries[i];

        if (strcmp(entry->section, section) == 0 && strlen(entry->key) == length &&
            strncmp(entry->key, key, length) == 0)
            return true;
    }
    return false;
}

/* A section is an entry too, one without a key, so that an empty section is not lost. */
static bool read_header(struct machine *machine, unsigned int line, const char *start, const char *end, char *section,
                        size_t size)
{
    const char *path = machine->path;
    struct place place;
    size_t length = (size_t)(end - start);

    if (length < 2 || start[length - 1] != ']' || length - 2 >= size) {
        sim_complain("%s:%u: a section is written as [NAME]", path, line);
        return false;
    }
    memcpy(section, start + 1, length - 2);
    section[length - 2] = '\0';
    if (!read_place(section, &place)) {
        sim_complain("%s:%u: unknown section [%s]", path, line, section);
        return false;
    }
    if (has_entry(machine, section, "", 0)) {
        sim_complain("%s:%u: section [%s] is there twice", path, line, section);
        return false;
    }
    return add_entry(machine, path, line, copy_of(section, strlen(section)), copy_of("", 0), copy_of("", 0));
}

static bool read_lines(struct machine *machine, const char *text)
{
    char section[128] = "";
    unsigned int line = 0;

    while (*text) {
        const char *stop = strchr(text, '\n') ? strchr(text, '\n') : text + strlen(text);
        const char *begin = text;
        const char *start = skip_blanks(text, stop);
        const char *end = trim_blanks(start, stop);
        const char *equals = memchr(start, '=', (size_t)(end - start));

        line++;
        text = *stop ? stop + 1 : stop;
        if (start == end || *start == '#' || *start == ';')
            continue;
        /* Other readers of INI files take such a line for the rest of the one before. */
        if (start != begin) {
            sim_complain("%s:%u: a line that begins with a blank", machine->path, line);
            return false;
        }
        if (*start == '[') {
            if (!read_header(machine, line, start, end, section, sizeof section))
                return false;
            continue;
        }
        if (!equals || equals == start || !*section) {
            sim_complain("%s:%u: neither [SECTION] nor KEY = VALUE below a section", machine->path, line);
            return false;
        }
        if (has_entry(machine, section, start, (size_t)(trim_blanks(start, equals) - start))) {
            sim_complain("%s:%u: [%s] %.*s: given twice", machine->path, line, section,
                         (int)(trim_blanks(start, equals) - start), start);
            return false;
        }
        if (!add_entry(machine, machine->path, line, copy_of(section, strlen(section)),
                       copy_of(start, (size_t)(trim_blanks(start, equals) - start)),
                       copy_of(skip_blanks(equals + 1, end), (size_t)(end - skip_blanks(equals + 1, end)))))
            return false;
    }
    return true;
}

/* ==== MTML_SIM_SET: "0.gpu_temperature=-7;machine.driver_version=9;*.power_usage=1" ==== */

static const char settings_source[] = "MTML_SIM_SET";

/* Splits PLACE.KEY, where PLACE is a number with an optional ".instance.M" or ".virt.K", "machine" or "*". */
static bool read_setting(struct machine *machine, const char *start, const char *end)
{
    const char *equals = memchr(start, '=', (size_t)(end - start));
    const char *name_end = equals ? trim_blanks(start, equals) : end;
    const char *key = start;
    char section[128];
    unsigned int number;
    const char *rest = read_number(start, SIM_MAX_DEVICES, &number);

    if (rest) {
        const char *child = after_prefix(rest, ".instance.") ? after_prefix(rest, ".instance.")
                                                              : after_prefix(rest, ".virt.");
        const char *behind = child ? read_number(child, SIM_MAX_VIRT, &number) : NULL;

        rest = behind ? behind : rest;
        snprintf(section, sizeof section, "device.%.*s", (int)(rest - start), start);
        key = rest;
    } else if (*start == '*') {
        snprintf(section, sizeof section, "device.*");
        key = start + 1;
    } else if (after_prefix(start, "machine")) {
        snprintf(section, sizeof section, "machine");
        key = start + strlen("machine");
    }
    if (!equals || key == start || *key != '.' || key + 1 >= name_end) {
        sim_complain("%s: \"%.*s\" is not of the form DEVICE.KEY=VALUE", settings_source, (int)(end - start), start);
        return false;
    }
    return add_entry(machine, settings_source, 0, copy_of(section, strlen(section)),
                     copy_of(key + 1, (size_t)(name_end - key - 1)),
                     copy_of(skip_blanks(equals + 1, end), (size_t)(end - skip_blanks(equals + 1, end))));
}

static bool read_settings(struct machine *machine, const char *text)
{
    while (text && *text) {
        const char *stop = strchr(text, ';') ? strchr(text, ';') : text + strlen(text);
        const char *start = skip_blanks(text, stop);
        const char *end = trim_blanks(start, stop);

        text = *stop ? stop + 1 : stop;
        if (start < end && !read_setting(machine, start, end))
            return false;
    }
    return true;
}

/* ==== From entries to the machine ==== */

static bool apply_entry(struct machine *machine, const struct entry *entry, const struct key *keys, void *object)
{
    const char *problem = *entry->key ? key_set(machine, keys, object, entry->key, entry->value) : NULL;

    return problem ? complain_at(entry, problem) : true;
}

bool profile_apply(struct machine *machine, struct device *device, const char *section)
{
    for (unsigned int i = 0; i < machine->entry_count; i++) {
        const struct entry *entry = &machine->entries[i];

        if (strcmp(entry->section, section) == 0 && !apply_entry(machine, entry, device_keys, device))
            return false;
    }
    return true;
}

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

        if (!read_place(entry->section, &place))
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
            return complain_at(entry, "too many sections of this kind");
        if (keys && !apply_entry(machine, entry, keys, object))
            return false;
    }
    for (unsigned int i = 0; i < SIM_MAX_DEVICES; i++) {
        if (given[i] && i != count) {
            sim_complain("%s: [device.%u] is missing, but there is a [device.%u]", machine->path, count, i);
            return false;
        }
        count += given[i];
    }
    machine->device_count = count;
    return true;
}

static bool build_device(struct machine *machine, unsigned int number)
{
    struct device *device = calloc(1, sizeof *device);
    char section[32];

    if (!device) {
        sim_complain("%s: out of memory", machine->path);
        return false;
    }
    machine->devices[number] = device;
    device->role = ROLE_CARD;
    device->number = number;
    device->card = device;
    device->visible = true;
    snprintf(section, sizeof section, "device.%u", number);
    return profile_apply(machine, device, "device") && profile_apply(machine, device, section) &&
           profile_apply(machine, device, "device.*");
}

/* Sections and settings that name a card, instance or virtual device which the machine does not have. */
static bool check_places(struct machine *machine)
{
    for (unsigned int i = 0; i < machine->entry_count; i++) {
        const struct entry *entry = &machine->entries[i];
        struct place place;
        const struct device *card;

        if (!read_place(entry->section, &place) || place.kind < PLACE_DEVICE || place.kind > PLACE_VIRT_DEVICE)
            continue;
        if (place.number >= machine->device_count)
            return complain_at(entry, "the profile has no such device");
        card = machine->devices[place.number];
        if (place.kind == PLACE_VIRT_DEVICE && place.child >= card->virt_device_count)
            return complain_at(entry, "the profile's virtual devices are not numbered from 0 without gaps");
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
                return complain_at(entry, problem);
        }
    }
    return true;
}

struct machine *profile_load(const char *path, const char *text, const char *settings)
{
    struct machine *machine = calloc(1, sizeof *machine);
    bool good;

    if (!machine || !(machine->path = copy_of(path, strlen(path)))) {
        free(machine);
        sim_complain("%s: out of memory", path);
        return NULL;
    }
    good = read_lines(machine, text) && read_settings(machine, settings) && apply_definitions(machine);
    for (unsigned int i = 0; good && i < machine->device_count; i++)
        good = build_device(machine, i);
    for (unsigned int i = 0; good && i < machine->device_count; i++)
        good = machine_build_virt_devices(machine, machine->devices[i]) &&
               machine_build_instances(machine, machine->devices[i]);
    if (good && !machine->library_version.length) {
        sim_complain("%s: [machine] library_version: missing", path);
        good = false;
    }
    if (!good || !check_places(machine)) {
        machine_free(machine);
        return NULL;
    }
    return machine;
}
