"""XIDs: what is read of the driver's records of them, and NVML's events."""

import os

import pytest
import simulated
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


class Driver:
    """The driver's files of XIDs, one for each card of a machine, at first without records."""

    def __init__(self, root, monkeypatch, devnames):
        self.files = []
        for number, devname in enumerate(devnames):
            # Reversed, so that the directory's number is not the card's.
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


def test_a_card_is_known_by_its_directory(driver):
    """Neither by the UUID nor by the address in the record: drivers write parts of them only."""
    driver.write(1, event_record(NEWS))
    assert nvml._xid_report(card(0)) == ([], 0)
    (xid,), strange = nvml._xid_report(card(1))
    assert (xid.number, strange) == (NEWS, 0)


def replaced(file, make):
    """Put something else in the place of a card's file."""
    file.unlink()
    make(str(file))


def test_no_file_keeps_the_reader(driver):
    """The driver returns its ring at each read, without an end, and a file without records may let readers wait."""
    replaced(driver.files[0], lambda path: os.symlink("/dev/zero", path))
    assert nvml._xid_report(card(0)) == ([], 64)
    replaced(driver.files[1], os.mkfifo)
    assert nvml._xid_report(card(1)) == ([], 0)
    writer = os.open(str(driver.files[1]), os.O_RDWR)
    try:
        assert nvml._xid_report(card(1)) == ([], 0), "EAGAIN"
    finally:
        os.close(writer)


def test_what_cannot_be_read_is_an_error(driver):
    driver.files[0].unlink()
    replaced(driver.files[1], os.mkdir)
    (driver.files[2].parent / "devname").write_text("mtgpu.9\n")
    for index, error in ((0, "NotSupported"), (1, "OperatingSystem"), (2, "NotSupported")):
        with pytest.raises(getattr(nvml, "NVMLError_" + error)) as raised:
            nvml._xid_report(card(index))
        assert "gpu%02x" % (7 - index) in raised.value.detail or "mtgpu.2" in raised.value.detail
