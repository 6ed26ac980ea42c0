/* Finding and reading the files of profiles. */

#define _GNU_SOURCE

#include "files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PROFILE (1024 * 1024)
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

char *files_read(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    char *text = NULL;
    ssize_t got = 0;
    size_t length = 0;
    bool is_file = false;

    if (descriptor < 0)
        return NULL;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
        is_file = true;
    if (is_file && status.st_size <= MAX_PROFILE)
        text = malloc(MAX_PROFILE + 1);
    while (text && (got = read(descriptor, text + length, MAX_PROFILE - length)) > 0)
        length += (size_t)got;
    close(descriptor);
    if (text && got < 0) {
        free(text);
        return NULL;
    }
    if (text) {
        text[length] = '\0';
        if (strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
            memmove(text, text + strlen(BYTE_ORDER_MARK), length + 1 - strlen(BYTE_ORDER_MARK));
    } else {
        errno = is_file ? EFBIG : EINVAL;
    }
    return text;
}

/* An address in the library. */
static const char here;

/* The shipped profiles lie beside the build directory, whichever variant of the library this is. */
char *files_read_shipped(const char *name, char *path, size_t size)
{
    static const char *const places[] = {"profiles", "../profiles", "../../profiles", "../../../profiles"};
    Dl_info info;
    char directory[FILES_PATH_MAX];
    char *slash;

    if (!dladdr(&here, &info) || !info.dli_fname)
        return NULL;
    snprintf(directory, sizeof directory, "%s", info.dli_fname);
    slash = strrchr(directory, '/');
    if (slash)
        *slash = '\0';
    else
        snprintf(directory, sizeof directory, ".");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *text;

        if ((size_t)snprintf(path, size, "%s/%s/%s.ini", directory, places[i], name) >= size)
            continue;
        text = files_read(path);
        if (text)
            return text;
    }
    return NULL;
}
