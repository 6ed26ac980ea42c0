"""A library that says success and hands out NULL: an error, never a handle to nowhere, and nothing of it is kept."""

import pytest
import simulated
from native_calls import CALLS, FUNCTIONS, Scene

import pymtml

# Native function: (machine, index of the device, call that it answers through pymtml).
GIVERS = {
    "mtmlLibraryInitSystem": ("s80", 0, lambda m: m.system),
    "mtmlLibraryInitDeviceByIndex": ("s80", 0, lambda m: pymtml.mtmlLibraryInitDeviceByIndex(0)),
    "mtmlLibraryInitDeviceByUuid": ("s80", 0, lambda m: pymtml.mtmlLibraryInitDeviceByUuid(m.keys["uuid"])),
    "mtmlLibraryInitDeviceByPciSbdf": ("s80", 0, lambda m: pymtml.mtmlLibraryInitDeviceByPciSbdf(m.keys["pci_sbdf"])),
    "mtmlDeviceInitGpu": ("s80", 0, lambda m: m.gpu),
    "mtmlDeviceInitMemory": ("s80", 0, lambda m: m.memory),
    "mtmlDeviceInitVpu": ("s80", 0, lambda m: m.vpu),
    "mtmlDeviceInitVirtDevice": ("s3000-vgpu-host", 0, lambda m: m.virt),
    "mtmlDeviceGetMpcParentDevice": ("s3000-mpc", 1, lambda m: pymtml.mtmlDeviceGetMpcParentDevice(m.device)),
    "mtmlDeviceGetMpcInstanceByIndex": ("s3000-mpc", 0, lambda m: pymtml.mtmlDeviceGetMpcInstanceByIndex(m.device, 0)),
    "mtmlDeviceGetMtLinkRemoteDevice": ("s5000x8", 0, lambda m: pymtml.mtmlDeviceGetMtLinkRemoteDevice(m.device, 0)),
}


@pytest.mark.parametrize("name", sorted(GIVERS))
def test_native(name):
    machine, index, call = GIVERS[name]
    with Scene(machine, index) as scene:
        simulated.set_faults(name + "=NULL")
        for _ in range(2):
            with pytest.raises(pymtml.MTMLError_Unknown) as caught:
                call(scene)
            assert caught.value.value == pymtml.MTML_ERROR_UNKNOWN
        simulated.set_faults("")
        handle = call(scene)
        assert handle and call(scene) is handle


LISTS = (
    "mtmlDeviceGetDeviceByTopologyLevel",
    "mtmlDeviceGetMpcInstances",
    "mtmlDeviceGetMpcInstancesByProfileId",
    "mtmlDeviceGetMtLinkShortestPaths",
)


@pytest.mark.parametrize("name", LISTS)
def test_list(name):
    """Entries that the library left empty are left out; no NULL is among the handles."""
    machine, index = CALLS[name].machines[-1]
    with Scene(machine, index) as scene:

        def call(scene):
            return getattr(pymtml, name)(*CALLS[name].arguments(scene))

        expected = call(scene)
        assert expected
        simulated.set_faults(name + "=NULL")
        try:
            empty = call(scene)
        except pymtml.MTMLError_Unknown:
            empty = []
        assert not any(empty), empty
        simulated.set_faults("")
        assert call(scene) == expected


def test_every_function_that_hands_out_handles_is_here():
    given = {
        name
        for name, function in FUNCTIONS.items()
        if any("**" in parameter["ctype"] and parameter["dir"].startswith("out") for parameter in function["params"])
    }
    assert set(GIVERS) | set(LISTS) | {"mtmlLibraryInit"} == given


def test_init():
    """Nobody got the library, so nothing is to be given back, and the next init finds it as it was."""
    for init, error in (
        (pymtml.mtmlLibraryInit, pymtml.MTMLError_Unknown),
        (pymtml.nvmlInit, pymtml.NVMLError_Unknown),
    ):
        with simulated.machine("s80", faults="mtmlLibraryInit=NULL@0x1"):
            with pytest.raises(error):
                init()
            assert (pymtml._nvmlLib_refcount, simulated.references()) == (0, 0)
            init()
            assert (pymtml._nvmlLib_refcount, simulated.references()) == (1, 1)
            pymtml.nvmlShutdown()
        assert simulated.references() == 0


FACADE = {
    "mtmlLibraryInitDeviceByIndex": ("s80", lambda: pymtml.nvmlDeviceGetHandleByIndex(0)),
    "mtmlLibraryInitDeviceByUuid": (
        "s80",
        lambda: pymtml.nvmlDeviceGetHandleByUUID(simulated.device_keys("s80", 0)["uuid"]),
    ),
    "mtmlLibraryInitDeviceByPciSbdf": (
        "s80",
        lambda: pymtml.nvmlDeviceGetHandleByPciBusId(simulated.device_keys("s80", 0)["pci_sbdf"]),
    ),
    "mtmlLibraryInitSystem": ("s80", lambda: pymtml.nvmlSystemGetDriverVersion()),
    "mtmlDeviceInitGpu": ("s80", lambda: pymtml.nvmlDeviceGetTemperature(pymtml.nvmlDeviceGetHandleByIndex(0), 0)),
    "mtmlDeviceInitMemory": ("s80", lambda: pymtml.nvmlDeviceGetMemoryInfo(pymtml.nvmlDeviceGetHandleByIndex(0)).used),
    "mtmlDeviceInitVpu": (
        "s80",
        lambda: pymtml.nvmlDeviceGetEncoderUtilization(pymtml.nvmlDeviceGetHandleByIndex(0)),
    ),
    "mtmlDeviceGetMpcInstanceByIndex": (
        "s3000-mpc",
        lambda: pymtml.nvmlDeviceGetMigDeviceHandleByIndex(pymtml.nvmlDeviceGetHandleByIndex(0), 0),
    ),
    "mtmlDeviceGetMtLinkRemoteDevice": (
        "s5000x8",
        lambda: pymtml.nvmlDeviceGetNvLinkRemotePciInfo(pymtml.nvmlDeviceGetHandleByIndex(0), 0).busId,
    ),
}


@pytest.mark.parametrize("name", sorted(FACADE))
def test_facade(name):
    machine, call = FACADE[name]
    with simulated.nvml(machine):
        simulated.set_faults(name + "=NULL")
        for _ in range(2):
            with pytest.raises(pymtml.NVMLError_Unknown):
                call()
        simulated.set_faults("")
        assert call() == call()
