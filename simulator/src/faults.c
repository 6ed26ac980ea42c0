/* Calls that fail on request: [CARD.]FUNCTION=CODE[@AFTER[xTIMES]], separated by commas. */

#include "faults.h"

#include "machine.h"
#include "names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FAULTS    256
#define ALL_FUNCTIONS FUNCTION_COUNT

static const char bad_form[] = "not of the form [CARD.]FUNCTION=CODE[@AFTER[xTIMES]]";

struct fault {
    enum function function;
    unsigned int card;      /* NO_CARD: calls on any card, and on none */
    MtmlReturn result;
    uint64_t after;
    uint64_t times; /* 0: for ever */
    uint64_t calls;
    uint64_t origin;
};

/* One call, whatever it is. */
static uint64_t countdown;
static MtmlReturn countdown_result;
static enum function countdown_function = FUNCTION_COUNT;

static struct fault armed[MAX_FAULTS];
static unsigned int armed_count;

static const char *read_count(const char **text, const char *end, uint64_t *count)
{
    char *stop;

    if (*text >= end || !isdigit((unsigned char)**text))
        return "a number of calls is expected";
    errno = 0;
    *count = strtoull(*text, &stop, 10);
    if (errno || stop > end)
        return "number too large";
    *text = stop;
    return NULL;
}

/* Success without a handle is MTML_SUCCESS here: no other fault has that code. */
static const char *read_code(const char *text, const char *end, enum function function, MtmlReturn *result)
{
    size_t length = (size_t)(end - text);
    unsigned long number = 0;

    if (length == 4 && strncmp(text, "NULL", 4) == 0) {
        *result = MTML_SUCCESS;
        if (function != ALL_FUNCTIONS && !function_gives_handle(function))
            return "only a function that hands out a handle can succeed with NULL";
        return NULL;
    }
    for (const struct name_value *code = return_names; code->name; code++) {
        if (code->value != MTML_SUCCESS && strlen(code->name) == length && strncmp(code->name, text, length) == 0) {
            *result = (MtmlReturn)code->value;
            return NULL;
        }
    }
    /* A number stands for a code that the header does not know. */
    for (const char *digit = text; digit < end; digit++) {
        if (!isdigit((unsigned char)*digit) || length > 9)
            return "unknown return code";
        number = number * 10 + (unsigned long)(*digit - '0');
    }
    if (number == 0)
        return "unknown return code";
    *result = (MtmlReturn)number;
    return NULL;
}

static const char *read_card(const char **text, const char *end, unsigned int cards, unsigned int *card)
{
    uint64_t number;
    const char *problem;

    *card = NO_CARD;
    if (!isdigit((unsigned char)**text))
        return NULL;
    problem = read_count(text, end, &number);
    if (problem || number >= SIM_MAX_DEVICES || **text != '.')
        return "the card is not of the form NUMBER.FUNCTION";
    if (number >= cards)
        return "the machine has no such card";
    *card = (unsigned int)number;
    ++*text;
    return NULL;
}

static const char *read_function(const char *text, const char *end, enum function *function)
{
    *function = ALL_FUNCTIONS;
    if (end - text == 1 && *text == '*')
        return NULL;
    *function = function_find(text, (size_t)(end - text));
    if (*function == FUNCTION_COUNT)
        return "unknown function";
    if (*function == FUNCTION_mtmlErrorString)
        return "mtmlErrorString has no return code";
    return NULL;
}

/* AFTER or AFTERxTIMES */
static const char *read_times(const char *text, const char *end, struct fault *fault)
{
    const char *problem = read_count(&text, end, &fault->after);

    if (problem || text == end)
        return problem;
    if (*text++ != 'x')
        return bad_form;
    problem = read_count(&text, end, &fault->times);
    if (problem)
        return problem;
    return text == end && fault->times ? NULL : bad_form;
}

static const char *read_fault(const char *text, const char *end, unsigned int cards, struct fault *fault)
{
    const char *equals = memchr(text, '=', (size_t)(end - text));
    const char *at;
    const char *problem;

    memset(fault, 0, sizeof *fault);
    if (!equals)
        return bad_form;
    at = memchr(equals, '@', (size_t)(end - equals));
    problem = read_card(&text, equals, cards, &fault->card);
    if (!problem)
        problem = read_function(text, equals, &fault->function);
    if (!problem)
        problem = read_code(equals + 1, at ? at : end, fault->function, &fault->result);
    if (!problem && at)
        problem = read_times(at + 1, end, fault);
    return problem;
}

