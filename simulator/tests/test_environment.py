"""Variables, mistakes in them and in profiles, faults, trace, hidden symbols, and values that move."""

import ast
import ctypes
import os
import threading
import time

import interface
import pytest
from interface import Session, integer, run_python, uint, uint64

INIT = "p = P(); print(L.mtmlLibraryInit(R(p)))"


def write_profile(path, *lines):
    path.write_text("\n".join(("[machine]", "library_version = 1.0-simulator") + lines) + "\n")
    return str(path)


# ==== What is wrong is told with its place ====


def refused(capfd, **variables):
    """What an init says, in one line, that finds a mistake in these variables."""
    for name in [name for name in os.environ if name.startswith("MTML_SIM_")]:
        del os.environ[name]
    os.environ.update(variables)
    assert interface.LIBRARY.mtmlSimReload() == 0
    capfd.readouterr()
    assert interface.reason("mtmlLibraryInit", ctypes.byref(ctypes.c_void_p())) == "INVALID_ARGUMENT"
    said = capfd.readouterr().err
    assert said.count("mtml simulator:") == 1
    return said


@pytest.mark.parametrize(
    "variable, value, told",
    [
        ("MTML_SIM_PROFILE", "s9000", "s9000"),
        ("MTML_SIM_PROFILE", "/nowhere/x.ini", "/nowhere/x.ini"),
        ("MTML_SIM_FAULTS", "mtmlGpuGetTemprature=UNKNOWN", "unknown function"),
        ("MTML_SIM_FAULTS", "mtmlGpuGetTemperature=DRIVER_FAIL", "unknown return code"),
        ("MTML_SIM_FAULTS", "mtmlGpuGetTemperature", "FUNCTION=CODE"),
        ("MTML_SIM_FAULTS", "mtmlGpuGetTemperature=UNKNOWN@", "number of calls"),
        ("MTML_SIM_FAULTS", "mtmlGpuGetTemperature=UNKNOWN@3y2", "FUNCTION=CODE"),
        ("MTML_SIM_FAULTS", "mtmlGpuGetTemperature=UNKNOWN@3x0", "FUNCTION=CODE"),
        ("MTML_SIM_FAULTS", "mtmlGpuGetTemperature=UNKNOWN,", "comma"),
        ("MTML_SIM_FAULTS", "mtmlErrorString=UNKNOWN", "mtmlErrorString"),
        ("MTML_SIM_FAULTS", "mtmlGpuGetTemperature=NULL", "hands out a handle"),
        ("MTML_SIM_LATENCY_NS", "fast", "MTML_SIM_LATENCY_NS"),
        ("MTML_SIM_LATENCY_NS", "-5", "MTML_SIM_LATENCY_NS"),
        ("MTML_SIM_TRACE", "/nowhere/trace", "MTML_SIM_TRACE"),
        ("MTML_SIM_LENIENT", "yes", "MTML_SIM_LENIENT"),
        ("MTML_SIM_FROZEN", "true", "MTML_SIM_FROZEN"),
        ("MTML_SIM_MUSA_VERSION", "4.3", "MTML_SIM_MUSA_VERSION"),
        ("MTML_SIM_FROZE", "1", "unknown variable"),
        ("MTML_SIM_SET", "0.gpu_temprature=1", "gpu_temprature: unknown key"),
        ("MTML_SIM_SET", "8.gpu_temperature=1", "no such device"),
        ("MTML_SIM_SET", "gpu_temperature=1", "DEVICE.KEY=VALUE"),
        ("MTML_SIM_SET", "0.gpu_temperature", "DEVICE.KEY=VALUE"),
    ],
)
def test_misspelt_variable(capfd, variable, value, told):
    assert told in refused(capfd, **{variable: value})


