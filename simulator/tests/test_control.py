"""The control functions that drivers of tests build on: faults of one card, loading at once, watching references."""

import ctypes
import os
import threading

import interface
import pytest
from interface import LIBRARY, Session, message, reason, uint

WATCHER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)


@pytest.fixture(autouse=True)
def undo():
    yield
    LIBRARY.mtmlSimWatchReferences(ctypes.cast(None, WATCHER))
    LIBRARY.mtmlSimSetFaults(None)


def temperature(gpu):
    return reason("mtmlGpuGetTemperature", gpu, ctypes.byref(ctypes.c_uint()))


def test_fault_of_one_card():
    with Session(MTML_SIM_FAULTS="5.mtmlGpuGetTemperature=TIMEOUT@1x2") as session:
        gpus = [session.gpu(index) for index in range(8)]
        assert [temperature(gpus[5]) for _ in range(4)] == ["SUCCESS", "TIMEOUT", "TIMEOUT", "SUCCESS"]
        assert [temperature(gpu) for gpu in gpus] == ["SUCCESS"] * 8


def test_fault_of_one_card_counts_only_its_calls():
    with Session(MTML_SIM_FAULTS="5.mtmlGpuGetTemperature=TIMEOUT@1") as session:
        for index in (0, 1, 5, 2, 3):
            assert temperature(session.gpu(index)) == "SUCCESS"
        assert temperature(session.gpu(5)) == "TIMEOUT"


def test_fault_of_all_functions_of_one_card():
    with Session() as session:
        gpus = [session.gpu(index) for index in (2, 3)]
        assert LIBRARY.mtmlSimAddFaults(b"3.*=RESOURCE_IS_BUSY") == 0
        assert [temperature(gpu) for gpu in gpus] == ["SUCCESS", "RESOURCE_IS_BUSY"]
        pointer = ctypes.c_void_p()
        initialize = "mtmlLibraryInitDeviceByIndex"
        assert reason(initialize, session.library, 3, ctypes.byref(pointer)) == "RESOURCE_IS_BUSY"
        assert reason(initialize, session.library, 2, ctypes.byref(pointer)) == "SUCCESS"
        assert session.count() == 8


def test_fault_of_a_card_covers_its_instances():
    with Session("s3000-mpc+frozen", MTML_SIM_FAULTS="0.mtmlDeviceGetIndex=UNKNOWN") as session:
        devices = [session.device(index) for index in range(session.count())]
        answers = [reason("mtmlDeviceGetIndex", device, ctypes.byref(ctypes.c_uint())) for device in devices]
        assert answers == ["UNKNOWN"] * (len(devices) - 1) + ["SUCCESS"]


def test_first_fault_that_fits_wins():
    with Session() as session:
        gpu = session.gpu()
        assert LIBRARY.mtmlSimSetFaults(b"mtmlGpuGetTemperature=TIMEOUT@0x2, 0.*=UNKNOWN") == 0
        assert [temperature(gpu) for _ in range(3)] == ["TIMEOUT", "TIMEOUT", "UNKNOWN"]


@pytest.mark.parametrize(
    "text", ["64.mtmlGpuGetClock=UNKNOWN", "1mtmlGpuGetClock=UNKNOWN", "-1.*=UNKNOWN", "1.=UNKNOWN"]
)
def test_bad_card_of_a_fault(text):
    with Session() as session:
        assert LIBRARY.mtmlSimAddFaults(text.encode()) == -1
        assert text in message()
        assert temperature(session.gpu()) == "SUCCESS"


def test_faults_are_added_to_those_that_count():
    with Session() as session:
        gpu = session.gpu()
        assert LIBRARY.mtmlSimSetFaults(b"mtmlGpuGetTemperature=TIMEOUT@2x1") == 0
        assert temperature(gpu) == "SUCCESS"
        assert LIBRARY.mtmlSimAddFaults(b"mtmlGpuGetTemperature=NO_PERMISSION@2x1") == 0
        assert [temperature(gpu) for _ in range(4)] == ["SUCCESS", "TIMEOUT", "NO_PERMISSION", "SUCCESS"]
        assert LIBRARY.mtmlSimAddFaults(None) == -1


