/* Lists of values: separated by commas, or one element by itself. */

#include "value.h"

static const char *parse_list(const struct slot *slot, const char *text)
{
    struct list list = {0, {0}};
    const char *rest = *text ? text : NULL;

    while (rest) {
        struct slot element = {slot->machine, slot->keys, slot->key, &list.values[list.count]};
        char item[64];
        const char *problem;

        rest = next_item(rest, ',', item, sizeof item, &problem);
        if (!problem && list.count == SIM_LIST_SIZE)
            problem = "list too long";
        if (!problem)
            problem = slot->key->type->element->parse(&element, item);
        if (problem)
            return problem;
        list.count++;
    }
    *(struct list *)slot->field = list;
    return NULL;
}

static void format_list(const struct slot *slot, struct output *output)
{
    const struct list *list = slot->field;

    for (unsigned int i = 0; i < list->count; i++) {
        output_separator(output, i);
        list_get(slot, i, output);
    }
}

const char *list_set(const struct slot *slot, unsigned int index, const char *text)
{
    enum beyond beyond = slot->key->type->beyond;
    struct list *list = slot->field;
    uint32_t value;
    struct slot element = {slot->machine, slot->keys, slot->key, &value};
    const char *problem = slot->key->type->element->parse(&element, text);
    unsigned int count = index + 1;

    if (problem)
        return problem;
    /* The value that stood for all further elements must go on doing so after this one. */
    if (beyond == BEYOND_THE_LAST_AGAIN)
        count++;
    if (count > (beyond == BEYOND_NOTHING ? list->count : SIM_LIST_SIZE))
        return "the list has no such element";
    while (list->count < count) {
        list->values[list->count] = beyond == BEYOND_UNCONNECTED ? SIM_UNCONNECTED : list_value(list, list->count, 0);
        list->count++;
    }
    list->values[index] = value;
    return NULL;
}

void list_get(const struct slot *slot, unsigned int index, struct output *output)
{
    const struct list *list = slot->field;
    uint32_t value = list_value(list, index, 0);
    struct slot element = {slot->machine, slot->keys, slot->key, &value};

    if (index >= list->count && slot->key->type->beyond == BEYOND_UNCONNECTED)
        value = SIM_UNCONNECTED;
    slot->key->type->element->format(&element, output);
}

const struct type type_uint_list = {parse_list, format_list, &type_uint, BEYOND_NOTHING};
const struct type type_name_list = {parse_list, format_list, &type_name, BEYOND_THE_LAST_AGAIN};
const struct type type_level_list = {parse_list, format_list, &type_level, BEYOND_UNCONNECTED};
const struct type type_peer_list = {parse_list, format_list, &type_peer, BEYOND_UNCONNECTED};
const struct type type_virt_type_list = {parse_list, format_list, &type_virt_type, BEYOND_NOTHING};