@pytest.mark.parametrize(
    "lines, line, told",
    [
        (("[device.0]", "gpu_temprature = 3"), 4, "[device.0] gpu_temprature: unknown key"),
        (("[device.0]", "gpu_temperature = warm"), 4, "gpu_temperature: not a number"),
        (("[device.0]", "gpu_clock = 4294967296"), 4, "gpu_clock: number too large"),
        (("[device.0]", "gpu_clock = -1"), 4, "gpu_clock"),
        (("[device.0]", "memory_type = HBM"), 4, "memory_type: not one of"),
        (("[device.0]", r"name = a\q"), 4, "name: unknown escape"),
        (("[device.0]", "name = " + "x" * 300), 4, "name: text too long"),
        (("[device.0]", "cpu_affinity = 3-1"), 4, "cpu_affinity"),
        (("[device.0]", "mtlink_peer = 1-2"), 4, "mtlink_peer: not of the form"),
        (("[device.0]", "mtlink_peer = 00000000000000000001.2"), 4, "mtlink_peer: not of the form"),
        (("[device.0]", "encoder_sessions = id=0 color=3"), 4, "encoder_sessions: a session has"),
        (("[device.0]", "unsupported = mtmlNothing"), 4, "unsupported: not a list of"),
        (("[device.0]", "lost = GONE"), 4, "lost: not of the form"),
        (("[device.0]", "visible = maybe"), 4, "visible: neither yes nor no"),
        (("[device.0]", "virt_types = x"), 4, "virt_types: no section"),
        (("[device.0]", "unterminated = gpu_clock"), 4, "unterminated"),
        (("[device.0]", "gpu_path = /dev/../../x"), 4, "gpu_path: a path below /dev has no parts"),
        (("[device.0]", "name = a", "name = b"), 5, "name: given twice"),
        (("[device.0]", "[device.0]"), 4, "is there twice"),
        (("[device.0]", "  name = a"), 4, "begins with a blank"),
        (("[device.0]", "nonsense"), 4, "neither [SECTION] nor KEY = VALUE"),
        (("[devices.0]",), 3, "unknown section [devices.0]"),
        (("[device.0",), 3, "a section is written as"),
        (("[device.x]",), 3, "unknown section"),
        (("[device.64]",), 3, "unknown section [device.64]"),
        (("[device.0]", "[device.0.instance.16]"), 4, "unknown section [device.0.instance.16]"),
        (("base = s9000",), 3, "[machine] base: no shipped profile is called that"),
        (("base = ./s80",), 3, "[machine] base: no shipped profile is called that"),
        (("base = s80-narrow-slot",), 3, "[machine] base: a base has no base itself"),
        (("base = s80", "[device.0]", "nme = a"), 5, "nme: unknown key"),
        (("base = s80", "[device.2]", "name = a"), None, "[device.1] is missing"),
        (("[virt_type.%s]" % (118 * "x"),), 3, "a section is written as [NAME]"),
        (("[device.0]", "mtlink_peer = 0.64"), 4, "mtlink_peer: not of the form"),
        (("missing = mtmlNothing",), 3, "[machine] missing"),
        (("faults = mtmlNothing=UNKNOWN",), 3, "[machine] faults: unknown function"),
        (("[device.1]",), None, "[device.0] is missing"),
        (("[device.0]", "mpc_mode = ENABLE"), None, "mpc_configuration"),
        (("[device.0]", "[device.0.virt.0]"), None, "virt_type"),
        (("[device.0]", "[device.0.virt.1]", "name = a"), 4, "[device.0.virt.1]: the profile"),
        (("[device.0]", "[device.0.instance.0]", "nme = a"), 5, "nme: unknown key"),
    ],
)
def test_mistake_in_profile(tmp_path, capfd, lines, line, told):
    path = write_profile(tmp_path / "bad.ini", *lines)
    said = refused(capfd, MTML_SIM_PROFILE=path)
    assert told in said
    assert (path if line is None else "%s:%d:" % (path, line)) in said


@pytest.mark.parametrize("key", ["gpu_path", "primary_path", "render_path"])
def test_paths_of_nodes(key):
    """A tree of the machine has them as files; elsewhere paths may be anything."""
    with Session("s80+frozen"):
        before = interface.sim_get(0, key)
        for path in ("/dev/../../x", "/dev//etc/x", "/dev/", "/dev/a/", "/dev/a/..", "/dev/./a", r"/dev/a\x00/../x"):
            assert interface.LIBRARY.mtmlSimSet(0, key.encode(), path.encode()) == -1, path
            assert interface.sim_get(0, key) == before
        for path in ("/dev/...", "/dev/.a/..b", "/device/..", "../x", ""):
            interface.sim_set(0, key, path)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda path: os.mkfifo(str(path)), "there is no profile"),
        (lambda path: path.symlink_to("/dev/zero"), "there is no profile"),
        (lambda path: path.write_text("#" * (1 << 20) + "\n"), 'bad.ini" is larger than 1 MiB'),
        (lambda path: path.write_text("[machine]\n" + "".join("a%d=1\n" % n for n in range(100000))), "too many lines"),
        (lambda path: path.write_text("".join("[mpc_profile.%d]\n" % n for n in range(50000))), "too many lines"),
    ],
)
def test_profile_of_anybodys(tmp_path, make, said):
    """Whatever it is, it costs little to refuse it."""
    make(tmp_path / "bad.ini")
    begin = time.process_time()
    os.environ["MTML_SIM_PROFILE"] = str(tmp_path / "bad.ini")
    assert interface.LIBRARY.mtmlSimLoad() == -1
    assert "bad.ini" in interface.message() and said in interface.message()
    assert time.process_time() - begin < (50 if "sanitize" in interface.BUILD else 5)


