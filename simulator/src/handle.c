/*
 * Handles: addresses in a block of memory that is never given back, so that any pointer can be checked without
 * touching what it points to, and a dead handle is told from a live one long after its death.
 */

#include "handle.h"

#include <string.h>
#include <sys/mman.h>

#define CAPACITY (1u << 20)
#define MAGIC    0x4d544d4cu

static struct handle *arena;
static unsigned int used;      /* handles ever made, up to the capacity */
static unsigned int next_slot; /* where the search for a free slot begins once all have been used */
static unsigned int oldest;    /* every handle before this one is dead or a library's */
static unsigned long live_count;

static struct handle *take_slot(void)
{
    if (!arena) {
        void *memory = mmap(NULL, CAPACITY * sizeof *arena, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (memory == MAP_FAILED)
            return NULL;
        arena = memory;
    }
    if (used < CAPACITY)
        return &arena[used++];
    for (unsigned int i = 0; i < CAPACITY; i++) {
        struct handle *handle = &arena[next_slot++ % CAPACITY];

        if (!handle->live)
            return handle;
    }
    return NULL;
}

struct handle *handle_new(enum handle_kind kind, struct device *device)
{
    struct handle *handle = take_slot();

    if (!handle)
        return NULL;
    *handle = (struct handle){MAGIC, (uint16_t)kind, true, false, 0, NULL, device};
    live_count++;
    return handle;
}

struct handle *handle_of(struct device *device, enum handle_kind kind)
{
    if (!device->handles[kind])
        device->handles[kind] = handle_new(kind, device);
    return device->handles[kind];
}

void handle_kill(struct handle *handle, const char *why)
{
    if (!handle || !handle->live)
        return;
    handle->live = false;
    handle->death = why;
    live_count--;
    if (handle->device)
        handle->device->handles[handle->kind] = NULL;
    handle->device = NULL;
}

void handle_kill_device(struct device *device, const char *why)
{
    for (unsigned int kind = 0; kind < HANDLE_KIND_COUNT; kind++)
        handle_kill(device->handles[kind], why);
}

void handle_kill_all(const char *why, enum death death)
{
    for (unsigned int i = oldest; i < used; i++) {
        if (arena[i].kind == HANDLE_LIBRARY || !arena[i].live)
            continue;
        handle_kill(&arena[i], why);
        arena[i].excused = death == DEATH_FROM_OUTSIDE;
    }
    oldest = used < CAPACITY ? used : 0;
}

void handle_kill_libraries(const char *why)
{
    for (unsigned int i = 0; i < used; i++) {
        if (arena[i].kind != HANDLE_LIBRARY || !arena[i].live)
            continue;
        handle_kill(&arena[i], why);
        arena[i].excused = true;
    }
}

unsigned long handle_count(void)
{
    return live_count;
}

void handle_forget(void)
{
    if (arena)
        munmap(arena, CAPACITY * sizeof *arena);
    arena = NULL;
    used = next_slot = oldest = 0;
    live_count = 0;
}

static bool handle_ours(const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    uintptr_t start = (uintptr_t)arena;

    return arena && address >= start && address < start + used * sizeof *arena &&
           (address - start) % sizeof *arena == 0;
}

bool handle_excused(const void *pointer)
{
    const struct handle *handle = pointer;

    return handle_ours(pointer) && handle->magic == MAGIC && !handle->live && handle->excused;
}

const char *handle_check(const void *pointer, enum handle_kind kind)
{
    static const char *const wrong_kind[] = {
        "a library handle was passed for another kind", "a system handle was passed for another kind",
        "a device handle was passed for another kind",  "a gpu handle was passed for another kind",
        "a memory handle was passed for another kind",  "a vpu handle was passed for another kind",
    };
    const struct handle *handle = pointer;

    if (!handle_ours(pointer))
        return "the handle is not one that this library gave out";
    if (handle->magic != MAGIC)
        return "the handle's memory was overwritten";
    if (!handle->live)
        return handle->death;
    if (handle->kind != kind)
        return wrong_kind[handle->kind];
    return NULL;
}
