/*
 * libmtgpu_nodes.so, to be preloaded: the device nodes /dev/mtgpu.N for programs that ask the kernel driver how much
 * memory processes use. It is no part of libmtml. Number and struct are those of dixyes/mtgpu-drv 2.7.0 and of
 * elysia-best/mtgpu 3.0.0 (inc/pvr/include/uapi_common.h).
 *
 * MTML_SIM_NODES names a folder. Its file mtgpu.N says how a node of that name answers, at each call anew:
 *
 *     process = 4242 lma=536870912 pt_lma=1048576     a process and its bytes; also uma, pt_uma, system and user,
 *                                                     host=PID: its number for who asks as the host (ostype 0),
 *                                                     device=D: an OsDeviceID other than the card's
 *     device = 128      OsDeviceID, the minor number of the card's render node (128 + N)
 *     count = 4000000000      a number of entries that is not that of the processes
 *     fill = 0xff       this byte all over the answer
 *     errno = 25        the call fails
 *     interrupt = 2     the first two calls of a process fail with EINTR
 *     delay = 0.5       seconds before the answer, in which no signal gets through, as where the driver waits for a lock
 *
 * The node is known by the name of the file behind the descriptor, whatever its folder. Where the folder has no file for
 * it the call goes to the kernel, as every other call does. Where /dev/mtgpu.N is missing, its open gives that file.
 *
 * The folder's file `calls` gets a line for each ioctl of a node, that of the memory or another. FIOCLEX and FIONCLEX,
 * by which Python's open() makes a descriptor close-on-exec, are left out: they do not get as far as a driver.
 *
 *     PID mtgpu.0 0xa3104da7 1 O_RDONLY O_CLOEXEC     request, ostype (- for other requests), how the node is open
 */

#undef _FORTIFY_SOURCE /* has an open of its own */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { ENTRIES = 80, FOR_HOST = 0, CARDS = 64, FIRST_RENDER_NODE = 128 };
#define PROCESS_MEMORY 0xa3104da7u /* _IOR('M', 0xA7, struct process_memory) */
#define FIONCLEX       0x5450u
#define FIOCLEX        0x5451u

/* In the order of the driver's struct, where each is followed by its maximum. */
static const char *const figures[] = {"pt_uma", "pt_lma", "lma", "uma", "system", "user"};
enum { FIGURES = sizeof figures / sizeof *figures, THE_CARDS = INT32_MIN };

struct entry {
    int32_t os_device_id;
    uint32_t internal_id;
    uint32_t pid;
    uint32_t unused;
    uint64_t bytes[FIGURES][2];
};

struct process_memory {
    uint32_t ostype;
    uint32_t unused;
    uint32_t count;
    uint32_t unused_too;
    struct entry entries[ENTRIES];
};

_Static_assert(sizeof(struct entry) == 0x70 && sizeof(struct process_memory) == 8976, "the driver's struct");

struct node {
    unsigned int number;
    char name[32];
    char file[PATH_MAX];
};

struct answer {
    const struct node *node;
    uint32_t ostype;
    int32_t device;
    int error;
    unsigned int interrupts;
    double delay;
    long long count; /* -1: that of the entries */
    int fill;        /* -1: none */
    unsigned int entries;
    struct process_memory memory;
};

static const char *folder(void)
{
    const char *path = getenv("MTML_SIM_NODES");

    return path && *path ? path : NULL;
}

/* Whether a name is that of a node, mtgpu.N; fills the node. */
static int parse_node(struct node *node, const char *name)
{
    char rest;

    /* As the kernel says of a file that was removed. */
    if (sscanf(name, "mtgpu.%4u%c", &node->number, &rest) != 1 &&
        (sscanf(name, "mtgpu.%4u (deleted%c", &node->number, &rest) != 2 || rest != ')'))
        return 0;
    snprintf(node->name, sizeof node->name, "mtgpu.%u", node->number);
    return snprintf(node->file, sizeof node->file, "%s/%s", folder(), node->name) < (int)sizeof node->file;
}

static int find_node(struct node *node, int descriptor)
{
    char link[64], path[PATH_MAX];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return 0;
    path[length] = 0;
    return parse_node(node, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
}

/* One line, written whole, so that threads and processes can share the file. */
static void record(const struct node *node, int descriptor, unsigned int request, const void *argument)
{
    static const char *const modes[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};
    int mode = fcntl(descriptor, F_GETFL) & O_ACCMODE;
    char path[PATH_MAX], line[128], ostype[16] = "-";
    int file;

    if (request == PROCESS_MEMORY)
        snprintf(ostype, sizeof ostype, "%u", ((const struct process_memory *)argument)->ostype);
    snprintf(line, sizeof line, "%d %s 0x%08x %s %s%s\n", (int)getpid(), node->name, request, ostype, modes[mode & 3],
             fcntl(descriptor, F_GETFD) & FD_CLOEXEC ? " O_CLOEXEC" : "");
    if (snprintf(path, sizeof path, "%s/calls", folder()) >= (int)sizeof path)
        return;
    file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    if (write(file, line, strlen(line)) < 0)
        fprintf(stderr, "mtml simulator: cannot write %s\n", path);
    close(file);
}

/* A number, which may be hexadecimal; whether it is one. */
static int parse_number(const char *text, unsigned long long *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 0);
    return *text && !*end && !errno;
}

