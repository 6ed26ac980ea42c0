/* Calls that fail on request: [CARD.]FUNCTION=CODE[@AFTER[xTIMES]], separated by commas. */

#include "faults.h"

#include "machine.h"
#include "names.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FAULTS 256

struct fault {
    enum function function; /* FUNCTION_COUNT stands for all */
    unsigned int card;      /* NO_CARD: calls on any card, and on none */
    MtmlReturn result;
    uint64_t after;
    uint64_t times; /* 0: for ever */
    uint64_t calls;
};

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

static const char *read_code(const char *text, const char *end, MtmlReturn *result)
{
    size_t length = (size_t)(end - text);
    unsigned long number = 0;

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

static const char *read_card(const char **text, const char *end, unsigned int *card)
{
    uint64_t number;
    const char *problem;

    *card = NO_CARD;
    if (!isdigit((unsigned char)**text))
        return NULL;
    problem = read_count(text, end, &number);
    if (problem || number >= SIM_MAX_DEVICES || **text != '.')
        return "the card is not of the form NUMBER.FUNCTION";
    *card = (unsigned int)number;
    ++*text;
    return NULL;
}

static const char *read_fault(const char *text, const char *end, struct fault *fault)
{
    const char *equals = memchr(text, '=', (size_t)(end - text));
    const char *code_end;
    const char *problem;

    memset(fault, 0, sizeof *fault);
    if (!equals)
        return "not of the form [CARD.]FUNCTION=CODE[@AFTER[xTIMES]]";
    problem = read_card(&text, equals, &fault->card);
    if (problem)
        return problem;
    fault->function = FUNCTION_COUNT;
    if (equals - text != 1 || *text != '*') {
        fault->function = function_find(text, (size_t)(equals - text));
        if (fault->function == FUNCTION_COUNT)
            return "unknown function";
        if (fault->function == FUNCTION_mtmlErrorString)
            return "mtmlErrorString has no return code";
    }
    code_end = memchr(equals, '@', (size_t)(end - equals));
    code_end = code_end ? code_end : end;
    if (code_end - equals == 5 && strncmp(equals + 1, "NULL", 4) == 0) {
        if (fault->function != FUNCTION_COUNT && !function_gives_handle(fault->function))
            return "only a function that hands out a handle can succeed with NULL";
        fault->result = MTML_SUCCESS;
        problem = NULL;
    } else {
        problem = read_code(equals + 1, code_end, &fault->result);
    }
    if (problem || code_end == end)
        return problem;
    text = code_end + 1;
    problem = read_count(&text, end, &fault->after);
    if (problem || text == end)
        return problem;
    if (*text++ != 'x')
        return "not of the form [CARD.]FUNCTION=CODE[@AFTER[xTIMES]]";
    problem = read_count(&text, end, &fault->times);
    if (problem)
        return problem;
    if (text != end || fault->times == 0)
        return "not of the form [CARD.]FUNCTION=CODE[@AFTER[xTIMES]]";
    return NULL;
}

static const char *read_faults(const char *text, struct fault *faults, unsigned int *count)
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
        problem = read_fault(text, end, &faults[(*count)++]);
        if (problem)
            return problem;
        if (*stop && !stop[1])
            return "a comma at the end";
        text = *stop ? stop + 1 : stop;
    }
    return NULL;
}

const char *faults_check(const char *text)
{
    static struct fault faults[MAX_FAULTS];
    unsigned int count;

    return read_faults(text, faults, &count);
}

const char *faults_set(const char *text)
{
    const char *problem = faults_check(text);

    return problem ? problem : read_faults(text, armed, &armed_count);
}

const char *faults_add(const char *text)
{
    static struct fault faults[MAX_FAULTS];
    unsigned int count;
    const char *problem = read_faults(text, faults, &count);

    if (problem)
        return problem;
    if (armed_count + count > MAX_FAULTS)
        return "too many faults";
    memcpy(armed + armed_count, faults, count * sizeof *faults);
    armed_count += count;
    return NULL;
}

bool faults_apply(enum function function, unsigned int card, bool any, MtmlReturn *result)
{
    bool fails = false;

    for (unsigned int i = 0; i < armed_count; i++) {
        struct fault *fault = &armed[i];

        if (fault->function != function && fault->function != FUNCTION_COUNT)
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
    return fails;
}
