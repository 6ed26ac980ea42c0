from unittest import mock

import detector

FUNCTIONS = "mtmlDeviceInitMemory mtmlDeviceInitGpu mtmlDeviceGetUUID mtmlDeviceGetPciInfo".split()
NUMBERS = "mtmlMemoryGetTotal mtmlMemoryGetUsed mtmlGpuGetUtilization mtmlGpuGetTemperature".split()


def test_describe(monkeypatch):
    for name in FUNCTIONS:
        monkeypatch.setattr(detector, name, mock.Mock())
    for name in NUMBERS:
        monkeypatch.setattr(detector, name, mock.Mock(return_value=1 << 30))
    monkeypatch.setattr(detector, "mtmlDeviceGetName", mock.Mock(return_value="MTT S5000"))
    monkeypatch.setattr(detector, "mtmlDeviceGetPowerUsage", mock.Mock(return_value=96))
    card = detector.describe(0, mock.Mock())
    assert (card["name"], card["memory"], card["power"]) == ("MTT S5000", 1024, 96)
