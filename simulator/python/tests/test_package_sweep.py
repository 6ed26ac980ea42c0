"""The marker mtml_sweep: a test is run with each of its calls failing."""

import os
import re

import packaged
import pytest
from mtml_simulator import sweep as sweeps
from packaged import environment, run_tests

pytestmark = packaged.needs_python_3_8
SWEEPS = os.path.join(packaged.HERE, "sweeps.py")


@pytest.fixture(scope="module", autouse=True)
def built():
    packaged.build()


def sweep(folder, *arguments, **files):
    return run_tests(folder, *arguments, environ=environment(COLUMNS="200"), **files)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sweeps")


@pytest.fixture(scope="module")
def said(folder):
    done = sweep(folder, SWEEPS, "-rA")
    assert "Traceback" not in done.stdout and "plugin.py" not in done.stdout
    return done.stdout


def section(said, test):
    """What pytest says of a test that failed (str)."""
    return "".join(re.findall(r"(?ms)^_+ %s _+$\n(.*?)(?=^_{5}|^={5})" % re.escape(test), said))


def unnoticed(function, calls, codes):
    return r"%s \(%s\) = %s: the test still passed: nobody noticed" % (function, calls, codes)


@pytest.mark.parametrize(
    "test, summary",
    [
        # Init, three calls for each of two cards, shutdown; with two codes.
        ("test_all_noticed", "8 calls, 16 runs"),
        ("test_looks", "8 calls, 16 runs"),
        ("test_allowed", "8 calls, 16 runs"),
        ("test_allowed_codes", "8 calls, 16 runs"),
        ("test_allowed_only_code", "8 calls, 8 runs"),
        ("test_each_run_begins_as_the_first", "8 calls, 16 runs"),
        ("test_bounded", "26 calls, 5 of them failing once, 10 runs"),
    ],
)
def test_all_noticed(said, test, summary):
    assert re.search(r"(?m)^\S*::%s: %s: all noticed$" % (test, summary), said), said
    assert re.search(r"(?m)^PASSED \S*::%s$" % test, said)


TEMPERATURE, CARDS = "mtmlGpuGetTemperature", "calls 4, 7"
CRASHES = (
    # Each is told with its call, and none ends the run of the tests.
    ("test_crash[segv]", r"ended the program by SIGSEGV, at \S+sweeps.py:\d+, in segv"),
    ("test_crash[abort]", r"ended the program by SIGABRT, at \S+sweeps.py:\d+, in fail_at_the_third"),
    ("test_crash[misuse]", "ended the program by SIGABRT.*: mtml simulator: mtmlDeviceFreeGpu"),
    ("test_crash[leave]", "ended the program with exit status 3"),
    ("test_hang[sleep]", "did not end within 1 seconds"),
    ("test_hang[wait]", "did not end within 1 seconds"),
)


@pytest.mark.parametrize(
    "test, summary, found",
    [
        ("test_swallows", "8 calls, 16 runs: 4", [unnoticed(TEMPERATURE, CARDS, "DRIVER_FAILURE, NOT_SUPPORTED")]),
        ("test_one_code_allowed", "8 calls, 16 runs: 2", [unnoticed(TEMPERATURE, CARDS, "DRIVER_FAILURE")]),
        ("test_other_code_allowed", "8 calls, 8 runs: 2", [unnoticed(TEMPERATURE, CARDS, "TIMEOUT")]),
        (
            "test_bounds_reach_the_first_and_the_last_call",
            "9 calls, 3 of them failing once, 3 runs: 2",
            [unnoticed("mtmlLibraryInit", "call 1", "TIMEOUT"), unnoticed("mtmlLibraryShutDown", "call 9", "TIMEOUT")],
        ),
        # Skipping is not noticing.
        ("test_skips", "8 calls, 8 runs: 8", [unnoticed("mtmlLibraryInit", "call 1", "TIMEOUT")]),
    ]
    + [(test, "4 calls, 4 runs: 1", [r"mtmlDeviceGetIndex \(call 3\) = TIMEOUT: " + how]) for test, how in CRASHES],
)
def test_findings(said, test, summary, found):
    assert "mtml_sweep: %s findings\n" % summary in section(said, test), said
    for each in found:
        assert re.search(each, section(said, test)), section(said, test)


def test_what_a_run_has_started_ends_with_it(folder, said):
    try:
        with open("/proc/%s/stat" % (folder / "pid").read_text()) as file:
            assert file.read().rpartition(") ")[2][0] == "Z"
    except FileNotFoundError:
        pass


def test_test_that_fails_anyway(said):
    assert "assert 1 == 2" in section(said, "test_that_fails_anyway")
    assert "mtml_sweep" not in section(said, "test_that_fails_anyway")


def test_next_tests_are_none_the_wiser(said):
    assert re.search(r"(?m)^PASSED \S*::test_after_them$", said)


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ("cods=1", "pytest.mark.mtml_sweep: the marker"),
        ("1, 2, 3, 4, 5", "pytest.mark.mtml_sweep: the marker"),
        ("'NO_SUCH'", "unknown return code"),
    ],
)
def test_mistake_in_the_marker(tmp_path, arguments, problem):
    text = "import pytest\n\n@pytest.mark.mtml_sweep(%s)\ndef test():\n    pass\n" % arguments
    done = sweep(tmp_path, test_mistake=text)
    assert done.returncode == 4 and problem in done.stdout + done.stderr


def test_what_the_marker_says_of_itself():
    assert eval("sweeps._arguments" + sweeps.MARKER[len(sweeps.PROPERTY) :].partition(":")[0]) == sweeps._arguments()


@pytest.mark.parametrize("count, end", [(8, "7, 8"), (9, "7, 8, ...")])
def test_a_report_names_eight_calls(count, end):
    report = sweeps.Report(("TIMEOUT",), ())
    for number in range(1, count + 1):
        report.add(number, "TIMEOUT", sweeps.Run(function="mtmlGpuGetClock", passed=True))
    assert "(calls 1, 2, 3, 4, 5, 6, %s) = TIMEOUT" % end in report.problem()


def test_sharded(tmp_path, said):
    """Each worker of xdist takes a part; together they do what one does alone."""
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    together = sweep(tmp_path, SWEEPS + "::test_of_four_cards", "-p", "xdist", "-n", "2").stdout
    found = re.findall(r"mtmlGpuGetTemperature \(calls ([\d, ]+)\)", together)
    assert len(found) == 2
    numbers = sorted(int(number) for part in found for number in part.split(", "))
    (whole,) = re.findall(r"mtmlGpuGetTemperature \(calls ([\d, ]+)\)", section(said, "test_of_four_cards"))
    assert numbers == [int(number) for number in whole.split(", ")]
    runs = re.findall(r"^\S*::test_of_four_cards\S*: 14 calls, (\d+) runs:", said + together, re.M)
    assert sorted(map(int, runs)) == [14, 14, 28]
