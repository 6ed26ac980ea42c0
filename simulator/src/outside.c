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

/* Stand where other lines have the number of an object. */
#define FAULT         0xFE000000u
#define FAULTS        0xFD000000u
#define PATIENCE      1000        /* milliseconds for the lock, which is held for less than one */
#define MAX_FILE      (1024 * 1024)
#define MAX_LINES     8192
#define TRIES         100         /* names for the file that takes the other's place */

struct line {
    unsigned int row;
    unsigned int number;
    uint64_t id; /* of a fault */
    char *key;   /* of an object */
    char *value;
};

struct lines {
    struct line *all;
    unsigned int count;
    unsigned int row; /* the one that is being read */
    bool foreign; /* they are about another profile */
};

static char *path;
static char *profile; /* as MTML_SIM_PROFILE has it */
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

static char *read_whole(const char *name, struct stat *status)
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

/* The last line about a thing counts. */
static bool add_line(struct lines *lines, unsigned int number, uint64_t id, const char *key, const char *value)
{
    struct line line = {lines->row, number, id, strdup(key), strdup(value)};
    struct line *grown;

    for (unsigned int i = 0; line.value && i < lines->count; i++) {
        struct line *known = &lines->all[i];

        if (known->number == number && known->id == id && strcmp(known->key, key) == 0) {
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
        if (lines->all[i].number == like->number && lines->all[i].id == like->id &&
            strcmp(lines->all[i].key, like->key) == 0)
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

        if (line->number == FAULT && (!next || strcmp(next->value, line->value) != 0))
            faults_drop(line->id);
        else if (line->number == FAULTS && !next)
            faults_set(sim.faults && *sim.faults ? sim.faults : sim.machine->faults.bytes, sim.machine->device_count);
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
            complain("%s:%u: %s%s%s: %s", path, line->row, line->key, *line->key ? " = " : "", line->value, problem);
            good = false;
        }
    }
    free_lines(&in_force);
    in_force = *lines;
    return good;
}

/* FILE.lock; -1 where it cannot be had, or is no file. */
static int open_lock(int flags)
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

static bool read_again(void)
{
    struct lines lines = {0};
    int lock = open_lock(0);
    char *text;
    bool good;

    /* Somebody may have made another, because FILE.lock was damaged. */
    if (lock >= 0) {
        counter_join(lock, false);
        close(lock);
    }
    seen_counter = counter_value();
    text = read_whole(path, &seen_file);
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
    read_again();
    errno = saved;
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
    descriptor = open_lock(O_CREAT);
    if (descriptor >= 0) {
        if (lock_file(descriptor))
            counter_join(descriptor, true);
        close(descriptor);
    }
    sim.attention = true;
    return read_again();
}

bool outside_follows(void)
{
    return path != NULL;
}

