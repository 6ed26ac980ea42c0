/*
 * A number that all processes with a control file have in common: who raises it tells the others to read the file.
 *
 * It lies in memory that goes with the last process, and whose number FILE.lock holds. Memory mapped from a file would
 * end the program when somebody truncates that file, or when its disk is full.
 */

#ifndef SIM_COUNTER_H
#define SIM_COUNTER_H

#include "base.h"

/*
 * Takes part in the number that an open FILE.lock names. CREATE, which asks for the lock, makes one where there is none.
 * Where it cannot be had, nobody is told.
 */
void counter_join(int lock, bool create);
void counter_leave(void);
/* 0 where it cannot be had. */
uint32_t counter_value(void);
void counter_raise(void);

#endif
