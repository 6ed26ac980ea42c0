"""A Ray accelerator manager for MUSA GPUs: it opens the library for each question and closes it again."""

import json
import os
import re

import pymtml


def count():
    try:
        pymtml.mtmlLibraryInit()
    except pymtml.MTMLError:
        return 0
    try:
        return pymtml.mtmlLibraryCountDevice()
    finally:
        pymtml.mtmlLibraryShutDown()


def accelerator_type():
    try:
        pymtml.mtmlLibraryInit()
    except pymtml.MTMLError:
        return None
    device = None
    try:
        if not pymtml.mtmlLibraryCountDevice():
            return None
        device = pymtml.mtmlLibraryInitDeviceByIndex(0)
        match = re.match(r"^MTT\s+(\S+)", pymtml.mtmlDeviceGetName(device))
        return match.group(1) if match else None
    finally:
        if device is not None:
            pymtml.mtmlLibraryFreeDevice(device)
        pymtml.mtmlLibraryShutDown()


def visible():
    ids = os.environ.get("MUSA_VISIBLE_DEVICES")
    return None if ids is None else [part for part in ids.split(",") if part]


if __name__ == "__main__":
    print(json.dumps([[count(), accelerator_type(), visible()] for _ in range(5)]))
