/* What the simulator's sources share. Everything here is hidden from programs that load the library. */

#ifndef SIM_H
#define SIM_H

#define MTML_NO_DEPRECATED
#define MTML_BUILDING_LIBRARY

#include "../../mtml_2.2.0.h"
#include "functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SIM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SIM_PRINTF(text, first)
#endif

#define SIM_TEXT_SIZE       256
#define SIM_LIST_SIZE       64
#define SIM_MAX_DEVICES     64
#define SIM_MAX_INSTANCES   MTML_MPC_CONF_MAX_PROF_NUM
#define SIM_MAX_VIRT        32
#define SIM_MAX_DISPLAYS    16
#define SIM_MAX_PAGES       64
#define SIM_MAX_DEFINITIONS 64
#define SIM_UNCONNECTED     UINT32_MAX

/* ==== Functions ==== */

enum function {
#define X(name, generation, devices) FUNCTION_##name,
    SIM_FUNCTIONS(X)
#undef X
    FUNCTION_COUNT
};

enum generation { GENERATION_ANY, GENERATION_SUDI, GENERATION_CHUNXIAO, GENERATION_QUYUAN, GENERATION_PINGHU };

enum audience { DEVICES_ALL, DEVICES_PHYSICAL, DEVICES_VIRTUAL, DEVICES_REAL_VPU };

struct function_entry {
    const char *name;
    enum generation generation;
    enum audience audience;
};

extern const struct function_entry sim_functions[FUNCTION_COUNT];

/* FUNCTION_COUNT when no function has that name. */
enum function function_find(const char *name, size_t length);

struct function_set {
    bool member[FUNCTION_COUNT];
};

/* ==== Values of a profile ==== */

/* Bytes as the profile gives them; they may hold anything, NUL included. */
struct text {
    unsigned int length;
    char bytes[SIM_TEXT_SIZE];
};

struct list {
    unsigned int count;
    uint32_t values[SIM_LIST_SIZE];
};

struct display {
    unsigned int type;
    unsigned int width;
    unsigned int height;
    float refresh_rate;
};

struct displays {
    unsigned int count;
    struct display values[SIM_MAX_DISPLAYS];
};

struct sessions {
    unsigned int count;
    MtmlCodecSessionMetrics values[SIM_LIST_SIZE];
    MtmlCodecSessionState states[SIM_LIST_SIZE];
};

struct pages {
    unsigned int count;
    struct {
        uint64_t address;
        uint64_t timestamp;
    } values[SIM_MAX_PAGES];
};

/* A device that stops answering with RESULT after AFTER calls. */
struct loss {
    MtmlReturn result;
    uint64_t after;
};

struct capability {
    int major;
    int minor;
};

/* ==== The machine ==== */

struct machine;

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

    /* What newer libraries tell */
    struct capability musa_compute_capability;
    uint32_t pcie_replay_counter;
    int32_t performance_state;
    int32_t enforced_power_limit;
    int32_t default_power_limit;
    int32_t shutdown_temperature;
    int32_t slowdown_temperature;
    int32_t gpu_voltage;
    int32_t memory_temperature;

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

/* One "key = value" line of a profile, or one assignment of MTML_SIM_SET. */
struct entry {
    char *section;
    char *key;
    char *value;
    const char *source;
    unsigned int line;
};

struct machine {
    struct text library_version;
    struct text driver_version;
    bool frozen;
    uint32_t init;
    uint32_t reinit;
    uint64_t latency_ns;
    bool topology_includes_nearer;
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
    char *path;
    unsigned int shutdowns;
};

/* ==== Values: text to field and back (value.c) and the keys that profiles may use (keys.c) ==== */

struct output {
    char *bytes;
    size_t size;
    size_t length;
};

SIM_PRINTF(2, 3) void output_add(struct output *output, const char *format, ...);

struct name_value {
    const char *name;
    unsigned int value;
};

struct key;

