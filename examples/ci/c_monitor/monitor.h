#include <mtml_2.2.0.h>

/* Index of the hottest card above a limit, -1 for none, -2 when a card does not answer. */
int hottest(const MtmlLibrary *library, int limit);
