"""Stands in for torch_musa's extension module: a few functions of each kind that it has."""

import os


def _musa_getDeviceCount():
    return int(os.environ.get("STANDIN_MUSA_DEVICES", "0"))


def _musa_init():
    return None


def _musa_memoryStats(device):
    return {"device": device}


class MUSAAllocator:
    """A class whose name has no counterpart below torch._C."""
