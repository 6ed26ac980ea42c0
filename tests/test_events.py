"""XIDs: what is read of the driver's records of them, and NVML's events."""

import ctypes
import os
import signal
import time

import pytest
import simulated
from concurrency import before_line, in_child, in_thread, in_threads, until
from interpreter import FREE_THREADED
from mtml_simulator.driver_files import event_record, event_report, persisted_records

import pymtml as nvml

NEWS = 0x06000001  # fallen off the bus
# A record in the form of a genuine one, not written by the simulator: two NULs before the text, and after it.
RECORD = bytes.fromhex(
    "01000001 b8000000"  # version 1 of records, an XID; its length
    "6a1f0c5283d74be99c41d20e75b8a600 01000000"  # the UUID without its last byte; version 1 of XIDs
    "03000001 08000000 00000000"  # module 1, error 3; scope 0, severity 1
    "00f2a16a00000000 00002a0000000000 9a10000000000000"  # time, bus 2a, pid
    "00006164647220307830300a"
).ljust(256, b"\0")


def test_a_record_is_read_field_by_field():
    (xid,), strange = nvml._xid_records(RECORD)
    assert strange == 0 and xid.raw == RECORD
    assert (xid.number, xid.name, xid.meaning) == (0x01000003, "GPU_XID_PAGE_FAULT", "page fault in the GPU")
    assert (xid.scope, xid.severity, xid.time, xid.pid) == ("process", "warn", 0x6AA1F200, 4250)
    assert (xid.text, xid.uuid) == ("addr 0x00", "6a1f0c52-83d7-4be9-9c41-d20e75b8a600")
    assert xid.address == "0000:2a:00.0"
    assert nvml._xid_records(changed(48, b"\7\3"))[0][0].address == "0000:2a:03.7"


def test_the_drivers_own_name_is_taken_where_it_is_known():
    assert nvml._XIDS[0x05000002][0] == "gpu_bios_trap"


def test_what_is_unknown_remains_a_number():
    (xid,), strange = nvml._xid_records(event_record(0x0B000042, "", 7, 6, seconds=1 << 63, pid=1 << 62))
    assert strange == 0 and (xid.number, xid.name, xid.scope, xid.severity) == (0x0B000042, "", "6", "7")
    assert (xid.time, xid.pid) == (1 << 63, 1 << 62)


def test_records_come_in_order_of_time():
    """The ring is written over from its beginning. Of two with one time, the first remains the first."""
    records = [event_record(number, seconds=seconds) for number, seconds in ((3, 50), (1, 40), (2, 40), (4, 60))]
    assert [xid.number for xid in nvml._xid_records(b"".join(records))[0]] == [1, 2, 3, 4]


def changed(start, new):
    """RECORD with other bytes at a place."""
    return RECORD[:start] + new + RECORD[start + len(new) :]


@pytest.mark.parametrize(
    "data, expected",
    [
        (b"", (0, 0)),
        (RECORD[:-1], (0, 1)),
        (RECORD + RECORD[:40], (1, 1)),
        (changed(3, b"\2") + RECORD, (1, 1)),
        (changed(3, b"\0"), (0, 1)),
        (changed(0, b"\2"), (0, 0)),
        (changed(4, b"\xb9"), (0, 1)),
        (changed(24, b"\2"), (0, 1)),
        (bytes(256), (0, 1)),
        (b"\xff" * 256, (0, 1)),
        (b"\1\0\0\0\x40\0\0\0gpu hang".ljust(128, b"\0") * 4, (0, 2)),
        (persisted_records([RECORD]), (0, 1)),
        (RECORD * 10000, (10000, 0)),
    ],
    ids="empty short cut later_version version_0 no_xid longer later_xid zeros ones 2.7.0 persisted many".split(),
)
def test_what_is_not_understood_is_counted(data, expected):
    """Another kind of event in a record of version 1 is not an XID, and nothing strange."""
    found, strange = nvml._xid_records(data)
    assert (len(found), strange) == expected


@pytest.mark.parametrize("text, shown", [(b"\0\0a\0b\0", "a\0b"), (b"\xff\x1b[31m\n", "\ufffd\x1b[31m"), (b"", "")])
def test_a_text_is_neither_cut_nor_refused(text, shown):
    assert nvml._xid_records(changed(64, text.ljust(128, b"\0")))[0][0].text == shown


