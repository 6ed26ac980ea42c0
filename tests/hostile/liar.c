/* A library with the interface of MTML that lies: one device, and answers that no honest driver gives.
 *
 * The functions themselves are in functions.inc, which liar.py writes from facts/mtml_api.json: each calls answer() for
 * what it hands out, and returns status(). Which function lies, and how, is set by liarSet(). */

#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum lie { HONEST, NOTHING, BRIM, ABSURD, CHANGING, CODE, NULLS, HANGS };
enum kind { NUMBER, TEXT, HANDLE, STRUCT };

static char lying[64];
static enum lie lie;
static unsigned code;
static unsigned turns;
static long objects[8];

void liarSet(const char *function, int how, unsigned value) {
    strncpy(lying, function, sizeof lying - 1);
    lie = (enum lie)how;
    code = value;
    turns = 0;
}

static enum lie lie_of(const char *function) {
    return !strcmp(lying, "*") || !strcmp(lying, function) ? lie : HONEST;
}

static void answer(const char *function, enum kind kind, void *out, size_t size, size_t count) {
    static const unsigned numbers[] = {1, 3, 0, 70, 2};
    enum lie how = lie_of(function);
    if (out == NULL || how == NOTHING || how == CODE)
        return;
    if (how == BRIM && kind != HANDLE) {
        memset(out, 0xFF, size * count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        char *place = (char *)out + i * size;
        switch (kind) {
        case NUMBER: {
            uint64_t value = how == ABSURD ? 0x7FFFFFFF : how == CHANGING ? numbers[turns++ % 5] : 1;
            memcpy(place, &value, size);
            break;
        }
        case TEXT:
            memcpy(place, "x", size < 2 ? size : 2);
            return;
        case HANDLE:
            *(void **)(void *)place = how == NULLS ? NULL : &objects[i % 8];
            break;
        case STRUCT:
            memset(place, 0, size);
            break;
        }
    }
}

static unsigned status(const char *function) {
    if (lie_of(function) == HANGS)
        sleep(code);
    return lie_of(function) == CODE ? code : 0;
}

#include "functions.inc"
