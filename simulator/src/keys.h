/* The keys that profiles may use. */

#ifndef SIM_KEYS_H
#define SIM_KEYS_H

#include "value.h"

/* Each ends with an entry without a name. */
extern const struct key device_keys[], machine_keys[], virt_type_keys[], mpc_profile_keys[], mpc_configuration_keys[];

/* NULL, or why the key or value is refused. NAME may end in ".INDEX" for one element of a list. */
const char *key_set(const struct machine *machine, const struct key *keys, void *object, const char *name,
                    const char *text);
const char *key_get(const struct machine *machine, const struct key *keys, void *object, const char *name,
                    struct output *output);

#endif