def test_no_file_keeps_the_reader(tmp_path):
    """The driver returns its ring at each read, without an end, and a file without records may let readers wait."""
    assert nvml._event_bytes("/dev/zero") == bytes(64 * 256)
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    assert nvml._event_bytes(pipe) == b""
    writer = os.open(pipe, os.O_RDWR)
    try:
        assert nvml._event_bytes(pipe) == b"", "EAGAIN"
    finally:
        os.close(writer)


class Driver:
    """The driver's files of XIDs, one for each card of a machine, at first without records."""

    def __init__(self, root, monkeypatch, devnames):
        self.files = []
        for number, devname in enumerate(devnames):
            # Reversed: devname says which card it is, not the directory's number, nor UUID or address in a record.
            folder = root / "driver" / "musa" / ("gpu%02x" % (len(devnames) - number - 1))
            folder.mkdir(parents=True)
            (folder / "devname").write_text(devname + "\n")
            self.files.append(folder / "event_report")
            self.write(number)
        monkeypatch.setenv("PYMTML_PROC_ROOT", str(root))

    def write(self, number, *records):
        """Let a card's file have these records, written in one step as the driver does."""
        new = self.files[number].parent / "new"
        new.write_bytes(event_report(records))
        new.replace(self.files[number])


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """The driver of the machine s5000x8, while the library is initialized."""
    with simulated.machine("s5000x8"):
        nvml.nvmlInit()
        try:
            yield Driver(tmp_path, monkeypatch, ["mtgpu.%d" % number for number in range(8)])
        finally:
            nvml.nvmlShutdown()


def card(index):
    return nvml.nvmlDeviceGetHandleByIndex(index)


# ---- NVML's events ----

TYPE = nvml.nvmlEventTypeXidCriticalError
NONE = 0xFFFFFFFF
MPC = "s3000-mpc"
changes = pytest.mark.skipif(FREE_THREADED, reason="without a GIL changes are refused while there are other threads")


def watching(*indexes):
    """A set of events of these cards."""
    events = nvml.nvmlEventSetCreate()
    for index in indexes:
        assert nvml.nvmlDeviceRegisterEvents(card(index), TYPE, events) is None
    return events


def wait_by_pointer(name):
    """A wait as C has it: (set, data, timeout)."""

    def wait(events, timeout):
        data = nvml.c_nvmlEventData_t()
        code = nvml._nvmlGetFunctionPointer(name)(events, ctypes.byref(data), ctypes.c_uint(timeout))
        nvml._nvmlCheckReturn(code)
        return data

    return wait


WAITS = {
    "v1": nvml.nvmlEventSetWait,
    "v2": nvml.nvmlEventSetWait_v2,
    "C": wait_by_pointer("nvmlEventSetWait"),
    "C_v2": wait_by_pointer("nvmlEventSetWait_v2"),
}
each_wait = pytest.mark.parametrize("wait", WAITS.values(), ids=list(WAITS))


def plainly_unsupported(function, *arguments):
    """The error has no detail, as programs compare its text."""
    with pytest.raises(nvml.NVMLError_NotSupported) as raised:
        function(*arguments)
    assert str(raised.value) == "Not Supported"


def all_events(events):
    """The numbers of all events that there are now."""
    numbers = []
    while True:
        try:
            numbers.append(nvml.nvmlEventSetWait_v2(events, 0).eventData)
        except nvml.NVMLError_Timeout:
            return numbers


@each_wait
def test_an_event_says_what_nvml_says(driver, wait):
    driver.write(2, event_record(NEWS, seconds=1))
    events = watching(1, 2)
    driver.write(2, event_record(NEWS, seconds=1), event_record(NEWS + 1, seconds=2))
    data = wait(events, 0)
    assert (data.eventType, data.eventData, data.gpuInstanceId, data.computeInstanceId) == (TYPE, NEWS + 1, NONE, NONE)
    assert nvml.nvmlDeviceGetIndex(data.device) == 2
    pytest.raises(nvml.NVMLError_Timeout, wait, events, 0)


