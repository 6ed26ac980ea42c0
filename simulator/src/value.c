/* The types that profile values have: from text to a field and back. */

#include "sim.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED(parameter) ((void)(parameter))

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

const char *name_of(const struct name_value *names, unsigned int value)
{
    for (; names->name; names++)
        if (names->value == value)
            return names->name;
    return NULL;
}

uint32_t list_value(const struct list *list, unsigned int index, uint32_t otherwise)
{
    if (list->count == 0)
        return otherwise;
    return list->values[index < list->count ? index : list->count - 1];
}

/* ==== Pieces of text ==== */

/* Copies the next item of a list, without the blanks around it; the rest of the text, or NULL after the last item. */
static const char *next_item(const char *text, char separator, char *item, size_t size, const char **problem)
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

static const char *read_unsigned(const char *text, uint64_t maximum, uint64_t *value)
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

static const char *read_name(const struct name_value *names, const char *text, uint32_t *value)
{
    uint64_t number;

    for (; names->name; names++) {
        if (strcmp(names->name, text) == 0) {
            *value = names->value;
            return NULL;
        }
    }
    if (read_unsigned(text, UINT32_MAX, &number))
        return "not one of this key's names, nor a number";
    *value = (uint32_t)number;
    return NULL;
}

static void write_name(const struct name_value *names, uint32_t value, struct output *output)
{
    const char *name = name_of(names, value);

    if (name)
        output_add(output, "%s", name);
    else
        output_add(output, "%u", value);
}

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = digit ? strchr(digits, tolower((unsigned char)digit)) : NULL;

    return found ? (int)(found - digits) : -1;
}

/* ==== Single values ==== */

static const char *parse_bool(const struct machine *machine, const struct key *key, void *field, const char *text)
{
    UNUSED(machine);
    UNUSED(key);
    if (strcmp(text, "yes") == 0)
        *(bool *)field = true;
    else if (strcmp(text, "no") == 0)
        *(bool *)field = false;
    else
        return "neither yes nor no";
    return NULL;
}

static void format_bool(const struct machine *machine, const struct key *key, const void *field, struct output *output)
{
    UNUSED(machine);
    UNUSED(key);
    output_add(output, "%s", *(const bool *)field ? "yes" : "no");
}

static const char *parse_uint(const struct machine *machine, const struct key *key, void *field, const char *text)
{
    uint64_t value;
    const char *problem = read_unsigned(text, UINT32_MAX, &value);

    UNUSED(machine);
    UNUSED(key);
    if (!problem)
        *(uint32_t *)field = (uint32_t)value;
    return problem;
}

static void format_uint(const struct machine *machine, const struct key *key, const void *field, struct output *output)
{
    UNUSED(machine);
    UNUSED(key);
    output_add(output, "%u", *(const uint32_t *)field);
}

static void format_hex(const struct machine *machine, const struct key *key, const void *field, struct output *output)
{
    UNUSED(machine);
    UNUSED(key);
    output_add(output, "0x%08x", *(const uint32_t *)field);
}

static const char *parse_int(const struct machine *machine, const struct key *key, void *field, const char *text)
{
    bool negative = text[0] == '-';
    uint64_t value;
    const char *problem = read_unsigned(text + negative, negative ? (uint64_t)INT32_MAX + 1 : INT32_MAX, &value);

    UNUSED(machine);
    UNUSED(key);
    if (!problem)
        *(int32_t *)field = (int32_t)(negative ? -(int64_t)value : (int64_t)value);
    return problem;
}

static void format_int(const struct machine *machine, const struct key *key, const void *field, struct output *output)
{
    UNUSED(machine);
    UNUSED(key);
    output_add(output, "%d", *(const int32_t *)field);
}

static const char *parse_uint64(const struct machine *machine, const struct key *key, void *field, const char *text)
{
    uint64_t value;
    const char *problem = read_unsigned(text, UINT64_MAX, &value);

    UNUSED(machine);
    UNUSED(key);
    if (!problem)
        *(uint64_t *)field = value;
    return problem;
}

