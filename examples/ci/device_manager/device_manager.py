"""An accelerator manager: how many cards a node has, of which kind, and which of them a worker may use."""

import os
import re

import pymtml

VISIBLE = "MUSA_VISIBLE_DEVICES"


def visible_ids():
    """Ids of the cards that this process may use (list of str), or None where nothing limits it."""
    value = os.environ.get(VISIBLE)
    return None if value is None else [part for part in value.split(",") if part]


def count():
    """Cards of this node (int); 0 without a driver."""
    try:
        pymtml.nvmlInit()
    except pymtml.NVMLError:
        return 0
    try:
        return pymtml.nvmlDeviceGetCount()
    finally:
        pymtml.nvmlShutdown()


def accelerator_types():
    """Kind of each card that this process may use, such as "S5000" (list of str)."""
    ids = visible_ids()
    indices = range(count()) if ids is None else map(int, ids)
    pymtml.nvmlInit()
    try:
        names = [pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(index)) for index in indices]
    finally:
        pymtml.nvmlShutdown()
    return [re.sub(r"^MTT\s+", "", name) for name in names]
