/* The log: where it goes is the program's choice, for the whole process. */

#include "log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>

static MtmlLogConfiguration configuration;
static FILE *file;
static atomic_uint greatest_level; /* of all targets; read without the lock */

/* Of its own, because events are told while the library's lock is free. */
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;

void log_lock(void)
{
    pthread_mutex_lock(&log_mutex);
}

void log_unlock(void)
{
    pthread_mutex_unlock(&log_mutex);
}

static bool levels_valid(const MtmlLogConfiguration *wanted)
{
    return (unsigned int)wanted->consoleConfig.level <= MTML_LOG_LEVEL_INFO &&
           (unsigned int)wanted->systemConfig.level <= MTML_LOG_LEVEL_INFO &&
           (unsigned int)wanted->fileConfig.level <= MTML_LOG_LEVEL_INFO &&
           (unsigned int)wanted->callbackConfig.level <= MTML_LOG_LEVEL_INFO;
}

static unsigned int greater(unsigned int one, MtmlLogLevel other)
{
    return one > (unsigned int)other ? one : (unsigned int)other;
}

static MtmlReturn configure(const MtmlLogConfiguration *wanted)
{
    FILE *opened = NULL;

    if (!levels_valid(wanted) || !memchr(wanted->fileConfig.file, '\0', sizeof wanted->fileConfig.file))
        return MTML_ERROR_INVALID_ARGUMENT;
    if (wanted->fileConfig.file[0]) {
        opened = fopen(wanted->fileConfig.file, "ae");
        if (!opened)
            return MTML_ERROR_NOT_SUPPORTED;
    }
    if (file)
        fclose(file);
    file = opened;
    configuration = *wanted;
    atomic_store(&greatest_level, greater(greater(greater(greater(0, wanted->consoleConfig.level),
                                                          wanted->systemConfig.level),
                                                  wanted->fileConfig.level),
                                          wanted->callbackConfig.level));
    return MTML_SUCCESS;
}

MtmlReturn log_configure(const MtmlLogConfiguration *wanted)
{
    MtmlReturn result;

    log_lock();
    result = configure(wanted);
    log_unlock();
    return result;
}

void log_reset(void)
{
    static const MtmlLogConfiguration none;

    log_configure(&none);
}

void log_configuration(MtmlLogConfiguration *result)
{
    log_lock();
    *result = configuration;
    log_unlock();
}

bool log_wants(MtmlLogLevel level)
{
    return atomic_load(&greatest_level) >= (unsigned int)level;
}

static void write_file(const char *message)
{
    struct stat status;

    /* The limit is in MB; a full file begins anew. */
    if (configuration.fileConfig.size && fstat(fileno(file), &status) == 0 &&
        (uint64_t)status.st_size > (uint64_t)configuration.fileConfig.size * 1024 * 1024)
        file = freopen(configuration.fileConfig.file, "we", file);
    if (file) {
        fprintf(file, "%s\n", message);
        fflush(file);
    }
}

void log_event(MtmlLogLevel level, const char *message)
{
    static const int priorities[] = {LOG_DEBUG, LOG_CRIT, LOG_ERR, LOG_WARNING, LOG_INFO};
    void (*callback)(const char *, unsigned int) = NULL;

    log_lock();
    if (configuration.consoleConfig.level >= level)
        fprintf(stderr, "[mtml] %s\n", message);
    if (configuration.systemConfig.level >= level)
        syslog(priorities[level], "mtml: %s", message);
    if (file && configuration.fileConfig.level >= level)
        write_file(message);
    if (configuration.callbackConfig.level >= level)
        callback = configuration.callbackConfig.callback;
    log_unlock();
    if (callback)
        callback(message, (unsigned int)strlen(message));
}
