/* Values of more than one part: sets of functions, displays, codec sessions, retired pages. */

#include "value.h"

#include <stdio.h>
#include <string.h>

/* ==== Sets of functions ==== */

#define BEYOND_HEADER "beyond-header" /* all that the header of 2.2.0 lacks */

static const char *parse_functions(const struct slot *slot, const char *text)
{
    struct function_set set = {{false}};
    const char *rest = *text ? text : NULL;

    while (rest) {
        char item[64];
        const char *problem;
        enum function function;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (problem)
            return problem;
        if (strcmp(item, BEYOND_HEADER) == 0) {
            for (unsigned int i = 0; i < FUNCTION_COUNT; i++)
                set.member[i] = set.member[i] || function_is_beyond((enum function)i);
            continue;
        }
        function = function_find(item, strlen(item));
        if (function == FUNCTION_COUNT)
            return "not a list of MTML functions";
        set.member[function] = true;
    }
    *(struct function_set *)slot->field = set;
    return NULL;
}

static void format_functions(const struct slot *slot, struct output *output)
{
    const struct function_set *set = slot->field;
    unsigned int written = 0;
    bool all_beyond = true;

    for (unsigned int i = 0; i < FUNCTION_COUNT; i++)
        all_beyond = all_beyond && (set->member[i] || !function_is_beyond((enum function)i));
    if (all_beyond) {
        output_separator(output, written++);
        output_add(output, "%s", BEYOND_HEADER);
    }
    for (unsigned int i = 0; i < FUNCTION_COUNT; i++) {
        if (set->member[i] && !(all_beyond && function_is_beyond((enum function)i))) {
            output_separator(output, written++);
            output_add(output, "%s", functions[i].name);
        }
    }
}

/* ==== Displays, codec sessions, retired pages ==== */

static const char *parse_displays(const struct slot *slot, const char *text)
{
    struct displays displays = {0, {{0, 0, 0, 0}}};
    const char *rest = *text ? text : NULL;

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
    *(struct displays *)slot->field = displays;
    return NULL;
}

static void format_displays(const struct slot *slot, struct output *output)
{
    const struct displays *displays = slot->field;

    for (unsigned int i = 0; i < displays->count; i++) {
        const struct display *display = &displays->values[i];

        output_separator(output, i);
        output_name(output, display_names, display->type);
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
        problem = fields[i].names ? read_name(fields[i].names, value, &number) : read_uint32(value, &number);
        if (problem)
            return problem;
        memcpy((char *)metrics + fields[i].offset, &number, sizeof number);
        named = named || fields[i].offset == offsetof(MtmlCodecSessionMetrics, id);
    }
    return named ? NULL : "a session needs an id";
}

static const char *parse_sessions(const struct slot *slot, const char *text)
{
    struct sessions sessions = {0};
    const char *rest = *text ? text : NULL;

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
    *(struct sessions *)slot->field = sessions;
    return NULL;
}

static void format_sessions(const struct slot *slot, struct output *output)
{
    const struct sessions *sessions = slot->field;

    for (unsigned int i = 0; i < sessions->count; i++) {
        const MtmlCodecSessionMetrics *metrics = &sessions->values[i];

        output_separator(output, i);
        output_add(output, "id=%u pid=%u width=%u height=%u fps=%u bitrate=%u latency=%u codec=", metrics->id,
                   metrics->pid, metrics->hResolution, metrics->vResolution, metrics->frameRate, metrics->bitRate,
                   metrics->latency);
        output_name(output, codec_names, metrics->codecType);
        output_add(output, " state=");
        output_name(output, session_state_names, (unsigned int)sessions->states[i]);
    }
}

static const char *parse_pages(const struct slot *slot, const char *text)
{
    struct pages pages = {0};
    const char *rest = *text ? text : NULL;

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
    *(struct pages *)slot->field = pages;
    return NULL;
}

static void format_pages(const struct slot *slot, struct output *output)
{
    const struct pages *pages = slot->field;

    for (unsigned int i = 0; i < pages->count; i++) {
        output_separator(output, i);
        output_add(output, "0x%llx@%llu", (unsigned long long)pages->values[i].address,
                   (unsigned long long)pages->values[i].timestamp);
    }
}

/* ==== The types ==== */

const struct type type_functions = {.parse = parse_functions, .format = format_functions};
const struct type type_displays = {.parse = parse_displays, .format = format_displays};
const struct type type_sessions = {.parse = parse_sessions, .format = format_sessions};
const struct type type_pages = {.parse = parse_pages, .format = format_pages};
