/*
 * The control file. It says which profile it is about, and has one change a line:
 *
 *     profile = s5000x8+frozen
 *     0.gpu_temperature = 99
 *     machine.driver_version = 9
 *     *.power_usage = 90000
 *     fault.1 = 3.mtmlGpuGetTemperature=TIMEOUT@3x2
 *     faults = what is armed instead of MTML_SIM_FAULTS
 *
 * A change that is gone from the file is taken back, a line that stays is left alone: its faults go on counting.
 *
 * Writers hold a lock on FILE.lock, replace the file and then raise the counter in FILE.lock, which all processes have
 * mapped: so each call sees at once whether there is something to read. Those who write by other means are noticed by
 * the file's time and size, which are looked at once in a tick of the coarse clock.
 */

#define _GNU_SOURCE

#include "outside.h"

#include "../mtml_sim.h"

#include "change.h"
#include "complain.h"
#include "faults.h"
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VALUE_SIZE    65536
/* Stand where other lines have the number of an object. */
#define FAULT         0xFE000000u
#define FAULTS        0xFD000000u
#define PATIENCE      1000        /* milliseconds for the lock, which is held for less than one */
#define COUNTER_BYTES 8

struct line {
    unsigned int number;
    uint64_t id; /* of a fault */
    char *key;   /* of an object */
    char *value;
};

struct lines {
    struct line *all;
    unsigned int count;
    bool foreign; /* they are about another profile */
};

static char *path;
static char *profile; /* as MTML_SIM_PROFILE has it */
static _Atomic uint32_t *counter;
static uint32_t seen_counter;
static struct stat seen_file;
static struct timespec seen_tick;
static struct lines in_force;

static void free_lines(struct lines *lines)
{
    for (unsigned int i = 0; i < lines->count; i++) {
        free(lines->all[i].key);
        free(lines->all[i].value);
    }
    free(lines->all);
    *lines = (struct lines){NULL, 0, false};
}

/* ==== Reading ==== */

