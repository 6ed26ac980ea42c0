/* The keys of a profile: which field each one fills, and how. */

#include "keys.h"

#include <stdlib.h>
#include <string.h>

#define KEY(object, field, type)         {#field, &type_##type, offsetof(struct object, field), NULL, NO_FUNCTION}
#define NAMED(object, field, type, name) {#field, &type_##type, offsetof(struct object, field), name, NO_FUNCTION}
#define AT(name, type, field)            {name, &type_##type, offsetof(struct device, field), NULL, NO_FUNCTION}
#define END                              {NULL, NULL, 0, NULL, NO_FUNCTION}
#define NO_FUNCTION                      FUNCTION_COUNT

const struct key device_keys[] = {
    KEY(device, visible, bool),
    KEY(device, name, text),
    KEY(device, uuid, text),
    KEY(device, serial_number, text),
    KEY(device, mtbios_version, text),
    KEY(device, gpu_path, path),
    KEY(device, primary_path, path),
    KEY(device, render_path, path),
    NAMED(device, brand, name, brand_names),
    NAMED(device, generation, name, generation_names),
    KEY(device, gpu_cores, uint),
    KEY(device, pci_sbdf, text),
    KEY(device, pci_segment, uint),
    KEY(device, pci_bus, uint),
    KEY(device, pci_device, uint),
    KEY(device, pci_device_id, hex),
    KEY(device, pci_subsystem_id, hex),
    KEY(device, pci_bus_width, uint),
    KEY(device, pci_max_speed, float),
    KEY(device, pci_cur_speed, float),
    KEY(device, pci_max_width, uint),
    KEY(device, pci_cur_width, uint),
    KEY(device, pci_max_gen, uint),
    KEY(device, pci_cur_gen, uint),
    KEY(device, slot_id, uint),
    KEY(device, slot_name, text),
    KEY(device, displays, displays),
    KEY(device, power_usage, uint),
    KEY(device, fan_speed, uint_list),
    KEY(device, fan_rpm, uint_list),
    KEY(device, gpu_utilization, uint),
    KEY(device, engine_utilization, uint_list),
    KEY(device, gpu_temperature, int),
    KEY(device, gpu_clock, uint),
    KEY(device, gpu_max_clock, uint),
    KEY(device, memory_total, uint64),
    KEY(device, memory_used, uint64),
    KEY(device, memory_used_system, uint64),
    KEY(device, memory_utilization, uint),
    KEY(device, memory_clock, uint),
    KEY(device, memory_max_clock, uint),
    KEY(device, memory_bus_width, uint),
    KEY(device, memory_bandwidth, uint),
    KEY(device, memory_speed, uint),
    KEY(device, memory_vendor, text),
    NAMED(device, memory_type, name, memory_type_names),
    NAMED(device, ecc_mode, name, mode_names),
    NAMED(device, ecc_pending_mode, name, mode_names),
    AT("ecc_corrected_volatile", uint64, ecc_errors[MTML_MEMORY_ERROR_TYPE_CORRECTED][MTML_VOLATILE_ECC]),
    AT("ecc_corrected_aggregate", uint64, ecc_errors[MTML_MEMORY_ERROR_TYPE_CORRECTED][MTML_AGGREGATE_ECC]),
    AT("ecc_uncorrected_volatile", uint64, ecc_errors[MTML_MEMORY_ERROR_TYPE_UNCORRECTED][MTML_VOLATILE_ECC]),
    AT("ecc_uncorrected_aggregate", uint64, ecc_errors[MTML_MEMORY_ERROR_TYPE_UNCORRECTED][MTML_AGGREGATE_ECC]),
    AT("retired_pages_sbe", pages, retired_pages[MTML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS]),
    AT("retired_pages_dbe", pages, retired_pages[MTML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR]),
    KEY(device, retired_pages_pending, bool),
    KEY(device, vpu_utilization, uint),
    KEY(device, encoder_utilization, uint),
    KEY(device, decoder_utilization, uint),
    KEY(device, codec_sample_period, uint),
    KEY(device, vpu_clock, uint),
    KEY(device, vpu_max_clock, uint),
    KEY(device, encoder_capacity, uint),
    KEY(device, decoder_capacity, uint),
    KEY(device, encoder_sessions, sessions),
    KEY(device, decoder_sessions, sessions),
    KEY(device, mtlink_capability, bool),
    KEY(device, mtlink_version, uint),
    KEY(device, mtlink_bandwidth, uint),
    KEY(device, mtlink_count, uint),
    KEY(device, mtlink_peer, peer_list),
    NAMED(device, mtlink_state, name_list, link_state_names),
    NAMED(device, mtlink_p2p_access, name_list, link_status_names),
    NAMED(device, mtlink_p2p_atomics, name_list, link_status_names),
    KEY(device, board, uint),
    KEY(device, pcie_switch, uint),
    KEY(device, switch_group, uint),
    KEY(device, host_bridge, uint),
    KEY(device, numa_node, uint),
    NAMED(device, topology, level_list, level_names),
    NAMED(device, p2p_read, name_list, p2p_names),
    NAMED(device, p2p_write, name_list, p2p_names),
    KEY(device, cpu_affinity, cpu_list),
    KEY(device, memory_affinity, cpu_list),
    KEY(device, mpc_capability, bool),
    NAMED(device, mpc_mode, name, mode_names),
    KEY(device, mpc_profiles, uint_list),
    KEY(device, mpc_configurations, uint_list),
    KEY(device, mpc_configuration, uint),
    KEY(device, virt_capability, bool),
    NAMED(device, virt_role, name, role_names),
    KEY(device, virt_types, virt_type_list),
    KEY(device, virt_type, virt_type),
#define X(field, type, function) \
    {#field, &type_##type, offsetof(struct device, field), NULL, FUNCTION_##function},
    SIM_KEYS_BEYOND(X)
#undef X
    KEY(device, processes, processes),
    KEY(device, xid, xid),
    KEY(device, unsupported, functions),
    KEY(device, unterminated, text_keys),
    KEY(device, lost, loss),
    KEY(device, resets, uint),
    END,
};

const struct key machine_keys[] = {
    KEY(machine, library_version, version_text),
    KEY(machine, driver_version, text),
    KEY(machine, frozen, bool),
    NAMED(machine, init, name, return_names),
    NAMED(machine, reinit, name, return_names),
    KEY(machine, latency_ns, uint64),
    KEY(machine, topology_includes_nearer, bool),
    KEY(machine, strict_pci_sbdf, bool),
    KEY(machine, missing, functions),
    KEY(machine, faults, faults),
    END,
};

const struct key virt_type_keys[] = {
    KEY(virt_type, name, text),
    KEY(virt_type, api, text),
    KEY(virt_type, horizontal_resolution, uint),
    KEY(virt_type, vertical_resolution, uint),
    KEY(virt_type, frame_buffer, uint),
    KEY(virt_type, max_encode, uint),
    KEY(virt_type, max_decode, uint),
    KEY(virt_type, max_instances, uint),
    KEY(virt_type, max_displays, uint),
    END,
};

const struct key mpc_profile_keys[] = {
    KEY(mpc_profile, name, text),
    KEY(mpc_profile, cores, uint),
    KEY(mpc_profile, memory, uint64),
    END,
};

const struct key mpc_configuration_keys[] = {
    KEY(mpc_configuration, name, text),
    KEY(mpc_configuration, profiles, uint_list),
    END,
};

/* The key's slot, with *INDEX the element that a name like "fan_speed.1" asks for, or -1 for the whole value. */
static const char *find_slot(const struct machine *machine, const struct key *keys, void *object, const char *name,
                             struct slot *slot, long *index)
{
    const char *dot = strchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    const struct key *key = keys;
    char *end;

    /* The first letter spares most of the calls, which are half the cost of a new machine. */
    while (key->name && (*key->name != *name || strncmp(key->name, name, length) != 0 || key->name[length]))
        key++;
    if (!key->name)
        return "unknown key";
    *slot = (struct slot){machine, keys, key, (char *)object + key->offset};
    *index = -1;
    if (!dot)
        return NULL;
    *index = strtol(dot + 1, &end, 10);
    if (!key->type->element)
        return "this key has no elements that are set one by one";
    if (dot[1] < '0' || dot[1] > '9' || *end || *index >= SIM_LIST_SIZE)
        return "not the number of an element";
    return NULL;
}

/* Sets one element of a list: NULL, or why it is refused. */
static const char *set_element(const struct slot *slot, unsigned int index, const char *text)
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

static void get_element(const struct slot *slot, unsigned int index, struct output *output)
{
    const struct list *list = slot->field;
    uint32_t value = list_value(list, index, 0);
    struct slot element = {slot->machine, slot->keys, slot->key, &value};

    if (index >= list->count && slot->key->type->beyond == BEYOND_UNCONNECTED)
        value = SIM_UNCONNECTED;
    slot->key->type->element->format(&element, output);
}

const char *key_set(const struct machine *machine, const struct key *keys, void *object, const char *name,
                    const char *text)
{
    struct slot slot;
    long index;
    const char *problem = find_slot(machine, keys, object, name, &slot, &index);

    if (!problem)
        problem = index < 0 ? slot.key->type->parse(&slot, text) : set_element(&slot, (unsigned int)index, text);
    if (!problem && slot.key->function != NO_FUNCTION)
        ((struct device *)object)->told.member[slot.key->function] = true;
    return problem;
}

const char *key_get(const struct machine *machine, const struct key *keys, void *object, const char *name,
                    struct output *output)
{
    struct slot slot;
    long index;
    const char *problem = find_slot(machine, keys, object, name, &slot, &index);

    if (problem)
        return problem;
    if (output->size)
        output->bytes[0] = '\0';
    if (index < 0)
        slot.key->type->format(&slot, output);
    else
        get_element(&slot, (unsigned int)index, output);
    return NULL;
}
