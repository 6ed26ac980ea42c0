/* A profile as it is written: sections with keys and values. */

#ifndef SIM_PROFILE_H
#define SIM_PROFILE_H

#include "machine.h"

struct key;

/* Where a line is from. A card has what its base says of all cards and of this one, then what the profile says, and so on. */
enum layer { LAYER_BASE = 1, LAYER_OWN = 2, LAYER_SETTINGS = 4, LAYER_ALL = 7 };

/* One "key = value" line of a profile, or one assignment of MTML_SIM_SET. */
struct entry {
    char *section;
    uint32_t hash; /* of the section: most comparisons end there */
    char *key;
    char *value;
    const char *source;
    unsigned int line; /* 0 in MTML_SIM_SET */
    enum layer layer;
};

/* What a section is about. */
struct place {
    enum {
        PLACE_MACHINE,
        PLACE_DEFAULTS,
        PLACE_DEVICE,
        PLACE_INSTANCE,
        PLACE_VIRT_DEVICE,
        PLACE_VIRT_TYPE,
        PLACE_MPC_PROFILE,
        PLACE_MPC_CONFIGURATION
    } kind;
    unsigned int number;
    unsigned int child;
    const char *id;
};

/* False when no section is called that. */
bool profile_place(const char *section, struct place *place);

/* All that follow: false after telling what is wrong. */

/* Fills the machine's entries. SETTINGS is the text of MTML_SIM_SET, NULL for none. */
bool profile_read(struct machine *machine, const char *text, const char *settings);
void profile_free(struct machine *machine);

/* Applies the lines of a section such as "device.0.instance.1", those of some layers. */
bool profile_apply(struct machine *machine, struct device *device, const char *section, unsigned int layers);
bool profile_apply_entry(struct machine *machine, const struct entry *entry, const struct key *keys, void *object);
bool profile_has_section(const struct machine *machine, const char *section);

/* Always false. */
bool profile_complain(const struct entry *entry, const char *problem);

#endif