static char *read_whole(const char *name, struct stat *status)
{
    int descriptor = open(name, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    size_t length = 0;
    ssize_t got = -1;

    memset(status, 0, sizeof *status);
    if (descriptor < 0)
        return errno == ENOENT ? strdup("") : NULL;
    if (fstat(descriptor, status) == 0 && S_ISREG(status->st_mode))
        text = malloc((size_t)status->st_size + 1);
    while (text && length < (size_t)status->st_size &&
           (got = read(descriptor, text + length, (size_t)status->st_size - length)) > 0)
        length += (size_t)got;
    close(descriptor);
    if (text)
        text[length] = '\0';
    return text;
}

/* N, N.instance.M, N.virt.K or machine, with the dot behind it: what follows, or NULL. */
static const char *read_place(const char *text, unsigned int *number)
{
    unsigned int card;
    unsigned int part;
    int length = 0;

    if (strncmp(text, "machine.", 8) == 0) {
        *number = MTML_SIM_MACHINE;
        return text + 8;
    }
    if (sscanf(text, "%2u.instance.%2u.%n", &card, &part, &length) == 2 && length && part < SIM_MAX_INSTANCES) {
        *number = MTML_SIM_INSTANCE(card, part);
        return text + length;
    }
    if (sscanf(text, "%2u.virt.%2u.%n", &card, &part, &length) == 2 && length && part < SIM_MAX_VIRT) {
        *number = MTML_SIM_VIRT(card, part);
        return text + length;
    }
    if (*text >= '0' && *text <= '9' && sscanf(text, "%2u.%n", &card, &length) == 1 && length) {
        *number = card;
        return text + length;
    }
    return NULL;
}

/* The last line about a thing counts. */
static bool add_line(struct lines *lines, unsigned int number, uint64_t id, const char *key, const char *value)
{
    struct line line = {number, id, strdup(key), strdup(value)};
    struct line *grown;

    for (unsigned int i = 0; line.value && i < lines->count; i++) {
        struct line *known = &lines->all[i];

        if (known->number == number && known->id == id && strcmp(known->key, key) == 0) {
            free(known->value);
            free(line.key);
            known->value = line.value;
            return true;
        }
    }
    grown = realloc(lines->all, (lines->count + 1) * sizeof *grown);
    if (grown)
        lines->all = grown;
    if (!grown || !line.key || !line.value) {
        free(line.key);
        free(line.value);
        return false;
    }
    lines->all[lines->count++] = line;
    return true;
}

/* Cuts NAME = VALUE into its two, without the blanks around them; false for a line that has nothing to say. */
static const char *cut_line(char *text, char **name, char **value)
{
    char *equals;
    char *end;

    text += strspn(text, " \t\r");
    *name = NULL;
    if (!*text || *text == '#' || *text == ';')
        return NULL;
    equals = strchr(text, '=');
    if (!equals || equals == text)
        return "not of the form NAME = VALUE";
    for (end = equals; end > text && strchr(" \t", end[-1]); end--)
        continue;
    *end = '\0';
    *name = text;
    *value = equals + 1 + strspn(equals + 1, " \t");
    for (end = *value + strlen(*value); end > *value && strchr(" \t\r", end[-1]); end--)
        continue;
    *end = '\0';
    return NULL;
}

/* Whether values move or stay is no difference. */
static bool same_profile(const char *one, const char *other)
{
    static const char frozen[] = "+frozen";
    size_t lengths[2] = {strlen(one), strlen(other)};
    const char *names[2] = {one, other};

    for (int i = 0; i < 2; i++)
        if (lengths[i] >= strlen(frozen) && strcmp(names[i] + lengths[i] - strlen(frozen), frozen) == 0)
            lengths[i] -= strlen(frozen);
    return lengths[0] == lengths[1] && strncmp(one, other, lengths[0]) == 0;
}

static const char *parse_line(struct lines *lines, char *text)
{
    unsigned int number;
    unsigned long long id;
    char excess;
    char *name;
    char *value;
    const char *key;
    const char *problem = cut_line(text, &name, &value);
    bool good = true;

    if (problem || !name)
        return problem;
    if (strcmp(name, "profile") == 0)
        lines->foreign = !same_profile(value, profile);
    else if (sscanf(name, "fault.%llu%c", &id, &excess) == 1 && id)
        good = add_line(lines, FAULT, id, "", value);
    else if (strcmp(name, "faults") == 0)
        good = add_line(lines, FAULTS, 0, "", value);
    else if (strncmp(name, "*.", 2) == 0 && name[2])
        for (number = 0; good && number < sim.machine->device_count; number++)
            good = add_line(lines, number, 0, name + 2, value);
    else if ((key = read_place(name, &number)) && *key)
        good = add_line(lines, number, 0, key, value);
    else
        return "write 0.KEY, *.KEY, machine.KEY, 0.instance.1.KEY, 0.virt.2.KEY, fault.NUMBER or faults before the =";
    return good ? NULL : "out of memory";
}

static bool parse_lines(struct lines *lines, char *text)
{
    unsigned int row = 0;
    bool good = true;

    while (text && *text) {
        char *end = strchr(text, '\n');
        const char *problem;

        row++;
        if (end)
            *end = '\0';
        problem = parse_line(lines, text);
        if (problem) {
            complain("%s:%u: %s", path, row, problem);
            good = false;
        }
        text = end ? end + 1 : NULL;
    }
    return good;
}

static const struct line *find_line(const struct lines *lines, const struct line *like)
{
    for (unsigned int i = 0; i < lines->count; i++)
        if (lines->all[i].number == like->number && lines->all[i].id == like->id &&
            strcmp(lines->all[i].key, like->key) == 0)
            return &lines->all[i];
    return NULL;
}

static void complain_about(const struct line *line, const char *problem)
{
    if (line->number == FAULTS)
        complain("%s: faults = %s: %s", path, line->value, problem);
    else if (line->number == FAULT)
        complain("%s: fault.%llu = %s: %s", path, (unsigned long long)line->id, line->value, problem);
    else
        complain("%s: %s of 0x%x: %s: %s", path, line->key, line->number, line->value, problem);
}

/* Brings the machine from what is in force to what the new lines say. */
static bool apply(struct lines *lines)
{
    bool good = true;

    for (unsigned int i = 0; i < in_force.count; i++) {
        const struct line *line = &in_force.all[i];
        const struct line *next = find_line(lines, line);

        if (line->number == FAULT && (!next || strcmp(next->value, line->value) != 0))
            faults_drop(line->id);
        else if (line->number == FAULTS && !next)
            faults_set(sim.machine->faults.bytes, sim.machine->device_count);
        else if (line->number != FAULT && !next)
            change_restore(line->number, line->key);
    }
    for (unsigned int i = 0; i < lines->count; i++) {
        const struct line *line = &lines->all[i];
        const struct line *last = find_line(&in_force, line);
        const char *problem;

        if (last && strcmp(last->value, line->value) == 0)
            continue;
        if (line->number == FAULT)
            problem = faults_add(line->value, sim.machine->device_count, line->id);
        else if (line->number == FAULTS)
            problem = faults_set(line->value, sim.machine->device_count);
        else
            problem = change_set(line->number, line->key, line->value);
        if (problem) {
            complain_about(line, problem);
            good = false;
        }
    }
    free_lines(&in_force);
    in_force = *lines;
    return good;
}

static bool read_again(void)
{
    struct lines lines = {NULL, 0, false};
    char *text;
    bool good;

    seen_counter = counter ? atomic_load(counter) : 0;
    text = read_whole(path, &seen_file);
    if (!text) {
        complain("MTML_SIM_CONTROL: cannot read \"%s\"", path);
        return false;
    }
    good = parse_lines(&lines, text);
    free(text);
    if (lines.foreign) {
        free_lines(&lines);
        return true;
    }
    return apply(&lines) && good;
}

/* ==== Noticing ==== */

static bool file_changed(void)
{
    struct stat now;

    if (stat(path, &now) != 0)
        memset(&now, 0, sizeof now);
    return now.st_ino != seen_file.st_ino || now.st_dev != seen_file.st_dev || now.st_size != seen_file.st_size ||
           now.st_mtim.tv_sec != seen_file.st_mtim.tv_sec || now.st_mtim.tv_nsec != seen_file.st_mtim.tv_nsec;
}

void outside_look(void)
{
    struct timespec tick;
    int saved;

    if (!path || !sim.machine)
        return;
    if (!counter || atomic_load_explicit(counter, memory_order_relaxed) == seen_counter) {
        clock_gettime(CLOCK_MONOTONIC_COARSE, &tick);
        if (tick.tv_nsec == seen_tick.tv_nsec && tick.tv_sec == seen_tick.tv_sec)
            return;
        seen_tick = tick;
        saved = errno;
        if (!file_changed()) {
            errno = saved;
            return;
        }
        errno = saved;
    }
    saved = errno;
    read_again();
    errno = saved;
}

static int open_lock(void)
{
    char name[PATH_MAX];
    struct stat status;
    int descriptor;

    if ((size_t)snprintf(name, sizeof name, "%s.lock", path) >= sizeof name)
        return -1;
    descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 ||
                            (status.st_size < COUNTER_BYTES && ftruncate(descriptor, COUNTER_BYTES) != 0))) {
        close(descriptor);
        descriptor = -1;
    }
    return descriptor;
}

