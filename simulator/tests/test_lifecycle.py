"""Reference counts, handles, misuse, MPC changes and resets, threads, forks, and the log."""

import ctypes
import os
import signal
import threading

import interface
import pytest
from interface import LOG_CALLBACK, STRUCTS, Failure, Session, integer, pointer, run_python, uint

LIBRARY = interface.LIBRARY


def references():
    return LIBRARY.mtmlSimGetLibraryReferences()


# ==== Counting ====


def test_each_init_gives_a_pointer_of_its_own():
    with Session() as session:
        second = pointer("mtmlLibraryInit")
        assert second.value != session.library.value
        assert references() == 2
        device = session.device(3)
        assert pointer("mtmlLibraryInitDeviceByIndex", second, 3).value == device.value
        interface.call("mtmlLibraryShutDown", session.library)
        assert references() == 1
        assert uint("mtmlDeviceGetIndex", device) == 3
        session.library = second
    assert references() == 0
    assert LIBRARY.mtmlSimGetHandleCount() == 0


def test_two_hundred_cycles_leave_nothing():
    for _ in range(200):
        with Session("s3000x2") as session:
            assert session.gpu(1).value and session.memory(1).value and session.vpu(0).value and session.system().value
    assert references() == 0
    assert LIBRARY.mtmlSimGetHandleCount() == 0


def test_same_resource_same_pointer():
    with Session("s3000-mpc") as session:
        device = session.device(2)
        assert session.device(2).value == device.value
        uuid = interface.text("mtmlDeviceGetUUID", device)
        assert pointer("mtmlLibraryInitDeviceByUuid", session.library, uuid).value == device.value
        assert pointer("mtmlDeviceGetMpcInstanceByIndex", session.device(0), 1).value == device.value
        assert session.gpu(2).value == session.gpu(2).value != session.memory(2).value
        assert session.system().value == session.system().value


def test_free_leaves_the_object_alone():
    with Session() as session:
        device, gpu, system = session.device(1), session.gpu(1), session.system()
        for _ in range(2):
            interface.call("mtmlDeviceFreeGpu", gpu)
            interface.call("mtmlDeviceFreeMemory", session.memory(1))
            interface.call("mtmlDeviceFreeVpu", session.vpu(1))
            interface.call("mtmlLibraryFreeDevice", device)
            interface.call("mtmlLibraryFreeSystem", system)
        assert integer("mtmlGpuGetTemperature", gpu) == int(interface.sim_get(1, "gpu_temperature"))
        assert uint("mtmlDeviceGetIndex", device) == 1


# ==== Finding devices ====


def test_lookup_by_pci_address():
    with Session("s4000x8") as session:
        for index in range(8):
            sbdf = interface.sim_get(index, "pci_sbdf").encode()
            for address in (sbdf, sbdf[4:]):
                found = pointer("mtmlLibraryInitDeviceByPciSbdf", session.library, address)
                assert found.value == session.device(index).value
        slot = ctypes.byref(ctypes.c_void_p())
        for sbdf, expected in (
            (b"00000000:ff:00.0", "NOT_FOUND"),
            (b"00000000:08:00.1", "NOT_FOUND"),
            (b"00000001:08:00.0", "NOT_FOUND"),
            (b"0000:ff:00.0", "NOT_FOUND"),
            (b"0001:08:00.0", "NOT_FOUND"),
            (b"0000:08:00.1", "NOT_FOUND"),
            (b"000:08:00.0", "INVALID_ARGUMENT"),
            (b"00000:08:00.0", "INVALID_ARGUMENT"),
            (b"08:00.0", "INVALID_ARGUMENT"),
            (b"00000000:2B:00.0", "INVALID_ARGUMENT"),
            (b"0000:2B:00.0", "INVALID_ARGUMENT"),
            (b"00000000:08:00", "INVALID_ARGUMENT"),
            (b"00000000:08:00.0 ", "INVALID_ARGUMENT"),
            (b"", "INVALID_ARGUMENT"),
        ):
            assert interface.reason("mtmlLibraryInitDeviceByPciSbdf", session.library, sbdf, slot) == expected, sbdf


