/* Reads a profile, an INI file that describes one machine, and the settings of MTML_SIM_SET, into entries. */

#include "profile.h"

#include "complain.h"
#include "files.h"
#include "keys.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Far more than 64 cards with all their parts have: each line is compared with others. */
#define MAX_ENTRIES 16384

static char *copy_of(const char *start, size_t length)
{
    char *copy = malloc(length + 1);

    if (copy) {
        memcpy(copy, start, length);
        copy[length] = '\0';
    }
    return copy;
}

bool profile_complain(const struct entry *entry, const char *problem)
{
    if (entry->line)
        complain("%s:%u: [%s]%s%s: %s", entry->source, entry->line, entry->section, *entry->key ? " " : "",
                 entry->key, problem);
    else
        complain("%s: %s.%s: %s", entry->source, entry->section, entry->key, problem);
    return false;
}

static void entry_free(struct entry *entry)
{
    free(entry->section);
    free(entry->key);
    free(entry->value);
}

/* FNV-1a. */
static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;

    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 16777619u;
    return hash;
}

static bool belongs(const struct entry *entry, const char *section, uint32_t hash)
{
    return entry->hash == hash && strcmp(entry->section, section) == 0;
}

/* What is being read; lines that are in it are compared with each other. */
struct reader {
    struct machine *machine;
    const char *source;
    enum layer layer;
};

static bool add_entry(const struct reader *reader, unsigned int line, char *section, char *key, char *value)
{
    struct machine *machine = reader->machine;
    const char *source = reader->source;
    bool full = machine->entry_count == MAX_ENTRIES;
    struct entry *grown = full ? NULL : realloc(machine->entries, (machine->entry_count + 1) * sizeof *grown);
    struct entry entry = {section, 0, key, value, source, line, reader->layer};

    if (grown)
        machine->entries = grown;
    if (!grown || !section || !key || !value) {
        free(section);
        free(key);
        free(value);
        complain("%s: %s", source, full ? "too many lines" : "out of memory");
        return false;
    }
    entry.hash = hash_of(section);
    machine->entries[machine->entry_count++] = entry;
    return true;
}

/* ==== Sections ==== */

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

bool profile_place(const char *section, struct place *place)
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

/* Whether the section that is being read, the last one, has that key already. */
static bool has_key(const struct machine *machine, const char *key, size_t length)
{
    for (unsigned int i = machine->entry_count; i > 0 && *machine->entries[i - 1].key; i--) {
        const struct entry *entry = &machine->entries[i - 1];

        if (*entry->key == *key && strncmp(entry->key, key, length) == 0 && !entry->key[length])
            return true;
    }
    return false;
}

/* A section is an entry too, one without a key, so that an empty section is not lost. */
static bool read_header(const struct reader *reader, unsigned int line, const char *start, const char *end,
                        char *section, size_t size)
{
    const char *path = reader->source;
    struct place place;
    size_t length = (size_t)(end - start);

    if (length < 2 || start[length - 1] != ']' || length - 2 >= size) {
        complain("%s:%u: a section is written as [NAME]", path, line);
        return false;
    }
    memcpy(section, start + 1, length - 2);
    section[length - 2] = '\0';
    if (!profile_place(section, &place)) {
        complain("%s:%u: unknown section [%s]", path, line, section);
        return false;
    }
    if (profile_has_section(reader->machine, section)) {
        complain("%s:%u: section [%s] is there twice", path, line, section);
        return false;
    }
    return add_entry(reader, line, copy_of(section, strlen(section)), copy_of("", 0), copy_of("", 0));
}

static bool read_lines(const struct reader *reader, const char *text)
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
            complain("%s:%u: a line that begins with a blank", reader->source, line);
            return false;
        }
        if (*start == '[') {
            if (!read_header(reader, line, start, end, section, sizeof section))
                return false;
            continue;
        }
        if (!equals || equals == start || !*section) {
            complain("%s:%u: neither [SECTION] nor KEY = VALUE below a section", reader->source, line);
            return false;
        }
        if (has_key(reader->machine, start, (size_t)(trim_blanks(start, equals) - start))) {
            complain("%s:%u: [%s] %.*s: given twice", reader->source, line, section,
                     (int)(trim_blanks(start, equals) - start), start);
            return false;
        }
        if (!add_entry(reader, line, copy_of(section, strlen(section)),
                       copy_of(start, (size_t)(trim_blanks(start, equals) - start)),
                       copy_of(skip_blanks(equals + 1, end), (size_t)(end - skip_blanks(equals + 1, end)))))
            return false;
    }
    return true;
}

