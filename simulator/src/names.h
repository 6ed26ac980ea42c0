/* The names that profiles and faults have for the values of the header's enumerations. */

#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include "base.h"

struct name_value {
    const char *name;
    unsigned int value;
};

/* Each ends with an entry without a name. */
extern const struct name_value return_names[], codec_names[], session_state_names[], display_names[],
    brand_names[], generation_names[], memory_type_names[], mode_names[],
    link_state_names[], link_status_names[], level_names[], p2p_names[],
    role_names[];

/* NULL when the value has no name. */
const char *name_of(const struct name_value *names, unsigned int value);

#endif