def test_only_what_makes_a_card_unusable_is_an_event(driver):
    events = watching(0)
    kinds = [(severity, scope) for severity in range(5) for scope in range(6)]
    records = [event_record(1 + number, "", *kind, seconds=number) for number, kind in enumerate(kinds)]
    driver.write(0, *records)
    fatal = [1 + kinds.index((2, scope)) for scope in (1, 2, 3)]
    assert all_events(events) == fatal


def test_what_is_new(driver):
    """Each record once, also of equal ones, whatever a look lacks, and after the ring has lost the oldest."""
    same, events = event_record(7, seconds=5), watching(0)
    driver.write(0, same)
    assert all_events(events) == [7]
    driver.write(0, same, same, event_record(3, seconds=4))
    assert all_events(events) == [3, 7], "the older one first"
    driver.write(0)
    assert all_events(events) == []
    driver.write(0, same)
    assert all_events(events) == []
    driver.write(0, *[event_record(100 + number, seconds=9) for number in range(60)])
    assert all_events(events) == list(range(110, 160)), "the ring had no room for more"
    driver.write(0, *[event_record(110 + number, seconds=9) for number in range(60)])
    assert all_events(events) == list(range(160, 170))


def test_what_is_known_is_bounded(driver):
    """By the newest 256 events of a card; the ring has fewer."""
    events = watching(0)
    for start in range(0, 480, 40):
        records = [event_record(1 + number, seconds=number) for number in range(start, start + 40)]
        driver.write(0, *records)
        assert len(all_events(events)) == 40
    (watched,) = nvml._event_set(events)[1].watched.values()
    assert len(watched.known) == nvml._EVENTS_KNOWN == 256
    driver.write(0, *records[1:])
    assert all_events(events) == []


def test_two_sets_have_the_same_events(driver):
    first, second = watching(0), watching(0, 0)
    driver.write(0, event_record(NEWS))
    assert all_events(first) == all_events(second) == [NEWS]


def test_threads_that_wait_for_one_set_share_its_events(driver):
    events, found, count = watching(0, 1), [], 50
    for index in (0, 1):
        driver.write(index, *[event_record(100 * index + number, seconds=number) for number in range(count)])
    in_threads(lambda number: found.extend(all_events(events)))
    assert sorted(found) == list(range(count)) + list(range(100, 100 + count))


def test_an_event_comes_while_somebody_waits(driver, monkeypatch):
    monkeypatch.setattr(nvml, "_LOOK_SECONDS", 0.01)
    thread, ends = in_thread(lambda events=watching(3): nvml.nvmlEventSetWait_v2(events, 30000).eventData)
    time.sleep(0.05)
    assert not ends
    driver.write(3, event_record(NEWS))
    thread.join(10)
    assert ends == [NEWS]


@pytest.mark.parametrize("indexes", [(), (0,)])
def test_without_an_event_the_time_passes(driver, indexes, monkeypatch):
    """It passes in sleep, shorter than that between two looks, and at the end of it the records are read once more."""
    monkeypatch.setattr(nvml, "_LOOK_SECONDS", 60)
    events, began, worked = watching(*indexes), time.monotonic(), time.process_time()
    pytest.raises(nvml.NVMLError_Timeout, nvml.nvmlEventSetWait_v2, events, 300)
    assert 0.3 <= time.monotonic() - began < 30 and time.process_time() - worked < 0.1


def test_records_of_the_last_moment_are_seen(driver, monkeypatch):
    """They come after the first look."""
    events, looks = watching(0), []

    def look(path, read=nvml._event_bytes):
        data = read(path)
        looks.append(driver.write(0, event_record(NEWS)))
        return data

    monkeypatch.setattr(nvml, "_event_bytes", look)
    assert nvml.nvmlEventSetWait_v2(events, 20).eventData == NEWS and len(looks) == 2


def test_a_card_that_is_gone_while_it_is_waited_for(driver):
    """Events come first; an error comes at once, not at the end of the time."""
    events = watching(0, 1)
    driver.write(0, event_record(NEWS))
    driver.files[1].unlink()
    assert nvml.nvmlEventSetWait_v2(events, 0).eventData == NEWS
    began = time.monotonic()
    pytest.raises(nvml.NVMLError_GpuIsLost, nvml.nvmlEventSetWait_v2, events, 30000)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("content", [None, bytes(256), RECORD[:200]], ids=["folder", "zeros", "short"])