def test_a_strict_library_takes_addresses_as_it_writes_them():
    with Session("s80", MTML_SIM_SET="machine.strict_pci_sbdf=yes") as session:
        assert pointer("mtmlLibraryInitDeviceByPciSbdf", session.library, b"00000000:01:00.0").value
        slot = ctypes.byref(ctypes.c_void_p())
        assert (
            interface.reason("mtmlLibraryInitDeviceByPciSbdf", session.library, b"0000:01:00.0", slot)
            == "INVALID_ARGUMENT"
        )


def test_lookup_by_uuid_and_index():
    with Session("s5000x8-container") as session:
        slot = ctypes.byref(ctypes.c_void_p())
        hidden = interface.sim_get(0, "uuid").encode()
        for uuid in (b"", b"GPU-1", hidden, hidden.upper()):
            assert interface.reason("mtmlLibraryInitDeviceByUuid", session.library, uuid, slot) == "NOT_FOUND"
        for index in (2, 4294967295):
            reason = interface.reason("mtmlLibraryInitDeviceByIndex", session.library, ctypes.c_uint(index), slot)
            assert reason == "NOT_FOUND"
        assert interface.text("mtmlDeviceGetUUID", session.device(1)).decode() == interface.sim_get(5, "uuid")


def test_device_that_hides_while_it_is_held():
    with Session("s4000x8+frozen") as session:
        device, gpu = session.device(3), session.gpu(3)
        interface.sim_set(3, "visible", "no")
        slot = ctypes.byref(ctypes.c_void_p())
        for function, key in (
            ("mtmlLibraryInitDeviceByUuid", "uuid"),
            ("mtmlLibraryInitDeviceByPciSbdf", "pci_sbdf"),
        ):
            wanted = interface.sim_get(3, key).encode()
            assert interface.reason(function, session.library, wanted, slot) == "NOT_FOUND"
        assert session.count() == 7
        assert uint("mtmlDeviceGetIndex", session.device(3)) == 3
        assert session.device(3).value != device.value
        # It has no place in the order, but its handle goes on.
        assert interface.reason("mtmlDeviceGetIndex", device, ctypes.byref(ctypes.c_uint())) == "NOT_SUPPORTED"
        assert uint("mtmlGpuGetClock", gpu) == int(interface.sim_get(3, "gpu_clock"))
        interface.sim_set(3, "visible", "yes")
        assert uint("mtmlDeviceGetIndex", device) == 3


# ==== Misuse names the call and the reason ====


def aborted(code, **variables):
    prelude = (
        "def handle(name, *a):\n h = P(); r = getattr(L, name)(*a, R(h)); assert r == 0, (name, r); return h\n"
        "lib = handle('mtmlLibraryInit'); dev = handle('mtmlLibraryInitDeviceByIndex', lib, 0)\n"
        "gpu = handle('mtmlDeviceInitGpu', dev); mem = handle('mtmlDeviceInitMemory', dev); n = ctypes.c_uint()\n"
    )
    done = run_python(prelude + code + "\nprint('alive', n.value)", **variables)
    return done.returncode, done.stderr, done.stdout


