/* Values that stand alone: from text to a field and back. */

#include "value.h"

#include "faults.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ==== Numbers and names ==== */

static const char *parse_bool(const struct slot *slot, const char *text)
{
    if (strcmp(text, "yes") == 0)
        *(bool *)slot->field = true;
    else if (strcmp(text, "no") == 0)
        *(bool *)slot->field = false;
    else
        return "neither yes nor no";
    return NULL;
}

static void format_bool(const struct slot *slot, struct output *output)
{
    output_add(output, "%s", *(const bool *)slot->field ? "yes" : "no");
}

static const char *parse_uint(const struct slot *slot, const char *text)
{
    return read_uint32(text, slot->field);
}

static void format_uint(const struct slot *slot, struct output *output)
{
    output_add(output, "%u", *(const uint32_t *)slot->field);
}

static void format_hex(const struct slot *slot, struct output *output)
{
    output_add(output, "0x%08x", *(const uint32_t *)slot->field);
}

static const char *parse_int(const struct slot *slot, const char *text)
{
    bool negative = text[0] == '-';
    uint64_t value;
    const char *problem = read_unsigned(text + negative, negative ? (uint64_t)INT32_MAX + 1 : INT32_MAX, &value);

    if (!problem)
        *(int32_t *)slot->field = (int32_t)(negative ? -(int64_t)value : (int64_t)value);
    return problem;
}

static void format_int(const struct slot *slot, struct output *output)
{
    output_add(output, "%d", *(const int32_t *)slot->field);
}

static const char *parse_uint64(const struct slot *slot, const char *text)
{
    uint64_t value;
    const char *problem = read_unsigned(text, UINT64_MAX, &value);

    if (!problem)
        *(uint64_t *)slot->field = value;
    return problem;
}

static void format_uint64(const struct slot *slot, struct output *output)
{
    output_add(output, "%llu", (unsigned long long)*(const uint64_t *)slot->field);
}

static const char *parse_float(const struct slot *slot, const char *text)
{
    return read_float(text, slot->field);
}

static void format_float(const struct slot *slot, struct output *output)
{
    output_add(output, "%.7g", (double)*(const float *)slot->field);
}

static const char *parse_name(const struct slot *slot, const char *text)
{
    return read_name(slot->key->names, text, slot->field);
}

static void format_name(const struct slot *slot, struct output *output)
{
    output_name(output, slot->key->names, *(const uint32_t *)slot->field);
}

static const char *parse_capability(const struct slot *slot, const char *text)
{
    struct capability *capability = slot->field;
    char major[16];
    const char *problem;
    const char *minor = next_item(text, '.', major, sizeof major, &problem);
    uint64_t numbers[2];

    if (problem)
        return problem;
    if (!minor || read_unsigned(major, INT32_MAX, &numbers[0]) || read_unsigned(minor, INT32_MAX, &numbers[1]))
        return "not of the form MAJOR.MINOR";
    capability->major = (int)numbers[0];
    capability->minor = (int)numbers[1];
    return NULL;
}

static void format_capability(const struct slot *slot, struct output *output)
{
    const struct capability *capability = slot->field;

    output_add(output, "%d.%d", capability->major, capability->minor);
}

/* CODE or CODE@AFTER; OK stands for a device that is not lost. */
static const char *parse_loss(const struct slot *slot, const char *text)
{
    struct loss loss = {MTML_SUCCESS, 0};
    char code[64];
    const char *problem;
    const char *after = next_item(text, '@', code, sizeof code, &problem);
    uint32_t result;

    if (problem)
        return problem;
    if (read_name(return_names, code, &result))
        return "not of the form CODE or CODE@CALLS";
    if (after && read_unsigned(after, UINT64_MAX, &loss.after))
        return "not of the form CODE or CODE@CALLS";
    loss.result = (MtmlReturn)result;
    *(struct loss *)slot->field = loss;
    return NULL;
}

static void format_loss(const struct slot *slot, struct output *output)
{
    const struct loss *loss = slot->field;

    output_name(output, return_names, loss->result);
    if (loss->after)
        output_add(output, "@%llu", (unsigned long long)loss->after);
}

