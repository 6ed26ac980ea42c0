/*
 * The simulator as a C program sees it: linked, not loaded, so that the sanitizers watch every access. Ends with
 * status 0 and one line when all is well.
 */

#define MTML_NO_DEPRECATED

#include "../../mtml_2.2.0.h"
#include "../mtml_sim.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(condition)                                                                  \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);  \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)
#define OK(call) EXPECT((call) == MTML_SUCCESS)

static MtmlLibrary *start(const char *profile)
{
    MtmlLibrary *library = NULL;

    setenv("MTML_SIM_PROFILE", profile, 1);
    EXPECT(mtmlSimReload() == 0);
    OK(mtmlLibraryInit(&library));
    return library;
}

static void finish(MtmlLibrary *library)
{
    OK(mtmlLibraryShutDown(library));
    EXPECT(mtmlSimGetLibraryReferences() == 0);
    EXPECT(mtmlSimGetHandleCount() == 0);
}

/* Heap blocks of the exact size, so that a byte too many is seen. */
static void check_texts(const MtmlDevice *device, const MtmlMemory *memory)
{
    char *text = malloc(MTML_DEVICE_UUID_BUFFER_SIZE);
    size_t length;

    EXPECT(text);
    OK(mtmlDeviceGetUUID(device, text, MTML_DEVICE_UUID_BUFFER_SIZE));
    length = strlen(text);
    text = realloc(text, length + 1);
    EXPECT(text);
    OK(mtmlDeviceGetUUID(device, text, (unsigned int)length + 1));
    EXPECT(mtmlDeviceGetUUID(device, text, (unsigned int)length) == MTML_ERROR_INSUFFICIENT_SIZE);
    EXPECT(mtmlDeviceGetUUID(device, text, 0) == MTML_ERROR_INSUFFICIENT_SIZE);
    OK(mtmlMemoryGetVendor(memory, (unsigned int)length + 1, text));
    EXPECT(strcmp(text, "Samsung") == 0);
    free(text);
}

static void check_links(const MtmlDevice *first, const MtmlDevice *second)
{
    unsigned int links;
    unsigned int paths;
    unsigned int length;
    MtmlMtLinkLayout *layouts;
    MtmlDevice **matrix;

    OK(mtmlDeviceCountMtLinkLayouts(first, second, &links));
    EXPECT(links == 2);
    layouts = calloc(links, sizeof *layouts);
    OK(mtmlDeviceGetMtLinkLayouts(first, second, links, layouts));
    EXPECT(mtmlDeviceGetMtLinkLayouts(first, second, links - 1, layouts) == MTML_ERROR_INSUFFICIENT_SIZE);
    free(layouts);
    OK(mtmlDeviceCountMtLinkShortestPaths(first, second, &paths, &length));
    matrix = calloc((size_t)paths * length, sizeof(MtmlDevice *));
    OK(mtmlDeviceGetMtLinkShortestPaths(first, second, paths, length, matrix));
    EXPECT(matrix[0] == first && matrix[length - 1] == second);
    free(matrix);
}

static void check_cards(void)
{
    MtmlLibrary *library = start("s5000x8");
    unsigned int count;
    MtmlDevice *devices[8];

    OK(mtmlLibraryCountDevice(library, &count));
    EXPECT(count == 8);
    for (unsigned int i = 0; i < count; i++)
        OK(mtmlLibraryInitDeviceByIndex(library, i, &devices[i]));
    for (unsigned int i = 0; i < count; i++) {
        MtmlGpu *gpu;
        MtmlMemory *memory;
        MtmlVpu *vpu;
        unsigned int value;
        unsigned long long bytes;
        int temperature;
        MtmlPciInfo pci;
        MtmlCodecSessionState *states;

        OK(mtmlDeviceInitGpu(devices[i], &gpu));
        OK(mtmlDeviceInitMemory(devices[i], &memory));
        OK(mtmlDeviceInitVpu(devices[i], &vpu));
        OK(mtmlGpuGetUtilization(gpu, &value));
        EXPECT(value <= 100);
        OK(mtmlGpuGetTemperature(gpu, &temperature));
        OK(mtmlMemoryGetUsed(memory, &bytes));
        EXPECT(bytes <= 80ull << 30);
        OK(mtmlDeviceGetPciInfo(devices[i], &pci));
        check_texts(devices[i], memory);
        states = calloc(3, sizeof *states);
        OK(mtmlVpuGetEncoderSessionStates(vpu, states, 3));
        free(states);
        check_links(devices[i], devices[(i + 3) % count]);
    }
    finish(library);
}

static void check_mpc(void)
{
    MtmlLibrary *library = start("s3000-mpc");
    MtmlDevice *parent;
    unsigned int count;
    MtmlDevice **instances;

    OK(mtmlLibraryInitDeviceByIndex(library, 0, &parent));
    OK(mtmlDeviceCountMpcInstances(parent, &count));
    instances = calloc(count, sizeof(MtmlDevice *));
    OK(mtmlDeviceGetMpcInstances(parent, count, instances));
    free(instances);
    OK(mtmlDeviceSetMpcConfiguration(parent, 4));
    EXPECT(mtmlLibraryCountDevice(library, &count) == MTML_ERROR_UNKNOWN);
    OK(mtmlLibraryShutDown(library));
    OK(mtmlLibraryInit(&library));
    OK(mtmlLibraryCountDevice(library, &count));
    EXPECT(count == 10);
    finish(library);
}

