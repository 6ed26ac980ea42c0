/* Pieces of text: numbers, names, items of lists. */

#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *next_item(const char *text, char separator, char *item, size_t size, const char **problem)
{
    const char *end = strchr(text, separator);
    const char *stop = end ? end : text + strlen(text);

    while (text < stop && isspace((unsigned char)*text))
        text++;
    while (stop > text && isspace((unsigned char)stop[-1]))
        stop--;
    if ((size_t)(stop - text) >= size) {
        *problem = "an item is too long";
        return NULL;
    }
    memcpy(item, text, (size_t)(stop - text));
    item[stop - text] = '\0';
    *problem = NULL;
    return end ? end + 1 : NULL;
}

const char *read_unsigned(const char *text, uint64_t maximum, uint64_t *value)
{
    char *end;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

    if (!isdigit((unsigned char)text[0]))
        return "not a number without a sign";
    errno = 0;
    *value = strtoull(text, &end, hexadecimal ? 16 : 10);
    if (*end || end == text)
        return "not a number";
    if (errno || *value > maximum)
        return "number too large";
    return NULL;
}

const char *read_uint32(const char *text, uint32_t *value)
{
    uint64_t number;
    const char *problem = read_unsigned(text, UINT32_MAX, &number);

    if (!problem)
        *value = (uint32_t)number;
    return problem;
}

const char *read_float(const char *text, float *value)
{
    char *end;
    float number = strtof(text, &end);

    if (end == text || *end)
        return "not a number";
    *value = number;
    return NULL;
}

const char *read_name(const struct name_value *names, const char *text, uint32_t *value)
{
    for (; names->name; names++) {
        if (strcmp(names->name, text) == 0) {
            *value = names->value;
            return NULL;
        }
    }
    return read_uint32(text, value) ? "not one of this key's names, nor a number" : NULL;
}

/* ==== Lists of CPUs ==== */

static const char *read_range(const char *item, unsigned long *first, unsigned long *last)
{
    char start[24];
    const char *problem;
    const char *rest = next_item(item, '-', start, sizeof start, &problem);
    uint64_t from;
    uint64_t to;

    if (problem)
        return problem;
    if (read_unsigned(start, CPU_LIST_LAST, &from))
        return "not a list like 0-31,64-95";
    to = from;
    if (rest && read_unsigned(rest, CPU_LIST_LAST, &to))
        return "not a list like 0-31,64-95";
    if (to < from)
        return "a range that ends before it begins";
    *first = from;
    *last = to;
    return NULL;
}

const char *cpu_list_check(const char *text)
{
    const char *rest = *text ? text : NULL;

    while (rest) {
        char item[64];
        unsigned long first;
        unsigned long last;
        const char *problem;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (!problem)
            problem = read_range(item, &first, &last);
        if (problem)
            return problem;
    }
    return NULL;
}

bool cpu_list_contains(const struct text *text, unsigned long number)
{
    const char *rest = text->length ? text->bytes : NULL;

    while (rest) {
        char item[64];
        unsigned long first;
        unsigned long last;
        const char *problem;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (!problem && !read_range(item, &first, &last) && number >= first && number <= last)
            return true;
    }
    return false;
}

/* ==== Writing ==== */

void output_add(struct output *output, const char *format, ...)
{
    char none;
    size_t room = output->length < output->size ? output->size - output->length : 0;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(room ? output->bytes + output->length : &none, room, format, arguments);
    va_end(arguments);
    output->length += length > 0 ? (size_t)length : 0;
}

void output_name(struct output *output, const struct name_value *names, uint32_t value)
{
    const char *name = name_of(names, value);

    if (name)
        output_add(output, "%s", name);
    else
        output_add(output, "%u", value);
}

void output_separator(struct output *output, unsigned int index)
{
    if (index)
        output_add(output, ", ");
}
