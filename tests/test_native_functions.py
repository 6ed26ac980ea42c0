"""Every function of the C header through pymtml: its result on each machine, and the exact error of each status."""

import inspect

import pytest
import simulated
from native_calls import CALLS, CHANGES, CODES, FREES, FUNCTIONS, HOST, LIFECYCLE, PARENT, Scene, plain

import pymtml

CLASS_OF_CODE = {
    "MTML_ERROR_" + word: getattr(pymtml, "MTMLError_" + "".join(part.capitalize() for part in word.split("_")))
    for word in (name[len("MTML_ERROR_") :] for name in CODES if name != "MTML_SUCCESS")
}


@pytest.fixture(autouse=True)
def silent_log():
    yield
    pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t())


def call(name, scene, keywords=False):
    """The function's answer; with arguments by the names that the header has for them, if asked for."""
    function, arguments = getattr(pymtml, name), CALLS[name].arguments(scene)
    if keywords:
        return function(**dict(zip(inspect.signature(function).parameters, arguments)))
    return function(*arguments)


def test_every_function_is_covered():
    uncovered = sorted(set(FUNCTIONS) - set(CALLS) - set(LIFECYCLE))
    assert not uncovered, "tests/native_calls.py does not say how to call %s" % ", ".join(uncovered)
    assert sorted(list(CALLS) + list(LIFECYCLE)) == sorted(FUNCTIONS)


@pytest.mark.parametrize("name", CALLS)
def test_result(name):
    """On each machine; by keywords too, and refused where the profile says so."""
    for machine, index in CALLS[name].machines:
        with Scene(machine, index) as scene:
            if not scene.supports(name):
                handle = "memory" if name.startswith("mtmlMemory") else "device"
                arguments = (getattr(scene, handle), scene.peer if "Layouts" in name or "Paths" in name else 0, 0, 1)
                parameters = len(inspect.signature(getattr(pymtml, name)).parameters)
                pytest.raises(pymtml.MTMLError_NotSupported, getattr(pymtml, name), *arguments[:parameters])
                continue
            for keywords in (False, True) if name not in CHANGES and name not in FREES else (False,):
                result = call(name, scene, keywords)
                if CALLS[name].effect is None:
                    assert plain(result) == plain(CALLS[name].expected(scene))
                else:
                    assert result is None and CALLS[name].effect(scene)


GIVERS = {  # of handles
    name
    for name, function in FUNCTIONS.items()
    if any("**" in parameter["ctype"] and parameter["dir"].startswith("out") for parameter in function["params"])
} - {"mtmlLibraryInit"}


@pytest.mark.parametrize("name", sorted(GIVERS))
def test_null_with_success(name):
    """An error, or entries left out of a list: never a handle to nowhere, and nothing of it is kept."""
    machine, index = CALLS[name].machines[-1]
    with Scene(machine, index) as scene:
        for _ in range(2):
            arguments = CALLS[name].arguments(scene)
            simulated.set_faults(name + "=NULL")
            try:
                assert getattr(pymtml, name)(*arguments) == []
            except pymtml.MTMLError_Unknown as error:
                assert error.value == pymtml.MTML_ERROR_UNKNOWN
            simulated.set_faults("")
        found = call(name, scene)
        assert found and found == call(name, scene) == CALLS[name].expected(scene)


@pytest.mark.parametrize("init", [pymtml.mtmlLibraryInit, pymtml.nvmlInit])
def test_null_for_the_library(init):
    """Nobody got the library, so nothing is to be given back, and the next init finds it as it was."""
    with simulated.machine("s80", faults="mtmlLibraryInit=NULL@0x1"):
        pytest.raises(pymtml.NVMLError_Unknown, init)
        assert simulated.state() == (0, 0)
        init()
        assert simulated.state() == (1, 1)
        pymtml.nvmlShutdown()
        assert simulated.references() == 0


@pytest.mark.parametrize("name", FREES)
def test_free_checks_the_handle_and_does_not_reach_c(name):
    machine, index = CALLS[name].machines[0]
    with Scene(machine, index) as scene:
        (handle,) = CALLS[name].arguments(scene)
        before = simulated.calls()
        for _ in range(3):
            assert getattr(pymtml, name)(handle) is None
        assert simulated.calls() == before
        pytest.raises(pymtml.MTMLError_InvalidArgument, getattr(pymtml, name), scene.library)
        assert pymtml.mtmlDeviceGetUUID(scene.device) == scene.keys["uuid"]
        assert CALLS[name].arguments(scene) == (handle,)
    pytest.raises(pymtml.MTMLError_Uninitialized, getattr(pymtml, name), handle)


