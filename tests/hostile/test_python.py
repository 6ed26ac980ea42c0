"""Arguments that lie about what they are: numbers, texts, lists and handles whose own code runs inside a call.

Each call is made in a child of its own: what used to end the interpreter, or run for minutes, ends only that.
"""

import ctypes
import time

import pytest
import simulated
from concurrency import in_child

import pymtml

SECONDS = 2  # of the processor: what takes minutes where a count is not bounded; what takes no time at all where it is


class LyingInt(int):
    """0 in any comparison and product, another number if it is asked for it, and something else in C."""

    def __index__(self):
        return 99

    def __mul__(self, other):
        return 0

    __rmul__ = __sub__ = __rsub__ = __mul__

    def __le__(self, other):
        return True

    __lt__ = __ge__ = __gt__ = __eq__ = __ne__ = __bool__ = lambda self, *other: True
    __hash__ = int.__hash__


class LyingIndex:
    """No int, with an __index__ that gives a lying one."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return LyingInt(self.value)


class FalseBytes:
    """Says that it is bytes, and would reach C as the address 1."""

    __class__ = bytes
    _as_parameter_ = 1

    def __contains__(self, item):
        return False

    def decode(self, *arguments):
        return self

    def encode(self, *arguments):
        return self


class FalseStr(FalseBytes):
    __class__ = str


class LyingStr(str):
    """A str whose methods give something else."""

    def encode(self, *arguments):
        return FalseBytes()

    def __contains__(self, item):
        return False

    def __getitem__(self, item):
        return FalseBytes()

    def lower(self):
        return FalseBytes()

    upper = strip = split = rsplit = __str__ = lower


class LyingBytes(bytes):
    """Bytes whose methods give something else."""

    def decode(self, *arguments):
        return FalseStr()

    def __contains__(self, item):
        return False

    def __bytes__(self):
        return FalseBytes()


class HostileMeta(type):
    """A class that hashes and compares as it likes."""

    def __hash__(cls):
        raise RuntimeError("hashed")

    def __eq__(cls, other):
        return True

    def __instancecheck__(cls, other):
        return True

    __subclasscheck__ = __instancecheck__


class HostileHandle(metaclass=HostileMeta):
    """Equal to every handle class, with whatever slot is looked for."""

    _device = _gpu = _memory = _vpu = _system = _library = _board = _address = 0x1000
    __class__ = pymtml.c_mtmlDevice_t

    @property
    def contents(self):
        return self


class EqualToAll:
    """Equal to every number, hashable by none."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other):
        return True


def call_in_child(work, seconds=SECONDS, name="s5000x8"):
    """Run work(device) in a child, within that time."""

    def child():
        pymtml.nvmlInit()
        device = pymtml.nvmlDeviceGetHandleByIndex(0)
        began = time.process_time()
        work(device)
        assert time.process_time() - began < seconds

    with simulated.machine(name):
        assert in_child(child) == 0


def refused(call, *errors):
    """The class of what call() raises, which must be one of these."""
    with pytest.raises(errors or (pymtml.MTMLError_InvalidArgument,)) as caught:
        call()
    return caught.value


# ---- Counts ----

LISTS = {  # that take a count last, and their arguments between the device and it
    (): "GetSupportedVirtTypes GetAvailVirtTypes GetMemoryAffinityWithinNode GetCpuAffinityWithinNode GetMpcInstances "
    "GetSupportedMpcProfiles",
    (5,): "GetDeviceByTopologyLevel",
    (48,): "GetActiveVirtDeviceUuids",
}


