/* Functions that dlsym does not find. */

#ifndef SIM_SYMBOLS_H
#define SIM_SYMBOLS_H

#include "functions.h"

/* Hides the functions of the set from dlsym, and shows the others again. */
void symbols_hide(const struct function_set *missing);

#endif