def test_profile_with_a_byte_order_mark(tmp_path):
    """As editors on Windows write it."""
    (tmp_path / "good.ini").write_text("[machine]\nbase = s80\n", encoding="utf-8-sig")
    with Session(str(tmp_path / "good.ini")):
        assert interface.sim_get(0, "name") == "MTT S80"


def test_last_elements():
    """64 of them, of which one stands for all that follow in a list that repeats its last."""
    with Session("s5000x8+frozen"):
        for key, last, value in (("mtlink_peer", 63, "1.0"), ("mtlink_state", 62, "DOWN")):
            for index, result in ((last + 1, -1), (last, 0)):
                name = ("%s.%d" % (key, index)).encode()
                assert interface.LIBRARY.mtmlSimSet(0, name, value.encode()) == result
            assert interface.sim_get(0, "%s.%d" % (key, last)) == value
        assert interface.sim_get(0, "mtlink_state.63") == "UP"


def test_no_environment_at_all():
    assert run_python("ctypes.CDLL(None).clearenv()\n" + INIT).stdout == "0\n"


def test_base(tmp_path):
    """What a profile says of all cards is more than what its base says of one, and a variable more than either."""
    lines = ["base = s5000x8", "[device]", "gpu_clock = 7", "name = all", "[device.2]", "name = two", "[device.8]"]
    path = tmp_path / "mine.ini"
    path.write_text("\n".join(["[machine]"] + lines))
    with Session(str(path), MTML_SIM_SET="*.gpu_clock=8;2.gpu_max_clock=9"):
        assert interface.sim_get(interface.MACHINE, "library_version") == "2.2.0-simulator"
        assert [interface.sim_get(card, "name") for card in range(9)] == ["all"] * 2 + ["two"] + ["all"] * 6
        assert {interface.sim_get(card, "gpu_clock") for card in range(9)} == {"8"}
        assert [interface.sim_get(2, key) for key in ("pci_bus", "gpu_max_clock")] == ["76", "9"]
        interface.sim_set(2, "name", "set")
        assert interface.LIBRARY.mtmlSimUnset(2, b"name") == 0 and interface.sim_get(2, "name") == "two"


def test_version_must_be_honest(tmp_path, capfd):
    path = tmp_path / "liar.ini"
    path.write_text("[machine]\nlibrary_version = 2.2.0\n")
    assert "%s:2: [machine] library_version" % path in refused(capfd, MTML_SIM_PROFILE=str(path))


def test_nothing_is_said_before_init():
    assert run_python("", MTML_SIM_PROFILE="s9000").stderr == ""


def test_mistake_can_be_mended_in_the_same_process():
    with pytest.raises(interface.Failure):
        with Session("s9000"):
            pass
    with Session("s80") as session:
        assert session.count() == 1


def test_default_profile():
    done = run_python(INIT + "; n = ctypes.c_uint(); L.mtmlLibraryCountDevice(p, R(n)); print(n.value)")
    assert done.stdout == "0\n8\n"


def test_reload_forgets_what_was_set():
    with Session("s80+frozen"):
        interface.sim_set(0, "gpu_clock", 999)
        assert interface.LIBRARY.mtmlSimReload() == -1
    assert interface.LIBRARY.mtmlSimReload() == 0
    with Session("s80+frozen", keep=True) as session:
        assert uint("mtmlGpuGetClock", session.gpu()) == 1620


def test_profile_by_path_is_read_again_when_it_changes(tmp_path):
    path = write_profile(tmp_path / "own.ini", "[device.0]", "gpu_temperature = 11")
    with Session(path) as session:
        assert integer("mtmlGpuGetTemperature", session.gpu()) in range(0, 40)
    write_profile(tmp_path / "own.ini", "frozen = yes", "[device.0]", "gpu_temperature = 77", "[device.1]")
    with Session(path, keep=True) as session:
        assert session.count() == 2
        assert integer("mtmlGpuGetTemperature", session.gpu()) == 77


