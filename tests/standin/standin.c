/*
 * A stand-in for NVIDIA's libnvidia-ml.so.1: the calls that monitoring programs make, answered from a text file.
 *
 * The acceptance suite runs each program twice, on nvidia-ml-py over this library and on pymtml over the simulator, and
 * compares what the program shows. NVML_STANDIN_MACHINE names the file, which is read at the first nvmlInit:
 *
 *     [system]
 *     driver = 3.3.5-server
 *     [gpu]
 *     name = MTT S5000
 *     temperature = 41
 *     compute_processes = 4242:1073741824 4243:-
 *
 * Each [gpu] opens the next GPU. A key that a GPU lacks makes the call that needs it return "not supported", as real
 * NVML does, so the file alone decides what a machine can answer. The keys are the strings that the functions below ask
 * for. A process is PID:BYTES, with - for a memory size that the driver cannot tell.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define API __attribute__((visibility("default")))

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9,
    GPU_IS_LOST = 15,
    ARGUMENT_VERSION_MISMATCH = 25,
};

enum { VALUE_TYPE_UNSIGNED_INT = 1 };

enum { MAX_GPUS = 32, MAX_ENTRIES = 64, KEY_SIZE = 40, VALUE_SIZE = 512 };

struct entry {
    char key[KEY_SIZE];
    char value[VALUE_SIZE];
};

struct section {
    struct entry entries[MAX_ENTRIES];
    unsigned count;
};

struct memory {
    unsigned long long total, free, used;
};

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct utilization {
    unsigned gpu, memory;
};

struct pci_info {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct temperature {
    unsigned version, sensor;
    int temperature;
};

struct process_info {
    unsigned pid;
    unsigned long long used_gpu_memory;
    unsigned gpu_instance_id, compute_instance_id;
};

struct field_value {
    unsigned field_id, scope_id;
    long long timestamp, latency_us;
    unsigned value_type, nvml_return;
    union {
        double d;
        unsigned long long ull;
    } value;
};

static struct section system_section;
static struct section gpus[MAX_GPUS];
static unsigned gpu_count;
static unsigned references;

/* ---- the machine file ---- */

static char *trim(char *text) {
    text += strspn(text, " \t");
    text[strcspn(text, "\r\n")] = '\0';
    size_t length = strlen(text);
    while (length && strchr(" \t", text[length - 1]))
        text[--length] = '\0';
    return text;
}

static int load_machine(const char *path) {
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file)
        return DRIVER_NOT_LOADED;
    struct section *section = NULL;
    char line[KEY_SIZE + VALUE_SIZE];
    int result = SUCCESS;
    gpu_count = 0;
    memset(&system_section, 0, sizeof system_section);
    memset(gpus, 0, sizeof gpus);
    while (result == SUCCESS && fgets(line, sizeof line, file)) {
        char *text = trim(line), *equals = strchr(text, '=');
        if (!*text || *text == '#')
            continue;
        if (!strcmp(text, "[system]")) {
            section = &system_section;
        } else if (!strcmp(text, "[gpu]") && gpu_count < MAX_GPUS) {
            section = &gpus[gpu_count++];
        } else if (equals && section && section->count < MAX_ENTRIES) {
            struct entry *entry = &section->entries[section->count++];
            *equals = '\0';
            snprintf(entry->key, sizeof entry->key, "%.*s", KEY_SIZE - 1, trim(text));
            snprintf(entry->value, sizeof entry->value, "%.*s", VALUE_SIZE - 1, trim(equals + 1));
        } else {
            fprintf(stderr, "nvml stand-in: %s: cannot read the line '%s'\n", path, text);
            result = DRIVER_NOT_LOADED;
        }
    }
    fclose(file);
    return result;
}

static const char *lookup(const struct section *section, const char *key) {
    for (unsigned i = 0; i < section->count; i++)
        if (!strcmp(section->entries[i].key, key))
            return section->entries[i].value;
    return NULL;
}

/* ---- the checks that every call starts with ---- */

static int check_gpu(const struct section *gpu) {
    if (!references)
        return UNINITIALIZED;
    uintptr_t offset = (uintptr_t)gpu - (uintptr_t)gpus;
    if (offset >= gpu_count * sizeof *gpus || offset % sizeof *gpus)
        return INVALID_ARGUMENT;
    return lookup(gpu, "lost") ? GPU_IS_LOST : SUCCESS;
}

static int get_text(const struct section *section, const char *key, char *out, unsigned size) {
    const char *value = lookup(section, key);
    if (!value)
        return NOT_SUPPORTED;
    if (!out)
        return INVALID_ARGUMENT;
    if (strlen(value) >= size)
        return INSUFFICIENT_SIZE;
    memcpy(out, value, strlen(value) + 1);
    return SUCCESS;
}

