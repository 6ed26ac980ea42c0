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
 * Writers hold a lock on FILE.lock, replace the file and then raise a counter that all processes have in common: each
 * call sees at once whether there is something to read. Those who write by other means are noticed by the file's time
 * and size, which are looked at once in a tick of the coarse clock.
 *
 * Whoever can write the file is trusted with the machine and with nothing else: it is read as data, up to a size, and
 * what is beside it is neither followed nor overwritten.
 */

#define _GNU_SOURCE

#include "outside.h"

#include "outside_file.h"

#include "../mtml_sim.h"

#include "change.h"
#include "complain.h"
#include "counter.h"
#include "faults.h"
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE  1000 /* milliseconds for the lock, which is held for less than one */
#define MAX_LINES 8192

/* What a line is about: an object's key, one fault, or all that are armed instead of those of variables and profile. */
enum kind { KIND_KEY, KIND_FAULT, KIND_FAULTS };

struct line {
    enum kind kind;
    unsigned int row;
    unsigned int number; /* of an object */
    uint64_t id;         /* of a fault */
    char *key;           /* of an object */
    char *value;
};

struct lines {
    struct line *all;
    unsigned int count;
    unsigned int row; /* the one that is being read */
    bool foreign; /* they are about another profile */
};

static char *path;
static char *profile;
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
    *lines = (struct lines){0};
}

/* ==== Reading ==== */

char *outside_read(const char *name, struct stat *status)
{
    int descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    size_t length = 0;
    ssize_t got = -1;

    memset(status, 0, sizeof *status);
    if (descriptor < 0)
        return errno == ENOENT ? strdup("") : NULL;
    if (fstat(descriptor, status) == 0 && S_ISREG(status->st_mode) && status->st_size <= MAX_FILE)
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

static bool is_about_same(const struct line *one, const struct line *other)
{
    return one->kind == other->kind && one->number == other->number && one->id == other->id &&
           strcmp(one->key, other->key) == 0;
}

/* The last line about a thing counts. */
static bool add_line(struct lines *lines, struct line about, const char *key, const char *value)
{
    struct line line = {about.kind, lines->row, about.number, about.id, strdup(key), strdup(value)};
    struct line *grown;

    for (unsigned int i = 0; line.key && line.value && i < lines->count; i++) {
        struct line *known = &lines->all[i];

        if (is_about_same(known, &line)) {
            free(known->value);
            free(line.key);
            known->value = line.value;
            known->row = line.row;
            return true;
        }
    }
    grown = lines->count < MAX_LINES ? realloc(lines->all, (lines->count + 1) * sizeof *grown) : NULL;
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

bool outside_same_profile(const char *one, const char *other)
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
        lines->foreign = !outside_same_profile(value, profile);
    else if (sscanf(name, "fault.%llu%c", &id, &excess) == 1 && id)
        good = add_line(lines, (struct line){.kind = KIND_FAULT, .id = id}, "", value);
    else if (strcmp(name, "faults") == 0)
        good = add_line(lines, (struct line){.kind = KIND_FAULTS}, "", value);
    else if (strncmp(name, "*.", 2) == 0 && name[2])
        for (number = 0; good && number < sim.machine->device_count; number++)
            good = add_line(lines, (struct line){.number = number}, name + 2, value);
    else if ((key = read_place(name, &number)) && *key)
        good = add_line(lines, (struct line){.number = number}, key, value);
    else
        return "write 0.KEY, *.KEY, machine.KEY, 0.instance.1.KEY, 0.virt.2.KEY, fault.NUMBER or faults before the =";
    return good ? NULL : "out of memory";
}

static bool parse_lines(struct lines *lines, char *text)
{
    bool good = true;

    while (text && *text) {
        char *end = strchr(text, '\n');
        const char *problem;

        lines->row++;
        if (end)
            *end = '\0';
        problem = parse_line(lines, text);
        if (problem) {
            complain("%s:%u: %s", path, lines->row, problem);
            good = false;
        }
        if (lines->count == MAX_LINES) {
            complain("%s:%u: too many changes", path, lines->row);
            return false;
        }
        text = end ? end + 1 : NULL;
    }
    return good;
}

static const struct line *find_line(const struct lines *lines, const struct line *like)
{
    for (unsigned int i = 0; i < lines->count; i++)
        if (is_about_same(&lines->all[i], like))
            return &lines->all[i];
    return NULL;
}

/* Brings the machine from what is in force to what the new lines say. */
static bool apply(struct lines *lines)
{
    bool good = true;

    for (unsigned int i = 0; i < in_force.count; i++) {
        const struct line *line = &in_force.all[i];
        const struct line *next = find_line(lines, line);

        if (line->kind == KIND_FAULT && (!next || strcmp(next->value, line->value) != 0))
            faults_drop(line->id);
        else if (line->kind == KIND_FAULTS && !next)
            faults_set(sim.faults && *sim.faults ? sim.faults : sim.machine->faults.bytes, sim.machine->device_count);
        else if (line->kind == KIND_KEY && !next)
            change_restore(line->number, line->key);
    }
    for (unsigned int i = 0; i < lines->count; i++) {
        const struct line *line = &lines->all[i];
        const struct line *last = find_line(&in_force, line);
        const char *problem;

        if (last && strcmp(last->value, line->value) == 0)
            continue;
        if (line->kind == KIND_FAULT)
            problem = faults_add(line->value, sim.machine->device_count, line->id);
        else if (line->kind == KIND_FAULTS)
            problem = faults_set(line->value, sim.machine->device_count);
        else
            problem = change_set(line->number, line->key, line->value);
        if (problem) {
            complain("%s:%u: %s%s%s: %s", path, line->row, line->key, *line->key ? " = " : "", line->value, problem);
            good = false;
        }
    }
    free_lines(&in_force);
    in_force = *lines;
    return good;
}

int outside_open_lock(int flags)
{
    char name[PATH_MAX];
    struct stat status;
    int descriptor;

    if ((size_t)snprintf(name, sizeof name, "%s.lock", path) >= sizeof name)
        return -1;
    descriptor = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0666);
    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(descriptor);
        errno = EINVAL;
        return -1;
    }
    return descriptor;
}

