#undef NDEBUG
#include "monitor.h"

#include <mtml_sim.h>

#include <assert.h>

int main(void)
{
    MtmlLibrary *library;

    assert(mtmlLibraryInit(&library) == MTML_SUCCESS);
    assert(hottest(library, 90) == -1);
    assert(mtmlSimSet(5, "gpu_temperature", "97") == 0);
    assert(mtmlSimSet(7, "gpu_temperature", "95") == 0);
    assert(hottest(library, 90) == 5);
    assert(mtmlSimAddFaults("2.mtmlGpuGetTemperature=TIMEOUT") == 0);
    assert(hottest(library, 90) == -2);
    assert(mtmlSimHeal(2) == 0);
    assert(hottest(library, 90) == 5);
    assert(mtmlLibraryShutDown(library) == MTML_SUCCESS);
    return 0;
}
