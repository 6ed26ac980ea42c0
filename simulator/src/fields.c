/* Reading what a profile's values have become. */

#include "fields.h"

#include <string.h>

uint32_t list_value(const struct list *list, unsigned int index, uint32_t otherwise)
{
    if (list->count == 0)
        return otherwise;
    return list->values[index < list->count ? index : list->count - 1];
}

bool text_has_word(const struct text *text, const char *word)
{
    const char *found = text->bytes;
    size_t length = strlen(word);

    while ((found = strstr(found, word))) {
        char before = found == text->bytes ? ',' : found[-1];
        char after = found[length];

        if ((before == ',' || before == ' ') && (after == ',' || after == ' ' || after == '\0'))
            return true;
        found += length;
    }
    return false;
}
