/* Where devices are: distance to each other, and to processors and memory. */

#include "call.h"
#include "text.h"

#include <limits.h>
#include <string.h>

#define WORD_BITS (sizeof(unsigned long) * CHAR_BIT)

static MtmlDeviceTopologyLevel level_between(const struct device *first, const struct device *second)
{
    const struct device *a = first->card;
    const struct device *b = second->card;

    if (a == b)
        return MTML_TOPOLOGY_INTERNAL;
    if (b->number < a->topology.count && a->topology.values[b->number] != SIM_UNCONNECTED)
        return (MtmlDeviceTopologyLevel)a->topology.values[b->number];
    if (a->board == b->board)
        return MTML_TOPOLOGY_INTERNAL;
    if (a->pcie_switch == b->pcie_switch)
        return MTML_TOPOLOGY_SINGLE;
    if (a->switch_group == b->switch_group)
        return MTML_TOPOLOGY_MULTIPLE;
    if (a->host_bridge == b->host_bridge)
        return MTML_TOPOLOGY_HOSTBRIDGE;
    if (a->numa_node == b->numa_node)
        return MTML_TOPOLOGY_NODE;
    return MTML_TOPOLOGY_SYSTEM;
}

/* A second device of a call: NULL, with the result set, when it is unusable or virtual. */
static struct device *other_device(struct call *call, const MtmlDevice *handle)
{
    struct device *device = call_device(call, handle);

    if (!device || !call_reach(call, device))
        return NULL;
    if (device->role == ROLE_VIRT_DEVICE) {
        call->result = MTML_ERROR_NOT_SUPPORTED;
        return NULL;
    }
    return device;
}

MtmlReturn mtmlDeviceGetTopologyLevel(const MtmlDevice *dev1, const MtmlDevice *dev2, MtmlDeviceTopologyLevel *level)
{
    struct call call;
    const struct device *second;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetTopologyLevel, dev1, dev2 && level) &&
        (second = other_device(&call, dev2)))
        *level = level_between(call.device, second);
    return call_leave(&call);
}

/* Hands out the devices at a level when ARRAY is not NULL; only counts them otherwise. */
static void list_at_level(struct call *call, MtmlDeviceTopologyLevel level, MtmlDevice **array, unsigned int capacity,
                          unsigned int *count)
{
    struct device *device;

    *count = 0;
    for (unsigned int index = 0; (device = machine_visible(sim.machine, index)); index++) {
        MtmlDeviceTopologyLevel actual = level_between(call->device, device);

        if (device == call->device)
            continue;
        if (actual != level && !(sim.machine->topology_includes_nearer && actual < level))
            continue;
        if (array && *count < capacity)
            call_give_device(call, device, &array[*count]);
        (*count)++;
    }
    if (array && *count > capacity)
        call->result = MTML_ERROR_INSUFFICIENT_SIZE;
    if (array && *count < capacity)
        memset(&array[*count], 0, (capacity - *count) * sizeof *array);
}

MtmlReturn mtmlDeviceCountDeviceByTopologyLevel(const MtmlDevice *dev, MtmlDeviceTopologyLevel level,
                                                unsigned int *count)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountDeviceByTopologyLevel, dev,
                          count && (unsigned int)level <= MTML_TOPOLOGY_SYSTEM))
        list_at_level(&call, level, NULL, 0, count);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetDeviceByTopologyLevel(const MtmlDevice *dev, MtmlDeviceTopologyLevel level, unsigned int count,
                                              MtmlDevice **deviceArray)
{
    struct call call;
    unsigned int found;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetDeviceByTopologyLevel, dev,
                          deviceArray && (unsigned int)level <= MTML_TOPOLOGY_SYSTEM))
        list_at_level(&call, level, deviceArray, count, &found);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetP2PStatus(const MtmlDevice *dev1, const MtmlDevice *dev2, MtmlDeviceP2PCaps p2pCap,
                                  MtmlDeviceP2PStatus *p2pStatus)
{
    struct call call;
    const struct device *second;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetP2PStatus, dev1,
                          dev2 && p2pStatus && (unsigned int)p2pCap <= MTML_P2P_CAPS_WRITE) &&
        (second = other_device(&call, dev2))) {
        const struct device *card = call.device->card;
        const struct list *statuses = p2pCap == MTML_P2P_CAPS_READ ? &card->p2p_read : &card->p2p_write;

        *p2pStatus = (MtmlDeviceP2PStatus)list_value(statuses, second->card->number, MTML_P2P_STATUS_UNKNOWN);
    }
    return call_leave(&call);
}

/* ==== Affinity ==== */

static void give_mask(const struct text *list, unsigned int words, unsigned long *mask)
{
    memset(mask, 0, words * sizeof *mask);
    for (unsigned long number = 0; number < words * WORD_BITS && number <= CPU_LIST_LAST; number++)
        if (cpu_list_contains(list, number))
            mask[number / WORD_BITS] |= 1ul << number % WORD_BITS;
}

MtmlReturn mtmlDeviceGetMemoryAffinityWithinNode(const MtmlDevice *device, unsigned int nodeSetSize,
                                                 unsigned long *nodeSet)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMemoryAffinityWithinNode, device, nodeSet && nodeSetSize))
        give_mask(&call.device->memory_affinity, nodeSetSize, nodeSet);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetCpuAffinityWithinNode(const MtmlDevice *device, unsigned int cpuSetSize, unsigned long *cpuSet)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetCpuAffinityWithinNode, device, cpuSet && cpuSetSize))
        give_mask(&call.device->cpu_affinity, cpuSetSize, cpuSet);
    return call_leave(&call);
}
