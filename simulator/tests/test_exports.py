"""What the libraries export is the header, the control functions, and nothing else."""

import ctypes
import importlib.util
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


def exported(path):
    lines = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def test_header_has_all_functions():
    assert sorted(interface.header_functions()) == sorted(interface.FUNCTIONS)
    assert len(interface.FUNCTIONS) == 116


def test_library():
    functions = set(interface.header_functions()) | CONTROL | set(interface.UNDOCUMENTED)
    assert exported(interface.LIBRARY_PATH) == functions


def binding():
    """pymtml as it lies in this checkout, whatever is installed (module)."""
    spec = importlib.util.spec_from_file_location("pymtml_here", interface.ROOT + "/pymtml.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_binding_knows_the_same_undocumented_functions():
    """A function that pymtml binds is simulated and tested here, or this says which one is not."""
    bound = binding()._OPTIONAL_PROTOTYPES
    assert sorted(set(bound) - exported(interface.LIBRARY_PATH)) == [], "the simulator lacks these functions"
    assert set(interface.UNDOCUMENTED) == set(bound)
    for name, (handle, *kinds) in interface.UNDOCUMENTED.items():
        names = {ctypes.c_int: "int", ctypes.c_uint: "unsigned int"}
        described = [handle] + [names[kind] for kind in kinds]
        assert [
            parameter.replace("const ", "").replace("*", "").strip() for parameter in bound[name]
        ] == described, name


def test_header_only_hides_all_of_them():
    assert interface.read_profile("header-only")["machine"]["missing"].split(", ") == sorted(interface.UNDOCUMENTED)
    older = interface.read_profile("old-library")["machine"]["missing"].split(", ")
    assert sorted(set(interface.UNDOCUMENTED) - set(older)) == [], "old-library.ini has what older libraries lack"


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
