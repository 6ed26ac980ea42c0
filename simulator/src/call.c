/* What every call goes through. */

#include "call.h"

#include "complain.h"
#include "faults.h"
#include "log.h"
#include "names.h"
#include "outside.h"
#include "trace.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void lock_all(void)
{
    sim_lock();
    log_lock();
}

static void unlock_all(void)
{
    log_unlock();
    sim_unlock();
}

/* A child must not inherit a lock that another thread held at the moment of the fork. */
__attribute__((constructor)) static void guard_forks(void)
{
    pthread_atfork(lock_all, unlock_all, unlock_all);
}

static uint64_t nanoseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* Busy at its end, as sleeping is far less exact than the times that are asked for; a call that hangs takes no CPU. */
static void spend(uint64_t latency)
{
    const uint64_t busy = 1000000, end = nanoseconds() + latency;
    uint64_t now;

    while ((now = nanoseconds()) < end) {
        const uint64_t asleep = end - now - busy;

        if (end - now > 2 * busy)
            nanosleep(&(struct timespec){(time_t)(asleep / 1000000000), (long)(asleep % 1000000000)}, NULL);
    }
}

void call_event(struct call *call, MtmlLogLevel level, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(call->event, sizeof call->event, format, arguments);
    va_end(arguments);
    call->event_level = level;
}

/*
 * What has no defined result on real hardware: a program that gets here has a mistake to be found. But it cannot know
 * what was changed from outside, as by another program on a real machine.
 */
static void misuse(struct call *call, const void *pointer, const char *why)
{
    if (handle_excused(pointer)) {
        call->result = MTML_ERROR_UNKNOWN;
        return;
    }
    call->result = MTML_ERROR_INVALID_ARGUMENT;
    if (sim.lenient)
        return;
    complain("%s: %s", functions[call->function].name, why);
    abort();
}

/* False when nothing can be done any more. */
static bool begin(struct call *call, enum function function)
{
    uint64_t latency;

    *call = (struct call){.function = function, .result = MTML_SUCCESS};
    sim_lock();
    latency = sim.latency_ns;
    if (latency) {
        sim_unlock();
        spend(latency);
        sim_lock();
    }
    call->locked = true;
    if (sim.attention) {
        if (sim.ended) {
            call->result = MTML_ERROR_UNKNOWN;
            return false;
        }
        outside_look();
    }
    sim.counts[function]++;
    sim.total++;
    trace_call(function);
    return true;
}

void call_fail(struct call *call, MtmlReturn result)
{
    if (result == MTML_SUCCESS)
        call->gives_null = true;
    else
        call->result = result;
}

/* Faults come after the check for misuse, which must not hide behind them, and before all others. */
static void judge(struct call *call, const struct device *device, bool valid)
{
    MtmlReturn result;

    if (call->result == MTML_SUCCESS && !valid)
        call->result = MTML_ERROR_INVALID_ARGUMENT;
    if (faults_apply(call->function, device ? device->card->number : NO_CARD, true, &result))
        call_fail(call, result);
}

bool call_enter(struct call *call, enum function function, bool valid)
{
    if (begin(call, function))
        judge(call, NULL, valid);
    return call->result == MTML_SUCCESS;
}

static bool enter_handle(struct call *call, enum function function, const void *pointer, enum handle_kind kind,
                         bool valid)
{
    struct handle *handle = NULL;
    const char *problem = NULL;

    if (!begin(call, function))
        return false;
    if (pointer)
        problem = handle_check(pointer, kind);
    if (problem)
        misuse(call, pointer, problem);
    else if (pointer)
        handle = (struct handle *)(uintptr_t)pointer;
    judge(call, handle ? handle->device : NULL, valid && pointer);
    if (call->result != MTML_SUCCESS)
        return false;
    call->handle = handle;
    call->device = handle->device;
    return true;
}

bool call_reach(struct call *call, struct device *device)
{
    struct device *card = device->card;

    device->calls++;
    if (card != device)
        card->calls++;
    if (card->lost.result != MTML_SUCCESS && card->calls > card->lost.after)
        call->result = card->lost.result;
    if (device->lost.result != MTML_SUCCESS && device->calls > device->lost.after)
        call->result = device->lost.result;
    return call->result == MTML_SUCCESS;
}

static bool supported(const struct function_entry *function, const struct device *device)
{
    bool host_virtual = device->role == ROLE_VIRT_DEVICE;

    if (function->generation != GENERATION_ANY && device->generation < function->generation)
        return false;
    switch (function->audience) {
    case DEVICES_ALL:
        return true;
    case DEVICES_PHYSICAL:
        return !host_virtual;
    case DEVICES_VIRTUAL:
        return host_virtual;
    case DEVICES_REAL_VPU:
        return device->virt_role == MTML_VIRT_ROLE_NONE;
    }
    return true;
}

