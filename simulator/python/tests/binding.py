"""What tests of a user's ask of card 0, here and in a child; as a plugin of pytest, it runs coroutines."""

import asyncio
import inspect
import os  # noqa: F401, for those who take all from here
import subprocess
import sys

import pytest


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


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    # What pytest-asyncio and anyio come to.
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        names = pyfuncitem._fixtureinfo.argnames
        asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True
