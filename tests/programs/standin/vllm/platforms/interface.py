"""Stands in for vllm.platforms.interface: what a platform inherits, and how vllm numbers devices."""

import enum
import os
from typing import NamedTuple


class PlatformEnum(enum.Enum):
    OOT = enum.auto()


class DeviceCapability(NamedTuple):
    major: int
    minor: int


class Platform:
    device_control_env_var = "CUDA_VISIBLE_DEVICES"

    @classmethod
    def device_id_to_physical_device_id(cls, device_id):
        """The number that the driver gives a device of this process: the variable lists them; empty is unset."""
        visible = os.environ.get(cls.device_control_env_var)
        return int(visible.split(",")[device_id]) if visible else device_id
