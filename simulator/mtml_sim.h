/*
 * Control of the MTML simulator from the process that has loaded it. No other MTML library has these functions.
 *
 * They may be called at any time, before mtmlLibraryInit and after the last mtmlLibraryShutDown too, from any thread.
 */

#ifndef MTML_SIM_H
#define MTML_SIM_H

#include <stddef.h>

#if defined(__GNUC__)
#define MTML_SIM_API __attribute__((visibility("default")))
#else
#define MTML_SIM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers for mtmlSimGet and mtmlSimSet: N alone is the card of section [device.N]. */
#define MTML_SIM_MACHINE         0xFFFFFFFFu
#define MTML_SIM_INSTANCE(n, m)  ((unsigned int)(n) | ((unsigned int)(m) + 1u) << 8)
#define MTML_SIM_VIRT(n, k)      ((unsigned int)(n) | ((unsigned int)(k) + 1u) << 16)

/* Inits that no shutdown has matched yet. */
MTML_SIM_API unsigned int mtmlSimGetLibraryReferences(void);

/* Handles that the library considers live, those of the library itself included. */
MTML_SIM_API unsigned int mtmlSimGetHandleCount(void);

/* Calls of one function since loading or the last reset; of all functions for NULL; -1 for an unknown name. */
MTML_SIM_API long long mtmlSimGetCallCount(const char *name);
MTML_SIM_API void mtmlSimResetCallCounts(void);

/*
 * Changes a key of a device, or of the machine, as if the profile said so; it takes effect at once. 0, or -1 after
 * telling on stderr what is wrong. So the latency of each call is mtmlSimSet(MTML_SIM_MACHINE, "latency_ns", "50000"),
 * a card that is lost mtmlSimSet(3, "lost", "DRIVER_FAILURE"), a refused second init
 * mtmlSimSet(MTML_SIM_MACHINE, "reinit", "DRIVER_FAILURE").
 */
MTML_SIM_API int mtmlSimSet(unsigned int device, const char *key, const char *value);

/* Takes that back: the key has the value again that profile and MTML_SIM_SET give it. 0, or -1 as above. */
MTML_SIM_API int mtmlSimUnset(unsigned int device, const char *key);

/* Writes the base (frozen) value of a key as a profile would have it. 0, or -1 when there is no such key or no room. */
MTML_SIM_API int mtmlSimGet(unsigned int device, const char *key, char *buffer, size_t size);

/* Arms faults in the syntax of MTML_SIM_FAULTS, counting from now; empty or NULL disarms all. 0 or -1. */
MTML_SIM_API int mtmlSimSetFaults(const char *text);

/* Arms further faults, counting from now; those that are armed go on counting. 0 or -1. */
MTML_SIM_API int mtmlSimAddFaults(const char *text);

/*
 * The NUMBERth call from now on returns CODE (as in MTML_SIM_FAULTS), once and in this process alone; 0 ends it.
 * mtmlErrorString, which has no code, is not counted. 0, or -1 after telling on stderr what is wrong.
 */
MTML_SIM_API int mtmlSimFailCall(unsigned long long number, const char *code);

/* Writes the name of the function that mtmlSimFailCall made fail. 0, or -1 when that call has not come. */
MTML_SIM_API int mtmlSimGetFailedCall(char *buffer, size_t size);

/*
 * Ends what makes calls fail: the faults and the loss of card N; for MTML_SIM_MACHINE all faults, all losses and the
 * latency. Other values stay. 0, or -1 when there is no such card.
 */
MTML_SIM_API int mtmlSimHeal(unsigned int device);

/*
 * What a reboot of the machine does: pending ECC modes come into force, volatile ECC counters are cleared, page
 * retirement completes, MPC is off. 0, or -1 while the library is initialized.
 */
MTML_SIM_API int mtmlSimReboot(void);

/*
 * Forgets all that happened to the machine: the next mtmlLibraryInit makes it, and the faults, anew from the profile
 * and the variables. 0, or -1 while the library is initialized.
 */
MTML_SIM_API int mtmlSimReload(void);

/*
 * The same, and makes the machine at once, so that a mistake in the profile or a variable shows now. 0, or -1 after
 * telling on stderr what is wrong.
 */
MTML_SIM_API int mtmlSimLoad(void);

/*
 * Says that MTML_SIM_SET and MTML_SIM_FAULTS, as they are now, tell what mtmlSimSet and mtmlSimAddFaults have done
 * already (for child processes): the next init then keeps machine and countdowns.
 */
MTML_SIM_API void mtmlSimKeep(void);

/*
 * Shuts down what programs in this process have left initialized and forgets their configuration of the log: the number
 * of references that were open. A handle from before, used after this, is answered MTML_ERROR_UNKNOWN.
 */
MTML_SIM_API unsigned int mtmlSimEnd(void);

/*
 * Calls WATCHER after every successful mtmlLibraryInit (TAKEN is 1) and mtmlLibraryShutDown (0), in the thread that
 * made the call, with the pointer that was taken or given back. NULL ends it.
 */
MTML_SIM_API void mtmlSimWatchReferences(void (*watcher)(const void *library, int taken));

/* Writes what was told on stderr last, cut to the buffer. 0, or -1 when nothing was. */
MTML_SIM_API int mtmlSimGetMessage(char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