static void format_uint64(const struct machine *machine, const struct key *key, const void *field,
                          struct output *output)
{
    UNUSED(machine);
    UNUSED(key);
    output_add(output, "%llu", (unsigned long long)*(const uint64_t *)field);
}

static const char *read_float(const char *text, float *value)
{
    char *end;
    float number = strtof(text, &end);

    if (end == text || *end)
        return "not a number";
    *value = number;
    return NULL;
}

static const char *parse_float(const struct machine *machine, const struct key *key, void *field, const char *text)
{
    UNUSED(machine);
    UNUSED(key);
    return read_float(text, field);
}

static void format_float(const struct machine *machine, const struct key *key, const void *field,
                         struct output *output)
{
    UNUSED(machine);
    UNUSED(key);
    output_add(output, "%.7g", (double)*(const float *)field);
}

static const char *parse_name(const struct machine *machine, const struct key *key, void *field, const char *text)
{
    UNUSED(machine);
    return read_name(key->names, text, field);
}

static void format_name(const struct machine *machine, const struct key *key, const void *field,
                        struct output *output)
{
    UNUSED(machine);
    write_name(key->names, *(const uint32_t *)field, output);
}

static const char *parse_capability(const struct machine *machine, const struct key *key, void *field,
                                    const char *text)
{
    struct capability *capability = field;
    char major[16];
    const char *problem;
    const char *minor = next_item(text, '.', major, sizeof major, &problem);
    uint64_t numbers[2];

    UNUSED(machine);
    UNUSED(key);
    if (problem)
        return problem;
    if (!minor || read_unsigned(major, INT32_MAX, &numbers[0]) || read_unsigned(minor, INT32_MAX, &numbers[1]))
        return "not of the form MAJOR.MINOR";
    capability->major = (int)numbers[0];
    capability->minor = (int)numbers[1];
    return NULL;
}

static void format_capability(const struct machine *machine, const struct key *key, const void *field,
                              struct output *output)
{
    const struct capability *capability = field;

    UNUSED(machine);
    UNUSED(key);
    output_add(output, "%d.%d", capability->major, capability->minor);
}

/* CODE or CODE@AFTER; OK stands for a device that is not lost. */
static const char *parse_loss(const struct machine *machine, const struct key *key, void *field, const char *text)
{
    struct loss loss = {MTML_SUCCESS, 0};
    char code[64];
    const char *problem;
    const char *after = next_item(text, '@', code, sizeof code, &problem);
    uint32_t result;

    UNUSED(machine);
    UNUSED(key);
    if (problem)
        return problem;
    if (read_name(return_names, code, &result))
        return "not of the form CODE or CODE@CALLS";
    if (after && read_unsigned(after, UINT64_MAX, &loss.after))
        return "not of the form CODE or CODE@CALLS";
    loss.result = (MtmlReturn)result;
    *(struct loss *)field = loss;
    return NULL;
}

static void format_loss(const struct machine *machine, const struct key *key, const void *field,
                        struct output *output)
{
    const struct loss *loss = field;

    UNUSED(machine);
    UNUSED(key);
    write_name(return_names, loss->result, output);
    if (loss->after)
        output_add(output, "@%llu", (unsigned long long)loss->after);
}

/* ==== Text ==== */

static const char *parse_text(const struct machine *machine, const struct key *key, void *field, const char *text)
{
    struct text result = {0, {0}};

    UNUSED(machine);
    UNUSED(key);
    while (*text) {
        int byte = (unsigned char)*text++;

        if (byte == '\\') {
            char escape = *text ? *text++ : '\0';

            if (escape == '\\') {
                byte = '\\';
            } else if (escape == 'n') {
                byte = '\n';
            } else if (escape == 't') {
                byte = '\t';
            } else if (escape == 's') {
                byte = ' ';
            } else if (escape == 'x' && hex_digit(text[0]) >= 0 && hex_digit(text[1]) >= 0) {
                byte = hex_digit(text[0]) * 16 + hex_digit(text[1]);
                text += 2;
            } else {
                return "unknown escape; known are \\\\ \\n \\t \\s \\xHH";
            }
        }
        if (result.length == sizeof result.bytes - 1)
            return "text too long";
        result.bytes[result.length++] = (char)byte;
    }
    *(struct text *)field = result;
    return NULL;
}

