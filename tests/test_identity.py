"""What a card is: kept once it is known, and of no use for a look-up if two cards report the same."""

import pytest
import simulated

import pymtml as nvml

CARD = 2
PROFILE = simulated.device_keys("s5000x8", CARD)
NO_ADDRESS = {"pci_segment": 0, "pci_bus": 0, "pci_device": 0, "pci_sbdf": ""}
UUID, SERIAL, PLACE = PROFILE["uuid"], PROFILE["serial_number"], PROFILE["pci_sbdf"]


@pytest.fixture
def s5000x8():
    with simulated.nvml("s5000x8"):
        yield


def change(card, keys):
    for key, value in keys.items():
        simulated.set_value(card, key, value)


@pytest.mark.parametrize(
    "keys, ask, none",
    [
        ({"name": ""}, nvml.nvmlDeviceGetName, ""),
        ({"uuid": ""}, nvml.nvmlDeviceGetUUID, ""),
        ({"uuid": "00000000-0000-0000-0000-000000000000"}, nvml.nvmlDeviceGetUUID, None),
        ({"serial_number": ""}, nvml.nvmlDeviceGetSerial, ""),
        ({"memory_total": 0}, lambda device: nvml.nvmlDeviceGetMemoryInfo(device).total, 0),
        (NO_ADDRESS, lambda device: nvml.nvmlDeviceGetPciInfo(device).busId, "00000000:00:00.0"),
        ({"gpu_path": ""}, nvml.nvmlDeviceGetMinorNumber, nvml.NVMLError_NotSupported),
        ({"gpu_cores": 0}, nvml.nvmlDeviceGetNumGpuCores, 0),
        ({"memory_bus_width": 0}, nvml.nvmlDeviceGetMemoryBusWidth, 0),
        (NO_ADDRESS, nvml.nvmlDeviceGetIrqNum, nvml.NVMLError_NotSupported),
    ],
)
def test_what_a_card_is_while_it_comes_up_is_not_kept(keys, ask, none, s5000x8, tmp_path, monkeypatch):
    """A driver may return success with nothing yet; once it is known, C is asked no more."""
    monkeypatch.setenv("PYMTML_SYS_ROOT", str(tmp_path))
    for place, number in (("0000:00:00.0", "1"), (PLACE[4:], "41")):
        folder = tmp_path / "bus" / "pci" / "devices" / place
        folder.mkdir(parents=True)
        (folder / "irq").write_text(number)
    device = nvml.nvmlDeviceGetHandleByIndex(CARD)
    before = {key: simulated.get_value(CARD, key) for key in keys}
    change(CARD, keys)
    for _ in range(2):
        if isinstance(none, type):
            with pytest.raises(none):
                ask(device)
        else:
            assert ask(device) == (keys["uuid"] if none is None else none)
    change(CARD, before)
    known = ask(device)
    assert known and known != none
    simulated.reset_calls()
    assert ask(device) == known and simulated.calls() == simulated.calls("mtmlMemoryGetUsed")


def refusal(function, text):
    with pytest.raises(nvml.NVMLError) as caught:
        function(text)
    assert type(caught.value) is nvml.NVMLError_NotFound
    return str(caught.value).partition("\n")[2] or caught.value.detail


def test_a_look_up_that_two_cards_answer_to(s5000x8):
    """The first look-up of a life reads the other cards; test_locks.py has one beside a query that hangs."""
    address = {key: simulated.get_value(CARD, key) for key in NO_ADDRESS}
    for keys, by, text, what in (
        ({"uuid": UUID}, nvml.nvmlDeviceGetHandleByUUID, UUID, "UUID"),
        (address, nvml.nvmlDeviceGetHandleByPciBusId, PLACE, "PCI address"),
    ):
        before = {key: simulated.get_value(5, key) for key in keys}
        change(5, keys)
        assert refusal(by, text) == "another card reports this %s as well" % what
        change(5, before)
        nvml.nvmlShutdown()
        nvml.nvmlInit()
        device = by(text)
        simulated.reset_calls()
        assert by(text) is device is nvml.nvmlDeviceGetHandleByIndex(CARD)
        assert simulated.calls("mtmlDeviceGetUUID") + simulated.calls("mtmlDeviceGetPciInfo") == 1


