/* Pieces of text: reading the values of a profile and writing them. */

#ifndef SIM_TEXT_H
#define SIM_TEXT_H

#include "fields.h"
#include "names.h"

/* Readers answer NULL, or why the text is refused. */

/* Copies the next item of a list, without the blanks around it; the rest of the text, or NULL after the last item. */
const char *next_item(const char *text, char separator, char *item, size_t size, const char **problem);

const char *read_unsigned(const char *text, uint64_t maximum, uint64_t *value);
const char *read_uint32(const char *text, uint32_t *value);
const char *read_float(const char *text, float *value);
/* One of the names, or a number. */
const char *read_name(const struct name_value *names, const char *text, uint32_t *value);

/* A list of CPUs or nodes like "0-31,64-95", none of which is beyond the last. */
#define CPU_LIST_LAST 65535
const char *cpu_list_check(const char *text);
bool cpu_list_contains(const struct text *text, unsigned long number);

struct output {
    char *bytes;
    size_t size;
    size_t length; /* what the text needs, whether it fits or not */
};

SIM_PRINTF(2, 3) void output_add(struct output *output, const char *format, ...);
void output_name(struct output *output, const struct name_value *names, uint32_t value);
/* What stands between one item of a list and the next. */
void output_separator(struct output *output, unsigned int index);

#endif