bool outside_open(const char *wanted, const char *chosen)
{
    int descriptor;

    outside_close();
    if (!*wanted)
        return true;
    path = strdup(wanted);
    profile = strdup(chosen);
    if (!path || !profile)
        return false;
    /* Where nobody may write beside the file, its time has to do. */
    descriptor = open_lock();
    if (descriptor >= 0) {
        void *memory = mmap(NULL, COUNTER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);

        counter = memory == MAP_FAILED ? NULL : memory;
        close(descriptor);
    }
    sim.attention = true;
    return read_again();
}

void outside_close(void)
{
    if (counter)
        munmap((void *)(uintptr_t)counter, COUNTER_BYTES);
    counter = NULL;
    free(path);
    free(profile);
    path = profile = NULL;
    for (unsigned int i = 0; i < in_force.count; i++)
        if (in_force.all[i].number == FAULT)
            faults_drop(in_force.all[i].id);
    free_lines(&in_force);
    sim.attention = false;
}

/* ==== Writing ==== */

/* One line that is to be there once, or not at all for a value of NULL. */
struct edit {
    char name[96];
    char *value;
};

static void name_key(char *name, size_t size, unsigned int number, const char *key)
{
    unsigned int card = number & 0xff;

    if (number == MTML_SIM_MACHINE)
        snprintf(name, size, "machine.%s", key);
    else if (number >> 8 & 0xff)
        snprintf(name, size, "%u.instance.%u.%s", card, (number >> 8 & 0xff) - 1, key);
    else if (number >> 16 & 0xff)
        snprintf(name, size, "%u.virt.%u.%s", card, (number >> 16 & 0xff) - 1, key);
    else
        snprintf(name, size, "%u.%s", card, key);
}

