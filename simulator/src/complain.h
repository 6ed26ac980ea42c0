/* What is wrong with a profile, a variable or a caller, told on stderr. */

#ifndef SIM_COMPLAIN_H
#define SIM_COMPLAIN_H

#include "base.h"

SIM_PRINTF(1, 2) void complain(const char *format, ...);

/* Says nothing from now on, or speaks again. */
void complain_quietly(bool quiet);

#endif