def test_records_that_cannot_be_read(driver, content, monkeypatch):
    """That is no Timeout: the program would believe that it watches the card. It may pass before the time does."""
    events = watching(0)
    driver.files[0].unlink()
    driver.files[0].mkdir() if content is None else driver.files[0].write_bytes(content)
    plainly_unsupported(nvml.nvmlEventSetWait_v2, events, 0)
    plainly_unsupported(nvml.nvmlDeviceGetSupportedEventTypes, card(0))
    plainly_unsupported(nvml.nvmlDeviceRegisterEvents, card(0), TYPE, events)
    if content is None:
        driver.files[0].rmdir()
        driver.files[0].write_bytes(bytes(256))
    monkeypatch.setattr(nvml, "_LOOK_SECONDS", 0.01)
    thread, ends = in_thread(lambda: nvml.nvmlEventSetWait_v2(events, 30000).eventData)
    time.sleep(0.05)
    driver.write(0, event_record(NEWS))
    thread.join(10)
    assert ends == [NEWS]


def test_the_types_of_events(driver):
    driver.files[1].unlink()
    events = nvml.nvmlEventSetCreate()
    assert nvml.nvmlDeviceGetSupportedEventTypes(card(0)) == TYPE
    nvml.nvmlDeviceRegisterEvents(card(0), nvml.nvmlEventTypeNone, events)
    driver.write(0, event_record(NEWS))
    assert all_events(events) == []
    nvml.nvmlDeviceRegisterEvents(card(0), TYPE, events)
    driver.write(0, event_record(NEWS, pid=1))
    nvml.nvmlDeviceRegisterEvents(card(0), TYPE, events)  # again: what has come meanwhile is not lost
    assert all_events(events) == [NEWS]
    for types in (nvml.nvmlEventTypeAll, TYPE | nvml.nvmlEventTypeClock, TYPE | 1 << 40, -1):
        plainly_unsupported(nvml.nvmlDeviceRegisterEvents, card(0), types, events)
    (driver.files[2].parent / "devname").write_text("mtgpu.9\n")
    for index in (1, 2):
        plainly_unsupported(nvml.nvmlDeviceGetSupportedEventTypes, card(index))
        plainly_unsupported(nvml.nvmlDeviceRegisterEvents, card(index), TYPE, events)
    pytest.raises(TypeError, nvml.nvmlDeviceRegisterEvents, card(0), "8", events)


def test_what_is_no_set(driver):
    """Nothing else is one; a number is never used again, so that an old set is not taken for a new one."""
    freed, also = watching(0), nvml.nvmlEventSetCreate()
    assert nvml.nvmlEventSetFree(freed) is None
    nvml.nvmlShutdown()
    pytest.raises(nvml.NVMLError_Uninitialized, nvml.nvmlEventSetWait_v2, also, 0)
    pytest.raises(nvml.NVMLError_Uninitialized, nvml.nvmlEventSetCreate)
    nvml.nvmlInit()
    new = [ctypes.cast(nvml.nvmlEventSetCreate(), ctypes.c_void_p).value for _ in range(3)]
    for bad in (None, 0, new[0], ctypes.c_void_p(new[0]), nvml.c_nvmlEventSet_t(), freed, also, card(0), "x"):
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlEventSetWait_v2, bad, 0)
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlDeviceRegisterEvents, card(0), TYPE, bad)
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlEventSetFree, bad)
    copied = ctypes.cast(ctypes.c_void_p(new[0]), nvml.c_nvmlEventSet_t)
    assert all_events(copied) == [] and nvml.nvmlEventSetFree(copied) is None


def test_an_instance_of_a_card_has_no_events(tmp_path, monkeypatch):
    with simulated.nvml(MPC):
        instance = nvml.nvmlDeviceGetMigDeviceHandleByIndex(card(0), 0)
        Driver(tmp_path, monkeypatch, ["mtgpu.0", os.path.basename(nvml.mtmlDeviceGetGpuPath(instance))])
        assert nvml.nvmlDeviceGetSupportedEventTypes(card(0)) == TYPE
        pytest.raises(nvml.NVMLError_NotSupported, nvml.nvmlDeviceGetSupportedEventTypes, instance)