def test_profiles_are_closed(tmp_path):
    """Also what can be opened but not read, as a folder can."""
    before = len(os.listdir("/proc/self/fd"))
    for profile, code in ((str(tmp_path), "INVALID_ARGUMENT"), ("s80", "SUCCESS"), ("nowhere", "INVALID_ARGUMENT")) * 5:
        os.environ["MTML_SIM_PROFILE"] = profile
        slot = ctypes.c_void_p()
        assert interface.reason("mtmlLibraryInit", ctypes.byref(slot)) == code
        if slot:
            interface.call("mtmlLibraryShutDown", slot)
    assert len(os.listdir("/proc/self/fd")) == before


def test_profile_by_the_bare_name_of_a_file(tmp_path, monkeypatch):
    write_profile(tmp_path / "mine", "frozen = yes", "[device.0]", "gpu_temperature = 77")
    monkeypatch.chdir(tmp_path)
    with Session("mine") as session:
        assert integer("mtmlGpuGetTemperature", session.gpu()) == 77


def test_settings():
    settings = "0.gpu_temperature=-7; *.power_usage=123000;machine.driver_version=9.9 ; 0.fan_speed.1=111"
    with Session("s80+frozen", MTML_SIM_SET=settings) as session:
        assert integer("mtmlGpuGetTemperature", session.gpu()) == -7
        assert uint("mtmlDeviceGetPowerUsage", session.device()) == 123000
        assert interface.text("mtmlSystemGetDriverVersion", session.system()) == b"9.9"
        assert uint("mtmlDeviceGetFanSpeed", session.device(), 1) == 111
    with Session("s3000-mpc+frozen", MTML_SIM_SET="0.instance.1.gpu_temperature=3") as session:
        assert [integer("mtmlGpuGetTemperature", session.gpu(index)) for index in range(5)] == [58, 58, 3, 58, 44]


# ==== State lasts as the machine does ====


def test_machine_keeps_its_state_over_shutdowns_until_the_profile_changes():
    with Session("s80+frozen"):
        interface.sim_set(0, "gpu_clock", 999)
    with Session("s80+frozen", keep=True) as session:
        assert uint("mtmlGpuGetClock", session.gpu()) == 999
    with Session("s3000x2+frozen", keep=True):
        pass
    with Session("s80+frozen", keep=True) as session:
        assert uint("mtmlGpuGetClock", session.gpu()) == 1620


# ==== Faults ====


def fails(name, handle, times):
    value = ctypes.c_int()
    return [interface.reason(name, handle, ctypes.byref(value)) for _ in range(times)]


def test_fault_after_and_times():
    with Session(MTML_SIM_FAULTS="mtmlGpuGetTemperature=DRIVER_FAILURE@3x2") as session:
        reasons = fails("mtmlGpuGetTemperature", session.gpu(), 8)
        assert reasons == ["SUCCESS"] * 3 + ["DRIVER_FAILURE"] * 2 + ["SUCCESS"] * 3


def test_fault_after_for_ever_and_from_the_start():
    faults = "mtmlGpuGetTemperature=TIMEOUT@2, mtmlGpuGetClock=NO_PERMISSION"
    with Session(MTML_SIM_FAULTS=faults) as session:
        assert fails("mtmlGpuGetTemperature", session.gpu(), 5) == ["SUCCESS"] * 2 + ["TIMEOUT"] * 3
        assert fails("mtmlGpuGetClock", session.gpu(), 2) == ["NO_PERMISSION"] * 2
        assert fails("mtmlGpuGetMaxClock", session.gpu(), 2) == ["SUCCESS"] * 2


def test_fault_for_all_functions():
    with Session() as session:
        gpu = session.gpu()
        assert interface.LIBRARY.mtmlSimSetFaults(b"*=RESOURCE_IS_BUSY@1x2") == 0
        reasons = fails("mtmlGpuGetClock", gpu, 1) + fails("mtmlGpuGetTemperature", gpu, 3)
        assert reasons == ["SUCCESS", "RESOURCE_IS_BUSY", "RESOURCE_IS_BUSY", "SUCCESS"]


def test_fault_with_a_code_unknown_to_the_header():
    with Session(MTML_SIM_FAULTS="mtmlGpuGetClock=12345") as session:
        assert fails("mtmlGpuGetClock", session.gpu(), 1) == [12345]


def test_fault_at_init():
    done = run_python(INIT + "\n" + INIT, MTML_SIM_FAULTS="mtmlLibraryInit=DRIVER_NOT_LOADED@0x1")
    assert done.stdout == "1\n0\n"


def test_countdown_goes_on_over_shutdowns():
    faults = "mtmlGpuGetClock=UNKNOWN@2x1"
    with Session(MTML_SIM_FAULTS=faults) as session:
        assert fails("mtmlGpuGetClock", session.gpu(), 2) == ["SUCCESS"] * 2
        interface.call("mtmlLibraryShutDown", session.library)
        session.library = interface.pointer("mtmlLibraryInit")
        assert fails("mtmlGpuGetClock", session.gpu(), 2) == ["UNKNOWN", "SUCCESS"]


