/* A file that gets the name of each function called. */

#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "functions.h"

/* An empty path ends tracing. False when the file cannot be opened. */
bool trace_open(const char *path);
void trace_close(void);
void trace_call(enum function function);

#endif
