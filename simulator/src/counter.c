/* The number that processes with a control file have in common. */

#define _GNU_SOURCE

#include "counter.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x6d746d6c63747231ull

/* A number in FILE.lock may be that of other memory, of another container: this says that it is ours. */
struct shared {
    uint64_t magic;
    dev_t device;
    ino_t inode;
    _Atomic uint32_t value;
};

static struct shared *shared;
static int joined = -1;

static struct shared *attach(int id)
{
    void *memory = shmat(id, NULL, 0);

    return (intptr_t)memory == -1 ? NULL : memory;
}

static bool belongs(int id, const struct shared *memory, const struct stat *lock)
{
    struct shmid_ds status;

    return shmctl(id, IPC_STAT, &status) == 0 && status.shm_segsz >= sizeof *memory && memory->magic == MAGIC &&
           memory->device == lock->st_dev && memory->inode == lock->st_ino;
}

/* Marked for removal at once: it stays until the last process has left it, and can be joined until then. */
static struct shared *make(int lock, const struct stat *status, int *id)
{
    struct shared *memory;

    *id = shmget(IPC_PRIVATE, sizeof *memory, (int)(IPC_CREAT | (status->st_mode & 0666)));
    if (*id < 0)
        return NULL;
    memory = attach(*id);
    shmctl(*id, IPC_RMID, NULL);
    if (!memory)
        return NULL;
    memory->device = status->st_dev;
    memory->inode = status->st_ino;
    memory->magic = MAGIC;
    if (pwrite(lock, id, sizeof *id, 0) == (ssize_t)sizeof *id)
        return memory;
    shmdt(memory);
    return NULL;
}

void counter_join(int lock, bool create)
{
    struct stat status;
    struct shared *found = NULL;
    int id = -1;

    if (fstat(lock, &status) != 0)
        return;
    if (pread(lock, &id, sizeof id, 0) == (ssize_t)sizeof id) {
        if (shared && id == joined && belongs(id, shared, &status))
            return;
        found = attach(id);
        if (found && !belongs(id, found, &status)) {
            shmdt(found);
            found = NULL;
        }
    }
    if (!found && create)
        found = make(lock, &status, &id);
    if (found) {
        counter_leave();
        shared = found;
        joined = id;
    }
}

void counter_leave(void)
{
    if (shared)
        shmdt(shared);
    shared = NULL;
    joined = -1;
}

uint32_t counter_value(void)
{
    return shared ? atomic_load_explicit(&shared->value, memory_order_acquire) : 0;
}

void counter_raise(void)
{
    if (shared)
        atomic_fetch_add(&shared->value, 1);
}
