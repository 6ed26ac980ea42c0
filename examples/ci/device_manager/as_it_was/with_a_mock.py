from unittest import mock

import device_manager


def test_types(monkeypatch):
    monkeypatch.setenv(device_manager.VISIBLE, "6,0")
    with mock.patch.object(device_manager, "pymtml") as pymtml:
        pymtml.nvmlDeviceGetName.return_value = "MTT S5000"
        assert device_manager.accelerator_types() == ["S5000", "S5000"]
