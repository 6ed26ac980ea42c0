"""The pytest plugin: fixtures `mtml_simulator`, `--mtml-profile`, `mtml_profile`, markers `mtml` and `mtml_sweep`."""

from __future__ import annotations

from typing import Any, Generator, Iterator, Optional, Tuple

import pytest

from . import profiles, session, sweep
from .native import SimulatorError

FIXTURE = "mtml_simulator"
# The same for longer: for all tests of a class, a module, a package or a session.
WIDER = tuple("%s_%s" % (FIXTURE, scope) for scope in ("class", "module", "package", "session"))
MARKER = "mtml(profile=None, faults='', frozen=True): run the test on this simulated machine (see mtml-simulator)"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mtml", "simulated Moore Threads GPUs (mtml-simulator)")
    text = "machine of the fixture mtml_simulator: a shipped profile or a file (%s)" % profiles.DEFAULT
    group.addoption("--mtml-profile", metavar="PROFILE", help=text)
    parser.addini("mtml_profile", text)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    config.addinivalue_line("markers", sweep.MARKER)
    where = "--mtml-profile" if config.getoption("--mtml-profile") else "mtml_profile"
    if config.getoption("--mtml-profile") or config.getini("mtml_profile"):
        # A mistake is told once, and not by each test.
        try:
            profiles.check(_configured(config))
        except (profiles.ProfileError, SimulatorError, OSError) as error:
            raise pytest.UsageError("%s: %s" % (where, error)) from None


def _marked(profile: Optional[str] = None, faults: str = "", frozen: bool = True) -> Tuple[Optional[str], str, bool]:
    return profile, faults, frozen


def _configured(config: pytest.Config) -> str:
    """The machine of tests that do not name one; paths are as seen from where they were written."""
    option, ini = config.getoption("--mtml-profile"), config.getini("mtml_profile")
    if option:
        return profiles.from_folder(option, str(config.invocation_params.dir))
    if ini:
        return profiles.from_folder(ini, str(config.inipath.parent if config.inipath else config.rootpath))
    return profiles.DEFAULT


def _wanted(request: pytest.FixtureRequest) -> Tuple[str, str, bool]:
    """Profile, faults and whether values stay, for the test, class or module that asks."""
    marker = request.node.get_closest_marker("mtml")
    try:
        profile, faults, frozen = _marked(*marker.args, **marker.kwargs) if marker else _marked()
    except TypeError as error:
        raise pytest.UsageError("pytest.mark.mtml: %s" % str(error).replace("_marked()", "the marker")) from None
    return profile or _configured(request.config), faults, frozen


def pytest_itemcollected(item: pytest.Item) -> None:
    # A marker alone is enough. First, so that what the test's other fixtures do is done on the simulator.
    names = getattr(item, "fixturenames", [FIXTURE])
    marked = item.get_closest_marker("mtml") or item.get_closest_marker("mtml_sweep")
    if marked and FIXTURE not in names and not set(WIDER) & set(names):
        names.insert(0, FIXTURE)
    if item.get_closest_marker("mtml_sweep"):
        sweep.options(item)


def _simulated(request: pytest.FixtureRequest) -> Iterator[session.Simulator]:
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


@pytest.fixture
def mtml_simulator(request: pytest.FixtureRequest) -> Iterator[session.Simulator]:
    """A simulated machine of Moore Threads GPUs: eight MTT S5000 by default, with values that do not move.

    In force for the test, for every binding of the library and for child processes; undone after it. A test that leaves
    the library initialized is an error.
    """
    yield from _simulated(request)


@pytest.fixture(scope="class")
def mtml_simulator_class(request: pytest.FixtureRequest) -> Iterator[session.Simulator]:
    """The machine of `mtml_simulator`, for all tests of a class: what one of them changes the next ones have."""
    yield from _simulated(request)


@pytest.fixture(scope="module")
def mtml_simulator_module(request: pytest.FixtureRequest) -> Iterator[session.Simulator]:
    """The machine of `mtml_simulator`, for all tests of a module: what one of them changes the next ones have."""
    yield from _simulated(request)


@pytest.fixture(scope="package")
def mtml_simulator_package(request: pytest.FixtureRequest) -> Iterator[session.Simulator]:
    """The machine of `mtml_simulator`, for all tests of a package: what one of them changes the next ones have."""
    yield from _simulated(request)


@pytest.fixture(scope="session")
def mtml_simulator_session(request: pytest.FixtureRequest) -> Iterator[session.Simulator]:
    """The machine of `mtml_simulator`, for all tests of a run: what one of them changes the next ones have."""
    yield from _simulated(request)


# ==== Sweeps ====


@pytest.fixture
def _mtml_sweep_shard(request: Any) -> Any:
    return request.param


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    count = sweep.shards()
    if count > 1 and metafunc.definition.get_closest_marker("mtml_sweep"):
        metafunc.fixturenames.append(sweep.SHARD)
        names = ["sweep-%d-of-%d" % (number + 1, count) for number in range(count)]
        metafunc.parametrize(sweep.SHARD, [(number, count) for number in range(count)], indirect=True, ids=names)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, None]:
    if not pyfuncitem.get_closest_marker("mtml_sweep"):
        yield
        return
    shard: Any = getattr(pyfuncitem, "callspec", None) and pyfuncitem.callspec.params.get(sweep.SHARD)
    runs = sweep.sweep(pyfuncitem, shard or (0, 1))
    report = None
    try:
        next(runs)
    except StopIteration as end:
        report = end.value
    else:
        # In a child: it does not come back.
        outcome = yield
        runs.send(outcome.excinfo[1] if outcome.excinfo else None)
    outcome = yield
    if report is None or outcome.excinfo:
        return
    pyfuncitem.user_properties.append((sweep.PROPERTY, report.summary()))
    if report.problem():
        outcome.force_exception(pytest.fail.Exception(report.problem(), pytrace=False))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == sweep.PROPERTY and report.when == "call":
                    lines.append("%s: %s" % (report.nodeid, value))
    if lines:
        terminalreporter.section("mtml_sweep")
        for line in sorted(set(lines)):
            terminalreporter.line(line)
