/* What every source file builds on: the interface that is simulated, and the plain types of C. */

#ifndef SIM_BASE_H
#define SIM_BASE_H

#define MTML_NO_DEPRECATED
#define MTML_BUILDING_LIBRARY

#include "../../mtml_2.2.0.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SIM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SIM_PRINTF(text, first)
#endif

#endif