static int get_number(const struct section *section, const char *key, long long *out) {
    const char *value = lookup(section, key);
    if (!value)
        return NOT_SUPPORTED;
    *out = strtoll(value, NULL, 0);
    return SUCCESS;
}

static int gpu_text(const struct section *gpu, const char *key, char *out, unsigned size) {
    int result = check_gpu(gpu);
    return result ? result : get_text(gpu, key, out, size);
}

static int gpu_number(const struct section *gpu, const char *key, long long *out) {
    int result = check_gpu(gpu);
    return result ? result : get_number(gpu, key, out);
}

static int gpu_unsigned(const struct section *gpu, const char *key, unsigned *out) {
    long long number = 0;
    int result = gpu_number(gpu, key, &number);
    if (result)
        return result;
    if (!out)
        return INVALID_ARGUMENT;
    *out = (unsigned)number;
    return SUCCESS;
}

/* ---- library and system ---- */

API int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    int result = references ? SUCCESS : load_machine(getenv("NVML_STANDIN_MACHINE"));
    if (!result)
        references++;
    return result;
}

API int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }

API int nvmlShutdown(void) {
    if (!references)
        return UNINITIALIZED;
    references--;
    return SUCCESS;
}

API const char *nvmlErrorString(int code) {
    switch (code) {
    case SUCCESS:
        return "Success";
    case UNINITIALIZED:
        return "Uninitialized";
    case INVALID_ARGUMENT:
        return "Invalid Argument";
    case NOT_SUPPORTED:
        return "Not Supported";
    case NOT_FOUND:
        return "Not Found";
    case INSUFFICIENT_SIZE:
        return "Insufficient Size";
    case DRIVER_NOT_LOADED:
        return "Driver Not Loaded";
    case GPU_IS_LOST:
        return "GPU is lost";
    case ARGUMENT_VERSION_MISMATCH:
        return "Argument version mismatch";
    default:
        return "Unknown Error";
    }
}

API int nvmlSystemGetDriverVersion(char *out, unsigned size) {
    return references ? get_text(&system_section, "driver", out, size) : UNINITIALIZED;
}

API int nvmlSystemGetNVMLVersion(char *out, unsigned size) {
    return get_text(&system_section, "nvml", out, size);
}

API int nvmlSystemGetCudaDriverVersion(int *out) {
    long long number = 0;
    int result = get_number(&system_section, "cuda", &number);
    if (!result)
        *out = (int)number;
    return result;
}

API int nvmlSystemGetCudaDriverVersion_v2(int *out) { return nvmlSystemGetCudaDriverVersion(out); }

API int nvmlSystemGetProcessName(unsigned pid, char *out, unsigned size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return NOT_FOUND;
    int result = fgets(out, (int)size, file) ? SUCCESS : NOT_FOUND;
    fclose(file);
    if (!result)
        out[strcspn(out, "\n")] = '\0';
    return result;
}

API int nvmlDeviceGetCount_v2(unsigned *out) {
    if (!references)
        return UNINITIALIZED;
    *out = gpu_count;
    return SUCCESS;
}

API int nvmlDeviceGetHandleByIndex_v2(unsigned index, const struct section **out) {
    if (!references)
        return UNINITIALIZED;
    if (index >= gpu_count)
        return INVALID_ARGUMENT;
    *out = &gpus[index];
    return lookup(*out, "lost") ? GPU_IS_LOST : SUCCESS;
}

static int find_gpu(const char *key, const char *wanted, const struct section **out) {
    if (!references)
        return UNINITIALIZED;
    if (!wanted)
        return INVALID_ARGUMENT;
    for (unsigned i = 0; i < gpu_count; i++) {
        const char *value = lookup(&gpus[i], key);
        if (value && !strcasecmp(value, wanted)) {
            *out = &gpus[i];
            return SUCCESS;
        }
    }
    return NOT_FOUND;
}

API int nvmlDeviceGetHandleByUUID(const char *uuid, const struct section **out) { return find_gpu("uuid", uuid, out); }

API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, const struct section **out) {
    return find_gpu("bus_id", bus_id, out);
}

/* ---- one value of one GPU ---- */

#define TEXT(function, key)                                                                                            \
    API int function(const struct section *gpu, char *out, unsigned size) { return gpu_text(gpu, key, out, size); }

TEXT(nvmlDeviceGetName, "name")
TEXT(nvmlDeviceGetUUID, "uuid")
TEXT(nvmlDeviceGetSerial, "serial")
TEXT(nvmlDeviceGetVbiosVersion, "vbios")

#define NUMBER(function, key)                                                                                          \
    API int function(const struct section *gpu, unsigned *out) { return gpu_unsigned(gpu, key, out); }

