/* Finding and reading the files of profiles. */

#ifndef SIM_FILES_H
#define SIM_FILES_H

#include "base.h"

#define FILES_PATH_MAX 4096

/* The file's text, which the caller frees; NULL for what is no regular file, or too large: it may come from anybody. */
char *files_read(const char *path);
/* Of a shipped profile, with the path that it has. */
char *files_read_shipped(const char *name, char *path, size_t size);

#endif