static void check_virtual(void)
{
    MtmlLibrary *library = start("s3000-vgpu-host");
    MtmlDevice *host;
    MtmlDevice *virtual;
    unsigned int count;
    char *uuids;
    MtmlVirtType *types;

    OK(mtmlLibraryInitDeviceByIndex(library, 0, &host));
    OK(mtmlDeviceCountActiveVirtDevices(host, &count));
    uuids = malloc((size_t)count * 37);
    EXPECT(uuids);
    OK(mtmlDeviceGetActiveVirtDeviceUuids(host, uuids, 37, count));
    OK(mtmlDeviceInitVirtDevice(host, uuids + 37, &virtual));
    free(uuids);
    OK(mtmlDeviceCountSupportedVirtTypes(host, &count));
    types = calloc(count, sizeof *types);
    OK(mtmlDeviceGetSupportedVirtTypes(host, types, count));
    OK(mtmlDeviceCountAvailVirtDevices(host, &types[0], &count));
    OK(mtmlDeviceGetVirtType(virtual, &types[0]));
    free(types);
    finish(library);
}

static void check_every_profile(void)
{
    static const char *const profiles[] = {"s80",           "s3000x2",          "s4000x8",           "s3000-mpc",
                                           "s3000-vgpu-host", "s3000-vgpu-guest", "s5000x8-container", "empty"};

    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
        finish(start(profiles[i]));
}

static void check_odd_values(void)
{
    MtmlLibrary *library = start("s80+frozen");
    MtmlDevice *device;
    char buffer[8];
    char small[4];

    OK(mtmlLibraryInitDeviceByIndex(library, 0, &device));
    EXPECT(mtmlSimSet(0, "unterminated", "name") == 0);
    OK(mtmlDeviceGetName(device, buffer, sizeof buffer));
    EXPECT(!memchr(buffer, '\0', sizeof buffer));
    EXPECT(mtmlSimSet(0, "gpu_temperature", "-2147483648") == 0);
    EXPECT(mtmlSimGet(0, "gpu_temperature", small, sizeof small) == -1);
    EXPECT(mtmlSimSet(7, "gpu_temperature", "1") == -1);
    EXPECT(mtmlSimSet(MTML_SIM_INSTANCE(0, 0), "gpu_temperature", "1") == -1);
    EXPECT(mtmlSimSet(MTML_SIM_VIRT(0, 0), "gpu_temperature", "1") == -1);
    EXPECT(mtmlSimSetFaults("mtmlDeviceGetName=TIMEOUT@1x1") == 0);
    OK(mtmlDeviceGetName(device, buffer, sizeof buffer));
    EXPECT(mtmlDeviceGetName(device, buffer, sizeof buffer) == MTML_ERROR_TIMEOUT);
    finish(library);
}

static void *query(void *argument)
{
    const MtmlGpu *gpu = argument;

    for (unsigned int i = 0; i < 2000; i++) {
        MtmlLibrary *library;
        int temperature;

        OK(mtmlGpuGetTemperature(gpu, &temperature));
        if (i % 20 == 0) {
            OK(mtmlLibraryInit(&library));
            OK(mtmlLibraryShutDown(library));
        }
    }
    return NULL;
}

static void check_threads_and_forks(void)
{
    MtmlLibrary *library = start("s80");
    MtmlDevice *device;
    MtmlGpu *gpu;
    pthread_t threads[4];

    OK(mtmlLibraryInitDeviceByIndex(library, 0, &device));
    OK(mtmlDeviceInitGpu(device, &gpu));
    for (size_t i = 0; i < 4; i++)
        EXPECT(pthread_create(&threads[i], NULL, query, gpu) == 0);
    for (unsigned int i = 0; i < 10; i++) {
        int status;
        pid_t child = fork();

        if (child == 0) {
            int temperature;

            /* A lock that the child can never get would keep it here for ever. */
            alarm(20);
            _exit(mtmlGpuGetTemperature(gpu, &temperature) == MTML_SUCCESS ? 0 : 1);
        }
        EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
    for (size_t i = 0; i < 4; i++)
        EXPECT(pthread_join(threads[i], NULL) == 0);
    finish(library);
}

static void check_misuse(void)
{
    MtmlLibrary *library = start("s80");
    MtmlDevice *device;
    unsigned int value;
    int status;
    pid_t child;

    OK(mtmlLibraryInitDeviceByIndex(library, 0, &device));
    finish(library);
    child = fork();
    if (child == 0) {
        fclose(stderr);
        signal(SIGABRT, SIG_DFL);
        mtmlDeviceGetIndex(device, &value);
        _exit(0);
    }
    EXPECT(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void hear(const char *message, unsigned int length)
{
    EXPECT(strlen(message) == length);
}

static void check_log(void)
{
    MtmlLogConfiguration configuration;

    OK(mtmlLogGetConfiguration(&configuration));
    configuration.callbackConfig.level = MTML_LOG_LEVEL_INFO;
    configuration.callbackConfig.callback = hear;
    OK(mtmlLogSetConfiguration(&configuration));
    EXPECT(mtmlErrorString(MTML_ERROR_TIMEOUT) && mtmlErrorString((MtmlReturn)77));
}

int main(void)
{
    check_log();
    check_cards();
    check_mpc();
    check_virtual();
    check_every_profile();
    check_odd_values();
    check_threads_and_forks();
    check_misuse();
    printf("the simulator checks out, after %lld calls\n", mtmlSimGetCallCount(NULL));
    return 0;
}
