/* A device: its identity, its board, and the way to its parts. */

#include "call.h"
#include "dynamics.h"
#include "outside.h"

#include <string.h>

MtmlReturn mtmlDeviceInitGpu(const MtmlDevice *dev, MtmlGpu **gpu)
{ SIM_GIVES(device, mtmlDeviceInitGpu, dev, gpu, (void *)call_handle(&call, call.device, HANDLE_GPU)) }

MtmlReturn mtmlDeviceFreeGpu(MtmlGpu *gpu)
{ SIM_FREES(gpu, mtmlDeviceFreeGpu, gpu) }

MtmlReturn mtmlDeviceInitMemory(const MtmlDevice *dev, MtmlMemory **mem)
{ SIM_GIVES(device, mtmlDeviceInitMemory, dev, mem, (void *)call_handle(&call, call.device, HANDLE_MEMORY)) }

MtmlReturn mtmlDeviceFreeMemory(MtmlMemory *mem)
{ SIM_FREES(memory, mtmlDeviceFreeMemory, mem) }

MtmlReturn mtmlDeviceInitVpu(const MtmlDevice *dev, MtmlVpu **vpu)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceInitVpu, dev, vpu != NULL)) {
        /* Under MPC the video unit belongs to the instances. */
        if (call.device->mpc_mode == MTML_DEVICE_MPC_ENABLE)
            call.result = MTML_ERROR_NOT_SUPPORTED;
        else
            *vpu = (MtmlVpu *)(void *)call_handle(&call, call.device, HANDLE_VPU);
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceFreeVpu(MtmlVpu *vpu)
{ SIM_FREES(vpu, mtmlDeviceFreeVpu, vpu) }

/* ==== Identity ==== */

MtmlReturn mtmlDeviceGetIndex(const MtmlDevice *dev, unsigned int *index)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetIndex, dev, index != NULL)) {
        const struct device *device;
        unsigned int position = 0;

        while ((device = machine_visible(sim.machine, position)) && device != call.device)
            position++;
        if (device)
            *index = position;
        else
            call.result = MTML_ERROR_NOT_SUPPORTED;
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetUUID(const MtmlDevice *dev, char *uuid, unsigned int length)
{ SIM_GIVES_TEXT(device, mtmlDeviceGetUUID, dev, uuid, uuid, length) }

MtmlReturn mtmlDeviceGetBrand(const MtmlDevice *dev, MtmlBrandType *type)
{ SIM_GIVES(device, mtmlDeviceGetBrand, dev, type, (MtmlBrandType)call.device->brand) }

MtmlReturn mtmlDeviceGetName(const MtmlDevice *dev, char *name, unsigned int length)
{ SIM_GIVES_TEXT(device, mtmlDeviceGetName, dev, name, name, length) }

MtmlReturn mtmlDeviceGetPciInfo(const MtmlDevice *dev, MtmlPciInfo *pci)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetPciInfo, dev, pci != NULL)) {
        const struct device *device = call.device;

        memset(pci, 0, sizeof *pci);
        fill_text(device, &device->pci_sbdf, "pci_sbdf", pci->sbdf, sizeof pci->sbdf);
        pci->segment = device->pci_segment;
        pci->bus = device->pci_bus;
        pci->device = device->pci_device;
        pci->pciDeviceId = device->pci_device_id;
        pci->pciSubsystemId = device->pci_subsystem_id;
        pci->busWidth = device->pci_bus_width;
        pci->pciMaxSpeed = device->pci_max_speed;
        pci->pciCurSpeed = device->pci_cur_speed;
        pci->pciMaxWidth = device->pci_max_width;
        pci->pciCurWidth = device->pci_cur_width;
        pci->pciMaxGen = device->pci_max_gen;
        pci->pciCurGen = device->pci_cur_gen;
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetGpuPath(const MtmlDevice *dev, char *path, unsigned int length)
{ SIM_GIVES_TEXT(device, mtmlDeviceGetGpuPath, dev, gpu_path, path, length) }

MtmlReturn mtmlDeviceGetPrimaryPath(const MtmlDevice *dev, char *path, unsigned int length)
{ SIM_GIVES_TEXT(device, mtmlDeviceGetPrimaryPath, dev, primary_path, path, length) }

MtmlReturn mtmlDeviceGetRenderPath(const MtmlDevice *dev, char *path, unsigned int length)
{ SIM_GIVES_TEXT(device, mtmlDeviceGetRenderPath, dev, render_path, path, length) }

MtmlReturn mtmlDeviceGetVbiosVersion(const MtmlDevice *dev, char *version, unsigned int length)
{ SIM_GIVES_TEXT(device, mtmlDeviceGetVbiosVersion, dev, mtbios_version, version, length) }

MtmlReturn mtmlDeviceGetMtBiosVersion(const MtmlDevice *dev, char *version, unsigned int length)
{ SIM_GIVES_TEXT(device, mtmlDeviceGetMtBiosVersion, dev, mtbios_version, version, length) }

MtmlReturn mtmlDeviceGetSerialNumber(const MtmlDevice *device, unsigned int length, char *serialNumber)
{ SIM_GIVES_TEXT(device, mtmlDeviceGetSerialNumber, device, serial_number, serialNumber, length) }

MtmlReturn mtmlDeviceGetProperty(const MtmlDevice *dev, MtmlDeviceProperty *prop)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetProperty, dev, prop != NULL)) {
        const struct device *device = call.device;

        memset(prop, 0, sizeof *prop);
        prop->virtCap = device->virt_capability;
        prop->virtRole = device->virt_role & 7;
        prop->mpcCap = device->mpc_capability;
        prop->mpcType = MTML_MPC_TYPE_NONE;
        if (device->role == ROLE_MPC_INSTANCE)
            prop->mpcType = MTML_MPC_TYPE_INSTANCE;
        else if (device->mpc_mode == MTML_DEVICE_MPC_ENABLE)
            prop->mpcType = MTML_MPC_TYPE_PARENT;
        prop->mtLinkCap = device->mtlink_capability;
    }
    return call_leave(&call);
}

