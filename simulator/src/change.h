/* Changes of the machine in use, by its own keys: what a test sets, here or from outside. */

#ifndef SIM_CHANGE_H
#define SIM_CHANGE_H

#include "keys.h"

#define VALUE_SIZE 65536

/*
 * Objects have the numbers of mtml_sim.h: N is card N, and so on for instances, virtual devices and the machine.
 * All of these answer NULL, or why it cannot be done; then nothing has changed.
 */
const char *change_set(unsigned int number, const char *key, const char *text);
/* Changes nothing, whatever it answers; the value as it would be read then. */
const char *change_check(unsigned int number, const char *key, const char *text, struct output *output);
/* Back to what profile and MTML_SIM_SET say. */
const char *change_restore(unsigned int number, const char *key);
const char *change_get(unsigned int number, const char *key, struct output *output);

/* The number of a device. */
unsigned int change_number(const struct device *device);

#endif
