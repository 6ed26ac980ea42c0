/* One line on stderr for whoever set the simulator up or called it wrongly. */

#include "complain.h"

#include <stdarg.h>
#include <stdio.h>

static bool silent;
/* Complaints come with and without the lock, so each thread has its own. */
static _Thread_local char last[1024];

void complain_quietly(bool quiet)
{
    silent = quiet;
}

void complain(const char *format, ...)
{
    va_list arguments;

    if (silent)
        return;
    va_start(arguments, format);
    vsnprintf(last, sizeof last, format, arguments);
    va_end(arguments);
    fprintf(stderr, "mtml simulator: %s\n", last);
}

bool complain_last(char *buffer, size_t size)
{
    if (!*last || !size)
        return false;
    snprintf(buffer, size, "%s", last);
    return true;
}