CHILD_FUNCTIONS = [name for name in CALLS if name.startswith(("mtmlGpu", "mtmlMemory", "mtmlVpu"))]


@pytest.mark.parametrize("name", CHILD_FUNCTIONS)
def test_device_in_place_of_its_gpu_memory_or_vpu(name):
    machine, index = CALLS[name].machines[-1]
    kind = name[len("mtml") :].split("Get")[0].split("Set")[0].split("Clear")[0]
    with Scene(machine, index) as scene:
        device = scene.device
        simulated.reset_calls()
        for _ in range(3):
            result = getattr(pymtml, name)(device, *CALLS[name].arguments(scene)[1:])
        assert simulated.calls("mtmlDeviceInit" + kind) == 1
        if CALLS[name].effect is None:
            assert plain(result) == plain(CALLS[name].expected(scene))


# The count of these may be left out, be too large (only what there is comes back) or too small.
LISTS = {
    "mtmlDeviceGetSupportedVirtTypes": (HOST[0], ("device",), "INSUFFICIENT_SIZE"),
    "mtmlDeviceGetAvailVirtTypes": (HOST[0], ("device",), "INSUFFICIENT_SIZE"),
    "mtmlDeviceGetSupportedMpcProfiles": (PARENT[0], ("device",), "INSUFFICIENT_SIZE"),
    "mtmlDeviceGetSupportedMpcConfigurations": (PARENT[0], ("device",), "INSUFFICIENT_SIZE"),
    "mtmlDeviceGetMpcInstancesByProfileId": (PARENT[0], ("device", 2), "INSUFFICIENT_SIZE"),
    "mtmlDeviceGetMpcInstances": (PARENT[0], ("device",), "INSUFFICIENT_SIZE"),
    "mtmlDeviceGetDeviceByTopologyLevel": (("s5000x8", 0), ("device", 5), "INSUFFICIENT_SIZE"),
    "mtmlDeviceGetMtLinkLayouts": (("s5000x8", 0), ("device", "peer"), "INSUFFICIENT_SIZE"),
    "mtmlMemoryGetRetiredPages": (("s5000x8", 3), ("memory", 0), "INVALID_ARGUMENT"),
    "mtmlDeviceGetActiveVirtDeviceUuids": (HOST[0], ("device", 48), "INSUFFICIENT_SIZE"),
}


@pytest.mark.parametrize("name", sorted(LISTS))
def test_count_of_a_list(name):
    (machine, index), names, too_small = LISTS[name]
    function = getattr(pymtml, name)
    with Scene(machine, index) as scene:
        arguments = [getattr(scene, value) if isinstance(value, str) else value for value in names]
        everything = plain(function(*arguments))
        assert len(everything) > 1
        assert plain(function(*(arguments + [len(everything)]))) == everything
        assert plain(function(*(arguments + [len(everything) + 3]))) == everything
        assert plain(function(*arguments, **{list(inspect.signature(function).parameters)[-1]: None})) == everything
        pytest.raises(CLASS_OF_CODE["MTML_ERROR_" + too_small], function, *(arguments + [len(everything) - 1]))


@pytest.mark.parametrize("kind, capacity", [("Encoder", 48), ("Decoder", 96)])
def test_length_of_session_states(kind, capacity):
    function = getattr(pymtml, "mtmlVpuGet%sSessionStates" % kind)
    with Scene("s4000x8", 4) as scene:
        states = plain(function(scene.vpu))
        assert len(states) == capacity
        assert plain(function(scene.vpu, 3)) == states[:3]
        unknown = [{"sessionId": capacity + i, "state": pymtml.MTML_CODEC_SESSION_STATE_UNKNOWN} for i in range(2)]
        assert plain(function(scene.vpu, capacity + 2)) == states + unknown
        pytest.raises(pymtml.MTMLError_InsufficientSize, function, scene.vpu, 0)


