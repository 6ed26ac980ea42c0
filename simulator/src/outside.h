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
bool outside_follows(void);
/* Takes what has changed in the file since the last look. Cheap when nothing has. */
void outside_look(void);

/*
 * What is to be changed is noted, and then written all at once: before it is done here, so that nothing is changed where
 * the file cannot be written. Nothing is noted where no file is followed.
 */

/* A key of an object, by the numbers of mtml_sim.h; for NULL it is what the profile says again. */
void outside_note(unsigned int number, const char *key, const char *value);
/* What takes the place of the faults of variables and profile. */
void outside_note_faults(const char *text);
/* Checked faults beside the others. */
void outside_note_more_faults(const char *text);
/* No more of those that were noted so: of those that name this card, or of all for NO_CARD. */
void outside_note_no_faults(unsigned int card);
/* False after telling why it cannot be written. */
bool outside_write(void);

/* Tells the others what a program has done: the values of these keys, a list that ends with NULL, of several devices. */
bool outside_tell(struct device *const *devices, unsigned int count, const char *const *keys);

#endif
