/* The types that a profile's values have: from text to a field and back. */

#ifndef SIM_VALUE_H
#define SIM_VALUE_H

#include "machine.h"
#include "text.h"

struct type;

/* What a key of a profile fills: the field of an object at OFFSET. */
struct key {
    const char *name;
    const struct type *type;
    size_t offset;
    const struct name_value *names; /* for the types that take names */
    enum function function;         /* of a device: the one that answers only where the key is given, or none */
};

/* One value of an object, and what its text may refer to. */
struct slot {
    const struct machine *machine;
    const struct key *keys; /* all keys of the object */
    const struct key *key;
    void *field;
};

/* What a list has beyond its last element. */
enum beyond { BEYOND_NOTHING, BEYOND_THE_LAST_AGAIN, BEYOND_UNCONNECTED };

struct type {
    /* Fills the field from the text; answers NULL, or why the text is refused. */
    const char *(*parse)(const struct slot *slot, const char *text);
    void (*format)(const struct slot *slot, struct output *output);
    /* For lists whose elements may be set one by one; else NULL. */
    const struct type *element;
    enum beyond beyond;
};

/* Alone (value.c) */
extern const struct type type_bool, type_uint, type_hex, type_int, type_uint64, type_float, type_name, type_level,
    type_peer, type_virt_type, type_capability, type_loss, type_text, type_path, type_version_text, type_cpu_list, type_faults,
    type_processes, type_xid, type_text_keys;

/* Lists of those (list.c) */
extern const struct type type_uint_list, type_name_list, type_level_list, type_peer_list, type_virt_type_list;

/* Lists and sets of more than one number (record.c) */
extern const struct type type_functions, type_displays, type_sessions, type_pages;

#endif