def test_load_makes_the_machine_at_once():
    with Session("s80+frozen"):
        assert LIBRARY.mtmlSimLoad() == -1
        assert "initialized" in message()
        interface.sim_set(0, "gpu_clock", 999)
    os.environ["MTML_SIM_PROFILE"] = "s4000x8"
    assert LIBRARY.mtmlSimLoad() == 0
    assert interface.sim_get(7, "name") == "MTT S4000"
    os.environ["MTML_SIM_PROFILE"] = "s80"
    assert LIBRARY.mtmlSimLoad() == 0
    assert interface.sim_get(0, "gpu_clock") == "1620"


def test_load_tells_what_is_wrong(tmp_path):
    path = tmp_path / "bad.ini"
    path.write_text("[machine]\nlibrary_version = x-simulator\n[device.0]\ncolor = blue\n")
    with Session():
        pass
    os.environ["MTML_SIM_PROFILE"] = str(path)
    assert LIBRARY.mtmlSimLoad() == -1
    thread = threading.Thread(target=LIBRARY.mtmlSimAddFaults, args=(None,))  # whose message is its own
    thread.start()
    thread.join()
    assert message() == "%s:4: [device.0] color: unknown key" % path
    short = ctypes.create_string_buffer(4)
    assert LIBRARY.mtmlSimGetMessage(short, ctypes.c_size_t(4)) == 0 and short.value.decode() == str(path)[:3]


def test_end_is_a_last_shutdown():
    """Another init is refused where the machine refuses a second one; one beside a first is not."""
    with Session() as session:
        interface.sim_set(interface.MACHINE, "reinit", "DRIVER_FAILURE")
        LIBRARY.mtmlSimEnd()
        assert reason("mtmlLibraryInit", ctypes.byref(session.library)) == "DRIVER_FAILURE"
        interface.sim_set(interface.MACHINE, "reinit", "OK")
        session.library = interface.pointer("mtmlLibraryInit")
        interface.sim_set(interface.MACHINE, "reinit", "DRIVER_FAILURE")
        interface.call("mtmlLibraryShutDown", interface.pointer("mtmlLibraryInit"))


def test_keep_takes_the_variables_for_done():
    """What was set and counted at run time is still there after an init that finds new variables."""
    with Session() as session:
        gpu = session.gpu()
        interface.sim_set(0, "gpu_clock", 999)
        interface.sim_set(0, "gpu_max_clock", 1111)
        assert LIBRARY.mtmlSimAddFaults(b"mtmlGpuGetTemperature=TIMEOUT@2x1") == 0
        assert temperature(gpu) == "SUCCESS"
        os.environ.update(MTML_SIM_SET="0.gpu_clock=999", MTML_SIM_FAULTS="mtmlGpuGetTemperature=TIMEOUT@2x1")
        LIBRARY.mtmlSimKeep()
        interface.call("mtmlLibraryShutDown", session.library)
        session.library = interface.pointer("mtmlLibraryInit")
        gpu = session.gpu()
        assert uint("mtmlGpuGetMaxClock", gpu) == 1111
        assert [temperature(gpu) for _ in range(3)] == ["SUCCESS", "TIMEOUT", "SUCCESS"]


def test_watching_references():
    seen = []

    @WATCHER
    def watcher(library, taken):
        seen.append((library, taken, LIBRARY.mtmlSimGetLibraryReferences()))

    LIBRARY.mtmlSimWatchReferences(watcher)
    with Session() as session:
        first = session.library.value
        second = interface.pointer("mtmlLibraryInit")
        assert LIBRARY.mtmlSimSetFaults(b"mtmlLibraryInit=UNKNOWN") == 0
        assert reason("mtmlLibraryInit", ctypes.byref(ctypes.c_void_p())) == "UNKNOWN"
        interface.call("mtmlLibraryShutDown", second)
    LIBRARY.mtmlSimWatchReferences(ctypes.cast(None, WATCHER))
    with Session():
        pass
    assert seen == [(first, 1, 1), (second.value, 1, 2), (second.value, 0, 1), (first, 0, 0)]


