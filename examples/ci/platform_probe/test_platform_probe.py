import platform_probe
import pytest

import pymtml as pynvml


def test_eight_joined_cards(mtml_simulator, monkeypatch):
    assert platform_probe.is_available() and platform_probe.count() == 8
    assert platform_probe.is_fully_connected(range(8))
    monkeypatch.setenv("MUSA_VISIBLE_DEVICES", "5,2")
    mtml_simulator.set("5.name", "MTT S5001")
    assert [platform_probe.name(0), platform_probe.name(1)] == ["MTT S5001", "MTT S5000"]
    mtml_simulator.set("5.mtlink_state", "DOWN")
    assert not platform_probe.is_fully_connected([0, 1])


@pytest.mark.mtml(profile="no-driver")
def test_no_driver():
    assert not platform_probe.is_available()


def test_the_server_keeps_its_own_reference(mtml_simulator):
    pynvml.nvmlInit()
    for question in (platform_probe.is_available, platform_probe.count, lambda: platform_probe.total_memory(0)):
        question()
        assert mtml_simulator.references() == 1
    pynvml.nvmlShutdown()