static int parse_process(struct answer *answer, char *text)
{
    struct entry entry = {THE_CARDS, answer->node->number, 0, 0, {{0}}};
    unsigned long long number, pid, host;
    char *rest, *word = strtok_r(text, " \t", &rest);

    if (!word || !parse_number(word, &pid))
        return 0;
    host = pid;
    while ((word = strtok_r(NULL, " \t", &rest))) {
        char *value = strchr(word, '=');
        unsigned int figure;

        if (!value || !parse_number(value + 1, &number))
            return 0;
        *value = 0;
        for (figure = 0; figure < FIGURES && strcmp(word, figures[figure]); figure++)
            ;
        if (figure < FIGURES)
            entry.bytes[figure][0] = entry.bytes[figure][1] = number;
        else if (!strcmp(word, "host"))
            host = number;
        else if (!strcmp(word, "device"))
            entry.os_device_id = (int32_t)number;
        else
            return 0;
    }
    entry.pid = (uint32_t)(answer->ostype == FOR_HOST ? host : pid);
    /* What the driver's struct has no place for is left out. */
    if (answer->entries < ENTRIES)
        answer->memory.entries[answer->entries++] = entry;
    return 1;
}

static int parse_line(struct answer *answer, char *line)
{
    char *value = strchr(line, '='), *end;
    unsigned long long number;

    if (!value)
        return 0;
    for (end = value; end > line && strchr(" \t", end[-1]); end--)
        ;
    *end = 0;
    value += 1 + strspn(value + 1, " \t");
    if (!strcmp(line, "process"))
        return parse_process(answer, value);
    if (!strcmp(line, "delay")) {
        answer->delay = strtod(value, &end);
        return *value && !*end && answer->delay >= 0;
    }
    if (!parse_number(value, &number))
        return 0;
    if (!strcmp(line, "device"))
        answer->device = (int32_t)number;
    else if (!strcmp(line, "count"))
        answer->count = (uint32_t)number;
    else if (!strcmp(line, "fill"))
        answer->fill = (unsigned char)number;
    else if (!strcmp(line, "errno"))
        answer->error = (int)number;
    else if (!strcmp(line, "interrupt"))
        answer->interrupts = (unsigned int)number;
    else
        return 0;
    return 1;
}

/* What a node's file says; an errno. */
static int read_answer(struct answer *answer)
{
    FILE *file = fopen(answer->node->file, "re");
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int number = 0, error = 0;

    if (!file)
        return errno;
    while (!error && (length = getline(&line, &size, file)) >= 0) {
        number++;
        while (length && strchr(" \t\n", line[length - 1]))
            line[--length] = 0;
        if (*line && *line != '#' && !parse_line(answer, line)) {
            fprintf(stderr, "mtml simulator: %s:%d: not understood\n", answer->node->file, number);
            error = EINVAL;
        }
    }
    free(line);
    fclose(file);
    return error;
}

static void wait_for(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

/* The driver's answer; an errno. */
static int ask(const struct node *node, struct process_memory *memory)
{
    static atomic_uint asked[CARDS];
    struct answer answer = {.node = node, .ostype = memory->ostype, .count = -1, .fill = -1};
    int error;

    answer.device = FIRST_RENDER_NODE + (int)node->number;
    error = read_answer(&answer);
    if (error)
        return error;
    if (atomic_fetch_add(&asked[node->number % CARDS], 1) < answer.interrupts)
        return EINTR;
    wait_for(answer.delay);
    if (answer.error)
        return answer.error;
    answer.memory.ostype = memory->ostype;
    for (unsigned int i = 0; i < answer.entries; i++)
        if (answer.memory.entries[i].os_device_id == THE_CARDS)
            answer.memory.entries[i].os_device_id = answer.device;
    if (answer.fill >= 0)
        memset(&answer.memory, answer.fill, sizeof answer.memory);
    else
        answer.memory.count = answer.entries;
    if (answer.count >= 0)
        answer.memory.count = (uint32_t)answer.count;
    *memory = answer.memory;
    return 0;
}

/* ==== In the place of libc's ==== */

EXPORT int ioctl(int descriptor, unsigned long number, ...);
EXPORT int open(const char *path, int flags, ...);
EXPORT int open64(const char *path, int flags, ...);
EXPORT int openat(int directory, const char *path, int flags, ...);
EXPORT int openat64(int directory, const char *path, int flags, ...);

int ioctl(int descriptor, unsigned long number, ...)
{
    unsigned int request = (unsigned int)number;
    struct node node;
    va_list arguments;
    void *argument;

    va_start(arguments, number);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request != FIOCLEX && request != FIONCLEX && folder() && find_node(&node, descriptor)) {
        record(&node, descriptor, request, argument);
        if (request == PROCESS_MEMORY && access(node.file, F_OK) == 0) {
            int error = ask(&node, argument);

            if (error)
                errno = error;
            return error ? -1 : 0;
        }
    }
    return (int)syscall(SYS_ioctl, descriptor, number, argument);
}

static int open_node(int directory, const char *path, int flags, unsigned int mode)
{
    static const char above[] = "/dev/";
    int descriptor = (int)syscall(SYS_openat, directory, path, flags, mode);
    struct node node;

    if (descriptor < 0 && errno == ENOENT && folder() && !strncmp(path, above, strlen(above)) &&
        parse_node(&node, path + strlen(above)))
        return (int)syscall(SYS_openat, directory, node.file, flags, mode);
    return descriptor;
}

/* A mode that was not given is not looked at by the kernel either. */
#define OPEN(directory)                     \
    va_list arguments;                      \
    unsigned int mode;                      \
                                            \
    va_start(arguments, flags);             \
    mode = va_arg(arguments, unsigned int); \
    va_end(arguments);                      \
    return open_node(directory, path, flags, mode)

int open(const char *path, int flags, ...)
{
    OPEN(AT_FDCWD);
}

int open64(const char *path, int flags, ...)
{
    OPEN(AT_FDCWD);
}

int openat(int directory, const char *path, int flags, ...)
{
    OPEN(directory);
}

int openat64(int directory, const char *path, int flags, ...)
{
    OPEN(directory);
}
