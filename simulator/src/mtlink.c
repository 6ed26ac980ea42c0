/* MtLink: the links between cards. */

#include "call.h"

#include <string.h>

static bool require_links(struct call *call)
{
    if (!call->device->mtlink_capability)
        call->result = MTML_ERROR_NOT_SUPPORTED;
    return call->result == MTML_SUCCESS;
}

static bool require_link(struct call *call, unsigned int link)
{
    if (require_links(call) && link >= call->device->mtlink_count)
        call->result = MTML_ERROR_INVALID_ARGUMENT;
    return call->result == MTML_SUCCESS;
}

/* The card at the other end of a link, hidden or not; NULL when there is none. */
static struct device *peer_of(const struct device *device, unsigned int link)
{
    uint32_t peer = link < device->mtlink_peer.count ? device->mtlink_peer.values[link] : SIM_UNCONNECTED;

    return peer == SIM_UNCONNECTED ? NULL : machine_device(sim.machine, peer >> 16);
}

MtmlReturn mtmlDeviceGetMtLinkSpec(const MtmlDevice *device, MtmlMtLinkSpec *spec)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMtLinkSpec, device, spec != NULL) && require_links(&call)) {
        memset(spec, 0, sizeof *spec);
        spec->version = call.device->mtlink_version;
        spec->bandWidth = call.device->mtlink_bandwidth;
        spec->linkNum = call.device->mtlink_count;
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMtLinkState(const MtmlDevice *device, unsigned int linkId, MtmlMtLinkState *state)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMtLinkState, device, state != NULL) &&
        require_link(&call, linkId))
        *state = (MtmlMtLinkState)list_value(&call.device->mtlink_state, linkId, MTML_MTLINK_STATE_DOWN);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMtLinkCapStatus(const MtmlDevice *device, unsigned int linkId, MtmlMtLinkCap capability,
                                        MtmlMtLinkCapStatus *status)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMtLinkCapStatus, device,
                          status && (unsigned int)capability < MTML_MTLINK_CAP_COUNT) &&
        require_link(&call, linkId)) {
        const struct list *statuses = capability == MTML_MTLINK_CAP_P2P_ACCESS ? &call.device->mtlink_p2p_access
                                                                               : &call.device->mtlink_p2p_atomics;

        *status = (MtmlMtLinkCapStatus)list_value(statuses, linkId, MTML_MTLINK_CAP_STATUS_NOT_SUPPORTED);
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMtLinkRemoteDevice(const MtmlDevice *device, unsigned int linkId, MtmlDevice **remoteDevice)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMtLinkRemoteDevice, device, remoteDevice != NULL) &&
        require_link(&call, linkId)) {
        struct device *peer = peer_of(call.device, linkId);

        if (peer && peer->visible)
            call_give_device(&call, peer, remoteDevice);
        else
            call.result = MTML_ERROR_NOT_FOUND;
    }
    return call_leave(&call);
}

/* ==== Pairs of devices ==== */

/* The second device of a pair: NULL, with the result set, when it is unusable or has no links. */
static struct device *pair_device(struct call *call, const MtmlDevice *handle)
{
    struct device *device = call_device(call, handle);

    if (!device || !call_reach(call, device))
        return NULL;
    if (!device->mtlink_capability) {
        call->result = MTML_ERROR_NOT_SUPPORTED;
        return NULL;
    }
    return device;
}

static bool linked(const struct device *from, const struct device *to)
{
    for (unsigned int link = 0; link < from->mtlink_count; link++)
        if (peer_of(from, link) == to &&
            list_value(&from->mtlink_state, link, MTML_MTLINK_STATE_DOWN) != MTML_MTLINK_STATE_DOWN)
            return true;
    return false;
}

/* For every card, the number of devices on a shortest path from it to TARGET, both included; 0 without a path. */
static void measure(const struct device *target, unsigned int distance[SIM_MAX_DEVICES])
{
    unsigned int reached = 1;

    memset(distance, 0, SIM_MAX_DEVICES * sizeof distance[0]);
    distance[target->number] = 1;
    for (unsigned int length = 2; reached; length++) {
        reached = 0;
        for (unsigned int i = 0; i < sim.machine->device_count; i++) {
            const struct device *device = sim.machine->devices[i];
            bool found = false;

            if (distance[i] || !device->visible)
                continue;
            for (unsigned int k = 0; k < sim.machine->device_count && !found; k++)
                found = distance[k] == length - 1 && linked(device, sim.machine->devices[k]);
            if (found) {
                distance[i] = length;
                reached++;
            }
        }
    }
}