def test_bad_faults_at_run_time_change_nothing():
    with Session() as session:
        assert interface.LIBRARY.mtmlSimSetFaults(b"mtmlGpuGetClock=UNKNOWN") == 0
        assert interface.LIBRARY.mtmlSimSetFaults(b"mtmlGpuGetClok=UNKNOWN") == -1
        assert fails("mtmlGpuGetClock", session.gpu(), 1) == ["UNKNOWN"]
        assert interface.LIBRARY.mtmlSimSetFaults(None) == 0
        assert fails("mtmlGpuGetClock", session.gpu(), 1) == ["SUCCESS"]


def test_faults_of_a_profile(tmp_path):
    path = write_profile(tmp_path / "f.ini", "faults = mtmlGpuGetClock=UNKNOWN@1x1", "[device.0]")
    with Session(path) as session:
        assert fails("mtmlGpuGetClock", session.gpu(), 3) == ["SUCCESS", "UNKNOWN", "SUCCESS"]


def test_faults_as_a_key():
    with Session() as session:
        gpu = session.gpu()
        interface.sim_set(interface.MACHINE, "faults", "mtmlGpuGetClock=UNKNOWN@1x1, mtmlGpuGetMaxClock=TIMEOUT")
        assert fails("mtmlGpuGetClock", gpu, 3) == ["SUCCESS", "UNKNOWN", "SUCCESS"]
        assert interface.LIBRARY.mtmlSimSet(interface.MACHINE, b"faults", b"mtmlGpuGetClok=UNKNOWN") == -1
        assert fails("mtmlGpuGetMaxClock", gpu, 1) == ["TIMEOUT"]
        assert interface.sim_get(interface.MACHINE, "faults").endswith("mtmlGpuGetMaxClock=TIMEOUT")
        interface.sim_set(interface.MACHINE, "faults", "")
        assert fails("mtmlGpuGetMaxClock", gpu, 1) == ["SUCCESS"]


def handle_functions():
    """The functions whose last argument receives handles, by the recorded interface."""
    return sorted(
        name
        for name, function in interface.FUNCTIONS.items()
        if function["params"] and function["params"][-1]["ctype"].count("*") == 2
    )


@pytest.mark.parametrize("name", handle_functions())
def test_success_with_a_null_handle(name):
    """The call succeeds, each handle that it gives is NULL, and the next call is as ever."""
    profiles = {"Mpc": "s3000-mpc", "Virt": "s3000-vgpu-host"}
    profile = next((profile for part, profile in profiles.items() if part in name), "s5000x8")
    with Session(profile + "+frozen") as session:
        first, second = session.device(0), session.device(1)
        uuid = interface.text("mtmlDeviceGetUUID", first)
        if "VirtDevice" in name:
            uuid = interface.sim_get(interface.virt_number(0, 0), "uuid").encode()
        arguments = {
            "mtmlLibraryInit": (),
            "mtmlLibraryInitSystem": (session.library,),
            "mtmlLibraryInitDeviceByIndex": (session.library, 0),
            "mtmlLibraryInitDeviceByUuid": (session.library, uuid),
            "mtmlLibraryInitDeviceByPciSbdf": (session.library, interface.sim_get(0, "pci_sbdf").encode()),
            "mtmlDeviceInitVirtDevice": (first, uuid),
            "mtmlDeviceGetDeviceByTopologyLevel": (first, 4, 3),
            "mtmlDeviceGetMpcInstancesByProfileId": (first, 2, 2),
            "mtmlDeviceGetMpcInstances": (first, 3),
            "mtmlDeviceGetMpcInstanceByIndex": (first, 1),
            "mtmlDeviceGetMpcParentDevice": (second,),
            "mtmlDeviceGetMtLinkRemoteDevice": (first, 0),
            "mtmlDeviceGetMtLinkShortestPaths": (first, second, 1, 2),
        }.get(name, (first,))
        references, handles = interface.LIBRARY.mtmlSimGetLibraryReferences(), interface.LIBRARY.mtmlSimGetHandleCount()
        assert interface.LIBRARY.mtmlSimSetFaults(("%s=NULL@0x1" % name).encode()) == 0
        slots = (ctypes.c_void_p * 3)(7, 7, 7)
        assert interface.reason(name, *arguments, slots) == "SUCCESS"
        assert slots[0] is None and set(slots) <= {None, 7}
        assert interface.LIBRARY.mtmlSimGetLibraryReferences() == references
        assert interface.reason(name, *arguments, slots) == "SUCCESS"
        assert slots[0]
        assert interface.LIBRARY.mtmlSimGetHandleCount() >= handles
        if name == "mtmlLibraryInit":
            interface.call("mtmlLibraryShutDown", ctypes.c_void_p(slots[0]))