def test_shortest_paths_over_other_devices():
    with Scene("s4000x8") as scene:
        for pair in ("1.0", "1.1"):  # the direct links of cards 0 and 1
            link = scene.keys["mtlink_peer"].replace(" ", "").split(",").index(pair)
            simulated.set_value(0, "mtlink_state", ", ".join("DOWN" if i <= link else "UP" for i in range(6)))
            simulated.set_value(1, "mtlink_state", ", ".join("DOWN" if i <= link else "UP" for i in range(6)))
        zero, one, two, three, four = [scene.at(i) for i in range(5)]
        paths = [[zero, two, one], [zero, three, one]]
        assert pymtml.mtmlDeviceCountMtLinkShortestPaths(zero, one) == (2, 3)
        assert pymtml.mtmlDeviceGetMtLinkShortestPaths(zero, one) == paths
        assert pymtml.mtmlDeviceGetMtLinkShortestPaths(zero, one, 2, 3) == paths
        assert pymtml.mtmlDeviceGetMtLinkShortestPaths(zero, one, 4, 5) == paths
        for size in ({"pathCount": 2}, {"pathLength": 3}, {"pathCount": None, "pathLength": None}):
            assert pymtml.mtmlDeviceGetMtLinkShortestPaths(zero, one, **size) == paths
        for size in ((1, 3), (2, 2)):
            pytest.raises(pymtml.MTMLError_InsufficientSize, pymtml.mtmlDeviceGetMtLinkShortestPaths, zero, one, *size)
        assert pymtml.mtmlDeviceCountMtLinkShortestPaths(zero, four) == (0, 0)
        assert pymtml.mtmlDeviceGetMtLinkShortestPaths(zero, four) == []
        simulated.set_faults("1.mtmlDeviceCountMtLinkShortestPaths=DRIVER_FAILURE")
        assert pymtml.mtmlDeviceGetMtLinkShortestPaths(zero, one) == paths  # counted from the local device
        pytest.raises(pymtml.MTMLError_DriverFailure, pymtml.mtmlDeviceGetMtLinkShortestPaths, one, zero)


NO_TERMINATOR = {
    "mtmlDeviceGetName": ("name", pymtml.MTML_DEVICE_NAME_BUFFER_SIZE),
    "mtmlDeviceGetUUID": ("uuid", pymtml.MTML_DEVICE_UUID_BUFFER_SIZE),
    "mtmlDeviceGetGpuPath": ("gpu_path", pymtml.MTML_DEVICE_PATH_BUFFER_SIZE),
    "mtmlDeviceGetPrimaryPath": ("primary_path", pymtml.MTML_DEVICE_PATH_BUFFER_SIZE),
    "mtmlDeviceGetRenderPath": ("render_path", pymtml.MTML_DEVICE_PATH_BUFFER_SIZE),
    "mtmlDeviceGetVbiosVersion": ("mtbios_version", pymtml.MTML_DEVICE_VBIOS_VERSION_BUFFER_SIZE),
    "mtmlDeviceGetMtBiosVersion": ("mtbios_version", pymtml.MTML_DEVICE_MTBIOS_VERSION_BUFFER_SIZE),
    "mtmlDeviceGetSerialNumber": ("serial_number", pymtml.MTML_DEVICE_SERIAL_NUMBER_BUFFER_SIZE),
    "mtmlMemoryGetVendor": ("memory_vendor", pymtml.MTML_MEMORY_VENDOR_BUFFER_SIZE),
    "mtmlDeviceGetPciInfo": ("pci_sbdf", pymtml.MTML_DEVICE_PCI_SBDF_BUFFER_SIZE),
    "mtmlDeviceGetPcieSlotInfo": ("slot_name", pymtml.MTML_DEVICE_SLOT_NAME_BUFFER_SIZE),
}


def text_of(result):
    """The text in a result that is a str or a struct with one text field."""
    if isinstance(result, str):
        return result
    (text,) = [value for value in plain(result).values() if isinstance(value, str)]
    return text


@pytest.mark.parametrize("name", sorted(NO_TERMINATOR))
def test_odd_texts(name):
    """One without terminator ends with its buffer; what is no UTF-8 is replaced."""
    key, size = NO_TERMINATOR[name]
    with Scene("s80") as scene:
        simulated.set_value(0, "unterminated", key)
        text = text_of(getattr(pymtml, name)(scene.device))
        assert len(text) == size and text.startswith(scene.keys[key])
    with Scene("s80") as scene:
        simulated.set_value(0, key, "a\\xff\\xc3b")
        assert text_of(getattr(pymtml, name)(scene.device)) == "a\ufffd\ufffdb"


def test_texts_of_others_that_are_not_utf_8():
    with Scene("s3000-vgpu-host") as scene:
        simulated.set_value(1 << 16, "uuid", "a\\xff\\xc3b")
        assert pymtml.mtmlDeviceGetActiveVirtDeviceUuids(scene.device)[0] == "a\ufffd\ufffdb"
    with Scene("s80"):
        simulated.set_value(simulated.MACHINE, "driver_version", "3.\\xe9")
        simulated.set_value(simulated.MACHINE, "library_version", "2.2.0-simulator\\x80")
        assert pymtml.mtmlSystemGetDriverVersion() == "3.\ufffd"
        assert pymtml.mtmlLibraryGetVersion() == "2.2.0-simulator\ufffd"


