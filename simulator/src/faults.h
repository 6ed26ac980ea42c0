/* Calls that fail on request. */

#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "functions.h"

/* NULL, or why the text is refused (then nothing changes). An empty text disarms all faults. */
const char *faults_set(const char *text);
/* NULL, or why the text would be refused. */
const char *faults_check(const char *text);
/* NULL, or why the text is refused. Faults that are armed go on counting. */
const char *faults_add(const char *text);

/* A call that is on no card, or on none yet. */
#define NO_CARD 0xFFFFFFFFu

/* Counts a call on a card; true when it is to fail with *RESULT: MTML_SUCCESS stands for a NULL handle. ANY: by faults that name no card, too. */
bool faults_apply(enum function function, unsigned int card, bool any, MtmlReturn *result);

#endif
