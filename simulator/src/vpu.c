/* The video unit of a device. */

#include "call.h"
#include "dynamics.h"

#include <string.h>

MtmlReturn mtmlVpuGetUtilization(const MtmlVpu *vpu, MtmlCodecUtil *utilization)
{
    struct call call;

    if (call_enter_vpu(&call, FUNCTION_mtmlVpuGetUtilization, vpu, utilization != NULL)) {
        memset(utilization, 0, sizeof *utilization);
        utilization->util = now_vpu_utilization(call.device);
        utilization->period = call.device->codec_sample_period;
        utilization->encUtil = now_encoder_utilization(call.device);
        utilization->decUtil = now_decoder_utilization(call.device);
    }
    return call_leave(&call);
}

MtmlReturn mtmlVpuGetClock(const MtmlVpu *vpu, unsigned int *clockMhz)
{
    struct call call;

    if (call_enter_vpu(&call, FUNCTION_mtmlVpuGetClock, vpu, clockMhz != NULL))
        *clockMhz = now_vpu_clock(call.device);
    return call_leave(&call);
}

MtmlReturn mtmlVpuGetMaxClock(const MtmlVpu *vpu, unsigned int *clockMhz)
{
    struct call call;

    if (call_enter_vpu(&call, FUNCTION_mtmlVpuGetMaxClock, vpu, clockMhz != NULL))
        *clockMhz = call.device->vpu_max_clock;
    return call_leave(&call);
}

MtmlReturn mtmlVpuGetCodecCapacity(const MtmlVpu *vpu, unsigned int *encodeCapacity, unsigned int *decodeCapacity)
{
    struct call call;

    if (call_enter_vpu(&call, FUNCTION_mtmlVpuGetCodecCapacity, vpu, encodeCapacity && decodeCapacity)) {
        *encodeCapacity = call.device->encoder_capacity;
        *decodeCapacity = call.device->decoder_capacity;
    }
    return call_leave(&call);
}

/* The session of that number, or -1: the slot is idle. */
static int find_session(const struct sessions *sessions, unsigned int id)
{
    for (unsigned int i = 0; i < sessions->count; i++)
        if (sessions->values[i].id == id)
            return (int)i;
    return -1;
}

static void give_states(struct call *call, const struct sessions *sessions, unsigned int capacity,
                        MtmlCodecSessionState *states, unsigned int length)
{
    if (length == 0)
        call->result = MTML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned int id = 0; id < length; id++) {
        int found = find_session(sessions, id);

        if (id >= capacity)
            states[id] = MTML_CODEC_SESSION_STATE_UNKNOWN;
        else
            states[id] = found < 0 ? MTML_CODEC_SESSION_STATE_IDLE : sessions->states[found];
    }
}

static void give_metrics(struct call *call, const struct sessions *sessions, unsigned int capacity, unsigned int id,
                         MtmlCodecSessionMetrics *metrics)
{
    int found = find_session(sessions, id);

    if (id >= capacity) {
        call->result = MTML_ERROR_INVALID_ARGUMENT;
        return;
    }
    memset(metrics, 0, sizeof *metrics);
    metrics->id = id;
    if (found >= 0)
        *metrics = sessions->values[found];
    /* The processes behind a virtual video unit belong to another machine. */
    if (call->device->virt_role != MTML_VIRT_ROLE_NONE)
        metrics->pid = 0;
}

MtmlReturn mtmlVpuGetEncoderSessionStates(const MtmlVpu *vpu, MtmlCodecSessionState *states, unsigned int length)
{
    struct call call;

    if (call_enter_vpu(&call, FUNCTION_mtmlVpuGetEncoderSessionStates, vpu, states != NULL))
        give_states(&call, &call.device->encoder_sessions, call.device->encoder_capacity, states, length);
    return call_leave(&call);
}

MtmlReturn mtmlVpuGetEncoderSessionMetrics(const MtmlVpu *vpu, unsigned int sessionId,
                                           MtmlCodecSessionMetrics *metrics)
{
    struct call call;

    if (call_enter_vpu(&call, FUNCTION_mtmlVpuGetEncoderSessionMetrics, vpu, metrics != NULL))
        give_metrics(&call, &call.device->encoder_sessions, call.device->encoder_capacity, sessionId, metrics);
    return call_leave(&call);
}

MtmlReturn mtmlVpuGetDecoderSessionStates(const MtmlVpu *vpu, MtmlCodecSessionState *states, unsigned int length)
{
    struct call call;

    if (call_enter_vpu(&call, FUNCTION_mtmlVpuGetDecoderSessionStates, vpu, states != NULL))
        give_states(&call, &call.device->decoder_sessions, call.device->decoder_capacity, states, length);
    return call_leave(&call);
}

MtmlReturn mtmlVpuGetDecoderSessionMetrics(const MtmlVpu *vpu, unsigned int sessionId,
                                           MtmlCodecSessionMetrics *metrics)
{
    struct call call;

    if (call_enter_vpu(&call, FUNCTION_mtmlVpuGetDecoderSessionMetrics, vpu, metrics != NULL))
        give_metrics(&call, &call.device->decoder_sessions, call.device->decoder_capacity, sessionId, metrics);
    return call_leave(&call);
}
