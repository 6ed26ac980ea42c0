/* The log as programs configure it. */

#include "call.h"
#include "log.h"

MtmlReturn mtmlLogSetConfiguration(const MtmlLogConfiguration *configuration)
{
    struct call call;

    if (call_enter(&call, FUNCTION_mtmlLogSetConfiguration, configuration != NULL))
        call.result = log_configure(configuration);
    return call_leave(&call);
}

MtmlReturn mtmlLogGetConfiguration(MtmlLogConfiguration *configuration)
{
    struct call call;

    if (call_enter(&call, FUNCTION_mtmlLogGetConfiguration, true)) {
        /* The one function that does not list INVALID_ARGUMENT. */
        if (configuration)
            log_configuration(configuration);
        else
            call.result = MTML_ERROR_UNKNOWN;
    }
    return call_leave(&call);
}
