"""Details that are easily lost: bounds, units, defaults, and what must not change by the way."""

import ctypes
import os
import subprocess

import interface
import pytest
from interface import LIBRARY, STRUCTS, Session, reason, run_python, sim_get, sim_set, uint, uint64

MACHINE = "[machine]\nlibrary_version = 1-simulator\n%s\n[device.0]\nname = MTT X1\nuuid = 0\n%s\n"


def profile(folder, machine="", device=""):
    path = folder / "machine.ini"
    path.write_text(MACHINE % (machine, device))
    return str(path)


def test_bound_of_faults():
    one = b"mtmlGpuGetClock=TIMEOUT@99999"
    with Session() as session:
        assert LIBRARY.mtmlSimSetFaults(b"mtmlGpuGetMaxClock=TIMEOUT") == 0
        assert LIBRARY.mtmlSimSetFaults(b",".join([one] * 257)) == -1
        # What is refused leaves those that are armed alone.
        assert reason("mtmlGpuGetMaxClock", session.gpu(), ctypes.byref(ctypes.c_uint())) == "TIMEOUT"
        assert LIBRARY.mtmlSimSetFaults(b",".join([one] * 255 + [b"mtmlGpuGetTemperature=TIMEOUT"])) == 0
        gpu = session.gpu()
        assert reason("mtmlGpuGetTemperature", gpu, ctypes.byref(ctypes.c_int())) == "TIMEOUT"
        assert LIBRARY.mtmlSimAddFaults(one) == -1
        assert reason("mtmlGpuGetClock", gpu, ctypes.byref(ctypes.c_uint())) == "SUCCESS"
        assert LIBRARY.mtmlSimSetFaults(None) == 0
        assert LIBRARY.mtmlSimAddFaults(b",".join([one] * 256)) == 0
    LIBRARY.mtmlSimSetFaults(None)


def test_pending_pages_over_a_reboot():
    with Session():
        sim_set(5, "retired_pages_pending", "yes")
        sim_set(5, "ecc_corrected_volatile", 3)
        sim_set(5, "ecc_uncorrected_volatile", 4)
        sim_set(5, "ecc_corrected_aggregate", 5)
    assert LIBRARY.mtmlSimReboot() == 0
    counters = [
        "retired_pages_pending",
        "ecc_corrected_volatile",
        "ecc_uncorrected_volatile",
        "ecc_corrected_aggregate",
    ]
    assert [sim_get(5, key) for key in counters] == ["no", "0", "0", "5"]


@pytest.mark.parametrize(
    "name, child",
    [
        ("s3000-mpc", "L.mtmlLibraryInitDeviceByIndex(lib, 1, R(child))"),
        (
            "s3000-vgpu-host",
            "u = (ctypes.c_char * 480)(); L.mtmlDeviceGetActiveVirtDeviceUuids(card, u, 48, 3); "
            "L.mtmlDeviceInitVirtDevice(card, u.value, R(child))",
        ),
    ],
)
def test_handles_below_a_card_after_its_reset(name, child):
    code = (
        "lib, card, child, gpu, n = P(), P(), P(), P(), ctypes.c_int()\n"
        "L.mtmlLibraryInit(R(lib)); L.mtmlLibraryInitDeviceByIndex(lib, 0, R(card))\n"
        "%s; L.mtmlDeviceInitGpu(child, R(gpu)); assert child.value and gpu.value\n"
        "assert L.mtmlGpuGetTemperature(gpu, R(n)) == 0\n"
        "assert L.mtmlDeviceReset(card) == 0\n"
        "L.mtmlGpuGetTemperature(gpu, R(n))" % child
    )
    done = run_python(code, MTML_SIM_PROFILE=name + "+frozen")
    assert done.returncode == -6, done.stderr
    assert "mtmlGpuGetTemperature: the handle is dangling: its device was reset" in done.stderr


def test_number_of_fans(tmp_path):
    """As many as fan_speed has, also where fan_rpm has one value for all."""
    with Session(profile(tmp_path, "", "fan_speed = 50, 60\nfan_rpm = 1200") + "+frozen") as session:
        card = session.device()
        assert [uint("mtmlDeviceGetFanSpeed", card, fan) for fan in range(2)] == [50, 60]
        assert [uint("mtmlDeviceGetFanRpm", card, fan) for fan in range(2)] == [1200, 1200]
        for name in ("mtmlDeviceGetFanSpeed", "mtmlDeviceGetFanRpm"):
            assert reason(name, card, 2, ctypes.byref(ctypes.c_uint())) == "INVALID_ARGUMENT"