/* ==== MTML_SIM_SET: "0.gpu_temperature=-7;machine.driver_version=9;*.power_usage=1" ==== */

static const char settings_source[] = "MTML_SIM_SET";

/* Splits PLACE.KEY, where PLACE is a number with an optional ".instance.M" or ".virt.K", "machine" or "*". */
static bool read_setting(const struct reader *reader, const char *start, const char *end)
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
        complain("%s: \"%.*s\" is not of the form DEVICE.KEY=VALUE", settings_source, (int)(end - start), start);
        return false;
    }
    return add_entry(reader, 0, copy_of(section, strlen(section)),
                     copy_of(key + 1, (size_t)(name_end - key - 1)),
                     copy_of(skip_blanks(equals + 1, end), (size_t)(end - skip_blanks(equals + 1, end))));
}

static bool read_settings(struct machine *machine, const char *text)
{
    const struct reader reader = {machine, settings_source, LAYER_SETTINGS};

    while (text && *text) {
        const char *stop = strchr(text, ';') ? strchr(text, ';') : text + strlen(text);
        const char *start = skip_blanks(text, stop);
        const char *end = trim_blanks(start, stop);

        text = *stop ? stop + 1 : stop;
        if (start < end && !read_setting(&reader, start, end))
            return false;
    }
    return true;
}

/* ==== All of it ==== */

/* The line that names the base, which is no key of the machine, taken out of the entries; false when there is none. */
static bool take_base(struct machine *machine, struct entry *base)
{
    for (unsigned int i = 0; i < machine->entry_count; i++) {
        *base = machine->entries[i];
        if (strcmp(base->section, "machine") == 0 && strcmp(base->key, "base") == 0) {
            memmove(&machine->entries[i], &machine->entries[i + 1],
                    (--machine->entry_count - i) * sizeof *machine->entries);
            return true;
        }
    }
    return false;
}

/* Puts the lines of the base before those that were read. */
static const char *read_base(struct machine *machine, const char *name)
{
    struct entry *own = machine->entries;
    unsigned int count = machine->entry_count;
    struct entry *all;
    struct entry second;
    char path[FILES_PATH_MAX];
    char *text = strchr(name, '/') ? NULL : files_read_shipped(name, path, sizeof path);
    bool good;

    if (!text)
        return "no shipped profile is called that";
    machine->base = copy_of(path, strlen(path));
    machine->entries = NULL;
    machine->entry_count = 0;
    good = machine->base && read_lines(&(struct reader){machine, machine->base, LAYER_BASE}, text);
    free(text);
    all = realloc(machine->entries, (machine->entry_count + count + 1) * sizeof *all);
    if (all) {
        machine->entries = all;
        memcpy(all + machine->entry_count, own, count * sizeof *all);
        machine->entry_count += count;
        free(own);
    }
    if (!all || !good)
        return "that profile is not right itself";
    if (take_base(machine, &second)) {
        entry_free(&second);
        return "a base has no base itself";
    }
    return NULL;
}

bool profile_read(struct machine *machine, const char *text, const char *settings)
{
    const char *problem = NULL;
    struct entry base;

    if (!read_lines(&(struct reader){machine, machine->path, LAYER_OWN}, text))
        return false;
    if (take_base(machine, &base)) {
        problem = read_base(machine, base.value);
        if (problem)
            profile_complain(&base, problem);
        entry_free(&base);
    }
    return !problem && read_settings(machine, settings);
}

bool profile_apply_entry(struct machine *machine, const struct entry *entry, const struct key *keys, void *object)
{
    const char *problem = *entry->key ? key_set(machine, keys, object, entry->key, entry->value) : NULL;

    return problem ? profile_complain(entry, problem) : true;
}

bool profile_apply(struct machine *machine, struct device *device, const char *section, unsigned int layers)
{
    uint32_t hash = hash_of(section);

    for (unsigned int i = 0; i < machine->entry_count; i++) {
        const struct entry *entry = &machine->entries[i];

        if ((entry->layer & layers) && belongs(entry, section, hash) && !profile_apply_entry(machine, entry, device_keys, device))
            return false;
    }
    return true;
}

bool profile_has_section(const struct machine *machine, const char *section)
{
    uint32_t hash = hash_of(section);

    for (unsigned int i = 0; i < machine->entry_count; i++)
        if (machine->entries[i].line && belongs(&machine->entries[i], section, hash))
            return true;
    return false;
}

void profile_free(struct machine *machine)
{
    for (unsigned int i = 0; i < machine->entry_count; i++)
        entry_free(&machine->entries[i]);
    free(machine->entries);
}
