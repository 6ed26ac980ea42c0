/*
 * What the two stub libraries share: eight devices whose every value tells which device answered, and a control
 * interface that counts native calls and makes each take some time. Included by one source file a library, which
 * defines STUB_TOO_SMALL, its code for a buffer that is too short. Success is 0 in both libraries.
 *
 *   stubConfigure(active, delay_ns)  active: count calls, and busy-wait delay_ns in each; zeroes the count
 *   stubCalls()                      native calls since then
 *   stubSetInit(delay_ns)            busy-wait that long in each initialization, as a driver does
 */

#ifndef PYMTML_BENCHMARKS_STUB_H
#define PYMTML_BENCHMARKS_STUB_H

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define STUB_API __attribute__((visibility("default")))

enum {
    STUB_DEVICES = 8,
    STUB_UTILIZATION = 10,
    STUB_MEMORY_UTILIZATION = 20,
    STUB_TEMPERATURE = 30,
    STUB_FAN = 40,
    STUB_ENCODER = 50,
    STUB_DECODER = 60,
    STUB_BUS = 16,
    STUB_LINK_WIDTH = 8,
    STUB_LINK_GENERATION = 1,
    STUB_PERIOD = 500000,
    STUB_POWER = 100000,
    STUB_GRAPHICS_CLOCK = 1000,
    STUB_MEMORY_CLOCK = 2000,
    STUB_VIDEO_CLOCK = 3000,
    STUB_MAX_CLOCK = 4000,
    STUB_PCI_ID = 0x03001ed5,
};

static const unsigned long long STUB_MEMORY_TOTAL = 80ULL << 30;
static const unsigned long long STUB_MEMORY_USED = 1ULL << 30;

typedef struct {
    char name[32];
    char uuid[48];
    char serial[32];
    char bus_id[32];
    char bus_id_legacy[16];
    char gpu_path[32];
    char primary_path[32];
    char render_path[32];
} StubTexts;

static StubTexts stub_texts[STUB_DEVICES];

/* Texts are made once, so that a call costs no more than copying one. */
__attribute__((constructor)) static void stub_fill_texts(void) {
    for (unsigned int i = 0; i < STUB_DEVICES; i++) {
        StubTexts *texts = &stub_texts[i];
        snprintf(texts->name, sizeof texts->name, "Stub GPU %u", i);
        snprintf(texts->uuid, sizeof texts->uuid, "00000000-0000-4000-8000-%012u", i);
        snprintf(texts->serial, sizeof texts->serial, "SERIAL-%06u", i);
        snprintf(texts->bus_id, sizeof texts->bus_id, "00000000:%02X:00.0", STUB_BUS + i);
        snprintf(texts->bus_id_legacy, sizeof texts->bus_id_legacy, "0000:%02X:00.0", STUB_BUS + i);
        snprintf(texts->gpu_path, sizeof texts->gpu_path, "/dev/mtgpu.%u", i);
        snprintf(texts->primary_path, sizeof texts->primary_path, "/dev/dri/card%u", i);
        snprintf(texts->render_path, sizeof texts->render_path, "/dev/dri/renderD%u", 128 + i);
    }
}

static atomic_int stub_active;
static atomic_uint stub_delay_ns;
static atomic_ulong stub_calls;
static atomic_uint stub_init_ns;

STUB_API void stubConfigure(int active, unsigned int delay_ns);
STUB_API unsigned long stubCalls(void);
STUB_API void stubSetInit(unsigned int delay_ns);

void stubConfigure(int active, unsigned int delay_ns) {
    atomic_store(&stub_delay_ns, delay_ns);
    atomic_store(&stub_calls, 0);
    atomic_store(&stub_active, active);
}

unsigned long stubCalls(void) { return atomic_load(&stub_calls); }

void stubSetInit(unsigned int delay_ns) { atomic_store(&stub_init_ns, delay_ns); }

static long long stub_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void stub_wait(unsigned int delay_ns) {
    long long end = stub_clock() + delay_ns;
    while (stub_clock() < end) {
    }
}

/* What an initialization takes. */
static inline void stub_initialize(void) {
    unsigned int delay = atomic_load_explicit(&stub_init_ns, memory_order_relaxed);
    if (delay) {
        stub_wait(delay);
    }
}

static void stub_slow_call(void) {
    unsigned int delay = atomic_load_explicit(&stub_delay_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&stub_calls, 1, memory_order_relaxed);
    if (delay) {
        stub_wait(delay);
    }
}

/* First line of every call. A read of a shared word and a branch never taken: threads do not contend here. */
static inline void stub_enter(void) {
    if (__builtin_expect(atomic_load_explicit(&stub_active, memory_order_relaxed), 0)) {
        stub_slow_call();
    }
}

/* Zero if the text did not fit. */
static inline int stub_copy(char *to, unsigned int length, const char *text) {
    size_t size = strlen(text) + 1;
    if (size > length) {
        return 0;
    }
    memcpy(to, text, size);
    return 1;
}

#define ANSWER(out, value)                                                                                             \
    do {                                                                                                               \
        stub_enter();                                                                                                  \
        *(out) = (value);                                                                                              \
        return 0;                                                                                                      \
    } while (0)

#define ANSWER_TEXT(out, length, text)                                                                                 \
    do {                                                                                                               \
        stub_enter();                                                                                                  \
        return stub_copy(out, length, text) ? 0 : STUB_TOO_SMALL;                                                      \
    } while (0)

#define ANSWER_NOTHING()                                                                                               \
    do {                                                                                                               \
        stub_enter();                                                                                                  \
        return 0;                                                                                                      \
    } while (0)

#endif
