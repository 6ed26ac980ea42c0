"""Each native call of each function fails with each of MTML's codes: class, value, mtml_code, and the next call works.

What does not come out as the error that stands for the code is in faults.csv; docs/reliability.md shows which error
stands for which code.
"""

import inspect
import os
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]

import every_function  # noqa: E402
import faults  # noqa: E402
import native_calls  # noqa: E402
import pytest  # noqa: E402
import simulated  # noqa: E402

import pymtml  # noqa: E402

ROWS = faults.rows()
SEEN = {}  # cases by function, for the tests of the rows


@pytest.fixture(scope="module", autouse=True)
def files(tmp_path_factory):
    """The proc and sys file systems that the scenes are about; a log configuration is not left behind."""
    folder = str(tmp_path_factory.mktemp("faults"))
    faults.write_files(folder)
    variables = {"PYMTML_PROC_ROOT": os.path.join(folder, "proc"), "PYMTML_SYS_ROOT": os.path.join(folder, "sys")}
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    yield
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    with simulated.machine("s80"):
        pymtml.mtmlLibraryInit()
        pymtml.mtmlLogSetConfiguration(pymtml.c_mtmlLogConfiguration_t())
        pymtml.mtmlLibraryShutDown()


def row_of(name, case):
    return next((row for row in ROWS if row.concerns(name, case)), None)


def told(name, case, wanted):
    """What is wrong with a case, in one line."""
    return "%s on %s%s%s: call %d of %s fails with %s: got %s, then %s; expected %s%s" % (
        name,
        case.profile,
        ", asked before" * case.warm,
        "".join(", " + fault for fault in case.base),
        case.which,
        case.native,
        case.code,
        case.got,
        case.then,
        wanted,
        "".join("; " + problem for problem in case.problems),
    )


@pytest.mark.parametrize("name", faults.SCENES)
def test_faults_of(name):
    SEEN[name] = faults.cases(name)
    wrong = []
    for case in SEEN[name]:
        row = row_of(name, case)
        outcomes = ["the error"] if row is None else row.outcomes
        if case.problems or not any(faults.is_outcome(case, outcome) for outcome in outcomes):
            wrong.append(told(name, case, case.expected if row is None else " or ".join(outcomes)))
    assert not wrong, "\n".join(wrong[:20] + ["%d in all" % len(wrong)])
    assert {case.code for case in SEEN[name]} == set(faults.CODES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "%s-%s" % (row.names[0], row.natives[0]))
def test_row(row):
    """Nothing in the table is there in vain: each function, call, code and outcome is seen."""
    cases = [(name, case) for name in row.names for case in SEEN.get(name) or faults.cases(name)]
    own = [(name, case) for name, case in cases if row_of(name, case) is row]
    for outcome in row.outcomes:
        assert any(faults.is_outcome(case, outcome) for _, case in own), outcome
    assert {name for name, _ in own} == set(row.names)
    if row.cells[1] != "*":
        assert {case.native for _, case in own} == set(row.natives)
    if row.cells[2] != "*":
        assert {case.code for _, case in own} == set(row.codes)


@pytest.mark.parametrize("code", faults.CODES)
def test_shutdown_that_fails_keeps_the_reference(code):
    """It can be tried again; the handles are stale, as nobody knows how far C came."""
    with simulated.nvml("s80") as nvml:
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        gpu = nvml.mtmlDeviceInitGpu(device)
        simulated.set_faults("mtmlLibraryShutDown=" + code)
        pytest.raises(nvml.NVMLError, nvml.nvmlShutdown)
        simulated.set_faults("")
        assert (nvml._nvmlLib_refcount, simulated.references()) == (1, 1)
        for query, handle in ((nvml.nvmlDeviceGetName, device), (nvml.mtmlGpuGetClock, gpu)):
            pytest.raises(nvml.NVMLError_InvalidArgument, query, handle)
        assert nvml.nvmlDeviceGetName(nvml.nvmlDeviceGetHandleByIndex(0)) == "MTT S80"
        nvml.nvmlShutdown()
        assert (nvml._nvmlLib_refcount, simulated.references()) == (0, 0)


def test_every_native_function_has_scenes():
    frees = native_calls.FREES  # they do not call C
    assert {name for name in faults.SCENES if name.startswith("mtml")} == set(faults.NATIVE) - set(frees)


@pytest.mark.parametrize("profile, number", [("s5000x8", 0), ("s3000-vgpu-host", 0), ("s3000-mpc", 1 << 8)])
def test_every_function_that_calls_c_has_scenes(profile, number):
    """The others make no call of C; other names of the same function are that function."""
    covered = {id(getattr(pymtml, name)) for name in faults.SCENES}
    others = [name for name in every_function.FUNCTIONS if id(getattr(pymtml, name)) not in covered]
    assert len(others) > 300
    with simulated.nvml(profile):
        for name in others:
            arguments = every_function.fill(name, faults.card(number))
            simulated.reset_calls()
            try:
                getattr(pymtml, name)(*arguments)
            except pymtml.NVMLError:
                pass
            assert simulated.calls() == 0, name


@pytest.mark.parametrize("name", [name for name in faults.SCENES if name.startswith("nvml")])
def test_scenes_make_the_calls_that_the_docstring_names(name):
    """All of them: none is left out for want of a scene in which it is made."""
    text = inspect.getdoc(getattr(pymtml, name)).partition("MTML:")[2].partition(";")[0]
    named = {word.strip(",.") for word in text.split() if word.startswith("mtml")}
    assert named <= {case.native for case in SEEN.get(name) or faults.cases(name)}


def test_document():
    """docs/reliability.md has the table of codes; make record writes it."""
    with open(os.path.join(simulated.ROOT, "docs", "reliability.md"), encoding="utf-8") as file:
        assert faults.markdown() in file.read(), "make record"