static void format_text(const struct machine *machine, const struct key *key, const void *field,
                        struct output *output)
{
    const struct text *text = field;

    UNUSED(machine);
    UNUSED(key);
    for (unsigned int i = 0; i < text->length; i++) {
        unsigned char byte = (unsigned char)text->bytes[i];

        if (byte == '\\')
            output_add(output, "\\\\");
        else if (byte == '\n')
            output_add(output, "\\n");
        else if (byte == '\t')
            output_add(output, "\\t");
        else if (byte == ' ' && (i == 0 || i == text->length - 1))
            output_add(output, "\\s");
        else if (byte < 0x20 || byte >= 0x7f)
            output_add(output, "\\x%02x", byte);
        else
            output_add(output, "%c", byte);
    }
}

static const char *parse_version_text(const struct machine *machine, const struct key *key, void *field,
                                      const char *text)
{
    if (!strstr(text, "simulator"))
        return "the version must say that this is a simulator, for example 2.2.0-simulator";
    return parse_text(machine, key, field, text);
}

static const char *parse_faults(const struct machine *machine, const struct key *key, void *field, const char *text)
{
    const char *problem = faults_check(text);

    return problem ? problem : parse_text(machine, key, field, text);
}

static const char *read_range(const char *item, unsigned long *first, unsigned long *last)
{
    char start[24];
    const char *problem;
    const char *rest = next_item(item, '-', start, sizeof start, &problem);
    uint64_t from;
    uint64_t to;

    if (problem)
        return problem;
    if (read_unsigned(start, 65535, &from))
        return "not a list like 0-31,64-95";
    to = from;
    if (rest && read_unsigned(rest, 65535, &to))
        return "not a list like 0-31,64-95";
    if (to < from)
        return "a range that ends before it begins";
    *first = from;
    *last = to;
    return NULL;
}

static const char *parse_cpu_list(const struct machine *machine, const struct key *key, void *field, const char *text)
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
    return parse_text(machine, key, field, text);
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

/* ==== Lists ==== */

typedef const char *(*read_element)(const struct machine *machine, const struct key *key, const char *text,
                                    uint32_t *value);

static const char *parse_list(const struct machine *machine, const struct key *key, void *field, const char *text,
                              read_element read)
{
    struct list list = {0, {0}};
    const char *rest = *text ? text : NULL;

    while (rest) {
        char item[64];
        const char *problem;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (!problem && list.count == SIM_LIST_SIZE)
            problem = "list too long";
        if (!problem)
            problem = read(machine, key, item, &list.values[list.count]);
        if (problem)
            return problem;
        list.count++;
    }
    *(struct list *)field = list;
    return NULL;
}

static void separate(struct output *output, unsigned int index)
{
    if (index)
        output_add(output, ", ");
}

static const char *read_uint_element(const struct machine *machine, const struct key *key, const char *text,
                                     uint32_t *value)
{
    return parse_uint(machine, key, value, text);
}

static const char *read_name_element(const struct machine *machine, const struct key *key, const char *text,
                                     uint32_t *value)
{
    UNUSED(machine);
    return read_name(key->names, text, value);
}

static const char *read_level_element(const struct machine *machine, const struct key *key, const char *text,
                                      uint32_t *value)
{
    if (strcmp(text, "-") == 0) {
        *value = SIM_UNCONNECTED;
        return NULL;
    }
    return read_name_element(machine, key, text, value);
}

