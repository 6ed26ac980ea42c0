/* Error correction of the memory, and pages taken out of use. */

#include "call.h"
#include "outside.h"

#include <string.h>

static bool ecc_on(struct call *call)
{
    if (call->device->ecc_mode == MTML_MEMORY_ECC_DISABLE)
        call->result = MTML_ERROR_NOT_SUPPORTED;
    return call->result == MTML_SUCCESS;
}

MtmlReturn mtmlMemorySetEccMode(const MtmlMemory *mem, MtmlEccMode mode)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemorySetEccMode, mem, (unsigned int)mode <= MTML_MEMORY_ECC_ENABLE)) {
        static const char *const keys[] = {"ecc_pending_mode", NULL};

        call.device->ecc_pending_mode = mode;
        outside_tell(&call.device, 1, keys);
    }
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetEccMode(const MtmlMemory *mem, MtmlEccMode *currentMode, MtmlEccMode *pendingMode)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetEccMode, mem, currentMode && pendingMode)) {
        *currentMode = (MtmlEccMode)call.device->ecc_mode;
        *pendingMode = (MtmlEccMode)call.device->ecc_pending_mode;
    }
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetRetiredPagesCount(const MtmlMemory *mem, MtmlPageRetirementCount *count)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetRetiredPagesCount, mem, count != NULL) && ecc_on(&call)) {
        const struct pages *pages = call.device->retired_pages;

        count->sbeCount = pages[MTML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS].count;
        count->dbeCount = pages[MTML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR].count;
    }
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetRetiredPages(const MtmlMemory *mem, MtmlPageRetirementCause cause, unsigned int count,
                                     MtmlPageRetirement *pageRetirements)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetRetiredPages, mem,
                          pageRetirements && (unsigned int)cause < MTML_PAGE_RETIREMENT_CAUSE_MAX) &&
        ecc_on(&call)) {
        const struct pages *pages = &call.device->retired_pages[cause];

        /* Not INSUFFICIENT_SIZE, which this function does not know. */
        if (count < pages->count) {
            call.result = MTML_ERROR_INVALID_ARGUMENT;
        } else {
            memset(pageRetirements, 0, count * sizeof *pageRetirements);
            for (unsigned int i = 0; i < pages->count; i++) {
                pageRetirements[i].address = pages->values[i].address;
                pageRetirements[i].timestamps = pages->values[i].timestamp;
            }
        }
    }
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetRetiredPagesPendingStatus(const MtmlMemory *mem, MtmlRetiredPagesPendingState *isPending)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetRetiredPagesPendingStatus, mem, isPending != NULL) &&
        ecc_on(&call))
        *isPending = call.device->retired_pages_pending ? MTML_RETIRED_PAGES_PENDING_STATE_TRUE
                                                        : MTML_RETIRED_PAGES_PENDING_STATE_FALSE;
    return call_leave(&call);
}

MtmlReturn mtmlMemoryGetEccErrorCounter(const MtmlMemory *mem, MtmlMemoryErrorType errorType,
                                        MtmlEccCounterType counterType, MtmlMemoryLocation locationType,
                                        unsigned long long *eccCounts)
{
    struct call call;
    bool valid = eccCounts && (unsigned int)errorType < MTML_MEMORY_ERROR_TYPE_COUNT &&
                 (unsigned int)counterType < MTML_ECC_COUNTER_TYPE_COUNT && locationType == MTML_MEMORY_LOCATION_DRAM;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryGetEccErrorCounter, mem, valid) && ecc_on(&call))
        *eccCounts = call.device->ecc_errors[errorType][counterType];
    return call_leave(&call);
}

MtmlReturn mtmlMemoryClearEccErrorCounts(const MtmlMemory *mem, MtmlEccCounterType counterType)
{
    struct call call;

    if (call_enter_memory(&call, FUNCTION_mtmlMemoryClearEccErrorCounts, mem,
                          (unsigned int)counterType < MTML_ECC_COUNTER_TYPE_COUNT) &&
        ecc_on(&call)) {
        static const char *const keys[] = {"ecc_corrected_volatile", "ecc_uncorrected_volatile",
                                           "ecc_corrected_aggregate", "ecc_uncorrected_aggregate", NULL};

        for (unsigned int error = 0; error < MTML_MEMORY_ERROR_TYPE_COUNT; error++)
            call.device->ecc_errors[error][counterType] = 0;
        outside_tell(&call.device, 1, keys);
    }
    return call_leave(&call);
}
