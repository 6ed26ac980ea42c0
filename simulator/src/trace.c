/* One line for each call, written whole, so that threads and forked processes can share the file. */

#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int descriptor = -1;

void trace_close(void)
{
    if (descriptor >= 0)
        close(descriptor);
    descriptor = -1;
}

bool trace_open(const char *path)
{
    trace_close();
    if (!*path)
        return true;
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return descriptor >= 0;
}

void trace_call(enum function function)
{
    char line[80];
    size_t length;
    int saved = errno;

    if (descriptor < 0)
        return;
    length = strlen(functions[function].name);
    memcpy(line, functions[function].name, length);
    line[length++] = '\n';
    while (write(descriptor, line, length) < 0 && errno == EINTR)
        continue;
    errno = saved;
}
