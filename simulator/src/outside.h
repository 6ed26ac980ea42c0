/*
 * The control file (MTML_SIM_CONTROL): changes that reach all processes with this machine while they run, and what
 * their programs have switched.
 */

#ifndef SIM_OUTSIDE_H
#define SIM_OUTSIDE_H

#include "machine.h"

/*
 * Follows that file from now on, and takes what it says for a machine that is new; none for an empty path. A file that
 * is about another profile is left alone. False after telling what is wrong.
 */
bool outside_open(const char *path, const char *profile);
void outside_close(void);
/* Takes what has changed in the file since the last look. Cheap when nothing has. */
void outside_look(void);

/* What was done here is told the others; nothing happens where no file is followed. False after telling why not. */

/* The values of these keys, a list that ends with NULL, for several devices. */
bool outside_tell(struct device *const *devices, unsigned int count, const char *const *keys);
/* The value that a key of an object has now; the objects have the numbers of mtml_sim.h. */
bool outside_tell_key(unsigned int number, const char *key);
/* The key is what the profile says again. */
bool outside_forget_key(unsigned int number, const char *key);

/* What takes the place of the faults of variables and profile. */
bool outside_tell_faults(const char *text);

/* Arms checked faults here and for the others; false, and nothing done, where no file is followed. */
bool outside_arm(const char *faults, const char **problem);
/* Takes faults back that were armed so: those that name this card, or all for NO_CARD. */
void outside_disarm(unsigned int card);

#endif