NUMBER(nvmlDeviceGetMinorNumber, "minor_number")
NUMBER(nvmlDeviceGetBrand, "brand")
NUMBER(nvmlDeviceGetArchitecture, "architecture")
NUMBER(nvmlDeviceGetPowerUsage, "power_usage")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, "power_limit")
NUMBER(nvmlDeviceGetPowerManagementLimit, "power_limit")
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, "power_default_limit")
NUMBER(nvmlDeviceGetFanSpeed, "fan_speed")
NUMBER(nvmlDeviceGetNumFans, "fan_count")
NUMBER(nvmlDeviceGetComputeMode, "compute_mode")
NUMBER(nvmlDeviceGetPersistenceMode, "persistence_mode")
NUMBER(nvmlDeviceGetPerformanceState, "performance_state")
NUMBER(nvmlDeviceGetDisplayActive, "display_active")
NUMBER(nvmlDeviceGetDisplayMode, "display_mode")
NUMBER(nvmlDeviceGetMemoryBusWidth, "memory_bus_width")
NUMBER(nvmlDeviceGetNumGpuCores, "cores")
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_generation_max")
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max")
NUMBER(nvmlDeviceGetMaxMigDeviceCount, "mig_count_max")
NUMBER(nvmlDeviceIsMigDeviceHandle, "is_mig")
NUMBER(nvmlDeviceGetAccountingMode, "accounting_mode")

API int nvmlDeviceGetIndex(const struct section *gpu, unsigned *out) {
    int result = check_gpu(gpu);
    if (!result)
        *out = (unsigned)(gpu - gpus);
    return result;
}

static int pair(const struct section *gpu, const char *first_key, const char *second_key, unsigned *first,
                unsigned *second) {
    int result = gpu_unsigned(gpu, first_key, first);
    return result ? result : gpu_unsigned(gpu, second_key, second);
}

API int nvmlDeviceGetUtilizationRates(const struct section *gpu, struct utilization *out) {
    return pair(gpu, "utilization_gpu", "utilization_memory", &out->gpu, &out->memory);
}

API int nvmlDeviceGetEncoderUtilization(const struct section *gpu, unsigned *percent, unsigned *period_us) {
    return pair(gpu, "utilization_encoder", "encoder_period_us", percent, period_us);
}

API int nvmlDeviceGetDecoderUtilization(const struct section *gpu, unsigned *percent, unsigned *period_us) {
    return pair(gpu, "utilization_decoder", "decoder_period_us", percent, period_us);
}

API int nvmlDeviceGetMigMode(const struct section *gpu, unsigned *current, unsigned *pending) {
    return pair(gpu, "mig_mode", "mig_mode", current, pending);
}

API int nvmlDeviceGetTotalEccErrors(const struct section *gpu, unsigned type, unsigned counter,
                                    unsigned long long *out) {
    static const char *const keys[2][2] = {{"ecc_corrected_volatile", "ecc_corrected_aggregate"},
                                           {"ecc_uncorrected_volatile", "ecc_uncorrected_aggregate"}};
    if (type > 1 || counter > 1)
        return INVALID_ARGUMENT;
    long long number = 0;
    int result = gpu_number(gpu, keys[type][counter], &number);
    if (!result)
        *out = (unsigned long long)number;
    return result;
}

API int nvmlDeviceGetCudaComputeCapability(const struct section *gpu, unsigned *major, unsigned *minor) {
    return pair(gpu, "compute_major", "compute_minor", major, minor);
}

API int nvmlDeviceGetMemoryInfo(const struct section *gpu, struct memory *out) {
    long long total = 0, used = 0;
    int result = gpu_number(gpu, "memory_total", &total);
    if (!result)
        result = gpu_number(gpu, "memory_used", &used);
    if (!result)
        *out = (struct memory){(unsigned long long)total, (unsigned long long)(total - used), (unsigned long long)used};
    return result;
}

API int nvmlDeviceGetMemoryInfo_v2(const struct section *gpu, struct memory_v2 *out) {
    struct memory memory = {0};
    if (out->version != (sizeof *out | 2u << 24))
        return ARGUMENT_VERSION_MISMATCH;
    int result = nvmlDeviceGetMemoryInfo(gpu, &memory);
    if (!result)
        *out = (struct memory_v2){out->version, memory.total, 0, memory.free, memory.used};
    return result;
}

API int nvmlDeviceGetTemperature(const struct section *gpu, unsigned sensor, unsigned *out) {
    return sensor ? INVALID_ARGUMENT : gpu_unsigned(gpu, "temperature", out);
}

API int nvmlDeviceGetTemperatureV(const struct section *gpu, struct temperature *out) {
    return nvmlDeviceGetTemperature(gpu, out->sensor, (unsigned *)&out->temperature);
}

