import device_manager
import pytest


def test_cards_of_a_node(mtml_simulator):
    assert device_manager.count() == 8
    assert device_manager.accelerator_types() == ["S5000"] * 8


def test_cards_of_a_worker(mtml_simulator, monkeypatch):
    mtml_simulator.set("6.name", "MTT S4000")
    monkeypatch.setenv(device_manager.VISIBLE, "6,0")
    assert device_manager.accelerator_types() == ["S4000", "S5000"]


@pytest.mark.mtml(profile="empty")
def test_node_without_cards():
    assert (device_manager.count(), device_manager.accelerator_types()) == (0, [])


@pytest.mark.mtml(profile="s80", faults="mtmlLibraryInit=DRIVER_NOT_LOADED@0x1")
def test_driver_that_comes_later():
    assert [device_manager.count(), device_manager.count()] == [0, 1]