@pytest.mark.parametrize("count", [4294967295, -1, 2**64, 1 << 26])
def test_counts_of_lists_are_bounded(count):
    """Each by itself: a product of 0 does not make the other count a small one."""

    def work(device):
        calls = [
            (getattr(pymtml, "mtmlDevice" + name), (device, *between, count))
            for between, names in LISTS.items()
            for name in names.split()
        ]
        calls += [
            (pymtml.mtmlDeviceGetMtLinkLayouts, (device, device, count)),
            (pymtml.mtmlDeviceGetMtLinkShortestPaths, (device, device, count, count)),
            (pymtml.mtmlDeviceGetMtLinkShortestPaths, (device, device, count, 0)),
            (pymtml.mtmlDeviceGetMtLinkShortestPaths, (device, device, 0, count)),
            (pymtml.mtmlMemoryGetRetiredPages, (device, 0, count)),
            (pymtml.mtmlVpuGetEncoderSessionStates, (device, count)),
            (pymtml.mtmlDeviceGetActiveVirtDeviceUuids, (device, count, 48)),
        ]
        for function, arguments in calls:
            began = time.process_time()
            refused(lambda: function(*arguments), pymtml.MTMLError_InvalidArgument, pymtml.MTMLError_NotSupported)
            assert time.process_time() - began < SECONDS, function

    call_in_child(work, 20 * SECONDS)


def test_uuids_of_virtual_devices_are_linear_and_trimmed():
    def work(card):
        expected = pymtml.mtmlDeviceGetActiveVirtDeviceUuids(card)
        for count in (40000, 320000):  # minutes, where each entry costs a copy of all
            assert pymtml.mtmlDeviceGetActiveVirtDeviceUuids(card, entryCount=count) == expected
        assert len(expected) == 3

    call_in_child(work, 3, name="s3000-vgpu-host")


@pytest.mark.parametrize("index", [1 << 20, 4294967295, 1 << 63])
@pytest.mark.parametrize("code", ["DRIVER_FAILURE", "666"])
def test_index_of_a_card_where_every_device_fails(index, code):
    """No device says that it is the last one: the search ends all the same."""

    def work(device):
        simulated.set_faults("mtmlLibraryInitDeviceByIndex=%s,mtmlDeviceGetProperty=%s" % (code, code))
        refused(lambda: pymtml.nvmlDeviceGetHandleByIndex(index), pymtml.NVMLError_InvalidArgument)

    call_in_child(work)


# ---- Numbers ----


@pytest.mark.parametrize("lie", [LyingInt, LyingIndex])
def test_numbers_that_lie(lie):
    """A size check cannot be talked out of: what C gets is the number that was checked."""

    def work(device):
        huge = lie(1 << 28)
        for call in (
            lambda: pymtml.mtmlDeviceGetCpuAffinityWithinNode(device, huge),
            lambda: pymtml.mtmlDeviceGetDeviceByTopologyLevel(device, 5, huge),
            lambda: pymtml.mtmlDeviceGetMtLinkShortestPaths(device, device, huge, lie(8)),
            lambda: pymtml.mtmlDeviceGetMtLinkShortestPaths(device, device, lie(8), huge),
            lambda: pymtml.mtmlMemoryGetRetiredPages(device, 0, huge),
            lambda: pymtml.mtmlVpuGetEncoderSessionStates(device, huge),
        ):
            refused(call)
        assert len(pymtml.mtmlDeviceGetCpuAffinityWithinNode(device, lie(2))) == 2
        assert pymtml.nvmlDeviceGetNvLinkState(device, lie(1)) == 1
        refused(lambda: pymtml.nvmlDeviceGetNvLinkState(device, lie(99)), pymtml.NVMLError_InvalidArgument)
        refused(lambda: pymtml.nvmlDeviceGetHandleByIndex(lie(99)), pymtml.NVMLError_InvalidArgument)
        assert pymtml.nvmlDeviceGetHandleByIndex(lie(0)) is device
        assert pymtml.nvmlDeviceGetHandleByIndex(True) is pymtml.nvmlDeviceGetHandleByIndex(1)

    call_in_child(work)


