"""What the libraries export is the header, the control functions, and nothing else."""

import ctypes
import re
import subprocess

import interface
import pytest

CONTROL = {
    "mtmlSimAddFaults",
    "mtmlSimGet",
    "mtmlSimGetCallCount",
    "mtmlSimGetHandleCount",
    "mtmlSimGetLibraryReferences",
    "mtmlSimGetMessage",
    "mtmlSimKeep",
    "mtmlSimLoad",
    "mtmlSimReboot",
    "mtmlSimReload",
    "mtmlSimResetCallCounts",
    "mtmlSimSet",
    "mtmlSimSetFaults",
    "mtmlSimWatchReferences",
}
NEWER = set(interface.NEWER) | {"mtmlGpuGetTemperatureThreshold"}


def exported(path):
    lines = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def test_header_has_all_functions():
    assert sorted(interface.header_functions()) == sorted(interface.FUNCTIONS)
    assert len(interface.FUNCTIONS) == 116


def test_base_library():
    assert exported(interface.BASE_LIBRARY) == set(interface.header_functions()) | CONTROL


def test_newer_library():
    assert exported(interface.NEWER_LIBRARY) == set(interface.header_functions()) | CONTROL | NEWER


def test_control_header_declares_what_is_exported():
    with open(interface.SIMULATOR + "/mtml_sim.h") as header:
        assert set(re.findall(r"MTML_SIM_API [^;]*?\b(mtmlSim\w+)\(", header.read())) == CONTROL


@pytest.mark.parametrize(
    "path, soname",
    [
        (interface.BASE_LIBRARY, "libmtml.so.2"),
        (interface.NEWER_LIBRARY, "libmtml.so.2"),
        (interface.MUSA_LIBRARY, "libmusa.so.1"),
    ],
)
def test_soname(path, soname):
    dynamic = subprocess.run(["readelf", "-d", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "soname: [%s]" % soname in dynamic


def test_links_without_version():
    for path in (interface.BUILD + "/libmtml.so", interface.BUILD + "/libmusa.so"):
        assert ctypes.CDLL(path)


def test_musa(monkeypatch):
    musa = ctypes.CDLL(interface.MUSA_LIBRARY)
    version = ctypes.c_int()
    assert musa.muDriverGetVersion(ctypes.byref(version)) == 0
    assert version.value == 4030
    monkeypatch.setenv("MTML_SIM_MUSA_VERSION", "50100")
    assert musa.muDriverGetVersion(ctypes.byref(version)) == 0
    assert version.value == 50100
    assert musa.muDriverGetVersion(None) != 0
    assert exported(interface.MUSA_LIBRARY) == {"muDriverGetVersion"}