@pytest.mark.parametrize(
    "code, function, why",
    [
        ("L.mtmlLibraryShutDown(lib); L.mtmlGpuGetClock(gpu, R(n))", "mtmlGpuGetClock", "before the last"),
        ("L.mtmlLibraryShutDown(lib); L.mtmlLibraryShutDown(lib)", "mtmlLibraryShutDown", "shut down"),
        ("L.mtmlLibraryShutDown(lib); L.mtmlLibraryCountDevice(lib, R(n))", "mtmlLibraryCountDevice", "shut down"),
        ("L.mtmlGpuGetClock(mem, R(n))", "mtmlGpuGetClock", "a memory handle was passed"),
        ("L.mtmlGpuGetClock(dev, R(n))", "mtmlGpuGetClock", "a device handle was passed"),
        ("L.mtmlDeviceGetIndex(gpu, R(n))", "mtmlDeviceGetIndex", "a gpu handle was passed"),
        ("L.mtmlDeviceGetIndex(lib, R(n))", "mtmlDeviceGetIndex", "a library handle was passed"),
        ("L.mtmlGpuGetClock(P(16), R(n))", "mtmlGpuGetClock", "not one that this library gave out"),
        ("L.mtmlGpuGetClock(P(gpu.value + 1), R(n))", "mtmlGpuGetClock", "not one that this library gave out"),
        ("L.mtmlGpuGetClock(R(n), R(n))", "mtmlGpuGetClock", "not one that this library gave out"),
        ("L.mtmlDeviceReset(dev); L.mtmlGpuGetClock(gpu, R(n))", "mtmlGpuGetClock", "its device was reset"),
        ("L.mtmlDeviceSetMpcMode(dev, 1); L.mtmlGpuGetClock(gpu, R(n))", "mtmlGpuGetClock", "MPC"),
        ("L.mtmlDeviceGetTopologyLevel(dev, mem, R(n))", "mtmlDeviceGetTopologyLevel", "a memory handle was passed"),
    ],
)
def test_misuse(code, function, why):
    status, told, _ = aborted(code)
    assert status == -6
    assert told.startswith("mtml simulator: %s: " % function)
    assert why in told
    status, told, shown = aborted(code, MTML_SIM_LENIENT="1")
    assert (status, told) == (0, "")
    assert shown == "alive 0\n"


def test_misuse_does_not_hide_behind_a_fault():
    status, told, _ = aborted("L.mtmlGpuGetClock(mem, R(n))", MTML_SIM_FAULTS="mtmlGpuGetClock=UNKNOWN")
    assert status == -6


# ==== MPC changes and resets ====


def test_mpc_change_ends_all_handles_and_asks_for_a_new_init():
    with Session("s3000x2") as session:
        assert session.count() == 2
        interface.call("mtmlDeviceSetMpcMode", session.device(1), 1)
        assert LIBRARY.mtmlSimGetHandleCount() == 1
        with pytest.raises(Failure) as failure:
            session.count()
        assert failure.value.reason == "UNKNOWN"
        with pytest.raises(Failure):
            session.device(0)
        with pytest.raises(Failure):
            session.system()
        assert interface.text("mtmlLibraryGetVersion", session.library)
    with Session("s3000x2", keep=True) as session:
        # Devices are numbered anew: the parent is followed by its one instance, which owns the whole card.
        assert session.count() == 3
        assert uint("mtmlDeviceCountMpcInstances", session.device(1)) == 1
        assert interface.uint64("mtmlMemoryGetTotal", session.memory(2)) == 32 << 30
        interface.call("mtmlDeviceSetMpcConfiguration", session.device(1), 3)
    with Session("s3000x2", keep=True) as session:
        assert session.count() == 6
        # It is on already: the configuration stays.
        interface.call("mtmlDeviceSetMpcMode", session.device(1), 1)
    with Session("s3000x2", keep=True) as session:
        assert session.count() == 6
        assert interface.uint64("mtmlMemoryGetTotal", session.memory(5)) == 8 << 30
        assert uint("mtmlDeviceGetMpcInstanceIndex", session.device(5)) == 3
        interface.call("mtmlDeviceSetMpcMode", session.device(1), 0)
    with Session("s3000x2", keep=True) as session:
        assert session.count() == 2


def test_mpc_configuration_of_another_card():
    own = "1.mpc_configurations=1, 2;1.mpc_configuration=1;1.mpc_mode=ENABLE"
    with Session("s3000x2", MTML_SIM_SET=own) as session:
        device, configuration = session.device(1), (ctypes.c_uint * 1)(3)
        assert interface.reason("mtmlDeviceSetMpcConfiguration", device, 3) == "INVALID_ARGUMENT"
        batch = ("mtmlLibrarySetMpcConfigurationInBatch", session.library, 1, (ctypes.c_void_p * 1)(device.value))
        assert interface.reason(*batch, configuration) == "INVALID_ARGUMENT"