def test_success_with_null_for_all_functions():
    with Session() as session:
        device, gpu = session.device(), session.gpu()
        assert interface.LIBRARY.mtmlSimSetFaults(b"*=NULL") == 0
        assert fails("mtmlGpuGetClock", gpu, 1) == ["SUCCESS"]
        assert interface.pointer("mtmlDeviceInitGpu", device).value is None


def test_device_lost_in_the_middle():
    with Session() as session:
        gpus = [session.gpu(index) for index in range(8)]
        device, memory = session.device(5), session.memory(5)
        interface.sim_set(5, "lost", "UNKNOWN")
        for index, gpu in enumerate(gpus):
            assert fails("mtmlGpuGetTemperature", gpu, 2) == ["UNKNOWN" if index == 5 else "SUCCESS"] * 2
        assert fails("mtmlMemoryGetClock", memory, 1) == ["UNKNOWN"]
        assert fails("mtmlDeviceGetIndex", device, 1) == ["UNKNOWN"]
        assert fails("mtmlDeviceInitVpu", device, 1) == ["UNKNOWN"]
        assert (
            interface.reason("mtmlLibraryInitDeviceByIndex", session.library, 5, ctypes.byref(ctypes.c_void_p()))
            == "UNKNOWN"
        )
        assert session.count() == 8
        interface.sim_set(5, "lost", "OK")
        assert fails("mtmlGpuGetTemperature", gpus[5], 1) == ["SUCCESS"]


@pytest.mark.parametrize(
    "profile, lost, index, other",
    [("s4000x8", "2", 2, 3), ("s3000-mpc", "0", 1, 4), ("s3000-mpc", "0.instance.0", 1, 2)],
)
def test_device_lost_after_calls(profile, lost, index, other):
    """Calls on an instance are calls on its card."""
    with Session(profile + "+frozen", MTML_SIM_SET=lost + ".lost=DRIVER_FAILURE@4") as session:
        gpu = session.gpu(index)  # two calls on the device
        assert fails("mtmlGpuGetClock", gpu, 4) == ["SUCCESS"] * 2 + ["DRIVER_FAILURE"] * 2
        assert fails("mtmlGpuGetClock", session.gpu(other), 1) == ["SUCCESS"]


def test_instance_lost_alone():
    with Session("s3000-mpc+frozen") as session:
        gpus = [session.gpu(index) for index in range(session.count())]
        interface.sim_set(interface.instance_number(0, 1), "lost", "TIMEOUT")
        found = [fails("mtmlGpuGetTemperature", gpu, 1) for gpu in gpus]
        assert found.count(["TIMEOUT"]) == 1 and found.count(["SUCCESS"]) == len(gpus) - 1
    with Session("s3000-mpc+frozen", MTML_SIM_SET="0.lost=TIMEOUT") as session:  # which its instances are with it
        interface.sim_set(0, "lost", "OK")
        assert fails("mtmlGpuGetTemperature", session.gpu(1), 1) == ["SUCCESS"]


def test_reinit_refused(tmp_path):
    path = write_profile(tmp_path / "once.ini", "reinit = DRIVER_FAILURE", "[device.0]")
    with Session(path):
        interface.call("mtmlLibraryShutDown", interface.pointer("mtmlLibraryInit"))
    done = run_python(INIT + "\nL.mtmlLibraryShutDown(p)\n" + INIT + "\n" + INIT, MTML_SIM_PROFILE=path)
    assert done.stdout == "0\n2\n2\n"


# ==== Latency and trace ====


def shortest_call(session):
    """The least that one of fifty calls takes, in seconds: on a busy machine some take long whatever is set."""

    def took(gpu=session.gpu()):
        before = time.monotonic()
        fails("mtmlGpuGetClock", gpu, 1)
        return time.monotonic() - before

    return min(took() for _ in range(50))