XID = '0x05000002 fatal gpu pid=7 "a, b"'
NO_XIDS = [
    "5",
    "5 fatal",
    "5 bad gpu",
    "5 fatal card",
    "x fatal gpu",
    "4294967296 warn gpu",
    "5 warn gpu pid=x",
    "5 warn gpu pid=",
]


@pytest.mark.parametrize(
    "key, text",
    [("processes", text) for text in ("4242 2048 python worker.py, 17 - sleep", "1 0 a", "")]
    + [("xid", text) for text in (XID, "5 notify process", '5 warn host ""', "")],
)
def test_texts_with_a_form(key, text):
    with Session():
        interface.sim_set(0, key, text)
        assert interface.sim_get(0, key) == text


@pytest.mark.parametrize(
    "key, text",
    [
        ("processes", text)
        for text in ("4242", "4242 2048", "4242 2048 ", "x 1 a", "1 x a", "1 -1 a", "1 1 a,", "1  2 a")
    ]
    + [("xid", text) for text in NO_XIDS + [XID[:-1], XID + "x", XID + '"', "5 warn gpu text", '5 warn gpu "']],
)
def test_texts_without_it(key, text):
    with Session():
        assert LIBRARY.mtmlSimSet(0, key.encode(), text.encode()) == -1
        assert interface.sim_get(0, key) == ""


def test_values_without_a_form():
    """Each is refused, and changes nothing."""
    texts = {
        "encoder_sessions": ("pid=3", "id", "id=x", "id=0 state=BUSY", "id=0 codec=JPEG", "id=0,"),
        "displays": ("DP", "DP 1x1", "DP 1x1@x", "DP 1x1@1 1", "DVI 1x1@1"),
        "retired_pages_dbe": ("0x1", "@1", "0x1@", "0x1@1,"),
        "musa_compute_capability": ("2", "2.", "2.x", ".1", "2.1.0"),
        "lost": ("TIMEOUT@", "TIMEOUT@x", "TIMEOUT@-1"),
        "cpu_affinity": ("x", "1-x", "1-2-3", "3-1", "65536", "1,"),
        "pci_max_speed": ("", "x", "1x"),
    }
    with Session():
        for key in texts:
            before = interface.sim_get(0, key)
            taken = [text for text in texts[key] if LIBRARY.mtmlSimSet(0, key.encode(), text.encode()) == 0]
            assert (taken, interface.sim_get(0, key)) == ([], before)


def failed_call():
    buffer = ctypes.create_string_buffer(64)
    if LIBRARY.mtmlSimGetFailedCall(buffer, ctypes.c_size_t(64)):
        return None
    assert LIBRARY.mtmlSimGetFailedCall(buffer, ctypes.c_size_t(len(buffer.value))) == -1  # without room for the NUL
    return buffer.value.decode()


def fail_call(number, code):
    return LIBRARY.mtmlSimFailCall(ctypes.c_ulonglong(number), code)


def test_one_call_whatever_it_is():
    with Session() as session:
        gpu = session.gpu()
        assert fail_call(3, b"TIMEOUT") == 0 and failed_call() is None
        LIBRARY.mtmlErrorString(0)
        answers = [temperature(gpu), reason("mtmlLibraryFreeDevice", session.device(0)), temperature(gpu)]
        assert answers == ["SUCCESS", "TIMEOUT", "SUCCESS"]
        assert failed_call() == "mtmlLibraryFreeDevice"
        assert fail_call(1, b"NOT_SUPPORTED") == 0 and fail_call(0, None) == 0
        assert temperature(gpu) == "SUCCESS" and failed_call() is None
        # A look-up by index on a card is one call, too.
        assert fail_call(2, b"17") == 0
        session.device(1)
        assert temperature(gpu) == 17
        for code in (b"NO_SUCH_CODE", None):
            assert fail_call(1, code) == -1