bool outside_read_again(void)
{
    struct lines lines = {0};
    int lock = outside_open_lock(0);
    char *text;
    bool good;

    /* Somebody may have made another, because FILE.lock was damaged. */
    if (lock >= 0) {
        counter_join(lock, false);
        close(lock);
    }
    seen_counter = counter_value();
    text = outside_read(path, &seen_file);
    if (!text) {
        complain("MTML_SIM_CONTROL: cannot read \"%s\"", path);
        return false;
    }
    good = parse_lines(&lines, text);
    free(text);
    if (lines.foreign || lines.count == MAX_LINES) {
        good = lines.foreign;
        free_lines(&lines);
        return good;
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
    if (counter_value() == seen_counter) {
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
    outside_read_again();
    errno = saved;
}

bool outside_lock(int descriptor)
{
    for (int tries = 0; flock(descriptor, LOCK_EX | LOCK_NB) != 0; tries++) {
        const struct timespec millisecond = {0, 1000000};

        if ((errno != EWOULDBLOCK && errno != EINTR) || tries == PATIENCE)
            return false;
        nanosleep(&millisecond, NULL);
    }
    return true;
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
    descriptor = outside_open_lock(O_CREAT);
    if (descriptor >= 0) {
        if (outside_lock(descriptor))
            counter_join(descriptor, true);
        close(descriptor);
    }
    sim.attention = true;
    return outside_read_again();
}

bool outside_follows(void)
{
    return path != NULL;
}

const char *outside_path(void)
{
    return path;
}

const char *outside_profile(void)
{
    return profile;
}

void outside_each_fault(void (*use)(uint64_t id, const char *text, unsigned int card), unsigned int card)
{
    for (unsigned int i = 0; i < in_force.count; i++)
        if (in_force.all[i].kind == KIND_FAULT)
            use(in_force.all[i].id, in_force.all[i].value, card);
}

void outside_close(void)
{
    counter_leave();
    free(path);
    free(profile);
    path = profile = NULL;
    for (unsigned int i = 0; i < in_force.count; i++)
        if (in_force.all[i].kind == KIND_FAULT)
            faults_drop(in_force.all[i].id);
    free_lines(&in_force);
    sim.attention = false;
}