@pytest.mark.parametrize("function", ["nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo"])
def test_clock_types(function):
    """Unhashable ones, ones equal to all, and one equal to a type once: then there is no clock of 0 MHz."""
    call = getattr(pymtml, function)

    class Once:
        asked = 0

        def __eq__(self, other):
            self.asked += 1
            return self.asked == 1

    def work(device):
        fresh = pymtml.nvmlDeviceGetHandleByIndex(3)  # whose unit is looked for first, and then the clock
        refused(lambda: call(fresh, Once()), pymtml.NVMLError_InvalidArgument)
        for card in (pymtml.nvmlDeviceGetHandleByIndex(5), device):
            assert call(card, EqualToAll()) == call(card, pymtml.NVML_CLOCK_GRAPHICS) > 0
            for kind in ([], {}, None, "x", 99, -1, object()):
                refused(lambda: call(card, kind), pymtml.NVMLError_InvalidArgument, pymtml.NVMLError_NotSupported)
            assert call(card, LyingInt(9)) == call(card, pymtml.NVML_CLOCK_GRAPHICS)

    call_in_child(work)


# ---- Texts ----


@pytest.mark.parametrize("kind", [FalseBytes, FalseStr])
def test_texts_that_only_say_so(kind):
    lie = kind()

    def work(device):
        for call in (
            lambda: pymtml.mtmlLibraryInitDeviceByUuid(lie),
            lambda: pymtml.mtmlLibraryInitDeviceByPciSbdf(lie),
            lambda: pymtml.mtmlDeviceInitVirtDevice(device, lie),
            lambda: pymtml.mtmlDeviceGetMpcConfigurationByName(device, lie),
        ):
            refused(call, TypeError)
        for call in (
            lambda: pymtml.nvmlDeviceGetHandleByUUID(lie),
            lambda: pymtml.nvmlDeviceGetHandleByUUIDV(lie, pymtml.NVML_UUID_TYPE_ASCII),
            lambda: pymtml.nvmlDeviceGetHandleByUUIDV(lie, pymtml.NVML_UUID_TYPE_BINARY),
            lambda: pymtml.nvmlDeviceGetHandleBySerial(lie),
            lambda: pymtml.nvmlDeviceGetHandleByPciBusId(lie),
        ):
            refused(call, pymtml.NVMLError_InvalidArgument)

    call_in_child(work)


@pytest.mark.parametrize("kind", ["str", "bytes"])
def test_texts_with_methods_of_their_own(kind):
    """What C gets is what the text holds, whatever its methods say."""

    def work(device):
        def lie(text):
            return LyingStr(text) if kind == "str" else LyingBytes(text.encode())

        uuid, bus = pymtml.nvmlDeviceGetUUID(device), pymtml.nvmlDeviceGetPciInfo(device).busId
        assert pymtml.mtmlLibraryInitDeviceByUuid(lie(uuid)) is device
        assert pymtml.nvmlDeviceGetHandleByUUID(lie("GPU-" + uuid)) is device
        assert pymtml.nvmlDeviceGetHandleByPciBusId(lie(bus)) is device
        assert pymtml.nvmlDeviceGetHandleBySerial(lie(pymtml.nvmlDeviceGetSerial(device))) is device
        refused(lambda: pymtml.mtmlLibraryInitDeviceByUuid(lie(uuid + "\0x")))
        refused(lambda: pymtml.nvmlDeviceGetHandleByUUID(lie(uuid + "\0x")), pymtml.NVMLError_NotFound)
        refused(lambda: pymtml.nvmlDeviceGetHandleBySerial(lie("x\0")), pymtml.NVMLError_InvalidArgument)

    call_in_child(work)


# ---- Handles and lists ----


def test_handles_of_a_class_that_is_equal_to_all():
    def work(device):
        for handle in (HostileHandle(), HostileHandle, FalseBytes()):
            for name in ("Name", "PowerUsage", "MemoryInfo", "UUID"):
                refused(lambda: getattr(pymtml, "nvmlDeviceGet" + name)(handle), pymtml.NVMLError_InvalidArgument)
            for name in ("mtmlDeviceGetName", "mtmlGpuGetUtilization", "mtmlMemoryGetTotal", "mtmlVpuGetClock"):
                refused(lambda: getattr(pymtml, name)(handle))
            refused(lambda: pymtml.mtmlSystemGetDriverVersion(handle))
            refused(lambda: pymtml.mtmlDeviceInitGpu(handle))
            refused(lambda: pymtml.mtmlLibraryFreeDevice(handle))
            refused(lambda: pymtml.mtmlDeviceGetTopologyLevel(device, handle))
            refused(lambda: pymtml.mtmlLibrarySetMpcConfigurationInBatch([handle], [1]))

    call_in_child(work)