struct type {
    /* Fills the field from the text; answers NULL, or why the text is refused. */
    const char *(*parse)(const struct machine *machine, const struct key *key, void *field, const char *text);
    void (*format)(const struct machine *machine, const struct key *key, const void *field, struct output *output);
    /* For lists: one element. */
    const char *(*parse_element)(const struct machine *machine, const struct key *key, void *field, unsigned int index,
                                 const char *text);
    void (*format_element)(const struct machine *machine, const struct key *key, const void *field, unsigned int index,
                           struct output *output);
};

struct key {
    const char *name;
    const struct type *type;
    size_t offset;
    const struct name_value *names;
};

extern const struct type type_bool, type_uint, type_hex, type_int, type_uint64, type_float, type_text,
    type_version_text, type_name, type_uint_list, type_name_list, type_level_list, type_peer_list, type_displays,
    type_sessions, type_pages, type_functions, type_text_keys, type_loss, type_capability, type_cpu_list,
    type_virt_type_list, type_virt_type, type_faults;

/* Each ends with an entry without a name. */
extern const struct key device_keys[], machine_keys[], virt_type_keys[], mpc_profile_keys[], mpc_configuration_keys[];

/* Each ends with an entry without a name. */
extern const struct name_value return_names[], codec_names[], session_state_names[], display_names[];

const char *name_of(const struct name_value *names, unsigned int value);

/* NULL, or why the key or value is refused. NAME may end in ".INDEX" for one element of a list. */
const char *key_set(const struct machine *machine, const struct key *keys, void *object, const char *name,
                    const char *text);
const char *key_get(const struct machine *machine, const struct key *keys, const void *object, const char *name,
                    struct output *output);

/* A list that is shorter than what it describes repeats its last value; an empty one stands for OTHERWISE. */
uint32_t list_value(const struct list *list, unsigned int index, uint32_t otherwise);

/* Whether the CPU (or node) is in a text like "0-31,64-95". */
bool cpu_list_contains(const struct text *text, unsigned long number);

/* ==== Profiles and the machine's life (profile.c, machine.c) ==== */

/* NULL after telling on stderr what is wrong. SETTINGS is the text of MTML_SIM_SET, NULL for none. */
struct machine *profile_load(const char *path, const char *text, const char *settings);
void machine_free(struct machine *machine);

/* Applies the lines of a section such as "device.0.instance.1"; false after telling what is wrong. */
bool profile_apply(struct machine *machine, struct device *device, const char *section);

/* False after telling what is wrong. Makes the instances that the card's configuration asks for. */
bool machine_build_instances(struct machine *machine, struct device *card);
bool machine_build_virt_devices(struct machine *machine, struct device *card);
void machine_drop_instances(struct device *card);

const struct mpc_profile *machine_mpc_profile(const struct machine *machine, unsigned int id);
const struct mpc_configuration *machine_mpc_configuration(const struct machine *machine, unsigned int id);

/* What a power cycle of the machine does. */
bool machine_reboot(struct machine *machine);

/* Devices that have an index; with MPC on, a card is followed by its instances. */
unsigned int machine_count_visible(const struct machine *machine);
struct device *machine_visible(const struct machine *machine, unsigned int index);

/* By the numbering of mtml_sim.h; NULL when there is none. */
struct device *machine_device(const struct machine *machine, unsigned int number);

/* ==== The library's state (call.c) ==== */

struct state {
    struct machine *machine;
    bool ready; /* the environment and the profile were understood */
    unsigned int references;
    bool stale; /* an MPC change asks for shutdown and init */
    struct handle *system;
    bool frozen;
    bool lenient;
    bool quiet; /* nobody has asked yet: what is wrong is told when the library is initialized */
    uint64_t latency_ns;
    uint64_t counts[FUNCTION_COUNT];
    uint64_t total;
};

extern struct state sim;

void sim_lock(void);
void sim_unlock(void);

/* Reads every variable again and loads the profile if it changed; false after telling what is wrong. */
bool environment_load(void);
/* Makes the next load start anew. */
void environment_forget(void);

SIM_PRINTF(1, 2) void sim_complain(const char *format, ...);

/* ==== Calls ==== */

struct call {
    enum function function;
    MtmlReturn result;
    struct device *device;
    struct handle *handle;
    bool locked;
    MtmlLogLevel event_level;
    char event[160];
};

