"""What ray-musa's manager of accelerators asks: the library is opened for each question and closed again."""

import json
import os
import re

import pymtml

VARIABLE = "MUSA_VISIBLE_DEVICES"


def count_and_first_name():
    """Any failure counts as no GPU, so that a node without them starts; a name that fails does not."""
    try:
        pymtml.nvmlInit()
    except Exception:
        return 0, None
    try:
        count = int(pymtml.nvmlDeviceGetCount())
        name = None
        if count > 0:
            try:
                name = pymtml.nvmlDeviceGetName(pymtml.nvmlDeviceGetHandleByIndex(0))
            except Exception:
                pass
        return count, name
    except Exception:
        return 0, None
    finally:
        pymtml.nvmlShutdown()


def accelerator_type():
    """The part of the name with the first digit: the S5000 of MTT S5000."""
    name = count_and_first_name()[1]
    if name is None:
        return None
    match = re.match(r"\w+\s+((?:[A-Z]+\s+)*[A-Z0-9]*\d[A-Z0-9]*)", name)
    return match.group(1).replace(" ", "-") if match else name.replace("MTT ", "").replace(" ", "-")


def visible():
    ids = os.environ.get(VARIABLE)
    if ids is None:
        return None
    return [] if ids in ("", "NoDevFiles") else [part.strip() for part in ids.split(",") if part.strip()]


def hand_out(ids):
    """What a task finds then, by pymtml's own word."""
    os.environ[VARIABLE] = ",".join(ids)
    pymtml.nvmlInit()
    try:
        return [pymtml.nvmlDeviceGetUUID(device) for device in pymtml.musa_visible_devices()]
    finally:
        pymtml.nvmlShutdown()


if __name__ == "__main__":
    answers = [[count_and_first_name()[0], accelerator_type(), visible()] for _ in range(5)]
    print(json.dumps([answers, hand_out(["1"]) if answers[0][0] > 1 else []]))