def test_a_card_that_answers_for_another(tmp_path, monkeypatch):
    """Only one is in the machine, whatever is asked for."""
    source = """
    #include <stdlib.h>
    typedef void *pointer;
    int mtmlLibraryInitDeviceByIndex(pointer library, unsigned index, pointer *device);
    int mtmlLibraryInitDeviceByUuid(pointer library, const char *uuid, pointer *device)
    { return mtmlLibraryInitDeviceByIndex(library, atoi(getenv("CARD")), device); }
    int mtmlLibraryInitDeviceByPciSbdf(pointer library, const char *address, pointer *device)
    { return mtmlLibraryInitDeviceByIndex(library, atoi(getenv("CARD")), device); }
    """
    code = """
import pymtml as nvml
nvml.nvmlInit()
for by, text in ((nvml.nvmlDeviceGetHandleByUUID, "%s"), (nvml.nvmlDeviceGetHandleByPciBusId, "%s")):
    try:
        print(by(text))
    except nvml.NVMLError_NotFound as error:
        print(error.detail)
print(nvml.musa_visible_ids())
"""
    extra = {"PYMTML_LIBRARY": simulated.shim(tmp_path, source), "MUSA_VISIBLE_DEVICES": UUID, "CARD": "0"}
    done = simulated.run_python(code % (UUID, PLACE), extra_environment=extra)
    words = "the driver returned a device that has another %s\n"
    assert (done.stdout, done.stderr) == (words % "UUID" + words % "PCI address" + "[]\n", "")
    extra["CARD"] = str(CARD)  # the last of two that report it
    done = simulated.run_python(code % (UUID, PLACE), extra_environment=extra, set="0.uuid=" + UUID)
    assert done.stdout.startswith("another card reports this UUID as well\n")


def test_what_names_no_card_names_none(s5000x8):
    change(CARD, {"uuid": "", "serial_number": "", **NO_ADDRESS})
    for by, text in (
        (nvml.nvmlDeviceGetHandleByUUID, ""),
        (nvml.nvmlDeviceGetHandleBySerial, ""),
        (nvml.nvmlDeviceGetHandleByPciBusId, "0000:00:00.0"),
    ):
        assert refusal(by, text) != UUID


def test_instances_share_the_address_of_their_card():
    with simulated.nvml("s3000-mpc"):
        for index in range(nvml.nvmlDeviceGetCount()):
            card = nvml.nvmlDeviceGetHandleByIndex(index)
            for number in range(3 if index == 0 else 0):
                nvml.nvmlDeviceGetPciInfo(nvml.nvmlDeviceGetMigDeviceHandleByIndex(card, number))
            assert nvml.nvmlDeviceGetHandleByPciBusId(nvml.nvmlDeviceGetPciInfo(card).busId)


def test_two_cards_with_one_uuid_have_meters_of_their_own(s5000x8, monkeypatch):
    monkeypatch.setenv("PYMTML_ENERGY", "sample")
    change(5, {"uuid": UUID})
    energy = nvml.nvmlDeviceGetTotalEnergyConsumption
    for index in (CARD, 5):
        energy(nvml.nvmlDeviceGetHandleByIndex(index))
    assert len({meter.address for meter in nvml._meters.values() if meter.life is nvml._session.life}) == 2
    change(5, {key: simulated.get_value(CARD, key) for key in NO_ADDRESS})
    nvml.nvmlShutdown()
    nvml.nvmlInit()
    energy(nvml.nvmlDeviceGetHandleByIndex(CARD))
    with pytest.raises(nvml.NVMLError_NotSupported, match="another card has the same UUID and PCI address"):
        energy(nvml.nvmlDeviceGetHandleByIndex(5))
    nvml._meters.clear()