/* ==== What refers to other parts of the profile ==== */

static const char *parse_level(const struct slot *slot, const char *text)
{
    if (strcmp(text, "-") != 0)
        return parse_name(slot, text);
    *(uint32_t *)slot->field = SIM_UNCONNECTED;
    return NULL;
}

static void format_level(const struct slot *slot, struct output *output)
{
    if (*(const uint32_t *)slot->field == SIM_UNCONNECTED)
        output_add(output, "-");
    else
        format_name(slot, output);
}

/* DEVICE.LINK, the peer's number in the profile and its link; kept in one word. */
static const char *parse_peer(const struct slot *slot, const char *text)
{
    char device[16];
    const char *problem;
    const char *link = next_item(text, '.', device, sizeof device, &problem);
    uint64_t numbers[2];

    if (strcmp(text, "-") == 0) {
        *(uint32_t *)slot->field = SIM_UNCONNECTED;
        return NULL;
    }
    if (problem || !link || read_unsigned(device, SIM_MAX_DEVICES - 1, &numbers[0]) ||
        read_unsigned(link, SIM_LIST_SIZE - 1, &numbers[1]))
        return "not of the form DEVICE.LINK, nor -";
    *(uint32_t *)slot->field = (uint32_t)(numbers[0] << 16 | numbers[1]);
    return NULL;
}

static void format_peer(const struct slot *slot, struct output *output)
{
    uint32_t peer = *(const uint32_t *)slot->field;

    if (peer == SIM_UNCONNECTED)
        output_add(output, "-");
    else
        output_add(output, "%u.%u", peer >> 16, peer & 0xffff);
}

static const char *parse_virt_type(const struct slot *slot, const char *text)
{
    for (unsigned int i = 0; i < slot->machine->virt_type_count; i++) {
        if (strcmp(slot->machine->virt_types[i].id, text) == 0) {
            *(uint32_t *)slot->field = i;
            return NULL;
        }
    }
    return "no section [virt_type.ID] of that name";
}

static void format_virt_type(const struct slot *slot, struct output *output)
{
    output_add(output, "%s", slot->machine->virt_types[*(const uint32_t *)slot->field].id);
}

/* ==== Text ==== */

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = digit ? strchr(digits, tolower((unsigned char)digit)) : NULL;

    return found ? (int)(found - digits) : -1;
}

static const char *parse_text(const struct slot *slot, const char *text)
{
    struct text result = {0, {0}};

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
    *(struct text *)slot->field = result;
    return NULL;
}