def test_mpc_batch():
    with Session("s3000x2") as session:
        devices = (ctypes.c_void_p * 2)(session.device(0).value, session.device(1).value)
        batch = "mtmlLibrarySetMpcConfigurationInBatch"
        for key, value, refusal in (("unsupported", batch, "NOT_SUPPORTED"), ("lost", "TIMEOUT", "TIMEOUT")):
            before = interface.sim_get(1, key)
            interface.sim_set(1, key, value)
            ids = (ctypes.c_uint * 2)(1, 3)
            assert interface.reason(batch, session.library, 2, devices, ids) == refusal
            interface.sim_set(1, key, before)
        ids = (ctypes.c_uint * 2)(1, 77)
        assert interface.reason(batch, session.library, 2, devices, ids) == "INVALID_ARGUMENT"
    with Session("s3000x2", keep=True) as session:
        # The first card was divided before the second one failed, and is whole again.
        assert session.count() == 2 and interface.sim_get(0, "mpc_mode") == "DISABLE"
        devices = (ctypes.c_void_p * 2)(session.device(0).value, session.device(1).value)
        ids = (ctypes.c_uint * 2)(1, 3)
        interface.call("mtmlLibrarySetMpcConfigurationInBatch", session.library, 2, devices, ids)
    with Session("s3000x2", keep=True) as session:
        assert session.count() == 2 + 2 + 4
    assert LIBRARY.mtmlSimReboot() == 0
    with Session("s3000x2", keep=True) as session:
        assert session.count() == 2


def test_reset_is_counted_and_ends_the_handles_of_its_device_only():
    with Session("s5000x8+frozen") as session:
        other, device = session.gpu(0), session.device(3)
        for key in ("ecc_corrected_volatile", "ecc_corrected_aggregate"):
            interface.sim_set(3, key, 9)
        before = int(interface.sim_get(3, "resets"))
        interface.call("mtmlDeviceReset", device)
        assert int(interface.sim_get(3, "resets")) == before + 1
        assert uint("mtmlGpuGetClock", other) == int(interface.sim_get(0, "gpu_clock"))
        assert session.device(3).value != device.value
        assert uint("mtmlDeviceGetIndex", session.device(3)) == 3
        counters = [interface.sim_get(3, "ecc_corrected_" + kind) for kind in ("volatile", "aggregate")]
        assert counters == ["0", "9"]


def test_reboot_is_refused_while_initialized():
    with Session():
        assert LIBRARY.mtmlSimReboot() == -1


# ==== Threads and forks ====


def test_eight_threads():
    problems = []

    def work(number):
        try:
            for _ in range(100):
                library = pointer("mtmlLibraryInit")
                device = pointer("mtmlLibraryInitDeviceByIndex", library, number)
                assert uint("mtmlDeviceGetIndex", device) == number
                assert integer("mtmlGpuGetTemperature", pointer("mtmlDeviceInitGpu", device)) == 38 + number
                interface.call("mtmlLibraryShutDown", library)
        except BaseException as problem:
            problems.append(problem)

    with Session("s5000x8+frozen"):
        for number in range(8):
            interface.sim_set(number, "gpu_temperature", 38 + number)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        assert references() == 1