static bool lock_file(int descriptor)
{
    for (int tries = 0; flock(descriptor, LOCK_EX | LOCK_NB) != 0; tries++) {
        const struct timespec millisecond = {0, 1000000};

        if ((errno != EWOULDBLOCK && errno != EINTR) || tries == PATIENCE)
            return false;
        nanosleep(&millisecond, NULL);
    }
    return true;
}

static bool write_whole(const char *text, size_t length)
{
    char name[PATH_MAX];
    int descriptor;
    bool good;

    if ((size_t)snprintf(name, sizeof name, "%s.%ld", path, (long)getpid()) >= sizeof name)
        return false;
    descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return false;
    good = write(descriptor, text, length) == (ssize_t)length;
    good = close(descriptor) == 0 && good;
    if (good && rename(name, path) == 0)
        return true;
    unlink(name);
    return false;
}

/* The number after which no fault has one. */
static unsigned long long last_fault(const char *text)
{
    unsigned long long last = 0;

    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        unsigned long long id;

        if (sscanf(line, " fault.%llu", &id) == 1 && id > last)
            last = id;
    }
    return last;
}

/* Whether a line is one that the edits replace. */
static bool replaced(const char *line, size_t length, const struct edit *edits, unsigned int count)
{
    const char *equals = memchr(line, '=', length);
    size_t name = equals ? (size_t)(equals - line) : 0;

    while (name && strchr(" \t", line[name - 1]))
        name--;
    for (unsigned int i = 0; name && i < count; i++)
        if (strlen(edits[i].name) == name && strncmp(edits[i].name, line, name) == 0)
            return true;
    return false;
}

/* The value of the line that says which profile the text is about; false when there is none. */
static bool read_profile(const char *text, char *value, size_t size)
{
    static const char key[] = "profile = ";

    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            snprintf(value, size, "%.*s", (int)strcspn(line + strlen(key), "\r\n"), line + strlen(key));
            return true;
        }
    }
    return false;
}

/* The text with the edits at its end; the caller frees it. */
static char *edited(const char *text, const struct edit *edits, unsigned int count, size_t *length)
{
    size_t size = strlen(text) + strlen(profile) + 32;
    char known[PATH_MAX];
    char *result;

    for (unsigned int i = 0; i < count; i++)
        size += strlen(edits[i].name) + (edits[i].value ? strlen(edits[i].value) : 0) + 5;
    result = malloc(size);
    *length = 0;
    if (result && !read_profile(text, known, sizeof known))
        *length = (size_t)sprintf(result, "profile = %s\n", profile);
    while (result && *text) {
        const char *end = strchr(text, '\n') ? strchr(text, '\n') : text + strlen(text);

        if (!replaced(text, (size_t)(end - text), edits, count)) {
            memcpy(result + *length, text, (size_t)(end - text));
            *length += (size_t)(end - text);
            result[(*length)++] = '\n';
        }
        text = *end ? end + 1 : end;
    }
    for (unsigned int i = 0; result && i < count; i++)
        if (edits[i].value)
            *length += (size_t)sprintf(result + *length, "%s = %s\n", edits[i].name, edits[i].value);
    return result;
}