def test_latency(tmp_path):
    """By the variable, by a key, and by the profile, which the variable overrides."""
    with Session(MTML_SIM_LATENCY_NS="4000000") as session:
        assert shortest_call(session) >= 0.004
        before = time.monotonic()
        interface.LIBRARY.mtmlErrorString(0)
        assert time.monotonic() - before >= 0.004
        interface.sim_set(interface.MACHINE, "latency_ns", 0)
        assert shortest_call(session) < 0.004
        interface.sim_set(interface.MACHINE, "latency_ns", 8000000)
        assert shortest_call(session) >= 0.008
    path = write_profile(tmp_path / "slow.ini", "latency_ns = 4000000", "[device.0]")
    for variables, slow in (({}, True), ({"MTML_SIM_LATENCY_NS": "1000"}, False)):
        with Session(path, **variables) as session:
            assert (shortest_call(session) >= 0.004) is slow


def test_trace(tmp_path):
    path = tmp_path / "trace"
    with Session(MTML_SIM_TRACE=str(path)) as session:
        fails("mtmlGpuGetClock", session.gpu(2), 2)
    assert path.read_text().split() == [
        "mtmlLibraryInit",
        "mtmlLibraryInitDeviceByIndex",
        "mtmlDeviceInitGpu",
        "mtmlGpuGetClock",
        "mtmlGpuGetClock",
        "mtmlLibraryShutDown",
    ]
    with Session() as session:
        assert session.count() == 8
    assert len(path.read_text().split()) == 6


def test_trace_of_threads_and_forks(tmp_path):
    path = tmp_path / "trace"
    with Session(MTML_SIM_TRACE=str(path)) as session:
        gpu = session.gpu()
        workers = [threading.Thread(target=fails, args=("mtmlGpuGetTemperature", gpu, 500)) for _ in range(4)]
        for worker in workers:
            worker.start()
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                fails("mtmlGpuGetClock", gpu, 200)
                os._exit(0)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 3
        for worker in workers:
            worker.join()
    names = path.read_text().split("\n")[:-1]
    assert set(names) <= set(interface.FUNCTIONS)
    assert names.count("mtmlGpuGetTemperature") == 2000
    assert names.count("mtmlGpuGetClock") == 600


