/* What all calls share. */

#ifndef SIM_STATE_H
#define SIM_STATE_H

#include "machine.h"

struct state {
    struct machine *machine;
    bool ready; /* the environment and the profile were understood */
    unsigned int references;
    bool stale; /* an MPC change asks for shutdown and init */
    struct handle *system;
    bool frozen;
    bool lenient;
    bool strict;
    bool attention; /* calls have to look at more than usual: a control file is followed, or the library has ended */
    bool ended;     /* it is being unloaded, or the process ends */
    char *faults; /* MTML_SIM_FAULTS, as it is armed */
    uint64_t latency_ns;
    uint64_t counts[FUNCTION_COUNT];
    uint64_t total;
};

extern struct state sim;

void sim_lock(void);
void sim_unlock(void);

#endif
