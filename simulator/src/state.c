/* The one state of the library, and the lock that guards it. */

#include "state.h"

#include <pthread.h>

struct state sim;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void sim_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void sim_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}
