/* Whoever wants to know who initializes the library and shuts it down. */

#include "watch.h"

#include "state.h"

static void (*current)(const void *library, int taken);

void watch_set(void (*watcher)(const void *library, int taken))
{
    sim_lock();
    current = watcher;
    sim_unlock();
}

void watch_tell(const void *library, bool taken)
{
    void (*watcher)(const void *, int);

    sim_lock();
    watcher = current;
    sim_unlock();
    if (watcher)
        watcher(library, taken);
}
