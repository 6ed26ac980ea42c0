/* The keys of a profile: which field each one fills, and how. */

#include "sim.h"

#include <stdlib.h>
#include <string.h>

const struct name_value return_names[] = {
    {"OK", MTML_SUCCESS},
    {"DRIVER_NOT_LOADED", MTML_ERROR_DRIVER_NOT_LOADED},
    {"DRIVER_FAILURE", MTML_ERROR_DRIVER_FAILURE},
    {"INVALID_ARGUMENT", MTML_ERROR_INVALID_ARGUMENT},
    {"NOT_SUPPORTED", MTML_ERROR_NOT_SUPPORTED},
    {"NO_PERMISSION", MTML_ERROR_NO_PERMISSION},
    {"INSUFFICIENT_SIZE", MTML_ERROR_INSUFFICIENT_SIZE},
    {"NOT_FOUND", MTML_ERROR_NOT_FOUND},
    {"INSUFFICIENT_MEMORY", MTML_ERROR_INSUFFICIENT_MEMORY},
    {"DRIVER_TOO_OLD", MTML_ERROR_DRIVER_TOO_OLD},
    {"DRIVER_TOO_NEW", MTML_ERROR_DRIVER_TOO_NEW},
    {"TIMEOUT", MTML_ERROR_TIMEOUT},
    {"RESOURCE_IS_BUSY", MTML_ERROR_RESOURCE_IS_BUSY},
    {"UNKNOWN", MTML_ERROR_UNKNOWN},
    {NULL, 0},
};

const struct name_value codec_names[] = {
    {"AVC", MTML_CODEC_TYPE_AVC},     {"VC1", MTML_CODEC_TYPE_VC1},     {"MPEG2", MTML_CODEC_TYPE_MPEG2},
    {"MPEG4", MTML_CODEC_TYPE_MPEG4}, {"H263", MTML_CODEC_TYPE_H263},   {"DIV3", MTML_CODEC_TYPE_DIV3},
    {"RV", MTML_CODEC_TYPE_RV},       {"AVS", MTML_CODEC_TYPE_AVS},     {"RSVD1", MTML_CODEC_TYPE_RSVD1},
    {"THO", MTML_CODEC_TYPE_THO},     {"VP3", MTML_CODEC_TYPE_VP3},     {"VP8", MTML_CODEC_TYPE_VP8},
    {"HEVC", MTML_CODEC_TYPE_HEVC},   {"VP9", MTML_CODEC_TYPE_VP9},     {"AVS2", MTML_CODEC_TYPE_AVS2},
    {"RSVD2", MTML_CODEC_TYPE_RSVD2}, {"AV1", MTML_CODEC_TYPE_AV1},     {NULL, 0},
};

const struct name_value session_state_names[] = {
    {"UNKNOWN", (unsigned int)MTML_CODEC_SESSION_STATE_UNKNOWN},
    {"IDLE", MTML_CODEC_SESSION_STATE_IDLE},
    {"ACTIVE", MTML_CODEC_SESSION_STATE_ACTIVE},
    {NULL, 0},
};

const struct name_value display_names[] = {
    {"DP", MTML_DISP_INTF_TYPE_DP},     {"EDP", MTML_DISP_INTF_TYPE_EDP},   {"VGA", MTML_DISP_INTF_TYPE_VGA},
    {"HDMI", MTML_DISP_INTF_TYPE_HDMI}, {"LVDS", MTML_DISP_INTF_TYPE_LVDS}, {NULL, 0},
};

static const struct name_value brand_names[] = {
    {"MTT", MTML_BRAND_MTT},
    {"UNKNOWN", MTML_BRAND_UNKNOWN},
    {NULL, 0},
};

static const struct name_value generation_names[] = {
    {"SUDI", GENERATION_SUDI},
    {"CHUNXIAO", GENERATION_CHUNXIAO},
    {"QUYUAN", GENERATION_QUYUAN},
    {"PINGHU", GENERATION_PINGHU},
    {NULL, 0},
};

static const struct name_value memory_type_names[] = {
    {"LPDDR4", MTML_MEM_TYPE_LPDDR4},
    {"GDDR6", MTML_MEM_TYPE_GDDR6},
    {NULL, 0},
};

static const struct name_value mode_names[] = {
    {"DISABLE", 0},
    {"ENABLE", 1},
    {NULL, 0},
};

static const struct name_value link_state_names[] = {
    {"DOWN", MTML_MTLINK_STATE_DOWN},
    {"UP", MTML_MTLINK_STATE_UP},
    {"DOWNGRADE", MTML_MTLINK_STATE_DOWNGRADE},
    {NULL, 0},
};

static const struct name_value link_status_names[] = {
    {"NOT_SUPPORTED", MTML_MTLINK_CAP_STATUS_NOT_SUPPORTED},
    {"OK", MTML_MTLINK_CAP_STATUS_OK},
    {NULL, 0},
};