/* DEVICE.LINK, the peer's number in the profile and its link; kept in one word. */
static const char *read_peer_element(const struct machine *machine, const struct key *key, const char *text,
                                     uint32_t *value)
{
    char device[16];
    const char *problem;
    const char *link = next_item(text, '.', device, sizeof device, &problem);
    uint64_t numbers[2];

    UNUSED(machine);
    UNUSED(key);
    if (strcmp(text, "-") == 0) {
        *value = SIM_UNCONNECTED;
        return NULL;
    }
    if (problem || !link || read_unsigned(device, SIM_MAX_DEVICES - 1, &numbers[0]) ||
        read_unsigned(link, SIM_LIST_SIZE - 1, &numbers[1]))
        return "not of the form DEVICE.LINK, nor -";
    *value = (uint32_t)(numbers[0] << 16 | numbers[1]);
    return NULL;
}

static const char *read_virt_type_element(const struct machine *machine, const struct key *key, const char *text,
                                          uint32_t *value)
{
    UNUSED(key);
    for (unsigned int i = 0; i < machine->virt_type_count; i++) {
        if (strcmp(machine->virt_types[i].id, text) == 0) {
            *value = i;
            return NULL;
        }
    }
    return "no section [virt_type.ID] of that name";
}

static const char *parse_uint_list(const struct machine *machine, const struct key *key, void *field,
                                   const char *text)
{
    return parse_list(machine, key, field, text, read_uint_element);
}

static const char *parse_name_list(const struct machine *machine, const struct key *key, void *field,
                                   const char *text)
{
    return parse_list(machine, key, field, text, read_name_element);
}

static const char *parse_level_list(const struct machine *machine, const struct key *key, void *field,
                                    const char *text)
{
    return parse_list(machine, key, field, text, read_level_element);
}

static const char *parse_peer_list(const struct machine *machine, const struct key *key, void *field,
                                   const char *text)
{
    return parse_list(machine, key, field, text, read_peer_element);
}

static const char *parse_virt_type_list(const struct machine *machine, const struct key *key, void *field,
                                        const char *text)
{
    return parse_list(machine, key, field, text, read_virt_type_element);
}

static const char *parse_virt_type(const struct machine *machine, const struct key *key, void *field,
                                   const char *text)
{
    return read_virt_type_element(machine, key, text, field);
}

static const char *parse_uint_element(const struct machine *machine, const struct key *key, void *field,
                                      unsigned int index, const char *text)
{
    struct list *list = field;

    if (index >= list->count)
        return "the list has no such element";
    return read_uint_element(machine, key, text, &list->values[index]);
}

static const char *parse_name_element(const struct machine *machine, const struct key *key, void *field,
                                      unsigned int index, const char *text)
{
    struct list *list = field;
    uint32_t value;
    const char *problem = read_name_element(machine, key, text, &value);

    if (problem)
        return problem;
    if (index + 1 >= SIM_LIST_SIZE)
        return "the list has no such element";
    /* The value that stood for all further elements must go on doing so after this one. */
    while (list->count < index + 2) {
        list->values[list->count] = list_value(list, list->count, 0);
        list->count++;
    }
    list->values[index] = value;
    return NULL;
}

static const char *set_sparse(struct list *list, unsigned int index, uint32_t value)
{
    if (index >= SIM_LIST_SIZE)
        return "the list has no such element";
    while (list->count <= index)
        list->values[list->count++] = SIM_UNCONNECTED;
    list->values[index] = value;
    return NULL;
}

static const char *parse_level_element(const struct machine *machine, const struct key *key, void *field,
                                       unsigned int index, const char *text)
{
    uint32_t value;
    const char *problem = read_level_element(machine, key, text, &value);

    return problem ? problem : set_sparse(field, index, value);
}

static const char *parse_peer_element(const struct machine *machine, const struct key *key, void *field,
                                      unsigned int index, const char *text)
{
    uint32_t value;
    const char *problem = read_peer_element(machine, key, text, &value);

    return problem ? problem : set_sparse(field, index, value);
}

static void format_uint_element(const struct machine *machine, const struct key *key, const void *field,
                                unsigned int index, struct output *output)
{
    UNUSED(machine);
    UNUSED(key);
    output_add(output, "%u", list_value(field, index, 0));
}

