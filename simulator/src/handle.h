/* What a program holds: the library, the system, devices and their parts. */

#ifndef SIM_HANDLE_H
#define SIM_HANDLE_H

#include "machine.h"

/* Who ended a handle. A program that uses what it has ended itself is mistaken; what a test changes it cannot know. */
enum death { DEATH_BY_PROGRAM, DEATH_FROM_OUTSIDE };

struct handle {
    uint32_t magic;
    uint16_t kind;
    bool live;
    bool excused; /* dead, but not by the program */
    unsigned int taken; /* how often it was handed out and not freed */
    const char *death;
    struct device *device;
};

/* NULL when memory is short. */
struct handle *handle_new(enum handle_kind kind, struct device *device);
/* The device's handle of this kind, made on first use. */
struct handle *handle_of(struct device *device, enum handle_kind kind);
void handle_kill(struct handle *handle, const char *why);
void handle_kill_device(struct device *device, const char *why);
/* All but library handles. */
void handle_kill_all(const char *why, enum death death);
/* All, and the program is not to blame. */
void handle_kill_libraries(const char *why);
/* NULL when the pointer is a live handle of that kind; else what is wrong with it. */
const char *handle_check(const void *pointer, enum handle_kind kind);
/* Whether a pointer that handle_check refuses is a handle that something else than the program has ended. */
bool handle_excused(const void *pointer);
unsigned long handle_count(void);
/* Gives the memory back; no handle is known afterwards. */
void handle_forget(void);

#endif
