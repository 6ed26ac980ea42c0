/* The variables that choose the machine and its behavior. */

#ifndef SIM_ENVIRONMENT_H
#define SIM_ENVIRONMENT_H

#include "base.h"

/* Reads every variable again and loads the profile if it changed; false after telling what is wrong. */
bool environment_load(void);
/* Makes the next load start anew. */
void environment_forget(void);
/* Takes what settings and faults say now for what has been done already. */
void environment_keep(void);
/* Gives back what loading has made. */
void environment_end(void);

#endif
