/* Calls that fail on request. */

#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "functions.h"

/*
 * Texts of faults, for a machine with that many cards: each answers NULL, or why the text is refused; then nothing
 * changes.
 */

/* Takes the place of the faults of no origin; an empty text disarms them. */
const char *faults_set(const char *text, unsigned int cards);
const char *faults_check(const char *text, unsigned int cards);
/* Whether there is room for them beside those that are armed, too. */
const char *faults_check_more(const char *text, unsigned int cards);
/* Adds faults of an origin; those that are armed go on counting. */
const char *faults_add(const char *text, unsigned int cards, uint64_t origin);

/* The call of that number from now on fails, 0: none. NULL, or why the code is refused. */
const char *faults_fail_call(uint64_t number, const char *code);
/* The function that it was; FUNCTION_COUNT when it has not come. */
enum function faults_failed_call(void);

/* Disarms what came from there. */
void faults_drop(uint64_t origin);
/* Disarms the faults of no origin that are on that card alone. */
void faults_drop_card(unsigned int card);
/* The text of all faults of no origin but those on that card alone; the caller frees it. NULL when memory is short. */
char *faults_text_without(unsigned int card);

#define NO_ORIGIN 0

/* A call that is on no card, or on none yet. */
#define NO_CARD 0xFFFFFFFFu

/* Counts a call on a card; true when it is to fail with *RESULT: MTML_SUCCESS stands for a NULL handle. ANY: by faults that name no card, too. */
bool faults_apply(enum function function, unsigned int card, bool any, MtmlReturn *result);

#endif
