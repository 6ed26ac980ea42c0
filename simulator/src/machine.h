/* The simulated machine: its cards, and the instances and virtual devices below them. */

#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "fields.h"
#include "functions.h"

#define SIM_MAX_DEVICES     64
#define SIM_MAX_INSTANCES   MTML_MPC_CONF_MAX_PROF_NUM
#define SIM_MAX_VIRT        64
#define SIM_MAX_DEFINITIONS 64

struct handle;

enum handle_kind {
    HANDLE_LIBRARY,
    HANDLE_SYSTEM,
    HANDLE_DEVICE,
    HANDLE_GPU,
    HANDLE_MEMORY,
    HANDLE_VPU,
    HANDLE_KIND_COUNT
};

enum role { ROLE_CARD, ROLE_MPC_INSTANCE, ROLE_VIRT_DEVICE };

struct device {
    /* Where the device stands; not part of the profile's values. */
    enum role role;
    unsigned int number;     /* N of [device.N]; of an instance or virtual device: its place below the card */
    struct device *card;     /* the card itself, or the one that an instance or virtual device belongs to */
    unsigned int mpc_profile; /* of an instance: index into the machine's profiles */
    uint64_t calls;
    struct handle *handles[HANDLE_KIND_COUNT];
    struct device *instances[SIM_MAX_INSTANCES];
    unsigned int instance_count;
    struct device *virt_devices[SIM_MAX_VIRT];
    unsigned int virt_device_count;

    /* Identity */
    bool visible;
    struct text name;
    struct text uuid;
    struct text serial_number;
    struct text mtbios_version;
    struct text gpu_path;
    struct text primary_path;
    struct text render_path;
    uint32_t brand;
    uint32_t generation;
    uint32_t gpu_cores;
    struct text pci_sbdf;
    uint32_t pci_segment;
    uint32_t pci_bus;
    uint32_t pci_device;
    uint32_t pci_device_id;
    uint32_t pci_subsystem_id;
    uint32_t pci_bus_width;
    float pci_max_speed;
    float pci_cur_speed;
    uint32_t pci_max_width;
    uint32_t pci_cur_width;
    uint32_t pci_max_gen;
    uint32_t pci_cur_gen;
    uint32_t slot_id;
    struct text slot_name;
    struct displays displays;

    /* Board */
    uint32_t power_usage;
    struct list fan_speed;
    struct list fan_rpm;

    /* Graphics */
    uint32_t gpu_utilization;
    struct list engine_utilization;
    int32_t gpu_temperature;
    uint32_t gpu_clock;
    uint32_t gpu_max_clock;

    /* Memory */
    uint64_t memory_total;
    uint64_t memory_used;
    uint64_t memory_used_system;
    uint32_t memory_utilization;
    uint32_t memory_clock;
    uint32_t memory_max_clock;
    uint32_t memory_bus_width;
    uint32_t memory_bandwidth;
    uint32_t memory_speed;
    struct text memory_vendor;
    uint32_t memory_type;

    /* ECC */
    uint32_t ecc_mode;
    uint32_t ecc_pending_mode;
    uint64_t ecc_errors[MTML_MEMORY_ERROR_TYPE_COUNT][MTML_ECC_COUNTER_TYPE_COUNT];
    struct pages retired_pages[MTML_PAGE_RETIREMENT_CAUSE_MAX];
    bool retired_pages_pending;

    /* Video */
    uint32_t vpu_utilization;
    uint32_t encoder_utilization;
    uint32_t decoder_utilization;
    uint32_t codec_sample_period;
    uint32_t vpu_clock;
    uint32_t vpu_max_clock;
    uint32_t encoder_capacity;
    uint32_t decoder_capacity;
    struct sessions encoder_sessions;
    struct sessions decoder_sessions;

    /* MtLink */
    bool mtlink_capability;
    uint32_t mtlink_version;
    uint32_t mtlink_bandwidth;
    uint32_t mtlink_count;
    struct list mtlink_peer;
    struct list mtlink_state;
    struct list mtlink_p2p_access;
    struct list mtlink_p2p_atomics;

    /* Place in the machine */
    uint32_t board;
    uint32_t pcie_switch;
    uint32_t switch_group;
    uint32_t host_bridge;
    uint32_t numa_node;
    struct list topology;
    struct list p2p_read;
    struct list p2p_write;
    struct text cpu_affinity;
    struct text memory_affinity;

    /* MPC */
    bool mpc_capability;
    uint32_t mpc_mode;
    struct list mpc_profiles;
    struct list mpc_configurations;
    uint32_t mpc_configuration;

    /* Virtualization */
    bool virt_capability;
    uint32_t virt_role;
    struct list virt_types;
    uint32_t virt_type;

    /* What functions outside the header answer from, and those of them that the profile has an answer for */
    SIM_FIELDS_BEYOND
    struct function_set told;

    /* What the interface does not tell, and mthreads-gmi or the driver's files do */
    struct text processes;
    struct text xid;

    /* Behavior */
    struct function_set unsupported;
    struct text unterminated;
    struct loss lost;
    uint32_t resets;
};

struct virt_type {
    char id[SIM_TEXT_SIZE];
    struct text name;
    struct text api;
    uint32_t horizontal_resolution;
    uint32_t vertical_resolution;
    uint32_t frame_buffer;
    uint32_t max_encode;
    uint32_t max_decode;
    uint32_t max_instances;
    uint32_t max_displays;
};

struct mpc_profile {
    uint32_t id;
    struct text name;
    uint32_t cores;
    uint64_t memory;
};

struct mpc_configuration {
    uint32_t id;
    struct text name;
    struct list profiles;
};

struct entry;

struct machine {
    struct text library_version;
    struct text driver_version;
    bool frozen;
    uint32_t init;
    uint32_t reinit;
    uint64_t latency_ns;
    bool topology_includes_nearer;
    bool strict_pci_sbdf;
    struct function_set missing;
    struct text faults;

    struct virt_type virt_types[SIM_MAX_DEFINITIONS];
    unsigned int virt_type_count;
    struct mpc_profile mpc_profiles[SIM_MAX_DEFINITIONS];
    unsigned int mpc_profile_count;
    struct mpc_configuration mpc_configurations[SIM_MAX_DEFINITIONS];
    unsigned int mpc_configuration_count;

    struct device *devices[SIM_MAX_DEVICES];
    unsigned int device_count;

    struct entry *entries;
    unsigned int entry_count;
    /* What it was made from; the settings are those of MTML_SIM_SET. */
    char *path;
    char *text;
    char *settings;
    char *base; /* path of the shipped profile that its own says what differs from; NULL for none */
    unsigned int shutdowns;
};

void machine_free(struct machine *machine);
void machine_drop_instances(struct device *card);

/* NULL when there is none of that ID. */
const struct mpc_profile *machine_mpc_profile(const struct machine *machine, unsigned int id);
const struct mpc_configuration *machine_mpc_configuration(const struct machine *machine, unsigned int id);

/* Devices that have an index; with MPC on, a card is followed by its instances. */
unsigned int machine_count_visible(const struct machine *machine);
struct device *machine_visible(const struct machine *machine, unsigned int index);

/* By the numbering of mtml_sim.h; NULL when there is none. */
struct device *machine_device(const struct machine *machine, unsigned int number);

#endif
