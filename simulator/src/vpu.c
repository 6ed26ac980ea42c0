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
{ SIM_GIVES(vpu, mtmlVpuGetClock, vpu, clockMhz, now_vpu_clock(call.device)) }

MtmlReturn mtmlVpuGetMaxClock(const MtmlVpu *vpu, unsigned int *clockMhz)
{ SIM_GIVES(vpu, mtmlVpuGetMaxClock, vpu, clockMhz, call.device->vpu_max_clock) }

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

/* What a card's encoder and its decoder have alike. */
struct codec {
    const struct sessions *sessions;
    unsigned int capacity;
};

static struct codec codec_of(const struct device *device, bool encodes)
{
    return encodes ? (struct codec){&device->encoder_sessions, device->encoder_capacity}
                   : (struct codec){&device->decoder_sessions, device->decoder_capacity};
}

static MtmlReturn get_states(enum function function, const MtmlVpu *vpu, bool encodes,
                             MtmlCodecSessionState *states, unsigned int length)
{
    struct call call;

    if (call_enter_vpu(&call, function, vpu, states != NULL)) {
        struct codec codec = codec_of(call.device, encodes);

        if (length == 0)
            call.result = MTML_ERROR_INSUFFICIENT_SIZE;
        for (unsigned int id = 0; id < length; id++) {
            int found = find_session(codec.sessions, id);

            if (id >= codec.capacity)
                states[id] = MTML_CODEC_SESSION_STATE_UNKNOWN;
            else
                states[id] = found < 0 ? MTML_CODEC_SESSION_STATE_IDLE : codec.sessions->states[found];
        }
    }
    return call_leave(&call);
}

static MtmlReturn get_metrics(enum function function, const MtmlVpu *vpu, bool encodes, unsigned int id,
                              MtmlCodecSessionMetrics *metrics)
{
    struct call call;

    if (call_enter_vpu(&call, function, vpu, metrics != NULL)) {
        struct codec codec = codec_of(call.device, encodes);
        int found = find_session(codec.sessions, id);

        if (id >= codec.capacity) {
            call.result = MTML_ERROR_INVALID_ARGUMENT;
        } else {
            memset(metrics, 0, sizeof *metrics);
            metrics->id = id;
            if (found >= 0)
                *metrics = codec.sessions->values[found];
            /* The processes behind a virtual video unit belong to another machine. */
            if (call.device->virt_role != MTML_VIRT_ROLE_NONE)
                metrics->pid = 0;
        }
    }
    return call_leave(&call);
}

MtmlReturn mtmlVpuGetEncoderSessionStates(const MtmlVpu *vpu, MtmlCodecSessionState *states, unsigned int length)
{
    return get_states(FUNCTION_mtmlVpuGetEncoderSessionStates, vpu, true, states, length);
}

MtmlReturn mtmlVpuGetEncoderSessionMetrics(const MtmlVpu *vpu, unsigned int sessionId,
                                           MtmlCodecSessionMetrics *metrics)
{
    return get_metrics(FUNCTION_mtmlVpuGetEncoderSessionMetrics, vpu, true, sessionId, metrics);
}

MtmlReturn mtmlVpuGetDecoderSessionStates(const MtmlVpu *vpu, MtmlCodecSessionState *states, unsigned int length)
{
    return get_states(FUNCTION_mtmlVpuGetDecoderSessionStates, vpu, false, states, length);
}

MtmlReturn mtmlVpuGetDecoderSessionMetrics(const MtmlVpu *vpu, unsigned int sessionId,
                                           MtmlCodecSessionMetrics *metrics)
{
    return get_metrics(FUNCTION_mtmlVpuGetDecoderSessionMetrics, vpu, false, sessionId, metrics);
}