static int clock_of(const struct section *gpu, unsigned type, const char *const keys[4], unsigned *out) {
    return type < 4 ? gpu_unsigned(gpu, keys[type], out) : INVALID_ARGUMENT;
}

API int nvmlDeviceGetClockInfo(const struct section *gpu, unsigned type, unsigned *out) {
    static const char *const keys[] = {"clock_graphics", "clock_graphics", "clock_memory", "clock_video"};
    return clock_of(gpu, type, keys, out);
}

API int nvmlDeviceGetMaxClockInfo(const struct section *gpu, unsigned type, unsigned *out) {
    static const char *const keys[] = {"clock_graphics_max", "clock_graphics_max", "clock_memory_max",
                                       "clock_video_max"};
    return clock_of(gpu, type, keys, out);
}

API int nvmlDeviceGetFanSpeed_v2(const struct section *gpu, unsigned fan, unsigned *out) {
    unsigned count = 0;
    int result = gpu_unsigned(gpu, "fan_count", &count);
    if (result)
        return result;
    return fan < count ? gpu_unsigned(gpu, "fan_speed", out) : INVALID_ARGUMENT;
}

API int nvmlDeviceGetPciInfo_v3(const struct section *gpu, struct pci_info *out) {
    char text[VALUE_SIZE];
    int result = gpu_text(gpu, "bus_id", text, sizeof text);
    if (result)
        return result;
    memset(out, 0, sizeof *out);
    if (sscanf(text, "%x:%x:%x", &out->domain, &out->bus, &out->device) != 3)
        return INVALID_ARGUMENT;
    snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:%02X.0", out->domain, out->bus & 0xff, out->device & 0x1f);
    snprintf(out->bus_id_legacy, sizeof out->bus_id_legacy, "%04X:%02X:%02X.0", out->domain & 0xffff, out->bus & 0xff,
             out->device & 0x1f);
    result = gpu_unsigned(gpu, "pci_device_id", &out->pci_device_id);
    return result ? result : gpu_unsigned(gpu, "pci_subsystem_id", &out->pci_subsystem_id);
}

/* ---- processes and fields ---- */

static int processes(const struct section *gpu, const char *key, unsigned *count, struct process_info *out) {
    int result = check_gpu(gpu);
    if (result)
        return result;
    const char *text = lookup(gpu, key);
    unsigned found = 0, room = out ? *count : 0;
    char *end = NULL;
    for (; text && *text; text = end) {
        unsigned pid = (unsigned)strtoul(text, &end, 10);
        if (end == text)
            break;
        unsigned long long memory = ~0ULL;
        if (!strncmp(end, ":-", 2))
            end += 2;
        else if (*end == ':')
            memory = strtoull(end + 1, &end, 10);
        if (found < room)
            out[found] = (struct process_info){pid, memory, ~0u, ~0u};
        found++;
    }
    *count = found;
    return found > room ? INSUFFICIENT_SIZE : SUCCESS;
}

#define PROCESSES(function, key)                                                                                       \
    API int function(const struct section *gpu, unsigned *count, struct process_info *out) {                           \
        return processes(gpu, key, count, out);                                                                        \
    }

PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, "compute_processes")
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, "graphics_processes")
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3, "mps_processes")

API int nvmlDeviceGetFieldValues(const struct section *gpu, int count, struct field_value *values) {
    int result = check_gpu(gpu);
    if (result)
        return result;
    for (int i = 0; i < count; i++) {
        char key[KEY_SIZE];
        long long number = 0;
        snprintf(key, sizeof key, "field_%u", values[i].field_id);
        values[i].nvml_return = (unsigned)get_number(gpu, key, &number);
        values[i].value_type = VALUE_TYPE_UNSIGNED_INT;
        values[i].value.ull = (unsigned long long)number;
    }
    return SUCCESS;
}

/* ---- calls that exist and have no answer on the machines described here ---- */

#define REFUSED(function)                                                                                              \
    API int function(const struct section *gpu) {                                                                      \
        int result = check_gpu(gpu);                                                                                   \
        return result ? result : NOT_SUPPORTED;                                                                        \
    }

REFUSED(nvmlDeviceGetBAR1MemoryInfo)
REFUSED(nvmlDeviceGetCurrentClocksEventReasons)
REFUSED(nvmlDeviceGetDriverModel_v2)
REFUSED(nvmlDeviceGetMigDeviceHandleByIndex)
REFUSED(nvmlDeviceGetNvLinkState)
REFUSED(nvmlDeviceGetPcieThroughput)
REFUSED(nvmlDeviceGetProcessUtilization)
REFUSED(nvmlDeviceGetSupportedGraphicsClocks)
REFUSED(nvmlDeviceGetSupportedMemoryClocks)
REFUSED(nvmlDeviceGetTotalEnergyConsumption)