def test_implausible_fan_stays(tmp_path):
    device = "fan_speed = 50, 50\nfan_rpm = 10001, 2000\ngpu_utilization = 50\ngpu_temperature = 60"
    with Session(profile(tmp_path, "", device)) as session:
        card = session.device()
        seen = {(uint("mtmlDeviceGetFanRpm", card, 0), uint("mtmlDeviceGetFanRpm", card, 1)) for _ in range(3)}
        assert {first for first, _ in seen} == {10001}
        assert all(1500 <= second <= 2500 for _, second in seen)


# What a card has and its instances have not: (key, the card's value, theirs).
OF_A_CARD = [
    ("encoder_sessions", "id=0 pid=5", ""),
    ("decoder_sessions", "id=0 pid=6", ""),
    ("virt_capability", "yes", "no"),
    ("mtlink_capability", "yes", "no"),
    ("resets", "3", "0"),
]


def test_memory_of_an_instance(tmp_path):
    """As much as its profile says, in MB; and the same share of it in use as of the card's."""
    text = MACHINE % (
        "[mpc_profile.7]\nname = half\ncores = 2\nmemory = 512\n[mpc_configuration.3]\nname = one\nprofiles = 7",
        "generation = CHUNXIAO\nmemory_total = 2147483648\nmemory_used = 1073741824\nmpc_capability = yes\n"
        "mpc_mode = ENABLE\nmpc_profiles = 7\nmpc_configurations = 3\nmpc_configuration = 3\n"
        + "".join("%s = %s\n" % (key, value) for key, value, _ in OF_A_CARD),
    )
    (tmp_path / "mpc.ini").write_text(text)
    with Session(str(tmp_path / "mpc.ini") + "+frozen") as session:
        memory = session.memory(1)
        assert uint64("mtmlMemoryGetTotal", memory) == 512 << 20
        assert uint64("mtmlMemoryGetUsed", memory) == 256 << 20
        for key, _, value in OF_A_CARD:
            assert sim_get(interface.instance_number(0, 0), key) == value


def test_capacity_of_a_virtual_device(tmp_path):
    """What its type allows, in each direction, and not what the card has."""
    text = MACHINE % (
        "[virt_type.half]\nframe_buffer = 512\nmax_encode = 3\nmax_decode = 5\n[device.0.virt.0]\nvirt_type = half",
        "virt_capability = yes\nvirt_types = half\nmemory_total = 1073741824\n"
        "encoder_capacity = 7\ndecoder_capacity = 9",
    )
    (tmp_path / "host.ini").write_text(text)
    with Session(str(tmp_path / "host.ini")) as session:
        uuid = sim_get(interface.virt_number(0, 0), "uuid").encode()
        virtual = interface.pointer("mtmlDeviceInitVirtDevice", session.device(), uuid)
        encoder, decoder = ctypes.c_uint(), ctypes.c_uint()
        vpu = interface.pointer("mtmlDeviceInitVpu", virtual)
        interface.call("mtmlVpuGetCodecCapacity", vpu, ctypes.byref(encoder), ctypes.byref(decoder))
        assert (encoder.value, decoder.value) == (3, 5)


def test_exactly_full():
    """The closing NUL has its place in the buffer, and 255 bytes are the longest text."""
    with Session() as session:
        device = session.device()
        sim_set(0, "name", "x" * 31)
        buffer = ctypes.create_string_buffer(b"\xaa" * 33, 33)
        assert reason("mtmlDeviceGetName", device, buffer, 32) == "SUCCESS"
        assert buffer.raw == b"x" * 31 + b"\0\xaa"
        assert reason("mtmlDeviceGetName", device, buffer, 31) == "INSUFFICIENT_SIZE"
        sim_set(0, "name", "y" * 255)
        assert LIBRARY.mtmlSimSet(0, b"name", b"y" * 256) == -1
        assert sim_get(0, "name") == "y" * 255
        for size, status in ((256, 0), (255, -1)):
            assert LIBRARY.mtmlSimGet(0, b"name", ctypes.create_string_buffer(256), size) == status
        # Texts inside of structs are cut, with their NUL.
        sim_set(0, "pci_sbdf", "z" * 40)
        pci = interface.out("mtmlDeviceGetPciInfo", STRUCTS["MtmlPciInfo"], device)
        size = STRUCTS["MtmlPciInfo"].sbdf.size
        assert bytes(pci)[:size] == b"z" * (size - 1) + b"\0"