static void format_text(const struct slot *slot, struct output *output)
{
    const struct text *text = slot->field;

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

static const char *parse_version_text(const struct slot *slot, const char *text)
{
    if (!strstr(text, "simulator"))
        return "the version must say that this is a simulator, for example 2.2.0-simulator";
    return parse_text(slot, text);
}

/* A node below /dev is made as a file where the machine is shown as a tree: none may be outside of that. */
static const char *parse_path(const struct slot *slot, const char *text)
{
    static const char nodes[] = "/dev/";
    struct text path;
    struct slot trial = {slot->machine, slot->keys, slot->key, &path};
    const char *problem = parse_text(&trial, text);
    const char *part = path.bytes + strlen(nodes);

    if (problem)
        return problem;
    if (strlen(path.bytes) != path.length)
        return "a path has no zero byte";
    if (strncmp(path.bytes, nodes, strlen(nodes)) == 0) {
        for (size_t length = strcspn(part, "/");; part += length + 1, length = strcspn(part, "/")) {
            if (length == 0 || strncmp(part, ".", length) == 0 || strncmp(part, "..", length) == 0)
                return "a path below /dev has no parts that are empty, . or ..";
            if (!part[length])
                break;
        }
    }
    *(struct text *)slot->field = path;
    return NULL;
}

static const char *parse_faults(const struct slot *slot, const char *text)
{
    const char *problem = faults_check(text, SIM_MAX_DEVICES);

    return problem ? problem : parse_text(slot, text);
}

static const char *parse_cpu_list(const struct slot *slot, const char *text)
{
    const char *problem = cpu_list_check(text);

    return problem ? problem : parse_text(slot, text);
}

static const char *parse_text_keys(const struct slot *slot, const char *text)
{
    const char *rest = *text ? text : NULL;

    while (rest) {
        char item[64];
        const char *problem;
        const struct key *candidate = slot->keys;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (problem)
            return problem;
        while (candidate->name && ((candidate->type != &type_text && candidate->type != &type_path) ||
                                   strcmp(candidate->name, item) != 0))
            candidate++;
        if (!candidate->name)
            return "not a list of keys that hold text";
    }
    return parse_text(slot, text);
}

/* PID MEMORY NAME, separated by commas; the memory in MiB, or - where it is not known. The name may have blanks. */
static const char *parse_processes(const struct slot *slot, const char *text)
{
    const char *rest = *text ? text : NULL;

    while (rest) {
        char item[SIM_TEXT_SIZE];
        const char *problem;
        size_t pid;
        size_t memory;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (problem)
            return problem;
        pid = strspn(item, "0123456789");
        memory = item[pid] == ' ' ? strspn(item + pid + 1, "0123456789") : 0;
        if (item[pid] == ' ' && item[pid + 1] == '-')
            memory = 1;
        if (!pid || !memory || item[pid + 1 + memory] != ' ' || !item[pid + 2 + memory])
            return "not a list of PID MEMORY NAME";
    }
    return parse_text(slot, text);
}

static bool is_one_of(const char *const *words, const char *word)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* NUMBER SEVERITY SCOPE [pid=PID] ["TEXT"]: the record that the driver has written last. */
static const char *parse_xid(const struct slot *slot, const char *text)
{
    static const char *const severities[] = {"notify", "warn", "fatal", NULL};
    static const char *const scopes[] = {"process", "gpu", "host", "system", NULL};
    static const char problem[] = "not NUMBER SEVERITY SCOPE [pid=PID] [\"TEXT\"]";
    char number[16], severity[16], scope[16], pid[16];
    const char *rest = text;
    uint32_t value;
    int length = 0;

    if (!*text)
        return parse_text(slot, text);
    if (sscanf(rest, "%15s %15s %15s %n", number, severity, scope, &length) != 3 || read_uint32(number, &value) ||
        !is_one_of(severities, severity) || !is_one_of(scopes, scope))
        return problem;
    rest += length;
    if (sscanf(rest, "pid=%15s %n", pid, &length) == 1) {
        if (read_uint32(pid, &value))
            return problem;
        rest += length;
    }
    if (*rest && (*rest != '"' || strchr(rest + 1, '"') != rest + strlen(rest) - 1))
        return problem;
    return parse_text(slot, text);
}

/* ==== The types ==== */

const struct type type_bool = {.parse = parse_bool, .format = format_bool};
const struct type type_uint = {.parse = parse_uint, .format = format_uint};
const struct type type_hex = {.parse = parse_uint, .format = format_hex};
const struct type type_int = {.parse = parse_int, .format = format_int};
const struct type type_uint64 = {.parse = parse_uint64, .format = format_uint64};
const struct type type_float = {.parse = parse_float, .format = format_float};
const struct type type_name = {.parse = parse_name, .format = format_name};
const struct type type_level = {.parse = parse_level, .format = format_level};
const struct type type_peer = {.parse = parse_peer, .format = format_peer};
const struct type type_virt_type = {.parse = parse_virt_type, .format = format_virt_type};
const struct type type_capability = {.parse = parse_capability, .format = format_capability};
const struct type type_loss = {.parse = parse_loss, .format = format_loss};
const struct type type_text = {.parse = parse_text, .format = format_text};
const struct type type_path = {.parse = parse_path, .format = format_text};
const struct type type_version_text = {.parse = parse_version_text, .format = format_text};
const struct type type_cpu_list = {.parse = parse_cpu_list, .format = format_text};
const struct type type_faults = {.parse = parse_faults, .format = format_text};
const struct type type_processes = {.parse = parse_processes, .format = format_text};
const struct type type_xid = {.parse = parse_xid, .format = format_text};
const struct type type_text_keys = {.parse = parse_text_keys, .format = format_text};