def test_fork_while_threads_call():
    stop = threading.Event()

    def work(gpu):
        while not stop.is_set():
            integer("mtmlGpuGetTemperature", gpu)

    with Session("s5000x8+frozen") as session:
        gpu = session.gpu(0)
        expected = int(interface.sim_get(0, "gpu_temperature"))
        threads = [threading.Thread(target=work, args=(gpu,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        statuses = []
        for _ in range(20):
            child = os.fork()
            if child == 0:
                # In a lock that it can never get it would stay for ever, and hold what the tests print to.
                signal.alarm(10)
                status = 1
                try:
                    status = 0 if integer("mtmlGpuGetTemperature", gpu) == expected else 2
                    interface.call("mtmlLibraryShutDown", session.library)
                finally:
                    os._exit(status)
            statuses.append(os.waitpid(child, 0)[1])
            if statuses[-1]:
                break
        stop.set()
        for thread in threads:
            thread.join()
        assert statuses == [0] * 20
        assert references() == 1


# ==== The log ====


@pytest.fixture
def log():
    before = interface.out("mtmlLogGetConfiguration", STRUCTS["MtmlLogConfiguration"])
    yield STRUCTS["MtmlLogConfiguration"]()
    interface.call("mtmlLogSetConfiguration", ctypes.byref(before))


def test_log_configuration_is_kept(log, tmp_path):
    log.consoleConfig.level = 1
    log.systemConfig.level = 1
    log.fileConfig.level = 4
    log.fileConfig.file = str(tmp_path / "log").encode()
    log.fileConfig.size = 7
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    kept = interface.out("mtmlLogGetConfiguration", STRUCTS["MtmlLogConfiguration"])
    assert bytes(kept) == bytes(log)


def test_log_file(log, tmp_path):
    path = tmp_path / "log"
    log.fileConfig.level = 2
    log.fileConfig.file = str(path).encode()
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    with Session() as session:
        interface.raw("mtmlDeviceCountFan", session.device(), ctypes.byref(ctypes.c_uint()))
    assert path.read_text() == "mtmlDeviceCountFan: NOT_SUPPORTED\n"
    log.fileConfig.level = 4
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    with Session():
        pass
    assert path.read_text().splitlines()[1:] == ["library initialized, 1 in use", "library shut down, 0 in use"]
    log.fileConfig.file = b""
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    with Session():
        pass
    assert len(path.read_text().splitlines()) == 3


def test_log_callback_may_call_the_library(log):
    heard, known = [], STRUCTS["MtmlLogConfiguration"]()

    def listen(message, length):
        """Another thread waits for no lock meanwhile."""
        assert len(message) == length
        taken = references()
        asking = threading.Thread(target=interface.call, args=("mtmlLogGetConfiguration", ctypes.byref(known)))
        asking.start()
        asking.join(5)
        heard.append((message.decode(), taken, asking.is_alive()))

    log.callbackConfig.level = 4
    log.callbackConfig.callback = LOG_CALLBACK(listen)
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    with Session("s80") as session:
        interface.raw("mtmlMemoryGetEccMode", session.memory(), *[ctypes.byref(ctypes.c_uint()) for _ in range(2)])
    assert heard == [
        ("library initialized, 1 in use", 1, False),
        ("mtmlMemoryGetEccMode: NOT_SUPPORTED", 1, False),
        ("library shut down, 0 in use", 0, False),
    ]


def test_log_refusals(log, tmp_path):
    log.fileConfig.level, log.fileConfig.file = 4, str(tmp_path / "log").encode()
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    log.fileConfig.file = str(tmp_path / "no" / "log").encode()
    assert interface.reason("mtmlLogSetConfiguration", ctypes.byref(log)) == "NOT_SUPPORTED"
    log.fileConfig.file = b""
    log.consoleConfig.level = 5
    assert interface.reason("mtmlLogSetConfiguration", ctypes.byref(log)) == "INVALID_ARGUMENT"
    log.consoleConfig.level = 0
    ctypes.memset(ctypes.addressof(log) + 28, ord("x"), 200)
    assert interface.reason("mtmlLogSetConfiguration", ctypes.byref(log)) == "INVALID_ARGUMENT"
    with Session():
        pass
    assert (tmp_path / "log").read_text().endswith("library shut down, 0 in use\n")  # the log goes on as it was


def test_log_console(tmp_path):
    code = (
        "c = (ctypes.c_uint * 74)(); c[0] = 4; print(L.mtmlLogSetConfiguration(c))\n"
        "p = P(); L.mtmlLibraryInit(R(p)); L.mtmlLibraryShutDown(p)"
    )
    assert run_python(code).stderr == "[mtml] library initialized, 1 in use\n[mtml] library shut down, 0 in use\n"