static void format_name_element(const struct machine *machine, const struct key *key, const void *field,
                                unsigned int index, struct output *output)
{
    UNUSED(machine);
    write_name(key->names, list_value(field, index, 0), output);
}

static uint32_t sparse_value(const struct list *list, unsigned int index)
{
    return index < list->count ? list->values[index] : SIM_UNCONNECTED;
}

static void format_level_element(const struct machine *machine, const struct key *key, const void *field,
                                 unsigned int index, struct output *output)
{
    UNUSED(machine);
    if (sparse_value(field, index) == SIM_UNCONNECTED)
        output_add(output, "-");
    else
        write_name(key->names, sparse_value(field, index), output);
}

static void format_peer_element(const struct machine *machine, const struct key *key, const void *field,
                                unsigned int index, struct output *output)
{
    uint32_t peer = sparse_value(field, index);

    UNUSED(machine);
    UNUSED(key);
    if (peer == SIM_UNCONNECTED)
        output_add(output, "-");
    else
        output_add(output, "%u.%u", peer >> 16, peer & 0xffff);
}

static void format_virt_type(const struct machine *machine, const struct key *key, const void *field,
                             struct output *output)
{
    UNUSED(key);
    output_add(output, "%s", machine->virt_types[*(const uint32_t *)field].id);
}

static void format_virt_type_element(const struct machine *machine, const struct key *key, const void *field,
                                     unsigned int index, struct output *output)
{
    UNUSED(key);
    output_add(output, "%s", machine->virt_types[list_value(field, index, 0)].id);
}

static void format_list(const struct machine *machine, const struct key *key, const void *field,
                        struct output *output)
{
    const struct list *list = field;

    for (unsigned int i = 0; i < list->count; i++) {
        separate(output, i);
        key->type->format_element(machine, key, field, i, output);
    }
}

/* ==== Sets of functions and of keys ==== */

static const char *parse_functions(const struct machine *machine, const struct key *key, void *field,
                                   const char *text)
{
    struct function_set set = {{false}};
    const char *rest = *text ? text : NULL;

    UNUSED(machine);
    UNUSED(key);
    while (rest) {
        char item[64];
        const char *problem;
        enum function function;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (problem)
            return problem;
        function = function_find(item, strlen(item));
        if (function == FUNCTION_COUNT)
            return "not a list of MTML functions";
        set.member[function] = true;
    }
    *(struct function_set *)field = set;
    return NULL;
}

static void format_functions(const struct machine *machine, const struct key *key, const void *field,
                             struct output *output)
{
    const struct function_set *set = field;
    unsigned int written = 0;

    UNUSED(machine);
    UNUSED(key);
    for (unsigned int i = 0; i < FUNCTION_COUNT; i++) {
        if (set->member[i]) {
            separate(output, written++);
            output_add(output, "%s", sim_functions[i].name);
        }
    }
}

static const char *parse_text_keys(const struct machine *machine, const struct key *key, void *field,
                                   const char *text)
{
    const char *rest = *text ? text : NULL;

    while (rest) {
        char item[64];
        const char *problem;
        const struct key *candidate = device_keys;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (problem)
            return problem;
        while (candidate->name && (candidate->type != &type_text || strcmp(candidate->name, item) != 0))
            candidate++;
        if (!candidate->name)
            return "not a list of keys that hold text";
    }
    return parse_text(machine, key, field, text);
}

/* ==== Displays, codec sessions, retired pages ==== */

static const char *parse_displays(const struct machine *machine, const struct key *key, void *field,
                                  const char *text)
{
    struct displays displays = {0, {{0, 0, 0, 0}}};
    const char *rest = *text ? text : NULL;

    UNUSED(machine);
    UNUSED(key);
    while (rest) {
        struct display *display = &displays.values[displays.count];
        char item[96];
        char type[32];
        char rate[32];
        char excess;
        const char *problem;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (problem)
            return problem;
        if (displays.count == SIM_MAX_DISPLAYS)
            return "list too long";
        if (sscanf(item, "%31s %ux%u@%31s %c", type, &display->width, &display->height, rate, &excess) != 4 ||
            read_name(display_names, type, &display->type) || read_float(rate, &display->refresh_rate))
            return "not of the form TYPE WIDTHxHEIGHT@RATE";
        displays.count++;
    }
    *(struct displays *)field = displays;
    return NULL;
}

