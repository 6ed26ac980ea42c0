/* What the two files about the control file share: outside.c reads it and notices changes, outside_write.c writes it. */

#ifndef SIM_OUTSIDE_FILE_H
#define SIM_OUTSIDE_FILE_H

#include "outside.h"

#include <sys/stat.h>

#define MAX_FILE (1024 * 1024)

/* The file that is followed, or NULL; and the profile as MTML_SIM_PROFILE has it. */
const char *outside_path(void);
const char *outside_profile(void);
/* A file's text, which the caller frees; "" where there is none, NULL where it cannot be read or is too large. */
char *outside_read(const char *name, struct stat *status);
/* Whether two profiles are the same: that values move or stay is no difference. */
bool outside_same_profile(const char *one, const char *other);
/* FILE.lock; -1 where it cannot be had, or is no file. */
int outside_open_lock(int flags);
/* Takes that lock; false where others hold it too long. */
bool outside_lock(int descriptor);
/* Takes what the file says now; false after telling what is wrong. */
bool outside_read_again(void);
/* Calls a function with each fault of a line of its own that is in force, and with that card. */
void outside_each_fault(void (*use)(uint64_t id, const char *text, unsigned int card), unsigned int card);

#endif
