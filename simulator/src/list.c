/* Lists of values, separated by commas. */

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
    struct list *list = slot->field;

    for (unsigned int i = 0; i < list->count; i++) {
        struct slot element = {slot->machine, slot->keys, slot->key, &list->values[i]};

        output_separator(output, i);
        slot->key->type->element->format(&element, output);
    }
}

const struct type type_uint_list = {parse_list, format_list, &type_uint, BEYOND_NOTHING};
const struct type type_name_list = {parse_list, format_list, &type_name, BEYOND_THE_LAST_AGAIN};
const struct type type_level_list = {parse_list, format_list, &type_level, BEYOND_UNCONNECTED};
const struct type type_peer_list = {parse_list, format_list, &type_peer, BEYOND_UNCONNECTED};
const struct type type_virt_type_list = {parse_list, format_list, &type_virt_type, BEYOND_NOTHING};
