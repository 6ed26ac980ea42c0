"""What the libraries export is the header, the control functions, and nothing else."""

import ctypes
import re
import subprocess

import interface
import profiles
import pytest

CONTROL = {
    "mtmlSimAddFaults",
    "mtmlSimEnd",
    "mtmlSimFailCall",
    "mtmlSimGet",
    "mtmlSimGetCallCount",
    "mtmlSimGetFailedCall",
    "mtmlSimGetHandleCount",
    "mtmlSimGetLibraryReferences",
    "mtmlSimGetMessage",
    "mtmlSimHeal",
    "mtmlSimKeep",
    "mtmlSimLoad",
    "mtmlSimReboot",
    "mtmlSimReload",
    "mtmlSimResetCallCounts",
    "mtmlSimSet",
    "mtmlSimSetFaults",
    "mtmlSimUnset",
    "mtmlSimWatchReferences",
}


def exported(path):
    lines = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def test_header_has_all_functions():
    assert sorted(interface.header_functions()) == sorted(interface.FUNCTIONS)
    assert len(set(interface.FUNCTIONS) - set(interface.BEYOND)) == 116


def test_library():
    found = exported(interface.LIBRARY_PATH)
    lacking = sorted(set(interface.API["functions"]) - found)
    assert not lacking, "in facts/mtml_api.json, but not written in simulator/src: %s" % ", ".join(lacking)
    assert found == set(interface.API["functions"]) | CONTROL


def test_every_key_beyond_the_header_stands_in_a_profile_and_in_the_readme():
    """A key that no profile has is never tried; one that the README lacks nobody finds."""
    with open(interface.SIMULATOR + "/README.md") as readme:
        described = readme.read()
    shipped = [profiles.read(name) for name in interface.profile_names()]
    given = {key for profile in shipped for section in profile.sections() for key in profile[section]}
    for name, function in interface.BEYOND.items():
        for key in function.get("keys", {}):
            assert key in given, "no profile has the key %s, so that %s answers nowhere" % (key, name)
            assert "`%s`" % key in described, "simulator/README.md lacks the key %s" % key


def test_header_only_hides_all_of_them():
    assert interface.missing_functions("header-only") == set(interface.BEYOND)
    assert interface.missing_functions("old-library") >= set(interface.BEYOND)


def test_control_header_declares_what_is_exported():
    with open(interface.SIMULATOR + "/mtml_sim.h") as header:
        assert set(re.findall(r"MTML_SIM_API [^;]*?\b(mtmlSim\w+)\(", header.read())) == CONTROL


@pytest.mark.parametrize(
    "path, soname",
    [
        (interface.LIBRARY_PATH, "libmtml.so.2"),
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