@pytest.fixture
def log():
    configuration = STRUCTS["MtmlLogConfiguration"]()
    yield configuration
    nothing = STRUCTS["MtmlLogConfiguration"]()
    interface.call("mtmlLogSetConfiguration", ctypes.byref(nothing))


def test_log_files_are_closed(log, tmp_path):
    log.fileConfig.level = 4
    log.fileConfig.file = str(tmp_path / "log").encode()
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    assert len(os.listdir("/proc/self/fd")) == before
    log.fileConfig.file = b""
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    assert len(os.listdir("/proc/self/fd")) == before - 1
    log.fileConfig.file = str(tmp_path / "log").encode()
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    LIBRARY.mtmlSimEnd()
    assert len(os.listdir("/proc/self/fd")) == before - 1


@pytest.mark.parametrize("where", ["console", "system", "file", "callback"])
def test_levels_of_the_log(log, where):
    """Up to that of information, wherever the lines go."""
    settings = getattr(log, where + "Config")
    settings.level = 4
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    settings.level = 5
    assert interface.reason("mtmlLogSetConfiguration", ctypes.byref(log)) == "INVALID_ARGUMENT"


@pytest.mark.parametrize("size, anew", [((1 << 20) - 100, False), ((1 << 20) + 1, True)])
def test_size_of_the_log_is_in_megabytes(log, tmp_path, size, anew):
    path = tmp_path / "log"
    path.write_bytes(b"x" * size)
    log.fileConfig.level = 4
    log.fileConfig.file = str(path).encode()
    log.fileConfig.size = 1
    interface.call("mtmlLogSetConfiguration", ctypes.byref(log))
    with Session():
        pass
    assert (path.stat().st_size < 1000) == anew


SYSLOG = r"""
#include "mtml_2.2.0.h"

#include <stdio.h>

/* In the place of the C library's. */
void syslog(int priority, const char *format, ...);
void __syslog_chk(int priority, int flag, const char *format, ...);

void syslog(int priority, const char *format, ...)
{
    (void)format;
    printf("%d ", priority);
}

void __syslog_chk(int priority, int flag, const char *format, ...)
{
    (void)flag;
    (void)format;
    printf("%d ", priority);
}

int main(void)
{
    MtmlLogConfiguration log = {0};
    MtmlLibrary *library;
    MtmlDevice *device;
    unsigned int count;

    log.systemConfig.level = MTML_LOG_LEVEL_INFO;
    if (mtmlLogSetConfiguration(&log) || mtmlLibraryInit(&library) ||
        mtmlLibraryInitDeviceByIndex(library, 0, &device))
        return 1;
    mtmlDeviceCountFan(device, &count);
    mtmlDeviceReset(device);
    return (int)mtmlLibraryShutDown(library);
}
"""


@pytest.mark.skipif("sanitize" in interface.BUILD, reason="the library is linked against a sanitizer")
def test_priorities_of_syslog(tmp_path):
    (tmp_path / "program.c").write_text(SYSLOG)
    command = [os.environ.get("CC", "cc"), "-I" + interface.ROOT, str(tmp_path / "program.c"), "-rdynamic"]
    command += ["-o", str(tmp_path / "program"), interface.LIBRARY_PATH, "-Wl,-rpath," + interface.BUILD]
    subprocess.run(command, check=True)
    environment = dict(os.environ, MTML_SIM_PROFILE="s5000x8+frozen")
    done = subprocess.run([str(tmp_path / "program")], env=environment, stdout=subprocess.PIPE)
    # Info, the refused call an error, the reset a warning, info.
    assert (done.returncode, done.stdout.split()) == (0, [b"6", b"3", b"4", b"6"])