static void format_displays(const struct machine *machine, const struct key *key, const void *field,
                            struct output *output)
{
    const struct displays *displays = field;

    UNUSED(machine);
    UNUSED(key);
    for (unsigned int i = 0; i < displays->count; i++) {
        const struct display *display = &displays->values[i];

        separate(output, i);
        write_name(display_names, display->type, output);
        output_add(output, " %ux%u@%.7g", display->width, display->height, (double)display->refresh_rate);
    }
}

static const char *read_session(char *item, MtmlCodecSessionMetrics *metrics, MtmlCodecSessionState *state)
{
    static const struct {
        const char *name;
        size_t offset;
        const struct name_value *names;
    } fields[] = {
        {"id", offsetof(MtmlCodecSessionMetrics, id), NULL},
        {"pid", offsetof(MtmlCodecSessionMetrics, pid), NULL},
        {"width", offsetof(MtmlCodecSessionMetrics, hResolution), NULL},
        {"height", offsetof(MtmlCodecSessionMetrics, vResolution), NULL},
        {"fps", offsetof(MtmlCodecSessionMetrics, frameRate), NULL},
        {"bitrate", offsetof(MtmlCodecSessionMetrics, bitRate), NULL},
        {"latency", offsetof(MtmlCodecSessionMetrics, latency), NULL},
        {"codec", offsetof(MtmlCodecSessionMetrics, codecType), codec_names},
    };
    const char *rest = item;
    bool named = false;

    memset(metrics, 0, sizeof *metrics);
    *state = MTML_CODEC_SESSION_STATE_ACTIVE;
    while (rest) {
        char pair[64];
        char *value;
        const char *problem;
        uint32_t number;
        size_t i = 0;

        rest = next_item(rest, ' ', pair, sizeof pair, &problem);
        if (problem)
            return problem;
        if (!*pair)
            continue;
        value = strchr(pair, '=');
        if (!value)
            return "a session is written as NAME=VALUE, separated by blanks";
        *value++ = '\0';
        if (strcmp(pair, "state") == 0) {
            if (read_name(session_state_names, value, &number))
                return "unknown state of a session";
            *state = (MtmlCodecSessionState)number;
            continue;
        }
        while (i < sizeof fields / sizeof fields[0] && strcmp(fields[i].name, pair) != 0)
            i++;
        if (i == sizeof fields / sizeof fields[0])
            return "a session has id, pid, width, height, fps, bitrate, latency, codec and state";
        problem = fields[i].names ? read_name(fields[i].names, value, &number) : parse_uint(NULL, NULL, &number, value);
        if (problem)
            return problem;
        memcpy((char *)metrics + fields[i].offset, &number, sizeof number);
        named = named || fields[i].offset == offsetof(MtmlCodecSessionMetrics, id);
    }
    return named ? NULL : "a session needs an id";
}

static const char *parse_sessions(const struct machine *machine, const struct key *key, void *field,
                                  const char *text)
{
    struct sessions sessions = {0};
    const char *rest = *text ? text : NULL;

    UNUSED(machine);
    UNUSED(key);
    while (rest) {
        char item[256];
        const char *problem;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (!problem && sessions.count == SIM_LIST_SIZE)
            problem = "list too long";
        if (!problem)
            problem = read_session(item, &sessions.values[sessions.count], &sessions.states[sessions.count]);
        if (problem)
            return problem;
        sessions.count++;
    }
    *(struct sessions *)field = sessions;
    return NULL;
}

static void format_sessions(const struct machine *machine, const struct key *key, const void *field,
                            struct output *output)
{
    const struct sessions *sessions = field;

