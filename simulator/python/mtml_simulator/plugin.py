"""The pytest plugin: the fixture `mtml_simulator`, `--mtml-profile`, `mtml_profile`, and the marker `mtml`."""

import pytest

from . import profiles, session
from .native import SimulatorError

FIXTURE = "mtml_simulator"
MARKER = "mtml(profile=None, faults='', frozen=True): run the test on this simulated machine (see mtml-simulator)"


def pytest_addoption(parser):
    group = parser.getgroup("mtml", "simulated Moore Threads GPUs (mtml-simulator)")
    text = "machine of the fixture mtml_simulator: a shipped profile or a file (%s)" % profiles.DEFAULT
    group.addoption("--mtml-profile", metavar="PROFILE", help=text)
    parser.addini("mtml_profile", text)


def pytest_configure(config):
    config.addinivalue_line("markers", MARKER)


def _marked(profile=None, faults="", frozen=True):
    return profile, faults, frozen


def _configured(config):
    """The machine of tests that do not name one; paths are as seen from where they were written."""
    option, ini = config.getoption("--mtml-profile"), config.getini("mtml_profile")
    if option:
        return profiles.from_folder(option, str(config.invocation_params.dir))
    if ini:
        return profiles.from_folder(ini, str(config.inipath.parent if config.inipath else config.rootpath))
    return profiles.DEFAULT


def _wanted(request):
    """Profile, faults and whether values stay, for the test that asks."""
    marker = request.node.get_closest_marker("mtml")
    try:
        profile, faults, frozen = _marked(*marker.args, **marker.kwargs) if marker else _marked()
    except TypeError as error:
        raise pytest.UsageError("pytest.mark.mtml: %s" % str(error).replace("_marked()", "the marker")) from None
    return profile or _configured(request.config), faults, frozen


def pytest_itemcollected(item):
    # The marker alone is enough. First, so that what the test's other fixtures do is done on the simulator.
    if item.get_closest_marker("mtml") and FIXTURE not in getattr(item, "fixturenames", [FIXTURE]):
        item.fixturenames.insert(0, FIXTURE)


@pytest.fixture
def mtml_simulator(request):
    """A simulated machine of Moore Threads GPUs: eight MTT S5000 unless told otherwise, values frozen.

    In force for the test, for every binding of the library and for child processes; undone after it. A test that leaves
    the library initialized is an error.
    """
    profile, faults, frozen = _wanted(request)
    try:
        with session.simulate(profile, faults, frozen) as simulator:
            yield simulator
    except (SimulatorError, ValueError) as error:
        problem = str(error)
    else:
        return
    # Nothing that a traceback through the plugin would explain.
    pytest.fail("mtml_simulator: " + problem, pytrace=False)
