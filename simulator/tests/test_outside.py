"""The control file: changes that reach processes which run already, and what their programs switch."""

import ctypes
import os
import resource
import subprocess
import sys
import time

import interface
import profiles
import pytest
from interface import CODE_NAMES, LIBRARY, MACHINE, Session, reason, sim_get, sim_set

OTHER = """
import ctypes, sys
import interface
from interface import *

given = {name: os.environ[name] for name in ("MTML_SIM_CONTROL", "MTML_SIM_FAULTS") if name in os.environ}
session = Session(%r, **given)
session.__enter__()
gpus = [session.gpu(index) for index in range(session.count())]

def temperature(card=0):
    value = ctypes.c_int()
    code = raw("mtmlGpuGetTemperature", gpus[card], ctypes.byref(value))
    return value.value if code == 0 else CODE_NAMES.get(code, code)

for line in sys.stdin:
    print(repr(eval(line)), flush=True)
"""


def environment():
    """The environment of another process, which finds interface.py, and the library built (dict)."""
    return dict(os.environ, PYTHONPATH=interface.HERE, SIM_TEST_BUILD=os.environ.get("SIM_TEST_BUILD", "build"))


class Other:
    """Another process on the machine, which does what it is told."""

    def __init__(self, profile="s5000x8+frozen"):
        self.process = subprocess.Popen(
            [sys.executable, "-c", OTHER % profile],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        self("0")  # it is there

    def __call__(self, expression):
        self.process.stdin.write(expression + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, self.process.stderr.read()
        return eval(answer)

    def end(self):
        """What it said on stderr."""
        if self.process.stdin.closed:
            return ""
        return self.process.communicate(timeout=20)[1]


@pytest.fixture
def control(tmp_path):
    os.environ["MTML_SIM_CONTROL"] = str(tmp_path / "control")
    yield tmp_path / "control"
    LIBRARY.mtmlSimSetFaults(None)


@pytest.fixture
def other(control):
    process = Other()
    yield process
    process.end()


def here(profile="s5000x8+frozen"):
    return Session(profile, MTML_SIM_CONTROL=os.environ["MTML_SIM_CONTROL"])


def temperature(gpu):
    value = ctypes.c_int()
    code = interface.raw("mtmlGpuGetTemperature", gpu, ctypes.byref(value))
    return value.value if code == 0 else CODE_NAMES.get(code, code)


# ==== What a test changes ====


def test_values_reach_who_runs_at_once(other):
    with here():
        before = other("temperature()")
        # Hundreds of changes within ticks of the coarse clock, each seen by the very next call.
        for value in range(-100, 100):
            sim_set(0, "gpu_temperature", value)
            assert other("temperature()") == value
        assert LIBRARY.mtmlSimUnset(0, b"gpu_temperature") == 0
        assert other("temperature()") == before == int(sim_get(0, "gpu_temperature"))


def test_an_instance_that_the_profile_does_not_begin_with():
    """What is undone there is as on its card."""
    instance = interface.instance_number(1, 0)
    with Session("s3000x2+frozen"):
        sim_set(1, "mpc_mode", "ENABLE")
        sim_set(instance, "gpu_temperature", -5)
        assert LIBRARY.mtmlSimUnset(instance, b"gpu_temperature") == 0
        assert sim_get(instance, "gpu_temperature") == sim_get(1, "gpu_temperature")


def test_who_comes_later_finds_them(control):
    with here():
        sim_set(3, "gpu_temperature", 77)
        sim_set(MACHINE, "driver_version", "9;8")
        assert LIBRARY.mtmlSimAddFaults(b"2.mtmlGpuGetTemperature=TIMEOUT,mtmlDeviceGetName=UNKNOWN") == 0
    late = Other()
    assert [late("temperature(%d)" % card) for card in (3, 2)] == [77, "TIMEOUT"]
    assert late("sim_get(MACHINE, 'driver_version')") == "9;8"
    assert late("reason('mtmlDeviceGetName', session.device(0), ctypes.create_string_buffer(64), 64)") == "UNKNOWN"
    late.end()


def test_every_kind_of_object(control):
    both = [Other("s3000-mpc+frozen"), Other("s3000-mpc+frozen")]
    with here("s3000-mpc+frozen"):
        sim_set(interface.instance_number(0, 1), "gpu_utilization", 66)
        sim_set(MACHINE, "driver_version", "1")
        for other in both:
            assert other("sim_get(instance_number(0, 1), 'gpu_utilization')") == "66"
            assert other("sim_get(MACHINE, 'driver_version')") == "1"
    for other in both:
        other.end()
    with here("s3000-vgpu-host+frozen"):
        os.remove(control)
        sim_set(interface.virt_number(0, 1), "gpu_utilization", 67)
    late = Other("s3000-vgpu-host+frozen")
    assert late("[sim_get(virt_number(0, part), 'gpu_utilization') == '67' for part in range(3)]") == [
        False,
        True,
        False,
    ]
    late.end()


def test_faults(other, control):
    with here() as session:
        gpu = session.gpu(0)
        assert LIBRARY.mtmlSimAddFaults(b"0.mtmlGpuGetTemperature=TIMEOUT@1x2") == 0
        # Each process counts its own calls.
        for ask in (lambda: temperature(gpu), lambda: other("temperature()")):
            assert [isinstance(ask(), int) for _ in range(4)] == [True, False, False, True]
        # What is added later does not begin the others' count anew, and takes nobody's place.
        assert LIBRARY.mtmlSimAddFaults(b"1.mtmlGpuGetTemperature=TIMEOUT") == 0
        assert LIBRARY.mtmlSimAddFaults(b"0.mtmlGpuGetTemperature=UNKNOWN@0x1") == 0
        assert other("temperature(1)") == "TIMEOUT"
        assert [other("temperature()") for _ in range(2)][0] == "UNKNOWN"
        assert isinstance(other("temperature()"), int)
        assert LIBRARY.mtmlSimSetFaults(b"*=RESOURCE_IS_BUSY") == 0
        assert other("temperature()") == "RESOURCE_IS_BUSY"
        assert LIBRARY.mtmlSimSetFaults(None) == 0
        assert isinstance(other("temperature()"), int)
        assert LIBRARY.mtmlSimSet(MACHINE, b"faults", b"8.*=TIMEOUT") == -1
        assert LIBRARY.mtmlSimAddFaults(b"0.mtmlGpuGetTemperature=TIMEOUT") == 0
    assert "8.*" not in control.read_text()
    with Session() as session:  # without the file
        assert isinstance(temperature(session.gpu(0)), int)


def test_faults_of_the_variable_are_taken_back(control):
    os.environ["MTML_SIM_FAULTS"] = "mtmlGpuGetTemperature=TIMEOUT"
    other = Other()
    assert other("temperature()") == "TIMEOUT"
    with Session("s5000x8+frozen", MTML_SIM_CONTROL=str(control)) as session:
        assert LIBRARY.mtmlSimHeal(MACHINE) == 0
        assert isinstance(temperature(session.gpu(0)), int)
    assert isinstance(other("temperature()"), int)
    written(control, "")
    assert other("temperature()") == "TIMEOUT"
    other.end()


def test_heal(control, other):
    with here():
        sim_set(0, "gpu_temperature", 88)
        for card in (1, 2):
            sim_set(card, "lost", "DRIVER_FAILURE")
        sim_set(MACHINE, "latency_ns", 1000)
        assert LIBRARY.mtmlSimSetFaults(b"5.*=TIMEOUT@9x1") == 0  # as a variable does
        assert LIBRARY.mtmlSimAddFaults(b"0.mtmlGpuGetTemperature=TIMEOUT, 4.*=TIMEOUT") == 0
        bad = ["DRIVER_FAILURE"] * 2 + ["TIMEOUT"] * 2
        assert [other("temperature(%d)" % card) for card in (1, 2, 0, 4)] == bad
        assert LIBRARY.mtmlSimHeal(1) == LIBRARY.mtmlSimHeal(0) == 0
        answers = [other("temperature(%d)" % card) for card in (1, 2, 0, 4)]
        assert [isinstance(answer, int) for answer in answers] == [True, False, True, False]
        assert "faults = 5.*=TIMEOUT@9x1\n" in control.read_text(), "for programs that start later"
        assert LIBRARY.mtmlSimHeal(8) == -1
        assert sim_get(MACHINE, "latency_ns") == "1000"
        assert LIBRARY.mtmlSimHeal(MACHINE) == 0
        answers = [other("temperature(%d)" % card) for card in (1, 2, 0, 4)]
        assert all(isinstance(answer, int) for answer in answers)
        assert other("sim_get(MACHINE, 'latency_ns')") == "0"
        assert other("temperature()") == 88


# ==== What programs switch ====


def test_ecc_until_after_the_reboot(other):
    with here() as session:
        memory = other("session.memory(5).value") and session.memory(5)
        assert sim_get(5, "ecc_pending_mode") == "ENABLE"
        assert interface.raw("mtmlMemorySetEccMode", memory, 0) == 0
        ask = "[sim_get(5, 'ecc_mode'), sim_get(5, 'ecc_pending_mode')]"
        assert other(ask) == ["ENABLE", "DISABLE"]
        sim_set(5, "retired_pages_pending", "yes")
    assert LIBRARY.mtmlSimReboot() == 0
    assert other(ask) == ["DISABLE", "DISABLE"]
    assert other("sim_get(5, 'retired_pages_pending')") == "no"
    late = Other()
    assert late(ask) == ["DISABLE", "DISABLE"]
    late.end()


COUNTERS = ["ecc_%scorrected_%s" % (un, kind) for kind in ("volatile", "aggregate") for un in ("", "un")]
COUNTS = "[sim_get(%%d, key) for key in %r]" % (COUNTERS + ["resets"])


def count_errors(card, *keys):
    for number, key in enumerate(keys, 3):
        sim_set(card, key, number)


def test_ecc_counters_and_resets(other):
    ask = COUNTS % 2
    with here() as session:
        count_errors(2, *COUNTERS)
        assert other("raw('mtmlMemoryClearEccErrorCounts', session.memory(2), 0)") == 0
        assert eval(ask) == ["0", "0", "5", "6", "0"]
        count_errors(2, *COUNTERS)
        assert interface.raw("mtmlDeviceReset", session.device(2)) == 0
        assert other(ask) == ["0", "0", "5", "6", "1"]
        assert other("raw('mtmlMemoryClearEccErrorCounts', session.memory(2), 1)") == 0
        assert eval(ask) == ["0", "0", "0", "0", "1"]


def test_mpc(control):
    """Handles that die by what another process does answer a code: the program could not know."""
    other = Other("s3000-mpc+frozen")
    assert isinstance(other("temperature(4)"), int)
    with here("s3000-mpc+frozen") as session:
        assert session.count() == 5
        assert interface.raw("mtmlDeviceSetMpcMode", session.device(0), 0) == 0
    assert other("temperature(0)") == "UNKNOWN"
    # Its library pointer is as after a change of its own.
    count = "raw('mtmlLibraryCountDevice', session.library, ctypes.byref(ctypes.c_uint()))"
    assert CODE_NAMES[other(count)] == "UNKNOWN"
    again = "[call('mtmlLibraryShutDown', session.library), setattr(session, 'library', pointer('mtmlLibraryInit'))]"
    other(again)
    assert other("session.count()") == 2
    with here("s3000-mpc+frozen") as session:
        assert session.count() == 2
        device = session.device(1)
        assert other("raw('mtmlDeviceSetMpcMode', session.device(0), 1)") == 0
        assert reason("mtmlDeviceGetIndex", device, ctypes.byref(ctypes.c_uint())) == "UNKNOWN"
    assert [sim_get(0, key) for key in ("mpc_mode", "mpc_configuration")] == ["ENABLE", "0"]
    count_errors(0, *COUNTERS)
    assert LIBRARY.mtmlSimReboot() == 0
    assert other(COUNTS % 0) == ["0", "0", "5", "6", "0"] and other("sim_get(0, 'mpc_mode')") == "DISABLE"
    # What cannot be is taken back.
    before = other("sim_get(0, 'mpc_configurations')")
    written(control, "0.mpc_configurations = 5\n")
    assert other("sim_get(0, 'mpc_configurations')") == before != "5"
    assert "mpc_configurations = 5: the instances cannot be made" in other.end()


def test_two_that_write_at_once(control):
    """No change is lost, of 192 different ones."""
    keys = ["gpu_clock", "memory_clock", "vpu_clock", "power_usage"]
    keys += ["slot_id", "gpu_max_clock", "memory_max_clock", "vpu_max_clock"]
    others = [Other(), Other()]
    rounds = "[sim_set(card, key, n) for n in (1, 2, 3) for key in %r for card in range(8)]"
    for mine, other in zip((keys[:4], keys[4:]), others):
        other.process.stdin.write("len(%s)\n" % (rounds % mine))
        other.process.stdin.flush()
    for other in others:
        assert other.process.stdout.readline() == "96\n"
        other.end()
    text = control.read_text()
    lost = [(card, key) for key in keys for card in range(8) if "\n%d.%s = 3\n" % (card, key) not in text]
    assert not lost


# ==== The file ====


def written(control, text):
    """Write it as an editor does, and wait for longer than a tick of the coarse clock."""
    control.write_text(text)
    time.sleep(0.1)


def test_written_by_hand(control, other):
    text = "# by hand\n\n; and\r\n  0.gpu_temperature = 5\r\n\r\n*.gpu_clock=7\n5.gpu_clock\t= \t8 \n"
    text += "fault.1 = 1.*=TIMEOUT\n"
    written(control, text)
    assert other("[temperature(), temperature(1)]") == [5, "TIMEOUT"]
    assert other("[sim_get(card, 'gpu_clock') for card in (0, 5, 7)]") == ["7", "8", "7"]
    # The same number for another fault, which takes the place of the first.
    written(control, "fault.1 = 2.*=TIMEOUT\n")
    assert isinstance(other("temperature(1)"), int) and other("temperature(2)") == "TIMEOUT"
    control.write_text("5.gpu_clock = 9")
    time.sleep(0.1)
    assert isinstance(other("temperature(1)"), int)
    assert other("temperature()") != 5
    assert other("sim_get(5, 'gpu_clock')") == "9"
    # Another file in its place, of the same time and size.
    copy, stamp = control.with_name("copy"), control.stat().st_mtime_ns
    written(copy, "5.gpu_clock = 8")
    os.utime(str(copy), ns=(stamp, stamp))
    copy.replace(control)
    time.sleep(0.1)
    assert other("sim_get(5, 'gpu_clock')") == "8"
    assert other("sim_get(0, 'gpu_clock')") == profiles.read("s5000x8")["device.0"]["gpu_clock"]
    # Lines of one's own stay when programs write.
    control.write_text("# mine\n5.gpu_clock = 9\n")
    with here():
        sim_set(0, "gpu_temperature", 1)
        sim_set(5, "gpu_clock", 4)
    text = "profile = s5000x8+frozen\n# mine\n0.gpu_temperature = 1\n5.gpu_clock = 4\n"
    assert control.read_text() == text
    control.unlink()
    time.sleep(0.1)
    assert other("temperature()") != 1


@pytest.mark.parametrize(
    "line, problem",
    [
        ("0.gpu_temperature", ":2: not of the form NAME = VALUE"),
        ("gpu_temperature = 3", ":2: write 0.KEY"),
        ("0.color = blue", ":2: color = blue: unknown key"),
        ("0.color = red\n; no line\n0.color = blue", ":4: color = blue: unknown key"),
        ("8.gpu_temperature = 3", ":2: gpu_temperature = 3: the machine has no such card"),
        ("fault.1 = 8.*=TIMEOUT", ":2: 8.*=TIMEOUT: the machine has no such card"),
        ("fault.0 = *=TIMEOUT", ":2: write 0.KEY"),
    ],
)
def test_mistakes(control, line, problem):
    other = Other()
    written(control, "0.gpu_temperature = 4\n%s\n" % line)
    assert other("temperature()") == 4
    said = other.end()
    assert problem in said and said.count("\n") == 1
    # Who begins with it is told at once.
    os.environ["MTML_SIM_PROFILE"] = "s5000x8+frozen"
    assert LIBRARY.mtmlSimLoad() == -1
    control.write_text("")
    assert LIBRARY.mtmlSimLoad() == 0


def test_file_of_another_profile(control, other):
    """It is left alone, and so are those who follow it."""
    before = other("temperature()")
    with here("s80+frozen"):
        sim_set(0, "gpu_temperature", 3)
        assert other("temperature()") == before
        assert other("LIBRARY.mtmlSimSet(0, b'gpu_temperature', b'4')") == -1
        assert sim_get(0, "gpu_temperature") == "3"
    assert control.read_text() == "profile = s80+frozen\n0.gpu_temperature = 3\n"
    assert "is about the profile s80+frozen, not s5000x8+frozen" in other.end()
    # Moving values or not, it is the same machine.
    with here("s80"):
        assert sim_get(0, "gpu_temperature") == "3"


# ==== What is damaged, planted or full ====


def refused(control, said):
    """No change is made, here or in the file, by whatever function; each says why."""
    before = control.read_bytes() if control.exists() else None
    with here() as session:
        gpu = session.gpu(0)
        good = temperature(gpu)
        for attempt in (
            lambda: LIBRARY.mtmlSimSet(0, b"gpu_temperature", b"3"),
            lambda: LIBRARY.mtmlSimUnset(0, b"gpu_clock"),
            lambda: LIBRARY.mtmlSimSetFaults(b"*=TIMEOUT"),
            lambda: LIBRARY.mtmlSimAddFaults(b"*=TIMEOUT"),
            lambda: LIBRARY.mtmlSimSet(MACHINE, b"faults", b"*=TIMEOUT"),
            lambda: LIBRARY.mtmlSimHeal(MACHINE),
        ):
            assert attempt() == -1
            assert said in interface.message()
            assert (
                temperature(gpu) == good
                and sim_get(0, "gpu_clock") == profiles.read("s5000x8")["device.0"]["gpu_clock"]
            )
        # What a program does itself is done.
        assert reason("mtmlMemorySetEccMode", session.memory(0), 0) == "SUCCESS"
    assert (control.read_bytes() if control.exists() else None) == before


def test_folder_that_is_gone(tmp_path):
    os.environ["MTML_SIM_CONTROL"] = str(tmp_path / "gone" / "control")
    refused(tmp_path / "gone" / "control", "No such file or directory")


def test_disk_that_is_full(control):
    """No file may have a byte, as on a full disk. Not to the end of the test: pytest writes to files."""
    control.write_text((1 << 20) * "#")  # the largest that is read
    refused(control, "File too large")
    control.unlink()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        refused(control, "File too large")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in control.parent.iterdir()] == ["control.lock"]


def test_lock_that_is_truncated(control, other):
    """The counter beside it is lost to nobody who has it, and those who come later get one all have in common."""
    with here():
        os.truncate(str(control) + ".lock", 0)
        assert isinstance(other("temperature()"), int)
        sim_set(0, "gpu_temperature", 3)
        time.sleep(0.1)
        assert other("temperature()") == 3
        late = Other()
        for value in range(4, 50):
            late("sim_set(0, 'gpu_temperature', %d)" % value)
            assert other("temperature()") == int(sim_get(0, "gpu_temperature")) == value
        late.end()


def test_lock_that_names_memory_of_others(control):
    """As one may that comes from another container."""
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    memory = libc.shmget(0, ctypes.c_size_t(4096), 0o1600)
    address = ctypes.c_void_p(libc.shmat(memory, None, 0))
    ctypes.memset(address, 0x41, 4096)
    (control.parent / "control.lock").write_bytes(memory.to_bytes(4, sys.byteorder))
    with here():
        sim_set(0, "gpu_temperature", 3)
        late = Other()
        assert late("temperature()") == 3
        late.end()
    assert ctypes.string_at(address, 4096) == b"A" * 4096
    libc.shmdt(address)
    libc.shmctl(memory, 0, None)


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_lock_that_is_none(control, tmp_path, kind):
    """A link is not followed, and nobody waits at a FIFO."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    lock = tmp_path / "control.lock"
    {"link": lambda: lock.symlink_to(victim), "fifo": lambda: os.mkfifo(str(lock)), "folder": lock.mkdir}[kind]()
    refused(control, "cannot write")
    assert victim.read_text() == "precious"


def test_names_that_are_taken(control, tmp_path):
    """The new file is nobody else's, whoever has guessed its name."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in ("control.%d", "control.%d.0", "control.%d.1"):
        (tmp_path / (name % os.getpid())).symlink_to(victim)
    with here():
        sim_set(0, "gpu_temperature", 3)
    assert victim.read_text() == "precious"
    assert "0.gpu_temperature = 3\n" in control.read_text() and not control.is_symlink()


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda path: os.mkfifo(str(path)), "cannot read"),
        (lambda path: path.symlink_to("/dev/zero"), "cannot read"),
        (lambda path: path.write_text("#" * (1 << 20) + "\n"), "cannot read"),
        (lambda path: path.write_text("".join("0.k%d = 1\n" % n for n in range(60000))), "too many changes"),
        (lambda path: path.write_text("".join("fault.%d = 0\n" % n for n in range(1, 60000))), "too many changes"),
    ],
)
def test_file_that_is_none_of_ours(control, make, said):
    make(control)
    os.environ["MTML_SIM_PROFILE"] = "s80"
    begin = time.process_time()
    assert LIBRARY.mtmlSimLoad() == -1
    assert said in interface.message()
    assert time.process_time() - begin < (50 if "sanitize" in interface.BUILD else 5)
    os.environ["MTML_SIM_CONTROL"] = ""


