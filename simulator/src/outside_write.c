/* The control file: what is to be changed is noted, and then written at once. */

#define _GNU_SOURCE

#include "outside_file.h"

#include "../mtml_sim.h"

#include "change.h"
#include "complain.h"
#include "counter.h"
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES 100 /* names for the file that takes the other's place */

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

    if (!outside_path())
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
    if (outside_path())
        note("faults", text);
}

/* One line for each fault, so that each can be taken back by itself. */
void outside_note_more_faults(const char *text)
{
    char *copy = outside_path() ? strdup(text) : NULL;
    char *rest = copy;
    char *item;

    if (outside_path() && !copy)
        note_problem = strerror(ENOMEM);
    while ((item = strsep(&rest, ","))) {
        item += strspn(item, " \t\n");
        if (*item)
            note("fault.", item);
    }
    free(copy);
}

static void note_no_fault(uint64_t id, const char *text, unsigned int card)
{
    char name[32];

    if (card != NO_CARD && (text[0] < '0' || text[0] > '9' || strtoul(text, NULL, 10) != card))
        return;
    snprintf(name, sizeof name, "fault.%llu", (unsigned long long)id);
    note(name, NULL);
}

void outside_note_no_faults(unsigned int card)
{
    outside_each_fault(note_no_fault, card);
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
        if ((size_t)snprintf(name, sizeof name, "%s.%ld.%d", outside_path(), (long)getpid(), i) >= sizeof name)
            return false;
        descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            return false;
    }
    if (descriptor < 0)
        return false;
    good = write_all(descriptor, text, length);
    good = close(descriptor) == 0 && good;
    if (good && rename(name, outside_path()) == 0)
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
    size_t size = strlen(text) + strlen(outside_profile()) + 32;
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
        *length = (size_t)sprintf(result, "profile = %s\n", outside_profile());
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
    char *text = outside_read(outside_path(), &status);
    char *result;
    size_t length;
    bool good;

    if (!text)
        return "it cannot be read";
    if (read_profile(text, other, sizeof other) && !outside_same_profile(other, outside_profile())) {
        snprintf(problem, sizeof problem, "it is about the profile %s, not %.*s", other, PATH_MAX, outside_profile());
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
        lock = outside_open_lock(O_CREAT);
        if (lock < 0 || !outside_lock(lock)) {
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
        complain("MTML_SIM_CONTROL: cannot write \"%s\": %s", outside_path(), problem);
    else if (note_count)
        outside_read_again();
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

    for (unsigned int i = 0; outside_path() && i < count; i++) {
        for (const char *const *key = keys; *key; key++) {
            struct output output = {value, sizeof value, 0};

            if (!change_get(change_number(devices[i]), *key, &output))
                outside_note(change_number(devices[i]), *key, value);
        }
    }
    return outside_write();
}