/*
 * Begins a call: counts it, takes the lock, checks the handle, applies faults, and refuses what is not supported.
 * VALID tells whether the other arguments can be used. True when the body is to run. call_leave ends it either way.
 */
bool call_enter(struct call *call, enum function function, bool valid);
bool call_enter_library(struct call *call, enum function function, const MtmlLibrary *library, bool valid);
bool call_enter_system(struct call *call, enum function function, const MtmlSystem *system, bool valid);
bool call_enter_device(struct call *call, enum function function, const MtmlDevice *device, bool valid);
bool call_enter_gpu(struct call *call, enum function function, const MtmlGpu *gpu, bool valid);
bool call_enter_memory(struct call *call, enum function function, const MtmlMemory *memory, bool valid);
bool call_enter_vpu(struct call *call, enum function function, const MtmlVpu *vpu, bool valid);
MtmlReturn call_leave(struct call *call);

/* A further device argument: NULL, and the call's result set, when it is not one. */
struct device *call_device(struct call *call, const MtmlDevice *device);

/* False, and the call's result set, when the device is lost. Counts as a call on it. */
bool call_reach(struct call *call, struct device *device);

/* Hands a device's handle out through SLOT. */
void call_give_device(struct call *call, struct device *device, MtmlDevice **slot);

/* Copies a text to the caller; sets INSUFFICIENT_SIZE when it does not fit. KEY is its name in the profile. */
void call_give_text(struct call *call, const struct text *text, const char *key, char *buffer, unsigned int size);

/* For texts of fixed size inside a struct, which are cut. */
void fill_text(const struct device *device, const struct text *text, const char *key, char *buffer, size_t size);

/* Something that the log may want to tell. */
SIM_PRINTF(3, 4) void call_event(struct call *call, MtmlLogLevel level, const char *format, ...);

/* ==== Handles (handle.c) ==== */

struct handle {
    uint32_t magic;
    uint16_t kind;
    bool live;
    const char *death;
    struct device *device;
};

/* NULL when memory is short. */
struct handle *handle_new(enum handle_kind kind, struct device *device);
/* The device's handle of this kind, made on first use. */
struct handle *handle_of(struct device *device, enum handle_kind kind);
void handle_kill(struct handle *handle, const char *why);
void handle_kill_device(struct device *device, const char *why);
/* All but library handles. */
void handle_kill_all(const char *why);
/* NULL when the pointer is a live handle of that kind; else what is wrong with it. */
const char *handle_check(const void *pointer, enum handle_kind kind);
unsigned long handle_count(void);

/* ==== Faults, trace, log, time, symbols ==== */

/* NULL, or why the text is refused (then nothing changes). An empty text disarms all faults. */
const char *faults_set(const char *text);
/* NULL, or why the text would be refused. */
const char *faults_check(const char *text);
/* Counts a call; true when it is to fail with *RESULT. */
bool faults_apply(enum function function, MtmlReturn *result);

/* An empty path ends tracing. False when the file cannot be opened. */
bool trace_open(const char *path);
void trace_call(enum function function);

void log_event(MtmlLogLevel level, const char *message);
void log_lock(void);
void log_unlock(void);

/* Hides the functions of the set from dlsym, and shows the others again. */
void symbols_hide(const struct function_set *missing);

/* The device's values at this moment; the profile's when frozen. */
uint32_t now_gpu_utilization(const struct device *device);
uint32_t now_engine_utilization(const struct device *device, unsigned int engine);
int32_t now_gpu_temperature(const struct device *device);
int32_t now_memory_temperature(const struct device *device);
uint32_t now_gpu_clock(const struct device *device);
uint32_t now_power_usage(const struct device *device);
uint32_t now_fan_speed(const struct device *device, unsigned int fan);
uint32_t now_fan_rpm(const struct device *device, unsigned int fan);
uint64_t now_memory_used(const struct device *device);
uint32_t now_memory_utilization(const struct device *device);
uint32_t now_memory_clock(const struct device *device);
uint32_t now_vpu_utilization(const struct device *device);
uint32_t now_encoder_utilization(const struct device *device);
uint32_t now_decoder_utilization(const struct device *device);
uint32_t now_vpu_clock(const struct device *device);

#endif