@pytest.mark.parametrize("profile_name, wanted", [("s3000-vgpu-guest", 0), ("s80", 4242)])
def test_owner_of_a_session_belongs_to_the_host(profile_name, wanted):
    with Session(profile_name + "+frozen") as session:
        sim_set(0, "encoder_capacity", 4)
        sim_set(0, "encoder_sessions", "id=0 pid=4242 width=1920 height=1080 fps=60")
        metrics = STRUCTS["MtmlCodecSessionMetrics"]()
        interface.call("mtmlVpuGetEncoderSessionMetrics", session.vpu(), 0, ctypes.byref(metrics))
        assert (metrics.pid, metrics.hResolution) == (wanted, 1920)
    with Session("s3000-vgpu-host+frozen") as session:
        sim_set(interface.virt_number(0, 0), "encoder_sessions", "id=0 pid=4242")
        uuid = sim_get(interface.virt_number(0, 0), "uuid").encode()
        vpu = interface.pointer(
            "mtmlDeviceInitVpu", interface.pointer("mtmlDeviceInitVirtDevice", session.device(), uuid)
        )
        interface.call("mtmlVpuGetEncoderSessionMetrics", vpu, 0, ctypes.byref(metrics))
        assert metrics.pid == 0


def test_tracing_leaves_errno_alone():
    """Even where the trace cannot be written."""
    code = (
        "import ctypes\nM = ctypes.CDLL(L._name, use_errno=True)\np = P(); M.mtmlLibraryInit(R(p))\n"
        "ctypes.set_errno(77); assert M.mtmlLibraryCountDevice(p, R(ctypes.c_uint())) == 0\n"
        "print(ctypes.get_errno())"
    )
    for target in ("/dev/full", "/dev/null"):
        done = run_python(code, MTML_SIM_TRACE=target)
        assert done.stdout == "77\n", done.stderr


def test_looking_at_the_control_file_leaves_errno_alone(tmp_path):
    code = (
        "import ctypes, time\nM = ctypes.CDLL(L._name, use_errno=True)\np = P(); M.mtmlLibraryInit(R(p))\n"
        "d = P(); M.mtmlLibraryInitDeviceByIndex(p, 0, R(d)); m = P(); M.mtmlDeviceInitMemory(d, R(m))\n"
        "ctypes.set_errno(76); assert M.mtmlMemorySetEccMode(m, 1) == 0; written = ctypes.get_errno()\n"
        "time.sleep(0.05); ctypes.set_errno(77); assert M.mtmlLibraryCountDevice(p, R(ctypes.c_uint())) == 0\n"
        "first = ctypes.get_errno(); open(os.environ['MTML_SIM_CONTROL'], 'w').write('0.gpu_clock = 1\\n')\n"
        "time.sleep(0.05); ctypes.set_errno(78)\n"
        "M.mtmlLibraryCountDevice(p, R(ctypes.c_uint())); print(written, first, ctypes.get_errno())"
    )
    done = run_python(code, MTML_SIM_CONTROL=str(tmp_path / "control"))
    assert done.stdout == "76 77 78\n", done.stderr


def test_setting_what_is_so_already_ends_no_handle():
    with Session("s3000-mpc+frozen") as session:
        gpu, number = session.gpu(1), ctypes.c_int()
        sim_set(0, "mpc_mode", "ENABLE")
        assert reason("mtmlGpuGetTemperature", gpu, ctypes.byref(number)) == "SUCCESS"
        sim_set(0, "mpc_mode", "DISABLE")
        # The test has changed it, not the program: a code, and no abort.
        assert reason("mtmlGpuGetTemperature", gpu, ctypes.byref(number)) == "UNKNOWN"


def test_end_of_what_was_left():
    with Session() as session:
        second = interface.pointer("mtmlLibraryInit")
        gpu = session.gpu()
        assert LIBRARY.mtmlSimEnd() == 2
        assert (LIBRARY.mtmlSimGetLibraryReferences(), LIBRARY.mtmlSimGetHandleCount()) == (0, 0)
        assert reason("mtmlGpuGetTemperature", gpu, ctypes.byref(ctypes.c_int())) == "UNKNOWN"
        for pointer in (session.library, second):
            assert reason("mtmlLibraryShutDown", pointer) == "UNKNOWN"
        assert LIBRARY.mtmlSimEnd() == 0
        session.library = interface.pointer("mtmlLibraryInit")
        assert session.count() == 8