void outside_close(void)
{
    counter_leave();
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

/* A line that is to be there once, or not at all for a value of NULL. */
struct note {
    char name[96];
    char *value;
};

/* What outside_write is to write. */
static struct note *notes;
static unsigned int note_count;
static const char *note_problem;

static void note(const char *name, const char *value)
{
    struct note *grown;
    char *copy = value ? strdup(value) : NULL;

    /* Blanks between faults; elsewhere they are written as \n. */
    for (char *end = copy; end && *(end += strcspn(end, "\r\n"));)
        *end = ' ';
    if (strlen(name) >= sizeof grown->name)
        note_problem = "the name is too long";
    grown = note_problem ? NULL : realloc(notes, (note_count + 1) * sizeof *grown);
    if (grown)
        notes = grown;
    if (!grown || (value && !copy)) {
        note_problem = note_problem ? note_problem : strerror(ENOMEM);
        free(copy);
        return;
    }
    strcpy(notes[note_count].name, name);
    notes[note_count++].value = copy;
}

void outside_note(unsigned int number, const char *key, const char *value)
{
    unsigned int card = number & 0xff;
    char name[128];

    if (!path)
        return;
    if (number == MTML_SIM_MACHINE)
        snprintf(name, sizeof name, "machine.%s", key);
    else if (number >> 8 & 0xff)
        snprintf(name, sizeof name, "%u.instance.%u.%s", card, (number >> 8 & 0xff) - 1, key);
    else if (number >> 16 & 0xff)
        snprintf(name, sizeof name, "%u.virt.%u.%s", card, (number >> 16 & 0xff) - 1, key);
    else
        snprintf(name, sizeof name, "%u.%s", card, key);
    note(name, value);
}

void outside_note_faults(const char *text)
{
    if (path)
        note("faults", text);
}

/* One line for each fault, so that each can be taken back by itself. */
void outside_note_more_faults(const char *text)
{
    char *copy = path ? strdup(text) : NULL;
    char *rest = copy;
    char *item;

    if (path && !copy)
        note_problem = strerror(ENOMEM);
    while ((item = strsep(&rest, ","))) {
        item += strspn(item, " \t\n");
        if (*item)
            note("fault.", item);
    }
    free(copy);
}

void outside_note_no_faults(unsigned int card)
{
    for (unsigned int i = 0; i < in_force.count; i++) {
        const struct line *line = &in_force.all[i];
        char name[32];

        if (line->number != FAULT)
            continue;
        if (card != NO_CARD && (line->value[0] < '0' || line->value[0] > '9' ||
                                strtoul(line->value, NULL, 10) != card))
            continue;
        snprintf(name, sizeof name, "fault.%llu", (unsigned long long)line->id);
        note(name, NULL);
    }
}

static bool write_all(int descriptor, const char *text, size_t length)
{
    while (length) {
        ssize_t written = write(descriptor, text, length);

        if (written <= 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

/* Into a new file that takes the other's place: what has its name already is somebody else's. */
static bool replace_file(const char *text, size_t length)
{
    char name[PATH_MAX];
    int descriptor = -1;
    bool good;

    for (int i = 0; i < TRIES && descriptor < 0; i++) {
        if ((size_t)snprintf(name, sizeof name, "%s.%ld.%d", path, (long)getpid(), i) >= sizeof name)
            return false;
        descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            return false;
    }
    if (descriptor < 0)
        return false;
    good = write_all(descriptor, text, length);
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

/* Whether a line is one that the notes replace. */
static bool replaced(const char *line, size_t length)
{
    const char *equals = memchr(line, '=', length);
    size_t name = equals ? (size_t)(equals - line) : 0;

    while (name && strchr(" \t", line[name - 1]))
        name--;
    for (unsigned int i = 0; name && i < note_count; i++)
        if (strlen(notes[i].name) == name && strncmp(notes[i].name, line, name) == 0)
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

/* The text with the notes at its end; the caller frees it. */
static char *with_notes(const char *text, size_t *length)
{
    size_t size = strlen(text) + strlen(profile) + 32;
    unsigned long long id = last_fault(text);
    char known[PATH_MAX];
    char *result;

    for (unsigned int i = 0; i < note_count; i++) {
        if (strcmp(notes[i].name, "fault.") == 0)
            snprintf(notes[i].name, sizeof notes[i].name, "fault.%llu", ++id);
        size += strlen(notes[i].name) + (notes[i].value ? strlen(notes[i].value) : 0) + 5;
    }
    result = malloc(size);
    *length = 0;
    if (result && !read_profile(text, known, sizeof known))
        *length = (size_t)sprintf(result, "profile = %s\n", profile);
    while (result && *text) {
        const char *end = strchr(text, '\n') ? strchr(text, '\n') : text + strlen(text);

        if (!replaced(text, (size_t)(end - text))) {
            memcpy(result + *length, text, (size_t)(end - text));
            *length += (size_t)(end - text);
            result[(*length)++] = '\n';
        }
        text = *end ? end + 1 : end;
    }
    for (unsigned int i = 0; result && i < note_count; i++)
        if (notes[i].value)
            *length += (size_t)sprintf(result + *length, "%s = %s\n", notes[i].name, notes[i].value);
    return result;
}

/* Under the file's lock: NULL, or why it is not written. */
static const char *write_locked(void)
{
    static char problem[2 * PATH_MAX + 64];
    char other[PATH_MAX];
    struct stat status;
    char *text = read_whole(path, &status);
    char *result;
    size_t length;
    bool good;

    if (!text)
        return "it cannot be read";
    if (read_profile(text, other, sizeof other) && !same_profile(other, profile)) {
        snprintf(problem, sizeof problem, "it is about the profile %s, not %.*s", other, PATH_MAX, profile);
        free(text);
        return problem;
    }
    errno = ENOMEM;
    result = with_notes(text, &length);
    if (result)
        errno = length > MAX_FILE ? EFBIG : errno;
    good = result && length <= MAX_FILE && replace_file(result, length);
    free(text);
    free(result);
    return good ? NULL : strerror(errno);
}

bool outside_write(void)
{
    const char *problem = note_problem;
    int saved = errno;
    int lock = -1;

    if (!problem && note_count) {
        lock = open_lock(O_CREAT);
        if (lock < 0 || !lock_file(lock)) {
            problem = strerror(errno);
        } else {
            counter_join(lock, true);
            problem = write_locked();
            if (!problem)
                counter_raise();
        }
    }
    if (lock >= 0)
        close(lock);
    if (problem)
        complain("MTML_SIM_CONTROL: cannot write \"%s\": %s", path, problem);
    else if (note_count)
        read_again();
    for (unsigned int i = 0; i < note_count; i++)
        free(notes[i].value);
    free(notes);
    notes = NULL;
    note_count = 0;
    note_problem = NULL;
    errno = saved;
    return !problem;
}

bool outside_tell(struct device *const *devices, unsigned int count, const char *const *keys)
{
    static char value[VALUE_SIZE];

    for (unsigned int i = 0; path && i < count; i++) {
        for (const char *const *key = keys; *key; key++) {
            struct output output = {value, sizeof value, 0};

            if (!change_get(change_number(devices[i]), *key, &output))
                outside_note(change_number(devices[i]), *key, value);
        }
    }
    return outside_write();
}
