/* Calls that fail on request. */

#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "functions.h"

/* NULL, or why the text is refused (then nothing changes). An empty text disarms all faults. */
const char *faults_set(const char *text);
/* NULL, or why the text would be refused. */
const char *faults_check(const char *text);
/* Counts a call; true when it is to fail with *RESULT. */
bool faults_apply(enum function function, MtmlReturn *result);

#endif