static bool enter_on_device(struct call *call, enum function function, const void *pointer, enum handle_kind kind,
                            bool valid)
{
    if (!enter_handle(call, function, pointer, kind, valid) || !call_reach(call, call->device))
        return false;
    if (call->device->unsupported.member[function] || !supported(&functions[function], call->device) ||
        (function_has_keys(function) && !call->device->told.member[function]))
        call->result = MTML_ERROR_NOT_SUPPORTED;
    return call->result == MTML_SUCCESS;
}

bool call_enter_library(struct call *call, enum function function, const MtmlLibrary *library, bool valid)
{
    return enter_handle(call, function, library, HANDLE_LIBRARY, valid);
}

bool call_enter_system(struct call *call, enum function function, const MtmlSystem *system, bool valid)
{
    return enter_handle(call, function, system, HANDLE_SYSTEM, valid);
}

bool call_enter_device(struct call *call, enum function function, const MtmlDevice *device, bool valid)
{
    return enter_on_device(call, function, device, HANDLE_DEVICE, valid);
}

bool call_enter_gpu(struct call *call, enum function function, const MtmlGpu *gpu, bool valid)
{
    return enter_on_device(call, function, gpu, HANDLE_GPU, valid);
}

bool call_enter_memory(struct call *call, enum function function, const MtmlMemory *memory, bool valid)
{
    return enter_on_device(call, function, memory, HANDLE_MEMORY, valid);
}

bool call_enter_vpu(struct call *call, enum function function, const MtmlVpu *vpu, bool valid)
{
    return enter_on_device(call, function, vpu, HANDLE_VPU, valid);
}

struct device *call_device(struct call *call, const MtmlDevice *device)
{
    const char *problem = device ? handle_check(device, HANDLE_DEVICE) : NULL;

    if (problem)
        misuse(call, device, problem);
    else if (!device)
        call->result = MTML_ERROR_INVALID_ARGUMENT;
    if (call->result != MTML_SUCCESS)
        return NULL;
    return ((const struct handle *)(const void *)device)->device;
}

struct handle *call_handle(struct call *call, struct device *device, enum handle_kind kind)
{
    struct handle *handle = call->gives_null ? NULL : handle_of(device, kind);

    if (!handle && !call->gives_null)
        call->result = MTML_ERROR_INSUFFICIENT_MEMORY;
    if (handle)
        handle->taken++;
    return handle;
}

MtmlReturn call_leave_freed(struct call *call)
{
    if (sim.strict && call->result == MTML_SUCCESS && --call->handle->taken == 0)
        handle_kill(call->handle, "the handle is dangling: it was freed");
    return call_leave(call);
}

void call_give_device(struct call *call, struct device *device, MtmlDevice **slot)
{
    struct handle *handle = call_handle(call, device, HANDLE_DEVICE);

    if (call->result == MTML_SUCCESS)
        *slot = (MtmlDevice *)(void *)handle;
}

/* A text without its end: it is repeated up to the last byte of the buffer. */
static void fill_unterminated(const struct text *text, char *buffer, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buffer[i] = text->length ? text->bytes[i % text->length] : '?';
}

void call_give_text(struct call *call, const struct text *text, const char *key, char *buffer, unsigned int size)
{
    if (call->device && text_has_word(&call->device->unterminated, key)) {
        fill_unterminated(text, buffer, size);
        return;
    }
    if (size <= text->length) {
        call->result = MTML_ERROR_INSUFFICIENT_SIZE;
        return;
    }
    memcpy(buffer, text->bytes, text->length);
    buffer[text->length] = '\0';
}

void fill_text(const struct device *device, const struct text *text, const char *key, char *buffer, size_t size)
{
    size_t length = text->length < size ? text->length : size - 1;

    if (device && text_has_word(&device->unterminated, key)) {
        fill_unterminated(text, buffer, size);
        return;
    }
    memset(buffer, 0, size);
    memcpy(buffer, text->bytes, length);
}

MtmlReturn call_leave(struct call *call)
{
    /* Refusals are what a program times: their text is made where a log is kept. */
    if (call->result != MTML_SUCCESS && !call->event[0] && log_wants(MTML_LOG_LEVEL_ERROR)) {
        const char *name = name_of(return_names, call->result);

        call_event(call, MTML_LOG_LEVEL_ERROR, "%s: %s", functions[call->function].name, name ? name : "unknown code");
    }
    if (call->locked)
        sim_unlock();
    /* Outside the lock: a program's callback may call the library again. */
    if (call->event[0])
        log_event(call->event_level, call->event);
    return call->result;
}