static const struct name_value level_names[] = {
    {"INTERNAL", MTML_TOPOLOGY_INTERNAL}, {"SINGLE", MTML_TOPOLOGY_SINGLE},
    {"MULTIPLE", MTML_TOPOLOGY_MULTIPLE}, {"HOSTBRIDGE", MTML_TOPOLOGY_HOSTBRIDGE},
    {"NODE", MTML_TOPOLOGY_NODE},         {"SYSTEM", MTML_TOPOLOGY_SYSTEM},
    {NULL, 0},
};

static const struct name_value p2p_names[] = {
    {"OK", MTML_P2P_STATUS_OK},
    {"CHIPSET_NOT_SUPPORTED", MTML_P2P_STATUS_CHIPSET_NOT_SUPPORTED},
    {"GPU_NOT_SUPPORTED", MTML_P2P_STATUS_GPU_NOT_SUPPORTED},
    {"UNKNOWN", MTML_P2P_STATUS_UNKNOWN},
    {NULL, 0},
};

static const struct name_value role_names[] = {
    {"NONE", MTML_VIRT_ROLE_NONE},
    {"HOST_VIRTDEVICE", MTML_VIRT_ROLE_HOST_VIRTDEVICE},
    {"GUEST_VIRTDEVICE", MTML_VIRT_ROLE_GUEST_VIRTDEVICE},
    {NULL, 0},
};

#define KEY(object, field, type)         {#field, &type_##type, offsetof(struct object, field), NULL}
#define NAMED(object, field, type, name) {#field, &type_##type, offsetof(struct object, field), name}
#define ECC(name, error, counter)        {name, &type_uint64, offsetof(struct device, ecc_errors[error][counter]), NULL}
#define END                              {NULL, NULL, 0, NULL}

const struct key device_keys[] = {
    KEY(device, visible, bool),
    KEY(device, name, text),
    KEY(device, uuid, text),
    KEY(device, serial_number, text),
    KEY(device, mtbios_version, text),
    KEY(device, gpu_path, text),
    KEY(device, primary_path, text),
    KEY(device, render_path, text),
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
    ECC("ecc_corrected_volatile", MTML_MEMORY_ERROR_TYPE_CORRECTED, MTML_VOLATILE_ECC),
    ECC("ecc_corrected_aggregate", MTML_MEMORY_ERROR_TYPE_CORRECTED, MTML_AGGREGATE_ECC),
    ECC("ecc_uncorrected_volatile", MTML_MEMORY_ERROR_TYPE_UNCORRECTED, MTML_VOLATILE_ECC),
    ECC("ecc_uncorrected_aggregate", MTML_MEMORY_ERROR_TYPE_UNCORRECTED, MTML_AGGREGATE_ECC),
    {"retired_pages_sbe", &type_pages,
     offsetof(struct device, retired_pages[MTML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS]), NULL},
    {"retired_pages_dbe", &type_pages,
     offsetof(struct device, retired_pages[MTML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR]), NULL},
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
    KEY(device, musa_compute_capability, capability),
    KEY(device, pcie_replay_counter, uint),
    KEY(device, performance_state, int),
    KEY(device, enforced_power_limit, int),
    KEY(device, default_power_limit, int),
    KEY(device, shutdown_temperature, int),
    KEY(device, slowdown_temperature, int),
    KEY(device, gpu_voltage, int),
    KEY(device, memory_temperature, int),
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

/* The key, with *INDEX the element that a name like "fan_speed.1" asks for, or -1 for the whole value. */
static const struct key *find_key(const struct key *keys, const char *name, long *index, const char **problem)
{
    const char *dot = strchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    char *end;

    for (; keys->name; keys++)
        if (strlen(keys->name) == length && strncmp(keys->name, name, length) == 0)
            break;
    *index = -1;
    *problem = NULL;
    if (!keys->name) {
        *problem = "unknown key";
    } else if (dot) {
        *index = strtol(dot + 1, &end, 10);
        if (!keys->type->parse_element)
            *problem = "this key has no elements that are set one by one";
        else if (dot[1] < '0' || dot[1] > '9' || *end || *index >= SIM_LIST_SIZE)
            *problem = "not the number of an element";
    }
    return keys;
}

const char *key_set(const struct machine *machine, const struct key *keys, void *object, const char *name,
                    const char *text)
{
    long index;
    const char *problem;
    const struct key *key = find_key(keys, name, &index, &problem);
    void *field;

    if (problem)
        return problem;
    field = (char *)object + key->offset;
    if (index >= 0)
        return key->type->parse_element(machine, key, field, (unsigned int)index, text);
    return key->type->parse(machine, key, field, text);
}

const char *key_get(const struct machine *machine, const struct key *keys, const void *object, const char *name,
                    struct output *output)
{
    long index;
    const char *problem;
    const struct key *key = find_key(keys, name, &index, &problem);
    const void *field;

    if (problem)
        return problem;
    field = (const char *)object + key->offset;
    if (output->size)
        output->bytes[0] = '\0';
    if (index >= 0)
        key->type->format_element(machine, key, field, (unsigned int)index, output);
    else
        key->type->format(machine, key, field, output);
    return NULL;
}