struct walk {
    struct call *call;
    unsigned int distance[SIM_MAX_DEVICES];
    struct device *path[SIM_MAX_DEVICES];
    unsigned int count;
    MtmlDevice **matrix;
    unsigned int rows;
    unsigned int columns;
};

/* Follows every step that comes nearer to the target; each arrival is one shortest path. */
static void walk_on(struct walk *walk, struct device *device, unsigned int depth)
{
    walk->path[depth] = device;
    if (walk->distance[device->number] == 1) {
        if (walk->matrix && walk->count < walk->rows)
            for (unsigned int i = 0; i <= depth; i++)
                call_give_device(walk->call, walk->path[i],
                                 &walk->matrix[(size_t)walk->count * walk->columns + i]);
        walk->count++;
        return;
    }
    for (unsigned int i = 0; i < sim.machine->device_count; i++) {
        struct device *next = sim.machine->devices[i];

        if (walk->distance[i] && walk->distance[i] == walk->distance[device->number] - 1 && linked(device, next))
            walk_on(walk, next, depth + 1);
    }
}

static unsigned int find_paths(struct walk *walk, const struct device *remote)
{
    struct device *local = walk->call->device;
    unsigned int length;

    if (local == remote)
        return 0;
    measure(remote, walk->distance);
    length = walk->distance[local->number];
    if (length)
        walk_on(walk, local, 0);
    return length;
}

MtmlReturn mtmlDeviceCountMtLinkShortestPaths(const MtmlDevice *localDevice, const MtmlDevice *remoteDevice,
                                              unsigned int *pathCount, unsigned int *pathLength)
{
    struct call call;
    const struct device *remote;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountMtLinkShortestPaths, localDevice,
                          remoteDevice && pathCount && pathLength) &&
        require_links(&call) && (remote = pair_device(&call, remoteDevice))) {
        struct walk walk = {.call = &call};

        *pathLength = find_paths(&walk, remote);
        *pathCount = walk.count;
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMtLinkShortestPaths(const MtmlDevice *localDevice, const MtmlDevice *remoteDevice,
                                            unsigned int pathCount, unsigned int pathLength, MtmlDevice **paths)
{
    struct call call;
    const struct device *remote;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMtLinkShortestPaths, localDevice, remoteDevice && paths) &&
        require_links(&call) && (remote = pair_device(&call, remoteDevice))) {
        struct walk measured = {.call = &call};
        struct walk filled = {.call = &call, .matrix = paths, .rows = pathCount, .columns = pathLength};
        unsigned int length = find_paths(&measured, remote);

        if (pathCount < measured.count || pathLength < length) {
            call.result = MTML_ERROR_INSUFFICIENT_SIZE;
        } else {
            memset(paths, 0, (size_t)pathCount * pathLength * sizeof *paths);
            find_paths(&filled, remote);
        }
    }
    return call_leave(&call);
}

/* Writes the pair's links when LAYOUTS is not NULL; only counts them otherwise. */
static unsigned int list_links(const struct device *local, const struct device *remote, MtmlMtLinkLayout *layouts,
                               unsigned int capacity)
{
    unsigned int count = 0;

    for (unsigned int link = 0; link < local->mtlink_count; link++) {
        if (local == remote || peer_of(local, link) != remote)
            continue;
        if (layouts && count < capacity) {
            memset(&layouts[count], 0, sizeof *layouts);
            layouts[count].localLinkId = link;
            layouts[count].remoteLinkId = local->mtlink_peer.values[link] & 0xffff;
        }
        count++;
    }
    return count;
}

MtmlReturn mtmlDeviceCountMtLinkLayouts(const MtmlDevice *localDevice, const MtmlDevice *remoteDevice,
                                        unsigned int *linkCount)
{
    struct call call;
    const struct device *remote;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceCountMtLinkLayouts, localDevice, remoteDevice && linkCount) &&
        require_links(&call) && (remote = pair_device(&call, remoteDevice)))
        *linkCount = list_links(call.device, remote, NULL, 0);
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetMtLinkLayouts(const MtmlDevice *localDevice, const MtmlDevice *remoteDevice,
                                      unsigned int linkCount, MtmlMtLinkLayout *layouts)
{
    struct call call;
    const struct device *remote;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetMtLinkLayouts, localDevice, remoteDevice && layouts) &&
        require_links(&call) && (remote = pair_device(&call, remoteDevice))) {
        unsigned int count = list_links(call.device, remote, layouts, linkCount);

        if (count > linkCount)
            call.result = MTML_ERROR_INSUFFICIENT_SIZE;
        else
            memset(&layouts[count], 0, (linkCount - count) * sizeof *layouts);
    }
    return call_leave(&call);
}
