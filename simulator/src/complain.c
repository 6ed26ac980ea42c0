/* One line on stderr for whoever set the simulator up or called it wrongly. */

#include "complain.h"

#include <stdarg.h>
#include <stdio.h>

static bool silent;

void complain_quietly(bool quiet)
{
    silent = quiet;
}

void complain(const char *format, ...)
{
    char message[1024];
    va_list arguments;

    if (silent)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "mtml simulator: %s\n", message);
}