def test_no_file_is_read_unless_it_is_named(tmp_path):
    os.environ.pop("MTML_SIM_CONTROL", None)
    program = "from interface import *\nwith Session('s5000x8+frozen'):\n    sim_set(0, 'gpu_clock', 1)\n"
    subprocess.run([sys.executable, "-c", program], env=environment(), cwd=str(tmp_path), check=True)
    assert not list(tmp_path.iterdir())


def test_a_change_costs_little(control):
    """A look is a load and a compare; a write some file operations, which leave nothing open."""
    with here():
        sim_set(0, "gpu_clock", 0)
        before = len(os.listdir("/proc/self/fd"))
        begin = time.process_time()
        for number in range(500):
            sim_set(0, "gpu_clock", number)
        assert time.process_time() - begin < 2
        assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.skipif("sanitize" in interface.BUILD, reason="AddressSanitizer keeps what is freed, by design")
def test_a_value_that_is_taken_back_leaves_nothing(control):
    """Each reads the profile anew: 60 of them are more than the resident memory may grow."""

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() >> 10

    def change(times):
        for number in range(times):
            sim_set(0, "gpu_clock", number)
            assert LIBRARY.mtmlSimUnset(0, b"gpu_clock") == 0

    with here():
        change(20)
        before = resident()
        change(60)
        assert resident() - before < 4096
