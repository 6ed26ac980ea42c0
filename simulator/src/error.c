/* The texts of return codes. */

#include "call.h"
#include "names.h"

const char *mtmlErrorString(MtmlReturn result)
{
    static const struct name_value texts[] = {
        {"Success", MTML_SUCCESS},
        {"Driver not loaded", MTML_ERROR_DRIVER_NOT_LOADED},
        {"Driver failure", MTML_ERROR_DRIVER_FAILURE},
        {"Invalid argument", MTML_ERROR_INVALID_ARGUMENT},
        {"Not supported", MTML_ERROR_NOT_SUPPORTED},
        {"No permission", MTML_ERROR_NO_PERMISSION},
        {"Insufficient size", MTML_ERROR_INSUFFICIENT_SIZE},
        {"Not found", MTML_ERROR_NOT_FOUND},
        {"Insufficient memory", MTML_ERROR_INSUFFICIENT_MEMORY},
        {"Driver too old", MTML_ERROR_DRIVER_TOO_OLD},
        {"Driver too new", MTML_ERROR_DRIVER_TOO_NEW},
        {"Timeout", MTML_ERROR_TIMEOUT},
        {"Resource is busy", MTML_ERROR_RESOURCE_IS_BUSY},
        {"Unknown error", MTML_ERROR_UNKNOWN},
        {NULL, 0},
    };
    struct call call;
    const char *text = name_of(texts, result);

    call_enter(&call, FUNCTION_mtmlErrorString, true);
    call.result = MTML_SUCCESS;
    call_leave(&call);
    return text ? text : "Unknown error";
}