def test_structs_that_only_say_so():
    class FalseType:
        __class__ = pymtml.c_mtmlVirtType_t

    class FalseLog:
        __class__ = pymtml.c_mtmlLogConfiguration_t

    def work(card):
        refused(lambda: pymtml.mtmlDeviceCountMaxVirtDevices(card, FalseType()))
        refused(lambda: pymtml.mtmlLogSetConfiguration(FalseLog()))
        refused(lambda: pymtml.mtmlDeviceCountMaxVirtDevices(card, ctypes.POINTER(pymtml.c_mtmlVirtType_t)()))
        virt_type = pymtml.mtmlDeviceGetSupportedVirtTypes(card)[0]
        count = pymtml.mtmlDeviceCountMaxVirtDevices(card, virt_type)
        assert pymtml.mtmlDeviceCountMaxVirtDevices(card, ctypes.pointer(virt_type)) == count > 0

    call_in_child(work, name="s3000-vgpu-host")


class Restarting:
    """An id that ends the library and begins it anew when it is asked for its number."""

    def __index__(self):
        pymtml.nvmlShutdown()
        pymtml.nvmlInit()
        return 1


class Growing(list):
    """A list that has another length each time."""

    def __len__(self):
        self.append(self[0])
        return 1


def test_batch_takes_its_pointers_last():
    """Foreign code runs before the handles are looked at; C gets what the slots of live handles say."""

    def begin():
        while pymtml._nvmlLib_refcount:
            pymtml.nvmlShutdown()
        pymtml.nvmlInit()
        return pymtml.nvmlDeviceGetHandleByIndex(0)

    def work(card):
        batch = pymtml.mtmlLibrarySetMpcConfigurationInBatch
        expected = pymtml.mtmlDeviceGetMpcConfiguration(card).id
        for devices, ids in ((Growing([card]), [expected]), ([card], Growing([expected])), ([card], [1, 2])):
            refused(lambda: batch(devices, ids))
        refused(lambda: batch(range(10**9), range(10**9)))
        refused(lambda: batch([card], [None]), TypeError)
        refused(lambda: batch([card], [Restarting()]))  # which makes the handle stale
        card = begin()
        batch([card], [1])
        card = begin()
        assert pymtml.mtmlDeviceGetMpcConfiguration(card).id == 1
        fake = ctypes.create_string_buffer(256)
        card.contents = pymtml.struct_c_nvmlDevice_t.from_buffer(fake)  # the ctypes pointer, not the slot
        batch([card], [expected])
        assert pymtml.mtmlDeviceGetMpcConfiguration(begin()).id == expected

    call_in_child(work, name="s3000-mpc")


class LongTuple(tuple):
    def __len__(self):
        return 2


class Endless:
    def __len__(self):
        return 1

    def __iter__(self):
        while True:
            yield 91


@pytest.mark.parametrize(
    "fields", [range(10**12), [()], [(1,)], [[]], [LongTuple()], [91] * 4097, Endless()], ids=range(7)
)
def test_fields_that_are_none(fields):
    call_in_child(
        lambda device: refused(
            lambda: pymtml.nvmlDeviceGetFieldValues(device, fields), pymtml.NVMLError_InvalidArgument, IndexError
        ),
        0.5,
    )


def test_as_many_fields_as_go_into_one_call():
    with simulated.nvml("s5000x8"):
        values = pymtml.nvmlDeviceGetFieldValues(pymtml.nvmlDeviceGetHandleByIndex(0), [91] * 4096)
        assert len(values) == 4096 and (values[4095].fieldId, values[4095].nvmlReturn) == (91, pymtml.NVML_SUCCESS)
