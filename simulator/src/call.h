/* What every call goes through: each function of the interface begins with call_enter_... and ends with call_leave. */

#ifndef SIM_CALL_H
#define SIM_CALL_H

#include "functions.h"
#include "handle.h"
#include "state.h"

struct call {
    enum function function;
    MtmlReturn result;
    struct device *device;
    struct handle *handle;
    bool gives_null; /* a fault: the call succeeds, and every handle that it hands out is NULL */
    bool locked;
    MtmlLogLevel event_level;
    char event[160];
};

/*
 * Begins a call: counts it, takes the lock, checks the handle, applies faults, and refuses what is not supported.
 * VALID tells whether the other arguments can be used. True when the body is to run. call_leave ends it either way.
 */
bool call_enter(struct call *call, enum function function, bool valid);
bool call_enter_library(struct call *call, enum function function, const MtmlLibrary *library, bool valid);
bool call_enter_system(struct call *call, enum function function, const MtmlSystem *system, bool valid);
bool call_enter_device(struct call *call, enum function function, const MtmlDevice *device, bool valid);
bool call_enter_gpu(struct call *call, enum function function, const MtmlGpu *gpu, bool valid);
bool call_enter_memory(struct call *call, enum function function, const MtmlMemory *memory, bool valid);
bool call_enter_vpu(struct call *call, enum function function, const MtmlVpu *vpu, bool valid);
MtmlReturn call_leave(struct call *call);
/* The end of a function that frees a handle: nothing happens to it, unless the simulator is strict. */
MtmlReturn call_leave_freed(struct call *call);

/* What a fault makes of the call: the code, or success without a handle for MTML_SUCCESS. */
void call_fail(struct call *call, MtmlReturn result);

/* A further device argument: NULL, and the call's result set, when it is not one. */
struct device *call_device(struct call *call, const MtmlDevice *device);

/* False, and the call's result set, when the device is lost. Counts as a call on it. */
bool call_reach(struct call *call, struct device *device);

/* The device's handle of that kind, to be handed out; NULL when memory is short or a fault asks for it. */
struct handle *call_handle(struct call *call, struct device *device, enum handle_kind kind);

/* Hands a device's handle out through SLOT. */
void call_give_device(struct call *call, struct device *device, MtmlDevice **slot);

/* Copies a text to the caller; sets INSUFFICIENT_SIZE when it does not fit. KEY is its name in the profile. */
void call_give_text(struct call *call, const struct text *text, const char *key, char *buffer, unsigned int size);

/* What a function that gives one number does: the kind of its handle, its name and parameters, and the number. */
#define SIM_GIVES(kind, function, handle, slot, value)                       \
    struct call call;                                                        \
                                                                             \
    if (call_enter_##kind(&call, FUNCTION_##function, handle, slot != NULL)) \
        *slot = value;                                                       \
    return call_leave(&call);

/* The same for a text, which the device has under its key. */
#define SIM_GIVES_TEXT(kind, function, handle, key, buffer, size)              \
    struct call call;                                                          \
                                                                               \
    if (call_enter_##kind(&call, FUNCTION_##function, handle, buffer != NULL)) \
        call_give_text(&call, &call.device->key, #key, buffer, size);          \
    return call_leave(&call);

/* What a function that frees a handle does. */
#define SIM_FREES(kind, function, handle)                       \
    struct call call;                                           \
                                                                \
    call_enter_##kind(&call, FUNCTION_##function, handle, true); \
    return call_leave_freed(&call);

/* For texts of fixed size inside a struct, which are cut. */
void fill_text(const struct device *device, const struct text *text, const char *key, char *buffer, size_t size);

/* Something that the log may want to tell. */
SIM_PRINTF(3, 4) void call_event(struct call *call, MtmlLogLevel level, const char *format, ...);

#endif