def test_what_is_alike_on_most_cards():
    """Reading and writing a peer's memory; a mode, and the one after a reboot."""
    with Scene("s5000x8") as scene:
        simulated.set_value(0, "p2p_write", "CHIPSET_NOT_SUPPORTED")
        ways = pymtml.MTML_P2P_CAPS_READ, pymtml.MTML_P2P_CAPS_WRITE
        answers = [pymtml.mtmlDeviceGetP2PStatus(scene.device, scene.peer, way) for way in ways]
        assert answers == [pymtml.MTML_P2P_STATUS_OK, pymtml.MTML_P2P_STATUS_CHIPSET_NOT_SUPPORTED]
        simulated.set_value(0, "ecc_pending_mode", "DISABLE")
        assert pymtml.mtmlMemoryGetEccMode(scene.memory) == (1, 0)


@pytest.mark.parametrize("value", [-40, 0, -(2**31), 2**31 - 1])
def test_signed_numbers(value):
    signed = {
        "gpu_temperature": lambda device: pymtml.mtmlGpuGetTemperature(device),
        "memory_temperature": lambda device: pymtml.mtmlMemoryGetTemperature(device),
        "shutdown_temperature": lambda device: pymtml.mtmlGpuGetTemperatureThreshold(device, 0),
        "slowdown_temperature": lambda device: pymtml.mtmlGpuGetTemperatureThreshold(device, 1),
        "enforced_power_limit": lambda device: pymtml.mtmlGpuGetEnforcedPowerLimit(device),
        "default_power_limit": lambda device: pymtml.mtmlGpuGetPowerManagementDefaultLimit(device),
        "gpu_voltage": lambda device: pymtml.mtmlGpuGetVoltage(device),
        "performance_state": lambda device: pymtml.mtmlDeviceGetPerformanceState(device),
    }
    with Scene("s80") as scene:
        for key, function in signed.items():
            simulated.set_value(0, key, value)
            assert (key, function(scene.device)) == (key, value)


@pytest.mark.parametrize("kind", ["Memory", "Cpu"])
def test_affinity_masks_use_whole_words(kind):
    function = getattr(pymtml, "mtmlDeviceGet%sAffinityWithinNode" % kind)
    with Scene("s80") as scene:
        simulated.set_value(0, kind.lower() + "_affinity", "0,33,63,64-66,130")
        words = [1 | 1 << 33 | 1 << 63, 7, 4, 0]
        for size in range(1, 5):
            assert function(scene.device, size) == words[:size]


def test_context_managers_hand_out_the_handles_that_the_device_has():
    with Scene("s80") as scene:
        for context, handle in (
            (pymtml.mtmlGpuContext, scene.gpu),
            (pymtml.mtmlMemoryContext, scene.memory),
            (pymtml.mtmlVpuContext, scene.vpu),
        ):
            with context(scene.device) as inner:
                assert inner is handle
            assert pymtml.mtmlGpuGetUtilization(scene.device) == scene.integer("gpu_utilization")
            with pytest.raises(KeyError):
                with context(scene.device):
                    raise KeyError
            with pytest.raises(pymtml.MTMLError_InvalidArgument):
                with context(None):
                    pass


def test_error_strings():
    for code, value in CODES.items():
        text = pymtml.mtmlErrorString(value)
        assert isinstance(text, str) and text
    assert pymtml.mtmlErrorString(pymtml.MTML_ERROR_TIMEOUT) == "Timeout"
    assert pymtml.mtmlErrorString(-1) == pymtml.mtmlErrorString(12345) == "Unknown error"


def test_log_file(tmp_path):
    configuration = pymtml.c_mtmlLogConfiguration_t()
    configuration.fileConfig.level = pymtml.MTML_LOG_LEVEL_INFO
    configuration.fileConfig.file = str(tmp_path / "mtml.log")
    pymtml.mtmlLogSetConfiguration(configuration)
    with Scene("s80"):
        pass
    assert "library initialized" in (tmp_path / "mtml.log").read_text()
    configuration.fileConfig.file = str(tmp_path / "none" / "mtml.log")
    pytest.raises(pymtml.MTMLError_NotSupported, pymtml.mtmlLogSetConfiguration, configuration)
    assert pymtml.mtmlLogGetConfiguration().filePath == str(tmp_path / "mtml.log")