/* ==== Board ==== */

MtmlReturn mtmlDeviceGetPowerUsage(const MtmlDevice *dev, unsigned int *power)
{ SIM_GIVES(device, mtmlDeviceGetPowerUsage, dev, power, now_power_usage(call.device)) }

MtmlReturn mtmlDeviceCountFan(const MtmlDevice *dev, unsigned int *count)
{ SIM_GIVES(device, mtmlDeviceCountFan, dev, count, call.device->fan_speed.count) }

MtmlReturn mtmlDeviceGetFanSpeed(const MtmlDevice *dev, unsigned int index, unsigned int *speed)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetFanSpeed, dev, speed != NULL)) {
        if (index < call.device->fan_speed.count)
            *speed = now_fan_speed(call.device, index);
        else
            call.result = MTML_ERROR_INVALID_ARGUMENT;
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetFanRpm(const MtmlDevice *dev, unsigned int fanIndex, unsigned int *fanRpm)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetFanRpm, dev, fanRpm != NULL)) {
        if (fanIndex < call.device->fan_speed.count)
            *fanRpm = now_fan_rpm(call.device, fanIndex);
        else
            call.result = MTML_ERROR_INVALID_ARGUMENT;
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceGetPcieSlotInfo(const MtmlDevice *dev, MtmlPciSlotInfo *slotInfo)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetPcieSlotInfo, dev, slotInfo != NULL)) {
        memset(slotInfo, 0, sizeof *slotInfo);
        slotInfo->slotId = call.device->slot_id;
        fill_text(call.device, &call.device->slot_name, "slot_name", slotInfo->slotName, sizeof slotInfo->slotName);
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceCountDisplayInterface(const MtmlDevice *device, unsigned int *count)
{ SIM_GIVES(device, mtmlDeviceCountDisplayInterface, device, count, call.device->displays.count) }

MtmlReturn mtmlDeviceGetDisplayInterfaceSpec(const MtmlDevice *device, unsigned int intfIndex,
                                             MtmlDispIntfSpec *dispIntfSpec)
{
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceGetDisplayInterfaceSpec, device, dispIntfSpec != NULL)) {
        if (intfIndex < call.device->displays.count) {
            const struct display *display = &call.device->displays.values[intfIndex];

            memset(dispIntfSpec, 0, sizeof *dispIntfSpec);
            dispIntfSpec->type = (MtmlDispIntfType)display->type;
            dispIntfSpec->maxHoriRes = display->width;
            dispIntfSpec->maxVertRes = display->height;
            dispIntfSpec->maxRefreshRate = display->refresh_rate;
        } else {
            call.result = MTML_ERROR_INVALID_ARGUMENT;
        }
    }
    return call_leave(&call);
}

MtmlReturn mtmlDeviceCountGpuCores(const MtmlDevice *device, unsigned int *numCores)
{ SIM_GIVES(device, mtmlDeviceCountGpuCores, device, numCores, call.device->gpu_cores) }

MtmlReturn mtmlDeviceReset(const MtmlDevice *device)
{
    static const char after_reset[] = "the handle is dangling: its device was reset";
    static const char *const keys[] = {"resets", "ecc_corrected_volatile", "ecc_uncorrected_volatile", NULL};
    struct call call;

    if (call_enter_device(&call, FUNCTION_mtmlDeviceReset, device, true)) {
        struct device *card = call.device;

        if (card->role == ROLE_MPC_INSTANCE) {
            call.result = MTML_ERROR_NOT_SUPPORTED;
        } else {
            card->resets++;
            for (unsigned int error = 0; error < MTML_MEMORY_ERROR_TYPE_COUNT; error++)
                card->ecc_errors[error][MTML_VOLATILE_ECC] = 0;
            handle_kill_device(card, after_reset);
            for (unsigned int i = 0; i < card->instance_count; i++)
                handle_kill_device(card->instances[i], after_reset);
            for (unsigned int i = 0; i < card->virt_device_count; i++)
                handle_kill_device(card->virt_devices[i], after_reset);
            outside_tell(&card, 1, keys);
            call_event(&call, MTML_LOG_LEVEL_WARNING, "device %u was reset", card->number);
        }
    }
    return call_leave(&call);
}