static const char *read_faults(const char *text, unsigned int cards, struct fault *faults, unsigned int *count)
{
    *count = 0;
    while (text && *text) {
        const char *stop = strchr(text, ',') ? strchr(text, ',') : text + strlen(text);
        const char *end = stop;
        const char *problem;

        while (text < end && isspace((unsigned char)*text))
            text++;
        while (end > text && isspace((unsigned char)end[-1]))
            end--;
        if (*count == MAX_FAULTS)
            return "too many faults";
        problem = read_fault(text, end, cards, &faults[(*count)++]);
        if (problem)
            return problem;
        if (*stop && !stop[1])
            return "a comma at the end";
        text = *stop ? stop + 1 : stop;
    }
    return NULL;
}

/* Drops armed faults of an origin: those on a card alone, or all for NO_CARD. */
static void drop(uint64_t origin, unsigned int card)
{
    unsigned int kept = 0;

    for (unsigned int i = 0; i < armed_count; i++)
        if (armed[i].origin != origin || (card != NO_CARD && armed[i].card != card))
            armed[kept++] = armed[i];
    armed_count = kept;
}

void faults_drop(uint64_t origin)
{
    drop(origin, NO_CARD);
}

void faults_drop_card(unsigned int card)
{
    drop(NO_ORIGIN, card);
}

const char *faults_check(const char *text, unsigned int cards)
{
    static struct fault faults[MAX_FAULTS];
    unsigned int count;

    return read_faults(text, cards, faults, &count);
}

/* Those that are to come beside the armed ones. */
static const char *read_more(const char *text, unsigned int cards, struct fault *faults, unsigned int *count)
{
    const char *problem = read_faults(text, cards, faults, count);

    return problem ? problem : armed_count + *count > MAX_FAULTS ? "too many faults" : NULL;
}

const char *faults_check_more(const char *text, unsigned int cards)
{
    static struct fault faults[MAX_FAULTS];
    unsigned int count;

    return read_more(text, cards, faults, &count);
}

const char *faults_add(const char *text, unsigned int cards, uint64_t origin)
{
    static struct fault faults[MAX_FAULTS];
    unsigned int count;
    const char *problem = read_more(text, cards, faults, &count);

    if (problem)
        return problem;
    for (unsigned int i = 0; i < count; i++)
        faults[i].origin = origin;
    memcpy(armed + armed_count, faults, count * sizeof *faults);
    armed_count += count;
    return NULL;
}

const char *faults_set(const char *text, unsigned int cards)
{
    const char *problem = faults_check(text, cards);

    if (problem)
        return problem;
    faults_drop(NO_ORIGIN);
    return faults_add(text, cards, NO_ORIGIN);
}

char *faults_text_without(unsigned int card)
{
    size_t size = armed_count * 160 + 1;
    char *text = malloc(size);
    size_t length = 0;

    if (!text)
        return NULL;
    text[0] = '\0';
    for (unsigned int i = 0; i < armed_count; i++) {
        const struct fault *fault = &armed[i];
        const char *name = fault->result == MTML_SUCCESS ? "NULL" : name_of(return_names, fault->result);
        char where[16] = "";
        char code[16];
        char times[32] = "";

        if (fault->origin != NO_ORIGIN || fault->card == card)
            continue;
        if (fault->card != NO_CARD)
            snprintf(where, sizeof where, "%u.", fault->card);
        snprintf(code, sizeof code, "%u", (unsigned int)fault->result);
        if (fault->times)
            snprintf(times, sizeof times, "x%llu", (unsigned long long)fault->times);
        length += (size_t)snprintf(text + length, size - length, "%s%s%s=%s@%llu%s", length ? "," : "", where,
                                   fault->function == ALL_FUNCTIONS ? "*" : functions[fault->function].name,
                                   name ? name : code, (unsigned long long)fault->after, times);
    }
    return text;
}

const char *faults_fail_call(uint64_t number, const char *code)
{
    MtmlReturn result = MTML_SUCCESS;
    const char *problem = number ? read_code(code, code + strlen(code), FUNCTION_mtmlLibraryInit, &result) : NULL;

    if (problem)
        return problem;
    countdown = number;
    countdown_result = result;
    countdown_function = FUNCTION_COUNT;
    return NULL;
}

enum function faults_failed_call(void)
{
    return countdown_function;
}

bool faults_apply(enum function function, unsigned int card, bool any, MtmlReturn *result)
{
    bool fails = false;

    for (unsigned int i = 0; i < armed_count; i++) {
        struct fault *fault = &armed[i];

        if (fault->function != function && fault->function != ALL_FUNCTIONS)
            continue;
        if (fault->card == NO_CARD ? !any : fault->card != card)
            continue;
        fault->calls++;
        if (fails || fault->calls <= fault->after)
            continue;
        if (fault->times && fault->calls - fault->after > fault->times)
            continue;
        *result = fault->result;
        fails = true;
    }
    if (countdown && any && function != FUNCTION_mtmlErrorString && --countdown == 0) {
        countdown_function = function;
        *result = countdown_result;
        return true;
    }
    return fails;
}
