"""Scenarios through the NVML facade, written as users of pynvml write them.

What each function returns is tested in tests/test_values.py. Runs by itself, too: python test_pynvml.py
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))

try:
    import pytest
except ImportError:
    sys.exit("test_pynvml.py needs pytest: python3 -m pip install pytest")

import simulated  # noqa: E402

import pymtml as pynvml  # noqa: E402


@pytest.fixture
def s5000x8():
    with simulated.nvml("s5000x8"):
        yield


def handles():
    return [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]


def test_finding_a_card_again(s5000x8):
    """By everything that an operator may have written down, as str and as bytes, however it was spelled."""
    handle = pynvml.nvmlDeviceGetHandleByIndex(3)
    uuid, bus_id = pynvml.nvmlDeviceGetUUID(handle), pynvml.nvmlDeviceGetPciInfo(handle).busId
    for spelling in (uuid, "GPU-" + uuid, "gpu-" + uuid.upper(), uuid.upper()):
        assert pynvml.nvmlDeviceGetHandleByUUID(spelling) is handle, spelling
        assert pynvml.nvmlDeviceGetHandleByUUID(spelling.encode()) is handle, spelling
        assert pynvml.nvmlDeviceGetHandleByUuid(uuid=spelling) is handle, spelling
    short = bus_id[4:], bus_id[4:].lower(), bus_id[9:], bus_id[:-2], bus_id[9:-2]
    for spelling in (bus_id, bus_id.lower(), bus_id.encode()) + short:
        assert pynvml.nvmlDeviceGetHandleByPciBusId(spelling) is handle, spelling
    serial = pynvml.nvmlDeviceGetSerial(handle)
    assert pynvml.nvmlDeviceGetHandleBySerial(serial) is pynvml.nvmlDeviceGetHandleBySerial(serial.encode()) is handle


@pytest.mark.parametrize(
    "function, text, error",
    [
        ("nvmlDeviceGetHandleByUUID", "GPU-none", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByUUID", "GPU-", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByUUID", "399282a8-ba01-1475-893c-2eeca9e302f", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByUUID", b"\xff", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByUUID", "\ud800", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByUUID", 5, pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleBySerial", "none", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleBySerial", "", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleBySerial", 5, pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:00:00.0", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByPciBusId", "0000:2a", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:zz:00.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:0x2a:00.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "ffffffff:ff:1f.0", pynvml.NVMLError_NotFound),
        ("nvmlDeviceGetHandleByPciBusId", "100000000:2a:00.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:100:00.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:2a:20.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:2a:00.1", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0000:2a:00.0.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", "0:0000:2a:00.0", pynvml.NVMLError_InvalidArgument),
        ("nvmlDeviceGetHandleByPciBusId", 7, pynvml.NVMLError_InvalidArgument),
    ],
)
def test_a_card_that_is_not_there(function, text, error, s5000x8):
    simulated.reset_calls()
    with pytest.raises(error) as caught:
        getattr(pynvml, function)(text)
    assert type(caught.value) is error
    assert (simulated.calls() == 0) == (error is pynvml.NVMLError_InvalidArgument)  # that is found before C is asked


def test_structs_print_and_convert(s5000x8):
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    assert str(memory) == "c_nvmlMemory_t(total: %d B, free: %d B, used: %d B)" % (
        memory.total,
        memory.free,
        memory.used,
    )
    assert str(pynvml.nvmlDeviceGetUtilizationRates(handle)) == "c_nvmlUtilization_t(gpu: 96 %, memory: 64 %)"
    assert str(pynvml.nvmlDeviceGetPciInfo(handle)) == (
        "nvmlPciInfo_t(busIdLegacy: 0000:2A:00.0, domain: 0x00000000, bus: 0x2A, device: 0x00, "
        "pciDeviceId: 0x04001ED5, pciSubSystemId: 0x04001ED5, busId: 00000000:2A:00.0)"
    )
    friendly = pynvml.nvmlStructToFriendlyObject(memory)
    assert (friendly.total, friendly.used) == (memory.total, memory.used)
    again = pynvml.nvmlFriendlyObjectToStruct(friendly, pynvml.c_nvmlMemory_t())
    assert (again.total, again.free, again.used) == (memory.total, memory.free, memory.used)
    assert pynvml.c_nvmlMemory_t(-1, -1, -1).total == (1 << 64) - 1


def test_each_answer_is_a_struct_of_its_own(s5000x8):
    first, second = handles()[:2]
    kept = pynvml.nvmlDeviceGetMemoryInfo(first)
    used = kept.used
    simulated.set_value(0, "memory_used", 12345678)
    pynvml.nvmlDeviceGetMemoryInfo(second)
    assert kept.used == used
    assert pynvml.nvmlDeviceGetMemoryInfo(first).used == 12345678
    pci = pynvml.nvmlDeviceGetPciInfo(first)
    pci.bus = 99
    assert pynvml.nvmlDeviceGetPciInfo(first).bus == 42


def test_module_answers_to_the_name_pynvml():
    code = (
        "import sys, pymtml\nsys.modules['pynvml'] = pymtml\n"
        "import pynvml\nfrom pynvml import *\nfrom pynvml import nvmlDeviceGetMemoryInfo as memory\n"
        "nvmlInit()\n"
        "print(nvmlDeviceGetCount(), memory(nvmlDeviceGetHandleByIndex(0)).total >> 30, NVML_ERROR_NOT_SUPPORTED)\n"
        "print(byref(c_uint(1)) is not None, pynvml.c_nvmlDevice_t.__name__, NVMLError_NotSupported.__name__)\n"
        "nvmlShutdown()\n"
    )
    result = simulated.run_python(code)
    assert (result.stdout, result.stderr) == ("8 80 3\nTrue c_mtmlDevice_t NVMLError_NotSupported\n", "")


def test_strings_of_a_driver_are_always_text():
    """Bytes that are no UTF-8, a missing terminator: text with replacement characters, never an exception."""
    with simulated.nvml("s5000x8", set="0.name=MTT\\xff\\xfe;0.serial_number=ABC;0.unterminated=serial_number"):
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        assert pynvml.nvmlDeviceGetName(handle) == "MTT\ufffd\ufffd"
        assert pynvml.nvmlDeviceGetSerial(handle).startswith("ABC")


if __name__ == "__main__":
    sys.exit(pytest.main([os.path.abspath(__file__)] + sys.argv[1:]))
