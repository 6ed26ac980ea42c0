"""What tests of a user's ask of card 0, here and in a child, which starts without pytest."""

import os  # noqa: F401, for those who take all from here
import subprocess
import sys


def value(call):
    import pymtml

    pymtml.nvmlInit()
    try:
        return call(pymtml, pymtml.nvmlDeviceGetHandleByIndex(0))
    finally:
        pymtml.nvmlShutdown()


def temperature():
    return value(lambda pymtml, device: pymtml.nvmlDeviceGetTemperature(device, 0))


def name():
    return value(lambda pymtml, device: pymtml.nvmlDeviceGetName(device))


def child(expression):
    return (
        subprocess.run(
            [sys.executable, "-c", "import binding; print(binding.%s)" % expression], stdout=subprocess.PIPE, check=True
        )
        .stdout.decode()
        .strip()
    )
