/* The one function of the MUSA driver library that a management program asks: its version. */

#include <stdlib.h>

#if defined(__GNUC__)
#define MUSA_API __attribute__((visibility("default")))
#else
#define MUSA_API
#endif

enum { MUSA_SUCCESS = 0, MUSA_ERROR_INVALID_VALUE = 1 };

MUSA_API int muDriverGetVersion(int *version);

/* 4030 stands for 4.3, as CUDA counts. Needs no initialization, like its model. */
int muDriverGetVersion(int *version)
{
    const char *text = getenv("MTML_SIM_MUSA_VERSION");

    if (!version)
        return MUSA_ERROR_INVALID_VALUE;
    *version = text && *text ? atoi(text) : 4030;
    return MUSA_SUCCESS;
}