/* Changes the file under its lock; faults without a number get the next ones. */
static bool rewrite(struct edit *edits, unsigned int count)
{
    int saved = errno;
    int descriptor = open_lock();
    bool good = descriptor >= 0 && lock_file(descriptor);
    struct stat status;
    char *text = good ? read_whole(path, &status) : NULL;
    char *result = NULL;
    size_t length;
    char other[PATH_MAX];

    if (text && read_profile(text, other, sizeof other) && !same_profile(other, profile)) {
        complain("MTML_SIM_CONTROL: \"%s\" is about the profile %s, not %s", path, other, profile);
        close(descriptor);
        free(text);
        return false;
    }
    if (text) {
        unsigned long long id = last_fault(text);

        for (unsigned int i = 0; i < count; i++)
            if (strcmp(edits[i].name, "fault.") == 0)
                snprintf(edits[i].name, sizeof edits[i].name, "fault.%llu", ++id);
        result = edited(text, edits, count, &length);
    }
    good = result && write_whole(result, length);
    if (!good)
        complain("MTML_SIM_CONTROL: cannot write \"%s\": %s", path, strerror(errno));
    if (good && counter)
        atomic_fetch_add(counter, 1);
    if (descriptor >= 0)
        close(descriptor);
    free(text);
    free(result);
    if (good)
        read_again();
    errno = saved;
    return good;
}

static void free_edits(struct edit *edits, unsigned int count)
{
    for (unsigned int i = 0; edits && i < count; i++)
        free(edits[i].value);
    free(edits);
}

static char *value_now(unsigned int number, const char *key)
{
    char *value = malloc(VALUE_SIZE);
    struct output output = {value, VALUE_SIZE, 0};

    if (value && change_get(number, key, &output)) {
        free(value);
        return NULL;
    }
    return value;
}

bool outside_tell(struct device *const *devices, unsigned int count, const char *const *keys)
{
    unsigned int each = 0;
    unsigned int used = 0;
    struct edit *edits;
    bool good;

    if (!path)
        return true;
    while (keys[each])
        each++;
    edits = calloc(count * each, sizeof *edits);
    for (unsigned int i = 0; edits && i < count; i++) {
        for (unsigned int k = 0; k < each; k++) {
            name_key(edits[used].name, sizeof edits[used].name, change_number(devices[i]), keys[k]);
            edits[used].value = value_now(change_number(devices[i]), keys[k]);
            used++;
        }
    }
    good = edits && rewrite(edits, used);
    free_edits(edits, used);
    return good;
}

bool outside_tell_key(unsigned int number, const char *key)
{
    struct edit edit = {"", NULL};
    bool good;

    if (!path)
        return true;
    name_key(edit.name, sizeof edit.name, number, key);
    edit.value = value_now(number, key);
    good = edit.value && rewrite(&edit, 1);
    free(edit.value);
    return good;
}

bool outside_forget_key(unsigned int number, const char *key)
{
    struct edit edit = {"", NULL};

    if (!path)
        return true;
    name_key(edit.name, sizeof edit.name, number, key);
    return rewrite(&edit, 1);
}

bool outside_tell_faults(const char *text)
{
    struct edit edit = {"faults", NULL};
    bool good;

    if (!path)
        return true;
    edit.value = strdup(text);
    good = edit.value && rewrite(&edit, 1);
    free(edit.value);
    return good;
}

/* One line for each fault, so that each can be taken back by itself. */
bool outside_arm(const char *faults, const char **problem)
{
    struct edit *edits = NULL;
    unsigned int count = 0;
    char *copy;

    *problem = NULL;
    if (!path)
        return false;
    copy = strdup(faults);
    if (copy)
        edits = calloc(strlen(faults) / 2 + 1, sizeof *edits);
    if (edits) {
        char *rest = copy;
        char *item;

        while ((item = strsep(&rest, ","))) {
            item += strspn(item, " \t\n");
            if (!*item)
                continue;
            strcpy(edits[count].name, "fault.");
            edits[count++].value = strdup(item);
        }
    }
    if (!edits || (count && !rewrite(edits, count)))
        *problem = "the control file cannot be written";
    free_edits(edits, count);
    free(copy);
    return true;
}

void outside_disarm(unsigned int card)
{
    unsigned int count = 0;
    struct edit *edits = in_force.count ? calloc(in_force.count, sizeof *edits) : NULL;

    for (unsigned int i = 0; edits && i < in_force.count; i++) {
        const struct line *line = &in_force.all[i];

        if (line->number != FAULT)
            continue;
        if (card != NO_CARD && (line->value[0] < '0' || line->value[0] > '9' ||
                                strtoul(line->value, NULL, 10) != card))
            continue;
        snprintf(edits[count++].name, sizeof edits->name, "fault.%llu", (unsigned long long)line->id);
    }
    if (count)
        rewrite(edits, count);
    free(edits);
}
