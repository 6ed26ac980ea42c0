/* The library, the system, and the way to devices. */

#include "call.h"
#include "environment.h"
#include "faults.h"
#include "watch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char after_shutdown[] = "the handle is dangling: the library it came from was shut down";
static const char after_last_shutdown[] = "the handle is dangling: it is from before the last mtmlLibraryShutDown";

MtmlReturn mtmlLibraryInit(MtmlLibrary **lib)
{
    struct call call;
    MtmlReturn result;

    sim_lock();
    if (sim.references == 0 && !sim.ended)
        environment_load();
    sim_unlock();
    if (call_enter(&call, FUNCTION_mtmlLibraryInit, lib != NULL)) {
        struct handle *handle;

        if (!sim.ready)
            call.result = MTML_ERROR_INVALID_ARGUMENT;
        else if (sim.references == 0 && sim.machine->shutdowns && sim.machine->reinit != MTML_SUCCESS)
            call.result = (MtmlReturn)sim.machine->reinit;
        else
            call.result = (MtmlReturn)sim.machine->init;
        if (call.result == MTML_SUCCESS && call.gives_null) {
            /* Not counted: nobody could ever give it back. */
            *lib = NULL;
        } else if (call.result == MTML_SUCCESS) {
            handle = handle_new(HANDLE_LIBRARY, NULL);
            if (handle) {
                sim.references++;
                *lib = (MtmlLibrary *)(void *)handle;
                call_event(&call, MTML_LOG_LEVEL_INFO, "library initialized, %u in use", sim.references);
            } else {
                call.result = MTML_ERROR_INSUFFICIENT_MEMORY;
            }
        }
    }
    result = call_leave(&call);
    if (result == MTML_SUCCESS && *lib)
        watch_tell(*lib, true);
    return result;
}

MtmlReturn mtmlLibraryShutDown(MtmlLibrary *lib)
{
    struct call call;
    MtmlReturn result;

    if (call_enter_library(&call, FUNCTION_mtmlLibraryShutDown, lib, true)) {
        handle_kill(call.handle, after_shutdown);
        sim.references--;
        if (sim.references == 0) {
            handle_kill_all(after_last_shutdown, DEATH_BY_PROGRAM);
            sim.system = NULL;
            sim.stale = false;
            sim.machine->shutdowns++;
        }
        call_event(&call, MTML_LOG_LEVEL_INFO, "library shut down, %u in use", sim.references);
    }
    result = call_leave(&call);
    if (result == MTML_SUCCESS)
        watch_tell(lib, false);
    return result;
}

MtmlReturn mtmlLibraryGetVersion(const MtmlLibrary *lib, char *version, unsigned int length)
{
    struct call call;

    if (call_enter_library(&call, FUNCTION_mtmlLibraryGetVersion, lib, version != NULL))
        call_give_text(&call, &sim.machine->library_version, "library_version", version, length);
    return call_leave(&call);
}

/* After an MPC change the library pointer is good for nothing but its version and its shutdown. */
static bool usable(struct call *call)
{
    if (sim.stale)
        call->result = MTML_ERROR_UNKNOWN;
    return !sim.stale;
}

MtmlReturn mtmlLibraryInitSystem(const MtmlLibrary *lib, MtmlSystem **sys)
{
    struct call call;

    if (call_enter_library(&call, FUNCTION_mtmlLibraryInitSystem, lib, sys != NULL) && usable(&call)) {
        if (!sim.system || !sim.system->live)
            sim.system = handle_new(HANDLE_SYSTEM, NULL);
        if (call.gives_null) {
            *sys = NULL;
        } else if (sim.system) {
            sim.system->taken++;
            *sys = (MtmlSystem *)(void *)sim.system;
        } else {
            call.result = MTML_ERROR_INSUFFICIENT_MEMORY;
        }
    }
    return call_leave(&call);
}

MtmlReturn mtmlLibraryFreeSystem(MtmlSystem *sys)
{ SIM_FREES(system, mtmlLibraryFreeSystem, sys) }