def test_the_c_functions(driver):
    """As a program of ctypes calls them; a bad argument costs no event."""
    names = "EventSetCreate EventSetFree DeviceRegisterEvents EventSetWait_v2 DeviceGetSupportedEventTypes"
    pointers = [nvml._nvmlGetFunctionPointer("nvml" + name) for name in names.split()]
    create, free, register, wait, types = pointers
    events, data = nvml.c_nvmlEventSet_t(), nvml.c_nvmlEventData_t()
    mask, number = ctypes.c_ulonglong(), ctypes.c_uint(5)
    assert create(ctypes.byref(events)) == 0 and types(card(0), ctypes.byref(mask)) == 0 and mask.value == TYPE
    assert create(ctypes.pointer(number)) == create(card(0)) == nvml.NVML_ERROR_INVALID_ARGUMENT and number.value == 5
    assert register(card(0), mask, events) == 0
    driver.write(0, event_record(NEWS))
    zero, small = ctypes.c_uint(0), (ctypes.c_uint * 2)()
    bad = [(None, zero), (ctypes.byref(small), zero), (data, "x"), (data,), ()]
    assert [wait(events, *arguments) for arguments in bad] == [nvml.NVML_ERROR_INVALID_ARGUMENT] * len(bad)
    assert wait(events, ctypes.byref(data), zero) == 0 and data.eventData == NEWS
    assert wait(events, data, zero) == nvml.NVML_ERROR_TIMEOUT
    assert free(events) == 0 and free(events) == nvml.NVML_ERROR_INVALID_ARGUMENT


# ---- What ends a wait ----


@pytest.fixture
def waits(monkeypatch):
    """Starts a thread that waits, and returns it with the list that gets what its wait came to; no look ends it."""
    monkeypatch.setattr(nvml, "_LOOK_SECONDS", 600)
    monkeypatch.setattr(nvml, "_DRAIN_SECONDS", 60)

    def start(wait, events):
        waiting = nvml._event_set(events)[1].waiting
        count = len(waiting) + 1
        thread, ends = in_thread(lambda: wait(events, 600000))
        until(lambda: len(waiting) == count)
        return thread, ends

    return start


def ended(thread, ends):
    """The class of the error that has ended a wait."""
    thread.join(60)
    return type(ends[0])


@each_wait
def test_free_ends_a_wait(driver, wait, waits):
    events = watching(0)
    waiting = [waits(wait, events) for _ in range(3)]
    nvml.nvmlEventSetFree(events)
    assert [ended(*one) for one in waiting] == [nvml.NVMLError_InvalidArgument] * 3


@each_wait
@pytest.mark.parametrize("names", ["nvml", "mtml"])
def test_the_last_shutdown_ends_a_wait(driver, wait, waits, names):
    """A wait is no query: C's library is shut down beside it."""
    waiting = waits(wait, watching(0))
    nvml.nvmlInit()
    nvml.nvmlShutdown()
    assert waiting[0].is_alive(), "that was not the last shutdown"
    nvml.nvmlShutdown() if names == "nvml" else nvml.mtmlLibraryShutDown()
    if not FREE_THREADED:
        assert simulated.state() == (0, 0)
    assert ended(*waiting) is nvml.NVMLError_Uninitialized
    nvml.nvmlInit()


@changes
@each_wait
@pytest.mark.parametrize("change", ["MPC", "a reset"])
def test_a_change_ends_a_wait(tmp_path, monkeypatch, wait, waits, change):
    """It does not wait for the wait; one that C refuses does not end it."""
    with simulated.nvml(MPC):
        Driver(tmp_path, monkeypatch, ["mtgpu.0", "mtgpu.1"])
        waiting = waits(wait, watching(0, 1))
        simulated.set_faults("mtmlDeviceSetMpcMode=NO_PERMISSION@0x1")
        pytest.raises(nvml.NVMLError_NoPermission, nvml.nvmlDeviceSetMigMode, card(0), 0)
        simulated.set_faults("")
        assert waiting[0].is_alive()
        began = time.monotonic()
        nvml.nvmlDeviceSetMigMode(card(0), 0) if change == "MPC" else nvml.mtmlDeviceReset(card(0))
        assert time.monotonic() - began < nvml._DRAIN_SECONDS / 2
        assert ended(*waiting) is nvml.NVMLError_InvalidArgument
        assert all_events(watching(0, 1)) == []