def test_trace_of_two_programs(tmp_path):
    """Neither writes over what the other has written."""
    path = tmp_path / "trace"
    code = INIT + "\nfor _ in range(1000): L.mtmlLibraryInit(R(p))"
    threads = [
        threading.Thread(target=run_python, args=(code,), kwargs={"MTML_SIM_TRACE": str(path)}) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "mtmlLibraryInit\n" * 2002


def test_call_counts():
    with Session() as session:
        gpu = session.gpu()
        interface.LIBRARY.mtmlSimResetCallCounts()
        fails("mtmlGpuGetClock", gpu, 3)
        fails("mtmlGpuGetTemperature", gpu, 2)
        count = interface.LIBRARY.mtmlSimGetCallCount
        assert (count(b"mtmlGpuGetClock"), count(b"mtmlGpuGetTemperature"), count(b"mtmlGpuGetMaxClock")) == (3, 2, 0)
        assert count(None) == 5
        assert count(b"mtmlGpuGetClok") == -1


# ==== Symbols that are missing ====


def test_missing_symbols():
    everything = set(interface.API["functions"])
    code = "print([name for name in %r if hasattr(L, name)])" % (sorted(everything),)
    beyond = len(interface.BEYOND)
    for profile, count in (("old-library", 12 + beyond), ("header-only", beyond), ("s80", 0)):
        missing = interface.missing_functions(profile)
        assert len(missing) == count
        done = run_python(code, MTML_SIM_PROFILE=profile)
        assert ast.literal_eval(done.stdout) == sorted(everything - missing)


def test_missing_symbols_come_and_go():
    def has(name):
        try:
            interface.load()[name]
        except AttributeError:
            return False
        return True

    with Session("old-library"):
        assert not has("mtmlDeviceReset")
        assert has("mtmlDeviceGetName")
        interface.sim_set(interface.MACHINE, "missing", "mtmlDeviceGetName")
        assert has("mtmlDeviceReset")
        assert not has("mtmlDeviceGetName")
    with Session("s80"):
        assert has("mtmlDeviceReset")
        assert has("mtmlDeviceGetName")


def test_a_program_linked_against_a_missing_symbol_is_not_hurt():
    """A pointer taken before still works, as in a process that goes through several profiles."""
    count_cores = interface.LIBRARY.mtmlDeviceCountGpuCores
    with Session("old-library") as session:
        cores = ctypes.c_uint()
        assert count_cores(session.device(), ctypes.byref(cores)) == 0
        assert cores.value == 8


# ==== Values that move, and values that do not ====


def reading(session):
    result = []
    for index in range(session.count()):
        gpu, memory = session.gpu(index), session.memory(index)
        result += [
            uint("mtmlGpuGetUtilization", gpu),
            integer("mtmlGpuGetTemperature", gpu),
            uint("mtmlGpuGetClock", gpu),
            uint("mtmlDeviceGetPowerUsage", session.device(index)),
            uint64("mtmlMemoryGetUsed", memory),
            uint("mtmlMemoryGetUtilization", memory),
        ]
    return result


@pytest.mark.parametrize(
    "profile, variables",
    [
        ("s4000x8+frozen", {}),
        ("s4000x8", {"MTML_SIM_FROZEN": "1"}),
        ("s4000x8", {"MTML_SIM_SET": "machine.frozen=yes"}),
    ],
)
def test_frozen(profile, variables):
    with Session(profile, **variables) as session:
        first = reading(session)
        time.sleep(0.05)
        assert reading(session) == first
        assert first[0] == int(interface.sim_get(0, "gpu_utilization"))


def test_values_move_within_their_limits():
    with Session("s5000x8") as session:
        for index in range(8):
            limits = {key: int(interface.sim_get(index, key)) for key in ("gpu_max_clock", "memory_total")}
            power = int(interface.sim_get(index, "default_power_limit"))
            assert 0 <= uint("mtmlGpuGetUtilization", session.gpu(index)) <= 100
            assert 0 < uint("mtmlGpuGetClock", session.gpu(index)) <= limits["gpu_max_clock"]
            assert 0 < uint("mtmlDeviceGetPowerUsage", session.device(index)) <= power
            assert 0 <= uint64("mtmlMemoryGetUsed", session.memory(index)) <= limits["memory_total"]
        first = reading(session)
        for _ in range(200):
            time.sleep(0.01)
            if reading(session) != first:
                break
        assert reading(session) != first


def test_instances_move_by_themselves():
    """Not as their card, which is read at the same moment."""
    with Session("s3000-mpc", MTML_SIM_SET="0.gpu_clock=1000;0.gpu_max_clock=9000") as session:
        gpus = [session.gpu(index) for index in range(4)]
        assert len({uint("mtmlGpuGetClock", gpu) for gpu in gpus}) > 1


def test_what_moves_has_limits_of_its_own(tmp_path):
    """On many cards, of which some are above the middle of their movement at any time."""
    lines = ["[device]", "gpu_clock = 2000", "memory_clock = 1000", "vpu_clock = 500"]
    lines += ["gpu_max_clock = 2001", "memory_max_clock = 1001", "vpu_max_clock = 501"]
    lines += ["power_usage = 90000", "default_power_limit = 90001"]
    lines += ["gpu_temperature = 89", "memory_temperature = 89", "shutdown_temperature = 90"]
    lines += ["gpu_utilization = 0", "fan_speed = 0", "memory_total = 1000000", "memory_used = 999999"]
    path = write_profile(tmp_path / "many.ini", *(lines + ["[device.%d]" % card for card in range(64)]))
    with Session(path) as session:
        for name, part, limit in (("Gpu", "gpu", 2001), ("Memory", "memory", 1001), ("Vpu", "vpu", 501)):
            clocks = [uint("mtml%sGetClock" % name, getattr(session, part)(card)) for card in range(64)]
            assert max(clocks) == limit and min(clocks) < limit - 1
        power = [uint("mtmlDeviceGetPowerUsage", session.device(card)) for card in range(64)]
        assert max(power) == 90001 and min(power) < 90000
        for name, part in (("mtmlGpuGetTemperature", session.gpu), ("mtmlMemoryGetTemperature", session.memory)):
            temperatures = [integer(name, part(card)) for card in range(64)]
            assert max(temperatures) == 89 and min(temperatures) < 89
        used = [uint64("mtmlMemoryGetUsed", session.memory(card)) for card in range(64)]
        assert max(used) == 1000000 and min(used) < 999999
        for card in range(64):  # what is idle, or stands still, remains so
            assert uint("mtmlGpuGetUtilization", session.gpu(card)) == 0
            assert uint("mtmlDeviceGetFanSpeed", session.device(card), 0) == 0


def test_implausible_values_do_not_move():
    with Session("s5000x8") as session:
        for key, value in (("gpu_utilization", 4000000000), ("gpu_temperature", -40), ("power_usage", 4294967295)):
            interface.sim_set(1, key, value)
        assert uint("mtmlGpuGetUtilization", session.gpu(1)) == 4000000000
        assert integer("mtmlGpuGetTemperature", session.gpu(1)) == -40
        assert uint("mtmlDeviceGetPowerUsage", session.device(1)) == 4294967295
