/* Makes a machine from its profile, and parts of it anew. */

#ifndef SIM_BUILD_H
#define SIM_BUILD_H

#include "machine.h"

/* NULL after telling what is wrong. SETTINGS is the text of MTML_SIM_SET, NULL for none. */
struct machine *machine_build(const char *path, const char *text, const char *settings);

/* Both false after telling what is wrong. */

/* Makes the instances that the card's configuration asks for. */
bool machine_build_instances(struct machine *machine, struct device *card);
/* What a power cycle of the machine does. */
bool machine_reboot(struct machine *machine);

#endif
