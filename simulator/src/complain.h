/* What is wrong with a profile, a variable or a caller, told on stderr. */

#ifndef SIM_COMPLAIN_H
#define SIM_COMPLAIN_H

#include "base.h"

SIM_PRINTF(1, 2) void complain(const char *format, ...);

/* Says nothing from now on, or speaks again. */
void complain_quietly(bool quiet);

/* Copies this thread's last complaint, cut to the buffer; false when there was none. */
bool complain_last(char *buffer, size_t size);

#endif