    UNUSED(machine);
    UNUSED(key);
    for (unsigned int i = 0; i < sessions->count; i++) {
        const MtmlCodecSessionMetrics *metrics = &sessions->values[i];

        separate(output, i);
        output_add(output, "id=%u pid=%u width=%u height=%u fps=%u bitrate=%u latency=%u codec=", metrics->id,
                   metrics->pid, metrics->hResolution, metrics->vResolution, metrics->frameRate, metrics->bitRate,
                   metrics->latency);
        write_name(codec_names, metrics->codecType, output);
        output_add(output, " state=");
        write_name(session_state_names, (unsigned int)sessions->states[i], output);
    }
}

static const char *parse_pages(const struct machine *machine, const struct key *key, void *field, const char *text)
{
    struct pages pages = {0};
    const char *rest = *text ? text : NULL;

    UNUSED(machine);
    UNUSED(key);
    while (rest) {
        char item[64];
        char address[40];
        const char *problem;
        const char *timestamp;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (problem)
            return problem;
        if (pages.count == SIM_MAX_PAGES)
            return "list too long";
        timestamp = next_item(item, '@', address, sizeof address, &problem);
        if (problem || !timestamp || read_unsigned(address, UINT64_MAX, &pages.values[pages.count].address) ||
            read_unsigned(timestamp, UINT64_MAX, &pages.values[pages.count].timestamp))
            return "not of the form ADDRESS@TIMESTAMP";
        pages.count++;
    }
    *(struct pages *)field = pages;
    return NULL;
}

static void format_pages(const struct machine *machine, const struct key *key, const void *field,
                         struct output *output)
{
    const struct pages *pages = field;

    UNUSED(machine);
    UNUSED(key);
    for (unsigned int i = 0; i < pages->count; i++) {
        separate(output, i);
        output_add(output, "0x%llx@%llu", (unsigned long long)pages->values[i].address,
                   (unsigned long long)pages->values[i].timestamp);
    }
}

/* ==== The types ==== */

const struct type type_bool = {parse_bool, format_bool, NULL, NULL};
const struct type type_uint = {parse_uint, format_uint, NULL, NULL};
const struct type type_hex = {parse_uint, format_hex, NULL, NULL};
const struct type type_int = {parse_int, format_int, NULL, NULL};
const struct type type_uint64 = {parse_uint64, format_uint64, NULL, NULL};
const struct type type_float = {parse_float, format_float, NULL, NULL};
const struct type type_text = {parse_text, format_text, NULL, NULL};
const struct type type_version_text = {parse_version_text, format_text, NULL, NULL};
const struct type type_faults = {parse_faults, format_text, NULL, NULL};
const struct type type_cpu_list = {parse_cpu_list, format_text, NULL, NULL};
const struct type type_name = {parse_name, format_name, NULL, NULL};
const struct type type_capability = {parse_capability, format_capability, NULL, NULL};
const struct type type_loss = {parse_loss, format_loss, NULL, NULL};
const struct type type_virt_type = {parse_virt_type, format_virt_type, NULL, NULL};
const struct type type_uint_list = {parse_uint_list, format_list, parse_uint_element, format_uint_element};
const struct type type_name_list = {parse_name_list, format_list, parse_name_element, format_name_element};
const struct type type_level_list = {parse_level_list, format_list, parse_level_element, format_level_element};
const struct type type_peer_list = {parse_peer_list, format_list, parse_peer_element, format_peer_element};
/* An element of this list is never set by itself. */
const struct type type_virt_type_list = {parse_virt_type_list, format_list, NULL, format_virt_type_element};
const struct type type_functions = {parse_functions, format_functions, NULL, NULL};
const struct type type_text_keys = {parse_text_keys, format_text, NULL, NULL};
const struct type type_displays = {parse_displays, format_displays, NULL, NULL};
const struct type type_sessions = {parse_sessions, format_sessions, NULL, NULL};
const struct type type_pages = {parse_pages, format_pages, NULL, NULL};
