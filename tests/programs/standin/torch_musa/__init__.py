"""Stands in for torch_musa, which needs the MUSA SDK: what torchada and vllm-musa ask it on import, on a CPU torch.

Like the real one it gives torch the device type "musa" and registers itself as torch.musa. It counts the devices of
$STANDIN_MUSA_DEVICES, as the runtime would, and has no other functions for devices.
"""

import sys

import torch

from . import _MUSAC

__version__ = "2.7.1"


def is_available():
    return device_count() > 0


def device_count():
    return _MUSAC._musa_getDeviceCount()


def get_device_capability(device=None):
    raise AssertionError("nobody may ask the runtime: that initializes it")


torch.utils.rename_privateuse1_backend("musa")
torch.musa = sys.modules["torch.musa"] = sys.modules[__name__]