MtmlReturn mtmlLibraryCountDevice(const MtmlLibrary *lib, unsigned int *count)
{
    struct call call;

    if (call_enter_library(&call, FUNCTION_mtmlLibraryCountDevice, lib, count != NULL) && usable(&call))
        *count = machine_count_visible(sim.machine);
    return call_leave(&call);
}

static void give_found(struct call *call, struct device *device, MtmlDevice **slot)
{
    MtmlReturn result;

    if (!device)
        call->result = MTML_ERROR_NOT_FOUND;
    else if (faults_apply(call->function, device->card->number, false, &result))
        call_fail(call, result);
    if (call->result == MTML_SUCCESS && call_reach(call, device))
        call_give_device(call, device, slot);
}

MtmlReturn mtmlLibraryInitDeviceByIndex(const MtmlLibrary *lib, unsigned int index, MtmlDevice **dev)
{
    struct call call;

    if (call_enter_library(&call, FUNCTION_mtmlLibraryInitDeviceByIndex, lib, dev != NULL) && usable(&call))
        give_found(&call, machine_visible(sim.machine, index), dev);
    return call_leave(&call);
}

MtmlReturn mtmlLibraryInitDeviceByUuid(const MtmlLibrary *library, const char *uuid, MtmlDevice **dev)
{
    struct call call;

    if (call_enter_library(&call, FUNCTION_mtmlLibraryInitDeviceByUuid, library, uuid && dev) && usable(&call)) {
        struct device *device;
        unsigned int index = 0;

        while ((device = machine_visible(sim.machine, index++)))
            if (strcmp(device->uuid.bytes, uuid) == 0)
                break;
        give_found(&call, device, dev);
    }
    return call_leave(&call);
}

/*
 * SSSSSSSS:BB:DD.F in lower-case hexadecimal, as MtmlPciInfo has it; SSSS:BB:DD.F, as Linux has it, unless the library
 * is strict.
 */
static bool read_sbdf(const char *text, unsigned int *segment, unsigned int *bus, unsigned int *device)
{
    static const char whole_form[] = "hhhhhhhh:hh:hh.h";
    const char *form = whole_form;

    if (!sim.machine->strict_pci_sbdf && strchr(text, ':') == text + 4)
        form += 4;
    if (strlen(text) != strlen(form))
        return false;
    for (size_t i = 0; form[i]; i++) {
        bool digit = isdigit((unsigned char)text[i]) || (text[i] >= 'a' && text[i] <= 'f');

        if (form[i] == 'h' ? !digit : text[i] != form[i])
            return false;
    }
    return sscanf(text, "%8x:%2x:%2x", segment, bus, device) == 3;
}

MtmlReturn mtmlLibraryInitDeviceByPciSbdf(const MtmlLibrary *lib, const char *pciSbdf, MtmlDevice **dev)
{
    struct call call;
    unsigned int segment;
    unsigned int bus;
    unsigned int slot;

    if (call_enter_library(&call, FUNCTION_mtmlLibraryInitDeviceByPciSbdf, lib, pciSbdf && dev) && usable(&call)) {
        struct device *device;
        unsigned int index = 0;

        if (read_sbdf(pciSbdf, &segment, &bus, &slot)) {
            while ((device = machine_visible(sim.machine, index++)))
                if (device->pci_segment == segment && device->pci_bus == bus && device->pci_device == slot &&
                    pciSbdf[strlen(pciSbdf) - 1] == '0')
                    break;
            give_found(&call, device, dev);
        } else {
            call.result = MTML_ERROR_INVALID_ARGUMENT;
        }
    }
    return call_leave(&call);
}

MtmlReturn mtmlLibraryFreeDevice(MtmlDevice *dev)
{ SIM_FREES(device, mtmlLibraryFreeDevice, dev) }

MtmlReturn mtmlSystemGetDriverVersion(const MtmlSystem *sys, char *version, unsigned int length)
{
    struct call call;

    if (call_enter_system(&call, FUNCTION_mtmlSystemGetDriverVersion, sys, version != NULL))
        call_give_text(&call, &sim.machine->driver_version, "driver_version", version, length);
    return call_leave(&call);
}
