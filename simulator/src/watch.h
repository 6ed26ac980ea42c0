/* Whoever wants to know who initializes the library and shuts it down. */

#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "base.h"

/* NULL ends it. */
void watch_set(void (*watcher)(const void *library, int taken));
/* To be called without the lock: the watcher may call the library. */
void watch_tell(const void *library, bool taken);

#endif
