/* What a program holds: the library, the system, devices and their parts. */

#ifndef SIM_HANDLE_H
#define SIM_HANDLE_H

#include "machine.h"

struct handle {
    uint32_t magic;
    uint16_t kind;
    bool live;
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
void handle_kill_all(const char *why);
/* NULL when the pointer is a live handle of that kind; else what is wrong with it. */
const char *handle_check(const void *pointer, enum handle_kind kind);
unsigned long handle_count(void);

#endif
