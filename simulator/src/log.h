/* The log of the library, for the whole process. */

#ifndef SIM_LOG_H
#define SIM_LOG_H

#include "base.h"

/* The code that the program gets for it; when it is refused, nothing changes. */
MtmlReturn log_configure(const MtmlLogConfiguration *wanted);
void log_configuration(MtmlLogConfiguration *result);
/* As if nobody had configured it. */
void log_reset(void);

/* Whether an event of that level is told to anybody. */
bool log_wants(MtmlLogLevel level);
void log_event(MtmlLogLevel level, const char *message);

void log_lock(void);
void log_unlock(void);

#endif
