from unittest import mock

import platform_probe


def test_available():
    with mock.patch.object(platform_probe, "pynvml") as pynvml:
        pynvml.nvmlDeviceGetCount.return_value = 8
        pynvml.nvmlDeviceGetName.return_value = "MTT S5000"
        assert platform_probe.is_available()
        assert platform_probe.count() == 8
        assert platform_probe.name(0) == "MTT S5000"
        assert pynvml.nvmlShutdown.called
