import detector
import pytest


def test_every_card(mtml_simulator):
    mtml_simulator.set("3.power_usage", 96660)
    mtml_simulator.set("3.gpu_temperature", -7)
    mtml_simulator.set("3.memory_used", 5 << 30)
    cards = detector.detect()
    assert [card["index"] for card in cards] == list(range(8))
    assert (cards[3]["power"], cards[3]["temperature"], cards[3]["memory_used"]) == (96.66, -7, 5120)
    assert cards[3]["memory"] == 81920
    for card in cards:
        assert card["uuid"] == mtml_simulator.get("%d.uuid" % card["index"])
        assert card["bus_id"] == mtml_simulator.get("%d.pci_sbdf" % card["index"])


def test_card_that_does_not_tell_its_power(mtml_simulator):
    mtml_simulator.fail("mtmlDeviceGetPowerUsage", "NOT_SUPPORTED", device=2)
    assert [card["power"] is None for card in detector.detect()] == [index == 2 for index in range(8)]


def test_library_is_left_as_it_was_when_a_card_is_lost(mtml_simulator):
    mtml_simulator.lose(5)
    with pytest.raises(detector.MTMLError):
        detector.detect()
    assert mtml_simulator.references() == 0


@pytest.mark.mtml(profile="s80")
@pytest.mark.mtml_sweep(allow="mtmlDeviceGetPowerUsage=NOT_SUPPORTED")
def test_no_failure_is_hidden():
    detector.detect()