@changes
def test_a_change_ends_a_wait_at_its_end(tmp_path, monkeypatch):
    """Earlier, the program could not make a new set: until then other threads get InUse."""
    monkeypatch.setattr(nvml, "_LOOK_SECONDS", 0.001)
    restart = nvml._restart_c
    monkeypatch.setattr(nvml, "_restart_c", lambda: time.sleep(0.2) or restart())
    with simulated.nvml(MPC):
        Driver(tmp_path, monkeypatch, ["mtgpu.0", "mtgpu.1"])
        events = watching(0)

        def wait():
            pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlEventSetWait_v2, events, 30000)
            return watching(0)

        thread, ends = in_thread(wait)
        until(lambda: nvml._event_set(events)[1].waiting)
        nvml.nvmlDeviceSetMigMode(card(0), 0)
        thread.join(60)
        assert all_events(ends[0]) == []


@changes
def test_a_change_that_loses_the_library_ends_a_wait(tmp_path, monkeypatch, waits):
    with simulated.nvml(MPC):
        Driver(tmp_path, monkeypatch, ["mtgpu.0", "mtgpu.1"])
        waiting, device = waits(nvml.nvmlEventSetWait_v2, watching(0)), card(0)
        simulated.set_faults("mtmlLibraryInit=UNKNOWN")
        pytest.raises(nvml.NVMLError, nvml.nvmlDeviceSetMigMode, device, 0)
        assert ended(*waiting) is nvml.NVMLError_Uninitialized
        simulated.set_faults("")
        nvml.nvmlInit()


def test_a_set_ends_with_the_process(driver):
    """A forked child goes on with the life, but has no part in what its parent waits for."""
    events = watching(0)
    driver.write(0, event_record(NEWS))

    def child():
        pytest.raises(nvml.NVMLError_InvalidArgument, nvml.nvmlEventSetWait_v2, events, 0)
        own = watching(0)
        assert ctypes.cast(own, ctypes.c_void_p).value > ctypes.cast(events, ctypes.c_void_p).value
        driver.write(0, event_record(NEWS, seconds=1))
        assert all_events(own) == [NEWS]

    assert in_child(child) == 0
    assert all_events(events) == [NEWS]


def test_a_child_that_a_handler_forks_during_a_wait(driver):
    children = []

    def child():
        signal.signal(signal.SIGALRM, lambda number, frame: children.append(os.fork()))
        events = watching(0)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(nvml.NVMLError) as raised:
            nvml.nvmlEventSetWait_v2(events, 1500)
        if children == [0]:
            os._exit(0 if raised.type is nvml.NVMLError_InvalidArgument else 1)
        assert raised.type is nvml.NVMLError_Timeout and os.waitpid(children[0], 0)[1] == 0

    assert in_child(child) == 0


class Interruption(Exception):
    """What a signal handler raises."""


def test_an_exception_before_any_line_of_a_wait_costs_one_event_at_most(driver):
    """And no event comes twice; the next wait has the others."""
    step, place, lost, left = 0, True, 0, 0

    def interrupt():
        raise Interruption

    while place:
        step += 1
        events = watching(0)
        driver.write(0, event_record(2 * step, seconds=step), event_record(2 * step + 1, seconds=step))
        answer, place = before_line(
            step, lambda: nvml.nvmlEventSetWait_v2(events, 0).eventData, interrupt, Interruption
        )
        found = all_events(events)
        if answer is Interruption:
            lost += len(found) < 2
            assert found in ([2 * step, 2 * step + 1], [2 * step + 1]), place
        else:
            assert (answer, found) == (2 * step, [2 * step + 1])
        left += len(nvml._event_set(events)[1].waiting)
        nvml.nvmlEventSetFree(events)
    assert step > 40 and lost < 8 and left < 8


def test_a_handler_may_do_anything_during_a_wait(driver):
    """Query, wait for the same set, free it, and end the life."""

    def child():
        events, answers = watching(0), []

        def handle(number, frame):
            answers.append(nvml.nvmlDeviceGetIndex(card(1)))
            answers.append(all_events(events))
            nvml.nvmlEventSetFree(events)
            nvml.nvmlShutdown()

        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        began = time.monotonic()
        pytest.raises(nvml.NVMLError_Uninitialized, nvml.nvmlEventSetWait_v2, events, 30000)
        assert time.monotonic() - began < 20 and answers == [1, []]

    assert in_child(child) == 0
