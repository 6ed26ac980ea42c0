/* Unloading leaves nothing behind; who calls after that, as from a destructor that comes late, gets a code. */

#include "environment.h"
#include "handle.h"
#include "log.h"
#include "state.h"
#include "trace.h"

__attribute__((destructor)) static void end(void)
{
    sim_lock();
    environment_end();
    handle_forget();
    trace_close();
    sim.references = 0;
    sim.system = NULL;
    sim.ready = false;
    sim.ended = true;
    sim.attention = true;
    sim_unlock();
    log_reset();
}
